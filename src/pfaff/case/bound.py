"""A statement at given parameter values: the analyses that work on any flow."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from pfaff import doors
from pfaff.case.valued import Valued
from pfaff.continuation.course import POINTS, STEP, Bounds, Course
from pfaff.errors import ParameterError
from pfaff.statement.values import spelt

if TYPE_CHECKING:
    from pfaff.bifurcation.connections.connections import Connection
    from pfaff.bifurcation.equilibria.branches import EquilibriumBranch
    from pfaff.bifurcation.equilibria.starts import Start
    from pfaff.bifurcation.hopf.hopf import Hopf
    from pfaff.bifurcation.orbits.orbits import OrbitPoint
    from pfaff.bifurcation.response.response import Response
    from pfaff.export import Export
    from pfaff.rest.path import EquilibriumPath
    from pfaff.studies.study import Study
    from pfaff.studio.launch import Running


@spelt
@dataclass(frozen=True, repr=False)
class Bound(Valued):
    """A statement at given parameter values, with the analyses that work on any flow.

    Immutable: ``at`` gives another case. Values may be floats, fractions, SymPy numbers or, for exact results,
    SymPy symbols.

    Names are text or symbols. Values by name are keywords, ``simulate(10, theta=1)``, or a mapping under the name that
    an analysis gives to them, ``simulate(10, initial={theta: 1})``: in it names may be those of arguments, too.
    """

    _elsewhere: ClassVar = {
        "orbits": "ask for the cycles that are born at a Hopf point, case.hopf().orbits(to=…)",
        **{name: f"ask its system, case.system.{name}" for name in ("compare", "equations", "classification", "flow")},
    }

    def path(self, load: str, fixed: Mapping[str, float]) -> EquilibriumPath:
        """The equilibrium followed as a parameter changes."""
        raise NotImplementedError

    def start_of(self, start: Any, fixed: Mapping[str, float], name: str) -> Start:
        """Where a branch starts: the equilibrium of the case, or the start that was given."""
        raise NotImplementedError

    def hopf(self, /, load: Any = None, to: float | None = None, near: float | None = None, **fixed: Any) -> Hopf:
        """The first Hopf point on the equilibrium path, or the one nearest to the load ``near``, with its normal form.

        A mechanical system is followed from zero load, family coordinates fixed by name; a plain ODE (and a mechanical
        system that has no equilibrium at zero load) from the value that its parameter has, with starting values of its
        states by name. Where a speed is fixed, ``case.hopf("c", to=2, v=5)``, a steady motion is followed, from the
        value that its parameter has. ``to`` ends the search, in either direction.
        """
        self._check_rest()
        return doors.finding.find_hopf(self, self.load_name(load), to, near, self._by_name("hopf", fixed))

    def orbit(
        self, /, motion: Any = None, load: Any = None, accuracy: float = 1e-11, *, t: Any = None, **states: Any
    ) -> OrbitPoint:
        """The periodic orbit that a motion has nearly settled on: ``case.orbit(case.simulate(500, theta1=0.1))``.

        ``motion`` has times ``t`` and states by name, as a Motion or an xarray.Dataset; ``load`` is the parameter that
        ``case.orbit(…).orbits(to=…)`` varies.

        Or near data: ``case.orbit(t=times, theta1=…, theta2=…)`` is the orbit, stable or not, near a loop that is given
        by all its states, of which velocities may be left out. A loop ends about where it begins; of more data, the
        last one counts.
        """
        name, states = self.load_name(load), self._by_name("orbit", states)
        if t is None and not states:
            return doors.from_motions.orbit_near(self, motion, name, accuracy)
        return doors.from_motions.orbit_near(
            self, doors.loops.loop_of(self, motion, t, states), name, accuracy, guess=True
        )

    def connection(self, motion: Any, load: Any = None, accuracy: float = 1e-9) -> Connection:
        """The homoclinic or heteroclinic orbit near a motion that leaves one equilibrium and nearly comes to one.

        ``motion`` is anything with times ``t`` and states by name; the load is adjusted until the orbit connects.
        """
        return doors.first_arcs.connection_from_motion(self, motion, self.load_name(load), accuracy)

    def response(
        self,
        /,
        parameter: Any,
        from_: float | None = None,
        to: float | None = None,
        *,
        step: float = STEP,
        points: int = POINTS,
        bounds: Bounds = None,
        accuracy: float = 1e-9,
        progress: Callable[[OrbitPoint], Any] | None = None,
        events: Mapping[str, Any] | None = None,
        **start: Any,
    ) -> Response:
        """The periodic response to explicit forcing: ``case.response("Omega", from_=0.5, to=3.0)``.

        Time stands in the system as it is written, ``forces={x: F*cos(Omega*t)}``. The parameter, a frequency or any
        other, runs from ``from_`` (its value in this case, by default) to ``to``; folds, tori and period doublings on
        the way are located.

        step, points, bounds, progress, events
            As for ``branch``.
        accuracy
            Relative, of the orbits.
        start
            Values of the states at time zero by name: the first response is the one that the motion from there settles
            on. Without them it is the one that grows from rest as the forcing grows from nothing.
        """
        doors.response.check_forced(self)
        name = self.load_name(parameter)
        if to is None:
            raise ParameterError(f"how far? Give the last value of {name}: to=…")
        course = Course.asked(to, step, points, bounds, progress, name, events)
        return doors.response.respond(self, name, from_, course, accuracy, self._by_name("response", start))

    def branch(
        self,
        /,
        parameter: Any = None,
        to: float | None = None,
        *,
        start: Any = None,
        step: float = STEP,
        points: int = POINTS,
        bounds: Bounds = None,
        progress: Callable[[Any], Any] | None = None,
        events: Mapping[str, Any] | None = None,
        **fixed: Any,
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
        events
            Expressions or equations of states, reactions and parameters by name, located as special points where they
            change their sign: ``{"half open": "theta1 = 0.5"}``, then ``branch.of_kind("event: half open")``.
        fixed
            Family coordinates by name (of a plain ODE: starting values of its states).
        """
        name, fixed = self._varied(parameter), self._by_name("branch", fixed)
        self._check_rest()
        if to is None:
            raise ParameterError(f"how far? Give the last value of {name}: to=…")
        course = Course.asked(to, step, points, bounds, progress, name, events)
        return doors.branches.follow_equilibria(self, name, start, course, fixed)

    def export(
        self,
        to: str,
        folder: str | Path | None = None,
        *,
        load: Any = None,
        until: float | None = None,
        start: Mapping[str, float] | None = None,
    ) -> Export:
        """The equations on shape space for another program, with this case's values and its equilibrium as the start.

        ``to`` is ``"auto"`` (AUTO-07p), ``"matcont"``, ``"bifurcationkit"``, ``"c"``, ``"numpy"`` or ``"latex"``. A
        continuation in the parameter ``load`` ends at ``until``. Files are written into ``folder``, if given. ``start``
        has values of the states near another equilibrium or, with speeds, a steady motion. Zero eigenvalues that a
        family has at the start are told in the files and the ``status``.
        """
        return doors.export.export(self, to, folder, load, until, start)

    def sweep(
        self,
        /,
        axes: Any,
        measure: Any = "flutter",
        store: str | Path | None = None,
        *,
        load: Any = None,
        to: float | None = None,
        chunk: int | None = None,
        source: str | None = None,
        accept: bool = False,
        **fixed: Any,
    ) -> Study:
        """Any result over any parameters: ``case.sweep({"c_i": values, "M_L": values}, measure=["hopf", "l1"]).run()``.

        axes
            Values by name (a grid), a list of points, or ``pfaff.sobol(…)``; of parameters, and of coordinates and
            speeds that select an equilibrium or a steady motion.
        measure
            Names (flutter, divergence, buckling, flutter_frequency; hopf, omega, crossing_speed, l1, criticality;
            stable, growth; period, amplitude, multiplier of the cycle at the case's load; end, mean_velocity of a
            motion with their options), or functions of a case that return a number or numbers by name.
        store
            A folder ``map.zarr`` (extra ``sweep``) or a file ``map.nc``, in which a study that was begun is taken up;
            memory if none is given.
        load, to, fixed
            As in ``hopf`` and ``flutter``.
        chunk, source, accept
            Points that are computed and kept together; the file that states the system, ``"my_sleigh.py:sleigh"``, if
            it cannot be found; whether to go on with a store of another version of pfaff.
        """
        return doors.sweep.sweep(
            self, axes, measure, store, load, to, chunk, source, accept, self._by_name("sweep", fixed)
        )

    def studio(
        self, *, port: int = 0, browser: bool = True, wait: bool = True, store: str | Path | None = None
    ) -> Running | None:
        """The whole analysis interactively in a browser, until Ctrl-C; needs the extra ``studio``.

        It is served on 127.0.0.1, at a free port if none is given. ``wait=False`` returns at once, with an ``address``
        and ``stop()``. Of the ``store`` of a sweep the maps are shown, too.
        """
        return doors.studio.open_studio(self, port=port, browser=browser, wait=wait, store=store)

    def explore(self) -> Any:
        """Sliders, the live spectrum and the structure in a cell of a notebook; needs the extra ``studio``."""
        return doors.widget.explorer(self)

    def _check_rest(self) -> None:
        """Raise for a system that cannot rest at all."""
