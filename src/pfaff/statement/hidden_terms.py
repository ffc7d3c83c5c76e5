"""Places where terms come to light that are hidden nearly everywhere: a narrow bump, a far wall or pole, a short pulse.

Far from there exp(−100 (x − 20)²) has no digits left in a sum, or none at all, and random states miss it. Its argument
is seen everywhere, and leads to where it is of order one: by Newton's method of least norm, with all factors of a
product at once, and on what is held. Arguments of roots and poles lead towards their zeros, on several scales.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import sympy as sm

from pfaff.algebra.newtons_method import Stopping, newton
from pfaff.statement.evaluation import containing, evaluated, magnitudes

Arguments = tuple[tuple[sm.Expr, bool], ...]  # arguments of the factors of a term; whether their zeros are sought

AWAKE = (0.02, 4.0)  # sizes of arguments at which exp, tanh, 1/cosh, erf change
ASLEEP = 1.0  # arguments beyond which they may be hidden
MODERATE = 4  # powers up to this one are seen at usual places
SCALES = 10.0 ** -np.arange(2, 16, 2)  # of arguments whose zeros are sought, relative to where the search began
MEETS = 1e-2  # a zero has terms that cancel to less than 1 − this somewhere near, or it is none
RESOLVED = 1e4  # arguments so many times their rounding errors have digits
STEPS = 40  # of Newton's method: an argument −w (x − a)² comes down by four in each
STEP = 1e-6  # of differences, in units of the variables
HELD = 1e-6  # what is left of constraints, relative to their slopes, at such a place


def hidden_terms(expressions: Iterable[sm.Expr], variables: Iterable[sm.Symbol], poles: bool = True) -> list[Arguments]:
    """The arguments, in terms that contain some of these variables, of functions that may be hidden; without ``poles``
    and roots, only of those that vanish in all digits."""
    moved, found, every = frozenset(variables), dict[Arguments, None](), tuple(expressions)
    contains = containing(every, moved)
    terms = {term: None for e in every for term in sm.Add.make_args(e) if contains[term]}
    for node in containing(terms, frozenset()):
        factors = sm.Mul.make_args(node)
        if own := tuple(dict.fromkeys(each for factor in factors for each in _argument(factor))):
            found[own] = None
        elif any(_high(factor) for factor in factors):
            found[((sm.log(node**2) / 2, False),)] = None  # c xⁿ as an exponential
    return [own for own in found if poles or not all(zero for _, zero in own)]


def _argument(node: sm.Basic) -> Iterator[tuple[sm.Expr, bool]]:
    if isinstance(node, sm.exp | sm.tanh | sm.cosh | sm.sinh | sm.erf | sm.erfc) and node.free_symbols:
        yield node.args[0], False
    elif isinstance(node, sm.Pow) and node.free_symbols:
        base, exponent = node.as_base_exp()
        if exponent.free_symbols:
            yield exponent * sm.log(base), False
        elif isinstance(base, sm.Function):
            yield from _argument(base)
        elif not (exponent.is_Integer and exponent > 0):
            yield base, True
    elif isinstance(node, sm.log | sm.atan | sm.atan2 | sm.asinh) and node.free_symbols:
        yield (sm.Add(*(x**2 for x in node.args)) if len(node.args) > 1 else node.args[0]), True


def _high(node: sm.Basic) -> bool:
    return bool(isinstance(node, sm.Pow) and node.exp.is_Integer and node.exp > MODERATE and node.free_symbols)


def places(
    terms: Sequence[Arguments],
    held: Sequence[sm.Expr],
    start: Mapping[sm.Symbol, float],
    units: Mapping[sm.Symbol, float],
    given: Mapping[sm.Basic, Any],
) -> Iterator[dict[sm.Symbol, float]]:
    """Places, near a start, where terms come to light that are hidden there, and where what is held is zero.

    Variables have ``units``; all other symbols are ``given`` values.
    """
    for term in terms:
        free = sm.Tuple(*(u for u, _ in term)).free_symbols
        if free & units.keys():
            yield from _Search(term, held, units, given).places(start)


class _Search:
    """Newton's method for the arguments of one term."""

    def __init__(
        self,
        term: Arguments,
        held: Sequence[sm.Expr],
        units: Mapping[sm.Symbol, float],
        given: Mapping[sm.Basic, Any],
    ) -> None:
        self.term, self.given, self.variables = term, given, list(units)
        self.rows = [*(u for u, _ in term), *held]
        self.units, self.own = np.array(list(units.values())), len(term)
        self.zeros = np.array([zero for _, zero in term])

    def places(self, start: Mapping[sm.Symbol, float]) -> Iterator[dict[sm.Symbol, float]]:
        z = np.array([start[x] for x in self.variables])
        first, slopes = self._at(z)
        if not (np.isfinite(first).all() and np.isfinite(slopes).all()):
            return
        u = first[: self.own]
        if self.zeros.all():
            if not self._cancels(z):
                return
            for scale in SCALES:
                found = self._reached(z, scale * u, 0.5 * np.abs(scale * u), 2 * np.abs(scale * u))
                if found is None or not self._resolved(found):
                    return
                yield dict(zip(self.variables, found.tolist(), strict=True))
                z = found
        elif (np.abs(u) > ASLEEP)[~self.zeros].any():
            least, most = (np.where(self.zeros, end, edge) for end, edge in zip((0.0, np.inf), AWAKE, strict=True))
            for sign in (-1.0, 1.0):
                found = self._reached(z, np.where(self.zeros, u, sign), least, most)
                if found is not None:
                    yield dict(zip(self.variables, found.tolist(), strict=True))

    def _reached(self, z: np.ndarray, to: np.ndarray, least: np.ndarray, most: np.ndarray) -> np.ndarray | None:
        """Where the arguments are as large as they are to be; None if that is not reached."""

        def step(z: np.ndarray) -> tuple[np.ndarray, float] | None:
            values, slopes = self._at(z)
            if not (np.isfinite(values).all() and np.isfinite(slopes).all()):
                return None
            size = np.abs(values)
            kept = size[self.own :] <= HELD * (np.abs(slopes[self.own :]).max(axis=1, initial=0.0) + 1e-300)
            if (size[: self.own] >= least).all() and (size[: self.own] <= most).all() and kept.all():
                return z, 0.0
            target = np.concatenate([to, np.zeros(len(values) - self.own)])
            rows = np.abs(slopes).max(axis=1) + 1e-300
            change = self.units * (np.linalg.pinv(slopes / rows[:, None], rcond=1e-10) @ ((target - values) / rows))
            return z + change, 1.0

        found = newton(step, z, Stopping(STEPS))
        return found.at if found.ceased else None

    def _at(self, z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The arguments and what is held, and their slopes in the units of the variables."""
        steps = STEP * np.maximum(self.units, STEP * np.abs(z))
        n = len(z)
        around = z[:, None] + np.hstack([np.zeros((n, 1)), np.diag(steps), -np.diag(steps)])
        known = {**self.given, **dict(zip(self.variables, around, strict=True))}
        values = np.array([np.broadcast_to(each, 2 * n + 1) for each in evaluated(self.rows, known)], dtype=float)
        with np.errstate(all="ignore"):
            return values[:, 0], (values[:, 1 : n + 1] - values[:, n + 1 :]) / 2 / steps * self.units

    def _cancels(self, z: np.ndarray) -> bool:
        """Whether terms of the arguments cancel around a state: they may become zero."""
        around = z[:, None] * np.array([-1, -0.5, 0.5, 1])
        known = {**self.given, **dict(zip(self.variables, around, strict=True))}
        arguments = [u for u, _ in self.term]
        pairs = zip(evaluated(arguments, known), magnitudes(arguments, known), strict=True)
        return all((np.abs(value) < (1 - MEETS) * np.abs(size)).any() for value, size in pairs)

    def _resolved(self, z: np.ndarray) -> bool:
        values, slopes = self._at(z)
        rounding = np.abs(slopes / self.units) @ np.abs(z) * np.finfo(float).eps
        return bool((np.abs(values) > RESOLVED * rounding)[: self.own].all())
