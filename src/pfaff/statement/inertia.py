"""Inertia that only the constraints complete: mass matrices that are singular alone, but not on what may move.

Four coordinates of a quaternion have the inertia of three rotations, massless coordinates may be tied to heavy ones,
and an angle has none in the pole of its chart. M is looked at in random configurations, in the origin, and where one
coordinate is zero or a right angle; with the default parameters, and with each that may vanish at zero.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
import sympy as sm

from pfaff.algebra.allowed_inertia import kinetic_units
from pfaff.algebra.tolerances import RANK
from pfaff.statement.characteristic import characteristic
from pfaff.statement.draws import Draws
from pfaff.statement.evaluation import evaluated, magnitudes
from pfaff.threads import once

if TYPE_CHECKING:
    from pfaff.statement.system import System

LIGHT = 1e-6  # inertia below this, in units in which that of every coordinate is one, is weak
RANDOM = 3  # random configurations
NONE = 1e-13  # inertia below this, beside the terms of the kinetic energy, is none


@once(most=64)
def usual_inertias(system: System) -> np.ndarray | None:
    """The usual inertia of every coordinate, by which constraints are weighed where M is singular, or nearly so, but
    regular on the velocities that they allow; None where M is regular wherever it was looked at."""
    if not system.statement.constraints:
        return None
    M, A, inertia = _matrices(system, list(_points(system)))
    finite = np.isfinite(M).all(axis=(1, 2)) & np.isfinite(A).all(axis=(1, 2))
    if not any(_regular_on_kernel(M[k], A[k]) for k in np.flatnonzero(finite & _weak(M, finite))):
        return None
    largest = inertia[finite].max(axis=0)
    rows = np.abs(A[finite]).max(axis=0)
    return kinetic_units(np.diag(largest), rows) ** -2.0


@once(most=64)
def singular_alone(system: System) -> bool:
    """Whether M is singular everywhere."""
    M, *_ = _matrices(system, list(_points(system))[1 : 1 + RANDOM])
    finite = np.isfinite(M).all(axis=(1, 2))
    return bool(finite.any() and _weak(M, finite, RANK)[finite].all())


def _matrices(system: System, points: list[list[float]]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """M, in units in which its diagonal is one or zero, A, and the diagonal of M at points."""
    s = system.statement
    known = dict(zip((*s.q, s.time, *system.parameters), np.array(points).T, strict=True))
    M, inertia = _inertias(s.kinetic, s.v, known)
    return M, _rows(system, known), inertia


def _weak(M: np.ndarray, finite: np.ndarray, least: float = LIGHT) -> np.ndarray:
    return np.linalg.eigvalsh(np.where(finite[:, None, None], M, 1.0))[:, 0] < least


def _points(system: System) -> Iterator[list[float]]:
    """Configurations, a time and parameters."""
    s, n, generator = system.statement, len(system.statement.q), Draws(1788)
    usual = [1.0 if value is None else float(value) for value in system.parameters.values()]
    known: dict[sm.Basic, Any] = dict(zip(system.parameters, usual, strict=True))
    sizes = characteristic([s.kinetic, *s.constraints], s.q, known | dict.fromkeys(s.v, 1.0) | {s.time: 0.3}).usual

    def random() -> np.ndarray:
        return sizes * generator.uniform(0.2, 1.4, n)

    yield [0.0] * n + [0.3, *usual]
    for _ in range(RANDOM):
        yield [*random(), 0.3, *usual]
    for k in range(n):
        for special in (0.0, np.pi / 2):
            yield [*np.where(np.arange(n) == k, special, random()), 0.3, *usual]
    for k, p in enumerate(system.parameters):
        if p in s.kinetic.free_symbols and not p.is_positive:
            yield [*random(), 0.3, *usual[:k], 0.0, *usual[k + 1 :]]


def _inertias(kinetic: sm.Expr, v: tuple[sm.Symbol, ...], known: dict[sm.Basic, Any]) -> tuple[np.ndarray, np.ndarray]:
    """M at every point, in units in which its diagonal is one or zero, and its diagonal."""
    n, count = len(v), len(next(iter(known.values())))

    def energies(moves: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The quadratic part of T, and the size of its terms, for moves [coordinate, move, point]."""
        signs = np.stack([moves, -moves, 0 * moves])
        at = known | {x: signs[:, k] for k, x in enumerate(v)}
        wide = signs.shape[:1] + signs.shape[2:]
        value, size = (np.broadcast_to(f([kinetic], at)[0], wide) for f in (evaluated, magnitudes))
        return (value[0] + value[1]) / 2 - value[2], size[0]

    single, sizes = energies(np.repeat(np.eye(n)[:, :, None], count, axis=2))
    with np.errstate(all="ignore"):
        units = np.where(single > NONE * sizes, 1 / np.sqrt(2 * single), 0.0)
    found = np.zeros((count, n, n))
    found[:, np.arange(n), np.arange(n)] = (units > 0).T
    pairs = list(combinations(range(n), 2))
    if pairs:
        moves = np.zeros((n, len(pairs), count))
        for place, (i, j) in enumerate(pairs):
            moves[i, place], moves[j, place] = units[i], units[j]
        both = energies(moves)[0]
        for place, (i, j) in enumerate(pairs):
            found[:, i, j] = found[:, j, i] = np.where((units[i] > 0) & (units[j] > 0), both[place] - 1.0, 0.0)
    finite = np.isfinite(single).all(axis=0)[:, None]
    return np.where(finite[..., None], found, np.nan), np.where(units > 0, 2 * single, 0.0).T


def _rows(system: System, known: dict[sm.Basic, Any]) -> np.ndarray:
    """A at every point, [point, row, coordinate]."""
    s, count = system.statement, len(next(iter(known.values())))
    entries = evaluated([a for *row, _ in s.coefficients for a in row], known)
    table = np.array([np.broadcast_to(each, count) for each in entries], dtype=float)
    return table.T.reshape(count, len(s.constraints), len(s.v))


def _regular_on_kernel(M: np.ndarray, A: np.ndarray) -> bool:
    """Whether the velocities that the rows allow all have inertia: M in units in which its diagonal is one or zero."""
    for axis in (0, 1):
        sizes = np.abs(A).max(axis=axis, keepdims=True)
        A = A / np.where(sizes > 0, sizes, 1.0)
    _, values, right = np.linalg.svd(A)
    free = right[int((values > RANK).sum()) :]
    return not len(free) or bool(np.linalg.eigvalsh(free @ M @ free.T)[0] > RANK)
