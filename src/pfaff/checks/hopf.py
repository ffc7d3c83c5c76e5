"""Hopf points: their mode by differences of the flow, and their verdict by the first cycle itself.

A small cycle is solved for by harmonic balance on the rates alone, without any term of the normal form: at which load
it exists tells the sign of l1, and its Floquet exponents, those of Hill's matrix, tell whether it attracts. Both are
extrapolated to the birth of cycles.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np

from pfaff.algebra.bordering import balanced
from pfaff.algebra.newtons_method import Stopping, newton
from pfaff.algebra.tolerances import CORRECTIONS, EPS
from pfaff.checks.check import Check, unmade
from pfaff.threads import cached_property

HARMONICS, TIMES = 3, 16  # harmonics of a small cycle, and times in a period at which its equations are projected
CLOSED = 1e-9  # last change of Newton's method, relative to the cycle, and of its frequency to ω
TRIED = 1e-3, 1e-2, 1e-4, 1e-1, 1e-5  # |z|² times the terms of c1, relative to ω: sizes of cycles, until one tells
TOLD, KNOWN = 0.02, 0.2  # errors of what a cycle tells, relative to what is to be verified: enough, and at most
ERRORS = 3.0  # times the exponent that is zero but for rounding: that of others
ALIKE = 0.5  # largest difference from it, relatively: beyond 1 the sign is another one
STAYING = 0.05  # rate of motion along a family on which something is conserved, relative to the largest other rate
MOST = 40  # states up to which cycles are solved for
WIDE = 1e-3  # step of differences of fourth order, relative to the size named next
ASIDE = 1e-4  # step of differences, relative to the size at which terms of third order are those of first
MODAL = 1e-6  # what may be left of A q = iω q, relative to its terms
ITERATIONS = 4  # of inverse iteration, for the exponents near zero

BELONGS = "±iω are eigenvalues of the flow about the equilibrium, by differences"
FIRST = "the first cycle is at the load that l1 says"
REPELS = "the multipliers of the first cycle are those of the normal form"

Rates = Callable[[np.ndarray, float], np.ndarray]  # f at states, a column each, and a load
Cycle = tuple[np.ndarray, float, float, np.ndarray]  # harmonics, frequency, load, and what unfolds a family


@dataclass(frozen=True)
class Claim:
    """What is claimed about a Hopf point.

    ``rates`` are those of cycles per |z|², in the amplitude and along a family of equilibria with tangents ``right``
    and gradients ``left``, cycles being at −``shift``·|z|² along it. Columns of ``kept`` are gradients and directions
    of what is conserved, in the coordinates of the family. ``size`` is that of the terms of c1.
    """

    x: np.ndarray
    A: np.ndarray
    load: float
    omega: float
    crossing: complex
    q: np.ndarray
    p: np.ndarray
    c1: complex
    size: float
    rates: np.ndarray
    left: np.ndarray
    right: np.ndarray
    shift: np.ndarray
    kept: tuple[np.ndarray, np.ndarray]

    @property
    def natural(self) -> float:
        """|z|² at which the terms of c1 are as large as iω."""
        return self.omega / (max(self.size, abs(self.c1)) or 1.0)

    @cached_property
    def steps(self) -> np.ndarray:
        """Steps of differences, in the units of each state: those in which A is balanced."""
        units = balanced(self.A)[1]
        return WIDE * np.sqrt(self.natural) * units * (np.abs(self.q) / units).max()

    @property
    def conserved(self) -> int:
        """How many quantities are conserved."""
        return self.kept[0].shape[1]


def mode(claim: Claim, rates: Rates) -> Check:
    """A q = iω q, with A q by differences of the flow."""
    step = ASIDE * np.sqrt(claim.natural)

    def along(step: float) -> np.ndarray:
        ways = step * np.column_stack([claim.q.real, claim.q.imag])
        f = rates(claim.x[:, None] + np.hstack([ways, -ways]), claim.load)
        return (f[:, :2] - f[:, 2:]) @ np.array([1.0, 1.0j]) / (2 * step)

    fine, coarse = along(step), along(2 * step)
    terms, units = np.abs(claim.A) @ np.abs(claim.q) + claim.omega * np.abs(claim.q), balanced(claim.A)[1]
    terms = np.maximum(terms, MODAL * units * (terms / units).max())  # a state that does not take part is rounding
    left, error = (np.abs(each) / terms for each in (fine - 1j * claim.omega * claim.q, fine - coarse))
    return Check(
        BELONGS,
        float(left.max()),
        float(max(MODAL, 10 * error.max())),
        "the equilibrium or the frequency is not what the equations have: rescale states, or state them anew",
    )


def first_cycle(claim: Claim, rates: Rates, slopes: Rates | None = None) -> Iterator[Check]:
    """l1 and the growth about cycles, by the first cycles, where these are resolved.

    ``slopes`` are ∂f/∂x at states, indexed [i, j, state]; by differences if they are not given.
    """
    if slopes is None:
        slopes = partial(_slopes, claim, rates)
    if len(claim.x) > MOST:
        yield from unmade(f"cycles of more than {MOST} states take long", FIRST, REPELS)
        return
    wanted = np.array([claim.c1.real, claim.rates.real.max()])
    best, square = (np.inf, wanted), TRIED[0] * claim.natural
    for size in TRIED:
        large, small = (_told(claim, rates, slopes, share * size * claim.natural) for share in (1.0, 0.5))
        if large is None or small is None:
            continue
        at_birth = (2 * small - large)[:2]
        errors = np.abs(at_birth - small[:2]) + np.array([0.0, 0.0 if claim.conserved else ERRORS * small[2]])
        error = float((errors / np.abs(wanted)).max())
        if error < best[0]:  # NaN is not
            best, square = (error, at_birth), size * claim.natural
        if error < TOLD:
            break
    error, told = best
    if not error < KNOWN:
        yield from unmade("small cycles are not resolved", FIRST, REPELS)
        return
    off = np.abs(told - wanted) / np.abs(wanted)
    remedy = "the normal form is not to be trusted: follow the cycles by hopf.orbits(…), whose multipliers decide"
    yield Check(FIRST, float(off[0]), ALIKE, remedy)
    yield Check(REPELS, float(off[1]), ALIKE, remedy)
    if claim.conserved:
        moved = _repelled(claim, rates, slopes, square) / np.abs(claim.rates).max()
        yield Check("cycles beside the first do not move along the family of equilibria", moved, STAYING, remedy)


def _told(claim: Claim, rates: Rates, slopes: Rates, square: float) -> np.ndarray | None:
    """Re c1, the largest growth about cycles and its rounding per |z|², by a cycle of this |z|²; None if there is
    none."""
    try:
        with np.errstate(all="ignore"):
            found = _cycle(claim, rates, slopes, square)
            return None if found is None else np.array([found[0], *_largest(claim, found[1], square) / square])
    except (np.linalg.LinAlgError, FloatingPointError):
        return None


def _repelled(claim: Claim, rates: Rates, slopes: Rates, square: float) -> float:
    """The largest rate per |z|² at which cycles beside one of this |z|² move along the family: b̃ of ẏ = b̃ y|z|²."""
    left, right = claim.left @ claim.kept[0], claim.right @ claim.kept[1]
    aside = 1 / (np.abs(right) / claim.steps[:, None]).max(axis=0)
    both = [
        [_cycle(claim, rates, slopes, square, sign * each) for sign in (1.0, -1.0)] for each in np.diag(aside)
    ]  # what unfolds them balances b̃ y|z|²
    if any(cycle is None for pair in both for cycle in pair):
        return np.nan
    slope = [(left.T @ right @ (a[2] - b[2])) / (2 * by * square) for (a, b), by in zip(both, aside, strict=True)]  # type: ignore[index]
    return float(np.abs(slope).max())


def _basis() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """1, cos kτ, sin kτ at all times (columns), the projection on them, and their derivatives in terms of them."""
    k, times = np.arange(1, HARMONICS + 1), 2 * np.pi * np.arange(TIMES) / TIMES
    E = np.hstack([np.ones((TIMES, 1)), np.cos(np.outer(times, k)), np.sin(np.outer(times, k))])
    D = np.zeros((len(E[0]), len(E[0])))
    D[k, k + HARMONICS], D[k + HARMONICS, k] = -k, k  # cosines become sines, sines cosines
    return E, np.linalg.pinv(E), D


def _cycle(
    claim: Claim, rates: Rates, slopes: Rates, square: float, aside: np.ndarray | float = 0.0
) -> tuple[float, np.ndarray, np.ndarray] | None:
    """Re c1 from the load of the cycle with ⟨p, X₁⟩ = r, Hill's matrix, and what unfolds a family.

    Unknowns are harmonics, frequency, load and, where something is conserved, what unfolds the family: the cycle is
    then ``aside`` of the claimed place on it.
    """
    n, r, (E, project, D) = len(claim.x), np.sqrt(square), _basis()
    many, held, left = len(D), claim.right @ claim.kept[1], claim.left @ claim.kept[0]
    U = np.zeros((n, many))
    U[:, 0], U[:, 1], U[:, 1 + HARMONICS] = claim.x, 2 * r * claim.q.real, -2 * r * claim.q.imag
    omega, load, free = claim.omega, claim.load, np.zeros(held.shape[1])
    aside_of_load, hill = ASIDE * claim.omega / abs(claim.crossing), np.empty(0)

    def step(at: Cycle) -> tuple[Cycle, float] | None:
        nonlocal hill
        U, omega, load, free = at
        X = np.ascontiguousarray(U @ E.T)
        J, f = slopes(X, load), rates(X, load)
        by_load = (rates(X, load + aside_of_load) - rates(X, load - aside_of_load)) / (2 * aside_of_load)
        hill = np.einsum("at,ijt,tb->iajb", project, J, E, optimize=True)
        hill -= omega * np.einsum("ij,ba->iajb", np.eye(n), D)  # sV = ĴV − ωV'
        hill = hill.reshape(n * many, -1)
        residual = f @ project.T - omega * U @ D
        residual[:, 0] += held @ free
        mean = np.einsum("ik,a->iak", held, np.eye(many)[0]).reshape(n * many, -1)
        columns = np.column_stack([-(U @ D).ravel(), (by_load @ project.T).ravel(), mean])
        rows, right = _selected(claim, left, U, r, left.T @ claim.x - claim.kept[0].T @ claim.shift * square + aside)
        whole = np.block([[hill, columns], [rows, np.zeros((len(rows), columns.shape[1]))]])
        change = -_solved(whole, np.append(residual.ravel(), right))
        U = U + change[: n * many].reshape(n, many)
        omega, load, free = omega + change[n * many], load + change[n * many + 1], free + change[n * many + 2 :]
        moved = np.abs(change[: n * many].reshape(n, many)).max(axis=1)
        if not np.isfinite(change).all():
            return None
        turned = abs(change[n * many]) + abs(claim.crossing * change[n * many + 1])
        still = (moved <= CLOSED * r * np.abs(claim.q) + 64 * EPS * np.abs(claim.x)).all() or moved.max() <= CLOSED * r
        return (U, omega, load, free), float(not (still and turned <= CLOSED * claim.omega))

    found = newton(step, (U, omega, load, free), Stopping(CORRECTIONS))
    _, _, load, free = found.at
    return (float(-claim.crossing.real * (load - claim.load) / square), hill, free) if found.ceased else None


def _slopes(claim: Claim, rates: Rates, X: np.ndarray, load: float) -> np.ndarray:
    """∂f/∂x at states, indexed [i, j, state], by differences of fourth order."""
    n, many = X.shape
    ways = np.diag(claim.steps)[:, :, None] + 0 * X[:, None, :]
    shifted = np.stack([X[:, None, :] + by * ways for by in (1.0, -1.0, 2.0, -2.0)], axis=1)
    f = rates(np.ascontiguousarray(shifted.reshape(n, -1)), load).reshape(n, 4, n, many)
    return (8 * (f[:, 0] - f[:, 1]) - (f[:, 2] - f[:, 3])) / (12 * claim.steps[None, :, None])


def _selected(
    claim: Claim, left: np.ndarray, U: np.ndarray, r: float, place: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Rows and what is left of ⟨p, X₁⟩ = r, X₁ = (U_cos − iU_sin)/2, and of the mean along a conserved family."""
    n, many = U.shape
    rows = np.zeros((2 + left.shape[1], n, many))
    p = claim.p.conj() / 2
    rows[0, :, 1], rows[0, :, 1 + HARMONICS] = p.real, p.imag
    rows[1, :, 1], rows[1, :, 1 + HARMONICS] = p.imag, -p.real
    rows[2:, :, 0] = left.T
    value = np.einsum("kia,ia->k", rows, U)
    return rows.reshape(len(rows), -1), value - np.concatenate([[r, 0.0], place])


