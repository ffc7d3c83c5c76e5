"""What the unknowns and equations of a principle amount to before anything cancels: the scale of their rounding errors.

A solution x of K x + b = 0 leaves a residual of about ε (|K||x| + |b|), row by row, and has errors up to ε |K⁻¹| times
that, component by component (Skeel 1979, J. ACM 26): sizes that exist where x itself vanishes, and in every unit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from pfaff.algebra.allowed_inertia import penalised
from pfaff.flow.cancellation import sized
from pfaff.flow.lagrangian import Graph
from pfaff.flow.program import Program, program_of
from pfaff.principles import AppellEquations, Principle
from pfaff.statement.inertia import usual_inertias
from pfaff.threads import once

if TYPE_CHECKING:
    from pfaff.principles.random_states import States

BLUR = 1e-6  # share of the speeds by which velocities are moved, for the first-order effect
SLOW = 1e-3  # of all kinetic energy in one velocity, or of one: slower ones are not told from rest


@dataclass(frozen=True)
class Sizes:
    """Sizes of ``accelerations`` and ``reactions``, for their errors; of the unknowns in the equations, for residuals.

    The latter are ``terms`` of velocities, accelerations and reactions, a principle's ``speeds`` and their ``rates``.
    """

    accelerations: np.ndarray
    reactions: np.ndarray
    terms: tuple[np.ndarray, np.ndarray, np.ndarray]
    speeds: np.ndarray
    rates: np.ndarray


@dataclass(frozen=True)
class Balance:
    """M q̈ + h + Aᵀp = 0 and A q̈ + γ = 0 at states, which come first in matrices and last in columns."""

    M: np.ndarray
    h: np.ndarray
    A: np.ndarray
    gamma: np.ndarray


@dataclass(frozen=True)
class Speeds:
    """A principle's speeds u = W q̇ + w, q̇ = B u + β: B, the sizes of u, and the rates of states beyond q."""

    B: np.ndarray
    sizes: np.ndarray
    rates: np.ndarray


def sizes(equations: Principle, at: States, reference: Sequence[np.ndarray]) -> Sizes:
    """Sizes of the unknowns of a principle; ``reference`` are the accelerations and reactions.

    All principles invert M and A M⁻¹Aᵀ, but those in quasi-velocities.
    """
    u, (_, p) = _speeds(equations, at), reference
    v = np.abs(at.v) + _applied(u.B, u.sizes)
    exact, large = _balances(equations.formulation.graph, at, v)
    if isinstance(equations, AppellEquations) and equations.carried:
        large = _with_blurred_velocities(equations.formulation.graph, at, v, u, large)
    weighed = penalised(exact.M, exact.A, usual_inertias(equations.system))[0]
    mobility, pull = _inverse(weighed), _turned(exact.A)
    compliance = _inverse(exact.A @ mobility @ pull)
    a = np.abs(_product(mobility, exact.h)) + _applied(mobility @ pull, p)  # what forces and reactions make each
    forces = _applied(_grown(large.M), a) + large.h + _applied(_turned(large.A), p)
    reactions = _applied(compliance, _applied(large.A, a + _applied(mobility, forces)) + large.gamma)
    accelerations = _applied(mobility, forces + _applied(_turned(large.A), reactions))
    terms = _moving(v, at, weighed), _fitting(large.M, forces), _fitting(_turned(large.A), forces)
    found = Sizes(accelerations, reactions, terms, u.sizes, forces)
    return _of_quasi_velocities(found, u, reference, exact, large) if isinstance(equations, AppellEquations) else found


def _with_blurred_velocities(graph: Graph, at: States, v: np.ndarray, u: Speeds, large: Balance) -> Balance:
    """Small entries of an orthonormal basis are known to ε of its columns, not of themselves: so are the velocities
    B u, and what depends on them to first order."""
    blurred = np.broadcast_to(np.abs(u.sizes).sum(axis=0), v.shape)
    beyond = _balances(graph, at, v + BLUR * blurred)[1]
    more = [(getattr(beyond, each) - getattr(large, each)) / BLUR for each in ("h", "gamma")]
    return replace(large, h=large.h + more[0], gamma=large.gamma + more[1])


