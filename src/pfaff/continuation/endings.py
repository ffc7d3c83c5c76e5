"""Why a branch or a curve has no more points, and why a step along it is refused: reasons, each with its words."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from numbers import Real
from typing import Any

from pfaff.errors import ConvergenceError


class Reason(Enum):
    """What ends a branch or a curve: programs compare it, people read the words."""

    REACHED = "the parameter has the value asked for"
    OTHER_SIDE = "the parameter has come to the bound on the other side of its start"
    DECLARED = "a parameter would break its declaration"
    POINTS = "there are as many points as were asked for"
    INTERRUPTED = "Ctrl-C was pressed"
    CLOSED = "it is back at its first point"
    SPECIAL = "a special point ends it"
    EQUILIBRIUM = "orbits shrink to an equilibrium"
    HOMOCLINIC = "orbits come to rest, and their period grows without bound"
    EDGE = "orbits reach the edge of their chart"
    OUTGROWN = "states grow on and on, as the parameter tends to a value"
    SINGULAR = "no step, however short, leads on"
    DRIFTING = "orbits move along the family of equilibria, where nothing is conserved"
    UNRESOLVED = "the orbits are not resolved, or the last one was not found"
    UNTOLD = "it was stored by a version that did not tell"


class Ending(str):
    """Reads and compares as its words; ``reason`` is a ``Reason``, ``bound`` the bound that was reached, if any."""

    reason: Reason
    bound: float | None

    def __new__(cls, reason: Reason, words: str, bound: float | None = None) -> Ending:
        ending = super().__new__(cls, words)
        ending.reason, ending.bound = reason, bound
        return ending

    def __getnewargs__(self) -> tuple[Reason, str, float | None]:  # type: ignore[override]
        return self.reason, str(self), self.bound

    @property
    def notes(self) -> dict[str, str | float]:
        """What a file keeps of it: its words, the name of its reason, and the bound if there is one."""
        notes: dict[str, str | float] = {"ended": str(self), "reason": self.reason.name}
        return notes if self.bound is None else notes | {"bound": self.bound}

    @classmethod
    def stored(cls, notes: Mapping[Any, Any]) -> Ending:
        """An ending from the notes of a file; older files hold no bound, or no reason either."""
        reason, bound = notes.get("reason"), notes.get("bound")
        known = Reason.__members__.get(str(reason), Reason.UNTOLD)
        return cls(known, str(notes["ended"]), float(bound) if isinstance(bound, Real) else None)


class Refused(ConvergenceError, ArithmeticError):
    """No point was found where one was looked for; a shorter step may find one. ``reason`` if none does."""

    reason = Reason.SINGULAR
