"""Branches of large systems, by sparse matrices.

Sparse flows: ``sparse_equations``, ``sparse_points``, ``sparse_branch_points``, ``sparse_crossings``. Assemblies:
``assembled_equations``, ``assembled_points``, ``assembled_branches``, ``assembled_archive``.
"""
