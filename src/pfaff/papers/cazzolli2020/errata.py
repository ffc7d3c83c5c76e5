"""What the paper misprints or gets wrong, in our words, each with evidence that is computed."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import sympy as sm

from pfaff.atlas import column
from pfaff.papers.cazzolli2020.bifurcations import jacobian_at_hopf
from pfaff.papers.cazzolli2020.cases import BETA, CONSTRAINTS, DAMPED, XI_HAT, hopf, pendulum
from pfaff.papers.cazzolli2020.critical_loads import IE, best_angle, formula_82
from pfaff.papers.cazzolli2020.equations import bent_columns, buckling_condition, equations_52, largest_at_random
from pfaff.papers.cazzolli2020.motions import SKATE, equation_96a
from pfaff.papers.reproduction import Claim, Erratum


def bow_kinematics() -> dict[str, Any]:
    """Eqs. (11)–(14) for two bars, in plain symbols: the relation that (13) gives, and the one that (14) prints."""
    one, two, X, v1, v2, vX, beta, l1, l2 = sm.symbols("theta1 theta2 X v1 v2 vX beta0 l1 l2")
    x = X + l1 * sm.cos(one) + l2 * sm.cos(two)
    y = l1 * sm.sin(one) + l2 * sm.sin(two)
    vx = vX - l1 * sm.sin(one) * v1 - l2 * sm.sin(two) * v2
    vy = l1 * sm.cos(one) * v1 + l2 * sm.cos(two) * v2
    L = l1 + l2
    zeta = (y + (L - x) * sm.tan(beta)) / (1 + sm.tan(beta) * sm.tan(two))
    exact = (vx + v2 * zeta) * sm.cos(beta) + (vy + v2 * zeta * sm.tan(two)) * sm.sin(beta)
    printed = vX * sm.cos(beta) + v2 * sm.sin(beta) * L + l1 * sm.sin(beta - one) * (v1 - v2)
    return {"exact": exact, "printed": printed, "lost": -X * sm.sin(beta) * v2, "beta": beta, "v2": v2}


def lost_term_of_14() -> float:
    """(13) minus (14) minus the lost term −X sin β0 θ̇_N."""
    k = bow_kinematics()
    return largest_at_random(k["exact"] - k["printed"] - k["lost"])


def harmless_when_aligned() -> float:
    k = bow_kinematics()
    return largest_at_random((k["exact"] - k["printed"]).subs(k["beta"], 0))


def contact_matters() -> float:
    """The relative change that the lost term makes in the accelerations of a misaligned, displaced bow."""
    values = {"theta1": -0.05, "theta2": 0.7, "X": 1.0, "theta1_dot": 0.1, "theta2_dot": 0.2}
    rates = []
    for contact in ("printed", "exact"):
        case = column(2, "bow", contact=contact).at(**XI_HAT, **DAMPED, beta0=BETA, F=80)
        flow = case.system.shape
        found = flow.rhs(np.array([values[name] for name in flow.states]), case)
        rates.append(np.array([found[flow.states.index(f"theta{k}_dot")] for k in (1, 2)]))
    return float(np.abs(rates[0] - rates[1]).max() / np.abs(rates[0]).max())


def factor_of_15() -> float:
    """The coefficient of θ̇_N as (15) prints it, over l_N times that of (14), minus one."""
    k = bow_kinematics()
    one, beta, l1, l2 = (sm.Symbol(name) for name in ("theta1", "beta0", "l1", "l2"))
    printed = l2 * (sm.sin(beta) * (l1 + l2) - l1 * sm.sin(beta - one))
    return largest_at_random(printed / (l2 * k["printed"].diff(k["v2"])) - 1)


def printed_52b() -> float:
    """The residual of (52b) as printed, at random states."""
    return largest_at_random(equations_52("skate", printed_b=True)[1])


def completed_52b() -> float:
    return largest_at_random(equations_52("skate")[1])


def root_of_70(factor: float) -> float:
    """The relative error of (70) at ξ̂ with a factor before its root."""
    d, M_L, I_L, k1 = (float(x) for x in XI_HAT.values())
    below = d**2 + d + 8 * I_L + 4 * M_L
    plain = 2 * (d**2 * (k1 + 2) + 2 * d + 8 * I_L * (k1 + 1) + 2 * (k1 + 4) * M_L + 1) / below
    root = np.sqrt(k1 * (d**4 + 8 * d**2 * I_L + 2 * M_L * (2 * (d - 1) * d + 8 * I_L + 1) + 8 * I_L)) / below
    return float(abs((plain - factor * root) / float(pendulum().flutter()) - 1))


def nilpotent_sum(constraint: str, corrected: bool) -> float:
    """The relative error of (112), as printed or with the factors exchanged and N transposed."""
    worst = 0.0
    for lin in bent_columns(constraint, "dead"):
        n, p = len(lin.q) - 1, float(lin.p[0])
        K, G = lin.K[:n, :n], lin.G[:n, :n]
        inverse = np.linalg.inv(K)
        N = inverse @ (G.T if constraint == "skate" else G)
        if corrected:
            total = inverse @ sum(np.linalg.matrix_power(-p * N.T, j) for j in range(n))
        else:
            total = sum(np.linalg.matrix_power(-p * N, j) for j in range(n)) @ inverse
        expected = np.linalg.inv(K + p * G)
        worst = max(worst, float(np.abs(total - expected).max() / np.abs(expected).max()))
    return worst


def triangle_of_109() -> float:
    """The largest entry on and above the diagonal of N relative to the largest below it."""
    lin = bent_columns("bow", "dead")[0]
    n = len(lin.q) - 1
    N = np.linalg.inv(lin.K[:n, :n]) @ lin.G[:n, :n]
    return float(np.abs(np.triu(N)).max() / np.abs(np.tril(N, -1)).max())


def vanishes_at_right_angle() -> float:
    """w_{N+1} of the bow at β0 = π/2, which is k = 0 in (116)."""
    case = column(2, "bow").at(beta0=float(np.pi) / 2, F=0)
    return float(abs(case.linearise().w[-1]))


def cannot_be_scaled() -> float:
    """|⟨q, q̄⟩|/⟨q, q⟩, which no scaling of q changes."""
    q = hopf().q
    return float(abs(np.vdot(q, q.conj())) / np.vdot(q, q).real)


def jordan_is_complex() -> float:
    """The largest imaginary part of (92) with A of (93) as printed, relative to ω0."""
    J, found = jacobian_at_hopf(), hopf()
    values, vectors = np.linalg.eig(J)
    fast = np.argsort(values.real)[:2]
    A = np.column_stack([found.q.real, found.q.imag, vectors[:, fast]])
    return float(np.abs(np.linalg.solve(A, J @ A).imag).max() / found.omega)


def direction(phi1: float, phi2: float, phi3: float) -> np.ndarray:
    """Eq. (73): shares of c_t, c_r, c_i, c_e."""
    s, c = np.sin, np.cos
    return np.array([c(phi1), s(phi1) * c(phi2), s(phi1) * s(phi2) * c(phi3), s(phi1) * s(phi2) * s(phi3)])


def caption_of_figure_10(phi: float) -> float:
    """How much of the direction is not in c_i and c_e, with φ1 = φ2 = phi."""
    return float(np.abs(direction(phi, phi, 0.8)[:2]).max())


def symmetry_is_lost_before() -> float:
    """The load at which the bow's symmetric cycle loses its stability, relative to 1.1 F_cr."""
    point = hopf("bow")
    (breaking,) = point.orbits(to=1.1 * point.value).of_kind("symmetry breaking")
    return float(breaking.value / (1.1 * point.value))


