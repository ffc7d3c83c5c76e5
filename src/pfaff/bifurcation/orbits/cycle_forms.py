"""Normal forms of cycles at folds, period doublings, symmetry breakings and tori: which side new orbits are on.

Periodic normalisation (Kuznetsov, Govaerts, Doedel and Dhooge, SIAM J. Numer. Anal. 43, 2005): along the cycle u(τ)
x = u + ξ v + …, where the phase and the amplitude obey

    fold             τ̇ = 1 − ξ + …,       ξ̇ = b ξ² + …
    period doubling  τ̇ = 1 + a ξ² + …,    ξ̇ = c ξ³ + …
    torus            τ̇ = 1 + a |ξ|² + …,  ξ̇ = iωξ + d ξ|ξ|² + …

A multiplier −1 of half a symmetric orbit, which breaks its symmetry, is a period doubling of that half.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pfaff.bifurcation.orbits.variation import Variation
from pfaff.continuation.kinds import Kind
from pfaff.errors import ConvergenceError, ParameterError, PfaffError

if TYPE_CHECKING:
    from pfaff.bifurcation.orbits.chords import Point
    from pfaff.bifurcation.orbits.orbits import Special

FLIPS = (Kind.PERIOD_DOUBLING, Kind.SYMMETRY_BREAKING)
FORMS = (Kind.FOLD, *FLIPS, Kind.TORUS)
VANISHES = 1e-7  # a coefficient below this, relative to the terms it is made of, is zero
RESONANT = 1e-3  # distance from a root of unity up to the fourth, within which a torus has no normal form
LARGE = 1000  # number of states at all mesh points beyond which a normal form is computed only on demand
BESIDE = (2e-3, 5e-4)  # distances along the branch at which multipliers and values of the load are compared


@dataclass(frozen=True)
class CycleForm:
    """``coefficient`` is b, c or d; ``side`` is where new orbits (at a fold: both) are, 1 above the load, −1 below.

    A fold at which the period has no slope is ``isochronous``: nothing measures ξ there, and b is ``None``.

    ``stable`` says whether they are stable; at a fold, whether one of the two is. ``words`` says the same in words.
    ``growth`` is the derivative of the growth rate of ξ with respect to the load: new orbits have ξ² =
    −growth·Δ/Re(coefficient), with v of unit mean square on the orbit.
    """

    kind: str
    coefficient: complex | None
    side: int
    stable: bool
    words: str
    growth: float = float("nan")

    @property
    def isochronous(self) -> bool:
        return self.coefficient is None


def said(special: Special) -> str:
    """The words of the normal form; empty where there is none, or where it would take long."""
    cycle, flow = special.point.cycle, special.problem.flow
    if special.kind not in FORMS or special.note or cycle.x.size > LARGE or flow.heavy:
        return ""
    try:
        return special.normal_form.words
    except (PfaffError, np.linalg.LinAlgError):
        return ""


def cycle_form(special: Special) -> CycleForm:
    """The normal form at a special point, if its kind has one."""
    if special.kind not in FORMS:
        raise ParameterError(f"a {special.kind} has no normal form here: ask at a {', '.join(FORMS)}")
    if len(special.problem.held):
        raise ParameterError("something is conserved, so that orbits come in families: no normal form of one is taken")
    variation = Variation(special.problem.collocation, special.point.cycle)
    if special.kind == Kind.FOLD:
        return _at_fold(special, variation)
    beside = _Beside(special)
    if special.kind in FLIPS:
        coefficient, terms = flip_coefficient(variation)
        new = "orbits of twice the period" if special.kind == Kind.PERIOD_DOUBLING else "orbits without the symmetry"
    else:
        if resonant(beside.multiplier):
            raise ConvergenceError("the multipliers are at a strong resonance: a torus has no normal form there")
        coefficient, terms = torus_coefficient(variation, beside.multiplier)
        new = "tori"
    if not np.isfinite(coefficient) or abs(coefficient.real) <= VANISHES * terms:
        raise ConvergenceError(f"the coefficient of the {special.kind} vanishes, or is not resolved")
    supercritical = coefficient.real < 0
    # New orbits are where |ξ|² = −(growth of ξ)/coefficient is positive: beyond the point if they are stable.
    side = int(np.sign(beside.growth_by_load)) * (1 if supercritical else -1)
    stable = supercritical and beside.others == 0
    words = (
        f"{'super' if supercritical else 'sub'}critical: {'stable' if stable else 'unstable'} {new} "
        f"{'above' if side > 0 else 'below'}"
    )
    growth = beside.growth_by_load / special.point.cycle.scalars[0]
    return CycleForm(special.kind, complex(coefficient), side, stable, words, float(growth))


def resonant(multiplier: complex) -> bool:
    """Whether a multiplier is a root of unity up to the fourth."""
    return any(abs(multiplier**k - 1) < RESONANT for k in (1, 2, 3, 4))


def _at_fold(special: Special, variation: Variation) -> CycleForm:
    """The form at a fold: both orbits are on the side to which the branch bends; one of them has one multiplier more
    inside the unit circle."""
    bends = [_moved(special, sign * BESIDE[0]).value - special.value for sign in (1, -1)]
    if not bends[0] * bends[1] > 0:
        raise ConvergenceError("the branch does not bend to one side here: a cusp, or a fold that is not resolved")
    side = 1 if bends[0] > 0 else -1
    stable = min(_moved(special, sign * BESIDE[0]).unstable for sign in (1, -1)) == 0
    pair = "a stable and an unstable orbit" if stable else "two unstable orbits"
    b, words = fold_coefficient(variation), f"{pair} {'above' if side > 0 else 'below'}"
    if b is None:
        return CycleForm(Kind.FOLD, None, side, stable, f"{words}, isochronous")
    return CycleForm(Kind.FOLD, complex(b), side, stable, words)


def _moved(special: Special, distance: float) -> Point:
    """The point of the branch at a distance along its tangent."""
    point, c = special.point, special.problem.continuation(1 + abs(special.value))
    point = c.adopted(point)
    solution = c.corrected(point.cycle.moved(point.tangent, distance), point, point.metric.dual(point.tangent))
    return c.point(solution, point.tangent)


class _Beside:
    """How the critical multiplier moves with the load, from orbits on both sides of a special point."""

    def __init__(self, special: Special) -> None:
        values = special.point.multipliers
        if special.kind in FLIPS:
            near = [int(np.abs(values + 1).argmin())]
        else:
            complex_ = np.flatnonzero(values.imag > 0)
            near = [int(complex_[np.abs(np.abs(values[complex_]) - 1).argmin()])]
        self.multiplier = complex(values[near[0]] / abs(values[near[0]]))
        rates = []
        for distance in BESIDE:
            a, b = (_moved(special, sign * distance) for sign in (-1, 1))
            sizes = [np.log(np.abs(p.multipliers[np.abs(p.multipliers - values[near[0]]).argmin()])) for p in (a, b)]
            if (b.value - a.value) and sizes[0] * sizes[1] < 0:
                rates.append((sizes[1] - sizes[0]) / (b.value - a.value))
        if not rates:
            raise ConvergenceError(f"the multiplier does not cross the unit circle at the {special.kind} by the load")
        self.growth_by_load = float(rates[-1])
        both = [_moved(special, sign * BESIDE[0]).unstable for sign in (-1, 1)]
        self.others = min(both)


# Coefficients


def fold_coefficient(v: Variation) -> float | None:
    """b = ⟨φ, B(v, v)/2 + v̇⟩ with v̇ − A v = u̇ and ⟨φ, v⟩ = 1; None where the period has no slope."""
    w, gain = v.periodic.wave, v.periodic.gain
    if abs(gain) * np.sqrt((v.weights[:, :, None] * v.rates**2).sum()) * v.cycle.scalars[0] <= VANISHES:
        return None
    return v.periodic.share(v.form(w, w) / 2 - gain * v.A(w), w) / -gain


def flip_coefficient(v: Variation) -> tuple[complex, float]:
    """c = ⟨v*, (C(v,v,v) + 3B(v,h))/6 − a A v⟩ with ḣ − A h = B(v,v) − 2a u̇; and the size of its terms."""
    B = C = v.form
    flips = v.waves(-1.0)
    w = flips.wave
    h, twice = v.periodic.solve(B(w, w))
    parts = [C(w, w, w) / 6, B(w, h) / 2, -twice / 2 * v.A(w)]
    shares = [flips.share(part, w) for part in parts]
    return sum(shares), sum(map(abs, shares))


def torus_coefficient(v: Variation, multiplier: complex) -> tuple[complex, float]:
    """d = ⟨v*, (C(v,v,v̄) + 2B(h11,v) + B(h20,v̄))/2 − a v̇⟩ with waves v(τ)e^{iωτ} carried by the linear flow."""
    B = C = v.form
    turning = v.waves(multiplier)
    w, back = turning.wave, turning.wave.conj()
    h11, a = v.periodic.solve(B(w, back).real)
    h20 = v.waves(multiplier**2).solve(B(w, w))
    # v̇ e^{iωτ} is A times the wave v e^{iωτ} less iω times the wave, whose share iωa is left out: Re d is without it.
    parts = [C(w, w, back) / 2, B(h11, w), B(h20, back) / 2, -a * v.A(w)]
    shares = [turning.share(part, w) for part in parts]
    return sum(shares), sum(map(abs, shares))
