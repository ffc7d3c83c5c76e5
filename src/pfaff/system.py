"""The address at which scripts find the statement of a mechanical system; it lives in ``pfaff.statement``."""

from pfaff.statement import TIME, Drawing, System, coordinates

__all__ = ["TIME", "Drawing", "System", "coordinates"]
