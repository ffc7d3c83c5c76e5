# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
# cython: infer_types=True
"""Algebra of periodic orbits and of changes of them: sizes of states, products, lengths and combinations.

Python hands over orbits as objects with ``x``, states at the mesh points, ``K``, slopes, and ``scalars``; a metric as
one with the scales of states and scalars and the squares of both; with the weights of mesh points.
"""

from __future__ import annotations

import cython
import numpy as np

if cython.compiled:
    from cython.cimports.libc.math import fabs, floor, sqrt
    from cython.cimports.pfaff.kernels.hyperbolic import acos
    from cython.cimports.libc.stdlib import free, malloc
    from cython.cimports.libc.string import memset
    from cython.cimports.pfaff.kernels.arrays import numbers, places

TURN = cython.declare(cython.double, 6.283185307179586)  # 2π
CLOSED = cython.declare(cython.double, 1e-9)  # relative gap between the ends of a state, below which it closes
STILL = cython.declare(cython.double, 1e-3)  # amplitudes below this, relative to the largest, do not set the scale
STUCK = cython.declare(cython.double, 1e-9)  # least move of a position in a period, relative to that at largest speed
RESTING = cython.declare(cython.double, 1e-15)  # move of a forced orbit at rest, relative to its magnitude or 1
VELOCITIES = cython.declare(cython.int, 0)  # kinds of states
POSITIONS = cython.declare(cython.int, 1)
CARRIED = cython.declare(cython.int, 2)
globals().update(TURN=TURN, VELOCITIES=VELOCITIES, POSITIONS=POSITIONS, CARRIED=CARRIED)  # for Python, too


def turned(x, signs, N, n, t):
    """The whole turns by which an angle has grown at the end; zero if the state is periodic."""
    gap = x[N * n + t] - signs[t] * x[t]
    return TURN * floor(gap / TURN + 0.5) if fabs(gap) > CLOSED * fabs(x[N * n + t]) else 0.0


def turns_of(x, signs, N, n, turns):
    """Fill in the growth of all angles; returns whether any has grown."""
    found: cython.bint = False
    for t in range(n):
        turns[t] = turned(x, signs, N, n, t)
        found = found or turns[t] != 0.0
    return found


def amplitudes_of(x, signs, N, n, covered):
    """Half of the range of every state, at the mesh points and their mirror images; returns the largest."""
    largest = 0.0
    for t in range(n):
        low = high = x[t]
        for j in range(1, N + 1):
            low, high = min(low, x[j * n + t]), max(high, x[j * n + t])
        covered[t] = max(-low, high) if signs[t] < 0 else (high - low) / 2
        largest = max(largest, covered[t])
    return largest


def measure(to, x, signs, shape, period, parameter, scalars, by, room):
    """The scales by which states and scalars are compared, and their squares: the amplitude of each state, unless it is
    less than a share of the largest, the period itself, and the parameter's range. The room is of 2n numbers.

    A state that is still beside the others is compared by its own magnitude, up to the largest amplitude, the more so
    the less it moves: along the branch it may move like any other. Where ``kinds`` are given, states are compared with
    others of their kind: how large velocities are beside positions is a matter of the unit of time, and how large both
    are beside the cosine and sine that carry a forcing is one of length. States that ``alike`` numbers the same are
    compared by the largest of them. ``least`` are sizes below which none is, if there are any.
    """
    n, N, states = shape.n, shape.N, to.states
    own, turns = room, room + n
    reach = cython.declare(cython.double[3])
    resting: cython.bint = False
    largest = amplitudes_of(x, signs, N, n, states)
    for t in range(n):
        own[t] = 0.0
        for j in range(N + 1):
            own[t] = max(own[t], fabs(x[j * n + t]))
    reach[0] = reach[1] = reach[2] = largest
    if by.kinds != cython.NULL:
        resting = _reach(states, own, period, by.kinds, n, reach)
    rotates = turns_of(x, signs, N, n, turns)
    for t in range(n):
        most = reach[by.kinds[t]] if by.kinds != cython.NULL else largest
        low = STILL * most
        if resting:
            states[t] = most
        elif states[t] < low:
            still = low * low / max(states[t], STILL * low)
            states[t] = max(low, min(min(own[t], most), still))
        if rotates and turns[t] == 0.0:  # its speed may hardly change
            states[t] = max(states[t], own[t])
        if by.least != cython.NULL:
            states[t] = by.least[t] if resting else max(states[t], by.least[t])
    if by.alike != cython.NULL:
        for k in range(n):
            largest = 0.0
            for t in range(n):
                if by.alike[t] == by.alike[k]:
                    largest = max(largest, states[t])
            for t in range(n):
                if by.alike[t] == by.alike[k]:
                    states[t] = largest
    for t in range(shape.nb):
        to.scalars[t] = to.scalar_squares[t] = 0.0
    to.scalars[0], to.scalars[1] = 1 / scalars[0], 1 / parameter
    for t in range(n):
        states[t] = 1 / states[t]
        to.squares[t] = states[t] * states[t] / n
    for t in range(2):
        to.scalar_squares[t] = to.scalars[t] * to.scalars[t]


