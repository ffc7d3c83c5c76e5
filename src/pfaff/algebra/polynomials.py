"""Matrix polynomials and their eigenvalues: values, first-order forms, order, repeated ones."""

from __future__ import annotations

import numpy as np

ALIKE = 1e-9  # relative distance within which eigenvalues are equal, and relative size of singular values that are zero
CLOSED = 1e-6  # largest sum of all imaginary parts, relative to the least, if complex ones come in pairs

Units = tuple[np.ndarray, np.ndarray]  # of rows and of columns


def repeated(values: np.ndarray, sizes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """For each value, the index of the first that equals it, and how many equal ones come before it, as long as its
    matrix has as many null vectors."""
    same = np.abs(values[:, None] - values[None]) <= ALIKE * np.abs(values)[:, None]
    before, first = np.tril(same, -1).sum(axis=1), same.argmax(axis=1)
    nullity = (sizes <= ALIKE * sizes[:, :1]).sum(axis=1)
    alone = before >= nullity[first]
    return np.where(alone, np.arange(len(values)), first), np.where(alone, 0, before)


def any_alike(values: np.ndarray) -> bool:
    """Whether any two values are equal."""
    same = np.abs(values[:, None] - values) <= ALIKE * np.abs(values)
    return bool(np.count_nonzero(same) > len(values))


def nearly_null(matrices: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
    """Vectors that make left·P·right smallest, and that number, for nearly singular matrices in even units.

    They are the row and the column of the largest entry of the inverse, which is the product of both vectors up to what
    P leaves regular; their own largest entries are one. None where there is no inverse.
    """
    if not matrices.size:
        return None
    try:
        inverse = np.linalg.inv(matrices)
    except np.linalg.LinAlgError:
        return None
    each = np.arange(len(matrices))
    row, column = np.divmod(np.abs(inverse).reshape(len(matrices), -1).argmax(axis=1), matrices.shape[2])
    largest = inverse[each, row, column, None]
    if not np.isfinite(largest).all():
        return None
    ahead, right = inverse[each, row] / largest, inverse[each, :, column] / largest
    return ahead.conj(), (ahead[:, None, :] @ matrices @ right[:, :, None])[:, 0, 0], right


def evened(sizes: np.ndarray) -> Units:
    """Units of the rows and columns of each matrix in which the largest entry of every row and column is one.

    Rows and columns share what is uneven by square roots, as a symmetric matrix wants it (Ruiz, Rutherford Appleton
    Laboratory RAL-TR-2001-034), and rows go before columns in what is left.
    """
    rows, columns = np.sqrt(_largest(sizes, 2)), np.sqrt(_largest(sizes, 1))
    left = sizes / (rows[:, :, None] * columns[:, None, :])
    uneven = _largest(left, 2)
    return 1 / (rows * uneven), 1 / (columns * _largest(left / uneven[:, :, None], 1))


def _largest(sizes: np.ndarray, axis: int) -> np.ndarray:
    """The largest entry of each row (axis 2) or column; one where all are zero."""
    largest = np.maximum.reduce(sizes, axis=axis, initial=0.0)
    largest[largest == 0.0] = 1.0
    return largest


def diagonalising(C: np.ndarray) -> Units:
    """Elimination with complete pivoting from both sides: left · C · right is diagonal, its large entries first."""
    k = len(C)
    rest, left, right = C.copy(), np.eye(k), np.eye(k)
    for j in range(k):
        i, m = np.unravel_index(np.abs(rest[j:, j:]).argmax(), (k - j, k - j))
        for matrix in (rest, left):
            matrix[[j, j + i]] = matrix[[j + i, j]]
        for matrix in (rest, right):
            matrix[:, [j, j + m]] = matrix[:, [j + m, j]]
        if not rest[j, j]:
            break
        down, across = rest[j + 1 :, j] / rest[j, j], rest[j, j + 1 :] / rest[j, j]
        left[j + 1 :] -= np.outer(down, left[j])
        right[:, j + 1 :] -= np.outer(right[:, j], across)
        rest[j + 1 :, j + 1 :] -= np.outer(rest[j + 1 :, j], across)
        rest[j + 1 :, j] = rest[j, j + 1 :] = 0.0
    return left, right


def horner(coefficients: tuple[np.ndarray, ...], value: complex | np.ndarray) -> np.ndarray:
    value = np.asarray(value)[..., None, None]
    if len(coefficients) == 1:
        return coefficients[0] + 0 * value
    total = coefficients[-1]
    for each in reversed(coefficients[:-1]):
        total = total * value + each
    return total


def closed(values: np.ndarray) -> bool:
    """Whether complex values come in pairs."""
    turning = np.abs(values.imag[values.imag != 0])
    return bool(abs(values.imag.sum()) <= CLOSED * turning.min(initial=np.inf))


def by_modulus(values: np.ndarray) -> np.ndarray:
    return values[np.argsort(np.abs(values), kind="stable")]


def companion(last: np.ndarray) -> np.ndarray:
    """[[0, I], …, last]: the first-order form of x^(d) = last · (x, x', …)."""
    k, size = last.shape
    matrix = np.eye(size, k=k)
    matrix[size - k :] = last
    return matrix


def eigenvalues_of(matrix: np.ndarray) -> np.ndarray:
    """Eigenvalues by the QR algorithm; by the QZ algorithm where QR does not end, as it may for equal pairs."""
    try:
        return np.linalg.eigvals(matrix).astype(complex)
    except np.linalg.LinAlgError:
        if not np.isfinite(matrix).all():
            raise
    from scipy.linalg import eigvals

    return eigvals(matrix, np.eye(len(matrix)), check_finite=False)


def distances(values: np.ndarray, others: np.ndarray) -> np.ndarray:
    """From each value to the nearest of the others."""
    apart = np.sort(np.abs(values[:, None] - others[None]), axis=1)
    return apart[:, 1] if apart.shape[1] > 1 else np.full(len(values), np.inf)
