"""Motions of random systems, in any words, against the same equations integrated by SciPy."""

from __future__ import annotations

import numpy as np
import pytest

from cross import examples
from cross.dae import Equations
from cross.mechanics import Change
from cross.random_systems import moving, other_words


def gap(first: np.ndarray, second: np.ndarray) -> float:
    """The largest difference, relative to what is largest."""
    first, second = np.asarray(first), np.asarray(second)
    return float(np.abs(first - second).max(initial=0.0) / (np.abs(second).max(initial=0.0) or 1.0))


def stated(change: Change, q: np.ndarray, v: np.ndarray) -> dict[str, float]:
    """A state in the new words, by name."""
    names = change.mechanics.names
    Q, V = change.forth(q, v)
    return dict(zip([*names, *(f"{name}_dot" for name in names)], [*Q, *V], strict=True))


@pytest.mark.parametrize("seed", examples(0, 1, 2, 3, 4, 5, 6, 7))
def test_accelerations_and_reactions(seed):
    """The flow at random states: no integration in between."""
    old = moving(seed)
    change, equations = other_words(old, seed), Equations(old)
    flow, case = change.mechanics.system.flow, change.mechanics.system.at()
    for k in range(4):
        q, v = equations.start(1000 * seed + k)
        time = 0.3 * k
        a, p = equations.accelerations(q, v, time)
        Q, V = change.forth(q, v)
        x, when = np.concatenate([Q, V]), time / change.time
        assert gap(change.accelerations(Q, V, flow.rhs(x, case, when)[len(q) :]), a) < 1e-11, "accelerations"
        if len(p):
            assert gap(change.reactions(q, flow.reactions(x, case, when)), p) < 1e-11, "reactions"


@pytest.mark.parametrize("seed", examples(0, 1, 2, 3))
def test_states_reactions_and_energies(seed):
    old = moving(seed)
    change, equations = other_words(old, seed), Equations(old)
    q, v = equations.start(seed)
    times = np.linspace(0, 4, 9)
    expected = equations.motion(q, v, times)
    motion = change.mechanics.system.at().simulate(4 / change.time, samples=9, **stated(change, q, v))
    n = len(q)
    assert motion.finished, motion.status
    there, speeds = change.back(motion.y[:n], motion.y[n:])
    size = max(np.abs(expected.q).max(), np.abs(expected.v).max())
    assert np.abs(there - expected.q).max() < 1e-10 * size, "coordinates"
    assert np.abs(speeds - expected.v).max() < 1e-10 * size, "velocities"
    p = np.array([change.reactions(*each) for each in zip(there.T, motion.p.T, strict=True)]).T
    if len(p):
        assert gap(p, expected.p) < 1e-9, "reactions"
    energy = np.abs(expected.kinetic).max() + np.abs(expected.potential).max()
    for part in ("kinetic", "potential", "total", "dissipated", "supplied"):
        found = getattr(motion.energy, part) / change.energy
        assert np.abs(found - getattr(expected, part)).max() < 1e-9 * energy, part
