"""The first orbit of a forced system: by collocation in time at equidistant phases, with trigonometric polynomials.

The forcing grows from zero, where the system rests, to its full value; or a motion runs until it repeats itself.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pfaff.algebra.newtons_method import Stopping, newton
from pfaff.algebra.tolerances import CORRECTIONS, SETTLED
from pfaff.bifurcation.orbits.cycles import Cycle, Mesh
from pfaff.bifurcation.orbits.orbit_equations import Equations
from pfaff.bifurcation.orbits.orbit_problem import INTERVALS, OrbitProblem
from pfaff.bifurcation.orbits.variation import rates_and_jacobians
from pfaff.errors import ConvergenceError

ROUGHLY_SOLVED = Stopping(CORRECTIONS, exact=SETTLED, grows=2.0, floor=1e3)  # a guess is enough
PHASES = 32  # phases in a period, at first
FINEST = 256
TAIL = 1e-4  # share of the highest third of the harmonics, above which more are taken
SHORTEST = 1e-3  # least step of the forcing, relative to its full value
REPEATING = 1e-7  # relative change from one period to the next of a motion that has settled
LONGEST = 600  # most periods of a motion
STEPPED = 1e-10  # relative error of a step
ROUGHLY = 1e-8  # the same for a stiff system
ODD = 1e-6  # relative size of x(t + T/2) + x(t) that is zero


@dataclass(frozen=True)
class Wave:
    """States at equidistant phases of one period, a row each."""

    x: np.ndarray
    omega: float

    def at(self, phases: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The trigonometric polynomial through them and its derivative with respect to the phase."""
        count = len(self.x)
        k = np.fft.fftfreq(count, 1 / count)
        coefficients = np.fft.fft(self.x, axis=0) / count
        if count % 2 == 0:
            coefficients[count // 2] = 0
        waves = np.exp(1j * np.multiply.outer(phases, k))
        return (waves @ coefficients).real, (waves @ (1j * k[:, None] * coefficients)).real

    @property
    def resolved(self) -> bool:
        """Whether the highest harmonics are small."""
        sizes = np.abs(np.fft.rfft(self.x - self.x.mean(axis=0), axis=0)) / _extent(self.x)
        return bool(sizes[2 * len(sizes) // 3 :].max() <= TAIL * max(sizes.max(), 1e-300))

    @property
    def odd(self) -> bool:
        half = len(self.x) // 2
        return bool(np.abs(self.x[:half] + self.x[half:]).max(axis=0).max() <= ODD * np.abs(self.x).max())


def _extent(x: np.ndarray) -> np.ndarray:
    size = np.abs(x).max(axis=0)
    return np.where(size > 0, size, 1.0)


class Phases:
    """ω x' = f(x, r cos τ, r sin τ) at equidistant phases τ, for a forcing of radius r."""

    def __init__(self, equations: Equations, value: float, omega: float, count: int) -> None:
        self.equations, self.value, self.omega, self.count = equations, value, omega, count
        self.tau = 2 * np.pi * np.arange(count) / count
        self.n = len(equations.flow.states) - len(equations.flow.carried)
        apart = self.tau[:, None] - self.tau
        off = ~np.eye(count, dtype=bool)
        self.derivative = np.zeros((count, count))
        signs = (-1.0) ** (np.arange(count)[:, None] - np.arange(count))
        self.derivative[off] = (0.5 * signs / np.tan(np.where(off, apart, 1.0) / 2))[off]

    def rates(self, x: np.ndarray, radius: float) -> tuple[np.ndarray, np.ndarray]:
        """f and ∂f/∂x of the system's own states at every phase."""
        own = x.shape[1]
        X = np.vstack([x.T, radius * np.cos(self.tau), radius * np.sin(self.tau)])
        f, J = rates_and_jacobians(self.equations, X, self.value)
        return f[:own].T, J[:own, :own].transpose(2, 0, 1)

    def step(self, x: np.ndarray, radius: float) -> np.ndarray | None:
        """A Newton step, or None."""
        f, J = self.rates(x, radius)
        if not (np.isfinite(f).all() and np.isfinite(J).all()):
            return None
        matrix = np.einsum("ab,ij->aibj", self.omega * self.derivative, np.eye(self.n))
        k = np.arange(self.count)
        matrix[k, :, k, :] -= J
        size = self.count * self.n
        try:
            change = np.linalg.solve(matrix.reshape(size, size), (f - self.omega * self.derivative @ x).ravel())
        except np.linalg.LinAlgError:
            return None
        return change.reshape(x.shape)

    def solve(self, x: np.ndarray, radius: float, least: np.ndarray) -> np.ndarray | None:
        """Newton's method from states at the phases, measured by the ``least`` sizes of states or by their own; None if
        it does not converge."""

        def step(x: np.ndarray) -> tuple[np.ndarray, float] | None:
            change = self.step(x, radius)
            if change is None:
                return None
            x = x + change
            return x, float((np.abs(change) / np.maximum(_extent(x), least)).max())

        found = newton(step, x, ROUGHLY_SOLVED)
        return found.at if found.ceased else None


def grown(problem: OrbitProblem, value: float, omega: float, rest: np.ndarray) -> Wave | None:
    """The response that grows from rest as the forcing grows; None if it folds back on the way, or does not rest."""
    count = PHASES
    while count <= FINEST:
        phases = Phases(problem.collocation.equations, value, omega, count)
        x = _grown(phases, np.tile(rest, (count, 1)))
        if x is None:
            return None
        if Wave(x, omega).resolved:
            return Wave(x, omega)
        count *= 2
    return None


def _grown(phases: Phases, x: np.ndarray) -> np.ndarray | None:
    # States that rest at zero, up to rounding, are measured by the linear response to the whole forcing.
    linear = phases.step(x, 1.0)
    least = np.zeros(phases.n) if linear is None else np.abs(linear).max(axis=0)
    whole = phases.solve(x, 0.0, least)
    if whole is None:
        return None
    x, slope, radius, step = whole, np.zeros_like(x), 0.0, 1.0
    while radius < 1.0:
        step = min(step, 1.0 - radius)
        following = phases.solve(x + step * slope, radius + step, least)
        # A first step that leads far from the linear response may be on another branch.
        if following is None or (radius > 0 and _strays(x, following, step * slope)):
            step /= 2
            if step < SHORTEST:
                return None
            continue
        slope, x, radius, step = (following - x) / step, following, radius + step, 1.5 * step
    return x


def _strays(x: np.ndarray, following: np.ndarray, predicted: np.ndarray) -> bool:
    off = np.abs(following - x - predicted).max(axis=0)
    return bool((off / _extent(following)).max() > 0.5)


def settled(problem: OrbitProblem, value: float, omega: float, start: np.ndarray) -> tuple[Wave, int, float]:
    """The last period of a motion from a start, the number of periods, and the change in the last, relative to its
    size."""
    from scipy.integrate import solve_ivp

    e, period = problem.collocation.equations, 2 * np.pi / omega

    def rate(_: float, state: np.ndarray) -> np.ndarray:
        return e.rates(state[None], value)[:, 0]

    # Rods are stiff, and a start for Newton's method is enough.
    method, error = ("Radau", ROUGHLY) if e.flow.structured else ("DOP853", STEPPED)
    x, change, size = np.append(start, [1.0, 0.0]), np.inf, np.ones(len(start))
    phases = period * np.arange(FINEST) / FINEST
    for count in range(1, LONGEST + 1):
        run = solve_ivp(rate, (0, period), x, method, rtol=error, atol=error * np.append(size, [1.0, 1.0]),
                        dense_output=True)  # fmt: skip
        if not run.success or not np.isfinite(run.y).all():
            raise ConvergenceError(
                f"the motion from this start does not stay finite after {count} periods of the forcing at "
                f"{problem.load} = {value:.10g}: start elsewhere"
            )
        end = run.y[:-2, -1]
        size = np.maximum(np.abs(run.y[:-2]).max(axis=1), 1e-12)
        change = float((np.abs(end - x[:-2]) / size).max())
        x = np.append(end, [1.0, 0.0])
        if change < REPEATING:
            break
    return Wave(run.sol(phases)[:-2].T, omega), count, change


def cycle_of(problem: OrbitProblem, wave: Wave, value: float, halved: bool) -> Cycle:
    """A wave as a guess on a uniform mesh, the forcing beside it; half of it, if the other half is its mirror image."""
    c = problem.collocation
    turn, intervals = (np.pi, INTERVALS) if halved else (2 * np.pi, 2 * INTERVALS)
    mesh = Mesh(np.linspace(0.0, 1.0, intervals + 1))

    def whole(phases: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        x, slope = wave.at(phases)
        circle = np.column_stack([np.cos(phases), np.sin(phases)])
        return np.hstack([x, circle]), np.hstack([slope, np.column_stack([-circle[:, 1], circle[:, 0]])])

    x, _ = whole(turn * mesh.at)
    _, slope = whole(turn * mesh.points(c.gauss.c))
    K = turn * slope.take(c.equations.rows, axis=1).reshape(intervals, c.gauss.degree, -1)
    signs = np.full(x.shape[1], -1.0 if halved else 1.0)
    x[-1] = signs * x[0]
    return Cycle(mesh, x, K, np.array([turn / wave.omega, value]), signs)
