"""Motion in time: initial states that obey the constraints, integration, reactions and the balance of energy."""

from pfaff.motion.events import Event
from pfaff.motion.motion_archive import load_motion
from pfaff.motion.result import Motion
from pfaff.motion.simulate import simulate

__all__ = ["Event", "Motion", "load_motion", "simulate"]
