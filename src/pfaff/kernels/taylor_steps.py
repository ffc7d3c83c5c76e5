# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Taylor's method along one trajectory: coefficients order by order, the length of a step, steps until something ends.

``flow.recurrences`` lowers a tape to what is swept through here. Convolutions add four products side by side, in an order
that nothing changes: digits are the same for every compiler and processor. Where this file is interpreted, arrays stand
for pointers.
"""

from __future__ import annotations

import cython

if cython.compiled:
    from cython.cimports.libc.math import fabs, isfinite
    from cython.cimports.pfaff.kernels.elementary import exponential, logarithm
    from cython.cimports.pfaff.kernels.instructions import run

PLAIN = cython.declare(cython.int, 0)  # what becomes of a sum, by the numbers of ``flow.recurrences``
TIMES = cython.declare(cython.int, 1)
OVER = cython.declare(cython.int, 2)
FUNCTION = cython.declare(cython.int, 3)
REACHED, STEPS, NOT_FINITE, CROSSING = range(4)  # how steps end: at the target, after as many as allowed, at no number,
# or before one in which a function may vanish


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def one_sum(
    code: cython.p_int,
    at: cython.Py_ssize_t,
    linear: cython.Py_ssize_t,
    plus: cython.Py_ssize_t,
    minus: cython.Py_ssize_t,
    w: cython.p_double,
    u: cython.p_double,
    left: cython.p_double,
    right: cython.p_double,
    k: cython.Py_ssize_t,
    blocks: cython.Py_ssize_t,
) -> cython.double:
    """Σ w[c] u[x] + Σ a b − Σ a b of order k."""
    s: cython.double = 0.0
    s0: cython.double = 0.0
    s1: cython.double = 0.0
    s2: cython.double = 0.0
    s3: cython.double = 0.0
    i: cython.Py_ssize_t
    j: cython.Py_ssize_t
    a: cython.Py_ssize_t
    b: cython.Py_ssize_t
    f: cython.Py_ssize_t
    g: cython.Py_ssize_t
    rest: cython.Py_ssize_t = at + 2 * linear  # first what does not wait for coefficients of this order
    for i in range(plus):
        f, g = code[rest + 2], code[rest + 3] - k
        rest += 4
        for j in range(blocks):
            s0 += left[f] * right[g]
            s1 += left[f + 1] * right[g + 1]
            s2 += left[f + 2] * right[g + 2]
            s3 += left[f + 3] * right[g + 3]
            f += 4
            g += 4
    for i in range(minus):
        f, g = code[rest + 2], code[rest + 3] - k
        rest += 4
        for j in range(blocks):
            s0 -= left[f] * right[g]
            s1 -= left[f + 1] * right[g + 1]
            s2 -= left[f + 2] * right[g + 2]
            s3 -= left[f + 3] * right[g + 3]
            f += 4
            g += 4
    s = (s0 + s2) + (s1 + s3)
    for i in range(linear):
        s += w[code[at]] * u[code[at + 1]]
        at += 2
    for i in range(plus):
        a, b = code[at], code[at + 1]
        at += 4
        s += w[a] * u[b] + u[a] * w[b]
    for i in range(minus):
        a, b = code[at], code[at + 1]
        at += 4
        s -= w[a] * u[b] + u[a] * w[b]
    return s


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def sweep(
    runs: cython.p_int,
    count: cython.Py_ssize_t,
    code: cython.p_int,
    w: cython.p_double,
    u: cython.p_double,
    left: cython.p_double,
    right: cython.p_double,
    slopes: cython.p_double,
    k: cython.Py_ssize_t,
    blocks: cython.Py_ssize_t,
) -> cython.void:
    """Coefficients of order k of all registers, u, from those of order zero, w, and of the orders between."""
    r: cython.Py_ssize_t
    i: cython.Py_ssize_t
    j: cython.Py_ssize_t
    kind: cython.int
    linear: cython.Py_ssize_t
    plus: cython.Py_ssize_t
    minus: cython.Py_ssize_t
    at: cython.Py_ssize_t
    length: cython.Py_ssize_t
    out: cython.Py_ssize_t
    f: cython.Py_ssize_t
    g: cython.Py_ssize_t
    s: cython.double
    s0: cython.double
    s1: cython.double
    s2: cython.double
    s3: cython.double
    for r in range(count):
        kind, linear, plus, minus, at = runs[6 * r], runs[6 * r + 1], runs[6 * r + 2], runs[6 * r + 3], runs[6 * r + 4]
        length = 2 + 2 * linear + 4 * (plus + minus)
        if kind >= FUNCTION:
            for i in range(runs[6 * r + 5]):
                out = code[at]
                f, g = code[at + 3], code[at + 4] - k
                s0 = s1 = s2 = s3 = 0.0
                for j in range(blocks):
                    s0 += slopes[f] * right[g]
                    s1 += slopes[f + 1] * right[g + 1]
                    s2 += slopes[f + 2] * right[g + 2]
                    s3 += slopes[f + 3] * right[g + 3]
                    f += 4
                    g += 4
                s = u[code[at + 1]] * w[code[at + 2]] + ((s0 + s2) + (s1 + s3)) / k
                u[out] = s if kind == FUNCTION else -s
                at += 5
        elif kind == PLAIN and linear == 0 and plus == 1 and minus == 0:
            for i in range(runs[6 * r + 5]):
                u[code[at]] = one_sum(code, at + 2, 0, 1, 0, w, u, left, right, k, blocks)
                at += 6
        elif kind == TIMES and linear == 0 and plus == 1 and minus == 0:
            for i in range(runs[6 * r + 5]):
                u[code[at]] = w[code[at + 1]] * one_sum(code, at + 2, 0, 1, 0, w, u, left, right, k, blocks)
                at += 6
        elif kind == PLAIN and linear == 2 and plus == 0 and minus == 0:
            for i in range(runs[6 * r + 5]):
                u[code[at]] = one_sum(code, at + 2, 2, 0, 0, w, u, left, right, k, blocks)
                at += 6
        elif kind == PLAIN and linear == 1 and plus == 0 and minus == 0:
            for i in range(runs[6 * r + 5]):
                u[code[at]] = one_sum(code, at + 2, 1, 0, 0, w, u, left, right, k, blocks)
                at += 4
        elif kind == PLAIN and linear == 0 and plus == 2 and minus == 0:
            for i in range(runs[6 * r + 5]):
                u[code[at]] = one_sum(code, at + 2, 0, 2, 0, w, u, left, right, k, blocks)
                at += 10
        elif kind == TIMES and linear == 1 and plus == 0 and minus == 1:
            for i in range(runs[6 * r + 5]):
                u[code[at]] = 0.0
                u[code[at]] = w[code[at + 1]] * one_sum(code, at + 2, 1, 0, 1, w, u, left, right, k, blocks)
                at += 8
        elif kind == PLAIN and linear == 0 and plus == 1 and minus == 1:
            for i in range(runs[6 * r + 5]):
                u[code[at]] = one_sum(code, at + 2, 0, 1, 1, w, u, left, right, k, blocks)
                at += 10
        elif kind == PLAIN and linear == 1 and plus == 1 and minus == 0:
            for i in range(runs[6 * r + 5]):
                u[code[at]] = one_sum(code, at + 2, 1, 1, 0, w, u, left, right, k, blocks)
                at += 8
        elif kind == PLAIN and linear == 3 and plus == 0 and minus == 0:
            for i in range(runs[6 * r + 5]):
                u[code[at]] = one_sum(code, at + 2, 3, 0, 0, w, u, left, right, k, blocks)
                at += 8
        elif kind == PLAIN and linear == 1 and plus == 0 and minus == 1:
            for i in range(runs[6 * r + 5]):
                u[code[at]] = one_sum(code, at + 2, 1, 0, 1, w, u, left, right, k, blocks)
                at += 8
        else:
            for i in range(runs[6 * r + 5]):
                u[code[at]] = 0.0
                s = one_sum(code, at + 2, linear, plus, minus, w, u, left, right, k, blocks)
                u[code[at]] = s if kind == PLAIN else s * w[code[at + 1]] if kind == TIMES else s / w[code[at + 1]]
                at += length


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def horner(c: cython.p_double, at: cython.Py_ssize_t, order: cython.Py_ssize_t, h: cython.double) -> cython.double:
    k: cython.Py_ssize_t
    f: cython.double = c[at + order]
    for k in range(order - 1, -1, -1):
        f = f * h + c[at + k]
    return f


@cython.cclass
class Sweeper:
    """Recurrences with room for the coefficients of one trajectory.

    Outputs of the tape are the rates of its variables, then functions whose zeros are looked for.
    """

    n = cython.declare(cython.Py_ssize_t, visibility="readonly")
    size: cython.Py_ssize_t
    p: cython.Py_ssize_t
    order: cython.Py_ssize_t
    wide: cython.Py_ssize_t
    functions: cython.Py_ssize_t
    lefts: cython.Py_ssize_t
    rights: cython.Py_ssize_t
    sloped: cython.Py_ssize_t
    run_count: cython.Py_ssize_t
    row_count: cython.Py_ssize_t
    prologue_count: cython.Py_ssize_t
    rows: cython.int[::1]
    prologue: cython.int[::1]
    row_runs: cython.int[::1]
    prologue_runs: cython.int[::1]
    runs: cython.int[::1]
    code: cython.int[::1]
    left_of: cython.int[::1]
    right_of: cython.int[::1]
    slope_of: cython.int[::1]
    output: cython.int[::1]
    w: cython.double[::1]
    u: cython.double[::1]
    left: cython.double[::1]
    right: cython.double[::1]
    slopes: cython.double[::1]
    x: cython.double[::1]
    f: cython.double[::1]
    steps = cython.declare(cython.Py_ssize_t, visibility="readonly")
    taken = cython.declare(cython.Py_ssize_t, visibility="readonly")  # steps since it was made
    sampled = cython.declare(cython.Py_ssize_t, visibility="readonly")
    h = cython.declare(cython.double, visibility="readonly")
    shortest = cython.declare(cython.double, visibility="readonly")
    longest = cython.declare(cython.double, visibility="readonly")
    time = cython.declare(cython.double, visibility="public")
    rest = cython.declare(cython.double, visibility="public")  # of the time, below its last digit
    known: cython.bint

    def __init__(self, recurrences, order: cython.Py_ssize_t, x, f, zeros):
        """``x`` and ``f`` are room for the coefficients of states and functions, ``zeros(count)`` makes aligned
        arrays."""
        each = recurrences
        self.n, self.size, self.p, self.order = each.n, each.size, each.p, order
        self.wide = 4 * ((order + 3) // 4)
        self.rows, self.prologue = each.rows.ravel(), each.prologue.ravel()
        self.row_runs, self.prologue_runs = each.row_runs.ravel(), each.prologue_runs.ravel()
        self.row_count, self.prologue_count = len(each.row_runs), len(each.prologue_runs)
        code = each.code.copy()
        code[each.forward] *= self.wide
        code[each.backward] = (code[each.backward] + 1) * (self.wide + 4) - 3
        self.runs, self.code, self.run_count = each.runs.ravel(), code, len(each.runs)
        self.left_of, self.right_of, self.slope_of = each.left, each.right, each.slopes
        self.lefts, self.rights, self.sloped = len(each.left), len(each.right), len(each.slopes)
        self.output, self.functions = each.outputs, len(each.outputs) - each.n
        self.w, self.u = zeros(self.size), zeros(self.size)
        self.left = zeros(self.lefts * self.wide)
        self.slopes = zeros(self.sloped * self.wide)
        self.right = zeros(self.rights * (self.wide + 4))
        self.x, self.f = x, f
        self.time = self.rest = 0.0
        self.known = False
        self.taken = 0
        first: cython.Py_ssize_t = self.n + 1 + self.p
        i: cython.Py_ssize_t
        for i in range(len(each.numbers)):
            self.w[first + i] = each.numbers[i]
        for register, value in each.constants:
            self.w[register] = value

    def set_parameters(self, pars: cython.double[::1]):
        """Numbers that stay; nothing is done if they are the same as before."""
        i: cython.Py_ssize_t
        same: cython.bint = self.known
        for i in range(self.p):
            same = same and self.w[self.n + 1 + i] == pars[i]
            self.w[self.n + 1 + i] = pars[i]
        if not same and self.prologue_count:
            run(
                cython.address(self.prologue[0]),
                cython.address(self.prologue_runs[0]),
                0,
                self.prologue_count,
                cython.address(self.w[0]),
            )
        self.known = True

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def begin(self, state: cython.p_double, time: cython.double) -> cython.void:
        """Values of all registers, order zero."""
        i: cython.Py_ssize_t
        for i in range(self.n):
            self.w[i] = state[i]
        self.w[self.n] = time
        run(
            cython.address(self.rows[0]),
            cython.address(self.row_runs[0]),
            0,
            self.row_count,
            cython.address(self.w[0]),
        )

    @cython.cfunc
    @cython.inline
    @cython.nogil
    @cython.exceptval(check=False)
    def go_on(self, k: cython.Py_ssize_t) -> cython.void:
        """Coefficients of order k, once those of the variables and the time are there."""
        i: cython.Py_ssize_t
        wide: cython.Py_ssize_t = self.wide
        u: cython.p_double = cython.address(self.u[0])
        left: cython.p_double = cython.address(self.left[0])
        right: cython.p_double = cython.address(self.right[0])
        slopes: cython.p_double = cython.address(self.slopes[0])
        lefts: cython.p_int = cython.address(self.left_of[0])
        rights: cython.p_int = cython.address(self.right_of[0])
        sloped: cython.p_int = cython.address(self.slope_of[0])
        sweep(
            cython.address(self.runs[0]),
            self.run_count,
            cython.address(self.code[0]),
            cython.address(self.w[0]),
            u,
            left,
            right,
            slopes,
            k,
            (k + 2) // 4,
        )
        for i in range(self.lefts):
            left[i * wide + k - 1] = u[lefts[i]]
        for i in range(self.rights):
            right[(i + 1) * (wide + 4) - 4 - k] = u[rights[i]]
        for i in range(self.sloped):
            slopes[i * wide + k - 1] = k * u[sloped[i]]

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def coefficients(self, state: cython.p_double) -> cython.void:
        """Coefficients of all states and functions along the motion from a state."""
        n: cython.Py_ssize_t = self.n
        p: cython.Py_ssize_t = self.order + 1
        k: cython.Py_ssize_t
        i: cython.Py_ssize_t
        w: cython.p_double = cython.address(self.w[0])
        u: cython.p_double = cython.address(self.u[0])
        x: cython.p_double = cython.address(self.x[0])
        f: cython.p_double = cython.address(self.f[0])
        output: cython.p_int = cython.address(self.output[0])
        self.begin(state, self.time)
        for i in range(n):
            x[i * p] = state[i]
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

    def along(
        self, state: cython.double[::1], direction: cython.double[::1], highest: cython.Py_ssize_t,
        out: cython.double[:, ::1],
    ):  # fmt: skip
        """Coefficients of all outputs along the line x + s v, at time zero, up to an order: [output, order]."""
        k: cython.Py_ssize_t
        i: cython.Py_ssize_t
        with cython.nogil:
            self.begin(cython.address(state[0]), 0.0)
            for i in range(out.shape[0]):
                out[i, 0] = self.w[self.output[i]]
            for k in range(1, highest + 1):
                for i in range(self.n):
                    self.u[i] = direction[i] if k == 1 else 0.0
                self.u[self.n] = 0.0
                self.go_on(k)
                for i in range(out.shape[0]):
                    out[i, k] = self.u[self.output[i]]

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
            x = cython.address(self.x[0]) if part == 0 else cython.address(self.f[0])
            count = self.n if part == 0 else self.functions
            for i in range(count):
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

    def at(self, h: cython.double, out: cython.double[::1]):
        """The state by the coefficients that are there, at a distance in time."""
        i: cython.Py_ssize_t
        for i in range(self.n):
            out[i] = horner(cython.address(self.x[0]), i * (self.order + 1), self.order, h)

    def series(self, state: cython.double[::1]):
        """Coefficients at a state, to the highest order."""
        with cython.nogil:
            self.coefficients(cython.address(state[0]))

    def advance(
        self,
        state: cython.double[::1],
        target: cython.double,
        most: cython.Py_ssize_t,
        longest: cython.double,
        forced: cython.double,
        grid: cython.double[::1],
        samples: cython.double[:, ::1],
        ends: cython.double[:, ::1],
        polynomials: cython.double[:, :, ::1],
    ) -> cython.int:
        """At most so many steps towards a target, none longer than ``longest``.

        The first is of the length ``forced`` if that is a number, by the coefficients that are there. Keeps the ends
        and polynomials of steps if there is room for ``most`` of them.
        """
        n: cython.Py_ssize_t = self.n
        p: cython.Py_ssize_t = self.order
        i: cython.Py_ssize_t
        k: cython.Py_ssize_t
        g: cython.Py_ssize_t = 0
        h: cython.double
        left: cython.double
        limit: cython.double
        s: cython.double
        t: cython.double
        r: cython.double
        last: cython.bint
        finite: cython.bint
        keeps: cython.bint = ends.shape[0] > 0
        outcome: cython.int = 1
        self.steps, self.sampled, self.shortest, self.longest = 0, 0, 1.0 / 0.0, 0.0
        with cython.nogil:
            while self.steps < most:
                left = (target - self.time) - self.rest
                limit = min(fabs(left), longest)
                if forced == forced:
                    h, forced = forced, 0.0 / 0.0
                else:
                    self.coefficients(cython.address(state[0]))
                    h = min(self.length(), limit)
                    h = -h if left < 0 else h
                    if self.functions > 0 and self.may_vanish(h):
                        self.h = h
                        outcome = 3
                        break
                self.h = h
                last = h == left
                while g < grid.shape[0]:
                    s = (grid[g] - self.time) - self.rest
                    if fabs(s) > fabs(h) and not (last and fabs(grid[g]) <= fabs(target)):
                        break
                    for i in range(n):
                        samples[g, i] = horner(cython.address(self.x[0]), i * (p + 1), p, s)
                    g += 1
                finite = isfinite(h)
                for i in range(n):
                    state[i] = horner(cython.address(self.x[0]), i * (p + 1), p, h)
                    finite = finite and isfinite(state[i])
                r = h + self.rest
                t = self.time + r
                self.rest = r - (t - self.time)
                self.time = t
                if last:
                    self.time, self.rest = target, 0.0
                if not finite:
                    for i in range(self.left.shape[0]):
                        self.left[i] = 0.0
                    for i in range(self.slopes.shape[0]):
                        self.slopes[i] = 0.0
                    outcome = 2
                    break
                if keeps:
                    ends[self.steps, 0], ends[self.steps, 1] = self.time, self.rest
                    for i in range(n):
                        for k in range(p + 1):
                            polynomials[self.steps, i, k] = self.x[i * (p + 1) + k]
                self.steps += 1
                self.taken += 1
                self.shortest = min(self.shortest, fabs(h))
                self.longest = max(self.longest, fabs(h))
                if last:
                    outcome = 0
                    break
        self.sampled = g
        return outcome


def evaluated(
    polynomials: cython.double[:, :, ::1],
    which: cython.Py_ssize_t[::1],
    since: cython.double[::1],
    out: cython.double[:, ::1],
):
    """Polynomials [step, state, power] at distances from the starts of some steps, a row for each."""
    i: cython.Py_ssize_t
    j: cython.Py_ssize_t
    k: cython.Py_ssize_t
    p: cython.Py_ssize_t = polynomials.shape[2] - 1
    step: cython.Py_ssize_t
    f: cython.double
    with cython.nogil:
        for i in range(which.shape[0]):
            step = which[i]
            for j in range(polynomials.shape[1]):
                f = polynomials[step, j, p]
                for k in range(p - 1, -1, -1):
                    f = f * since[i] + polynomials[step, j, k]
                out[i, j] = f
