"""What every result verifies before it speaks, by a second route that is cheap and independent of the first.

Read ``check`` (one verification, and how a result carries it). The other modules have one family of results each and
are given plain numbers and functions, so that what they promise can be read, and tried on a corrupted result, alone:
``dynamics`` (accelerations and reactions), ``rests`` (equilibria, steady motions), ``spectra`` (eigenvalues),
``motions`` (between their steps, in their energies and constraints), ``hopf`` (mode and verdict of a Hopf point),
``multipliers`` (of orbits, and the energy of conservative ones), ``branch_promises`` (equilibria along a parameter,
their special points and curves of these), ``orbit_promises`` (cycles, responses, connecting orbits), ``symmetries``
(that were divided out).
Knows no analysis: results of later rooms hand over what is to be verified.
"""

from pfaff.checks.check import Check, Checked, doubted, nearest, unmade

__all__ = ["Check", "Checked", "doubted", "nearest", "unmade"]
