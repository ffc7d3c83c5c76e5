"""A study: points, measures and what is known of them so far. Made by ``case.sweep`` or opened by
``pfaff.open_sweep``."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from pfaff.errors import ParameterError, PfaffError
from pfaff.statement.told import shown_in_notebooks
from pfaff.statement.values import instance, number_within, one_of, path_from, truth, whole_number
from pfaff.studies import recipe as recipes
from pfaff.studies.block import STATES, Block, Job, summary
from pfaff.studies.executors import Processes, Task, serial
from pfaff.studies.points import Chunks, Points, chunks_of, points_from
from pfaff.studies.quantities import Asked, measures_from, restored_measures
from pfaff.studies.stores import Memory, NetCDF, Store, recipe_of_netcdf
from pfaff.studies.zarr_store import ZarrStore, recipe_of_zarr

if TYPE_CHECKING:
    import xarray
    from matplotlib.figure import Figure

    from pfaff.case import Bound
    from pfaff.studies.uncertainty import Indices, Probability

BATCH, SINGLE = 65536, 100  # points of a chunk: in batches a second or less, one by one some seconds
MOST_WORKERS = 1024
STORED = (".nc", ".cdf", ".netcdf")
FOLDERS = (".zarr", "")
AGAIN = {
    "failed": ("failed",),
    "timed out": ("timed out",),
    "crashed": ("crashed",),
    "all": ("failed", "timed out", "crashed"),
}
LISTED = 3  # reasons in a status
VERSIONED = ("pfaff",)  # of a recipe, what may differ if that is accepted


@dataclass(frozen=True)
class Running:
    """What a progress function is told."""

    done: int
    total: int
    rate: float
    left: float

    @property
    def status(self) -> str:
        return f"{self.done} of {self.total} points, {self.rate:.3g} points/s, {_lasting(self.left)} left"


@shown_in_notebooks
@dataclass(frozen=True, eq=False)
class Study:
    """Numbers over parameters. ``run`` computes what is missing; Ctrl-C loses no finished point.

    A crash loses at most the batches in hand and the last half minute of single points.
    """

    points: Points
    names: tuple[str, ...]
    chunks: Chunks
    store: Store = field(repr=False)
    recipe: Mapping[str, Any] = field(repr=False)
    job: Job | None = field(repr=False)
    _batched: list[int] = field(default_factory=list, init=False, repr=False)

    def __repr__(self) -> str:
        return f"<Study of {', '.join(self.names)} over {', '.join(self.points.names)}: {self.status}>"

    def run(
        self,
        workers: int | None = None,
        *,
        client: Any = None,
        part: str | tuple[int, int] | None = None,
        timeout: float | None = None,
        progress: Callable[[Running], Any] | None = None,
    ) -> Study:
        """Compute what is missing, and return this study.

        workers
            Processes, each on one core; none (the default) is this process.
        client
            A client of Dask's, instead: ``run(client=distributed.Client(…))``.
        part
            The i-th of n shares, ``"3/100"``, for job arrays without any scheduler.
        timeout
            Seconds for a point, in a process that is replaced: a point that takes longer is recorded as such. Not
            with a client.
        progress
            Is told a ``Running`` after every chunk; on a terminal a bar is shown otherwise.
        """
        finished = self.store.finished()
        todo = [k for k in _share(len(self.chunks), part) if k not in finished]
        return self._run(todo, {}, workers, client, timeout, progress)

    def retry(self, which: str = "failed", workers: int | None = None, **options: Any) -> Study:
        """Compute points again that ``"failed"``, ``"timed out"``, ``"crashed"``, or ``"all"`` of these; others
        stay."""
        words = AGAIN[one_of(AGAIN, which, "points are retried that are failed, timed out or crashed, not {}")]
        wanted = [STATES[word] for word in words]
        known = {}
        for k in sorted(self.store.finished()):
            block = self.store.read(k)
            again = np.isin(block.state, wanted)
            if again.any():
                known[k] = {int(j): block.outcome(int(j)) for j in np.flatnonzero(~again)}
        return self._run(list(known), known, workers, options.pop("client", None), **_only(options))

    def _run(
        self,
        todo: list[int],
        known: dict[int, Any],
        workers: int | None,
        client: Any,
        timeout: float | None = None,
        progress: Callable[[Running], Any] | None = None,
    ) -> Study:
        if recipes.LOADING or not todo:
            return self
        if self.job is None:
            raise ParameterError("this study does not know its case: open it with open_sweep(store, case=…)")
        if timeout is not None:
            timeout = number_within("timeout", timeout, lambda x: x > 0, "give a positive time in seconds")
        count = whole_number("workers", workers or 0, 0, MOST_WORKERS, "start fewer")
        if client is not None and (timeout is not None or count):
            given = "timeout" if timeout is not None else "workers"
            raise ParameterError(
                f"{given}= is for processes that pfaff starts: leave it out with client=. A point that hangs on a "
                "cluster is ended by the limits of its scheduler"
            )
        task = Task(self.job, self.chunks, self.store, todo, known)
        try:
            with _told(sum(map(self.chunks.size, todo)), progress, self._batched) as tell:
                if client is not None:
                    from pfaff.studies.cluster import on_cluster

                    on_cluster(task, client, tell)
                elif count or timeout is not None:
                    Processes(task, max(count, 1), timeout, tell).run()
                else:
                    serial(task, tell)
        except KeyboardInterrupt:
            aside = sum(len(self.store.kept(k)) for k in todo)
            more = f" and {aside} of the chunks in hand" if aside else ""
            print(f"interrupted: {self.status}{more}; run again to go on", flush=True)
        finally:
            self.store.close()
        return self

    @property
    def batched(self) -> int:
        """How many of the points that this object has computed were computed in batches."""
        return sum(self._batched)

    @property
    def dataset(self) -> xarray.Dataset:
        """An ``xarray.Dataset`` over the axes, with a variable for each measure and ``state``."""
        return self.store.dataset()

    @property
    def counts(self) -> dict[str, int]:
        """How many points are in which state."""
        return summary(self.store.counts())

    @property
    def status(self) -> str:
        counts = self.counts
        total = self.points.size
        text = f"{total - counts.get('pending', 0)} of {total} points"
        if counts.get("none"):
            text += f", {counts['none']} without an answer to all that was asked"
        bad = {word: counts[word] for word in ("failed", "timed out", "crashed") if counts.get(word)}
        if not bad:
            return text
        reasons = list(dict.fromkeys(each["reason"] for each in self.failures))
        more = f" and {len(reasons) - LISTED} more reasons" if len(reasons) > LISTED else ""
        said = "; ".join(reasons[:LISTED])
        return f"{text}, {', '.join(f'{n} {word}' for word, n in bad.items())}: {said}{more}"

    @property
    def complete(self) -> bool:
        return not self.counts.get("pending")

    @property
    def failures(self) -> list[dict[str, Any]]:
        """Points that failed, timed out or crashed, each with its ``point``, ``state`` and ``reason``."""
        found = []
        words = {number: word for word, number in STATES.items()}
        for place, reason in self.store.reasons().items():
            k = self._chunk_of(place)
            state = words[int(self.store.read(k).state[place - self.chunks.places(k)[0]])]
            if state not in ("done", "none"):
                found.append({"point": self.points.point(place), "state": state, "reason": reason})
        return found

    def _chunk_of(self, place: int) -> int:
        index = np.unravel_index(place, self.chunks.shape)
        which = tuple(int(i) // c for i, c in zip(index, self.chunks.chunk, strict=True))
        return int(np.ravel_multi_index(which, self.chunks.counts))

    def save(self, path: str | Path) -> Path:
        """What is known so far as one netCDF file."""
        path = path_from("path", path)
        kept = Memory(self.points, self.chunks, self.names, self.recipe)
        for k in self.store.finished():
            kept.write(k, self.store.read(k))
        kept.written(path)
        return path

    def quantiles(self, name: str, levels: Any = (0.05, 0.5, 0.95)) -> dict[float, float]:
        """Quantiles of a measure over a sample."""
        from pfaff.studies.uncertainty import quantiles

        return quantiles(self, name, levels)

    def probability(self, name: str, below: float) -> Probability:
        """The probability that a measure is below a value, with its sampling error."""
        from pfaff.studies.uncertainty import probability

        return probability(self, name, below)

    def indices(self, name: str) -> Indices:
        """Sobol indices of first order and in total, of a sample made with ``pfaff.sobol(…, indices=True)``."""
        from pfaff.studies.uncertainty import indices

        return indices(self, name)

    def plot(self, name: str | None = None, **at: float) -> Figure:
        """A curve over one axis, a map with contours over two, slices of more at the values ``at`` of the others."""
        from pfaff.draw.studies import draw_study

        return draw_study(self.dataset, self.points, self._named(name), at)

    def _named(self, name: str | None) -> str:
        return self.names[0] if name is None else one_of(self.names, name, "the study has no measure")


def sweep(
    case: Bound,
    axes: Any,
    measure: Any,
    store: str | Path | None = None,
    load: str | None = None,
    to: float | None = None,
    chunk: int | None = None,
    source: str | None = None,
    accept: bool = False,
    fixed: Mapping[str, float] | None = None,
) -> Study:
    """A study of a case; one that has been begun in this store is taken up where it was left."""
    points, fixed = points_from(axes), fixed or {}
    _check_axes(case, points, load, fixed)
    first = case.at(**{name: value for name, value in points.point(0).items() if name in case.system.parameter_names})
    measures = measures_from(measure, first)
    job = Job(case, points, measures, Asked(load, to, dict(fixed)))
    size = whole_number("chunk", chunk, 1, 2**31, "take smaller ones") if chunk is not None else _usual(job)
    chunks = chunks_of(points.shape, size)
    path = None if store is None else path_from("store", store)
    recipe = _recipe(job, chunks, source if path is not None else None, path is not None)
    return _placed(job, chunks, path, recipe, truth("accept", accept))


def _usual(job: Job) -> int:
    from pfaff.studies.many_points import batchable

    return BATCH if batchable(job) else SINGLE


def _placed(job: Job, chunks: Chunks, path: Path | None, recipe: dict[str, Any], accept: bool) -> Study:
    points, names = job.points, job.names
    kept: Store
    if path is None:
        kept = Memory(points, chunks, names, recipe)
    else:
        if path.suffix not in (*STORED, *FOLDERS):
            raise ParameterError(f"store={str(path)!r}: give a name that ends in .zarr, for a folder, or in .nc")
        if path.exists():
            stored = _stored(path)[1]
            chunks = Chunks(points.shape, tuple(stored["chunk"])) if stored["points"] == recipe["points"] else chunks
            _check_same(path, stored, {**recipe, "chunk": stored["chunk"]}, accept)
        if path.suffix in STORED:
            kept = NetCDF(path, points, chunks, names, recipe)
        else:
            folder = ZarrStore(path, points, chunks, names)
            if not (path / "zarr.json").exists():
                folder.create(recipe)
            kept = folder
    return Study(points, names, chunks, kept, recipe, job)


def _check_axes(case: Bound, points: Points, load: str | None, fixed: Mapping[str, float]) -> None:
    known = [*case.system.parameter_names, *case.system.moving_names]
    for name in points.names:
        one_of(known, name, f"{case.system.name} has no parameter or coordinate")
        if name in fixed:
            raise ParameterError(f"{name} is an axis and fixed as well: leave one out")
        if name == load:
            raise ParameterError(f"{name} is what is searched, and an axis as well: leave one out")
    for name in fixed:
        one_of(case.system.moving_names, name, f"{case.system.name} has no coordinate or state")


def _recipe(job: Job, chunks: Chunks, source: str | None, kept: bool) -> dict[str, Any]:
    about = recipes.described(job.case, source) if kept else {"system": {"name": job.case.system.name}}
    if kept:
        for measure in job.measures:
            if measure.about["kind"] == "function" and "file" not in measure.about:
                raise ParameterError(
                    f"what measures {', '.join(measure.names)} is not a function at the top of a file, and could not "
                    "be found again: write it into one, or keep the study in memory, without store="
                )
    points = {"dims": list(job.points.dims), "names": list(job.points.names), "about": dict(job.points.about)}
    recipe = {
        **about,
        "points": {**points, "shape": list(job.points.shape), "sha256": job.points.digest},
        "measures": [{"names": list(each.names), **each.about} for each in job.measures],
        "asked": {"load": job.asked.load, "to": job.asked.to, "fixed": dict(job.asked.fixed)},
        "chunk": list(chunks.chunk),
    }
    return json.loads(json.dumps(recipe))


def _check_same(path: Path, stored: Mapping[str, Any], given: Mapping[str, Any], accept: bool) -> None:
    ours = VERSIONED if accept else ()
    before, now = ({key: value for key, value in each.items() if key not in ours} for each in (stored, given))
    apart = recipes.differences(before, now)
    if apart:
        remedy = (
            "" if any(not each.startswith(VERSIONED) for each in apart) else ", or go on all the same with accept=True"
        )
        raise ParameterError(f"{path} holds another study: {'; '.join(apart[:4])}. Give another store{remedy}")


def _stored(path: Path) -> tuple[Points, dict[str, Any]]:
    if path.suffix in STORED:
        return recipe_of_netcdf(path)
    return recipe_of_zarr(path)


def open_sweep(path: str | Path, case: Bound | None = None, accept: bool = False, known: bool = True) -> Study:
    """A study that was begun in a store: its numbers so far, and the way to go on,
    ``pfaff.open_sweep("map.zarr").run()``.

    The case is made again as the store says, or is given where the store cannot know how; ``known=False`` does
    without, for a
    look at the numbers.
    """
    path = path_from("path", path)
    if not path.exists():
        raise ParameterError(f"no study in {path}: there is no such file or folder")
    points, recipe = _stored(path)
    chunks = Chunks(points.shape, tuple(recipe["chunk"]))
    measures = restored_measures(recipe["measures"])
    names = tuple(name for each in measures for name in each.names)
    kept: Store = (
        NetCDF(path, points, chunks, names, recipe) if path.suffix in STORED else ZarrStore(path, points, chunks, names)
    )
    study = Study(points, names, chunks, kept, recipe, None)
    case = _case_of(path, recipe, case, accept) if known else None
    if case is None:
        return study
    return replace(study, job=Job(case, points, measures, Asked(**recipe["asked"])))


def _case_of(path: Path, recipe: Mapping[str, Any], case: Bound | None, accept: bool) -> Bound | None:
    from pfaff.case import Bound

    if case is None:
        if not {"atlas", "file"} & set(recipe["system"]):
            return None
        case = recipes.made(recipe)
    instance("case", case, Bound, "give the system with its values, system.at(…)")
    now = recipes.described(case)
    now["system"] = {**recipe["system"], "name": case.system.name, "fingerprint": now["system"]["fingerprint"]}
    _check_same(path, {key: recipe[key] for key in now}, now, accept)
    return case


def _share(count: int, part: Any) -> range:
    """The chunks of the i-th of n shares."""
    if part is None:
        return range(count)
    try:
        i, n = (int(each) for each in (part.split("/") if isinstance(part, str) else part))
    except (ValueError, TypeError, AttributeError):
        raise ParameterError(f"part={part!r}: write the i-th of n shares, part='3/100'") from None
    if not 1 <= i <= n:
        raise ParameterError(f"part={part!r}: shares are counted from 1 to {n}")
    return range(i - 1, count, n)


def _only(options: dict[str, Any]) -> dict[str, Any]:
    for name in options:
        one_of(("timeout", "progress"), name, "no option")
    return options


class _told:
    """Tells of progress after every chunk: a function, or a bar on a terminal."""

    def __init__(self, total: int, progress: Callable[[Running], Any] | None, batched: list[int]) -> None:
        from pfaff.progress import counted

        self.total, self.done, self.begun, self._batched = total, 0, time.monotonic(), batched
        self._progress, self._bar = progress, None if progress else counted("points", total)

    def __enter__(self) -> Callable[[int, Block], None]:
        self._show = self._bar.__enter__() if self._bar is not None else None
        return self._tell

    def _tell(self, k: int, block: Block) -> None:
        self.done += len(block.state)
        self._batched.append(block.batched)
        spent = max(time.monotonic() - self.begun, 1e-9)
        rate = self.done / spent
        running = Running(self.done, self.total, rate, (self.total - self.done) / rate)
        if self._progress is not None:
            self._progress(running)
        elif self._show is not None:
            self._show(self.done, running.status)

    def __exit__(self, *problem: Any) -> None:
        if self._bar is not None:
            self._bar.__exit__(*problem)


def _lasting(seconds: float) -> str:
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 6000 else f"{seconds / 3600:.1f} h"


def cores() -> int:
    """Those that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


__all__ = ["PfaffError", "Running", "Study", "cores", "open_sweep", "sweep"]
