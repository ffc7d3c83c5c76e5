"""Branches of periodic orbits against AUTO-07p: the column on a skate, from the Hopf point to F = 100.

AUTO (Debian packages auto-07p and gfortran) gets the same equations with analytic Jacobians as straight-line C,
compiled with -O3, one thread, NTST 50, NCOL 4, folds, branch points and Floquet multipliers on; it solves the whole
period, where pfaff uses the odd symmetry. AUTO's time is that of its process, start and files included; pfaff's is that
of ``hopf.orbits`` alone, imports and compilation left out. The two take different numbers of points, so that both the
time of the branch and that per point are printed. Period errors are at the last load of each.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import heyoka as hy
import numpy as np

import pfaff

LIBRARY = Path("/usr/lib/auto-07p")
ENDS = {2: 100.0, 5: 0.7, 10: 0.3}  # loads to which cycles are followed, by the number of bars
ACCURACY = 1e-5  # asked of pfaff; its period comes out more accurate than AUTO's at NTST 50
REPEAT = 5

SOURCE = """#include "auto_f2c.h"
#include <math.h>
#define sub(a, b) ((a) - (b))
#define div(a, b) ((a) / (b))
int func(integer ndim, const doublereal *x, const integer *icp, const doublereal *par, integer ijac,
         doublereal *f, doublereal *dfdu, doublereal *dfdp) {
%s
  return 0;
}
int stpnt(integer ndim, doublereal t, doublereal *u, doublereal *par) {
  for (int i = 0; i < ndim; i++) u[i] = 0.0;
  par[0] = %r;
  return 0;
}
int pvls(integer ndim, const doublereal *u, doublereal *par) { return 0; }
int bcnd(integer ndim, const doublereal *par, const integer *icp, integer nbc, const doublereal *u0,
         const doublereal *u1, integer ijac, doublereal *f, doublereal *dbc) { return 0; }
int icnd(integer ndim, const doublereal *par, const integer *icp, integer nint, const doublereal *u,
         const doublereal *uold, const doublereal *udot, const doublereal *upold, integer ijac,
         doublereal *fi, doublereal *dint) { return 0; }
int fopt(integer ndim, const doublereal *u, const integer *icp, const doublereal *par, integer ijac,
         doublereal *fs, doublereal *dfdu, doublereal *dfdp) { return 0; }
"""
CONSTANTS = """NDIM=%d, IPS=%d, IRS=%d, ILP=%d, ICP=%s, NTST=50, NCOL=4, IAD=3, ISP=2, ISW=1, IPLT=0, NBC=0, NINT=0
NMX=2000, NPR=100000, MXBF=0, IID=2, ITMX=8, ITNW=7, NWTN=3, JAC=1, EPSL=1e-7, EPSU=1e-7, EPSS=1e-5
DS=%r, DSMIN=1e-5, DSMAX=%r, IADS=1, UZSTOP={1: %r}
"""


def case_of(bars: int) -> pfaff.Case:
    return pfaff.atlas.column(bars, "skate", "dead").at(d="1/2", M_L=15, I_L=15, k1=50, c_i="3/2")


def straight_line(case: pfaff.Case) -> str:
    """f, and with ∂f/∂x and ∂f/∂F where they are asked for, as C: one statement for each elementary operation."""
    flow = case.system.shape
    n, place = len(flow.states), case.system.parameter_names.index("F")
    load = hy.expression("load of the column")
    values = {hy.par[i]: load if i == place else hy.expression(float(v)) for i, v in enumerate(case.numbers)}
    f = hy.subs(list(flow.expressions), values)
    J = hy.diff_tensors(f, [*flow.variables, load], diff_order=1).jacobian
    simple = [f"f[{i}]" for i in range(n)]
    derivatives = []
    for i in range(n):
        derivatives += [f"dfdu[{i} + {j} * ndim]" for j in range(n)] + [f"if (ijac > 1) dfdp[{i}]"]
    variables = [*flow.variables, load]
    short, long = statements(f, variables, simple), statements([*f, *np.ravel(J)], variables, simple + derivatives)
    return f"  if (ijac == 0) {{\n{short}\n  return 0;\n  }}\n{long}"


def statements(expressions: list[hy.expression], variables: list[hy.expression], targets: list[str]) -> str:
    n = len(variables)
    graph = [str(each) for each in hy.cfunc(list(expressions), list(variables)).dc]
    inner, outer = graph[n : len(graph) - len(targets)], graph[len(graph) - len(targets) :]
    lines = [f"  double u_{i} = {f'x[{i}]' if i < n - 1 else 'par[0]'};" for i in range(n)]
    lines += [f"  double u_{n + k} = {as_c(each)};" for k, each in enumerate(inner)]
    lines += [f"  {target} = {as_c(each)};" for target, each in zip(targets, outer, strict=True)]
    return "\n".join(lines)


def as_c(operation: str) -> str:
    operation = operation.replace("combined_sin", "sin").replace("combined_cos", "cos")
    return re.sub(r"(-?[\w.+]+)\*\*(-?[\w.+]+)", r"pow(\1, \2)", operation)


def auto(bars: int, to: float, folder: Path) -> tuple[float, int, float, list[str], float]:
    """Seconds, points and last period of AUTO's branch, its labels and its last load."""
    case = case_of(bars)
    hopf = case.hopf()
    n = len(hopf.x)
    (folder / "column.c").write_text(SOURCE % (straight_line(case), 0.99 * hopf.value))
    shell(folder, "gcc", "-O3", "-ffast-math", "-march=native", "-c", "column.c", "-o", "column.o")
    objects = [str(each) for each in sorted((LIBRARY / "lib").glob("*.o"))]
    library = [f"-L{LIBRARY / 'lib'}", "-lauto_c", "-lm"]
    shell(folder, "gfortran", "-fopenmp", "column.o", *objects, *library, "-o", "column.exe")
    (folder / "fort.3").write_text("")
    small = 1e-3 * hopf.value
    (folder / "fort.2").write_text(CONSTANTS % (n, 1, 0, 0, "[1]", small, 5 * small, 1.01 * hopf.value))
    run(folder)
    labels = (folder / "fort.8").read_text()
    (folder / "fort.3").write_text(labels)
    (folder / "fort.2").write_text(CONSTANTS % (n, 2, 2, 1, "[1, 11]", 0.02, 0.5, to))
    best = np.inf
    for _ in range(REPEAT):
        start = time.perf_counter()
        run(folder)
        best = min(best, time.perf_counter() - start)
    rows = [line.split() for line in (folder / "fort.7").read_text().splitlines()]
    points = [row for row in rows if row and row[0].lstrip("-") not in ("0",)]
    kinds = {"5": "fold", "6": "branch point", "7": "period doubling", "8": "torus"}
    found = [f"{kinds[row[2]]} {float(row[4]):.5f}" for row in points if row[2] in kinds]
    return best, len(points), float(points[-1][-1]), found, float(points[-1][4])


