"""Studies: any result over any parameters, in batches, on all cores or a cluster, and never lost.

``points`` says where, ``quantities`` what. ``block`` computes a chunk of points: by ``many_points`` where batches know
how, one by one elsewhere. ``stores`` and ``zarr_store`` keep it; ``executors`` have it done here, by ``workers`` or by
a Dask ``cluster``. ``sweep`` begins a study or takes it up, ``study`` is what a user holds, ``telling`` its progress,
``uncertainty`` what samples tell, ``flutter_maps`` a short way to one kind. ``recipe`` says how to make a case again.

Batches: ``references`` looks at one point and makes a frame, which is what all share (``frames``, with ``derivatives``
of the flow). Points then march along their loads (``marching``, by test functions at nodes, ``along_loads``) to the
``first_crossings`` with their ``forms``, or to ``growing_loads``; ``at_rest`` is where they stay. ``small_matrices``
and ``small_polynomials`` are compiled for many at once. Nothing here knows pictures or the shell.
"""
