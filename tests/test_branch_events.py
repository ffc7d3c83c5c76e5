"""Expressions of points: measured along branches and curves, and located where they change their sign."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sm

import pfaff
from conftest import XI_HAT
from pfaff.errors import PfaffError

x, y = sm.symbols("x y", real=True)
mu, nu, b1, b2 = sm.symbols("mu nu b1 b2", real=True)
square = x**2 + y**2
grows = mu + nu * square - square**2
bautin = pfaff.ode({x: grows * x - y, y: x + grows * y}, {mu: -0.5, nu: -0.5}, load=mu)


def test_events_on_a_branch_of_equilibria(tmp_path):
    """μ = x³ − x/2, with folds at x = ∓1/√6: x = 1/2 once, and x² = 0.09 on both sides."""
    case = pfaff.ode({x: mu - x**3 + x / 2}, {mu: -1}, load=mu).at()
    events = {"half": "x = 1/2", "twice": x**2 - 0.09, "equation": sm.Eq(x, sm.Rational(1, 4))}
    branch = case.branch(to=1, start={"x": -1}, events=events)
    (half,), twice, (equation,) = (branch.of_kind(f"event: {name}") for name in events)
    assert half["x"] == pytest.approx(0.5, abs=1e-12)
    assert half.value == pytest.approx(-0.125, abs=1e-12)
    assert [each["x"] for each in twice] == pytest.approx([-0.3, 0.3], abs=1e-12)
    assert equation["x"] == pytest.approx(0.25, abs=1e-12)
    assert [each.kind for each in branch.special if each.kind == "fold"] == ["fold", "fold"]
    assert "event: half at mu = -0.125" in half.status
    again = pfaff.load(branch.save(tmp_path / "branch.nc"), case)
    assert [each.kind for each in again.special] == [each.kind for each in branch.special]
    assert branch.measure("x**3 - x/2 - mu") == pytest.approx(np.zeros(len(branch)), abs=1e-12)
    stars = [line.get_color() for line in branch.plot().axes[0].lines if str(line.get_label()).startswith("event: ")]
    assert len(stars) == len(set(stars)) == 3
    longer = case.branch(to=0, start={"x": -1}).extend(to=1, events={"unit": "x = 1"})
    assert longer.of_kind("event: unit")[0].value == pytest.approx(0.5, abs=1e-12)


def test_a_reaction_of_the_column_that_is_asked_for():
    """The skate's reaction under a dead load is the load itself on the straight column."""
    case = pfaff.atlas.column(2).at(**XI_HAT, c_i=1.5)
    branch = case.branch("F", to=90, events={"fifty": "p = 50"})
    (found,) = branch.of_kind("event: fifty")
    assert abs(found["p"]) == pytest.approx(50, abs=1e-9)
    assert abs(found.value) == pytest.approx(50, abs=1e-9)
    assert np.isnan(branch.measure("p / F")[0])
    assert branch.measure("p / F")[1:] == pytest.approx(np.full(len(branch) - 1, found["p"] / found.value))


def test_events_on_a_branch_of_cycles(tmp_path):
    """ṙ = r (μ + ν r² − r⁴) at ν = −1/2: r = 1 where μ = 3/2; the period is 2π throughout."""
    hopf = bautin.at().hopf(to=1)
    branch = hopf.orbits(to=2, events={"unit": "max_x = 1", "area": "mean_x + amplitude_x * amplitude_y = 1/4"})
    (unit,), (area,) = (branch.of_kind(f"event: {name}") for name in ("unit", "area"))
    assert unit.value == pytest.approx(1.5, abs=1e-6)
    assert area.value == pytest.approx(1 / 16 + 1 / 8, abs=1e-6)
    assert unit.status.startswith("event: unit at mu = 1.5")
    assert branch.measure("period")[-1] == pytest.approx(2 * np.pi)
    assert branch.measure("min_x + max_x") == pytest.approx(np.zeros(len(branch)), abs=1e-9)
    again = pfaff.load(branch.save(tmp_path / "branch.nc"), bautin.at())
    for before, after in zip((*branch, *branch.special), (*again, *again.special), strict=True):
        assert np.array_equal(before.point.cycle.x, after.point.cycle.x)
        assert np.array_equal(before.point.cycle.scalars, after.point.cycle.scalars)
    assert branch.plot().axes


