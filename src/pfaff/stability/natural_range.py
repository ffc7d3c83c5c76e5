"""The natural range of a load, whatever its units: what outweighs the stiffness of a system without load."""

from __future__ import annotations

import numpy as np

from pfaff.algebra.units import row_units
from pfaff.errors import ConvergenceError
from pfaff.rest.path import LoadPath
from pfaff.rest.small_motions import Linearisation, alongside

USUAL = 4.0  # ratio of the natural range to a usual load
STIFFENED = 1e-12  # change of the stiffness, relative, that is more than rounding
SEEN = (1e-8, 1e-3)  # relative changes of the matrices by a load from which their slopes are determined
DECADES, TRIED = 4, 24  # distance, in decades, of loads tried for such changes; most trials
EXTREME = 290  # decades: farther loads are hardly numbers
LEAP = 8  # trials after which the next are twice as far, so that no units are too large or too small
STRAIGHT = 1e-9  # relative difference of changes that are proportional to their loads
NEARER = (1.0, 1e-3, 1e-6)  # factors on such a load, tried where the equilibrium is not followed so far
EVEN = 1e-6  # relative excess of a range over a round number that is rounded down
UNKNOWN = 200.0  # the range of a load that changes nothing


def natural_range(path: LoadPath) -> float:
    """Four times the load at which geometric stiffness equals elastic stiffness, rounded up to 1, 2 or 5 times a power
    of ten.

    Where the load stiffens nothing but acts as a gyroscopic or damping force, the load at which such forces equal those
    of stiffness and inertia; where it is a mass or a lever, that at which it has doubled the inertia; where it is a
    speed at which constraints carry the system, that at which they turn it as fast as it swings; where it only moves
    the equilibrium, that at which the matrices have changed with it.
    """
    shares = _Shares(path)
    visible, start = _visible(shares), path.linearise(0.0)
    for probe in (visible * share for share in NEARER):
        try:
            there = path.linearise(probe)
        except ConvergenceError:
            continue
        return _four_times(path, shares, start, there, probe)
    return UNKNOWN


def _four_times(path: LoadPath, shares: _Shares, start: Linearisation, there: Linearisation, probe: float) -> float:
    """The range suggested by the small motions at a load."""
    stiff, more = _sizes(start, there, "stiffness")
    if not stiff:
        stiff = _stiff(stiff, _sizes(start, there, "C")[0], _sizes(start, there, "M")[0])
    if more > STIFFENED * stiff > 0:  # less is rounding: as for a speed, which stiffens nothing
        return _rounded(USUAL * probe * (stiff / more))
    (damping, more), (mass, heavier) = (_sizes(start, there, name) for name in ("C", "M"))
    usual = max(damping, np.sqrt(stiff) * np.sqrt(mass))
    if more > STIFFENED * usual > 0:
        return _rounded(USUAL * probe * (usual / more))
    if heavier > STIFFENED * mass > 0:
        return _rounded(USUAL * probe * (mass / heavier))
    steered = shares.of_constraints(probe)
    if steered > STIFFENED:
        return _rounded(USUAL * probe / steered)
    moved = path.moved(probe) / probe
    return _rounded(USUAL * path.large / moved) if moved and np.isfinite(path.large) else UNKNOWN


def _visible(shares: _Shares) -> float:
    """A load whose change of the matrices gives their slope, being small or proportional to it; one, if there is
    none."""
    exponent, low, high = 0, -np.inf, np.inf
    for trial in range(TRIED):
        share = shares.at(exponent)
        if SEEN[0] <= share <= SEEN[1]:
            at_one = shares.at(0)
            straight = abs(at_one - share * 10.0**-exponent) <= STRAIGHT * at_one
            return 1.0 if straight and at_one >= SEEN[0] else 10.0**exponent
        low, high = (exponent, high) if share < SEEN[0] else (low, exponent)
        if high - low <= 1:
            return 10.0**low if np.isfinite(low) else 10.0**high
        between = np.isfinite(low) and np.isfinite(high)
        farther = DECADES * 2 ** max(0, trial - LEAP) * (1 if share < SEEN[0] else -1)
        exponent = int((low + high) // 2) if between else min(max(exponent + farther, -EXTREME), EXTREME)
    return 1.0


class _Shares:
    """Largest relative change of M, C, K per load, with the equilibrium where its slope puts it; in units of the
    inertia."""

    def __init__(self, path: LoadPath) -> None:
        self.path, self.z = path, path.solution(0.0)
        at = path.balance.at(self.z, path.numbers(0.0))
        self.d = at.inertial_units
        self.e = row_units(at.A * self.d)[:, None]
        self.start = self._at(self.z, 0.0)
        K, C, M, A, _ = (np.abs(each).max(initial=0.0) for each in self.start)
        rate = np.sqrt(_stiff(K, C, M) / M) if M else 0.0
        self.usual = _stiff(K, C, M), max(C, np.sqrt(K) * np.sqrt(M)), M, A, rate * A
        self.known: dict[int, float] = {}

    def at(self, exponent: int) -> float:
        if exponent not in self.known:
            load = 10.0**exponent
            with np.errstate(all="ignore"):
                there = self._at(self.z + self.path.tangent(self.z, 0.0, load) * load, load)
                shares = [
                    np.abs(b - a).max(initial=0.0) / size
                    for a, b, size in zip(self.start, there, self.usual, strict=True) if size
                ]  # fmt: skip
            self.known[exponent] = float(np.nan_to_num(max(shares, default=0.0), nan=np.inf))
        return self.known[exponent]

    def of_constraints(self, load: float) -> float:
        """How much a load changes the constraints on displacements, relative to those on rates."""
        usual, change = self.usual[-1], np.abs(self._at(self.z, load)[-1] - self.start[-1]).max(initial=0.0)
        return float(change / usual) if usual else 0.0

    def _at(self, z: np.ndarray, load: float) -> tuple[np.ndarray, ...]:
        statics = self.path.balance.statics
        at = statics(z[: statics.n], z[statics.n :], self.path.numbers(load))
        d, e = self.d, self.e
        return *(each * d[:, None] * d for each in (at.K, at.C, at.M)), e * at.A * d, e * at.B * d


def _stiff(stiffness: float, damping: float, mass: float) -> float:
    """The stiffness or, where there is none, the one for which the damping would be critical."""
    return stiffness or (damping**2 / mass if mass else 0.0)


def _sizes(start: Linearisation, there: Linearisation, name: str) -> tuple[float, float]:
    """Sizes of a matrix without load, and of its change, on velocities that constraints allow, in the same
    directions."""
    start, there = start.inertial, alongside(there, start).inertial
    N = start.kernel
    L = N if there.moves_like(start) else there.kernel @ (there.kernel.T @ N)
    before, after = N.T @ getattr(start, name) @ N, L.T @ getattr(there, name) @ L
    return _size(before), _size(after - before)


def _size(matrix: np.ndarray) -> float:
    return float(np.linalg.norm(matrix, 2)) if matrix.size else 0.0


def _rounded(load: float) -> float:
    return rounded_up(float(load) * (1 - EVEN))


def rounded_up(load: float) -> float:
    """The load rounded up to 1, 2 or 5 times a power of ten."""
    if not load:
        return 0.0
    decade = 10.0 ** np.floor(np.log10(load))
    return float(next(decade * digit for digit in (1, 2, 5, 10) if decade * digit >= load))
