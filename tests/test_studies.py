"""Studies: what they compute, what they keep, and what survives."""

from __future__ import annotations

import hashlib
import importlib.util
import json
import math
import os
import signal
import subprocess
import sys
import time
import types
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import sympy as sm
from scipy import stats

import pfaff
from conftest import XI_HAT, shell
from pfaff.errors import ParameterError, PfaffError
from pfaff.statement import TIME, coordinates
from pfaff.studies.executors import Processes
from pfaff.studies.named_files import function_from, function_origin
from pfaff.studies.points import chunks_of
from pfaff.studies.recipe import fingerprint
from pfaff.studies.sweep import SINGLE
from pfaff.studies.zarr_store import ZarrStore

AXES = {"c_i": [0.5, 1.5, 3.0], "M_L": [10.0, 15.0]}
OWN = """
import os, time, sympy as sm, pfaff

x, y = sm.symbols("x y")
mu, a = sm.symbols("mu a", real=True)
spiral = pfaff.ode({x: mu * x - y + a * x**3, y: x + mu * y + a * y**3}, parameters={mu: -1, a: -1}, load=mu)
case = spiral.at()

def slow(case):
    time.sleep(0.02)
    return float(case.values["mu"]) ** 3 / 3

SEEN, STOP = [], set()

def counted(case):
    SEEN.append(float(case.values["mu"]))
    if SEEN[-1] in STOP:
        raise KeyboardInterrupt
    return 2 * SEEN[-1]

def followed(case):
    def stop(point):
        if float(case.values["a"]) in STOP:
            raise KeyboardInterrupt

    return case.branch(to=1, progress=stop)[-1].value

def cruel(case):
    mu = float(case.values["mu"])
    if mu == 2:
        time.sleep(1000)
    if mu == 3:
        os.kill(os.getpid(), 9)
    if mu == 4:
        raise ValueError("four is refused")
    return None if mu == 5 else 10 * mu
"""


