"""Random systems and independent references: pfaff's digits against others that share no code with it.

``PFAFF_CROSS=200`` takes every test through 200 examples, ``PFAFF_CROSS=100:200`` through those of another range.
"""

import os
from collections.abc import Sequence


def examples(*few: int) -> Sequence[int]:
    """Seeds of the examples: a few that are quick and rich, unless the environment asks for a range of them."""
    if "PFAFF_CROSS" not in os.environ:
        return few
    first, _, last = os.environ["PFAFF_CROSS"].rpartition(":")
    return range(int(first or 0), int(last))
