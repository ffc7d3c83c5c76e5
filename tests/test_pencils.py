"""Matrix polynomials of small motions: eigenvalues with errors, and the loads at which something happens to them."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pfaff.algebra.pencil import Pencil
from pfaff.stability.candidates import DISTANCE, all_roots, damped_sums, near_meetings, pair_sums, real_among
from pfaff.stability.crossings import sharpened
from pfaff.stability.stretches import Stretch, straight

sizes = st.integers(min_value=1, max_value=5)
seeds = st.integers(min_value=0, max_value=10**6)


def random_matrices(seed: int, n: int, count: int) -> list[np.ndarray]:
    return list(np.random.default_rng(seed).normal(size=(count, n, n)))


def positive(matrix: np.ndarray) -> np.ndarray:
    return matrix @ matrix.T + np.eye(len(matrix))


def exact_eigenvalues(pencil: Pencil) -> np.ndarray:
    """In fifty digits, from the companion matrix."""
    K, C, M = pencil.coefficients
    n = len(K)
    with mpmath.workdps(50):
        K, C, M = (mpmath.matrix(matrix.tolist()) for matrix in (K, C, M))
        J = mpmath.zeros(2 * n)
        J[:n, n:] = mpmath.eye(n)
        J[n:, :n], J[n:, n:] = -mpmath.inverse(M) * K, -mpmath.inverse(M) * C
        return np.array([complex(value) for value in mpmath.eig(J, left=False, right=False)])


def farthest(found: np.ndarray, expected: np.ndarray) -> np.ndarray:
    return np.array([np.abs(expected - value).min() for value in found])


@settings(max_examples=25, deadline=None)
@given(seeds, sizes, st.floats(-9, 9), st.floats(-9, 9))
def test_eigenvalues_are_as_exact_as_they_say(seed, n, damping, stiffness):
    """Whatever the units of damping and stiffness, and whether damping holds one direction or all."""
    K, C, M = random_matrices(seed, n, 3)
    C = 10**damping * (positive(C) if seed % 2 else np.outer(C[0], C[0]))
    pencil = Pencil((10**stiffness * K, C, positive(M)))
    modes = pencil.modes()
    assert (farthest(modes.values, exact_eigenvalues(pencil)) <= 4 * modes.errors + 1e-15 * np.abs(modes.values)).all()
    residual = np.einsum("mij,jm->im", pencil.at(modes.values), modes.vectors)
    terms = Pencil(tuple(np.abs(each) for each in pencil.coefficients)).at(np.abs(modes.values))
    whole = np.einsum("mij,jm->im", terms, np.abs(modes.vectors))
    assert (np.abs(residual).max(axis=0) <= 1e-6 * whole.max(axis=0)).all()


@settings(max_examples=20, deadline=None)
@given(seeds, st.integers(1, 4), st.floats(-40, -4))
def test_growth_rates_of_light_damping_have_digits_of_their_own(seed, n, damping):
    """Of unsymmetric stiffness and damping, against eigenvalues in a hundred digits."""
    generator = np.random.default_rng(seed)
    C, coupling = generator.normal(size=(2, n, n))
    K = np.diag(2.0 ** np.arange(n)) + 0.05 * np.triu(coupling)
    modes = Pencil((K, 10**damping * C, positive(0.1 * coupling))).modes()
    with mpmath.workdps(100):
        K, C, M = (mpmath.matrix(each.tolist()) for each in (K, 10**damping * C, positive(0.1 * coupling)))
        J = mpmath.zeros(2 * n)
        J[:n, n:] = mpmath.eye(n)
        J[n:, :n], J[n:, n:] = -mpmath.inverse(M) * K, -mpmath.inverse(M) * C
        exact = mpmath.eig(J, left=False, right=False)
        nearest = [min(exact, key=lambda each: abs(each - complex(value))) for value in modes.values]
        rates = np.array([float(each.real) for each in nearest])
    assert (np.abs(modes.values.real - rates) <= 4 * modes.growth_errors).all()
    assert np.median(modes.growth_errors / np.abs(rates)) < 1e-11


@settings(max_examples=25, deadline=None)
@given(seeds, sizes)
def test_units_of_coordinates_and_equations_change_nothing(seed, n):
    matrices = random_matrices(seed, n, 3)
    rows, columns = 10.0 ** np.random.default_rng(seed).uniform(-6, 6, size=(2, n))
    plain = Pencil((*matrices[:2], positive(matrices[2])))
    values, scaled = plain.modes(), plain.scaled((rows, columns)).modes()
    assert (farthest(scaled.values, values.values) <= 4 * values.errors + 4 * scaled.errors).all()


def test_equal_eigenvalues_have_vectors_of_their_own():
    modes = Pencil((np.diag([4.0, 4.0, 9.0]), np.zeros((3, 3)), np.eye(3))).modes()
    assert np.linalg.matrix_rank(modes.vectors[:, np.abs(modes.values - 2j) < 1e-9]) == 2


@settings(max_examples=20, deadline=None)
@given(seeds, st.integers(2, 5))
def test_sums_and_relative_distances(seed, n):
    (J,) = random_matrices(seed, n, 1)
    values = np.linalg.eigvals(J)
    i, j = np.triu_indices(n, 1)
    assert farthest(values[i] + values[j], np.linalg.eigvals(pair_sums(J))).max() < 1e-10
    apart = (values[None] - (1 + DISTANCE) * values[:, None]).ravel()
    assert farthest(apart, np.linalg.eigvals(near_meetings(J))).max() < 1e-7


@settings(max_examples=20, deadline=None)
@given(seeds, st.integers(2, 6))
def test_half_of_the_sums_have_all_their_roots(seed, n):
    """ẍ + D ẋ + (A + F B) x = 0 has λ_i + λ_j = 0 at n(n − 1) loads F, which its whole first form has as well."""
    A, B, D = np.array(random_matrices(seed, n, 3))
    half, whole = (
        all_roots([at(A), at(A + B) - at(A)])
        for at in (
            lambda A: damped_sums(A, D),
            lambda A: pair_sums(np.block([[np.zeros((n, n)), np.eye(n)], [-A, -D]])),
        )
    )
    order = [np.argsort(np.abs(each))[: n * (n - 1)] for each in (half, whole)]
    assert len(half) >= n * (n - 1)
    assert farthest(whole[order[1]], half[order[0]]).max() < 1e-6


@settings(max_examples=20, deadline=None)
@given(seeds, st.integers(1, 4), st.integers(1, 3))
def test_roots_of_matrix_polynomials(seed, n, degree):
    """diag(p_i(x)) in other coordinates, with known roots; and beside what is singular everywhere."""
    generator = np.random.default_rng(seed)
    roots = np.sort(generator.uniform(-3, 3, size=(n, degree)))
    polynomials = [np.poly(each)[::-1] for each in roots]
    left, right = generator.normal(size=(2, n + 1, n + 1))
    terms = [left @ np.diag([*(p[k] for p in polynomials), 0.0]) @ right for k in range(degree + 1)]
    found = real_among(all_roots(terms, deficiency=1))
    assert farthest(roots.ravel(), found).max() < 1e-6
    assert (
        farthest(
            roots.ravel(),
            real_among(all_roots([np.diag([p[k] for p in polynomials]) for k in range(degree + 1)])),
        ).max()
        < 1e-9
    )


def linear(first: Pencil, last: Pencil) -> Stretch:
    def there(load: float) -> Pencil:
        pairs = zip(first.coefficients, last.coefficients, strict=True)
        return Pencil(tuple((1 - load) * a + load * b for a, b in pairs))

    found = straight(there, 1.0)
    assert found is not None
    return found


def test_three_kinds_of_crossings_to_rounding():
    """λ² + 2(x − 1/3)λ + 4, λ² + λ + 2 − x, and (λ − 1)² = x − 5: on the axis, through zero, two that meet."""
    one = np.eye(1)
    turning = linear(Pencil((4 * one, -2 / 3 * one, one)), Pencil((4 * one, 4 / 3 * one, one)))
    found = sharpened(turning, "hopf", 0.1 + 2.1j, 0.3, 0.1)
    assert (found.load, found.value) == (pytest.approx(1 / 3, abs=1e-15), pytest.approx(2j, abs=1e-14))
    passing = linear(Pencil((2 * one, one, one)), Pencil((one, one, one)))
    assert sharpened(passing, "zero", 0j, 1.9, 0.5).load == pytest.approx(2, abs=1e-14)
    meeting = linear(Pencil((6 * one, -2 * one, one)), Pencil((5 * one, -2 * one, one)))
    found = sharpened(meeting, "meeting", 1.1 + 0j, 4.9, 0.5)
    assert (found.load, found.value) == (pytest.approx(5, abs=1e-13), pytest.approx(1, abs=1e-7))


def test_what_is_not_linear_is_no_straight_line():
    one = np.eye(1)
    assert straight(lambda load: Pencil(((1 + load + 1e-9 * load**2) * one, one, one)), 1.0) is None


def test_equal_pairs_on_which_the_qr_algorithm_does_not_end():
    """Two oscillators of one frequency under a circulatory force: LAPACK's dhseqr gives up at some of these forces."""
    for force in np.logspace(-17, -5, 400):
        stiffness = np.array([[1.0, -force], [force, 1.0]])
        found = Pencil((stiffness, np.zeros((2, 2)), np.eye(2))).modes()
        exact = np.sqrt(-1 + np.array([1, -1]) * 1j * force)
        away = np.abs(found.values[:, None] - [*exact, *-exact]).min(axis=1)
        assert (away <= 10 * found.errors + 1e-14).all(), force
