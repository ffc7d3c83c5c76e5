"""The few modes near the imaginary axis, taken for all, on stretches of bent paths."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import block_diag, expm

from pfaff.stability.subspaces import from_axis, near

NODES = (0.0, 0.5, 1.0)
CROSSING = 0.625  # of the pair, at the frequency 3


def bending(load: float, gap: float) -> np.ndarray:
    """Twelve states: one pair crosses the axis, others stay to the left by a gap, all in directions that turn."""
    turn = np.random.default_rng(5).normal(size=(12, 12)) / 10
    pairs = [(load - CROSSING, 3.0), *((-gap - 0.3 * k, 1.0 + k) for k in range(5))]
    blocks = block_diag(*([[real, rate], [-rate, real]] for real, rate in pairs))
    return expm(load * turn) @ blocks @ expm(-load * turn)


def test_the_part_near_the_axis_crosses_it_where_the_whole_does():
    """The parabola through three small matrices has its pair on the axis at the load at which the whole has."""
    parts = near([bending(load, gap=6.0) for load in NODES], from_axis)
    assert {part.shape for part in parts} == {(2, 2)}
    for part, load in zip(parts, NODES, strict=True):
        assert np.linalg.eigvals(part) == pytest.approx([load - CROSSING + 3j, load - CROSSING - 3j], abs=1e-12)
    powers = np.vander(NODES, increasing=True)
    terms = np.linalg.solve(powers, np.reshape(parts, (3, -1))).reshape(3, 2, 2)
    real = [np.trace(np.einsum("k,kij", [1, at, at**2], terms)) / 2 for at in (CROSSING - 0.01, CROSSING + 0.01)]
    assert real == pytest.approx([-0.01, 0.01], abs=1e-4)


@pytest.mark.parametrize("gap", [0.0, 0.3])
def test_what_no_gap_parts_from_the_axis_stays_whole(gap):
    whole = [bending(load, gap) for load in NODES]
    assert near(whole, from_axis) is whole
