"""Systems, cases and results that go to other processes: by pickle, without what was compiled of them."""

from __future__ import annotations

import multiprocessing
import pickle

import pytest
import sympy as sm

import pfaff
from conftest import XI_HAT
from pfaff.statement import coordinates

column = pfaff.atlas.column(2)
case = column.at(**XI_HAT, c_i=1.5)
x, y = coordinates("x y")
mu = sm.Symbol("mu", real=True)
plain = pfaff.ode({x: mu * x - y - x**3, y: x + mu * y}, parameters={mu: -0.1}, load=mu)

RESULTS = {
    "ode": lambda: plain.at(),
    "spectrum": lambda: case.spectrum(F=1),
    "critical": lambda: case.critical(),
    "equilibria": lambda: case.at(F=1).equilibria(),
    "paradox": lambda: column.at(**XI_HAT).paradox({"c_i": 1, "c_e": 0.2}),
    "map": lambda: case.flutter_map(c_i=[0.1, 1.0], c_e=[0.1, 0.2]),
    "motion": lambda: case.at(F=80).simulate(1, theta1_dot=0.01, theta2_dot=0.01, samples=5),
    "trajectory": lambda: plain.at().simulate(1, x=1, samples=5),
    "ensemble": lambda: case.at(F=80).ensemble(1, theta1_dot=[0.01, 0.02], samples=5),
    "hopf": lambda: case.hopf(),
    "branch": lambda: plain.at().branch(to=0.5),
    "steady": lambda: pfaff.atlas.rolling_disc().at().steady(phi_dot=6),
    "assembly": lambda: pfaff.atlas.column_assembly(4),
    "rod": lambda: pfaff.atlas.rod(modes=3).at(F=1).spectrum(),
    "rest": lambda: pfaff.atlas.column_assembly(4).equilibrium(1.0),
    "large": lambda: pfaff.atlas.column_assembly(4).flutter(),
}


@pytest.mark.parametrize("kind", RESULTS)
def test_results_travel(kind):
    result = RESULTS[kind]()
    again = pickle.loads(pickle.dumps(result))
    assert type(again) is type(result)
    assert getattr(again, "status", "") == getattr(result, "status", "")
    assert repr(again)[:500] == repr(result)[:500]


def test_a_branch_of_orbits_goes_on_where_it_arrives():
    branch = plain.at().hopf().orbits(to=0.1)
    again = pickle.loads(pickle.dumps(branch))
    assert again.status == branch.status
    assert again[-1].period == branch[-1].period
    assert again.extend(to=0.15)[-1].period == pytest.approx(branch.extend(to=0.15)[-1].period, rel=1e-12)


def test_what_was_compiled_stays_behind():
    fresh = len(pickle.dumps(pfaff.atlas.column(3).at(k1=50)))
    used = pfaff.atlas.column(3).at(k1=50)
    used.spectrum(F=0.1)
    used.simulate(0.1, theta1_dot=0.01)
    assert len(pickle.dumps(used)) == fresh < 20_000


def flutter(sent: pfaff.Case) -> float:
    return sent.flutter().value


def test_a_case_computes_the_same_in_another_process():
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.apply(flutter, (case,)) == flutter(case)
