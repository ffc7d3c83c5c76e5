"""Files from strangers: reading reads numbers, and nothing that a file names is run unless the caller asks for it."""

from __future__ import annotations

import importlib.util
import json
import pickle
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from copy import copy
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray

import pfaff
from conftest import shell
from pfaff.archive.stored import CHECKSUM, FORMAT, HOLDS, sealed
from pfaff.errors import ParameterError, PfaffError
from pfaff.studies.named_files import function_from

STATED = """
from pathlib import Path
import sympy as sm
import pfaff

Path(__file__).with_name("ran").write_text("ran")  # a sign that this file was run

x, y, mu = sm.symbols("x y mu", real=True)
spiral = pfaff.ode({x: mu * x - y - x**3, y: x + mu * y - y**3}, parameters={mu: -1}, load=mu)


def doubled(case):
    import helper  # lies beside this file, and is found when it is needed

    return helper.TWO * float(case.values["mu"])


def evil():
    Path(__file__).with_name("called").write_text("called")
"""
FORMATS = ("a.nc", "a.zarr")
AXES = {"mu": [1.0, 2.0, 3.0]}


class Theirs:
    """A folder from somebody else: a Python file, and studies that name it. ``ran`` tells whether it was run."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.file = folder, folder / "stated.py"
        self.file.write_text(STATED)
        (folder / "helper.py").write_text("TWO = 2")
        spec = importlib.util.spec_from_file_location("stated", self.file)
        self.module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(self.module)
        self.case = self.module.spiral.at()
        self.forget()

    def forget(self) -> None:
        for each in ("ran", "called"):
            (self.folder / each).unlink(missing_ok=True)

    @property
    def ran(self) -> bool:
        return (self.folder / "ran").exists() or (self.folder / "called").exists()

    def study(self, name: str, measure: Any = "stable", part: str = "1/2") -> Path:
        with pytest.MonkeyPatch.context() as patch:
            patch.syspath_prepend(self.folder)
            source = f"{self.file}:spiral"
            self.case.sweep(AXES, measure, self.folder / name, chunk=1, source=source).run(part=part)
        self.forget()
        sys.modules.pop("helper", None)
        for each in [each for each in sys.modules if each.startswith("pfaff study")]:
            del sys.modules[each]
        return self.folder / name

    def rewrite(self, store: Path, change: Callable[[dict[str, Any]], Any]) -> None:
        """Change a recipe as its author could: checksums are made anew."""
        if store.suffix == ".zarr":
            noted = json.loads((store / "zarr.json").read_text())
            change(noted["attributes"]["recipe"])
            (store / "zarr.json").write_text(json.dumps(noted))
            return
        with xarray.open_dataset(store, engine="scipy", decode_times=False) as stored:
            data = stored.load()
        recipe = json.loads(data.attrs["recipe"])
        change(recipe)
        for each in (CHECKSUM, HOLDS, FORMAT):
            data.attrs.pop(each)
        sealed("study", data.assign_attrs(recipe=json.dumps(recipe))).to_netcdf(store, engine="scipy")


@pytest.fixture
def theirs(tmp_path) -> Theirs:
    return Theirs(tmp_path)


def opening(store: Path) -> list[Callable[[], Any]]:
    return [lambda: pfaff.open_sweep(store), lambda: pfaff.load(store)]


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("measured", [False, True])
def test_reading_a_study_reads_numbers_and_runs_nothing(theirs, name, measured):
    store = theirs.study(name, theirs.module.doubled if measured else "stable")
    path = list(sys.path)
    for opened in opening(store):
        study = opened()
        (measure,) = study.names
        np.testing.assert_array_equal(study.dataset[measure], [2, np.nan, 6] if measured else [0, np.nan, 0])
        assert study.points.names == ("mu",)
        assert study.counts == {"done": 2, "pending": 1}
        assert (study.failures, study.status) == ([], "2 of 3 points")
        assert f"{theirs.file}:spiral" in study.runs
        study.plot()
        study.save(theirs.folder / "copy.nc")
        with pytest.raises(ParameterError, match=r"give the system, pfaff.open_sweep\(.*, case=…\).*trust=True"):
            study.run()
        with pytest.raises(ParameterError, match="trust=True"):
            study.run(workers=2)
    for command in (["status", str(store)], ["plot", str(store), "--plot", str(theirs.folder / "a.png")]):
        assert shell("sweep", *command).returncode == 0
    assert not theirs.ran
    assert sys.path == path


@pytest.mark.parametrize("name", FORMATS)
def test_the_caller_gives_the_system_and_nothing_is_run(theirs, name):
    for given in (theirs.case, theirs.module.spiral):
        (theirs.folder / "copies").mkdir(exist_ok=True)
        store = theirs.study(f"copies/{type(given).__name__}{name}")
        assert pfaff.open_sweep(store, given).run(workers=1).complete
        assert pfaff.load(store, given).complete
    assert not theirs.ran
    with pytest.raises(ParameterError, match="holds another study"):
        pfaff.open_sweep(store, pfaff.atlas.column(2).at())


@pytest.mark.parametrize("name", FORMATS)
def test_files_that_are_trusted_are_named_and_run(theirs, name, capsys):
    store = theirs.study(name, theirs.module.doubled)
    path = list(sys.path)
    study = pfaff.open_sweep(store, trust=True)
    said = capsys.readouterr().err
    assert f"{theirs.file}:spiral" in said
    assert f"{theirs.file}:doubled" in said
    assert theirs.ran
    assert sys.path == path
    assert study.run().dataset["doubled"].values.tolist() == [2, 4, 6]
    assert sys.path == path


def test_processes_run_what_the_caller_trusts(theirs):
    store = theirs.study("a.zarr", theirs.module.doubled)
    assert pfaff.load(store, trust=True).run(workers=1).dataset["doubled"].values.tolist() == [2, 4, 6]


def test_a_measure_of_a_file_is_asked_for_even_where_the_case_is_given(theirs):
    study = pfaff.open_sweep(theirs.study("a.zarr", theirs.module.doubled), theirs.case)
    for run in (study.run, lambda: study.run(workers=1)):
        with pytest.raises(ParameterError, match=r"doubled is measured by doubled of .*stated\.py.*case\.sweep.*trust"):
            run()
    assert not theirs.ran


HOSTILE = {
    "another name to call": lambda recipe: recipe["system"].update(called="evil"),
    "no hash is looked at": lambda recipe: recipe["measures"][0].update(kind="function", accept=True),
    "a method of the case": lambda recipe: recipe["measures"][0].update(kind="critical", names=["studio"]),
    "an attribute": lambda recipe: recipe["measures"][0].update(names=["__class__"]),
    "no name": lambda recipe: recipe["system"].update(called="evil()"),
    "arguments of a motion": lambda recipe: recipe["measures"][0].update(
        kind="end", names=["end_x"], of=["x"], options={"duration": 1, "events": ["x"]}
    ),
    "another folder": lambda recipe: recipe["measures"][0].update(names=["../stable"]),
    "no maker": lambda recipe: recipe.update(
        system={"name": "a", "fingerprint": "b", "atlas": "column", "options": {"bars": {"__reduce__": 1}}}
    ),
    "values that are code": lambda recipe: recipe["values"].update(mu="__import__('os').system('touch ran')"),
}


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("change", HOSTILE.values(), ids=HOSTILE)
def test_no_recipe_selects_what_is_run(theirs, name, change, monkeypatch):
    store = theirs.study(name)
    theirs.rewrite(store, change)
    monkeypatch.chdir(theirs.folder)
    with pytest.raises(ParameterError):
        pfaff.open_sweep(store).run()
    for given in (theirs.case, theirs.module.spiral):
        with suppress(ParameterError):
            pfaff.open_sweep(store, given).run()
    assert not theirs.ran


def test_a_hash_in_a_file_is_no_permission(theirs):
    """The author of a store chooses the hash in it, too."""
    other = theirs.folder / "other.py"
    other.write_text(STATED)
    store = theirs.study("a.zarr")
    about = {"file": str(other), "called": "evil", "sha256": "0" * 64, "accept": True}
    with pytest.raises(ParameterError, match="has changed since"):
        function_from(about)
    theirs.rewrite(store, lambda recipe: recipe["measures"][0].update(kind="function", names=["stable"], **about))
    for given in (None, theirs.case):
        with pytest.raises(ParameterError):
            pfaff.open_sweep(store, given).run()
    assert not theirs.ran


VALUES: list[Any] = [None, True, -1, 10**12, float("nan"), "x", "../x", [], ["a"], {}, {"a": 1}, [[[]]]]


def leaves(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(each for key, part in inside for each in leaves(part, (*path, key)))]


def changed(value: Any, path: tuple[Any, ...], new: Any) -> Any:
    if not path:
        return new
    parts = copy(value)
    parts[path[0]] = changed(value[path[0]], path[1:], new)
    return parts


def test_recipes_of_another_content_are_used_or_refused_in_words(tmp_path):
    """Every entry of a recipe, replaced by what does not belong there."""
    store = tmp_path / "a.zarr"
    pfaff.atlas.column(2).at(k1=50).sweep({"c_i": [1.0, 2.0], "M_L": [10.0, 15.0]}, "growth", store, chunk=2)
    noted = json.loads((store / "zarr.json").read_text())
    recipe = noted["attributes"]["recipe"]
    found = []
    for path in leaves(recipe):
        for value in VALUES:
            noted["attributes"]["recipe"] = changed(recipe, path, value)
            (store / "zarr.json").write_text(json.dumps(noted))
            try:
                study = pfaff.open_sweep(store)
                found += [] if study.status and np.asarray(study.dataset["state"]).size and repr(study) else [path]
            except ParameterError as problem:
                found += [] if 0 < len(str(problem)) < 1500 else [path]
            except Exception as problem:
                found.append((path, value, repr(problem)))
    assert not found


ASIDE = ["{", "[]", '{"0": 1}', '{"0": [{}, 1, ""]}', '{"9": [{"growth": 1.0}, 1, ""]}', '{"0": [{"foo": 1}, 1, ""]}']


@pytest.mark.parametrize("text", [*ASIDE, '{"0": [{"growth": "x"}, 1, ""]}', '{"0": [{"growth": 1.0}, 99, ""]}'])
def test_points_put_aside_that_are_none_are_computed(tmp_path, text):
    store = tmp_path / "a.zarr"
    study = pfaff.atlas.column(2).at(k1=50).sweep({"c_i": [1.0, 2.0]}, "growth", store)
    (store / "state" / "aside").mkdir()
    (store / "state" / "aside" / "0.json").write_text(text)
    assert study.run().counts == {"done": 2}


class Bomb:
    def __init__(self, marker: Path) -> None:
        self.marker = marker

    def __reduce__(self) -> Any:
        return Path.write_text, (self.marker, "ran")


@pytest.mark.parametrize("place", ["array", "consolidated", "everywhere"])
def test_no_codec_of_a_store_runs_what_it_decodes(theirs, place):
    """numcodecs has a codec that unpickles, which arrays of older formats select by their metadata."""
    store, marker = theirs.study("a.zarr"), theirs.folder / "ran"
    array = store / "stable"
    old = {
        **{"zarr_format": 2, "shape": [3], "chunks": [1], "dtype": "|O", "compressor": None, "fill_value": 0},
        **{"order": "C", "filters": [{"id": "pickle", "protocol": 5}]},
    }
    (array / ".zarray").write_text(json.dumps(old))
    (store / ".zgroup").write_text('{"zarr_format": 2}')
    for k in range(3):
        (array / str(k)).write_bytes(pickle.dumps(Bomb(marker)))
    if place == "array":
        (array / "zarr.json").unlink()
    elif place == "everywhere":
        recipe = json.loads((store / "zarr.json").read_text())["attributes"]
        (store / ".zattrs").write_text(json.dumps(recipe))
        plain = {**old, "filters": None, "dtype": "<f8"}
        for other in ("mu", "state"):
            (store / other / ".zarray").write_text(json.dumps(plain))
        for each in store.rglob("zarr.json"):
            each.unlink()
    else:
        noted = json.loads((store / "zarr.json").read_text())
        noted["consolidated_metadata"] = {"kind": "inline", "must_understand": False, "metadata": {"stable": old}}
        (store / "zarr.json").write_text(json.dumps(noted))
    try:
        np.asarray(pfaff.open_sweep(store).dataset["stable"])
    except ParameterError:
        assert place != "consolidated"
    assert not marker.exists()


def test_unknown_codecs_are_refused_before_they_are_looked_for(theirs):
    store = theirs.study("a.zarr")
    about = json.loads((store / "stable" / "zarr.json").read_text())
    about["codecs"] = [{"name": "numcodecs.pickle", "configuration": {}}]
    (store / "stable" / "zarr.json").write_text(json.dumps(about))
    with pytest.raises(ParameterError, match="encoded by numcodecs.pickle, which no study uses"):
        pfaff.open_sweep(store)


def test_the_shell_says_what_it_would_run(theirs):
    store = theirs.study("a.zarr")
    done = shell("sweep", "run", str(store))
    assert done.returncode != 0
    assert f"this would run {theirs.file}:spiral" in done.stderr
    assert "--system" in done.stderr
    assert "--trust" in done.stderr
    assert not theirs.ran
    assert shell("sweep", "run", str(store), "--system", f"{theirs.file}:spiral").stdout == "3 of 3 points\n"
    measured = theirs.study("b.zarr", theirs.module.doubled)
    done = shell("sweep", "run", str(measured), "--system", f"{theirs.file}:spiral")
    assert f"this would run {theirs.file}:spiral and {theirs.file}:doubled. Say --trust" in done.stderr
    done = shell("sweep", "run", str(measured), "--trust")
    assert done.stdout == "3 of 3 points\n"
    assert f"this runs {theirs.file}:spiral, {theirs.file}:doubled" in done.stderr


def test_the_studio_reads_the_numbers_of_a_store(theirs):
    from pfaff.studio.subject import subject_of
    from pfaff.studio.tasks import Tasks

    store = theirs.study("a.zarr")
    subject = subject_of(theirs.case, store=str(store))
    assert Tasks(subject)._stored().counts == {"done": 2, "pending": 1}
    assert not theirs.ran


LINE = "__import__('pathlib').Path('ran').write_text('ran')"


def test_texts_in_saved_results_are_not_executed(tmp_path, monkeypatch):
    """Values, names and notes of motions and branches that are Python."""
    monkeypatch.chdir(tmp_path)
    case = pfaff.atlas.column(2).at(k1=50, c_i=1.5, F=10)
    motion = case.simulate(0.5, theta1=0.1, samples=5).save("motion.nc")
    branch = case.at(F=1).branch("F", 5, points=5).save("branch.nc")
    for path, read in (
        (motion, pfaff.load),
        (motion, lambda p: pfaff.load(p, case)),
        (branch, lambda p: pfaff.load(p, case.at(F=1))),
    ):
        with xarray.open_dataset(path, engine="scipy", decode_times=False) as stored:
            original = stored.load()
        for note in original.attrs:
            data = original.copy()
            holds = data.attrs[HOLDS]
            text = data.attrs[note]
            if not isinstance(text, str) or note in (CHECKSUM, HOLDS):
                continue
            for each in (CHECKSUM, HOLDS, FORMAT):
                data.attrs.pop(each)
            data.attrs[note] = text.replace('"50"', json.dumps(LINE)) if '"50"' in text else LINE
            hostile = tmp_path / "hostile.nc"
            sealed(holds, data).to_netcdf(hostile, engine="scipy")
            with suppress(PfaffError):
                read(hostile)
            assert not (tmp_path / "ran").exists()


def test_a_study_in_memory_is_saved_and_read_back(tmp_path):
    case = pfaff.atlas.column(2).at(k1=50, c_i=1.5)
    study = case.sweep({"c_i": [1.0, 2.0]}, ["hopf", "l1"], chunk=1).run(part="1/2")
    again = pfaff.load(study.save(tmp_path / "a.nc"))
    np.testing.assert_array_equal(again.dataset["hopf"], study.dataset["hopf"])
    assert again.status == "1 of 2 points"
    assert again.run().complete
    np.testing.assert_array_equal(again.dataset["l1"], study.run().dataset["l1"])
    typed = case.sweep({"c_i": [1.0, 2.0]}, {"twice": lambda case: 2 * float(case.values["c_i"])}, chunk=1)
    again = pfaff.load(typed.run(part="1/2").save(tmp_path / "b.nc"))
    assert again.dataset["twice"].values.tolist()[0] == 2.0
    with pytest.raises(ParameterError, match="measured by a function, which is not known here: ask for the study as"):
        again.run()


def test_points_put_aside_in_memory_are_saved_too(tmp_path):
    stop: list[float] = [2.0]

    def twice(case: Any) -> float:
        if float(case.values["c_i"]) in stop:
            raise KeyboardInterrupt
        return 2 * float(case.values["c_i"])

    case = pfaff.atlas.column(2).at(k1=50)
    study = case.sweep({"c_i": [1.0, 2.0]}, {"twice": twice}).run()
    assert "and 1 more" in study.status
    assert pfaff.load(study.save(tmp_path / "a.nc")).status == study.status


def test_functions_without_a_file_are_measured_by_other_processes(tmp_path):
    case = pfaff.atlas.column(2).at(k1=50)
    three = 3.0
    study = case.sweep({"c_i": [1.0, 2.0]}, {"thrice": lambda case: three * float(case.values["c_i"])}, chunk=1)
    assert study.run(workers=2).dataset["thrice"].values.tolist() == [3.0, 6.0]


def test_functions_that_cannot_be_sent_are_named_before_anything_starts(monkeypatch):
    monkeypatch.setitem(sys.modules, "cloudpickle", None)
    case = pfaff.atlas.column(2).at(k1=50)
    study = case.sweep({"c_i": [1.0, 2.0]}, {"thrice": lambda case: 3.0}, chunk=1)
    with pytest.raises(ParameterError, match=r"thrice .*top of a file.*without workers"):
        study.run(workers=2)
    assert study.run().complete


TYPED_IN = """
import pfaff
study = pfaff.atlas.column(2).at(k1=50).sweep({"c_i": [1.0, 2.0]}, {"one": lambda case: 1.0}, chunk=1)
print(study.run(workers=2).dataset["one"].values.tolist())
def two(case): return 2.0
study = pfaff.atlas.column(2).at(k1=50).sweep({"c_i": [1.0, 2.0]}, two, chunk=1)
print(study.run(workers=2).dataset["two"].values.tolist())
"""


def test_functions_that_are_typed_in_are_measured_by_other_processes():
    done = subprocess.run(
        [sys.executable, "-"], input=TYPED_IN, text=True, capture_output=True, timeout=60, check=False
    )
    assert done.stdout == "[1.0, 1.0]\n[2.0, 2.0]\n", done.stderr
