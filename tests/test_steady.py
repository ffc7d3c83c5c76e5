"""Steady motions of any system: families by name, spectra without structural zeros, critical speeds."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
import sympy as sm

import pfaff
from pfaff.errors import ConvergenceError, NoBifurcationError, ParameterError
from pfaff.flow.relative import relative_flow
from pfaff.rest.protocol import UnderLoad
from pfaff.statement import TIME as t
from pfaff.statement import coordinates

ROLLING = {"disc": (1 / 4, 1 / 2, 1 / 3), "hoop": (1 / 2, 1.0, 1 / 4)}  # A and C in m r², and Ω²r/g when it falls


@pytest.fixture(scope="module", params=ROLLING)
def rolling(request) -> tuple[pfaff.Case, tuple[float, float, float]]:
    system = pfaff.atlas.rolling_disc() if request.param == "disc" else pfaff.atlas.rolling_hoop()
    return system.at(g=9.81, r=0.3), ROLLING[request.param]


@pytest.fixture(scope="module")
def bicycle() -> pfaff.Case:
    return pfaff.atlas.whipple_bicycle().at()


def test_the_heading_of_a_wheel_is_cyclic(rolling):
    flow = relative_flow(rolling[0].system)
    assert set(flow.states) == {"theta", "theta_dot", "psi_dot", "phi_dot"}
    assert set(flow.dropped) == {"x", "y", "psi", "phi"}


def test_upright_rolling_is_stable_from_the_published_rate_on(rolling):
    """Neimark and Fufaev (1972), Ch. III: Ω² > g/(3r) for the disc, g/(4r) for the hoop."""
    case, (_, _, critical) = rolling
    rate = np.sqrt(critical * 9.81 / 0.3)
    branch = case.steady(phi_dot=2 * rate).branch("phi_dot", to=rate / 2)
    assert [special.kind for special in branch.special] == ["divergence"]
    assert branch.special[0].value == pytest.approx(rate, rel=1e-10)
    assert case.steady(phi_dot=1.01 * rate).stable
    assert not case.steady(phi_dot=0.99 * rate).stable


def test_steady_circles_balance(rolling):
    """Moments about the contact, by hand; and the motion itself stays steady."""
    case, (across, axial, _) = rolling
    motion = case.steady(phi_dot=12, theta=0.3)
    turn, lean = motion["psi_dot"], 0.3
    spin = (axial + 1) * (12 + turn * np.sin(lean)) - across * turn * np.sin(lean)
    assert 9.81 / 0.3 * np.sin(lean) + turn * np.cos(lean) * spin == pytest.approx(0, abs=1e-12)
    assert motion["x_dot"] == pytest.approx(12 * 0.3)
    assert motion.family_dimension == 2
    assert set(motion.family) == {"phi_dot", "theta"}
    moving = case.simulate(3, **motion.initial)
    assert np.ptp(moving["theta"]) < 1e-12
    assert np.ptp(moving["psi_dot"]) < 1e-12


@pytest.mark.slow
def test_eigenvalues_are_what_differences_of_the_motion_show(rolling):
    """An independent route: the frequency of a small wobble, from a simulation in all coordinates."""
    case, _ = rolling
    motion = case.steady(phi_dot=12, theta=0.3)
    frequency = motion.eigenvalues.imag.max()
    start = {**motion.initial, "theta": motion["theta"] + 1e-5}
    moving = case.simulate(40 * np.pi / frequency, samples=8001, **start)
    time, rate = moving.t[1:], moving["theta_dot"][1:]
    k = np.flatnonzero(rate[:-1] * rate[1:] < 0)
    turning = time[k] - rate[k] * (time[k + 1] - time[k]) / (rate[k + 1] - rate[k])
    assert np.pi / np.diff(turning).mean() == pytest.approx(frequency, rel=1e-5)


def test_at_the_critical_rate_no_structural_zero_is_added(rolling):
    case, (_, _, critical) = rolling
    motion = case.steady(phi_dot=np.sqrt(critical * 9.81 / 0.3))
    assert motion.zeros == (2,)
    assert np.abs(motion.eigenvalues).max() < 1e-5
    assert motion.spectrum().structural_zeros == 2


def test_a_speed_that_others_determine_may_be_fixed_instead(rolling):
    case, _ = rolling
    assert case.steady(x_dot=3.6)["phi_dot"] == pytest.approx(12)


def test_what_cannot_be_fixed_is_refused(rolling):
    case, _ = rolling
    with pytest.raises(ParameterError, match="do not leave phi_dot, x_dot free together"):
        case.steady(x_dot=2, phi_dot=1)
    with pytest.raises(ParameterError, match="alike at every psi: fix its velocity psi_dot"):
        case.steady(psi=0.3)
    with pytest.raises(ParameterError, match="phi_dot"):
        case.steady(phy_dot=0.3)
    with pytest.raises(ParameterError, match="finite"):
        case.steady(phi_dot=float("nan"))
    with pytest.raises(ParameterError, match="phi_dot='fast' is not a number"):
        case.steady(phi_dot="fast")
    with pytest.raises(ConvergenceError, match="fix fewer names"):
        case.steady(theta=0.3, phi_dot=12, psi_dot=5)


def test_the_governor_of_a_spinning_hoop():
    """A bead on a hoop that spins freely: ψ̇² cos θ = g/r away from the bottom, where that is stable."""
    theta, psi = coordinates("theta psi")
    hoop = pfaff.System(
        coordinates=[theta, psi],
        kinetic=theta.diff(t) ** 2 / 2 + (sm.sin(theta) ** 2 + 3) * psi.diff(t) ** 2 / 2,
        potential=-sm.cos(theta),
    ).at()
    aside = hoop.steady(start={"theta": 0.8}, psi_dot=1.5)
    assert np.cos(aside["theta"]) == pytest.approx(1 / 1.5**2, rel=1e-12)
    assert aside.stable
    assert not hoop.steady(psi_dot=1.5).stable
    assert hoop.steady(psi_dot=0.5).stable


def test_a_shaken_system_has_no_steady_motion():
    (x,) = coordinates("x")
    p0 = sm.Symbol("p0", real=True)
    shaken = pfaff.System(
        coordinates=[x], kinetic=x.diff(t) ** 2 / 2, potential=x**2 / 2 - p0 * x * sm.sin(t), parameters={p0: 1}
    )
    with pytest.raises(ConvergenceError, match="switch the excitation off"):
        shaken.at().steady()
    assert shaken.at(p0=0).steady().eigenvalues == pytest.approx([-1j, 1j])


# Meijaard, Papadopoulos, Ruina and Schwab (2007), whose benchmark is printed to these digits


@pytest.mark.slow
def test_bicycle_at_five_metres_per_second(bicycle):
    motion = bicycle.steady(s_dot=5)
    assert len(motion.eigenvalues) == 4
    assert motion.zeros == (1,)
    published = [-0.3228664290, -0.7753418822 - 4.4648677138j, -0.7753418822 + 4.4648677138j, -14.0783896928]
    assert motion.eigenvalues == pytest.approx(published, abs=6e-11)
    assert motion.stable
    assert motion["psi_dot"] == pytest.approx(0, abs=1e-12)
    assert motion["f_dot"] == pytest.approx(5)
    assert motion["x_dot"] == pytest.approx(5)


@pytest.mark.slow
def test_weave_and_capsize_speeds(bicycle):
    branch = bicycle.steady(s_dot=1).branch("s_dot", to=10)
    weave, capsize = branch.special
    assert (weave.kind, capsize.kind) == ("hopf", "branch point")
    assert weave.value == pytest.approx(4.29238253634, abs=6e-12)
    assert capsize.value == pytest.approx(6.02426201539, abs=6e-12)
    assert len(capsize.eigenvalues) == 4


@pytest.mark.slow
@pytest.mark.parametrize("speed", [0.5, 3.0, 8.0])
def test_bicycle_agrees_with_the_published_linear_equations(bicycle, speed):
    """M q̈ + v C1 q̇ + (g K0 + v² K2) q = 0 with the printed matrices, in lean and steer."""
    M = np.array([[80.81722, 2.31941332208709], [2.31941332208709, 0.29784188199686]])
    C = np.array([[0, 33.86641391492494], [-0.85035641456978, 1.68540397397560]])
    K0 = np.array([[-80.95, -2.59951685249872], [-2.59951685249872, -0.80329488458618]])
    K2 = np.array([[0, 76.59734589573222], [0, 2.65431523794604]])
    left = np.linalg.inv(M)
    zero, one = np.zeros((2, 2)), np.eye(2)
    J = np.block([[zero, one], [-left @ (9.81 * K0 + speed**2 * K2), -left @ (speed * C)]])
    expected = np.linalg.eigvals(J)
    expected = expected[np.lexsort((expected.imag, -expected.real))]
    assert bicycle.steady(s_dot=speed).eigenvalues == pytest.approx(expected, abs=1e-9)


@pytest.mark.slow
def test_bicycle_in_circles(bicycle):
    """Hands-free circles branch off at the capsize speed; they are steady in a simulation."""
    start = {"phi": 0.2, "delta": 0.1}
    motion = bicycle.steady(start=start, s_dot=5.5)
    assert abs(motion["phi"]) > 0.05
    assert motion.family_dimension == 1
    assert motion["psi_dot"] * motion["phi"] > 0  # it turns to the side to which it leans
    moving = bicycle.simulate(0.5, samples=11, project=True, **motion.initial)
    assert np.ptp(moving["phi"]) < 1e-10
    assert np.ptp(moving["delta"]) < 1e-10


def _springs(stiffness, **default) -> pfaff.System:
    x, y = coordinates("x y")
    k = sm.Symbol("k", real=True)
    potential = (k if stiffness is None else stiffness) * x**2 / 2 + y**2 / 2
    kinetic = (x.diff(t) ** 2 + y.diff(t) ** 2) / 2
    return pfaff.System(
        coordinates=[x, y], kinetic=kinetic, potential=potential, parameters={k: default["k"]} if default else {}
    )


@pytest.mark.parametrize(
    "case", [_springs(None, k=0).at(k=5), _springs(None, k=1e-10).at(), _springs(1e-12).at()], ids=str
)
def test_no_spring_is_too_weak_to_forbid_a_steady_motion(case):
    assert "x" in relative_flow(case.system, ["x_dot"], case.numbers).states
    with pytest.raises(ConvergenceError, match="no steady motion"):
        case.steady(x_dot=1)


def test_a_symmetry_holds_at_all_times():
    x, y = coordinates("x y")
    system = pfaff.System(
        coordinates=[x, y],
        kinetic=(x.diff(t) ** 2 + y.diff(t) ** 2) / 2,
        potential=y**2 / 2,
        forces={x: -x * sm.sin(t)},
    )
    with pytest.raises(ConvergenceError, match="no steady motion"):
        system.at().steady(x_dot=1)


def test_a_symmetry_of_some_values_only_is_named():
    with pytest.raises(ConvergenceError, match="alike at every x: state it without the parameters that are zero"):
        _springs(None, k=0).at(k=0).steady(x_dot=1)
    assert _springs(0).at().steady(x_dot=1).family_dimension == 1


@cache
def sleigh(a: str = "1/2") -> pfaff.System:
    """Chaplygin's: along its blade at u and turning at w, u̇ = a w² and ẅ (I + m a²) = −m a u w."""
    x, y, phi = coordinates("x y phi")
    m, I, ahead = sm.symbols("m I a", real=True)
    centre = sm.Matrix([x + ahead * sm.cos(phi), y + ahead * sm.sin(phi)]).diff(t)
    return pfaff.System(
        [x, y, phi],
        m * centre.dot(centre) / 2 + I * phi.diff(t) ** 2 / 2,
        nonholonomic_constraints=[y.diff(t) * sm.cos(phi) - x.diff(t) * sm.sin(phi)],
        parameters={m: 1, I: 1, ahead: a},
    )


