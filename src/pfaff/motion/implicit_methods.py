"""Stiff equations ẋ = f(t, x) by implicit methods: SUNDIALS' CVODE where it is installed, else SciPy's Radau.

CVODE: Hindmarsh et al. (2005), ACM Trans. Math. Softw. 31, through scikit-sundae. Whatever ends a run early, an error
in f or Ctrl-C included, becomes a status in words beside everything computed so far.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import numpy as np

from pfaff.errors import ParameterError, PfaffError
from pfaff.motion.between_steps import Resolution
from pfaff.motion.outcomes import COLLAPSED, FINISHED, INTERRUPTED, NO_ADVANCE, NOT_FINITE, TOO_MANY, Outcome, Status
from pfaff.statement.values import one_of
from pfaff.threads import hand_on

SHARPEST = 1e-13
BETWEEN = (0.25, 0.5, 0.75)  # parts of a step at which it is recorded
REMEMBERED = 50_000  # steps for which that is done

Function = Callable[[float, np.ndarray], np.ndarray]
Sample = tuple[float, np.ndarray]


@dataclass(frozen=True)
class Integrated:
    """Times ``t`` reached and states ``x``, one column for each; early ends add the last state, off the grid.

    ``knots`` and ``states`` are the ends of the integrator's own steps, with some points in between.
    """

    t: np.ndarray
    x: np.ndarray
    status: Status
    method: str
    knots: np.ndarray
    states: np.ndarray

    @property
    def finished(self) -> bool:
        return self.status.finished


def integrate(
    rhs: Function,
    jacobian: Function,
    x0: Any,
    times: Any,
    *,
    tolerance: float,
    sizes: Any = None,
    backend: str | None = None,
    progress: Callable[[float], object] | None = None,
    max_steps: int = 1_000_000,
    max_step: float = np.inf,
    resolution: Resolution | None = None,
) -> Integrated:
    """The states at ``times``, an increasing or decreasing grid that begins at ``x0``.

    Errors are held to ``tolerance`` per step, relative to each state or to its size in ``sizes`` (by default the
    largest at the start). ``backend`` is "sundials" or "scipy"; ``progress`` is told the part of the time that is done.
    """
    x0, times = np.array(x0, dtype=float), np.array(times, dtype=float)
    _check(x0, times, tolerance)
    kind = _backend(backend)
    sizes = np.full(len(x0), np.abs(x0).max() or 1.0) if sizes is None else np.asarray(sizes, dtype=float)
    run = kind(Guarded(rhs), jacobian, x0, times, tolerance, tolerance * sizes, max_steps, max_step, resolution)
    reached: list[Sample] = [(times[0], x0)]
    status = FINISHED
    try:
        for t, x in run:
            reached.append((t, x))
            if progress is not None:
                progress((t - times[0]) / (times[-1] - times[0]))
    except KeyboardInterrupt:
        hand_on()
        status = INTERRUPTED
    except Stopped as end:
        status = end.status
    except PfaffError as problem:
        status = Status(Outcome.FAILED, str(problem))
    if not status.finished and abs(run.last[0] - times[0]) > abs(reached[-1][0] - times[0]):
        reached.append(run.last)
    return Integrated(*_columns(reached), status, run.method, *_columns(run.trail))


def _columns(samples: list[Sample]) -> tuple[np.ndarray, np.ndarray]:
    return np.array([t for t, _ in samples]), np.array([x for _, x in samples]).T


class Stopped(Exception):
    """The integration cannot go on."""

    def __init__(self, status: Status) -> None:
        super().__init__(status)
        self.status = status


class Guarded:
    """A right-hand side that remembers whether its last value was finite."""

    def __init__(self, rhs: Function) -> None:
        self._rhs, self.finite = rhs, True

    def __call__(self, t: float, x: np.ndarray) -> np.ndarray:
        value = np.asarray(self._rhs(t, x), dtype=float)
        self.finite = bool(np.isfinite(value).all())
        return value


class Run:
    """Steps until the last time; iterating gives the samples as they are reached."""

    name = ""

    def __init__(
        self,
        rhs: Guarded,
        jacobian: Function,
        x0: np.ndarray,
        times: np.ndarray,
        relative: float,
        absolute: np.ndarray,
        max_steps: int,
        max_step: float,
        resolution: Resolution | None,
    ) -> None:
        self.rhs, self.jacobian, self.times, self.max_steps = rhs, jacobian, times, max_steps
        self.relative, self.absolute, self.max_step, self.resolution = relative, absolute, max_step, resolution
        self.last: Sample = (float(times[0]), x0)
        self.trail: list[Sample] = [self.last]
        self.steps = 0

    @property
    def method(self) -> str:
        return f"{self.name}, {self.steps} steps"

    def __iter__(self) -> Iterator[Sample]:
        forward, next_ = np.sign(self.times[-1] - self.times[0]), 1
        while next_ < len(self.times):
            if self.steps >= self.max_steps:
                raise Stopped(TOO_MANY)
            before, here = self.last
            self.last = self.step()
            self.steps += 1
            end = self._resolved(before, here)
            if self.steps <= REMEMBERED and end[0] != before:
                inside = before + np.array(BETWEEN) * (end[0] - before)
                self.trail += [(float(t), self.sample(float(t))) for t in inside]
            self.trail.append(end)
            while next_ < len(self.times) and forward * (end[0] - self.times[next_]) >= 0:
                yield self.times[next_], self.sample(self.times[next_])
                next_ += 1
            if end[0] != self.last[0]:
                self.last = end
                self.restart()

    def _resolved(self, before: float, here: np.ndarray) -> Sample:
        """The end of the last step, or the state before the first steep function that it does not resolve."""
        if self.resolution is None:
            return self.last
        allowed = self.relative * np.maximum(np.abs(here), np.abs(self.last[1])) + self.absolute
        good = self.resolution.good(before, self.last[0], lambda t: here if t == before else self.sample(t), allowed)
        if good == self.last[0]:
            return self.last
        return good, (here if good == before else self.sample(good))

    @property
    def room(self) -> float:
        """The longest that the next step may be."""
        return min(self.max_step, self.resolution.room if self.resolution else np.inf)

    def restart(self) -> None:
        """Begin again at the last state."""
        raise NotImplementedError

    def step(self) -> Sample:
        raise NotImplementedError

    def sample(self, t: float) -> np.ndarray:
        raise NotImplementedError

    def failure(self) -> Stopped:
        return Stopped(COLLAPSED if self.rhs.finite else NOT_FINITE)


class Cvode(Run):
    """Backward differentiation formulas of order 1 to 5."""

    name = "CVODE's BDF of SUNDIALS"

    def __init__(self, *arguments: Any) -> None:
        from sksundae.cvode import CVODE

        super().__init__(*arguments)

        def rhs(t: float, x: np.ndarray, rate: np.ndarray) -> None:
            rate[:] = self.rhs(t, x)

        def jacobian(t: float, x: np.ndarray, rate: np.ndarray, matrix: np.ndarray) -> None:
            matrix[:] = self.jacobian(t, x)

        self._solver = CVODE(rhs, jacfn=jacobian, rtol=self.relative, atol=self.absolute, method="BDF")
        self._begun = self._looked_back = False

    def step(self) -> Sample:
        if not self._begun:
            self._solver.init_step(*self.last)
            self._begun = True
        end, here = float(self.times[-1]), self.last[0]
        stop = end if abs(end - here) <= self.room else here + float(np.copysign(self.room, end - here))
        found = self._solver.step(end, method="onestep", tstop=stop)
        if self._looked_back and found.t == here:  # it only returned to where it was
            found = self._solver.step(end, method="onestep", tstop=stop)
        self._looked_back = False
        if not found.success:
            raise self.failure()
        if not np.isfinite(found.y).all():
            raise Stopped(NOT_FINITE)
        if abs(found.t - self.last[0]) <= NO_ADVANCE * abs(found.t):
            raise self.failure()
        return found.t, found.y

    def restart(self) -> None:
        self._begun = self._looked_back = False

    def sample(self, t: float) -> np.ndarray:
        """CVODE's own polynomial: asked for a time it has passed, it takes no further step."""
        if t == self.last[0]:
            return self.last[1]
        self._looked_back = True
        return self._solver.step(float(t), method="normal").y


