"""Cazzolli, Dal Corso and Bigoni (2021): rods with a skate or a bow are Beck's, Pflüger's and Reut's columns.

The paper's figures and numbers were not at hand: what is checked is what its abstract claims, against the literature on
those columns and the characteristic function. Its families of curves are drawn as computed, beside nothing printed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pfaff.atlas import column, rod
from pfaff.papers import PAPERS
from pfaff.papers.reproduction import Claim, Paper, Picture, Section

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ENDS = ("skate", "bow")
MODES = 12
MASSES = 1.5 * np.linspace(0.0, 1.0, 43) ** 1.5  # arctan of M_L/(mL), closer together where the loads fall
DOTS = slice(None, None, 6)
DAMPINGS: dict[str, dict[str, float]] = {
    "no damping": {},
    "internal, η = 0.01": {"eta": 0.01},
    "external, c = 1": {"c_e": 1.0},
    "at the end, c = 1": {"c_t": 1.0},
}


def beck() -> float:
    return float(rod("skate", modes=MODES).at().flutter())


def beck_frequency() -> float:
    return float(rod("skate", modes=MODES).at().flutter().frequency or 0.0)


def reut() -> float:
    return float(rod("bow", modes=MODES).at().flutter())


def pflueger() -> float:
    return float(rod("skate", modes=MODES).at(M_L=1).flutter())


def same_spectra() -> float:
    """The largest difference of eigenvalues of both rods, relative to each, for random inertia, damping and loads."""
    worst, random = 0.0, np.random.default_rng(2021)
    for F in random.uniform(0, 30, 5):
        names = ("M_L", "I_L", "r", "eta", "c_e", "c_t", "c_r")
        values = dict(zip(names, random.uniform(0, 1, 7) * [1, 1, 0.1, 0.01, 1, 1, 1], strict=True))
        first, second = (np.sort_complex(rod(end, modes=8).at(**values, F=F).spectrum().values) for end in ENDS)
        worst = max(worst, float((np.abs(first - second) / np.abs(first)).max()))
    return worst


def ziegler_internal() -> float:
    """Beck's load as internal damping vanishes, by the characteristic function."""
    return float(rod("skate", modes=MODES).at().characteristic(exact=True).limit({"eta": 1}, 15))


def independent_of_end_mass() -> float:
    """How much the limit for a damper at the end changes with the end mass, relatively."""
    limits = [rod("skate", modes=10).at(M_L=mass).paradox({"c_t": 1}).limit or 0.0 for mass in (0.3, 3.0)]
    return abs(limits[1] / limits[0] - 1)


def bars_tend_to_the_rod() -> float:
    """How far the order in 1/N at which bars on hinges approach it is from two."""
    exact = float(rod("skate", modes=MODES).at(M_L=1).flutter())
    errors = [float(column(N).at(k1=2 * N, k=N, M_L=1).flutter()) - exact for N in (4, 8)]
    return abs(float(np.log2(errors[0] / errors[1])) - 2)


def loads_against_mass() -> Figure:
    """The flutter load of both rods against the mass ratio, without and with damping."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 4.2), layout="constrained")
    axes = figure.subplots()
    for label, damping in DAMPINGS.items():
        loads = [_load("skate", mass, damping) for mass in MASSES]
        (line,) = axes.plot(MASSES, loads, label=f"skate, {label}")
        dots = [_load("bow", mass, damping) for mass in MASSES[DOTS]]
        axes.plot(MASSES[DOTS], dots, "o", color=line.get_color(), mfc="none")
    axes.plot([], [], "o", color="k", mfc="none", label="bow")
    axes.set_xlabel(r"$\arctan\,(M_L/mL)$")
    axes.set_ylabel(r"$F L^2/EI$ at flutter")
    axes.set_ylim(0)
    axes.legend(fontsize=8)
    return figure


def _load(end: str, mass: float, damping: dict[str, Any]) -> float:
    return float(rod(end, modes=8).at(M_L=float(np.tan(mass)), **damping).flutter(to=60))


def walking(path: Any) -> None:
    """A rod that flutters above its critical load, and walks."""
    case = rod("skate", modes=8).at(M_L=1, eta=0.01, c_e=2, F=15.1)
    case.simulate(15, a1=0.3, samples=301).animate(path)


PAPER = Paper(
    key="cazzolli2021",
    title=PAPERS["cazzolli2021"],
    systems=[rod, column],
    about="Elastic rods with a nonholonomic constraint at their end under a dead load: Beck's, Pflüger's and Reut's columns, and "
    "Ziegler's paradox, without follower forces. Only the abstract was at hand: its claims are checked against the "
    "literature on those columns, no printed digit of the paper could be compared.",
    sections=[
        Section("Follower forces realised", [
            Claim("abstract, and Beck (1952)", "skate: Beck's load, F L²/EI", beck, "20.05", method="12 Legendre modes"),
            Claim("abstract, and Beck (1952)", "skate: Beck's frequency", beck_frequency, "11.02", method="12 Legendre modes"),
            Claim("abstract, and Beck (1952)", "bow: Reut's load is Beck's", reut, "20.05", method="12 Legendre modes"),
            Claim("abstract, and Pflüger's column", "skate: Pflüger's load at M_L = mL", pflueger, "16.21", method="12 Legendre modes"),
            Claim("abstract", "skate and bow have the same spectrum", same_spectra, within=1e-7, method="random inertia and damping"),
        ], [Picture("figure_loads", "Flutter loads against the mass ratio, without and with damping, skate (lines) and bow "
                    "(circles). Computed; the printed curves were not at hand.", loads_against_mass)]),
        Section("Ziegler's paradox", [
            Claim("abstract, and the literature on Beck's column", "vanishing internal damping, Beck's column", ziegler_internal, "10.94", method="characteristic function"),
            Claim("abstract", "a damper at the end: the limit does not depend on the end mass", independent_of_end_mass, within=1e-8,
                  method="two end masses"),
        ]),
        Section("From bars to rods", [
            Claim("beside the paper", "bars with k₁ = 2N converge at second order", bars_tend_to_the_rod, within=0.1, method="4 and 8 bars"),
        ], [Picture("film_walk", "A rod above its critical load flutters and walks.", walking, moving=True)]),
    ],
)  # fmt: skip
