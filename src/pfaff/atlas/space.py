"""Bodies in space, as several systems of the atlas need them: vectors by their components in moving frames."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import sympy as sm


def rotation(axis: Sequence[Any], angle: Any) -> sm.Matrix:
    """R about a unit axis (Rodrigues): v in the old frame is R v of the components in the turned one."""
    k = sm.Matrix(axis)
    return sm.cos(angle) * sm.eye(3) + sm.sin(angle) * k.hat() + (1 - sm.cos(angle)) * k * k.T


def kinetic_energy(mass: Any, inertia: sm.Matrix, velocity: sm.Matrix, spin: sm.Matrix) -> sm.Expr:
    """Kinetic energy of a rigid body: velocity of its centre of mass, spin and central inertia in one frame."""
    return (mass * velocity.dot(velocity) + spin.dot(inertia * spin)) / 2