@cache
def robot() -> pfaff.System:
    """Two wheels b1, b2 on one axle, a d away from its middle (x, y) each."""
    x, y, a, b1, b2 = coordinates("x y a b1 b2")
    m, I, J, d, r = sm.symbols("m I J d r", positive=True)
    ahead = x.diff(t) * sm.cos(a) + y.diff(t) * sm.sin(a)
    spin = b1.diff(t) ** 2 + b2.diff(t) ** 2
    return pfaff.System(
        [x, y, a, b1, b2],
        m * (x.diff(t) ** 2 + y.diff(t) ** 2) / 2 + I * a.diff(t) ** 2 / 2 + J * spin / 2,
        nonholonomic_constraints=[
            y.diff(t) * sm.cos(a) - x.diff(t) * sm.sin(a),
            ahead - d * a.diff(t) - r * b1.diff(t),
            ahead + d * a.diff(t) - r * b2.diff(t),
        ],
        parameters={m: 1, I: 1, J: "1/10", d: "1/2", r: "1/4"},
    )


@cache
def two_bodies(front: int) -> pfaff.System:
    """Two bodies hinged at (x, y), each on a blade: a roller racer (front 1) or a car with its trailer (front −1)."""
    x, y, a, delta = coordinates("x y a delta")
    m1, I1, m2, I2, l1, l2 = sm.symbols("m1 I1 m2 I2 l1 l2", positive=True)
    headings = [(sm.cos(angle), sm.sin(angle)) for angle in (a, a + delta)]
    arms = -l1, front * l2
    speeds = [sm.Matrix([x + l * c, y + l * s]).diff(t) for l, (c, s) in zip(arms, headings, strict=True)]
    return pfaff.System(
        [x, y, a, delta],
        m1 * speeds[0].dot(speeds[0]) / 2 + m2 * speeds[1].dot(speeds[1]) / 2
        + I1 * a.diff(t) ** 2 / 2 + I2 * (a.diff(t) + delta.diff(t)) ** 2 / 2,
        nonholonomic_constraints=[v[1] * c - v[0] * s for v, (c, s) in zip(speeds, headings, strict=True)],
        parameters={m1: 1, I1: 1, m2: "1/2", I2: "1/2", l1: 1, l2: "1/2"},
    )  # fmt: skip


