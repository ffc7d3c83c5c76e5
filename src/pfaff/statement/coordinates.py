"""Coordinates: functions of time, each with a name of its own."""

from __future__ import annotations

from collections.abc import Sequence

import sympy as sm

from pfaff.errors import StatementError
from pfaff.statement.names import checked_name
from pfaff.statement.told import rightly_asked
from pfaff.statement.values import listed, shown

TIME = sm.Symbol("t")


@rightly_asked
def coordinates(names: str) -> list[sm.Expr]:
    """Functions of time for coordinates, ``coordinates("x y phi")``.

    The same objects as SymPy's ``dynamicsymbols`` makes, without loading its mechanics package.
    """
    if not isinstance(names, str):
        raise StatementError(f"coordinates({shown(names)}): write their names in one text, coordinates('x y phi')")
    words = [checked_name(name, "coordinate") for name in names.replace(",", " ").split()]
    return [sm.Function(name)(TIME) for name in words]


def checked_coordinates(given: Sequence[sm.Expr]) -> tuple[sm.Expr, ...]:
    if isinstance(given, sm.core.function.AppliedUndef | sm.MatrixBase):  # one alone, or a column of them
        given = [given] if isinstance(given, sm.Expr) else list(given)
    found = listed("coordinates", given, "dynamicsymbols('x y')", StatementError)
    if not found:
        raise StatementError("a system needs at least one coordinate, such as dynamicsymbols('theta')")
    for q in found:
        if not (isinstance(q, sm.core.function.AppliedUndef) and len(q.args) == 1):
            name = q if isinstance(q, str | sm.Symbol) and str(q).isidentifier() else "x"
            raise StatementError(
                f"coordinate {shown(q)} is not a function of time: make it with {name} = dynamicsymbols('{name}'), "
                f"before the expressions are written, which must contain this {name} as well"
            )
    if len({q.args[0] for q in found}) > 1:
        raise StatementError("the coordinates depend on different times: use one time symbol for all")
    checked_name(str(found[0].args[0]), "time")
    names = [checked_name(q.func.__name__, "coordinate") for q in found]
    for name in names:
        if name.removesuffix("_dot") in names and name.endswith("_dot"):
            raise StatementError(f"coordinate {name!r} has the name of a velocity: rename it")
        if names.count(name) > 1:
            raise StatementError(f"coordinate {name!r} is listed twice: give each coordinate its own name")
    return found
