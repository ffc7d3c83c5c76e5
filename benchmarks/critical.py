"""The first flutter load of a column of N bars: the sparse multiplier pencil against dense eigenvalues and bisection.

Beck's column by rigid bars with a skate (k = N, k1 = 2N, M_L = 0 in units of L = M = EI = 1), without damping and in
viscous drag. One thread for everybody.

pfaff
    ``column_assembly(N, …).flutter(to=100)``: prediction, Newton's method to rounding, Arnoldi below and above. The
    compilation of the parts and the layout of the sparse pattern are reported apart.
dense
    The same column in its N angles, assembled with NumPy (not timed); a march from zero in 32 steps of the interval,
    then bisection to 1e-9, with LAPACK's eigenvalues at every load. ``direct`` is what one writes first: the
    generalised problem (K, M), or the first-order form. ``inverted`` is the best that dense algebra allows: the low
    modes as the large eigenvalues of K⁻¹M, or of the inverted first-order form, which are right at every N.
referee
    The transfer of deflection, angle, torque and force from bar to bar in 50 digits with mpmath, from a rough start
    of its own: it shares no code with the others.

Run ``python benchmarks/critical.py``, or give the numbers of bars.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import mpmath as mp
import numpy as np
from scipy import linalg

from pfaff.atlas.chain import column_assembly
from pfaff.stability.sparse import SparseFlutter

TO = 100.0  # the load is searched from zero to here
MARCH = 32  # steps of the dense march
TOLERANCE = 1e-9
FULL = 500  # bars up to which both dense searches run; beyond, the better one is extrapolated
DRAG = 0.5
REPEATS = 7
DIGITS = 50


@dataclass(frozen=True)
class Peer:
    """A dense search: seconds, the load found if it ran in full, and the number of eigenvalue solves."""

    name: str
    seconds: float
    value: float | None
    solves: int

    @property
    def shown(self) -> str:
        return f"{self.seconds:.2f}s" + ("*" if self.value is None else " ")


def main(sizes: list[int]) -> None:
    for drag in (0.0, DRAG):
        print(f"\nfirst flutter load, c_e = {drag:g}")
        heads = "".join(f"{name:>11}{'ratio':>8}" for name in ("direct", "inverted"))
        print(f"{'N':>6}{'compile':>10}{'pfaff':>10}{heads}   load, frequency")
        for bars in sizes:
            report(bars, drag)


def report(bars: int, drag: float) -> None:
    compiled, assembly = timed(lambda: column_assembly(bars, k=float(bars), k1=2.0 * bars, c_e=drag).compile())
    ours, found = min((timed(lambda: assembly.flutter(to=TO)) for _ in range(REPEATS)), key=lambda run: run[0])
    peers = [dense_search(bars, drag, name, float(found)) for name in ("direct", "inverted")]
    columns = "".join(
        f"{peer.shown:>11}{peer.seconds / ours:7.0f}x" if peer.solves else f"{'–':>11}{'':8}" for peer in peers
    )
    print(f"{bars:6d}{compiled:9.3f}s{ours:9.4f}s{columns}   {found.value:.12f}, {found.frequency:.11f}")
    load, frequency = referee(bars, drag)
    print(
        f"       from the referee: load {apart(found.value, load)}, frequency {apart(found.frequency, frequency)}; "
        f"last Newton step {found.precision:.0e}"
    )
    print(f"       {confirmed(found)}")
    for peer in peers:
        if peer.value is not None:
            print(
                f"       dense, {peer.name}: {peer.value:.9f}, off by {apart(peer.value, load)}, {peer.solves} solves"
            )
        elif peer.solves:
            print(f"       * {peer.name}: extrapolated, one eigenvalue solve times the {peer.solves} of a full search")


def apart(value: float, reference: float) -> str:
    return f"{abs(value / reference - 1):.0e}"


def confirmed(found: SparseFlutter) -> str:
    loads = ", ".join(f"{c.load:.4g}" for c in found.checked if c.load < float(found))
    verdict = "first crossing confirmed" if found.confirmed else "NOT confirmed as the first"
    return f"{verdict}: no oscillation of the {found.modes} {found.covered} grows at {loads}"


def timed(call: Callable[[], Any]) -> tuple[float, Any]:
    began = time.perf_counter()
    result = call()
    return time.perf_counter() - began, result


def dense_search(bars: int, drag: float, name: str, near: float) -> Peer:
    """A full march and bisection; beyond ``FULL`` bars the cost of one solve times their number."""
    flutters = dense_test(bars, drag, name)
    if bars <= FULL:
        seconds, (value, solves) = timed(lambda: bisected(flutters))
        return Peer(name, seconds, value, solves)
    if name == "direct":  # minutes for a single solve
        return Peer(name, np.nan, None, 0)
    solves = int(np.ceil(near * MARCH / TO) + np.ceil(np.log2(TO / MARCH / (TOLERANCE * near))))
    return Peer(name, solves * timed(lambda: flutters(near))[0], None, solves)


def bisected(flutters: Callable[[float], bool]) -> tuple[float, int]:
    low, high, solves = 0.0, TO / MARCH, 1
    while not flutters(high) and high < TO:
        low, high, solves = high, high + TO / MARCH, solves + 1
    while high - low > TOLERANCE * high:
        middle, solves = (low + high) / 2, solves + 1
        low, high = (low, middle) if flutters(middle) else (middle, high)
    return high, solves


def dense_test(bars: int, drag: float, name: str) -> Callable[[float], bool]:
    """Whether an oscillation among the lowest modes grows at a load, by dense eigenvalues."""
    M, C, K0, geometric = dense_matrices(bars, drag)
    unit, nothing = np.eye(bars), np.zeros((bars, bars))

    def squares(load: float) -> np.ndarray:
        K = K0 + load * geometric
        return linalg.eigvals(K, -M) if name == "direct" else -1 / np.linalg.eigvals(np.linalg.solve(K, M))

    def roots(load: float) -> np.ndarray:
        K = K0 + load * geometric
        if name == "direct":
            return np.linalg.eigvals(np.block([[nothing, unit], [-np.linalg.solve(M, K), -np.linalg.solve(M, C)]]))
        return 1 / np.linalg.eigvals(np.block([[-np.linalg.solve(K, C), -np.linalg.solve(K, M)], [unit, nothing]]))

    def flutters(load: float) -> bool:
        values = roots(load) if drag else squares(load)
        low = values[np.argsort(np.abs(values))[:12]]
        return bool((low.real > 0).any() if drag else (np.abs(low.imag) > 1e-6 * np.abs(low)).any())

    return flutters


def dense_matrices(bars: int, drag: float) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """M, C, K and the geometric stiffness per unit load in the angles; masses at mid-bar."""
    l = 1 / bars
    left = np.tril(np.full((bars, bars), l), -1)
    right, centre = left + l * np.eye(bars), left + l / 2 * np.eye(bars)
    M = centre.T @ centre / bars
    C = drag * l / 6 * (2 * left.T @ left + left.T @ right + right.T @ left + 2 * right.T @ right)
    K = bars * (2 * np.eye(bars) - np.eye(bars, k=1) - np.eye(bars, k=-1))
    K[0, 0], K[-1, -1] = 3 * bars, bars
    geometric = -l * np.eye(bars)
    geometric[:, -1] += l
    return M, C, K, geometric


def referee(bars: int, drag: float) -> tuple[float, float]:
    """Load and frequency by Newton's method on the transfer determinant D(λ, F), differenced in 50 digits."""
    with mp.workdps(DIGITS):
        h = mp.mpf(10) ** -12

        def equations(omega: Any, F: Any) -> list[Any]:
            """Re D and Im D at λ = iω with damping; D and dD/ds at s = −ω² without."""
            if drag:
                D = transfer_determinant(bars, drag, mp.mpc(0, omega), F)
                return [D.real, D.imag]
            above, below = (transfer_determinant(bars, 0, mp.mpc(0, omega + step), F).real for step in (h, -h))
            return [(above + below) / 2, (above - below) / (2 * h)]

        omega, F = mp.mpf(11), mp.mpf(20)
        for _ in range(20):
            here, by_omega, by_F = equations(omega, F), equations(omega + h, F), equations(omega, F + h)
            J = mp.matrix([[(by_omega[i] - here[i]) / h, (by_F[i] - here[i]) / h] for i in range(2)])
            step = mp.lu_solve(J, -mp.matrix(here))
            omega, F = omega + step[0], F + step[1]
            if abs(step[1]) < mp.mpf(10) ** -14:
                break
        return float(F), float(omega)


def transfer_determinant(bars: int, drag: float, root: Any, F: Any) -> Any:
    """The end conditions under a follower load for two independent motions that start at the clamped end."""
    n = mp.mpf(bars)
    l, a, m, c = 1 / n, 1 / (2 * n), root**2 / n, drag * root / n
    ends = []
    for angle, force in ((mp.mpf(1), mp.mpf(0)), (mp.mpf(0), mp.mpf(1))):
        y, theta, torque, V = mp.mpf(0), angle, 2 * n * angle, force
        for i in range(bars):
            theta = theta + torque / n if i else theta
            inertia = m * (y + a * theta)
            V = V - inertia - c * (y + a * theta)
            torque = torque + a * inertia + c * (l * y / 2 + l * l * theta / 3) + l * (V - F * theta)
            y = y + l * theta
        ends.append((torque, V - F * theta))
    (t1, v1), (t2, v2) = ends
    return t1 * v2 - t2 * v1


if __name__ == "__main__":
    main([int(n) for n in sys.argv[1:]] or [100, 500, 2000])
