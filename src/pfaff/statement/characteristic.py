"""Characteristic sizes of the coordinates and of time: where expressions change their behaviour, in any units.

Along one variable a sum changes its behaviour where another of its terms becomes the largest, and a function where its
argument has changed by one: 1 + (x/l)² at x = l, sin(k x) at x = 1/k. Trial points are drawn in these sizes, so that
they are the same in any units of the variables.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import sympy as sm

from pfaff.algebra.tolerances import IDENTITY
from pfaff.statement.draws import Draws
from pfaff.statement.evaluation import containing, evaluated, magnitudes
from pfaff.threads import once

if TYPE_CHECKING:
    from pfaff.statement.plain_symbols import Statement

GRID = 4.0 ** np.arange(-24, 25)  # sizes from 1e-14 to 1e14
TRIALS = 4
LARGEST = 1e100  # largest number whose square can be summed

Terms = tuple[sm.Expr, ...]


@dataclass(frozen=True)
class Characteristic:
    """The sizes of every variable at which something changes, in ascending order: at least one."""

    sizes: tuple[np.ndarray, ...]

    @property
    def usual(self) -> np.ndarray:
        return np.array([_usual(each) for each in self.sizes])

    def drawn(self, generator: Draws) -> np.ndarray:
        """A random choice of one size for every variable."""
        places = generator.uniform(0, 1, len(self.sizes))
        return np.array([each[int(place * len(each))] for each, place in zip(self.sizes, places, strict=True)])


def characteristic(
    expressions: Sequence[sm.Expr], variables: Sequence[sm.Symbol], values: Mapping[sm.Basic, Any]
) -> Characteristic:
    """The sizes of variables in some expressions, with values for all other symbols.

    First for each variable alone, the others at zero; then for those that matter only together with others, as in 1 + x
    y, where these have their sizes, or one. Values may be columns: then any of their entries counts.
    """
    if not variables:
        return Characteristic(())
    groups, n = _groups(tuple(expressions), frozenset(variables)), len(variables)
    found = _crossings(groups, variables, GRID[:, None, None] * np.eye(n), values)
    base = np.array([_usual(each) for each in found])
    for j in range(n):
        if not len(found[j]):
            ray = np.where(np.arange(n) == j, GRID[:, None, None], base)
            (found[j],) = _crossings(groups, variables, ray, values)
            base[j] = _usual(found[j])
    return Characteristic(tuple(each if len(each) else np.ones(1) for each in found))


def unit_velocities(statement: Statement) -> dict[sm.Basic, np.ndarray]:
    """Columns of velocities for which constraints are the entries of A + b and, last, of b."""
    n = len(statement.q)
    return dict(zip(statement.v, np.hstack([np.eye(n), np.zeros((n, 1))])[..., None], strict=True))


def identical(a: sm.Expr, b: sm.Expr) -> bool:
    """Whether expressions are equal at random values of all symbols, where an identity fails with probability one if it
    fails at all.

    The values are drawn in characteristic sizes, so that units do not matter.
    """
    if a == b:
        return True
    symbols = sorted(a.free_symbols | b.free_symbols, key=str)
    known = characteristic([a, b], symbols, {})
    generator = Draws(1949)
    compared = 0
    for size in (1.4, 0.7, 0.3, 0.1, 10.0):
        for _ in range(TRIALS):
            x = known.drawn(generator) * generator.uniform(0.2 * size, size, len(symbols))
            at = dict(zip(symbols, x, strict=True))
            left, right = evaluated([a, b], at)
            if not np.isfinite(left + right):
                continue
            compared += 1
            if abs(left - right) > IDENTITY * sum(magnitudes([a, b], at)):
                return False
    return compared > 0


def _usual(sizes: np.ndarray) -> float:
    """The median of sizes."""
    return float(sizes[(len(sizes) - 1) // 2]) if len(sizes) else 1.0


@once(most=4)
def _groups(expressions: tuple[sm.Expr, ...], variables: frozenset[sm.Basic]) -> tuple[list[Terms], list[Terms]]:
    """Terms to be compared: those of the arguments of functions with one, and those of sums."""
    free = containing(expressions, variables)
    parts = [p for p, contains in free.items() if contains]
    arguments = [x for p in parts for x in (p.args if isinstance(p, sm.Function) else p.args[1:] if p.is_Pow else ())]
    varying = (tuple(e for e in sm.Add.make_args(x) if free[e]) for x in arguments)
    sums = (p.args for p in parts if isinstance(p, sm.Add))
    return [(sm.S.One, *each) for each in dict.fromkeys(varying) if each], list(dict.fromkeys(sums))


def _crossings(
    groups: tuple[list[Terms], list[Terms]],
    variables: Sequence[sm.Symbol],
    rays: np.ndarray,
    values: Mapping[sm.Basic, Any],
) -> list[np.ndarray]:
    """The sizes on every ray, [size, ray, variable], where another term becomes the largest: one for each group."""
    places = rays.reshape(-1, rays.shape[-1])
    at = {**values, **{x: places[:, j] for j, x in enumerate(variables)}}
    terms = list({term: None for kind in groups for group in kind for term in group})
    sizes = dict(zip(terms, magnitudes(terms, at), strict=True))
    arguments, sums = (_counted(kind, sizes, rays.shape[:2]) for kind in groups)
    # beyond the first argument that has changed by one, sums of functions oscillate
    sums[np.cumsum(arguments, axis=0) > arguments] = 0
    return [np.repeat(GRID / 2, column) for column in (arguments + sums).T]  # half way to the place before


def _counted(groups: Iterable[Terms], sizes: Mapping[sm.Expr, Any], shape: tuple[int, ...]) -> np.ndarray:
    """How many groups have another largest term, from a place on, than at the beginning of the ray."""
    counts = np.zeros(shape, dtype=int)
    for group in groups:
        wide = np.broadcast_shapes(*(np.shape(sizes[term]) for term in group), (counts.size,))
        table = np.array([np.broadcast_to(sizes[term], wide) for term in group]).reshape(len(group), -1, *shape)
        first = table[:, :, :1]
        minor = first < 0.5 * first.max(axis=0)  # others may become the largest by rounding alone
        overtaken = np.take_along_axis(minor, table.argmax(axis=0)[None], axis=0)[0]
        changed = (overtaken & np.isfinite(table).all(axis=0)).any(axis=0)
        along = np.flatnonzero(changed.any(axis=0))
        counts[changed.argmax(axis=0)[along], along] += 1
    return counts
