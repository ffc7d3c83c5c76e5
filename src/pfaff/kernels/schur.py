# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Eigenvalues and eigenvectors of small real matrices, with the same digits on every processor.

A balanced matrix is made upper Hessenberg by reflections, and upper triangular but for blocks of two rows by Francis'
QR algorithm with two shifts (1961; Golub and Van Loan, Matrix Computations, Sec. 7.5), deflated as Ahues and Tisseur
(1997) do. Vectors follow by substitution. LAPACK does the same in blocks, which pay for large matrices only, in an
order of additions that depends on the processor.
"""

from __future__ import annotations

import cython

if cython.compiled:
    from cython.cimports.libc.math import copysign, fabs, ilogb, ldexp, sqrt
    from cython.cimports.libc.string import memcpy
    from cython.cimports.pfaff.kernels.balancing import balance

ROUNDING = cython.declare(cython.double, 2.220446049250313e-16)
TINY = cython.declare(cython.double, 1e-292)  # entries below this are zero, in matrices whose largest is about one ...
FAINT = cython.declare(cython.double, 5e-35)  # ... and below this where they are small beside their neighbours
SWEEPS = cython.declare(cython.Py_ssize_t, 30)  # most of them for an eigenvalue, as a mean over all
STUCK = cython.declare(cython.int, 10)  # sweeps without a new eigenvalue after which other shifts are taken
LARGEST = cython.declare(cython.double, 1.7976931348623157e308)  # finite number
LARGE = cython.declare(cython.double, 1e100)  # entries of a vector beyond this are scaled down


def schur_room(n):
    """How many numbers ``eigenvalues`` works on."""
    return 2 * n * n + 3 * n


def eigenvalues(A, n, values, left, right, room):
    """The eigenvalues of a matrix given by rows and, where asked for, left vectors p A = λ p and right ones A q = λ q,
    as rows of length one; a pair stands side by side, the one with the positive frequency first. Returns whether they
    were found."""
    i: cython.Py_ssize_t
    j: cython.Py_ssize_t
    k: cython.Py_ssize_t = 0
    side: cython.int
    H: cython.p_double = room
    Z: cython.p_double = H + n * n
    scale: cython.p_double = Z + n * n
    y: cython.p_double = scale + n
    wanted: cython.bint = left != cython.NULL or right != cython.NULL
    out: cython.p_doublecomplex
    norm: cython.double = 0.0
    least: cython.double
    size: cython.double
    re: cython.double
    im: cython.double
    exponent: cython.int
    memcpy(H, A, 8 * n * n)
    for i in range(n * n):
        if not fabs(H[i]) <= LARGEST:
            return False
    for i in range(n):
        scale[i] = 1.0
    balance(H, n, scale)
    for i in range(n * n):
        norm = max(norm, fabs(H[i]))
    exponent = ilogb(norm) if norm > 0.0 else 0
    for i in range(n * n):
        H[i] = ldexp(H[i], -exponent)
    if wanted:
        for i in range(n * n):
            Z[i] = 0.0
        for i in range(n):
            Z[i * n + i] = 1.0
    else:
        Z = cython.NULL
    _to_hessenberg(H, n, Z, y)
    if not _to_blocks(H, n, Z):
        return False
    _read(H, n, values)
    least = ROUNDING
    for i in range(n * n):
        least = max(least, ROUNDING * fabs(H[i]))
    for k in range(n if wanted else 0):
        for side in range(2):
            out = left if side else right
            if out == cython.NULL:
                continue
            out += k * n
            if values[k].imag < 0.0:  # the conjugate of the one before
                for j in range(n):
                    out[j].real, out[j].imag = (out - n)[j].real, -(out - n)[j].imag
                continue
            if side:
                _downwards(H, n, k, values[k], least, y)
            else:
                _upwards(H, n, k, values[k], least, y)
            size = 0.0
            for i in range(n):
                re = im = 0.0
                for j in range(n):
                    re += Z[i * n + j] * y[2 * j]
                    im += Z[i * n + j] * y[2 * j + 1]
                re, im = (re / scale[i], im / scale[i]) if side else (re * scale[i], im * scale[i])
                out[i].real, out[i].imag = re, im
                size = max(size, max(fabs(re), fabs(im)))
            norm = 0.0
            for i in range(n):
                norm += (out[i].real / size) * (out[i].real / size) + (out[i].imag / size) * (out[i].imag / size)
            size *= sqrt(norm)
            for i in range(n):
                out[i].real, out[i].imag = out[i].real / size, out[i].imag / size
    for k in range(n):
        values[k].real, values[k].imag = ldexp(values[k].real, exponent), ldexp(values[k].imag, exponent)
    return True


def _mirror(v, count, along):
    """Turn v into the vector (1, …) of the reflection 1 − τ v vᵀ that maps it onto the first axis; returns τ, and what
    it is there."""
    i: cython.Py_ssize_t
    rest: cython.double = 0.0
    most: cython.double = 0.0
    length: cython.double
    first: cython.double = v[0]
    for i in range(count):
        most = max(most, fabs(v[i]))
    for i in range(1, count):
        rest += (v[i] / most) * (v[i] / most) if most > 0.0 else 0.0
    v[0] = 1.0
    if rest == 0.0:
        along[0] = first
        return 0.0
    length = -copysign(most * sqrt((first / most) * (first / most) + rest), first)
    for i in range(1, count):
        v[i] /= first - length
    along[0] = length
    return (length - first) / length


def _to_hessenberg(H, n, Z, v):
    """Reflect the matrix until it is zero below its first subdiagonal; v holds one reflection, Z collects all if it is
    there."""
    i: cython.Py_ssize_t
    j: cython.Py_ssize_t
    k: cython.Py_ssize_t
    count: cython.Py_ssize_t
    tau: cython.double
    total: cython.double
    along: cython.double = 0.0
    for k in range(n - 2):
        count = n - k - 1
        for i in range(count):
            v[i] = H[(k + 1 + i) * n + k]
        tau = _mirror(v, count, cython.address(along))
        if tau == 0.0:
            continue
        for j in range(k + 1, n):  # rows
            total = 0.0
            for i in range(count):
                total += v[i] * H[(k + 1 + i) * n + j]
            for i in range(count):
                H[(k + 1 + i) * n + j] -= tau * total * v[i]
        for i in range(n):  # columns
            total = 0.0
            for j in range(count):
                total += H[i * n + k + 1 + j] * v[j]
            for j in range(count):
                H[i * n + k + 1 + j] -= tau * total * v[j]
        H[(k + 1) * n + k] = along
        for i in range(k + 2, n):
            H[i * n + k] = 0.0
        if Z != cython.NULL:
            for i in range(n):
                total = 0.0
                for j in range(count):
                    total += Z[i * n + k + 1 + j] * v[j]
                for j in range(count):
                    Z[i * n + k + 1 + j] -= tau * total * v[j]


def _to_blocks(H, n, Z):
    """Sweep until only blocks of one or two rows are left; returns whether that succeeds."""
    last: cython.Py_ssize_t = n - 1
    first: cython.Py_ssize_t
    start: cython.Py_ssize_t
    sweeps: cython.Py_ssize_t = SWEEPS * n
    tried: cython.int = 0
    both = cython.declare(cython.double[4])
    v = cython.declare(cython.double[3])
    while last > 0:
        first = _split(H, n, last)
        if first >= last - 1:
            if first < last:
                _triangular(H, n, Z, first)
            last, tried = first - 1, 0
            continue
        if sweeps == 0:
            return False
        sweeps -= 1
        tried += 1
        _shifts(H, n, last, tried, both)
        start = _first_column(H, n, first, last, both, v)
        _chase(H, n, Z, first, start, last, v)
    return True


def _split(H, n, last):
    """The first row of the last block that does not fall apart: where a subdiagonal entry is negligible, which is set
    to zero."""
    k: cython.Py_ssize_t = last
    entry: cython.double
    other: cython.double
    apart: cython.double
    size: cython.double
    while k > 0:
        entry, other = fabs(H[k * n + k - 1]), fabs(H[(k - 1) * n + k])
        size = fabs(H[k * n + k]) + fabs(H[(k - 1) * n + k - 1])
        if size == 0.0:
            if k > 1:
                size += fabs(H[(k - 1) * n + k - 2])
            if k < n - 1:
                size += fabs(H[(k + 1) * n + k])
        if entry <= TINY:
            break
        if entry <= ROUNDING * size:  # small; and so is what it changes in eigenvalues
            apart = fabs(H[k * n + k] - H[(k - 1) * n + k - 1])
            size = max(fabs(H[k * n + k]), apart) + max(entry, other)
            if entry * (other / size) <= max(FAINT, ROUNDING * (fabs(H[k * n + k]) * (apart / size))):
                break
        k -= 1
    if k > 0:
        H[k * n + k - 1] = 0.0
    return k


def _shifts(H, n, last, tried, both):
    """Two shifts, real and imaginary parts of each: the eigenvalues of the last two rows, or twice the one nearer to
    the last entry if they are real; others where that has led nowhere."""
    a: cython.double = H[(last - 1) * n + last - 1]
    b: cython.double = H[(last - 1) * n + last]
    c: cython.double = H[last * n + last - 1]
    d: cython.double = H[last * n + last]
    half: cython.double
    square: cython.double
    if tried % STUCK == 0:  # another one every time
        c = (fabs(c) + fabs(H[(last - 1) * n + last - 2])) * (1 + tried / 7.0)
        a = d = 0.75 * c + d
        b = -0.4375 * c
    half, square = (a - d) / 2, 0.0
    square = half * half + b * c
    if square < 0.0:
        both[0] = both[2] = d + half
        both[1] = sqrt(-square)
        both[3] = -both[1]
        return
    half += copysign(sqrt(square), half)
    both[0] = d - (b * c / half if half != 0.0 else 0.0)
    if fabs(d + half - d) < fabs(both[0] - d):
        both[0] = d + half
    both[2] = both[0]
    both[1] = both[3] = 0.0


def _first_column(H, n, first, last, both, v):
    """The first column of (H − shift)(H − other shift), but for a factor, and the row from which a sweep may start:
    beyond two subdiagonal entries whose product is negligible."""
    k: cython.Py_ssize_t = last - 2
    size: cython.double
    a: cython.double
    c: cython.double
    around: cython.double
    while True:
        a = H[k * n + k]
        size = fabs(a - both[2]) + fabs(both[3]) + fabs(H[(k + 1) * n + k])
        c = H[(k + 1) * n + k] / size
        v[0] = c * H[k * n + k + 1] + (a - both[0]) * ((a - both[2]) / size) - both[1] * (both[3] / size)
        v[1] = c * (a + H[(k + 1) * n + k + 1] - both[0] - both[2])
        v[2] = c * H[(k + 2) * n + k + 1]
        size = fabs(v[0]) + fabs(v[1]) + fabs(v[2])
        v[0], v[1], v[2] = v[0] / size, v[1] / size, v[2] / size
        if k == first:
            return k
        around = fabs(H[(k - 1) * n + k - 1]) + fabs(a) + fabs(H[(k + 1) * n + k + 1])
        if fabs(H[k * n + k - 1]) * (fabs(v[1]) + fabs(v[2])) <= ROUNDING * fabs(v[0]) * around:
            return k
        k -= 1


def _chase(H, n, Z, first, start, last, v):
    """A sweep: a reflection at its start makes a bulge, others move it down the subdiagonal and out."""
    k: cython.Py_ssize_t
    i: cython.Py_ssize_t
    j: cython.Py_ssize_t
    count: cython.Py_ssize_t
    top: cython.Py_ssize_t = 0
    wide: cython.Py_ssize_t = n
    tau: cython.double
    total: cython.double
    along: cython.double = 0.0
    one: cython.double
    two: cython.double
    a: cython.p_double
    b: cython.p_double
    c: cython.p_double
    if Z == cython.NULL:  # only the block itself is needed
        top, wide = first, last + 1
    for k in range(start, last):
        count = min(3, last - k + 1)
        if k > start:
            for i in range(count):
                v[i] = H[(k + i) * n + k - 1]
        tau = _mirror(v, count, cython.address(along))
        if k > start:
            H[k * n + k - 1] = along
            for i in range(1, count):
                H[(k + i) * n + k - 1] = 0.0
        elif start > first:
            H[k * n + k - 1] *= 1 - tau
        one, two = v[1], v[2] if count == 3 else 0.0
        a, b = H + k * n, H + (k + 1) * n
        c = H + (k + 2) * n if count == 3 else b
        if count == 3:
            for j in range(k, wide):
                total = tau * (a[j] + one * b[j] + two * c[j])
                a[j] -= total
                b[j] -= total * one
                c[j] -= total * two
            for i in range(top, min(k + 3, last) + 1):
                a = H + i * n + k
                total = tau * (a[0] + one * a[1] + two * a[2])
                a[0] -= total
                a[1] -= total * one
                a[2] -= total * two
        else:
            for j in range(k, wide):
                total = tau * (a[j] + one * b[j])
                a[j] -= total
                b[j] -= total * one
            for i in range(top, last + 1):
                a = H + i * n + k
                total = tau * (a[0] + one * a[1])
                a[0] -= total
                a[1] -= total * one
        if Z != cython.NULL:
            for i in range(n):
                a = Z + i * n + k
                total = tau * (a[0] + one * a[1] + (two * a[2] if count == 3 else 0.0))
                a[0] -= total
                a[1] -= total * one
                if count == 3:
                    a[2] -= total * two


def _triangular(H, n, Z, k):
    """Rotate rows and columns k and k + 1 so that their block is triangular, if its eigenvalues are real."""
    i: cython.Py_ssize_t
    a: cython.double = H[k * n + k]
    b: cython.double = H[k * n + k + 1]
    c: cython.double = H[(k + 1) * n + k]
    d: cython.double = H[(k + 1) * n + k + 1]
    half: cython.double = (a - d) / 2
    most: cython.double = max(fabs(half), max(fabs(b), fabs(c)))
    square: cython.double
    far: cython.double
    length: cython.double
    cosine: cython.double
    sine: cython.double
    one: cython.double
    two: cython.double
    if c == 0.0:
        return
    square = (half / most) * (half / most) + (b / most) * (c / most)
    if square < 0.0:
        return
    far = half + copysign(most * sqrt(square), half)
    length = most * sqrt((far / most) * (far / most) + (c / most) * (c / most))
    cosine, sine = far / length, c / length
    for i in range(k, n):
        one, two = H[k * n + i], H[(k + 1) * n + i]
        H[k * n + i] = cosine * one + sine * two
        H[(k + 1) * n + i] = cosine * two - sine * one
    for i in range(k + 2):
        one, two = H[i * n + k], H[i * n + k + 1]
        H[i * n + k] = cosine * one + sine * two
        H[i * n + k + 1] = cosine * two - sine * one
    if Z != cython.NULL:
        for i in range(n):
            one, two = Z[i * n + k], Z[i * n + k + 1]
            Z[i * n + k] = cosine * one + sine * two
            Z[i * n + k + 1] = cosine * two - sine * one
    H[(k + 1) * n + k] = 0.0
    H[k * n + k] = d + far
    H[(k + 1) * n + k + 1] = d - (b / far) * c if far != 0.0 else d


def _read(H, n, values):
    """The eigenvalues of the blocks."""
    k: cython.Py_ssize_t = 0
    half: cython.double
    frequency: cython.double
    square: cython.double
    most: cython.double
    while k < n:
        values[k].real, values[k].imag = H[k * n + k], 0.0
        if k < n - 1 and H[(k + 1) * n + k] != 0.0:
            half = (H[k * n + k] - H[(k + 1) * n + k + 1]) / 2
            most = max(fabs(half), max(fabs(H[k * n + k + 1]), fabs(H[(k + 1) * n + k])))
            square = (half / most) * (half / most) + (H[k * n + k + 1] / most) * (H[(k + 1) * n + k] / most)
            frequency = most * sqrt(max(-square, 0.0))
            values[k].real = values[k + 1].real = H[(k + 1) * n + k + 1] + half
            values[k].imag, values[k + 1].imag = frequency, -frequency
            k += 1
        k += 1


def _null(H, n, k, value, across, y):
    """A null vector of the block at k less an eigenvalue, or of its transpose, in y; all else is zero."""
    i: cython.Py_ssize_t
    a: cython.double = H[k * n + k]
    b: cython.double
    c: cython.double
    d: cython.double
    for i in range(2 * n):
        y[i] = 0.0
    y[2 * k] = 1.0
    if value.imag == 0.0:
        return
    b, c, d = H[k * n + k + 1], H[(k + 1) * n + k], H[(k + 1) * n + k + 1]
    if across:
        b, c = c, b
    if fabs(b) >= fabs(c):  # (b, λ − a), else (λ − d, c)
        y[2 * k], y[2 * k + 1] = 1.0, 0.0
        y[2 * k + 2], y[2 * k + 3] = (value.real - a) / b, value.imag / b
    else:
        y[2 * k], y[2 * k + 1] = (value.real - d) / c, value.imag / c
        y[2 * k + 2], y[2 * k + 3] = 1.0, 0.0


def _upwards(H, n, k, value, least, y):
    """The right vector of the eigenvalue of the block at k, row by row above it."""
    i: cython.Py_ssize_t = k - 1
    j: cython.Py_ssize_t
    row: cython.Py_ssize_t
    beyond: cython.Py_ssize_t = k + (1 if value.imag == 0.0 else 2)
    below: cython.double
    _null(H, n, k, value, False, y)
    while i >= 0:
        two: cython.bint = i > 0 and H[i * n + i - 1] != 0.0
        for row in range(i - 1 if two else i, i + 1):
            y[2 * row] = y[2 * row + 1] = 0.0
            for j in range(i + 1, beyond):
                y[2 * row] -= H[row * n + j] * y[2 * j]
                y[2 * row + 1] -= H[row * n + j] * y[2 * j + 1]
        if two:
            below = H[i * n + i - 1]
            _solve_two(
                H[(i - 1) * n + i - 1], H[(i - 1) * n + i], below, H[i * n + i], value, least, y + 2 * i - 2,
                y + 2 * i)  # fmt: skip
            i -= 1
        else:
            _over(y + 2 * i, H[i * n + i] - value.real, -value.imag, least)
        _kept_small(y, n)
        i -= 1


def _downwards(H, n, k, value, least, y):
    """The left vector of the eigenvalue of the block at k, column by column beyond it."""
    i: cython.Py_ssize_t = k + (1 if value.imag == 0.0 else 2)
    j: cython.Py_ssize_t
    column: cython.Py_ssize_t
    _null(H, n, k, value, True, y)
    while i < n:
        two: cython.bint = i < n - 1 and H[(i + 1) * n + i] != 0.0
        for column in range(i, i + 2 if two else i + 1):
            y[2 * column] = y[2 * column + 1] = 0.0
            for j in range(k, i):
                y[2 * column] -= H[j * n + column] * y[2 * j]
                y[2 * column + 1] -= H[j * n + column] * y[2 * j + 1]
        if two:
            _solve_two(
                H[i * n + i], H[(i + 1) * n + i], H[i * n + i + 1], H[(i + 1) * n + i + 1], value, least, y + 2 * i,
                y + 2 * i + 2)  # fmt: skip
            i += 1
        else:
            _over(y + 2 * i, H[i * n + i] - value.real, -value.imag, least)
        _kept_small(y, n)
        i += 1


def _solve_two(a, b, c, d, value, least, y, z):
    """Solve [[a − λ, b], [c, d − λ]] for y and z, which replace the right sides: by elimination with the largest entry
    as the first pivot; where the second is smaller than rounding, rounding takes its place."""
    i: cython.int
    p: cython.int = 0
    m = cython.declare(cython.double[8])
    f = cython.declare(cython.double[2])
    u = cython.declare(cython.double[2])
    w = cython.declare(cython.double[2])
    m[0], m[2], m[4], m[6] = a - value.real, b, c, d - value.real
    m[1], m[3], m[5], m[7] = -value.imag, 0.0, 0.0, -value.imag
    for i in range(4):
        if max(fabs(m[2 * i]), fabs(m[2 * i + 1])) > max(fabs(m[2 * p]), fabs(m[2 * p + 1])):
            p = i
    pivot: cython.p_double = m + 2 * p
    beside: cython.p_double = m + 2 * (p ^ 1)  # in the row of the pivot, in its column, and the last entry
    below: cython.p_double = m + 2 * (p ^ 2)
    last: cython.p_double = m + 2 * (p ^ 3)
    mine: cython.p_double = y if p < 2 else z  # right sides of the row of the pivot and of the other one
    other: cython.p_double = z if p < 2 else y
    f[0], f[1] = below[0], below[1]
    _over(f, pivot[0], pivot[1], least)
    u[0] = last[0] - (f[0] * beside[0] - f[1] * beside[1])
    u[1] = last[1] - (f[0] * beside[1] + f[1] * beside[0])
    w[0] = other[0] - (f[0] * mine[0] - f[1] * mine[1])
    w[1] = other[1] - (f[0] * mine[1] + f[1] * mine[0])
    _over(w, u[0], u[1], least)
    f[0] = mine[0] - (beside[0] * w[0] - beside[1] * w[1])
    f[1] = mine[1] - (beside[0] * w[1] + beside[1] * w[0])
    _over(f, pivot[0], pivot[1], least)
    if p % 2:  # the pivot is in the second column
        y[0], y[1], z[0], z[1] = w[0], w[1], f[0], f[1]
    else:
        y[0], y[1], z[0], z[1] = f[0], f[1], w[0], w[1]


def _over(y, re, im, least):
    """Divide a complex number by another one, which is at least so large."""
    size: cython.double = max(fabs(re), fabs(im))
    one: cython.double
    square: cython.double
    if size < least:
        re, im, size = least, 0.0, least
    re, im = re / size, im / size
    square = re * re + im * im
    one = (y[0] * re + y[1] * im) / square / size
    y[1] = (y[1] * re - y[0] * im) / square / size
    y[0] = one


def _kept_small(y, n):
    """Scale a vector down that has outgrown its numbers."""
    i: cython.Py_ssize_t
    most: cython.double = 0.0
    for i in range(2 * n):
        most = max(most, fabs(y[i]))
    if most > LARGE:
        for i in range(2 * n):
            y[i] /= most


def eigen(A, left: cython.bint, right: cython.bint):
    """For Python: eigenvalues, left and right vectors as rows (None where not asked for); None if none were found."""
    import numpy as np

    A = np.ascontiguousarray(A, dtype=float)
    n: cython.Py_ssize_t = len(A)
    values = np.empty(n, dtype=complex)
    lefts, rights = (np.empty((n, n), dtype=complex) if wanted else None for wanted in (left, right))
    room = np.empty(schur_room(n))
    if not eigenvalues(
        _numbers(A), n, _complex(values), _complex(lefts), _complex(rights), _numbers(room),
    ):  # fmt: skip
        return None
    return values, lefts, rights


@cython.cfunc
def _numbers(array) -> cython.p_double:
    return cython.cast(cython.p_double, cython.cast(cython.size_t, array.ctypes.data))


@cython.cfunc
def _complex(array) -> cython.p_doublecomplex:
    if array is None:
        return cython.NULL
    return cython.cast(cython.p_doublecomplex, cython.cast(cython.size_t, array.ctypes.data))
