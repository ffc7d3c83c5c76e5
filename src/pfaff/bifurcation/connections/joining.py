"""Connecting orbits in two parameters as a problem of continuation, and the special ones among them.

Their ends are kept at a small distance from the equilibria: where it changes, the orbit is lengthened or cut. Special
points are those of Champneys, Kuznetsov and Sandstede, Int. J. Bifurcation Chaos 6 (1996): eigenvalues in resonance,
leading ones that meet and become a pair, orbits that approach along other than the leading eigenvector (orbit flip),
and manifolds that turn over along the orbit (inclination flip), as the bounded solution of the adjoint equation shows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import acos, ceil, sqrt

import numpy as np

from pfaff.bifurcation.connections.arc_equations import SIDES, ArcEquations, Linearised, Row
from pfaff.bifurcation.connections.arcs import Arc, adapted, on_mesh
from pfaff.bifurcation.connections.joins import Facts, Join
from pfaff.bifurcation.connections.saddles import Leading, Saddle, bend
from pfaff.bifurcation.connections.tails import lengthened
from pfaff.continuation.endings import Ending, Reason
from pfaff.continuation.problem import FAILURES, Event, Pace, Problem

APART = 4.0  # factor about the desired distance within which an end stays where it is
FEWEST, MOST = 16, 2000  # least and largest number of intervals
INTERVALS = 40  # at first
RESERVE = 0.02  # error that a new mesh aims at, as a share of the accuracy
KEPT = 3e-3, 0.3  # shares of the accuracy between which a mesh keeps its number of intervals
SMALL = 3e-3  # size of an orbit, relative to the largest on its curve, that has practically vanished
NEARLY = 1e-3  # growth rate, relative to the largest of a curve, of an equilibrium that is hardly hyperbolic
FASTER = 2.0  # largest growth of the range of the first parameter in a step
ROUNDING = 1e-13  # saddle quantity, relative to its terms, that is zero
ALONG = 1e-9  # component along a leading vector, relative to the whole, that is zero
REFINEMENTS = 8


@dataclass(frozen=True, eq=False)
class Joining(Problem[Join]):
    """Connecting orbits about a reference, whose units and eigenspaces are used."""

    equations: ArcEquations
    accuracy: float
    spans: np.ndarray
    units: np.ndarray
    saddles: tuple[Saddle, Saddle]
    leading: dict[str, tuple[Leading, float]]  # vectors and typical components of flips
    largest: tuple[float, float] = (0.0, 0.0)  # orbit and growth rate on the curve so far

    pace = Pace(first=0.3, smallest=1e-7)
    of = "connecting orbit"
    place = 1e-12
    returned = 1e-5

    @classmethod
    def about(cls, equations: ArcEquations, accuracy: float, spans: np.ndarray, arc: Arc) -> Joining:
        """The problem in units of an arc, whose ends may still be far from its equilibria."""
        units = arc.size
        return cls(equations, accuracy, spans, units, equations.saddles(arc, units, None), {})

    # Orbits

    def solved(self, guess: Arc, reference: Arc, last: Row | None) -> Linearised:
        return self.equations.corrected(guess, reference, self.units, self.spans, self.saddles, last)

    def dual(self, change: Arc) -> Row:
        """The row ⟨change, ·⟩."""
        weights = change.mesh.weights[:, None] / len(self.units)
        return weights * change.x / self.units**2, change.scalars / self.spans**2

    def dot(self, a: Arc, b: Arc) -> float:
        states, scalars = self.dual(a)
        return float((states * b.x).sum() + scalars @ b.scalars)

    def held(self, arc: Arc) -> Row | None:
        """The row that keeps the second parameter, if there is one."""
        if len(arc.scalars) < 2:
            return None
        return np.zeros_like(arc.x), np.array([0.0, 1.0]) / self.spans

    def joined(self, about: Linearised, towards: Arc | None) -> Join:
        """The point of a solution, its tangent in a direction if it is on a curve."""
        arc, tangent = about.arc, None
        if len(arc.scalars) > 1:
            tangent = about.change(about.unit("last"))
            sign = 1.0 if towards is None or self.dot(tangent, towards) >= 0 else -1.0
            tangent = tangent.scaled(sign / sqrt(self.dot(tangent, tangent)))
        flips = self._flips(about, tangent)
        error = self.equations.error(about)
        return Join(arc, tangent, Facts(about.saddles, flips, self._shift(about), error, about.condensed.residual))

    def _shift(self, about: Linearised) -> np.ndarray:
        """How much the parameters move if the ends are on manifolds instead of eigenspaces, to second order."""
        arc, right = about.arc, np.zeros(len(about.right))
        rates = self.equations.rates(arc.x[[0, -1]], arc.scalars) / self.units
        for name, saddle, f in zip(SIDES, about.saddles, rates, strict=True):
            right[about.rows[name]] = saddle.bending(name == "leaving", f)
        return about.change(right).scalars

    def _flips(self, about: Linearised, tangent: Arc | None) -> dict[str, float]:
        """Components of the ends along leading vectors, and of the adjoint solution there, relative to a reference."""
        found = {}
        for key, (vectors, vector) in self._along(about, tangent).items():
            like, size = self.leading.get(key, (vectors, 1.0))
            told = vectors.like(like)
            if told is None:
                continue
            along = float((told.p if key.startswith("orbit") else told.q) @ vector)
            # An orbit in an invariant plane is flipped all along its curve: only rounding is left.
            found[key] = along / size if abs(along) > ALONG * float(np.linalg.norm(vector)) else 0.0
        return found

    def _along(self, about: Linearised, tangent: Arc | None) -> dict[str, tuple[Leading, np.ndarray]]:
        """By kind of flip and side: leading vectors where there are further ones, and the vector that they measure.

        Orbits leave and approach along leading eigenvectors; manifolds, whose normal the adjoint solution is, contain
        those of the other side.
        """
        adjoint = {} if tangent is None else self._adjoint(about, tangent)
        found = {}
        for name, saddle, apart in zip(SIDES, about.saddles, about.arc.ends, strict=True):
            for kind, vector in (("orbit", apart / self.units), ("inclination", adjoint.get(name))):
                values = saddle.growing if (name == "leaving") == (kind == "orbit") else saddle.decaying
                vectors = Leading.of(saddle.jacobian, values[0]) if len(values) > 1 else None
                if vectors is not None and vector is not None:
                    found[f"{kind} flip {name}"] = vectors, vector
        return found

    def _adjoint(self, about: Linearised, tangent: Arc) -> dict[str, np.ndarray]:
        """The bounded solution of ψ̇ = −Aᵀψ at both ends, relative to its largest value: the left null vector of the
        equations for the states, in an orientation that is kept along the curve."""
        t = tangent.scalars / self.spans
        right = np.zeros(len(about.right))
        right[-2:] = -t[1], t[0]
        y = about.factors.solve(right, trans="T")
        psi = y[: about.arc.intervals * len(self.units)].reshape(about.arc.intervals, -1)
        largest = float(np.abs(psi).max()) or 1.0
        return {"leaving": psi[0] / largest, "coming": psi[-1] / largest}

    # Ends and meshes

    @property
    def near(self) -> float:
        """Distance of the ends from equilibria, in units, at which the truncation error is about the accuracy."""
        return float(np.clip(sqrt(self.accuracy), 1e-6, 1e-2))

    def far(self, arc: Arc) -> bool:
        """Whether an end is not where it should be."""
        apart = [float(np.linalg.norm(end / self.units)) for end in arc.ends]
        return any(not self.near / APART**2 < each < self.near * APART for each in apart)

    def refined(self, at: Join) -> Join:
        """The orbit on the mesh, and with the duration, that its accuracy needs."""
        for _ in range(REFINEMENTS):
            far, wanted = self.far(at.arc), self._intervals(at)
            if not far and wanted == at.arc.intervals:
                return at
            arc = lengthened(self.equations, at.arc, self.units, self.near) if far else at.arc
            again = self._again(at, arc, wanted)
            if not far and wanted > at.arc.intervals and again.facts.error > at.facts.error / 2:
                return at  # errors that finer meshes do not reduce are rounding, as of small loops in slow time
            at = again
        return at

    def _again(self, at: Join, arc: Arc, intervals: int) -> Join:
        mesh = adapted(arc, intervals, self.equations.gauss)
        guess = on_mesh(arc, mesh, self.equations.gauss)
        if at.tangent is not None:
            return self._on_curve(at, guess)
        return self.joined(self.solved(guess, guess, None), None)

    def _on_curve(self, at: Join, guess: Arc) -> Join:
        """The same point of a curve on another mesh, or with another duration: solved across its direction in the plane
        of the parameters, which needs no states on a common mesh."""
        direction = at.direction.scalars / self.spans
        row = np.zeros_like(guess.x), direction / np.linalg.norm(direction) / self.spans
        found = self.joined(self.solved(guess, guess, row), None)
        sign = 1.0 if found.direction.scalars / self.spans @ direction >= 0 else -1.0
        return replace(found, tangent=found.direction.scaled(sign))

    def _intervals(self, at: Join) -> int:
        share = max(at.facts.error, 1e-14) / self.accuracy
        if KEPT[0] < share < KEPT[1]:
            return at.arc.intervals
        factor = (share / RESERVE) ** (1 / (2 * self.equations.gauss.degree))
        return min(max(FEWEST, ceil(at.arc.intervals * min(max(factor, 0.7), 2.0))), MOST)

    # What the engine asks for

    def moved(self, at: Join, length: float) -> Arc:
        return at.arc.moved(at.direction, length)

    def corrected(self, guess: Arc, at: Join) -> Linearised:
        return self.solved(guess, at.arc, self.dual(at.direction))

    def norm(self, solution: Linearised, guess: Arc, at: Join) -> float:
        change = solution.arc.minus(guess)
        return sqrt(self.dot(change, change))

    def point(self, solution: Linearised, at: Join) -> Join:
        return self.joined(solution, at.tangent)

    def turn(self, a: Join, b: Join) -> float:
        first, second = a.direction, b.direction
        lengths = sqrt(self.dot(first, first) * self.dot(second, second))
        return acos(float(np.clip(self.dot(first, second) / lengths, -1, 1)))

    def chord(self, a: Join, b: Join) -> Callable[[float], Join]:
        chord = b.arc.minus(a.arc)
        row = self.dual(chord)

        def between(at: float) -> Join:
            return self.joined(self.solved(a.arc.moved(chord, at), a.arc, row), chord)

        return between

    def value(self, point: Join) -> float:
        return float(point.arc.scalars[-1])

    def slope(self, point: Join) -> float:
        return float(point.direction.scalars[-1])

    def on_bound(self, point: Join, bound: float) -> Join:
        scalars = point.arc.scalars.copy()
        scalars[-1] = bound
        guess = point.arc.with_scalars(scalars)
        try:
            found = self.joined(self.solved(guess, point.arc, self.held(guess)), point.tangent)
        except FAILURES:
            return point
        return found

    def signature(self, point: Join, like: Join) -> np.ndarray:
        return np.concatenate([point.arc.scalars / self.spans, (point.arc.rests / self.units).ravel()])

    def kept(self, point: Join) -> Join:
        """The point on a finer mesh where its accuracy needs one."""
        return point if point.facts.error <= self.accuracy else self.refined(point)

    def renewed(self, point: Join) -> tuple[Joining, Join]:
        """The problem and the point in units of the orbit itself, with ends where they should be."""
        try:
            fresh = self.at(point)
            point = fresh.refined(point)
            fresh = fresh.at(point)
            tangent = point.direction.scaled(1 / sqrt(fresh.dot(point.direction, point.direction)))
            point = replace(point, tangent=tangent)
            return fresh, replace(point, facts=fresh.told(point))
        except FAILURES:
            return self, point

    def at(self, point: Join) -> Joining:
        """The problem with its units and reference vectors renewed at a point."""
        units = point.arc.size
        saddles = self.equations.saddles(point.arc, units, None)
        size = max(self.largest[0], float(np.linalg.norm(np.ptp(point.arc.x, axis=0))))
        rate = max(self.largest[1], float(np.abs(saddles[0].eigenvalues.real).min()))
        fresh = replace(self, units=units, saddles=saddles, leading={}, largest=(size, rate), spans=self._reach(point))
        return fresh._oriented(point, self)

    def _reach(self, point: Join) -> np.ndarray:
        """Ranges of the parameters: that of the first grows with its change over that of the second."""
        if point.tangent is None:
            return self.spans
        first, second = np.abs(point.tangent.scalars)
        steep = first * self.spans[1] >= FASTER * self.spans[0] * second
        return self.spans * np.array([FASTER if steep else max(1.0, first / second * self.spans[1] / self.spans[0]), 1])

    def _oriented(self, point: Join, before: Joining) -> Joining:
        """The problem with leading vectors oriented as before, and the sizes of the components along them."""
        leading, ratio = {}, self.units / before.units
        for key, (vectors, vector) in self._along(self._about(point), point.tangent).items():
            if key in before.leading:
                vectors = vectors.like(before.leading[key][0].in_units(ratio)) or vectors
            leading[key] = vectors, float(np.linalg.norm(vector)) or 1.0
        return replace(self, leading=leading)

    def _about(self, point: Join) -> Linearised:
        arc = point.arc
        last = self.held(arc) if point.tangent is None else self.dual(point.tangent)
        return self.equations.linearised(arc, arc, self.units, self.spans, self.saddles, last)

    def told(self, point: Join) -> Facts:
        """What is known about a point, relative to this problem's own reference."""
        about = self._about(point)
        return replace(self.joined(about, point.tangent).facts, error=point.facts.error)

    # Special points

    def tests(self, point: Join) -> dict[str, float]:
        leaving, coming = point.facts.saddles
        tests = {"saddle-focus leaving": bend(leaving.growing), "saddle-focus coming": bend(coming.decaying)}
        sigma, size = point.saddle_quantity, abs(leaving.growing[0].real) + abs(coming.decaying[0].real)
        tests |= {"neutral saddle": sigma if abs(sigma) > ROUNDING * size else 0.0} if point.homoclinic else {}
        return tests | {name: value for name, value in point.facts.flips.items() if np.isfinite(value)}

    def event(self, name: str, point: Join) -> Event[Join] | None:
        side = next((each for each in SIDES if name.endswith(each)), "")
        return Event(name.removesuffix(side).strip(), point, detail=side)

    # Endings

    def ended(self, passed: Sequence[Join]) -> tuple[None, Ending] | None:
        last, where = passed[-1], self.where(passed[-1])
        size = float(np.linalg.norm(np.ptp(last.arc.x, axis=0)))
        if size < SMALL * self.largest[0]:
            words = f"the orbit shrinks to an equilibrium near {where}: a Bogdanov–Takens point"
            return None, Ending(Reason.EQUILIBRIUM, words)
        rate = min(float(np.abs(each.eigenvalues.real).min()) for each in last.facts.saddles)
        if rate < NEARLY * self.largest[1]:
            words = f"an eigenvalue of the equilibrium comes to the imaginary axis near {where}: a fold or a Hopf point"
            return None, Ending(Reason.SPECIAL, words)
        return None

    def where(self, at: Join) -> str:
        named = zip(self.equations.parameters, at.arc.scalars, strict=True)
        return ", ".join(f"{name} = {value:.8g}" for name, value in named)
