"""What is installed where: declared once and compared; systems that lack what Linux has; what workflows are told."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from importlib import import_module
from pathlib import Path

import pytest

import pfaff

ROOT = Path(__file__).parents[1]
STATED = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PROJECT = STATED["project"]
EXTRAS = PROJECT["optional-dependencies"]
WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))
NAMES = {"PIL": "pillow"}  # what is imported by another name than it is installed by


def test_conda_installs_what_the_package_needs_and_nothing_else():
    lines = (ROOT / "environment.yml").read_text(encoding="utf-8").splitlines()
    found = [line.removeprefix("  - ") for line in lines[lines.index("dependencies:") + 1 :] if line.startswith("  - ")]
    needed = {*STATED["build-system"]["requires"], *PROJECT["dependencies"], "python" + PROJECT["requires-python"]}
    assert sorted(found) == sorted({*needed, *EXTRAS["studio"], *EXTRAS["notebook"], "c-compiler", "pip"})


def test_one_bound_for_each_package():
    """Extras ask for the versions that the package asks for, and for one another's."""
    bounds: dict[str, set[str]] = {}
    for each in [*PROJECT["dependencies"], *(each for extra in EXTRAS.values() for each in extra)]:
        name, bound = re.match(r"([\w-]+)(.*?)(?:;|$)", each).groups()
        bounds.setdefault(name, set()).add(bound)
    assert not {name: several for name, several in bounds.items() if len(several) > 1}


def imported() -> set[str]:
    """Packages that the source imports, anywhere."""
    found = set()
    for path in (ROOT / "src").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                found |= {each.name.split(".")[0] for each in node.names}
            elif isinstance(node, ast.ImportFrom) and not node.level:
                found.add(node.module.split(".")[0])
    return found


def test_what_is_imported_is_declared():
    declared = {re.match(r"[\w-]+", each)[0] for each in PROJECT["dependencies"]}
    optional = {
        re.match(r"[\w-]+", each)[0] for key in ("sundials", "sweep", "studio", "notebook") for each in EXTRAS[key]
    }
    theirs = {"cython", "IPython", "traitlets", "mpl_toolkits", "cloudpickle", "sksundae"}
    used = {NAMES.get(each, each) for each in imported() - set(sys.stdlib_module_names) - {"pfaff"}}
    assert used <= declared | optional | theirs
    assert declared <= used


def test_public_names_are_known_to_type_checkers():
    """The imports that these read are those that are made when a name is asked for."""
    tree = ast.parse(Path(pfaff.__file__).read_text(encoding="utf-8"))
    (block,) = (each for each in tree.body if isinstance(each, ast.If) and isinstance(each.test, ast.Name))
    told = {each.asname: node.module for node in block.body for each in node.names}
    assert told == {**pfaff._HOMES, "atlas": "pfaff"}
    assert set(pfaff.__all__) == {*told, "__version__"}
    assert (Path(pfaff.__file__).parent / "py.typed").exists()


def test_importing_pfaff_opens_no_room():
    script = (
        "import sys, pfaff; print(sorted(each for each in sys.modules if each.partition('.')[0] in {'pfaff', 'numpy'}))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "['pfaff']"


# What only POSIX has is missing, fsync refuses files that are not open for writing, and pipes have an old encoding.
ELSEWHERE = """
import importlib, os, pkgutil, sys, tempfile
from pathlib import Path
import multiprocessing.util, subprocess, tempfile
import numpy, scipy.linalg, sympy, matplotlib.figure, xarray, click, rich.progress
try:
    import starlette, uvicorn, zarr
except ImportError:
    pass
for name in ("fcntl", "pwd", "grp", "resource", "termios", "tty", "pty", "readline"):
    sys.modules[name] = None
for name in ("fork", "register_at_fork", "nice", "getuid", "geteuid", "killpg", "setsid", "sched_getaffinity"):
    vars(os).pop(name, None)
import signal
for name in ("SIGALRM", "SIGHUP", "SIGPIPE", "SIGUSR1", "SIGUSR2", "alarm", "setitimer", "pause"):
    vars(signal).pop(name, None)
sync = os.fsync
def fsync(number):
    os.write(number, b"")
    sync(number)
os.fsync = fsync
import pfaff
for each in pkgutil.walk_packages(pfaff.__path__, "pfaff."):
    if not each.name.startswith("pfaff.compile") and not each.name.endswith("__main__"):
        try:
            importlib.import_module(each.name)
        except ImportError as problem:
            assert not (problem.name or "").startswith("pfaff"), each.name
case = pfaff.atlas.column(2).at(d="1/2", M_L=15, I_L=15, k1=50, c_i=1.5)
with tempfile.TemporaryDirectory() as folder:
    motion = case.at(F=84).simulate(5, theta1_dot=0.01)
    again = pfaff.load(motion.save(Path(folder) / "motion.nc"), case.at(F=84))
    study = case.sweep({"c_i": [1.0, 2.0]}, "flutter", Path(folder) / "study.nc").run(workers=2)
print(again.status, study.status)
"""


def test_nothing_needs_what_other_systems_lack(tmp_path):
    script = tmp_path / "elsewhere.py"
    script.write_text(ELSEWHERE, encoding="utf-8")
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=False)
    assert not done.returncode, done.stderr
    assert done.stdout.startswith("finished ")


