"""Branches of equilibria, curves of folds and of Hopf points, and cycles against AUTO-07p.

A tubular reactor in N cells: a first-order exothermic reaction with flow, axial dispersion and cooling; one cell is the
stirred tank of AUTO's own demo ab. Equilibria are followed in D from 0 to 0.3 over two folds to a Hopf point and
beyond; the first fold in D and β over a Bogdanov–Takens point and a cusp, until β is 1; the Hopf point until β = 4; and
cycles from it.

AUTO gets the same equations with analytic Jacobians as C (see ``auto07p``), NTST 50 and NCOL 4 for cycles, and nothing
to print. Both take steps along equilibria, folds and Hopf points that are as long as they find all special points with.
AUTO's time is that of its process, which reads and writes files; what it takes to start and end with a single point is
printed, and ratios are given with and without it. Compilation counts for neither: pfaff has done everything once
before. For the rest pfaff runs as it does by default, but for the accuracy of cycles, which it is asked for no more of
than it needs to be as accurate as AUTO. Least of several, of the processor, one thread each.

What both find is compared with defining equations solved by SciPy's root finder; an orbit of pfaff's is integrated over
its period by SciPy's LSODA, and AUTO's last period compared with that of pfaff's orbit there at its default accuracy.
The script fails unless pfaff has the special points that AUTO has, to 1e-9, and AUTO to 1e-5, and unless pfaff's orbits
are as accurate as AUTO's, or to 1e-9.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import sympy as sm
from scipy.integrate import solve_ivp
from scipy.optimize import root

import pfaff
from auto07p import LIBRARY, compiled, rows_of, run, written
from verified import demand, least, verify

B, PE, BETA, COOLED, HEATED, LAST = 14.0, 0.5, 2.0, 4.0, 1.0, 0.3
CELLS = (1, 2, 15, 50)
CYCLES = {1: 50, 2: 50, 10: 12}  # orbits that are followed, by the number of cells
LONG = 0.4  # steps, as a share of the range; twice that finds them too, and saves nothing
REPEATS = {1: 7, 2: 7, 10: 3, 15: 5, 50: 2}
AT_ONCE = {1: 10, 2: 10, 15: 5}  # times in a row that each is run, where that takes milliseconds
EQUAL = 1e-5  # accuracy asked of cycles: of 1e-4, errors come out as large as AUTO's
SHARP, AUTO_SHARP = 1e-9, 1e-5  # relative errors that are allowed, pfaff's and AUTO's
KINDS = {"2": "fold", "3": "hopf", "21": "bogdanov-takens", "22": "cusp", "31": "zero-hopf", "32": "generalised hopf"}
CONSTANTS = """NDIM=%d, IPS=%d, IRS=%d, ILP=1, ICP=%s, NTST=50, NCOL=4, IAD=3, ISP=2, ISW=%d, IPLT=0, NBC=0, NINT=0
NMX=%d, NPR=100000, MXBF=0, IID=0, ITMX=9, ITNW=7, NWTN=3, JAC=1, EPSL=1e-8, EPSU=1e-8, EPSS=1e-6
DS=%r, DSMIN=1e-6, DSMAX=%r, IADS=1, UZSTOP={%d: %s}
"""


def reactor(cells: int) -> pfaff.Ode:
    """Conversion u and temperature v in each cell."""
    u, v = (sm.symbols(f"{name}1:{cells + 1}", real=True) for name in "uv")
    D, heat, beta, Pe = sm.symbols("D B beta Pe", real=True)
    reaction = [D * (1 - a) * sm.exp(b) for a, b in zip(u, v, strict=True)]
    equations = {w[k]: carried(w, k, Pe) + (reaction[k] if w is u else heat * reaction[k] - beta * w[k])
                 for w in (u, v) for k in range(cells)}  # fmt: skip
    return pfaff.ode(equations, {D: 0, heat: B, beta: BETA, Pe: PE}, load=D)


def carried(w: Any, k: int, Pe: Any) -> Any:
    """What flow and dispersion bring to a cell; the ends let nothing disperse."""
    cells = len(w)
    mixed = (w[k - 1] - w[k] if k else 0) + (w[k + 1] - w[k] if k < cells - 1 else 0)
    return cells * ((w[k - 1] if k else 0) - w[k]) + cells**2 / Pe * mixed


# The same equations once more, for the references


def rates(x: np.ndarray, D: float, beta: float) -> np.ndarray:
    u, v = np.split(x, 2)
    reaction = D * (1 - u) * np.exp(v)
    transport = np.array([[carried(w, k, PE) for k in range(len(w))] for w in (u, v)])
    return np.concatenate([transport[0] + reaction, transport[1] + B * reaction - beta * v])


def linear(x: np.ndarray, D: float, beta: float) -> np.ndarray:
    """∂f/∂x."""
    u, v = np.split(x, 2)
    n, cells = len(x), len(u)
    J = np.zeros((n, n))
    for half in (0, cells):
        for k, unit in enumerate(np.eye(cells)):
            J[half : half + cells, half + k] = [carried(unit, i, PE) for i in range(cells)]
    by_u, by_v = -D * np.exp(v), D * (1 - u) * np.exp(v)
    i = np.arange(cells)
    for row, factor in ((0, 1.0), (cells, B)):
        J[row + i, i] += factor * by_u
        J[row + i, cells + i] += factor * by_v
    J[cells + i, cells + i] -= beta
    return J


def fold_at(x: np.ndarray, D: float, beta: float) -> float:
    """The fold near a guess: f = 0, J q = 0, ⟨q, q⟩ = 1."""
    n, q = len(x), np.linalg.svd(linear(x, D, beta))[2][-1]

    def equations(y: np.ndarray) -> np.ndarray:
        x, q, D = y[:n], y[n : 2 * n], y[2 * n]
        return np.concatenate([rates(x, D, beta), linear(x, D, beta) @ q, [q @ q - 1]])

    return float(solved(equations, np.concatenate([x, q, [D]]))[2 * n])


def hopf_at(x: np.ndarray, D: float, beta: float, omega: float) -> float:
    """The Hopf point near a guess: f = 0, J q = iω q, ⟨c, q⟩ = 1."""
    n = len(x)
    values, vectors = np.linalg.eig(linear(x, D, beta))
    c = vectors[:, np.abs(values - 1j * omega).argmin()]

    def equations(y: np.ndarray) -> np.ndarray:
        x, q, D, omega = y[:n], y[n : 2 * n] + 1j * y[2 * n : 3 * n], y[3 * n], y[3 * n + 1]
        left, unit = linear(x, D, beta) @ q - 1j * omega * q, c.conj() @ q - 1
        return np.concatenate([rates(x, D, beta), left.real, left.imag, [unit.real, unit.imag]])

    return float(solved(equations, np.concatenate([x, c.real, c.imag, [D, omega]]))[3 * n])


def solved(equations: Callable[[np.ndarray], np.ndarray], start: np.ndarray) -> np.ndarray:
    found = root(equations, start, tol=1e-14)
    demand(f"SciPy solves the defining equations ({found.message})", np.abs(found.fun).max() < 1e-9)
    return found.x


# What the programs are asked for


@dataclass
class Row:
    """Of one system: what is followed, by whom, and special points (kind and value) with their references."""

    name: str
    ours: Callable[[], Any]
    auto: str  # constants
    restart: str  # file that AUTO starts from
    found: Callable[[Any], list[tuple[str, float]]]
    exact: Callable[[Any], dict[str, float]]
    column: int = 4  # of AUTO's table, where the value is


def kept(branch: Any) -> list[tuple[str, float]]:
    return [(each.kind, each.value) for each in branch.special]


def rows_for(cells: int, folder: Path) -> list[Row]:
    """Equilibria, folds and Hopf points; AUTO's file of equilibria is written on the way: the others start from it."""
    case, n, long = reactor(cells).at(), 2 * cells, 0.3 * float(np.sqrt(cells))
    branch = case.branch(to=LAST)
    (first, _), (hopf,) = branch.of_kind("fold"), branch.of_kind("hopf")
    equilibria = CONSTANTS % (n, 1, 0, "[1]", 1, 2000, 0.01, long, 1, [LAST])
    labels = started(folder, equilibria)

    def located(branch: Any) -> dict[str, float]:
        (a, b), (h,) = branch.of_kind("fold"), branch.of_kind("hopf")
        folds = [fold_at(each.x, each.value, BETA) for each in (a, b)]
        return {"fold": folds[0], "fold 2": folds[1], "hopf": hopf_at(h.x, h.value, BETA, h.omega)}

    folds = CONSTANTS % (n, 1, labels["2"], "[1,2]", 2, 2000, 0.01, long, 2, [HEATED, 3.0])
    hopfs = CONSTANTS % (n, 1, labels["3"], "[1,2]", 2, 2000, 0.01, long, 2, [COOLED])
    return [
        Row("equilibria", lambda: case.branch(to=LAST, step=LONG), equilibria, "", kept, located),
        Row(
            "folds", lambda: first.curve("beta", to=3.0, bounds=(HEATED, 3.0), step=LONG), folds, "equilibria",
            lambda curve: [*kept(curve), ("end", curve[-1]["D"])],
            lambda curve: {"end": fold_at(curve[-1].x, curve[-1]["D"], HEATED)}, -1,
        ),
        Row(
            "Hopf points", lambda: hopf.curve("beta", to=COOLED, step=LONG), hopfs, "equilibria",
            lambda curve: [*kept(curve), ("end", curve[-1]["D"])],
            lambda curve: {"end": hopf_at(curve[-1].x, curve[-1]["D"], COOLED, curve[-1].omega)}, -1,
        ),
    ]  # fmt: skip


