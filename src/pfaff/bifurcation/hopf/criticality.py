"""Criticality of a Hopf point: what its normal form implies, for programs and in words."""

from __future__ import annotations

from enum import StrEnum

REPELLED = "cycles are repelled along the family of equilibria"
ATTRACTED = "cycles attract, also along the family of equilibria"


class Criticality(StrEnum):
    """What is born at a Hopf point; each is the string that results print, empty where no cycle is born at all."""

    NOTHING = ""
    SUPERCRITICAL = "supercritical"
    SUBCRITICAL = "subcritical"
    REPELLED = f"supercritical, but {REPELLED}"
    ATTRACTED = f"subcritical, but {ATTRACTED}"
    DEGENERATE = "degenerate: l1 = 0, a generalised Hopf point"
    DEGENERATE_ON_FAMILY = "degenerate: l1 = 0, a generalised Hopf point or a centre"
    CENTRE = "degenerate: l1 = l2 = 0, a centre, as where energy is conserved, with a family of cycles at this load"
    HIDDEN = "undecided: damping is so light that rounding hides the sign of l1, which is of its order"
    OPEN = "undecided: nothing is conserved along the family of equilibria, and whether cycles are born is not known"
    ELLIPTIC = "elliptic, on a line of equilibria along which the oscillation moves: no branch of cycles"
    HYPERBOLIC = "hyperbolic, on a line of equilibria along which the oscillation moves: no branch of cycles"
    DRIFTING = "no branch of cycles: the oscillation moves along the family of equilibria"

    @property
    def l1_tells(self) -> bool:
        """Whether the sign of l1 says on which side cycles are born."""
        return self in (Criticality.SUPERCRITICAL, Criticality.SUBCRITICAL, *FAMILY)

    @property
    def family(self) -> str:
        """How the cycles behave along a family of equilibria, where the sign of l1 does not say it; else empty."""
        return FAMILY.get(self, "")


FAMILY = {Criticality.REPELLED: REPELLED, Criticality.ATTRACTED: ATTRACTED}
