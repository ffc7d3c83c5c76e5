"""From a statement in SymPy to Lagrange's equations in heyoka's expression graph.

Only the energies are converted; every derivative and the elimination of the multipliers happen in
the graph, unexpanded, so that ten bars cost milliseconds. Parameters become ``par[i]``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import heyoka as hy
import sympy as sm

from pfaff.errors import StatementError
from pfaff.flow.caches import name_database
from pfaff.statement.degrees import lowest_degree
from pfaff.statement.odes import Ode
from pfaff.statement.system import System
from pfaff.threads import cached_property, once

Expression = Any  # heyoka's type carries no useful annotations
name_database()
ZERO = hy.expression(0.0)
CLOCK = hy.expression("the time")  # a variable while differentiating, heyoka's own time afterwards


@dataclass(frozen=True, eq=False)
class Graph:
    """Lagrange's equations M q̈ + h + Aᵀλ = 0, A q̈ + γ = 0 as expressions in q, v, par and time."""

    system: System
    q: list[Expression]
    v: list[Expression]
    multipliers: list[Expression]
    kinetic: Expression
    potential: Expression
    dissipation: Expression
    forces: list[Expression]
    M: list[list[Expression]]
    h: list[Expression]
    standing: list[Expression]  # h without terms that vanish at rest
    slow: list[Expression]  # h without terms that have no part linear in the velocities
    A: list[list[Expression]]
    gamma: list[Expression]
    constraints: list[Expression]
    positions: list[Expression]
    explicit: Expression  # ∂(V − T)/∂t, the power of explicit time
    symbols: dict[sm.Symbol, Expression]
    drift: Sequence[Expression] = ()  # v − q̇, where velocities are seen from a frame that moves

    @property
    def nonholonomic(self) -> int:
        return len(self.system.nonholonomic_constraints)

    @cached_property
    def balance(self) -> list[Expression]:
        """h + Aᵀλ: what must vanish where nothing accelerates."""
        return self.balanced(self.h)

    @property
    def coordinate_rates(self) -> list[Expression]:
        """q̇."""
        return [v - w for v, w in zip(self.v, self.drift, strict=True)] if self.drift else self.v

    def balanced(self, forces: list[Expression]) -> list[Expression]:
        """Forces, h or a part of it, with the reactions Aᵀλ."""
        return [
            hy.sum([h, *(row[i] * p for row, p in zip(self.A, self.multipliers, strict=True))])
            for i, h in enumerate(forces)
        ]

    def lower(self, expression: sm.Expr) -> Expression:
        """Any expression in the system's coordinates, velocities, parameters and time."""
        plain = expression.xreplace(dict(self.system.statement.to_plain))
        return convert(plain, self.symbols)

    def solve(self, stabilisation: Expression | None = None) -> tuple[list[Expression], list[Expression]]:
        """Accelerations and multipliers, through M and A M⁻¹ Aᵀ: never through a single velocity.

        With a rate α of stabilisation the constraints obey ċ + α c + α²φ/4 = 0 instead of ċ = 0 (Baumgarte 1972):
        the same motion, on which rounding errors decay instead of piling up.
        """
        self.system.check_independent()
        gamma = self.gamma
        if stabilisation is not None:
            phi = [ZERO] * self.nonholonomic + self.positions
            gamma = [
                hy.sum([g, stabilisation * c, stabilisation * stabilisation * f / 4.0])
                for g, c, f in zip(gamma, self.constraints, phi, strict=True)
            ]
        return self.elimination(self.h, gamma)

    @cached_property
    def elimination(self) -> Elimination:
        return Elimination(self.M, self.A)


