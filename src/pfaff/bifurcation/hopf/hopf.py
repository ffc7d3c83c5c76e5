"""Hopf points: where a pair of eigenvalues crosses the imaginary axis, and which cycles are born there.

The point is found among all roots of Π(λ_i + λ_j) along the equilibrium path, polished by Newton's method on the
extended system f = 0, A q = iω q, and judged by its normal form (Kuznetsov 2004; Marsden and McCracken 1976).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from pfaff.algebra.bordering import Border, balanced, bordering
from pfaff.bifurcation.equilibria.eigenvalues import slopes
from pfaff.bifurcation.hopf.normal_form import VANISHES, Cubic, Expansion, Quintic, cubic, marsden_mccracken, quintic
from pfaff.continuation.course import POINTS, STEP, Bounds, Course
from pfaff.errors import ConvergenceError, NoBifurcationError, ParameterError, PfaffError
from pfaff.rest.field import Field, field_at
from pfaff.rest.path import LoadPath, Outward, Path
from pfaff.stability.along import Along, checked_end, hopf_points, imaginary_pairs, natural_range, search_along
from pfaff.statement.told import shown_in_notebooks
from pfaff.statement.values import end_from, number_from, one_of
from pfaff.threads import cached_property

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from pfaff.bifurcation.curves.curves import Curve
    from pfaff.bifurcation.hopf.growth import Growth
    from pfaff.bifurcation.orbits.orbit_branch import OrbitBranch
    from pfaff.bifurcation.orbits.orbits import OrbitPoint
    from pfaff.case import Bound

NEWTON_STEPS = 25
SETTLED = 1e-9  # the last change, relative, of an accepted Hopf point
ON_AXIS = 1e-9  # distances from the imaginary axis below this, relative to ω, are none
RANGE = 10.0  # how far a plain ODE's parameter is searched, relative to 1 + its value or to its natural scale
ALIKE, FLAT = 10.0, 1e-12  # scales of a parameter within this factor are one; changes of a Jacobian that are rounding
BESIDE = 1e-4  # how far from its beginning a search looks to both sides, relative to its length
ROUNDING = 1e-12  # growth rates below this, relative to ω, have no sign
STAYS = 1e-6  # growth rates that change slower than this, relative to that of another pair, do not
SAME = 1e-9  # of a search, the distance of loads that are one
BESIDE_STEPS = 4  # of Newton's method, for an equilibrium at a nearby load
CENTRE = "degenerate: l1 = l2 = 0, a centre, as where energy is conserved, with a family of cycles at this load"
TIE = 1e-6  # components whose sizes differ by less, relatively, are equally large: the first decides
SEMISIMPLE = 1e-6  # null vectors nearer to orthogonal than this form a Jordan block


@shown_in_notebooks
@dataclass(frozen=True, repr=False)
class Hopf:
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
    origin: float  # of the load, from which the equilibrium was followed
    asked: Mapping[str, Any] = field(repr=False)
    around: Field = field(repr=False)
    modes: int | None = None  # of a rod that settled the point, and by how much the last ones changed it, relatively
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
        """Hopf's condition (i): one simple pair on the imaginary axis and nothing else."""
        return self.distance > ON_AXIS * self.omega

    @property
    def transversal(self) -> bool:
        """Hopf's condition (ii): the pair crosses the axis at a speed that is not zero."""
        return crosses(self.crossing)

    def crossing_by(self, name: str) -> complex:
        """λ' by another parameter than the load."""
        if isinstance(name, str) and name == self.load:
            return self.crossing
        one_of(self.case.system.parameter_names, name, f"{self.case.system.name} has no parameter")
        around = replace(self.around, load=name, parameters=self.case.numbers)
        value = float(self.case.numbers[self.case.system.parameter_names.index(name)])
        border = bordering(around.jacobian(self.x, value), around.zeros, around.held)
        return _crossing(around, border, self.x, value, self.q, self.p)

    @property
    def growing(self) -> int:
        """How many of the other eigenvalues lie to the right of the imaginary axis."""
        return int((_others(self.eigenvalues, self.omega).real > ON_AXIS * self.omega).sum())

    @property
    def c1(self) -> complex:
        return self.normal_form.c1

    @property
    def l1(self) -> float:
        """The first Lyapunov coefficient Re c1/ω, Kuznetsov's normalisation; not a number where cycles drift."""
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
        """The difference of l1 between the two routes: rounding, amplified where the modes are far from orthogonal."""
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

    @property
    def degenerate(self) -> bool:
        """Whether l1 vanishes to rounding: a generalised Hopf point or a centre."""
        return abs(self.c1.real) <= VANISHES * self.normal_form.size

    @cached_property
    def centre(self) -> bool:
        """Whether l2 vanishes with l1, and a large cycle is at the same load: the cycles about a centre, as where
        energy is conserved, are a family."""
        from pfaff.bifurcation.hopf.births import about_a_centre

        if self.drifts or not self.degenerate or self.expansion.family:
            return False
        try:
            return abs(self.c2.real) <= VANISHES * self.fifth_order.size and about_a_centre(self)
        except np.linalg.LinAlgError:  # at a resonance
            return False

    @property
    def generalised(self) -> bool:
        """Whether l1 vanishes to rounding, but not at a centre: a generalised (Bautin) Hopf point."""
        return self.degenerate and not self.centre

    @property
    def drifts(self) -> bool:
        """Whether the oscillation moves along a family of equilibria, so that no branch of cycles is born."""
        return bool(self.normal_form.drift.any())

    @property
    def criticality(self) -> str:
        return CENTRE if self.centre else criticality_of(self.normal_form)

    @property
    def stable_cycles(self) -> bool | None:
        """Whether the cycles born here attract: l1 < 0 (l2, where it is zero) and no other mode grows; None where that
        holds and one is neutral, whose growth about the cycles the eigenvalues of the equilibrium do not tell."""
        decides = self.l2 if self.generalised and not self.expansion.family else self.l1
        return False if self.growing or self.centre or not decides < 0 else True if self.simple else None

    @property
    def status(self) -> str:
        text = f"Hopf point at {self.load} = {self.value:.12g}, ω = {self.omega:.10g}: {self.criticality}"
        if self.drifts or self.degenerate:
            return text
        kind = {True: "stable cycles", False: "unstable cycles", None: "cycles"}[self.stable_cycles]
        side = "above" if self.born_above else "below"
        text = f"{text} (l1 = {self.l1:.6g}), {kind} {side}"
        if self.stable_cycles is None:
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
        """2π/(ω + Im λ' Δload + Im c1 r²): the shifts of frequency by the load and by the amplitude included."""
        load = number_from(self.load, load)
        shift = self.crossing.imag * (load - self.value) + self.c1.imag * self._radius(load) ** 2
        return float(2 * np.pi / (self.omega + shift))

    def _radius(self, load: float) -> float:
        """r of the cycle in the normal form, from Re λ' Δload + Re c1 r² = 0."""
        if self.drifts or self.degenerate:
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
        """How cycles grow, whatever the states: A² = slope (load − value) for the amplitude of an observable, and mean
        speeds per A².

        ``of`` is a state, a coordinate of a point of a rod (``"a_theta_end"``) or a formula in the coordinates; by
        default the rotation of a rod's end, or the coordinate that moves most.
        """
        from pfaff.bifurcation.hopf.growth import growth

        return growth(self, of)

    def vanishing(self, name: str, between: tuple[float, float]) -> Hopf:
        """The Hopf point at which l1 = 0 as another parameter varies: a generalised Hopf point.

        ``hopf.vanishing("c_i", between=(10, 30))`` follows the Hopf points from one end to the other and wants l1
        to have opposite signs there.
        """
        from pfaff.bifurcation.hopf.generalised import vanishing

        return vanishing(self, name, between)

    def orbits(
        self,
        to: float,
        load: str | None = None,
        *,
        step: float = STEP,
        accuracy: float = 1e-11,
        points: int = POINTS,
        bounds: Bounds = None,
        progress: Callable[[OrbitPoint], Any] | None = None,
    ) -> OrbitBranch:
        """The branch of periodic orbits born here, followed until the load (or another parameter) is ``to``.

        ``accuracy`` is kept by the mesh, relative to the orbit; the others are as in ``case.branch``. Ctrl-C ends the
        branch where it is.
        """
        from pfaff.bifurcation.hopf.births import born_at
        from pfaff.bifurcation.orbits.ways import followed

        course = Course.asked(to, step, points, bounds, progress)
        start = born_at(self, self.case.load_name(self.load if load is None else load), course.to, accuracy)
        return followed(start, course)

    def curve(
        self,
        name: str,
        to: float,
        *,
        step: float = STEP,
        points: int = POINTS,
        bounds: Bounds = None,
        progress: Callable[[Any], Any] | None = None,
    ) -> Curve:
        """The curve of Hopf points in the load and another parameter, until that parameter is ``to``.

        Points of codimension two are located on it: ``hopf.curve("c_i", to=30).of_kind("generalised hopf")``.
        """
        from pfaff.bifurcation.curves.curves import curve_of_hopf

        return curve_of_hopf(self, name, Course.asked(to, step, points, bounds, progress))

    def plot(self) -> Figure:
        from pfaff.draw.hopf import draw_hopf

        return draw_hopf(self)


