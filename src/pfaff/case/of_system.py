"""A mechanical system at given parameter values: its analyses are methods of this class."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Self, overload

from pfaff import doors
from pfaff.case.bound import Bound
from pfaff.case.moving import Moving
from pfaff.continuation.course import STEP
from pfaff.errors import ParameterError
from pfaff.statement.values import by_name, spelt, truth

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from pfaff.bifurcation.equilibria.starts import Start
    from pfaff.bifurcation.hopf.hopf import Hopf
    from pfaff.bifurcation.modes.families import NormalMode
    from pfaff.bifurcation.modes.vibrations import FreeVibration
    from pfaff.rest.mechanical import Equilibria, Equilibrium
    from pfaff.rest.path import EquilibriumPath
    from pfaff.rest.small_motions import Linearisation
    from pfaff.rest.spectrum import Spectrum
    from pfaff.rest.steady_motions import SteadyMotion
    from pfaff.stability.critical_load import CriticalLoad, CriticalLoads
    from pfaff.stability.exact import ExactLinearisation
    from pfaff.stability.maps import FlutterMap
    from pfaff.stability.paradox import Paradox
    from pfaff.statement.system import System


@spelt
@dataclass(frozen=True, repr=False)
class Case(Moving):
    """A mechanical system at given parameter values."""

    system: System

    def at(self, /, *unnamed: Any, **values: Any) -> Self:
        case = super().at(*unnamed, **values)
        for rod in self.system.rods:
            rod.check_values(case.values, self.system.load and self.system.load.name)
        return case

    at.__doc__ = Bound.at.__doc__

    def path(self, load: str, fixed: Mapping[str, float]) -> EquilibriumPath:
        """The path of the equilibrium as a load grows; if a speed is fixed, that of the steady motion as a parameter
        changes."""
        return doors.steady_motions.path_at_speed(self, load, fixed) or doors.reached.path_of(self, load, fixed)

    def start_of(self, start: Any, fixed: Mapping[str, float], name: str) -> Start:
        return doors.starts.mechanical_start(self, start, fixed, name)

    def plot(self) -> Figure:
        """The structure as it is drawn, with its coordinates, loads and constraints, at these parameters."""
        return doors.draw.draw_structure(self)

    def of(self, system: System) -> Case:
        """The values of this case in a system with the same parameters."""
        return Case(system, self.values)

    def _velocities(self) -> tuple[str, ...]:
        return (*self.system.quasi_velocities, *(f"{name}_dot" for name in self.system.coordinate_names))

    def hopf(self, /, load: Any = None, to: float | None = None, near: float | None = None, **fixed: Any) -> Hopf:
        held = self._by_name("hopf", fixed)
        return doors.settled.with_modes(
            self, lambda case: Bound.hopf(case, load, to, near, fixed=held), lambda found: [found.value, found.omega]
        )

    hopf.__doc__ = Bound.hopf.__doc__

    def equilibria(
        self,
        /,
        starts: int = 2000,
        box: float = math.pi,
        seed: int = 0,
        *,
        within: Mapping[str, float] | None = None,
        **fixed: Any,
    ) -> Equilibria:
        """All equilibria found from seeded random starts, with family coordinates fixed by name.

        ``within={"p": 20}``, bounds of coordinates or reactions, asks for all there are between −20 and 20: from what
        few random starts find, curves of rest under additional forces lead on from one equilibrium to the next, and
        deflated starts look for more; ``status`` says how complete the list is. Ctrl-C ends the search from random
        starts and keeps what was found.
        """
        fixed = self._by_name("equilibria", fixed)
        if within is not None:
            return doors.deflation.all_equilibria(self, fixed, within, starts, box, seed)
        return doors.many_starts.find_equilibria(self, fixed, starts=starts, box=box, seed=seed)

    def equilibrium(self, /, **fixed: Any) -> Equilibrium:
        """The equilibrium reached from the origin as the declared load grows from zero to its value.

        Without a load, or where there is none at zero load: the one that Newton's method reaches from the origin.
        Family coordinates are fixed by name.
        """
        return doors.reached.equilibrium_of(self, self._by_name("equilibrium", fixed))

    def steady(self, /, start: Mapping[str, float] | None = None, **fixed: Any) -> SteadyMotion:
        """The steady motion with these speeds or coordinates fixed: ``case.steady(phi_dot=2, theta=0.1)``.

        A speed is a velocity or a quasi-velocity that the system states.

        Shape and velocities are constant, as when a wheel rolls straight or in circles. Names that are not fixed are
        free, and the motion nearest to their values in ``start`` (zero by default) is taken.
        """
        return doors.steady_motions.steady_motion(
            self, by_name("start", start, "{'phi_dot': 2}"), self._by_name("steady", fixed)
        )

    @overload
    def linearise(
        self, /, about: Equilibrium | None = None, exact: Literal[False] = False, **values: Any
    ) -> Linearisation: ...
    @overload
    def linearise(self, /, about: None = None, *, exact: Literal[True], **values: Any) -> ExactLinearisation: ...
    def linearise(self, /, about: Equilibrium | None = None, exact: bool = False, **values: Any) -> Any:
        """M, C, K, G, w of the small motions about an equilibrium (by default the one near the origin).

        ``exact=True`` gives SymPy's, about the origin (``ExactLinearisation``).
        """
        values = self._by_name("linearise", values)
        if truth("exact", exact):
            if about is not None:
                raise ParameterError("exact matrices are about the origin: leave out the equilibrium")
            return doors.exact.exact_linearisation(self.at(values))
        case, fixed = self._split(values, [*self.system.coordinate_names, *self.system.reaction_names])
        return (
            doors.reached.linearised(case, fixed)
            if about is None
            else doors.reached.linearised_about(case, about, fixed)
        )

    def spectrum(self, /, about: Equilibrium | None = None, **values: Any) -> Spectrum:
        """Eigenvalues and modes of the small motions, structural zeros kept apart: ``case.spectrum(F=80)``."""
        return self.linearise(about, values=self._by_name("spectrum", values)).spectrum()

    def critical(self, /, load: Any = None, to: float | None = None, **fixed: Any) -> CriticalLoads:
        """Flutter, divergence and buckling as the load grows from zero, in one search."""
        return doors.first.all_loads(self, self.load_name(load), to, self._by_name("critical", fixed))

    def flutter(
        self,
        /,
        load: Any = None,
        to: float | None = None,
        exact: bool = False,
        near: Mapping[str, float] | None = None,
        **fixed: Any,
    ) -> CriticalLoad:
        """The first load at which an oscillation grows.

        ``exact=True`` gives a closed form (an ``ExactLoad``); where parameters are symbols, ``near`` gives
        numbers for them that select the branch.
        """
        return self._first("flutter", load, to, exact, fixed, near)

    def divergence(
        self,
        /,
        load: Any = None,
        to: float | None = None,
        exact: bool = False,
        near: Mapping[str, float] | None = None,
        **fixed: Any,
    ) -> CriticalLoad:
        """The first load at which a deviation grows without oscillating; arguments as in ``flutter``."""
        return self._first("divergence", load, to, exact, fixed, near)

    def buckling(
        self,
        /,
        load: Any = None,
        to: float | None = None,
        exact: bool = False,
        near: Mapping[str, float] | None = None,
        **fixed: Any,
    ) -> CriticalLoad:
        """The first load at which another equilibrium branches off or the equilibrium ends; as in ``flutter``."""
        return self._first("buckling", load, to, exact, fixed, near)

    def _first(
        self,
        kind: str,
        load: Any,
        to: float | None,
        exact: bool,
        fixed: dict[str, float],
        near: Mapping[str, float] | None,
    ) -> CriticalLoad:
        fixed = self._by_name(kind, fixed)
        return doors.first.first_load(self, kind, self.load_name(load), to, exact, near, fixed)

    def characteristic(self, /, exact: bool = False, **values: Any) -> Any:
        """The characteristic polynomial of the small motions, structural zeros divided out.

        Numbers by default (see ``Linearisation.polynomial``); ``exact=True`` gives a SymPy ``Poly``, and of a uniform
        rod its characteristic function (``RodCharacteristic``).
        """
        values = self._by_name("characteristic", values)
        if truth("exact", exact):
            if self.system.rods:
                return doors.rod_characteristic.RodCharacteristic(self.at(values))
            return doors.exact.characteristic_polynomial(self.at(values))
        return self.linearise(values=values).polynomial()

    def determinant(self, /, about: Equilibrium | None = None, exact: bool = False, **values: Any) -> Any:
        """Bottema's bordered determinant about an equilibrium, with its zero roots (see ``Determinant``).

        ``exact=True`` gives SymPy's, about the origin (``ExactDeterminant``).
        """
        values = self._by_name("determinant", values)
        if truth("exact", exact):
            if about is not None:
                raise ParameterError("exact determinants are about the origin: leave out the equilibrium")
            return doors.determinant.exact_determinant(self.at(values))
        return self.linearise(about, values=values).determinant()

    def paradox(
        self,
        direction: Mapping[str, float] | None = None,
        load: Any = None,
        among: Sequence[str] | None = None,
    ) -> Paradox:
        """The flutter load in the limit of vanishing damping along a direction, without a finite ε."""
        return doors.paradox.paradox(self, self.load_name(load), direction, among)

    def flutter_map(self, /, load: Any = None, to: float | None = None, **axes: Any) -> FlutterMap:
        """The flutter load over a grid of any parameters: ``case.flutter_map(c_i=values, M_L=values)``."""
        return doors.flutter_maps.flutter_map(self, self.load_name(load), self._by_name("flutter_map", axes), to)

    def normal_mode(
        self,
        /,
        number: int = 1,
        *,
        energy: float | None = None,
        frequency: float | None = None,
        amplitude: float | None = None,
        points: int = 300,
        step: float = STEP,
        accuracy: float = 1e-9,
        progress: Callable[[FreeVibration], Any] | None = None,
        events: Mapping[str, Any] | None = None,
        **fixed: Any,
    ) -> NormalMode:
        """The n-th nonlinear normal mode: free vibrations about the equilibrium, without damping and forcing.

        The family of periodic orbits that starts at the n-th frequency of the small vibrations is followed until its
        energy, its frequency or the largest amplitude of a coordinate reaches the value given; branch points, symmetry
        breakings, period doublings and folds of the energy on it are located, and events in which ``energy`` and
        ``frequency`` may occur. The energy is the conserved one, Jacobi's integral T₂ − T₀ + V, above that at rest.
        Another equilibrium is given by its coordinates: ``x=1``.
        """
        limits = {"energy": energy, "frequency": frequency, "amplitude": amplitude}
        return doors.families.normal_mode(
            self,
            number,
            doors.vibrations.Reach.asked(limits, points, step, progress, events),
            accuracy,
            self._by_name("normal_mode", fixed),
        )
