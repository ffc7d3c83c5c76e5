"""C pointers of compiled expressions: what heyoka compiled, linked once more, for loops that are compiled themselves.

``f(out, x, parameters, time)`` takes addresses of doubles and returns nothing. What cannot be linked has no pointer.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import Any

from pfaff.flow.compiled import Compiled

SCALAR = "cfunc", "cfunc.unstrided.batch_size_1"  # of one state, compiled as a whole and in compact mode
DEFINED = re.compile(r'^define [^@\n]*@"?([\w.$]+)"?\(', re.MULTILINE)
CALLED = re.compile(r'\bcall [^@\n]*@"?([\w.$]+)"?\(')


@dataclass(frozen=True, eq=False)
class Pointer:
    """``address`` is valid as long as the engine that it was linked by lives; the function reads so many parameters."""

    address: int
    linked_by: Any
    parameters: int


def linked(function: Compiled) -> Pointer | None:
    """Of a function that does not depend on time, if all that it calls is known to the linker."""
    compiled = function.function
    if compiled.is_time_dependent:
        return None
    modules = [each for each in _modules(compiled) if any(name.startswith(SCALAR) for name in DEFINED.findall(each[0]))]
    defined = {name for text, _ in modules for name in DEFINED.findall(text)}
    called = {name for text, _ in modules for name in CALLED.findall(text)}
    name = next((each for each in SCALAR if each in defined), None)
    binding = _binding()
    known = all(each.startswith("llvm.") or binding.address_of_symbol(each) for each in called - defined)
    if name is None or not known:
        return None
    machine = binding.Target.from_default_triple().create_target_machine()  # is the engine's from then on
    engine = binding.create_mcjit_compiler(binding.parse_assembly(""), machine)
    for _, code in modules:
        engine.add_object_file(binding.ObjectFileRef.from_data(code))
    engine.finalize_object()
    return Pointer(engine.get_function_address(name), engine, function.parameters)


def _modules(compiled: Any) -> list[tuple[str, bytes]]:
    """Intermediate representation and object code of each part; without compact mode the first one is all."""
    states = compiled.llvm_states
    if isinstance(states, list):
        return [(states[0].ir, states[0].object_code)]
    return list(zip(states.ir, states.object_code, strict=True))


@cache
def _binding() -> Any:
    from llvmlite import binding

    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    return binding

