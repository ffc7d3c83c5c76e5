"""C pointers of readers, for loops that are compiled themselves.

``f(out, x, parameters, time, room)`` takes addresses of doubles and returns nothing; loops copy the room. ``f(out, x,
parameters, times, points, code)`` is for neighbouring columns of arrays, whose rows are as long as there are points.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pfaff.flow.compiled import Compiled
from pfaff.kernels.readers import Reader


@dataclass(frozen=True, eq=False)
class Pointer:
    """``address`` and ``room`` are valid as long as the reader lives."""

    address: int
    room: np.ndarray
    reader: Reader


@dataclass(frozen=True, eq=False)
class Columns:
    """A pointer for many columns, with the address of the code that it reads."""

    address: int
    code: int
    reader: Reader


def linked(function: Compiled) -> Pointer | None:
    """The pointer of a function that does not depend on time."""
    return None if function.tape.timed else Pointer(function.reader.addresses[0], function.reader.room, function.reader)


def linked_in_lanes(function: Compiled) -> Columns | None:
    """The pointer for columns of a function that does not depend on time."""
    if function.tape.timed:
        return None
    _, address, code = function.reader.addresses
    return Columns(address, code, function.reader)
