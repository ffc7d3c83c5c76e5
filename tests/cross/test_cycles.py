"""Hopf points of random systems, in any words: the point by its pencil, its cycles by harmonic balance."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import mpmath as mp
import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from cross import examples
from cross.cycles import Cycle, Cycles, NoCycleError, second_order
from cross.dae import Equations
from cross.mechanics import Change, Mechanics
from cross.pencil import SmallMotions
from cross.random_systems import at_rest, carriage, other_words
from pfaff.errors import NoBifurcationError

AMPLITUDE = 0.02


@dataclass(frozen=True, eq=False)
class HopfPoint:
    """A Hopf point in the old words, by the determinant of the pencil."""

    motions: SmallMotions
    z: np.ndarray
    load: float
    eigenvalue: complex
    mode: np.ndarray  # of coordinates and reactions
    slope: complex  # of the eigenvalue, by the load


def pencil_at(motions: SmallMotions, z: np.ndarray, load: float, s: complex) -> np.ndarray:
    n = len(motions.of.q)
    _, _, K, C, M, A, B = motions.parts(z[:n], z[n:], load)
    rolls = len(motions.of.rolling)
    lower = np.vstack([A[:rolls] * s + B[:rolls], B[rolls:]])
    return np.block([[M * s * s + C * s + K, A.T], [lower, np.zeros((len(A), len(A)))]])


def reference(motions: SmallMotions, z: np.ndarray, load: float, omega: float) -> HopfPoint:
    """What lies near a load and frequency that someone claims: the eigenvalue there, its mode and its slope."""

    z = motions.rest(z, load)

    def eigenvalue(load: Any) -> Any:
        values, _ = motions.roots(motions.exactly(z, load))
        return min(values, key=lambda value: abs(value - 1j * omega))

    with mp.workdps(40):
        step = mp.mpf(10) ** -12
        slope = complex((eigenvalue(load + step) - eigenvalue(load - step)) / (2 * step))
    value = complex(eigenvalue(load))
    mode = np.linalg.svd(pencil_at(motions, z, load, value))[2][-1].conj()
    return HopfPoint(motions, z, load, value, mode, slope)


def other_eigenvalues(point: HopfPoint) -> np.ndarray:
    values, _ = point.motions.spectrum(point.motions.exactly(point.z, point.load))
    near = np.abs(values - point.eigenvalue) < 1e-6, np.abs(values - point.eigenvalue.conjugate()) < 1e-6
    return values[~(near[0] | near[1])]


def in_old_words(change: Change, state: dict[str, float]) -> np.ndarray:
    return change.place(np.array([state.get(name, 0.0) for name in change.mechanics.names]))


def found(old: Mechanics, change: Change, to: float) -> tuple[Any, HopfPoint] | None:
    """The first Hopf point as pfaff finds it and what the pencil says about the same place; none if none is there."""
    motions, case = rests(old), change.mechanics.system.at()
    try:
        hopf = case.hopf(to=to / change.load)
    except NoBifurcationError:
        assert not crossings(motions, to), "pairs cross the imaginary axis"
        return None
    load, omega = hopf.value * change.load, hopf.omega / change.time
    assert not crossings(motions, 0.99 * load), "pairs cross the imaginary axis before"
    start = np.append(in_old_words(change, hopf.state), np.zeros(len(old.rolling) + len(old.held)))
    return hopf, reference(motions, start, load, omega)


def ignorable(old: Mechanics) -> tuple[int, ...]:
    """The carriage, which comes last where there is one."""
    return (len(old.q) - 1,) if old.q[-1].name == "X" else ()


def rests(old: Mechanics) -> SmallMotions:
    return SmallMotions(old, dict.fromkeys(ignorable(old), 0.0))


def crossings(motions: SmallMotions, to: float) -> int:
    """How often two eigenvalues at once begin or cease to grow as the load does."""
    loads = np.linspace(0, to, 321)
    path = motions.along(np.zeros(len(motions.of.q) + len(motions._demanding)), loads)
    growing = [int((motions.eigenvalues(z, load).real > 1e-9).sum()) for load, z in zip(loads, path, strict=False)]
    return sum(abs(a - b) == 2 for a, b in itertools.pairwise(growing))


def scale_of(change: Change, state: dict[str, float], coordinate: int) -> float:
    """d old/d new of a coordinate at a state."""
    name = f"y{coordinate + 1}"
    Q = np.array([state.get(each, 0.0) for each in change.mechanics.names])
    return float(change.jacobian_at(Q)[coordinate, change.mechanics.names.index(name)])


def distance(cycles: Cycles, cycle: Cycle, phases: np.ndarray, q: np.ndarray) -> float:
    """The largest difference between a cycle and one that is sampled at some phases, from the best beginning on."""

    def miss(lag: float) -> float:
        return float(np.abs(cycles.at(cycle, phases + lag)[: len(q)] - q).max())

    lag = min(np.linspace(0, 2 * np.pi, 400), key=miss)
    near = (lag - 0.02, lag + 0.02)
    return float(minimize_scalar(miss, bounds=near, method="bounded", options={"xatol": 1e-14}).fun)


@pytest.mark.parametrize("seed", examples(5, 6, 13, 14))
def test_hopf_points_of_carriages(seed):
    check_hopf_point(carriage(seed), seed)


@pytest.mark.parametrize("seed", examples(0, 1, 2, 3))
def test_hopf_points_without_rolling(seed):
    check_hopf_point(at_rest(seed, damped=True, rolls=False), seed)


def small_cycles(cycles: Cycles, point: HopfPoint, chosen: int) -> tuple[float, list[Cycle]]:
    """Three cycles of amplitudes halved, the first as large as it may be: small beside an eigenvalue near zero."""
    for amplitude in AMPLITUDE / 4.0 ** np.arange(5):
        try:
            born = partial(cycles.born, point.z, point.mode, point.eigenvalue.imag, point.load, chosen)
            return float(amplitude), [born(amplitude / 2**k) for k in range(3)]
        except NoCycleError:
            continue
    raise AssertionError("no cycles are found by harmonic balance")


def check_hopf_point(old: Mechanics, seed: int) -> None:
    """Load, frequency, crossing speed, criticality, and the cycle's amplitude and period to second order."""
    change = other_words(old, seed, decades=2)
    both = found(old, change, to=6.0)
    if both is None:
        return
    hopf, point = both
    load, omega = point.load, point.eigenvalue.imag
    assert abs(point.eigenvalue - 1j * hopf.omega / change.time) < 1e-10 * omega
    assert abs(hopf.crossing / change.time / change.load - point.slope) < 1e-9 * abs(point.slope)
    cycles = Cycles(old, ignorable(old))
    shape = len(old.q) - len(ignorable(old))
    chosen = int(np.abs(point.mode[:shape]).argmax())
    tame, small = small_cycles(cycles, point, chosen)
    by_load, by_omega = second_order(small, tame, (load, omega))
    assert hopf.born_above == (by_load > 0)
    assert hopf.criticality == ("subcritical" if by_load * point.slope.real < 0 else "supercritical")
    growing = (other_eigenvalues(point).real > 0).any()
    assert bool(hopf.stable_cycles) == (hopf.criticality == "supercritical" and not growing)
    ahead = 1e-3 * by_load * tame**2
    amplitude = hopf.amplitude((load + ahead) / change.load)[f"y{chosen + 1}"]
    amplitude *= scale_of(change, hopf.state, chosen)
    assert ahead / amplitude**2 == pytest.approx(by_load, rel=1e-5)
    shift = 2 * np.pi / (hopf.period((load + ahead) / change.load) * change.time) - omega
    assert shift / amplitude**2 == pytest.approx(by_omega, rel=1e-4, abs=1e-5 * omega)
    assert hopf.V3 / (3 * np.pi) == pytest.approx(hopf.l1, rel=1e-6)


