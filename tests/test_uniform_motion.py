"""Constraints that move uniformly: steady motions, whatever form the statement gives them."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
import sympy as sm

import pfaff
from pfaff.errors import ConvergenceError, ParameterError
from pfaff.flow.uniform_motion import moving_along
from pfaff.statement import TIME as t
from pfaff.statement import coordinates

theta, phi = coordinates("theta phi")
x, y, q, psi = coordinates("x y q psi")
m, R, g, Omega, J, l, k = sm.symbols("m R g Omega J l k", positive=True)
a, v, u = sm.symbols("a v u", real=True)
c = sm.Symbol("c", nonnegative=True)


def hoop(constraint, more=0) -> pfaff.System:
    """A bead on a hoop that is driven about its vertical axis; it leaves the bottom at Ω² = g/R."""
    bead = m * R**2 * (theta.diff(t) ** 2 + sm.sin(theta) ** 2 * phi.diff(t) ** 2) / 2
    return pfaff.System(
        [theta, phi],
        bead + phi.diff(t) ** 2 / 2 + more,
        -m * g * R * sm.cos(theta),
        holonomic_constraints=[constraint],
        parameters={m: 1, R: 1, g: 9.81, Omega: 1},
        load=Omega,
    )


HOOPS = {
    "plain": hoop(phi - Omega * t),
    "scaled and shifted": hoop(3 * R * phi - 3 * R * Omega * t + sm.Rational(1, 3)),
    "as a sine": hoop(sm.sin(phi - Omega * t)),
    "with a total derivative": hoop(phi - Omega * t, (phi * sm.sin(theta)).diff(t)),
}


@pytest.mark.parametrize("system", HOOPS.values(), ids=HOOPS)
def test_a_driven_hoop_diverges_at_its_critical_speed(system):
    assert system.at().divergence(to=20).value == pytest.approx(np.sqrt(9.81), rel=1e-9)
    assert system.at(Omega=3).spectrum().stable
    grows = np.sqrt(25 - 9.81)
    assert system.at(Omega=5).spectrum().values == pytest.approx([grows, -grows], rel=1e-9)
    assert system.at(Omega=5).steady().eigenvalues == pytest.approx([grows, -grows], rel=1e-9)


def test_the_motion_of_the_hoop_leaves_as_its_spectrum_says():
    case = HOOPS["plain"].at(Omega=5)
    growth = case.spectrum().values.real.max()
    motion = case.simulate(2, theta=1e-6, theta_dot=1e-6 * growth)
    assert motion["theta"][-1] == pytest.approx(1e-6 * np.exp(2 * growth), rel=1e-3)


def test_its_closed_form_is_that_of_the_eliminated_coordinate():
    assert HOOPS["plain"].at(g=10).divergence(exact=True, to=20).value == sm.sqrt(10)


@cache
def towed(form: str) -> pfaff.System:
    """The towed wheel of the atlas with the place x of its king pin as a coordinate."""
    centre = sm.Matrix([x - a * sm.cos(psi), q - a * sm.sin(psi)]).diff(t)
    sideways = q.diff(t) * sm.cos(psi) - x.diff(t) * sm.sin(psi) - l * psi.diff(t)
    kinetic = m * centre.dot(centre) / 2 + J * psi.diff(t) ** 2 / 2
    parameters = {m: 1, J: "1/2", l: 1, a: "1/2", k: 1, c: "1/10", v: 0}
    moving, rows, more = [x - v * t], [sideways], []
    if form == "with its roll":
        rows, more, kinetic = [sideways, x.diff(t) - 2 * y.diff(t)], [y], kinetic + y.diff(t) ** 2
    elif form == "a tow bar of two":
        moving, more, kinetic = [2 * x - y - v * t, y - x], [y], kinetic + y.diff(t) ** 2
    return pfaff.System(
        [x, q, psi, *more],
        kinetic,
        potential=k * q**2 / 2,
        dissipation=c * q.diff(t) ** 2 / 2,
        nonholonomic_constraints=rows,
        holonomic_constraints=moving,
        parameters=parameters,
        load=v,
        accept_integrable=True,
    )


@pytest.mark.parametrize("form", ["plain", "with its roll", "a tow bar of two"])
def test_a_wheel_towed_by_a_moving_constraint_shimmies_as_the_one_of_the_atlas(form):
    case, reference = towed(form).at(), pfaff.atlas.towed_wheel().at()
    assert case.flutter(to=10).value == pytest.approx(reference.flutter(to=10).value, rel=1e-9)
    at = case.at(v=1)
    assert np.sort_complex(at.spectrum().values) == pytest.approx(
        np.sort_complex(reference.spectrum(v=1).values), rel=1e-9
    )
    motion = at.steady()
    assert motion["x_dot"] == pytest.approx(1)
    assert motion.eigenvalues == pytest.approx(at.spectrum().values, rel=1e-8)
    assert "x_dot = 1" in at.equilibrium().status
    assert at.equilibrium().velocities["x_dot"] == 1


def test_branches_hopf_points_sweeps_and_exports_are_those_of_the_atlas():
    case, reference = towed("plain").at(v=0.1), pfaff.atlas.towed_wheel().at(v=0.1)
    ours, theirs = (each.branch(to=6) for each in (case, reference))
    assert [p.kind for p in ours.special] == [p.kind for p in theirs.special] == ["hopf", "hopf"]
    assert [p.value for p in ours.special] == pytest.approx([p.value for p in theirs.special], rel=1e-9)
    found, expected = (each.hopf(to=10) for each in (case, reference))
    assert [found.value, found.omega, found.l1] == pytest.approx([expected.value, expected.omega, expected.l1])
    study = case.sweep({"k": [0.5, 2.0]}, measure="flutter", to=10).run().dataset["flutter"]
    assert study.values == pytest.approx([reference.at(k=each).flutter(to=10).value for each in (0.5, 2.0)])
    assert "time" not in str(case.export("numpy").files)


def test_samples_of_a_motion_that_travels_are_taken_along():
    case = towed("plain").at(v=3)
    motion = case.simulate(2, psi=0.3)
    states = case.system.shape.states
    along = moving_along(case, states, motion.t, np.array([motion[name] for name in states]))
    assert np.abs(along[states.index("x")]).max() < 1e-12
    assert (along[states.index("psi")] == motion["psi"]).all()


def test_cycles_born_on_the_move_are_those_of_the_atlas():
    systems = towed("plain"), pfaff.atlas.towed_wheel()
    ours, theirs = (each.at().hopf(to=10).orbits(to=0.45).at(0.455)[0] for each in systems)
    assert ours.period == pytest.approx(theirs.period, rel=1e-8)
    assert ours.stable == theirs.stable


def test_a_pendulum_on_a_support_that_moves_hangs_as_one_on_a_support_that_rests():
    pendulum = pfaff.System(
        [x, y],
        (x.diff(t) ** 2 + y.diff(t) ** 2) / 2,
        g * y,
        holonomic_constraints=[(x - v * t) ** 2 + y**2 - 1],
        parameters={g: 9.81, v: 2},
    )
    assert np.abs(pendulum.at().spectrum(y=-1).values.imag) == pytest.approx(2 * [np.sqrt(9.81)])
    assert not pendulum.at().spectrum(y=1).stable


def test_masses_that_share_a_motion_are_carried_alike():
    pair = pfaff.System(
        [x, y],
        (x.diff(t) ** 2 + y.diff(t) ** 2) / 2,
        k * (x - y) ** 2 / 2,
        holonomic_constraints=[x + y - v * t],
        parameters={k: 1, v: 1},
    )
    assert pair.uniform_motion == (v / 2, v / 2)
    assert np.abs(pair.at().spectrum().values.imag) == pytest.approx(2 * [np.sqrt(2)])


NOT_UNIFORM = {
    "gravity turns": (phi - Omega * t, sm.cos(phi) * theta),
    "it accelerates": (phi - Omega * t**2, 0),
    "it oscillates": (phi - sm.sin(Omega * t), 0),
}


@pytest.mark.parametrize(("constraint", "potential"), NOT_UNIFORM.values(), ids=NOT_UNIFORM)
@pytest.mark.parametrize("ask", ["spectrum", "equilibrium", "equilibria", "steady", "critical", "hopf"])
def test_what_depends_on_time_in_any_coordinates_is_refused(constraint, potential, ask):
    system = pfaff.System(
        [theta, phi],
        (theta.diff(t) ** 2 + (1 + sm.sin(theta) ** 2) * phi.diff(t) ** 2) / 2,
        theta**2 + potential,
        holonomic_constraints=[constraint],
        parameters={Omega: 2},
        load=Omega,
    )
    assert not system.autonomous
    with pytest.raises((ConvergenceError, ParameterError), match="time"):
        getattr(system.at(), ask)()


def test_a_velocity_that_is_demanded_makes_a_constraint_rheonomic():
    """x_dot − v = 0 has the integral x − v t, which contains time."""
    rows = [x.diff(t) - v, y.diff(t) - x.diff(t)]
    system = pfaff.System(
        [x, y],
        (x.diff(t) ** 2 + y.diff(t) ** 2) / 2,
        nonholonomic_constraints=rows,
        parameters={v: 1},
        accept_integrable=True,
    )
    assert [each.scleronomic for each in system.classification.constraints] == [False, True]
    assert "rheonomic" in system.classification.status


@pytest.mark.parametrize("far", [sm.exp(-100 * (x - 20) ** 2), y * sm.exp(100 * (x - 20)), (x / 40) ** 60])
def test_what_stands_far_away_does_not_move_along(far):
    pulled = pfaff.System(
        [x, y],
        (x.diff(t) ** 2 + y.diff(t) ** 2) / 2,
        y**2 / 2 + far,
        holonomic_constraints=[x - v * t],
        parameters={v: 1},
    )
    assert pulled.uniform_motion == ()
