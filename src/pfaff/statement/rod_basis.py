"""Matrices of a rod on the unit interval: angles at nodes from amplitudes, positions at stations from cosines at nodes.

A rod that neither stretches nor shears is its angle θ(σ): x(σ) = x₀ + L ∫₀^σ cos θ. With Legendre modes in θ the
bending stiffness is the identity, a new mode leaves the others as they are, and loads converge exponentially. A chain
of bars is the same formula with other matrices.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.polynomial import legendre

from pfaff.algebra.gauss import legendre_integrals

EXTRA = 6  # Gauss points beyond two for each mode


@dataclass(frozen=True, eq=False)
class Basis:
    """θ = θ₀ + angles @ a at the nodes, x = x₀ + L stations @ cos θ at the stations, θ' = bends @ a at the hinges.

    ``at`` gives the rows of angles and of integration for any place; weights are those of integrals over the rod.
    """

    angles: np.ndarray
    nodes: np.ndarray
    node_weights: np.ndarray
    stations: np.ndarray
    places: np.ndarray
    weights: np.ndarray
    bends: np.ndarray
    hinges: np.ndarray
    hinge_weights: np.ndarray
    at: Callable[[float], tuple[np.ndarray, np.ndarray]]
    made_by: Callable[[int], Basis]

    def __reduce__(self) -> tuple[Any, ...]:
        return self.made_by, (self.size,)  # another process makes it again

    @property
    def size(self) -> int:
        return self.angles.shape[1]


@lru_cache(maxsize=64)
def legendre_modes(modes: int) -> Basis:
    """φ_i(σ) = √(2i − 1) ∫₀^σ P_{i−1}(2τ − 1) dτ at Gauss points: φ_i' are orthonormal, φ_i(0) = 0."""
    points, weights = legendre.leggauss(2 * modes + EXTRA)
    nodes, weights = (1 + points) / 2, weights / 2
    # Values at Gauss points as coefficients of Legendre polynomials, exactly for the degrees that they determine.
    degrees = np.arange(len(nodes))
    coefficients = (2 * degrees[:, None] + 1) * legendre.legvander(points, len(nodes) - 1).T * weights

    def at(place: float) -> tuple[np.ndarray, np.ndarray]:
        return _angles(np.array([place]), modes)[0], legendre_integrals(np.array([2 * place - 1]), len(nodes))[
            0
        ] @ coefficients

    bends = legendre.legvander(points, modes - 1) * np.sqrt(2 * np.arange(modes) + 1)
    return Basis(
        angles=_angles(nodes, modes),
        nodes=nodes,
        node_weights=weights,
        stations=legendre_integrals(2 * nodes - 1, len(nodes)) @ coefficients,
        places=nodes,
        weights=weights,
        bends=bends,
        hinges=nodes,
        hinge_weights=weights,
        at=at,
        made_by=legendre_modes,
    )


@lru_cache(maxsize=64)
def chain_of_bars(bars: int) -> Basis:
    """Bars of equal length with their mass in the middle; the hinge at the clamp stands for half a bar, k₁ = 2 N EI/L.

    Second order in 1/N: an independent check of the modes.
    """
    middles = (np.arange(bars) + 0.5) / bars
    share = np.full(bars, 1 / bars)
    stiffness = np.where(np.arange(bars) == 0, 2.0, 1.0) / bars

    def at(place: float) -> tuple[np.ndarray, np.ndarray]:
        lengths = np.clip(place - np.arange(bars) / bars, 0.0, 1 / bars)
        bar = min(int(place * bars), bars - 1)
        return np.eye(bars)[bar], lengths

    return Basis(
        angles=np.eye(bars),
        nodes=middles,
        node_weights=share,
        stations=np.array([at(middle)[1] for middle in middles]),
        places=middles,
        weights=share,
        bends=bars * (np.eye(bars) - np.eye(bars, k=-1)),
        hinges=np.arange(bars) / bars,
        hinge_weights=stiffness,
        at=at,
        made_by=chain_of_bars,
    )


def _angles(places: np.ndarray, modes: int) -> np.ndarray:
    """φ_i at some places."""
    return legendre_integrals(2 * places - 1, modes) * np.sqrt(2 * np.arange(modes) + 1)
