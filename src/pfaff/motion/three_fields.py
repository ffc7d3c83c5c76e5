"""One step of the three-field augmented Lagrangian: positions q, velocities v and momenta π = ∂T/∂v as unknowns.

The weak form of Potosakis, Paraskevopoulos and Natsiavas (2020), ∫ δq·(π̇ − f + Aᵀλ̄) + δπ·(q̇ − v) + δv·(∂T/∂v − π) dt
= 0 with f = ∂(T − V)/∂q − ∂D/∂v + Q, is discretised by linear q and π, constant v and the midpoint rule. Of a step from
t₀ to t₁ = t₀ + h the unknown is the velocity v̄ at the midpoint q̄ = q₀ + h v̄/2, with the impulse Λ = hλ/2:

    ∂T/∂v(q̄, v̄) = π₀ + h f(q̄, v̄, t̄)/2 − A(q̃)ᵀΛ,      A(q̃) v̄ + b(q̃, t̄) = 0,                    (midpoint)
    q* = q₀ + h v̄,                                    π* = 2 ∂T/∂v(q̄, v̄) − π₀.

The rows are taken at the midpoint q̃ that the last step lets expect, O(h²) from q̄: at q̄ itself their equation would have
a double root where the step ends on a singular configuration. The end is set right by the least change in the metric
of the kinetic energy, for positions and for velocities (μ is the second multiplier of the source):

    M (q₁ − q*) + A(q₁)ᵀσ = 0,    φ(q₁, t₁) = 0;         ∂T/∂v(q₁, v₁) = π* − A(q₁)ᵀμ,   A(q₁) v₁ + b = 0.    (end)

Each is solved with augmented multipliers Λ̄ = Λ + W c (σ̄ = σ + W φ, μ̄ = μ + W c), which enter Newton's equations as

    [J  Aᵀ; A  −W⁻¹] [δv; δΛ] = −[r; c],       W = α / (a M⁻¹aᵀ) row by row,

regular for redundant and for vanishing rows alike; Λ ← Λ + δΛ is Uzawa's update, made with every step of Newton's.
In terms of forces, λ̄ = λ + ξφ with ξ = 4α/(h² a M⁻¹aᵀ): the penalty grows as 1/h² at least. Along a direction with the
singular value s of the scaled rows an iteration leaves 1/(1 + αs²) of the error. Hence α = 100/s₁², with s₁ the
relative change of the rows in a step: what is regular one step from a singular configuration is enforced, what is
less than a tenth of a step from it is left free for that step, where its direction would be noise. The
reaction it lacks does no work on the motions allowed, so that the end makes up for it to O(h²).

The step is of second order, through singular configurations too; reactions are those of least Σ (a M⁻¹aᵀ) λ².
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg.lapack import dgesv, dgetrf, dgetrs

from pfaff.algebra.newtons_method import Outcome, Stopping, newton
from pfaff.flow.compiled import Compiled
from pfaff.flow.differentiation import gradient, jacobian
from pfaff.flow.graph import par
from pfaff.flow.lagrangian import stated_graph_of
from pfaff.statement import System
from pfaff.threads import once

HARD = 100.0  # α s₁²: of the penalty to the inertia, along a direction as singular as one step makes or mends it
SOFTEST, HARDEST = 1e4, 1e8  # bounds of α
ITERATIONS = 12
ONTO_POSITIONS = Stopping(ITERATIONS, exact=1e-15, settled=np.inf, shrinks=1.0)  # they end where steps grow
PROJECTIONS = 3  # Uzawa's iterations for the velocities at the end, which are linear
ITERATED = 1e-11  # the change of velocity at which an iteration ends, in the metric of the kinetic energy
FAILED = 1e-6  # change above which an iteration has not converged


@dataclass(frozen=True)
class Node:
    """Position, velocity and momentum at the end of a step, with M and A there."""

    t: float
    q: np.ndarray
    v: np.ndarray
    pi: np.ndarray
    M: np.ndarray
    A: np.ndarray


@dataclass(frozen=True)
class Midpoint:
    """Position and velocity in the middle of a step, and the impulses of the reactions there and at its end."""

    q: np.ndarray
    v: np.ndarray
    impulse: np.ndarray
    end_impulse: np.ndarray


class ThreeFields:
    """The equations of a system at given parameters, ready to take steps."""

    def __init__(self, system: System, numbers: np.ndarray, alpha: float | None = None) -> None:
        graph = stated_graph_of(system)
        self.n, self.m, self.holonomic = len(graph.q), len(graph.A), len(graph.positions)
        self.numbers, self.alpha = numbers, alpha
        self._middle, self._end = compiled(system)

    def start(self, q: np.ndarray, v: np.ndarray) -> Node:
        """The node at time zero."""
        at = self._at_end(q, v, 0.0)
        lengths = (at.A * at.A).sum(axis=1)
        given = np.einsum("ij,ji->i", at.A, np.linalg.lstsq(at.M, at.A.T, rcond=1e-12)[0])
        usual = given.max(initial=0.0) / (lengths.max(initial=0.0) or 1.0) or 1.0
        self._mobility = np.divide(given, lengths, out=np.full(self.m, usual), where=given > 0)
        self._size = np.maximum(lengths, 1e-6 * (lengths.max(initial=0.0) or 1.0))
        self._slack = self._mobility * self._size / HARDEST
        return Node(0.0, q, v, at.pi, at.M, at.A)

    def step(self, node: Node, h: float, guess: np.ndarray, scale: float) -> tuple[Node, Midpoint] | None:
        """The next node; None if Newton's method fails. ``scale`` is twice the largest kinetic energy so far."""
        self._stiffen(node, h, guess)
        middle = self._midpoint(node, h, guess, scale)
        if middle is None:
            return None
        v, pi, impulse = middle
        t = node.t + h
        q = self._on_positions(node.q + h * v, v, t)
        at = self._at_end(q, np.zeros(self.n), t)
        v1, pi1, mu = self._on_velocities(at, 2 * pi - node.pi)
        if not (np.isfinite(q).all() and np.isfinite(v1).all()):
            return None
        return Node(t, q, v1, pi1, at.M, at.A), Midpoint(node.q + h / 2 * v, v, 2 * impulse, mu)

    def set_right(self, t: float, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The nearest state that obeys the constraints."""
        q = self._on_positions(q, v, t)
        at = self._at_end(q, np.zeros(self.n), t)
        return q, self._on_velocities(at, at.pi + at.M @ v)[0]

    def _midpoint(
        self, node: Node, h: float, v: np.ndarray, scale: float
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
        """v̄, ∂T/∂v and Λ; the rows are those at the midpoint expected. The remaining balance decides."""
        n, m = self.n, self.m
        numbers, t = np.append(self.numbers, h / 2), node.t + h / 2
        held = self._at_end(node.q + h / 2 * v, np.zeros(n), t)
        K, right = np.zeros((n + m, n + m)), np.empty(n + m)
        K[:n, n:], K[n:, :n], K[n:, n:] = held.A.T, held.A, -np.diag(self._slack)
        dv, size = np.zeros(n), 0.0

        def step(z: np.ndarray) -> tuple[np.ndarray, float] | None:
            nonlocal dv, size
            v = z[:n]
            values = self._middle(np.concatenate([node.q + h / 2 * v, v]), numbers, t)
            K[:n, :n] = values[n : n + n * n].reshape(n, n)
            right[:n], right[n:] = node.pi - values[:n] - held.A.T @ z[n:], -held.c - held.A @ v
            change = _solve(K, right)
            if change is None:
                return None
            z = z + change
            dv, size = change[:n], scale + abs(z[:n] @ (K[:n, :n] @ z[:n])) + TINY
            return z, float(abs(dv @ (K[:n, :n] @ dv)) > ITERATED**2 * size)

        found = newton(step, np.concatenate([v, np.zeros(m)]), Stopping(ITERATIONS))
        if found.outcome is Outcome.STEPLESS:
            return None
        if not abs(right[:n] @ dv) <= FAILED**2 * size:  # the balance; multipliers of singular rows may lag
            return None
        z = found.at
        pi = self._middle(np.concatenate([node.q + h / 2 * z[:n], z[:n]]), numbers, t)[n + n * n :]
        return z[:n].copy(), pi, z[n:].copy()

    def _on_positions(self, q: np.ndarray, v: np.ndarray, t: float) -> np.ndarray:
        """The nearest q with φ(q, t) = 0, from q."""
        n, first = self.n, self.m - self.holonomic
        if not self.holonomic:
            return q
        free, start = q, (q, np.zeros(self.holonomic))
        K = np.zeros((n + self.holonomic,) * 2)
        K[n:, n:] = -np.diag(self._slack[first:])

        def step(here: tuple[np.ndarray, np.ndarray]) -> tuple[tuple[np.ndarray, np.ndarray], float] | None:
            q, sigma = here
            at = self._at_end(q, v, t)
            rows = at.A[first:]
            K[:n, :n], K[:n, n:], K[n:, :n] = at.M, rows.T, rows
            change = _solve(K, -np.concatenate([at.M @ (q - free) + rows.T @ sigma, at.phi]))
            if change is None:
                return None
            q = q + change[:n]
            return (q, sigma + change[n:]), float(np.abs(change[:n]).max() / (1 + np.abs(q).max()))

        return newton(step, start, ONTO_POSITIONS).at[0]

    def _on_velocities(self, at: End, pi: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The nearest velocities with A v + b = 0 to those of the momentum π, their momentum, and μ."""
        n, m = self.n, self.m
        K = np.zeros((n + m, n + m))
        K[:n, :n], K[:n, n:], K[n:, :n] = at.M, at.A.T, at.A
        K[n:, n:] = -np.diag(self._slack)
        factors, pivots, singular = dgetrf(K)
        z = np.zeros(n + m)
        for _ in range(PROJECTIONS if not singular else 0):
            left = np.concatenate([pi - at.pi, -at.c]) - K @ z
            left[n:] -= self._slack * z[n:]
            z += dgetrs(factors, pivots, left)[0]
        v = z[:n] if not singular else np.full(n, np.nan)
        return v, at.pi + at.M @ v, z[n:]

    def _at_end(self, q: np.ndarray, v: np.ndarray, t: float) -> End:
        values = self._end(np.concatenate([q, v]), self.numbers, t)
        n, m, f = self.n, self.m, self.holonomic
        ends = np.cumsum([n, f, m, m * n])
        pi, phi, c, A, M = np.split(values, ends)
        return End(pi, phi, c, A.reshape(m, n), M.reshape(n, n))

    def _stiffen(self, node: Node, h: float, v: np.ndarray) -> None:
        """The penalties for a step: α = HARD/s₁², with s₁ the relative change of the rows in it."""
        if not self.m:
            self._slack = np.zeros(0)
            return
        there = self._at_end(node.q + h * v, v, node.t + h).A
        self._size = np.maximum(self._size, (node.A * node.A).sum(axis=1))
        turned = float((((there - node.A) ** 2).sum(axis=1) / self._size).max())
        alpha = self.alpha or HARD / min(max(turned, HARD / HARDEST), HARD / SOFTEST)
        self._slack = self._mobility * self._size / alpha


@dataclass(frozen=True)
class End:
    """∂T/∂v, φ, A v + b, A and M at a state."""

    pi: np.ndarray
    phi: np.ndarray
    c: np.ndarray
    A: np.ndarray
    M: np.ndarray


TINY = np.finfo(float).tiny


def _solve(K: np.ndarray, right: np.ndarray) -> np.ndarray | None:
    _, _, found, singular = dgesv(K, right)
    return None if singular or not np.isfinite(found).all() else found


@once(most=1)
def compiled(system: System) -> tuple[Compiled, Compiled]:
    """The equations of the midpoint with their derivatives (h/2 is one parameter more), and those of the end."""
    graph = stated_graph_of(system)
    half = par[len(system.parameters)]
    q, v = graph.q, graph.v
    momentum = gradient(graph.kinetic, v)
    parts = [gradient(e, x) for e, x in ((graph.kinetic, q), (graph.potential, q), (graph.dissipation, v))]
    force = [T - V - D + Q for T, V, D, Q in zip(*parts, graph.forces, strict=True)]
    balance = [p - half * f for p, f in zip(momentum, force, strict=True)]
    slopes = jacobian(balance, [*q, *v])
    n = len(q)
    newton = [row[n + j] + half * row[j] for row in slopes for j in range(n)]
    middle = Compiled([*balance, *newton, *momentum], [*q, *v])
    end = [*momentum, *graph.positions, *graph.constraints, *(e for row in (*graph.A, *graph.M) for e in row)]
    return middle, Compiled(end, [*q, *v])
