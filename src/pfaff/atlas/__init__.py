"""Ready systems, one function each; ``column_assembly`` is the column of very many bars."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pfaff.atlas.andrews_squeezer import andrews_squeezer
from pfaff.atlas.bottema import bottema, bottema_general
from pfaff.atlas.column import column, reut, ziegler
from pfaff.atlas.double_four_bar import double_four_bar
from pfaff.atlas.slider_crank import slider_crank

if TYPE_CHECKING:
    from pfaff.atlas.chain import column_assembly

SYSTEMS = (
    "andrews_squeezer",
    "bottema",
    "bottema_general",
    "column",
    "double_four_bar",
    "reut",
    "slider_crank",
    "ziegler",
)

__all__ = [
    "SYSTEMS",
    "andrews_squeezer",
    "bottema",
    "bottema_general",
    "column",
    "column_assembly",
    "double_four_bar",
    "reut",
    "slider_crank",
    "ziegler",
]


def __getattr__(name: str) -> Any:
    """Sparse assemblies are loaded when they are asked for."""
    if name == "column_assembly":
        from pfaff.atlas.chain import column_assembly

        return column_assembly
    raise AttributeError(f"module 'pfaff.atlas' has no attribute {name!r}")
