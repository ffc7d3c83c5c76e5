"""Newton's method, bracketed roots, cubics and parabolas, one of each: against numbers of 50 digits, and at limits."""

from itertools import pairwise

import mpmath
import numpy as np
import pytest

from pfaff.algebra.brackets import bracketed_root
from pfaff.algebra.cubics import Cubic, parabola, shares, slope_shares, vertex
from pfaff.algebra.newtons_method import Outcome, Stopping, newton, newton_columns

MP = mpmath.MPContext()
MP.dps = 50


def of(f, slope):
    """Newton's step for a function of one unknown; None where its slope vanishes or it is no number."""

    def step(x):
        value, rise = f(x), slope(x)
        if not (np.isfinite(value) and np.isfinite(rise) and rise):
            return None
        return x - value / rise, abs(value / rise) / max(abs(x), 1e-300)

    return step


# Newton's method


@pytest.mark.parametrize("start", [0.1, 1.0, 30.0])
def test_newtons_method_goes_on_to_the_last_digit(start):
    found = newton(of(lambda x: x * x * x - 2, lambda x: 3 * x * x), start)
    assert found.outcome is Outcome.CEASED
    assert found.settled
    assert abs(MP.mpf(found.at) - MP.cbrt(2)) < 2.3e-16


def test_a_double_root_is_reached_to_half_the_digits_and_each_step_halves_the_error():
    """x² and 2x round so that no step fails to halve: the method ends by the number of its steps."""
    changes = []
    step = of(lambda x: (x - 1) ** 2, lambda x: 2 * (x - 1))

    def told(x):
        taken = step(x)
        changes.extend([] if taken is None else [taken[1]])
        return taken

    found = newton(told, 1.5, Stopping(20))
    assert found.outcome is Outcome.UNFINISHED
    assert found.steps == 20
    assert found.at - 1 == pytest.approx(0.5**21, rel=1e-6)
    ratios = [after / before for before, after in pairwise(changes)]
    assert ratios[2:] == pytest.approx([0.5] * 17, rel=0.1)


def test_where_there_is_no_step_the_last_place_is_kept():
    flat = newton(of(lambda x: x * x + 1, lambda x: 2 * x), 0.0)
    assert (flat.at, flat.change, flat.outcome, flat.steps) == (0.0, np.inf, Outcome.STEPLESS, 0)
    assert not flat.settled
    assert not flat.ceased


@pytest.mark.parametrize("broken", [np.nan, np.inf])
def test_changes_that_are_no_numbers_are_not_taken(broken):
    def step(x):
        return (x / 2, 0.5) if x > 0.2 else (broken, broken)

    found = newton(step, 1.0)
    assert found.outcome is Outcome.ASTRAY
    assert found.at == 0.125
    assert found.steps == 3
    assert not found.settled


def test_steps_that_grow_are_given_up_unless_they_are_rounding():
    """Newton's method on atan runs away beyond 1.3917452002707349, where its step leads to the mirror image."""
    atan = of(np.arctan, lambda x: 1 / (1 + x * x))

    def step(x):
        ahead, _ = atan(x)
        return ahead, abs(ahead - x)

    inside, outside = (newton(step, start, Stopping(grows=1.0, floor=1e-12)) for start in (1.39, 1.40))
    assert inside.ceased
    assert abs(inside.at) < 1e-15
    assert outside.outcome is Outcome.ASTRAY
    assert outside.steps == 1
    noise = iter([1e-3, 1e-13, 5e-13, 1e-13])
    found = newton(lambda x: (x, next(noise)), 0.0, Stopping(settled=0.0, grows=1.0, floor=1e-12, most=4))
    assert found.outcome is Outcome.UNFINISHED


def test_the_first_change_has_a_limit_of_its_own():
    changes = [0.9, 1.5, 0.1, 0.0]
    for policy, steps in ((Stopping(first=0.5), 0), (Stopping(first=1.0, astray=1.2), 1), (Stopping(first=1.0), 4)):
        left = iter(changes)
        assert newton(lambda x: (x + 1, next(left)), 0, policy).steps == steps  # noqa: B023


