"""Curves of folds and of Hopf points in two parameters.

Read ``singular`` (the equation that joins those of the equilibrium, for folds) and ``hopfs``, then ``curves`` (the
results); ``rest_archive`` keeps them and branches of equilibria in files.
"""
