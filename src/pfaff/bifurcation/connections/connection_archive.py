"""Curves of connecting orbits as labelled data, into files and back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from pfaff.algebra.gauss import gauss
from pfaff.archive.layouts import FILLED, Along, Array, Layout, Misfit, Note, padded
from pfaff.archive.stored import File, checked_case, compare, flow_notes, flow_of, labels, opened, values_note
from pfaff.bifurcation.connections.arc_equations import ArcEquations
from pfaff.bifurcation.connections.arcs import Arc
from pfaff.bifurcation.connections.connection_curves import ConnectionCurve
from pfaff.bifurcation.connections.connections import Connection, ConnectionSpecial
from pfaff.bifurcation.connections.joining import SIDES, Joining
from pfaff.bifurcation.connections.joins import Join
from pfaff.bifurcation.orbits.cycles import Mesh
from pfaff.bifurcation.orbits.orbit_problem import DEGREE
from pfaff.continuation.endings import Ending, Refused
from pfaff.continuation.kinds import is_kind
from pfaff.errors import ParameterError

if TYPE_CHECKING:
    import xarray

    from pfaff.case import Bound

UNMOVED = 1e-6  # change that the equations may still make to a stored orbit, relative to its size
FACTS = ("value", "saddle_quantity", "duration", "mesh_error", "residual")
PARTS = ("x", "slopes", "rests", "scalars")
ORBITS = ("mesh", *(f"{name}_{part}" for name in ("orbit", "tangent") for part in PARTS))
OTHERS = ("eigenvalue_real", "eigenvalue_imag", "point", "special", "eigenvalue", "state")


def _labels(parameters: Sequence[str]) -> dict[str, str]:
    """The parameters under names that nothing else in the file has."""
    others = (*FACTS, *ORBITS, *OTHERS)
    return labels(parameters, [*others, *(f"special_{name}" for name in (*others, *parameters))])


def dataset(curve: ConnectionCurve) -> xarray.Dataset:
    """Everything by name along the dimension ``point``, special orbits along ``special``."""
    import xarray

    columns = _columns(curve.points, "", "point", curve.parameters)
    if curve.special:
        columns |= _columns(curve.special, "special_", "special", curve.parameters)
    notes = CONNECTIONS.noted(curve) | curve.ended.notes | {"status": curve.status}
    return xarray.Dataset(columns, coords={"state": list(curve[0].flow.states)}, attrs=notes)


def _columns(points: Sequence[Connection], prefix: str, dimension: str, parameters: Sequence[str]) -> dict[str, Any]:
    columns: dict[str, Any] = {name: (dimension, np.array([getattr(p, name) for p in points])) for name in FACTS}
    for name, label in _labels(parameters).items():
        columns[label] = (dimension, np.array([point[name] for point in points]))
    values = np.array([point.join.facts.saddles[0].eigenvalues for point in points])
    columns["eigenvalue_real"] = ((dimension, "eigenvalue"), values.real)
    columns["eigenvalue_imag"] = ((dimension, "eigenvalue"), values.imag)
    columns |= _packed(points, dimension)
    return {f"{prefix}{name}": column for name, column in columns.items()}


def _packed(points: Sequence[Connection], dimension: str) -> dict[str, Any]:
    """Orbits and tangents as arrays of equal length."""
    longest = max(point.join.arc.intervals for point in points)

    node, interval = f"{dimension}_node", f"{dimension}_interval"
    arcs = [point.join.arc for point in points]
    parts: dict[str, Any] = {"mesh": ((dimension, node), padded([arc.mesh.at for arc in arcs], longest + 1))}
    for name, of in (("orbit", arcs), ("tangent", [point.join.direction for point in points])):
        parts[f"{name}_x"] = ((dimension, node, "state"), padded([arc.x for arc in of], longest + 1))
        parts[f"{name}_slopes"] = ((dimension, interval, "stage", "state"), padded([arc.K for arc in of], longest))
        parts[f"{name}_rests"] = ((dimension, "rest", "state"), np.array([arc.rests for arc in of]))
        parts[f"{name}_scalars"] = ((dimension, "free"), np.array([arc.scalars for arc in of]))
    return parts


def _arrays(notes: Mapping[str, Any]) -> dict[str, Array]:
    found: dict[str, Array] = {}
    for dimension, prefix in (("point", ""), ("special", "special_")):
        node, interval = f"{dimension}_node", f"{dimension}_interval"
        found |= {f"{prefix}mesh": Array((dimension, node), FILLED), f"{prefix}duration": Array((dimension,))}
        for name in ("orbit", "tangent"):
            found[f"{prefix}{name}_x"] = Array((dimension, node, "state"), FILLED)
            found[f"{prefix}{name}_slopes"] = Array((dimension, interval, "stage", "state"), FILLED)
            found[f"{prefix}{name}_rests"] = Array((dimension, "rest", "state"))
            found[f"{prefix}{name}_scalars"] = Array((dimension, "free"))
    return found


CONNECTIONS = Layout(
    "curve of connecting orbits",
    "pfaff.load reads it",
    {
        "system": Note(str, lambda curve: curve[0].case.system.name),
        "ended": str,
        "step": Note(float, lambda curve: curve.step),
        "about": {
            "free": Note((str, str), lambda curve: curve.parameters),
            **flow_notes(lambda curve: curve[0].flow),
            "accuracy": Note(float, lambda curve: curve[0].accuracy),
            "spans": Note((float, float), lambda curve: curve.spans),
            "places": Note(Along("special", int), lambda curve: curve.places),
            "kinds": Note(Along("special", str), lambda curve: [each.kind for each in curve.special]),
            "sides": Note(Along("special", str), lambda curve: [each.side for each in curve.special]),
            "values": values_note(lambda curve: curve[0].equations.case),
        },
    },
    _arrays,
    {"free": lambda sizes: 2},
    ("point", "state"),
)


def load_connections(path: str | Path, case: Bound) -> ConnectionCurve:
    """A curve of connecting orbits that was saved, for the case it was computed for; it can be extended."""
    case = checked_case(case)
    with opened(path, CONNECTIONS) as file:
        notes, about = file.notes, file.notes["about"]
        compare(path, case, notes["system"], about["values"], about["free"])
        unknown = [name for name in about["free"] if name not in case.system.parameter_names]
        if unknown or len(set(about["free"])) != 2 or not min(about["spans"]) > 0 or not 0 < about["accuracy"] < 1:
            raise Misfit(f"it is no curve of connecting orbits in two parameters of {case.system.name}")
        if not all(map(is_kind, about["kinds"])) or not set(about["sides"]) <= {"", *SIDES}:
            raise Misfit("it has special points of kinds that are not known")
        equations = ArcEquations(case, flow_of(case, about), tuple(about["free"]), gauss(DEGREE))
        file.agree("stage", DEGREE)
        if not 1 <= file.sizes["rest"] <= 2:
            raise Misfit("its orbits join more than two equilibria")
        problem = {"equations": equations, "accuracy": about["accuracy"], "spans": np.array(about["spans"])}
        points = tuple(
            Connection(equations, _restored(file, k, "", **problem), about["accuracy"])
            for k in range(file.sizes["point"])
        )
        special = tuple(
            ConnectionSpecial(equations, _restored(file, k, "special_", **problem), about["accuracy"], kind, side)
            for k, (kind, side) in enumerate(zip(about["kinds"], about["sides"], strict=True))
        )
        ended = Ending.stored(file.data.attrs)
        spans, places = (float(about["spans"][0]), float(about["spans"][1])), tuple(about["places"])
        return ConnectionCurve(points, special, ended, notes["step"], spans, places)


def _restored(file: File, k: int, prefix: str, equations: ArcEquations, accuracy: float, spans: np.ndarray) -> Join:
    """One orbit, if it solves its equations; derived data are computed again."""
    mesh = file[f"{prefix}mesh"][k]
    size = int(np.isfinite(mesh).sum())
    shared, duration = Mesh(mesh[:size].copy()), float(file[f"{prefix}duration"][k])
    if size < 2 or mesh[0] != 0 or mesh[size - 1] != 1 or not (shared.h > 0).all() or not duration > 0:
        raise Misfit(f"the mesh of the orbit {k} does not run from 0 to 1")

    def arc(name: str, duration: float) -> Arc:
        x, slopes, rests, scalars = (file[f"{prefix}{name}_{part}"][k] for part in PARTS)
        found = Arc(shared, x[:size].copy(), slopes[: size - 1].copy(), rests.copy(), scalars.copy(), duration)
        if not (np.isfinite(found.x).all() and np.isfinite(found.K).all() and len(found.K) == size - 1):
            raise Misfit(f"the orbit {k} is shorter than its mesh")
        return found

    orbit, tangent = arc("orbit", duration), arc("tangent", 0.0)
    wrong = f"the stored orbit {k} does not belong to this case: give the case that it was computed for"
    try:
        problem = Joining.about(equations, accuracy, spans, orbit)
        about = equations.linearised(orbit, orbit, problem.units, problem.spans, problem.saddles, problem.dual(tangent))
        change = about.change(about.right, sources=True)
        left = max(np.abs(change.x / problem.units).max(), np.abs(change.scalars / spans).max())
    except Refused as why:
        raise ParameterError(wrong) from why
    if not left < UNMOVED:
        raise ParameterError(wrong)
    return problem.joined(about, tangent)
