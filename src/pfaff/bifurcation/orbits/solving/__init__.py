"""Periodic orbits solved for by compiled loops.

``meshes``, ``condensation`` (of the collocation equations of an interval to its ends), ``chain`` (of all intervals) and
``products`` make a Newton step, ``orbit_newton`` repeats it, in ``workspaces``. ``strides`` takes a step along a branch
in one call, ``orbit_walker`` (with ``walk_terms`` and ``orbit_records``) a stretch by the engine's rules, of which
``walked_orbits`` makes points; ``step_rules`` hold for compiled steps and for Python's.
"""
