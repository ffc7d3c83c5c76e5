"""What a normal form implies, whether the first cycle agrees with it, and how many digits are known."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from pfaff.bifurcation.hopf.criticality import Criticality
from pfaff.bifurcation.hopf.normal_form import VANISHES, Cubic
from pfaff.checks import Check, unmade
from pfaff.checks.hopf import BELONGS, FIRST, REPELS, Claim, first_cycle, mode
from pfaff.checks.symmetries import alike
from pfaff.errors import PfaffError
from pfaff.flow.alike import broken_along
from pfaff.stability.settled import MOST_DIGITS, change_with_fewer, settled_digits

if TYPE_CHECKING:
    from pfaff.bifurcation.hopf.hopf import Hopf
    from pfaff.case import Case


def criticality_of(third: Cubic, vanishes: float = VANISHES) -> Criticality:
    """What a normal form implies; real parts below a share of their terms are zero."""
    if third.drift.any():
        return _drifting(third)
    if third.undecided:
        return Criticality.OPEN
    if abs(third.c1.real) <= vanishes * third.size:
        return Criticality.DEGENERATE_ON_FAMILY if len(third.drift) else Criticality.DEGENERATE
    if third.c1.real < 0:
        return Criticality.SUPERCRITICAL if third.attracts else Criticality.REPELLED
    return Criticality.ATTRACTED if third.attracts else Criticality.SUBCRITICAL


def _drifting(third: Cubic) -> Criticality:
    """The kind of a drift along the family: y² − r² a/Re α is conserved to leading order (Fiedler, Liebscher and
    Alexander 2000)."""
    signs = third.drift * third.growth
    if len(signs) > 1 or not signs.all():
        return Criticality.DRIFTING
    return Criticality.ELLIPTIC if signs[0] < 0 else Criticality.HYPERBOLIC


def verified(hopf: Hopf) -> Iterator[Check]:
    """The mode by differences of the flow, and the normal form by the first cycle where one is born."""
    if not isinstance(hopf.expansion.A, np.ndarray):
        yield from unmade("it has too many states", BELONGS, FIRST, REPELS)
        return
    third, e, flow, numbers = hopf.normal_form, hopf.expansion, hopf.around.flow, hopf.around.numbers
    claim = Claim(
        hopf.x, e.A, hopf.value, hopf.omega, hopf.crossing, hopf.q, hopf.p, hopf.c1, third.size, third.rates,
        e.left, e.right, third.shift, third.kept,
    )  # fmt: skip

    def rates(x: np.ndarray, load: float) -> np.ndarray:
        return flow.rates(x, numbers(load))

    def slopes(x: np.ndarray, load: float) -> np.ndarray:
        return flow.jacobian(x, numbers(load))

    yield mode(claim, rates)
    if broken := broken_along(flow, hopf.x[:, None], numbers(hopf.value)):
        yield alike(broken)
    if hopf.transversal and not (hopf.drifts or hopf.undecided or hopf.degenerate):
        yield from first_cycle(claim, rates, slopes if flow.structured else None)


def digits_of(hopf: Hopf) -> int:
    """How many digits of a Hopf point are known: of rods, those that their last two modes do not change."""

    def again(fewer: Case) -> float | None:
        try:
            return float(fewer.unchecked(**{hopf.load: hopf.origin}).hopf(**hopf.asked).value)
        except PfaffError:
            return None

    if not getattr(hopf.case.system, "rods", ()):
        return MOST_DIGITS
    case: Any = hopf.case
    return settled_digits(change_with_fewer(case, hopf.value, again) if hopf.change is None else hopf.change)
