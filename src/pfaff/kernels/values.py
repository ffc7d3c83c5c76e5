# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Readers of tapes: the values of its outputs at one point, or at many in lanes of eight, with the same digits.

``Reader`` is for Python. Loops that are compiled themselves call its functions by their addresses.
"""

from __future__ import annotations

import cython
import numpy as np

if cython.compiled:
    from cython.cimports.libc.math import erf, erfc, pow, sqrt
    from cython.cimports.libc.stdlib import free, malloc
    from cython.cimports.libc.string import memcmp
    from cython.cimports.pfaff.kernels.elementary import (
        acos,
        acosh,
        asin,
        asinh,
        atan,
        atan2,
        atanh,
        cosh,
        cosine,
        exponential,
        exponentials,
        logarithm,
        logarithms,
        sine,
        sine_and_cosine,
        sines_and_cosines,
        sinh,
        tangent,
        tanh,
    )

(
    ADD, SUB, MUL, DIV, NEG, SQUARE, SQRT, SIN, COS, SINCOS, TAN, ASIN, ACOS, ATAN, SINH, COSH, TANH, ASINH, ACOSH, ATANH,
    EXP, LOG, ERF, POW, ATAN2, ERFC,
) = range(26)  # fmt: skip
