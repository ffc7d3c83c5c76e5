"""Loops compiled by numba, kept on disk, with a word about each that takes long."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from threading import local

from numba import njit
from numba.core import event

from pfaff.bifurcation.orbits.sealed import kept
from pfaff.flow.compiled import compiling

# Sums may be reordered and fused; infinities and NaN keep their meaning, and a division by zero gives one.
OPTIONS = {"fastmath": {"reassoc", "contract", "nsz"}, "error_model": "numpy"}
compiled = kept(**OPTIONS)
part = njit(**OPTIONS, no_cpython_wrapper=True)  # of kernels, never called from Python


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
