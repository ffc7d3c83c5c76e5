"""Linear algebra of kernels: against NumPy and mpmath, for matrices of any size and scale, and singular ones."""

import mpmath
import numpy as np
import pytest

from pfaff.kernels.linear import Python as linear

SIZES = (1, 2, 3, 4, 5, 7, 8, 11, 12, 24, 25, 31, 48, 49, 70)
SCALES = (1.0, 1e-290, 1e290)
EPS = np.finfo(float).eps


def matrix(n, scale=1.0, seed=0):
    return np.random.default_rng(seed + n).standard_normal((n, n)) * scale


def factorised(A):
    """Factors of a matrix given by rows, with pivots and the sign of the determinant."""
    factors, pivots = A.T.copy(), np.zeros(len(A), dtype=np.int32)
    return factors, pivots, linear.factorised(factors, pivots)


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("n", SIZES)
def test_factors_multiply_to_the_matrix_and_give_the_sign_of_its_determinant(n, scale):
    A = matrix(n, scale)
    factors, pivots, sign = factorised(A)
    lower, upper = np.tril(factors.T, -1) + np.eye(n), np.triu(factors.T)
    rows = np.arange(n)
    for k, p in enumerate(pivots - 1):
        rows[[k, p]] = rows[[p, k]]
    assert np.abs(lower).max() == 1
    assert np.abs(lower @ (upper / scale) - A[rows] / scale).max() < 8 * n * EPS
    assert sign == np.linalg.slogdet(A)[0]


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("columns", [1, 4, 6])
@pytest.mark.parametrize("n", SIZES)
def test_solutions_leave_residuals_of_rounding(n, columns, scale):
    A, b = matrix(n, scale), np.random.default_rng(1).standard_normal((columns, n))
    factors, pivots, _ = factorised(A)
    for transposed, M in ((False, A), (True, A.T)):
        x = b.copy()
        linear.substituted(factors, pivots, x, transposed)
        X = x * scale
        assert np.abs(X @ (M / scale).T - b).max() < 8 * n * EPS * np.abs(X).max()


@pytest.mark.parametrize("A", [np.zeros((3, 3)), np.ones((2, 2)), np.ones((60, 60)), np.diag([1.0, 0.0, 2.0])])
def test_exactly_singular_matrices_have_no_sign(A):
    assert factorised(A)[2] == 0


