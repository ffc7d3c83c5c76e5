"""Coordinates that nobody gave: as few change as can be, to the nearest solution; none where nothing is violated."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
import sympy as sm
from scipy.optimize import fsolve

import pfaff
from pfaff.flow.initial import Constraints, Start, initial_state
from pfaff.statement import TIME as t
from pfaff.statement import coordinates

a, b, c, x, y, z, phi = coordinates("a b c x y z phi")


def system(rows: list[sm.Expr], *moving: sm.Expr, potential: sm.Expr = sm.S.Zero, slow: float = 1.0) -> pfaff.System:
    kinetic = sum(q.diff(t) ** 2 for q in moving[:-1]) / 2 + slow * moving[-1].diff(t) ** 2 / 2
    return pfaff.System(moving, kinetic, potential, holonomic_constraints=rows)


@cache
def slider_crank(slow: float = 1.0) -> pfaff.System:
    return system([sm.sin(a) + 2 * sm.sin(b), x - sm.cos(a) - 2 * sm.cos(b)], a, b, x, slow=slow)


@cache
def four_bar() -> pfaff.System:
    along = sm.cos(a) + sm.Rational(5, 2) * sm.cos(b) - 2 - 2 * sm.cos(c)
    return system([along, sm.sin(a) + sm.Rational(5, 2) * sm.sin(b) - 2 * sm.sin(c)], a, b, c)


@cache
def platform() -> pfaff.System:
    """A platform of length two on two parallel cranks of length one, two apart."""
    ends = [sm.Matrix([x + s * sm.cos(phi), y + s * sm.sin(phi)]) for s in (-1, 1)]
    pins = [sm.Matrix([sm.cos(q) + s, sm.sin(q)]) for q, s in ((a, -1), (b, 1))]
    rows = [row for end, pin in zip(ends, pins, strict=True) for row in end - pin]
    return system(rows, x, y, phi, a, b)


@cache
def pendulum() -> pfaff.System:
    return system([x**2 + y**2 - 1], x, y, potential=10 * y)


@cache
def ball() -> pfaff.System:
    e = coordinates("e0 e1 e2 e3")
    return system([sum(each**2 for each in e) - 1], *e)


def started(stated: pfaff.System, **given: float) -> Start:
    start = initial_state(stated.at(), given)
    assert not start.changes
    assert np.abs(Constraints(stated.at())(start.q, start.v)[0]).max() < 1e-14
    return start


def squared_distance(stated: pfaff.System, given: dict[str, float]) -> float:
    """The least squared change that solves all rows, by MINPACK from hundreds of places."""
    names, constraints = stated.coordinate_names, Constraints(stated.at())
    q = np.array([given.get(name, 0.0) for name in names])
    free = [k for k, name in enumerate(names) if name not in given]
    assert len(free) == constraints.holonomic

    def rows(at: np.ndarray) -> np.ndarray:
        moved = q.copy()
        moved[free] = at
        return constraints(moved, 0 * q)[0]

    generator, found = np.random.default_rng(0), [np.inf]
    for _ in range(300):
        at, _, done, _ = fsolve(rows, generator.uniform(-3, 3, len(free)), full_output=True)
        if done == 1 and np.abs(rows(at)).max() < 1e-9:
            found.append(float(at @ at))
    return min(found)


@pytest.mark.parametrize(
    ("stated", "given"),
    [
        (slider_crank, {"x": 2.5}),
        (slider_crank, {"x": 1.2}),
        (slider_crank, {"a": 2.0}),
        (four_bar, {"a": 2.0}),
        (four_bar, {"a": np.pi / 2}),
        (four_bar, {"a": 3.0}),
        (four_bar, {"a": -5.2}),
        (four_bar, {"b": 0.5}),
        (four_bar, {"c": 1.5}),
    ],
)
def test_members_are_found_at_the_nearest_place(stated, given):
    start = started(stated(), **given)
    change = start.q - np.array([given.get(name, 0.0) for name in stated().coordinate_names])
    assert change @ change == pytest.approx(squared_distance(stated(), given), rel=1e-9)
    assert np.abs(list(start.filled.values())).max() < np.pi


def test_a_heavy_slider_turns_its_crank_no_farther_than_a_light_one():
    """Beside a mass of 100 an angle looked 25 rad long, and the crank was found at −24."""
    light, heavy = (started(slider_crank(mass), x=2.5).q for mass in (1.0, 100.0))
    assert heavy == pytest.approx(light, abs=1e-14)


def test_a_platform_on_two_cranks_is_carried_along_and_does_not_turn():
    assert started(platform(), a=0.5).filled == pytest.approx({"x": np.cos(0.5), "y": np.sin(0.5), "b": 0.5}, rel=1e-14)
    assert started(platform(), b=0.5).filled == pytest.approx({"x": np.cos(0.5), "y": np.sin(0.5), "a": 0.5}, rel=1e-14)
    assert set(started(platform(), a=np.pi / 2).filled) == {"y", "b"}


@pytest.mark.parametrize(
    ("stated", "given", "filled"),
    [
        (ball, {"e0": 0.5, "e1": 0.5}, {"e2": 0.5**0.5}),
        (ball, {"e1": 0.1}, {"e0": 0.99**0.5}),
        (ball, {}, {"e0": 1.0}),
        (pendulum, {}, {"y": -1.0}),
        (pendulum, {"x": 1e-8}, {"y": -1.0}),
        (four_bar, {}, {"b": np.arccos(0.65), "c": np.arccos(0.3125)}),
    ],
)
def test_no_more_coordinates_change_than_must(stated, given, filled):
    assert started(stated(), **given).filled == pytest.approx(filled, rel=1e-14)


def test_one_coordinate_changes_where_one_does():
    """Two would do, too, with less of a change."""
    stated = system([x + y + z - 3, sm.sin(x) - y], x, y, z)
    assert started(stated).filled == pytest.approx({"z": 3.0}, rel=1e-14)


@pytest.mark.parametrize(
    ("stated", "given"),
    [
        (pendulum, {"x": np.sin(0.3), "y": -np.cos(0.3)}),
        (pendulum, {"y": np.nextafter(-1, 0)}),
        (pendulum, {"y": np.nextafter(-1, -2)}),
        (pendulum, {"x": np.nextafter(1, 0)}),
        (ball, {"e0": np.cos(0.3), "e1": np.sin(0.3)}),
        (ball, {"e0": np.cos(0.3), "e1": 0.8 * np.sin(0.3), "e3": 0.6 * np.sin(0.3)}),
        (slider_crank, {"x": np.nextafter(3, 4)}),
    ],
)
def test_a_start_that_is_right_but_for_rounding_stays_to_the_last_bit(stated, given):
    start = started(stated(), **given)
    assert start.filled == {}
    assert start.q.tolist() == [given.get(name, 0.0) for name in stated().coordinate_names]


def test_what_rounding_moves_where_two_solutions_meet_stays():
    """Of the third bar, 1 long, one end is as far from the other as it can be: y2² is zero but for rounding."""
    filled = started(pfaff.atlas.double_four_bar(), x0=0.5).filled
    assert filled == pytest.approx({"y0": -(0.75**0.5), "x2": 1.0}, rel=1e-14)


def test_only_what_cannot_follow_yields():
    """Of two pendulums one is given too far out: it yields, and the other hangs as it does alone."""
    u, w = coordinates("u w")
    both = system([x**2 + y**2 - 1, u**2 + w**2 - 1], x, y, u, w, potential=10 * (y + w))
    start = initial_state(both.at(), {"x": 0.6, "u": 1.5}, project=True)
    assert start.q == pytest.approx([0.6, -0.8, 1.0, 0.0], abs=1e-8)
    assert set(start.changes) == {"u"}
    with pytest.raises(pfaff.errors.ConstraintError, match="row 2"):
        initial_state(both.at(), {"x": 0.6, "u": 1.5})


def test_all_that_is_filled_in_is_told():
    motion = four_bar().at().simulate(0.01, a=2.0)
    assert set(motion.changes) == {"b", "c"}
    for name, value in motion.changes.items():
        assert f"{name} = {value:g}" in repr(motion)


@cache
def in_units(statement: str, unit: sm.Rational) -> pfaff.System:
    """Statements in which a metre is so many units of length."""
    bars = coordinates("x1 x2 x3 x4 x5 x6"), coordinates("y1 y2 y3 y4 y5 y6")
    ends = list(zip(*bars, strict=True))
    joints = [(sm.S.Zero, sm.S.Zero), *ends]
    chain = [(p - r) ** 2 + (q - s) ** 2 - unit**2 for (p, q), (r, s) in zip(joints, ends, strict=False)]
    crank = [unit * (sm.sin(a) + 2 * sm.sin(b)), x - unit * (sm.cos(a) + 2 * sm.cos(b))]
    rows, moving = {
        "pendulum": ([x**2 + y**2 - 9 * unit**2], (x, y)),
        "sphere": ([x**2 + y**2 + z**2 - 25 * unit**2], (x, y, z)),
        "quartic": ([x**4 + y**4 - 100 * unit**4], (x, y)),
        "parabola": ([y - x**2 / unit], (x, y)),
        "chain": (chain, (*bars[0], *bars[1])),
    }.get(statement, (crank, (a, b, x)))
    sizes = {q: unit if q in (a, b) else 1 for q in moving}
    kinetic = sum((sizes[q] * q.diff(t)) ** 2 for q in moving) / 2
    return pfaff.System(moving, kinetic, sum(q for q in moving if q in (y, *bars[1])), holonomic_constraints=rows)


@pytest.mark.parametrize("unit", [1e-9, 1e-3, 1.0, 1e3, 1e9])
@pytest.mark.parametrize(
    ("statement", "given", "filled"),
    [
        ("pendulum", {"x": 1.0}, {"y": -(8**0.5)}),
        ("pendulum", {}, {"y": -3.0}),
        ("sphere", {"x": 3.0}, {"y": -4.0}),
        ("sphere", {}, {"y": -5.0}),
        ("quartic", {"x": 1.0}, {"y": -(99**0.25)}),
        ("parabola", {"y": 4.0}, {"x": 2.0}),
        ("chain", {"x1": 0.6}, {"y1": -0.8, "y3": -1.0, "y5": -1.0}),
        ("crank", {"x": 2.5}, None),
    ],
)
def test_starts_are_the_same_in_every_unit_of_length(statement, given, filled, unit):
    case = in_units(statement, sm.Rational(unit)).at()
    scale = {name: 1.0 if name in ("a", "b") else unit for name in case.system.coordinate_names}
    start = initial_state(case, {name: unit * value for name, value in given.items()})
    found = {name: value / scale[name] for name, value in start.filled.items()}
    expected = started(slider_crank(), **given).filled if filled is None else filled
    assert found == pytest.approx(expected, rel=1e-12)
    all_given = given | {name: 1.1 * value for name, value in expected.items()}
    projected = initial_state(case, {name: scale[name] * value for name, value in all_given.items()}, project=True)
    alike = initial_state(in_units(statement, sm.S.One).at(), all_given, project=True)
    sizes = np.array([scale[name] for name in case.system.coordinate_names])
    assert projected.q / sizes == pytest.approx(alike.q, rel=1e-10, abs=1e-12)
    assert set(projected.changes) == set(alike.changes) != set()


@cache
def ring(count: int, apart: sm.Expr) -> pfaff.System:
    """Bars of length one in a row between two pins."""
    angles = coordinates(" ".join(f"a{k}" for k in range(count)))
    rows = [sum(sm.sin(each) for each in angles), sum(sm.cos(each) for each in angles) - apart]
    return system(rows, *angles)


@pytest.mark.parametrize("count", [5, 8, 9, 10, 12, 13, 14, 15, 24])
def test_as_many_bars_turn_as_must_where_two_do_not_suffice(count):
    """Each that turns shortens the row by two at most; they were found at 10¹² rad, or not at all."""
    start = started(ring(count, sm.Rational(count, 2)), a0=0.3)
    assert len(start.filled) == max(2, np.ceil((np.cos(0.3) + count - 1 - count / 2) / 2))
    assert np.abs(start.q).max() < 4


@pytest.mark.parametrize("count", [4, 10, 13])
@pytest.mark.parametrize("project", [False, True])
def test_pins_too_far_apart_are_told(count, project):
    with pytest.raises(pfaff.errors.ConstraintError, match="violate"):
        initial_state(ring(count, sm.Integer(count + 2)).at(), {"a0": 0.3}, project=project)
