"""Events, prescribed motions and loads, and runs that end early by name."""

from __future__ import annotations

import pickle
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
import sympy as sm
from scipy.interpolate import PPoly
from sympy.physics.mechanics import dynamicsymbols

import pfaff
from conftest import XI_HAT
from pfaff.archive.stored import content, sealed
from pfaff.errors import ConstraintError, ParameterError
from pfaff.motion.outcomes import Outcome, Status

t = dynamicsymbols._t


@cache
def oscillator() -> pfaff.System:
    x = dynamicsymbols("x")
    k, f = sm.symbols("k f", real=True)
    return pfaff.System([x], kinetic=x.diff(t) ** 2 / 2, potential=k * x**2 / 2 - f * x, parameters={k: 1, f: 0})


def test_sections_are_located_to_machine_precision():
    """x = sin t rises through zero at 2π, 4π, … and falls at π, 3π, …"""
    events = {
        "any": "x",
        "up": pfaff.Event("x", direction=1),
        "down": pfaff.Event("x", direction=-1),
        "level": "x - 1/2",
    }
    motion = oscillator().at().simulate(20, x_dot=1, events=events)
    np.testing.assert_allclose(motion.events["any"].t, np.pi * np.arange(1, 7), rtol=1e-14)
    np.testing.assert_allclose(motion.events["up"].t, 2 * np.pi * np.arange(1, 4), rtol=1e-14)
    np.testing.assert_allclose(motion.events["down"].t, np.pi * np.array([1, 3, 5]), rtol=1e-14)
    np.testing.assert_allclose(np.abs(motion.events["any"].y[1]), 1, rtol=1e-14)
    np.testing.assert_allclose(motion.events["level"].t[:2], [np.pi / 6, 5 * np.pi / 6], rtol=1e-14)


def test_an_end_stop_ends_the_motion_and_says_so():
    motion = oscillator().at().simulate(20, x_dot=1, events={"end stop": pfaff.Event("x - sqrt(3)/2", stop=True)})
    assert motion.t[-1] == pytest.approx(np.pi / 3, rel=1e-14)
    assert "end stop" in motion.status
    assert motion.status.outcome is Outcome.EVENT
    assert not motion.finished
    assert len(motion.events["end stop"]) == 1


def test_a_reaction_that_reaches_a_level(skate):
    """An event on the reaction, with a parameter in it, is where the sampled reaction crosses."""
    case = skate.at(**XI_HAT, c_i=1.5, F=84)
    motion = case.simulate(120, theta1_dot=0.1, theta2_dot=0.1, samples=20001, events={"as much as the load": "p - F"})
    found = motion.events["as much as the load"].t
    assert len(found) > 10
    np.testing.assert_allclose(motion.reactions(found)[0], 84, rtol=1e-12)
    crossings = np.count_nonzero(np.diff(np.sign(motion.reaction - 84)))
    assert abs(crossings - len(found)) <= 1


def test_events_survive_saving(tmp_path):
    motion = oscillator().at().simulate(20, x_dot=1, events={"section": "x"})
    again = pfaff.load_motion(motion.save(tmp_path / "run.nc"))
    np.testing.assert_array_equal(again.events["section"].t, motion.events["section"].t)
    np.testing.assert_array_equal(again.events["section"].y, motion.events["section"].y)
    assert repr(again.events["section"]).startswith("<6 times, t = 3.14159 … 18.8496>")


@pytest.mark.parametrize(
    ("event", "words"),
    [("thta", "unknown thta"), ("x +", "not an expression"), (sm.Symbol("q"), "unknown q")],
)
def test_bad_events(event, words):
    with pytest.raises(ParameterError, match=words):
        oscillator().at().simulate(1, events={"mine": event})


@pytest.mark.parametrize("expression", ["log(-1 - x**2)", "sqrt(-2 - k)*x"])
def test_an_event_that_is_nowhere_a_number_is_told(expression):
    """Where it is one, nothing is said, though it may never happen."""
    x, v, k = sm.symbols("x v k", real=True)
    plain = pfaff.ode({x: v, v: -k * x}, {k: 1}).at()
    for case, start in ((oscillator().at(), {"x_dot": 1}), (plain, {"v": 1})):
        with pytest.warns(
            UserWarning, match="event 'lost' was looked for in vain: at no point is its expression"
        ) as all_:
            motion = case.simulate(7, **start, events={"lost": expression, "far": "x - 2", "turn": "x - 1/2"})
        assert len(all_) == 1
        assert [len(motion.events[name]) for name in ("lost", "far", "turn")] == [0, 0, 3]


