"""Small motions along a path of equilibria, stretch by stretch: on each the pencil is a polynomial in the load.

Where the equilibrium moves along a straight line and the load enters linearly, as a dead load on a straight column, one
stretch holds for all loads. Elsewhere stretches are as long as a parabola describes the pencil well; it predicts what
happens on the stretch, and what is predicted is then sharpened on the path itself.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Protocol

import numpy as np

from pfaff.algebra.modes import Modes
from pfaff.algebra.pencil import Pencil
from pfaff.errors import ConvergenceError, PfaffError
from pfaff.threads import cached_property

ROUNDED = 1e-12  # misfit of a polynomial, relative, that is rounding
FITTED = 1e-4  # misfit of a parabola on a stretch, relative
BETWEEN = (0.23, 0.81)  # shares of a stretch at which the parabola is checked
NEAR = 1e-2  # distance, relative to a usual load, within which a path that is not straight may show it already
BEYOND, FAR = 7.3, 1e6  # usual loads at which a straight line is checked, and from which on its slope has all digits
FARTHER = 8.0  # latest end of a stretch, relative to its beginning, so that what is near zero is resolved as well
AHEAD = 8.0  # stretches ahead at which it is checked whether the path goes on, once stretches become shorter
CHANGED = 0.1  # relative change of the pencil on the first stretch
PROBED, AT_MOST = 1e-6, 30.0  # share of the path at which a change is first looked for; most times farther then
CAREFUL = 0.8  # length of the next stretch, as a share of what seems possible
LONGER, SHRINK = 3.0, 5.0  # most times longer, or shorter, than the last
SHORTEST, FOLDED = 1e-12, 1e-6  # shortest stretch, relative to the path, and before a fold in the root of its length
TINY = 1e-300  # a distance from a fold that is zero
MOST = 4000  # most stretches of a path
SHORTER = 28  # most reductions of the first length


@dataclass(frozen=True)
class Stretch:
    """The pencil from ``low`` to ``high``: a polynomial through ``nodes``, ``exact`` or a prediction.

    ``there`` gives the pencil at a load on the path itself. Before a ``fold``, where the equilibrium moves like the
    square root of the distance to it, the polynomial is one in that root. A ``unit`` is a distance on which something
    may happen, if that is not the distance of the nodes.
    """

    low: float
    high: float
    nodes: tuple[float, ...]
    pencils: tuple[Pencil, ...]
    there: Callable[[float], Pencil]
    exact: bool
    fold: float | None = None
    unit: float | None = None

    def pencil(self, load: float) -> Pencil:
        if not self.exact:
            return self.there(load)
        return self.pencils[self.nodes.index(load)] if load in self.nodes else self._interpolated(load)

    def change(self, load: float) -> Pencil:
        """The derivative of the pencil with respect to the load."""
        slopes = ([k * each for k, each in enumerate(terms)][1:] for terms in self._terms)
        stretched = self._usual_place * (1.0 if self.fold is None else 2 * math.sqrt(max(self.fold - load, TINY)))
        return Pencil(tuple(_value(terms, self._share(load)) / stretched for terms in slopes))

    def of(self, part: Callable[[Pencil], Pencil]) -> Stretch:
        """The stretch for another pencil, made of this one by ``part``."""
        return replace(self, pencils=tuple(map(part, self.pencils)), there=lambda load: part(self.there(load)))

    def suited(self, load: float) -> Stretch:
        """The stretch in the combinations that suit the damping at a load: damping is heavy beside small stiffnesses
        only."""
        turn = self.pencil(load).turn
        return self if turn is None else self.of(lambda pencil: pencil.turned(turn))

    def moving(self, load: float) -> tuple[Modes, np.ndarray]:
        """The modes at a load, and how fast each eigenvalue changes with it: −y·P_load x / y·P_λ x."""
        pencil = self.pencil(load)
        modes = pencil.modes()
        left, right = modes.left.T.conj(), modes.vectors.T
        pushed = np.einsum("mi,mij,mj->m", left, self.change(load).at(modes.values), right)
        turned = np.einsum("mi,mij,mj->m", left, pencil.slope(modes.values), right)
        with np.errstate(divide="ignore", invalid="ignore"):
            return modes, np.nan_to_num(-pushed / turned)

    def polynomial(self, matrices: list[np.ndarray]) -> list[np.ndarray]:
        """The polynomial through matrices at the nodes: terms in a variable from 0 to 1 on the stretch, see
        ``load``."""
        terms = self._fit(matrices)
        return moved(terms, self._share(self.low), self._share(self.high) - self._share(self.low))

    def load(self, share: np.ndarray) -> np.ndarray:
        """The loads at values of that variable."""
        low, high = place(self.low, self.fold), place(self.high, self.fold)
        return load_at(low + (high - low) * share, self.fold)

    @property
    def usual(self) -> float:
        """A distance on which something may happen."""
        return self.nodes[-1] - self.nodes[0] if self.unit is None else self.unit

    @property
    def _usual_place(self) -> float:
        return place(self.nodes[-1], self.fold) - place(self.nodes[0], self.fold)

    def _share(self, load: float) -> float:
        return (place(load, self.fold) - place(self.nodes[0], self.fold)) / self._usual_place

    @cached_property
    def _terms(self) -> list[list[np.ndarray]]:
        return [self._fit(list(each)) for each in zip(*(pencil.coefficients for pencil in self.pencils), strict=True)]

    def _fit(self, values: list[np.ndarray]) -> list[np.ndarray]:
        with np.errstate(over="ignore", invalid="ignore"):  # overflowed matrices fit nothing
            if len(values) == 2:
                return [values[0], values[1] - values[0]]
            weights = np.linalg.inv(np.vander([self._share(load) for load in self.nodes], increasing=True))
            return list(np.tensordot(weights, np.array(values), axes=1))

    def _interpolated(self, load: float) -> Pencil:
        share = self._share(load)
        made_of = [each.made_of for each in self.pencils]
        sizes = (
            None
            if made_of[0] is None
            else tuple(np.abs(_value(self._fit(list(each)), share)) for each in zip(*made_of, strict=True))
        )
        return Pencil(tuple(_value(terms, share) for terms in self._terms), sizes)

    def fits(self, loads: Sequence[float]) -> bool:
        """Whether it agrees with the path to rounding at some loads, which are tried until one does not."""
        return all(self.misfit(load, self.there(load)) < ROUNDED for load in loads)

    def misfit(self, load: float, pencil: Pencil) -> float:
        """How far the polynomials are from the pencil at a load, relative to the rows and columns of what they
        describe.

        They describe its coefficients, and its first-order form where the last coefficient, the mass, is not constant.
        """
        worst = max(
            _apart(mine, given, [each.coefficients[k] for each in self.pencils])
            for k, (mine, given) in enumerate(
                zip(self._interpolated(load).coefficients, pencil.coefficients, strict=True)
            )
        )
        first, *last = (each.coefficients[-1] for each in (*self.pencils, pencil))
        if all(np.array_equal(each, first) or _apart(each, first, [*last]) < ROUNDED for each in last):
            return worst
        forms = [each.J for each in self.pencils]
        return max(worst, _apart(_value(self._fit(forms), self._share(load)), pencil.J, forms))


def _apart(mine: np.ndarray, given: np.ndarray, usual: list[np.ndarray]) -> float:
    """The largest difference of two matrices, each entry relative to its row and its column."""
    sizes = np.max(np.abs([given, *usual]), axis=0)
    rows, columns = (np.sqrt(sizes.max(axis=axis, keepdims=True, initial=0.0)) for axis in (1, 0))
    scale = rows * columns
    return float((np.abs(mine - given) / np.where(scale, scale, 1.0)).max(initial=0.0))


def moved(terms: list[np.ndarray], origin: float, unit: float) -> list[np.ndarray]:
    """The terms of the same polynomial in y, where x = origin + unit · y."""
    shifted = list(terms)
    for k in range(len(shifted)):
        for j in reversed(range(k, len(shifted) - 1)):
            shifted[j] = shifted[j] + origin * shifted[j + 1]
    return [unit**k * each for k, each in enumerate(shifted)]


def _value(terms: list[np.ndarray], x: float) -> np.ndarray:
    total = terms[-1]
    for each in reversed(terms[:-1]):
        total = total * x + each
    return total


def straight(there: Callable[[float], Pencil], unit: float, to: float | None = None) -> Stretch | None:
    """One stretch for all loads (or up to ``to``), if the pencil is linear in the load; ``unit`` is a usual load."""
    near = NEAR * min(unit, to or unit)  # a path that is not straight there need not be followed far
    try:
        if not _line(there, near).fits([BETWEEN[0] * near]):
            return None
        if to is not None:
            line = _line(there, unit)
            return line if line.fits([share * to for share in BETWEEN]) else None
        if not _line(there, unit).fits([BEYOND * unit]):
            return None
        line = _line(there, FAR * unit, unit)
        return line if line.fits([unit]) else None
    except PfaffError:
        return None


def _line(there: Callable[[float], Pencil], far: float, unit: float | None = None) -> Stretch:
    return Stretch(0.0, np.inf, (0.0, far), (there(0.0), there(far)), there, exact=True, unit=unit)


def place(load: float, fold: float | None) -> float:
    """A variable in which a path is smooth: the load, or minus the square root of its distance from a fold."""
    return load if fold is None else -math.sqrt(max(fold - load, 0.0))


def load_at(place: Any, fold: float | None) -> Any:
    return place if fold is None else fold - place**2


class Way(Protocol):
    """A path of equilibria parametrised by the distance from its origin."""

    def linearise(self, distance: float) -> Any: ...
    @property
    def end(self) -> float | None: ...
    @property
    def fold(self) -> float: ...


def beside(path: Way, low: float) -> Callable[[float], Pencil]:
    """The small motions along a path in the directions that they have at ``low``."""
    here = path.linearise(low)
    return cache(lambda distance: path.linearise(distance).motions(here))


def stretches(path: Way, low: float, to: float, unit: float) -> Iterator[Stretch]:
    """Stretches from ``low`` to ``to``, or to the end of the path, which raises ConvergenceError beyond it and then
    knows its fold.

    ``unit`` is a usual load.
    """
    fold, last = None, to
    length = _first_length(beside(path, low), low, min(unit, to - low))
    for _ in range(MOST):
        here, end = place(low, fold), place(last, fold)
        shortest = SHORTEST * max(low, unit) if fold is None else FOLDED * math.sqrt(fold)
        if end - here <= shortest:
            return
        ahead = end if end - here <= length else here + length
        found, misfit = _fitted(beside(path, low), low, float(load_at(ahead, fold)), fold)
        longer = CAREFUL * (FITTED / max(misfit, ROUNDED)) ** (1 / 3)  # a parabola errs by the cube of its length
        if found is not None:
            yield found
            low, length = found.high, min(longer, LONGER) * (ahead - here)
            length = length if fold is not None else min(length, (FARTHER - 1) * low)
        elif ahead - here > shortest:
            length = min(max(longer, 1 / SHRINK), CAREFUL) * (ahead - here)
        else:
            return
        if fold is None and longer < 1 and _ends(path, min(low + AHEAD * length, to)):
            fold, last = path.fold, path.end or low
            length = (place(last, fold) - place(low, fold)) / SHRINK


def _ends(path: Way, distance: float) -> bool:
    """Whether a path ends before this distance."""
    try:
        path.linearise(distance)
    except ConvergenceError:
        return path.end is not None
    return False


def _fitted(
    there: Callable[[float], Pencil], low: float, high: float, fold: float | None
) -> tuple[Stretch | None, float]:
    """The parabola through both ends and the middle if it fits in between, else None; and its misfit."""
    here, width = place(low, fold), place(high, fold) - place(low, fold)
    nodes = low, float(load_at(here + width / 2, fold)), high
    try:
        pencils = there(nodes[0]), there(nodes[1]), there(nodes[2])
        between = [(load, there(load)) for load in (float(load_at(here + share * width, fold)) for share in BETWEEN)]
    except ConvergenceError:
        return None, np.inf
    trial = Stretch(low, high, nodes, pencils, there, exact=False, fold=fold)
    misfit = max(trial.misfit(load, pencil) for load, pencil in between)
    return (replace(trial, exact=misfit < ROUNDED) if misfit < FITTED else None), misfit


def _first_length(there: Callable[[float], Pencil], low: float, length: float) -> float:
    """A length, at most ``length``, on which the first-order form hardly changes; it is approached from below."""
    start = there(low).J

    def change(trial: float) -> float:
        try:
            return _apart(there(low + trial).J, start, [start])
        except ConvergenceError:
            return np.inf

    trial = PROBED * length
    changed = change(trial)
    for _ in range(SHORTER):
        if changed < CHANGED and trial == length:
            break
        longer = np.sqrt(CHANGED / max(changed, ROUNDED))  # as if it changed quadratically
        ahead = min(length, trial * min(longer, AT_MOST) if changed < CHANGED else trial / SHRINK)
        after = change(ahead)
        if after >= CHANGED > changed or CHANGED > changed > CHANGED / SHRINK:
            break
        trial, changed = ahead, after
    return trial
