"""Ready systems by topic, one function each; ``column_assembly`` is the column of very many bars.

A new system is one import and one entry in ``TOPICS``; the first line of its docstring says what it is.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from pfaff.atlas.bottema import bottema, bottema_general
from pfaff.atlas.column import column, reut, ziegler

if TYPE_CHECKING:
    from pfaff.atlas.chain import column_assembly as column_assembly
    from pfaff.system import System

TOPICS: dict[str, tuple[Callable[..., System], ...]] = {
    "Columns of rigid bars": (
        column,
        ziegler,
        reut,
    ),
    "Small vibrations of nonholonomic systems": (
        bottema,
        bottema_general,
    ),
}

SYSTEMS: dict[str, Callable[..., System]] = {make.__name__: make for topic in TOPICS.values() for make in topic}


def __getattr__(name: str) -> Any:
    """Sparse assemblies are loaded when they are asked for."""
    if name == "column_assembly":
        from pfaff.atlas.chain import column_assembly

        return column_assembly
    raise AttributeError(f"module 'pfaff.atlas' has no attribute {name!r}")
