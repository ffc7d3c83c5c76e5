"""Long work outside terminals and notebooks is told by the logger ``pfaff``, to those who listen."""

from __future__ import annotations

import logging
import subprocess
import sys
from types import SimpleNamespace

import pytest

import pfaff
from pfaff import progress


@pytest.fixture
def clock(monkeypatch) -> SimpleNamespace:
    """A clock that is set by hand."""
    clock = SimpleNamespace(now=100.0)
    monkeypatch.setattr(progress.time, "monotonic", lambda: clock.now)
    return clock


def test_long_work_is_logged_now_and_then(clock, caplog):
    caplog.set_level(logging.INFO, "pfaff")
    with progress.bar("20 motions") as tell:
        for done in range(26):
            clock.now += 1.0
            tell(done / 26)
    said = [record.getMessage() for record in caplog.records]
    assert said == ["20 motions: 0 %", "20 motions: 38 %", "20 motions: 77 %", "that took 26 s"]
    assert {record.name for record in caplog.records} == {"pfaff"}


def test_short_work_is_not_logged(clock, caplog):
    caplog.set_level(logging.INFO, "pfaff")
    with progress.bar("20 motions") as tell:
        clock.now += 0.5
        tell(1.0)
    assert not caplog.records


def test_nothing_is_counted_for_who_does_not_listen(caplog):
    caplog.set_level(logging.WARNING, "pfaff")
    with progress.bar("20 motions") as tell:
        assert tell is progress.unheard
    with progress.counted("points", 4) as tell:
        assert tell is None


def test_a_sweep_is_logged(clock, caplog, monkeypatch):
    caplog.set_level(logging.INFO, "pfaff")
    monkeypatch.setattr(progress._InLog, "__init__", begun_long_ago(progress._InLog.__init__))
    pfaff.atlas.towed_wheel().at().sweep({"c": [0.05, 0.1]}, "flutter", chunk=1).run()
    assert caplog.records[0].getMessage().startswith("1 of 2 points")


def begun_long_ago(begin):
    def begun(line, logger):
        begin(line, logger)
        line.next = line.begun

    return begun


def test_the_shell_logs_where_it_is_asked_to():
    script = "import logging, sys; sys.argv[1:] = ['--verbose', 'atlas']; from pfaff.cli import main; main()\n"
    ask = "import atexit, logging; atexit.register(lambda: print(logging.getLogger('pfaff').getEffectiveLevel()))\n"
    done = subprocess.run([sys.executable, "-c", ask + script], capture_output=True, text=True, check=True)
    assert done.stdout.endswith("20\n")
