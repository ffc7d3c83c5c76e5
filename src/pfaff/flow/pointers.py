"""C pointers of compiled expressions: heyoka's code, linked once more, for loops that are compiled themselves.

``f(out, x, parameters, time, tape)`` takes addresses of doubles and returns nothing; the tape is workspace. ``f(out, x,
parameters, time, stride)`` is for neighbouring columns of arrays, as many as the processor has lanes, with rows
``stride`` apart. Functions that cannot be linked have no pointer.
"""

from __future__ import annotations

import ctypes
import re
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from itertools import count
from typing import Any

import heyoka as hy

from pfaff.flow.compiled import Compiled

WHOLE, COMPACT = "cfunc", "cfunc.unstrided.batch_size_1"  # heyoka's names for the function of a single state
DEFINED = re.compile(r'^define [^@\n]*@"?([\w.$]+)"?\(', re.MULTILINE)
DECLARED = re.compile(r'^declare [^@\n]*@"?([\w.$]+)"?\(', re.MULTILINE)
LANED = 2  # index of the function for columns in lanes, among those that heyoka compiles
LIBRARIES = count()

Parts = tuple[str, list[str], list[bytes]]


@dataclass(frozen=True, eq=False)
class Pointer:
    """``address`` is valid as long as the library lives; ``tape`` is the length of its workspace."""

    address: int
    tape: int
    library: Any


def linked(function: Compiled) -> Pointer | None:
    """The pointer of a function that does not depend on time, if the linker knows all that it calls."""
    compiled = function.function
    if compiled.is_time_dependent:
        return None
    address, library = _linked(function, _parts)
    return library and Pointer(address, 0 if isinstance(compiled.llvm_states, list) else len(compiled.dc), library)


@dataclass(frozen=True, eq=False)
class Columns:
    """A pointer for as many columns at once as there are ``lanes``."""

    address: int
    lanes: int
    library: Any


def linked_in_lanes(function: Compiled) -> Columns | None:
    """The pointer for lanes of a function that does not depend on time and is unrolled, if the linker knows all it
    calls."""
    compiled = function.function
    if compiled.is_time_dependent or not isinstance(compiled.llvm_states, list):
        return None
    address, library = _linked(function, _laned)
    return library and Columns(address, compiled.batch_size, library)


def _linked(function: Compiled, parts: Callable[[Any], Parts]) -> tuple[int, Any]:
    """The address of a function and the library that keeps it; no library where the linker does not know all."""
    binding, linker = _linker()
    name, texts, codes = parts(function.function)
    outside = _outside(binding, texts)
    if not all(outside.values()):
        return 0, None
    builder = binding.JITLibraryBuilder()
    for symbol, address in outside.items():
        builder.import_symbol(symbol, address)
    for code in codes:  # those that are needed are linked
        builder.add_object_img(code)
    builder.add_current_process().export_symbol(name)
    try:
        library = builder.link(linker, f"pfaff {next(LIBRARIES)}")
    except RuntimeError:  # in the linker's words
        return 0, None
    return library[name], library


def _outside(binding: Any, texts: list[str]) -> dict[str, int]:
    """The addresses of functions that LLVM code calls but does not define."""
    defined = {each for text in texts for each in DEFINED.findall(text)}
    declared = {each for text in texts for each in DECLARED.findall(text) if text.count(f"{each}(") > 1}
    return {each: _address(binding, each) for each in declared - defined if not each.startswith("llvm.")}


def _address(binding: Any, symbol: str) -> int:
    """The address of a called function; only heyoka's libraries know functions of vectors. Zero if nothing knows it."""
    known = binding.address_of_symbol(symbol)
    if not known:
        with suppress(AttributeError, OSError):
            known = ctypes.cast(
                getattr(ctypes.CDLL(sys.modules[hy.expression.__module__].__file__), symbol), ctypes.c_void_p
            ).value
    return known or 0


def _parts(compiled: Any) -> Parts:
    """The name of the function of a single state, its LLVM code, and all object code."""
    states = compiled.llvm_states
    if isinstance(states, list):
        return WHOLE, [states[0].ir], [states[0].object_code]
    texts = [text for text in states.ir if any(each.startswith(COMPACT) for each in DEFINED.findall(text))]
    return COMPACT, texts, states.object_code


def _laned(compiled: Any) -> Parts:
    """The same for the function of columns in lanes."""
    lanes = compiled.llvm_states[LANED]
    return WHOLE, [lanes.ir], [lanes.object_code]


@cache
def _linker() -> Any:
    """JITLink, which puts all parts of a function into one block, with stubs for what lies gigabytes away: LLVM's older
    linker ends a process whose memory is so full that parts come to lie far from one another."""
    from llvmlite import binding

    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    machine = binding.Target.from_default_triple().create_target_machine()
    return binding, binding.create_lljit_compiler(machine, use_jit_link=True)
