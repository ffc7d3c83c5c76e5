"""Directions about a steady motion: those that constraints allow, and states that select a member of its family."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations, islice
from typing import TYPE_CHECKING

import numpy as np

from pfaff.algebra.bordering import balanced
from pfaff.algebra.units import row_units
from pfaff.flow.differentiation import jacobian_entries
from pfaff.flow.flow import Flow
from pfaff.flow.graph import Expression
from pfaff.flow.lagrangian import graph_of

if TYPE_CHECKING:
    from pfaff.case import Case
    from pfaff.statement.system import System

PIVOT = 1e-2  # least contribution of a state to a unit vector of the family, if it is to select a member
DRAWS, ULPS = 8, 64 * float(np.finfo(float).eps)  # states drawn around one, and how far around it, to estimate rounding
SELECTIONS = 60  # sets of states, for each number of them, that are tried to select a neighbour


def selections(
    J: np.ndarray, allowed: np.ndarray, zeros: tuple[int, ...], states: Sequence[str], first: Sequence[str]
) -> Iterator[tuple[str, ...]]:
    """States that may select a member of the family: as many as there are null vectors that move them, or fewer."""
    matrix, scale = balanced(J)
    for k in range(zeros[0] if zeros else 0, 0, -1):
        null = np.linalg.qr(allowed @ (scale[:, None] * np.linalg.svd(matrix)[2][len(J) - zeros[0] :].T))[0]
        rows = {name: row for name, row in zip(states, null, strict=True) if np.linalg.norm(row) > PIVOT}
        order = [*dict.fromkeys(name for name in first if name in rows), *(n for n in rows if n not in first)]
        # states that change in proportion along the family, such as the radius of a circle and its speed, select less
        apart = (
            names
            for names in combinations(order, k)
            if np.linalg.svd(np.array([rows[name] for name in names]), compute_uv=False).min() > PIVOT
        )
        yield from islice(apart, SELECTIONS)


def exact_zeros(case: Case, flow: Flow, x: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """The Jacobian, states in units of their sizes, with zeros for entries that are rounding, which balancing would
    take for numbers.

    Such entries are small beside their rows, or change by their own size when the last digits of the state do.
    """
    spread = np.random.default_rng(1992).uniform(-1, 1, (len(x), DRAWS)) * ULPS * sizes[:, None]
    units = sizes / sizes[:, None]
    J, around = flow.jacobian(x, case) * units, flow.jacobian(x[:, None] + spread, case) * units[..., None]
    noise = np.maximum(DRAWS * np.ptp(around, axis=2), ULPS * np.abs(J).max(axis=1, keepdims=True, initial=0.0))
    return np.where(np.abs(J) <= noise, 0.0, J)


def allowed_directions(flow: Flow, x: np.ndarray, numbers: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """An orthonormal basis of the directions that keep to the holonomic constraints, and to the states that a frame
    keeps in place; states in units of their sizes."""
    system: System = flow.system  # type: ignore[assignment]
    n, count = len(flow.states), len(system.statement.positions)
    stays = np.eye(n)[list(flow.frame.kept)] if flow.frame else np.zeros((0, n))
    if not count and not len(stays):
        return np.eye(n)

    def derived() -> list[Expression]:
        graph = flow.unsolved or graph_of(system)
        return jacobian_entries(graph.positions, flow.variables)

    values = flow.compiled("holonomic rows", derived)(x, numbers) if count else np.zeros(0)
    rows = np.vstack([values.reshape(count, n) * sizes, stays])
    return np.linalg.svd(row_units(rows)[:, None] * rows)[2][len(rows) :].T


def null_vector(J: np.ndarray, value: complex) -> np.ndarray:
    return np.linalg.svd(J - value * np.eye(len(J)))[2][-1].conj()
