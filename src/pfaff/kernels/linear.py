# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
# cython: infer_types=True
"""Linear algebra of small dense matrices: LU factors, solutions, eigenvalues, by plain loops or by LAPACK.

Up to ``OWN`` rows LU factors come from the loops below, which are as fast as LAPACK there and, like those of ``schur``,
do not depend on what a BLAS chooses for a processor. Matrices are given by columns, as LAPACK takes them. SciPy, which
has LAPACK's addresses, is imported by ``ready`` on first use only.
"""

from __future__ import annotations

import cython

if cython.compiled:
    from cython.cimports.cpython.pycapsule import PyCapsule_GetName, PyCapsule_GetPointer
    from cython.cimports.libc.math import copysign, fabs, ilogb, ldexp, rint, sqrt
    from cython.cimports.libc.string import memcpy
    from cython.cimports.pfaff.kernels.arrays import larger
    from cython.cimports.pfaff.kernels.balancing import balance
    from cython.cimports.pfaff.kernels.schur import eigenvalues, schur_room

OWN = cython.declare(cython.Py_ssize_t, 48)  # rows up to which plain loops are not slower than LAPACK, ...
OWN_COMPLEX = cython.declare(cython.Py_ssize_t, 24)  # ... and of complex matrices
LARGEST = cython.declare(cython.double, 1.7976931348623157e308)  # finite number
FAR = cython.declare(cython.int, 300)  # binary exponent up to which products of entries are numbers
OWN_PRODUCT = cython.declare(cython.Py_ssize_t, 512)  # multiplications up to which plain loops are not slower
FEW = cython.declare(cython.Py_ssize_t, 4)  # right sides up to which they are not


@cython.ccall
def ready():
    """Get the addresses of LAPACK's routines, once; whoever calls the functions below calls this first."""
    global dgemm, dgetrf, dgetrs, zgetrf, zgetrs, dpotrf
    if dgemm != cython.NULL:
        return
    from scipy.linalg.cython_blas import __pyx_capi__ as products
    from scipy.linalg.cython_lapack import __pyx_capi__ as known

    dgetrf = cython.cast(Factorise, _routine(known, "dgetrf"))
    dgetrs = cython.cast(Substitute, _routine(known, "dgetrs"))
    zgetrf = cython.cast(FactoriseComplex, _routine(known, "zgetrf"))
    zgetrs = cython.cast(SubstituteComplex, _routine(known, "zgetrs"))
    dpotrf = cython.cast(Cholesky, _routine(known, "dpotrf"))
    dgemm = cython.cast(Multiply, _routine(products, "dgemm"))


def _routine(known, name):
    capsule = known[name]
    return PyCapsule_GetPointer(capsule, PyCapsule_GetName(capsule))


def finite(x, count):
    """Whether all numbers are finite."""
    for i in range(count):
        if not fabs(x[i]) <= LARGEST:
            return False
    return True


def dot(a, b, count):
    """Sum of products, in four sums side by side."""
    s0 = 0.0
    s1 = 0.0
    s2 = 0.0
    s3 = 0.0
    for i in range(0, count - 3, 4):
        s0 += a[i] * b[i]
        s1 += a[i + 1] * b[i + 1]
        s2 += a[i + 2] * b[i + 2]
        s3 += a[i + 3] * b[i + 3]
    for i in range(count - count % 4, count):
        s0 += a[i] * b[i]
    return (s0 + s1) + (s2 + s3)


def multiplied(A, transposed, B, C, m, k, n):
    """C = A B for matrices given by rows, A of m rows and k columns, or given as its transpose; B has n columns."""
    rows: cython.int = m
    inner: cython.int = k
    columns: cython.int = n
    plain: cython.char = 78  # N
    how: cython.char = 84 if transposed else 78  # T or N
    apart: cython.int = m if transposed else k
    one: cython.double = 1.0
    zero: cython.double = 0.0
    if m * k * n > OWN_PRODUCT:  # by columns Cᵀ = Bᵀ Aᵀ
        dgemm(
            cython.address(plain), cython.address(how), cython.address(columns), cython.address(rows),
            cython.address(inner), cython.address(one), B, cython.address(columns), A, cython.address(apart),
            cython.address(zero), C, cython.address(columns))  # fmt: skip
        return
    for i in range(m):
        for j in range(n):
            C[i * n + j] = 0.0
        for l in range(k):
            by = A[l * m + i] if transposed else A[i * k + l]
            if by != 0.0:
                for j in range(n):
                    C[i * n + j] += by * B[l * n + j]


