"""Where a branch of equilibria or steady motions starts: at rest, from values by name, or from another branch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from pfaff import doors
from pfaff.algebra.bordering import FARTHEST, WIDEST, bordered_newton
from pfaff.algebra.structural_zeros import zero_chain
from pfaff.algebra.tolerances import EXACT, NEIGHBOUR, NEWTON_STEPS, RANK, SETTLED
from pfaff.bifurcation.equilibria.linearised import jacobian_of, linear_about, linearised
from pfaff.bifurcation.equilibria.rest_equations import RestEquations, equations_about, value_of
from pfaff.errors import ConvergenceError, ParameterError
from pfaff.flow.flow import Flow
from pfaff.flow.slice import state_on
from pfaff.kernels.first_rests import rested
from pfaff.rest.field import regular_flow
from pfaff.statement.values import by_name, number_from

if TYPE_CHECKING:
    from pfaff.case import Bound


def start_equations(
    case: Bound, name: str, to: float, start: Any, fixed: Mapping[str, float]
) -> tuple[RestEquations, np.ndarray]:
    """The problem at the equilibrium of a case, or at a start that was given, on the way to a value of a parameter."""
    at = _point_start(case, start, name) if hasattr(start, "equations") else case.start_of(start, fixed, name)
    flow, x, held = at.flow, at.x, at.held
    if name in flow.dropped:
        raise ParameterError(f"{name} is ignorable: equilibria along it are all alike; vary a parameter")
    if name not in (*flow.states, *case.system.parameter_names):
        raise ParameterError(f"{name} is no state of this branch, {', '.join(flow.states)}: start from a value of it")
    span = abs(to - value_of(case, flow, x, name)) or 1.0
    known = linear_about(case, flow, name, x)
    zeros = () if known[2].regular else _persistent(case, at, known[0], name, span)
    return equations_about(case, flow, (name,), x, (span,), held, zeros, known)


@dataclass(frozen=True)
class Start:
    """Where a branch starts: ``held`` names family coordinates, ``most`` is the greatest number of structural zeros."""

    flow: Flow
    x: np.ndarray
    held: list[str]
    most: int


def _point_start(case: Any, point: Any, name: str) -> Start:
    """The start at a point of another branch, in its chart."""
    s = point.equations
    held = [s.flow.states.index(name) for name in s.held_states]
    x, settled = _rest_near(case, s.flow, point.x, name, held)
    return Start(s.flow, _reached(case, x, settled), s.held_states, sum(s.zeros))


def plain_start(case: Any, start: Any, fixed: Mapping[str, float], name: str) -> Start:
    flow = case.system.flow
    if isinstance(start, doors.states.SteadyState):
        return Start(flow, start.x, list(fixed), len(start.x))
    given = {**fixed, **_by_name(start)}
    x, settled = _rest_near(case, flow, doors.states.start_state(case, given), name)
    return Start(flow, _reached(case, x, settled), [], len(x))


def _rest_near(case: Any, flow: Flow, x: np.ndarray, name: str, held: Sequence[int] = ()) -> tuple[np.ndarray, bool]:
    """The equilibrium that Newton's method reaches, and whether it settles: by a kernel where no Jacobian is singular.

    The parameter that will vary is named, since the same tape serves its branch."""
    names = (name,) if name in case.system.parameter_names else ()
    reader, found = linearised(flow, names).reader, x.copy()
    how = NEWTON_STEPS, SETTLED, EXACT, FARTHEST, WIDEST, RANK
    if reader is not None and rested(reader, case.numbers, len(names), found, *how):
        return found, True
    return bordered_newton(lambda x: flow.rhs(x, case.numbers), lambda x: jacobian_of(flow, x, case.numbers), x, held)


def mechanical_start(case: Any, start: Any, fixed: Mapping[str, float], name: str) -> Start:
    """The start at rest: the shape flow in a chart that is regular there; with values of speeds, a steady motion."""
    if isinstance(start, doors.steady_motions.SteadyMotion):
        return _steady_start(case, start, fixed)
    given = {} if isinstance(start, doors.mechanical.Equilibrium) else _by_name(start)
    if any(name not in case.system.coordinate_names for name in given):
        return _steady_start(case, given, fixed)
    at = start if isinstance(start, doors.mechanical.Equilibrium) else _rest(case, given, fixed)
    if not case.system.autonomous:
        doors.mechanical.check_unforced(case, doors.balance.Balance(case, fixed), np.concatenate([at.q, at.p]), name)
    lin = doors.small_motions.linearise(case.system, at.q, at.p, case.numbers)
    frequency = float(np.abs(lin.eigenvalues()).max(initial=0.0)) or 1.0
    flow = regular_flow(case.system, lin, frequency)
    x = state_on(flow, at.q, case.numbers)
    zeros = len(x) - len(case.system.statement.positions) - len(lin.spectrum().values)
    return Start(flow, x, [name for name in (*fixed, *at.fixed) if name in flow.states], zeros)


def _rest(case: Any, given: Mapping[str, float], fixed: Mapping[str, float]) -> Any:
    if not given:
        return case.equilibrium(fixed=fixed)
    balance = doors.balance.Balance(case, fixed)
    z = balance.start()
    for name, value in given.items():
        z[balance.names.index(name)] = value
    return doors.mechanical.equilibrium_near(case, fixed, z)


def _steady_start(case: Any, start: Any, fixed: Mapping[str, float]) -> Start:
    motion = (
        start
        if isinstance(start, doors.steady_motions.SteadyMotion)
        else doors.steady_motions.steady_motion(case, start, fixed)
    )
    kept = len(motion.flow.frame.kept) if motion.flow.frame else 0  # states that may have any value
    return Start(motion.flow, motion.x, [*fixed, *motion.family], sum(motion.zeros) + kept)


def _reached(case: Any, x: np.ndarray, settled: bool) -> np.ndarray:
    if not settled:
        raise ConvergenceError(
            f"no equilibrium of {case.system.name} was reached from this start: give values of the states by name, "
            "nearer to one"
        )
    return x


def _by_name(start: Any) -> dict[str, float]:
    given = by_name("start", start, "{'theta1': 0.1}, or give an equilibrium of this case")
    return {name: number_from(name, value) for name, value in given.items()}


def _persistent(case: Bound, at: Start, J: np.ndarray, name: str, span: float) -> tuple[int, ...]:
    """Zeros that a neighbouring equilibrium has too: those of a family, not of a bifurcation."""
    flow, x = at.flow, at.x
    here = zero_chain(J, at.most)
    if not here or name not in case.system.parameter_names:
        return here
    numbers = case.numbers_at(name, value_of(case, flow, x, name) + NEIGHBOUR * span)
    held = [flow.states.index(each) for each in at.held]
    y, settled = bordered_newton(lambda x: flow.rhs(x, numbers), lambda x: jacobian_of(flow, x, numbers), x, held)
    there = zero_chain(jacobian_of(flow, y, numbers), at.most) if settled else ()
    return tuple(min(a, b) for a, b in zip(here, there, strict=False))
