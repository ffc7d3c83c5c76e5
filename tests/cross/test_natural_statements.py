"""One system, stated in many natural ways, has one answer to every question."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

from cross.dae import Equations
from cross.natural import EXAMPLES, RESTATEMENTS, Example, Restated, as_it_is, states


@cache
def example(name: str) -> Example:
    return EXAMPLES[name]()


@cache
def first_answer(name: str, question: str) -> Any:
    return ASK[question](as_it_is(example(name).of), example(name))


def accelerations(stated: Restated, of: Example) -> np.ndarray:
    """q̈ in the words of the first statement."""
    n, m = len(of.of.q), len(stated.mechanics.q)
    found = []
    for q, v in states(of.of):
        x = stated.forth(q, v)
        a = stated.system.flow.rhs(x, stated.at())[m:]
        k = len(stated.change.new)
        found.append(stated.change.accelerations(x[:k], x[m : m + k], a[:k])[:n])
    return np.array(found)


def classification(stated: Restated, of: Example) -> tuple[Any, ...]:
    """Freedom, and the dimension of the places that can be reached; holds add none of their own."""
    found = stated.system.classification
    return found.freedom, found.dimension, found.scleronomic, found.catastatic


def equilibrium(stated: Restated, of: Example) -> np.ndarray:
    """Coordinates at rest in the words of the first statement, those of its family left out."""
    found = stated.at(**loaded(of)).equilibrium()
    q = stated.change.place(found.q[: len(of.of.q)])
    return np.array([*q[of.options.get("determined", slice(None))], found.family_dimension])


def steady(stated: Restated, of: Example) -> np.ndarray:
    """Eigenvalues of the steady motion with some speeds given, and all its quasi-velocities."""
    found = stated.at().steady(**of.options["speeds"])
    rates = in_order(found.eigenvalues / stated.change.time)
    return np.array([*rates, *found.quasi_velocities.values(), found.family_dimension])


def loaded(of: Example) -> dict[str, float]:
    return {of.of.load.name: of.options["load"]} if of.of.load is not None else {}


def in_order(values: np.ndarray) -> np.ndarray:
    return values[np.lexsort((np.round(values.imag, 6), np.round(values.real, 6)))]


def spectrum(stated: Restated, of: Example) -> np.ndarray:
    return in_order(stated.at(**loaded(of)).spectrum().values / stated.change.time)


def critical(stated: Restated, of: Example) -> np.ndarray:
    found = stated.at().critical()
    values = [getattr(found, kind).value for kind in ("flutter", "divergence", "buckling")]
    return np.array([np.nan if value is None else value * stated.change.load for value in values])


def hopf(stated: Restated, of: Example) -> tuple[Any, ...]:
    found = stated.at().hopf()
    numbers = found.value * stated.change.load, found.omega / stated.change.time
    return *numbers, found.criticality, found.stable_cycles, found.born_above


def cycle(stated: Restated, of: Example) -> np.ndarray:
    """Period and leading multipliers of the first cycle at a load."""
    load = of.options["cycle"] / stated.change.load
    orbit = stated.at().hopf().orbits(to=load).at(load)[0]
    leading = np.sort(np.abs(orbit.multipliers))[::-1][:2]
    return np.array([orbit.period * stated.change.time, *leading])


def mode(stated: Restated, of: Example) -> np.ndarray:
    """Period and multipliers of the vibration at an energy."""
    vibration = stated.at().normal_mode(1, energy=of.options["energy"] * stated.change.energy)[-1]
    numbers = np.sort_complex(np.round(vibration.multipliers, 12))
    pair = max(numbers, key=lambda value: abs(value - 1))
    return np.array([vibration.period * stated.change.time, abs(pair), pair.real])


def response(stated: Restated, of: Example) -> np.ndarray:
    """The leading multipliers of the response at the end of a range of frequencies."""
    found = stated.at().response(of.options["parameter"], to=of.options["to"])[-1]
    return np.sort(np.abs(found.orbit.multipliers))[::-1][:2]


QUESTIONS = {
    accelerations: 1e-9, classification: 0.0, equilibrium: 1e-9, spectrum: 1e-8, critical: 1e-8, hopf: 1e-8,
    cycle: 1e-7, steady: 1e-8, mode: 1e-6, response: 1e-7,
}  # fmt: skip
ASK = {each.__name__: each for each in QUESTIONS}


def applies(name: str, way: str) -> bool:
    rolling = len(example(name).of.rolling)
    needs = {"rows_times_functions": 1, "rows_mixed": 2, "a_row_too_many": 1}
    return rolling >= needs.get(way, 0) and way not in example(name).without


def asked() -> list[Any]:
    """Every question about every system, put to every statement of it."""
    every = [(name, question, way) for name in EXAMPLES for question in example(name).asked for way in RESTATEMENTS]
    return [pytest.param(*each, id="-".join(each)) for each in every if applies(each[0], each[2])]


@pytest.mark.parametrize("name", EXAMPLES)
def test_accelerations_are_those_of_lagrange_written_out(name):
    of = example(name).of
    M, h, A, gamma = Equations(of).matrices
    parts = Equations(of).function(M.tolist(), list(h), A.tolist(), list(gamma))
    found = first_answer(name, "accelerations")
    for (q, v), a in zip(states(of), found, strict=True):
        m, force, rows, drift = (np.array(each, dtype=float) for each in parts(q, v, of.values, 0.0))
        rows = rows.reshape(-1, len(q))
        kkt = np.block([[m, rows.T], [rows, np.zeros((len(rows), len(rows)))]])
        expected = np.linalg.lstsq(kkt, -np.concatenate([force, drift]), rcond=1e-13)[0][: len(q)]
        assert np.abs(a - expected).max() <= 1e-9 * (1 + np.abs(expected).max())


def alike(found: Any, expected: Any, bound: float) -> None:
    """Words are equal, numbers too, relative to the largest; what does not exist exists nowhere."""
    pairs = list(zip(*(np.ravel(np.array(each, dtype=object)) for each in (found, expected)), strict=True))
    sizes = [abs(old) for _, old in pairs if isinstance(old, complex | float) and not np.isnan(old)]
    for new, old in pairs:
        if not isinstance(old, complex | float) or np.isnan(old):
            assert new == old or (new != new and old != old)
        else:
            assert abs(new - old) <= bound * max(sizes)


@pytest.mark.parametrize(("name", "question", "way"), asked())
def test_one_answer(name, question, way):
    found = ASK[question](RESTATEMENTS[way](example(name).of), example(name))
    alike(found, first_answer(name, question), QUESTIONS[ASK[question]])
