"""Results in netCDF files: written, read, and compared with the case that they are read for."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Collection, Iterable, Mapping
from math import isclose
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from pfaff.errors import ParameterError
from pfaff.expressions import constant
from pfaff.files import whole
from pfaff.names import spelled

if TYPE_CHECKING:
    import xarray

    from pfaff.case import Bound
    from pfaff.flow import Flow

CHECKSUM, SPELLING = "checksum", "spelling"
TYPES = ("byte", "char", "short", "ushort", "int", "uint", "int64", "uint64", "float", "double", "real", "string")
SAME_VALUE = 1e-14  # relative, of parameters written and read


def labels(
    names: Iterable[str], taken: Iterable[str], letters: Callable[[str], str] = lambda name: name
) -> dict[str, str]:
    """What each name is called beside others: itself, or with an underscore where it is taken, as by the time.

    The same names always get the same labels, so that whoever reads finds them again.
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
    """Names that a file of this format cannot have, with those they have there."""
    found = labels(map(str, {**data.variables, **data.sizes}), TYPES, spelled)
    return {name: label for name, label in found.items() if name != label}


def write(data: xarray.Dataset, path: str | Path) -> Path:
    try:
        path, changed = Path(path), _in_ascii(data)
        notes = {CHECKSUM: checksum(data)} | ({SPELLING: json.dumps(changed)} if changed else {})
        with whole(path) as part:
            data.rename(changed).assign_attrs(notes).to_netcdf(part, engine="scipy")
    except (OSError, TypeError, ValueError) as problem:
        raise ParameterError(f"cannot write {path}: {problem}") from problem
    return path


def read(path: str | Path, what: str) -> xarray.Dataset:
    """Everything in a file that should hold ``what``, such as a motion."""
    import xarray

    try:
        with xarray.open_dataset(path, engine="scipy") as stored:
            data = stored.load()
        data = data.rename({label: name for name, label in json.loads(data.attrs.pop(SPELLING, "{}")).items()})
    except OSError as problem:
        raise ParameterError(f"cannot read a {what} from {path}: {problem}") from problem
    except Exception as problem:  # a damaged file may raise anything while it is taken apart
        raise ParameterError(f"cannot read a {what} from {path}: give a netCDF file that save() wrote") from problem
    written = data.attrs.pop(CHECKSUM, None)
    if written is not None and written != checksum(data):
        raise ParameterError(f"cannot read a {what} from {path}: it was changed or damaged since save() wrote it")
    return data


def checksum(data: xarray.Dataset) -> str:
    """Of names, numbers and texts, in whatever types a file keeps them."""
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


def read_branch(path: str | Path, case: Bound) -> tuple[xarray.Dataset, dict[str, Any]]:
    """A branch or curve of the system of a case, and what was noted about it."""
    from pfaff.case import Bound

    if not isinstance(case, Bound):
        raise ParameterError(f"{case!r} is no case: give the system with its values, system.at(…)")
    data = read(path, "branch")
    if "t" in data.sizes:
        raise ParameterError(f"{path} holds a motion, no branch: read it with pfaff.load_motion")
    try:
        about = json.loads(data.attrs["about"])
    except (ValueError, TypeError, KeyError) as why:
        raise ParameterError(f"cannot read a branch from {path}: {why}") from why
    if case.system.name != data.attrs["system"]:
        raise ParameterError(f"{path} holds a branch of {data.attrs['system']}, not of {case.system.name}")
    return data, about


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
    path: str | Path, case: Bound, stored: Mapping[str, str], free: Collection[str], same: Callable[[str, Any], bool]
) -> None:
    """Every parameter that does not vary must have the value that the branch was computed with."""
    for name, text in stored.items():
        if name not in case.values:
            raise ParameterError(f"{path} was computed with a parameter {name}, which {case.system.name} has not")
        if name not in free and not same(text, case.values[name]):
            raise ParameterError(f"{path} was computed with {name} = {text}, not {case.values[name]}: give that case")


def flow_of(case: Bound, about: Mapping[str, Any]) -> Flow:
    """The shape flow, with the dependent velocities and the settling that were noted."""
    from pfaff.flow import shape_flow
    from pfaff.system import System

    flow: Flow = case.system.shape  # type: ignore[attr-defined]
    if tuple(about["dependent"]) == flow.dependent and about["settle"] == flow.settle:
        return flow
    assert isinstance(case.system, System)
    return shape_flow(case.system, [name.removesuffix("_dot") for name in about["dependent"]], about["settle"])
