"""A view as one value: parameters, load, motion, diagram, selection; the same as an address, and back.

Everything that the page shows follows from a view, so that an address, the lines of Python and the page are three
renderings of one thing. Numbers stay the text that was typed, "1/2" or "sqrt(2)", and are parsed by the grammar of
``statement.expressions`` where they are used.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Self
from urllib.parse import parse_qsl, quote

from pfaff.errors import ParameterError
from pfaff.statement.values import shown

ROOTS, LEADS = ("cycles", "branch", "response", "steady"), ("orbits", "switch", "curve")
STEP = re.compile(
    r"(?P<verb>[a-z]+)(?:@(?P<of>\d{1,3})(?:\.(?P<special>\d{1,3}))?)?(?::(?P<parameter>\w+))?:(?P<to>[^:;]+)"
)
SELECTED = re.compile(
    r"lead|rest|motion|steady|mode:\d{1,4}|equilibrium:\d{1,4}|point:\d{1,3}\.\d{1,5}|special:\d{1,3}\.\d{1,3}"
)
MAPPINGS = {"values": "set", "start": "start", "grown": "at"}  # fields that are mappings, and their words in an address
TEXTS = ("load", "to", "duration", "selected")
LONGEST_ADDRESS, LONGEST_TEXT, MOST_NAMES, MOST_STEPS = 16_000, 400, 400, 24


@dataclass(frozen=True)
class Step:
    """How one object of a diagram was asked for: from the case, or from a special point of an earlier object.

    ``of`` is that object's place in the list and ``special`` the place of the point in its list; without one it is the
    Hopf point that a branch of cycles was born at.
    """

    verb: str
    to: str
    parameter: str = ""
    of: int | None = None
    special: int | None = None

    def __post_init__(self) -> None:
        if self.verb not in ROOTS + LEADS or (self.of is None) != (self.verb in ROOTS):
            raise ParameterError(
                f"no step {self.text!r}: {', '.join(ROOTS)} start from the case, the others from a step"
            )

    @property
    def text(self) -> str:
        source = "" if self.of is None else f"@{self.of}" + ("" if self.special is None else f".{self.special}")
        return f"{self.verb}{source}" + (f":{self.parameter}" if self.parameter else "") + f":{self.to}"

    @classmethod
    def parsed(cls, text: Any) -> Self:
        found = STEP.fullmatch(text) if isinstance(text, str) and len(text) <= LONGEST_TEXT else None
        if found is None:
            raise ParameterError(f"a step of a diagram is {shown(text)}: write cycles:100 or switch@0.2:100")
        of, special = (None if found[name] is None else int(found[name]) for name in ("of", "special"))
        return cls(found["verb"], found["to"], found["parameter"] or "", of, special)


@dataclass(frozen=True)
class Plane:
    """A map over two parameters: their names, the ends of their ranges, and what is measured."""

    x: str
    y: str
    ends: tuple[str, str, str, str]
    measure: str = "flutter"

    @property
    def text(self) -> str:
        return ";".join((self.x, self.y, *self.ends, self.measure))

    @classmethod
    def parsed(cls, text: Any) -> Self:
        parts = text.split(";") if isinstance(text, str) and len(text) <= LONGEST_TEXT else []
        if len(parts) != 7 or not all(parts):
            raise ParameterError(f"a map is {shown(text)}: write c_i;M_L;0;10;1;30;flutter")
        return cls(parts[0], parts[1], (parts[2], parts[3], parts[4], parts[5]), parts[6])


@dataclass(frozen=True)
class View:
    """The state of a page. Immutable, as cases are."""

    values: Mapping[str, str] = field(default_factory=dict)
    load: str = ""
    to: str = ""
    start: Mapping[str, str] = field(default_factory=dict)
    duration: str = "20"
    selected: str = "lead"
    steps: tuple[Step, ...] = ()
    grown: Mapping[str, str] = field(default_factory=dict)  # the values, of states too, that the diagram belongs to
    plane: Plane | None = None

    def __post_init__(self) -> None:
        for name in MAPPINGS:
            object.__setattr__(self, name, _texts(name, getattr(self, name)))
        for name in TEXTS:
            _text(name, getattr(self, name))
        if not SELECTED.fullmatch(self.selected):
            raise ParameterError(f"selected={shown(self.selected)}: write lead, mode:0, rest, motion, point:0.3 or so")
        if len(self.steps) > MOST_STEPS:
            raise ParameterError(f"{len(self.steps)} steps of a diagram are more than {MOST_STEPS}: begin a new one")
        for k, step in enumerate(self.steps):
            if step.of is not None and step.of >= k:
                raise ParameterError(f"step {k} of the diagram starts from {step.of}, which is not before it")

    @property
    def place(self) -> tuple[int, int]:
        """The numbers of the selection, zero where there are none."""
        first, _, second = self.selected.partition(":")[2].partition(".")
        return int(first or 0), int(second or 0)

    @property
    def shows(self) -> str:
        """What kind of thing is selected."""
        return self.selected.partition(":")[0]

    @property
    def address(self) -> str:
        """The view as text that may stand in an address after its ``#``."""
        pairs = [
            (f"{word}.{name}", text) for kind, word in MAPPINGS.items() for name, text in getattr(self, kind).items()
        ]
        usual = View()
        pairs += [(name, getattr(self, name)) for name in TEXTS if getattr(self, name) != getattr(usual, name)]
        pairs += [("grow", step.text) for step in self.steps]
        pairs += [("map", self.plane.text)] if self.plane else []
        return "&".join(f"{key}={quote(text, safe='/()*:@;,')}" for key, text in pairs)

    @classmethod
    def at_address(cls, text: Any) -> Self:
        """The view that an address leads to."""
        if not isinstance(text, str) or len(text) > LONGEST_ADDRESS:
            raise ParameterError(f"an address is text of at most {LONGEST_ADDRESS} characters")
        words = {word: kind for kind, word in MAPPINGS.items()}
        given: dict[str, Any] = {kind: {} for kind in MAPPINGS}
        steps: list[Step] = []
        try:
            pairs = parse_qsl(text, keep_blank_values=True, max_num_fields=MOST_NAMES)
        except ValueError:
            raise ParameterError(f"an address has at most {MOST_NAMES} parts, and this one has more") from None
        for key, value in pairs:
            word, _, name = key.partition(".")
            if name and word in words:
                given[words[word]][name] = value
            elif key in TEXTS:
                given[key] = value
            elif key == "grow":
                steps.append(Step.parsed(value))
            elif key == "map":
                given["plane"] = Plane.parsed(value)
            else:
                raise ParameterError(f"the address has {shown(key)}, which is no part of a view: leave it out")
        return cls(**given, steps=tuple(steps))

    @classmethod
    def told(cls, data: Any) -> Self:
        """The view in a message."""
        if not isinstance(data, Mapping):
            raise ParameterError(f"a view is a mapping, not {shown(data)}")
        known = {each.name for each in fields(cls)}
        for name in data:
            if name not in known:
                raise ParameterError(f"a view has no {shown(name)}")
        given = dict(data)
        steps = given.pop("steps", ())
        if not isinstance(steps, list | tuple):
            raise ParameterError(f"steps={shown(steps)}: give a list")
        plane = given.pop("plane", None)
        return cls(**given, steps=tuple(map(Step.parsed, steps)), plane=None if plane is None else Plane.parsed(plane))

    @property
    def data(self) -> dict[str, Any]:
        """The view as data of a message."""
        return {
            **{name: dict(getattr(self, name)) for name in MAPPINGS},
            **{name: getattr(self, name) for name in TEXTS},
            "steps": [step.text for step in self.steps],
            "plane": self.plane.text if self.plane else None,
        }


def _text(name: str, given: Any) -> str:
    if not isinstance(given, str) or len(given) > LONGEST_TEXT:
        raise ParameterError(f"{name}={shown(given)}: give text of at most {LONGEST_TEXT} characters")
    return given


def _texts(name: str, given: Any) -> dict[str, str]:
    if not isinstance(given, Mapping) or len(given) > MOST_NAMES:
        raise ParameterError(f"{name}={shown(given)}: give at most {MOST_NAMES} texts by name")
    return {_text(name, key): _text(str(key), text) for key, text in given.items()}
