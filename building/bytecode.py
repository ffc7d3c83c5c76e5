#!/usr/bin/env python3
"""Print the folders of bytecode in the package, which no wheel needs."""

from pathlib import Path

PACKAGE = Path(__file__).parents[1] / "src/pfaff"
print(*sorted(each.relative_to(PACKAGE).as_posix() for each in PACKAGE.rglob("__pycache__")), sep="\n")
