"""Compiled loops that numba keeps on disk, in files that are used only if they are intact and belong to their source.

numba runs whatever its files hold, and a kill between an index and an entry leaves one that belongs to older source.
Here files begin with a checksum, and entries name the source and signature they belong to; all others are compiled
anew.
"""

from __future__ import annotations

import hashlib
import io
import pickle
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

from numba import njit
from numba.core.caching import FunctionCache, IndexDataCacheFile

HOUSE = Path(__file__).parents[2]
ELSEWHERE = (  # constants and functions that loops take from other rooms
    "algebra/tolerances.py", "continuation/dense.py", "continuation/problem.py",
)  # fmt: skip


def kept(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """``njit`` with these options, its results kept on disk where possible."""

    def decorate(function: Callable[..., Any]) -> Any:
        dispatcher = njit(**options)(function)
        try:
            dispatcher._cache = Cache(function)
        except (OSError, RuntimeError) as problem:
            unkept("numba finds no folder that it may write to, set NUMBA_CACHE_DIR", problem)
        return dispatcher

    return decorate


def unkept(what: str, why: object) -> None:
    """Warn that something is not kept; Python shows the warning once."""
    warnings.warn(f"compiled code is not kept, so that every run compiles anew: {what}: {why}", stacklevel=2)


def is_kept(dispatcher: Any) -> bool:
    """Whether a function is compiled, in this process or on disk."""
    files = getattr(dispatcher._cache, "_cache_file", None)
    return bool(dispatcher.signatures or (files is not None and files._load_index()))


class Cache(FunctionCache):
    """numba's cache in sealed files; it does without those that cannot be written."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)
        # What a loop calls, and its constants, may be in any file of its room.
        room = _room(Path(function.__code__.co_filename))
        beside = sorted(
            {*room.rglob("*.py"), *Path(__file__).parent.glob("*.py"), *(HOUSE / each for each in ELSEWHERE)}
        )
        stamp = _contents(tuple((each, each.stat().st_mtime_ns, each.stat().st_size) for each in beside))
        self._cache_file = Sealed(self._impl.locator.get_cache_path(), self._impl.filename_base, stamp)

    def save_overload(self, signature: Any, data: Any) -> None:
        try:
            super().save_overload(signature, data)
        except OSError as problem:
            self.disable()
            unkept("numba", problem)


class Sealed(IndexDataCacheFile):
    """Files with a checksum; entries with the source and the signature that they belong to."""

    def save(self, key: Any, data: Any) -> None:
        super().save(key, (self._source_stamp, key, data))

    def load(self, key: Any) -> Any:
        stamp, of, data = super().load(key) or (None, None, None)
        return data if (stamp, of) == (self._source_stamp, key) else None

    def _load_index(self) -> dict[Any, str]:
        content = _unsealed(self._index_path)
        if content is None or pickle.load(content) != self._version:
            return {}
        stamp, overloads = pickle.load(content)
        return overloads if stamp == self._source_stamp else {}

    def _load_data(self, name: str) -> Any:
        content = _unsealed(self._data_path(name))
        return None if content is None else pickle.load(content)

    @contextmanager
    def _open_for_write(self, path: str) -> Iterator[io.BytesIO]:
        content = io.BytesIO()
        yield content
        with super()._open_for_write(path) as file:
            file.write(hashlib.sha256(content.getvalue()).digest() + content.getvalue())


def _room(path: Path) -> Path:
    """The folder below that of bifurcations, or of the whole house, in which a file is."""
    return next((each for each in path.parents if each.parent.name in ("bifurcation", "pfaff")), path.parent)


@cache
def _contents(files: tuple[tuple[Path, int, int], ...]) -> str:
    """The contents of files; dates and sizes only decide whether they are read again."""
    source = hashlib.sha256()
    for path, _, _ in files:
        source.update(path.name.encode() + path.read_bytes())
    return source.hexdigest()


def _unsealed(path: str) -> io.BytesIO | None:
    """The content of a file, if its checksum is right; else None."""
    try:
        whole = Path(path).read_bytes()
    except OSError:
        return None
    size = hashlib.sha256().digest_size
    return io.BytesIO(whole[size:]) if hashlib.sha256(whole[size:]).digest() == whole[:size] else None
