"""Integration in time by Taylor's method, with the energies dissipated and supplied as two more states.

The equations of motion are those of the multiplier form, in all coordinates and velocities: regular wherever the
constraints are independent. The energy is Jacobi's, v·∂T/∂v − T + V; its rate is −v·∂D/∂v + Q·v + p·b + ∂(V − T)/∂t.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import heyoka as hy
import numpy as np

from pfaff.compiled import Compiled
from pfaff.errors import ParameterError
from pfaff.lowering import Expression, Graph, dot, gradient, graph_of
from pfaff.motion.result import Energy, Motion
from pfaff.motion.start import initial_state
from pfaff.system import System

if TYPE_CHECKING:
    from pfaff.case import Case

DECAY = 5.0  # steps in which an error of the constraints decays to a third
DISSIPATED, SUPPLIED = "energy dissipated", "energy supplied"
OUTCOMES = {
    "time_limit": "finished",
    "step_limit": "stopped: the number of steps reached its limit, the step size has collapsed",
    "err_nf_state": "stopped: the state is no longer finite",
    "cb_stop": "interrupted",
}


def simulate(
    case: Case,
    duration: float,
    initial: Mapping[str, float],
    *,
    samples: int = 1001,
    tolerance: float = 1e-15,
    project: bool = False,
    max_steps: int = 1_000_000,
) -> Motion:
    """Integrate from time zero over the duration (backwards if it is negative) and sample the motion evenly."""
    if not (np.isfinite(duration) and duration != 0):
        raise ParameterError(f"duration={duration}: give a finite time other than zero")
    if samples < 2:
        raise ParameterError(f"samples={samples}: a motion needs at least two")
    if not 0 < tolerance < 1:
        raise ParameterError(f"tolerance={tolerance}: give a number between 0 and 1")
    start = initial_state(case, initial, project)
    integrator = _integrator(case.system, _zeros(case), float(tolerance))
    state = np.concatenate([start.q, start.v, [0.0, 0.0]])
    _prepare(integrator, case, state, duration)
    keep_going = _Interruptible()
    outcome, _, _, steps, dense, _ = integrator.propagate_until(
        float(duration), max_steps=max_steps, c_output=True, callback=keep_going
    )
    return _motion(case, start.changes, dense, float(duration), samples, outcome.name, steps)


def _zeros(case: Case) -> frozenset[str]:
    """Parameters that vanish: the integrator is compiled without their terms."""
    numbers = zip(case.system.parameter_names, case.numbers, strict=True)
    return frozenset(name for name, number in numbers if number == 0)


def _prepare(integrator: Any, case: Case, state: np.ndarray, duration: float) -> None:
    """Set state and parameters; one trial step tells the time scale on which constraint errors shall decay."""
    pars = np.append(case.numbers, 0.0)[: len(integrator.pars)]
    integrator.time, integrator.state[:], integrator.pars[:] = 0.0, state, pars
    if len(pars) > len(case.numbers):
        integrator.step(max_delta_t=duration)
        natural = abs(integrator.last_h) or abs(duration)
        integrator.time, integrator.state[:] = 0.0, state
        integrator.pars[-1] = np.copysign(1.0 / (DECAY * natural), duration)


class _Interruptible:
    """A callback after every step that does nothing, so that Ctrl-C is heard between steps."""

    def __call__(self, integrator: Any) -> bool:
        return True


def _motion(
    case: Case, changes: dict[str, float], dense: Any, duration: float, samples: int, outcome: str, steps: int
) -> Motion:
    if dense is None:
        raise ParameterError(f"{case.system.name} could not take a single step: {OUTCOMES[outcome]}")
    reached = float(dense.bounds[1])
    t = np.linspace(0.0, reached if outcome != "time_limit" else duration, samples)
    states = dense(t).T
    n = len(case.system.coordinates)
    y = np.ascontiguousarray(states[: 2 * n])
    numbers = case.numbers
    measures = _measures(case.system)(y, numbers, t)
    kinetic, potential, total = measures[:3]
    energy = Energy(kinetic, potential, total, states[2 * n], states[2 * n + 1])
    reactions = case.system.flow.reactions(y, numbers, t)
    return Motion(
        t=t,
        y=y,
        p=reactions,
        energy=energy,
        residual=measures[3:],
        names=tuple(case.system.coordinate_names),
        reaction_names=case.system.reaction_names if case.system.statement.constraints else (),
        status=OUTCOMES.get(outcome, outcome),
        method=f"Taylor's method of heyoka, {steps} steps",
        changes=changes,
        system=case.system.name,
        values={name: str(value) for name, value in case.values.items()},
        case=case,
        dense=lambda times: dense(times).T[: 2 * n],
    )


@lru_cache(maxsize=16)
def _integrator(system: System, zeros: frozenset[str], tolerance: float) -> Any:
    graph = graph_of(system, zeros)
    stabilisation = hy.par[len(system.parameters)]  # one more parameter, after the system's own
    accelerations, reactions = graph.solve(stabilisation if graph.A else None)
    supplied, dissipated = _powers(graph, reactions)
    equations = [
        *zip(graph.q, graph.v, strict=True),
        *zip(graph.v, accelerations, strict=True),
        (hy.expression(DISSIPATED), dissipated),
        (hy.expression(SUPPLIED), supplied),
    ]
    state = np.zeros(len(equations))
    # Unrolled code runs twice as fast but compiles ten times as long, for seconds.
    return hy.taylor_adaptive(equations, state, tol=tolerance, compact_mode=True)


def _powers(graph: Graph, reactions: list[Expression]) -> tuple[Expression, Expression]:
    """What is supplied and what is dissipated, per unit of time."""
    s = graph.system.statement
    still = hy.subs(graph.constraints, {v: hy.expression(0.0) for v in graph.v}) if graph.constraints else []
    explicit = graph.lower(s.potential.diff(s.time) - s.kinetic.diff(s.time))
    supplied = hy.sum([dot(graph.forces, graph.v), dot(reactions, still), explicit])
    return supplied, dot(gradient(graph.dissipation, graph.v), graph.v)


@lru_cache(maxsize=32)
def _measures(system: System) -> Compiled:
    """T, V and Jacobi's energy, then the residual of every constraint: positions first, then velocities."""
    graph = graph_of(system)
    total = hy.sum([dot(gradient(graph.kinetic, graph.v), graph.v), -graph.kinetic, graph.potential])
    rows = [graph.kinetic, graph.potential, total, *graph.positions, *graph.constraints]
    return Compiled(rows, [*graph.q, *graph.v], quick=True)
