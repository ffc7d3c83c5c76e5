"""Curves of special orbits in two parameters.

Read ``special_curves`` (folds, period doublings and tori as equations), ``surface`` (the two-parameter family they lie
on), then ``cycle_curves`` (the results) and ``resonance``; ``codimension_two`` has normal forms, ``crossing_curves``
the other curves that meet there, and ``cycle_archive`` keeps curves in files.
"""
