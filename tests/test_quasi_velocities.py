"""Quasi-velocities by name: a forward speed that steady motions are fixed by, motions start from, pictures show."""

import numpy as np
import pytest
import sympy as sm
from sympy.physics.mechanics import dynamicsymbols

import pfaff
from pfaff.errors import ConstraintError, ConvergenceError, ParameterError, StatementError

t = dynamicsymbols._t
x, y, phi = dynamicsymbols("x y phi")
m, I = sm.symbols("m I", positive=True)
a = sm.Symbol("a", real=True)
FORWARD = x.diff(t) * sm.cos(phi) + y.diff(t) * sm.sin(phi)
SIDEWAYS = y.diff(t) * sm.cos(phi) - x.diff(t) * sm.sin(phi)


def sleigh(**stated):
    centre = sm.Matrix([x + a * sm.cos(phi), y + a * sm.sin(phi)])
    stated = {"quasi_velocities": {"v": FORWARD}, "nonholonomic_constraints": [SIDEWAYS]} | stated
    return pfaff.System(
        coordinates=[x, y, phi],
        kinetic=m * centre.diff(t).dot(centre.diff(t)) / 2 + I * phi.diff(t) ** 2 / 2,
        parameters={m: 1, I: sm.Rational(1, 4), a: sm.Rational(2, 5)},
        **stated,
    )


@pytest.fixture(scope="module")
def case():
    return sleigh().at()


def test_a_steady_motion_is_fixed_by_the_forward_speed(case):
    """Straight ahead the sleigh turns back at the rate m a v/(I + m a²), Chaplygin (1911)."""
    straight = case.steady(v=2, phi_dot=0)
    assert straight["v"] == 2
    assert straight["x_dot"] == pytest.approx(2)
    assert straight.family == ("v",)
    rate = 0.4 * 2 / (0.25 + 0.16)
    np.testing.assert_allclose(straight.eigenvalues, [-rate], rtol=1e-12)
    np.testing.assert_allclose(straight.eigenvalues, case.steady(x_dot=2, phi_dot=0).eigenvalues, rtol=1e-12)
    assert not case.steady(v=-2, phi_dot=0).stable


def test_the_rate_of_the_speed_is_that_of_chaplygins_equations(case):
    """v̇ = a ω², ω̇ = −m a v ω/(I + m a²): the states of the flow are ω and v."""
    flow = case.steady(v=1, phi_dot=0).flow
    state = {"v": 1.3, "phi_dot": 0.7}
    rates = dict(zip(flow.states, flow.rhs([state[name] for name in flow.states], case), strict=True))
    assert rates["v"] == pytest.approx(0.4 * 0.7**2, rel=1e-13)
    assert rates["phi_dot"] == pytest.approx(-0.4 * 1.3 * 0.7 / 0.41, rel=1e-13)


def test_a_motion_starts_from_it_and_has_it_by_name(case):
    motion = case.simulate(3, v=1.5, phi=0.6, phi_dot=0.4)
    assert motion["v"][0] == pytest.approx(1.5, rel=1e-14)
    assert motion["x_dot"][0] == pytest.approx(1.5 * np.cos(0.6))
    along = motion["x_dot"] * np.cos(motion["phi"]) + motion["y_dot"] * np.sin(motion["phi"])
    np.testing.assert_allclose(motion["v"], along, atol=1e-14)
    np.testing.assert_allclose(np.gradient(motion["v"], motion.t)[1:-1], 0.4 * motion["phi_dot"][1:-1] ** 2, rtol=1e-4)


def test_velocities_that_contradict_it_are_refused_by_its_name(case):
    with pytest.raises(ConstraintError, match="the quasi-velocity v"):
        case.simulate(1, v=1, x_dot=3, y_dot=0)


def test_many_motions_start_from_it(case):
    speeds = np.array([0.5, 1.0, 2.0])
    found = case.ensemble(1, v=speeds, phi=0.3)
    np.testing.assert_allclose(np.hypot(found["x_dot"][0], found["y_dot"][0]), speeds, rtol=1e-13)


