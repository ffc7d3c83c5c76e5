#!/usr/bin/env python3
"""Translate kernels to C in one process: Cython's start takes longer than most of them.

``translate.py ROOT FOLDER NAME …``: kernels by name, below a root; what has not changed keeps its date, so that it is
not compiled again.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from Cython.Compiler.Main import CompilationOptions, compile_single, default_options


def main(root: str, folder: str, *names: str) -> int:
    target, failed = Path(folder).resolve(), 0
    os.chdir(root)  # paths in tracebacks begin here
    for name in names:
        fresh, kept = target / f"{name}.new", target / f"{name}.c"
        options = CompilationOptions(default_options, language_level=3, include_path=["src"], output_file=str(fresh))
        found = compile_single(f"src/pfaff/kernels/{name}.py", options, full_module_name=f"pfaff.kernels.{name}")
        if found.num_errors:
            failed += 1
        elif kept.exists() and kept.read_bytes() == fresh.read_bytes():
            fresh.unlink()
        else:
            fresh.replace(kept)
    return min(failed, 1)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
