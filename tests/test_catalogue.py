"""The catalogue of what studies measure: one entry is all that a number needs."""

from __future__ import annotations

import math
import re
from pathlib import Path

import numpy as np
import pytest
import sympy as sm

import pfaff
from conftest import shell
from pfaff.studies.catalogue import HOPF, QUANTITIES, REST, Batch, Quantity, Search

MU, A, N = sm.symbols("mu a n", real=True)
GROWTH = MU - 1
X, Y = sm.symbols("x y")
SPIRAL = pfaff.ode(
    {X: GROWTH * X - A * Y - X**3, Y: A * X + GROWTH * Y - Y**3}, parameters={MU: 0, A: 1, N: 0}, load=MU
)
AXES = {"a": [1.0, 2.0, 4.0], "n": [0.0, 1.0]}
LASTING = Quantity(HOPF, "period at the Hopf point", lambda hopf: 2 * math.pi / hopf.omega,
                   Batch("hopf", lambda at: 2 * math.pi / at.omega))  # fmt: skip


def period_alone(case):
    return 2 * math.pi / case.hopf().omega


@pytest.fixture
def lasting(monkeypatch):
    monkeypatch.setitem(QUANTITIES, "lasting", LASTING)


@pytest.mark.parametrize("suffix", ["nc", "zarr"])
def test_one_entry_is_computed_stored_read_and_drawn(lasting, tmp_path, suffix):
    store = tmp_path / f"map.{suffix}"
    study = SPIRAL.at().sweep(AXES, ["lasting", "omega"], store).run()
    assert study.batched == 6
    read = pfaff.open_sweep(store)
    assert read.complete
    expected = 2 * math.pi / np.array([[1.0], [2.0], [4.0]]) * np.ones(2)
    assert read.dataset["lasting"].to_numpy() == pytest.approx(expected, rel=1e-9)
    assert read.dataset["lasting"].attrs["long_name"] == "period at the Hopf point"
    assert "period at the Hopf point" in str([axes.get_ylabel() for axes in read.plot("lasting").axes])


def test_one_entry_gives_in_batches_what_single_searches_give(lasting):
    study = SPIRAL.at().sweep({"a": AXES["a"]}, {"lasting": None, "alone": period_alone}).run()
    assert SPIRAL.at().sweep({"a": AXES["a"]}, "lasting").run().batched == 3
    assert study.dataset["lasting"].to_numpy() == pytest.approx(study.dataset["alone"].to_numpy(), rel=1e-10)


def test_one_entry_is_offered_on_the_shell_and_completed(lasting, monkeypatch):
    assert re.search(r"lasting\b.*\bRepeat", " ".join(shell("sweep", "new", "--help").stdout.split()))
    from pfaff.cli.sweep import new

    (measure,) = [each for each in new.params if each.name == "measure"]
    assert [each.value for each in measure.shell_complete(None, "last")] == ["lasting"]


def test_one_entry_is_offered_in_the_studio(lasting):
    from pfaff.studio.subject import subject_of

    assert "lasting" in subject_of(SPIRAL).measures
    assert "flutter" not in subject_of(SPIRAL).measures


def test_a_number_that_lacks_without_words_is_a_failure(monkeypatch):
    """Never NaN that is marked done: neither of one point, nor of a batch."""
    monkeypatch.setitem(QUANTITIES, "lost", Quantity(REST, "lost", lambda spectrum: math.nan))
    monkeypatch.setitem(
        QUANTITIES, "nothing", Quantity(Search("own", lambda case, asked, names: None), "", lambda found: found)
    )
    half = Batch("rest", lambda growth: np.where(np.arange(len(growth)) % 2, growth, np.nan))
    monkeypatch.setitem(QUANTITIES, "half", Quantity(REST, "half", lambda spectrum: math.nan, half))
    study = SPIRAL.at().sweep({"a": AXES["a"]}, ["lost", "nothing", "growth"]).run()
    assert study.counts == {"failed": 3}
    assert study.dataset["growth"].to_numpy() == pytest.approx(-1.0)
    assert "lost: not a number" in study.failures[0]["reason"]
    assert "nothing: not a number" in study.failures[0]["reason"]
    halved = SPIRAL.at().sweep({"a": AXES["a"]}, "half").run()
    assert halved.counts == {"done": 1, "failed": 2}


def test_numbers_with_few_values_are_drawn_by_their_words():
    study = SPIRAL.at().sweep({"mu": [-0.5, 0.5, 1.5, 2.0], "a": [1.0, 2.0]}, "stable").run()
    assert study.dataset["stable"].to_numpy()[:, 0].tolist() == [1, 1, 0, 0]
    drawn = study.plot("stable")
    assert [each.get_text() for each in drawn.axes[1].get_yticklabels()] == ["unstable", "stable"]


def test_a_frequency_of_flutter_that_is_absent_says_why():
    study = pfaff.atlas.column(2).at(c_i=0.0).sweep([{"M_L": 15.0}], "flutter_frequency", to=1.0).run()
    assert study.counts == {"none": 1}
    assert "no" in next(iter(study.store.reasons().values()))


def test_the_guide_and_the_method_name_all_that_can_be_measured():
    guide = (Path(__file__).parent.parent / "docs" / "howto" / "studies.md").read_text(encoding="utf-8")
    for name in QUANTITIES:
        assert f"`{name}`" in guide
        assert re.search(rf"\b{name}\b", pfaff.Case.sweep.__doc__)
