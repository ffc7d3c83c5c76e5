# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Hyperbolic functions, and the inverses of these and of the circular ones, by what ``elementary`` has.

They err by less than 2.2 units in the last place.
"""

from __future__ import annotations

import cython

if cython.compiled:
    from cython.cimports.libc.math import copysign, fabs, sqrt
    from cython.cimports.pfaff.kernels.elementary import (
        infinite, undefined, exponential, exponential_less_one, logarithm, logarithm_of_one_more,
    )  # fmt: skip


def sinh(x):
    a: cython.double = fabs(x)
    e: cython.double
    if a < 40.0:
        e = exponential_less_one(a)
        return copysign(0.5 * (e + e / (e + 1.0)), x)
    if a > 709.0:
        e = exponential(0.5 * a)
        return copysign(0.5 * e * e, x)
    return copysign(0.5 * exponential(a), x)


def cosh(x):
    a: cython.double = fabs(x)
    e: cython.double
    if a > 709.0:
        e = exponential(0.5 * a)
        return 0.5 * e * e
    e = exponential(a)
    return 0.5 * e + 0.5 / e


def tanh(x):
    a: cython.double = fabs(x)
    e: cython.double
    if a > 22.0:
        return copysign(1.0, x)
    e = exponential_less_one(2.0 * a)
    return copysign(e / (e + 2.0), x)


def asinh(x):
    a: cython.double = fabs(x)
    if a > 1e8:
        return copysign(logarithm(a) + 0.6931471805599453, x)
    return copysign(logarithm_of_one_more(a + a * a / (1.0 + sqrt(1.0 + a * a))), x)


def acosh(x):
    t: cython.double = x - 1.0
    if x > 1e8:
        return logarithm(x) + 0.6931471805599453
    if t < 0.0:
        return undefined()
    return logarithm_of_one_more(t + sqrt(t * (t + 2.0)))


def atanh(x):
    a: cython.double = fabs(x)
    if a >= 1.0:
        return copysign(infinite(), x) if a == 1.0 else undefined()
    return copysign(0.5 * logarithm_of_one_more(2.0 * a / (1.0 - a)), x)


def _atan(r):
    """(r − atan r) / r for |r| ≤ 7/16."""
    z: cython.double = r * r
    w: cython.double = z * z
    odd: cython.double = (
        z * (0.3333333333333293 + w * (0.14285714272503466 + w * (0.09090887133436507
        + w * (0.06661073137387531 + w * (0.049768779946159324 + w * 0.016285820115365782)))))
    )  # fmt: skip
    even: cython.double = (
        w * (-0.19999999999876483 + w * (-0.11111110405462356 + w * (-0.0769187620504483
        + w * (-0.058335701337905735 + w * -0.036531572744216916))))
    )  # fmt: skip
    return odd + even


def atan(x):
    a: cython.double = fabs(x)
    r: cython.double
    if a < 0.4375:
        return copysign(a - a * _atan(a), x)
    if a < 0.6875:  # the difference from an angle whose tangent is known
        r = (2.0 * a - 1.0) / (2.0 + a)
        a = 0.4636476090008061 - ((r * _atan(r) - 2.2698777452961687e-17) - r)
    elif a < 1.1875:
        r = (a - 1.0) / (a + 1.0)
        a = 0.7853981633974483 - ((r * _atan(r) - 3.061616997868383e-17) - r)
    elif a < 2.4375:
        r = (a - 1.5) / (1.0 + 1.5 * a)
        a = 0.982793723247329 - ((r * _atan(r) - 1.3903311031230998e-17) - r)
    else:
        r = -1.0 / a
        a = 1.5707963267948966 - ((r * _atan(r) - 6.123233995736766e-17) - r)
    return copysign(a, x) if x == x else x


def atan2(y, x):
    a: cython.double = fabs(x)
    b: cython.double = fabs(y)
    angle: cython.double
    if x != x or y != y:
        return x + y
    if b == 0.0:
        angle = 0.0
    elif a - a != 0.0:  # infinite
        angle = 0.0 if b - b == 0.0 else 0.7853981633974483
    else:
        angle = 1.5707963267948966 if a == 0.0 or b - b != 0.0 else atan(b / a)
    if copysign(1.0, x) < 0.0 and angle != 1.5707963267948966:
        angle = 3.141592653589793 - (angle - 1.2246467991473532e-16)
    return copysign(angle, y)


def asin(x):
    a: cython.double = fabs(x)
    if a > 1.0:
        return undefined()
    return x if x == 0.0 else atan2(x, sqrt((1.0 - a) * (1.0 + a)))


def acos(x):
    if fabs(x) > 1.0:
        return undefined()
    return 2.0 * atan2(sqrt(1.0 - x), sqrt(1.0 + x))
