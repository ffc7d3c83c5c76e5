"""Connecting orbits in time, in phase and by the eigenvalues of their equilibria, and curves of them."""

from __future__ import annotations

from operator import itemgetter
from typing import TYPE_CHECKING, Any

from matplotlib.figure import Figure

from pfaff.draw.diagram import draw_stretches, name_styles
from pfaff.draw.labels import formula
from pfaff.draw.orbits import draw_time_and_phase, pairs
from pfaff.draw.special import mark_special
from pfaff.draw.style import BLUE, GREY, VERMILION, figure, label, title

if TYPE_CHECKING:
    from pfaff.bifurcation.connections.connection_curves import ConnectionCurve
    from pfaff.bifurcation.connections.connections import Connection


def draw_connection(connection: Connection) -> Figure:
    """States against time, phase portraits with the equilibria, and the eigenvalues along which it leaves and comes."""
    fig = figure(12, 4)
    histories, portraits, eigenvalues = fig.subplots(1, 3)
    orbit = connection.orbit
    draw_time_and_phase(histories, portraits, orbit)
    for first, second in pairs(orbit.states):
        for rest in (connection.rest, connection.end):
            portraits.plot(rest[first], rest[second], "o", mfc="white", color=GREY, ms=5)
    _draw_eigenvalues(eigenvalues, connection)
    title(fig, orbit.title)
    return fig


def _draw_eigenvalues(axes: Any, connection: Connection) -> None:
    axes.axvline(0, color=GREY, lw=0.8)
    sides = ((connection.decaying, "o", BLUE, "comes along"), (connection.growing, "s", VERMILION, "leaves along"))
    for values, mark, colour, words in sides:
        axes.plot(values.real, values.imag, mark, color=colour, label=words)
    label(axes, "growth rate", "frequency", "eigenvalues")
    axes.legend(frameon=False, fontsize="small")


def draw_connection_curve(curve: ConnectionCurve) -> Figure:
    """The curve in the plane of its parameters: solid where σ < 0, dashed where σ > 0; special orbits marked."""
    fig = figure(6.5, 4.2)
    axes = fig.add_subplot()
    first, second = curve.parameters
    solid = [not (point.homoclinic and point.saddle_quantity > 0) for point in curve]
    points, special = ([(each.value, each[first]) for each in group] for group in (curve, curve.special))
    draw_stretches(axes, points, solid, special, curve.places, color=BLUE, lw=1.3, label=curve.of)
    mark_special(axes, curve, itemgetter(first))
    label(axes, formula(second), formula(first))
    name_styles(axes, solid if curve[0].homoclinic else [], ("σ < 0", "σ > 0"))
    title(fig, f"{curve[0].case.system.name}: {curve.status}")
    return fig
