"""A study in a Zarr (v3) store: every chunk is written by the process that computed it, its states last, as the mark
that it is complete.

The numbers of a chunk are files of their own, each complete or absent. Reasons are in a JSON file beside the states of
the same chunk. Two runs on one store at worst do the same work twice.
"""

from __future__ import annotations

import json
import os
import secrets
import shutil
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from pfaff import doors
from pfaff.archive.files import why, write_text
from pfaff.errors import ParameterError
from pfaff.studies.block import STATES, Block, Outcome
from pfaff.studies.points import Chunks, Points, restored
from pfaff.studies.recipe_checks import checked
from pfaff.studies.stores import attributes, described, no_study, outcomes_from, states_known

if TYPE_CHECKING:
    import xarray

RECIPE, REASONS, ASIDE = "recipe", "reasons", "aside"
KINDS = ("float64", "int8")  # of arrays
CODECS = ("bytes", "zstd", "gzip", "blosc", "crc32c")  # of arrays; none of these executes what it decodes
INSTALL = "a Zarr store needs the extra: pip install 'pfaff[sweep]'; or keep the study in memory or in a .nc file"


def zarr_library() -> Any:
    try:
        import zarr
    except ImportError as problem:
        raise ParameterError(INSTALL) from problem
    return zarr


class ZarrStore:
    """Chunks in a folder."""

    shared = True

    def __init__(self, path: Path, points: Points, chunks: Chunks, names: tuple[str, ...]) -> None:
        self.path, self.points, self.chunks, self.names = path, points, chunks, names
        self._open: Any = None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_open": None}

    def create(self, recipe: Mapping[str, Any]) -> None:
        """An empty store, there whole or not at all; if another run has made one meanwhile, that one stays."""
        part = self.path.with_name(f".{secrets.token_hex(4)}.{self.path.name}")
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._made(part, recipe)
            part.rename(self.path)
        except OSError as problem:
            if not (self.path / "zarr.json").exists():
                raise ParameterError(f"cannot write {self.path}: {why(problem)}") from problem
        finally:
            shutil.rmtree(part, ignore_errors=True)

    def _made(self, path: Path, recipe: Mapping[str, Any]) -> None:
        zarr = zarr_library()
        group = zarr.open_group(str(path), mode="w", zarr_format=3)
        sealed = zarr.codecs.ZstdCodec(checksum=True)  # so that a damaged chunk is recognised
        for name, values in self.points.coordinates.items():
            dims = (name,) if self.points.is_grid else self.points.dims
            group.create_array(name, data=values, dimension_names=dims)
        kinds: list[tuple[str, str, Any]] = [(name, "f8", np.nan) for name in self.names]
        for name, kind, empty in [*kinds, ("state", "i1", 0)]:
            made = {"shape": self.points.shape, "chunks": self.chunks.chunk, "dtype": kind, "fill_value": empty}
            about = {"dimension_names": self.points.dims, "attributes": attributes(name), "compressors": sealed}
            group.create_array(name, **made, **about)
        group.attrs[RECIPE] = dict(recipe)

    @property
    def group(self) -> Any:
        if self._open is None:
            self._open = _opened(self.path, "r+")
        return self._open

    def finished(self) -> set[int]:
        """Chunks whose files are all there: file names tell, however many points there are."""
        names = ("state", *self.names)
        return {k for k in range(len(self.chunks)) if all(self._file(name, k).exists() for name in names)}

    def _file(self, name: str, k: int) -> Path:
        return self.path.joinpath(name, "c", *map(str, self.chunks.index(k)))

    def _told(self, k: int, what: str = REASONS) -> Path:
        return self.path / "state" / what / f"{'.'.join(map(str, self.chunks.index(k)))}.json"

    def write(self, k: int, block: Block) -> None:
        where = self.chunks.slices(k)
        shape = tuple(each.stop - each.start for each in where)
        with zarr_library().config.set({"array.write_empty_chunks": True}):  # a missing file means a lost chunk
            for name, values in block.values.items():
                self.group[name][where] = values.reshape(shape)
        if block.reasons:
            self._told(k).parent.mkdir(exist_ok=True)
            write_text(self._told(k), json.dumps(block.reasons))
        elif self._told(k).exists():
            self._told(k).unlink()
        self.group["state"][where] = block.state.reshape(shape)
        self._told(k, ASIDE).unlink(missing_ok=True)

    def keep(self, k: int, outcomes: Mapping[int, Outcome]) -> None:
        self._told(k, ASIDE).parent.mkdir(exist_ok=True)
        write_text(self._told(k, ASIDE), json.dumps(described(outcomes)))

    def kept(self, k: int) -> dict[int, Outcome]:
        return _put_aside(self._told(k, ASIDE))

    def aside(self) -> int:
        return sum(len(_put_aside(each)) for each in (self.path / "state" / ASIDE).glob("*.json"))

    def read(self, k: int) -> Block:
        values = {name: self._read(name, k) for name in self.names}
        return Block(values, self._read("state", k), self._reasons_of(k))

    def _read(self, name: str, k: int) -> np.ndarray:
        try:
            found = np.asarray(self.group[name][self.chunks.slices(k)]).ravel()
            if name == "state" and not states_known(found):
                raise ValueError("its points are in states that are none")
            return found
        except Exception as problem:  # zarr and its codecs may raise anything
            raise self._damaged(name, k, problem) from problem

    def _reasons_of(self, k: int) -> dict[int, str]:
        if not self._told(k).exists():
            return {}
        try:
            told = json.loads(self._told(k).read_text(encoding="utf-8"))
            found = {int(place): str(text) for place, text in told.items()}
            if found and not 0 <= min(found) <= max(found) < self.chunks.size(k):
                raise ValueError("they are of points that it does not have")
            return found
        except (OSError, ValueError, AttributeError) as problem:
            raise self._damaged(REASONS, k, problem) from problem

    def _damaged(self, what: str, k: int, problem: Exception) -> ParameterError:
        return ParameterError(
            f"{self.path} is damaged: {what} of the chunk {'.'.join(map(str, self.chunks.index(k)))} cannot be read "
            f"({why(problem)}). Delete {self._file('state', k)}, and run again: that chunk is then computed anew"
        )

    def close(self) -> None:
        pass

    def counts(self) -> np.ndarray:
        """How many points are in which state, a chunk at a time."""
        found = np.zeros(len(STATES), dtype=int)
        for k in self.finished():
            found += np.bincount(self._read("state", k), minlength=len(STATES))[: len(STATES)]
        found[0] = self.points.size - found.sum()
        return found

    def reasons(self) -> dict[int, str]:
        folder = self.path / "state" / REASONS
        found: dict[int, str] = {}
        for name in sorted(os.listdir(folder)) if folder.is_dir() else ():
            if name.startswith("."):
                continue
            try:
                index = tuple(map(int, name.removesuffix(".json").split(".")))
                k = int(np.ravel_multi_index(index, self.chunks.counts))
            except ValueError as problem:
                raise ParameterError(f"{folder / name} belongs to no chunk of {self.path}: delete it") from problem
            first = int(self.chunks.places(k)[0])
            found.update({first + place: text for place, text in self._reasons_of(k).items()})
        return dict(sorted(found.items()))

    def dataset(self) -> xarray.Dataset:
        dims, group = self.points.dims, self.group
        arrays = {
            name: (
                dims,
                doors.lazy_numbers.Numbers(self.points.shape, group[name].dtype, partial(self._part, name)),
                attributes(name),
            )
            for name in (*self.names, "state")
        }
        return doors.lazy_numbers.lazy_dataset(arrays, self.points.over, {RECIPE: json.dumps(group.attrs[RECIPE])})

    def _part(self, name: str, key: Any) -> np.ndarray:
        """The numbers at some indices of an array; if they cannot be read, the error names the chunk."""
        try:
            return np.asarray(self.group[name][key])
        except Exception:  # zarr and its codecs may raise anything
            for k in self.finished():
                self._read(name, k)
            raise