def crosses(crossing: complex) -> bool:
    """Whether a pair moves off the imaginary axis at a speed that is not zero."""
    return abs(crossing.real) > ON_AXIS * abs(crossing)


def criticality_of(third: Cubic) -> str:
    """What a normal form says, in words."""
    if third.drift.any():
        return _drifting(third)
    if abs(third.c1.real) <= VANISHES * third.size:
        return "degenerate: l1 = 0, a generalised Hopf point" + (" or a centre" if len(third.drift) else "")
    return "supercritical" if third.c1.real < 0 else "subcritical"


def _drifting(third: Cubic) -> str:
    """Fiedler, Liebscher and Alexander (2000): y² − r² a/Re α is conserved to leading order."""
    signs = third.drift * third.growth
    if len(signs) > 1 or not signs.all():
        return "no branch of cycles: the oscillation moves along the family of equilibria"
    kind = "elliptic" if signs[0] < 0 else "hyperbolic"
    return f"{kind}, on a line of equilibria along which the oscillation moves: no branch of cycles"


def find_hopf(case: Bound, load: str, to: float | None, near: float | None, fixed: Mapping[str, float]) -> Hopf:
    """The first Hopf point along the path, or the one nearest to a load."""
    to, near = (None if x is None else end_from(word, x) for word, x in (("to", to), ("near", near)))
    fixed = {name: number_from(name, value) for name, value in fixed.items()}
    path = case.path(load, fixed)
    sign, distances = _intervals(path, to, near)
    for distance in distances:
        along = search_along(Outward(path, sign), distance, _usual_range(path, distance))
        value = _load_within(along, near)
        if value is not None:
            return hopf_at(path, value, {"load": load, "to": to, "near": near, **fixed})
        if along.ended:
            break
    raise NoBifurcationError(_absence(along))


