"""Branches of a few dozen states: nothing is missed where many eigenvalues pass the axis close together."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sm

import pfaff

CELLS, A = 24, 2.0


def brusselators(first, second):
    """A chain of cells with A → X, B + X → Y + D, 2X + Y → 3X, X → E, and dispersion between neighbours."""
    x, y = (sm.symbols(f"{name}1:{CELLS + 1}", real=True) for name in "xy")
    B = sm.Symbol("B", real=True)

    def mixed(w, k):
        return sum(w[j] - w[k] for j in (k - 1, k + 1) if 0 <= j < CELLS)

    rates = {x[k]: A - (B + 1) * x[k] + x[k] ** 2 * y[k] + first * mixed(x, k) for k in range(CELLS)}
    rates |= {y[k]: B * x[k] - x[k] ** 2 * y[k] + second * mixed(y, k) for k in range(CELLS)}
    return pfaff.ode(rates, {B: 1}, load=B).at()


def growth(B, first, second):
    """Eigenvalues about x = A, y = B/A: two for each wave along the chain."""
    found = []
    for k in range(CELLS):
        wave = 2 - 2 * np.cos(np.pi * k / CELLS)
        J = np.array([[B - 1 - first * wave, A**2], [-B, -(A**2) - second * wave]])
        found += list(np.linalg.eigvals(J))
    return np.array(found)


def crossings(first, second, last):
    """Where traces and determinants of the waves vanish, in closed form: Hopf points and branch points, in order."""
    found = []
    for k in range(CELLS):
        wave = 2 - 2 * np.cos(np.pi * k / CELLS)
        hopf = 1 + A**2 + (first + second) * wave
        zero = (1 + first * wave) * (A**2 + second * wave) / (second * wave) if wave else np.inf
        if hopf < zero:  # beyond, trace and determinant do not vanish at eigenvalues that oscillate
            found.append((hopf, "hopf"))
        found.append((zero, "branch point"))
    return sorted(each for each in found if each[0] < last)


@pytest.mark.parametrize(("first", "second", "last"), [(0.02, 0.03, 5.08), (0.3, 2.5, 5.6)])
def test_every_point_of_many_is_found_where_it_is_in_closed_form(first, second, last):
    branch = brusselators(first, second).branch(to=last)
    expected = crossings(first, second, last)
    assert len(expected) >= 5
    assert [each.kind for each in branch.special] == [kind for _, kind in expected]
    assert [each.value for each in branch.special] == pytest.approx([value for value, _ in expected], rel=1e-8)
    for point in branch:
        every = growth(point.value, first, second)
        assert point.unstable == (every.real > 1e-9).sum()


@pytest.mark.parametrize(("cells", "drift", "told"), [(20, "1/5", False), (40, "7/10", True)])
def test_hopf_points_of_nearly_parallel_modes_say_how_uncertain_they_are(cells, drift, told):
    """Two fields that oscillate against each other in a row of cells with diffusion and drift a: pairs with the growth
    rates λ − 3 + 2 √(1 − a²) cos(kπ/(m + 1)). The modes lean to one side like (1 + a)/(1 − a) to the power of m/2, by
    which rounding counts."""
    a, load = sm.Rational(drift), sm.Symbol("load")
    x, y = sm.symbols(f"x:{cells}"), sm.symbols(f"y:{cells}")
    rates = {}
    for u, v, sign in ((x, y, -1), (y, x, 1)):
        for k in range(cells):
            beside = (1 + a) * (u[k - 1] if k else 0) + (1 - a) * (u[k + 1] if k + 1 < cells else 0)
            rates[u[k]] = (load - 3) * u[k] + beside + sign * v[k] / 2 - u[k] ** 3
    exact = 3 - 2 * np.sqrt(1 - float(a) ** 2) * np.cos(np.pi * np.arange(1, 4) / (cells + 1))
    first = pfaff.ode(rates, {load: 0}, load=load).at().branch(to=float(exact[:2].mean())).of_kind("hopf")[0]
    assert ("rounding leaves load uncertain by" in first.status) == told
    uncertain = float(first.status.split("uncertain by ")[1].split(",")[0]) if told else 1e-9
    assert first.value == pytest.approx(exact[0], abs=uncertain)
