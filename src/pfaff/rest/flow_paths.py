"""Equilibria of plain ODEs and steady motions, followed as a parameter changes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from pfaff.algebra.bordering import bordered_newton, bordering
from pfaff.algebra.tolerances import NEIGHBOUR
from pfaff.errors import PfaffError
from pfaff.flow.flow import Flow
from pfaff.rest.path import EquilibriumPath
from pfaff.rest.states import FlowLinearisation, linearise_flow, steady_near
from pfaff.rest.steady_families import allowed_directions
from pfaff.threads import cached_property

if TYPE_CHECKING:
    from pfaff.case import Bound, OdeCase
    from pfaff.rest.steady_motions import SteadyMotion

NEARER = 8  # how often a neighbouring load is looked for at a quarter of the distance


class FlowPath(EquilibriumPath):
    """A path from the present value of the parameter; where states come in families, the ``held`` ones select a
    member."""

    def __init__(self, case: Bound, flow: Flow, load: str, x: np.ndarray, held: Sequence[int] = ()) -> None:
        self.flow, self.held = flow, tuple(held)
        super().__init__(case, load, float(case.numbers[case.system.parameter_names.index(load)]), x)

    @property
    def chain(self) -> tuple[int, ...]:
        """Numbers of zero eigenvalues due to a family, level by level (see ``structural_zeros``)."""
        raise NotImplementedError

    @property
    def zeros(self) -> int:
        return sum(self.chain)

    def residual(self, z: np.ndarray, load: float) -> float:
        J, rates = self.flow.jacobian(z, self.numbers(load)), np.abs(self.flow.rhs(z, self.numbers(load)))
        usual = np.abs(J) @ np.abs(z)
        return float((rates / np.where(usual, usual, 1.0)).max())

    def corrected(self, z: np.ndarray, load: float) -> np.ndarray | None:
        flow, numbers = self.flow, self.numbers(load)
        try:
            found, settled = bordered_newton(
                lambda x: flow.rhs(x, numbers), lambda x: flow.jacobian(x, numbers), z, self.held
            )
        except (np.linalg.LinAlgError, PfaffError):
            return None
        return found if settled else None

    def _position(self, z: np.ndarray) -> np.ndarray:
        return z

    def size(self, z: np.ndarray, load: float) -> float:
        return float(1 + np.abs(z).max())

    def tangent(self, z: np.ndarray, load: float, span: float) -> np.ndarray:
        numbers = self.numbers(load)
        J = self.flow.jacobian(z, numbers)
        return -bordering(J, held=self.held).solve(J, self.flow.parameter_jacobian(z, numbers, [self.load])[:, 0])

    def _linearised(self, z: np.ndarray, load: float) -> FlowLinearisation:
        return linearise_flow(self.flow.jacobian(z, self.numbers(load)), self.chain)


class StatePath(FlowPath):
    """A path of equilibria of a plain ODE."""

    case: OdeCase

    def __init__(self, case: OdeCase, load: str, start: Mapping[str, float]) -> None:
        super().__init__(case, case.system.flow, load, steady_near(case, start).x)

    @cached_property
    def chain(self) -> tuple[int, ...]:
        """Zeros that persist as the load changes: due to families of equilibria, not to a bifurcation."""
        solutions = [(self._known[load], self.numbers(load)) for load in (self.origin, self._beside())]
        zeros = min(bordering(self.flow.jacobian(*each)).right.shape[1] for each in solutions)
        return (zeros,) if zeros else ()

    def _beside(self) -> float:
        """A neighbouring load that one step reaches, on either side; near a fold it is very near."""
        apart = NEIGHBOUR * (1 + abs(self.origin))
        for load in (self.origin + side * apart / 4**k for k in range(NEARER) for side in (1, -1)):
            z = self._step(self.origin, load)
            if z is not None:
                self._remember(load, z)
                return load
        return self.origin


class SteadyPath(FlowPath):
    """A path of steady motions; the speeds and coordinates held select a member of the family."""

    def __init__(self, motion: SteadyMotion, load: str) -> None:
        self.motion = motion
        states = motion.flow.states
        super().__init__(motion.case, motion.flow, load, motion.x, [states.index(name) for name in motion.family])

    @property
    def chain(self) -> tuple[int, ...]:
        return self.motion.zeros

    def _linearised(self, z: np.ndarray, load: float) -> FlowLinearisation:
        numbers = self.numbers(load)
        allowed = allowed_directions(self.flow, z, numbers, np.ones(len(z)))
        return linearise_flow(self.flow.jacobian(z, numbers), self.chain, allowed)
