"""The first flutter load of an assembly, on the sparse multiplier pencil [[M ω² + C ω + K, Aᵀ], [A, 0]].

Three steps, none in eliminated coordinates. The lowest modes of the unloaded assembly give a small Galerkin model
that predicts the load. Newton's method on the bordered pencil locates it to rounding: where two frequencies meet if
nothing depends on the velocities, where a pair crosses the imaginary axis otherwise (Govaerts 2000, Numerical Methods
for Bifurcations of Dynamical Equilibria). Shift-invert Arnoldi iterations below and above it confirm that it is the
first (Lehoucq, Sorensen and Yang 1998, ARPACK Users' Guide). Nothing here knows how the assembly is connected.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import linalg

from pfaff.errors import ConvergenceError, ParameterError, RankError
from pfaff.flow.assembly import Assembly, SparseLinearisation
from pfaff.rest.assemblies import LoadPath
from pfaff.stability.large_modes import Border, lowest_squares, nearest_roots
from pfaff.statement.told import told
from pfaff.statement.values import MOST, number_within, whole_number

UNRESOLVED = 1e-7  # shift-inverted eigenvalues below this, relative to the largest, are rounding
REAL = 1e-6  # the imaginary part of a square, relative to it, that rounding may cause
GROWTH = 1e-9  # the growth rate, relative to the frequency, that rounding may cause
MARGIN = 1e-3  # how far from the critical load, relative to it, its two sides are looked at
CHECKED = (0.3, 0.6, 0.9)  # shares of the predicted load at which stability is confirmed
SHORTEST = 1e-12  # step of load, relative to it
ROUNDING = 1e-11  # of shift-inverted eigenvalues, relative to the largest
UNCOUPLED = 1e-9  # share of the geometric stiffness on the lowest modes that counts as none
SCAN = 1.08  # ratio of successive loads scanned with the small model
STACK = 16  # loads scanned at once
MARCH = 16  # steps of load when nothing is predicted
NEWTON_STEPS = 25
CONVERGED = 1e-13  # relative step of the load
STAGNATED = 1e-7  # relative steps below this that shrink no more are rounding


@told
@dataclass(frozen=True)
class CheckedLoad:
    """The lowest eigenvalues ω at one load, and how many of them grow."""

    load: float
    values: np.ndarray
    oscillating: int
    divergent: int

    @property
    def status(self) -> str:
        if not (self.oscillating or self.divergent):
            return "stable"
        parts = [f"{self.oscillating} growing oscillation(s)"] * bool(self.oscillating)
        return " and ".join(parts + [f"{self.divergent} divergent mode(s)"] * bool(self.divergent))


@told
@dataclass(frozen=True)
class SparseFlutter:
    """The first flutter load of an assembly, or the honest absence of one in the interval searched.

    ``mode`` holds the amplitudes of all coordinates, the largest of them one; ``precision`` the last Newton step
    relative to the load; ``checked`` the loads at which at least ``modes`` modes were computed, ``covered`` says which.
    """

    load: str
    value: float | None
    frequency: float | None
    mode: np.ndarray | None
    precision: float | None
    checked: tuple[CheckedLoad, ...]
    modes: int
    covered: str
    searched: tuple[float, float]
    how: str

    def __bool__(self) -> bool:
        return self.value is not None

    def __float__(self) -> float:
        if self.value is None:
            raise ParameterError(f"there is no flutter load up to {self.load} = {self.searched[1]:g}")
        return self.value

    @property
    def confirmed(self) -> bool:
        """Whether the modes watched show no growing oscillation at any checked load below, and one just above.

        It says nothing of other modes, nor of windows between the checked loads.
        """
        if self.value is None:
            return False
        below = [c for c in self.checked if c.load < self.value]
        above = [c for c in self.checked if self.value < c.load <= self.value * (1 + 2 * MARGIN)]
        return not any(c.oscillating for c in below) and any(c.oscillating for c in above)

    @property
    def status(self) -> str:
        looked = ", ".join(f"{c.load:.6g}" for c in self.checked if self.value is None or c.load < self.value)
        if self.value is None:
            return f"no flutter of the {self.modes} {self.covered} up to {self.load} = {self.searched[1]:g}: {self.how}"
        return (
            f"flutter at {self.load} = {self.value:.12g}: {self.how}; "
            f"no oscillation of the {self.modes} {self.covered} grows at {self.load} = {looked}"
        )


@dataclass(frozen=True)
class Crossing:
    """A load located by Newton's method: eigenvalue ω, mode, and the last step relative to the load."""

    load: float
    eigenvalue: complex
    mode: np.ndarray
    precision: float


