"""A step along a branch of orbits in one compiled call: predicted, corrected and examined.

It computes in one call what ``Continuation`` computes in many. Orbits are passed as their states, slopes and scalars; a
metric as the scales of states and scalars and the squares of both.
"""

from __future__ import annotations

import numpy as np

from pfaff.bifurcation.machine_code.kernels import compiled, part
from pfaff.bifurcation.orbits.floquet import shrunk, spectrum
from pfaff.bifurcation.orbits.solving.condensation import stage_states
from pfaff.bifurcation.orbits.solving.meshes import carried_velocity, pinned
from pfaff.bifurcation.orbits.solving.orbit_newton import SOLVED, conclude, corrected, on_chart
from pfaff.bifurcation.orbits.solving.products import combined, dual_row, inner_product, normalise, scales, turned_by
from pfaff.bifurcation.orbits.solving.step_rules import BLURRED, SLOW

REACH = 3.0  # largest scale of the parameter, relative to what alters the equations or has been passed


@compiled
def predicted(weights, metric, here, tangent, before, slope, ds):
    """A guess a step ahead: the cubic through two orbits with their tangents, in the share s of the tangent at the
    last; along the tangent alone where that share is no measure of the way."""
    squares, scalar_squares = metric[2], metric[3]
    last = inner_product(weights, squares, here[0], tangent[0], scalar_squares, here[2], tangent[2])
    first = inner_product(weights, squares, before[0], tangent[0], scalar_squares, before[2], tangent[2])
    s = first - last
    rise = inner_product(weights, squares, slope[0], tangent[0], scalar_squares, slope[2], tangent[2])
    if s < 0 and rise > 0:
        at = ds / s
        chord = at * at * (3 - 2 * at)
        shares = (1 - chord, chord, ds * (1 - at) ** 2, ds * at * (at - 1) / rise)
    else:
        shares = (1.0, 0.0, ds, 0.0)
    return combined(shares, (here, before, tangent, slope))


@part
def copy(a, b):
    """Copy the entries of b into a, of the same shape."""
    to, by = a.reshape(-1), b.reshape(-1)
    for i in range(len(to)):
        to[i] = by[i]


@compiled
def stride(equations, rates_of, mesh, signs, metric, stages, ds, rule, room, solver, settings, found):
    """Returns how Newton's method ends, its steps and the size of the last; and numbers: residual, determinant, margin
    of the chart, turn of the branch, and how far the velocity misses the one that the linear flow carries.

    ``stages`` are an orbit, its tangent, the orbit before, and its tangent; ``rule``, ``room`` and ``solver`` are those
    of ``corrected``; ``rates_of`` is f with the pivots of its chart. ``found`` is filled in: the orbit a step ahead,
    its tangent, its metric, its multipliers, and the basis of these; and f along it, at the mesh points. (An array that
    is passed in takes a tenth of the time of one that is returned.)
    """
    (h, weights, columns, f), (here, tangent, before, slope) = mesh, stages
    states, squares, scalar_squares = metric[0], metric[2], metric[3]
    (enough, accuracy), (span, natural, origin), kinds, alike, least, decoupled = settings
    orbit, direction, own, values, basis = found
    x, K, scalars = orbit
    halved = signs.min() < 0
    guess = predicted(weights, metric, here, tangent, before, slope, ds)
    copy(x, guess[0])
    copy(K, guess[1])
    copy(scalars, guess[2])
    row = dual_row(weights, squares, tangent[0], scalar_squares, tangent[2])
    held = np.empty((0, len(weights), len(signs)))
    pins = pinned(row, (h, weights), states, held, (here[0], here[2]), signs, (x, scalars))
    cycle, done = (x, K, scalars, signs, h), np.int64(0)  # with a literal numba would compile everything once more
    stage_states(cycle, rule, room[0])
    G = np.empty((len(h), len(signs), len(signs)))
    how, steps, size, residual, determinant = corrected(
        equations, cycle, pins, (states, metric[1]), rule, room, solver, G, enough, done, np.inf
    )
    if how != SOLVED:
        return (how, steps, size), (residual, determinant, 0.0, 0.0, 0.0)
    for sharpened in (False, True):
        along = conclude(room[1], room[3], room[4], K, x, signs, halved, columns)
        rates, margin = on_chart(rates_of, columns, scalars[1], halved)
        parameter = min(span, max(natural, REACH * abs(scalars[1] - origin)))
        sizes = scales(x, signs, scalars[0] * (2 if halved else 1), parameter, scalars, kinds, alike, least)
        missed = carried_velocity(G, rates, sizes[0])
        # Before a finer mesh is demanded, the part that Newton's method left is taken out of the estimated error.
        if sharpened or steps >= SLOW or not accuracy < missed < BLURRED * residual:
            break
        how, steps, size, residual, determinant = corrected(
            equations, cycle, pins, (states, metric[1]), rule, room, solver, G, np.inf, steps, np.inf
        )
        if how != SOLVED:
            return (how, steps, size), (residual, determinant, 0.0, 0.0, 0.0)
    chord, turns = ((here[0], here[2]), (x, scalars)), ((tangent[0], tangent[2]), (along[0], along[2]))
    turn = turned_by(weights, squares, scalar_squares, chord[0], chord[1], turns[0], turns[1])
    sign = normalise(weights, sizes[2], sizes[3], along[0], along[1], along[2], tangent[0], tangent[2])
    copy(values, spectrum(G, signs, sizes[0], basis, decoupled, solver[1]))
    copy(direction[0], along[0])
    copy(direction[1], along[1])
    copy(direction[2], along[2])
    for k in range(4):
        copy(own[k], sizes[k])
    copy(f, rates)
    return (how, steps, size), (residual, sign * determinant * shrunk(values), margin, turn, missed)
