"""Results in netCDF files: written, read, and compared with the case that they are read for."""

from __future__ import annotations

import hashlib
import io
import json
import warnings
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from math import isclose
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from pfaff import doors
from pfaff.archive.files import whole, why
from pfaff.archive.layouts import Along, Layout, Misfit, Note
from pfaff.errors import ParameterError, PfaffError
from pfaff.statement.expressions import constant
from pfaff.statement.names import spelled
from pfaff.statement.system import System
from pfaff.statement.values import path_from

if TYPE_CHECKING:
    import xarray

    from pfaff.case import Bound
    from pfaff.flow.flow import Flow

CHECKSUM, SPELLING, HOLDS, FORMAT = "checksum", "spelling", "holds", "format"
VERSION = 1  # of layouts: another one if anything in a file changes
MAGIC = b"CDF"
ENDINGS = (".nc", ".cdf", ".netcdf")
TYPES = ("byte", "char", "short", "ushort", "int", "uint", "int64", "uint64", "float", "double", "real", "string")
SAME_VALUE = 1e-14  # relative, of parameters written and read


def labels(
    names: Iterable[str], taken: Iterable[str], letters: Callable[[str], str] = lambda name: name
) -> dict[str, str]:
    """What each name is called beside others: itself, or with an underscore where it is taken, as by the time.

    The same names always get the same labels, so that a reader finds them again.
    """
    found: dict[str, str] = {}
    used = set(taken)
    for name in names:
        label = letters(name)
        while label in used:
            label += "_"
        used.add(label)
        found[name] = label
    return found


def _in_ascii(data: xarray.Dataset) -> dict[str, str]:
    """Names that a file of this format cannot hold, with their replacements."""
    found = labels(map(str, {**data.variables, **data.sizes}), TYPES, spelled)
    return {name: label for name, label in found.items() if name != label}


def write(layout: Layout, data: xarray.Dataset, path: str | Path) -> Path:
    """Write a result of a kind; the file is there whole or not at all."""
    path = named_as_netcdf(path_from("path", path))
    try:
        data = sealed(layout.holds, data)
        with whole(path) as part:
            data.to_netcdf(part, engine="scipy")
    except (OSError, TypeError, ValueError) as problem:
        raise ParameterError(f"cannot write {path}: {why(problem)}") from problem
    return path


def named_as_netcdf(path: Path) -> Path:
    """A path for a netCDF file; another ending is warned of, and no result is lost by it."""
    if path.suffix and path.suffix not in ENDINGS:
        warnings.warn(f"{path} is written in netCDF: other programs know that by the ending .nc", stacklevel=5)
    return path


def sealed(holds: str, data: xarray.Dataset) -> xarray.Dataset:
    """The dataset as a file holds it: with its kind, the version, a checksum, and names that the format allows."""
    changed = _in_ascii(data)
    data = data.assign_attrs({HOLDS: holds, FORMAT: VERSION})
    notes = {CHECKSUM: checksum(data)} | ({SPELLING: json.dumps(changed)} if changed else {})
    return data.rename(changed).assign_attrs(notes)


@dataclass(frozen=True)
class File:
    """A result as it was written: arrays, notes, and the size of every dimension."""

    layout: Layout
    data: xarray.Dataset
    notes: Mapping[str, Any]
    sizes: Mapping[str, int]

    def __getitem__(self, name: str) -> np.ndarray:
        return self.data[name].to_numpy()

    def agree(self, dimension: str, size: int) -> None:
        if self.sizes[dimension] != size:
            raise Misfit(f"it has {self.sizes[dimension]} entries along {dimension!r}, the case has {size}")


@dataclass(frozen=True)
class Content:
    """Everything in a file, read once; it stands for its path."""

    path: Path
    data: xarray.Dataset

    @property
    def holds(self) -> str:
        return str(self.data.attrs[HOLDS])

    def __str__(self) -> str:
        return str(self.path)


def content(path: str | Path, remedy: str = "compute and save it again") -> Content:
    """What a file holds, whole and as it was written."""
    path = path_from("path", path)
    try:
        return Content(path, _content(path))
    except Misfit as problem:
        raise ParameterError(f"cannot read a result from {path}: {problem}; {remedy}") from problem


@contextmanager
def opened(path: str | Path | Content, *layouts: Layout) -> Iterator[File]:
    """A file that fits one of these layouts, to make a result of; errors name the file."""
    path = path if isinstance(path, Content) else path_from("path", path)
    wanted = f"cannot read a {' or a '.join(layout.holds for layout in layouts)} from {path}"
    try:
        data = path.data if isinstance(path, Content) else _content(path)
        holds = data.attrs.pop(HOLDS)
        found = next((layout for layout in layouts if layout.holds == holds), None)
        if found is None:
            raise ParameterError(f"{path} holds a {holds}, no {layouts[0].holds}: {layouts[0].otherwise}")
        yield File(found, data, *found.checked(data))
    except Misfit as problem:
        raise ParameterError(f"{wanted}: {problem}; compute and save it again") from problem
    except PfaffError as problem:
        raise (problem if str(path) in str(problem) else type(problem)(f"{wanted}: {problem}")) from problem
    except (ArithmeticError, ValueError, MemoryError) as problem:
        raise ParameterError(f"{wanted}: its numbers belong to another case; compute and save it again") from problem