def run(folder: Path) -> None:
    shell(folder, "./column.exe")


def shell(folder: Path, *command: str) -> None:
    done = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, check=False, env={**os.environ, "OMP_NUM_THREADS": "1"}
    )
    if done.returncode:
        raise SystemExit(f"{' '.join(command[:2])} failed: {done.stderr[:500]}")


def ours(bars: int, to: float, **options: float) -> tuple[float, int, float, list[str], float]:
    hopf = case_of(bars).hopf()
    start = time.perf_counter()
    hopf.orbits(to=to, points=3)
    compilation = time.perf_counter() - start
    best = np.inf
    for _ in range(REPEAT):
        start = time.perf_counter()
        branch = hopf.orbits(to=to, **options)
        best = min(best, time.perf_counter() - start)
    found = [f"{special.kind} {special.value:.5f}" for special in branch.special]
    return best, len(branch), branch[-1].period, found, compilation


def reference(bars: int, load: float) -> float:
    """The period at a load, to rounding: AUTO ends near the load asked for, not on it."""
    return case_of(bars).hopf().orbits(to=load, accuracy=1e-13)[-1].period


def report(name: str, seconds: float, points: int, error: float, found: list[str]) -> None:
    print(
        f"  {name:9s} {1e3 * seconds / points:7.3f} ms a point, {points} points, {1e3 * seconds:.1f} ms, "
        f"period error {error:.1e}; {', '.join(found) or 'no labels'}"
    )


def main() -> None:
    for bars in [int(each) for each in sys.argv[1:]] or ENDS:
        to = ENDS[bars]
        print(f"{bars} bars, cycles to F = {to:g}")
        seconds, points, period, found, compilation = ours(bars, to, accuracy=ACCURACY)
        report("pfaff", seconds, points, abs(period - reference(bars, to)), found)
        print(f"            compilation, once: {compilation:.2f} s")
        if LIBRARY.exists():
            with tempfile.TemporaryDirectory() as folder:
                theirs = auto(bars, to, Path(folder))
            report("AUTO-07p", *theirs[:2], abs(theirs[2] - reference(bars, theirs[4])), theirs[3])
            per_point = theirs[0] / theirs[1] / (seconds / points)
            print(f"            faster per point {per_point:.1f}×, for the branch {theirs[0] / seconds:.1f}×")


if __name__ == "__main__":
    main()
