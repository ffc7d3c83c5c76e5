"""Seeded random states of a system that obey its constraints, away from singular configurations."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import sympy as sm

from pfaff.algebra.allowed_inertia import allowed_inertia, kinetic_units
from pfaff.errors import ConstraintError, ConvergenceError, SingularMassError
from pfaff.flow.completion import KEPT
from pfaff.flow.initial import Constraints, on_velocities
from pfaff.flow.positions import on_positions
from pfaff.statement import System
from pfaff.statement.characteristic import characteristic
from pfaff.statement.evaluation import magnitudes
from pfaff.statement.values import by_name, number_from, whole_number

if TYPE_CHECKING:
    from pfaff.case import Case

TRIALS = 100  # random starts for one state
REGULAR = 5e-2  # the least singular value of the unit rows of A that is looked for at a random state
NEAR = 0.1  # how far coordinates are scattered about a given configuration, and parameters relative to it
MOST = 10_000  # states
EXTREME = 1e3  # characteristic sizes beyond this, or below its inverse, come from units


@dataclass(frozen=True)
class States:
    """Columns of coordinates, velocities that obey the constraints, and parameters; a time for each."""

    q: np.ndarray
    v: np.ndarray
    numbers: np.ndarray
    time: np.ndarray
    usual: np.ndarray  # sizes of velocities


def random_states(system: System, states: int, seed: int, near: Mapping[str, float] | None = None) -> States:
    """Coordinates, velocities and times of order one, or of the order that units of a coordinate make usual; parameters
    within a fifth of their defaults.

    About a configuration, coordinates are scattered by NEAR only, and parameters by a share of NEAR.
    """
    whole_number("states", states, 1, MOST, "principles that differ do so at the first states, ask for fewer")
    whole_number("seed", seed, 0, sys.maxsize, "give a smaller one")
    generator = np.random.default_rng(seed)
    centre = None if near is None else _configuration(system, near)
    spread = 0.2 if near is None else 0.02 * NEAR
    numbers = np.array([_near(value, generator, states, spread) for value in system.parameters.values()])
    numbers = numbers.reshape(len(system.parameters), states)
    time = generator.uniform(0, 2, states)
    names, n = system.parameter_names, len(system.coordinates)
    q, v = np.zeros((n, states)), np.zeros((n, states))
    usual = _usual_sizes(system)
    for k in range(states):
        case = system.at().unchecked(**dict(zip(names, numbers[:, k].tolist(), strict=True)))
        q[:, k], v[:, k] = _admissible(case, generator, float(time[k]), centre, usual)
    return States(q, v, numbers, time, usual[1])


def _usual_sizes(system: System) -> tuple[np.ndarray, np.ndarray]:
    """Sizes of coordinates and velocities: one unless units make another one usual.

    An angle in millionths is large in numbers, and its sine has no digits where it is one million. Velocities are those
    of like kinetic energy.
    """
    n = len(system.coordinates)
    if system.rods:
        return np.ones(n), np.ones(n)
    s = system.statement
    known: dict[sm.Basic, Any] = {p: 1.0 if value is None else float(value) for p, value in system.parameters.items()}
    known |= {s.time: 1.0}
    first = characteristic([s.kinetic], s.q, known | dict.fromkeys(s.v, 1.0)).usual
    each = known | dict(zip(s.q, 0.4 * first, strict=True)) | dict(zip(s.v, np.eye(n), strict=True))
    energies = np.broadcast_to(np.asarray(magnitudes([s.kinetic], each)[0], dtype=float), n)
    heavy = np.isfinite(energies) & (energies > 0)
    speeds = np.where(heavy, 1 / np.sqrt(np.where(heavy, energies, 1.0)), first)
    speeds = _unless_usual(speeds / np.median(speeds[heavy] if heavy.any() else speeds))
    stated = [s.kinetic, s.potential, s.dissipation, *s.forces, *s.constraints, *s.positions]
    sizes = characteristic(stated, s.q, known | dict(zip(s.v, speeds.tolist(), strict=True))).usual
    return _unless_usual(sizes), speeds


def _unless_usual(sizes: np.ndarray) -> np.ndarray:
    return np.where((sizes > 1 / EXTREME) & (sizes < EXTREME), 1.0, sizes)


def _configuration(system: System, near: Mapping[str, float]) -> np.ndarray:
    near = by_name("near", near, "{'theta1': 0.1}")
    for name in near:
        system.named(name, system.coordinate_names, f"{system.name} has no coordinate")
    return np.array([number_from(name, near.get(name, 0.0)) for name in system.coordinate_names])


def _near(value: Any, generator: np.random.Generator, states: int, spread: float) -> np.ndarray:
    """Values near a default; small and not negative where it is zero, of order one where there is none."""
    drawn = generator.uniform(0, 1, states)
    if value is None:
        return 0.5 + drawn
    return float(value) * (1 - spread + 2 * spread * drawn) if value else spread * drawn


def _admissible(
    case: Case,
    generator: np.random.Generator,
    time: float,
    centre: np.ndarray | None,
    usual: tuple[np.ndarray, np.ndarray],
) -> tuple[np.ndarray, np.ndarray]:
    """A random state on the constraints; where Newton's method does not reach them, from another start.

    Of states that are all near singular ones, as they are in some units, the one that is farthest.
    """
    constraints, n = Constraints(case), len(case.system.coordinates)
    free, best, found = np.ones(n, dtype=bool), KEPT, None
    for _ in range(TRIALS):
        start = usual[0] * generator.uniform(-1, 1, n)
        try:
            q = on_positions(constraints, start if centre is None else centre + NEAR * start, np.zeros(n), free, time)
            v = on_velocities(constraints, q, usual[1] * generator.uniform(-1, 1, n), free, time, exactly=True)
        except (ConstraintError, ConvergenceError):
            continue
        _, _, A, M = constraints(q, v, time)
        A = A[list(case.system.kept)]
        regular = _regularity(A, _inertial_units(M, A, case.system))
        if regular > best:
            best, found = regular, (q, v)
        if regular > REGULAR:
            break
    if found is not None:
        return found
    raise ConvergenceError(
        f"no state of {case.system.name} that obeys its constraints, far from singular ones, was found from {TRIALS} "
        "random starts: give a configuration to start near, such as near={'x': 1}, or defaults at which it can be "
        "assembled near the origin"
    )


def _inertial_units(M: np.ndarray, A: np.ndarray, system: System) -> np.ndarray:
    """Units in which inertias are one; accelerations are compared, so that all that may move needs some."""
    found = allowed_inertia(M, A)
    if found.lacks(np.finfo(float).eps):
        name = system.coordinate_names[found.along]
        raise SingularMassError(
            f"the mass matrix of {system.name} is singular on the motions that its constraints allow, mostly along "
            f"{name}: the principles cannot be compared; give {name} a mass, or eliminate it by a constraint"
        )
    return kinetic_units(M, A)


def _regularity(A: np.ndarray, units: np.ndarray) -> float:
    """How far a configuration is from one where the constraints lose rank, and with it the reactions their sense."""
    if not len(A):
        return 1.0
    rows = A * units
    return float(np.linalg.svd(rows / np.linalg.norm(rows, axis=1, keepdims=True), compute_uv=False)[-1])
