"""Branches of periodic orbits as labelled data, into files and back."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from pfaff.archive.layouts import FILLED, Along, Array, Layout, Misfit, Note, Sizes, padded, read
from pfaff.archive.stored import File, checked_case, compare, flow_notes, flow_of, opened, values_note
from pfaff.bifurcation.equilibria.eigenvalues import side_by_side
from pfaff.bifurcation.orbits.cycles import Cycle, Mesh
from pfaff.bifurcation.orbits.orbit_branch import OrbitBranch
from pfaff.bifurcation.orbits.orbit_problem import OrbitProblem
from pfaff.bifurcation.orbits.orbit_switching import real
from pfaff.bifurcation.orbits.orbits import OrbitPoint, Special
from pfaff.continuation.endings import Ending, Refused
from pfaff.errors import ParameterError
from pfaff.statement.told import rightly_asked

if TYPE_CHECKING:
    import xarray

    from pfaff.case import Bound
    from pfaff.flow.flow import Flow

UNMOVED = 1e-6  # how far correction may move a stored orbit, and its largest residual, relative to it


def dataset(branch: OrbitBranch) -> xarray.Dataset:
    """Everything by name along the dimension ``point``; orbits at their mesh points, padded with NaN."""
    import xarray

    columns = _columns(branch.points, "point") | packed(branch.points, "point")
    if branch.special:
        columns |= {f"special_{name}": data for name, data in packed(branch.special, "special").items()}
        columns["special_value"] = ("special", np.array([each.value for each in branch.special]))
        columns["special_period"] = ("special", np.array([each.period for each in branch.special]))
    return xarray.Dataset(columns, coords={"state": list(branch.problem.flow.states)}, attrs=_attributes(branch))


def _attributes(branch: OrbitBranch) -> dict[str, Any]:
    born = {} if branch.born is None else {"born": branch.born}
    notes = ORBITS.noted(branch) | branch.ended.notes | mirrored(branch.problem)
    return {**notes, **born, "status": branch.status}


def _columns(points: Collection[OrbitPoint], dimension: str) -> dict[str, Any]:
    facts = ("value", "period", "residual", "mesh_error")
    columns: dict[str, Any] = {name: (dimension, np.array([getattr(p, name) for p in points])) for name in facts}
    columns["stable"] = (dimension, np.array([p.stable for p in points], dtype=np.int8))
    multipliers = side_by_side([p.multipliers for p in points])
    columns["multiplier_real"] = ((dimension, "multiplier"), multipliers.real)
    columns["multiplier_imag"] = ((dimension, "multiplier"), multipliers.imag)
    for kind in ("amplitude", "advance"):
        rows = [getattr(p, kind) for p in points]
        columns |= {f"{kind}_{name}": (dimension, np.array([row[name] for row in rows])) for name in rows[0]}
    return columns


def packed(points: Collection[OrbitPoint], dimension: str) -> dict[str, Any]:
    """Orbits and tangents as arrays of equal length."""
    longest = max(p.point.cycle.intervals for p in points)

    cycles, tangents = [p.point.cycle for p in points], [p.point.tangent for p in points]
    node, interval = f"{dimension}_node", f"{dimension}_interval"
    parts: dict[str, Any] = {"mesh": ((dimension, node), padded([c.mesh.at for c in cycles], longest + 1))}
    for name, of in (("orbit", cycles), ("tangent", tangents)):
        parts[f"{name}_x"] = ((dimension, node, "state"), padded([c.x for c in of], longest + 1))
        parts[f"{name}_slopes"] = ((dimension, interval, "stage", "row"), padded([c.K for c in of], longest))
        parts[f"{name}_scalars"] = ((dimension, "scalar"), np.array([c.scalars for c in of]))
    return parts


def packed_arrays(dimension: str, prefix: str = "") -> dict[str, Array]:
    """The layout of the arrays that ``packed`` makes."""
    node, interval = f"{dimension}_node", f"{dimension}_interval"
    arrays = {"mesh": Array((dimension, node), FILLED)}
    for name in ("orbit", "tangent"):
        arrays[f"{name}_x"] = Array((dimension, node, "state"), FILLED)
        arrays[f"{name}_slopes"] = Array((dimension, interval, "stage", "row"), FILLED)
        arrays[f"{name}_scalars"] = Array((dimension, "scalar"))
    return {f"{prefix}{name}": array for name, array in arrays.items()}


def problem_notes(problem: Callable[[Any], OrbitProblem]) -> dict[str, Note]:
    """Notes by which ``stored_problem`` makes the problem of orbits again."""
    return {
        **flow_notes(lambda result: problem(result).flow),
        "unfolding": Note(Along("state", Along("conserved", float)), lambda found: problem(found).unfolding.tolist()),
        "held": Note(Along("conserved", Along("state", float)), lambda found: problem(found).held.tolist()),
        "values": values_note(lambda result: problem(result).case),
    }


SCALARS: dict[str, Callable[[Sizes], int]] = {"scalar": lambda sizes: 2 + sizes["conserved"]}
ORBITS = Layout(
    "branch of orbits",
    "read it by load_equilibria or load_curve, a motion by load_motion",
    {
        "system": Note(str, lambda branch: branch.problem.case.system.name),
        "load": Note(str, lambda branch: branch.load),
        "ended": str,
        "step": Note(float, lambda branch: branch.step),
        "accuracy": Note(float, lambda branch: branch.problem.accuracy),
        "about": {
            **problem_notes(lambda branch: branch.problem),
            "kinds": Note(Along("special", str), lambda branch: [each.kind for each in branch.special]),
            "notes": Note(Along("special", str), lambda branch: [each.note for each in branch.special]),
            "symmetric": Note(Along("point", bool), lambda branch: [each.symmetric for each in branch.points]),
            "special_symmetric": Note(Along("special", bool), lambda branch: [s.symmetric for s in branch.special]),
        },
    },
    lambda notes: {"value": Array(("point",)), **packed_arrays("point"), **packed_arrays("special", "special_")},
    SCALARS,
    ("point", "state"),
)


@rightly_asked
def load_branch(path: str | Path, case: Bound) -> OrbitBranch:
    """A branch that was saved, for the case it was computed for; it can be extended and switched from."""
    case = checked_case(case)
    with opened(path, ORBITS) as file:
        return branch_in(path, file, case)


def branch_in(path: str | Path, file: File, case: Bound) -> OrbitBranch:
    """The branch in a file of this layout, or of one that adds to it."""
    notes, about = file.notes, file.notes["about"]
    compare(path, case, notes["system"], about["values"], (notes["load"],))
    problem = stored_problem(file, case, flow_of(case, about), notes["load"], notes["accuracy"])
    span = float(np.ptp(file["value"])) or 1.0
    points = tuple(unpacked(problem, file, k, "", each, span) for k, each in enumerate(about["symmetric"]))
    special = tuple(
        Special(problem, unpacked(problem, file, k, "special_", each, span).point, kind, note)
        for k, (each, kind, note) in enumerate(
            zip(about["special_symmetric"], about["kinds"], about["notes"], strict=True)
        )
    )
    born = file.data.attrs.get("born")
    born = None if born is None else real("born", born, "a finite value of the load")
    return OrbitBranch(problem, points, special, Ending.stored(file.data.attrs), notes["step"], born)


def stored_problem(file: File, case: Bound, flow: Flow, load: str, accuracy: float) -> OrbitProblem:
    """The problem that the orbits of a file solve; their arrays are checked against its sizes."""
    if load not in case.system.parameter_names:
        raise Misfit(f"{case.system.name} has no parameter {load!r}")
    about, n = file.notes["about"], len(flow.states)
    unfolding, held = np.array(about["unfolding"]).reshape(n, -1), np.array(about["held"]).reshape(-1, n)
    problem = OrbitProblem(case, flow, load, accuracy, unfolding, held, _mirror(file, n))
    file.agree("stage", problem.collocation.gauss.degree)
    file.agree("row", len(problem.collocation.equations.rows))
    return problem


def mirrored(problem: OrbitProblem) -> dict[str, str]:
    """A note of the signs of states in their mirror images, where these are not all equal."""
    return {} if problem.mirror is None else {"mirror": json.dumps(problem.mirror.tolist())}


def _mirror(file: File, n: int) -> np.ndarray | None:
    """These signs as they were noted."""
    noted = file.data.attrs.get("mirror")
    if noted is None:
        return None
    signs = np.array(read("mirror", noted, Along("state", float)))
    if signs.shape != (n,) or not (np.abs(signs) == 1).all():
        raise Misfit(f"its 'mirror' has no sign for each of {n} states")
    return signs


def unpacked(problem: OrbitProblem, file: File, k: int, prefix: str, symmetric: bool, span: float) -> OrbitPoint:
    """One orbit exactly as stored; derived data are computed again, if correction hardly moves it."""
    mesh = file[f"{prefix}mesh"][k]
    size = int(np.isfinite(mesh).sum())
    shared = Mesh(mesh[:size].copy())
    if size < 2 or mesh[0] != 0 or mesh[size - 1] != 1 or not (shared.h > 0).all():
        raise Misfit(f"the mesh of the orbit {k} does not run from 0 to 1")
    signs = problem.signs if symmetric else np.ones(len(problem.flow.states))

    def cycle(name: str) -> Cycle:
        x, slopes, scalars = (file[f"{prefix}{name}_{part}"][k] for part in ("x", "slopes", "scalars"))
        found = Cycle(shared, x[:size].copy(), slopes[: size - 1].copy(), scalars.copy(), signs)
        if not (np.isfinite(found.x).all() and np.isfinite(found.K).all() and len(found.K) == size - 1):
            raise Misfit(f"the orbit {k} is shorter than its mesh")
        return found

    orbit, tangent = cycle("orbit"), cycle("tangent")
    continuation = problem.continuation(span)
    try:
        solution = continuation.given(orbit, tangent, UNMOVED)
    except Refused as why:
        raise ParameterError(
            f"the stored orbit {k} does not belong to this case: give the case that it was computed for"
        ) from why
    return OrbitPoint(problem, continuation.point(solution._replace(cycle=orbit), tangent))
