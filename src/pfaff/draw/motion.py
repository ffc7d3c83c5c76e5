"""Motions: time histories, phase portraits, reactions, energies and paths in the plane."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

from pfaff.draw.labels import formula, formulas, groups, moving_most
from pfaff.draw.scene import PATH, Scene, scene_of_motion
from pfaff.draw.style import CYCLE, figure, label, named, plain, title

if TYPE_CHECKING:
    from pfaff.motion.locomotion import Friction
    from pfaff.motion.result import Motion
    from pfaff.motion.trajectory import Trajectory

DENSE = 2000  # instants of a reaction, beside the samples
NARROWEST, WIDEST = 3.2, 6.0  # inches for paths beside the other panels
NAMED = 8  # entries of a legend at most
ACROSS = 4  # entries side by side
STRAIGHT = 1e-6  # ratio of a path's width to its length that is rounding
NARROW = 0.08  # ratio below which a path is enlarged across
COINCIDING = 3e-3  # relative distance within which curves coincide


def draw_motion(motion: Motion, names: Sequence[str] = ()) -> Figure:
    """One page; panels for reactions, quasi-velocities and paths only where there are any. Names select.

    Angles have axes of their own, apart from other coordinates; of very many, those that move most are shown.
    """
    kinds = groups(motion.case.system if motion.case is not None else None, _chosen(motion.names, names))
    fig, panels = _page(motion, list(kinds))
    if motion.quasi_velocities:
        speeds = _chosen(motion.quasi_velocities, names)
        _lines(panels["speeds"], [motion.t] * len(speeds), [motion[name] for name in speeds], speeds)
        label(panels["speeds"], "time", "quasi-velocity" if len(speeds) == 1 else "quasi-velocities")
        _from_zero(panels["speeds"], motion)
        _legend(panels["speeds"])
    for kind, every in kinds.items():
        rows = {name: motion[name] for name in every}
        shown = every if names else moving_most(rows)
        velocities = [motion[f"{name}_dot"] for name in shown]
        histories, portraits = panels[kind], panels[f"{kind} phase"]
        _lines(histories, [motion.t] * len(shown), [rows[name] for name in shown], shown)
        _lines(portraits, [rows[name] for name in shown], velocities, shown)
        label(histories, "time", kind)
        label(portraits, kind, "angular velocity" if kind.startswith("angle") else "velocity")
        _legend(histories)  # the portraits have the same colours
        _others(histories, len(shown), every, shown)
    _energies(panels["energies"], motion)
    if motion.reaction_names:
        reactions = _chosen(motion.reaction_names, names)
        t, p = _reactions(motion)
        rows = {name: p[motion.reaction_names.index(name)] for name in reactions}
        shown = reactions if names else moving_most(rows)
        own = {name: alias for alias, name in motion.aliases.items()}
        titles = [own.get(name, name) for name in shown]
        _lines(panels["reactions"], [t] * len(shown), [rows[name] for name in shown], titles)
        label(panels["reactions"], "time", "reaction")
        _legend(panels["reactions"])
        _others(panels["reactions"], len(shown), reactions, shown)
    title(fig, f"{motion.system}: {motion.status}")
    return fig


def _reactions(motion: Motion) -> tuple[np.ndarray, np.ndarray]:
    """Reactions by the integrator's own polynomials, between the samples too; for a stored motion, at its samples."""
    if motion.case is None or motion.dense is None:
        return motion.t, motion.p
    t = np.union1d(np.linspace(motion.t[0], motion.t[-1], DENSE), motion.t)
    return t, motion.reactions(t)


def _others(axes: Axes, count: int, every: Sequence[str], shown: Sequence[str]) -> None:
    """Say that there are more, and how to see them."""
    left_out = [name for name in every if name not in shown]
    if left_out:
        text = f"{count} of {len(every)}; others by name, plot({left_out[0]!r})"
        axes.set_title(text, fontsize="x-small", loc="right", color="0.4")


def draw_trajectory(trajectory: Trajectory, names: Sequence[str] = ()) -> Figure:
    """States in time, and the first two of them against each other."""
    fig = figure(9, 3.6)
    shown = list(names) or list(trajectory.states)
    axes = fig.subplots(1, 2 if len(shown) > 1 else 1, squeeze=False)[0]
    _lines(axes[0], [trajectory.t] * len(shown), [trajectory[name] for name in shown], shown)
    label(axes[0], "time", named(formulas(shown), "state"))
    _legend(axes[0])
    if len(axes) > 1:
        axes[1].plot(trajectory[shown[0]], trajectory[shown[1]], color=CYCLE[0], lw=0.9)
        label(axes[1], *formulas(shown[:2]))
    title(fig, f"{trajectory.system}: {trajectory.status}")
    return fig


def _chosen(every: Sequence[str], names: Sequence[str]) -> list[str]:
    return [name for name in every if name in names] or list(every)


