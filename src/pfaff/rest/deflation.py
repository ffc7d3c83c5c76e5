"""All equilibria within bounds: random starts, curves of rest from every known one, and deflation.

Deflation (Farrell, Birkisson and Funke, SIAM J. Sci. Comput. 37, 2015) multiplies the equations by factors that grow
near known solutions, so that Newton's method converges to another one: its step is the usual one, longer or shorter.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from pfaff.algebra.newtons_method import Stopping, least_norm, newton
from pfaff.algebra.tolerances import SAME, SETTLED
from pfaff.errors import ParameterError, number_of
from pfaff.rest.balance import Balance
from pfaff.rest.fronts import Fronts, units_of
from pfaff.rest.many_starts import checked_search, family_fixed, settled_from
from pfaff.rest.mechanical import ACCEPTED, Equilibria, check_steady, equilibrium_in
from pfaff.statement.values import by_name, number_within
from pfaff.threads import cached_property

if TYPE_CHECKING:
    from pfaff.case import Case

FEW = 200  # random starts: curves of rest lead on from what they find
DEFLATED = 128  # starts of a round of deflation
ROUNDS = 4  # most rounds of deflation, each after one that found something
OTHERS = 2  # forces beside the load along which curves leave the known equilibria
TRIED = 40  # steps from a deflated start, most of which lead nowhere


@dataclass
class Known:
    """Equilibria within bounds, without repetition, and how each search has added to them."""

    balance: Balance
    lower: np.ndarray
    upper: np.ndarray
    found: list[np.ndarray] = field(default_factory=list)
    tally: dict[str, int] = field(default_factory=dict)
    lost: int = 0

    @cached_property
    def units(self) -> np.ndarray:
        return units_of(self.balance)[1]

    def number(self, z: np.ndarray) -> int | None:
        if not self.found:
            return None
        apart = np.abs((np.array(self.found) - z) / self.units).max(axis=1)
        k = int(apart.argmin())
        return k if apart[k] < SAME * (1 + np.abs(z / self.units).max()) else None

    def add(self, z: np.ndarray, how: str) -> int | None:
        """Its index, whether it is new or not; None if it is no equilibrium or out of bounds."""
        self.tally.setdefault(how, 0)
        polished, residual = self.balance.solve(z, self.balance.case.numbers)
        inside = ((polished >= self.lower) & (polished <= self.upper)).all()
        if not (residual < ACCEPTED and inside and self.balance.regular(polished)):
            return None
        known = self.number(polished)
        if known is not None:
            return known
        check_steady(self.balance.case, self.balance, polished)
        self.found.append(polished)
        self.tally[how] += 1
        return len(self.found) - 1


def all_equilibria(
    case: Case, fixed: Mapping[str, float], within: Any, starts: int, box: float, seed: int
) -> Equilibria:
    """All equilibria within bounds of coordinates or reactions by name, as far as several searches tell."""
    starts, box, seed = checked_search(starts, box, seed)
    balance, family = family_fixed(case, fixed, seed)
    lower, upper, bounds = _bounds(balance, within)
    known, generator = Known(balance, lower, upper), np.random.default_rng(seed)
    for z in settled_from(balance, min(starts, FEW), box, generator).T:
        known.add(z, f"by Newton from {min(starts, FEW)} random starts")
    forces = _forces(balance, generator)
    _along(known, forces[:1], "along the load" if case.system.load else "along a force")
    deflation = f"by deflation from {DEFLATED} starts"
    known.tally[deflation] = 0
    for _ in range(ROUNDS):
        before = len(known.found)
        for z in _deflated(known, box, generator):
            known.add(z, deflation)
        if len(known.found) == before:
            break
        _along(known, forces[:1], "along the load" if case.system.load else "along a force")
    _along(known, forces[1:], f"along {len(forces) - 1} other forces")
    first = next(iter(bounds))
    order = sorted(known.found, key=lambda z: (abs(z[balance.names.index(first)]), np.linalg.norm(z)))
    return Equilibria(tuple(equilibrium_in(balance, z) for z in order), _told(known, bounds, family))


def _told(known: Known, bounds: Mapping[str, float], family: list[str]) -> str:
    """How complete the list is: what each search has added, and whether the last ones added anything."""
    where = ", ".join(f"|{name}| ≤ {limit:g}" for name, limit in bounds.items())
    parts = ", ".join(f"{count} {how}" for how, count in known.tally.items())
    *_, last = known.tally.values()
    complete = "the last search found no more" if not last else "the last search still found some: more may exist"
    told = f"all that were met with {where}: {parts}; {complete}"
    if known.lost:
        told += f"; {number_of(known.lost, 'curve')} of rest could not be followed to the end"
    return told + (f"; family coordinate {', '.join(family)} set to 0" if family else "")


def _bounds(balance: Balance, within: Any) -> tuple[np.ndarray, np.ndarray, dict[str, float]]:
    aliases = balance.case.system.reaction_aliases
    given = {aliases.get(name, name): bound for name, bound in by_name("within", within, "{'p': 20}").items()}
    if not given:
        raise ParameterError("within what? Give a bound for a coordinate or reaction by name, within={'p': 20}")
    upper = np.full(len(balance.names), np.inf)
    bounds = {}
    for name, value in given.items():
        balance.case.system.named(name, balance.names, "no bound for {}, no coordinate or reaction")
        bounds[name] = number_within(f"within[{name!r}]", value, lambda x: x > 0, "give a positive number")
        upper[balance.names.index(name)] = bounds[name]
    return -upper, upper, bounds


def _forces(balance: Balance, generator: np.random.Generator) -> list[np.ndarray]:
    """The direction in which the declared load pushes, if there is one, and others at random, in units of the rows."""
    case, n = balance.case, balance.statics.n
    z = balance.start()
    _, _, at = balance.evaluate(z, case.numbers)
    units, forces = at.units, []
    load = case.system.load
    if load is not None:
        more = case.numbers_at(load.name, float(case.values[load.name] or 0) + 1.0)
        push = balance.evaluate(z, more)[0] - balance.evaluate(z, case.numbers)[0]
        if np.abs(push[:n]).max(initial=0.0) > 0:
            forces.append(push)
    count = OTHERS + 1 - len(forces)
    return [*forces, *(generator.normal(size=(count, len(z))) / units)]


def _along(known: Known, forces: list[np.ndarray], how: str) -> None:
    """Follow curves of rest under each force from all that is known, and from all that they lead to."""
    known.tally.setdefault(how, 0)
    for force in forces:
        fronts = Fronts(known.balance, force, known.lower, known.upper)
        if not fronts.square:
            return
        done: set[tuple[int, int]] = set()
        while True:
            starts = [(k, z, side) for k, z in enumerate(known.found) for side in (1, -1) if (k, side) not in done]
            if not starts:
                break
            done |= {(k, side) for k, _, side in starts}
            for end in fronts.follow(starts):
                known.lost += bool(end.why)
                number = known.add(end.z, how) if end.z is not None else None
                if number is not None:
                    done.add((number, end.side))


def _deflated(known: Known, box: float, generator: np.random.Generator) -> list[np.ndarray]:
    """What Newton's method converges to away from every known equilibrium."""
    balance = known.balance
    angles = balance.free & (np.arange(len(balance.names)) < balance.statics.n)
    found: list[np.ndarray] = []
    for _ in range(DEFLATED):
        z = balance.start()
        z[angles] = generator.uniform(-box, box, angles.sum())
        settled = _newton_deflated(balance, z, np.array([*known.found, *found]), known.units)
        if settled is not None:
            found.append(settled)
    return found


