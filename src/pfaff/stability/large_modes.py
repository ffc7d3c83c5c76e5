"""Modes of sparse multiplier pencils: bordered solves, and eigenvalues by shift-invert Arnoldi iterations."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import ArpackError, ArpackNoConvergence, LinearOperator, eigs

from pfaff.errors import ConvergenceError
from pfaff.flow.sparse_pencil import SparseLinearisation, factorised

SMALL = 80  # an assembly of fewer coordinates is cheaper by dense eigenvalues of the same operator
UNRESOLVED = 1e-7  # shift-inverted eigenvalues below this, relative to the largest, are rounding
ARNOLDI = 1e-11  # residual of Arnoldi's method, relative to the eigenvalue
REFINED = 2  # steps of iterative refinement, with residuals in the precision of the pencil
RESTARTS = {float: 200, complex: 8}  # of Arnoldi's method; complex shifts may face a point of accumulation


class Border:
    """A row and a column that make a pencil with one null vector regular: unit vectors, so that it stays sparse."""

    def __init__(self, mode: np.ndarray, equation: int | None = None) -> None:
        self.coordinate = int(np.abs(mode).argmax())
        self.equation = self.coordinate if equation is None else equation
        self._left: np.ndarray | None = None

    @classmethod
    def near(cls, pencil: sparse.csc_array, mode: np.ndarray) -> Border:
        """The border at the largest components of the right null vector and, by inverse iteration, of the left one,
        which may vanish where the right one is largest."""
        factors = factorised(pencil)
        left: np.ndarray = np.random.default_rng(1949).uniform(-1, 1, pencil.shape[0]).astype(pencil.dtype)
        for _ in range(REFINED):
            left = factors.solve(left / np.abs(left).max(), "T")
        return cls(mode, int(np.abs(left[: len(mode)]).argmax()))

    def factorised(self, pencil: sparse.csc_array) -> Callable[[np.ndarray | None], tuple[np.ndarray, Any]]:
        """(v, g) with P v + e_i g = right and v_j = 0; without a right-hand side, P v + e_i g = 0 and v_j = 1.

        The pencil may have more digits than the solver.
        """
        total, around, kind = pencil.shape[0], self._around(pencil), complex if pencil.dtype.kind == "c" else float
        factors, wide = factorised(around.astype(kind)), around.tocsr()
        unit = np.zeros(total + 1, dtype=kind)
        unit[-1] = 1.0
        self._left = factors.solve(unit, "T")[:-1]

        def solve(right: np.ndarray | None) -> tuple[np.ndarray, Any]:
            wanted = unit if right is None else np.append(right, 0.0).astype(kind)
            z = factors.solve(wanted)
            for _ in range(REFINED):
                z = z + factors.solve((wanted - wide @ z).astype(kind))
            return z[:-1], z[-1]

        return solve

    def _around(self, pencil: sparse.csc_array) -> sparse.csc_array:
        total, place = pencil.shape[0], pencil.indptr[self.coordinate + 1]
        data = np.append(np.insert(pencil.data, place, 1.0), 1.0)
        indices = np.append(np.insert(pencil.indices, place, total), self.equation)
        indptr = np.append(pencil.indptr, pencil.indptr[-1] + 2)
        indptr[self.coordinate + 1 : -1] += 1
        return sparse.csc_array((data, indices, indptr), shape=(total + 1, total + 1))

    def renewed(self, mode: np.ndarray) -> Border:
        """The border at the largest components of the null vectors just found."""
        left = mode if self._left is None else self._left[: len(mode)]
        return Border(mode, int(np.abs(left).argmax()))


def lowest_squares(lin: SparseLinearisation, modes: int) -> tuple[np.ndarray, np.ndarray]:
    """The s = ω² of smallest modulus with K q + s M q + Aᵀp = 0, A q = 0, and their q."""
    n, rows = lin.pattern.size, lin.pattern.rows
    factors, M = factorised(lin.pencil_of_square(0.0)), lin.block("M")

    def inverse(x: np.ndarray) -> np.ndarray:
        return -factors.solve(M @ np.concatenate([x, np.zeros((rows, *x.shape[1:]))]))[:n]

    inverted, vectors = largest(inverse, n, n - rows, modes, float)
    return 1 / inverted, vectors


def nearest_roots(lin: SparseLinearisation, count: int, shift: complex) -> tuple[np.ndarray, np.ndarray]:
    """The ω nearest to a shift with (M ω² + C ω + K) q + Aᵀp = 0, A q = 0, and their q."""
    n, rows = lin.pattern.size, lin.pattern.rows
    kind = complex if np.iscomplex(shift) else float
    shift = shift if kind is complex else float(np.real(shift))
    factors, M = factorised(lin.pencil(shift)), lin.block("M")
    moved = lin.pattern.matrix(lin.data["M"] * shift + lin.data["C"] + lin.data["moving"])

    def inverse(x: np.ndarray) -> np.ndarray:
        q, u = (np.concatenate([part, np.zeros((rows, *x.shape[1:]))]) for part in (x[:n], x[n:]))
        new = factors.solve((M @ u + moved @ q).astype(kind))[:n]
        return np.concatenate([new, shift * new - x[:n]])

    own = len(np.unique(lin.pattern.indices[lin.data["moving"] != 0]))  # rows A q̇ + B q = 0 contribute a root each
    inverted, vectors = largest(inverse, 2 * n, 2 * (n - rows) + own, count, kind)
    return shift - 1 / inverted, vectors[:n]


def largest(
    operator: Callable[[np.ndarray], np.ndarray], size: int, finite: int, count: int, kind: type
) -> tuple[np.ndarray, np.ndarray]:
    """Eigenvalues of largest modulus of an operator, largest first, with eigenvectors: ``count`` by Arnoldi's method.

    For a small operator, all that do not vanish, at most ``finite``. Eigenvalues that crowd a point of accumulation may
    be missing: those that have converged are returned.
    """
    if size <= SMALL or count >= size - 1:
        values, vectors = np.linalg.eig(operator(np.eye(size, dtype=kind)))
        order = np.argsort(-np.abs(values))[:finite]
    else:
        values, vectors = _arnoldi(operator, size, min(count, finite), kind)
        order = np.argsort(-np.abs(values))
    order = order[np.abs(values[order]) > UNRESOLVED * np.abs(values).max()]
    return values[order].astype(complex), vectors[:, order]


def _arnoldi(
    operator: Callable[[np.ndarray], np.ndarray], size: int, count: int, kind: type
) -> tuple[np.ndarray, np.ndarray]:
    start: np.ndarray = np.random.default_rng(1949).uniform(-1, 1, size).astype(kind)
    form = LinearOperator((size, size), matvec=operator, dtype=kind)
    try:
        return eigs(form, k=count, v0=start, tol=ARNOLDI, ncv=max(2 * count + 2, 12), maxiter=RESTARTS[kind])
    except ArpackNoConvergence as partly:
        if len(partly.eigenvalues) >= 2:
            return partly.eigenvalues, partly.eigenvectors
        raise ConvergenceError(f"Arnoldi's method did not find {count} eigenvalues: ask for fewer modes") from partly
    except ArpackError as failed:  # eigenvalues so far apart that rounding leaves no order among them
        raise ConvergenceError(f"Arnoldi's method failed to find {count} eigenvalues: ask for fewer modes") from failed
