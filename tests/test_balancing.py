"""Units in which the rows and columns of a matrix are alike, against LAPACK's."""

import numpy as np
import pytest

from pfaff.algebra.bordering import balanced
from pfaff.kernels.balancing import scales


def lapack(matrix):
    from scipy.linalg.lapack import dgebal

    return dgebal(matrix, scale=1)[3]


def random_matrices(many, decades):
    generator = np.random.default_rng(7)
    for _ in range(many):
        n = generator.integers(1, 12)
        units = 10.0 ** generator.uniform(-decades, decades, (2, n))
        full = generator.random((n, n)) < generator.uniform(0.3, 1)
        yield generator.standard_normal((n, n)) * units[0][:, None] * units[1] * full


@pytest.mark.parametrize("decades", [1, 12])
def test_units_are_those_of_lapack(decades):
    for matrix in random_matrices(300, decades):
        np.testing.assert_array_equal(scales(matrix), lapack(matrix))


def test_units_are_powers_of_two_and_even_out_rows_and_columns():
    for matrix in random_matrices(300, 5):
        units = scales(matrix)
        assert (np.frexp(units)[0] == 0.5).all()
        even = matrix * units / units[:, None]
        rows, columns = np.linalg.norm(even, axis=1), np.linalg.norm(even, axis=0)
        both = (rows > 0) & (columns > 0)
        # No power of two would shorten a row and its column together by a twentieth.
        for f in (2.0, 0.5):
            assert (rows[both] / f + columns[both] * f >= 0.94 * (rows + columns)[both]).all()


def test_units_do_not_depend_on_those_of_the_statement():
    generator = np.random.default_rng(3)
    matrix, units = generator.standard_normal((6, 6)), 2.0 ** generator.integers(-40, 40, 6)
    even, others = balanced(matrix)[0], balanced(matrix * units / units[:, None], widest=2.0**200)[0]
    np.testing.assert_allclose(np.linalg.norm(even), np.linalg.norm(others), rtol=0.2)


@pytest.mark.parametrize("size", [1e-300, 1e-160, 1e160, 1e300])
def test_units_at_the_limits_of_numbers(size):
    matrix = np.array([[1.0, size], [1 / size, 2.0]])
    units = scales(matrix)
    even = matrix * units / units[:, None]
    assert np.isfinite(units).all()
    assert np.isfinite(even).all()
    assert np.abs(even).max() < 4


def test_units_of_nothing_and_of_what_is_no_matrix():
    assert scales(np.zeros((0, 0))).shape == (0,)
    np.testing.assert_array_equal(scales(np.zeros((3, 3))), np.ones(3))
    with pytest.raises(ValueError, match="not finite"):
        scales(np.array([[np.nan]]))
    with pytest.raises(ValueError, match="square"):
        scales(np.zeros((2, 3)))
