"""Hopf points of random systems, in any words: the point by its pencil, its cycles by harmonic balance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import mpmath as mp
import numpy as np
import pytest

from cross import examples
from cross.cycles import Cycles, second_order
from cross.mechanics import Change, Mechanics
from cross.pencil import SmallMotions
from cross.random_systems import carriage, other_words
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


@pytest.mark.parametrize("seed", examples(6))
def test_hopf_points_of_carriages(seed):
    """Load, frequency, crossing speed, criticality, and the cycle's amplitude and period to second order."""
    old = carriage(seed)
    change = other_words(old, seed, decades=2)
    case, to = change.mechanics.system.at(), 6.0
    try:
        hopf = case.hopf(to=to / change.load)
    except NoBifurcationError:
        check_that_nothing_crosses(old, to)
        return
    load, omega = hopf.value * change.load, hopf.omega / change.time
    motions = SmallMotions(old, {len(old.q) - 1: 0.0})
    point = reference(motions, motions.rest(np.append(in_old_words(change, hopf.state), load), load), load, omega)
    assert abs(point.eigenvalue - 1j * omega) < 1e-10 * omega
    assert abs(hopf.crossing / change.time / change.load - point.slope) < 1e-9 * abs(point.slope)
    cycles = Cycles(old, ignorable=(len(old.q) - 1,))
    chosen = int(np.abs(point.mode[: len(old.q) - 1]).argmax())
    amplitudes = [AMPLITUDE, AMPLITUDE / 2]
    small = [cycles.born(point.z, point.mode, omega, load, chosen, a) for a in amplitudes]
    by_load, by_omega = second_order(cycles, small, amplitudes, (load, omega))
    assert hopf.born_above == (by_load > 0)
    assert hopf.criticality == ("subcritical" if by_load * point.slope.real < 0 else "supercritical")
    growing = (other_eigenvalues(point).real > 0).any()
    assert bool(hopf.stable_cycles) == (hopf.criticality == "supercritical" and not growing)
    ahead = 1e-3 * by_load * AMPLITUDE**2
    name = f"y{chosen + 1}"
    Q = np.array([hopf.state.get(each, 0.0) for each in change.mechanics.names])
    scale = np.abs(change._numeric[1](Q))[chosen, change.mechanics.names.index(name)]
    amplitude = hopf.amplitude((load + ahead) / change.load)[name] * scale
    assert ahead / amplitude**2 == pytest.approx(by_load, rel=1e-4)
    shift = 2 * np.pi / (hopf.period((load + ahead) / change.load) * change.time) - omega
    assert shift / amplitude**2 == pytest.approx(by_omega, rel=1e-3, abs=1e-4 * omega)


def check_that_nothing_crosses(old: Mechanics, to: float) -> None:
    """No pair of eigenvalues passes the imaginary axis as the load grows."""
    motions = SmallMotions(old, {len(old.q) - 1: 0.0})
    loads = np.linspace(0, to, 241)
    path = motions.along(np.zeros(len(old.q) + 1), loads)
    pairs = []
    for load, z in zip(loads, path, strict=False):
        values = motions.eigenvalues(z, load)
        pairs.append(int((values.real[values.imag > 1e-6] > 0).sum()))
    assert len(set(pairs)) == 1, f"pairs that grow: {pairs}"
