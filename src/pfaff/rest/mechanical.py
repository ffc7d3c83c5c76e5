"""Equilibria of constrained systems: all coordinates and reactions at once, family by family.

At rest h(q) + A(q)ᵀp = 0 and φ(q) = 0. A nonholonomic constraint adds the unknown p but, at rest, no
equation: equilibria come in families, whose dimension is the nullity of the Jacobian. A member is
selected by fixing as many coordinates or reactions by name.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from pfaff.algebra.newtons_method import newton
from pfaff.algebra.tolerances import NEWTON_STEPS, RANK, rank
from pfaff.algebra.units import inertial_units, row_units, stiffness_units
from pfaff.errors import ConvergenceError, SingularMassError
from pfaff.flow.statics import AtRest, Statics, statics_of
from pfaff.statement.told import told
from pfaff.statement.values import number_from, one_of, place
from pfaff.threads import cached_property

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from pfaff.case import Case

ACCEPTED = 1e-10  # residual of the balance, relative to its largest force, where Newton's method has settled
STEADY = 1e-9  # what changes with time by less, relatively, does not
MOVED = 1e-3  # of what moves most on a family, what a load must push to be held instead
WEAK = 1e-4  # constraints whose coefficients shrink to this, relatively, have lost their rank
SINGULAR = 1e-13  # inertia this small, relative to the largest in units in which those of coordinates are one, is none


@told
@dataclass(frozen=True)
class Equilibrium:
    """A configuration at rest, its reactions, and the family it belongs to."""

    case: Case
    q: np.ndarray
    p: np.ndarray
    family_dimension: int
    fixed: Mapping[str, float]
    residual: float

    @property
    def coordinates(self) -> dict[str, float]:
        return dict(zip(self.case.system.coordinate_names, self.q.tolist(), strict=True))

    @property
    def reaction(self) -> dict[str, float]:
        return dict(zip(self.case.system.reaction_names, self.p.tolist(), strict=True))

    @property
    def status(self) -> str:
        where = ", ".join(f"{name} = {value:g}" for name, value in self.fixed.items())
        family = f"on a {self.family_dimension}-dimensional family" if self.family_dimension else "isolated"
        return f"in balance to {self.residual:.1e}, {family}" + (f", at {where}" if where else "")

    def __getitem__(self, name: str) -> float:
        known = {**self.coordinates, **self.reaction}
        known |= {alias: known[p] for alias, p in self.case.system.reaction_aliases.items()}
        one_of(known, name, "no coordinate or reaction")
        return known[name]

    def plot(self) -> Figure:
        from pfaff.draw.configuration import draw_equilibria

        return draw_equilibria([self])


@told
@dataclass(frozen=True)
class Equilibria(Sequence[Equilibrium]):
    """The equilibria found, nearest to the origin first, and how they were searched for."""

    found: tuple[Equilibrium, ...]
    search: str
    interrupted: bool = False

    @property
    def family_dimension(self) -> int:
        return self.found[0].family_dimension if self.found else 0

    @property
    def status(self) -> str:
        return f"{len(self.found)} found: {self.search}"

    def __len__(self) -> int:
        return len(self.found)

    def __getitem__(self, index: Any) -> Any:
        return self.found[place(index)]

    def __iter__(self) -> Iterator[Equilibrium]:
        return iter(self.found)

    def plot(self) -> Figure:
        from pfaff.draw.configuration import draw_equilibria

        return draw_equilibria(self.found)


class Balance:
    """The equations of rest in the unknowns that are not fixed."""

    def __init__(self, case: Case, fixed: Mapping[str, float]) -> None:
        self.case = case
        self.statics: Statics = statics_of(case.system)
        names = [*case.system.coordinate_names, *case.system.reaction_names[: self.statics.m]]
        for name in fixed:
            one_of(names, name, "cannot fix {}, no coordinate or reaction")
        self.names = names
        self._last: tuple[tuple[bytes, bytes, tuple[int, ...]], AtRest] | None = None
        self._known_units: tuple[AtRest, np.ndarray] | None = None
        self.fixed = {name: number_from(name, value) for name, value in fixed.items()}

    @cached_property
    def free(self) -> np.ndarray:
        return np.array([name not in self.fixed for name in self.names])

    @cached_property
    def equations(self) -> np.ndarray:
        """All rows but those of nonholonomic constraints without b(q), which demand nothing at rest."""
        rows = np.full(self.statics.n + self.statics.m, True)
        rows[self.statics.n : self.statics.n + self.statics.nonholonomic] = self.statics.demanding
        return rows

    def start(self, free_values: np.ndarray | float = 0.0) -> np.ndarray:
        z = np.array([self.fixed.get(name, 0.0) for name in self.names])
        z[self.free] = free_values
        return z

    def pinned(self, z: np.ndarray) -> Balance:
        """The same balance with family coordinates fixed where they are, so that solutions are isolated."""
        extra = self.family_coordinates(z)
        held = Balance(self.case, {**self.fixed, **{self.names[i]: float(z[i]) for i in extra}})
        held._last, held._known_units = self._last, self._known_units
        return held

    def at(self, z: np.ndarray, parameters: np.ndarray) -> AtRest:
        """The matrices at rest; asked for again at once, they are not evaluated again."""
        key = z.tobytes(), parameters.tobytes(), z.shape
        last = self._last
        if last is None or last[0] != key:
            last = self._last = key, self.statics(z[: self.statics.n], z[self.statics.n :], parameters)
        return last[1]

    def evaluate(self, z: np.ndarray, parameters: np.ndarray) -> tuple[np.ndarray, np.ndarray, AtRest]:
        """Residual, Jacobian by all unknowns, and the matrices at rest; z may carry a batch axis."""
        m, s = self.statics.m, self.statics.nonholonomic
        at = self.at(z, parameters)
        blank = np.zeros((m, m, *z.shape[1:]))
        lower = np.concatenate([at.B[:s], at.A[s:]])
        jacobian = np.concatenate(
            [np.concatenate([at.K, at.A.swapaxes(0, 1)], axis=1), np.concatenate([lower, blank], axis=1)]
        )
        return np.concatenate([at.balance, at.held]), jacobian, at

    def solve(self, z: np.ndarray, parameters: np.ndarray, steps: int = NEWTON_STEPS) -> tuple[np.ndarray, float]:
        """Newton's method with steps of least norm; the last iterate and its relative residual."""

        def step(z: np.ndarray) -> tuple[np.ndarray, float] | None:
            residual, jacobian, at = self.evaluate(z, parameters)
            if not (np.isfinite(residual).all() and np.isfinite(jacobian).all()):
                return None
            units = self.units(at)
            change = self._solved(jacobian, residual, units)
            limit = np.pi / max(np.pi, np.abs(change).max(initial=0.0) / (1 + np.abs(z).max(initial=0.0)))
            z = z + limit * change
            return z, float((np.abs(change) / self._sizes(z, residual, units)).max(initial=0.0))

        found = newton(step, z, steps)
        # A residual that fades while the unknowns run away belongs to no equilibrium.
        return found.at, self.relative_residual(found.at, parameters) if found.settled else np.inf

    def _sizes(self, z: np.ndarray, residual: np.ndarray, units: np.ndarray) -> np.ndarray:
        """What steps are compared with: all unknowns, what the forces at hand would move, and 1 for coordinates."""
        n = self.statics.n
        size = max(np.abs(z / units).max(initial=0.0), np.abs(units * residual)[:n].max(initial=0.0))
        sizes = units * (size or 1.0)
        sizes[:n] = np.maximum(sizes[:n], 1 + np.abs(z[:n]).max(initial=0.0))
        return sizes

    def newton_step(self, z: np.ndarray, parameters: np.ndarray, residual: np.ndarray) -> np.ndarray:
        """The change of all unknowns that removes a residual to first order."""
        _, jacobian, at = self.evaluate(z, parameters)
        return self._solved(jacobian, residual, self.units(at))

    def _solved(self, jacobian: np.ndarray, residual: np.ndarray, units: np.ndarray) -> np.ndarray:
        free, equations = self.free, self.equations
        scaled = (jacobian * units[:, None] * units)[equations][:, free]
        step = np.zeros(len(units))
        step[free] = units[free] * _newton_step(scaled, -(units * residual)[equations])
        return step

    def units(self, at: AtRest) -> np.ndarray:
        """Units of rows and columns in which stiffnesses and levers are alike, so that ranks mean something."""
        d = self._coordinate_units(at)
        levers = np.maximum(np.abs(at.A), np.abs(at.B))
        return np.concatenate([d, row_units(levers * d)])

    def _coordinate_units(self, at: AtRest) -> np.ndarray:
        """Of the matrices that were asked for last, not computed again."""
        last = self._known_units
        if last is None or last[0] is not at:
            last = self._known_units = at, stiffness_units(at.K, at.M)
        return last[1]

    def relative_residual(self, z: np.ndarray, parameters: np.ndarray) -> float:
        """The largest unbalanced force, relative to the largest force that takes part in the balance.

        Both in units of the coordinates; a constraint is relative to its own terms, and to what such a force moves.
        """
        at, forces, moved = self._forces(z, parameters)
        return max(_ratio(moved * at.balance, (moved * forces).max(initial=0.0)), self._off(z, at, moved))

    def residual_by_rows(self, z: np.ndarray, parameters: np.ndarray) -> float:
        """The largest unbalanced force, each relative to the forces of its own row."""
        at, forces, moved = self._forces(z, parameters)
        return max(_ratio(at.balance, forces), self._off(z, at, moved))

    def _forces(self, z: np.ndarray, parameters: np.ndarray) -> tuple[AtRest, np.ndarray, np.ndarray]:
        """The matrices at rest, what takes part in the balance before anything cancels, and what it would move."""
        n = self.statics.n
        at = self.at(z, parameters)
        passive = self.statics(z[:n], np.zeros_like(z[n:]), parameters) if z[n:].any() else at
        forces = np.abs(passive.balance) + np.abs(passive.K) @ np.abs(z[:n]) + np.abs(at.A.T) @ np.abs(z[n:])
        d = self._coordinate_units(at)
        return at, forces, d * (d * forces).max(initial=0.0)

    def _off(self, z: np.ndarray, at: AtRest, moved: np.ndarray) -> float:
        """What the constraints demand at rest and do not have, relative to displacements."""
        n, s = self.statics.n, self.statics.nonholonomic
        rows = np.concatenate([np.maximum(np.abs(at.A[:s]), np.abs(at.B[:s])), np.abs(at.A[s:])])
        return _ratio(at.held, rows @ (np.abs(z[:n]) + moved))

    def in_balance(self, z: np.ndarray) -> bool:
        """Whether nothing is left of any force, as in a straight column: Newton's method would stay there."""
        at = self.at(z, self.case.numbers)
        return not (at.balance.any() or at.held.any())

    def like(self, other: Balance, z: np.ndarray) -> bool:
        """Whether the balance of the same system under another load has the same derivatives there."""
        here, there = self.at(z, self.case.numbers), other.at(z, other.case.numbers)
        return all(np.array_equal(getattr(here, name), getattr(there, name)) for name in ("M", "K", "A", "B"))

    def regular(self, z: np.ndarray) -> bool:
        """Whether the constraints hold on to something: near a loss of rank, boundless reactions balance anything."""
        n = self.statics.n
        here = self.statics(z[:n], z[n:], self.case.numbers).A
        origin = self.statics(0 * z[:n], 0 * z[n:], self.case.numbers).A
        if not len(here):
            return True
        return bool(np.linalg.svd(here)[1].min() > WEAK * max(np.abs(origin).max(), np.abs(here).max()))

    def nullspace(self, z: np.ndarray, everything: bool = False) -> np.ndarray:
        """Directions in the free unknowns (or in all) along which the balance persists to first order."""
        _, jacobian, at = self.evaluate(z, self.case.numbers)
        units = self.units(at)
        free = np.full(len(z), True) if everything else self.free
        _, values, rows = np.linalg.svd((jacobian * units[:, None] * units)[:, free])
        known = rank(values)
        null = np.zeros((len(z), free.sum() - known))
        null[free] = np.linalg.qr(units[free, None] * rows[known:].T)[0]
        return null

    def family_coordinates(self, z: np.ndarray) -> list[int]:
        """One coordinate for each direction of the family: one that the load pushes, else the one that moves most.

        Holding what the load pushes makes the constraints react; otherwise the family would give way to the load.
        """
        null = self.nullspace(z)
        loaded = self._loaded(z)
        chosen = []
        for _ in range(null.shape[1]):
            weight = np.linalg.norm(null[: self.statics.n], axis=1)
            if weight.max(initial=0.0) < RANK:
                break
            best = int(np.where(loaded & (weight > MOVED * weight.max()), weight + 1, weight).argmax())
            chosen.append(best)
            direction = null[best] / weight[best]
            null = null - np.outer(null @ direction, direction)
        return chosen

    def _loaded(self, z: np.ndarray) -> np.ndarray:
        """Which coordinates the declared load acts on directly."""
        n, load = self.statics.n, self.case.system.load
        if load is None:
            return np.full(n, False)
        numbers = self.case.numbers
        more = self.case.numbers_at(load.name, float(self.case.values[load.name] or 0) + 1.0)
        bare = np.concatenate([z[:n], 0 * z[n:]])
        push = self.statics(bare[:n], bare[n:], more).balance - self.at(bare, numbers).balance
        return np.abs(push) > RANK * np.abs(push).max(initial=0.0)

    def equilibrium(self, z: np.ndarray, case: Case | None = None) -> Equilibrium:
        case = case or self.case
        family = Balance(case, {}).nullspace(z, everything=True).shape[1]
        n = self.statics.n
        return Equilibrium(case, z[:n], z[n:], family, self.fixed, self.relative_residual(z, case.numbers))


