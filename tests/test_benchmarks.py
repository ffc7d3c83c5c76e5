"""Benchmarks count only with their accuracy verified: each script checks, and each check can fail."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import pfaff

ROOT = Path(__file__).parents[1]
SHARED = {"verified", "dense", "auto07p"}
SCRIPTS = sorted(path.stem for path in (ROOT / "benchmarks").glob("*.py") if path.stem not in SHARED)


@pytest.fixture
def script(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    return import_module


@pytest.mark.parametrize("name", SCRIPTS)
def test_every_script_verifies_and_is_run_by_make_bench(name):
    source = (ROOT / "benchmarks" / f"{name}.py").read_text()
    assert re.search(r"^ +(verify|demand)\(", source, re.MULTILINE)
    assert not re.search(r"^ +assert ", source, re.MULTILINE), "python -O would skip it"
    assert f"benchmarks/{name}.py" in (ROOT / "Makefile").read_text()


@pytest.mark.parametrize("error", [1.01e-9, np.inf, np.nan])
def test_a_wrong_number_ends_a_benchmark_with_a_sentence(script, error):
    verified = script("verified")
    verified.verify("the load", 1e-9, 1e-9)
    with pytest.raises(SystemExit, match="NOT VERIFIED: the load"):
        verified.verify("the load", error, 1e-9)
    with pytest.raises(SystemExit, match="NOT VERIFIED: it is the first"):
        verified.demand("it is the first", False)


@pytest.mark.parametrize(("bars", "setting"), [(2, "undamped"), (2, "damped"), (8, "damped"), (2, "bent")])
def test_the_referee_of_flutter_loads_tells_a_wrong_one(script, bars, setting):
    calls = script("calls")
    found = calls.case_of(bars, setting, 1).flutter()
    assert calls.verify_flutter(bars, setting, 1, found) < 1e-11
    with pytest.raises(SystemExit, match="NOT VERIFIED: the flutter load"):
        calls.verify_flutter(bars, setting, 1, SimpleNamespace(value=found.value * (1 + 2e-10)))


def test_eigenvalues_of_other_parameters_are_told(script):
    calls = script("calls")
    found = calls.case_of(2, "damped", 1).spectrum()
    calls.verify_spectrum(2, "damped", 1, found)
    with pytest.raises(SystemExit, match="NOT VERIFIED: the eigenvalues"):
        calls.verify_spectrum(2, "damped", 2, found)


def test_the_referee_of_periods_tells_a_wrong_one(script):
    """Shooting against collocation; the period near the Hopf point at F = 76.34 is known from its normal form too."""
    orbits = script("orbits")
    hopf = orbits.case_of(2).hopf()
    last = hopf.orbits(to=77)[-1]
    assert orbits.reference(2, 77, last) == pytest.approx(last.period, rel=1e-12)
    assert last.period == pytest.approx(hopf.period(77), rel=1e-3)
    right, wrong, short = (
        {"by default": orbits.Branch(points=1, seconds=1.0, processor=1.0, period=period, load=load)}
        for period, load in ((last.period, 77), (last.period * (1 + 2e-10), 77), (last.period, 76.9))
    )
    orbits.verified(2, 77, hopf, right, None)
    with pytest.raises(SystemExit, match="the period at F = 77 against shooting"):
        orbits.verified(2, 77, hopf, wrong, None)
    with pytest.raises(SystemExit, match="the load at the end of the branch"):
        orbits.verified(2, 77, hopf, short, None)


def test_the_dense_search_finds_the_published_load(script):
    """The double pendulum of Cazzolli et al. (2020): 76.338 with c_i = 1.5, in closed form."""
    dense = script("dense")
    column = dense.straight(2, M_L=15.0, I_L=15.0, k1=50.0, c_i=1.5)
    found = dense.first_crossing(dense.growth(column), 150)
    assert found == pytest.approx(64 * 1.5**2 / 723 + 4410529058 / 57927483, rel=1e-12)
    matrices = pfaff.atlas.column(2).at(d="1/2", M_L=15, I_L=15, k1=50, c_i=1.5, F=found).linearise()
    assert np.allclose(column(found)[0], matrices.M[:2, :2], rtol=1e-14)
