"""Potosakis, Paraskevopoulos and Natsiavas: equations with multipliers of second order, and the augmented Lagrangian."""

from __future__ import annotations

from functools import partial

from pfaff.atlas import double_four_bar, rocking_suitcase, slider_crank, snaking_trailer
from pfaff.papers import PAPERS
from pfaff.papers.natsiavas2019.second_order import (
    STATES,
    constraint_decay,
    constraints_of_linkages,
    constraints_of_rolling,
    geometric_equations,
    second_order_equations,
    singular_matrix,
    unknowns,
    weak_form,
)
from pfaff.papers.natsiavas2019.singular_configurations import (
    draw_convergence,
    draw_strip,
    energy_drift,
    fixed_penalty,
    growing_penalty,
    index_reduced_stops,
    order,
    passes_flat,
    penalties_leave_the_motion,
    positions_kept,
    redundant_rows,
    same_motion_with_redundancy,
)
from pfaff.papers.natsiavas2019.towed_vehicles import analogues, lost_stability, towed_nonholonomically
from pfaff.papers.reproduction import Claim, Paper, Picture, Section

LINKAGE = "linkage"
PAPER = Paper(
    key="natsiavas2019",
    title=PAPERS["natsiavas2019"],
    systems=[slider_crank, double_four_bar, rocking_suitcase, snaking_trailer],
    about="The first chapter of the proceedings of NODYCON 2019, as far as Eq. (14): equations of motion with multipliers as ordinary "
    "differential equations of second order, their weak form in three fields, and its augmentation by penalties. Its discretisation and "
    "its two examples are not in the text at hand, so that the scheme is this package's own and the mechanisms are those of the benchmark "
    "library for singular configurations and redundant constraints; no number of the chapter is compared.",
    sections=[
        Section("Equations of motion", [
            Claim("Eq. (1)", "constraints of rolling are scleronomic and cannot be integrated", constraints_of_rolling, method="Chaplygin's sleigh, rolling disc",
                  formula=r"\dot{\psi}^R\equiv a_i^R(q)\dot{q}^i=0"),
            Claim("Eq. (2)", "constraints of mechanisms can", constraints_of_linkages, method="double four-bar, slider-crank", formula=r"\phi^R(q)=0"),
            Claim("Eq. (4)", "Newton's law on the manifold is Lagrange's equation", geometric_equations, within=1e-12, method="Λ as Christoffel's symbols of the inertia, at random states",
                  formula=r"h_i=\left(g_{ij}v^j\right)'-\Lambda_{\ell i}^{m}g_{mj}v^jv^\ell-f_i"),
            Claim("Eqs. (3)–(6)", "n + k equations of second order for q and λ", unknowns, method="rank of the matrix of q̈ and λ̈, slider-crank off its dead points"),
            Claim("Eqs. (3)–(6)", "they have Lagrange's accelerations, whatever the coefficients, λ and λ̇", second_order_equations, within=1e-10, method=f"three systems, {STATES} states each",
                  formula=r"h_R=\left(\bar{m}_{RR}\dot{\lambda}^R\right)'+\bar{c}_{RR}\dot{\lambda}^R+\bar{k}_{RR}\lambda^R-\bar{f}_R"),
            Claim("Eq. (6)", "constraints that hold at first hold ever after, and errors decay", constraint_decay, method="solution of the equation; roots for 100 random coefficients",
                  formula=r"\left(\bar{m}_{RR}\dot{\phi}^R\right)'+\bar{c}_{RR}\dot{\phi}^R+\bar{k}_{RR}\phi^R=0"),
            Claim("A limit of these equations", "in a singular configuration q̈ and λ̈ are not determined by Eqs. (3)–(6) alone", singular_matrix, shares=LINKAGE, within=1e-12,
                  method="least singular value of their matrix, linkage lying flat: the penalties must help"),
        ]),
        Section("Augmented Lagrangian", [
            Claim("Eq. (12)", "weak form of a constraint, by parts", weak_form, method="symbolically",
                  formula=r"\left(\bar{m}_{RR}\dot{\phi}^R\delta\lambda^R\right)\Big|_{t_1}^{t_2}-\int_{t_1}^{t_2}\left[\bar{m}_{RR}\dot{\phi}^R(\delta\lambda^R)'-(\bar{c}_{RR}\dot{\phi}^R+\bar{k}_{RR}\phi^R)\delta\lambda^R\right]dt=0"),
            Claim("Eq. (14)", "penalties leave the equations, and the motion, as they are", penalties_leave_the_motion, shares=LINKAGE, within=1e-8, method="linkage before it is flat, penalties a hundred times apart",
                  formula=r"\bar{\mu}^R=\mu^R-\xi_R\dot{\phi}^R,\quad\bar{\lambda}^R=\lambda^R-\xi_R\phi^R"),
            Claim("This package's scheme", "a penalty that stays fixed does not converge through the singularity", fixed_penalty, shares=LINKAGE, beyond=0.5, method="linkage at t = 1: growth of the error on halving the step, as a power of two"),
            Claim("This package's scheme", "one that grows as 1/h² has second order", growing_penalty, shares=LINKAGE, within=0.15, method="the same, distance of the order from two"),
        ]),
        Section("Redundant constraints", [
            Claim("Abstract", "a redundant constraint is recognised", redundant_rows, shares=LINKAGE, method="double four-bar with a rigid coupler"),
            Claim("Abstract, by this package's scheme", "the motion is that without it", same_motion_with_redundancy, shares=LINKAGE, within=1e-6, method="against five rods at t = 1.6, flat twice"),
            Claim("Abstract, by this package's scheme", "second order with it", partial(order, "rigid coupler"), within=0.15, method="distance of the order from two, h = 0.005 to 0.0025, against a pendulum", shares=LINKAGE),
        ]),
        Section("Singular configurations", [
            Claim("Beside it", "an index-reduced method stops there, and says so", index_reduced_stops, shares=LINKAGE, within=1e-3, method="Taylor's method: its last time against that of the first flat configuration"),
            Claim("Abstract, by this package's scheme", "second order through two flat configurations", partial(order, "linkage"), within=0.15, method="distance of the order from two, h = 0.005 to 0.0025, against a pendulum", shares=LINKAGE),
            Claim("Abstract, by this package's scheme", "second order through two dead points", partial(order, "slider-crank"), within=0.2, method="slider-crank, against its crank angle by SciPy", shares=LINKAGE),
            Claim("Abstract, by this package's scheme", "passes through flat configurations over and over", passes_flat, beyond=9, method="ten seconds of the linkage, h = 0.01", shares=LINKAGE),
            Claim("Abstract, by this package's scheme", "and keeps its energy", energy_drift, within=1e-3, method="ten seconds, relative", shares=LINKAGE),
            Claim("Abstract, by this package's scheme", "and its constraints", positions_kept, within=1e-12, method="residual of the positions", shares=LINKAGE),
        ], [
            Picture("figure_1", "The double four-bar linkage from upright through flat configurations, where one degree of freedom becomes three.", draw_strip, shares=LINKAGE),
            Picture("figure_2", "Errors over the step: second order through singular configurations, lost with a penalty that stays fixed.", draw_convergence, shares=LINKAGE),
        ]),
        Section("Another chapter that the preface names", [
            Claim("Preface, on Horváth and Takács", "suitcases and trailers are subject to nonholonomic constraints", towed_nonholonomically, method="classification"),
            Claim("Contents, title of Horváth and Takács", "they are analogues: one model of ours, two sets of our numbers", analogues, method="equations of motion, symbolically"),
            *(Claim("Preface, on Horváth and Takács", f"stability of the {words}: our model loses it at some speed", partial(lost_stability, make), beyond=0.1, method="flutter speed of our model with our numbers")
              for make, words in ((rocking_suitcase, "suitcase"), (snaking_trailer, "trailer"))),
        ]),
    ],
)  # fmt: skip
