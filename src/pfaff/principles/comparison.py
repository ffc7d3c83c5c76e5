"""The principles of mechanics side by side: size, cost and agreement of the equations they give for one system."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from time import perf_counter, thread_time
from typing import TYPE_CHECKING, Any

import numpy as np
import sympy as sm

from pfaff import doors
from pfaff.errors import PfaffError
from pfaff.principles import PRINCIPLES, Principle
from pfaff.principles.newton import NewtonEquations
from pfaff.principles.random_states import States, random_states
from pfaff.principles.sizes import Sizes, sizes
from pfaff.principles.typeset import shorter
from pfaff.statement import System
from pfaff.statement.evaluation import evaluated, magnitudes
from pfaff.statement.told import answering
from pfaff.statement.values import one_of

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.figure import Figure

AGREED = 1e-12
SYMBOLIC = 1500  # operations of Lagrange's compiled flow beyond which the symbolic equations take minutes
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


@answering
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
        return doors.draw.draw_comparison(self)


def compare(system: System, states: int = 32, seed: int = 0, near: Mapping[str, float] | None = None) -> Comparison:
    """All principles at seeded random states that obey the constraints, with parameters near their defaults.

    ``near`` is a configuration to scatter about, for what cannot be assembled near the origin.
    """
    at = random_states(system, states, seed, near)
    reference = _solved(system.equations("lagrange"), at)
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


def _solved(equations: Principle, at: States) -> tuple[np.ndarray, np.ndarray]:
    """Accelerations, and reactions of the independent constraints."""
    formulation = equations.formulation
    return formulation.solve(formulation.state(at.q, at.v, at.numbers, at.time), at.numbers, at.time)


def _row(equations: Principle, symbolic: bool, derivation: float, at: States, reference: Sequence[np.ndarray]) -> Row:
    found = _solved(equations, at)
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


def _relative(differences: np.ndarray, size: np.ndarray) -> float:
    """The largest of all, each relative to its size."""
    return float((np.abs(differences) / np.maximum(size, np.finfo(float).tiny)).max(initial=0.0))


def _operations(equations: Principle) -> int:
    """Operations of the symbolic equations, as derived or as printed, whichever has fewer."""
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
