"""The directives ``film`` and ``picture``: motions that play on the page and figures, computed by the build."""

from __future__ import annotations

import base64
import io
from collections.abc import Callable
from functools import cache
from html import escape
from typing import Any

from docutils import nodes
from docutils.parsers.rst import Directive
from matplotlib.figure import Figure
from sphinx.application import Sphinx

import pfaff
from pfaff.draw.footage import Footage, of_branch, of_motion, of_orbit
from pfaff.draw.player import element

FRAMES = 700
DPI = 160
XI = {"d": "1/2", "M_L": 15, "I_L": 15, "k1": 50, "c_i": "3/2"}


def motion(name: str, duration: float, since: float = 0.0, **given: Any) -> Callable[[], Footage]:
    """Of a system of the atlas: parameters and starting values by name."""

    def filmed() -> Footage:
        system = getattr(pfaff.atlas, name)()
        values = {key: value for key, value in given.items() if key in system.parameter_names}
        start = {key: value for key, value in given.items() if key not in values}
        return of_motion(system.at(**values).simulate(duration, **start), since, duration, FRAMES)

    return filmed


def cycle() -> Footage:
    """An unstable cycle: no simulation stays on it."""
    branch = pfaff.atlas.column(2).at(**XI).hopf().orbits(to=90)
    return of_orbit(min((each for each in branch if not each.stable), key=lambda each: each.value), 3, FRAMES)


def branch() -> Footage:
    return of_branch(pfaff.atlas.column(2).at(**XI).hopf().orbits(to=90), FRAMES)


def walking_rod() -> Footage:
    """A stable cycle: drag keeps it small, and every period moves the rod ahead."""
    hopf = pfaff.atlas.rod("skate", modes=6).at(M_L=1, eta=0.001, c_e=10).hopf()
    return of_orbit(hopf.orbits(to=hopf.value + 1)[-1], 8, FRAMES)


def gait() -> Footage:
    """The snakeboard's: the rotor swings, and both pairs of wheels turn against each other."""
    rotor = {"psi": "7/10*sin(t)", "phi_f": "3/10*sin(t)", "phi_b": "-3/10*sin(t)"}
    moved = pfaff.atlas.snakeboard().at().simulate(30, prescribed=rotor, project=True)
    return of_motion(moved, 0.0, float(moved.t[-1]), FRAMES)


FILMS: dict[str, Callable[[], Footage]] = {
    "skate": motion("column", 120, 70, theta1_dot=0.01, theta2_dot=0.01, F=84, **XI),
    "unstable-cycle": cycle,
    "branch": branch,
    "walking-rod": walking_rod,
    "rolling-disc": motion("rolling_disc", 30, theta=0.3, phi_dot=0.9, psi_dot=0.4),
    "rolling-hoop": motion("rolling_hoop", 12, theta=0.9, phi_dot=2.0, psi_dot=-1.0),
    "rattleback": motion("rattleback", 12, psi_dot=-3.0, alpha=0.01, beta=0.01),
    "bicycle": motion("whipple_bicycle", 8, phi_dot=0.4, s_dot=4.6, x_dot=4.6, f_dot=4.6),
    "turntable": motion("ball_on_turntable", 45, x=0.3, y_dot=0.05),
    "cavity": motion("ball_in_cavity", 30, u=0.6, v_dot=0.35),
    "trailer": motion("snaking_trailer", 5, v=28, psi=0.03),
    "sleigh": motion("chaplygin_sleigh", 20, phi_dot=2.0, x_dot=0.3),
    "snakeboard": gait,
    "squeezer": motion("andrews_squeezer", 0.03, project=True),
}


@cache
def shown(name: str, seconds: float) -> str:
    data = FILMS[name]().data(seconds)
    return (
        f'<figure class="film">{element(data, f"film-{name}")}<figcaption>{escape(data["title"])}</figcaption></figure>'
    )


class Film(Directive):
    """``{film} name``, and how many seconds it takes to watch."""

    required_arguments = 1
    optional_arguments = 1

    def run(self) -> list[nodes.Node]:
        name, seconds = self.arguments[0], float((self.arguments[1:] or [12])[0])
        if name not in FILMS:
            raise self.error(f"no film {name!r}: there are {', '.join(FILMS)}")
        return [nodes.raw("", shown(name, seconds), format="html")]


@cache
def column() -> Any:
    return pfaff.atlas.column(2).at(**XI)


PICTURES: dict[str, Callable[[], Figure]] = {
    "flutter": lambda: column().flutter().plot(),
    "structure": lambda: column().at(F=84).plot(),
    "hopf": lambda: column().hopf().plot(),
    "cycles": lambda: column().hopf().orbits(to=100).plot(),
    "motion": lambda: column().at(F=84).simulate(60, theta1_dot=0.01, theta2_dot=0.01).plot(),
}


@cache
def drawn(name: str) -> str:
    png = io.BytesIO()
    PICTURES[name]().savefig(png, dpi=DPI)
    return base64.b64encode(png.getvalue()).decode()


class Picture(Directive):
    """``{picture} name``; what it shows, in words, is its content."""

    required_arguments = 1
    has_content = True

    def run(self) -> list[nodes.Node]:
        name, words = self.arguments[0], " ".join(self.content)
        if name not in PICTURES or not words:
            raise self.error(f"a picture is one of {', '.join(PICTURES)}, and says in words what it shows")
        text = f'<img class="figure" alt="{escape(words)}" src="data:image/png;base64,{drawn(name)}">'
        return [nodes.raw("", text, format="html")]


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_directive("film", Film)
    app.add_directive("picture", Picture)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
