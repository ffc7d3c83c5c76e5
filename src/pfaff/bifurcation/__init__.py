"""Bifurcations: where equilibria and orbits change, and what is born there.

Read ``equilibria`` (their branches and special points) and ``hopf`` (a point, its normal form, its first orbit), then
``orbits`` (collocation and branches), whose loops are ``pfaff.kernels``. In two parameters: ``curves`` (of
equilibria) and ``orbit_curves`` (of special orbits), ``connections`` (homoclinic and heteroclinic orbits). On branches
of orbits stand ``response`` (to forcing) and ``modes`` (nonlinear normal modes). Curves are followed by
``pfaff.continuation``; nothing here knows how a motion is integrated.
"""