def test_events_have_a_direction():
    with pytest.raises(ParameterError, match="direction=2"):
        pfaff.Event("x", direction=2)


def test_a_load_in_time_resonates():
    """ẍ + x = sin t from rest: x = (sin t − t cos t)/2."""
    motion = oscillator().at().simulate(30, prescribed={"f": sm.sin(t)})
    np.testing.assert_allclose(motion["x"], (np.sin(motion.t) - motion.t * np.cos(motion.t)) / 2, atol=1e-12)
    assert motion.energy.supplied[-1] > 10
    assert motion.energy.drift < 1e-13


@cache
def pushed_mass() -> pfaff.Case:
    x, f = dynamicsymbols("x"), sm.Symbol("f", real=True)
    return pfaff.System([x], x.diff(t) ** 2 / 2, forces={x: f}, parameters={f: 0}).at()


@pytest.mark.parametrize(
    ("how", "said"), [((), "linear between"), (("linear",), "linear between"), (("hold",), "held from each sample")]
)
def test_samples_of_a_load_may_jump(how, said):
    """A torque of one for half a second, as a table every tenth of it: v is its integral, by lines or by steps."""
    times = np.linspace(0, 2, 21)
    table = np.where((times > 0.45) & (times < 0.95), 1.0, 0.0)
    free = pushed_mass()
    motion = free.simulate(2, prescribed={"f": (times, table, *how)})
    assert motion["x_dot"][-1] == pytest.approx(0.5 if how == ("hold",) else np.trapezoid(table, times), abs=1e-14)
    assert said in motion.method
    assert motion.status == "finished"
    held = free.simulate(3, prescribed={"f": ([0.0, 1.0], [1.0, 2.0], "hold")})
    assert held["x_dot"][-1] == pytest.approx(5, abs=1e-13)  # the last value is held on


def test_a_jump_of_a_load_is_two_samples_at_one_time_or_a_polynomial_of_scipys():
    free = pushed_mass()
    jump = ([0, 1, 1, 2], [0, 0, 3, 3])
    assert free.simulate(2, prescribed={"f": jump})["x_dot"][-1] == pytest.approx(3, abs=1e-13)
    steps = PPoly(np.array([[0.0, 3.0]]), [0, 1, 2])
    assert free.simulate(2, prescribed={"f": steps})["x_dot"][-1] == pytest.approx(3, abs=1e-13)


def test_what_moves_a_constraint_is_smooth():
    """A length that changes moves the bob: its samples go through a spline, and corners and jumps are refused."""
    (x, y), length = dynamicsymbols("x y"), sm.Symbol("length", positive=True)
    kinetic, circle = (x.diff(t) ** 2 + y.diff(t) ** 2) / 2, x**2 + y**2 - length**2
    swing = pfaff.System([x, y], kinetic, y, holonomic_constraints=[circle], parameters={length: 1}).at()
    times = np.linspace(0, 2, 21)
    motion = swing.simulate(2, y=-1, prescribed={"length": (times, 1 + 0.1 * np.sin(times))})
    assert "smooth" in motion.method
    assert motion.status == "finished"
    for how in ("linear", "hold"):
        with pytest.raises(pfaff.PfaffError, match="smooth"):
            swing.simulate(2, y=-1, prescribed={"length": (times, 1 + 0.1 * np.sin(times), how)})


def test_sampled_loads_converge_with_the_sixth_order():
    """Splines of the fifth degree: halving the distance of samples gains 2⁶."""

    def error(count):
        times = np.linspace(0, 30, count)
        motion = oscillator().at().simulate(30, prescribed={"f": (times, np.sin(times), "smooth")})
        assert motion.energy.drift < 1e-12
        return np.abs(motion["x"] - (np.sin(motion.t) - motion.t * np.cos(motion.t)) / 2).max()

    coarse, fine = error(121), error(241)
    assert 5.5 < np.log2(coarse / fine) < 7


def test_a_prescribed_coordinate_tells_the_force_that_drives_it():
    """Moving a mass on a spring along x = sin 2t takes the force (1 − 4) sin 2t, the reaction its opposite."""
    motion = oscillator().at().simulate(10, prescribed={"x": sm.sin(2 * t)})
    np.testing.assert_allclose(motion["x"], np.sin(2 * motion.t), atol=1e-13)
    np.testing.assert_allclose(motion.reaction, 3 * np.sin(2 * motion.t), atol=1e-11)
    assert motion.energy.drift < 1e-12


