"""Pictures: every result draws itself, when ``plot()`` is called, by one of these modules.

Modules are named like those whose results they draw; ``style`` is common to all, ``scene``, ``body`` and ``view``
show a mechanical system as its ``Drawing`` says. Nothing here computes: what is not in a result is not in its
picture.
"""
