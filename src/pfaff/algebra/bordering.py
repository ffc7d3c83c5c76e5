"""Matrices that are singular because solutions come in families: units, ranks, borders, and Newton's method with them.

Where equilibria come in families the Jacobian is singular. Newton's method then keeps to the level set p·x of its
left null vectors p, the first-order form of a conserved quantity, so that one member of the family is selected.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median

import numpy as np

from pfaff.algebra.newtons_method import Newton, newton
from pfaff.algebra.tolerances import AT_REST, NEIGHBOUR, TRANSVERSAL, rank
from pfaff.kernels.balancing import scales

FAINT = 1e-6  # rows below this, relative to the largest, are not scaled up to its size
WIDEST = 1e9  # ratio of units in which a matrix is balanced
FARTHEST = 10.0  # length of a Newton step, relative to 1 + |x|


@dataclass(frozen=True)
class Border:
    """Columns and rows that make [[J, columns], [rows, 0]] regular where J has null vectors, ``left`` and ``right``.

    ``scale`` are units in which the entries of J are comparable: ranks and solutions are taken in them.
    """

    columns: np.ndarray
    rows: np.ndarray
    left: np.ndarray
    right: np.ndarray
    scale: np.ndarray

    @property
    def regular(self) -> bool:
        """Whether J has no null vectors."""
        return not self.columns.shape[1]

    def solve(self, J: np.ndarray, right: np.ndarray) -> np.ndarray:
        """x with J x = right (up to the columns) and rows·x = 0, for one right-hand side or for columns of them."""
        n, k = self.columns.shape
        D = self.scale
        units = D if right.ndim == 1 else D[:, None]
        if self.regular:
            return units * np.linalg.solve(J * D / D[:, None], right / units)
        matrix = np.block(
            [[J * D / D[:, None], self.columns / D[:, None]], [self.rows * D, np.zeros((k, k))]],
        )
        return units * np.linalg.solve(matrix, np.concatenate([right / units, np.zeros((k, *right.shape[1:]))]))[:n]


def balanced(J: np.ndarray, widest: float = WIDEST) -> tuple[np.ndarray, np.ndarray]:
    """D⁻¹ J D with rows and columns of like size, and the diagonal D: the same matrix in better units."""
    if not len(J):
        return J, np.ones(0)
    scale = scales(J)
    # Entries that are zero but for rounding would ask for units without end.
    middle = 2.0 ** round(median(np.log2(scale).tolist()))
    scale = np.minimum(np.maximum(scale / middle, 1 / widest), widest)
    return J * scale / scale[:, None], scale


def deficiency(matrix: np.ndarray, values: np.ndarray) -> int:
    """How many null vectors a balanced matrix with these singular values has.

    Beside a stiff state all others look singular: a matrix is regular if it is so with rows of like size. Rows that are
    rounding stay small.
    """
    k = len(values) - rank(values)
    if not k or k == len(values):
        return k
    rows = np.abs(matrix).max(axis=1, keepdims=True)
    like = np.linalg.svd(matrix / np.maximum(rows, FAINT * rows.max()), compute_uv=False)
    return min(k, len(like) - rank(like))


def bordering(
    J: np.ndarray, most: int | None = None, held: Sequence[int] = (), first: Sequence[np.ndarray] = ()
) -> Border:
    """The border of a family of equilibria: held states stay, otherwise conserved quantities, otherwise the nearest.

    ``most`` limits the number of null vectors to those that the structure explains; the rows in ``first`` come before
    all others, one by one.
    """
    matrix, D = balanced(J)
    left, values, right = np.linalg.svd(matrix)
    k = deficiency(matrix, values)
    k = k if most is None else min(k, most)
    P, Q = left[:, len(J) - k :], right[len(J) - k :].T
    if not k:
        return Border(P, Q.T, P, Q, D)
    rows = np.zeros((0, len(J)))
    wanted = [(row * D / np.linalg.norm(row * D))[None] for row in first if row.any()]
    for candidates in (*wanted, np.eye(len(J))[list(held)], P.T, Q.T):
        rows = np.vstack([rows, _effective(candidates, Q, rows)])
    return Border(P * D[:, None], rows / D, P / D[:, None], Q * D[:, None], D)


def _effective(candidates: np.ndarray, Q: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Combinations of candidate rows that exclude directions of Q which the rows so far do not."""
    _, values, right = np.linalg.svd(rows @ Q) if len(rows) else (None, np.zeros(0), np.eye(Q.shape[1]))
    open_ = Q @ right[int((values > TRANSVERSAL).sum()) :].T
    if not (open_.shape[1] and len(candidates)):
        return np.zeros((0, len(Q)))
    left, sines, _ = np.linalg.svd(candidates @ open_)
    return left[:, : len(sines)][:, sines > TRANSVERSAL].T @ candidates


def bordered_newton(
    rhs: Callable[[np.ndarray], np.ndarray],
    jacobian: Callable[[np.ndarray], np.ndarray],
    x: np.ndarray,
    held: Sequence[int] = (),
) -> tuple[np.ndarray, bool]:
    """Newton's method until its steps no longer shrink; the last state, and whether it settled.

    Where a Jacobian that is singular on the way leaves no step, it goes on from either side, as rounding might.
    """
    regular, aside = False, np.zeros(len(x))

    def step(x: np.ndarray) -> tuple[np.ndarray, float] | None:
        nonlocal regular, aside
        f, J = rhs(x), jacobian(x)
        if not (np.isfinite(f).all() and np.isfinite(J).all()):
            return None
        border = bordering(J, held=held)
        change, regular = -border.solve(J, f), border.regular
        size = float(np.abs(change).max() / (1 + np.abs(x).max()))
        aside = border.right.sum(axis=1)
        return x + change * min(1.0, FARTHEST / size if size else 1.0), size

    def rested(found: Newton[np.ndarray]) -> bool:
        return found.settled and (regular or _rests(rhs, jacobian, found.at))

    first = newton(step, x.copy())
    if rested(first) or not first.settled or np.array_equal(first.at, x):
        return first.at, rested(first)
    farther = NEIGHBOUR * (1 + np.abs(first.at).max()) / np.abs(aside).max() * aside
    for side in (1, -1):
        if rested(other := newton(step, first.at + side * farther)):
            return other.at, True
    return first.at, False


def _rests(
    rhs: Callable[[np.ndarray], np.ndarray], jacobian: Callable[[np.ndarray], np.ndarray], x: np.ndarray
) -> bool:
    """Whether x is at rest: where J is singular, Newton's method also settles where the rates are outside J's range."""
    units = np.full(len(x), 1 + np.abs(x).max())
    return at_rest(rhs(x), row_sizes(jacobian, x, units))


def row_sizes(
    jacobian: Callable[[np.ndarray], np.ndarray], x: np.ndarray, units: np.ndarray, here: np.ndarray | None = None
) -> np.ndarray:
    """The size of each row of a Jacobian about x, unknowns in their units: a row may vanish at x itself, where the
    Jacobian is ``here`` if it is known."""
    uneven = NEIGHBOUR * units * (1 + np.arange(len(x)) % 3) / 3
    around = jacobian(x - uneven), jacobian(x) if here is None else here, jacobian(x + uneven)
    return np.fmax.reduce([np.abs(J * units).sum(axis=1) for J in around])


def at_rest(rates: np.ndarray, usual: np.ndarray) -> bool:
    """Whether rates are rounding beside the usual ones."""
    return bool((np.abs(rates) <= AT_REST * usual).all())