def test_pendulum_on_a_prescribed_support():
    """A support that shakes fast enough holds a pendulum upside down (Kapitza): a² ω² > 2 g l."""
    theta, y = dynamicsymbols("theta y")
    position = sm.Matrix([sm.sin(theta), y + sm.cos(theta)])
    velocity = position.diff(t)
    system = pfaff.System([theta, y], kinetic=velocity.dot(velocity) / 2, potential=position[1])
    shaken = system.at().simulate(20, prescribed={"y": sm.Rational(1, 10) * sm.cos(30 * t)}, theta=0.1)
    slow = system.at().simulate(20, prescribed={"y": sm.Rational(1, 10) * sm.cos(5 * t)}, theta=0.1)
    assert np.abs(shaken["theta"]).max() < 0.3
    assert np.abs(slow["theta"]).max() > 3
    assert shaken.energy.drift < 1e-11


@pytest.mark.parametrize(
    ("prescribed", "words"),
    [
        ({"g": sm.sin(t)}, "no coordinate or parameter 'g'"),
        ({"f": sm.Symbol("w") * t}, "contains w"),
        ({"x": ([0, 1, 2], [0, 1, 2])}, "at least 6"),
        ({"f": ([0], [0])}, "at least 2"),
        ({"f": ([0, 5], [0, 1], "cubic")}, "unknown interpolation 'cubic'"),
        ({"f": (np.linspace(0, 1, 9), np.zeros(9))}, "cover the times 0 to 1"),
        ({"f": (np.linspace(0, 9, 9), np.zeros(8))}, "values for"),
    ],
)
def test_bad_functions_of_time(prescribed, words):
    with pytest.raises(ParameterError, match=words):
        oscillator().at().simulate(5, prescribed=prescribed)


def test_an_initial_value_that_contradicts_its_prescription():
    with pytest.raises(ConstraintError, match="x is prescribed"):
        oscillator().at().simulate(5, prescribed={"x": sm.cos(t)}, x=0.5)


def bead_on_a_cusp() -> pfaff.System:
    """A bead on the curve y² = x³, whose constraint vanishes at the cusp; another direction is free."""
    x, y, z = dynamicsymbols("x y z")
    return pfaff.System(
        coordinates=[x, y, z],
        kinetic=(x.diff(t) ** 2 + y.diff(t) ** 2 + z.diff(t) ** 2) / 2,
        holonomic_constraints=[y**2 - x**3],
    )


@pytest.mark.parametrize("name", [None, *Outcome.__members__])
def test_outcomes_come_back_from_files(name, tmp_path):
    """By their names: words alone, which older files keep, are those of several."""
    motion = bead_on_a_cusp().at().simulate(0.1, x=1.0, y=1.0, samples=3)
    stopped = Status(Outcome[name or "EVENT"], "the constraints lose rank there" if name == "FAILED" else "")
    path = replace(motion, ended=stopped).save(tmp_path / "motion.nc")
    if name is None:
        data = content(path).data
        del data.attrs["outcome"]
        sealed(data.attrs["holds"], data).to_netcdf(path, engine="scipy")
    again = pfaff.load(path).status
    assert (again, again.outcome) == (stopped, stopped.outcome)


def test_a_constraint_that_loses_rank_ends_the_motion_by_name():
    motion = bead_on_a_cusp().at().simulate(5, x=1.0, y=1.0, x_dot=-1)
    assert "lose rank" in motion.status
    assert "row 1" in motion.status
    assert motion.status.outcome is Outcome.LOST_RANK is pfaff.Outcome.LOST_RANK
    assert motion["x"][-1] == pytest.approx(0, abs=1e-3)
    assert np.isfinite(motion.y).all()
    assert np.abs(motion.residual[0]).max() < 1e-13


def test_ctrl_c_keeps_the_motion_so_far(skate):
    seen = []

    def impatient(fraction):
        seen.append(fraction)
        if fraction > 0.2:
            raise KeyboardInterrupt

    motion = skate.at(**XI_HAT, c_i=1.5, F=84).simulate(2000, theta1_dot=0.1, progress=impatient)
    assert motion.status == "interrupted"
    assert 0.2 * 2000 < motion.t[-1] < 2000
    assert seen == sorted(seen)
    assert motion.energy.drift < 1e-11


@pytest.mark.parametrize("method", ["taylor", "implicit", "cvode", "radau"])
def test_both_methods_tell_the_same_story(skate, method):
    case = skate.at(**XI_HAT, c_i=1.5, F=80)
    reference = case.simulate(20, theta1=0.2, theta1_dot=0.1, theta2_dot=0.1)
    tolerance = None if method == "taylor" else 1e-10
    motion = case.simulate(20, method=method, tolerance=tolerance, theta1=0.2, theta1_dot=0.1, theta2_dot=0.1)
    np.testing.assert_allclose(motion.y, reference.y, atol=1e-7)
    assert np.abs(motion.residual).max() < 1e-14
    assert "as asked" in motion.method
    assert motion.energy.drift < 1e-7


