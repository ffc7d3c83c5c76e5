"""Checks of an assembly: parts that are placed on all of its coordinates, and a load that acts on some of them."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import numpy as np

from pfaff.errors import ParameterError, StatementError
from pfaff.statement.parts import Copies
from pfaff.statement.values import listed, one_of, shown, whole_number

if TYPE_CHECKING:
    from pfaff.flow.assembly import Assembly


def checked_parts(given: Any) -> tuple[Copies, ...]:
    parts = listed("parts", given, "[part.copies(…)]", StatementError)
    if not all(isinstance(each, Copies) for each in parts):
        raise StatementError(f"parts={shown(given)}: give a list of what Part.copies(…) returns")
    return parts


def check_places(assembly: Assembly) -> None:
    if not assembly.parts:
        raise StatementError(f"{assembly.name} has no parts: give what Part.copies(…) returns")
    whole_number("size", assembly.size, 1, sys.maxsize, "reduce size", StatementError)
    for copies in assembly.parts:
        outside = np.argwhere((copies.at < 0) | (copies.at >= assembly.size))
        for copy, local in outside[:1]:
            raise StatementError(
                f"copy {copy} of part {copies.part.name!r} puts {copies.part.coordinate_names[local]} at coordinate "
                f"{copies.at[copy, local]}: indices run from 0 to {assembly.size - 1}"
            )
    used = np.unique(np.concatenate([copies.at.ravel() for copies in assembly.parts]))
    if len(used) < assembly.size:
        missing = np.flatnonzero(np.append(used, assembly.size) > np.arange(len(used) + 1))[0]
        raise StatementError(f"coordinate {missing} of {assembly.name} belongs to no part: connect it or reduce size")


def check_load(assembly: Assembly) -> None:
    names = {name for copies in assembly.parts for name in copies.part.parameter_names}
    one_of(names, assembly.load, f"the load {{}} is no parameter of any part of {assembly.name}")
    for copies in assembly.parts:
        if assembly.load in copies.values:
            raise ParameterError(
                f"{assembly.load!r} is the load of {assembly.name}: leave it out of the copies of "
                f"{copies.part.name!r}, the analyses set it"
            )
        copies.table(assembly.load)
