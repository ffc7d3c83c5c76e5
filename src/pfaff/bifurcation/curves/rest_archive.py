"""Branches of equilibria and curves as labelled data, into files and back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from pfaff import doors
from pfaff.archive.layouts import Along, Array, Layout, Misfit, Note
from pfaff.archive.stored import (
    File,
    checked_case,
    compare,
    flow_notes,
    flow_of,
    identical,
    labels,
    opened,
    values_note,
    write,
)
from pfaff.bifurcation.curves.branchings import BranchPoints
from pfaff.bifurcation.curves.curves import Curve, curve_problems
from pfaff.bifurcation.curves.hopfs import Hopfs
from pfaff.bifurcation.curves.singular import Folds, Singular
from pfaff.bifurcation.equilibria.branches import EquilibriumBranch
from pfaff.bifurcation.equilibria.many_states.sparse_equations import SparseRestEquations
from pfaff.bifurcation.equilibria.many_states.sparse_points import SparseRests
from pfaff.bifurcation.equilibria.rest_equations import RestEquations
from pfaff.bifurcation.equilibria.rest_points import RestTrail
from pfaff.bifurcation.equilibria.special_points import Rests
from pfaff.bifurcation.equilibria.stored_points import UNMOVED, check_solves, eigenvalue_tables, other_case
from pfaff.continuation.endings import Ending
from pfaff.continuation.kinds import Kind, is_kind, kind_of
from pfaff.continuation.problem import Event
from pfaff.errors import ParameterError
from pfaff.flow.sparse_jacobian import is_sparse
from pfaff.statement.told import rightly_asked

if TYPE_CHECKING:
    import xarray

    from pfaff.bifurcation.orbit_curves.cycle_curves import CycleCurve
    from pfaff.case import Bound

KINDS = {"equilibria": Rests, "folds": Folds, "hopf": Hopfs, "branch points": BranchPoints}
FACTS = (
    *("value", "stable", "residual", "coefficient", "omega", "eigenvalue_real", "eigenvalue_imag", "unknowns"),
    *("tangent", "point", "special", "eigenvalue", "unknown"),
)


def dataset(followed: RestTrail[Any, Any]) -> xarray.Dataset:
    """Everything by name along the dimension ``point``, special points along ``special``."""
    import xarray

    columns = _columns(followed.points, "", "point")
    if followed.special:
        columns |= _columns(followed.special, "special_", "special")
    columns |= eigenvalue_tables(followed.points, followed.special)
    return xarray.Dataset(columns, attrs=_attributes(followed))


def _columns(points: Sequence[Any], prefix: str, dimension: str) -> dict[str, Any]:
    """Facts about the points, and values, states and reactions under names that no fact has."""
    named = [name for kind in ("values", "state", "reaction") for name in getattr(points[0], kind)]
    label = labels(named, [*FACTS, *(f"special_{name}" for name in (*FACTS, *named))])
    facts: dict[str, list[Any]] = {
        "value": [p.value for p in points],
        "stable": [np.int8(p.stable) for p in points],
        "residual": [p.residual for p in points],
    }
    for kind in ("values", "state", "reaction"):
        rows = [getattr(p, kind) for p in points]
        facts |= {label[name]: [row[name] for row in rows] for name in rows[0]}
    for name in ("coefficient", "omega"):
        if hasattr(points[0], name):
            facts[name] = [getattr(p, name) for p in points]
    columns: dict[str, Any] = {f"{prefix}{name}": (dimension, np.array(data)) for name, data in facts.items()}
    columns[f"{prefix}unknowns"] = ((dimension, "unknown"), np.array([p.spot.z for p in points]))
    columns[f"{prefix}tangent"] = ((dimension, "unknown"), np.array([p.spot.tangent for p in points]))
    return columns


def _equations_of(followed: RestTrail[Any, Any]) -> Any:
    return followed.points[0].equations


def _problem_of(followed: RestTrail[Any, Any]) -> Any:
    return followed.points[0].problem


def _of(followed: RestTrail[Any, Any]) -> str:
    return next(name for name, kind in reversed(KINDS.items()) if isinstance(_problem_of(followed), kind))


def _array(name: str, type_: Any) -> Note:
    return Note(type_, lambda followed: getattr(_equations_of(followed), name).tolist())


def _rows(dimension: str, prefix: str = "") -> dict[str, Array]:
    return {f"{prefix}{name}": Array((dimension, "unknown")) for name in ("unknowns", "tangent")}


def _layout(holds: str, otherwise: str) -> Layout:
    about = {
        "of": Note(str, _of),
        "free": Note(Along("free", str), lambda followed: _equations_of(followed).free),
        "zeros": Note([int], lambda followed: _equations_of(followed).zeros),
        **flow_notes(lambda followed: _equations_of(followed).flow),
        "undamped": Note(int, lambda followed: getattr(_problem_of(followed), "undamped", 0)),
        "still": Note(int, lambda followed: getattr(_problem_of(followed), "still", 0)),
        "multiplicities": Note(Along("special", int), lambda f: [getattr(s, "multiplicity", 1) for s in f.special]),
        "kinds": Note(Along("special", str), lambda followed: [each.kind for each in followed.special]),
        "places": Note(Along("special", int), lambda followed: followed.places),
        "values": values_note(lambda followed: _equations_of(followed).case),
        "columns": _array("columns", Along("state", Along("held", float))),
        "rows": _array("rows", Along("held", Along("state", float))),
        "held": _array("held", Along("held", float)),
        "pull": _array("pull", Along("held", Along("free", float))),
        "sizes": _array("sizes", Along("unknown", float)),
    }
    system = Note(str, lambda followed: _equations_of(followed).case.system.name)
    return Layout(
        holds,
        otherwise,
        {"system": system, "ended": str, "step": Note(float, lambda followed: followed.step), "about": about},
        lambda notes: {**_rows("point"), **_rows("special", "special_")},
        {"unknown": lambda sizes: sizes["state"] + sizes["held"] + sizes["free"]},
        ("point", "state", "free"),
    )


EQUILIBRIA = _layout("branch of equilibria", "use the other reader, load_branch, load_curve or load_motion")
CURVE = _layout("curve", "use the other reader, load_branch, load_equilibria or load_motion")


def _attributes(followed: RestTrail[Any, Any]) -> dict[str, Any]:
    status = followed.status  # type: ignore[attr-defined]
    return CURVE.noted(followed) | followed.ended.notes | {"status": status}


def save(followed: RestTrail[Any, Any], path: str | Path) -> Path:
    """Write a netCDF file."""
    return write(EQUILIBRIA if isinstance(followed, EquilibriumBranch) else CURVE, dataset(followed), path)


@rightly_asked
def load_equilibria(path: str | Path, case: Bound) -> EquilibriumBranch:
    """A branch of equilibria that was saved, for the case it was computed for; it can be extended."""
    case = checked_case(case)
    with opened(path, EQUILIBRIA) as file:
        about, s = file.notes["about"], _equations(path, file, case, 1).measured(file["unknowns"][0])
        kind: Any = SparseRests if isinstance(s, SparseRestEquations) else Rests
        return _restored(EquilibriumBranch, kind(s, about["undamped"], about["still"]), file)


@rightly_asked
def load_curve(path: str | Path, case: Bound) -> Curve | CycleCurve:
    """A curve that was saved, of equilibria or of orbits, for the case it was computed for; it can be extended."""
    case = checked_case(case)
    with opened(path, CURVE, doors.cycle_archive.CYCLES) as file:
        if file.layout is doors.cycle_archive.CYCLES:
            return doors.cycle_archive.cycle_curve(path, file, case)
        s, z = _equations(path, file, case, 2), file["unknowns"][0]
        kind: type[Singular] = _one_of(curve_problems(s), file.notes["about"]["of"])
        return _restored(Curve, kind.at(s, z), file)


def _one_of(known: Mapping[str, Any], name: str) -> Any:
    if name not in known:
        raise Misfit(f"it is of {name!r}, none of {', '.join(known)}")
    return known[name]


def _equations(path: str | Path, file: File, case: Bound, free: int) -> RestEquations:
    """The problem that the points of a file solve, with ``free`` free names."""
    about, n, k = file.notes["about"], file.sizes["state"], file.sizes["held"]
    compare(path, case, file.notes["system"], about["values"], about["free"], identical)
    flow = flow_of(case, about)
    unknown = [name for name in about["free"] if name not in (*case.system.parameter_names, *flow.states)]
    if unknown or len(set(about["free"])) != free:
        raise Misfit(f"it varies {', '.join(about['free'])}, not {free} of the names of {case.system.name}")
    if min(about["sizes"]) <= 0 or min(about["zeros"], default=1) < 1 or sum(about["zeros"]) > n:
        raise Misfit("its sizes or structural zeros are impossible")
    kind = SparseRestEquations if is_sparse(flow) and not k else RestEquations
    return kind(
        case,
        flow,
        tuple(about["free"]),
        tuple(about["zeros"]),
        np.array(about["columns"]).reshape(n, k),
        np.array(about["rows"]).reshape(k, n),
        np.array(about["held"]),
        np.array(about["pull"]).reshape(k, free),
        np.array(about["sizes"]),
    )


def _restored(kind: type[Any], problem: Any, file: File) -> Any:
    """Points from their unknowns and tangents; derived data are computed again."""
    points: list[Any] = []
    notes, about = file.notes, file.notes["about"]
    for z, tangent in zip(file["unknowns"], file["tangent"], strict=True):
        check_solves(problem.equations, z, f"point {len(points)}")
        problem = problem.rebased(z)
        if isinstance(problem, Singular) and not problem.defect(z) <= UNMOVED:
            raise ParameterError(other_case(f"point {len(points)}"))
        points.append(kind._point(problem, problem.spot(z, tangent)))
    if not all(0 <= place <= len(points) for place in about["places"]):
        raise Misfit("a special point is nowhere along it")
    special = [_special(kind, points, file, k) for k in range(file.sizes["special"])]
    ended = Ending.stored(file.data.attrs)
    return kind(tuple(points), tuple(special), ended, notes["step"], tuple(about["places"]))


def _special(kind: type[Any], points: list[Any], file: File, k: int) -> Any:
    about, z, tangent = file.notes["about"], file["special_unknowns"][k], file["special_tangent"][k]
    check_solves(points[0].equations, z, about["kinds"][k])
    near = min(points, key=lambda p: np.linalg.norm((p.spot.z - z) / p.spot.units)).problem
    name, spot = about["kinds"][k], near.spot(z, tangent)
    if not is_kind(name):
        raise Misfit(f"no special points are of the kind {name!r}")
    if kind_of(name)[0] is Kind.EVENT:
        event = Event(name, spot)
    elif isinstance(near, Rests):
        event = Event(name, replace(spot, tangent=tangent), detail=about["multiplicities"][k])
    else:
        event = near.event(name, spot)
    if event is None:
        raise ParameterError(other_case(name))
    return kind._special(near, event)
