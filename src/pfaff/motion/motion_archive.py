"""Motions from files: the layout of these, and the motion made of one."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from pfaff import doors
from pfaff.archive.layouts import ANY, ORDERED, Along, Array, Layout, Misfit
from pfaff.archive.stored import File, checked_case, compare, labels, opened
from pfaff.errors import ParameterError
from pfaff.motion.events import Crossings
from pfaff.motion.measures import Energy, Stored
from pfaff.motion.outcomes import Status
from pfaff.motion.result import ENERGIES, Motion, file_labels, states_of
from pfaff.statement.told import rightly_asked

if TYPE_CHECKING:
    from pfaff.case import Case
    from pfaff.motion.trajectory import Trajectory

OTHERWISE = "read it with pfaff.load_branch (orbits), load_equilibria or load_curve"
NOTES = {"status": str, "method": str, "system": str, "values": {str: str}}
EVENTS = {str: lambda name: (Along(f"event {name}", float), Along("state", Along(f"event {name}", float)))}


def _arrays(notes: Mapping[str, Any]) -> dict[str, Array]:
    about = notes["about"]
    states, reactions = states_of(about["names"]), about["reactions"]
    named = file_labels((*states, *reactions), about["residuals"])
    beside = [*(named[name] for name in reactions), *(f"energy_{part}" for part in ENERGIES), *about["residuals"]]
    return {
        "t": Array(("t",), ORDERED),
        **{named[name]: Array(("t",)) for name in states},
        **{name: Array(("t",), ANY) for name in beside},
    }


MOTION = Layout(
    "motion",
    OTHERWISE,
    {
        **NOTES,
        "about": {
            "names": Along("coordinate", str),
            "reactions": [str],
            "residuals": [str],
            "changes": {str: float},
            "driven": bool,
            "events": EVENTS,
        },
    },
    _arrays,
    {"state": lambda sizes: 2 * sizes["coordinate"]},
    ("t",),
)


def _arrays_of_ode(notes: Mapping[str, Any]) -> dict[str, Array]:
    states = labels(notes["about"]["states"], ["t"]).values()
    return {"t": Array(("t",), ORDERED), **{label: Array(("t",)) for label in states}}


TRAJECTORY = Layout(
    "motion of a plain ODE",
    OTHERWISE,
    {**NOTES, "about": {"states": Along("state", str), "events": EVENTS}},
    _arrays_of_ode,
    nonempty=("t",),
)


@rightly_asked
def load_motion(path: str | Path, case: Case | None = None) -> Motion | Trajectory:
    """A motion that was saved; between its samples it is interpolated. Its case, if given, lets it be drawn again."""
    with opened(path, MOTION, TRAJECTORY) as file:
        if case is not None:
            _check_case(path, case, file.notes)
        return _motion(file, case) if file.layout is MOTION else _trajectory(file)


def _check_case(path: str | Path, case: Any, notes: Mapping[str, Any]) -> None:
    name, about = checked_case(case).system.name, notes["about"]
    if name != notes["system"]:
        raise ParameterError(f"the motion is one of {notes['system']}, not of {name}: give a case of that system")
    if about.get("driven"):
        raise ParameterError("the motion was driven by functions that a file does not keep: load it without its case")
    compare(path, case, name, notes["values"], ())
    if "names" in about:
        stated = [getattr(case.system, each, ()) for each in ("coordinate_names", "reaction_names")]
        if [tuple(about["names"]), tuple(about["reactions"])] != stated:
            raise Misfit(f"its coordinates or reactions are not those of {name}")


def _aliases(file: File) -> dict[str, str]:
    """Names of reactions derived from those of constraints; empty for systems without such names."""
    try:
        found = json.loads(file.data.attrs.get("aliases", "{}"))
    except (TypeError, ValueError):
        found = None
    if not isinstance(found, dict) or not all(isinstance(name, str) for name in found.values()):
        raise Misfit("the names of its reactions cannot be read")
    return found


def _motion(file: File, case: Case | None) -> Motion:
    notes, about = file.notes, file.notes["about"]
    names, reactions, residuals = (tuple(about[each]) for each in ("names", "reactions", "residuals"))
    states, size = states_of(names), file.sizes["t"]
    named = file_labels((*states, *reactions), residuals)

    def rows(labels: Iterable[str]) -> np.ndarray:
        return np.array([file[label] for label in labels]).reshape(-1, size)

    return Motion(
        t=file["t"],
        y=rows(named[name] for name in states),
        measures=Stored(
            rows(named[name] for name in reactions),
            rows(residuals),
            Energy(*(file[f"energy_{part}"] for part in ENERGIES)),
        ),
        names=names,
        reaction_names=reactions,
        ended=Status.stored(file.data.attrs),
        method=notes["method"],
        changes=about["changes"],
        system=notes["system"],
        values=notes["values"],
        events=_crossings(about["events"], len(states)),
        case=case,
        stored_aliases=_aliases(file),
    )


def _trajectory(file: File) -> Trajectory:
    notes, states = file.notes, tuple(file.notes["about"]["states"])
    return doors.trajectory.Trajectory(
        t=file["t"],
        y=np.array([file[label] for label in labels(states, ["t"]).values()]).reshape(len(states), -1),
        states=states,
        ended=Status.stored(file.data.attrs),
        method=notes["method"],
        system=notes["system"],
        values=notes["values"],
        events=_crossings(notes["about"]["events"], len(states)),
    )


def _crossings(events: Mapping[str, Any], states: int) -> dict[str, Crossings]:
    return {name: Crossings(np.array(t), np.array(y).reshape(states, len(t))) for name, (t, y) in events.items()}
