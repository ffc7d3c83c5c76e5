"""Files are there whole or not at all, whatever happens while they are written."""

from __future__ import annotations

import errno
import json
import os
import resource
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import pytest

import pfaff
from conftest import disk, shell
from pfaff.archive.files import whole, write_text
from pfaff.cli.output import draw_into
from pfaff.errors import ParameterError
from test_papers import small_paper

KILLED = """
import sys, time
from pathlib import Path
from pfaff.archive.files import whole
with whole(sys.argv[1]) as part:
    with part.open("w") as file:
        file.write("half of")
        file.flush()
        print("writing", flush=True)
        time.sleep(60)
"""


def test_a_killed_process_leaves_the_old_file(tmp_path):
    path = tmp_path / "result.txt"
    write_text(path, "old")
    with subprocess.Popen([sys.executable, "-c", KILLED, str(path)], stdout=subprocess.PIPE) as process:
        assert process.stdout.readline() == b"writing\n"
        process.send_signal(signal.SIGKILL)
    assert path.read_text() == "old"


def test_an_error_leaves_the_old_file_and_nothing_beside_it(tmp_path):
    path = tmp_path / "result.txt"
    write_text(path, "old")
    with pytest.raises(OSError, match="no space"), whole(path) as part:
        _fill(part)
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["result.txt"]


def _fill(part):
    part.write_text("half of")
    raise OSError("no space left")


def test_links_stay_links_and_permissions_are_the_usual_ones(tmp_path):
    target, link = tmp_path / "target.txt", tmp_path / "link.txt"
    link.symlink_to(target)
    write_text(link, "new")
    assert link.is_symlink()
    assert target.read_text() == "new"
    plain = tmp_path / "plain.txt"
    plain.write_text("")
    assert target.stat().st_mode == plain.stat().st_mode


def test_what_is_no_file_is_written_to_as_it_is():
    write_text("/dev/null", "anything")
    assert not os.path.isfile("/dev/null")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no device that is always full")
def test_a_full_disk_is_told():
    motion = pfaff.atlas.column(1).at(F=1).simulate(1, samples=5, theta1=0.1)
    with pytest.raises(ParameterError, match="cannot write /dev/full"):
        motion.save("/dev/full")


def test_saving_again_is_seen_at_once(tmp_path):
    """Somebody who reads while it is written again finds the one or the other."""
    path, case = tmp_path / "motion.nc", pfaff.atlas.column(1).at(F=1)
    first = case.simulate(1, samples=5, theta1=0.1)
    first.save(path)
    before = path.stat().st_ino
    time.sleep(0.01)
    first.save(path)
    assert path.stat().st_ino != before
    assert (pfaff.load_motion(path).y == first.y).all()


# Every way of writing


def _report(motion, path: Path) -> None:
    from pfaff.papers.pages import write
    from pfaff.papers.running import reproduce

    write(reproduce(small_paper(), path.parent, quiet=True, workers=1), path.parent)


WRITERS = {
    "motion.nc": lambda motion, path: motion.save(path),
    "picture.png": lambda motion, path: draw_into(motion.plot(), path),
    "film.svg": lambda motion, path: draw_into(motion.film(2), path),
    "film.gif": lambda motion, path: motion.animate(path, seconds=0.2, fps=10),
    "film.html": lambda motion, path: motion.animate(path, seconds=0.2, fps=10),
    "column_of_1_bars_with_skate_under_dead_load.c": lambda motion, path: motion.case.export("c", path.parent),
    "index.html": _report,
    "figure_1.svg": _report,
    "reproduction.json": _report,
}
SMALL = 500  # bytes, less than any of these files


@pytest.fixture(scope="module")
def motion():
    return pfaff.atlas.column(1).at(k1=50, F=1).simulate(1, samples=40, theta1=0.1)


@pytest.fixture(autouse=True)
def _own_store(tmp_path_factory, monkeypatch):
    store = tmp_path_factory.mktemp("store")
    monkeypatch.setattr("pfaff.papers.running.kept_in", lambda: store)


