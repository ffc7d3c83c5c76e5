"""Steady motions: relative equilibria, such as a wheel that rolls straight or in circles, and their stability.

Shape and velocities are constant. Such motions come in families, whose members are selected by fixing speeds or
coordinates by name; every dimension of the family is a zero eigenvalue that belongs to no bifurcation. Neighbouring
members tell its dimension, and the zeros are divided out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from pfaff import doors
from pfaff.algebra.bordering import FARTHEST, at_rest, balanced, row_sizes
from pfaff.algebra.newtons_method import Stopping, least_norm, newton
from pfaff.algebra.rounding import axis_rounding
from pfaff.algebra.structural_zeros import Deflation, zero_chain
from pfaff.algebra.tolerances import NEIGHBOUR
from pfaff.checks import Check, Checked, doubted
from pfaff.errors import (
    ConvergenceError,
    ParameterError,
    PfaffError,
    RankError,
    SingularMassError,
    nearest,
)
from pfaff.flow.flow import Flow
from pfaff.flow.in_quasi_velocities import quasi_values
from pfaff.flow.motion_sizes import motion_sizes
from pfaff.flow.moving_frames import in_moving_frame, undivided
from pfaff.flow.relative import accidental
from pfaff.rest.spectrum import Spectrum
from pfaff.rest.steady_families import ULPS, allowed_directions, exact_zeros, null_vector, selections
from pfaff.rest.steady_starts import filled, flow_with, speeds_among
from pfaff.statement.told import shown_in_notebooks
from pfaff.statement.values import number_from, one_of, shown, spelt
from pfaff.threads import cached_property

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from pfaff.bifurcation.equilibria.branches import EquilibriumBranch
    from pfaff.case import Case
    from pfaff.rest.flow_paths import SteadyPath
    from pfaff.statement.system import System

SHORTENED = 80  # most steps; they are shortened while they are far from a motion
LEAST_SQUARES = 1e-7  # singular values below this, relative to the largest, are those of a family: steps leave them out
TIMELESS = 1e-7  # changes with time below this, relatively, are rounding
ROUNDED = 1e-8  # states below this, relative to the largest, are set to zero if that is as steady


@shown_in_notebooks
@spelt
@dataclass(frozen=True)
class SteadyMotion(Checked):
    """A steady motion: ``motion["theta"]`` and ``motion["phi_dot"]`` are constant, all velocities are known.

    ``family`` are names that select a member of the family of steady motions it belongs to: those that were fixed,
    then speeds, then coordinates.
    """

    case: Case
    flow: Flow = field(repr=False)
    x: np.ndarray = field(repr=False)
    fixed: Mapping[str, float]
    zeros: tuple[int, ...]
    family: tuple[str, ...]
    residual: float

    def __repr__(self) -> str:
        return f"<SteadyMotion of {self.case.system.name!r}: {self.status}>"

    @property
    def state(self) -> dict[str, float]:
        """The coordinates and independent velocities."""
        return dict(zip(self.flow.states, self.x.tolist(), strict=True))

    @cached_property
    def velocities(self) -> dict[str, float]:
        """Velocities of all coordinates; cyclic ones, such as a heading, are zero at this instant."""
        values = self.flow.velocities(self.x, self.case).tolist()
        return dict(zip(self.case.system.velocity_names, values, strict=True))

    @cached_property
    def quasi_velocities(self) -> dict[str, float]:
        """The quasi-velocities that the system states, at this instant."""
        system = self.case.system
        q = [self.state.get(name, 0.0) for name in system.coordinate_names]
        found = quasi_values(system, np.array([*q, *self.velocities.values()]), self.case.numbers)
        return {name: float(value) for name, value in found.items()}

    @property
    def initial(self) -> dict[str, float]:
        """What ``case.simulate`` starts from: ``case.simulate(10, **motion.initial)``."""
        names = self.case.system.coordinate_names
        coordinates = {name: value for name, value in self.state.items() if name in names}
        return coordinates | self.velocities

    @property
    def reaction(self) -> dict[str, float]:
        values = self.flow.reactions(self.x, self.case).tolist()
        return dict(zip(self.case.system.reaction_names, values, strict=False))

    @property
    def family_dimension(self) -> int:
        return self.zeros[0] if self.zeros else 0

    @cached_property
    def carried_along(self) -> tuple[str, ...]:
        """Coordinates that the motion turns with a symmetry, as quaternions do; their values are those at this
        instant."""
        frame, names = self.flow.frame, self.case.system.coordinate_names
        if frame is None:
            return ()
        mu = frame.rates(self.x, self.case.numbers)
        turning = [g for rate, g in zip(mu, frame.generators, strict=True) if abs(rate) > ROUNDED * np.abs(mu).max()]
        return tuple(name for k, name in enumerate(names) if any(g.B[k].any() or g.c[k] for g in turning))

    @cached_property
    def sizes(self) -> np.ndarray:
        """Usual sizes of the states of ``flow``."""
        return motion_sizes(self.flow, self.x, self.case.numbers)

    @cached_property
    def jacobian(self) -> np.ndarray:
        """∂f/∂x along the holonomic constraints, in a basis of the directions they allow, orthonormal in units of the
        sizes of states."""
        return _allowed_jacobian(self.case, self.flow, self.x, self.sizes)[0]

    @cached_property
    def _deflated(self) -> np.ndarray:
        return Deflation.about(self.jacobian, self.zeros)(self.jacobian)

    @cached_property
    def eigenvalues(self) -> np.ndarray:
        """Eigenvalues without structural zeros, the least stable first."""
        values = np.linalg.eigvals(self._deflated)
        return values[np.lexsort((values.imag, -values.real))]

    def spectrum(self) -> Spectrum:
        """Eigenvalues and modes about this motion, in the states of ``flow``; those of the family set apart."""
        sizes = self.sizes
        allowed = sizes[:, None] * allowed_directions(self.flow, self.x, self.case.numbers, sizes)
        modes = [null_vector(self.jacobian, value) for value in self.eigenvalues]
        vectors = allowed @ np.array(modes).T if modes else np.zeros((len(self.x), 0))
        vectors = vectors / np.linalg.norm(vectors, axis=0)
        zeros = {"families of steady motions": sum(self.zeros)} if self.zeros else {}
        rounding = axis_rounding(self._deflated, self.eigenvalues)
        return Spectrum(self.eigenvalues, vectors, np.zeros((0, len(modes))), zeros, None, rounding, self)

    @property
    def stable(self) -> bool:
        """Whether no eigenvalue lies to the right of the imaginary axis, beyond rounding."""
        return self.spectrum().stable

    @property
    def status(self) -> str:
        values = {name: value for name, value in self.state.items() if value}
        slow = ROUNDED * max(map(abs, self.velocities.values()), default=0.0)
        values |= {name: value for name, value in self.velocities.items() if abs(value) > slow}
        told = ", ".join(f"{name} = {value:g}" for name, value in values.items())
        if self.carried_along:
            told += f", carried along by a rotation of {', '.join(self.carried_along)}"
        family = f"one of a family in {' and '.join(self.family)}" if self.zeros else "isolated"
        how = "stable" if self.stable else "unstable"
        return doubted(f"steady motion with {told or 'everything at rest'}, {family}: {how}", self.checks)

    def _verify(self) -> Iterator[Check]:
        return doors.verified_rests.of_steady(self, self.eigenvalues)

    def branch(self, name: str, to: float | None = None, **options: Any) -> EquilibriumBranch:
        """The branch of steady motions in a parameter, a speed or a coordinate, its critical points located."""
        return self.case.branch(name, to, start=self, **options)

    def __getitem__(self, name: str) -> float:
        reaction, aliases = self.reaction, self.case.system.reaction_aliases
        known = {**self.state, **self.velocities, **self.quasi_velocities, **reaction}
        known |= {alias: reaction[p] for alias, p in aliases.items() if p in reaction}
        return known[one_of(known, name, "no coordinate, velocity or reaction")]

    def plot(self) -> Figure:
        return self.spectrum().plot()


def steady_motion(case: Case, start: Mapping[str, float], fixed: Mapping[str, float]) -> SteadyMotion:
    """The steady motion with these coordinates and speeds fixed, nearest to the starting values."""
    given = {name: number_from(name, value) for name, value in {**start, **fixed}.items()}
    speeds = speeds_among(case, fixed)
    flow = flow_with(case, speeds, speeds_among(case, start), given, fixed)
    for name in (*start, *fixed):
        if name not in flow.states and (name in fixed or name not in case.system.moving_names):
            raise ParameterError(f"{case.system.name} {_why_not(flow, name)}")
    held = np.array([name in fixed for name in flow.states])
    try:
        flow, x = _nearest(case, flow, given, fixed, held)
    except ConvergenceError as problem:
        alike = accidental(case.system, case.numbers) if speeds else ()
        if not alike:
            raise
        raise ConvergenceError(
            f"{problem}; only at these values of the parameters is {case.system.name} alike at every "
            f"{', '.join(alike)}: state it without the parameters that are zero"
        ) from problem
    _check_time(case, flow, x, motion_sizes(flow, x, case.numbers))
    sizes = motion_sizes(flow, x, case.numbers)
    residual = (np.abs(flow.rhs(x, case)) / sizes).max() / ((_usual(case, flow, x, sizes) / sizes).max() or 1.0)
    zeros, family = _structural(case, flow, x, sizes, list(fixed))
    return SteadyMotion(case, flow, x, {name: given[name] for name in fixed}, zeros, family, float(residual))


def _nearest(
    case: Case, flow: Flow, given: Mapping[str, float], fixed: Mapping[str, float], held: np.ndarray
) -> tuple[Flow, np.ndarray]:
    """The steady motion near the state in which ``simulate`` starts from these values: a robot runs straight unless it
    is told to turn. Where none is near, from the values alone. With it the flow in which it rests."""
    left = undivided(case.system, flow.slice, case.numbers)

    def solved(values: Mapping[str, float]) -> tuple[Flow, np.ndarray]:
        x = np.array([values.get(name, 0.0) for name in flow.states])
        carried = in_moving_frame(flow, left, x, case.numbers)
        return carried, _solved(case, carried, x, held)

    try:
        return solved({**filled(case, given, fixed), **given})
    except PfaffError as problem:
        try:
            return solved(given)
        except (SingularMassError, RankError):
            raise problem from None  # the values alone are no state


def path_at_speed(case: Case, load: str, fixed: Mapping[str, float]) -> SteadyPath | None:
    """The steady motion followed as a parameter changes, if a speed is fixed."""
    return doors.flow_paths.SteadyPath(steady_motion(case, {}, fixed), load) if speeds_among(case, fixed) else None


def _why_not(flow: Flow, name: str) -> str:
    if name in flow.dropped:
        return f"is alike at every {name}: fix its velocity {name}_dot instead"
    system: System = flow.system  # type: ignore[assignment]
    kept = [each for each in system.coordinate_names if each not in flow.dropped]
    known = [*kept, *system.velocity_names, *system.quasi_velocities]
    return f"has no coordinate or speed {shown(name)}: {system.use_of(name) or nearest(name, known)}"


def _solved(case: Case, flow: Flow, x: np.ndarray, held: np.ndarray) -> np.ndarray:
    """Gauss–Newton in the states not held: the equations are dependent along families, so steps are those of least
    norm."""

    def step(x: np.ndarray) -> tuple[np.ndarray, float] | None:
        f, J = flow.rhs(x, case), flow.jacobian(x, case)
        if not np.isfinite(J).all():
            flow.diagnose(x, case.numbers, f)
        sizes = motion_sizes(flow, x, case.numbers)
        even, scale = balanced(J * sizes / sizes[:, None])  # beside stiff states, too
        change = np.zeros_like(x)
        change[~held] = -least_norm(even[:, ~held], f / sizes / scale, LEAST_SQUARES)
        change *= sizes * scale
        size = float((np.abs(change) / sizes).max(initial=0.0))
        if not np.isfinite(size):
            return None
        return x + change * min(1.0, FARTHEST / size if size else 1.0), size

    x = newton(step, x, Stopping(SHORTENED)).at
    if not np.isfinite(x).all() or not _rests(case, flow, x):
        kept = ", ".join(np.array(flow.states)[held]) or "nothing"
        raise ConvergenceError(
            f"no steady motion of {case.system.name} was reached with {kept} fixed: fix fewer names, or give start="
            "{…} nearer to one"
        )
    return _without_rounding(case, flow, x, held)


def _rests(case: Case, flow: Flow, x: np.ndarray) -> bool:
    return at_rest(flow.rhs(x, case), _usual(case, flow, x, motion_sizes(flow, x, case.numbers)))


def _without_rounding(case: Case, flow: Flow, x: np.ndarray, held: np.ndarray) -> np.ndarray:
    """The state with entries that are rounding set to zero, and larger ones too if the motion is then as steady."""
    sizes = motion_sizes(flow, x, case.numbers)
    nothing, little = (np.where(~held & (np.abs(x) <= share * sizes), 0.0, x) for share in (ULPS, ROUNDED))
    before, after = ((np.abs(flow.rhs(y, case)) / sizes).max(initial=0.0) for y in (x, little))
    return little if after <= before else nothing


def _check_time(case: Case, flow: Flow, x: np.ndarray, sizes: np.ndarray) -> None:
    """With explicit time, a steady motion and what is near it must be the same at all times."""
    J, units = flow.jacobian(x, case), sizes / sizes[:, None]
    for time in (0.37, 1.91):
        rates, slopes = flow.rhs(x, case, time) / sizes, (flow.jacobian(x, case, time) - J) * units
        if max(np.abs(rates).max(), np.abs(slopes).max()) > TIMELESS * np.abs(J * units).max():
            raise ConvergenceError(
                f"{case.system.name} depends on time explicitly and moves steadily at no time, or not in the same way "
                "at all times: switch the excitation off"
            )


def _usual(case: Case, flow: Flow, x: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    return row_sizes(lambda y: flow.jacobian(y, case), x, sizes)


def _allowed_jacobian(case: Case, flow: Flow, x: np.ndarray, sizes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The Jacobian in the directions that are allowed, and these, states in units of their sizes."""
    allowed = allowed_directions(flow, x, case.numbers, sizes)
    return allowed.T @ exact_zeros(case, flow, x, sizes) @ allowed, allowed


def _structural(
    case: Case, flow: Flow, x: np.ndarray, sizes: np.ndarray, fixed: Sequence[str]
) -> tuple[tuple[int, ...], tuple[str, ...]]:
    """Zeros that neighbouring members of the family also have, and names that select a member.

    At a bifurcation there are more zeros, and their vectors do not all lead to neighbours.
    """
    J, allowed = _allowed_jacobian(case, flow, x, sizes)
    found, coordinates = zero_chain(J, len(x)), case.system.coordinate_names
    first = [*fixed, *(name for name in flow.states if name not in coordinates)]
    for names in selections(J, allowed, found, flow.states, first):
        held, generator = np.isin(flow.states, names), np.random.default_rng(1992)
        members = []
        for _ in range(2):
            aside = x + NEIGHBOUR * sizes * generator.uniform(-1, 1, len(x))
            with suppress(PfaffError):
                member = _solved(case, flow, aside, held)
                members.append(zero_chain(_allowed_jacobian(case, flow, member, sizes)[0], len(x)))
        if members:
            return tuple(map(min, zip(found, *members, strict=False))), names
    return (), ()