def _reach(amplitude, own, period, kinds, n, reach):
    """Fill in the largest amplitude of every kind; whether it is a forced orbit at rest. Small motions have no size
    there: any will do by which velocities are to positions as in a period. So are those that rest while positions move
    that constraints prescribe."""
    magnitude = 1.0
    positions: cython.bint = False
    reach[0] = reach[1] = reach[2] = 0.0
    for t in range(n):
        reach[kinds[t]] = max(reach[kinds[t]], amplitude[t])
        if kinds[t] == POSITIONS:
            positions, magnitude = True, max(magnitude, own[t])
        elif kinds[t] == VELOCITIES:
            magnitude = max(magnitude, own[t] * period)
    moved = max(reach[POSITIONS], reach[VELOCITIES] * (period if positions else 1.0))
    resting: cython.bint = reach[CARRIED] > 0 and moved <= RESTING * magnitude
    if resting:
        reach[POSITIONS], reach[VELOCITIES] = 1.0, TURN / period if positions else 1.0
    elif positions and reach[VELOCITIES] * period <= RESTING * magnitude:
        reach[VELOCITIES] = TURN / period * reach[POSITIONS]
    reach[POSITIONS] = max(reach[POSITIONS], STUCK * period * reach[VELOCITIES])
    return resting


def product(weights, metric, shape, a, b):
    """Σ w_j ⟨a_j, b_j⟩ over the mesh points, plus that of the scalars, each component by the square of its scale."""
    n = shape.n
    total = 0.0
    for j in range(shape.N + 1):
        at = 0.0
        for t in range(n):
            at += metric.squares[t] * a.x[j * n + t] * b.x[j * n + t]
        total += weights[j] * at
    for t in range(shape.nb):
        total += metric.scalar_squares[t] * a.scalars[t] * b.scalars[t]
    return total


def dual(weights, metric, shape, change, row, scalars):
    """Fill in the row ⟨change, ·⟩, over the mesh points and over the scalars."""
    n = shape.n
    for j in range(shape.N + 1):
        for t in range(n):
            row[j * n + t] = weights[j] * metric.squares[t] * change.x[j * n + t]
    for t in range(shape.nb):
        scalars[t] = metric.scalar_squares[t] * change.scalars[t]


def turn(weights, metric, shape, change, towards):
    """Scale a change to unit length and turn it towards another, in place; returns the sign that turned it."""
    sign = 1.0 if product(weights, metric, shape, change, towards) >= 0 else -1.0
    factor = sign / sqrt(product(weights, metric, shape, change, change))
    for i in range((shape.N + 1) * shape.n):
        change.x[i] *= factor
    for i in range(shape.N * shape.slopes):
        change.K[i] *= factor
    for i in range(shape.nb):
        change.scalars[i] *= factor
    return sign


def angle(weights, metric, shape, a, b, tangent, ahead, room):
    """The larger of two angles with the unit tangent at a: that of the chord to b, and that of the direction ahead,
    whose product with the tangent is 1. The room is of as many numbers as states at the mesh points and scalars."""
    count = (shape.N + 1) * shape.n
    chord: Orbit
    chord.x, chord.scalars = room, room + count
    for i in range(count):
        chord.x[i] = b.x[i] - a.x[i]
    for i in range(shape.nb):
        chord.scalars[i] = b.scalars[i] - a.scalars[i]
    between = cython.address(chord)
    along = product(weights, metric, shape, between, tangent)
    length = sqrt(product(weights, metric, shape, between, between))
    reach = sqrt(product(weights, metric, shape, ahead, ahead))
    return acos(max(-1.0, min(min(1.0, along / length), 1 / reach)))


def combine(shape, many, shares, orbits, to):
    """Fill in states, slopes and scalars of a combination of orbits, or changes."""
    _add(many, shares, orbits, 0, to.x, (shape.N + 1) * shape.n)
    _add(many, shares, orbits, 1, to.K, shape.N * shape.slopes)
    _add(many, shares, orbits, 2, to.scalars, shape.nb)


def _add(many, shares, orbits, which, to, count):
    memset(to, 0, 8 * count)
    for k in range(many):
        share = shares[k]
        by = orbits[k].x if which == 0 else orbits[k].K if which == 1 else orbits[k].scalars
        for i in range(count):
            to[i] += share * by[i]


# For Python


def shape_of(cycle):
    x, K = cycle.x, cycle.K
    shape: Shape
    shape.N, shape.n = len(x) - 1, x.shape[1]
    shape.slopes, shape.nb = K.size // shape.N, len(cycle.scalars)
    return shape


def orbit_of(cycle, shape):
    orbit: Orbit
    orbit.x, orbit.K = numbers(cycle.x, (shape.N + 1) * shape.n), numbers(cycle.K, shape.N * shape.slopes)
    orbit.scalars = numbers(cycle.scalars, shape.nb)
    return orbit


def metric_of(metric, shape):
    found: Metric
    found.states, found.scalars = numbers(metric[0], shape.n), numbers(metric[1], shape.nb)
    found.squares, found.scalar_squares = numbers(metric[2], shape.n), numbers(metric[3], shape.nb)
    return found


