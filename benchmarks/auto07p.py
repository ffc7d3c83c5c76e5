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

import numpy as np

from pfaff.flow.differentiation import jacobian_entries
from pfaff.flow.flow import Flow
from pfaff.flow.graph import Expression, expression, ordered, par, subs
from verified import processor_of_children

LIBRARY = Path("/usr/lib/auto-07p")
LONG, PIECE = 20_000, 200  # statements beyond which a function is cut into pieces, and of a piece

SOURCE = """#include "auto_f2c.h"
#include <math.h>
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
    free = [expression(f"parameter {name}") for name in names]
    values = {par[i]: expression(float(value)) for i, value in enumerate(numbers)}
    values |= {par[place]: each for place, each in zip(places, free, strict=True)}
    f = subs(flow.expressions, values)
    variables = [*flow.variables, *free]
    J = jacobian_entries(f, variables)
    simple = [f"f[{i}]" for i in range(n)]
    derivatives = []
    for i in range(n):
        derivatives += [f"dfdu[{i} + {j} * ndim]" for j in range(n)]
        derivatives += [f"if (ijac > 1) dfdp[{i} + {j} * ndim]" for j in range(len(free))]
    pieces, short = in_pieces("rates", statements(f, variables, n, simple))
    more, long = in_pieces("derivatives", statements([*f, *J], variables, n, simple + derivatives))
    start = [f"u[{i}] = {float(value)!r};" for i, value in enumerate(x)]
    start += [f"par[{j}] = {float(numbers[place])!r};" for j, place in enumerate(places)]
    body = f"  if (ijac == 0) {{\n{short}\n  return 0;\n  }}\n{long}"
    return SOURCE % (pieces + more, body, "\n  ".join(start))


def statements(
    expressions: Sequence[Expression], variables: Sequence[Expression], states: int, targets: Sequence[str]
) -> list[str]:
    known = {x: f"u_{i}" for i, x in enumerate(variables)}
    lines = [f"double u_{i} = {f'x[{i}]' if i < states else f'par[{i - states}]'};" for i in range(len(variables))]
    for e in ordered(expressions):
        if e.op == "number":
            known[e] = f"({e.value!r})"
        elif e not in known:
            known[e] = f"u_{len(lines)}"
            lines.append(f"double {known[e]} = {as_c(e, known)};")
    return lines + [f"{target} = {known[e]};" for target, e in zip(targets, expressions, strict=True)]


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


def as_c(e: Expression, known: dict[Expression, str]) -> str:
    args = [known[a] for a in e.args]
    signs = {"add": " + ", "sub": " - ", "mul": " * ", "div": " / "}
    if e.op in signs:
        return signs[e.op].join(args)
    if e.op == "square":
        return f"{args[0]} * {args[0]}"
    return f"-{args[0]}" if e.op == "neg" else f"{e.op}({', '.join(args)})"


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
