"""Whatever happens to a stored result, it comes back as it was or is refused in a sentence that names the file.

PFAFF_FUZZ=a:b runs the seeds from a to b for every kind of result and damage instead of the usual few.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
import sympy as sm
import xarray

import pfaff
from pfaff.archive import stored
from pfaff.archive.stored import content
from pfaff.errors import ParameterError, PfaffError
from pfaff.statement import TIME, coordinates

SEEDS = range(*map(int, os.environ.get("PFAFF_FUZZ", "0:8").split(":")))
SLOWEST = 20.0  # seconds of computing that a file may take to be refused


class Saved(NamedTuple):
    """A file, and how to read it."""

    path: Path
    load: Callable[[Path], Any]
    result: Any


# Every kind, with names that files, time and others would like to have for themselves
x, y, mu, nu, π = sm.symbols("t time mu nu π")
r2 = x**2 + y**2
pendulum = pfaff.System(
    coordinates=(q := coordinates("t π")),
    kinetic=q[0].diff(TIME) ** 2 + q[1].diff(TIME) ** 2,
    potential=q[0] ** 2 + q[1] ** 2,
    holonomic_constraints=[q[0] - 2 * q[1]],
    name="pendulum",
).at()
oscillator = pfaff.ode({x: y, y: mu * y - x - x**2 * y}, {mu: -1}, load=mu, name="oscillator").at()
cubic = pfaff.ode({x: mu - x**3 + x / 2}, {mu: -1}, load=mu, name="cubic").at()
takens = pfaff.ode({x: y, y: nu + mu * x + x**2 - x * y}, {mu: -0.5, nu: -1}, load=nu, name="takens").at()
quintic = pfaff.ode(
    {x: mu * x - y + π * x * r2 - x * r2**2, y: x + mu * y + π * y * r2 - y * r2**2},
    {mu: -1, π: 1}, load=mu, name="quintic",
).at()  # fmt: skip
disc = pfaff.atlas.rolling_disc().at(g=9.81, r=0.3)

KINDS = {
    "motion": (lambda: pendulum.simulate(1, samples=6, events={"e": "π - 0.1"}, t=0.4, π=0.2), "load_motion", pendulum),
    "backwards": (lambda: pendulum.simulate(-1, samples=6, t=0.4, π=0.2), "load_motion", pendulum),
    "trajectory": (
        lambda: oscillator.simulate(1, samples=6, t=0.4, events={"e": "t - 0.3"}),
        "load_motion",
        oscillator,
    ),
    "equilibria": (lambda: cubic.branch(to=1, start={"t": -1}), "load_equilibria", cubic),
    "steady": (lambda: disc.steady(phi_dot=6).branch("phi_dot", to=5), "load_equilibria", disc),
    "folds": (
        lambda: takens.branch(to=1, start={"t": -1}).of_kind("fold")[0].curve("mu", to=0.1),
        "load_curve",
        takens,
    ),
    "hopf": (lambda: quintic.hopf(to=1).curve("π", to=-0.2), "load_curve", quintic),
    "orbits": (lambda: quintic.hopf(to=1).orbits(to=-0.3, points=60), "load_branch", quintic),
    "cycles": (
        lambda: quintic.hopf(to=1).orbits(to=-0.3, points=60).of_kind("fold")[0].curve("π", to=0.6),
        "load_curve",
        quintic,
    ),
    "connections": (
        lambda: takens.branch(to=1, start={"t": -1}).of_kind("fold")[0].curve("mu", to=0.1).special[0].switch(
            "homoclinic", to=-0.1, points=4
        ),
        "load",
        takens,
    ),
}  # fmt: skip
LOADERS = ("load_motion", "load_equilibria", "load_curve", "load_branch")


def reader(name: str, case: Any) -> Callable[[Path], Any]:
    return lambda path: getattr(pfaff, name)(path, case)


@pytest.fixture(scope="module")
def saved(tmp_path_factory) -> dict[str, Saved]:
    folder = tmp_path_factory.mktemp("saved")
    made = {kind: compute() for kind, (compute, _, _) in KINDS.items()}
    return {kind: Saved(made[kind].save(folder / f"{kind}.nc"), reader(*KINDS[kind][1:]), made[kind]) for kind in KINDS}


def told(load: Callable[[Path], Any], path: Path) -> str:
    """What is said of a file, or nothing if it can be used: read, described and given as data."""
    begun = time.process_time()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            result = load(path)
            assert isinstance(result.status, str)
            result.to_xarray()
    except PfaffError as problem:
        message = str(problem)
        assert str(path) in message
        assert "\n" not in message
        return message
    finally:
        assert time.process_time() - begun < SLOWEST
    return ""


@pytest.mark.parametrize("kind", KINDS)
def test_results_come_back(saved, kind):
    path, load, result = saved[kind]
    data, again = result.to_xarray(), load(path).to_xarray()
    assert set(data.variables) == set(again.variables)
    for name in data.variables:
        values = data[name].to_numpy()
        if values.dtype.kind == "f" and "tangent" not in str(name):  # whose length depends on where one looks
            np.testing.assert_allclose(again[name], values, rtol=1e-6, atol=1e-8, err_msg=str(name))


@pytest.mark.parametrize("kind", [kind for kind, (_, load, _) in KINDS.items() if load != "load_motion"])
def test_endings_come_back(saved, kind):
    """With their reason and the bound that they are at; files from before these were kept are read all the same."""
    path, load, result = saved[kind]
    again = load(path).ended
    assert (again, again.reason, again.bound) == (result.ended, result.ended.reason, result.ended.bound)
    assert (again.bound is None) == (again.reason is pfaff.Reason.POINTS)
    assert type(again.bound) in (float, type(None))
    data, older = content(path).data, path.with_name(f"older {path.name}")
    data.attrs = {name: note for name, note in data.attrs.items() if name not in ("reason", "bound")}
    stored.sealed(data.attrs["holds"], data).to_netcdf(older, engine="scipy")
    before = load(older).ended
    assert (before, before.reason, before.bound) == (result.ended, pfaff.Reason.UNTOLD, None)


@pytest.mark.parametrize("kind", KINDS)
def test_one_door_reads_them_all(saved, kind):
    path, load, _ = saved[kind]
    again = pfaff.load(path, KINDS[kind][2])
    assert type(again) is type(load(path))
    assert again.to_xarray().equals(load(path).to_xarray())
    if not kind.startswith(("motion", "backwards", "trajectory")):
        assert isinstance(again, pfaff.Branch) == ("branch" in content(path).holds)
        with pytest.raises(ParameterError, match=r"give its case, pfaff\.load"):
            pfaff.load(path)


def test_a_motion_backwards_is_interpolated(saved):
    path, load, motion = saved["backwards"]
    assert load(path)(-0.4) == pytest.approx(motion(-0.4), abs=1e-3)
    assert load(path)([-0.4, -1.0])[:, 1] == pytest.approx(motion.y[:, -1])


def test_a_branch_of_steady_motions_goes_on(saved):
    path, load, branch = saved["steady"]
    assert load(path).extend(4)[-1].value == pytest.approx(4)
    assert load(path)[-1].state == branch[-1].state


# Damage to bytes


def flipped(content: bytearray, draw: random.Random) -> bytes:
    for _ in range(draw.choice([1, 1, 3, 50])):
        content[draw.randrange(draw.choice([len(content), min(len(content), 600)]))] ^= 1 << draw.randrange(8)
    return bytes(content)


def cut(content: bytearray, draw: random.Random) -> bytes:
    return bytes(content[: draw.randrange(len(content))])


def swapped(content: bytearray, draw: random.Random) -> bytes:
    size = draw.choice([4, 8, 64, 512])
    a, b = (4 * draw.randrange((len(content) - size) // 4) for _ in range(2))
    content[a : a + size], content[b : b + size] = content[b : b + size], content[a : a + size]
    return bytes(content)


def counted(content: bytearray, draw: random.Random) -> bytes:
    """A number in the header, such as the size of a dimension, becomes another."""
    at = 4 * draw.randrange(1, 150)
    content[at : at + 4] = draw.choice([0, 1, 2, 7, 2**31 - 1, 2**32 - 1, 2**24]).to_bytes(4, "big")
    return bytes(content)


def blank(content: bytearray, draw: random.Random) -> bytes:
    """As a disk leaves it that was told of the length of a file, but not of what is in it."""
    at = draw.randrange(len(content))
    return bytes(content[:at]) + bytes(len(content) - at)


def longer(content: bytearray, draw: random.Random) -> bytes:
    at = draw.randrange(len(content))
    return bytes(content[:at]) + draw.randbytes(draw.choice([1, 4, 100])) + bytes(content[at:])


@pytest.mark.parametrize("damage", [flipped, cut, swapped, counted, blank, longer])
@pytest.mark.parametrize("kind", KINDS)
def test_damaged_bytes_are_told(saved, kind, damage, tmp_path):
    """Bytes that mean nothing, as those that fill a variable up, may change; then the result is the same."""
    path, load, result = saved[kind]
    content, damaged = path.read_bytes(), tmp_path / "damaged.nc"
    for seed in SEEDS:
        damaged.write_bytes(damage(bytearray(content), random.Random(seed)))
        if damaged.read_bytes() != content and not told(load, damaged):
            assert load(damaged).status == result.status
            assert load(damaged).to_xarray().equals(load(path).to_xarray()), seed


# Damage that a checksum does not see: files as somebody else might have written them

JUNK = [None, True, -1, 0, 3, 10**400, 1e308, float("nan"), "", "x", [], [[]], ["x", 1], {}, {"x": 1}, [[1, 2], [3]]]


def resealed(data: xarray.Dataset, path: Path) -> None:
    data.attrs.pop(stored.CHECKSUM, None)
    names = stored._in_ascii(data)
    notes = {stored.CHECKSUM: stored.checksum(data), stored.SPELLING: json.dumps(names)}
    data.rename(names).assign_attrs(notes).to_netcdf(path, engine="scipy")


def content_of(path: Path) -> xarray.Dataset:
    with xarray.open_dataset(path, engine="scipy") as file:
        data = file.load()
    spelled = json.loads(data.attrs.pop(stored.SPELLING, "{}"))
    return data.rename({label: name for name, label in spelled.items()})


def places(tree: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    inside = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ()
    for key, each in inside:
        yield (*at, key)
        yield from places(each, (*at, key))


def notes_changed(data: xarray.Dataset, draw: random.Random) -> xarray.Dataset:
    about = json.loads(data.attrs["about"])
    for _ in range(draw.choice([1, 1, 2])):
        *way, last = draw.choice([place for place in places(about) if len(place) < 2 or draw.random() < 0.5])
        inside = about
        for key in way:
            inside = inside[key]
        change = draw.choice(["junk", "junk", "less", "more", "scaled"])
        if change == "less":
            del inside[last]
        elif change == "more" and isinstance(inside[last], list) and inside[last]:
            inside[last].append(inside[last][-1])
        elif change == "scaled" and isinstance(inside[last], int | float):
            inside[last] = inside[last] * draw.choice([-1, 1e-300, 3, 1e300])
        else:
            inside[last] = draw.choice(JUNK)
    return data.assign_attrs(about=json.dumps(about))


def attributes_changed(data: xarray.Dataset, draw: random.Random) -> xarray.Dataset:
    name = draw.choice(sorted(data.attrs))
    if draw.random() < 0.3:
        del data.attrs[name]
    else:
        data.attrs[name] = draw.choice(["", "x", "[]", "{", "null", "[" * 3000, -1, 2.5, np.arange(3.0), float("inf")])
    return data


def arrays_changed(data: xarray.Dataset, draw: random.Random) -> xarray.Dataset:
    name = draw.choice(sorted(map(str, data.data_vars)))
    array = data[name]
    change = draw.choice(["gone", "renamed", "turned", "type", "text", "entry", "entry", "scaled", "besides"])
    if change == "gone":
        return data.drop_vars(name)
    if change == "renamed":
        return data.rename({name: "other"})
    if change == "turned":
        return data.assign({name: array.transpose()})
    if change == "type":
        return data.assign({name: array.fillna(0).astype(np.int32) if array.dtype.kind == "f" else array})
    if change == "text":
        return data.assign({name: array.astype(str)})
    if change == "besides":
        return data.assign(besides=array)
    values = array.to_numpy().copy()
    if change == "entry" and values.size and values.dtype.kind == "f":
        values.flat[draw.randrange(values.size)] = draw.choice([np.nan, np.inf, 1e308, -1.0, 0.0, 5e-324, 1e9])
    elif values.dtype.kind == "f":
        values *= draw.choice([-1.0, 2.0, 1e200, 0.0])
    return data.assign({name: (array.dims, values)})


def sizes_changed(data: xarray.Dataset, draw: random.Random) -> xarray.Dataset:
    """Fewer or more along a dimension, in all arrays."""
    dimension = draw.choice(sorted(map(str, data.sizes)))
    there = list(range(data.sizes[dimension]))
    return data.isel({dimension: draw.choice([[], there[:1], there[:-1], there + there[-1:], there[::-1]])})


@pytest.mark.parametrize("damage", [notes_changed, attributes_changed, arrays_changed, sizes_changed])
@pytest.mark.parametrize("kind", KINDS)
def test_files_of_another_content_are_used_or_refused(saved, kind, damage, tmp_path):
    path, load, _ = saved[kind]
    data, changed = content_of(path), tmp_path / "changed.nc"
    for seed in SEEDS:
        resealed(damage(data.copy(deep=True), random.Random(seed)), changed)
        told(load, changed)


FUZZED = """
import sys, faulthandler
from pathlib import Path
faulthandler.enable()
sys.path.insert(0, sys.argv[1])
import random, test_faults as t
folder = Path(sys.argv[2])
for kind in ("orbits", "cycles"):
    path, load = folder / f"{kind}.nc", t.reader(*t.KINDS[kind][1:])
    content, data, damaged = path.read_bytes(), t.content_of(path), folder / f"{kind} damaged.nc"
    for seed in t.SEEDS:
        for damage in (t.flipped, t.cut, t.counted):
            damaged.write_bytes(damage(bytearray(content), random.Random(seed)))
            t.told(load, damaged)
        for damage in (t.sizes_changed, t.arrays_changed, t.notes_changed):
            t.resealed(damage(data.copy(deep=True), random.Random(seed)), damaged)
            t.told(load, damaged)