def _usual_range(path: Path, distance: float | None) -> float:
    """The natural range of a load; where nothing is known about a parameter, the interval that is searched."""
    if isinstance(path, LoadPath) and not path.origin:
        return natural_range(path)
    assert distance is not None
    return distance


def _load_within(along: Along, near: float | None) -> float | None:
    """The load of the first Hopf point in an interval, or of the nearest to a load."""
    path, unit = along.path.path, along.search.unit
    at_origin = _crossing_at_origin(path, unit)
    start = [(path.origin, at_origin)] if len(at_origin) else []
    found = ((along.path.load(place), pairs) for place, pairs in hopf_points(along.search) if place > SAME * unit)
    points = chain(start, found)
    first = next(points, None) if near is None else min(points, key=lambda point: abs(point[0] - near), default=None)
    if first is not None and len(first[1]) > 1:
        raise NoBifurcationError(_several(path, *first))
    return None if first is None else first[0]


def _crossing_at_origin(path: Path, distance: float) -> np.ndarray:
    """Frequencies of the pairs that are on the imaginary axis where a path begins, and on different sides about it:
    one side alone does not tell whether they cross."""
    values = path.linearise(path.origin).eigenvalues()
    pairs = values[(np.abs(values.real) <= ON_AXIS * np.abs(values)) & (values.imag > 0)]
    if not len(pairs):
        return pairs.imag
    end, rates = path.end, []
    try:
        for sign in (-1.0, 1.0):
            beside = path.linearise(path.origin + sign * BESIDE * distance).eigenvalues()
            rates.append([beside[np.abs(beside - pair).argmin()].real for pair in pairs])
    except PfaffError:
        return pairs.imag[:0]
    finally:
        path.end = end
    before, after = np.array(rates)
    noise = ROUNDING * np.abs(pairs)
    return np.sort(pairs.imag[(before * after < 0) & (np.minimum(np.abs(before), np.abs(after)) > noise)])


