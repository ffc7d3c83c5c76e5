"""Branches of equilibria and steady motions in a parameter, with every special point on the way located.

Folds are where the branch turns back in the parameter; branch points where the bordered Jacobian is singular; Hopf
points where Π(λ_i + λ_j) vanishes with a pair on the imaginary axis. On a family of equilibria an eigenvalue may also
pass zero while the branch neither turns nor branches: a divergence. Doedel, Keller and Kernévez (1991); Govaerts,
Numerical Methods for Bifurcations of Dynamical Equilibria (2000).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from pfaff.bifurcation.arclength import Event, Spot
from pfaff.bifurcation.eigenvalues import (
    bounded,
    dips,
    hopf_product,
    imaginary,
    signed_log,
    slopes,
    unstable,
)
from pfaff.bifurcation.slices import Deflation, Slice
from pfaff.bifurcation.zero_forms import Null, null_of

FLAT = 0.1  # slopes of the parameter that fall below this share of those at both ends are looked at
LEVEL = 1e-8  # bending of the parameter along a branch that is rounding
MEETING = 1e-4  # distance, relative to the largest, of eigenvalues that are one
POLISH = 8  # steps of Newton's method on a branch point
PARALLEL = 1e-4  # two branches that cross at a smaller angle touch


@dataclass(frozen=True)
class Facts:
    """What is known about a point of a branch: eigenvalues with their slopes, signs and logarithms of products."""

    eigenvalues: np.ndarray
    slopes: np.ndarray
    turning: float
    crossing: tuple[float, float]
    hopf: tuple[float, float]
    zero: tuple[float, float]


@dataclass(frozen=True, eq=False)
class Rests:
    """Equilibria along one free parameter, as a problem of continuation."""

    slice: Slice
    undamped: int  # sums of eigenvalues that vanish everywhere

    def residual(self, z: np.ndarray) -> np.ndarray:
        return self.slice.residual(z)

    def jacobian(self, z: np.ndarray) -> np.ndarray:
        return self.slice.jacobian(z)

    def units(self, z: np.ndarray) -> np.ndarray:
        return self.slice.sizes

    def value(self, z: np.ndarray) -> float:
        return float(z[-1])

    def rebased(self, z: np.ndarray) -> Rests:
        return replace(self, slice=self.slice.rebased(z))

    def inspect(self, z: np.ndarray, tangent: np.ndarray) -> Facts:
        s = self.slice
        J = s.state_jacobian(z)
        deflate = Deflation.about(J, s.zeros)
        (after, before), lengths = s.probes(z, tangent[:, None])
        change = (deflate(after[..., 0]) - deflate(before[..., 0])) / (2 * lengths[0])
        values, rates = slopes(deflate(J), change)
        bordered = np.vstack([s.jacobian(z) * s.sizes, tangent / s.sizes])
        sign, log = np.linalg.slogdet(bordered)
        return Facts(
            eigenvalues=values,
            slopes=rates,
            turning=tangent[-1] / s.sizes[-1],
            crossing=(float(sign), float(log)),
            hopf=hopf_product(values, self.undamped),
            zero=signed_log(values),
        )

    def tests(self, spot: Spot) -> dict[str, float]:
        facts = spot.facts
        tests = {"fold": facts.turning, "branch point": bounded(facts.crossing), "hopf": bounded(facts.hopf)}
        return tests | ({"divergence": bounded(facts.zero)} if self.slice.k else {})

    def hides(self, a: Spot, b: Spot, length: float) -> bool:
        """Two folds, or a growth rate that comes and goes, or changes of stability that no test explains."""
        first, last = a.facts, b.facts
        if _turns_between(first.turning, last.turning, (b.z[-1] - a.z[-1]) / self.slice.sizes[-1] / length):
            return True
        changes = abs(unstable(last.eigenvalues) - unstable(first.eigenvalues))
        crossed = first.hopf[0] * last.hopf[0] < 0
        if changes > 2 or (changes == 2 and not crossed):
            return not self.undamped
        return dips(first.eigenvalues, first.slopes, last.eigenvalues, last.slopes, length)

    def event(self, name: str, spot: Spot) -> Event | None:
        return getattr(self, f"_{name.replace(' ', '_')}")(spot)

    def _fold(self, spot: Spot) -> Event | None:
        # Where the parameter hardly changes at all, its tangent has no sign.
        return Event("fold", spot, outranks=("divergence",)) if abs(self._curvature(spot)) > LEVEL else None

    def _curvature(self, spot: Spot) -> float:
        """d²λ/ds² from G_z t' = −G_zz(t, t), ⟨t, t'⟩ = 0, in units of the metric."""
        s, t = self.slice, spot.tangent
        h = 1e-5 / float(np.linalg.norm(t / s.sizes))
        bent = (s.jacobian(spot.z + h * t) - s.jacobian(spot.z - h * t)) @ t / (2 * h)
        matrix = np.vstack([s.jacobian(spot.z) * s.sizes, t / s.sizes])
        rows = np.abs(matrix).max(axis=1)
        change = np.linalg.lstsq(matrix / rows[:, None], np.append(-bent, 0.0) / rows, rcond=None)[0]
        return float(change[-1])

    def _branch_point(self, spot: Spot) -> Event | None:
        return Event("branch point", spot, outranks=("fold", "divergence"))

    def _divergence(self, spot: Spot) -> Event | None:
        return Event("divergence", spot)

    def _hopf(self, spot: Spot) -> Event | None:
        values = spot.facts.eigenvalues
        pair = imaginary(values, self.undamped)
        if pair is not None and self.undamped and _meets(values, pair):
            return None  # without damping pairs meet on the axis, and none crosses it alone
        return Event("hopf", spot, detail=pair) if pair is not None else None

    # Polishing

    def null(self, z: np.ndarray, like: Null | None = None) -> Null:
        s = self.slice
        return null_of(s.jacobian(z)[:, : s.n + s.k], s.n, like)

    def polished_branch_point(self, z: np.ndarray) -> np.ndarray:
        """F + b φ = 0, F_yᵀφ = 0, F_λᵀφ = 0, φᵀφ = 1 for z, b and φ (Moore 1980), by Newton's method.

        The second derivatives are differences of analytic first ones: they guide the steps, not the result.
        """
        s, N = self.slice, self.slice.n + self.slice.k
        phi, b, start = self.null(z).left, 0.0, z
        phi = phi / np.linalg.norm(phi)
        last = np.inf
        for _ in range(POLISH):
            G = s.jacobian(z)
            bent = _transposed_change(s, z, phi)
            residual = np.concatenate([s.residual(z) + b * phi, G.T @ phi, [phi @ phi - 1]])
            matrix = np.block(
                [
                    [G, phi[:, None], b * np.eye(N)],
                    [bent, np.zeros((N + 1, 1)), G.T],
                    [np.zeros((1, N + 2)), 2 * phi[None]],
                ]
            )
            step = -np.linalg.lstsq(matrix, residual, rcond=1e-13)[0]
            size = np.abs(step[: N + 1] / s.sizes).max()
            if not np.isfinite(size) or size > 10 * last + 1e-3:
                return start
            z, b, phi, last = z + step[: N + 1], b + step[N + 1], phi + step[N + 2 :], size
            if size < 1e-14:
                break
        return z if last < 1e-8 and np.abs((z - start) / s.sizes).max() < 1e-3 else start

    def crossing_direction(self, z: np.ndarray, tangent: np.ndarray) -> np.ndarray:
        """The tangent of the other branch through a branch point, from the quadratic form of bifurcation.

        On the null space of the Jacobian, spanned by the tangent t and a vector n across it, solutions leave along
        ξ t + η n with α ξη + β η² = 0 (Keller 1977), as α₀ ξ² = 0 along the branch itself.
        """
        s, units = self.slice, self.slice.sizes
        scaled = s.jacobian(z) * units
        left, _, right = np.linalg.svd(scaled / (np.abs(scaled).max(axis=1, keepdims=True) + 1e-300))
        rows = np.abs(scaled).max(axis=1) + 1e-300
        psi = left[:, -1] / rows
        null = right[-2:]
        t = null.T @ (null @ (tangent / units))
        t = t / np.linalg.norm(t)
        across = null.T @ np.array([[0, -1], [1, 0]]) @ (null @ t)
        alpha, beta = (self._bent(z, psi, across * units, v * units) for v in (t, across))
        regular = abs(alpha) > PARALLEL * abs(beta)
        direction = across - beta / (2 * alpha) * t if regular else across
        return direction / np.linalg.norm(direction) * units

    def _bent(self, z: np.ndarray, psi: np.ndarray, v: np.ndarray, w: np.ndarray) -> float:
        """ψ·F_zz(v, w), by differences of the analytic Jacobian."""
        s = self.slice
        h = 1e-5 / float(np.linalg.norm(w / s.sizes))
        return float(psi @ ((s.jacobian(z + h * w) - s.jacobian(z - h * w)) @ v)) / (2 * h)


def _transposed_change(s: Slice, z: np.ndarray, phi: np.ndarray) -> np.ndarray:
    """∂(Gᵀφ)/∂z."""
    h = 1e-5 * s.sizes
    columns = [
        (s.jacobian(z + step) - s.jacobian(z - step)).T @ phi / (2 * h[j])
        for j, step in enumerate(np.diag(h))
    ]  # fmt: skip
    return np.column_stack(columns)


def _meets(values: np.ndarray, pair: complex) -> bool:
    """Whether another eigenvalue lies at a critical one."""
    distances = np.sort(np.abs(values - pair))
    return len(distances) > 1 and bool(distances[1] < MEETING * np.abs(values).max())


def _turns_between(a: float, b: float, chord: float) -> bool:
    """Whether the parameter, rising alike at both ends of a step, may fall in between: by Hermite's cubic."""
    if a * b <= 0:
        return False
    s = np.linspace(0, 1, 17)[1:-1]
    slope = 6 * s * (1 - s) * chord + (1 - s) * (1 - 3 * s) * a + s * (3 * s - 2) * b
    return bool((slope * np.sign(a)).min() < FLAT * min(abs(a), abs(b)))
