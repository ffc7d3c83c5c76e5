"""Motion of assemblies: the same as that of the minimal statement, on the constraints, with energies that balance."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sm

import pfaff
from pfaff import Assembly, Part
from pfaff.algebra.radau import radau
from pfaff.atlas.chain import column_assembly
from pfaff.errors import ConstraintError, ParameterError, RankError
from pfaff.flow.assembly_equations import Equations
from pfaff.statement import TIME as t
from pfaff.statement import coordinates

x, y, theta, x_next, y_next = coordinates("x y theta x_next y_next")
l, m, k, g = sm.symbols("l m k g", positive=True)
F = sm.Symbol("F", real=True)


def bent(bars: int) -> dict[str, dict[int, float]]:
    """A smooth start for the angles of ``column_assembly``; everything else follows."""
    s = (np.arange(bars) + 0.5) / bars
    angles = range(2, 3 * bars, 3)
    start = {0: 0.0, **dict(zip(angles, 0.1 * np.sin(1.5 * s), strict=True))}
    return {"start": start, "velocities": dict(zip(angles, 0.2 * s - 0.1 * s**2, strict=True))}


@pytest.mark.parametrize("constraint", ["skate", "bow"])
@pytest.mark.parametrize("bars", [2, 3, 5])
def test_same_motion_as_the_minimal_statement(bars, constraint):
    """Taylor's method in the angles against collocation in absolute coordinates: only the lowering is shared."""
    values = {"c_i": 0.02, "c_e": 0.1, "M_L": 0.3, "I_L": 0.1, "beta0": 0.1}
    given = bent(bars)
    named = {f"theta{i // 3 + 1}": value for i, value in given["start"].items() if i}
    named |= {f"theta{i // 3 + 1}_dot": value for i, value in given["velocities"].items()}
    minimal = pfaff.atlas.column(bars, constraint).at(F=0.5, **values).simulate(10, samples=101, **named)
    motion = column_assembly(bars, constraint, **values).simulate(10, 0.5, samples=101, **given)
    assert motion.finished
    np.testing.assert_array_equal(motion.t, minimal.t)
    n = 3 * bars
    np.testing.assert_allclose(motion.y[2:n:3], minimal.y[:bars], atol=1e-9)
    np.testing.assert_allclose(motion.y[n + 2 :: 3], minimal.y[bars + 1 : -1], atol=1e-8)
    np.testing.assert_allclose(motion["q0"], minimal["X"], atol=1e-9)
    np.testing.assert_allclose(motion.p[-1], minimal.reaction, atol=3e-7)
    for part in ("kinetic", "potential", "dissipated"):
        np.testing.assert_allclose(getattr(motion.energy, part), getattr(minimal.energy, part), atol=1e-8)
    between = np.linspace(0, 10, 77)
    np.testing.assert_allclose(motion(between)[2:n:3], minimal(between)[:bars], atol=1e-8)


@pytest.mark.parametrize("above", [0.95, 1.05])
def test_forty_bars_balance_their_energy_on_the_constraints(above):
    assembly = column_assembly(40, c_i=0.02)
    load = above * float(assembly.flutter(to=1))
    motion = assembly.simulate(20, load, samples=101, **bent(40))
    assert motion.finished
    assert motion.energy.dissipated[-1] > 0.01 * motion.energy.kinetic[0]
    assert motion.energy.drift < 1e-7
    assert np.abs(motion.residual).max() < 1e-15


def test_a_smaller_tolerance_means_a_smaller_error():
    assembly = column_assembly(10, c_i=0.02)
    motions = [assembly.simulate(10, 0.5, samples=51, tolerance=tol, **bent(10)).y for tol in (1e-4, 1e-7, 1e-10)]
    loose, sharp = (np.abs(y - motions[-1]).max() for y in motions[:-1])
    assert sharp < 1e-7
    assert loose < 1e-4
    assert sharp < loose / 30


def test_at_the_flutter_load_a_small_disturbance_swings_on():
    """It neither grows nor dies, at the frequency that the sparse pencil predicts."""
    assembly = column_assembly(20, c_i=0.05)
    found = assembly.flutter(to=2)
    motion = assembly.simulate(120, float(found), samples=2401, start={2: 1e-7}, tolerance=1e-7)
    tail = motion["q2"][1200:]
    crossings = motion.t[1200:][1:][(tail[1:] >= 0) & (tail[:-1] < 0)]
    assert 2 * np.pi / np.diff(crossings).mean() == pytest.approx(found.frequency, rel=5e-3)
    assert np.abs(motion["q2"][-200:]).max() == pytest.approx(np.abs(motion["q2"][1200:1400]).max(), rel=0.05)


