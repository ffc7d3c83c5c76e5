"""Normal forms of cycles: closed forms, the branches that they predict, and motions on both sides."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sm

import pfaff
from pfaff.errors import ParameterError

x, y, z, w = sm.symbols("x y z w", real=True)
lam, c, om, k = sm.symbols("lam c om k", real=True)
R, S = x**2 + y**2, z**2 + w**2
CIRCLE = {x: x * (1 - R) - y, y: y * (1 - R) + x}


def special_of(rates, values, start, to=0.3, time=60):
    case = pfaff.ode(rates, values, load=lam).at()
    (found,) = case.orbit(case.simulate(time, samples=6001, **start)).orbits(to=to, points=60).special
    return found


@pytest.mark.parametrize("cubic", [-2.0, 0.7])
def test_period_doubling_in_closed_form(cubic):
    """ζ̇ = λζ + cζ³ across the circle, in a frame that makes half a turn: the coefficient is c."""
    a, b = (lam - 1) / 2, (lam + 1) / 2
    rates = {
        **CIRCLE,
        z: a * z + b * (x * z + y * w) - w / 2 + c * S * z,
        w: a * w + b * (y * z - x * w) + z / 2 + c * S * w,
    }
    form = special_of(rates, {lam: -0.3, c: cubic}, {"x": 1, "z": 0.1}).normal_form
    assert form.coefficient == pytest.approx(cubic, rel=1e-9)
    assert form.growth == pytest.approx(1, rel=1e-5)
    assert (form.side, form.stable) == ((1, True) if cubic < 0 else (-1, False))


@pytest.mark.parametrize("cubic", [-2.0, 0.7])
def test_torus_in_closed_form(cubic):
    """ρ̇ = λρ + cρ³ beside the circle, with ρ = √2 |ξ|: Re d = 2c."""
    rates = {**CIRCLE, z: lam * z - om * w + c * S * z, w: lam * w + om * z + c * S * w}
    special = special_of(rates, {lam: -0.3, c: cubic, om: 0.4}, {"x": 1, "z": 0.1})
    assert special.normal_form.coefficient.real == pytest.approx(2 * cubic, rel=1e-9)
    words = "supercritical: stable tori above" if cubic < 0 else "subcritical: unstable tori below"
    assert special.status.endswith(words)


def test_fold_in_closed_form():
    """q̇ = λ + c q² of q = r² − 1, and the phase runs as 1 + k q: b = −c/k; orbits are where λ/c < 0."""
    growth, turn = (lam + c * (R - 1) ** 2) / (2 * R), 1 + k * (R - 1)
    rates = {x: x * growth - y * turn, y: y * growth + x * turn}
    special = special_of(rates, {lam: -0.05, c: 1, k: 0.5}, {"x": 0.8}, time=300)
    assert special.normal_form.coefficient == pytest.approx(-2, rel=1e-7)
    assert not special.normal_form.isochronous
    assert special.status.endswith("a stable and an unstable orbit below")
    assert repr(special) == f"<fold at lam = {special.value:.10g}, period {special.period:.10g}>"


def test_a_fold_of_isochronous_orbits_says_so():
    """The same with k = 0: all orbits have the period 2π, by which b is measured otherwise."""
    growth = (lam + c * (R - 1) ** 2) / (2 * R)
    special = special_of({x: x * growth - y, y: y * growth + x}, {lam: -0.05, c: 1}, {"x": 0.8}, time=300)
    form = special.normal_form
    assert form.isochronous
    assert form.coefficient is None
    assert (form.side, form.stable) == (-1, True)
    assert form.words.startswith("a stable and an unstable orbit below, isochronous")
    assert form.words in special.status


def distance_squared(orbit) -> float:
    """∫ |x(t) − x(t + T)|²/4 over an orbit of period 2T."""
    t = np.linspace(0, 1, 4001)[:-1]
    cycle, collocation = orbit.point.cycle, orbit.problem.collocation
    states = collocation.interpolate(cycle, collocation.slopes(cycle), t)
    return float((np.abs(states - np.roll(states, 2000, axis=0)) ** 2).sum(axis=1).mean() / 4)


def test_period_doubling_of_roessler_predicts_the_branch():
    """Beyond it the orbit of twice the period is 2ξ|v| from itself half a period later."""
    system = pfaff.ode({x: -y - z, y: x + 0.2 * y, z: 0.2 + z * (x - lam)}, {lam: 2.5}, load=lam)
    case = system.at()
    branch = case.orbit(case.simulate(400, samples=20001, x=1)).orbits(to=3)
    doubling = branch.of_kind("period doubling")[0]
    form = doubling.normal_form
    assert form.words == "supercritical: stable orbits of twice the period above"
    twice = doubling.switch(to=3)
    ratios = []
    for beyond in (4e-3, 1e-3):
        squared = distance_squared(twice.at(doubling.value + beyond)[0])
        ratios.append(squared / (-form.growth * beyond / form.coefficient.real))
    assert ratios[1] == pytest.approx(1, abs=0.02)
    assert abs(ratios[1] - 1) < abs(ratios[0] - 1)
    motion = system.at(lam=doubling.value + 0.05).simulate(900, samples=18001, x=2)
    peaks = motion["x"][1:-1][(motion["x"][1:-1] > motion["x"][:-2]) & (motion["x"][1:-1] >= motion["x"][2:])][-8:]
    assert np.ptp(peaks[::2]) < 0.02
    assert abs(peaks[0] - peaks[1]) > 0.1


def test_units_do_not_change_the_sides():
    """Rössler's equations with lengths by 1000: the same side and stability."""
    L = 1000
    rates = {x: -y - z, y: x + 0.2 * y, z: 0.2 * L + z * (x / L - lam)}
    case = pfaff.ode(rates, {lam: 2.5}, load=lam).at()
    branch = case.orbit(case.simulate(400, samples=20001, x=L)).orbits(to=3)
    form = branch.of_kind("period doubling")[0].normal_form
    assert (form.side, form.stable) == (1, True)


def test_symmetry_breaking_leads_to_stable_orbits():
    """A driven double-well oscillator that keeps to both wells and then prefers one: motions say the same."""
    t = sm.Symbol("t")
    driven = pfaff.ode({x: y, y: -0.2 * y - sm.sin(x) + lam * sm.cos(2 * t / 3)}, {lam: 0.3}, load=lam)
    response = driven.at().response("lam", to=1.0)
    breaking = response.of_kind("symmetry breaking")
    assert breaking
    form = breaking[0].normal_form
    assert form.kind == "symmetry breaking"
    orbits = breaking[0].switch(to=breaking[0].value + 0.01 * form.side)
    assert (orbits[3].value - breaking[0].value) * form.side > 0
    assert orbits[3].stable == form.stable


def test_other_kinds_have_none():
    growth, turn = (lam + c * (R - 1) ** 2) / (2 * R), 1 + k * (R - 1)
    rates = {x: x * growth - y * turn, y: y * growth + x * turn}
    special = special_of(rates, {lam: -0.05, c: 1, k: 0.5}, {"x": 0.8}, time=300)
    from dataclasses import replace

    with pytest.raises(ParameterError, match="a branch point has no normal form"):
        _ = replace(special, kind="branch point").normal_form