def recipe_of_zarr(path: Path) -> tuple[Points, dict[str, Any]]:
    """The points and the recipe of a store."""
    zarr_library()
    try:
        group = _opened(path, "r")
        recipe = checked(dict(group.attrs[RECIPE]))
        measured = [*(name for each in recipe["measures"] for name in each["names"]), "state"]
        for name in (*recipe["points"]["names"], *measured):
            _check_plain(path / name)
        columns = {name: np.asarray(group[name][:]) for name in recipe["points"]["names"]}
        for name in measured:
            if list(group[name].shape) != recipe["points"]["shape"]:
                raise ValueError(f"{name} is not over its points")
    except Exception as problem:  # zarr and its codecs may raise anything
        raise no_study(path, problem) from problem
    return restored(recipe["points"]["dims"], columns, recipe["points"]["about"]), recipe


def _opened(path: Path, mode: str) -> Any:
    """The group of a store in the format that it is written in; metadata at other places are not looked at."""
    return zarr_library().open_group(str(path), mode=mode, zarr_format=3, use_consolidated=False)


def _check_plain(path: Path) -> None:
    """Raise unless an array is of numbers, and encoded as a study encodes it: its metadata name the codecs that decode
    it, and some codecs execute what they decode."""
    if not (path / "zarr.json").is_file():
        raise KeyError(path.name)
    about = json.loads((path / "zarr.json").read_text(encoding="utf-8"))
    codecs = [each["name"] for each in about["codecs"]]
    if about["zarr_format"] != 3 or about["data_type"] not in KINDS or about.get("storage_transformers"):
        raise ValueError(f"{path.name} holds no plain numbers")
    if unknown := [each for each in codecs if each not in CODECS]:
        raise ValueError(f"{path.name} is encoded by {unknown[0]}, which no study uses")


def _put_aside(file: Path) -> dict[int, Outcome]:
    try:
        return outcomes_from(json.loads(file.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError, AttributeError):  # unreadable single points are computed again
        return {}
