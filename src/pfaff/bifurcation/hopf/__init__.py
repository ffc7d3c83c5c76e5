"""Hopf points: their normal forms, and the first orbits of the branches that are born there.

Read ``hopf`` (the result), ``finding`` (where along a path), ``extended`` (Newton's method for the point itself;
``sparse_hopf`` for large flows), ``crossing``, ``normal_form`` with ``along_families``, ``criticality`` (what it
implies) and ``verdicts`` (which of these, and whether the first cycle agrees); then ``births`` (the first orbit),
``growth`` (in physical terms) and ``generalised`` (where l1 vanishes).
"""
