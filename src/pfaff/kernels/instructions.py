# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Instructions of tapes, executed on registers: of one number each, or of eight lanes, with the same digits."""

from __future__ import annotations

import cython

if cython.compiled:
    from cython.cimports.libc.math import erf, erfc, pow, sqrt
    from cython.cimports.pfaff.kernels.elementary import (
        cosine, exponential, exponentials, logarithm, logarithms, sine, sine_and_cosine, sines_and_cosines, tangent,
    )  # fmt: skip
    from cython.cimports.pfaff.kernels.hyperbolic import (
        acos, acosh, asin, asinh, atan, atan2, atanh, cosh, sinh, tanh,
    )  # fmt: skip


def function_of(op):
    """The function of one argument that an operation is."""
    if op == SIN:
        return sine
    elif op == COS:
        return cosine
    elif op == TAN:
        return tangent
    elif op == ASIN:
        return asin
    elif op == ACOS:
        return acos
    elif op == ATAN:
        return atan
    elif op == SINH:
        return sinh
    elif op == COSH:
        return cosh
    elif op == TANH:
        return tanh
    elif op == ASINH:
        return asinh
    elif op == ACOSH:
        return acosh
    elif op == ATANH:
        return atanh
    elif op == EXP:
        return exponential
    elif op == LOG:
        return logarithm
    elif op == ERF:
        return erf
    return erfc


def run(rows, runs, first, last, w):
    """Execute runs of a tape on registers."""
    r: cython.Py_ssize_t
    i: cython.Py_ssize_t
    op: cython.int
    f: Function
    for r in range(first, last):
        op = runs[3 * r]
        if op == ADD:
            for i in range(4 * runs[3 * r + 1], 4 * runs[3 * r + 2], 4):
                w[rows[i + 3]] = w[rows[i + 1]] + w[rows[i + 2]]
        elif op == SUB:
            for i in range(4 * runs[3 * r + 1], 4 * runs[3 * r + 2], 4):
                w[rows[i + 3]] = w[rows[i + 1]] - w[rows[i + 2]]
        elif op == MUL or op == SQUARE:
            for i in range(4 * runs[3 * r + 1], 4 * runs[3 * r + 2], 4):
                w[rows[i + 3]] = w[rows[i + 1]] * w[rows[i + 2]]
        elif op == DIV:
            for i in range(4 * runs[3 * r + 1], 4 * runs[3 * r + 2], 4):
                w[rows[i + 3]] = w[rows[i + 1]] / w[rows[i + 2]]
        elif op == NEG:
            for i in range(4 * runs[3 * r + 1], 4 * runs[3 * r + 2], 4):
                w[rows[i + 3]] = -w[rows[i + 1]]
        elif op == SQRT:
            for i in range(4 * runs[3 * r + 1], 4 * runs[3 * r + 2], 4):
                w[rows[i + 3]] = sqrt(w[rows[i + 1]])
        elif op == SINCOS:
            for i in range(4 * runs[3 * r + 1], 4 * runs[3 * r + 2], 4):
                sine_and_cosine(w[rows[i + 1]], w + rows[i + 3], w + rows[i + 2])
        elif op == POW:
            for i in range(4 * runs[3 * r + 1], 4 * runs[3 * r + 2], 4):
                w[rows[i + 3]] = pow(w[rows[i + 1]], w[rows[i + 2]])
        elif op == ATAN2:
            for i in range(4 * runs[3 * r + 1], 4 * runs[3 * r + 2], 4):
                w[rows[i + 3]] = atan2(w[rows[i + 1]], w[rows[i + 2]])
        else:
            f = function_of(op)
            for i in range(4 * runs[3 * r + 1], 4 * runs[3 * r + 2], 4):
                w[rows[i + 3]] = f(w[rows[i + 1]])


# Eight lanes at once: results are put together first, so that compilers need not ask whether they overwrite arguments.


def _add(a, b, o):
    l: cython.int
    t = cython.declare(cython.double[8])
    for l in range(8):
        t[l] = a[l] + b[l]
    for l in range(8):
        o[l] = t[l]


def _subtract(a, b, o):
    l: cython.int
    t = cython.declare(cython.double[8])
    for l in range(8):
        t[l] = a[l] - b[l]
    for l in range(8):
        o[l] = t[l]


def _multiply(a, b, o):
    l: cython.int
    t = cython.declare(cython.double[8])
    for l in range(8):
        t[l] = a[l] * b[l]
    for l in range(8):
        o[l] = t[l]


