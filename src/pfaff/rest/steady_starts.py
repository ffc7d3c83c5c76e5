"""Where the search for a steady motion starts: a flow with the speeds asked for among its states, and a state."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

import numpy as np

from pfaff.algebra.units import row_units
from pfaff.errors import ConstraintError, ConvergenceError, PfaffError
from pfaff.flow.flow import Flow
from pfaff.flow.in_quasi_velocities import quasi_rows, quasi_values
from pfaff.flow.initial import Start, initial_state
from pfaff.flow.relative import independent, relative_flow
from pfaff.flow.slice import state_on
from pfaff.flow.stated_equations import stated_equations

if TYPE_CHECKING:
    from pfaff.case import Case

SMALLEST = float(np.finfo(float).tiny)
UNSOLVABLE = 1e-6  # singular values of constraints, relative to the largest, below which others are solved for


def _beginning(case: Case, given: Mapping[str, float], fixed: Mapping[str, float]) -> Start:
    """The state in which ``simulate`` starts from these values; they yield where they contradict one another, unless
    all are fixed: those of a start are a guess."""
    try:
        return initial_state(case, given)
    except ConstraintError as problem:
        if len(given) == len(fixed):
            names = ", ".join(fixed)
            raise ConvergenceError(f"{names} contradict the constraints or one another: fix fewer names") from problem
        return initial_state(case, given, project=True)


def filled(case: Case, given: Mapping[str, float], fixed: Mapping[str, float]) -> dict[str, float]:
    """The values of all coordinates, velocities and quasi-velocities where some are given."""
    system, start = case.system, _beginning(case, given, fixed)
    y = np.concatenate([start.q, start.v])
    quasi = {name: float(value) for name, value in quasi_values(system, y, case.numbers).items()}
    return dict(zip(system.state_names, y.tolist(), strict=True)) | quasi


def flow_with(
    case: Case, speeds: list[str], others: list[str], given: Mapping[str, float], fixed: Mapping[str, float]
) -> Flow:
    """The relative flow with these speeds among its states, and as many of the others as are free beside them; its
    other velocities are solved for near the start if they cannot be there as usual."""
    quasi = any(name in case.system.quasi_velocities for name in (*speeds, *others))
    near = _near(case, given, fixed) if quasi else ()
    flow = relative_flow(case.system, speeds, case.numbers, keep=given)
    wanted = independent(case.system, speeds, others, case.numbers, near)
    if not set(wanted) <= set(flow.states):
        speeds = [*speeds, *wanted]
        flow = relative_flow(case.system, speeds, case.numbers, keep=given)
    near = near or (_near(case, given, fixed) if flow.pivots else ())
    return flow if _solvable(flow, near, case) else relative_flow(case.system, speeds, case.numbers, near, keep=given)


def _near(case: Case, given: Mapping[str, float], fixed: Mapping[str, float]) -> tuple[float, ...]:
    """The configuration in which ``simulate`` starts from these values; none if it starts from nowhere."""
    with suppress(PfaffError):
        return tuple(_beginning(case, given, fixed).q.tolist())
    return ()


def _solvable(flow: Flow, near: Sequence[float], case: Case) -> bool:
    """Whether the dependent velocities of a flow can be solved for at a configuration."""
    if not near:
        return True
    names, replaced = case.system.velocity_names, [name for name in flow.states if name in case.system.quasi_velocities]
    state = np.append(near, 0 * np.array(near))
    A = stated_equations(case.system)(state[: len(near)], state[len(near) :], case.numbers).A
    columns = [names.index(name) for name in flow.dependent]
    if replaced:
        A = np.vstack([A, quasi_rows(case.system, replaced, state, case.numbers, 0.0)[:, 1:]])
        columns = [k for k, name in enumerate(names) if name not in flow.states]
    elif not np.isfinite(
        flow.rates(state_on(flow, state[: len(near)], case.numbers, state[len(near) :]), case.numbers)
    ).all():
        return False
    scaled = (row_units(A)[:, None] * A)[:, columns]
    values = np.linalg.svd(scaled / (np.abs(scaled).max(axis=0, initial=0.0) + SMALLEST), compute_uv=False)
    return bool(values.min() > UNSOLVABLE * values.max())


def speeds_among(case: Case, given: Mapping[str, float]) -> list[str]:
    known = {*case.system.velocity_names, *case.system.quasi_velocities}
    return [name for name in given if name in known]
