"""Taylor's method on tapes: the series of every operation against many digits, motions against independent ones."""

from __future__ import annotations

import copy
import pickle
from concurrent.futures import ThreadPoolExecutor

import mpmath
import numpy as np
import pytest

import pfaff
from pfaff.flow.batch_integrator import LANES, Lanes
from pfaff.flow.graph import BUILDERS as OF
from pfaff.flow.graph import CLOCK, Expression, atan2, expression, par
from pfaff.flow.integrator import End, Integrator, aligned, program
from pfaff.flow.jets import jets_of
from pfaff.flow.recurrences import lowered
from pfaff.flow.sign_changes import Function, crossings
from pfaff.flow.tape import tape_of
from pfaff.kernels.taylor_lanes import LaneSweeper
from pfaff.kernels.taylor_steps import Sweeper

ORDER = 14
X, Y, V = expression("x"), expression("y"), expression("v")
A, B = par[0], par[1]
PARS = (0.7, -1.3)
PLACE, WAY = (0.4, 0.9), (0.8, -0.5)

# Of x and y as series in s, with the parameters a and b: the expression, and the same function of mpmath's numbers.
OPERATIONS = {
    "sums": (X + Y - A * X - (B - Y), lambda x, y, a, b: x + y - a * x - (b - y)),
    "one sum in another": ((X - Y * X) - (Y - X * X) * A, lambda x, y, a, b: (x - y * x) - (y - x * x) * a),
    "products": (X * Y * (X + B), lambda x, y, a, b: x * y * (x + b)),
    "squares": (X**2 + (X + Y) ** 4, lambda x, y, a, b: x**2 + (x + y) ** 4),
    "quotients": ((X + A) / (Y * X + 2), lambda x, y, a, b: (x + a) / (y * x + 2)),
    "one over": (1 / (X - 3), lambda x, y, a, b: 1 / (x - 3)),
    "over what stays": ((X * Y + Y) / (A + 3), lambda x, y, a, b: (x * y + y) / (a + 3)),
    "sine and cosine": (OF["sin"](X * Y) * OF["cos"](X * Y), lambda x, y, a, b: mpmath.sin(x * y) * mpmath.cos(x * y)),
    "sine": (OF["sin"](X + Y), lambda x, y, a, b: mpmath.sin(x + y)),
    "cosine": (OF["cos"](X + Y), lambda x, y, a, b: mpmath.cos(x + y)),
    "tan": (OF["tan"](X * B), lambda x, y, a, b: mpmath.tan(x * b)),
    "asin": (OF["asin"](X), lambda x, y, a, b: mpmath.asin(x)),
    "acos": (OF["acos"](X), lambda x, y, a, b: mpmath.acos(x)),
    "atan": (OF["atan"](X - Y), lambda x, y, a, b: mpmath.atan(x - y)),
    "sinh": (OF["sinh"](X), lambda x, y, a, b: mpmath.sinh(x)),
    "cosh": (OF["cosh"](X - Y), lambda x, y, a, b: mpmath.cosh(x - y)),
    "tanh": (OF["tanh"](X * Y), lambda x, y, a, b: mpmath.tanh(x * y)),
    "asinh": (OF["asinh"](X), lambda x, y, a, b: mpmath.asinh(x)),
    "acosh": (OF["acosh"](2 + X), lambda x, y, a, b: mpmath.acosh(2 + x)),
    "atanh": (OF["atanh"](X * A), lambda x, y, a, b: mpmath.atanh(x * a)),
    "exp": (OF["exp"](-X * X), lambda x, y, a, b: mpmath.exp(-x * x)),
    "log": (OF["log"](X + Y), lambda x, y, a, b: mpmath.log(x + y)),
    "sqrt": (OF["sqrt"](X * X + Y), lambda x, y, a, b: mpmath.sqrt(x * x + y)),
    "erf": (OF["erf"](X - Y), lambda x, y, a, b: mpmath.erf(x - y)),
    "erfc": (OF["erfc"](X), lambda x, y, a, b: mpmath.erfc(x)),
    "power": (X**1.7, lambda x, y, a, b: x ** mpmath.mpf(1.7)),
    "power of a parameter": (X**A, lambda x, y, a, b: x**a),
    "moving power": (X**Y, lambda x, y, a, b: x**y),
    "power of what stays": (A**Y, lambda x, y, a, b: a**y),
    "half powers": (X**2.5 + Y**-1.5, lambda x, y, a, b: x ** mpmath.mpf(2.5) + y ** mpmath.mpf(-1.5)),
    "atan2": (atan2(X, Y), lambda x, y, a, b: mpmath.atan2(x, y)),
    "all together": (
        OF["exp"](OF["sin"](X) / (1 + Y * Y)) - OF["sqrt"](X) * OF["log"](Y + 2),
        lambda x, y, a, b: mpmath.exp(mpmath.sin(x) / (1 + y * y)) - mpmath.sqrt(x) * mpmath.log(y + 2),
    ),
}