VEHICLES = {
    "sleigh": (sleigh, {"x_dot": 1}, ("x_dot",)),
    "sleigh on its centre, in circles": (lambda: sleigh("0"), {"x_dot": 1, "phi_dot": 1}, ("x_dot", "phi_dot")),
    "robot on the spot": (robot, {"a_dot": 2, "x_dot": 0}, ("x_dot", "a_dot")),
    "robot in circles": (robot, {"a_dot": 2, "x_dot": 1}, ("x_dot", "a_dot")),
    "roller racer": (lambda: two_bodies(1), {"x_dot": 1}, ("x_dot", "delta")),
    "roller racer in circles": (lambda: two_bodies(1), {"x_dot": 1, "delta": 0.3}, ("x_dot", "delta")),
    "car with trailer": (lambda: two_bodies(-1), {"x_dot": 1, "delta": 0.2}, ("x_dot", "delta")),
    "snakeboard": (
        pfaff.atlas.snakeboard,
        {"x_dot": 1, "phi_f": 0.2, "phi_b": -0.1},
        ("x_dot", "phi_f", "phi_b", "psi_dot"),
    ),
    "disc": (pfaff.atlas.rolling_disc, {"x_dot": 1}, ("x_dot", "psi_dot")),
}


@pytest.mark.parametrize(("make", "fixed", "family"), VEHICLES.values(), ids=VEHICLES)
def test_vehicles_move_steadily_as_they_are_asked_to(make, fixed, family):
    """Their heading turns, and their velocities with it; in a motion all else stays as it is."""
    case = make().at()
    motion = case.steady(**fixed)
    assert {name: motion[name] for name in fixed} == pytest.approx(fixed, abs=1e-15)
    assert set(motion.family) == set(family)
    assert len(motion.eigenvalues) + sum(motion.zeros) == len(motion.flow.states)
    moving = case.simulate(3, samples=31, **motion.initial)
    assert np.ptp(np.hypot(moving["x_dot"], moving["y_dot"])) < 1e-12
    assert all(np.ptp(moving[name]) < 1e-12 for name in motion.flow.states if name not in ("x_dot", "y_dot"))


