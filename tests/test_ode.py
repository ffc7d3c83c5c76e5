"""Plain ODEs: what is kept, what is refused, equilibria, spectra, and the flow they share with systems."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sm
from sympy.physics.mechanics import dynamicsymbols

import pfaff
from pfaff.algebra.rounding import axis_rounding
from pfaff.errors import ConvergenceError, NotMechanicalError, ParameterError, StatementError

x, y, z = sm.symbols("x y z")
mu = sm.Symbol("mu", real=True)


def test_states_may_be_symbols_or_functions_of_time():
    u, v = dynamicsymbols("x y")
    plain = pfaff.ode({x: y, y: mu * y - x - x**3}, parameters={mu: 1}, load=mu, name="plain")
    timed = pfaff.ode({u: v, v: mu * v - u - u**3}, parameters={mu: 1}, load="mu")
    state = np.array([0.3, -0.7])
    for order in (1, 2, 3):
        np.testing.assert_array_equal(
            plain.flow.tensor(order, state, plain.at()), timed.flow.tensor(order, state, timed.at())
        )
    assert plain.shape is plain.flow
    assert plain.state_names == timed.shape.states == ("x", "y")
    assert plain.flow.rhs(state, plain.at()) == pytest.approx([-0.7, -0.7 - 0.3 - 0.027])
    assert plain.flow.parameter_jacobian(state, plain.at(), ["mu"])[:, 0] == pytest.approx([0.0, -0.7])
    assert "plain" in repr(plain)


@pytest.mark.parametrize(
    ("equations", "parameters", "words"),
    [
        ({}, {}, "at least one equation"),
        ({x + y: x}, {}, "neither a symbol nor a function"),
        ({x: y}, {}, "the symbol y, which is no parameter"),
        ({x: mu * x}, {sm.Symbol("mu"): 1}, "other assumptions"),
        ({x: sm.Symbol("x", positive=True)}, {}, "other assumptions"),
        ({x: x}, {x: 1}, "the name of a state"),
        ({x: x, sm.Symbol("x", real=True): 1}, {}, "two states are called 'x'"),
        ({x: sm.Matrix([x])}, {}, "not a scalar"),
        ({x: dynamicsymbols("xx")}, {}, "which is no state"),
        ({dynamicsymbols("x"): dynamicsymbols("x").diff()}, {}, "a state of their own"),
    ],
)
def test_statements_that_are_refused(equations, parameters, words):
    with pytest.raises(StatementError, match=words):
        pfaff.ode(equations, parameters)


def test_the_load_must_be_a_parameter():
    with pytest.raises(StatementError, match="not a parameter"):
        pfaff.ode({x: mu * x}, {mu: 1}, load="nu")
    with pytest.raises(ParameterError, match="declares no load"):
        pfaff.ode({x: mu * x}, {mu: 1}).at().hopf()


def test_equilibria_by_newton_from_starts_by_name():
    pitchfork = pfaff.ode({x: mu * x - x**3, y: x - y}, {mu: 4}).at()
    assert pitchfork.equilibrium()["x"] == 0.0
    found = pitchfork.equilibrium(x=1.7)
    assert found.state == pytest.approx({"x": 2.0, "y": 2.0}, rel=1e-15)
    assert (found.family_dimension, found.residual < 1e-16) == (0, True)
    assert pitchfork.spectrum(found).values == pytest.approx([-1.0, -8.0])
    assert "unstable: 1 divergent" in pitchfork.spectrum(mu=1).status
    with pytest.raises(ParameterError, match="did you mean 'x'"):
        pitchfork.equilibrium(X=1)
    with pytest.raises(ParameterError, match="no state"):
        found["p"]
    with pytest.raises(ConvergenceError, match="starting values"):
        pfaff.ode({x: x**2 + 1}).at().equilibrium(x=0.5)


@pytest.mark.parametrize("equations", [{x: mu - x**2}, {x: mu - x**2, y: -y}, {x: mu - x**2, y: -1e9 * y}])
def test_what_a_singular_jacobian_cannot_reach_is_no_equilibrium(equations):
    with pytest.raises(ConvergenceError, match="starting values"):
        pfaff.ode(equations, {mu: 1}).at().equilibrium()
    assert pfaff.ode(equations, {mu: 0}).at().equilibrium()["x"] == 0.0


def test_newton_keeps_to_the_level_of_what_is_conserved():
    # x + y is conserved: the start selects the member of the line of equilibria x = 2y.
    line = pfaff.ode({x: 2 * y - x + y**3, y: x - 2 * y - y**3}).at()
    found = line.equilibrium(x=3.0, y=1.0)
    assert found["x"] + found["y"] == pytest.approx(4.0, rel=1e-15)
    assert found.family_dimension == 1
    assert line.spectrum(found).structural_zeros == 1
    assert len(line.spectrum(found).values) == 1


def test_mechanical_analyses_say_why_not():
    case = pfaff.ode({x: -x}).at()
    for name in ("flutter", "ensemble", "critical", "paradox", "linearise"):
        with pytest.raises(NotMechanicalError, match=f"{name} needs energies"):
            getattr(case, name)
        assert not hasattr(case, name)
    with pytest.raises(AttributeError, match="no 'fluter'"):
        case.fluter  # noqa: B018


def test_cubes_have_taylor_coefficients_at_zero():
    """Powers above two are products in the graph: a force −v³ can start from rest."""
    q = dynamicsymbols("q")
    v = q.diff()
    system = pfaff.System([q], kinetic=v**2 / 2, potential=q**4 / 4, forces={q: -(v**3)})
    motion = system.at().simulate(5, q=1.0, samples=11)
    assert motion.status == "finished"
    assert motion.energy.drift < 1e-13


# Motions


@pytest.fixture(scope="module")
def oscillator():
    return pfaff.ode({x: y, y: mu * (1 - x**2) * y - x}, {mu: 1}, load=mu, name="van der Pol").at()


def test_van_der_pol_settles_on_its_cycle(oscillator, tmp_path):
    """Its period by returns to a section in time and by collocation, which know nothing of each other."""
    motion = oscillator.simulate(100, x=0.5, events={"section": pfaff.Event("x", direction=1)})
    assert motion.finished
    returned = np.diff(motion.events["section"].t)[-1]
    assert returned == pytest.approx(6.663286859, abs=1e-9)
    assert oscillator.orbit(motion).period == pytest.approx(returned, rel=1e-12)
    again = pfaff.load_motion(motion.save(tmp_path / "motion.nc"))
    assert again["y"].tolist() == motion["y"].tolist()
    assert again.events["section"].t.tolist() == motion.events["section"].t.tolist()
    assert repr(again) == "<Trajectory of van der Pol, t = 0 … 100, 1001 samples: finished>"
    assert [axes.get_xlabel() for axes in again.plot().axes] == ["time", "$x$"]


def test_a_motion_agrees_with_another_integrator_and_runs_backwards(oscillator):
    from scipy.integrate import solve_ivp

    motion = oscillator.at(mu="3/2").simulate(7, samples=15, x=0.3, y=-0.2)
    peer = solve_ivp(
        lambda t, s: [s[1], 1.5 * (1 - s[0] ** 2) * s[1] - s[0]], (0, 7), [0.3, -0.2], "DOP853", motion.t,
        rtol=1e-13, atol=1e-14,
    )  # fmt: skip
    np.testing.assert_allclose(motion.y, peer.y, atol=1e-11)
    end = dict(zip(motion.states, motion.y[:, -1], strict=True))
    back = oscillator.at(mu="3/2").simulate(-7, **end)
    assert back.y[:, -1] == pytest.approx([0.3, -0.2], abs=1e-10)


def test_a_motion_that_ends_early_says_why(oscillator):
    bursting = pfaff.ode({x: x**2}).at().simulate(2, x=1)
    assert "no longer finite" in bursting.status
    assert bursting.t[-1] == pytest.approx(1, abs=1e-9)
    stopped = oscillator.simulate(10, x=1, events={"half": pfaff.Event(x - sm.Rational(1, 2), stop=True)})
    assert stopped.status.startswith("stopped by event 'half' at t = 0.99771")
    assert stopped["x"][-1] == pytest.approx(0.5, abs=1e-14)
    for wrong in ({"duration": "a"}, {"duration": 1, "z": 1}, {"duration": 1, "events": {"a": "q"}}):
        with pytest.raises(ParameterError):
            oscillator.simulate(**wrong)


@pytest.mark.parametrize("stiff", [1, 1e6, 1e10])
def test_a_stiff_neighbour_hides_no_growth(stiff):
    X, Y, U = sm.symbols("X Y U", real=True)
    spectrum = pfaff.ode({X: 0.05 * X - Y - X**3, Y: X + 0.05 * Y, U: -stiff * U + X}).at().spectrum()
    assert spectrum.values[0] == pytest.approx(0.05 - 1j, rel=1e-4)
    assert spectrum.status == "unstable: 1 growing oscillation"


def test_growth_beside_a_neutral_mode_is_seen():
    """A zero eigenvalue of another mode is no reason to take a growth rate for rounding."""
    X, Y = sm.symbols("X Y", real=True)
    assert not pfaff.ode({X: 1e-6 * X - X**3, Y: -(Y**3)}).at().spectrum().stable


@pytest.mark.parametrize("seed", range(5))
def test_a_defective_pair_on_the_axis_does_not_grow(seed):
    """It splits by √ε in any basis, which is rounding; a growth of 10⁻⁵ is not."""
    turn = np.array([[0.0, -1.0], [1.0, 0.0]])
    block = np.block([[turn, np.eye(2)], [np.zeros((2, 2)), turn]])
    basis = np.linalg.qr(np.random.default_rng(seed).normal(size=(4, 4)))[0]
    for growth, grows in ((0.0, False), (1e-5, True)):
        J = basis @ (block + growth * np.eye(4)) @ basis.T
        values = np.linalg.eigvals(J)
        assert (values.real > axis_rounding(J, values)).any() == grows


@pytest.mark.parametrize("value", [1e5, 1e10])
def test_a_hopf_point_is_found_beside_a_mode_that_changes_much_sooner(value):
    grow = mu / value - 1 - x**2 - y**2
    ode = pfaff.Ode({x: grow * x - y, y: x + grow * y, z: -(1 + mu) * z}, parameters={mu: 0.0})
    found = ode.at().hopf("mu")
    assert found.value == pytest.approx(value, rel=1e-12)
    assert found.l1 == pytest.approx(-2, rel=1e-9)
