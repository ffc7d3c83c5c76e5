"""Many motions at once: initial values and parameters as arrays, integrated in SIMD batches on all cores."""

from __future__ import annotations

import copy
import os
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from functools import lru_cache
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any

import heyoka as hy
import numpy as np

from pfaff.case import Case
from pfaff.errors import ParameterError, PfaffError, nearest
from pfaff.motion import taylor
from pfaff.motion.drive import Driven
from pfaff.motion.simulate import check_request
from pfaff.motion.singular import SUSPICIOUS, end_where_singular
from pfaff.motion.start import Constraints, initial_state
from pfaff.motion.status import FINISHED
from pfaff.system import System
from pfaff.values import checked_value

if TYPE_CHECKING:
    import xarray
    from matplotlib.figure import Figure

    from pfaff.motion.result import Motion

INITIAL = "initial_"
LARGEST = 4e9  # bytes of sampled states
NOT_RUN = "not run: interrupted before its turn"


@dataclass(frozen=True, eq=False)
class Ensemble:
    """Motions over an array of initial values or parameters, sampled at the times ``t``.

    ``ensemble["theta1"]`` has the dimensions (time, *shape); ``outcomes`` holds the status of every member in words.
    Samples that a member did not reach are NaN: its outcome says why. ``ensemble.motion(3, 5)`` runs one member in
    full. Axes of initial values are called ``initial_theta1`` and so on.
    """

    t: np.ndarray
    y: np.ndarray
    outcomes: np.ndarray
    axes: Mapping[str, np.ndarray]
    names: tuple[str, ...]
    case: Case = field(repr=False)
    options: Mapping[str, Any] = field(repr=False)
    method: str = ""

    def __repr__(self) -> str:
        return f"<Ensemble of {self.case.system.name}, {' × '.join(map(str, self.shape))} motions: {self.status}>"

    @property
    def shape(self) -> tuple[int, ...]:
        return self.outcomes.shape

    @property
    def states(self) -> tuple[str, ...]:
        return (*self.names, *(f"{name}_dot" for name in self.names))

    @property
    def status(self) -> str:
        words, counts = np.unique(self.outcomes.astype(str), return_counts=True)
        return "; ".join(f"{count} {word}" for word, count in zip(words, counts, strict=True))

    def __getitem__(self, name: str) -> np.ndarray:
        if name not in self.states:
            raise ParameterError(f"no coordinate or velocity {name!r}: {nearest(name, self.states)}")
        return self.y[self.states.index(name)]

    def peak(self, name: str, since: float = 0.0) -> np.ndarray:
        """The largest |value| that each member reaches at a sample from the time ``since`` on."""
        values = np.abs(self[name][np.abs(self.t) >= abs(since)])
        if not len(values):
            raise ParameterError(f"since={since}: the motions end at t = {self.t[-1]:g}")
        return np.where(np.isnan(values).all(axis=0), np.nan, np.nanmax(np.nan_to_num(values, nan=0.0), axis=0))

    def motion(self, *index: int) -> Motion:
        """One member simulated on its own, with reactions, energies and dense output."""
        chosen = {name.removeprefix(INITIAL): float(values[index]) for name, values in self.axes.items()}
        case, initial = split(self.case, chosen)
        return case.simulate(float(self.t[-1]), samples=len(self.t), method="taylor", **self.options, **initial)

    def to_xarray(self) -> xarray.Dataset:
        """All states by name, along ``t`` and one dimension for each axis of the arrays."""
        import xarray

        dims = self.dimensions
        columns = {name: (("t", *dims), self[name]) for name in self.states}
        places: dict[str, Any] = {"t": self.t}
        for name, values in self.axes.items():
            along = [k for k in range(values.ndim) if _varies(values, k)]
            if len(along) == 1:
                line = np.moveaxis(values, along[0], 0).reshape(values.shape[along[0]], -1)[:, 0]
                places[name] = (dims[along[0]], line)
            elif along:
                places[name] = (dims, values)
            else:
                places[name] = float(values.flat[0])
        return xarray.Dataset(
            {**columns, "outcome": (dims, self.outcomes.astype(str))}, places, {"method": self.method}
        )

    @property
    def dimensions(self) -> tuple[str, ...]:
        """A name for every axis: of the one quantity that varies along it, or ``member``."""
        names = []
        for k in range(len(self.shape)):
            along = [name for name, values in self.axes.items() if _varies(values, k)]
            alone = [name for name in along if sum(_varies(self.axes[name], j) for j in range(len(self.shape))) == 1]
            names.append(alone[0] if len(alone) == 1 and alone[0] not in names else f"member{k or ''}")
        return tuple(names)

    def plot(self, name: str | None = None, since: float | None = None) -> Figure:
        """The peak of a coordinate over the later half of the motions: a map over two axes, a line over one."""
        from pfaff.draw.ensemble import draw_ensemble

        return draw_ensemble(self, name or self.names[0], self.t[-1] / 2 if since is None else since)