def series(f):
    """The Taylor coefficients of s ↦ f(x + s v) to 50 digits."""
    with mpmath.workdps(60):
        x, y = ([mpmath.mpf(p), mpmath.mpf(w)] for p, w in zip(PLACE, WAY, strict=True))
        a, b = map(mpmath.mpf, PARS)
        found = mpmath.taylor(lambda s: f(x[0] + s * x[1], y[0] + s * y[1], a, b), 0, ORDER)
        return np.array([float(mpmath.re(each)) for each in found])


def along(e: Expression, order: int = ORDER) -> np.ndarray:
    recurrences, found = lowered(tape_of([e], [X, Y])), np.empty((1, order + 1))
    pars, nothing = np.array(PARS)[: recurrences.p], np.zeros(1)
    sweeper = Sweeper(recurrences, order, np.array(PLACE), pars, nothing, nothing, aligned)
    sweeper.along(np.array(WAY), order, found)
    return found[0]


@pytest.mark.parametrize("name", OPERATIONS)
def test_series_of_operations_have_all_digits(name):
    e, f = OPERATIONS[name]
    exact = series(f)
    scale = np.maximum(np.abs(exact), np.abs(exact).max() * 2.0 ** -np.arange(ORDER + 1))
    assert (np.abs(along(e) - exact) / scale).max() < 2e-13


def test_whole_powers_have_series_where_they_vanish():
    """By products; those of ``pow`` divide by what vanishes."""
    found = along((X - PLACE[0]) ** 20 + (X - PLACE[0]) ** 3, 20)
    assert found == pytest.approx(np.eye(21)[3] * WAY[0] ** 3 + np.eye(21)[20] * WAY[0] ** 20, rel=1e-14, abs=0)


@pytest.mark.parametrize("name", OPERATIONS)
def test_lanes_give_the_same_series(name):
    """Each lane with a place of its own; eight times the same place gives eight times the same digits."""
    e, _f = OPERATIONS[name]
    recurrences = lowered(tape_of([e], [X, Y]))
    x, pars = (np.repeat(np.array(each)[:, None], LANES, axis=1) for each in (PLACE, PARS[: recurrences.p]))
    x[:, 3] = (0.3, 0.7)
    room = aligned((ORDER + 1) * LANES)
    sweeper = LaneSweeper(recurrences, ORDER, x, np.ascontiguousarray(pars), room, aligned)
    sweeper.take_parameters()
    sweeper.along(np.repeat(np.array(WAY)[:, None], LANES, axis=1), ORDER)
    found, alone = room.reshape(ORDER + 1, LANES), along(e)
    others = np.delete(found, 3, axis=1)
    assert (others == others[:, :1]).all()
    assert not np.array_equal(found[:, 3], found[:, 0])
    assert np.abs(found[:, 0] - alone).max() <= 1e-13 * np.abs(alone).max()


