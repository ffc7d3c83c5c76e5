"""Many motions at once: initial values and parameters as arrays, integrated in SIMD batches on all cores."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from pfaff import doors
from pfaff.archive.stored import labels
from pfaff.checks import Check, Checked, doubted
from pfaff.errors import ParameterError
from pfaff.flow.in_quasi_velocities import quasi_values
from pfaff.flow.initial import Constraints, initial_state
from pfaff.motion.batches import Batches
from pfaff.motion.simulate import FINEST, check_request, longest_step
from pfaff.progress import bar
from pfaff.statement.told import answering
from pfaff.statement.values import (
    MEMORY,
    checked_value,
    heard,
    number_from,
    numbers_from,
    one_of,
    shown,
    truth,
    whole_number,
)

if TYPE_CHECKING:
    import xarray
    from matplotlib.figure import Figure

    from pfaff.case import Case
    from pfaff.motion.result import Motion

INITIAL = "initial_"


@answering
@dataclass(frozen=True, eq=False)
class Ensemble(Checked):
    """Motions over an array of initial values or parameters, sampled at the times ``t``.

    ``ensemble["theta1"]`` has the dimensions ``(time, *shape)``; ``outcomes`` holds every member's status in words.
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
    numbers: np.ndarray = field(default_factory=lambda: np.zeros((0, 0)), repr=False)  # parameters, a column a member

    def __repr__(self) -> str:
        many = " × ".join(map(str, self.shape)) + " motions" if self.shape else "1 motion"
        return f"<Ensemble of {self.case.system.name}, {many}: {self.status}>"

    @property
    def shape(self) -> tuple[int, ...]:
        return self.outcomes.shape

    @property
    def states(self) -> tuple[str, ...]:
        return self.case.system.state_names

    @property
    def status(self) -> str:
        words, counts = np.unique(self.outcomes.astype(str), return_counts=True)
        told = "; ".join(f"{count} {word}" for word, count in zip(words, counts, strict=True))
        return doubted(told, self.checks)

    def _verify(self) -> Iterable[Check]:
        return doors.verification.verified_ensemble(self)

    def __getitem__(self, name: str) -> np.ndarray:
        name = one_of([*self.states, *self.case.system.quasi_velocities], name, "no coordinate or velocity")
        if name in self.states:
            return self.y[self.states.index(name)]
        return self._quasi_velocity(name)

    def _quasi_velocity(self, name: str) -> np.ndarray:
        """A quasi-velocity of every member, with its own parameters."""
        system, shape = self.case.system, self.y.shape[1:]
        varied = {axis: values for axis, values in self.axes.items() if axis in system.parameter_names}
        each = (varied.get(p, number) for p, number in zip(system.parameter_names, self.case.numbers, strict=True))
        numbers = np.array([np.broadcast_to(values, shape).ravel() for values in each]).reshape(-1, math.prod(shape))
        times = np.broadcast_to(self.t.reshape(-1, *[1] * len(self.shape)), shape).ravel()
        return quasi_values(system, self.y.reshape(len(self.y), -1), numbers, times)[name].reshape(shape)

    def peak(self, name: str, since: float = 0.0) -> np.ndarray:
        """The largest ``|value|`` that each member reaches at a sample from the time ``since`` on."""
        since = number_from("since", since)
        values = np.abs(self[name][np.abs(self.t) >= abs(since)])
        if not len(values):
            raise ParameterError(f"since={since}: the motions end at t = {self.t[-1]:g}")
        return np.where(np.isnan(values).all(axis=0), np.nan, np.nanmax(np.nan_to_num(values, nan=0.0), axis=0))

    def motion(self, *index: int) -> Motion:
        """One member simulated on its own, with reactions, energies and dense output."""
        self._check_member(index)
        chosen = {_quantity(name, self.case): float(values[index]) for name, values in self.axes.items()}
        case, initial = split(self.case, chosen)
        return case.simulate(float(self.t[-1]), samples=len(self.t), method="taylor", **self.options, initial=initial)

    def _check_member(self, index: tuple[Any, ...]) -> None:
        """One whole number for each axis, from the end if negative."""
        if len(index) != len(self.shape):
            wanted = ", ".join("0" * len(self.shape))
            raise ParameterError(
                f"an ensemble of shape {self.shape} has no member {shown(index)}: write motion({wanted})"
            )
        for k, (place, size) in enumerate(zip(index, self.shape, strict=True)):
            whole_number(f"index {k + 1}", place, -size, size - 1, f"the motions are counted from 0 to {size - 1}")

    def to_xarray(self) -> xarray.Dataset:
        """All states by name, along ``t`` and one dimension for each axis of the arrays."""
        import xarray

        members = [f"member{k or ''}" for k in range(len(self.shape))]
        named = labels((*self.states, *self.axes), ["t", "outcome", *members])
        dims = tuple(named.get(name, name) for name in self.dimensions)
        columns = {named[name]: (("t", *dims), self[name]) for name in self.states}
        places: dict[str, Any] = {"t": self.t}
        for name, values in self.axes.items():
            along = [k for k in range(values.ndim) if _varies(values, k)]
            if len(along) == 1:
                line = np.moveaxis(values, along[0], 0).reshape(values.shape[along[0]], -1)[:, 0]
                places[named[name]] = (dims[along[0]], line)
            elif along:
                places[named[name]] = (dims, values)
            else:
                places[named[name]] = float(values.flat[0])
        return xarray.Dataset(
            {**columns, "outcome": (dims, self.outcomes.astype(str))}, places, {"method": self.method}
        )

    @property
    def dimensions(self) -> tuple[str, ...]:
        """A name for every axis: that of the one quantity that varies along it, or ``member``."""
        names = []
        for k in range(len(self.shape)):
            along = [name for name, values in self.axes.items() if _varies(values, k)]
            alone = [name for name in along if sum(_varies(self.axes[name], j) for j in range(len(self.shape))) == 1]
            names.append(alone[0] if len(alone) == 1 and alone[0] not in names else f"member{k or ''}")
        return tuple(names)

    def plot(self, name: str | None = None, since: float | None = None) -> Figure:
        """The peak of a coordinate over the later half of the motions: a map over two axes, a line over one."""
        known = (*self.states, *self.case.system.quasi_velocities)
        name = self.names[0] if name is None else one_of(known, name, "no coordinate or velocity")
        return doors.draw.draw_ensemble(self, name, self.t[-1] / 2 if since is None else since)


