"""What branches of equilibria and curves of special ones promise: rest of the whole system, and what is singular.

Equations are followed in a chart and by kernels; here the system is asked itself. The bounds say what an
equilibrium, a branch point, a Hopf point are for those who follow branches, too.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from pfaff.algebra.bordering import balanced as balanced_units
from pfaff.algebra.tolerances import UNCERTAIN
from pfaff.checks.check import Check, unmade, worst
from pfaff.checks.spectra import TELLING

RESTING = 1e-6  # rate that is left at an equilibrium, relative to those of states of usual size
BALANCED = 1e-6  # force that is left, relative to the largest that takes part
SINGULAR = 1e-4  # least singular value of equations that are singular, their rows measured by their usual sizes
ON_AXIS = 1e-5  # distance of a critical eigenvalue from the imaginary axis, relative to it or to the largest
MET = 1e-3  # distance of two pairs that meet, relative to the largest eigenvalue; it grows like a root beside them
ALONE = 0.1  # least singular value at a branch point, relative to that beside it, where branches meet at one point
SUMMED = 1e-6  # difference of the sum of eigenvalues from the trace, relative to their sizes
PAIR = "the pair ±iω is on the imaginary axis"
UNKNOWN = "beside stiff motions, rounding of the Jacobian moves it by as much"
SUM = "eigenvalues add up to the trace"
INERT = -1e-9  # least inertia, relative to the greatest, that is not negative but for rounding


def at_rest(residuals: Iterable[float]) -> Check:
    """All rates of an equilibrium vanish."""
    return Check("every rate vanishes", worst(residuals), RESTING, "step less")


def balanced(residuals: Iterable[float]) -> Check:
    """Forces, reactions and constraints balance in every coordinate of the system, also in those that were dropped."""
    return Check("forces balance in every coordinate", worst(residuals), BALANCED, "start from another equilibrium")


def inert(inertias: Iterable[float]) -> Check:
    """The kinetic energy is positive for every motion that the constraints allow."""
    least = min(inertias, default=1.0)
    return Check("no motion has negative inertia", max(-least, 0.0), -INERT, "state the kinetic energy as it is")


def singular(size: float, what: str = "the balance") -> Check:
    """Equations are singular, as where branches meet or turn; ``size`` is their least singular value."""
    return Check(f"{what} is singular", size, SINGULAR, "step less, or do without this point")


def alone(here: float, beside: float) -> Check:
    """Equations are singular at a branch point and nowhere beside it: structural zeros were divided out."""
    size = here / beside if beside else np.inf
    return Check("the Jacobian is singular there alone", size, ALONE, "divide out what makes it singular everywhere")


def on_axis(values: np.ndarray, omega: float, J: np.ndarray | None = None, many: int = 1) -> Check:
    """The pair ±iω, and as many more as cross with it, is on the imaginary axis; J, if it is at hand, has its mode.

    Other pairs may be there as well, and stay there under every load.
    """
    off = [np.abs(values - 1j * omega).min(initial=np.inf) / omega if omega else np.inf]
    pairs = values[values.imag > 0]
    off += sorted(np.abs(pairs.real) / np.abs(pairs))[1:many] if many > 1 else []
    bound = ON_AXIS
    if J is not None and omega:
        matrix = balanced_units(J)[0]
        left, sizes, right = np.linalg.svd(matrix - 1j * omega * np.eye(len(J)))
        rounding = UNCERTAIN * float(np.linalg.norm(matrix, 2)) / omega
        least = float(sizes[-1]) / omega
        off.append(least)
        if least <= max(ON_AXIS, rounding):  # an eigenvalue: its condition tells how far rounding of J moves it
            bound = max(ON_AXIS, float(rounding / abs(right[-1] @ left[:, -1])))
    if bound > TELLING:
        return unmade(UNKNOWN, PAIR)[0]
    return Check(PAIR, worst(off), bound, "step less")


def met(distances: np.ndarray, values: np.ndarray) -> Check:
    """Two pairs of eigenvalues are equal; ``distances`` are those of pairs from their neighbours."""
    size = float(np.abs(values).max(initial=0.0)) or 1.0
    return Check("two pairs are equal", float(distances.min(initial=np.inf)) / size, MET, "step less")


def summed(values: np.ndarray, trace: float) -> Check:
    """The sum of all eigenvalues is the trace of the Jacobian."""
    size = float(np.abs(values).sum()) or 1.0
    return Check(SUM, abs(float(values.sum().real) - trace) / size, SUMMED)
