"""The studio: the whole analysis interactively, in a browser or a cell of a notebook.

Read it in the order in which a slider's movement passes through: ``view`` is what one looks at, as one value;
``messages`` what page and server say to each other; ``subject`` what is looked at, with ``sliders`` for its
parameters, and ``sights`` what the page draws of it. ``session`` answers one page, at once in its live lane and later
from background ones (``lanes``, ``worker``, ``tasks``, ``growing``); ``pulling`` holds a structure by one of its
points. ``lines`` writes the Python that reproduces a view, ``downloads`` what can be taken away. ``server`` and
``launch`` carry it to a browser, ``widget`` to notebooks; the page is in ``web``. Nothing here computes what no result
has, and no text of a page is ever executed.
"""

from __future__ import annotations

from pfaff.studio.launch import Running, open_studio

__all__ = ["Running", "open_studio"]
