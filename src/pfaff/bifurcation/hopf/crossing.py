"""How a critical pair of eigenvalues moves with the load: its speed, and whether it crosses the imaginary axis."""

from __future__ import annotations

import numpy as np

from pfaff.algebra.bordering import Border
from pfaff.algebra.tolerances import NOISE
from pfaff.errors import ConvergenceError
from pfaff.rest.field import Field


def crosses(crossing: complex) -> bool:
    """Whether a pair leaves the imaginary axis at a nonzero speed."""
    return abs(crossing.real) > NOISE * abs(crossing)


def crossing_of(around: Field, border: Border, x: np.ndarray, load: float, q: np.ndarray, p: np.ndarray) -> complex:
    """dλ/dload = ⟨p, dA/dload q⟩, A changing with the load itself and with the equilibrium."""
    moved, A_load = moved_with(around, border, x, load)
    return complex(np.vdot(p, A_load @ q + around.form(x, load, moved, q)))


def change_of(around: Field, border: Border, x: np.ndarray, load: float) -> np.ndarray:
    """dA/dload along the equilibrium."""
    moved, A_load = moved_with(around, border, x, load)
    return A_load + np.column_stack([around.form(x, load, moved, e) for e in np.eye(len(x))])


def moved_with(around: Field, border: Border, x: np.ndarray, load: float) -> tuple[np.ndarray, np.ndarray]:
    """dx/dload of the equilibrium, and ∂A/∂load at fixed x."""
    f_load, A_load = around.by_load(x, load)
    try:
        return border.solve(around.jacobian(x, load), -f_load), A_load
    except np.linalg.LinAlgError as problem:
        raise ConvergenceError(
            f"an eigenvalue passes zero at the Hopf point at {around.load} = {load:.10g} (a zero-Hopf point), so that "
            "there is no normal form of the pair alone: change another parameter"
        ) from problem


def at_crossing(values: np.ndarray, omega: float) -> np.ndarray:
    """Eigenvalues, the least stable first, the critical pair without rounding."""
    values = np.concatenate([others(values, omega), [1j * omega, -1j * omega]])
    return values[np.lexsort((-values.imag, -values.real))]


def others(values: np.ndarray, omega: float) -> np.ndarray:
    """All eigenvalues but the critical pair."""
    return np.delete(values, [np.abs(values - 1j * omega).argmin(), np.abs(values + 1j * omega).argmin()])