def _quantity(axis: str, case: Case) -> str:
    """The parameter or the state that varies along an axis."""
    return axis if axis in case.system.parameter_names else axis.removeprefix(INITIAL)


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
    max_step: float | None = None,
    max_steps: int = 1_000_000,
    progress: Callable[[float], None] | None = None,
) -> Ensemble:
    """Arrays of initial values and parameters, broadcast against each other: one motion for each entry."""
    size, duration = 2 * len(case.system.coordinates), number_from("duration", duration)
    progress = heard("progress", progress, "print", 0.5)
    arrays, shape = _shaped(given)
    count = math.prod(shape)
    whole_number("the number of motions", count, 1, int(MEMORY / (16 * size)), "give smaller arrays")
    tolerance = check_request(duration, samples, number_from("tolerance", tolerance), size, max_steps, count) or FINEST
    axes = {name: np.broadcast_to(array, shape).copy() for name, array in arrays.items()}
    columns = {name: values.ravel() for name, values in axes.items()}
    numbers, x = _members(case, columns, count, truth("project", project))
    t = np.linspace(0.0, duration, samples)
    batches = Batches(case, numbers, x, t, tolerance, max_steps, longest_step(max_step))
    if progress is not None:
        batches.run(progress)
    else:
        with bar(f"{count} motions") as shown:
            batches.run(shown)
    return Ensemble(
        t=t,
        y=batches.y.reshape(size, samples, *shape),
        outcomes=batches.outcomes.reshape(shape),
        axes={name if name in case.system.parameter_names else INITIAL + name: axes[name] for name in axes},
        names=tuple(case.system.coordinate_names),
        case=case,
        options={"tolerance": tolerance, "project": project, "max_step": max_step, "max_steps": max_steps},
        method=f"Taylor's method in batches of {batches.lanes} on {batches.workers} threads",
        numbers=numbers,
    )


def split(case: Case, values: Mapping[str, Any]) -> tuple[Case, dict[str, Any]]:
    """Parameters bound in the case, initial values apart."""
    names = case.system.parameter_names
    return (
        case.at({name: value for name, value in values.items() if name in names}),
        {name: value for name, value in values.items() if name not in names},
    )


def _shaped(given: Mapping[str, Any]) -> tuple[dict[str, np.ndarray], tuple[int, ...]]:
    """Arrays of numbers, and their common shape."""
    arrays = {name: numbers_from(name, value) for name, value in given.items()}
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
    return arrays, shape


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
    x = np.array([initial.get(name, np.zeros(count)) for name in system.state_names])
    asked = any(name in system.quasi_velocities for name in initial)
    for k in range(count) if asked else np.flatnonzero(~Constraints(bound).obeyed(x, numbers)):
        one, start = split(case, {name: float(values[k]) for name, values in given.items()})
        found = initial_state(one, start, project)
        x[:, k] = np.concatenate([found.q, found.v])
    return numbers, x