@pytest.fixture
def own(tmp_path):
    path = tmp_path / "own.py"
    path.write_text(OWN)
    spec = importlib.util.spec_from_file_location(f"own_{tmp_path.name}", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    yield module
    del sys.modules[spec.name]


@pytest.fixture(scope="module")
def case(skate):
    return skate.at(**XI_HAT, c_i=1.5)


@pytest.mark.parametrize("name", ["foreign.nc", "foreign.zarr"])
def test_a_store_that_is_something_else_is_left_alone(skate, tmp_path, name):
    path = tmp_path / name
    if path.suffix == ".zarr":
        path.mkdir()
    foreign = path / "notes.txt" if path.is_dir() else path
    foreign.write_text("mine")
    with pytest.raises(ParameterError, match="foreign.*name another store, or remove this"):
        skate.at(**XI_HAT).sweep(AXES, ["flutter"], path)
    assert foreign.read_text() == "mine"


def test_a_grid_gives_what_single_calls_give(case):
    study = case.sweep(AXES, measure=["hopf", "omega", "l1", "criticality", "crossing_speed"]).run()
    data = study.dataset
    assert data["l1"].dims == ("c_i", "M_L")
    hopf = case.at(c_i=3.0, M_L=10.0).hopf()
    there = data.sel(c_i=3.0, M_L=10.0)
    found = {name: float(there[name]) for name in ("hopf", "omega", "l1", "crossing_speed", "criticality")}
    expected = (hopf.value, hopf.omega, hopf.l1, hopf.crossing_speed, -1.0)
    assert found == pytest.approx(dict(zip(found, expected, strict=True)), rel=1e-10)
    assert study.complete
    assert study.status == "6 of 6 points"


def test_no_answer_is_an_answer_and_a_failure_has_its_reason(case):
    points = [{"c_i": 0.0, "M_L": 15.0}, {"c_i": 1.5, "M_L": 15.0}, {"c_i": 1.5, "M_L": -1.0}]
    study = case.sweep(points, measure=["flutter", "l1"]).run()
    assert study.counts == {"done": 1, "none": 1, "failed": 1}
    assert study.dataset["flutter"].values == pytest.approx([76.2073258262292, 76.33797038963, np.nan], nan_ok=True)
    (failure,) = study.failures
    assert failure["point"] == {"c_i": 1.5, "M_L": -1.0}
    assert "M_L=-1.0" in failure["reason"]
    assert "1 failed" in study.status


def test_functions_of_a_case_and_measures_of_rest_and_motion(case):
    def twice(case):
        return {"double": 2 * float(case.values["c_i"]), "sign": case.values["c_i"] > 1}

    motion = {"end": {"duration": 2, "of": ["theta1"], "theta1_dot": 0.01, "theta2_dot": 0.01}}
    study = case.at(F=80).sweep({"c_i": [0.5, 1.5]}, measure=[twice, "stable", "growth"]).run()
    data = study.dataset
    np.testing.assert_array_equal(data["double"], [1.0, 3.0])
    np.testing.assert_array_equal(data["sign"], [0.0, 1.0])
    np.testing.assert_array_equal(data["stable"], [0.0, 0.0])
    spectrum = case.spectrum(F=80)
    assert float(data["growth"][1]) == pytest.approx(spectrum.values.real.max(), rel=1e-12)
    moved = case.at(F=80).sweep({"c_i": [1.5]}, measure=motion).run().dataset["end_theta1"]
    expected = case.at(F=80).simulate(2, samples=2, theta1_dot=0.01, theta2_dot=0.01)["theta1"][-1]
    assert float(moved[0]) == expected


def test_the_cycle_at_a_load():
    """A circle of radius √F, once round in 2π/w; what is off it comes back with exp(−4πF/w)."""
    x, y = sm.symbols("x y")
    F, w = sm.symbols("F w", real=True)
    left = F - x**2 - y**2
    circle = pfaff.ode({x: left * x - w * y, y: left * y + w * x}, parameters={F: -1, w: 1}, load=F)
    names = ["period", "amplitude", "multiplier"]
    study = circle.at().sweep({"F": [0.04], "w": [1.0, 2.0]}, measure=names, to=-1.0).run()
    turn = 2 * np.pi / np.array([[1.0, 2.0]])
    np.testing.assert_allclose(study.dataset["period"], turn, rtol=1e-9)
    np.testing.assert_allclose(study.dataset["amplitude"], 0.2, rtol=1e-6)
    np.testing.assert_allclose(study.dataset["multiplier"], np.exp(-2 * 0.04 * turn), rtol=1e-6)


def test_a_subcritical_cycle_that_turns_far_behind_is_measured():
    """ṙ = μ r + r³ − r⁵ folds at μ = −1/4, five times as far behind its birth as the load that is asked for."""
    x, y = sm.symbols("x y")
    mu = sm.Symbol("mu", real=True)
    radial = mu + (x**2 + y**2) - (x**2 + y**2) ** 2
    bautin = pfaff.ode({x: radial * x - y, y: x + radial * y}, parameters={mu: -1}, load=mu)
    study = bautin.at().sweep({"mu": [0.05]}, "amplitude", to=-1).run()
    np.testing.assert_allclose(study.dataset["amplitude"], math.sqrt((1 + math.sqrt(1.2)) / 2), rtol=1e-6)


def test_a_rod_and_loads_without_batches():
    """What batches do not know goes to single searches: any load of a rod, buckling and divergence of any system."""
    rod = pfaff.atlas.rod(modes=3).at(M_L=0.5, eta=0.01)
    study = rod.sweep({"M_L": [0.2, 0.5]}, measure=["hopf", "omega"]).run()
    assert (study.counts, study.batched) == ({"done": 2}, 0)
    assert float(study.dataset["hopf"][1]) == rod.hopf().value
    assert math.prod(rod.sweep({"M_L": np.linspace(0.1, 1, 500)}, measure="flutter").chunks.chunk) == SINGLE
    ziegler = pfaff.atlas.ziegler().at()
    static = ziegler.sweep({"k": [1.0, 2.0]}, measure=["divergence", "buckling"]).run()
    assert static.batched == 0
    loads = ziegler.at(k=2).critical()
    found = static.dataset.sel(k=2.0)
    assert [float(found[name]) for name in ("divergence", "buckling")] == pytest.approx(
        [loads.divergence.value, math.nan], nan_ok=True, rel=1e-14
    )


def test_every_store_gives_the_same_bits_in_any_order(case, tmp_path):
    names = ["hopf", "l1"]
    here = case.sweep(AXES, measure=names, chunk=2).run().dataset
    for store in ("a.zarr", "a.nc"):
        study = case.sweep(AXES, measure=names, chunk=2, store=tmp_path / store)
        study.run(part="2/2")
        assert study.counts["pending"] == 4
        again = pfaff.open_sweep(tmp_path / store).run(part=(1, 2))
        assert again.complete
        for name in (*names, "state"):
            np.testing.assert_array_equal(again.dataset[name].to_numpy(), here[name].to_numpy())
    saved = pfaff.open_sweep(tmp_path / "a.zarr").save(tmp_path / "b.nc")
    for path in (saved, tmp_path / "a.zarr"):
        for again in (pfaff.open_sweep(path), pfaff.load(path), pfaff.load(path, case)):
            assert again.complete
            np.testing.assert_array_equal(again.dataset["l1"], here["l1"])


def test_another_study_in_the_same_store_is_refused(case, tmp_path):
    store = tmp_path / "a.zarr"
    case.sweep(AXES, measure=["hopf"], store=store)
    case.sweep(AXES, measure=["hopf"], store=store)
    pfaff.atlas.column(2).at(**XI_HAT, c_i=1.5).sweep(AXES, measure=["hopf"], store=store)
    for other, axes, measure, said in (
        (case.at(k1=20), AXES, ["hopf"], "another study: k1 was 50, is 20"),
        (case, {**AXES, "c_i": [1.0]}, ["hopf"], "the points were [0-9]+ × [0-9]+, are 1 × [0-9]+"),
        (case, AXES, ["l1"], "the measures were hopf, are l1"),
        (
            case,
            {**AXES, "c_i": [7.0 + x for x in AXES["c_i"]]},
            ["hopf"],
            r"the points have other values of c_i and M_L\. ",
        ),
        (
            pfaff.atlas.column(3).at(**XI_HAT, c_i=1.5),
            AXES,
            ["hopf"],
            r"system was column\(bars=2.*, is column\(bars=3\)",
        ),
    ):
        with pytest.raises(ParameterError, match=said):
            other.sweep(axes, measure=measure, store=store)
    path = store / "zarr.json"
    noted = json.loads(path.read_text())
    noted["attributes"]["recipe"]["pfaff"] = "0.0.9"
    path.write_text(json.dumps(noted))
    assert pfaff.open_sweep(store).counts == {"pending": 6}  # numbers are read, whoever wrote them
    with pytest.raises(ParameterError, match="pfaff was 0.0.9.*accept=True"):
        pfaff.open_sweep(store).run()
    assert pfaff.open_sweep(store, accept=True).run().complete


def test_a_system_of_ones_own_is_found_again_by_its_file(own, tmp_path):
    store = tmp_path / "own.zarr"
    study = own.case.sweep({"mu": [1.0, 2.0]}, measure=own.slow, store=store)
    assert study.recipe["system"]["file"] == own.__file__
    assert pfaff.open_sweep(store, trust=True).run().dataset["slow"].values == pytest.approx([1 / 3, 8 / 3])
    Path(own.__file__).write_text(OWN + "\n# changed")
    with pytest.raises(ParameterError, match="has changed since"):
        pfaff.open_sweep(store, trust=True)


def test_a_file_that_states_a_system_is_asked_before_one_that_uses_it(own, tmp_path, monkeypatch):
    """The script imports its case: what it does with it is not done again, and what fails in such a file is told."""
    script = tmp_path / "script.py"
    script.write_text("raise ValueError('twice')")
    user = types.ModuleType("__main__ of a test")
    user.__file__, user.spiral = str(script), own.spiral
    monkeypatch.setitem(sys.modules, user.__name__, user)
    sys.modules[own.__name__] = sys.modules.pop(own.__name__)  # imported by the script, hence after it
    about = own.case.sweep({"mu": [1.0]}, "stable", tmp_path / "own.zarr").recipe["system"]
    assert (about["file"], about["called"]) == (own.__file__, "spiral")
    with pytest.raises(ParameterError, match=r"script.py, which .*: ValueError: twice\. Put what it computes under"):
        function_from({**about, "file": str(script), "sha256": hashlib.sha256(script.read_bytes()).hexdigest()})


def test_rods_of_other_sections_are_other_systems():
    def rod(**section):
        (X,), F = pfaff.statement.coordinates("X"), sm.Symbol("F")
        part = pfaff.Rod(modes=2, base=(X, 0, 0), **section)
        return pfaff.System([X], rods=[part], potential=-F * X, parameters={F: 0}, load=F)

    def stepped(s):
        return 1 + math.floor(2 * s)

    others = {"length": 2}, {"bending": lambda s: 2 - s}, {"mass": stepped}, {"retardation": 0.1}
    prints = [fingerprint(rod(**each)) for each in ({}, *others)]
    assert len(set(prints)) == len(prints)
    assert fingerprint(rod(mass=stepped)) == prints[3]


def test_a_study_asked_for_by_another_script_says_whose_it_is(own, tmp_path):
    store, axes = tmp_path / "own.zarr", {"mu": [1.0, 2.0]}
    own.case.sweep(axes, measure=own.slow, store=store)
    elsewhere = Path(own.__file__).with_name("another.py")
    elsewhere.write_text(OWN)
    names: dict = {}
    exec(compile(OWN, str(elsewhere), "exec"), names)
    with pytest.raises(
        ParameterError, match=rf"slow of {own.__file__}, and slow of {elsewhere}.*open_sweep\(store, trust=True\)"
    ):
        own.case.sweep(axes, measure=names["slow"], store=store)
    Path(own.__file__).write_text(OWN + "\n# changed")
    with pytest.raises(ParameterError, match=rf"{own.__file__}, where .* is, has changed since.*another store"):
        own.case.sweep(axes, measure=own.slow, store=store)
    Path(own.__file__).write_text(OWN.replace("def slow", "def fast"))
    with pytest.raises(ParameterError, match=r"own.py has no function 'slow', which measures this study"):
        function_from({**function_origin(own.slow), "called": "slow"})


def test_a_point_that_hangs_or_kills_costs_only_itself(own, tmp_path):
    study = own.case.sweep(
        {"mu": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]}, measure={"ten": own.cruel}, store=tmp_path / "a.zarr", chunk=3
    )
    study.run(workers=2, timeout=1.0)
    np.testing.assert_array_equal(study.dataset["ten"], [10, np.nan, np.nan, np.nan, np.nan, 60])
    assert study.counts == {"done": 2, "none": 1, "failed": 1, "timed out": 1, "crashed": 1}
    reasons = {each["state"]: each["reason"] for each in study.failures}
    assert reasons["failed"] == "ValueError: four is refused"
    assert "no result after 1 s" in reasons["timed out"]
    before = study.dataset["ten"].to_numpy()
    study.retry("failed")
    assert study.counts["failed"] == 1
    np.testing.assert_array_equal(study.dataset["ten"], before)


