"""Equilibria, spectra and critical loads of random systems, in any words, against determinants with fifty digits."""

from __future__ import annotations

import numpy as np
import pytest

from cross import examples
from cross.cells import Cells
from cross.mechanics import Change, Mechanics
from cross.pencil import SmallMotions, family
from cross.random_systems import at_rest, other_words


def matched(found: np.ndarray, expected: np.ndarray) -> np.ndarray:
    """The expected values in the order of those found, each with its nearest that is left."""
    left = list(expected)
    return np.array([left.pop(int(np.abs(np.array(left) - value).argmin())) for value in found])


def chosen(old: Mechanics, seed: int) -> tuple[SmallMotions, dict[str, float], Change]:
    """The references of a system, the member of its family to look at in both words, and other words for it."""
    rng = np.random.default_rng([seed, 6])
    fixed = {k: float(rng.uniform(-0.1, 0.1)) for k in family(old)}
    change = other_words(old, seed)
    q = np.array([fixed.get(k, 0.0) for k in range(len(old.q))])
    Q = dict(zip(change.mechanics.names, change.forth(q, q)[0], strict=True))
    return SmallMotions(old, fixed), {f"y{k + 1}": Q[f"y{k + 1}"] for k in fixed}, change


def unknowns(change: Change, Q: np.ndarray, P: np.ndarray) -> np.ndarray:
    """Coordinates and reactions in the old words."""
    q = change.place(Q)
    return np.concatenate([q, change.reactions(q, P)])


@pytest.mark.parametrize("seed", examples(0, 1, 2, 3, 4, 5, 6, 7, 8, 9))
def test_spectra(seed):
    old = at_rest(seed)
    motions, fixed, change = chosen(old, seed)
    first = change.mechanics.system.at().equilibrium(**fixed)
    loads = np.linspace(0, 0.3, 7)
    load = float(loads[len(motions.along(unknowns(change, first.q, first.p), loads)) - 1])
    case = change.mechanics.system.at(load=load / change.load)
    at = case.equilibrium(**fixed)
    z = unknowns(change, at.q, at.p)
    rest = motions.exactly(z, load)
    there = np.array([*rest.q, *rest.p], dtype=float)
    assert np.abs(z - there).max() < 1e-11 * (1 + np.abs(there).max()), "equilibrium"
    expected, zeros = motions.spectrum(rest)
    spectrum = case.spectrum(at)
    assert spectrum.structural_zeros == zeros
    values = spectrum.values / change.time
    assert len(values) == len(expected)
    assert np.abs(values - matched(values, expected)).max() < 1e-10 * np.abs(expected).max()


@pytest.mark.parametrize("seed", examples(0, 1, 2, 3, 4, 5))
def test_critical_loads(seed):
    """Every cell of stability, its edges to 1e-9, and every load at which the tangent stiffness turns singular."""
    old = at_rest(seed)
    motions, fixed, change = chosen(old, seed)
    to = 4.0
    found = change.mechanics.system.at().critical(to=to / change.load, **fixed)
    at = change.mechanics.system.at().equilibrium(**fixed)
    Cells(motions, unknowns(change, at.q, at.p), to).agree(found, change.load, change.time)
