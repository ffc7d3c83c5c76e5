# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
# cython: infer_types=True
"""Quiet stretches of branches of periodic orbits, walked until something may happen in a step.

A walk steps by the same rules as ``continuation.engine``, adapts the mesh on the way, and solves an orbit again on a
finer one where its accuracy needs that. A step in which something may happen, or that ends on a bound or back at the
start, is handed over; one that is refused is left to the engine.

All orbits are in one array, the store. A record is an orbit with its tangent, from an offset on: states of both, slopes
of both, scalars of both; then its metric and the basis of its multipliers. A note says of each point where these are.
"""

from __future__ import annotations

import cython
import numpy as np

if cython.compiled:
    from cython.cimports.libc.math import NAN, sqrt
    from cython.cimports.libc.string import memcpy
    from cython.cimports.pfaff.kernels.arrays import numbers
    from cython.cimports.pfaff.kernels.periodic_schur import test
    from cython.cimports.pfaff.kernels.meshes import carry_both, equidistribute, least_error, mesh_room, oddness, spread
    from cython.cimports.pfaff.kernels.metrics import amplitudes_of, combine, product
    from cython.cimports.pfaff.kernels.orbit_steps import SOLVED
    from cython.cimports.pfaff.kernels.step_rules import (
        ADAPT_EVERY, COARSE, LARGEST_TURN, MOST, OUTGROWN, SLOW, TRUSTED, VANISHING, WITHIN, apart, finer_intervals,
        lengthens, paced, quiet, strays, wanted_intervals, worn,
    )  # fmt: skip

FULL = cython.declare(cython.int, 0)  # how a walk ends: more may follow; ...
REFUSED = cython.declare(cython.int, 1)  # ... a step is left to the engine, ...
HANDED = cython.declare(cython.int, 2)  # ... or handed over
globals().update(FULL=FULL, HANDED=HANDED)  # for Python, too


def step_room(N, n, slopes, nb):
    """Room for a step on N intervals: for its orbit, on a mesh of twice as many too, with metrics and bases."""
    return 12 * record_length(N, n, slopes, nb) + 3 * (n * n + 2 * (n + nb))


def record_length(N, n, slopes, nb):
    """The length of a record of N intervals, without metric and basis."""
    return 2 * ((N + 1) * n + N * slopes + nb)


