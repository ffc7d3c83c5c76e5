"""What motions hand over to be verified (``pfaff.checks.motions``): points between steps, energies, constraints."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import numpy as np

from pfaff.checks import Check
from pfaff.checks.motions import between_steps, constraints_kept, energy_balance
from pfaff.flow.initial import Constraints
from pfaff.flow.verified_accelerations import verified_accelerations
from pfaff.motion.between_steps import POINTS, Polynomials
from pfaff.motion.dense_output import Flight
from pfaff.motion.measures import has_power, measures
from pfaff.statement.inertia import usual_inertias

if TYPE_CHECKING:
    from pfaff.case import Case
    from pfaff.motion.ensemble import Ensemble
    from pfaff.motion.result import Motion
    from pfaff.motion.trajectory import Trajectory

STEPS = 300  # of a motion, evenly spread, that are looked at in between
SAMPLES = 300  # at which constraints are looked at
SLOW = 1e-12  # energy, relative to that of unit velocities, below which errors of motions are absolute
ROUNDED = 1e-6  # changes of the potential energy, relative to itself, below which its rounding counts
MEMBERS, INSTANTS = 1000, 50  # of an ensemble that are looked at

Rates = Callable[[np.ndarray, np.ndarray], np.ndarray]


def verified_motion(motion: Motion) -> Iterator[Check]:
    """The checks of a mechanical motion."""
    assert motion.tolerance is not None
    if motion.case is not None and isinstance(motion.dense, Flight):
        rates = motion.case.system.flow.rates
        yield from _obeyed(motion.dense, lambda x, t: rates(x, motion.numbers_at(t), t), motion.tolerance)
    energy = motion.energy
    changes = [energy.kinetic, energy.potential - energy.potential[0], energy.dissipated, energy.supplied]
    first = motion.y[:, :1], motion.numbers_at(motion.t[:1]) if motion.case else np.zeros(0)
    unit = float(_unit(motion.case, *first)[0]) if motion.case else 0.0
    least = max(SLOW * unit, ROUNDED * float(np.abs(energy.potential).max()))
    yield energy_balance(energy.balance, np.array(changes), least, motion.tolerance)
    if motion.case is not None and motion.case.system.statement.constraints:
        some = _spread(np.arange(len(motion.t)), SAMPLES)
        t, x = motion.t[some], motion.y[:, some]
        yield constraints_kept(*Constraints(motion.case).kept(x, motion.numbers_at(t), t), motion.tolerance)
        yield from _started(motion)


def _started(motion: Motion) -> list[Check]:
    """The first accelerations and reactions, where rows are redundant or the mass matrix needs the constraints: in all
    other systems one elimination gives both."""
    assert motion.case is not None
    system = motion.case.system
    if system.rods or not (system.redundant or usual_inertias(system) is not None):
        return []
    x, t = motion.y[:, :1], motion.t[:1]
    numbers = motion.numbers_at(t)
    accelerations = system.flow.rates(x, numbers, t)[len(x) // 2 :]
    return verified_accelerations(system, x, numbers, t, accelerations, motion.p[:, :1])


def verified_trajectory(trajectory: Trajectory) -> Iterator[Check]:
    """The checks of the motion of a plain ODE."""
    assert trajectory.case is not None
    assert trajectory.tolerance is not None
    flow, numbers = trajectory.case.system.flow, trajectory.case.numbers
    if isinstance(trajectory.dense, Flight):
        yield from _obeyed(trajectory.dense, lambda x, t: flow.rates(x, numbers, t), trajectory.tolerance)


def verified_ensemble(ensemble: Ensemble) -> Iterator[Check]:
    """Energies that nothing dissipates or supplies, and constraints, at samples of members that finished."""
    case, tolerance = ensemble.case, float(ensemble.options["tolerance"])
    done = np.flatnonzero([each.finished for each in ensemble.outcomes.ravel()])
    if not len(done):
        return
    some, times = _spread(done, MEMBERS), _spread(np.arange(len(ensemble.t)), INSTANTS)
    flat = ensemble.y.reshape(len(ensemble.y), len(ensemble.t), -1)[:, times][:, :, some].reshape(len(ensemble.y), -1)
    columns, t = np.tile(ensemble.numbers[:, some], len(times)), np.repeat(ensemble.t[times], len(some))
    if not has_power(case.system):
        here = measures(case.system)(flat, columns, t)[:3].reshape(3, len(times), -1)
        least = SLOW * _unit(case, flat[:, : len(some)], columns[:, : len(some)])
        least = np.maximum(least, ROUNDED * np.abs(here[1]).max(axis=0))
        largest = np.maximum(np.abs(here[0]).max(axis=0), np.abs(here[1] - here[1][0]).max(axis=0))
        yield energy_balance((here[2] - here[2][0]) / np.maximum(largest, least), np.ones(1), 0.0, tolerance)
    if case.system.statement.constraints:
        yield constraints_kept(*Constraints(case).kept(flat, columns, t), tolerance)


def _obeyed(flight: Flight, rates: Rates, tolerance: float) -> Iterator[Check]:
    path = Polynomials(*flight.polynomials(STEPS))
    if not len(path.lengths):
        return
    t, x, slopes = path.grid(POINTS)
    with np.errstate(all="ignore"):
        found = between_steps(x, slopes, rates(x, t), np.repeat(path.lengths, len(POINTS)), tolerance)
    yield found


def _spread(places: np.ndarray, most: int) -> np.ndarray:
    """At most so many of these, evenly spread, the first and the last among them."""
    return places[np.unique(np.linspace(0, len(places) - 1, min(most, len(places))).astype(int))]


def _unit(case: Case, x: np.ndarray, numbers: np.ndarray) -> np.ndarray:
    """Kinetic energies at velocities of one, in whose unit the tolerance of slower motions is absolute."""
    moving = x.copy()
    moving[len(x) // 2 :] = 1.0
    return np.abs(measures(case.system)(moving, numbers)[0])
