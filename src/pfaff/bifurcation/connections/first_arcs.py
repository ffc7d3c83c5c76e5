"""Where connecting orbits start from: samples of a motion near one, and cycles of long period."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from pfaff.algebra.bordering import bordered_newton
from pfaff.algebra.gauss import gauss
from pfaff.algebra.tolerances import SAME
from pfaff.bifurcation.connections.arc_equations import ArcEquations
from pfaff.bifurcation.connections.arcs import Arc, from_samples
from pfaff.bifurcation.connections.connections import Connection
from pfaff.bifurcation.connections.joining import INTERVALS, Joining
from pfaff.bifurcation.connections.joins import Join
from pfaff.bifurcation.connections.tails import lengthened
from pfaff.bifurcation.orbits.cycles import Mesh
from pfaff.bifurcation.orbits.from_motions import states_along
from pfaff.bifurcation.orbits.orbit_problem import DEGREE
from pfaff.bifurcation.orbits.orbit_switching import accurate, value_of
from pfaff.bifurcation.orbits.saddle_nodes import saddle_node_near
from pfaff.continuation.endings import Refused
from pfaff.errors import ConvergenceError, NoBifurcationError, ParameterError
from pfaff.flow.flow import Flow
from pfaff.flow.relative import without_symmetries
from pfaff.kernels.metrics import TURN

if TYPE_CHECKING:
    from pfaff.bifurcation.orbits.orbits import OrbitPoint
    from pfaff.case import Bound

NEARBY = 0.25  # distance of an end from its equilibrium, relative to the orbit, that is near
ALIKE = 1e-3  # difference of the parts of an orbit, relative to it, below which they are not distinguished
SLOW = 0.5  # part of an orbit, relative to its size, covered in its period at a speed that is nearly zero
FAST, SLOWED = 0.3, 0.1  # shares of the greatest speed that are fast, and slow
FEWEST = 8  # fewest samples of a motion between its equilibria
FIRST = 0.02  # distance from its equilibria, relative to the orbit, at which the ends of a guess are cut off
FARTHER = 3.0  # the same in multiples of the least distance, if that is larger


def equilibrium_near(equations: ArcEquations, value: float, x: np.ndarray, size: np.ndarray) -> np.ndarray:
    """The equilibrium that Newton's method reaches from a state."""
    flow, (load,), numbers = equations.flow, equations.parameters, equations.numbers(np.array([value]))
    found, settled = bordered_newton(lambda y: flow.rhs(y, numbers), lambda y: flow.jacobian(y, numbers), x)
    if not settled or not np.abs((found - x) / size).max() < NEARBY:
        where = ", ".join(f"{name} = {value:.4g}" for name, value in zip(flow.states, x, strict=True))
        node = saddle_node_near(flow, load, numbers, x, size, 1 + abs(value))
        if node is not None:
            raise NoBifurcationError(
                f"the orbit slows down near {where} since two equilibria appear there at {load} = {node.value:.8g}: a "
                "saddle-node on the orbit, not a homoclinic orbit of a saddle. Follow the fold: "
                f"branch({load!r}, …).of_kind('fold')[0].curve(…)"
            )
        raise ConvergenceError(
            f"no equilibrium is near {where}, an end of the guess: give a motion that nearly comes to rest at both ends"
        )
    return found


def connection_near(
    case: Bound, flow: Flow, load: str, value: float, t: np.ndarray, x: np.ndarray, accuracy: float
) -> Connection:
    """The connecting orbit near samples x, a row for each time t, that begin and end near equilibria."""
    equations = ArcEquations(case, flow, (load,), gauss(DEGREE))
    try:
        _, join = settled(equations, accuracy, _first(equations, value, t, x))
    except (Refused, np.linalg.LinAlgError) as why:
        raise ConvergenceError(f"no connecting orbit was found near {load} = {value:.8g}: {why}") from why
    return Connection(equations, join, accuracy)


def settled(equations: ArcEquations, accuracy: float, arc: Arc) -> tuple[Joining, Join]:
    """The connecting orbit near a guess, with the ends and the mesh that its accuracy needs."""
    problem = Joining.about(equations, accuracy, np.array([equations.natural(arc)]), arc)
    arc = lengthened(equations, arc, problem.units, problem.near)
    at = problem.joined(problem.solved(arc, arc, None), None)
    problem = problem.at(at)
    return problem, problem.refined(at)


def _first(equations: ArcEquations, value: float, t: np.ndarray, x: np.ndarray) -> Arc:
    """A guess between its equilibria."""
    size = np.ptp(x, axis=0)
    size = np.where(size > 0, size, size.max())
    rests = [equilibrium_near(equations, value, end, size) for end in (x[0], x[-1])]
    keep = np.ones(len(t), dtype=bool)
    for rest, order in ((rests[0], slice(None)), (rests[1], slice(None, None, -1))):
        apart = np.linalg.norm((x - rest) / size, axis=1)[order]
        beyond = int(np.argmax(apart > max(FIRST, FARTHER * apart[0])))
        keep[order][: max(beyond - 1, 0)] = False
    if np.abs((rests[0] - rests[1]) / size).max() < SAME:
        rests = rests[:1]
    t, x = t[keep], x[keep]
    even = Mesh(np.linspace(0, 1, INTERVALS + 1))
    return from_samples(t, x, np.array(rests), np.array([value]), even, equations.gauss)


