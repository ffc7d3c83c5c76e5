"""Lines of a bifurcation diagram: smooth between the points that were followed, changing style where they change."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby, pairwise
from typing import Any

import numpy as np
from matplotlib.lines import Line2D

BETWEEN = 16  # places drawn from one point to the next
CONSTANT = 1e-9  # changes relative to the values themselves that are rounding
ONE_POINT = 1e-9  # relative to the picture: points nearer than this are one


def places_of(points: np.ndarray, special: np.ndarray) -> list[int]:
    """The index of the point before which each special one belongs: where it is the least detour."""
    size = np.ptp(points, axis=0)
    changes = size > CONSTANT * np.abs(points).max(axis=0)
    scaled, marks = (rows.reshape(-1, len(size)) / np.where(changes, size, np.inf) for rows in (points, special))
    steps = np.linalg.norm(np.diff(scaled, axis=0), axis=1)
    found = []
    for mark in marks:
        away = np.linalg.norm(scaled - mark, axis=1)
        found.append(int(np.argmin(away[:-1] + away[1:] - steps)) + 1 if len(steps) else 1)
    return found


def draw_stretches(
    axes: Any,
    points: Sequence[tuple[float, float]],
    solid: Sequence[bool],
    special: Sequence[tuple[float, float]] = (),
    places: Sequence[int] | None = None,
    **style: Any,
) -> None:
    """A smooth line through all points, special ones included, solid or dashed; it changes at a special point."""
    ordinary = np.array(points, dtype=float)
    marks = np.array(special, dtype=float).reshape(-1, 2)
    places = places_of(ordinary, marks) if places is None else places
    knots = [(*xy, full) for xy, full in zip(ordinary, solid, strict=True)]
    for mark, place in sorted(zip(marks[::-1], places[::-1], strict=True), key=lambda each: -each[1]):  # the last first
        after = knots[min(place, len(knots) - 1)][2]
        knots.insert(place, (*mark, after))
    x, y = smooth(np.array([knot[:2] for knot in knots]))
    flags = [bool(knot[2]) for knot in knots]
    label = style.pop("label", None)
    for full, run in groupby(range(len(flags)), key=lambda k: flags[k]):
        indices = list(run)
        piece = slice(indices[0] * BETWEEN, (indices[-1] + 1) * BETWEEN + 1)  # up to where the next begins
        axes.plot(x[piece], y[piece], "-" if full else "--", label=label, **style)
        label = None


def smooth(knots: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """A cubic spline by chord length, each coordinate in its own unit; BETWEEN places for each knot but the last."""
    from scipy.interpolate import CubicSpline

    size = np.ptp(knots, axis=0)
    scaled = knots / np.where(size > CONSTANT * np.abs(knots).max(axis=0), size, np.inf)
    chord = np.linalg.norm(np.diff(scaled, axis=0), axis=1)
    s = np.concatenate([[0.0], np.cumsum(chord)])
    fine = np.concatenate([*(np.linspace(a, b, BETWEEN, endpoint=False) for a, b in pairwise(s)), s[-1:]])
    apart = np.concatenate([[True], chord > ONE_POINT])
    if apart.sum() < 4:
        return np.interp(fine, s[apart], knots[apart, 0]), np.interp(fine, s[apart], knots[apart, 1])
    x, y = CubicSpline(s[apart], knots[apart])(fine).T
    return x, y


def _in_colour(line: Line2D) -> Line2D:
    """A solid line of the same colour for a dashed one: how a line begins says nothing about its name."""
    dashed = line.get_linestyle() == "--"
    return Line2D([], [], color=line.get_color(), lw=line.get_linewidth()) if dashed else line


def name_styles(
    axes: Any, solid: Sequence[bool], words: tuple[str, str] = ("stable", "unstable"), **legend: Any
) -> None:
    """A legend of lines by their colours, then of marks; then it says what solid and dashed mean, if there are such
    lines."""
    known = list(zip(*axes.get_legend_handles_labels(), strict=True))
    known.sort(key=lambda each: each[0].get_marker() not in (None, "None", ""))
    handles, names = [_in_colour(handle) if len(solid) else handle for handle, _ in known], [name for _, name in known]
    for full, style, word in ((True, "-", words[0]), (False, "--", words[1])):
        if full in [bool(each) for each in solid]:
            handles.append(Line2D([], [], color="0.35", ls=style, lw=1.3))
            names.append(word)
    if handles:
        axes.legend(handles, names, frameon=False, fontsize="small", **legend)
