"""Linear stability: critical loads, closed forms, vanishing damping, maps. Knows nothing of time.

Read ``first`` and ``critical`` (the questions; ``critical_load`` is the answer), then ``along`` (how far a search goes:
``natural_range``, without ``rigid`` motions, with ``settled`` modes of rods) and ``search`` (what changes from interval
to interval: ``intervals``). It stands on ``stretches`` of a path, on which the pencil is a polynomial in the load,
``candidates`` on them (in ``subspaces``), ``crossings`` that are sharpened, and ``locating``, in order.

Closed forms: ``exact``, ``determinant`` (Bottema's), ``rod_characteristic``. Damping: ``dampings``, ``paradox`` (its
limit; ``equal_frequencies``, ``stable_cone``). ``maps`` over parameters.

Large systems: ``large`` searches assemblies by a small model (``large_model``) and Newton's method on sparse pencils
(``large_views``, ``large_modes``); ``watched_modes`` serve their branches, ``rightmost`` gives eigenvalues of any
sparse matrix.
"""
