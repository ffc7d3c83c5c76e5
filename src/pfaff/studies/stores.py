"""Stores of a study: in memory, or in a netCDF file that one process writes. Zarr has a module of its own."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from pfaff.archive.files import whole, why
from pfaff.archive.layouts import read
from pfaff.archive.stored import content, sealed
from pfaff.errors import ParameterError
from pfaff.statement.values import MEMORY, whole_number
from pfaff.studies.block import DONE, NONE, PENDING, STATES, Block, Outcome
from pfaff.studies.catalogue import QUANTITIES
from pfaff.studies.points import Chunks, Points, restored
from pfaff.studies.recipe_checks import checked

if TYPE_CHECKING:
    import xarray

HELD = "study"  # the kind of file, as written in it
EVERY = 30.0  # seconds after which a file is written again
MEANINGS = " ".join(word.replace(" ", "_") for word in STATES)


class Store(Protocol):
    """Keeps chunks. ``shared`` says whether other processes may write into it themselves.

    ``keep`` saves single points of an unfinished chunk, for a run that continues it; ``aside`` is their number.
    """

    shared: bool

    @property
    def path(self) -> Path | None: ...
    def finished(self) -> set[int]: ...
    def write(self, k: int, block: Block) -> None: ...
    def keep(self, k: int, outcomes: Mapping[int, Outcome]) -> None: ...
    def kept(self, k: int) -> dict[int, Outcome]: ...
    def aside(self) -> int: ...
    def read(self, k: int) -> Block: ...
    def close(self) -> None: ...
    def dataset(self) -> xarray.Dataset: ...
    def counts(self) -> np.ndarray: ...
    def reasons(self) -> dict[int, str]: ...


def attributes(name: str) -> dict[str, Any]:
    """What a stored array says of itself."""
    if name == "state":
        return {"flag_values": list(STATES.values()), "flag_meanings": MEANINGS}
    own = name.rstrip("_")
    return QUANTITIES[own].attributes if own in QUANTITIES else {}


@dataclass
class Memory:
    """A store of arrays in memory."""

    points: Points
    chunks: Chunks
    names: tuple[str, ...]
    recipe: Mapping[str, Any]
    path: Path | None = None
    shared: bool = field(default=False, init=False)

    def __post_init__(self) -> None:
        fitting = int(MEMORY / (8 * len(self.names) + 1))
        remedy = "they do not fit into memory, take fewer or a folder, store='map.zarr'"
        whole_number("the number of points", self.points.size, 1, fitting, remedy)
        self._values = {name: np.full(self.points.size, np.nan) for name in self.names}
        self._state = np.zeros(self.points.size, dtype=np.int8)
        self._reasons: dict[int, str] = {}
        self._aside: dict[int, dict[int, Outcome]] = {}

    def finished(self) -> set[int]:
        return {k for k in range(len(self.chunks)) if self._state[self.chunks.places(k)[0]] != PENDING}

    def write(self, k: int, block: Block) -> None:
        places = self.chunks.places(k)
        for name, values in block.values.items():
            self._values[name][places] = values
        self._state[places] = block.state
        for place in [place for place in self._reasons if places[0] <= place <= places[-1]]:
            del self._reasons[place]
        self._reasons.update({int(places[j]): reason for j, reason in block.reasons.items()})
        self._aside.pop(k, None)

    def keep(self, k: int, outcomes: Mapping[int, Outcome]) -> None:
        self._aside[k] = dict(outcomes)

    def kept(self, k: int) -> dict[int, Outcome]:
        return dict(self._aside.get(k, {}))

    def aside(self) -> int:
        return sum(map(len, self._aside.values()))

    def read(self, k: int) -> Block:
        places = self.chunks.places(k)
        first = int(places[0])
        reasons = {place - first: text for place, text in self._reasons.items() if first <= place <= places[-1]}
        return Block({name: values[places] for name, values in self._values.items()}, self._state[places], reasons)

    def close(self) -> None:
        pass

    def written(self, path: Path) -> None:
        """Write everything as one netCDF file."""
        aside = {k: described(outcomes) for k, outcomes in self._aside.items()}
        data = self.dataset().assign_attrs(reasons=json.dumps(self._reasons), aside=json.dumps(aside))
        data = sealed(HELD, data)
        with whole(path) as part:
            data.to_netcdf(part, engine="scipy")

    def counts(self) -> np.ndarray:
        return np.bincount(self._state, minlength=len(STATES))

    def reasons(self) -> dict[int, str]:
        return dict(self._reasons)

    def dataset(self) -> xarray.Dataset:
        import xarray

        arrays = {**self._values, "state": self._state}
        dims = self.points.dims
        variables = {name: (dims, each.reshape(self.points.shape), attributes(name)) for name, each in arrays.items()}
        return xarray.Dataset(variables, self.points.over, {"recipe": json.dumps(self.recipe)})


class NetCDF(Memory):
    """A store in a file, written whole now and then and in the end, with what other runs have written meanwhile."""

    def __init__(
        self, path: Path, points: Points, chunks: Chunks, names: tuple[str, ...], recipe: Mapping[str, Any]
    ) -> None:
        super().__init__(points, chunks, names, recipe, path)
        self._written = time.monotonic()
        self._left: tuple[int, int] | None = None  # the file as it was when last read or written
        if path.exists():
            self._left = _version(path)
            self._take(path)
            return
        try:
            self.close()
        except OSError as problem:
            raise ParameterError(f"cannot write {path}: {why(problem)}") from problem

    def _take(self, path: Path) -> None:
        """Take over the chunks of a file that are missing here."""
        mine, data = self.finished(), _study_in(path)
        state = data["state"].to_numpy().ravel()
        values = {name: data[name].to_numpy().ravel() for name in self.names}
        reasons = {int(k): text for k, text in json.loads(data.attrs["reasons"]).items()}
        aside = {int(k): outcomes_from(each) for k, each in json.loads(data.attrs["aside"]).items()}
        for k in set(range(len(self.chunks))) - mine:
            places = self.chunks.places(k)
            self._state[places] = state[places]
            for name, each in values.items():
                self._values[name][places] = each[places]
            self._reasons.update({place: reasons[place] for place in places.tolist() if place in reasons})
            if state[places[0]] == PENDING:
                self._aside[k] = {**aside.get(k, {}), **self._aside.get(k, {})}

    def write(self, k: int, block: Block) -> None:
        super().write(k, block)
        if time.monotonic() - self._written > EVERY:
            self.close()

    def keep(self, k: int, outcomes: Mapping[int, Outcome]) -> None:
        super().keep(k, outcomes)
        if time.monotonic() - self._written > EVERY:
            self.close()

    def close(self) -> None:
        assert self.path is not None
        with in_turn(self.path):
            if self.path.exists() and _version(self.path) != self._left:
                self._take(self.path)
            self.written(self.path)
            self._left = _version(self.path)
        self._written = time.monotonic()


def _version(path: Path) -> tuple[int, int] | None:
    """Distinguishes a file from one that was written later."""
    return (path.stat().st_ino, path.stat().st_mtime_ns) if path.exists() else None


@contextmanager
def in_turn(path: Path) -> Iterator[None]:
    """Exclude other runs that write into a folder, where the system supports locks."""
    try:
        import fcntl

        folder = os.open(path.parent, os.O_RDONLY)
    except (ImportError, OSError):
        yield
        return
    try:
        with suppress(OSError):  # of file systems without locks
            fcntl.flock(folder, fcntl.LOCK_EX)
        yield
    finally:
        os.close(folder)


def described(outcomes: Mapping[int, Outcome]) -> dict[int, Any]:
    """Outcomes as JSON."""
    return {k: [dict(each.values), each.state, each.reason] for k, each in outcomes.items()}


def outcomes_from(described: Mapping[str, Any]) -> dict[int, Outcome]:
    """Outcomes that were read, checked."""
    return {int(k): Outcome(*_outcome(*each)) for k, each in described.items()}


def _outcome(values: Any, state: Any, reason: Any) -> tuple[dict[str, float], int, str]:
    if state not in STATES.values() or not all(isinstance(each, int | float) for each in values.values()):
        raise ValueError("a point that was put aside is none")
    return {str(name): float(value) for name, value in values.items()}, int(state), str(reason)


def states_known(states: np.ndarray) -> bool:
    return bool(np.isin(states, list(STATES.values())).all())


def _study_in(path: Path) -> xarray.Dataset:
    """A file that is exactly as a study wrote it."""
    found = content(path, "name another store, or remove this file")
    if found.holds != HELD:
        raise ParameterError(f"{path} holds a {found.holds}, no study: read it by pfaff.load({str(path)!r}, case)")
    return found.data


def recipe_of_netcdf(path: Path) -> tuple[Points, dict[str, Any]]:
    """The points and the recipe in a netCDF file."""
    data = _study_in(path)
    try:
        recipe = checked(json.loads(data.attrs["recipe"]))
        columns = {name: data[name].to_numpy() for name in recipe["points"]["names"]}
        for name in [*(name for each in recipe["measures"] for name in each["names"]), "state"]:
            if list(data[name].shape) != recipe["points"]["shape"]:
                raise ValueError(f"{name} is not over its points")
            if data[name].dtype.kind not in "iuf":
                raise ValueError(f"{name} holds no numbers")
        if not states_known(data["state"].to_numpy()):
            raise ValueError("its points are in states that are none")
        places = [int(place) for place in read("reasons", data.attrs["reasons"], {str: str})]
        if places and not 0 <= min(places) <= max(places) < data["state"].size:
            raise ValueError("it tells of points that it does not have")
        for each in json.loads(data.attrs["aside"]).values():
            outcomes_from(each)
    except Exception as problem:  # of another version
        raise no_study(path, problem) from problem
    return restored(recipe["points"]["dims"], columns, recipe["points"]["about"]), recipe


def no_study(path: Path, problem: Exception) -> ParameterError:
    said = f"it has no {problem}" if isinstance(problem, KeyError) else why(problem).partition("\n")[0]
    return ParameterError(f"{path} holds no study that can be read ({said}): name another store, or remove this one")


def answered(state: np.ndarray) -> np.ndarray:
    return (state == DONE) | (state == NONE)
