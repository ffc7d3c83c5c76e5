"""One chunk of a study: numbers, a state and a reason for each of its points, whatever happens at them. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from pfaff import doors
from pfaff.errors import PfaffError
from pfaff.studies.catalogue import QUANTITIES, Asked
from pfaff.studies.points import Points
from pfaff.studies.quantities import Found, Measure
from pfaff.threads import cached_property, part_of_a_whole

if TYPE_CHECKING:
    from pfaff.case import Bound

PENDING, DONE, NONE, FAILED, TIMED_OUT, CRASHED = range(6)
STATES = {"pending": PENDING, "done": DONE, "none": NONE, "failed": FAILED, "timed out": TIMED_OUT, "crashed": CRASHED}
LONGEST = 500  # characters of a reason


@dataclass(frozen=True)
class Job:
    """The computation at a point: a case with the point's values, how loads are searched, and the measures."""

    case: Bound
    points: Points
    measures: tuple[Measure, ...]
    asked: Asked = field(default_factory=Asked)
    batched: bool = True

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(name for measure in self.measures for name in measure.names)

    @cached_property
    def parted(self) -> tuple[Job, Job]:
        """Two jobs: the measures that batches may compute, and those computed one by one."""
        return self.parted_by(lambda each, name: self.batched and self._in_batches(each))

    def _in_batches(self, measure: Measure) -> bool:
        """Whether batches may compute a measure: over parameters alone, for equations that are expressions."""
        system = self.case.system
        rods = getattr(system, "rods", ())
        if measure.search is None or rods:
            return False
        known = all(name in QUANTITIES and QUANTITIES[name].batch is not None for name in measure.names)
        return known and all(name in system.parameter_names for name in self.points.names)

    def parted_by(self, fits: Callable[[Measure, str], bool]) -> tuple[Job, Job]:
        """Two jobs: the measures that fit, and the others."""
        parts: tuple[list[Measure], list[Measure]] = [], []
        for each in self.measures:
            known = tuple(name for name in each.names if fits(each, name))
            others = tuple(name for name in each.names if name not in known)
            for names, part in zip((known, others), parts, strict=True):
                part.extend([replace(each, names=names)] if names else [])
        at_once, left = parts
        return replace(self, measures=tuple(at_once)), replace(self, measures=tuple(left))

    def parameters_at(self, places: np.ndarray) -> np.ndarray:
        """One column of parameters for each place; the load is the one that is searched."""
        case, load = self.case, self.asked.load
        names = case.system.parameter_names
        speed = load is not None and load not in names
        sought = load is not None or getattr(case.system, "load", None) is not None
        grows = case.load_name(load) if sought and not speed else ""
        swept = self.points.at(places)
        stated = case.unchecked(**{grows: 0.0}) if grows and case.values[grows] is None else case
        rows = [swept.get(name, np.full(len(places), value)) for name, value in zip(names, stated.numbers, strict=True)]
        return np.ascontiguousarray([*rows, *([np.zeros(len(places))] if speed else [])], dtype=float)

    def split(self, point: Mapping[str, float]) -> tuple[dict[str, float], dict[str, float]]:
        """Values of parameters, and those of coordinates and speeds."""
        parameters = {name: value for name, value in point.items() if name in self.case.system.parameter_names}
        return parameters, {name: value for name, value in point.items() if name not in parameters}


@dataclass(frozen=True)
class Outcome:
    """The result at a point."""

    values: Mapping[str, float]
    state: int
    reason: str = ""

    def and_also(self, other: Outcome) -> Outcome:
        """Both outcomes, of different measures at the same point; the worse state counts."""
        reasons = "; ".join(each.reason for each in (self, other) if each.reason)
        return Outcome({**self.values, **other.values}, max(self.state, other.state), reasons)


@dataclass
class Block:
    """The result for a chunk: arrays over its points in order, and reasons by place where there is one."""

    values: dict[str, np.ndarray]
    state: np.ndarray
    reasons: dict[int, str]
    batched: int = 0

    @classmethod
    def empty(cls, names: tuple[str, ...], size: int) -> Block:
        return cls({name: np.full(size, np.nan) for name in names}, np.zeros(size, dtype=np.int8), {})

    def put(self, k: int, outcome: Outcome) -> None:
        for name, value in outcome.values.items():
            self.values[name][k] = value
        self.state[k] = outcome.state
        self.reasons.pop(k, None)
        if outcome.reason:
            self.reasons[k] = outcome.reason[:LONGEST]

    def outcome(self, k: int) -> Outcome:
        values = {name: float(values[k]) for name, values in self.values.items()}
        return Outcome(values, int(self.state[k]), self.reasons.get(k, ""))


@part_of_a_whole()
def compute(
    job: Job,
    places: np.ndarray,
    known: Mapping[int, Outcome] | None = None,
    before: Callable[[int], None] = lambda k: None,
    after: Callable[[int, Outcome], None] = lambda k, outcome: None,
) -> Block:
    """All points at these places: in a batch where that is known to give the same numbers, one by one elsewhere.

    ``known`` are outcomes by their order in the chunk; ``before`` and ``after`` are called for points done one by one.
    A batch always takes the whole chunk, so that its bits do not depend on what is known.
    """
    known = known or {}
    block, others = Block.empty(job.names, len(places)), job
    if job.parted[0].measures:
        others = doors.many_points.batched(job, places, block)
    answered = block.state != PENDING
    block.batched = int(answered.sum() - answered[list(known)].sum())
    for k, outcome in known.items():
        block.put(k, outcome)
    alone = ~answered | bool(others.measures)
    alone[list(known)] = False
    for k in np.flatnonzero(alone).tolist():
        before(k)
        point = job.points.point(int(places[k]))
        outcome = block.outcome(k).and_also(measured(others, point)) if answered[k] else measured(job, point)
        after(k, outcome)
        block.put(k, outcome)
    return block


def measured(job: Job, point: Mapping[str, float]) -> Outcome:
    """One point by itself: an exception is recorded, not raised."""
    values = dict.fromkeys(job.names, np.nan)
    reasons: list[str] = []
    state = DONE
    try:
        parameters, fixed = job.split(point)
        case = job.case.at(**parameters)
        asked = Asked(job.asked.load, job.asked.to, {**job.asked.fixed, **fixed})
    except PfaffError as problem:
        return Outcome(values, FAILED, _said(problem))
    for measure in job.measures:
        try:
            found: Found = measure(case, asked)
        except Exception as problem:  # a function of the user's may raise anything
            state = FAILED
            reasons.append(_said(problem))
            continue
        values.update(found.values)
        missing = [name for name in measure.names if np.isnan(values[name])]
        if found.absent:
            state = max(state, NONE)
            reasons.append(found.absent)
        elif missing:
            state = FAILED
            reasons.append(f"{', '.join(missing)}: not a number, and nothing says why")
    return Outcome(values, state, "; ".join(reasons))


def _said(problem: BaseException) -> str:
    return f"{type(problem).__name__}: {' '.join(str(problem).split())}"


def summary(states: Any) -> dict[str, int]:
    """Numbers of points in each state, by its name."""
    return {word: int(states[number]) for word, number in STATES.items() if states[number]}