def from_cycle(point: OrbitPoint, accuracy: float) -> tuple[Connection, ...]:
    """The connecting orbits near a cycle of long period, one for each time that it nearly comes to rest."""
    problem = point.problem
    if len(problem.held):
        raise NoBifurcationError(
            "these orbits are a family along which something is conserved, and connecting orbits with them: they are "
            "there at every value of the parameters"
        )
    if problem.flow.carried:
        raise NoBifurcationError("a forced system has no equilibria, which homoclinic orbits leave and come to")
    t, x = point.orbit.t, point.orbit.x.T
    speeds = np.abs(problem.flow.rhs(point.orbit.x, point.orbit.numbers).T / np.ptp(x, axis=0)).max(axis=1)
    lows = _slowest(t[:-1], speeds[:-1] * point.period)
    if not lows:
        raise ConvergenceError(
            f"the orbit at {point.load} = {point.value:.8g} comes nowhere near to rest: follow the branch to orbits of "
            "longer period"
        )
    turns = TURN * np.round((x[-1] - x[0]) / TURN)  # of a rotation
    t, x = np.append(t[:-1], t + point.period), np.vstack([x[:-1], x + turns])
    found = []
    for first, last in pairwise([*lows, lows[0] + len(speeds) - 1]):
        part = slice(first, last + 1)
        found.append(connection_near(point.case, problem.flow, point.load, point.value, t[part], x[part], accuracy))
    first = _foremost([each.join.arc for each in found])
    return tuple(found[first:] + found[:first])


def _foremost(arcs: Sequence[Arc]) -> int:
    """The index of the part of a cycle that leaves the equilibrium with the least states, compared one by one, or which
    itself extends least far: where a cycle begins in time depends on rounding."""
    marks = np.array([np.concatenate([arc.rests[0], arc.x.max(axis=0), arc.x.min(axis=0)]) for arc in arcs])
    apart = ALIKE * np.tile(np.max([arc.size for arc in arcs], axis=0), 3)
    least = np.arange(len(arcs))
    for mark, near in zip(marks.T, apart, strict=True):
        least = least[mark[least] <= mark[least].min() + near]
    return int(least[0])


def _slowest(t: np.ndarray, speeds: np.ndarray) -> list[int]:
    """Indices where an orbit nearly comes to rest: its slowest places, separated by motions that are not slow."""
    slow = speeds < SLOW
    if not slow.any() or slow.all():
        return []
    start = int(np.argmin(slow))  # from here on runs do not wrap around
    order = np.roll(np.arange(len(t)), -start)
    edges = np.flatnonzero(np.diff(np.concatenate([[0], slow[order].astype(int), [0]])))
    runs = [order[a:b] for a, b in zip(edges[::2], edges[1::2], strict=True)]
    return sorted(int(run[speeds[run].argmin()]) for run in runs)


def homoclinic_of(point: OrbitPoint, accuracy: float) -> Connection:
    """The homoclinic orbit near a cycle."""
    found = from_cycle(point, accuracy)
    if not found[0].homoclinic:
        raise NoBifurcationError(
            f"the orbit is near a heteroclinic cycle of {len(found)} parts: connections() gives each of them"
        )
    return found[0]


def connection_from_motion(case: Bound, motion: Any, load: str, accuracy: float) -> Connection:
    """The connecting orbit near a motion: anything with times ``t`` and states by name."""
    if not case.system.autonomous:  # type: ignore[attr-defined]
        raise NoBifurcationError("a forced system has no equilibria, which connecting orbits leave and come to")
    flow = without_symmetries(case)
    t, x = states_along(motion, flow, case)
    value, x = value_of(case, load), x.T
    within = _between_rests(flow.rhs(x.T.copy(), case.numbers).T, x)
    return connection_near(case, flow, load, value, t[within], x[within], accurate(accuracy))


def _between_rests(rates: np.ndarray, x: np.ndarray) -> slice:
    """From the slowest state before a motion is fast to the slowest where it is slow again; the motion may go on from
    there."""
    size = np.ptp(x, axis=0)
    speeds = np.abs(rates / np.where(size > 0, size, size.max() or 1.0)).max(axis=1)
    fast = int(np.argmax(speeds > FAST * speeds.max()))
    slow = np.flatnonzero(speeds[fast:] < SLOWED * speeds.max()) + fast
    first, last = int(speeds[: fast + 1].argmin()), fast + int(speeds[fast:].argmin())
    if len(slow):
        rest = slow[: int(np.argmax(np.diff(slow, append=len(x) + 2) > 1)) + 1]  # the first run of them
        last = int(rest[speeds[rest].argmin()])
    if last - first < FEWEST:
        raise ParameterError(
            "the motion leads from no rest to another: give one that leaves an equilibrium and nearly comes to one"
        )
    return slice(first, last + 1)
