"""Diagrams in the background: steps that are followed point by point, and the data of each point to be shown.

A diagram is a list of steps, each from the case or from a special point of an earlier one. Objects are kept by their
arguments, so that known ones need not be followed again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import count
from typing import Any

import numpy as np

from pfaff.draw.footage import cycle
from pfaff.errors import ParameterError
from pfaff.statement.values import end_from
from pfaff.studio.subject import Stated, Subject, check_case
from pfaff.studio.view import Step, View

SAMPLES = 241  # of an orbit, in time
KEPT = 24  # objects
LEADS: Mapping[tuple[str, str], tuple[str, ...]] = {
    ("equilibria", "hopf"): ("orbits", "curve"),
    ("equilibria", "fold"): ("curve",),
    ("equilibria", "branch point"): ("switch",),
    ("cycles", "fold"): ("curve",),
    ("cycles", "torus"): ("curve",),
    ("cycles", "period doubling"): ("switch", "curve"),
    ("cycles", "symmetry breaking"): ("switch", "curve"),
    ("cycles", "branch point"): ("switch",),
}

RESTING = ("branch", "steady")  # steps that give equilibria or steady motions

Say = Callable[..., None]


@dataclass(frozen=True)
class Kept:
    """One point for the structure and the spectrum: times and rows by name, parameters, roots, and its sentence."""

    t: np.ndarray
    rows: Mapping[str, np.ndarray]
    values: Mapping[str, float]
    roots: np.ndarray
    growing: np.ndarray
    status: str

    @property
    def at_rest(self) -> bool:
        return len(self.t) == 1


class Diagram:
    """The objects of diagrams, in the process that follows them."""

    def __init__(self, subject: Subject) -> None:
        self.subject = subject
        self.objects: dict[tuple[Any, ...], Any] = {}

    def grow(self, view: View, say: Say) -> dict[str, Any]:
        """All steps of a view, known or not; returns the message about the last object."""
        subject = check_case(self.subject, "branches")
        status = "nothing is followed yet"
        for k, step in enumerate(view.steps):
            found = self.grown(subject, view, k, say)
            known = [((k, -1 - i), heavy(special)) for i, special in enumerate(found.special)]
            say({"step": k, "special": specials(found, step), **_ending(found)}, *known)
            status = found.status
        return {"status": status}

    def grown(self, subject: Stated, view: View, k: int, say: Say = lambda *words: None) -> Any:
        """The object of one step, after those that it starts from."""
        key = (tuple(sorted(view.grown.items())), view.load, *(step.text for step in view.steps[: k + 1]))
        if key in self.objects:
            found = self.objects[key]
            say({"step": k, "begun": begun(subject, view.steps[k], view)})
            for i, point in enumerate(found.points):
                _tell(say, k, i, point)
            return found
        say({"step": k, "begun": begun(subject, view.steps[k], view)})
        place = count(1)
        found = self._followed(subject, view, k, lambda point: _tell(say, k, next(place), point))
        _tell(say, k, 0, found.points[0])  # the start, of which progress is not informed
        self.objects[key] = found
        while len(self.objects) > KEPT:
            del self.objects[next(iter(self.objects))]
        return found

    def _followed(self, subject: Stated, view: View, k: int, tell: Callable[[Any], None]) -> Any:
        step, case = view.steps[k], subject.grown(view)
        to, name = end_from("to", step.to), step.parameter
        if step.verb == "steady":
            return case.steady(fixed=subject.held(view.grown)).branch(name, to, progress=tell)  # type: ignore[attr-defined]
        if step.of is None:
            return _first(case, step.verb, name or subject.load(view), to, tell)
        parent = self.grown(subject, view, step.of)
        if step.special is None:
            if step.verb != "curve" or view.steps[step.of].verb != "cycles":
                raise ParameterError(f"the step {step.text} starts from no special point: choose one")
            return case.hopf(view.steps[step.of].parameter or view.load or None).curve(name, to, progress=tell)
        if step.special >= len(parent.special):
            raise ParameterError(f"there are {len(parent.special)} special points, and not number {step.special}")
        special = parent.special[step.special]
        if step.verb == "curve":
            return special.curve(name, to, progress=tell)
        if step.verb == "switch":
            return special.switch(to, progress=tell)
        if getattr(special, "hopf", None) is None:
            raise ParameterError(f"no cycles are born at a {special.kind}: choose a Hopf point")
        return special.hopf.orbits(to, progress=tell)


def _first(case: Any, verb: str, name: str, to: float, tell: Callable[[Any], None]) -> Any:
    if verb == "cycles":
        return case.hopf(name).orbits(to, progress=tell)
    if verb == "branch":
        return case.branch(name, to, progress=tell)
    return case.response(name, to=to, progress=tell).orbits


def begun(subject: Stated, step: Step, view: View) -> dict[str, Any]:
    """What a step will give: cycles, equilibria, or a curve in two parameters."""
    first = step
    while first.of is not None and first.verb != "orbits":
        first = view.steps[first.of]
    kind = "equilibria" if first.verb in RESTING else "cycles"
    while first.of is not None:
        first = view.steps[first.of]
    load = first.parameter or subject.load(view)
    return {"kind": "curve" if step.verb == "curve" else kind, "load": load, "other": step.parameter}


# What is told of a point


def _tell(say: Say, k: int, i: int, point: Any) -> None:
    say({"step": k, "place": i, "point": light(point)}, ((k, i), heavy(point)))


def light(point: Any) -> dict[str, Any]:
    """The numbers that a diagram shows."""
    told = {"values": point.values, "stable": bool(getattr(point, "stable", True)), "status": point.status}
    if hasattr(point, "period"):
        orbit = point.orbit
        told |= {"period": point.period}
        told["high"] = {name: float(row.max()) for name, row in zip(orbit.states, orbit.x, strict=True)}
        told["low"] = {name: float(row.min()) for name, row in zip(orbit.states, orbit.x, strict=True)}
    else:
        told["high"] = point.state
    return told


def heavy(point: Any) -> Kept:
    """The point itself, for the structure and the picture of its multipliers or eigenvalues."""
    values = {name: float(each) for name, each in point.values.items()}
    if not hasattr(point, "period"):
        rows = {name: np.array([each]) for name, each in point.state.items()}
        roots = point.eigenvalues
        return Kept(np.zeros(1), rows, values, roots, np.arange(len(roots)) < point.unstable, point.status)
    roots = point.multipliers
    growing = np.arange(len(roots)) < getattr(point, "unstable", 0)
    orbit = point.orbit
    names = dict(zip(orbit.states, orbit.x, strict=True))
    if hasattr(point.case.system, "coordinate_names") and hasattr(point, "problem"):
        names |= cycle(point)[1]
    t = np.linspace(orbit.t[0], orbit.t[-1], SAMPLES)
    rows = {name: np.interp(t, orbit.t, row) for name, row in names.items()}
    return Kept(t - t[0], rows, values, roots, growing, point.status)


def specials(found: Any, step: Step) -> list[dict[str, Any]]:
    """The special points of an object, and where each leads on."""
    kind = "curve" if step.verb == "curve" else "cycles" if hasattr(found, "periods") else "equilibria"
    return [{**light(each), "kind": each.kind, "leads": _leads(kind, each)} for each in found.special]


def _leads(kind: str, special: Any) -> list[str]:
    """What can be followed from a special point; cycles if it knows its Hopf point."""
    verbs = LEADS.get((kind, special.kind), ())
    return [verb for verb in verbs if verb != "orbits" or special.hopf is not None]


def _ending(found: Any) -> dict[str, Any]:
    born = getattr(found, "born", None)
    return {"status": found.status, "born": born, "ended": str(found.ended)}
