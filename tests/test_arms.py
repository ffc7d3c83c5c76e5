"""Arms, columns and sleighs whose cycles pass positions where the constraints do not determine the velocity that a
chart solves for: their branches go on as if nothing had happened, since nothing has."""

from __future__ import annotations

import pickle
import re
from functools import cache

import numpy as np
import pytest
import sympy as sm

import pfaff
from pfaff.continuation.endings import Reason
from pfaff.flow.all_velocities import in_all_velocities
from pfaff.flow.differentiation import jacobian_entries
from pfaff.flow.lowering import full_flow
from pfaff.statement import TIME, coordinates
from test_orbits import heading_alone, turning_sleigh
from variational import varied

RANGES = (0.5, 1e3)
TILTED = sm.Rational(1, 2)


@cache
def arm(third, tilt=0):
    """Two bars on springs and dampers, driven at the first hinge, with a skate at the end, at an angle to its bar.

    The hinge slides freely across the bars, or on a spring, or it is fixed and the skate is on a castor.
    """
    a, b, q = coordinates("theta1 theta2 q")
    drive, castor = sm.Symbol("F", real=True), third == "castor"
    damping, saturation, length = sm.Rational(1, 10), sm.Rational(1, 20), sm.Rational(7, 10)

    def along(angle):
        return sm.Matrix([sm.cos(angle), sm.sin(angle)])

    hinge = sm.Matrix([0, 0 if castor else q])
    elbow = hinge + along(a)
    tip = elbow + length * along(b)
    end = tip + sm.Rational(3, 10) * along(q) if castor else tip
    centres = [(hinge + elbow) / 2, (elbow + tip) / 2, end]
    kinetic = sum(each.diff(TIME).dot(each.diff(TIME)) for each in centres) / 2
    kinetic += (a.diff(TIME) ** 2 + length**2 * b.diff(TIME) ** 2) / 24
    kinetic += q.diff(TIME) ** 2 / (20 if castor else 2)
    stretches = [a, b - a, q - b if castor else q]
    heading = (q if castor else b) + tilt
    return pfaff.System(
        name="arm",
        coordinates=[a, b, q],
        kinetic=sm.simplify(kinetic),
        potential=sum(each**2 for each in (stretches[:2] if third == "slide" else stretches)) / 2,
        dissipation=damping * sum(each.diff(TIME) ** 2 for each in stretches) / 2,
        forces={a: (drive - saturation * a**2) * a.diff(TIME)},
        nonholonomic_constraints=[sm.simplify(end.diff(TIME).dot(sm.Matrix([-sm.sin(heading), sm.cos(heading)])))],
        parameters={drive: 0},
        load="F",
    )


def coefficient(branch, dependent):
    """Of the velocity that was solved for, on each orbit: the least of its values relative to the largest."""
    system = branch.problem.case.system
    velocity = system.coordinates[system.coordinate_names.index(dependent.removesuffix("_dot"))].diff(TIME)
    values_of = sm.lambdify(system.coordinates, system.nonholonomic_constraints[0].diff(velocity), "numpy")
    least = []
    for orbit in branch:
        states = dict(zip(orbit.orbit.states, orbit.orbit.x, strict=True))
        values = values_of(*(states.get(name, 0.0) for name in system.coordinate_names))
        least.append((values / values[np.abs(values).argmax()]).min())
    return np.array(least)


def start_of(orbit):
    """The first state of an orbit, its ignorable coordinates at zero."""
    system, at = orbit.case.system, orbit.orbit
    known = [name for name in system.coordinate_names if name in at.states]
    return {name: float(at[name][0]) for name in (*known, *at.velocities)}


def missed(orbit):
    """How far a motion from an orbit's first state is from it after a period, relative to what it covers."""
    start, at = start_of(orbit), orbit.orbit
    motion = orbit.case.simulate(orbit.period, **start)
    return max(abs(motion[name][-1] - value) / np.ptp(at[name]) for name, value in start.items())


def monodromy(orbit):
    """Multipliers of the equations with multipliers, in all coordinates, by variational integration."""
    flow, start = full_flow(orbit.case.system), start_of(orbit)
    x = np.array([start.get(name, 0.0) for name in flow.states])
    return np.linalg.eigvals(varied(flow, x, orbit.case.numbers, orbit.period, 1e-15)[1])


def agree(multipliers, others, within):
    """Whether each of some multipliers is among others, of which those left over are 1 by structure.

    The others have 1 in Jordan blocks, where rounding is large; of the multipliers it is one, to its last digits.
    """
    left, jordan = list(others), 1e-4
    for each in multipliers:
        nearest = min(left, key=lambda other: abs(other - each))
        assert nearest == pytest.approx(each, abs=jordan if abs(each - 1) < 1e-9 else within)
        left.remove(nearest)
    assert left == pytest.approx(np.ones(len(left)), abs=jordan)
    assert np.abs(multipliers - 1).min() < 1e-9