def factorised(A, n, pivots):
    """LU factors, which replace the matrix, in LAPACK's format; returns the sign of the determinant, zero if it is
    singular."""
    size: cython.int = n
    info: cython.int = 0
    sign = 1.0
    if n <= OWN:
        return _eliminated(A, n, pivots)
    dgetrf(cython.address(size), cython.address(size), A, cython.address(size), pivots, cython.address(info))
    if info:
        return 0.0
    for i in range(n):
        sign = copysign(sign, sign * A[i * n + i])
        if pivots[i] != i + 1:
            sign = -sign
    return sign


def _eliminated(A, n, pivots):
    """The same by Gaussian elimination with partial pivoting, four columns at a time."""
    sign = 1.0
    for first in range(0, n, 4):
        last = min(first + 4, n)
        for k in range(first, last):
            a = A + k * n
            p = k
            for i in range(k + 1, n):
                if fabs(a[i]) > fabs(a[p]):
                    p = i
            pivots[k] = cython.cast(cython.int, p + 1)
            if not fabs(a[p]) > 0.0:  # zero, or no number
                for j in range(k, n):
                    pivots[j] = cython.cast(cython.int, j + 1)
                return 0.0
            if p != k:
                sign = -sign
                for j in range(last):
                    _exchange(A + j * n, k, p)
            if a[k] < 0.0:
                sign = -sign
            for i in range(k + 1, n):
                a[i] /= a[k]
            for j in range(k + 1, last):
                column = A + j * n
                _less(column + k + 1, a + k + 1, column[k], n - k - 1)
        for j in range(last, n):
            column = A + j * n
            for k in range(first, last):
                _exchange(column, k, pivots[k] - 1)
            for k in range(first, last):
                for i in range(k + 1, last):
                    column[i] -= A[k * n + i] * column[k]
            _less_four(column + last, A + first * n + last, n, column + first, n - last)
    return sign


def _exchange(x, i, k):
    kept = x[i]
    x[i] = x[k]
    x[k] = kept


def _less(y, a, by, count):
    """y − a·by."""
    for i in range(count):
        y[i] -= a[i] * by


def _less_four(y, a, n, by, count):
    """y less four columns, n apart, times a number each."""
    b = a + n
    c = a + 2 * n
    d = a + 3 * n
    p = by[0]
    q = by[1]
    r = by[2]
    s = by[3]
    for i in range(count):
        y[i] = y[i] - a[i] * p - b[i] * q - c[i] * r - d[i] * s


def substituted(A, n, pivots, right, columns, transposed):
    """Solutions by LU factors for several right sides, which they replace."""
    size: cython.int = n
    many: cython.int = columns
    info: cython.int = 0
    how: cython.char = 84 if transposed else 78  # T or N
    if n <= OWN and columns <= FEW:
        for k in range(columns):
            if transposed:
                _replaced_transposed(A, n, pivots, right + k * n)
            else:
                _replaced(A, n, pivots, right + k * n)
        return
    dgetrs(
        cython.address(how), cython.address(size), cython.address(many), A, cython.address(size), pivots, right,
        cython.address(size), cython.address(info))  # fmt: skip


def _replaced(A, n, pivots, x):
    for k in range(n):
        _exchange(x, k, pivots[k] - 1)
    for first in range(0, n, 4):
        last = min(first + 4, n)
        for k in range(first, last):
            for i in range(k + 1, last):
                x[i] -= A[k * n + i] * x[k]
        if last < n:
            _less_four(x + last, A + first * n + last, n, x + first, n - last)
    last = n
    while last > 0:
        first = max(last - 4, 0)
        for k in range(last - 1, first - 1, -1):
            x[k] /= A[k * n + k]
            for i in range(first, k):
                x[i] -= A[k * n + i] * x[k]
        if first > 0:
            _less_four(x, A + first * n, n, x + first, first)
        last = first


def _replaced_transposed(A, n, pivots, x):
    for k in range(n):
        x[k] = (x[k] - dot(A + k * n, x, k)) / A[k * n + k]
    for k in range(n - 2, -1, -1):
        x[k] -= dot(A + k * n + k + 1, x + k + 1, n - k - 1)
    for k in range(n - 1, -1, -1):
        _exchange(x, k, pivots[k] - 1)


def solve_complex(A, n, pivots, right):
    """The solution with a complex matrix, which is lost; it replaces the right side. No numbers if it is singular."""
    if n <= OWN_COMPLEX:
        _solved_complex(cython.cast(cython.p_double, A), n, cython.cast(cython.p_double, right))
    elif factorised_complex(A, n, pivots):
        substituted_complex(A, n, pivots, right, 1, False)
    else:
        for i in range(2 * n):
            cython.cast(cython.p_double, right)[i] = 0.0 / 0.0


