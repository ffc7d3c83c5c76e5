"""Curves of special orbits in two parameters.

Read ``special_curves`` (folds, period doublings and tori as equations), ``surface`` (the two-parameter family they lie
on), then ``cycle_curves`` (the results) and ``resonance``; ``cycle_archive`` keeps them in files.
"""
