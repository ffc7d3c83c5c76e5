"""A study in a Zarr (v3) store: every chunk is written by whoever computed it, its states last, as the mark that it
is there.

The numbers of a chunk are files of their own, each there whole or not at all. Reasons stand in a JSON file beside
the states of
the same chunk. Two runs on one store at worst do the same work twice.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from pfaff.archive.files import write_text
from pfaff.errors import ParameterError
from pfaff.studies.block import STATES, Block, Outcome
from pfaff.studies.points import Chunks, Points, restored
from pfaff.studies.stores import attributes, described, outcomes_from

if TYPE_CHECKING:
    import xarray

RECIPE, REASONS, ASIDE = "recipe", "reasons", "aside"
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
        """An empty store; its recipe is written last, so that what has one is complete."""
        zarr = zarr_library()
        group = zarr.open_group(str(self.path), mode="a", zarr_format=3)
        for name, values in self.points.coordinates.items():
            dims = (name,) if self.points.is_grid else self.points.dims
            group.create_array(name, data=values, dimension_names=dims, overwrite=True)
        kinds: list[tuple[str, str, Any]] = [(name, "f8", np.nan) for name in self.names]
        for name, kind, empty in [*kinds, ("state", "i1", 0)]:
            made = {"shape": self.points.shape, "chunks": self.chunks.chunk, "dtype": kind, "fill_value": empty}
            about = {"dimension_names": self.points.dims, "attributes": attributes(name), "overwrite": True}
            group.create_array(name, **made, **about)
        group.attrs[RECIPE] = dict(recipe)

    @property
    def group(self) -> Any:
        if self._open is None:
            self._open = zarr_library().open_group(str(self.path), mode="r+")
        return self._open

    def finished(self) -> set[int]:
        """Chunks whose states have been written: the names of files tell, however many points there are."""
        return {k for k in range(len(self.chunks)) if self._mark(k).exists()}

    def _mark(self, k: int) -> Path:
        return self.path.joinpath("state", "c", *map(str, self.chunks.index(k)))

    def _told(self, k: int, what: str = REASONS) -> Path:
        return self.path / "state" / what / f"{'.'.join(map(str, self.chunks.index(k)))}.json"

    def write(self, k: int, block: Block) -> None:
        where = self.chunks.slices(k)
        shape = tuple(each.stop - each.start for each in where)
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
        path = self._told(k, ASIDE)
        return outcomes_from(json.loads(path.read_text(encoding="utf-8"))) if path.exists() else {}

    def read(self, k: int) -> Block:
        where = self.chunks.slices(k)
        values = {name: np.asarray(self.group[name][where]).ravel() for name in self.names}
        return Block(values, np.asarray(self.group["state"][where]).ravel(), self._reasons_of(k))

    def _reasons_of(self, k: int) -> dict[int, str]:
        if not self._told(k).exists():
            return {}
        return {int(place): text for place, text in json.loads(self._told(k).read_text(encoding="utf-8")).items()}

    def close(self) -> None:
        pass

    def counts(self) -> np.ndarray:
        """How many points are in which state, a chunk at a time."""
        found = np.zeros(len(STATES), dtype=int)
        for k in self.finished():
            states = np.asarray(self.group["state"][self.chunks.slices(k)])
            found += np.bincount(states.ravel(), minlength=len(STATES))
        found[0] = self.points.size - found.sum()
        return found

    def reasons(self) -> dict[int, str]:
        folder = self.path / "state" / REASONS
        found: dict[int, str] = {}
        for name in sorted(os.listdir(folder)) if folder.is_dir() else ():
            if name.startswith("."):
                continue
            k = int(np.ravel_multi_index(tuple(map(int, name.removesuffix(".json").split("."))), self.chunks.counts))
            first = int(self.chunks.places(k)[0])
            found.update({first + place: text for place, text in self._reasons_of(k).items()})
        return dict(sorted(found.items()))

    def dataset(self) -> xarray.Dataset:
        import xarray

        data = xarray.open_zarr(str(self.path), consolidated=False, chunks=None)
        return data.assign_attrs(recipe=json.dumps(data.attrs.get(RECIPE)))


def recipe_of_zarr(path: Path) -> tuple[Points, dict[str, Any]]:
    """The points and the recipe of a store."""
    zarr = zarr_library()
    try:
        group = zarr.open_group(str(path), mode="r")
        recipe = dict(group.attrs[RECIPE])
        columns = {name: np.asarray(group[name][:]) for name in recipe["points"]["names"]}
    except (OSError, KeyError, ValueError, TypeError) as problem:
        raise ParameterError(f"{path} holds no study: {problem}") from problem
    return restored(recipe["points"]["dims"], columns, recipe["points"]["about"]), recipe
