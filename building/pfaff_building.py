"""Kernels built where the package is developed, and built again when their sources have changed.

An editable installation has this module as ``pfaff_editable``, which ``install``s a finder when Python starts: it finds
the kernels of whatever working tree the package is imported from. The build backend shares its choice of a compiler.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.machinery import ExtensionFileLoader, ModuleSpec
from importlib.util import spec_from_file_location
from pathlib import Path

KERNELS = "pfaff.kernels."
ZIG = "ziglang>=0.13"
BUILT = "built"  # as old as the beginning of the last build: what is newer must be built again
COMPILERS = ("cc", "gcc", "clang")  # MSVC has no vectors, and may join multiplications and additions


def lacks_compiler() -> bool:
    import shutil  # not above: this module is imported whenever Python starts

    stated = os.environ.get("CC")
    if stated:
        return Path(stated).stem.lower() == "cl"
    if sys.platform == "win32":  # whose stack is not aligned for the wide registers that GCC keeps on it
        return True
    found = list(filter(None, map(shutil.which, COMPILERS)))
    if sys.platform == "darwin" and all(
        each.startswith("/usr/bin/") for each in found
    ):  # words that ask for Apple's tools
        return not found or _fails(["xcode-select", "-p"])
    return not found


def _fails(command: list[str]) -> bool:
    import subprocess

    try:
        return subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode != 0
    except OSError:
        return True


def with_compiler() -> dict[str, str]:
    """The environment for a build: zig, which a wheel has, where there is no other compiler."""
    environment = dict(os.environ)
    if lacks_compiler():
        zig = f"{_quoted(sys.executable)} -m ziglang"
        environment |= {"CC": f"{zig} cc -mcpu=baseline", "AR": f"{zig} ar"}
    return environment


def _quoted(word: str) -> str:
    """A word of a command as meson splits it again."""
    if sys.platform == "win32":
        from subprocess import list2cmdline

        return list2cmdline([word])
    from shlex import quote

    return quote(word)


def forget_others(folder: Path) -> None:
    """Remove what another compiler or another Python left in a folder."""
    import shutil

    found = map(shutil.which, COMPILERS)
    builder = "\n".join([sys.executable, with_compiler().get("CC", ""), *(each or "" for each in found)])
    named = folder / "builder"
    if not named.exists() or named.read_text(encoding="utf-8") != builder:
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        named.write_text(builder, encoding="utf-8")


def build(root: Path) -> Path:
    """Build the kernels of a working tree; returns the folder that has them."""
    folder, environment = root / "build" / "kernels", with_compiler()
    with _alone(root / "build" / "kernels.lock"), noted(folder):
        if not (folder / "build.ninja").exists():
            _run([sys.executable, "-m", "mesonbuild.mesonmain", "setup", str(folder), str(root)], environment)
        _run([sys.executable, "-m", "ninja", "-C", str(folder)], environment)
    return folder


@contextmanager
def noted(folder: Path) -> Iterator[None]:
    """Note when a build began that ends well: sources that change meanwhile are newer.

    By a file that is written then, since clocks of files may lag behind others.
    """
    folder.mkdir(parents=True, exist_ok=True)
    begun = folder / "begun"
    begun.touch()
    yield
    begun.replace(folder / BUILT)


def _run(command: list[str], environment: dict[str, str]) -> None:
    import subprocess

    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode:
        raise ImportError(f"the kernels of pfaff cannot be built: {' '.join(command)}\n{done.stdout}")


@contextmanager
def _alone(path: Path) -> Iterator[None]:
    """Let one process build at a time, where files can be locked."""
    path.parent.mkdir(exist_ok=True)
    with path.open("w") as lock:
        try:
            import fcntl
        except ImportError:
            pass
        else:
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


class Finder:
    """Finds compiled kernels for sources in a working tree."""

    @classmethod
    def find_spec(cls, name: str, path: Sequence[str] | None = None, target: object = None) -> ModuleSpec | None:
        if not name.startswith(KERNELS) or not path:
            return None
        sources = Path(path[-1])
        root, module = sources.parents[2], name.removeprefix(KERNELS)
        if not (root / "meson.build").exists() or not (sources / f"{module}.py").exists():
            return None
        folder = root / "build" / "kernels"
        rules = [root / "meson.build", root / "building/wide/meson.build"]
        if _outdated(folder / BUILT, [*rules, *sources.iterdir()]) and not _ahead(folder / BUILT, rules):
            folder = build(root)
        # Those for wide registers come first, where there are any.
        folders = [folder / "building/wide", folder] if len(path) > 1 else [folder]
        for binary in (each for place in folders for each in place.glob(f"{module}.*")):
            if binary.suffix in (".so", ".pyd"):
                return spec_from_file_location(name, binary, loader=ExtensionFileLoader(name, str(binary)))
        return None  # a module that is not compiled


def _outdated(built: Path, sources: list[Path]) -> bool:
    try:
        made = built.stat().st_mtime_ns
    except FileNotFoundError:
        return True
    return any(each.is_file() and each.stat().st_mtime_ns > made for each in sources)


def _ahead(built: Path, rules: list[Path]) -> bool:
    """Whether there are kernels, but meson would refuse to build them again: its files are of the future."""
    import time
    import warnings

    future = [each for each in rules if each.is_file() and each.stat().st_mtime > time.time()]
    if not future or not built.exists():
        return False
    names = " and ".join(map(str, future))
    warnings.warn(
        f"kernels of pfaff are used as they were built: {names} was changed in the future; touch it", stacklevel=2
    )
    return True


def install() -> None:
    sys.meta_path.insert(0, Finder)