def started(folder: Path, constants: str) -> dict[str, int]:
    """AUTO's equilibria in a file, and the labels of the first special point of each kind."""
    (folder / "nothing").write_text("")
    ran(folder, constants, "nothing")
    (folder / "equilibria").write_text((folder / "fort.8").read_text())
    labels: dict[str, int] = {}
    for row in rows_of(folder):
        labels.setdefault(row[2], int(row[3]))
    return labels


def ran(folder: Path, constants: str, restart: str) -> float:
    """Seconds of the processor that AUTO took."""
    (folder / "fort.2").write_text(constants)
    (folder / "fort.3").write_text((folder / (restart or "nothing")).read_text())
    return run(folder)[1]


def found_by_auto(folder: Path, column: int) -> list[tuple[str, float]]:
    """Special points in order, a cusp that is reported twice once; the end, where it is a curve."""
    points = rows_of(folder)
    found: list[tuple[str, float]] = []
    for row in points:
        kind = KINDS.get(row[2].lstrip("-"))
        again = found and found[-1][0] == kind and np.isclose(found[-1][1], float(row[column]), rtol=AUTO_SHARP)
        if kind and not again:
            found.append((kind, float(row[column])))
    return found if column == 4 else [*found, ("end", float(points[-1][4]))]


# Comparisons


