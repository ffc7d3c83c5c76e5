"""Periodic orbits: collocation, Floquet multipliers, branches and the special points on them.

Read ``orbit_problem`` (what is asked for), ``cycles`` and ``orbit_equations``, ``collocation`` (with ``solutions``) and
``floquet``, then ``stepping`` (an orbit near another), ``following`` (the problem that the engine follows, with
``chords`` and ``quiet_steps``, where nothing happens), ``special_orbits`` (with ``singular_orbits``, ``parabolas`` and
``canard_folds``) and the results: ``orbits`` (with ``orbit_measures`` and ``orbit_checks``), ``orbit_in_time``,
``orbit_branch`` (in files by ``orbit_archive``), ``cascade``; ``displacement`` (what symmetries do in a period).

Where branches start: ``newborn``, ``from_motions`` (with ``recurrence`` and ``loops``), ``orbit_switching``. How they
cross: ``null_vectors``; leave a chart: ``passage``; end: ``orbit_ends``, ``saddle_nodes``, ``lost_rows``. Normal forms:
``variation``, ``cycle_forms``. Families: ``conserved`` quantities, their ``levels``, ``neutral`` orbits; ``forced``
ones. A step is one call of a kernel. Very many states: ``many_states``.
"""