def _intervals(path: Path, to: float | None, near: float | None) -> tuple[float, Sequence[float | None]]:
    """Direction and lengths of the search, one after another; none where all loads are searched."""
    if isinstance(path, LoadPath) and not path.origin:
        wanted = near if to is None else to
        return (-1.0 if wanted is not None and wanted < 0 else 1.0), [None if to is None else checked_end(abs(to))]
    if to is None and (near is None or near == path.origin):
        return 1.0, _ranges(path)
    end = path.origin + 1.5 * (near - path.origin) if to is None and near is not None else to
    assert end is not None
    if end == path.origin:
        raise ParameterError(f"to={end:g} is the value that {path.load} has: give another end of the search")
    return float(np.sign(end - path.origin)), [abs(end - path.origin)]


def _ranges(path: Path) -> list[float]:
    """How far a parameter is searched that may have any units: relative to its value, and to what changes the Jacobian
    by its own size if that is another scale."""
    if isinstance(path, LoadPath):
        return [RANGE * abs(path.origin)]
    usual = RANGE * (1 + abs(path.origin))
    around, x = field_at(path, path.origin, 1.0)
    J = around.jacobian(x, path.origin)
    try:
        change = _change(around, bordering(J, around.zeros, around.held), x, path.origin)
    except ConvergenceError:  # the equilibrium is singular where the search begins
        return [usual]
    scaled, D = balanced(J)
    size, by_load = np.linalg.norm(scaled), np.linalg.norm(change * D / D[:, None])
    natural = float(RANGE * size / by_load) if by_load > FLAT * size else usual
    return [usual] if usual / ALIKE <= natural <= usual * ALIKE or not natural else sorted([natural, usual])


def _several(path: Path, load: float, frequencies: np.ndarray) -> str:
    at = 0.0 if abs(load) < 10 * SAME * abs(load - path.origin) else load
    listed = ", ".join(f"{each:.8g}" for each in frequencies)
    return (
        f"{len(frequencies)} pairs of eigenvalues of {path.case.system.name} cross the imaginary axis together at "
        f"{path.load} = {at:.10g}, with the frequencies {listed}: a multiple Hopf point, which has no l1; change "
        "another parameter to part them, or look for another Hopf point with near=…"
    )


def _absence(along: Along) -> str:
    path = along.path.path
    text = f"no Hopf point of {path.case.system.name} from {path.load} = {path.origin:g} to {along.to:.10g}"
    if along.ended:
        what = "runs to infinity" if path.boundless else "folds back"
        return f"{text}, where the equilibrium {what}: start from another equilibrium, or vary another parameter"
    if isinstance(path, LoadPath) and not path.linearise(path.origin).C.any():
        return f"{text}: without damping eigenvalues meet on the imaginary axis and do not cross it; add damping"
    return f"{text}: search farther with to=…, or in the other direction"


