"""How large states are, each in its own unit: a branch is the same in whatever units its states are.

States that act on one another have units in which they do so alike, those of a balanced Jacobian. States that do not
belong to different groups, each of them measured by what is known of it: where it is, what the parameter does to it,
what other groups do to it, or how far it goes until its own equations change.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf, sqrt
from typing import TYPE_CHECKING

import numpy as np

from pfaff.algebra.bordering import FAINT, Border, balanced
from pfaff.algebra.tolerances import REAL
from pfaff.bifurcation.equilibria.linearised import along_lines, jacobian_of, linearised
from pfaff.errors import PfaffError
from pfaff.flow.flow import Flow

if TYPE_CHECKING:
    from pfaff.case import Bound

SHARES = np.logspace(-16, 0, 65)  # of a way, at which it is seen whether the Jacobian has changed
LENGTHS = np.logspace(-24, 24, 97)  # the same for states of which no size is known
FINER, BEFORE = 4, 8  # looks from one share to the next, and from how many before the one that is found
FEW = 4  # states whose changes add up to a step; of more, it is their mean
SWEEPS, EVEN = 50, 1e-3  # towards even units, and their last change, whose square is left
LOOSE = 1e-12  # of how a state is bound to others, what binds it to itself: several groups have no unit in common
ASIDE = 1e-5  # of the way of a parameter, where states act on one another that do not at its beginning


def state_sizes(
    border: Border, J: np.ndarray, x: np.ndarray, flow: Flow, case: Bound, name: str, span: float
) -> np.ndarray:
    """In the units of each group: as large as its states, or as what the parameter does to them on its way.

    That is at most what changes the Jacobian by its own size: beyond it, a first rate tells nothing.
    """
    way = _way(border, J, x, flow, case, name, span)
    # States that act on one another only beside this place are of one group too.
    D, groups = grouped(np.abs(J) + np.abs(_aside(x + ASIDE * way, flow, case, name, ASIDE * span)))
    even = D / D[:, None] * (groups[:, None] == groups)
    share = min(1.0, _first(flow, case, x, way, SHARES, _changed(J, even))) if way.any() else 0.0
    moved = np.maximum(np.abs(x), share * np.abs(way)) / D
    sizes = np.array([moved[groups == group].max() for group in range(groups.max(initial=-1) + 1)])
    for group in np.flatnonzero(sizes == 0.0):
        own = even * (groups == group)
        if np.linalg.norm(J * own) > FAINT * np.linalg.norm(J * even):  # else it may be rounding
            length = _first(flow, case, x, D * (groups == group), LENGTHS, _changed(J, own))
            sizes[group] = length if np.isfinite(length) else 0.0
    if len(sizes) > 1:
        _driven(sizes, jacobian_of(flow, x + share * way, case.numbers), D, groups)
    sizes[sizes == 0.0] = sizes.max(initial=0.0) or 1.0
    # So that steps are as long however many states there are, such as the cells of a mesh.
    return sizes[groups] * max(1.0, sqrt(len(x) / FEW)) * D


def grouped(J: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Units in which states that act on one another do so alike, and the number of the group of each state; entries of
    the matrix are how much they act."""
    if len(J) < 2:
        return np.ones(len(J)), np.zeros(len(J), dtype=int)
    whole = _mutual(J > 0)  # what acts one way only has no even units
    inner = J * (whole[:, None] == whole)
    D = _even_units(inner)
    matrix = inner * D / D[:, None]
    usual = np.sqrt(np.maximum(matrix.max(axis=0), matrix.max(axis=1)))
    acts = matrix > REAL * usual[:, None] * usual  # of two actions whose product is rounding one is below √ε
    groups = _mutual(acts)
    return (D if groups.max() == whole.max() else _even_units(J * (groups[:, None] == groups))), groups


def _mutual(acts: np.ndarray) -> np.ndarray:
    """The number of the group of each state: those that act on one another, through others too."""
    reached = acts | np.eye(len(acts), dtype=bool)
    for _ in range(len(acts).bit_length()):
        reached = reached.astype(float) @ reached > 0
    return np.unique((reached & reached.T).argmax(axis=1), return_inverse=True)[1]


