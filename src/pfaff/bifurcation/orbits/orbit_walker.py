"""The walker: a quiet stretch of a branch of orbits in one compiled loop, until a step does not go without saying.

It steps as ``continuation.engine`` does, by the same rules, and adapts the mesh on the way. A step in which something
may happen, that ends on a bound or back at the start, or whose orbit needs a finer mesh, is handed over; one that is
refused is left to the engine. Orbits with their tangents are kept in one array, a record after the other.
"""

from __future__ import annotations

import numpy as np

from pfaff.bifurcation.orbits.floquet import test_functions
from pfaff.bifurcation.orbits.kernels import compiled
from pfaff.bifurcation.orbits.meshes import (
    all_slopes,
    amplitudes,
    carry_stage,
    defect_of_oddness,
    equidistributed,
    jumps,
    spread,
)
from pfaff.bifurcation.orbits.orbit_newton import SOLVED
from pfaff.bifurcation.orbits.products import inner_product
from pfaff.bifurcation.orbits.silence import quiet
from pfaff.bifurcation.orbits.step_rules import (
    ADAPT_EVERY,
    COARSE,
    LARGEST_TURN,
    LONG,
    SLOW,
    TRUSTED,
    VANISHING,
    WITHIN,
    apart,
    paced,
    strays,
    wanted_intervals,
    worn,
)
from pfaff.bifurcation.orbits.strides import copy, stride
from pfaff.bifurcation.orbits.vectors import LANES

FULL, REFUSED, HANDED = range(3)  # how a walk ends: there may be more; a step is left to the engine, or handed over
# What is noted of a step: places of mesh and orbit, of both as the next step takes them, intervals, facts, four tests.
MESH, ORBIT, NEXT_MESH, NEXT, INTERVALS, NEXT_INTERVALS, LENGTH, TURNED = range(8)
DETERMINANT, ERROR, RESIDUAL, STEPS, UNSTABLE, TESTS = range(8, 14)
PERIOD, AMPLITUDE, VALUE, MARGIN, NOTES = range(17, 22)
EARLIER, GONE, RATE, AGE, FINER, SHORTEST, GREATEST, FARTHEST, PASSED = range(9)  # what is known of the branch so far


@compiled
def record(store, at, N, sizes):
    """An orbit and its tangent that are kept from a place on: states, slopes and scalars, of both."""
    n, m, nr, nb = sizes
    slopes = at + 2 * (N + 1) * n
    scalars = slopes + 2 * N * m * nr
    return (
        store[at:slopes].reshape((2, N + 1, n)),
        store[slopes:scalars].reshape((2, N, m, nr)),
        store[scalars : scalars + 2 * nb].reshape((2, nb)),
    )


@compiled
def length_of(N, sizes):
    """Of such a record."""
    n, m, nr, nb = sizes
    return 2 * ((N + 1) * n + N * m * nr + nb)


@compiled
def measures(store, at, sizes):
    """The metric that is kept from a place on, the basis of multipliers, and the place after them."""
    n, nb = sizes[0], sizes[3]
    squares = at + n + nb
    basis = squares + n + nb
    metric = store[at : at + n], store[at + n : squares], store[squares : squares + n], store[squares + n : basis]
    return metric, store[basis : basis + n * n].reshape((n, n)), basis + n * n


@compiled
def at_states(function, numbers, many):
    """The equations as compiled loops take them, at so many states."""
    address, lanes, place, outputs = function
    columns = np.empty((len(numbers), many))
    for i in range(len(numbers)):
        columns[i] = numbers[i]
    return address, lanes, place, columns, np.empty((outputs, many))


@compiled
def workspace(N, sizes):
    """Of Newton's method, as ``Workspace.of_newton``."""
    n, m, nr, nb = sizes
    size = m * nr
    return (
        np.empty((n, N * m)), np.empty((N, size, n + nb + 1)), np.empty((N, n, nb + 1)), np.empty((2, N + 1, n)),
        np.empty((2, nb)), np.empty((N, m, nr)), np.empty((size, size + n + nb + 1, LANES)),
        np.zeros(N, dtype=np.int64),
    )  # fmt: skip


@compiled
def mesh_of(times):
    """Lengths of the intervals of a mesh, and the weights of its points."""
    h, weights = times[1:] - times[:-1], np.zeros(len(times))
    for j in range(len(h)):
        weights[j] += h[j] / 2
        weights[j + 1] += h[j] / 2
    return h, weights


@compiled
def carry_over(times, old, signs, rule, gauss, new_times, new):
    """Fill in a record on another mesh."""
    orbit, tangent = (old[0][0], old[1][0], old[2][0]), (old[0][1], old[1][1], old[2][1])
    h = times[1:] - times[:-1]
    carry_stage(
        times, h, orbit, tangent, signs, rule[0], rule[1], rule[2], gauss[0], gauss[1], new_times, new[0], new[1]
    )
    copy(new[2], old[2])


