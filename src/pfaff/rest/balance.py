"""The equations of rest, h(q) + A(q)ᵀp = 0 and φ(q) = 0, in units in which forces and levers are alike."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

from pfaff.algebra.newtons_method import Stopping, least_norm, newton
from pfaff.algebra.tolerances import NEWTON_STEPS, NOISE, RANK, UNCERTAIN, rank
from pfaff.flow.statics import AtRest, Statics, statics_of
from pfaff.rest.soft import Numbers, without_noise
from pfaff.statement.values import number_from
from pfaff.threads import known_property

if TYPE_CHECKING:
    from pfaff.case import Case

MOVED = 1e-3  # share of the largest movement on a family that a loaded coordinate must make to be held instead
WEAK = 1e-4  # constraints whose coefficients shrink to this, relatively, have lost their rank
SEEN = 4  # states whose matrices are kept: those at both ends of a step, and neighbours


class Balance:
    """The equations of rest in the unknowns that are not fixed."""

    def __init__(self, case: Case, fixed: Mapping[str, float]) -> None:
        self.case = case
        self.statics: Statics = statics_of(case.system)
        names = [*case.system.coordinate_names, *case.system.independent_reactions]
        for name in fixed:
            case.system.named(name, names, f"an equilibrium of {case.system.name} cannot fix")
        self.names = names
        self._seen: tuple[tuple[tuple[bytes, bytes, tuple[int, ...]], AtRest], ...] = ()
        self.fixed = {name: number_from(name, value) for name, value in fixed.items()}

    @known_property
    def free(self) -> np.ndarray:
        return np.array([name not in self.fixed for name in self.names])

    @known_property
    def equations(self) -> np.ndarray:
        """All rows but those of nonholonomic constraints without b(q), which demand nothing at rest."""
        rows = np.full(self.statics.n + self.statics.m, True)
        rows[self.statics.n : self.statics.n + self.statics.nonholonomic] = self.statics.demanding
        return rows

    @known_property
    def _places(self) -> tuple[np.ndarray, np.ndarray]:
        """Indices of the equations, and of the free unknowns."""
        return np.flatnonzero(self.equations), np.flatnonzero(self.free)

    def start(self, free_values: np.ndarray | float = 0.0) -> np.ndarray:
        z = np.array([self.fixed.get(name, 0.0) for name in self.names])
        z[self.free] = free_values
        return z

    def pinned(self, z: np.ndarray) -> Balance:
        """The same balance with family coordinates fixed where they are, so that solutions are isolated."""
        extra = self.family_coordinates(z)
        return self._holding({**self.fixed, **{self.names[i]: float(z[i]) for i in extra}}) if extra else self

    def released(self, fixed: Mapping[str, float] = MappingProxyType({})) -> Balance:
        """The same balance with nothing fixed but ``fixed``."""
        return self._holding(fixed)

    def of(self, case: Case) -> Balance:
        """The balance of the same system at other parameter values."""
        other = copy.copy(self)
        other.case = case
        return other

    def _holding(self, fixed: Mapping[str, float]) -> Balance:
        other = Balance(self.case, fixed)
        other._seen = self._seen
        return other

    def at(self, z: np.ndarray, parameters: np.ndarray) -> AtRest:
        """The matrices at rest; the last few are kept."""
        key = z.tobytes(), parameters.tobytes(), z.shape
        seen = self._seen
        for known, at in seen:
            if known == key:
                return at
        at = self.statics.at(z, parameters)
        self._seen = (key, at), *seen[: SEEN - 1]
        return at

    def evaluate(self, z: np.ndarray, parameters: np.ndarray) -> tuple[np.ndarray, np.ndarray, AtRest]:
        """Residual, Jacobian by all unknowns, and the matrices at rest; z may carry a batch axis."""
        at = self.at(z, parameters)
        return self.residual(z, parameters), at.jacobian, at

    def residual(self, z: np.ndarray, parameters: np.ndarray) -> np.ndarray:
        """Unbalanced forces, and violations of the constraints at rest."""
        at = self.at(z, parameters)
        return np.concatenate([at.balance, at.held])

    def pushed(self, z: np.ndarray, load: str, value: float, delta: float) -> np.ndarray:
        """The change of the residual with a load: its derivative if the system declares it, else by a difference."""
        numbers, declared = self.case.numbers_at(load, value), self.case.system.load
        at = self.at(z, numbers)
        if declared is not None and declared.name == load and at.pushed is not None:
            return at.pushed
        after = self.at(z, self.case.numbers_at(load, value + delta))
        return np.concatenate([after.balance - at.balance, after.held - at.held]) / delta

    def solve(
        self, z: np.ndarray, parameters: np.ndarray, steps: int = NEWTON_STEPS, units: np.ndarray | None = None
    ) -> tuple[np.ndarray, float]:
        """Newton's method with steps of least norm; the last iterate and its relative residual.

        Unknowns are measured in the units of a state nearby, if ``units`` are given, else in those of each iterate.
        """

        def step(z: np.ndarray) -> tuple[np.ndarray, float] | None:
            residual, jacobian, at = self.evaluate(z, parameters)
            if not (np.isfinite(residual).all() and np.isfinite(jacobian).all()):
                return None
            change = self._solved(at, residual, units)
            if not np.isfinite(change).all():
                return None
            away = float(_largest(change)) / (1 + float(_largest(z)))
            z = z + (change if away <= np.pi else np.pi / away * change)
            return z, float(_largest(change / self._sizes(z, residual, at.units if units is None else units)))

        with np.errstate(over="ignore", invalid="ignore"):  # unknowns that run away settle nowhere
            found = newton(step, z, Stopping(steps))
        # A residual that fades while the unknowns run away belongs to no equilibrium.
        return found.at, self.relative_residual(found.at, parameters, units) if found.settled else np.inf

    def _sizes(self, z: np.ndarray, residual: np.ndarray, units: np.ndarray) -> np.ndarray:
        """Sizes that steps are compared with: those of all unknowns, of what the present forces would move, and 1 for
        coordinates."""
        n = self.statics.n
        size = max(_largest(z / units), _largest((units * residual)[:n]))
        sizes = units * (size or 1.0)
        sizes[:n] = np.maximum(sizes[:n], 1 + _largest(z[:n]))
        return sizes

    def newton_step(
        self, z: np.ndarray, parameters: np.ndarray, residual: np.ndarray, units: np.ndarray | None = None
    ) -> np.ndarray:
        """The change of all unknowns that removes a residual to first order."""
        return self._solved(self.at(z, parameters), residual, units)

    def _solved(self, at: AtRest, residual: np.ndarray, units: np.ndarray | None) -> np.ndarray:
        """The solution of a regular square system, else the one of least norm, whose units are those of the state."""
        rows, columns = self._places
        jacobian, step = at.jacobian[rows[:, None], columns], np.zeros(len(residual))
        if len(rows) == len(columns):
            left, right = (at.units if units is None else units)[rows], (at.units if units is None else units)[columns]
            try:
                step[columns] = right * np.linalg.solve(jacobian * left[:, None] * right, -left * residual[rows])
                return step
            except np.linalg.LinAlgError:
                pass
        left, right = at.units[rows], at.units[columns]
        scaled = jacobian * left[:, None] * right
        step[columns] = right * least_norm(scaled, -left * residual[rows])
        return step

    def shaken(self, z: np.ndarray, parameters: np.ndarray, units: np.ndarray) -> np.ndarray:
        """How far rounding of the forces, each relative to the largest that takes part, may move every unknown."""
        at, n = self.at(z, parameters), self.statics.n
        forces = self._taking_part(z, at)
        shaken = np.concatenate([(units[:n] * forces).max(initial=0.0) / units[:n], self._moved(z, at, forces)])
        each = [np.abs(self._solved(at, one, units)) for one in np.diag(UNCERTAIN * shaken)]
        return np.sum(each, axis=0)

    def resists(self, z: np.ndarray, parameters: np.ndarray, pushed: np.ndarray) -> bool:
        """Whether any movement or reaction balances a small push, as far as rounding shows."""
        at, (rows, columns) = self.at(z, parameters), self._places
        scaled = at.jacobian[rows[:, None], columns] * at.units[rows, None] * at.units[columns]
        forces = (at.units * pushed)[rows]
        if not (np.isfinite(scaled).all() and np.isfinite(forces).all()):
            return True
        directions, sizes, _ = np.linalg.svd(scaled)
        free = directions[:, rank(sizes) :]
        return float(_largest(forces @ free)) <= NOISE * float(_largest(forces))

    def relative_residual(self, z: np.ndarray, parameters: np.ndarray, units: np.ndarray | None = None) -> float:
        """The largest unbalanced force, relative to the largest force that takes part in the balance.

        Both in units of the coordinates; a constraint is relative to its own terms, and to what such a force moves.
        """
        at = self.at(z, parameters)
        forces, d = self._taking_part(z, at), at.stiffness_units if units is None else units[: self.statics.n]
        with np.errstate(over="ignore"):  # no balance is seen beside forces beyond all numbers
            return max(_ratio(d * at.balance, (d * forces).max(initial=0.0)), self._off(z, at, forces))

    def residual_by_rows(self, z: np.ndarray, parameters: np.ndarray) -> float:
        """The largest unbalanced force, each relative to the forces of its own row, with the reactions kept."""
        at = self.at(z, parameters)
        forces = self._taking_part(z, at)
        return max(_ratio(at.balance, forces), self._off(z, at, forces))

    def _taking_part(self, z: np.ndarray, at: AtRest) -> np.ndarray:
        """Active forces, stiffness times coordinates, and reactions: sizes as if nothing cancelled."""
        q, p = z[: self.statics.n], z[self.statics.n :]
        with np.errstate(over="ignore"):  # no balance is seen beside forces beyond all numbers
            return np.abs(at.balance - p @ at.A) + np.abs(at.K) @ np.abs(q) + np.abs(p) @ np.abs(at.A)

    def _off(self, z: np.ndarray, at: AtRest, forces: np.ndarray) -> float:
        """Violations of the constraints at rest, relative to displacements and to what forces move."""
        return _ratio(at.held, self._moved(z, at, forces)) if at.held.any() else 0.0

    def _moved(self, z: np.ndarray, at: AtRest, forces: np.ndarray) -> np.ndarray:
        """What displacements, and those that forces make, would violate the constraints by."""
        n, s, d = self.statics.n, self.statics.nonholonomic, at.stiffness_units
        moved = d * (d * forces).max(initial=0.0)
        rows = np.concatenate([np.maximum(np.abs(at.A[:s]), np.abs(at.B[:s])), np.abs(at.A[s:])])
        return rows @ (np.abs(z[:n]) + moved)

    def in_balance(self, z: np.ndarray) -> bool:
        """Whether every force vanishes exactly, as in a straight column: Newton's method would stay there."""
        at = self.at(z, self.case.numbers)
        return not (at.balance.any() or at.held.any())

    def like(self, other: Balance, z: np.ndarray) -> bool:
        """Whether the balance of the same system under another load has the same derivatives there."""
        here, there = self.at(z, self.case.numbers), other.at(z, other.case.numbers)
        return all(np.array_equal(getattr(here, name), getattr(there, name)) for name in ("M", "K", "A", "B"))

    def regular(self, z: np.ndarray) -> bool:
        """Whether the constraints keep their rank: near a loss of it, boundless reactions balance anything."""
        n = self.statics.n
        here = self.statics(z[:n], z[n:], self.case.numbers).A
        origin = self.statics(0 * z[:n], 0 * z[n:], self.case.numbers).A
        if not len(here):
            return True
        return bool(np.linalg.svd(here)[1].min() > WEAK * max(np.abs(origin).max(), np.abs(here).max()))

    def nullspace(self, z: np.ndarray, everything: bool = False) -> np.ndarray:
        """Directions in the free unknowns (or in all) along which the balance persists to first order."""
        at = self.at(z, self.case.numbers)
        units, free = at.units, np.arange(len(z)) if everything else self._places[1]
        scaled = (at.jacobian * units[:, None] * units)[:, free]
        if not np.isfinite(scaled).all():
            return np.zeros((len(z), 0))
        _, values, rows = np.linalg.svd(scaled)
        along, terms = rows[rank(values) :].T, np.abs(scaled)
        if (terms @ np.abs(without_noise(along))).any():  # terms cancel, or hide what is soft
            numbers = Numbers(self.case.system, z, self.case.numbers)
            _, turned, k = numbers.eliminated(lambda at: (at.jacobian * units[:, None] * units)[:, free], terms)
            along = turned[:, k:]
        spanning = units[free, None] * along
        null = np.zeros((len(z), spanning.shape[1]))
        null[free] = np.linalg.qr(spanning)[0] if spanning.shape[1] > 1 else spanning / np.linalg.norm(spanning)
        return null

    def family_coordinates(self, z: np.ndarray) -> list[int]:
        """One coordinate for each direction of the family: one that the load pushes, else the one that moves most.

        Holding what the load pushes makes the constraints react; otherwise the family would give way to the load.
        """
        null = self.nullspace(z)
        loaded = self._loaded(z)
        chosen: list[int] = []
        while null.shape[1] > len(chosen):
            weight = np.sqrt(np.add.reduce(null * null, axis=1))[: self.statics.n]
            most = weight.max()
            if most < RANK:
                break
            best = int((weight + (loaded & (weight > MOVED * most))).argmax())
            chosen.append(best)
            direction = null[best] / weight[best]
            null = null - (null @ direction)[:, None] * direction
        return chosen

    def _loaded(self, z: np.ndarray) -> np.ndarray:
        """Which coordinates the declared load acts on directly."""
        n, load = self.statics.n, self.case.system.load
        if load is None:
            return np.full(n, False)
        bare = np.concatenate([z[:n], 0 * z[n:]]) if z[n:].any() else z
        push = np.abs(self.pushed(bare, load.name, float(self.case.values[load.name] or 0), 1.0)[:n])
        return push > RANK * push.max(initial=0.0)


def _largest(values: np.ndarray) -> float:
    """The largest absolute value."""
    return np.maximum.reduce(np.abs(values), initial=0.0)


def _ratio(parts: np.ndarray, usual: np.ndarray | float) -> float:
    """The largest part relative to the usual size; relative to one where that is zero."""
    if not np.isfinite(usual).all():
        return np.inf
    return float((np.abs(parts) / np.where(usual, usual, 1.0)).max(initial=0.0))
