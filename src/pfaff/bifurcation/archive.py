"""Branches of equilibria and curves as labelled data, into files and back."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from pfaff.bifurcation.arclength import Arclength, Event
from pfaff.bifurcation.curves import Curve, Folds, Hopfs, Singular
from pfaff.bifurcation.equilibria import Branch
from pfaff.bifurcation.followed import Followed
from pfaff.bifurcation.rests import Rests
from pfaff.bifurcation.slices import Deflation, Slice
from pfaff.errors import ParameterError
from pfaff.stored import compare, flow_of, identical, labels, read_branch, write

if TYPE_CHECKING:
    import xarray

    from pfaff.bifurcation.cycle_curves import CycleCurve
    from pfaff.case import Bound

FACTS = (
    *("value", "stable", "residual", "coefficient", "omega", "eigenvalue_real", "eigenvalue_imag", "unknowns"),
    *("tangent", "point", "special", "eigenvalue", "unknown"),
)


def dataset(followed: Followed[Any, Any]) -> xarray.Dataset:
    """Everything by name along the dimension ``point``, special points along ``special``."""
    import xarray

    columns = _columns(followed.points, "", "point")
    if followed.special:
        columns |= _columns(followed.special, "special_", "special")
    return xarray.Dataset(columns, attrs=_notes(followed))


def _columns(points: tuple[Any, ...], prefix: str, dimension: str) -> dict[str, Any]:
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
    eigenvalues = np.array([p.eigenvalues for p in points])
    columns[f"{prefix}eigenvalue_real"] = ((dimension, "eigenvalue"), eigenvalues.real)
    columns[f"{prefix}eigenvalue_imag"] = ((dimension, "eigenvalue"), eigenvalues.imag)
    columns[f"{prefix}unknowns"] = ((dimension, "unknown"), np.array([p.spot.z for p in points]))
    columns[f"{prefix}tangent"] = ((dimension, "unknown"), np.array([p.spot.tangent for p in points]))
    return columns


def _notes(followed: Followed[Any, Any]) -> dict[str, Any]:
    problem, s = followed.points[0].problem, followed.points[0].slice
    arrays = {name: getattr(s, name).tolist() for name in ("columns", "rows", "held", "pull", "sizes")}
    about = {
        "of": {Rests: "equilibria", Folds: "folds", Hopfs: "hopf"}[type(problem)],
        "free": s.free,
        "zeros": s.zeros,
        "states": s.flow.states,
        "dependent": s.flow.dependent,
        "settle": s.flow.settle,
        "undamped": getattr(problem, "undamped", 0),
        "still": getattr(problem, "still", 0),
        "multiplicities": [getattr(each, "multiplicity", 1) for each in followed.special],
        "kinds": [each.kind for each in followed.special],
        "places": followed.places,
        "values": {name: str(value) for name, value in s.case.values.items()},
        **arrays,
    }
    notes = {"system": s.case.system.name, "ended": followed.ended, "status": followed.status}  # type: ignore[attr-defined]
    return notes | {"step": followed.step, "about": json.dumps(about)}


def save(followed: Followed[Any, Any], path: str | Path) -> Path:
    """Write a netCDF file."""
    return write(dataset(followed), path)


def load_equilibria(path: str | Path, case: Bound) -> Branch:
    """A branch of equilibria that was saved, of the case it was computed for; it can be extended again."""
    data, about = _read(path, case, ("equilibria",))
    problem: Any = Rests(_slice(case, about), about["undamped"], about.get("still", 0))
    return _restored(Branch, problem, data, about)


def load_curve(path: str | Path, case: Bound) -> Curve | CycleCurve:
    """A curve that was saved, of equilibria or of orbits, of the case it was computed for; it can be extended again."""
    if "kind" in read_branch(path, case)[1]:
        from pfaff.bifurcation.cycle_archive import load_cycle_curve

        return load_cycle_curve(path, case)
    data, about = _read(path, case, ("folds", "hopf"))
    s, z = _slice(case, about), data["unknowns"].to_numpy()[0]
    kind: type[Singular] = Folds if about["of"] == "folds" else Hopfs
    problem = kind(s, Deflation.about(s.state_jacobian(z), s.zeros), np.zeros(0), np.zeros(0)).with_borders(z)
    return _restored(Curve, problem, data, about)


def _read(path: str | Path, case: Bound, kinds: tuple[str, ...]) -> tuple[Any, dict[str, Any]]:
    data, about = read_branch(path, case)
    if about.get("of") not in kinds:
        raise ParameterError(
            f"{path} holds {about.get('of', 'orbits')}, not {' or '.join(kinds)}: use the other reader"
        )
    compare(path, case, about["values"], about["free"], identical)
    return data, about


def _slice(case: Bound, about: dict[str, Any]) -> Slice:
    n, k = len(about["states"]), len(about["held"])
    return Slice(
        case,
        flow_of(case, about),
        tuple(about["free"]),
        tuple(about["zeros"]),
        np.array(about["columns"]).reshape(n, k),
        np.array(about["rows"]).reshape(k, n),
        np.array(about["held"], dtype=float),
        np.array(about["pull"]).reshape(k, len(about["free"])),
        np.array(about["sizes"]),
    )


def _restored(kind: type[Any], problem: Any, data: xarray.Dataset, about: dict[str, Any]) -> Any:
    """Points from their unknowns and tangents; what follows from these is computed again."""
    points = []
    for z, tangent in zip(data["unknowns"].to_numpy(), data["tangent"].to_numpy(), strict=True):
        problem = problem.rebased(z)
        points.append(kind._point(problem, Arclength(problem).spot(z, tangent)))
    special, rests, kinds = [], isinstance(problem, Rests), about["kinds"]
    counts = about.get("multiplicities", [1] * len(kinds))
    for name, many, z, tangent in zip(
        kinds, counts, data.get("special_unknowns", []), data.get("special_tangent", []), strict=True
    ):
        z, tangent = z.to_numpy(), tangent.to_numpy()
        near = min(points, key=lambda p: np.linalg.norm((p.spot.z - z) / p.spot.units)).problem
        spot = Arclength(near).spot(z, tangent)
        event = Event(name, replace(spot, tangent=tangent), detail=many) if rests else near.event(name, spot)
        if event is None:
            raise ParameterError(f"the stored {name} does not belong to this case: give the case it was computed for")
        special.append(kind._special(near, event))
    places = tuple(about["places"])
    return kind(tuple(points), tuple(special), data.attrs["ended"], float(data.attrs["step"]), places)
