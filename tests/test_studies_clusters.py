"""Studies on a Dask cluster, on the shell, and what samples tell."""

from __future__ import annotations

import json
import os
import signal

import numpy as np
import pytest
from click.testing import CliRunner
from matplotlib.contour import ContourSet
from scipy import stats

import pfaff
from conftest import XI_HAT
from pfaff.cli import app
from pfaff.errors import ParameterError

AXES = {"c_i": [0.5, 1.5, 3.0, 4.0], "M_L": [10.0, 15.0]}


@pytest.fixture(scope="module")
def case(skate):
    return skate.at(**XI_HAT, c_i=1.5)


@pytest.mark.slow
def test_a_dask_cluster_loses_a_worker_and_gives_the_same_bits(case, tmp_path):
    distributed = pytest.importorskip("distributed")
    study = case.sweep(AXES, measure=["hopf", "l1"], store=tmp_path / "a.zarr", chunk=1)  # more than are sent ahead
    with (
        distributed.LocalCluster(
            n_workers=1, threads_per_worker=1, dashboard_address=None, host="127.0.0.1", silence_logs=50
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        killed = []

        def kill_once(running):
            if not killed:
                killed.extend(client.run(os.getpid).values())
                os.kill(killed[0], signal.SIGKILL)

        def interrupt(running):
            raise KeyboardInterrupt

        study.run(client=client, progress=interrupt)
        assert not study.complete
        assert not client.futures or all(each.status == "cancelled" for each in client.futures.values())
        study.run(client=client, progress=kill_once)
        with pytest.raises(ParameterError, match="no client of Dask"):
            case.sweep({"c_i": [1.0]}, measure="hopf").run(client=3)
    here = case.sweep(AXES, measure=["hopf", "l1"], chunk=2).run()
    assert killed
    assert study.counts == {"done": 8}
    for name in ("hopf", "l1"):
        np.testing.assert_array_equal(study.dataset[name].to_numpy(), here.dataset[name].to_numpy())


def test_the_shell_begins_runs_and_draws(tmp_path, case):
    store, picture = tmp_path / "map.zarr", tmp_path / "map.png"
    system = ["column", *(f"--set={name}={value}" for name, value in XI_HAT.items())]

    def call(*words):
        result = CliRunner().invoke(app, ["sweep", *map(str, words)], catch_exceptions=False)
        assert result.exit_code == 0, result.output
        return result.output

    axes = ["--axis", "c_i=0.5:2.5:3", "--axis", "M_L=10,15", "--measure", "hopf", "--measure", "omega", "--chunk", 2]
    assert json.loads(call("new", store, *system, *axes, "--json"))["counts"] == {"pending": 6}
    assert "2 of 6 points" in call("run", store, "--part", "2/3")
    assert "6 of 6 points" in call("run", store, "--workers", "1")
    assert json.loads(call("status", store, "--json"))["counts"] == {"done": 6}
    assert "6 of 6" in call("retry", store, "all")
    call("plot", store, "omega", "--at", "M_L=15", "--plot", picture)
    assert picture.stat().st_size > 5000
    there = float(pfaff.open_sweep(store).dataset["hopf"].sel(c_i=1.5, M_L=15))
    assert there == pytest.approx(76.33797038963, rel=1e-12)


def test_a_linear_measure_has_known_quantiles_and_indices():
    """3a + b with a and b uniform: variances 9 : 1, quantiles by symmetry, no interaction."""
    import sympy as sm

    x = sm.Symbol("x")
    a, b = sm.symbols("a b", real=True)
    plain = pfaff.ode({x: a * x + b}, parameters={a: 1, b: 1}).at()
    points = pfaff.sobol(256, indices=True, a=(0, 1), b=stats.uniform(0, 1))
    study = plain.sweep(points, measure={"sum": lambda case: 3 * case.values["a"] + case.values["b"]}).run()
    assert points.size == 256 * 4
    found = study.indices("sum")
    assert found.first == pytest.approx({"a": 0.9, "b": 0.1}, abs=0.02)
    assert found.total == pytest.approx({"a": 0.9, "b": 0.1}, abs=0.02)
    assert study.quantiles("sum", [0.5])[0.5] == pytest.approx(2, abs=0.02)
    half = study.probability("sum", 2.0)
    assert half.value == pytest.approx(0.5, abs=0.01)
    assert half.error == pytest.approx(0.5 / np.sqrt(512), rel=1e-2)
    for fig in (found.plot(), half.plot(), study.plot()):
        assert fig.axes


def test_what_a_sample_cannot_tell_is_refused(case):
    with pytest.raises(ParameterError, match="no power of two"):
        pfaff.sobol(100, indices=True, c_i=(1, 2))
    with pytest.raises(ParameterError, match="smaller end first"):
        pfaff.sobol(16, c_i=(2, 1))
    study = case.sweep({"c_i": [1.0, 2.0]}, measure="hopf")
    with pytest.raises(ParameterError, match="2 pending of 2 points"):
        study.probability("hopf", 76)
    with pytest.raises(ParameterError, match="are of samples"):
        study.run().quantiles("hopf")


def test_samples_of_any_number_are_told_in_a_line(recwarn):
    few = pfaff.sobol(100, seed=3, c_i=(1, 4))
    np.testing.assert_array_equal(few.coordinates["c_i"], pfaff.sobol(128, seed=3, c_i=(1, 4)).coordinates["c_i"][:100])
    assert not recwarn.list
    assert repr(few).startswith("<100 points: c_i 1.")


def test_lines_of_maps_are_at_round_values(case):
    study = case.sweep({"c_i": np.linspace(0.5, 3, 6), "M_L": np.linspace(8, 20, 6)}, measure=["l1"]).run()
    axes = study.plot("l1").axes[0]
    sets = [each for each in axes.collections if isinstance(each, ContourSet) and not each.filled]
    (lines,) = [each.levels for each in sets if list(each.levels) != [0.0]]
    step = lines[1] - lines[0]
    mantissa = step / 10 ** np.floor(np.log10(step))
    assert min(abs(mantissa - each) for each in (1, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10)) < 1e-9


def test_the_probability_of_flutter_below_a_load(case):
    """The load grows with c_i alone, 64 c_i²/723 + const: the probability follows from the distribution of c_i."""
    points = pfaff.sobol(4096, c_i=stats.uniform(1, 3))
    study = case.sweep(points, measure="flutter").run()
    constant = 4410529058 / 57927483
    below = 64 * 2.5**2 / 723 + constant
    found = study.probability("flutter", below)
    assert found.value == pytest.approx(0.5, abs=1e-3)
    assert "± 0.0078" in found.status
    assert study.batched == 4096


def test_maps_of_both_signs_have_their_zero_line(case):
    study = case.sweep({"c_i": np.linspace(10, 30, 5), "M_L": [5.0, 10.0, 15.0]}, measure=["l1", "hopf"]).run()
    assert study.plot("l1").axes[0].get_legend().get_texts()[0].get_text() == "$l_{1}$ = 0"
    assert study.plot("hopf").axes[0].get_legend() is None
    with pytest.raises(ParameterError, match="no axis 'k1'"):
        study.plot("l1", k1=3)


def _spiked(case):
    k = case.values["a"]
    return 1 + k + (1e4 if k > 0.99 and case.values["b"] > 0.99 else 0)


def test_a_value_far_away_leaves_the_colours_to_the_others():
    import sympy as sm

    x, a, b = sm.symbols("x a b", real=True)
    plain = pfaff.ode({x: a * x + b}, parameters={a: 1, b: 1}).at()
    side = np.linspace(0, 1, 8)
    study = plain.sweep({"a": side, "b": side}, measure={"spike": _spiked}).run()
    (filled,) = [each for each in study.plot("spike").axes[0].collections if getattr(each, "filled", False)]
    assert (filled.levels < 3).sum() > 10
    assert filled.extend == "max"
    with pytest.raises(ParameterError, match="a=7 is not on its axis: hold it between 0 and 1"):
        study.plot("spike", a=7)


def test_a_bar_of_a_sample_is_below_the_value_or_is_not(case):
    study = case.sweep(pfaff.sobol(64, c_i=(1, 4)), "flutter").run()
    found = study.probability("flutter", 76.5)
    assert repr(found) == f"<{found.status}>"
    bars = [bar for bar in found.plot().axes[0].patches if bar.get_height()]
    assert not [bar for bar in bars if bar.get_x() < 76.5 - 1e-9 and bar.get_x() + bar.get_width() > 76.5 + 1e-9]
    assert sum(bar.get_height() for bar in bars) == 64
    with pytest.raises(ParameterError, match="leave out c_i"):
        study.plot("flutter", c_i=2)
