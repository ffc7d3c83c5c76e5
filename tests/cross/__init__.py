"""Random systems and independent references: pfaff's digits against others that share no code with it.

``PFAFF_CROSS=200`` takes every test through 200 examples, ``PFAFF_CROSS=100:200`` through those of another range.
"""

import os


def examples(few: int) -> range:
    """Seeds of the examples: few, unless the environment asks for more."""
    first, _, last = os.environ.get("PFAFF_CROSS", str(few)).rpartition(":")
    return range(int(first or 0), int(last))
