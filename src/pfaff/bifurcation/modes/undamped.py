"""A system without its damping and its explicit forcing, and one parameter that would damp it.

Periodic orbits of a conservative system come in families. With a dissipation ε T₂, by which the energy decreases
strictly, an orbit exists at ε = 0 only: ε unfolds the family (Muñoz-Almaraz et al., Physica D 181, 2003), and stays
zero along it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, cast

import numpy as np
import sympy as sm

from pfaff.errors import ConvergenceError, NoBifurcationError, ParameterError
from pfaff.flow.differentiation import gradient
from pfaff.flow.flow import Flow
from pfaff.flow.forcing import forcing_of
from pfaff.flow.graph import ZERO, Expression, subs
from pfaff.flow.lagrangian import dot
from pfaff.flow.relative import relative_flow
from pfaff.flow.slice import state_on
from pfaff.flow.uniform_motion import comoving_graph
from pfaff.statement.system import System
from pfaff.threads import cached_property, once

if TYPE_CHECKING:
    from pfaff.case import Case
    from pfaff.statement.reading import Relations

UNFOLDING = "energy_loss"
GROWS = 1e-6  # growth rates below this, relative to the largest frequency, are rounding
STILL = 1e-6  # frequencies below this, relative to the largest, are zero
ILL_SOLVED = 1e-2  # coefficients of velocities that are solved for, relative to the largest, that are too small


@once(most=1)
def undamped(system: System) -> System:
    """The system without dissipation and explicit time, unfolded by ``energy_loss``."""
    system = system.by_energies()
    t, eps = system.time, sm.Symbol(UNFOLDING, real=True)
    angles = set() if system.autonomous else {angle for angle, _, _ in forcing_of(system).angles}

    def off(expression: sm.Expr) -> sm.Expr:
        waves = [each for each in sm.sympify(expression).atoms(sm.sin, sm.cos) if each.args[0] in angles]
        return sm.sympify(expression).xreplace(dict.fromkeys(waves, sm.S.Zero))

    velocities = [q.diff(t) for q in system.coordinates]
    kinetic = off(system.kinetic)
    backwards = kinetic.xreplace({v: -v for v in velocities})
    quadratic = (kinetic + backwards) / 2 - kinetic.xreplace(dict.fromkeys(velocities, sm.S.Zero))
    along = {v: v - w for v, w in zip(velocities, system.uniform_motion, strict=False)}  # beside constraints that move
    return replace(
        system,
        kinetic=kinetic,
        potential=off(system.potential),
        dissipation=eps * quadratic.subs(along, simultaneous=True),
        forces={q: off(force) for q, force in system.forces.items()},
        nonholonomic_constraints=cast("Relations", system.nonholonomic_constraints).changed(off),
        holonomic_constraints=cast("Relations", system.holonomic_constraints).changed(off),
        parameters={**system.parameters, eps: 0},
        name=f"{system.name}, undamped",
    )


@dataclass(frozen=True, eq=False)
class Energy:
    """Jacobi's integral h = T₂ − T₀ + V in the states of a flow, ignorable coordinates at zero.

    T₂ and T₀ are the parts of T of second degree and of none in the velocities left free: T + V where T has no others,
    and what is conserved where it has, as in a rotating frame. A total time derivative in T has no part in it. Where
    constraints move uniformly, velocities are counted from theirs.
    """

    case: Case
    flow: Flow

    def __call__(self, x: np.ndarray) -> np.ndarray:
        """At states, a column each."""
        return self.flow.compiled("energy", self._in_states)(x, self.case.numbers)[0]

    def gradients(self, x: np.ndarray) -> np.ndarray:
        """A column for each state."""
        compiled = self.flow.compiled("gradient of the energy", self._gradient)
        return compiled(x.reshape(len(self.flow.states), -1), self.case.numbers)

    def _in_states(self) -> list[Expression]:
        graph = comoving_graph(self.case.system)
        names, states = self.case.system.coordinate_names, self.flow.states
        velocities = dict(zip(graph.v, self.flow.velocity_expressions, strict=True))
        gone = {q: ZERO for q, name in zip(graph.q, names, strict=True) if name not in states}
        kinetic, potential = subs([graph.kinetic, graph.potential], velocities | gone)
        moving = dict(zip(self.case.system.velocity_names, graph.drift or [], strict=False))
        free = [(v, name) for v, name in zip(self.flow.variables, states, strict=True) if name not in names]
        relative = [v - moving[name] if name in moving else v for v, name in free]
        return [dot(relative, gradient(kinetic, [v for v, _ in free])) - kinetic + potential]

    def _gradient(self) -> list[Expression]:
        return gradient(self._in_states()[0], self.flow.variables)


@dataclass(frozen=True, eq=False)
class Vibration:
    """Small vibrations about an equilibrium of the undamped system: ``frequencies`` ω and complex ``shapes`` (columns)
    of the states x + Re(shape e^{iωt})."""

    case: Case
    flow: Flow
    x: np.ndarray
    frequencies: np.ndarray
    shapes: np.ndarray
    zeros: int  # number of zero eigenvalues: dimension of the family of equilibria that this one belongs to

    @cached_property
    def energy(self) -> Energy:
        return Energy(self.case, self.flow)


def vibration(case: Case, fixed: Mapping[str, float]) -> Vibration:
    """Small vibrations about the equilibrium of a case; raises where there is none, or where it is unstable."""
    if case.system.rods:
        raise ParameterError(f"{case.system.name} has rods, whose normal modes are not followed: state a chain of bars")
    free = undamped(case.system).at().unchecked(**case.values)
    rest = free.equilibrium(fixed=fixed)
    flow = _flow_about(free, rest.q)
    x = state_on(flow, rest.q, free.numbers)
    values, vectors = np.linalg.eig(flow.jacobian(x, free.numbers))
    largest = np.abs(values.imag).max(initial=0.0)
    attracted = len(free.system.statement.positions)
    growth = np.sort(values.real)[::-1][: len(values) - attracted]
    if not largest or growth.max(initial=0.0) > GROWS * largest:
        raise NoBifurcationError(
            f"{free.system.name} does not vibrate about its equilibrium: its eigenvalues are "
            f"{', '.join(f'{value:.4g}' for value in values[:6])}; normal modes start at a stable one: give its "
            f"coordinates as keywords, {free.system.coordinate_names[0]}=…"
        )
    chosen = [k for k in np.argsort(values.imag) if values[k].imag > STILL * largest]
    zeros = int((np.abs(values) <= STILL * largest).sum())
    return Vibration(free, flow, x, values.imag[chosen], vectors[:, chosen], zeros)


def _flow_about(free: Case, q: np.ndarray) -> Flow:
    """The flow in velocities that the constraints leave free about a configuration, if not by those at the origin."""
    flow = relative_flow(free.system, (), free.numbers)
    if not flow.pivots:
        return flow
    x = state_on(flow, q, free.numbers)
    pivots = np.abs(flow.compiled("pivots", lambda: list(flow.pivots))(x, free.numbers))
    if pivots.min() > ILL_SOLVED * pivots.max():
        return flow
    return relative_flow(free.system, (), free.numbers, tuple(q.tolist()))


def check_conserved(loss: float, omega: float) -> None:
    """Raise unless the unfolding parameter of a family is zero, as it is if energy is conserved."""
    if abs(loss) > GROWS * omega:
        raise ConvergenceError(
            f"the energy is not conserved without dissipation: vibrations of constant amplitude need a damping of "
            f"{loss:.2e}; leave out forces that have no potential"
        )
