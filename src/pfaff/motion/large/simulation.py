"""Motion of assemblies in time: sampled, projected on the constraints, with reactions and the balance of energy."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from pfaff.errors import ParameterError
from pfaff.flow.assembly_equations import Equations
from pfaff.motion.between_steps import NEVER, Resolution
from pfaff.motion.implicit_methods import SHARPEST
from pfaff.motion.large.beginnings import initial_state
from pfaff.motion.large.steps import STAGES, Integrator, Projection, Sizes, State, Step
from pfaff.motion.measures import Energy, Stored
from pfaff.motion.outcomes import COLLAPSED, FINISHED, INTERRUPTED, NOT_FINITE, TOO_MANY, Outcome, Status
from pfaff.motion.result import Motion
from pfaff.motion.simulate import check_request, longest_step
from pfaff.motion.steep_functions import Steep, steep_functions
from pfaff.statement.values import heard, number_from, number_within
from pfaff.threads import hand_on

if TYPE_CHECKING:
    from pfaff.algebra.factors import Solve
    from pfaff.flow.assembly import Assembly

TOLERANCES = (1e-8, 1e-7, 1e-6)  # tried in turn where rounding of stiff forces lets no step succeed
LASTING = 10  # steps after which a collapse is no longer a matter of the tolerance
FIRST = 0.01  # first step tried, relative to the duration
SHORTEST = 1e-14  # shortest step, relative to the duration
KEPT_NUMBERS = 20_000_000  # most numbers kept for evaluation between the samples; longer motions are interpolated


def simulate(
    assembly: Assembly,
    duration: float,
    load: float,
    *,
    samples: int = 1001,
    tolerance: float | None = None,
    start: Any = None,
    velocities: Any = None,
    progress: Callable[[float], object] | None = None,
    max_step: float | None = None,
    max_steps: int = 1_000_000,
) -> Motion:
    """Integrate from time zero over the duration (backwards if it is negative) and sample the motion evenly."""
    load = number_from("load", load)
    duration = number_from("duration", duration)
    tolerance = check_request(duration, samples, tolerance, 2 * assembly.size, max_steps)
    progress = heard("progress", progress, "print", 0.5)
    if tolerance is not None:
        sharp = f"give a number from {SHARPEST:g} to 1"
        tolerance = number_within("tolerance", tolerance, lambda x: x >= SHARPEST, sharp)
    equations = Equations(assembly, load)
    q, v = initial_state(assembly, equations, start, velocities)
    state = State(0.0, q, v, *equations.accelerations(q, v), np.zeros(2))
    if duration < 0 and is_damped(equations, state):
        raise ParameterError(f"{assembly.name} is damped: backwards its fast modes would explode; run it forwards")
    for attempt in TOLERANCES if tolerance is None else (tolerance,):
        integrator = Integrator(equations, Sizes(assembly, duration), attempt)
        record = Record(equations, np.linspace(0.0, duration, samples), state)
        bounds = longest_step(max_step), resolution_of(assembly, load, duration)
        status = run(integrator, record, state, float(duration), max_steps, progress, *bounds)
        if status.outcome is not Outcome.COLLAPSED or record.steps > LASTING:
            break
    return record.motion(assembly, load, status, attempt)


def resolution_of(assembly: Assembly, load: float, duration: float) -> Resolution | None:
    """What bounds steps where functions of a part are steep, for all copies of it together; None if none are."""
    found = []
    for copies in assembly.parts:
        steep = steep_functions(copies.part, 1.0)
        if steep is not None:
            numbers = copies.table(assembly.load)
            numbers[[name == assembly.load for name in copies.part.parameter_names]] = load
            found.append((steep, copies.at, numbers))
    if not found:
        return None

    def arguments(x: np.ndarray, t: np.ndarray) -> np.ndarray:
        q, v = np.split(x, 2)
        return np.concatenate([_of_copies(each, q, v) for each in found], axis=1)

    kinds, exponents = (
        np.concatenate([np.repeat(getattr(steep, name), len(at)) for steep, at, _ in found])
        for name in ("kinds", "exponents")
    )
    return Resolution(replace(found[0][0], kinds=kinds, exponents=exponents), arguments, NEVER * abs(duration))


def _of_copies(each: tuple[Steep, np.ndarray, np.ndarray], q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Arguments of steep functions and their rates, indexed [0 or 1, argument of a copy, time]."""
    steep, at, numbers = each
    local = np.concatenate([q[at.T], v[at.T]]).reshape(2 * at.shape[1], -1)
    rates = np.concatenate([local[at.shape[1] :], 0 * local[at.shape[1] :]])
    columns = np.repeat(numbers, q.shape[1], axis=1)
    return steep(local, rates, columns, np.zeros(local.shape[1])).reshape(2, len(steep.kinds) * len(at), -1)


def _leaps(resolution: Resolution, step: Step) -> bool:
    end = step.start.t + step.h
    return resolution.good(step.start.t, end, lambda t: np.concatenate(step.path(np.array([t])))[:, 0]) != end