def flutter_load(
    assembly: Assembly, to: float | None = None, modes: int = 6, start: Any = None, fixed: Sequence[int] = ()
) -> SparseFlutter:
    """The first load in [0, to] at which one of the lowest ``modes`` modes starts to grow as an oscillation.

    Flutter that joins only higher modes is not seen: where the spectrum is dense, ask for more modes until the load
    stays the same. An assembly of few coordinates is searched with all its modes.

    Without ``to`` the search ends where the load outweighs the stiffness of the highest of these modes.
    """
    if whole_number("modes", modes, 0, MOST, "ask for fewer") < 2:
        raise ParameterError(f"modes={modes}: flutter joins at least two modes, ask for 2 or more")
    if to is not None:
        to = number_within("to", to, lambda x: x > 0, "the load is searched from zero to a positive finite value")
    search = Search(LoadPath(assembly, start, fixed), modes, to)
    if search.check(0.0).oscillating:
        return search.result(search.seen(0.0), "already at zero load")
    crossing = search.predicted() or search.marched()
    return search.result(crossing, search.describe(crossing))


class Search:
    """The search for the first flutter load on one path: what was predicted, located and checked."""

    def __init__(self, path: LoadPath, modes: int, to: float | None) -> None:
        self.path, self.modes = path, modes
        self.checked: dict[float, CheckedLoad] = {}
        origin, probe = path.linearise(0.0), path.linearise(path.probe)
        self.view: Reversible | Damped = Reversible() if origin.reversible and probe.reversible else Damped()
        squares, vectors = lowest_squares(origin, modes)
        if isinstance(self.view, Reversible):
            self._note(0.0, squares)
        shapes = linalg.orth(np.hstack([vectors.real, vectors.imag]), rcond=UNRESOLVED)
        self.model = Model(path, self.view, shapes)
        self.reach = path.reachable(self.model.reach if to is None else float(to))
        path.straighten(self.reach)

    def check(self, load: float, near: complex | None = None) -> CheckedLoad:
        """The eigenvalues of the modes at risk: near a frequency, by default the one that the small model suspects."""
        if load not in self.checked:
            near = near or self.model.oscillation(load).eigenvalue
            self._note(load, self.view.lowest(self.path.linearise(load), self.modes, near)[0])
        return self.checked[load]

    def predicted(self) -> Crossing | None:
        """Newton's method from the prediction of the small model, if what it finds is confirmed as the first."""
        guess = self.model.first(self.reach)
        if guess is None or any(self.check(share * guess.load).oscillating for share in CHECKED):
            return None
        return self._confirmed(guess, CHECKED[-1] * guess.load, np.inf)

    def marched(self) -> Crossing | None:
        """The lowest modes from load to load; where an oscillation grows, halve the step until Newton succeeds."""
        low = high = 0.0
        for load in [0.0, *self._loads()]:
            if self.check(load).oscillating:
                high = load
                break
            low = load
        if not high:
            return None
        while high - low > SHORTEST * high:
            middle = (low + high) / 2
            low, high = (low, middle) if self.check(middle).oscillating else (middle, high)
            crossing = self._confirmed(self.seen(high), low, high)
            if crossing:
                return crossing
        return replace(self.seen(high), precision=SHORTEST)

    def seen(self, load: float) -> Crossing:
        """The growing oscillation at a load, as a start for Newton's method."""
        values, vectors = self.view.lowest(
            self.path.linearise(load), self.modes, self.model.oscillation(load).eigenvalue
        )
        k = self.view.critical(values)
        return Crossing(float(load), complex(self.view.omega(values)[k]), vectors[:, k], np.nan)

    def describe(self, crossing: Crossing | None) -> str:
        if crossing is None:
            ended = self.path.end is not None
            return "the equilibrium ends there" if ended else f"looked at {len(self.checked)} loads"
        if crossing.precision == SHORTEST:
            return "bracketed by the lowest modes only"
        return self.view.event

    def result(self, crossing: Crossing | None, how: str) -> SparseFlutter:
        checked = tuple(self.checked[load] for load in sorted(self.checked))
        modes = min(len(check.values) for check in checked)
        name, searched = self.path.assembly.load, (0.0, self.reach)
        where = (checked, modes, self.view.covered, searched, how)
        if crossing is None:
            return SparseFlutter(name, None, None, None, None, *where)
        mode = crossing.mode / crossing.mode[np.abs(crossing.mode).argmax()]
        return SparseFlutter(name, crossing.load, abs(crossing.eigenvalue.imag), mode, crossing.precision, *where)

    def _note(self, load: float, values: np.ndarray) -> None:
        oscillating, divergent = (int(mask.sum()) for mask in self.view.growing(values))
        self.checked[load] = CheckedLoad(load, self.view.omega(values), oscillating, divergent)

    def _loads(self) -> np.ndarray:
        """Loads to look at one by one: evenly up to twice the prediction, then in growing steps."""
        guess = self.model.first(self.reach)
        fine = self.reach if guess is None else min(2 * guess.load, self.reach)
        known = [load for load in self.checked if 0 < load <= self.reach]
        return np.unique([*known, *np.linspace(0, fine, MARCH + 1)[1:], *np.geomspace(fine, self.reach, MARCH)])

    def _confirmed(self, guess: Crossing, low: float, high: float) -> Crossing | None:
        """Newton's method from a guess; accepted between the limits if growth starts there and not before."""
        try:
            crossing = self.view.locate(self.path, guess)
        except (ConvergenceError, RankError, np.linalg.LinAlgError):
            return None
        if not low < crossing.load < min(high, self.reach):
            return None
        if self.path.bent(crossing.load):
            self.checked.clear()
            return None
        before = self.check(crossing.load * (1 - MARGIN), crossing.eigenvalue)
        after = self.check(crossing.load * (1 + MARGIN), crossing.eigenvalue)
        return crossing if after.oscillating > before.oscillating == 0 else None


