"""AUTO-07p (Doedel et al.): equations with analytic derivatives in Fortran, and a file of constants."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from pfaff.export.notation import Notation, identifiers
from pfaff.export.reduced_equations import Equations, entries, steps
from pfaff.flow.program import Program
from pfaff.statement.names import spelled

RESERVED = range(10, 15)  # PAR(10) … PAR(14) are AUTO's own: the period, the time and others


def parameter_index(k: int) -> int:
    """Where AUTO keeps the k-th parameter, counted from zero."""
    return k + 1 if k + 1 < RESERVED.start else k + 1 + len(RESERVED)


def _number(value: float) -> str:
    text = repr(float(value))
    return text.replace("e", "d") if "e" in text else f"{text}d0"


FORTRAN = Notation(
    language="Fortran",
    state=lambda k: f"U({k + 1})",
    parameter=lambda k: f"PAR({parameter_index(k)})",
    step=lambda k: f"W({k + 1})",
    number=_number,
)


def files(equations: Equations) -> dict[str, str]:
    """``name.f90`` and ``c.name``: in AUTO, ``run("name")``; on the shell, ``@r name``."""
    return {f"{equations.name}.f90": _source(equations), f"c.{equations.name}": _constants(equations)}


def _source(e: Equations) -> str:
    rates, by_state, by_parameter = e.rates, e.jacobian, e.parameter_jacobian
    room = max(len(each.steps) for each in (rates, by_state, by_parameter)) or 1
    lines = [
        f"! {e.title}: reduced equations of motion for AUTO-07p, with analytic derivatives. Written by pfaff.",
        *(f"! {line}" for line in (*e.named_states(FORTRAN), *e.named_parameters(FORTRAN), *e.notes)),
        "SUBROUTINE FUNC(NDIM, U, ICP, PAR, IJAC, F, DFDU, DFDP)",
        "IMPLICIT NONE",
        "INTEGER, INTENT(IN) :: NDIM, ICP(*), IJAC",
        "DOUBLE PRECISION, INTENT(IN) :: U(NDIM), PAR(*)",
        "DOUBLE PRECISION, INTENT(OUT) :: F(NDIM)",
        "DOUBLE PRECISION, INTENT(INOUT) :: DFDU(NDIM, NDIM), DFDP(NDIM, *)",
        f"DOUBLE PRECISION W({room})",
        *steps(rates, FORTRAN),
        *(f"F({k + 1}) = {FORTRAN.write(node)}" for k, node in enumerate(rates.results)),
        "IF (IJAC .EQ. 0) RETURN",
        *_matrix(by_state, e.size, "DFDU({}, {}) = {}", lambda k: k + 1, "DFDU = 0d0"),
        "IF (IJAC .EQ. 1) RETURN",
        *_matrix(by_parameter, len(e.parameters), "DFDP({}, {}) = {}", parameter_index, _zeros(e)),
        "END SUBROUTINE FUNC",
        "",
        "SUBROUTINE STPNT(NDIM, U, PAR, T)",
        "IMPLICIT NONE",
        "INTEGER, INTENT(IN) :: NDIM",
        "DOUBLE PRECISION, INTENT(INOUT) :: U(NDIM), PAR(*)",
        "DOUBLE PRECISION, INTENT(IN) :: T",
        *(f"PAR({parameter_index(k)}) = {_number(value)}" for k, value in enumerate(e.values)),
        *(f"U({k + 1}) = {_number(value)}" for k, value in enumerate(e.start)),
        "END SUBROUTINE STPNT",
        "",
        *(f"{word} {name}" for name in UNUSED for word in ("SUBROUTINE", "END SUBROUTINE")),
    ]  # fmt: skip
    return "\n".join(wrapped for line in lines for wrapped in _wrapped(line)) + "\n"


UNUSED = ("BCND", "ICND", "FOPT", "PVLS")  # what AUTO calls for other problems


def _zeros(e: Equations) -> str:
    return f"DFDP(:, 1:{parameter_index(len(e.parameters) - 1)}) = 0d0"


def _matrix(program: Program, columns: int, text: str, column: object, zeros: str) -> list[str]:
    assert callable(column)
    values = [text.format(i + 1, column(j), FORTRAN.write(node)) for i, j, node in entries(program, columns)]
    return [zeros, *steps(program, FORTRAN), *values]


def _wrapped(line: str) -> list[str]:
    """Lines of Fortran have at most 132 characters; the rest is continued."""
    pieces = textwrap.wrap(line, 120, break_long_words=False, break_on_hyphens=False) or [""]
    if line.startswith("!"):
        return [pieces[0], *(f"! {piece}" for piece in pieces[1:])]
    return [f"{piece} &" for piece in pieces[:-1]] + pieces[-1:]


def _words(names: Sequence[str]) -> list[str]:
    return identifiers(list(map(spelled, names)), ())


def _constants(e: Equations) -> str:
    start, end = e.values[e.varied], e.end
    low, high = min(start, end), max(start, end)
    states = ", ".join(f"{k + 1}: '{name}'" for k, name in enumerate(_words(e.states)))
    named = enumerate(_words(e.parameters))
    parameters = ", ".join(f"{parameter_index(k)}: '{name}'" for k, name in named)
    top = max(parameter_index(len(e.parameters) - 1), 36)
    return f"""# {e.title}: equilibria as {e.parameters[e.varied]} goes from {start!r} to {end!r}. Written by pfaff.
unames = {{{states}}}
parnames = {{{parameters}}}
NDIM = {e.size}, IPS = 1, IRS = 0, ILP = 1
ICP = [{parameter_index(e.varied)}]
NTST = 50, NCOL = 4, IAD = 3, ISP = 2, ISW = 1, IPLT = 0, NBC = 0, NINT = 0
NMX = 1000, NPR = 1000, MXBF = 10, IID = 2, ITMX = 9, ITNW = 7, NWTN = 3, JAC = 1
EPSL = 1e-10, EPSU = 1e-10, EPSS = 1e-08
DS = {(end - start) / 200!r}, DSMIN = {abs(end - start) * 1e-8!r}, DSMAX = {abs(end - start) / 50!r}, IADS = 1
NPAR = {top}, THL = {{}}, THU = {{}}
RL0 = {low!r}, RL1 = {high!r}
UZSTOP = {{{parameter_index(e.varied)}: {end!r}}}
"""
