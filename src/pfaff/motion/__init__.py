"""Motion in time: integration, reactions, energies.

Read ``simulate`` first: it takes an initial state (``pfaff.flow.initial``), chooses a method and makes a ``Motion``
with one of ``outcomes``. The methods: ``taylor`` with ``propagation`` and ``dense_output``; ``stiff`` by
``implicit_methods``; ``augmented`` in steps of ``three_fields``; ``large`` for assemblies. ``drive``, ``events`` and
``measures`` serve all of them; ``ensemble``, ``locomotion`` and ``trajectory`` (plain ODEs) stand on them. Nothing
here knows about stability.
"""

from pfaff.motion.events import Event
from pfaff.motion.motion_archive import load_motion
from pfaff.motion.result import Motion
from pfaff.motion.simulate import simulate

__all__ = ["Event", "Motion", "load_motion", "simulate"]
