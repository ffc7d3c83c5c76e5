"""The first orbit of the branch that is born at a Hopf point, near enough to it for nothing to lie between them.

By the normal form (Kuznetsov 2004, Sec. 8.3) an orbit of radius r is where Re λ' Δ + Re c1 r² + Re c2 r⁴ = 0: at a load
Δ beyond the point, with a fold of cycles at r² = −Re c1/(2 Re c2). An orbit that contradicts it lies beyond such a
fold, or where other modes have changed their stability, and a smaller one is looked for.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace

import numpy as np

from pfaff.algebra.bordering import bordering
from pfaff.bifurcation.hopf.crossing import crosses, others
from pfaff.bifurcation.hopf.hopf import Hopf
from pfaff.bifurcation.hopf.normal_form import VANISHES
from pfaff.bifurcation.orbits.chords import Point
from pfaff.bifurcation.orbits.cycles import Cycle, Mesh
from pfaff.bifurcation.orbits.newborn import Newborn
from pfaff.bifurcation.orbits.orbit_problem import INTERVALS, OrbitProblem
from pfaff.bifurcation.orbits.orbit_switching import accurate, span_of, value_of
from pfaff.bifurcation.orbits.stepping import Continuation
from pfaff.continuation.endings import Refused
from pfaff.continuation.kinds import Kind
from pfaff.errors import ConvergenceError, NoBifurcationError, PfaffError
from pfaff.threads import cached_property

BIRTH = 1e-3  # share of the range of the load over which the normal form predicts the first orbit
DISTURBED = 1e-2  # largest relative change of the frequency that the normal form is trusted with
HIGHER = 0.05  # largest share of the fifth order beside the third; 1/2 at a fold of cycles
AGREES = 0.2  # largest sum of the terms of a normal form, relative to them; 1/3 where the seventh order makes a fold
RESOLVED = 1e-14  # growth rates below this, relative to ω, are hidden by rounding
HALVINGS = 20  # most halvings of the first radius
SLOW = 1e-10, 0.05  # growth rates, relative to ω, of modes that small orbits may destabilise and stabilise again
KEPT = 0.5  # largest relative change of such a rate that rules this out
LARGE, CENTRED = 0.3, 1e-10  # of the natural radius, a cycle that shows what is conserved; what is left, relative to ω
CONSERVED = 1e-6  # distance of a multiplier from its structural value where something is conserved
AT_ORIGIN = 1e-12  # states of an equilibrium below this, relative to those of orbits, are zero but for rounding


class Conserved(Refused):
    """Orbits near an equilibrium come in families, and no isolated one is found."""


def born_at(hopf: Hopf, load: str, to: float, accuracy: float) -> Newborn:
    """The first small orbit of the branch that is born at a Hopf point, its tangent pointing away."""
    accuracy = accurate(accuracy)
    if hopf.drifts or hopf.undecided:
        raise NoBifurcationError(f"no branch of orbits starts at {hopf.load} = {hopf.value:.10g}: {hopf.criticality}")
    value = value_of(hopf.case, load)
    span = span_of(value, to, load)
    unfolding, held = _family(hopf)
    problem = OrbitProblem(hopf.case, hopf.around.flow, load, accuracy, unfolding, held)
    birth, why = Birth(hopf, load, value), ""
    # Where nothing is conserved, the orbits beside a family of equilibria are isolated all the same.
    alone = replace(problem, unfolding=unfolding[:, :0], held=held[:0])
    ways = [(alone, True)] if birth.symmetric(problem, to) else []
    ways += [(alone, False), *([(problem, False)] if len(held) else [])]
    for each, halved in ways:
        continuation, smallest = each.continuation(span), None
        for radius in birth.first_radius(span) / 2.0 ** np.arange(HALVINGS):
            try:
                found = birth.orbit(continuation, radius, halved)
                birth.check(found, radius, each)
                smallest = Newborn(each, found, value, birth.disturbing, hopf.centre)
                if birth.leaves_modes(found, radius, continuation):
                    return smallest
            except Refused as refused:
                why = str(refused)
                if isinstance(refused, Conserved):
                    break
        if smallest is not None:
            return smallest
    raise ConvergenceError(f"no orbit was found near the Hopf point at {hopf.load} = {hopf.value:.10g}: {why}")


def _family(hopf: Hopf) -> tuple[np.ndarray, np.ndarray]:
    """Columns that unfold a family of equilibria on which something is conserved, and rows that select a member."""
    (gradients, directions), e = hopf.normal_form.kept, hopf.expansion
    if gradients.shape[1] < e.family or not e.family:
        return np.ascontiguousarray(e.right @ directions), np.ascontiguousarray((e.left @ gradients).T)
    border = bordering(hopf.around.jacobian(hopf.x, hopf.value), hopf.around.zeros, hopf.around.held)
    return np.ascontiguousarray(border.columns), np.ascontiguousarray(border.rows)


def about_a_centre(hopf: Hopf) -> bool:
    """Whether cycles of any size exist at the load of a Hopf point itself: a large one shows what small ones do not."""
    n = len(hopf.x)
    problem = OrbitProblem(hopf.case, hopf.around.flow, hopf.load, CENTRED, np.zeros((n, 0)), np.zeros((0, n)))
    birth = Birth(hopf, hopf.load, hopf.value)
    continuation = problem.continuation(birth.disturbing)
    for radius in LARGE * birth.natural_radius / 2.0 ** np.arange(HALVINGS):
        with suppress(Refused):
            found = birth.orbit(continuation, radius, False)
            return abs(birth.crossing * (found.value - hopf.value)) <= CENTRED * hopf.omega
    return False


@dataclass(frozen=True)
class Birth:
    """Predictions of the normal form of a Hopf point for small orbits, along a load with its value there."""

    hopf: Hopf
    load: str
    value: float

    @cached_property
    def crossing(self) -> float:
        """Re λ' along the load; zero if the pair does not cross the axis."""
        crossing = self.hopf.crossing_by(self.load)
        return crossing.real if crosses(crossing) else 0.0

    @property
    def conserved(self) -> int:
        """How many quantities are conserved beside a family of equilibria, so that orbits come in families as well."""
        return self.hopf.normal_form.kept[0].shape[1]

    def symmetric(self, problem: OrbitProblem, to: float) -> bool:
        """Whether the equilibrium is at the origin of an odd field, so that small orbits have x(t + T/2) = −x(t)."""
        size = 2 * np.abs(self.hopf.q) * self.natural_radius
        origin = AT_ORIGIN * np.where(size > AT_ORIGIN * size.max(), size, size.max())
        return bool((np.abs(self.hopf.x) <= origin).all()) and problem.odd(size, to)

    @property
    def disturbing(self) -> float:
        """The change of the load that changes the critical eigenvalue by the size of iω."""
        return self.hopf.omega / (abs(self.hopf.crossing_by(self.load)) or 1e-300)

    @cached_property
    def fifth(self) -> float:
        """Re c2; zero where it is not defined, on families and at resonances."""
        try:
            c2 = self.hopf.c2.real
        except (PfaffError, np.linalg.LinAlgError):
            return 0.0
        return c2 if np.isfinite(c2) else 0.0

    @property
    def natural_radius(self) -> float:
        """r with |c1| r² = ω: the size at which terms of third order are as large as those of first."""
        c1, terms = abs(self.hopf.c1), self.hopf.normal_form.size
        return float(np.sqrt(self.hopf.omega / ((c1 if c1 > VANISHES * terms else terms) or 1.0)))

    def first_radius(self, span: float) -> float:
        """The radius for a small share of the range of the load, with |c1| r² small beside ω and |c2| r⁴ beside |c1|
        r², unless rounding hides both."""
        third, fifth, least = abs(self.hopf.c1.real), abs(self.fifth), RESOLVED * self.hopf.omega
        trusted = DISTURBED * self.natural_radius**2
        wanted = abs(self.crossing) * BIRTH * span / (third or 1e-300)
        alone = HIGHER * third / (fifth or 1e-300)
        seen = 2 * least / (third + np.sqrt(third**2 + 4 * fifth * least) or 1e-300)
        return float(np.sqrt(min(trusted, wanted or trusted, max(alone, seen))))

    def check(self, point: Point, radius: float, problem: OrbitProblem) -> None:
        """Raise Refused unless an orbit of this radius agrees with the normal form."""
        hopf, square = self.hopf, radius**2
        free = self.conserved - len(problem.held)
        structure = -1.0 if point.cycle.halved else 1.0  # a conserved linear form is odd
        if free and np.sort(np.abs(point.multipliers - structure))[0 if point.cycle.halved else 1] < CONSERVED:
            raise Conserved("something is conserved, so that orbits come in families")
        moved = self.crossing * (point.value - self.value)
        third, fifth = hopf.c1.real * square, self.fifth * square**2
        rounding = RESOLVED * hopf.omega + np.finfo(float).eps * abs(self.crossing * self.value)
        uncertain = rounding + hopf.uncertainty * hopf.omega * square
        left = abs(moved + third + fifth)
        if self.crossing and left > AGREES * (abs(third) + abs(fifth)) + uncertain:
            where = self.value - (third + fifth) / self.crossing
            placed = f"{point.value:.10g}, which its normal form puts at {where:.10g}"
            raise Refused(f"one of radius {radius:.2e} is at {placed}")
        grows = 2 * third + 4 * fifth
        told = hopf.simple and abs(grows) > uncertain and np.isfinite(point.tests[Kind.TORUS])
        rates = hopf.normal_form.rates.real
        expected = hopf.growing + ((rates > 0).sum() if len(rates) > 1 else grows > 0)
        if told and not expected <= point.unstable <= expected + free:
            raise Refused(f"one of radius {radius:.2e} has {point.unstable} unstable multipliers, not {expected}")

    def leaves_modes(self, point: Point, radius: float, continuation: Continuation) -> bool:
        """Whether slow modes grow and decay about an orbit as about the equilibrium, and about one of half its radius:
        else two special orbits may lie between, where the growth of a mode has changed its sign and back."""
        hopf = self.hopf
        rates = others(hopf.eigenvalues, hopf.omega).real / hopf.omega
        slow = (np.abs(rates) > SLOW[0]) & (np.abs(rates) < SLOW[1])
        if hopf.expansion.family or not slow.any() or len(point.multipliers) != len(rates) + 2:
            return True
        half = self.orbit(continuation, radius / 2, point.cycle.halved)
        return all(
            self._grow(each, square, rates, slow) for each, square in ((point, radius**2), (half, radius**2 / 4))
        )

    def _grow(self, point: Point, square: float, rates: np.ndarray, slow: np.ndarray) -> bool:
        """Whether multipliers are as the growth rates of modes, relative to ω, and the normal form say."""
        hopf = self.hopf
        own = 2 * (hopf.c1.real * square + 2 * self.fifth * square**2) / hopf.omega
        expected, known = np.append(rates, [0.0, own]), np.append(slow, [False, False])
        with np.errstate(divide="ignore"):
            found = np.log(np.abs(point.multipliers)) / (point.cycle.scalars[0] * hopf.omega)
        order = np.argsort(expected)
        apart = np.abs(np.sort(found) - expected[order]) > KEPT * np.abs(expected[order])
        return not (apart & known[order]).any()

    def orbit(self, continuation: Continuation, radius: float, symmetric: bool) -> Point:
        """x0 + 2r Re(q e^{iωt}), on families + r² (h11 − tangent η + Re(h20 e^{2iωt})), corrected at this amplitude."""
        c, hopf = continuation.collocation, self.hopf
        turn = np.pi if symmetric else 2 * np.pi
        intervals = INTERVALS // 2 if symmetric else INTERVALS
        mesh = Mesh(np.linspace(0.0, 1.0, intervals + 1))
        signs = np.full(len(hopf.x), -1.0 if symmetric else 1.0)
        points = mesh.points(c.gauss.c).reshape(intervals, -1, 1)
        third = hopf.normal_form
        circle, inner = np.exp(1j * turn * mesh.at[:, None]), np.exp(1j * turn * points)
        wave, bent = 2 * radius * (circle * hopf.q).real, np.zeros_like(hopf.x)
        slopes = 2 * radius * (1j * turn * inner * hopf.q).real
        if hopf.expansion.family:  # a state that moves in second order only has no size otherwise
            mean = (third.h11 - hopf.expansion.right @ third.shift).real
            bent = radius**2 * (mean + (circle**2 * third.h20).real)
            slopes = slopes + 2 * radius**2 * (1j * turn * inner**2 * third.h20).real
        scalars = np.array([turn / hopf.omega, self.value, *np.zeros(c.equations.unfolding.shape[1])])
        guess = Cycle(mesh, hopf.x + wave + bent, slopes.take(c.equations.rows, axis=2), scalars, signs)
        change = guess._replace(x=wave, scalars=np.zeros_like(scalars))
        metric = continuation.measure(guess)
        solution = continuation.born(guess, guess._replace(x=hopf.x + 0 * wave), change, metric)
        return continuation.refined(continuation.point(solution, change))
