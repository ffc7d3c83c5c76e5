"""How the package is built: what wheels and archives hold, by which compiler, and that it makes no difference."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
import time
import zipfile
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
TRACKED = ("building", "src", "meson.build", "pyproject.toml", "README.md", "LICENSE")
MESON = pytest.mark.skipif(not find_spec("mesonpy"), reason="meson-python is not installed")
HOOK = """
import sys
sys.path.insert(0, "building")
import backend
print(getattr(backend, sys.argv[1])(*sys.argv[2:]))
"""
BITS = """
import hashlib, sys
import numpy as np
import pfaff, pfaff.kernels
if sys.argv[1] == "narrow":
    del pfaff.kernels.__path__[:-1]
sys.path.insert(0, sys.argv[2])
from test_readers import Op, arguments, mixed_tape, read, tape_of_one
from pfaff.kernels.readers import Reader
found = hashlib.sha256()
for op in Op:
    values = read(Reader(tape_of_one(op)), arguments(op, int(op)))
    found.update(np.where(np.isnan(values), np.nan, values).tobytes())
for seed in range(10):
    found.update(np.nan_to_num(Reader(mixed_tape(seed))(np.linspace(0, 1, 5), np.ones(3))).tobytes())
case = pfaff.atlas.column(2).at(d="1/2", M_L=15, I_L=15, k1=50, c_i=1.5, F=80)
found.update(np.ascontiguousarray(case.simulate(10, theta1_dot=0.01).y).tobytes())
found.update(np.ascontiguousarray(case.flutter().value).tobytes())
branch = pfaff.atlas.ziegler(3).at(c_i=0.2).branch(to=8)
for each in (*branch, *branch.special, *branch.special[0].curve("c_i", to=1)):
    found.update(each.spot.z.tobytes())
print(Reader.__module__, found.hexdigest())
"""


def hook(tree: Path, *arguments: str, **environment: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", HOOK, *arguments],
        cwd=tree, env={**os.environ, **environment}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert not done.returncode, done.stdout + done.stderr
    return done.stdout.strip().splitlines()[-1]


@pytest.fixture(scope="module")
def tree(tmp_path_factory) -> Path:
    """A copy of what is developed, with bytecode that has no place in a wheel, and a repository of its own."""
    folder = tmp_path_factory.mktemp("tree")
    for each in TRACKED:
        source = ROOT / each
        (shutil.copytree if source.is_dir() else shutil.copy)(source, folder / each)
    (folder / "src/pfaff/__pycache__").mkdir(exist_ok=True)
    (folder / "src/pfaff/__pycache__/old.cpython-311.pyc").write_bytes(b"")
    (folder / ".gitignore").write_text("__pycache__/\n")
    name = ["-c", "user.name=t", "-c", "user.email=t"]
    for command in (["init", "-q"], ["add", "."], [*name, "commit", "-q", "-m", "all"]):
        subprocess.run(["git", *command], cwd=folder, check=True)
    return folder


@pytest.fixture(scope="module")
def wheel(tree, tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    return folder / hook(tree, "build_wheel", str(folder))


def sources(tree: Path) -> set[str]:
    return {
        str(each.relative_to(tree / "src"))
        for each in (tree / "src/pfaff").rglob("*")
        if each.is_file() and "__pycache__" not in each.parts
    }


@MESON
@pytest.mark.slow
def test_a_wheel_holds_all_of_the_package_and_its_kernels(tree, wheel):
    names = set(zipfile.ZipFile(wheel).namelist())
    assert sources(tree) <= names
    more = {each for each in names if each.startswith("pfaff/")} - sources(tree)
    suffix = ".pyd" if sys.platform == "win32" else ".abi3.so"
    assert {f"pfaff/kernels/{name}{suffix}" for name in ("elementary", "instructions", "readers", "processor")} <= more
    assert all(each.endswith(suffix) and each.startswith("pfaff/kernels/") for each in more)
    assert "-cp311-abi3-" in wheel.name
    entry = next(each for each in names if each.endswith("entry_points.txt"))
    assert "pfaff = pfaff.__main__:main" in zipfile.ZipFile(wheel).read(entry).decode()


@MESON
@pytest.mark.slow
def test_an_archive_of_sources_can_be_built(tree, wheel, tmp_path):
    archive = tmp_path / hook(tree, "build_sdist", str(tmp_path))
    with tarfile.open(archive) as opened:
        opened.extractall(tmp_path, filter="data")
    (unpacked,) = (each for each in tmp_path.iterdir() if each.is_dir())
    assert sources(unpacked) == sources(tree)
    again = tmp_path / hook(unpacked, "build_wheel", str(tmp_path))
    assert set(zipfile.ZipFile(again).namelist()) == set(zipfile.ZipFile(wheel).namelist())


@MESON
@pytest.mark.slow
def test_compilers_and_processors_make_no_difference(tree, wheel, tmp_path):
    wheels = [wheel]
    if find_spec("ziglang") and shutil.which("cc"):
        zig = f"{sys.executable} -m ziglang"
        environment = {
            "CC": f"{zig} cc -mcpu=baseline",
            "AR": f"{zig} ar",
            "ZIG_LOCAL_CACHE_DIR": str(tmp_path / "zig"),
        }
        wheels.append(tmp_path / hook(tree, "build_wheel", str(tmp_path), **environment))
    found = set()
    for k, each in enumerate(wheels):
        folder = tmp_path / str(k)
        zipfile.ZipFile(each).extractall(folder)
        for wide in ("wide", "narrow"):
            done = subprocess.run(
                [sys.executable, "-c", BITS, wide, str(ROOT / "tests")],
                env={**os.environ, "PYTHONPATH": str(folder)}, capture_output=True, text=True, check=False,
            )  # fmt: skip
            assert not done.returncode, done.stderr
            found.add(done.stdout)
    assert len(found) == 1


@pytest.mark.slow
@pytest.mark.skipif(not find_spec("ziglang"), reason="the extra test is not installed: no ziglang")
@pytest.mark.skipif(sys.platform != "linux", reason="names of Python are read from its binary as Linux has it")
def test_kernels_link_for_windows(tmp_path, monkeypatch):
    """Quickly, without optimising; ``python building/crossing.py`` does it for every system, as wheels are built."""
    monkeypatch.syspath_prepend(str(ROOT / "building"))
    monkeypatch.setenv("ZIG_LOCAL_CACHE_DIR", str(tmp_path / "zig"))
    import_module("pfaff.kernels.readers")  # which builds what has changed
    made = import_module("crossing").crossed("x86_64-windows-gnu", tmp_path, "-O0")
    assert len(made) >= len(list((ROOT / "build/kernels").glob("*.c"))) > 7
    assert all(each.read_bytes().startswith(b"MZ") for each in made)


@MESON
@pytest.mark.slow
def test_a_changed_kernel_is_built_again_when_it_is_imported(tree):
    """In a copy that was never built, by the finder of editable installations."""
    script = """