def hopf_at(path: Path, load: float, asked: Mapping[str, Any]) -> Hopf:
    """The Hopf point at a load on a path, with everything known about it."""
    pairs = imaginary_pairs(path.linearise(load).eigenvalues())
    if not len(pairs):
        raise NoBifurcationError(f"no pair of eigenvalues is imaginary at {path.load} = {load:.12g}")
    around, x = field_at(path, load, pairs[0].imag)
    border = bordering(around.jacobian(x, load), around.zeros, around.held)
    critical = _crossing_one(around, border, x, load, pairs) if len(pairs) > 1 else complex(pairs[0])

    def spectrum(x: np.ndarray, load: float) -> np.ndarray:
        lin = path.linearise(load)
        return lin.spectrum().values if isinstance(path, LoadPath) else lin.eigenvalues()

    omega = critical.imag
    if not isinstance(path, LoadPath):  # its quadratic pencil knows load and frequency better than the flow does
        x, load, omega = hopf_near(around, border, x, load, critical)
    return hopf_of(path.case, around, border, x, load, omega, spectrum, path.origin, asked)


def _crossing_one(around: Field, border: Border, x: np.ndarray, load: float, pairs: np.ndarray) -> complex:
    """The nearest to the axis of those pairs that the load moves: undamped modes are on it at every load."""
    values, rates = slopes(around.jacobian(x, load), _change(around, border, x, load))
    speeds = np.abs([rates[np.abs(values - pair).argmin()].real for pair in pairs])
    return complex(pairs[speeds >= STAYS * speeds.max()][0])


def hopf_of(
    case: Bound,
    around: Field,
    border: Border,
    x: np.ndarray,
    load: float,
    omega: float,
    spectrum: Callable[[np.ndarray, float], np.ndarray],
    origin: float,
    asked: Mapping[str, Any],
) -> Hopf:
    """The Hopf point that is known to be here, with the frequency ω; ``spectrum`` leaves structural zeros out."""
    A = around.jacobian(x, load)
    q, p = _normalised(A, omega)
    values = _eigenvalues(spectrum(x, load), omega)
    crossing = _crossing(around, border, x, load, q, p)
    expansion = _expansion(around, border, x, load, omega, A, q, p, crossing)
    return Hopf(
        case=case.unchecked(**{around.load: load}),
        load=around.load,
        value=load,
        omega=omega,
        states=around.flow.states,
        x=x,
        eigenvalues=values,
        structural_zeros=around.zeros,
        q=q,
        p=p,
        distance=float(np.abs(_others(values, omega).real).min(initial=np.inf)),
        crossing=crossing,
        normal_form=_cubic(expansion, around.load, load),
        expansion=expansion,
        origin=origin,
        asked=asked,
        around=around,
    )


def _cubic(expansion: Expansion, name: str, load: float) -> Cubic:
    try:
        return cubic(expansion)
    except np.linalg.LinAlgError as problem:
        raise ConvergenceError(
            f"at the Hopf point at {name} = {load:.10g} another eigenvalue is twice the critical one (a resonance), so "
            "that there is no normal form of the pair alone: change another parameter"
        ) from problem


def normal_form_at(around: Field, x: np.ndarray, load: float, omega: float) -> tuple[Expansion, Cubic]:
    """The expansion and the normal form to third order where ±iω are eigenvalues."""
    A = around.jacobian(x, load)
    q, p = _normalised(A, omega)
    border = bordering(A, around.zeros, around.held)
    crossing = _crossing(around, border, x, load, q, p) if around.zeros and around.loaded else 0j
    expansion = _expansion(around, border, x, load, omega, A, q, p, crossing)
    return expansion, cubic(expansion)


def _expansion(
    around: Field,
    border: Border,
    x: np.ndarray,
    load: float,
    omega: float,
    A: np.ndarray,
    q: np.ndarray,
    p: np.ndarray,
    crossing: complex,
) -> Expansion:
    left, right = _family(A, around)

    def beside(distance: float) -> tuple[complex, np.ndarray]:
        return _drift(around, border, x, q, right, load + distance * omega / abs(crossing))

    known = right.shape[1] and crosses(crossing)
    return Expansion(A, partial(around.form, x, load), omega, q, p, left, right, beside if known else None)


