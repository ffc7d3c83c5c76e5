"""Equations of motion with multipliers of second order, Eqs. (1) to (12), against Lagrange's."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import sympy as sm

from pfaff import System
from pfaff.atlas import ball_on_turntable, chaplygin_sleigh, double_four_bar, rolling_disc, slider_crank
from pfaff.system import TIME as t

STATES = 8


def constraints_of_rolling() -> float:
    """Pfaffian constraints a(q) q̇ = 0 are scleronomic, and those of a sleigh and a disc cannot be integrated."""
    kinds = [make().classification for make in (chaplygin_sleigh, rolling_disc)]
    return float(sum(not each.scleronomic or not each.catastatic or each.holonomic for each in kinds))


def constraints_of_linkages() -> float:
    """Those of the mechanisms are holonomic, φ(q) = 0, with the integrals stated."""
    kinds = [make().classification for make in (double_four_bar, slider_crank)]
    return float(sum(not each.scleronomic or not each.catastatic or not each.holonomic for each in kinds))


def geometric_equations() -> float:
    """Eq. (4) with Christoffel's symbols of the inertia g as Λ against h of Lagrange's equations, M q̈ + h + Aᵀp = 0."""
    worst = 0.0
    for make in (chaplygin_sleigh, rolling_disc):
        system = make()
        s, at = system.statement, system.random_states(STATES, seed=4)
        g = sm.hessian(s.kinetic, s.v)
        force = [-sm.diff(s.potential, q) for q in s.q]
        entries = [g, [g.diff(q) for q in s.q], force]
        evaluate = sm.lambdify([*s.q, *s.v, *system.parameters], entries, "numpy")
        for k in range(STATES):
            v, state = at.v[:, k], (at.q[:, k], at.v[:, k], at.numbers[:, k])
            metric, slopes, pull = (np.array(each, dtype=float) for each in evaluate(*np.concatenate(state)))
            # slopes[k, i, j] = ∂g_ij/∂q^k; first[r, l, i] = ½(∂_i g_rl + ∂_l g_ri − ∂_r g_li)
            first = (np.einsum("irl->rli", slopes) + np.einsum("lri->rli", slopes) - slopes) / 2
            second = np.einsum("mr,rli->mli", np.linalg.inv(metric), first)  # Λ^m_{ℓi}
            rate = np.einsum("kij,k,j->i", slopes, v, v)  # of (g_ij v^j)', without accelerations
            found = rate - np.einsum("mli,mj,j,l->i", second, metric, v, v) - pull
            worst = max(worst, float(np.abs(found - _matrices(system, *state)[1]).max()))
    return worst


def second_order_equations() -> float:
    """Eqs. (3)–(6), solved for q̈ and λ̈ with any positive m̄, c̄, k̄ and any λ, λ̇, against Lagrange's accelerations."""
    worst = 0.0
    for make in (chaplygin_sleigh, ball_on_turntable, slider_crank):
        system = make()
        at = system.random_states(STATES, seed=6)
        expected, _ = system.equations().solve(at.q, at.v, at.numbers, at.time)
        for k in range(STATES):
            M, h, A, gamma, residual = _matrices(system, at.q[:, k], at.v[:, k], at.numbers[:, k])
            found = _accelerations(M, h, A, gamma, residual, seed=k)
            worst = max(worst, float(np.abs(found - expected[:, k]).max() / (1 + np.abs(expected[:, k]).max())))
    return worst


def _matrices(system: System, q: np.ndarray, v: np.ndarray, numbers: np.ndarray) -> tuple[np.ndarray, ...]:
    """M, h, A, γ and the constraints themselves at a state."""
    M, h, A, gamma, residual = _evaluated(system)(*q, *v, *numbers)
    return M, h[:, 0], A, gamma[:, 0], residual[:, 0]


@cache
def _evaluated(system: System) -> Callable[..., Any]:
    equations, s = system.equations(), system.statement
    matrices = [
        equations.mass_matrix,
        equations.forcing,
        equations.constraint_matrix,
        equations.constraint_forcing,
        equations.constraints,
    ]
    plain = [matrix.xreplace(dict(s.to_plain)) for matrix in matrices]
    return sm.lambdify([*s.q, *s.v, *system.parameters], plain, "numpy")


def _accelerations(
    M: np.ndarray, h: np.ndarray, A: np.ndarray, gamma: np.ndarray, residual: np.ndarray, seed: int
) -> np.ndarray:
    """q̈ from M q̈ + h = Σ h_R a_R and m̄ (a_R q̈ + γ) + c̄ ψ̇ = 0 with h_R = m̄ λ̈ + c̄ λ̇ + k̄ λ."""
    generator, (l, n) = np.random.default_rng(seed), A.shape
    m, c, k = generator.uniform(0.5, 2, (3, l))
    multiplier, rate = generator.normal(size=(2, l))
    whole = np.block([[M, -A.T * m], [m[:, None] * A, np.zeros((l, l))]])
    right = np.concatenate([-h + A.T @ (c * rate + k * multiplier), -m * gamma - c * residual])
    return np.linalg.solve(whole, right)[:n]


def unknowns() -> float:
    """n + k equations of second order for n + k unknowns q and λ: the matrix of q̈ and λ̈ is regular, off singularities."""
    system = slider_crank()
    at = system.random_states(1, seed=6)
    M, _, A, *_ = _matrices(system, at.q[:, 0], at.v[:, 0], at.numbers[:, 0])
    whole = np.block([[M, -A.T], [A, np.zeros((len(A), len(A)))]])
    return float(abs(np.linalg.matrix_rank(whole) - len(system.coordinates) - len(A)))


def singular_matrix() -> float:
    """The least singular value of the same matrix, relative, where the linkage lies flat."""
    system = double_four_bar()
    case = system.at()
    M, _, A, *_ = _matrices(system, np.array([1.0, 0, 2, 0, 3, 0]), np.zeros(6), case.numbers)
    sizes = np.linalg.svd(np.block([[M, -A.T], [A, np.zeros((5, 5))]]), compute_uv=False)
    return float(sizes[-1] / sizes[0])


def constraint_decay() -> float:
    """φ of (m̄φ̇)˙ + c̄φ̇ + k̄φ = 0: it stays zero where it starts at zero, and decays where it does not; 1 if not."""
    time, m, c, k = sm.symbols("time m c k", positive=True)
    phi = sm.Function("phi")
    equation = (m * phi(time).diff(time)).diff(time) + c * phi(time).diff(time) + k * phi(time)
    rest = sm.dsolve(equation, ics={phi(0): 0, phi(time).diff(time).subs(time, 0): 0}).rhs
    random = np.random.default_rng(6).uniform(0.1, 3, (100, 3))
    return float(rest != 0 or max(np.roots(each).real.max() for each in random) >= 0)


def weak_form() -> float:
    """Eq. (12): the integrand of (11) less that of (12) is the derivative of m̄ φ̇ δλ; symbolically."""
    m, phi, delta = (sm.Function(name)(t) for name in ("m", "phi", "delta"))
    c, k = sm.symbols("c k")
    g = (m * phi.diff(t)).diff(t) + c * phi.diff(t) + k * phi
    printed = m * phi.diff(t) * delta.diff(t) - (c * phi.diff(t) + k * phi) * delta
    return float(sm.expand((m * phi.diff(t) * delta).diff(t) - printed - g * delta) != 0)
