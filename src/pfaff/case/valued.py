"""A statement with values for its parameters, before anything is asked: what its names mean, and its numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from pfaff.errors import ParameterError
from pfaff.statement.called import check_keywords, name_of, unfolded, words_of, written
from pfaff.statement.told import shown_in_notebooks
from pfaff.statement.values import checked_value, shown, spelt
from pfaff.threads import cached_property
from pfaff.travel import Travels

if TYPE_CHECKING:
    from pfaff.statement.parameters import Parametrised

BOTH = ("values", "axes")  # words under which parameters are given beside coordinates


@shown_in_notebooks
@spelt
@dataclass(frozen=True)
class Valued(Travels):
    """A statement with values for its parameters. Immutable: ``at`` gives another."""

    system: Parametrised
    values: Mapping[str, Any] = field(repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "values", MappingProxyType(dict(self.values)))

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.__post_init__()

    def at(self, /, *unnamed: Any, **values: Any) -> Self:
        """The same system with some parameters changed: ``at(m=2)``, or in mappings by names or symbols,
        ``at({m: 2})``."""
        for each in unnamed:
            if not isinstance(each, Mapping):
                raise ParameterError(f"at({shown(each)}): give values by name, at({written(self._example(), '1')})")
        given = unfolded("values", values, *unnamed)
        checked = {name: checked_value(self.system.parameter(name), value) for name, value in given.items()}
        return type(self)(self.system, {**self.values, **checked})

    def unchecked(self, /, **values: float) -> Self:
        """The case with values that analyses need, such as zero damping, without checking declared signs."""
        case = type(self)(self.system, {**self.values, **values})
        if "numbers" in self.__dict__:  # all but these are known
            numbers = self.numbers.copy()
            for name, value in values.items():
                numbers[self.system.parameter_names.index(name)] = value
            case.__dict__["numbers"] = numbers
        return case

    @cached_property
    def numbers(self) -> np.ndarray:
        """All parameters as floats, in the system's order; an error names the first that has no number."""
        values = self.values
        try:
            return np.array([float(values[name]) for name in self.system.parameter_names])
        except TypeError:
            return np.array([self._number(name) for name in self.system.parameter_names])

    def _number(self, name: str) -> float:
        value = self.values[name]
        if value is None:
            raise ParameterError(
                f"parameter {name!r} of {self.system.name} has no value: give it with at({written(name)})"
            )
        try:
            return float(value)
        except TypeError:
            raise ParameterError(
                f"parameter {name!r} is the symbol {value}: give it a number, or ask for an exact result"
            ) from None

    def numbers_at(self, name: str, value: float) -> np.ndarray:
        """The parameter vector with one entry replaced: cheaper than a new case inside loops."""
        numbers = self.numbers.copy()
        numbers[self.system.parameter_names.index(name)] = value
        return numbers

    def load_name(self, load: Any = None) -> str:
        """The load parameter asked for, by its name or symbol, or the one the system declares."""
        if load is None and self.system.load is None:
            raise ParameterError(
                f"{self.system.name} declares no load: name the parameter that grows, load={self._example()!r}"
            )
        name = self.system.load.name if load is None else name_of(load)
        if isinstance(name, str) and name in self._velocities():
            raise ParameterError(
                f"{name} is a velocity of {self.system.name} and no parameter: steady motions differ in it, and are "
                f"followed to where they lose stability by case.steady({written(name)}).branch({name!r}, to=…)"
            )
        return self.system.named(name, self.system.parameter_names, f"{self.system.name} has no parameter")

    def _velocities(self) -> tuple[str, ...]:
        """Velocity names, which users mistake for parameters; an ODE has none."""
        return ()

    def _example(self) -> str:
        return self.system.parameter_names[0] if self.system.parameters else "F"

    def _names_for(self, words: str) -> tuple[str, ...]:
        """Names that may be given under these words: of states and reactions, and under some of parameters, too."""
        system = self.system
        parameters = system.parameter_names if words in BOTH else ()
        reactions = (*getattr(system, "reaction_names", ()), *getattr(system, "reaction_aliases", ()))
        return (*system.moving_names, *reactions, *parameters)

    def _by_name(self, analysis: str, values: Mapping[str, Any]) -> dict[str, Any]:
        """Values by the names that analyses use, ``p`` for ``p_blade``, from keywords and from a mapping of names or
        symbols; misspelt arguments are refused."""
        if not values:
            return {}
        function = getattr(type(self), analysis)
        given, aliases = unfolded(words_of(function), values), getattr(self.system, "reaction_aliases", {})
        check_keywords(function, [name for name in values if name in given], self._names_for("values"))
        return {aliases.get(name, name): value for name, value in given.items()}

    def _varied(self, name: Any) -> str:
        """A parameter, or a state or quasi-velocity that may be a coordinate of a family."""
        name = name_of(name)
        return name if isinstance(name, str) and name in self.system.moving_names else self.load_name(name)

    def _split(self, values: Mapping[str, Any], states: Sequence[str]) -> tuple[Self, dict[str, float]]:
        """Parameter values apart from values of coordinates or states."""
        for name in values:
            if name in self._velocities() and name not in states:
                raise ParameterError(
                    f"{name} is a velocity of {self.system.name}, and an equilibrium has none: ask a steady motion, "
                    f"case.steady({written(name)}).spectrum()"
                )
            known = (*self.system.parameter_names, *states)
            self.system.named(name, known, f"{self.system.name} has no parameter or coordinate")
        fixed = {name: value for name, value in values.items() if name in states}
        changed = {name: value for name, value in values.items() if name not in states}
        return self.at(changed) if changed else self, fixed

    def __repr__(self) -> str:
        values = ", ".join(f"{name}={value}" for name, value in self.values.items())
        return f"<Case of {self.system.name!r}: {values}>"