@cython.cclass
class Walker:
    """A stretch of at most ``many`` points. ``workspaces`` gives one for a number of intervals, ``meshes`` are those
    numbers of the first point and of the one before it; ``spectra`` becomes the multipliers of all points, ``terms``
    and ``known`` are as in the structures of these names."""

    def __init__(
        self, workspaces, meshes, signs, measures: Measures, terms, known, store, spectra, many: cython.Py_ssize_t
    ):  # fmt: skip
        self._workspaces, self._room, self._spare = workspaces, workspaces(meshes[0]), None
        self._measures, self._terms, self.known = measures, terms, known
        shape = self._room.shape
        self._n, self._slopes, self._nb, self._most = shape.n, shape.slopes, shape.nb, max(MOST, max(meshes)) + 1
        notes = np.full((many + 2) * (cython.sizeof(Note) // 8), np.nan)
        lengths, values = np.empty(6 * self._most), np.empty(4 * self._n)
        self._kept = signs, store, spectra, notes, lengths, values
        self._signs, self._store, self._capacity = numbers(signs, self._n), numbers(store, len(store)), len(store)
        self._spectra = numbers(spectra.view(float), 2 * many * self._n)
        self._notes = cython.cast(cython.pointer[Note], numbers(notes, len(notes)))
        self._meshes, self._values = numbers(lengths, 6 * self._most), numbers(values, 4 * self._n)
        self._covered = self._values + 2 * self._n

    def note(self, k: cython.Py_ssize_t):
        """What is noted of the k-th point passed; of the first, −1, and of the one before it, −2."""
        return self._notes[k + 2]

    def begin(self, k: cython.Py_ssize_t, mesh, orbit, intervals, determinant, unstable, tests):
        """Note where one of the first two points is in the store, and its tests."""
        note: cython.pointer[Note] = self._notes + (k + 2)
        note.next_mesh, note.next_orbit, note.next_intervals = mesh, orbit, intervals
        note.determinant, note.unstable = determinant, unstable
        for i in range(4):
            note.tests[i] = tests[i]

    @property
    def remembered(self):
        """What is known of the branch after the walk."""
        return self.known

    def walk(self, length: cython.double, metric, basis, free: cython.Py_ssize_t, many: cython.Py_ssize_t):
        """Returns the number of points passed, how the walk ends, and the length of the next step; a point that is
        handed over is noted after them.

        The store begins with the meshes and records of the first point and of the one before it, up to ``free``;
        metric and basis are those of the first.
        """
        place: Place
        stages = cython.declare(Orbit[4])
        by: Metric
        room: Workspace
        by.states, by.scalars = numbers(metric[0], self._n), numbers(metric[1], self._nb)
        by.squares, by.scalar_squares = numbers(metric[2], self._n), numbers(metric[3], self._nb)
        its_basis = numbers(basis, self._n * self._n)
        known = cython.address(self.known)
        for k in range(many):
            before: cython.pointer[Note] = self._notes + k
            here: cython.pointer[Note] = before + 1
            note: cython.pointer[Note] = before + 2
            N = here.next_intervals
            room = self._for(N)
            if free + step_room(N, self._n, self._slopes, self._nb) > self._capacity:
                return k, FULL, length
            after = self._place(cython.address(place), 0, here.next_mesh, N, free)
            place.multipliers = self._spectra + 2 * k * self._n
            self._record(here.next_orbit, N, stages, stages + 1)
            self._take_earlier(room, before, here, cython.address(place), stages)
            solved = self._solve(
                room, cython.address(place), cython.address(by), its_basis, stages, length, self._terms.enough, note
            )
            if not solved or note.turned > LARGEST_TURN:
                return k, REFUSED, length
            note.mesh, note.orbit, note.intervals, note.length = here.next_mesh, free, N, length
            if note.unstable != here.unstable or (known.finer and note.error > COARSE * self._measures.accuracy):
                return k, REFUSED, length
            if strays(here.determinant, known.rate * length, note.determinant, here.tests[3], note.tests[3]):
                return k, REFUSED, length
            if self._happens(room, before, here, note, cython.address(by), stages, cython.address(place)):
                return k, HANDED, length
            if self._noticed(note):
                return k, HANDED, length
            finer: cython.bint = not note.error <= self._measures.accuracy
            if finer:
                after = self._refine(cython.address(place), note, after)
                if after < 0:
                    return k, HANDED, length
            length = min(self._terms.longest, paced(length, note.turned))
            by, its_basis = place.metric, place.basis
            free = self._renew(cython.address(place), note, here, finer, after)
        return many, FULL, length

    # Places in the store

    def _for(self, N):
        """The workspace for N intervals; the last two are kept."""
        if self._room.N != N:
            if self._spare is not None and self._spare.N == N:
                self._room, self._spare = self._spare, self._room
            else:
                self._spare = self._room
                self._room = self._workspaces(N)
        return self._room

    def _record(self, at, N, orbit, tangent):
        """An orbit and its tangent in the store; returns where they end."""
        x = self._store + at
        K = x + 2 * (N + 1) * self._n
        scalars = K + 2 * N * self._slopes
        orbit.x, orbit.K, orbit.scalars = x, K, scalars
        tangent.x, tangent.K, tangent.scalars = x + (N + 1) * self._n, K + N * self._slopes, scalars + self._nb
        return scalars + 2 * self._nb

    def _put_mesh(self, which, place, at, N):
        """Fill in a mesh of N intervals that is in the store, with lengths and weights, in one of three rooms."""
        place.N, place.times = N, self._store + at
        place.h = self._meshes + 2 * which * self._most
        place.weights = place.h + self._most
        place.weights[0] = 0.0
        for j in range(N):
            place.h[j] = place.times[j + 1] - place.times[j]
            place.weights[j] += place.h[j] / 2
            place.weights[j + 1] = place.h[j] / 2

    def _place(self, place, which, mesh, N, at):
        """The place of an orbit on a mesh; returns the first free offset after it."""
        n, nb = self._n, self._nb
        self._put_mesh(which, place, mesh, N)
        metric = self._record(at, N, cython.address(place.orbit), cython.address(place.tangent))
        place.metric.states, place.metric.scalars = metric, metric + n
        place.metric.squares, place.metric.scalar_squares = metric + n + nb, metric + 2 * n + nb
        place.basis = metric + 2 * (n + nb)
        return (place.basis - self._store) + n * n

    # A step

    def _solve(self, room, place, metric, basis, stages, length, enough, note):
        """Solve for the orbit a length ahead of another, and note its data; returns whether it is found and, by its
        turn, may be the next one on the branch. It is refused where it is not clear on its chart, or where the
        equations are not odd though it is half an orbit."""
        terms, n, signs = cython.address(self._terms), self._n, self._signs
        memcpy(place.basis, basis, 8 * n * n)
        told = room.step(place, signs, metric, stages, length, enough, self._measures)
        note.turned = told.turn
        if told.how != SOLVED or told.steps > SLOW or not told.margin > terms.clear:
            return False
        period = place.orbit.scalars[0] * (2 if room.halved else 1)
        if room.halved and not oddness(room.f, signs, metric.states, period, n, place.N + 1) <= terms.mirrored:
            return False
        tests = test(place.multipliers, n, terms.ones, self._covered)
        if not tests.far < TRUSTED:
            tests.flip = tests.torus = NAN
        note.determinant, note.residual, note.steps, note.margin = (
            told.determinant, told.residual, told.steps, told.margin,
        )  # fmt: skip
        note.error = least_error(
            room.rule, told.velocity, self._measures.accuracy, cython.address(place.orbit), place.h, place.N,
            place.metric.states, signs, room.room,
        )  # fmt: skip
        note.unstable = tests.unstable
        note.tests[0], note.tests[1] = place.tangent.scalars[1] * place.metric.scalars[1], told.determinant
        note.tests[2], note.tests[3] = tests.flip, tests.torus
        note.amplitude = amplitudes_of(place.orbit.x, signs, place.N, n, self._covered)
        note.period, note.value = period, place.orbit.scalars[1] / terms.scale
        return True

    def _happens(self, room, before, here, note, metric, stages, place):
        """Whether something may happen in a step between two notes, given the note before them, or the step meets a
        bound."""
        first, last, lower, upper = (
            stages[0].scalars[1], place.orbit.scalars[1], self._terms.lower, self._terms.upper,
        )  # fmt: skip
        if (
            (first - lower) * (last - lower) < 0
            or (first - upper) * (last - upper) < 0
            or last == lower
            or last == upper
        ):
            return True
        slope = next_slope = 0.0
        if not self._terms.level:
            tangent = cython.address(place.tangent)
            slope = stages[1].scalars[1]
            next_slope = tangent.scalars[1] / sqrt(
                product(place.weights, metric, cython.address(room.shape), tangent, tangent)
            )  # fmt: skip
        length = note.length
        return not quiet(
            before.tests, here.tests, note.tests, self.known.gone / length, length * slope, length * next_slope,
            last - first,
        )  # fmt: skip

    def _noticed(self, note):
        """Whether a branch may close or end in a step, by the data noted of its orbit; else they are remembered."""
        terms, known = cython.address(self._terms), cython.address(self.known)
        away = apart(note.period, note.amplitude, note.value, terms.period, terms.amplitude, terms.value)
        greatest, shortest = max(known.greatest, note.amplitude), min(known.shortest, note.period)
        if known.passed > 2 and away < min(known.farthest, WITHIN * note.length):
            return True
        if note.amplitude < VANISHING * greatest or lengthens(note.period, shortest, note.tests[3]):
            return True
        if note.amplitude > OUTGROWN * terms.amplitude:
            return True
        known.greatest, known.shortest, known.farthest = greatest, shortest, max(known.farthest, away)
        known.passed += 1
        return False

    # Meshes

    def _remesh(self, room, place, shares, M, free):
        """The orbit of a place and its tangent, interpolated on a mesh of M intervals with equal shares and kept in the
        store after its times; returns the first free offset."""
        times, orbit, tangent = self._store + free, cython.declare(Orbit), cython.declare(Orbit)
        equidistribute(shares, place.times, place.N, times, M)
        after = self._record(free + M + 1, M, cython.address(orbit), cython.address(tangent))
        carry_both(
            room.rule, cython.address(place.orbit), cython.address(place.tangent), place.times, place.h, place.N,
            self._signs, times, M, cython.address(orbit), cython.address(tangent), room.room,
        )  # fmt: skip
        memcpy(orbit.scalars, place.orbit.scalars, 16 * self._nb)
        return after - self._store

    def _spread(self, room, place, ahead, shares):
        """Fill in the shares of the intervals a length ahead along the tangent of an orbit; returns the ratio by which
        equal shares reduce the error."""
        two, by, there = cython.declare(Orbit[2]), cython.declare(cython.double[2]), cython.declare(Orbit)
        two[0], two[1], by[0], by[1] = place.orbit, place.tangent, 1.0, ahead
        gain = spread(
            room.rule, two, place.h, place.N, place.metric.states, self._signs, shares, room.room
        )  # fmt: skip
        there.x, there.K, there.scalars = room._dx, room._dK, room._dscalars
        combine(cython.address(room.shape), 2, by, two, cython.address(there))
        spread(
            room.rule, cython.address(there), place.h, place.N, place.metric.states, self._signs, shares, room.room
        )  # fmt: skip
        return gain

    def _take_earlier(self, room, before, here, place, stages):
        """The previous orbit on the mesh from which a step is taken, and its tangent; of the first point, itself."""
        if not self.known.earlier:
            stages[2], stages[3] = stages[0], stages[1]
            return 0
        M, mesh, old = before.next_intervals, before.next_mesh, cython.declare(Place)
        self._record(before.next_orbit, M, stages + 2, stages + 3)
        if mesh == here.next_mesh:
            return 0
        old.orbit, old.tangent = stages[2], stages[3]
        self._put_mesh(2, cython.address(old), mesh, M)
        end = self._capacity - record_length(place.N, self._n, self._slopes, self._nb)  # free in this step
        work = np.empty(mesh_room(room.rule, M))
        self._record(end, place.N, stages + 2, stages + 3)
        carry_both(
            room.rule, cython.address(old.orbit), cython.address(old.tangent), old.times, old.h, M, self._signs,
            place.times, place.N, stages + 2, stages + 3, numbers(work, len(work)),
        )  # fmt: skip
        memcpy(stages[2].scalars, old.orbit.scalars, 16 * self._nb)
        return 0

    def _refine(self, place, note, free):
        """Solve the orbit of a note once more on the finer mesh that its accuracy needs. The place and the note then
        describe the orbit on the finer mesh. Returns the first free offset, negative where that does not succeed."""
        finer: Place
        noted: Note = note[0]
        stages = cython.declare(Orbit[4])
        room = self._for(place.N)
        M = finer_intervals(place.N, note.error, self._measures.accuracy, 2 * room.rule.m)
        if M > MOST:
            return -2
        self._spread(room, place, 0.0, room._row)
        at = self._remesh(room, place, room._row, M, free)
        after = self._place(cython.address(finer), 1, free, M, at)
        finer.multipliers = self._values
        self._record(free + M + 1, M, stages, stages + 1)
        stages[2], stages[3] = stages[0], stages[1]
        solved = self._solve(
            self._for(M), cython.address(finer), cython.address(place.metric), place.basis, stages, 0.0,
            self._terms.converged, cython.address(noted),
        )  # fmt: skip
        if not solved or noted.error > self._measures.accuracy or noted.unstable != note.unstable:
            return -2
        noted.turned, noted.mesh, noted.orbit, noted.intervals = note.turned, free, at, M
        note[0] = noted
        memcpy(place.multipliers, finer.multipliers, 16 * self._n)
        finer.multipliers = place.multipliers
        place[0] = finer
        return after

    def _renew(self, place, note, here, finer, free):
        """The orbit of a note as the next step takes it, on a mesh of its own where that of the step is old or worn;
        returns the first free offset in the store."""
        N, known, accuracy = place.N, cython.address(self.known), self._measures.accuracy
        told: cython.bint = known.earlier and not finer
        known.rate = (note.determinant - here.determinant) / note.length if told else 0.0
        known.earlier, known.gone, known.age, known.finer = True, note.length, 1 if finer else known.age + 1, False
        note.next_mesh, note.next_orbit, note.next_intervals = note.mesh, note.orbit, N
        if known.age < ADAPT_EVERY and not worn(note.error, note.residual, accuracy):
            return free
        room = self._for(N)
        gain = self._spread(room, place, note.length, room._row)
        M = wanted_intervals(N, gain, note.error, note.residual, accuracy, 2 * room.rule.m)
        known.rate, known.age, known.finer = 0.0, 0, M < N
        note.next_mesh, note.next_orbit, note.next_intervals = free, free + M + 1, M
        return self._remesh(room, place, room._row, M, free)