def test_letters_that_an_encoding_lacks_end_no_command(monkeypatch):
    monkeypatch.setenv("PYTHONIOENCODING", "cp1252")
    done = subprocess.run([sys.executable, "-m", "pfaff", "atlas"], capture_output=True, check=False)
    assert not done.returncode, done.stderr
    assert rb"\u03a9" in done.stdout


def test_lines_end_alike_everywhere():
    tracked = subprocess.run(["git", "ls-files", "--eol"], cwd=ROOT, capture_output=True, text=True, check=False)
    if tracked.returncode or not tracked.stdout:
        pytest.skip("this is no repository")
    kinds = {line.split()[0]: line for line in tracked.stdout.splitlines()}
    assert set(kinds) <= {"i/lf", "i/none", "i/-text"}, kinds
    names = [line.split("\t")[1].lower() for line in tracked.stdout.splitlines()]
    assert len(set(names)) == len(names)  # where upper and lower case are one
    assert not [name for name in names if set(name) & set('<>:"|?*\\') or len(name) > 150]


def test_workflows_say_what_they_rely_on():
    yaml = pytest.importorskip("yaml", reason="the extra test is not installed: no pyyaml")
    assert {path.stem for path in WORKFLOWS} == {"tests", "wheels"}
    for path in WORKFLOWS:
        flow = yaml.safe_load(path.read_text(encoding="utf-8"))
        assert set(flow[True]) == {"workflow_dispatch", "push"}  # YAML reads `on` as true
        assert flow["permissions"] == {"contents": "read"}
        for job in flow["jobs"].values():
            assert {"runs-on", "steps", "timeout-minutes"} <= set(job)
            for step in job["steps"]:
                assert re.fullmatch(r"actions/[\w-]+@v\d+", step["uses"]) if "uses" in step else step["run"]
        for script, _ in re.findall(r"python (building/(\w+)\.py)", path.read_text(encoding="utf-8")):
            assert (ROOT / script).exists()
    wheels = yaml.safe_load((ROOT / ".github/workflows/wheels.yml").read_text(encoding="utf-8"))["jobs"]["wheel"]
    systems = " ".join(wheels["strategy"]["matrix"]["system"])
    assert all(each in systems for each in ("ubuntu-latest", "ubuntu-24.04-arm", "macos-latest", "intel", "windows"))


def test_one_wheel_for_each_platform_is_built_and_tried():
    wheels = STATED["tool"]["cibuildwheel"]
    lowest = PROJECT["requires-python"].removeprefix(">=").replace(".", "")
    assert wheels["build"][0] == f"cp{lowest}-*"
    assert STATED["tool"]["meson-python"]["limited-api"]
    assert f"limited_api: '{PROJECT['requires-python'].removeprefix('>=')}'" in (ROOT / "meson.build").read_text()
    tried = re.findall(r"\{project\}/(\S+)", " ".join(wheels["test-command"]))
    assert tried
    assert all((ROOT / each).exists() for each in tried)
    classified = [each for each in PROJECT["classifiers"] if re.search(r":: 3\.\d", each)]
    assert classified[0].endswith(PROJECT["requires-python"].removeprefix(">="))


def test_lowest_versions_are_those_that_are_declared(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "building"))
    lowest = import_module("lowest").lowest
    assert lowest("numpy>=2.0") == "numpy==2.0"
    assert lowest("heyoka>=7.10; sys_platform == 'linux'") == "heyoka==7.10"
    for each in PROJECT["dependencies"]:
        assert re.fullmatch(r"[\w-]+==[\d.]+", lowest(each))


def test_the_changelog_is_cut_into_releases():
    lines = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8").splitlines()
    released = [re.fullmatch(r"## \[(\d+\.\d+\.\d+)\] - (\d{4}-\d\d-\d\d)", line) for line in lines]
    versions = [(tuple(map(int, each[1].split("."))), each[2]) for each in released if each]
    assert versions == sorted(versions, reverse=True)
    assert len(versions) == sum(line.startswith("## ") for line in lines) - 1  # the first is Unreleased
    kinds = {line for line in lines if line.startswith("### ")}
    assert kinds <= {f"### {each}" for each in ("Added", "Changed", "Deprecated", "Removed", "Fixed", "Security")}
    entries = lines[lines.index("## [Unreleased]") :]
    assert not [line for line in entries if line and not line.startswith(("- ", "#")) and not line[0].isupper()]
    assert max(map(len, lines)) <= 125
    (newest, date), *_ = versions
    cited = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"version: {'.'.join(map(str, newest))}\ndate-released: {date}\n" in cited
    here = tuple(map(int, pfaff.__version__.removesuffix(".dev0").split(".")))
    assert here > newest if pfaff.__version__.endswith(".dev0") else here == newest


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md", "SECURITY.md", "CODE_OF_CONDUCT.md", "CHANGELOG.md"])
def test_what_pages_at_the_root_name_is_there(name):
    text = (ROOT / name).read_text(encoding="utf-8")
    files = re.findall(r"\]\(([^)#:]+)", text) + re.findall(r"`((?:docs|building|tests|benchmarks)/[\w./]+)`", text)
    assert not [each for each in files if not (ROOT / each).exists()]
