# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
# cython: infer_types=True
"""Newton's method for periodic orbits, and a step along a branch of them: predicted, corrected and examined.

A ``Workspace`` holds the arrays that are filled again and again on meshes of one number of intervals.
"""

from __future__ import annotations

import cython
import numpy as np

if cython.compiled:
    from cython.cimports.libc.math import INFINITY, NAN, fabs
    from cython.cimports.libc.string import memcpy
    from cython.cimports.pfaff.kernels.arrays import larger, numbers, places
    from cython.cimports.pfaff.kernels.chain import chain_room, close_chain, padded
    from cython.cimports.pfaff.kernels.condensation import condense, expand, lines_in, stage_states
    from cython.cimports.pfaff.kernels.periodic_schur import shrink, spectrum, spectrum_room
    from cython.cimports.pfaff.kernels.linear import ready
    from cython.cimports.pfaff.kernels.meshes import least_among, mesh_room, missed_velocity, pin
    from cython.cimports.pfaff.kernels.metrics import (
        angle, combine, dual, measure, metric_of, orbit_of, product, shape_of, turn,
    )  # fmt: skip
    from cython.cimports.pfaff.kernels.readers import values_in
    from cython.cimports.pfaff.kernels.step_rules import BLURRED, SLOW

GROWN = cython.declare(cython.double, 30.0)  # factors of elimination beyond this require pivoting
LARGE = cython.declare(cython.Py_ssize_t, 150)  # unknown slopes from which LAPACK is faster than lanes: these fill the
# cache
DROWNED = cython.declare(cython.double, 1e-7)  # changes below this that no longer shrink are rounding
FARTHEST = cython.declare(cython.double, 0.7)  # the first change, relative to the orbit's size, that gives a guess up
REACH = cython.declare(cython.double, 3.0)  # largest scale of the parameter, relative to what alters the equations
SINGULAR = cython.declare(cython.int, 1)  # how Newton's method ends, other than solved
GROWS = cython.declare(cython.int, 2)
UNFINISHED = cython.declare(cython.int, 3)
SOLVED = 0
globals().update(  # for Python, too
    SOLVED=SOLVED, SINGULAR=SINGULAR, GROWS=GROWS, UNFINISHED=UNFINISHED, DROWNED=DROWNED,
    FARTHEST=FARTHEST, REACH=REACH,
)  # fmt: skip


@cython.cclass
class Field:
    """A function of states at the columns of an array, with the parameters given but one: by its tape, or by Python."""

    def __init__(self, function, states, parameters, place, outputs):
        self.states, self.points, self._place = states, states.shape[1], place
        self.values = np.empty((outputs, self.points))
        self._columns = np.repeat(parameters[:, None], self.points, axis=1)
        self._function, self._reader = function, function.reader
        self._x, self.out = numbers(states, states.size), numbers(self.values, self.values.size)
        self._parameters, self._value = numbers(self._columns, self._columns.size), parameters[place]
        if self._reader is not None:
            times, room = np.zeros(self.points), np.empty(8 * self._reader.code.size + 8)
            self._kept = times, room
            self._times, self._room = numbers(times, self.points), numbers(room, len(room))

    def evaluate(self, value):
        """Fill in the values of the function at a value of the parameter that varies."""
        if value != self._value:
            for k in range(self.points):
                self._parameters[self._place * self.points + k] = value
            self._value = value
        if self._reader is None:
            self._function.batch(self.states, self._columns, self.values)
        else:
            values_in(
                self._room, self.out, self._x, self._parameters, self._times, self.points,
                cython.address(self._reader.code),
            )  # fmt: skip
        return 0

    def at(self, value: cython.double):
        """The values at a value of the parameter that varies."""
        self.evaluate(value)
        return self.values


@cython.cclass
class Measures:
    """How points of a branch are measured: by which sizes states are compared, the range of the parameter and what
    alters the equations near its origin; the remaining coupling of multipliers, and the accuracy of orbits."""

    def __init__(self, comparison, span, natural, origin, decoupled, accuracy):
        self.comparison, self.span, self.natural, self.origin = comparison, span, natural, origin
        self.decoupled, self.accuracy = decoupled, accuracy


