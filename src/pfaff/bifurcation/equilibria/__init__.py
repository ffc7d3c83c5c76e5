"""Branches of equilibria and steady motions, and the special points on them.

Read ``linearised`` and ``rest_equations`` (what vanishes on a branch), ``starts`` (where one begins), then
``eigenvalues``, ``special_points`` (the problem that the engine follows) and ``branches`` (its results; ``rest_points``
is what they share with curves, ``meetings`` their eigenvalues for pictures). ``branch_points`` and ``zero_forms`` are
the algebra where an eigenvalue is zero, ``special_forms`` the normal forms of special points. Units of states:
``state_sizes``, by ``even_units`` and ``first_rates``; of parameters: ``parameter_units``.

Large sparse flows: ``sparse_equations``, ``sparse_points``, ``sparse_branch_points``, ``sparse_crossings``. Assemblies:
``assembled_equations``, ``assembled_points``, ``assembled_branches``, ``assembled_archive``.

Compiled loops (``branch_loops`` lists them): ``regular`` hands regular stretches to them, and they step by the engine's
rules until something unusual happens. ``first_rests`` finds where a branch begins, ``walker`` takes the steps,
``corrector`` finds their points, ``between`` says what happens in a step, by ``spectra``, ``step_cubics`` and
``curve_tests``, ``locator`` finds where a test vanishes. Where states are many, ``few_eigenvalues`` are watched in
``eigenframes``, and ``unwatched`` says that no other matters. A ``loop_system`` is what loops know of a problem; they
call equations and LAPACK by ``addresses``, and one another by ``linking``, without ``reference_counts``.
"""
