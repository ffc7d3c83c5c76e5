"""The reference point of a study, from which its frame is taken: the load sought, where its path begins, and time
scales.

One scalar search tells how far loads are to be looked for, and how finely.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from typing import Any

import numpy as np

from pfaff.algebra.bordering import Border, balanced, bordering
from pfaff.bifurcation.hopf.finding import RANGE
from pfaff.continuation.kinds import Kind
from pfaff.errors import NoBifurcationError, PfaffError
from pfaff.flow.flow import Flow
from pfaff.rest.field import field_at
from pfaff.rest.flow_paths import FlowPath
from pfaff.rest.path import LoadPath
from pfaff.stability.natural_range import natural_range
from pfaff.studies.along_loads import Distances, nodes_of, probed
from pfaff.studies.block import Job
from pfaff.studies.catalogue import Asked, speeds
from pfaff.studies.frames import RESOLVED, Frame
from pfaff.studies.marching import UNRESOLVED, March

NODES = (6, 8, 12, 16, 24, 32, 48)  # numbers of nodes at which a test function is evaluated between two loads
BEYOND = 1.4  # end of the first stretch, relative to the load of the reference
FARTHEST = 16.0  # where the scalar search takes over, relative to the first stretch
NEAR = (1e-4, 2e-4)  # loads, relative to the first stretch, that show how a test function vanishes at the origin
CORNERS = 64  # most corners of the box of values whose ranges are examined
SEEN, MOST = 10, 0.85  # points that are tried, and the share of them that the nodes must resolve
TESTS = {"hopf": "hopf", "divergence": "meeting", "buckling": "zero"}  # function that vanishes at loads of a kind


@dataclass(frozen=True)
class Reference:
    """A load on a path at one point of a study, with the small motions there."""

    flow: Flow
    load: str
    numbers: np.ndarray  # all parameters, the load among them
    begins: float  # the load where the path begins
    everywhere: bool  # whether it begins there at all points
    x: np.ndarray  # where the path begins
    guess: np.ndarray | None
    zeros: int
    border: Border
    J: np.ndarray
    rate: float

    def frame(self, value: float, to: float | None, test: str) -> Frame | None:
        """The frame from the beginning to beyond a load, with as many nodes as the test function needs."""
        distance = abs(value - self.begins)
        if not distance:
            return None
        farthest = FARTHEST * BEYOND * distance if to is None else abs(to - self.begins)
        first, sign = min(BEYOND * distance, farthest), float(np.sign(value - self.begins))
        return self._resolved(replace(self.still(first), farthest=farthest, to=to, sign=sign, test=test))

    def still(self, first: float) -> Frame:
        """The frame without a load that is sought."""
        return Frame(
            flow=self.flow,
            load=self.load,
            origin=self.begins if self.everywhere else None,
            first=first,
            x=self.x,
            zeros=self.zeros,
            columns=np.ascontiguousarray(self.border.columns),
            rows=np.ascontiguousarray(self.border.rows),
            scale=balanced(self.J)[1],
            unit=self.rate,
            guess=self.guess,
        )

    def _resolved(self, frame: Frame) -> Frame | None:
        """The frame with the order to which the test function vanishes where the path begins, and enough nodes for its
        series."""
        numbers, begins = self.numbers[:, None].copy(), np.array([self.begins])
        whole = Distances(np.zeros(1), np.array([frame.first]), np.array(NEAR))
        values = probed(frame, numbers, begins, whole)
        if not (_countable(values.test) and _countable(values.zero)):
            return None
        frame = replace(frame, order=_order(values.test), zero_order=_order(values.zero))
        for nodes in NODES:
            tried = replace(frame, nodes=nodes)
            places, matrix = nodes_of(nodes)
            found = probed(tried, numbers, begins, replace(whole, nodes=(1 + places) / 2))
            series = matrix @ found.test[:, 0]
            if found.followed.all() and np.abs(series[-2:]).max() <= RESOLVED * np.abs(series).max():
                return tried
        return None


def frame_of(job: Job, kind: str) -> Frame | None:
    """The frame for loads of a kind (hopf, divergence, buckling), or for equilibria, at the first of a few points that
    has one."""
    for place in _candidates(job.points.size):
        parameters, fixed = job.split(job.points.point(place))
        asked = replace(job.asked, fixed={**job.asked.fixed, **fixed})
        try:
            case = job.case.at(**parameters)
            moving = speeds(case, asked)
            if fixed and not moving:
                return None  # every point starts from other states
            if moving:
                return _of_steady(case, asked) if kind == "hopf" else None
            if kind == "rest":
                return _at_rest(case, asked)
            frame = _of_loads(case, asked, kind)
            return frame and _fitted(replace(frame, single=partial(_reach, job, asked, frame.load)), job)
        except PfaffError:
            continue
    return None


def _reach(job: Job, asked: Asked, load: str) -> tuple[float, float]:
    """How far single searches go at least if no end is given.

    A natural range is rounded up, and changes slowly with parameters: half of the least at points of all kinds is
    within that of every one.
    """
    least = np.inf
    for point in [*islice(job.points.corners(), CORNERS), *map(job.points.point, _spread(job.points.size))]:
        try:
            path = job.case.at(**point).path(load, asked.fixed)
            if not isinstance(path, LoadPath):
                return RANGE, RANGE
            if path.origin:
                return 0.0, RANGE
            least = min(least, natural_range(path) / 2)
        except PfaffError:
            continue
    return least, 0.0


def _spread(size: int) -> np.ndarray:
    """A few places among many, spread evenly."""
    return np.unique(np.linspace(0, size - 1, SEEN).astype(int))


def _fitted(frame: Frame, job: Job) -> Frame:
    """The frame with as many nodes as most of a few points need, lest these search their first stretch piece by
    piece."""
    some = job.parameters_at(_spread(job.points.size))
    shares = {}
    with np.errstate(all="ignore"):
        for nodes in (each for each in NODES if each >= frame.nodes):
            tried = replace(frame, nodes=nodes)
            stretch = next(March(tried, some).stretches(), None)
            if stretch is None:
                return frame
            shares[tried] = (stretch.first(stretch.seen.test)[0] != UNRESOLVED).mean()
            if shares[tried] >= MOST:
                return tried
    return max(shares, key=lambda tried: shares[tried])


def _candidates(size: int) -> Iterator[int]:
    yield from dict.fromkeys([size // 2, 0, size - 1, size // 3])


def _of_loads(case: Any, asked: Asked, kind: str) -> Frame | None:
    """The frame about an equilibrium that is followed from zero load, or from the value of the parameter."""
    if kind == "hopf":
        hopf = case.hopf(asked.load, asked.to, fixed=asked.fixed)
        return _on_path(case, asked, hopf.load, hopf.value, hopf.omega).frame(hopf.value, asked.to, TESTS[kind])
    load = case.load_name(asked.load)
    found = getattr(case, kind)(load, asked.to, fixed=asked.fixed).value
    value = asked.to if found is None else found
    if not value:
        raise NoBifurcationError(f"no {kind} at this point")
    return _on_path(case, asked, load, value).frame(value, asked.to, TESTS[kind])


def _at_rest(case: Any, asked: Asked) -> Frame | None:
    """The frame about the equilibrium at the load of the case; None where constraints attract."""
    system = case.system
    load = system.load or next(iter(system.parameters), None)
    if load is None or asked.fixed or getattr(system, "holonomic_constraints", None) or case.values[load.name] is None:
        return None
    value = float(case.values[load.name])
    reference = _on_path(case, asked, load.name, value)
    return replace(reference, everywhere=system.load is not None and not reference.begins).still(abs(value) or 1.0)


def _on_path(case: Any, asked: Asked, load: str, value: float, rate: float | None = None) -> Reference:
    path = case.path(load, asked.fixed)
    if rate is None:
        rates = np.abs(path.linearise(value).eigenvalues())
        rate = float(np.exp(np.log(rates[rates > 0]).mean()))
    around, x = field_at(path, value, rate)
    J = around.jacobian(x, value)
    start = _beginning(path, around.flow)
    guess = np.array([float(asked.fixed.get(name, 0.0)) for name in around.flow.states])
    return Reference(
        flow=around.flow,
        load=load,
        numbers=case.numbers_at(load, value),
        begins=path.origin,
        everywhere=isinstance(path, LoadPath) and not path.origin,
        x=start,
        guess=None if np.array_equal(guess, start) else guess,
        zeros=around.zeros,
        border=bordering(J, around.zeros, around.held),
        J=J,
        rate=rate,
    )


def _of_steady(case: Any, asked: Asked) -> Frame | None:
    """The frame about steady motions that are followed in a parameter, a speed or a coordinate."""
    if asked.load is None or asked.to is None:
        return None
    begin = case.steady(fixed=asked.fixed)
    first = next(iter(begin.branch(asked.load, asked.to).of_kind(Kind.HOPF)), None)
    if first is None:
        return None
    speed = asked.load not in case.system.parameter_names
    there = case.at(**({} if speed else {asked.load: first.value}))
    motion = there.steady(begin.state, fixed={**asked.fixed, **({asked.load: first.value} if speed else {})})
    J, zeros = motion.flow.jacobian(motion.x, there), sum(motion.zeros)
    held = tuple(motion.flow.states.index(name) for name in asked.fixed)
    reference = Reference(
        flow=motion.flow,
        load=asked.load,
        numbers=np.append(case.numbers, first.value) if speed else there.numbers,
        begins=begin[asked.load] if speed else float(case.numbers[case.system.parameter_names.index(asked.load)]),
        everywhere=speed,
        x=begin.x,
        guess=None,
        zeros=zeros,
        border=bordering(J, zeros, held),
        J=J,
        rate=first.omega,
    )
    return reference.frame(first.value, asked.to, "hopf")


def _beginning(path: Any, flow: Flow) -> np.ndarray:
    if isinstance(path, FlowPath):
        return path.solution(path.origin)
    q = path.solution(path.origin)[: path.balance.statics.n]
    rest = dict(zip(path.case.system.coordinate_names, q, strict=True))
    return np.array([rest.get(name, 0.0) for name in flow.states])


def _countable(values: np.ndarray) -> bool:
    """Whether numbers can be ordered: neither lost in rounding nor infinite."""
    return bool(np.isfinite(values).all() and values.all())


def _order(values: np.ndarray) -> int:
    """The power of the distance with which a function vanishes, given at one distance and at twice that."""
    return max(0, round(float(np.log2(np.abs(values[1, 0] / values[0, 0])))))
