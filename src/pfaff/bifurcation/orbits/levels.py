"""Families of orbits: the branch on one level of a conserved quantity, and the remaining multipliers on it.

A conserved quantity I is not known in closed form, but its gradient ψ along an orbit is (``null_vectors``). On a branch
of one level ψ·dx = 0. In coordinates of the family, c = mean of rows·x and σ = last·x, that is a differential equation
dc/dσ, which is solved by Radau's method: the level is kept to its order, seven.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.polynomial import Polynomial

from pfaff.bifurcation.orbits.collocation import Collocation
from pfaff.bifurcation.orbits.cycles import Cycle, Metric
from pfaff.bifurcation.orbits.floquet import multipliers, sorted_multipliers
from pfaff.bifurcation.orbits.null_vectors import conserved_gradients
from pfaff.bifurcation.orbits.solutions import NOT_FINITE, Solution
from pfaff.continuation.endings import Reason, Refused

STAGES = 4
SWEEPS = 25  # most sweeps over all stages
KEPT = 1e-12  # change of a level by a sweep, relative to its range on the orbit, that no longer counts
ROUNDING = 1e-10  # change below which one that is not half of the change before is rounding
UNFOLDED = 1e-7  # rate along a family, relative to the orbit's, that is zero

Row = tuple[np.ndarray, np.ndarray]


class Drifting(Refused):
    """Orbits that were taken for a family move along it."""

    reason = Reason.DRIFTING


@lru_cache(maxsize=1)
def radau() -> tuple[np.ndarray, np.ndarray]:
    """Nodes in (0, 1], the last at 1, and the integrals from 0 of the polynomials that are 1 at one of them."""
    s = Polynomial([0.0, 1.0])
    nodes = np.sort((s ** (STAGES - 1) * (s - 1) ** STAGES).deriv(STAGES - 1).roots().real)
    nodes[-1] = 1.0
    integrals = np.empty((STAGES, STAGES))
    for k, node in enumerate(nodes):
        others = np.delete(nodes, k)
        basis = Polynomial.fromroots(others) / np.prod(node - others)
        integrals[:, k] = basis.integ()(nodes)
    return nodes, integrals


def on_level(
    c: Collocation,
    guess: Cycle,
    origin: Cycle,
    phase: Cycle,
    metric: Metric,
    last: Row,
    held: np.ndarray,
    converged: float | None = None,
) -> Solution:
    """The orbit on the level of an origin at which the last row has its value on a guess; its tangent keeps the level.

    ``phase`` is the orbit whose phase it takes, ``held`` are covectors that serve as coordinates of the family.
    """
    pins = c.pins(phase, metric, last, held, guess)
    rows, ahead = pins.rows[1:-1], guess.moved(origin, -1.0)
    start, size = _over(rows, origin.x), _over(np.abs(rows), 1 / metric.states)
    nodes, integrals = radau() if guess is not origin else (np.ones(1), np.zeros((1, 1)))
    places = pins.right[-1] + (nodes - 1) * _along(last, ahead)
    stages = [origin.moved(ahead, node) for node in nodes]
    levels = np.outer(nodes**2, _over(rows, ahead.x))
    before, last_change = None, np.inf
    for _ in range(SWEEPS):
        solutions = []
        for stage, level, place in zip(stages, start + levels, places, strict=True):
            pinned = pins._replace(right=np.array([pins.right[0], *level, place]))
            solution = c.correct(stage, pinned, metric, converged)
            solutions.append(_turned(c, solution, metric, last, held))
        stages, tangents = [each.cycle for each in solutions], [each.tangent for each in solutions]
        slopes = np.array([_over(rows, each.x) / _along(last, each) for each in tangents]) * _along(last, ahead)
        change = integrals @ slopes - levels
        left = float(np.max(np.abs(change) / size))
        if left <= KEPT or last_change / 2 < left < ROUNDING:
            if _moves(c, solutions[-1], metric):
                raise Drifting("the oscillation moves along the family of equilibria: nothing is conserved there")
            return solutions[-1]
        levels, before, last_change = _accelerated(levels, change, size, before), (levels, change), left
    raise Refused("the level of what is conserved does not settle")


def _accelerated(
    levels: np.ndarray, change: np.ndarray, size: np.ndarray, before: tuple[np.ndarray, np.ndarray] | None
) -> np.ndarray:
    """The next iterate by Anderson's method (1965), from the last two and their images."""
    if before is None:
        return levels + change
    difference = (change - before[1]) / size
    share = float((change / size * difference).sum() / ((difference**2).sum() or 1.0))
    return levels + change - share * (levels + change - before[0] - before[1])


