"""Regular stretches of branches and curves, taken by compiled loops (``branch_loops`` lists them).

``regular`` hands a stretch over, and they step by the engine's rules until something unusual happens. ``first_rests``
finds where a branch begins, in ``even_units``; ``walker`` takes the steps, ``corrector`` finds their points,
``step_tests`` says what happens in a step, by ``spectra``, ``step_cubics`` and ``curve_tests``, and ``locator`` finds
where a test vanishes. Where states are many, ``few_eigenvalues`` are watched in ``eigenframes``, and ``decay_bounds``
says that no other matters. A ``loop_system`` is what loops know of a problem.
"""
