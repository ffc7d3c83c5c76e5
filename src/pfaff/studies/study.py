"""A study: points, measures and the results so far."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from operator import index
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from pfaff import doors
from pfaff.archive.files import why
from pfaff.archive.stored import named_as_netcdf
from pfaff.errors import ParameterError
from pfaff.statement.called import unfolded
from pfaff.statement.told import shown_in_notebooks
from pfaff.statement.values import number_within, one_of, path_from, shown, spelt, told, whole_number
from pfaff.studies import recipe as recipes
from pfaff.studies.block import STATES, Job, summary
from pfaff.studies.executors import Processes, Task, serial
from pfaff.studies.named_files import LOADING, named
from pfaff.studies.points import Chunks, Points
from pfaff.studies.stores import Memory, Store
from pfaff.studies.telling import Running, Telling

if TYPE_CHECKING:
    import xarray
    from matplotlib.figure import Figure

    from pfaff.studies.uncertainty import Indices, Probability

MOST_WORKERS = 1024
AGAIN = {
    "failed": ("failed",),
    "timed out": ("timed out",),
    "crashed": ("crashed",),
    "all": ("failed", "timed out", "crashed"),
}
LISTED = 3  # reasons in a status


@shown_in_notebooks
@spelt
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
    going: Callable[[], Job] | None = field(default=None, repr=False)  # makes the job of a study that was read
    _batched: list[int] = field(default_factory=list, init=False, repr=False)
    _interrupts: list[str] = field(default_factory=list, init=False, repr=False)

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
        if LOADING:
            return self
        if timeout is not None:
            timeout = number_within("timeout", timeout, lambda x: x > 0, "give a positive time in seconds")
        count = whole_number("workers", 0 if workers is None else workers, 0, MOST_WORKERS, "start fewer")
        told("progress", progress, "print", None)
        if client is not None and (timeout is not None or count):
            given = "timeout" if timeout is not None else "workers"
            raise ParameterError(
                f"{given}= is for processes that pfaff starts: leave it out with client=. A point that hangs on a "
                "cluster is ended by the limits of its scheduler"
            )
        self._interrupts.clear()
        if not todo:
            return self
        task = Task(self._known_job(), self.chunks, self.store, todo, known)
        try:
            with Telling(sum(map(self.chunks.size, todo)), progress, self._batched) as tell:
                if client is not None:
                    doors.cluster.on_cluster(task, client, tell)
                elif count or timeout is not None:
                    Processes(task, max(count, 1), timeout, tell).run()
                else:
                    serial(task, tell)
        except KeyboardInterrupt:
            self._interrupts.append(self.status)
            print(f"interrupted: {self.status}; run again to go on", file=sys.stderr, flush=True)
        finally:
            self.store.close()
        return self

    def _known_job(self) -> Job:
        """What is to be computed, if all of it is known here."""
        job = self.going() if self.job is None and self.going is not None else self.job
        assert job is not None
        for each in job.measures:
            if not each.known:
                where = f"{each.about['called']} of {each.about['file']}" if "file" in each.about else "a function"
                trusted = ", or let that file run with open_sweep(store, trust=True), if you trust it"
                raise ParameterError(
                    f"{', '.join(each.names)} is measured by {where}, which is not known here: ask for the study as it "
                    f"was begun, case.sweep(axes, measure, store){trusted if 'file' in each.about else ''}"
                )
        return job

    @property
    def runs(self) -> tuple[str, ...]:
        """What ``open_sweep(store, trust=True)`` would run to go on, each as ``file.py:name``; nothing for systems of
        the atlas."""
        return named(self.recipe)

    @property
    def interrupted(self) -> bool:
        """Whether Ctrl-C ended the last run of this object."""
        return bool(self._interrupts)

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
        aside = self.store.aside() if counts.get("pending") else 0
        text += f", and {aside} more in chunks that are not complete" if aside else ""
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
        """Write the results so far as one netCDF file."""
        path = named_as_netcdf(path_from("path", path))
        kept = Memory(self.points, self.chunks, self.names, self._whole_recipe())
        finished = self.store.finished()
        for k in range(len(self.chunks)):
            if k in finished:
                kept.write(k, self.store.read(k))
            elif aside := self.store.kept(k):
                kept.keep(k, aside)
        try:
            kept.written(path)
        except OSError as problem:
            raise ParameterError(f"cannot write {path}: {why(problem)}") from problem
        return path

    def _whole_recipe(self) -> Mapping[str, Any]:
        """The recipe with the statement of the system, which a study in memory does without until it is written."""
        if "fingerprint" in self.recipe["system"]:
            return self.recipe
        assert self.job is not None
        return {**self.recipe, **recipes.described(self.job.case)}

    def quantiles(self, name: str, levels: Any = (0.05, 0.5, 0.95)) -> dict[float, float]:
        """Quantiles of a measure over a sample."""
        return doors.uncertainty.quantiles(self, name, levels)

    def probability(self, name: str, below: float) -> Probability:
        """The probability that a measure is below a value, with its sampling error."""
        return doors.uncertainty.probability(self, name, below)

    def indices(self, name: str) -> Indices:
        """Sobol indices of first order and in total, of a sample made with ``pfaff.sobol(…, indices=True)``."""
        return doors.uncertainty.indices(self, name)

    def plot(self, /, name: str | None = None, **at: Any) -> Figure:
        """A curve over one axis, a map with contours over two, slices of more at the values ``at`` of the others."""
        return doors.draw.draw_study(self.dataset, self.points, self._named(name), unfolded("at", at))

    def _named(self, name: str | None) -> str:
        return self.names[0] if name is None else one_of(self.names, name, "the study has no measure")


def _share(count: int, part: Any) -> range:
    """The chunks of the i-th of n shares."""
    if part is None:
        return range(count)
    try:
        i, n = map(int, part.split("/")) if isinstance(part, str) else map(index, part)
    except (ValueError, TypeError):
        raise ParameterError(f"part={shown(part)}: write the i-th of n shares, part='3/100'") from None
    if not 1 <= i <= n:
        raise ParameterError(f"part={shown(part)}: shares are counted from 1 to {n}")
    return range(i - 1, count, n)


def _only(options: dict[str, Any]) -> dict[str, Any]:
    for name in options:
        one_of(("timeout", "progress"), name, "no option")
    return options
