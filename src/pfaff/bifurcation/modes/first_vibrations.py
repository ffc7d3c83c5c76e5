"""The first orbit of a family of conservative ones: a small vibration about an equilibrium.

If nonholonomic constraints put equilibria into families, each has a family of vibrations, and one is selected.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from pfaff.algebra.bordering import bordering
from pfaff.bifurcation.modes.family import COARSE, FamilyProblem
from pfaff.bifurcation.modes.undamped import UNFOLDING, Vibration, check_conserved
from pfaff.bifurcation.modes.vibrations import FreeVibration, Reach
from pfaff.bifurcation.orbits.chords import Point
from pfaff.bifurcation.orbits.cycles import Cycle, Mesh
from pfaff.bifurcation.orbits.orbit_problem import INTERVALS, OrbitProblem
from pfaff.continuation.endings import Refused
from pfaff.errors import ConvergenceError

BELOW = 0.1  # amplitude of the first orbit, relative to that at which a mode ends
LINEAR = 1e-4  # nonlinear part of the rates on the first orbit, relative to them
QUARTERINGS = 12  # most quarterings of its radius
TRIES = 4  # most quarterings where another frequency is a multiple
MOVED = 0.25  # largest change of multipliers on it, relative to their distance from ±1 at the equilibrium
RESONANT = 1e-6  # largest such distance of multipliers in resonance


def first_vibration(small: Vibration, number: int, accuracy: float, reach: Reach) -> FreeVibration:
    """x0 + r Re(q e^{iωt}), corrected."""
    n, omega, q = len(small.x), small.frequencies[number - 1], small.shapes[:, number - 1]
    none = np.zeros((n, 0)), np.zeros((0, n))
    alone = FamilyProblem(
        small.case, small.flow, UNFOLDING, accuracy, *none, zeros=small.zeros, frequencies=small.frequencies
    )
    q = q / np.abs(q).max()
    why, largest, ratios = "no radius is small enough", None, small.frequencies / omega
    size = np.abs(small.x) + np.abs(q)
    symmetric = bool((np.abs(small.x) <= 1e-12 * np.abs(q).max()).all()) and alone.odd(size)
    ways = [*([(alone, True)] if symmetric else []), (_of_one_level(alone, small) if small.zeros else alone, False)]
    for k, radius in enumerate(_radii(alone, small, omega, q, reach)):
        if k == TRIES and largest is None and _resonant(np.delete(ratios, number - 1)):
            break
        for problem, halved in ways:
            try:
                found = _born(problem, small.x, omega, radius * q, halved)
            except Refused as refused:
                why = str(refused)
                continue
            check_conserved(found.value, omega)
            vibration = FreeVibration(problem, found, small)
            if _undisturbed(found, ratios):
                return vibration
            largest = largest or vibration
            break
    if largest is not None:
        return largest
    raise ConvergenceError(
        f"no vibration was found near the frequency {omega:.8g} of {small.case.system.name}: {why}; another frequency "
        "may be a multiple of it, or nearly so"
    )


def _of_one_level(problem: FamilyProblem, small: Vibration) -> FamilyProblem:
    """The problem with rows that select one of the vibrations about the equilibria of a family."""
    border = bordering(small.flow.jacobian(small.x, small.case.numbers), small.zeros)
    columns, rows = np.ascontiguousarray(border.columns), np.ascontiguousarray(border.rows)
    return replace(problem, unfolding=columns, held=rows, zeros=0)


def _radii(problem: OrbitProblem, small: Vibration, omega: float, q: np.ndarray, reach: Reach) -> Iterator[float]:
    """Radii at which the nonlinear part is small, well below the amplitude to which the mode is followed."""
    phases = np.exp(1j * np.linspace(0, 2 * np.pi, 16, endpoint=False))
    energy, amplitude = (reach.limits.get(name, np.inf) for name in ("energy", "amplitude"))
    for radius in 2.0 ** -np.arange(0, 60):
        x = small.x + radius * (phases[:, None] * q).real
        linear = radius * (phases[:, None] * (1j * omega * q)).real
        rates = problem.collocation.equations.rates(x, 0.0).T
        if not (np.isfinite(rates).all() and np.abs(rates - linear).max() <= LINEAR * np.abs(linear).max()):
            continue
        gained = np.ptp(small.energy(np.ascontiguousarray(np.vstack([small.x, x]).T)))
        if gained <= BELOW**2 * energy and np.abs(x - small.x).max() <= BELOW * amplitude:
            yield from radius * 0.25 ** np.arange(QUARTERINGS)
            return


def _resonant(ratios: np.ndarray) -> bool:
    """Whether a frequency is a multiple: the mode may not exist, and rounding of tiny orbits would pass for it."""
    return bool((np.abs(np.exp(2j * np.pi * ratios) - 1) <= RESONANT).any())


def _undisturbed(found: Point, ratios: np.ndarray) -> bool:
    """Whether multipliers are still those of the small vibrations, by the ratios of frequencies: where none has come
    near 1 or −1 no family branches off between the equilibrium and an orbit. One that is there from the start, in
    resonance, stays out of it."""
    turn, sign = (np.pi, -1.0) if found.cycle.halved else (2 * np.pi, 1.0)
    linear = sign * np.exp(1j * turn * ratios)
    room = np.minimum(np.abs(linear - 1), np.abs(linear + 1))
    moved = np.abs(found.multipliers - linear[:, None]).min(axis=1)
    told = (room > RESONANT) & (turn * ratios * found.cycle.mesh.h.max() < COARSE)
    return bool((moved[told] < MOVED * room[told]).all())


def _born(problem: FamilyProblem, x: np.ndarray, omega: float, q: np.ndarray, halved: bool) -> Point:
    family = problem.continuation(omega)
    c, turn = problem.collocation, np.pi if halved else 2 * np.pi
    intervals = max(INTERVALS // 2 if halved else INTERVALS, family.fewest(turn / omega))
    mesh = Mesh(np.linspace(0.0, 1.0, intervals + 1))
    circle = np.exp(1j * turn * mesh.at[:, None])
    inner = np.exp(1j * turn * mesh.points(c.gauss.c).reshape(intervals, -1, 1))
    wave, slopes = (circle * q).real.copy(), (1j * turn * inner * q).real
    signs = np.full(len(x), -1.0 if halved else 1.0)
    scalars = np.array([turn / omega, *np.zeros(1 + len(problem.held))])
    guess = Cycle(mesh, x + wave, slopes.take(c.equations.rows, axis=2), scalars, signs)
    change = guess._replace(x=wave, scalars=np.zeros_like(scalars))
    solution = family.born(guess, guess._replace(x=x + 0 * wave), change, family.measure(guess))
    return family.refined(family.point(solution, change))
