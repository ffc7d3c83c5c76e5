"""Curves of special orbits as labelled data, into files and back."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from pfaff.bifurcation.branch import packed, unpacked
from pfaff.bifurcation.cycle_curves import KINDS, CycleCurve, CyclePoint, CycleSpecial
from pfaff.bifurcation.orbits import OrbitProblem, Special
from pfaff.errors import ParameterError
from pfaff.stored import alike, compare, flow_of, labels, read_branch

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
    return xarray.Dataset(columns, coords={"state": states}, attrs=_notes(curve))


def _notes(curve: CycleCurve) -> dict[str, Any]:
    problem = curve.points[0].special.problem
    about = {
        "of": f"a curve of {curve.of}",
        "kind": curve.kind,
        "free": curve.parameters,
        "states": problem.flow.states,
        "dependent": problem.flow.dependent,
        "settle": problem.flow.settle,
        "unfolding": problem.unfolding.tolist(),
        "held": problem.held.tolist(),
        "accuracy": problem.accuracy,
        "spans": curve.spans,
        "points": [_placed(point) for point in curve],
        "special": [_placed(each) for each in curve.special],
        "kinds": [each.kind for each in curve.special],
        "values": {name: str(value) for name, value in problem.case.values.items()},
    }
    notes = {"system": problem.case.system.name, "of": curve.of, "ended": curve.ended, "status": curve.status}
    return notes | {"step": curve.step, "about": json.dumps(about)}


def _placed(point: CyclePoint) -> dict[str, Any]:
    """Of its orbit: the parameter that varies with it, the value of the other, and whether it is symmetric."""
    problem = point.special.problem
    numbers = dict(zip(problem.case.system.parameter_names, problem.case.numbers.tolist(), strict=True))
    fixed = {name: numbers[name] for name in point.values if name != problem.load}
    return {"load": problem.load, "fixed": fixed, "symmetric": point.special.symmetric}


def load_cycle_curve(path: str | Path, case: Bound) -> CycleCurve:
    """A curve of special orbits that was saved, of the case it was computed for; it can be extended again."""
    data, about = read_branch(path, case)
    if about.get("kind") not in KINDS:
        raise ParameterError(f"{path} holds no curve of special orbits: use the other reader")
    compare(path, case, about["values"], about["free"], alike)
    flow, n = flow_of(case, about), len(about["states"])
    unfolding, held = np.array(about["unfolding"]).reshape(n, -1), np.array(about["held"]).reshape(-1, n)

    def restored(prefix: str, k: int, placed: dict[str, Any]) -> tuple[Special, dict[str, float], float]:
        there = case.unchecked(**placed["fixed"])
        problem = OrbitProblem(there, flow, placed["load"], float(about["accuracy"]), unfolding, held)
        point = unpacked(problem, data, k, prefix, placed["symmetric"]).point
        values = {name: float(data[f"{prefix}{label}"][k]) for name, label in _labels(about["free"]).items()}
        return Special(problem, point, about["kind"]), values, float(data[f"{prefix}angle"][k])

    points = tuple(CyclePoint(*restored("", k, placed)) for k, placed in enumerate(about["points"]))
    special = tuple(
        CycleSpecial(*restored("special_", k, placed), about["kinds"][k]) for k, placed in enumerate(about["special"])
    )
    step, ended = float(data.attrs["step"]), data.attrs["ended"]
    return CycleCurve(about["kind"], points, special, ended, step, about["spans"])
