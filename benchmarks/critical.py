"""The first flutter load of a column of N bars: pfaff against dense eigenvalues, for few bars and for very many.

Few bars, through ``System``: the column of Cazzolli et al. (2020) with d = 1/2, M_L = I_L = 15, k1 = 50, undamped and
with c_i = 1.5. ``case.flutter()`` knows no interval and misses no crossing; the peer scans 200 loads up to twice the
critical one, which it is told, and ends with Brent's method on the growth rate (or bisection without damping).
Parameters are new for every call, seconds are the processor's.

Very many bars: the sparse multiplier pencil against dense eigenvalues and bisection.

Beck's column by rigid bars with a skate (k = N, k1 = 2N, M_L = 0 in units of L = M = EI = 1), without damping and in
viscous drag. One thread for everybody, seconds are the processor's.

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
    of its own: it shares no code with the others. For few bars, the determinant of the dense matrices in 50 digits.

All must agree with the referee, or the script fails: pfaff to 1e-10 (few) and 1e-12 (many), the inverted dense search
to 1e-8 where it ran in full. The direct one loses digits as N grows; where it is further off, its ratio does not count.

Run ``python benchmarks/critical.py``, or give the numbers of bars; up to 32 they are few.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import mpmath as mp
import numpy as np
from scipy import linalg

import pfaff
from dense import crossing, first_crossing, growth, straight
from dense import referee as referee_of_few
from pfaff.atlas.chain import column_assembly
from pfaff.stability.large import SparseFlutter
from verified import demand, least, verify

TO = 100.0  # the load is searched from zero to here
MARCH = 32  # steps of the dense march
TOLERANCE = 1e-9
FULL = 500  # bars up to which both dense searches run; beyond, the better one is extrapolated
DRAG = 0.5
REPEATS = 7
FEW = 32  # bars up to which the column is stated as a System
VALUES = {"d": 0.5, "M_L": 15.0, "I_L": 15.0, "k1": 50.0}
ACCURATE, SPARSE, DENSE = 1e-10, 1e-12, 1e-8  # relative errors of loads that are allowed


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
    few, many = [n for n in sizes if n <= FEW], [n for n in sizes if n > FEW]
    for damping in (0.0, 1.5) if few else ():
        print(f"\nfirst flutter load through System, c_i = {damping:g}")
        print(f"{'N':>6}{'pfaff':>12}{'dense':>12}{'ratio':>9}   errors, ours and theirs")
        for bars in few:
            report_few(bars, damping)
    for drag in (0.0, DRAG) if many else ():
        print(f"\nfirst flutter load, c_e = {drag:g}")
        heads = "".join(f"{name:>11}{'ratio':>8}" for name in ("direct", "inverted"))
        print(f"{'N':>6}{'compile':>10}{'pfaff':>10}{heads}   load, frequency")
        for bars in many:
            report(bars, drag)


def report_few(bars: int, damping: float) -> None:
    """Medians over parameters that neither has seen before."""
    ours, theirs, errors = [], [], []
    for k in range(REPEATS + 1):
        values = {**VALUES, "I_L": VALUES["I_L"] + 0.01 * k, "c_i": damping}
        case = pfaff.atlas.column(bars).at(**values)
        seconds, found = least(case.flutter)
        ours.append(seconds)
        seconds, value = least(lambda values=values, to=2 * found.value: peer(bars, values, to))
        theirs.append(seconds)
        load = referee_of_few(bars, found.value, **values)
        errors.append([abs(each / load - 1) for each in (found.value, value)])
    mine, other = np.max(errors, axis=0)
    verify(f"pfaff's flutter load of {bars} bars", mine, ACCURATE)
    verify(f"the dense flutter load of {bars} bars", other, ACCURATE)
    ours, theirs = (1e3 * float(np.median(each[1:])) for each in (ours, theirs))
    print(f"{bars:6d}{ours:9.1f} ms{theirs:9.1f} ms{theirs / ours:8.2f}x   {mine:.0e}, {other:.0e}")


def peer(bars: int, values: dict[str, float], to: float) -> float:
    return first_crossing(growth(straight(bars, **values)), to)


def report(bars: int, drag: float) -> None:
    compiled, assembly = least(lambda: column_assembly(bars, k=float(bars), k1=2.0 * bars, c_e=drag).compile())
    ours, found = least(lambda: assembly.flutter(to=TO), REPEATS)
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
    verify(f"the sparse flutter load of {bars} bars", abs(found.value / load - 1), SPARSE)
    demand(f"the flutter load of {bars} bars is the first", found.confirmed)
    for peer in peers:
        if peer.value is not None:
            error = abs(peer.value / load - 1)
            if peer.name == "inverted":
                verify(f"the dense flutter load of {bars} bars", error, DENSE)
            useless = "" if error <= DENSE else ": NOT ACCURATE, its ratio does not count"
            print(f"       dense, {peer.name}: {peer.value:.9f}, off by {error:.0e}, {peer.solves} solves{useless}")
        elif peer.solves:
            print(f"       * {peer.name}: extrapolated, one eigenvalue solve times the {peer.solves} of a full search")


def apart(value: float, reference: float) -> str:
    return f"{abs(value / reference - 1):.0e}"


def confirmed(found: SparseFlutter) -> str:
    loads = ", ".join(f"{c.load:.4g}" for c in found.checked if c.load < float(found))
    verdict = "first crossing confirmed" if found.confirmed else "NOT confirmed as the first"
    return f"{verdict}: no oscillation of the {found.modes} {found.covered} grows at {loads}"


def dense_search(bars: int, drag: float, name: str, near: float) -> Peer:
    """A full march and bisection; beyond ``FULL`` bars the cost of one solve times their number."""
    flutters = dense_test(bars, drag, name)
    if bars <= FULL:
        seconds, (value, solves) = least(lambda: bisected(flutters))
        return Peer(name, seconds, value, solves)
    if name == "direct":  # minutes for a single solve
        return Peer(name, np.nan, None, 0)
    solves = int(np.ceil(near * MARCH / TO) + np.ceil(np.log2(TO / MARCH / (TOLERANCE * near))))
    return Peer(name, solves * least(lambda: flutters(near))[0], None, solves)


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
    """Load and frequency from a rough start."""
    return crossing(lambda root, F: transfer_determinant(bars, drag, root, F), damped=bool(drag), omega=11.0, F=20.0)


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
    main([int(n) for n in sys.argv[1:]] or [2, 4, 8, 16, 100, 500, 2000])
