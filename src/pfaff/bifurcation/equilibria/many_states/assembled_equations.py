"""Assemblies at rest as equations G(q, p, load) = 0: forces in balance, constraints kept, a member of the family.

The unknowns are coordinates and reactions: [[K, Aᵀ], [A, 0]] stays sparse, however many parts there are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import inf, sqrt
from typing import Any

import numpy as np
from scipy import sparse

from pfaff.algebra.sparse_borders import Factors, in_units, with_columns
from pfaff.bifurcation.equilibria.first_rates import changed, elsewhere, on_way
from pfaff.bifurcation.equilibria.many_states.sparse_equations import SparseRestEquations
from pfaff.bifurcation.equilibria.parameter_units import FARTHER, grow_with_distance
from pfaff.bifurcation.equilibria.rest_equations import PROBE, RestEquations
from pfaff.bifurcation.equilibria.state_sizes import FEW, SHARES
from pfaff.flow.assembly import Assembly, Rest
from pfaff.flow.sparse_pencil import SparseLinearisation
from pfaff.threads import known_property


@dataclass(frozen=True)
class Loaded:
    """An assembly at a load, with the interface of a case that results need."""

    system: Assembly
    value: float

    @property
    def values(self) -> dict[str, float]:
        return {self.system.load: self.value}

    @property
    def numbers(self) -> np.ndarray:
        return np.array([self.value])

    def unchecked(self, **values: float) -> Loaded:
        return Loaded(self.system, values.get(self.system.load, self.value))


@dataclass(frozen=True)
class Numbered:
    """Stands in for a flow: its states are the coordinates, by their numbers."""

    states: tuple[str, ...]
    settle: float = 0.0


@dataclass(frozen=True, eq=False)
class AssembledEquations(SparseRestEquations):
    """The problem in z = (q, p, load); ``selection`` are the conditions that select a member of the family."""

    selection: Any = None
    selected: Any = None  # values of these conditions

    @property
    def assembly(self) -> Assembly:
        return self.case.system  # type: ignore[return-value]

    @known_property
    def n(self) -> int:
        return self.assembly.pattern.total

    @property
    def family(self) -> bool:
        """Whether constraints that demand nothing at rest give a family of equilibria."""
        return bool(len(self.assembly.family_rows))

    @property
    def structural(self) -> bool:
        return True  # kernels do not know them

    def x(self, z: np.ndarray) -> np.ndarray:
        return z[: self.assembly.size]

    def reactions(self, z: np.ndarray) -> dict[str, float]:
        return dict(zip(self.assembly.reaction_names, z[self.assembly.size : self.n].tolist(), strict=True))

    def linearisation(self, z: np.ndarray) -> SparseLinearisation:
        return self.assembly.balanced(float(z[-1]), z[: self.n])[2]

    def state_jacobian(self, z: np.ndarray) -> sparse.csc_array:
        return self.assembly.constrained(self.linearisation(z), self.selection)

    def rates(self, z: np.ndarray) -> np.ndarray:
        return self.evaluated(z)[0]

    def evaluated(self, z: np.ndarray) -> tuple[np.ndarray, sparse.csc_array]:
        residual, pushed, lin = self.assembly.balanced(float(z[-1]), z[: self.n])
        J = with_columns(self.assembly.constrained(lin, self.selection), pushed[:, None])
        return residual + self.selection @ z[: self.n] - self.selected, J

    def rebased(self, z: np.ndarray) -> AssembledEquations:
        """The problem with units renewed at z: those of coordinates grow together, and so do those of reactions."""
        sizes = self.sizes.copy()
        for group in self._groups:
            sizes[group] *= max(1.0, float((np.abs(z[group]) / sizes[group]).max(initial=0.0)))
        grow_with_distance(sizes, z, self.origins)
        return self.in_units(sizes)

    @property
    def _groups(self) -> tuple[slice, slice]:
        return slice(0, self.assembly.size), slice(self.assembly.size, self.n)

    def norm(self, matrix: Any) -> float:
        return _energy(sparse.csc_array(matrix), self.sizes[: self.n])

    def along(self, z: np.ndarray, direction: np.ndarray) -> SparseLinearisation:
        """The change of the matrices of small motions along a direction, by differences."""
        h = PROBE / float(np.linalg.norm(direction / self.sizes))
        after, before = (self.linearisation(z + side * h * direction) for side in (1, -1))
        return replace(after, data={k: (after.data[k] - before.data[k]) / (2 * h) for k in after.data})

    def second(self, z: np.ndarray, left: np.ndarray, v: np.ndarray, w: np.ndarray) -> float:
        return RestEquations.second(self, z, left, v, w)

    def rest(self, z: np.ndarray) -> Rest:
        """The state at rest as ``assembly.equilibrium`` gives it."""
        return self.assembly.rest_at(float(z[-1]), z[: self.n])


def assembled_start(
    assembly: Assembly, load: float, to: float, start: Any, fixed: Sequence[int]
) -> tuple[AssembledEquations, np.ndarray]:
    """The problem at the equilibrium at a load, and its z there."""
    rest = assembly.equilibrium(load, start, fixed)
    z = np.concatenate([rest.q, rest.p, [rest.load]])
    return assembled_about(assembly, z, abs(to - load) or 1.0, assembly.selection(rest.q, fixed))


def assembled_about(
    assembly: Assembly, z: np.ndarray, span: float, selection: sparse.csc_array, sizes: Any = None
) -> tuple[AssembledEquations, np.ndarray]:
    """The problem about an equilibrium z, with known sizes or with those found there."""
    n = len(z) - 1
    blank = np.zeros((n, 0)), np.zeros((0, n)), np.zeros(0), np.zeros((0, 1))
    case: Any = Loaded(assembly, float(z[-1]))
    flow: Any = Numbered(assembly.coordinate_names)
    reach = inf
    if sizes is None:
        coordinates, share = _sizes(assembly, z, span, selection)
        reach = FARTHER * share * span
        sizes = np.append(coordinates, min(span, reach))
    s = AssembledEquations(case, flow, (assembly.load,), (), *blank, sizes, reach=reach, selection=selection)
    return replace(s, selected=selection @ z[:n]), z


def _sizes(assembly: Assembly, z: np.ndarray, span: float, selection: sparse.csc_array) -> tuple[np.ndarray, float]:
    """Sizes of coordinates and of reactions: their own, or those the load gives them; and the share of the load's way
    on which it does so."""
    n, load, size = len(z) - 1, float(z[-1]), assembly.size
    _, pushed, lin = assembly.balanced(load, z[:n])
    J = assembly.constrained(lin, selection)
    try:
        way = -Factors(J).solve(pushed) * span
    except np.linalg.LinAlgError:
        way = np.zeros(n)
    way = way if np.isfinite(way).all() else np.zeros(n)
    units = np.concatenate([_unit(z[:size], way[:size], 1.0, size), _unit(z[size:n], way[size:], span, n - size)])
    share = _straight(assembly, z, way, span, J, units, selection) if way.any() else 1.0
    sizes = np.concatenate(
        [
            _unit(z[:size], share * way[:size], 1.0, size),
            _unit(z[size:n], share * way[size:], share * span, n - size),
        ]
    )
    return sizes * max(1.0, sqrt(n / FEW)), share


def _unit(at: np.ndarray, way: np.ndarray, otherwise: float, many: int) -> np.ndarray:
    large = max(float(np.abs(at).max(initial=0.0)), float(np.abs(way).max(initial=0.0)))
    return np.full(many, large or otherwise)


def _straight(
    assembly: Assembly, z: np.ndarray, way: np.ndarray, span: float, J: sparse.csc_array, units: np.ndarray,
    selection: Any,
) -> float:  # fmt: skip
    """The share of a way on which a first-order prediction holds, judged by the energies of forces and of
    constraints."""
    n, load = len(way), float(z[-1])
    held = selection @ z[:n]

    def left(share: float) -> np.ndarray:
        there = z[:n] + share * way
        return (assembly.balanced(load + share * span, there)[0] + selection @ there - held) * units

    def change(share: float) -> float:
        there = assembly.constrained(assembly.balanced(load, z[:n] + share * way)[2], selection)
        return _energy(sparse.csc_array(there - J), units)

    groups = np.repeat([0, 1], [assembly.size, n - assembly.size])
    moves, balanced = units * np.abs(J @ way), units * (abs(J) @ np.abs(z[:n]))
    led = elsewhere(SHARES, on_way(SHARES, left, n), moves, balanced, groups)
    return min(1.0, led, changed(SHARES, change, _energy(J, units)))


def _energy(matrix: sparse.csc_array, units: np.ndarray) -> float:
    """The size of a multiplier matrix, whose entries are energies in units of coordinates and reactions."""
    return float(np.linalg.norm(in_units(matrix, units, 1 / units).data))
