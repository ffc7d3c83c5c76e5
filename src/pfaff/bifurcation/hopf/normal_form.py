"""Normal forms on the centre manifold of a Hopf point, by two routes.

Kuznetsov's projection method in complex form (Elements of Applied Bifurcation Theory, 3rd ed. 2004, Sec. 5.4; fifth
order: Sec. 8.7 and SIAM J. Numer. Anal. 36, 1999): on the centre manifold x = z q + z̄ q̄ + …

    ż = iω z + c1 z|z|² + c2 z|z|⁴ + …,    l1 = Re c1/ω,    l2 = Re c2/ω (where l1 = 0).

Marsden and McCracken's in real form (The Hopf Bifurcation and Its Applications, 1976, Sec. 4): V'''(0) = 3π l1.

Where equilibria form a family, a coordinate y along it joins: ż = (iω + α y) z + …, ẏ = a|z|² + b y|z|² + …. The
oscillation moves along the family at once (a ≠ 0; Fiedler, Liebscher and Alexander, J. Diff. Equations 167, 2000), or
``along_families`` tells whether it stays on a level set of a conserved quantity, is attracted or repelled along it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from pfaff.bifurcation.hopf.along_families import along_the_family, elsewhere, growth_along
from pfaff.errors import ParameterError

VANISHES = 1e-9  # the real part of a coefficient below this, relative to the terms it is made of, is zero
MOVES = 1e-9  # drift along a family above this, relative to its terms, is not rounding
ROUNDED = 1e-14  # terms below this, relative to those in other directions than the mode's, are all rounding
PAIRS = ((1, 1), (1, 2), (2, 2))  # pairs of derivatives with respect to y1 and y2
Curvature = dict[tuple[int, int], np.ndarray]


@dataclass(frozen=True)
class Expansion:
    """ẋ = A x + B(x, x)/2 + C(x, x, x)/6 + … at a Hopf point with ⟨q, q⟩ = ⟨p, q⟩ = 1.

    ``form`` applies the derivative of the order given by the number of vectors. Columns of ``right`` are tangents of a
    family of equilibria, those of ``left`` the first-order forms of what is conserved along it, left·right = 1.
    ``beside`` gives λ and the drift a at a nearby load, by its distance: the change of λ relative to ω.
    """

    A: np.ndarray
    form: Callable[..., np.ndarray]
    omega: float
    q: np.ndarray
    p: np.ndarray
    left: np.ndarray
    right: np.ndarray
    beside: Callable[[float], tuple[complex, np.ndarray]] | None = None

    @property
    def family(self) -> int:
        return self.right.shape[1]

    def resolvent(self, harmonic: int, right: np.ndarray) -> np.ndarray:
        """(i·harmonic·ω − A)⁻¹ right; at ω itself and on families the part without components along the null
        vectors."""
        shifted = 1j * harmonic * self.omega * np.eye(len(self.A)) - self.A
        if harmonic == 1:
            return _bordered(shifted, self.q[:, None], self.p.conj()[None], right)
        if harmonic == 0:
            return _bordered(shifted, self.right, self.left.T, right)
        return np.linalg.solve(shifted, right)


def _bordered(matrix: np.ndarray, columns: np.ndarray, rows: np.ndarray, right: np.ndarray) -> np.ndarray:
    n, k = columns.shape
    whole = np.block([[matrix, columns], [rows, np.zeros((k, k))]])
    return np.linalg.solve(whole, np.concatenate([right, np.zeros(k)]))[:n]


@dataclass(frozen=True)
class Cubic:
    """The normal form to third order; ``size`` is that of the terms of its coefficient, for judging whether it
    vanishes.

    On a family: ``drift`` is a, ``growth`` Re α, and cycles are at −``shift``·|z|² along it, one entry for each of its
    dimensions. ``rates``, times |z|², are those at which motions leave the cycles (where negative, tend to them) in the
    amplitude and along the family, but for conserved quantities, whose gradients and directions in the coordinates of
    the family are in ``kept``; ``undecided`` says why they are not known, if so.
    """

    c1: complex
    size: float
    h20: np.ndarray
    h11: np.ndarray
    drift: np.ndarray
    growth: np.ndarray
    shift: np.ndarray
    rates: np.ndarray
    kept: tuple[np.ndarray, np.ndarray]
    undecided: str = ""

    @property
    def attracts(self) -> bool:
        """Whether cycles attract, other modes left aside."""
        return not (self.drift.any() or self.undecided) and bool((self.rates.real < 0).all())


def cubic(e: Expansion) -> Cubic:
    """c1 = ⟨p, C(q, q, q̄) + B(q̄, h20) + 2B(q, h11)⟩/2 with h20 = (2iω − A)⁻¹B(q, q), h11 = −A⁻¹B(q, q̄)."""
    q, q_, B, C = e.q, e.q.conj(), e.form, e.form
    twice, mean = B(q, q), B(q, q_)
    h20 = e.resolvent(2, twice)
    drift = (e.left.T @ mean).real
    h11 = e.resolvent(0, mean - e.right @ drift)
    terms = np.array([np.vdot(e.p, term) for term in (C(q, q, q_), B(q_, h20), 2 * B(q, h11))]) / 2
    terms *= not _rounded(e, terms, 3)
    large = np.linalg.norm(e.left, axis=0) * max(np.linalg.norm(mean), np.linalg.norm(twice))
    moves = np.abs(drift) > MOVES * (large + elsewhere(e, h11))
    size, c = float(np.abs(terms).sum()), complex(terms.sum())
    if moves.any():
        drift, nowhere = np.where(moves, drift, 0.0), np.full(e.family, np.nan)
        none, growth = (np.zeros((e.family, 0)),) * 2, growth_along(e).real
        return Cubic(complex(np.nan, np.nan), size, h20, h11, drift, growth, nowhere, nowhere, none)
    alpha, shift, rates, kept, undecided = along_the_family(e, c, h20, h11)
    return Cubic(complex(c - alpha @ shift), size, h20, h11, 0 * drift, alpha.real, shift, rates, kept, undecided)


def _rounded(e: Expansion, terms: np.ndarray, order: int) -> bool:
    """Whether all terms of an order are rounding relative to those in directions other than the mode's.

    Motions in circles may obey linear equations where others do not."""
    beside = np.linspace(1, 2, len(e.q)) * (e.q.real + e.q.imag)
    return bool(np.abs(terms).sum() <= ROUNDED * (np.abs(e.p) @ np.abs(e.form(*[beside] * order))))


class Quintic(NamedTuple):
    """The coefficient of fifth order, and the size of its terms, for judging whether it vanishes."""

    c2: complex
    size: float


def quintic(e: Expansion, third: Cubic) -> Quintic:
    """c2 of the fifth-order normal form, Kuznetsov (1999), for any c1."""
    if e.family:
        raise ParameterError("the second Lyapunov coefficient is not defined on a family of equilibria: fix its member")
    q, q_, c1, h20, h11 = e.q, e.q.conj(), third.c1, third.h20, third.h11
    B = C = D = E = e.form
    h02 = h20.conj()
    h30 = e.resolvent(3, C(q, q, q) + 3 * B(q, h20))
    h21 = e.resolvent(1, C(q, q, q_) + B(q_, h20) + 2 * B(q, h11) - 2 * c1 * q)
    h12 = h21.conj()
    h31 = e.resolvent(
        2,
        D(q, q, q, q_) + 3 * C(q, q, h11) + 3 * C(q, q_, h20)
        + 3 * B(h20, h11) + B(q_, h30) + 3 * B(q, h21) - 6 * c1 * h20,
    )  # fmt: skip
    h22 = e.resolvent(
        0,
        D(q, q, q_, q_) + 4 * C(q, q_, h11) + C(q_, q_, h20) + C(q, q, h02)
        + 2 * B(h11, h11) + 2 * B(q, h12) + 2 * B(q_, h21) + B(h02, h20) - 8 * c1.real * h11,
    )  # fmt: skip
    fifth = [
        E(q, q, q, q_, q_),
        D(q, q, q, h02), 3 * D(q, q_, q_, h20), 6 * D(q, q, q_, h11),
        C(q_, q_, h30), 3 * C(q, q, h12), 6 * C(q, q_, h21),
        3 * C(q, h02, h20), 6 * C(q, h11, h11), 6 * C(q_, h20, h11),
        2 * B(q_, h31), 3 * B(q, h22), B(h02, h30), 3 * B(h12, h20), 6 * B(h11, h21),
    ]  # fmt: skip
    terms = np.array([np.vdot(e.p, term) for term in fifth]) / 12
    terms *= not _rounded(e, terms, 5)
    return Quintic(complex(terms.sum()), float(np.abs(terms).sum()))


def marsden_mccracken(e: Expansion, third: Cubic) -> float:
    """V'''(0) of Marsden and McCracken (1976), Eq. (4.2), on the centre manifold y_rest = h(y1, y2), all real.

    The basis is [Re q, Im q, rest], in which ẏ1 = ω y2 + F1, ẏ2 = −ω y1 + F2.
    """
    if np.isnan(third.c1) or not third.size:
        return third.c1.real
    basis = np.column_stack([e.q.real, e.q.imag, _complement(np.column_stack([e.p.real, e.p.imag]))])
    inverse = np.linalg.inv(basis)
    y = {1: basis[:, 0], 2: basis[:, 1]}
    second = {(a, b): inverse @ e.form(y[a], y[b]) for a, b in PAIRS}
    h = _manifold(e, third, basis, inverse, second)

    def F(a: int, b: int, c: int) -> np.ndarray:
        """∂³F/∂y_a∂y_b∂y_c, the manifold's curvature included, as (F1, F2)."""
        bent = e.form(y[a], h[b, c]) + e.form(y[b], h[a, c]) + e.form(y[c], h[a, b])
        return (inverse @ (e.form(y[a], y[b], y[c]) + bent))[:2]

    (f11, g11), (f12, g12), (f22, g22) = (second[ab][:2] for ab in PAIRS)
    cubic_ = F(1, 1, 1)[0] + F(1, 2, 2)[0] + F(1, 1, 2)[1] + F(2, 2, 2)[1]
    square = -f11 * f12 + g22 * g12 + f11 * g11 - f22 * g22 + g11 * g12 - f22 * f12
    return float(3 * np.pi / (4 * e.omega) * cubic_ + 3 * np.pi / (4 * e.omega**2) * square)


def _manifold(e: Expansion, third: Cubic, basis: np.ndarray, inverse: np.ndarray, second: Curvature) -> Curvature:
    """The second derivatives of h in the original states: R h_ab + F_ab = d²/dy_a dy_b of Dh·(ω y2, −ω y1)."""
    R = (inverse @ e.A @ basis)[2:, 2:]
    turning = e.omega * np.array([[0.0, -2.0, 0.0], [1.0, 0.0, -1.0], [0.0, 2.0, 0.0]])  # acting on (h11, h12, h22)
    n = len(R)
    operator = np.kron(np.eye(3), R) - np.kron(turning, np.eye(n))
    right = -np.concatenate([second[ab][2:] for ab in PAIRS])
    rows = np.linalg.lstsq(operator, right, rcond=1e-12)[0].reshape(3, n)
    h = {ab: basis[:, 2:] @ row for ab, row in zip(PAIRS, rows, strict=True)}
    # On a family the mean of h along it is free: the level set determines it, with |z|² = (y1² + y2²)/4.
    mean = e.left.T @ (h[1, 1] + h[2, 2]) / 2 + third.shift / 2
    h = {(a, b): each - e.right @ mean if a == b else each for (a, b), each in h.items()}
    return {**h, (2, 1): h[1, 2]}


def _complement(columns: np.ndarray) -> np.ndarray:
    """An orthonormal basis of the vectors orthogonal to some columns."""
    return np.linalg.svd(columns)[0][:, columns.shape[1] :]