def pendulum(tolerance=1e-15, events=()):
    return Integrator(program([(X, V), (V, -OF["sin"](X))], tolerance, events))


def exact_pendulum(time: float) -> np.ndarray:
    """From rest at one: by elliptic functions."""
    with mpmath.workdps(30):
        m = mpmath.sin(mpmath.mpf(1) / 2) ** 2
        u = mpmath.ellipk(m) - time
        angle = 2 * mpmath.asin(mpmath.sqrt(m) * mpmath.ellipfun("sn", u, m=m))
        speed = -2 * mpmath.sqrt(m) * mpmath.ellipfun("cn", u, m=m)
        return np.array([float(angle), float(speed)])


NONE = np.zeros(0)


def test_motions_are_exact_and_run_back():
    integrator = pendulum()
    integrator.put(0.0, [1.0, 0.0], NONE)
    grid = np.linspace(0, 40, 81)
    found = integrator.advance(40.0, 10_000, grid=grid, dense=True)
    exact = np.array([exact_pendulum(t) for t in grid])
    assert found.end is End.REACHED
    assert integrator.time == 40.0
    assert np.abs(found.samples - exact).max() < 1e-14
    assert np.array_equal(found.dense(grid), found.samples)
    assert found.steps == len(found.dense.times) - 1
    assert found.dense.bounds == (0.0, 40.0)
    assert integrator.advance(0.0, 10_000).end is End.REACHED
    assert np.abs(integrator.state - [1.0, 0.0]).max() < 1e-13


def test_orders_and_steps_follow_the_tolerance():
    """Jorba and Zou's order; at every tolerance the error per step is of its size."""
    for tolerance in (1e-6, 1e-9, 1e-12, 1e-15):
        integrator = pendulum(tolerance)
        assert integrator.order == max(2, np.ceil(1 - np.log(tolerance) / 2))
        integrator.put(0.0, [1.0, 0.0], NONE)
        found = integrator.advance(10.0, 10_000)
        assert np.abs(integrator.state - exact_pendulum(10.0)).max() < 10 * found.steps * tolerance


def test_pieces_and_copies_repeat_each_other():
    """Steps in pieces, in a copy, in other threads, and after other motions have the same digits."""
    whole, parts = pendulum(), pendulum()
    whole.put(0.0, [1.0, 0.0], NONE)
    whole.advance(100.0, 10_000)
    parts.put(0.0, [0.3, 2.5], NONE)
    parts.advance(7.0, 1000)
    parts.put(0.0, [1.0, 0.0], NONE)
    while parts.time != 100.0:
        parts.advance(100.0, 7)
    assert np.array_equal(whole.state, parts.state)

    def flown(integrator):
        integrator.put(0.0, [1.0, 0.0], NONE)
        integrator.advance(100.0, 10_000)
        return integrator.state

    copies = [copy.deepcopy(whole) for _ in range(4)] + [pickle.loads(pickle.dumps(whole))]
    with ThreadPoolExecutor(4) as pool:
        assert all(np.array_equal(state, whole.state) for state in pool.map(flown, copies))


def test_steps_are_bounded():
    integrator = pendulum()
    integrator.put(0.0, [1.0, 0.0], NONE)
    found = integrator.advance(1.0, 10_000, 0.01)
    assert found.longest <= 0.01
    assert found.steps in (100, 101)
    found = integrator.advance(9.0, 3)
    assert found.end is End.STEPS
    assert found.steps == 3
    assert integrator.time < 9.0
    assert integrator.step(-1e-3).longest == pytest.approx(1e-3)
    assert integrator.last_h < 0


def test_a_state_that_is_no_number_ends_the_steps():
    """x' = x² reaches infinity at t = 1; afterwards the integrator serves as before."""
    integrator = Integrator(program([(X, X * X)], 1e-15))
    integrator.put(0.0, [1.0], NONE)
    found = integrator.advance(2.0, 100_000, dense=True)
    assert found.end is End.NOT_FINITE or integrator.time < 1.0 + 1e-9
    assert np.isfinite(found.dense.tcs).all()
    integrator.put(0.0, [-1.0], NONE)
    assert integrator.advance(2.0, 1000).end is End.REACHED
    assert integrator.state[0] == pytest.approx(-1 / 3, abs=1e-15)