def factorised_complex(A, n, pivots):
    """LU factors of a complex matrix, which replace it; returns whether it is regular."""
    size: cython.int = n
    info: cython.int = 0
    zgetrf(cython.address(size), cython.address(size), A, cython.address(size), pivots, cython.address(info))
    return info == 0


def substituted_complex(A, n, pivots, right, columns, transposed):
    """Solutions by complex LU factors for several right sides, which they replace; transposed without conjugation."""
    size: cython.int = n
    many: cython.int = columns
    info: cython.int = 0
    how: cython.char = 84 if transposed else 78  # T or N
    zgetrs(
        cython.address(how), cython.address(size), cython.address(many), A, cython.address(size), pivots, right,
        cython.address(size), cython.address(info))  # fmt: skip


def _solved_complex(A, n, x):
    """The same by Gaussian elimination, real and imaginary parts side by side."""
    for k in range(n):
        a = A + 2 * k * n
        p = k
        most = 0.0
        for i in range(k, n):
            if fabs(a[2 * i]) + fabs(a[2 * i + 1]) > most:
                most = fabs(a[2 * i]) + fabs(a[2 * i + 1])
                p = i
        if p != k:
            for j in range(k, n + 1):
                y = A + 2 * j * n if j < n else x
                _exchange(y, 2 * k, 2 * p)
                _exchange(y, 2 * k + 1, 2 * p + 1)
        for i in range(k + 1, n):
            _quotient(a + 2 * i, a + 2 * k, a + 2 * i)
        for j in range(k + 1, n + 1):
            y = A + 2 * j * n if j < n else x
            re, im = y[2 * k], y[2 * k + 1]
            for i in range(k + 1, n):
                y[2 * i] -= a[2 * i] * re - a[2 * i + 1] * im
                y[2 * i + 1] -= a[2 * i] * im + a[2 * i + 1] * re
    for k in range(n - 1, -1, -1):
        a = A + 2 * k * n
        _quotient(x + 2 * k, a + 2 * k, x + 2 * k)
        re, im = x[2 * k], x[2 * k + 1]
        for i in range(k):
            x[2 * i] -= a[2 * i] * re - a[2 * i + 1] * im
            x[2 * i + 1] -= a[2 * i] * im + a[2 * i + 1] * re


def _quotient(a, b, out):
    """a/b (Smith 1962), which neither overflows nor underflows where the result does not."""
    re = a[0]
    im = a[1]
    if fabs(b[0]) >= fabs(b[1]):
        ratio = b[1] / b[0]
        size = b[0] + b[1] * ratio
        out[0] = (re + im * ratio) / size
        out[1] = (im - re * ratio) / size
    else:
        ratio = b[0] / b[1]
        size = b[0] * ratio + b[1]
        out[0] = (re * ratio + im) / size
        out[1] = (im * ratio - re) / size


def quotient(a, b):
    """a/b; zero if b is zero."""
    two = cython.declare(cython.doublecomplex[2])
    two[0], two[1] = a, b
    if b == 0.0:
        return 0.0
    at = cython.cast(cython.p_double, two)
    _quotient(at, at + 2, at)
    return two[0]


def modulus(z):
    """|z|."""
    return hypotenuse(z.real, z.imag)


def hypotenuse(a, b):
    """√(a² + b²) by operations that give the same digits everywhere."""
    large = fabs(a)
    small = fabs(b)
    if large < small:
        large, small = small, large
    return large * sqrt(1 + (small / large) * (small / large)) if small > 0.0 else large + small


def cholesky(A, n):
    """Whether a symmetric matrix, given by its lower half row by row, is positive definite; its factor replaces it."""
    size: cython.int = n
    info: cython.int = 0
    how: cython.char = 85  # U: LAPACK reads rows as columns
    dpotrf(cython.address(how), cython.address(size), A, cython.address(size), cython.address(info))
    return info == 0


