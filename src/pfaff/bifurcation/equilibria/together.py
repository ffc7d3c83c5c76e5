"""Events that no single test function tells: several eigenvalues that cross at one place, and undamped pairs that meet.

Where eigenvalues cross together an even number of factors of a test may change sign. They are located by the growth
rate of the last of them in order. Without damping pairs stay on the imaginary axis until two of them meet there and
leave it, one to either side: a Krein collision or Hamiltonian Hopf point, where flutter begins; it is located by the
number of eigenvalues that grow.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from pfaff.algebra.tolerances import EPS
from pfaff.bifurcation.equilibria.eigenvalues import Rates, axis_pairs, distances, met, not_left, unstable
from pfaff.continuation.dense import Spot
from pfaff.continuation.kinds import MULTIPLE, Kind
from pfaff.continuation.problem import Event, Missed

if TYPE_CHECKING:
    from pfaff.bifurcation.equilibria.special_points import Rests

DOUBLE = 1e-6  # distance, in units, within which eigenvalues that vanish like its root are zero
ZEROS = (
    Kind.BOGDANOV_TAKENS,
    Kind.FOLD,
    Kind.BRANCH_POINT,
    Kind.DIVERGENCE,
)  # one eigenvalue or two are zero


def crossing_together(problem: Rests, a: Spot, b: Spot, found: Sequence[Event]) -> Missed | None:
    """What happens between two points that the events found there do not explain."""
    first, last = a.facts.eigenvalues, b.facts.eigenvalues
    before, after = not_left(first), not_left(last)
    if not (before or after):
        return None
    explained = sum(2 if event.kind == Kind.HOPF else 1 for event in found)
    grown = unstable(first), unstable(last)
    if problem.undamped and abs(grown[1] - grown[0]) >= explained + 2:
        return Missed(partial(_more_grow, than=min(grown)), partial(_meeting, many=abs(grown[1] - grown[0]) // 2))
    # Those on the axis at an end have crossed in the step that ends there.
    many, order = max((after - before, after), (grown[0] - grown[1], grown[0]))
    if many <= explained or many < 2 or problem.undamped:
        return _exchanged(problem, a, b, explained)
    return Missed(
        lambda spot: float(np.sort(spot.facts.eigenvalues.real)[-order]),
        partial(_together, problem, many=many, known=[event.point for event in found if event.kind == Kind.HOPF]),
    )


def rates_between(first: Any, last: Any, length: float) -> Rates:
    """Growth rates in a step, from the facts about its ends."""
    return Rates.between(first.eigenvalues, first.slopes, last.eigenvalues, last.slopes, length)


def _more_grow(spot: Spot, than: int) -> float:
    """A function that changes sign where the number of eigenvalues that grow does: the square of the least distance of
    two pairs, which is linear where they meet."""
    values = spot.facts.eigenvalues
    size = max(float(distances(values).min(initial=np.inf)), EPS * float(np.abs(values).max(initial=0.0))) ** 2
    return size if unstable(values) > than else -size


def _meeting(spot: Spot, many: int) -> Event | None:
    """The event of undamped pairs that meet on the imaginary axis and leave it."""
    if not len(met(spot.facts.eigenvalues)):
        return None
    kind = Kind.COALESCENCE if many == 1 else MULTIPLE + Kind.COALESCENCE
    return Event(kind, spot, detail=many, outranks=(Kind.HOPF,))


def _exchanged(problem: Rests, a: Spot, b: Spot, explained: int) -> Missed | None:
    """Eigenvalues that cross in one direction while as many cross in the other."""
    chord = (b.z - a.z) / a.units**2
    length = float(chord @ (b.z - a.z))
    rates = rates_between(a.facts, b.facts, np.sqrt(length))
    moved = rates.crossed(beyond=bool(problem.undamped))
    many = int(moved.sum())
    if many <= explained or many < 2:
        return None
    share = float(np.mean(rates.a[moved] / (rates.a - rates.b)[moved]))
    return Missed(lambda spot: float(chord @ (spot.z - a.z)) / length - share, partial(_together, problem, many=many))


def _together(problem: Rests, spot: Spot, many: int, known: Sequence[Spot] = ()) -> Event | None:
    """The event of ``many`` eigenvalues at one place, some pairs being ``known`` to cross, here or elsewhere."""
    pairs = len(axis_pairs(spot.facts.eigenvalues, many))
    if pairs:
        alone = sum(problem.norm(other.z, spot.z, spot) > DOUBLE for other in known)
        # A single pair that rounding puts on the axis at the end of a step has a test of its own.
        return Event(MULTIPLE + Kind.HOPF, spot, detail=pairs, outranks=(Kind.HOPF,)) if pairs - alone > 1 else None
    if not problem.equations.k and not problem.singular(spot):
        return None  # beside a very fast eigenvalue rounding hides on which side others are
    several = MULTIPLE + (Kind.DIVERGENCE if problem.equations.k else Kind.BRANCH_POINT)
    return Event(several, spot, detail=many, outranks=ZEROS)
