"""C pointers of compiled expressions: what heyoka compiled, linked once more, for loops that are compiled themselves.

``f(out, x, parameters, time, tape)`` takes addresses of doubles and returns nothing; the tape is room for what it
computes on the way. What cannot be linked has no pointer.
"""

from __future__ import annotations

import ctypes
import re
from dataclasses import dataclass
from functools import cache
from itertools import count
from mmap import mmap
from typing import Any

from pfaff.flow.compiled import Compiled

REACH = 2**30  # bytes, half of what a jump of 32 bits takes
WHOLE, COMPACT = "cfunc", "cfunc.unstrided.batch_size_1"  # what heyoka calls the function of a single state
DEFINED = re.compile(r'^define [^@\n]*@"?([\w.$]+)"?\(', re.MULTILINE)
CALLED = re.compile(r'\bcall [^@\n]*@"?([\w.$]+)"?\(')
LIBRARIES = count()


@dataclass(frozen=True, eq=False)
class Pointer:
    """``address`` is valid as long as the library lives; ``tape`` is how many numbers the function writes down."""

    address: int
    tape: int
    library: Any


def linked(function: Compiled) -> Pointer | None:
    """Of a function that does not depend on time, if the linker knows all that it calls."""
    compiled = function.function
    if compiled.is_time_dependent:
        return None
    name, texts, codes = _parts(compiled)
    defined = {each for text in texts for each in DEFINED.findall(text)}
    called = {each for text in texts for each in CALLED.findall(text)} - defined
    binding, linker = _linker()
    outside = [binding.address_of_symbol(each) for each in called if not each.startswith("llvm.")]
    if not all(outside) or not within_reach([*outside, binding.address_of_symbol("exp")], sum(map(len, codes))):
        return None
    builder = binding.JITLibraryBuilder()
    for code in codes:  # of which those are linked that are needed
        builder.add_object_img(code)
    library = builder.add_current_process().export_symbol(name).link(linker, f"pfaff {next(LIBRARIES)}")
    return Pointer(library[name], len(compiled.dc) if name == COMPACT else 0, library)


def within_reach(addresses: list[int], size: int) -> bool:
    """Whether code that is put into memory now can jump to some addresses, as it could not in a process that has
    gigabytes in between: the linker would end the process."""
    room = mmap(-1, 4 * size)
    start = ctypes.c_char.from_buffer(room)
    here = ctypes.addressof(start)
    del start
    room.close()
    return all(abs(each - here) < REACH for each in addresses)


def _parts(compiled: Any) -> tuple[str, list[str], list[bytes]]:
    """The name of the function of a single state, what it is made of in LLVM's language, and all object code."""
    states = compiled.llvm_states
    if isinstance(states, list):
        return WHOLE, [states[0].ir], [states[0].object_code]
    texts = [text for text in states.ir if any(each.startswith(COMPACT) for each in DEFINED.findall(text))]
    return COMPACT, texts, states.object_code


@cache
def _linker() -> Any:
    from llvmlite import binding

    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    machine = binding.Target.from_default_triple().create_target_machine()
    return binding, binding.create_lljit_compiler(machine)
