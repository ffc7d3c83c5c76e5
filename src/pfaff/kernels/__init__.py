"""Loops that are compiled ahead of time: Python that Cython translates, the same text for both.

First ``balancing``, ``schur`` (eigenvalues) and ``linear`` (algebra of small matrices), then ``elementary`` (sines,
exponentials and logarithms with the same digits everywhere) and ``hyperbolic``, ``instructions`` (of tapes, on
registers) and ``readers`` (what a tape is worth, at one point or in lanes), then ``coefficients`` (of Taylor series),
``taylor_steps`` and ``taylor_lanes`` (the motion of one state or of many). ``many_matrices`` and ``many_polynomials``
are linear algebra at many points at once.

Equilibria: ``corrector`` (equations and Newton's method), ``first_rests`` (where a branch begins), ``spectra`` and
``eigenframes`` (eigenvalues along a branch), ``branch_tests`` (what happens in a step) and ``branch_steps``.

Periodic orbits: ``condensation`` (of the collocation equations of an interval to its ends), ``chain`` (of all
intervals), ``metrics`` and ``meshes`` make a Newton step, ``periodic_schur`` gives multipliers. ``orbit_steps`` repeats
it and takes steps along branches, by ``step_rules``.

Nothing here knows of mechanics: kernels take ``arrays`` and numbers. Those that gain by it are built twice, for any
processor and for those with registers of four numbers, which ``processor`` recognises. Their digits are the same.
"""

from pathlib import Path

from pfaff.kernels import processor

if processor.wide():
    __path__.insert(0, str(Path(__file__).parent / "wide"))
