"""What all points of a study share, taken from one of them: the flow, its structural zeros, units, and how far to look."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import heyoka as hy
import numpy as np

from pfaff.algebra.bordering import balanced, bordering
from pfaff.errors import PfaffError
from pfaff.flow.compiled import Compiled
from pfaff.flow.flow import Flow
from pfaff.flow.graph import Expression
from pfaff.rest.path import LoadPath, StatePath
from pfaff.studies.block import Job
from pfaff.threads import once

NODES = (6, 8, 12, 16, 24, 32, 48)  # at which a test function is evaluated between two loads
RESOLVED = 1e-9  # last coefficients of its series, relative to the largest
BEYOND = 1.4  # times the load of the reference, where the first stretch ends
FARTHEST = 16.0  # times the first stretch, where the scalar search takes over
NEAR = (1e-4, 2e-4)  # of the first stretch: loads that tell how a test function vanishes at the origin
HEAVY = 3000  # operations of a right-hand side beyond which third derivatives take too long to compile
STILL = 1e-13  # rates, relative to the Jacobian, of an equilibrium that stays


@dataclass(frozen=True, eq=False)
class Frame:
    """Loads are counted by the distance from where the path begins: ``origin``, or the value that each point has."""

    flow: Flow
    load: str
    origin: float | None
    sign: float
    first: float
    farthest: float
    bounded: bool
    x: np.ndarray
    zeros: int
    columns: np.ndarray
    rows: np.ndarray
    scale: np.ndarray
    unit: float
    order: int = 0
    nodes: int = 0

    @property
    def n(self) -> int:
        return len(self.flow.states)

    @property
    def index(self) -> int:
        return self.flow.system.parameter_names.index(self.load)

    @property
    def has_forms(self) -> bool:
        """Whether normal forms are known: not on families, nor where they take too long to compile."""
        return not self.zeros and self.flow.operations <= HEAVY

    def jacobians(self, x: np.ndarray, parameters: np.ndarray) -> np.ndarray:
        return evaluated(jacobian_of(self.flow), x, parameters)

    def both(self, x: np.ndarray, parameters: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """∂f/∂x and how it changes with the load."""
        values = evaluated(jacobian_by_load(self.flow, self.load), x, parameters)
        return values[: self.n**2], values[self.n**2 :]

    def rates(self, x: np.ndarray, parameters: np.ndarray) -> np.ndarray:
        return evaluated(rates_of(self.flow), x, parameters)

    def by_load(self, x: np.ndarray, parameters: np.ndarray) -> np.ndarray:
        return evaluated(rates_by_load(self.flow, self.load), x, parameters)

    def line(self, order: int, x: np.ndarray, along: np.ndarray, parameters: np.ndarray) -> np.ndarray:
        """The derivative of f of some order along a direction, column by column."""
        return evaluated(lines_of(self.flow, order), np.concatenate([x, along]), parameters)


def evaluated(function: Compiled, x: np.ndarray, parameters: np.ndarray) -> np.ndarray:
    return function(x, parameters)


@once(most=32)
def rates_of(flow: Flow) -> Compiled:
    return Compiled(flow.expressions, flow.variables)


def _jacobian(flow: Flow) -> list[Expression]:
    return list(np.ravel(hy.diff_tensors(list(flow.expressions), flow.variables, diff_order=1).jacobian))


@once(most=32)
def jacobian_of(flow: Flow) -> Compiled:
    return Compiled(_jacobian(flow), flow.variables)


@once(most=32)
def jacobian_by_load(flow: Flow, load: str) -> Compiled:
    entries = _jacobian(flow)
    parameter = hy.par[flow.system.parameter_names.index(load)]
    changes = list(np.ravel(hy.diff_tensors(entries, [parameter], diff_order=1).jacobian))
    return Compiled([*entries, *changes], flow.variables)


@once(most=32)
def rates_by_load(flow: Flow, load: str) -> Compiled:
    parameter = hy.par[flow.system.parameter_names.index(load)]
    return Compiled(list(np.ravel(hy.diff_tensors(list(flow.expressions), [parameter], diff_order=1).jacobian)), flow.variables)


@once(most=32)
def lines_of(flow: Flow, order: int) -> Compiled:
    """dᵏ/dsᵏ f(x + s v) at s = 0, as a function of x and v."""
    s = hy.expression("along a line")
    directions = [hy.expression(f"direction of {name}") for name in flow.states]
    moved = {x: x + s * v for x, v in zip(flow.variables, directions, strict=True)}
    tensors = hy.diff_tensors(list(hy.subs(list(flow.expressions), moved)), [s], diff_order=order)
    found = [expression for _, expression in tensors.get_derivatives(order)]
    return Compiled(list(hy.subs(found, {s: hy.expression(0.0)})), [*flow.variables, *directions])


def frame_of(job: Job) -> Frame | None:
    """The frame at the first of a few points that has a Hopf point."""
    for place in _candidates(job.points.size):
        parameters, fixed = job.split(job.points.point(place))
        try:
            case = job.case.at(**parameters)
            hopf = case.hopf(job.asked.load, job.asked.to, **{**job.asked.fixed, **fixed})
            return _from_hopf(case, hopf, job)
        except PfaffError:
            continue
    return None


def _candidates(size: int) -> Iterator[int]:
    yield from dict.fromkeys([size // 2, 0, size - 1, size // 3])


def _from_hopf(case: Any, hopf: Any, job: Job) -> Frame | None:
    around, load = hopf.around, hopf.load
    path = case.path(load, job.asked.fixed)
    numbers = case.numbers_at(load, hopf.value)
    J = around.jacobian(hopf.x, hopf.value)
    border = bordering(J, around.zeros, around.held)
    _, scale = balanced(J)
    begins = path.origin
    distance = abs(hopf.value - begins)
    if not distance or not around.loaded:
        return None
    bounded = job.asked.to is not None
    farthest = abs(job.asked.to - begins) if bounded else FARTHEST * BEYOND * distance
    frame = Frame(
        flow=around.flow,
        load=load,
        origin=begins if isinstance(path, LoadPath) and not begins else None,
        sign=float(np.sign(hopf.value - begins)),
        first=min(BEYOND * distance, farthest),
        farthest=farthest,
        bounded=bounded,
        x=_beginning(path, around.flow),
        zeros=around.zeros,
        columns=np.ascontiguousarray(border.columns),
        rows=np.ascontiguousarray(border.rows),
        scale=scale,
        unit=float(hopf.omega),
    )
    return _resolved(frame, numbers[:, None].copy(), begins)


def _beginning(path: Any, flow: Flow) -> np.ndarray:
    if isinstance(path, StatePath):
        return path.solution(path.origin)
    q = path.solution(path.origin)[: path.balance.statics.n]
    rest = dict(zip(path.case.system.coordinate_names, q, strict=True))
    return np.array([rest.get(name, 0.0) for name in flow.states])


def _resolved(frame: Frame, numbers: np.ndarray, begins: float) -> Frame | None:
    """With as many nodes as the test function needs, and the order to which it vanishes where the path begins."""
    from pfaff.studies.stretches import series, tested

    near = np.array(NEAR)[:, None] * frame.first
    values = tested(frame, numbers, near, np.array([begins]))
    if values is None or not values.hopf.all():
        return None
    ratio = float(np.log2(np.abs(values.hopf[1, 0] / values.hopf[0, 0])))
    frame = replace(frame, order=max(0, round(ratio)))
    for nodes in NODES:
        tried = replace(frame, nodes=nodes)
        found = series(tried, numbers, np.zeros(1), np.array([frame.first]), np.array([begins]))
        if found is not None and np.abs(found[-2:]).max() <= RESOLVED * np.abs(found).max():
            return tried
    return None