@compiled
def error_of(velocity, accuracy, orbit, h, scale, signs, rule, gauss):
    """The lesser of two estimates, as ``Collocation.error`` has it."""
    if velocity <= accuracy:
        return velocity
    x, K, scalars = orbit
    m = K.shape[1]
    slopes = np.empty((K.shape[0], m, x.shape[1]))
    all_slopes(x, K, h, scalars[0], x, K, 0.0, rule[0], rule[1], rule[2], slopes)
    derivatives, largest = jumps(slopes, h, gauss[2], scale, signs), 0.0
    for j in range(len(h)):
        largest = max(largest, derivatives[j] * h[j] ** (m + 1))
    return min(velocity, gauss[3] * largest)


@compiled
def happens(before, here, note, known, rise, slopes):
    """Whether something may happen in a step, between two notes after the one before them."""
    length = note[LENGTH]
    return not quiet(
        (before[TESTS], before[TESTS + 1], before[TESTS + 2], before[TESTS + 3]),
        (here[TESTS], here[TESTS + 1], here[TESTS + 2], here[TESTS + 3]),
        (note[TESTS], note[TESTS + 1], note[TESTS + 2], note[TESTS + 3]),
        known[GONE] / length, length * slopes[0], length * slopes[1], rise,
    )  # fmt: skip


@compiled
def crosses(a, b, bounds):
    """Whether a step from one value to another passes or meets a bound."""
    ahead, behind = (a - bounds[0]) * (b - bounds[0]), (a - bounds[1]) * (b - bounds[1])
    return ahead < 0 or behind < 0 or bounds[0] == b or bounds[1] == b


@compiled
def noticed(note, known, home):
    """Whether a branch may close or end in a step, by what is noted of the orbit that it leads to; else that is
    remembered."""
    away = apart((note[PERIOD], note[AMPLITUDE], note[VALUE]), home)
    greatest, shortest = max(known[GREATEST], note[AMPLITUDE]), min(known[SHORTEST], note[PERIOD])
    if known[PASSED] > 2 and away < min(known[FARTHEST], WITHIN * note[LENGTH]):
        return True
    if note[AMPLITUDE] < VANISHING * greatest or note[PERIOD] > LONG * shortest:
        return True
    known[GREATEST], known[SHORTEST], known[FARTHEST] = greatest, shortest, max(known[FARTHEST], away)
    known[PASSED] += 1
    return False


@compiled
def renew(note, here, known, store, free, times, h, found, scale, signs, rule, gauss, accuracy, sizes):
    """The orbit of a note as the next step takes it, on a mesh of its own where that of the step is old or worn: the
    first place in the store that is free then."""
    N, m = len(h), sizes[1]
    known[RATE] = (note[DETERMINANT] - here[DETERMINANT]) / note[LENGTH] if known[EARLIER] > 0 else 0.0
    known[EARLIER], known[GONE], known[AGE], known[FINER] = 1.0, note[LENGTH], known[AGE] + 1, 0.0
    note[NEXT_MESH], note[NEXT], note[NEXT_INTERVALS] = note[MESH], note[ORBIT], N
    if known[AGE] < ADAPT_EVERY and not worn(note[ERROR], note[RESIDUAL], accuracy):
        return free
    orbit = found[0][0], found[1][0], found[2][0]
    mine, gain = spread(orbit, h, scale, signs, rule[0], rule[1], rule[2], gauss[2])
    M = wanted_intervals(N, gain, note[ERROR], note[RESIDUAL], accuracy, 2 * m)
    known[RATE], known[AGE], known[FINER] = 0.0, 0.0, 1.0 if M < N else 0.0
    new_times, place = store[free : free + M + 1], free + M + 1
    copy(new_times, equidistributed(mine, times, M))
    carry_over(times, found, signs, rule, gauss, new_times, record(store, place, M, sizes))
    note[NEXT_MESH], note[NEXT], note[NEXT_INTERVALS] = free, place, M
    return place + length_of(M, sizes)


