"""Normal forms of cycles at points of codimension two: what happens about them.

Periodic normalisation (De Witte, Della Rossa, Govaerts and Kuznetsov, SIAM J. Appl. Dyn. Syst. 12, 2013). Along the
cycle u(τ), x = u + ξ v + …, where the phase has τ̇ = 1 + … and, v having unit mean square,

    cusp                         ξ̇ = c ξ³
    generalised period doubling  ξ̇ = e ξ⁵
    1:1 resonance                ξ̇1 = ξ2,  ξ̇2 = a ξ1² + b ξ1 ξ2
    1:2 resonance                ξ̇1 = ξ2,  ξ̇2 = a ξ1³ + b ξ1² ξ2
    1:3 resonance                ξ̇ = b ξ̄² + c ξ|ξ|²
    1:4 resonance                ξ̇ = c ξ|ξ|² + d ξ̄³

What follows from them: Kuznetsov, Elements of Applied Bifurcation Theory (3rd ed. 2004), Secs. 9.2 to 9.5. The rate of
the phase is α ξ + … and not −ξ: forms exist also where periods do not change along the branch.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pfaff.bifurcation.orbits.cycle_forms import LARGE, VANISHES, torus_coefficient
from pfaff.bifurcation.orbits.orbits import Special
from pfaff.bifurcation.orbits.variation import Variation
from pfaff.continuation.kinds import Kind
from pfaff.errors import ConvergenceError, ParameterError, PfaffError

if TYPE_CHECKING:
    from pfaff.bifurcation.orbit_curves.cycle_curves import CycleSpecial

Coefficients = dict[str, complex]
THIRD, FOURTH = complex(-0.5, np.sqrt(0.75)), 1j  # multipliers at 1:3 and 1:4 resonances


@dataclass(frozen=True)
class ResonanceForm:
    """``coefficients`` by name; ``stable`` says whether what is born there can be stable, ``words`` what it is."""

    kind: str
    coefficients: Coefficients
    stable: bool
    words: str


def said(special: CycleSpecial) -> str:
    """The coefficients and words of a normal form; empty where there is none, or where it would take long."""
    orbit = special.special
    if special.kind not in FORMS or orbit.point.cycle.x.size > LARGE or orbit.problem.flow.heavy:
        return ""
    try:
        form = special.normal_form
    except (PfaffError, np.linalg.LinAlgError):
        return ""
    known = ", ".join(f"{name} = {_written(value)}" for name, value in form.coefficients.items())
    return f"{known}: {form.words}" if known else form.words


def _written(value: complex) -> str:
    return f"{value:.5g}" if isinstance(value, complex) else f"{float(value):.5g}"


def normal_form(special: CycleSpecial) -> ResonanceForm:
    """The normal form at a point of codimension two, if its kind has one."""
    orbit = special.special
    if special.kind not in FORMS:
        raise ParameterError(f"a {special.kind} has no normal form here: ask at a {', '.join(FORMS)}")
    if len(orbit.problem.held):
        raise ParameterError("something is conserved, so that orbits come in families: no normal form of one is taken")
    critical, coefficients, words = FORMS[special.kind]
    found = coefficients(Variation(orbit.problem.collocation, orbit.point.cycle))
    if not np.isfinite(list(found.values())).all() or _degenerate(found, orbit.period):
        raise ConvergenceError(f"a coefficient of the {special.kind} vanishes, or is not resolved")
    turning = np.exp(special.angle * np.array([1j, -1j])) if special.kind == Kind.CHENCINER else critical
    around = _others_grow(orbit.point.multipliers, turning)
    stable, told = words(found, orbit)
    return ResonanceForm(special.kind, found, stable and not around, told + (UNSTABLE if around else ""))


def _degenerate(found: Coefficients, period: float) -> bool:
    """Whether a or b of a resonance 1:1 or 1:2 vanishes beside the other."""
    sizes = [abs(found.get("a", 1.0)) * period, abs(found.get("b", 1.0))]
    return "a" in found and min(sizes) <= VANISHES * max(sizes)


def _others_grow(multipliers: np.ndarray, critical: Sequence[complex] | np.ndarray) -> bool:
    """Whether a multiplier that is neither critical nor that of the phase lies outside the unit circle."""
    left = multipliers
    for each in (1.0, *critical):
        left = np.delete(left, np.abs(left - each).argmin())
    return bool((np.abs(left) > 1).any())


# Coefficients


def cusp(v: Variation) -> Coefficients:
    """c = ⟨φ, C(v,v,v)/6 + B(v,h)/2 − α ḣ/2 − α₂ v̇⟩ with L v = −α u̇, L h = B(v,v) − 2α v̇ − 2α₂ u̇."""
    B = C = v.form
    w, gain = v.periodic.wave, v.periodic.gain
    slope = v.A(w) - gain * v.rates
    bent = B(w, w) - 2 * gain * slope
    bent = bent - v.periodic.share(bent, w) * w  # without the remaining b of the fold
    h, twice = v.periodic.solve(bent, singular=True)
    along = v.A(h) + bent - twice * v.rates
    right = C(w, w, w) / 6 + B(w, h) / 2 - gain / 2 * along - twice / 2 * slope
    return {"c": v.periodic.share(right, w)}


def generalised_doubling(v: Variation) -> Coefficients:
    """e, where c of the period doubling vanishes; h2, h3, h4 are the next terms of x = u + ξ v + ξ² h2/2 + …"""
    B = C = D = E = v.form
    flips = v.waves(-1.0)
    w = flips.wave
    h2, a2 = v.periodic.solve(B(w, w))
    slope2 = v.A(h2) + B(w, w) - a2 * v.rates
    cubic = C(w, w, w) + 3 * B(w, h2) - 3 * a2 * v.A(w)
    cubic = cubic - flips.share(cubic, w).real * w
    h3 = flips.solve(cubic, singular=True)
    slope3 = v.A(h3) + cubic
    h4, a4 = v.periodic.solve(D(w, w, w, w) + 6 * C(w, w, h2) + 3 * B(h2, h2) + 4 * B(w, h3) - 6 * a2 * slope2)
    fifth = E(w, w, w, w, w) + 10 * D(w, w, w, h2) + 15 * C(w, h2, h2) + 10 * C(w, w, h3) + 10 * B(h2, h3)
    right = fifth + 5 * B(w, h4) - 10 * a2 * slope3 - 5 * a4 * v.A(w)
    return {"e": flips.share(right, w).real / 120}


def resonance_1_1(v: Variation) -> Coefficients:
    """a = ⟨φ, B(v1,v1)/2 − α v̇1⟩, b = ⟨φ, B(v1,v2) − α v̇2 − α' v̇1 − h20⟩ with L v2 = −v1 − α' u̇, ⟨φ, v2⟩ = 1."""
    B = v.form
    w1, gain = v.periodic.wave, v.periodic.gain
    w2, gain2 = v.periodic.solve(-w1, singular=True)
    slope1, slope2 = v.A(w1) - gain * v.rates, v.A(w2) - w1 - gain2 * v.rates
    bent = B(w1, w1) - 2 * gain * slope1
    a = v.periodic.share(bent, w2) / 2
    h20, _ = v.periodic.solve(bent - 2 * a * w2, singular=True)
    b = v.periodic.share(B(w1, w2) - gain * slope2 - gain2 * slope1 - h20, w2)
    return {"a": a, "b": b}


def resonance_1_2(v: Variation) -> Coefficients:
    """a = ⟨v*, C(v1,v1,v1)/6 + B(v1,h20)/2 − α v̇1⟩, b likewise of ξ1²ξ2, with L v2 = −v1, ⟨v*, v2⟩ = 1."""
    B = C = v.form
    flips = v.waves(-1.0)
    w1 = flips.wave
    w2 = flips.solve(-w1, singular=True)
    slope1, slope2 = v.A(w1), v.A(w2) - w1
    h20, twice = v.periodic.solve(B(w1, w1))
    h11, a11 = v.periodic.solve(B(w1, w2) - h20)
    cubic = C(w1, w1, w1) + 3 * B(w1, h20) - 3 * twice * slope1
    a = flips.share(cubic, w2).real / 6
    h30 = flips.solve(cubic - 6 * a * w2, singular=True)
    mixed = C(w1, w1, w2) / 2 + B(w1, h11) + B(w2, h20) / 2 - twice / 2 * slope2 - a11 * slope1 - h30 / 2
    return {"a": a, "b": flips.share(mixed, w2).real}


def resonance_1_3(v: Variation) -> Coefficients:
    """b = ⟨v*, B(v̄,v̄)⟩/2, c = ⟨v*, C(v,v,v̄)/2 + B(h11,v) + B(h20,v̄)/2 − a v̇ − b̄ h02⟩; Re c alone is invariant."""
    B = C = v.form
    turning = v.waves(THIRD)
    w, back = turning.wave, turning.wave.conj()
    bent = B(back, back)
    b = turning.share(bent, w) / 2
    h02 = turning.solve(bent - 2 * b * w, singular=True)
    h11, a = v.periodic.solve(B(w, back).real)
    right = C(w, w, back) / 2 + B(h11, w) + B(h02.conj(), back) / 2 - a * v.A(w) - b.conjugate() * h02
    return {"b": b, "c": turning.share(right, w)}


def resonance_1_4(v: Variation) -> Coefficients:
    """c as for a torus, and d = ⟨v*, C(v̄,v̄,v̄)/6 + B(h02,v̄)/2⟩ with L h02 = B(v̄,v̄)."""
    B = C = v.form
    turning = v.waves(FOURTH)
    w, back = turning.wave, turning.wave.conj()
    h02 = v.waves(FOURTH**2).solve(B(back, back))
    d = turning.share(C(back, back, back) / 6 + B(h02, back) / 2, w)
    return {"c": torus_coefficient(v, FOURTH)[0], "d": d}


# Words

UNSTABLE = ", all unstable by another multiplier"
UNRESONANT = "as elsewhere: the resonant term vanishes"


def _of_cusp(found: Coefficients, orbit: Special) -> tuple[bool, str]:
    two = found["c"].real < 0
    return True, f"of three orbits between the folds {'two are' if two else 'one is'} stable"


def _of_doubling(found: Coefficients, orbit: Special) -> tuple[bool, str]:
    outer = found["e"].real < 0
    new = "orbits without the symmetry" if orbit.symmetric else "orbits of twice the period"
    return outer, f"folds of {new} start here, the {'larger' if outer else 'smaller'} of two is stable"


def _of_1_1(found: Coefficients, orbit: Special) -> tuple[bool, str]:
    stable = found["a"].real * found["b"].real < 0
    return stable, f"{_tori(stable)}, as far as homoclinic orbits of the saddle"


def _of_1_2(found: Coefficients, orbit: Special) -> tuple[bool, str]:
    stable = found["b"].real < 0
    twice = "orbits without the symmetry" if orbit.symmetric else "orbits of twice the period"
    if found["a"].real < 0:
        end = f"about the orbit and, beyond homoclinic orbits, about {twice} as well"
    else:
        end = f"as far as heteroclinic orbits of saddles, {twice}"
    return stable, f"{_tori(stable)}, {end}"


def _of_1_3(found: Coefficients, orbit: Special) -> tuple[bool, str]:
    stable = found["c"].real < 0
    if abs(found["b"]) ** 2 * orbit.period <= VANISHES * abs(found["c"]):
        return stable, f"{_tori(stable)}, {UNRESONANT}"
    longer = "a saddle orbit of three times the period shrinks to it here"
    return stable, f"{longer}; {_tori(stable)}, as far as heteroclinic orbits of the saddle"


def _of_1_4(found: Coefficients, orbit: Special) -> tuple[bool, str]:
    c, d = found["c"], found["d"]
    stable = c.real < 0
    if abs(d) <= VANISHES * abs(c):
        return stable, f"{_tori(stable)}, {UNRESONANT}"
    longer = "twice" if orbit.symmetric else "four times"  # half the period closes a symmetric orbit up to the sign
    if abs(c) < abs(d):
        return stable, f"a saddle orbit of {longer} the period shrinks to it here, |c/d| = {abs(c / d):.4g}"
    return stable, f"{_tori(stable)}, and orbits of {longer} the period born at folds, |c/d| = {abs(c / d):.4g}"


def _tori(stable: bool) -> str:
    return f"{'stable' if stable else 'unstable'} tori"


def _of_chenciner(found: Coefficients, orbit: Special) -> tuple[bool, str]:
    return False, "tori are stable on one side and unstable on the other: folds of tori start here"


Words = Callable[[Coefficients, Special], tuple[bool, str]]
FORMS: dict[str, tuple[tuple[complex, ...], Callable[[Variation], Coefficients], Words]] = {
    Kind.CUSP: ((1.0,), cusp, _of_cusp),
    Kind.GENERALISED_DOUBLING: ((-1.0,), generalised_doubling, _of_doubling),
    Kind.DEGENERATE_PITCHFORK: ((-1.0,), generalised_doubling, _of_doubling),
    Kind.CHENCINER: ((), lambda v: {}, _of_chenciner),
    Kind.RESONANCE_1: ((1.0, 1.0), resonance_1_1, _of_1_1),
    Kind.RESONANCE_2: ((-1.0, -1.0), resonance_1_2, _of_1_2),
    Kind.RESONANCE_3: ((THIRD, THIRD.conjugate()), resonance_1_3, _of_1_3),
    Kind.RESONANCE_4: ((FOURTH, -FOURTH), resonance_1_4, _of_1_4),
}
