"""Steps looked at between their ends: a path obeys the equations at points, too, that its series did not use.

A step is looked at in a few points, and wherever the argument of a steep function changes within it, so finely that no
bump and no jump lies between two points. A step that fails counts up to the last point before the failure; there
the series sees what it did not see from afar.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from pfaff.checks.motions import step_errors
from pfaff.motion.steep_functions import Steep

POINTS = np.array([0.0, 0.2113, 0.4142, 0.618, 0.8047, 1 - 1e-6])  # parts of a step; at its end a load may jump
QUARTERS = np.array([0.0, 0.25, 0.5, 0.75, 1.0])
DIVIDED = 64  # parts of a step of which the first unresolved one ends it
NEVER = 1e-9  # steps that are never divided for that, relative to the motion
FINEST = 2.0**-40  # smallest part of a step that is divided again
MOST = 20_000  # points in the steps looked at together; a step that needs more counts up to the last of them
ROUNDING = 0.2  # share of a residual that is left in a tenth of a step if rounding makes it, not the step
SLIGHT, ATTEMPTS = (
    1e3,
    12,
)  # such errors that are taken for noise at once, in units of what a step may leave; others after

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

    def at(self, t: float) -> np.ndarray:
        """The state at a time within the first step."""
        return self(np.array([0]), np.array([(t - self.starts[0]) / self.lengths[0]]))[1][:, 0]


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
    _failed: float = field(default=np.inf, repr=False)  # residual of the last step that failed at once
    _attempts: int = field(default=0, repr=False)

    def judge(self, times: np.ndarray, coefficients: np.ndarray) -> Failure | None:
        """The first of the steps that does not obey the equations, if any."""
        finite = np.isfinite(coefficients).all(axis=(1, 2))
        count = len(finite) if finite.all() else int(np.argmin(finite))  # where the motion ends, nothing is judged
        times = np.asarray(times, dtype=float)[: count + 1]
        path = Polynomials(times[:-1], np.diff(times), coefficients[:count])
        if not count:
            return None
        with np.errstate(all="ignore"):
            step, part, error = self._looked_at(path)
        order = np.lexsort((part, step))
        step, part, error = step[order], part[order], error[order]
        bad = np.flatnonzero(error > self.noise)
        if not len(bad):
            self.room, self._failed, self._attempts = None, np.inf, 0
            return None
        k = bad[0]
        start, h = path.starts[step[k]], path.lengths[step[k]]
        good = part[k - 1] if k and step[k - 1] == step[k] else 0.0
        if good == 0.0 and self._is_noise(float(error[k]), abs(h)):
            return self.judge(times, coefficients)
        if good == 0.0:
            self.room = 0.5 * abs(part[k] * h)
        self.failures += 1
        return Failure(int(step[k]), float(start + good * h), float(start + part[k] * h), float(error[k]))

    def _is_noise(self, error: float, length: float) -> bool:
        """Whether a step fails because of rounding: a much shorter one leaves as large a residual."""
        before, self._failed = self._failed, error / length
        self._attempts = self._attempts + 1 if self._failed > ROUNDING * before else 0
        if not self._attempts or (error > SLIGHT and self._attempts < ATTEMPTS):
            return False
        self.noise, self._failed, self._attempts = 4 * error, np.inf, 0
        return True

    def _looked_at(self, path: Polynomials) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Steps, parts of them, and the errors there."""
        count = len(path.lengths)
        step, part = np.repeat(np.arange(count), len(POINTS)), np.tile(POINTS, count)
        error, at = self._errors(path, step, part)
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
            error, at = self._errors(path, step, middle)
            assert at is not None
            found.append((step, middle, error))
            points += len(middle)
            step, low, high = np.tile(step, 2), np.concatenate([low, middle]), np.concatenate([middle, high])
            left, right = np.concatenate([left, at], axis=2), np.concatenate([at, right], axis=2)
        return tuple(np.concatenate(each) for each in zip(*found, strict=True))  # type: ignore[return-value]

    def _errors(self, path: Polynomials, step: np.ndarray, part: np.ndarray) -> tuple[np.ndarray, np.ndarray | None]:
        """Errors at parts of steps, and the arguments of steep functions there with their rates."""
        t, x, slopes = path(step, part)
        rates = self.rates(x, t)
        error = step_errors(x, slopes, rates, path.lengths[step], self.tolerance)
        error[part == 0.0] = 0.0  # there the series holds by construction
        return error, None if self.steep is None else self.steep(x, slopes, self.numbers(t), t)


@dataclass
class Resolution:
    """Bounds steps of implicit methods where steep functions vary, which errors of low order do not tell from afar.

    ``arguments`` gives those of the steep functions with their rates, at states and times.
    """

    steep: Steep
    arguments: Callable[[np.ndarray, np.ndarray], np.ndarray]
    shortest: float  # step that is never divided
    room: float = np.inf  # longest next step

    def good(self, start: float, end: float, sample: Callable[[float], np.ndarray]) -> float:
        """The time until which a step resolves all steep functions."""
        t = start + QUARTERS * (end - start)
        at = self._arguments(t, sample)
        largest = np.abs(at[0]).max(axis=1, keepdims=True)
        while abs(end - start) > self.shortest:
            unresolved = self.steep.unresolved(at[:, :, :-1], at[:, :, 1:], np.diff(t), largest)
            bad = np.flatnonzero((unresolved > 1).any(axis=0))
            if not len(bad):
                break
            k = bad[0]
            if abs(t[k + 1] - t[k]) <= abs(end - start) / DIVIDED:  # what is unresolved is near, and varies
                self.room = max(DIVIDED * abs(t[k + 1] - t[k]) / float(unresolved[:, k].max()), self.shortest)
                self.room = min(self.room, abs(end - start) / len(QUARTERS))
                return float(t[k])
            middle = (t[k] + t[k + 1]) / 2
            t = np.insert(t, k + 1, middle)
            at = np.insert(at, k + 1, self._arguments(np.array([middle]), sample)[:, :, 0], axis=2)
        self.room = np.inf  # methods begin again with short steps, and lengthen them by and by
        return end

    def _arguments(self, t: np.ndarray, sample: Callable[[float], np.ndarray]) -> np.ndarray:
        return self.arguments(np.array([sample(float(each)) for each in t]).T, t)
