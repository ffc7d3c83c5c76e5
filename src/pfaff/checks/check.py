"""One verification of a result, and how a result carries what was verified."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from pfaff.threads import cached_property


@dataclass(frozen=True)
class Check:
    """Something a result claims, how far a second route is from it, and how far it may be."""

    claim: str
    measured: float
    bound: float
    remedy: str = ""

    @property
    def passed(self) -> bool:
        return bool(self.measured <= self.bound)  # NaN does not pass

    def __str__(self) -> str:
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


def worst(errors: Iterable[float]) -> float:
    """The largest of errors; NaN if one is."""
    found = np.fromiter(errors, float)
    return float(found.max(initial=0.0)) if not np.isnan(found).any() else float("nan")


def doubted(status: str, checks: Iterable[Check]) -> str:
    """A status, followed by every check that failed."""
    return "; ".join([status, *(str(check) for check in checks if not check.passed)])
