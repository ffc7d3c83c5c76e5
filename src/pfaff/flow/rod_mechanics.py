"""The mechanics of systems with rods, evaluated by structure: angles at nodes in, quadrature and integration out.

For a rod θ = θ₀ + Φ a at its nodes and x = x₀ + L S cos θ, y = y₀ + L S sin θ at its stations; its forces are carried
back the way that its kinematics went, −sin θ ∘ Sᵀ(m ẍ) + cos θ ∘ Sᵀ(m ÿ). Cosines and sines of the angles are the only
nonlinearities. The rest of the system is stated in its frame, small enough for SymPy. The same formulas take numbers
and power series, so that every derivative is exact.

Arrays have three axes: the component, the state of a batch, and the direction in which it is differentiated.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import sympy as sm

from pfaff.errors import StatementError
from pfaff.flow.frame_mechanics import FrameMechanics
from pfaff.flow.series import Series, conjugate, imaginary, lambdified, real, unit_circle
from pfaff.statement.rod_frame import base_of
from pfaff.statement.rods import PLACE, Rod, section_value
from pfaff.statement.system import System
from pfaff.threads import cached_property, once

NEEDED = ("mass", "bending")


def apply(matrix: np.ndarray, x: Any) -> Any:
    """A real matrix times the first axis."""
    if isinstance(x, Series):
        return x.mapped(lambda each: apply(matrix, each))
    shape = x.shape
    if x.dtype == complex:
        columns = np.ascontiguousarray(x).view(float).reshape(shape[0], -1)
        return (matrix @ columns).view(complex).reshape(matrix.shape[0], *shape[1:])
    return (matrix @ x.reshape(shape[0], -1)).reshape(matrix.shape[0], *shape[1:])


def column(values: np.ndarray) -> np.ndarray:
    return values[:, None, None]


@dataclass(frozen=True, eq=False)
class Bent:
    """A rod in its present shape; points of the plane are complex numbers x + iy."""

    length: Any
    direction: Any  # exp(iθ) at the nodes
    a: list[Any]  # amplitudes and their rates
    turning: list[Any]  # θ̇ and θ̈ at the nodes
    base: list[Any]  # where it begins, then the rates
    steps: list[Any]  # its tangent at the nodes, then the rates
    points: list[tuple[Any, Any, Any]]  # x, y and θ of all points, then their rates


class RodMechanics:
    """One rod among the coordinates of a frame."""

    def __init__(self, rod: Rod, places: Sequence[float], parameters: Sequence[sm.Symbol]) -> None:
        basis, self.rod = rod.basis, rod
        self.stations, self.bends, self.nodes = basis.stations, basis.bends, len(basis.angles)
        rows = [basis.at(place) for place in places]
        self.angles = np.vstack([basis.angles, *(angles for angles, _ in rows)])  # at nodes, then at points
        self.point_stations = np.array([stations for _, stations in rows])
        self.base = base_of(rod)
        self._length = lambdified(parameters, [rod.length])
        at = {"mass": basis.places, "drag": basis.places, "rotary": basis.nodes}
        weights = {"mass": basis.weights, "drag": basis.weights, "rotary": basis.node_weights}
        self._sections = {
            name: _section(rod, name, at.get(name, basis.hinges), weights.get(name, basis.hinge_weights), parameters)
            for name in ("mass", "drag", "rotary", "bending", "retardation")
        }
        self._hinge_weights = column(basis.hinge_weights)

    def sections_at(self, parameters: list[Any]) -> tuple[Any, Callable[[str], Any]]:
        """The length, and properties times weights at their places, [place] or [state, place]; None if they vanish."""
        length = self._length(*parameters)[0]

        def section(name: str) -> Any:
            found = self._sections[name](parameters, length)
            if found is None or name == "retardation":
                return found if found is None or np.ndim(found) == 0 else _beside(np.asarray(found))
            return _beside(found * self._hinge_weights if name == "bending" else found)

        return length, section

    def bent(self, base: list[tuple[Any, Any, Any]], a: list[Any], parameters: list[Any]) -> Bent:
        """Its shape and motion, up to the level that is given: positions, velocities, accelerations."""
        L, K = self._length(*parameters)[0], self.nodes
        turned = [apply(self.angles, each) + angle for each, (_, _, angle) in zip(a, base, strict=True)]
        direction = unit_circle(turned[0][:K])
        turning = [each[:K] for each in turned[1:]]
        steps = [direction]
        if len(a) > 1:
            steps.append(direction * turning[0] * 1j)
        if len(a) > 2:
            steps.append(direction * (turning[1] * 1j - turning[0] * turning[0]))
        start = [x + y * 1j for x, y, _ in base]
        points = []
        for step, place, angle in zip(steps, start, turned, strict=True):
            z = apply(self.point_stations, step) * L + place
            points.append((real(z), imaginary(z), angle[K:]))
        return Bent(L, direction, a, turning, start, steps, points)

    def station(self, bent: Bent, k: int) -> Any:
        """Its stations, or their rates of order k."""
        return apply(self.stations, bent.steps[k]) * bent.length + bent.base[k]

    def forces(self, bent: Bent, at_points: tuple[Any, Any, Any], parameters: list[Any]) -> tuple[Any, ...]:
        """Forces along its amplitudes, and at x, y and θ of its base; forces on its points are given."""
        L, section = bent.length, lambda name: self._sections[name](parameters, bent.length)
        retardation, drag, rotary = map(section, ("retardation", "drag", "rotary"))
        inner = apply(self.bends, bent.a[0])
        if retardation is not None:
            inner = inner + apply(self.bends, bent.a[1]) * retardation
        along = apply(self.bends.T, inner * (section("bending") / L) * self._hinge_weights)
        force = self.station(bent, 2) * (section("mass") * L)
        if drag is not None:
            force = force + self.station(bent, 1) * (drag * L)
        x, y, moments = at_points
        outer = x + y * 1j
        pull = apply(self.stations.T, force) + apply(self.point_stations.T, outer)
        moment = imaginary(conjugate(bent.direction) * pull) * L
        if rotary is not None:
            moment = moment + bent.turning[1] * (rotary * L)
        total = _total(force) + _total(outer)
        along = along + apply(self.angles[: self.nodes].T, moment) + apply(self.angles[self.nodes :].T, moments)
        return along, real(total), imaginary(total), _total(moment) + _total(moments)

    def energies(self, bent: Bent, parameters: list[Any]) -> tuple[Any, Any, Any]:
        """T, V and the power dissipated."""
        L, section = bent.length, lambda name: self._sections[name](parameters, bent.length)
        retardation, drag, rotary = map(section, ("retardation", "drag", "rotary"))
        velocity = self.station(bent, 1)
        square = real(conjugate(velocity) * velocity)
        kinetic = _total(square * (section("mass") * L)) / 2
        if rotary is not None:
            kinetic = kinetic + _total(bent.turning[0] * bent.turning[0] * (rotary * L)) / 2
        bend, rate = apply(self.bends, bent.a[0]), apply(self.bends, bent.a[1])
        stiffness = section("bending") / L * self._hinge_weights
        dissipated: Any = 0.0
        if retardation is not None:
            dissipated = _total(rate * rate * (stiffness * retardation))
        if drag is not None:
            dissipated = dissipated + _total(square * (drag * L))
        return kinetic, _total(bend * bend * stiffness) / 2, dissipated


def _beside(values: np.ndarray) -> np.ndarray:
    """[place, state, 1] as [state, place], or as [place] if all states agree."""
    found = np.atleast_3d(values)[:, :, 0].T if values.ndim == 3 else values
    return found[0] if values.ndim == 3 and len(found) == 1 else found


def _total(x: Any) -> Any:
    return x.mapped(lambda each: each.sum(axis=0)) if isinstance(x, Series) else x.sum(axis=0)


def _section(
    rod: Rod, name: str, places: np.ndarray, weights: np.ndarray, parameters: Sequence[sm.Symbol]
) -> Callable[[list[Any], Any], Any]:
    """A property at its places; inertia and drag with their weights; None where it vanishes identically."""
    given = getattr(rod, name)
    share: Any = 1.0 if name in ("bending", "retardation") else column(weights)
    if given == 0:
        return lambda numbers, length: None
    if not isinstance(given, sm.Expr):
        length = float(rod.length)
        values = column(np.array([section_value(given, length * s, f"the {name} of {rod.name}") for s in places]))
        return lambda numbers, length: values * share
    function = lambdified([PLACE, *parameters], [given])
    if PLACE not in given.free_symbols:

        def uniform(numbers: list[Any], length: Any) -> Any:
            value = function(0.0, *numbers)[0]
            vanishes = name not in NEEDED and isinstance(value, float) and value == 0
            return None if vanishes else value * share

        return uniform
    return lambda numbers, length: function(length * column(places), *numbers)[0] * share


class Mechanics:
    """M q̈ + h + Aᵀp and A q̈ + γ of a system with rods, for numbers or power series.

    ``own`` coordinates of the frame come first, then the amplitudes of the rods.
    """

    def __init__(self, system: System) -> None:
        assert system.frame is not None
        self.system, self.frame = system, FrameMechanics(system.frame)
        self.n, self.m = len(system.coordinates), len(system.frame.statement.constraints)
        parameters = list(system.parameters)
        self.rods: list[RodMechanics] = []
        self.rows: list[slice] = []  # rows of the amplitudes
        self.points: list[list[tuple[str, str, str]]] = []  # names in the frame
        self.own = self.n - sum(rod.basis.size for rod in system.rods)
        start = self.own
        for k, rod in enumerate(system.rods):
            stations = [station for station in system.stations if station.rod == k]
            self.rods.append(RodMechanics(rod, [station.place for station in stations], parameters))
            self.points.append([station.names for station in stations])
            self.rows.append(slice(start, start + rod.basis.size))
            start += rod.basis.size

    @cached_property
    def kinds(self) -> np.ndarray:
        """A number for each coordinate, the same for all amplitudes of a rod."""
        amplitudes = [np.full(rows.stop - rows.start, self.own + k) for k, rows in enumerate(self.rows)]
        return np.concatenate([np.arange(self.own), *amplitudes])

    def kinematics(self, levels: list[Any], parameters: list[Any]) -> tuple[list[dict[str, Any]], list[Bent]]:
        """Every coordinate of the frame by name, its rates, and the shapes of the rods."""
        known = [{name: x[k] for k, name in enumerate(self.frame.names[: self.own])} for x in levels]
        shapes = []
        for rod, rows, points in zip(self.rods, self.rows, self.points, strict=True):
            base = [
                tuple(
                    (0.0 if name is None else known[k][name]) + (number if k == 0 else 0.0)
                    for name, number in zip(rod.base.names, rod.base.numbers, strict=True)
                )
                for k in range(len(levels))
            ]
            shape = rod.bent(base, [x[rows] for x in levels], parameters)  # type: ignore[arg-type]
            shapes.append(shape)
            for k, (x, y, angle) in enumerate(shape.points):
                for j, names in enumerate(points):
                    known[k] |= {names[0]: x[j], names[1]: y[j], names[2]: angle[j]}
        return known, shapes

    def frame_values(self, known: list[dict[str, Any]]) -> list[Any]:
        return [each[name] for each in known for name in self.frame.names]

    def residual(
        self, q: Any, v: Any, a: Any, p: Any, parameters: list[Any], time: Any, speeds: bool = False
    ) -> list[Any]:
        """M q̈ + h + Aᵀp by coordinate, then A q̈ + γ by constraint, or A q̇ + b if ``speeds`` are asked for."""
        known, shapes = self.kinematics([q, v, a], parameters)
        reactions = [p[k] for k in range(self.m)]
        values = self.frame.balance(*self.frame_values(known), *reactions, *parameters, time)
        resisting = dict(zip(self.frame.names, values, strict=False))
        along: list[Any] = [None] * len(self.rods)
        for k in reversed(range(len(self.rods))):  # a rod may stand on a point of an earlier one
            at_points = self._at_points(k, resisting)
            along[k], *base = self.rods[k].forces(shapes[k], at_points, parameters)
            for name, force in zip(self.rods[k].base.names, base, strict=True):
                if name is not None:
                    resisting[name] = resisting[name] + force
        own = [resisting[name] for name in self.frame.names[: self.own]]
        if speeds:
            return [*own, *along, *self.frame.constraints(*self.frame_values(known[:2]), *parameters, time)]
        return [*own, *along, *values[len(self.frame.names) :]]

    def _at_points(self, k: int, resisting: dict[str, Any]) -> tuple[Any, Any, Any]:
        """The forces on the points of a rod as three arrays: along x, along y, and moments."""
        x, y, moments = (_rows([resisting[names[i]] for names in self.points[k]]) for i in range(3))
        return x, y, moments

    def constraints(self, q: Any, v: Any, parameters: list[Any], time: Any) -> list[Any]:
        known, _ = self.kinematics([q, v], parameters)
        return self.frame.constraints(*self.frame_values(known), *parameters, time)

    def positions(self, q: Any, parameters: list[Any], time: Any) -> list[Any]:
        known, _ = self.kinematics([q], parameters)
        return self.frame.positions(*self.frame_values(known), *parameters, time)

    def energies(self, q: Any, v: Any, parameters: list[Any], time: Any) -> tuple[Any, Any, Any, Any]:
        """T, V, Jacobi's energy and the power dissipated."""
        known, shapes = self.kinematics([q, v], parameters)
        kinetic, potential, jacobi, power = self.frame.energies(*self.frame_values(known), *parameters, time)
        for rod, shape in zip(self.rods, shapes, strict=True):
            T, V, D = rod.energies(shape, parameters)
            kinetic, potential, jacobi, power = kinetic + T, potential + V, jacobi + T + V, power + D
        return kinetic, potential, jacobi, power

    def supplied(self, q: Any, v: Any, p: Any, parameters: list[Any], time: Any) -> Any:
        known, _ = self.kinematics([q, v], parameters)
        reactions = [p[k] for k in range(self.m)]
        return self.frame.supplied(*self.frame_values(known), *reactions, *parameters, time)[0]


