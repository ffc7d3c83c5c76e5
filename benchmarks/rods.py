"""Rods: the flutter load against a finite-element beam with dense eigenvalues at equal error, a motion against Radau.

The beam: Hermite's cubic elements of Beck's column with tip mass and Kelvin–Voigt damping, NumPy, the load by bisection
on the largest growth rate. The motion: the same equations in SciPy's Radau with the exact Jacobian.
"""

from __future__ import annotations

import time

import numpy as np
import scipy.linalg

import pfaff
from verified import verify

VALUES = {"M_L": 1, "eta": 0.01}


def cpu(function, repeats=3):
    best, value = np.inf, None
    for _ in range(repeats):
        start = time.process_time()
        value = function()
        best = min(best, time.process_time() - start)
    return best, value


def beam_load(elements):
    """Pflüger's column by cubic Hermite elements; the follower force is a load on the end's rotation."""
    n, h = 2 * (elements + 1), 1 / elements
    M, K, G = np.zeros((3, n, n))
    bending = np.array([[12, 6 * h, -12, 6 * h], [6 * h, 4 * h * h, -6 * h, 2 * h * h],
                        [-12, -6 * h, 12, -6 * h], [6 * h, 2 * h * h, -6 * h, 4 * h * h]]) / h**3  # fmt: skip
    inertia = np.array([[156, 22 * h, 54, -13 * h], [22 * h, 4 * h * h, 13 * h, -3 * h * h],
                        [54, 13 * h, 156, -22 * h], [-13 * h, -3 * h * h, -22 * h, 4 * h * h]]) * h / 420  # fmt: skip
    thrust = np.array([[36, 3 * h, -36, 3 * h], [3 * h, 4 * h * h, -3 * h, -h * h],
                       [-36, -3 * h, 36, -3 * h], [3 * h, -h * h, -3 * h, 4 * h * h]]) / (30 * h)  # fmt: skip
    for e in range(elements):
        at = np.ix_(range(2 * e, 2 * e + 4), range(2 * e, 2 * e + 4))
        K[at] += bending
        M[at] += inertia
        G[at] -= thrust
    M[-2, -2] += VALUES["M_L"]
    G[-2, -1] += 1.0
    M, K, G = (each[2:, 2:] for each in (M, K, G))
    size = len(M)

    def growth(F):
        stiffness, damping = np.linalg.solve(M, K + F * G), np.linalg.solve(M, VALUES["eta"] * K)
        A = np.block([[np.zeros((size, size)), np.eye(size)], [-stiffness, -damping]])
        return scipy.linalg.eigvals(A, check_finite=False).real.max()

    low, high = 1.0, 20.0
    while high - low > 1e-12 * high:
        middle = (low + high) / 2
        low, high = (middle, high) if growth(middle) < 0 else (low, middle)
        if middle in (low, high) and high - low < 1e-13:
            break
    return low


def main():
    exact = float(pfaff.atlas.rod(modes=12).at(**VALUES).flutter(exact=True).value)
    start = time.process_time()
    rod = pfaff.atlas.rod(modes=10)
    rod.at(**VALUES, c_t=1e-3).flutter()
    print(f"cold start to a flutter load, ten modes: {time.process_time() - start:.2f} s")
    seconds, load = cpu(lambda: rod.at(**VALUES).flutter().value)
    error = abs(load - exact)
    print(f"flutter, ten modes: {1e3 * seconds:.0f} ms, error {error:.1e}")
    verify("flutter load of ten modes", error, 1e-9)
    best, lasted = np.inf, 0.0
    for elements in (8, 16, 32, 64):
        beam, other = cpu(lambda elements=elements: beam_load(elements), 1)
        print(f"  beam of {elements} elements: {1e3 * beam:.0f} ms, error {abs(other - exact):.1e}")
        if abs(other - exact) < 0.9 * best:
            best, lasted = abs(other - exact), beam
    print(f"  the beam's best error is {best:.1e}, at {lasted / seconds:.1f} times the time")
    seconds, hopf = cpu(lambda: rod.at(**VALUES).hopf())
    print(f"Hopf point with its coefficient, ten modes: {1e3 * seconds:.0f} ms")
    seconds, branch = cpu(lambda: hopf.orbits(to=0.99 * hopf.value), 1)
    print(f"orbits, ten modes: {1e3 * seconds / len(branch):.0f} ms each, {len(branch)} of them")
    case = rod.at(F=7.0, **VALUES)
    seconds, motion = cpu(lambda: case.simulate(100, a1=0.1, tolerance=1e-8), 1)
    sharp = case.simulate(10, a1=0.1, tolerance=1e-11, samples=11)
    error = np.abs(case.simulate(10, a1=0.1, tolerance=1e-8, samples=11).y - sharp.y)[:11].max()
    print(f"motion of 100 units: {seconds:.2f} s, drift {motion.energy.drift:.1e}; error over 10 units {error:.1e}")
    radau, other = cpu(lambda: case.simulate(10, a1=0.1, tolerance=1e-8, samples=11, method="radau"), 1)
    print(f"  SciPy's Radau, 10 units: {radau:.2f} s, error {np.abs(other.y - sharp.y)[:11].max():.1e}, "
          f"ratio {10 * radau / seconds:.1f}")  # fmt: skip
    verify("motion of ten modes", error, 1e-6)


if __name__ == "__main__":
    main()
