"""What was followed: points in order, the special ones among them, and why it ended."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from pfaff import doors
from pfaff.bifurcation.equilibria.eigenvalues import unstable
from pfaff.bifurcation.equilibria.rest_equations import RestEquations
from pfaff.checks import Checked
from pfaff.continuation.course import POINTS, Bounds, Course, Limits
from pfaff.continuation.dense import Spot
from pfaff.continuation.endings import Ending
from pfaff.continuation.engine import Engine
from pfaff.continuation.gathering import gathered
from pfaff.continuation.problem import Event
from pfaff.continuation.trail import Point, Special, Trail
from pfaff.statement.told import answering
from pfaff.statement.values import one_of

if TYPE_CHECKING:
    import xarray
    from matplotlib.figure import Figure

    from pfaff.bifurcation.equilibria.branches import EquilibriumBranch
    from pfaff.case import Bound


@answering
@dataclass(frozen=True, eq=False, repr=False)
class RestPoint(Checked):
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
    def equations(self) -> RestEquations:
        return self.problem.equations

    @property
    def value(self) -> float:
        """Value of the parameter in which the branch or curve is followed."""
        return float(self.spot.z[-1])

    @property
    def values(self) -> dict[str, float]:
        """Values of all parameters that vary."""
        return self.equations.free_values(self.spot.z)

    @property
    def x(self) -> np.ndarray:
        return self.equations.x(self.spot.z)

    @property
    def state(self) -> dict[str, float]:
        return dict(zip(self.equations.flow.states, self.x.tolist(), strict=True))

    @property
    def reaction(self) -> dict[str, float]:
        return self.equations.reactions(self.spot.z)

    @property
    def case(self) -> Bound:
        return self.equations.case_at(self.spot.z)

    @property
    def eigenvalues(self) -> np.ndarray:
        """Eigenvalues, the least stable first."""
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
        """Residual of the equations, relative to the largest rate of states of usual size."""
        s, z = self.equations, self.spot.z
        usual = np.abs(s.state_jacobian(z)) @ s.sizes[: s.n]
        return float(np.abs(s.rates(z)).max() / (usual.max() or 1.0))

    @property
    def measurable(self) -> tuple[str, ...]:
        """Names that expressions of a point may contain: parameters, states, reactions."""
        aliases = getattr(self.case.system, "reaction_aliases", ())
        return tuple(dict.fromkeys((*self.case.system.parameter_names, *self.state, *self.reaction, *aliases)))

    def measured(self, name: str) -> float:
        """The value that a name stands for in expressions."""
        one_of(self.measurable, name, "no expression contains")
        names = self.case.system.parameter_names
        return float(self.case.numbers[names.index(name)]) if name in names else self[name]

    def branch(self, parameter: str, to: float, **options: Any) -> EquilibriumBranch:
        """The branch of equilibria through this point in another parameter; options as in ``case.branch``."""
        return self.case.branch(parameter, to, start=self, **options)

    def plot(self) -> Figure:
        """Its eigenvalues in the complex plane; those that grow are marked."""
        return doors.draw.draw_rest_point(self)

    def __getitem__(self, name: str) -> float:
        reaction, aliases = self.reaction, getattr(self.equations.case.system, "reaction_aliases", {})
        known = {**self.values, **self.state, **reaction}
        known |= {alias: reaction[p] for alias, p in aliases.items() if p in reaction}
        return known[one_of(list(known), name, "no state or reaction")]


@answering
@dataclass(frozen=True, eq=False, repr=False)
class RestTrail(Checked, Trail[Point, Special]):
    """``trail[i]`` is a point, ``special`` lists the located ones, ``ended`` says why there are no more.

    ``places`` are, for each special point, the index of the next point after it.
    """

    points: Sequence[Point]
    special: tuple[Special, ...]
    ended: Ending
    step: float
    places: tuple[int, ...]

    def extend(
        self,
        to: float,
        *,
        points: int = POINTS,
        bounds: Bounds = None,
        progress: Callable[[Point], Any] | None = None,
        events: Mapping[str, Any] | None = None,
    ) -> Self:
        """The trail followed on from the last point, in its direction, until the parameter is ``to``."""
        last, name = self.points[-1], self.parameters[-1]
        course = Course.asked(to, self.step, points, bounds, progress, name, events)
        limits = self._limits(course)
        s = last.equations
        problem = replace(last.problem, equations=s.reaching(last.spot.z, limits.span, float(s.sizes[-1])))
        spot, home = problem.spot(last.spot.z, last.spot.tangent), self.points[0].spot
        more = self.gathered(problem, spot, course, limits, home=home)
        return self._joined(more, places=self._places(more))

    def to_xarray(self) -> xarray.Dataset:
        """Parameters, states, reactions and eigenvalues by name along the dimension ``point``."""
        return doors.rest_archive.dataset(self)

    def save(self, path: str | Path) -> Path:
        """Write a netCDF file; ``pfaff.load_equilibria`` and ``pfaff.load_curve`` read it again."""
        return doors.rest_archive.save(self, path)

    @staticmethod
    def _point(problem: Any, spot: Spot) -> Any:
        raise NotImplementedError

    @staticmethod
    def _special(problem: Any, event: Event) -> Any:
        raise NotImplementedError

    @classmethod
    def gathered(
        cls, problem: Any, start: Spot, course: Course, limits: Limits, fresh: bool = False, home: Spot | None = None
    ) -> Self:
        """The trail from a spot on; ``fresh`` and ``home`` are as for ``Engine.follow``."""
        engine: Engine[Spot] = Engine(problem)
        found = gathered(
            engine,
            start,
            course,
            limits,
            lambda spot: cls._point(engine.problem, spot),
            lambda event: cls._special(engine.problem, event),
            fresh,
            home,
            cls._point,
        )
        return cls(found.points, tuple(found.special), found.ended, course.step, tuple(found.places))
