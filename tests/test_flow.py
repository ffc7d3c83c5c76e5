"""Compiled flows: derivatives against differences, batches, shape space and reconstruction."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest
import sympy as sm
from scipy.integrate import solve_ivp

import pfaff
from conftest import XI_HAT
from pfaff.errors import ParameterError, PfaffError, RankError
from pfaff.flow.compiled import Compiled
from pfaff.flow.differentiation import jacobian_entries
from pfaff.flow.graph import par
from pfaff.flow.lagrangian import graph_of
from pfaff.flow.lowering import shape_flow
from pfaff.flow.statics import statics_of
from pfaff.statement import TIME, coordinates

X0 = np.array([0.3, -0.2, 0.1, 0.5])


@pytest.fixture
def case(skate):
    return skate.at(**XI_HAT, c_i=1.5, F=80)


def test_shape_space_drops_the_block_under_a_dead_load_and_says_why(skate):
    assert skate.shape.states == ("theta1", "theta2", "theta1_dot", "theta2_dot")
    assert skate.shape.dependent == ("X_dot",)
    assert "only the velocity of X" in skate.shape.dropped["X"]
    assert "theta1 appears in the kinetic energy" in skate.shape.kept["theta1"]


def test_shape_space_keeps_the_block_on_a_spring():
    shape = pfaff.atlas.column(2, load="spring").shape
    assert shape.states == ("theta1", "theta2", "X", "theta1_dot", "theta2_dot")
    assert "potential" in shape.kept["X"]
    assert not shape.dropped


def test_full_and_shape_flow_agree(skate, case):
    velocities = skate.shape.velocities(X0, case)
    full = np.concatenate([X0[:2], [0.9], velocities])
    row = np.array([np.sin(X0[1] - X0[0]) / 2, 0, np.cos(X0[1])])
    assert row @ velocities == pytest.approx(0, abs=1e-16)
    np.testing.assert_allclose(skate.flow.rhs(full, case)[[3, 4]], skate.shape.rhs(X0, case)[2:], rtol=1e-13)
    np.testing.assert_allclose(skate.flow.reactions(full, case), skate.shape.reactions(X0, case), rtol=1e-13)


@pytest.mark.parametrize("order", [1, 2, 3])
def test_derivative_tensors_against_differences(skate, case, order):
    shape, h = skate.shape, 1e-2
    direction = np.array([0.4, -0.3, 0.2, 0.6])
    offsets = np.arange(-4, 5)
    values = np.array([shape.rhs(X0 + k * h * direction, case) for k in offsets])
    expected = _derivative(values, offsets * h, order)
    tensor = shape.tensor(order, X0, case)
    for _ in range(order):
        tensor = tensor @ direction
    np.testing.assert_allclose(tensor, expected, rtol=1e-7, atol=1e-7)


def _derivative(values, at, order):
    fit = np.polynomial.polynomial.polyfit(at, values, len(at) - 1)
    return fit[order] * [1, 1, 2, 6][order]


def test_tensors_are_symmetric(skate, case):
    tensor = skate.shape.tensor(3, X0, case)
    np.testing.assert_array_equal(tensor, tensor.transpose(0, 2, 1, 3))
    np.testing.assert_array_equal(tensor, tensor.transpose(0, 3, 2, 1))


def test_parameter_derivatives_against_differences(skate, case):
    names = ["F", "M_X", "c_i", "beta0"]
    exact = skate.shape.parameter_jacobian(X0, case, names)
    for k, name in enumerate(names):
        low, high = (case.at(**{name: max(float(case.values[name]), 0.1) + s}) for s in (-1e-5, 1e-5))
        middle = case.at(**{name: max(float(case.values[name]), 0.1)})
        if float(case.values[name]) >= 0.1:
            exact_here = exact[:, k]
        else:
            exact_here = skate.shape.parameter_jacobian(X0, middle, [name])[:, 0]
        difference = (skate.shape.rhs(X0, high) - skate.shape.rhs(X0, low)) / 2e-5
        np.testing.assert_allclose(exact_here, difference, rtol=1e-6, atol=1e-8)


def test_batches_equal_single_evaluations(skate, case):
    batch = np.random.default_rng(0).normal(size=(4, 7))
    for function in (skate.shape.rhs, skate.shape.jacobian, skate.shape.velocities, skate.shape.reactions):
        together = function(batch, case)
        each = np.stack([function(batch[:, k], case) for k in range(7)], axis=-1)
        np.testing.assert_allclose(together, each, rtol=1e-13, atol=1e-15)


def test_parameters_may_differ_along_a_batch(skate, case):
    numbers = np.stack([case.at(F=f).numbers for f in (10, 20, 30)], axis=1)
    together = skate.shape.rhs(np.repeat(X0[:, None], 3, axis=1), numbers)
    np.testing.assert_allclose(together[:, 1], skate.shape.rhs(X0, case.at(F=20)), rtol=1e-14)


def test_dropped_coordinate_is_reconstructed(skate, case):
    t = np.linspace(0, 20, 2001)
    settings = {"t_eval": t, "rtol": 1e-11, "atol": 1e-13, "method": "DOP853"}
    shape = solve_ivp(lambda _, x: skate.shape.rhs(x, case), (0, 20), [0, 0, 0.01, 0.01], **settings)
    full = solve_ivp(lambda _, x: skate.flow.rhs(x, case), (0, 20), [0, 0, 0.3, 0.01, 0.01, 0], **settings)
    rebuilt = skate.shape.reconstruct(t, shape.y, case, X=0.3)["X"]
    assert np.ptp(full.y[2]) > 0.05  # the block has moved
    np.testing.assert_allclose(rebuilt, full.y[2], atol=1e-9)


def test_the_user_may_choose_the_dependent_velocity(skate, case):
    other = shape_flow(skate, dependent=["theta1"])
    assert other.dependent == ("theta1_dot",)
    velocity = skate.shape.velocities(X0, case)
    state = np.array([X0[0], X0[1], velocity[1], velocity[2]])
    np.testing.assert_allclose(other.velocities(state, case), velocity, rtol=1e-12)
    with pytest.raises(ParameterError, match="determine 1"):
        shape_flow(skate, dependent=["theta1", "X"])
    with pytest.raises(ParameterError, match="'theta3'"):
        shape_flow(skate, dependent=["theta3"])


def test_two_constraints_are_solved_together():
    case = pfaff.atlas.bottema_general(5, 2).at(c211=0.4, c122=0.3, a11=0.2, a22=0.5)
    shape = case.system.shape
    x = np.random.default_rng(1).normal(size=len(shape.states)) * 0.3
    v = shape.velocities(x, case)
    full = np.concatenate([x[:5], v])
    residual = case.system.flow.rhs(full, case)[5:]
    independent = [case.system.coordinate_names.index(s.removesuffix("_dot")) for s in shape.states[5:]]
    np.testing.assert_allclose(shape.rhs(x, case)[5:], residual[independent], rtol=1e-11, atol=1e-12)


def test_shape_jacobian_and_pencil_have_the_same_eigenvalues(case, skate):
    """Two roads to the spectrum: derivatives of the eliminated flow, and the multiplier pencil."""
    for values in ({}, {"beta0": 0.05, "F": 30}):
        here = case.at(**values)
        at = here.equilibrium()
        jacobian = skate.shape.jacobian([*at.q[:2], 0, 0], here)
        np.testing.assert_allclose(
            np.sort_complex(np.linalg.eigvals(jacobian)), np.sort_complex(here.spectrum().values), atol=1e-11
        )


def test_wrong_states_are_refused(skate, case):
    with pytest.raises(ParameterError, match="4 components"):
        skate.shape.rhs([0, 0, 0], case)
    with pytest.raises(PfaffError, match="not finite"):
        skate.shape.rhs([np.nan, 0, 0, 0], case)
    with pytest.raises(ParameterError, match="order=0"):
        skate.shape.tensor(0, X0, case)


def test_lost_rank_is_named():
    import sympy as sm
    from sympy.physics.mechanics import dynamicsymbols

    t = dynamicsymbols._t
    x, y, z = dynamicsymbols("x y z")
    m = sm.Symbol("m", positive=True)
    system = pfaff.System(
        [x, y, z],
        m * (x.diff(t) ** 2 + y.diff(t) ** 2 + z.diff(t) ** 2) / 2,
        nonholonomic_constraints=[z * x.diff(t) - y * y.diff(t) + x * z.diff(t) + y * z * x.diff(t)],
        parameters={m: 1},
    )
    with pytest.raises(RankError, match="lose rank.*x = 0"):
        system.flow.rhs([0, 0, 0, 1, 1, 1], system.at())


def test_small_analyses_do_not_import_all_of_numpy_and_write_nothing(tmp_path):
    script = """
