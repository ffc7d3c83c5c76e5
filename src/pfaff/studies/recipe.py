"""How to make a case again, in JSON: a call of the atlas, or a name in a file with the file's hash, and the values.

A store holds nothing that could run by itself. What is not in the atlas is in a file of the user's, ``named_files``.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pfaff import doors
from pfaff.errors import ParameterError
from pfaff.studies.named_files import in_file, system_in

if TYPE_CHECKING:
    from pfaff.case import Bound


def described(case: Bound, source: str | None = None) -> dict[str, Any]:
    """A case as numbers and names: the origin of its system, its statement, and its values."""
    return {
        "system": {"name": case.system.name, "fingerprint": fingerprint(case.system), **origin_of(case.system, source)},
        "values": {name: _written(value) for name, value in case.values.items()},
        "pfaff": import_module("pfaff").__version__,
    }


def made(recipe: Mapping[str, Any]) -> Bound:
    """The case of a recipe, by the atlas or by the file that it names, which is executed; raises where either has
    changed."""
    about = recipe["system"]
    if "atlas" in about:
        if (maker := doors.atlas.SYSTEMS.get(about["atlas"])) is None:
            raise ParameterError(f"the atlas has no {about['atlas']}, of which this study is: begin a new store")
        system = maker(**about.get("options", {}))
    else:
        system = system_in(about)
    if not hasattr(system, "parameter_names"):
        raise ParameterError(f"{about['called']} in {about['file']} is no system: begin a new store")
    if fingerprint(system) != about["fingerprint"]:
        raise ParameterError(f"{about['name']} is stated differently now than when the study began: begin a new store")
    return bound_to(system, recipe)


def bound_to(system: Any, recipe: Mapping[str, Any]) -> Bound:
    """A system with the values of a recipe."""
    bound: Bound = system.at(**{name: value for name, value in recipe["values"].items() if value is not None})
    return bound


def fingerprint(system: Any) -> str:
    """A hash of the whole statement: equal for equal systems."""
    if hasattr(system, "right_hand_sides"):
        parts = [system.state_names, system.right_hand_sides]
    else:
        s = system.statement
        parts = [s.q, s.kinetic, s.potential, s.dissipation, s.forces, s.constraints, s.positions, s.particles]
        parts += [dict(system.quasi_forms)] if system.quasi_forms else []
        parts += [rod.described() for rod in getattr(system, "rods", ())]
    named = [str(part) for part in (*parts, list(system.parameters), system.load)]
    return hashlib.sha256("\n".join(named).encode()).hexdigest()


def origin_of(system: Any, source: str | None) -> dict[str, Any]:
    """A call of the atlas, a name in a file, or empty where neither is known."""
    if source is not None:
        path, _, name = str(source).rpartition(":")
        if not path:
            raise ParameterError(f"source={source!r}: write the file and the name in it, source='my_sleigh.py:sleigh'")
        about = in_file(Path(path), name)
        found = system_in(about)
        if fingerprint(found) != fingerprint(system):
            raise ParameterError(f"{source} is not the system of this case: give the one that states it")
        return about
    called = getattr(system, "origin", None)
    if called is not None:
        return {"atlas": called[0], "options": dict(called[1])}
    for module in reversed(list(sys.modules.values())):  # last imported first: what states it
        file = getattr(module, "__file__", None)
        if file is None or not str(file).endswith(".py"):
            continue
        held = next((key for key, value in list(vars(module).items()) if value is system), None)
        if held is not None and Path(file).is_file():
            return in_file(Path(file), held)
    return {}


def _written(value: Any) -> Any:
    """A number as it is, an exact one as text."""
    return value if value is None or isinstance(value, int | float) else str(value)


def differences(stored: Mapping[str, Any], given: Mapping[str, Any]) -> list[str]:
    """The differences of two recipes, in words."""
    found = []
    for key in dict.fromkeys([*stored, *given]):
        before, now = stored.get(key), given.get(key)
        if before != now:
            found += SAID.get(key, _each)(key, before, now)
    return found


def _each(key: str, before: Any, now: Any) -> list[str]:
    if not (isinstance(before, Mapping) and isinstance(now, Mapping)):
        return [f"{key} was {_brief(before)}, is {_brief(now)}"]
    names = [name for name in dict.fromkeys([*before, *now]) if before.get(name) != now.get(name)]
    return [each for name in names for each in _each(name, before.get(name), now.get(name))]


def _systems(key: str, before: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    was, is_ = _called(before), _called(now)
    if "atlas" in before and "atlas" in now and before["fingerprint"] == now["fingerprint"]:
        return []  # default options, whether given or not
    if was != is_:
        return [f"the {key} was {was}, is {is_}"]
    return [f"{was} is stated differently"]


def _called(system: Mapping[str, Any]) -> str:
    if "atlas" in system:
        return f"{system['atlas']}({', '.join(f'{name}={value!r}' for name, value in system['options'].items())})"
    return f"{system['called']} of {system['file']}" if "file" in system else str(system["name"])


def _points(key: str, before: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    for part, word in (("names", ", "), ("shape", " × ")):
        if before[part] != now[part]:
            was, is_ = (word.join(map(str, each[part])) for each in (before, now))
            return [f"the {key} were {'over ' * (part == 'names')}{was}, are {is_}"]
    return [f"the {key} have other values of {' and '.join(map(str, now['names']))}"]


def _measures(key: str, before: list[Mapping[str, Any]], now: list[Mapping[str, Any]]) -> list[str]:
    was, is_ = (", ".join(name for each in measures for name in each["names"]) for measures in (before, now))
    return [f"the {key} were {was}, are {is_}" if was != is_ else f"{is_} is measured in another way"]


SAID: dict[str, Callable[[str, Any, Any], list[str]]] = {"system": _systems, "points": _points, "measures": _measures}


def tied(stored: Mapping[str, Any], given: Mapping[str, Any]) -> str:
    """A sentence with a remedy, where a study belongs to another file than the one that asks for it, or to an earlier
    version of it; else empty."""
    pairs = [
        (stored["system"], given["system"]),
        *zip(stored.get("measures", ()), given.get("measures", ()), strict=False),
    ]
    for before, now in pairs:
        if before.get("file") is None or before.get("called") != now.get("called"):
            continue
        file, called, other = before["file"], before["called"], now.get("file")
        if other != file:
            return (
                f"it belongs to {called} of {file}, and {called} of {other or 'no file'} may be something else: import "
                "it from there, go on with pfaff.open_sweep(store, trust=True), which runs that file, or give another "
                "store"
            )
        if before["sha256"] != now["sha256"]:
            return (
                f"{file}, where {called} is, has changed since this study was begun: put it back, or give another "
                f"store (with {called} in a file of its own the others may change)"
            )
    return ""


def _brief(value: Any) -> str:
    text = "not given" if value is None else str(value)
    return text if len(text) <= 60 else f"{text[:57]}…"
