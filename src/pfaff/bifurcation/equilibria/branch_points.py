"""Branch points of equilibria: where they are, to rounding, and where the other branch goes."""

from __future__ import annotations

import numpy as np

from pfaff.algebra.newtons_method import Stopping, newton
from pfaff.bifurcation.equilibria.rest_equations import RestEquations
from pfaff.bifurcation.equilibria.zero_forms import null_of

POLISHED, NEAR = 1e-8, 1e-3  # of an accepted polish: size of the last step, and of all together, in units of the metric
POLISH = Stopping(8, exact=0.0, settled=0.0, grows=10.0, floor=POLISHED)
PARALLEL = 1e-4  # branches that cross at a smaller angle are tangent


def polished(s: RestEquations, z: np.ndarray) -> np.ndarray:
    """F + b φ = 0, F_yᵀφ = 0, F_λᵀφ = 0, φᵀφ = 1 for z, b and φ (Moore 1980), by Newton's method.

    The second derivatives are differences of analytic first ones: they guide the steps, not the result.
    """
    N = s.n + s.k
    phi = null_of(s.jacobian(z)[:, :N], s.n, s.sizes[:N]).left

    def step(at: tuple[np.ndarray, float, np.ndarray]) -> tuple[tuple[np.ndarray, float, np.ndarray], float]:
        z, b, phi = at
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
        change = -np.linalg.lstsq(matrix, residual, rcond=1e-13)[0]
        size = float(np.abs(change[: N + 1] / s.sizes).max())
        return (z + change[: N + 1], b + change[N + 1], phi + change[N + 2 :]), size

    found = newton(step, (z, 0.0, phi / np.linalg.norm(phi)), POLISH)
    near = np.abs((found.at[0] - z) / s.sizes).max() < NEAR
    return found.at[0] if found.change < POLISHED and near else z


def crossing_direction(s: RestEquations, z: np.ndarray, tangent: np.ndarray) -> np.ndarray:
    """The tangent of the other branch through a branch point, from the quadratic form of bifurcation.

    On the null space of the Jacobian, spanned by the tangent t and a vector n across it, solutions leave along
    ξ t + η n with 2α ξη + β η² = 0 (Keller 1977); the branch itself is η = 0.
    """
    units = s.sizes
    psi, null = s.branching(z)
    t = null.T @ (null @ (tangent / units))
    t = t / np.linalg.norm(t)
    across = null.T @ np.array([[0, -1], [1, 0]]) @ (null @ t)
    alpha, beta = (s.second(z, psi, v * units, across * units) for v in (t, across))
    direction = across - beta / (2 * alpha) * t if abs(alpha) > PARALLEL * abs(beta) else across
    return direction / np.linalg.norm(direction) * units


def _transposed_change(s: RestEquations, z: np.ndarray, phi: np.ndarray) -> np.ndarray:
    """∂(Gᵀφ)/∂z."""
    return np.column_stack([s.bending(z, direction).T @ phi for direction in np.diag(s.sizes)]) / s.sizes
