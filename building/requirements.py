"""Print what builds the package: where it is developed, that is needed whenever a kernel has changed."""

import tomllib
from pathlib import Path

from pfaff_building import ZIG, lacks_compiler

PROJECT = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text(encoding="utf-8"))
print(*PROJECT["build-system"]["requires"], *([ZIG] if lacks_compiler() else []))