print("whole")
"""


def test_no_damage_reaches_the_heap(saved):
    """In a process whose memory is checked when it is freed, and which ends as it should."""
    folder = saved["orbits"].path.parent
    done = subprocess.run(
        [sys.executable, "-c", FUZZED, str(Path(__file__).parent), str(folder)],
        capture_output=True, text=True, timeout=600, check=False,
        env=os.environ | {"MALLOC_CHECK_": "3", "MALLOC_PERTURB_": "165"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout == "whole\n"


# What is no result at all


@pytest.mark.parametrize("loader", LOADERS)
def test_what_is_no_result_is_named(loader, tmp_path):
    load = reader(loader, quintic)
    (tmp_path / "empty.nc").write_bytes(b"")
    (tmp_path / "text.nc").write_text("t, x\n0, 1\n")
    (tmp_path / "hdf5.nc").write_bytes(b"\x89HDF\r\n\x1a\n" + bytes(100))
    (tmp_path / "folder.nc").mkdir()
    xarray.Dataset({"a": ("b", [1.0])}).to_netcdf(tmp_path / "others.nc", engine="scipy")
    words = {
        "empty": "no netCDF file",
        "text": "no netCDF file",
        "hdf5": "no netCDF file",
        "folder": "no file",
        "others": "another program",
        "none": "none.nc: No such file",
    }
    for name, word in words.items():
        assert word in told(load, tmp_path / f"{name}.nc")


@pytest.mark.skipif(not os.path.exists("/dev/zero"), reason="no device that never ends")
@pytest.mark.parametrize("loader", LOADERS)
def test_devices_are_not_read(loader):
    assert "no file" in told(reader(loader, quintic), Path("/dev/zero"))


@pytest.mark.parametrize("kind", KINDS)
def test_every_reader_tells_files_of_other_kinds(saved, kind, tmp_path):
    path, _, _ = saved[kind]
    for loader in set(LOADERS) - {KINDS[kind][1]}:
        assert "holds a" in told(reader(loader, KINDS[kind][2]), path)


@pytest.mark.parametrize("kind", KINDS)
def test_other_versions_are_told(saved, kind, tmp_path):
    path, load, _ = saved[kind]
    data = content_of(path)
    for version in (None, 2):
        changed = data.copy()
        changed.attrs.pop("format", None)
        resealed(changed.assign_attrs({} if version is None else {"format": version}), tmp_path / "other.nc")
        assert "another version of pfaff" in told(load, tmp_path / "other.nc")


@pytest.mark.parametrize("attribute", ["checksum", "spelling", "holds", "format", "about", "system"])
@pytest.mark.parametrize("kind", KINDS)
def test_a_file_without_one_of_its_notes_is_refused(saved, kind, attribute, tmp_path):
    path, load, _ = saved[kind]
    with xarray.open_dataset(path, engine="scipy") as file:
        data = file.load()
    if data.attrs.pop(attribute, None) is None:
        pytest.skip("it needs none")
    data.to_netcdf(tmp_path / "less.nc", engine="scipy")
    assert told(load, tmp_path / "less.nc")


def test_a_motion_belongs_to_its_case(tmp_path):
    column = pfaff.atlas.column(1)
    path = column.at(F=1).simulate(1, samples=5, theta1=0.1).save(tmp_path / "motion.nc")
    with pytest.raises(ParameterError, match=r"motion.nc was computed with F = 1, not 2: give that case"):
        pfaff.load_motion(path, column.at(F=2))
    with pytest.raises(ParameterError, match="motion.nc.*is one of .*, not of pendulum: give a case of that system"):
        pfaff.load_motion(path, pendulum)
    with pytest.raises(ParameterError, match="is no case"):
        pfaff.load_motion(path, column)


@pytest.mark.parametrize("term", [sm.Rational(1, 50), x / 50])
@pytest.mark.parametrize("kind", ["equilibria", "folds", "hopf", "orbits", "cycles"])
def test_a_result_of_other_equations_is_refused(saved, kind, term):
    """The same names and values, another formula: points that are stored solve what they are loaded for."""
    stated = KINDS[kind][2].system
    rates = {state: rate + (term if state == x else 0) for state, rate in stated.equations.items()}
    other = pfaff.ode(rates, stated.parameters, load=stated.load, name=stated.name).at()
    assert "does not belong to this case" in told(reader(KINDS[kind][1], other), saved[kind].path)