RUN = """
import sys; sys.path.insert(0, {folder!r})
import numpy as np, own
own.case.sweep({{"mu": np.arange(200.0)}}, measure=own.slow, store={store!r}, chunk=5).run(workers=2)
"""


def test_killed_and_resumed_equals_uninterrupted(own, tmp_path):
    """Kill −9 of a worker, then of the whole run; what is in the store is used, and the rest done."""
    store, folder = tmp_path / "a.zarr", Path(own.__file__).parent
    script = RUN.format(folder=str(folder), store=str(store))
    run = subprocess.Popen([sys.executable, "-c", script], start_new_session=True)
    _until(lambda: _marks(store) >= 3)
    workers = [int(p) for p in _children(run.pid)]
    os.kill(workers[0], signal.SIGKILL)
    marks = _marks(store)
    _until(lambda: _marks(store) >= marks + 5)
    assert run.poll() is None
    for process in (run.pid, *map(int, _children(run.pid))):
        os.kill(process, signal.SIGKILL)
    run.wait()
    done = _marks(store)
    assert 8 <= done < 40
    study = pfaff.open_sweep(store, trust=True)
    told = []
    study.run(progress=told.append)
    assert told[-1].done == 200 - 5 * done
    whole = own.case.sweep({"mu": np.arange(200.0)}, measure=own.slow).run()
    np.testing.assert_array_equal(study.dataset["slow"], whole.dataset["slow"])
    assert study.counts == {"done": 200}


