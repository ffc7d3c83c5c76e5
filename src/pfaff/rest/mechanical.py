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

from pfaff import doors
from pfaff.algebra.allowed_inertia import allowed_inertia
from pfaff.algebra.tolerances import NEIGHBOUR, RANK
from pfaff.checks import Check, Checked, doubted, nearest
from pfaff.errors import ConstraintError, ConvergenceError, SingularMassError
from pfaff.flow.statics import all_reactions
from pfaff.flow.uniform_motion import frame_velocities
from pfaff.rest.balance import Balance
from pfaff.statement.constraints import numbered
from pfaff.statement.told import told
from pfaff.statement.values import huge, one_of, place

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from pfaff.case import Case

ACCEPTED = 1e-10  # residual of the balance, relative to its largest force, where Newton's method has settled
TIMES = 0.37, 1.91  # times at which forces are compared with those at time zero
STEADY = 1e-9  # relative changes with time below this count as none
SINGULAR = 1e-13  # inertia below this, relative to the largest in units in which those of coordinates are one, is zero


@told
@dataclass(frozen=True)
class Equilibrium(Checked):
    """A configuration at rest, the reactions p of its independent constraints, and the family it belongs to."""

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
        """The reaction of every constraint that is stated; redundant ones share theirs by least norm."""
        system = self.case.system
        values = all_reactions(system, self.q, self.p, self.case.numbers)
        return dict(zip(system.reaction_names, values.tolist(), strict=True))

    @property
    def velocities(self) -> dict[str, float]:
        """Velocities of the coordinates that uniformly moving constraints carry along; the others are zero."""
        return dict(zip(self.case.system.velocity_names, frame_velocities(self.case).tolist(), strict=True))

    @property
    def status(self) -> str:
        where = ", ".join(f"{name} = {value:g}" for name, value in self.fixed.items())
        carried = ", ".join(f"{name} = {value:g}" for name, value in self.velocities.items() if value)
        family = f"on a {self.family_dimension}-dimensional family" if self.family_dimension else "isolated"
        balance = f"to {self.residual:.1e}" if self.residual else "exactly"
        moving = f", in coordinates that move along with the constraints at {carried}" if carried else ""
        return doubted(f"in balance {balance}, {family}" + (f", at {where}" if where else "") + moving, self.checks)

    def _verify(self) -> Iterator[Check]:
        return doors.verified_rests.of_equilibrium(self)

    def __getitem__(self, name: str) -> float:
        known = {**self.coordinates, **self.reaction}
        known |= {alias: known[p] for alias, p in self.case.system.reaction_aliases.items()}
        return known[one_of(known, name, "no coordinate or reaction")]

    def plot(self) -> Figure:
        return doors.draw.draw_equilibria([self])


@told
@dataclass(frozen=True)
class Equilibria(Sequence[Equilibrium], Checked):
    """The equilibria found, nearest to the origin first, and how they were searched for."""

    found: tuple[Equilibrium, ...]
    search: str
    interrupted: bool = False

    @property
    def family_dimension(self) -> int:
        return self.found[0].family_dimension if self.found else 0

    @property
    def status(self) -> str:
        return doubted(f"{len(self.found)} found: {self.search}", self.checks)

    def _verify(self) -> Iterator[Check]:
        """Yield of each claim the check that is nearest to failing."""
        for alike in zip(*(each.checks for each in self.found), strict=True):
            yield nearest(alike)

    def __len__(self) -> int:
        return len(self.found)

    def __getitem__(self, index: Any) -> Any:
        return self.found[place(index)]

    def __iter__(self) -> Iterator[Equilibrium]:
        return iter(self.found)

    def plot(self) -> Figure:
        return doors.draw.draw_equilibria(self.found)


def equilibrium_near(case: Case, fixed: Mapping[str, float], start: np.ndarray | None = None) -> Equilibrium:
    """The equilibrium that Newton's method reaches from the origin, family coordinates left where they are."""
    return equilibrium_at(*rest_near(case, fixed, start))


def rest_near(case: Case, fixed: Mapping[str, float], start: np.ndarray | None = None) -> tuple[Balance, np.ndarray]:
    """The balance with family coordinates fixed, and the state (q, p) of the equilibrium near a start."""
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
    if pinned is not balance and np.array_equal(z, z0):
        return pinned, z
    # Reactions stiffen what seemed free at the start, where they were zero.
    found, isolated = pinned.pinned(z), balance.pinned(z)
    return isolated if len(isolated.fixed) < len(found.fixed) else found, z


def equilibrium_at(balance: Balance, z: np.ndarray) -> Equilibrium:
    """The result for a state that is known to be in balance, its family coordinates fixed."""
    check_rest(balance, z)
    return equilibrium_in(balance, z)


def equilibrium_in(balance: Balance, z: np.ndarray) -> Equilibrium:
    case, n = balance.case, balance.statics.n
    family = balance.released().nullspace(z, everything=True).shape[1]
    return Equilibrium(case, z[:n], z[n:], family, balance.fixed, balance.relative_residual(z, case.numbers))


def check_rest(balance: Balance, z: np.ndarray) -> None:
    """Raise where small motions lack inertia, or where the equilibrium does not last."""
    _check_mass(balance.case, balance, z)
    _check_redundant(balance.case, z[: balance.statics.n])
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
            f"{case.system.name} does not rest{f' under {load}' if load else ''}: its "
            f"{', '.join(case.system.constraint_titles[k] for k in moving)} demands a velocity. Ask for its steady "
            "motions, case.steady()"
            f"{follow if load else ''}"
        )