def _of_quasi_velocities(
    found: Sizes, u: Speeds, reference: Sequence[np.ndarray], exact: Balance, large: Balance
) -> Sizes:
    """There q̈ = B u̇ + σ, and B eliminates the reactions, which follow from A Aᵀ; an orthonormal B is carried along."""
    changes, turning = np.split(u.rates, [len(u.sizes)])
    drift = np.abs(reference[0] - _product(u.B, changes))
    forces = found.rates + _applied(large.M, drift + _applied(u.B, changes))
    inertia, along = _turned(u.B) @ exact.M @ u.B, _applied(_turned(u.B), forces)
    accelerations = found.accelerations + drift + _applied(u.B, _applied(_inverse(inertia), along))
    pulls = _applied(large.A, forces + _applied(large.M, accelerations))
    reactions = found.reactions + _applied(_inverse(exact.A @ _turned(exact.A)), pulls)
    speeds = np.vstack([u.sizes, np.ones_like(turning)])
    turning = np.broadcast_to(np.abs(turning).max(axis=0, initial=0.0), turning.shape)
    return Sizes(accelerations, reactions, found.terms, speeds, np.vstack([_fitting(inertia, along), turning]))


def _moving(v: np.ndarray, at: States, M: np.ndarray) -> np.ndarray:
    """Velocities that the constraints forbid are rounding errors of those that were drawn, which are of usual size."""
    energy = np.einsum("is,sij,js->s", at.v, M, at.v)
    return v + SLOW * np.maximum(at.usual[:, None], np.sqrt(np.abs(energy / np.einsum("sii->is", M))))


def _product(matrices: np.ndarray, columns: np.ndarray) -> np.ndarray:
    return np.einsum("sij,js->is", matrices, columns)


def _applied(matrices: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """|matrix| |column|, state by state."""
    return _product(np.abs(matrices), np.abs(columns))


def _fitting(matrices: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """The largest columns x whose terms K_ij x_j are nowhere larger than the rows."""
    with np.errstate(divide="ignore", invalid="ignore"):
        each = np.where(matrices != 0, rows.T[:, :, None] / np.abs(matrices), np.inf)
    found = each.min(axis=1, initial=np.inf).T
    return np.where(np.isfinite(found), found, 0.0)


def _grown(M: np.ndarray) -> np.ndarray:
    """The terms of L D Lᵀ: up to √(M_ii M_jj) where a smaller M_ij remains of them."""
    diagonal = np.sqrt(np.abs(np.einsum("sii->si", M)))
    return np.maximum(M, diagonal[:, :, None] * diagonal[:, None, :])


def _inverse(matrices: np.ndarray) -> np.ndarray:
    """Inverses of symmetric matrices, in units that make their diagonals ones."""
    diagonal = np.abs(np.einsum("sii->si", matrices))
    units = 1 / np.sqrt(np.where(diagonal, diagonal, 1.0))
    scale = units[:, :, None] * units[:, None, :]
    return np.linalg.inv(scale * matrices) * scale


def _turned(matrices: np.ndarray) -> np.ndarray:
    return matrices.transpose(0, 2, 1)


@once(most=1)
def _program(graph: Graph) -> Program:
    rows = [*(e for row in graph.M for e in row), *graph.h, *(e for row in graph.A for e in row)]
    return program_of([*rows, *graph.gamma], [*graph.q, *graph.v])


def _balances(graph: Graph, at: States, v: np.ndarray) -> list[Balance]:
    """The values, and their sizes where velocities have the sizes v."""
    n, m, count = len(graph.q), len(graph.A), len(at.time)
    x, large = np.vstack([at.q, at.v]), np.vstack([np.abs(at.q), v])
    both = []
    for values in sized(_program(graph), x, large, at.numbers, at.time):
        M, h, A, gamma = np.split(values, np.cumsum([n * n, n, m * n]))
        both.append(Balance(M.T.reshape(count, n, n), h, A.T.reshape(count, m, n), gamma))
    return both


def _speeds(equations: Principle, at: States) -> Speeds:
    formulation, n = equations.formulation, len(at.q)

    def state(v: np.ndarray) -> np.ndarray:
        return formulation.state(at.q, v, at.numbers, at.time)

    def flow(x: np.ndarray) -> np.ndarray:
        return formulation.unknowns(x, at.numbers, at.time)[0]

    rest, rates = np.zeros_like(at.v), flow(state(at.v))[n:]
    x = state(rest)
    W = np.array([(state(rest + each) - x)[n:] for each in np.eye(n)[:, :, None]])  # [coordinate, speed, state]
    moved = W.any(axis=(0, 2))  # other states are a basis that is carried along
    w = np.abs(x[n:][moved])
    x[n:][moved] = 0.0
    axes = np.eye(len(x))[n:][moved][:, :, None]
    B = np.array([(flow(x + each) - flow(x))[:n] for each in axes]).reshape(len(axes), *at.v.shape)
    W, B = W[:, moved].transpose(2, 1, 0), B.transpose(2, 1, 0)
    if isinstance(equations, AppellEquations):
        W = np.abs(_inverse(_turned(B) @ B)) @ np.abs(_turned(B))  # u follows from BᵀB
    return Speeds(B, w + _applied(W, np.abs(at.v) + np.abs(flow(x)[:n])), rates)
