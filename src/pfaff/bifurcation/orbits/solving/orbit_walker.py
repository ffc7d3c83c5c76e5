"""The walker: a quiet stretch of a branch of orbits in one compiled loop, until something may happen in a step.

It steps by the same rules as ``continuation.engine``, adapts the mesh on the way, and solves an orbit again on a finer
one where its accuracy needs that. A step in which something may happen, or that ends on a bound or back at the start,
is handed over; one that is refused is left to the engine. Records are described in ``orbit_records``.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from pfaff.bifurcation.machine_code.kernels import compiled
from pfaff.bifurcation.orbits.floquet import test_functions
from pfaff.bifurcation.orbits.quiet_steps import quiet
from pfaff.bifurcation.orbits.solving.meshes import (
    amplitudes,
    defect_of_oddness,
    equidistributed,
    error_between,
    spread,
)
from pfaff.bifurcation.orbits.solving.orbit_newton import SOLVED
from pfaff.bifurcation.orbits.solving.orbit_records import (
    AGE,
    AMPLITUDE,
    DETERMINANT,
    EARLIER,
    ERROR,
    FARTHEST,
    FINER,
    GONE,
    GREATEST,
    INTERVALS,
    LENGTH,
    MARGIN,
    MESH,
    NEXT,
    NEXT_INTERVALS,
    NEXT_MESH,
    ORBIT,
    PASSED,
    PERIOD,
    RATE,
    RESIDUAL,
    SHORTEST,
    STEPS,
    TESTS,
    TURNED,
    UNSTABLE,
    VALUE,
    carry_over,
    length_of,
    measures,
    mesh_of,
    record,
    stage,
)
from pfaff.bifurcation.orbits.solving.products import combined, inner_product
from pfaff.bifurcation.orbits.solving.step_rules import (
    ADAPT_EVERY,
    COARSE,
    LARGEST_TURN,
    MOST,
    OUTGROWN,
    SLOW,
    TRUSTED,
    VANISHING,
    WITHIN,
    apart,
    finer_intervals,
    lengthens,
    paced,
    strays,
    wanted_intervals,
    worn,
)
from pfaff.bifurcation.orbits.solving.strides import copy, stride
from pfaff.bifurcation.orbits.solving.walk_terms import room_for, sizes_of

FULL, REFUSED, HANDED = range(3)  # how a walk ends: more may follow; a step is left to the engine, or handed over
NEEDED = 12  # room for a step, in records of its orbit, on a finer mesh of twice its intervals too


class Place(NamedTuple):
    """Where an orbit is solved for: a mesh, the places of its record, metric and basis, and of its multipliers."""

    times: np.ndarray
    h: np.ndarray
    weights: np.ndarray
    found: Any
    metric: Any
    basis: np.ndarray
    spectrum: np.ndarray


@compiled
def place_at(terms, times, store, free, spectrum):
    """The place of an orbit on a mesh, and the first free offset after it."""
    N, sizes = len(times) - 1, sizes_of(terms)
    metric, basis, after = measures(store, free + length_of(N, sizes), sizes)
    h, weights = mesh_of(times)
    return Place(times, h, weights, record(store, free, N, sizes), metric, basis, spectrum), after


@compiled
def solve(terms, room, place, metric, basis, stages, length, enough, note):
    """Solve for the orbit a length ahead of another, and note its data; returns whether it is found and, by its turn,
    is the next one on the branch. It is refused where it is not clear on its chart, or where the equations are not odd
    though it is half an orbit."""
    copy(place.basis, basis)
    mesh = place.h, place.weights, room.columns, room.velocities
    orbit, tangent = stage(place.found, 0), stage(place.found, 1)
    reach, kinds, alike, least, decoupled = terms.measures
    (how, steps, _), (residual, determinant, margin, turn, velocity) = stride(
        room.equations, room.rates, mesh, terms.signs, metric, stages, length, terms.rule, room.newton, terms.solver,
        ((enough, terms.accuracy), reach, kinds, alike, least, decoupled),
        (orbit, tangent, place.metric, place.spectrum, place.basis),
    )  # fmt: skip
    if how != SOLVED or steps > SLOW or not margin > terms.clear:
        return False, turn
    halved = terms.signs.min() < 0
    period, value = orbit[2][0] * (2 if halved else 1), orbit[2][1]
    if halved and not defect_of_oddness(room.velocities, terms.signs, metric[0], period) <= terms.mirrored:
        return False, turn
    far, unstable, flip, torus = test_functions(place.spectrum, terms.ones)
    if not far < TRUSTED:
        flip = torus = np.nan
    note[DETERMINANT], note[RESIDUAL], note[STEPS], note[MARGIN] = determinant, residual, steps, margin
    note[ERROR], note[UNSTABLE] = error_of(terms, velocity, orbit, place.h, place.metric[0]), unstable
    note[TESTS], note[TESTS + 1] = tangent[2][1] * place.metric[1][1], determinant
    note[TESTS + 2], note[TESTS + 3] = flip, torus
    note[PERIOD], note[AMPLITUDE], note[VALUE] = period, largest_amplitude(orbit[0], terms.signs), value / terms.scale
    return True, turn


@compiled
def largest_amplitude(x, signs):
    return amplitudes(x, signs, np.empty(x.shape[1]))


@compiled
def error_of(terms, velocity, orbit, h, scale):
    """The lesser of the two estimates of ``Collocation.error``."""
    if velocity <= terms.accuracy:
        return velocity
    between = terms.gauss[3] * error_between(orbit, h, scale, terms.signs, terms.rule, terms.gauss[2])
    return between if between < velocity else velocity


@compiled
def happens(terms, before, here, note, known, metric, at, place):
    """Whether something may happen in a step between two notes, given the note before them, or the step meets a
    bound."""
    (_, _, scalars), (x, _, ahead), length = stage(at, 1), stage(place.found, 1), note[LENGTH]
    first, last = at[2][0, 1], place.found[2][0, 1]
    if crosses(first, last, terms.bounds):
        return True
    size = np.sqrt(inner_product(place.weights, metric[2], x, x, metric[3], ahead, ahead))
    slope, next_slope = (0.0, 0.0) if terms.level else (scalars[1], ahead[1] / size)
    return not quiet(
        tests_of(before), tests_of(here), tests_of(note), known[GONE] / length, length * slope, length * next_slope,
        last - first,
    )  # fmt: skip


@compiled
def tests_of(note):
    return note[TESTS], note[TESTS + 1], note[TESTS + 2], note[TESTS + 3]


@compiled
def crosses(a, b, bounds):
    """Whether a step from one value to another passes or meets a bound."""
    ahead, behind = (a - bounds[0]) * (b - bounds[0]), (a - bounds[1]) * (b - bounds[1])
    return ahead < 0 or behind < 0 or bounds[0] == b or bounds[1] == b


@compiled
def noticed(note, known, home):
    """Whether a branch may close or end in a step, by the data noted of its orbit; else they are remembered."""
    away = apart((note[PERIOD], note[AMPLITUDE], note[VALUE]), home)
    greatest, shortest = max(known[GREATEST], note[AMPLITUDE]), min(known[SHORTEST], note[PERIOD])
    if known[PASSED] > 2 and away < min(known[FARTHEST], WITHIN * note[LENGTH]):
        return True
    if note[AMPLITUDE] < VANISHING * greatest or lengthens(note[PERIOD], shortest, note[TESTS + 3]):
        return True
    if note[AMPLITUDE] > OUTGROWN * home[1]:
        return True
    known[GREATEST], known[SHORTEST], known[FARTHEST] = greatest, shortest, max(known[FARTHEST], away)
    known[PASSED] += 1
    return False


@compiled
def remeshed(terms, place, shares, M, store, free):
    """The orbit of a place and its tangent, interpolated on a mesh of M intervals with equal shares and kept in the
    store; returns its times, its record, and the first free offset."""
    sizes, times = sizes_of(terms), store[free : free + M + 1]
    copy(times, equidistributed(shares, place.times, M))
    kept = record(store, free + M + 1, M, sizes)
    carry_over(place.times, place.found, terms.signs, terms.rule, terms.gauss, times, kept)
    return times, kept, free + M + 1 + length_of(M, sizes)


@compiled
def spread_over(terms, place, ahead):
    """The shares of the intervals a length ahead along the tangent of an orbit; and the ratio by which equal shares
    reduce the error."""
    (scale, _, _, _), orbit = place.metric, stage(place.found, 0)
    gain = spread(orbit, place.h, scale, terms.signs, terms.rule, terms.gauss[2])[1]
    there = combined((1.0, ahead), (orbit, stage(place.found, 1)))
    return spread(there, place.h, scale, terms.signs, terms.rule, terms.gauss[2])[0], gain


@compiled
def earlier_on(terms, before, here, known, store, times, at):
    """The record of the previous orbit on the mesh from which a step is taken; of this orbit, if it is the first."""
    if not known[EARLIER] > 0:
        return at
    sizes, M, mesh = sizes_of(terms), int(before[NEXT_INTERVALS]), int(before[NEXT_MESH])
    kept = record(store, int(before[NEXT]), M, sizes)
    if mesh == here[NEXT_MESH]:
        return kept
    carried = record(np.empty(length_of(len(times) - 1, sizes)), 0, len(times) - 1, sizes)
    carry_over(store[mesh : mesh + M + 1], kept, terms.signs, terms.rule, terms.gauss, times, carried)
    return carried


@compiled
def refine(terms, place, note, store, free):
    """Solve the orbit of a note once more on the finer mesh that its accuracy needs; returns whether that succeeds, its
    place, and the first free offset. The note then describes the orbit on the finer mesh."""
    M = finer_intervals(len(place.h), note[ERROR], terms.accuracy, 2 * len(terms.gauss[1]))
    if M > MOST:
        return False, place, free
    times, guess, at = remeshed(terms, place, spread_over(terms, place, 0.0)[0], M, store, free)
    finer, after = place_at(terms, times, store, at, place.spectrum.copy())
    orbit, tangent, noted = stage(guess, 0), stage(guess, 1), note.copy()
    solved, _ = solve(
        terms, room_for(terms, M), finer, place.metric, place.basis, (orbit, tangent, orbit, tangent), 0.0,
        terms.converged, noted,
    )  # fmt: skip
    if not solved or noted[ERROR] > terms.accuracy or noted[UNSTABLE] != note[UNSTABLE]:
        return False, place, free
    copy(note, noted)
    copy(place.spectrum, finer.spectrum)
    note[MESH], note[ORBIT], note[INTERVALS] = free, at, M
    return True, finer, after


@compiled
def renew(terms, note, here, known, place, finer, store, free):
    """The orbit of a note as the next step takes it, on a mesh of its own where that of the step is old or worn;
    returns the first free offset in the store."""
    N = len(place.h)
    told = known[EARLIER] > 0 and not finer
    known[RATE] = (note[DETERMINANT] - here[DETERMINANT]) / note[LENGTH] if told else 0.0
    known[EARLIER], known[GONE], known[AGE], known[FINER] = 1.0, note[LENGTH], 1.0 if finer else known[AGE] + 1, 0.0
    note[NEXT_MESH], note[NEXT], note[NEXT_INTERVALS] = note[MESH], note[ORBIT], N
    if known[AGE] < ADAPT_EVERY and not worn(note[ERROR], note[RESIDUAL], terms.accuracy):
        return free
    shares, gain = spread_over(terms, place, note[LENGTH])
    M = wanted_intervals(N, gain, note[ERROR], note[RESIDUAL], terms.accuracy, 2 * len(terms.gauss[1]))
    known[RATE], known[AGE], known[FINER] = 0.0, 0.0, 1.0 if M < N else 0.0
    note[NEXT_MESH], note[NEXT], note[NEXT_INTERVALS] = free, free + M + 1, M
    return remeshed(terms, place, shares, M, store, free)[2]


@compiled
def walk(terms, length, start, known, free, store, spectra, notes):
    """Returns the number of points passed, how the walk ends, and the length of the next step; one that is handed over
    is noted after them.

    ``store`` begins with the meshes and records of the first point and of the one before it, up to ``free``; ``start``
    holds the metric and the basis of the first. ``notes`` has a row for the one before, for the first, and for each
    that follows; ``known`` is what is known of the branch, and is kept up to date.
    """
    sizes = sizes_of(terms)
    metric, basis = start
    N = int(notes[1, NEXT_INTERVALS])
    room = room_for(terms, N)
    for k in range(len(notes) - 2):
        before, here, note = notes[k], notes[k + 1], notes[k + 2]
        if here[NEXT_INTERVALS] != N:
            N = int(here[NEXT_INTERVALS])
            room = room_for(terms, N)
        if free + NEEDED * length_of(N, sizes) > len(store):
            return k, FULL, length
        times = store[int(here[NEXT_MESH]) : int(here[NEXT_MESH]) + N + 1]
        at = record(store, int(here[NEXT]), N, sizes)
        earlier = earlier_on(terms, before, here, known, store, times, at)
        place, after = place_at(terms, times, store, free, spectra[k])
        stages = stage(at, 0), stage(at, 1), stage(earlier, 0), stage(earlier, 1)
        solved, turn = solve(terms, room, place, metric, basis, stages, length, terms.enough, note)
        if not solved or turn > LARGEST_TURN:
            return k, REFUSED, length
        note[MESH], note[ORBIT], note[INTERVALS], note[LENGTH], note[TURNED] = here[NEXT_MESH], free, N, length, turn
        if note[UNSTABLE] != here[UNSTABLE] or (known[FINER] > 0 and note[ERROR] > COARSE * terms.accuracy):
            return k, REFUSED, length
        if strays(here[DETERMINANT], known[RATE] * length, note[DETERMINANT], here[TESTS + 3], note[TESTS + 3]):
            return k, REFUSED, length
        if happens(terms, before, here, note, known, metric, at, place):
            return k, HANDED, length
        if noticed(note, known, terms.home):
            return k, HANDED, length
        finer = note[ERROR] > terms.accuracy
        if finer:
            solved, place, after = refine(terms, place, note, store, after)
            if not solved:
                return k, HANDED, length
        length = min(terms.longest, paced(length, turn))
        metric, basis = place.metric, place.basis
        free = renew(terms, note, here, known, place, finer, store, after)
    return len(notes) - 2, FULL, length
