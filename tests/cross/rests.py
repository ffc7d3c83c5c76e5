"""Rests as a load grows, and what their small motions do: followed by steps so short that they cannot leap."""

from __future__ import annotations

from typing import Any

import numpy as np

CLOSE = 0.05  # share of a step by which the tangent may miss its end
SHORTEST = 1e-9  # step, relative to the way
BALANCED = 1e-11
AXIS = 1e-18  # growth below this, relative to the spectrum, is none

Counts = tuple[int, int]  # oscillations and exponentials that grow


class Rests:
    """What a scan of the load wants to know of a system, its unknowns at rest in one array."""

    def rest(self, z: np.ndarray, load: float) -> np.ndarray:
        """The rest that Newton's method reaches from here."""
        raise NotImplementedError

    def tangent(self, z: np.ndarray, load: float) -> np.ndarray:
        """Its change with the load."""
        raise NotImplementedError

    def imbalance(self, z: np.ndarray, load: float) -> float:
        raise NotImplementedError

    def eigenvalues(self, z: np.ndarray, load: float) -> np.ndarray:
        """By NumPy."""
        raise NotImplementedError

    def exact_eigenvalues(self, z: np.ndarray, load: float) -> list[Any]:
        """With many digits, without structural zeros."""
        raise NotImplementedError

    def stiffness_sign(self, z: np.ndarray, load: float) -> float:
        """Of the product of all eigenvalues but structural zeros, up to a sign that stays."""
        raise NotImplementedError

    def along(self, z: np.ndarray, loads: np.ndarray) -> list[np.ndarray]:
        """The rest at each of the loads, in their order; the list ends where the path does."""
        here, way = float(loads[0]), float(loads[-1] - loads[0])
        found = [self.rest(z, here)]
        for load in map(float, loads[1:]):
            z, step = found[-1], load - here
            while here != load:
                ahead = load if abs(step) >= abs(load - here) else here + step
                guess = z + self.tangent(z, here) * (ahead - here)
                new = self.rest(guess, ahead)
                close = np.abs(new - guess).max() < CLOSE * np.abs(new - z).max() + 1e-10
                if close and self.imbalance(new, ahead) < BALANCED:
                    z, here, step = new, ahead, 1.5 * step
                elif abs(step) < SHORTEST * abs(way):
                    return found
                else:
                    step /= 2
            found.append(z)
        return found

    def growing(self, z: np.ndarray, load: float) -> Counts:
        """How many oscillations grow, and how many exponentials."""
        values = self.exact_eigenvalues(z, load)
        least = AXIS * max(abs(value) for value in values)
        growing = [value for value in values if value.real > least]
        return sum(value.imag > least for value in growing), sum(abs(value.imag) <= least for value in growing)