class Elimination:
    """Elimination in M a + h + Aᵀλ = 0, A a + γ = 0: accelerations and multipliers, for any number of right-hand
    sides."""

    def __init__(self, M: list[list[Expression]], A: list[list[Expression]]) -> None:
        self.A, self.mass = A, factorise(M)
        self.columns = [back_substitute(self.mass, row) for row in A]  # columns of M⁻¹Aᵀ
        self.schur = factorise([[dot(row, column) for column in self.columns] for row in A])

    def __call__(
        self, h: Sequence[Expression], gamma: Sequence[Expression]
    ) -> tuple[list[Expression], list[Expression]]:
        free = back_substitute(self.mass, h)  # M⁻¹h: minus the acceleration without constraints
        if not self.A:
            return [-a for a in free], []
        excess = [dot(row, free) - g for row, g in zip(self.A, gamma, strict=True)]
        pulls = back_substitute(self.schur, excess)
        accelerations = [dot(pulls, [column[i] for column in self.columns]) - a for i, a in enumerate(free)]
        return accelerations, [-pull for pull in pulls]


def lower(system: System, without: frozenset[str] = frozenset()) -> Graph:
    """Lagrange's equations with multipliers: d/dt ∂T/∂v − ∂T/∂q + ∂V/∂q + ∂D/∂v − Q + Aᵀλ = 0.

    Parameters named in ``without`` are fixed at zero, which makes the graph smaller.
    """
    s = system.statement
    names = [x.name for x in s.q]
    q = [hy.expression(name) for name in names]
    v = [hy.expression(f"{name}_dot") for name in names]
    symbols = {
        **dict(zip(s.q, q, strict=True)),
        **dict(zip(s.v, v, strict=True)),
        **{p: ZERO if p.name in without else hy.par[i] for i, p in enumerate(system.parameters)},
        s.time: CLOCK,
    }
    T, V, D = (convert(e, symbols) for e in (s.kinetic, s.potential, s.dissipation))
    Q = [convert(e, symbols) for e in s.forces]
    c = [convert(e, symbols) for e in s.constraints]
    M, transport = total_derivative(gradient(T, v), q, v)
    inertial = [[rate, -dT] for rate, dT in zip(transport, gradient(T, q), strict=True)]
    elastic, viscous, forces = ([[e] for e in each] for each in (gradient(V, q), gradient(D, v), [-e for e in Q]))
    # Substitution leaves products with zero in the graph: terms known to vanish are better left out.
    quadratic_T, quadratic_D = (lowest_degree(e, s.v) >= 2 for e in (s.kinetic, s.dissipation))
    moving = [] if quadratic_T else [inertial]
    A, gamma = total_derivative(c, q, v)
    phi = [convert(e, symbols) for e in s.positions]
    return Graph(
        system=system,
        q=q,
        v=v,
        multipliers=[hy.expression(f"multiplier {name}") for name in system.reaction_names],
        kinetic=timed([T])[0],
        potential=timed([V])[0],
        dissipation=timed([D])[0],
        forces=timed(Q),
        M=[timed(row) for row in M],
        h=timed(_added(inertial, elastic, viscous, forces)),
        standing=timed(_added(*moving, elastic, *([] if quadratic_D else [viscous]), forces)),
        slow=timed(_added(*moving, viscous, forces)),
        A=[timed(row) for row in A],
        gamma=timed(gamma),
        constraints=timed(c),
        positions=timed(phi),
        explicit=timed([convert(s.potential.diff(s.time) - s.kinetic.diff(s.time), symbols)])[0],
        symbols={**symbols, s.time: hy.time},
    )


def _added(*contributions: list[list[Expression]]) -> list[Expression]:
    """The sums of the contributions to each equation."""
    return [hy.sum([term for terms in parts for term in terms]) for parts in zip(*contributions, strict=True)]


def lower_ode(ode: Ode) -> list[Expression]:
    """The right-hand sides of a plain ODE, in its states, its parameters and the time."""
    states = {x: hy.expression(x.name) for x in ode.symbols}
    known = {ode.time: hy.time, **states, **{p: hy.par[i] for i, p in enumerate(ode.parameters)}}
    # heyoka examines all known symbols for every expression: with many states, only those that occur are passed.
    return [convert(e, {x: known[x] for x in e.free_symbols}) for e in ode.right_hand_sides]


@once(most=64)
def graph_of(system: System, without: frozenset[str] = frozenset()) -> Graph:
    """The graph of a system, lowered once."""
    system.check_written_out()
    return lower(system, without)


