"""Points beside one of codimension two, from which other curves start."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from pfaff.algebra.bordering import bordered_newton
from pfaff.bifurcation.curves.curves import CurveSpecial
from pfaff.bifurcation.curves.singular import Singular
from pfaff.bifurcation.equilibria.rest_equations import RestEquations
from pfaff.bifurcation.hopf.extended import hopf_near
from pfaff.continuation.course import Course, Limits
from pfaff.continuation.dense import Spot
from pfaff.continuation.endings import Refused
from pfaff.errors import ParameterError

FIRST = 1e-3  # distance from the special point at which a curve of equilibria starts, in the unit of a step
ASIDE = (0.01, 0.03, 0.003, 0.1, 0.001)  # shares of the range at which cycles beside the point are looked at
PROBE = 1e-5  # step of differences, relative to the ranges of parameters


def through(special: CurveSpecial, kind: type[Singular], z: np.ndarray, course: Course) -> tuple[Any, Limits]:
    """The problem of another curve through the point, in units of its own range."""
    s, name = special.equations, special.equations.free[-1]
    limits = course.limits(s.case.system, name, special.value)
    sizes = s.sizes.copy()
    sizes[-1] = limits.span
    s = s.in_units(sizes)
    return kind.at(s, z), limits


def beside(problem: Any, z: np.ndarray, way: float, length: float = FIRST) -> Spot:
    """A point of a curve a little way from where it starts."""
    at = problem.start(z, 1.0)
    at = replace(at, tangent=at.tangent * way)
    found: Spot = problem.point(problem.corrected(problem.moved(at, length), at), at)
    return found


def other_pair(special: CurveSpecial, problem: Any, length: float) -> np.ndarray:
    """A Hopf point of the other pair at a double Hopf point: at another value of the parameter that moves that pair
    more."""
    s, z = problem.equations, special.spot.z.copy()
    by = mover(special, s, "omega2")
    other = 1 - by
    z[-2 + other] += length * s.sizes[-2 + other]
    field = replace(s.field(z), load=s.free[by], parameters=s.numbers(z))
    x, value, _ = hopf_near(field, s.border(z), s.x(z), float(z[-2 + by]), 1j * special.coefficients["omega2"])
    z[: s.n], z[-2 + by] = x, value
    return z


def mover(special: CurveSpecial, s: RestEquations, pair: str) -> int:
    """The index of the parameter that moves a pair at a double Hopf point more, in its range."""
    omega, z = special.coefficients[pair], special.spot.z
    first, second = (abs(crossing(s, z, name, omega)) * size for name, size in zip(s.free, s.sizes[-2:], strict=True))
    return 0 if first >= second else 1


def crossing(s: RestEquations, z: np.ndarray, name: str, omega: float) -> float:
    """d Re λ with respect to a parameter, for the eigenvalue iω along the equilibrium: by differences."""
    at = s.free.index(name) - 2
    rates = []
    for way in (1.0, -1.0):
        beside = z.copy()
        beside[at] += way * PROBE * s.sizes[at]
        numbers = s.numbers(beside)
        values = np.linalg.eigvals(s.flow.jacobian(equilibrium(s, s.x(z), numbers), numbers))
        rates.append(values[np.abs(values - 1j * omega).argmin()].real)
    return float((rates[0] - rates[1]) / (2 * PROBE * s.sizes[at]))


def other_side(special: CurveSpecial, what: str, course: Course) -> ParameterError:
    side = "above" if course.to < special.value else "below"
    name = special.equations.free[-1]
    return ParameterError(
        f"{what} are {side} {name} = {special.value:.8g}, and to={course.to:g} is not: give to {side} it"
    )


def equilibrium(s: RestEquations, guess: np.ndarray, numbers: np.ndarray) -> np.ndarray:
    found, settled = bordered_newton(lambda y: s.flow.rhs(y, numbers), lambda y: s.flow.jacobian(y, numbers), guess)
    if not settled:
        raise Refused("the equilibria beside the point were not found")
    return found
