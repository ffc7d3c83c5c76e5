"""Loops as machine code: compiled by numba, kept on disk, and calling one another, equations and LAPACK directly.

``kernels`` compiles, ``kernel_cache`` keeps on disk; ``addresses`` are those of LAPACK and of compiled equations,
``linking`` joins loops that call one another, without ``reference_counts``. Nothing here knows what a branch is.
"""
