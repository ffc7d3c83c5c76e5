"""Many points at once: measures for which a batch is known to give the same numbers as single searches; others are
left."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pfaff.studies.block import DONE, NONE, Block, Job, Outcome
from pfaff.studies.quantities import GROUPS, HOPF, REST, Measure
from pfaff.threads import kept_by

if TYPE_CHECKING:
    from pfaff.studies.frames import Frame

AT_A_TIME = 1024  # points whose matrices stay in the cache
FLUTTER = ("flutter", "flutter_frequency")  # from the first crossing, if all is stable before it
KINDS = {  # by the test function that is marched along for them
    **dict.fromkeys((*HOPF, *FLUTTER), "hopf"),
    **{name: name for name in ("divergence", "buckling")},
    **dict.fromkeys(REST, "rest"),
}
FORMS = {"l1", "criticality"}  # from the normal form


@dataclass(frozen=True)
class Plan:
    """The part of a job that batches do, with the frames for it, and the remaining job."""

    at_once: Job
    frames: dict[str, Frame]
    others: Job


@dataclass
class Answers:
    """Numbers by name, for which points they are known, and for which it is known that there are none."""

    values: dict[str, np.ndarray]
    good: np.ndarray
    absent: np.ndarray


def in_batches(job: Job, measure: Measure) -> bool:
    """Whether batches can compute a measure: over parameters alone, for equations that are expressions."""
    if getattr(job.case.system, "rods", ()) or not all(name in KINDS for name in measure.names):
        return False
    return measure.about["kind"] in GROUPS.values() and all(
        name in job.case.system.parameter_names for name in job.points.names
    )


def batched(job: Job, places: np.ndarray, block: Block) -> Job:
    """Fill in what batches can compute at these places; returns the job of measures that they compute nowhere."""
    plan = _plan(job)
    for begin in range(0, len(places) if plan.frames else 0, AT_A_TIME):
        _fill(plan.at_once, plan.frames, places[begin : begin + AT_A_TIME], begin, block)
    return plan.others


def _fill(job: Job, frames: dict[str, Frame], some: np.ndarray, begin: int, block: Block) -> None:
    """Fill in points of a block from its place ``begin`` on."""
    with np.errstate(all="ignore"):
        answers = list(_answers(job, frames, parameters_of(job, some)))
    known = valid(job, some) & np.logical_and.reduce([each.good | each.absent for each in answers])
    here = begin + np.flatnonzero(known)
    for each in answers:
        for name in set(each.values) & set(job.names):
            block.values[name][here] = np.where(each.good, each.values[name], np.nan)[known]
    block.state[here] = DONE
    absent = known & np.logical_or.reduce([each.absent & ~each.good for each in answers])
    for k in begin + np.flatnonzero(absent):
        reason = _absence(job, [name for name in job.names if np.isnan(block.values[name][k])])
        block.put(int(k), Outcome({}, NONE, reason))


def _absence(job: Job, names: list[str]) -> str:
    return f"no {', '.join(names)} up to {job.case.load_name(job.asked.load)} = {job.asked.to:g}, by test functions"


def _plan(job: Job) -> Plan:
    """The plan of a job, made once for equal jobs: their values need not be hashable."""
    return kept_by(job, "plan", 1).get(None, lambda: _planned(job))


def _planned(job: Job) -> Plan:
    """The plan of a job. A measure for which no frame is found is left to single searches, and only that one."""
    from pfaff.studies.references import frame_of

    names = [name for each in job.measures if in_batches(job, each) for name in each.names]
    found = {kind: frame_of(job, kind) for kind in dict.fromkeys(KINDS[name] for name in names)}
    frames = {kind: frame for kind, frame in found.items() if frame is not None}

    def framed(measure: Measure, name: str) -> bool:
        return name in names and KINDS[name] in frames and (name not in FORMS or frames["hopf"].has_forms)

    at_once, others = job.parted_by(framed)
    wanted = {KINDS[name] for name in at_once.names}
    return Plan(at_once, {kind: frame for kind, frame in frames.items() if kind in wanted}, others)


def _answers(job: Job, frames: dict[str, Frame], parameters: np.ndarray) -> Iterator[Answers]:
    """The answers of each kind of search."""
    none = np.zeros(parameters.shape[1], dtype=bool)
    for kind, frame in frames.items():
        if kind == "hopf":
            yield _crossing(job, frame, parameters)
        elif kind == "rest":
            from pfaff.studies.at_rest import growth_rates

            growth, good = growth_rates(frame, parameters)
            yield Answers({"growth": growth, "stable": (growth < 0).astype(float)}, good, none)
        else:
            from pfaff.studies.growing_loads import first_growing

            found = first_growing(frame, parameters)
            yield Answers({kind: found.load}, found.found, found.absent)


def _crossing(job: Job, frame: Frame, parameters: np.ndarray) -> Answers:
    """Answers about the first Hopf point, and about flutter where it is that."""
    from pfaff.studies.first_crossings import first_crossings
    from pfaff.studies.forms import first_coefficients

    wanted = set(job.names)
    flutters = bool(wanted & {*FLUTTER})
    at = first_crossings(frame, parameters, before=flutters)
    values = dict.fromkeys(("hopf", "flutter"), at.load) | {"crossing_speed": at.speed}
    values |= dict.fromkeys(("omega", "flutter_frequency"), at.value.imag)
    first = at.stable & at.steady & (frame.sign > 0)  # flutter is at positive loads
    good = at.found & (first & (at.speed * frame.sign > 0) if flutters else True)
    absent = at.absent & (first if flutters else True)
    if FORMS & wanted:
        values["l1"], sure = first_coefficients(frame, parameters, at)
        values["criticality"] = np.sign(values["l1"])
        good &= sure
    for name in wanted & set(values):
        good &= np.isfinite(values[name])
    return Answers(values, good, absent)


def parameters_of(job: Job, places: np.ndarray) -> np.ndarray:
    """One column of parameters for each place; the load is the one that is searched."""
    case = job.case
    names = case.system.parameter_names
    speed = job.asked.load is not None and job.asked.load not in names
    sought = job.asked.load is not None or getattr(case.system, "load", None) is not None
    load = case.load_name(job.asked.load) if sought and not speed else ""
    swept = job.points.at(places)
    stated = case.unchecked(**{load: 0.0}) if load and case.values[load] is None else case
    columns = [swept.get(name, np.full(len(places), value)) for name, value in zip(names, stated.numbers, strict=True)]
    return np.ascontiguousarray([*columns, *([np.zeros(len(places))] if speed else [])], dtype=float)


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