def _marks(store: Path) -> int:
    return len([p for p in (store / "state" / "c").glob("*") if "." not in p.name]) if (store / "state").exists() else 0


def _children(pid: int) -> list[str]:
    return Path(f"/proc/{pid}/task/{pid}/children").read_text().split()


def _until(true, seconds=60.0):
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end
        time.sleep(0.01)


def test_a_full_disk_stops_the_run_and_marks_nothing(own, tmp_path, monkeypatch):
    study = own.case.sweep({"mu": [1.0, 2.0]}, measure=own.slow, store=tmp_path / "a.zarr", chunk=1).run(part="1/2")
    from pfaff.studies import zarr_store

    def refuse(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(zarr_store.ZarrStore, "write", refuse)
    with pytest.raises(PfaffError, match=r"No space left.*Make room"):
        study.run()
    monkeypatch.undo()
    assert study.counts == {"pending": 1, "done": 1}


def test_an_axis_called_like_a_column_is_refused():
    (x,) = coordinates("x")
    k = sm.Symbol("state", positive=True)
    mass = pfaff.System([x], x.diff(TIME) ** 2 / 2, k * x**2 / 2, parameters={k: 1}).at()
    with pytest.raises(ParameterError, match="an axis may not be called state"):
        mass.sweep({"state": [1.0, 2.0]}, measure=["stable"])


@pytest.mark.parametrize("part", [np.array(3.0, ">f8").tobytes(), b'"measures"', b"reasons", b"CDF"])
def test_a_damaged_file_of_a_study_says_so(own, tmp_path, part):
    """One bit of a coordinate, of the recipe, of a note's name, or of the head."""
    path = tmp_path / "a.nc"
    own.case.sweep({"mu": [1.0, 2.0, 3.0]}, measure=own.slow, store=path).run()
    content = bytearray(path.read_bytes())
    content[content.index(part) + 1] ^= 4
    path.write_bytes(content)
    with pytest.raises(ParameterError, match=r"a\.nc: it .*(damaged|no netCDF)"):
        pfaff.open_sweep(path, case=own.case)


def test_ctrl_c_keeps_what_was_done(own, capsys):
    def stop(running):
        if running.done == 2:
            raise KeyboardInterrupt

    study = own.case.sweep({"mu": [1.0, 2.0, 3.0]}, measure=own.slow, chunk=1).run(progress=stop)
    assert study.counts == {"pending": 1, "done": 2}
    assert "2 of 3 points" in capsys.readouterr().err
    assert study.interrupted
    assert study.run().complete
    assert not study.interrupted


def test_ctrl_c_inside_a_point_ends_the_run_and_is_no_answer(own):
    """A branch by itself would keep what it has; here that would be recorded as the number that was asked for."""
    own.STOP.add(-2.0)
    study = own.case.sweep({"a": [-1.0, -2.0, -3.0]}, measure={"end": own.followed}).run()
    assert study.interrupted
    assert study.status == "0 of 3 points, and 1 more in chunks that are not complete"
    own.STOP.clear()
    assert study.run().dataset["end"].values == pytest.approx([1, 1, 1])


def test_an_interrupted_sweep_says_so_by_its_exit_code(skate, tmp_path, monkeypatch):
    skate.at(c_i=1).sweep({"c_i": [1.0, 2.0]}, store=tmp_path / "a.nc")
    monkeypatch.setattr("pfaff.studies.study.serial", lambda *order: signal.raise_signal(signal.SIGINT))
    done = shell("sweep", "run", str(tmp_path / "a.nc"), "--json")
    assert done.returncode == 130
    assert json.loads(done.stdout)["counts"] == {"pending": 2}
    assert done.stderr == "interrupted: 0 of 2 points; run again to go on\n"


@pytest.mark.parametrize("store", [None, "a.nc", "a.zarr"])
def test_ctrl_c_keeps_the_points_of_the_chunk_in_hand(own, tmp_path, store, capsys):
    """Interrupted at the fourth point of a chunk of six: the first three are not computed again."""
    path = None if store is None else tmp_path / store
    study = own.case.sweep({"mu": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]}, measure=own.counted, store=path)
    own.SEEN.clear()
    own.STOP.add(4.0)
    assert study.run().counts == {"pending": 6}
    assert "and 3 more in chunks that are not complete" in capsys.readouterr().err
    again = study if path is None else pfaff.open_sweep(path, case=own.case)
    assert again.status == "0 of 6 points, and 3 more in chunks that are not complete"
    own.STOP.clear()
    again = replace(again, job=study.job).run()
    assert own.SEEN == [1, 2, 3, 4, 4, 5, 6]
    np.testing.assert_array_equal(again.dataset["counted"], [2, 4, 6, 8, 10, 12])


