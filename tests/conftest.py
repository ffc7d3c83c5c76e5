"""What many tests share: the paper's pendulum, its parameters and a user's own system."""

from __future__ import annotations

import ctypes
import gc
import io
import os
import platform
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import chdir, contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path

os.environ.setdefault("SYMPY_CACHE_SIZE", "20000")  # formulas come again and again, in more than SymPy's thousand

import pytest
import sympy as sm
from hypothesis import settings
from sympy.physics.mechanics import dynamicsymbols

import pfaff

settings.register_profile("pfaff", deadline=None, max_examples=15, derandomize=True)
settings.load_profile("pfaff")

gc.set_threshold(100_000, 20, 20)  # formulas are many small objects: looking through them often costs a tenth of all
signal.signal(signal.SIGINT, signal.default_int_handler)  # what a shell starts in the background does not hear Ctrl-C
TRIM = ctypes.CDLL(None).malloc_trim if sys.platform == "linux" and platform.libc_ver()[0] == "glibc" else None
GROWN = 2**28  # bytes of memory, after which garbage is looked for
KNOWN = {"resident": 2**30}  # bytes after the last time; below this nobody looks
SMALL = 2**16  # bytes of a small disk
XI_HAT = {"d": "1/2", "M_L": 15, "I_L": 15, "k1": 50}


def pytest_collection_finish() -> None:
    """What collecting leaves stays until the end: no use to look through it again and again."""
    gc.freeze()


@pytest.fixture(scope="module", autouse=True)
def _forgotten(request: pytest.FixtureRequest) -> Iterator[None]:
    """What a module of tests keeps in caches of its own goes when it is done, and what is free goes back to the system:
    of large arrays glibc may keep gigabytes. Garbage is looked for where memory has grown: it takes half a second."""
    yield
    for each in list(vars(request.module).values()):
        if hasattr(each, "cache_clear") and each.__module__ == request.module.__name__:
            each.cache_clear()
    if TRIM is None:
        return
    TRIM(0)
    if resident() > KNOWN["resident"] + GROWN:
        gc.collect()
        TRIM(0)
        KNOWN["resident"] = resident()


def resident() -> int:
    """Bytes of memory that this process has."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@pytest.fixture(scope="session")
def skate() -> pfaff.System:
    return pfaff.atlas.column(2, "skate", "dead")


@pytest.fixture(scope="session")
def bow() -> pfaff.System:
    return pfaff.atlas.column(2, "bow", "dead")


@pytest.fixture(scope="session")
def sleigh() -> pfaff.System:
    """Chaplygin's sleigh as a user would state it."""
    x, y, phi = dynamicsymbols("x y phi")
    m, I, a = sm.symbols("m I a", positive=True)
    t = dynamicsymbols._t
    centre = sm.Matrix([x + a * sm.cos(phi), y + a * sm.sin(phi)])
    velocity = centre.diff(t)
    return pfaff.System(
        coordinates=[x, y, phi],
        kinetic=m * velocity.dot(velocity) / 2 + I * phi.diff(t) ** 2 / 2,
        nonholonomic_constraints=[y.diff(t) * sm.cos(phi) - x.diff(t) * sm.sin(phi)],
        parameters={m: 1, I: sm.Rational(1, 4), a: sm.Rational(2, 5)},
        name="sleigh",
    )


@pytest.fixture(scope="session")
def mass_on_a_circle() -> pfaff.System:
    """A mass on the circle x² + y² = 1 under gravity, the circle a constraint."""
    x, y = dynamicsymbols("x y")
    m, g = sm.symbols("m g", positive=True)
    t = dynamicsymbols._t
    return pfaff.System(
        [x, y],
        m * (x.diff(t) ** 2 + y.diff(t) ** 2) / 2,
        m * g * y,
        holonomic_constraints=[x**2 + y**2 - 1],
        parameters={m: 1, g: 9.81},
    )


def shell(*arguments: str, folder: Path | None = None) -> subprocess.CompletedProcess[str]:
    """The command ``pfaff`` as a process would run it, in this one: a second of imports is saved each time."""
    from pfaff.cli import main

    out, err, code = io.StringIO(), io.StringIO(), 0
    with pytest.MonkeyPatch.context() as patched, chdir(folder or "."), redirect_stdout(out), redirect_stderr(err):
        patched.setattr("sys.argv", ["pfaff", *arguments])
        patched.setattr("sys.path", list(sys.path))
        patched.setattr("gc.freeze", lambda: None)  # only a process that ends leaves its garbage
        patched.setenv("COLUMNS", "120")
        try:
            main()
        except SystemExit as end:
            code = int(end.code or 0)
        finally:
            gc.enable()
    return subprocess.CompletedProcess(arguments, code, out.getvalue(), err.getvalue())


@contextmanager
def disk(folder: Path, options: str = f"size={SMALL}") -> Iterator[Path]:
    """A file system of its own, which only some may mount."""
    folder.mkdir()
    mounted = (
        shutil.which("mount")
        and not subprocess.run(
            ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder)], capture_output=True, check=False
        ).returncode
    )
    if not mounted:
        pytest.skip("only root may mount a file system")
    try:
        yield folder
    finally:
        subprocess.run(["umount", str(folder)], check=True)
