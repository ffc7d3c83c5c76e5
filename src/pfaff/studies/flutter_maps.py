"""The flutter load over any parameters: in closed form where there is one, else as a study."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pfaff.errors import ParameterError
from pfaff.stability.maps import FlutterMap, checked_axes, closed_map
from pfaff.studies.sweep import sweep

if TYPE_CHECKING:
    from pfaff.case import Case


def flutter_map(case: Case, load: str, axes: Mapping[str, Any], to: float | None = None) -> FlutterMap:
    """The first flutter load for every combination of values."""
    axes = checked_axes(case, axes)
    if load in axes:
        raise ParameterError(f"{load} is what is searched, and an axis as well: leave one out")
    closed = closed_map(case, load, axes, to)
    if closed is not None:
        return closed
    study = sweep(case, axes, "flutter", load=load, to=to).run()
    for failure in study.failures[:1]:
        where = ", ".join(f"{name} = {value:g}" for name, value in failure["point"].items())
        raise ParameterError(f"no flutter load at {where}: {failure['reason']}")
    how = (
        f"{study.batched} points in batches, each the first root of its Hurwitz determinant along the load, and "
        f"{study.points.size - study.batched} by searches of their own"
    )
    return FlutterMap(load, axes, study.dataset["flutter"].to_numpy(), how)