def test_ctrl_c_keeps_the_points_of_processes(own, tmp_path, monkeypatch):
    study = own.case.sweep({"mu": np.arange(50.0)}, measure=own.slow, store=tmp_path / "a.zarr")
    keep = Processes._keep

    def stop(processes, worker, k, outcome):
        keep(processes, worker, k, outcome)
        if k == 3:
            raise KeyboardInterrupt

    monkeypatch.setattr(Processes, "_keep", stop)
    study.run(workers=1)
    kept = study.store.kept(0)
    assert list(kept) == [0, 1, 2, 3]
    assert kept[3].values == {"slow": 9.0}
    monkeypatch.undo()
    assert study.run().counts == {"done": 50}
    assert not study.store.kept(0)


def test_options_of_processes_are_refused_on_a_cluster(own):
    for option in ({"timeout": 1.0}, {"workers": 2}):
        with pytest.raises(ParameterError, match=f"{next(iter(option))}= is for processes"):
            own.case.sweep({"mu": [1.0]}, measure=own.slow).run(client=object(), **option)


def test_points_in_chunks_are_runs_that_cover_them_once():
    for shape, most in (((7, 5, 3), 15), ((7, 5, 3), 30), ((10,), 4), ((3, 100), 7), ((1, 1), 5)):
        chunks = chunks_of(shape, most)
        places = np.concatenate([chunks.places(k) for k in range(len(chunks))])
        assert all(chunks.size(k) <= most for k in range(len(chunks)))
        np.testing.assert_array_equal(np.sort(places), np.arange(np.prod(shape)))
        grid = np.arange(np.prod(shape)).reshape(shape)
        for k in range(len(chunks)):
            np.testing.assert_array_equal(grid[chunks.slices(k)].ravel(), chunks.places(k))


