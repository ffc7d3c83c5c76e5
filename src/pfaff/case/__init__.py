"""Cases: the desk where every analysis is asked for. A case is what was stated, with values for its parameters.

``valued`` is a statement with values by name, ``bound`` what all cases can do, ``of_system`` what a mechanical system
can be asked (of its motions: ``moving``), ``of_ode`` a plain ODE. Nothing is computed here: each method checks its
words and opens the room where the answer is found.
"""

from pfaff.case.bound import Bound
from pfaff.case.of_ode import OdeCase
from pfaff.case.of_system import Case

__all__ = ["Bound", "Case", "OdeCase"]
