"""Branches of equilibria and steady motions, and the special points on them.

Read ``linearised`` and ``rest_equations`` (what vanishes on a branch), ``starts`` (where one begins), then
``eigenvalues``, ``special_points`` (the problem that the engine follows) and ``branches`` (its results; ``rest_points``
is what they share with curves, ``stored_points`` what their files do, ``eigenvalue_paths`` their eigenvalues for
pictures). ``branch_points`` and ``zero_forms`` are the algebra where an eigenvalue is zero, ``ways_off`` leads onto the
branch that crosses; ``together`` finds what several eigenvalues do at one place, ``special_forms`` are normal forms of
special points. ``full_balance`` is rest in all coordinates, by which ``verified_points`` verifies
branches. Units of states: ``state_sizes``, by ``first_rates``; of parameters: ``parameter_units``. Large systems:
``many_states``. Kernels take regular stretches: ``regular`` hands them over, by ``branch_rules``.
"""
