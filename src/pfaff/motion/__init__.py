"""Motion in time: integration, reactions, energies.

Read ``simulate`` first: it takes an initial state (``pfaff.flow.initial``), chooses a method and makes a motion
(``result``) with one of ``outcomes``. The methods: ``taylor`` with ``propagation`` and ``dense_output``; ``stiff`` by
``implicit_methods``; ``augmented`` in steps of ``three_fields``; ``rod_motion`` (with ``rod_events``) for rods;
``large`` for assemblies. ``lost_rank`` says where the equations end.

No step leaps over what lies between its ends: ``between_steps`` looks there, as finely as the ``steep_functions`` of
the statement demand. ``verification`` hands to ``pfaff.checks`` what a motion promises.

``drive`` (with ``sampled`` functions), ``events`` and ``measures`` serve all of them; ``ensemble`` (in ``batches``),
``locomotion`` and ``trajectory`` (plain ODEs) stand on them; ``motion_archive`` keeps motions in files. Nothing here
knows about stability.
"""

from pfaff.motion.events import Event
from pfaff.motion.motion_archive import load_motion
from pfaff.motion.result import Motion
from pfaff.motion.simulate import simulate

__all__ = ["Event", "Motion", "load_motion", "simulate"]
