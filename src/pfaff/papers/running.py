"""A paper computed: units of work on all cores, results kept for the next run of the same sources."""

from __future__ import annotations

import hashlib
import importlib
import json
import multiprocessing
import os
import platform
import shutil
import signal
import sys
import time
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from importlib.metadata import version
from math import isfinite
from pathlib import Path
from typing import Any

from pfaff.archive.files import copy, whole, write_text
from pfaff.archive.layouts import Misfit, Sizes, typed
from pfaff.errors import ParameterError
from pfaff.papers.reproduction import Claim, Item, Paper, Picture, Reproduction
from pfaff.progress import counted
from pfaff.threads import part_of_a_whole

ENDINGS = ("svg", "pdf", "png")
KEPT = {str: {"computed": [float], "seconds": float, "files": {str: str}}}
WHAT = "claims and pictures"
BESIDE = ("cli", "report")  # rooms whose sources cannot change a value


@dataclass(frozen=True)
class Task:
    """One claim or picture of a paper, by its place: what another process is told."""

    kind: str  # "claims", "evidence" or "pictures"
    index: int

    @property
    def name(self) -> str:
        return f"{self.kind} {self.index}"


@dataclass(frozen=True)
class Outcome:
    """A number, or files, or what went wrong."""

    task: Task
    computed: float | None = None
    seconds: float = 0.0
    files: tuple[str, ...] = ()
    digests: tuple[str, ...] = ()
    error: str = ""
    kept: bool = False


def load_paper(key: str) -> Paper:
    return importlib.import_module(f"pfaff.papers.{key}").PAPER


def reproduce(
    paper: Paper, folder: Path, quiet: bool = False, fresh: bool = False, workers: int | None = None
) -> Reproduction:
    """Compute all claims and draw all pictures into a folder; an interruption keeps what is there.

    ``fresh`` computes everything anew; ``workers=1`` computes in this process.
    """
    with writing_into(folder):
        folder.mkdir(parents=True, exist_ok=True)
    store = _store(paper.key)
    tasks = [
        *(Task("pictures", k) for k in range(len(paper.pictures))),
        *(Task("claims", k) for k in range(len(paper.claims))),
        *(Task("evidence", k) for k in range(len(paper.evidence))),
    ]
    known = {} if fresh else {outcome.task: outcome for outcome in _remembered(store, tasks)}
    left = [task for task in tasks if task not in known]
    complete = False
    try:
        with counted(WHAT, len(left)) if left and not quiet else nullcontext() as tell:
            for done, outcome in enumerate(_outcomes(paper, left, store, workers), 1):
                known[outcome.task] = outcome
                _remember(store, known)
                if tell is not None:
                    tell(done, f"{done} of {len(left)} {WHAT}")
        complete = True
    except KeyboardInterrupt:
        print("interrupted: keeping what was computed", file=sys.stderr)
    with writing_into(folder):
        return _collected(paper, known, store, folder, complete)


