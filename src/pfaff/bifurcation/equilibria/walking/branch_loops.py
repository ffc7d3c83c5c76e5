"""The compiled loops of branches and curves of equilibria, used where they were compiled ahead.

``python -m pfaff.compile`` compiles them: a branch followed step by step takes less time than their compilation."""

from __future__ import annotations

from functools import cache
from typing import Any

from numba import types

from pfaff.bifurcation.equilibria.walking.corrector import placed
from pfaff.bifurcation.equilibria.walking.eigenframes import no_frame
from pfaff.bifurcation.equilibria.walking.even_units import grouped
from pfaff.bifurcation.equilibria.walking.first_rests import regular_units, rested
from pfaff.bifurcation.equilibria.walking.locator import locate
from pfaff.bifurcation.equilibria.walking.spectra import first_spectrum
from pfaff.bifurcation.equilibria.walking.step_tests import quiet, quiet_about
from pfaff.bifurcation.equilibria.walking.walker import walk
from pfaff.bifurcation.machine_code.addresses import lapack
from pfaff.bifurcation.machine_code.kernel_cache import is_kept

__all__ = [
    "compile_ahead", "first_spectrum", "grouped", "lapack", "locate", "no_frame", "placed",
    "quickest", "quiet", "quiet_about", "ready", "regular_units", "rested", "walk",
]  # fmt: skip

integer, number = types.int64, types.float64
vector, matrix, stack = (types.Array(number, order, "C") for order in (1, 2, 3))
integers, spectra = types.Array(integer, 1, "C"), types.Array(types.complex128, 2, "C")
FRAME = types.Tuple((integers, matrix, matrix, types.Array(types.complex128, 1, "C"), integers))
FUNCTION = types.Tuple((integer, vector, vector, integers))
SYSTEM = types.Tuple((integer, FUNCTION, integers, matrix, matrix, vector, FRAME))
WAY = types.Tuple((matrix, number, vector, matrix, vector, integer, number))
TAKEN = types.Tuple((stack, stack, types.Array(integer, 2, "C")))
LOOPS = {
    placed: (SYSTEM, vector, vector, vector, types.boolean),
    walk: (SYSTEM, WAY, TAKEN, types.UniTuple(spectra, 2), number),
    first_spectrum: (SYSTEM, vector),
    quiet: (SYSTEM, matrix, matrix),
    quiet_about: (SYSTEM, matrix, number),
    locate: (SYSTEM, integer, number, matrix, matrix, matrix, number),
    rested: (FUNCTION, integers, vector, matrix),
    regular_units: (integers, matrix),
    grouped: (integers, matrix),
}


@cache
def ready() -> bool:
    """Whether all loops are compiled, in this process or on disk."""
    return all(is_kept(loop) for loop in LOOPS)


def quickest(loop: Any) -> Any:
    """The loop if it was compiled ahead, else the same function in Python."""
    return loop if ready() else loop.py_func


def compile_ahead() -> None:
    for loop, signature in LOOPS.items():
        loop.compile(signature)
    ready.cache_clear()
