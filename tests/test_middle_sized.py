"""Branches of a few dozen states: nothing is missed where many eigenvalues pass the axis close together."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sm

import pfaff
from pfaff.bifurcation.equilibria.branch_loops import compile_ahead, ready

if not ready():
    compile_ahead()

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
