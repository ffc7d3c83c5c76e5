"""Sizes of the states, each in its own unit: a branch does not depend on the units of its states.

States that act on one another get units in which they do so alike, those of a balanced Jacobian. States that do not
form different groups, each measured by its own size or the effect of the parameter; where these are nothing beside the
way it goes until equations change (it is zero, or rounding, or moves by a square), by that way; and where no equations
ever change with it, by the effect of other groups.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from math import inf, sqrt
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from pfaff.algebra.bordering import FAINT, Border
from pfaff.bifurcation.equilibria.first_rates import elsewhere
from pfaff.bifurcation.equilibria.linearised import along_lines, jacobian_of
from pfaff.errors import PfaffError
from pfaff.flow.flow import Flow

if TYPE_CHECKING:
    from pfaff.case import Bound

Changed = Callable[[np.ndarray, np.ndarray], np.ndarray]  # which of several Jacobians (last axis) have changed

FINER, BEFORE = 4, 8  # probes from one share to the next, and how many before the one found
FEW = 4  # up to this many states, their changes add up to a step; for more, their mean counts
HARDLY = 1e-3  # size of a group, relative to the way it goes until equations change, below which it tells nothing
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

    That is at most what changes the Jacobian by its own size or makes the first-order prediction fail. A group of which
    neither tells a size, since it is zero or rounding, is measured by how far it goes until equations change.
    """
    from pfaff.bifurcation.equilibria.walking.branch_loops import grouped, lapack, quickest

    way, start = _way(border, J, by, span), Place(flow, case.numbers, x, J)
    # States that act on one another only beside this place form one group too.
    aside = start.ahead(case, name, ASIDE * span, ASIDE * way)
    acts = flow.frame.acting(J) if flow.frame else np.abs(J)
    acts = acts + np.abs(aside.J) if aside else acts
    units, groups = quickest(grouped)(lapack(), acts)
    g = Groups.made(units, groups, J)
    share, straight, own = 0.0, 0.0, g.largest(np.abs(x))
    if way.any():
        rates = _on_way(flow, case, x, way, name, span)
        moves, terms = np.abs((J * (g.of[:, None] == g.of)) @ way) / g.units, np.abs(J) @ np.abs(x) / g.units
        led = partial(elsewhere, ON_WAY.shares, rates / g.units[:, None], moves, terms, g.of)
        straight = min(1.0, start.first(way, ON_WAY, g.changed))
        share = min(straight, led(g.borne(own)))
    sizes = np.maximum(own, share * g.largest(np.abs(way)))
    # A parameter may be zero at the start, and with it what bends the equations.
    place = start.ahead(case, name, straight * span, straight * way) or start
    unsure = (sizes == 0.0) | g.unchanged(place, sizes / HARDLY)
    if unsure.any():
        lengths = g.lengths(place, np.flatnonzero(unsure))
        if way.any() and len(sizes) > 1:
            share = min(straight, led(g.borne(np.where(unsure, np.maximum(own, lengths), own))))
            further = g.largest(np.abs(border.solve(J, rates[:, 1 + np.searchsorted(ON_WAY.shares, share)])))
            sizes = np.maximum(own, share * g.largest(np.abs(way)))
            sizes = np.where(unsure & (further < lengths), np.maximum(sizes, further), sizes)
        sizes = np.where(unsure & np.isfinite(lengths) & (sizes <= HARDLY * lengths), lengths, sizes)
        if len(sizes) > 1:
            g.drive(sizes, unsure & ~np.isfinite(lengths), jacobian_of(flow, x + share * way, case.numbers))
        sizes[sizes == 0.0] = sizes.max(initial=0.0) or 1.0
    # Steps do not depend on the number of states, such as the cells of a mesh.
    return sizes[g.of] * max(1.0, sqrt(len(x) / FEW)) * g.units, share or 1.0