def even_scales(A, n, scales, work):
    """Powers of two D, one in their middle, for which D⁻¹ A D, given by rows, has rows and columns of like size."""
    i: cython.Py_ssize_t
    middle: cython.int
    memcpy(work, A, 8 * n * n)
    for i in range(n):
        scales[i] = 1.0
    if finite(A, n * n):  # else it has no units
        balance(work, n, scales)
    middle = ilogb(_of_rank(scales, n, (n - 1) // 2)) + ilogb(_of_rank(scales, n, n // 2))
    middle = cython.cast(cython.int, rint(middle / 2.0))
    for i in range(n):
        scales[i] = ldexp(scales[i], -middle)


def _of_rank(x, n, rank):
    """The number of this rank, counted from the smallest as 0."""
    less: cython.Py_ssize_t
    alike: cython.Py_ssize_t
    for i in range(n):
        less = alike = 0
        for j in range(n):
            less += x[j] < x[i]
            alike += x[j] == x[i]
        if less <= rank < less + alike:
            return x[i]
    return 1.0


def eigen_room(n):
    """How many numbers ``eigen`` works on."""
    return schur_room(n)


def eigen(A, n, values, left, right, work):
    """Eigenvalues of a matrix given by rows and, where asked for, left vectors p A = λ p and right ones A q = λ q, as
    rows; no numbers if it has none."""
    i: cython.Py_ssize_t
    largest: cython.double = 0.0
    for i in range(n * n):
        largest = larger(largest, fabs(A[i]))
    if n == 2 and (largest == 0.0 or abs(ilogb(largest)) <= FAR):
        _values_of_two(A, values)
        if left != cython.NULL or right != cython.NULL:
            _vectors_of_two(A, values, left, right)
    elif not eigenvalues(A, n, values, left, right, work):
        for i in range(n):
            values[i].real = values[i].imag = 0.0 / 0.0


def _values_of_two(A, values):
    """Eigenvalues of a matrix of two rows: the one farther from the mean first, the other from their product, without
    cancellation."""
    half = (A[0] - A[3]) / 2
    across = A[1] * A[2]
    square = half * half + across
    if square < 0.0:
        values[0].real = values[1].real = (A[0] + A[3]) / 2
        values[0].imag = sqrt(-square)
        values[1].imag = -values[0].imag
    else:
        far = half + (sqrt(square) if half > 0.0 else -sqrt(square))
        values[0].real = A[3] + far
        values[1].real = A[3] - (across / far if far else 0.0)
        values[0].imag = values[1].imag = 0.0


def _vectors_of_two(A, values, p, q):
    """Left and right eigenvectors of a matrix of two rows, from the row and the column with the larger entries."""
    b = A[1]
    c = A[2]
    upper: cython.doublecomplex
    lower: cython.doublecomplex
    for k in range(2):
        upper, lower = values[k] - A[0], values[k] - A[3]
        four = cython.declare(cython.doublecomplex[4])  # q, then p
        if values[k].imag != 0.0 or modulus(upper) > modulus(lower):  # equal for a pair
            four[0], four[1], four[2], four[3] = b, upper, c, upper
        elif lower != 0.0 or b or c:
            four[0], four[1], four[2], four[3] = lower, c, lower, b
            if lower == 0.0:  # a double eigenvalue without a second vector
                four[0], four[2] = b, c
        else:
            four[0] = four[2] = 1 - k
            four[1] = four[3] = k
        if q != cython.NULL:
            q[2 * k], q[2 * k + 1] = four[0], four[1]
        if p != cython.NULL:
            p[2 * k], p[2 * k + 1] = four[2], four[3]


@cython.cfunc
def _numbers(array) -> cython.p_double:
    return cython.cast(cython.p_double, cython.cast(cython.size_t, array.ctypes.data))


@cython.cfunc
def _places(array) -> cython.p_int:
    return cython.cast(cython.p_int, cython.cast(cython.size_t, array.ctypes.data))


@cython.cfunc
def _complex(array) -> cython.p_doublecomplex:
    """Where complex numbers are; nowhere if there is no array."""
    if array is None:
        return cython.NULL
    return cython.cast(cython.p_doublecomplex, cython.cast(cython.size_t, array.ctypes.data))


class Python:
    """The routines for Python, on contiguous arrays."""

    @staticmethod
    def factorised(A, pivots):
        ready()
        return factorised(_numbers(A), len(A), _places(pivots))

    @staticmethod
    def substituted(A, pivots, right, transposed=False):
        ready()
        substituted(_numbers(A), len(A), _places(pivots), _numbers(right), right.size // len(A), transposed)

    @staticmethod
    def solve_complex(A, pivots, right):
        ready()
        solve_complex(_complex(A), len(A), _places(pivots), _complex(right))

    @staticmethod
    def cholesky(A):
        ready()
        return cholesky(_numbers(A), len(A))

    @staticmethod
    def even_scales(A, scales, work):
        ready()
        even_scales(_numbers(A), len(A), _numbers(scales), _numbers(work))

    @staticmethod
    def eigen(A, values, left, right, work):
        ready()
        eigen(_numbers(A), len(A), _complex(values), _complex(left), _complex(right), _numbers(work))

    @staticmethod
    def eigen_room(n):
        return eigen_room(n)
