"""Orbits on a finite interval of time that begin and end near equilibria, and changes of them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pfaff.algebra.gauss import Gauss
from pfaff.bifurcation.orbits.cycles import Mesh
from pfaff.kernels.meshes import carried, equidistributed, parts


class Arc(NamedTuple):
    """States at the mesh points, slopes x' at the Gauss points for time in [0, 1], and the other unknowns.

    ``rests`` are the equilibria that it leaves and approaches, one row if they are the same; ``scalars`` the parameters
    that vary. The ``duration`` is given: it says where the orbit is truncated.
    """

    mesh: Mesh
    x: np.ndarray
    K: np.ndarray
    rests: np.ndarray
    scalars: np.ndarray
    duration: float

    @property
    def intervals(self) -> int:
        return len(self.mesh)

    @property
    def ends(self) -> tuple[np.ndarray, np.ndarray]:
        """First and last state, relative to the equilibria there."""
        return self.x[0] - self.rests[0], self.x[-1] - self.rests[-1]

    @property
    def size(self) -> np.ndarray:
        """The range of every state, by which states are compared: at least a small part of the largest."""
        covered = np.ptp(np.vstack([self.x, self.rests]), axis=0)
        own = np.abs(self.x).max(axis=0)
        floor = 1e-3 * covered.max(initial=0.0)
        return np.where(covered > floor, covered, np.clip(own, floor or 1.0, covered.max(initial=0.0) or 1.0))

    def moved(self, change: Arc, by: float) -> Arc:
        return self._replace(
            x=self.x + by * change.x,
            K=self.K + by * change.K,
            rests=self.rests + by * change.rests,
            scalars=self.scalars + by * change.scalars,
        )

    def minus(self, other: Arc) -> Arc:
        """The difference from another one on the same mesh."""
        return self.moved(other, -1.0)

    def scaled(self, factor: float) -> Arc:
        return self.moved(self, factor - 1.0)

    def with_scalars(self, scalars: np.ndarray) -> Arc:
        return self._replace(scalars=np.array(scalars, dtype=float))


def at_times(arc: Arc, times: np.ndarray, gauss: Gauss) -> np.ndarray:
    """States at any times in [0, 1], one row each, by the collocation polynomials."""
    j, within = arc.mesh.place(times)
    return arc.x[j] + arc.mesh.h[j, None] * np.einsum("al,aln->an", gauss.integrals(within), arc.K[j])


def on_mesh(arc: Arc, mesh: Mesh, gauss: Gauss) -> Arc:
    """The arc on another mesh."""
    n = arc.x.shape[1]
    x, K = carried(arc.mesh.at, arc.x, arc.K, np.ones(n), gauss, np.arange(n), mesh.at)
    x[-1] = arc.x[-1]
    return arc._replace(mesh=mesh, x=x, K=K)


def adapted(arc: Arc, intervals: int, gauss: Gauss) -> Mesh:
    """A mesh on which |x^(m+1)|^(1/(m+1)) h is the same in all intervals."""
    shares = parts(arc.K, arc.mesh.h, gauss.highest, 1 / arc.size, np.ones(arc.x.shape[1]))
    return Mesh(equidistributed(shares, arc.mesh.at, intervals))


def from_samples(t: np.ndarray, x: np.ndarray, rests: np.ndarray, scalars: np.ndarray, mesh: Mesh, gauss: Gauss) -> Arc:
    """The arc through states x, one row for each time t."""
    from scipy.interpolate import CubicSpline

    duration = float(t[-1] - t[0])
    spline = CubicSpline((t - t[0]) / duration, x)
    slopes = spline(mesh.points(gauss.c), 1).reshape(len(mesh), gauss.degree, -1)
    return Arc(mesh, spline(mesh.at), slopes, rests, np.array(scalars, dtype=float), duration)
