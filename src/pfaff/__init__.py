"""pfaff: mechanical systems with Pfaffian constraints, their stability and motion."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pfaff import atlas
    from pfaff.case import Case
    from pfaff.errors import PfaffError
    from pfaff.system import Drawing, System

__version__ = "0.1.0"

_HOMES = {"System": "pfaff.system", "Drawing": "pfaff.system", "Case": "pfaff.case", "PfaffError": "pfaff.errors"}

__all__ = ["Case", "Drawing", "PfaffError", "System", "__version__", "atlas"]


def __getattr__(name: str) -> Any:
    """Rooms open when they are entered: importing pfaff costs nothing."""
    if name == "atlas":
        return importlib.import_module("pfaff.atlas")
    if name in _HOMES:
        return getattr(importlib.import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'pfaff' has no attribute {name!r}")
