"""The first response of a branch: settled on by a motion, or grown from rest; and where a branch may end."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from pfaff.bifurcation.orbits.conserved import orbit_or_member
from pfaff.bifurcation.orbits.forced import own_states
from pfaff.bifurcation.orbits.orbit_problem import OrbitProblem
from pfaff.bifurcation.orbits.orbit_switching import real
from pfaff.bifurcation.orbits.orbits import OrbitPoint
from pfaff.bifurcation.response.harmonics import REPEATING, Wave, cycle_of, grown, settled
from pfaff.continuation.course import Course
from pfaff.errors import ConvergenceError, ParameterError, number_of
from pfaff.flow.forcing import forcing_of
from pfaff.flow.in_quasi_velocities import quasi_values
from pfaff.flow.initial import initial_state

if TYPE_CHECKING:
    from pfaff.case import Bound

RESERVE = 100  # of the start, which part is suggested as an end in place of one that is none


def first_response(
    problem: OrbitProblem, value: float, to: float, start: Mapping[str, float]
) -> tuple[OrbitPoint, str]:
    """The first response: settled on from a start, or grown from rest as the forcing grows, and how it was found."""
    omega, why = forcing_of(problem.flow.system).value(problem.case), ""
    rest, completed = _started(problem, start)
    if not start:
        wave = grown(problem, value, omega, rest)
        if wave is not None:
            try:
                return _solved(problem, wave, value, to), f"grown from rest{completed} with its forcing"
            except ConvergenceError as problem_met:
                why = str(problem_met)
    wave, periods, change = settled(problem, value, omega, rest)
    how = f"settled on within {number_of(periods, 'period')} of the forcing{completed}"
    if change > REPEATING:
        how = f"near a motion that has not settled in {periods} periods of the forcing{completed}"
    try:
        return _solved(problem, wave, value, to), how
    except ConvergenceError as failed:
        raise ConvergenceError(
            f"no response of the forcing's period was found at {problem.load} = {value:.10g}: after {periods} periods "
            f"the motion still changes by {change:.1e} in one ({why or failed}); start elsewhere, with values of the "
            "states by name, begin where the response is simpler, or take a subharmonic one by case.orbit(motion)"
        ) from failed


def _started(problem: OrbitProblem, start: Mapping[str, float]) -> tuple[np.ndarray, str]:
    """The states at the start: as given, the others zero or as the constraints demand, coordinates of which are named
    in words."""
    case, own, completed = problem.case, own_states(problem.flow), ""
    for name in start:
        case.system.named(name, case.system.moving_names, f"{case.system.name} has no state")
    given = {name: real(name, each, "a finite number") for name, each in start.items()}
    if getattr(problem.flow, "settle", 0.0) or not set(own).issuperset(given):
        begun = initial_state(case, given)  # type: ignore[arg-type]
        y = np.concatenate([begun.q, begun.v])
        quasi = quasi_values(case.system, y, case.numbers)  # type: ignore[arg-type]
        given = dict(zip(case.system.state_names, y, strict=True)) | quasi
        placed = [
            f"{name} = {begun.filled[name]:.6g}"
            for name in case.system.state_names[: len(begun.q)]
            if name in begun.filled
        ]
        completed = f" (from {', '.join(placed)}, by its constraints)" if placed else ""
    return np.array([float(given.get(name, 0.0)) for name in own]), completed


def _solved(problem: OrbitProblem, wave: Wave, value: float, to: float) -> OrbitPoint:
    size = np.append(np.abs(wave.x).max(axis=0), [1.0, 1.0])
    halved = wave.odd and problem.odd(size, to)
    return orbit_or_member(problem, cycle_of(problem, wave, value, halved), value)


def check_end(case: Bound, load: str, value: float, course: Course) -> None:
    """Refuse an end at which the forcing has no period."""
    end, forcing = course.limits(case.system, load, value).bounds[0], forcing_of(case.system)  # type: ignore[arg-type]
    forcing.value(case)
    try:
        forcing.value(case.unchecked(**{load: end}))
    except ParameterError:
        raise ParameterError(
            f"to={course.to:g}: the forcing of {case.system.name} has no period there, as its frequency is not "
            f"positive; end before, as at {load} = {value / RESERVE:g}"
        ) from None
