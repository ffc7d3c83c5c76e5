"""The first divergence and buckling loads for many points at once, known to be the first, or left to single searches.

An exponential begins to grow where an eigenvalue passes zero, that is where the last coefficient of the characteristic
polynomial p vanishes, or where a growing oscillation turns into two growing exponentials: there p has a double root
λ > 0, and its discriminant vanishes. Buckling is the first alone. Both functions are marched along as D_{m−1} is in
``first_crossings``; Newton's method on p(0) = 0, or on p(λ) = p′(λ) = 0, then gives the load to rounding.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from pfaff.algebra.newtons_method import Stopping, newton
from pfaff.kernels import many_polynomials
from pfaff.studies.along_loads import at_loads, settled
from pfaff.studies.first_crossings import AWAY, POLISH, SHARP, SURE
from pfaff.studies.frames import Frame
from pfaff.studies.marching import FOUND, NOWHERE, PAST, UNRESOLVED, March, Stretch

ROUNDING = 1e-15  # relative error of every term of a polynomial of a matrix that was reduced by elimination
APART = 1e-6  # step of differences, relative to the load: Newton's method needs no better
Polish = Callable[[Frame, np.ndarray, np.ndarray, np.ndarray], tuple[np.ndarray, ...]]
Roots = tuple[np.ndarray, np.ndarray, np.ndarray]  # loads, equilibria, and double roots there
ROUGHLY_REAL = (
    1e-3  # imaginary parts of roots below this, relative to 1 + |root|, are zero: a start for Newton's method
)
CLEAR = 1e-4  # double roots below this, in units of the frame, are too near zero to be called growing or not


@dataclass
class Growing:
    """Arrays over points: ``found`` where the load is known, ``absent`` where there is none up to the last."""

    found: np.ndarray
    absent: np.ndarray
    load: np.ndarray


def first_growing(frame: Frame, parameters: np.ndarray) -> Growing:
    """Where an exponential first grows (a frame for divergence), or an eigenvalue first passes zero (for buckling)."""
    march, N = March(frame, parameters), parameters.shape[1]
    out = Growing(np.zeros(N, dtype=bool), np.zeros(N, dtype=bool), np.full(N, np.nan))
    if frame.test == "zero" and frame.zero_order:  # singular without load: left to a single search
        return out
    for stretch in march.stretches():
        _look(march, stretch, out)
    out.absent = march.absent
    if frame.test == "meeting":
        stable = march.begins_stable()
        out.found &= stable
        out.absent &= stable
    return out


def _look(march: March, stretch: Stretch, out: Growing) -> None:
    """The first root of either function on a stretch, and whether it is one of those that are sought."""
    zero, place = stretch.first(stretch.seen.zero)
    static = place
    empty, unresolved, rooted = zero == NOWHERE, zero == UNRESOLVED, zero == FOUND
    double = np.zeros(len(place), dtype=bool)
    if march.frame.test == "meeting":
        meeting, there = stretch.first(stretch.seen.test)
        double = (meeting == FOUND) & (empty | (rooted & (there < place)))
        unresolved |= meeting == UNRESOLVED
        rooted = ((rooted & ((meeting == NOWHERE) | (meeting == FOUND))) | double) & ~unresolved
        empty &= meeting == NOWHERE
        place = np.where(double, there, place)
    at = stretch.distances(place)
    passed = _polished(march, stretch, out, rooted & double, place, _double)
    hidden = passed & (zero == FOUND) & (stretch.distances(static) <= at + PAST * stretch.length)
    _polished(march, stretch, out, rooted & ~double, place, _zero)
    _polished(march, stretch, out, hidden, static, _zero_of_stable)
    passed &= ~hidden
    march.go_on(stretch, empty & ~unresolved, unresolved, passed, place)


def _polished(
    march: March, stretch: Stretch, out: Growing, which: np.ndarray, place: np.ndarray, polish: Polish
) -> np.ndarray:
    """Loads at roots of the series to rounding, where they are those sought; and which roots are passed by."""
    passed = np.zeros(len(which), dtype=bool)
    if which.any():
        frame, points = march.frame, stretch.points[which]
        begin = march.begins[points] + frame.sign * stretch.distances(place)[which]
        load, good, passed[which] = polish(frame, march.parameters[:, points], begin, stretch.equilibria(place, which))
        out.found[points], out.load[points] = good & (np.abs(load - begin) <= AWAY * frame.first), load
    return passed


def _polynomials(frame: Frame, own: np.ndarray, loads: np.ndarray, x: np.ndarray) -> tuple[np.ndarray, ...]:
    """p and its derivative with respect to the load, at equilibria that follow from x; these, and which of them
    settled."""
    good, found = np.ones(len(loads), dtype=bool), []
    for side in (0.0, -APART, APART):
        at = at_loads(frame, own, loads * (1 + side))
        there, reached = settled(frame, at, x, strict=False)
        good &= reached
        found.append(frame.polynomials(frame.jacobians(there, at))[0])
        x = there if not side else x
    change = (found[2] - found[1]) / (2 * APART * loads)
    return found[0], change, x, good


def _zero(frame: Frame, own: np.ndarray, loads: np.ndarray, x: np.ndarray) -> tuple[np.ndarray, ...]:
    """Loads at which the last coefficient vanishes, for which points they are sure, and that none is passed by."""
    step = error = np.full(len(loads), np.inf)
    good = np.ones(len(loads), dtype=bool)

    def ahead(at: tuple[np.ndarray, np.ndarray]) -> tuple[tuple[np.ndarray, np.ndarray], float]:
        nonlocal step, error, good
        C, change, x, settles = _polynomials(frame, own, *at)
        good &= settles
        step, error = C[-1] / change[-1], ROUNDING * np.abs(C).max(axis=0) / np.abs(change[-1])
        loads = at[0] - np.nan_to_num(step, posinf=0.0, neginf=0.0)
        return (loads, x), _unsharp(step[good], loads[good])

    loads, x = newton(ahead, (loads, x), Stopping(POLISH)).at
    return loads, good & _sure(step, error, loads), np.zeros(len(loads), dtype=bool)


def _zero_of_stable(frame: Frame, own: np.ndarray, loads: np.ndarray, x: np.ndarray) -> tuple[np.ndarray, ...]:
    """As ``_zero``, right behind a double root that decays: sure where all else decays, and nothing grew between."""
    loads, good, none = _zero(frame, own, loads, x)
    C, _, _, settles = _polynomials(frame, own, loads, x)
    square, stable = np.empty(len(loads)), np.empty(len(loads), dtype=bool)
    many_polynomials.routh(np.ascontiguousarray(C[:-1]), frame.unit, square, stable)
    return loads, good & settles & stable, none


def _double(frame: Frame, own: np.ndarray, loads: np.ndarray, x: np.ndarray) -> tuple[np.ndarray, ...]:
    """Loads at which p and p′ vanish together, for which points they are sure and exponentials grow behind them, and
    where the double root is a decaying one, which is passed by."""
    C, _, x, good = _polynomials(frame, own, loads, x)
    root = _flattest(C)
    step = error = bend = np.full(len(loads), np.inf)
    rate = np.zeros(len(loads))

    def ahead(at: Roots) -> tuple[Roots, float]:
        nonlocal step, error, bend, rate, good
        loads, x, root = at
        C, change, x, settles = _polynomials(frame, own, loads, x)
        good &= settles
        value, slope, bend, terms = _horner(C, root)
        rate, rate_slope, _, _ = _horner(change, root)
        det = slope * rate_slope - rate * bend
        step = (slope * slope - value * bend) / det
        error = ROUNDING * terms / np.abs(rate)
        loads = loads - np.nan_to_num(step, posinf=0.0, neginf=0.0)
        root = root - np.nan_to_num((value * rate_slope - slope * rate) / det, posinf=0.0, neginf=0.0)
        return (loads, x, root), _unsharp(step[good], loads[good])

    loads, x, root = newton(ahead, (loads, x, root), Stopping(POLISH)).at
    sure = good & _sure(step, error, loads)
    parts = -rate * frame.sign * bend > 0  # roots are real behind the load, and were not before it
    return loads, sure & (root > CLEAR) & parts, sure & (root < -CLEAR)


def _unsharp(steps: np.ndarray, loads: np.ndarray) -> float:
    """0 if all of these loads are sharp, else 1."""
    return float(not (np.abs(steps) <= SHARP * np.abs(loads)).all())


def _sure(step: np.ndarray, error: np.ndarray, loads: np.ndarray) -> np.ndarray:
    size = np.abs(loads)
    return (np.abs(step) <= SHARP * size + error) & (error <= SURE * size) & np.isfinite(loads)


def _flattest(C: np.ndarray) -> np.ndarray:
    """The real root of p′ at which |p| is least, for every polynomial: where two of its roots are about to meet."""
    m = len(C) - 1
    slopes = (C[:-1] * np.arange(m, 0, -1)[:, None]).T
    companion = np.zeros((len(slopes), m - 1, m - 1))
    companion[:, 0] = -slopes[:, 1:] / slopes[:, :1]
    companion[:, np.arange(1, m - 1), np.arange(m - 2)] = 1.0
    roots = np.linalg.eigvals(companion)
    sizes = np.abs(np.array([_horner(C, roots[:, k].real)[0] for k in range(m - 1)])).T
    real = np.abs(roots.imag) <= ROUGHLY_REAL * (1 + np.abs(roots))
    best = np.where(real, sizes, np.inf).argmin(axis=1)
    return np.take_along_axis(roots.real, best[:, None], axis=1)[:, 0]


def _horner(C: np.ndarray, root: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """A polynomial, its first two derivatives, and the size of its terms, at one place for every column."""
    value, slope, bend, terms = C[0] + 0.0 * root, np.zeros_like(root), np.zeros_like(root), np.abs(C[0]) + 0.0 * root
    for each in C[1:]:
        bend = bend * root + 2 * slope
        slope = slope * root + value
        value = value * root + each
        terms = terms * np.abs(root) + np.abs(each)
    return value, slope, bend, terms
