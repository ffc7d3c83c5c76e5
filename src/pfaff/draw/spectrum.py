"""Eigenvalues in the complex plane, and how they move as a load grows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from pfaff.algebra.tolerances import GROWING
from pfaff.draw.labels import formula
from pfaff.draw.style import BLUE, GREY, VERMILION, figure, label, legend_above, title
from pfaff.errors import PfaffError, number_of
from pfaff.rest.path import LoadPath
from pfaff.stability.critical import critical_loads

if TYPE_CHECKING:
    from pfaff.bifurcation.equilibria.rest_points import RestPoint
    from pfaff.case import Case
    from pfaff.flow.assembly import Rest
    from pfaff.rest.spectrum import Spectrum
    from pfaff.stability.large import SparseFlutter

POINTS = 801
BEYOND = 1.3  # range of a picture, relative to the last critical load
FAST = 10.0  # decay, relative to the largest frequency or growth, beyond which rates would press all others into a line
DECADES = 30.0  # ratio of critical loads beyond which loads are drawn logarithmically


def draw_spectrum(spectrum: Spectrum) -> Figure:
    growing = spectrum.values.real > spectrum.rounding
    return draw_roots(spectrum.values, growing, _zeros(spectrum.structural_zeros))


def _zeros(count: int) -> str:
    return number_of(count, "structural zero") if count else ""


def draw_rest_point(point: RestPoint) -> Figure:
    """The eigenvalues at a point of a branch or curve."""
    values = point.eigenvalues
    fig = draw_roots(values, np.arange(len(values)) < point.unstable, _zeros(sum(point.equations.zeros)))
    title(fig, point.status)
    return fig


def draw_roots(values: np.ndarray, growing: np.ndarray, zeros: str) -> Figure:
    """Eigenvalues in the complex plane, with growing ones marked, and the zeros that are known beforehand, if any."""
    fig = figure(5, 4)
    axes = fig.add_subplot()
    axes.axvline(0, color=GREY, lw=0.8)
    axes.plot(values[~growing].real, values[~growing].imag, "o", color=BLUE, label="decaying or neutral")
    if growing.any():
        axes.plot(values[growing].real, values[growing].imag, "s", color=VERMILION, label="growing")
    if zeros:
        axes.plot(0, 0, "x", color=GREY, label=zeros)
    size = np.abs(values).max(initial=0.0)
    if size and np.abs(values.real).max() < GROWING * size:  # rounding, which would fill the picture
        axes.set_xlim(-size / 10, size / 10)
    leave_out_fast(axes.set_xlim, axes, values)
    label(axes, "growth rate", "frequency")
    legend_above(axes)
    return fig


def leave_out_fast(limit: Callable[..., Any], axes: Axes, values: np.ndarray) -> None:
    """End the axis of growth rates before those that decay much faster than anything else moves, and say so."""
    size = max(np.abs(values.imag).max(initial=0.0), values.real.max(initial=0.0))
    fast = values.real < -FAST * size
    if not size or not fast.any():
        return
    shown = values.real[~fast]
    low, high = min(shown.min(), -size / 2), max(shown.max(), size / 2)
    limit(low - 0.08 * (high - low), high + 0.08 * (high - low))
    text = f"others decay faster, by {-values.real[fast].max():.3g} to {-values.real.min():.3g}"
    axes.text(0.02, 0.02, text, transform=axes.transAxes, fontsize="x-small", color="0.4")


def draw_critical(case: Case, load: str, searched: float, fixed: Mapping[str, float]) -> Figure:
    """The path over a range that shows everything found: a little farther than the last critical load."""
    if not searched:
        raise PfaffError(f"there is nothing to draw: the equilibrium has no continuation from {load} = 0")
    found = critical_loads(case, load, searched, fixed)
    marks = [float(mark) for mark in (found.flutter, found.divergence, found.buckling) if mark]
    to = min(searched, BEYOND * max(marks)) if marks else searched
    apart = bool(marks) and max(marks) > DECADES * min(marks)
    low = min(marks) / BEYOND**2 if apart else 0.0
    return draw_spectrum_path(case, load, to, low, fixed, powers=apart)


def draw_checked_loads(found: SparseFlutter) -> Figure:
    """Growth rates and frequencies of the modes that were computed at each load, and the flutter load."""
    fig = figure(7, 5)
    parts = fig.subplots(2, 1, sharex=True)
    for each in found.checked:
        colour = VERMILION if each.oscillating or each.divergent else BLUE
        for axes, part in zip(parts, (each.values.real, np.abs(each.values.imag)), strict=True):
            axes.plot(np.full(len(part), each.load), part, ".", color=colour)
    for axes, name in zip(parts, ("growth rate", "frequency"), strict=True):
        if found:
            axes.axvline(float(found), color=GREY, ls="--", lw=0.9)
        label(axes, "", name)
    parts[0].set_title(found.status.split(";")[0], fontsize="small")
    parts[1].set_xlabel(f"load {formula(found.load)}")
    return fig


def draw_rest(rest: Rest) -> Figure:
    """Coordinates and reactions of an assembly at rest, by their number."""
    fig = figure(7, 5)
    for axes, values, name in zip(fig.subplots(2, 1), (rest.q, rest.p), ("coordinate", "reaction"), strict=True):
        axes.axhline(0, color=GREY, lw=0.8)
        axes.plot(values, ".", color=BLUE)
        label(axes, "", name)
    fig.axes[1].set_xlabel("number")
    return fig


def draw_spectrum_path(
    case: Case,
    load: str,
    to: float,
    low: float = 0.0,
    fixed: Mapping[str, float] = MappingProxyType({}),
    powers: bool = False,
) -> Figure:
    """Real and imaginary parts of all eigenvalues against the load, critical loads marked (Figs. 8 and 9).

    ``powers`` spaces loads by their logarithms.
    """
    path = LoadPath(case, load, fixed)
    found = critical_loads(case, load, to, fixed)
    to = min(to, found.flutter.searched[1])
    marks = [mark for mark in (found.flutter, found.divergence) if mark]
    # Loads at which eigenvalues meet belong to the grid: there the branches separate like square roots.
    edges = [cell.low for cell in found.cells if low < cell.low < to]
    loads = np.unique(np.concatenate([(np.geomspace if powers else np.linspace)(low, to, POINTS), edges]))
    modes = [path.linearise(load_).motions().modes() for load_ in loads]
    at = np.concatenate([np.full(len(each.values), load_) for load_, each in zip(loads, modes, strict=True)])
    unstable = np.concatenate([each.values.real > each.on_axis for each in modes])
    every = np.concatenate([each.values for each in modes])
    fig = figure(7, 5)
    top, bottom = fig.subplots(2, 1, sharex=True)
    for axes, part, name in ((top, every.real, "growth rate"), (bottom, every.imag, "frequency")):
        axes.plot(at[~unstable], part[~unstable], ".", color=BLUE, ms=1.5)
        axes.plot(at[unstable], part[unstable], ".", color=VERMILION, ms=1.5)
        for mark in marks:
            axes.axvline(float(mark), color=GREY, ls="--", lw=0.9)
        label(axes, "", name)
    for mark in marks:
        text, place = f"{mark.kind}\n{float(mark):.6g}", (float(mark), 1.02)
        top.annotate(text, place, xycoords=("data", "axes fraction"), va="bottom", ha="center", fontsize="small")
    if powers:  # growth, too: what crosses zero first grows least
        top.set_xscale("log")
        top.set_yscale(
            "symlog", linthresh=max(abs(min(marks, key=float).eigenvalue or 0.0), GROWING * np.abs(every).max())
        )
    else:
        leave_out_fast(top.set_ylim, top, every)
    bottom.set_xlabel(f"load {formula(load)}")
    return fig
