"""Branches of cycles that say where they end, find every orbit at a load, and verify themselves; corrupted ones are
caught."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import sympy as sm
from sympy.physics.mechanics import dynamicsymbols

import pfaff
from pfaff.bifurcation.orbits.lost_rows import vanishing_row
from pfaff.statement import TIME as t

x, y, z = sm.symbols("x y z", real=True)
mu, a, b, c = sm.symbols("mu a b c", real=True)


# Orbits between the last point and a fold


@pytest.fixture(scope="module")
def skating():
    case = pfaff.atlas.column(2, constraint="skate", load="dead").at(d="1/2", M_L=15, I_L=15, k1=50, c_i=1.5)
    return case.hopf().orbits(to=90)


def test_all_orbits_between_two_folds_are_found(skating):
    """Between the loads of both folds there are three, however near to one of them."""
    high, low = (special.value for special in skating.of_kind("fold"))
    for load in (88.28, low + 1e-4, low + 1e-7, (low + high) / 2, high - 1e-4, high - 1e-7):
        orbits = skating.at(load)
        assert [orbit.value for orbit in orbits] == pytest.approx([load] * 3, rel=1e-12)
        assert np.unique([round(orbit.period, 6) for orbit in orbits]).size == 3
        assert [orbit.stable for orbit in orbits] == [True, False, True]
    assert [len(skating.at(load)) for load in (low - 1e-6, high + 1e-6)] == [1, 1]


def test_all_responses_between_two_folds_are_found():
    q = dynamicsymbols("x")
    w, F, d = sm.symbols("Omega F d", positive=True)
    system = pfaff.System(
        [q], q.diff(t) ** 2 / 2, q**2 / 2 + q**4 / 4, forces={q: F * sm.cos(w * t)},
        dissipation=d * q.diff(t) ** 2 / 2, parameters={w: 0.5, F: 0.3, d: 0.1},
    )  # fmt: skip
    response = system.at().response("Omega", to=3)
    high, low = (special.value for special in response.of_kind("fold"))
    for value in (low + 1e-2, low + 1e-6, high - 1e-6, high - 1e-2):
        amplitudes = [each.amplitude["x"] for each in response.at(value)]
        assert len(amplitudes) == 3
        assert np.diff(amplitudes).max() < 0
    assert len(response.at(low - 1e-6)) == len(response.at(high + 1e-6)) == 1
    assert all(check.passed for check in (*response.checks, *response[3].checks))


# Endings


def cycles(rates, parameters, load, to, start):
    """The branch of cycles from the first Hopf point on a branch of equilibria."""
    branch = pfaff.ode(rates, parameters, load=load).at().branch(load.name, to, start=start)
    return branch.of_kind("hopf")[0].hopf.orbits(to=to)


def test_cycles_that_near_a_heteroclinic_cycle_of_three_species_say_so():
    """May and Leonard's with a term that vanishes on the faces: saddles (1, 0, 0) … repel as they attract at a + b = 2.
    Species fall below rounding long before the period has grown twentyfold."""

    def rate(own, after, before):
        return own * (1 - own - a * after - b * before + c * after * before)

    rates = {x: rate(x, y, z), y: rate(y, z, x), z: rate(z, x, y)}
    start = {"x": 0.3, "y": 0.3, "z": 0.3}
    branch = cycles(rates, {a: 0.5, b: 1.2, c: 0.5}, b, 3, start)
    assert "the period grows without bound near 1.50" in branch.ended
    assert branch.ended.endswith("towards a heteroclinic cycle")
    assert branch.ended.reason is pfaff.Reason.HOMOCLINIC
    level = cycles(rates, {a: 0.5, b: 1.2, c: 0}, b, 3, start)
    assert level.ended == "the period grows without bound near 1.5: towards a heteroclinic cycle"


def test_cycles_of_prey_and_predator_that_near_a_heteroclinic_cycle_say_so():
    """With an Allee effect: a cycle through (a, 0) and (1, 0), at a load to which the branch converges."""
    rates = {x: x * (x - a) * (1 - x) - x * y, y: y * (x - b)}
    branch = cycles(rates, {a: 0.2, b: 0.7}, b, 0.3, {"x": 0.7, "y": 0.15})
    assert branch.ended == "the period grows without bound near 0.5384159835: towards a heteroclinic cycle"


def test_orbits_of_which_one_state_stays_do_not_shrink_to_an_equilibrium():
    """A circle of radius 0.309 drives a state that is a thousand times as large, and less as the load nears 1."""
    radius = 0.309**2 - x**2 - y**2
    rates = {x: radius * x - y, y: radius * y + x, z: 2000 * (1 - mu) * x - z}
    case = pfaff.ode(rates, {mu: 0}, load=mu).at()
    branch = case.orbit(case.simulate(200, x=0.3, samples=4001)).orbits(to=2)
    assert branch.ended == "reached 2"
    assert branch[-1].amplitude["x"] == pytest.approx(0.309)


def test_orbits_that_shrink_still_end_at_a_hopf_point():
    """r² = μ (1 − μ): from one Hopf point to the other, with a state in a unit of its own."""
    growth = mu * (1 - mu) - x**2 - y**2
    rates = {x: growth * x - y, y: growth * y + x, z: 2000 * x - z}
    branch = pfaff.ode(rates, {mu: -1}, load=mu).at().hopf(to=0.5).orbits(to=2)
    assert branch.ended.reason is pfaff.Reason.EQUILIBRIUM
    assert branch[-1].value == pytest.approx(1, abs=1e-5)


def test_a_constraint_that_vanishes_on_an_orbit_is_named():
    """A blade whose row is multiplied by cos θ, at states up to a right angle and short of it."""
    X, Y, heading = dynamicsymbols("x y theta")
    row = sm.cos(heading) * (Y.diff(t) * sm.cos(heading) - X.diff(t) * sm.sin(heading))
    kinetic = (X.diff(t) ** 2 + Y.diff(t) ** 2 + heading.diff(t) ** 2) / 2
    system = pfaff.System([X, Y, heading], kinetic, nonholonomic_constraints=[row], name="sleigh")
    states, swing = system.flow.states, np.linspace(-1, 1, 101)
    for most, told in ((np.pi / 2, "all coefficients of constraint 1 of sleigh vanish"), (1.2, "")):
        at = np.outer([name == "theta" for name in states], most * swing)
        assert vanishing_row(system.flow, at, system.at().numbers).startswith(told)
        assert bool(vanishing_row(system.flow, at, system.at().numbers)) == bool(told)


# Every check fires


def failed(result):
    return [check.claim for check in result.checks if not check.passed]


def corrupted(orbit, **changes):
    """An orbit with other data of its point, or of its cycle."""
    cycle = {name: changes.pop(name) for name in ("x", "K", "scalars") if name in changes}
    point = replace(orbit.point, **changes)
    return replace(orbit, point=replace(point, cycle=point.cycle._replace(**cycle)))


def test_corrupted_orbits_are_caught(skating):
    orbit = skating[20]
    assert failed(orbit) == failed(skating) == []
    period = orbit.point.cycle.scalars * np.where(np.arange(len(orbit.point.cycle.scalars)) == 0, 1.001, 1)
    slow = corrupted(orbit, scalars=period)
    assert failed(slow)[0] == "the equations hold between collocation points"
    assert "NOT verified: the equations hold" in slow.status
    ends = orbit.point.cycle.x.copy()
    ends[-1] *= 1.001
    assert "the orbit closes" in failed(corrupted(orbit, x=ends))
    wrong = corrupted(orbit, multipliers=orbit.point.multipliers * np.array([1.0, 1.5, 1.0, 1.0]))
    assert failed(wrong) == ["volumes change as the product of the multipliers says"]
    branch = replace(skating, points=(*skating.points[:-1], slow))
    assert "NOT verified: the equations hold" in branch.status


def test_corrupted_connections_are_caught():
    energy = y**2 / 2 - x**2 / 2 + x**3 / 3
    hopf = pfaff.ode({x: y, y: x - x**2 + y * (mu - energy)}, {mu: -0.3}, load=mu).at().hopf(to=0.1, x=1, y=0)
    found = hopf.orbits(to=0.5).homoclinic()
    assert failed(found) == []
    arc = found.join.arc
    slow = replace(found, join=replace(found.join, arc=arc._replace(duration=1.01 * arc.duration)))
    assert failed(slow) == ["the equations hold between collocation points"]
    away = replace(found, join=replace(found.join, arc=arc._replace(rests=arc.rests + 0.1)))
    assert failed(away) == ["every rate vanishes"]
    assert "NOT verified" in away.status
