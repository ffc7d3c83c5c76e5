"""What every language is given: names, values, a start, and the programs of f and its derivatives."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import heyoka as hy
import numpy as np

from pfaff.errors import ParameterError, PfaffError
from pfaff.export.notation import Notation, identifier
from pfaff.export.program import Node, Program, program_of
from pfaff.lowering import Expression
from pfaff.values import number_from

if TYPE_CHECKING:
    from pfaff.case import Bound


@dataclass(frozen=True, eq=False)
class Equations:
    """ẋ = f(x; p) of a case on shape space."""

    case: Bound
    load: str | None
    to: float | None

    @property
    def title(self) -> str:
        return self.case.system.name

    @property
    def name(self) -> str:
        return identifier(self.title)

    @property
    def states(self) -> tuple[str, ...]:
        return self.case.system.shape.states  # type: ignore[attr-defined]

    @property
    def parameters(self) -> tuple[str, ...]:
        return self.case.system.parameter_names

    @property
    def values(self) -> list[float]:
        return [float(x) for x in self.case.numbers]

    @cached_property
    def varied(self) -> int:
        """The parameter that a continuation starts with: the load, or the first."""
        if not self.parameters:
            raise ParameterError(f"{self.title} has no parameter to vary: export it as c, numpy or latex")
        name = self.case.load_name(self.load) if self.load or self.case.system.load is not None else self.parameters[0]
        return self.parameters.index(name)

    @cached_property
    def end(self) -> float:
        """Where the continuation is to end: as far again as the value is from zero, and 100 at least, if not told."""
        value = self.values[self.varied]
        end = number_from("until", self.to) if self.to is not None else value + max(100.0, abs(value))
        if end == value:
            name = self.parameters[self.varied]
            raise ParameterError(
                f"{name} is {value:g} and until={end:g}: give another value for the continuation to end"
            )
        return end

    @cached_property
    def _rest(self) -> tuple[dict[str, float], str]:
        """States at rest, and a remark on where they come from."""
        try:
            at = self.case.equilibrium()  # type: ignore[attr-defined]
        except PfaffError as problem:
            return {}, f"start: the origin, since no equilibrium was found ({' '.join(str(problem).split())})"
        return getattr(at, "coordinates", None) or at.state, "start: the equilibrium of the case"

    @property
    def start(self) -> list[float]:
        """The equilibrium of the case; where none is found, the origin, and the remark says so."""
        return [float(self._rest[0].get(name, 0.0)) for name in self.states]

    @property
    def remark(self) -> str:
        return self._rest[1]

    @cached_property
    def _f(self) -> list[Expression]:
        return list(self.case.system.shape.expressions)  # type: ignore[attr-defined]

    @cached_property
    def _x(self) -> list[Expression]:
        return list(self.case.system.shape.variables)  # type: ignore[attr-defined]

    def _derivatives(self, by: Sequence[Expression]) -> list[Expression]:
        return list(np.ravel(hy.diff_tensors(self._f, list(by), diff_order=1).jacobian)) if by else []

    @cached_property
    def rates(self) -> Program:
        return program_of(self._f, self._x)

    @cached_property
    def jacobian(self) -> Program:
        """∂f/∂x, row after row."""
        return program_of(self._derivatives(self._x), self._x)

    @cached_property
    def parameter_jacobian(self) -> Program:
        """∂f/∂p, row after row."""
        return program_of(self._derivatives([hy.par[i] for i in range(len(self.parameters))]), self._x)

    @property
    def size(self) -> int:
        return len(self.states)


def steps(program: Program, notation: Notation, assign: str = "{} = {}") -> list[str]:
    """The assignments of a program, one text each."""
    return [assign.format(notation.step(k), notation.write(node)) for k, node in enumerate(program.steps)]


def entries(program: Program, columns: int) -> list[tuple[int, int, Node]]:
    """The results that are not zero, with row and column."""
    return [
        (k // columns, k % columns, node) for k, node in enumerate(program.results) if node != ("number", 0.0)
    ]  # fmt: skip
