"""Mazzilli's lecture: five examples by Newton, d'Alembert, Hamilton and Lagrange, and what its statements come to."""

from __future__ import annotations

from functools import partial

from pfaff.atlas import moving_support_pendulum, oscillator, pendulum, softening_bar, two_bar_frame
from pfaff.papers import PAPERS
from pfaff.papers.mazzilli.examples import (
    equation_of_motion,
    frame_energies,
    generalised_quantities,
    linear_form,
    spring_energy,
    support_energies,
)
from pfaff.papers.mazzilli.general_statements import (
    STATES,
    degrees_of_freedom,
    generalised_coordinate,
    kinds,
    principles_agree,
    reaction_work,
    varied_action,
    virtual_work_at_rest,
)
from pfaff.papers.mazzilli.limit_loads import (
    draw_paths,
    limit_load,
    path_of_rest,
    perfect_bar,
    sudden_below_static,
    sudden_load,
)
from pfaff.papers.mazzilli.resonance_tongues import draw_tongues, growth_inside, tongue_edge
from pfaff.papers.reproduction import Claim, Paper, Picture, Section

FORMULAS = {
    1: r"m\ddot{Q}+c\dot{Q}+kQ=p(t)",
    2: r"m^{*}\ddot{Q}+c^{*}\dot{Q}+k^{*}Q=p_0^{*}+p^{*}(t)",
    3: r"\ddot{Q}+\frac{g}{L}\sin Q=0",
    4: r"\ddot{Q}+\frac{1}{L}(g+\ddot{f})\sin Q=0",
    5: r"mL^2\ddot{Q}+K(Q-\varepsilon)\left[1-(Q-\varepsilon)^2\right]=[mg+P(t)]L\sin Q",
}
WAYS = {"newton": "Newton's law", "dalembert": "d'Alembert's principle", "hamilton": "Hamilton's principle", "lagrange": "Lagrange's equation"}  # fmt: skip


def equations_of(number: int) -> list[Claim]:
    return [
        Claim(f"Example {number}", f"equation of motion by {words}", partial(equation_of_motion, number, principle),
              method="symbolically", formula=FORMULAS[number])
        for principle, words in WAYS.items()
    ]  # fmt: skip


