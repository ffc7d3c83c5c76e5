"""C99: f, ∂f/∂x and ∂f/∂p as functions of arrays, for whatever integrator or model they are linked into."""

from __future__ import annotations

from pfaff.export.notation import Notation
from pfaff.export.reduced_equations import Equations, steps
from pfaff.flow.program import Program

C = Notation(language="C", state=lambda k: f"x[{k}]", parameter=lambda k: f"p[{k}]", power=None)


def files(equations: Equations) -> dict[str, str]:
    """``name.c``; matrices are stored row after row."""
    e = equations
    about = f"{e.title}: reduced equations of motion and their Jacobians. Written by pfaff."
    head, *more = map(_remark, (about, *e.named_states(C), *e.named_parameters(C), *e.notes))
    text = [
        f"/* {head}",
        *(f"   {line}" for line in more),
        "*/",
        "#include <math.h>",
        "",
        f"const int {e.name}_size = {e.size}, {e.name}_parameter_count = {len(e.parameters)};",
        f"const double {e.name}_start[] = {{{', '.join(map(repr, e.start))}}};",
        f"const double {e.name}_parameters[] = {{{', '.join(map(repr, e.values)) or '0'}}};",
        *_function(f"{e.name}", "f", e.rates),
        *_function(f"{e.name}_jacobian", "J", e.jacobian),
        *_function(f"{e.name}_parameter_jacobian", "J", e.parameter_jacobian),
    ]
    return {f"{e.name}.c": "\n".join(text) + "\n"}


def _remark(line: str) -> str:
    """A line that neither ends the comment it stands in nor opens another."""
    return line.replace("*/", "* /").replace("/*", "/ *")


def _function(name: str, into: str, program: Program) -> list[str]:
    return [
        "",
        f"void {name}(const double *x, const double *p, double *{into})",
        "{",
        "    (void)x; (void)p;",
        *(f"    {step}" for step in steps(program, C, "const double {} = {};")),
        *(f"    {into}[{k}] = {C.write(node)};" for k, node in enumerate(program.results)),
        "}",
    ]
