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
