"""Numbers and matrices, whatever they stand for: pencils, roots, quadratures, units.

Read ``units`` and ``pencil`` (eigenvalues with their errors) first, then ``bordering`` (what a family adds to a
matrix) and ``roots``; ``gauss`` and ``radau`` are tableaux, ``factors`` is for sparse matrices. Knows nothing of
mechanics: whoever asks says what is large and what is small.
"""