def _content(path: str | Path) -> xarray.Dataset:
    """Everything in a file that this version wrote, as it was written."""
    import xarray

    content = _bytes(path)
    try:
        with np.errstate(all="ignore"), xarray.open_dataset(content, engine="scipy", decode_times=False) as stored:
            data = stored.load()
        data = data.rename({label: name for name, label in json.loads(data.attrs.pop(SPELLING, "{}")).items()})
        written = data.attrs.pop(CHECKSUM, None)
        same = isinstance(written, str) and written == checksum(data)
        current = np.array_equal(data.attrs.pop(FORMAT, None), VERSION)
    except Exception as problem:  # a damaged file may raise anything while it is taken apart
        raise Misfit("it is damaged") from problem
    if not current and (same or written is None):
        raise Misfit("another version of pfaff, or another program, wrote it")
    if not same or not isinstance(data.attrs.get(HOLDS), str):
        raise Misfit("it was changed or damaged since save() wrote it")
    return data


def _bytes(path: str | Path) -> io.BytesIO:
    """A file at once: one that is cut while it is read must not be mapped into memory."""
    try:
        if Path(path).exists() and not Path(path).is_file():
            raise Misfit("it is no file")
        with Path(path).open("rb") as file:
            if file.read(len(MAGIC)) != MAGIC:
                raise Misfit("it is no netCDF file that save() wrote")
            return io.BytesIO(MAGIC + file.read())
    except (OSError, TypeError, MemoryError) as problem:
        raise ParameterError(f"cannot read {path}: {why(problem)}") from problem


def checksum(data: xarray.Dataset) -> str:
    """The checksum of names, numbers and texts, whatever types the file stores them in."""
    parts = hashlib.sha256()
    for name in sorted(map(str, data.variables)):
        values = data[name].to_numpy()
        numeric = values.dtype.kind in "biuf"
        parts.update(f"{name} {data[name].dims} {values.shape}".encode())
        parts.update(values.astype("<f8").tobytes() if numeric else "\0".join(map(_text, values.ravel())).encode())
    for name in sorted(map(str, data.attrs)):
        parts.update(f"{name} {_text(data.attrs[name])}".encode())
    return parts.hexdigest()


def _text(value: Any) -> str:
    if isinstance(value, bytes):
        return value.decode(errors="replace")
    return value if isinstance(value, str) else str(np.asarray(value, dtype=float).tolist())


def checked_case(case: Any) -> Bound:
    if not isinstance(case, doors.case.Bound):
        raise ParameterError(f"{case!r} is no case: give the system with its values, system.at(…)")
    return case


def alike(text: str, value: Any) -> bool:
    """Whether a value is the one that was written, up to rounding."""
    if text == str(value):
        return True
    try:
        return isclose(float(constant(text, "a stored value")), float(value), rel_tol=SAME_VALUE, abs_tol=0.0)
    except (ParameterError, TypeError):
        return False


def identical(text: str, value: Any) -> bool:
    """Whether a value is written as it was."""
    return text == str(value)


def compare(
    path: str | Path | Content,
    case: Bound,
    system: str,
    stored: Mapping[str, str],
    free: Collection[str],
    same: Callable[[str, Any], bool] = alike,
) -> None:
    """The system must be that of the case, and every parameter that does not vary have the same value."""
    if case.system.name != system:
        raise ParameterError(f"{path} holds a result of {system}, not of {case.system.name}")
    for name in (*stored, *case.values):
        if name not in case.values:
            raise ParameterError(f"{path} was computed with a parameter {name}, which {case.system.name} does not have")
        if name not in stored:
            raise ParameterError(f"{path} was computed without a parameter {name}, which {case.system.name} has")
        if name not in free and not same(stored[name], case.values[name]):
            raise ParameterError(
                f"{path} was computed with {name} = {stored[name]}, not {case.values[name]}: give that case"
            )


def flow_notes(flow: Callable[[Any], Any]) -> dict[str, Note]:
    """Notes by which ``flow_of`` finds the flow of a result again."""
    return {
        "states": Note(Along("state", str), lambda result: flow(result).states),
        "dependent": Note([str], lambda result: flow(result).dependent),
        "settle": Note(float, lambda result: flow(result).settle),
    }


def values_note(case: Callable[[Any], Any]) -> Note:
    """The parameters of a result, which ``compare`` compares."""
    return Note({str: str}, lambda result: {name: str(value) for name, value in case(result).values.items()})


def flow_of(case: Bound, about: Mapping[str, Any]) -> Flow:
    """The flow with the states, dependent velocities and settling that were noted."""
    noted = tuple(about["states"]), tuple(about["dependent"]), about["settle"]
    for flow in _flows(case, *noted):
        if (flow.states, flow.dependent, flow.settle) == noted:
            return flow
    raise Misfit(f"{case.system.name} has no equations in {', '.join(about['states'])}")


def _flows(case: Bound, states: tuple[str, ...], dependent: tuple[str, ...], settle: float) -> Iterator[Flow]:
    """Flows that results are computed with: the usual one, with other velocities or all, of steady motions, forced."""
    yield case.system.shape  # type: ignore[attr-defined]
    forced = [doors.forcing.forced_flow(case)] if set(doors.forcing.CARRIED) <= set(states) else []
    yield from forced
    system = case.system
    if isinstance(system, System):
        names = system.coordinate_names
        kept = frozenset(states) & set(names)
        if settle > 0 and not system.rods and {f"{name}_dot" for name in names} <= set(states):
            relative = doors.relative.relative_flow(system, (), case.numbers, keep=kept)
            yield from (
                doors.all_velocities.in_all_velocities(each, settle) for each in (system.shape, relative, *forced)
            )
        if set(dependent) <= {f"{name}_dot" for name in names} and len(set(dependent)) == len(dependent):
            chosen = tuple(name.removesuffix("_dot") for name in dependent)
            yield from (
                doors.relative.sliced(system, chosen, settle, part)
                for part in dict.fromkeys([None, doors.freezing.slice_of(system, kept)])
            )
        yield doors.relative.relative_flow(
            system, [name for name in states if name not in names], case.numbers, keep=kept
        )