def test_events_on_curves(tmp_path):
    """Folds b1 = b2²/4, folds of cycles μ = −ν²/4, homoclinic orbits of the saddle at x."""
    system = pfaff.ode({x: y, y: b1 + b2 * x + x**2 - x * y}, {b1: -0.3, b2: -1}, load=b1)
    (fold,) = system.at().branch(to=1, start={"x": -0.5}).of_kind("fold")
    curve = fold.curve("b2", to=1, events={"tenth": "b1 = 0.1"})
    assert [each["b2"] for each in curve.of_kind("event: tenth")] == pytest.approx([-np.sqrt(0.4), np.sqrt(0.4)])
    again = pfaff.load(curve.save(tmp_path / "curve.nc"), fold.case)
    assert [each.kind for each in again.special] == [each.kind for each in curve.special]
    (takens,) = curve.of_kind("bogdanov-takens")
    loops = takens.switch("homoclinic", to=-0.5).extend(to=-1, events={"saddle": "x = 1"})
    (saddle,) = loops.of_kind("event: saddle")
    assert saddle.rest["x"] == pytest.approx(1, abs=1e-9)
    assert saddle["b1"] + saddle["b2"] + 1 == pytest.approx(0, abs=1e-9)
    (point,) = bautin.at().hopf(to=1).curve("nu", to=1).of_kind("generalised hopf")
    folds = point.switch("fold of cycles", to=0.5).extend(to=1, events={"radius": "max_x = 0.6"})
    (radius,) = folds.of_kind("event: radius")
    assert radius["nu"] == pytest.approx(0.72, abs=1e-6)
    assert radius["mu"] == pytest.approx(-0.1296, abs=1e-6)


@pytest.mark.parametrize(
    ("events", "message"),
    [
        ({"a": "x = 2 * z"}, r"event 'a', '2 \* z', is not an expression: unknown z \(character 5\)"),
        ({"a": "x ="}, "event 'a'"),
        ({"a": "1"}, "give an expression of"),
        ({"a": "x === 1"}, "event 'a'"),
        ({"a": object()}, "event 'a'"),
        (["x = 1"], "events"),
        ({"": "x"}, "name of an event"),
    ],
)
def test_bad_events_are_refused_in_words(events, message):
    case = pfaff.ode({x: mu - x**3 + x / 2}, {mu: -1}, load=mu).at()
    with pytest.raises(PfaffError, match=message):
        case.branch(to=1, start={"x": -1}, events=events)


@pytest.mark.parametrize("expression", ["sqrt(x - 10)", "log(-1 - x**2)", sm.sqrt(-1) * (x + 2)])
def test_an_event_that_is_nowhere_a_number_is_told(expression):
    """Where it is one somewhere, nothing is said, and it is found."""
    case = pfaff.ode({x: mu - x**3 - x}, {mu: -1}, load=mu).at()
    with pytest.warns(UserWarning, match="event 'lost' was looked for in vain: at no point is its expression a real"):
        branch = case.branch(to=1, events={"lost": expression, "half": "sqrt(x) = 1/2"})
    assert branch.ended == "reached 1"
    (half,) = branch.special
    assert half["x"] == pytest.approx(0.25, abs=1e-9)


def fail(*about):
    raise ValueError("of the user's")


def test_an_error_in_progress_costs_nothing_of_what_was_computed():
    """It is told, and ends what is computed as Ctrl-C does: branches, modes and motions."""
    seen = []

    def late(point):
        seen.append(point)
        if len(seen) == 4:
            fail()

    told = "progress raised ValueError: of the user's; what was computed until then is kept"
    case = bautin.at(mu=-0.5)
    with pytest.warns(UserWarning, match=told):
        branch = case.branch(to=1, progress=late)
    assert branch.ended.startswith("interrupted at mu = ")
    assert len(branch) == 5
    with pytest.warns(UserWarning, match=told):
        trajectory = case.simulate(100, x=0.1, progress=fail)
    assert trajectory.status.startswith("interrupted")
    pendulum = pfaff.atlas.column(1).at()
    with pytest.warns(UserWarning, match=told):
        assert pendulum.simulate(100, theta1=0.1, progress=fail).status.startswith("interrupted")
