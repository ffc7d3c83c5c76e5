"""Where connecting orbits start from: samples of a motion near one, and cycles of long period."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pfaff.algebra.bordering import newton
from pfaff.algebra.gauss import gauss
from pfaff.bifurcation.connections.arc_equations import ArcEquations
from pfaff.bifurcation.connections.arcs import Arc, from_samples
from pfaff.bifurcation.connections.connections import Connection
from pfaff.bifurcation.connections.joining import INTERVALS, Join, Joining
from pfaff.bifurcation.orbits.cycles import Mesh
from pfaff.bifurcation.orbits.orbit_problem import DEGREE
from pfaff.continuation.endings import Refused
from pfaff.errors import ConvergenceError
from pfaff.flow.flow import Flow

if TYPE_CHECKING:
    from pfaff.case import Bound

AT_REST = 0.25  # distance of an end from its equilibrium, relative to the orbit, that is near
SAME = 1e-6  # distance of equilibria, relative to the orbit, that are one
FIRST, FARTHER = 0.02, 3.0  # the same, at which the ends of a guess are cut off, or so many times its least


def equilibrium_near(flow: Flow, x: np.ndarray, numbers: np.ndarray, size: np.ndarray) -> np.ndarray:
    """By Newton's method from a state."""
    found, settled = newton(lambda y: flow.rhs(y, numbers), lambda y: flow.jacobian(y, numbers), x)
    if not settled or not np.abs((found - x) / size).max() < AT_REST:
        where = ", ".join(f"{name} = {value:.4g}" for name, value in zip(flow.states, x, strict=True))
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
    """The connecting orbit near a guess, with ends and on a mesh that its accuracy needs."""
    spans = np.abs(arc.scalars) + (arc.scalars == 0)
    problem = Joining.about(equations, accuracy, spans, arc)
    arc = problem.lengthened(arc)
    at = problem.joined(problem.solved(arc, arc, None), None)
    problem = problem.at(at)
    return problem, problem.refined(at)


def _first(equations: ArcEquations, value: float, t: np.ndarray, x: np.ndarray) -> Arc:
    """A guess between its equilibria."""
    numbers, size = equations.numbers(np.array([value])), np.ptp(x, axis=0)
    size = np.where(size > 0, size, size.max())
    rests = [equilibrium_near(equations.flow, end, numbers, size) for end in (x[0], x[-1])]
    keep = np.ones(len(t), dtype=bool)
    for rest, order in ((rests[0], slice(None)), (rests[1], slice(None, None, -1))):
        apart = np.linalg.norm((x - rest) / size, axis=1)[order]
        beyond = int(np.argmax(apart > max(FIRST, FARTHER * apart[0])))
        keep[order][: max(beyond - 1, 0)] = False
    if np.abs((rests[0] - rests[1]) / size).max() < SAME:
        rests = rests[:1]
    t, x = t[keep], x[keep]
    return from_samples(t, x, np.array(rests), np.array([value]), Mesh(np.linspace(0, 1, INTERVALS + 1)), equations.gauss)