def _varies(values: np.ndarray, axis: int) -> bool:
    return bool(values.shape[axis] > 1 and np.any(np.diff(values, axis=axis) != 0))


def ensemble(
    case: Case,
    duration: float,
    given: Mapping[str, Any],
    *,
    samples: int = 101,
    tolerance: float = 1e-15,
    project: bool = False,
    max_steps: int = 1_000_000,
    progress: Callable[[float], None] = lambda fraction: None,
) -> Ensemble:
    """Arrays of initial values and parameters, broadcast against each other: one motion for each entry."""
    check_request(duration, samples, tolerance)
    axes = _broadcast(given)
    shape = next(iter(axes.values())).shape if axes else ()
    count = int(np.prod(shape, dtype=int))
    size = 2 * len(case.system.coordinates)
    if 8.0 * size * samples * count > LARGEST:
        raise ParameterError(f"{count} motions with {samples} samples need too much memory: ask for fewer samples")
    numbers, x = _members(case, {name: values.ravel() for name, values in axes.items()}, count, project)
    t = np.linspace(0.0, float(duration), samples)
    batches = Batches(case.system, numbers, x, t, tolerance, max_steps)
    batches.run(progress)
    return Ensemble(
        t=t,
        y=batches.y.reshape(size, samples, *shape),
        outcomes=batches.outcomes.reshape(shape),
        axes={name if name in case.system.parameter_names else INITIAL + name: axes[name] for name in axes},
        names=tuple(case.system.coordinate_names),
        case=case,
        options={"tolerance": tolerance, "project": project, "max_steps": max_steps},
        method=f"Taylor's method of heyoka in batches of {batches.lanes} on {batches.workers} threads",
    )


def split(case: Case, values: Mapping[str, Any]) -> tuple[Case, dict[str, Any]]:
    """Parameters bound in the case, initial values apart."""
    names = case.system.parameter_names
    return (
        case.at(**{name: value for name, value in values.items() if name in names}),
        {name: value for name, value in values.items() if name not in names},
    )


def _broadcast(given: Mapping[str, Any]) -> dict[str, np.ndarray]:
    try:
        arrays = {name: np.asarray(value, dtype=float) for name, value in given.items()}
    except (TypeError, ValueError) as problem:
        raise ParameterError(f"an ensemble runs over numbers: {problem}") from problem
    for name, array in arrays.items():
        if not np.isfinite(array).all() or not array.size:
            raise ParameterError(f"{name} must hold finite numbers, at least one")
    try:
        shape = np.broadcast_shapes(*(array.shape for array in arrays.values()))
    except ValueError as problem:
        sizes = ", ".join(f"{name}: {array.shape}" for name, array in arrays.items())
        raise ParameterError(
            f"the arrays do not fit together ({sizes}): equal shapes run in parallel, a[:, None] and b[None, :] "
            "make a map"
        ) from problem
    return {name: np.broadcast_to(array, shape).copy() for name, array in arrays.items()}


def _members(case: Case, given: Mapping[str, np.ndarray], count: int, project: bool) -> tuple[np.ndarray, np.ndarray]:
    """Parameters and initial states, one column for each member."""
    system = case.system
    parameters = {name: values for name, values in given.items() if name in system.parameter_names}
    initial = {name: values for name, values in given.items() if name not in parameters}
    for name, values in parameters.items():
        for extreme in (values.min(), values.max()):
            checked_value(system.parameter(name), float(extreme))
    bound = case.at(**{name: float(values[0]) for name, values in parameters.items()})
    numbers = np.repeat(bound.numbers[:, None], count, axis=1)
    for name, values in parameters.items():
        numbers[system.parameter_names.index(name)] = values
    initial_state(bound, {name: float(values[0]) for name, values in initial.items()}, project)  # checks the names
    names = system.coordinate_names
    states = [*names, *(f"{name}_dot" for name in names)]
    x = np.array([initial.get(name, np.zeros(count)) for name in states])
    for k in np.flatnonzero(~Constraints(bound).obeyed(x, numbers)):
        one, start = split(case, {name: float(values[k]) for name, values in given.items()})
        found = initial_state(one, start, project)
        x[:, k] = np.concatenate([found.q, found.v])
    return numbers, x


