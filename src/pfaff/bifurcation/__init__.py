"""Bifurcations: where equilibria and orbits change, and what is born there.

Read ``equilibria`` (their branches and special points) and ``hopf`` (a point, its normal form, its first orbit), then
``orbits`` (collocation and branches), ``curves`` and ``orbit_curves`` (special points in two parameters). Curves are
followed by ``pfaff.continuation``; nothing here knows how a motion is integrated.
"""
