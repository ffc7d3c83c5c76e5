"""The compiled loops of branches and curves of equilibria, used where they were compiled ahead.

``python -m pfaff.compile`` does so: a branch that is followed step by step takes less time than their compilation."""

from __future__ import annotations

from functools import cache

from numba import types

from pfaff.bifurcation.equilibria.between import quiet
from pfaff.bifurcation.equilibria.corrector import placed
from pfaff.bifurcation.equilibria.locator import locate
from pfaff.bifurcation.equilibria.walker import walk
from pfaff.bifurcation.orbits.sealed import is_kept

__all__ = ["compile_ahead", "locate", "placed", "quiet", "ready", "walk"]

integer, number = types.int64, types.float64
vector, matrix, stack = (types.Array(number, order, "C") for order in (1, 2, 3))
integers, spectra = types.Array(integer, 1, "C"), types.Array(types.complex128, 2, "C")
FRAME = types.Tuple((integers, matrix, matrix, types.Array(types.complex128, 1, "C")))
SYSTEM = (integer, integer, integers, integer, vector, integers, matrix, matrix, vector, FRAME)
LOOPS = {
    placed: (*SYSTEM, vector, vector, vector, types.boolean),
    walk: (
        *SYSTEM,
        matrix,
        number,
        number,
        vector,
        matrix,
        number,
        integer,
        number,
        stack,
        stack,
        types.Array(integer, 2, "C"),
        spectra,
        spectra,
    ),
    quiet: (*SYSTEM, matrix, matrix),
    locate: (*SYSTEM, integer, number, matrix, matrix, matrix, number),
}


@cache
def ready() -> bool:
    """Whether all of them are compiled, in this process or on disk."""
    return all(is_kept(loop) for loop in LOOPS)


def compile_ahead() -> None:
    for loop, signature in LOOPS.items():
        loop.compile(signature)
    ready.cache_clear()
