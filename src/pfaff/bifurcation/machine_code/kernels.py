"""Loops compiled by numba and kept on disk, with a message about each that takes long."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from threading import local
from typing import Any

from numba import config, njit
from numba.core import event
from numba.core.compiler_lock import global_compiler_lock

from pfaff.bifurcation.machine_code.kernel_cache import kept
from pfaff.progress import patience

# Sums may be reordered and fused; infinities and NaN keep their meaning, and a division by zero gives one of them. But
# numba tests whether x is finite by x − x, which reordering makes zero: kernels test abs(x) < inf.
OPTIONS = {"fastmath": {"reassoc", "contract", "nsz"}, "error_model": "numpy", "no_cfunc_wrapper": True}
# Parts of kernels, never called from Python: inlined in each, they are not compiled once more by themselves.
part = njit(**OPTIONS, no_cpython_wrapper=True, inline="always")


def compiled(function: Callable[..., Any], vectors: bool = False, **more: Any) -> Any:
    """Compile loops over a few states, which vectorisation does not make faster: it would take a fifth of the
    compilation time. Those over many states are faster with ``vectors``."""
    kernel = kept(**OPTIONS, **more)(function)
    compile = kernel.compile

    def quickly(signature: Any) -> Any:
        with global_compiler_lock, _uncollected():  # the setting is numba's own, for everything compiled meanwhile
            usual, config.LOOP_VECTORIZE = config.LOOP_VECTORIZE, int(vectors)
            try:
                return compile(signature)
            finally:
                config.LOOP_VECTORIZE = usual

    kernel.compile = quickly
    return kernel


@contextmanager
def _uncollected() -> Iterator[None]:
    """Suspend garbage collection: compilation makes many objects and frees them by itself."""
    collected = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collected:
            gc.enable()


class Telling(local, event.Listener):
    """Reports which kernel is being compiled; its parts are compiled meanwhile."""

    def __init__(self) -> None:
        self._under_way: list[AbstractContextManager[None]] = []

    def on_start(self, event: event.Event) -> None:
        function = event.data["dispatcher"].py_func
        ours = function.__module__.startswith("pfaff.")
        what = f"compiling {function.__name__}, for periodic orbits: once, then kept on disk"
        self._under_way.append(patience(what) if ours else nullcontext())
        self._under_way[-1].__enter__()

    def on_end(self, event: event.Event) -> None:
        self._under_way.pop().__exit__(None, None, None)


event.register("numba:compile", Telling())
