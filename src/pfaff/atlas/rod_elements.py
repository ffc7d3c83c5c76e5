"""The rod of ``pfaff.atlas.rod`` by finite elements in absolute coordinates: thousands of unknowns, any section.

Every element has the angles at its ends and in its middle, between which θ is quadratic; its right end lies at its left
end plus h ∫(cos θ, sin θ), a pair of holonomic constraints whose forces stay unknown. Loads converge like h⁴.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import sympy as sm

from pfaff.algebra.gauss import gauss
from pfaff.atlas.chain import block
from pfaff.errors import StatementError
from pfaff.flow.assembly import Assembly
from pfaff.statement import TIME as t
from pfaff.statement import Part, coordinates
from pfaff.statement.rods import section_value
from pfaff.statement.values import number_within, one_of, whole_number
from pfaff.threads import once

MANY = 100_000
GAUSS = 3  # points of an element
POSITIVE = "give a positive number"
x, y, theta, middle, x_next, y_next, theta_next, X = coordinates("x y theta middle x_next y_next theta_next X")
h = sm.Symbol("h", positive=True)
EI, m = (sm.symbols(f"{name}1:{GAUSS + 1}", positive=True) for name in ("EI", "m"))
r, eta, c_e, M_L, I_L, c_t, c_r = sm.symbols("r eta c_e M_L I_L c_t c_r", nonnegative=True)
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
    r: float = 0.0,
    eta: float = 0.0,
    c_e: float = 0.0,
    c_t: float = 0.0,
    c_r: float = 0.0,
) -> Assembly:
    """The rod behind a sliding block under the dead load F, in absolute coordinates, by finite elements.

    Unknowns of element i are 4i … 4i + 3, its x, y, θ and the angle in its middle, then those of its right end.
    ``bending`` and ``mass`` may be functions of the arc length; let elements end where these jump. Other parameters
    mean what they mean in ``pfaff.atlas.rod``.

    >>> found = rod_assembly(32).flutter()
    >>> print(f"{found.value:.4f} {found.frequency:.4f}")
    20.0510 11.0156
    """
    whole_number("elements", elements, 1, MANY, "that many do not fit into memory, ask for fewer", StatementError)
    one_of(ENDS, constraint, "unknown constraint", StatementError)
    length = number_within("length", length, lambda value: value > 0, POSITIVE)
    size = length / elements
    at = 4 * np.arange(elements)[:, None] + np.array([0, 1, 2, 3, 4, 5, 6])
    last = at[-1, 4:]
    parts = [
        block().copies(at[:1, :2], M_X=M_X),
        clamp().copies(at[:1, 2]),
        element().copies(at, h=size, r=r, eta=eta, c_e=c_e, **_along(size, elements, bending, mass)),
        end_mass().copies(last, M_L=M_L, I_L=I_L, c_t=c_t, c_r=c_r),
        skate().copies(last, beta0=beta0) if constraint == "skate" else bow().copies([*last, 0], L=length, beta0=beta0),
    ]
    straight = np.zeros(4 * elements + 3)
    straight[::4] = size * np.arange(elements + 1)
    return Assembly(
        parts, size=len(straight), load="F", start=straight, name=f"rod of {elements} elements with {constraint}"
    )


def _along(size: float, elements: int, bending: Any, mass: Any) -> dict[str, Any]:
    """Properties of the section at the Gauss points of every element."""
    found: dict[str, Any] = {}
    for word, symbols, given in (("bending", EI, bending), ("mass", m, mass)):
        if not callable(given):
            found |= dict.fromkeys(map(str, symbols), number_within(word, given, lambda value: value > 0, POSITIVE))
            continue
        for symbol, point in zip(symbols, gauss(GAUSS).c, strict=True):
            places = size * (np.arange(elements) + point)
            values = np.array([section_value(given, s, f"the {word}") for s in places])
            if not (values > 0).all():
                raise StatementError(
                    f"the {word} is {values.min():g} at s = {places[values.argmin()]:g}: it must be positive"
                )
            found[symbol.name] = values
    return found


@once(most=1)
def element() -> Part:
    """An element of length h: bending, inertia, drag, and where its right end is."""
    sums, weights, nodes = gauss(GAUSS).A, gauss(GAUSS).b, gauss(GAUSS).c
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

    def integral(values: Iterable[sm.Expr]) -> sm.Expr:
        return sm.Add(*(sm.Float(w) * value for w, value in zip(weights, values, strict=True)))

    squares = [sum(u**2 for u in velocity(row)) for row in sums]
    bent = integral(k * b**2 for k, b in zip(EI, bends, strict=True))
    slowed = integral(k * b.diff(t) ** 2 for k, b in zip(EI, bends, strict=True))
    moved = integral(mass * u for mass, u in zip(m, squares, strict=True))
    turned = integral(a.diff(t) ** 2 for a in angles)
    reach = [integral(step[k] for step in steps) for k in range(2)]
    return Part(
        coordinates=[x, y, theta, middle, x_next, y_next, theta_next],
        kinetic=h * (moved + r * turned) / 2,
        potential=bent / h / 2,
        dissipation=eta * slowed / h / 2 + c_e * h * integral(squares) / 2,
        holonomic_constraints=[x_next - x - h * reach[0], y_next - y - h * reach[1]],
        parameters={h: None, **dict.fromkeys((*EI, *m)), r: 0, eta: 0, c_e: 0},
        name="element",
    )


def _angle(s: float) -> sm.Expr:
    shares = (2 * s - 1) * (s - 1), 4 * s * (1 - s), s * (2 * s - 1)
    return sm.Add(*(sm.Float(c) * a for c, a in zip(shares, (theta, middle, theta_next), strict=True)))


def _slopes(s: float) -> tuple[float, float, float]:
    return 4 * s - 3, 4 - 8 * s, 4 * s - 1


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
