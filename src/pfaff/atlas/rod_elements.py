"""The rod of ``pfaff.atlas.rod`` by finite elements in absolute coordinates: thousands of unknowns, any section.

Every element has the angles at its ends and in its middle, between which θ is quadratic; its right end lies at its left
end plus h ∫(cos θ, sin θ), a pair of holonomic constraints whose forces stay unknown. Loads converge like h⁴.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import sympy as sm
from numpy.polynomial import legendre

from pfaff.atlas.chain import block
from pfaff.errors import StatementError
from pfaff.flow.assembly import Assembly
from pfaff.statement import TIME as t
from pfaff.statement import Part, coordinates
from pfaff.statement.rods import section_value
from pfaff.statement.values import one_of, whole_number
from pfaff.threads import once

MANY = 100_000
GAUSS = 3  # points of an element
x, y, theta, middle, x_next, y_next, theta_next, X = coordinates("x y theta middle x_next y_next theta_next X")
h, EI, m = sm.symbols("h EI m", positive=True)
eta, c_e, M_L, I_L, c_t, c_r = sm.symbols("eta c_e M_L I_L c_t c_r", nonnegative=True)
beta0, L = sm.symbols("beta0 L", real=True)


def rod_assembly(
    elements: int,
    constraint: str = "skate",
    *,
    length: float = 1.0,
    bending: float | Callable[[float], float] = 1.0,
    mass: float | Callable[[float], float] = 1.0,
    M_L: float = 0.0,
    I_L: float = 0.0,
    M_X: float = 0.0,
    beta0: float = 0.0,
    eta: float = 0.0,
    c_e: float = 0.0,
    c_t: float = 0.0,
    c_r: float = 0.0,
) -> Assembly:
    """The rod behind a sliding block under the dead load F, in absolute coordinates, by finite elements.

    Unknowns of element i are 4i … 4i + 3, its x, y, θ and the angle in its middle, then those of its right end.
    ``bending`` and ``mass`` may be functions of the arc length, taken in the middle of every element. Other parameters
    mean what they mean in ``pfaff.atlas.rod``.

    >>> found = rod_assembly(32).flutter()
    >>> print(f"{found.value:.4f} {found.frequency:.4f}")
    20.0510 11.0156
    """
    whole_number("elements", elements, 1, MANY, "that many do not fit into memory, ask for fewer", StatementError)
    one_of(ENDS, constraint, "unknown constraint", StatementError)
    size = length / elements
    places = size * (np.arange(elements) + 0.5)
    at = 4 * np.arange(elements)[:, None] + np.array([0, 1, 2, 3, 4, 5, 6])
    last = at[-1, 4:]
    parts = [
        block().copies(at[:1, :2], M_X=M_X),
        clamp().copies(at[:1, 2]),
        element().copies(
            at, h=size, EI=_along("bending", bending, places), m=_along("mass", mass, places), eta=eta, c_e=c_e
        ),
        end_mass().copies(last, M_L=M_L, I_L=I_L, c_t=c_t, c_r=c_r),
        skate().copies(last, beta0=beta0) if constraint == "skate" else bow().copies([*last, 0], L=length, beta0=beta0),
    ]
    straight = np.zeros(4 * elements + 3)
    straight[::4] = size * np.arange(elements + 1)
    return Assembly(
        parts, size=len(straight), load="F", start=straight, name=f"rod of {elements} elements with {constraint}"
    )


def _along(name: str, given: Any, places: np.ndarray) -> np.ndarray:
    """A property in the middle of every element, which must be positive."""
    values = np.array(
        [section_value(given if callable(given) else sm.sympify(given), s, f"the {name}") for s in places]
    )
    if not (values > 0).all():
        raise StatementError(f"the {name} is {values.min():g} at s = {places[values.argmin()]:g}: it must be positive")
    return values


@once(most=1)
def element() -> Part:
    """An element of length h: bending, inertia, drag, and where its right end is."""
    points, weights = legendre.leggauss(GAUSS)
    nodes, weights = (1 + points) / 2, weights / 2
    sums = _integration(nodes)
    angles = [_angle(s) for s in nodes]
    bends = [
        sm.Add(*(sm.Float(c) * a for c, a in zip(_slopes(s), (theta, middle, theta_next), strict=True))) for s in nodes
    ]
    steps = [(sm.cos(a), sm.sin(a)) for a in angles]

    def velocity(row: np.ndarray) -> list[sm.Expr]:
        return [
            start.diff(t) + h * sm.Add(*(sm.Float(c) * step[k].diff(t) for c, step in zip(row, steps, strict=True)))
            for k, start in enumerate((x, y))
        ]

    squares = sm.Add(*(sm.Float(w) * sum(u**2 for u in velocity(row)) for w, row in zip(weights, sums, strict=True)))
    reach = [sm.Add(*(sm.Float(w) * step[k] for w, step in zip(weights, steps, strict=True))) for k in range(2)]
    return Part(
        coordinates=[x, y, theta, middle, x_next, y_next, theta_next],
        kinetic=m * h * squares / 2,
        potential=EI / h * sm.Add(*(sm.Float(w) * b**2 for w, b in zip(weights, bends, strict=True))) / 2,
        dissipation=eta
        * EI
        / h
        * sm.Add(*(sm.Float(w) * b.diff(t) ** 2 for w, b in zip(weights, bends, strict=True)))
        / 2
        + c_e * h * squares / 2,
        holonomic_constraints=[x_next - x - h * reach[0], y_next - y - h * reach[1]],
        parameters={h: None, EI: None, m: None, eta: 0, c_e: 0},
        name="element",
    )


def _angle(s: float) -> sm.Expr:
    shares = (2 * s - 1) * (s - 1), 4 * s * (1 - s), s * (2 * s - 1)
    return sm.Add(*(sm.Float(c) * a for c, a in zip(shares, (theta, middle, theta_next), strict=True)))


def _slopes(s: float) -> tuple[float, float, float]:
    return 4 * s - 3, 4 - 8 * s, 4 * s - 1


def _integration(nodes: np.ndarray) -> np.ndarray:
    """Weights of values at the nodes for integrals from 0 to each of them."""
    powers = np.arange(len(nodes))
    return (nodes[:, None] ** (powers + 1) / (powers + 1)) @ np.linalg.inv(np.vander(nodes, increasing=True))


@once(most=1)
def clamp() -> Part:
    """The block does not turn."""
    return Part(coordinates=[theta], holonomic_constraints=[theta], parameters={}, name="clamp")


@once(most=1)
def end_mass() -> Part:
    """Mass, rotary inertia and dampers of the device at the end."""
    square = x.diff(t) ** 2 + y.diff(t) ** 2
    return Part(
        coordinates=[x, y, theta],
        kinetic=(M_L * square + I_L * theta.diff(t) ** 2) / 2,
        dissipation=(c_t * square + c_r * theta.diff(t) ** 2) / 2,
        parameters={M_L: 0, I_L: 0, c_t: 0, c_r: 0},
        name="end mass",
    )


@once(most=1)
def skate() -> Part:
    """The end does not move along the tangent turned by β0."""
    return Part(
        coordinates=[x, y, theta],
        nonholonomic_constraints=[x.diff(t) * sm.cos(theta + beta0) + y.diff(t) * sm.sin(theta + beta0)],
        parameters={beta0: 0},
        name="skate",
    )


@once(most=1)
def bow() -> Part:
    """The printed form of the bars' paper: the point of the end's normal on the bow does not slide along it."""
    lever = (L + X - x) * sm.sin(beta0) + y * sm.cos(beta0)
    return Part(
        coordinates=[x, y, theta, X],
        nonholonomic_constraints=[x.diff(t) * sm.cos(beta0) + y.diff(t) * sm.sin(beta0) + lever * theta.diff(t)],
        parameters={L: None, beta0: 0},
        name="bow",
    )


ENDS = ("skate", "bow")