class Batches:
    """Members in groups as wide as the processor's vectors, shared out to one integrator for each thread."""

    def __init__(
        self, system: System, numbers: np.ndarray, x: np.ndarray, t: np.ndarray, tolerance: float, max_steps: int
    ) -> None:
        zeros = frozenset(name for name, row in zip(system.parameter_names, numbers, strict=True) if not np.any(row))
        self.system, self.zeros, self.tolerance, self.max_steps = system, zeros, tolerance, max_steps
        self.equations = taylor.equations(system, zeros)
        self.lanes = hy.recommended_simd_size()
        self.numbers, self.x, self.t = numbers, x, t
        self.count = x.shape[1]
        self.workers = max(1, min(os.cpu_count() or 1, -(-self.count // self.lanes)))
        self.y = np.full((len(x), len(t), self.count), np.nan)
        self.outcomes = np.full(self.count, NOT_RUN, dtype=object)

    def run(self, progress: Callable[[float], None]) -> None:
        """All batches; Ctrl-C waits for those that run and keeps what is finished."""
        idle: SimpleQueue[Any] = SimpleQueue()
        for _ in range(self.workers):
            idle.put(copy.deepcopy(_batch_integrator(self.system, self.zeros, self.tolerance)))
        groups = self._groups()
        done = 0
        with ThreadPoolExecutor(self.workers) as pool:
            running: set[Future[int]] = set()
            try:
                for group in groups:
                    running.add(pool.submit(self._batch, group, idle))
                    if len(running) >= 2 * self.workers:
                        finished, running = wait(running, return_when=FIRST_COMPLETED)
                        done += sum(future.result() for future in finished)
                        progress(done / self.count)
                for future in running:
                    done += future.result()
                    progress(done / self.count)
            except KeyboardInterrupt:
                for future in running:
                    future.cancel()

    def _groups(self) -> Iterator[np.ndarray]:
        """Members of each batch; the last one is filled up by repeating its last member."""
        for start in range(0, self.count, self.lanes):
            yield np.minimum(np.arange(start, start + self.lanes), self.count - 1)

    def _batch(self, members: np.ndarray, idle: SimpleQueue[Any]) -> int:
        integrator = idle.get()
        try:
            samples = self._propagate(integrator, members)
        finally:
            idle.put(integrator)
        own = np.unique(members)
        if samples is None:
            for k in own:
                self._alone(int(k))
        else:
            self.y[:, :, own] = samples[:, :, : len(own)]
            self.outcomes[own] = FINISHED
        return len(own)

    def _propagate(self, integrator: Any, members: np.ndarray) -> np.ndarray | None:
        """Samples [state, time, lane], or nothing if one of the lanes did not get to the end."""
        pars = np.array([self.equations.pars(self.numbers[:, k]) for k in members]).T
        self._reset(integrator, members, pars)
        integrator.step(np.full(self.lanes, self.t[-1]))
        first = np.abs(integrator.last_h)
        if not np.isfinite(integrator.state).all() or not (first > 0).all():
            return None
        pars[-1] = np.copysign(1.0 / (taylor.DECAY * first), self.t[-1])
        self._reset(integrator, members, pars)
        grid = np.repeat(self.t[:, None], self.lanes, axis=1)
        _, samples = integrator.propagate_grid(grid, max_steps=self.max_steps)
        good = all(
            outcome == hy.taylor_outcome.time_limit and shortest >= SUSPICIOUS * longest
            for outcome, shortest, longest, _ in integrator.propagate_res
        )
        return samples.transpose(1, 0, 2) if good and np.isfinite(samples).all() else None

    def _reset(self, integrator: Any, members: np.ndarray, pars: np.ndarray) -> None:
        integrator.set_time(0.0)
        integrator.state[:] = self.x[:, members]
        integrator.pars[:] = pars[: len(integrator.pars)]

    def _case(self, k: int) -> Case:
        return Case(self.system, dict(zip(self.system.parameter_names, map(float, self.numbers[:, k]), strict=True)))

    def _alone(self, k: int) -> None:
        """A member of a batch in which something went wrong, by itself and as far as it gets."""
        integrator = copy.deepcopy(taylor.integrator(self.system, self.zeros, self.tolerance))
        duration = float(self.t[-1])
        try:
            taylor.set_up(integrator, self.equations, self.x[:, k], self.numbers[:, k], duration)
        except PfaffError as problem:
            self.outcomes[k] = f"stopped: {problem}"
            self.y[:, 0, k] = self.x[:, k]
            return
        flight = taylor.fly(integrator, duration, max_steps=self.max_steps)
        self.outcomes[k] = end_where_singular(Driven(self._case(k)), flight)
        reached = np.abs(self.t) <= abs(flight.end)
        if flight.pieces:
            self.y[:, reached, k] = flight(self.t[reached])


@lru_cache(maxsize=16)
def _batch_integrator(system: System, zeros: frozenset[str], tolerance: float) -> Any:
    equations = taylor.equations(system, zeros)
    lanes = hy.recommended_simd_size()
    return hy.taylor_adaptive_batch(
        equations.rates,
        np.zeros((len(equations.rates), lanes)),
        tol=tolerance,
        compact_mode=not equations.unrolled,
        opt_level=1,
    )
