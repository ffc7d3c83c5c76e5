"""Periodic orbits: collocation, Floquet multipliers, branches and the special points on them.

Read ``orbit_problem`` (what is asked for), ``cycles`` and ``orbit_equations``, ``collocation`` and ``floquet``, then
``stepping`` (an orbit near another, by ``step_rules``), ``following`` (the problem that the engine follows, with
``chords`` and ``silence``, where nothing happens), ``special_orbits`` (with ``singular_orbits``, ``parabolas`` and
``canard_folds``) and the results: ``orbits``, ``orbit_in_time``, ``orbit_branch`` (in files by ``orbit_archive``), ``cascade``.

Where branches start: ``from_motions`` (with ``recurrence`` and ``loops``) and ``ways``. How they cross:
``null_vectors``; leave a chart: ``passage``; end: ``orbit_ends``, ``saddle_nodes``. Normal forms: ``variation``,
``cycle_forms``. Families: ``conserved`` quantities, their ``levels``, ``neutral`` orbits; ``forced`` ones.

Compiled: ``meshes``, ``condensation``, ``chain``, ``products`` and ``orbit_newton`` solve for an orbit, ``strides``
takes a step in one call, ``orbit_walker``, with ``walk_terms`` and ``orbit_records``, a stretch, of which
``walked_orbits`` makes points; they use ``workspaces`` and ``vectors``. ``kernels`` compiles, ``sealed`` keeps on disk.
Very many states: ``sparse_collocation`` (with ``sparse_chain``) and ``sparse_stepping``.
"""
