"""A branch of periodic orbits: points in order, the special ones among them, and why it ends."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from pfaff.bifurcation.collocation import Cycle, Mesh, Metric
from pfaff.bifurcation.orbits import OrbitPoint, OrbitProblem, Special, followed, real
from pfaff.bifurcation.sequence import Sequence, tallied
from pfaff.errors import ConvergenceError, ParameterError
from pfaff.stored import alike, compare, flow_of, read_branch, write
from pfaff.values import one_of, path_from

if TYPE_CHECKING:
    import xarray
    from matplotlib.figure import Figure

    from pfaff.case import Bound

UNMOVED = 1e-6  # relative to a stored orbit, how far correction may move it, and its largest residual


@dataclass(frozen=True, eq=False, repr=False)
class Branch(Sequence[OrbitPoint, Special]):
    """Orbits along a branch. ``branch[i]`` is one of them, ``special`` the located points, ``ended`` says why."""

    problem: OrbitProblem
    points: tuple[OrbitPoint, ...]
    special: tuple[Special, ...]
    ended: str
    step: float

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
        return f"{len(self)} orbits from {self.load} = {self.points[0].value:.8g}, {self.counted}; {self.ended}"

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

    def extend(self, to: float, *, points: int = 1000, progress: Callable[[OrbitPoint], Any] | None = None) -> Branch:
        """The same branch followed on from its last orbit, in its direction, until the load is ``to``."""
        more = followed(self.points[-1], to, self.step, points, progress, self.points[0])
        return replace(
            self, points=self.points + more.points[1:], special=self.special + more.special, ended=more.ended
        )

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
        notes = {"system": problem.case.system.name, "load": self.load, "ended": self.ended, "status": self.status}
        return notes | {"step": self.step, "accuracy": problem.accuracy, "about": json.dumps(about)}

    def save(self, path: str | Path) -> Path:
        """Write a netCDF file; ``pfaff.load_branch`` reads it again."""
        return write(self.to_xarray(), path_from("path", path))

    def plot(self, state: str | None = None) -> Figure:
        """The bifurcation diagram: period and amplitude against the load, solid where orbits are stable."""
        from pfaff.draw.orbits import draw_branch

        states = self.problem.flow.states
        if state is not None:
            one_of(states, state, "no state")
        return draw_branch(self, state or states[0])


# Files


def _columns(points: Collection[OrbitPoint], dimension: str) -> dict[str, Any]:
    facts = ("value", "period", "residual", "mesh_error")
    columns: dict[str, Any] = {name: (dimension, np.array([getattr(p, name) for p in points])) for name in facts}
    columns["stable"] = (dimension, np.array([p.stable for p in points], dtype=np.int8))
    multipliers = np.array([p.multipliers for p in points])
    columns["multiplier_real"] = ((dimension, "multiplier"), multipliers.real)
    columns["multiplier_imag"] = ((dimension, "multiplier"), multipliers.imag)
    for kind in ("amplitude", "advance"):
        rows = [getattr(p, kind) for p in points]
        columns |= {f"{kind}_{name}": (dimension, np.array([row[name] for row in rows])) for name in rows[0]}
    return columns


def packed(points: Collection[OrbitPoint], dimension: str) -> dict[str, Any]:
    """Orbits and tangents as arrays of equal length."""
    longest = max(p.point.cycle.intervals for p in points)

    def padded(arrays: list[np.ndarray], length: int) -> np.ndarray:
        out = np.full((len(arrays), length, *arrays[0].shape[1:]), np.nan)
        for row, array in zip(out, arrays, strict=True):
            row[: len(array)] = array
        return out

    cycles, tangents = [p.point.cycle for p in points], [p.point.tangent for p in points]
    node, interval = f"{dimension}_node", f"{dimension}_interval"
    parts: dict[str, Any] = {"mesh": ((dimension, node), padded([c.mesh.at for c in cycles], longest + 1))}
    for name, of in (("orbit", cycles), ("tangent", tangents)):
        parts[f"{name}_x"] = ((dimension, node, "state"), padded([c.x for c in of], longest + 1))
        parts[f"{name}_slopes"] = ((dimension, interval, "stage", "row"), padded([c.K for c in of], longest))
        parts[f"{name}_scalars"] = ((dimension, "scalar"), np.array([c.scalars for c in of]))
    return parts


def load_branch(path: str | Path, case: Bound) -> Branch:
    """A branch that was saved, of the case it was computed for; it can be extended and switched from again."""
    data, about = read_branch(path, case)
    if "unfolding" not in about:
        raise ParameterError(f"{path} holds no branch of orbits: read it by load_equilibria or load_curve")
    compare(path, case, about["values"], (data.attrs["load"],), alike)
    problem = OrbitProblem(
        case,
        flow_of(case, about),
        data.attrs["load"],
        float(data.attrs["accuracy"]),
        np.array(about["unfolding"]).reshape(len(about["states"]), -1),
        np.array(about["held"]).reshape(-1, len(about["states"])),
    )
    points = tuple(unpacked(problem, data, k, "", each) for k, each in enumerate(about["symmetric"]))
    notes = about.get("notes") or [""] * len(about["kinds"])
    special = tuple(
        Special(problem, unpacked(problem, data, k, "special_", each).point, about["kinds"][k], notes[k])
        for k, each in enumerate(about["special_symmetric"])
    )
    return Branch(problem, points, special, data.attrs["ended"], float(data.attrs["step"]))


def unpacked(problem: OrbitProblem, data: xarray.Dataset, k: int, prefix: str, symmetric: bool) -> OrbitPoint:
    """One orbit, corrected once more, so that what follows from it need not be stored."""
    mesh = data[f"{prefix}mesh"].to_numpy()[k]
    size = int(np.isfinite(mesh).sum())
    shared = Mesh(mesh[:size].copy())
    signs = np.full(len(problem.flow.states), -1.0 if symmetric else 1.0)

    def cycle(name: str) -> Cycle:
        x, slopes, scalars = (data[f"{prefix}{name}_{part}"].to_numpy()[k] for part in ("x", "slopes", "scalars"))
        return Cycle(shared, x[:size].copy(), slopes[: size - 1].copy(), scalars.copy(), signs)

    orbit, tangent = cycle("orbit"), cycle("tangent")
    span = float(np.ptp(data["value"].to_numpy())) or 1.0
    continuation, metric = problem.continuation(span), Metric.of(orbit, span)
    row = metric.dual(tangent)
    solution = continuation.corrected(orbit, orbit, row)
    if isinstance(solution, str) or not metric.norm(solution.cycle.moved(orbit, -1.0)) < UNMOVED:
        pins = problem.collocation.pins(orbit, metric, row, problem.held, orbit)
        kept = problem.collocation.evaluated(orbit, pins, metric)
        # At a branch point the equations are singular, but they hold.
        if isinstance(kept, str) or not kept.residual < UNMOVED:
            raise ParameterError(
                f"the stored orbit {k} does not belong to this case: give the case that the branch was computed for"
            )
        solution = kept
    return OrbitPoint(problem, continuation.point(solution, tangent))