@compiled
def walk(
    functions, numbers, rule, gauss, solver, signs, length, longest, bounds, settings, aims, home, start, known, free,
    store, spectra, notes,
):  # fmt: skip
    """How many points are passed, how the walk ends, and the length of the next step; one that is handed over is noted
    after them.

    ``store`` begins with the meshes and records of the first point and of the one before it, up to ``free``; ``start``
    has the metric and the basis of the first. ``notes`` has a row for the one before, for the first, and for all that
    follow; ``known`` is what is known of the branch, and kept up to date.
    """
    reach, positions, alike, decoupled = settings
    accuracy, converged, ones, level, mirrored, clear, scale = aims
    sizes = len(signs), len(gauss[1]), len(rule[1]), 2
    n, m = sizes[:2]
    halved = signs.min() < 0
    (metric, basis), N = start, 0
    for k in range(len(notes) - 2):
        before, here, note = notes[k], notes[k + 1], notes[k + 2]
        if here[NEXT_INTERVALS] != N:
            N = int(here[NEXT_INTERVALS])
            ends = 2 * N + 2 if halved else N + 1
            room, columns, velocities = workspace(N, sizes), np.empty((n, ends)), np.empty((n, ends))
            equations, rates = at_states(functions[0], numbers, N * m), at_states(functions[1], numbers, ends)
        if free + 4 * length_of(N, sizes) + n * n > len(store):
            return k, FULL, length
        times = store[int(here[NEXT_MESH]) : int(here[NEXT_MESH]) + N + 1]
        h, weights = mesh_of(times)
        at = earlier = record(store, int(here[NEXT]), N, sizes)
        if known[EARLIER] > 0:
            M, mesh = int(before[NEXT_INTERVALS]), int(before[NEXT_MESH])
            earlier = record(store, int(before[NEXT]), M, sizes)
            if mesh != here[NEXT_MESH]:
                old, earlier = earlier, record(np.empty(length_of(N, sizes)), 0, N, sizes)
                carry_over(store[mesh : mesh + M + 1], old, signs, rule, gauss, times, earlier)
        stages = (
            (at[0][0], at[1][0], at[2][0]), (at[0][1], at[1][1], at[2][1]),
            (earlier[0][0], earlier[1][0], earlier[2][0]), (earlier[0][1], earlier[1][1], earlier[2][1]),
        )  # fmt: skip
        found = record(store, free, N, sizes)
        own, vectors, after = measures(store, free + length_of(N, sizes), sizes)
        orbit, tangent = (found[0][0], found[1][0], found[2][0]), (found[0][1], found[1][1], found[2][1])
        copy(vectors, basis)
        (how, steps, _), (residual, determinant, margin, turn, velocity) = stride(
            equations, rates, (h, weights, columns, velocities), signs, metric, stages, length, rule, room, solver,
            ((converged, accuracy), reach, positions, alike, decoupled), (orbit, tangent, own, spectra[k], vectors),
        )  # fmt: skip
        if how != SOLVED or steps > SLOW or not margin > clear or turn > LARGEST_TURN:
            return k, REFUSED, length
        period, value = orbit[2][0] * (2 if halved else 1), orbit[2][1]
        if halved and not defect_of_oddness(velocities, signs, metric[0], period) <= mirrored:
            return k, REFUSED, length
        far, unstable, flip, torus = test_functions(spectra[k], ones)
        if not far < TRUSTED:
            flip = torus = np.nan
        error = error_of(velocity, accuracy, orbit, h, own[0], signs, rule, gauss)
        note[MESH], note[ORBIT], note[INTERVALS], note[LENGTH], note[TURNED] = here[NEXT_MESH], free, N, length, turn
        note[DETERMINANT], note[ERROR], note[RESIDUAL], note[STEPS] = determinant, error, residual, steps
        note[MARGIN], note[UNSTABLE], note[TESTS], note[TESTS + 1] = (
            margin,
            unstable,
            tangent[2][1] * own[1][1],
            determinant,
        )
        note[TESTS + 2], note[TESTS + 3], note[PERIOD], note[VALUE] = flip, torus, period, value / scale
        note[AMPLITUDE] = amplitudes(orbit[0], signs, np.empty(n))
        if unstable != here[UNSTABLE] or (known[FINER] > 0 and error > COARSE * accuracy):
            return k, REFUSED, length
        if strays(here[DETERMINANT], known[RATE] * length, determinant, here[TESTS + 3], torus):
            return k, REFUSED, length
        size = np.sqrt(inner_product(weights, metric[2], tangent[0], tangent[0], metric[3], tangent[2], tangent[2]))
        slopes = (0.0, 0.0) if level else (stages[1][2][1], tangent[2][1] / size)
        first = at[2][0, 1]
        if (
            error > accuracy
            or crosses(first, value, bounds)
            or happens(before, here, note, known, value - first, slopes)
        ):
            return k, HANDED, length
        if noticed(note, known, home):
            return k, HANDED, length
        length = min(longest, paced(length, turn))
        metric, basis = own, vectors
        free = renew(note, here, known, store, after, times, h, found, own[0], signs, rule, gauss, accuracy, sizes)
    return len(notes) - 2, FULL, length
