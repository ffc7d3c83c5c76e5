"""Many points at once: measures for which a batch is known to give the same numbers as single searches; others are
left."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from pfaff.studies.at_rest import growth_rates
from pfaff.studies.block import DONE, NONE, Block, Job, Outcome
from pfaff.studies.catalogue import QUANTITIES, Batch
from pfaff.studies.first_crossings import first_crossings
from pfaff.studies.forms import first_coefficients
from pfaff.studies.frames import Frame
from pfaff.studies.growing_loads import first_growing
from pfaff.studies.quantities import Measure
from pfaff.studies.references import frame_of
from pfaff.threads import kept_by

AT_A_TIME = 1024  # points whose matrices stay in the cache


@dataclass(frozen=True)
class Plan:
    """The part of a job that batches do, with the frames for it, and the remaining job."""

    at_once: Job
    frames: dict[str, Frame]
    others: Job


@dataclass
class Answers:
    """What was found along a test function, for which points, and for which it is known that there is nothing."""

    found: Any
    good: np.ndarray
    absent: np.ndarray


@dataclass
class FirstHopf:
    """The first Hopf point of every point of a study."""

    load: np.ndarray
    omega: np.ndarray
    crossing_speed: np.ndarray
    l1: np.ndarray | None  # if asked for


def _batch(name: str) -> Batch:
    batch = QUANTITIES[name].batch
    assert batch is not None
    return batch


def batched(job: Job, places: np.ndarray, block: Block) -> Job:
    """Fill in what batches can compute at these places; returns the job of measures that they compute nowhere."""
    plan = _plan(job)
    for begin in range(0, len(places) if plan.frames else 0, AT_A_TIME):
        _fill(plan.at_once, plan.frames, places[begin : begin + AT_A_TIME], begin, block)
    return plan.others


def _fill(job: Job, frames: dict[str, Frame], some: np.ndarray, begin: int, block: Block) -> None:
    """Fill in points of a block from its place ``begin`` on."""
    ways = {name: _batch(name) for name in job.names}
    values: dict[str, np.ndarray] = {}
    known, absent = valid(job, some), np.zeros(len(some), dtype=bool)
    with np.errstate(all="ignore"):
        for kind, each in _answers(job, frames, job.parameters_at(some)):
            here = {name: batch.of(each.found) for name, batch in ways.items() if batch.frame == kind}
            good = np.logical_and.reduce([each.good, *map(np.isfinite, here.values())])
            values |= {name: np.where(good, numbers, np.nan) for name, numbers in here.items()}
            known &= good | each.absent
            absent |= each.absent & ~good
    places = begin + np.flatnonzero(known)
    for name in job.names:
        block.values[name][places] = values[name][known]
    block.state[places] = DONE
    for k in begin + np.flatnonzero(known & absent):
        reason = _absence(job, [name for name in job.names if np.isnan(block.values[name][k])])
        block.put(int(k), Outcome({}, NONE, reason))


def _absence(job: Job, names: list[str]) -> str:
    return f"no {', '.join(names)} up to {job.case.load_name(job.asked.load)} = {job.asked.to:g}, by test functions"


def _plan(job: Job) -> Plan:
    """The plan of a job, made once for equal jobs: their values need not be hashable."""
    return kept_by(job, "plan", 1).get(None, lambda: _planned(job))


def _planned(job: Job) -> Plan:
    """The plan of a job. A measure for which no frame is found is left to single searches, and only that one."""
    ways = {name: _batch(name) for each in job.parted[0].measures for name in each.names}
    found = {kind: frame_of(job, kind) for kind in dict.fromkeys(batch.frame for batch in ways.values())}
    frames = {kind: frame for kind, frame in found.items() if frame is not None}

    def framed(measure: Measure, name: str) -> bool:
        batch = ways.get(name)
        return batch is not None and batch.frame in frames and (not batch.form or frames[batch.frame].has_forms)

    at_once, others = job.parted_by(framed)
    wanted = {ways[name].frame for name in at_once.names}
    return Plan(at_once, {kind: frame for kind, frame in frames.items() if kind in wanted}, others)


def _answers(job: Job, frames: dict[str, Frame], parameters: np.ndarray) -> Iterator[tuple[str, Answers]]:
    """The answers along each test function."""
    for kind, frame in frames.items():
        yield kind, ALONG[kind](job, frame, parameters)


def _growing(job: Job, frame: Frame, parameters: np.ndarray) -> Answers:
    found = first_growing(frame, parameters)
    return Answers(found, found.found, found.absent)


def _resting(job: Job, frame: Frame, parameters: np.ndarray) -> Answers:
    growth, good = growth_rates(frame, parameters)
    return Answers(growth, good, np.zeros_like(good))


def _crossing(job: Job, frame: Frame, parameters: np.ndarray) -> Answers:
    """Answers about the first Hopf point, and about flutter where it is that."""
    ways = [_batch(name) for name in job.names]
    flutters = any(batch.flutter for batch in ways)
    at = first_crossings(frame, parameters, before=flutters)
    first = at.stable & at.steady & (frame.sign > 0)  # flutter is at positive loads
    good = at.found & (first & (at.speed * frame.sign > 0) if flutters else True)
    absent = at.absent & (first if flutters else True)
    l1 = None
    if any(batch.form for batch in ways):
        l1, sure = first_coefficients(frame, parameters, at)
        good &= sure
    return Answers(FirstHopf(at.load, at.value.imag, at.speed, l1), good, absent)


ALONG = {"hopf": _crossing, "divergence": _growing, "buckling": _growing, "rest": _resting}


def valid(job: Job, places: np.ndarray) -> np.ndarray:
    """Where values keep the declared signs; elsewhere the case itself says what is wrong."""
    good = np.ones(len(places), dtype=bool)
    for name, values in job.points.at(places).items():
        symbol = job.case.system.parameter(name)
        if symbol.is_positive:
            good &= values > 0
        elif symbol.is_nonnegative:
            good &= values >= 0
        elif symbol.is_negative:
            good &= values < 0
        elif symbol.is_nonpositive:
            good &= values <= 0
    return good
