"""Cazzolli, Dal Corso and Bigoni (2020): every numbered result of the paper, its claims in words and its figures.

The systems are in ``cases``. Dimensionless throughout: L = M = k = 1. ξ = [d, M_L, I_L, k1]; ξ̂ = [1/2, 15, 15, 50].
"""

from functools import partial

from pfaff.atlas import column
from pfaff.papers import PAPERS
from pfaff.papers.cazzolli2020.bifurcations import HOPF
from pfaff.papers.cazzolli2020.critical_loads import LOADS
from pfaff.papers.cazzolli2020.equations import EQUATIONS
from pfaff.papers.cazzolli2020.errata import ERRATA
from pfaff.papers.cazzolli2020.figures import EQUILIBRIUM_PICTURES, HOPF_PICTURES, LOAD_PICTURES, MOTION_PICTURES
from pfaff.papers.cazzolli2020.motions import MOTIONS
from pfaff.papers.reproduction import Paper, Section

PAPER = Paper(
    key="cazzolli2020",
    title=PAPERS["cazzolli2020"],
    systems=[column, partial(column, load="spring")],
    sections=[
        Section("Equations of motion, equilibria and buckling", EQUATIONS, EQUILIBRIUM_PICTURES),
        Section("Flutter and divergence loads", LOADS, LOAD_PICTURES),
        Section("The Hopf bifurcation", HOPF, HOPF_PICTURES),
        Section("Motions, limit cycles and locomotion", MOTIONS, MOTION_PICTURES),
    ],
    errata=ERRATA,
    about="Structures of rigid bars on visco-elastic hinges that end on a skate or on a violin bow, under conservative "
    "loads. Dimensionless: lengths by L, masses by M, stiffnesses by k, time by L√(M/k); ξ = [d, M_L, I_L, k1] and "
    "ξ̂ = [1/2, 15, 15, 50]. The mass M_X of the block is nowhere stated; it is taken as zero.",
)
