"""Lagrange's and Appell's equations counted: unknowns, links and what is left of them."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
import sympy as sm

from pfaff import System
from pfaff.atlas import (
    ball_absorber,
    ball_in_cavity,
    chaplygin_sleigh,
    nonholonomic_particle,
    rolling_disc,
    slider_crank,
)
from pfaff.system import TIME as t

if TYPE_CHECKING:
    from pfaff.principles.random_states import States


SYSTEMS: tuple[Callable[[], System], ...] = (
    ball_in_cavity,
    ball_absorber,
    chaplygin_sleigh,
    nonholonomic_particle,
    rolling_disc,
    slider_crank,
)
STATES = 8


@cache
def stated(make: Callable[[], System]) -> System:
    return make()


@cache
def derived(make: Callable[[], System], principle: str) -> Any:
    """Derived and compiled once for all claims."""
    return stated(make).equations(principle)


def size(system: System) -> tuple[int, int, int]:
    """Coordinates n, links l, and what is left, k = n − l."""
    n, links = len(system.coordinates), len(system.statement.constraints)
    return n, links, n - links


def at_random(system: System) -> States:
    return system.random_states(STATES, seed=2018)


def lagrange_equations() -> float:
    """Eq. (1) written out from the energies, with the damping forces −∂D/∂q̇, against the equations derived."""
    off = 0
    for make in (ball_in_cavity, ball_absorber):
        system, equations = stated(make), derived(make, "lagrange")
        s = system.statement
        for k, (q, v) in enumerate(zip(s.q, s.v, strict=True)):
            momentum = sm.diff(system.kinetic, system.coordinates[k].diff(t))
            left = momentum.diff(t) - sm.diff(system.kinetic, system.coordinates[k])
            plain = sm.diff(s.potential, q) - s.forces[k] + sm.diff(s.dissipation, v)
            back = {b: a for a, b in s.to_plain.items()}
            links = equations.constraint_matrix.T * equations.multipliers
            off += not same(left + plain.xreplace(back) + links[k], equations.motion[k], system)
    return float(off)


def same(one: sm.Expr, other: sm.Expr, system: System) -> bool:
    """Equal to twenty digits at a random value of every function, derivative and parameter."""
    generator = np.random.default_rng(1)
    functions = sorted((one + other).atoms(sm.core.function.AppliedUndef), key=str)
    orders = [[f.diff(t, 2) for f in functions], [f.diff(t) for f in functions], functions, [*system.parameters, t]]
    values = []
    for each in (one, other):
        for group in orders:
            each = each.xreplace({x: sm.Float(generator.uniform(0.5, 1.5), 30) for x in group})
        generator = np.random.default_rng(1)
        values.append(each)
    return bool(abs(values[0] - values[1]) < 1e-20 * (1 + abs(values[0])))


def numbers_of_equations() -> float:
    """n + l equations with n + l unknowns, q and λ."""
    off = 0
    for make in SYSTEMS:
        n, links, _ = size(stated(make))
        equations = derived(make, "lagrange")
        off += abs(len(equations.equations) - n - links) + abs(len(equations.unknowns) - n - links)
    return float(off)


def normal_form() -> float:
    """u ∈ ℝ²ⁿ with l multipliers besides: the multipliers are no states, but 2n + l is the number of unknowns."""
    off = 0
    for make in SYSTEMS:
        system = stated(make)
        n, links, _ = size(system)
        flow = derived(make, "lagrange").flow
        off += abs(len(flow.states) - 2 * n) + abs(len(flow.states) + len(system.reaction_names) - 2 * n - links)
    return float(off)


def holonomic_reduction() -> float:
    """The slider-crank as a crank alone: 2k states, and the acceleration of the pin is that with its links."""
    system = slider_crank()
    reduced = crank()
    off = abs(len(reduced.flow.states) - 2 * size(system)[2])
    angle, rate = np.array([0.3, 0.9, 1.3, -0.6]), np.array([1.0, -2.0, 0.5, 3.0])
    l = float(system.at().values["l"])
    sine, cosine = l * np.sin(angle), l * np.cos(angle)
    q, v = np.array([cosine, sine, 2 * cosine]), np.array([-sine * rate, cosine * rate, -2 * sine * rate])
    full = np.array([system.equations().solve(q[:, k], v[:, k], system.at())[0] for k in range(len(angle))]).T
    turn = np.array([reduced.equations().solve([a], [w], reduced.at())[0][0] for a, w in zip(angle, rate, strict=True)])
    return off + float(np.abs(full[1] - (cosine * turn - sine * rate**2)).max())


def crank() -> System:
    """The slider-crank with its links solved: x1 = l cos θ, y1 = l sin θ, x2 = 2 l cos θ."""
    theta = sm.Function("theta")(t)
    system = slider_crank()
    l = next(symbol for symbol in system.parameters if symbol.name == "l")
    solved = (l * sm.cos(theta), l * sm.sin(theta), 2 * l * sm.cos(theta))
    place = dict(zip(system.coordinates, solved, strict=True))
    kinetic, potential = (sm.sympify(e).subs(place).doit() for e in (system.kinetic, system.potential))
    return System([theta], kinetic, potential, parameters=system.parameters, name="slider-crank, its links solved")


def live_degrees() -> float:
    """k = n − l dynamical equations by Appell, and k + l = n unknowns with the links."""
    off = 0
    for make in SYSTEMS:
        n, links, k = size(stated(make))
        equations = derived(make, "appell")
        off += abs(equations.dynamical - k) + abs(len(equations.flow.states) - n - k)
        off += abs(equations.dynamical + links - n)
    return float(off)


def fewer_states() -> float:
    """Systems for which Appell's equations have more states, or more dynamical equations, than Lagrange's."""
    off = 0
    for make in SYSTEMS:
        appell, lagrange = (derived(make, principle) for principle in ("appell", "lagrange"))
        off += len(appell.flow.states) > len(lagrange.flow.states) or appell.dynamical > lagrange.dynamical
    return float(off)


def links_added() -> float:
    """A body on a plane, free and on its blade: how many equations more or fewer, by each."""
    free = System(
        chaplygin_sleigh().coordinates,
        chaplygin_sleigh().kinetic,
        parameters=chaplygin_sleigh().parameters,
    )
    linked = chaplygin_sleigh()
    appell = linked.equations("appell").dynamical - free.equations("appell").dynamical
    lagrange = len(linked.equations().equations) - len(free.equations().equations)
    return float(abs(appell + 1) + abs(lagrange - 1))
