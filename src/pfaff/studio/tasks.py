"""Background tasks of a lane's process, which answer with messages and at last a result."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from pfaff import doors
from pfaff.draw.footage import FRAMES, of_motion
from pfaff.draw.labels import letters, moving_most
from pfaff.errors import ParameterError
from pfaff.statement.values import number_from, number_within
from pfaff.studies.catalogue import QUANTITIES
from pfaff.studio.growing import Diagram, Say
from pfaff.studio.sights import critical_data, packed, paths_along
from pfaff.studio.subject import Assembled, Subject, check_case
from pfaff.studio.view import Plane, View

SIZES = (9, 33)  # sizes of a map, coarse first
CURVES = 1201  # samples of a motion that is drawn as curves
SHOWN = 12.0  # seconds in which a motion is played
STORED = "store/"  # prefix of a measure of a store
DETAILS = 200  # equilibria that are listed


class Tasks:
    """The tasks of one process about one subject, and the last result of each, for files."""

    def __init__(self, subject: Subject) -> None:
        self.subject = subject
        self.diagram = Diagram(subject)
        self.last: dict[str, tuple[Any, Any]] = {}  # by task: its arguments, and the result

    def do(self, task: str, view: View, say: Say) -> dict[str, Any]:
        doing: dict[str, Callable[[View, Say], dict[str, Any]]] = {
            "critical": self.critical,
            "along": self.along,
            "motion": self.motion,
            "equilibria": self.equilibria,
            "diagram": self.diagram.grow,
            "map": self.map,
            "warm": self.warm,
        }
        return doing[task](view, say)

    def warm(self, view: View, say: Say) -> dict[str, Any]:
        """Load the modules that branches need, in advance."""
        return {"loaded": [doors.finding.__name__, doors.orbit_switching.__name__]}

    def critical(self, view: View, say: Say) -> dict[str, Any]:
        """Flutter, divergence and buckling; for an ODE its Hopf point, for an assembly its flutter."""
        found, load = self.critical_loads(view)
        return {**critical_data(found, load), "status": "; ".join(each.status for each in found.values())}

    def along(self, view: View, say: Say) -> dict[str, Any]:
        """Eigenvalues against the load where these take long, then critical loads."""
        for paths in paths_along(self.subject, view):
            say({"curves": paths.data(self.subject, view), "ended": paths.ended})
        return self.critical(view, say)

    def critical_loads(self, view: View) -> tuple[dict[str, Any], str]:
        to = number_from("to", view.to) if view.to else None
        load = self.subject.load(view)
        if isinstance(self.subject, Assembled):
            return {"flutter": self.subject.assembly.flutter(to=to)}, load
        case: Any = check_case(self.subject, "critical loads").bound(view)
        if self.subject.kind == "ode":
            return {"Hopf point": _HopfMark(case.hopf(load, to=to))}, load
        found = case.critical(load, to=to)
        return {"flutter": found.flutter, "divergence": found.divergence, "buckling": found.buckling}, load

    def motion(self, view: View, say: Say) -> dict[str, Any]:
        """The motion, as a film where there is a drawing and as curves where there is none."""
        found = self.moved(view, lambda share: say({"progress": float(share)}))
        status = f"{found.status}: {found.method}" if getattr(found, "method", "") else str(found.status)
        t = np.linspace(found.t[0], found.t[-1], CURVES)
        if not self.subject.why_no_drawing:
            film = of_motion(found, float(found.t[0]), float(found.t[-1]), FRAMES)
            return {"film": film.data(SHOWN), "status": status}
        rows = dict(zip(found.states, found(t), strict=True))
        half = len(rows) // 2 if isinstance(self.subject, Assembled) else len(rows)
        shown = moving_most(dict(list(rows.items())[:half]))
        curves = [{"name": letters(name), "values": packed(rows[name])} for name in shown]
        return {"t": packed(t), "curves": curves, "status": status}

    def moved(self, view: View, progress: Callable[[float], None] = lambda share: None) -> Any:
        """The motion of a view."""
        return self._known("motion", (view.values, view.start, view.duration), lambda: self._moved(view, progress))

    def _moved(self, view: View, progress: Callable[[float], None]) -> Any:
        longest = "give a time that is not zero, such as 20"
        duration = number_within("duration", view.duration, lambda x: x != 0, longest)
        start = self.subject.begins(view)
        if isinstance(self.subject, Assembled):
            return _assembly_motion(self.subject, view, duration, start, progress)
        case: Any = check_case(self.subject, "motions").bound(view)
        return case.simulate(duration, progress=progress, initial=start)

    def _known(self, task: str, asked: Any, make: Callable[[], Any]) -> Any:
        """The last result of a task, or a new one where something else is asked for."""
        if task not in self.last or self.last[task][0] != asked:
            self.last[task] = (asked, make())
        return self.last[task][1]

    def equilibria(self, view: View, say: Say) -> dict[str, Any]:
        """All equilibria that random starts find, with the objects themselves for later selection."""
        found, status = self.found(view)
        names = [*found[0].coordinates, *found[0].reaction] if self.subject.kind == "system" and found else []
        if self.subject.kind == "ode":
            names = list(found[0].state)
        rows = [[float(each[name]) for name in names] for each in found[:DETAILS]]
        say({"found": len(found)}, ("equilibria", list(found)[:DETAILS]))
        return {"names": names, "letters": [letters(name) for name in names], "rows": rows, "status": status}

    def found(self, view: View) -> tuple[Any, str]:
        """All equilibria; for an ODE the one near the initial values."""
        case: Any = check_case(self.subject, "equilibria").bound(view)
        if self.subject.kind == "ode":
            at = case.equilibrium(start=self.subject.begins(view))
            return [at], at.status
        found = self._known("equilibria", view.values, case.equilibria)
        return found, found.status

    def map(self, view: View, say: Say) -> dict[str, Any]:
        """A measure over two parameters, coarse first; or its values in a store."""
        data: dict[str, Any] = {}
        stored = view.plane is not None and view.plane.measure.startswith(STORED)
        for size in SIZES[-1:] if stored else SIZES:
            study = self.charted(view, size)
            assert view.plane is not None
            measure = view.plane.measure.removeprefix(STORED)
            data = _map_data(study, view.plane.x, view.plane.y, measure)
            if not study.complete:
                break
            say(data)
        axes = " and ".join(data["letters"])
        return {**data, "status": f"{measure.replace('_', ' ')} over {axes}: {study.status}"}

    def charted(self, view: View, size: int = SIZES[-1]) -> Any:
        """The study behind a map."""
        plane = view.plane
        if plane is None:
            raise ParameterError("a map of what? Choose two parameters and their ranges")
        if plane.measure.startswith(STORED):
            return self._stored()
        asked = (view.values, plane, view.load, view.to, size)
        return self._known(f"map {size}", asked, lambda: self._charted(view, plane, size))

    def _charted(self, view: View, plane: Plane, size: int) -> Any:
        case = check_case(self.subject, "maps").bound(view)
        low_x, high_x, low_y, high_y = (number_from("range", each) for each in plane.ends)
        axes = {plane.x: np.linspace(low_x, high_x, size), plane.y: np.linspace(low_y, high_y, size)}
        to = number_from("to", view.to) if view.to else None
        return case.sweep(axes, plane.measure, load=searched(view), to=to).run(progress=lambda running: None)

    def _stored(self) -> Any:
        if self.subject.store is None:
            raise ParameterError("the studio was opened without a store: pfaff studio SYSTEM --store map.zarr")
        return doors.sweep.open_sweep(self.subject.store)


def searched(view: View) -> str | None:
    """The load that a map is about; None where the measure is taken at the values themselves, whose axis the load may
    be."""
    measured = QUANTITIES.get(view.plane.measure) if view.plane is not None else None
    here = measured is not None and not (measured.search.seeks or measured.search.follows)
    return None if here else view.load or None


class _HopfMark:
    """A Hopf point, marked like a critical load."""

    def __init__(self, hopf: Any) -> None:
        self.value, self.frequency, self.status, self.plot = hopf.value, hopf.omega, hopf.status, hopf.plot


def _assembly_motion(subject: Assembled, view: View, duration: float, start: dict[str, float], progress: Any) -> Any:
    places = {name: int(name[1:].removesuffix("_dot")) for name in start}
    first = {places[name]: value for name, value in start.items() if not name.endswith("_dot")}
    speeds = {places[name]: value for name, value in start.items() if name.endswith("_dot")}
    return subject.assembly.simulate(
        duration, subject.value(view), start=first or None, velocities=speeds or None, progress=progress
    )


def _map_data(study: Any, x: str, y: str, measure: str) -> dict[str, Any]:
    """A rectangle of numbers over two axes; for a store with more axes, the slice in the middle of the others."""
    doors.values.one_of(study.names, measure, "the study has no measure")
    values = study.dataset[measure]
    for name in (x, y):
        doors.values.one_of(values.dims, name, "the study has no axis")
    held = {name: values.sizes[name] // 2 for name in values.dims if name not in (x, y)}
    values = values.isel(held).transpose(y, x)
    return {
        "x": values[x].to_numpy().tolist(),
        "y": values[y].to_numpy().tolist(),
        "names": [x, y],
        "letters": [letters(x), letters(y)],
        "measure": measure,
        "held": {name: float(values[name]) for name in held},
        "values": packed(values.to_numpy().astype(float)),
    }
