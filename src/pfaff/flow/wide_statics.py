"""Stiffness, damping, inertia and constraints at rest with more digits than double precision has."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import sympy as sm

from pfaff.flow.compiled import WIDE
from pfaff.flow.graph import lower
from pfaff.flow.statics import AtRest, Statics, statics_of
from pfaff.flow.uniform_motion import comoving
from pfaff.statement.system import System
from pfaff.threads import once

DIGITS = 40  # of numbers in a statement that double precision does not hold


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
        meant = {r for r in stated.atoms(sm.Rational, sm.NumberSymbol) if not r.is_Rational or r.q & (r.q - 1)}
        fractions = sorted(meant - exponents)
        self._fractions = np.array([WIDE(str(sm.N(r, DIGITS))) for r in fractions], dtype=WIDE)
        self._rounded = np.array([float(each) for each in rounded])
        self._statics = Statics(comoving(lower(system, apart=[*fractions, *rounded])))

    def numbers(self, parameters: np.ndarray) -> np.ndarray:
        """Parameters, and fractions that were rounded."""
        return np.concatenate([parameters, self._rounded])

    def __call__(self, z: np.ndarray, numbers: np.ndarray) -> AtRest:
        """The values at one configuration."""
        count = len(numbers) - len(self._rounded)
        known = [numbers[:count].astype(WIDE), self._fractions, numbers[count:].astype(WIDE)]
        values = self._statics.function.wide(z, np.concatenate(known))
        balance, held, pushed, M, C, K, A, B = self._statics.parts(values)
        return AtRest(balance, held, M, C, K, A, B, self._statics.nonholonomic, pushed)


class Narrow(WideStatics):
    """The same where equations are not formulas: to the digits of double precision."""

    exact = False

    def __init__(self, system: System) -> None:
        self._statics, self._rounded = statics_of(system), np.zeros(0)

    def __call__(self, z: np.ndarray, numbers: np.ndarray) -> AtRest:
        at = self._statics.at(z, numbers)
        known = ("balance", "held", "M", "C", "K", "A", "B")
        return replace(at, **{name: getattr(at, name).astype(WIDE) for name in known})


@once(most=1)
def wide_statics_of(system: System) -> WideStatics:
    """The matrices at rest of a system, with as many digits as there are."""
    return (Narrow if system.rods else WideStatics)(system)
