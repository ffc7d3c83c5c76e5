"""Results carry what they verified; tests of each family of results corrupt one and see it told."""

from __future__ import annotations

import importlib
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import sympy as sm

import pfaff
from pfaff.checks import Check, doubted, nearest, unmade

NAMES = re.findall(r"autoclass:: (\S+)", (Path(__file__).parent.parent / "docs" / "api.md").read_text())
UNVERIFIED = {  # what tells of other results, of a search, or of what was stated, and draws no conclusion of its own
    "Study", "Growth", "Cascade", "Orbit", "Rest", "Crossings", "Friction", "Locomotion", "Comparison", "Determinant",
    "FlutterMap", "Paradox", "Classification", "Running", "Indices", "Probability",
}  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_whatever_has_a_status_carries_checks(name):
    module, _, own = name.rpartition(".")
    kind = getattr(importlib.import_module(module), own)
    if hasattr(kind, "status"):
        assert hasattr(kind, "checks") != (own in UNVERIFIED)


def test_a_check_that_fails_or_is_no_number_is_told_with_its_remedy():
    good, bad = Check("one", 1e-9, 1e-6), Check("two", float("nan"), 1e-6, "do otherwise")
    assert doubted("found", [good]) == "found"
    assert doubted("found", [good, bad]) == "found; NOT verified: two (nan, allowed 1.0e-06): do otherwise"


def test_what_was_not_checked_says_why_and_is_no_doubt():
    (left_out,) = unmade("there is no time", "two")
    assert str(left_out) == "not checked: two: there is no time"
    assert doubted("found", [left_out]) == "found"
    assert nearest([left_out, Check("two", 1e-9, 1e-6)]).measured == 1e-9
    assert nearest([Check("two", np.nan, 1e-6), Check("two", 1.0, 1e-6)]).measured is np.nan


def test_what_is_too_large_or_not_resolved_is_said_not_to_be_checked():
    x = sm.symbols("x1:51", real=True)
    mu = sm.Symbol("mu", real=True)
    rates = {x[0]: mu * x[0] - x[1] - x[0] ** 3, x[1]: x[0] + mu * x[1], **{each: -each for each in x[2:]}}
    hopf = pfaff.ode(rates, {mu: -1}, load=mu).at().hopf()
    assert [bool(check.unmade) for check in hopf.checks] == [False, True, True]
    assert "more than 40 states" in str(hopf.checks[1])
    assert "not checked" not in hopf.status
    rod = pfaff.atlas.rod().at().spectrum()
    assert rod.checks
    assert all(check.unmade for check in rod.checks)
    disc = pfaff.atlas.rolling_disc().at().steady(phi_dot=2, theta=0.3)
    assert {check.unmade for check in disc.checks} == {"", "small motions turn with it"}


def test_bounds_of_one_name_have_one_value():
    """Whoever reads that forces are BALANCED or constraints KEPT knows how well."""
    known: dict[str, float] = {}
    for path in Path(pfaff.checks.__path__[0]).glob("*.py"):
        module = importlib.import_module(f"pfaff.checks.{path.stem}")
        for name, value in vars(module).items():
            if name.isupper() and isinstance(value, float | int):
                assert known.setdefault(name, value) == value, name


def test_states_of_rest_of_a_plain_ode_are_put_into_it():
    x, y, mu = sm.symbols("x y mu", real=True)
    found = pfaff.ode({x: mu - x**2, y: x - y}, {mu: 4}).at().equilibrium(start={"x": 1, "y": 1})
    assert [check.passed for check in found.checks] == [True]
    wrong = replace(found, x=np.add(found.x, [1e-3, 0]))
    assert "NOT verified: every rate vanishes" in wrong.status


def test_critical_loads_and_normal_modes_carry_the_checks_of_their_parts():
    case = pfaff.atlas.column(2).at(d="1/2", M_L=15, I_L=15, k1=50, c_i=1.5)
    assert {check.passed for check in case.critical().checks} == {True}
    x, y = pfaff.statement.coordinates("x y")
    t = pfaff.statement.TIME
    pair = pfaff.System([x, y], (x.diff(t) ** 2 + y.diff(t) ** 2) / 2, x**2 + y**2 * 3 / 2 + x**4 / 4 - x * y)
    mode = pair.at().normal_mode(1, energy=0.5)
    assert len(mode.checks) > 2
    assert all(check.passed for check in mode.checks)
