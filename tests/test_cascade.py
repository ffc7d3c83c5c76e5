"""Cascades of period doublings: Rössler's equations, in other units too."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import sympy as sm

import pfaff
from pfaff.bifurcation.orbits.orbits import Special
from pfaff.errors import NoBifurcationError, ParameterError

x, y, z = sm.symbols("x y z", real=True)
c = sm.symbols("c", real=True)
R = sm.Rational


def cycles(size, minute):
    """Rössler (1976) at a = b = 1/5, lengths and times in other units, from c = 2 on."""
    rates = {x: -y - z, y: x + y / 5, z: R(1, 5) / size + z * (size * x - c)}
    case = pfaff.ode({state: rate / minute for state, rate in rates.items()}, {c: 2}, load=c).at()
    motion = case.simulate(300 * minute, x=1 / size, y=1 / size, samples=6001)
    return case.orbit(motion).orbits(to=5)


@pytest.fixture(scope="module")
def roessler():
    return cycles(1, 1)


def test_doublings_of_roesslers_cycle(roessler):
    """At c = 2.832, 3.837, 4.124, 4.187 and 4.2005, with the universal ratio in the limit."""
    found = roessler.cascade(doublings=6)
    assert found.values[:5] == pytest.approx([2.832, 3.837, 4.124, 4.187, 4.2005], abs=5e-4)
    assert np.abs(np.array([each.multipliers + 1 for each in found.doublings])).min(axis=1).max() < 1e-6
    assert found.ratios[-1] == pytest.approx(4.6692, rel=2e-3)
    assert found.periods[1:] / found.periods[:-1] == pytest.approx([2] * 5, rel=0.01)
    assert found.limit == pytest.approx(found.values[-1], abs=1e-3)
    assert found.limit > found.values[-1]
    assert found.status.startswith("6 period doublings from c = 2.832445, towards 4.204")
    assert len(found.plot().axes) == 2
    assert pickle.loads(pickle.dumps(found)).status == found.status


def test_doublings_in_other_units(roessler):
    ours, theirs = (branch.cascade(doublings=3).values for branch in (roessler, cycles(R(1, 1000), 60)))
    assert theirs == pytest.approx(ours, rel=1e-8)


def test_an_end_is_told(roessler):
    assert "do not double again" in roessler.cascade(to=3.5).ended
    with pytest.raises(ParameterError, match="doublings"):
        roessler.cascade(doublings=0)
    with pytest.raises(NoBifurcationError, match="no period doubling"):
        roessler[0].orbits(to=2.5).cascade()


def test_ctrl_c_keeps_the_doublings_so_far(roessler, monkeypatch):
    """And the branch that was being followed is not said to double no more."""
    switch, seen = Special.switch, []

    def stop(point):
        seen.append(point)
        if len(seen) == 3:
            raise KeyboardInterrupt

    monkeypatch.setattr(Special, "switch", lambda special, **options: switch(special, progress=stop, **options))
    found = roessler.cascade(doublings=3)
    assert found.values == pytest.approx([2.832445], abs=1e-6)
    assert found.ended.startswith("interrupted at c = ")