def _even_units(J: np.ndarray) -> np.ndarray:
    """Units D in which each state acts on others as much as they act on it: rows and columns of D⁻¹ J D are alike but
    for the diagonal, on which units have no effect (Osborne 1960).

    There the sum of all entries is least, a convex function of log D whose second derivative is a Laplacian. Newton's
    method begins with units in which rows and columns are alike within a factor.
    """
    others = np.abs(J)
    np.fill_diagonal(others, 0.0)
    matrix, D = balanced(others, inf)
    for _ in range(SWEEPS):
        rows, columns = matrix.sum(axis=1), matrix.sum(axis=0)
        whole = rows + columns
        laplacian = -(matrix + matrix.T)
        np.fill_diagonal(laplacian, np.where(whole > 0, whole * (1 + LOOSE), 1.0))
        step = np.linalg.solve(laplacian, rows - columns)
        factors = np.exp(np.clip(step, -1.0, 1.0))
        D, matrix = D * factors, matrix * factors / factors[:, None]
        if np.abs(step).max() < EVEN:
            break
    return D


def _way(border: Border, J: np.ndarray, x: np.ndarray, flow: Flow, case: Bound, name: str, span: float) -> np.ndarray:
    """Where the states go with a parameter at their first rate; none, if that is not known."""
    if name not in case.system.parameter_names:
        return np.zeros_like(x)
    way = -border.solve(J, linearised(flow, (name,))(x, case.numbers)[:, -1]) * span
    return way if np.isfinite(way).all() else np.zeros_like(x)


def _aside(x: np.ndarray, flow: Flow, case: Bound, name: str, farther: float) -> np.ndarray:
    """The Jacobian a little farther on the way of a parameter; none where there is none."""
    numbers = case.numbers.copy()
    if name in case.system.parameter_names:
        numbers[case.system.parameter_names.index(name)] += farther
    with np.errstate(all="ignore"):
        try:
            J = jacobian_of(flow, x, numbers)
        except PfaffError:
            return np.zeros((len(x), len(x)))
    return J if np.isfinite(J).all() else np.zeros_like(J)


def _changed(J: np.ndarray, weights: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    """Which of many Jacobians differ from one by its own size, with weights of their entries."""
    size = np.linalg.norm(J * weights)

    def changed(there: np.ndarray) -> np.ndarray:
        change = there - J[..., None]
        change *= weights[..., None]
        return ~(np.sqrt(np.einsum("ijk,ijk->k", change, change)) < size)

    return changed


def _driven(sizes: np.ndarray, J: np.ndarray, D: np.ndarray, groups: np.ndarray) -> None:
    """Groups of which nothing is known become as large as what others that are known do to them."""
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
    flow: Flow,
    case: Bound,
    x: np.ndarray,
    way: np.ndarray,
    shares: np.ndarray,
    changed: Callable[[np.ndarray], np.ndarray],
) -> float:
    """The first of these shares of a way from x at which the Jacobian has changed; infinite, if it has not."""
    with np.errstate(all="ignore"):
        if not along_lines(flow):
            there = changed(flow.jacobian(x[:, None] + shares * way[:, None], case.numbers))
            last = int(there.argmax()) if there.any() else len(shares) - 1
            # What oscillates may come back between them.
            first = max(0, last - BEFORE)
            finer = np.geomspace(shares[first], shares[last], FINER * (last - first) + 1)[: -1 if last else None]
            before = changed(flow.jacobian(x[:, None] + finer * way[:, None], case.numbers))
            if before.any():
                return float(shares[first - (-before.argmax() // FINER)])
            return float(shares[last]) if there.any() else inf
        for share in shares:
            try:
                there = jacobian_of(flow, x + share * way, case.numbers)
            except PfaffError:
                return float(share)
            if changed(there[..., None])[0]:
                return float(share)
    return inf
