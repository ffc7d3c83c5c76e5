"""Loads at which stability may change, to rounding: Newton's method on the pencil P(λ, load) bordered by its vectors.

    P x = 0                     a pair crosses the imaginary axis, λ = iω, or an eigenvalue passes λ = 0,
    P x = 0, P y + P_λ x = 0    two eigenvalues meet, λ real or iω (a Jordan chain),

with x and y normalised by a vector c. The mass matrix is not inverted and no eigenvalue is computed on the way, so that
digits are lost neither by heavy damping nor by the square root with which eigenvalues leave a double one; nor by light
damping, as imaginary parts are solved for in units of it (see ``light``).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from pfaff.algebra.light import most_real
from pfaff.algebra.newtons_method import Stopping, newton
from pfaff.algebra.pencil import Pencil
from pfaff.algebra.polynomials import Units
from pfaff.algebra.tolerances import SETTLED
from pfaff.stability.stretches import Stretch

Kind = Literal["hopf", "zero", "meeting"]

AWAY = 0.3  # longest step of load and eigenvalue, relative


@dataclass(frozen=True)
class Crossing:
    """A load at which an eigenvalue reaches the axis or zero, or two meet; ``sharp`` if it is known to rounding."""

    kind: Kind
    load: float
    value: complex
    sharp: bool = True

    def explains(self, before: tuple[int, int], after: tuple[int, int]) -> bool:
        """Whether these numbers of growing oscillations and exponentials, before and after it, agree with its kind."""
        more = after[0] - before[0], after[1] - before[1]
        if self.kind == "meeting":
            return more in ((1, -2), (-1, 2), (1, 0), (-1, 0), (0, 2), (0, -2))
        return more in (((1, 0), (-1, 0)) if self.kind == "hopf" else ((0, 1), (0, -1)))


def sharpened(
    stretch: Stretch, kind: Kind, value: complex, load: float, near: float, settled: float = SETTLED
) -> Crossing | None:
    """The crossing that Newton's method reaches from an eigenvalue near a load, if it is within a distance of it.

    Steps that no longer shrink end there if they are smaller than ``settled``.
    """
    stretch = stretch.suited(load)

    def step(here: _Bordered) -> tuple[_Bordered, float] | None:
        with np.errstate(over="ignore", invalid="ignore"):  # a step that is not finite ends the method
            taken = here.step(stretch.pencil(here.load), stretch.change(here.load), near)
        if taken is None:
            return None
        of_load, of_value = abs(taken.load) / max(abs(here.load), SETTLED * near), abs(taken.size)
        change = max(of_load, of_value / abs(here.size) if here.size else 0.0)
        here = here.moved(taken, min(1.0, AWAY / change) if change else 1.0)
        return (here, change) if abs(here.load - load) <= near else None

    start = _start(stretch, kind, 0j if kind == "zero" else value, load)
    if start is None:
        return None
    found = newton(step, start, Stopping(settled=settled))
    return Crossing(kind, found.at.load, complex(found.at.direction * found.at.size)) if found.ceased else None


def several_zeros(stretch: Stretch, load: float, near: float) -> Crossing | None:
    """The load of the stretch at which several eigenvalues pass zero at once, if it is stable under rounding.

    K + δ K_load is singular at δ = −1/μ, μ an eigenvalue of K⁻¹ K_load; those that are equal do not disturb each other.
    """

    def step(here: float) -> tuple[float, float] | None:
        K, by_load = stretch.pencil(here).coefficients[0], stretch.change(here).coefficients[0]
        try:
            softest = max(np.linalg.eigvals(np.linalg.solve(K, by_load)), key=abs)
        except np.linalg.LinAlgError:
            return here, 0.0  # to the last digit
        change = float(-1 / softest.real) if softest.real else np.inf
        beyond = not (stretch.low <= here + change <= stretch.high and abs(here + change - load) <= near)
        if beyond or abs(softest.imag) > AWAY * abs(softest.real):
            return None
        return here + change, abs(change / (here + change)) if here + change else 0.0

    found = newton(step, load)
    if not (found.ceased and stretch.pencil(found.at).shaken(0j, stretch.change(found.at)) < near):
        return None
    return Crossing("zero", found.at, 0j)


@dataclass(frozen=True)
class _Bordered:
    """A (double) eigenvalue λ = direction · size of the pencil at a load, with its vectors, in units of its own."""

    kind: Kind
    direction: complex
    size: float
    load: float
    x: np.ndarray
    y: np.ndarray
    c: np.ndarray
    units: Units
    light: float

    def moved(self, by: _Bordered, share: float) -> _Bordered:
        return replace(
            self,
            size=self.size + share * by.size,
            load=self.load + share * by.load,
            x=self.x + share * by.x,
            y=self.y + share * by.y,
        )

    @np.errstate(over="ignore", invalid="ignore")
    def step(self, pencil: Pencil, by_load: Pencil, unit: float) -> _Bordered | None:
        """Newton's step; None where numbers overflow."""
        pencil, by_load = pencil.scaled(self.units), by_load.scaled(self.units)
        value, k, d, x, y = self.direction * self.size, len(self.x), self.direction, self.x, self.y
        P, P1, P_load = pencil.at(value), pencil.slope(value), by_load.at(value)
        columns = [d * (P1 @ x), unit * (P_load @ x)] if d else [unit * (P_load @ x)]
        meeting, real = self.kind == "meeting", len(columns)
        matrix = np.zeros(((k + 1) * (1 + meeting), k * (1 + meeting) + real), dtype=np.result_type(P, x, *columns))
        matrix[:k, :k], matrix[:k, -real:], matrix[k, :k] = P, np.transpose(columns), self.c
        residual = np.append(P @ x, self.c @ x - 1)
        if meeting:
            P2, P1_load = pencil.bend(value), by_load.slope(value)
            columns = [d * (P1 @ y + P2 @ x), unit * (P_load @ y + P1_load @ x)][-real:]
            matrix[k + 1 : -1, :k], matrix[k + 1 : -1, k:-real], matrix[-1, k:-real] = P1, P, self.c
            matrix[k + 1 : -1, -real:] = np.transpose(columns)
            residual = np.concatenate([residual, P @ y + P1 @ x, [self.c @ y]])
        found = _solution(matrix, -residual, real, self.light)
        if found is None or not np.isfinite(found).all():
            return None
        size, load = (found[-2].real, found[-1].real) if d else (0.0, found[-1].real)
        dy = found[k : 2 * k] if self.kind == "meeting" else 0 * y
        return replace(self, x=found[:k], y=dy, size=float(size), load=float(unit * load))


