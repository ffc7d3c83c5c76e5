"""A branch of periodic orbits: points in order, the special ones among them, and why it ends."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from pfaff.archive.layouts import FILLED, Along, Array, Layout, Misfit, Sizes, padded, read
from pfaff.archive.stored import File, checked_case, compare, flow_of, opened, write
from pfaff.bifurcation.equilibria.eigenvalues import side_by_side
from pfaff.bifurcation.orbits.cycles import Cycle, Mesh
from pfaff.bifurcation.orbits.orbit_problem import OrbitProblem
from pfaff.bifurcation.orbits.orbits import OrbitPoint, Special
from pfaff.bifurcation.orbits.ways import followed, real
from pfaff.continuation.course import POINTS, Bounds, Course
from pfaff.continuation.endings import Ending, Reason, Refused
from pfaff.continuation.trail import Branch, tallied
from pfaff.errors import ConvergenceError, ParameterError, PfaffError, number_of
from pfaff.statement.told import rightly_asked, shown_in_notebooks
from pfaff.statement.values import one_of, spelt, whole_number
from pfaff.threads import part_of_a_whole

if TYPE_CHECKING:
    import xarray
    from matplotlib.figure import Figure

    from pfaff.bifurcation.connections.connections import Connection
    from pfaff.bifurcation.equilibria.branches import EquilibriumBranch
    from pfaff.bifurcation.orbits.cascade import Cascade
    from pfaff.case import Bound
    from pfaff.flow.flow import Flow

UNMOVED = 1e-6  # how far correction may move a stored orbit, and its largest residual, relative to it


@shown_in_notebooks
@spelt
@dataclass(frozen=True, eq=False, repr=False)
class OrbitBranch(Branch[OrbitPoint, Special]):
    """Orbits along a branch. ``branch[i]`` is one of them, ``special`` lists the located points, ``ended`` is the
    ending."""

    problem: OrbitProblem
    points: Sequence[OrbitPoint]
    special: tuple[Special, ...]
    ended: Ending
    step: float
    born: float | None = None  # load of the Hopf point from which its first orbit comes

    def __repr__(self) -> str:
        return f"<{self.status}>"

    @property
    def load(self) -> str:
        return self.problem.load

    @property
    def periods(self) -> np.ndarray:
        return np.array([point.period for point in self.points])

    @property
    def status(self) -> str:
        start = f"{self.load} = {self.points[0].value:.8g}"
        hidden = sum(not each.resolved for each in self.points)
        told = f", the stability of {hidden} not resolved" if hidden else ""
        return f"{number_of(len(self), 'orbit')} from {start}, {self.counted}{told}; {self.ended}"

    @property
    def counted(self) -> str:
        return tallied(special.kind + (" (not located)" if special.note else "") for special in self.special)

    def at(self, value: float) -> tuple[OrbitPoint, ...]:
        """The orbits of the branch at a value of the load, in their order along it: several where it folds."""
        value = real("value", value, f"a finite value of {self.load}")
        continuation = self.problem.continuation(abs(self.values - value).max() or 1.0)
        found = []
        for a, b in zip(self.points, self.points[1:], strict=False):
            if a.value == value:
                found.append(a)
            elif (a.value - value) * (b.value - value) < 0:
                point = continuation.point_at(continuation.adopted(a.point), continuation.adopted(b.point), value)
                if point is None:
                    raise ConvergenceError(f"the orbit at {self.load} = {value:g} was not found: follow with less step")
                found.append(OrbitPoint(self.problem, point))
        if self.points[-1].value == value:
            found.append(self.points[-1])
        if not found:
            low, high = self.values.min(), self.values.max()
            raise ParameterError(
                f"the branch has no orbit at {self.load} = {value:g}: it runs from {low:g} to {high:g}"
            )
        return tuple(found)

    @part_of_a_whole()
    def rest(self, low: float, high: float) -> tuple[EquilibriumBranch, ...]:
        """The branch of equilibria between two loads, both ways from the Hopf point; empty where none is found."""
        if self.born is None:
            return ()
        first = self.points[0].orbit
        start = dict(zip(first.states, ((row.max() + row.min()) / 2 for row in first.x), strict=True))
        try:
            case = self.problem.case.at(**{self.load: self.born})
            return tuple(case.branch(self.load, end, start=start) for end in (low, high))
        except PfaffError:
            return ()

    def extend(
        self,
        to: float,
        *,
        points: int = POINTS,
        bounds: Bounds = None,
        progress: Callable[[OrbitPoint], Any] | None = None,
        events: Mapping[str, Any] | None = None,
    ) -> OrbitBranch:
        """The branch followed on from its last orbit, in its direction, until the load is ``to``."""
        course = Course.asked(to, self.step, points, bounds, progress, self.load, events)
        if self.ended.reason is Reason.CLOSED:
            raise ParameterError("these orbits lie on a closed line, which is complete: nothing follows")
        more = followed(self.points[-1], course, self)
        return replace(self, problem=more.problem, points=more.points, special=more.special, ended=more.ended)

    def cascade(self, to: float | None = None, doublings: int = 5) -> Cascade:
        """Period doublings one after the other: each branch of twice the period is followed to where it doubles again.

        It begins with the first doubling of this branch, goes towards ``to`` (where the branch ends, by default), and
        has at most ``doublings``.
        """
        from pfaff.bifurcation.orbits.cascade import cascade

        end = self.points[-1].value if to is None else real("to", to, f"a finite value of {self.load}")
        return cascade(self, end, whole_number("doublings", doublings, 1, 12, "the orbits become too long beyond that"))

    def homoclinic(self, accuracy: float = 1e-9) -> Connection:
        """The homoclinic orbit that the branch approaches: from its orbit of the longest period."""
        return max(self.points, key=lambda point: point.period).homoclinic(accuracy)

    def connections(self, accuracy: float = 1e-9) -> tuple[Connection, ...]:
        """The connecting orbits that it approaches: several for a heteroclinic cycle."""
        return max(self.points, key=lambda point: point.period).connections(accuracy)

    def to_xarray(self) -> xarray.Dataset:
        """Everything by name along the dimension ``point``; orbits at their mesh points, padded with NaN."""
        import xarray

        columns = _columns(self.points, "point") | packed(self.points, "point")
        if self.special:
            columns |= {f"special_{name}": data for name, data in packed(self.special, "special").items()}
            columns["special_value"] = ("special", np.array([each.value for each in self.special]))
            columns["special_period"] = ("special", np.array([each.period for each in self.special]))
        return xarray.Dataset(columns, coords={"state": list(self.problem.flow.states)}, attrs=self._notes())

    def _notes(self) -> dict[str, Any]:
        problem, flow = self.problem, self.problem.flow
        about = {
            "states": flow.states,
            "dependent": flow.dependent,
            "settle": flow.settle,
            "kinds": [each.kind for each in self.special],
            "notes": [each.note for each in self.special],
            "symmetric": [each.symmetric for each in self.points],
            "special_symmetric": [each.symmetric for each in self.special],
            "unfolding": problem.unfolding.tolist(),
            "held": problem.held.tolist(),
            "values": {name: str(value) for name, value in problem.case.values.items()},
        }
        notes = {"system": problem.case.system.name, "load": self.load, "status": self.status}
        return {
            **notes,
            **self.ended.notes,
            "step": self.step,
            "accuracy": problem.accuracy,
            **({} if self.born is None else {"born": self.born}),
            **mirrored(problem),
            "about": json.dumps(about),
        }

    def save(self, path: str | Path) -> Path:
        """Write a netCDF file; ``pfaff.load_branch`` reads it again."""
        return write(ORBITS, self.to_xarray(), path)

    def plot(self, state: str | None = None) -> Figure:
        """The bifurcation diagram: period and amplitude against the load, solid where orbits are stable."""
        from pfaff.draw.orbits import draw_branch

        states = self.problem.flow.states
        if state is not None:
            one_of(states, state, "no state")
        return draw_branch(self, state or states[0])

    def animate(
        self,
        path: str | Path,
        *,
        seconds: float = 20.0,
        fps: float = 25.0,
        progress: Callable[[int, int], None] | None = None,
    ) -> Path:
        """Write a film of the cycle as it deforms along the branch: ``.html``, ``.gif`` or ``.mp4``."""
        from pfaff.draw.animation import animate_branch

        return animate_branch(self, path, seconds=seconds, fps=fps, progress=progress)


# Files


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


PROBLEM = {
    "states": Along("state", str),
    "dependent": [str],
    "settle": float,
    "unfolding": Along("state", Along("conserved", float)),
    "held": Along("conserved", Along("state", float)),
    "values": {str: str},
}
SCALARS: dict[str, Callable[[Sizes], int]] = {"scalar": lambda sizes: 2 + sizes["conserved"]}
ORBITS = Layout(
    "branch of orbits",
    "read it by load_equilibria or load_curve, a motion by load_motion",
    {
        "system": str,
        "load": str,
        "ended": str,
        "step": float,
        "accuracy": float,
        "about": {
            **PROBLEM,
            "kinds": Along("special", str),
            "notes": Along("special", str),
            "symmetric": Along("point", bool),
            "special_symmetric": Along("special", bool),
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