def timed(expressions: list[Expression]) -> list[Expression]:
    """The expressions with heyoka's time in place of the clock."""
    if not any("the time" in hy.get_variables([e]) for e in expressions):
        return expressions
    return list(hy.subs(expressions, {CLOCK: hy.time}))


def clocked(expressions: list[Expression]) -> list[Expression]:
    """The expressions with the clock in place of heyoka's time: to be differentiated with respect to it."""
    return list(hy.subs(expressions, {hy.time: CLOCK})) if expressions else []


def convert(expression: sm.Expr, symbols: dict[sm.Symbol, Expression]) -> Expression:
    """A SymPy expression in heyoka's graph."""
    # heyoka takes only rationals that a binary float holds exactly: the others are rounded here, once.
    fractions = {r: hy.expression(float(r)) for r in expression.atoms(sm.Rational) if r.q & (r.q - 1)}
    known: dict[sm.Basic, Expression] = {sm.E: hy.expression(math.e), **symbols, **fractions}
    try:
        for power in sorted(filter(_is_cube_or_higher, expression.atoms(sm.Pow)), key=sm.count_ops):
            known[power] = _power(hy.from_sympy(power.base, known) + ZERO, int(power.exp))
        return hy.from_sympy(expression, known) + ZERO
    except (TypeError, ValueError) as problem:
        raise StatementError(f"{expression} contains a function that cannot be compiled: {problem}") from problem


def _is_cube_or_higher(power: sm.Pow) -> bool:
    return bool(power.exp.is_Integer and power.exp > 2)


def _power(base: Expression, exponent: int) -> Expression:
    """A power by products: the Taylor coefficients of heyoka's own powers above two are not finite at zero."""
    if exponent == 1:
        return base
    half = _power(base, exponent // 2)
    return half * half * base if exponent % 2 else half * half


def gradient(expression: Expression, variables: Sequence[Expression]) -> list[Expression]:
    tensors = hy.diff_tensors([expression], list(variables), diff_order=1)
    return list(tensors.gradient)


def total_derivative(
    functions: list[Expression], q: list[Expression], v: list[Expression]
) -> tuple[list[list[Expression]], list[Expression]]:
    """The matrix f_v of df/dt = f_v q̈ + f_q v + f_t, and the remaining terms."""
    if not functions:
        return [], []
    n = len(q)
    rows = [list(row) for row in hy.diff_tensors(functions, [*q, *v, CLOCK], diff_order=1).jacobian]
    return [row[n:-1] for row in rows], [hy.sum([dot(row[:n], v), row[-1]]) for row in rows]


def dot(a: Sequence[Expression], b: Sequence[Expression]) -> Expression:
    terms = [x * y for x, y in zip(a, b, strict=True)]
    return hy.sum(terms) if terms else ZERO


def factorise(S: list[list[Expression]]) -> tuple[list[list[Expression]], list[Expression]]:
    """S = L diag(d) Lᵀ for a symmetric positive definite matrix of expressions."""
    n = len(S)
    L: list[list[Expression]] = [[ZERO] * n for _ in range(n)]
    scaled: list[list[Expression]] = [[ZERO] * n for _ in range(n)]  # L diag(d)
    d: list[Expression] = []
    for j in range(n):
        d.append(S[j][j] - dot(L[j][:j], scaled[j][:j]) if j else S[j][j])
        for i in range(j + 1, n):
            scaled[i][j] = S[i][j] - dot(L[i][:j], scaled[j][:j]) if j else S[i][j]
            L[i][j] = scaled[i][j] / d[j]
    return L, d


def back_substitute(
    factors: tuple[list[list[Expression]], list[Expression]], right: Sequence[Expression]
) -> list[Expression]:
    """x with L diag(d) Lᵀ x = right."""
    L, d = factors
    n = len(d)
    y: list[Expression] = []
    for i in range(n):
        y.append(right[i] - dot(L[i][:i], y) if i else right[i])
    x: list[Expression] = [ZERO] * n
    for i in reversed(range(n)):
        x[i] = y[i] / d[i] - dot([L[k][i] for k in range(i + 1, n)], x[i + 1 :])
    return x
