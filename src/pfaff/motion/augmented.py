"""Motions by the three-field augmented Lagrangian: redundant constraints, and through singular configurations.

The step is that of ``three_fields``. Its length is fixed, or such that the local error, seen in the second divided
difference of the midpoint velocities, h²|v̈|/12, stays below the tolerance times the largest velocity so far, both in
the metric of the kinetic energy. Where a constraint is singular the difference jumps: the step shrinks, but not for
ever.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from pfaff.algebra.allowed_inertia import penalised
from pfaff.algebra.tolerances import RANK
from pfaff.errors import ConvergenceError
from pfaff.flow.compiled import Compiled
from pfaff.flow.differentiation import gradient
from pfaff.flow.graph import ZERO, subs
from pfaff.flow.lagrangian import dot, stated_graph_of
from pfaff.flow.verified_accelerations import stated_balances
from pfaff.motion.between_steps import NEVER, Resolution
from pfaff.motion.measures import Energy, Stored, has_power, measures
from pfaff.motion.outcomes import COLLAPSED, FINISHED, INTERRUPTED, TOO_MANY, Outcome, Status
from pfaff.motion.result import Motion
from pfaff.motion.steep_functions import steep_functions
from pfaff.motion.three_fields import Midpoint, Node, ThreeFields
from pfaff.statement import System
from pfaff.statement.inertia import usual_inertias
from pfaff.threads import cached_property, hand_on, once

if TYPE_CHECKING:
    from pfaff.case import Case
    from pfaff.motion.simulate import Task

SAFETY, SHRINK, GROW = 0.9, 0.3, 1.5
REJECT = 2.0  # error, relative to the tolerance, at which a step is rejected
FIRST = 1e-4  # longest first step, relative to the duration
SHARE = 0.01  # share of the duration: the speed gained in it from the first forces sets a scale
FLOOR = 1e-3  # steps shorter than this, relative to the longest so far, are accepted as they are
SHORTEST = 1e-12  # step, relative to the duration, at which a failure of Newton's method ends the motion
COARSEST = 1e-3  # tolerance that steps of a given length are judged by
HEARD = 100  # steps between two reports of progress
FEW = 4  # parts of a step in which steep functions must be resolved: what happens between the ends is not looked at
TINY = np.finfo(float).tiny


@dataclass
class Track:
    """Nodes and midpoints so far, and how the run ended."""

    nodes: list[Node]
    middles: list[Midpoint] = field(default_factory=list)
    status: Status = FINISHED

    @cached_property
    def t(self) -> np.ndarray:
        return np.array([node.t for node in self.nodes])

    @cached_property
    def q(self) -> np.ndarray:
        return np.array([node.q for node in self.nodes]).T

    @cached_property
    def v(self) -> np.ndarray:
        return np.array([node.v for node in self.nodes]).T


def augmented_motion(task: Task, tolerance: float, step: float | None, reason: str) -> Motion:
    """The motion sampled at the task's times; with a ``step``, in equal steps of at most that length."""
    case = task.driven.case
    fields = ThreeFields(case.system, case.numbers)
    track = Track([fields.start(task.start.q, task.start.v)])
    try:
        if step is not None:
            _equal_steps(fields, track, task, step)
        else:
            _controlled_steps(fields, track, task, tolerance)
    except KeyboardInterrupt:
        hand_on()
        track.status = INTERRUPTED
    if len(track.nodes) < 2:
        raise ConvergenceError(f"{case.system.name} could not take a single step: {track.status}")
    del track.middles[len(track.nodes) - 1 :]  # Ctrl-C may come between the two
    return _sampled(task, fields, track, tolerance, step, reason)


def _equal_steps(fields: ThreeFields, track: Track, task: Task, step: float) -> None:
    step = min(step, task.max_step)
    count = max(1, int(np.ceil(abs(task.duration) / step * (1 - 1e-12))))
    h, scale = task.duration / count, 0.0
    if count > task.max_steps:
        count, track.status = task.max_steps, TOO_MANY
    for k in range(count):
        node = track.nodes[-1]
        scale = max(scale, node.v @ node.M @ node.v)
        found = fields.step(node, h, _guess(track, h), scale)
        if found is None:
            reason = f"Newton's method does not converge with steps of {abs(h):.3g}, give a shorter one"
            track.status = Status(Outcome.FAILED, reason)
            return
        track.middles.append(found[1])
        track.nodes.append(replace(found[0], t=(k + 1) * h))
        if k % HEARD == 0:
            task.progress((k + 1) / count)


