"""NumPy: a module with f and its Jacobians, for one state or for columns of states, that needs nothing of pfaff."""

from __future__ import annotations

from pfaff.export.notation import Notation
from pfaff.export.reduced_equations import Equations, entries, steps
from pfaff.flow.program import Program

INVERSE = {f"a{name}": f"np.arc{name}" for name in ("sin", "cos", "tan", "tan2", "sinh", "cosh", "tanh")}
PLAIN = {name: f"np.{name}" for name in ("sin", "cos", "tan", "sinh", "cosh", "tanh", "exp", "log", "sqrt")}
NUMPY = Notation(
    language="NumPy",
    state=lambda k: f"x[{k}]",
    parameter=lambda k: f"p[{k}]",
    functions=PLAIN | INVERSE | {"erf": "scipy.special.erf"},
)


def files(equations: Equations) -> dict[str, str]:
    """``name.py``: ``rhs(x)``, ``jacobian(x)``, ``parameter_jacobian(x)``, parameters by position in ``p``."""
    e = equations
    functions = [
        *_function("rhs", "f(x)", e.rates, e.size, None),
        *_function("jacobian", "∂f/∂x", e.jacobian, e.size, e.size),
        *_function("parameter_jacobian", "∂f/∂p", e.parameter_jacobian, e.size, len(e.parameters)),
    ]
    text = [
        f'"""{_quoted(e.title)}: reduced equations of motion and their Jacobians. Written by pfaff."""',
        "",
        "import numpy as np",
        *(["import scipy.special"] if any("scipy" in line for line in functions) else []),
        "",
        f"STATES = {list(e.states)!r}",
        f"PARAMETERS = {list(e.parameters)!r}",
        f"VALUES = np.array({e.values!r})",
        *(f"# {note}" for note in e.notes),
        f"START = np.array({e.start!r})",
        *functions,
    ]
    return {f"{e.name}.py": "\n".join(text) + "\n"}


def _quoted(title: str) -> str:
    return title.replace("\\", r"\\").replace('"', r"\"")


def _function(name: str, doc: str, program: Program, rows: int, columns: int | None) -> list[str]:
    """A vector if there are no columns, else a matrix."""
    shape = f"({rows},)" if columns is None else f"({rows}, {columns})"
    places = [(f"{i}" if columns is None else f"{i}, {j}", node) for i, j, node in entries(program, columns or 1)]
    return [
        "",
        "",
        f"def {name}(x, p=VALUES):",
        f'    """{doc}, for a state or an array of states along the other axes."""',
        "    x = np.asarray(x, dtype=float)",
        *(f"    {step}" for step in steps(program, NUMPY)),
        f"    values = np.zeros({shape} + x.shape[1:])",
        *(f"    values[{place}] = {NUMPY.write(node)}" for place, node in places),
        "    return values",
    ]
