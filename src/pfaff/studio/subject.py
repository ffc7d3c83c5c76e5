"""The subject of a studio: a system or an ODE with its case, or an assembly; what it has, and what it can compute."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from pfaff import doors
from pfaff.draw.labels import letters
from pfaff.errors import NotMechanicalError, ParameterError, PfaffError
from pfaff.flow.assembly import Assembly
from pfaff.statement.odes import Ode
from pfaff.statement.values import number_from, one_of, shown
from pfaff.studies.catalogue import offered
from pfaff.studio.sliders import meaning_and_unit, slider, written
from pfaff.studio.view import View

if TYPE_CHECKING:
    from pfaff.case import Bound
    from pfaff.rest.spectrum import Spectrum

MODES = 12  # of an assembly that are shown
SLOWEST = 16  # eigenvalues in a picture: the fast ones of a rod would hide them
COORDINATE = re.compile(r"q(0|[1-9][0-9]{0,8})(?:_dot)?")  # of an assembly, or its speed
FEW = 12  # coordinates whose initial values are offered one by one


@dataclass(frozen=True)
class Roots:
    """Eigenvalues for a picture, which of them grow, and a sentence about them."""

    values: np.ndarray
    growing: np.ndarray
    zeros: int
    status: str
    spectrum: Spectrum | None = None
    q: np.ndarray | None = None  # the configuration that they belong to

    @property
    def lead(self) -> int:
        """The mode shown first: the one that grows most, or the slowest where none grows."""
        if not len(self.values):
            return 0
        grows = np.where(self.growing, self.values.real, -np.inf)
        first = self.values[grows.argmax() if self.growing.any() else np.abs(self.values).argmin()]
        return int(np.abs(self.values - complex(first.real, abs(first.imag))).argmin())

    @property
    def slow(self) -> np.ndarray:
        """Indices of those that are shown: all that grow, and the slowest of the others."""
        slowest = np.argsort(np.abs(self.values), kind="stable")[:SLOWEST]
        return np.array([k for k in range(len(self.values)) if k in slowest or self.growing[k]], dtype=int)


@dataclass(frozen=True)
class Subject:
    """The common part of both kinds. ``source`` says where it was stated, ``store`` is a sweep of it to be shown."""

    source: Mapping[str, Any] = field(default_factory=dict, kw_only=True)
    store: str | None = field(default=None, kw_only=True)

    name = ""
    kind = ""
    why_no_drawing = ""

    def opening(self) -> View:
        """The view before anything is touched."""
        raise NotImplementedError

    def parameters(self) -> list[dict[str, Any]]:
        """Names, letters, meanings, values and ranges, for sliders."""
        raise NotImplementedError

    def states(self) -> list[dict[str, Any]]:
        """The moving variables, for initial values and axes."""
        raise NotImplementedError

    def roots(self, view: View, about: Any = None) -> Roots:
        """The eigenvalues about the equilibrium, or about one that was found."""
        raise NotImplementedError

    def check(self, view: View) -> None:
        """Refuse names that are none of ours: they become arguments of analyses and words in lines of Python."""
        raise NotImplementedError

    def begins(self, view: View) -> dict[str, float]:
        """Initial values by name, where there is one."""
        self.check(view)
        return {name: number_from(name, text) for name, text in view.start.items() if text.strip()}

    def load(self, view: View) -> str:
        """The parameter that grows, or an error that says how to name one."""
        raise NotImplementedError

    @property
    def measures(self) -> tuple[str, ...]:
        """Measures that maps can show."""
        return ()

    def facts(self) -> dict[str, Any]:
        """Everything that the page needs for its layout."""
        view = self.opening()
        return {
            "name": self.name,
            "kind": self.kind,
            "parameters": self.parameters(),
            "states": self.states(),
            "measures": list(self.measures),
            "drawn": not self.why_no_drawing,
            "stored": _stored(self.store),
            "opening": view.data,
        }


@dataclass(frozen=True)
class Stated(Subject):
    """A mechanical system or a plain ODE, with the values it is opened at."""

    case: Bound

    @property
    def name(self) -> str:  # type: ignore[override]
        return self.case.system.name

    @property
    def mechanical(self) -> bool:
        return not isinstance(self.case.system, Ode)

    @property
    def kind(self) -> str:  # type: ignore[override]
        return "system" if self.mechanical else "ode"

    @property
    def measures(self) -> tuple[str, ...]:
        return offered(self.mechanical, at_once=True)

    @property
    def why_no_drawing(self) -> str:  # type: ignore[override]
        if not self.mechanical:
            return f"{self.name} is a plain ODE, which has no structure to draw: its motions are shown as curves"
        try:
            doors.draw.drawing_of(self.case)
        except PfaffError as problem:
            return str(problem)
        return ""

    def opening(self) -> View:
        system = self.case.system
        changed = {
            name: written(value)
            for name, value in self.case.values.items()
            if value is not None and value != system.defaults[name]
        }
        return View(values=changed, load=system.load.name if system.load is not None else "")

    def bound(self, view: View) -> Bound:
        """The case at the values of a view."""
        return self.case.at(view.values)

    def check(self, view: View) -> None:
        self.bound(view)
        for name in view.start:
            one_of(self.case.system.moving_names, name, f"{self.name} has no state")

    def grown(self, view: View) -> Bound:
        """The case that the diagram of a view belongs to."""
        names = self.case.system.parameter_names
        return self.case.at({name: text for name, text in view.grown.items() if name in names})

    def held(self, texts: Mapping[str, str]) -> dict[str, float]:
        """Numbers for states among texts by name."""
        names = self.case.system.moving_names
        return {name: number_from(name, text) for name, text in texts.items() if name in names and text.strip()}

    def load(self, view: View) -> str:
        return self.case.load_name(view.load or None)

    def parameters(self) -> list[dict[str, Any]]:
        system = self.case.system
        meanings, load = getattr(system, "meanings", {}), system.load.name if system.load is not None else None
        return [
            slider(symbol, self.case.values[symbol.name], meanings.get(symbol.name, ""), symbol.name == load)
            for symbol in system.parameters
        ]

    def states(self) -> list[dict[str, Any]]:
        system = self.case.system
        meanings = getattr(system, "meanings", {})
        return [
            {"name": name, "letters": letters(name), **meaning_and_unit(meanings.get(name, ""))}
            for name in system.moving_names
        ]

    def roots(self, view: View, about: Any = None) -> Roots:
        case: Any = self.bound(view)
        if view.shows == "steady":
            check_mechanical(self, "steady motions are")
            motion = case.steady(fixed=self.held(view.start))
            shape = np.array([motion.state.get(name, 0.0) for name in case.system.coordinate_names])
            return _roots(motion.spectrum(), motion.status, shape)
        found = case.spectrum(about) if about is not None else case.spectrum()
        return _roots(found, found.status, None if found.linearisation is None else found.linearisation.q)


def _roots(found: Spectrum, status: str, q: np.ndarray | None) -> Roots:
    growing = found.values.real > found.rounding
    return Roots(found.values, growing, found.structural_zeros, status, found, q)


@dataclass(frozen=True)
class Assembled(Subject):
    """An assembly of parts: its load is what can be changed."""

    assembly: Assembly

    kind = "assembly"

    @property
    def name(self) -> str:  # type: ignore[override]
        return self.assembly.name

    @property
    def why_no_drawing(self) -> str:  # type: ignore[override]
        return "an assembly has no drawing: its motions are shown as curves"

    def opening(self) -> View:
        return View(values={self.assembly.load: "0"}, load=self.assembly.load)

    def load(self, view: View) -> str:
        return self.assembly.load

    def check(self, view: View) -> None:
        for name in view.values:
            if name != self.assembly.load:
                raise ParameterError(f"{self.name} is stated with numbers: {shown(name)} is none of its parameters")
        for name in view.start:
            place = COORDINATE.fullmatch(name)
            if place is None or int(place[1]) >= self.assembly.size:
                last = self.assembly.size - 1
                raise ParameterError(f"{self.name} has no state {shown(name)}: write q0 to q{last}, or q0_dot")

    def value(self, view: View) -> float:
        """Value of the load."""
        self.check(view)
        return number_from(self.assembly.load, view.values.get(self.assembly.load, "0"))

    def parameters(self) -> list[dict[str, Any]]:
        name = self.assembly.load
        about = {"name": name, "letters": letters(name), "text": "0", "number": 0.0, "low": 0.0, "high": 1.0}
        return [{**about, "floor": None, "load": True, "meaning": "load", "unit": ""}]

    def states(self) -> list[dict[str, Any]]:
        names = [f"q{k}" for k in range(self.assembly.size)][:FEW]
        return [{"name": name, "letters": letters(name), "meaning": "", "unit": ""} for name in names]

    def roots(self, view: View, about: Any = None) -> Roots:
        found = doors.large.Search(
            doors.assemblies.AssemblyPath(self.assembly, None, ()), min(MODES, self.assembly.size), None
        ).check(self.value(view))
        values = found.values.real + 1j * np.abs(found.values.imag)
        return Roots(values, found.growing, 0, f"{found.status} ({len(values)} lowest modes)")


def subject_of(given: Any, **more: Any) -> Subject:
    """The subject of what was opened: a case, a system or an ODE at its defaults, an assembly."""
    if isinstance(given, Assembly):
        return Assembled(given, **more)
    if hasattr(given, "values") and hasattr(given, "system"):
        return Stated(given, **more)
    if not hasattr(given, "at"):
        raise ParameterError(f"a studio of {shown(given)}: give a system, an ODE, a case of one, or an assembly")
    return Stated(given.at(), **more)


def check_mechanical(subject: Subject, what: str) -> None:
    if subject.kind != "system":
        kind = "a plain ODE" if subject.kind == "ode" else "an assembly"
        raise NotMechanicalError(f"{what} of a mechanical system with a case, and {subject.name} is {kind}")


def check_case(subject: Subject, what: str) -> Stated:
    if isinstance(subject, Assembled):
        raise NotMechanicalError(f"{what} are there for systems and ODEs, and {subject.name} is an assembly")
    return cast("Stated", subject)


def _stored(store: str | None) -> dict[str, Any]:
    """What a sweep's store has measured, and the ends of its axes."""
    if store is None:
        return {}
    study = doors.sweep.open_sweep(store)
    axes = {name: [float(each) for each in study.dataset[name].to_numpy()[[0, -1]]] for name in study.points.dims}
    return {"names": list(study.names), "axes": axes}