def test_time_and_parameters_are_followed():
    """x' = a cos t + b, with a time that has no digits to lose: the compensated sum of 10⁵ steps."""
    integrator = Integrator(program([(X, A * OF["cos"](CLOCK) + B)], 1e-15))
    integrator.put(0.0, [0.0], np.array([2.0, 0.0, 99.0]))
    integrator.advance(1000.0, 10**6, 0.01)
    assert integrator.state[0] == pytest.approx(2 * np.sin(1000.0), abs=1e-12)
    integrator.pars[:] = 0.0, 1.0
    integrator.advance(1001.0, 10**6)
    assert integrator.state[0] == pytest.approx(2 * np.sin(1000.0) + 1, abs=1e-12)


def test_events_are_exact_and_counted_once():
    """Zeros of x, v and x − 0.3 along a pendulum; quarters of its period to the last digits."""
    with mpmath.workdps(30):
        quarter = float(mpmath.ellipk(mpmath.sin(mpmath.mpf(1) / 2) ** 2))
    events = [(X, Function()), (V, Function(1)), (X - 0.3, Function(-1))]
    integrator = pendulum(events=events)
    integrator.put(0.0, [1.0, 0.0], NONE)
    integrator.advance(200.0, 10_000)
    times = [np.array([each.time for each in integrator.happened if each.function == k]) for k in range(3)]
    n = int(200 / quarter)
    assert np.abs(times[0] - quarter * np.arange(1, n + 1, 2)).max() < 1e-12
    assert np.abs(times[1] - quarter * np.arange(2, n + 1, 4)).max() < 1e-12
    assert len(times[2]) == len(range(1, n + 1, 4))
    assert all(abs(each.state[0] - 0.3) < 1e-15 for each in integrator.happened if each.function == 2)
    ordered = [each.time for each in integrator.happened]
    assert ordered == sorted(ordered)


def test_events_at_the_ends_of_steps_are_counted_once():
    """Steps that end where the function vanishes, to rounding: neither lost nor counted twice."""
    with mpmath.workdps(30):
        quarter = float(mpmath.ellipk(mpmath.sin(mpmath.mpf(1) / 2) ** 2))
    for steps in range(1, 40):
        integrator = pendulum(events=[(X, Function())])
        integrator.put(0.0, [1.0, 0.0], NONE)
        for k in range(1, 9):
            integrator.advance(k * quarter, 10_000, quarter / steps)
        assert len(integrator.happened) == 4, steps


def test_an_event_that_stops():
    events = [(X + 0.5, Function(0, stop=True)), (X, Function())]
    integrator = pendulum(events=events)
    integrator.put(0.0, [1.0, 0.0], NONE)
    found = integrator.advance(100.0, 10_000, dense=True)
    assert found.end is End.EVENT
    assert found.event == 0
    assert integrator.state[0] == pytest.approx(-0.5, abs=1e-15)
    assert integrator.time == found.dense.bounds[1] == integrator.happened[-1].time
    assert [each.function for each in integrator.happened] == [1, 0]
    found = integrator.advance(100.0, 10_000)  # goes on, to the next
    assert found.end is End.EVENT
    assert integrator.time > integrator.happened[1].time + 1


def test_backwards_events_have_the_direction_of_the_motion():
    integrator = pendulum(events=[(X, Function(1))])
    integrator.put(0.0, [1.0, 0.0], NONE)
    integrator.advance(-7.0, 10_000)
    (only,) = integrator.happened
    assert only.time < 0
    assert only.state[1] < 0


