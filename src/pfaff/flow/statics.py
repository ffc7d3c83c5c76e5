"""Statics: the balance of forces at rest, and the matrices of small motions about it."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate
from math import prod

import numpy as np

from pfaff import doors
from pfaff.algebra.units import inertial_units, row_units, stiffness_units
from pfaff.flow.compiled import Compiled
from pfaff.flow.differentiation import jacobian, jacobian_entries
from pfaff.flow.graph import ZERO, parameters_in, subs
from pfaff.flow.lagrangian import Graph
from pfaff.flow.uniform_motion import comoving_graph, frame_velocities_at
from pfaff.statement.system import System
from pfaff.threads import known_property, once

CANCELLED = 64 * float(np.finfo(float).eps)  # what is left of forces and demands that cancel at speed, relative to them


@dataclass(frozen=True)
class AtRest:
    """Values at rest in a configuration q with multipliers λ.

    ``balance`` is h + Aᵀλ, ``held`` the demands of the constraints at rest (φ, and b of the nonholonomic ones), ``K``
    the derivative of the balance with respect to q (so it contains Σ λ ∂Aᵀ/∂q), ``B`` the derivative of the
    constraints' velocity form with respect to q. Rows of nonholonomic constraints come first. ``pushed`` is the
    derivative of ``balance`` and ``held`` with respect to the declared load, where it is known.
    """

    balance: np.ndarray
    held: np.ndarray
    M: np.ndarray
    C: np.ndarray
    K: np.ndarray
    A: np.ndarray
    B: np.ndarray
    nonholonomic: int
    pushed: np.ndarray | None = None

    @known_property
    def jacobian(self) -> np.ndarray:
        """Derivative of ``balance`` and ``held`` with respect to coordinates and multipliers."""
        n, s, m = len(self.M), self.nonholonomic, len(self.A)
        jacobian = np.zeros((n + m, n + m, *self.M.shape[2:]), dtype=self.K.dtype)
        jacobian[:n, :n], jacobian[:n, n:] = self.K, self.A.swapaxes(0, 1)
        jacobian[n : n + s, :n], jacobian[n + s :, :n] = self.B[:s], self.A[s:]
        return jacobian

    @known_property
    def units(self) -> np.ndarray:
        """Units of its rows and columns in which stiffnesses and levers are alike, so that ranks mean something."""
        d = self.stiffness_units
        return np.concatenate([d, row_units(np.maximum(np.abs(self.A), np.abs(self.B)) * d)])

    @known_property
    def inertial_units(self) -> np.ndarray:
        """Units of the coordinates in which inertias are alike."""
        return inertial_units(self.M)

    @known_property
    def stiffness_units(self) -> np.ndarray:
        """Units of the coordinates in which stiffnesses are alike."""
        return stiffness_units(self.K, self.inertial_units)


class Statics:
    """One function of (q, λ; parameters) for everything that statics needs, in batches too.

    ``merely_pushed`` says that the declared load is a force: it changes no matrix and nothing that constraints demand.
    """

    merely_pushed = False

    def __init__(self, graph: Graph) -> None:
        self._system, self.n, self.m = graph.system, len(graph.q), len(graph.A)
        self.nonholonomic = graph.nonholonomic
        unknowns = graph.q + graph.multipliers
        demanding = graph.system.demanding
        self.demanding = demanding[: self.nonholonomic]
        still = graph.resting
        # Derivatives with respect to q are taken at rest: terms multiplied by a velocity then vanish.
        balance = subs(graph.balanced(graph.standing), still)
        held = [c if own else ZERO for c, own in zip(subs(graph.constraints, still), demanding, strict=True)]
        blocks = [
            graph.M,
            jacobian(graph.slow, graph.v),
            jacobian(balance, graph.q),
            graph.A,
            jacobian(held, graph.q),
        ]
        demanded = held[: self.nonholonomic] + graph.positions
        load = [graph.symbols[graph.system.load]] if graph.system.load else []
        pushed = jacobian_entries(balance + demanded, load)
        matrices = subs([e for rows in blocks for row in rows for e in row], still)
        at_rest = subs(balance + demanded + pushed, still) + matrices
        shapes = [(self.n,), (self.m,), (len(pushed),), *[(len(rows), self.n) for rows in blocks]]
        ends = accumulate(prod(shape) for shape in shapes)
        self._blocks = [(slice(end - prod(shape), end), shape) for end, shape in zip(ends, shapes, strict=True)]
        self.merely_pushed = bool(load) and not {e.value for e in load} & {*parameters_in(demanded + matrices)}
        self.function = Compiled(at_rest, unknowns)

    def __call__(self, q: np.ndarray, multipliers: np.ndarray, parameters: np.ndarray, time: float = 0.0) -> AtRest:
        """The values at one configuration, or at many when q and the multipliers have a trailing batch axis."""
        return self.at(np.concatenate([q, multipliers]), parameters, time)

    def at(self, z: np.ndarray, parameters: np.ndarray, time: float = 0.0) -> AtRest:
        """The values for coordinates and multipliers in one array."""
        balance, held, pushed, M, C, K, A, B = self.parts(self.function(z, parameters, time))
        batch = M.shape[2:]
        if not batch and self._system.uniform_motion:  # at speed, terms cancel that vanish at rest
            w, s = np.abs(frame_velocities_at(self._system, parameters)), self.nonholonomic
            balance = np.where(np.abs(balance) > CANCELLED * (np.abs(C) @ w), balance, 0.0)
            held[:s] = np.where(np.abs(held[:s]) > CANCELLED * (np.abs(A[:s]) @ w), held[:s], 0.0)
        return AtRest(balance, held, M, C, K, A, B, self.nonholonomic, pushed if len(pushed) else None)

    def parts(self, values: np.ndarray) -> list[np.ndarray]:
        """Balance, demands, their derivatives with respect to the load, M, C, K, A and B."""
        return [values[place].reshape(shape + values.shape[1:]) for place, shape in self._blocks]


def all_reactions(
    system: System, q: np.ndarray, p: np.ndarray, numbers: np.ndarray, time: float | np.ndarray = 0.0
) -> np.ndarray:
    """The reactions of all constraints that are stated, from those of the independent ones: shared by least norm."""
    return _shares(system)(np.concatenate([q, p]), numbers, time) if system.redundant else p


@once(most=1)
def _shares(system: System) -> Compiled:
    graph = comoving_graph(system)
    return Compiled(graph.shared(graph.multipliers), [*graph.q, *graph.multipliers])


@once(most=1)
def statics_of(system: System) -> Statics:
    if system.rods:
        return doors.structured_views.RodStatics(system)
    return Statics(comoving_graph(system))
