"""Functions in a statement that a long step may leap over: their arguments, and the scale on which each varies.

Far from its bump exp(−10 (x − 5)²) has no digits left in a sum, nor has the difference of tanh(100 ẋ) from 1: neither
the Taylor series nor an error estimate sees them. Their arguments are seen everywhere, and tell how finely a step has
to be looked at. Sines, cosines and polynomials of low degree hide nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import sympy as sm

from pfaff.flow.compiled import Compiled
from pfaff.flow.conversion import convert
from pfaff.flow.differentiation import jacobian_entries
from pfaff.flow.graph import CLOCK, expression, par
from pfaff.flow.lagrangian import graph_of
from pfaff.statement import System
from pfaff.statement.odes import Ode
from pfaff.threads import cached_property, once

WIDTH = 0.5  # change of an argument between two points looked at, relative to the scale on which its function varies
ASLEEP = 100.0  # |u| beyond which tanh u, erf u, 1/cosh u, and beyond whose negative exp u, are constant in all digits
UNDERFLOW = -750.0  # logarithm of what is zero in double precision, denormal numbers included
MODERATE = 4  # powers up to this one are seen in Taylor series wherever they matter
SHARP = 1e-12  # tolerance from which on series of high order see algebraic functions, such as 1/(1 + u²), from afar

EXPONENTIAL, SIGMOID, ALGEBRAIC, PERIODIC, POWER = range(5)
SIGMOIDS = (sm.tanh, sm.erf, sm.erfc, sm.sinh, sm.cosh)


@dataclass(frozen=True, eq=False)
class Steep:
    """The arguments of such functions, with their derivatives by all states and by time."""

    compiled: Compiled
    kinds: np.ndarray
    exponents: np.ndarray  # of powers, else 1

    def __call__(self, x: np.ndarray, rates: np.ndarray, numbers: np.ndarray, t: np.ndarray) -> np.ndarray:
        """Arguments u and their rates along the motion, indexed [0 or 1, argument, time]."""
        count, size = len(self.kinds), len(x)
        values = self.compiled(x, numbers, t)
        slopes = values[count:].reshape(count, size + 1, -1)
        return np.array([values[:count], np.einsum("ijk,jk->ik", slopes[:, :size], rates) + slopes[:, size]])

    def unresolved(self, left: np.ndarray, right: np.ndarray, length: np.ndarray, largest: np.ndarray) -> np.ndarray:
        """How far arguments change within intervals, in units of what a function allows, indexed [argument, interval].

        Zero where the function is constant in all digits. ``left`` and ``right`` are arguments and rates at the ends,
        ``largest`` the largest arguments of the step.
        """
        change = np.abs(right[0] - left[0])
        reach = np.maximum(change, np.maximum(np.abs(left[1]), np.abs(right[1])) * np.abs(length))
        low, high = np.minimum(left[0], right[0]) - reach, np.maximum(left[0], right[0]) + reach
        algebraic, power, falling, sigmoid = self._masks
        asleep = falling & (high < -ASLEEP) | sigmoid & (low > ASLEEP)
        with np.errstate(invalid="ignore", over="ignore", divide="ignore"):
            if power.any():  # nothing beside its largest value in the step, or zero
                at, top = (self.exponents[:, None] * np.log(each) for each in (np.maximum(high, -low), largest))
                asleep |= power & (at < np.maximum(top - ASLEEP, UNDERFLOW))
            units = reach / WIDTH
            if self._relative:
                scale = np.where(
                    algebraic, np.minimum(np.abs(left[0]), np.abs(right[0])), np.where(power, largest, 1.0)
                )
                units = units * self.exponents[:, None] / np.maximum(scale, np.finfo(float).tiny)
            return np.where(asleep | ~np.isfinite(reach), 0.0, units)

    @cached_property
    def _masks(self) -> tuple[np.ndarray, ...]:
        """Which functions vary relative to their own argument, to the largest, which fall asleep below, which above."""
        kinds = self.kinds[:, None]
        falling = (kinds == EXPONENTIAL) | (kinds == SIGMOID)
        return kinds == ALGEBRAIC, kinds == POWER, falling, kinds == SIGMOID

    @cached_property
    def _relative(self) -> bool:
        return bool(np.isin(self.kinds, (ALGEBRAIC, POWER)).any())


@once(most=4)
def steep_functions(system: System | Ode, tolerance: float) -> Steep | None:
    """The functions that steps of this tolerance may leap over; None if the statement has none."""
    if isinstance(system, Ode):
        states, time, written = system.symbols, system.time, system.right_hand_sides
        symbols: dict[Any, Any] = {x: expression(x.name) for x in states} | {time: CLOCK}
        symbols |= {p: par[k] for k, p in enumerate(system.parameters)}
    else:
        if system.rods:
            return None
        s = system.statement
        states, time = (*s.q, *s.v), s.time
        written = (s.kinetic, s.potential, s.dissipation, *s.forces, *s.constraints, *s.positions)
        symbols = graph_of(system).symbols
    found = arguments(written, frozenset((*states, time)), tolerance)
    if not found:
        return None
    rows = [convert(u, {x: symbols[x] for x in u.free_symbols}) for u, _, _ in found]
    variables = [symbols[x] for x in states]
    slopes = jacobian_entries(rows, [*variables, CLOCK])
    compiled = Compiled([*rows, *slopes], variables)
    _, kinds, exponents = zip(*found, strict=True)
    return Steep(compiled, np.array(kinds), np.array(exponents, dtype=float))


def arguments(
    written: Iterable[sm.Expr], moving: frozenset[sm.Symbol], tolerance: float
) -> list[tuple[sm.Expr, int, float]]:
    """Arguments with the kinds of their functions and exponents; empty if a step of this tolerance sees all of them.

    An argument of several functions stays with each that may be awake where another is asleep.
    """
    found: dict[tuple[sm.Expr, int, float], tuple[sm.Expr, int, float]] = {}
    hidden = False
    for stated in written:
        for node in sm.preorder_traversal(stated):
            kind = _kind(node, moving)
            if kind is None:
                continue
            argument, how, exponent = kind
            alike = (argument, how, exponent if how == POWER else 0.0)
            found[alike] = max(found.get(alike, kind), kind, key=lambda each: each[2])
            visible = how == ALGEBRAIC and exponent <= MODERATE and tolerance <= SHARP
            hidden = hidden or not (visible or how == PERIODIC)
    return list(found.values()) if hidden else []


def _kind(node: sm.Basic, moving: frozenset[sm.Symbol]) -> tuple[sm.Expr, int, float] | None:
    """What a function depends on that moves, and how it varies with it; None for sums, products and mild powers."""
    if not isinstance(node, sm.Expr) or not node.args or not node.free_symbols & moving:
        return None
    if isinstance(node, sm.exp):
        return node.args[0], EXPONENTIAL, 1.0
    if isinstance(node, sm.Pow):
        return _power(node, moving)
    if isinstance(node, SIGMOIDS):
        return node.args[0], SIGMOID, 1.0
    if isinstance(node, sm.sin | sm.cos | sm.tan):
        return node.args[0], PERIODIC, 1.0
    if isinstance(node, sm.asin | sm.acos | sm.atanh):
        return 1 - node.args[0] ** 2, ALGEBRAIC, 1.0
    if isinstance(node, sm.Function):
        squares = sm.Add(*(each**2 for each in node.args))
        return (squares if isinstance(node, sm.log | sm.atan2) else 1 + squares), ALGEBRAIC, 1.0
    return None


def _power(node: sm.Pow, moving: frozenset[sm.Symbol]) -> tuple[sm.Expr, int, float] | None:
    base, exponent = node.as_base_exp()
    if exponent.free_symbols & moving:
        return exponent * sm.log(base), EXPONENTIAL, 1.0
    if exponent.is_Integer and exponent > 0:
        return (base, POWER, float(exponent)) if exponent > MODERATE else None
    size = max(1.0, abs(float(exponent))) if exponent.is_number else 2.0 * MODERATE
    return base, ALGEBRAIC, size
