"""Objects that can be sent to another process: their fields go along, what was derived from them stays behind."""

from __future__ import annotations

from dataclasses import fields
from types import MappingProxyType
from typing import Any


class Travels:
    """A dataclass that can be pickled; what it has derived or compiled is made again where it arrives."""

    def __getstate__(self) -> dict[str, Any]:
        mine: Any = self
        stated = {each.name: getattr(self, each.name) for each in fields(mine)}
        return {name: dict(value) if isinstance(value, MappingProxyType) else value for name, value in stated.items()}