def test_samples_follow_their_distributions():
    points = pfaff.sobol(4096, seed=3, c_i=(1, 4), M_L=stats.norm(15, 2))
    assert points.coordinates["c_i"].mean() == pytest.approx(2.5, abs=1e-3)
    assert points.coordinates["M_L"].std() == pytest.approx(2, rel=2e-3)
    assert stats.kstest(points.coordinates["M_L"], stats.norm(15, 2).cdf).statistic < 1e-3
    same = pfaff.sobol(4096, seed=3, c_i=(1, 4), M_L=stats.norm(15, 2))
    assert same.digest == points.digest != pfaff.sobol(4096, seed=4, c_i=(1, 4), M_L=stats.norm(15, 2)).digest


@pytest.mark.parametrize(
    ("axes", "options", "said"),
    [
        ({}, {}, "at least one axis"),
        ({"c_x": [1]}, {}, "no parameter or coordinate 'c_x'"),
        ({"c_i": [1, 1]}, {}, "a value twice"),
        ({"c_i": [np.nan]}, {}, "finite values"),
        ({"c_i": [1]}, {"measure": "fluter"}, "did you mean 'flutter'"),
        ({"c_i": [1]}, {"measure": []}, "what is to be measured"),
        ({"c_i": [1]}, {"measure": {"end": {}}}, "needs a duration"),
        ({"F": [1]}, {"load": "F"}, "what is searched"),
        ({"F": [1]}, {"measure": ["stable", "flutter"]}, "flutter is searched in F, which is an axis.*'growth' over F"),
        ({"F": [1, 2]}, {"measure": ["omega", "growth"]}, "omega is searched in F, which is an axis"),
        ({"c_i": [1.0]}, {"measure": "hopf", "to": 0}, "to=0 is where the search in F begins"),
        ([{"c_i": 1}, {"M_L": 1}], {}, "point 1 of the list"),
        ({"c_i": [1]}, {"measure": lambda case: 1.0, "store": "a.zarr"}, "not a function at the top of a file"),
        ({"c_i": [1.0]}, {"to": "far"}, "to='far' is not a number"),
        ({"c_i": [1.0]}, {"to": -5}, "to=-5.0: the load is searched from zero to a positive"),
        ({"c_i": [1.0]}, {"load": "G"}, "no parameter or coordinate 'G'"),
    ],
)
def test_what_cannot_be_studied_is_refused(case, axes, options, said):
    with pytest.raises(ParameterError, match=said):
        case.sweep(axes, **options)


