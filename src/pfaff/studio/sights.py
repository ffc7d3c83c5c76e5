"""From results to what the page draws: numbers and scenes, nothing computed that is not in a result or on a path."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from pfaff.algebra.tolerances import GROWING
from pfaff.draw.footage import Footage
from pfaff.draw.labels import letters
from pfaff.draw.scene import scene_of
from pfaff.errors import ConvergenceError, PfaffError, RankError
from pfaff.statement.values import number_from
from pfaff.studio.sliders import handy
from pfaff.studio.subject import SLOWEST, Assembled, Roots, Stated, Subject
from pfaff.studio.view import View

LOADS = 241  # at which eigenvalues are drawn against the load
COARSE = 31  # number of them that come first where each takes long
INSIDE = (0.0, 0.31, 0.73, 1.0)  # shares of a range at which it is checked whether the motions are affine in the load
NEAR, STRAIGHT = 1e-2, 1e-12  # share of a range where a line begins; relative misfit of the balance at its end
AFFINE = 1e-11  # relative misfit of a straight line that is rounding
TINY = 1e-300  # beside it nothing is flat
FRAMES = 49  # frames of a mode
SECONDS = 2.4  # seconds of one swing to and fro
SWING = 0.22  # largest displacement of a mode, relative to the structure's size
TURN = 0.6  # largest amplitude of a coordinate, whatever is drawn
BEYOND = 1.35  # range of pictures, relative to the last critical load


def packed(numbers: Any) -> str:
    """An array for the page: base64 of 32-bit floats, as in films; NaN stays NaN."""
    return base64.b64encode(np.ascontiguousarray(numbers, dtype="<f4").tobytes()).decode()


def roots_data(roots: Roots) -> dict[str, Any]:
    """Eigenvalues in the complex plane, in double precision: the page compares and shows their digits."""
    shown = roots.slow
    values = roots.values[shown]
    return {
        "re": values.real.tolist(),
        "im": values.imag.tolist(),
        "growing": [bool(each) for each in roots.growing[shown]],
        "places": shown.tolist(),
        "faster": len(roots.values) - len(shown),
        "zeros": roots.zeros,
        "lead": roots.lead,
    }


# The structure


def mode_data(subject: Stated, view: View, roots: Roots) -> dict[str, Any]:
    """The structure at rest, or swinging in the selected mode: its shape, not how it grows or decays."""
    case: Any = subject.bound(view)
    found, q = roots.spectrum, roots.q
    assert found is not None
    assert q is not None
    if view.shows not in ("lead", "mode") or not len(found.values):
        return rest_data(subject, case, q, "as it moves" if view.shows == "steady" else "at rest")
    place = roots.lead if view.shows == "lead" else min(view.place[0], len(found.values) - 1)
    value, shape = found.values[place], found.vectors[:, place]
    shape = shape / (shape[np.abs(shape).argmax()] or 1.0)
    turn = np.linspace(0.0, 2 * np.pi, FRAMES)
    swing = np.real(shape[:, None] * np.exp(1j * turn))
    amplitude = _amplitude(case, q, swing)
    period = 2 * np.pi / abs(value.imag) if value.imag else 1.0
    words = f"mode of the eigenvalue {_complex(value, found.rounding[place])}" + (
        "" if value.imag else ", which does not oscillate"
    )
    return _played(case, q[:, None] + amplitude * swing, turn / (2 * np.pi) * period, words, SECONDS)


def _amplitude(case: Any, q: np.ndarray, swing: np.ndarray) -> float:
    """The amplitude at which the motion is visible, and the structure does not turn over."""
    size = TURN / 2
    moved = scene_of(case, q[:, None] + size * swing, np.zeros(swing.shape[1]))
    rest = scene_of(case, q[:, None], np.zeros(1))
    far = max(float(np.nanmax(np.abs(at - rest.points[name]))) for name, at in moved.points.items())
    return float(min(TURN, size * SWING * (rest.extent or rest.scale) / far)) if far > 0 else size


def rest_data(subject: Stated, case: Any, q: np.ndarray, words: str) -> dict[str, Any]:
    """One configuration, as a still film."""
    return _played(case, np.repeat(np.asarray(q, dtype=float)[:, None], 2, axis=1), np.array([0.0, 1.0]), words, 1.0)


def film_data(case: Any, q: np.ndarray, t: np.ndarray, words: str, seconds: float) -> dict[str, Any]:
    """Coordinates in time, such as those of an orbit."""
    return _played(case, q, t, words, seconds)


def _played(case: Any, q: np.ndarray, t: np.ndarray, words: str, seconds: float) -> dict[str, Any]:
    name = case.system.name
    return Footage(scene_of(case, q, t), name, f"{name}: {words}.").data(seconds)


def _complex(value: complex, rounding: float) -> str:
    """A pair of eigenvalues or a real one as text; a growth rate that is rounding is left out."""
    if not value.imag:
        return _minus(f"{value.real:.4g}")
    growth = f"{value.real:.4g} " if abs(value.real) > rounding else ""
    return _minus(f"{growth}± {abs(value.imag):.4g} i")


def _minus(text: str) -> str:
    return text.replace("-", "−")


# Eigenvalues against the load


@dataclass(frozen=True)
class Paths:
    """Eigenvalues at loads, one row for each; NaN where there are fewer. ``ended`` says why not farther."""

    loads: np.ndarray
    values: np.ndarray
    ended: str = ""

    def data(self, subject: Subject, view: View) -> dict[str, Any]:
        load, (low, to) = subject.load(view), load_range(subject, view)
        order = np.argsort(np.abs(self.values), axis=1, kind="stable")[:, :SLOWEST]
        values = np.take_along_axis(self.values, order, axis=1)
        growing = values.real > GROWING * np.nanmax(np.abs(values), initial=TINY)
        return {
            "load": load,
            "letters": letters(load),
            "low": low,
            "to": to,
            "loads": packed(self.loads),
            "re": packed(np.where(np.abs(values.real) > GROWING * np.abs(values), values.real, 0.0)),
            "im": packed(values.imag),
            "growing": packed(growing),
            "count": values.shape[1],
        }


def straight_paths(subject: Subject, view: View) -> Paths | None:
    """All at once, where the equilibrium moves on a straight line and the motions are affine in the load, while a
    slider moves; None elsewhere."""
    if not isinstance(subject, Stated):
        return None
    low, to = load_range(subject, view)
    path: Any = subject.bound(view).path(subject.load(view), {})
    first, beside = path.solution(low), path.solution(low + NEAR * (to - low))
    if path.residual(first + (beside - first) / NEAR, to) > STRAIGHT:
        return None
    loads = np.linspace(low, to, LOADS)
    values = _affine(path, loads)
    return None if values is None else Paths(loads, values)


def paths_along(subject: Subject, view: View) -> Iterator[Paths]:
    """Load by load, a few first: in the background."""
    low, to = load_range(subject, view)
    if isinstance(subject, Assembled):
        yield from _one_by_one(lambda load: _of_assembly(subject, view, load), low, to, COARSE)
        return
    assert isinstance(subject, Stated)
    path: Any = subject.bound(view).path(subject.load(view), {})
    to, ended = _reached(path, to)
    for each in _one_by_one(lambda load: path.linearise(load).eigenvalues(), low, to, LOADS):
        yield Paths(each.loads, each.values, ended)


def load_range(subject: Subject, view: View) -> tuple[float, float]:
    """The range of the load in pictures: as asked for, or that of the slider; below zero if its value is."""
    load = subject.load(view)
    about = next(each for each in subject.parameters() if each["name"] == load)
    value = number_from(load, view.values.get(load, about["text"] or "0"))
    to = number_from("to", view.to) if view.to else max(about["high"], 2 * abs(value))
    return min(0.0, about["low"], 2 * value), to or 1.0


def _reached(path: Any, to: float) -> tuple[float, str]:
    """How far the path goes, and why no farther."""
    try:
        path.solution(to)
    except ConvergenceError as problem:
        if path.end is None:
            raise
        return float(path.end), str(problem)
    return to, ""


def _affine(path: Any, loads: np.ndarray) -> np.ndarray | None:
    """All eigenvalues at once, if the matrices are affine in the load in the directions of the first."""
    low, to = loads[0], loads[-1]
    nodes = [low + share * (to - low) for share in INSIDE]
    linear = [path.linearise(node) for node in nodes]
    try:
        pencils = [each.motions(linear[0]).coefficients for each in linear]
    except (RankError, np.linalg.LinAlgError):  # no directions in common
        return None
    first, last = pencils[0], pencils[-1]
    if not len(first[0]):
        return None
    for share, inner in zip(INSIDE[1:-1], pencils[1:-1], strict=True):
        for a, b, between in zip(first, last, inner, strict=True):
            size = np.abs(a).max(initial=0.0) + np.abs(b).max(initial=0.0)
            if np.abs((1 - share) * a + share * b - between).max(initial=0.0) > AFFINE * size:
                return None
    share = ((loads - low) / ((to - low) or 1.0))[:, None, None]
    *lower, top = [(1 - share) * a + share * b for a, b in zip(first, last, strict=True)]
    return np.linalg.eigvals(_first_order([-np.linalg.solve(top, each) for each in lower]))


def _first_order(blocks: list[np.ndarray]) -> np.ndarray:
    """The companion matrices of λ^k = Σ blocks λ^j."""
    if len(blocks) == 1:
        return blocks[0]
    stiffness, damping = blocks
    n = stiffness.shape[-1]
    top = np.concatenate([np.zeros_like(stiffness), np.broadcast_to(np.eye(n), stiffness.shape)], axis=2)
    return np.concatenate([top, np.concatenate([stiffness, damping], axis=2)], axis=1)


def _of_assembly(subject: Assembled, view: View, load: float) -> np.ndarray:
    from dataclasses import replace

    return subject.roots(replace(view, values={subject.assembly.load: repr(load)})).values


def _one_by_one(eigenvalues: Callable[[float], np.ndarray], low: float, to: float, most: int) -> Iterator[Paths]:
    """A few loads first, those between them later."""
    known: dict[float, np.ndarray] = {}
    count = COARSE
    while count <= most:
        for load in map(float, np.linspace(low, to, count)):
            if load not in known:
                try:
                    known[load] = eigenvalues(load)
                except (PfaffError, np.linalg.LinAlgError):
                    known[load] = np.zeros(0, dtype=complex)
        loads = sorted(known)
        width = max((len(known[load]) for load in loads), default=0)
        rows = [np.append(known[load], np.full(width - len(known[load]), np.nan)) for load in loads]
        yield Paths(np.array(loads), np.array(rows).reshape(len(loads), width))
        count = 2 * count - 1


# Critical loads


def critical_data(found: Mapping[str, Any], load: str) -> dict[str, Any]:
    """The marks of critical loads, each with its sentence, and how far a picture should go."""
    marks = [
        {"kind": kind, "value": each.value, "frequency": each.frequency, "status": each.status}
        for kind, each in found.items()
    ]
    values = [abs(mark["value"]) for mark in marks if mark["value"] is not None]
    return {"load": load, "marks": marks, "to": handy(BEYOND * max(values)) if values and max(values) else None}
