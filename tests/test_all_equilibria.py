"""All equilibria within bounds: curves of rest and deflation, against an independent recursion."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sm
from scipy.optimize import brentq
from sympy.physics.mechanics import dynamicsymbols

import pfaff
from pfaff.errors import ParameterError

t = dynamicsymbols._t


def end_angle(case: pfaff.Case, p: np.ndarray) -> np.ndarray:
    """θ_N of the bars with a skate under a reaction p, bar by bar from the end: k (θ_i − θ_{i−1}) balances what the
    next hinge brings and p l sin(θ_N + β0 − θ_i)."""
    v = {name: float(value) for name, value in case.values.items()}
    bars = len(case.system.coordinates) - 1
    phi, moment, angle = np.full_like(p, v["beta0"]), np.zeros_like(p), np.zeros_like(p)
    for i in range(bars, 0, -1):
        stiffness = v["k1"] if i == 1 else v["k"]
        moment = moment - p * v["L"] / bars * np.sin(phi)
        phi, angle = phi + moment / stiffness, angle + moment / stiffness
    return angle


def reactions(case: pfaff.Case, bound: float, samples: int) -> np.ndarray:
    """Every p at which the spring, at X = 0, is in balance: roots of one function of p."""
    beta0, push = float(case.values["beta0"]), float(case.values["K"]) * float(case.values["Delta"])

    def left(p):
        return np.asarray(p) * np.cos(end_angle(case, np.asarray(p, dtype=float)) + beta0) - push

    p = np.linspace(-bound, bound, samples)
    signs = left(p)
    return np.array([brentq(left, p[k], p[k + 1], xtol=1e-13) for k in np.flatnonzero(signs[1:] * signs[:-1] < 0)])


@pytest.mark.parametrize(("bars", "load", "beta", "bound"), [(7, 0.1, np.pi / 4, 20), (5, 1.5, np.pi / 2, 20)])
def test_all_of_the_spring_column_are_found(bars, load, beta, bound):
    case = pfaff.atlas.column(bars, "skate", "spring").at(K=1, Delta=load, beta0=beta)
    expected = np.sort(reactions(case, bound, 100001))
    found = case.equilibria(within={"p": bound}, X=0)
    assert len(expected) > 12
    assert np.sort([each["p"] for each in found]) == pytest.approx(expected, abs=1e-7)
    assert [abs(each["p"]) for each in found] == pytest.approx(sorted(abs(expected)), abs=1e-7)
    assert all(each.residual < 1e-10 for each in found)
    assert "the last search found no more" in found.status
    assert len(found) > len(case.equilibria(starts=200, X=0))


def test_a_system_without_load_and_constraints():
    """V = cos x cos y + (x² + y²)/20: stationary points by a fine grid of starts."""
    x, y = dynamicsymbols("x y")
    hills = pfaff.System(
        [x, y],
        kinetic=(x.diff(t) ** 2 + y.diff(t) ** 2) / 2,
        potential=sm.cos(x) * sm.cos(y) + (x**2 + y**2) / 20,
        name="hills",
    )
    found = hills.at().equilibria(within={"x": 8, "y": 8})

    def gradient(u):
        return np.array([
            -np.sin(u[0]) * np.cos(u[1]) + u[0] / 10, -np.cos(u[0]) * np.sin(u[1]) + u[1] / 10
        ])  # fmt: skip

    def hessian(u):
        a, b = np.cos(u[0]) * np.cos(u[1]), np.sin(u[0]) * np.sin(u[1])
        return np.array([[-a + 0.1 + 0 * a, b], [b, -a + 0.1 + 0 * a]])

    u = np.array(np.meshgrid(*[np.linspace(-8, 8, 161)] * 2)).reshape(2, -1)
    for _ in range(60):
        step = np.linalg.solve(np.moveaxis(hessian(u), 2, 0), gradient(u).T[:, :, None])[:, :, 0].T
        u = u - np.clip(step, -0.5, 0.5)
    good = (np.abs(gradient(u)).max(axis=0) < 1e-10) & (np.abs(u).max(axis=0) <= 8)
    expected = np.unique(np.round(u[:, good], 6) + 0.0, axis=1)
    assert len(found) == expected.shape[1]
    ours = np.array(sorted(tuple(np.round(each.q, 6) + 0.0) for each in found))
    assert ours == pytest.approx(np.array(sorted(map(tuple, expected.T))), abs=2e-6)


def test_other_units_have_as_many():
    column = pfaff.atlas.column(5, "skate", "spring")
    case = column.at(K=1, Delta=1.5, beta0=np.pi / 2)
    heavy = column.at(K=1e6, Delta=1.5, beta0=np.pi / 2, k=1e6, k1=1e6)
    first, second = case.equilibria(within={"p": 15}, X=0), heavy.equilibria(within={"p": 15e6}, X=0)
    assert sorted(each["p"] * 1e6 for each in first) == pytest.approx(sorted(each["p"] for each in second), rel=1e-6)


@pytest.mark.parametrize(
    ("within", "words"),
    [({}, "within what"), ({"q": 1}, "no bound for"), ({"p": -1}, "a positive"), (3, "within")],
)
def test_bounds_that_are_none_are_refused(within, words):
    case = pfaff.atlas.column(2, "skate", "spring").at(K=1, Delta=0.1, beta0=0.5)
    with pytest.raises(ParameterError, match=words):
        case.equilibria(within=within)
