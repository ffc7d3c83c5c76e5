"""Curves of folds, of branch points and of Hopf points in two parameters.

Read ``singular`` (the equation that joins those of the equilibrium, for folds), ``branchings`` and ``hopfs``, then
``curves`` (the results) and ``switching`` (to other curves at points of codimension two, from points ``beside`` them;
``loop_starts`` finds homoclinic orbits there). ``sparse_singular`` holds the problems for large sparse flows, and
``rest_archive`` keeps curves and branches of equilibria in files.
"""
