# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""One order of Taylor coefficients: the sums that ``flow.recurrences`` lowers a tape to, for one trajectory.

Convolutions add four products side by side, in an order that nothing changes: digits are the same for every compiler
and processor.
"""

from __future__ import annotations

import cython

PLAIN = cython.declare(cython.int, 0)  # what becomes of a sum, by the numbers of ``flow.recurrences``
TIMES = cython.declare(cython.int, 1)
OVER = cython.declare(cython.int, 2)
FUNCTION = cython.declare(cython.int, 3)


def integers(array):
    """Where an array of 32-bit integers begins."""
    return cython.cast(cython.p_int, cython.cast(cython.size_t, array.ctypes.data))


def doubles(array):
    """Where an array of doubles begins."""
    return cython.cast(cython.p_double, cython.cast(cython.size_t, array.ctypes.data))


@cython.cclass
class Sums:
    """The sums of recurrences, with room for the coefficients of one trajectory or of several lanes."""

    def take(self, each, order, lanes, code, room, state, pars, x):
        """Follow recurrences whose code holds the places of coefficients; ``room`` is for registers of order zero, of
        the present order, and for factors of all orders. Arrays live as long as this."""
        w, u, left, right, slopes = room
        self.n, self.p, self.order = each.n, each.p, order
        self.row_count, self.prologue_count, self.run_count = (
            len(each.row_runs), len(each.prologue_runs), len(each.runs),
        )  # fmt: skip
        self.lefts, self.rights, self.sloped = len(each.left), len(each.right), len(each.slopes)
        registers, first = w.reshape(-1, lanes), each.n + 1 + each.p
        registers[first : first + len(each.numbers)] = each.numbers[:, None]
        for register, value in each.constants:
            registers[register] = value
        self.kept = each, code, room, state, pars, x
        self.rows, self.row_runs = integers(each.rows), integers(each.row_runs)
        self.prologue, self.prologue_runs = integers(each.prologue), integers(each.prologue_runs)
        self.runs, self.code, self.output = integers(each.runs), integers(code), integers(each.outputs)
        self.left_of, self.right_of, self.slope_of = integers(each.left), integers(each.right), integers(each.slopes)
        self.w, self.u, self.left, self.right = doubles(w), doubles(u), doubles(left), doubles(right)
        self.slopes, self.x, self.state, self.pars = doubles(slopes), doubles(x), doubles(state), doubles(pars)


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
    _i: cython.Py_ssize_t
    _j: cython.Py_ssize_t
    a: cython.Py_ssize_t
    b: cython.Py_ssize_t
    f: cython.Py_ssize_t
    g: cython.Py_ssize_t
    rest: cython.Py_ssize_t = at + 2 * linear  # first what does not wait for coefficients of this order
    for _i in range(plus):
        f, g = code[rest + 2], code[rest + 3] - k
        rest += 4
        for _j in range(blocks):
            s0 += left[f] * right[g]
            s1 += left[f + 1] * right[g + 1]
            s2 += left[f + 2] * right[g + 2]
            s3 += left[f + 3] * right[g + 3]
            f += 4
            g += 4
    for _i in range(minus):
        f, g = code[rest + 2], code[rest + 3] - k
        rest += 4
        for _j in range(blocks):
            s0 -= left[f] * right[g]
            s1 -= left[f + 1] * right[g + 1]
            s2 -= left[f + 2] * right[g + 2]
            s3 -= left[f + 3] * right[g + 3]
            f += 4
            g += 4
    s = (s0 + s2) + (s1 + s3)
    for _i in range(linear):
        s += w[code[at]] * u[code[at + 1]]
        at += 2
    for _i in range(plus):
        a, b = code[at], code[at + 1]
        at += 4
        s += w[a] * u[b] + u[a] * w[b]
    for _i in range(minus):
        a, b = code[at], code[at + 1]
        at += 4
        s -= w[a] * u[b] + u[a] * w[b]
    return s


def sweep(runs, count, code, w, u, left, right, slopes, k, blocks):
    """Coefficients of order k of all registers, u, from those of order zero, w, and of the orders between."""
    r: cython.Py_ssize_t
    _i: cython.Py_ssize_t
    _j: cython.Py_ssize_t
    kind: cython.int
    many: cython.int
    form: cython.int
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
        kind, linear, plus, minus = runs[7 * r], runs[7 * r + 1], runs[7 * r + 2], runs[7 * r + 3]
        at, many, form = runs[7 * r + 4], runs[7 * r + 5], runs[7 * r + 6]
        length = 2 + 2 * linear + 4 * (plus + minus)
        if form == 0:
            for _i in range(many):
                u[code[at]] = one_sum(code, at + 2, 0, 1, 0, w, u, left, right, k, blocks)
                at += 6
        elif form == 1:
            for _i in range(many):
                u[code[at]] = w[code[at + 1]] * one_sum(code, at + 2, 0, 1, 0, w, u, left, right, k, blocks)
                at += 6
        elif form == 2:
            for _i in range(many):
                u[code[at]] = one_sum(code, at + 2, 2, 0, 0, w, u, left, right, k, blocks)
                at += 6
        elif form == 3:
            for _i in range(many):
                u[code[at]] = one_sum(code, at + 2, 1, 0, 0, w, u, left, right, k, blocks)
                at += 4
        elif form == 4:
            for _i in range(many):
                u[code[at]] = one_sum(code, at + 2, 0, 2, 0, w, u, left, right, k, blocks)
                at += 10
        elif form == 5:
            for _i in range(many):
                u[code[at]] = 0.0
                u[code[at]] = w[code[at + 1]] * one_sum(code, at + 2, 1, 0, 1, w, u, left, right, k, blocks)
                at += 8
        elif form == 6:
            for _i in range(many):
                u[code[at]] = one_sum(code, at + 2, 0, 1, 1, w, u, left, right, k, blocks)
                at += 10
        elif form == 7:
            for _i in range(many):
                u[code[at]] = one_sum(code, at + 2, 1, 1, 0, w, u, left, right, k, blocks)
                at += 8
        elif form == 8:
            for _i in range(many):
                u[code[at]] = one_sum(code, at + 2, 3, 0, 0, w, u, left, right, k, blocks)
                at += 8
        elif form == 9:
            for _i in range(many):
                u[code[at]] = one_sum(code, at + 2, 1, 0, 1, w, u, left, right, k, blocks)
                at += 8
        elif form == 10:
            for _i in range(many):
                out = code[at]
                f, g = code[at + 3], code[at + 4] - k
                s0 = s1 = s2 = s3 = 0.0
                for _j in range(blocks):
                    s0 += slopes[f] * right[g]
                    s1 += slopes[f + 1] * right[g + 1]
                    s2 += slopes[f + 2] * right[g + 2]
                    s3 += slopes[f + 3] * right[g + 3]
                    f += 4
                    g += 4
                s = u[code[at + 1]] * w[code[at + 2]] + ((s0 + s2) + (s1 + s3)) / k
                u[out] = s if kind == FUNCTION else -s
                at += 5
        else:
            for _i in range(many):
                u[code[at]] = 0.0
                s = one_sum(code, at + 2, linear, plus, minus, w, u, left, right, k, blocks)
                u[code[at]] = s if kind == PLAIN else s * w[code[at + 1]] if kind == TIMES else s / w[code[at + 1]]
                at += length


def horner(c, at, order, h):
    """The polynomial with these coefficients at a distance."""
    k: cython.Py_ssize_t
    f: cython.double = c[at + order]
    for k in range(order - 1, -1, -1):
        f = f * h + c[at + k]
    return f


def evaluated(coefficients, steps, distances, found):
    """Polynomials [step, state, power] at distances from the starts of some steps, a row for each."""
    i: cython.Py_ssize_t
    j: cython.Py_ssize_t
    count: cython.Py_ssize_t = len(steps)
    n: cython.Py_ssize_t = coefficients.shape[1]
    p: cython.Py_ssize_t = coefficients.shape[2] - 1
    polynomials: cython.p_double = doubles(coefficients)
    which: cython.p_int = integers(steps)
    since: cython.p_double = doubles(distances)
    out: cython.p_double = doubles(found)
    with cython.nogil:
        for i in range(count):
            for j in range(n):
                out[i * n + j] = horner(polynomials, (which[i] * n + j) * (p + 1), p, since[i])
