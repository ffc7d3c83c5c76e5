"""Curves of special orbits as labelled data, into files and back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from pfaff.archive.layouts import ANY, Along, Array, Layout, Misfit, Note
from pfaff.archive.stored import File, compare, flow_of, labels
from pfaff.bifurcation.orbit_curves.cycle_curves import KINDS, CycleCurve, CyclePoint, CycleSpecial
from pfaff.bifurcation.orbits.orbit_archive import (
    SCALARS,
    mirrored,
    packed,
    packed_arrays,
    problem_notes,
    stored_problem,
    unpacked,
)
from pfaff.bifurcation.orbits.orbit_problem import OrbitProblem
from pfaff.bifurcation.orbits.orbits import Special
from pfaff.continuation.endings import Ending

if TYPE_CHECKING:
    import xarray

    from pfaff.case import Bound

FACTS = ("period", "angle", "residual", "mesh_error")
ORBITS = ("mesh", *(f"{name}_{part}" for name in ("orbit", "tangent") for part in ("x", "slopes", "scalars")))
OTHERS = ("multiplier_real", "multiplier_imag", "value", "kind", "point", "special", "multiplier", "state")


def _labels(parameters: Sequence[str]) -> dict[str, str]:
    """The parameters under names that nothing else in the file has."""
    others = (*FACTS, *ORBITS, *OTHERS)
    return labels(parameters, [*others, *(f"special_{name}" for name in (*others, *parameters))])


def dataset(curve: CycleCurve) -> xarray.Dataset:
    """Both parameters, periods, multipliers, residuals and mesh errors along ``point``, and the orbits themselves."""
    import xarray

    columns: dict[str, Any] = {name: ("point", np.array([getattr(p, name) for p in curve])) for name in FACTS}
    multipliers = np.array([point.multipliers for point in curve])
    columns["multiplier_real"] = (("point", "multiplier"), multipliers.real)
    columns["multiplier_imag"] = (("point", "multiplier"), multipliers.imag)
    columns["value"] = ("point", np.array([point.special.value for point in curve]))
    for name, label in _labels(curve.parameters).items():
        columns[label] = ("point", np.array([point.values[name] for point in curve]))
        columns[f"special_{label}"] = ("special", np.array([each.values[name] for each in curve.special]))
    columns["special_kind"] = ("special", np.array([each.kind for each in curve.special], dtype=str))
    columns["special_angle"] = ("special", np.array([each.angle for each in curve.special]))
    columns |= packed([point.special for point in curve], "point")
    if curve.special:
        within = packed([each.special for each in curve.special], "special")
        columns |= {f"special_{name}": data for name, data in within.items()}
    states = list(curve.points[0].special.problem.flow.states)
    return xarray.Dataset(columns, coords={"state": states}, attrs=_attributes(curve))


def _attributes(curve: CycleCurve) -> dict[str, Any]:
    notes = CYCLES.noted(curve) | curve.ended.notes | mirrored(_problem(curve))
    return {**notes, "of": curve.of, "status": curve.status}


def _problem(curve: CycleCurve) -> OrbitProblem:
    return curve.points[0].special.problem


def _placed(point: CyclePoint) -> dict[str, Any]:
    """About an orbit: the parameter that varies with it, the value of the other, and whether it is symmetric."""
    problem = point.special.problem
    numbers = dict(zip(problem.case.system.parameter_names, problem.case.numbers.tolist(), strict=True))
    fixed = {name: numbers[name] for name in point.values if name != problem.load}
    return {"load": problem.load, "fixed": fixed, "symmetric": point.special.symmetric}


def _arrays(notes: Mapping[str, Any]) -> dict[str, Array]:
    found = {"value": Array(("point",)), **packed_arrays("point"), **packed_arrays("special", "special_")}
    for name in _labels(notes["about"]["free"]).values():
        found |= {name: Array(("point",)), f"special_{name}": Array(("special",))}
    return found | {"angle": Array(("point",), ANY), "special_angle": Array(("special",), ANY)}


PLACED = {"load": str, "fixed": {str: float}, "symmetric": bool}
CYCLES = Layout(
    "curve of special orbits",
    "use the other reader",
    {
        "system": Note(str, lambda curve: _problem(curve).case.system.name),
        "ended": str,
        "step": Note(float, lambda curve: curve.step),
        "about": {
            **problem_notes(_problem),
            "kind": Note(str, lambda curve: curve.kind),
            "free": Note((str, str), lambda curve: curve.parameters),
            "accuracy": Note(float, lambda curve: _problem(curve).accuracy),
            "spans": Note({str: float}, lambda curve: curve.spans),
            "points": Note(Along("point", PLACED), lambda curve: [_placed(each) for each in curve]),
            "special": Note(Along("special", PLACED), lambda curve: [_placed(each) for each in curve.special]),
            "kinds": Note(Along("special", str), lambda curve: [each.kind for each in curve.special]),
        },
    },
    _arrays,
    SCALARS,
    ("point", "state"),
)


def cycle_curve(path: str | Path, file: File, case: Bound) -> CycleCurve:
    """A curve of special orbits that was saved, for the case it was computed for."""
    notes, about = file.notes, file.notes["about"]
    compare(path, case, notes["system"], about["values"], about["free"])
    if about["kind"] not in KINDS or set(about["spans"]) != set(about["free"]):
        raise Misfit(f"it is no curve of {', '.join(KINDS.values())} in {' and '.join(about['free'])}")
    flow, span = flow_of(case, about), float(np.ptp(file["value"])) or 1.0

    def restored(prefix: str, k: int, placed: dict[str, Any]) -> tuple[Special, dict[str, float], float]:
        if sorted([placed["load"], *placed["fixed"]]) != sorted(about["free"]):
            raise Misfit(f"the orbit {k} does not vary {' and '.join(about['free'])}")
        there = case.unchecked(**placed["fixed"])
        problem = stored_problem(file, there, flow, placed["load"], about["accuracy"])
        point = unpacked(problem, file, k, prefix, placed["symmetric"], span).point
        values = {name: float(file[f"{prefix}{label}"][k]) for name, label in _labels(about["free"]).items()}
        return Special(problem, point, about["kind"]), values, float(file[f"{prefix}angle"][k])

    points = tuple(CyclePoint(*restored("", k, placed)) for k, placed in enumerate(about["points"]))
    special = tuple(
        CycleSpecial(*restored("special_", k, placed), kind, about["spans"])
        for k, (placed, kind) in enumerate(zip(about["special"], about["kinds"], strict=True))
    )
    ended = Ending.stored(file.data.attrs)
    return CycleCurve(about["kind"], points, special, ended, notes["step"], about["spans"])
