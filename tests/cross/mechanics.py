"""A mechanical system in plain symbols, told to pfaff and to the references alike, and ways to state it otherwise."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import sympy as sm

import pfaff

t = sm.Symbol("t")
NEWTON_STEPS = 60


@dataclass(frozen=True, eq=False)
class Mechanics:
    """T, V, D and forces in coordinates q and velocities v; rows c(q, v) = A v + b that roll, φ(q) that are held."""

    q: tuple[sm.Symbol, ...]
    kinetic: sm.Expr
    potential: sm.Expr
    dissipation: sm.Expr = sm.S.Zero
    forces: Mapping[sm.Symbol, sm.Expr] = field(default_factory=dict)
    rolling: tuple[sm.Expr, ...] = ()
    held: tuple[sm.Expr, ...] = ()
    parameters: Mapping[sm.Symbol, float] = field(default_factory=dict)
    load: sm.Symbol | None = None
    name: str = "random"
    quasi: Mapping[str, sm.Expr] = field(default_factory=dict)  # quasi-velocities

    @property
    def v(self) -> tuple[sm.Symbol, ...]:
        return tuple(velocity(q) for q in self.q)

    @property
    def names(self) -> list[str]:
        return [q.name for q in self.q]

    @property
    def values(self) -> np.ndarray:
        return np.array([float(value) for value in self.parameters.values()])

    @property
    def always_integrable(self) -> bool:
        """Whether so few velocities are free that no constraint can help being integrable."""
        return len(self.q) - len(self.rolling) - len(self.held) < 2

    @cached_property
    def system(self) -> pfaff.System:
        """The same, as a user states it."""
        functions = {q: sm.Function(q.name)(t) for q in self.q}
        rates = {velocity(q): function.diff(t) for q, function in functions.items()}

        def stated(expression: sm.Expr) -> sm.Expr:
            return sm.sympify(expression).xreplace({**functions, **rates})

        return pfaff.System(
            coordinates=list(functions.values()),
            kinetic=stated(self.kinetic),
            potential=stated(self.potential),
            dissipation=stated(self.dissipation),
            forces={functions[q]: stated(force) for q, force in self.forces.items()},
            nonholonomic_constraints=[stated(row) for row in self.rolling],
            holonomic_constraints=[stated(row) for row in self.held],
            parameters=dict(self.parameters),
            load=self.load,
            name=self.name,
            quasi_velocities={name: stated(form) for name, form in self.quasi.items()},
            accept_integrable=bool(self.rolling) and self.always_integrable,
        )


def mechanics_of(system: pfaff.System) -> Mechanics:
    """A stated system in plain symbols, such as one of the atlas."""
    said = system.statement
    return Mechanics(
        said.q,
        said.kinetic,
        said.potential,
        said.dissipation,
        {q: force for q, force in zip(said.q, said.forces, strict=True) if force != 0},
        said.constraints[: len(system.nonholonomic_constraints)],
        said.positions,
        system.parameters,
        system.load,
        system.name,
    )


def velocity(q: sm.Symbol) -> sm.Symbol:
    return sm.Symbol(f"{q.name}_dot", real=True)


@dataclass(frozen=True, eq=False)
class Change:
    """The same system in other words: q = g(Q), t = time·t', energies times ``energy``, rows mixed, names changed.

    ``shape`` gives every old coordinate by the new ones, in the order in which the new ones are stated. Rows that roll
    become ``mix``·c + ``add``·φ̇, those that are held ``factor``·φ. The load is ``load`` times the new one.
    """

    old: Mechanics
    new: tuple[sm.Symbol, ...]
    shape: Mapping[sm.Symbol, sm.Expr]
    time: float = 1.0
    energy: float = 1.0
    load: float = 1.0
    mix: sm.Matrix | None = None
    add: sm.Matrix | None = None
    factor: sm.Expr = sm.S.One
    renamed: Mapping[sm.Symbol, sm.Symbol] = field(default_factory=dict)

    @cached_property
    def jacobian(self) -> sm.Matrix:
        """∂q/∂Q."""
        return sm.Matrix([self.shape[q] for q in self.old.q]).jacobian(self.new)

    @cached_property
    def mechanics(self) -> Mechanics:
        """The system in the new words. Powers scale with energy/time, whence D' = energy·time·D."""
        old, rates = self.old, self.jacobian * sm.Matrix([velocity(Q) for Q in self.new]) / self.time
        words = {**self.shape, **dict(zip(old.v, rates, strict=True)), t: self.time * t, **self.renamed}
        if old.load is not None:
            words[old.load] = self.load * self.renamed.get(old.load, old.load)

        def said(expression: sm.Expr) -> sm.Expr:
            return sm.sympify(expression).xreplace(words)

        pushes = sm.Matrix([said(old.forces.get(q, 0)) for q in old.q])
        forces = zip(self.new, self.energy * self.jacobian.T * pushes, strict=True)
        values = {
            self.renamed.get(name, name): value / self.load if name == old.load else value
            for name, value in old.parameters.items()
        }
        return replace(
            old,
            q=self.new,
            kinetic=self.energy * said(old.kinetic),
            potential=self.energy * said(old.potential),
            dissipation=self.energy * self.time * said(old.dissipation),
            forces={Q: force for Q, force in forces if force != 0},
            rolling=tuple(said(row) for row in self._rows),
            held=tuple(said(self.factor * phi) for phi in old.held),
            quasi={name: said(form) for name, form in old.quasi.items()},
            parameters=dict(sorted(values.items(), key=lambda each: each[0].name)) if self.renamed else values,
            load=self.renamed.get(old.load, old.load),
        )

    @cached_property
    def _mixing(self) -> tuple[sm.Matrix, sm.Matrix]:
        m, h = len(self.old.rolling), len(self.old.held)
        return self.mix if self.mix is not None else sm.eye(m), self.add if self.add is not None else sm.zeros(m, h)

    @property
    def _rows(self) -> list[sm.Expr]:
        mix, add = self._mixing
        rates = [sum(phi.diff(q) * v for q, v in zip(self.old.q, self.old.v, strict=True)) for phi in self.old.held]
        m, h = len(self.old.rolling), len(self.old.held)
        return list(mix * sm.Matrix(m, 1, self.old.rolling) + add * sm.Matrix(h, 1, rates)) if m else []

    @cached_property
    def _numeric(self) -> tuple[Any, Any, Any, Any, Any]:
        mix, add = self._mixing
        parameters = {**self.old.parameters}
        q, J = sm.Matrix([self.shape[q] for q in self.old.q]), self.jacobian
        place = [sm.lambdify([self.new], each.subs(parameters), "numpy") for each in (q, J)]
        rows = [
            sm.lambdify([self.old.q], sm.sympify(each).subs(parameters), "numpy") for each in (mix, add, self.factor)
        ]
        return (*place, *rows)  # type: ignore[return-value]

    def jacobian_at(self, Q: np.ndarray) -> np.ndarray:
        return np.asarray(self._numeric[1](Q), dtype=float)

    def place(self, Q: np.ndarray) -> np.ndarray:
        return np.asarray(self._numeric[0](Q), dtype=float).ravel()

    def back(self, Q: np.ndarray, V: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Coordinates and velocities in the old words; several columns, too."""
        if np.ndim(Q) == 2:
            each = [self.back(*pair) for pair in zip(Q.T, V.T, strict=True)]
            return np.array([q for q, _ in each]).T, np.array([v for _, v in each]).T
        return self.place(Q), self.jacobian_at(Q) @ V / self.time

    def accelerations(self, Q: np.ndarray, V: np.ndarray, A: np.ndarray) -> np.ndarray:
        """q̈ = (∂q/∂Q Q̈ + (∂q/∂Q)˙ Q̇)/time²."""
        rates = sm.Matrix([velocity(Q) for Q in self.new])
        turning = (self.jacobian * rates).jacobian(self.new) * rates
        bent = sm.lambdify([self.new, list(rates)], turning.subs(self.old.parameters), "numpy")(Q, V)
        return (self.jacobian_at(Q) @ A + np.asarray(bent, dtype=float).ravel()) / self.time**2

    def forth(self, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Coordinates and velocities in the new words, by Newton's method."""
        Q = np.zeros(len(self.new))
        for _ in range(NEWTON_STEPS):
            Q = Q - np.linalg.solve(self.jacobian_at(Q), self.place(Q) - q)
        assert np.abs(self.place(Q) - q).max() <= 1e-13 * (1 + np.abs(q).max())
        return Q, np.linalg.solve(self.jacobian_at(Q), v) * self.time

    def reactions(self, q: np.ndarray, p: np.ndarray) -> np.ndarray:
        """Reactions in the old words: Aᵀp is what the new rows do, in units of energy (and of time where they roll)."""
        m = len(self.old.rolling)
        mix, add, factor = (np.asarray(each(q), dtype=float) for each in self._numeric[2:])
        rolls = p[:m] / (self.energy * self.time)
        held = factor * p[m:] / self.energy
        return np.concatenate([mix.T @ rolls, held + add.reshape(m, -1).T @ rolls]) if m else held


def units(old: Mechanics, scales: Sequence[float], time: float, energy: float, load: float) -> Change:
    """Every coordinate, time, energy and the load in units of their own."""
    shape = {q: sm.Float(scale) * q for q, scale in zip(old.q, scales, strict=True)}
    return Change(old, old.q, shape, time=time, energy=energy, load=load)
