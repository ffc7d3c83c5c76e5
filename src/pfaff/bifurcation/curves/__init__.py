"""Curves of folds and of Hopf points in two parameters.

Read ``singular`` (the equation that joins those of the equilibrium, for folds) and ``hopfs``, then ``curves`` (the
results); ``sparse_singular`` has both problems for large sparse flows, and ``rest_archive`` keeps curves and branches
of equilibria in files.
"""
