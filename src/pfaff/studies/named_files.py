"""Python files that a study names: where a system or a measure is stated, by path, name and hash.

A store is written by whoever sends it, and so is the hash in it, which tells an earlier version of a file from the
present one and nothing else. A file is executed where a caller has named it or says ``trust=True``, never because a
store names it.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

from pfaff.errors import ParameterError

LOADING: list[Path] = []  # files being executed just now: studies they ask for are not run again


def in_file(path: Path, name: str) -> dict[str, Any]:
    """A name in a file as JSON."""
    path = path.resolve()
    if not path.is_file():
        raise ParameterError(f"no file {path}: write the path of the Python file that states the system")
    return {"file": str(path), "called": name, "sha256": _hash_of(path)}


def named(recipe: Mapping[str, Any]) -> tuple[str, ...]:
    """What would have to be run to go on with a study, each as ``file.py:name``."""
    parts = (recipe["system"], *recipe["measures"])
    return tuple(dict.fromkeys(f"{each['file']}:{each['called']}" for each in parts if "file" in each))


def system_in(about: Mapping[str, Any]) -> Any:
    """The system of a file; the file is executed."""
    with beside(Path(about["file"])):
        found = getattr(_loaded(about), about["called"], None)
        if found is None:
            raise ParameterError(f"{about['file']} has no {about['called']!r} any more: begin a new store")
        found = found() if callable(found) and not hasattr(found, "parameters") else found
    return getattr(found, "system", found)


def function_origin(function: Callable[..., Any]) -> dict[str, Any]:
    """The file and name of a function at the top level of a file; empty for one typed in."""
    code = getattr(function, "__code__", None)
    name = getattr(function, "__qualname__", "")
    if code is None or not name.isidentifier() or not Path(code.co_filename).is_file():
        return {}
    return in_file(Path(code.co_filename), name)


@dataclass(frozen=True)
class FromFile:
    """A function of a file, which finds what lies beside the file whenever it is called."""

    function: Callable[..., Any]
    path: Path

    def __call__(self, *given: Any) -> Any:
        with beside(self.path):
            return self.function(*given)


def function_from(about: Mapping[str, Any]) -> FromFile:
    """The function of a file that has not changed; the file is executed."""
    found = getattr(_loaded(about), about["called"], None)
    if not callable(found):
        raise ParameterError(
            f"{about['file']} has no function {about['called']!r}, which measures this study: put it back, or begin a "
            "new store"
        )
    return FromFile(found, Path(about["file"]))


@contextmanager
def beside(path: Path) -> Iterator[None]:
    """Let modules beside a file be imported, for as long as this lasts."""
    folder = str(path.parent)
    sys.path.insert(0, folder)
    try:
        yield
    finally:
        with suppress(ValueError):  # the file may have taken it out
            sys.path.remove(folder)


class Source(SourceFileLoader):
    """A loader of the file as it stands: bytecode of a file changed within a second would pass for its own."""

    def get_code(self, fullname: str) -> Any:
        return self.source_to_code(self.get_data(self.path), self.path)


def _hash_of(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _loaded(about: Mapping[str, Any]) -> ModuleType:
    path = Path(about["file"])
    running = sys.modules.get("__main__")
    if getattr(running, "__file__", None) and Path(str(running.__file__)).resolve() == path:  # type: ignore[union-attr]
        assert running is not None
        return running
    if not path.is_file():
        raise ParameterError(f"no file {path}, from which this study was begun: put it back, or begin a new store")
    digest = _hash_of(path)
    if digest != about["sha256"]:
        raise ParameterError(f"{path} has changed since this study was begun: put it back, or begin a new store")
    name = f"pfaff study {digest[:12]} {path.stem}"
    if name in sys.modules:
        return sys.modules[name]
    spec = spec_from_file_location(name, path, loader=Source(name, str(path)))
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[name] = module_from_spec(spec)
    LOADING.append(path)
    try:
        with beside(path):
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
