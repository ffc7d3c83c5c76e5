"""Generalised Hopf (Bautin) points: where the first Lyapunov coefficient vanishes along a curve of Hopf points."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pfaff.algebra.tolerances import SAME
from pfaff.continuation.kinds import Kind
from pfaff.errors import NoBifurcationError, ParameterError
from pfaff.statement.values import pair

if TYPE_CHECKING:
    from pfaff.bifurcation.hopf.hopf import Hopf


def vanishing(hopf: Hopf, name: str, between: tuple[float, float]) -> Hopf:
    """The first point with l1 = 0 on the curve of Hopf points between two values of another parameter."""
    name = hopf.case.system.parameter(name).name
    if name == hopf.load:
        raise ParameterError(f"{name} is the load, which places the Hopf point: vary another parameter")
    low, high = pair("between", between, "(10, 30)")
    first, last = (_with_l1(hopf, name, value) for value in (low, high))
    if first.centre and last.centre:
        raise NoBifurcationError(
            f"l1 vanishes at {name} = {low:g} and {high:g} alike, and so does l2: centres, as where energy is "
            "conserved. Add what is not conservative"
        )
    if not first.l1 * last.l1 <= 0:
        raise NoBifurcationError(
            f"l1 has the same sign at {name} = {low:g} and {high:g} ({first.l1:.4g}, {last.l1:.4g}): try other ends"
        )
    curve = first.curve(name, to=high)
    for point in curve.of_kind(Kind.GENERALISED_HOPF):
        found = _hopf_with(hopf, name, point[name])
        if abs(found.value - point[hopf.load]) <= SAME * abs(found.value - found.origin):
            return found
    raise NoBifurcationError(
        f"l1 vanishes nowhere on the curve of Hopf points from {name} = {low:g}, which {curve.ended}: another Hopf "
        "point becomes the first on the way. Narrow the interval"
    )


def _with_l1(hopf: Hopf, name: str, value: float) -> Hopf:
    found = _hopf_with(hopf, name, value)
    if found.drifts or found.undecided:
        raise NoBifurcationError(f"{found.criticality}, at {name} = {value:g}: there is no l1 to vanish")
    return found


def _hopf_with(hopf: Hopf, name: str, value: float) -> Hopf:
    """The Hopf point that the same search finds with another value of a parameter."""
    return hopf.case.unchecked(**{hopf.load: hopf.origin}).at({name: value}).hopf(**hopf.asked)
