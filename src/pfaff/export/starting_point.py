"""Where a continuation starts in another program, and the equations that are regular there.

The flow is that of ``case.branch``: holonomic constraints attract (φ̇ = −rate φ), so that leaving them is no zero
eigenvalue, and dependent velocities are well solved for at the start. Cyclic coordinates, such as a heading, are left
out. What zeros remain belong to a family; other programs cannot know this, so it is told.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from pfaff.algebra.structural_zeros import zero_chain
from pfaff.bifurcation.equilibria.linearised import jacobian_of
from pfaff.errors import ConvergenceError, PfaffError, StatementError, number_of
from pfaff.flow.flow import Flow
from pfaff.flow.graph import depends_on_time
from pfaff.flow.relative import shape_at
from pfaff.flow.slice import state_on
from pfaff.rest.balance import Balance
from pfaff.rest.field import regular_flow
from pfaff.rest.mechanical import Equilibrium, equilibrium_near
from pfaff.rest.small_motions import linearise
from pfaff.rest.states import SteadyState
from pfaff.statement import Ode
from pfaff.statement.values import by_name, number_from

if TYPE_CHECKING:
    from pfaff.case import Bound
    from pfaff.rest.steady_motions import SteadyMotion


@dataclass(frozen=True, eq=False)
class Start:
    """A state of a flow, how many zero eigenvalues a family has there, and where the state comes from."""

    flow: Flow
    x: np.ndarray
    zeros: int
    remark: str

    @property
    def cyclic(self) -> tuple[str, ...]:
        """Coordinates of the shape that the flow does without."""
        return tuple(
            name for name in self.flow.system.shape.states if name not in self.flow.states and not name.endswith("_dot")
        )

    @property
    def warnings(self) -> tuple[str, ...]:
        """What the eigenvalues there tell of the equations and not of the motion."""
        told = []
        if self.cyclic:
            told.append(f"left out, since by symmetry only the velocity matters: {', '.join(self.cyclic)}")
        if self.flow.settle:
            count, rate = len(self.flow.system.statement.positions), self.flow.settle
            told.append(f"holonomic constraints attract: {number_of(count, 'eigenvalue')} {-rate:g} for leaving them")
        if self.zeros:
            told.append(
                f"on a family of equilibria or steady motions: {number_of(self.zeros, 'eigenvalue')} 0 at the start; "
                "a program that wants isolated equilibria must hold as many states, or start where there is no family"
            )
        return tuple(told)


def start_of(case: Bound, given: Mapping[str, Any] | None) -> Start:
    """The equilibrium of a case, or the one near values of the states; with speeds, the steady motion."""
    near = _checked(case, by_name("start", given, "{'theta1': 0.1}"))
    if depends_on_time(case.system.shape.expressions):  # type: ignore[attr-defined]
        raise StatementError("the equations depend on time: make the excitation part of the state, as an oscillator")
    try:
        at = _at_rest(case, near)
    except PfaffError as problem:
        return _origin(case, near, " ".join(str(problem).split()))
    return _regular(at, near) if isinstance(at, Equilibrium) else _plain(at, near)


def _checked(case: Bound, given: Mapping[str, Any]) -> dict[str, float]:
    for name in given:
        case.system.named(name, case.system.moving_names, f"{case.system.name} has no state {{}} to start from")
    return {name: number_from(name, value) for name, value in given.items()}


def _at_rest(case: Any, near: Mapping[str, float]) -> Equilibrium | SteadyState | SteadyMotion:
    if isinstance(case.system, Ode):
        return case.equilibrium(start=near)
    if not near:
        return case.equilibrium()
    if any(name not in case.system.coordinate_names for name in near):
        return case.steady(near)
    z = Balance(case, {}).start()
    for name, value in near.items():
        z[case.system.coordinate_names.index(name)] = value
    return equilibrium_near(case, {}, z)


def _plain(at: SteadyState | SteadyMotion, near: Mapping[str, float]) -> Start:
    """As it was found: a steady motion rests in its own flow, and a plain ODE has but one."""
    if isinstance(at, SteadyState):
        return Start(at.case.system.flow, at.x, at.family_dimension, _remark("equilibrium", near))
    return Start(at.flow, at.x, sum(at.zeros), _remark("steady motion", near))


def _regular(at: Equilibrium, near: Mapping[str, float]) -> Start:
    """The shape flow as ``case.branch`` takes it, without cyclic coordinates."""
    case = at.case
    lin = linearise(case.system, at.q, at.p, case.numbers)
    flow = regular_flow(case.system, lin, float(np.abs(lin.eigenvalues()).max(initial=0.0)) or 1.0)
    family = len(flow.states) - len(case.system.statement.positions) - len(lin.spectrum().values)
    x = state_on(flow, at.q, case.numbers)
    flow.rhs(x, case)  # which says what is singular, if anything is
    zeros = sum(zero_chain(jacobian_of(flow, x, case.numbers), len(x))) if family else 0
    return Start(flow, x, zeros, _remark("equilibrium", near))


def _remark(kind: str, near: Mapping[str, float]) -> str:
    where = ", ".join(f"{name} = {value:g}" for name, value in near.items())
    return f"start: the {kind} near {where}" if near else f"start: the {kind} of the case"


def _origin(case: Bound, near: Mapping[str, float], why: str) -> Start:
    """Without an equilibrium: the origin, if the equations hold there at all."""
    flow = shape_at(case)
    held = bool(getattr(case.system, "holonomic_constraints", ()))
    x = np.zeros(len(flow.states))
    if near or held or not _finite(flow, x, case):
        raise ConvergenceError(
            f"{case.system.name} has no equilibrium to start from ({why}): give values of its states near one, "
            "start={…}"
        )
    return Start(flow, x, 0, f"start: the origin, since no equilibrium was found ({why})")


def _finite(flow: Flow, x: np.ndarray, case: Bound) -> bool:
    try:
        return bool(np.isfinite(flow.rhs(x, case)).all())
    except PfaffError:
        return False
