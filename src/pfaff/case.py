"""A case: a system, or a plain ODE, with values for its parameters. The desk where every analysis is asked for."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path as FilePath
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, Self, overload

import numpy as np

from pfaff.continuation.course import POINTS, STEP, Bounds, Course
from pfaff.errors import ConvergenceError, NotMechanicalError, ParameterError, SingularMassError
from pfaff.statement.values import by_name, check_keywords, checked_value, instance, one_of, shown, truth
from pfaff.threads import cached_property
from pfaff.travel import Travels

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from pfaff.bifurcation.equilibria.branches import EquilibriumBranch
    from pfaff.bifurcation.equilibria.starts import Start
    from pfaff.bifurcation.equilibria.steady_motion import SteadyMotion
    from pfaff.bifurcation.hopf.hopf import Hopf
    from pfaff.bifurcation.modes.families import NormalMode
    from pfaff.bifurcation.orbits.orbits import OrbitPoint
    from pfaff.bifurcation.response.response import Response
    from pfaff.export import Export
    from pfaff.motion.ensemble import Ensemble
    from pfaff.motion.locomotion import Locomotion
    from pfaff.motion.result import Motion
    from pfaff.motion.trajectory import Trajectory
    from pfaff.rest.mechanical import Balance, Equilibria, Equilibrium
    from pfaff.rest.path import LoadPath, Path, StatePath
    from pfaff.rest.small_motions import Linearisation, Spectrum
    from pfaff.rest.states import SteadyState
    from pfaff.stability.critical_load import CriticalLoad, CriticalLoads
    from pfaff.stability.exact import ExactLinearisation
    from pfaff.stability.maps import FlutterMap
    from pfaff.stability.paradox import Paradox
    from pfaff.statement.odes import Ode
    from pfaff.statement.parameters import Parametrised
    from pfaff.statement.system import System
    from pfaff.studies.study import Study
    from pfaff.studio.launch import Running


MECHANICAL = ("prescribed", "method", "project", "step")  # what simulate takes for a mechanical case only


@dataclass(frozen=True)
class Bound(Travels):
    """Whatever was stated, at given parameter values, with the analyses that work on any flow.

    Immutable: ``at`` gives another case. Values may be floats, fractions, SymPy numbers or, for exact results,
    SymPy symbols.
    """

    system: Parametrised
    values: Mapping[str, Any] = field(repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "values", MappingProxyType(dict(self.values)))

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.__post_init__()

    def at(self, /, *unnamed: Any, **values: Any) -> Self:
        """The same system with some parameters changed."""
        if unnamed:
            raise ParameterError(f"at({shown(unnamed[0])}): give values by name, at({self._example()}=1)")
        checked = {name: checked_value(self.system.parameter(name), value) for name, value in values.items()}
        return type(self)(self.system, {**self.values, **checked})

    def unchecked(self, /, **values: float) -> Self:
        """The same system with values that analyses need, such as zero damping, whatever the symbols promise."""
        return type(self)(self.system, {**self.values, **values})

    @cached_property
    def numbers(self) -> np.ndarray:
        """All parameters as floats, in the system's order; an error names the first that has no number."""
        return np.array([self._number(name) for name in self.system.parameter_names], dtype=float)

    def _number(self, name: str) -> float:
        value = self.values[name]
        if value is None:
            raise ParameterError(f"parameter {name!r} of {self.system.name} has no value: give it with at({name}=…)")
        try:
            return float(value)
        except TypeError:
            raise ParameterError(
                f"parameter {name!r} is the symbol {value}: give it a number, or ask for an exact result"
            ) from None

    def numbers_at(self, name: str, value: float) -> np.ndarray:
        """The parameter vector with one entry replaced: cheaper than a new case inside loops."""
        numbers = self.numbers.copy()
        numbers[self.system.parameter_names.index(name)] = value
        return numbers

    def load_name(self, load: str | None = None) -> str:
        """The load parameter asked for, or the one the system declares."""
        if load is not None:
            return self.system.parameter(load).name
        if self.system.load is None:
            raise ParameterError(
                f"{self.system.name} declares no load: name the parameter that grows, load={self._example()!r}"
            )
        return self.system.load.name

    def _example(self) -> str:
        return self.system.parameter_names[0] if self.system.parameters else "F"

    def path(self, load: str, fixed: Mapping[str, float]) -> Path:
        """The equilibrium followed as a parameter changes."""
        raise NotImplementedError

    def start_of(self, start: Any, fixed: Mapping[str, float]) -> Start:
        """Where a branch starts: the equilibrium of the case, or what was given."""
        raise NotImplementedError

    def hopf(self, load: str | None = None, to: float | None = None, near: float | None = None, **fixed: float) -> Hopf:
        """The first Hopf point on the equilibrium path, or the one nearest to the load ``near``, with its normal form.

        A mechanical system is followed from zero load, family coordinates fixed by name; a plain ODE (and a mechanical
        system that has no equilibrium at zero load) from the value that its parameter has, with starting values of its
        states by name. ``to`` ends the search, in either direction.
        """
        from pfaff.bifurcation.hopf.finding import find_hopf

        self._check_rest()
        return find_hopf(self, self.load_name(load), to, near, self._by_name("hopf", fixed))

    def orbit(self, motion: Any, load: str | None = None, accuracy: float = 1e-11) -> OrbitPoint:
        """The periodic orbit that a motion has nearly settled on: ``case.orbit(case.simulate(500, theta1=0.1))``.

        ``motion`` has times ``t`` and states by name, as a Motion or an xarray.Dataset; ``load`` is the parameter that
        ``case.orbit(…).orbits(to=…)`` varies.
        """
        from pfaff.bifurcation.orbits.from_motions import orbit_near

        return orbit_near(self, motion, self.load_name(load), accuracy)

    def response(
        self,
        parameter: str,
        from_: float | None = None,
        to: float | None = None,
        *,
        step: float = STEP,
        points: int = POINTS,
        bounds: Bounds = None,
        accuracy: float = 1e-9,
        progress: Callable[[OrbitPoint], Any] | None = None,
        **start: float,
    ) -> Response:
        """The periodic response to explicit forcing: ``case.response("Omega", from_=0.5, to=3.0)``.

        Time stands in the system as it is written, ``forces={x: F*cos(Omega*t)}``. The parameter, a frequency or any
        other, runs from ``from_`` (its value in this case, by default) to ``to``; folds, tori and period doublings on
        the way are located.

        step, points, bounds, progress
            As for ``branch``.
        accuracy
            Relative, of the orbits.
        start
            Values of the states at time zero by name: the first response is the one that the motion from there settles
            on. Without them it is the one that grows from rest as the forcing grows from nothing.
        """
        from pfaff.bifurcation.response.response import check_forced, respond

        name = self.load_name(parameter)
        check_forced(self)
        if to is None:
            raise ParameterError(f"how far? Give the last value of {name}: to=…")
        return respond(self, name, from_, Course.asked(to, step, points, bounds, progress), accuracy, start)

    def branch(
        self,
        parameter: str | None = None,
        to: float | None = None,
        *,
        start: Any = None,
        step: float = STEP,
        points: int = POINTS,
        bounds: Bounds = None,
        progress: Callable[[Any], Any] | None = None,
        **fixed: float,
    ) -> EquilibriumBranch:
        """The branch of equilibria through this case's, as a parameter changes from its value until it is ``to``.

        Folds, branch points and Hopf points on it are located, with their normal forms. A coordinate of a family of
        equilibria may take the place of the parameter: the branch then follows the family.

        start
            Another equilibrium to start from, a point of a branch, or values of the states by name; with speeds, of a
            steady motion.
        step, points
            The largest step, as a share of the range from the start to ``to`` and of the size of the states, taken
            together; how many points at most.
        bounds
            ``(low, high)``: the branch also ends where the parameter leaves them, as on the other side of its start
            after a fold; None leaves a side open. By default as far from the start as ``to`` is.
        progress
            Is called with every point. Ctrl-C ends the branch and keeps what was computed.
        fixed
            Family coordinates by name (of a plain ODE: starting values of its states).
        """
        from pfaff.bifurcation.equilibria.branches import follow_equilibria

        name, fixed = self._varied(parameter), self._by_name("branch", fixed)
        self._check_rest()
        if to is None:
            raise ParameterError(f"how far? Give the last value of {name}: to=…")
        return follow_equilibria(self, name, start, Course.asked(to, step, points, bounds, progress), fixed)

    def export(
        self,
        to: str,
        folder: str | FilePath | None = None,
        *,
        load: str | None = None,
        until: float | None = None,
        start: Mapping[str, float] | None = None,
    ) -> Export:
        """The equations on shape space for another program, with this case's values and its equilibrium as the start.

        ``to`` is ``"auto"`` (AUTO-07p), ``"matcont"``, ``"bifurcationkit"``, ``"c"``, ``"numpy"`` or ``"latex"``. A
        continuation in the parameter ``load`` ends at ``until``. Files are written into ``folder``, if given. ``start``
        has values of the states near another equilibrium or, with speeds, a steady motion. Zero eigenvalues that a
        family has at the start are told in the files and the ``status``.
        """
        from pfaff.export import export

        return export(self, to, folder, load, until, start)

    def sweep(
        self,
        axes: Any,
        measure: Any = "flutter",
        store: str | FilePath | None = None,
        *,
        load: str | None = None,
        to: float | None = None,
        chunk: int | None = None,
        source: str | None = None,
        accept: bool = False,
        **fixed: float,
    ) -> Study:
        """Any result over any parameters: ``case.sweep({"c_i": values, "M_L": values}, measure=["hopf", "l1"]).run()``.

        axes
            Values by name (a grid), a list of points, or ``pfaff.sobol(…)``; of parameters, and of coordinates and
            speeds
            that select an equilibrium or a steady motion.
        measure
            Names (flutter, divergence, buckling, flutter_frequency; hopf, omega, crossing_speed, l1, criticality;
            stable,
            growth; period, amplitude, multiplier of the cycle at the case's load; end, mean_velocity of a motion
            with their
            options), or functions of a case that return a number or numbers by name.
        store
            A folder ``map.zarr`` (extra ``sweep``) or a file ``map.nc``, in which a study that was begun is taken
            up; memory
            if none is given.
        load, to, fixed
            As in ``hopf`` and ``flutter``.
        chunk, source, accept
            Points that are computed and kept together; the file that states the system, ``"my_sleigh.py:sleigh"``,
            if it cannot
            be found; whether to go on with a store of another version of pfaff.
        """
        from pfaff.studies.study import sweep

        return sweep(self, axes, measure, store, load, to, chunk, source, accept, fixed)

    def studio(
        self, *, port: int = 0, browser: bool = True, wait: bool = True, store: str | FilePath | None = None
    ) -> Running | None:
        """The whole analysis by hand and eye in a browser, until Ctrl-C; needs the extra ``studio``.

        It is served on 127.0.0.1, at a free port if none is given. ``wait=False`` returns at once, with an ``address``
        and ``stop()``. Of the ``store`` of a sweep the maps are shown, too.
        """
        from pfaff.studio import open_studio

        return open_studio(self, port=port, browser=browser, wait=wait, store=store)

    def explore(self) -> Any:
        """Sliders, the live spectrum and the structure in a cell of a notebook; needs the extra ``studio``."""
        from pfaff.studio.widget import explorer

        return explorer(self)

    def _by_name(self, analysis: str, values: Mapping[str, Any]) -> dict[str, Any]:
        """Values by the names that analyses use, ``p`` for ``p_blade``; misspelt arguments are refused."""
        if not values:
            return {}
        system, aliases = self.system, getattr(self.system, "reaction_aliases", {})
        names = (*system.state_names, *system.parameter_names, *getattr(system, "reaction_names", ()), *aliases)
        check_keywords(getattr(type(self), analysis), values, names)
        return {aliases.get(name, name): value for name, value in values.items()}

    def _varied(self, name: str | None) -> str:
        """A parameter, or a state that may be a coordinate of a family."""
        if isinstance(name, str) and name in self.system.state_names:
            return name
        return self.load_name(name)

    def _check_rest(self) -> None:
        """Refuse what cannot rest at all."""

    def _split(self, values: Mapping[str, Any], states: Sequence[str]) -> tuple[Self, dict[str, float]]:
        """Parameter values apart from values of coordinates or states."""
        for name in values:
            one_of([*self.system.parameter_names, *states], name, f"{self.system.name} has no parameter or coordinate")
        fixed = {name: value for name, value in values.items() if name in states}
        return self.at(**{name: value for name, value in values.items() if name not in states}), fixed

    def __repr__(self) -> str:
        values = ", ".join(f"{name}={value}" for name, value in self.values.items())
        return f"<Case of {self.system.name!r}: {values}>"


