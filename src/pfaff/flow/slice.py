"""Reduction by symmetries: as many coordinates as there are generators are frozen, and the motion is seen from a frame
that moves with the group.

With generators ξ_a(q) = B_a q + c_a, every configuration is carried by the group to one at which the frozen coordinates
J are zero. There, and for velocities carried along,

    q̇ = v − Σ μ_a ξ_a(q),    v̇ = a(q, v) − Σ μ_a B_a v,    μ = ξ_J⁻¹ v_J:

the equations of motion of the shape, in which steady motions rest. For a coordinate on which nothing depends, ξ = e_j,
this drops it; for the heading of a sleigh, ξ = (−y, x, 1), velocities are those at the instant when it is zero.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import heyoka as hy
import numpy as np

from pfaff.flow.graph import ZERO, Expression, Graph, dot
from pfaff.flow.shape import DROPPED, ignorable_coordinates
from pfaff.flow.symmetries import Generator, hold, symmetries
from pfaff.statement.system import System
from pfaff.threads import cached_property, once

if TYPE_CHECKING:
    from pfaff.flow.flow import Flow

ALIKE = "dropped: by symmetry only its velocity matters"
MEASURED = "kept: its value when {} is zero, to which a symmetry carries every motion"
LEADS = 0.1  # a coordinate that a generator moves by less than this, relative to the one moved most, is not frozen
CLOSED = 1e-9  # commutators of generators that are combinations of these, up to rounding
ROUNDED = 1e-15  # frozen coordinates below this, relative to all, are zero
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

    @cached_property
    def evident(self) -> bool:
        """Whether the frozen coordinates are just those that appear nowhere."""
        plain = all(each.translates and np.count_nonzero(each.c) == 1 for each in self.generators)
        return plain and set(self.names) == set(ignorable_coordinates(self.system))

    @cached_property
    def moved(self) -> tuple[str, ...]:
        """Coordinates besides the frozen ones that the group moves."""
        moves = np.any([(each.B != 0).any(axis=1) | (each.c != 0) for each in self.generators], axis=0)
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
        mu = [dot([hy.expression(float(x)) for x in row], rates) for row in self.rates]
        q = [ZERO if i in self.frozen else x for i, x in enumerate(graph.q)]
        terms = range(len(v))
        turned = [_sum([m * _row(g.B[i], v) for m, g in zip(mu, self.generators, strict=True)]) for i in terms]
        drift = [
            _sum([m * (_row(g.B[i], q) + float(g.c[i])) for m, g in zip(mu, self.generators, strict=True)])
            + (graph.drift[i] if graph.drift else ZERO)
            for i in terms
        ]
        M, A = ([_frozen(row, still) for row in rows] for rows in (graph.M, graph.A))

        def carried(forces: list[Expression], rows: list[list[Expression]]) -> list[Expression]:
            return [f + dot(row, turned) if self.turns else f for f, row in zip(forces, rows, strict=True)]

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

    def carried(self, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Configurations and velocities, or columns of them, on the slice."""
        whole = self.carrier(q)
        turn, shift = whole[..., :-1, :-1], whole[..., :-1, -1]
        there = ((turn @ q.T[..., None])[..., 0] + shift).T
        there[list(self.frozen)] = 0.0
        return there, (turn @ v.T[..., None])[..., 0].T

    def paths(
        self, t: np.ndarray, velocities: np.ndarray, states: Mapping[str, np.ndarray], start: Mapping[str, float]
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
        zero = np.zeros(len(t))
        q = np.array([*(states.get(name, zero) for name in names), 1 + zero])
        moved = np.einsum("kij,jk->ik", np.array(g), q)
        return {name: moved[names.index(name)] for name in (*self.names, *self.moved)}

    def fields(self, velocities: np.ndarray) -> np.ndarray:
        """Σ μ_a ξ_a as matrices on (q, 1), for columns of all velocities."""
        return self._combined(self.rates @ velocities[list(self.frozen)])

    def _combined(self, mu: np.ndarray) -> np.ndarray:
        """Σ μ_a ξ_a as matrices on (q, 1), for columns μ."""
        return np.einsum("a...,aij->...ij", mu, np.array([affine(each) for each in self.generators]))


def affine(generator: Generator) -> np.ndarray:
    """A generator as a matrix on (q, 1)."""
    n = len(generator.c)
    return np.block([[generator.B, generator.c[:, None]], [np.zeros((1, n + 1))]])


def _sum(terms: Sequence[Expression]) -> Expression:
    return hy.sum(list(terms)) if terms else ZERO


def _row(numbers: np.ndarray, of: Sequence[Expression]) -> Expression:
    return _sum([float(x) * each for x, each in zip(numbers, of, strict=True) if x])


def _frozen(expressions: list[Expression], still: Mapping[Expression, Expression]) -> list[Expression]:
    names = {str(x) for x in still}
    if not expressions or not names & set(hy.get_variables(expressions)):
        return expressions
    return list(hy.subs(expressions, dict(still)))


def slice_of(system: System, keep: frozenset[str] = frozenset(), numbers: np.ndarray | None = None) -> Slice | None:
    """The slice of all symmetries that have one; None if no coordinates but those that appear nowhere are dropped.

    Coordinates in ``keep`` stay if symmetries leave a choice. Symmetries are confirmed at the numbers, if given.
    """
    if numbers is None or hold(system, tuple(numbers.tolist())):
        return _sliced(system, keep)
    return _sliced(system, keep, tuple(numbers.tolist()))


@once(most=16)
def _sliced(system: System, keep: frozenset[str], numbers: tuple[float, ...] | None = None) -> Slice | None:
    found = symmetries(system, numbers)
    stated = ignorable_coordinates(system)
    order = [[n in stated, n not in keep] for n in system.coordinate_names]
    S, chosen, frozen = found.sizes, [], []
    for g in _translations_first(found.generators):
        rest = _without(g, chosen, frozen)
        wanted = _frozen_by(rest, chosen, frozen, S, order)
        if wanted is not None:
            chosen, frozen = [*chosen, rest], [*frozen, wanted]
    part = Slice(system, tuple(chosen), tuple(frozen))
    return part if chosen and not part.evident else None


def translated(system: System) -> tuple[str, ...]:
    """Coordinates, one for each translation of a system, at all values of which it is alike."""
    part = slice_of(system)
    if part is None:
        return tuple(ignorable_coordinates(system))
    return tuple(name for name, each in zip(part.names, part.generators, strict=True) if each.translates)


def _translations_first(generators: Sequence[Generator]) -> list[Generator]:
    return sorted(generators, key=lambda g: not g.translates)


def _without(g: Generator, chosen: Sequence[Generator], frozen: Sequence[int]) -> Generator:
    """A generator minus those that move frozen coordinates as it does at zero."""
    if not frozen:
        return g
    X = np.array([each.c[list(frozen)] for each in chosen]).T
    by = np.linalg.solve(X, g.c[list(frozen)])
    B, c = (getattr(g, k) - sum(s * getattr(e, k) for s, e in zip(by, chosen, strict=True)) for k in ("B", "c"))
    c[list(frozen)] = 0.0
    return Generator(B, c)


def _frozen_by(
    g: Generator, chosen: Sequence[Generator], frozen: Sequence[int], S: np.ndarray, order: Sequence[Sequence[bool]]
) -> int | None:
    """The coordinate to freeze with one more generator; None if this leaves no slice, or no group."""
    sizes = np.abs(g.c) / S
    every = [*chosen, g]
    if not _closed(every, S):
        return None
    for j in sorted(np.flatnonzero(sizes > LEADS * sizes.max(initial=0.0)), key=lambda j: (*np.invert(order[j]), j)):
        J = [*frozen, int(j)]
        out = [k for k in range(len(S)) if k not in J]
        if not any(each.B[np.ix_(J, out)].any() for each in every):
            return int(j)
    return None


def _closed(generators: Sequence[Generator], S: np.ndarray) -> bool:
    """Whether the commutators of generators are among their combinations: they generate a group of no more."""
    scale = np.append(S, 1.0)
    maps = [affine(each) / scale[:, None] * scale for each in generators]
    basis = np.array([each.ravel() for each in maps]).T
    for k, a in enumerate(maps):
        for b in maps[:k]:
            commutator = (a @ b - b @ a).ravel()
            left = commutator - basis @ np.linalg.lstsq(basis, commutator, rcond=None)[0]
            if np.abs(left).max() > CLOSED * max(np.abs(a).max() * np.abs(b).max(), 1e-300):
                return False
    return True


def state_on(flow: Flow, q: np.ndarray, v: np.ndarray | None = None) -> np.ndarray:
    """The state of a flow at a configuration and velocities (zero by default) of all coordinates, or along columns."""
    names, v = flow.system.coordinate_names, np.zeros_like(q) if v is None else v  # type: ignore[union-attr]
    if flow.slice is not None:
        q, v = flow.slice.carried(q, v)
    known = dict(zip((*names, *(f"{name}_dot" for name in names)), (*q, *v), strict=True))
    return np.array([known.get(name, 0.0 * q[0]) for name in flow.states])
