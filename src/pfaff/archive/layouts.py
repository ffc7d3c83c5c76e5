"""What a stored result must hold: notes of certain types, and arrays along dimensions whose sizes agree everywhere.

A layout is a declaration. The type of a note is written as what it looks like: ``str``, ``bool``, ``int``, ``float``
(finite), ``[type]``, ``(type, type)``, ``{"name": type}`` for given names and ``{str: type}`` for any, where the type
may be a function of the name; ``Along`` is a list along a dimension. A ``Note`` is a type with the way to the value, by
which the layout writes what it reads.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from numbers import Integral, Real
from types import FunctionType
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import xarray

LARGEST = float(np.finfo(float).max)
COUNTABLE = 2**31  # whole numbers are less than this
SINGLE = {str: "a text", bool: "true or false", int: "a whole number", float: "a finite number"}
IS: dict[type, Callable[[Any], bool]] = {
    str: lambda value: isinstance(value, str),
    bool: lambda value: isinstance(value, bool),
    int: lambda value: isinstance(value, Integral) and abs(int(value)) < COUNTABLE,
    float: lambda value: isinstance(value, Real) and bool(abs(value) <= LARGEST),  # type: ignore[operator]
}
FINITE, ORDERED, FILLED, ANY = "finite", "in order", "filled up with NaN", "whatever"


class Misfit(ValueError):
    """What does not fit a layout, in words."""


@dataclass(frozen=True)
class Along:
    """A list with an entry for each place along a dimension."""

    dimension: str
    entry: Any


@dataclass(frozen=True)
class Array:
    """Numbers along dimensions: all finite, finite and in order, in rows that NaN fills up to the longest, or any."""

    dimensions: tuple[str, ...]
    numbers: str = FINITE


@dataclass(frozen=True)
class Note:
    """A note of a type, and what a result has to be noted."""

    type: Any
    of: Callable[[Any], Any]


class Sizes(dict[str, int]):
    """Sizes of dimensions, each as it was first met."""

    def agree(self, dimension: str, size: int, where: str) -> None:
        if self.setdefault(dimension, size) != size:
            raise Misfit(f"{where} has {size} entries along {dimension!r}, not {self[dimension]}")


@dataclass(frozen=True)
class Layout:
    """A kind of result. Its notes determine which arrays it holds; ``sizes`` of some dimensions follow from others."""

    holds: str
    otherwise: str  # what to do with a file that holds something else
    notes: Mapping[str, Any]
    arrays: Callable[[Mapping[str, Any]], Mapping[str, Array]]
    sizes: Mapping[str, Callable[[Sizes], int]] = field(default_factory=dict)
    nonempty: tuple[str, ...] = ()

    def noted(self, result: Any) -> dict[str, Any]:
        """The notes of a result, tables of them as JSON."""
        found = {name: note.of(result) for name, note in self.notes.items() if isinstance(note, Note)}
        tables = {name: note for name, note in self.notes.items() if isinstance(note, Mapping)}
        return found | {
            name: json.dumps({each: note.of(result) for each, note in table.items()}) for name, table in tables.items()
        }

    def checked(self, data: xarray.Dataset) -> tuple[dict[str, Any], Sizes]:
        """The notes, read, and all sizes, if everything is as declared; else an error says what is not."""
        sizes = Sizes()
        notes = {name: _note(data.attrs, name, type_, sizes) for name, type_ in self.notes.items()}
        for dimension, size in self.sizes.items():
            sizes.agree(dimension, size(sizes), f"the {self.holds}")
        for name, array in self.arrays(notes).items():
            if 0 not in map(sizes.get, array.dimensions):  # empty arrays are not written
                _check(data, name, array, sizes)
        for dimension in self.nonempty:
            if not sizes.get(dimension):
                raise Misfit(f"there is nothing along {dimension!r}")
        return notes, sizes


# Notes


def _note(attributes: Mapping[str, Any], name: str, type_: Any, sizes: Sizes) -> Any:
    if name not in attributes:
        raise Misfit(f"it has no {name!r}")
    type_ = type_.type if isinstance(type_, Note) else type_
    if isinstance(type_, type):
        return _single(attributes[name], type_, name)
    return read(name, attributes[name], type_, sizes)


def read(name: str, note: Any, type_: Any, sizes: Sizes | None = None) -> Any:
    """A note that was written as JSON."""
    try:
        value = json.loads(note)
    except (TypeError, ValueError, RecursionError) as problem:
        raise Misfit(f"its {name!r} cannot be read") from problem
    return typed(value, type_, name, Sizes() if sizes is None else sizes)


def typed(value: Any, type_: Any, where: str, sizes: Sizes) -> Any:
    """The value checked against a type, its numbers converted."""
    if isinstance(type_, Note):
        return typed(value, type_.type, where, sizes)
    if isinstance(type_, Along):
        sizes.agree(type_.dimension, len(_instance(value, list, where)), where)
        return [typed(entry, type_.entry, where, sizes) for entry in value]
    if isinstance(type_, list):
        return [typed(entry, type_[0], where, sizes) for entry in _instance(value, list, where)]
    if isinstance(type_, tuple):
        if len(_instance(value, list, where)) != len(type_):
            raise Misfit(f"{where} has {len(value)} parts, not {len(type_)}")
        return [typed(entry, each, where, sizes) for entry, each in zip(value, type_, strict=True)]
    if isinstance(type_, Mapping):
        return _named(_instance(value, dict, where), type_, where, sizes)
    return _single(value, type_, where)


def _named(value: dict[str, Any], type_: Mapping[Any, Any], where: str, sizes: Sizes) -> dict[str, Any]:
    if str in type_:
        each = type_[str]
        types = {name: each(name) if isinstance(each, FunctionType) else each for name in value}
    else:
        types = dict(type_)
    for name in types:
        if name not in value:
            raise Misfit(f"{where} has no {name!r}")
    return {name: typed(value[name], each, f"{where} {name!r}", sizes) for name, each in types.items()}


def _instance(value: Any, type_: type, where: str) -> Any:
    if not isinstance(value, type_):
        raise Misfit(f"{where} is no {'list' if type_ is list else 'table of names'}")
    return value


def _single(value: Any, type_: Any, where: str) -> Any:
    if not IS[type_](value) or (type_ in (int, float) and isinstance(value, bool | np.bool_)):
        raise Misfit(f"{where} is not {SINGLE[type_]}")
    return type_(value)


# Arrays


def _check(data: xarray.Dataset, name: str, array: Array, sizes: Sizes) -> None:
    if name not in data.variables:
        raise Misfit(f"the array {name!r} is missing")
    found = data[name]
    if found.dims != array.dimensions:
        raise Misfit(f"the array {name!r} runs along {_listed(found.dims)}, not {_listed(array.dimensions)}")
    for dimension, size in zip(found.dims, found.shape, strict=True):
        sizes.agree(str(dimension), size, f"the array {name!r}")
    values = found.to_numpy()
    if values.dtype.kind not in "iuf":
        raise Misfit(f"the array {name!r} holds no numbers")
    if not _as_declared(values, array.numbers):
        raise Misfit(f"the numbers of {name!r} are not {array.numbers}")


def _listed(dimensions: tuple[Any, ...]) -> str:
    return ", ".join(map(str, dimensions)) or "nothing"


def _as_declared(values: np.ndarray, numbers: str) -> bool:
    """Whether numbers are as declared; NaN may fill a row from some place on, whatever that place is."""
    finite = np.isfinite(values)
    if numbers == FILLED:
        rows = finite.reshape(*values.shape[:2], -1)
        return bool((rows.all(axis=2) == rows.any(axis=2)).all() and (np.diff(rows[..., 0].astype(int)) <= 0).all())
    steps = np.diff(values)
    ordered = numbers != ORDERED or (steps > 0).all() or (steps < 0).all()
    return numbers == ANY or bool(finite.all() and ordered)


def padded(arrays: list[np.ndarray], length: int) -> np.ndarray:
    """Arrays of different lengths as rows of one that is ``FILLED``."""
    out = np.full((len(arrays), length, *arrays[0].shape[1:]), np.nan)
    for row, array in zip(out, arrays, strict=True):
        row[: len(array)] = array
    return out