@dataclass(frozen=True, repr=False)
class Case(Bound):
    """A mechanical system at given parameter values."""

    system: System

    def path(self, load: str, fixed: Mapping[str, float]) -> LoadPath:
        """From zero load; from the value of this case where there is no rest without load, as of a mass or a spring."""
        from pfaff.rest.path import LoadPath

        try:
            return LoadPath(self, load, fixed)
        except (ConvergenceError, SingularMassError):
            if not self.values[load]:
                raise
            return LoadPath(self, load, fixed, self._number(load))

    def start_of(self, start: Any, fixed: Mapping[str, float]) -> Start:
        from pfaff.bifurcation.equilibria.starts import mechanical_start

        return mechanical_start(self, start, fixed)

    def plot(self) -> Figure:
        """The structure as it is drawn, with its coordinates, loads and constraints, at these parameters."""
        from pfaff.draw.structure import draw_structure

        return draw_structure(self)

    def of(self, system: System) -> Case:
        """The values of this case in a system with the same parameters."""
        return Case(system, self.values)

    @property
    def _refines(self) -> bool:
        """Whether the number of modes of a rod is left open."""
        return any(rod.refines for rod in self.system.rods)

    def hopf(self, load: str | None = None, to: float | None = None, near: float | None = None, **fixed: float) -> Hopf:
        if not self._refines:
            return super().hopf(load, to, near, **fixed)
        from pfaff.stability.settled import noted, settled

        def numbers(found: Hopf) -> list[float]:
            return [found.value, found.omega]

        return noted(*settled(self, lambda case: case.hopf(load, to, near, **fixed), numbers))

    hopf.__doc__ = Bound.hopf.__doc__

    def equilibria(
        self,
        starts: int = 2000,
        box: float = math.pi,
        seed: int = 0,
        *,
        within: Mapping[str, float] | None = None,
        **fixed: float,
    ) -> Equilibria:
        """All equilibria found from seeded random starts, with family coordinates fixed by name.

        ``within={"p": 20}``, bounds of coordinates or reactions, asks for all there are between −20 and 20: from what
        few random starts find, curves of rest under additional forces lead on from one equilibrium to the next, and
        deflated starts look for more; ``status`` says how complete the list is. Ctrl-C ends the search from random
        starts and keeps what was found.
        """
        from pfaff.rest.many_starts import find_equilibria

        fixed = self._by_name("equilibria", fixed)
        if within is not None:
            from pfaff.rest.deflation import all_equilibria

            return all_equilibria(self, fixed, within, starts, box, seed)
        return find_equilibria(self, fixed, starts=starts, box=box, seed=seed)

    def equilibrium(self, **fixed: float) -> Equilibrium:
        """The equilibrium reached from the origin as the declared load grows from zero to its value.

        Without a load, or where there is none at zero load: the one that Newton's method reaches from the origin.
        Family coordinates are fixed by name.
        """
        from pfaff.rest.mechanical import equilibrium_at, rest_near

        fixed = self._by_name("equilibrium", fixed)
        reached = self._reached(fixed)
        if reached is None:
            return equilibrium_at(*rest_near(self, fixed))
        balance, z = reached
        return equilibrium_at(balance.pinned(z), z)

    def _reached(self, fixed: Mapping[str, float]) -> tuple[Balance, np.ndarray] | None:
        """What rests at the end of the path of the declared load, if it has one."""
        from pfaff.rest.mechanical import Balance

        load = self.system.load
        if load is None or not self.values[load.name]:
            return None
        path = self.path(load.name, fixed)
        return Balance(self, path.balance.fixed), path.solution(float(self.values[load.name]))

    def steady(self, start: Mapping[str, float] | None = None, **fixed: float) -> SteadyMotion:
        """The steady motion with these speeds or coordinates fixed: ``case.steady(phi_dot=2, theta=0.1)``.

        Shape and velocities are constant, as when a wheel rolls straight or in circles. Names that are not fixed are
        free, and the motion nearest to their values in ``start`` (zero by default) is taken.
        """
        from pfaff.bifurcation.equilibria.steady_motion import steady_motion

        return steady_motion(self, by_name("start", start, "{'phi_dot': 2}"), self._by_name("steady", fixed))

    @overload
    def linearise(
        self, about: Equilibrium | None = None, exact: Literal[False] = False, **values: Any
    ) -> Linearisation: ...
    @overload
    def linearise(self, about: None = None, *, exact: Literal[True], **values: Any) -> ExactLinearisation: ...
    def linearise(self, about: Equilibrium | None = None, exact: bool = False, **values: Any) -> Any:
        """M, C, K, G, w of the small motions about an equilibrium (by default the one near the origin).

        ``exact=True`` gives SymPy's, about the origin (``ExactLinearisation``).
        """
        if truth("exact", exact):
            from pfaff.stability.exact import exact_linearisation

            if about is not None:
                raise ParameterError("exact matrices are about the origin: leave out the equilibrium")
            return exact_linearisation(self.at(**values))
        from pfaff.rest.mechanical import Equilibrium, check_rest, rest_near
        from pfaff.rest.small_motions import linearise

        case, fixed = self._split(values, self.system.coordinate_names)
        if about is not None:
            about = instance("about", about, Equilibrium, "give an equilibrium, about=case.equilibrium()")
            if fixed:
                raise ParameterError(f"about= says where: leave out {', '.join(fixed)}")
            if len(about.q) != len(self.system.coordinates):
                raise ParameterError(f"about={shown(about)} is of another system: give an equilibrium of this case")
            return linearise(case.system, about.q, about.p, case.numbers)
        balance, z = case._reached(fixed) or rest_near(case, fixed)
        check_rest(balance, z)
        n = balance.statics.n
        return linearise(case.system, z[:n], z[n:], case.numbers)

    def spectrum(self, about: Equilibrium | None = None, **values: Any) -> Spectrum:
        """Eigenvalues and modes of the small motions, structural zeros kept apart: ``case.spectrum(F=80)``."""
        return self.linearise(about, **values).spectrum()

    def critical(self, load: str | None = None, to: float | None = None, **fixed: float) -> CriticalLoads:
        """Flutter, divergence and buckling as the load grows from zero, in one search."""
        from pfaff.stability.critical import critical_loads

        name, fixed = self.load_name(load), self._by_name("critical", fixed)
        if self._refines:
            from pfaff.stability.settled import settled

            def lowest(found: CriticalLoads) -> list[float]:
                loads = (found.flutter.value, found.divergence.value, found.buckling.value)
                return [min((load for load in loads if load is not None), default=math.inf)]

            return settled(self, lambda case: critical_loads(case, name, to, fixed), lowest)[0]
        return critical_loads(self, name, to, fixed)

    def flutter(
        self,
        load: str | None = None,
        to: float | None = None,
        exact: bool = False,
        near: Mapping[str, float] | None = None,
        **fixed: float,
    ) -> CriticalLoad:
        """The first load at which an oscillation grows.

        ``exact=True`` gives a closed form (an ``ExactLoad``); where parameters are symbols, ``near`` gives
        numbers for them that select the branch.
        """
        return self._first("flutter", load, to, exact, fixed, near)

    def divergence(
        self,
        load: str | None = None,
        to: float | None = None,
        exact: bool = False,
        near: Mapping[str, float] | None = None,
        **fixed: float,
    ) -> CriticalLoad:
        """The first load at which a deviation grows without oscillating; arguments as in ``flutter``."""
        return self._first("divergence", load, to, exact, fixed, near)

    def buckling(
        self,
        load: str | None = None,
        to: float | None = None,
        exact: bool = False,
        near: Mapping[str, float] | None = None,
        **fixed: float,
    ) -> CriticalLoad:
        """The first load at which another equilibrium branches off or the equilibrium ends; as in ``flutter``."""
        return self._first("buckling", load, to, exact, fixed, near)

    def _first(
        self,
        kind: str,
        load: str | None,
        to: float | None,
        exact: bool,
        fixed: dict[str, float],
        near: Mapping[str, float] | None,
    ) -> CriticalLoad:
        fixed = self._by_name(kind, fixed)
        if truth("exact", exact):
            from pfaff.stability.exact import exact_load

            if fixed:
                raise ParameterError(f"closed forms are about the origin: leave out {', '.join(fixed)}")
            return exact_load(self, self.load_name(load), kind, by_name("near", near, "{'k': 1.5}"), to)
        if near is not None:
            raise ParameterError(f"near={shown(near)} chooses among closed forms: leave it out, or add exact=True")
        from pfaff.stability.critical import critical_load

        name = self.load_name(load)
        if self._refines:
            from pfaff.stability.settled import noted, settled

            return noted(*settled(self, lambda case: critical_load(case, name, kind, to, fixed), lambda a: [a.value]))
        return critical_load(self, name, kind, to, fixed)

    def characteristic(self, exact: bool = False, **values: Any) -> Any:
        """The characteristic polynomial of the small motions, structural zeros divided out.

        Numbers by default (see ``Linearisation.polynomial``); ``exact=True`` gives a SymPy ``Poly``, and of a uniform
        rod its characteristic function (``RodCharacteristic``).
        """
        if truth("exact", exact):
            if self.system.rods:
                from pfaff.stability.rod_characteristic import RodCharacteristic

                return RodCharacteristic(self.at(**values))
            from pfaff.stability.exact import characteristic_polynomial

            return characteristic_polynomial(self.at(**values))
        return self.linearise(**values).polynomial()

    def determinant(self, about: Equilibrium | None = None, exact: bool = False, **values: Any) -> Any:
        """Bottema's bordered determinant about an equilibrium, with its zero roots (see ``Determinant``).

        ``exact=True`` gives SymPy's, about the origin (``ExactDeterminant``).
        """
        if truth("exact", exact):
            from pfaff.stability.determinant import exact_determinant

            if about is not None:
                raise ParameterError("exact determinants are about the origin: leave out the equilibrium")
            return exact_determinant(self.at(**values))
        return self.linearise(about, **values).determinant()

    def paradox(
        self,
        direction: Mapping[str, float] | None = None,
        load: str | None = None,
        among: Sequence[str] | None = None,
    ) -> Paradox:
        """The flutter load in the limit of vanishing damping along a direction, without a finite ε."""
        from pfaff.stability.paradox import paradox

        return paradox(self, self.load_name(load), direction, among)

    def flutter_map(self, load: str | None = None, to: float | None = None, **axes: Any) -> FlutterMap:
        """The flutter load over a grid of any parameters: ``case.flutter_map(c_i=values, M_L=values)``."""
        from pfaff.studies.flutter_maps import flutter_map

        return flutter_map(self, self.load_name(load), axes, to)

    def normal_mode(
        self,
        number: int = 1,
        *,
        energy: float | None = None,
        frequency: float | None = None,
        amplitude: float | None = None,
        points: int = 300,
        step: float = STEP,
        accuracy: float = 1e-9,
        **fixed: float,
    ) -> NormalMode:
        """The n-th nonlinear normal mode: free vibrations about the equilibrium, without damping and forcing.

        The family of periodic orbits that starts at the n-th frequency of the small vibrations is followed until its
        energy, its frequency or the largest amplitude of a coordinate reaches the value given; branch points, symmetry
        breakings and period doublings on it are located. Family coordinates are fixed by name.
        """
        from pfaff.bifurcation.modes.families import limits_from, normal_mode

        limits = limits_from(energy, frequency, amplitude)
        return normal_mode(self, number, limits, points, step, accuracy, fixed)

    def simulate(
        self,
        duration: float,
        *,
        samples: int = 1001,
        tolerance: float | None = None,
        project: bool = False,
        method: str = "auto",
        prescribed: Mapping[str, Any] | None = None,
        events: Mapping[str, Any] | None = None,
        step: float | None = None,
        max_steps: int = 1_000_000,
        progress: Callable[[float], None] = lambda fraction: None,
        **initial: float,
    ) -> Motion:
        """The motion from initial values by name: ``case.simulate(500, theta1_dot=0.01)``.

        Values not given are zero or follow from the constraints. Given ones stay; where the others cannot follow, that
        is an error, or with ``project=True`` they change by the least kinetic energy. A negative duration runs
        backwards.

        method
            ``"taylor"`` for motions that are not stiff, ``"implicit"`` for those that are: CVODE's BDF where the
            extra ``sundials`` is installed, else SciPy's Radau. ``"cvode"`` and ``"radau"`` insist on one; the second
            is steadier where fast modes are lightly damped. ``"augmented"``, of second order, takes redundant
            constraints and goes through singular configurations; its reactions are those of least norm. ``"auto"``
            chooses between Taylor and implicit, and takes the augmented one where constraints are redundant.
        prescribed
            Functions of time for coordinates or parameters: SymPy expressions in the time, or samples
            (times, values). The reaction of a prescribed coordinate is the force that drives it.
        events
            Named expressions to locate where they vanish, each SymPy, text or an ``Event``: ``motion.events``.
        step
            Equal steps of (at most) this length for the augmented method, instead of those that keep the tolerance.
        progress
            Is told the fraction done, now and then. Ctrl-C ends the run and keeps what was computed.
        """
        from pfaff.motion.simulate import simulate

        return simulate(
            self,
            duration,
            self._by_name("simulate", initial),
            samples=samples,
            tolerance=tolerance,
            project=project,
            method=method,
            prescribed=prescribed,
            events=events,
            step=step,
            max_steps=max_steps,
            progress=progress,
        )

    def ensemble(
        self,
        duration: float,
        *,
        samples: int = 101,
        tolerance: float = 1e-15,
        project: bool = False,
        max_steps: int = 1_000_000,
        progress: Callable[[float], None] | None = None,
        **values: Any,
    ) -> Ensemble:
        """Many motions at once, over arrays of initial values and parameters that broadcast against each other.

        ``case.ensemble(500, F=loads[:, None], theta1_dot=pushes[None, :])`` is a map, computed in SIMD batches on
        all cores, with a progress bar on a terminal unless ``progress`` is told the fraction done. Ctrl-C keeps the
        members that are finished.
        """
        from pfaff.motion.ensemble import ensemble

        return ensemble(
            self,
            duration,
            self._by_name("ensemble", values),
            samples=samples,
            tolerance=tolerance,
            project=project,
            max_steps=max_steps,
            progress=progress,
        )

    def impose(
        self,
        motion: Motion,
        *names: str,
        since: float = 0.0,
        duration: float | None = None,
        samples: int = 1001,
    ) -> Locomotion:
        """Impose coordinates of another motion on this case, from a time on: how far does it get, what does it take?

        ``case.impose(motion, "theta1", "theta2", since=400)``; by default all coordinates but ignorable ones.
        """
        from pfaff.motion.locomotion import impose

        return impose(self, motion, names, since, duration, samples)


