"""Many points at once: measures whose numbers are the same as one by one, where they are known to be; the rest is left."""

from __future__ import annotations

import numpy as np

from pfaff.studies.block import DONE, NONE, Block, Job
from pfaff.studies.measures import HOPF
from pfaff.threads import Once

AT_A_TIME = 1024  # points whose matrices stay in the cache
ALONE = {"flutter", "flutter_frequency"}
FRAMES: Once[int, object] = Once(most=8)


def batchable(job: Job) -> bool:
    """Whether all that is measured is known in batches, over parameters alone."""
    return (
        all(set(each.names) <= {*HOPF, *ALONE} and each.about["kind"] in ("hopf", "critical") for each in job.measures)
        and all(name in job.case.system.parameter_names for name in job.points.names)
    )


def batched(job: Job, places: np.ndarray, block: Block) -> int:
    """Fill what batches know of these places; how many points that is."""
    from pfaff.studies.frames import Frame, frame_of

    if not batchable(job):
        return 0
    frame = FRAMES.get(id(job.points), lambda: (job.points, frame_of(job)))[1]  # type: ignore[index]
    if not isinstance(frame, Frame) or (needs_forms(job) and not frame.has_forms):
        return 0
    for begin in range(0, len(places), AT_A_TIME):
        _some(job, frame, places[begin : begin + AT_A_TIME], block, begin)
    return int((block.state != 0).sum())


def needs_forms(job: Job) -> bool:
    return bool({"l1", "criticality"} & set(job.names))


def _some(job: Job, frame: object, places: np.ndarray, block: Block, begin: int) -> None:
    from pfaff.studies.crossings import first_crossings
    from pfaff.studies.forms import first_coefficients
    from pfaff.studies.frames import Frame

    assert isinstance(frame, Frame)
    parameters = parameters_of(job, places)
    with np.errstate(all="ignore"):
        at = first_crossings(frame, parameters)
        good = at.found & valid(job, places)
        if ALONE & set(job.names):
            good &= at.stable & at.steady & (at.speed * frame.sign > 0)
        values = {
            "hopf": at.load,
            "flutter": at.load,
            "omega": at.value.imag,
            "flutter_frequency": at.value.imag,
            "crossing_speed": at.speed,
        }
        if needs_forms(job):
            values["l1"], sure = first_coefficients(frame, parameters, at)
            values["criticality"] = np.sign(values["l1"])
            good &= sure
    for name in job.names:
        good &= np.isfinite(values[name])
    here = begin + np.flatnonzero(good)
    for name in job.names:
        block.values[name][here] = values[name][good]
    block.state[here] = DONE
    absent = at.absent & valid(job, places) & ~good & (at.stable & at.steady if ALONE & set(job.names) else True)
    for k in begin + np.flatnonzero(absent):
        block.state[k] = NONE
        block.reasons[int(k)] = f"no Hopf point up to {frame.load} = {job.asked.to:g}"


def parameters_of(job: Job, places: np.ndarray) -> np.ndarray:
    """One column of parameters for each place; the load is whatever is searched."""
    case = job.case
    names = case.system.parameter_names
    speed = job.asked.load is not None and job.asked.load not in names
    load = job.asked.load if speed else case.load_name(job.asked.load)
    swept = job.points.at(places)
    columns = [
        swept[name] if name in swept else np.full(len(places), _number(case, name, load)) for name in names
    ]
    return np.ascontiguousarray([*columns, *([np.zeros(len(places))] if speed else [])], dtype=float)


def _number(case: object, name: str, load: str) -> float:
    value = case.values[name]  # type: ignore[attr-defined]
    return 0.0 if value is None and name == load else case._number(name)  # type: ignore[attr-defined]


def valid(job: Job, places: np.ndarray) -> np.ndarray:
    """Where values keep what their symbols promise; elsewhere the case itself says what is wrong."""
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
