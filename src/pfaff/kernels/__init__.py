"""Loops that are compiled ahead of time: Python that Cython translates, the same text for both.

Read ``balancing`` and ``eigenvalues`` (of matrices), then ``elementary`` (sines, exponentials and logarithms with the
same digits everywhere) and ``hyperbolic``, ``instructions`` (of tapes, on registers) and ``readers`` (what a tape is
worth, at one point or in lanes), then ``coefficients`` (of Taylor series), ``taylor_steps`` and ``taylor_lanes`` (the
motion of one state or of many). ``many_matrices`` and ``many_polynomials`` are linear algebra at many points at once.
Nothing here knows of mechanics: kernels take arrays and numbers.

Those that gain by it are built twice, for any processor and for those with registers of four numbers, which
``processor`` recognises. Their digits are the same.
"""

from pathlib import Path

from pfaff.kernels import processor

if processor.wide():
    __path__.insert(0, str(Path(__file__).parent / "wide"))
