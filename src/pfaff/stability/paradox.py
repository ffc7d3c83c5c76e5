"""Vanishing damping: the flutter load as all damping tends to zero along a direction, with no finite ε.

To first order a small damping ε C moves a simple eigenvalue iω of the undamped system by −ε β/2 with
β = yᵀCx / yᵀMx (x, y its right and left modes). The limit is therefore the first load at which some β turns
negative, or the undamped flutter load P_0 if none does (Ziegler 1952; Bolotin 1963; Kirillov 2005).
A damper in a moving frame, such as that of a rotor, adds ε H to the stiffness as well. Real modes of different
frequencies do not feel it; those of equal frequencies mix by C − iH/ω, also where they are equal at one load alone.
Where all frequencies are different every β is linear in C, and the directions that stay stable up to a given load
form a convex cone: the limit is quasi-concave in the direction, its minimum lies on a single source of damping, its
maximum is found by linear programming.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from pfaff import doors
from pfaff.algebra.brackets import bracketed_root
from pfaff.algebra.roots import SignedLog, all_roots
from pfaff.errors import ParameterError, PfaffError
from pfaff.flow.statics import statics_of
from pfaff.rest.path import LoadPath
from pfaff.stability.critical import critical_load
from pfaff.stability.critical_load import ALREADY
from pfaff.stability.dampings import damping_sources
from pfaff.stability.equal_frequencies import clusters, crossings
from pfaff.stability.stable_cone import cone_point, longest_prefix
from pfaff.statement.told import answering
from pfaff.statement.values import by_name, number_from, one_of, shown
from pfaff.threads import cached_property

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from pfaff.case import Case

SMALLEST = float(np.finfo(float).tiny)
PROBED = 0.0, 0.137, 0.311, 0.733  # shares of the range at which properties that hold everywhere are probed
SAMPLES = 400  # loads at which the cone of stable directions is probed
UNDAMPED = 1e-12  # damping of a mode, relative to the largest, that is zero but for rounding
FINER, REFINEMENTS = 8, 9  # the best load is enclosed in ever finer grids
ASIDE = 1e-6  # relative distance before a load at which modes that cross there are distinguished
ROUNDING = 1e-8  # couplings by damping below this, relative to the largest damping, are zero there
RECOVERED = 1e-9  # a limit this close to P_0, relatively, is P_0


@answering
@dataclass(frozen=True)
class Paradox:
    """The limit of vanishing damping, beside the load of the system that has no damping at all.

    ``limit`` is P_d* along ``direction``; ``singles`` the limit for each source of damping alone; ``maximum``
    the largest limit over all non-negative directions, attained along ``best``.
    """

    load: str
    undamped: float
    direction: Mapping[str, float] | None
    limit: float | None
    sources: tuple[str, ...]
    weak: WeakDamping

    def __repr__(self) -> str:
        return f"<Paradox: {self.status}>"

    @property
    def recovered(self) -> bool:
        """Whether the undamped load is recovered along this direction."""
        return self.limit is not None and self.limit >= self.undamped * (1 - RECOVERED)

    @cached_property
    def singles(self) -> dict[str, float]:
        return {name: self.weak.limit(unit) for name, unit in zip(self.sources, np.eye(len(self.sources)), strict=True)}

    @property
    def minimum(self) -> float:
        """The smallest limit over all directions: that of the worst single source, Eq. (77); see ``known``."""
        return min(self.singles.values())

    @property
    def known(self) -> tuple[bool, bool]:
        """Whether minimum and maximum are those over all directions. Beyond a load at which damping mixes the modes of
        frequencies that cross, directions other than those compared may have a lower limit, or a higher one."""
        mixing = self.weak.mixing if self.undamped else []
        return self.minimum <= min(mixing, default=np.inf), self.maximum not in mixing

    @cached_property
    def _best(self) -> tuple[float, np.ndarray]:
        # After the single sources, always: the path remembers its steps, and with them the last digits.
        return self.weak.best(self.singles)

    @property
    def maximum(self) -> float:
        return self._best[0]

    @property
    def best(self) -> dict[str, float]:
        """A direction (of unit length) that attains the maximum."""
        return dict(zip(self.sources, self._best[1].tolist(), strict=True))

    @property
    def recoverable(self) -> bool:
        """Whether some direction recovers the undamped load."""
        return self.maximum >= self.undamped * (1 - RECOVERED)

    @property
    def status(self) -> str:
        if not self.undamped:
            return f"flutter under any {self.load}, however small, without damping and as it vanishes: all limits are 0"
        flutters = np.isfinite(self.undamped)
        parts = [f"without damping {self.load} = {self.undamped:.12g}" if flutters else "no flutter without damping"]
        if self.limit is not None:
            verdict = "recovered" if self.recovered else "lower: Ziegler's paradox"
            parts.append(f"with damping vanishing along the direction {self.limit:.12g} ({verdict})")
        if not np.isfinite(self.minimum):
            return f"{parts[0]}, nor with damping as it vanishes"
        least, most = ("" if known else word for known, word in zip(self.known, ("at most ", "at least "), strict=True))
        highest = f"to {most}{self.maximum:.12g}" if np.isfinite(self.maximum) else "on, and none along some"
        limits = f"from {least}{self.minimum:.12g} {highest}"
        which = "all directions" if self.weak.simple else "single sources (some frequencies are equal)"
        parts.append(f"over {which} {limits}")
        return "; ".join(parts)

    def plot(self) -> Figure:
        return doors.draw.draw_paradox(self)


def paradox(
    case: Case, load: str, direction: Mapping[str, float] | None = None, among: Sequence[str] | None = None
) -> Paradox:
    """The limit along a direction such as ``{"c_i": 1, "c_e": 0.2}``, among all dampings of the system or some."""
    sources = damping_sources(case, load, among)
    weights = None
    if direction is not None:
        direction = by_name("direction", direction, "{'c_i': 1, 'c_e': 0.2}")
        for name in direction:
            one_of(sources, name, f"{{}} is not a damping of {case.system.name}")
        weights = np.array([number_from(name, direction.get(name, 0.0)) for name in sources])
        if not (weights.min() >= 0 and weights.max() > 0):
            raise ParameterError(f"direction {shown(direction)}: damping must be finite, non-negative and not all zero")
        weights = weights / weights.max()  # first: squares of the values as given may under- or overflow
        weights = weights / np.linalg.norm(weights)
    weak = WeakDamping(case, load, sources)
    named = None if weights is None else dict(zip(sources, weights.tolist(), strict=True))
    limit = None if weights is None else weak.limit(weights)
    return Paradox(load, weak.undamped, named, limit, sources, weak)


class WeakDamping:
    """The undamped system along its load path, and what each source of damping does to its modes.

    ``undamped`` is its flutter load, infinite if there is none; limits are then looked for up to ``top``.
    """

    def __init__(self, case: Case, load: str, sources: tuple[str, ...]) -> None:
        self.sources, self.load = sources, load
        self.bare = case.unchecked(**dict.fromkeys(sources, 0.0))
        found = critical_load(self.bare, load, "flutter", None, {})
        self.undamped = np.inf if found.value is None else float(found)
        self.frequency = float(found.frequency or 0.0)
        if found.how == ALREADY:
            raise PfaffError(f"{case.system.name} flutters without damping and without load: there is no limit to take")
        self._sources = [case.system.parameter_names.index(name) for name in sources]
        self._known: dict[float, tuple[np.ndarray, ...]] = {}
        self._matrices(self.path.origin)  # raises where something is not known
        self.top = self._range(case, load) if found.value is None else self.undamped * (1 - 1e-9)

    def __getstate__(self) -> dict[str, Any]:
        """Other processes go along the path themselves."""
        return {name: each for name, each in vars(self).items() if name != "path"} | {"_known": {}}

    @cached_property
    def path(self) -> LoadPath:
        """The path of the undamped system."""
        return LoadPath(self.bare, self.load, {})

    def _range(self, case: Case, load: str) -> float:
        """How far limits are looked for where nothing flutters without damping: as far as with strong damping."""
        M, K, C, _ = self._matrices(self.path.origin)
        strong = np.sqrt(np.linalg.norm(M) * np.linalg.norm(K)) / np.maximum(np.linalg.norm(C, axis=(1, 2)), SMALLEST)
        damped = case.unchecked(**dict(zip(self.sources, strong.tolist(), strict=True)))
        return float(critical_load(damped, load, "flutter", None, {}).searched[1])

    def modes(self, load: float) -> tuple[np.ndarray, ...]:
        """Squares of the frequencies, right and left modes with yᵀMx = 1, and C, H for a unit of every source."""
        if load not in self._known:
            M, K, C, H = self._matrices(load)
            squares, right = np.linalg.eig(np.linalg.solve(M, K))
            self._known[load] = squares, right, np.linalg.inv(right) @ np.linalg.inv(M), C, H
        return self._known[load]

    def rates(self, load: float) -> np.ndarray:
        """β of every mode (rows) for a unit of every source (columns), where all frequencies are different."""
        _, right, left, C, _ = self.modes(load)
        return np.einsum("ki,jil,lk->kj", left, C, right).real

    def decay(self, load: float, weights: np.ndarray) -> np.ndarray:
        """β of every mode along a direction; modes of equal frequency mix, and the damping decides how."""
        squares, right, left, C, H = self.modes(load)
        damping = left @ np.tensordot(weights, C, axes=1) @ right
        if H.any():
            omega = np.emath.sqrt(np.where(squares, squares, np.inf))  # modes that do not oscillate are not turned
            damping = damping - 1j * (left @ np.tensordot(weights, H, axes=1) @ right) / omega
        beta = np.empty(len(squares))
        for cluster in clusters(squares):
            beta[cluster] = np.linalg.eigvals(damping[np.ix_(cluster, cluster)]).real
        return beta

    @cached_property
    def simple(self) -> bool:
        """Whether all frequencies are different on the way, so that β is linear in the damping."""
        squares = [self.modes(share * self.top)[0] for share in PROBED]
        return all(len(clusters(each)) == len(each) for each in squares)

    def _matrices(self, load: float) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """M and K on the allowed velocities, and C and H there for a unit of each source.

        H is what a damper in a moving frame, such as that of a rotor, adds to the stiffness.
        """
        lin = self.path.linearise(load)
        if np.any(lin.C):
            raise ParameterError(
                f"damping other than {', '.join(self.sources)} remains, or gyroscopic terms: set it to zero or include "
                f"it; with gyroscopic terms ask for the flutter of {lin.system.name} with small damping instead"
            )
        N, statics = lin.kernel, statics_of(lin.system)
        bare = statics(lin.q, lin.p, lin.numbers).K
        C, H = [], []
        for source in self._sources:
            numbers = lin.numbers.copy()
            numbers[source] = 1.0
            damped = statics(lin.q, lin.p, numbers)
            C.append(N.T @ damped.C @ N)
            H.append(N.T @ (damped.K - bare) @ N)
        return N.T @ lin.M @ N, N.T @ lin.stiffness @ N, np.array(C), np.array(H)

    def limit(self, weights: np.ndarray) -> float:
        """The first load below P_0 at which some mode loses its damping; else P_0.

        Modes that the direction does not damp at all, at any load, are undecided at first order and left out.
        """
        top = self.top
        if not top:  # without damping it flutters under every load: if damping vanishes, under every one too
            return 0.0
        untouched = min(_undamped(self.decay(share * top, weights)) for share in PROBED)

        def damped(load: float) -> np.ndarray:
            beta = self.decay(load, weights)
            return beta[np.argsort(np.abs(beta))[untouched:]]

        def lowest(load: float) -> float:
            return float(damped(load).min(initial=np.inf))

        def product(load: float) -> SignedLog:
            beta = damped(load)
            size = np.maximum(np.abs(beta), np.finfo(float).tiny)
            # The two modes that meet at P_0 have β like ±(P_0 − load)^(−1/2): their product has a simple pole.
            log = np.log(size).sum() + np.log(1 - load / self.undamped)
            error = log + np.log(UNDAMPED * size.max() / size.min())
            return np.array([np.sign(beta).prod()]), np.array([log]), np.array([error])

        if untouched == len(self.decay(0.0, weights)):
            return self.undamped
        edges = [0.0, *(x for x in all_roots(product, 0.0, top)[0] if 0 < x < top), top]
        lost = next((low for low, high in pairwise(edges) if lowest((low + high) / 2) < 0), np.inf)
        # Where frequencies cross, damping mixes their modes: one may grow there alone, in a range that shrinks with ε.
        for load in self.crossings:
            if load < lost and lowest(load) < -UNDAMPED * np.abs(damped(load)).max():
                return load
        return self._polished(lowest, lost) if np.isfinite(lost) else self.undamped

    @cached_property
    def crossings(self) -> list[float]:
        """Loads at which two frequencies are equal that are not so elsewhere."""
        return crossings(lambda load: self.modes(load)[0], self.top)

    @cached_property
    def mixing(self) -> list[float]:
        """Crossings at which damping couples one mode to the other and back, so that both together may lose their
        damping before either does."""
        return [load for load in self.crossings if self._mixes(load)]

    def _mixes(self, load: float) -> bool:
        """Whether damping couples the modes that cross at a load, by the modes a little before. Without coupling back,
        their decay is that of each mode; it is no less if the product of both couplings is negative."""
        squares, right, left, C, H = self.modes(load * (1 - ASIDE))
        order = np.argsort(squares.real)
        gaps = np.diff(squares.real[order]) / np.maximum(np.abs(squares.real[order][1:]), SMALLEST)
        for k in np.flatnonzero(gaps < np.sqrt(ASIDE)):
            pair = order[k : k + 2]
            blocks = np.einsum("ki,jil,lm->jkm", left[pair], C, right[:, pair]).real
            back = np.multiply.outer(blocks[:, 0, 1], blocks[:, 1, 0])
            if H.any() or (back + back.T).max() > ROUNDING * np.abs(blocks).max() ** 2:
                return True
        return False

    def _polished(self, lowest, load: float) -> float:
        for reach in (1e-10, 1e-8, 1e-6, 1e-4):
            low, high = load * (1 - reach), load * (1 + reach)
            if lowest(low) > 0 > lowest(high):
                return bracketed_root(lowest, low, high, 0.0)
        return load

    def best(self, singles: Mapping[str, float]) -> tuple[float, np.ndarray]:
        """The largest limit over non-negative directions, with a unit direction that attains it.

        Only for different frequencies: then the directions that stay stable up to a load form a cone. Else it is the
        largest of the limits of single sources.
        """
        others = self._from_the_cone() if self.top and self.simple else []
        candidates = [*np.eye(len(self.sources)), *others]
        limits = [*singles.values(), *(self.limit(direction) for direction in others)]
        best = int(np.argmax(limits))
        return float(limits[best]), candidates[best]

    def _from_the_cone(self) -> list[np.ndarray]:
        """A direction in which P_0 is recovered; else one that stays stable as far as linear programmes can tell."""
        loads = self.top * (1 - 1e-6) * np.sin(np.linspace(0, np.pi / 2, SAMPLES))  # crowded towards P_0
        rows = [self._normalised(load) for load in loads]
        if np.isfinite(self.undamped):
            recovering = cone_point(np.vstack(rows), self._at_meeting())
            if recovering is not None:
                return [recovering]
        held: list[np.ndarray] = []
        best: list[np.ndarray] = []
        for _ in range(REFINEMENTS):
            last, point = longest_prefix(held, rows)
            best = [point] if point is not None else best
            if last + 1 == len(loads) or (point is None and not held):
                break
            held += rows[: last + 1]
            loads = np.linspace(loads[max(last, 0)], loads[last + 1], FINER + 1)[1:]
            rows = [self._normalised(load) for load in loads]
        return best

    def _normalised(self, load: float) -> np.ndarray:
        rates = self.rates(load)
        size = np.abs(rates).max(axis=1, keepdims=True)
        return rates / np.where(size > UNDAMPED * size.max(), size, np.inf)

    def _at_meeting(self) -> np.ndarray:
        """yᵀC_j x of the double mode at P_0: a direction keeps P_0 only if these cancel."""
        M, K, C, _ = self._matrices(self.undamped)
        left, _, right = np.linalg.svd(K - self.frequency**2 * M)
        return np.einsum("i,jil,l->j", left[:, -1], C, right[-1])


def _undamped(beta: np.ndarray) -> int:
    return int((np.abs(beta) <= UNDAMPED * np.abs(beta).max(initial=0.0)).sum())