def equilibrium_near(case: Case, fixed: Mapping[str, float], start: np.ndarray | None = None) -> Equilibrium:
    """The equilibrium that Newton's method reaches from the origin, family coordinates left where they are."""
    return equilibrium_at(*rest_near(case, fixed, start))


def rest_near(case: Case, fixed: Mapping[str, float], start: np.ndarray | None = None) -> tuple[Balance, np.ndarray]:
    """The same before anything else is known about it: its balance, with family coordinates fixed, and what rests."""
    balance = Balance(case, fixed)
    z0 = balance.start() if start is None else start
    check_finite(case, balance, z0)
    pinned = balance.pinned(z0)
    if balance.in_balance(z0):
        return pinned, z0
    z, residual = pinned.solve(z0, case.numbers)
    if not residual < ACCEPTED:
        pinned = balance
        z, residual = balance.solve(z0, case.numbers)
    if not residual < ACCEPTED:
        check_rests(balance, z0, case.system.load.name if case.system.load else None)
        raise ConvergenceError(
            f"no equilibrium of {case.system.name} was reached from the origin (relative residual {residual:.1e}): "
            "try case.equilibria(), other fixed coordinates, or a smaller load"
        )
    return pinned if pinned is not balance and np.array_equal(z, z0) else pinned.pinned(z), z


