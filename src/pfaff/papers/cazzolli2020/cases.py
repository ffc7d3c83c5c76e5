"""The structures of the paper with their values: ξ = [d, M_L, I_L, k1]; dimensionless, L = M = k = 1."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
import sympy as sm

from pfaff.atlas import column

if TYPE_CHECKING:
    from pfaff import Case
    from pfaff.bifurcation.hopf.hopf import Hopf

HALF = sm.Rational(1, 2)
XI_HAT = {"d": HALF, "M_L": 15, "I_L": 15, "k1": 50}
XI_TILDE = {"d": HALF, "M_L": 1, "I_L": 0, "k1": 1}
XI_BAR = {"d": HALF, "M_L": 1, "I_L": 0, "k1": 10}
DAMPINGS = ("c_i", "c_e", "c_t", "c_r")
DAMPED = {"c_i": sm.Rational(3, 2)}
BETA = float(np.pi) / 100
CONSTRAINTS = ("skate", "bow")
SAMPLES = 30


@cache
def pendulum(constraint: str = "skate", load: str = "dead", **values: Any) -> Case:
    """The double pendulum with ξ̂ and the given dampings."""
    return column(2, constraint, load).at(**XI_HAT, **values)


@cache
def hopf(constraint: str = "skate") -> Hopf:
    """The Hopf point of Sec. 6.1, with c_i = 1.5."""
    return pendulum(constraint, **DAMPED).hopf()


def symbols_of_xi() -> dict[str, sm.Symbol]:
    return {name: sm.Symbol(name, positive=True) for name in XI_HAT}


def count(failures: Any) -> float:
    """How many of them are true: a claim in formulas holds if none is."""
    return float(sum(bool(each) for each in failures))
