"""Points of walked stretches are made when they are asked for, once, and are those of a list."""

from __future__ import annotations

import pickle

import pytest
import sympy as sm

import pfaff
from pfaff.continuation.walked_points import Line, Walked


def test_points_are_made_once_and_only_when_they_are_asked_for():
    made = []

    def make(k):
        made.append(k)
        return "problem", 10 * k

    line = Line([-1])
    walked = Walked(6, make)
    line.extend(walked.part(1, 4), lambda problem, point: point + 1)
    line.append(99)
    assert len(line) == 5
    assert made == []
    assert line[-2] == line[3] == 31
    assert made == [3]
    assert line[1:3] == (11, 21)
    assert list(line) == [-1, 11, 21, 31, 99]
    assert sorted(made) == [1, 2, 3]
    assert 21 in line
    with pytest.raises(IndexError):
        line[5]


def test_a_line_travels_with_its_points():
    line = Line([1])
    line.extend(Walked(2, lambda k: (None, k)), lambda problem, point: point)
    again = pickle.loads(pickle.dumps(line))
    assert list(again) == [1, 0, 1]


@pytest.mark.parametrize("asked", [{}, {"points": 7}, {"progress": lambda point: None}, {"events": {"e": "x - 0.31"}}])
def test_a_branch_has_the_same_points_however_they_are_asked_for(asked):
    x, D = sm.symbols("x D", real=True)
    case = pfaff.ode({x: sm.tanh(2 * x / 3 + D) - x}, {D: 0}, load=D).at()
    whole, other = case.branch(to=1), case.branch(to=1, **asked)
    for a, b in zip(whole, other, strict="points" not in asked):
        assert a.value == pytest.approx(b.value, abs=1e-12)
        assert a.x == pytest.approx(b.x, abs=1e-12)
    assert len(other) == asked.get("points", len(whole))
