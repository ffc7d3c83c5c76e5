"""How cycles grow from a Hopf point, in physical terms: amplitude of an observable and mean speed against the load.

Kuznetsov's l1 with ⟨q, q⟩ = 1 depends on the choice of states, and on the number of modes of a rod; only its sign is
physical. The square of an amplitude, A² = slope (load − load at the point), and the mean speed per A² do not.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import sympy as sm

from pfaff.errors import ParameterError
from pfaff.flow.differentiation import jacobian_entries
from pfaff.flow.rod_mechanics import mechanics_of
from pfaff.flow.rod_series import parameter_list
from pfaff.flow.series import Series
from pfaff.flow.structured import StructuredFlow
from pfaff.statement.expressions import expressed
from pfaff.statement.system import System
from pfaff.statement.told import answering
from pfaff.statement.values import number_from, one_of, shown

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from pfaff.bifurcation.hopf.hopf import Hopf
    from pfaff.flow.flow import Flow


@answering
@dataclass(frozen=True, repr=False)
class Growth:
    """A² = ``slope``·(load − value) for the amplitude A of an observable, and mean speeds per A² by coordinate."""

    hopf: Hopf
    of: str
    slope: float
    speeds: Mapping[str, float]

    def __repr__(self) -> str:
        return f"<Growth: {self.status}>"

    def amplitude(self, load: float) -> float:
        """A of the cycle at a nearby load, to leading order."""
        load = number_from("load", load)
        square = self.slope * (load - self.hopf.value)
        if not square >= 0:
            raise ParameterError(
                f"no cycle at {self.hopf.load} = {load:g}: A² = {self.slope:.6g} (load − {self.hopf.value:.8g})"
            )
        return float(np.sqrt(square))

    def speed(self, name: str, load: float) -> float:
        """The mean speed of an ignorable coordinate on that cycle."""
        name = one_of(self.speeds, name, f"{self.hopf.case.system.name} has no ignorable coordinate")
        return self.speeds[name] * self.amplitude(load) ** 2

    @property
    def status(self) -> str:
        kind = self.hopf.criticality
        walks = "".join(f"; mean speed of {name} {speed:.10g} A²" for name, speed in self.speeds.items())
        return f"{kind}: A² = {self.slope:.10g} ({self.hopf.load} − {self.hopf.value:.10g}) for {self.of}{walks}"

    def plot(self) -> Figure:
        return self.hopf.plot()


def growth(hopf: Hopf, of: str | None) -> Growth:
    """The growth of an observable: a state, a coordinate of a point of a rod, or a formula in the coordinates."""
    system = hopf.case.system
    if hopf.drifts or hopf.undecided or hopf.degenerate:
        raise ParameterError(f"the third-order normal form predicts no cycle here: {hopf.criticality}")
    if of is None:
        of = _usual(hopf, system)
    per_load = -hopf.crossing.real / hopf.c1.real  # r² = per_load (load − value)
    reach = 2 * abs(_gradient(hopf, of) @ hopf.q)
    if not reach > 0:
        raise ParameterError(f"{of} does not take part in the oscillation: choose another observable")
    flow = hopf.around.flow
    speeds = {name: (_mean(hopf, name) + _turned(hopf, name)) / reach**2 for name in flow.dropped}
    return Growth(hopf, of, float(reach**2 * per_load), speeds)


def _usual(hopf: Hopf, system: Any) -> str:
    if isinstance(system, System) and system.rods:
        return system.rods[0].end.theta.func.__name__
    places = [k for k, name in enumerate(hopf.states) if not name.endswith("_dot")] or range(len(hopf.states))
    return hopf.states[max(places, key=lambda k: abs(hopf.q[k]))]


def _gradient(hopf: Hopf, of: str) -> np.ndarray:
    """The derivative of an observable with respect to the states, at the equilibrium."""
    if not isinstance(of, str | sm.Basic):
        raise ParameterError(f"of={shown(of)}: give a state or a formula of the states as text")
    flow, numbers = hopf.around.flow, hopf.around.numbers(hopf.value)
    if of in hopf.states:
        return np.eye(len(hopf.states))[hopf.states.index(of)]
    if isinstance(flow, StructuredFlow):
        assert isinstance(flow.system, System)
        mechanics, parameters = mechanics_of(flow.system), parameter_list(numbers)
        if of in mechanics.frame.names:
            x = Series([hopf.x[:, None, None], np.eye(len(hopf.x))[:, None, :]], 1)
            q, _ = flow.state(x, parameters, 0.0)
            found = mechanics.kinematics([q], parameters)[0][0][of]
            return np.ravel(found.c[1])
    system = flow.system
    if not isinstance(system, System):
        raise ParameterError(f"{shown(of)} is no state of {system.name}: choose one of {', '.join(hopf.states)}")
    formula = expressed(of, system.words, "the observable").xreplace(dict(system.statement.to_plain))
    states = [sm.Symbol(name, real=True) for name in hopf.states]
    at = dict(zip(states, hopf.x, strict=True)) | dict(zip(system.parameters, numbers, strict=True))
    try:
        return np.array([float(sm.diff(formula, x).subs(at)) for x in states])
    except (TypeError, ValueError, RuntimeError) as problem:  # as SymPy says it
        raise ParameterError(
            f"the observable {shown(of)} is no number at the Hopf point: write it in {', '.join(hopf.states)}"
        ) from problem


def _mean(hopf: Hopf, name: str) -> float:
    """The mean velocity of an ignorable coordinate per |z|²: V_x h11 + V_xx(q, q̄)."""
    flow, numbers = hopf.around.flow, hopf.around.numbers(hopf.value)
    directions = np.column_stack([hopf.normal_form.h11.real, hopf.q.real, hopf.q.imag])
    first, second = _along(flow, name, hopf.x, numbers, directions)
    return float(first[0] + second[1] + second[2])


def _turned(hopf: Hopf, name: str) -> float:
    """The further mean velocity per |z|² of a coordinate that turns with others to and fro, as seen from where it
    started: ⟨P F⟩, with velocities F = z F₁ + c.c. of the group and their integrals P = z F₁/(iω) + c.c."""
    flow, numbers = hopf.around.flow, hopf.around.numbers(hopf.value)
    if flow.slice is None or not flow.slice.turns:
        return 0.0
    names = flow.slice.system.coordinate_names
    slopes = [_along(flow, each, hopf.x, numbers, np.column_stack([hopf.q.real, hopf.q.imag]))[0] for each in names]
    first = flow.slice.fields(np.array([re + 1j * im for re, im in slopes]))
    return float(2 * (first @ first.conj() / (1j * hopf.omega)).real[names.index(name), -1])


def _along(
    flow: Flow, name: str, x: np.ndarray, numbers: np.ndarray, directions: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """First and second derivatives of a velocity along lines."""
    assert isinstance(flow.system, System)
    index = flow.system.coordinate_names.index(name)
    if isinstance(flow, StructuredFlow):
        curve = Series([x[:, None, None], directions[:, None, :]], 2)
        _, v = flow.state(curve, parameter_list(numbers), 0.0)
        rows = [np.broadcast_to(v.coefficient(k)[index, 0], directions.shape[1]) for k in (1, 2)]
        return rows[0], 2 * rows[1]

    def expressions() -> list[Any]:
        slopes = jacobian_entries([flow.velocity_expressions[index]], flow.variables)
        return [*slopes, *jacobian_entries(slopes, flow.variables)]

    values = flow.compiled(("curvature of velocity", name), expressions)(x, numbers)
    n = len(x)
    gradient, hessian = values[:n], values[n:].reshape(n, n)
    return gradient @ directions, np.einsum("ik,ij,jk->k", directions, hessian, directions)