@pytest.mark.parametrize("roots", [[0.3], [0.2, 0.2001, 0.7], [0.5, 0.999], [0.1, 0.25, 0.5, 0.75, 0.9]])
def test_all_zeros_of_a_polynomial_are_found(roots):
    coefficients = np.pad(np.poly(roots)[::-1], (0, 20 - len(roots)))
    found, after = crossings(coefficients / 2.0 ** np.arange(len(coefficients)), 2.0, 0.0)
    assert [s for s, _ in found] == pytest.approx(roots, abs=1e-12)
    assert after == 1.0
    assert [sign for _, sign in found][::-1] == [(-1) ** k for k in range(len(roots))]


def test_touching_zero_is_no_crossing():
    found, after = crossings(np.array([0.25, -1.0, 1.0]), 1.0, 0.0)  # (s − 1/2)²
    assert not found
    assert after == 1.0


def test_lanes_do_not_depend_on_each_other():
    """Members have the digits they would have in any company, and those of motions alone to rounding."""
    rates = [(X, V), (V, -A * OF["sin"](X) - B * V)]
    start = np.array([np.linspace(0.1, 2.5, LANES), np.linspace(-1, 1, LANES)])
    pars = np.array([np.linspace(1, 2, LANES), np.linspace(0, 0.2, LANES)])
    grid, order = np.linspace(0, 30, 31), [5, 3, 1, 0, 2, 7, 6, 4]
    found = []
    for members in (list(range(LANES)), order, [5] * LANES):
        lanes, samples = Lanes(program(rates, 1e-15)), np.full((len(grid), 2, LANES), np.nan)
        lanes.put(0.0, start[:, members], pars[:, members])
        while not lanes.advance(30.0, 17, np.inf, grid, samples):
            pass
        assert lanes.reached.all()
        found.append(samples)
    assert np.array_equal(found[0][:, :, order], found[1])
    assert (found[2] == found[0][:, :, 5:6]).all()
    alone = Integrator(program(rates, 1e-15))
    for k in range(LANES):
        alone.put(0.0, start[:, k], pars[:, k])
        assert np.abs(alone.advance(30.0, 10_000, grid=grid).samples - found[0][:, :, k]).max() < 1e-13


def test_a_lane_that_ends_leaves_the_others_alone():
    lanes = Lanes(program([(X, X * X)], 1e-12))
    start = -np.ones((1, LANES))
    start[0, 2] = 1.0
    lanes.put(0.0, start, np.zeros((0, LANES)))
    lanes.advance(2.0, 2000)
    assert lanes.reached.sum() == LANES - 1
    assert not lanes.reached[2]
    assert np.delete(lanes.state[0], 2) == pytest.approx(-1 / 3, abs=1e-12)


def test_orders_without_room_are_refused():
    recurrences, nothing = lowered(tape_of([X * Y], [X, Y])), np.zeros(1)
    one = Sweeper(recurrences, 3, np.array(PLACE), nothing, nothing, nothing, aligned)
    many = LaneSweeper(recurrences, 3, np.ones((2, LANES)), nothing, aligned(4 * LANES), aligned)
    with pytest.raises(ValueError, match="room for 3"):
        one.along(np.array(WAY), 4, np.empty((1, 5)))
    with pytest.raises(ValueError, match="room for 3"):
        many.along(np.ones((2, LANES)), 4)


@pytest.mark.parametrize("bars", [2, 5])
def test_jets_against_differences(bars):
    """All orders along a line, one by one and many lines at once; the first two against differences."""
    case = pfaff.atlas.column(bars).at(F=0.5)
    flow, rng = case.system.flow, np.random.default_rng(bars)
    jets, n = jets_of(flow), len(flow.states)
    x, v = 0.3 * rng.normal(size=(2, 20, n))
    lines = [jets.line(x[k], case.numbers, v[k]) for k in range(20)]
    for order in range(1, 6):
        together = jets.lines(x, case.numbers, v, order)
        alone = np.array([each[:, order] for each in lines])
        assert np.abs(together - alone).max() <= 1e-12 * np.abs(alone).max()
    h = 1e-4
    f = [flow.rhs(x[0] + s * h * v[0], case.numbers) for s in (-1, 0, 1)]
    assert (f[2] - f[0]) / (2 * h) == pytest.approx(lines[0][:, 1], rel=1e-4, abs=1e-4)
    assert (f[2] - 2 * f[1] + f[0]) / h**2 == pytest.approx(lines[0][:, 2], rel=1e-2, abs=1e-2)


