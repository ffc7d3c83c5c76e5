"""Compiled code on disk that is damaged, unreadable or cannot be written costs time and nothing else."""

from __future__ import annotations

import json
import os
import random
import runpy
import subprocess
import sys
import warnings
from contextlib import suppress
from pathlib import Path
from typing import Any

import numba
import numpy as np
import pytest
from numba.core.caching import CompileResultCacheImpl

from conftest import SMALL, disk
from pfaff.flow.caches import _sound

KERNEL = """
from pfaff.bifurcation.machine_code.kernels import compiled

@compiled
def total(values):
    found = 0.0
    for value in values:
        found += value
    return {factor} * found
"""
ASKED = ["-m", "pfaff", "simulate", "pendulum", "--duration", "1", "--samples", "3", "--json"]


def python(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *arguments],
        capture_output=True, text=True, timeout=200, check=False, env=os.environ | environment,
    )  # fmt: skip


# numba


class Kernel:
    """A compiled loop in a file, as a new process finds it."""

    def __init__(self, folder: Path) -> None:
        self.program = folder / "kernel.py"
        self.write(1)

    def write(self, factor: int) -> None:
        self.program.write_text(KERNEL.format(factor=factor))

    def run(self) -> tuple[float, int, int]:
        """What it returns, how often it was found on disk, and how often something was said."""
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            found: dict[str, Any] = runpy.run_path(str(self.program))
            value = found["total"](np.arange(5.0))
        return value, sum(found["total"].stats.cache_hits.values()), len(said)

    def file(self, ending: str) -> Path:
        (path,) = self.program.parent.rglob(f"*total-*{ending}")
        return path


@pytest.fixture
def kernel(tmp_path, monkeypatch) -> Kernel:
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path / "cache"))
    kernel = Kernel(tmp_path)
    assert kernel.run() == (10.0, 0, 0)
    assert kernel.run() == (10.0, 1, 0)
    return kernel


@pytest.mark.parametrize("ending", [".nbi", ".nbc"])
@pytest.mark.parametrize("damage", ["flipped", "cut", "empty", "text", "folder"])
def test_a_damaged_file_of_numba_is_made_again(kernel, ending, damage):
    path, draw = kernel.file(ending), random.Random(0)
    content = bytearray(path.read_bytes())
    for _ in range(20):
        content[draw.randrange(len(content))] ^= 1 << draw.randrange(8)
    path.unlink()
    if damage == "folder":  # which nobody can read or replace
        path.mkdir()
    else:
        path.write_bytes({"flipped": bytes(content), "cut": content[:99], "empty": b"", "text": b"no code"}[damage])
    assert kernel.run() == (10.0, 0, int(damage == "folder"))
    if damage != "folder":
        assert kernel.run() == (10.0, 1, 0)


def test_code_of_older_source_is_not_run(kernel):
    """As a kill leaves it between the new index and the new entry."""
    old = kernel.file(".nbc").read_bytes()
    kernel.write(3)
    assert kernel.run() == (30.0, 0, 0)
    kernel.file(".nbc").write_bytes(old)
    assert kernel.run() == (30.0, 0, 0)


@pytest.mark.parametrize("options", [f"size={SMALL}", "ro"])
def test_numba_does_without_a_place(kernel, tmp_path, monkeypatch, options):
    with disk(tmp_path / "small", options) as small:
        with suppress(OSError):
            (small / "fill").write_bytes(bytes(SMALL))
        monkeypatch.setattr(numba.config, "CACHE_DIR", str(small))
        value, hits, _ = kernel.run()
    assert (value, hits) == (10.0, 0)


def test_numba_does_without_any_place(kernel, monkeypatch):
    monkeypatch.setattr(CompileResultCacheImpl, "_locator_classes", [])
    assert kernel.run() == (10.0, 0, 1)


# heyoka


@pytest.fixture(scope="module")
def truth(tmp_path_factory) -> str:
    done = python(*ASKED, XDG_CACHE_HOME=str(tmp_path_factory.mktemp("whole")))
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def garbage(cache: Path) -> None:
    (cache / "pfaff" / "heyoka").mkdir(parents=True)
    (cache / "pfaff" / "heyoka" / "cache.db").write_bytes(random.Random(0).randbytes(5000))


def cut(cache: Path) -> None:
    assert python(*ASKED, XDG_CACHE_HOME=str(cache)).returncode == 0
    os.truncate(cache / "pfaff" / "heyoka" / "cache.db", 30_000)


def a_folder(cache: Path) -> None:
    (cache / "pfaff" / "heyoka" / "cache.db").mkdir(parents=True)


def a_file(cache: Path) -> None:
    (cache / "pfaff").mkdir()
    (cache / "pfaff" / "heyoka").touch()


@pytest.mark.parametrize("damage", [garbage, cut, a_folder, a_file])
def test_a_damaged_database_of_heyoka_is_done_without(damage, truth, tmp_path):
    damage(tmp_path)
    done = python(*ASKED, XDG_CACHE_HOME=str(tmp_path))
    assert (done.returncode, done.stdout) == (0, truth)
    assert json.loads(done.stdout)
    assert done.stderr.startswith("pfaff: compiled code is not kept")
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("options", [f"size={SMALL}", "ro", f"size={2**25 + 2**16}"])
def test_heyoka_does_without_a_place(options, truth, tmp_path):
    """A small disk, one that cannot be written, and one that runs full on the way."""
    with disk(tmp_path / "cache", options) as cache:
        done = python(*ASKED, XDG_CACHE_HOME=str(cache))
        assert (done.returncode, done.stdout) == (0, truth)
        assert done.stderr.count("\n") <= 1


def test_a_whole_database_is_used(tmp_path):
    for _ in range(2):
        done = python(*ASKED, XDG_CACHE_HOME=str(tmp_path))
        assert (done.returncode, done.stderr) == (0, "")
    content = (tmp_path / "pfaff" / "heyoka" / "cache.db").read_bytes()
    assert _sound(content[:100], len(content))
    assert not _sound(content[:100], len(content) - 1)
    assert not _sound(content[:50], 50)
    assert _sound(b"", 0)
