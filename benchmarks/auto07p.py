"""AUTO-07p as a program of its own (Debian packages auto-07p and gfortran): equations written as C, compiled and run.

It gets the right-hand side and its analytic Jacobian as straight-line C, one statement for each elementary operation,
compiled with -O3, and one thread.
"""

from __future__ import annotations

import os
import re
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

import heyoka as hy
import numpy as np

from pfaff.flow.flow import Flow
from verified import processor_of_children

LIBRARY = Path("/usr/lib/auto-07p")
LONG, PIECE = 20_000, 200  # statements beyond which a function is cut into pieces, and of a piece

SOURCE = """#include "auto_f2c.h"
#include <math.h>
#define sub(a, b) ((a) - (b))
#define div(a, b) ((a) / (b))
%s
int func(integer ndim, const doublereal *x, const integer *icp, const doublereal *par, integer ijac,
         doublereal *f, doublereal *dfdu, doublereal *dfdp) {
%s
  return 0;
}
int stpnt(integer ndim, doublereal t, doublereal *u, doublereal *par) {
  %s
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


def written(flow: Flow, numbers: np.ndarray, names: Sequence[str], x: np.ndarray) -> str:
    """The C of a flow in these parameters, PAR(1), PAR(2) and so on, with a state to start from; f, and with ∂f/∂x and
    ∂f/∂p where they are asked for."""
    n, places = len(flow.states), [flow.system.parameter_names.index(name) for name in names]
    free = [hy.expression(f"parameter {name}") for name in names]
    values = {hy.par[i]: hy.expression(float(value)) for i, value in enumerate(numbers)}
    values |= {hy.par[place]: each for place, each in zip(places, free, strict=True)}
    f = hy.subs(list(flow.expressions), values)
    variables = [*flow.variables, *free]
    J = hy.diff_tensors(f, variables, diff_order=1).jacobian
    simple = [f"f[{i}]" for i in range(n)]
    derivatives = []
    for i in range(n):
        derivatives += [f"dfdu[{i} + {j} * ndim]" for j in range(n)]
        derivatives += [f"if (ijac > 1) dfdp[{i} + {j} * ndim]" for j in range(len(free))]
    pieces, short = in_pieces("rates", statements(f, variables, n, simple))
    more, long = in_pieces("derivatives", statements([*f, *np.ravel(J)], variables, n, simple + derivatives))
    start = [f"u[{i}] = {float(value)!r};" for i, value in enumerate(x)]
    start += [f"par[{j}] = {float(numbers[place])!r};" for j, place in enumerate(places)]
    body = f"  if (ijac == 0) {{\n{short}\n  return 0;\n  }}\n{long}"
    return SOURCE % (pieces + more, body, "\n  ".join(start))


def statements(
    expressions: list[hy.expression], variables: list[hy.expression], states: int, targets: list[str]
) -> list[str]:
    n = len(variables)
    graph = [str(each) for each in hy.cfunc(list(expressions), list(variables), opt_level=0).dc]
    inner, outer = graph[n : len(graph) - len(targets)], graph[len(graph) - len(targets) :]
    lines = [f"double u_{i} = {f'x[{i}]' if i < states else f'par[{i - states}]'};" for i in range(n)]
    lines += [f"double u_{n + k} = {as_c(each)};" for k, each in enumerate(inner)]
    return lines + [f"{target} = {as_c(each)};" for target, each in zip(targets, outer, strict=True)]


def in_pieces(name: str, lines: list[str]) -> tuple[str, str]:
    """Functions that share an array of values, and the calls of them; a few statements need no function."""
    if len(lines) < LONG:
        return "", "\n".join(lines)
    lines = [re.sub(r"\bu_(\d+)\b", rf"{name}[\1]", line.removeprefix("double ")) for line in lines]
    pieces = [lines[low : low + PIECE] for low in range(0, len(lines), PIECE)]
    given = "const double *x, const double *par, integer ndim, integer ijac, double *f, double *dfdu, double *dfdp"
    functions = [
        f"static __attribute__((noinline)) void {name}_{k}({given}) {{\n" + "\n".join(piece) + "\n}\n"
        for k, piece in enumerate(pieces)
    ]
    calls = [f"{name}_{k}(x, par, ndim, ijac, f, dfdu, dfdp);" for k in range(len(pieces))]
    return f"static double {name}[{len(lines)}];\n" + "".join(functions), "\n".join(calls)


def as_c(operation: str) -> str:
    operation = operation.replace("combined_sin", "sin").replace("combined_cos", "cos")
    return re.sub(r"(-?[\w.+]+)\*\*(-?[\w.+]+)", r"pow(\1, \2)", operation)


def compiled(source: str, folder: Path, level: str = "-O3") -> float:
    """AUTO's program ``auto.exe`` with these equations, in a folder; the seconds that it took."""
    (folder / "equations.c").write_text(source)
    start = time.perf_counter()
    shell(folder, "gcc", level, "-ffast-math", "-march=native", "-c", "equations.c", "-o", "equations.o")
    objects = [str(each) for each in sorted((LIBRARY / "lib").glob("*.o"))]
    library = [f"-L{LIBRARY / 'lib'}", "-lauto_c", "-lm"]
    shell(folder, "gfortran", "-fopenmp", "equations.o", *objects, *library, "-o", "auto.exe")
    return time.perf_counter() - start


def run(folder: Path) -> tuple[float, float]:
    """AUTO's program with the constants that are in the folder: its seconds by the clock, and of the processor."""
    before, start = processor_of_children(), time.perf_counter()
    shell(folder, "./auto.exe")
    return time.perf_counter() - start, processor_of_children() - before


def rows_of(folder: Path) -> list[list[str]]:
    """The points that it wrote, a row each: branch, point, type, label, and what was asked for."""
    rows = [line.split() for line in (folder / "fort.7").read_text().splitlines()]
    return [row for row in rows if row and row[0] != "0"]


def shell(folder: Path, *command: str) -> None:
    done = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, check=False, env={**os.environ, "OMP_NUM_THREADS": "1"}
    )
    if done.returncode:
        raise SystemExit(f"{' '.join(command[:2])} failed: {done.stderr[:500]}")