def _divide(a, b, o):
    l: cython.int
    t = cython.declare(cython.double[8])
    for l in range(8):
        t[l] = a[l] / b[l]
    for l in range(8):
        o[l] = t[l]


def _negate(a, b, o):
    l: cython.int
    t = cython.declare(cython.double[8])
    for l in range(8):
        t[l] = -a[l]
    for l in range(8):
        o[l] = t[l]


def _root(a, b, o):
    l: cython.int
    t = cython.declare(cython.double[8])
    for l in range(8):
        t[l] = sqrt(a[l])
    for l in range(8):
        o[l] = t[l]


def _power(a, b, o):
    l: cython.int
    t = cython.declare(cython.double[8])
    for l in range(8):
        t[l] = pow(a[l], b[l])
    for l in range(8):
        o[l] = t[l]


def _angle(a, b, o):
    l: cython.int
    t = cython.declare(cython.double[8])
    for l in range(8):
        t[l] = atan2(a[l], b[l])
    for l in range(8):
        o[l] = t[l]


def _lanes(w, register):
    return w + 8 * register


def run_lanes(rows, runs, first, last, w):
    """Execute runs of a tape on registers of eight lanes each."""
    r: cython.Py_ssize_t
    i: cython.Py_ssize_t
    l: cython.Py_ssize_t
    start: cython.Py_ssize_t
    stop: cython.Py_ssize_t
    unused = cython.declare(cython.double[8])
    op: cython.int
    f: Function
    for r in range(first, last):
        op, start, stop = runs[3 * r], 4 * runs[3 * r + 1], 4 * runs[3 * r + 2]
        if op == ADD:
            for i in range(start, stop, 4):
                _add(_lanes(w, rows[i + 1]), _lanes(w, rows[i + 2]), _lanes(w, rows[i + 3]))
        elif op == SUB:
            for i in range(start, stop, 4):
                _subtract(_lanes(w, rows[i + 1]), _lanes(w, rows[i + 2]), _lanes(w, rows[i + 3]))
        elif op == MUL or op == SQUARE:
            for i in range(start, stop, 4):
                _multiply(_lanes(w, rows[i + 1]), _lanes(w, rows[i + 2]), _lanes(w, rows[i + 3]))
        elif op == DIV:
            for i in range(start, stop, 4):
                _divide(_lanes(w, rows[i + 1]), _lanes(w, rows[i + 2]), _lanes(w, rows[i + 3]))
        elif op == NEG:
            for i in range(start, stop, 4):
                _negate(_lanes(w, rows[i + 1]), _lanes(w, rows[i + 2]), _lanes(w, rows[i + 3]))
        elif op == SQRT:
            for i in range(start, stop, 4):
                _root(_lanes(w, rows[i + 1]), _lanes(w, rows[i + 2]), _lanes(w, rows[i + 3]))
        elif op == POW:
            for i in range(start, stop, 4):
                _power(_lanes(w, rows[i + 1]), _lanes(w, rows[i + 2]), _lanes(w, rows[i + 3]))
        elif op == ATAN2:
            for i in range(start, stop, 4):
                _angle(_lanes(w, rows[i + 1]), _lanes(w, rows[i + 2]), _lanes(w, rows[i + 3]))
        elif op == SINCOS:
            for i in range(start, stop, 4):
                sines_and_cosines(_lanes(w, rows[i + 1]), _lanes(w, rows[i + 3]), _lanes(w, rows[i + 2]))
        elif op == SIN:
            for i in range(start, stop, 4):
                sines_and_cosines(_lanes(w, rows[i + 1]), _lanes(w, rows[i + 3]), unused)
        elif op == COS:
            for i in range(start, stop, 4):
                sines_and_cosines(_lanes(w, rows[i + 1]), unused, _lanes(w, rows[i + 3]))
        elif op == EXP:
            for i in range(start, stop, 4):
                exponentials(_lanes(w, rows[i + 1]), _lanes(w, rows[i + 3]))
        elif op == LOG:
            for i in range(start, stop, 4):
                logarithms(_lanes(w, rows[i + 1]), _lanes(w, rows[i + 3]))
        else:
            f = function_of(op)
            for i in range(start, stop, 4):
                for l in range(8):
                    w[8 * rows[i + 3] + l] = f(w[8 * rows[i + 1] + l])
