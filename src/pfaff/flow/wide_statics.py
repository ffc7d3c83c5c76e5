"""Stiffness, damping, inertia and constraints at rest with more digits than double precision has."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import sympy as sm

from pfaff.flow.lagrangian import lower
from pfaff.flow.more_digits import CONTEXT, DIGITS, wide, wide_change, wide_registers, wide_values
from pfaff.flow.statics import AtRest, Statics, statics_of
from pfaff.flow.uniform_motion import comoving
from pfaff.statement.system import System
from pfaff.threads import once

MATRICES = ("balance", "held", "M", "C", "K", "A", "B")
STEP = 2.0**-20  # relative change of a number that tells what its rounding does
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
        return self._at(wide_values(self._statics.function.tape, z, self._known(numbers)))

    def slopes(self, z: np.ndarray, numbers: np.ndarray) -> Iterator[AtRest]:
        """What every coordinate, reaction and number changes by its relative change, in double precision."""
        tape = self._statics.function.tape
        registers, count = wide_registers(tape, z, self._known(numbers)), len(numbers) - len(self._rounded)
        known = [k + (len(self._fractions) if k >= count else 0) for k in range(len(numbers))]
        for place in [*range(tape.n), *(tape.n + 1 + k for k in known if k < tape.p)]:
            if registers[place]:
                change = wide_change(tape, registers, place, registers[place] * (1 + STEP))
                yield self._at(change / STEP)

    def _known(self, numbers: np.ndarray) -> np.ndarray:
        count = len(numbers) - len(self._rounded)
        return np.concatenate([wide(numbers[:count]), self._fractions, wide(numbers[count:])])

    def _at(self, values: np.ndarray) -> AtRest:
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
        known: dict[str, Any] = {name: wide(getattr(at, name)) for name in MATRICES}
        return replace(at, **known)

    def slopes(self, z: np.ndarray, numbers: np.ndarray) -> Iterator[AtRest]:
        inputs = np.concatenate([z, numbers]).astype(float)
        here = self._statics.at(inputs[: len(z)], inputs[len(z) :])
        for k in np.flatnonzero(inputs):
            beside = inputs.copy()
            beside[k] *= 1 + STEP
            there = self._statics.at(beside[: len(z)], beside[len(z) :])
            yield replace(here, **{name: (getattr(there, name) - getattr(here, name)) / STEP for name in MATRICES})


@once(most=1)
def wide_statics_of(system: System) -> WideStatics:
    """The matrices at rest of a system, with as many digits as there are."""
    return (Narrow if system.rods else WideStatics)(system)
