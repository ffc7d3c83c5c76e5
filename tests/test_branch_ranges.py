"""A branch is the same set of points, with the same special ones, however far it is asked to go; and why it ends."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import sympy as sm

import pfaff
from conftest import XI_HAT
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
    "double zero": ({x: y, y: mu - x**2 - x * y}, 1, 1, (-9, 2), (-1, -2, -5)),
    "flat folds": ({x: x**4 + mu**2 - 1}, 0, 1, (-9, 9), (2, 3, 8)),
    "spring": ({x: mu - x - x**3}, 0, 0, (-3, 3), (1, 2, 3)),
}


@pytest.mark.parametrize("name", SYSTEMS)
def test_a_branch_does_not_depend_on_how_far_it_is_to_go(name):
    equations, start, first, bounds, ends = SYSTEMS[name]
    case = pfaff.ode(equations, {mu: start}, load=mu).at()
    branches = [case.branch(to=to, start={"x": first}, bounds=bounds) for to in ends]
    reached = min(ends, key=lambda to: abs(to - start))
    longest, allowed = branches[-1], conditioned(equations)
    for branch in branches:
        inside = [each for each in branch.special if (each.value - reached) * (start - reached) >= 0]
        expected = [each for each in longest.special if (each.value - reached) * (start - reached) >= 0]
        assert [each.kind for each in inside] == [each.kind for each in expected]
        assert [each.value for each in inside] == pytest.approx([each.value for each in expected], abs=1e-9)
        for point in branch.points[1:-1:4]:
            states = [other["x"] for other in longest.at(point.value)]
            assert min(abs(point["x"] - state) for state in states) < allowed(point)


def conditioned(equations):
    """1e-8, but near folds: a rounding moves the state by its square root there, by its fourth where they are flat."""
    jacobian = sm.lambdify([*equations, mu], sm.Matrix(list(equations.values())).jacobian(list(equations)))

    def allowed(point):
        J = jacobian(*(point[each.name] for each in equations), point.value)
        return min(max(1e-8, 1e-12 / np.linalg.svd(J)[1].min()), 1e-3)

    return allowed


@pytest.mark.filterwarnings("error")
def test_a_fold_with_a_double_zero_is_bogdanov_takens():
    """x = 0 is a fold of μ = x², with λ² + xλ + 2x = 0: both eigenvalues vanish, and no l1 can be had."""
    case = pfaff.ode({x: y, y: mu - x**2 - x * y}, {mu: 1}, load=mu).at()
    (special,) = case.branch(to=-1, start={"x": 1}).special
    assert (special.kind, special.omega) == ("bogdanov-takens", 0)
    assert special.value == pytest.approx(0, abs=1e-12)
    # Damping that does not vanish there leaves a fold, and two modes that do at once are no Bogdanov–Takens point.
    assert [each.kind for each in pfaff.ode({x: y, y: mu - x**2 - y}, {mu: 1}, load=mu).at()
            .branch(to=-1, start={"x": 1}).special] == ["fold"]  # fmt: skip
    both = pfaff.ode({x: mu * x - x**3, y: mu * y - y**3}, {mu: -1}, load=mu).at().branch(to=1)
    assert [each.kind for each in both.special] == ["multiple branch point"]


def test_folds_without_curvature_are_found_in_few_steps():
    branch = pfaff.ode({x: x**4 + mu**2 - 1}, {mu: 0}, load=mu).at().branch(to=2, start={"x": 1}, bounds=(-9, 9))
    assert [each.kind for each in branch.special] == ["fold", "fold"]
    assert [each.value for each in branch.special] == pytest.approx([1, -1], abs=1e-12)
    assert [each.coefficient for each in branch.special] == pytest.approx([0, 0], abs=1e-5)
    assert len(branch) < 200  # rounding in the chord of a flat parameter once cost 350 steps


@pytest.mark.parametrize("value", [0.1, 1e-3, 1e-6, 1e-10])
def test_both_equilibria_are_found_however_near_the_fold(value):
    branch = pfaff.ode({x: mu - x**2}, {mu: 1}, load=mu).at().branch(to=-1, start={"x": 1})
    up, down = branch.at(value)
    assert (up["x"], down["x"]) == pytest.approx((value**0.5, -(value**0.5)), rel=1e-9)
    assert len(branch.at(branch.special[0].value)) == 1
    with pytest.raises(ParameterError, match="it runs from -?[0-9.e-]+ to 3"):
        branch.at(-value)
    circle = pfaff.ode({x: x**2 + mu**2 - 1}, {mu: 0}, load=mu).at().branch(to=2, start={"x": 1})
    assert [point["x"] for point in circle.at(0)] == pytest.approx([-1, 1], abs=1e-12)


def test_bounds_say_where_a_branch_ends_on_either_side():
    case = pfaff.ode({x: mu - x**2}, {mu: 1}, load=mu).at()
    mirrored, bounded = case.branch(to=-1, start={"x": 1}), case.branch(to=-1, start={"x": 1}, bounds=(-1, 5))
    assert (mirrored.ended.reason, mirrored.ended.bound) == (pfaff.Reason.OTHER_SIDE, 3)
    assert "give bounds=(low, high)" in mirrored.ended
    assert bounded[-1].value == pytest.approx(5, abs=1e-12)
    assert bounded.ended == "came to 5"
    opened = case.branch(to=-1, start={"x": 1}, bounds=(-1, None), points=60)
    assert opened.ended.reason is pfaff.Reason.POINTS
    assert opened[-1].value > 3
    with pytest.raises(ParameterError, match="outside of bounds"):
        case.branch(to=-1, start={"x": 1}, bounds=(0, 5))
    for wrong in (3, (5, 1), (1, 2, 3)):
        with pytest.raises(ParameterError, match="bounds="):
            case.branch(to=-1, start={"x": 1}, bounds=wrong)


def test_an_ending_is_text_with_a_reason():
    ended = pfaff.ode({x: mu - x}, {mu: 0}, load=mu).at().branch(to=1).ended
    again = pickle.loads(pickle.dumps(ended))
    assert (ended, again, again.reason) == ("reached 1", "reached 1", pfaff.Reason.REACHED)


@pytest.mark.parametrize("step", [0.1, 0.5, 1.0])
@pytest.mark.parametrize("short", [1e-3, 1e-5, 1e-9])
def test_a_fold_just_beyond_the_end_is_not_passed(short, step):
    """ẋ = μ − 1 + x² folds at μ = 1: a step over it comes back, and the end is still before the fold."""
    case = pfaff.ode({x: mu - 1 + x**2}, {mu: 0}, load=mu).at()
    branch = case.branch(to=1 - short, x=-1, step=step)
    assert branch.ended == f"reached {1 - short:.10g}"
    assert not branch.special
    assert branch[-1].value == pytest.approx(1 - short, abs=1e-14)
    assert branch[-1]["x"] == pytest.approx(-np.sqrt(short), rel=1e-6)


@pytest.mark.parametrize("step", [0.1, 0.5])
def test_a_declared_end_before_a_fold_is_reached(step):
    """ẋ = c + 1e-5 − x², whose fold lies where c, declared nonnegative, may not go."""
    c = sm.Symbol("c", nonnegative=True)
    branch = pfaff.ode({x: c + 1e-5 - x**2}, {c: 1}, load=c).at().branch(to=0, x=1, step=step)
    assert branch.ended == "reached 0: c is declared nonnegative"
    assert branch[-1]["x"] == pytest.approx(np.sqrt(1e-5), rel=1e-9)


def test_a_fold_of_cycles_just_beyond_the_end_is_not_passed(skate):
    branch = skate.at(**XI_HAT, c_i=1.5).hopf().orbits(to=88.3728784 - 1e-4)
    assert branch.ended == "reached 88.3727784"
    assert not branch.special
    assert branch[-1].stable


def a_fold(unit: float) -> pfaff.Ode:
    """ẋ = μ − x/u + (x/u)³/3: a fold at μ = 2/3, x = u."""
    return pfaff.Ode({x: mu - x / unit + (x / unit) ** 3 / 3}, parameters={mu: 0.0})


@pytest.mark.parametrize("unit", [1e-12, 1e6, 1e12])
def test_a_branch_has_as_many_points_in_any_units(unit):
    branch, usual = (a_fold(each).at().branch("mu", to=1.0) for each in (unit, 1.0))
    assert len(branch) == len(usual)
    assert branch.special[0].value == pytest.approx(2 / 3, rel=1e-12)


def test_a_branch_ends_on_its_bound_to_the_last_digit():
    ode = pfaff.Ode({x: mu - x - x**3 / 5}, parameters={mu: 1.0})
    assert ode.at().branch("mu", to=0.0)[-1].value == 0.0


def test_a_step_of_nothing_is_refused():
    with pytest.raises(ParameterError, match="step=1e-300.*between 1e-09 and 1"):
        pfaff.ode({x: mu - x**3}, {mu: 0}, load=mu).at().branch(to=1, x=0, step=1e-300)
