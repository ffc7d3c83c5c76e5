"""How formulas are written in a language: numbers, powers, names of functions, states and parameters."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field

from pfaff.errors import StatementError
from pfaff.flow.program import Node
from pfaff.statement.expressions import FUNCTIONS

COMMON = tuple(FUNCTIONS)
LONGEST = 60  # characters of an identifier: MATLAB takes 63
BINDING = {"+": 1, "-": 1, "neg": 1, "*": 2, "/": 2, "^": 3}  # everything else binds more tightly


@dataclass(frozen=True)
class Notation:
    """One language. ``state`` and ``parameter`` write the k-th of them, counted from zero."""

    language: str
    state: Callable[[int], str]
    parameter: Callable[[int], str]
    step: Callable[[int], str] = "w{}".format
    number: Callable[[float], str] = repr
    power: str | None = "**"  # the operator, or None where there is only the function pow
    functions: Mapping[str, str] = field(default_factory=dict)

    def write(self, node: Node, around: int = 0) -> str:
        """The formula, in parentheses if what surrounds it binds more tightly."""
        operation, *arguments = node
        if operation == "number":
            text = self.number(arguments[0])
            return f"({text})" if arguments[0] < 0 and around else text
        if operation in ("state", "parameter", "step"):
            return getattr(self, operation)(arguments[0])
        if operation == "^":
            return self._power(*arguments)
        if operation not in BINDING:
            return f"{self._function(operation)}({', '.join(self.write(each) for each in arguments)})"
        text, binding = self._operation(operation, arguments), BINDING[operation]
        return f"({text})" if binding <= around else text

    def _operation(self, operation: str, arguments: list[Node]) -> str:
        if operation == "neg":
            return f"-{self.write(arguments[0], 2)}"
        binding = BINDING[operation]
        left, right = arguments
        first = self.write(left, binding - 1)
        return f"{first} {operation} {self.write(right, binding)}"

    def _power(self, base: Node, exponent: Node) -> str:
        if exponent == ("number", 0.5):
            return f"{self._function('sqrt')}({self.write(base)})"
        if exponent == ("number", 2.0) and base[0] in ("state", "parameter", "step"):
            return f"({self.write(base)}*{self.write(base)})"
        whole = exponent[0] == "number" and exponent[1] == int(exponent[1])
        power = str(int(exponent[1])) if whole else self.write(exponent, 3)
        if self.power is None:
            return f"pow({self.write(base)}, {power})"
        return f"({self.write(base, 3)}{self.power}{f'({power})' if power.startswith('-') else power})"

    def _function(self, name: str) -> str:
        if name not in COMMON:
            raise StatementError(f"the equations contain the function {name}, which {self.language} does not have")
        return self.functions.get(name, name)


def identifier(name: str, reserved: Collection[str]) -> str:
    """A name that every language takes: letters, digits and underscores, and no reserved word."""
    text = re.sub(r"\W+", "_", name, flags=re.ASCII).strip("_")[:LONGEST] or "system"
    text = text if text[0].isalpha() else f"system_{text}"
    return f"{text}_" if text in reserved else text


def identifiers(names: Sequence[str], reserved: Collection[str]) -> list[str]:
    """One for each name, each once though they may coincide."""
    found = [identifier(name, reserved) for name in names]
    return [f"{name}_{k + 1}" if found.count(name) > 1 else name for k, name in enumerate(found)]
