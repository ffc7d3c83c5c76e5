"""Loops compiled by numba, kept on disk, with a word about each that takes long."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from threading import local
from typing import Any

from numba import config, njit
from numba.core import event
from numba.core.compiler_lock import global_compiler_lock

from pfaff.bifurcation.orbits.sealed import kept
from pfaff.flow.compiled import compiling

# Sums may be reordered and fused; infinities and NaN keep their meaning, and a division by zero gives one. But numba
# asks whether x is finite by x − x, which reordering makes zero: kernels ask abs(x) < inf.
OPTIONS = {"fastmath": {"reassoc", "contract", "nsz"}, "error_model": "numpy", "no_cfunc_wrapper": True}
# Parts of kernels, never called from Python: written out in each, they are not compiled once more by themselves.
part = njit(**OPTIONS, no_cpython_wrapper=True, inline="always")


def compiled(function: Callable[..., Any], vectors: bool = False, **more: Any) -> Any:
    """Loops over a few states, which vectors make no faster: they would take a fifth of the time of compilation. Those
    over many states are faster by ``vectors``."""
    kernel = kept(**OPTIONS, **more)(function)
    compile = kernel.compile

    def quickly(signature: Any) -> Any:
        with global_compiler_lock, _uncollected():  # the setting is numba's own, for all that is compiled meanwhile
            usual, config.LOOP_VECTORIZE = config.LOOP_VECTORIZE, int(vectors)
            try:
                return compile(signature)
            finally:
                config.LOOP_VECTORIZE = usual

    kernel.compile = quickly
    return kernel


@contextmanager
def _uncollected() -> Iterator[None]:
    """No garbage is collected meanwhile: compilation makes many objects and drops them by itself."""
    collected = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collected:
            gc.enable()


class Telling(local, event.Listener):
    """Says which of our kernels is being compiled; what they are made of is compiled meanwhile."""

    def __init__(self) -> None:
        self._under_way: list[AbstractContextManager[None]] = []

    def on_start(self, event: event.Event) -> None:
        function = event.data["dispatcher"].py_func
        ours = function.__module__.startswith("pfaff.")
        self._under_way.append(compiling(f"{function.__name__}, for periodic orbits") if ours else nullcontext())
        self._under_way[-1].__enter__()

    def on_end(self, event: event.Event) -> None:
        self._under_way.pop().__exit__(None, None, None)


event.register("numba:compile", Telling())
