"""Numbers and matrices, whatever they stand for: pencils, roots, quadratures, units. Knows nothing of mechanics.

Read ``tolerances`` (the one place for what counts as zero, real, growing, of lower rank, a family, settled),
``newtons_method`` (the one loop of it, and what may end it) and ``units``.

Eigenvalues: ``pencil`` gives those of all ``scales`` with errors (``modes``), on ``polynomials``; ``light`` gives the
growth rates of light damping, and ``rounding`` what remains uncertain.

Singular matrices: ``allowed_inertia`` where constraints hold what has none, ``bordering`` where solutions come in
families, ``structural_zeros`` for Jacobians without the zeros of these; sparse ones by ``factors`` and
``sparse_borders``.

Roots and quadratures: ``brackets`` (one root) and ``roots`` (all) of functions, ``cubics`` and parabolas through known
values, ``gauss`` and ``radau`` for collocation. ``one_thread`` restricts BLAS.
"""
