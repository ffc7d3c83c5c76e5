"""A branch is the same set of points, with the same special ones, however far it is asked to go; and why it ends."""

from __future__ import annotations

import pickle

import pytest
import sympy as sm

import pfaff
from pfaff.errors import ParameterError

x, y = sm.symbols("x y")
mu = sm.Symbol("mu", real=True)

# Equations, the first value of μ and of x, bounds, and values of μ that all lie beyond the end of the branch.
SYSTEMS = {
    "fold": ({x: mu - x**2}, 1, 1, (-9, 2), (-1, -2, -8)),
    "two folds": ({x: mu + x - x**3}, -2, -1.5, (-2, 1.5), (0.5, 1, 1.5)),
    "circle": ({x: x**2 + mu**2 - 1}, 0, 1, (-9, 9), (2, 3, 8)),
    "ellipse": ({x: x**2 / 9 + mu**2 - 1}, 0, 3, (-9, 9), (1.5, 4, 9)),
    "pitchfork": ({x: mu * x - x**3}, 1, 1, (-5, 1.5), (-0.5, -1, -4)),
    "cubic": ({x: mu - x**3 + x / 10}, -1, -1, (-1, 1), (0.5, 0.8, 1)),
    "square root": ({x: mu - x**2, y: x - y}, 1, 1, (-9, 2), (-1, -3, -9)),
    "Hopf": ({x: y + mu * x - x**3, y: -x}, -1, 0, (-1, 1), (0.4, 0.7, 1)),
    "damped fold": ({x: y, y: mu - x**2 - y}, 1, 1, (-9, 2), (-1, -2, -5)),
    "spring": ({x: mu - x - x**3}, 0, 0, (-3, 3), (1, 2, 3)),
}


@pytest.mark.parametrize("name", SYSTEMS)
def test_a_branch_does_not_depend_on_how_far_it_is_to_go(name):
    equations, start, first, bounds, ends = SYSTEMS[name]
    case = pfaff.ode(equations, {mu: start}, load=mu).at()
    branches = [case.branch(to=to, start={"x": first}, bounds=bounds) for to in ends]
    reached = min(ends, key=lambda to: abs(to - start))
    longest = branches[-1]
    for branch in branches:
        inside = [each for each in branch.special if (each.value - reached) * (start - reached) >= 0]
        expected = [each for each in longest.special if (each.value - reached) * (start - reached) >= 0]
        assert [each.kind for each in inside] == [each.kind for each in expected]
        assert [each.value for each in inside] == pytest.approx([each.value for each in expected], abs=1e-9)
        # Near folds two equilibria lie between neighbouring points, where values do not tell them apart.
        clear = [p for p in branch.points[1:-1] if all(abs(p.value - each.value) > 0.1 for each in longest.special)]
        for point in clear[::4]:
            states = [other["x"] for other in longest.at(point.value)]
            assert min(abs(point["x"] - state) for state in states) < 1e-8


def test_bounds_say_where_a_branch_ends_on_either_side():
    case = pfaff.ode({x: mu - x**2}, {mu: 1}, load=mu).at()
    mirrored, bounded = case.branch(to=-1, start={"x": 1}), case.branch(to=-1, start={"x": 1}, bounds=(-1, 5))
    assert (mirrored.ended.reason, mirrored.ended.bound) == (pfaff.Reason.OTHER_SIDE, 3)
    assert "give bounds=(low, high)" in mirrored.ended
    assert bounded[-1].value == pytest.approx(5, abs=1e-12)
    assert bounded.ended == "came back to 5"
    opened = case.branch(to=-1, start={"x": 1}, bounds=(-1, None), points=60)
    assert opened.ended.reason is pfaff.Reason.POINTS
    assert opened[-1].value > 3
    with pytest.raises(ParameterError, match="leave out to"):
        case.branch(to=-1, start={"x": 1}, bounds=(0, 5))
    for wrong in (3, (5, 1), (1, 2, 3)):
        with pytest.raises(ParameterError, match="bounds="):
            case.branch(to=-1, start={"x": 1}, bounds=wrong)


def test_an_ending_is_text_with_a_reason():
    ended = pfaff.ode({x: mu - x}, {mu: 0}, load=mu).at().branch(to=1).ended
    again = pickle.loads(pickle.dumps(ended))
    assert (ended, again, again.reason) == ("reached 1", "reached 1", pfaff.Reason.REACHED)
