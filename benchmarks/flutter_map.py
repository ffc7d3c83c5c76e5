"""A flutter map over a million points of two dampings against SciPy's brentq on eigenvalues, per point.

Both compute the flutter load of the double pendulum of Cazzolli et al. (2020), Fig. 10; the peer is run on a
sample of the same points, and the two must agree there to 1e-9, or the script fails.
"""

from __future__ import annotations

import time

import numpy as np
from scipy.optimize import brentq

import pfaff
from verified import verify

SIDE = 1000
SAMPLE = 300
AGREEMENT = 1e-9


def peer(matrices: dict[str, np.ndarray], c_i: float, c_e: float) -> float:
    """The root in F of the largest real part of the eigenvalues of the first-order form."""
    inverse = np.linalg.inv(matrices["M"])
    damping = -inverse @ (c_i * matrices["c_i"] + c_e * matrices["c_e"])

    def growth(F: float) -> float:
        J = np.block([[np.zeros((2, 2)), np.eye(2)], [-inverse @ (matrices["K"] + F * matrices["G"]), damping]])
        return np.linalg.eigvals(J).real.max()

    return brentq(growth, 1.0, 120.0, xtol=1e-12, rtol=1e-14)


def main() -> None:
    case = pfaff.atlas.column(2).at(d="1/2", M_L=15, I_L=15, k1=50)
    values = np.linspace(0.05, 10, SIDE)
    case.flutter_map(c_i=values[:2], c_e=values[:2])  # compile before the clock starts
    start = time.perf_counter()
    found = case.flutter_map(c_i=values, c_e=values)
    ours = time.perf_counter() - start

    lin = case.linearise()
    matrices = {"M": lin.M[:2, :2], "K": lin.K[:2, :2], "G": lin.G[:2, :2]}
    matrices |= {name: case.at(**{name: 1}).linearise().C[:2, :2] for name in ("c_i", "c_e")}
    places = np.random.default_rng(0).integers(0, SIDE, (SAMPLE, 2))
    start = time.perf_counter()
    theirs = [peer(matrices, values[i], values[j]) for i, j in places]
    each = (time.perf_counter() - start) / SAMPLE

    worst = np.abs(found.values[tuple(places.T)] / theirs - 1).max()
    print(f"pfaff: {SIDE**2:,} points in {ours:.3f} s, {SIDE**2 / ours:.3g} points/s")
    print(f"SciPy brentq + eigvals: {1 / each:.3g} points/s ({SAMPLE} of the same points)")
    print(f"ratio {each * SIDE**2 / ours:.0f}, largest relative difference {worst:.1e}")
    verify("the map against SciPy's loads at the same points", worst, AGREEMENT)


if __name__ == "__main__":
    main()
