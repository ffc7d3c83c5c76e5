"""What decides along a family of equilibria whether cycles are born at a Hopf point, and whether they attract.

With y along the family, ρ = |z|² and the load's distance Δ from the point the normal form is

    ρ̇ = 2ρ (Re λ' Δ + Re α·y + Re c ρ),    ẏ = ρ (a + a'Δ + b y + d ρ).

Where a = 0, the coordinate ỹ = y + ηρ with η = −a'/(2 Re λ') has ỹ' = ρ (b̃ ỹ + d̃ ρ), b̃ = b + 2η Re αᵀ and
d̃ = d + 2η Re c − b̃η. Either b̃ = 0: ỹ is conserved, and every level has its own cycles. Or there is one cycle, at
ỹ = −b̃⁻¹d̃ ρ, about which (ρ, ỹ) move at the rates ρ·eig [[2 Re c̃, 2 Re αᵀ], [d̃, b̃]], c̃ = c − α·η. Where a mirror
takes y into −y, a, α and d vanish: then b alone decides whether cycles are repelled along the family.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from pfaff.bifurcation.hopf.criticality import Criticality

if TYPE_CHECKING:
    from pfaff.bifurcation.hopf.normal_form import Expansion

VANISHES = 1e-9  # coefficients below this, relative to the terms they are made of, are zero
ACROSS = 1e-6  # growth along a family beyond this, relative to the frequency's change, is not rounding
ASIDE = 2e-3  # change of the critical eigenvalue, relative to ω, over which the drift is differenced
ERRORS = 10.0  # times the last change of an extrapolation, its error


class Along(NamedTuple):
    """α, the place −shift·|z|² of cycles along the family, their rates per |z|² but for those of what is conserved, and
    in words why nothing is decided, if so. ``kept`` are gradients and directions, as columns in the coordinates of the
    family, of what is conserved."""

    alpha: np.ndarray
    shift: np.ndarray
    rates: np.ndarray
    kept: tuple[np.ndarray, np.ndarray]
    undecided: str = ""


class Drift(NamedTuple):
    """Coefficients of ẏ, with the sizes of the terms of b."""

    b: np.ndarray
    sizes: np.ndarray


def along_the_family(e: Expansion, c: complex, h20: np.ndarray, h11: np.ndarray) -> Along:
    """What decides where a = 0; c is the coefficient of z|z|² with the mean h11 across the family."""
    own, none = np.array([2 * c.real], dtype=complex), (np.zeros((e.family, 0)),) * 2
    if not e.family:
        return Along(np.zeros(0, dtype=complex), np.zeros(0), own, none)
    alpha = growth_along(e)
    growth = alpha.real if np.abs(alpha.real).max() > ACROSS * np.abs(alpha).max() else np.zeros(e.family)
    b, sizes = _drift(e, h11)
    if growth.any() and e.beside is None:
        return _without_a_load(e, alpha, growth, b, sizes, c, h20, h11)
    eta, error = (np.zeros(e.family), np.zeros(e.family)) if e.beside is None else _by_load(e.beside)
    level = b + 2 * np.outer(eta, growth)
    noise = VANISHES * (sizes + 2 * np.outer(np.abs(eta), np.abs(growth))) + 2 * np.outer(error, np.abs(growth))
    if (np.abs(level) <= noise).all():
        eta = -b @ growth / (2 * growth @ growth) if growth.any() else eta
        return Along(alpha, eta, 2 * (c - alpha @ eta).real * np.ones(1, dtype=complex), (np.eye(e.family),) * 2)
    left, sizes_, right = np.linalg.svd(level)
    kept = left[:, sizes_ <= np.linalg.norm(noise)], right[sizes_ <= np.linalg.norm(noise)].T
    if alpha.any() and kept[0].size:
        return Along(alpha, eta, own, none, Criticality.OPEN)
    if not alpha.any():
        return _partly(eta, own, level, kept)
    d = fourth_order(e, c, h20, h11) + 2 * eta * c.real - level @ eta
    matrix = np.block([[2 * (c - alpha @ eta).real * np.ones((1, 1)), 2 * growth[None]], [d[:, None], level]])
    return Along(alpha, eta + np.linalg.solve(level, d), np.linalg.eigvals(matrix).astype(complex), none)


def _partly(eta: np.ndarray, own: np.ndarray, level: np.ndarray, kept: tuple[np.ndarray, np.ndarray]) -> Along:
    """What decides where α = 0: b̃ alone, but for what of the family is conserved."""
    (left, right), alpha = kept, np.zeros(len(eta), dtype=complex)
    overlap = left.T @ right
    if left.size and not np.linalg.svd(overlap, compute_uv=False).min() > ACROSS:
        return Along(alpha, eta, own, (left[:, :0], right[:, :0]), Criticality.OPEN)
    rates = np.linalg.eigvals(level).astype(complex)
    rates = rates[np.argsort(np.abs(rates))][left.shape[1] :]
    return Along(alpha, eta, np.append(own, rates), (np.linalg.solve(overlap, left.T).T, right))


def growth_along(e: Expansion) -> np.ndarray:
    """α = ⟨p, B(q, y)⟩ for the tangents y, exactly zero where it is so beside its terms."""
    bent = [e.form(e.q, y) for y in e.right.T]
    alpha = np.array([np.vdot(e.p, each) for each in bent])
    sizes = [
        np.abs(e.p) @ (np.abs(each) + np.abs(e.form(_beside(e), y))) for each, y in zip(bent, e.right.T, strict=True)
    ]
    return np.where(np.abs(alpha) > VANISHES * np.array(sizes), alpha, 0j)


def elsewhere(e: Expansion, h11: np.ndarray) -> np.ndarray:
    """The size of a at other members of a family, as far away as they change the critical eigenvalue by its own size:
    what a is beside this is how well the point is placed."""
    if not e.family:
        return np.zeros(0)
    alpha = np.abs(growth_along(e))
    return np.abs(_drift(e, h11).b) @ (e.omega / np.where(alpha > 0, alpha, np.inf))


def _beside(e: Expansion) -> np.ndarray:
    """A direction of the size of the mode but no other relation to it: terms that cancel in the mode do not in it."""
    return np.linspace(1, 2, len(e.q)) * (e.q.real + e.q.imag)


def _drift(e: Expansion, h11: np.ndarray) -> Drift:
    """b of ẏ = b y|z|², a column for each tangent."""
    q, q_, w, B, C = e.q, e.q.conj(), _beside(e), e.form, e.form
    b, sizes = np.empty((2, e.family, e.family))
    for j, y in enumerate(e.right.T):
        h1y = e.resolvent(1, B(q, y) - np.vdot(e.p, B(q, y)) * q)
        terms = np.array([C(q, q_, y), 2 * B(q_, h1y).real, B(y, h11)])
        b[:, j] = (e.left.T @ terms.sum(axis=0)).real
        generic = np.array([C(w, w, y), 2 * B(w, h1y)])
        sizes[:, j] = np.abs(e.left).T @ np.abs([*terms, *generic]).sum(axis=0)
    return Drift(b, sizes)


def _without_a_load(
    e: Expansion,
    alpha: np.ndarray,
    growth: np.ndarray,
    b: np.ndarray,
    sizes: np.ndarray,
    c: complex,
    h20: np.ndarray,
    h11: np.ndarray,
) -> Along:
    """Where a family is followed instead of a load: levels y + η|z|² need b = −2η Re αᵀ and d = −2η Re c."""
    eta = -b @ growth / (2 * growth @ growth)
    terms = 2 * np.outer(eta, growth)
    d = fourth_order(e, c, h20, h11)
    left = np.abs(d + 2 * eta * c.real)
    level = (np.abs(b + terms) <= VANISHES * (sizes + np.abs(terms))).all()
    kept = level and bool((left <= ACROSS * (np.abs(d) + np.abs(2 * eta * c.real) + np.abs(eta) * abs(c))).all())
    rates, whole = 2 * (c - alpha @ eta).real * np.ones(1, dtype=complex), (np.eye(e.family),) * 2
    return Along(alpha, eta, rates, whole, "" if kept else Criticality.OPEN)


def fourth_order(e: Expansion, c: complex, h20: np.ndarray, h11: np.ndarray) -> np.ndarray:
    """d of ẏ = d|z|⁴, with the mean h11 across the family and a = 0."""
    q, q_, h02 = e.q, e.q.conj(), h20.conj()
    B = C = D = e.form
    h21 = e.resolvent(1, C(q, q, q_) + B(q_, h20) + 2 * B(q, h11) - 2 * c * q)
    mean = (
        D(q, q, q_, q_) + 4 * C(q, q_, h11) + C(q_, q_, h20) + C(q, q, h02)
        + 2 * B(h11, h11) + 2 * B(q, h21.conj()) + 2 * B(q_, h21) + B(h02, h20)
    )  # fmt: skip
    return (e.left.T @ mean).real / 4


def _by_load(beside: Callable[[float], tuple[complex, np.ndarray]]) -> tuple[np.ndarray, np.ndarray]:
    """η = −a/(2 Re λ), its limit at the Hopf point by Richardson's extrapolation, and its error."""

    def mean(distance: float) -> np.ndarray:
        return sum(-a / (4 * value.real) for value, a in map(beside, (distance, -distance)))  # type: ignore[return-value]

    coarse, middle, fine = (mean(distance) for distance in (2 * ASIDE, ASIDE, ASIDE / 2))
    better, best = (4 * middle - coarse) / 3, (4 * fine - middle) / 3
    return best, ERRORS * np.abs(best - better)
