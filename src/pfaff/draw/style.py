"""One style for all figures: readable in print, safe for colour-blind eyes (Okabe and Ito's palette)."""

from __future__ import annotations

import io
from collections.abc import Sequence
from textwrap import fill

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import AutoLocator, MaxNLocator, ScalarFormatter

BLUE, ORANGE, GREEN, VERMILION, PURPLE, SKY, GREY = (
    "#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7", "#56B4E9", "#7F7F7F",
)  # fmt: skip
CYCLE = (BLUE, VERMILION, GREEN, ORANGE, PURPLE, SKY)
SHARP = 180  # pixels of an inch in a notebook
LETTERS = 14  # letters of a title per inch
POWERS = (-3, 5)  # powers of ten beyond which they stand beside an axis
FEW = 4  # most names on an axis


class Picture(Figure):
    """A figure that shows itself in a notebook, whatever backend is set there."""

    def _repr_png_(self) -> tuple[bytes, dict[str, int]]:
        """Sharp on dense screens: half as large there as it has pixels."""
        png = io.BytesIO()
        self.savefig(png, format="png", dpi=SHARP)
        width, height = self.get_size_inches()
        return png.getvalue(), {"width": round(width * SHARP / 2), "height": round(height * SHARP / 2)}


def figure(width: float = 7.0, height: float = 4.0) -> Figure:
    """A figure that needs no screen and no global state."""
    return Picture(figsize=(width, height), layout="constrained", dpi=150)


def title(fig: Figure, text: str) -> None:
    """A title above everything, in as many lines as it needs."""
    fig.suptitle(fill(plain(text), int(LETTERS * fig.get_figwidth())), fontsize="small")


def plain(text: str) -> str:
    """A text that is no formula, even if it contains dollars."""
    return text.replace("$", r"\$")


def named(names: Sequence[str], many: str) -> str:
    """The label of an axis for several states: their names, or one word for many."""
    return ", ".join(names) if len(names) <= FEW else many


def legend_above(axes: Axes, columns: int = 3) -> None:
    """A legend above the panel, where its marks are not taken for data."""
    style = {"frameon": False, "fontsize": "small", "handlelength": 1.2, "columnspacing": 1.0, "borderaxespad": 0.2}
    axes.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=columns, **style)


def label(axes: Axes, x: str, y: str, title: str = "") -> None:
    for axis in (axes.xaxis, axes.yaxis):
        if isinstance(axis.get_major_locator(), AutoLocator):  # steps of 0.25 make labels that collide
            axis.set_major_locator(MaxNLocator("auto", steps=[1, 2, 5, 10]))
    if isinstance(shown := axes.xaxis.get_major_formatter(), ScalarFormatter):  # so do trailing zeros
        shown.set_powerlimits(POWERS)
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    if title:
        axes.set_title(plain(title), fontsize="medium")
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(alpha=0.25)
