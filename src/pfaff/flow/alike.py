"""Whether the symmetries that a flow was freed of hold along its own motions, and not only at random states."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from pfaff.flow.flow import Flow
from pfaff.flow.probing import Sample, probe_of
from pfaff.flow.slice import affine
from pfaff.flow.symmetries import Generator, rows_at, symmetries
from pfaff.statement.system import System

SHIFTS = (0.0, 1.0, -3.0, 20.0)  # along a symmetry, in sizes of the coordinates or radians


def broken_along(flow: Flow, x: np.ndarray, numbers: np.ndarray) -> list[float]:
    """How far a motion, a column for each state of a flow, and what each symmetry makes of it are from its rows,
    relative to the terms: NaN where no state of it obeys the constraints. Nothing for a flow freed of no symmetries
    but those that the statement shows."""
    system, generators = flow.system, (*(flow.slice.generators if flow.slice else ()), *_of_frame(flow))
    if not generators or not isinstance(system, System):
        return []
    probe, S, names = probe_of(system), symmetries(system).sizes, system.coordinate_names
    states, velocities = dict(zip(flow.states, x, strict=True)), flow.velocities(x, numbers)
    q = np.array([states.get(name, np.zeros(x.shape[1])) for name in names])

    drawn = np.random.default_rng(1919)
    pace = 1 / probe.period(numbers, 0.0, S, drawn)
    # Constraints on velocities say nothing of what rests.
    resting = ~velocities.any(axis=0)
    velocities[:, resting] = S[:, None] * pace * drawn.uniform(-1, 1, (len(S), resting.sum()))

    def samples(generator: Generator) -> Iterator[Sample]:
        for place, speed in zip(q.T, velocities.T, strict=True):
            for shift in SHIFTS if not generator.dependent else SHIFTS[:1]:
                g = _element(generator, S, shift)
                moved = g[:-1, :-1] @ place + g[:-1, -1]
                at = probe.near(moved, g[:-1, :-1] @ speed, numbers, 0.0, S)
                if at is not None:
                    yield at, numbers, 0.0, np.random.default_rng(1918)

    def broken(generator: Generator) -> float:
        rows = rows_at(probe, samples(generator), S, generator.dependent)
        return max((each.broken_by(generator, S) for each in rows), default=np.nan)

    return [broken(each) for each in generators]


def _of_frame(flow: Flow) -> tuple[Generator, ...]:
    return flow.frame.generators if flow.frame else ()


def _element(generator: Generator, S: np.ndarray, shift: float) -> np.ndarray:
    """The element of the group that moves by a shift."""
    from scipy.linalg import expm

    field = affine(generator)
    if generator.translates:
        return np.eye(len(field)) + shift / np.abs(generator.c / S).max() * field
    return np.asarray(expm(shift * field))