@pytest.mark.parametrize("speed", [1, -1e2, 1e4, 1e5, -1e6])
def test_fast_racers_belong_to_their_families(speed):
    """However fast, delta is an angle: neighbours of a racer with a spring in its hinge differ in speed alone."""
    free = two_bodies(1)
    k, delta = sm.Symbol("k", positive=True), free.coordinates[3]
    stated = free.coordinates, free.kinetic, k * delta**2 / 2
    held = pfaff.System(
        *stated, nonholonomic_constraints=free.nonholonomic_constraints, parameters={**free.parameters, k: 2}
    ).at(m1=0.6, I1=0.9, m2=0.9, I2=0.2, l1=0.6, l2=0.55)
    assert held.steady(x_dot=speed).family == ("x_dot",)
    coasting = free.at().steady(x_dot=speed)
    assert coasting.family == ("x_dot", "delta")
    assert coasting.stable


@pytest.mark.parametrize("speed", [-2, 1, 3])
def test_a_sleigh_is_stable_with_its_centre_of_mass_ahead(speed):
    """Chaplygin (1911): −m a u/(I + m a²)."""
    motion = sleigh().at().steady(x_dot=speed)
    assert motion.eigenvalues == pytest.approx([-0.5 * speed / 1.25], rel=1e-14)
    assert motion.stable == (speed > 0)