def symmetric_cycle_is_unstable() -> float:
    """The largest Floquet multiplier of the symmetric cycle at 1.1 F_cr."""
    point = hopf("bow")
    (orbit,) = point.orbits(to=1.1 * point.value).at(1.1 * point.value)
    return float(np.abs(orbit.multipliers).max())


def printed_angle() -> float:
    """(82) as printed at φ3 = 0.995, relative to P_0: below one if the maximum is elsewhere."""
    return formula_82(0.995) / float(pendulum().flutter())


def computed_angle() -> float:
    """(82) as printed at the computed φ3: its relative distance from P_0."""
    return abs(formula_82(best_angle(IE)) / float(pendulum().flutter()) - 1)


def crossing_speed_by_differences() -> float:
    """The crossing speed by central differences of the eigenvalues, relative to that by eigenvectors."""
    step, at = 1e-4, hopf().value
    growth = [max(pendulum(**DAMPED).spectrum(F=at + s * step).values.real) for s in (1, -1)]
    return float(abs((growth[0] - growth[1]) / (2 * step) / hopf().crossing_speed - 1))


def amplitude_of_small_cycles(constraint: str, l1: float | None) -> float:
    """How far the amplitude of θ1 near F_cr is from √(−2 Re λ/(l1 ω)) with this l1 (by default ours); relative."""
    point = hopf(constraint)
    load = point.value + 1e-3
    (orbit,) = point.orbits(to=load).at(load)
    predicted = point.amplitude(load)["theta1"] * np.sqrt(1.0 if l1 is None else point.l1 / l1)
    return float(abs(orbit.amplitude["theta1"] / predicted - 1))