@contextmanager
def writing_into(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as problem:
        raise ParameterError(f"cannot write into {folder}: {problem}") from problem


def _collected(paper: Paper, known: dict[Task, Outcome], store: Path, folder: Path, complete: bool) -> Reproduction:
    def items(kind: str, claims: Sequence[Claim]) -> tuple[Item, ...]:
        found = [(claim, known.get(Task(kind, k))) for k, claim in enumerate(claims)]
        return tuple(Item(c, o.computed, o.seconds, o.kept, o.error) for c, o in found if o is not None)

    drawn = [known.get(Task("pictures", k)) for k in range(len(paper.pictures))]
    files = [copy(store / name, folder / name) for each in drawn if each for name in each.files]
    missing = [p.name for p, each in zip(paper.pictures, drawn, strict=True) if each and each.error]
    evidence = items("evidence", paper.evidence)
    return Reproduction(paper, items("claims", paper.claims), evidence, tuple(files), complete, tuple(missing))


def _outcomes(paper: Paper, tasks: list[Task], store: Path, workers: int | None) -> Iterator[Outcome]:
    """As they come. Work that shares a long computation stays together."""
    workers = workers if workers is not None else os.cpu_count() or 1
    if workers == 1 or len(tasks) < 2:
        yield from (_done(paper, task, store) for task in tasks)
        return
    units: dict[str, list[Task]] = {}
    for task in tasks:
        units.setdefault(_entry(paper, task).shares or task.name, []).append(task)
    order = sorted(units.values(), key=len, reverse=True)
    # Not forked: threads and compiled code of the parent do not survive that.
    with multiprocessing.get_context("spawn").Pool(workers, _quiet) as pool:
        pieces = [(paper.key, unit, str(store)) for unit in order]
        for outcomes in pool.imap_unordered(_unit, pieces):
            yield from outcomes


def _quiet() -> None:
    """In each process: leave Ctrl-C to the parent, and the other cores to the other processes."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.environ["OPENBLAS_NUM_THREADS"] = "1"


def _unit(piece: tuple[str, list[Task], str]) -> list[Outcome]:
    key, tasks, store = piece
    paper = load_paper(key)
    return [_done(paper, task, Path(store)) for task in tasks]


@part_of_a_whole()
def _done(paper: Paper, task: Task, store: Path) -> Outcome:
    """A claim that raises, or a picture, fails by itself and leaves the others alone."""
    start = time.perf_counter()
    entry = _entry(paper, task)
    try:
        if isinstance(entry, Picture):
            files = _drawn(entry, store)
            digests = tuple(_digest(store / name) for name in files)
            return Outcome(task, None, time.perf_counter() - start, files, digests)
        return Outcome(task, float(entry.compute()), time.perf_counter() - start)
    except Exception as problem:
        return Outcome(task, None, time.perf_counter() - start, error=f"{type(problem).__name__}: {problem}")


def _drawn(picture: Picture, store: Path) -> tuple[str, ...]:
    if picture.moving:
        name = f"{picture.name}.html"
        picture.draw(store / name)
        return (name,)
    figure = picture.draw()
    figure.draw_without_rendering()
    figure.set_layout_engine("none")  # laid out once for all files, not twice for each
    names = tuple(f"{picture.name}.{ending}" for ending in ENDINGS)
    for name in names:
        with whole(store / name) as part:
            figure.savefig(part)
    return names


def _entry(paper: Paper, task: Task) -> Any:
    return getattr(paper, task.kind)[task.index]


def sources() -> str:
    """A fingerprint of what values depend on: the sources of this package and the versions of the others."""
    package = Path(__file__).parents[1]
    digest = hashlib.sha256(platform.python_version().encode())
    for path in sorted(package.rglob("*.py")):
        if path.relative_to(package).parts[0] not in BESIDE:
            digest.update(path.relative_to(package).as_posix().encode() + path.read_bytes())
    for name in ("matplotlib", "numpy", "scipy", "sympy"):
        digest.update(f"{name} {version(name)}".encode())
    return digest.hexdigest()[:16]


def kept_in() -> Path:
    """The folder for what is kept from run to run."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "pfaff" / "papers"


def _store(key: str) -> Path:
    """Where results of these sources are kept; those of other sources are removed."""
    home = kept_in()
    store = home / f"{key}-{sources()}"
    try:
        store.mkdir(parents=True, exist_ok=True)
    except OSError as problem:
        raise ParameterError(f"cannot keep results in {home}: {problem}; set XDG_CACHE_HOME") from problem
    for other in home.glob(f"{key}-*"):
        if other != store:
            shutil.rmtree(other, ignore_errors=True)
    return store


def _remember(store: Path, known: dict[Task, Outcome]) -> None:
    """Keep what is known; a disk that is full keeps less, and the run goes on."""
    facts = {
        o.task.name: {
            "computed": [] if o.computed is None else [o.computed],
            "seconds": o.seconds,
            "files": dict(zip(o.files, o.digests, strict=True)),
        }
        for o in known.values()
        if not o.error and isfinite(o.computed or 0.0)
    }
    text = json.dumps(facts)
    try:
        write_text(store / "results.json", json.dumps([_checksum(text), text]))
    except OSError as problem:
        warnings.warn(f"results are not kept for the next run: {problem}", stacklevel=2)


def _remembered(store: Path, tasks: list[Task]) -> Iterator[Outcome]:
    """Results that are there as they were kept."""
    try:
        kept = json.loads((store / "results.json").read_text(encoding="utf-8"))
        written, text = typed(kept, (str, str), "what was kept", Sizes())
        facts = typed(json.loads(text), KEPT, "what was kept", Sizes()) if written == _checksum(text) else {}
    except (OSError, ValueError, RecursionError, Misfit):
        return
    for task in tasks:
        fact = facts.get(task.name)
        if (
            fact
            and len(fact["computed"]) < 2
            and all(_digest(store / name) == digest for name, digest in fact["files"].items())
        ):
            (computed,) = fact["computed"] or [None]
            files, digests = tuple(fact["files"]), tuple(fact["files"].values())
            yield Outcome(task, computed, fact["seconds"], files, digests, kept=True)


def _checksum(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _digest(path: Path) -> str:
    """Hash of a file; empty where there is none."""
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""
