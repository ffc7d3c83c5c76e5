"""Pictures: every result draws itself, when ``plot()`` is called, by one of these modules.

Read ``style`` (common to all) and ``labels`` (names as mathematics). Modules are named like the results they draw:
``structure`` (a system as stated), ``configuration``, ``spectrum``, ``stability``, ``hopf``, ``branches``, ``orbits``,
``cascade``, ``connections``, ``response`` (``diagram`` and ``special`` are their lines and marks), ``motion``,
``ensemble``, ``studies``, ``comparison``; ``notebook`` shows results in cells.

A mechanical system as its ``Drawing`` says: ``scene`` (where everything is), ``body``, ``space``, ``view``. Films:
``film`` (a strip), ``animation``, of ``footage``, by the ``player`` in a browser or as ``pictures`` (with a ``ruler``).

Pictures show results and decide nothing. What they compute besides is for the eye: a displaced configuration on its
constraints (``structure``), eigenvalues between the loads of a result (``spectrum``).
"""