def test_branches_follow_it_and_are_stored(case, tmp_path):
    """Running backwards is unstable: at v = 0 the eigenvalue passes zero."""
    branch = case.steady(v=1, phi_dot=0).branch("v", to=-1)
    assert [each.value for each in branch.special] == [pytest.approx(0, abs=1e-9)]
    assert branch[0].stable
    assert not branch[-1].stable
    again = pfaff.load(branch.save(tmp_path / "branch.nc"), case)
    np.testing.assert_array_equal([each.value for each in again], [each.value for each in branch])


def test_events_and_energies_may_be_written_with_it():
    braked = sleigh(dissipation="m*v**2/2").at()
    motion = braked.simulate(3, v=1, events={"half": "v - 1/2"})
    assert motion.events["half"].t[0] == pytest.approx(np.log(2), rel=1e-10)  # v̇ = −v on a straight line


def test_an_imposed_shape_leaves_it_to_be_seen():
    board = pfaff.atlas.snakeboard().at()
    gait = {"psi": "7/10*sin(t)", "phi_f": "3/10*sin(t)", "phi_b": "-3/10*sin(t)"}
    motion = board.simulate(5, prescribed=gait, project=True)
    heading = motion["theta"]
    expected = motion["x_dot"] * np.cos(heading) + motion["y_dot"] * np.sin(heading)
    np.testing.assert_allclose(motion["v"], expected, atol=1e-14)


def test_it_has_a_panel_of_its_own(case):
    fig = case.simulate(2, v=1, phi_dot=0.5).plot("v", "phi")
    panels = {axes.get_ylabel(): axes for axes in fig.axes}
    (line,) = panels["quasi-velocity"].get_lines()
    assert line.get_label() == "$v$"
    assert line.get_ydata()[0] == pytest.approx(1)


def test_studies_take_it_for_a_speed(case):
    study = case.sweep({"v": [-1.0, 1.0]}, measure="stable", phi_dot=0).run()
    assert study.dataset["stable"].values.tolist() == [0.0, 1.0]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"v": x.diff(t) ** 2}, "not linear in the velocities"),
        ({"v": "x_dot*speed"}, "speed"),
        ({"phi": FORWARD}, "has the name of something else"),
        ({"p": FORWARD}, "is the name of a reaction"),
        ({"a b": FORWARD}, "no proper name"),
        ([FORWARD], "give them by name"),
    ],
)
def test_what_is_no_quasi_velocity_is_refused(given, words):
    with pytest.raises(StatementError, match=words):
        sleigh(quasi_velocities=given)


def test_more_speeds_than_are_free_are_refused(case):
    with pytest.raises(ParameterError, match="free together"):
        case.steady(v=1, x_dot=1, phi_dot=0)


def test_a_speed_that_changes_with_the_place_is_not_steady():
    polar = sleigh(quasi_velocities={"u": x * y.diff(t) - y * x.diff(t)})
    with pytest.raises(ParameterError, match="u changes with x"):
        polar.at().steady(u=1)


def test_where_nothing_is_steady_at_that_speed_it_is_said():
    """On a slope the sleigh that points across it turns: no steady motion has this heading."""
    with pytest.raises(ConvergenceError, match="no steady motion of .* with phi, v fixed"):
        pfaff.atlas.chaplygin_sleigh(slope=True).at().steady(v=1, phi=1.0)


def test_a_prescribed_motion_keeps_the_names_of_reactions_and_speeds():
    blade = sleigh(nonholonomic_constraints={"blade": SIDEWAYS}).at()
    motion = blade.simulate(1, v=1, prescribed={"phi": "t/2"})
    np.testing.assert_array_equal(motion["p_blade"], motion["p1"])
    with pytest.raises(ParameterError, match="did you mean 'v'"):
        motion["V"]
