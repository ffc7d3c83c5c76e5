"""Symmetries that were divided out: they hold along the very motion that relies on them."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from pfaff.checks.check import Check, unmade, worst

CLAIM = "the symmetries that were divided out hold along it, and where they carry it over 20 sizes"
BROKEN = 1e-8  # what is left of the terms that are to cancel, relative to these


def alike(broken: Iterable[float]) -> Check:
    """Check that motions are carried into motions by the symmetries that were divided out; NaN for one that no state
    tells."""
    every = np.fromiter(broken, float)
    told = every[~np.isnan(every)]
    if len(told) < len(every) and not (told > BROKEN).any():
        return unmade("no state of it obeys the constraints well enough to tell", CLAIM)[0]
    return Check(
        CLAIM,
        worst(told),
        BROKEN,
        "something far away breaks them; state it in coordinates in which it is near",
    )
