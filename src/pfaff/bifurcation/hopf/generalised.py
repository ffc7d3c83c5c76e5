"""Generalised Hopf (Bautin) points: where the first Lyapunov coefficient vanishes along a curve of Hopf points."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pfaff.errors import ConvergenceError, NoBifurcationError, ParameterError
from pfaff.statement.values import pair

if TYPE_CHECKING:
    from pfaff.bifurcation.hopf.hopf import Hopf

TOLERANCE = 1e-14  # of the other parameter, relative


def vanishing(hopf: Hopf, name: str, between: tuple[float, float]) -> Hopf:
    """The point with l1 = 0 between two values of another parameter, by Brent's method on the Hopf points."""
    from scipy.optimize import brentq

    if hopf.case.system.parameter(name).name == hopf.load:
        raise ParameterError(f"{name} is the load, which places the Hopf point: vary another parameter")
    low, high = pair("between", between, "(10, 30)")
    known: dict[float, Hopf] = {}

    def l1(value: float) -> float:
        known[value] = _hopf_with(hopf, name, value)
        if known[value].drifts:
            raise NoBifurcationError(f"{known[value].criticality}, at {name} = {value:g}: there is no l1 to vanish")
        return known[value].l1

    ends = l1(low), l1(high)
    if known[low].centre and known[high].centre:
        raise NoBifurcationError(
            f"l1 vanishes at {name} = {low:g} and {high:g} alike, and so does l2: centres, as where energy is "
            "conserved. Add what is not conservative"
        )
    if not ends[0] * ends[1] <= 0:
        raise NoBifurcationError(
            f"l1 has the same sign at {name} = {low:g} and {high:g} ({ends[0]:.4g}, {ends[1]:.4g}): try other ends"
        )
    root, result = brentq(l1, low, high, xtol=TOLERANCE * max(abs(low), abs(high)), rtol=4e-15, full_output=True)
    if not result.converged:
        raise ConvergenceError(f"l1 = 0 was not found between {name} = {low:g} and {high:g}: narrow the interval")
    l1(root)
    best = min(known.values(), key=lambda each: abs(each.l1))
    if not best.generalised:
        raise NoBifurcationError(
            f"l1 jumps near {name} = {root:.8g}, where another Hopf point becomes the first: narrow the interval"
        )
    return best


def _hopf_with(hopf: Hopf, name: str, value: float) -> Hopf:
    """The Hopf point that the same question finds with another value of a parameter."""
    return hopf.case.unchecked(**{hopf.load: hopf.origin}).at(**{name: value}).hopf(**hopf.asked)
