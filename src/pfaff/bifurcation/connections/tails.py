"""Ends of connecting orbits: cut off, or continued along eigenspaces, at a distance from their equilibria."""

from __future__ import annotations

from math import ceil

import numpy as np

from pfaff.bifurcation.connections.arc_equations import ArcEquations
from pfaff.bifurcation.connections.arcs import Arc, at_times, from_samples
from pfaff.bifurcation.connections.saddles import Saddle
from pfaff.bifurcation.orbits.cycles import Mesh
from pfaff.continuation.endings import Refused

LONGEST = 1e4  # longest duration, in time constants of the slowest eigenvalue, to which an orbit is lengthened
SAMPLES, MOST = 24, 4000  # samples of an added tail: per four time constants of the fastest eigenvalue, and at most


def lengthened(equations: ArcEquations, arc: Arc, units: np.ndarray, near: float) -> Arc:
    """The arc with its ends at a given distance from its equilibria, in units."""
    gauss = equations.gauss
    saddles = equations.saddles(arc, units, None)
    s = np.concatenate([[0.0], arc.mesh.points(np.arange(1, gauss.degree + 1) / gauss.degree)])
    t, x = s * arc.duration, at_times(arc, s, gauss)
    for leaving, saddle, rest in ((True, saddles[0], arc.rests[0]), (False, saddles[1], arc.rests[-1])):
        # At the end where an orbit approaches, time is reversed.
        way = slice(None, None, 1 if leaving else -1)
        t, x = (each[way] for each in _fitted(t[way], x[way], leaving, saddle, rest, units, near))
    share = np.linspace(0, len(t) - 1, arc.intervals + 1)
    mesh = Mesh(np.interp(share, np.arange(len(t)), (t - t[0]) / (t[-1] - t[0])))
    return from_samples(t, x, arc.rests, arc.scalars, mesh, gauss)


def _fitted(
    t: np.ndarray, x: np.ndarray, leaving: bool, saddle: Saddle, rest: np.ndarray, units: np.ndarray, near: float
) -> tuple[np.ndarray, np.ndarray]:
    """Samples from an end on: cut off where they are near the equilibrium, else continued towards it."""
    apart = np.linalg.norm((x - rest) / units, axis=1)
    first = int(np.argmax(apart >= near))
    if first > 0:
        return t[first - 1 :], x[first - 1 :]
    slowest = abs((saddle.growing if leaving else saddle.decaying)[0].real)
    time = float(np.log(apart[0] / near)) / slowest
    if not time * slowest < LONGEST:
        raise Refused("the orbit comes to rest too slowly")
    count = min(SAMPLES * ceil(1 + time * float(np.abs(saddle.eigenvalues).max()) / 4), MOST)
    times = np.linspace(-time, 0.0, count, endpoint=False) * (1.0 if leaving else -1.0)
    tail = rest + units * saddle.tail(leaving, (x[0] - rest) / units, times)
    return np.concatenate([t[0] + times, t]), np.concatenate([tail, x])