@pytest.mark.parametrize(
    ("third", "tilt", "dependent", "points"),
    [
        ("slide", TILTED, "q_dot", 60),
        ("castor", 0, "theta1_dot", 55),
        pytest.param("slide", 0, "q_dot", 100, marks=pytest.mark.slow),
        pytest.param("spring", TILTED, "theta1_dot", 150, marks=pytest.mark.slow),
    ],
)
def test_cycles_of_an_arm_go_on_where_the_skate_does_not_determine_a_velocity(third, tilt, dependent, points):
    """With the same special points however far the branch is to go; motions and multipliers are the system's own."""
    hopf = arm(third, tilt).at().hopf()
    branches = [hopf.orbits(to=hopf.value + far, points=points) for far in RANGES]
    known = min(len(branch.special) for branch in branches)
    kinds = [[each.kind for each in branch.special[:known]] for branch in branches]
    assert known >= 2
    assert kinds == [kinds[0]] * len(RANGES)
    assert not any(each.note or each.kind == "branch point" for branch in branches for each in branch.special)
    values = np.array([[each.value for each in branch.special[:known]] for branch in branches])
    assert values == pytest.approx(np.tile(values[0], (len(RANGES), 1)), abs=1e-8)
    for branch in branches:
        assert branch.ended.reason in (Reason.REACHED, Reason.POINTS)
        assert coefficient(branch, dependent).min() < -0.1
        assert branch.problem.flow.dependent == ()
        assert all(orbit.problem is branch.problem for orbit in (*branch, *branch.special))
    last = branches[0][-1]
    assert missed(last) < 1e-8
    agree(last.multipliers, monodromy(last), 1e-7)


def test_orbits_are_those_of_the_chart_as_far_as_it_reaches():
    """Period and multipliers at a load before the position where q̇ is not determined, and special points."""
    hopf = arm("slide", TILTED).at().hopf()
    inside, through = hopf.orbits(to=0.7), hopf.orbits(to=0.8)
    assert inside.problem.flow.dependent == ("q_dot",)
    assert coefficient(inside, "q_dot").min() > 0.1
    chart, same = inside[-1], through.at(0.7)[-1]
    assert same.period == pytest.approx(chart.period, rel=1e-11)
    assert same.multipliers == pytest.approx(chart.multipliers, abs=1e-10)
    assert same.amplitude["theta2"] == pytest.approx(chart.amplitude["theta2"], rel=1e-6)  # between samples
    assert [each.value for each in through.special] == pytest.approx([each.value for each in inside.special], abs=1e-9)
    assert through[0].period == pytest.approx(hopf.orbits(to=0.8, points=2)[0].period, rel=1e-12)


def test_the_heading_of_a_sleigh_swings_beyond_a_right_angle():
    """It moves by itself: amplitude and period by integration, one multiplier by Liouville's formula, and e^−T."""
    hopf = turning_sleigh().at().hopf()
    for to in (0.3, 1.0):
        branch = hopf.orbits(to=to)
        assert branch.special == ()
        assert branch.ended.reason is Reason.REACHED
        last = branch[-1]
        period, amplitude = heading_alone(to)
        assert last.amplitude["theta"] > np.pi
        assert (last.period, last.amplitude["theta"]) == pytest.approx((period, amplitude), rel=1e-7)
        square = last.problem.collocation.deviations(last.point.cycle)
        mean = (square[0][0] ** 2) + (square[1][0] ** 2) @ square[2]
        damped = np.exp((to - 0.05 - mean / 10) * last.period)
        assert np.sort(last.multipliers.real) == pytest.approx(np.sort([1.0, damped, np.exp(-last.period)]), abs=1e-9)
        assert missed(last) < 1e-8


def test_what_is_asked_of_a_branch_beyond_its_chart():
    """It is extended from within its chart, stored, pickled and met by a motion."""
    case = turning_sleigh().at()
    hopf = case.hopf()
    branch, short = hopf.orbits(to=0.3), hopf.orbits(to=0.08)
    assert short.problem.flow.dependent == ("y_dot",)
    longer = short.extend(0.3)
    assert longer.problem.flow.dependent == ()
    assert len(longer) > len(short)
    assert all(orbit.problem is longer.problem for orbit in longer)
    assert longer[len(short) - 1].value == 0.08
    met = case.at(mu=0.3).orbit(case.at(mu=0.3).simulate(200, theta=1.0))
    sent = pickle.loads(pickle.dumps(branch))
    for other in (longer[-1], met, sent[-1]):
        assert other.period == pytest.approx(branch[-1].period, rel=1e-11)
        assert other.multipliers == pytest.approx(branch[-1].multipliers, abs=1e-9)


@pytest.fixture(scope="module")
def walking():
    """A column whose last bar swings beyond a right angle to the way that its block walks."""
    column = pfaff.atlas.column(2, constraint="skate", load="dead")
    return column.at(d="1/2", M_L=1, I_L=1, k1=1, c_i="1/2")