def _drift(
    around: Field, border: Border, x: np.ndarray, q: np.ndarray, right: np.ndarray, load: float
) -> tuple[complex, np.ndarray]:
    """The critical eigenvalue and the drift P·B(q, q̄) along a family at a load beside that of a Hopf point."""
    for _ in range(BESIDE_STEPS):
        x = x - border.solve(around.jacobian(x, load), around.rhs(x, load))
    A = around.jacobian(x, load)
    values, vectors = np.linalg.eig(A)
    k = int(np.abs(q.conj() @ vectors).argmax())
    there = vectors[:, k] / np.linalg.norm(vectors[:, k])
    left = bordering(A, around.zeros).left
    left = left @ np.linalg.inv(right.T @ left)
    return complex(values[k]), (left.T @ around.form(x, load, there, there.conj())).real


def hopf_near(
    around: Field, border: Border, x: np.ndarray, load: float, critical: complex
) -> tuple[np.ndarray, float, float]:
    """The Hopf point near an equilibrium with a nearly imaginary pair: its x, load and ω.

    Newton's method on f(x, load) = 0, A q = iω q, ⟨c, q⟩ = 1 for these and q.
    """
    values, vectors = np.linalg.eig(around.jacobian(x, load))
    q = vectors[:, np.abs(values - critical).argmin()]
    q, c, omega, held = q / np.linalg.norm(q), q / np.linalg.norm(q), critical.imag, border.rows @ x
    n, k, last = len(x), len(border.rows), np.inf
    unfolding = np.zeros(k)
    for _ in range(NEWTON_STEPS):
        residual, jacobian = _extended(around, border, c, held, x, load, omega, q, unfolding)
        step = -_equilibrated(jacobian, residual)
        if not np.isfinite(step).all():
            break
        x, load, omega = x + step[:n], load + step[n], omega + step[n + 1]
        q = q + step[n + 2 : 2 * n + 2] + 1j * step[2 * n + 2 : 3 * n + 2]
        unfolding = unfolding + step[3 * n + 2 :]
        size = max(abs(step[n + 1]) / abs(omega), np.abs(step[n + 2 : 3 * n + 2]).max())
        if size == 0 or (size < SETTLED and size >= last / 2):
            return x, float(load), float(omega)
        last = size
    if last < SETTLED:
        return x, float(load), float(omega)
    raise ConvergenceError(
        f"Newton's method did not settle at the Hopf point near {around.load} = {load:.10g}: the pair may touch the "
        "imaginary axis without crossing it, or meet another"
    )


