"""Homoclinic and heteroclinic orbits, in one parameter and along curves in two.

Read ``arcs`` (an orbit on a finite interval), ``saddles`` (where it begins and ends), ``arc_equations`` (collocation
between them), ``joins`` (a solution as a point of a curve) and ``joining`` (the problem that the engine follows, its
special points; ``tails`` are the ends), then the results, ``connections`` and ``connection_curves``; ``first_arcs`` is
where they start from, ``connection_archive`` keeps them in files.
"""