def test_an_undamped_motion_runs_back():
    assembly = column_assembly(3, M_L=1, I_L=1)
    there = assembly.simulate(5, 0.3, samples=11, tolerance=1e-11, **bent(3))
    end = there.y[:, -1]
    back = assembly.simulate(-5, 0.3, samples=11, tolerance=1e-11, start=end[:9], velocities=end[9:])
    assert back.t[-1] == -5
    np.testing.assert_allclose(back.y[:, -1], there.y[:, 0], atol=1e-9)
    assert not there.energy.dissipated.any()


@pytest.mark.slow
@pytest.mark.parametrize("bars", [100, 200])
def test_hundreds_of_bars(bars):
    """The column at 1.05 of its flutter load for τ = 20; two tolerances agree as far as the looser one promises."""
    assembly = column_assembly(bars, c_i=0.01)
    load = 1.05 * float(assembly.flutter(to=100 / bars))
    motion, sharper = (assembly.simulate(20, load, samples=101, tolerance=tol, **bent(bars)) for tol in (1e-7, 1e-9))
    assert motion.finished
    assert np.abs(motion.y[: 3 * bars] - sharper.y[: 3 * bars]).max() < 1e-7
    assert motion.energy.drift < 1e-6
    assert np.abs(motion.residual).max() < 1e-15


def link() -> Part:
    """A bar of mass m with its centre at mid-length, in the gravity g."""
    centre = sm.Matrix([x + l * sm.cos(theta) / 2, y + l * sm.sin(theta) / 2])
    speed = centre.diff(t)
    return Part(
        [x, y, theta],
        kinetic=m * speed.dot(speed) / 2 + m * l**2 * theta.diff(t) ** 2 / 24,
        potential=m * g * centre[1],
        parameters={m: None, l: None, g: 9.81},
        name="link",
    )


def pin() -> Part:
    """The end of a link is the beginning of another."""
    return Part(
        [x, y, theta, x_next, y_next],
        holonomic_constraints=[x_next - x - l * sm.cos(theta), y_next - y - l * sm.sin(theta)],
        parameters={l: None},
        name="pin",
    )


def post() -> Part:
    """A fixed bearing at (F, 0)."""
    return Part([x, y], holonomic_constraints=[x - F, y], parameters={F: 0}, name="post")


def foot() -> Part:
    """The end of a link stays at (X_end, 0)."""
    X_end = sm.Symbol("X_end", real=True)
    return Part(
        [x, y, theta],
        holonomic_constraints=[x + l * sm.cos(theta) - X_end, y + l * sm.sin(theta)],
        parameters={l: None, X_end: None},
        name="foot",
    )


LENGTHS, MASSES, SPAN = (0.5, 1.1, 0.8), (0.7, 1.5, 1.0), 1.2


def four_bar() -> Assembly:
    """Crank, coupler and rocker over a fixed frame: a closed loop."""
    return Assembly(
        [
            link().copies(np.arange(9).reshape(3, 3), l=LENGTHS, m=MASSES),
            pin().copies([[0, 1, 2, 3, 4], [3, 4, 5, 6, 7]], l=LENGTHS[:2]),
            post().copies([0, 1]),
            foot().copies([6, 7, 8], l=LENGTHS[2], X_end=SPAN),
        ],
        size=9,
        load="F",
        start=[0, 0, 1.0, 0.3, 0.4, 0.5, 1.3, 0.8, -1.5],
        name="four-bar linkage",
    )


def four_bar_in_angles() -> pfaff.System:
    """The same in three angles with the loop closed by two constraints."""
    angles = coordinates("theta1 theta2 theta3")
    at, kinetic, potential = sm.Matrix([0, 0]), sm.Integer(0), sm.Integer(0)
    for angle, length, mass in zip(angles, LENGTHS, MASSES, strict=True):
        along = length * sm.Matrix([sm.cos(angle), sm.sin(angle)])
        speed = (at + along / 2).diff(t)
        kinetic += mass * speed.dot(speed) / 2 + mass * length**2 * angle.diff(t) ** 2 / 24
        potential += mass * 9.81 * (at + along / 2)[1]
        at = at + along
    return pfaff.System(
        angles, kinetic, potential, holonomic_constraints=[at[0] - SPAN, at[1]], parameters={}, name="four-bar linkage"
    )


