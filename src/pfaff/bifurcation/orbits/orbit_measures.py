"""What expressions of an orbit may contain, and what that is."""

from __future__ import annotations

from typing import Any

from pfaff import doors
from pfaff.bifurcation.orbits.forced import own_states
from pfaff.bifurcation.orbits.orbit_in_time import EXTREMES
from pfaff.statement.called import beside
from pfaff.statement.told import answering
from pfaff.statement.values import one_of


@answering
class Measurable:
    """What an orbit offers to expressions and events, by name."""

    @property
    def measurable(self: Any) -> tuple[str, ...]:
        """Names that expressions of an orbit may contain: parameters, its period (``period_`` beside a parameter
        ``period``), and extreme values of states; for a forced one also the frequency of the forcing and the phases."""
        forced = bool(self.problem.flow.carried)
        kinds, others = (*EXTREMES, "mean", *(("phase",) if forced else ())), ("frequency",) if forced else ()
        extremes = (f"{kind}_{name}" for name in own_states(self.problem.flow) for kind in kinds)
        names = self.case.system.parameter_names
        return (*names, *beside(("period", *others), names), *extremes)

    def measured(self: Any, name: str) -> float:
        """The value that a name stands for in expressions."""
        one_of(self.measurable, name, "no expression contains")
        names = self.case.system.parameter_names
        if name in names:
            return float(self.case.numbers[names.index(name)])
        kind, _, state = name.partition("_")
        if kind == "period":
            return self.period
        if kind in ("frequency", "phase"):
            return (
                doors.response.ResponsePoint(self).phase[state]
                if state
                else doors.response.ResponsePoint(self).frequency
            )
        if kind == "mean":
            mean = self.problem.collocation.deviations(self.point.cycle)[0]
            return float(mean[self.problem.flow.states.index(state)])
        return EXTREMES[kind](self.orbit.t, self.orbit[state])