class Model:
    """A Galerkin model on a few shapes: cheap enough to scan hundreds of loads for the first growing oscillation."""

    def __init__(self, path: LoadPath, view: Reversible | Damped, shapes: np.ndarray) -> None:
        self.path, self.view, self.shapes = path, view, shapes
        self.base = self._project(path.linearise(0.0))
        self.tilt = (self._project(path.linearise(path.probe)) - self.base) / path.probe
        self._check_coupling()

    def matrices(self, loads: np.ndarray) -> np.ndarray:
        """M, C and K on the shapes, for each of several loads."""
        if self.path.affine:
            return self.base[:, None] + self.tilt[:, None] * loads[:, None, None]
        return np.stack([self._project(self.path.linearise(load)) for load in loads], axis=1)

    @property
    def scale(self) -> float:
        """The smallest load at which some entry of the geometric stiffness is as large as the elastic one."""
        stiffness = np.sqrt(np.abs(np.diag(self.base[2])))
        with np.errstate(divide="ignore"):
            return float((np.outer(stiffness, stiffness) / np.abs(self.tilt[2])).min(initial=np.inf))

    @property
    def reach(self) -> float:
        """Four times the load whose geometric stiffness equals the elastic one on these shapes."""
        slope = np.linalg.norm(self.tilt[2], 2)
        return float(4 * np.linalg.norm(self.base[2], 2) / slope)

    def first(self, to: float) -> Crossing | None:
        """The first load at which the model shows a growing oscillation, to a thousandth."""
        least = min(self.scale, to) / 20
        loads = np.geomspace(least, to, int(np.log(to / least) / np.log(SCAN)) + 2)
        low = 0.0
        for some in np.array_split(loads, -(-len(loads) // STACK)):
            k = self._first_growing(some)
            if k is not None:
                break
            low = some[-1]
        else:
            return None
        low, high = (some[k - 1] if k else low), some[k]
        while high - low > MARGIN * high:
            inner = np.linspace(low, high, STACK + 2)
            k = self._first_growing(inner[1:])
            low, high = inner[-2:] if k is None else inner[k : k + 2]
        return self.oscillation(float(high))

    def oscillation(self, load: float) -> Crossing:
        """The oscillation of the model that grows most or decays least, in all coordinates."""
        values, vectors = np.linalg.eig(self.view.operator(*self.matrices(np.array([load])))[0])
        k = self.view.critical(values)
        omega = complex(self.view.omega(values)[k])
        return Crossing(load, omega, self.shapes @ vectors[: self.shapes.shape[1], k], np.nan)

    def _first_growing(self, loads: np.ndarray) -> int | None:
        values = np.linalg.eigvals(self.view.operator(*self.matrices(loads)))
        growing = self.view.growing(values)[0].any(axis=-1)
        return int(growing.argmax()) if growing.any() else None

    def _check_coupling(self) -> None:
        """The load must act among these shapes: otherwise whatever flutters, they do not."""
        assembly, probe = self.path.assembly, self.path.probe
        change = self.path.linearise(probe).stiffness - self.path.linearise(0.0).stiffness
        whole = change @ self.shapes / probe
        if np.linalg.norm(self.tilt[2]) > UNCOUPLED * np.linalg.norm(whole):
            return
        raise ParameterError(
            f"the load {assembly.load!r} of {assembly.name} does not change the stiffness of the "
            f"{self.shapes.shape[1]} lowest modes: ask for more modes, or check which parts carry the load"
        )

    def _project(self, lin: SparseLinearisation) -> np.ndarray:
        return np.array([self.shapes.T @ (matrix @ self.shapes) for matrix in (lin.M, lin.C, lin.stiffness)])


class Reversible:
    """Squares s = ω² of an assembly without forces that depend on velocity: stable while all are real and negative."""

    event = "two frequencies meet and leave the imaginary axis"
    covered = "lowest modes"

    def lowest(self, lin: SparseLinearisation, modes: int, near: complex) -> tuple[np.ndarray, np.ndarray]:
        return lowest_squares(lin, modes)

    def operator(self, M: np.ndarray, C: np.ndarray, K: np.ndarray) -> np.ndarray:
        return -np.linalg.solve(M, K)

    def omega(self, squares: np.ndarray) -> np.ndarray:
        return np.sqrt(squares.astype(complex))

    def growing(self, squares: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Which grow as oscillations and which as exponentials; errors of s rise with s² when 1/s is computed."""
        size = np.abs(squares)
        noise = REAL * size + ROUNDING * size**2 / size.min(axis=-1, keepdims=True)
        real = np.abs(squares.imag) <= noise
        return ~real & (squares.imag > 0), real & (squares.real > noise)

    def critical(self, squares: np.ndarray) -> int:
        return int((squares.imag / np.abs(squares)).argmax())

    def locate(self, path: LoadPath, guess: Crossing) -> Crossing:
        """Newton's method for a double root s: g = 0 and g_s = 0, where P v + e_i g = 0 with v_j = 1."""
        square, load = (guess.eigenvalue**2).real, guess.load
        border, n, last = Border(guess.mode), path.assembly.size, np.inf
        for _ in range(NEWTON_STEPS):
            lin, slope = path.linearise(load), path.slope(load)
            mass, tilt = lin.block("M"), slope.pencil_of_square(square)
            turn = slope.block("M")
            solve = border.factorised(lin.pencil_of_square(square))
            v, g = solve(None)
            v_s, g_s = solve(-(mass @ v))
            v_F, g_F = solve(-(tilt @ v))
            _, g_ss = solve(-2 * (mass @ v_s))
            _, g_sF = solve(-(mass @ v_F + tilt @ v_s + turn @ v))
            ds, dF = np.linalg.solve([[g_s, g_F], [g_ss, g_sF]], [-g, -g_s])
            square, load, size = square + ds, load + dF, abs(dF / (load + dF))
            if size <= CONVERGED or last / 2 < size < STAGNATED:
                return Crossing(float(load), complex(np.sqrt(complex(square))), v[:n], float(size))
            border, last = border.renewed(v[:n]), size
        raise ConvergenceError(f"Newton's method did not find where two frequencies meet near {guess.load:.6g}")


class Damped:
    """Eigenvalues ω of an assembly with damping or gyroscopic forces: stable while none has a positive real part."""

    event = "a pair of eigenvalues crosses the imaginary axis"
    covered = "modes nearest to the frequency most at risk"

    def lowest(self, lin: SparseLinearisation, modes: int, near: complex) -> tuple[np.ndarray, np.ndarray]:
        # Overdamped modes can crowd the origin: what matters lies beside the frequency most at risk.
        values, vectors = nearest_roots(lin, 2 * modes, 1j * (abs(near.imag) or abs(near)) * (1 + MARGIN))
        upper = values.imag >= -REAL * np.abs(values)
        return values[upper], vectors[:, upper]

    def operator(self, M: np.ndarray, C: np.ndarray, K: np.ndarray) -> np.ndarray:
        unit = np.broadcast_to(np.eye(M.shape[-1]), M.shape)
        return np.block([[0 * unit, unit], [-np.linalg.solve(M, K), -np.linalg.solve(M, C)]])

    def omega(self, values: np.ndarray) -> np.ndarray:
        return values

    def growing(self, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Which grow as oscillations, of each pair the upper one, and which as exponentials."""
        size = np.abs(values)
        growing = values.real > GROWTH * size + ROUNDING * size**2 / size.min(axis=-1, keepdims=True)
        return growing & (values.imag > REAL * size), growing & (np.abs(values.imag) <= REAL * size)

    def critical(self, values: np.ndarray) -> int:
        oscillating = values.imag > REAL * np.abs(values)
        if not oscillating.any():
            return int(values.real.argmax())
        return int(np.where(oscillating, values.real, -np.inf).argmax())

    def locate(self, path: LoadPath, guess: Crossing) -> Crossing:
        """Newton's method for g(iω, F) = 0, where P v + e_i g = 0 with v_j = 1."""
        omega, load = guess.eigenvalue.imag, guess.load
        border, n, last = Border(guess.mode), path.assembly.size, np.inf
        for _ in range(NEWTON_STEPS):
            lin, slope = path.linearise(load), path.slope(load)
            d = lin.data
            rate = lin.pattern.matrix(2j * omega * d["M"] + d["C"] + d["moving"])
            solve = border.factorised(lin.pencil(1j * omega))
            v, g = solve(None)
            _, g_rate = solve(-(rate @ v))
            _, g_F = solve(-(slope.pencil(1j * omega) @ v))
            by_omega = 1j * g_rate
            d_omega, dF = np.linalg.solve([[by_omega.real, g_F.real], [by_omega.imag, g_F.imag]], [-g.real, -g.imag])
            omega, load, size = omega + d_omega, load + dF, abs(dF / (load + dF))
            if size <= CONVERGED or last / 2 < size < STAGNATED:
                return Crossing(float(load), 1j * float(omega), v[:n], float(size))
            border, last = border.renewed(v[:n]), size
        raise ConvergenceError(f"Newton's method did not find a crossing of the imaginary axis near {guess.load:.6g}")