def _extended(
    around: Field,
    border: Border,
    c: np.ndarray,
    held: np.ndarray,
    x: np.ndarray,
    load: float,
    omega: float,
    q: np.ndarray,
    unfolding: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Residual and Jacobian of the extended system in (x, load, ω, Re q, Im q, unfolding of a family)."""
    n, k = len(x), len(unfolding)
    A, (f_load, A_load) = around.jacobian(x, load), around.by_load(x, load)
    shifted = A - 1j * omega * np.eye(n)
    by_x = np.column_stack([around.form(x, load, e, q) for e in np.eye(n)])
    vector = np.column_stack([by_x, A_load @ q, -1j * q, shifted, 1j * shifted])
    zeros = np.zeros
    rows = [
        np.column_stack([A, f_load, zeros((n, 2 * n + 1)), border.columns]),
        np.column_stack([vector.real, zeros((n, k))]),
        np.column_stack([vector.imag, zeros((n, k))]),
        np.column_stack([zeros((1, n + 2)), c.real[None], c.imag[None], zeros((1, k))]),
        np.column_stack([zeros((1, n + 2)), -c.imag[None], c.real[None], zeros((1, k))]),
        np.column_stack([border.rows, zeros((k, 2 * n + 2 + k))]),
    ]
    scale = np.vdot(c, q) - 1
    residual = [around.rhs(x, load) + border.columns @ unfolding, (shifted @ q).real, (shifted @ q).imag]
    return np.concatenate([*residual, [scale.real, scale.imag], border.rows @ x - held]), np.vstack(rows)


def _equilibrated(matrix: np.ndarray, right: np.ndarray) -> np.ndarray:
    """The solution with rows, then columns, scaled to unit size: states and loads come in any units."""
    rows = np.abs(matrix).max(axis=1, keepdims=True)
    columns = np.abs(matrix / np.where(rows, rows, 1.0)).max(axis=0)
    rows, columns = np.where(rows, rows, 1.0), np.where(columns, columns, 1.0)
    try:
        return np.linalg.solve(matrix / rows / columns, right / rows[:, 0]) / columns
    except np.linalg.LinAlgError:
        return np.full(len(right), np.nan)


def _normalised(A: np.ndarray, omega: float) -> tuple[np.ndarray, np.ndarray]:
    """q with Aq = iω q, ⟨q, q⟩ = 1, its largest component real and positive, and p with Aᵀp = −iω p, ⟨p, q⟩ = 1."""
    matrix, scale = balanced(A)
    left, _, right = np.linalg.svd(matrix - 1j * omega * np.eye(len(A)))
    q, p = right[-1].conj() * scale, left[:, -1] / scale
    q = q / np.linalg.norm(q)
    largest = q[(np.abs(q) > (1 - TIE) * np.abs(q).max()).argmax()]
    q = q * (abs(largest) / largest)
    return q, p / np.conj(np.vdot(p, q))


def _family(A: np.ndarray, around: Field) -> tuple[np.ndarray, np.ndarray]:
    """Left and right null vectors with left·right = 1."""
    border = bordering(A, around.zeros)
    overlap = border.right.T @ border.left
    if np.linalg.svd(overlap)[1].min(initial=1.0) < SEMISIMPLE or border.right.shape[1] < around.zeros:
        raise ConvergenceError(
            "the zero eigenvalues of the family of equilibria form a Jordan block (steady motions along it), so that "
            "there is no normal form: describe the motion along it by an ignorable coordinate, or damp it"
        )
    return border.left @ np.linalg.inv(overlap), border.right


def _crossing(around: Field, border: Border, x: np.ndarray, load: float, q: np.ndarray, p: np.ndarray) -> complex:
    """dλ/dload = ⟨p, dA/dload q⟩, A changing with the load itself and with the equilibrium."""
    moved, A_load = _moved(around, border, x, load)
    return complex(np.vdot(p, A_load @ q + around.form(x, load, moved, q)))


def _change(around: Field, border: Border, x: np.ndarray, load: float) -> np.ndarray:
    """dA/dload along the equilibrium."""
    moved, A_load = _moved(around, border, x, load)
    return A_load + np.column_stack([around.form(x, load, moved, e) for e in np.eye(len(x))])


def _moved(around: Field, border: Border, x: np.ndarray, load: float) -> tuple[np.ndarray, np.ndarray]:
    """dx/dload of the equilibrium, and ∂A/∂load where it stays."""
    f_load, A_load = around.by_load(x, load)
    try:
        return border.solve(around.jacobian(x, load), -f_load), A_load
    except np.linalg.LinAlgError as problem:
        raise ConvergenceError(
            f"an eigenvalue passes zero at the Hopf point at {around.load} = {load:.10g} (a zero-Hopf point), so that "
            "there is no normal form of the pair alone: change another parameter"
        ) from problem


def _eigenvalues(values: np.ndarray, omega: float) -> np.ndarray:
    """The least stable first, the critical pair without rounding."""
    values = np.concatenate([_others(values, omega), [1j * omega, -1j * omega]])
    return values[np.lexsort((-values.imag, -values.real))]


def _others(values: np.ndarray, omega: float) -> np.ndarray:
    """All eigenvalues but the critical pair."""
    return np.delete(values, [np.abs(values - 1j * omega).argmin(), np.abs(values + 1j * omega).argmin()])
