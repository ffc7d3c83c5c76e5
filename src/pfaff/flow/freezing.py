"""Which coordinates to freeze for the symmetries of a system: the slice of all that have one."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pfaff.flow.shape import ignorable_coordinates
from pfaff.flow.slice import Slice, affine
from pfaff.flow.symmetries import Generator, hold, symmetries
from pfaff.statement.system import System
from pfaff.threads import once

LEADS = 0.1  # a coordinate that a generator moves by less than this, relative to the one moved most, is not frozen
CLOSED = 1e-9  # commutators of generators that are combinations of these, up to rounding


def slice_of(system: System, keep: frozenset[str] = frozenset(), numbers: np.ndarray | None = None) -> Slice | None:
    """The slice of all symmetries that have one; None if no coordinates but those that appear nowhere are dropped.

    Coordinates in ``keep`` stay if symmetries leave a choice. Symmetries are confirmed at the numbers, if given.
    """
    if numbers is None or hold(system, tuple(numbers.tolist())):
        return _sliced(system, keep)
    return _sliced(system, keep, tuple(numbers.tolist()))


@once(most=16)
def _sliced(system: System, keep: frozenset[str], numbers: tuple[float, ...] | None = None) -> Slice | None:
    found = symmetries(system, numbers)
    stated = ignorable_coordinates(system)
    order = [[n in stated, n not in keep] for n in system.coordinate_names]
    S = found.sizes
    chosen: list[Generator] = []
    frozen: list[int] = []
    for g in _translations_first(found.generators):
        rest = _without(g, chosen, frozen)
        wanted = _frozen_by(rest, chosen, frozen, S, order)
        if wanted is not None:
            chosen, frozen = [*chosen, rest], [*frozen, wanted]
    part = Slice(system, tuple(chosen), tuple(frozen))
    return part if chosen and not part.evident else None


def translated(system: System) -> tuple[str, ...]:
    """Coordinates, one for each translation of a system, at all values of which it is alike."""
    part = slice_of(system)
    if part is None:
        return tuple(ignorable_coordinates(system))
    return tuple(name for name, each in zip(part.names, part.generators, strict=True) if each.translates)


def _translations_first(generators: Sequence[Generator]) -> list[Generator]:
    return sorted(generators, key=lambda g: not g.translates)


def _without(g: Generator, chosen: Sequence[Generator], frozen: Sequence[int]) -> Generator:
    """A generator minus those that move frozen coordinates as it does at zero."""
    if not frozen:
        return g
    X = np.array([each.c[list(frozen)] for each in chosen]).T
    by = np.linalg.solve(X, g.c[list(frozen)])
    B, c = (getattr(g, k) - sum(s * getattr(e, k) for s, e in zip(by, chosen, strict=True)) for k in ("B", "c"))
    c[list(frozen)] = 0.0
    return Generator(B, c, g.dependent)


def _frozen_by(
    g: Generator, chosen: Sequence[Generator], frozen: Sequence[int], S: np.ndarray, order: Sequence[Sequence[bool]]
) -> int | None:
    """The coordinate to freeze with one more generator; None if this leaves no slice, or no group."""
    sizes = np.abs(g.c) / S
    every = [*chosen, g]
    if not _closed(every, S):
        return None
    leading = np.flatnonzero(sizes > LEADS * sizes.max(initial=0.0)).tolist()
    for j in sorted(leading, key=lambda j: (*np.invert(order[j]), j)):
        J = [*frozen, j]
        out = [k for k in range(len(S)) if k not in J]
        if not any(each.B[np.ix_(J, out)].any() for each in every):
            return int(j)
    return None


def _closed(generators: Sequence[Generator], S: np.ndarray) -> bool:
    """Whether the commutators of generators are among their combinations: they generate a group of no more."""
    scale = np.append(S, 1.0)
    maps = [affine(each) / scale[:, None] * scale for each in generators]
    basis = np.array([each.ravel() for each in maps]).T
    for k, a in enumerate(maps):
        for b in maps[:k]:
            commutator = (a @ b - b @ a).ravel()
            left = commutator - basis @ np.linalg.lstsq(basis, commutator, rcond=None)[0]
            if np.abs(left).max() > CLOSED * max(np.abs(a).max() * np.abs(b).max(), 1e-300):
                return False
    return True
