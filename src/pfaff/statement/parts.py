"""Parts that are repeated: each stated once in its own coordinates, its copies placed on those of an assembly."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import sympy as sm

from pfaff.errors import ParameterError, StatementError
from pfaff.statement.system import System
from pfaff.statement.told import spelt
from pfaff.statement.values import check_fitting, checked_value, shown
from pfaff.threads import cached_property


@spelt
@dataclass(frozen=True, eq=False)
class Part(System):
    """A fragment of a system, stated like a ``System`` in its own local coordinates.

    It may lack kinetic energy, as a hinge spring does, and is placed in an assembly by ``copies``.
    Explicit time is not accepted: assemblies are studied under constant loads.
    """

    name: str = "part"

    needs_inertia = False

    def __post_init__(self) -> None:
        super().__post_init__()
        s = self.statement
        stated = (s.kinetic, s.potential, s.dissipation, *s.forces, *s.constraints)
        if any(s.time in term.free_symbols for term in stated):
            raise StatementError(f"part {self.name!r} depends on time explicitly: write the excitation as a parameter")

    def copies(self, at: Any, **values: Any) -> Copies:
        """This part repeated: row i of ``at`` lists the global coordinates that copy i's own coordinates are.

        Each parameter takes a number for all copies or an array with one number for each.
        """
        return Copies(self, at, values)

    @cached_property
    def still(self) -> np.ndarray:
        """Which constraints keep A q to first order: the holonomic ones, and those A(q) q̇ = 0 without b(q)."""
        nonholonomic = self.statement.nonholonomic
        return np.array([k >= nonholonomic or not b for k, b in enumerate(self.statement.demanding)], dtype=bool)


@dataclass(frozen=True, eq=False)
class Copies:
    """A part placed ``count`` times; ``values`` hold each parameter as an array over the copies."""

    part: Part
    at: np.ndarray
    values: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "at", _connectivity(self.part, self.at))
        given = {name: self._array(self.part.parameter(name), value) for name, value in self.values.items()}
        object.__setattr__(self, "values", given)

    @property
    def count(self) -> int:
        return len(self.at)

    def table(self, load: str) -> np.ndarray:
        """All parameters, one row each in the part's order and one column for each copy; the load's row is blank."""
        rows = []
        for symbol, default in self.part.parameters.items():
            if symbol.name == load:
                rows.append(np.zeros(self.count))
                continue
            value = self.values.get(symbol.name, default)
            if value is None:
                raise ParameterError(
                    f"parameter {symbol.name!r} of part {self.part.name!r} has no value: "
                    f"give it with copies(…, {symbol.name}=…)"
                )
            rows.append(self._array(symbol, value))
        return np.array(rows).reshape(len(rows), self.count)

    def _array(self, symbol: sm.Symbol, value: Any) -> np.ndarray:
        if np.ndim(value) == 0:
            return np.full(self.count, self._number(symbol, value))
        if np.shape(value) != (self.count,):
            raise ParameterError(
                f"{symbol.name} of part {self.part.name!r} has shape {np.shape(value)}: "
                f"give one number, or an array of {self.count} numbers, one for each copy"
            )
        return np.array([self._number(symbol, each) for each in value])

    def _number(self, symbol: sm.Symbol, value: Any) -> float:
        found = checked_value(symbol, _scalar(value))
        if getattr(found, "free_symbols", None):
            raise ParameterError(f"{symbol.name}={shown(value)} of part {self.part.name!r} is no number: give one")
        return float(found)


def _connectivity(part: Part, given: Any) -> np.ndarray:
    n = len(part.coordinates)
    check_fitting(f"the number of places of part {part.name!r}", given, StatementError)
    try:
        at = np.asarray(given)
    except ValueError:  # rows of unequal length
        at = np.array(None)
    if at.ndim == 1:
        at = at[:, None] if n == 1 else at[None, :]
    if at.ndim != 2 or at.shape[1] != n or not len(at):
        raise StatementError(
            f"the places of part {part.name!r} have shape {at.shape}: give one row per copy, with the {n} "
            f"global indices of {', '.join(part.coordinate_names)}"
        )
    if not np.issubdtype(at.dtype, np.integer):
        raise StatementError(f"the places of part {part.name!r} are {at.dtype}, not whole numbers: give indices")
    return at.astype(np.int64)


def _scalar(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic | np.ndarray) else value