@pytest.mark.parametrize("n", [5, 40, 60])
def test_a_column_of_zeros_is_singular_wherever_it_stands(n):
    for k in (0, n // 2, n - 1):
        A = matrix(n)
        A[:, k] = 0
        assert factorised(A)[2] == 0


def test_nearly_singular_matrices_keep_the_sign_that_fifty_digits_give():
    beyond_rounding = 0
    for k in range(20):
        A = matrix(6, seed=k)
        A[-1] = A[:-1].sum(axis=0) + 1e-12 * matrix(6, seed=90 + k)[0]
        with mpmath.workdps(50):
            exact = mpmath.det(mpmath.matrix(A.tolist()))
            least = abs(exact) / np.prod(np.linalg.svd(A)[1][:-1])  # singular value
        if least > 10 * EPS * np.linalg.norm(A):
            beyond_rounding += 1
            assert factorised(A)[2] == mpmath.sign(exact)
    assert beyond_rounding > 10


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("n", [1, 2, 3, 9, 24, 25, 40])
def test_complex_solutions(n, scale):
    A, b = (matrix(n) + 1j * matrix(n, seed=5)) * scale, matrix(n)[0] + 1j * matrix(n)[-1]
    x = b.copy()
    linear.solve_complex(A.T.copy(), np.zeros(n, dtype=np.int32), x)
    X = x * scale
    assert np.abs((A / scale) @ X - b).max() < 8 * n * EPS * np.abs(X).max()


def test_a_singular_complex_matrix_gives_no_numbers():
    for n in (3, 30):
        x = np.ones(n, dtype=complex)
        linear.solve_complex(np.zeros((n, n), dtype=complex), np.zeros(n, dtype=np.int32), x)
        assert not np.isfinite(x).all()


def eigen(A, vectors=True):
    n = len(A)
    values, left, right = np.empty(n, dtype=complex), np.empty((n, n), dtype=complex), np.empty((n, n), dtype=complex)
    linear.eigen(A, values, left if vectors else None, right if vectors else None, np.empty(linear.eigen_room(n)))
    return values, left, right


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("n", [1, 2, 3, 8, 30])
def test_eigenvalues_and_vectors_of_both_sides(n, scale):
    A = matrix(n, scale)
    values, left, right = eigen(A)
    by_numpy = np.linalg.eigvals(A)
    assert all(np.abs(by_numpy - each).min() < 1e-12 * scale * n for each in values)
    B, Λ = A / scale, values / scale
    # Vectors of two rows are not normalised.
    left, right = (each / np.abs(each).max(axis=1)[:, None] for each in (left, right))
    assert np.abs(left @ B - Λ[:, None] * left).max() < 100 * n * EPS
    assert np.abs(right @ B.T - Λ[:, None] * right).max() < 100 * n * EPS
    assert (eigen(A, vectors=False)[0] == values).all() or n > 2


def test_eigenvalues_of_two_rows_lose_nothing_by_cancellation():
    A = np.array([[1e8, 1.0], [1.0, 2e-8]])  # whose smaller eigenvalue is 1e-8 after eight digits cancel
    with mpmath.workdps(50):
        exact = sorted(float(mpmath.re(each)) for each in mpmath.eig(mpmath.matrix(A.tolist()), right=False))
    assert sorted(eigen(A)[0].real) == pytest.approx(exact, rel=4 * EPS)


@pytest.mark.parametrize(
    "A", [[[2, 1], [0, 2]], [[2, 0], [1, 2]], [[3, 0], [0, 3]], [[1, 0], [0, 2]], [[0, 1], [-1, 0]]]
)
def test_vectors_of_two_rows_in_special_cases(A):
    A = np.array(A, dtype=float)
    values, left, right = eigen(A)
    assert np.abs(left).max(axis=1).min() > 0
    assert (left @ A == values[:, None] * left).all()
    assert (right @ A.T == values[:, None] * right).all()


@pytest.mark.parametrize("n", [1, 2, 7, 40])
def test_positive_definite_matrices_are_told_from_others(n):
    A = matrix(n)
    H = A @ A.T + np.eye(n)
    factor = H.copy()
    assert linear.cholesky(factor)
    lower = np.tril(factor)
    assert np.abs(lower @ lower.T - H).max() < 8 * n * EPS * np.abs(H).max()
    assert not linear.cholesky(H - 2 * np.linalg.eigvalsh(H)[0] * np.eye(n))


@pytest.mark.parametrize("scale", [1.0, 1e-100, 1e100])
def test_balanced_rows_and_columns_are_alike_and_scales_are_powers_of_two_about_one(scale):
    n, D = 7, 10.0 ** np.array([3, -5, 0, 8, -2, 1, 4])
    A = np.abs(matrix(n, scale)) * D[:, None] / D
    scales = np.empty(n)
    linear.even_scales(A, scales, np.empty(n * n))
    balanced = A * scales / scales[:, None]
    ratio = np.linalg.norm(balanced, axis=0) / np.linalg.norm(balanced, axis=1)
    assert (ratio < 4).all()
    assert (ratio > 1 / 4).all()
    assert (np.frexp(scales)[0] == 0.5).all()
    assert np.median(scales) == 1


def test_what_is_not_finite_has_no_eigenvalues():
    for n in (2, 3, 20):
        for value in (np.nan, np.inf):
            A = matrix(n)
            A[-1, 0] = value
            assert not np.isfinite(eigen(A)[0]).any()


def test_pivots_of_singular_matrices_lead_nowhere_else():
    """Who substitutes all the same stays within the right side."""
    for bad in (np.zeros((5, 5)), np.full((5, 5), np.nan), np.diag([1.0, 2, 0, 3, 4])):
        pivots = np.full(5, 2**30, dtype=np.int32)
        assert linear.factorised(np.array(bad), pivots) == 0
        assert ((pivots >= 1) & (pivots <= 5)).all()
