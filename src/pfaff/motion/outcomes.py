"""How a motion ends: an outcome for programs, with a status in words for people."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import Enum
from typing import Any

from pfaff.checks import Check, doubted

NO_ADVANCE = 1e-14  # a step shorter than this, relative to the time, no longer advances: it has collapsed


class Outcome(Enum):
    """What ended a motion, with the words that its status begins with."""

    FINISHED = "finished"
    INTERRUPTED = "interrupted"
    EVENT = "stopped by"
    TOO_MANY = "stopped: the number of steps reached its limit, max_steps"
    COLLAPSED = "stopped: the step size has collapsed"
    NOT_FINITE = "stopped: the state is no longer finite"
    LOST_RANK = "stopped: the constraints lose rank there"
    FAILED = "stopped: "
    NOT_RUN = "not run: interrupted before its turn"


class Status(str):
    """Reads and compares as its words; ``status.outcome`` is one of ``Outcome``."""

    outcome: Outcome

    def __new__(cls, outcome: Outcome, more: str = "") -> Status:
        status = super().__new__(cls, outcome.value + more)
        status.outcome = outcome
        return status

    @property
    def finished(self) -> bool:
        return self.outcome is Outcome.FINISHED

    def __getnewargs__(self) -> tuple[Outcome, str]:  # type: ignore[override]
        return self.outcome, self.removeprefix(self.outcome.value)

    def doubted(self, checks: Iterable[Check]) -> Status:
        """The same outcome; its words tell every check that failed."""
        return Status(self.outcome, doubted(str(self), checks).removeprefix(self.outcome.value))

    def leaving(self, since: float | None) -> Status:
        """The same outcome; its words tell since when steps left their equations, however short they were."""
        if since is None:
            return self
        words = self.removeprefix(self.outcome.value)
        return Status(self.outcome, f"{words}; from t = {since:g} on shorter steps obey the equations no better")

    @property
    def notes(self) -> dict[str, str]:
        """What a file keeps of it: its words, and the name of its outcome."""
        return {"status": str(self), "outcome": self.outcome.name}

    @classmethod
    def stored(cls, notes: Mapping[Any, Any]) -> Status:
        """A status from the notes of a file; older files hold the words alone, which begin with those of an outcome."""
        words = str(notes["status"])
        named = Outcome.__members__.get(str(notes.get("outcome")))
        if named is None or not words.startswith(named.value):
            named = next((each for each in Outcome if words.startswith(each.value)), Outcome.FAILED)
        return cls(named, words.removeprefix(named.value))


FINISHED = Status(Outcome.FINISHED)
INTERRUPTED = Status(Outcome.INTERRUPTED)
TOO_MANY = Status(Outcome.TOO_MANY)
COLLAPSED = Status(Outcome.COLLAPSED)
NOT_FINITE = Status(Outcome.NOT_FINITE)
NOT_RUN = Status(Outcome.NOT_RUN)
