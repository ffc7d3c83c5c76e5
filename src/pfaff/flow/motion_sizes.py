"""Usual sizes of the states of a motion: what is large, small or rounding, in any units of length and time.

Coordinates have the sizes at which the equations change, with velocities as large as those of the motion; these are
as large as the fastest coordinate needs, by the motion or by accelerations from rest, to change by its size.
"""

from __future__ import annotations

import numpy as np

from pfaff.flow.flow import Flow
from pfaff.flow.in_quasi_velocities import quasi_rows
from pfaff.flow.probing import probe_of
from pfaff.statement.system import System
from pfaff.threads import once


def motion_sizes(flow: Flow, x: np.ndarray, numbers: np.ndarray) -> np.ndarray:
    """The sizes of the states of a flow about a state x, which is no larger than they are."""
    system: System = flow.system  # type: ignore[assignment]
    if system.rods:  # has no statement in formulas
        return np.maximum(1.0, np.abs(x))
    v = np.nan_to_num(flow.velocities(x, numbers), posinf=0.0, neginf=0.0)
    energy = np.abs(v / probe_of(system).alike(numbers)).max(initial=0.0)
    S, natural = _sizes(system, tuple(numbers.tolist()), 2.0 ** round(np.log2(energy)) if energy else 1.0)
    rate = max(float(np.abs(v / S).max(initial=0.0)), natural) or 1.0
    known = dict(zip(system.state_names, (*S, *(rate * S)), strict=True))
    quasi = [name for name in flow.states if name not in known]
    if quasi:
        at = dict(zip(flow.states, x, strict=True))
        y = np.array([*(at.get(name, 0.0) for name in system.coordinate_names), *v])
        rows = np.abs(quasi_rows(system, quasi, y, numbers, 0.0)[:, 1:])
        known |= dict(zip(quasi, rows @ (rate * S), strict=True))
    return np.maximum([known[name] for name in flow.states], np.abs(x))


def natural_rate(system: System, numbers: np.ndarray) -> float:
    """The rate at which coordinates at rest begin to change by their sizes; zero if nothing moves them."""
    return 0.0 if system.rods else _sizes(system, tuple(numbers.tolist()), 1.0)[1]


@once(most=16)
def _sizes(system: System, numbers: tuple[float, ...], speed: float) -> tuple[np.ndarray, float]:
    """Sizes of the coordinates where velocities are as large as one speed, and the rate at which they change from
    rest."""
    probe, at = probe_of(system), np.array(numbers)

    def draw(_: np.random.Generator) -> np.ndarray:
        return at

    S = probe.settled_sizes(draw, probe.sizes(at, speed))
    return S, probe.rate(at, 0.0, S, np.random.default_rng(1894))