def _next(free, count):
    """So many numbers of a block, from a cache line on."""
    found = free[0]
    free[0] += padded(count)
    return found


@cython.cclass
class Workspace:
    """Arrays for orbits of N intervals: states at Gauss points (``X``), condensed equations (``ends``), changes of
    states and scalars by a Newton step and along the tangent (``dx``, ``dscalars``), and f at the mesh points, then at
    their mirror images if half a period is known (``velocities``).

    ``equations`` and ``rates`` are f with its derivatives, of the rows that have slopes, and f with the pivots of its
    chart, each with its number of outputs; the parameter ``place`` varies. Newton's method takes so many
    ``corrections`` at most.
    """

    def __init__(
        self, scheme: Scheme, N: cython.Py_ssize_t, halved: cython.bint, equations, rates, parameters, place,
        corrections,
    ):  # fmt: skip
        ready()
        self._corrections = corrections
        self.scheme, self.N, self.halved, self.grown, self.large = scheme, N, halved, GROWN, LARGE
        self.rule = cython.address(scheme.rule)
        n, m, nr, nb = self.rule.n, self.rule.m, self.rule.nr, self.rule.nb
        size, columns, groups, ends = m * nr, n + nb + 1, (N + 7) // 8, 2 * N + 2 if halved else N + 1
        self.shape.N, self.shape.n, self.shape.slopes, self.shape.nb = N, n, size, nb
        self.X, states, self.velocities = np.empty((n, N * m)), np.empty((n, ends)), np.empty((n, ends))
        self.ends, self.dx = np.empty((N, n, nb + 1)), np.empty((2, N + 1, n))
        self.dscalars = np.empty((2, nb))
        self._equations = Field(equations[0], self.X, parameters, place, equations[1])
        self._rates = Field(rates[0], states, parameters, place, rates[1])
        counts = (
            groups * size * columns * 8, size * (size + columns) * 8, lines_in(self.rule) * 8, size * (size + columns),
            N * m * nr, N * n * n, chain_room(N, n, nb), max(mesh_room(self.rule, N), (N + 1) * n + nb + 2 * n),
            spectrum_room(N, n), nb * (N + 1) * n, nb * nb, nb, (N + 1) * n, nb,
        )  # fmt: skip
        block = np.empty(sum(counts) + 8 * len(counts) + 8)
        block = block[-(block.ctypes.data // 8) % 8 :]
        pivots, stiff = np.empty(size, dtype=np.intc), np.zeros(N, dtype=np.intc)
        self._kept = states, block, pivots, stiff
        at: cython.p_double = numbers(block, len(block))
        free = cython.address(at)
        to: cython.pointer[Condensed] = cython.address(self.condensed)
        to.N, to.X, to.values = N, numbers(self.X, n * N * m), self._equations.out
        to.Z, to.lanes, to.lines = _next(free, counts[0]), _next(free, counts[1]), _next(free, counts[2])
        to.square, to.ends = _next(free, counts[3]), numbers(self.ends, N * n * (nb + 1))
        to.pivots, to.stiff = places(pivots, size), places(stiff, N)
        self._dx, self._dscalars = numbers(self.dx, 2 * (N + 1) * n), numbers(self.dscalars, 2 * nb)
        self._dK, self.G, self._chain = _next(free, counts[4]), _next(free, counts[5]), _next(free, counts[6])
        self.room, self._spectrum, self._rows = _next(free, counts[7]), _next(free, counts[8]), _next(free, counts[9])
        self._by_scalars, self._right = _next(free, counts[10]), _next(free, counts[11])
        self._row, self._of_scalars = _next(free, counts[12]), _next(free, counts[13])
        self._states, self.f = numbers(states, n * ends), numbers(self.velocities, n * ends)

    # Newton's method

    def correct_at(self, orbit, h, signs, rows, by_scalars, right, metric, G, enough, steps, last):
        """Newton steps, in place, after earlier ones, the last of this size, from the states at the Gauss points.

        The change that counts as converged is the error of tangent and multipliers; that of the orbit is its square.
        """
        found: Solved
        largest = cython.declare(cython.double)
        rule, to = self.rule, cython.address(self.condensed)
        to.grown, to.large = self.grown, self.large
        found.how, found.steps, found.size, found.residual, found.determinant = SINGULAR, steps, NAN, NAN, 0.0
        for step in range(steps + 1, self._corrections + 1):
            found.steps = step
            self._equations.evaluate(orbit.scalars[1])
            found.residual = condense(rule, orbit, h, to, G)
            if not fabs(found.residual) < INFINITY:
                return found
            determinant = close_chain(
                self.N, rule.n, rule.nb, G, to.ends, rows, by_scalars, right, orbit.x, orbit.scalars, signs, self._dx,
                self._dscalars, self._chain,
            )  # fmt: skip
            if not fabs(determinant) < INFINITY:
                return found
            found.determinant = determinant
            found.size = self._move(orbit, h, metric, cython.address(largest))
            if largest > 0:
                found.residual /= largest
            if not fabs(found.size) < INFINITY:
                return found
            if found.size <= enough or (found.size < DROWNED and found.size >= last / 2):
                found.how = SOLVED
                return found
            if found.size > (FARTHEST if step == 1 else last):
                found.how = GROWS
                return found
            last = found.size
        found.how = UNFINISHED
        return found

    def _move(self, orbit, h, metric, largest):
        """Change an orbit by a Newton step; returns its size, and the largest slope before it. X becomes the states at
        the Gauss points after the step."""
        n, dx, dc, dK = self.rule.n, self._dx, self._dscalars, self._dK
        expand(self.rule, cython.address(self.condensed), dx, dc, 1.0, dK)
        size = 0.0
        for j in range(self.N + 1):
            for t in range(n):
                size = larger(size, fabs(dx[j * n + t] * metric.states[t]))
                orbit.x[j * n + t] += dx[j * n + t]
        for t in range(self.rule.nb):
            size = larger(size, fabs(dc[t] * metric.scalars[t]))
            orbit.scalars[t] += dc[t]
        largest[0] = 0.0
        for i in range(self.N * self.shape.slopes):
            largest[0] = max(largest[0], fabs(orbit.K[i]))
            orbit.K[i] += dK[i]
        stage_states(self.rule, orbit, h, self.N, self.condensed.X)
        return size

    def _conclude(self, orbit, signs, tangent):
        """Fill in the tangent that a Newton step leaves; and the states after it, a column each, with their mirror
        images beside them if half a period is known."""
        n, N = self.rule.n, self.N
        memcpy(tangent.x, self._dx + (N + 1) * n, 8 * (N + 1) * n)
        memcpy(tangent.scalars, self._dscalars + self.rule.nb, 8 * self.rule.nb)
        expand(self.rule, cython.address(self.condensed), tangent.x, tangent.scalars, 0.0, tangent.K)
        points = self._rates.points
        for t in range(n):
            row = self._states + t * points
            for j in range(N + 1):
                x = orbit.x[j * n + t]
                if self.halved:
                    row[2 * j], row[2 * j + 1] = x, signs[t] * x
                else:
                    row[j] = x

    def _on_chart(self, value):
        """Fill in f at the mesh points, then at their mirror images if those are beside them; returns the least
        coefficient by which a velocity is solved for, relative to the largest."""
        self._rates.evaluate(value)
        n, points, values = self.rule.n, self._rates.points, self._rates.out
        for i in range(n):
            if self.halved:
                for j in range(self.N + 1):
                    self.f[i * points + j] = values[i * points + 2 * j]
                    self.f[i * points + self.N + 1 + j] = values[i * points + 2 * j + 1]
            else:
                memcpy(self.f + i * points, values + i * points, 8 * points)
        return least_among(values + n * points, len(self._rates.values) - n, points)

    def step(self, place, signs, metric, stages, ds, enough, measures):
        """A step along a branch from an orbit, given its tangent, the orbit before and its tangent, and its metric: the
        place is filled in, but for its mesh; its basis of multipliers is that of a neighbour before."""
        found: Stride
        solved: Solved
        N, n, nb, shape = self.N, self.rule.n, self.rule.nb, cython.address(self.shape)
        orbit, along, own = cython.address(place.orbit), cython.address(place.tangent), cython.address(place.metric)
        h, weights, last = place.h, place.weights, INFINITY
        predict(weights, metric, shape, stages, ds, orbit)
        dual(weights, metric, shape, stages + 1, self._row, self._of_scalars)
        pin(
            N, n, nb, self._row, self._of_scalars, h, weights, metric.states, cython.NULL, stages, signs, orbit,
            self._rows, self._by_scalars, self._right,
        )  # fmt: skip
        stage_states(self.rule, orbit, h, N, self.condensed.X)
        found.steps, found.margin, found.turn, found.velocity = 0, 0.0, 0.0, 0.0
        for sharpened in range(2):
            solved = self.correct_at(
                orbit, h, signs, self._rows, self._by_scalars, self._right, metric, self.G, enough, found.steps, last
            )
            found.how, found.steps, found.size = solved.how, solved.steps, solved.size
            found.residual, found.determinant = solved.residual, solved.determinant
            if solved.how != SOLVED:
                found.margin = found.velocity = 0.0
                return found
            self._conclude(orbit, signs, along)
            found.margin = self._on_chart(orbit.scalars[1])
            parameter = min(measures.span, max(measures.natural, REACH * fabs(orbit.scalars[1] - measures.origin)))
            measure(
                own, orbit.x, signs, shape, orbit.scalars[0] * (2 if self.halved else 1), parameter, orbit.scalars,
                cython.address(measures.comparison.by), self.room,
            )  # fmt: skip
            found.velocity = missed_velocity(self.G, self.f, self._rates.points, own.states, N, n)
            # Before a finer mesh is demanded, the part that Newton's method left is taken out of the estimated error.
            if found.steps >= SLOW or not measures.accuracy < found.velocity < BLURRED * found.residual:
                break
            enough = INFINITY
        found.turn = angle(weights, metric, shape, stages, orbit, stages + 1, along, self.room)
        sign = turn(weights, own, shape, along, stages + 1)
        spectrum(
            self.G, N, n, signs, own.states, place.basis, measures.decoupled, place.multipliers, self._spectrum
        )  # fmt: skip
        found.determinant = sign * found.determinant * shrink(place.multipliers, n)
        return found

    # For Python

    def correct(self, cycle, h, pins, metric, G, enough: cython.double, steps: cython.Py_ssize_t = 0):
        """Newton's method in place, after some steps: how it ends, its steps, the last of them, the residual before it
        and the determinant. G becomes the transition matrices."""
        shape = cython.address(self.shape)
        orbit, by, n, nb = orbit_of(cycle, shape), metric_of(metric, shape), shape.n, shape.nb
        stage_states(self.rule, cython.address(orbit), numbers(h, self.N), self.N, self.condensed.X)
        found = self.correct_at(
            cython.address(orbit), numbers(h, self.N), numbers(cycle.signs, n), numbers(pins[0], nb * (self.N + 1) * n),
            numbers(pins[1], nb * nb), numbers(pins[2], nb), cython.address(by), numbers(G, self.N * n * n), enough,
            steps, INFINITY,
        )  # fmt: skip
        return found.how, found.steps, found.size, found.residual, found.determinant

    def conclude(self, cycle):
        """The tangent that a Newton step leaves: states, slopes and scalars; f at the mesh points; and the least
        coefficient by which a velocity is solved for, relative to the largest."""
        shape = cython.address(self.shape)
        orbit = orbit_of(cycle, shape)
        x, K, scalars = np.empty(cycle.x.shape), np.empty(cycle.K.shape), np.empty(shape.nb)
        along: Orbit
        along.x, along.K, along.scalars = numbers(x, x.size), numbers(K, K.size), numbers(scalars, shape.nb)
        self._conclude(cython.address(orbit), numbers(cycle.signs, shape.n), cython.address(along))
        margin = self._on_chart(orbit.scalars[1])
        return (x, K, scalars), self.velocities.copy(), margin

    def condense(self, cycle, h, G):
        """Condense the equations of all intervals of an orbit to their ends; returns the largest residual."""
        orbit = orbit_of(cycle, cython.address(self.shape))
        stage_states(self.rule, cython.address(orbit), numbers(h, self.N), self.N, self.condensed.X)
        self.condensed.grown, self.condensed.large = self.grown, self.large
        self._equations.evaluate(orbit.scalars[1])
        return condense(
            self.rule, cython.address(orbit), numbers(h, self.N), cython.address(self.condensed), numbers(G, G.size)
        )

    def expanded(self):
        """Slopes that belong to the first change of states and scalars, without residuals."""
        K = np.empty((self.N, self.rule.m, self.rule.nr))
        expand(
            self.rule, cython.address(self.condensed), self._dx, self._dscalars, 0.0, numbers(K, K.size)
        )  # fmt: skip
        return K

    def stride(self, mesh, signs, metric, stages, ds: cython.double, enough: cython.double, measures: Measures, found):
        """A step along a branch: ``stages`` are an orbit, its tangent, the orbit before, and its tangent. The orbit
        ``found`` is filled in, with tangent, metric, multipliers and the basis of these, which is that of a neighbour
        before. Returns how Newton's method ends, its steps and the size of the last; and residual, determinant, margin
        of the chart, turn of the branch, and how far the velocity misses the one that the linear flow carries."""
        shape, n = cython.address(self.shape), self.rule.n
        four = cython.declare(Orbit[4])
        place: Place
        by = metric_of(metric, shape)
        for k in range(4):
            four[k] = orbit_of(stages[k], shape)
        place.h, place.weights = numbers(mesh.h, self.N), numbers(mesh.weights, self.N + 1)
        place.orbit, place.tangent = orbit_of(found[0], shape), orbit_of(found[1], shape)
        place.metric, place.basis = metric_of(found[2], shape), numbers(found[4], n * n)
        place.multipliers = numbers(found[3].view(float), 2 * n)
        told = self.step(
            cython.address(place), numbers(signs, n), cython.address(by), four, ds, enough, measures
        )  # fmt: skip
        return (told.how, told.steps, told.size), (
            told.residual, told.determinant, told.margin, told.turn, told.velocity,
        )  # fmt: skip


def predict(weights, metric, shape, stages, ds, to):
    """A guess a step ahead: the cubic through two orbits with their tangents, in the share s of the tangent at the
    last; along the tangent alone where that share is no measure of the way."""
    orbits, shares = cython.declare(Orbit[4]), cython.declare(cython.double[4])
    here, tangent, before, slope = stages, stages + 1, stages + 2, stages + 3
    orbits[0], orbits[1], orbits[2], orbits[3] = stages[0], stages[2], stages[1], stages[3]
    last = product(weights, metric, shape, here, tangent)
    s = product(weights, metric, shape, before, tangent) - last
    rise = product(weights, metric, shape, slope, tangent)
    if s < 0 and rise > 0:
        at = ds / s
        chord = at * at * (3 - 2 * at)
        shares[0], shares[1], shares[2] = 1 - chord, chord, ds * ((1 - at) * (1 - at))
        shares[3] = ds * at * (at - 1) / rise
    else:
        shares[0], shares[1], shares[2], shares[3] = 1.0, 0.0, ds, 0.0
    combine(shape, 4, shares, orbits, to)


def predicted(weights, metric, stages, ds: cython.double):
    """``predict`` from an orbit, its tangent, the orbit before, and its tangent: states, slopes and scalars."""
    shape, first = shape_of(stages[0]), stages[0]
    four = cython.declare(Orbit[4])
    to: Orbit
    by, found = metric_of(metric, cython.address(shape)), (
        np.empty(first.x.shape), np.empty(first.K.shape), np.empty(shape.nb)
    )  # fmt: skip
    for k in range(4):
        four[k] = orbit_of(stages[k], cython.address(shape))
    to.x, to.K = numbers(found[0], found[0].size), numbers(found[1], found[1].size)
    to.scalars = numbers(found[2], shape.nb)
    predict(
        numbers(weights, shape.N + 1), cython.address(by), cython.address(shape), four, ds, cython.address(to)
    )  # fmt: skip
    return found
