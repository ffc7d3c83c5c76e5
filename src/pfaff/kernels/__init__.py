"""Loops that are compiled ahead of time: Python that Cython translates, the same text for both.

Read ``elementary`` (sines, exponentials and logarithms with the same digits everywhere), ``values`` (what a tape of
instructions is worth, at one point or in lanes). Nothing here knows of mechanics: kernels take arrays and numbers.
"""
