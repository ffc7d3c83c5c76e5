"""Branches of equilibria and steady motions, and the special points on them.

Read ``linearised`` and ``rest_equations`` (what vanishes on a branch), ``starts`` (where one begins), then
``eigenvalues``, ``special_points`` (the problem that the engine follows) and ``branches`` (its results; ``rest_points``
is what they share with curves). ``branch_points`` and ``zero_forms`` are the algebra where an eigenvalue is zero,
``special_forms`` what is told about special points. Large sparse flows: ``sparse_equations``, ``sparse_points``,
``sparse_branch_points``, ``sparse_crossings``. Assemblies: ``assembled_equations``, ``assembled_points``,
``assembled_branches``, ``assembled_archive``.

``regular`` hands regular stretches to compiled loops, which step by the engine's rules until something unusual happens:
``walker`` takes them, ``corrector`` finds their points, ``between`` says what happens in a step, by ``spectra``,
``step_cubics`` and ``curve_tests``, ``locator`` finds where a test vanishes. Where states are many, ``few_eigenvalues``
are watched in ``eigenframes``, and ``unwatched`` says that no other matters. What loops know of a problem is a
``loop_system``; they call equations and LAPACK by ``addresses``, and one another by ``linking``, without
``reference_counts``.
``first_rests``, ``first_rates`` and ``even_units`` are where branches begin.
"""