def is_damped(equations: Equations, state: State) -> bool:
    """Whether some velocities dissipate power."""
    v = np.random.default_rng(0).standard_normal(equations.n)
    moving = np.concatenate([state.q, v, state.a, state.p])
    return bool(np.any(equations.powers(moving[:, None])[0] != 0))


def run(
    integrator: Integrator,
    record: Record,
    state: State,
    duration: float,
    max_steps: int,
    progress: Callable[[float], object] | None,
    max_step: float = np.inf,
    resolution: Resolution | None = None,
) -> Status:
    h, last = FIRST * duration, None
    try:
        for _ in range(max_steps):
            left = duration - state.t
            h = min(h, left, float(np.copysign(max_step, duration)), key=abs)
            taken = integrator.advance(state, h, last, SHORTEST * abs(duration))
            if taken is None:
                return COLLAPSED if integrator.finite else NOT_FINITE
            if resolution and _leaps(resolution, taken[0]):
                h = float(np.copysign(resolution.room, duration))
                continue
            last, solve, h = taken
            ends = abs(last.h) >= abs(left)
            state = record.add(last, solve, duration if ends else state.t + last.h)
            if progress is not None:
                progress(state.t / duration)
            if ends:
                return FINISHED
    except KeyboardInterrupt:
        hand_on()
        return INTERRUPTED
    return TOO_MANY


@dataclass
class Record:
    """The samples so far, one array for each step; a step is either recorded whole or not at all."""

    equations: Equations
    times: np.ndarray
    state: State
    samples: list[tuple[np.ndarray, ...]] = field(default_factory=list)
    dense: Dense = field(default_factory=lambda: Dense())
    steps: int = 0

    def __post_init__(self) -> None:
        self._taken = 1
        self._projected = Projection(self.equations, self.state.q, self.state.v)
        self.samples.append(self._sample(self.state))

    def add(self, step: Step, solve: Solve, end: float) -> State:
        """Sample a step and return the state at its end, both on the constraints."""
        taken = int(np.searchsorted(self.times / self.times[-1], end / self.times[-1], side="right"))
        t = np.append(self.times[self._taken : taken], end)
        q, v = self._projected(solve, *step.path(t))
        p, work = step.yields(t)
        state = State(end, q[:, -1], v[:, -1], step.a[:, -1], step.p[:, -1], work[:, -1])
        new = tuple(x[..., :-1] for x in (t, q, v, p, work))
        self.samples, self._taken, self.state, self.steps = [*self.samples, new], taken, state, self.steps + 1
        self.dense.add(step, end)
        return state

    def recorded(self, status: Status) -> list[tuple[np.ndarray, ...]]:
        """The samples, with the last state where the motion ended early."""
        return [*self.samples, self._sample(self.state)] if not status.finished and self.steps else self.samples

    def motion(self, assembly: Assembly, load: float, status: Status, tolerance: float) -> Motion:
        recorded = self.recorded(status)
        t, q, v, p, work = (np.concatenate(each, axis=-1) for each in zip(*recorded, strict=True))
        phi, rates = self.equations.constraints(q, v)
        return Motion(
            t=t,
            y=np.concatenate([q, v]),
            measures=Stored(
                p,
                np.concatenate([phi[self.equations.holonomic], rates]),
                Energy(*self.equations.energies(q, v), *work),
            ),
            names=tuple(f"q{i}" for i in range(self.equations.n)),
            reaction_names=tuple(f"p{i}" for i in range(self.equations.m)),
            ended=status,
            method=f"Radau collocation of order {2 * STAGES - 1} with sparse multipliers, {self.steps} steps, "
            f"tolerance {tolerance:g}",
            changes={},
            system=assembly.name,
            values={assembly.load: str(load)},
            dense=self.dense if self.dense.complete else None,
            tolerance=tolerance,
        )

    def _sample(self, state: State) -> tuple[np.ndarray, ...]:
        return np.array([state.t]), *(x[:, None] for x in (state.q, state.v, state.p, state.work))


class Dense:
    """States at any time, by the polynomials of the steps, as long as these fit into memory."""

    def __init__(self) -> None:
        self._steps: list[Step] = []
        self._ends: list[float] = []
        self.complete = True

    def add(self, step: Step, end: float) -> None:
        self.complete = self.complete and 2 * step.a.size * (len(self._steps) + 1) <= KEPT_NUMBERS
        if self.complete:
            self._steps.append(step)
            self._ends.append(end)
        else:
            self._steps.clear()

    def __call__(self, times: np.ndarray) -> np.ndarray:
        which = np.searchsorted(np.abs(self._ends[:-1]), np.abs(times))
        columns = np.empty((2 * len(self._steps[0].a), len(times)))
        for k in np.unique(which):
            columns[:, which == k] = np.concatenate(self._steps[k].path(times[which == k]))
        return columns
