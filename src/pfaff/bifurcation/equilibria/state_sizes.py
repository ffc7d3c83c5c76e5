"""Sizes of the states, each in its own unit: a branch does not depend on the units of its states.

States that act on one another get units in which they do so alike, those of a balanced Jacobian. States that do not
form different groups, each measured by what is known of it: its own size, the effect of the parameter, the effect of
other groups, or how far it goes until its own equations change.
"""

from __future__ import annotations

from math import inf, isfinite, sqrt
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from pfaff.algebra.bordering import FAINT, Border
from pfaff.bifurcation.equilibria.first_rates import ROUNDING, elsewhere
from pfaff.bifurcation.equilibria.linearised import along_lines, jacobian_of
from pfaff.errors import PfaffError
from pfaff.flow.flow import Flow

if TYPE_CHECKING:
    from pfaff.case import Bound

FINER, BEFORE = 4, 8  # probes from one share to the next, and how many before the one found
FEW = 4  # up to this many states, their changes add up to a step; for more, their mean counts
SUSPECT = 1e-8  # state, relative to the largest in balanced units, that may be rounding
ASIDE = 1e-5  # share of the parameter's way, at which states that do not act on one another at its beginning may do so


class Looks(NamedTuple):
    """Shares of a way, and a finer set of them."""

    shares: np.ndarray
    finer: np.ndarray

    @classmethod
    def between(cls, first: int, last: int, many: int) -> Looks:
        """Shares between two powers of ten."""
        return cls(np.logspace(first, last, many), np.logspace(first, last, FINER * (many - 1) + 1))


ON_WAY = Looks.between(-16, 0, 65)  # where it is checked whether the Jacobian has changed
AT_ANY_LENGTH = Looks.between(-24, 24, 97)  # the same for states of which no size is known
SHARES = ON_WAY.shares


def state_sizes(
    border: Border, J: np.ndarray, by: np.ndarray, x: np.ndarray, flow: Flow, case: Bound, name: str, span: float
) -> tuple[np.ndarray, float]:
    """Sizes in the units of each group: those of its states, or those that the parameter gives them on its way by the
    rates ``by``; and the share of that way on which this holds.

    That is at most what changes the Jacobian by its own size or makes the first-order prediction fail.
    """
    from pfaff.bifurcation.equilibria.walking.branch_loops import grouped, lapack, quickest

    value = float(case.numbers[case.system.parameter_names.index(name)]) if by.size else 0.0
    both = np.column_stack([x, _way(border, J, by, span)])
    (here, way), (at_start, on_way) = (
        each.T for each in _without_rounding(both, border, J, by, np.array([value, span]))
    )
    # States that act on one another only beside this place form one group too.
    acts = np.abs(J) + np.abs(_aside(x + ASIDE * way, flow, case, name, ASIDE * span))
    D, groups = quickest(grouped)(lapack(), acts)
    even = D / D[:, None] * (groups[:, None] == groups)
    share = 0.0
    if way.any():
        moves, rates = np.abs((J * (groups[:, None] == groups)) @ way), _on_way(flow, case, x, way, name, span)
        # Where what pushes states cancels, it is that by which they are measured.
        moves = np.maximum(moves, (np.abs(J) @ on_way + np.abs(by[:, 0]) * span) * np.where(way, ROUNDING, 1.0))
        led = elsewhere(ON_WAY.shares, rates / D[:, None], moves / D, np.abs(J) @ at_start / D, groups)
        share = min(1.0, _first(flow, case, x, way, ON_WAY, J, even), led)
    moved = np.maximum(np.abs(here), share * np.abs(way)) / D
    sizes = np.zeros(groups.max(initial=-1) + 1)
    np.maximum.at(sizes, groups, moved)
    for group in np.flatnonzero(sizes == 0.0):
        own = even * (groups == group)
        if np.linalg.norm(J * own) > FAINT * np.linalg.norm(J * even):  # else it may be rounding
            length = _first(flow, case, x, D * (groups == group), AT_ANY_LENGTH, J, own)
            if isfinite(length):  # where others are moved sooner, it may be rounding
                pushed = _pushes(
                    flow, case, x, D * (groups == group), float(np.linalg.norm(J * own)), (D, groups, sizes)
                )
                sizes[group] = min(length, pushed)
    if len(sizes) > 1 and not sizes.all():
        _driven(sizes, jacobian_of(flow, x + share * way, case.numbers), D, groups)
    sizes[sizes == 0.0] = sizes.max(initial=0.0) or 1.0
    # Steps do not depend on the number of states, such as the cells of a mesh.
    return sizes[groups] * max(1.0, sqrt(len(x) / FEW)) * D, share or 1.0


