"""Studies: points/s of batches, processes and Dask against single calls and against SciPy, with the same digits in
one run.

Single calls are ``case.hopf()`` with its first Lyapunov coefficient; SciPy's rival is ``brentq`` on the growth rate
of the
eigenvalues, which gives a load and a frequency and no more. A million points of F, ω and l1 need STUDY_POINTS=1000000.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import brentq

import pfaff
from verified import by_clock, demand, least, verify

POINTS = int(os.environ.get("STUDY_POINTS", "40000"))
SAMPLE, AGREEMENT, REPEATS = 12, 1e-10, 3
SIDES = (316, 1000)  # of grids over which memory is compared
SETTINGS: dict[str, tuple[Any, dict[str, tuple[float, float]]]] = {
    "two bars": (lambda: pfaff.atlas.column(2).at(**KNOWN), {"c_i": (0.5, 5), "M_L": (5, 30)}),
    "four bars": (lambda: pfaff.atlas.column(4).at(**KNOWN), {"c_i": (0.5, 5), "M_L": (5, 30)}),
    "bent": (
        lambda: pfaff.atlas.column(2, "bow").at(**KNOWN, beta0=0.03),
        {"c_i": (0.5, 5), "beta0": (0.01, 0.05)},
    ),
}
KNOWN = {"d": "1/2", "M_L": 15, "I_L": 15, "k1": 50, "c_i": 1.5}
MEASURES = ["hopf", "omega", "l1"]
MEMORY = """
import sys, numpy as np, pfaff
case = pfaff.atlas.column(2).at(d="1/2", M_L=15, I_L=15, k1=50, c_i=1.5)
side = int(sys.argv[2])
axes = {"c_i": np.linspace(0.5, 5, side), "M_L": np.linspace(5, 30, side)}
case.sweep(axes, ["hopf"], sys.argv[1]).run()
print(next(line for line in open("/proc/self/status") if line.startswith("VmHWM")).split()[1])
"""


def grid(ranges: dict[str, tuple[float, float]], side: int) -> dict[str, np.ndarray]:
    return {name: np.linspace(low, high, side) for name, (low, high) in ranges.items()}


def batches(name: str) -> None:
    """A study in this process against single calls at random points of it, in seconds of the processor."""
    make, ranges = SETTINGS[name]
    case, side = make(), 256 if name == "two bars" else 64
    axes = grid(ranges, side)
    case.sweep({key: values[:2] for key, values in axes.items()}, MEASURES).run()  # compile before the clock starts
    seconds, study = least(lambda: case.sweep(axes, MEASURES).run(), REPEATS)
    data, generator = study.dataset, np.random.default_rng(0)
    worst, single = 0.0, np.inf
    for _ in range(SAMPLE):
        at = {key: float(generator.choice(values)) for key, values in axes.items()}
        there = case.at(**at)
        spent, hopf = least(lambda there=there: (each := there.hopf(), each.l1)[0])
        single = min(single, spent)
        found = data.sel(at)
        expected = {"hopf": hopf.value, "omega": hopf.omega, "l1": hopf.l1}
        worst = max(worst, *(abs(float(found[key]) / value - 1) for key, value in expected.items()))
    each = seconds / side**2
    share = study.batched / side**2
    print(
        f"{name}: {1e6 * each:.1f} µs a point of F, ω, l1 ({side**2} points, {share:.1%} in batches), "
        f"{1e3 * single:.1f} ms by case.hopf(): {single / each:.0f}×; largest relative difference {worst:.1e}"
    )
    verify(f"{name}: the study against case.hopf() at the same points", worst, AGREEMENT)
    demand(f"{name}: nearly all points are in batches", share > 0.8)


def rival() -> None:
    """SciPy: the growth rate of the eigenvalues by brentq, of the matrices that pfaff gives."""
    case = pfaff.atlas.column(2).at(**KNOWN)
    lin = case.linearise()
    M, K = lin.M[:2, :2], lin.stiffness[:2, :2]
    C = case.at(c_i=1.0).linearise().C[:2, :2]
    loads = {}

    def growth(F: float, c: float) -> float:
        A = np.block([[np.zeros((2, 2)), np.eye(2)], [-np.linalg.solve(M, K + F * slope), -np.linalg.solve(M, c * C)]])
        return float(np.linalg.eigvals(A).real.max())

    there = case.at(F=1.0).linearise()
    slope = (there.stiffness - lin.stiffness)[:2, :2]
    dampings = np.linspace(0.5, 5, SAMPLE)
    seconds, _ = least(lambda: [loads.update({c: brentq(growth, 50, 100, args=(c,), xtol=1e-11)}) for c in dampings])
    ours = case.sweep({"c_i": dampings}, "hopf").run().dataset["hopf"].to_numpy()
    worst = float(np.abs(ours / np.array(list(loads.values())) - 1).max())
    print(f"SciPy brentq + eigvals, load alone: {1e6 * seconds / SAMPLE:.0f} µs a point; difference {worst:.1e}")
    verify("the study against SciPy's loads", worst, 1e-9)


def engines(folder: Path) -> None:
    """The same study in this process, in two others and on Dask, by the clock; and what the store costs."""
    case, side = pfaff.atlas.column(2).at(**KNOWN), round(POINTS**0.5)
    axes = grid(SETTINGS["two bars"][1], side)
    seconds, here = least(lambda: case.sweep(axes, MEASURES).run(), REPEATS)
    stored = case.sweep(axes, MEASURES, folder / "here.zarr")
    kept, _ = least(stored.run)
    blocks = [here.store.read(k) for k in range(len(here.chunks))]
    writing, _ = least(lambda: [stored.store.write(k, block) for k, block in enumerate(blocks)], REPEATS)
    print(f"in this process: {side**2 / seconds:.3g} points/s in memory, {side**2 / kept:.3g} into Zarr")
    print(f"store: {writing / seconds:.1%} of the time at chunks of {here.chunks.size(0)} points")
    two = case.sweep(axes, MEASURES, folder / "two.zarr")
    wall, _ = by_clock(lambda: two.run(workers=2))
    print(
        f"two processes, with their start: {side**2} points in {wall:.1f} s, {side**2 / wall:.3g} points/s by the clock"
    )
    for name in MEASURES:
        same = np.array_equal(two.dataset[name], here.dataset[name]) and np.array_equal(
            stored.dataset[name], here.dataset[name]
        )
        demand(f"{name} has the same bits in processes and in the store", same)
    dask(case, axes, folder, here)


def dask(case: Any, axes: dict[str, np.ndarray], folder: Path, here: Any) -> None:
    try:
        from distributed import Client, LocalCluster
    except ImportError:
        print("Dask is not installed: pip install 'pfaff[sweep]'")
        return
    study = case.sweep(axes, MEASURES, folder / "dask.zarr")
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster) as client:
        wall, _ = by_clock(lambda: study.run(client=client))
    print(f"Dask, two workers, their compilation included: {here.points.size / wall:.3g} points/s by the clock")
    demand("the same bits on Dask", np.array_equal(study.dataset["l1"], here.dataset["l1"]))


def memory(folder: Path) -> None:
    """The largest memory of a run over few and over many points, by the kernel: getrusage counts the parent too."""
    sizes = {}
    for side in SIDES:
        words = [sys.executable, "-c", MEMORY, str(folder / f"{side}.zarr"), str(side)]
        sizes[side**2] = (
            int(subprocess.run(words, capture_output=True, check=True, text=True).stdout.split()[-1]) / 1024
        )
    print("; ".join(f"{points} points: {size:.0f} MB" for points, size in sizes.items()))
    few, many = sizes.values()
    demand("memory is flat in the number of points", many < 1.1 * few)


def main() -> None:
    for name in SETTINGS:
        batches(name)
    rival()
    with tempfile.TemporaryDirectory() as folder:
        engines(Path(folder))
        memory(Path(folder))
    print(f"{time.process_time():.0f} s and {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB in all")


if __name__ == "__main__":
    main()
