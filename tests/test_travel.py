"""Systems, cases and results that go to other processes: by pickle, without what was compiled of them."""

from __future__ import annotations

import inspect
import multiprocessing
import pickle
import pydoc
from contextlib import suppress
from functools import cache
from functools import cached_property as Cached
from typing import Any

import numpy as np
import pytest
import sympy as sm

import pfaff
from conftest import XI_HAT
from pfaff.bifurcation.orbit_curves.codimension_two import ResonanceForm
from pfaff.flow.all_velocities import in_all_velocities
from pfaff.flow.relative import relative_flow
from pfaff.stability.rod_characteristic import RodCharacteristic
from pfaff.statement import coordinates
from test_fuzz import subjects
from test_normal_modes import PAIR
from test_results import CLASSES

column = pfaff.atlas.column(2)
case = column.at(**XI_HAT, c_i=1.5)
x, y = coordinates("x y")
mu = sm.Symbol("mu", real=True)
plain = pfaff.ode({x: mu * x - y - x**3, y: x + mu * y}, parameters={mu: -0.1}, load=mu)
disc = pfaff.atlas.rolling_disc().at()

KILOBYTES = 40  # of anything, used or not
DATA = {  # of what is sampled, or has many points
    **{"OrbitBranch": 160, "Cascade": 160, "AssemblyBranch": 160, "NormalMode": 160, "Trajectory": 100},
    **{"Motion": 250, "Locomotion": 2500},  # with the polynomials of all steps
}
# What others have in common; and what is computing or serving just now, which stays where it is.
BASES, BUSY = {"pfaff.Principle", "pfaff.Branch"}, {"pfaff.Running", "pfaff.studio.Running"}


@cache
def results() -> dict[str, Any]:
    """One of every class on the page of the API, and more of some."""
    known = dict(subjects())
    motion = case.at(F=80).simulate(1, theta1_dot=0.01, samples=5, events={"p": pfaff.Event("p - 80")})
    loops, orbits = known["connecting orbit"], plain.at().hopf().orbits(to=0.1)
    pair = PAIR.at().normal_mode(2, energy=1)
    return known | {
        "hamilton": pfaff.atlas.pendulum().equations("hamilton"),  # which is soon derived
        "drawing": column.drawing,
        "particle": pfaff.Particle("m", (x, y)),
        "row": known["comparison"]["lagrange"],
        "states": column.random_states(3),
        "classification": column.classification,
        "cell": known["critical loads"].cells[0],
        "paradox of a direction": column.at(**XI_HAT).paradox({"c_i": 1, "c_e": 0.2}),
        "map in two": case.flutter_map(c_i=[0.1, 1.0], c_e=[0.1, 0.2]),
        "rest": pfaff.atlas.column_assembly(4).equilibrium(1.0),
        "large": pfaff.atlas.column_assembly(4).flutter(),
        "spectrum of a rod": pfaff.atlas.rod(modes=3).at(F=1).spectrum(),
        "ending": known["branch"].ended,
        "reason": known["branch"].ended.reason,
        "kind": pfaff.Kind.FOLD,
        "criticality": pfaff.Criticality.SUBCRITICAL,
        "cycles": orbits,
        "special orbit": known["fold of cycles"],
        "form of cycles": known["fold of cycles"].normal_form,
        "form of a resonance": ResonanceForm("cusp", {"c": 1.0}, True, "stable"),
        "mode with a branch point": pair,
        "special vibration": pair.special[0],
        "special connection": loops.curve("nu", to=-1.5, points=4, events={"there": "nu = -0.012"}).special[0],
        "motion with events": motion,
        "crossings": motion.events["p"],
        "outcome": motion.status.outcome,
        "event": pfaff.Event("x", stop=True),
        "energy": motion.energy,
        "friction": motion.friction(normal=100),
        "flow of steady motions": disc.steady(phi_dot=6).flow,
        "characteristic": RodCharacteristic(pfaff.atlas.rod(modes=3).at(F=1)),
    }


def used(result: Any) -> Any:
    """The same, after everything that it derives has been asked for."""
    for name in dir(type(result)):
        if not name.startswith("_") and isinstance(inspect.getattr_static(type(result), name), property | Cached):
            with suppress(Exception):
                getattr(result, name)
    return result


def said(result: Any) -> tuple[str, str, str]:
    return pydoc.describe(type(result)) + type(result).__module__, getattr(result, "status", ""), repr(result)[:500]


def arrived(sent: dict[str, bytes]) -> dict[str, tuple[str, str, str]]:
    return {name: said(pickle.loads(each)) for name, each in sent.items()}


@pytest.fixture(scope="module")
def sent() -> dict[str, bytes]:
    return {name: pickle.dumps(used(result)) for name, result in results().items()}


@pytest.fixture(scope="module")
def told_there(sent) -> dict[str, tuple[str, str, str]]:
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(arrived, (sent,))


@pytest.mark.parametrize("kind", sorted({*CLASSES} - BASES - BUSY))
def test_every_class_travels(sent, told_there, kind):
    """To a process that knows nothing of it, where it says the same; and without what was derived of it."""
    of_kind = [name for name, result in results().items() if type(result) is pydoc.locate(kind)]
    assert of_kind
    for name in of_kind:
        assert told_there[name] == said(results()[name])
        assert len(sent[name]) < 1000 * DATA.get(kind.rsplit(".", 1)[-1], KILOBYTES), name


def test_flows_are_lowered_again_where_they_arrive():
    """Of all kinds: those of a system, of steady motions, in all velocities, of an ODE."""
    bar = pfaff.atlas.rolling_disc().at()
    relative = relative_flow(bar.system, (), bar.numbers)
    for flow in (bar.system.flow, bar.system.shape, relative, in_all_velocities(relative, 2.0), plain.flow):
        again = pickle.loads(pickle.dumps(flow))
        numbers, states = np.linspace(0.5, 1, len(flow.system.parameters)), np.linspace(0.1, 0.7, len(flow.states))
        assert (again.states, again.dependent, again.settle) == (flow.states, flow.dependent, flow.settle)
        assert (again.rates(states, numbers) == flow.rates(states, numbers)).all()
        assert len(pickle.dumps(flow)) < 10_000
    sent, arrived = pickle.loads(pickle.dumps((bar, bar.system.shape)))
    assert sent.system.shape is arrived


def test_a_branch_of_orbits_goes_on_where_it_arrives():
    branch = plain.at().hopf().orbits(to=0.1)
    again = pickle.loads(pickle.dumps(branch))
    assert again.status == branch.status
    assert again[-1].period == branch[-1].period
    assert again.extend(to=0.15)[-1].period == pytest.approx(branch.extend(to=0.15)[-1].period, rel=1e-12)


def test_what_was_compiled_stays_behind():
    fresh = len(pickle.dumps(pfaff.atlas.column(3).at(k1=50)))
    used = pfaff.atlas.column(3).at(k1=50)
    used.spectrum(F=0.1)
    used.simulate(0.1, theta1_dot=0.01)
    assert len(pickle.dumps(used)) == fresh < 20_000


def flutter(sent: pfaff.Case) -> float:
    return sent.flutter().value


def test_a_case_computes_the_same_in_another_process():
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.apply(flutter, (case,)) == flutter(case)
