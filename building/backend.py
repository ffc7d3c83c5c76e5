"""The build backend: that of meson-python, which gets zig, a compiler that comes as a wheel, where there is no other.

An editable installation reads the sources where they are, with their bytecode, and finds kernels by ``pfaff_building``.
"""

from __future__ import annotations

import base64
import hashlib
import os
import sysconfig
import zipfile
from pathlib import Path
from typing import Any

import mesonpy
from pfaff_building import ZIG, forget_others, lacks_compiler, noted, with_compiler

ROOT = Path(__file__).parents[1]


def get_requires_for_build_wheel(config_settings: Any = None) -> list[str]:
    return [ZIG] if lacks_compiler() else []


get_requires_for_build_editable = get_requires_for_build_sdist = get_requires_for_build_wheel


def build_wheel(wheel_directory: str, config_settings: Any = None, metadata_directory: Any = None) -> str:
    _prepare()
    return str(mesonpy.build_wheel(wheel_directory, config_settings, metadata_directory))


def build_sdist(sdist_directory: str, config_settings: Any = None) -> str:
    _prepare()
    return str(mesonpy.build_sdist(sdist_directory, config_settings))


def build_editable(wheel_directory: str, config_settings: Any = None, metadata_directory: Any = None) -> str:
    """The wheel of meson-python with another finder: its own reads all sources anew in every process."""
    _prepare()
    folder = ROOT / "build" / "kernels"
    forget_others(folder)
    with noted(folder):
        name = mesonpy.build_editable(wheel_directory, {**(config_settings or {}), "build-dir": str(folder)})
    _exchange_finder(Path(wheel_directory) / name)
    return str(name)


def _prepare() -> None:
    """Environment in which meson finds a compiler, and what is installed beside this Python."""
    os.environ |= with_compiler()
    os.environ["PATH"] = os.pathsep.join([sysconfig.get_path("scripts"), os.environ.get("PATH", os.defpath)])


def _exchange_finder(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        kept = {each: archive.read(each) for each in archive.namelist() if ".dist-info/" in each}
    record = next(each for each in kept if each.endswith(".dist-info/RECORD"))
    del kept[record]
    # By another name than here, lest an older one that is installed be found in its place.
    kept["pfaff_editable.py"] = (ROOT / "building" / "pfaff_building.py").read_bytes()
    kept["pfaff.pth"] = f"{ROOT / 'src'}\nimport pfaff_editable; pfaff_editable.install()\n".encode()
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as archive:
        for each, content in kept.items():
            archive.writestr(each, content)
        archive.writestr(
            record,
            "".join(f"{each},{_hash(content)},{len(content)}\n" for each, content in kept.items()) + f"{record},,\n",
        )


def _hash(content: bytes) -> str:
    return "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
