"""Compiled algebra of orbits and changes of them: sizes of states, products, lengths and predictions.

Orbits are passed as their states at the mesh points, slopes and scalars; a metric as the weights of mesh points and the
squares of the scales of states and scalars.
"""

from __future__ import annotations

import numpy as np

from pfaff.bifurcation.machine_code.kernels import compiled, part
from pfaff.bifurcation.orbits.solving.meshes import amplitudes, whole_turns

STILL = 1e-3  # amplitudes below this, relative to the largest, do not set the scale of a state
STUCK = 1e-9  # least move of a position in a period, relative to that at the largest velocity
RESTING = 1e-15  # move of the states of a forced orbit at rest, relative to their magnitudes or 1, whichever is more
VELOCITIES, POSITIONS, CARRIED = range(3)  # kinds of states


@compiled
def scales(x, signs, period, parameter, scalars, kinds, alike, least):
    """The scales by which states and scalars are compared, and their squares: the amplitude of each state, unless it is
    less than a share of the largest, the period itself, and the parameter's range.

    A state that is still beside the others is compared by its own magnitude, up to the largest amplitude, the more so
    the less it moves: along the branch it may move like any other. Where ``kinds`` are given, states are compared with
    others of their kind: how large velocities are beside positions is a matter of the unit of time, and how large both
    are beside the cosine and sine that carry a forcing is one of length. States that ``alike`` numbers the same are
    compared by the largest of them. ``least`` are sizes below which none is, if there are any.
    """
    n = x.shape[1]
    states, own, turns = np.empty(n), np.empty(n), np.empty(n)
    largest = amplitudes(x, signs, states)
    for t in range(n):
        own[t] = 0.0
        for j in range(len(x)):
            own[t] = max(own[t], abs(x[j, t]))
    reach, resting = np.array([largest, largest, largest]), False
    if len(kinds):
        resting = reached(states, own, period, kinds, reach)
    rotates = whole_turns(x, signs, turns)
    for t in range(n):
        most = reach[kinds[t]] if len(kinds) else largest
        low = STILL * most
        if resting:
            states[t] = most
        elif states[t] < low:
            still = low * low / max(states[t], STILL * low)
            states[t] = max(low, min(own[t], most, still))
        if rotates and turns[t] == 0:  # its speed may hardly change
            states[t] = max(states[t], own[t])
        if len(least):
            states[t] = least[t] if resting else max(states[t], least[t])
    if len(alike):
        for kind in alike:
            largest = 0.0
            for t in range(n):
                largest = max(largest, states[t] if alike[t] == kind else 0.0)
            for t in range(n):
                states[t] = largest if alike[t] == kind else states[t]
    of_scalars, squares, scalar_squares = np.zeros(len(scalars)), np.empty(n), np.zeros(len(scalars))
    of_scalars[0], of_scalars[1] = 1 / scalars[0], 1 / parameter
    for t in range(n):
        states[t] = 1 / states[t]
        squares[t] = states[t] * states[t] / n
    for t in range(2):
        scalar_squares[t] = of_scalars[t] * of_scalars[t]
    return states, of_scalars, squares, scalar_squares


@part
def reached(amplitude, own, period, kinds, reach):
    """Fill in the largest amplitude of every kind; whether it is a forced orbit at rest. Small motions have no size
    there: any will do by which velocities are to positions as in a period. So are those that rest while positions move
    that constraints prescribe."""
    reach[:] = 0.0
    magnitude, positions = 1.0, False
    for t in range(len(kinds)):
        reach[kinds[t]] = max(reach[kinds[t]], amplitude[t])
        if kinds[t] == POSITIONS:
            positions, magnitude = True, max(magnitude, own[t])
        elif kinds[t] == VELOCITIES:
            magnitude = max(magnitude, own[t] * period)
    moved = max(reach[POSITIONS], reach[VELOCITIES] * (period if positions else 1.0))
    resting = reach[CARRIED] > 0 and moved <= RESTING * magnitude
    if resting:
        reach[POSITIONS], reach[VELOCITIES] = 1.0, 2 * np.pi / period if positions else 1.0
    elif positions and reach[VELOCITIES] * period <= RESTING * magnitude:
        reach[VELOCITIES] = 2 * np.pi / period * reach[POSITIONS]
    reach[POSITIONS] = max(reach[POSITIONS], STUCK * period * reach[VELOCITIES])
    return resting


@compiled
def inner_product(weights, squares, a, b, scalar_squares, a_scalars, b_scalars):
    """Σ w_j ⟨a_j, b_j⟩ over the mesh points, plus that of the scalars, each component by the square of its scale."""
    total = 0.0
    for j in range(len(weights)):
        at = 0.0
        for t in range(len(squares)):
            at += squares[t] * a[j, t] * b[j, t]
        total += weights[j] * at
    for t in range(len(scalar_squares)):
        total += scalar_squares[t] * a_scalars[t] * b_scalars[t]
    return total


@compiled
def dual_row(weights, squares, x, scalar_squares, scalars):
    """The row ⟨change, ·⟩, over the mesh points and over the scalars."""
    row, of_scalars = np.empty(x.shape), np.empty(len(scalars))
    for j in range(len(weights)):
        for t in range(len(squares)):
            row[j, t] = weights[j] * squares[t] * x[j, t]
    for t in range(len(scalars)):
        of_scalars[t] = scalar_squares[t] * scalars[t]
    return row, of_scalars


@compiled
def normalise(weights, squares, scalar_squares, x, K, scalars, towards, of_towards):
    """Scale a change to unit length and turn it towards another, in place; returns the sign that turned it."""
    along = inner_product(weights, squares, x, towards, scalar_squares, scalars, of_towards)
    sign = 1.0 if along >= 0 else -1.0
    factor = sign / np.sqrt(inner_product(weights, squares, x, x, scalar_squares, scalars, scalars))
    for each in (x.reshape(-1), K.reshape(-1), scalars):
        for i in range(len(each)):
            each[i] *= factor
    return sign


@compiled
def turned_by(weights, squares, scalar_squares, a, b, tangent, ahead):
    """The larger of two angles with the unit tangent at a: that of the chord to b, and that of the direction ahead,
    whose product with the tangent is 1. Each has states and scalars."""
    chord, of_chord = b[0] - a[0], b[1] - a[1]
    along = inner_product(weights, squares, chord, tangent[0], scalar_squares, of_chord, tangent[1])
    length = np.sqrt(inner_product(weights, squares, chord, chord, scalar_squares, of_chord, of_chord))
    reach = np.sqrt(inner_product(weights, squares, ahead[0], ahead[0], scalar_squares, ahead[1], ahead[1]))
    return np.arccos(max(-1.0, min(1.0, along / length, 1 / reach)))


@compiled
def combined(shares, orbits):
    """States, slopes and scalars of a combination of orbits, or changes."""
    x, K, scalars = np.zeros(orbits[0][0].shape), np.zeros(orbits[0][1].shape), np.zeros(len(orbits[0][2]))
    for k in range(len(orbits)):
        share, (of_x, of_K, of_scalars) = shares[k], orbits[k]
        for j in range(x.shape[0]):
            for t in range(x.shape[1]):
                x[j, t] += share * of_x[j, t]
        for j in range(K.shape[0]):
            for i in range(K.shape[1]):
                for r in range(K.shape[2]):
                    K[j, i, r] += share * of_K[j, i, r]
        for t in range(len(scalars)):
            scalars[t] += share * of_scalars[t]
    return x, K, scalars