def test_an_end_may_be_a_fraction(case):
    """As in single searches, which take text for exact numbers."""
    assert case.sweep({"c_i": [1.0, 2.0]}, "hopf", to="1/2").job.asked.to == 0.5


def test_stores_are_there_from_the_first_moment(tmp_path, skate):
    case = skate.at(**XI_HAT, c_i=1.5)
    case.sweep({"c_i": [1, 2]}, "flutter", tmp_path / "a.nc")
    assert "0 of 2 points" in pfaff.open_sweep(tmp_path / "a.nc").status
    with pytest.raises(ParameterError, match="cannot write"):
        case.sweep({"c_i": [1, 2]}, "flutter", tmp_path / "none" / "a.nc")
    with pytest.raises(ParameterError, match="ends in .zarr"):
        case.sweep({"c_i": [1, 2]}, "flutter", tmp_path / "a.txt")


def test_an_end_at_zero_is_one_where_the_search_begins_elsewhere():
    x, y, mu = sm.symbols("x y mu")
    system = pfaff.ode({x: -y - mu * x, y: x - mu * y}, parameters={mu: 1}, load=mu)
    with pytest.raises(ParameterError, match="to=1 is where the search in mu begins"):
        system.at().sweep([{"mu": 1.0}], "hopf", to=1)
    assert system.at().sweep([{"mu": 1.0}, {"mu": 2.0}], "hopf", to=0).job.asked.to == 0.0


def _cut(store, name):
    (store / name / "c" / "0").write_bytes(b"xx")


@pytest.mark.parametrize(
    ("harm", "said"),
    [
        (lambda store: _cut(store, "state"), "is damaged: state of the chunk 0 .*Delete .*state/c/0, and run again"),
        (lambda store: _cut(store, "hopf"), "is damaged: hopf of the chunk 0"),
        (lambda store: (store / "hopf" / "zarr.json").unlink(), "holds no study that can be read .it has no 'hopf'"),
        (lambda store: (store / "state" / "zarr.json").write_text("{"), "holds no study that can be read"),
        (lambda store: _recipe(store, chunk=[0]), "chunk of its recipe is none"),
        (lambda store: _recipe(store, asked={"far": 1}), "asked of its recipe is none"),
        (lambda store: _recipe(store, system={"name": "a", "fingerprint": "b", "atlas": "c"}), "the atlas has no c"),
    ],
)
def test_a_damaged_store_says_so(skate, tmp_path, harm, said):
    store = tmp_path / "a.zarr"
    skate.at(**XI_HAT, c_i=1.5).sweep({"c_i": [1.0, 2.0, 3.0]}, "hopf", store, chunk=2).run(part="1/2")
    harm(store)
    with pytest.raises(ParameterError, match=said):
        pfaff.open_sweep(store).retry("all").run()


