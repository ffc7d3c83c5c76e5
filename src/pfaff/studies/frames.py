"""What all points of a study share, taken from one of them: the flow, its structural zeros, units, and how far to
look."""

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
from pfaff.studies.quantities import Asked, speeds
from pfaff.threads import cached_property, once

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
    order: int = 0  # to which D_{m−1} vanishes where the path begins
    zero_order: int = 0  # and the last coefficient
    nodes: int = 0
    guess: np.ndarray | None = None  # from which the search for one point seeks its equilibrium, where x is another one

    @property
    def n(self) -> int:
        return len(self.flow.states)

    @property
    def index(self) -> int:
        """The row of parameters that has the load: one more than there are where it is a speed or a coordinate."""
        names = self.flow.system.parameter_names
        return names.index(self.load) if self.load in names else len(names)

    @property
    def has_forms(self) -> bool:
        """Whether normal forms are known: not on families, nor where they take too long to compile."""
        return not self.zeros and self.flow.operations <= HEAVY

    def jacobians(self, x: np.ndarray, parameters: np.ndarray) -> np.ndarray:
        return functions_of(self.flow, self.load).jacobian(x, parameters)

    def both(self, x: np.ndarray, parameters: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """∂f/∂x and how it changes with the load."""
        values = functions_of(self.flow, self.load).both(x, parameters)
        return values[: self.n**2], values[self.n**2 :]

    def rates(self, x: np.ndarray, parameters: np.ndarray) -> np.ndarray:
        return functions_of(self.flow, self.load).rates(x, parameters)

    def by_load(self, x: np.ndarray, parameters: np.ndarray) -> np.ndarray:
        return functions_of(self.flow, self.load).by_load(x, parameters)

    def line(self, order: int, x: np.ndarray, along: np.ndarray, parameters: np.ndarray) -> np.ndarray:
        """The derivative of f of some order along a direction, column by column."""
        return functions_of(self.flow, self.load).line(order)(np.concatenate([x, along]), parameters)

    def rests(self, x: np.ndarray, parameters: np.ndarray) -> np.ndarray:
        """For which points nothing moves at x, beyond rounding."""
        rates = (np.abs(self.rates(x, parameters)) / self.scale[:, None]).max(axis=0, initial=0.0)
        return rates <= STILL * np.abs(self.jacobians(x, parameters)).max(axis=0)

    def moves(self, x: np.ndarray, parameters: np.ndarray, J: np.ndarray | None = None) -> bool:
        """Whether anything moves at x, beyond rounding."""
        rates = np.abs(self.rates(x, parameters)) / self.scale[:, None]
        return bool(rates.max(initial=0.0) > STILL * np.abs(self.jacobians(x, parameters) if J is None else J).max())

    def pushed(self, x: np.ndarray, parameters: np.ndarray) -> bool:
        """Whether the load moves what rests at x, beyond rounding."""
        rates = np.abs(self.by_load(x, parameters)) * self.first / self.scale[:, None]
        return bool(rates.max(initial=0.0) > STILL * np.abs(self.jacobians(x, parameters)).max())


class Functions:
    """f and its derivatives, compiled for many points; a load that is a speed or a coordinate is made a parameter in
    them."""

    def __init__(self, flow: Flow, load: str) -> None:
        self._flow = flow
        names = flow.system.parameter_names
        self._load = hy.par[names.index(load) if load in names else len(names)]
        self._replaced = {} if load in names else {hy.expression(load): self._load}

    def _compiled(self, expressions: list[Expression], more: list[Expression] | None = None) -> Compiled:
        return Compiled(self._as_parameter(expressions), [*self._flow.variables, *(more or [])])

    def _as_parameter(self, expressions: list[Expression]) -> list[Expression]:
        return list(hy.subs(expressions, self._replaced)) if self._replaced else expressions

    def _by_load(self, expressions: list[Expression]) -> list[Expression]:
        return list(np.ravel(hy.diff_tensors(self._as_parameter(expressions), [self._load], diff_order=1).jacobian))

    @property
    def _entries(self) -> list[Expression]:
        flow = self._flow
        return list(np.ravel(hy.diff_tensors(list(flow.expressions), flow.variables, diff_order=1).jacobian))

    @cached_property
    def rates(self) -> Compiled:
        return self._compiled(list(self._flow.expressions))

    @cached_property
    def by_load(self) -> Compiled:
        return self._compiled(self._by_load(list(self._flow.expressions)))

    @cached_property
    def jacobian(self) -> Compiled:
        return self._compiled(self._entries)

    @cached_property
    def both(self) -> Compiled:
        entries = self._entries
        return self._compiled([*entries, *self._by_load(entries)])

    def line(self, order: int) -> Compiled:
        return self._second if order == 2 else self._third

    @cached_property
    def _second(self) -> Compiled:
        return self._along(2)

    @cached_property
    def _third(self) -> Compiled:
        return self._along(3)

    def _along(self, order: int) -> Compiled:
        """dᵏ/dsᵏ f(x + s v) at s = 0, as a function of x and v."""
        flow, s = self._flow, hy.expression("along a line")
        directions = [hy.expression(f"direction of {name}") for name in flow.states]
        moved = {x: x + s * v for x, v in zip(flow.variables, directions, strict=True)}
        tensors = hy.diff_tensors(list(hy.subs(list(flow.expressions), moved)), [s], diff_order=order)
        found = list(hy.subs([each for _, each in tensors.get_derivatives(order)], {s: hy.expression(0.0)}))
        return self._compiled(found, directions)


@once(most=32)
def functions_of(flow: Flow, load: str) -> Functions:
    return Functions(flow, load)


def frame_of(job: Job) -> Frame | None:
    """The frame at the first of a few points that has a Hopf point."""
    for place in _candidates(job.points.size):
        parameters, fixed = job.split(job.points.point(place))
        asked = replace(job.asked, fixed={**job.asked.fixed, **fixed})
        try:
            case = job.case.at(**parameters)
            moving = speeds(case, asked)
            if fixed and not moving:
                return None  # every point starts from other states
            found = _of_steady(case, asked) if moving else _of_rest(case, asked)
        except PfaffError:
            continue
        return None if found is None else _resolved(*found)
    return None


def _candidates(size: int) -> Iterator[int]:
    yield from dict.fromkeys([size // 2, 0, size - 1, size // 3])


def _of_rest(case: Any, asked: Asked) -> tuple[Frame, np.ndarray, float] | None:
    """About an equilibrium that is followed from no load, or from the value that the parameter has."""
    hopf = case.hopf(asked.load, asked.to, **asked.fixed)
    around, load, path = hopf.around, hopf.load, case.path(hopf.load, asked.fixed)
    J = around.jacobian(hopf.x, hopf.value)
    border = bordering(J, around.zeros, around.held)
    fixed_origin = isinstance(path, LoadPath) and not path.origin
    start = _beginning(path, around.flow)
    known = (around.flow, load, path.origin if fixed_origin else None, start, around.zeros, border, J, hopf.omega)
    found = _framed(known, case.numbers_at(load, hopf.value), path.origin, hopf.value, asked.to)
    guess = np.array([float(asked.fixed.get(name, 0.0)) for name in around.flow.states])
    if found is None or np.array_equal(guess, start):
        return found
    return replace(found[0], guess=guess), *found[1:]


def _of_steady(case: Any, asked: Asked) -> tuple[Frame, np.ndarray, float] | None:
    """About steady motions that are followed in a parameter, a speed or a coordinate."""
    if asked.load is None or asked.to is None:
        return None
    begin = case.steady(**asked.fixed)
    first = next(iter(begin.branch(asked.load, asked.to).of_kind("hopf")), None)
    if first is None:
        return None
    speed = asked.load not in case.system.parameter_names
    there = case.at(**({} if speed else {asked.load: first.value}))
    motion = there.steady(begin.state, **{**asked.fixed, **({asked.load: first.value} if speed else {})})
    J = motion.flow.jacobian(motion.x, there)
    zeros = sum(motion.zeros)
    held = tuple(motion.flow.states.index(name) for name in asked.fixed)
    begins = begin[asked.load] if speed else float(case.numbers[case.system.parameter_names.index(asked.load)])
    border = bordering(J, zeros, held)
    known = (motion.flow, asked.load, begins if speed else None, begin.x, zeros, border, J, first.omega)
    numbers = np.append(case.numbers, first.value) if speed else there.numbers
    return _framed(known, numbers, begins, first.value, asked.to)


def _framed(
    known: tuple[Any, ...], numbers: np.ndarray, begins: float, value: float, to: float | None
) -> tuple[Frame, np.ndarray, float] | None:
    flow, load, origin, x, zeros, border, J, omega = known
    distance = abs(value - begins)
    if not distance:
        return None
    farthest = FARTHEST * BEYOND * distance if to is None else abs(to - begins)
    frame = Frame(
        flow=flow,
        load=load,
        origin=origin,
        sign=float(np.sign(value - begins)),
        first=min(BEYOND * distance, farthest),
        farthest=farthest,
        bounded=to is not None,
        x=x,
        zeros=zeros,
        columns=np.ascontiguousarray(border.columns),
        rows=np.ascontiguousarray(border.rows),
        scale=balanced(J)[1],
        unit=float(omega),
    )
    return frame, numbers[:, None].copy(), begins


def _beginning(path: Any, flow: Flow) -> np.ndarray:
    if isinstance(path, StatePath):
        return path.solution(path.origin)
    q = path.solution(path.origin)[: path.balance.statics.n]
    rest = dict(zip(path.case.system.coordinate_names, q, strict=True))
    return np.array([rest.get(name, 0.0) for name in flow.states])


def _resolved(frame: Frame, numbers: np.ndarray, begins: float) -> Frame | None:
    """With as many nodes as the test function needs, and the order to which it vanishes where the path begins."""
    from pfaff.studies.along_loads import probed, series

    near = np.array(NEAR)[:, None] * frame.first
    values = probed(frame, numbers, near, np.array([begins]))
    if values is None or not (values.hopf.all() and values.zero.all()):
        return None
    orders = (max(0, round(float(np.log2(np.abs(each[1, 0] / each[0, 0]))))) for each in (values.hopf, values.zero))
    frame = replace(frame, order=next(orders), zero_order=next(orders))
    for nodes in NODES:
        tried = replace(frame, nodes=nodes)
        found = series(tried, numbers, np.zeros(1), np.array([frame.first]), np.array([begins]))
        if found is not None and np.abs(found[-2:]).max() <= RESOLVED * np.abs(found).max():
            return tried
    return None