@dataclass(frozen=True, repr=False)
class OdeCase(Bound):
    """A plain ODE at given parameter values."""

    system: Ode

    def path(self, load: str, fixed: Mapping[str, float]) -> StatePath:
        from pfaff.rest.path import StatePath

        return StatePath(self, load, fixed)

    def start_of(self, start: Any, fixed: Mapping[str, float]) -> Start:
        from pfaff.bifurcation.equilibria.starts import plain_start

        return plain_start(self, start, fixed)

    def equilibrium(self, **start: float) -> SteadyState:
        """The equilibrium that Newton's method reaches from these values of the states (zero where none is given)."""
        from pfaff.rest.states import steady_near

        self._check_rest()
        return steady_near(self, start)

    def _check_rest(self) -> None:
        if not self.system.autonomous:
            raise ParameterError(
                f"{self.system.name} depends on time explicitly, so that it does not rest: ask for its response, for "
                "simulate, or switch the excitation off"
            )

    def spectrum(self, about: SteadyState | None = None, **values: Any) -> Spectrum:
        """Eigenvalues and modes about an equilibrium: ``case.spectrum(mu=1, x=2)`` sets mu and starts from x = 2."""
        from pfaff.rest.states import SteadyState, spectrum_of

        case, start = self._split(values, self.system.state_names)
        if about is None:
            return spectrum_of(case.equilibrium(**start))
        if values:
            raise ParameterError(f"about= says where: leave out {', '.join(values)}")
        return spectrum_of(instance("about", about, SteadyState, "give an equilibrium, about=case.equilibrium()"))

    def simulate(
        self,
        duration: float,
        *,
        samples: int = 1001,
        tolerance: float | None = None,
        events: Mapping[str, Any] | None = None,
        max_steps: int = 1_000_000,
        progress: Callable[[float], None] = lambda fraction: None,
        **initial: float,
    ) -> Trajectory:
        """The motion from initial values of the states by name (zero where none is given): ``case.simulate(50, x=1)``.

        Taylor's method, for equations that are not stiff. Arguments are those of a mechanical case.
        """
        from pfaff.motion.trajectory import trajectory

        for name in MECHANICAL:
            if name in initial and name not in self.system.state_names:
                raise NotMechanicalError(
                    f"{name}= is for mechanical systems, and {self.system.name} is a plain ODE"
                    + (": write the time into its equations, {y: cos(w*t) - …}" if name == "prescribed" else "")
                )
        initial = self._by_name("simulate", initial)
        return trajectory(self, duration, initial, samples, tolerance, events, max_steps, progress)

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("_") and hasattr(Case, name):
            raise NotMechanicalError(
                f"{name} needs energies and constraints, and {self.system.name} is a plain ODE: state it as a "
                "pfaff.System, or ask for equilibrium, spectrum, hopf, branch, response or simulate"
            )
        raise AttributeError(f"a case of an ODE has no attribute {name!r}")
