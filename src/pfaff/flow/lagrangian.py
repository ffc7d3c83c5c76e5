"""From a statement in SymPy to Lagrange's equations as expressions.

Only the energies are converted; every derivative and the elimination of the multipliers happen in
the graph, unexpanded, so that ten bars cost milliseconds. Parameters become ``par[i]``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import sympy as sm

from pfaff.flow.conversion import convert
from pfaff.flow.differentiation import gradient, jacobian
from pfaff.flow.graph import CLOCK, ZERO, Expression, expression, par, sum_of
from pfaff.statement.degrees import lowest_degree
from pfaff.statement.inertia import usual_inertias
from pfaff.statement.odes import Ode
from pfaff.statement.system import System
from pfaff.threads import cached_property, once


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
    A: list[list[Expression]]  # of the independent constraints
    gamma: list[Expression]
    constraints: list[Expression]
    positions: list[Expression]
    repeated: list[list[Expression]]  # the rows of A of those that follow from them
    explicit: Expression  # ∂(V − T)/∂t, the power of explicit time
    symbols: dict[sm.Symbol, Expression]
    drift: Sequence[Expression] = ()  # velocities of the coordinates' frame, if it moves: q̇ is then v less these

    @property
    def rates(self) -> list[Expression]:
        """The rates of the coordinates: their velocities, less those of their frame."""
        return [v - w for v, w in zip(self.v, self.drift, strict=True)] if self.drift else self.v

    @property
    def resting(self) -> dict[Expression, Expression]:
        """The velocities of what rests in these coordinates."""
        return dict(zip(self.v, self.drift or [ZERO] * len(self.v), strict=True))

    @property
    def nonholonomic(self) -> int:
        return len(self.constraints) - len(self.positions)

    @cached_property
    def balance(self) -> list[Expression]:
        """h + Aᵀλ: what must vanish where nothing accelerates."""
        return self.balanced(self.h)

    def balanced(self, forces: list[Expression]) -> list[Expression]:
        """Forces, h or a part of it, with the reactions Aᵀλ."""
        return [
            sum_of([h, *(row[i] * p for row, p in zip(self.A, self.multipliers, strict=True))])
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
        gamma = self.gamma
        if stabilisation is not None:
            phi = [ZERO] * self.nonholonomic + self.positions
            gamma = [
                sum_of([g, stabilisation * c, stabilisation * stabilisation * f / 4.0])
                for g, c, f in zip(gamma, self.constraints, phi, strict=True)
            ]
        return self.elimination(self.h, gamma)

    @cached_property
    def elimination(self) -> Elimination:
        return Elimination(self.M, self.A, usual_inertias(self.system))

    def shared(self, reactions: Sequence[Expression]) -> list[Expression]:
        """The reactions of all constraints that are stated, from those of the independent ones.

        Redundant rows C A leave them open: of all λ with λ₁ + Cᵀλ₂ = p the one with least Σ (a M⁻¹aᵀ) λ², whatever the
        units of the rows a. A row that vanishes has none.
        """
        system = self.system
        rows = [row for k, row in zip(system.redundant, self.repeated, strict=True) if k not in system.empty]
        places = [*system.kept, *(k for k in system.redundant if k not in system.empty)]
        shares = self.elimination.shares(reactions, rows) if rows else list(reactions)
        found = dict(zip(places, shares, strict=True))
        return [found.get(k, ZERO) for k in range(len(system.stated.constraints))]


class Elimination:
    """Elimination in M a + h + Aᵀλ = 0, A a + γ = 0: accelerations and multipliers, for any number of right-hand
    sides.

    M alone may be singular, as for quaternions: M + AᵀS A with h + AᵀS γ, S diagonal, has the same solutions, and is
    regular wherever the constraints leave no motion without inertia. S makes both terms of like size.
    """

    def __init__(self, M: list[list[Expression]], A: list[list[Expression]], usual: np.ndarray | None = None) -> None:
        self.A, n = A, len(M)
        self.weights = _constraint_weights(M, A, usual) if usual is not None else []  # S
        heavy = [[s * a for a in row] for s, row in zip(self.weights, A, strict=False)]
        if heavy:
            M = [
                [sum_of([M[i][j], *(h[i] * a[j] for h, a in zip(heavy, A, strict=True))]) for j in range(n)]
                for i in range(n)
            ]
        self.mass = factorise(M)
        self.columns = [back_substitute(self.mass, row) for row in A]  # columns of M⁻¹Aᵀ
        self._square = [[dot(row, column) for column in self.columns] for row in A]
        self.schur = factorise(self._square)

    def __call__(
        self, h: Sequence[Expression], gamma: Sequence[Expression]
    ) -> tuple[list[Expression], list[Expression]]:
        if self.weights:
            pulls = [s * g for s, g in zip(self.weights, gamma, strict=True)]
            h = [
                sum_of([each, *(row[i] * g for row, g in zip(self.A, pulls, strict=True))]) for i, each in enumerate(h)
            ]
        free = back_substitute(self.mass, h)  # M⁻¹h: minus the acceleration without constraints
        if not self.A:
            return [-a for a in free], []
        excess = [dot(row, free) - g for row, g in zip(self.A, gamma, strict=True)]
        pulls = back_substitute(self.schur, excess)
        accelerations = [dot(pulls, [column[i] for column in self.columns]) - a for i, a in enumerate(free)]
        return accelerations, [-pull for pull in pulls]

    def shares(self, reactions: Sequence[Expression], rows: Sequence[list[Expression]]) -> list[Expression]:
        """W⁻¹Gᵀ(G W⁻¹Gᵀ)⁻¹p with G = [1, Cᵀ], W the diagonal of a M⁻¹aᵀ, for more rows C A."""
        m = len(self.A)
        columns = [back_substitute(self.mass, row) for row in rows]
        C = [back_substitute(self.schur, [dot(a, column) for a in self.A]) for column in columns]
        weights = [dot(row, column) for row, column in zip(rows, columns, strict=True)]
        known = [self._square[i][i] for i in range(m)]

        def entry(i: int, j: int) -> Expression:
            among = [c[i] * c[j] / w for c, w in zip(C, weights, strict=True)]
            return sum_of([*among, 1.0 / known[i]]) if i == j else sum_of(among)

        pulls = back_substitute(factorise([[entry(i, j) for j in range(m)] for i in range(m)]), reactions)
        return [
            *(pull / w for pull, w in zip(pulls, known, strict=True)),
            *(dot(c, pulls) / w for c, w in zip(C, weights, strict=True)),
        ]


def _constraint_weights(M: list[list[Expression]], A: list[list[Expression]], usual: np.ndarray) -> list[Expression]:
    """S = μ/Σ a_j²/m_j for every row, with the usual inertia m_j of coordinates and μ the mean of M_jj/m_j: the inertia
    that a row moves, in any units and for heavier parameters too, where single inertias vanish."""
    massive = [j for j in range(len(M)) if M[j][j] != ZERO]
    mean = sum_of([M[j][j] * float(1 / usual[j] / len(massive)) for j in massive])
    return [mean / dot([a * float(1 / m) for a, m in zip(row, usual, strict=True)], row) for row in A]


def lower(
    system: System,
    without: frozenset[str] = frozenset(),
    every_row: bool = False,
    apart: Sequence[sm.Number] = (),
) -> Graph:
    """Lagrange's equations with multipliers: d/dt ∂T/∂v − ∂T/∂q + ∂V/∂q + ∂D/∂v − Q + Aᵀλ = 0.

    Parameters named in ``without`` are fixed at zero, which makes the graph smaller. The constraints are the
    independent ones, or all that are stated. Numbers ``apart`` are further parameters, after those of the system.
    """
    s = system.stated if every_row else system.statement
    names = [x.name for x in s.q]
    q = [expression(name) for name in names]
    v = [expression(f"{name}_dot") for name in names]
    symbols = {
        **dict(zip(s.q, q, strict=True)),
        **dict(zip(s.v, v, strict=True)),
        **{p: ZERO if p.name in without else par[i] for i, p in enumerate(system.parameters)},
        **{number: par[len(system.parameters) + k] for k, number in enumerate(apart)},
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
    more = [] if every_row else [convert(system.stated.constraints[k], symbols) for k in system.redundant]
    names_of_reactions = system.reaction_names if every_row else system.independent_reactions
    return Graph(
        system=system,
        q=q,
        v=v,
        multipliers=[expression(f"multiplier {name}") for name in names_of_reactions],
        kinetic=[T][0],
        potential=[V][0],
        dissipation=[D][0],
        forces=Q,
        M=M,
        h=_added(inertial, elastic, viscous, forces),
        standing=_added(*moving, elastic, *([] if quadratic_D else [viscous]), forces),
        slow=_added(*moving, viscous, forces),
        A=A,
        gamma=gamma,
        constraints=c,
        positions=phi,
        repeated=total_derivative(more, q, v)[0],
        explicit=[convert(s.potential.diff(s.time) - s.kinetic.diff(s.time), symbols)][0],
        symbols=symbols,
    )


def _added(*contributions: list[list[Expression]]) -> list[Expression]:
    """The sums of the contributions to each equation."""
    return [sum_of([term for terms in parts for term in terms]) for parts in zip(*contributions, strict=True)]


def lower_ode(ode: Ode) -> list[Expression]:
    """The right-hand sides of a plain ODE, in its states, its parameters and the time."""
    states = {x: expression(x.name) for x in ode.symbols}
    known = {ode.time: CLOCK, **states, **{p: par[i] for i, p in enumerate(ode.parameters)}}
    return [convert(e, known) for e in ode.right_hand_sides]


@once(most=64)
def graph_of(system: System, without: frozenset[str] = frozenset()) -> Graph:
    """The graph of a system, lowered once."""
    system.check_written_out()
    return lower(system, without)


@once(most=8)
def stated_graph_of(system: System) -> Graph:
    """The graph with all constraints that are stated, those that follow from the others among them."""
    if not system.redundant:
        return graph_of(system)
    system.check_written_out()
    return lower(system, every_row=True)


def total_derivative(
    functions: list[Expression], q: list[Expression], v: list[Expression]
) -> tuple[list[list[Expression]], list[Expression]]:
    """The matrix f_v of df/dt = f_v q̈ + f_q v + f_t, and the remaining terms."""
    if not functions:
        return [], []
    n = len(q)
    rows = jacobian(functions, [*q, *v, CLOCK])
    return [row[n:-1] for row in rows], [sum_of([dot(row[:n], v), row[-1]]) for row in rows]


def dot(a: Sequence[Expression], b: Sequence[Expression]) -> Expression:
    terms = [x * y for x, y in zip(a, b, strict=True)]
    return sum_of(terms) if terms else ZERO


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
