"""Flows seen from a frame that moves with symmetries that no slice divides out: rotations of Cartesian coordinates or
of quaternions, where no coordinate measures the angle.

With as many states J as there are generators ξ_a, extended to velocities, the frame moves so that these states stay:

    ẋ = f(x) − Σ μ_a ξ_a(x),    μ = ξ_J(x)⁻¹ f_J(x).

What is carried along by the group rests there: a conical pendulum, a ball that rolls on. The states J keep any values:
each value belongs to another, equivalent motion, one of a family.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from pfaff.flow.conversion import convert
from pfaff.flow.differentiation import gradient
from pfaff.flow.flow import Flow, lowered_again
from pfaff.flow.graph import ZERO, Expression, expression, subs
from pfaff.flow.lagrangian import dot, graph_of
from pfaff.flow.motion_sizes import motion_sizes
from pfaff.flow.shape import ignorable_coordinates
from pfaff.flow.slice import Slice, row, solved
from pfaff.flow.stated_equations import stated_equations
from pfaff.flow.symmetries import Generator, hold, symmetries
from pfaff.statement.system import System
from pfaff.threads import once

ACTS = 1e-9  # parts of a generator below this, relative to it, are rounding
MOVES = 1e-2  # a state that the group moves by less than this, relative to the one it moves most, is not kept in place


@dataclass(frozen=True, eq=False)
class Frame:
    """The generators along which a flow is seen to move, the states, by index, that stay, and the flow at rest."""

    generators: tuple[Generator, ...]
    kept: tuple[int, ...]
    resting: Flow

    def rates(self, x: np.ndarray, numbers: np.ndarray) -> np.ndarray:
        """μ: how fast the frame moves along each generator."""
        J = list(self.kept)
        moved = fields_at(self.resting, self.generators, x, numbers)[J]
        return np.linalg.solve(moved, self.resting.rhs(x, numbers)[J])

    def acting(self, J: np.ndarray) -> np.ndarray:
        """Sizes of the entries of the Jacobian in this frame, and of those by which the generators, as fast as the
        fastest motion, mix states that stay with others: these tell the units of what rests anyway."""
        names, coordinates = self.resting.states, self.resting.system.coordinate_names
        mixing = sum(np.abs(g.B) for g in self.generators)
        kinds = coordinates, [f"{each}_dot" for each in coordinates]
        both = {name: (level, j) for level, each in enumerate(kinds) for j, name in enumerate(each)}
        acts, rate = np.abs(J), float(np.abs(np.linalg.eigvals(J)).max(initial=0.0)) or 1.0
        for k in self.kept:
            for i, name in enumerate(names):
                (a, j), (b, l) = both.get(names[k], (2, 0)), both.get(name, (3, 0))
                if a == b:
                    acts[k, i], acts[i, k] = acts[k, i] + rate * mixing[j, l], acts[i, k] + rate * mixing[l, j]
        return acts

    def across(self, x: np.ndarray, numbers: np.ndarray) -> np.ndarray:
        """A row for each generator that is constant straight across the orbits of the group: ξᵀM·q."""
        system: System = self.resting.system  # type: ignore[assignment]
        names, states = system.coordinate_names, self.resting.states
        places = [k for k, name in enumerate(states) if name in names]
        columns = [names.index(states[k]) for k in places]
        q = np.zeros(len(names))
        q[columns] = x[places]
        M = stated_equations(system)(q, 0 * q, numbers).M[np.ix_(columns, columns)]
        rows = np.zeros((len(self.generators), len(x)))
        rows[:, places] = fields_at(self.resting, self.generators, x, numbers)[places].T @ M
        return rows

    def carried(self, q: np.ndarray, v: np.ndarray, mu: np.ndarray) -> np.ndarray:
        """The rates of all coordinates and velocities that move with the frame."""
        pairs = list(zip(mu, self.generators, strict=True))
        return np.concatenate([sum(m * (g.B @ q + g.c) for m, g in pairs), sum(m * (g.B @ v) for m, g in pairs)])


def undivided(system: System, part: Slice | None, numbers: np.ndarray) -> tuple[Generator, ...]:
    """The generators beside the translations of a slice, or of coordinates that appear nowhere; none where what is left
    is not acted on."""
    known = hold(system, tuple(numbers.tolist()))
    found = symmetries(system) if known else symmetries(system, tuple(numbers.tolist()))
    along = _translations(system, part)
    if along is None or any(g.dependent for g in found.generators):
        return ()
    left = []
    for g in found.generators:
        B, c = _beside(g, *along)
        turned = g.B @ along[0]
        carried = along[0] @ np.linalg.lstsq(along[0], turned, rcond=None)[0] if turned.size else turned
        acts = np.abs(B).max() > ACTS * np.abs(g.B).max(initial=0.0) or np.abs(c).max() > ACTS * np.abs(g.c).max()
        if acts and np.abs(turned - carried).max(initial=0.0) <= ACTS * np.abs(turned).max(initial=0.0):
            left.append(g)
    return tuple(left)


def _translations(system: System, part: Slice | None) -> tuple[np.ndarray, list[int]] | None:
    """The directions, a column each, in which a slice translates, and the coordinates it freezes; None if it turns."""
    if part is not None:
        along = np.array([g.c for g in part.generators]).T
        return None if part.turns or part.dependent else (along, list(part.frozen))
    dropped = [system.coordinate_names.index(name) for name in ignorable_coordinates(system)]
    return np.eye(len(system.coordinates))[:, dropped], dropped


def _beside(g: Generator, along: np.ndarray, frozen: list[int]) -> tuple[np.ndarray, np.ndarray]:
    """B and c of a generator less the translations that undo what it does to frozen coordinates, which are zero."""
    back = along @ np.linalg.inv(along[frozen]) if frozen else np.zeros((len(g.c), 0))
    B, c = g.B - back @ g.B[frozen], g.c - back @ g.c[frozen]
    B[:, frozen] = 0.0
    return B, c


def fields_at(flow: Flow, generators: tuple[Generator, ...], x: np.ndarray, numbers: np.ndarray) -> np.ndarray:
    """ξ on the states of a flow, a column for each generator."""
    compiled = flow.compiled(
        ("fields", generators), lambda: [each for field in _fields(flow, generators) for each in field]
    )
    return compiled(x, numbers).reshape(len(generators), len(x)).T


def in_moving_frame(flow: Flow, generators: tuple[Generator, ...], x: np.ndarray, numbers: np.ndarray) -> Flow:
    """The flow in the frame of the generators that move a state, in which as many of its states stay as are moved; the
    flow itself if none does.

    Coordinates that are moved by a fair share of their sizes are kept in place, velocities where none is."""
    if not generators:
        return flow
    moved = fields_at(flow, generators, x, numbers)
    if not np.isfinite(moved).all():
        return flow
    moved = moved / motion_sizes(flow, x, numbers)[:, None]
    units = np.abs(moved).max(axis=0, initial=0.0)
    columns, rest = np.flatnonzero(units > MOVES * units.max()).tolist(), moved.copy()
    kept: list[int] = []
    used: list[int] = []
    positions = [k for k, name in enumerate(flow.states) if name in flow.system.coordinate_names]
    for _ in columns:
        for rows in (positions, range(len(x))):
            free = [(k, a) for k in rows if k not in kept for a in columns if a not in used]
            sizes = np.array([abs(rest[k, a]) / units[a] for k, a in free])
            if len(free) and sizes.max() > MOVES:
                break
        else:
            break
        k, a = free[int(sizes.argmax())]
        kept, used = [*kept, k], [*used, a]
        rest = rest - np.outer(rest[:, a] / rest[k, a], rest[k])
    return _in_frame(flow, tuple(generators[a] for a in used), tuple(kept)) if kept else flow


@lowered_again
@once(most=16)
def _in_frame(flow: Flow, generators: tuple[Generator, ...], kept: tuple[int, ...]) -> Flow:
    """The flow in which these states stay, each by the generator that is its pivot."""
    fields = _fields(flow, generators)
    matrix = [[field[k] for field in fields] for k in kept]
    mu = solved(matrix, [flow.expressions[k] for k in kept], np.eye(len(kept)))
    rates = [ZERO if k in kept else f - dot(mu, [field[k] for field in fields]) for k, f in enumerate(flow.expressions)]
    return replace(flow, expressions=rates, accelerations=None, frame=Frame(generators, kept, flow))


def _fields(flow: Flow, generators: Sequence[Generator]) -> list[list[Expression]]:
    """ξ of each generator, for all states of a flow."""
    system: System = flow.system  # type: ignore[assignment]
    names, graph = system.coordinate_names, graph_of(system)
    gone = {expression(name): ZERO for name in flow.dropped}
    velocities = dict(zip(graph.v, flow.velocity_expressions, strict=True))

    def on_states(expressions: list[Expression]) -> list[Expression]:
        return subs(subs(expressions, gone), velocities)

    found, along = [], _translations(system, flow.slice)
    assert along is not None
    for g in generators:
        B, c = _beside(g, *along)
        q = [row(B[i], graph.q) + float(c[i]) for i in range(len(names))]
        v = [row(g.B[i], graph.v) for i in range(len(names))]
        by_name = dict(zip(system.state_names, [*q, *v], strict=True))
        for name in set(flow.states) - by_name.keys():
            form = convert(system.quasi_forms[name], graph.symbols)
            by_name[name] = dot(gradient(form, [*graph.q, *graph.v]), [*q, *v])
        found.append(on_states([by_name[name] for name in flow.states]))
    return found
