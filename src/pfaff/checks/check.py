"""One verification of a result, and how a result carries what was verified."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from pfaff.threads import cached_property


@dataclass(frozen=True)
class Check:
    """Something a result claims, how far a second route is from it, and how far it may be.

    Where there is no second route, ``unmade`` says why: nothing was measured, and nothing speaks against the claim.
    """

    claim: str
    measured: float
    bound: float
    remedy: str = ""
    unmade: str = ""

    @property
    def passed(self) -> bool:
        """Whether nothing that was measured speaks against the claim."""
        return bool(self.unmade) or bool(self.measured <= self.bound)  # NaN does not pass

    @property
    def nearness(self) -> float:
        """How near it is to failing, in units of the bound; −1 if it was not made."""
        if self.unmade:
            return -1.0
        return float(np.nan_to_num(self.measured / self.bound, nan=np.inf)) if self.bound else np.inf

    def __str__(self) -> str:
        if self.unmade:
            return f"not checked: {self.claim}: {self.unmade}"
        verdict = "verified" if self.passed else "NOT verified"
        remedy = f": {self.remedy}" if self.remedy and not self.passed else ""
        return f"{verdict}: {self.claim} ({self.measured:.1e}, allowed {self.bound:.1e}){remedy}"


class Checked:
    """A result that verifies itself when it is first asked for its status, verdict or checks."""

    @cached_property
    def checks(self) -> tuple[Check, ...]:
        """What was verified, by a route independent of the computation; a failure is also told by ``status``."""
        return tuple(self._verify())

    def _verify(self) -> Iterable[Check]:
        raise NotImplementedError


def unmade(why: str, *claims: str) -> list[Check]:
    """Claims that were not checked, and why."""
    return [Check(claim, np.nan, np.nan, unmade=why) for claim in claims]


def nearest(checks: Iterable[Check]) -> Check:
    """The one of several checks of a claim that is nearest to failing."""
    return max(checks, key=lambda check: check.nearness)


def worst(errors: Iterable[float]) -> float:
    """The largest of errors; NaN if one is."""
    found = np.fromiter(errors, float)
    return float(found.max(initial=0.0)) if not np.isnan(found).any() else float("nan")


def doubted(status: str, checks: Iterable[Check]) -> str:
    """A status, followed by every check that failed."""
    return "; ".join([status, *(str(check) for check in checks if not check.passed)])
