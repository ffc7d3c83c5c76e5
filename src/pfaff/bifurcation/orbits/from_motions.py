"""Orbits from motions, from any source, that have nearly settled on them."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np

from pfaff.bifurcation.orbits.conserved import in_family, orbit_or_member
from pfaff.bifurcation.orbits.cycles import Cycle, Mesh
from pfaff.bifurcation.orbits.following import LEFT
from pfaff.bifurcation.orbits.forced import own_states
from pfaff.bifurcation.orbits.orbit_problem import INTERVALS, OrbitProblem
from pfaff.bifurcation.orbits.orbit_switching import accurate, orbit_at, value_of
from pfaff.bifurcation.orbits.orbits import OrbitPoint
from pfaff.bifurcation.orbits.passage import Passage, leads_out
from pfaff.bifurcation.orbits.recurrence import (
    RETURN,
    TORUS,
    Loop,
    extent,
    one_of_many,
    returns,
    rotation,
    solved,
    verdict,
)
from pfaff.errors import ConvergenceError, ParameterError
from pfaff.flow.flow import Flow
from pfaff.flow.forcing import forced_flow, forcing_of
from pfaff.flow.moving_frames import undivided
from pfaff.flow.relative import without_symmetries
from pfaff.flow.shape import ignorable_coordinates
from pfaff.flow.slice import state_on
from pfaff.flow.uniform_motion import moving_along
from pfaff.kernels.metrics import TURN
from pfaff.statement.system import System
from pfaff.statement.values import SQUARABLE, numbers_from, shown

if TYPE_CHECKING:
    from pfaff.case import Bound
    from pfaff.flow.symmetries import Generator

ODD = 1e-6  # x(t + T/2) + x(t) below this, relative to the orbit, vanishes
ROUGH = 0.3  # distance of the ends of a loop that is given as a guess, relative to its size
LOOPS = 64  # most loops of the same orbit that are distinguished
FEWEST_SAMPLES = 8  # fewest samples of a motion
LONGER = (1.5, 6.0)  # duration of the integrated motion, relative to the period that its samples suggest
UNCLOSED = TORUS, ""  # verdicts on motions that may close but for a rotation
FINE = 10  # intervals for such a motion, relative to the usual number


def orbit_near(case: Bound, motion: Any, load: str, accuracy: float = 1e-11, guess: bool = False) -> OrbitPoint:
    """The periodic orbit near the end of a motion: anything with times ``t`` and states by name.

    A ``guess`` of the orbit itself may be rough, and the orbit unstable.
    """
    free = case.system.autonomous  # type: ignore[attr-defined]
    flow: Flow = without_symmetries(case) if free else forced_flow(case)
    accuracy = accurate(accuracy)
    t, x = states_along(motion, flow, case)
    n, value = len(flow.states), value_of(case, load)
    problem = OrbitProblem(case, flow, load, accuracy, np.zeros((n, 0)), np.zeros((0, n)))
    loop = rotation(problem, t, x, value) or _recurrence(t, x, ROUGH if guess else RETURN)
    rough = _guess(problem, t, x, loop, value)
    if leads_out(flow) and problem.collocation.equations.rates_on_chart(rough.x.T.copy(), value)[1] < LEFT:
        with suppress(ParameterError):  # a guess that is no motion may lack velocities
            passage = Passage(problem, rough)
            t, x = states_along(motion, passage.flow, case)
            problem = passage.problem
    turned = undivided(case.system, flow.slice, case.numbers) if isinstance(case.system, System) else ()
    found = _settled(problem, t, x, loop, value, guess, _unmeasured(case, turned))
    if turned:
        found = in_family(found, 1 + abs(value))  # a symmetry may turn it into others
    problem = found.problem  # that of its family, if it is a member of one
    while (loops := _loops(problem, found.point.cycle)) > 1:  # fewer each time
        found = orbit_at(problem, _part(problem, found.point.cycle, loops), value)
    cycle = found.point.cycle
    symmetric = problem.odd(np.abs(cycle.x).max(axis=0)) and _mirrored(problem, cycle)
    return orbit_at(problem, _part(problem, cycle, 2, problem.signs), value) if symmetric else found


def _unmeasured(case: Bound, turned: Sequence[Generator]) -> str:
    """What symmetries that no coordinate measures may have to do with a motion that does not close, in words."""
    if not turned:
        return ""
    names = case.system.coordinate_names  # type: ignore[attr-defined]
    moved = ", ".join(name for k, name in enumerate(names) if any(g.B[k].any() or g.c[k] for g in turned))
    return (
        f". It may be periodic but for a rotation of {moved}, which changes nothing and which no coordinate measures: "
        "state it with that angle as a coordinate"
    )


def _settled(
    problem: OrbitProblem, t: np.ndarray, x: np.ndarray, loop: Loop, value: float, given: bool, turned: str
) -> OrbitPoint:
    """The orbit near a loop of a motion: by its samples or, if they are too coarse, by the motion between them.

    A loop that is ``given`` need not be a motion: the orbit near it is returned whatever surrounds it. If symmetries
    may have ``turned`` it, which is said in words, it may be one of a family.
    """
    guess = _guess(problem, t, x, loop, value)
    try:
        found = (orbit_or_member if loop.turns or turned else orbit_at)(problem, guess, value)
    except ConvergenceError as why:
        finer = None if given or one_of_many(problem, guess) else _integrated(problem, t, x, loop, value)
        if finer is not None:
            with suppress(ConvergenceError):
                return orbit_at(problem, finer, value)
        if given or loop.turns:  # a loop that is no motion says nothing about one
            raise
        told = verdict(problem, finer or guess, t, x)
        raise ConvergenceError(f"{told.text or why}{turned if told.kind in UNCLOSED else ''}") from why
    leaves = (np.abs(found.multipliers[found.multipliers.imag > 0]) > 1).any()
    if leaves and not given and not loop.turns:  # a motion near it may stay on a torus
        told = verdict(problem, guess, t, x)
        if told.kind == TORUS:
            raise ConvergenceError(f"{told.text}{turned}")
    return found


def states_along(motion: Any, flow: Flow, case: Bound) -> tuple[np.ndarray, np.ndarray]:
    """Times of a motion, and the states of a flow along it; it begins at time zero of a forcing."""
    t, x = _on_slice(motion, flow, case) or _as_given(motion, flow, case)
    if not flow.carried:
        return t, x
    angle = forcing_of(flow.system).value(case) * t
    return t, np.vstack([x, np.cos(angle), np.sin(angle)])


def _as_given(motion: Any, flow: Flow, case: Bound) -> tuple[np.ndarray, np.ndarray]:
    t, x = sampled(motion, own_states(flow))
    return t, moving_along(case, own_states(flow), t, x)


def _on_slice(motion: Any, flow: Flow, case: Bound) -> tuple[np.ndarray, np.ndarray] | None:
    """The motion as symmetries carry it to the states of a flow; None for one that is given by these."""
    if flow.slice is None:
        return None
    system = flow.slice.system
    names, every, anywhere = system.coordinate_names, system.state_names, ignorable_coordinates(system)
    try:
        t, known = sampled(motion, tuple(name for name in every if name not in anywhere))
    except ParameterError:
        return None
    y = np.zeros((len(every), len(t)))
    y[[name not in anywhere for name in every]] = known
    y = moving_along(case, every, t, y)
    return t, state_on(flow, y[: len(names)], case.numbers, y[len(names) :])[: len(own_states(flow))]


def sampled(motion: Any, states: tuple[str, ...]) -> tuple[np.ndarray, np.ndarray]:
    """Times and states (a row each) of a motion, checked."""
    if not hasattr(motion, "t") or not hasattr(motion, "__getitem__"):
        raise ParameterError(
            f"{shown(motion)} is no motion: give case.simulate(…), or anything with times t and states by name"
        )
    t, rows = _row("t", motion.t), {}
    for name in states:
        try:
            row = motion[name]
        except (KeyError, TypeError, IndexError, ParameterError) as why:
            raise ParameterError(f"the motion has no state {name}: give all of {', '.join(states)}") from why
        rows[name] = _row(name, row)
    if len(t) < FEWEST_SAMPLES or not (np.diff(t) > 0).all():
        raise ParameterError(f"t of the motion: give at least {FEWEST_SAMPLES} times that increase")
    for name, row in rows.items():
        if len(row) != len(t):
            raise ParameterError(f"{name} of the motion has {len(row)} values, t has {len(t)}: give one for each time")
    x = np.array(list(rows.values()))
    size = float(np.abs(x).max())
    if size and not 1 / SQUARABLE < size < SQUARABLE:
        raise ParameterError(
            f"the states of the motion are {size:.3g} in size, which has no finite square or inverse: use other units"
        )
    return t, x


def _row(name: str, values: Any) -> np.ndarray:
    row = numbers_from(f"{name} of the motion", values)
    if row.ndim != 1 or not np.isfinite(row).all():
        raise ParameterError(f"{name} of the motion is not a row of finite numbers: leave out what is not")
    return row


def _loops(problem: OrbitProblem, cycle: Cycle) -> int:
    """How many times a closed curve runs through the same loop."""
    c = problem.collocation
    K, s = c.slopes(cycle), np.linspace(0.0, 1.0, 64, endpoint=False)
    here = c.interpolate(cycle, K, s)
    size = np.ptp(here, axis=0).max()

    def repeats(times: int) -> bool:
        later, whole = s + 1 / times, not (np.round(cycle.turns / TURN) % times).any()
        ahead = c.interpolate(cycle, K, later % 1.0) + np.outer(np.floor(later) - 1 / times, cycle.turns)
        return whole and bool(np.abs(ahead - here).max() <= ODD * size)

    return max((times for times in range(2, LOOPS + 1) if repeats(times)), default=1)


def _recurrence(t: np.ndarray, x: np.ndarray, near: float) -> Loop:
    """The last loop: from the latest time at which the motion was about as near as ever to its end, and near enough."""
    if not np.ptp(x[:, t >= (t[0] + t[-1]) / 2], axis=1).any():
        raise ParameterError("the motion is at rest: there is no orbit at its end")
    back = returns(t, x)
    # A single loop comes back at its beginning, before which there is no sample.
    whole = float(np.sqrt((((x[:, 0] - x[:, -1]) / extent(t, x)) ** 2).mean()))
    times, distances = np.append(t[0], back.times), np.append(whole, back.distances)
    if not (distances < near).any():
        raise ConvergenceError("the motion does not come back to its end: simulate longer, until it is nearly periodic")
    best = int(np.flatnonzero(distances <= np.maximum(3 * distances.min(), near / 50))[-1])
    return Loop(float(times[best]), float(t[-1] - times[best]), {})


def _guess(problem: OrbitProblem, t: np.ndarray, x: np.ndarray, loop: Loop, value: float) -> Cycle:
    """The last loop of a motion on a uniform mesh."""
    from scipy.interpolate import CubicSpline

    c, (start, period, _) = problem.collocation, loop
    mesh = Mesh(np.linspace(0.0, 1.0, 2 * INTERVALS + 1))
    spline = CubicSpline(t, x, axis=1)
    at = spline(start + period * mesh.at).T
    at[-1] = at[0] + loop.turned(problem.flow)
    slopes = period * spline(start + period * mesh.points(c.gauss.c), 1).T.take(c.equations.rows, axis=1)
    K = slopes.reshape(2 * INTERVALS, c.gauss.degree, -1)
    return Cycle(mesh, at, K, np.array([period, value]), np.ones(len(x)))


def _integrated(problem: OrbitProblem, t: np.ndarray, x: np.ndarray, loop: Loop, value: float) -> Cycle | None:
    """The loop from the sample before its start until it closes, integrated, on a mesh of equally many steps per
    interval."""
    c, size = problem.collocation, extent(t, x)
    first = int(np.clip(np.searchsorted(t, loop.start, side="right") - 1, 0, len(t) - 2))
    x0, turned = x[:, first], loop.turned(problem.flow)
    for times in LONGER:
        about = solved(problem, x0, times * loop.period, size, value)
        T = _return(about, x0 + turned, c.equations.rates(x0[None], value)[:, 0] / size**2, size, loop.period / 2)
        if T is not None:
            break
    else:
        return None
    steps = np.append(about.t[about.t < T], T) / T
    mesh = Mesh(np.interp(np.linspace(0, len(steps) - 1, FINE * INTERVALS + 1), np.arange(len(steps)), steps))
    at, inner = about.sol(T * mesh.at).T, about.sol(T * mesh.points(c.gauss.c)).T
    at[-1] = at[0] + turned
    K = T * c.equations.rates(inner, value).T.take(c.equations.rows, axis=1).reshape(len(mesh), c.gauss.degree, -1)
    return Cycle(mesh, at, K, np.array([T, value]), np.ones(len(x)))


def _return(about: Any, to: np.ndarray, across: np.ndarray, size: np.ndarray, after: float) -> float | None:
    """When a solution reaches a state, its beginning or that turned, through the plane across it; None if it does
    not."""
    away = about.y - to[:, None]
    ahead = across @ away
    k = np.flatnonzero((ahead[:-1] < 0) & (ahead[1:] >= 0) & (about.t[1:] > after))
    if not about.success or not len(k):
        return None
    times = about.t[k] - ahead[k] * np.diff(about.t)[k] / np.diff(ahead)[k]
    missed = np.abs((about.sol(times) - to[:, None]) / size[:, None]).max(axis=0)
    return float(times[missed.argmin()]) if missed.min() < RETURN else None


def _mirrored(problem: OrbitProblem, cycle: Cycle) -> bool:
    """Whether x(t + T/2) = −x(t), its mirror image."""
    c = problem.collocation
    K = c.slopes(cycle)
    s = np.linspace(0.0, 0.5, 64)
    first, second = c.interpolate(cycle, K, s), c.interpolate(cycle, K, s + 0.5)
    return bool(np.abs(second - problem.signs * first).max() <= ODD * np.abs(first).max())


def _part(problem: OrbitProblem, cycle: Cycle, parts: int, sign: float | np.ndarray = 1.0) -> Cycle:
    """The first of equal parts of an orbit that repeats itself (or its mirror image, by the signs of that)."""
    c = problem.collocation
    times = np.append(cycle.mesh.at[cycle.mesh.at < (1 - ODD) / parts], 1 / parts)
    part = c.carried(cycle, c.slopes(cycle), Mesh(times))
    scalars = cycle.scalars * np.array([1 / parts, *[1.0] * (len(cycle.scalars) - 1)])
    part.x[-1] = sign * part.x[0] + cycle.turns / parts
    return Cycle(Mesh(parts * times), part.x, part.K / parts, scalars, sign * cycle.signs)
