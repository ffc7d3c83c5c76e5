"""Sizes of the states, each in its own unit: a branch does not depend on the units of its states.

States that act on one another get units in which they do so alike, those of a balanced Jacobian. States that do not
form different groups, each measured by its own size or the effect of the parameter; where these are nothing beside the
way it goes until equations change (it is zero, or rounding, or moves by a square), by that way; and where no equations
ever change with it, by the effect of other groups. The parameter's own way ends where the prediction fails by more than
groups can bear: of those that change no equations, by what Newton's method does not correct.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import inf, sqrt
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from pfaff.algebra.bordering import FAINT, Border
from pfaff.algebra.newtons_method import Stopping, newton
from pfaff.algebra.tolerances import REAL
from pfaff.bifurcation.equilibria.first_rates import ROUNDING, elsewhere
from pfaff.bifurcation.equilibria.linearised import along_lines, jacobian_of
from pfaff.errors import PfaffError
from pfaff.flow.flow import Flow
from pfaff.kernels.first_rests import grouped
from pfaff.threads import cached_property

if TYPE_CHECKING:
    from pfaff.case import Bound

Changed = Callable[[np.ndarray, np.ndarray], np.ndarray]  # which of several Jacobians (last axis) have changed

FINER, BEFORE = 4, 8  # probes from one share to the next, and how many before the one found
FOLLOWED = 2.0  # error of a prediction, relative to the way itself, beyond which it is worse than none
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
    start = Place(flow, case.numbers, x, J)
    ahead = Prediction.made(start, border, by, case, name, span)
    way, share, straight = ahead.way, 0.0, 0.0
    # States that act on one another only beside this place form one group too, and where the prediction ends.
    acts = (flow.frame.acting(J) if flow.frame else np.abs(J)) + np.abs(ahead.place(ASIDE).J)
    g = Groups.made(acts, J)
    own, here = g.largest(np.abs(x)), start
    if way.any():
        straight, share = ahead.holds(g, own)
        here = ahead.place(share)
        joined = (np.abs(here.J) > acts)[g.of[:, None] != g.of].any()
        wider = Groups.made(acts + np.abs(here.J), J) if joined else g
        if len(wider.members) < len(g.members):
            g, own = wider, wider.largest(np.abs(x))
            straight, share = ahead.holds(g, own)
            here = ahead.place(share)
    sizes = np.maximum(own, share * g.largest(np.abs(way)))
    # A parameter may be zero at the start, and with it what bends the equations.
    places = [here, ahead.place(straight)] if share < straight else [here]
    unsure = (sizes == 0.0) | np.all([g.unchanged(place, sizes / HARDLY) for place in places], axis=0)
    if unsure.any():
        lengths = np.min([g.lengths(place, np.flatnonzero(unsure)) for place in places], axis=0)
        unsure &= ~(sizes > HARDLY * lengths)
        follow = unsure & ~np.isfinite(lengths)
        if way.any() and len(sizes) > 1:
            share, moved = ahead.beyond(g, np.where(unsure, np.maximum(own, lengths), own), follow, straight)
            sizes = np.maximum(own, np.where(follow, moved, share * g.largest(np.abs(way))))
            sizes = np.where(unsure & (moved < lengths), np.maximum(sizes, moved), sizes)
        sizes = np.where(unsure & np.isfinite(lengths) & (sizes <= HARDLY * lengths), lengths, sizes)
        if len(sizes) > 1:
            g.drive(sizes, follow, jacobian_of(flow, x + share * way, case.numbers))
        sizes[sizes == 0.0] = sizes.max(initial=0.0) or 1.0
    # Steps do not depend on the number of states, such as the cells of a mesh.
    return sizes[g.of] * max(1.0, sqrt(len(x) / FEW)) * g.units, share or 1.0


class Place(NamedTuple):
    """States at values of the parameters, and the Jacobian there."""

    flow: Flow
    numbers: np.ndarray
    x: np.ndarray
    J: np.ndarray

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
    def made(cls, acts: np.ndarray, J: np.ndarray) -> Groups:
        """The groups by the strengths of actions."""
        units, of = grouped(acts, REAL)
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
            lengths[group] = min(at.first(side * way, AT_ANY_LENGTH, self.changed) for side in (1, -1))
            driven[group] = np.fmax(*(self.largest(at.rates(side * shares * way[:, None])) for side in (1, -1)))
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


@dataclass(frozen=True, eq=False)
class Prediction:
    """States predicted along a parameter's way by their first rate, with the rates that remain."""

    start: Place
    border: Border
    way: np.ndarray
    case: Bound
    name: str
    span: float

    @classmethod
    def made(cls, start: Place, border: Border, by: np.ndarray, case: Bound, name: str, span: float) -> Prediction:
        """The prediction; the states stay if their first rate is not known."""
        way = -border.solve(start.J, by[:, 0]) * span if by.size else np.zeros(len(start.x))
        return cls(start, border, way if np.isfinite(way).all() else np.zeros(len(way)), case, name, span)

    def place(self, share: float) -> Place:
        """The place at a share of the way; the start where there is no Jacobian."""
        numbers, x = self._numbers(np.array([share]))[:, 0], self.start.x + share * self.way
        with np.errstate(all="ignore"):
            try:
                J = jacobian_of(self.start.flow, x, numbers)
            except PfaffError:
                return self.start
        return Place(self.start.flow, numbers, x, J) if np.isfinite(J).all() else self.start

    def _numbers(self, shares: np.ndarray) -> np.ndarray:
        numbers = self.start.numbers[:, None].repeat(len(shares), axis=1)
        if self.name in self.case.system.parameter_names:
            numbers[self.case.system.parameter_names.index(self.name)] += self.span * shares
        return numbers

    @cached_property
    def states(self) -> np.ndarray:
        """The states at the beginning and at all shares, as columns."""
        return self.start.x[:, None] + np.append(0.0, ON_WAY.shares) * self.way[:, None]

    def rates(self, states: np.ndarray) -> np.ndarray:
        """The rates of other states for the same parameters."""
        with np.errstate(all="ignore"):
            return self.start.flow.rates(states, self._numbers(np.append(0.0, ON_WAY.shares)))

    @cached_property
    def remaining(self) -> np.ndarray:
        return self.rates(self.states)

    def holds(self, g: Groups, own: np.ndarray) -> tuple[float, float]:
        """The shares up to which the Jacobian, and the prediction, hold."""
        straight = min(1.0, self.start.first(self.way, ON_WAY, g.changed))
        return straight, min(straight, self._fails(g, self.remaining, g.borne(own)[:, None]))

    def _fails(self, g: Groups, rates: np.ndarray, bearable: np.ndarray) -> float:
        J, x = self.start.J, self.start.x
        moves, terms = np.abs((J * (g.of[:, None] == g.of)) @ self.way) / g.units, np.abs(J) @ np.abs(x) / g.units
        return elsewhere(ON_WAY.shares, rates / g.units[:, None], moves, terms, g.of, bearable)

    def beyond(self, g: Groups, sizes: np.ndarray, follow: np.ndarray, most: float) -> tuple[float, np.ndarray]:
        """The share up to which the prediction holds where groups bear errors of their sizes, and those that ``follow``
        others all that Newton's method corrects, with its first Jacobian and no larger than its correction; and how far
        each group has moved there."""
        states, rates = self.states, self.remaining
        trembling = 1 + ROUNDING * np.cos(np.arange(len(states)))[:, None]

        def step(at: tuple[np.ndarray, np.ndarray]) -> tuple[tuple[np.ndarray, np.ndarray], float]:
            change = self.border.solve(self.start.J, at[1])
            states = at[0] - change
            return (states, self.rates(states)), float((np.abs(change) > ROUNDING * np.abs(states)).any())

        with np.errstate(all="ignore"):
            states, rates = newton(step, (states, rates), Stopping(max(1, int(follow.sum())))).at
            noise = g.largest(np.abs(self.rates(states * trembling) - rates))[:, 1:]
            moved = g.largest(np.abs(states - self.start.x[:, None]))[:, 1:]
        # Nothing corrects what is free along a family.
        firm = np.isin(np.arange(len(g.members)), g.felt)[:, None]
        corrected = np.where(firm, g.firmness[:, None] * moved, inf)
        bearable = np.where(follow[:, None], FOLLOWED * corrected + noise, g.borne(sizes)[:, None])
        left = np.where(follow[g.of, None], rates, 0.0)
        share = min(most, self._fails(g, self.remaining, bearable), self._fails(g, left, corrected + noise))
        last = max(0, int(np.searchsorted(ON_WAY.shares, share)) - (share < most))
        return share, np.nan_to_num(moved[:, last])
