"""Lagrange's equations collected by monomials of the state: for small systems, the leanest form to integrate.

Differentiating in the graph is quick but keeps terms that cancel. Here the equations are expanded once in SymPy, like
terms are collected, and every coefficient made of parameters alone becomes a single number, computed before the run.
Taylor's method, whose cost grows with the number of operations, then runs several times faster.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import sympy as sm
from sympy.simplify.fu import TR8

from pfaff.errors import StatementError
from pfaff.flow.compiled import Compiled
from pfaff.flow.conversion import convert
from pfaff.flow.graph import ZERO, Expression, expression, par, sum_of
from pfaff.flow.lagrangian import Graph, graph_of
from pfaff.statement import Statement, System
from pfaff.threads import cached_property

Rows = Sequence[Sequence[sm.Expr]]

LARGEST = 200  # operations in the statement beyond which expanding it takes too long


@dataclass(frozen=True, eq=False)
class Collected:
    """The equations as a graph whose parameters ``par[k]`` are coefficients, and how these follow from the system's."""

    graph: Graph
    coefficients: tuple[sm.Expr, ...]

    @cached_property
    def _compiled(self) -> Compiled:
        lower = graph_of(self.graph.system).lower
        return Compiled([lower(c) for c in self.coefficients], [])

    def numbers(self, parameters: np.ndarray) -> np.ndarray:
        """The coefficients for given parameters of the system."""
        return self._compiled(np.zeros(0), parameters) if self.coefficients else np.zeros(0)


def collect(system: System, without: frozenset[str] = frozenset()) -> Collected | None:
    """M, h, A and γ expanded and collected, unless the system is too large for that.

    Parameters named in ``without`` are zero for good.
    """
    zero = {p: sm.S.Zero for p in system.parameters if p.name in without}
    s, rows = _without(system.statement, zero), _rows(system.statement, zero)
    more = [_rows(system.stated, zero)[k] for k in system.redundant]
    if sm.count_ops([s.kinetic, s.potential, s.dissipation, *s.forces, *s.constraints]) > LARGEST:
        return None
    s = replace(s, **{name: _expand(getattr(s, name), s) for name in ("kinetic", "potential", "dissipation")})
    table = Coefficients(graph_of(system))
    try:
        return Collected(_lowered(system, s, rows, more, table.lower), tuple(table.found))
    except StatementError:  # a vanishing parameter may leave a function such as |x| that cannot be evaluated
        return None


def _rows(s: Statement, zero: Mapping[sm.Symbol, sm.Expr]) -> Rows:
    return [[a.xreplace(zero) for a in row] for *row, _ in s.coefficients]


def _lowered(system: System, s: Statement, rows: Rows, more: Rows, lower: Callable[[sm.Expr], Expression]) -> Graph:
    """The graph of a statement with its rows of coefficients, and ``more``, which follow from the others."""
    momenta = [sm.diff(s.kinetic, v) for v in s.v]
    h = [
        _rate(momentum, s) - sm.diff(s.kinetic, q) + sm.diff(s.potential, q) + sm.diff(s.dissipation, v) - force
        for momentum, q, v, force in zip(momenta, s.q, s.v, s.forces, strict=True)
    ]
    return replace(
        graph_of(system),
        kinetic=lower(s.kinetic),
        potential=lower(s.potential),
        dissipation=lower(s.dissipation),
        forces=[lower(e) for e in s.forces],
        M=[[lower(sm.diff(momentum, v)) for v in s.v] for momentum in momenta],
        h=[lower(e) for e in h],
        A=[[lower(a) for a in row] for row in rows],
        gamma=[lower(_rate(c, s)) for c in s.constraints],
        constraints=[lower(c) for c in s.constraints],
        positions=[lower(c) for c in s.positions],
        repeated=[[lower(a) for a in row] for row in more],
        explicit=lower(sm.diff(s.potential - s.kinetic, s.time)),
    )


