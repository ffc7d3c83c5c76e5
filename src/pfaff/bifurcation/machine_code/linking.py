"""Functions called by compiled loops, linked into them by numba and optimised there, once.

By default numba optimises every function together with all that it calls, and generates code for it, before another one
links it: in a tower of calls, each floor again for every floor above it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import binding
from numba import njit
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler

from pfaff.bifurcation.machine_code.kernels import OPTIONS, compiled
from pfaff.bifurcation.machine_code.reference_counts import uncounted


class LinkedLibrary(JITCodeLibrary):
    """A function that is only linked: not optimised by itself, and without code of its own."""

    def _optimize_final_module(self) -> None:
        """Do nothing: it is optimised where it is linked."""

    def _finalize_final_module(self) -> None:
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        return 0

    @property
    def codegen(self) -> LinkedLibrary:
        return self

    def set_env(self, name: str, env: Any) -> None:
        """Do nothing: the environment serves exceptions, and none is raised."""


class Linked(Compiler):
    """numba's compiler, up to a linkable module."""

    def define_pipelines(self) -> list[Any]:
        state = self.state
        state.library = LinkedLibrary(state.targetctx.codegen(), state.func_id.func_qualname)
        return super().define_pipelines()


class Whole(JITCodeLibrary):
    """A loop with everything it calls."""

    _final_module: Any

    def _optimize_final_module(self) -> None:
        name, self._final_module = self._final_module.name, binding.parse_assembly(uncounted(str(self._final_module)))
        self._final_module.name = name
        super()._optimize_final_module()


class Looped(Compiler):
    """numba's compiler, for loops."""

    def define_pipelines(self) -> list[Any]:
        state = self.state
        state.library = Whole(state.targetctx.codegen(), state.func_id.func_qualname)
        state.library.enable_object_caching()
        return super().define_pipelines()


PARTS = {**OPTIONS, "no_cpython_wrapper": True, "pipeline_class": Linked}
called = njit(**PARTS)


def loop(function: Callable[..., Any]) -> Any:
    """A function that Python calls, made of functions that are ``called``."""
    return compiled(function, vectors=True, pipeline_class=Looped)
