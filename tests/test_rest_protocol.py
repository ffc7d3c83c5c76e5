"""Whatever rests under a load is followed by one protocol: systems, plain ODEs, steady motions and assemblies."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import sympy as sm

import pfaff
from pfaff.atlas.chain import column_assembly
from pfaff.rest.assemblies import AssemblyPath
from pfaff.rest.protocol import UnderLoad

x = sm.Symbol("x", real=True)
mu = sm.Symbol("mu", real=True)
Solution = Callable[[float], np.ndarray]


def bent_column() -> tuple[Any, Solution, float]:
    path = pfaff.atlas.column(2, "bow").at(beta0=0.1, F=0.0).path("F", {})
    return path, path.solution, 0.3


def ode() -> tuple[Any, Solution, float]:
    path = pfaff.ode({x: mu - x - x**3}, {mu: 0}, load=mu).at().path("mu", {})
    return path, path.solution, 1.5


def disc_in_a_circle() -> tuple[Any, Solution, float]:
    path = pfaff.atlas.rolling_disc().at().path("g", {"phi_dot": 2, "theta": 0.3})
    return path, path.solution, 1.7


def chain() -> tuple[Any, Solution, float]:
    path = AssemblyPath(column_assembly(3, beta0=0.1), None, ())
    return path, path.rest, 0.2


@pytest.mark.parametrize(
    ("resting", "error"),
    [(bent_column, 1e-7), (ode, 1e-7), (disc_in_a_circle, 1e-7), (chain, 1e-5)],  # the last one by secants
)
def test_what_rests_stays_where_it_is_corrected_and_moves_along_its_tangent(resting, error):
    path, solution, load = resting()
    assert isinstance(path, UnderLoad)
    z, h = solution(load), 1e-4 * load
    assert path.corrected(z, load) == pytest.approx(z, abs=1e-12)
    along = (solution(load + h) - solution(load - h)) / (2 * h)
    assert np.abs(along).max() > 0.01  # it does move
    assert path.tangent(z, load, h) == pytest.approx(along, abs=error)
    assert path.end is None
    assert path.linearise(load) is not None
