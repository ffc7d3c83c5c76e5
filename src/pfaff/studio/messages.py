"""Messages between page and server: small, checked, in JSON. ``docs/howto/studio_protocol.md`` describes them.

Everything from the page is read here, by shape and size, before anything else sees it. Arrays in answers are base64 of
32-bit floats, as in films.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar, get_type_hints

from pfaff.errors import ParameterError
from pfaff.statement.values import shown
from pfaff.studio.view import View

FARTHEST = 1e100  # farthest position of the mouse
LARGEST = 64_000  # characters of a message from the page


@dataclass(frozen=True)
class Request:
    """A message from the page; answers carry its number."""

    id: int
    KINDS: ClassVar[dict[str, type[Request]]] = {}

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        Request.KINDS[cls.__name__.lower()] = cls


@dataclass(frozen=True)
class Open(Request):
    """The page has opened: what does it show, at this address?"""

    address: str


@dataclass(frozen=True)
class Look(Request):
    """Parameters or selection have changed: answer everything that is quick."""

    view: View


@dataclass(frozen=True)
class Grow(Request):
    """Follow all steps of the diagram, point by point."""

    view: View


@dataclass(frozen=True)
class Simulate(Request):
    """Simulate the motion from the initial values of the view."""

    view: View


@dataclass(frozen=True)
class Find(Request):
    """Find all equilibria."""

    view: View


@dataclass(frozen=True)
class Chart(Request):
    """Compute the map of the view."""

    view: View


@dataclass(frozen=True)
class Pull(Request):
    """Hold a drawn point by the mouse, at a place of the plane or of space."""

    view: View
    point: str
    at: list[float]


@dataclass(frozen=True)
class Cancel(Request):
    """End the computation of a background lane; its results so far stay."""

    lane: str


def request_from(text: Any) -> Request:
    """A message of the page, checked."""
    if not isinstance(text, str) or len(text) > LARGEST:
        raise ParameterError(f"a message is text of at most {LARGEST} characters")
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        raise ParameterError("a message is JSON, and this one is not") from None
    kind = data.get("kind") if isinstance(data, dict) else None
    asked = Request.KINDS.get(kind) if isinstance(kind, str) else None
    if asked is None:
        raise ParameterError(f"no message {shown(kind)}: there are {', '.join(Request.KINDS)}")
    hints = get_type_hints(asked)
    wanted = {each.name: hints[each.name] for each in fields(asked)}
    given = {name: value for name, value in data.items() if name != "kind"}
    if given.keys() != wanted.keys():
        raise ParameterError(f"the message {kind} has {', '.join(wanted)}, not {', '.join(map(shown, given))}")
    return asked(**{name: _checked(name, given[name], wanted[name]) for name in wanted})


def _checked(name: str, value: Any, wanted: Any) -> Any:
    if wanted is View:
        return View.told(value)
    if wanted is int and isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**53:
        return value
    if wanted is str and isinstance(value, str):
        return value
    numbers = value if wanted == list[float] and isinstance(value, list) and len(value) <= 3 else []
    if numbers and all(isinstance(each, int | float) and abs(each) < FARTHEST for each in numbers):
        return [float(each) for each in numbers]
    raise ParameterError(f"{name}={shown(value)} in a message: it is of another type")


@dataclass(frozen=True)
class Answer:
    """A message to the page: data for a card, or the sentence that says why there are none."""

    card: str
    id: int = 0
    data: Mapping[str, Any] = field(default_factory=dict)
    status: str = ""
    error: str = ""
    more: bool = False  # whether the same card gets further answers to this request
    ms: float = 0.0

    @property
    def text(self) -> str:
        return json.dumps(self.__dict__, separators=(",", ":"), allow_nan=False)
