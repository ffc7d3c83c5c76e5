"""What equilibria, steady motions and spectra verify of themselves, by the equations as they are stated."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from pfaff.algebra.units import inertial_units
from pfaff.checks import Check, unmade
from pfaff.checks.rests import BALANCE, HOLD, STAY, held, in_balance, stays
from pfaff.checks.spectra import BELONG, COMPLETE, CRITICAL, Accelerations, belonging, critical
from pfaff.checks.symmetries import alike
from pfaff.flow.alike import broken_along
from pfaff.flow.initial import row_sizes
from pfaff.flow.shape import ignorable_coordinates
from pfaff.flow.stated_equations import StatedEquations, stated_equations
from pfaff.flow.statics import statics_of
from pfaff.flow.uniform_motion import frame_velocities_at
from pfaff.statement.system import System

if TYPE_CHECKING:
    from pfaff.rest.mechanical import Equilibrium
    from pfaff.rest.small_motions import Linearisation
    from pfaff.rest.steady_motions import SteadyMotion

LATER = 0.0, 0.37, 1.91  # times at which what moves uniformly, or depends on time, is looked at
AWHILE = 0.3  # how long a steady motion is watched, in units of its fastest rate
NO_FORMULAS = "the equations of rods are no formulas"
STRAIGHT = 1e-8  # accelerations below this, relative to what the rates would give, are none


def of_equilibrium(found: Equilibrium) -> Iterator[Check]:
    """Balance in every equation, and constraints that hold, by the equations as stated and at later times."""
    case, system = found.case, found.case.system
    if system.rods:
        yield from unmade(NO_FORMULAS, BALANCE, HOLD)
        return
    w, equations, numbers = frame_velocities_at(system, case.numbers), stated_equations(system), case.numbers
    at = statics_of(system)(found.q, found.p, numbers)
    units = at.inertial_units
    rate = float(np.sqrt(np.abs(at.K * units[:, None] * units).max(initial=0.0)))  # of small motions, roughly
    forces = np.abs(at.balance - found.p @ at.A) + np.abs(at.K) @ np.abs(found.q) + np.abs(found.p) @ np.abs(at.A)
    imbalance, left, terms = [], [], []
    for time in LATER if system.time in system.acting else LATER[:1]:
        q = found.q + w * time
        there = equations(q, w, numbers, time)
        imbalance.append(np.abs(there.h + found.p @ there.A))
        violations, sizes = _violations(equations, q, w, numbers, time, rate)
        left.append(violations)
        terms.append(sizes)
    yield in_balance(np.max(imbalance, axis=0), forces, at.stiffness_units)
    yield held(np.concatenate(left), np.concatenate(terms))


def of_linearisation(lin: Linearisation, values: np.ndarray) -> list[Check]:
    """Eigenvalues against differences of the accelerations along the motion that the constraints prescribe."""
    if lin.system.rods:
        return unmade(NO_FORMULAS, BELONG, COMPLETE)
    w = frame_velocities_at(lin.system, lin.numbers)
    return _belonging(lin.system, lin.q, w, lin.numbers, values)


def of_critical(lin: Linearisation, load: str, value: complex, mode: np.ndarray) -> list[Check]:
    """A critical eigenvalue, or a mode that nothing resists, against the same differences."""
    system, numbers = lin.system, lin.numbers
    if system.rods:
        return unmade(NO_FORMULAS, CRITICAL)
    less = numbers.copy()
    less[system.parameter_names.index(load)] /= 2
    w, before = (frame_velocities_at(system, each) for each in (numbers, less))
    units = inertial_units(stated_equations(system)(lin.q, w, numbers).M)
    unloaded = _accelerations(system, less), before
    return critical(_accelerations(system, numbers), lin.q, w, units, value, mode, unloaded)


def of_steady(motion: SteadyMotion, values: np.ndarray) -> Iterator[Check]:
    """Constraints that hold, a shape that stays, and the eigenvalues of a straight motion."""
    case, system, names = motion.case, motion.case.system, motion.case.system.coordinate_names
    if system.rods:
        yield from unmade(NO_FORMULAS, HOLD, STAY, BELONG, COMPLETE)
        return
    n, numbers, equations = len(names), case.numbers, stated_equations(system)
    q = np.array([motion.state.get(name, 0.0) for name in names])
    v, w = np.array(list(motion.velocities.values())), frame_velocities_at(system, numbers)
    here = equations(q, v, numbers)
    sizes = _sizes(here.M, q)
    rate = max(np.abs(values).max(initial=0.0), (np.abs(v) / sizes).max())
    yield held(*_violations(equations, q, v, numbers, 0.0, rate))
    if broken := broken_along(motion.flow, motion.x[:, None], numbers):
        yield alike(broken)
    if not rate:
        yield from unmade("nothing moves", STAY)
        return

    frame = motion.flow.frame
    mu = frame.rates(motion.x, numbers) if frame else np.zeros(0)

    def rates(x: np.ndarray, time: float) -> np.ndarray:
        there = equations(x[:n] + w * time, x[n:], numbers, time)
        stated = np.concatenate([x[n:] - w, there.accelerations()[:, 0]])
        return stated - frame.carried(x[:n], x[n:], mu) if frame else stated

    turned = motion.flow.slice.moved if motion.flow.slice else ()  # coordinates that a symmetry carries along
    kept = np.tile([name in motion.flow.states and name not in turned for name in names], 2)
    time = AWHILE / rate
    yield stays(rates, np.concatenate([q, v]), kept, np.concatenate([sizes, sizes / time]), time)
    felt = np.array([name not in ignorable_coordinates(system) for name in names])  # with a heading small motions turn
    turning = (np.abs(v - w)[felt] > STRAIGHT * sizes[felt] * rate).any()
    if not turning and (np.abs(here.accelerations()[:, 0]) <= STRAIGHT * sizes * rate**2).all():
        yield from _belonging(system, q, v, numbers, values)
    else:
        yield from unmade("small motions turn with it", BELONG, COMPLETE)


def _belonging(system: System, q: np.ndarray, v: np.ndarray, numbers: np.ndarray, values: np.ndarray) -> list[Check]:
    units = inertial_units(stated_equations(system)(q, v, numbers).M)
    return belonging(_accelerations(system, numbers), q, v, units, values)


def _accelerations(system: System, numbers: np.ndarray) -> Accelerations:
    equations = stated_equations(system)
    return lambda q, v: equations(q, v, numbers).accelerations()


def _sizes(M: np.ndarray, q: np.ndarray) -> np.ndarray:
    """Usual sizes of the coordinates: one for the lightest, and as large as q, in units in which inertias are alike."""
    units = inertial_units(M)
    return units * (1 / units.max() + np.abs(q / units).max())


def _violations(
    equations: StatedEquations, q: np.ndarray, v: np.ndarray, numbers: np.ndarray, time: float, rate: float
) -> tuple[np.ndarray, np.ndarray]:
    """What is left of the constraints, in velocities and positions, and the sizes of their terms and of small motions
    at a rate."""
    there = equations(q, v, numbers, time)
    usual = _sizes(there.M, q)
    place = np.abs(there.A[len(there.gamma) - len(there.positions) :]) @ (np.abs(v) * time + usual)
    speed = row_sizes(there.A, v, there.rates) + np.abs(there.A) @ (rate * usual)
    return np.concatenate([there.rates, there.positions]), np.concatenate([speed, place])