def _largest(claim: Claim, hill: np.ndarray, square: float) -> np.ndarray:
    """The largest growth among the exponents near zero, but for the one that is zero along the cycle and those of
    what is conserved; and how far these are from zero."""
    n, many, k = len(claim.x), 2 * HARMONICS + 1, claim.right.shape[1]

    def started(mode: np.ndarray, constant: np.ndarray) -> np.ndarray:
        first = np.zeros((n, many, 2 + k))
        first[:, 1, 0], first[:, 1 + HARMONICS, 0] = mode.real, -mode.imag
        first[:, 1, 1], first[:, 1 + HARMONICS, 1] = mode.imag, mode.real
        first[:, 0, 2:] = constant
        return first.reshape(n * many, -1)

    matrix = hill - np.abs(claim.rates).max() * square * np.eye(len(hill))  # regular, as near to zero as the exponents
    V, W = started(claim.q, claim.right), started(claim.p, claim.left)
    for _ in range(ITERATIONS):
        V, W = (np.linalg.qr(_solved(each, basis))[0] for each, basis in ((matrix, V), (matrix.T, W)))
    values = np.linalg.eigvals(np.linalg.solve(W.T @ V, W.T @ hill @ V))
    order = np.argsort(np.abs(values))
    zeros, others = values[order[: 1 + claim.conserved]], values[order[1 + claim.conserved :]]
    return np.array([others.real.max(), np.abs(zeros).max()])


def _solved(matrix: np.ndarray, right: np.ndarray) -> np.ndarray:
    """The solution with rows, then columns, scaled to unit size: states come in any units."""
    rows = np.abs(matrix).max(axis=1)
    rows = np.where(rows > 0, rows, 1.0)
    columns = np.abs(matrix / rows[:, None]).max(axis=0)
    columns = np.where(columns > 0, columns, 1.0)
    scaled = right / (rows if right.ndim == 1 else rows[:, None])
    found = np.linalg.solve(matrix / rows[:, None] / columns, scaled)
    return found / (columns if right.ndim == 1 else columns[:, None])
