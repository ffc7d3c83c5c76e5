"""A mechanical system at given parameter values, as it moves: one motion, many at once, or one imposed on another."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from pfaff import doors
from pfaff.case.bound import Bound
from pfaff.statement.values import spelt

if TYPE_CHECKING:
    from pfaff.case.of_system import Case
    from pfaff.motion.ensemble import Ensemble
    from pfaff.motion.locomotion import Locomotion
    from pfaff.motion.result import Motion
    from pfaff.statement.system import System


@spelt
@dataclass(frozen=True, repr=False)
class Moving(Bound):
    """The analyses of motions of a ``Case``."""

    system: System

    def simulate(
        self,
        /,
        duration: float,
        *,
        samples: int = 1001,
        tolerance: float | None = None,
        project: bool = False,
        method: str = "auto",
        prescribed: Mapping[str, Any] | None = None,
        events: Mapping[str, Any] | None = None,
        step: float | None = None,
        max_step: float | None = None,
        max_steps: int = 1_000_000,
        progress: Callable[[float], None] | None = None,
        **initial: Any,
    ) -> Motion:
        """The motion from initial values by name: ``case.simulate(500, theta1_dot=0.01)``.

        Values not given are zero, or follow from the constraints: no more than these determine, with the least energy.
        Given ones stay; where the others cannot follow, that is an error, or with ``project=True`` they change by the
        least kinetic energy. A negative duration runs backwards.

        method
            ``"taylor"`` for motions that are not stiff, ``"implicit"`` for those that are: CVODE's BDF where the
            extra ``sundials`` is installed, else SciPy's Radau. ``"cvode"`` and ``"radau"`` insist on one; the second
            is steadier where fast modes are lightly damped. ``"augmented"``, of second order, goes through
            singular configurations, where constraints become dependent. ``"auto"`` chooses between Taylor and implicit.
            Redundant constraints share their reactions by least norm, whatever the method.
        prescribed
            Functions of time for coordinates or parameters: SymPy expressions in the time, samples (times, values), or
            a piecewise polynomial of SciPy's (``PPoly``, ``BPoly``, ``BSpline``). Samples of a parameter are joined by
            lines; ``(times, values, "hold")`` holds each until the next, two at one time are a jump. Samples of a
            coordinate go through a spline of fifth degree, as ``(times, values, "smooth")`` do. Integration begins anew
            at every knot. The reaction of a prescribed coordinate is the force that drives it.
        events
            Named expressions to locate where they vanish, each SymPy, text or an ``Event``: ``motion.events``.
        step
            Equal steps of (at most) this length for the augmented method, instead of those that keep the tolerance.
        max_step
            The longest time that one step of any method may take. Steps are looked at between their ends, so that none
            leaps over a narrow bump or a steep ``tanh``; ``motion.checks`` says how well the equations hold there.
        progress
            Is told the fraction done, now and then. Ctrl-C ends the run and keeps what was computed.
        """
        return doors.simulate.simulate(
            cast("Case", self),
            duration,
            self._by_name("simulate", initial),
            samples=samples,
            tolerance=tolerance,
            project=project,
            method=method,
            prescribed=prescribed,
            events=events,
            step=step,
            max_step=max_step,
            max_steps=max_steps,
            progress=progress,
        )

    def ensemble(
        self,
        /,
        duration: float,
        *,
        samples: int = 101,
        tolerance: float = 1e-15,
        project: bool = False,
        max_step: float | None = None,
        max_steps: int = 1_000_000,
        progress: Callable[[float], None] | None = None,
        **values: Any,
    ) -> Ensemble:
        """Many motions at once, over arrays of initial values and parameters that broadcast against each other.

        ``case.ensemble(500, F=loads[:, None], theta1_dot=pushes[None, :])`` is a map, computed in SIMD batches on
        all cores, with a progress bar on a terminal unless ``progress`` is told the fraction done. Ctrl-C keeps the
        members that are finished.
        """
        return doors.ensemble.ensemble(
            cast("Case", self),
            duration,
            self._by_name("ensemble", values),
            samples=samples,
            tolerance=tolerance,
            project=project,
            max_step=max_step,
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
        return doors.locomotion.impose(cast("Case", self), motion, names, since, duration, samples)
