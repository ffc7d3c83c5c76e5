"""Collecting the equations by monomials changes their form, never their values."""

from __future__ import annotations

import heyoka as hy
import numpy as np
import pytest
import sympy as sm
from hypothesis import given
from hypothesis import strategies as st
from sympy.physics.mechanics import dynamicsymbols

import pfaff
from conftest import XI_HAT
from pfaff.collected import collect
from pfaff.compiled import Compiled
from pfaff.lowering import graph_of

t = dynamicsymbols._t


def accelerations_and_reactions(graph, parameters):
    accelerations, reactions = graph.solve()
    function = Compiled([*accelerations, *reactions], [*graph.q, *graph.v], quick=True)
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
    rates = [*zip(graph.q, graph.v, strict=True), *zip(graph.v, accelerations, strict=True)]
    return len(hy.taylor_adaptive(rates, np.zeros(len(rates)), compact_mode=True, opt_level=0).decomposition)


def test_large_systems_are_left_as_they_are():
    assert collect(pfaff.atlas.column(8)) is None