@contextmanager
def small_files():
    """No file may become longer, as on a full disk."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (SMALL, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


OPENED: list[str] = []


def _listen(event: str, facts: tuple) -> None:
    if event == "open" and isinstance(facts[0], str | bytes) and facts[2] & (os.O_WRONLY | os.O_RDWR):
        OPENED.append(os.fsdecode(facts[0]))


sys.addaudithook(_listen)


@pytest.mark.parametrize("name", WRITERS)
def test_files_are_never_opened_to_be_written_in_place(motion, tmp_path, name):
    """What is killed at any time leaves the old one, for what is written has another name."""
    path = tmp_path / name
    path.write_text("old")
    before = path.stat().st_ino
    OPENED.clear()
    WRITERS[name](motion, path)
    assert OPENED
    assert str(path) not in OPENED
    assert path.stat().st_ino != before
    assert path.stat().st_size > SMALL
    assert not [each for each in os.listdir(tmp_path) if each.startswith(".")]


@pytest.mark.parametrize("name", WRITERS)
def test_a_full_disk_leaves_the_old_file_and_is_told(motion, tmp_path, name):
    path = tmp_path / name
    path.write_text("old")
    WRITERS[name](motion, tmp_path.parent / name)  # what is computed, drawn and kept on the way needs room as well
    with small_files(), pytest.raises(ParameterError, match="cannot (write|draw)") as told:
        WRITERS[name](motion, path)
    assert str(tmp_path) in str(told.value)
    assert "\n" not in str(told.value)
    assert path.read_text() == "old"
    assert not [each for each in os.listdir(tmp_path) if each.startswith(".")]


SIMULATION = ("simulate", "column", "--duration", "1", "--start", "theta1_dot=0.01", "--json")


def test_a_full_disk_costs_the_shell_no_result(tmp_path, monkeypatch):
    """What was computed is printed all the same, with the files that were written; what was not is told last."""
    saved, drawn, film = tmp_path / "a.nc", tmp_path / "a.png", tmp_path / "a.html"
    monkeypatch.setattr("pfaff.cli.output.whole", _full)
    files = ("--plot", str(drawn), "--save", str(saved), "--animate", str(film))
    done = shell(*SIMULATION, *files)
    assert done.returncode == 2
    assert json.loads(done.stdout)["written"] == [str(saved), str(film)]
    assert done.stderr.splitlines()[-1] == f"pfaff: cannot draw into {drawn}: No space left on device"
    assert not drawn.exists()
    done = shell("spectrum", "column", "--plot", str(drawn))
    assert done.returncode == 2
    assert "Eigenvalues" in done.stdout
    assert "No space left" in done.stderr


def _full(path):
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))


def test_netcdf_under_another_ending_is_told(motion, tmp_path):
    """It is written nevertheless: nothing that took a night to compute is lost by its name."""
    path = tmp_path / "motion.json"
    with pytest.warns(UserWarning, match=r"motion.json is written in netCDF.*\.nc") as told:
        motion.save(path)
    assert told[0].filename == __file__
    assert pfaff.load(path).status == motion.status


@pytest.mark.parametrize("name", WRITERS)
def test_a_folder_that_may_not_be_written_is_told(motion, tmp_path, name):
    with disk(tmp_path / "read only", "ro") as folder, pytest.raises(ParameterError, match="cannot (write|draw)"):
        WRITERS[name](motion, folder / name)


def test_a_file_that_may_not_be_written_is_not_replaced(tmp_path, monkeypatch):
    path = tmp_path / "result.txt"
    write_text(path, "old")
    monkeypatch.setattr(os, "access", lambda path, mode: False)  # as for whom it is read-only
    with pytest.raises(PermissionError, match="may not be written"):
        write_text(path, "new")
    assert path.read_text() == "old"


def test_a_file_keeps_its_permissions(tmp_path):
    path = tmp_path / "result.txt"
    write_text(path, "old")
    path.chmod(0o640)
    write_text(path, "new")
    assert path.stat().st_mode & 0o777 == 0o640


# The shell


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no device that is always full")
@pytest.mark.parametrize("buffered", ["", "1"])
@pytest.mark.parametrize("command", [["atlas"], ["atlas", "--json"], ["show", "column"], ["--help"]])
def test_a_full_stdout_is_a_line(command, buffered):
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "pfaff", *command], stdout=full, stderr=subprocess.PIPE, text=True, timeout=60,
            check=False, env=os.environ | {"PYTHONUNBUFFERED": buffered},
        )  # fmt: skip
    assert done.returncode == 2
    assert done.stderr == "pfaff: cannot write the output: [Errno 28] No space left on device\n"


@pytest.mark.parametrize("buffered", ["", "1"])
@pytest.mark.parametrize("command", [["atlas"], ["atlas", "--json"], ["show", "column"], ["--help"]])
def test_a_closed_stdout_is_nothing_to_complain_about(command, buffered):
    read, write = os.pipe()
    os.close(read)
    with os.fdopen(write, "w") as closed:
        done = subprocess.run(
            [sys.executable, "-m", "pfaff", *command], stdout=closed, stderr=subprocess.PIPE, text=True, timeout=60,
            check=False, env=os.environ | {"PYTHONUNBUFFERED": buffered},
        )  # fmt: skip
    assert (done.returncode, done.stderr) == (1, "")
