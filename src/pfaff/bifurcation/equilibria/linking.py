"""Functions that compiled loops call, for numba to link into them and to optimise there, once.

By itself numba optimises every function together with all that it calls, and makes code of it, before another one links
it: of a tower of calls, each floor again for every floor above it. And it counts, atomically, how often an array is
referred to, in each function that is given one; a caller keeps what it lends, so that nobody else needs to count.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

from llvmlite import binding
from numba import njit
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler

from pfaff.bifurcation.orbits.kernels import OPTIONS, compiled

COUNTED = re.compile(r"call void @NRT_(?:in|de)cref\(ptr (%arg[\w.]*)\)")  # an argument, in LLVM's language
ARGUMENT = re.compile(r"%arg[\w.]*")
FUNCTION = re.compile(r"^define .*?^}$", re.MULTILINE | re.DOTALL)


class Part(JITCodeLibrary):
    """What is linked only: not optimised by itself, and without code of its own."""

    def _optimize_final_module(self) -> None:
        """It is optimised where it is linked."""

    def _finalize_final_module(self) -> None:
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        return 0

    @property
    def codegen(self) -> Part:
        return self

    def set_env(self, name: str, env: Any) -> None:
        """Nothing raises exceptions, which is what it is for."""


class Linked(Compiler):
    """numba's compiler, up to what can be linked."""

    def define_pipelines(self) -> list[Any]:
        state = self.state
        state.library = Part(state.targetctx.codegen(), state.func_id.func_qualname)
        return super().define_pipelines()


class Whole(JITCodeLibrary):
    """A loop with all that it calls."""

    def _optimize_final_module(self) -> None:
        text = FUNCTION.sub(lambda function: "\n".join(_uncounted(function[0].split("\n"))), str(self._final_module))
        name, self._final_module = self._final_module.name, binding.parse_assembly(text)
        self._final_module.name = name
        super()._optimize_final_module()


class Looped(Compiler):
    """numba's compiler, for loops."""

    def define_pipelines(self) -> list[Any]:
        state = self.state
        state.library = Whole(state.targetctx.codegen(), state.func_id.func_qualname)
        state.library.enable_object_caching()
        return super().define_pipelines()


def _uncounted(lines: list[str]) -> Iterator[str]:
    """A function that does not count references to its arguments, but to those that may become its variables."""
    head, *body = lines
    uses = (line for line in body if " call " not in line and " icmp " not in line)
    assigned = {each for line in uses for each in ARGUMENT.findall(line)}
    yield head
    for line in body:
        counted = COUNTED.search(line)
        if not counted or counted[1] in assigned:
            yield line


PARTS = {**OPTIONS, "no_cpython_wrapper": True, "pipeline_class": Linked}
called = njit(**PARTS)


def loop(function: Callable[..., Any]) -> Any:
    """What Python calls, made of functions that are ``called``."""
    return compiled(function, pipeline_class=Looped)
