"""Equilibria and their branches, of random systems in any words: balance, stability and special points, one by one."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from cross import examples
from cross.cells import GROWING
from cross.pencil import SmallMotions
from cross.random_systems import at_rest
from cross.test_spectra import chosen, unknowns


def unstable(motions: SmallMotions, z: np.ndarray, load: float) -> int:
    """How many eigenvalues grow: by NumPy where it is sure of all of them, else with many digits."""
    values = motions.eigenvalues(z, load)
    size = np.abs(values).max()
    if ((np.abs(values.real) > GROWING * size) | (np.abs(values) < 1e-12 * size)).all():
        return int((values.real > GROWING * size).sum())
    oscillating, straight = motions.growing(z, load)
    return 2 * oscillating + straight


def critical(motions: SmallMotions, z: np.ndarray, load: float, kind: str) -> bool:
    """Whether an eigenvalue is where a special point of this kind has one."""
    if kind == "hopf":
        values, _ = motions.spectrum(motions.exactly(z, load))
        size = np.abs(values).max()
        return bool((np.abs(values.real)[np.abs(values.imag) > 1e-6 * size] < 1e-8 * size).any())
    values, _ = motions.spectrum(motions.as_given(z, load))  # at a fold, no other rest at this load is near
    return bool(np.abs(values).min() < 1e-6 * np.abs(values).max())


@pytest.mark.parametrize("seed", examples(0, 1, 2, 3, 4, 5))
def test_branches(seed):
    old = at_rest(seed, damped=True, drift=False)
    motions, fixed, change = chosen(old, seed)
    to = 3.0
    branch = change.mechanics.system.at().branch("load", to=to / change.load, points=300, **fixed)
    names, reactions = change.mechanics.names, change.mechanics.system.reaction_names

    def found(point) -> tuple[np.ndarray, float]:
        P = [point[name] for name in reactions] if old.rolling or old.held else []
        return unknowns(change, np.array([point[name] for name in names]), np.array(P)), point.value * change.load

    counts = []
    for point in branch:
        z, load = found(point)
        assert motions.imbalance(z, load) < 1e-9, f"at {load}"
        counts.append(unstable(motions, z, load))
        assert point.unstable == counts[-1], f"at {load}"
    for k, (before, after) in enumerate(itertools.pairwise(counts)):
        assert before == after or k + 1 in branch.places, f"nothing is said about what happens after point {k}"
    for special in branch.special:
        z, load = found(special)
        assert motions.imbalance(z, load) < 1e-9, special.status
        if special.kind in ("hopf", "fold", "branch point", "divergence") and "no eigenvalue" not in special.status:
            assert critical(motions, z, load, special.kind), special.status


@pytest.mark.parametrize("seed", examples(0, 1, 2, 3))
def test_equilibria(seed):
    """Every one is a rest, and a search of our own finds no other in the same box."""
    old = at_rest(seed, drift=False)
    motions, load = SmallMotions(old, dict.fromkeys(chosen(old, seed)[0].fixed, 0.05)), 0.8
    names, box = old.names, 2.0
    fixed = {names[k]: value for k, value in motions.fixed.items()}
    found = old.system.at(F=load).equilibria(starts=400, box=box, **fixed)
    rests = [np.concatenate([each.q, each.p]) for each in found]
    for z in rests:
        assert motions.imbalance(z, load) < 1e-10 * (1 + np.abs(z).max())
    rng, n = np.random.default_rng([seed, 8]), len(old.q)
    for _ in range(60):
        start = np.zeros(n + len(old.rolling) + len(old.held))
        start[:n] = rng.uniform(-box, box, n)
        start[list(motions.fixed)] = list(motions.fixed.values())
        z = motions.rest(start, load)
        if motions.imbalance(z, load) < 1e-12 and np.abs(z[:n]).max() < box:
            assert min(np.abs(z - other).max() for other in rests) < 1e-5 * (1 + np.abs(z).max()), f"missed {z}"
