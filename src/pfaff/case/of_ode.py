"""A plain ODE at given parameter values."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pfaff import doors
from pfaff.case.bound import Bound
from pfaff.case.of_system import Case
from pfaff.errors import NotMechanicalError, ParameterError
from pfaff.statement.told import no_such_name
from pfaff.statement.values import instance, spelt

if TYPE_CHECKING:
    from pfaff.bifurcation.equilibria.starts import Start
    from pfaff.motion.trajectory import Trajectory
    from pfaff.rest.flow_paths import StatePath
    from pfaff.rest.spectrum import Spectrum
    from pfaff.rest.states import SteadyState
    from pfaff.statement.odes import Ode

MECHANICAL = ("prescribed", "method", "project", "step")  # arguments of simulate for a mechanical case only


@spelt
@dataclass(frozen=True, repr=False)
class OdeCase(Bound):
    """A plain ODE at given parameter values."""

    system: Ode

    def path(self, load: str, fixed: Mapping[str, float]) -> StatePath:
        return doors.flow_paths.StatePath(self, load, fixed)

    def start_of(self, start: Any, fixed: Mapping[str, float], name: str) -> Start:
        return doors.starts.plain_start(self, start, fixed, name)

    def equilibrium(self, /, **start: Any) -> SteadyState:
        """The equilibrium that Newton's method reaches from these values of the states (zero where none is given)."""
        self._check_rest()
        return doors.states.steady_near(self, self._by_name("equilibrium", start))

    def _check_rest(self) -> None:
        if not self.system.autonomous:
            raise ParameterError(
                f"{self.system.name} depends on time explicitly, so that it does not rest: ask for its response, for "
                "simulate, or switch the excitation off"
            )

    def spectrum(self, /, about: SteadyState | None = None, **values: Any) -> Spectrum:
        """Eigenvalues and modes about an equilibrium: ``case.spectrum(mu=1, x=2)`` sets mu and starts from x = 2."""
        values = self._by_name("spectrum", values)
        case, start = self._split(values, self.system.state_names)
        if about is None:
            return doors.states.spectrum_of(case.equilibrium(start=start))
        if values:
            raise ParameterError(f"about= says where: leave out {', '.join(values)}")
        return doors.states.spectrum_of(
            instance("about", about, doors.states.SteadyState, "give an equilibrium, about=case.equilibrium()")
        )

    def simulate(
        self,
        /,
        duration: float,
        *,
        samples: int = 1001,
        tolerance: float | None = None,
        events: Mapping[str, Any] | None = None,
        max_step: float | None = None,
        max_steps: int = 1_000_000,
        progress: Callable[[float], None] | None = None,
        **initial: Any,
    ) -> Trajectory:
        """The motion from initial values of the states by name (zero where none is given): ``case.simulate(50, x=1)``.

        Taylor's method, for equations that are not stiff. Arguments are those of a mechanical case.
        """
        for name in MECHANICAL:
            if name in initial and name not in self.system.state_names:
                raise NotMechanicalError(
                    f"{name}= is for mechanical systems, and {self.system.name} is a plain ODE"
                    + (": write the time into its equations, {y: cos(w*t) - …}" if name == "prescribed" else "")
                )
        initial = self._by_name("simulate", initial)
        return doors.trajectory.trajectory(
            self, duration, initial, samples, tolerance, events, max_steps, progress, max_step
        )

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("_") and hasattr(Case, name):
            raise NotMechanicalError(
                f"{name} needs energies and constraints, and {self.system.name} is a plain ODE: state it as a "
                "pfaff.System, or ask for equilibrium, spectrum, hopf, branch, response or simulate"
            )
        return no_such_name(self, name)