def test_at_rest_a_family_is_what_can_move_steadily():
    """Every velocity is a null vector there, but a sleigh that turns does not go on doing so."""
    for make, family in (
        (sleigh, {"x_dot"}),
        (robot, {"a_dot", "b2_dot"}),
        (lambda: two_bodies(1), {"x_dot", "delta"}),
    ):
        motion = make().at().steady()
        assert set(motion.family) == family
        assert motion.family_dimension == len(family)
    with pytest.raises(ConvergenceError, match="no steady motion"):
        sleigh().at().steady(phi_dot=1)


def test_a_boat_runs_in_circles():
    """A thrust F along its axis and a moment against drag in its own axes: no constraint, and no state is constant."""
    x, y, a = coordinates("x y a")
    along, across = x.diff(t) * sm.cos(a) + y.diff(t) * sm.sin(a), y.diff(t) * sm.cos(a) - x.diff(t) * sm.sin(a)
    boat = pfaff.System(
        [x, y, a],
        (x.diff(t) ** 2 + y.diff(t) ** 2 + a.diff(t) ** 2) / 2,
        dissipation=along**2 / 2 + across**2 + a.diff(t) ** 2 / 2,
        forces={x: sm.cos(a), y: sm.sin(a), a: sm.Rational(1, 2)},
    )
    motion = boat.at().steady()
    # 1 − u + w v = 0, −2 v − w u = 0, 1/2 − w = 0
    assert [motion[name] for name in ("x_dot", "y_dot", "a_dot")] == pytest.approx([8 / 9, -2 / 9, 1 / 2], rel=1e-14)
    assert motion.eigenvalues == pytest.approx([-1, -3 / 2, -3 / 2], abs=1e-7)