def gradients_of(c: Collocation, cycle: Cycle, metric: Metric, last: Row, held: np.ndarray) -> np.ndarray | None:
    """Gradients of the conserved quantities on an orbit, where they are known; they do not depend on the rows that
    select it."""
    return conserved_gradients(c, cycle, c.pins(cycle, metric, last, held, cycle))


def coordinates(c: Collocation, cycle: Cycle, metric: Metric, last: Row, held: np.ndarray) -> np.ndarray:
    """The gradients at the first point of an orbit, which is on every mesh; other covectors where they are not
    known."""
    gradients = gradients_of(c, cycle, metric, last, held)
    if gradients is None:
        return held
    gradients[:, 1:] = 0.0
    return gradients / cycle.mesh.weights[0]


def _turned(c: Collocation, solution: Solution, metric: Metric, last: Row, held: np.ndarray) -> Solution:
    """The orbit with tangent and determinant on its own level, and with its own transition matrices: those of Newton's
    method belong to the orbit before its last step, which a change of level makes long."""
    cycle = solution.cycle
    gradients = gradients_of(c, cycle, metric, last, held)
    if gradients is None:
        raise Refused(NOT_FINITE)
    own = c.evaluated(cycle, c.pins(cycle, metric, last, gradients, cycle), metric)
    return solution._replace(G=own.G, tangent=own.tangent, determinant=own.determinant, levels=gradients)


def _moves(c: Collocation, solution: Solution, metric: Metric) -> bool:
    """Whether the orbit closes only by an unfolding: nothing is conserved, and it drifts along the family."""
    drift = metric.states * (c.equations.unfolding @ solution.cycle.scalars[2:])
    return bool(np.abs(drift).max() > UNFOLDED * np.abs(metric.states[:, None] * solution.rates).max())


def _over(rows: np.ndarray, x: np.ndarray) -> np.ndarray:
    """The values of rows over all mesh points."""
    return (rows * x).sum(axis=(1, 2))


def _along(last: Row, change: Cycle) -> float:
    return float((last[0] * change.x).sum() + last[1] @ change.scalars)


def free_multipliers(
    solution: Solution, metric: Metric, start: np.ndarray | None, accuracy: float, bonds: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Multipliers of an orbit in a family, in order, with 1 for each conserved quantity; and the basis of the
    iteration.

    Those that are 1 by structure form Jordan blocks, in which rounding is large: the others are those of motions on
    the level set, ψ·v = 0, across the orbit, v·f = 0. Rounding is seen in how the velocity f is carried into itself.
    ``bonds`` are rows that vanish on all changes which constraints allow.
    """
    assert solution.levels is not None
    _, left, along = across_orbit(solution, solution.levels, metric, bonds)
    values, basis = multipliers(left, np.ones(left.shape[1]), start, accuracy)
    return sorted_multipliers(np.concatenate([values, [along], np.ones(len(solution.levels))])), basis


def across_orbit(
    solution: Solution, levels: np.ndarray, metric: Metric, bonds: np.ndarray
) -> tuple[np.ndarray, np.ndarray, float]:
    """Rows that span what is on the level set across the orbit, at all mesh points, transition matrices in them, and by
    what the velocity is carried into itself: 1 but for errors."""
    unit, cycle = metric.states, solution.cycle
    f = unit * solution.rates.T[: len(cycle.x)]
    rows = np.concatenate([f[:, None], (levels / unit).transpose(1, 0, 2), bonds / unit], axis=1)
    rows /= np.linalg.norm(rows, axis=2, keepdims=True)
    Q = np.linalg.svd(rows)[2][:, rows.shape[1] :]
    Q[-1] = cycle.signs * Q[0]
    G = metric.measured(solution.G)
    along = np.einsum("jt,jts,js->j", f[1:], G, f[:-1]) / (f[1:] ** 2).sum(axis=1)
    return Q, np.ascontiguousarray(Q[1:] @ G @ Q[:-1].transpose(0, 2, 1)), float(along.prod())
