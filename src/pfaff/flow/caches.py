"""Compiled code kept on disk; where that is not possible, functions are compiled anew.

heyoka gets a database in a folder of ours: its common one may grow to gigabytes, all of which it reads. It tries that
database for every function, and complains on stdout, where results go.
"""

from __future__ import annotations

import os
import shutil
import warnings
from pathlib import Path

import heyoka as hy

ROOM = 2**25  # least free bytes on a disk that is not full
SQLITE, HEAD = b"SQLite format 3\0", 100


def unkept(what: str, why: object) -> None:
    """Warn that something is not kept; Python shows the warning once."""
    warnings.warn(f"compiled code is not kept, so that every run compiles anew: {what}: {why}", stacklevel=2)


def cache_folder() -> Path:
    """The folder for what is kept from run to run."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "pfaff"


def name_database() -> None:
    """Give heyoka its folder, and keep its complaints from results; the disk is not touched yet."""
    hy.set_logger_level_error()
    hy.llvm_state.set_diskcache_path(cache_folder() / "heyoka")


def open_database(most: int) -> None:
    """Let heyoka keep up to ``most`` bytes, if it can use its folder."""
    if not hy.llvm_state.get_diskcache_enabled():
        return
    folder = Path(hy.llvm_state.get_diskcache_path())
    why = _unusable(folder)
    if why:
        hy.llvm_state.set_diskcache_enabled(False)
        unkept(f"heyoka in {folder}, delete it or set XDG_CACHE_HOME", why)
    else:
        hy.llvm_state.set_diskcache_limit(most)  # reads through everything that is kept


def _unusable(folder: Path) -> object:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if not os.access(folder, os.W_OK):
            return "it is read-only"
        if shutil.disk_usage(folder).free < ROOM:
            return "the disk is full"
        database = folder / "cache.db"
        if database.exists():
            with database.open("rb+") as file:
                return "" if _sound(file.read(HEAD), database.stat().st_size) else "its database is damaged"
    except OSError as problem:
        return problem
    return ""


def _sound(head: bytes, size: int) -> bool:
    """Whether a database is intact: empty, or as long as its head says (www.sqlite.org/fileformat.html, Sec. 1.3)."""
    if not head:
        return True
    if len(head) < HEAD or not head.startswith(SQLITE):
        return False
    page, pages = (int.from_bytes(head[at : at + length], "big") for at, length in ((16, 2), (28, 4)))
    known = head[24:28] == head[92:96]
    return not known or size >= pages * (65536 if page == 1 else page)
