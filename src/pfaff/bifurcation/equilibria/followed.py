"""What was followed: points in order, the special ones among them, and why it ended."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from pfaff.bifurcation.equilibria.eigenvalues import unstable
from pfaff.bifurcation.equilibria.slices import Slice
from pfaff.continuation.arclength import CLOSED, Arclength, Event, Spot, Stop
from pfaff.continuation.declared import Declared
from pfaff.continuation.trail import Point, Special, Trail
from pfaff.errors import ParameterError
from pfaff.statement.values import MOST, end_from, number_from, number_within, one_of, told, whole_number

if TYPE_CHECKING:
    import xarray

    from pfaff.bifurcation.equilibria.branches import EquilibriumBranch
    from pfaff.case import Bound


@dataclass(frozen=True, eq=False, repr=False)
class RestPoint:
    """An equilibrium (or steady motion): its states by name, its eigenvalues without structural zeros."""

    problem: Any
    spot: Spot

    def __repr__(self) -> str:
        return f"<{self.status}>"

    @property
    def status(self) -> str:
        """What it is and where, in words."""
        raise NotImplementedError

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

    def branch(self, parameter: str, to: float, **options: Any) -> EquilibriumBranch:
        """The branch of equilibria through this point in another parameter; options as in ``case.branch``."""
        return self.case.branch(parameter, to, start=self, **options)

    def __getitem__(self, name: str) -> float:
        known = {**self.values, **self.state, **self.reaction}
        one_of(list(known), name, "no state or reaction")
        return known[name]


@dataclass(frozen=True, eq=False, repr=False)
class Followed(Trail[Point, Special]):
    """``followed[i]`` is a point, ``special`` lists the located ones, ``ended`` says why there are no more.

    ``places`` are the indices of the points that come next after the special ones.
    """

    points: tuple[Point, ...]
    special: tuple[Special, ...]
    ended: str
    step: float
    places: tuple[int, ...]

    def extend(self, to: float, *, points: int = 1000, progress: Callable[[Point], Any] | None = None) -> Self:
        """The same, followed on from the last point in its direction until the parameter is ``to``."""
        last = self.points[-1]
        to = check_following(self.parameters[-1], last.value, to, self.step, points)
        if self.ended == CLOSED:
            raise ParameterError(f"these {self.of} lie on a closed line, which is complete: nothing follows")
        problem = _reaching(last.problem, abs(to - last.value))
        spot, home = Arclength(problem).spot(last.spot.z, last.spot.tangent), self.points[0].spot
        more = self.gathered(problem, spot, to, self.step, points, progress, home=home)
        return replace(
            self,
            points=self.points + more.points[1:],
            special=self.special + more.special,
            ended=more.ended,
            places=self.places + tuple(len(self) - 1 + place for place in more.places),
        )

    def to_xarray(self) -> xarray.Dataset:
        """Parameters, states, reactions and eigenvalues by name along the dimension ``point``."""
        from pfaff.bifurcation.curves.rest_archive import dataset

        return dataset(self)

    def save(self, path: str | Path) -> Path:
        """Write a netCDF file; ``pfaff.load_equilibria`` and ``pfaff.load_curve`` read it again."""
        from pfaff.bifurcation.curves.rest_archive import save

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
        home: Spot | None = None,
    ) -> Self:
        """Everything from a spot on, until the parameter is ``to`` or as far on the other side; Ctrl-C keeps it.

        A ``fresh`` one includes what happens at the spot itself; it is closed where it comes back to its ``home``.
        """
        told("progress", progress, "print", None)
        step = number_from("step", step)
        arclength, kept, special, places = Arclength(problem), [cls._point(problem, spot)], [], []
        declared = Declared(kept[0].case.system, list(kept[0].values)[-1], problem.value(spot.z), to)
        ended = f"stopped after {points} points"
        try:
            for item in arclength.follow(spot, step, declared.bounds, fresh, home):
                if isinstance(item, Stop):
                    ended = declared.ended(item.why, kept[-1].value)
                    break
                point = cls._point(arclength.problem, item.spot if isinstance(item, Event) else item)
                broken = declared.broken(point.values)
                if broken:
                    ended = f"stopped at {kept[-1].value:.10g}: {broken}"
                    break
                if isinstance(item, Event):
                    special.append(cls._special(arclength.problem, item))
                    places.append(len(kept))
                    continue
                kept.append(point)
                if progress:
                    progress(kept[-1])
                if len(kept) >= points:
                    break
        except KeyboardInterrupt:
            ended = "interrupted"
        return cls(tuple(kept), tuple(special), ended, step, tuple(places))


def _reaching(problem: Any, span: float) -> Any:
    """The same problem, its steps measured by a longer range of the parameter."""
    sizes = problem.slice.sizes.copy()
    sizes[-1] = max(sizes[-1], span)
    return replace(problem, slice=replace(problem.slice, sizes=sizes))


def check_following(name: str, value: float, to: Any, step: Any, points: Any) -> float:
    """The end as a number; what would fail on the way fails before it."""
    to = end_from("to", to)
    if to == value:
        raise ParameterError(f"to={to:g} is where it starts: give another value of {name}")
    share = "give the largest step as a share of the range, between 0 and 1"
    number_within("step", step, lambda x: 0 < x <= 1, share)
    whole_number("points", points, 1, MOST, "ask for fewer")
    return to
