"""Stiffness, damping, inertia and constraints at rest with more digits than double precision has."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import sympy as sm

from pfaff.flow.lagrangian import lower
from pfaff.flow.more_digits import CONTEXT, DIGITS, wide, wide_values
from pfaff.flow.statics import AtRest, Statics, statics_of
from pfaff.flow.uniform_motion import comoving
from pfaff.statement.system import System
from pfaff.threads import once

SHORT = 2**8  # numerators of numbers with which the graph may compute


class WideStatics:
    """The matrices at rest as functions of (q, λ; numbers), where numbers are parameters, then decimal fractions of the
    statement, which like these were rounded.

    Other numbers of the statement are taken to all digits: a third is one.
    """

    exact = True  # whether there are more digits

    def __init__(self, system: System) -> None:
        s = system.statement
        stated = sm.Tuple(s.kinetic, s.potential, s.dissipation, *s.forces, *s.constraints, *s.positions)
        exponents = {power.exp for power in stated.atoms(sm.Pow)}
        rounded = sorted(stated.atoms(sm.Float) - exponents)
        meant = {r for r in stated.atoms(sm.Rational, sm.NumberSymbol) if not r.is_Rational or not _short(r)}
        fractions = sorted(meant - exponents)
        self._fractions = np.array([CONTEXT.mpf(str(sm.N(r, DIGITS))) for r in fractions], dtype=object)
        self._rounded = np.array([float(each) for each in rounded])
        self._statics = Statics(comoving(lower(system, apart=[*fractions, *rounded])))

    def numbers(self, parameters: np.ndarray) -> np.ndarray:
        """Parameters, and fractions that were rounded."""
        return np.concatenate([parameters, self._rounded])

    def __call__(self, z: np.ndarray, numbers: np.ndarray) -> AtRest:
        """The values at one configuration."""
        count = len(numbers) - len(self._rounded)
        known = [wide(numbers[:count]), self._fractions, wide(numbers[count:])]
        values = wide_values(self._statics.function.tape, z, np.concatenate(known))
        balance, held, pushed, M, C, K, A, B = self._statics.parts(values)
        return AtRest(balance, held, M, C, K, A, B, self._statics.nonholonomic, pushed)


def _short(r: sm.Rational) -> bool:
    """Whether double precision holds not only a number, but also products of a few."""
    return r.q & (r.q - 1) == 0 and abs(r.p) < SHORT


class Narrow(WideStatics):
    """The same where equations are not formulas: to the digits of double precision."""

    exact = False

    def __init__(self, system: System) -> None:
        self._statics, self._rounded = statics_of(system), np.zeros(0)

    def __call__(self, z: np.ndarray, numbers: np.ndarray) -> AtRest:
        at = self._statics.at(z.astype(float), numbers.astype(float))
        known: dict[str, Any] = {name: wide(getattr(at, name)) for name in ("balance", "held", "M", "C", "K", "A", "B")}
        return replace(at, **known)


@once(most=1)
def wide_statics_of(system: System) -> WideStatics:
    """The matrices at rest of a system, with as many digits as there are."""
    return (Narrow if system.rods else WideStatics)(system)
