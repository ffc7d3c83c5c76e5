"""How a motion ends: an outcome for programs, with a status in words for people."""

from __future__ import annotations

from enum import Enum

NO_ADVANCE = 1e-14  # a step shorter than this, relative to the time, no longer advances: it has collapsed


class Outcome(Enum):
    """What ended a motion, with the words that its status begins with."""

    FINISHED = "finished"
    INTERRUPTED = "interrupted"
    EVENT = "stopped by"
    TOO_MANY = "stopped: the number of steps reached its limit, max_steps"
    COLLAPSED = "stopped: the step size has collapsed"
    NOT_FINITE = "stopped: the state is no longer finite"
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

    @classmethod
    def stored(cls, words: str) -> Status:
        """A status from a file, which holds the words alone."""
        outcome = next((each for each in Outcome if words.startswith(each.value)), Outcome.FAILED)
        return cls(outcome, words.removeprefix(outcome.value))


FINISHED = Status(Outcome.FINISHED)
INTERRUPTED = Status(Outcome.INTERRUPTED)
TOO_MANY = Status(Outcome.TOO_MANY)
COLLAPSED = Status(Outcome.COLLAPSED)
NOT_FINITE = Status(Outcome.NOT_FINITE)
NOT_RUN = Status(Outcome.NOT_RUN)
