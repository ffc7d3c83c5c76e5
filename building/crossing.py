#!/usr/bin/env python3
"""Compile and link all kernels for every platform of the wheels, by zig: what does not build there is seen here.

    python building/crossing.py [TARGET …]

Nothing is run. C is read from build/kernels, where the kernels were built for this machine. Python's configuration is
another one on Windows: ``WINDOWS`` is what kernels need of it; the library to link with has the names of this Python.
"""

from __future__ import annotations

import re
import subprocess
import sys
import sysconfig
from pathlib import Path
from shutil import copytree
from tempfile import TemporaryDirectory

ROOT = Path(__file__).parents[1]
PUBLIC = re.compile("_?Py[A-Z]?[A-Za-z]*_")
STRICT = ["-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math"]  # as meson.build says
TARGETS = {
    "x86_64-linux-gnu.2.28": ["-fPIC", "-shared"],
    "aarch64-linux-gnu.2.28": ["-fPIC", "-shared"],
    "x86_64-macos.11.0": ["-fPIC", "-shared", "-Wl,-undefined,dynamic_lookup"],
    "aarch64-macos.11.0": ["-fPIC", "-shared", "-Wl,-undefined,dynamic_lookup"],
    "x86_64-windows-gnu": ["-shared"],
}
WINDOWS = """
#define MS_WINDOWS
#define MS_WIN32
#define MS_WIN64
#define Py_ENABLE_SHARED 1
#define HAVE_DECLSPEC_DLL
#define HAVE_DYNAMIC_LOADING
#define SIZEOF_SHORT 2
#define SIZEOF_INT 4
#define SIZEOF_LONG 4
#define SIZEOF_LONG_LONG 8
#define SIZEOF_VOID_P 8
#define SIZEOF_SIZE_T 8
#define SIZEOF_TIME_T 8
#define SIZEOF_WCHAR_T 2
#define SIZEOF_FLOAT 4
#define SIZEOF_DOUBLE 8
#define ALIGNOF_LONG 4
"""


def zig(*arguments: str) -> str:
    done = subprocess.run([sys.executable, "-m", "ziglang", *arguments], capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"zig {' '.join(arguments)}\n{done.stderr}")
    return done.stdout


def crossed(target: str, folder: Path, optimised: str = "-O3") -> list[Path]:
    """Binaries for a target, in a folder."""
    headers, linked = Path(sysconfig.get_path("include")), list(TARGETS[target])
    if "windows" in target:
        headers = copytree(headers, folder / "include")
        (headers / "pyconfig.h").write_text(WINDOWS, encoding="utf-8")
        linked += [str(import_library(folder)), "-Wl,--no-undefined"]
    include = [f"-I{ROOT / 'src/pfaff/kernels'}", f"-I{headers}"]
    made = []
    for source in sorted((ROOT / "build/kernels").glob("*.c")):
        for wide in [[], ["-mavx2"]] if target.startswith("x86_64") and source.stem != "processor" else [[]]:
            binary = folder / f"{source.stem}{'_wide' if wide else ''}.bin"
            options = [optimised, "-DNDEBUG", "-DPy_LIMITED_API=0x030b0000", *STRICT, *wide, *include]
            zig("cc", "-target", target, "-mcpu=baseline", *options, str(source), "-o", str(binary), *linked)
            made.append(binary)
    return made


def import_library(folder: Path) -> Path:
    """A library for python3.dll, with the names that this Python has."""
    shared = Path(sysconfig.get_config_var("LIBDIR")) / sysconfig.get_config_var("LDLIBRARY")
    python = shared if shared.suffix == ".so" else Path(sys.executable)
    listed = subprocess.run(["nm", "-D", "--defined-only", str(python)], capture_output=True, text=True, check=True)
    names = {
        line.split()[-1]: line.split()[-2] for line in listed.stdout.splitlines() if PUBLIC.match(line.split()[-1])
    }
    exported = "".join(f"  {name}{' DATA' if kind in 'BDR' else ''}\n" for name, kind in sorted(names.items()))
    (folder / "python3.def").write_text(f"LIBRARY python3.dll\nEXPORTS\n{exported}", encoding="utf-8")
    library = folder / "libpython3.a"
    zig("dlltool", "-m", "i386:x86-64", "-d", str(folder / "python3.def"), "-l", str(library))
    return library


if __name__ == "__main__":
    for each in sys.argv[1:] or TARGETS:
        with TemporaryDirectory() as place:
            print(f"{each}: {len(crossed(each, Path(place)))} binaries", flush=True)
