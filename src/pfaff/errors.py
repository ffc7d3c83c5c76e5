"""What can go wrong, by name. Every message says what is wrong and what to do about it."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

LONGEST, MANY = 100, 60  # characters of a name that is compared, and names that are listed


class PfaffError(Exception):
    """Anything this package refuses to do, with the culprit and the remedy in its message."""


class StatementError(PfaffError):
    """The system as stated is not a mechanical system of the kind treated here."""


class ConstraintError(StatementError):
    """A constraint is malformed, redundant, contradictory or in the wrong list."""


class ParameterError(PfaffError):
    """A parameter is unknown, missing, not finite, or outside its declared range."""


class SingularMassError(PfaffError):
    """The kinetic energy does not resist motion along some direction."""


class ConvergenceError(PfaffError):
    """An iteration did not converge; the message names the last good state."""


class NoBifurcationError(PfaffError):
    """A bifurcation was looked for and there is none of its kind; the message says how far the search went."""


class NotMechanicalError(PfaffError, AttributeError):
    """An analysis of energies, forces or constraints was asked of a plain ODE."""


class NoSuchNameError(PfaffError, AttributeError):
    """A case or a result was asked for something that it does not have; the message says the nearest it has."""

    def __init__(self, kind: type, name: str, *, like: type | None = None, remedy: str = "") -> None:
        super().__init__(kind, name)
        self.like, self.remedy = like, remedy

    def __str__(self) -> str:  # not before it is read: programs ask whether there is an attribute
        kind, name = self.args
        near = closest(name, [*_public(kind), *(_public(self.like) if self.like else ())])
        remedy = self.remedy or (f"did you mean {near!r}?" if near else "")
        return f"{kind.__name__} has no {name!r}" + (f": {remedy}" if remedy else "")


def _public(kind: type) -> list[str]:
    return [name for name in {*dir(kind), *getattr(kind, "__dataclass_fields__", ())} if not name.startswith("_")]


class RankError(PfaffError):
    """The constraint matrix has lost rank at this configuration."""


def nearest(name: object, known: Iterable[str]) -> str:
    """A half-sentence for an unknown name: the nearest known one, or the list of all."""
    names = sorted(known)
    if not names:
        return "there are none yet"
    close = closest(name, names)
    if close:
        return f"did you mean {close!r}?"
    more = f" and {len(names) - MANY} more" if len(names) > MANY else ""
    return f"known names: {', '.join(names[:MANY])}{more}"


def number_of(count: int, what: str) -> str:
    """A number of things in words: 1 mode, 2 modes."""
    return f"{count} {what}{'' if count == 1 else 's'}"


def closest(name: object, known: Iterable[str]) -> str:
    """The known name that is like this one, whatever its case; nothing if none is."""
    lowered = {known_name.lower(): known_name for known_name in sorted(known)}
    wanted = name.lower()[:LONGEST] if isinstance(name, str) else ""
    close = difflib.get_close_matches(wanted, lowered, n=1, cutoff=0.6)
    return lowered[close[0]] if close else ""