def compare(cells: int, ratios: list[float]) -> None:
    case, repeats, at_once = reactor(cells).at(), REPEATS[cells], AT_ONCE.get(cells, 1)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        source = written(case.system.flow, case.numbers, ["D", "beta"], np.zeros(2 * cells))
        print(f"{2 * cells} states; AUTO-07p compiled in {compiled(source, folder):.1f} s", flush=True)
        rows = rows_for(cells, folder)
        one = CONSTANTS % (2 * cells, 1, 0, "[1]", 1, 1, 0.01, 0.1, 1, [LAST])
        start = min(ran(folder, one, "") for _ in range(5))
        for row in rows:
            row.ours()
            pfaffs, autos = [], []
            for _ in range(repeats):
                seconds, result = least(row.ours, at_once)
                pfaffs.append(seconds)
                autos += [ran(folder, row.auto, row.restart) for _ in range(at_once)]
            theirs = found_by_auto(folder, row.column)
            checked(f"{2 * cells} states, {row.name}", row, result, theirs)
            told(row.name, min(pfaffs), len(result), min(autos), len(rows_of(folder)), start, ratios)


def checked(what: str, row: Row, result: Any, theirs: list[tuple[str, float]]) -> None:
    """The same special points, where their defining equations have them, and no less accurate than AUTO's."""
    ours = row.found(result)
    kinds = [kind for kind, _ in ours], [kind for kind, _ in theirs]
    demand(f"{what}: pfaff finds {', '.join(kinds[0])}, AUTO-07p {', '.join(kinds[1])}", kinds[0] == kinds[1])
    exact, seen = row.exact(result), dict.fromkeys(kinds[0], 0)
    for (kind, value), (_, other) in zip(ours, theirs, strict=True):
        seen[kind] += 1
        name = kind if seen[kind] == 1 else f"{kind} {seen[kind]}"
        reference = exact.get(name)
        if reference is None:
            verify(f"{what}, {name}: AUTO-07p against pfaff", abs(other / value - 1), AUTO_SHARP)
            continue
        verify(f"{what}, {name}: AUTO-07p", abs(other / reference - 1), AUTO_SHARP)
        verify(f"{what}, {name}: pfaff", abs(value / reference - 1), SHARP)


