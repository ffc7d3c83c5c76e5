"""Critical loads of columns by dense eigenvalues: what one writes without pfaff; and a referee in fifty digits.

The straight column on a skate in its N angles is written down from mechanics: masses, hinges, drag, and the follower
force that the reaction of the skate amounts to. Bent columns take their matrices from pfaff at every load; the search
is none of pfaff's.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mpmath as mp
import numpy as np
from scipy.optimize import brentq

import pfaff
from verified import demand

SCAN = 200  # loads at which eigenvalues are computed, from zero to twice the critical one
MOVING = 1e-6  # imaginary parts above this, relative to the eigenvalue, belong to oscillations
DIGITS = 50

Matrices = tuple[Any, Any, Any]  # M, C, K of M ẍ + C ẋ + K x = 0
Loaded = Callable[[Any], Matrices]


def straight(
    bars: int, *, d: Any = 0.5, M_L: Any = 0.0, I_L: Any = 0.0, k: Any = 1.0, k1: Any = 1.0, c_i: Any = 0.0,
    c_e: Any = 0.0, one: Any = 1.0,
) -> Loaded:  # fmt: skip
    """The straight column of length and mass 1 in its angles, at small rotations; numbers are as ``one`` is."""
    unit, l = one * np.eye(bars, dtype=int), one / bars
    left = l * np.tri(bars, k=-1, dtype=int)
    right, centre = left + l * unit, left + d * l * unit
    M = centre.T @ centre / bars + M_L * np.outer(right[-1], right[-1]) + I_L * np.outer(unit[-1], unit[-1])
    bends = unit - one * np.eye(bars, k=-1, dtype=int)
    drag = 2 * left.T @ left + left.T @ right + right.T @ left + 2 * right.T @ right
    K = k * bends.T @ bends + (k1 - k) * np.outer(unit[0], unit[0])
    C = c_i * bends.T @ bends + c_e * l / 6 * drag
    geometric = l * (np.outer(unit.sum(axis=0), unit[-1]) - unit)
    return lambda F: (M, C, K + F * geometric)


def bent(case: pfaff.Case) -> Loaded:
    """About the equilibrium at each load, in the angles: the block, whose place does not matter, follows as v = Z θ̇."""

    def matrices(F: float) -> Matrices:
        at = case.at(F=F).linearise()
        demand("the place of the block does not matter", not at.stiffness[:, -1].any())
        Z = np.vstack([np.eye(len(at.M) - 1), -at.A[0, :-1] / at.A[0, -1]])
        return Z.T @ at.M @ Z, Z.T @ at.C @ Z, Z.T @ at.stiffness[:, :-1]

    return matrices


def eigenvalues(of: Matrices) -> np.ndarray:
    """All of them, by LAPACK on the first-order form: errors are relative to the largest."""
    M, C, K = of
    return np.linalg.eigvals(np.vstack([np.eye(len(M), 2 * len(M), len(M)), -np.linalg.solve(M, np.hstack([K, C]))]))


def low_eigenvalues(of: Matrices) -> np.ndarray:
    """The same as inverses of eigenvalues of the inverse: right for the low modes, which flutter."""
    M, C, K = of
    if not C.any():
        roots = np.sqrt(-1 / np.linalg.eigvals(np.linalg.solve(K, M)) + 0j)
        return np.concatenate([roots, -roots])
    n = len(M)
    return 1 / np.linalg.eigvals(np.vstack([-np.linalg.solve(K, np.hstack([C, M])), np.eye(n, 2 * n)]))


def growth(column: Loaded) -> Callable[[float], float]:
    """The largest real part among eigenvalues that are not real, as a function of the load."""

    def rate(F: float) -> float:
        values = low_eigenvalues(column(F))
        moving = np.abs(values.imag) > MOVING * np.abs(values)
        return float(values.real[moving].max(initial=-np.inf))

    return rate


def first_crossing(rate: Callable[[float], float], to: float, scan: int = SCAN) -> float:
    """The first load at which an oscillation grows: a scan from zero, then Brent's method on the rate, or bisection
    where the rate is zero below."""
    high = next((F for F in np.linspace(0, to, scan + 1)[1:] if rate(F) > 0), np.nan)
    low = high - to / scan
    if -np.inf < rate(low) < 0:
        return float(brentq(rate, low, high, xtol=1e-14, rtol=1e-14))
    while high - low > 1e-15 * high:
        middle = (low + high) / 2
        low, high = (low, middle) if rate(middle) > 0 else (middle, high)
    return float(high)


def referee(bars: int, near: float, **values: float) -> float:
    """The flutter load of the straight column by Newton's method on det(M λ² + C λ + K) in fifty digits."""
    with mp.workdps(DIGITS):
        column = straight(bars, one=mp.mpf(1), **{name: mp.mpf(value) for name, value in values.items()})
        rough = straight(bars, **values)(near)
        damped = bool(rough[1].any())

        def determinant(root: Any, F: Any) -> Any:
            M, C, K = column(F)
            return mp.det(mp.matrix((M * root**2 + C * root + K).tolist()))

        return crossing(determinant, damped=damped, omega=frequency(low_eigenvalues(rough), damped), F=near)[0]


def frequency(values: np.ndarray, damped: bool) -> float:
    """Of the oscillation that begins to grow: the one of largest real part, or the closest pair without damping."""
    moving = values[values.imag > MOVING * np.abs(values)]
    if damped:
        return float(moving[moving.real.argmax()].imag)
    ordered = np.sort(moving.imag)
    k = int(np.argmin(np.diff(ordered) / ordered[1:]))
    return float(ordered[k : k + 2].mean())


def crossing(determinant: Callable[[Any, Any], Any], *, damped: bool, omega: float, F: float) -> tuple[float, float]:
    """Load and frequency where a determinant D(λ, F) says that flutter begins, differenced in fifty digits.

    Re D and Im D vanish at λ = iω with damping; D and its derivative along λ = iω without.
    """
    with mp.workdps(DIGITS):
        h = mp.mpf(10) ** -12

        def equations(omega: Any, F: Any) -> list[Any]:
            if damped:
                D = determinant(mp.mpc(0, omega), F)
                return [D.real, D.imag]
            above, below = (determinant(mp.mpc(0, omega + step), F).real for step in (h, -h))
            return [(above + below) / 2, (above - below) / (2 * h)]

        at = mp.matrix([omega, F])
        for _ in range(20):
            here, by_omega, by_F = equations(*at), equations(at[0] + h, at[1]), equations(at[0], at[1] + h)
            J = mp.matrix([[(by_omega[i] - here[i]) / h, (by_F[i] - here[i]) / h] for i in range(2)])
            step = mp.lu_solve(J, -mp.matrix(here))
            at = at + step
            if abs(step[1]) < mp.mpf(10) ** -14:
                return float(at[1]), float(at[0])
        return float("nan"), float("nan")
