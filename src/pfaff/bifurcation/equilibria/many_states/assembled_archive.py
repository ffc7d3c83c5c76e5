"""Branches of assemblies as labelled data, into files and back."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from pfaff.archive.layouts import Along, Array, Layout, Misfit, Note
from pfaff.archive.stored import File, opened, write
from pfaff.bifurcation.equilibria.many_states.assembled_branches import AssemblyBranch
from pfaff.bifurcation.equilibria.many_states.assembled_equations import assembled_about
from pfaff.bifurcation.equilibria.many_states.assembled_points import AssembledRests
from pfaff.bifurcation.equilibria.stored_points import check_solves, eigenvalue_tables
from pfaff.continuation.endings import Ending
from pfaff.continuation.problem import Event
from pfaff.errors import ParameterError
from pfaff.flow.assembly import Assembly
from pfaff.statement.told import rightly_asked
from pfaff.statement.values import instance

if TYPE_CHECKING:
    import xarray

SPOTS = ("unknowns", "tangent")  # arrays from which points are made again


def dataset(branch: AssemblyBranch) -> xarray.Dataset:
    """Load, coordinates and reactions along the dimension ``point``, special points along ``special``."""
    import xarray

    columns = _columns(branch.points, "", "point")
    if branch.special:
        columns |= _columns(branch.special, "special_", "special")
    columns |= eigenvalue_tables(branch.points, branch.special)
    notes = BRANCH.noted(branch) | branch.ended.notes | {"status": branch.status}
    return xarray.Dataset(columns, attrs=notes)


def _columns(points: Any, prefix: str, dimension: str) -> dict[str, Any]:
    rows = {"q": ("coordinate", [each.q for each in points]), "p": ("reaction", [each.p for each in points])}
    rows["unknowns"] = "unknown", [each.spot.z for each in points]
    rows["tangent"] = "unknown", [each.spot.tangent for each in points]
    columns: dict[str, Any] = {
        f"{prefix}value": (dimension, np.array([each.value for each in points])),
        f"{prefix}stable": (dimension, np.array([np.int8(each.stable) for each in points])),
        f"{prefix}residual": (dimension, np.array([each.residual for each in points])),
    }
    filled = {name: ((dimension, along), np.array(each)) for name, (along, each) in rows.items() if len(each[0])}
    return columns | {f"{prefix}{name}": column for name, column in filled.items()}


def _equations(branch: AssemblyBranch) -> Any:
    return branch.points[0].problem.equations


def _selection(branch: AssemblyBranch) -> list[Any]:
    chosen = sparse.coo_array(_equations(branch).selection)
    return [chosen.row.tolist(), chosen.col.tolist(), chosen.data.tolist()]


def _watched(branch: AssemblyBranch) -> list[int]:
    problem: Any = branch.points[0].problem
    return [int(problem.expected), int(problem.reversible)]


def _arrays(notes: Any) -> dict[str, Array]:
    groups = (("", "point"), ("special_", "special"))
    return {f"{prefix}{name}": Array((along, "unknown")) for prefix, along in groups for name in SPOTS}


BRANCH = Layout(
    "branch of an assembly",
    "use the other reader, load_branch, load_equilibria or load_motion",
    {
        "system": Note(str, lambda branch: _equations(branch).assembly.name),
        "ended": str,
        "step": Note(float, lambda branch: branch.step),
        "about": {
            "load": Note(str, lambda branch: _equations(branch).assembly.load),
            "size": Note(int, lambda branch: _equations(branch).assembly.size),
            "sizes": Note(Along("unknown", float), lambda branch: _equations(branch).sizes.tolist()),
            "selection": Note((Along("entry", int), Along("entry", int), Along("entry", float)), _selection),
            "watched": Note((int, int), _watched),
            "shift": Note(float, lambda branch: float(branch.points[0].problem.shift)),
            "kinds": Note(Along("special", str), lambda branch: [each.kind for each in branch.special]),
            "multiplicities": Note(Along("special", int), lambda branch: [s.multiplicity for s in branch.special]),
            "places": Note(Along("special", int), lambda branch: branch.places),
        },
    },
    _arrays,
    nonempty=("point", "unknown"),
)


def save(branch: AssemblyBranch, path: str | Path) -> Path:
    """Write a netCDF file."""
    return write(BRANCH, dataset(branch), path)


@rightly_asked
def load_assembly(path: str | Path, assembly: Assembly) -> AssemblyBranch:
    """A branch that was saved, for the assembly it was computed for; it can be extended."""
    instance("assembly", assembly, Assembly, "give the assembly that the branch was computed for")
    with opened(path, BRANCH) as file:
        problem: Any = _problem(path, file, assembly)
        points: list[Any] = []
        for z, tangent in zip(file["unknowns"], file["tangent"], strict=True):
            check_solves(problem.equations, z, f"point {len(points)}")
            problem = problem.rebased(z)
            points.append(AssemblyBranch._point(problem, problem.spot(z, tangent)))
        about = file.notes["about"]
        if not all(0 <= place <= len(points) for place in about["places"]):
            raise Misfit("a special point is nowhere along it")
        located = [_special(points, file, k) for k in range(file.sizes["special"])]
        ended = Ending.stored(file.data.attrs)
        return AssemblyBranch(tuple(points), tuple(located), ended, file.notes["step"], tuple(about["places"]))


def _problem(path: Any, file: File, assembly: Assembly) -> AssembledRests:
    """The problem that the points of a file solve."""
    about, total = file.notes["about"], assembly.pattern.total
    if (file.notes["system"], about["load"], about["size"]) != (assembly.name, assembly.load, assembly.size):
        raise ParameterError(
            f"{path} holds a branch of {file.notes['system']} with {about['size']} coordinates under {about['load']}, "
            f"not of {assembly.name} with {assembly.size} under {assembly.load}"
        )
    if file.sizes["unknown"] != total + 1:
        raise Misfit("its reactions are not those of the assembly")
    rows, columns, data = (np.array(each) for each in about["selection"])
    inside = ((rows >= 0) & (rows < total) & (columns >= 0) & (columns < total)).all()
    if not inside or min(about["sizes"]) <= 0 or about["watched"][0] < 1 or about["shift"] <= 0:
        raise Misfit("its sizes or conditions are impossible")
    selection = sparse.csc_array((data, (rows.astype(int), columns.astype(int))), shape=(total, total))
    s, z = assembled_about(assembly, file["unknowns"][0], 1.0, selection, np.array(about["sizes"]))
    expected, reversible = about["watched"]
    return AssembledRests(s.measured(z), 0, expected=expected, reversible=bool(reversible), shift=about["shift"])


def _special(points: list[Any], file: File, k: int) -> Any:
    about, z, tangent = file.notes["about"], file["special_unknowns"][k], file["special_tangent"][k]
    check_solves(points[0].equations, z, about["kinds"][k])
    near = min(points, key=lambda p: np.linalg.norm((p.spot.z - z) / p.spot.units)).problem
    spot = replace(near.spot(z, tangent), tangent=tangent)
    return AssemblyBranch._special(near, Event(about["kinds"][k], spot, detail=about["multiplicities"][k]))