def _newton_deflated(balance: Balance, z: np.ndarray, known: np.ndarray, sizes: np.ndarray) -> np.ndarray | None:
    """Newton's method for Π (1/d² + 1) F, with d the distances from known equilibria in units of the unknowns."""
    free, numbers = balance.free, balance.case.numbers

    def step(z: np.ndarray) -> tuple[np.ndarray, float] | None:
        residual, jacobian, at = balance.evaluate(z, numbers)
        if not (np.isfinite(residual).all() and np.isfinite(jacobian).all()):
            return None
        units = at.units
        scaled = (jacobian * units[:, None] * units)[balance.equations][:, free]
        try:
            change = np.linalg.solve(scaled, -(units * residual)[balance.equations])
        except np.linalg.LinAlgError:
            change = least_norm(scaled, -(units * residual)[balance.equations])
        moved, factor = (units / sizes)[free] * change, 1.0
        if len(known):
            away = ((z - known) / sizes)[:, free]
            square = np.maximum((away**2).sum(axis=1), 1e-30)
            gradient = -2 * (away / (square * (1 + square))[:, None]).sum(axis=0)  # of the logarithm of the product
            along = gradient @ moved
            factor = 1 / (1 - along) if along != 1 else 1.0
        size = np.abs(factor * moved).max() / (1 + np.abs(z / sizes).max())
        z = z.copy()
        z[free] += sizes[free] * factor * moved / max(1.0, size)
        return z, float(np.abs(moved).max() / (1 + np.abs(z / sizes).max()))

    found = newton(step, z, Stopping(TRIED, exact=SETTLED))
    return found.at if found.ceased else None
