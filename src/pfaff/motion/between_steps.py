"""Steps looked at between their ends: a path obeys the equations at points, too, that its series did not use.

A step is looked at in a few points, and wherever the argument of a steep function changes within it, so finely that no
bump and no jump lies between two points. A step that fails counts up to the last point before the failure; there
the series sees what it did not see from afar.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import lru_cache

import numpy as np

from pfaff.checks.motions import PER_STEP, largest_error, step_errors, unit
from pfaff.flow.batch_integrator import Lanes
from pfaff.motion.steep_functions import Steep

POINTS = np.array([0.0, 0.2113, 0.4142, 0.618, 0.8047, 1 - 1e-6])  # parts of a step; at its end a load may jump
SMOOTH = POINTS[[2, 4, 5]]  # where nothing is steep: what a series lacks grows with a high power of the time
AT_END = POINTS[-1:]
QUARTERS = np.array([0.0, 0.25, 0.5, 0.75, 1.0])
DIVIDED = 64  # parts of a step of which the first unresolved one ends it
FELT = 2.0  # change of an argument in a step, in such units, up to which the series tells it
NEVER = 1e-9  # steps that are never divided for that, relative to the motion
FINEST = 2.0**-40  # smallest part of a step that is divided again
MOST = 20_000  # points in the steps looked at together; a step that needs more counts up to the last of them
SIMPSON = 0.01  # share of what the trapezoidal rule misses that Simpson's misses, where arguments are resolved
ROUNDING = 0.2  # share of a residual that is left in a tenth of a step if rounding makes it, not the step
SLIGHT = 1e3  # errors that are taken for noise at once, in units of what a step may leave
ATTEMPTS = 12  # after so many steps others are, too

Rates = Callable[[np.ndarray, np.ndarray], np.ndarray]


@dataclass(frozen=True)
class Failure:
    """The first step that fails: its place, until when it is good, and where it is not."""

    step: int
    good: float
    bad: float
    error: float


@dataclass
class Polynomials:
    """Taylor polynomials of steps: their starts and lengths, and coefficients indexed [step, state, power]."""

    starts: np.ndarray
    lengths: np.ndarray
    coefficients: np.ndarray

    def __call__(self, step: np.ndarray, part: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Times, states and their derivatives, one column for each part of a step."""
        since = part * self.lengths[step]
        c = self.coefficients[step]
        value, slope = c[:, :, -1], np.zeros(c.shape[:2])
        for k in range(c.shape[2] - 2, -1, -1):
            slope = value + since[:, None] * slope
            value = c[:, :, k] + since[:, None] * value
        return self.starts[step] + since, value.T, slope.T

    def grid(self, parts: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The same at equal parts of all steps, step by step."""
        count, n, terms = self.coefficients.shape
        powers, weights = _weights(terms, tuple(parts.tolist()))
        with np.errstate(over="ignore", invalid="ignore"):
            scaled = self.coefficients * self.lengths[:, None, None] ** powers
        if not (np.isfinite(scaled).all() and self.lengths.all()):
            return self(np.repeat(np.arange(count), len(parts)), np.tile(parts, count))
        both = (scaled.reshape(-1, terms) @ weights).reshape(count, n, 2, -1).transpose(2, 1, 0, 3)
        both[1] /= self.lengths[:, None]
        t = self.starts[:, None] + parts * self.lengths[:, None]
        return t.ravel(), both[0].reshape(n, -1), both[1].reshape(n, -1)

    def at(self, t: float) -> np.ndarray:
        """The state at a time within the first step."""
        return self(np.array([0]), np.array([(t - self.starts[0]) / self.lengths[0]]))[1][:, 0]


@lru_cache(maxsize=100)
def _weights(terms: int, parts: tuple[float, ...]) -> tuple[np.ndarray, np.ndarray]:
    """Powers, and what they and their derivatives are at parts of a unit step."""
    powers = np.arange(terms)
    values = np.array(parts) ** powers[:, None]
    slopes = np.vstack([np.zeros(len(parts)), powers[1:, None] * values[:-1]])
    return powers, np.hstack([values, slopes])


@dataclass
class Guard:
    """Judges the steps of a flight; ``room`` bounds the next step after one that failed at once."""

    rates: Rates
    tolerance: float
    steep: Steep | None = None
    numbers: Callable[[np.ndarray], np.ndarray] = lambda t: np.zeros(0)
    room: float | None = None
    failures: int = 0
    noise: float = 1.0  # error that rounding makes, in units of what a step may leave
    doubtful: float | None = None  # since when steps leave their equations by more than a motion may, however short
    _failed: float = field(default=np.inf, repr=False)  # residual of the last step that failed at once
    _attempts: int = field(default=0, repr=False)
    _first: tuple[float, float] = field(default=(0.0, 0.0), repr=False)  # error and length of the step before them

    def judge(self, times: np.ndarray, coefficients: np.ndarray, every: bool = True) -> Failure | None:
        """The first of the steps that does not obey the equations, if any; unless ``every`` one is looked at, those in
        which no steep function varies by much are trusted."""
        finite = np.isfinite(coefficients).all(axis=(1, 2))
        count = len(finite) if finite.all() else int(np.argmin(finite))  # where the motion ends, nothing is judged
        times = np.asarray(times, dtype=float)[: count + 1]
        path, which = Polynomials(times[:-1], np.diff(times), coefficients[:count]), np.arange(count)
        if not every and count:
            last = np.array([count - 1])
            ends = (np.append(*each, axis=-1) for each in zip(path.grid(np.zeros(1)), path(last, AT_END), strict=True))
            which = self._steep_among(*ends)
            path = Polynomials(path.starts[which], path.lengths[which], path.coefficients[which])
        return self._judged(path, which)

    def first_doubt(self, t: np.ndarray, x: np.ndarray, again: Callable[[int], np.ndarray]) -> int | None:
        """The first of the steps between states that does not obey the equations where steep functions vary, if any;
        ``again`` gives their polynomials, one by one."""
        which = self._steep_among(t, x, self.rates(x, t))
        if not len(which):
            return None
        coefficients = np.array([again(k) for k in which])
        failure = replace(self)._judged(Polynomials(t[which], np.diff(t)[which], coefficients), which)
        return failure.step if failure else None

    def _judged(self, path: Polynomials, which: np.ndarray) -> Failure | None:
        """The first failure among steps of these numbers."""
        if not len(which):
            return None
        with np.errstate(all="ignore"):
            step, part, error = self._looked_at(path)
        largest = error.max()
        if not largest > self.noise:
            self.room, self._failed, self._attempts = None, np.inf, 0
            if self.noise > SLIGHT * max(largest, 1.0) and np.abs(path.lengths).max() >= self._first[1] / 4:
                self.noise = 1.0
            return None
        order = np.lexsort((part, step))
        step, part, error = step[order], part[order], error[order]
        k = np.flatnonzero(error > self.noise)[0]
        start, h = path.starts[step[k]], path.lengths[step[k]]
        good = part[k - 1] if k and step[k - 1] == step[k] else 0.0
        if good == 0.0 and self._is_noise(float(error[k]), abs(h)):
            if self.doubtful is None and self.noise * unit(self.tolerance) > largest_error(self.tolerance):
                self.doubtful = float(start)
            return self._judged(path, which)
        if good == 0.0:
            self.room = 0.5 * abs(part[k] * h)
        self.failures += 1
        return Failure(int(which[step[k]]), float(start + good * h), float(start + part[k] * h), float(error[k]))

    def _is_noise(self, error: float, length: float) -> bool:
        """Whether a step fails because of rounding: a much shorter one leaves as large a residual.

        Where many attempts are of no avail, it is taken as it was in the first of them, until steps are better again.
        """
        before, self._failed = self._failed, error / length
        self._attempts = self._attempts + 1 if self._failed > ROUNDING * before else 0
        self._first = self._first if self._attempts else (error, length)
        if not self._attempts or (error > SLIGHT and self._attempts < ATTEMPTS):
            return False
        self.noise = 4 * (error if self._attempts == 1 else self._first[0])
        self._failed, self._attempts = np.inf, 0
        return True

    def _looked_at(self, path: Polynomials) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Steps, parts of them, and the errors there."""
        count, parts = len(path.lengths), POINTS if self.steep else SMOOTH
        each = np.arange(count * len(parts))
        step, part = each // len(parts), parts[each % len(parts)]
        error, at = self._errors(path, step, part, *path.grid(parts))
        found = [(step, part, error)]
        if at is None:
            return found[0]
        at = at.reshape(2, -1, count, len(POINTS))
        largest = np.abs(at[0]).max(axis=-1)
        left, right = (each.reshape(2, len(largest), -1) for each in (at[..., :-1], at[..., 1:]))
        step, low = np.repeat(np.arange(count), len(POINTS) - 1), np.tile(POINTS[:-1], count)
        high, points = np.tile(POINTS[1:], count), len(part)
        assert self.steep is not None
        while True:
            lengths = (high - low) * path.lengths[step]
            split = (self.steep.unresolved(left, right, lengths, largest[:, step]) > 1).any(axis=0)
            split &= high - low > FINEST
            if not split.any():
                break
            step, low, high, left, right = step[split], low[split], high[split], left[..., split], right[..., split]
            if points > MOST:  # what is not resolved is left to the next steps
                found.append((step, high, np.full(len(step), np.inf)))
                break
            middle = (low + high) / 2
            error, at = self._errors(path, step, middle, *path(step, middle))
            assert at is not None
            found.append((step, middle, error))
            points += len(middle)
            step, low, high = np.tile(step, 2), np.concatenate([low, middle]), np.concatenate([middle, high])
            left, right = np.concatenate([left, at], axis=2), np.concatenate([at, right], axis=2)
        return tuple(np.concatenate(each) for each in zip(*found, strict=True))  # type: ignore[return-value]

    def _steep_among(self, t: np.ndarray, x: np.ndarray, slopes: np.ndarray) -> np.ndarray:
        """The numbers of the steps between states within which a steep function varies."""
        assert self.steep is not None
        with np.errstate(all="ignore"):
            at = self.steep(x, slopes, self.numbers(t), t)
            left, right = at[..., :-1], at[..., 1:]
            largest = np.maximum(np.abs(left[0]), np.abs(right[0]))
            return np.flatnonzero((self.steep.unresolved(left, right, np.diff(t), largest) > FELT).any(axis=0))

    def _errors(
        self,
        path: Polynomials,
        step: np.ndarray,
        part: np.ndarray,
        t: np.ndarray,
        x: np.ndarray,
        slopes: np.ndarray,
    ) -> tuple[np.ndarray, np.ndarray | None]:
        """Errors at parts of steps, and the arguments of steep functions there with their rates."""
        rates = self.rates(x, t)
        error = step_errors(x, slopes, rates, path.lengths[step], self.tolerance)
        error[part == 0.0] = 0.0  # there the series holds by construction
        return error, None if self.steep is None else self.steep(x, slopes, self.numbers(t), t)


@dataclass
class Resolution:
    """Bounds steps of implicit methods where steep functions vary, which errors of low order do not tell from afar.

    ``arguments`` gives those of the steep functions with their rates, at states and times. With ``rates`` f(x, t) a
    step that goes far past such functions has to follow f there, too.
    """

    steep: Steep
    arguments: Callable[[np.ndarray, np.ndarray], np.ndarray]
    shortest: float  # step that is never divided
    rates: Rates | None = None
    parts: int = DIVIDED  # of a step that must resolve them
    room: float = np.inf  # longest next step
    doubtful: float | None = None  # when a step that is not divided any more left its equations

    def good(
        self, start: float, end: float, sample: Callable[[float], np.ndarray], allowed: np.ndarray | None = None
    ) -> float:
        """The time until which a step resolves all steep functions, and obeys its equations where they vary.

        ``allowed`` is the error of each state that a step may have.
        """
        t = start + QUARTERS * (end - start)
        x = np.array([sample(float(each)) for each in t]).T
        at = self.arguments(x, t)
        largest = np.abs(at[0]).max(axis=1, keepdims=True)
        while True:
            reached = len(t) - 1
            unresolved = self.steep.unresolved(at[:, :, :-1], at[:, :, 1:], np.diff(t), largest).max(axis=0)
            bad = np.flatnonzero(unresolved > 1)
            if not len(bad) or abs(end - start) <= self.shortest:
                break
            k = bad[0]
            if abs(t[k + 1] - t[k]) <= abs(end - start) / self.parts:  # what is unresolved is near, and varies
                reached = k
                break
            middle = (t[k] + t[k + 1]) / 2
            t, x = np.insert(t, k + 1, middle), np.insert(x, k + 1, sample(float(middle)), axis=1)
            at = np.insert(at, k + 1, self.arguments(x[:, k + 1 : k + 2], t[k + 1 : k + 2])[:, :, 0], axis=2)
        if self.rates is not None and allowed is not None and (len(t) > len(QUARTERS) or len(bad)):
            left = self._left(t[: reached + 1], x[:, : reached + 1], sample, allowed)
            if left < reached and abs(end - start) <= self.shortest:
                self.doubtful = start if self.doubtful is None else self.doubtful
            elif left < reached:
                self.room = max(abs(t[left + 1] - t[left]) / 2, self.shortest)
                return float(t[left])
        if reached < len(t) - 1:
            self.room = max(self.parts * abs(t[reached + 1] - t[reached]) / float(unresolved[reached]), self.shortest)
            self.room = min(self.room, abs(end - start) / len(QUARTERS))
            return float(t[reached])
        self.room = np.inf  # methods begin again with short steps, and lengthen them by and by
        return end

    def _left(self, t: np.ndarray, x: np.ndarray, sample: Callable[[float], np.ndarray], allowed: np.ndarray) -> int:
        """The point after which the path no longer is the integral of f, by Simpson's rule; the last one if it is.

        Where f changes fast with the states its values are less certain than those.
        """
        assert self.rates is not None
        if len(t) < 2:
            return 0
        h, middles = np.diff(t), (t[:-1] + t[1:]) / 2
        between = np.array([sample(float(each)) for each in middles]).T
        f, g = self.rates(x, t), self.rates(between, middles)
        ends, changes = (f[:, :-1] + f[:, 1:]) / 2, np.diff(x)
        slopes = np.abs(np.diff(f) / allowed[:, None]).max(axis=0) / np.maximum(
            np.abs(changes / allowed[:, None]).max(axis=0), 1.0
        )
        uncertain = np.cumsum(np.abs(g - ends) * np.abs(h) * SIMPSON, axis=1)
        error = np.abs(np.cumsum(changes - h * (ends + 2 * g) / 3, axis=1))
        bound = allowed[:, None] * (1 + np.cumsum(slopes * np.abs(h))) + uncertain
        off = np.flatnonzero(~(error <= PER_STEP * bound).all(axis=0))
        return int(off[0]) if len(off) else len(t) - 1


def lanes_start_well(integrator: Lanes, tolerance: float) -> bool:
    """Whether the last steps of all lanes, from time zero, obey the equations in between."""
    polynomials, lengths = integrator.tc.transpose(2, 0, 1).copy(), integrator.last_h.copy()
    count, parts = len(lengths), len(SMOOTH)
    t, x, slopes = Polynomials(np.zeros(count), lengths, polynomials).grid(SMOOTH)
    lanes = [slice(k * parts, (k + 1) * parts) for k in range(count)]
    rates = np.hstack([integrator.rates(k, x[:, own], t[own]) for k, own in enumerate(lanes)])
    return bool((step_errors(x, slopes, rates, np.repeat(lengths, parts), tolerance) <= 1).all())