def sign_runs_upwards() -> float:
    """Whether l1 of the skate changes from − to + as c_i grows. The number of exceptions."""
    low, high = (pendulum(c_i=c).hopf().l1 for c in (15, 30))
    return float(not (low < 0 < high))


def stable_at_the_printed_load() -> float:
    """How fast the slowest deviation of the misaligned bow decays at F = 78.276, by the Jacobian of the flow."""
    case = pendulum("bow", **DAMPED, beta0=BETA).at(F=78.276)
    rest = case.equilibrium()
    state = np.array([rest["theta1"], rest["theta2"], 0.0, 0.0])
    return float(-np.linalg.eigvals(case.system.shape.jacobian(state, case)).real.max())


ERRATA = [
    Erratum("Eqs. (14), (15), (35), (39), (54)", r"\dot X\cos\beta_0+\dot\theta_N\sin\beta_0L+\dots=0",
            r"\dot X\cos\beta_0+\dot\theta_N\sin\beta_0(L-X)+\dots=0",
            "Equations (11) to (13) imply one more term, −X sin β0 θ̇_N. It vanishes for β0 = 0. The paper's numbers for β0 ≠ 0 go with the printed form, which is therefore our default; contact=\"exact\" keeps the term.",
            [Claim("Eqs. (13), (14)", "(13) minus (14) is −X sin β0 θ̇_N", lost_term_of_14, within=1e-12, method="at random states"),
             Claim("Eq. (14)", "no difference for β0 = 0", harmless_when_aligned, within=1e-12, method="at random states"),
             Claim("Eq. (54)", "for β0 = π/100 and X = 1 the accelerations differ", contact_matters, beyond=1e-3, method="relative difference")]),
    Erratum("Eq. (15)", r"a_N=l_N\left(\sin\beta_0L-\sum_{i=1}^{N-1}l_i\sin(\beta_0-\theta_i)\right)", r"a_N=L\sin\beta_0-\sum_{i=1}^{N-1}l_i\sin(\beta_0-\theta_i)",
            "The factor l_N before the bracket does not follow from (14); (39) has it right.",
            [Claim("Eqs. (14), (15)", "the coefficient of θ̇_N in (15) is l_N times that of (14)", factor_of_15, within=1e-14)]),
    Erratum("Eq. (52b)", r"\dots+\tfrac18\tilde d\left(\tilde d\ddot\theta_2+\ddot\theta_1\cos(\theta_1-\theta_2)-\dot\theta_1^2\sin(\theta_1-\theta_2)-2\sin\theta_2\,\dot\chi\right)+\dots",
            r"\dots-2\sin\theta_2\,\ddot\chi\Big)+\tfrac{\tilde M_L}4\left(\ddot\theta_2+\ddot\theta_1\cos(\theta_1-\theta_2)-\dot\theta_1^2\sin(\theta_1-\theta_2)-2\sin\theta_2\,\ddot\chi\right)+\tilde I_{r,L}\ddot\theta_2+\dots",
            "The inertia of the end mass is missing, and χ̇ stands for χ̈.",
            [Claim("Eq. (52b)", "as printed it is not Lagrange's equation", printed_52b, beyond=0.01, method="residual at random states"),
             Claim("Eq. (52b)", "completed it is", completed_52b, within=1e-12, method="residual at random states")]),
    Erratum("Eq. (70)", r"\dots\ \sqrt{\tilde k_1(\dots)}", r"\dots\mp4\sqrt{\tilde k_1(\dots)}", "The sign and the factor before the root are lost in the print.",
            [Claim("Eq. (70)", "with −4 it gives the flutter load", partial(root_of_70, 4.0), within=1e-12, method="relative error at ξ̂"),
             Claim("Eq. (70)", "with −1 it does not", partial(root_of_70, 1.0), beyond=0.01, method="relative error at ξ̂")]),
    Erratum("Eq. (96a)", r"\dots+\tilde p\,\tilde a_3+\tilde F=0", r"\dots+\tilde p\,\tilde a_3-\tilde F=0", "With the potential −FX of (17), as in (52c), the load has the other sign.",
            [Claim("Eq. (96a)", "with +F̃ it is off by 2F̃", lambda: abs(equation_96a(1.0) - 2), within=1e-7, method="along an imposed motion", shares=SKATE)]),
    Erratum("Eq. (112)", r"\left(\mathbb K+p\,\mathbb G\right)^{-1}=\left[\sum_{j=0}^{N-1}(-p\mathbf N)^j\right]\mathbb K^{-1}",
            r"\left(\mathbb K+p\,\mathbb G_S\right)^{-1}=\mathbb K^{-1}\sum_{j=0}^{N-1}(-p\mathbf N^{\mathsf T})^j",
            "With N of (107), which contains the transpose of G, the sum stands on the other side for the skate. For the bow the print is right.",
            [Claim("Eq. (112)", "bow, as printed", partial(nilpotent_sum, "bow", False), within=1e-11, method="relative error, bent columns, N = 4"),
             Claim("Eq. (112)", "skate, corrected", partial(nilpotent_sum, "skate", True), within=1e-11, method="relative error, bent columns, N = 4"),
             Claim("Eq. (112)", "skate, as printed: wrong", partial(nilpotent_sum, "skate", False), beyond=1e-3, method="relative error")]),
    Erratum("Eqs. (113), (115)", r"w_{N+1}\left(w_{N+1}-\mathbf g\,(\dots)^{-1}\mathbf w\right)", r"w_{N+1}\left(w_{N+1}-p\,\mathbf g\,(\dots)^{-1}\mathbf w\right)",
            "g is the last row of G, and G is multiplied by the reaction.",
            [Claim("Eq. (115)", "with p g it is the determinant", partial(buckling_condition, "skate", "dead"), within=1e-10, method="relative error, bent columns"),
             Claim("Eq. (115)", "with g alone it is not", partial(buckling_condition, "skate", "dead", False), beyond=1e-3, method="relative error")]),
    Erratum("Eqs. (109), (116)", r"\mathbf N\ \text{upper triangular},\quad k=1,2,3,\dots", r"\mathbf N\ \text{lower triangular},\quad k=0,1,2,\dots",
            "N of (109) is strictly lower triangular, as it is displayed; and β0 = π/2 belongs to (116).",
            [Claim("Eq. (109)", "nothing on or above the diagonal", triangle_of_109, within=1e-14, method="relative to the largest entry below"),
             Claim("Eq. (116)", "the condition holds at β0 = π/2", vanishes_at_right_angle, within=1e-15)]),
    Erratum("Sec. 6, before Eq. (86)", r"\text{supercritical (positive coefficient)}", r"\text{supercritical}:\ l_1(0)<0",
            "The words contradict (95), which is right: cycles near the flutter load are stable where l1 is negative.",
            [Claim("Sec. 6", "l1 < 0 and stable cycles, skate", lambda: float(not (hopf().l1 < 0 and hopf().orbits(to=77)[-1].stable)), method="Floquet multipliers at F = 77")]),
    Erratum("Below Eq. (90)", r"\langle\boldsymbol q,\bar{\boldsymbol q}\rangle=0", r"\langle\boldsymbol q,\boldsymbol q\rangle=1",
            "No scaling of q changes the ratio of ⟨q, q̄⟩ to ⟨q, q⟩: it cannot be a normalisation.",
            [Claim("Eq. (90)", "the ratio is not zero", cannot_be_scaled, beyond=1e-3, method="|⟨q, q̄⟩|/⟨q, q⟩ of the skate")]),
    Erratum("Eqs. (92), (93)", r"\mathbf A=[\operatorname{Re}\boldsymbol q,\operatorname{Im}\boldsymbol q,\mathbf v_3,\mathbf v_4]", r"\mathbf A=[\operatorname{Re}\boldsymbol q,\operatorname{Im}\boldsymbol q,\operatorname{Re}\mathbf v_3,\operatorname{Im}\mathbf v_3]",
            "Where λ3 and λ4 are complex, as in the paper's example, the form (92) is not real.",
            [Claim("Eq. (92)", "as printed it has imaginary entries", jordan_is_complex, beyond=0.1, method="the largest, relative to ω0")]),
    Erratum("Fig. 10, left, caption", r"\phi_1=\phi_2=0", r"\phi_1=\phi_2=\tfrac\pi2", "With φ1 = φ2 = 0 the direction (73) is c_t alone.",
            [Claim("Eq. (73)", "φ1 = φ2 = π/2: c_i and c_e only", partial(caption_of_figure_10, float(np.pi) / 2), within=1e-15),
             Claim("Eq. (73)", "φ1 = φ2 = 0: c_t only", lambda: abs(caption_of_figure_10(0.0) - 1), within=1e-15)]),
    Erratum("Fig. 12, bow", r"\text{a symmetric cycle}", r"\text{an asymmetric one}",
            "The symmetric cycle loses its stability in a symmetry-breaking bifurcation just below 1.1 F_cr; what is shown is one of the two asymmetric cycles.",
            [Claim("Fig. 12", "symmetry is lost before 1.1 F_cr", symmetry_is_lost_before, within=1.0, method="load of the symmetry breaking over 1.1 F_cr", shares="branch of the bow"),
             Claim("Fig. 12", "at 1.1 F_cr the symmetric cycle is unstable", symmetric_cycle_is_unstable, beyond=1.001, method="its largest Floquet multiplier", shares="branch of the bow")]),
    Erratum("Eq. (83), Fig. 10", r"\phi_3\approx0.995", r"\phi_3\approx0.944919", "At 0.995 the printed formula (82) itself stays below P_0.",
            [Claim("Eq. (83)", "(82) at 0.995, relative to P_0", printed_angle, within=0.99999),
             Claim("Eq. (83)", "(82) at the computed angle is P_0", computed_angle, within=1e-11, method="relative difference")]),
    Erratum("Eq. (88)", r"0.0744935", r"0.0744747", "The crossing speed differs by 0.025 %; central differences of the eigenvalues confirm ours.",
            [Claim("Eq. (88)", "eigenvectors against central differences", crossing_speed_by_differences, within=1e-6, method="relative difference")]),
    Erratum("Sec. 6.1", r"l_1=-2.1838,\ -0.900238", r"l_1=-2.20854,\ -0.896084", "The amplitudes of cycles near the flutter load obey the computed coefficients and not the printed ones.",
            [*(Claim("Sec. 6.1", f"{c}: amplitude with the computed l1", partial(amplitude_of_small_cycles, c, None), within=1e-4, method="relative difference at F_cr + 0.001") for c in CONSTRAINTS),
             *(Claim("Sec. 6.1", f"{c}: amplitude with the printed l1", partial(amplitude_of_small_cycles, c, l1), beyond=1e-3, method="relative difference at F_cr + 0.001")
               for c, l1 in (("skate", -2.1838), ("bow", -0.900238)))]),
    Erratum("Fig. 13 and text", r"\tilde c_i\ \text{beyond }22.07\text{ stabilises}", r"\text{below }22.114:\ l_1<0,\quad\text{above}:\ l_1>0",
            "The thresholds of c_i and c_e differ by 0.2 % and 0.5 %, and l1 goes from negative to positive as c_i grows: large damping makes the bifurcation subcritical.",
            [Claim("Fig. 13", "l1 < 0 for c_i = 15 and > 0 for c_i = 30", sign_runs_upwards)]),
    Erratum("Sec. 6.2", r"\tilde F_{cr}\approx78.276", r"\tilde F_{cr}\approx78.2993", "At the printed load the bent equilibrium of the misaligned bow is still stable.",
            [Claim("Sec. 6.2", "the slowest deviation decays at F = 78.276", stable_at_the_printed_load, beyond=1e-4, method="rate of decay, Jacobian of the flow on shape space")]),
]  # fmt: skip
