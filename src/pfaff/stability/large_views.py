"""Two views of an assembly's modes: squares of frequencies, or eigenvalues where velocities matter."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from pfaff.algebra.newtons_method import Newton, Stopping, newton
from pfaff.algebra.tolerances import GROWING, NEARLY_REAL
from pfaff.errors import ConvergenceError
from pfaff.flow.sparse_pencil import SparseLinearisation
from pfaff.rest.assemblies import AssemblyPath
from pfaff.stability.large_modes import Border, lowest_squares, nearest_roots

MARGIN = 1e-3  # distance, relative to the critical load, at which its two sides are examined
ROUNDING = 1e-11  # error of shift-inverted eigenvalues, relative to the largest
CONVERGED = 1e-13  # relative step of the load after which another, costly one is not taken
STAGNATED = 1e-7  # relative steps of the load below this that no longer shrink are rounding: of a large sparse pencil


@dataclass(frozen=True)
class Crossing:
    """A load located by Newton's method: eigenvalue ω, mode, and the last step relative to the load."""

    load: float
    eigenvalue: complex
    mode: np.ndarray
    precision: float


class Reversible:
    """Squares s = ω² of an assembly without forces that depend on velocity: stable while all are real and negative."""

    event = "two frequencies meet and leave the imaginary axis"
    covered = "lowest modes"

    def lowest(self, lin: SparseLinearisation, modes: int, near: complex) -> tuple[np.ndarray, np.ndarray]:
        return lowest_squares(lin, modes)

    def operator(self, M: np.ndarray, C: np.ndarray, K: np.ndarray) -> np.ndarray:
        return -np.linalg.solve(M, K)

    def omega(self, squares: np.ndarray) -> np.ndarray:
        return np.sqrt(squares.astype(complex))

    def growing(self, squares: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Which grow as oscillations and which as exponentials; errors of s rise with s² when 1/s is computed."""
        size = np.abs(squares)
        noise = NEARLY_REAL * size + ROUNDING * size**2 / size.min(axis=-1, keepdims=True)
        real = np.abs(squares.imag) <= noise
        return ~real & (squares.imag > 0), real & (squares.real > noise)

    def critical(self, squares: np.ndarray) -> int:
        return int((squares.imag / np.abs(squares)).argmax())

    def locate(self, path: AssemblyPath, guess: Crossing) -> Crossing:
        """Newton's method for a double root s: g = 0 and g_s = 0, where P v + e_i g = 0 with v_j = 1."""

        def step(at: Bordered) -> tuple[Bordered, float]:
            square, load = at.unknown, at.load
            lin, slope = path.linearise(load), path.slope(load)
            mass, tilt = lin.block("M"), slope.pencil_of_square(square)
            turn = slope.block("M")
            solve = at.border.factorised(lin.wide_pencil_of_square(square))
            v, g = solve(None)
            v_s, g_s = solve(-(mass @ v))
            v_F, g_F = solve(-(tilt @ v))
            _, g_ss = solve(-2 * (mass @ v_s))
            _, g_sF = solve(-(mass @ v_F + tilt @ v_s + turn @ v))
            ds, dF = np.linalg.solve([[g_s, g_F], [g_ss, g_sF]], [-g, -g_s])
            return at.moved(ds, dF, v), abs(dF / (load + dF))

        square = (guess.eigenvalue**2).real
        border = Border.near(path.linearise(guess.load).pencil_of_square(square), guess.mode)
        found = _located(step, guess, square, border, "where two frequencies meet")
        return Crossing(found.at.load, complex(np.sqrt(complex(found.at.unknown))), found.at.mode, found.change)


class Damped:
    """Eigenvalues ω of an assembly with damping or gyroscopic forces: stable while none has a positive real part."""

    event = "a pair of eigenvalues crosses the imaginary axis"
    covered = "modes nearest to the frequency most at risk"

    def lowest(self, lin: SparseLinearisation, modes: int, near: complex) -> tuple[np.ndarray, np.ndarray]:
        # Overdamped modes can crowd the origin: relevant ones lie near the frequency most at risk.
        values, vectors = nearest_roots(lin, 2 * modes, 1j * (abs(near.imag) or abs(near)) * (1 + MARGIN))
        upper = values.imag >= -NEARLY_REAL * np.abs(values)
        return values[upper], vectors[:, upper]

    def operator(self, M: np.ndarray, C: np.ndarray, K: np.ndarray) -> np.ndarray:
        unit = np.broadcast_to(np.eye(M.shape[-1]), M.shape)
        return np.block([[0 * unit, unit], [-np.linalg.solve(M, K), -np.linalg.solve(M, C)]])

    def omega(self, values: np.ndarray) -> np.ndarray:
        return values

    def growing(self, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Which grow as oscillations, of each pair the upper one, and which as exponentials."""
        size = np.abs(values)
        growing = values.real > GROWING * size + ROUNDING * size**2 / size.min(axis=-1, keepdims=True)
        return growing & (values.imag > NEARLY_REAL * size), growing & (np.abs(values.imag) <= NEARLY_REAL * size)

    def critical(self, values: np.ndarray) -> int:
        oscillating = values.imag > NEARLY_REAL * np.abs(values)
        if not oscillating.any():
            return int(values.real.argmax())
        return int(np.where(oscillating, values.real, -np.inf).argmax())

    def locate(self, path: AssemblyPath, guess: Crossing) -> Crossing:
        """Newton's method for g(iω, F) = 0, where P v + e_i g = 0 with v_j = 1."""

        def step(at: Bordered) -> tuple[Bordered, float]:
            omega, load = at.unknown, at.load
            lin, slope = path.linearise(load), path.slope(load)
            d = lin.data
            rate = lin.pattern.matrix(2j * omega * d["M"] + d["C"] + d["moving"])
            solve = at.border.factorised(lin.wide_pencil(1j * omega))
            v, g = solve(None)
            _, g_rate = solve(-(rate @ v))
            _, g_F = solve(-(slope.pencil(1j * omega) @ v))
            by_omega = 1j * g_rate
            d_omega, dF = np.linalg.solve([[by_omega.real, g_F.real], [by_omega.imag, g_F.imag]], [-g.real, -g.imag])
            return at.moved(d_omega, dF, v), abs(dF / (load + dF))

        omega = guess.eigenvalue.imag
        border = Border.near(path.linearise(guess.load).pencil(1j * omega), guess.mode)
        found = _located(step, guess, omega, border, "a crossing of the imaginary axis")
        return Crossing(found.at.load, 1j * found.at.unknown, found.at.mode, found.change)


class Bordered(NamedTuple):
    """What Newton's method on a bordered pencil changes: s or ω, the load, the null vector; and the border."""

    unknown: float
    load: float
    mode: np.ndarray
    border: Border

    def moved(self, unknown: float, load: float, vector: np.ndarray) -> Bordered:
        mode = vector[: len(self.mode)]
        return Bordered(float(self.unknown + unknown), float(self.load + load), mode, self.border.renewed(mode))


def _located(
    step: Callable[[Bordered], tuple[Bordered, float]], guess: Crossing, unknown: float, border: Border, what: str
) -> Newton[Bordered]:
    start = Bordered(unknown, guess.load, guess.mode, border)
    found = newton(step, start, Stopping(exact=CONVERGED, settled=STAGNATED))
    if not found.ceased:
        raise ConvergenceError(f"Newton's method did not find {what} near {guess.load:.6g}")
    return found
