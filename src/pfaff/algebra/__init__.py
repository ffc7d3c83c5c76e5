"""Numbers and matrices, whatever they stand for: pencils, roots, quadratures, units. Knows nothing of mechanics."""
