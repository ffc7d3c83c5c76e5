"""Loops that are compiled ahead of time: Python that Cython translates, the same text for both.

Read ``elementary`` (sines, exponentials and logarithms with the same digits everywhere) and ``hyperbolic``, then
``instructions`` (of tapes, on registers) and ``readers`` (what a tape is worth, at one point or in lanes), then
``coefficients`` (of Taylor series), ``taylor_steps`` and ``taylor_lanes`` (the motion of one state or of many), and
``linear`` (LU factors and eigenvalues of small matrices). Branches of equilibria begin at ``first_rests``;
``corrector`` finds their points and those of curves, ``branch_steps`` goes from one to the next, and ``branch_tests``
says what happens in between, by ``spectra``: where states are many, by the few eigenvalues of ``eigenframes``. Nothing
here knows of mechanics: kernels take ``arrays`` and numbers.

Periodic orbits: ``condensation`` (of the collocation equations of an interval to its ends), ``chain`` (of all
intervals), ``metrics`` and ``meshes`` make a Newton step, ``periodic_schur`` gives multipliers. ``orbit_steps`` repeats
it and takes steps along branches, by ``step_rules``; ``orbit_walks`` takes stretches of them.

Kernels are built for any processor; those that gain by it once more for registers of four numbers, which ``processor``
recognises.
Their digits are the same.
"""

from pathlib import Path

from pfaff.kernels import processor

if processor.wide():
    __path__.insert(0, str(Path(__file__).parent / "wide"))