class Coefficients:
    """Coefficients met so far: each distinct one is one parameter of the equations."""

    def __init__(self, graph: Graph) -> None:
        self.statement = s = graph.system.statement
        self.state = frozenset((*s.q, *s.v, s.time))
        self.symbols = graph.symbols
        self.found: dict[sm.Expr, Expression] = {}

    def lower(self, expression: sm.Expr) -> Expression:
        """Expand an expression and write it as a sum of coefficients times monomials of the state."""
        collected: dict[sm.Expr, sm.Expr] = defaultdict(lambda: sm.S.Zero)
        for term in sm.Add.make_args(_expand(expression, self.statement)):
            coefficient, monomial = term.as_independent(*self.state, as_Add=False)
            collected[monomial] += coefficient
        terms = [self._number(c) * self._monomial(m) for m, c in collected.items() if c != 0]
        return sum_of(terms) if terms else ZERO

    def _number(self, coefficient: sm.Expr) -> Expression:
        if coefficient.is_number:
            return expression(float(coefficient))
        return self.found.setdefault(coefficient, par[len(self.found)])

    def _monomial(self, monomial: sm.Expr) -> Expression:
        inside = monomial.free_symbols - self.state
        return convert(monomial, {**self.symbols, **{p: self._number(p) for p in inside}})


def _without(s: Statement, zero: Mapping[sm.Symbol, sm.Expr]) -> Statement:
    return replace(
        s,
        kinetic=s.kinetic.xreplace(zero),
        potential=s.potential.xreplace(zero),
        dissipation=s.dissipation.xreplace(zero),
        forces=tuple(e.xreplace(zero) for e in s.forces),
        constraints=tuple(e.xreplace(zero) for e in s.constraints),
        positions=tuple(e.xreplace(zero) for e in s.positions),
    )


def _expand(expression: sm.Expr, s: Statement) -> sm.Expr:
    """Expanded in velocities, sines and cosines; what else depends on coordinates or time stays as it stands.

    Expanding (x − a)⁴ or a pulse exp(−(t − t0)²) would cost all digits far from the origin.
    """
    atoms: dict[sm.Expr, sm.Dummy] = {}
    held = _hold(expression, frozenset(s.v), frozenset((*s.q, s.time)), atoms)
    expanded = _products_and_sums(held)
    return expanded.xreplace({dummy: atom for atom, dummy in atoms.items()})


def _hold(e: sm.Expr, v: frozenset[sm.Symbol], bare: frozenset[sm.Symbol], atoms: dict[sm.Expr, sm.Dummy]) -> sm.Expr:
    """Put a symbol in the place of every sum, power or function of coordinates or time that has no velocity in it."""
    if not (e.free_symbols & (v | bare)) or e.is_Symbol or isinstance(e, sm.sin | sm.cos):
        return e
    outside = e.replace(lambda x: isinstance(x, sm.sin | sm.cos), lambda x: sm.S.One)
    moves = bool(e.free_symbols & v)
    if not e.is_Mul and ((not moves and outside.free_symbols & bare) or not isinstance(e, sm.Add | sm.Pow)):
        return atoms.setdefault(e, sm.Dummy(real=True))
    return e.func(*(_hold(arg, v, bare, atoms) for arg in e.args))


def _products_and_sums(expression: sm.Expr) -> sm.Expr:
    """Products of sines and cosines either kept (sin² = 1 − cos²) or turned into sums of angles."""
    expanded = sm.expand(expression, deep=False, power_base=False, power_exp=False, log=False)
    expanded = sm.expand_mul(sm.expand_multinomial(expanded))
    if not expanded.has(sm.sin, sm.cos):
        return expanded
    products = sm.expand_mul(sm.expand_multinomial(expanded.replace(_is_power_of_sine, _through_cosine)))
    sums = sm.expand_mul(TR8(expanded))
    return min(products, sums, key=sm.count_ops)


def _is_power_of_sine(e: sm.Basic) -> bool:
    return isinstance(e, sm.Pow) and isinstance(e.base, sm.sin) and e.exp.is_Integer and e.exp > 1


def _through_cosine(e: sm.Pow) -> sm.Expr:
    return e.base ** (e.exp % 2) * (1 - sm.cos(e.base.args[0]) ** 2) ** (e.exp // 2)


def _rate(expression: sm.Expr, s: Statement) -> sm.Expr:
    """The time derivative but for its terms in q̈."""
    return sm.Add(*(sm.diff(expression, q) * v for q, v in zip(s.q, s.v, strict=True)), sm.diff(expression, s.time))
