"""Studies: any result over any parameters, in batches, on all cores or a cluster, and never lost.

Read ``points`` (where), ``catalogue`` (every number that has a name, and how it is found), ``quantities`` (what is
measured; ``beside_axes`` names it), ``block`` (a chunk of points: by ``many_points`` where batches can, one by one
elsewhere) and ``sweep`` (begins a study or continues it). ``study`` is what a user holds, ``telling`` its progress,
``uncertainty`` the statistics of samples, ``flutter_maps`` a short way to one kind, ``recipe`` how to make a case
again, by the atlas or by ``named_files``; ``recipe_checks`` is what a recipe from a file may say.

Chunks are run by ``executors``: here, by ``workers`` or on a Dask ``cluster``; ``stores`` and ``zarr_store`` (read by
``lazy_numbers``) keep them.

Batches: ``references`` looks at one point and makes the frame that all share (``frames``, with ``derivatives`` of the
flow). Points then march along their loads (``marching``, by test functions at nodes, ``along_loads``) to the
``first_crossings`` with their ``forms``, or to ``growing_loads``; ``at_rest`` is about equilibria. Nothing here knows
pictures or the shell.
"""