def test_consistent_velocities_may_start_a_search():
    """All of them, as a motion gives them; the constraints leave two free."""
    case = robot().at()
    straight = {"x_dot": 0.5, "b1_dot": 2, "b2_dot": 2, "a_dot": 0, "y_dot": 0}
    assert case.steady(start=straight)["x_dot"] == pytest.approx(0.5)
    assert case.steady(start=straight, b1_dot=1)["x_dot"] == pytest.approx(0.5)  # the first that is left free
    turning = case.steady(a_dot=2, x_dot=1)
    assert case.steady(start=turning.initial)["a_dot"] == pytest.approx(2)
    with pytest.raises(ParameterError, match="'b3_dot'"):
        case.steady(start={"b3_dot": 1})


def test_what_a_constraint_moves_is_not_at_rest():
    x, y, phi = coordinates("x y phi")
    v = sm.Symbol("v", real=True)
    driven = sleigh()
    constraints = [*driven.nonholonomic_constraints, x.diff(t) * sm.cos(phi) + y.diff(t) * sm.sin(phi) - v]
    case = replace(driven, nonholonomic_constraints=constraints, parameters={**driven.parameters, v: 1}).at()
    assert case.steady().status == "steady motion with x_dot = 1, isolated: stable"
    assert "everything at rest" in case.at(v=0).steady().status


@pytest.fixture(scope="module")
def shaft() -> pfaff.Case:
    """A disc on a soft shaft that turns freely, with damping at rest and damping that turns with it (Jeffcott)."""
    x, y, phi = coordinates("x y phi")
    k, b, c_e, c_i = sm.symbols("k b c_e c_i", positive=True)
    vx, vy, turning = (q.diff(t) for q in (x, y, phi))
    return pfaff.System(
        coordinates=[x, y, phi],
        kinetic=(vx**2 + vy**2 + turning**2) / 2,
        potential=k * (x**2 + y**2) / 2 + b * (x**2 + y**2) ** 2 / 4,
        dissipation=c_e * (vx**2 + vy**2) / 2 + c_i * ((vx + turning * y) ** 2 + (vy - turning * x) ** 2) / 2,
        parameters={k: 1, b: 1, c_e: 0.4, c_i: 0.1},
        load=c_i,
        name="shaft",
    ).at()


def test_a_hopf_point_at_speed_is_that_of_the_branch_and_of_the_closed_form(shaft):
    """Above its critical speed ω a shaft whirls where c_i (φ̇ − ω) = c_e ω, with the frequency ω = √k."""
    found = shaft.hopf(to=1, phi_dot=3)
    assert (found.value, found.omega) == pytest.approx((0.2, 1.0), rel=1e-12)
    (other,) = shaft.steady(phi_dot=3).branch("c_i", to=1).of_kind("hopf")
    assert (found.value, found.omega) == pytest.approx((other.value, other.omega), rel=1e-12)
    assert found.criticality == other.hopf.criticality  # whirling slows the shaft down: no cycle stays at its speed
    assert shaft.at(k=4).hopf(to=1, phi_dot=6).value == pytest.approx(0.2, rel=1e-12)


def test_steady_motions_are_followed_by_the_protocol_of_all_that_rests(shaft):
    path = shaft.path("c_i", {"phi_dot": 3})
    assert isinstance(path, UnderLoad)
    for value in (0.05, 0.3):
        there = shaft.at(c_i=value).steady(phi_dot=3)
        assert path.solution(value) == pytest.approx(there.x, abs=1e-12)
        assert np.sort_complex(path.linearise(value).eigenvalues()) == pytest.approx(np.sort_complex(there.eigenvalues))
    with pytest.raises(NoBifurcationError, match="no Hopf point of shaft"):
        shaft.hopf(to=1, phi_dot=0.5)