def test_stiffness_is_noticed():
    """A mass held by springs a million times apart in stiffness, strongly damped."""
    x, y = dynamicsymbols("x y")
    k, c = sm.symbols("k c", positive=True)
    system = pfaff.System(
        [x, y],
        kinetic=(x.diff(t) ** 2 + y.diff(t) ** 2) / 2,
        potential=x**2 / 2 + k * (y - sm.sin(x)) ** 2 / 2,
        dissipation=c * y.diff(t) ** 2 / 2,
        parameters={k: 1e8, c: 1e4},
    )
    motion = system.at().simulate(50, x=0.5, y=float(np.sin(0.5)))
    assert "stiff" in motion.method
    assert motion.finished
    np.testing.assert_allclose(motion["y"], np.sin(motion["x"]), atol=1e-3)


def test_unknown_method(skate):
    with pytest.raises(ParameterError, match="unknown method 'tailor'"):
        skate.at(**XI_HAT, F=1).simulate(1, method="tailor")


def test_runs_do_not_share_their_integrator(skate):
    """Motions in threads, or one inside the progress of another, are the motions one by one."""
    from concurrent.futures import ThreadPoolExecutor

    case = skate.at(**XI_HAT, c_i=1.5, F=84)
    pushes = [0.01, 0.05, 0.1, 0.2]
    one_by_one = [case.simulate(200, theta1_dot=push).y for push in pushes]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(lambda push: case.simulate(200, theta1_dot=push).y, pushes))
    for a, b in zip(one_by_one, together, strict=True):
        np.testing.assert_array_equal(a, b)
    nested = case.simulate(200, theta1_dot=0.01, progress=lambda fraction: case.simulate(1, theta1_dot=0.3) and None)
    np.testing.assert_array_equal(nested.y, one_by_one[0])


@pytest.mark.parametrize("method", ["cvode", "radau"])
def test_implicit_motions_hold_between_their_samples(skate, method):
    case = skate.at(**XI_HAT, c_i=1.5, F=80)
    reference = case.simulate(20, theta1=0.2, theta1_dot=0.1)
    motion = case.simulate(20, method=method, tolerance=1e-9, samples=3, theta1=0.2, theta1_dot=0.1)
    np.testing.assert_allclose(motion(reference.t), reference.y, atol=3e-6)


def test_accuracy_does_not_depend_on_where_the_origin_is(skate):
    case = skate.at(**XI_HAT, c_i=1.5, F=80)
    here, there = (case.simulate(20, method="implicit", theta1=0.2, X=X) for X in (0.0, 1e5))
    np.testing.assert_allclose(there["theta2"], here["theta2"], atol=2e-6)


def test_small_units_are_as_accurate():
    """From rest under a force of 10⁻⁹: x = 10⁻⁹ (1 − cos t)."""
    motion = oscillator().at(f=1e-9).simulate(10, method="implicit", tolerance=1e-8)
    np.testing.assert_allclose(motion["x"], 1e-9 * (1 - np.cos(motion.t)), atol=1e-14)


def test_fast_oscillations_are_not_stiffness():
    x, y = dynamicsymbols("x y")
    system = pfaff.System([x, y], kinetic=(x.diff(t) ** 2 + y.diff(t) ** 2) / 2, potential=x**2 / 2 + 5e7 * y**2)
    motion = system.at().simulate(100, x=1, y=1e-3)
    assert "Taylor" in motion.method
    assert motion.energy.drift < 1e-11


def test_constraint_rows_of_different_sizes_are_each_obeyed():
    x, y, z, w = dynamicsymbols("x y z w")
    system = pfaff.System(
        [x, y, z, w],
        kinetic=(x.diff(t) ** 2 + y.diff(t) ** 2 + z.diff(t) ** 2 + w.diff(t) ** 2) / 2,
        nonholonomic_constraints=[1e8 * (z.diff(t) - y * x.diff(t)), w.diff(t) - z * y.diff(t)],
    )
    with pytest.raises(ConstraintError, match="constraint 2"):
        system.at().simulate(1, y=1.0, x_dot=1.0, y_dot=1.0, z_dot=1.0, w_dot=1e-3)


def test_a_start_on_a_stop_does_not_count():
    motion = oscillator().at().simulate(10, x_dot=1, events={"home": pfaff.Event("x", stop=True)})
    assert motion.t[-1] == pytest.approx(np.pi, rel=1e-14)


