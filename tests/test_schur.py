"""Eigenvalues and vectors by the kernel's QR algorithm, against 40 digits, residuals and LAPACK."""

import mpmath as mp
import numpy as np
import pytest

from pfaff.kernels.balancing import scales
from pfaff.kernels.schur import eigen

KINDS = ("full", "badly scaled", "sparse", "lightly damped")


def random_matrix(kind, n, generator):
    A = generator.standard_normal((n, n))
    if kind == "badly scaled":
        return A * 10.0 ** generator.uniform(-6, 6, (n, 1)) / 10.0 ** generator.uniform(-6, 6, (1, n))
    if kind == "sparse":  # often reducible, with zeros that are multiple
        return np.where(generator.random((n, n)) < 0.4, A, 0)
    if kind == "lightly damped":
        return np.block([[np.zeros((n, n)), np.eye(n)], [-np.diag(generator.uniform(1, 9, n)), 0.01 * A]])
    return A


@pytest.mark.parametrize("kind", KINDS)
def test_vectors_leave_no_more_than_rounding(kind):
    generator = np.random.default_rng(11)
    for _ in range(150):
        A = random_matrix(kind, int(generator.integers(1, 24)), generator)
        values, left, right = eigen(A, True, True)
        units = scales(A)
        even = A * units / units[:, None]
        for value, p, q in zip(values, left * units, right / units, strict=True):
            assert np.linalg.norm(even @ q - value * q) <= 2e-14 * np.linalg.norm(even) * np.linalg.norm(q)
            assert np.linalg.norm(p @ even - value * p) <= 2e-14 * np.linalg.norm(even) * np.linalg.norm(p)
        np.testing.assert_allclose(np.linalg.norm(right, axis=1), 1, rtol=1e-13)
        np.testing.assert_allclose(np.linalg.norm(left, axis=1), 1, rtol=1e-13)


@pytest.mark.parametrize("kind", KINDS[:2])
def test_values_agree_with_forty_digits(kind):
    generator = np.random.default_rng(5)
    for n in (2, 3, 5, 8):
        A = random_matrix(kind, n, generator)
        values, left, right = eigen(A, True, True)
        units = scales(A)
        even = A * units / units[:, None]
        with mp.workdps(40):
            exact = np.array([complex(each) for each in mp.eig(mp.matrix(A.tolist()), left=False, right=False)])
        for value, p, q in zip(values, left, right, strict=True):
            nearest = exact[np.abs(exact - value).argmin()]
            condition = np.linalg.norm(p * units) * np.linalg.norm(q / units) / abs(p @ q)  # to first order
            assert abs(value - nearest) < 10 * n * np.finfo(float).eps * np.linalg.norm(even) * condition


def test_pairs_stand_side_by_side_and_vectors_do_not_change_values():
    generator = np.random.default_rng(2)
    for n in range(1, 16):
        A = generator.standard_normal((n, n))
        values, left, right = eigen(A, True, True)
        k = 0
        while k < n:
            if values[k].imag:
                assert values[k].imag > 0
                assert values[k + 1] == values[k].conjugate()
                np.testing.assert_array_equal(right[k + 1], right[k].conj())
                np.testing.assert_array_equal(left[k + 1], left[k].conj())
                k += 1
            k += 1
        alone, none, nothing = eigen(A, False, False)
        assert none is nothing is None
        np.testing.assert_allclose(np.sort_complex(alone), np.sort_complex(values), atol=1e-12)


@pytest.mark.parametrize("n", [1, 2, 3, 4, 7, 12, 40])
def test_hard_matrices(n):
    cyclic = np.roll(np.eye(n), 1, axis=0)  # shifts by eigenvalues of the corner lead nowhere
    values = eigen(cyclic, False, False)[0]
    roots = np.exp(2j * np.pi * np.arange(n) / n)
    assert max(np.abs(values - root).min() for root in roots) < 1e-13
    for matrix in (np.zeros((n, n)), np.eye(n)):
        found, left, right = eigen(matrix, True, True)
        np.testing.assert_array_equal(found, np.diag(matrix))
        assert np.isfinite(left).all()
        assert np.isfinite(right).all()
    jordan = np.eye(n, k=1)
    found, _, right = eigen(jordan, True, True)
    assert np.abs(found).max() == 0
    np.testing.assert_allclose(np.abs(right @ jordan.T).max(), 0, atol=1e-15)


def test_what_is_no_number_has_no_eigenvalues_and_ends():
    for bad in (np.nan, np.inf):
        matrix = np.eye(5)
        matrix[1, 3] = bad
        assert eigen(matrix, True, True) is None


def skew(matrix):
    return np.triu(matrix, 1) - np.triu(matrix, 1).T


def test_skew_matrices_have_frequencies():
    """Whose subdiagonal entries become negligible beside diagonal ones that are rounding."""
    generator = np.random.default_rng(1949)
    chains = [(np.eye(n, k=1) - np.eye(n, k=-1)) / 2 for n in range(2, 60)]
    rings = [(np.roll(np.eye(n), 1, 0) - np.roll(np.eye(n), -1, 0)) / 2 for n in range(3, 60)]
    few = [skew(np.array(entries, float)) for entries in np.ndindex(3, 3, 3, 3, 3, 3) for entries in [_square(entries)]]
    for A in (*chains, *rings, *few, *(skew(generator.standard_normal((n, n))) for n in range(2, 50))):
        values, _, right = eigen(A, False, True)
        assert np.abs(values.real).max() < 1e-13 * len(A)
        np.testing.assert_allclose(np.sort(values.imag), np.sort(np.linalg.eigvals(A).imag), atol=1e-13 * len(A))
        assert np.abs(A @ right.T - right.T * values).max() < 1e-13 * len(A)


def _square(entries):
    matrix = np.zeros((4, 4))
    matrix[np.triu_indices(4, 1)] = np.array(entries) - 1
    return matrix


def test_entries_of_any_size_keep_their_partners():
    for matrix, expected in (
        ([[0, 1e200], [1e-200, 0]], [-1, 1]),
        ([[0, 1e160, 0], [1e-160, 0, 0], [0, 0, 3]], [-1, 1, 3]),
        ([[1e300, 0], [1e299, 3e300]], [1e300, 3e300]),
    ):
        values = eigen(np.array(matrix, float), True, True)[0]
        np.testing.assert_allclose(np.sort(values.real), expected, rtol=1e-14)
