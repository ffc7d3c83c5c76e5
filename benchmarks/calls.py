"""Single calls through ``System``: flutter, spectrum and hopf of columns of 2 to 16 bars, first and warm.

The column of Cazzolli et al. (2020) with d = 1/2, M_L = I_L = 15, k1 = 50: undamped; damped by c_i = 1.5; and bent, on
a misaligned bow with β0 = π/100 and the same damping. The first call is one of a fresh process, by the clock, without
the import; it finds what former processes left in the caches on disk, as a user's second session does. Warm calls are
in one process, each with parameters never seen before, so that no result can be known already; the least counts, in
seconds of the processor: neighbours on the machine only add to it.

Values are verified to 1e-10: flutter loads and Hopf points against Newton's method on the determinant in fifty digits
(straight) or against dense eigenvalues at scanned loads with Brent's method (bent), eigenvalues against LAPACK's. What
is expected of the times is printed beside them; they do not decide whether the script succeeds.

Run ``python benchmarks/calls.py``, or give the numbers of bars.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

import pfaff
from dense import bent, eigenvalues, first_crossing, growth, referee, straight
from verified import demand, least, verify

VALUES = {"d": 0.5, "M_L": 15.0, "I_L": 15.0, "k1": 50.0}
SETTINGS = {"undamped": {}, "damped": {"c_i": 1.5}, "bent": {"c_i": 1.5, "beta0": float(np.pi / 100)}}
EXPECTED = {("flutter", 2): 10, ("flutter", 8): 50, ("flutter", 16): 1000, ("bent", None): 200, ("spectrum", None): 1.5}
FEW = 4  # bars up to which Hopf points are asked for: their first compilation takes long beyond
REPEATS, MOST = 9, 200  # calls: as few of long ones, as many of short ones
SHORT, LONG = 0.2, 10.0  # seconds of all calls up to which there are more, and after which there are no more
ACCURACY = 1e-10
LOAD = 0.1  # at which spectra are computed

ONE_CALL = """
import sys, time
sys.path.insert(0, {folder!r})
import calls
case = calls.case_of({bars}, {setting!r}, 0)
began = time.perf_counter()
calls.CALLS[{call!r}](case)
print(time.perf_counter() - began)
"""

CALLS: dict[str, Callable[[pfaff.Case], Any]] = {
    "flutter": lambda case: case.flutter(),
    "spectrum": lambda case: case.spectrum(),
    "hopf": lambda case: case.hopf(),
}


def values_of(setting: str, k: int) -> dict[str, float]:
    """Parameters of the k-th call: no two have the same inertia at the end."""
    return {**VALUES, **SETTINGS[setting], "I_L": VALUES["I_L"] + 0.01 * k}


def case_of(bars: int, setting: str, k: int) -> pfaff.Case:
    column = pfaff.atlas.column(bars, "bow" if setting == "bent" else "skate")
    return column.at(**values_of(setting, k), F=LOAD)


def verify_flutter(bars: int, setting: str, k: int, found: Any) -> float:
    """The relative error of a flutter load or a Hopf point, by a route that shares nothing with the search."""
    if setting == "bent":
        right = first_crossing(growth(bent(case_of(bars, setting, k))), 1.9 * found.value, scan=50)
    else:
        right = referee(bars, found.value, **values_of(setting, k))
    error = abs(found.value / right - 1)
    verify(f"the flutter load of {bars} {setting} bars", error, ACCURACY)
    return error


def verify_spectrum(bars: int, setting: str, k: int, found: Any) -> float:
    """The largest difference of an eigenvalue from the nearest one of LAPACK's, relative to the largest."""
    column = bent(case_of(bars, setting, k)) if setting == "bent" else straight(bars, **values_of(setting, k))
    ours, theirs = np.asarray(found.values), eigenvalues(column(LOAD))
    demand(f"there are as many eigenvalues of {bars} {setting} bars", len(ours) == len(theirs))
    error = float(np.abs(ours[:, None] - theirs).min(axis=1).max() / np.abs(theirs).max())
    verify(f"the eigenvalues of {bars} {setting} bars", error, ACCURACY)
    return error


VERIFY = {"flutter": verify_flutter, "hopf": verify_flutter, "spectrum": verify_spectrum}


def first(bars: int, setting: str, call: str) -> float:
    """Seconds of the first call in a fresh process."""
    source = ONE_CALL.format(folder=os.path.dirname(os.path.abspath(__file__)), bars=bars, setting=setting, call=call)
    done = subprocess.run([sys.executable, "-c", source], capture_output=True, text=True, check=True)
    return float(done.stdout)


def expected(bars: int, setting: str, call: str) -> str:
    """What the milliseconds are held against, if anything."""
    if call == "hopf":
        return ""
    by = ("spectrum", None) if call == "spectrum" else ("bent", None) if setting == "bent" else (call, bars)
    return f"{EXPECTED[by]:g}" if by in EXPECTED else ""


def wanting(seconds: list[float]) -> bool:
    """Whether so many calls are too few to know the least: short ones are lengthened by whatever runs beside them."""
    count, spent = len(seconds), sum(seconds)
    return count < 2 or (spent < LONG and count < REPEATS) or (spent < SHORT and count < MOST)


def report(bars: int, setting: str, call: str) -> None:
    cold = first(bars, setting, call)
    CALLS[call](case_of(bars, setting, 0))
    runs: list[tuple[float, Any]] = []
    new = 1 + MOST * list(CALLS).index(call)  # no call finds what another has left
    while wanting([seconds for seconds, _ in runs]):
        runs.append(least(partial(CALLS[call], case_of(bars, setting, new + len(runs)))))
    warm = 1e3 * min(seconds for seconds, _ in runs)
    worst = max(VERIFY[call](bars, setting, new + k, runs[k][1]) for k in (0, len(runs) - 1))
    wanted = expected(bars, setting, call)
    verdict = "" if not wanted else f"expected < {wanted} ms: {'met' if warm < float(wanted) else 'MISSED'}"
    print(f"{bars:4d}  {setting:9s}{call:9s}{cold:9.2f} s{warm:10.2f} ms   error {worst:.0e}   {verdict}", flush=True)


def main(sizes: list[int]) -> None:
    began = time.perf_counter()
    print(f"{'N':>4}  {'column':9s}{'call':9s}{'first':>11}{'warm':>13}")
    for bars in sizes:
        for setting in SETTINGS:
            for call in CALLS if bars <= FEW else ("flutter", "spectrum"):
                if call != "hopf" or setting != "undamped":  # without damping there is no Hopf point
                    report(bars, setting, call)
    print(f"all values verified to {ACCURACY:g}; {time.perf_counter() - began:.0f} s in all")


if __name__ == "__main__":
    main([int(n) for n in sys.argv[1:]] or [2, 4, 8, 16])