PAPER = Paper(
    key="mazzilli",
    title=PAPERS["mazzilli"],
    systems=[oscillator, pendulum, moving_support_pendulum, two_bar_frame, softening_bar],
    about="Lecture notes: the equations of motion of material points by Newton's law and by the principles of d'Alembert, Hamilton "
    "and Lagrange, in five examples of one degree of freedom. The notes print formulas and no numbers; what follows from the "
    "formulas of examples 4 and 5 is computed as well, and says so.",
    sections=[
        Section("General statements", [
            Claim("Configuration space", "n = 3N − c degrees of freedom", degrees_of_freedom, formula="n=3N-c",
                  method="a point that is free, on a paraboloid, on a parabola"),
            Claim("Scleronomic constraint, example", "one coordinate Q describes the motion on a parabola", generalised_coordinate, within=1e-12,
                  method=f"{STATES} random states, against three coordinates with reactions", formula=r"x^1=Q,\quad x^2=\beta Q^2,\quad x^3=0"),
            Claim("Virtual displacements", "real displacements are virtual ones for scleronomic constraints, not for rheonomic ones", kinds,
                  method="classification of the pendulum in x and y, support at rest and moving"),
            Claim("Virtual displacements", "ideal reactions do no virtual work", partial(reaction_work, "virtual"), within=1e-12,
                  formula=r"\delta W=\vec{F}_\alpha^{vi}\cdot\delta\vec{R}_\alpha=0", method="Newton's reaction of the thread, support moving"),
            Claim("Virtual displacements", "but they do work in real displacements where the support moves", partial(reaction_work, "real"), beyond=0.1,
                  method="the same reaction, |N·dR|/|N||dR|"),
            Claim("Remark 3", "in equilibrium the active forces do no virtual work", virtual_work_at_rest, within=1e-12,
                  formula=r"\sum_\alpha\vec{F}_\alpha^{a}\cdot\delta\vec{R}_\alpha=0\iff\text{equilibrium}", method="equilibria of examples 2 and 5"),
            Claim("Remark 3", "away from equilibrium they do", partial(virtual_work_at_rest, 0.1), beyond=1e-3, method="0.1 from the same equilibria"),
            Claim("Hamilton's principle", "the motion makes the varied action vanish", varied_action, within=1e-12,
                  formula=r"\int_{t_1}^{t_2}(\delta T-\delta V+\delta W^{nc})\,dt=0", method="quadrature along a simulated motion, five δQ"),
            Claim("Hamilton's principle", "other paths do not", partial(varied_action, 0.1), beyond=1e-3, method="the motion and 0.1 sin πt/t₂"),
            Claim("Newton ⇔ d'Alembert ⇔ Hamilton ⇔ Lagrange", "one motion by all principles", principles_agree, within=1e-12,
                  method=f"accelerations and reactions of eight systems at {STATES} random states"),
        ]),
        Section("Example 1: linear oscillator", equations_of(1)),
        Section("Example 2: two rigid bars", [
            *equations_of(2),
            Claim("Example 2", "generalised mass, damping, stiffness and loads", generalised_quantities, method="coefficients of the equation of motion",
                  formula=r"m^{*}=\tfrac{4}{9}m_2+\tfrac{4}{3}\bar{m}a,\ c^{*}=\tfrac{c_1}{16}+c_2,\ k^{*}=\tfrac{9}{16}k_1+\tfrac{1}{9}k_2,\ p_0^{*}=-\left(2\bar{m}a+\tfrac{2}{3}m_2\right)g,\ p^{*}=\tfrac{16}{3}\bar{p}a\zeta(t)"),
            Claim("Example 2", "energies", frame_energies, method="integrals along the bar",
                  formula=r"T=\tfrac{1}{2}m^{*}\dot{Q}^2,\quad V=\tfrac{1}{2}k^{*}Q^2-p_0^{*}Q"),
        ]),
        Section("Example 3: pendulum", [
            *equations_of(3),
            Claim("Example 3", "linear equation", partial(linear_form, 3), method="symbolically", formula=r"\ddot{Q}+\frac{g}{L}Q=0"),
        ]),
        Section("Example 4: pendulum on a moving support", [
            *equations_of(4),
            Claim("Example 4", "energies", support_energies, method="symbolically",
                  formula=r"T=\tfrac{1}{2}mL^2\dot{Q}^2+\tfrac{1}{2}m\dot{f}^2+mL\dot{f}\dot{Q}\sin Q,\quad V=mg[f+L(1-\cos Q)]"),
            Claim("Example 4", "linear equation", partial(linear_form, 4), method="symbolically", formula=r"\ddot{Q}+\frac{1}{L}(g+\ddot{f})Q=0"),
            *(Claim("Follows from the linear equation", f"edges of resonance tongue {n}, f = f0 cos Ωt", partial(tongue_edge, n), within=1e-8,
                    method="|tr| = 2 of simulated small motions where Mathieu's characteristic values say", formula=r"\frac{4g}{L\Omega^2}\in\{a_n,b_n\}\left(\frac{2f_0}{L}\right)") for n in (1, 2)),
            Claim("Follows from the linear equation", "at Ω = 2√(g/L) the support sets the pendulum swinging", growth_inside, beyond=0.1,
                  method="largest multiplier less one, f0 = L/10"),
        ], [Picture("figure_1", "Growth of small motions per period of the support, simulated; the lines are Mathieu's characteristic values.", draw_tongues)]),
        Section("Example 5: bar on a softening spring", [
            *equations_of(5),
            Claim("Example 5", "potential energy", spring_energy, method="integration of the printed M(Q)",
                  formula=r"V=K\left[\frac{(Q-\varepsilon)^2}{2}-\frac{(Q-\varepsilon)^4}{4}\right]-mgL(\cos\varepsilon-\cos Q)"),
            Claim("Follows from the equation", "the perfect bar buckles at (mg + P)L = K", perfect_bar, method="closed form"),
            Claim("Follows from the equation", "path of equilibria, ε = 0.01", partial(path_of_rest, 0.01), within=1e-10, method="every point of the branch",
                  formula=r"\frac{(mg+P)L}{K}=\frac{(Q-\varepsilon)\left[1-(Q-\varepsilon)^2\right]}{\sin Q}"),
            *(Claim("Follows from the equation", f"limit load, ε = {e:g}", partial(limit_load, e), within=1e-9, method="fold of the branch against the maximum of the curve") for e in (0.01, 0.1)),
            *(Claim("Follows from the potential", f"limit of a sudden load, ε = {e:g}, g = 0", partial(sudden_load, e), method="motions 1e-6 below and above the barrier of energy") for e in (0.01, 0.1)),
            Claim("Follows from the potential", "a sudden load buckles the bar earlier", partial(sudden_below_static, 0.01), beyond=0.01, method="difference of the limits of (mg + P)L/K, ε = 0.01"),
        ], [Picture("figure_2", "Paths of equilibria of the imperfect bar, unstable where dashed, with their limit loads; at the right what it bears if the load comes suddenly and g = 0.", draw_paths)]),
    ],
)  # fmt: skip