def test_motions_agree_with_heyoka():
    """Where it is installed: a driven pendulum's final state, by another implementation."""
    hy = pytest.importorskip("heyoka")
    x, v = hy.expression("x"), hy.expression("v")
    rates = [(x, v), (v, -hy.sin(x) - 0.1 * v * v * v + hy.cos(hy.time) / (2.0 + x * x))]
    theirs = hy.taylor_adaptive(rates, [1.0, 0.0], tol=1e-15)
    theirs.propagate_until(50.0)
    mine = Integrator(program([(X, V), (V, -OF["sin"](X) - 0.1 * V * V * V + OF["cos"](CLOCK) / (2.0 + X * X))], 1e-15))
    mine.put(0.0, [1.0, 0.0], NONE)
    mine.advance(50.0, 10_000)
    assert np.abs(mine.state - theirs.state).max() < 1e-12


def test_what_is_no_number_does_not_outlast_its_series():
    """√(1 − x²) at x = 2 has no series; at x = 1/2 it has the digits of an integrator that never saw another."""
    rates = [(X, V), (V, -X * OF["sqrt"](1 - X * X) * OF["exp"](V))]
    fresh, used = Integrator(program(rates, 1e-15)), Integrator(program(rates, 1e-15))
    fresh.put(0.0, [0.5, 0.1], NONE)
    for bad in (2.0, np.inf):
        used.put(0.0, [bad, 0.1], NONE)
        assert not np.isfinite(used.series()).all()
        used.put(0.0, [0.5, 0.1], NONE)
        assert np.array_equal(used.series(), fresh.series())
    recurrences, x = lowered(tape_of([rates[1][1]], [X, V])), np.array([0.5, 0.1])
    sweeper, way = Sweeper(recurrences, 9, x, NONE, np.zeros(1), np.zeros(1), aligned), np.array([0.3, 1.0])
    found = [np.empty((1, 10)) for _ in range(3)]
    for x[0], each in zip((0.5, 2.0, 0.5), found, strict=True):
        sweeper.along(way, 9, each)
    assert np.isnan(found[1]).any()
    assert np.array_equal(found[0], found[2])


def test_what_is_no_number_does_not_outlast_its_lane():
    states, found = np.full((2, LANES), 0.5), []
    lanes = Lanes(program([(X, V), (V, -X * OF["sqrt"](1 - X * X) * OF["exp"](V))], 1e-15))
    for bad in (0.5, 2.0, 0.5):
        states[0, 3] = bad
        lanes.put(0.0, states, np.zeros((0, LANES)))
        lanes.advance(1.0, 1000)
        found.append(lanes.state.copy())
    assert np.isnan(found[1][:, 3]).any()
    assert np.array_equal(found[0], found[2])
    assert np.array_equal(np.delete(found[0], 3, axis=1), np.delete(found[1], 3, axis=1))


def oscillator(*functions):
    return Integrator(program([(X, V), (V, -X)], 1e-15, [(each, Function()) for each in functions]))


def crossed(integrator, start, time=40.0):
    integrator.put(0.0, start, NONE)
    assert integrator.advance(time, 100_000).end is End.REACHED
    return [each.time for each in integrator.happened]


def test_an_event_without_numbers_is_found_later():
    """√x − 1/2 where x < 0 in the first series: what follows is as if that had not been."""
    used, fresh = oscillator(OF["sqrt"](X) - 0.5), oscillator(OF["sqrt"](X) - 0.5)
    used.put(0.0, [-1.0, 0.0], NONE)
    used.series()
    assert crossed(used, [1.0, 0.0], 1.4) == crossed(fresh, [1.0, 0.0], 1.4) == pytest.approx([np.arccos(0.25)])


