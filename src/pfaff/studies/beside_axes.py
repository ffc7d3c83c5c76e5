"""Names of measures beside axes: a parameter ``l1`` is an axis, and the Lyapunov coefficient then called ``l1_``."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import TYPE_CHECKING

from pfaff.archive.stored import labels

if TYPE_CHECKING:
    from pfaff.studies.quantities import Measure


def beside_axes(measures: tuple[Measure, ...], taken: Collection[str]) -> tuple[Measure, ...]:
    """Measures with labels of their own where a name is taken; ``about`` keeps what each label stands for."""
    called = labels([name for each in measures for name in each.names], taken)
    found = []
    for each in measures:
        own = {called[name]: name for name in each.names if called[name] != name}
        about = {**each.about, "beside": own} if own else each.about
        found.append(replace(each, names=tuple(called[name] for name in each.names), about=about))
    return tuple(found)