def _start(stretch: Stretch, kind: Kind, value: complex, load: float) -> _Bordered | None:
    """The equations at a first load; None where they are not finite."""
    pencil = stretch.pencil(load)
    units = pencil.units(abs(value) or pencil.largest)  # a zero eigenvalue gives no scale
    turning = abs(value.imag) > abs(value.real)
    direction = 1j if turning else float(np.sign(value.real))
    size = abs(value.imag) if turning else abs(value.real)
    scaled = pencil.scaled(units)
    matrix = scaled.at(direction * size)
    if not np.isfinite(matrix).all():
        return None
    x = most_real(np.linalg.svd(matrix)[2][-1].conj())
    c = x.real / (x.real @ x.real)
    return _Bordered(kind, direction, size, load, x, 0 * x, c, units, scaled.light(size) if kind == "hopf" else 1.0)


def _solution(matrix: np.ndarray, right: np.ndarray, real: int, light: float) -> np.ndarray | None:
    """The solution of the equations, or the nearest one; the last ``real`` unknowns are real.

    Imaginary parts of equations and unknowns are in units of ``light``.
    """
    if not (np.isfinite(matrix).all() and np.isfinite(right).all()):
        return None
    k = matrix.shape[1] - real
    if np.iscomplexobj(matrix):
        turned = np.hstack([matrix[:, :k], 1j * light * matrix[:, :k], matrix[:, k:]])
        matrix = np.vstack([turned.real, turned.imag / light])
        right = np.concatenate([right.real, right.imag / light])
    square = matrix.shape[0] == matrix.shape[1]
    try:
        found = np.linalg.solve(matrix, right) if square else np.linalg.lstsq(matrix, right, rcond=None)[0]
    except np.linalg.LinAlgError:
        return None
    return found if len(found) == k + real else np.append(found[:k] + 1j * light * found[k : 2 * k], found[2 * k :])