@cython.cclass
class Comparison:
    """What decides by which sizes states are compared: kinds, numbers of those that are alike, and least sizes, each an
    array that may be empty."""

    def __init__(self, kinds, alike, least):
        kinds, alike, least = kinds.astype(np.intc), alike.astype(np.intc), np.array(least, dtype=float)
        self._kept = kinds, alike, least
        self.by.kinds = places(kinds, len(kinds)) if len(kinds) else cython.NULL
        self.by.alike = places(alike, len(alike)) if len(alike) else cython.NULL
        self.by.least = numbers(least, len(least)) if len(least) else cython.NULL

    def scales(self, cycle, period: cython.double, parameter: cython.double):
        """The scales of states and scalars of an orbit, and the squares of both."""
        shape = shape_of(cycle)
        room = np.empty(2 * shape.n)
        found = np.empty(shape.n), np.empty(shape.nb), np.empty(shape.n), np.empty(shape.nb)
        to = metric_of(found, cython.address(shape))
        measure(
            cython.address(to), numbers(cycle.x, (shape.N + 1) * shape.n), numbers(cycle.signs, shape.n),
            cython.address(shape), period, parameter, numbers(cycle.scalars, shape.nb), cython.address(self.by),
            numbers(room, 2 * shape.n))  # fmt: skip
        return found


def whole_turns(x, signs, turns):
    """Fill in the growth of all angles at the end; returns whether any has grown."""
    n = len(signs)
    return turns_of(numbers(x, len(x) * n), numbers(signs, n), len(x) - 1, n, numbers(turns, n))


def amplitudes(x, signs, covered):
    """Fill in half of the range of every state; returns the largest."""
    n = len(signs)
    return amplitudes_of(numbers(x, len(x) * n), numbers(signs, n), len(x) - 1, n, numbers(covered, n))


def inner_product(weights, metric, a, b):
    """⟨a, b⟩ of two changes."""
    shape = shape_of(a)
    here, there = orbit_of(a, cython.address(shape)), orbit_of(b, cython.address(shape))
    by = metric_of(metric, cython.address(shape))
    return product(
        numbers(weights, shape.N + 1), cython.address(by), cython.address(shape), cython.address(here),
        cython.address(there),
    )  # fmt: skip


def dual_row(weights, metric, change):
    """The row ⟨change, ·⟩, over the mesh points and over the scalars."""
    shape = shape_of(change)
    here, by = orbit_of(change, cython.address(shape)), metric_of(metric, cython.address(shape))
    row, scalars = np.empty(change.x.shape), np.empty(shape.nb)
    dual(
        numbers(weights, shape.N + 1), cython.address(by), cython.address(shape), cython.address(here),
        numbers(row, (shape.N + 1) * shape.n), numbers(scalars, shape.nb),
    )  # fmt: skip
    return row, scalars


def normalise(weights, metric, change, towards):
    """Scale a change to unit length and turn it towards another, in place; returns the sign that turned it."""
    shape = shape_of(change)
    here, there = orbit_of(change, cython.address(shape)), orbit_of(towards, cython.address(shape))
    by = metric_of(metric, cython.address(shape))
    return turn(
        numbers(weights, shape.N + 1), cython.address(by), cython.address(shape), cython.address(here),
        cython.address(there),
    )  # fmt: skip


def turned_by(weights, metric, a, b, tangent, ahead):
    """The larger of two angles with the unit tangent at a: that of the chord to b, and that of the direction ahead."""
    shape = shape_of(a)
    here, there = orbit_of(a, cython.address(shape)), orbit_of(b, cython.address(shape))
    along, next = orbit_of(tangent, cython.address(shape)), orbit_of(ahead, cython.address(shape))
    by, room = metric_of(metric, cython.address(shape)), np.empty((shape.N + 1) * shape.n + shape.nb)
    return angle(
        numbers(weights, shape.N + 1), cython.address(by), cython.address(shape), cython.address(here),
        cython.address(there), cython.address(along), cython.address(next), numbers(room, len(room)),
    )  # fmt: skip


def combined(shares, cycles):
    """States, slopes and scalars of a combination of orbits, or changes."""
    first, many = cycles[0], len(cycles)
    shape = shape_of(first)
    found = np.empty(first.x.shape), np.empty(first.K.shape), np.empty(shape.nb)
    to: Orbit
    to.x, to.K, to.scalars = (
        numbers(found[0], found[0].size), numbers(found[1], found[1].size), numbers(found[2], shape.nb),
    )  # fmt: skip
    by: cython.p_double = cython.cast(cython.p_double, malloc(8 * many))
    orbits: cython.pointer[Orbit] = cython.cast(cython.pointer[Orbit], malloc(cython.sizeof(Orbit) * many))
    try:
        if by == cython.NULL or orbits == cython.NULL:
            raise MemoryError
        for k in range(many):
            by[k], orbits[k] = shares[k], orbit_of(cycles[k], cython.address(shape))
        combine(cython.address(shape), many, by, orbits, cython.address(to))
    finally:
        free(by)
        free(orbits)
    return found