def _controlled_steps(fields: ThreeFields, track: Track, task: Task, tolerance: float) -> None:
    end, longest = task.duration, 0.0
    node, resolution = track.nodes[0], _resolution(task)
    scale = max(node.v @ node.M @ node.v, _work_scale(task))
    h = np.sign(end) * min(FIRST * abs(end), tolerance**0.5 * SHARE * abs(end))
    while node.t != end:
        if len(track.middles) >= task.max_steps:
            track.status = TOO_MANY
            return
        h = np.sign(end) * min(abs(h), abs(end - node.t), task.max_step)
        found = fields.step(node, h, _guess(track, h), scale)
        if found is None:
            h /= 4
            if abs(h) < SHORTEST * abs(end):
                track.status = COLLAPSED
                return
            continue
        error = _error(track, found[1], h, node.M) / (tolerance * max(scale, TINY) ** 0.5)
        if error > REJECT and abs(h) > FLOOR * longest:
            h *= max(SHRINK, SAFETY * error**-0.5)
            continue
        if resolution and _leaps(resolution, node, found[0]):
            h = np.sign(end) * resolution.room
            continue
        node = found[0] if abs(end - found[0].t) > SHORTEST * abs(end) else replace(found[0], t=end)
        track.middles.append(found[1])
        track.nodes.append(node)
        scale, longest = max(scale, node.v @ node.M @ node.v), max(longest, abs(h))
        if len(track.middles) > 2:
            h *= float(np.clip(SAFETY * max(error, TINY) ** -0.5, SHRINK, GROW))
        if len(track.middles) % HEARD == 0:
            task.progress(node.t / end)


