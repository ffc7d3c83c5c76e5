"""Flight recorder: every step of many runs, written down before and after a change of what takes the steps.

    python tests/flight_recorder.py record before.json.gz
    …
    python tests/flight_recorder.py record after.json.gz
    python tests/flight_recorder.py compare before.json.gz after.json.gz

The runs are those of ``recorded_runs``. Of every curve that the engine follows there is the problem, the steps (length,
and turn of the tangent), and what was decided: which steps were halved and why, what kinds of special points there are,
how it ends; where a compiled loop takes a stretch, the length and turn of its steps stay out. Of every result there are
all points and special points. Floats are hexadecimal, so that nothing is lost.

Decisions are what must not change: how many points there are and where, which special points between which of them,
which steps are halved, what ends a branch, on how many intervals an orbit is solved. ``compare`` fails where they do.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
import os
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager, suppress
from functools import partial, partialmethod
from multiprocessing import get_context
from pathlib import Path
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

from recorded_runs import SYSTEMS
from records_compared import compare

LONGEST = 20.0  # seconds of the processor after which a run is left out


class LeftOutError(BaseException):
    """A run takes too long."""


# Recording


def written(numbers: Any) -> list[str]:
    """Numbers in hexadecimal; complex ones as two."""
    array = np.atleast_1d(np.asarray(numbers))
    flat = array.astype(complex).ravel().view(float) if np.iscomplexobj(array) else array.astype(float).ravel()
    return [value.hex() for value in flat.tolist()]


def bits(*arrays: Any) -> str:
    """A digest of arrays that are too long to be written."""
    found = hashlib.sha1(usedforsecurity=False)
    for array in arrays:
        found.update(np.ascontiguousarray(array).tobytes())
    return found.hexdigest()[:16]


NOW: list[dict[str, Any]] = []  # the courses that are being followed, the innermost last
WATCHED: dict[type, dict[str, Any]] = {}  # problems whose methods are watched, and these methods if they are their own


def followed(courses: list[Any], original: Callable[..., Iterator[Any]], engine: Any, at: Any, *rest: Any) -> Any:
    """``Engine.follow``, watched."""
    from pfaff.continuation.endings import Ending
    from pfaff.continuation.problem import Event
    from pfaff.continuation.walked_points import Walked

    course: dict[str, Any] = {"problem": type(engine.problem).__name__, "points": 1}
    course |= {"steps": [], "decided": [], "walked": []}
    courses.append(course)
    watch(type(engine.problem))
    items = original(engine, at, *rest)
    while True:
        NOW.append(course)
        try:
            item = next(items)
        except StopIteration:
            return
        finally:
            NOW.pop()
            step = course.pop("step", None)
        if isinstance(item, Ending):
            course["decided"].append([course["points"], "ends", str(item)])
        elif isinstance(item, Event):
            course["decided"].append([course["points"], "passes", item.kind])
        elif isinstance(item, Walked):
            course["walked"].append([course["points"], course["points"] + len(item)])
            course["points"] += len(item)
        else:
            if step:
                course["steps"].append([course["points"], *step])
            course["points"] += 1
        yield item


def watch(problem: type) -> None:
    """Watch the steps of problems that are written in Python."""
    for which, length_at in (("ahead", 1), ("events", 3)):
        if which not in WATCHED.get(problem, {}):
            original = vars(problem).get(which)
            with suppress(TypeError):  # where it is compiled
                setattr(problem, which, partialmethod(tried, getattr(problem, which), length_at))
                WATCHED.setdefault(problem, {})[which] = original


def unwatch() -> None:
    for problem, methods in WATCHED.items():
        for which, original in methods.items():
            if original is None:
                delattr(problem, which)
            else:
                setattr(problem, which, original)
    WATCHED.clear()


def tried(this: Any, original: Callable[..., Any], length_at: int, *given: Any) -> Any:
    """A step, or the search for what happens in it; of methods that call those of their base, the outer one counts."""
    from pfaff.continuation.endings import Refused

    course = NOW[-1] if NOW else {"within": True}
    if course.get("within"):
        return original(this, *given)
    course["within"] = True
    try:
        found = original(this, *given)
    except Refused as why:
        course["decided"].append([course["points"], "halves", float(given[length_at]).hex(), str(why)])
        raise
    finally:
        del course["within"]
    if length_at == 1:
        course["step"] = [float(given[1]).hex(), float(found[1]).hex()]
    return found


@contextmanager
def watching() -> Iterator[list[dict[str, Any]]]:
    """The courses of all curves that the engine follows meanwhile; none if it is compiled."""
    from pfaff.continuation.engine import Engine

    courses: list[dict[str, Any]] = []
    original = Engine.follow
    try:
        Engine.follow = lambda *given: followed(courses, original, *given)  # type: ignore[method-assign]
    except TypeError:
        yield courses
        return
    try:
        yield courses
    finally:
        Engine.follow = original  # type: ignore[method-assign]
        unwatch()


# Results


def told(result: Any) -> dict[str, Any]:
    """A result: its points, its special points, and how it ended."""
    if hasattr(result, "ended") and hasattr(result, "special"):
        points = [point_of(each) for each in result]
        places = getattr(result, "places", None) or [None] * len(result.special)
        special = [
            {"kind": each.kind, "place": place, **point_of(each), "form": form_of(each)}
            for each, place in zip(result.special, places, strict=True)
        ]
        sizes = written(result[0].spot.units) if hasattr(result[0], "spot") else []
        what = type(result).__name__
        return {"what": what, "sizes": sizes, "points": points, "special": special, "ended": str(result.ended)}
    alone = [result] if not isinstance(result, Sequence) else result
    points = [point_of(each) for each in alone]
    return {"what": type(result).__name__, "sizes": [], "points": points, "special": [], "ended": result.status}


def point_of(point: Any) -> dict[str, Any]:
    """A point: the numbers that it is compared by, a digest of all others, and what is counted of it."""
    if hasattr(point, "spot"):
        return {"at": written(point.spot.z), "bits": bits(point.spot.tangent, point.spot.units)}
    if hasattr(point, "special"):  # on a curve of orbits
        found = point_of(point.special)
        counted = found["counted"][:1]  # a multiplier on the unit circle is on either side of it by rounding
        return {**found, "at": written(list(point.values.values())) + found["at"], "counted": counted}
    if hasattr(point, "point") and hasattr(point.point, "cycle"):
        orbit, cycle = point.point, point.point.cycle
        return {
            "at": written([cycle.value, cycle.period]),
            "begins": written(cycle.x[0]),  # not compared: any phase will do
            "bits": bits(cycle.x, cycle.K, cycle.scalars, cycle.mesh.at, orbit.multipliers),
            "counted": [cycle.intervals, orbit.unstable],
        }  # fmt: skip
    if hasattr(point, "t"):
        names = point.states if hasattr(point, "states") else ()
        return {"at": written([point.t[-1], *(point[name][-1] for name in names)])}
    if hasattr(point, "flutter"):
        return {"at": written([getattr(point, name).value for name in ("flutter", "divergence", "buckling")])}
    known = [getattr(point, name, None) for name in ("value", "omega", "period", "energy", "limit", "undamped")]
    state = [float(each) for each in getattr(point, "state", {}).values()]
    return {"at": written([each for each in known if isinstance(each, float)] + state)}


def form_of(special: Any) -> dict[str, list[str] | str]:
    """Numbers of its normal form, by name; or why there is none."""
    found: dict[str, list[str] | str] = {}
    single = () if hasattr(special, "coefficients") else ("omega", "coefficient")  # else zero, or infinite
    for name in (*single, "coefficients", "angle", "period"):
        try:
            value = getattr(special, name, None)
        except (ArithmeticError, ValueError, RuntimeError) as why:
            found[name] = f"{type(why).__name__}: {why}"
            continue
        if isinstance(value, Mapping):
            found |= {each: written(number) for each, number in value.items()}
        elif value is not None:
            found[name] = written(value)
    return found


# Runs


class Recorder:
    """Runs by name, and what was recorded of each; a run that fails or takes too long gives None."""

    def __init__(self) -> None:
        self.runs: dict[str, dict[str, Any]] = {}

    def __call__(self, name: str, run: Callable[[], Any]) -> Any:
        started = time.process_time()
        entry: dict[str, Any] = {"courses": []}
        result = None
        with watching() as courses:
            try:
                with limited(LONGEST):
                    result = run()
                    entry["result"] = told(result)
            except LeftOutError:
                entry = {"courses": [], "left out": f"takes more than {LONGEST:g} s"}
                result, courses = None, []
            except Exception as error:
                entry["error"] = f"{type(error).__name__}: {error}"
        entry["courses"] = [{name: kept for name, kept in each.items() if name != "within"} for each in courses]
        self.runs[name] = {**entry, "seconds": time.process_time() - started}
        return result


@contextmanager
def limited(seconds: float) -> Iterator[None]:
    """Stop what takes more seconds of the processor."""

    def stop(*_: Any) -> None:
        raise LeftOutError

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def recorded(name: str, interpreted: bool = False) -> dict[str, dict[str, Any]]:
    """The runs of one system."""
    if interpreted:
        from pfaff.bifurcation.equilibria.regular import Regular

        Regular.kernel = None  # type: ignore[method-assign, assignment]
    recorder = Recorder()
    SYSTEMS[name](recorder)
    return {f"{name}: {run}": entry for run, entry in recorder.runs.items()}


def record(path: Path, only: str = "", jobs: int = 2, interpreted: bool = False) -> dict[str, Any]:
    """Record all runs of the systems whose name contains ``only``, in a file."""
    runs: dict[str, Any] = {}
    names = [name for name in SYSTEMS if only in name]
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        for found in pool.map(partial(recorded, interpreted=interpreted), names):
            runs |= found
    text = json.dumps(runs, indent=0)
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "wt", encoding="utf-8") as file:
        file.write(text)
    return runs


# On the shell


def loaded(path: Path) -> dict[str, Any]:
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rt", encoding="utf-8") as file:
        found: dict[str, Any] = json.load(file)
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    recording = commands.add_parser("record", help="record all runs in a file (.json or .json.gz)")
    recording.add_argument("file", type=Path)
    recording.add_argument("--jobs", type=int, default=2, help="processes (2)")
    recording.add_argument("--only", default="", help="only systems whose name contains this")
    recording.add_argument("--interpreted", action="store_true", help="equilibria and curves without compiled loops")
    comparing = commands.add_parser("compare", help="compare two records; fails where decisions differ")
    comparing.add_argument("before", type=Path)
    comparing.add_argument("after", type=Path)
    comparing.add_argument("--all", action="store_true", help="list identical runs too")
    asked = parser.parse_args(arguments)
    if asked.command == "record":
        runs = record(asked.file, asked.only, asked.jobs, asked.interpreted)
        slowest = sorted(runs, key=lambda name: -runs[name]["seconds"])[:5]
        print(f"{len(runs)} runs, {sum(run['seconds'] for run in runs.values()):.0f} s of the processor; the slowest:")
        print("\n".join(f"  {runs[name]['seconds']:5.1f} s  {name}" for name in slowest))
        return 0
    compared = compare(loaded(asked.before), loaded(asked.after))
    for name, (verdict, why) in compared.items():
        if asked.all or verdict != "identical":
            print(f"{verdict:9s}  {name}{': ' if why else ''}{why}")
    verdicts = Counter(verdict for verdict, _ in compared.values())
    print(", ".join(f"{many} {verdict}" for verdict, many in verdicts.items()))
    return int("differs" in verdicts or "moved" in verdicts)


if __name__ == "__main__":
    sys.exit(main())
