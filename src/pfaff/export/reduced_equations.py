"""What every language is given: names, values, a start, and the programs of f and its derivatives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pfaff.errors import ParameterError
from pfaff.export.notation import Notation, identifier
from pfaff.export.reserved import RESERVED
from pfaff.export.starting_point import Start, start_of
from pfaff.flow.differentiation import jacobian_entries
from pfaff.flow.flow import Flow
from pfaff.flow.graph import Expression, par
from pfaff.flow.program import Node, Program, program_of
from pfaff.statement.values import number_from
from pfaff.threads import cached_property

if TYPE_CHECKING:
    from pfaff.case import Bound


@dataclass(frozen=True, eq=False)
class Equations:
    """ẋ = f(x; p) of a case on shape space, regular at its start: an equilibrium, that of the case or one ``near``."""

    case: Bound
    load: str | None
    to: float | None
    near: Mapping[str, Any] | None = None

    @property
    def title(self) -> str:
        return self.case.system.name

    @property
    def name(self) -> str:
        return identifier(self.title, RESERVED)

    @property
    def states(self) -> tuple[str, ...]:
        return self.flow.states

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
    def at(self) -> Start:
        """Where a continuation starts, with the flow that is regular there."""
        return start_of(self.case, self.near)

    @property
    def flow(self) -> Flow:
        return self.at.flow

    @property
    def start(self) -> list[float]:
        """The equilibrium of the case; where none is found, the origin, and the notes say so."""
        return [float(x) for x in self.at.x]

    @property
    def notes(self) -> tuple[str, ...]:
        """What the head of a file says of the start and of the eigenvalues there."""
        return (self.at.remark, *self.at.warnings)

    @cached_property
    def _f(self) -> list[Expression]:
        return list(self.flow.expressions)

    @cached_property
    def _x(self) -> list[Expression]:
        return list(self.flow.variables)

    def _derivatives(self, by: Sequence[Expression]) -> list[Expression]:
        return jacobian_entries(self._f, list(by)) if by else []

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
        return program_of(self._derivatives([par[i] for i in range(len(self.parameters))]), self._x)

    @property
    def size(self) -> int:
        return len(self.states)

    def named_states(self, notation: Notation) -> list[str]:
        """Which state of the system each state of the program is, for the head of a file."""
        return [f"{notation.state(k)} = {name}" for k, name in enumerate(self.states)]

    def named_parameters(self, notation: Notation) -> list[str]:
        return [f"{notation.parameter(k)} = {name}" for k, name in enumerate(self.parameters)]


def steps(program: Program, notation: Notation, assign: str = "{} = {}") -> list[str]:
    """The assignments of a program, one text each."""
    return [assign.format(notation.step(k), notation.write(node)) for k, node in enumerate(program.steps)]


def entries(program: Program, columns: int) -> list[tuple[int, int, Node]]:
    """The results that are not zero, with row and column."""
    return [
        (k // columns, k % columns, node) for k, node in enumerate(program.results) if node != ("number", 0.0)
    ]  # fmt: skip
