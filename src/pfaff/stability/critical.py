"""Critical loads: the first flutter, divergence and buckling as a load grows from zero.

Stability can change only where one of three symmetric functions of the eigenvalues vanishes:
Π(λ_i + λ_j) (a pair on the imaginary axis; Orlando's formula: the Hurwitz determinant D_{m−1}),
Π(λ_i − λ_j)² (two eigenvalues meet) or Π λ_i (one passes zero: buckling). All their roots in the load
cut the interval into cells of one kind each, so that no window of instability is skipped, down to what rounding
resolves: about 1e-9 of the interval without damping, 1e-7 with.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from pfaff.errors import ConvergenceError, ParameterError
from pfaff.path import LoadPath, Outward
from pfaff.stability.roots import SignedLog, all_roots, bracketed_root
from pfaff.steady import FlowLinearisation

if TYPE_CHECKING:
    from pfaff.case import Case
    from pfaff.stability.linear import Linearisation

UNIT = 1e-15  # rounding of eigenvalues, relative to the largest
NOISE = 1e-13  # growth rates below this, relative to the eigenvalue, are rounding
SPLIT = 1e-10  # imaginary parts of squares below this, relative to the square, are rounding
BEYOND = 1e-7  # how far beyond a critical load, relative to the interval, growth is looked for
COINCIDENT = 1e-9  # eigenvalues closer than this at every load, relatively, are always alike
PROBES = (0.0, 0.137, 0.311, 0.733, 1.0)  # shares of the interval at which structure is looked for
TOUCHING = 1e-6  # double roots are found as neighbours this close, relative to the interval
STIFFENED = 1e-14  # change of the stiffness, relative, that is more than rounding
FARTHEST = 1e6  # times the natural range of loads
EIGENVALUE_ERROR = 2e-12  # of computed eigenvalues, relative to the largest
IMAGINARY = 1e-3  # real parts below this, relative to the eigenvalue, may be on the axis where a search ended
MERGE = 1e-11  # candidate loads closer than this, relative to the interval, are one


@dataclass(frozen=True)
class CriticalLoad:
    """The first load of a kind, or the honest absence of one in the interval searched.

    ``frequency`` is the angular frequency of the critical mode, zero where it does not oscillate;
    ``mode`` its amplitudes by coordinate; ``crossing_speed`` the derivative of its growth rate by the load
    where a simple pair crosses the imaginary axis.
    """

    kind: str
    load: str
    value: float | None
    frequency: float | None
    eigenvalue: complex | None
    mode: Mapping[str, complex] | None
    searched: tuple[float, float]
    how: str
    case: Case
    crossing_speed: float | None = None

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.status}>"

    def __bool__(self) -> bool:
        return self.value is not None

    def __float__(self) -> float:
        if self.value is None:
            raise ParameterError(f"there is no {self.kind} load up to {self.load} = {self.searched[1]:g}")
        return float(self.value)

    @property
    def status(self) -> str:
        if self.value is None:
            return f"no {self.kind} up to {self.load} = {self.searched[1]:g} ({self.how})"
        return f"{self.kind} at {self.load} = {self.value:.12g}: {self.how}"

    def plot(self) -> Any:
        from pfaff.draw.spectrum import draw_spectrum_path

        return draw_spectrum_path(self.case, self.load, self.searched[1])


@dataclass(frozen=True)
class Cell:
    """An interval of loads in which the kind of stability does not change."""

    low: float
    high: float
    oscillating: int
    divergent: int

    @property
    def kind(self) -> str:
        if self.oscillating and self.divergent:
            return "flutter and divergence"
        return "flutter" if self.oscillating else "divergence" if self.divergent else "stable"


@dataclass(frozen=True)
class CriticalLoads:
    """Flutter, divergence and buckling of one search, and the cells of stability between the loads found."""

    flutter: CriticalLoad
    divergence: CriticalLoad
    buckling: CriticalLoad
    cells: tuple[Cell, ...]

    @property
    def status(self) -> str:
        return "; ".join(each.status for each in (self.flutter, self.divergence, self.buckling))

    def plot(self) -> Any:
        return self.flutter.plot()


def critical_loads(case: Case, load: str, to: float | None, fixed: Mapping[str, float]) -> CriticalLoads:
    """Search [0, to]; without ``to``, up to where the load outweighs the stiffness several times."""
    path = LoadPath(case, load, fixed)
    reach, ended = reachable(path, search_range(path, to))
    view = _view(path, reach)
    candidates = _candidates(view, reach)
    cells = _cells(view, sorted(x for roots in candidates.values() for x in roots), reach)
    searched = (0.0, reach)
    member = ", ".join(f"{name} = {value:g}" for name, value in path.balance.fixed.items())
    how = (
        f"equilibrium path ends at {load} = {reach:.10g}" if ended else f"all roots of the {view.name} on the interval"
    ) + (f"; equilibria with {member}" if member else "")

    def absent(kind: str) -> CriticalLoad:
        return CriticalLoad(kind, load, None, None, None, None, searched, how, case)

    def first(kind: str) -> CriticalLoad:
        for cell in cells:
            if (kind == "flutter" and cell.oscillating) or (kind == "divergence" and cell.divergent):
                return _describe(path, view, kind, cell, searched, candidates)
        return absent(kind)

    def buckling() -> CriticalLoad:
        static = candidates["buckling"]
        if static and static[0] <= MERGE * reach and _stands(path, reach):
            static = static[1:]
        if static and static[0] <= MERGE * reach:
            return _static(path, 0.0, searched, "the tangent stiffness is singular without load")
        if static:
            return _static(path, static[0], searched, "the tangent stiffness is singular")
        if not ended:
            return absent("buckling")
        return replace(_static(path, reach, searched, "the equilibrium path folds back"), value=path.fold)

    return CriticalLoads(first("flutter"), first("divergence"), buckling(), tuple(cells))


def _stands(path: LoadPath, reach: float) -> bool:
    """Whether a constraint A q̇ + b(q) = 0 loses its b without load, as that of a wheel which stands: its own zero."""
    return len(path.linearise(0.0).J) < len(path.linearise(PROBES[1] * reach).J)


class _General:
    """Eigenvalues λ of the first-order form, and the factors whose products vanish where stability can change.

    Factors that vanish at every load (a mode that is never damped, two modes that are always alike) say nothing:
    as many are left out, the smallest ones.
    """

    name = "Hurwitz determinant, the discriminant and the tangent stiffness"

    def __init__(self, path: LoadPath | Outward, to: float) -> None:
        self.path, self.to = path, to
        self._reference = self._determinant(PROBES[1] * to)[1]
        self.persistent = dict.fromkeys(self.factors(0.0), 0)
        probes = [self.factors(share * to) for share in PROBES]
        for name in self.persistent:
            self.persistent[name] = min(_vanishing(each, name) for each in probes)

    @property
    def events(self) -> tuple[str, ...]:
        return tuple(self.persistent)

    def values(self, load: float) -> np.ndarray:
        return self.path.linearise(load).eigenvalues()

    def factors(self, load: float) -> dict[str, np.ndarray]:
        values = self.values(load)
        i, j = np.triu_indices(len(values), 1)
        return {"hopf": values[i] + values[j], "meeting": values[i] - values[j], "buckling": values}

    def functions(self, load: float) -> SignedLog:
        """The products of the factors: the differences count twice, so that their product is real."""
        factors = self.factors(load)
        groups = {name: _without(each, self.persistent[name]) for name, each in factors.items()}
        groups["meeting"] = np.repeat(groups["meeting"], 2)
        signs, logs, errors = _signed_logs(np.abs(factors["buckling"]).max(initial=0.0), *groups.values())
        if not self.persistent["buckling"]:
            signs[-1], logs[-1] = self._determinant(load)  # the product of all eigenvalues, but more exactly
        return signs, logs, errors

    def _determinant(self, load: float) -> tuple[float, float]:
        """Sign and logarithm of the determinant of the first-order form: zero where the stiffness is singular."""
        sign, log = np.linalg.slogdet(self.path.linearise(load).J)
        return float(sign), float(max(log, -700.0))

    def counts(self, load: float) -> tuple[int, int]:
        """How many oscillations grow, and how many exponentials."""
        values = self.values(load)
        noise = NOISE * np.abs(values) + UNIT * np.abs(values).max(initial=0.0)
        growing = values.real > noise
        oscillating = growing & (np.abs(values.imag) > noise)
        return int(oscillating.sum()) // 2, int((growing & ~oscillating).sum())

    def event(self, name: str, load: float) -> float:
        """The real function of the closest pair (or the determinant) that changes sign at the event."""
        if name == "buckling" and not self.persistent["buckling"]:
            sign, log = self._determinant(load)
            return sign * np.exp(log - self._reference)
        rest = _without(self.factors(load)[name], self.persistent[name])
        return _smallest(rest**2 if name == "meeting" else rest)

    def eigenvalue(self, load: float, kind: str) -> complex:
        """The critical eigenvalue: the one that grows as an oscillation just beyond, or the largest real one."""
        values = self.values(load)
        size = np.abs(values).max(initial=0.0)
        if kind == "flutter":
            beyond = self.values(load + BEYOND * self.to)
            upper = beyond[beyond.imag > 1e-7 * np.abs(beyond)]
            if not len(upper):
                return 0j
            return complex(values[np.abs(values - upper[upper.real.argmax()]).argmin()])
        straight = values[np.abs(values.imag) <= 1e-6 * size]
        candidates = straight if len(straight) else values
        return complex(candidates.real.max())


class _Reversible(_General):
    """Squares s = λ² where λ and −λ are eigenvalues together (no damping): stable while all are real and negative."""

    name = "discriminant in ω² and the tangent stiffness"

    def values(self, load: float) -> np.ndarray:
        return _squares(self.path.linearise(load).reduced.J)

    def factors(self, load: float) -> dict[str, np.ndarray]:
        squares = self.values(load)
        i, j = np.triu_indices(len(squares), 1)
        return {"meeting": squares[i] - squares[j], "buckling": squares}

    def counts(self, load: float) -> tuple[int, int]:
        squares = self.values(load)
        noise = SPLIT * np.abs(squares) + UNIT * np.abs(squares).max(initial=0.0)
        complex_ = np.abs(squares.imag) > noise
        return int(complex_.sum()) // 2, int((~complex_ & (squares.real > noise)).sum())

    def eigenvalue(self, load: float, kind: str) -> complex:
        squares = self.values(load)
        if kind == "divergence":
            return complex(np.sqrt(max(squares.real.max(), 0.0)))
        i, j = np.triu_indices(len(squares), 1)
        if not len(i):
            return 1j * np.sqrt(complex(-squares[0].real))
        gaps = np.abs(squares[i] - squares[j])
        closest = np.argsort(gaps)[min(self.persistent["meeting"], len(gaps) - 1)]
        return 1j * np.sqrt(complex(-(squares[i[closest]] + squares[j[closest]]).real / 2))


def _view(path: LoadPath | Outward, to: float) -> _General:
    """Squares where the spectrum is symmetric about the imaginary axis at every load, eigenvalues otherwise."""
    symmetric = all(_is_reversible(path.linearise(share * to)) for share in PROBES)
    return _Reversible(path, to) if symmetric else _General(path, to)


def _is_reversible(lin: Linearisation | FlowLinearisation) -> bool:
    """No damping: λ and −λ are eigenvalues together, with gyroscopic forces if the stiffness is symmetric."""
    if isinstance(lin, FlowLinearisation):
        return False  # nothing is known about a plain ODE
    C, K = (lin.kernel.T @ matrix @ lin.kernel for matrix in (lin.C, lin.stiffness))
    if lin.B[: lin.nonholonomic].any() or len(lin.reduced.J) % 2:
        return False
    if not C.any():
        return True
    antisymmetric = np.abs(C + C.T).max() <= UNIT * np.abs(C).max()
    return bool(antisymmetric and np.abs(K - K.T).max() <= SPLIT * np.abs(K).max())


def _squares(J: np.ndarray) -> np.ndarray:
    """λ², one for each pair ±λ of the first-order form."""
    half = len(J) // 2
    if not (J[:half, :half].any() or J[half:, half:].any()):
        return np.linalg.eigvals(J[:half, half:] @ J[half:, :half]).astype(complex)
    remaining = list(np.linalg.eigvals(J))
    squares = []
    while remaining:
        value = remaining.pop()
        partner = min(range(len(remaining)), key=lambda k: abs(remaining[k] + value))
        squares.append(-value * remaining.pop(partner))
    return np.array(squares)


def _vanishing(factors: dict[str, np.ndarray], name: str) -> int:
    """How many factors are zero but for rounding, each seen against the eigenvalues that it is made of."""
    values = np.abs(factors["buckling"])
    i, j = np.triu_indices(len(values), 1)
    size = values if name == "buckling" else values[i] + values[j]
    floor = UNIT * values.max(initial=0.0)
    small = {"hopf": NOISE, "meeting": COINCIDENT, "buckling": 0.0}[name]
    return int((np.abs(factors[name]) <= small * size + floor).sum())


def _without(factors: np.ndarray, count: int) -> np.ndarray:
    return factors[np.argsort(np.abs(factors), kind="stable")[count:]] if count else factors


def _signed_logs(size: float, *groups: np.ndarray) -> SignedLog:
    """Sign, logarithm and error of the (real) product of each group of numbers closed under conjugation.

    ``size`` is the largest modulus behind the factors: each carries an error of about EIGENVALUE_ERROR times it.
    """
    signs, logs, errors = [], [], []
    for factors in groups:
        moduli = np.maximum(np.abs(factors), np.finfo(float).tiny)
        logs.append(np.log(moduli).sum())
        smallest = moduli.min() if len(moduli) else 1.0
        errors.append(logs[-1] + np.log(EIGENVALUE_ERROR * max(size, np.finfo(float).tiny)) - np.log(smallest))
        signs.append(np.sign(np.prod(factors / moduli).real))
    return np.array(signs), np.array(logs), np.array(errors)


def _smallest(factors: np.ndarray) -> float:
    """The real factor of smallest modulus (complex ones occur in conjugate pairs and cannot change sign)."""
    real = np.abs(factors.imag) <= 1e-9 * (np.abs(factors).max(initial=0.0) + np.finfo(float).tiny)
    real = factors[real].real
    return float(real[np.abs(real).argmin()]) if len(real) else 1.0


def natural_range(path: LoadPath) -> float:
    """Four times the load at which geometric stiffness equals elastic stiffness, rounded up to 1, 2 or 5."""
    start = path.linearise(0.0)
    inner = np.linalg.norm(start.kernel.T @ start.stiffness @ start.kernel, 2)
    for probe in (1.0, 1e-3, 1e-6):
        try:
            loaded = path.linearise(probe)
        except ConvergenceError:
            continue
        slope = (
            np.linalg.norm(
                loaded.kernel.T @ loaded.stiffness @ loaded.kernel - start.kernel.T @ start.stiffness @ start.kernel, 2
            )
            / probe
        )
        if slope * probe > STIFFENED * inner > 0:  # less is rounding: a speed, say, that stiffens nothing
            wanted = 4 * inner / slope
            decade = 10.0 ** np.floor(np.log10(wanted))
            return float(next(decade * digit for digit in (1, 2, 5, 10) if decade * digit >= wanted))
    return 200.0


def search_range(path: LoadPath, to: float | None) -> float:
    """How far the load is searched: as asked, if that makes sense, or up to the natural range."""
    natural = natural_range(path)
    try:
        end = natural if to is None else float(to)
    except (TypeError, ValueError):
        end = np.nan
    if not (np.isfinite(end) and end > 0):
        raise ParameterError(f"to={to}: the load is searched from zero to a positive finite value")
    if end > FARTHEST * natural:
        raise ParameterError(
            f"to={end:g} is a million times what outweighs the stiffness ({natural:g}): search less far"
        )
    return end


def hopf_loads(path: Outward, to: float) -> Iterator[float]:
    """Distances along a path, up to ``to``, at which a pair of eigenvalues crosses the imaginary axis, in order.

    Without damping the whole spectrum may lie there: that is no such point, and none is found.
    """
    view = _view(path, to)
    if "hopf" not in view.events:
        return
    place = view.events.index("hopf")
    here = slice(place, place + 1)

    def product(distance: float) -> SignedLog:
        signs, logs, errors = view.functions(distance)
        return signs[here], logs[here], errors[here]

    event = partial(view.event, "hopf")
    (roots,) = all_roots(product, 0.0, to)
    for root in roots:
        bracket = _bracket(event, root, to)
        if bracket is not None:
            distance = bracketed_root(event, *bracket)
            values = view.values(distance)
            if len(imaginary_pairs(values)) and not _neutral_saddle(values, view.persistent["hopf"]):
                yield distance


def imaginary_pairs(values: np.ndarray) -> np.ndarray:
    """The eigenvalues with positive imaginary part that lie on the imaginary axis, the nearest to it first."""
    near = np.abs(values.real) <= IMAGINARY * np.abs(values)
    upper = values[near & (values.imag > TOUCHING * np.abs(values))]
    return upper[np.argsort(np.abs(upper.real / upper.imag))]


def _neutral_saddle(values: np.ndarray, persistent: int) -> bool:
    """Whether it is two real eigenvalues whose sum vanishes, beside so many sums that vanish always."""
    i, j = np.triu_indices(len(values), 1)
    first = values[i[np.argsort(np.abs(values[i] + values[j]))[: persistent + 1]]]
    real = np.abs(first.imag) <= TOUCHING * np.abs(first)
    return bool((real & (np.abs(first) > TOUCHING * np.abs(values).max())).any())


def reachable(path: LoadPath | Outward, to: float) -> tuple[float, bool]:
    """How far the path goes, up to ``to``, and whether it ends there in a fold."""
    try:
        path.solution(to)
    except ConvergenceError:
        return float(path.end or 0.0), True
    return to, False


def _candidates(view: _General, to: float) -> dict[str, list[float]]:
    """All loads at which the kind of stability might change, polished to rounding."""
    found = dict(zip(view.events, all_roots(view.functions, 0.0, to), strict=True))
    return {name: _polished(partial(view.event, name), roots, to) for name, roots in found.items()}


def _polished(event: Callable[[float], float], roots: np.ndarray, to: float) -> list[float]:
    """Roots to rounding where the event changes sign; where it only touches zero, the middle of what was found."""
    sharp: list[float] = []
    touching: list[list[float]] = []
    for root in roots:
        bracket = _bracket(event, root, to)
        if bracket is not None:
            sharp.append(bracketed_root(event, *bracket))
        elif touching and root - touching[-1][-1] < TOUCHING * to:
            touching[-1].append(root)
        else:
            touching.append([root])
    merged: list[float] = []
    for load in sorted([*sharp, *(float(np.mean(group)) for group in touching)]):
        if not merged or load - merged[-1] > MERGE * to:
            merged.append(float(load))
    return merged


def _bracket(event: Callable[[float], float], root: float, to: float) -> tuple[float, float] | None:
    """Points on both sides of a root with opposite signs of the event, as near as rounding allows."""
    for reach in (1e-10 * to, 1e-8 * to, 1e-6 * to):
        low, high = max(root - reach, 0.0), min(root + reach, to)
        if (event(low) < 0) != (event(high) < 0):
            return low, high
    return None


def _cells(view: _General, loads: list[float], to: float) -> list[Cell]:
    """Cells between candidate loads; each is probed near both ends and must be of one kind throughout."""
    edges = [0.0]
    for load in loads:
        if load - edges[-1] > MERGE * to:
            edges.append(load)
    if to - edges[-1] > MERGE * to:
        edges.append(to)
    cells: list[Cell] = []
    for low, high in itertools.pairwise(edges):
        cells.extend(_uniform(view, low, high, MERGE * to))
    return cells


def _uniform(view: _General, low: float, high: float, shortest: float) -> list[Cell]:
    width = high - low
    probes = [view.counts(low + share * width) for share in (0.02, 0.5, 0.98)]
    if probes[0] == probes[1] == probes[2] or width < shortest:
        return [Cell(low, high, *probes[1])]
    middle = low + width / 2
    halves = _uniform(view, low, middle, shortest) + _uniform(view, middle, high, shortest)
    return _joined(halves)


def _joined(cells: list[Cell]) -> list[Cell]:
    joined = cells[:1]
    for cell in cells[1:]:
        last = joined[-1]
        if (last.oscillating, last.divergent) == (cell.oscillating, cell.divergent):
            joined[-1] = Cell(last.low, cell.high, cell.oscillating, cell.divergent)
        else:
            joined.append(cell)
    return joined


def _describe(
    path: LoadPath,
    view: _General,
    kind: str,
    cell: Cell,
    searched: tuple[float, float],
    candidates: dict[str, list[float]],
) -> CriticalLoad:
    value = cell.low
    eigenvalue = view.eigenvalue(value, kind)
    if value == 0.0:
        how = "already at zero load"
    elif value in candidates.get("hopf", []):
        how = (
            "a pair of eigenvalues crosses the imaginary axis"
            if kind == "flutter"
            else "a real eigenvalue turns positive"
        )
    elif any(abs(value - x) <= 10 * MERGE * searched[1] for x in candidates["buckling"]):
        how = "an eigenvalue passes through zero"
    elif kind == "flutter" and eigenvalue.real > 1e-6 * abs(eigenvalue):
        how = "two growing exponentials merge into a growing oscillation"
    elif kind == "flutter":
        how = "two frequencies meet and leave the imaginary axis"
    else:
        how = "a growing oscillation turns into two growing exponentials"
    frequency = abs(eigenvalue.imag) if kind == "flutter" else 0.0
    speed = _crossing_speed(path, value, eigenvalue) if value in candidates.get("hopf", []) else None
    mode = _mode(path, value, eigenvalue)
    return CriticalLoad(kind, path.load, value, frequency, eigenvalue, mode, searched, how, path.case, speed)


def _static(path: LoadPath, value: float, searched: tuple[float, float], how: str) -> CriticalLoad:
    return CriticalLoad("buckling", path.load, value, 0.0, 0j, _mode(path, value, 0j), searched, how, path.case)


def _crossing_speed(path: LoadPath, load: float, eigenvalue: complex) -> float:
    """dRe λ/dF of a simple eigenvalue, from its left and right vectors and the change of the first-order form."""
    J = path.linearise(load).reduced.J
    values, right = np.linalg.eig(J)
    here = int(np.abs(values - eigenvalue).argmin())
    left = np.linalg.inv(right)[here]
    step = 1e-5 * load
    change = (_aligned(path, load + step, load) - _aligned(path, load - step, load)) / (2 * step)
    return float((left @ change @ right[:, here]).real)


def _aligned(path: LoadPath, load: float, reference: float) -> np.ndarray:
    """The first-order form at a load in the bases of a reference load, so that neighbours can be compared."""
    here, there = path.linearise(load).reduced, path.linearise(reference).reduced
    turn = np.block(
        [
            [here.Z.T @ there.Z, np.zeros((here.Z.shape[1], there.speeds.shape[1]))],
            [np.zeros((here.speeds.shape[1], there.Z.shape[1])), here.speeds.T @ there.speeds],
        ]
    )
    return np.linalg.solve(turn, here.J @ turn)


def _mode(path: LoadPath, load: float, eigenvalue: complex) -> dict[str, complex]:
    """The amplitudes by coordinate, scaled so that the largest is one: the null vector of the pencil."""
    lin = path.linearise(load)
    n = len(lin.M)
    if eigenvalue == 0 or not lin.B.any():
        N = lin.kernel
        pencil = N.T @ (lin.M * eigenvalue**2 + lin.C * eigenvalue + lin.stiffness) @ N
        mode = N @ np.linalg.svd(pencil)[2][-1].conj() if N.shape[1] else np.zeros(n, dtype=complex)
    else:
        mode = np.linalg.svd(lin.pencil(eigenvalue))[2][-1][:n].conj()
    mode = mode / (mode[np.abs(mode).argmax()] or 1.0)
    return dict(zip(path.case.system.coordinate_names, (complex(x) for x in mode), strict=True))
