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


def test_motions_keep_nothing_on_disk(tmp_path):
    done = python(*ASKED, XDG_CACHE_HOME=str(tmp_path))
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)
    assert not list(tmp_path.iterdir())
