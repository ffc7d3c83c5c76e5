"""Compiled equations: what is evaluated of a statement, again and again, by all later rooms.

Read ``graph`` (a statement as heyoka's expressions), ``compiled``, ``flow`` (ẋ = f) and ``lowering`` (on all
coordinates or on shape space; ``all_velocities`` where no chart will do), then ``statics`` (at rest), ``jets``
(derivatives of any order, with ``polarisation``), ``collected`` (for integration) and ``initial`` (states that obey
the constraints). Of large systems: ``patterns``, ``sparse_pencil`` and ``assembly`` at rest, ``part_dynamics`` and
``assembly_equations`` in motion; ``sparse_jacobian`` of plain ODEs. Knows equations; whether something is stable is
asked later.
"""
