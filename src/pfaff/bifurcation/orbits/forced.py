"""Orbits of forced systems: the oscillator that carries the phase is left out of results."""

from __future__ import annotations

import numpy as np

from pfaff.bifurcation.orbits.cycles import NONE
from pfaff.flow.flow import Flow
from pfaff.kernels.metrics import CARRIED, VELOCITIES


def numbers(of: np.ndarray | None) -> np.ndarray:
    return NONE if of is None else of.astype(int)


def kinds_of(flow: Flow) -> np.ndarray:
    """Which states are positions, velocities, or carry a forcing, as ``scales`` has it; none where all are of one."""
    kinds = numbers(flow.positions)
    if not flow.carried:
        return kinds
    own = len(flow.states) - len(flow.carried)
    return np.array([*(kinds[:own] if len(kinds) else [VELOCITIES] * own), *[CARRIED] * len(flow.carried)])


def own_states(flow: Flow) -> tuple[str, ...]:
    """The states that belong to the system."""
    return flow.states[: len(flow.states) - len(flow.carried)]


def phase(flow: Flow, x: np.ndarray) -> float:
    """The phase of the forcing at a state, between −π and π."""
    cosine, sine = (x[flow.states.index(name)] for name in flow.carried)
    return float(np.arctan2(sine, cosine))


def own_multipliers(values: np.ndarray, turns: float) -> np.ndarray:
    """Multipliers without the two of the oscillator over its turns: 1 along it, e^−4π for each turn across it."""
    left = list(range(len(values)))
    for known in (1.0, np.exp(-4 * np.pi * turns)):
        left.remove(min(left, key=lambda k: abs(values[k] - known)))
    return values[left]
