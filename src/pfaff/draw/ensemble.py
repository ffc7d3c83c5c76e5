"""Ensembles: peaks over one or two axes, or all the histories."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.figure import Figure

from pfaff.draw.labels import formula
from pfaff.draw.style import CYCLE, figure, label

if TYPE_CHECKING:
    from pfaff.motion.ensemble import Ensemble


def draw_ensemble(ensemble: Ensemble, name: str, since: float) -> Figure:
    """The peak of a coordinate from a time on: a map over two axes, a line over one, else its distribution."""
    fig = figure(6.5, 4.5)
    axes = fig.add_subplot()
    peak = ensemble.peak(name, since)
    dims = ensemble.dimensions
    places = [_line(ensemble, k) for k in range(len(dims))]
    title = f"largest |{formula(name)}| from t = {since:g} on"
    if len(dims) == 2:
        x, y = places[1], places[0]
        colours = axes.pcolormesh(x, y, peak, cmap="viridis", shading="nearest", rasterized=True)
        fig.colorbar(colours, ax=axes, label=title)
        label(axes, _named(dims[1]), _named(dims[0]))
    elif len(dims) == 1:
        axes.plot(places[0], peak, ".-", color=CYCLE[0], lw=1)
        label(axes, _named(dims[0]), title)
    else:
        axes.hist(np.ravel(peak), bins=40, color=CYCLE[0])
        label(axes, title, "number of motions")
    return fig


def _line(ensemble: Ensemble, axis: int) -> np.ndarray:
    name = ensemble.dimensions[axis]
    if name not in ensemble.axes:
        return np.arange(ensemble.shape[axis])
    values = ensemble.axes[name]
    return np.moveaxis(values, axis, 0).reshape(values.shape[axis], -1)[:, 0]


def _named(dimension: str) -> str:
    """A parameter, or the coordinate or velocity whose initial value it is."""
    name = dimension.removeprefix("initial_")
    return formula(name) if name == dimension else f"initial {formula(name)}"
