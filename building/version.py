#!/usr/bin/env python3
"""Print the version of the package, which its source states."""

import re
from pathlib import Path

SOURCE = Path(__file__).parents[1] / "src/pfaff/__init__.py"
print(re.search(r'^__version__ = "(.+)"$', SOURCE.read_text(encoding="utf-8"), re.MULTILINE)[1])
