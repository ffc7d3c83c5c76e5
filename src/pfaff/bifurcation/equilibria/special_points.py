"""Branches of equilibria and steady motions in a parameter, with every special point on the way located.

Folds are where the branch turns back in the parameter; branch points where the bordered Jacobian is singular; Hopf
points where Π(λ_i + λ_j) vanishes with a pair on the imaginary axis, which at a Bogdanov–Takens point is a double zero
at a fold. Several eigenvalues that cross together, and undamped pairs that meet, are found by ``together``. On a
family of equilibria an eigenvalue may also pass zero while the branch neither turns nor branches: a divergence. Doedel,
Keller and Kernévez (1991); Govaerts, Numerical Methods for Bifurcations of Dynamical Equilibria (2000).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from pfaff.algebra.bordering import row_sizes
from pfaff.algebra.cubics import slope_shares
from pfaff.algebra.structural_zeros import Deflation
from pfaff.bifurcation.equilibria.branch_points import polished
from pfaff.bifurcation.equilibria.eigenvalues import (
    MEETING,
    bounded,
    hopf_product,
    imaginary,
    met,
    physical,
    signed_log,
    slopes,
    unstable,
)
from pfaff.bifurcation.equilibria.full_balance import full_balance
from pfaff.bifurcation.equilibria.regular import BRANCHING, EQUILIBRIA, FOLD, HOPF, Regular
from pfaff.bifurcation.equilibria.rest_equations import RestEquations
from pfaff.bifurcation.equilibria.together import DOUBLE, crossing_together, rates_between
from pfaff.bifurcation.equilibria.zero_forms import Null, null_of
from pfaff.checks.branch_promises import SINGULAR
from pfaff.continuation.dense import Spot
from pfaff.continuation.endings import Refused
from pfaff.continuation.kinds import MULTIPLE, Kind
from pfaff.continuation.problem import Asked, Event, Missed
from pfaff.threads import known_property

FLAT = 0.1  # slopes of the parameter below this share of those at both ends are examined
LEVEL = 1e-8  # bending of the parameter along a branch that is rounding
AT_ZERO = 1e-9  # size of an eigenvalue that passes zero with a pair on the imaginary axis, relative to the pair
ASIDE = 1e-2  # share of a step beside a branch point at which the tangent is that of the branch
BESIDE = 0.05  # distance, in units, at which it is seen whether the parameter turns where it is flat
SLOPES = np.column_stack(slope_shares(np.linspace(0, 1, 17)[1:-1]))  # of Hermite's cubic at places in a step


@dataclass(frozen=True, eq=False)
class Facts:
    """What is known about a point of a branch, each computed on demand: eigenvalues with their slopes, signs and
    logarithms of products."""

    problem: Rests
    z: np.ndarray
    tangent: np.ndarray
    suspects = None  # tests that change sign, or may do so twice, in the step that leads to it, if known
    turns = False  # whether it is known that the parameter turns

    @known_property
    def jacobian(self) -> np.ndarray:
        return self.problem.jacobian(self.z)

    def tell(self, **known: Any) -> None:
        """Record what is known already, by name."""
        self.__dict__.update(known)

    @known_property
    def _deflate(self) -> Callable[[np.ndarray], np.ndarray]:
        s = self.problem.equations
        return Deflation.about(self.jacobian[: s.n, : s.n], s.zeros) if s.zeros else np.asarray

    @known_property
    def _spectrum(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """All eigenvalues, their vectors, and which of them are physical."""
        s = self.problem.equations
        values, vectors = np.linalg.eig(self._deflate(self.jacobian[: s.n, : s.n]))
        return values, vectors, physical(values, s.flow.settle, s.attracting)

    @known_property
    def eigenvalues(self) -> np.ndarray:
        values, _, real = self._spectrum
        return values[real]

    @known_property
    def slopes(self) -> np.ndarray:
        s, deflate = self.problem.equations, self._deflate
        (after, before), lengths = s.probes(self.z, self.tangent[:, None])
        after, before = after[:, : s.n, 0], before[:, : s.n, 0]
        values, vectors, real = self._spectrum
        return slopes(values, vectors, (deflate(after) - deflate(before)) / (2 * lengths[0]))[real]

    @known_property
    def watched(self) -> tuple[np.ndarray, np.ndarray]:
        """The relevant eigenvalues, with their slopes: all of them, or the rightmost."""
        return self.eigenvalues, self.slopes

    @property
    def turning(self) -> float:
        return float(self.tangent[-1] / self.problem.equations.sizes[-1])

    @known_property
    def crossing(self) -> tuple[float, float]:
        sizes = self.problem.equations.sizes
        sign, log = np.linalg.slogdet(np.vstack([self.jacobian * sizes, self.tangent / sizes]))
        return float(sign), float(log)

    @known_property
    def hopf(self) -> tuple[float, float]:
        return hopf_product(self.eigenvalues, self.problem.undamped)

    @known_property
    def zero(self) -> tuple[float, float]:
        values, still = self.eigenvalues, self.problem.still
        return signed_log(values[np.argsort(np.abs(values))[still:]])


@dataclass(frozen=True, eq=False)
class Rests(Regular):
    """Equilibria along one free parameter, as a problem of continuation."""

    equations: RestEquations
    undamped: int  # number of sums of eigenvalues that vanish everywhere
    still: int = 0  # number of eigenvalues that vanish everywhere
    kind = EQUILIBRIA
    numbers: ClassVar[Mapping[str, int]] = {"fold": FOLD, "branch point": BRANCHING, "hopf": HOPF}
    located_by_number = ("hopf",)
    passable = ("fold", "hopf")

    @property
    def walks(self) -> bool:  # type: ignore[override]
        return not (self.undamped or self.still)

    def residual(self, z: np.ndarray) -> np.ndarray:
        return self.equations.residual(z)

    def jacobian(self, z: np.ndarray) -> np.ndarray:
        return self.equations.jacobian(z)

    def units(self, z: np.ndarray) -> np.ndarray:
        return self.equations.sizes

    def rebased(self, z: np.ndarray) -> Rests:
        s = self.equations.rebased(z)
        return self if s is self.equations else replace(self, equations=s)

    def at_step(self, units: np.ndarray, b: np.ndarray, c: np.ndarray) -> Rests:
        s = self.equations.in_units(units)
        return self if s is self.equations else Rests(s, self.undamped, self.still)

    def evaluated(self, z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return self.equations.evaluated(z)

    def inspect(self, z: np.ndarray, tangent: np.ndarray) -> Facts:
        if self.equations.k:
            self.equations.check_rest(z)
        return Facts(self, z, tangent)

    def tests(self, point: Spot) -> Mapping[str, float]:
        facts = point.facts
        tests: dict[str, Any] = {
            Kind.FOLD: lambda: facts.turning,
            Kind.BRANCH_POINT: lambda: bounded(facts.crossing),
            Kind.HOPF: lambda: bounded(facts.hopf),
        }
        return Asked(tests | ({Kind.DIVERGENCE: lambda: bounded(facts.zero)} if self.equations.k else {}))

    def zero(self, name: str, a: Spot, b: Spot) -> tuple[float, Spot] | None:
        # Kernels take all sums of two eigenvalues, also those that vanish everywhere.
        return None if name == Kind.HOPF and self.undamped else super().zero(name, a, b)

    def hides(self, a: Spot, b: Spot, length: float) -> bool:
        """Whether a step hides two folds, a growth rate that comes and goes, or changes of stability that no test
        explains."""
        first, last = a.facts, b.facts
        unit = self.equations.sizes[-1] * length
        rounding = np.spacing(max(abs(a.z[-1]), abs(b.z[-1]))) / unit
        if turns_between(first.turning, last.turning, (b.z[-1] - a.z[-1]) / unit, rounding):
            return True
        rates = rates_between(first, last, length)
        changes = abs(unstable(last.eigenvalues) - unstable(first.eigenvalues))
        each = int(rates.crossed(beyond=bool(self.undamped)).sum())
        most = 2 if first.hopf[0] * last.hopf[0] < 0 else 1
        if each > most:
            return True
        if changes > most:
            return not self.undamped
        return rates.hide()

    def events(self, engine: Any, a: Spot, b: Spot, length: float, last: bool) -> list[Event]:
        found = super().events(engine, a, b, length, last)
        if length > self.pace.resolved and self._untold(found, a, b):
            raise Refused("more happens in a step than its tests tell")
        return self.through(found, a, b) if any(event.kind == Kind.BRANCH_POINT for event in found) else found

    def _untold(self, found: Sequence[Event], a: Spot, b: Spot) -> bool:
        """Whether a pair crosses where a test vanishes several times, or eigenvalues that pass zero in one step may do
        so at different places."""
        if found:
            return any(event.kind in (MULTIPLE + Kind.BRANCH_POINT, MULTIPLE + Kind.DIVERGENCE) for event in found)
        return not self.undamped and abs(unstable(b.facts.eigenvalues) - unstable(a.facts.eigenvalues)) > 1

    def through(self, found: Sequence[Event], a: Spot, b: Spot) -> list[Event]:
        """Events of a step, branch points with the tangent of their neighbours: their own may be that of either branch,
        or any in between."""
        chord, between = (b.z - a.z) / a.units**2, self.chord(a, b)

        def tangent(spot: Spot) -> np.ndarray:
            at = float(chord @ (spot.z - a.z) / (chord @ (b.z - a.z)))
            beside = [between(at + side).tangent / spot.units for side in (-ASIDE, ASIDE)]
            mean = sum(each / np.linalg.norm(each) for each in beside)
            return mean / np.linalg.norm(mean) * spot.units

        return [
            replace(event, point=replace(event.point, tangent=tangent(event.point)))
            if event.kind == Kind.BRANCH_POINT
            else event
            for event in found
        ]

    def event(self, name: str, point: Spot) -> Event | None:
        found: dict[str, Any] = {
            Kind.FOLD: self._fold,
            Kind.BRANCH_POINT: self._branch_point,
            Kind.HOPF: self._hopf,
            Kind.DIVERGENCE: self._divergence,
        }
        return found[name](point)

    def _fold(self, spot: Spot) -> Event | None:
        # Where the parameter hardly changes at all, its slope has no sign.
        turns = spot.facts.turns or abs(self._curvature(spot)) > LEVEL or self._turns_about(spot)
        return Event(Kind.FOLD, spot, outranks=(Kind.DIVERGENCE,)) if turns else None

    def _turns_about(self, spot: Spot) -> bool:
        """Whether the parameter turns where its second derivative vanishes, as for μ = −x⁴: by both neighbours."""
        try:
            before, after = (
                self.spot(self.corrected(self.moved(spot, side), spot), spot.tangent) for side in (-BESIDE, BESIDE)
            )
        except Refused:
            return False
        a, b = before.facts.turning, after.facts.turning
        return a * b < 0 and min(abs(a), abs(b)) > LEVEL

    def _curvature(self, spot: Spot) -> float:
        """d²λ/ds² from G_z t' = −G_zz(t, t), ⟨t, t'⟩ = 0, in units of the metric."""
        s, t = self.equations, spot.tangent
        bent = s.bending(spot.z, t) @ t
        J = spot.facts.jacobian
        matrix = np.vstack([J * s.sizes, t / s.sizes])
        rows = np.append(row_sizes(s.jacobian, spot.z, s.sizes, J), 1.0)
        rows = np.where(rows, rows, 1.0)
        change = np.linalg.lstsq(matrix / rows[:, None], np.append(-bent, 0.0) / rows, rcond=None)[0]
        return float(change[-1])

    def _branch_point(self, spot: Spot) -> Event | None:
        # The equations of a chart are singular at its edge too, and those with inertia where that vanishes.
        return Event(Kind.BRANCH_POINT, spot, outranks=(Kind.FOLD, Kind.DIVERGENCE)) if self.singular(spot) else None

    def singular(self, spot: Spot) -> bool:
        """Whether the balance of the whole system is singular, as where solutions branch; not asked where the equations
        are all there is."""
        whole = full_balance(self.equations, [spot.z])
        size = None if whole is None else whole.branching(self.equations, spot.z)
        return size is None or size <= SINGULAR

    def _divergence(self, spot: Spot) -> Event | None:
        return Event(Kind.DIVERGENCE, spot)

    def _hopf(self, spot: Spot) -> Event | None:
        values, slopes = spot.facts.watched
        if not self.undamped and _double_zero(values, slopes):
            return Event(Kind.BOGDANOV_TAKENS, spot, outranks=(Kind.FOLD, Kind.BRANCH_POINT, Kind.DIVERGENCE))
        pair = imaginary(values, self.undamped, slopes)
        if pair is not None and self.undamped and np.isclose(met(values), pair.imag, rtol=MEETING).any():
            return None  # without damping pairs meet on the axis, and none crosses it alone
        if pair is not None and np.abs(values).min() < AT_ZERO * abs(pair):
            return Event(Kind.ZERO_HOPF, spot, detail=pair.imag, outranks=(Kind.FOLD, Kind.DIVERGENCE))
        return Event(Kind.HOPF, spot) if pair is not None else None

    def missed(self, a: Spot, b: Spot, found: Sequence[Event]) -> Missed | None:
        return crossing_together(self, a, b, found)

    def polished(self, z: np.ndarray) -> np.ndarray:
        """A branch point, located to rounding."""
        return polished(self.equations, z)

    def null(self, z: np.ndarray, like: Null | None = None) -> Null:
        s = self.equations
        return null_of(s.jacobian(z)[:, : s.n + s.k], s.n, s.sizes[: s.n + s.k], like)


def _double_zero(values: np.ndarray, slopes: np.ndarray) -> bool:
    """Whether two eigenvalues vanish together like the root of the distance: slopes grow wherever two meet, but only at
    zero is their sum as small as the distance."""
    order = np.argsort(np.abs(values))[:2]
    if len(order) < 2 or not (np.abs(values) <= DOUBLE * np.abs(slopes))[order].all():
        return False
    first, second = values[order]
    return bool(abs(first + second) <= abs(first - second))


def turns_between(a: float, b: float, chord: float, rounding: float) -> bool:
    """Whether the parameter, rising or falling at both ends of a step, may turn in between: by Hermite's cubic.

    The slope of the chord is known to its rounding only, which dominates where the parameter is very flat.
    """
    if a * b <= 0:
        return False
    slope = SLOPES @ (chord, a, b)
    return bool((slope * np.sign(a)).min() + 1.5 * rounding < FLAT * min(abs(a), abs(b)))
