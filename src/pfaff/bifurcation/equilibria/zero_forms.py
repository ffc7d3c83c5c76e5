"""Normal forms where an eigenvalue is zero: fold, cusp and Bogdanov–Takens points.

Kuznetsov, Elements of Applied Bifurcation Theory (3rd ed. 2004), Secs. 5.4, 8.7; for Bogdanov–Takens points Kuznetsov,
Int. J. Bifurcation Chaos 15 (2005). On the centre manifold, with ⟨q, q⟩ = ⟨p, q⟩ = 1,

    fold                ẇ = a w² + …,                   cusp    ẇ = c w³ + …  (where a = 0)
    undamped            ẅ = a w² + …,                           ẅ = c w³ + …
    Bogdanov–Takens     ẇ0 = w1,  ẇ1 = a w0² + b w0 w1 + …
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

Form = Callable[..., np.ndarray]
VANISHES = 1e-8  # a, relative to the vectors that it is a product of, that is zero
UNDAMPED = 1e-12  # ⟨p, q⟩ of unit vectors below this is zero


@dataclass(frozen=True)
class Null:
    """The critical null vectors of a Jacobian bordered for its families, both of unit length.

    ``matrix`` is [[J, C], [R, 0]]: only the parts in x of its null vectors take part in nonlinear terms. Products and
    solutions are in ``units`` of the unknowns.
    """

    matrix: np.ndarray
    right: np.ndarray
    left: np.ndarray
    n: int
    units: np.ndarray | float = 1.0

    @property
    def q(self) -> np.ndarray:
        return self.right[: self.n]

    @property
    def p(self) -> np.ndarray:
        return self.left[: self.n]

    @property
    def overlap(self) -> float:
        """⟨p, q⟩: zero at a Bogdanov–Takens point, and where the motion along q is undamped."""
        lengths = (np.linalg.norm(each[: self.n]) for each in (self.right / self.units, self.left * self.units))
        product = float(self.p @ self.q / np.prod(list(lengths)))
        return product if abs(product) > UNDAMPED else 0.0

    def solve(self, right: np.ndarray) -> np.ndarray:
        """x with J x = right up to p, and no component along q."""
        N, units = len(self.matrix), self.units * np.ones(len(self.matrix))
        q, p = (each / np.linalg.norm(each) for each in (self.right / units, self.left * units))
        bordered = np.block([[self.matrix * units / units[:, None], p[:, None]], [q[None], np.zeros((1, 1))]])
        whole = np.concatenate([right / units[: self.n], np.zeros(N - self.n + 1)])
        return units[: self.n] * np.linalg.solve(bordered, whole)[: self.n]

    def solve_left(self, right: np.ndarray) -> np.ndarray:
        """y with yᵀJ = right up to q."""
        return Null(self.matrix.T, self.left, self.right, self.n, 1 / self.units).solve(right)


def null_of(matrix: np.ndarray, n: int, units: np.ndarray, like: Null | None = None) -> Null:
    """The null vectors, those of the smallest singular value, unknowns in their units; directed like those of
    ``like``."""
    left, _, right = np.linalg.svd(matrix * units / units[:, None])
    q, p = right[-1] * units, left[:, -1] / units
    q, p = q / np.linalg.norm(q[:n]), p / np.linalg.norm(p[:n])
    if like is not None:
        return Null(matrix, q * (np.sign(q[:n] @ like.q) or 1.0), p * (np.sign(p[:n] @ like.p) or 1.0), n, units)
    q = q * (np.sign(q[np.abs(q).argmax()]) or 1.0)
    return Null(matrix, q, p * (np.sign(p[:n] @ q[:n]) or 1.0), n, units)


def _sense(q: np.ndarray) -> float:
    """The sign that makes the largest component of q positive: coefficients of even order change with it."""
    return float(np.sign(q[np.abs(q).argmax()]))


def _adjoint(null: Null) -> tuple[np.ndarray, np.ndarray]:
    """p with unit product with q, and q; where the motion is undamped, ⟨p, q⟩ = 0, with q1 of J q1 = q instead, and
    q1."""
    along = null.q if null.overlap else null.solve(null.q)
    return null.p / (null.p @ along), along


def fold_coefficient(null: Null, form: Form) -> float:
    """a = ⟨p, B(q, q)⟩/2, the largest component of q positive."""
    p, _ = _adjoint(null)
    return _sense(null.q) * float(p @ form(null.q, null.q)) / 2


def cusp_coefficient(null: Null, form: Form) -> float:
    """c = ⟨p, C(q, q, q) + 3B(q, h)⟩/6 with J h = −B(q, q); since a = 0, any such h will do."""
    B = C = form
    q, (p, along) = null.q, _adjoint(null)
    bent = B(q, q)
    h = null.solve(-bent + (p @ bent) * along)
    return float(p @ (C(q, q, q) + 3 * B(q, h))) / 6


def takens_coefficients(null: Null, form: Form) -> tuple[float, float]:
    """a = ⟨p1, B(q0, q0)⟩/2, b = ⟨p0, B(q0, q0)⟩ + ⟨p1, B(q0, q1)⟩ with J q1 = q0, Jᵀp0 = p1 and unit products."""
    B = form
    q0 = _sense(null.q) * null.q
    q1 = null.solve(q0)
    scale = null.p @ q1
    p1 = null.p / scale
    p0 = null.solve_left(p1)
    # ⟨p0, q1⟩ = 0 leaves ⟨p0, q0⟩ = ⟨p1, q1⟩ = 1 as they are.
    p0 = p0 - (p0 @ q1) * p1
    bent, units = B(q0, q0), np.broadcast_to(null.units, null.matrix.shape[0])[: null.n]
    a, whole = float(p1 @ bent) / 2, float(np.linalg.norm(p1 * units) * np.linalg.norm(bent / units))
    # Where it vanishes, as on a line of equilibria, the point is not the one of this normal form.
    return a if abs(a) > VANISHES * whole else 0.0, float(p0 @ bent + p1 @ B(q0, q1))
