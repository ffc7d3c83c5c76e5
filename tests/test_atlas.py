"""Every system of the atlas goes through the commands: it is shown, analysed, moved and drawn."""

from __future__ import annotations

import json

import numpy as np
import pytest
from click.testing import CliRunner

import pfaff
from pfaff.atlas import SYSTEMS, TOPICS
from pfaff.atlas.andrews_squeezer import START
from pfaff.cli import app
from pfaff.errors import ConvergenceError, ParameterError

every_system = pytest.mark.parametrize("name", SYSTEMS)
# Closed loops have no configuration at the origin: where each starts, and how long it stays away from singular ones.
ASSEMBLED = {
    "rod": ({"a1_dot": 0.1}, 0.1),
    "slider_crank": ({"x1": 0.5, "y1": 0.5, "x2": 1.0, "x2_dot": -0.1}, 0.2),
    "double_four_bar": ({"y0": 1, "x1": 1, "y1": 1, "x2": 2, "y2": 1, "x0_dot": 1}, 0.3),
    "andrews_squeezer": (START, 0.01),
}


def test_the_listing_has_every_system_once_in_one_line():
    listed = CliRunner().invoke(app, ["atlas", "--json"])
    entries = json.loads(listed.output)
    assert list(entries) == [make.__name__ for makes in TOPICS.values() for make in makes]
    for name, entry in entries.items():
        assert 20 < len(entry["what"]) <= 120, name
        assert entry["topic"] in TOPICS
    table = CliRunner().invoke(app, ["atlas"]).output
    assert all(name in table for name in SYSTEMS)
    assert all(topic in table for topic in TOPICS)


@every_system
def test_shown(name):
    done = CliRunner().invoke(app, ["show", name, "--json"])
    assert done.exit_code == 0, done.output
    facts = json.loads(done.output)
    stated = SYSTEMS[name]()
    assert sorted(facts["coordinates"]) == sorted(stated.coordinate_names)
    assert None not in facts["parameters"].values()  # it runs without being asked for anything
    assert len(facts["reactions"]) == len(stated.statement.constraints)
    assert set(stated.parameter_names) <= set(facts["meanings"])


def spectrum_or_reason(case: pfaff.Case) -> tuple[np.ndarray, str]:
    try:
        return case.spectrum().values, ""
    except ConvergenceError as reason:
        return np.zeros(0), str(reason)


@every_system
@pytest.mark.filterwarnings("error")
def test_analysed(name):
    """Past its flutter load a system grows faster than before; one without a load, a rest or in a drive says so."""
    case = SYSTEMS[name]().at()
    if case.system.load is None:
        with pytest.raises(ParameterError, match="declares no load"):
            case.critical()
        values, reason = spectrum_or_reason(case)
        assert np.isfinite(values).all()
        assert reason or case.equilibrium().plot().axes
        assert not reason or "switch the excitation off" in reason or "no equilibrium" in reason
        return
    found = case.critical()
    for load in (found.flutter, found.divergence, found.buckling):
        assert not load or load.value > 0
    if found.flutter:
        growth = [
            case.spectrum(**{found.flutter.load: share * found.flutter.value}).values.real.max()
            for share in (0.999, 1.001)
        ]
        assert growth[1] > growth[0] + 1e-8


@every_system
def test_moved_and_drawn(name):
    """A push in every velocity that the constraints allow: energy balances, constraints hold, pictures come."""
    case = SYSTEMS[name]().at()
    push = {f"{q}_dot": 0.1 * (k + 1) for k, q in enumerate(case.system.coordinate_names)}
    start, duration = ASSEMBLED.get(name, (push, 1))
    motion = case.simulate(duration, samples=21, project=name not in ASSEMBLED, **start)
    assert motion.finished
    assert motion.energy.drift < 1e-12
    assert np.abs(motion.residual).max(initial=0.0) < 1e-13 * (1 + np.abs(motion.y).max())
    assert motion.y[:, -1] != pytest.approx(motion.y[:, 0])
    assert motion.plot().axes
    if case.system.drawing is not None:
        assert len(motion.film(2).axes) == 2
