"""The points of a study: grids, lists of points, and Sobol samples of distributions."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any

import numpy as np

from pfaff.errors import ParameterError, number_of
from pfaff.statement.called import renamed, unfolded
from pfaff.statement.told import answering, rightly_asked
from pfaff.statement.values import MEMORY, named, number_from, numbers_from, pair, shown, truth, whole_number

MANY = 10**12  # points of a study
SAMPLES = 2**26  # points of a sample, whose coordinates are kept in memory
COPIES = 4  # copies of a sample while it is made


@answering
@dataclass(frozen=True)
class Points:
    """Values of parameters by name, over dimensions: one for each parameter of a grid, a common one for a list or a
    sample.

    ``about`` says how they were made, as JSON.
    """

    dims: tuple[str, ...]
    coordinates: Mapping[str, np.ndarray]
    about: Mapping[str, Any] = field(default_factory=dict)

    def __repr__(self) -> str:
        ranges = ", ".join(f"{name} {x.min():.4g} … {x.max():.4g}" for name, x in self.coordinates.items() if len(x))
        return f"<{self.size} points: {ranges}>"

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.coordinates)

    @property
    def shape(self) -> tuple[int, ...]:
        if self.is_grid:
            return tuple(len(values) for values in self.coordinates.values())
        return (len(next(iter(self.coordinates.values()))),)

    @property
    def is_grid(self) -> bool:
        return self.about.get("kind", "grid") == "grid"

    @property
    def over(self) -> dict[str, Any]:
        """The coordinates with their dimensions, as xarray takes them."""
        return {name: (name if self.is_grid else self.dims, values) for name, values in self.coordinates.items()}

    @property
    def size(self) -> int:
        return math.prod(self.shape)

    def at(self, places: np.ndarray) -> dict[str, np.ndarray]:
        """The parameters at these places, counted in the order of the dimensions, the last one fastest."""
        if not self.is_grid:
            return {name: values[places] for name, values in self.coordinates.items()}
        index = np.unravel_index(places, self.shape)
        return {name: values[k] for (name, values), k in zip(self.coordinates.items(), index, strict=True)}

    def point(self, place: int) -> dict[str, float]:
        whole_number("place", place, 0, self.size - 1, f"there are {number_of(self.size, 'point')}")
        return {name: float(values) for name, values in self.at(np.asarray(place)).items()}

    def corners(self) -> Iterator[dict[str, float]]:
        """Corners of the box that contains all points."""
        ends = ((float(values.min()), float(values.max())) for values in self.coordinates.values())
        return (dict(zip(self.names, each, strict=True)) for each in product(*ends))

    @property
    def digest(self) -> str:
        """A hash that distinguishes these points from others."""
        parts = hashlib.sha256(repr(self.dims).encode())
        for name, values in self.coordinates.items():
            parts.update(name.encode() + values.astype("<f8").tobytes())
        return parts.hexdigest()


@rightly_asked
def grid(**axes: Any) -> Points:
    """All combinations of values: ``pfaff.grid(c_i=np.linspace(1, 4, 100), M_L=[10, 15, 20])``, or in a mapping by
    names or symbols, ``pfaff.grid(axes={m: [1, 2]})``."""
    return grid_of(unfolded("axes", axes))


def grid_of(axes: Mapping[str, Any]) -> Points:
    if not axes:
        raise ParameterError("a study needs at least one axis: give values by name, {'c_i': [0.1, 0.2]}")
    coordinates = {name: _column(name, values) for name, values in axes.items()}
    whole_number("the number of points", math.prod(map(len, coordinates.values())), 1, MANY, "give fewer values")
    return Points(tuple(axes), coordinates, {"kind": "grid"})


def points_from(axes: Any) -> Points:
    """A grid of a mapping, a list of points of a list of mappings, or points as they are."""
    if isinstance(axes, Points):
        return axes
    if isinstance(axes, Mapping):
        return grid_of({_name(name): values for name, values in renamed(axes).items()})
    if not isinstance(axes, Sequence) or isinstance(axes, str) or not all(isinstance(each, Mapping) for each in axes):
        raise ParameterError(
            f"axes={shown(axes)}: give values by name, {{'c_i': [0.1, 0.2]}}, a list of points [{{'c_i': 0.1}}, …], or "
            "pfaff.sobol(…)"
        )
    if not axes:
        raise ParameterError("the list of points is empty: give at least one, [{'c_i': 0.1}]")
    axes = [renamed(each) for each in axes]
    names = tuple(map(_name, axes[0]))
    for k, each in enumerate(axes):
        if set(each) != set(names) or not names:
            raise ParameterError(
                f"point {k} of the list has {', '.join(each) or 'nothing'}, the first {', '.join(names)}"
            )
    columns = {name: np.array([number_from(name, each[name]) for each in axes]) for name in names}
    return Points(("point",), columns, {"kind": "list"})


@rightly_asked
def sobol(samples: int, /, *, seed: int = 0, indices: bool = False, **ranges: Any) -> Points:
    """A scrambled Sobol sample: ``pfaff.sobol(1024, c_i=(1, 4), M_L=scipy.stats.norm(15, 1))``.

    Each range is a pair (uniform between) or a distribution of ``scipy.stats``. With ``indices=True`` the sample is
    that of
    Saltelli et al. (2010), Comput. Phys. Commun. 181, ``samples × (number of parameters + 2)`` points, of which
    ``study.indices()`` makes Sobol indices; the number of samples must then be a power of two. ``ranges={m: (1, 4)}``
    gives ranges in a mapping, by names or symbols.
    """
    from scipy.stats import qmc

    ranges = unfolded("ranges", ranges)
    if not ranges:
        raise ParameterError("a sample needs at least one parameter: pfaff.sobol(1024, c_i=(1, 4))")
    count = len(ranges) * (len(ranges) + 2 if truth("indices", indices) else 1)  # numbers for each sample
    fitting = min(SAMPLES, int(MEMORY / (COPIES * 8 * count)))
    samples = whole_number("samples", samples, 1, fitting, "they would need more memory than there is, take fewer")
    seed = whole_number("seed", seed, 0, 2**63, "give a smaller one")
    known = {name: _distribution(name, given) for name, given in ranges.items()}
    if not indices:
        unit = qmc.Sobol(len(known), seed=seed).random_base2((samples - 1).bit_length())[:samples]
    else:
        if samples & (samples - 1):
            raise ParameterError(
                f"samples={samples} is no power of two, which Sobol indices need: take {2 ** samples.bit_length()}"
            )
        both = qmc.Sobol(2 * len(known), seed=seed).random(samples)
        first, second = both[:, : len(known)], both[:, len(known) :]
        mixed = [
            np.column_stack([(second if j == k else first)[:, j] for j in range(len(known))]) for k in range(len(known))
        ]
        unit = np.concatenate([first, second, *mixed])
    columns = {name: _drawn(name, law, column) for (name, law), column in zip(known.items(), unit.T, strict=True)}
    laws = {name: _described(given) for name, given in ranges.items()}
    about = {"kind": "sobol", "samples": samples, "seed": seed, "indices": bool(indices), "ranges": laws}
    return Points(("sample",), columns, about)


def _drawn(name: str, law: Any, shares: np.ndarray) -> np.ndarray:
    """Quantiles of a distribution at these probabilities."""
    try:
        values = numbers_from(name, law.ppf(shares))
    except Exception as problem:  # a distribution of the user's may raise anything
        raise ParameterError(f"the distribution of {name} fails: {' '.join(str(problem).split())[:200]}") from problem
    if values.shape != shares.shape:
        raise ParameterError(
            f"the distribution of {name} gives an array of shape {values.shape} for one of {shares.shape}: "
            "its ppf must give a value for each share"
        )
    if not np.isfinite(values).all():
        raise ParameterError(f"the distribution of {name} gives values that are not finite: bound it")
    return values


def _distribution(name: str, given: Any) -> Any:
    from scipy import stats

    if hasattr(given, "ppf"):
        return given
    if not isinstance(given, tuple | list):
        raise ParameterError(
            f"{name}={shown(given)} is no range: give a pair {name}=(1, 4) or a distribution of scipy.stats"
        )
    low, high = pair(name, given, "(1, 4)")
    if not 0 < high - low < math.inf:
        raise ParameterError(f"{name}=({low:g}, {high:g}) is no range: give the smaller end first")
    return stats.uniform(low, high - low)


def _described(given: Any) -> Any:
    """A pair as it is, a distribution by its name and numbers."""
    if isinstance(given, tuple | list):
        return [number_from("range", each) for each in given]
    law = getattr(given, "dist", None)
    if law is None:
        return shown(given)
    named_numbers = {key: float(value) for key, value in given.kwds.items()}
    return {"distribution": law.name, "arguments": [float(each) for each in given.args], **named_numbers}


def _column(name: str, values: Any) -> np.ndarray:
    column = np.atleast_1d(numbers_from(name, values)).astype(float)
    if column.ndim != 1 or not column.size or not np.isfinite(column).all():
        raise ParameterError(f"{name}: give a one-dimensional array of finite values")
    if len(np.unique(column)) < len(column):
        raise ParameterError(f"{name} has a value twice: give each once")
    return column


def _name(name: Any) -> str:
    return named("the names of axes", [name], "['c_i']")[0]


def restored(dims: Sequence[str], coordinates: Mapping[str, np.ndarray], about: Mapping[str, Any]) -> Points:
    """Points from a store."""
    return Points(
        tuple(dims), {name: np.asarray(values, dtype=float) for name, values in coordinates.items()}, dict(about)
    )


@dataclass(frozen=True)
class Chunks:
    """The places of an array in pieces that are whole along the last dimensions, so that each is a run of places."""

    shape: tuple[int, ...]
    chunk: tuple[int, ...]

    @property
    def counts(self) -> tuple[int, ...]:
        return tuple(-(-n // c) for n, c in zip(self.shape, self.chunk, strict=True))

    def __len__(self) -> int:
        return math.prod(self.counts)

    def index(self, k: int) -> tuple[int, ...]:
        return tuple(int(each) for each in np.unravel_index(k, self.counts))

    def slices(self, k: int) -> tuple[slice, ...]:
        places = zip(self.index(k), self.chunk, self.shape, strict=True)
        return tuple(slice(i * c, min((i + 1) * c, n)) for i, c, n in places)

    def places(self, k: int) -> np.ndarray:
        """The places of the k-th piece, in order."""
        slices = self.slices(k)
        first = np.ravel_multi_index(tuple(each.start for each in slices), self.shape)
        return np.arange(first, first + math.prod(each.stop - each.start for each in slices))

    def size(self, k: int) -> int:
        return math.prod(each.stop - each.start for each in self.slices(k))


def chunks_of(shape: tuple[int, ...], most: int) -> Chunks:
    """Pieces of at most about ``most`` points."""
    chunk = [1] * len(shape)
    room = most
    for k in reversed(range(len(shape))):
        chunk[k] = min(shape[k], max(1, room))
        if chunk[k] < shape[k]:
            break
        room //= chunk[k]
    return Chunks(shape, tuple(chunk))
