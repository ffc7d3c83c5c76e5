"""Ready systems, one function each."""

from pfaff.atlas.bottema import bottema, bottema_general
from pfaff.atlas.column import column, reut, ziegler

__all__ = ["bottema", "bottema_general", "column", "reut", "ziegler"]
