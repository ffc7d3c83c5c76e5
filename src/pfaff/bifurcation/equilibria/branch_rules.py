"""The numbers of the engine's rules, as kernels take them: each stands where its rule is explained."""

from __future__ import annotations

from functools import cache

from pfaff.algebra.tolerances import CORRECTIONS, EPS, EXACT, GROWING, SETTLED, STIFF
from pfaff.bifurcation.equilibria.eigenvalues import UNSURE, WILD
from pfaff.bifurcation.equilibria.rest_equations import PROBE
from pfaff.bifurcation.equilibria.zero_forms import UNDAMPED
from pfaff.continuation.dense import ASTRAY, QUADRATIC
from pfaff.continuation.dense import NEAR as ON_BOUND
from pfaff.continuation.engine import NEAR, STEADY
from pfaff.continuation.problem import Pace, Problem
from pfaff.kernels.corrector import Rules


@cache
def rules() -> Rules:
    """The rules of steps along regular equilibria and curves."""
    from pfaff.bifurcation.curves.hopfs import ASIDE, SQUARED, TURNS
    from pfaff.bifurcation.equilibria.special_points import FLAT, LEVEL, SLOPES

    pace = Pace()
    return Rules(
        SLOPES, settled=SETTLED, exact=EXACT, quadratic=QUADRATIC, astray=ASTRAY, corrections=CORRECTIONS, probe=PROBE,
        squared=SQUARED / EPS, aside=ASIDE, turns=TURNS, growing=GROWING, stiff=STIFF, wild=WILD, unsure=UNSURE,
        undamped=UNDAMPED, flat=FLAT, level=LEVEL, on_bound=ON_BOUND, steady=STEADY, near=NEAR, sharp=Problem.sharp,
        smallest=pace.smallest, growth=pace.growth, easy=pace.easy, sharpest=pace.sharpest,
        strayed=pace.strayed, resolved=pace.resolved,
    )  # fmt: skip
