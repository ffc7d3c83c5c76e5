"""Uniform motion that constraints prescribe, as X − v t = 0 or Ẋ − v = 0 does, and the equations in coordinates that
move along.

With φ(q + w s, t + s) = φ(q, t) the configurations that the constraints allow travel at the constant velocities w. If
inertia, forces and all constraints are alike there, too, then q = q′ + w t leaves equations without time, in which the
velocities stay those of q: what rests in q′ is a steady motion. w is solved for in the parameters, and the invariance
is confirmed by trial at random states, where an identity fails with probability one if it fails at all.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import sympy as sm

from pfaff.flow.conversion import convert
from pfaff.flow.graph import CLOCK, ZERO, Expression, subs
from pfaff.flow.lagrangian import Graph, graph_of
from pfaff.flow.tape import tape_of
from pfaff.statement.hidden_terms import hidden_terms, places
from pfaff.statement.plain_symbols import Statement
from pfaff.statement.system import System
from pfaff.threads import once

if TYPE_CHECKING:
    from pfaff.case import Bound

TRIALS = 3
ROUNDING = 1e5 * float(np.finfo(np.longdouble).eps)  # relative difference below which values are the same
SIZES = (1.0, 0.3, 0.1, 0.03)  # of states, until everything is finite there


@once(most=1)
def uniform_motion(system: System) -> tuple[sm.Expr, ...]:
    """The velocities w of uniformly moving constraints, in the parameters; none where there is no such motion."""
    s = system.statement
    if system.rods or not (any(s.time in phi.free_symbols for phi in s.positions) or _demand_velocities(s)):
        return ()
    for w in _candidates(system):
        if _unchanged(system, w):
            return w
    return ()


def _demand_velocities(s: Statement) -> bool:
    """Whether a row A q̇ + b = 0 lets nothing rest at the origin."""
    origin = dict.fromkeys((*s.q, *s.v, s.time), sm.S.Zero)
    return any(row.subs(origin) != 0 for row in s.constraints[: s.nonholonomic])


@once(most=1)
def comoving_graph(system: System) -> Graph:
    """Lagrange's equations in coordinates that move along with the constraints: those of the system, if these rest."""
    return comoving(graph_of(system))


def comoving(graph: Graph) -> Graph:
    """The graph of a system in coordinates that move along with its constraints."""
    w = graph.system.uniform_motion
    if not w:
        return graph

    def now(expressions: Iterable[Expression]) -> list[Expression]:
        expressions = list(expressions)
        return subs(expressions, {CLOCK: ZERO})

    h, (kinetic, potential, dissipation) = now(graph.h), now([graph.kinetic, graph.potential, graph.dissipation])
    return replace(
        graph,
        kinetic=kinetic,
        potential=potential,
        dissipation=dissipation,
        forces=now(graph.forces),
        M=[now(row) for row in graph.M],
        h=h,
        standing=h,
        slow=h,
        A=[now(row) for row in graph.A],
        gamma=now(graph.gamma),
        constraints=now(graph.constraints),
        positions=now(graph.positions),
        drift=[convert(sm.sympify(each), graph.symbols) for each in w],
    )


def symmetric_graph(system: System) -> Graph:
    """Lagrange's equations on which symmetries act: as they are stated, but without time.

    Where nothing depends on time, uniform motion is itself a symmetry, and needs no coordinates that move along."""
    return graph_of(system) if system.autonomous else comoving_graph(system)


def frame_velocities(case: Bound) -> np.ndarray:
    """The velocities, a number for each coordinate, of coordinates that move along with the constraints."""
    return frame_velocities_at(case.system, case.numbers) if isinstance(case.system, System) else np.zeros(0)


def frame_velocities_at(system: System, numbers: np.ndarray) -> np.ndarray:
    """These velocities at given numbers."""
    if not system.uniform_motion:
        return np.zeros(len(system.coordinates))
    known = dict(zip(system.parameters, np.asarray(numbers).tolist(), strict=True))
    return np.array([float(each.xreplace(known)) for each in system.uniform_motion])


def moving_along(case: Bound, states: Sequence[str], t: np.ndarray, x: np.ndarray) -> np.ndarray:
    """States along a motion, a row each, in coordinates that move along with the constraints."""
    w = frame_velocities(case)
    if not w.any():
        return x
    speeds = dict(zip(case.system.coordinate_names, w, strict=True))  # type: ignore[attr-defined]
    return x - np.array([speeds.get(name, 0.0) for name in states])[:, None] * t


def _candidates(system: System) -> Iterator[tuple[sm.Expr, ...]]:
    """Velocities that keep to the constraints: at the origin to all of them, or to those that are alike everywhere;
    what these leave open is zero, or as the energies and forces demand."""
    s = system.statement
    unknowns = sm.symbols(f"w1:{len(s.q) + 1}", real=True)
    still = dict(zip(s.v, unknowns, strict=True))
    bound = [e for phi in s.positions for e in _coefficients(_changed(phi, s, unknowns), s)]
    rows = [c.xreplace(still) for c in s.constraints[: s.nonholonomic]]
    moving = {*s.q, s.time}
    alike = [row for row in rows if not row.free_symbols & moving]
    here = [row.subs(dict.fromkeys(moving, sm.S.Zero)) for row in rows]
    seen: set[tuple[sm.Expr, ...]] = set()
    for equations in ([*bound, *here], [*bound, *alike]):
        for more in (lambda: [], lambda: _demanded(s, unknowns)):
            found = _solved([*equations, *more()], unknowns, moving)
            if found and found not in seen:
                seen.add(found)
                yield found


