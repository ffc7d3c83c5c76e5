"""Pictures of studies: curves, maps with contours, slices, samples, probabilities and Sobol indices."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import BoundaryNorm, ListedColormap, TwoSlopeNorm
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from pfaff.draw.labels import formula, formulas, letters
from pfaff.draw.style import BLUE, CYCLE, GREY, ORANGE, VERMILION, figure, label
from pfaff.errors import ParameterError
from pfaff.statement.values import number_from, one_of

if TYPE_CHECKING:
    from pfaff.studies.points import Points
    from pfaff.studies.uncertainty import Indices, Probability

LEVELS = 24
FAR = 1.0  # distance beyond nine tenths of all values, relative to their spread, where the last colour begins


def draw_study(data: Any, points: Points, name: str, at: Mapping[str, float]) -> Figure:
    """One measure over the remaining axes; the others are held at the nearest of their values."""
    values = data[name]
    if not points.is_grid:
        return _sample(values, points, name, at)
    for axis, value in at.items():
        one_of(points.dims, axis, f"{name} has no axis")
        values = values.sel({axis: _within(values[axis], axis, value)}, method="nearest")
    held = {axis: float(values[axis]) for axis in points.dims if axis not in values.dims}
    if values.ndim > 2:
        more = ", ".join(f"{axis}=…" for axis in values.dims[2:])
        raise ParameterError(f"{name} is over {', '.join(values.dims)}: hold all but two, plot({name!r}, {more})")
    if not np.isfinite(values).any():
        raise ParameterError(f"{name} has no value yet: run the study")
    title = ", ".join(f"{letters(axis)} = {value:.4g}" for axis, value in held.items())
    fig = figure(6.4, 4.4)
    axes = fig.add_subplot()
    if values.ndim < 2 or 1 in values.shape:
        _curve(axes, values.squeeze(), name, title)
    else:
        (_regions if _few(values) else _map)(fig, axes, values, name, title)
    return fig


def _within(along: Any, axis: str, value: Any) -> float:
    """The value at which an axis is held: between its ends, or else another study would be taken for this one."""
    held, low, high = number_from(axis, value), float(along.min()), float(along.max())
    if not low <= held <= high:
        raise ParameterError(f"{axis}={held:g} is not on its axis: hold it between {low:g} and {high:g}")
    return held


def _curve(axes: Axes, values: Any, name: str, title: str) -> None:
    if not values.ndim:
        raise ParameterError(f"{name} is one number, {float(values):g}: leave an axis free")
    (along,) = values.dims
    axes.plot(values[along], values, color=BLUE, marker="." if values.size < 40 else "")
    if _signs(values):
        axes.axhline(0, color=GREY, lw=0.8)
    if words := _few(values):
        axes.set_yticks(list(words), list(words.values()))
    label(axes, formula(along), _words(values, name), title)


def _few(values: Any) -> dict[float, str]:
    """Words for the few values that a measure can have; empty where it can have any."""
    words = [word.replace("_", " ") for word in values.attrs.get("flag_meanings", "").split()]
    return dict(zip(map(float, values.attrs.get("flag_values", ())), words, strict=True))


def _regions(fig: Figure, axes: Axes, values: Any, name: str, title: str) -> None:
    """A colour for each of the few values that a measure can have."""
    (x, y), words = values.dims, _few(values)
    known = np.array(list(words))
    edges = [known[0] - 1, *(known[:-1] + known[1:]) / 2, known[-1] + 1]
    grid = np.ma.masked_invalid(values.to_numpy().T)
    shades: dict[str, Any] = {"cmap": ListedColormap(CYCLE[: len(known)]), "norm": BoundaryNorm(edges, len(known))}
    drawn = axes.pcolormesh(values[x], values[y], grid, shading="nearest", **shades)
    bar = fig.colorbar(drawn, ticks=known)
    bar.set_ticklabels(list(words.values()))
    label(axes, formula(x), formula(y), title or formula(name))


def _map(fig: Figure, axes: Axes, values: Any, name: str, title: str) -> None:
    """Filled contours, some lines with their values, and the line where the measure changes its sign."""
    x, y = values.dims
    grid = np.ma.masked_invalid(values.to_numpy().T)
    args = values[x].to_numpy(), values[y].to_numpy(), grid
    both = _signs(values)
    low, high, extend = _bounds(grid.compressed(), both)
    levels: Any = MaxNLocator(LEVELS + 1).tick_values(low, high) if extend != "neither" else LEVELS
    if both:  # as many colours on either side, however much farther one goes
        levels = [*np.linspace(low, 0, LEVELS // 2 + 1), *np.linspace(0, high, LEVELS // 2 + 1)[1:]]
    colours: dict[str, Any] = {"cmap": "RdBu_r", "norm": TwoSlopeNorm(0, low, high)} if both else {"cmap": "viridis"}
    filled = axes.contourf(*args, levels=levels, extend=extend, **colours)
    fig.colorbar(filled, label=_words(values, name), format="%.3g")
    if high > low:
        lines = axes.contour(*args, levels=_round(low, high), colors="black", linewidths=0.5, alpha=0.6)
        _inside(fig, axes, axes.clabel(lines, fontsize="x-small", fmt="%.4g"))
    if both:
        axes.contour(*args, levels=[0.0], colors="black", linewidths=2)
        axes.plot([], [], color="black", lw=2, label=f"{formula(name)} = 0")
        axes.legend(loc="best", fontsize="small")
    label(axes, formula(x), formula(y), title)


def _bounds(values: np.ndarray, both: bool) -> tuple[float, float, str]:
    """The range of the colours, and on which sides it is exceeded: a few values far away would leave one colour to all
    others."""
    least, most = float(values.min()), float(values.max())
    inner = np.quantile(values, (0.05, 0.95))
    far = FAR * float(inner[1] - inner[0])
    low, high = (max(least, float(inner[0]) - far), min(most, float(inner[1]) + far)) if far else (least, most)
    if both:  # zero stays among the colours
        low, high = low if low < 0 else least, high if high > 0 else most
    return low, high, {(1, 0): "min", (0, 1): "max", (1, 1): "both"}.get((low > least, high < most), "neither")


def _round(low: float, high: float) -> np.ndarray:
    """Round numbers between two values; zero has a line of its own where both signs occur."""
    values = np.array(MaxNLocator(6).tick_values(low, high))
    return values[(values > low) & (values < high) & ((values != 0) | (low >= 0) | (high <= 0))]


def _inside(fig: Figure, axes: Axes, numbers: list[Any]) -> None:
    """Remove numbers on lines that the frame would cut."""
    fig.draw_without_rendering()
    low, high = axes.bbox.min, axes.bbox.max
    for number in numbers:
        box = number.get_window_extent()
        number.set_visible(bool((box.min >= low).all() and (box.max <= high).all()))


def _sample(values: Any, points: Points, name: str, at: Mapping[str, float]) -> Figure:
    """A measure against each parameter of a list or a sample."""
    if at:
        raise ParameterError(f"{name} is over single points, of which no axis is held: leave out {', '.join(at)}")
    names = points.names
    fig = figure(3.0 * len(names) + 0.6, 3.4)
    panels = fig.subplots(1, len(names), sharey=True, squeeze=False)[0]
    for axes, each in zip(panels, names, strict=True):
        axes.plot(points.coordinates[each], values, ".", color=BLUE, ms=2, alpha=0.6)
        label(axes, formula(each), _words(values, name) if axes is panels[0] else "")
    return fig


def draw_probability(found: Probability) -> Figure:
    """The distribution of a measure, the part below the value coloured."""
    fig = figure(6, 3.6)
    axes = fig.add_subplot()
    edges = np.histogram_bin_edges(found.values, bins="auto")
    edges += (found.below - edges[0]) % (edges[1] - edges[0])  # so that no bar straddles the value
    below, above = found.values[found.values < found.below], found.values[found.values >= found.below]
    axes.hist([below, above], bins=[2 * edges[0] - edges[1], *edges], stacked=True, color=[VERMILION, BLUE], rwidth=1.0)
    axes.axvline(found.below, color="black", lw=1)
    label(axes, found.name, "samples", f"P({found.name} < {found.below:g}) = {found.value:.4g} ± {found.error:.1g}")
    return fig


def draw_indices(found: Indices) -> Figure:
    """Shares of the variance, alone and with all others, with their errors."""
    fig = figure(6, 3.6)
    axes = fig.add_subplot()
    places = np.arange(len(found.first))
    for k, (shares, text, colour) in enumerate(((found.first, "alone", BLUE), (found.total, "with others", ORANGE))):
        errors = [found.errors[name][k] for name in shares]
        axes.bar(places + 0.4 * k - 0.2, list(shares.values()), 0.38, yerr=errors, capsize=3, color=colour, label=text)
    axes.set_xticks(places, formulas(found.first))
    axes.legend(frameon=False)
    label(axes, "", f"share of the variance of {found.name}")
    return fig


def _signs(values: Any) -> bool:
    return bool((values < 0).any() and (values > 0).any())


def _words(values: Any, name: str) -> str:
    """The words for a measure, with its name where the words do not contain it."""
    words = values.attrs.get("long_name", "")
    return words if name.split("_")[0] in words.split() else f"{words} {formula(name)}".strip()
