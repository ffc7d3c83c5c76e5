"""Files that are there whole or not at all: a full disk or a kill leaves the old file, or none."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any


@contextmanager
def whole(path: str | Path) -> Iterator[Path]:
    """A temporary place beside a path to write to; in the end what is there replaces the file at once."""
    path = Path(path).resolve()
    if path.exists() and not path.is_file():  # such as /dev/stdout, or a folder that writing will complain about
        yield path
        return
    if path.exists() and not os.access(path, os.W_OK):
        raise PermissionError(errno.EACCES, "it may not be written", str(path))
    part = path.with_name(f".{os.urandom(4).hex()}.{path.name[-100:]}")
    try:
        yield part
        with part.open("rb+") as written:  # Windows writes to the disk only what was opened for writing
            os.fsync(written.fileno())
        if path.exists():
            shutil.copymode(path, part)
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def write_text(path: str | Path, text: str) -> None:
    with whole(path) as part:
        part.write_text(text, encoding="utf-8")


def copy(source: Path, path: Path) -> Path:
    with whole(path) as part:
        shutil.copyfile(source, part)
    return path


def why(problem: Any) -> str:
    """What is wrong with a file, without naming the temporary one that was written."""
    return getattr(problem, "strerror", None) or str(problem)