def _rows(entries: list[Any]) -> Any:
    """Numbers, arrays or series of them as rows of one array or series."""
    series = [each for each in entries if isinstance(each, Series)]
    if not series:
        return _stacked(entries)
    top = max(len(each) for each in series)
    return Series([_stacked([_part(each, k) for each in entries]) for k in range(top)], series[0].order)


def _stacked(parts: list[Any]) -> np.ndarray:
    shape = np.broadcast_shapes(*(np.shape(part) for part in parts), (1, 1))
    return np.array([np.broadcast_to(part, shape) for part in parts], dtype=float)


def _part(entry: Any, k: int) -> Any:
    if isinstance(entry, Series):
        return entry.coefficient(k)
    return entry if k == 0 else 0.0


def coefficients(entries: list[Any], k: int, batch: int, directions: int) -> np.ndarray:
    """The k-th coefficients of scalars and of arrays, all as rows of one array [row, state, direction]."""
    parts = []
    for entry in entries:
        part = np.asarray(_part(entry, k), dtype=float)
        rows = part.shape[0] if part.ndim == 3 else _height(entry)
        parts.append(np.broadcast_to(part, (rows, batch, directions)))
    return np.concatenate(parts) if parts else np.zeros((0, batch, directions))


def _height(entry: Any) -> int:
    lead: Any = next((each for each in entry.c if each is not None), 0.0) if isinstance(entry, Series) else entry
    return int(lead.shape[0]) if np.ndim(lead) == 3 else 1


@once(most=1)
def mechanics_of(system: System) -> Mechanics:
    if not system.rods:
        raise StatementError(f"{system.name} has no rods")
    return Mechanics(system)
