"""What was followed: points in order, the special ones among them, and why it ended."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar

import numpy as np

from pfaff.bifurcation.arclength import Arclength, Event, Spot, Stop
from pfaff.bifurcation.eigenvalues import unstable
from pfaff.bifurcation.slices import Slice
from pfaff.errors import ParameterError, nearest

if TYPE_CHECKING:
    import xarray

    from pfaff.bifurcation.equilibria import Branch
    from pfaff.case import Bound


@dataclass(frozen=True, eq=False)
class RestPoint:
    """An equilibrium (or steady motion): its states by name, its eigenvalues without structural zeros."""

    problem: Any = field(repr=False)
    spot: Spot = field(repr=False)

    @property
    def slice(self) -> Slice:
        return self.problem.slice

    @property
    def value(self) -> float:
        """Of the parameter in which the branch or curve is followed."""
        return float(self.spot.z[-1])

    @property
    def values(self) -> dict[str, float]:
        """Of all parameters that vary."""
        return self.slice.free_values(self.spot.z)

    @property
    def x(self) -> np.ndarray:
        return self.slice.x(self.spot.z)

    @property
    def state(self) -> dict[str, float]:
        return dict(zip(self.slice.flow.states, self.x.tolist(), strict=True))

    @property
    def reaction(self) -> dict[str, float]:
        values = self.slice.flow.reactions(self.x, self.slice.numbers(self.spot.z))
        return dict(zip(getattr(self.slice.case.system, "reaction_names", ()), values.tolist(), strict=False))

    @property
    def case(self) -> Bound:
        return self.slice.case_at(self.spot.z)

    @property
    def eigenvalues(self) -> np.ndarray:
        """The least stable first."""
        values = self.spot.facts.eigenvalues
        return values[np.lexsort((values.imag, -values.real))]

    @property
    def unstable(self) -> int:
        """How many eigenvalues lie to the right of the imaginary axis."""
        return unstable(self.eigenvalues)

    @property
    def stable(self) -> bool:
        return self.unstable == 0

    @property
    def residual(self) -> float:
        """Of the equations, relative to the largest rate that states of usual size have."""
        s, z = self.slice, self.spot.z
        usual = np.abs(s.state_jacobian(z)) @ s.sizes[: s.n]
        return float(np.abs(s.rates(z)).max() / (usual.max() or 1.0))

    def branch(self, parameter: str, to: float, **options: Any) -> Branch:
        """The branch of equilibria through this point in another parameter; options as in ``case.branch``."""
        return self.case.branch(parameter, to, start=self, **options)

    def __getitem__(self, name: str) -> float:
        known = {**self.values, **self.state, **self.reaction}
        if name not in known:
            raise ParameterError(f"no state or reaction {name!r}: {nearest(name, known)}")
        return known[name]


Point = TypeVar("Point", bound=RestPoint)
Special = TypeVar("Special", bound=RestPoint)


@dataclass(frozen=True, eq=False)
class Followed(Generic[Point, Special]):
    """``followed[i]`` is a point, ``special`` lists the located ones, ``ended`` says why there are no more.

    ``places`` are the indices of the points that come next after the special ones.
    """

    points: tuple[Point, ...] = field(repr=False)
    special: tuple[Special, ...]
    ended: str
    step: float = field(repr=False)
    places: tuple[int, ...] = field(repr=False)

    def __len__(self) -> int:
        return len(self.points)

    def __getitem__(self, index: int) -> Point:
        return self.points[index]

    def __iter__(self) -> Iterator[Point]:
        return iter(self.points)

    @property
    def parameters(self) -> tuple[str, ...]:
        """What varies; the last one says where it ends."""
        return self.points[0].slice.free

    @property
    def values(self) -> np.ndarray:
        """Of the last parameter, along the way."""
        return np.array([point.value for point in self.points])

    @property
    def counted(self) -> str:
        """The special points by kind, in words."""
        kinds = [special.kind for special in self.special]  # type: ignore[attr-defined]
        return ", ".join(f"{kinds.count(kind)} {kind}" for kind in dict.fromkeys(kinds)) or "no special points"

    def of_kind(self, kind: str) -> tuple[Special, ...]:
        """The special points of one kind: ``branch.of_kind("fold")``."""
        return tuple(special for special in self.special if special.kind == kind)  # type: ignore[attr-defined]

    def extend(self, to: float, *, points: int = 1000, progress: Callable[[Point], Any] | None = None) -> Self:
        """The same, followed on from the last point in its direction until the parameter is ``to``."""
        last = self.points[-1]
        more = self.gathered(last.problem, last.spot, to, self.step, points, progress)
        return replace(
            self,
            points=self.points + more.points[1:],
            special=self.special + more.special,
            ended=more.ended,
            places=self.places + tuple(len(self) - 1 + place for place in more.places),
        )

    def to_xarray(self) -> xarray.Dataset:
        """Parameters, states, reactions and eigenvalues by name along the dimension ``point``."""
        from pfaff.bifurcation.archive import dataset

        return dataset(self)

    def save(self, path: str | Path) -> Path:
        """Write a netCDF file; ``pfaff.load_equilibria`` and ``pfaff.load_curve`` read it again."""
        from pfaff.bifurcation.archive import save

        return save(self, path)

    @staticmethod
    def _point(problem: Any, spot: Spot) -> Any:
        raise NotImplementedError

    @staticmethod
    def _special(problem: Any, event: Event) -> Any:
        raise NotImplementedError

    @classmethod
    def gathered(
        cls,
        problem: Any,
        spot: Spot,
        to: float,
        step: float,
        points: int,
        progress: Callable[[Point], Any] | None,
        fresh: bool = False,
    ) -> Self:
        """Everything from a spot on, until the parameter is ``to`` or as far on the other side; Ctrl-C keeps it.

        A ``fresh`` one includes what happens at the spot itself.
        """
        start, arclength = problem.value(spot.z), Arclength(problem)
        kept, special, places = [cls._point(problem, spot)], [], []
        ended = f"stopped after {points} points"
        try:
            for item in arclength.follow(spot, step, (to, start - (to - start)), fresh):
                if isinstance(item, Stop):
                    ended = item.why
                    break
                if isinstance(item, Event):
                    special.append(cls._special(arclength.problem, item))
                    places.append(len(kept))
                    continue
                kept.append(cls._point(arclength.problem, item))
                if progress:
                    progress(kept[-1])
                if len(kept) >= points:
                    break
        except KeyboardInterrupt:
            ended = "interrupted"
        return cls(tuple(kept), tuple(special), ended, step, tuple(places))


def check_following(name: str, value: float, to: float, step: float, points: int) -> None:
    """What would fail on the way fails before it."""
    if not np.isfinite(to):
        raise ParameterError(f"to={to}: give a finite value of {name}")
    if to == value:
        raise ParameterError(f"to={to:g} is where it starts: give another value of {name}")
    if not 0 < step <= 1:
        raise ParameterError(f"step={step}: give the largest step as a share of the range, between 0 and 1")
    if points < 1:
        raise ParameterError(f"points={points}: ask for one at least")
