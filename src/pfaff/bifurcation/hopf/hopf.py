"""Hopf points: where a pair of eigenvalues crosses the imaginary axis, and which cycles are born there.

``finding`` looks among all roots of Π(λ_i + λ_j) along the equilibrium path, ``extended`` polishes by Newton's method;
here it is judged by its normal form (Kuznetsov 2004; Marsden and McCracken 1976).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from pfaff import doors
from pfaff.algebra.bordering import bordering
from pfaff.algebra.tolerances import IDENTITY, NOISE, SAFE
from pfaff.bifurcation.hopf.criticality import Criticality
from pfaff.bifurcation.hopf.crossing import crosses, crossing_of, others
from pfaff.bifurcation.hopf.normal_form import VANISHES, Cubic, Expansion, Quintic, marsden_mccracken, quintic
from pfaff.bifurcation.hopf.verdicts import criticality_of, digits_of, verified
from pfaff.checks.check import Check, Checked, doubted
from pfaff.continuation.course import POINTS, STEP, Bounds, Course
from pfaff.errors import ParameterError
from pfaff.rest.field import Field
from pfaff.stability.settled import MOST_DIGITS
from pfaff.statement.told import shown_in_notebooks
from pfaff.statement.values import number_from, spelt
from pfaff.threads import cached_property

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from pfaff.bifurcation.curves.curves import Curve
    from pfaff.bifurcation.hopf.growth import Growth
    from pfaff.bifurcation.orbits.orbit_branch import OrbitBranch
    from pfaff.bifurcation.orbits.orbits import OrbitPoint
    from pfaff.case import Bound

ON_AXIS = 1e-9  # distances from the imaginary axis below this, relative to ω, are zero
LIGHTLY = 1e3  # times how lightly a system is damped, its share of what is made of stiffness and inertia, at most
TOLD = 1e-3  # of that share, what rounding may be if a coefficient that vanishes is zero


@shown_in_notebooks
@spelt
@dataclass(frozen=True, repr=False)
class Hopf(Checked):
    """A Hopf point and its normal form ż = (iω + λ' Δload) z + c1 z|z|² + … with x = x0 + 2 Re(z q) + ….

    ⟨q, q⟩ = ⟨p, q⟩ = 1 in the states named by ``states``; their units therefore scale c1, but neither its sign nor
    the predicted cycles. ``distance`` is that of the other eigenvalues from the imaginary axis, structural zeros set
    apart; ``crossing`` is λ', the derivative of the critical eigenvalue by the load.
    """

    case: Bound
    load: str
    value: float
    omega: float
    states: tuple[str, ...]
    x: np.ndarray
    eigenvalues: np.ndarray
    structural_zeros: int
    q: np.ndarray
    p: np.ndarray
    distance: float
    crossing: complex
    normal_form: Cubic = field(repr=False)
    expansion: Expansion = field(repr=False)
    origin: float  # value of the load from which the equilibrium was followed
    asked: Mapping[str, Any] = field(repr=False)
    around: Field = field(repr=False)
    modes: int | None = None  # number of rod modes at which the point converged; ``change`` is the last relative change
    change: float | None = None

    def __float__(self) -> float:
        return self.value

    def __repr__(self) -> str:
        return f"<{self.status}>"

    @property
    def state(self) -> dict[str, float]:
        """The equilibrium by name."""
        return dict(zip(self.states, self.x.tolist(), strict=True))

    @property
    def crossing_speed(self) -> float:
        """d Re λ/d load, Eq. (88) of Cazzolli et al. (2020)."""
        return self.crossing.real

    @property
    def simple(self) -> bool:
        """Hopf's condition (i): one simple pair on the imaginary axis and no other eigenvalue."""
        return self.distance > ON_AXIS * self.omega

    @property
    def transversal(self) -> bool:
        """Hopf's condition (ii): the pair crosses the axis at a nonzero speed."""
        return crosses(self.crossing)

    def crossing_by(self, name: str) -> complex:
        """λ' with respect to a parameter other than the load."""
        name = self.case.system.parameter(name).name
        if name == self.load:
            return self.crossing
        around = replace(self.around, load=name, parameters=self.case.numbers)
        value = float(self.case.numbers[self.case.system.parameter_names.index(name)])
        border = bordering(around.jacobian(self.x, value), around.zeros, around.held)
        return crossing_of(around, border, self.x, value, self.q, self.p)

    @property
    def growing(self) -> int:
        """How many of the other eigenvalues lie to the right of the imaginary axis."""
        return int((others(self.eigenvalues, self.omega).real > ON_AXIS * self.omega).sum())

    @property
    def c1(self) -> complex:
        return self.normal_form.c1

    @property
    def l1(self) -> float:
        """The first Lyapunov coefficient Re c1/ω in Kuznetsov's normalisation; NaN where cycles drift."""
        return self.c1.real / self.omega

    @property
    def l1_matcont(self) -> float:
        """Re c1, what MatCont reports as its first Lyapunov coefficient: the same q and p, not divided by ω."""
        return self.c1.real

    @cached_property
    def V3(self) -> float:
        """V'''(0) by the real centre manifold of Marsden and McCracken: 3π l1 by an independent route."""
        return marsden_mccracken(self.expansion, self.normal_form)

    @property
    def uncertainty(self) -> float:
        """The difference of l1 between the two routes: rounding, amplified where the modes are far from orthogonal.

        The second route takes full matrices: for very many states, the rounding of such terms is returned instead.
        """
        if not isinstance(self.expansion.A, np.ndarray):
            return IDENTITY * self.normal_form.size / self.omega
        return abs(self.V3 / (3 * np.pi) - self.l1)

    @cached_property
    def fifth_order(self) -> Quintic:
        return quintic(self.expansion, self.normal_form)

    @property
    def c2(self) -> complex:
        return self.fifth_order.c2

    @property
    def l2(self) -> float:
        """The second Lyapunov coefficient Re c2/ω: it decides where l1 = 0 (a generalised Hopf point)."""
        return self.c2.real / self.omega

    @cached_property
    def degenerate(self) -> bool:
        """Whether l1 vanishes to rounding, relative to the size that damping allows: a generalised Hopf point or a
        centre."""
        size, real = self.normal_form.size, abs(self.c1.real)
        if real > VANISHES * size:
            return False
        share = min(1.0, LIGHTLY * self._lightness)
        return real <= max(VANISHES * share * size, self._rounding)

    @property
    def _lightness(self) -> float:
        """Speed of crossing relative to the change of frequency: both Re λ' and Re c1 are of the order of damping."""
        return abs(self.crossing.real) / (abs(self.crossing) or 1.0)

    @property
    def _rounding(self) -> float:
        """Rounding error of Re c1."""
        return max(NOISE * self.normal_form.size, SAFE * self.omega * self.uncertainty)

    @cached_property
    def hidden(self) -> bool:
        """Whether damping is so light that rounding hides the sign of l1."""
        known = self._rounding <= TOLD * self._lightness * self.normal_form.size
        return self.degenerate and not known

    @cached_property
    def centre(self) -> bool:
        """Whether l2 vanishes with l1, and a large cycle is at the same load: the cycles about a centre, as where
        energy is conserved, are a family."""
        if self.drifts or not self.degenerate or self.hidden or self.expansion.family:
            return False
        try:
            return abs(self.c2.real) <= VANISHES * self.fifth_order.size and doors.births.about_a_centre(self)
        except np.linalg.LinAlgError:  # at a resonance
            return False

    @property
    def generalised(self) -> bool:
        """Whether l1 vanishes to rounding, but not at a centre: a generalised (Bautin) Hopf point."""
        return self.degenerate and not self.hidden and not self.centre

    @property
    def drifts(self) -> bool:
        """Whether the oscillation moves along a family of equilibria, so that no branch of cycles is born."""
        return bool(self.normal_form.drift.any())

    @property
    def undecided(self) -> str:
        """Why it is not known whether cycles are born, if so: on a family of equilibria along which nothing tells."""
        return self.normal_form.undecided

    @property
    def criticality(self) -> Criticality:
        if self.drifts or self.undecided or not self.degenerate:
            return criticality_of(self.normal_form, 0.0)
        if self.hidden:
            return Criticality.HIDDEN
        return Criticality.CENTRE if self.centre else criticality_of(self.normal_form)

    @property
    def stable_cycles(self) -> bool | None:
        """Whether the cycles born here attract: l1 < 0 (l2, where it is zero), no other mode grows, and nothing repels
        along a family of equilibria. None where another mode is neutral, whose growth about the cycles does not follow
        from the eigenvalues of the equilibrium, where rounding hides the sign of l1, and where nothing decides along a
        family. None as well where the first cycle contradicts the normal form: see ``checks``."""
        if self.hidden or self.undecided or not all(check.passed for check in self.checks):
            return None
        alone = self.generalised and not self.expansion.family
        attracts = self.l2 < 0 if alone else self.normal_form.attracts
        return False if self.growing or self.centre or not attracts else True if self.simple else None

    def _verify(self) -> Iterable[Check]:
        """The mode by differences of the flow, the normal form by the first cycle."""
        return verified(self)

    @property
    def status(self) -> str:
        return doubted(self._said, self.checks)

    @cached_property
    def digits(self) -> int:
        """How many digits are printed: of a point of rods, those that their last two modes do not change."""
        return digits_of(self)

    @property
    def _said(self) -> str:
        known = min(self.digits, 10)
        told = "" if self.digits == MOST_DIGITS else f", settled to {self.digits} digits by the modes of its rods"
        at = f"{self.load} = {self.value:.{self.digits}g}, ω = {self.omega:.{known}g}{told}"
        text = f"Hopf point at {at}: {self.criticality}"
        if self.drifts or self.undecided or self.degenerate:
            return text
        kind = {True: "stable cycles", False: "unstable cycles", None: "cycles"}[self.stable_cycles]
        side = "above" if self.born_above else "below"
        text = f"{text} (l1 = {self.l1:.{min(self.digits, 6)}g}), {kind} {side}"
        if self.stable_cycles is None and not self.simple:
            return f"{text}, whose stability another mode, neutral at the equilibrium, leaves open"
        return text if self.simple else f"{text}; another mode is neutral"

    @property
    def born_above(self) -> bool:
        """Whether cycles exist above the load of the point: where −Re λ' Δload/Re c1 = r² > 0."""
        return self.crossing.real * self.c1.real < 0

    def amplitude(self, load: float) -> dict[str, float]:
        """The amplitude of each state on the cycle at a nearby load, to leading order: 2r|q|."""
        r = self._radius(load)
        return dict(zip(self.states, (2 * r * np.abs(self.q)).tolist(), strict=True))

    def period(self, load: float) -> float:
        """2π/(ω + Im λ' Δload + Im c1 r²): with the frequency shifts due to load and amplitude."""
        load = number_from(self.load, load)
        shift = self.crossing.imag * (load - self.value) + self.c1.imag * self._radius(load) ** 2
        return float(2 * np.pi / (self.omega + shift))

    def _radius(self, load: float) -> float:
        """r of the cycle in the normal form, from Re λ' Δload + Re c1 r² = 0."""
        if self.drifts or self.undecided or self.degenerate:
            raise ParameterError(f"the third-order normal form predicts no cycle here: {self.criticality}")
        load = number_from(self.load, load)
        square = -self.crossing.real * (load - self.value) / self.c1.real
        if not square >= 0:
            side = "above" if self.born_above else "below"
            raise ParameterError(
                f"no cycle at {self.load} = {load:g}: they are {side} {self.value:.10g} ({self.criticality})"
            )
        return float(np.sqrt(square))

    def growth(self, of: str | None = None) -> Growth:
        """How cycles grow, independently of the states chosen: A² = slope (load − value) for the amplitude of an
        observable, and mean speeds per A².

        ``of`` is a state, a coordinate of a point of a rod (``"a_theta_end"``) or a formula in the coordinates; by
        default the rotation of a rod's end, or the coordinate that moves most.
        """
        return doors.growth.growth(self, of)

    def vanishing(self, name: str, between: tuple[float, float]) -> Hopf:
        """The Hopf point at which l1 = 0 as another parameter varies: a generalised Hopf point.

        ``hopf.vanishing("c_i", between=(10, 30))`` follows the Hopf points from one end to the other; l1 must have
        opposite signs there.
        """
        return doors.generalised.vanishing(self, name, between)

    def orbits(
        self,
        to: float | None = None,
        load: str | None = None,
        *,
        step: float = STEP,
        accuracy: float = 1e-11,
        points: int = POINTS,
        bounds: Bounds = None,
        progress: Callable[[OrbitPoint], Any] | None = None,
        events: Mapping[str, Any] | None = None,
    ) -> OrbitBranch:
        """The branch of periodic orbits born here, followed until the load (or another parameter) is ``to``.

        ``accuracy`` is kept by the mesh, relative to the orbit; the others are as in ``case.branch``. Ctrl-C ends the
        branch where it is.
        """
        name = self.case.load_name(self.load if load is None else load)
        course = Course.asked(to, step, points, bounds, progress, name, events)
        return doors.orbit_switching.followed(doors.births.born_at(self, name, course.to, accuracy), course)

    def curve(
        self,
        name: str,
        to: float,
        *,
        step: float = STEP,
        points: int = POINTS,
        bounds: Bounds = None,
        progress: Callable[[Any], Any] | None = None,
        events: Mapping[str, Any] | None = None,
    ) -> Curve:
        """The curve of Hopf points in the load and another parameter, until that parameter is ``to``.

        Points of codimension two are located on it: ``hopf.curve("c_i", to=30).of_kind("generalised hopf")``.
        """
        return doors.curves.curve_of_hopf(self, name, Course.asked(to, step, points, bounds, progress, name, events))

    def plot(self) -> Figure:
        return doors.draw.draw_hopf(self)