def _recipe(store, **changed):
    noted = json.loads((store / "zarr.json").read_text())
    noted["attributes"]["recipe"].update(changed)
    (store / "zarr.json").write_text(json.dumps(noted))


def test_what_is_lost_of_a_store_is_computed_again(skate, tmp_path):
    """A flipped bit is no number, a lost file no answer, and points put aside that cannot be read are no points."""
    case, store, axes = skate.at(**XI_HAT, c_i=1.5), tmp_path / "a.zarr", {"c_i": np.linspace(1, 2, 64)}
    whole = case.sweep(axes, "hopf", store, chunk=32).run().dataset["hopf"].to_numpy()
    chunk = store / "hopf" / "c" / "1"
    flipped = bytearray(chunk.read_bytes())
    flipped[len(flipped) // 2] ^= 1
    chunk.write_bytes(flipped)
    with pytest.raises(ParameterError, match="hopf of the chunk 1 cannot be read"):
        pfaff.open_sweep(store).store.read(1)
    harmed = pfaff.open_sweep(store).dataset
    np.testing.assert_array_equal(harmed["hopf"][:32], whole[:32])  # what is whole can still be read
    with pytest.raises(ParameterError, match="hopf of the chunk 1 cannot be read"):
        harmed["hopf"].to_numpy()
    chunk.unlink()
    (store / "state" / "aside").mkdir()
    (store / "state" / "aside" / "1.json").write_text("{")
    assert pfaff.open_sweep(store).counts == {"pending": 32, "done": 32}
    np.testing.assert_array_equal(pfaff.open_sweep(store).run().dataset["hopf"], whole)


def test_runs_that_share_a_file_take_each_others_chunks(skate, tmp_path):
    case, store, axes = skate.at(**XI_HAT, c_i=1.5), tmp_path / "a.nc", {"c_i": [1.0, 2.0, 3.0, 4.0]}
    one, two = (case.sweep(axes, "hopf", store, chunk=2) for _ in range(2))
    one.run(part="1/2")
    assert two.run(part="2/2").complete
    assert pfaff.open_sweep(store).complete


def test_a_store_is_begun_whole_or_not_at_all(skate, tmp_path, monkeypatch):
    """And where another run was first, its store is taken."""
    case, store = skate.at(**XI_HAT, c_i=1.5), tmp_path / "a.zarr"
    axes = {"c_i": [1.0, 2.0]}
    made = ZarrStore._made

    def overtaken(self, path, recipe):
        made(self, path, recipe)
        made(self, store, recipe)

    monkeypatch.setattr(ZarrStore, "_made", overtaken)
    assert case.sweep(axes, "hopf", store).run().complete
    monkeypatch.setattr(ZarrStore, "_made", lambda self, path, recipe: path.mkdir() or (path / "no" / "x").touch())
    with pytest.raises(ParameterError, match=f"cannot write {tmp_path}/b.zarr: No such file"):
        case.sweep(axes, "hopf", tmp_path / "b.zarr")
    assert [each.name for each in tmp_path.iterdir()] == ["a.zarr"]
    with pytest.raises(ParameterError, match=f"cannot write {tmp_path}/none/a.nc: No such file"):
        case.sweep(axes, "hopf").run().save(tmp_path / "none" / "a.nc")


def test_the_mean_velocity_of_a_speed_is_its_mean():
    """A mass slowed by drag: v = exp(−c t) has the mean (1 − exp(−10 c))/(10 c), by whatever name it goes."""
    (x,), c = coordinates("x"), sm.Symbol("c", positive=True)
    v = x.diff(TIME)
    slowed = pfaff.System([x], v**2 / 2, dissipation=c * v**2 / 2, parameters={c: 1}, quasi_velocities={"v": v})
    asked = {"duration": 10, "of": ["x", "x_dot", "v"], "x_dot": 1.0}
    swept = slowed.at().sweep({"c": [0.001, 0.3]}, measure={"mean_velocity": asked}).run().dataset
    exact = [(1 - np.exp(-10 * c)) / (10 * c) for c in (0.001, 0.3)]
    for name in ("x", "x_dot", "v"):
        assert swept[f"mean_velocity_{name}"].values == pytest.approx(exact, rel=1e-12)
