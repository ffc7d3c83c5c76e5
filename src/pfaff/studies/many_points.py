"""Many points at once: measures whose numbers are the same as one by one, where they are known to be; the rest is
left."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pfaff.studies.block import DONE, NONE, Block, Job, Outcome
from pfaff.studies.quantities import HOPF
from pfaff.threads import Once

if TYPE_CHECKING:
    from pfaff.studies.frames import Frame

AT_A_TIME = 1024  # points whose matrices stay in the cache
FIRST = ("flutter", "flutter_frequency")  # of the first crossing, if all is stable before it
KNOWN = {*HOPF, *FIRST}  # divergence may begin where two growing exponentials part: the scalar search knows
FRAMES: Once[int, Any] = Once(most=8)


def batchable(job: Job) -> bool:
    """Whether all that is measured is known in batches, over parameters alone, of equations that are expressions."""
    if getattr(job.case.system, "rods", ()):
        return False
    known = all(set(each.names) <= KNOWN and each.about["kind"] in ("hopf", "critical") for each in job.measures)
    return known and all(name in job.case.system.parameter_names for name in job.points.names)


def batched(job: Job, places: np.ndarray, block: Block) -> int:
    """Fill what batches know of these places; how many points that is."""
    if not batchable(job):
        return 0
    from pfaff.studies.frames import frame_of

    frame = FRAMES.get(id(job), lambda: (job, frame_of(job)))[1]  # the job is kept, so that no other has its number
    if frame is None or (needs_forms(job) and not frame.has_forms):
        return 0
    for begin in range(0, len(places), AT_A_TIME):
        some = places[begin : begin + AT_A_TIME]
        with np.errstate(all="ignore"):
            values, good, absent = _answers(job, frame, parameters_of(job, some))
        good, absent = good & valid(job, some), absent & valid(job, some)
        here = begin + np.flatnonzero(good)
        for name in job.names:
            block.values[name][here] = values[name][good]
        block.state[here] = DONE
        for k in begin + np.flatnonzero(absent & ~good):
            block.put(
                int(k), Outcome({}, NONE, f"no crossing up to {frame.load} = {job.asked.to:g}, by its test function")
            )
    return int((block.state != 0).sum())


def needs_forms(job: Job) -> bool:
    return bool({"l1", "criticality"} & set(job.names))


def _answers(job: Job, frame: Frame, parameters: np.ndarray) -> tuple[dict[str, np.ndarray], np.ndarray, np.ndarray]:
    """Numbers by name, where all of them are known, and where it is known that there are none."""
    from pfaff.studies.first_crossings import first_crossings
    from pfaff.studies.forms import first_coefficients

    wanted = set(job.names)
    at = first_crossings(frame, parameters, before=bool(wanted & {*FIRST}))
    values = dict.fromkeys(("hopf", "flutter"), at.load) | {"crossing_speed": at.speed}
    values |= dict.fromkeys(("omega", "flutter_frequency"), at.value.imag)
    first = at.stable & at.steady
    good = at.found & (first & (at.speed * frame.sign > 0) if wanted & {*FIRST} else True)
    absent = at.absent & (first if wanted & {*FIRST} else True)
    if needs_forms(job):
        values["l1"], sure = first_coefficients(frame, parameters, at)
        values["criticality"] = np.sign(values["l1"])
        good &= sure
    for name in job.names:
        good &= np.isfinite(values[name])
    return values, good, absent


def parameters_of(job: Job, places: np.ndarray) -> np.ndarray:
    """One column of parameters for each place; the load is whatever is searched."""
    case = job.case
    names = case.system.parameter_names
    speed = job.asked.load is not None and job.asked.load not in names
    load = "" if speed else case.load_name(job.asked.load)
    swept = job.points.at(places)
    stated = case.unchecked(**{load: 0.0}) if load and case.values[load] is None else case
    columns = [swept.get(name, np.full(len(places), value)) for name, value in zip(names, stated.numbers, strict=True)]
    return np.ascontiguousarray([*columns, *([np.zeros(len(places))] if speed else [])], dtype=float)


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
