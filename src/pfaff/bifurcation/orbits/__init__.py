"""Periodic orbits: collocation, Floquet multipliers, branches and the special points on them.

Read ``cycles``, ``orbit_equations`` and ``collocation`` (with ``meshes``, ``condensation``, ``chain`` and
``orbit_newton``) and ``floquet``, then ``stepping`` (an orbit near another; ``strides`` takes a step in one compiled
call), ``following`` (the problem that the engine follows; ``silence`` says where nothing happens; ``orbit_walker``,
with ``walk_terms`` and ``orbit_records``, takes stretches where nothing does, ``walked_orbits`` makes points of them),
``special_orbits`` and the results: ``orbits``, ``orbit_in_time``, ``orbit_branch``. ``from_motions`` and ``ways`` are
where branches start, ``null_vectors`` how they cross, ``passage`` how they leave a chart, ``orbit_ends`` how they
vanish; ``variation`` and ``cycle_forms`` say what happens at special ones. Very many states:
``sparse_collocation`` (with ``sparse_chain``) and ``sparse_stepping``.
"""