def _page(motion: Motion, kinds: Sequence[str]) -> tuple[Figure, dict[str, Axes]]:
    """Histories beside portraits, energies beside reactions; wide paths go below them, others beside them."""
    rows = [[kind, f"{kind} phase"] for kind in kinds]
    if motion.quasi_velocities:
        rows.append(["speeds", "speeds"])
    rows.append(["energies", "reactions" if motion.reaction_names else "energies"])
    height = 0.6 + 2.9 * len(rows)
    if motion.case is None or motion.case.system.drawing is None:
        fig = figure(9, height)
        return fig, fig.subplot_mosaic(rows)
    scene = scene_of_motion(motion, np.linspace(motion.t[0], motion.t[-1], PATH))
    width, depth = scene.span(scene.drawing.traced)[:2]
    if width > 1.5 * depth:
        fig, ratios = figure(9, height + 2.2), [1.0, 1.0]
        rows.append(["paths", "paths"])
    else:
        across = float(np.clip(height * width / (depth or 1.0), NARROWEST, WIDEST))
        fig, ratios = figure(8 + across, height), [4.0, 4.0, across]
        rows = [[*row, "paths"] for row in rows]
    panels: dict[str, Axes] = fig.subplot_mosaic(rows, width_ratios=ratios)
    _paths(panels["paths"], scene)
    return fig, panels


def _paths(axes: Axes, scene: Scene) -> None:
    """The paths of the traced points, as they lie in the plane; in space, seen from above."""
    for k, name in enumerate(scene.drawing.traced):
        axes.plot(*scene.points[name][:, :2].T, color=CYCLE[k % len(CYCLE)], lw=0.9, label=f"path of {plain(name)}")
    starts = np.array([scene.points[name][0, :2] for name in scene.drawing.traced])
    axes.plot(*starts.T, "o", color="black", mfc="white", ms=5, label="start")
    span = scene.span(scene.drawing.traced)[:2]
    if STRAIGHT < span.min() / (span.max() or 1.0) < NARROW:  # to scale, this path would look like a line
        enlarged = int(span.argmin())
        label(axes, *(f"{name} (enlarged)" if k == enlarged else name for k, name in enumerate("xy")))
    else:
        axes.set_aspect("equal", adjustable="datalim")
        label(axes, "x", "y")
    _legend(axes)


def _energies(axes: Axes, motion: Motion) -> None:
    parts = {name: getattr(motion.energy, name) for name in ("kinetic", "potential", "dissipated", "supplied")}
    for colour, (name, row) in zip(CYCLE, parts.items(), strict=False):
        if np.any(row):
            axes.plot(motion.t, row, color=colour, lw=1, label=name)
    _from_zero(axes, motion)
    label(axes, "time", "energy")
    _legend(axes)


def _from_zero(axes: Axes, motion: Motion) -> None:
    """Start the axis at zero: a constant would fill the panel with its rounding."""
    axes.update_datalim([(motion.t[0], 0.0)])
    axes.autoscale_view()


def _lines(axes: Axes, x: Iterable[np.ndarray], y: Iterable[np.ndarray], names: Sequence[str]) -> None:
    """A curve for each name; where there are many, colours follow their order and the legend names some."""
    many = len(names) > len(CYCLE)
    colours = [to_hex(colormaps["viridis"](k / len(names))) for k in range(len(names))] if many else CYCLE
    x, y = list(x), list(y)
    sizes = [max((np.nanmax(np.abs(row)) for row in rows), default=1.0) or 1.0 for rows in (x, y)]
    drawn: list[tuple[np.ndarray, np.ndarray]] = []
    for name, colour, along, up in zip(names, colours, x, y, strict=False):
        hidden = sum(_close(along, a, sizes[0]) and _close(up, b, sizes[1]) for a, b in drawn)
        style = (0, (6 / hidden, 6)) if hidden else "-"  # dashes let what lies beneath be seen
        axes.plot(along, up, color=colour, lw=0.9, ls=style, label=formula(name))
        drawn.append((along, up))


def _close(a: np.ndarray, b: np.ndarray, size: float) -> bool:
    return bool(np.nanmax(np.abs(a - b)) < COINCIDING * size)


def _legend(axes: Axes) -> None:
    handles, names = axes.get_legend_handles_labels()
    some = np.unique(np.linspace(0, len(handles) - 1, min(len(handles), NAMED)).astype(int))
    if len(some):
        chosen = [handles[k] for k in some], [names[k] for k in some]
        many = len(handles) > len(CYCLE)  # beside the panel, else above it: curves stay uncovered
        place, anchor = ("upper left", (1, 1)) if many else ("lower left", (0, 1))
        columns = 1 if many else ACROSS
        style: dict[str, Any] = {"fontsize": "small", "frameon": False, "handlelength": 1.8, "columnspacing": 1.2}
        axes.legend(*chosen, loc=place, bbox_to_anchor=anchor, ncols=columns, **style)


def draw_friction(friction: Friction) -> Figure:
    """The coefficient needed in time, and where a given one would slip."""
    fig = figure(7, 3.4)
    axes = fig.add_subplot()
    axes.plot(friction.t, friction.needed, color=CYCLE[0], lw=1, label="needed")
    if friction.coefficient is not None:
        axes.axhline(friction.coefficient, color=CYCLE[1], lw=1, ls="--", label="given")
        axes.plot(friction.slips, np.full(len(friction.slips), friction.coefficient), "o", color=CYCLE[1], ms=4)
    label(axes, "time", "friction coefficient", friction.status)
    axes.legend(frameon=False, fontsize="small")
    return fig