def test_functions_that_are_infinite_do_not_lengthen_steps():
    for function in (OF["log"](X) + 1, 1 / X - 2):
        integrator = oscillator(function)
        integrator.put(0.0, [0.0, 1.0], NONE)
        assert integrator.advance(40.0, 100_000).end is End.REACHED
        assert np.abs(integrator.state - [np.sin(40.0), np.cos(40.0)]).max() < 1e-13


@pytest.mark.filterwarnings("error")
def test_a_function_that_is_infinite_leaves_others_alone():
    alone, together = oscillator(X - 0.5), oscillator(X - 0.5, 1 / X - 2)
    expected = crossed(alone, [0.0, 1.0], 2.0)
    found = crossed(together, [0.0, 1.0], 2.0)
    assert found == pytest.approx([expected[0]] * 2, abs=1e-14)


def test_parameters_of_another_sign_are_others():
    """Zero and minus zero lie on both sides of the cut of the angle."""
    integrator = Integrator(program([(X, atan2(A, expression(-1.0)))], 1e-15))
    for value in (0.0, -0.0, 0.0):
        integrator.put(0.0, [0.0], np.array([value]))
        assert integrator.series()[0, 1] == np.copysign(np.pi, value)


@pytest.mark.parametrize(
    ("function", "exact"),
    [
        (X**2.5 - 0.5, 0.5**0.4),
        (OF["log"](X) + 1, np.exp(-1)),
        (1 / X - 2, 0.5),
        (OF["sqrt"](X) - 0.5, 0.25),
        (OF["sqrt"](X + 1e-3) - 0.5, 0.249),
    ],
)
def test_events_are_found_where_functions_have_no_series(function, exact):
    """Along sin t: at the start, and after times in which the function is no number."""
    first = np.arcsin(exact)
    expected = [t for k in range(8) for t in (2 * np.pi * k + first, 2 * np.pi * k + np.pi - first) if t < 40]
    assert crossed(oscillator(function), [0.0, 1.0]) == pytest.approx(expected, abs=1e-12)


def test_rounding_is_no_crossing():
    """The energy keeps its value: 1 − x² − v² is rounding and has no zeros; tiny functions have theirs."""
    assert not crossed(oscillator(X * X + V * V - 1), [1.0, 0.0], 1000.0)
    expected = np.pi / 2 + np.pi * np.arange(12)
    assert crossed(oscillator(X * 1e-200), [1.0, 0.0], 37.0) == pytest.approx(expected, abs=1e-12)
    assert len(crossed(oscillator(X - (1 - 1e-10)), [1.0, 0.0], 100.0)) == 31


@pytest.mark.parametrize(
    ("name", "place"),
    [("asin", 1 - 1e-10), ("acos", -1 + 1e-10), ("atanh", 1 - 1e-10), ("acosh", 1 + 1e-10)]
    + [("tanh", each) for each in (0.1, -3.0, 10.0, 18.0, -40.0)],
)
def test_series_near_the_limits_of_functions_have_all_digits(name, place):
    """Where slopes vanish or are infinite, the digits are those of the place itself."""
    integrator = Integrator(program([(X, expression(1.0)), (V, OF[name](X))], 1e-15))
    integrator.put(0.0, [place, 0.0], NONE)
    with mpmath.workdps(80):
        exact = np.array([float(each) for each in mpmath.taylor(getattr(mpmath, name), mpmath.mpf(place), 6)])
    found = integrator.series()[1, 1:8] * np.arange(1, 8)
    scale = np.maximum(np.abs(exact), np.abs(exact[1]) * (abs(place) < 1))
    assert (np.abs(found - exact) / np.abs(scale)).max() < 1e-14 * max(1, abs(place))
