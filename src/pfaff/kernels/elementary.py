# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Elementary functions with the same digits from every compiler and on every processor: libraries choose other
instructions on other processors, and no lane of theirs equals a single value.

They err by less than a unit in the last place, tangents by less than two.

Sines and cosines: the argument less a multiple of π/2, in two parts, then polynomials; exponentials and logarithms
likewise by log 2. What ends in an ``s`` takes eight lanes.
"""

from __future__ import annotations

import cython

if cython.compiled:
    from cython.cimports.libc.math import fabs
    from cython.cimports.pfaff.kernels.elementary import bits_of, of_bits
else:
    import struct
    from math import fabs

    def bits_of(x):
        return struct.unpack("q", struct.pack("d", x))[0]

    def of_bits(i):
        return struct.unpack("d", struct.pack("q", i))[0]


TWO_OVER_PI = cython.declare(cython.ulonglong[40])  # 32 bits in each
DIGITS = (
    "A2F9836E4E441529FC2757D1F534DDC0DB6295993C439041FE5163ABDEBBC561B7246E3A424DD2E006492EEA09D1921CFE1DEB1CB129A73E"
    "E88235F52EBB4484E99C7026B45F7E413991D639835339F49C845F8BBDF9283B1FF897FFDE05980FEF2F118B5A0A6D1F6D367ECF27CB09B7"
    "4F463F669E5FEA2D7527BAC7EBE5F17B3D0739F78A5292EA6BFB5FB11F8D5D0856033046FC7B6BABF0CFBC209AF4361D"
)
if not cython.compiled:
    TWO_OVER_PI = [0] * 40
for place in range(40):
    TWO_OVER_PI[place] = int(DIGITS[8 * place : 8 * place + 8], 16)


def infinite():
    return of_bits(cython.cast(cython.longlong, 2047) << 52)


def undefined():
    """One NaN: compilers and processors choose among several."""
    return of_bits(cython.cast(cython.longlong, 4095) << 51)


# --- sine and cosine --------------------------------------------------------------------------------------------------


def _multiple(x):
    """The integer nearest to x / (π/2), for |x| < FAR."""
    return (x * 0.6366197723675814 + 6755399441055744.0) - 6755399441055744.0


def _left(a, b):
    """What a − b loses when it is rounded."""
    d: cython.double = a - b
    e: cython.double = d - a
    return (a - (d - e)) - (b + e)


def _near(x, k):
    """x − k π/2, rounded; a zero keeps its sign."""
    a: cython.double = x - k * 1.5707963267341256
    b: cython.double = a - k * 6.077100506303966e-11
    c: cython.double = b - k * 2.0222662487111665e-21
    rest: cython.double = _left(a, k * 6.077100506303966e-11) + _left(b, k * 2.0222662487111665e-21)
    return x if x == 0.0 else c + (rest - k * 8.4784276603689e-32)


def _near_rest(x, k):
    """What ``_near`` loses."""
    a: cython.double = x - k * 1.5707963267341256
    b: cython.double = a - k * 6.077100506303966e-11
    c: cython.double = b - k * 2.0222662487111665e-21
    rest: cython.double = _left(a, k * 6.077100506303966e-11) + _left(b, k * 2.0222662487111665e-21)
    rest -= k * 8.4784276603689e-32
    return (c - (c + rest)) + rest


def _sine(r, t):
    """sin(r + t) for |r| ≤ π/4."""
    z: cython.double = r * r
    v: cython.double = z * r
    p: cython.double = (
        0.00833333333332249 + z * (-0.0001984126982985795 + z * (2.7557313707070068e-06
        + z * (-2.5050760253406863e-08 + z * 1.58969099521155e-10)))
    )  # fmt: skip
    return r - ((z * (0.5 * t - v * p) - t) + v * 1.66666666666666324348e-01)


def _cosine(r, t):
    """cos(r + t) for |r| ≤ π/4."""
    z: cython.double = r * r
    p: cython.double = (
        z * (0.0416666666666666 + z * (-0.001388888888887411 + z * (2.480158728947673e-05
        + z * (-2.7557314351390663e-07 + z * (2.087572321298175e-09 + z * -1.1359647557788195e-11)))))
    )  # fmt: skip
    h: cython.double = 0.5 * z
    w: cython.double = 1.0 - h
    return w + (((1.0 - w) - h) + (z * p - r * t))


def _quadrant(k):
    """k less a multiple of four: 0, 1, 2 or 3."""
    return k - 4.0 * ((k * 0.25 - 0.375 + 6755399441055744.0) - 6755399441055744.0)


def _far(x, r, t):
    """The quadrant of a large x, and what is left of it in two parts: the product of its 53 bits with those of 2/π that
    tell (Payne and Hanek 1983), 32 bits at a time."""
    i: cython.int
    bits: cython.longlong = bits_of(x)
    e: cython.int = cython.cast(cython.int, (bits >> 52) & 2047) - 1075
    m: cython.ulonglong = _lowest(bits, 52) | cython.cast(cython.ulonglong, 1) << 52
    low: cython.ulonglong = _lowest(m, 32)
    high: cython.ulonglong = m >> 32
    first: cython.int = (e - 2) // 32 if e >= 2 else 0
    below: cython.int = 224 - (e - 32 * (first + 1))  # bits of the product below one
    word = cython.declare(cython.ulonglong[10])
    over: cython.ulonglong = 0
    product: cython.ulonglong
    for i in range(10):
        word[i] = 0
    for i in range(8):  # words of the product from the lowest, of 32 bits
        product = low * TWO_OVER_PI[first + 7 - i]
        word[i] += _lowest(product, 32)
        word[i + 1] += product >> 32
        product = high * TWO_OVER_PI[first + 7 - i]
        word[i + 1] += _lowest(product, 32)
        word[i + 2] += product >> 32
    for i in range(10):
        word[i] += over
        over = word[i] >> 32
        word[i] = _lowest(word[i], 32)
    quadrant: cython.ulonglong = _word(word, below) & 3
    a: cython.ulonglong = (_word(word, below - 32) << 32) | _word(word, below - 64)
    b: cython.ulonglong = (_word(word, below - 96) << 32) | _word(word, below - 128)
    negative: cython.bint = a >> 63 != 0
    if negative:
        quadrant += 1
        a = (_lowest(~(a >> 32), 32) << 32) | _lowest(~a, 32)
        b = (_lowest(~(b >> 32), 32) << 32) | _lowest(~b, 32)
    u: cython.double = cython.cast(cython.double, a >> 32) * 2.3283064365386963e-10
    v: cython.double = cython.cast(cython.double, _lowest(a, 32)) * 5.421010862427522e-20
    w: cython.double = (
        cython.cast(cython.double, b >> 32) * 1.262177448353619e-29
        + cython.cast(cython.double, _lowest(b, 32)) * 2.938735877055719e-39
    )
    head: cython.double = u + v
    tail: cython.double = ((u - head) + v) + w
    f: cython.double = head + tail
    tail = (head - f) + tail
    # times π/2, the product of the heads exactly: both are split into halves
    c: cython.double = 134217729.0 * f
    f1: cython.double = c - (c - f)
    f2: cython.double = f - f1
    c = 134217729.0 * 1.5707963267948966
    p1: cython.double = c - (c - 1.5707963267948966)
    p2: cython.double = 1.5707963267948966 - p1
    y: cython.double = f * 1.5707963267948966
    rest: cython.double = ((f1 * p1 - y) + f1 * p2 + f2 * p1) + f2 * p2
    rest += f * 6.123233995736766e-17 + tail * 1.5707963267948966
    head = y + rest
    tail = (y - head) + rest
    if negative:
        head, tail = -head, -tail
    k: cython.double = cython.cast(cython.double, quadrant & 3)
    if bits < 0:
        head, tail, k = -head, -tail, -k
    r[0] = head
    t[0] = tail
    return k


def _word(word, at):
    """The 32 bits of a number in words from one on."""
    i: cython.int = at >> 5
    shift: cython.int = at & 31
    both: cython.ulonglong = word[i] | (word[i + 1] << 32 if i < 9 else 0)
    return _lowest(both >> shift, 32)


def _lowest(x, many):
    return x & ((cython.cast(cython.ulonglong, 1) << many) - 1)


def _sine_of(k, r, t):
    q: cython.double = _quadrant(k)
    s: cython.double = _sine(r, t)
    c: cython.double = _cosine(r, t)
    value: cython.double = c if fabs(q - 2.0) == 1.0 else s
    return -value if q > 1.5 else value


def _cosine_of(k, r, t):
    q: cython.double = _quadrant(k)
    s: cython.double = _sine(r, t)
    c: cython.double = _cosine(r, t)
    value: cython.double = s if fabs(q - 2.0) == 1.0 else c
    return -value if fabs(q - 1.5) < 1.0 else value


def sine_and_cosine(x, s, c):
    k: cython.double
    r = cython.declare(cython.double[1])
    t = cython.declare(cython.double[1])
    if fabs(x) < 1e6:
        k = _multiple(x)
        r[0] = _near(x, k)
        t[0] = _near_rest(x, k)
    elif x - x == 0.0:
        k = _far(x, r, t)
    else:
        s[0] = c[0] = x if x != x else undefined()
        return
    s[0] = _sine_of(k, r[0], t[0])
    c[0] = _cosine_of(k, r[0], t[0])


def sine(x):
    k: cython.double
    r = cython.declare(cython.double[1])
    t = cython.declare(cython.double[1])
    if fabs(x) < 1e6:
        k = _multiple(x)
        return _sine_of(k, _near(x, k), _near_rest(x, k))
    if x - x != 0.0:
        return x if x != x else undefined()
    k = _far(x, r, t)
    return _sine_of(k, r[0], t[0])


def cosine(x):
    k: cython.double
    r = cython.declare(cython.double[1])
    t = cython.declare(cython.double[1])
    if fabs(x) < 1e6:
        k = _multiple(x)
        return _cosine_of(k, _near(x, k), _near_rest(x, k))
    if x - x != 0.0:
        return x if x != x else undefined()
    k = _far(x, r, t)
    return _cosine_of(k, r[0], t[0])


def tangent(x):
    s = cython.declare(cython.double[1])
    c = cython.declare(cython.double[1])
    sine_and_cosine(x, s, c)
    return s[0] / c[0]


def sines_and_cosines(x, s, c):
    l: cython.int
    k: cython.double
    r: cython.double
    t: cython.double
    near: cython.int = 0
    sines = cython.declare(cython.double[8])  # which overwrite nothing
    cosines = cython.declare(cython.double[8])
    for l in range(8):
        near += fabs(x[l]) < 1e6
    if near < 8:
        for l in range(8):
            k = x[l]  # which may be where results go
            sine_and_cosine(k, s + l, c + l)
        return
    for l in range(8):
        k = _multiple(x[l])
        r = _near(x[l], k)
        t = _near_rest(x[l], k)
        sines[l] = _sine_of(k, r, t)
        cosines[l] = _cosine_of(k, r, t)
    for l in range(8):
        s[l] = sines[l]
        c[l] = cosines[l]


# --- exponential and logarithm ----------------------------------------------------------------------------------------


def _curved(r):
    """e^r − 1 − r for |r| ≤ log(2)/2, by a quotient (Remes, as in fdlibm)."""
    z: cython.double = r * r
    c: cython.double = (
        r - z * (0.16666666666666602 + z * (-0.0027777777777015593 + z * (6.613756321437934e-05
        + z * (-1.6533902205465252e-06 + z * 4.1381367970572385e-08))))
    )  # fmt: skip
    return r * c / (2.0 - c)


def _doublings(x):
    """The integer nearest to x / log 2."""
    return (x * 1.4426950408889634 + 6755399441055744.0) - 6755399441055744.0


def _two_to(k):
    """2^k for an integer k from −1022 to 1023: its bits are the lowest of k + 1.5·2^52, moved to the exponent."""
    return of_bits((bits_of(k + 6755399441056767.0) & 2047) << 52)


def _exponential(x):
    """e^x for −746 ≤ x ≤ 710."""
    k: cython.double = _doublings(x)
    h: cython.double = x - k * 0.6931471803691238
    t: cython.double = k * 1.9082149292705877e-10
    y: cython.double = 1.0 + (h + (_curved(h - t) - t))
    half: cython.double = (k * 0.5 + 6755399441055744.0) - 6755399441055744.0
    return y * _two_to(half) * _two_to(k - half)


def exponential(x):
    if x > 710.0:
        return infinite()
    if x < -746.0:
        return 0.0
    if x != x:
        return x
    return _exponential(x)


def exponentials(x, y):
    l: cython.int
    found = cython.declare(cython.double[8])
    near: cython.int = 0
    for l in range(8):
        near += fabs(x[l]) < 700.0
    if near < 8:
        for l in range(8):
            y[l] = exponential(x[l])
        return
    for l in range(8):
        found[l] = _exponential(x[l])
    for l in range(8):
        y[l] = found[l]


def exponential_less_one(x):
    k: cython.double = _doublings(x)
    h: cython.double
    t: cython.double
    y: cython.double
    if x > 709.0:
        return exponential(x)
    if x < -40.0:
        return -1.0
    if x != x or x == 0.0:
        return x
    h = x - k * 0.6931471803691238
    t = k * 1.9082149292705877e-10
    y = ((1.0 - _two_to(-k if k < 60.0 else -60.0)) + h) + (_curved(h - t) - t)
    return y * _two_to(k)


def _logarithm(x, before):
    """log x − before · log 2 for a normal x: x is 2^k m with m between √½ and √2, and log m a series in
    (m − 1)/(m + 1)."""
    bits: cython.longlong = bits_of(x)
    e: cython.longlong = (bits + (bits_of(1.0) - bits_of(0.7071067811865476))) & (
        cython.cast(cython.longlong, 2047) << 52
    )
    f: cython.double = of_bits(bits - e + bits_of(1.0)) - 1.0
    k: cython.double = (of_bits((e >> 52) + bits_of(6755399441055744.0)) - 6755399441056767.0) - before
    s: cython.double = f / (2.0 + f)
    z: cython.double = s * s
    p: cython.double = (
        z * (0.6666666666666735 + z * (0.3999999999940942 + z * (0.2857142874366239 + z * (0.22222198432149784
        + z * (0.1818357216161805 + z * (0.15313837699209373 + z * 0.14798198605101587))))))
    )  # fmt: skip
    h: cython.double = 0.5 * f * f
    return k * 0.6931471803691238 - ((h - (s * (h + p) + k * 1.9082149292705877e-10)) - f)


def logarithm(x):
    if 2.2250738585072014e-308 <= x <= 1.7976931348623157e308:
        return _logarithm(x, 0.0)
    if x == 0.0:
        return -infinite()
    if x < 0.0 or x != x:
        return x if x != x else undefined()
    if x > 1.0:
        return x  # infinity
    return _logarithm(x * 18014398509481984.0, 54.0)


def logarithms(x, y):
    l: cython.int
    found = cython.declare(cython.double[8])
    near: cython.int = 0
    for l in range(8):
        near += 2.2250738585072014e-308 <= x[l] <= 1.7976931348623157e308
    if near < 8:
        for l in range(8):
            y[l] = logarithm(x[l])
        return
    for l in range(8):
        found[l] = _logarithm(x[l], 0.0)
    for l in range(8):
        y[l] = found[l]


def logarithm_of_one_more(x):
    u: cython.double = 1.0 + x
    if x == 0.0 or x != x or u - u != 0.0:
        return x if x >= -1.0 or x != x else undefined()
    if u <= 0.0:
        return logarithm(u)
    # What is lost in 1 + x changes the logarithm by its share of u.
    return logarithm(u) + ((x - (u - 1.0)) if u < 2.0 else (1.0 - (u - x))) / u
