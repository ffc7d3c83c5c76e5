# cython: language_level=3
"""What the processor can do."""

from __future__ import annotations

import cython

if cython.compiled:
    from cython.cimports.pfaff.kernels.processor import has_wide_registers
else:

    def has_wide_registers():
        return False


def wide() -> bool:
    """Whether it adds four numbers at once: kernels are built for that as well, with the same digits."""
    return has_wide_registers()
