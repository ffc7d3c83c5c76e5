"""Numbers and matrices, whatever they stand for: pencils, roots, quadratures, units. Knows nothing of mechanics.

``tolerances`` is the one place for what counts as zero, real, growing, of lower rank, a family, settled;
``newtons_method`` has the one loop of it. ``pencil`` gives eigenvalues of all ``scales`` with errors (``modes``),
``light`` the growth rates of light damping, ``bordering`` what is singular because solutions come in families, and
``structural_zeros`` Jacobians without the zeros of these.
"""
