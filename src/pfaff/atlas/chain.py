"""The column of rigid bars with hundreds or thousands of them: the same mechanics as ``column``, by repeated parts.

Cazzolli, Dal Corso and Bigoni (2020), J. Mech. Phys. Solids; equation numbers are theirs. Every bar has its own left
end (x, y) and inclination θ, every joint is a pair of holonomic constraints whose forces stay unknown.
"""

from __future__ import annotations

import numpy as np
import sympy as sm

from pfaff.errors import StatementError
from pfaff.flow.assembly import Assembly
from pfaff.statement import TIME as t
from pfaff.statement import coordinates
from pfaff.statement.parts import Part
from pfaff.statement.values import one_of, whole_number
from pfaff.threads import once

MANY = 1_000_000  # bars
x, y, theta, x_next, y_next, theta_next, X = coordinates("x y theta x_next y_next theta_next X")
l, k = sm.symbols("l k", positive=True)
m, d, M_L, I_L, M_X, c_i, c_e, c_t, c_r = sm.symbols("m d M_L I_L M_X c_i c_e c_t c_r", nonnegative=True)
beta0, F, L = sm.symbols("beta0 F L", real=True)

along = sm.Matrix([sm.cos(theta), sm.sin(theta)])
left = sm.Matrix([x, y])
right = left + l * along


def column_assembly(
    bars: int,
    constraint: str = "skate",
    *,
    d: float = 0.5,
    k1: float = 1.0,
    k: float = 1.0,
    L: float = 1.0,
    M: float = 1.0,
    M_L: float = 0.0,
    I_L: float = 0.0,
    M_X: float = 0.0,
    beta0: float = 0.0,
    c_i: float = 0.0,
    c_e: float = 0.0,
    c_t: float = 0.0,
    c_r: float = 0.0,
) -> Assembly:
    """The column of ``pfaff.atlas.column`` under the dead load F, in absolute coordinates x, y, θ of every bar.

    Bar i (from zero) has the coordinates 3i, 3i + 1, 3i + 2; the block's X is the first bar's x. Parameters mean what
    they mean there. With k = N EI/L, k1 = 2 N EI/L and M_L = 0 the skate column tends to Beck's, at 20.0509 EI/L²:

    >>> found = column_assembly(200, k=200, k1=400).flutter()
    >>> print(f"{found.value:.4f} {found.frequency:.4f} {found.confirmed}")
    20.0499 11.0154 True
    """
    whole_number("bars", bars, 1, MANY, "that many do not fit into memory, ask for fewer", StatementError)
    one_of(ENDS, constraint, "unknown constraint", StatementError)
    length, mass = L / bars, M / bars
    bar_at = np.arange(3 * bars).reshape(bars, 3)
    last = bar_at[-1]
    parts = [
        block().copies(bar_at[:1, :2], M_X=M_X),
        bar().copies(bar_at, l=length, m=mass, d=d * length, c_e=c_e),
        hinge_at_block().copies(bar_at[:1, 2], k=k1, c_i=c_i),
        end_mass().copies(last, l=length, M_L=M_L, I_L=I_L, c_t=c_t, c_r=c_r),
    ]
    if bars > 1:
        parts += [
            joint().copies(np.hstack([bar_at[:-1], bar_at[1:, :2]]), l=length),
            hinge().copies(np.stack([bar_at[:-1, 2], bar_at[1:, 2]], axis=1), k=k, c_i=c_i),
        ]
    if constraint == "skate":
        parts.append(skate().copies(last, l=length, beta0=beta0))
    else:
        parts.append(bow().copies([*last, 0], L=L, beta0=beta0))
    straight = np.zeros(3 * bars)
    straight[::3] = length * np.arange(bars)
    name = f"column of {bars} bars with {constraint}"
    return Assembly(parts, size=3 * bars, load="F", start=straight, name=name)


@once(most=1)
def block() -> Part:
    """The sliding block under the dead load, Eq. (16)."""
    return Part(
        coordinates=[x, y],
        kinetic=M_X * x.diff(t) ** 2 / 2,
        potential=-F * x,
        holonomic_constraints=[y],
        parameters={M_X: 0, F: 0},
        name="block",
    )


@once(most=1)
def bar() -> Part:
    """A bar of length l with the mass m at the distance d from its left end, in viscous drag: Eqs. (18), (19)."""
    u, w = left.diff(t), right.diff(t)
    centre = (left + d * along).diff(t)
    return Part(
        coordinates=[x, y, theta],
        kinetic=m * centre.dot(centre) / 2,
        dissipation=c_e * l * (u.dot(u) + u.dot(w) + w.dot(w)) / 6,
        parameters={l: None, m: None, d: None, c_e: 0},
        name="bar",
    )


@once(most=1)
def joint() -> Part:
    """The right end of a bar is the left end of the next."""
    return Part(
        coordinates=[x, y, theta, x_next, y_next],
        holonomic_constraints=list(sm.Matrix([x_next, y_next]) - right),
        parameters={l: None},
        name="joint",
    )


@once(most=1)
def hinge() -> Part:
    """A visco-elastic hinge between two bars, Eqs. (16), (19)."""
    return _hinge([theta, theta_next], theta_next - theta, "hinge")


@once(most=1)
def hinge_at_block() -> Part:
    """The visco-elastic hinge between the block, which does not turn, and the first bar."""
    return _hinge([theta], theta, "hinge at the block")


def _hinge(angles: list[sm.Expr], bend: sm.Expr, name: str) -> Part:
    return Part(
        coordinates=angles,
        potential=k * bend**2 / 2,
        dissipation=c_i * bend.diff(t) ** 2 / 2,
        parameters={k: None, c_i: 0},
        name=name,
    )


@once(most=1)
def end_mass() -> Part:
    """Mass, rotary inertia and drag of the device at the end of the last bar, Eqs. (18), (19)."""
    velocity = right.diff(t)
    return Part(
        coordinates=[x, y, theta],
        kinetic=(M_L * velocity.dot(velocity) + I_L * theta.diff(t) ** 2) / 2,
        dissipation=(c_t * velocity.dot(velocity) + c_r * theta.diff(t) ** 2) / 2,
        parameters={l: None, M_L: 0, I_L: 0, c_t: 0, c_r: 0},
        name="end mass",
    )


@once(most=1)
def skate() -> Part:
    """Eq. (10): the velocity of the end has no component along the last bar turned by β0."""
    blade = sm.Matrix([sm.cos(theta + beta0), sm.sin(theta + beta0)])
    return Part(
        coordinates=[x, y, theta],
        nonholonomic_constraints=[right.diff(t).dot(blade)],
        parameters={l: None, beta0: 0},
        name="skate",
    )


@once(most=1)
def bow() -> Part:
    """Eq. (15), printed form: the point of the last bar that lies on the bow does not slide along it."""
    lever = sm.Matrix([X + L - x, -y])
    contact = left.diff(t) + theta.diff(t) * sm.Matrix([-lever[1], lever[0]])
    return Part(
        coordinates=[x, y, theta, X],
        nonholonomic_constraints=[contact.dot(sm.Matrix([sm.cos(beta0), sm.sin(beta0)]))],
        parameters={L: None, beta0: 0},
        name="bow",
    )


ENDS = {"skate": skate, "bow": bow}
