"""Branches of periodic orbits against AUTO-07p: the column on a skate, from the Hopf point to F = 100.

AUTO (Debian packages auto-07p and gfortran) gets the same equations with analytic Jacobians as straight-line C,
compiled with -O3 (ten bars: in pieces with -O1, which compiles sooner and runs as fast), one thread, NTST 50, NCOL 4,
folds, branch points and Floquet multipliers on; it solves the whole period, where pfaff uses the odd symmetry. AUTO's
time is that of its process, start and files included; pfaff's is that of ``hopf.orbits`` alone; compilation is printed
apart for both. pfaff runs with the accuracy it has by default; with one at which its period is still more accurate than
AUTO's; and with that and steps so small that it takes as many points as AUTO, since a point costs less the nearer it is
to the one before. The programs run in turn, and the least of many times counts, by the clock and of the processor.

Period errors are at the last load of each, against single shooting by Taylor's method or SciPy's Radau, which share
nothing with the collocation of either. The script fails unless pfaff's period is right to 1e-10 by default, and
otherwise no less accurate than AUTO's (to 1e-6 where AUTO is not installed).
"""

from __future__ import annotations

import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import pfaff
from auto07p import LIBRARY, compiled, rows_of, run, written
from pfaff.bifurcation.hopf.hopf import Hopf
from pfaff.bifurcation.orbits.orbits import OrbitPoint
from verified import demand, verify

ENDS = {2: 100.0, 5: 0.7, 10: 0.3}  # loads to which cycles are followed, by the number of bars
EQUAL = 1e-4  # accuracy asked of pfaff, at which its period comes out more accurate than AUTO's at NTST 50
STEPS = {2: 0.035}  # with which it takes about as many points as AUTO, where it takes fewer by itself
REPEATS = {2: 40, 5: 10, 10: 3}
OPTIMISED = {10: "-O1"}
DEFAULT, SHARP = 1e-10, 1e-6  # relative errors of the period that are allowed: by default, and if EQUAL is asked for
NEAR = 1e-4  # AUTO ends near the load asked for, not on it
DIFFERENCE, SHOTS, SETTLED = 1e-4, 20, 1e-12  # of shooting: differences for its Jacobian, steps at most, and the last
SHOOTING = {2: {"method": "taylor"}}
STIFF = {"method": "radau", "tolerance": 1e-11}  # SciPy's: five bars and more, whose fast modes decay

CONSTANTS = """NDIM=%d, IPS=%d, IRS=%d, ILP=%d, ICP=%s, NTST=50, NCOL=4, IAD=3, ISP=2, ISW=1, IPLT=0, NBC=0, NINT=0
NMX=2000, NPR=100000, MXBF=0, IID=2, ITMX=8, ITNW=7, NWTN=3, JAC=1, EPSL=1e-7, EPSU=1e-7, EPSS=1e-5
DS=%r, DSMIN=1e-5, DSMAX=%r, IADS=1, UZSTOP={1: %r}
"""


def case_of(bars: int) -> pfaff.Case:
    return pfaff.atlas.column(bars, "skate", "dead").at(d="1/2", M_L=15, I_L=15, k1=50, c_i="3/2")


@dataclass
class Branch:
    """What a program found, and the least times that it took."""

    points: int = 0
    period: float = 0.0
    load: float = 0.0
    found: str = ""
    seconds: float = np.inf
    processor: float = np.inf

    def took(self, seconds: float, processor: float) -> None:
        self.seconds, self.processor = min(self.seconds, seconds), min(self.processor, processor)


def prepared(bars: int, to: float, folder: Path) -> float:
    """AUTO's program and the Hopf point from which it starts, in a folder; the seconds of its compilation."""
    case = case_of(bars)
    hopf = case.hopf()
    n, flow = len(hopf.x), case.system.shape
    below = case.numbers_at("F", 0.99 * hopf.value)
    compilation = compiled(written(flow, below, ["F"], np.zeros(n)), folder, OPTIMISED.get(bars, "-O3"))
    (folder / "fort.3").write_text("")
    small = 1e-3 * hopf.value
    (folder / "fort.2").write_text(CONSTANTS % (n, 1, 0, 0, "[1]", small, 5 * small, 1.01 * hopf.value))
    run(folder)
    (folder / "fort.3").write_text((folder / "fort.8").read_text())
    (folder / "fort.2").write_text(CONSTANTS % (n, 2, 2, 1, "[1, 11]", 0.02, 0.5, to))
    return compilation


def auto(folder: Path, branch: Branch) -> None:
    branch.took(*run(folder))
    points = rows_of(folder)
    kinds = {"5": "fold", "6": "branch point", "7": "period doubling", "8": "torus"}
    branch.found = ", ".join(f"{kinds[row[2]]} {float(row[4]):.5f}" for row in points if row[2] in kinds)
    branch.points, branch.period, branch.load = len(points), float(points[-1][-1]), float(points[-1][4])


