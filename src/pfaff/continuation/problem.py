"""What can be followed: a problem knows its points, its units and its linear algebra, and nothing of steps."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import numpy as np

from pfaff.continuation.endings import Ending, Refused
from pfaff.continuation.kinds import OfKind
from pfaff.continuation.walked_points import Walked
from pfaff.errors import PfaffError

P = TypeVar("P")
TURNING = "the parameter turns"  # located like a test, though it is none
FAILURES = (PfaffError, ArithmeticError, ValueError)  # a LinAlgError is a ValueError


@dataclass(frozen=True)
class Pace:
    """How step lengths are chosen."""

    first: float = 0.2  # first step, relative to the largest
    smallest: float = 1e-9  # least step
    growth: float = 1.6  # ratio of a step to the one before, if the tangent turned by less than ``easy``
    easy: float = 0.12  # radians
    sharpest: float = 0.35  # radians: a step in which the tangent turns by more is refused
    strayed: float = 0.3  # farthest distance of a point from its guess, relative to the step
    resolved: float = 2e-6  # step below which nothing is looked for between its ends


@dataclass(frozen=True, eq=False)
class Event(OfKind, Generic[P]):
    """A located special point; the branch ends at a ``last`` one, and others that it ``outranks`` are the same."""

    kind: str
    point: P
    last: bool = False
    detail: Any = None
    outranks: tuple[str, ...] = ()


@dataclass(frozen=True)
class Missed(Generic[P]):
    """An event that no test function detects: another function that vanishes there, and what happens."""

    test: Callable[[P], float]
    event: Callable[[P], Event[P] | None]


@dataclass(frozen=True)
class Stretch(Generic[P]):
    """Points in order, the length of the next step, and whether the walker may go on at once.

    ``events`` are special points, each with the number of points before it and its problem. ``ahead`` is the next point
    and the turn of the tangent up to it, as ``Problem.ahead`` gives them, if known; ``reached`` is the index of the
    bound that the last point is on.
    """

    points: Walked[P]
    length: float
    more: bool
    events: Sequence[tuple[int, Any, Event[P]]] = ()
    ahead: tuple[P, float] | None = None
    reached: int | None = None


class Asked(Mapping[str, float]):
    """Numbers by name, each computed on demand: a search for the zero of one needs no other."""

    def __init__(self, of: Mapping[str, Callable[[], float]]) -> None:
        self._of = of

    def __getitem__(self, name: str) -> float:
        return self._of[name]()

    def __contains__(self, name: object) -> bool:
        return name in self._of

    def __iter__(self) -> Iterator[str]:
        return iter(self._of)

    def __len__(self) -> int:
        return len(self._of)


class Problem(Generic[P]):
    """Points are solutions with a tangent. Where none is found, ``Refused`` is raised and a shorter step is tried."""

    pace = Pace()
    of = "point"  # what the points are, in words
    place = 1e-14  # accuracy, as a part of the chord of a step, to which special points are located
    sharp = 1.0  # largest value of a test at its zero, relative to those at the ends of the step
    met = 1e-8  # the same at the best trial of a search that failed
    returned = 1e-6  # distance within which a branch has come back to its start
    looks_inside = False  # whether tests may vanish twice in a step without ``hides`` saying so

    # Points

    def moved(self, at: P, length: float) -> Any:
        """A guess of the solution a step ahead."""
        raise NotImplementedError

    def corrected(self, guess: Any, at: P) -> Any:
        """The solution near a guess, on the plane across the tangent at a point."""
        raise NotImplementedError

    def norm(self, solution: Any, guess: Any, at: P) -> float:
        """How far a solution is from its guess."""
        raise NotImplementedError

    def point(self, solution: Any, at: P) -> P:
        """The point of a solution, its tangent directed like that of another point."""
        raise NotImplementedError

    def turn(self, a: P, b: P) -> float:
        """The angle between two tangents."""
        raise NotImplementedError

    def chord(self, a: P, b: P) -> Callable[[float], P]:
        """Points between two of them, by fractions of their chord."""
        raise NotImplementedError

    def root(self, function: Callable[[float], float], place: float) -> float:
        """Where between 0 and 1 a function vanishes, by Brent's method; the function is last evaluated there."""
        from scipy.optimize import brentq

        found = float(brentq(function, 0.0, 1.0, xtol=place, rtol=4e-15, maxiter=100, disp=False))
        function(found)
        return found

    def value(self, point: P) -> float:
        """Value of the continuation parameter, whose bounds end the branch."""
        raise NotImplementedError

    def slope(self, point: P) -> float:
        """Derivative of that parameter along the tangent; zero if it never turns within a step."""
        return 0.0

    def ahead(self, at: P, length: float) -> tuple[P, float]:
        """The point a step ahead, and how much the tangent turns to there."""
        guess = self.moved(at, length)
        try:
            solution = self.corrected(guess, at)
            if self.norm(solution, guess, at) > self.pace.strayed * length:
                raise Refused("the correction is as long as the step")
            ahead = self.point(solution, at)
            turn = self.turn(at, ahead)
            if not turn < self.pace.sharpest:
                raise Refused("the branch turns too sharply")
            if length > self.pace.resolved and self.hides(at, ahead, length):
                raise Refused("more happens in a step than is seen")
        except FAILURES as why:
            raise why if isinstance(why, Refused) else Refused(str(why)) from why
        return ahead, turn

    def walked(self, at: P, length: float, longest: float, bounds: tuple[float, float], home: P) -> Stretch[P] | None:
        """Several steps at once by a kernel, up to anything unusual; None where none knows the problem.

        The first step has a given length and none is longer than the longest; none passes a bound or the home point."""
        return None

    def paced(self, length: float, turn: float) -> float:
        """The length of the step after one of this length and turn."""
        return self.pace.growth * length if turn < self.pace.easy else length

    def kept(self, point: P) -> P:
        """A point as results keep it."""
        return point

    def renewed(self, point: P) -> tuple[Any, P]:
        """Problem and point with what serves the next step best: borders, meshes, charts."""
        return self, point

    # Special points

    def tests(self, point: P) -> Mapping[str, float]:
        """Functions that change their sign at special points."""
        return {}

    def zero(self, name: str, a: P, b: P) -> tuple[float, P] | None:
        """Where on the chord of two points a test vanishes, and the point there: an optional fast root finder; None
        leaves the search to the engine."""
        return None

    def event(self, name: str, point: P) -> Event[P] | None:
        """The event at a zero of a test function; None if nothing happens there."""
        raise NotImplementedError

    def hides(self, a: P, b: P, length: float) -> bool:
        """Whether something may happen between two points that does not show at them."""
        return False

    def events(self, engine: Any, a: P, b: P, length: float, last: bool) -> list[Event[P]]:
        """Special points in a step, in order; ``last`` says whether the step may be the last one. Raises Refused where
        more happens in it than they explain."""
        found: list[Event[P]] = engine.events(a, b)
        return found

    def is_quiet(self, a: P, b: P) -> bool:
        """Whether it is known, before any test is evaluated, that nothing happens between two points."""
        return False

    def is_quiet_about(self, at: P, length: float) -> bool:
        """Whether it is known that nothing happens within a length of a point, on both sides."""
        return False

    def missed(self, a: P, b: P, found: Sequence[Event[P]]) -> Missed[P] | None:
        """What happens between two points that the events found there do not explain."""
        return None

    # Endings

    def landed(self, a: P, b: P, bound: float) -> P | None:
        """The point between two at a value of the parameter; None leaves it to the engine to locate it on their
        chord."""
        return None

    def on_bound(self, point: P, bound: float) -> P:
        """A point that was located at a value of the parameter, with exactly this value."""
        return point

    def returns(self, a: P, b: P, home: P) -> bool:
        """Whether a step may pass the first point, by a cheap check."""
        return True

    def signature(self, point: P, like: P) -> np.ndarray:
        """Numbers by which a point is recognised, in the units of another."""
        raise NotImplementedError

    def closed(self, found: P, home: P) -> P:
        """The last point of a closed branch: the first one, or what was found there."""
        return home

    def ended(self, passed: Sequence[P]) -> tuple[Event[P] | None, Ending] | None:
        """The ending, and the special point it is at if any, where the branch ends by itself at the last point
        passed."""
        return None

    def stuck(self, at: P, why: Refused, passed: Sequence[P]) -> Ending:
        """The ending where no step leads on."""
        return Ending(why.reason, f"no {self.of} was found beyond {self.where(at)}: {why}")

    def where(self, at: P) -> str:
        """A place on the branch, in words."""
        return f"{self.value(at):.10g}"