def multipliers(cycles: Cycles, cycle: Cycle) -> np.ndarray:
    """Floquet multipliers of a carriage's cycle: differences of motions over a period, its speed following."""
    old = replace(cycles.of, parameters={**cycles.of.parameters, cycles.of.load: cycle.load})
    equations, n = Equations(old), len(old.q) - 1
    q, v = (each(cycle, np.zeros(1))[:n, 0] for each in (cycles.at, cycles.rates))

    def after(x: np.ndarray) -> np.ndarray:
        q, v = np.append(x[:n], 0.0), np.append(x[n:], 0.0)
        A = equations.row(q)
        v[n] = -A[:n] @ v[:n] / A[n]
        motion = equations.motion(q, v, np.array([0.0, 2 * np.pi / cycle.omega]))
        return np.concatenate([motion.q[:n, -1], motion.v[:n, -1]])

    step, x = 1e-4, np.concatenate([q, v])
    columns = [(after(x + step * e) - after(x - step * e)) / (2 * step) for e in np.eye(2 * n)]
    return np.linalg.eigvals(np.array(columns).T)


@pytest.mark.slow
@pytest.mark.parametrize("seed", examples(5))
def test_cycles_of_finite_amplitude(seed):
    """Period, amplitudes and advance of orbits, far from their birth, by harmonic balance; multipliers by motions."""
    old = carriage(seed)
    change = other_words(old, seed, decades=1, bent=False)
    both = found(old, change, to=6.0)
    if both is None:
        return
    hopf, point = both
    load, omega = point.load, point.eigenvalue.imag
    chosen = int(np.abs(point.mode[: len(old.q) - 1]).argmax())
    cycles = Cycles(old, ignorable(old), harmonics=14)
    cycle = cycles.born(point.z, point.mode, omega, load, chosen, AMPLITUDE)
    for amplitude in np.linspace(AMPLITUDE, 0.15, 6)[1:]:
        cycle = cycles.near(cycle, chosen, amplitude)
    branch = hopf.orbits(to=(load + 2 * (cycle.load - load)) / change.load, points=60)
    names = [f"y{k + 1}" for k in range(len(old.q))]
    gaps = []
    for each in branch.at(cycle.load / change.load):
        phases = 2 * np.pi * each.orbit.t / each.period
        q = np.array([each.orbit[name] * scale_of(change, {}, k) for k, name in enumerate(names[:-1])])
        apart = distance(cycles, cycle, phases, q)
        gaps.append(max(abs(each.period * change.time * cycle.omega / (2 * np.pi) - 1), apart))
    assert min(gaps) < 1e-9
    same = branch.at(cycle.load / change.load)[int(np.argmin(gaps))]
    drift = cycle.unknowns.reshape(len(point.z), -1)[len(old.q) - 1, 0]
    speed = same.mean_velocity[names[-1]] / change.time * scale_of(change, {}, len(old.q) - 1)
    assert abs(speed - drift) < 1e-9
    expected = multipliers(cycles, cycle)
    for value in same.multipliers:
        assert np.abs(expected - value).min() < 1e-5