import sys
import numpy as np, sympy as sm
from pfaff.flow.compiled import Compiled
from pfaff.flow.graph import expression
from pfaff.statement.evaluation import evaluated
t, x = sm.Symbol("t"), expression("x")
print(evaluated([sm.sin(t) + sm.exp(t)], {t: 0.0}), Compiled([2 * x], [x])(np.ones(1), np.zeros(0)))
print("numpy.f2py" in sys.modules)
"""
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, env=environment)
    assert done.stdout.split("\n")[:2] == ["[np.float64(1.0)] [2.]", "False"]
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("make", [lambda: pfaff.atlas.column(3).shape, lambda: pfaff.atlas.rolling_disc().flow])
def test_implicit_derivatives_are_those_of_the_accelerations(make):
    """By states and parameters, against the elimination differentiated step by step."""
    flow = make()
    by = [*flow.variables, *(par[i] for i in range(len(flow.system.parameters)))]
    implicit = [each for row in flow.derivatives(by) for each in row]
    direct = jacobian_entries(flow.expressions, by)
    draw = np.random.default_rng(1)
    x, numbers = draw.uniform(0.1, 0.4, len(flow.states)), draw.uniform(1.0, 2.0, len(flow.system.parameters))
    found, expected = (Compiled(each, flow.variables)(x, numbers) for each in (implicit, direct))
    assert found == pytest.approx(expected, rel=1e-10, abs=1e-10 * np.abs(expected).max())


def test_statics_leave_out_only_what_vanishes_at_rest():
    """Gyroscopic and centrifugal terms, a dissipation and a force that act at rest: against the whole balance."""
    x, y = coordinates("x y")
    m, w, c = sm.symbols("m w c", positive=True)
    vx, vy = x.diff(TIME), y.diff(TIME)
    system = pfaff.System(
        [x, y],
        kinetic=m * ((vx - w * y) ** 2 + (vy + w * x) ** 2) / 2,
        potential=x**4 + y**2,
        dissipation=c * (vx - sm.sin(y)) ** 2 / 2 + c * (1 + vy**2) ** sm.Rational(3, 2),
        forces={x: y - c * vx * y},
        parameters={m: 1, w: 2, c: 0.3},
    )
    graph, q, numbers, step = graph_of(system), np.array([0.3, 0.4]), np.array([1.0, 2.0, 0.3]), 1e-5
    whole = Compiled(graph.balance, graph.q + graph.v)
    found = statics_of(system)(q, np.zeros(0), numbers)
    np.testing.assert_allclose(found.balance, whole(np.array([*q, 0.0, 0.0]), numbers), rtol=1e-14)
    for j, v in enumerate(step * np.eye(2)):
        change = whole(np.array([*q, *v]), numbers) - whole(np.array([*q, *-v]), numbers)
        np.testing.assert_allclose(found.C[:, j], change / (2 * step), rtol=1e-8, atol=1e-9)