def test_events_may_name_what_is_prescribed():
    motion = oscillator().at().simulate(10, x_dot=1, prescribed={"f": sm.sin(t)}, events={"as pushed": "x - f"})
    found = motion.events["as pushed"]
    np.testing.assert_allclose(found.y[0], np.sin(found.t), atol=1e-13)
    assert len(found)


def test_a_load_that_jumps_supplies_at_once():
    step = PPoly(np.array([[0.0, 1.0]]), np.array([0.0, 3.0, 10.0]))
    motion = oscillator().at().simulate(10, x=1, prescribed={"f": step})
    assert motion.energy.drift < 1e-13
    assert np.ptp(motion.energy.supplied) > 0.1


def test_a_coordinate_cannot_follow_a_corner_and_a_spline_keeps_its_degree():
    from scipy.interpolate import BPoly

    ramp = PPoly(np.array([[0.0, 1.0], [0.0, 0.0]]), np.array([0.0, 3.0, 10.0]))
    with pytest.raises(ParameterError, match="has a corner at t = 3"):
        oscillator().at().simulate(10, prescribed={"x": ramp})
    steep = BPoly.from_derivatives([0, 10], [[0, 0, 0, 0, 0], [1, 0, 0, 0, 0]])
    with pytest.raises(ParameterError, match="degree 9"):
        oscillator().at().simulate(10, prescribed={"x": steep})
    with pytest.raises(ParameterError, match="function for x is function"):
        oscillator().at().simulate(10, prescribed={"x": np.sin and (lambda s: s)})


def test_light_driven_coordinates_beside_heavy_ones():
    """The force on a mass of 10⁻⁹ beside an inertia of 10⁶ keeps its digits."""
    x, phi = dynamicsymbols("x phi")
    m = sm.Symbol("m", positive=True)
    system = pfaff.System([x, phi], kinetic=m * x.diff(t) ** 2 / 2 + 1e6 * phi.diff(t) ** 2 / 2, parameters={m: 1e-9})
    motion = system.at().simulate(10, prescribed={"x": sm.sin(t)}, phi_dot=1)
    np.testing.assert_allclose(motion.reaction, 1e-9 * np.sin(motion.t), atol=1e-20)


def test_small_inertias_and_stops_are_not_singular():
    """A knife edge of 10⁻¹¹ inertia, stopped by an event: nothing is cut."""
    x, y, phi = dynamicsymbols("x y phi")
    edge = pfaff.System(
        [x, y, phi],
        kinetic=(x.diff(t) ** 2 + y.diff(t) ** 2) / 2 + 1e-11 * phi.diff(t) ** 2 / 2,
        nonholonomic_constraints=[y.diff(t) * sm.cos(phi) - x.diff(t) * sm.sin(phi)],
    )
    motion = edge.at().simulate(10, x_dot=1, phi_dot=0.5, events={"turned": pfaff.Event("phi - 1", stop=True)})
    assert motion.t[-1] == pytest.approx(2, rel=1e-12)


def test_the_stabilisation_follows_the_steps():
    """A spin that dies out: later steps are not bound to the first ones."""
    x, y, phi = dynamicsymbols("x y phi")
    edge = pfaff.System(
        [x, y, phi],
        kinetic=(x.diff(t) ** 2 + y.diff(t) ** 2 + phi.diff(t) ** 2) / 2,
        dissipation=phi.diff(t) ** 2 / 2,
        nonholonomic_constraints=[y.diff(t) * sm.cos(phi) - x.diff(t) * sm.sin(phi)],
    )
    motion = edge.at().simulate(50, x_dot=1, phi_dot=1e3)
    assert np.count_nonzero(motion.knots > 30) < 100


@pytest.mark.parametrize("outcome", Outcome)
def test_a_status_says_its_outcome_to_programs_after_every_journey(outcome):
    status = Status(outcome, " and more")
    stored = Status.stored(status.notes), Status.stored({"status": str(status)})  # now, and before the name was kept
    for arrived in (pickle.loads(pickle.dumps(status)), *stored):
        assert (arrived, arrived.outcome, arrived.finished) == (status, outcome, outcome is Outcome.FINISHED)


@pytest.mark.parametrize("written", ["theta = 1/2", "theta - 1/2", "1/2 = theta"])
def test_events_may_be_equations(written):
    """θ̇ = 1 from rest at zero."""
    theta = sm.Symbol("theta")
    motion = pfaff.ode({theta: 1 + 0 * theta}).at().simulate(1, events={"half": pfaff.Event(written)})
    assert motion.events["half"].t == pytest.approx([0.5], abs=1e-12)