def test_a_column_swings_beyond_a_right_angle_and_walks(walking, tmp_path):
    """Half a period gives the other half; in it Ẋ is the same and not mirrored. A stored branch is what it was."""
    branch = walking.hopf().orbits(to=0.9, points=40)
    last = branch[-1]
    assert last.symmetric
    assert last.amplitude["theta2"] > np.pi / 2
    assert dict(zip(branch.problem.flow.states, last.point.cycle.signs, strict=True))["X_dot"] == 1
    motion = last.case.simulate(last.period, **start_of(last))
    assert missed(last) < 1e-8
    assert motion["X"][-1] - motion["X"][0] == pytest.approx(last.advance["X"], rel=1e-9)
    agree(last.multipliers, monodromy(last), 1e-7)
    again = pfaff.load(branch.save(tmp_path / "walk.nc"), walking)
    assert again[-1].multipliers == pytest.approx(last.multipliers, abs=1e-9)
    assert again.extend(0.9, points=3)[-1].symmetric


def test_a_branch_ends_where_the_constraint_itself_vanishes(walking):
    """Both bars across the way of the block: at the same load, however far it is to go."""
    hopf = walking.hopf()
    ends = []
    for to in (6.8, 100.0):
        branch = hopf.orbits(to=to)
        assert "positions where the constraints are not independent" in branch.ended
        ends.append(float(re.search(r"no orbit beyond ([\d.]+):", branch.ended)[1]))
        assert branch.ended.reason is Reason.EDGE
        both = np.hypot(branch[-1].orbit["theta1"] - np.pi / 2, branch[-1].orbit["theta2"] - np.pi / 2)
        assert both.min() < 2e-3
    assert ends == pytest.approx([ends[0]] * 2, abs=1e-6)


def test_folds_are_followed_out_of_the_chart():
    """θ̈ + θ = (μ + a θ² − θ⁴/50) θ̇ is alone: its folds are those of a plain equation."""
    X, Y, heading = coordinates("x y theta")
    mu, a = sm.symbols("mu a", real=True)
    v, w, turn = X.diff(TIME), Y.diff(TIME), heading.diff(TIME)
    push = (mu + a * heading**2 - heading**4 / 50) * turn
    sleigh = pfaff.System(
        name="sleigh",
        coordinates=[X, Y, heading],
        kinetic=(v**2 + w**2 + turn**2) / 2,
        potential=heading**2 / 2,
        dissipation=(v**2 + w**2) / 2,
        forces={X: turn * sm.cos(heading), Y: turn * sm.sin(heading), heading: push},
        nonholonomic_constraints=[w * sm.cos(heading) - v * sm.sin(heading)],
        parameters={mu: 0, a: "0.03"},
        load="mu",
    )
    q, u = sm.symbols("q u", real=True)
    alone = pfaff.ode({q: u, u: -q + (mu + a * q**2 - q**4 / 50) * u}, parameters={mu: 0, a: "0.03"}, load=mu)
    curves = []
    for case in (sleigh.at(), alone.at()):
        (fold,) = case.hopf(to=0.1).orbits(to=-0.1, points=20).special
        assert fold.problem.flow.dependent == (("y_dot",) if case.system is sleigh else ())
        curves.append(fold.curve("a", 0.06))
    curve, plain = curves
    assert curve.ended.reason is Reason.REACHED
    assert all(point.special.problem.flow.dependent == () for point in curve)
    assert curve[0].values["mu"] == pytest.approx(plain[0].values["mu"], rel=1e-9)
    assert curve[0].special.amplitude["theta"] < 1.4
    assert curve[-1].special.amplitude["theta"] > 1.7
    assert curve[-1].values["mu"] == pytest.approx(plain[-1].values["mu"], rel=1e-8)


def test_constraints_attract_at_their_rate():
    """ċ = −s c at any state, whether it obeys the constraints or not; with φ̇ = −s φ + c for what is holonomic."""
    for system in (turning_sleigh(), pfaff.atlas.double_four_bar()):
        wide, numbers = in_all_velocities(system.shape, 3.0), system.at().numbers
        x = np.random.default_rng(7).uniform(0.2, 0.8, len(wide.states))
        gradient = wide.compiled("gradient", lambda flow=wide: _gradient(flow))(x, numbers)
        bonds = wide.compiled("bond", lambda flow=wide: list(flow.bonds))(x, numbers)
        held = len(system.statement.positions)  # the last bonds are φ, those before them c = φ̇ + s φ
        expected = -3.0 * bonds
        expected[len(bonds) - held :] += bonds[len(bonds) - 2 * held : len(bonds) - held]
        assert gradient.reshape(len(bonds), -1) @ wide.rhs(x, numbers) == pytest.approx(expected, rel=1e-9)


def _gradient(flow):
    return jacobian_entries(flow.bonds, flow.variables)
