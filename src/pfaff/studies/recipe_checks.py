"""What a recipe may say: numbers, names and texts where they belong, and measures that are known here.

A recipe is read from a file that anyone may have written. It selects among the numbers of the ``catalogue``, and
nothing else: what it says is compared with what is known before any of it is used.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pfaff.archive.layouts import Misfit, Sizes, typed
from pfaff.studies.catalogue import QUANTITIES, searches
from pfaff.studies.quantities import FUNCTION, RESERVED

PLAIN = str | int | float | bool | None
POINTS = {"dims": [str], "names": [str], "shape": [int], "sha256": str, "about": {"kind": str}}
FILE = {"file": str, "called": str, "sha256": str}
SAMPLE = {"samples": int, "indices": bool}
KINDS_OF_POINTS = ("grid", "list", "sobol")


def checked(recipe: Any) -> dict[str, Any]:
    """A recipe that was read, if all of it is as it was written; else an error says what is not."""
    for part, check in PARTS.items():
        if part not in _table(recipe, "the recipe"):
            raise KeyError(part)
        check(recipe[part])
    if len(recipe["chunk"]) != len(recipe["points"]["shape"]):
        raise Misfit("the chunk of its recipe is none of its points")
    return dict(recipe)


def _system(about: Any) -> None:
    _typed(about, {"name": str, "fingerprint": str}, "the system")
    if "atlas" in about:
        _typed(about, {"atlas": str}, "the system")
        _plain(about.get("options", {}), "the options of the system")
    elif "file" in about:
        _file(about, "the system")


def _file(about: Any, where: str) -> None:
    _typed(about, FILE, where)
    if not about["called"].isidentifier():
        raise Misfit(f"what {where} is called is no name")


def _plain(values: Any, where: str) -> None:
    for name, value in _table(values, where).items():
        if not isinstance(value, PLAIN):
            raise Misfit(f"{name} of {where} is neither a number nor a text")


def _points(points: Any) -> None:
    _typed(points, POINTS, "the points")
    kind, dims, names, shape = points["about"]["kind"], points["dims"], points["names"], points["shape"]
    if kind not in KINDS_OF_POINTS:
        raise Misfit(f"points of a kind {kind!r} are not known")
    if kind == "sobol":
        _typed(points["about"], SAMPLE, "the sample")
    _names(names, "the points")
    if (dims != names if kind == "grid" else len(dims) != 1) or len(shape) != len(dims) or min(shape) < 1:
        raise Misfit("the points have no such dimensions")


def _measures(measures: Any) -> None:
    if not isinstance(measures, list) or not measures:
        raise Misfit("measures of its recipe is none")
    for each in measures:
        _typed(each, {"names": [str], "kind": str}, "a measure")
        _names(each["names"], "a measure", RESERVED)
        _typed(each.get("beside", {}), {str: str}, "the labels of a measure")
        names = [each.get("beside", {}).get(name, name) for name in each["names"]]
        kind, search = each["kind"], searches().get(each["kind"])
        if search is not None and search.moves:
            _typed(each, {"of": [str], "options": {str: float}}, "a measure of motions")
            _typed(each.get("initial", {}), {str: float}, "the start of a motion")
            if "duration" not in each["options"] or names != [f"{kind}_{name}" for name in each["of"]]:
                raise Misfit("a measure of motions has other names than what it is of")
        elif kind == FUNCTION:
            if "file" in each:
                _file(each, "a measure")
        elif unknown := [name for name in names if name not in QUANTITIES or QUANTITIES[name].search is not search]:
            raise Misfit(f"no measure {unknown[0]!r} of a kind {kind!r} is known")
    _names([name for each in measures for name in each["names"]], "the measures")


def _names(names: Sequence[str], where: str, taken: Sequence[str] = ()) -> None:
    """Names of arrays, each once: none that leads to another place in a store."""
    for name in names:
        if not name.strip() or name.startswith(".") or {"/", "\\", "\0"} & set(name) or name in taken:
            raise Misfit(f"{name!r} is no name of {where}")
    if not names or len(set(names)) < len(names):
        raise Misfit(f"{where} have no names, or one twice")


def _asked(asked: Any) -> None:
    if set(_table(asked, "asked")) != {"load", "to", "fixed"}:
        raise Misfit("asked of its recipe is none")
    if not isinstance(asked["load"], str | None) or not isinstance(asked["to"], int | float | None):
        raise Misfit("the load that is searched, or how far, cannot be read")
    _plain(asked["fixed"], "what is fixed")


def _chunk(chunk: Any) -> None:
    if not all(each > 0 for each in typed(chunk, [int], "chunk", Sizes())):
        raise Misfit("chunk of its recipe is none")


def _table(value: Any, where: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise Misfit(f"{where} is no table of names")
    return value


def _typed(value: Any, type_: Any, where: str) -> None:
    typed(value, type_, where, Sizes())


PARTS: dict[str, Callable[[Any], None]] = {
    "system": _system,
    "values": lambda values: _plain(values, "the values"),
    "pfaff": lambda version: _typed(version, str, "pfaff"),
    "points": _points,
    "measures": _measures,
    "asked": _asked,
    "chunk": _chunk,
}
