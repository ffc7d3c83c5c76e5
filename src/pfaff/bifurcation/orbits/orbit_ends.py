"""How branches and curves of orbits end by themselves: they come back, shrink to an equilibrium, or come to rest.

Smallness or a long period alone end nothing: radii like e^−μ shrink and periods like e^μ grow for ever. At an end the
parameters converge: with each doubling of the size they move by a fraction of the move before.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import floor, log10, sqrt

import numpy as np

from pfaff.bifurcation.orbits.collocation import Collocation
from pfaff.bifurcation.orbits.cycles import Cycle
from pfaff.kernels.step_rules import LONG, LONGER

CONVERGES = 0.7  # ratio of the moves of parameters in successive doublings of a size; 1/4 at a Hopf point
GROWS, TENDS = 6, 0.85  # doublings of a size that grows without bound; largest such ratio then
STILL = 1e-10  # change of a parameter, relative to its range, that is none
UNMOVED = 1e-9  # amplitude, relative to the largest, of a state that rounding alone may move
TINY = 1e-300  # size of an equilibrium, onto which orbits have jumped
HOMOCLINIC = 100.0  # ratio of the period to the shortest one
VANISHES = 0.2  # ratio of the moves of a parameter in halves of an octave of the period, below which it is exponential
DIGITS = 1e-9  # relative error up to which ten digits are told
DOUBTED = 10.0  # times the difference of two extrapolations: their uncertainty
STEPS, CREEPS = 8, 1.1  # steps in which periods hardly grow, and their ratio then
SERIES = 6  # doublings of a period from which the limit of a parameter is extrapolated
APART = 0.1  # distance of different states of rest, relative to the amplitude
SLOW = 0.05  # part of an orbit, relative to its size, covered in a period at the least speed
EVEN = 30.0  # the same at the greatest speed, where the whole orbit comes to rest at once; 2π on circles


def converge(sizes: Sequence[float], values: Sequence[Sequence[float]], still: float = STILL) -> bool:
    """Whether parameters, relative to their ranges, converge while a size grows: judged at its last two doublings."""
    octaves = np.log2(sizes[-1] / np.asarray(sizes))
    if octaves.max() < 2:
        return False
    first, middle = (int(np.flatnonzero(octaves >= each)[-1]) for each in (2, 1))
    rows = np.asarray(values)
    early = np.ptp(rows[first : middle + 1], axis=0) / (octaves[first] - octaves[middle])
    late = np.ptp(rows[middle:], axis=0) / octaves[middle]
    return bool((late <= np.maximum(CONVERGES * early, still)).all())


def relative_sizes(amplitudes: np.ndarray) -> np.ndarray:
    """Sizes of orbits, a row of amplitudes each: the largest amplitude, of each state relative to its own greatest, so
    that none counts as small while one stays."""
    greatest = amplitudes.max(axis=0)
    moving = greatest > UNMOVED * greatest.max()
    return np.maximum((amplitudes[:, moving] / greatest[moving]).max(axis=1, initial=0.0), TINY)


def beyond_bounds(sizes: Sequence[float], values: Sequence[float], still: float = STILL) -> float | None:
    """Where a parameter tends to while a size grows without bound; none, if it does not.

    Like a power of the size it moves less each time that the size doubles, by nearly the same share. On canards it
    stands still after few doublings.
    """
    for last in range(len(sizes) - 1, 0, -1):  # up to rounding, which hides what moves no more
        octaves = np.log2(sizes[last] / np.asarray(sizes[: last + 1]))
        if octaves.max() < GROWS:
            return None
        places = [int(np.flatnonzero(octaves >= each)[-1]) for each in range(GROWS, 0, -1)] + [last]
        moved = np.diff(np.asarray(values)[places]) / -np.diff(octaves[places])
        if abs(moved[-1]) < still:
            continue
        shares = moved[1:] / np.where(moved[:-1] == 0, np.inf, moved[:-1])
        if not (shares.min() > 0 and shares.max() < TENDS):
            return None
        return float(values[last] + moved[-1] * shares[-1] / (1 - shares[-1]))
    return None


def at_zero(sizes: Sequence[float] | np.ndarray, values: Sequence[float] | np.ndarray) -> float:
    """The value where a size vanishes, by the polynomial through pairs of both."""
    shares = [np.prod([other / (other - size) for other in sizes if other != size]) for size in sizes]
    return float(np.dot(shares, values))


def stand_still(sizes: Sequence[float], values: Sequence[Sequence[float]], still: float = STILL) -> bool:
    """Whether parameters do not move at all while a size doubles."""
    octaves = np.log2(sizes[-1] / np.asarray(sizes))
    return bool(octaves.max() >= 1 and np.ptp(np.asarray(values)[np.flatnonzero(octaves >= 1)[-1] :]) < still)


def homoclinic(
    periods: Sequence[float], values: Sequence[Sequence[float]], still: float = STILL, hidden: bool = False
) -> bool:
    """Whether periods grow without bound while the parameters converge; shorter ones tell it where rounding has
    ``hidden`` the multipliers and steps hardly lengthen them any more.

    Orbits that also nearly come to rest are near a homoclinic orbit; others are relaxation oscillations, whose
    parameter stands still where canards explode.
    """
    growth = periods[-1] / min(periods)
    if growth < LONG:
        creeps = len(periods) > STEPS and periods[-1] < CREEPS * periods[-1 - STEPS]
        return hidden and creeps and growth >= LONGER and converge(periods, values, still)
    return stand_still(periods, values, still) if growth < HOMOCLINIC else converge(periods, values, still)


def limit(periods: Sequence[float], values: Sequence[float], still: float = STILL) -> tuple[float, float]:
    """The limit of a parameter as periods grow without bound, and its uncertainty: the last value where exponentials of
    the period have vanished, or vanish; else by a series in 1/T, as at a saddle-node on the orbit."""
    if stand_still(periods, [(value,) for value in values], still):
        return values[-1], 0.0
    octaves = np.log2(periods[-1] / np.asarray(periods))
    first, middle = (values[int(np.abs(octaves - each).argmin())] for each in (1.0, 0.5))
    late, early = abs(values[-1] - middle), abs(middle - first)
    if late < VANISHES * early:
        return values[-1], late * (late / early) ** sqrt(2)  # e^−kT, where late and early are so at T/√2 and T/2
    places = sorted({int(np.abs(octaves - each).argmin()) for each in range(SERIES)})
    found, less = (at_zero([1 / periods[k] for k in some], [values[k] for k in some]) for some in (places, places[-3:]))
    return found, DOUBTED * abs(found - less)


def settled_digits(value: float, error: float) -> str:
    """A number with as many of its ten digits as are known."""
    if not error > DIGITS * abs(value):
        return f"{value:.10g}"
    return f"{value:.{max(0, -floor(log10(error)))}f}"


def states_of_rest(collocation: Collocation, cycle: Cycle) -> list[np.ndarray]:
    """States where an orbit nearly comes to rest, in units of its amplitude, distinct and not merely turns of a
    rotation apart."""
    x, size, speeds = _speeds(collocation, cycle)
    turns = cycle.turns / size
    lows = (speeds < SLOW) & (speeds <= np.roll(speeds, 1)) & (speeds <= np.roll(speeds, -1))
    found: list[np.ndarray] = []
    for state in x[lows] / size:
        if all(np.abs(state - other - shift).max() > APART for other in found for shift in (-turns, 0.0, turns)):
            found.append(state)
    return found


def slows_evenly(collocation: Collocation, cycle: Cycle) -> bool:
    """Whether a long orbit is slow all along, as where a wave stops rotating: every state of it comes to rest."""
    return bool(_speeds(collocation, cycle)[2].max() < EVEN)


def _speeds(collocation: Collocation, cycle: Cycle) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """States all around an orbit, its amplitudes, and the distance covered in a period at the speed of each state, in
    amplitudes."""
    size = np.where(cycle.amplitude > 0, cycle.amplitude, np.inf)
    x = np.vstack([cycle.x, cycle.signs * cycle.x[1:]]) if cycle.halved else cycle.x
    return x, size, np.abs(collocation.equations.rates(x, cycle.value) / size[:, None]).max(axis=0) * cycle.period


def moments(collocation: Collocation, cycle: Cycle, sizes: np.ndarray) -> np.ndarray:
    """Means of the states and of their products up to three, by Gauss's rule: independent of the phase of the orbit."""
    mean, away, weights = collocation.deviations(cycle)
    mean, about = np.where(cycle.turns == 0, mean, 0.0), away / sizes[:, None]
    second = (about * weights) @ about.T
    second = (second + cycle.signs[:, None] * second * cycle.signs) / 2
    third = np.where(cycle.signs < 0, 0.0, (about**2 * weights) @ about.T)
    return np.concatenate([mean / sizes, second.ravel(), third.ravel()])
