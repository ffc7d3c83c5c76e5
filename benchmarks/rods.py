"""Rods: the flutter load against a finite-element beam with dense eigenvalues at equal error, a motion against Radau.

The beam: Hermite's cubic elements of Beck's column with tip mass and Kelvin–Voigt damping, NumPy, the load by bisection
on the largest growth rate. The motion: the same equations in SciPy's Radau with the exact Jacobian.
"""

from __future__ import annotations

import time

import numpy as np
import scipy.linalg

import pfaff
from verified import least, verify

VALUES = {"M_L": 1, "eta": 0.01}


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


def fewest_modes(error, exact):
    """Seconds and error of the fewest modes whose load is no less accurate."""
    for modes in range(4, 14):
        case = pfaff.atlas.rod(modes=modes).at(**VALUES)
        off = abs(case.flutter().value - exact)
        if off <= error:
            return modes, least(lambda case=case: case.flutter(), 3)[0], off
    raise SystemExit(f"NOT VERIFIED: no number of modes has an error below {error:.1e}")


def flutter(rod, exact):
    seconds, load = least(lambda: rod.at(**VALUES).flutter().value, 5)
    print(f"flutter load, ten modes: {1e3 * seconds:.0f} ms, error {abs(load - exact):.1e}")
    verify("flutter load of ten modes", abs(load - exact), 1e-10)
    errors = []
    for elements in (8, 16, 32):
        beam, other = least(lambda elements=elements: beam_load(elements), 2)
        errors.append(abs(other - exact))
        modes, ours, off = fewest_modes(errors[-1], exact)
        print(
            f"  beam of {elements} elements: {1e3 * beam:.0f} ms, error {errors[-1]:.1e}; {modes} modes: "
            f"{1e3 * ours:.0f} ms, error {off:.1e}; ratio {beam / ours:.2f}"
        )
    verify("order of the beam's elements", abs(np.log2(errors[0] / errors[1]) - 4), 0.2)
    seconds, other = least(lambda: beam_load(64))
    print(f"  beam of 64 elements: {1e3 * seconds:.0f} ms, error {abs(other - exact):.1e}: rounding, no more digits")


def cycles(rod):
    seconds, hopf = least(lambda: rod.at(**VALUES).hopf(), 3)
    finer = pfaff.atlas.rod(modes=12).at(**VALUES).hopf()
    off = abs(hopf.growth().slope / finer.growth().slope - 1)
    print(
        f"Hopf point with its coefficient, ten modes: {1e3 * seconds:.0f} ms, A² per load changes by {off:.1e} with 12"
    )
    verify("coefficient of ten modes", off, 1e-7)
    seconds, branch = least(lambda: hopf.orbits(to=0.99 * hopf.value), 2)
    trivial = max(np.abs(orbit.multipliers - 1).min() for orbit in branch)
    print(
        f"orbits, ten modes: {1e3 * seconds / len(branch):.0f} ms each, {len(branch)} of them, |μ − 1| ≤ {trivial:.1e}"
    )
    verify("multiplier of the phase", trivial, 1e-6)


def motions(rod):
    case = rod.at(F=7.0, **VALUES)
    seconds, motion = least(lambda: case.simulate(100, a1=0.1, tolerance=1e-8), 2)
    print(f"motion of 100 units, tolerance 1e-8: {seconds:.2f} s, drift of the energy {motion.energy.drift:.1e}")
    verify("energy balance of the motion", motion.energy.drift, 1e-7)
    sharp = case.simulate(10, a1=0.1, tolerance=1e-12, samples=11).y[:11]

    def run(**settings):
        found = least(lambda: case.simulate(10, a1=0.1, samples=11, **settings))
        return found[0], float(np.abs(found[1].y[:11] - sharp).max())

    radau, allowed = run(method="radau", tolerance=1e-9)
    ours, off = run(tolerance=1e-6)
    print(
        f"motion of 10 units: {ours:.2f} s, error {off:.1e}; SciPy's Radau, same equations and exact Jacobian, "
        f"{radau:.2f} s, error {allowed:.1e}; ratio {radau / ours:.1f}"
    )
    verify("motion of ten modes against Radau's error", off, max(allowed, 1e-9))


def main():
    start = time.process_time()
    rod = pfaff.atlas.rod(modes=10)
    rod.at(**VALUES, c_t=1e-3).flutter()
    print(f"first flutter load after the import, ten modes: {time.process_time() - start:.2f} s")
    flutter(rod, float(pfaff.atlas.rod(modes=12).at(**VALUES).flutter(exact=True).value))
    cycles(rod)
    motions(rod)


if __name__ == "__main__":
    main()