@pytest.mark.parametrize(
    ("policy", "steps"),
    [
        (Stopping(), 5),  # until a change no longer halves the one before
        (Stopping(exact=1e-6), 3),
        (Stopping(settled=0.0), 7),  # until it vanishes
        (Stopping(quadratic=1e-3), 4),  # the next would be squared once more
        (Stopping(shrinks=1.0, settled=np.inf), 6),
        (Stopping(most=2), 2),
    ],
)
def test_what_ends_it_is_a_policy(policy, steps):
    changes = iter([1e-1, 1e-3, 1e-7, 1e-14, 9e-15, 9e-15, 0.0])
    assert newton(lambda x: (x, next(changes)), 0, policy).steps == steps


def test_columns_end_one_by_one_and_those_without_a_step_stay():
    values, seen = np.array([[2.0, 9.0, np.nan, 1e6, 0.0]]), []

    def step(x, going):
        seen.append(going.tolist())
        with np.errstate(divide="ignore", invalid="ignore"):
            ahead = (x + values[:, going] / x) / 2
        return ahead, np.abs(ahead - x)[0] / np.abs(x)[0]

    found, done = newton_columns(
        step, np.ones((1, 5)), Stopping(exact=1e-12, settled=0.0, astray=0.7, first=1e5, most=9)
    )
    assert done.tolist() == [True, True, False, False, False]
    assert found[0, :2] == pytest.approx([2**0.5, 3.0], rel=1e-15)
    assert found[0, 2] == 1.0
    assert found[0, 3] == 1.0
    assert found[0, 4] == pytest.approx(0.5**9)  # a double root: most steps
    assert seen[0] == [0, 1, 2, 3, 4]
    assert seen[1] == [0, 1, 4]
    assert seen[-1] == [4]


# Roots between two signs


@pytest.mark.parametrize(
    ("function", "a", "b", "root"),
    [
        (lambda x: x.__class__(2) - x * x, 0, 2, MP.sqrt(2)),
        (lambda x: x**3 - 2 * x - 5, 2, 3, MP.findroot(lambda x: x**3 - 2 * x - 5, 2.09)),
        (lambda x: MP.cos(x) - x, 0, 1, MP.findroot(lambda x: MP.cos(x) - x, 0.74)),
        (lambda x: MP.exp(30 * x) - 7, -1, 1, MP.log(7) / 30),
        (lambda x: (x - MP.pi / 4) ** 3, 0, 1, MP.pi / 4),
        (lambda x: MP.atan(1e6 * (x - MP.e / 5)), 0, 1, MP.e / 5),
    ],
)
@pytest.mark.parametrize("backwards", [False, True])
def test_roots_agree_with_fifty_digits(function, a, b, root, backwards):
    ends, places = ((b, a) if backwards else (a, b)), []

    def value(x):
        places.append(x)
        return float(function(MP.mpf(x)))

    found = bracketed_root(value, *map(float, ends), 0.0)
    assert abs(MP.mpf(found) - root) <= 1.8e-15 * max(abs(a), abs(b))
    assert found == places[-1]  # evaluated last at the root
    assert min(ends) <= min(places)
    assert max(places) <= max(ends)
    assert len(places) <= 60


def test_a_zero_at_an_end_is_the_root_and_evaluated_last():
    for a, b in ((0.0, 1.0), (-1.0, 0.0), (1.0, 0.0)):
        places = []
        assert bracketed_root(lambda x: places.append(x) or x, a, b, 1e-12) == 0.0  # noqa: B023
        assert places[-1] == 0.0


def test_a_jump_is_enclosed_within_the_tolerance():
    found = bracketed_root(lambda x: 1.0 if x > 0.3 else -1.0, 0.0, 1.0, 1e-9)
    assert abs(found - 0.3) < 1e-9


@pytest.mark.parametrize("function", [lambda x: x * x + 1, lambda x: -1.0, lambda x: 1e-200 + 0 * x])
def test_without_a_change_of_sign_there_is_no_root(function):
    with pytest.raises(ArithmeticError, match="no change of sign"):
        bracketed_root(function, -1.0, 1.0, 1e-9)


@pytest.mark.parametrize("at", [-1.0, 1.0, 0.0])
def test_no_number_in_the_bracket_is_an_error_and_trials_that_fail_are_the_callers(at):
    """0 is the first trial for x."""
    with pytest.raises(ArithmeticError, match="not a number"):
        bracketed_root(lambda x: np.nan if x == at else x + 1e-3 * x**3, -1.0, 1.0, 1e-9)
    with pytest.raises(KeyError):
        bracketed_root(lambda x: {}[x] if x == at else x, -1.0, 1.0, 1e-9)


