"""The first flutter load of Beck's column by N rigid bars with a skate: sparse multiplier pencil against dense eigenvalues.

Peer: the same column in its N angles, assembled with NumPy, the eigenvalues of K⁻¹M by LAPACK (K is well conditioned,
so its low modes are right at every N) and a bisection of the load to 1e-9. Referee: transfer of (deflection, angle,
torque, force) from bar to bar in 50 digits with mpmath, which shares no code with either.

    python benchmarks/critical.py [N …]
"""

from __future__ import annotations

import sys
import time

import mpmath as mp
import numpy as np

from pfaff.atlas.chain import column_assembly
from pfaff.stability.sparse import SparseFlutter

TO = 100.0  # the load is searched from zero to here, in units of EI/L²
STEPS = 32  # of the peer's march before it bisects: half of what separates flutter from the next event
TOLERANCE = 1e-9
WHOLE_PEER = 500  # the peer runs in full up to here and is extrapolated beyond
REPEATS = 5


def main(sizes: list[int]) -> None:
    print("flutter load of N bars with a skate, k = N, k1 = 2 N, M_L = 0 (Beck's column: 20.0509, ω = 11.0156)")
    print(f"{'N':>5} {'compile':>9} {'pfaff':>9} {'peer':>13} {'ratio':>9}  value, frequency, checks")
    for bars in sizes:
        report(bars)


def report(bars: int) -> None:
    began = time.perf_counter()
    assembly = column_assembly(bars, "skate", k=float(bars), k1=2.0 * bars).compile()
    compiled = time.perf_counter() - began
    assembly.flutter(to=TO)
    ours, found = min((timed(lambda: assembly.flutter(to=TO)) for _ in range(REPEATS)), key=lambda run: run[0])
    peer_seconds, peer_value, note = peer(bars)
    exact_load, exact_frequency = referee(bars)
    print(
        f"{bars:5d} {compiled:8.3f}s {ours:8.4f}s {peer_seconds:9.2f}s{note:>3} {peer_seconds / ours:8.0f}x  "
        f"{found.value:.12f}, {found.frequency:.10f}"
    )
    print(
        f"      last Newton step {found.precision:.0e}, 50 digits differ by {abs(found.value / exact_load - 1):.0e} in the"
    )
    print(f"      load and {abs(found.frequency / exact_frequency - 1):.0e} in the frequency; {confirmed(found)}")
    if peer_value is not None:
        print(f"      peer: {peer_value:.9f}, off by {abs(peer_value / exact_load - 1):.0e}")
    if note:
        print("      * extrapolated: one eigenvalue solve times the number of solves that the march and bisection take")


def confirmed(found: SparseFlutter) -> str:
    loads = ", ".join(f"{c.load:.4g}" for c in found.checked if c.load < found.value)
    verdict = "first crossing confirmed" if found.first else "NOT confirmed as the first"
    return f"{verdict}: {found.modes} lowest modes stable at {loads}"


def timed(call):
    began = time.perf_counter()
    result = call()
    return time.perf_counter() - began, result


def peer(bars: int) -> tuple[float, float | None, str]:
    """Seconds, value and mark of the dense march and bisection."""
    M, K, geometric = dense_matrices(bars)

    def flutters(load: float) -> bool:
        inverted = np.linalg.eigvals(np.linalg.solve(K + load * geometric, M))
        low = inverted[np.argsort(-np.abs(inverted))[:8]]
        return bool((np.abs(low.imag) > 1e-6 * np.abs(low)).any())

    if bars > WHOLE_PEER:
        once, _ = timed(lambda: flutters(20.0))
        march = int(np.ceil(20.0509 / (TO / STEPS)))
        return once * (march + np.ceil(np.log2(TO / STEPS / (20.0 * TOLERANCE)))), None, "*"
    seconds, value = timed(lambda: bisected(flutters))
    return seconds, value, ""


def bisected(flutters) -> float:
    low, high = 0.0, TO / STEPS
    while not flutters(high):
        low, high = high, high + TO / STEPS
    while high - low > TOLERANCE * high:
        middle = (low + high) / 2
        low, high = (low, middle) if flutters(middle) else (middle, high)
    return high


def dense_matrices(bars: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """M, K and the geometric stiffness per unit load in the angles, L = M = EI = 1 and masses at mid-bar."""
    l = 1 / bars
    deflections = np.tril(np.full((bars, bars), l), -1) + np.eye(bars) * l / 2
    M = deflections.T @ deflections / bars
    K = bars * (2 * np.eye(bars) - np.eye(bars, k=1) - np.eye(bars, k=-1))
    K[0, 0], K[-1, -1] = 3 * bars, bars
    geometric = -l * np.eye(bars)
    geometric[:, -1] += l
    return M, K, geometric


def referee(bars: int) -> tuple[float, float]:
    """The load and frequency where D(s, F) = D_s(s, F) = 0, by transfer matrices in 50 digits from a rough start."""
    with mp.workdps(50):
        h, n = mp.mpf(10) ** -15, mp.mpf(bars)

        def D(s, F):
            return transfer_determinant(bars, n, s, F)

        def equations(s, F):
            above, here, below = D(s + h, F), D(s, F), D(s - h, F)
            return here, (above - below) / (2 * h), (above - 2 * here + below) / h**2

        s, F = mp.mpf(-121), mp.mpf(20)
        for _ in range(30):
            d, d_s, d_ss = equations(s, F)
            ahead, behind = equations(s, F + h), equations(s, F - h)
            d_F, d_sF = ((a - b) / (2 * h) for a, b in zip(ahead[:2], behind[:2], strict=True))
            determinant = d_s * d_sF - d_F * d_ss
            ds, dF = (-d * d_sF + d_F * d_s) / determinant, (-d_s * d_s + d * d_ss) / determinant
            s, F = s + ds, F + dF
            if abs(dF) < mp.mpf(10) ** -16:
                break
        return float(F), float(mp.sqrt(-s))


def transfer_determinant(bars: int, n, s, F):
    """The end conditions of a follower load for two independent motions that start at the clamped end."""
    l, m, a = 1 / n, 1 / n, 1 / (2 * n)
    ends = []
    for angle, force in ((mp.mpf(1), mp.mpf(0)), (mp.mpf(0), mp.mpf(1))):
        y, before, torque, V = mp.mpf(0), mp.mpf(0), 2 * n * angle, force
        for i in range(bars):
            theta = angle if i == 0 else before + torque / n
            inertia = m * s * (y + a * theta)
            V -= inertia
            torque += a * inertia + l * V - l * F * theta
            y, before = y + l * theta, theta
        ends.append((torque, V - F * before))
    (t1, v1), (t2, v2) = ends
    return t1 * v2 - t2 * v1


if __name__ == "__main__":
    main([int(n) for n in sys.argv[1:]] or [100, 500, 2000])
