"""Linear algebra by one thread: for small matrices, two threads only wait for each other."""

from __future__ import annotations

import os
from contextlib import ContextDecorator
from functools import cache
from threading import Lock
from typing import Any


class OneThread(ContextDecorator):
    """``with one_thread:`` restricts BLAS to one thread, as does the decorator ``@one_thread``.

    The setting holds for the whole process: the first one inside changes it, and the last one out restores it.
    """

    def __init__(self) -> None:
        self._limit: Any = None
        self._begin()
        if hasattr(os, "register_at_fork"):  # other threads, which may hold the lock, are not in a forked child
            os.register_at_fork(after_in_child=self._begin)

    def _begin(self) -> None:
        self._inside, self._lock = 0, Lock()

    def __enter__(self) -> None:
        with self._lock:
            if not self._inside:
                self._limit = _blas().limit(limits=1)
            self._inside += 1

    def __exit__(self, *problem: object) -> None:
        with self._lock:
            self._inside -= 1
            if not self._inside:
                self._limit.restore_original_limits()


@cache
def _blas() -> Any:
    import scipy.linalg.cython_blas  # noqa: F401  (one that is not loaded yet would not be found)
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController().select(user_api="blas")


one_thread = OneThread()
