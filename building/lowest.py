#!/usr/bin/env python3
"""Print the lowest versions that pyproject.toml allows of what pfaff needs, as constraints for pip."""

import re
import tomllib
from pathlib import Path

PROJECT = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def lowest(requirement: str) -> str:
    """numpy>=2.0 as numpy==2.0"""
    name, bound = re.fullmatch(r"([\w.-]+)>=([\w.]+).*", requirement).groups()
    return f"{name}=={bound}"


if __name__ == "__main__":
    print(*map(lowest, PROJECT["dependencies"]), sep="\n")
