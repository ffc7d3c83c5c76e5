"""Reduction by symmetries: as many coordinates as there are generators are frozen, and the motion is seen from a frame
that moves with the group.

With generators ξ_a(q) = B_a q + c_a, every configuration is carried by the group to one at which the frozen coordinates
J are zero. There, and for velocities carried along,

    q̇ = v − Σ μ_a ξ_a(q),    v̇ = a(q, v) − Σ μ_a B_a v,    μ = ξ_J⁻¹ v_J:

the equations of motion of the shape, in which steady motions rest. For a coordinate on which nothing depends, ξ = e_j,
this drops it; for the heading of a sleigh, ξ = (−y, x, 1), velocities are those at the instant when it is zero. For
coordinates that follow from others by holonomic constraints, ξ does so, too, and B v is its derivative along v.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from pfaff.algebra.newtons_method import Stopping, newton_columns
from pfaff.flow.differentiation import gradient
from pfaff.flow.graph import ZERO, Expression, expression, subs, sum_of, variables_in
from pfaff.flow.lagrangian import Graph, dot
from pfaff.flow.probing import probe_of
from pfaff.flow.shape import DROPPED, ignorable_coordinates
from pfaff.flow.symmetries import Generator, symmetries, usual_numbers
from pfaff.flow.uniform_motion import frame_velocities_at
from pfaff.statement.system import System
from pfaff.threads import cached_property

if TYPE_CHECKING:
    from pfaff.flow.flow import Flow

ALIKE = "dropped: by symmetry only its velocity matters"
MEASURED = "kept: its value when {} is zero, to which a symmetry carries every motion"
ROUNDED = 1e-15  # frozen coordinates below this, relative to all, are zero
STEPS = 8  # on the way of dependent coordinates
REPEATED = Stopping(4, exact=0.0, settled=0.0)  # in each of them
PASSES = 20  # steps towards the frozen coordinates: two for translations and headings


@dataclass(frozen=True, eq=False)
class Slice:
    """Generators of a group and the coordinates, by index, that it carries to zero."""

    system: System
    generators: tuple[Generator, ...]
    frozen: tuple[int, ...]

    @cached_property
    def names(self) -> tuple[str, ...]:
        return tuple(self.system.coordinate_names[j] for j in self.frozen)

    @cached_property
    def turns(self) -> bool:
        """Whether the group turns velocities, too."""
        return not all(each.translates for each in self.generators)

    @property
    def dependent(self) -> tuple[int, ...]:
        """Coordinates that follow the others by the holonomic constraints."""
        return self.generators[0].dependent

    @cached_property
    def evident(self) -> bool:
        """Whether the frozen coordinates are just those that appear nowhere."""
        plain = all(each.translates and np.count_nonzero(each.c) == 1 for each in self.generators)
        return plain and not self.dependent and set(self.names) == set(ignorable_coordinates(self.system))

    @cached_property
    def moved(self) -> tuple[str, ...]:
        """Coordinates besides the frozen ones that the group moves."""
        moves = np.any([(each.B != 0).any(axis=1) | (each.c != 0) for each in self.generators], axis=0)
        moves[list(self.dependent)] = True
        return tuple(name for k, name in enumerate(self.system.coordinate_names) if moves[k] and k not in self.frozen)

    @cached_property
    def dropped(self) -> dict[str, str]:
        stated = ignorable_coordinates(self.system)
        return {name: DROPPED.format(name) if name in stated else ALIKE for name in self.names}

    def kept(self, stated: Mapping[str, str]) -> dict[str, str]:
        """The other coordinates, each with why it is kept; ``stated`` says where they appear."""
        frozen = ", ".join(self.names)
        told = {name: MEASURED.format(frozen) if name in self.moved else why for name, why in stated.items()}
        return {name: why for name, why in told.items() if name not in self.names}

    @cached_property
    def rates(self) -> np.ndarray:
        """ξ_J⁻¹: the rates μ of the group from the velocities of the frozen coordinates."""
        return np.linalg.inv(np.array([each.c[list(self.frozen)] for each in self.generators]).T)

    def reduced(self, graph: Graph) -> Graph:
        """The equations of motion where the frozen coordinates are zero, in velocities carried along by the group."""
        v, still = graph.v, {graph.q[j]: ZERO for j in self.frozen}
        rates = [graph.rates[j] for j in self.frozen]
        mu = [dot([expression(float(x)) for x in row], rates) for row in self.rates]
        fields = [_frozen(field, still) for field in self._fields(graph)]
        drift = [_sum([m * field[i] for m, field in zip(mu, fields, strict=True)]) for i in range(len(v))]
        if graph.drift:
            drift = [w + more for w, more in zip(graph.drift, drift, strict=True)]
        turned = self._turned(graph, mu, still)
        M, A = ([_frozen(row, still) for row in rows] for rows in (graph.M, graph.A))

        def carried(forces: list[Expression], rows: list[list[Expression]]) -> list[Expression]:
            return [f + dot(row, turned) if turned else f for f, row in zip(forces, rows, strict=True)]

        return replace(
            graph,
            M=M,
            h=carried(_frozen(graph.h, still), M),
            A=A,
            gamma=carried(_frozen(graph.gamma, still), A),
            constraints=_frozen(graph.constraints, still),
            positions=_frozen(graph.positions, still),
            repeated=[_frozen(row, still) for row in graph.repeated],
            drift=drift,
        )

    def _fields(self, graph: Graph) -> list[list[Expression]]:
        """ξ of each generator, for all coordinates."""
        q, own = graph.q, list(self.dependent)
        fields = [[row(g.B[i], q) + float(g.c[i]) for i in range(len(q))] for g in self.generators]
        if own:
            rows = graph.A[graph.nonholonomic :]
            others = [j for j in range(len(q)) if j not in own]
            matrix = [[row[j] for j in own] for row in rows]
            reference = self._reference(graph)[:, own]
            for field in fields:
                right = [-dot([row[j] for j in others], [field[j] for j in others]) for row in rows]
                for j, follows in zip(own, solved(matrix, right, reference), strict=True):
                    field[j] = follows
        return fields

    def _turned(self, graph: Graph, mu: list[Expression], still: Mapping[Expression, Expression]) -> list[Expression]:
        """Σ μ_a times the derivatives of ξ_a along the velocities; nothing for translations."""
        if not self.turns and not self.dependent:
            return []
        v = graph.v
        found = [[row(g.B[i], v) for i in range(len(v))] for g in self.generators]
        for field, rates in zip(self._fields(graph), found, strict=True):
            for j in self.dependent:
                rates[j] = dot(gradient(field[j], graph.q), v)
        total = [_sum([m * rates[i] for m, rates in zip(mu, found, strict=True)]) for i in range(len(v))]
        return _frozen(total, still)

    def _reference(self, graph: Graph) -> np.ndarray:
        """φ_q at a random configuration."""
        probe, numbers = probe_of(self.system), usual_numbers(self.system)
        sizes = symmetries(self.system).sizes
        at, *_ = next(probe.states(lambda _: numbers, sizes, 1, 1926))
        return at.A[graph.nonholonomic :]

    def carrier(self, q: np.ndarray) -> np.ndarray:
        """The element of the group that carries a configuration to the slice, as a matrix on (q, 1); one for each of
        several columns."""
        from scipy.linalg import expm

        n, frozen = len(q), list(self.frozen)
        here = np.concatenate([q, np.ones_like(q[:1])]).T[..., None]
        at, whole = here, np.broadcast_to(np.eye(n + 1), (*q.shape[1:], n + 1, n + 1))
        for _ in range(PASSES):
            off = at[..., frozen, 0]
            if not (np.abs(off) > ROUNDED * (1 + np.abs(q).max())).any():
                break
            field = self._combined(-self.rates @ off.T)
            whole = (expm(field) if self.turns else np.eye(n + 1) + field) @ whole
            at = whole @ here
        return whole

    def carried(self, q: np.ndarray, v: np.ndarray, numbers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Configurations and velocities, or columns of them, on the slice."""
        whole = self.carrier(q)
        turn, shift = whole[..., :-1, :-1], whole[..., :-1, -1]
        there = ((turn @ q.T[..., None])[..., 0] + shift).T
        there[list(self.frozen)] = 0.0
        speeds = (turn @ v.T[..., None])[..., 0].T
        return self._following(q, there, speeds, numbers) if self.dependent else (there, speeds)

    def placed(self, g: np.ndarray, q: np.ndarray, numbers: np.ndarray) -> np.ndarray:
        """Where an element of the group, a matrix on (q, 1), carries a configuration."""
        there = g[:-1, :-1] @ q + g[:-1, -1]
        return self._following(q, there, 0 * q, numbers)[0] if self.dependent else there

    def _following(
        self, q: np.ndarray, there: np.ndarray, v: np.ndarray, numbers: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Dependent coordinates and velocities as the constraints demand when the others have moved from q."""
        if q.ndim == 1:
            at, v = self._following(q[:, None], there[:, None], v[:, None], numbers)
            return at[:, 0], v[:, 0]
        probe, own = probe_of(self.system), list(self.dependent)
        at, v = q.copy(), v.copy()
        others = [k for k in range(len(q)) if k not in own]

        def step(y: np.ndarray, going: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            here = at[:, going]
            here[own] = y
            rows, _, phi = probe.holonomic(here, 0 * here, numbers)
            change = np.linalg.solve(rows[..., own], phi[..., None])[..., 0].T
            return y - change, np.abs(change).max(axis=0)

        for share in np.linspace(0, 1, STEPS + 1)[1:]:
            at[others] = (q + share * (there - q))[others]
            at[own] = newton_columns(step, at[own], REPEATED)[0]
        rows, rates, _ = probe.holonomic(at, v, numbers)
        v[own] -= np.linalg.solve(rows[..., own], rates[..., None])[..., 0].T
        return at, v

    def paths(
        self,
        t: np.ndarray,
        velocities: np.ndarray,
        states: Mapping[str, np.ndarray],
        start: Mapping[str, float],
        numbers: np.ndarray,
    ) -> dict[str, np.ndarray]:
        """The coordinates that the group moves, along a motion on the slice; frozen ones start at given values.

        By Magnus's method of fourth order on the cubic spline of the velocities."""
        from scipy.interpolate import CubicSpline
        from scipy.linalg import expm

        names, h = self.system.coordinate_names, np.diff(t)[:, None, None]
        spline = CubicSpline(t, velocities, axis=1)
        first, second = (self.fields(spline(t[:-1] + at * np.diff(t))) for at in (0.5 - 3**0.5 / 6, 0.5 + 3**0.5 / 6))
        steps = h / 2 * (first + second) - 3**0.5 / 12 * h**2 * (second @ first - first @ second)
        elements = expm(steps) if self.turns else np.eye(len(names) + 1) + steps
        begun = np.array([start.get(name, 0.0) if name in self.names else 0.0 for name in names])
        g = [np.linalg.inv(self.carrier(begun))]
        for element in elements:
            g.append(g[-1] @ element)
        q = np.array([states.get(name, np.zeros(len(t))) for name in names])
        moved = np.array([self.placed(each, at, numbers) for each, at in zip(g, q.T, strict=True)]).T
        return {name: moved[names.index(name)] for name in (*self.names, *self.moved)}

    def fields(self, velocities: np.ndarray) -> np.ndarray:
        """Σ μ_a ξ_a as matrices on (q, 1), for columns of all velocities."""
        return self._combined(self.rates @ velocities[list(self.frozen)])

    def _combined(self, mu: np.ndarray) -> np.ndarray:
        """Σ μ_a ξ_a as matrices on (q, 1), for columns μ."""
        return np.einsum("a...,aij->...ij", mu, np.array([affine(each) for each in self.generators]))


def solved(matrix: list[list[Expression]], right: list[Expression], reference: np.ndarray) -> list[Expression]:
    """The solution of linear equations, eliminated in the graph with pivots chosen for a reference."""
    rows, right, values = [list(row) for row in matrix], list(right), reference.copy()
    for k in range(len(rows)):
        pivot = k + int(np.abs(values[k:, k]).argmax())
        rows[k], rows[pivot] = rows[pivot], rows[k]
        right[k], right[pivot] = right[pivot], right[k]
        values[[k, pivot]] = values[[pivot, k]]
        for i in range(k + 1, len(rows)):
            factor = rows[i][k] / rows[k][k]
            rows[i] = [a - factor * b for a, b in zip(rows[i], rows[k], strict=True)]
            right[i] = right[i] - factor * right[k]
            values[i] -= values[i, k] / values[k, k] * values[k]
    found: list[Expression] = [ZERO] * len(rows)
    for k in reversed(range(len(rows))):
        found[k] = (right[k] - dot(rows[k][k + 1 :], found[k + 1 :])) / rows[k][k]
    return found


def affine(generator: Generator) -> np.ndarray:
    """A generator as a matrix on (q, 1)."""
    n = len(generator.c)
    return np.block([[generator.B, generator.c[:, None]], [np.zeros((1, n + 1))]])


def _sum(terms: Sequence[Expression]) -> Expression:
    return sum_of(list(terms)) if terms else ZERO


def row(numbers: np.ndarray, of: Sequence[Expression]) -> Expression:
    """A linear combination of expressions."""
    return _sum([float(x) * each for x, each in zip(numbers, of, strict=True) if x])


def _frozen(expressions: list[Expression], still: Mapping[Expression, Expression]) -> list[Expression]:
    names = {str(x) for x in still}
    if not expressions or not names & set(variables_in(expressions)):
        return expressions
    return subs(expressions, dict(still))


def state_on(flow: Flow, q: np.ndarray, numbers: np.ndarray, v: np.ndarray | None = None) -> np.ndarray:
    """The state of a flow at a configuration and velocities of all coordinates, or along columns; by default the
    velocities are those of what rests where the constraints do."""
    system: System = flow.system  # type: ignore[assignment]
    names, v = system.coordinate_names, frame_velocities_at(system, numbers) if v is None else v
    if flow.slice is not None:
        q, v = flow.slice.carried(q, v, numbers)
    known = dict(zip((*names, *(f"{name}_dot" for name in names)), (*q, *v), strict=True))
    return np.array([known.get(name, 0.0 * q[0]) for name in flow.states])
