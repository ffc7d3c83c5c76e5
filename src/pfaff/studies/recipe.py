"""How to make a case again, in JSON: a call of the atlas, or a name in a file with the file's hash, and the values.

A store holds nothing that could run by itself: what is not in the atlas is looked for in the user's own file.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from pfaff.errors import ParameterError

if TYPE_CHECKING:
    from pfaff.case import Bound

LOADING: list[Path] = []  # files being executed just now: studies they ask for are not run again


def described(case: Bound, source: str | None = None) -> dict[str, Any]:
    """A case as numbers and names: the origin of its system, its statement, and its values."""
    return {
        "system": {"name": case.system.name, "fingerprint": fingerprint(case.system), **origin_of(case.system, source)},
        "values": {name: _written(value) for name, value in case.values.items()},
        "pfaff": import_module("pfaff").__version__,
    }


def made(recipe: Mapping[str, Any]) -> Bound:
    """The case of a recipe; raises where the file or the system has changed."""
    about = recipe["system"]
    if "atlas" in about:
        from pfaff import atlas

        if (maker := atlas.SYSTEMS.get(about["atlas"])) is None:
            raise ParameterError(f"the atlas has no {about['atlas']}, of which this study is: begin a new store")
        system = maker(**about["options"])
    elif "file" in about:
        system = _system_in(about)
    else:
        raise ParameterError(
            f"the store does not say where {about['name']} comes from: give the case, open_sweep(store, case=…), or "
            "state it in a file and begin with source='file.py:name'"
        )
    if fingerprint(system) != about["fingerprint"]:
        raise ParameterError(f"{about['name']} is stated differently now than when the study began: begin a new store")
    return system.at(**{name: value for name, value in recipe["values"].items() if value is not None})


def checked(recipe: dict[str, Any]) -> dict[str, Any]:
    """A recipe that was read, checked."""
    points, asked = recipe["points"], recipe["asked"]
    names = [name for each in recipe["measures"] for name in each["names"]]
    chunk, shape = recipe["chunk"], points["shape"]
    right = {
        "chunk": len(chunk) == len(shape) and all(isinstance(each, int) and each > 0 for each in chunk),
        "asked": set(asked) == {"load", "to", "fixed"},
        "measures": names and all(isinstance(each["kind"], str) for each in recipe["measures"]),
        "points": len(points["names"]) and len(points["dims"]) == len(shape) and isinstance(points["about"], dict),
        "values": isinstance(recipe["values"], dict) and isinstance(recipe["system"]["fingerprint"], str),
    }
    for what, fits in right.items():
        if not fits:
            raise ValueError(f"{what} of its recipe is none")
    return recipe


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
        about = _in_file(Path(path), name)
        found = _system_in(about)
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
            return _in_file(Path(file), held)
    return {}


def function_origin(function: Callable[..., Any]) -> dict[str, Any]:
    """The file and name of a function at the top level of a file; empty for one typed in."""
    code = getattr(function, "__code__", None)
    name = getattr(function, "__qualname__", "")
    if code is None or not name.isidentifier() or not Path(code.co_filename).is_file():
        return {}
    return _in_file(Path(code.co_filename), name)


def function_from(about: Mapping[str, Any]) -> Callable[..., Any]:
    """The function of a file that has not changed."""
    found = getattr(_loaded(about, about.get("accept", False)), about["called"], None)
    if not callable(found):
        raise ParameterError(
            f"{about['file']} has no function {about['called']!r}, which measures this study: put it back, or begin a "
            "new store"
        )
    return found


def _in_file(path: Path, name: str) -> dict[str, Any]:
    path = path.resolve()
    if not path.is_file():
        raise ParameterError(f"no file {path}: write the path of the Python file that states the system")
    return {"file": str(path), "called": name, "sha256": hashlib.sha256(path.read_bytes()).hexdigest()}


def _system_in(about: Mapping[str, Any]) -> Any:
    found = getattr(_loaded(about), about["called"], None)
    if found is None:
        raise ParameterError(f"{about['file']} has no {about['called']!r} any more: begin a new store")
    found = found() if callable(found) and not hasattr(found, "parameters") else found
    return getattr(found, "system", found)


class Source(SourceFileLoader):
    """A loader of the file as it stands: bytecode of a file changed within a second would pass for its own."""

    def get_code(self, fullname: str) -> Any:
        return self.source_to_code(self.get_data(self.path), self.path)


def _loaded(about: Mapping[str, Any], accept: bool = False) -> ModuleType:
    path = Path(about["file"])
    running = sys.modules.get("__main__")
    if getattr(running, "__file__", None) and Path(str(running.__file__)).resolve() == path:  # type: ignore[union-attr]
        assert running is not None
        return running
    if not path.is_file():
        raise ParameterError(f"no file {path}, from which this study was begun: put it back, or begin a new store")
    if not accept and hashlib.sha256(path.read_bytes()).hexdigest() != about["sha256"]:
        raise ParameterError(f"{path} has changed since this study was begun: put it back, or begin a new store")
    name = f"pfaff study {about['sha256'][:12]}"
    if name in sys.modules:
        return sys.modules[name]
    spec = spec_from_file_location(name, path, loader=Source(name, str(path)))
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[name] = module_from_spec(spec)
    sys.path.insert(0, str(path.parent))
    LOADING.append(path)
    try:
        spec.loader.exec_module(module)
    except BaseException as problem:
        del sys.modules[name]
        if not isinstance(problem, Exception):
            raise
        raise ParameterError(
            f"{path}, which states what this study is of, fails when it is read again: {type(problem).__name__}: "
            f"{problem}. Put what it computes under if __name__ == '__main__':, and begin a new store"
        ) from problem
    finally:
        LOADING.pop()
    return module


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
                f"it belongs to {called} of {file}, and {called} of {other or 'no file'} may be something else: go on "
                "with pfaff.open_sweep(store), which takes it from that file, import it from there, or give another "
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