def check_finite(case: Case, balance: Balance, z: np.ndarray) -> None:
    residual, jacobian, _ = balance.evaluate(z, case.numbers)
    if not (np.isfinite(residual).all() and np.isfinite(jacobian).all()):
        culprits = huge(case.system.parameter_names, case.numbers)
        raise ConvergenceError(
            f"the forces of {case.system.name} are not finite at the start of the search: "
            f"fix a coordinate where they are, such as equilibrium({case.system.coordinate_names[0]}=1); if a load of "
            "zero is the cause, give it another value, case.at(…), at which hopf and branch then begin"
            + (f", or use other units: {culprits}" if culprits else "")
        )


def _check_spread(case: Case, inertia: np.ndarray) -> None:
    """Amplitudes of a rod have like stiffness: those of unlike inertia have frequencies as unlike."""
    for rod in case.system.rods:
        names = case.system.coordinate_names
        sizes = {name: inertia[names.index(name)] for name in rod.coordinate_names}
        heavy, light = (end(sizes, key=sizes.__getitem__) for end in (max, min))
        if 0 < sizes[light] < sizes[heavy] * np.finfo(float).eps ** 2:
            raise SingularMassError(
                f"{heavy} of {case.system.name} has {sizes[heavy] / sizes[light]:.0e} times the inertia of {light}: "
                "rounding hides the slow one of their frequencies; let masses differ by less, or hold still what is so "
                "heavy"
            )


def _check_mass(case: Case, balance: Balance, z: np.ndarray) -> None:
    at = balance.at(z, case.numbers)
    _check_spread(case, at.M.diagonal())
    scaled = at.M * at.inertial_units[:, None] * at.inertial_units
    lowered = scaled.copy()
    lowered.ravel()[:: len(lowered) + 1] -= SINGULAR * scaled.trace()
    try:
        np.linalg.cholesky(lowered)
        return
    except np.linalg.LinAlgError:
        found = allowed_inertia(at.M, at.A)
    if found.lacks(SINGULAR):
        along = case.system.coordinate_names[found.along]
        beside = " on the motions that its constraints allow" if len(at.A) else ""
        if found.least > -SINGULAR and (at.M.diagonal() > 0).all():
            raise SingularMassError(
                f"the mass matrix of {case.system.name} is singular{beside} as far as rounding shows, mostly along "
                f"{along}: let masses differ by less, or, if a motion has no inertia at all, give it some"
            )
        raise SingularMassError(
            f"the mass matrix of {case.system.name} is not positive definite{beside}, mostly along {along}: "
            f"give {along} positive inertia or remove it from the coordinates"
        )


def _check_redundant(case: Case, q: np.ndarray) -> None:
    """Raise where holonomic constraints that followed from the others for the default parameters do not for those of
    the case."""
    first = case.system.stated.nonholonomic
    rows = [k for k in case.system.redundant if k >= first]
    if not rows:
        return
    constraints = doors.initial.Constraints(case)
    phi, _, A, M = constraints(q, 0 * q)
    sizes = np.maximum(constraints.position_terms(q, 0.0), np.abs(A[first:]) @ doors.coordinate_sizes.usual_sizes(q, M))
    for k in rows:
        left = phi[k - first]
        if abs(left) > doors.completion.KEPT * sizes[k - first]:
            raise ConstraintError(
                f"{constraints.row_of(k)} of {case.system.name} follows from the others with its default parameters, "
                f"but not with these, and is violated by {abs(left):.2g}: give parameters for which all of them hold"
            )


def check_steady(case: Case, balance: Balance, z: np.ndarray) -> None:
    """With explicit time, rest and the small motions about it must be the same at all times."""
    if case.system.autonomous:
        return
    if _varies(balance, z, case.numbers):
        raise ConvergenceError(
            f"{case.system.name} depends on time explicitly and does not rest, or not in the same way at all "
            f"times: {_remedy(case)}"
        )


def _remedy(case: Case) -> str:
    """What to do about explicit time: other coordinates where constraints move, no excitation otherwise."""
    s = case.system.statement
    moving = [
        case.system.kept[k] for k, phi in enumerate(s.positions, start=s.nonholonomic) if s.time in phi.free_symbols
    ]
    if not moving or case.system.rods:
        return "switch the excitation off for equilibria and spectra"
    return (
        f"{numbered(case.system, moving)} moves, and inertia, forces or other constraints depend on where it is. State "
        "the system in coordinates that move along and in which time appears nowhere, or simulate it"
    )


def check_unforced(case: Case, balance: Balance, z: np.ndarray, load: str) -> None:
    """The load must be no excitation, with which nothing rests though all does without it."""
    if case.system.autonomous or load not in case.system.parameter_names:
        return
    value = float(case.numbers[case.system.parameter_names.index(load)])
    numbers = case.numbers_at(load, value + NEIGHBOUR * (1 + abs(value)))
    there, residual = balance.solve(z, numbers)
    if residual < ACCEPTED and _varies(balance, there, numbers):
        raise ConvergenceError(
            f"{load} excites {case.system.name} by terms that depend on time: where it acts nothing rests. Ask for the "
            "response to it, or vary another parameter"
        )


def _varies(balance: Balance, z: np.ndarray, numbers: np.ndarray) -> bool:
    """Whether a state that rests at time zero does not do so at other times, or small motions about it differ then."""
    n = balance.statics.n
    first = balance.statics(z[:n], z[n:], numbers)
    for time in TIMES:
        at = balance.statics(z[:n], z[n:], numbers, time)
        size = 1 + max(np.abs(at.K).max(), np.abs(at.C).max())
        changes = [np.abs(getattr(at, x) - getattr(first, x)).max(initial=0.0) for x in ("M", "C", "K", "A", "B")]
        if max(*changes, np.abs(at.balance).max(), np.abs(at.held).max(initial=0.0)) > STEADY * size:
            return True
    return False
