"""Steady motions: relative equilibria, such as a wheel that rolls straight or in circles, and their stability.

Shape and velocities are constant. Such motions come in families, whose members are selected by fixing speeds or
coordinates by name; every dimension of the family is a zero eigenvalue that belongs to no bifurcation. Neighbouring
members tell its dimension, and the zeros are divided out.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from pfaff.bifurcation.slices import Deflation, zero_chain
from pfaff.errors import ConvergenceError, ParameterError, PfaffError, nearest
from pfaff.flow import Flow
from pfaff.lowering import Expression, graph_of
from pfaff.relative import accidental, relative_flow
from pfaff.stability.linear import Spectrum
from pfaff.stability.rounding import axis_rounding
from pfaff.statics import gradient_rows
from pfaff.steady import FARTHEST, SETTLED, at_rest, balanced, row_sizes
from pfaff.threads import cached_property
from pfaff.values import number_from

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from pfaff.bifurcation.equilibria import Branch
    from pfaff.case import Case

NEWTON_STEPS = 80
RANK = 1e-7  # singular values below this, relative to the largest, are those of a family
PIVOT = 1e-2  # what a state contributes to a family of unit length, if it is to select a member
TIMELESS = 1e-7  # changes with time below this, relatively, are rounding
NEARBY = 1e-3  # how far neighbouring members of the family are looked for, relatively


@dataclass(frozen=True)
class SteadyMotion:
    """A steady motion: ``motion["theta"]`` and ``motion["phi_dot"]`` are constant, all velocities are known.

    ``family_dimension`` is that of the family of steady motions it belongs to.
    """

    case: Case
    flow: Flow = field(repr=False)
    x: np.ndarray = field(repr=False)
    fixed: Mapping[str, float]
    zeros: tuple[int, ...]
    residual: float

    def __repr__(self) -> str:
        return f"<SteadyMotion of {self.case.system.name!r}: {self.status}>"

    @property
    def state(self) -> dict[str, float]:
        """The coordinates and independent velocities."""
        return dict(zip(self.flow.states, self.x.tolist(), strict=True))

    @cached_property
    def velocities(self) -> dict[str, float]:
        """Of all coordinates; cyclic ones, such as a heading, are zero at this instant."""
        names = (f"{name}_dot" for name in self.case.system.coordinate_names)
        return dict(zip(names, self.flow.velocities(self.x, self.case).tolist(), strict=True))

    @property
    def initial(self) -> dict[str, float]:
        """What ``case.simulate`` starts from: ``case.simulate(10, **motion.initial)``."""
        coordinates = {name: value for name, value in self.state.items() if not name.endswith("_dot")}
        return coordinates | self.velocities

    @property
    def reaction(self) -> dict[str, float]:
        values = self.flow.reactions(self.x, self.case).tolist()
        return dict(zip(self.case.system.reaction_names, values, strict=False))

    @property
    def family_dimension(self) -> int:
        return self.zeros[0] if self.zeros else 0

    @cached_property
    def family(self) -> tuple[str, ...]:
        """Names that select a member of the family: those that were fixed, then speeds, then coordinates."""
        return _selecting(self)

    @cached_property
    def jacobian(self) -> np.ndarray:
        """∂f/∂x along the holonomic constraints, in an orthonormal basis of what they allow."""
        allowed = _allowed(self.case, self.flow, self.x)
        return allowed.T @ self.flow.jacobian(self.x, self.case) @ allowed

    @cached_property
    def _deflated(self) -> np.ndarray:
        return Deflation.about(self.jacobian, self.zeros)(self.jacobian)

    @cached_property
    def eigenvalues(self) -> np.ndarray:
        """Without structural zeros, the least stable first."""
        values = np.linalg.eigvals(self._deflated)
        return values[np.lexsort((values.imag, -values.real))]

    def spectrum(self) -> Spectrum:
        """Eigenvalues and modes about this motion, in the states of ``flow``; those of the family set apart."""
        allowed = _allowed(self.case, self.flow, self.x)
        modes = [_null_vector(self.jacobian, value) for value in self.eigenvalues]
        vectors = allowed @ np.array(modes).T if modes else np.zeros((len(self.x), 0))
        zeros = {"families of steady motions": sum(self.zeros)} if self.zeros else {}
        rounding = axis_rounding(self._deflated, self.eigenvalues)
        return Spectrum(self.eigenvalues, vectors, np.zeros((0, len(modes))), zeros, None, rounding)

    @property
    def stable(self) -> bool:
        """No eigenvalue to the right of the imaginary axis, beyond rounding."""
        return self.spectrum().stable

    @property
    def status(self) -> str:
        moving = ", ".join(f"{name} = {value:g}" for name, value in self.state.items() if value)
        family = f"one of a family in {' and '.join(self.family)}" if self.zeros else "isolated"
        how = "stable" if self.stable else "unstable"
        return f"steady motion with {moving or 'everything at rest'}, {family}: {how}"

    def branch(self, name: str, to: float, **options: Any) -> Branch:
        """The branch of steady motions in a parameter, a speed or a coordinate, its critical points located."""
        return self.case.branch(name, to, start=self, **options)

    def __getitem__(self, name: str) -> float:
        known = {**self.state, **self.velocities, **self.reaction}
        if name not in known:
            raise ParameterError(f"no coordinate, velocity or reaction {name!r}: {nearest(name, known)}")
        return known[name]

    def plot(self) -> Figure:
        return self.spectrum().plot()


def steady_motion(case: Case, start: Mapping[str, float], fixed: Mapping[str, float]) -> SteadyMotion:
    """The steady motion with these coordinates and speeds fixed, nearest to the starting values."""
    names = case.system.coordinate_names
    speeds = [name for name in (*start, *fixed) if name.removesuffix("_dot") in names and name not in names]
    flow = relative_flow(case.system, speeds, case.numbers)
    for name in (*start, *fixed):
        if name not in flow.states:
            raise ParameterError(f"{case.system.name} {_why_not(flow, name)}")
    given = {name: number_from(name, value) for name, value in {**start, **fixed}.items()}
    x = np.array([given.get(name, 0.0) for name in flow.states])
    held = np.array([name in fixed for name in flow.states])
    try:
        x = _solved(case, flow, x, held)
    except ConvergenceError as problem:
        alike = accidental(flow, case.numbers) if speeds else ()
        if not alike:
            raise
        raise ConvergenceError(
            f"{problem}; only at these values of the parameters is {case.system.name} alike at every "
            f"{', '.join(alike)}: state it without the parameters that are zero"
        ) from problem
    _check_time(case, flow, x)
    residual = np.abs(flow.rhs(x, case)).max() / (_usual(case, flow, x).max() or 1.0)
    zeros = _structural(case, flow, x)
    return SteadyMotion(case, flow, x, {name: given[name] for name in fixed}, zeros, float(residual))


def _why_not(flow: Flow, name: str) -> str:
    if name in flow.dropped:
        return f"is alike at every {name}: fix its velocity {name}_dot instead"
    return f"has no coordinate or speed {name!r}: {nearest(name, flow.states)}"


def _solved(case: Case, flow: Flow, x: np.ndarray, held: np.ndarray) -> np.ndarray:
    """Gauss–Newton in what is not held: the equations are dependent along families, and steps the shortest."""
    x, last = x.copy(), np.inf
    for _ in range(NEWTON_STEPS):
        f, J = flow.rhs(x, case), flow.jacobian(x, case)
        if not np.isfinite(J).all():
            flow._diagnose(x, case.numbers, f)
        _, scale = balanced(J)
        matrix = (J * scale / scale[:, None])[:, ~held]
        step = np.zeros_like(x)
        step[~held] = -np.linalg.lstsq(matrix, f / scale, rcond=RANK)[0]
        step *= scale
        size = float(np.abs(step).max(initial=0.0) / (1 + np.abs(x).max(initial=0.0)))
        if not np.isfinite(size):
            break
        x = x + step * min(1.0, FARTHEST / size if size else 1.0)
        if size < SETTLED and (size == 0 or size >= last / 2):
            break
        last = size
    if not (np.isfinite(x).all() and at_rest(flow.rhs(x, case), _usual(case, flow, x))):
        kept = ", ".join(np.array(flow.states)[held]) or "nothing"
        raise ConvergenceError(
            f"no steady motion of {case.system.name} was reached with {kept} fixed: fix fewer names, or give start="
            "{…} nearer to one"
        )
    return x


def _check_time(case: Case, flow: Flow, x: np.ndarray) -> None:
    """With explicit time, a steady motion and what is near it must be the same at all times."""
    J = flow.jacobian(x, case)
    for time in (0.37, 1.91):
        changes = (np.abs(flow.rhs(x, case, time)).max(), np.abs(flow.jacobian(x, case, time) - J).max())
        if max(changes) > TIMELESS * (1 + np.abs(J).max()):
            raise ConvergenceError(
                f"{case.system.name} depends on time explicitly and moves steadily at no time, or not in the same way "
                "at all times: switch the excitation off"
            )


def _usual(case: Case, flow: Flow, x: np.ndarray) -> np.ndarray:
    units = np.full(len(x), 1 + np.abs(x).max(initial=0.0))
    return row_sizes(lambda y: flow.jacobian(y, case), x, units)


def _structural(case: Case, flow: Flow, x: np.ndarray) -> tuple[int, ...]:
    """Zeros that neighbouring members of the family have as well: at a bifurcation there are more."""

    def chain(y: np.ndarray) -> tuple[int, ...]:
        allowed = _allowed(case, flow, y)
        return zero_chain(allowed.T @ flow.jacobian(y, case) @ allowed, len(y))

    found = chain(x)
    generator = np.random.default_rng(1992)
    for _ in range(2 if found else 0):
        aside = x + NEARBY * (1 + np.abs(x).max()) * generator.uniform(-1, 1, len(x))
        try:
            there = chain(_solved(case, flow, aside, np.zeros(len(x), dtype=bool)))
        except PfaffError:
            continue
        found = tuple(min(a, b) for a, b in zip(found, there, strict=False))
    return found


def _allowed(case: Case, flow: Flow, x: np.ndarray) -> np.ndarray:
    """An orthonormal basis of the directions that keep to the holonomic constraints."""
    n, count = len(flow.states), len(case.system.holonomic_constraints)
    if not count:
        return np.eye(n)

    def rows() -> list[Expression]:
        return [e for row in gradient_rows(graph_of(case.system).positions, flow.variables) for e in row]

    values = flow.compiled("holonomic rows", rows, quick=True)(x, case.numbers)
    return np.linalg.svd(values.reshape(count, n))[2][count:].T


def _selecting(motion: SteadyMotion) -> tuple[str, ...]:
    """States on whose values the null vectors of the Jacobian depend most, one for each: pivots, by preference."""
    states, k = motion.flow.states, motion.family_dimension
    allowed = _allowed(motion.case, motion.flow, motion.x)
    matrix, scale = balanced(motion.jacobian)
    open_ = allowed @ (scale[:, None] * np.linalg.svd(matrix)[2][len(matrix) - k :].T)
    open_ = np.linalg.qr(open_)[0]
    speeds = [name for name in states if name.endswith("_dot")]
    chosen: list[str] = []
    for group in ([*motion.fixed], speeds, list(states)):
        while len(chosen) < k and group:
            sizes = [float(np.linalg.norm(open_[states.index(name)])) for name in group]
            best = int(np.argmax(sizes))
            if sizes[best] < PIVOT:
                break
            chosen.append(group[best])
            row = open_[states.index(group[best])] / sizes[best]
            open_ = open_ - np.outer(open_ @ row, row)
    return tuple(chosen)


def _null_vector(J: np.ndarray, value: complex) -> np.ndarray:
    return np.linalg.svd(J - value * np.eye(len(J)))[2][-1].conj()
