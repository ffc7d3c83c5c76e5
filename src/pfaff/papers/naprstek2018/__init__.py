"""Náprstek and Fischer: Lagrange's and Appell's equations side by side, in size, in agreement and in simplicity."""

from __future__ import annotations

from functools import partial

from pfaff.atlas import ball_absorber, ball_in_cavity, chaplygin_sleigh, rolling_disc, slider_crank
from pfaff.papers import PAPERS
from pfaff.papers.naprstek2018.equations_counted import (
    STATES,
    SYSTEMS,
    fewer_states,
    holonomic_reduction,
    lagrange_equations,
    links_added,
    live_degrees,
    normal_form,
    numbers_of_equations,
)
from pfaff.papers.naprstek2018.gibbs_function import (
    damping_loses_energy,
    gauss,
    gibbs_of_particles,
    gibbs_without_coupling,
    power_with_printed_sign,
    unlinked,
    virtual_power,
    wrong_acceleration,
)
from pfaff.papers.naprstek2018.simplicity import (
    COUNTED,
    compiled_operations,
    draw_comparison,
    longer_by_appell,
    operations,
    same_accelerations,
)
from pfaff.papers.reproduction import Claim, Erratum, Paper, Picture, Section

ALL = "derived once"
PAPER = Paper(
    key="naprstek2018",
    title=PAPERS["naprstek2018"],
    systems=[ball_in_cavity, ball_absorber],
    about="An extended abstract that sets Lagrange's equations with multipliers beside Appell's with the Gibbs function, for systems with "
    "nonholonomic links, such as a ball that rolls in a spherical cavity. It prints no numbers; its counts and its identities are "
    f"checked on {len(SYSTEMS)} systems: the ball in the cavity, the ball absorber, Chaplygin's sleigh, the particle with ż = yẋ, the "
    "rolling disc, and the slider-crank as a holonomic one. Simplicity is counted in operations, common subexpressions once.",
    sections=[
        Section("Lagrange's equations", [
            Claim("Eq. (1)", "equations with multipliers, R the potential of the damping forces", lagrange_equations, shares=ALL, method="ball in cavity and absorber, at a random point; R the negative of Rayleigh's function, λ = −p",
                  formula=r"\frac{d}{dt}\frac{\partial\mathcal{T}}{\partial\dot{q}_s}-\frac{\partial\mathcal{T}}{\partial q_s}+\frac{\partial\mathcal{V}}{\partial q_s}=Q_s+\frac{\partial\mathcal{R}}{\partial\dot{q}_s}+\sum_{r=1}^{l}\lambda_rC_{rs}"),
            Claim("Eqs. (1), (2)", "n + l equations with n + l unknowns", numbers_of_equations, shares=ALL, method=f"{len(SYSTEMS)} systems"),
            Claim("Eq. (3)", "normal form in 2n states; with l multipliers 2n + l unknowns", normal_form, shares=ALL, method=f"{len(SYSTEMS)} systems",
                  formula=r"\dot{\mathbf{u}}=\mathbf{f}(\mathbf{u},t),\quad\mathbf{u}\in\mathbb{R}^{2n}"),
            Claim("after Eq. (3)", "integrable links leave 2k unknowns", holonomic_reduction, within=1e-10, formula="k=n-l",
                  method="slider-crank with its links and as a crank alone: the same accelerations"),
        ]),
        Section("Appell's equations", [
            Claim("Eq. (5)", "k = n − l dynamical equations; with the links k + l unknowns", live_degrees, shares=ALL, method=f"{len(SYSTEMS)} systems"),
            Claim("Eq. (4)", "Gibbs function of a system all of whose coordinates are live", gibbs_without_coupling, method="pendulum, symbolically",
                  formula=r"\mathcal{G}=\frac{1}{2}\sum_{r=1}^{k}m_r\ddot{q}_r^2"),
            Claim("Eq. (4)", "Gibbs function as the sum over live degrees of freedom only", partial(gibbs_of_particles, True), method="particle with ż = yẋ, symbolically",
                  formula=r"\mathcal{G}=\frac{1}{2}\sum_{r=1}^{k}m_r\ddot{q}_r^2"),
            Claim("Eqs. (4), (5)", "the accelerations minimise H among those that the links allow", gauss, shares=ALL, within=1e-10, method=f"{len(SYSTEMS)} systems, {STATES} states, ten variations each",
                  formula=r"\mathcal{H}=\mathcal{G}-\sum_rQ_r\ddot{q}_r\to\min"),
            Claim("Eqs. (4), (5)", "without the links H would be less elsewhere", unlinked, shares=ALL, beyond=1e-3, method="ball in the cavity"),
            Claim("after Eq. (5)", "dissipation enters by virtual power", virtual_power, shares=ALL, method="ball in the cavity: power of the damping part of Q* is −2R"),
            Claim("after Eq. (5)", "a link takes an equation from Appell's and adds one to Lagrange's", links_added, method="body on a plane, with and without its blade"),
            Claim("last paragraph", "unknowns and equations are as many or fewer", fewer_states, shares=ALL, method=f"states and dynamical equations of {len(SYSTEMS)} systems with simple quasi-velocities; where only a carried basis is regular everywhere, as for the column, its entries are unknowns, too"),
        ]),
        Section("Both together", [
            *(Claim("Lagrange and Appell", f"the same accelerations and reactions, {words}", partial(same_accelerations, make), within=1e-12, method=f"{STATES} random states", shares=ALL)
              for make, words in ((ball_in_cavity, "ball in a cavity"), (ball_absorber, "ball absorber"), (chaplygin_sleigh, "Chaplygin's sleigh"), (slider_crank, "slider-crank (holonomic)"))),
            Claim("last paragraph", "incomparably simpler: fewer operations by Appell's in every system", longer_by_appell, method=f"symbolic equations of {len(COUNTED)} systems, the absorber left out", shares=ALL),
            Claim("last paragraph", "fewer operations by Appell's, Chaplygin's sleigh", partial(operations, chaplygin_sleigh), beyond=1.0, method="symbolic equations, Lagrange's over Appell's", shares=ALL),
            Claim("last paragraph", "fewer operations by Appell's, rolling disc", partial(operations, rolling_disc), beyond=1.0, method="symbolic equations, Lagrange's over Appell's", shares=ALL),
            Claim("last paragraph", "fewer operations by Appell's, ball in a cavity", partial(operations, ball_in_cavity), beyond=1.0, method="symbolic equations, Lagrange's over Appell's", shares=ALL),
            Claim("last paragraph", "fewer operations by Appell's, ball in a cavity, once compiled", partial(compiled_operations, ball_in_cavity), beyond=1.0, method="elementary steps for all accelerations, Lagrange's over Appell's", shares=ALL),
        ], [Picture("figure_1", "The principles side by side for the ball in a spherical cavity.", draw_comparison, shares=ALL)]),
    ],
    errata=[
        Erratum("Eq. (1), sign of the dissipation", r"+\frac{\partial\mathcal{R}}{\partial\dot{q}_s}", r"-\frac{\partial\mathcal{R}}{\partial\dot{q}_s}",
                "With Rayleigh's function, which is not negative, the printed sign feeds energy in. It is right if R is understood as the negative of that function.",
                [Claim("", "power of the printed term is positive", power_with_printed_sign, beyond=1e-12, method="ball in a cavity, least of the random states"),
                 Claim("", "with the other sign energy is lost", damping_loses_energy, beyond=0.1, method="share lost by a damped oscillator up to t = 10")]),
        Erratum("Eq. (4), range of the sum", r"\mathcal{G}=\frac{1}{2}\sum_{r=1}^{k}m_r\ddot{q}_r^2", r"\mathcal{G}=\frac{1}{2}\sum_{\alpha}m_\alpha\ddot{R}_\alpha^2,\quad\ddot{R}_\alpha=\ddot{R}_\alpha(\ddot{q}_1\dots\ddot{q}_k)",
                "The sum runs over all masses, dependent ones included, expressed by the k independent accelerations; over the live coordinates alone it loses what the links make the others do.",
                [Claim("", "the sum over all coordinates is the Gibbs function", partial(gibbs_of_particles, False), method="particle with ż = yẋ"),
                 Claim("", "the shorter sum gives ẍ = 0, which is wrong", wrong_acceleration, beyond=0.1, method="|ẍ| by Lagrange's equations at y = ẋ = ẏ = 1")]),
        Erratum("Last paragraph, simplicity", r"\text{incomparably simpler}", r"\text{fewer equations; simpler where quasi-velocities suit the system}",
                "Appell's equations are always fewer, but their expressions are shorter only where quasi-velocities simplify the kinetic energy. For the ball in stereographic coordinates the multipliers keep the symbolic equations shorter, and once compiled both cost about the same.",
                [Claim("", "symbolic operations, Appell's over Lagrange's, of the ball in the cavity", lambda: 1 / operations(ball_in_cavity), beyond=1.2, method="compare()", shares=ALL),
                 Claim("", "compiled operations differ by less than a fifth", lambda: abs(compiled_operations(ball_in_cavity) - 1), within=0.2, method="compare()", shares=ALL)]),
    ],
)  # fmt: skip
