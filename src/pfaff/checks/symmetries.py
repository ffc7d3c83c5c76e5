"""Symmetries that were divided out: they hold along the very motion that relies on them."""

from __future__ import annotations

from collections.abc import Iterable

from pfaff.checks.check import Check, worst

BROKEN = 1e-8  # what is left of the terms that are to cancel, relative to these


def alike(broken: Iterable[float]) -> Check:
    """Check that motions are carried into motions by the symmetries that were divided out."""
    return Check(
        "the symmetries that were divided out hold along it",
        worst(broken),
        BROKEN,
        "something far away breaks them; state it in coordinates in which it is near",
    )