def test_a_closed_loop_moves_like_its_system():
    """The crank of a four-bar linkage swings; the joints' forces are those of the loop's constraints."""
    motion = four_bar().simulate(4, 0.0, samples=81, start={2: 1.0}, velocities={2: 2.0}, tolerance=1e-9)
    first = dict(zip(("theta1", "theta2", "theta3"), motion.y[2:9:3, 0], strict=True))
    first |= dict(zip(("theta1_dot", "theta2_dot", "theta3_dot"), motion.y[11::3, 0], strict=True))
    system = four_bar_in_angles().at().simulate(4, samples=81, **first)
    assert np.ptp(motion["q2"]) > 1
    np.testing.assert_allclose(motion.y[2:9:3], system.y[:3], atol=1e-8)
    np.testing.assert_allclose(motion.p[-2:], system.p, rtol=1e-5, atol=1e-5)
    assert motion.energy.drift < 1e-8
    assert np.abs(motion.residual).max() < 1e-14


def test_a_tree_of_springs_is_solved_without_a_band():
    """A star of 130 masses on one hub has no narrow band; its modes are known in closed form."""
    count, stiffness = 130, 4.0
    mass = Part([x], kinetic=m * x.diff(t) ** 2 / 2, potential=-F * x, parameters={m: 1, F: 0}, name="mass")
    spring = Part([x, x_next], potential=k * (x_next - x) ** 2 / 2, parameters={k: stiffness}, name="spring")
    tree = Assembly(
        [mass.copies(np.arange(count + 1)), spring.copies([[0, i + 1] for i in range(count)])], size=count + 1, load="F"
    )
    assert not Equations(tree, 0.0).places.banded
    start = np.zeros(count + 1)
    start[1:3] = 1, -1  # the hub does not feel it
    motion = tree.simulate(10, 0.0, samples=51, start=start, tolerance=1e-10)
    np.testing.assert_allclose(motion["q1"], np.cos(np.sqrt(stiffness) * motion.t), atol=1e-8)
    np.testing.assert_allclose(motion["q2"], -motion["q1"], atol=1e-12)
    assert np.abs(motion["q3"]).max() < 1e-15
    assert len(motion.p) == len(motion.residual) == 0


def test_units_do_not_matter():
    """Lengths in millimetres, the same times: the same angles in as many steps."""
    metres = column_assembly(4, c_i=0.05).simulate(5, 0.5, samples=11, **bent(4))
    millimetres = column_assembly(4, L=1e3, k=1e6, k1=1e6, c_i=5e4).simulate(5, 500, samples=11, **bent(4))
    np.testing.assert_allclose(millimetres.y[2:12:3], metres.y[2:12:3], atol=1e-9)
    assert millimetres.method == metres.method


def test_the_accelerations_are_those_of_the_system():
    system, bars = pfaff.atlas.column(3), 3
    case = system.at(F=0.4, c_i=0.1, c_e=0.2, M_L=0.5, I_L=0.2)
    assembly = column_assembly(bars, c_i=0.1, c_e=0.2, M_L=0.5, I_L=0.2)
    state = assembly.simulate(0.1, 0.4, samples=2, **bent(bars)).y[:, 0]
    a, p = Equations(assembly, 0.4).accelerations(state[:9], state[9:])
    full = np.concatenate([state[2:9:3], state[:1], state[11::3], state[9:10]])
    np.testing.assert_allclose(np.append(a[2::3], a[0]), system.flow.rhs(full, case)[4:], rtol=1e-9)
    np.testing.assert_allclose(p[-1], system.flow.reactions(full, case)[0], rtol=1e-10)


@pytest.mark.parametrize("stages", [3, 5, 7])
def test_collocation_has_radaus_order(stages):
    """Quadrature is exact up to degree 2s − 2 and no further; A⁻¹ is rebuilt from its eigenvalues."""
    method = radau(stages)
    weights = method.integrals(np.ones(1))[0]
    errors = [abs(weights @ method.nodes**degree - 1 / (degree + 1)) for degree in range(2 * stages)]
    assert max(errors[:-1]) < 1e-15
    assert errors[-1] > 1e-10
    rebuilt = (method.backward * method.eigenvalues @ method.forward).real
    np.testing.assert_allclose(rebuilt @ method.matrix, np.eye(stages), atol=1e-10)