def told(
    name: str, ours: float, points: int, auto: float, theirs: int, start: float, ratios: list[float], more: str = ""
) -> None:
    ratios.append(auto / ours)
    alone = max(auto - start, 0.0)
    print(
        f"  {name:12s} pfaff {1e3 * ours:8.1f} ms, {points:3d} points; AUTO-07p {1e3 * auto:8.1f} ms, {theirs:3d} "
        f"(start {1e3 * start:.1f}): faster {auto / ours:.2f}×, without its start {alone / ours:.2f}×{more}",
        flush=True,
    )


def cycles(cells: int, ratios: list[float]) -> None:
    """From the Hopf point on, so many orbits; AUTO's go about as far."""
    case, n, many = reactor(cells).at(), 2 * cells, CYCLES[cells]
    (special,) = case.branch(to=LAST).of_kind("hopf")
    hopf = special.hopf
    demand("the Hopf point of a parameter is one of case.hopf", hopf is not None)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        compiled(written(case.system.flow, case.numbers, ["D", "beta"], np.zeros(n)), folder)
        long = float(np.sqrt(cells))
        labels = started(folder, CONSTANTS % (n, 1, 0, "[1]", 1, 2000, 0.01, 0.3 * long, 1, [LAST]))
        one = CONSTANTS % (n, 1, 0, "[1]", 1, 1, 0.01, 0.1, 1, [LAST])
        start = min(ran(folder, one, "") for _ in range(5))
        constants = CONSTANTS % (n, 2, labels["3"], "[1,11]", 1, many, 0.05, 0.5 * long, 1, [0.0])

        def ours() -> Any:
            return hopf.orbits(to=0.01, points=many, accuracy=EQUAL)

        ours()
        pfaffs, autos = [], []
        for _ in range(REPEATS[cells]):
            seconds, branch = least(ours)
            pfaffs.append(seconds)
            autos.append(ran(folder, constants, "equilibria"))
        rows = rows_of(folder)
        end, period = float(rows[-1][4]), float(rows[-1][-1])
        last, exact = branch[-1], hopf.orbits(to=end)[-1]
        demand(f"{n} states, cycles: pfaff comes to where AUTO-07p ends", abs(exact.value - end) < 1e-12)
        closed(f"{n} states, the orbit to compare with", exact, SHARP)
        other = abs(period / exact.period - 1)
        verify(f"{n} states, the last period of AUTO-07p", other, AUTO_SHARP)
        error = closed(f"{n} states, cycles", last, max(other, SHARP))
        more = f"; error {error:.0e} against {other:.0e}, to D = {last.value:.4f} and {end:.4f}"
        told("cycles", min(pfaffs), len(branch), min(autos), len(rows), start, ratios, more)


def closed(what: str, point: Any, allowed: float) -> float:
    """How far an orbit is from closing after its period, relative to what it moves by meanwhile."""
    orbit = point.orbit
    x, n = orbit.x[:, 0], len(orbit.x)
    motion = solve_ivp(
        lambda t, x: rates(x, point.value, BETA), (0, point.period), x, method="LSODA", rtol=1e-12, atol=1e-13,
        jac=lambda t, x: linear(x, point.value, BETA),
    )  # fmt: skip
    error = float(np.linalg.norm(motion.y[:, -1] - x) / np.linalg.norm(np.ptp(orbit.x, axis=1)) / np.sqrt(n))
    verify(f"{what}, closed after a period", error, allowed)
    return error


def main() -> None:
    if not LIBRARY.exists():
        print(f"AUTO-07p is not installed ({LIBRARY}): nothing to compare with")
        return
    ratios: list[float] = []
    chosen = [int(each) for each in sys.argv[1:]]
    for cells in chosen or CELLS:
        if cells in CELLS:
            compare(cells, ratios)
    for cells in chosen or CYCLES:
        if cells in CYCLES:
            print(f"{2 * cells} states", flush=True)
            cycles(cells, ratios)
    print(f"all verified; faster in the median {median(ratios):.2f}×, at least {min(ratios):.2f}×")


if __name__ == "__main__":
    main()
