"""C pointers of readers, for loops that are compiled themselves.

``f(out, x, parameters, time, room)`` takes addresses of doubles and returns nothing; loops copy the room.
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


def linked(function: Compiled) -> Pointer | None:
    """The pointer of a function that does not depend on time."""
    return None if function.tape.timed else Pointer(function.reader.addresses[0], function.reader.room, function.reader)
