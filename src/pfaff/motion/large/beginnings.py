"""Initial states of assemblies: given values stay, the others follow from the constraints."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import splu

from pfaff.algebra.newtons_method import newton
from pfaff.errors import ConstraintError, ParameterError
from pfaff.flow.assembly import Rest
from pfaff.flow.initial import KEPT
from pfaff.statement.values import number_from, numbers_from, shown

if TYPE_CHECKING:
    from pfaff.flow.assembly import Assembly
    from pfaff.flow.assembly_equations import Equations

SLIGHT = 1e-14  # relative inertia and compliance that keep the equations of the free coordinates regular


def initial_state(
    assembly: Assembly, equations: Equations, start: Any, velocities: Any
) -> tuple[np.ndarray, np.ndarray]:
    """q and q̇ that obey the constraints. Arrays must obey them as they are; where a mapping is given, the others
    follow."""
    given = start.q if isinstance(start, Rest) else start
    q, free = _given(assembly, "start", given, assembly.start)
    q = _on_positions(assembly, equations, q, free)
    v, free = _given(assembly, "velocities", {} if velocities is None else velocities, np.zeros(assembly.size))
    return q, _on_velocities(assembly, equations, q, v, free)


def _given(assembly: Assembly, what: str, given: Any, others: np.ndarray) -> tuple[np.ndarray, np.ndarray | None]:
    """All values, and which of them may follow from the constraints: None if all are given."""
    if given is None:
        return others, None
    if not isinstance(given, Mapping):
        values = numbers_from(what, given)
        if values.shape != (assembly.size,) or not np.isfinite(values).all():
            raise ParameterError(
                f"{what} of shape {values.shape} for {assembly.name}: give {assembly.size} finite numbers, or a "
                "mapping from the index of a coordinate to its value"
            )
        return values, None
    values, free = others.copy(), np.ones(assembly.size, dtype=bool)
    for index, value in given.items():
        i = _index(assembly, what, index)
        try:
            values[i], free[i] = number_from(f"{what}[{i}]", value), False
        except ParameterError:
            raise ParameterError(f"{what}: coordinate {i} is given {shown(value)}: give a finite number") from None
    return values, free


def _index(assembly: Assembly, what: str, index: Any) -> int:
    if isinstance(index, bool) or not isinstance(index, int | np.integer):
        raise ParameterError(f"{what}: {shown(index)} is no index of a coordinate: give a whole number")
    if not 0 <= index < assembly.size:
        raise ParameterError(
            f"{what}: there is no coordinate {shown(index)}: they are numbered 0 to {assembly.size - 1}"
        )
    return int(index)


def _on_positions(assembly: Assembly, equations: Equations, q: np.ndarray, free: np.ndarray | None) -> np.ndarray:
    """Newton's method with steps of least norm on φ(q) = 0, in the free coordinates; φ decides when it ends, which is
    zero at once if the start is exact."""
    rest = np.zeros(assembly.size)
    if free is None:
        _check(assembly, equations, _phi(equations, q), 1 + np.abs(q).max(), "start")
    free = np.ones(assembly.size, dtype=bool) if free is None else free
    before = np.inf

    def step(q: np.ndarray) -> tuple[np.ndarray, float]:
        nonlocal before
        phi = _phi(equations, q)
        left = np.abs(phi).max(initial=0.0)
        if not 0 < left < before:
            return q, 0.0
        A = equations.slopes(equations.stack(q, rest, rest, np.zeros(equations.m))).matrix("A")
        q = q + _follow(sparse.eye_array(assembly.size), A[equations.holonomic], -phi[equations.holonomic], free)
        before = left if left < 1e-12 * (1 + np.abs(q).max()) else np.inf
        return q, 1.0

    q = newton(step, q).at
    _check(assembly, equations, _phi(equations, q), 1 + np.abs(q).max(), "start")
    return q


def _on_velocities(
    assembly: Assembly, equations: Equations, q: np.ndarray, v: np.ndarray, free: np.ndarray | None
) -> np.ndarray:
    """A v + b = 0 by the change of free velocities that costs least kinetic energy, among those that violated
    constraints contain, and constraints that share some with these."""
    slopes = equations.slopes(equations.stack(q, v, np.zeros(assembly.size), np.zeros(equations.m)))
    A, rates = slopes.matrix("A"), _rates(equations, q, v)
    scale = np.abs(A.data).max(initial=0.0) * np.abs(v).max() + (
        0.0 if free is None else np.abs(rates).max(initial=0.0)
    )
    if free is None:
        _check(assembly, equations, rates, scale, "velocities")
    free = np.ones(assembly.size, dtype=bool) if free is None else free
    free = free & _connected(A, np.abs(rates) > KEPT * (scale or 1.0), free)
    for _ in range(3):
        v = v + _follow(slopes.matrix("M"), A, -_rates(equations, q, v), free)
    _check(assembly, equations, _rates(equations, q, v), scale, "velocities")
    return v


def _connected(A: sparse.csc_array, rows: np.ndarray, free: np.ndarray) -> np.ndarray:
    """Which free components enter these rows, or rows that share such components with them, and so on."""
    enters, columns = abs(A).tocsr() @ sparse.diags_array(free.astype(float)), np.zeros(len(free), dtype=bool)
    while True:
        wider = (rows @ enters) > 0
        if (wider == columns).all():
            return columns
        columns = wider
        rows = rows | (enters @ columns > 0)


def _phi(equations: Equations, q: np.ndarray) -> np.ndarray:
    return equations.constraints(q[:, None], np.zeros((equations.n, 1)))[0][:, 0]


def _rates(equations: Equations, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    return equations.constraints(q[:, None], v[:, None])[1][:, 0]


def _follow(cost: sparse.csc_array, A: sparse.csc_array, wanted: np.ndarray, free: np.ndarray) -> np.ndarray:
    """The change x of the free components with A x = wanted and the least xᵀ cost x."""
    change = np.zeros(len(free))
    if not (wanted.any() and free.any()):
        return change
    among, rows = cost.tocsc()[free][:, free], A.tocsc()[:, free]
    unit = max(np.abs(among.data).max(initial=0.0), 1e-300)
    regular = among / unit + 1e6 * SLIGHT * sparse.eye_array(int(free.sum()))
    compliance = -SLIGHT * sparse.eye_array(len(wanted))
    matrix = sparse.block_array([[regular, rows.T], [rows, compliance]], format="csc")
    change[free] = splu(matrix).solve(np.concatenate([np.zeros(int(free.sum())), wanted]))[: int(free.sum())]
    return change


def _check(assembly: Assembly, equations: Equations, left: np.ndarray, scale: float, what: str) -> None:
    worst = np.abs(left).max(initial=0.0)
    if worst <= KEPT * scale:
        return
    part, copy = equations.owner(int(np.abs(left).argmax()))
    raise ConstraintError(
        f"the {what} of {assembly.name} violate{'s' if what == 'start' else ''} a constraint of copy {copy} of part "
        f"{part!r} by {worst:.2g}: give a mapping from indices to the values that are known, so that the others follow"
    )
