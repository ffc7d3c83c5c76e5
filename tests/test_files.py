"""Files are there whole or not at all, whatever happens while they are written."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import pytest

import pfaff
from pfaff.errors import ParameterError
from pfaff.files import whole, write_text

KILLED = """
import sys, time
from pathlib import Path
from pfaff.files import whole
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
