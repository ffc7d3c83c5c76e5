"""Velocities that the constraints allow: q̇ = B(q, t) u + β(q, t) with A B = 0, without a division that can die.

A row of constraints in the velocities so far, r·u + s = 0, is eliminated where that is safe: through an entry that
never vanishes, or through one or two entries that vanish only where the constraints lose rank. Three varying entries
have no such basis in general.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import sympy as sm

from pfaff.errors import StatementError
from pfaff.principles.typeset import longer_than, shorter, simplified
from pfaff.statement import Statement, System
from pfaff.statement.characteristic import characteristic
from pfaff.statement.evaluation import evaluated
from pfaff.statement.quasi_velocities import linear_form
from pfaff.statement.values import by_name
from pfaff.threads import once

READABLE = 80  # nodes beyond which SymPy's simplify takes too long
AUTOMATIC = ("u", "nu", "omega", "quasi")  # the first that clashes with nothing that is stated
EXAMPLE = "{'u1': x.diff(t)*cos(phi) + y.diff(t)*sin(phi)}"
SIMPLE = 240  # nodes beyond which an entry of a basis is not simple


def readable(expression: sm.Expr) -> sm.Expr:
    """Simplified if that is quick, else with angles collected."""
    return shorter(expression) if longer_than(READABLE, expression) else simplified(expression)


def _simplified(expression: sm.Expr) -> sm.Expr:
    return expression if longer_than(READABLE, expression) else simplified(expression)


@once(most=1)
def simple_basis(system: System) -> tuple[sm.Matrix, sm.Matrix] | None:
    """B and β of full rank wherever the constraints are independent, or None where no simple ones exist."""
    statement = system.statement
    n = len(statement.v)
    B, beta = sm.eye(n), sm.zeros(n, 1)
    for constraint in statement.constraints:
        row = sm.Matrix([[sm.diff(constraint, v) for v in statement.v]])
        still = constraint.xreplace(dict.fromkeys(statement.v, sm.S.Zero))
        reduced = _eliminated(B, beta, (row * B).applyfunc(_simplified), _simplified((row * beta)[0] + still))
        if reduced is None or any(longer_than(SIMPLE, e) for matrix in reduced for e in matrix):
            return None
        B, beta = (matrix.applyfunc(_simplified) for matrix in reduced)
    return B, beta


def _eliminated(B: sm.Matrix, beta: sm.Matrix, r: sm.Matrix, s: sm.Expr) -> tuple[sm.Matrix, sm.Matrix] | None:
    present = [j for j in range(B.cols) if r[j] != 0]
    certain = [j for j in present if r[j].is_nonzero]
    if certain or len(present) == 1:
        # The simplest entry, and of those the last: dependent velocities are usually stated last.
        i = min(reversed(certain or present), key=lambda j: sm.count_ops(r[j]))
        rest = [j for j in range(B.cols) if j != i]
        columns = [B.col(j) - B.col(i) * (r[j] / r[i]) for j in rest]
        return _side_by_side(B.rows, columns), beta - B.col(i) * (s / r[i])
    if len(present) != 2:
        return None
    i, j = present
    columns = [B.col(c) for c in range(B.cols) if c != j]
    columns[i] = B.col(i) * r[j] - B.col(j) * r[i]
    return _side_by_side(B.rows, columns), beta - (B.col(i) * r[i] + B.col(j) * r[j]) * (s / (r[i] ** 2 + r[j] ** 2))


def _side_by_side(rows: int, columns: list[sm.Matrix]) -> sm.Matrix:
    return sm.Matrix.hstack(*columns) if columns else sm.zeros(rows, 0)


def automatic_names(system: System, count: int) -> tuple[str, ...]:
    """Names for quasi-velocities that were given none: u1, u2, … unless they stand for something else."""
    taken = {*system.moving_names, *system.parameter_names, *system.reaction_names}
    letter = next(x for x in AUTOMATIC if not any(f"{x}{r + 1}" in taken for r in range(count)))
    return tuple(f"{letter}{r + 1}" for r in range(count))


def _by_name(system: System, given: Any) -> dict[str, Any]:
    """Quasi-velocities by name; of a list, those that the system states keep their names, and others are numbered."""
    if not isinstance(given, list | tuple):
        return by_name("quasi_velocities", given, EXAMPLE, StatementError)
    names = automatic_names(system, len(given))
    stated = [each if isinstance(each, str) and each in system.quasi_velocities else None for each in given]
    return {own or name: each for own, name, each in zip(stated, names, given, strict=True)}


def checked_quasi_velocities(system: System, given: Any) -> dict[str, sm.Expr]:
    """As many as the constraints leave free, linear in the velocities and independent of each other and of them."""
    s = system.statement
    k = len(s.q) - len(s.constraints)
    given = _by_name(system, given)
    if len(given) != k:
        raise StatementError(
            f"{len(given)} quasi-velocities for {len(s.q)} coordinates with {len(s.constraints)} constraints: give {k}"
        )
    taken = {*system.state_names, *system.parameter_names}
    chosen = {}
    for name, expression in given.items():
        if not (isinstance(name, str) and name.isidentifier()) or name in {*taken, *system.reaction_names}:
            raise StatementError(f"quasi-velocity {name!r} needs a name of its own, such as 'u1'")
        chosen[name] = linear_form(system, name, expression)
    if _generic_rank(s, [*chosen.values(), *s.constraints]) < len(s.q):
        raise StatementError(
            f"the quasi-velocities {', '.join(chosen)} depend on each other or on the constraints: choose others"
        )
    return chosen


def _generic_rank(statement: Statement, forms: list[sm.Expr]) -> int:
    """The rank of the coefficients of q̇ at a random configuration, in characteristic sizes of all symbols."""
    coefficients = [sm.diff(form, v) for form in forms for v in statement.v]
    symbols = sorted(set().union(*(e.free_symbols for e in coefficients)), key=str)
    sizes = characteristic(coefficients, symbols, {}).usual
    generator = np.random.default_rng(1949)
    ranks = []
    for size in (1.4, 0.7, 0.3):
        values = dict(zip(symbols, sizes * generator.uniform(0.2 * size, size, len(symbols)), strict=True))
        matrix = np.array(evaluated(coefficients, values), dtype=float).reshape(len(forms), -1)
        ranks.append(int(np.linalg.matrix_rank(_equilibrated(matrix))) if np.isfinite(matrix).all() else 0)
    return max(ranks)


def _equilibrated(matrix: np.ndarray) -> np.ndarray:
    """Columns, then rows, with ones for their largest entries: no unit decides on the rank."""
    for axis in (0, 1):
        sizes = np.abs(matrix).max(axis=axis, keepdims=True)
        matrix = matrix / np.where(sizes > 0, sizes, 1.0)
    return matrix


def solved_for_velocities(statement: Statement, quasi_velocities: list[sm.Expr]) -> tuple[sm.Matrix, sm.Matrix]:
    """B and β from u = W q̇ + w and A q̇ + b = 0, solved for q̇."""
    forms = [*quasi_velocities, *statement.constraints]
    G = sm.Matrix([[sm.diff(form, v) for v in statement.v] for form in forms])
    still = sm.Matrix([form.xreplace(dict.fromkeys(statement.v, sm.S.Zero)) for form in forms])
    inverse = G.inv("ADJ").applyfunc(readable)
    return inverse[:, : len(quasi_velocities)], (-inverse * still).applyfunc(readable)
