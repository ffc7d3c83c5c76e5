"""The principles of mechanics side by side: size, cost and agreement of the equations they give for one system."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from time import perf_counter, thread_time
from typing import TYPE_CHECKING, Any

import numpy as np
import sympy as sm

from pfaff.errors import ConstraintError, ConvergenceError, PfaffError, SingularMassError
from pfaff.flow.initial import KEPT, Constraints, on_positions, on_velocities
from pfaff.principles import PRINCIPLES, Principle
from pfaff.principles.newton import NewtonEquations
from pfaff.principles.sizes import Sizes, sizes
from pfaff.principles.typeset import shorter
from pfaff.statement import System
from pfaff.statement.evaluation import evaluated, magnitudes
from pfaff.statement.values import by_name, number_from, one_of, whole_number

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.figure import Figure

    from pfaff.case import Case

AGREED = 1e-12
TRIALS = 100  # random starts for one state
REGULAR = 5e-2  # the least singular value of the unit rows of A that is looked for at a random state
NEAR = 0.1  # how far coordinates are scattered about a given configuration, and parameters relative to it
SYMBOLIC = 1500  # operations of Lagrange's compiled flow beyond which the symbolic equations take minutes
MOST = 10_000  # states
TIMED = 512  # states in the batch whose evaluation is timed


@dataclass(frozen=True)
class Row:
    """One principle: what it costs, and how far its accelerations and reactions are from Lagrange's.

    ``operations`` are those of the symbolic equations, common subexpressions counted once; ``steps`` the elementary
    ones of the compiled flow. Times are in seconds: of the processor for the symbolic derivation, and of the clock for
    one evaluation of the compiled right-hand side in a batch. Differences are relative to what the terms of the
    equations would make of each acceleration or reaction if they did not cancel.
    ``residual`` is what the solution found in numbers leaves of the symbolic equations, relative to their terms.

    The symbolic equations of a large system would take minutes: they are left out, ``operations`` and ``residual`` are
    None, and the derivation is that of the compiled flow.
    """

    principle: str
    dynamical: int
    equations: int
    unknowns: int
    states: int
    operations: int | None
    steps: int
    derivation: float
    evaluation: float
    accelerations: float
    reactions: float
    residual: float | None

    @property
    def worst(self) -> float:
        return max(self.accelerations, self.reactions, self.residual or 0.0)


@dataclass(frozen=True)
class Comparison:
    """The principles that apply to a system, row by row, and the reasons why others do not."""

    system: str
    rows: tuple[Row, ...]
    refused: dict[str, str]
    states: int
    seed: int

    def __getitem__(self, principle: str) -> Row:
        rows = {row.principle: row for row in self.rows}
        return rows[one_of(rows, principle, "{} is not among the principles compared")]

    @property
    def worst(self) -> float:
        """The largest difference or residual of all; not a number if one of them is none."""
        return float(np.max([row.worst for row in self.rows]))

    @property
    def agree(self) -> bool:
        return self.worst <= AGREED

    @property
    def status(self) -> str:
        verdict = "agree" if self.agree else "DIFFER"
        return (
            f"{self.system}: {len(self.rows)} principles {verdict}, to {self.worst:.1e} in accelerations and reactions "
            f"at {self.states} random states"
        )

    def table(self) -> tuple[list[str], list[list[str]]]:
        """Headings and cells, for people: a column for each principle."""
        figures = ["dynamical", "equations", "unknowns", "states", "operations", "compiled", "derived in"]
        figures = [*figures, "evaluated in", "Δ accelerations", "Δ reactions", "residual"]
        columns = [
            [
                *(str(x) for x in (row.dynamical, row.equations, row.unknowns, row.states)),
                *("" if x is None else str(x) for x in (row.operations, row.steps)),
                f"{1e3 * row.derivation:.0f} ms",
                f"{1e9 * row.evaluation:.0f} ns",
                f"{row.accelerations:.1e}",
                f"{row.reactions:.1e}",
                "" if row.residual is None else f"{row.residual:.1e}",
            ]
            for row in self.rows
        ]
        headings = ["", *(row.principle for row in self.rows)]
        return headings, [list(cells) for cells in zip(figures, *columns, strict=True)]

    def __str__(self) -> str:
        headings, cells = self.table()
        widths = [max(map(len, column)) for column in zip(headings, *cells, strict=True)]
        rows = [
            "  ".join([row[0].ljust(widths[0]), *(x.rjust(w) for x, w in zip(row[1:], widths[1:], strict=True))])
            for row in (headings, *cells)
        ]
        refused = [f"{name} does not apply: {reason}" for name, reason in self.refused.items()]
        return "\n".join([*rows, self.status, *refused])

    def __repr__(self) -> str:
        return f"<Comparison of {self.status}>"

    def to_xarray(self) -> xr.Dataset:
        """Every figure over the principles."""
        import xarray as xr

        figures = [asdict(row) for row in self.rows]
        names = [row.pop("principle") for row in figures]
        columns = {name: ("principle", [row[name] for row in figures]) for name in figures[0]}
        return xr.Dataset(columns, coords={"principle": names}, attrs={"system": self.system, "seed": self.seed})

    def plot(self) -> Figure:
        """Operations, evaluation times and differences, principle by principle."""
        from pfaff.draw.comparison import draw_comparison

        return draw_comparison(self)


@dataclass(frozen=True)
class States:
    """Columns of coordinates, velocities that obey the constraints, and parameters; a time for each."""

    q: np.ndarray
    v: np.ndarray
    numbers: np.ndarray
    time: np.ndarray


def compare(system: System, states: int = 32, seed: int = 0, near: Mapping[str, float] | None = None) -> Comparison:
    """All principles at seeded random states that obey the constraints, with parameters near their defaults.

    ``near`` is a configuration to scatter about, for what cannot be assembled near the origin.
    """
    whole_number("states", states, 1, MOST, "principles that differ do so at the first states, ask for fewer")
    whole_number("seed", seed, 0, sys.maxsize, "give a smaller one")
    at = random_states(system, states, seed, near)
    reference = system.equations("lagrange").solve(at.q, at.v, at.numbers, at.time)
    rows, refused = [], {}
    for name in PRINCIPLES:
        start = thread_time()
        try:
            equations = system.equations(name)
        except PfaffError as reason:
            refused[name] = str(reason)
            continue
        symbolic = system.flow.operations <= SYMBOLIC
        _ = equations.equations if symbolic else equations.formulation
        rows.append(_row(equations, symbolic, thread_time() - start, at, reference))
    return Comparison(system.name, tuple(rows), refused, states, seed)


def _row(equations: Principle, symbolic: bool, derivation: float, at: States, reference: Sequence[np.ndarray]) -> Row:
    found = equations.solve(at.q, at.v, at.numbers, at.time)
    large = sizes(equations, at, reference)
    return Row(
        principle=equations.name,
        dynamical=equations.dynamical,
        equations=len(equations.unknowns),  # as many as there are unknowns
        unknowns=len(equations.unknowns),
        states=len(equations.flow.states),
        operations=_operations(equations) if symbolic else None,
        steps=equations.flow.operations,
        derivation=derivation,
        evaluation=_evaluation(equations, at),
        accelerations=_relative(found[0] - reference[0], large.accelerations),
        reactions=_relative(found[1] - reference[1], large.reactions),
        residual=residual(equations, at, large) if symbolic else None,
    )


def residual(equations: Principle, at: States, large: Sizes) -> float:
    """What the solution found in numbers leaves of the symbolic equations, relative to the terms of each.

    An unknown may be zero but for rounding: it counts as ``large`` as it would be if nothing cancelled.
    """
    known, usual = _unknowns(equations, at, large)
    rows = list(equations.equations)
    left = np.array([np.broadcast_to(e, at.time.shape) for e in evaluated(rows, known)])
    terms = np.array([np.broadcast_to(e, at.time.shape) for e in magnitudes(rows, known, usual)])
    return _relative(left, terms)


def _unknowns(equations: Principle, at: States, large: Sizes) -> tuple[dict[sm.Basic, Any], dict[sm.Basic, Any]]:
    """What the symbols of the equations stand for, and how large the unknowns are as a rule."""
    system, t, n = equations.system, equations.system.time, len(at.q)
    x = equations.formulation.state(at.q, at.v, at.numbers, at.time)
    rates, accelerations, p, *others = equations.formulation.unknowns(x, at.numbers, at.time)
    known: dict[sm.Basic, Any] = {**dict(zip(system.parameters, at.numbers, strict=True)), t: at.time}
    known |= dict(zip(equations.multipliers, p, strict=True))
    usual: dict[sm.Basic, Any] = dict(zip(equations.multipliers, large.terms[2], strict=True))
    for k, X in enumerate(system.coordinates):
        known |= {X: at.q[k], X.diff(t): at.v[k], X.diff(t, 2): accelerations[k]}
        usual |= {X.diff(t): large.terms[0][k], X.diff(t, 2): large.terms[1][k]}
    for k, label in enumerate(equations.flow.states[n:]):
        u = sm.Function(label)(t)
        known |= {u: x[n + k], u.diff(t): rates[n + k]}
        usual |= {u: large.speeds[k], u.diff(t): large.rates[k]}
    if isinstance(equations, NewtonEquations):
        components = [N for each in equations.reactions for N in each]
        known |= dict(zip(components, others[0], strict=True))
        usual |= dict(zip(components, magnitudes(list(equations.motion), known, usual), strict=True))
    return known, usual


def random_states(system: System, states: int, seed: int, near: Mapping[str, float] | None = None) -> States:
    """Coordinates, velocities and times of order one; parameters within a fifth of their defaults.

    About a configuration, coordinates are scattered by NEAR only, and parameters by a share of NEAR.
    """
    generator = np.random.default_rng(seed)
    centre = None if near is None else _configuration(system, near)
    spread = 0.2 if near is None else 0.02 * NEAR
    numbers = np.array([_near(value, generator, states, spread) for value in system.parameters.values()])
    numbers = numbers.reshape(len(system.parameters), states)
    time = generator.uniform(0, 2, states)
    names, n = system.parameter_names, len(system.coordinates)
    q, v = np.zeros((n, states)), np.zeros((n, states))
    for k in range(states):
        case = system.at().unchecked(**dict(zip(names, numbers[:, k].tolist(), strict=True)))
        q[:, k], v[:, k] = _admissible(case, generator, float(time[k]), centre)
    return States(q, v, numbers, time)


def _configuration(system: System, near: Mapping[str, float]) -> np.ndarray:
    near = by_name("near", near, "{'theta1': 0.1}")
    for name in near:
        one_of(system.coordinate_names, name, f"{system.name} has no coordinate")
    return np.array([number_from(name, near.get(name, 0.0)) for name in system.coordinate_names])


def _near(value: Any, generator: np.random.Generator, states: int, spread: float) -> np.ndarray:
    """Values near a default; small and not negative where it is zero, of order one where there is none."""
    drawn = generator.uniform(0, 1, states)
    if value is None:
        return 0.5 + drawn
    return float(value) * (1 - spread + 2 * spread * drawn) if value else spread * drawn


def _admissible(
    case: Case, generator: np.random.Generator, time: float, centre: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray]:
    """A random state on the constraints; where Newton's method does not reach them, from another start.

    Of states that are all near singular ones, as they are in some units, the one that is farthest.
    """
    constraints, n = Constraints(case), len(case.system.coordinates)
    free, best, found = np.ones(n, dtype=bool), KEPT, None
    for _ in range(TRIALS):
        start = generator.uniform(-1, 1, n)
        try:
            q = on_positions(constraints, start if centre is None else centre + NEAR * start, np.zeros(n), free, time)
            v = on_velocities(constraints, q, generator.uniform(-1, 1, n), free, time, exactly=True)
        except (ConstraintError, ConvergenceError):
            continue
        _, _, A, M = constraints(q, v, time)
        regular = _regularity(A, _inertial_units(M, case.system))
        if regular > best:
            best, found = regular, (q, v)
        if regular > REGULAR:
            break
    if found is not None:
        return found
    raise ConvergenceError(
        f"no state of {case.system.name} that obeys its constraints, far from singular ones, was found from {TRIALS} "
        "random starts: give a configuration to start near, such as near={'x': 1}, or defaults at which it can be "
        "assembled near the origin"
    )


def _inertial_units(M: np.ndarray, system: System) -> np.ndarray:
    """Units in which M has ones on its diagonal; the principles are compared by accelerations, which need inertia."""
    diagonal = np.diag(M)
    units = 1 / np.sqrt(np.where(diagonal > 0, diagonal, 1.0))
    values, vectors = np.linalg.eigh(units[:, None] * M * units)
    if values[0] <= np.finfo(float).eps * values[-1]:
        name = system.coordinate_names[int(np.abs(vectors[:, 0]).argmax())]
        raise SingularMassError(
            f"the mass matrix of {system.name} is singular, mostly along {name}: the principles cannot be compared "
            f"unless every velocity has inertia; give {name} a mass, or eliminate it by its constraint"
        )
    return units


def _regularity(A: np.ndarray, units: np.ndarray) -> float:
    """How far a configuration is from one where the constraints lose rank, and with it the reactions their sense."""
    if not len(A):
        return 1.0
    rows = A * units
    return float(np.linalg.svd(rows / np.linalg.norm(rows, axis=1, keepdims=True), compute_uv=False)[-1])


def _relative(differences: np.ndarray, size: np.ndarray) -> float:
    """The largest of all, each relative to its size."""
    return float((np.abs(differences) / np.maximum(size, np.finfo(float).tiny)).max(initial=0.0))


def _operations(equations: Principle) -> int:
    """Of the symbolic equations, as derived or as printed, whichever has fewer."""
    derived = list(equations.equations)
    return min(_counted(derived), _counted([shorter(e) for e in derived]))


def _counted(expressions: list[sm.Expr]) -> int:
    shared, rest = sm.cse(expressions, order="none")
    return int(sum(sm.count_ops(e) for _, e in shared) + sum(sm.count_ops(e) for e in rest))


def _evaluation(equations: Principle, at: States) -> float:
    """Seconds for one state of a batch, the best of several runs."""
    every = np.resize(np.arange(len(at.time)), TIMED)
    x = np.ascontiguousarray(equations.formulation.state(at.q, at.v, at.numbers, at.time)[:, every])
    numbers, time = np.ascontiguousarray(at.numbers[:, every]), at.time[every]
    best = np.inf
    for _ in range(5):
        start = perf_counter()
        equations.flow.rhs(x, numbers, time)
        best = min(best, perf_counter() - start)
    return best / TIMED