def _resolution(task: Task) -> Resolution | None:
    """What bounds steps where functions of the statement are steep; None if none are."""
    case, steep = task.driven.case, steep_functions(task.driven.case.system, 1.0)
    if steep is None:
        return None

    def arguments(x: np.ndarray, t: np.ndarray) -> np.ndarray:
        v = x[len(x) // 2 :]
        return steep(x, np.concatenate([v, 0 * v]), case.numbers, t)

    return Resolution(steep, arguments, NEVER * abs(task.duration), parts=FEW)


def _leaps(resolution: Resolution, node: Node, found: Node) -> bool:
    """Whether a step does not resolve all steep functions on the straight way between its ends."""
    ends = np.array([np.concatenate([each.q, each.v]) for each in (node, found)])

    def sample(t: float) -> np.ndarray:
        part = (t - node.t) / (found.t - node.t)
        return (1 - part) * ends[0] + part * ends[1]

    return resolution.good(node.t, found.t, sample) != found.t


def _guess(track: Track, h: float) -> np.ndarray:
    """The velocity at the next midpoint, extrapolated from the last one through the node."""
    v = track.nodes[-1].v
    if not track.middles:
        return v
    return v + h / (track.nodes[-1].t - track.nodes[-2].t) * (v - track.middles[-1].v)


def _error(track: Track, new: Midpoint, h: float, M: np.ndarray) -> float:
    """h²|v̈|/12 from the last three midpoints; zero while there are fewer."""
    if len(track.middles) < 2:
        return 0.0
    t = np.array([node.t for node in track.nodes[-3:]] + [track.nodes[-1].t + h])
    middle = (t[1:] + t[:-1]) / 2
    slopes = np.diff([track.middles[-2].v, track.middles[-1].v, new.v], axis=0) / np.diff(middle)[:, None]
    bend = (slopes[1] - slopes[0]) / (middle[2] - middle[0])
    return float(h**2 / 6 * max(bend @ M @ bend, 0.0) ** 0.5)


def _work_scale(task: Task) -> float:
    """Twice the kinetic energy that the accelerations at the start would bring about in a share of the motion."""
    n, case = len(task.start.q), task.driven.case
    M, h, A, gamma = _split(case.system, stated_balances(case.system)(task.x, case.numbers)[:, None])
    speed = SHARE * task.duration * accelerations(case.system, M, h, A, gamma)[0][0]
    return float(speed @ M[0] @ speed) if n else 0.0


def accelerations(
    system: System, M: np.ndarray, h: np.ndarray, A: np.ndarray, gamma: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """q̈ and the reactions λ of M q̈ + h + Aᵀλ = 0, A q̈ + γ = 0: of all solutions the one with least Σ (a M⁻¹aᵀ) λ².

    The first axis counts states. M may be singular where the constraints hold what has no inertia: M + AᵀS A with
    h + AᵀS γ has the same solutions.
    """
    M, S = penalised(M, A, usual_inertias(system))
    h = h + np.einsum("kij,ki->kj", A, S * gamma)
    sizes, axes = np.linalg.eigh(M)
    root = axes / np.sqrt(np.maximum(sizes, 1e-14 * sizes[:, -1:]))[:, None, :]  # root rootᵀ = M⁻¹
    pull = -np.einsum("kij,ki->kj", root, h)
    if not A.shape[1]:
        return np.einsum("kij,kj->ki", root, pull), np.zeros((len(M), 0))
    rows = A @ root
    lengths = np.linalg.norm(rows, axis=2)
    lengths = np.where(lengths > 0, lengths, 1.0)
    inverse = np.linalg.pinv(rows / lengths[:, :, None], rcond=RANK)  # smaller ones have no reaction
    excess = np.einsum("kij,kj->ki", rows, pull) + gamma
    force = np.einsum("kij,kj->ki", inverse, excess / lengths)
    reactions = np.einsum("kij,ki->kj", inverse, force) / lengths
    return np.einsum("kij,kj->ki", root, pull - force), reactions


def _split(system: System, values: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    n, m = len(system.coordinates), len(system.stated.constraints)
    M, h, A, gamma = np.split(values.T, np.cumsum([n * n, n, m * n]), axis=1)
    return M.reshape(-1, n, n), h, A.reshape(len(A), m, n), gamma


@once(most=1)
def powers(system: System) -> Compiled:
    """Powers dissipated and supplied by forces and explicit time, and b of every constraint, at a midpoint."""
    graph = stated_graph_of(system)
    still = subs(graph.constraints, dict.fromkeys(graph.v, ZERO))
    rows = [dot(gradient(graph.dissipation, graph.v), graph.v), dot(graph.forces, graph.v) + graph.explicit, *still]
    return Compiled(rows, [*graph.q, *graph.v])


def _work(case: Case, track: Track) -> np.ndarray:
    """Energies dissipated and supplied up to each node, by the midpoint rule and the impulses of the steps."""
    work = np.zeros((2, len(track.t)))
    if not has_power(case.system):
        return work
    states = np.array([np.concatenate([middle.q, middle.v]) for middle in track.middles]).T
    steps, times = np.diff(track.t), (track.t[1:] + track.t[:-1]) / 2
    values = powers(case.system)(states, case.numbers, times)
    driven = (np.array([middle.impulse for middle in track.middles]).T * values[2:]).sum(axis=0)
    ends = powers(case.system)(np.concatenate([track.q, track.v])[:, 1:], case.numbers, track.t[1:])
    driven += (np.array([middle.end_impulse for middle in track.middles]).T * ends[2:]).sum(axis=0)
    work[:, 1:] = np.cumsum([values[0] * steps, values[1] * steps + driven], axis=1)
    return work


def _sampled(
    task: Task, fields: ThreeFields, track: Track, tolerance: float, step: float | None, reason: str
) -> Motion:
    from scipy.interpolate import CubicHermiteSpline, CubicSpline

    case, forward = task.driven.case, np.sign(task.duration)
    t = task.t if track.status.finished else np.linspace(0.0, track.t[-1], len(task.t))
    knots = forward * track.t
    positions = CubicHermiteSpline(knots, track.q, forward * track.v, axis=1)
    velocities = CubicSpline(knots, np.concatenate([track.v, _work(case, track)]), axis=1)
    n = fields.n

    def dense(times: np.ndarray) -> np.ndarray:
        return np.concatenate([positions(forward * times), velocities(forward * times)[:n]])

    y = dense(t)
    nearest = np.clip(np.searchsorted(knots, forward * t), 0, len(knots) - 1)
    between = np.abs(track.t[nearest] - t) > 1e-12 * abs(task.duration)
    for k in np.flatnonzero(between):
        y[:, k] = np.concatenate(fields.set_right(t[k], y[:n, k], y[n:, k]))
    y[:, ~between] = np.concatenate([track.q, track.v])[:, nearest[~between]]
    here = measures(case.system)(y, case.numbers, t)
    p = accelerations(case.system, *_split(case.system, stated_balances(case.system)(y, case.numbers, t)))[1].T
    energy = Energy(here[0], here[1], here[2], *velocities(forward * t)[n:])
    length = f"of {abs(track.t[1]):.6g}" if step is not None else f"for a tolerance of {tolerance:g}"
    count = len(track.t) - 1
    return Motion(
        t=t,
        y=y,
        measures=Stored(p, here[3:], energy, track.t),
        **task.describe(),
        ended=track.status,
        method=f"three-field augmented Lagrangian, {count} steps {length} ({reason}); reactions of least norm",
        events={},
        dense=dense,
        tolerance=tolerance if step is None else COARSEST,
    )
