"""Linear stability: critical loads, closed forms, vanishing damping, maps. Knows nothing of time.

Read ``critical`` first (what is asked, and what is told: ``critical_load``), then ``along`` (how far a search goes, in
which units, without ``rigid`` motions) and ``search`` (what changes from interval to interval). It stands on
``stretches`` of a path, on which the pencil is a polynomial in the load, ``candidates`` on them, ``crossings`` that are
sharpened, and ``locating``, in order. ``large`` does the same for assemblies, by a small model (``large_model``) and
Newton's method on sparse pencils (``large_views``); ``rightmost`` gives eigenvalues of any sparse matrix.
"""
