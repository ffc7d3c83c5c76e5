"""A branch is the same curve with the same special points for every ``to`` that contains it: twenty small systems."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sm
from hypothesis import given, settings
from hypothesis import strategies as st

import pfaff
from pfaff.statement import TIME, coordinates

x, y, z, w = sm.symbols("x y z w", real=True)
mu = sm.Symbol("mu", real=True)
R = sm.Rational
exp, tanh, cosh = sm.exp, sm.tanh, sm.cosh


def of(equations, at=0, start=None, **values):
    """A case that starts from a value of μ, and the states from which its equilibrium is sought."""
    parameters = {mu: at} | {sm.Symbol(name, real=True): value for name, value in values.items()}
    return pfaff.ode(equations, parameters, load=mu).at(), start


def pendulum():
    """Upright on a spring, pushed aside by a little, leaning the other way: an imperfect pitchfork."""
    (q,) = coordinates("q")
    kinetic = q.diff(TIME) ** 2 / 2
    potential = q**2 / 2 + mu * sm.cos(q) - R(1, 50) * q
    dissipation = q.diff(TIME) ** 2 / 20
    system = pfaff.System(
        [q], kinetic=kinetic, potential=potential, dissipation=dissipation, parameters={mu: 2}, load=mu
    )
    return system.at(), {"q": -1.9}


def column(*of, **values):
    return pfaff.atlas.column(2, *of).at(d="1/2", M_L=15, I_L=15, k1=50, c_i="3/2", **values), None


REACTION = mu * (1 - x) * exp(y)
GAIN, CALCIUM = (1 + tanh((x + R(1, 100)) / R(15, 100))) / 2, (1 + tanh((x - R(1, 10)) / R(145, 1000))) / 2
# Each with three ends, the nearest of which lies beyond some of its special points.
SYSTEMS = {
    "fold": (lambda: of({x: mu + 1 - x**2}, 1, {"x": 1}), (-2, -3, -20)),
    "cusp": (lambda: of({x: mu + 2 * x - x**3}, -3, {"x": -2}), (2, 5, 40)),
    "imperfect pitchfork": (lambda: of({x: R(1, 10) + mu * x - x**3}, 2, {"x": -1.4}), (-1, -3, -30)),
    "pitchfork": (lambda: of({x: mu * x - x**3}, -1, {"x": 0}), (1, 2, 30)),
    "transcritical": (lambda: of({x: mu * x - x**2}, -1, {"x": 0}), (1, 2, 30)),
    "hopf": (lambda: of({x: mu * x - y - x**3, y: x + mu * y - y**3}, -1, {"x": 0}), (1, 3, 50)),
    "bogdanov-takens": (lambda: of({x: y, y: mu - x + x**2 - x * y}, -1, {"x": -0.6}), (1, 2, 20)),
    "van der pol": (lambda: of({x: y, y: (1 - x**2) * y - x + mu}, -2, {"x": -2}), (2, 3, 20)),
    "stirred tank": (lambda: of({x: -x + REACTION, y: -3 * y + 14 * REACTION}), (0.2, 0.3, 1)),
    "brusselator": (lambda: of({x: 1 - (mu + 1) * x + x**2 * y, y: mu * x - x**2 * y}, 1), (3, 5, 20)),
    "fitzhugh-nagumo": (lambda: of({x: x - x**3 / 3 - y + mu, y: (x + R(7, 10) - R(4, 5) * y) / 12}), (2, 3, 20)),
    "lorenz": (
        lambda: of({x: 10 * (y - x), y: mu * x - y - x * z, z: x * y - R(8, 3) * z}, 2, {"x": 1.6, "y": 1.6, "z": 1}),
        (26, 40, 300),
    ),
    "predator and prey": (
        lambda: of({x: 3 * x * (1 - x) - x * y - mu * (1 - exp(-5 * x)), y: -y + 3 * x * y}, 0, {"x": 0.4, "y": 1.8}),
        (0.9, 1.2, 5),
    ),
    "three species": (
        lambda: of(
            {
                x: x * (1 - x) - 4 * x * y,
                y: -y / 4 + 4 * x * y - 3 * y * z - mu * (1 - exp(-5 * y)),
                z: -z / 2 + 3 * y * z,
            },
            0,
            {"x": 0.4, "y": 0.15, "z": 0.4},
        ),
        (0.4, 0.5, 5),
    ),
    "carbon monoxide": (
        lambda: of(
            {
                x: 5 * (1 - x - y - z) ** 2 - 2 * x**2 - 10 * x * y,
                y: mu * (1 - x - y - z) - y / 10 - 10 * x * y,
                z: R(675, 10000) * (1 - x - y - R(14, 10) * z),
            },
            0.4,
            {"x": 0.5, "y": 0.02, "z": 0.3},
        ),
        (1.5, 2, 20),
    ),
    "morris-lecar": (
        lambda: of(
            {
                x: mu - R(1, 2) * (x + R(1, 2)) - 2 * y * (x + R(7, 10)) - GAIN * (x - 1),
                y: R(115, 100) * (CALCIUM - y) * cosh((x - R(1, 10)) / R(29, 100)),
            },
            -0.2,
            {"x": -0.6, "y": 0},
        ),
        (0.4, 0.6, 3),
    ),
    "langford": (
        lambda: of(
            {
                x: (z - R(7, 10)) * x - R(35, 10) * y,
                y: R(35, 10) * x + (z - R(7, 10)) * y,
                z: R(6, 10) + mu * z - z**3 / 3 - (x**2 + y**2) * (1 + z / 4),
            },
            -1.5,
            {"z": 0.4},
        ),
        (1, 2, 10),
    ),
    "pendulum": (pendulum, (0, -30, -3000)),
    "column on a skate": (lambda: column("skate", "dead"), (90, 120, 1000)),
    "ziegler": (lambda: (pfaff.atlas.ziegler(2).at(c_i="1/10"), None), (4, 6, 40)),
}


def followed(name, to):
    case, start = SYSTEMS[name][0]()
    return case.branch(to=to, bounds=(None, None), points=120, **({"start": start} if start else {}))


@pytest.mark.parametrize("name", SYSTEMS)
def test_a_branch_does_not_depend_on_its_end(name):
    first, *farther = (followed(name, to) for to in SYSTEMS[name][1])
    span = np.ptp(first.values)
    for branch in farther:
        assert [each.kind for each in branch.special][: len(first.special)] == [each.kind for each in first.special]
        for here, there in zip(first.special, branch.special, strict=False):
            assert there.value == pytest.approx(here.value, abs=1e-8 * span)
            assert there.x == pytest.approx(here.x, abs=1e-6 * (1 + np.abs(here.x).max()))
        for point in first[:: max(1, len(first) // 6)]:
            near = min(branch.at(point.value), key=lambda other: np.abs(other.x - point.x).max())
            assert near.x == pytest.approx(point.x, abs=1e-9 * (1 + np.abs(point.x).max()))


# Cycles


def bautin(nu):
    """ṙ = r (μ + ν r² − r⁴): a fold of cycles at μ = −ν²/4, however near to the Hopf point at zero."""
    grows = mu + nu * (x**2 + y**2) - (x**2 + y**2) ** 2
    return pfaff.ode({x: grows * x - y, y: x + grows * y}, {mu: -0.5}, load=mu).at().hopf(to=1)


def born(name):
    return next(each for each in followed(name, SYSTEMS[name][1][0]).special if each.kind == "hopf").hopf


CYCLES = {
    "bautin": (lambda: bautin(R(1, 2)), (0.5, 1, 30)),
    "bautin, a fold near the hopf point": (lambda: bautin(R(1, 1000)), (0.5, 1, 30)),
    "van der pol": (lambda: born("van der pol"), (0, 0.5, 0.9)),
    "brusselator": (lambda: born("brusselator"), (2.5, 4, 10)),
    "stirred tank": (lambda: born("stirred tank"), (0.11, 0.108, 0.1065)),
    "column on a skate": (lambda: born("column on a skate"), (90, 95, 120)),
}


@pytest.mark.parametrize("name", CYCLES)
def test_cycles_do_not_depend_on_their_end(name):
    hopf, ends = CYCLES[name][0](), CYCLES[name][1]
    first, *farther = (hopf.orbits(to=to, points=70) for to in ends)
    assert first.ended.reason is pfaff.Reason.REACHED
    if name.startswith("bautin"):
        assert [each.kind for each in first.special] == ["fold"]
    last = first[-1]
    for branch in farther:
        assert [each.kind for each in branch.special] == [each.kind for each in first.special]
        for here, there in zip(first.special, branch.special, strict=True):
            assert there.value == pytest.approx(here.value, abs=1e-7 * abs(hopf.value - here.value))
        assert min(abs(each.period - last.period) for each in branch.at(last.value)) < 1e-8 * last.period


A, X, Y, Z, W, MU = sm.symbols("A x y z w mu", real=True)
ONE = {X: A / (1 + X**2) - X}
TWO = {X: A / (1 + Y**4) - X, Y: A / (1 + X**4) - Y}
RING = {X: A / (1 + Y**4) - X, Y: A / (1 + Z**4) - Y, Z: A / (1 + X**4) - Z}
SWITCH = [("branch point", 4 / 3 / 3**0.25)]  # x = y with 4 x⁴ = 1 + x⁴
SATURATED = {
    "one": (ONE, A, {"x": 0.0}, []),
    "two": (TWO, A, {"x": 0.0, "y": 0.0}, SWITCH),
    "cubic": ({X: MU - X**3 + 3 * X - 2.5}, MU, {"x": -2.4}, [("fold", 4.5), ("fold", 0.5)]),
    "three": (RING, A, {"x": 0.0, "y": 0.0, "z": 0.0}, [("hopf", 2)]),  # x = y = z = 1
    "one, and one at rest": (ONE | {W: 1 - W}, A, {"x": 0.0, "w": 1.0}, []),
    "two, and one at rest": (TWO | {W: 1 - W}, A, {"x": 0.0, "y": 0.0, "w": 1.0}, SWITCH),
    "two, and what follows": (TWO | {W: X**2 - W, Z: W**2 - Z}, A, {"x": 0.0, "y": 0.0}, SWITCH),
}


@pytest.mark.parametrize("to", [1e3, 1e6, 1e8, 1e12])
@pytest.mark.parametrize("name", list(SATURATED))
def test_digits_do_not_depend_on_a_distant_end(name, to):
    """States that hardly move on the way are not measured by where their first rate would lead, nor parameters by the
    whole way: every point is an equilibrium, and special points have all their digits."""
    equations, parameter, start, special = SATURATED[name]
    branch = pfaff.ode(equations, parameters={parameter: 0}, load=parameter).at().branch(to=to, start=start)
    assert branch[-1].value == to
    assert [each.kind for each in branch.special] == [kind for kind, _ in special]
    assert [each.value for each in branch.special] == pytest.approx([value for _, value in special], rel=1e-12)
    for point in branch:
        numbers = {parameter: point.value, **dict(zip(equations, point.x, strict=True))}
        for rate, state in zip(equations.values(), point.x, strict=True):
            left = abs(float(rate.subs(numbers)))
            assert left <= 1e-11 * max(abs(float(state)), abs(float(state)) ** 3, 1e-12)


def saturated_chain(n=120):
    """The first of them in many cells that mix."""
    x = sm.symbols(f"x1:{n + 1}", real=True)
    mixed = [(x[k - 1] - x[k] if k else 0) + (x[k + 1] - x[k] if k < n - 1 else 0) for k in range(n)]
    rates = {x[k]: A / (1 + x[k] ** 2) - x[k] + 3 * mixed[k] + R(k, 10 * n) for k in range(n)}
    return pfaff.ode(rates, {A: 0}, A).at()


def bent_cantilever():
    """Bars under a dead load across: all of them turn towards it, and no farther."""
    angle, beyond = coordinates("theta theta_next")
    load, bars = sm.Symbol("P", real=True), 60
    turning = angle.diff(TIME) ** 2 / 2
    bar = pfaff.Part([angle], kinetic=turning, potential=-load * sm.sin(angle) / bars, parameters={load: 0}, name="bar")
    hinge = pfaff.Part([angle, beyond], potential=bars * (beyond - angle) ** 2 / 2, name="hinge")
    clamp = pfaff.Part([angle], potential=bars * angle**2 / 2, name="clamp")
    at = np.arange(bars)
    joined = [hinge.copies(np.column_stack([at[:-1], at[1:]])), bar.copies(at[:, None]), clamp.copies([[0]])]
    return pfaff.Assembly(joined, size=bars, load="P")


@pytest.mark.parametrize("to", [1e3, 1e6, 1e8])
@pytest.mark.parametrize("make", [lambda: saturated_chain(20), saturated_chain, bent_cantilever])
def test_nor_do_those_of_many_equations(make, to):
    """Dense, sparse, and of an assembly."""
    branch = make().branch(to=to)
    assert branch[-1].value == to
    assert not branch.special
    for point in branch:
        equations, z = point.equations, point.spot.z
        balanced = abs(equations.jacobian(z)) @ np.abs(z)
        assert (np.abs(equations.rates(z)) <= 1e-13 * balanced[: equations.n]).all()


# Curves

NU = sm.Symbol("nu", real=True)


@pytest.mark.parametrize("to", [2, 100, 1e4, 1e8, 1e12])
def test_curves_of_folds_reach_a_distant_end(to):
    """27 μ² = 4 ν³, over twelve decades of ν by steps that grow with the distance."""
    case = pfaff.ode({x: mu + NU * x - x**3}, {mu: -1, NU: 1}, load=mu).at()
    curve = case.branch(to=1, start={"x": -1.3}).of_kind("fold")[0].curve("nu", to=to)
    assert curve[-1]["nu"] == to
    assert curve.special == ()
    for point in curve:
        assert 27 * point["mu"] ** 2 == pytest.approx(4 * point["nu"] ** 3, rel=1e-11)


@pytest.mark.parametrize(("to", "shift"), [(1, 0), (30, 0), (1e6, 0), (1, 0.3), (30, 0.3)])
def test_special_points_of_curves_do_not_depend_on_their_end(to, shift):
    """ẋ = y, ẏ = μ + ν y + x² + x y: folds at μ = 0, whatever ν, Bogdanov and Takens' point at ν = 0, and Hopf points
    at x = −ν, μ = −ν² to one side of it. The value of ν at which the curve starts and what else it does to the
    equations, by a wave in ν, does not matter."""
    wave = sm.sin(NU) * shift
    case = pfaff.ode({x: y, y: mu + wave + NU * y + x**2 + x * y}, {mu: -1, NU: -1.5}, load=mu).at()
    fold = case.branch(to=1, start={"x": -1.0}).of_kind("fold")[0]
    curve = fold.curve("nu", to=to)
    assert curve[-1]["nu"] == to
    assert [each.kind for each in curve.special] == ["bogdanov-takens"]
    assert curve.special[0]["nu"] == pytest.approx(0, abs=1e-10)
    assert curve.special[0]["mu"] == pytest.approx(0, abs=1e-10)
    for point in curve:
        assert point["mu"] == pytest.approx(-shift * np.sin(point["nu"]), abs=1e-10 * max(1.0, abs(point["nu"])))


@given(
    a=st.floats(0.1, 10), b=st.floats(0.1, 10), start=st.floats(-3, 3), unit=st.integers(-8, 8), far=st.integers(0, 3)
)
@settings(max_examples=40, deadline=None)
def test_states_that_stay_where_they_are_but_for_rounding_do_not_shorten_steps(a, b, start, unit, far):
    """y = a μ, z = b y − a b μ = 0 and what z drives: a straight line, whatever rounding leaves of z."""
    scale, span = 10.0**unit, 10.0**far
    equations = {y: a * mu / scale - y, z: b * y - a * b * mu / scale - z, w: z - w - w**3 / 10 + y * z / 5}
    case = pfaff.ode(equations, {mu: start * scale}, load=mu).at()
    branch = case.branch(to=(start + span) * scale)
    assert branch[-1].value == (start + span) * scale
    assert branch.special == ()
    assert len(branch) < 40