def test_three_stages_have_the_published_coefficients():
    """Hairer and Wanner (1996), Table IV.5.6."""
    root = np.sqrt(6)
    nodes = np.array([(4 - root) / 10, (4 + root) / 10, 1])
    last = np.array([(16 - root) / 36, (16 + root) / 36, 1 / 9])
    np.testing.assert_allclose(radau(3).nodes, nodes, atol=1e-15)
    np.testing.assert_allclose(radau(3).matrix[-1], last, atol=1e-15)


def test_an_interrupt_keeps_what_was_computed():
    def stop(done: float) -> None:
        if done > 0.5:
            raise KeyboardInterrupt

    assembly = column_assembly(5, c_i=0.05)
    motion = assembly.simulate(10, 0.5, samples=101, progress=stop, **bent(5))
    whole = assembly.simulate(10, 0.5, samples=101, **bent(5))
    assert motion.status == "interrupted"
    assert 5 < motion.t[-1] < 10
    np.testing.assert_array_equal(motion.y[:, :50], whole.y[:, :50])
    assert motion(motion.t[-1]).shape == (30,)


def test_the_limit_of_steps_is_named():
    motion = column_assembly(5, c_i=0.05).simulate(10, 0.5, max_steps=3, **bent(5))
    assert "max_steps" in motion.status
    assert "3 steps" in motion.method
    assert 0 < motion.t[-1] < 10


def test_a_motion_that_ends_in_finite_time_says_so():
    """ẍ = 6 x², x = 1/(1 − t)²: infinite at t = 1."""
    mass = Part([x], kinetic=x.diff(t) ** 2 / 2, potential=-2 * x**3 - F * x, parameters={F: 0}, name="mass")
    motion = Assembly([mass.copies([0])], size=1, load="F").simulate(2, 0.0, start=[1.0], velocities=[2.0], samples=21)
    assert motion.status in ("stopped: the step size has collapsed", "stopped: the state is no longer finite")
    assert motion.t[-1] == pytest.approx(1, abs=1e-3)
    np.testing.assert_allclose(motion.y[0, :10], 1 / (1 - motion.t[:10]) ** 2, rtol=1e-6)


def test_a_state_at_rest_is_a_start_and_stays():
    assembly = column_assembly(10, "bow")
    motion = assembly.simulate(5, 0.2, samples=6, start=assembly.equilibrium(0.2))
    np.testing.assert_allclose(motion.y, motion.y[:, [0] * 6], atol=1e-12)


def test_motion_is_saved_drawn_and_read(tmp_path):
    motion = column_assembly(5, c_i=0.05).simulate(1, 0.5, samples=11, **bent(5))
    again = pfaff.load_motion(motion.save(tmp_path / "motion.nc"))
    np.testing.assert_array_equal(again.y, motion.y)
    np.testing.assert_array_equal(again.p, motion.p)
    assert again.names[:2] == ("q0", "q1")
    assert motion.plot().axes


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"duration": 0}, ParameterError, "duration=0"),
        ({"load": np.nan}, ParameterError, "load=nan"),
        ({"samples": 1}, ParameterError, "samples=1: give a whole number from 2 up"),
        ({"tolerance": 1e-14}, ParameterError, "from 1e-13"),
        ({"start": [0, 0]}, ParameterError, r"start of shape \(2,\).*9 finite numbers"),
        ({"start": {9: 0.1}}, ParameterError, "no coordinate 9: they are numbered 0 to 8"),
        ({"start": {"theta": 0.1}}, ParameterError, "'theta' is no index"),
        ({"velocities": {2: np.inf}}, ParameterError, "coordinate 2 is given inf"),
        ({"start": np.zeros(9)}, ConstraintError, "start.*copy 0 of part 'joint' by 0.33.*mapping"),
        ({"start": {1: 0.5}}, ConstraintError, "start.*copy 0 of part 'block' by 0.5"),
        ({"velocities": np.eye(9)[2]}, ConstraintError, "velocities.*part 'joint'.*others follow"),
        ({"velocities": {1: 1.0}}, ConstraintError, "velocities.*part 'block' by 1"),
    ],
)
def test_bad_input_names_the_culprit(changes, error, message):
    given = {"duration": 1, "load": 0.1} | changes
    with pytest.raises(error, match=message):
        column_assembly(3).simulate(**given)


def test_a_coordinate_without_inertia_is_refused():
    spring = Part([x], potential=k * x**2 / 2 - F * x, parameters={k: 1, F: 0}, name="spring")
    with pytest.raises(RankError, match="neither inertia nor constraint"):
        Assembly([spring.copies([0])], size=1, load="F").simulate(1, 0.0)