import sys
sys.path[:0] = ["building", "src"]
from pfaff_building import Finder
sys.meta_path.insert(0, Finder)
from pfaff.kernels import processor
print(processor.__file__, processor.wide())
"""

    def imported() -> str:
        done = subprocess.run([sys.executable, "-S", "-c", SITE + script], cwd=tree, capture_output=True, text=True)
        return done.stdout.strip() if not done.returncode else done.stderr

    assert imported().startswith(str(tree / "build" / "kernels"))
    source = tree / "src/pfaff/kernels/processor.py"
    text = source.read_text()
    try:
        source.write_text(text.replace("return has_wide_registers()", "return not has_wide_registers()"))
        changed = imported()
        source.write_text(text.replace("return has_wide_registers()", "return has_wide_registers("))
        broken = imported()
    finally:
        source.write_text(text)
    assert imported().split()[-1] != changed.split()[-1]
    assert "the kernels of pfaff cannot be built" in broken


@pytest.fixture
def building(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "building"))
    return import_module("pfaff_building")


@pytest.fixture
def built(tmp_path) -> dict[str, Path]:
    """A working tree whose one kernel was built an hour ago, by name."""
    names = ("meson.build", "building/wide/meson.build", "src/pfaff/kernels/one.py", "build/kernels/one.abi3.so")
    ninja, done = "build/kernels/build.ninja", "build/kernels/built"
    for name in (*names, ninja, done):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
        os.utime(tmp_path / name, (time.time() - 3600,) * 2)
    return {name: tmp_path / name for name in (*names, done)}


@pytest.mark.parametrize("changed", [None, "meson.build", "building/wide/meson.build", "src/pfaff/kernels/one.py"])
def test_kernels_are_built_again_where_anything_has_changed(building, built, monkeypatch, changed):
    commands = []
    monkeypatch.setattr(building, "_run", lambda command, environment: commands.append(command))
    find = partial(building.Finder.find_spec, "pfaff.kernels.one", [str(built["src/pfaff/kernels/one.py"].parent)])
    if changed:
        os.utime(built[changed])
    for _ in range(2):
        assert find().origin == str(built["build/kernels/one.abi3.so"])
        assert len(commands) == (changed is not None)


def test_what_changes_during_a_build_is_built_again(building, built, monkeypatch):
    def run(command, environment):
        commands.append(command)
        if len(commands) == 1:
            time.sleep(0.05)
            os.utime(built["src/pfaff/kernels/one.py"])
            time.sleep(0.05)

    commands = []
    monkeypatch.setattr(building, "_run", run)
    os.utime(built["meson.build"])
    for _ in range(3):
        building.Finder.find_spec("pfaff.kernels.one", [str(built["src/pfaff/kernels/one.py"].parent)])
    assert len(commands) == 2


@pytest.mark.parametrize("rules", ["meson.build", "building/wide/meson.build"])
def test_kernels_are_used_where_meson_would_refuse_the_clock(building, built, monkeypatch, rules):
    monkeypatch.setattr(building, "_run", lambda command, environment: pytest.fail("is built"))
    os.utime(built[rules], (time.time() + 3600,) * 2)
    with pytest.warns(UserWarning, match="in the future"):
        spec = building.Finder.find_spec("pfaff.kernels.one", [str(built["src/pfaff/kernels/one.py"].parent)])
    assert spec.origin == str(built["build/kernels/one.abi3.so"])


@pytest.mark.parametrize(("system", "tools", "lacks"), [
    ("linux", False, False),
    ("win32", True, True),
    ("darwin", True, False),
    ("darwin", False, True),
])  # fmt: skip
def test_compilers_that_would_not_do_are_none(building, monkeypatch, system, tools, lacks):
    """GCC on Windows, and the compilers of macOS that only ask for tools to be installed."""
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.setattr(sys, "platform", system)
    monkeypatch.setattr(shutil, "which", lambda name: f"/usr/bin/{name}")
    monkeypatch.setattr(building, "_fails", lambda command: not tools)
    assert building.lacks_compiler() == lacks


@MESON
def test_commands_of_zig_are_quoted(building, monkeypatch, tmp_path):
    monkeypatch.setattr(sys, "executable", "/a place/python")
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CC", raising=False)
    environment = building.with_compiler()
    split = import_module("mesonbuild.mesonlib").split_args
    assert split(environment["CC"]) == ["/a place/python", "-m", "ziglang", "cc", "-mcpu=baseline"]
    assert split(environment["AR"]) == ["/a place/python", "-m", "ziglang", "ar"]


def test_a_start_of_python_reads_no_more_than_it_needs():
    script = "import sys, pfaff_building; print({'subprocess', 'shutil', 'shlex', 'zipfile'} & set(sys.modules))"
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "building")}
    done = subprocess.run([sys.executable, "-S", "-c", script], env=environment, capture_output=True, text=True)
    assert done.stdout.strip() == "set()", done.stderr


SITE = f"import sys; sys.path.append({str(Path(find_spec('numpy').origin).parents[1])!r})\n"


@MESON
def test_zig_is_asked_for_where_there_is_no_compiler(tmp_path):
    clean = {"CC": "", "PATH": str(tmp_path)}
    assert hook(ROOT, "get_requires_for_build_wheel", **clean) == "['ziglang>=0.13']"
    assert hook(ROOT, "get_requires_for_build_wheel", CC="mine", PATH=str(tmp_path)) == "[]"
    assert hook(ROOT, "get_requires_for_build_wheel", CC="cl.exe", PATH=str(tmp_path)) == "['ziglang>=0.13']"
    for name, asked in (("cl", "['ziglang>=0.13']"), ("gcc", "[]")):  # that of Microsoft has no vectors
        (tmp_path / name).write_text("")
        (tmp_path / name).chmod(0o755)
        assert hook(ROOT, "get_requires_for_build_editable", **clean) == asked


def test_what_is_imported_is_set_aside_where_nobody_has_made_anything():
    script = """
import gc
import pfaff

assert gc.get_freeze_count() == 0
pfaff.System
assert gc.isenabled()
assert gc.get_freeze_count() > 10000, "SymPy's objects are gone through at every collection"
"""
    subprocess.run([sys.executable, "-c", script], check=True)


def test_what_users_have_made_before_is_collected_later():
    script = """
import gc, weakref

class Model:
    pass

model = Model()
model.itself = model
seen = weakref.ref(model)
import pfaff

pfaff.System
assert gc.get_freeze_count() == 0
del model
gc.collect()
assert seen() is None
"""
    subprocess.run([sys.executable, "-c", script], check=True)
