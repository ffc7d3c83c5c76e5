"""Branches of equilibria that verify themselves: rest of the whole system, special points that are ones, and corrupted
results that are caught."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import sympy as sm
from sympy.physics.mechanics import ReferenceFrame, dynamicsymbols

import pfaff
from pfaff.bifurcation.equilibria.full_balance import full_balance
from pfaff.bifurcation.equilibria.verified_points import verified
from pfaff.checks import branch_promises as checks
from pfaff.errors import ConvergenceError, NoBifurcationError
from pfaff.rest.balance import Balance
from pfaff.statement import TIME as t

mu, x, y, z = sm.symbols("mu x y z", real=True)
PITCHFORK = {x: mu * x - x**3, y: -y + x**2}


# Where a chart ends


@pytest.fixture(scope="module")
def across():
    """The column whose skate is turned by 90°: in the straight configuration it does not hold the block."""
    return pfaff.atlas.column(2).at(beta0="pi/2", F=1)


@pytest.mark.parametrize("start", [{"theta1": 0.1, "theta2": 0.2}, {"theta2": np.pi / 2}])
@pytest.mark.parametrize("to", [3, -3])
def test_nothing_branches_where_a_constraint_stops_holding_a_coordinate(across, start, to):
    """The straight column bears no load: F = 0 is no branch point but a point of a smooth curve of equilibria."""
    branch = across.branch("F", to, start=start)
    assert not branch.of_kind("branch point")
    assert branch.of_kind("fold")
    assert "NOT" not in branch.status
    edges = [special for special in branch.of_kind("fold") if abs(special.value) < 1e-9]
    assert all("do not determine X_dot here" in special.status for special in edges)
    assert all(check.passed for check in branch.checks)
    for point in branch:
        balance = Balance(point.case, {})
        at = np.array([point.state["theta1"], point.state["theta2"], 0.0, point.reaction["p"]])
        assert balance.relative_residual(at, point.case.numbers) < 1e-6


def test_the_straight_column_bears_no_load_that_its_skate_does_not_hold(across):
    """Its equations in the chart vanish there for every load, since inertia is infinite in it."""
    point = across.branch("F", 3, start={"theta1": 0.1, "theta2": 0.2})[0]
    false = replace(point, spot=replace(point.spot, z=np.array([1e-17, 1e-17, 0.0, 0.0, 3.0])))
    assert "forces balance in every coordinate" in [each.claim for each in false.checks if not each.passed]
    assert "NOT verified: forces balance" in false.status


def test_a_branch_is_cut_where_the_system_does_not_rest(across):
    """Points of a corrupted branch that are none end it by name."""
    branch = across.branch("F", 3, start={"theta1": 0.1, "theta2": 0.2})
    wrong = replace(branch[8], spot=replace(branch[8].spot, z=np.array([1e-17, 1e-17, 0.0, 0.0, 3.0])))
    cut = verified(replace(branch, points=(*branch.points[:8], wrong, *branch.points[9:])))
    assert len(cut) == 8
    assert "beyond it the forces along X do not balance" in cut.ended
    assert cut.ended.reason is pfaff.Reason.SINGULAR
    with pytest.raises(ConvergenceError, match="no equilibrium at F = 3: the forces along X do not balance"):
        verified(replace(branch, points=(wrong, *branch.points[1:])))


def test_true_branch_points_of_one_and_of_several_coordinates_stay():
    a, b = dynamicsymbols("a b")
    F, k = sm.symbols("F k", real=True)
    one = pfaff.System([a], a.diff(t) ** 2 / 2, a**2 / 2 + F * sm.cos(a), parameters={F: 0}, load=F)
    (special,) = one.at().branch("F", 3).special
    assert (special.kind, special.value) == ("branch point", pytest.approx(1))
    assert all(check.passed for check in special.checks)
    energy = a**2 / 2 + (b - a) ** 2 / 2 + F * (sm.cos(a) + sm.cos(b)) + k * b**2 / 2
    two = pfaff.System([a, b], (a.diff(t) ** 2 + b.diff(t) ** 2) / 2, energy, parameters={F: 0, k: 0}, load=F)
    found = two.at().branch("F", 3).of_kind("branch point")
    assert [each.value for each in found] == pytest.approx([(3 - 5**0.5) / 2, (3 + 5**0.5) / 2])
    away = found[0].switch(to=1)
    assert all(check.passed for check in away.checks)


def test_a_branch_ends_where_inertia_becomes_negative():
    a = dynamicsymbols("a")
    c = sm.Symbol("c", real=True)
    system = pfaff.System([a], sm.cos(a) * a.diff(t) ** 2 / 2, (a - c) ** 2 / 2, parameters={c: 0}, load=c)
    branch = system.at().branch("c", 3)
    assert "has negative inertia" in branch.ended
    assert branch[-1].value < np.pi / 2 < branch[-1].value + 0.5


# Pairs that meet on the imaginary axis


def sleeping_top():
    """A top about its upright axis by Cardan angles, which are regular there: stable while J² ω² > 4 I m g l."""
    a, b, c = dynamicsymbols("a b c")
    I, J, weight = sm.symbols("I J weight", positive=True)
    inertial = ReferenceFrame("N")
    body = inertial.orientnew("B", "Body", (a, b, c), "XYZ")
    w = [body.ang_vel_in(inertial).dot(axis) for axis in (body.x, body.y, body.z)]
    kinetic = (I * (w[0] ** 2 + w[1] ** 2) + J * w[2] ** 2) / 2
    parameters = {I: 5, J: 2, weight: 20}
    return pfaff.System([a, b, c], kinetic, weight * inertial.z.dot(body.z), parameters=parameters, name="top")


@pytest.mark.parametrize(("first", "last"), [(16, 4), (4, 16)])
def test_the_sleeping_top_loses_stability_where_two_pairs_meet(first, last):
    """ω = 2 √(I m g l)/J = 10."""
    branch = sleeping_top().at().steady(c_dot=first).branch("c_dot", last)
    (meeting,) = branch.special
    assert meeting.kind == pfaff.Kind.COALESCENCE
    assert meeting.value == pytest.approx(10, rel=1e-9)
    assert meeting.omega == pytest.approx(2, rel=1e-3)  # J ω/(2 I); frequencies meet like a root
    assert all(point.stable == (point.value > 10) for point in branch)
    assert all(check.passed for check in (*meeting.checks, *branch.checks))
    assert "two frequencies meet and leave the imaginary axis" in meeting.status


def test_the_sleeping_top_in_a_parameter():
    branch = sleeping_top().at().steady(c_dot=16).branch("weight", 100)
    (meeting,) = branch.special
    assert (meeting.kind, meeting.value) == ("coalescence", pytest.approx(16**2 * 4 / 20, rel=1e-9))
    with pytest.raises(NoBifurcationError, match="no curve starts from a coalescence"):
        meeting.curve("I", 10)


def test_frequencies_that_cross_without_interaction_do_not_meet():
    a, b = dynamicsymbols("a b")
    k = sm.Symbol("k", positive=True)
    energy = (k * a**2 + 2 * b**2) / 2
    system = pfaff.System([a, b], (a.diff(t) ** 2 + b.diff(t) ** 2) / 2, energy, parameters={k: 1}, load=k)
    assert system.at().branch("k", 4).special == ()


def test_undamped_pairs_that_become_real_are_no_hopf_point():
    """λ² = c ± √(c² − 1): quartets become real at c = 1, and leave the imaginary axis at c = −1."""
    a, b = dynamicsymbols("a b")
    c = sm.Symbol("c", real=True)
    forces = {a: c * a + sm.sqrt(2) * b, b: c * b + (c**2 - 1) / sm.sqrt(2) * a}
    kinetic = (a.diff(t) ** 2 + b.diff(t) ** 2) / 2
    branch = pfaff.System([a, b], kinetic, forces=forces, parameters={c: -2}, load=c).at().branch("c", 2)
    assert [special.kind for special in branch.special][:1] == ["coalescence"]
    assert branch.special[0].value == pytest.approx(-1, rel=1e-8)
    assert not branch.of_kind("hopf")


def test_eigenvalues_that_meet_away_from_zero_are_no_bogdanov_takens_point():
    """λ² − μλ + 1 has a double root 1 at μ = 2, beside the eigenvalue −1: sums of eigenvalues vanish there too."""
    rates = {x: y, y: mu * y - x - x**3 - x**2 * y, z: x**2 - z}
    for to in (2, 3):
        branch = pfaff.ode(rates, {mu: -1}, load=mu).at().branch("mu", to, start={"x": 0, "y": 0, "z": 0})
        assert [(special.kind, special.value) for special in branch.special] == [("hopf", pytest.approx(0, abs=1e-12))]


# Orbits of a branch between its last point and a fold


def test_equilibria_between_the_last_point_and_a_fold_are_found():
    """μ = y³ − y: two folds at ±2/(3√3), also where both lie in one step."""
    fold = 2 / 27**0.5
    branch = pfaff.ode({y: mu + y - y**3}, {mu: -1}, load=mu).at().branch("mu", 1, start={"y": -1.3})
    assert [special.value for special in branch.special] == pytest.approx([fold, -fold])
    for inside in (1e-1, 1e-3, 1e-6, 1e-9):
        for value in (fold - inside, inside - fold):
            roots = np.sort(np.roots([1, 0, -1, -value]).real)
            assert np.sort([point["y"] for point in branch.at(value)]) == pytest.approx(roots, abs=1e-6)
    assert [len(branch.at(value)) for value in (fold + 1e-9, -fold - 1e-9)] == [1, 1]
    coarse = replace(branch, points=(branch[0], branch[-1]), places=(1, 1))
    assert len(coarse.at(0.1)) == 3


# Every check fires


@pytest.fixture(scope="module")
def pitchfork():
    return pfaff.ode(PITCHFORK, {mu: -1}, load=mu).at().branch("mu", 1)


def failed(result):
    return [check.claim for check in result.checks if not check.passed]


def moved(point, by):
    """A result with its solution moved by a vector."""
    return replace(point, spot=replace(point.spot, z=point.spot.z + by))


def test_a_corrupted_equilibrium_is_caught(pitchfork):
    assert failed(pitchfork) == failed(pitchfork[3]) == []
    false = moved(pitchfork[3], np.array([0.0, 1e-3, 0.0]))
    assert "every rate vanishes" in failed(false)
    assert "NOT verified: every rate vanishes" in false.status
    assert failed(replace(pitchfork, points=(*pitchfork.points, false)))


def test_corrupted_eigenvalues_are_caught(pitchfork):
    point = pitchfork[3]
    facts = replace(point.spot.facts)
    facts.tell(eigenvalues=point.eigenvalues + 0.1)
    assert failed(replace(point, spot=replace(point.spot, facts=facts))) == ["eigenvalues add up to the trace"]


def test_a_branch_point_that_is_none_is_caught(pitchfork):
    (special,) = pitchfork.special
    assert failed(special) == []
    false = moved(special, np.array([0.0, 0.0, 0.3]))
    assert "the Jacobian is singular" in failed(false)
    assert "the Jacobian is singular" in failed(replace(pitchfork, special=(false,)))


def test_a_branch_point_of_the_whole_balance_that_is_none_is_caught():
    a = dynamicsymbols("a")
    F = sm.Symbol("F", real=True)
    one = pfaff.System([a], a.diff(t) ** 2 / 2, a**2 / 2 + F * sm.cos(a), parameters={F: 0}, load=F)
    (special,) = one.at().branch("F", 3).special
    assert "the balance is singular" in failed(moved(special, np.array([0.0, 0.0, 0.2])))
    whole = full_balance(special.equations, [special.spot.z])
    assert whole is not None
    assert whole.residuals.max() < 1e-12


def test_hopf_points_and_meetings_that_are_none_are_caught():
    rates = {x: mu * x - y - x**3, y: x + mu * y}
    (hopf,) = pfaff.ode(rates, {mu: -1}, load=mu).at().branch("mu", 1).of_kind("hopf")
    assert failed(hopf) == []
    facts = replace(hopf.spot.facts)
    facts.tell(eigenvalues=np.array([0.1 + 1j, -0.1 - 1j]))
    assert "the pair ±iω is on the imaginary axis" in failed(replace(hopf, spot=replace(hopf.spot, facts=facts)))
    assert not checks.met(np.array([0.3]), np.array([1j, 1.3j])).passed
    assert not checks.inert([1.0, -0.1]).passed


def test_a_pair_that_is_always_on_the_axis_is_no_witness_of_a_hopf_point():
    u, w = sm.symbols("u w", real=True)
    rates = {x: mu * x - y - x**3, y: x + mu * y, u: 2 * w, w: -2 * u}
    (hopf,) = pfaff.ode(rates, {mu: -1}, load=mu).at().branch("mu", 1, start={"x": 0, "u": 0}).of_kind("hopf")
    assert failed(hopf) == []
    assert hopf.omega == pytest.approx(1)
    beside = moved(hopf, np.array([0.0] * 4 + [0.1]))
    assert np.isin(2j, np.round(beside.spot.facts.eigenvalues, 9))
    assert "the pair ±iω is on the imaginary axis" in failed(beside)


def test_eigenvalues_that_are_told_and_are_not_those_of_the_jacobian_are_no_witnesses():
    values, J = np.array([1j, -1j, 2j, -2j]), np.array([[0.0, 2], [-2, 0]])
    assert checks.on_axis(values, 1.0).passed
    assert not checks.on_axis(values, 1.5).passed
    assert checks.on_axis(values, 2.0, J).passed
    assert not checks.on_axis(values, 1.0, J).passed
    assert checks.on_axis(values, 1.0, many=2).passed
    assert not checks.on_axis(np.array([1j, -1j, 0.1 + 2j, 0.1 - 2j]), 1.0, many=2).passed


@pytest.mark.parametrize("stiffness", [1e6, 1e9, 1e12, 1e14])
def test_hopf_points_beside_stiff_springs_are_not_doubted_for_their_rounding(stiffness):
    """The soft pair ±i/√2 crosses at μ = 0, whatever couples x to y; beside 1e12 its digits are rounding."""
    a, b = dynamicsymbols("a b")
    relative = a.diff(t) - b.diff(t)
    system = pfaff.System(
        [a, b],
        (a.diff(t) ** 2 + b.diff(t) ** 2) / 2,
        stiffness * (a - b) ** 2 / 2 + b**2 / 2,
        stiffness**0.5 * relative**2 / 2,
        forces={b: mu * b.diff(t) - b.diff(t) ** 3},
        parameters={mu: -1},
        load=mu,
    )
    (hopf,) = system.at().branch("mu", 1).of_kind("hopf")
    assert hopf.value == pytest.approx(0, abs=1e-8)
    assert failed(hopf) == []
    (axis,) = [each for each in hopf.checks if "imaginary axis" in each.claim]
    assert bool(axis.unmade) == (stiffness > 1e11)
    if stiffness < 1e8:
        assert "the pair ±iω is on the imaginary axis" in failed(moved(hopf, np.array([0.0] * 4 + [0.1])))


def test_corrupted_curves_are_caught():
    fold = pfaff.ode({x: mu + z * x - x**3}, {mu: -1, z: 1}, load=mu).at().branch("mu", 1, start={"x": -1.3}).special[0]
    curve = fold.curve("z", to=3)
    assert failed(curve) == failed(curve[2]) == []
    assert failed(moved(curve[2], np.array([0.0, 0.1, 0.0]))) == ["every rate vanishes"]
    assert "the Jacobian is singular" in failed(moved(curve[2], np.array([0.3, 0.0, 0.0])))


def test_a_branch_point_is_singular_alone():
    """Where the equations are singular everywhere, as with a structural zero that was not divided out, none is one."""
    special = pfaff.ode(PITCHFORK, {mu: -1}, load=mu).at().branch(to=1).special[0]
    assert "the Jacobian is singular there alone" in [check.claim for check in special.checks if check.passed]
    along = pfaff.ode({x: -x, y: 0 * y}, {mu: -1}, load=mu).at().branch(to=1)[0]
    s = replace(along.equations, zeros=(), columns=np.zeros((2, 0)), rows=np.zeros((0, 2)), held=np.zeros(0))
    s = replace(s, pull=np.zeros((0, 1)), sizes=np.ones(3))
    tangent = np.array([0.0, 0.0, 1.0])
    false = replace(special, problem=replace(special.problem, equations=s), spot=replace(special.spot, z=tangent))
    assert "the Jacobian is singular there alone" in [check.claim for check in false.checks if not check.passed]
