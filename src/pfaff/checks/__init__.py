"""What every result verifies before it speaks, by a second route that is cheap and independent of the first.

Read ``check`` (one verification, and how a result carries it). The other modules have one family of results each and
are given plain numbers and functions, so that what they promise can be read, and tried on a corrupted result, alone:
``hopf`` (mode and verdict of a Hopf point).
Knows no analysis: results of later rooms hand over what is to be verified.
"""

from pfaff.checks.check import Check, Checked, doubted

__all__ = ["Check", "Checked", "doubted"]
