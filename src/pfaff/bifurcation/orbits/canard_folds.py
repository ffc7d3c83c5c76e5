"""Folds of cycles on canard explosions, where orbits of very different size have the same load to all digits.

No single step shows a fold there: multipliers are not resolved, and the load moves by rounding alone. From both sides
there is one all the same: the load comes, goes back, and a multiplier has passed 1 in between. Its load is that of the
orbits that go farthest; which of them is the fold, rounding hides.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from pfaff.bifurcation.orbits.orbits import OrbitPoint, Special
from pfaff.continuation.gathering import Gathered
from pfaff.continuation.kinds import Kind


def with_canard_folds(found: Gathered, values: Sequence[float]) -> Gathered:
    """A branch with those folds; ``values`` are the loads of its points, as far as they are known."""
    special, places = list(found.special), list(found.places)
    located = {place for place, each in zip(places, special, strict=True) if each.kind == Kind.FOLD}
    for before, after in _bracketed(found.points, _turns(np.asarray(values), located), located):
        fold = _farthest(found.points, before, after)
        at = int(np.searchsorted(places, after, side="right"))
        special.insert(at, fold)
        places.insert(at, after)
    return Gathered(found.points, special, places, found.ended)


def hidden_at(points: Sequence[OrbitPoint], cut: int) -> list[Special]:
    """The fold that is hidden about a point at which a branch was cut and followed on."""
    first, last = cut, cut
    while first > 0 and not points[first].resolved:
        first -= 1
    while last < len(points) - 1 and not points[last].resolved:
        last += 1
    part = points[first : last + 1]
    return with_canard_folds(Gathered(part), [each.value for each in part]).special


def _turns(values: np.ndarray, located: set[int]) -> list[int]:
    """Indices of points at which the load has turned since it last moved, without a located fold."""
    moves = np.sign(np.diff(values))
    moving = np.flatnonzero(moves)
    turned = np.flatnonzero(np.diff(moves[moving]))
    ends = zip(moving[turned].tolist(), moving[turned + 1].tolist(), strict=True)
    return [last for first, last in ends if located.isdisjoint(range(first + 1, last + 2))]


def _bracketed(points: Sequence[OrbitPoint], turns: list[int], located: set[int]) -> Iterator[tuple[int, int]]:
    """The points about turns whose multipliers are resolved, and between which an odd number of multipliers has passed
    1."""
    passed = 0
    for turn in turns:
        if turn < passed or points[turn].resolved:
            continue
        before = next((k for k in range(turn, -1, -1) if points[k].resolved), None)
        after = next((k for k in range(turn, len(points)) if points[k].resolved), None)
        if before is None or after is None:
            continue
        a, b, passed = points[before].point, points[after].point, after
        back = a.tests[Kind.FOLD] * b.tests[Kind.FOLD] < 0
        if back and (a.unstable - b.unstable) % 2 and located.isdisjoint(range(before + 1, after + 1)):
            yield before, after


def _farthest(points: Sequence[OrbitPoint], before: int, after: int) -> Special:
    """The fold between two points: the orbit with the farthest load."""
    way = np.sign(points[before].point.tangent.scalars[1])
    orbits = [points[k] for k in range(before, after + 1)]
    fold = max(orbits, key=lambda each: way * each.value)
    hidden = [each.period for each in orbits if not each.resolved]
    note = f"rounding hides which of the orbits of periods {min(hidden):.4g} to {max(hidden):.4g} it is"
    return Special(fold.problem, fold.point, "fold", note)
