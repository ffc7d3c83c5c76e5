# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Taylor's method along one trajectory: coefficients order by order, the length of a step, steps until one ends them.

``flow.recurrences`` lowers a tape to what is swept through here, ``coefficients`` goes through one order.
"""

from __future__ import annotations

import cython

if cython.compiled:
    from cython.cimports.libc.math import fabs, isfinite
    from cython.cimports.libc.string import memcmp
    from cython.cimports.pfaff.kernels.coefficients import Sums, doubles, horner, sweep
    from cython.cimports.pfaff.kernels.elementary import exponential, logarithm
    from cython.cimports.pfaff.kernels.instructions import run

REACHED = cython.declare(cython.int, 0)  # how steps end: at the target, ...
STEPS = cython.declare(cython.int, 1)  # ... after as many as allowed, ...
NOT_FINITE = cython.declare(cython.int, 2)  # ... at a state that is no number, ...
CROSSING = cython.declare(cython.int, 3)  # ... or before one in which a function may vanish


@cython.cclass
class Sweeper(Sums):
    """Recurrences along one trajectory.

    Outputs of the tape are the rates of its variables, then functions whose zeros are looked for.
    """

    wide: cython.Py_ssize_t
    functions: cython.Py_ssize_t
    f: cython.p_double
    values: object
    steps = cython.declare(cython.Py_ssize_t, visibility="readonly")
    taken = cython.declare(cython.Py_ssize_t, visibility="readonly")  # steps since it was made
    sampled = cython.declare(cython.Py_ssize_t, visibility="readonly")
    h = cython.declare(cython.double, visibility="readonly")
    shortest = cython.declare(cython.double, visibility="readonly")
    longest = cython.declare(cython.double, visibility="readonly")
    time = cython.declare(cython.double, visibility="public")
    rest = cython.declare(cython.double, visibility="public")  # of the time, below its last digit
    known: cython.bint

    def __init__(self, recurrences, order: cython.Py_ssize_t, state, pars, x, f, zeros):
        """``state`` and ``pars`` are read at every call, ``x`` and ``f`` filled with the coefficients of states and
        functions; ``zeros(count)`` makes aligned arrays."""
        each = recurrences
        wide: cython.Py_ssize_t = 4 * ((order + 3) // 4)
        code = each.code.copy()
        code[each.forward] *= wide
        code[each.backward] = (code[each.backward] + 1) * (wide + 4) - 3
        room = [
            zeros(each.size), zeros(each.size), zeros(len(each.left) * wide), zeros(len(each.right) * (wide + 4)),
            zeros(len(each.slopes) * wide),
        ]  # fmt: skip
        self.take(each, order, 1, code, room, state, pars, x)
        self.wide, self.functions = wide, len(each.outputs) - each.n
        self.values, self.f = f, doubles(f)
        self.time = self.rest = 0.0
        self.known = False
        self.taken = 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def take_parameters(self) -> cython.void:
        """Follow the parameters, if they have changed."""
        i: cython.Py_ssize_t
        same: cython.bint = self.known and memcmp(self.w + self.n + 1, self.pars, 8 * self.p) == 0
        for i in range(self.p):
            self.w[self.n + 1 + i] = self.pars[i]
        if not same:
            run(self.prologue, self.prologue_runs, 0, self.prologue_count, self.w)
        self.known = True

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def begin(self, time: cython.double) -> cython.void:
        """Values of all registers, order zero."""
        i: cython.Py_ssize_t
        for i in range(self.n):
            self.w[i] = self.state[i]
        self.w[self.n] = time
        run(
            self.rows,
            self.row_runs,
            0,
            self.row_count,
            self.w,
        )

    @cython.cfunc
    @cython.inline
    @cython.nogil
    @cython.exceptval(check=False)
    def go_on(self, k: cython.Py_ssize_t) -> cython.void:
        """Coefficients of order k, once those of the variables and the time are there."""
        i: cython.Py_ssize_t
        j: cython.Py_ssize_t
        wide: cython.Py_ssize_t = self.wide
        u: cython.p_double = self.u
        left: cython.p_double = self.left
        right: cython.p_double = self.right
        slopes: cython.p_double = self.slopes
        lefts: cython.p_int = self.left_of
        rights: cython.p_int = self.right_of
        sloped: cython.p_int = self.slope_of
        sweep(
            self.runs,
            self.run_count,
            self.code,
            self.w,
            u,
            left,
            right,
            slopes,
            k,
            (k + 2) // 4,
        )
        if k % 4 == 1:  # a new block: what another series left in it must not meet the zeros before ``right``
            for i in range(self.lefts):
                for j in range(k, k + 3):
                    left[i * wide + j] = 0.0
            for i in range(self.sloped):
                for j in range(k, k + 3):
                    slopes[i * wide + j] = 0.0
        for i in range(self.lefts):
            left[i * wide + k - 1] = u[lefts[i]]
        for i in range(self.rights):
            right[(i + 1) * (wide + 4) - 4 - k] = u[rights[i]]
        for i in range(self.sloped):
            slopes[i * wide + k - 1] = k * u[sloped[i]]

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def coefficients(self) -> cython.void:
        """Coefficients of all states and functions along the motion from a state."""
        n: cython.Py_ssize_t = self.n
        p: cython.Py_ssize_t = self.order + 1
        k: cython.Py_ssize_t
        i: cython.Py_ssize_t
        w: cython.p_double = self.w
        u: cython.p_double = self.u
        x: cython.p_double = self.x
        f: cython.p_double = self.f
        output: cython.p_int = self.output
        self.begin(self.time)
        for i in range(n):
            x[i * p] = self.state[i]
            x[i * p + 1] = w[output[i]]
        for i in range(self.functions):
            f[i * p] = w[output[n + i]]
        for k in range(1, self.order + (self.functions > 0)):
            for i in range(n):
                u[i] = x[i * p + k]
            u[n] = 1.0 if k == 1 else 0.0
            self.go_on(k)
            if k < self.order:
                for i in range(n):
                    x[i * p + k + 1] = u[output[i]] / (k + 1)
            for i in range(self.functions):
                f[i * p + k] = u[output[n + i]]

    def along(self, direction, highest: cython.Py_ssize_t, found):
        """Coefficients of all outputs along the line x + s v, at time zero, up to an order: [output, order]."""
        k: cython.Py_ssize_t
        i: cython.Py_ssize_t
        way: cython.p_double = doubles(direction)
        out: cython.p_double = doubles(found)
        outputs: cython.Py_ssize_t = self.n + self.functions
        if highest > self.order:
            raise ValueError(f"order {highest}, where there is room for {self.order}")
        with cython.nogil:
            self.take_parameters()
            self.begin(0.0)
            for i in range(outputs):
                out[i * (highest + 1)] = self.w[self.output[i]]
            for k in range(1, highest + 1):
                for i in range(self.n):
                    self.u[i] = way[i] if k == 1 else 0.0
                self.u[self.n] = 0.0
                self.go_on(k)
                for i in range(outputs):
                    out[i * (highest + 1) + k] = self.u[self.output[i]]

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def length(self) -> cython.double:
        """Length of a step by the last two coefficients (Jorba & Zou 2005)."""
        p: cython.Py_ssize_t = self.order
        i: cython.Py_ssize_t
        x: cython.p_double
        count: cython.Py_ssize_t
        part: cython.int
        size: cython.double = 1.0
        last: cython.double = 0.0
        before: cython.double = 0.0
        h: cython.double = 1.0 / 0.0
        for part in range(2):
            x = self.x if part == 0 else self.f
            count = self.n if part == 0 else self.functions
            for i in range(count):
                if part == 1 and not isfinite(
                    x[i * (p + 1)] * 0 + x[i * (p + 1) + p - 1] * 0 + x[i * (p + 1) + p] * 0
                ):  # a function without a series says nothing
                    continue
                size = max(size, fabs(x[i * (p + 1)]))
                last = max(last, fabs(x[i * (p + 1) + p]))
                before = max(before, fabs(x[i * (p + 1) + p - 1]))
        if last > 0:
            h = exponential(logarithm(size / last) / p)
        if before > 0:
            h = min(h, exponential(logarithm(size / before) / (p - 1)))
        return h * exponential(-0.7 / (p - 1) - 2.0)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def may_vanish(self, h: cython.double) -> cython.bint:
        """Whether the coefficients of a function leave room for a zero in a step."""
        p: cython.Py_ssize_t = self.order
        i: cython.Py_ssize_t
        k: cython.Py_ssize_t
        s: cython.double
        for i in range(self.functions):
            s = 0.0
            for k in range(p, 0, -1):
                s = (s + fabs(self.f[i * (p + 1) + k])) * fabs(h)
            if not fabs(self.f[i * (p + 1)]) > s:
                return True
        return False

    def at(self, h: cython.double, found):
        """The state by the coefficients that are there, at a distance in time."""
        i: cython.Py_ssize_t
        out: cython.p_double = doubles(found)
        for i in range(self.n):
            out[i] = horner(self.x, i * (self.order + 1), self.order, h)

    def series(self):
        """Coefficients at the state, to the highest order."""
        with cython.nogil:
            self.take_parameters()
            self.coefficients()

    def advance(
        self,
        target: cython.double,
        most: cython.Py_ssize_t,
        longest: cython.double,
        forced: cython.double,
        wanted,
        found,
        room,
    ) -> cython.int:
        """At most so many steps towards a target, none longer than ``longest``.

        The first is of the length ``forced`` if that is a number, by the coefficients that are there. Samples at the
        times ``wanted`` are left in ``found``, [time, state]. If there is ``room`` for so many steps, it gets the ends
        of steps, each with its rest, and their polynomials.
        """
        n: cython.Py_ssize_t = self.n
        p: cython.Py_ssize_t = self.order
        i: cython.Py_ssize_t
        g: cython.Py_ssize_t = 0
        h: cython.double
        left: cython.double
        limit: cython.double
        s: cython.double
        t: cython.double
        r: cython.double
        last: cython.bint
        finite: cython.bint
        grid: cython.p_double = doubles(wanted)
        times: cython.Py_ssize_t = len(wanted)
        samples: cython.p_double = doubles(found)
        keeps: cython.bint = room is not None
        ends: cython.p_double = doubles(room[0]) if keeps else cython.NULL
        polynomials: cython.p_double = doubles(room[1]) if keeps else cython.NULL
        state: cython.p_double = self.state
        outcome: cython.int = STEPS
        self.steps, self.sampled, self.shortest, self.longest = 0, 0, 1.0 / 0.0, 0.0
        with cython.nogil:
            self.take_parameters()
            while self.steps < most:
                left = (target - self.time) - self.rest
                limit = min(fabs(left), longest)
                if forced == forced:
                    h, forced = forced, 0.0 / 0.0
                else:
                    self.coefficients()
                    h = min(self.length(), limit)
                    h = -h if left < 0 else h
                    if self.functions > 0 and self.may_vanish(h):
                        self.h = h
                        outcome = CROSSING
                        break
                self.h = h
                last = h == left
                while g < times:
                    s = (grid[g] - self.time) - self.rest
                    if fabs(s) > fabs(h) and not (last and fabs(grid[g]) <= fabs(target)):
                        break
                    for i in range(n):
                        samples[g * n + i] = horner(self.x, i * (p + 1), p, s)
                    g += 1
                finite = isfinite(h)
                for i in range(n):
                    state[i] = horner(self.x, i * (p + 1), p, h)
                    finite = finite and isfinite(state[i])
                r = h + self.rest
                t = self.time + r
                self.rest = r - (t - self.time)
                self.time = t
                if last:
                    self.time, self.rest = target, 0.0
                if not finite:
                    outcome = NOT_FINITE
                    break
                if keeps:
                    ends[2 * self.steps], ends[2 * self.steps + 1] = self.time, self.rest
                    for i in range(n * (p + 1)):
                        polynomials[self.steps * n * (p + 1) + i] = self.x[i]
                self.steps += 1
                self.taken += 1
                self.shortest = min(self.shortest, fabs(h))
                self.longest = max(self.longest, fabs(h))
                if last:
                    outcome = REACHED
                    break
        self.sampled = g
        return outcome