def equilibrium_at(balance: Balance, z: np.ndarray) -> Equilibrium:
    """What is known to be in balance, its family coordinates fixed, as a result."""
    check_rest(balance, z)
    return balance.equilibrium(z)


def check_rest(balance: Balance, z: np.ndarray) -> None:
    """Small motions need inertia, and an equilibrium that stays one."""
    _check_mass(balance.case, balance, z)
    check_steady(balance.case, balance, z)


def check_rests(balance: Balance, z: np.ndarray, load: str | None) -> None:
    """Constraints A q̇ + b(q) = 0 must let the system rest: their b must vanish there, or nearby to first order."""
    case, n, count = balance.case, balance.statics.n, balance.statics.nonholonomic
    at = balance.at(z, case.numbers)
    demanded, rows = at.held[:count], at.B[:count, balance.free[:n]]
    if not (demanded.any() and np.isfinite(demanded).all() and np.isfinite(rows).all()):
        return
    left = demanded + rows @ np.linalg.lstsq(rows, -demanded, rcond=RANK)[0]
    moving = np.flatnonzero(np.abs(left) > RANK * np.abs(demanded).max())
    if len(moving):
        follow = f"; follow them to where they lose stability by case.at({load}=…).steady().branch({load!r}, to=…)"
        raise ConvergenceError(
            f"{case.system.name} does not rest{f' under {load}' if load else ''}: its nonholonomic constraint "
            f"{', '.join(str(k + 1) for k in moving)} demands a velocity. Ask for its steady motions, case.steady()"
            f"{follow if load else ''}"
        )


