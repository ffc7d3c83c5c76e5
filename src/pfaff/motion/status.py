"""How a motion can end, in words."""

FINISHED = "finished"
INTERRUPTED = "interrupted"
TOO_MANY = "stopped: the number of steps reached its limit, max_steps"
COLLAPSED = "stopped: the step size has collapsed"
NOT_FINITE = "stopped: the state is no longer finite"
