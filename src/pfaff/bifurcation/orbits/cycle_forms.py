"""Normal forms of cycles at folds, period doublings, symmetry breakings and tori: which side new orbits are on.

Periodic normalisation (Kuznetsov, Govaerts, Doedel and Dhooge, SIAM J. Numer. Anal. 43, 2005): along the cycle u(τ)
x = u + ξ v + …, where the phase and the amplitude obey

    fold             τ̇ = 1 − ξ + …,       ξ̇ = b ξ² + …
    period doubling  τ̇ = 1 + a ξ² + …,    ξ̇ = c ξ³ + …
    torus            τ̇ = 1 + a |ξ|² + …,  ξ̇ = iωξ + d ξ|ξ|² + …

Solvability is asked of the collocation equations themselves: their left null vector stands for the adjoint solution.
A multiplier −1 of half a symmetric orbit, which breaks its symmetry, is a period doubling of that half.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pfaff.bifurcation.orbits.collocation import Collocation
from pfaff.bifurcation.orbits.cycles import Cycle
from pfaff.bifurcation.orbits.orbit_equations import Equations
from pfaff.errors import ConvergenceError, ParameterError, PfaffError
from pfaff.flow.jets import jets_of
from pfaff.threads import cached_property

if TYPE_CHECKING:
    from pfaff.bifurcation.orbits.chords import Point
    from pfaff.bifurcation.orbits.orbits import Special

FLIPS = ("period doubling", "symmetry breaking")
FORMS = ("fold", *FLIPS, "torus")
VANISHES = 1e-7  # a coefficient below this, relative to the terms it is made of, is zero
RESONANT = 1e-3  # distance of a multiplier from a root of unity up to the fourth, at which a torus has none
LARGE = 1000  # states at all mesh points, beyond which a normal form is taken only if it is asked for
BESIDE = (2e-3, 5e-4)  # distances along the branch at which multipliers and values of the load are compared


@dataclass(frozen=True)
class CycleForm:
    """``coefficient`` is b, c or d; ``side`` is where new orbits (at a fold: both) are, 1 above the load, −1 below.

    ``stable`` says whether they are; of a fold, whether one of the two is. ``words`` says the same. ``growth`` is how
    fast ξ grows, by the load: new orbits have ξ² = −growth·Δ/Re(coefficient), v of unit mean square on the orbit.
    """

    kind: str
    coefficient: complex
    side: int
    stable: bool
    words: str
    growth: float = float("nan")


def said(special: Special) -> str:
    """The words of the normal form; nothing where there is none, or where it would take long."""
    cycle, flow = special.point.cycle, special.problem.flow
    if special.kind not in FORMS or special.note or cycle.x.size > LARGE or flow.heavy:
        return ""
    try:
        return special.normal_form.words
    except (PfaffError, np.linalg.LinAlgError):
        return ""


def cycle_form(special: Special) -> CycleForm:
    """The normal form at a special point, if its kind has one."""
    if special.kind not in FORMS:
        raise ParameterError(f"a {special.kind} has no normal form here: ask at a {', '.join(FORMS)}")
    if len(special.problem.held):
        raise ParameterError("something is conserved, so that orbits come in families: no normal form of one is taken")
    variation = Variation(special.problem.collocation, special.point.cycle)
    if special.kind == "fold":
        return _at_fold(special, variation)
    beside = _Beside(special)
    if special.kind in FLIPS:
        coefficient, terms = _flip(variation)
        new = "orbits of twice the period" if special.kind == "period doubling" else "orbits without the symmetry"
    else:
        coefficient, terms = _torus(variation, beside.multiplier)
        new = "tori"
    if not np.isfinite(coefficient) or abs(coefficient.real) <= VANISHES * terms:
        raise ConvergenceError(f"the coefficient of the {special.kind} vanishes, or is not resolved")
    supercritical = coefficient.real < 0
    # New orbits are where |ξ|² = −(growth of ξ)/coefficient is positive: beyond the point, if they are stable.
    side = int(np.sign(beside.growth_by_load)) * (1 if supercritical else -1)
    stable = supercritical and beside.others == 0
    words = (
        f"{'super' if supercritical else 'sub'}critical: {'stable' if stable else 'unstable'} {new} "
        f"{'above' if side > 0 else 'below'}"
    )
    growth = beside.growth_by_load / special.point.cycle.scalars[0]
    return CycleForm(special.kind, coefficient, side, stable, words, float(growth))


def _at_fold(special: Special, variation: Variation) -> CycleForm:
    """Both orbits are on the side to which the branch bends; one of them has a multiplier more inside the circle."""
    bends = [_moved(special, sign * BESIDE[0]).value - special.value for sign in (1, -1)]
    if not bends[0] * bends[1] > 0:
        raise ConvergenceError("the branch does not bend to one side here: a cusp, or a fold that is not resolved")
    side = 1 if bends[0] > 0 else -1
    stable = min(_moved(special, sign * BESIDE[0]).unstable for sign in (1, -1)) == 0
    pair = "a stable and an unstable orbit" if stable else "two unstable orbits"
    return CycleForm("fold", complex(_fold(variation)), side, stable, f"{pair} {'above' if side > 0 else 'below'}")


def _moved(special: Special, distance: float) -> Point:
    """The point of the branch at a distance along its tangent."""
    point, c = special.point, special.problem.continuation(1 + abs(special.value))
    point = c.adopted(point)
    solution = c.corrected(point.cycle.moved(point.tangent, distance), point, point.metric.dual(point.tangent))
    return c.point(solution, point.tangent)


class _Beside:
    """How the critical multiplier moves with the load, from orbits on both sides of a special point."""

    def __init__(self, special: Special) -> None:
        values = special.point.multipliers
        if special.kind in FLIPS:
            near = [int(np.abs(values + 1).argmin())]
        else:
            complex_ = np.flatnonzero(values.imag > 0)
            near = [int(complex_[np.abs(np.abs(values[complex_]) - 1).argmin()])]
        self.multiplier = complex(values[near[0]] / abs(values[near[0]]))
        rates = []
        for distance in BESIDE:
            a, b = (_moved(special, sign * distance) for sign in (-1, 1))
            sizes = [np.log(np.abs(p.multipliers[np.abs(p.multipliers - values[near[0]]).argmin()])) for p in (a, b)]
            if (b.value - a.value) and sizes[0] * sizes[1] < 0:
                rates.append((sizes[1] - sizes[0]) / (b.value - a.value))
        if not rates:
            raise ConvergenceError(f"the multiplier does not cross the unit circle at the {special.kind} by the load")
        self.growth_by_load = float(rates[-1])
        both = [_moved(special, sign * BESIDE[0]).unstable for sign in (-1, 1)]
        self.others = min(both)


# Coefficients


def _fold(v: Variation) -> float:
    """b = ⟨φ, B(v, v)/2 + A v⟩ with v̇ − A v = u̇ and ⟨φ, v⟩ = 1; not a number where the period has no slope."""
    equations = v.equations_for(1.0)
    null, left = equations.null()
    velocity = v.rates
    first = equations.solve(v.ends(velocity), null, left)
    stage = v.at_stages(first, velocity)
    scale = left @ v.ends(stage).ravel()
    if abs(scale) <= VANISHES * np.linalg.norm(left) * np.linalg.norm(v.ends(stage)):
        return float("nan")
    return float((left @ v.ends(v.B(stage, stage) / 2 + v.A(stage)).ravel() / scale).real)


def _flip(v: Variation) -> tuple[complex, float]:
    """c = ⟨v*, (C(v,v,v) + 3B(v,h))/6 − a A v⟩ with ḣ − A h = B(v,v) − 2a u̇."""
    wave, left = v.wave(-1.0)
    trivial = v.equations_for(1.0)
    null, phase = trivial.null()
    square = v.B(wave, wave)
    a = v.share(phase, square, v.rates) / 2
    right = square - 2 * a * v.rates
    h = v.at_stages(trivial.solve(v.ends(right), null, phase), right)
    parts = [v.C(wave, wave, wave) / 6, v.B(wave, h) / 2, -a * v.A(wave)]
    shares = [v.share(left, part, wave) for part in parts]
    return complex(sum(shares)), float(sum(abs(share) for share in shares))


def _torus(v: Variation, multiplier: complex) -> tuple[complex, float]:
    """d = ⟨v*, (C(v,v,v̄) + 2B(h11,v) + B(h20,v̄))/2 − a v̇⟩ with waves v(τ)e^{iωτ} carried by the linear flow."""
    if any(abs(multiplier**k - 1) < RESONANT for k in (1, 2, 3, 4)):
        raise ConvergenceError("the multipliers are at a strong resonance: a torus there has no normal form of its own")
    wave, left = v.wave(multiplier)
    back = wave.conj()
    trivial = v.equations_for(1.0)
    null, phase = trivial.null()
    mean = v.B(wave, back)
    a = v.share(phase, mean, v.rates)
    right = mean - a * v.rates
    h11 = v.at_stages(trivial.solve(v.ends(right), null, phase), right)
    square = v.B(wave, wave)
    h20 = v.at_stages(v.equations_for(multiplier**2).solve(v.ends(square)), square)
    # v̇ e^{iωτ} is A times the wave v e^{iωτ} less iω times the wave, whose share iωa is left out: Re d is without it.
    parts = [v.C(wave, wave, back) / 2, v.B(h11, wave), v.B(h20, back) / 2, -a * v.A(wave)]
    shares = [v.share(left, part, wave) for part in parts]
    return complex(sum(shares)), float(sum(abs(share) for share in shares))


class Variation:
    """The equations of variation ẇ = A w + g along a cycle, discretised as the cycle itself is.

    Functions along the cycle are arrays [interval, stage, state].
    """

    def __init__(self, collocation: Collocation, cycle: Cycle) -> None:
        self.c, self.cycle = collocation, cycle
        e, g = collocation.equations, collocation.gauss
        N, m, n = cycle.intervals, g.degree, cycle.x.shape[1]
        X = collocation.stages(cycle)
        f, J = rates_and_jacobians(e, X, cycle.value)
        self.x = X.reshape(n, m, N).transpose(2, 1, 0)
        self.rates = f.reshape(n, m, N).transpose(2, 1, 0)
        self.jacobians = J.reshape(n, n, m, N).transpose(3, 2, 0, 1)
        self.numbers = e.numbers_at(cycle.value)
        steps = cycle.scalars[0] * cycle.mesh.h
        stage = np.eye(m * n) - steps[:, None, None] * np.einsum("ik,jkab->jiakb", g.A, self.jacobians).reshape(
            N, m * n, m * n
        )
        self._inverse = np.linalg.inv(stage)
        self._steps = steps
        ones = np.tile(np.eye(n), (m, 1))
        self._carried = (self._inverse @ ones).reshape(N, m, n, n)
        self.G = np.eye(n) + steps[:, None, None] * np.einsum("k,jkab,jkbc->jac", g.b, self.jacobians, self._carried)

    @cached_property
    def weights(self) -> np.ndarray:
        return self.cycle.mesh.h[:, None] * self.c.gauss.b

    def A(self, w: np.ndarray) -> np.ndarray:
        return np.einsum("jkab,jkb->jka", self.jacobians, w)

    def B(self, u: np.ndarray, w: np.ndarray) -> np.ndarray:
        return self._form(u, w)

    def C(self, u: np.ndarray, w: np.ndarray, z: np.ndarray) -> np.ndarray:
        return self._form(u, w, z)

    def _form(self, *vectors: np.ndarray) -> np.ndarray:
        jets = jets_of(self.c.equations.flow)
        out = np.empty(self.x.shape, dtype=np.result_type(*vectors))
        for place in np.ndindex(self.x.shape[:2]):
            out[place] = jets.form(self.x[place], self.numbers, *(each[place] for each in vectors))
        return out

    def _particular(self, g: np.ndarray) -> np.ndarray:
        """Stages of w from w = 0 at the start of every interval."""
        N, m, n = self.x.shape
        inner = self._steps[:, None, None] * np.einsum("ik,jka->jia", self.c.gauss.A, g)
        return (self._inverse @ inner.reshape(N, m * n, 1)).reshape(N, m, n)

    def ends(self, g: np.ndarray) -> np.ndarray:
        """What g adds to w at the end of every interval, a row each."""
        rate = self.A(self._particular(g)) + g
        return self._steps[:, None] * np.einsum("k,jka->ja", self.c.gauss.b, rate)

    def at_stages(self, w: np.ndarray, g: np.ndarray | None = None) -> np.ndarray:
        """A solution at the stages, from its values at the mesh points."""
        found = np.einsum("jkab,jb->jka", self._carried, w[:-1])
        return found if g is None else found + self._particular(g)

    def equations_for(self, multiplier: complex) -> Around:
        return Around(self.G, multiplier * self.cycle.signs)

    def wave(self, multiplier: complex) -> tuple[np.ndarray, np.ndarray]:
        """The solution that a multiplier brings back, of unit mean square, at the stages; and its left null vector."""
        null, left = self.equations_for(multiplier).null()
        stages = self.at_stages(null)
        stages = stages / np.sqrt((self.weights[:, :, None] * np.abs(stages) ** 2).sum())
        return stages, left

    def share(self, left: np.ndarray, g: np.ndarray, unit: np.ndarray) -> complex:
        """⟨adjoint, g⟩, normalised by what a unit has."""
        return complex((left @ self.ends(g).ravel()) / (left @ self.ends(unit).ravel()))


class Around:
    """w_{j+1} − G_j w_j = right, w_N = signs·w_0: solved whole, so that nothing that grows drowns the rest."""

    def __init__(self, G: np.ndarray, closing: np.ndarray) -> None:
        N, n = G.shape[:2]
        self.N, self.n = N, n
        complex_ = np.iscomplexobj(closing) and np.abs(np.imag(closing)).max() > 0
        closing = closing if complex_ else np.real(closing)
        L = np.zeros((N * n, N * n), dtype=closing.dtype)
        for j in range(N):
            row = slice(j * n, (j + 1) * n)
            L[row, row] -= G[j]
            if j + 1 < N:
                L[row, (j + 1) * n : (j + 2) * n] += np.eye(n)
            else:
                L[row, :n] += np.diag(closing)
        self.L, self.closing = L, closing

    def _closed(self, w: np.ndarray) -> np.ndarray:
        w = w.reshape(self.N, self.n)
        return np.vstack([w, self.closing * w[0]])

    def null(self) -> tuple[np.ndarray, np.ndarray]:
        """The right null vector at the mesh points, and the left one over all rows, by bordering twice."""
        size, generator = len(self.L), np.random.default_rng(0)
        column, row = generator.normal(size=(2, size))
        for _ in range(3):
            whole = np.block([[self.L, column[:, None]], [row[None], np.zeros((1, 1))]])
            unit = np.append(np.zeros(size), 1.0)
            right, left = np.linalg.solve(whole, unit)[:size], np.linalg.solve(whole.T, unit)[:size]
            right, left = right / np.linalg.norm(right), left / np.linalg.norm(left)
            column, row = left.conj(), right.conj()
        return self._closed(right), left

    def solve(self, ends: np.ndarray, null: np.ndarray | None = None, left: np.ndarray | None = None) -> np.ndarray:
        """At the mesh points; where it is singular, the solution without a part along the null vector."""
        right = ends.ravel()
        if null is None or left is None:
            return self._closed(np.linalg.solve(self.L, right))
        row = null[:-1].ravel().conj()
        whole = np.block([[self.L, left.conj()[:, None]], [row[None], np.zeros((1, 1))]])
        return self._closed(np.linalg.solve(whole, np.append(right, 0.0))[:-1])


def rates_and_jacobians(equations: Equations, X: np.ndarray, value: float) -> tuple[np.ndarray, np.ndarray]:
    """f and ∂f/∂x of all states, those that follow others included, a column for each state given."""
    e, (n, count) = equations, X.shape
    values = e(np.ascontiguousarray(X), value)
    f, J = np.zeros((n, count)), np.zeros((n, n, count))
    f[e.rows], J[e.rows] = values[: len(e.rows)], values[len(e.rows) :][: len(e.rows) * n].reshape(-1, n, count)
    following, places = e.follow
    f[following], J[following, e.rows[places]] = X[e.rows[places]], 1.0
    return f, J