def _on_way(flow: Flow, case: Bound, x: np.ndarray, way: np.ndarray, name: str, span: float) -> np.ndarray:
    """The rates at the beginning of a parameter's way and at all shares, at the predicted states."""
    at = np.append(0.0, ON_WAY.shares)
    numbers = case.numbers[:, None].repeat(len(at), axis=1)
    numbers[case.system.parameter_names.index(name)] += span * at
    with np.errstate(all="ignore"):
        return flow.rates(x[:, None] + at * way[:, None], numbers)


def _pushes(
    flow: Flow, case: Bound, x: np.ndarray, way: np.ndarray, rate: float,
    units: tuple[np.ndarray, np.ndarray, np.ndarray],
) -> float:  # fmt: skip
    """The first length of a way at which states of other groups, of known size, are moved by these at a rate."""
    D, groups, sizes = units
    known = np.flatnonzero(sizes[groups] > 0)
    if not known.size:
        return inf
    with np.errstate(all="ignore"):
        rates = flow.rates(x[:, None] + AT_ANY_LENGTH.shares * way[:, None], case.numbers)[known]
    moved = ~(np.abs(rates) <= rate * (sizes[groups] * D)[known, None]).all(axis=0)
    return float(AT_ANY_LENGTH.shares[moved.argmax()]) if moved.any() else inf


def _way(border: Border, J: np.ndarray, by: np.ndarray, span: float) -> np.ndarray:
    """The displacement of the states along the parameter's way at their first rate; zero if that is not known."""
    way = -border.solve(J, by[:, 0]) * span if by.size else np.zeros(len(J))
    return way if np.isfinite(way).all() else np.zeros(len(J))


def _without_rounding(
    columns: np.ndarray, border: Border, J: np.ndarray, by: np.ndarray, values: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """States that belong to values of the parameter, a column each, set to zero where cancelling terms leave rounding
    alone; and the sizes of those terms."""
    sizes = np.abs(columns) / border.scale[:, None]
    if ((sizes == 0.0) | (sizes > SUSPECT * sizes.max(axis=0))).all():
        return columns, np.abs(columns)
    terms = np.abs(J) @ np.abs(columns) + (np.abs(by * values) if by.size else 0.0)
    made = np.abs(border.solve(J, np.cos(np.arange(len(J)))[:, None] * terms))
    return np.where(np.abs(columns) <= ROUNDING * made, 0.0, columns), np.maximum(np.abs(columns), made)


def _aside(x: np.ndarray, flow: Flow, case: Bound, name: str, farther: float) -> np.ndarray:
    """The Jacobian a little farther on the parameter's way; zero where it does not exist."""
    numbers = case.numbers.copy()
    if name in case.system.parameter_names:
        numbers[case.system.parameter_names.index(name)] += farther
    with np.errstate(all="ignore"):
        try:
            J = jacobian_of(flow, x, numbers)
        except PfaffError:
            return np.zeros((len(x), len(x)))
    return J if np.isfinite(J).all() else np.zeros_like(J)


def _driven(sizes: np.ndarray, J: np.ndarray, D: np.ndarray, groups: np.ndarray) -> None:
    """Give groups of unknown size the size that the action of known ones suggests."""
    for _ in range(len(sizes)):
        unknown = np.flatnonzero(sizes == 0.0)
        for group in unknown:
            own = groups == group
            push = np.abs(J[np.ix_(own, ~own)]) @ (sizes[groups] * D)[~own] / D[own]
            answer = np.linalg.lstsq(J[np.ix_(own, own)] * D[own] / D[own, None], push)[0]
            sizes[group] = np.abs(answer).max()
        if not unknown.size or not sizes[unknown].any():
            return


def _first(
    flow: Flow, case: Bound, x: np.ndarray, way: np.ndarray, looks: Looks, J: np.ndarray, weights: np.ndarray
) -> float:
    """The first share of a way from x at which the Jacobian has changed by its own size, in weighted entries; infinite
    if it has not."""
    from pfaff.bifurcation.equilibria.walking.branch_loops import first_changed, quickest

    shares, changed = looks.shares, quickest(first_changed)
    with np.errstate(all="ignore"):
        if not along_lines(flow):
            found = changed(J, weights, flow.jacobian(x[:, None] + shares * way[:, None], case.numbers))
            last = min(found, len(shares) - 1)
            # Oscillating entries may come back in between.
            first = max(0, last - BEFORE)
            finer = looks.finer[FINER * first : max(1, FINER * last)]
            before = changed(J, weights, flow.jacobian(x[:, None] + finer * way[:, None], case.numbers))
            if before < len(finer):
                return float(shares[first - (-before // FINER)])
            return float(shares[last]) if found == last else inf
        for share in shares:
            try:
                there = jacobian_of(flow, x + share * way, case.numbers)
            except PfaffError:
                return float(share)
            if not changed(J, weights, there[..., None]):
                return float(share)
    return inf
