"""Collecting the equations by monomials changes their form, never their values."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sm
from hypothesis import given
from hypothesis import strategies as st
from sympy.physics.mechanics import dynamicsymbols

import pfaff
from conftest import XI_HAT
from pfaff.flow.collected import collect
from pfaff.flow.compiled import Compiled
from pfaff.flow.lagrangian import graph_of

t = dynamicsymbols._t


def accelerations_and_reactions(graph, parameters):
    accelerations, reactions = graph.solve()
    function = Compiled([*accelerations, *reactions], [*graph.q, *graph.v])
    return lambda x, time: function(x, parameters, time)


def odd_system() -> pfaff.System:
    """Roots, exponentials, powers of sines, explicit time and a rheonomic constraint in one system."""
    x, y, phi = dynamicsymbols("x y phi")
    m, a, k = sm.symbols("m a k", positive=True)
    return pfaff.System(
        coordinates=[x, y, phi],
        kinetic=m * (x.diff(t) ** 2 + y.diff(t) ** 2) / 2 + a**2 * (1 + sm.sin(phi) ** 3) ** 2 * phi.diff(t) ** 2 / 2,
        potential=k * (sm.sqrt(x**2 + y**2 + a**2) - a) ** 2 / 2 + sm.exp(-a * x) + m * sm.cos(phi) * sm.cos(3 * t),
        dissipation=k * (x.diff(t) * sm.cos(phi) + y.diff(t)) ** 2 / 2,
        forces={phi: -k * x * phi.diff(t)},
        nonholonomic_constraints=[y.diff(t) * sm.cos(phi) - x.diff(t) * sm.sin(phi) - a * sm.sin(t)],
        parameters={m: 1.3, a: 0.7, k: 2.1},
    )


SYSTEMS = {
    "skate": lambda: pfaff.atlas.column(2).at(**XI_HAT, c_i=1.5, F=80),
    "bow": lambda: pfaff.atlas.column(2, "bow").at(**XI_HAT, beta0=0.2, c_t=0.3, F=80),
    "odd": lambda: odd_system().at(),
}


@pytest.mark.parametrize("name", SYSTEMS)
@given(seed=st.integers(0, 10_000))
def test_collected_equations_are_the_same_equations(name, seed):
    case = SYSTEMS[name]()
    zeros = frozenset(n for n, v in zip(case.system.parameter_names, case.numbers, strict=True) if v == 0)
    collected = collect(case.system, zeros)
    generator = np.random.default_rng(seed)
    x, time = generator.uniform(-1.2, 1.2, 2 * len(case.system.coordinates)), generator.uniform(-2, 2)
    lean = accelerations_and_reactions(collected.graph, collected.numbers(case.numbers))(x, time)
    full = accelerations_and_reactions(graph_of(case.system), case.numbers)(x, time)
    np.testing.assert_allclose(lean, full, rtol=1e-11, atol=1e-11 * np.abs(full).max())


def test_collected_equations_are_leaner(skate):
    """What cancels is gone: fewer operations for Taylor's method."""
    collected = collect(skate, frozenset({"c_e", "c_t", "c_r", "M_X", "beta0"}))

    full = graph_of(skate, frozenset({"c_e", "c_t", "c_r", "M_X", "beta0"}))
    assert _size(collected.graph) < 0.5 * _size(full)


def _size(graph) -> int:
    accelerations, _ = graph.solve()
    return Compiled([*graph.v, *accelerations], [*graph.q, *graph.v]).operations


def test_large_systems_are_left_as_they_are():
    assert collect(pfaff.atlas.column(8)) is None


def test_far_from_the_origin_no_digit_is_lost():
    """A quartic well moved far away: the same motion (expanding (x − a)⁴ would lose all digits)."""
    x = dynamicsymbols("x")
    a = sm.Symbol("a", real=True)
    well = pfaff.System([x], kinetic=x.diff(t) ** 2 / 2, potential=(x - a) ** 4 / 4, parameters={a: 0})
    here = well.at(a=0).simulate(50, x=0.5)
    there = well.at(a=1000).simulate(50, x=1000.5)
    np.testing.assert_allclose(there["x"] - 1000, here["x"], atol=1e-8)


def test_a_pulse_far_from_time_zero_acts():
    """ẍ + x = exp(−(t − 50)²): afterwards the amplitude is |∫ f e^(it) dt| = √π e^(−1/4)."""
    x = dynamicsymbols("x")
    f = sm.Symbol("f", real=True)
    system = pfaff.System([x], kinetic=x.diff(t) ** 2 / 2, potential=x**2 / 2 - f * x, parameters={f: 0})
    motion = system.at().simulate(100, prescribed={"f": sm.exp(-((t - 50) ** 2))})
    last = np.hypot(motion["x"][-1], motion["x_dot"][-1])
    assert last == pytest.approx(np.sqrt(np.pi) * np.exp(-0.25), rel=1e-12)
    assert motion.energy.drift < 1e-12


def test_a_vanishing_parameter_may_leave_what_cannot_be_collected():
    x = dynamicsymbols("x")
    e = sm.Symbol("e", nonnegative=True)
    system = pfaff.System([x], kinetic=x.diff(t) ** 2 / 2, potential=sm.sqrt((x - 1) ** 2 + e**2), parameters={e: 0})
    assert collect(system, frozenset({"e"})) is None
    motion = system.at().simulate(1, x=3)  # unit force towards x = 1
    np.testing.assert_allclose(motion["x"], 3 - motion.t**2 / 2, atol=1e-13)


def test_powers_at_zero_can_start():
    x, y = dynamicsymbols("x y")
    system = pfaff.System(
        [x, y], kinetic=(x.diff(t) ** 2 + y.diff(t) ** 2) / 2, potential=(1 + x**2 + y**2) ** 2 + x**5
    )
    assert system.at().simulate(5, x=0.1).energy.drift < 1e-13
