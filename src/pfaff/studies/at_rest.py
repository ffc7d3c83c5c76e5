"""Whether equilibria are stable, and how fast small motions about them grow, for many points at once.

An equilibrium is the one that a single search reaches: followed from zero load to the load of a point, by Newton's
method from load to load. Points that cannot be followed, and those too near the limit of stability, are left to single
searches.
"""

from __future__ import annotations

import numpy as np

from pfaff.studies.along_loads import at_loads, follow, settled
from pfaff.studies.frames import Frame
from pfaff.studies.marching import beginnings

NODES = 16  # loads at which a moving equilibrium is found, up to that of the point
CLEAR = 1e-5  # growth rates, relative to the largest eigenvalue, of points that are clearly stable or unstable


def growth_rates(frame: Frame, parameters: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The largest real part of the eigenvalues of every point, and for which points it is sure."""
    loads = parameters[frame.index]
    begins = np.full(len(loads), frame.origin) if frame.origin is not None else loads
    x, good = beginnings(frame, at_loads(frame, parameters, begins))
    if frame.moves(x, parameters):
        on_the_way = follow(frame, parameters, begins, loads - begins, np.linspace(0, 1, NODES + 1)[1:], x)
        steps = [(there, reached) for _, there, reached in on_the_way]
        x, reached = settled(frame, parameters, steps[-1][0])
        good &= np.logical_and.reduce([reached, *(each for _, each in steps)])
    J = frame.jacobians(x, parameters)
    good &= np.isfinite(J).all(axis=0)
    scaled = np.where(good, J, 0.0).T.reshape(-1, frame.n, frame.n) * frame.scale / frame.scale[:, None]
    values = np.linalg.eigvals(scaled)
    values = np.take_along_axis(values, np.abs(values).argsort(axis=1), axis=1)  # those that are always zero come first
    size, others = np.abs(values).max(axis=1, initial=0.0), values[:, frame.zeros :]
    growth = others.real.max(axis=1, initial=-np.inf)
    apart = (np.abs(values[:, : frame.zeros]) <= CLEAR * size[:, None]).all(axis=1)
    return growth, good & apart & (np.abs(growth) > CLEAR * size)