def _changed(expression: sm.Expr, s: Statement, w: tuple[sm.Symbol, ...]) -> sm.Expr:
    """The rate at which an expression changes along q + w t, its velocities kept."""
    return sum((x * expression.diff(q) for q, x in zip(s.q, w, strict=True)), expression.diff(s.time))


def _demanded(s: Statement, w: tuple[sm.Symbol, ...]) -> list[sm.Expr]:
    """What w must obey if energies, dissipation and forces are to be alike along the motion."""
    alike = [s.kinetic, *(s.potential.diff(q) for q in s.q), s.dissipation, *s.forces]
    return [e for each in alike for e in _coefficients(_changed(each, s, w), s)]


def _coefficients(identity: sm.Expr, s: Statement) -> list[sm.Expr]:
    """Expressions that vanish if the identity holds at all coordinates, velocities and times."""
    moving = {*s.q, *s.v, s.time}
    identity = sm.expand(identity)
    if not identity.free_symbols & moving:
        return [identity]
    generators = [x for x in moving if x in identity.free_symbols]
    generators += [
        f for f in identity.atoms(sm.Function, sm.Pow) if f.free_symbols & moving and not _polynomial(f, moving)
    ]
    try:
        return list(sm.Poly(identity, *generators).coeffs())
    except sm.PolynomialError:
        return [identity]


def _polynomial(f: sm.Expr, moving: set[sm.Symbol]) -> bool:
    return bool(f.is_Pow and f.exp.is_Integer and f.exp > 0)


def _solved(equations: list[sm.Expr], unknowns: tuple[sm.Symbol, ...], moving: set[sm.Symbol]) -> tuple[sm.Expr, ...]:
    """The solution in the parameters in which what is left open is zero; nothing if there is none."""
    equations = [each for each in equations if each != 0]
    try:
        (found, *_), missing = sm.linsolve(equations, *unknowns), dict.fromkeys(unknowns, sm.S.Zero)
    except (ValueError, TypeError, sm.polys.polyerrors.PolynomialError):
        return ()  # no solution, or none that is linear
    w = tuple(sm.simplify(sm.cancel(sm.sympify(each).xreplace(missing))) for each in found)
    if not any(w) or any(each.free_symbols & moving for each in w):
        return ()
    return w


def _unchanged(system: System, w: tuple[sm.Expr, ...]) -> bool:
    """Whether inertia, forces, constraints and quasi-velocities are alike along w, at random states, parameters and
    times."""
    graph, n, s = graph_of(system), len(system.coordinates), system.statement
    quasi = [convert(form, graph.symbols) for form in system.quasi_forms.values()]
    groups = [
        [e for row in graph.M for e in row],
        graph.h,
        [e for row in graph.A for e in row],
        graph.constraints,
        graph.gamma,
        graph.positions,
        quasi,
    ]
    speeds = [convert(sm.sympify(each), graph.symbols) for each in w]
    outputs = [*(e for group in groups for e in group), *speeds]
    tape = tape_of(outputs, [*graph.q, *graph.v])
    ends = np.cumsum([len(group) for group in groups])[:-1]
    generator = np.random.default_rng(1851)
    defaults = [None if value is None else float(value) for value in system.parameters.values()]
    signs = np.array([-1.0 if value is not None and value < 0 else 1.0 for value in defaults])
    usual = np.array([value or 1.0 for value in defaults])
    terms = hidden_terms(_stated(s), [x for x, rate in zip((*s.q, s.time), (*w, 1), strict=True) if rate])
    variables = (*s.q, *s.v, s.time)

    def alike(x: np.ndarray, numbers: np.ndarray, time: float, later: float) -> bool | None:
        """Whether all is alike at a state and where that will have moved; None where it is not finite."""
        x, now, wait = np.asarray(x, np.longdouble), np.longdouble(time), np.longdouble(later)
        here = tape.value(x, numbers, now)
        moved = x + wait * np.concatenate([here[len(here) - n :], np.zeros(n, np.longdouble)])
        there = tape.value(moved, numbers, now + wait)
        if not (np.isfinite(here).all() and np.isfinite(there).all()):
            return None
        pairs = zip(np.split(here[:-n], ends), np.split(there[:-n], ends), strict=True)
        return all(not len(a) or np.abs(a - b).max() <= ROUNDING * max(1.0, np.abs(a).max()) for a, b in pairs)

    for k in range(2 * TRIALS):
        for size in SIZES:
            shares = generator.uniform(0.5, 1.5, len(defaults))
            drawn = shares * (usual if k % 2 else signs)
            numbers = drawn.astype(np.longdouble)
            x = generator.uniform(0.2 * size, size, 2 * n)
            time, later = generator.uniform(0.3, 1.5, 2).tolist()
            found = alike(x, numbers, time, later)
            if found is not None:
                break
        if not found:
            return False
        start, given = dict(zip(variables, (*x, time), strict=True)), dict(zip(system.parameters, drawn, strict=True))
        for place in places(terms, (), start, dict.fromkeys(variables, 1.0), given):
            z = np.array([place[each] for each in variables])
            if alike(z[:-1], numbers, z[-1], later) is False:
                return False
    return True


def _stated(s: Statement) -> list[sm.Expr]:
    return [s.kinetic, s.potential, s.dissipation, *s.forces, *s.constraints, *s.positions]