class Place(NamedTuple):
    """States at values of the parameters, and the Jacobian there."""

    flow: Flow
    numbers: np.ndarray
    x: np.ndarray
    J: np.ndarray

    def ahead(self, case: Bound, name: str, farther: float, way: np.ndarray) -> Place | None:
        """The place farther on the way of a parameter; None where the Jacobian does not exist there."""
        numbers, x = self.numbers.copy(), self.x + way
        if name in case.system.parameter_names:
            numbers[case.system.parameter_names.index(name)] += farther
        with np.errstate(all="ignore"):
            try:
                J = jacobian_of(self.flow, x, numbers)
            except PfaffError:
                return None
        return Place(self.flow, numbers, x, J) if np.isfinite(J).all() else None

    def rates(self, ways: np.ndarray) -> np.ndarray:
        """The changes of the rates along ways, columns."""
        with np.errstate(all="ignore"):
            rates = self.flow.rates(self.x[:, None] + np.column_stack([0.0 * self.x, ways]), self.numbers)
        return np.abs(rates[:, 1:] - rates[:, :1])

    def jacobians(self, ways: np.ndarray) -> Iterator[np.ndarray]:
        """Jacobians at the ends of ways, columns, together or one by one as is faster; NaN where there is none."""
        states = self.x[:, None] + ways
        with np.errstate(all="ignore"):
            if not along_lines(self.flow):
                yield self.flow.jacobian(states, self.numbers)
                return
            for x in states.T:
                try:
                    yield jacobian_of(self.flow, x, self.numbers)[..., None]
                except PfaffError:
                    yield np.full((len(x), len(x), 1), np.nan)

    def first(self, way: np.ndarray, looks: Looks, changed: Changed) -> float:
        """The first share of a way at which the Jacobian has changed; infinite if it has not."""
        shares = looks.shares
        found = self._first(shares * way[:, None], changed)
        if along_lines(self.flow):
            return float(shares[found]) if found < len(shares) else inf
        # Oscillating entries may come back in between.
        last = min(found, len(shares) - 1)
        start = max(0, last - BEFORE)
        finer = looks.finer[FINER * start : max(1, FINER * last)]
        before = self._first(finer * way[:, None], changed)
        if before < len(finer):
            return float(shares[start - (-before // FINER)])
        return float(shares[last]) if found == last else inf

    def _first(self, ways: np.ndarray, changed: Changed) -> int:
        place = 0
        for there in self.jacobians(ways):
            found = changed(self.J, there)
            if found.any():
                return place + int(found.argmax())
            place += there.shape[2]
        return place


@dataclass(frozen=True, eq=False)
class Groups:
    """States that act on one another: the group of each, units in which they do so alike, the states of each group, and
    the norm of its own Jacobian."""

    of: np.ndarray
    units: np.ndarray
    members: list[np.ndarray]
    firmness: np.ndarray

    @classmethod
    def made(cls, units: np.ndarray, of: np.ndarray, J: np.ndarray) -> Groups:
        members = [np.flatnonzero(of == group) for group in range(of.max(initial=-1) + 1)]
        even = J * units / units[:, None]
        return cls(of, units, members, np.array([np.linalg.norm(even[np.ix_(each, each)]) for each in members]))

    @property
    def felt(self) -> np.ndarray:
        """Groups whose own Jacobian is not so faint that it may be rounding."""
        return np.flatnonzero(self.firmness > FAINT * np.linalg.norm(self.firmness))

    def largest(self, values: np.ndarray) -> np.ndarray:
        """The largest value in each group, in units; of each of several columns."""
        found = np.zeros((len(self.members), *values.shape[1:]))
        np.maximum.at(found, self.of, (values.T / self.units).T)
        return found

    def changed(self, J: np.ndarray, there: np.ndarray) -> np.ndarray:
        """Which of several Jacobians (last axis) differ from J: one group's own by its size, or groups act on one
        another as on themselves."""
        own, even = self.of[:, None] == self.of, (self.units / self.units[:, None])[..., None]
        apart = np.where(own[..., None], (there - J[..., None]) * even, 0.0)
        by_row = np.einsum("ijk,ijk->ik", apart, apart)
        by_group = np.stack([by_row[each].sum(axis=0) for each in self.members])[self.felt]
        changed: np.ndarray = ~(by_group < self.firmness[self.felt, None] ** 2).all(axis=0)
        if len(self.members) > 1:
            firm = np.where(np.isin(np.arange(len(self.members)), self.felt), self.firmness, inf)[self.of]
            both = np.abs(there * there.swapaxes(0, 1))[~own]
            changed |= ~(both < np.outer(firm, firm)[~own][:, None]).all(axis=0)
        return changed

    def unchanged(self, at: Place, sizes: np.ndarray) -> np.ndarray:
        """The groups that go so far without a change of equations."""
        ways = (sizes * (self.of[:, None] == np.arange(len(sizes)))) * self.units[:, None]
        with np.errstate(all="ignore"):
            return ~self.changed(at.J, np.concatenate(list(at.jacobians(ways)), axis=2))

    def borne(self, sizes: np.ndarray) -> np.ndarray:
        """The rates, in units, that move the groups by their sizes; infinite where these are."""
        known = np.isfinite(sizes)
        return np.where(known, self.firmness * np.where(known, sizes, 0.0), inf)

    def lengths(self, at: Place, wanted: np.ndarray) -> np.ndarray:
        """How far the wanted groups go, in units, until equations change, or another group is driven so far; infinite
        if that never is."""
        lengths, driven, shares = np.full(len(self.members), inf), {}, AT_ANY_LENGTH.shares
        ahead = set(wanted) & set(self.felt)
        while ahead:
            group = ahead.pop()
            way = self.units * (self.of == group)
            lengths[group] = at.first(way, AT_ANY_LENGTH, self.changed)
            driven[group] = self.largest(at.rates(shares * way[:, None]))
            driven[group][group] = 0.0
            ahead |= set(np.flatnonzero(driven[group].any(axis=1))) & set(self.felt) - set(driven)
        for _ in driven:
            most, before = self.borne(lengths)[:, None], lengths.copy()
            for group, rates in driven.items():
                far = ~(rates <= most).all(axis=0)
                if far.any():
                    lengths[group] = min(lengths[group], shares[far.argmax()])
            if (lengths == before).all():
                break
        return lengths

    def drive(self, sizes: np.ndarray, slaves: np.ndarray, J: np.ndarray) -> None:
        """Give groups on which nothing depends no smaller sizes than the action of others suggests."""
        for _ in sizes:
            before = sizes.copy()
            for group in np.flatnonzero(slaves):
                own, D = self.of == group, self.units
                push = np.abs(J[np.ix_(own, ~own)]) @ (sizes[self.of] * D)[~own] / D[own]
                answer = np.linalg.lstsq(J[np.ix_(own, own)] * D[own] / D[own, None], push)[0]
                sizes[group] = max(sizes[group], np.abs(answer).max())
            if (sizes == before).all():
                return


def _on_way(flow: Flow, case: Bound, x: np.ndarray, way: np.ndarray, name: str, span: float) -> np.ndarray:
    """The rates at the beginning of a parameter's way and at all shares, at the predicted states."""
    at = np.append(0.0, ON_WAY.shares)
    numbers = case.numbers[:, None].repeat(len(at), axis=1)
    numbers[case.system.parameter_names.index(name)] += span * at
    with np.errstate(all="ignore"):
        return flow.rates(x[:, None] + at * way[:, None], numbers)


def _way(border: Border, J: np.ndarray, by: np.ndarray, span: float) -> np.ndarray:
    """The displacement of the states along the parameter's way at their first rate; zero if that is not known."""
    way = -border.solve(J, by[:, 0]) * span if by.size else np.zeros(len(J))
    return way if np.isfinite(way).all() else np.zeros(len(J))
