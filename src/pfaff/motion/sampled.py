"""Functions of time given by samples or splines, as polynomials between knots.

Samples of a coordinate go through a spline of fifth degree, since coordinates move smoothly. A load may jump: its
samples are joined by straight lines unless it is told to hold each value until the next, or to be smooth.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from pfaff.errors import ParameterError
from pfaff.statement.values import numbers_from, one_of

if TYPE_CHECKING:  # most motions have no samples, and SciPy's splines take longer to import than many motions
    from scipy.interpolate import PPoly

DEGREE = 5
HOW = ("smooth", "linear", "hold")
SMOOTH, LINEAR, HOLD = HOW
CONTINUOUS = 1e-9  # a jump smaller than this, relative to the function or its derivative, is rounding


def piecewise(name: str, given: Any, default: str, until: float) -> tuple[PPoly, str]:
    """Samples (times, values) or (times, values, how) interpolated, or a piecewise polynomial of SciPy's; how so, in
    words. The last value is held until the end of the motion, if values are."""
    from scipy.interpolate import BPoly, BSpline, PPoly

    if isinstance(given, BPoly):
        given = PPoly.from_bernstein_basis(given)
    elif isinstance(given, BSpline):
        given = PPoly.from_spline(given)
    how = ""
    if not isinstance(given, PPoly):
        given, how = _interpolated(name, given, default, until)
    if given.c.ndim != 2 or not np.isfinite(given.c).all():
        raise ParameterError(f"the function for {name} must have one finite value at each time")
    if np.any(given.c[: -DEGREE - 1]):
        raise ParameterError(
            f"the spline for {name} has degree {len(given.c) - 1}: give one of degree {DEGREE} or less"
        )
    return given, how


def _interpolated(name: str, given: Any, default: str, until: float) -> tuple[PPoly, str]:
    from scipy.interpolate import PPoly, make_interp_spline

    if not isinstance(given, Sequence | np.ndarray) or len(given) not in (2, 3):
        raise ParameterError(
            f"the function for {name} is {type(given).__name__}: give a SymPy expression in time, samples "
            "(times, values) or (times, values, 'hold'), or a PPoly, BPoly or BSpline of SciPy's"
        )
    how = one_of(HOW, given[2], f"samples of {name}: unknown interpolation") if len(given) == 3 else default
    times, values = _samples(name, given[0], given[1], how)
    if how == SMOOTH:
        return PPoly.from_spline(make_interp_spline(times, values, k=DEGREE)), f"{name} by a smooth spline"
    if how == HOLD and times[-1] < until:
        times, values = np.append(times, until), np.append(values, values[-1])
    widths = np.diff(times)
    some = widths > 0  # two samples at one time are a jump
    knots = np.append(times[:-1][some], times[-1])
    if how == HOLD:
        return PPoly(values[:-1][some][None], knots), f"{name} held from each sample to the next"
    slopes = np.diff(values)[some] / widths[some]
    return PPoly(np.array([slopes, values[:-1][some]]), knots), f"{name} linear between its samples"


def _samples(name: str, times: Any, values: Any, how: str) -> tuple[np.ndarray, np.ndarray]:
    times, values = (numbers_from(f"the samples of {name}", each) for each in (times, values))
    least, steps = (DEGREE + 1 if how == SMOOTH else 2), np.diff(times) if times.ndim == 1 else np.zeros(0)
    ordered = (steps > 0).all() if how == SMOOTH else (steps >= 0).all() and (steps > 0).any()
    if times.ndim != 1 or len(times) < least or not ordered or not np.isfinite(times).all():
        raise ParameterError(f"the samples of {name} need at least {least} increasing times")
    if values.shape != times.shape:
        raise ParameterError(f"the samples of {name} have {values.shape} values for {times.shape} times")
    if not np.isfinite(values).all():
        raise ParameterError(
            f"the samples of {name} contain what is not a finite number, at t = {_first_bad(times, values)}"
        )
    return times, values


def _first_bad(times: np.ndarray, values: np.ndarray) -> float:
    return float(times[np.flatnonzero(~np.isfinite(values))[0]])


def check_span(name: str, function: PPoly, duration: float) -> None:
    first, last = function.x[0], function.x[-1]
    if first > 0 or last < duration:
        raise ParameterError(
            f"the samples of {name} cover the times {first:g} to {last:g}, the motion 0 to {duration:g}: "
            "give samples for all of it"
        )


def check_smooth(name: str, function: PPoly, corners: bool = False) -> None:
    """Raise for a function with jumps and, unless they are allowed, corners, which no coordinate can follow."""
    inner, widths = function.x[1:-1], np.diff(function.x)[:-1]
    for order, what in ((0, "jumps"),) if corners else ((0, "jumps"), (1, "has a corner")):
        left = np.array([np.polyval(np.polyder(c, order), h) for c, h in zip(function.c.T[:-1], widths, strict=True)])
        right = function(inner, nu=order)
        jumps = np.abs(left - right)
        if jumps.max(initial=0.0) > CONTINUOUS * (np.abs(left) + np.abs(right)).max(initial=0.0):
            raise ParameterError(
                f"the function for {name} {what} at t = {inner[jumps.argmax()]:g}: smooth it, no motion can follow; "
                f"samples (times, values, {SMOOTH!r}) are"
            )


def common_knots(functions: Sequence[PPoly], duration: float) -> np.ndarray:
    """The knots of all functions together, from the start to the end of the motion."""
    inner = [f.x[(f.x > 0) & (f.x < duration)] for f in functions]
    return np.unique(np.concatenate([[0.0], *inner, [duration]]))


def coefficients(function: PPoly, knots: np.ndarray) -> np.ndarray:
    """Coefficients of powers of (t − knot), one row for each power and one column for each interval."""
    factorial = np.cumprod([1.0, *range(1, DEGREE + 1)])
    return np.array([function(knots[:-1], nu=k) for k in range(DEGREE + 1)]) / factorial[:, None]


def interpolated(t: np.ndarray, y: np.ndarray, times: np.ndarray) -> np.ndarray:
    """States between samples of a motion, forwards or backwards in time, by a cubic spline."""
    from scipy.interpolate import CubicSpline

    if len(t) == 1:
        return np.repeat(y, times.size, axis=1).reshape(len(y), *times.shape)
    order = np.argsort(t)
    return CubicSpline(t[order], y[:, order], axis=1)(times)
