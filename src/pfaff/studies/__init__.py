"""Studies: any result over any parameters, in batches, on all cores or a cluster, and never lost.

``points`` says where, ``measures`` what, ``job`` both for one case; ``block`` computes a chunk of points, by ``batches`` where
these know how and one by one elsewhere; ``stores`` and ``zarr_store`` keep it; ``executors``, ``workers`` and ``cluster`` have it
done here, in other processes, or by Dask; ``study`` is what a user holds, and ``uncertainty`` what samples tell. ``recipe`` says
how to make a case again. Nothing here knows pictures or the shell.
"""