class Radau(Run):
    """The implicit Runge–Kutta method of Radau with three stages, of order 5."""

    name = "Radau of SciPy"

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._solver: Any = None
        self._dense: Any = None

    def step(self) -> Sample:
        from scipy.integrate import Radau as Solver

        try:
            if self._solver is None:
                settings = {"rtol": self.relative, "atol": self.absolute, "jac": self.jacobian}
                self._solver = Solver(self.rhs, *self.last, self.times[-1], **settings)
            self._solver.max_step = self.room
            self._solver.step()
        except ValueError as problem:  # LAPACK refuses numbers that are not finite
            raise Stopped(NOT_FINITE) from problem
        if self._solver.status == "failed":
            raise self.failure()
        self._dense = None
        return self._solver.t, self._solver.y

    def restart(self) -> None:
        self._solver = self._dense = None

    def sample(self, t: float) -> np.ndarray:
        if t == self.last[0]:
            return self.last[1]
        if self._dense is None:
            self._dense = self._solver.dense_output()
        return self._dense(t)


BACKENDS: dict[str, type[Run]] = {"sundials": Cvode, "scipy": Radau}


def _backend(name: str | None) -> type[Run]:
    installed = find_spec("sksundae") is not None
    if name is None:
        return Cvode if installed else Radau
    one_of(BACKENDS, name, "unknown backend")
    if name == "sundials" and not installed:
        raise ParameterError(
            'method="cvode" needs the extra sundials: pip install "pfaff[sundials]", or take method="radau", which '
            "needs none"
        )
    return BACKENDS[name]


def _check(x0: np.ndarray, times: np.ndarray, tolerance: float) -> None:
    if x0.ndim != 1 or not x0.size or not np.isfinite(x0).all():
        raise ParameterError(f"an initial state of shape {x0.shape}: give a list of finite numbers")
    steps = np.diff(times) if times.ndim == 1 else np.zeros(0)
    if not steps.size or not np.isfinite(times).all() or not ((steps > 0).all() or (steps < 0).all()):
        raise ParameterError(f"times of shape {times.shape}: give at least two, increasing or decreasing throughout")
    if not SHARPEST <= tolerance < 1:
        raise ParameterError(f"tolerance={tolerance}: give a number from {SHARPEST:g} to 1")