def ours(hopf: Hopf, to: float, branch: Branch, **options: float) -> None:
    before, start = time.process_time(), time.perf_counter()
    orbits = hopf.orbits(to=to, **options)
    branch.took(time.perf_counter() - start, time.process_time() - before)
    branch.found = ", ".join(f"{special.kind} {special.value:.5f}" for special in orbits.special)
    branch.points, branch.period, branch.load = len(orbits), orbits[-1].period, orbits[-1].value


def reference(bars: int, load: float, near: OrbitPoint) -> float:
    """The period at a load by shooting: Newton's method on the state after one period, until it settles.

    The motion is that of the multiplier form in all coordinates; collocation lends the first guess only.
    """
    case = case_of(bars).at(F=load)
    names, guess, period = case.system.shape.states, near.orbit.x, near.period

    def after(x: np.ndarray, **sharpness: Any) -> np.ndarray:
        motion = case.simulate(period, samples=2, **sharpness, **dict(zip(names, x, strict=True)))
        demand(f"the motion over one period is finished ({motion.status})", motion.finished)
        return np.array([motion[name][-1] for name in names])

    x = guess[:, 0]
    n, f, end = len(x), case.system.shape.rhs(x, case.numbers), after(x)
    changes = np.diag(DIFFERENCE * np.abs(guess).max(axis=1))
    monodromy = np.column_stack([(after(x + change) - end) / change.max() for change in changes])
    bordered = np.block([[monodromy - np.eye(n), f[:, None]], [f[None], np.zeros((1, 1))]])
    for _ in range(SHOTS):
        step = np.linalg.solve(bordered, np.append(x - after(x, **SHOOTING.get(bars, STIFF)), 0.0))
        x, period = x + step[:n], period + step[n]
        if abs(step[n]) <= SETTLED * period:
            break
    verify(f"shooting for {bars} bars, the last step of the period", abs(step[n]), SETTLED * period)
    return period


def report(name: str, branch: Branch, period: float) -> float:
    """A line about a program; returns the error of its period."""
    error = abs(branch.period - period)
    print(
        f"  {name:29s} {1e3 * branch.seconds / branch.points:7.3f} ms a point, {branch.points} points, "
        f"{1e3 * branch.seconds:.1f} ms (processor {1e3 * branch.processor:.1f}), period error {error:.1e}; "
        f"{branch.found or 'no labels'}"
    )
    return error


def compare(bars: int, to: float) -> None:
    hopf = case_of(bars).hopf()
    start = time.perf_counter()
    hopf.orbits(to=to, points=3)
    print(f"{bars} bars, cycles to F = {to:g}; compilation, once: {time.perf_counter() - start:.2f} s", flush=True)
    default, equal, alike, theirs = Branch(), Branch(), Branch(), Branch()
    runs = {"by default": default, "at equal accuracy": equal}
    if bars in STEPS:
        runs["and with as many points"] = alike
    with tempfile.TemporaryDirectory() as name:
        if LIBRARY.exists():
            print(f"  AUTO-07p: compilation, once: {prepared(bars, to, Path(name)):.2f} s", flush=True)
        for _ in range(REPEATS[bars]):
            ours(hopf, to, default)
            ours(hopf, to, equal, accuracy=EQUAL)
            if bars in STEPS:
                ours(hopf, to, alike, accuracy=EQUAL, step=STEPS[bars])
            if LIBRARY.exists():
                auto(Path(name), theirs)
    errors = verified(bars, to, hopf, runs, theirs if LIBRARY.exists() else None)
    if not LIBRARY.exists():
        print(f"  AUTO-07p is not installed ({LIBRARY}): no ratios")
        return
    for what, branch in runs.items():
        clock, processor = theirs.seconds / branch.seconds, theirs.processor / branch.processor
        share = branch.points / theirs.points
        print(
            f"    {what}: faster per point {share * clock:.1f}× (processor {share * processor:.1f}×), "
            f"for the branch {clock:.1f}× ({processor:.1f}×), period error {errors[what]:.0e} "
            f"against {errors['AUTO-07p']:.0e}"
        )


def verified(bars: int, to: float, hopf: Hopf, runs: dict[str, Branch], auto: Branch | None) -> dict[str, float]:
    """Errors of the last periods of all programs against shooting; ours are held to what was asked, or to AUTO's."""
    last = hopf.orbits(to=to)[-1]
    period = reference(bars, to, last)
    errors = {}
    for what, branch in runs.items():
        verify(f"pfaff {what}, {bars} bars, the load at the end of the branch", abs(branch.load - to), 1e-12 * to)
        errors[what] = report(f"pfaff {what}", branch, period)
    allowed = SHARP * period
    if auto is not None:
        verify(f"AUTO-07p, {bars} bars, the load at the end of its branch", abs(auto.load - to), NEAR * to)
        errors["AUTO-07p"] = allowed = report("AUTO-07p", auto, reference(bars, auto.load, last))
    for what in runs:
        sharp = DEFAULT * period if what == "by default" else allowed
        verify(f"pfaff {what}, {bars} bars, the period at F = {to:g} against shooting", errors[what], sharp)
    return errors


def main() -> None:
    for bars in [int(each) for each in sys.argv[1:]] or ENDS:
        compare(bars, ENDS[bars])


if __name__ == "__main__":
    main()