def _ratio(parts: np.ndarray, usual: np.ndarray | float) -> float:
    """The largest part relative to what is usual; to one, where nothing is."""
    return float((np.abs(parts) / np.where(usual, usual, 1.0)).max(initial=0.0))


def _newton_step(jacobian: np.ndarray, right: np.ndarray) -> np.ndarray:
    """The solution of a regular square system, else the one of least norm."""
    if jacobian.shape[0] == jacobian.shape[1]:
        try:
            return np.linalg.solve(jacobian, right)
        except np.linalg.LinAlgError:
            pass
    return np.linalg.lstsq(jacobian, right, rcond=RANK)[0]


def check_finite(case: Case, balance: Balance, z: np.ndarray) -> None:
    residual, jacobian, _ = balance.evaluate(z, case.numbers)
    if not (np.isfinite(residual).all() and np.isfinite(jacobian).all()):
        raise ConvergenceError(
            f"the forces of {case.system.name} are not finite at the start of the search: "
            "fix a coordinate where they are, such as equilibrium(x=1)"
        )


def _check_mass(case: Case, balance: Balance, z: np.ndarray) -> None:
    M = balance.at(z, case.numbers).M
    d = inertial_units(M)
    values, vectors = np.linalg.eigh(M * d[:, None] * d)
    if values[0] <= SINGULAR * max(values[-1], np.finfo(float).tiny):
        along = case.system.coordinate_names[int(np.abs(vectors[:, 0]).argmax())]
        raise SingularMassError(
            f"the mass matrix of {case.system.name} is not positive definite, mostly along {along}: "
            f"give {along} positive inertia or remove it from the coordinates"
        )


def check_steady(case: Case, balance: Balance, z: np.ndarray) -> None:
    """With explicit time, rest and the small motions about it must be the same at all times."""
    if case.system.autonomous:
        return
    n = balance.statics.n
    first = balance.statics(z[:n], z[n:], case.numbers)
    for time in (0.37, 1.91):
        at = balance.statics(z[:n], z[n:], case.numbers, time)
        size = 1 + max(np.abs(at.K).max(), np.abs(at.C).max())
        changes = [np.abs(getattr(at, x) - getattr(first, x)).max(initial=0.0) for x in ("M", "C", "K", "A", "B")]
        if max(*changes, np.abs(at.balance).max(), np.abs(at.held).max(initial=0.0)) > STEADY * size:
            raise ConvergenceError(
                f"{case.system.name} depends on time explicitly and does not rest, or not in the same way at all "
                "times: switch the excitation off for equilibria and spectra"
            )