# Cubics and parabolas

VALUES = [(0.3, -1.2, 2.7, 0.4), (1e8, 3.0, 1e8 + 1, -2.0), (0.0, 1.0, 0.0, 1.0), (-1e-9, 1e-12, 1e-9, 5e-9)]


def wide(numbers):
    return [MP.mpf(each) for each in numbers]


@pytest.mark.parametrize("values", VALUES)
def test_a_cubic_its_slope_and_its_stationary_points_agree_with_fifty_digits(values):
    a, da, b, db = wide(values)
    cubic, square, bend = Cubic(*values), 3 * (b - a) - 2 * da - db, 2 * (a - b) + da + db
    size = max(map(abs, values))
    for s in (0.0, 0.125, 0.37, 0.9, 1.0):
        t = MP.mpf(s)
        assert abs(a + da * t + square * t**2 + bend * t**3 - cubic.at(s)) <= 1e-15 * size
        assert abs(da + 2 * square * t + 3 * bend * t**2 - cubic.slope(s)) <= 3e-15 * (abs(b - a) + abs(da) + abs(db))
    inside = square**2 - 3 * bend * da
    if inside > 0:
        exact = sorted((-square + sign * MP.sqrt(inside)) / (3 * bend) for sign in (1, -1))
        assert [float(each) for each in exact] == pytest.approx(sorted(cubic.stationary()), rel=1e-14)


def test_shares_are_those_of_the_cubic_and_its_derivative():
    s = np.linspace(0, 1, 7)
    for known, of_it in ((shares, Cubic.at), (slope_shares, Cubic.slope)):
        columns = [of_it(Cubic(*each), s) for each in ((0, 0, 1, 0), (0, 1, 0, 0), (0, 0, 0, 1))]
        assert np.array_equal(np.array(known(s)), np.array(columns))


def test_degenerate_cubics():
    line, flat = Cubic(1.0, 2.0, 3.0, 2.0), Cubic(5.0, 0.0, 5.0, 0.0)
    assert not np.isfinite(line.stationary()).any()
    assert line.extremes() == (3.0, 3.0) or set(line.extremes()) <= {1.0, 3.0}  # its ends
    assert flat.extremes() == (5.0, 5.0)
    parabola = Cubic(0.0, -1.0, 0.0, 1.0)  # s² − s
    assert [s for s in parabola.stationary() if np.isfinite(s)] == [0.5]
    inflected = Cubic(-0.125, 0.75, 0.125, 0.75)  # (s − 1/2)³: a double zero of the slope
    assert inflected.stationary() == pytest.approx((0.5, 0.5), abs=1e-7)
    assert np.isnan(Cubic(0.0, np.nan, 1.0, 1.0).at(0.5))


def test_cubics_side_by_side_are_those_one_by_one():
    rows = np.array(VALUES)
    together = Cubic(*rows.T).extremes()
    for k, row in enumerate(rows.tolist()):
        assert [each[k] for each in together] == [float(each) for each in Cubic(*row).extremes()]


def test_parabolas_agree_with_fifty_digits():
    nodes = [(-0.7, 2.1), (0.1, 0.4), (1.3, 3.9)]
    t, f = ([MP.mpf(each[k]) for each in nodes] for k in (0, 1))
    coefficients = MP.lu_solve(MP.matrix([[1, x, x * x] for x in t]), MP.matrix(f))
    lowest = -coefficients[1] / (2 * coefficients[2])
    at, value = vertex(nodes)
    assert abs(at - lowest) < 1e-15
    assert abs(value - (coefficients[0] + coefficients[1] * lowest + coefficients[2] * lowest**2)) < 1e-15
    assert parabola(*nodes) == (at, value, pytest.approx(float(coefficients[2]), rel=1e-15))
    places, values, _ = parabola(*((np.array([x, 2 * x]), np.array([y, -y])) for x, y in nodes))
    assert places.tolist() == [at, 2 * at]
    assert values.tolist() == [value, -value]


@pytest.mark.parametrize(
    "values", [(1.0, 2.0, 3.0), (1.0, 2.0, 1.0), (-1.0, -2.0, -1.0), (0.0, 0.0, 0.0), (1.0, np.nan, 1.0)]
)
def test_a_parabola_that_does_not_come_nearer_to_zero_has_no_vertex_of_interest(values):
    assert vertex(list(zip((0.0, 1.0, 2.0), values, strict=True))) is None
