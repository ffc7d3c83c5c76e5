"""Section 5: flutter and divergence loads, with and without damping, and Ziegler's paradox."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import Any

import numpy as np
import sympy as sm

from pfaff.atlas import column
from pfaff.papers.cazzolli2020.cases import DAMPED, DAMPINGS, SAMPLES, XI_HAT, count, pendulum, symbols_of_xi
from pfaff.papers.reproduction import Claim

P0 = sm.Rational(20, 723) * (3102 - sm.sqrt(120482))
D0 = sm.Rational(20, 723) * (3102 + sm.sqrt(120482))
IE, TR = ("c_i", "c_e"), ("c_t", "c_r")


def exact_equals(constraint: str, kind: str, expected: sm.Expr) -> float:
    """One minus whether the closed form equals the printed one, symbolically."""
    value = getattr(pendulum(constraint), kind)(exact=True).value
    return float(sm.simplify(value - expected) != 0)


def formula_70() -> float:
    """Eq. (70) with the "∓ 4" before its root that the print lost, with ξ as symbols."""
    d, M_L, I_L, k1 = symbols_of_xi().values()
    below = d**2 + d + 8 * I_L + 4 * M_L
    plain = 2 * (d**2 * (k1 + 2) + 2 * d + 8 * I_L * (k1 + 1) + 2 * (k1 + 4) * M_L + 1) / below
    root = 4 * sm.sqrt(k1 * (d**4 + 8 * d**2 * I_L + 2 * M_L * (2 * (d - 1) * d + 8 * I_L + 1) + 8 * I_L)) / below
    case = column(2).at(**symbols_of_xi())
    wrong = sm.simplify(case.flutter(exact=True).value - (plain - root)) != 0
    return float(wrong or sm.simplify(case.divergence(exact=True).value - (plain + root)) != 0)


def one_damping(name: str, expected: Callable[[sm.Symbol], sm.Expr]) -> float:
    """The closed form for a single source of damping, compared symbolically."""
    c = sm.Symbol("c", positive=True)
    value = pendulum(**{name: c}).flutter(exact=True).value
    return float(sm.simplify(value - expected(c)) != 0)


def internal_damping(c: sm.Symbol) -> sm.Expr:
    """P_d(c_i) of Sec. 5.2.1."""
    return sm.Rational(64, 723) * c**2 + sm.Rational(4410529058, 57927483)


def external_damping(c: sm.Symbol) -> sm.Expr:
    """P_d(c_e) of Sec. 5.2.1."""
    root = sm.sqrt(245 * (5 * c**2 + 1465344) * c**2 + 40956144431616)
    return (11566752096 + 25235 * c**2 - 721 * root) / 169589580


def formula_79() -> float:
    """Eq. (79): the limit of infinite external damping, k1 a symbol."""
    c, k1 = sm.symbols("c k1", positive=True)
    value = column(2).at(**XI_HAT | {"k1": k1, "c_e": c}).flutter(exact=True, near={"k1": 50.0}).value
    return float(sm.simplify(sm.limit(value, c, sm.oo) - 4 * (k1 + 8) / 5) != 0)


def formula_80(branch: str) -> float:
    """Eq. (80): both branches, each where its condition holds."""
    d, _, I_L, k1 = symbols_of_xi().values()
    c = sm.Symbol("c", positive=True)
    printed = {
        "first": 2 * k1 * ((d - 1) * d + 8 * I_L) / (8 * I_L - 1) + 4,
        "second": (16 * I_L - 2) / ((d - 1) * d + 8 * I_L) + k1,
    }
    near = {"first": {"I_L": 0.01, "k1": 1.0, "d": 0.5, "M_L": 1.0}, "second": {"I_L": 15.0, "k1": 50.0, "M_L": 15.0}}
    value = column(2).at(**symbols_of_xi(), c_t=c).flutter(exact=True, near=near[branch]).value
    return float(sm.simplify(value - printed[branch]) != 0)


def formula_81() -> float:
    """Eq. (81), with ξ and the damping as symbols."""
    d, M_L, _, k1 = symbols_of_xi().values()
    value = column(2).at(**symbols_of_xi(), c_r=sm.Symbol("c", positive=True)).flutter(exact=True).value
    printed = 2 * (d**2 + d * k1 + d + 2 * (k1 + 2) * M_L + 1) / (d**2 + d + 4 * M_L + 1)
    return float(sm.simplify(value - printed) != 0)


def formula_82(phi: float) -> float:
    cot = 1 / np.tan(phi)
    below = 54519984 * cot + 2826493
    root = np.sqrt(34704 * cot * (11283138 * cot - 711833) + 987561353)
    first = (576 * cot * (57927483 * cot + 10504342) + 240974002) / below
    return 0.8 * (first - 3 * np.sqrt(2) * (12568 * cot + 721) * root / below)


def formula_84(phi: float) -> float:
    c2, s2 = np.cos(2 * phi), np.sin(2 * phi)
    below = 6534 * c2 - 288272 * s2 - 234538
    root = np.sqrt(632330074 - 423120376 * s2 - 12220470 * c2)
    return (440805 * c2 - 3 * (8854828 * s2 + 6098513)) / below + (250 * np.sin(phi) + 241 * np.cos(phi)) * root / below


def limits_along(pair: tuple[str, str], formula: Callable[[float], float]) -> float:
    """Eq. (82) or (84) against the first-order perturbation of the undamped modes, relative."""
    weak = vanishing_damping(pair)
    angles = np.linspace(0.05, 1.5, SAMPLES)
    return max(abs(weak.limit(np.array([np.cos(phi), np.sin(phi)])) / formula(phi) - 1) for phi in angles)


@cache
def vanishing_damping(pair: tuple[str, str]) -> Any:
    return pendulum().paradox(among=pair).weak


def best_angle(pair: tuple[str, str]) -> float:
    """The direction in which the undamped load is recovered."""
    best = pendulum().paradox(among=pair).best
    return float(np.arctan2(best[pair[1]], best[pair[0]]))


def vanishing(name: str) -> float:
    limit = pendulum().paradox({name: 1}).limit
    assert limit is not None
    return limit


def never_above_undamped() -> float:
    """Eqs. (76) and (77): limits lie between the worst single source and P_0, for random ξ and directions."""
    generator, violations = np.random.default_rng(2020), 0
    for _ in range(SAMPLES):
        case = column(2).at(
            d=generator.uniform(0.1, 1),
            M_L=generator.uniform(0, 20),
            I_L=generator.uniform(0.01, 20),
            k1=generator.uniform(0.5, 60),
        )
        found = case.paradox(dict(zip(DAMPINGS, generator.dirichlet(np.ones(4)), strict=True)))
        assert found.limit is not None
        slack = 1e-9 * found.undamped
        violations += not (found.minimum - slack <= found.limit <= found.undamped + slack)
    return float(violations)


def divergence_has_no_paradox() -> float:
    """Eq. (78): with damping of 10⁻⁶ along random directions the divergence load is D_0 but for terms of that order."""
    undamped = float(pendulum().divergence())
    worst = 0.0
    for direction in np.random.default_rng(78).dirichlet(np.ones(4), 5):
        damped = pendulum().at(**dict(zip(DAMPINGS, 1e-6 * direction, strict=True)))
        worst = max(worst, abs(float(damped.divergence()) / undamped - 1))
    return worst


def independent_of_viscosity(name: str) -> float:
    """The flutter load for one end damping does not depend on its magnitude."""
    loads = [float(pendulum().at(**{name: r}).flutter()) for r in (0.3, 1.0, 7.0, 40.0)]
    return max(loads) / min(loads) - 1


@cache
def coefficients() -> tuple[tuple[sm.Expr, ...], tuple[sm.Matrix, sm.Matrix, sm.Matrix]]:
    """ρ_0 … ρ_4 of Eq. (60) and M, C, K + p G, with every parameter a symbol."""
    symbols = {name: sm.Symbol(name, positive=True) for name in (*XI_HAT, *DAMPINGS, "F")}
    case = column(2).at(**symbols)
    lin = case.linearise(exact=True)
    return tuple(case.characteristic(exact=True).all_coeffs()), (lin.M, lin.C, lin.K)


def coefficients_by_traces() -> float:
    """Eqs. (60)–(62): the coefficients through traces and determinants."""
    rho, (M, C, K) = coefficients()
    MC, MK, CK = (A.trace() * B.trace() - (A * B).trace() for A, B in ((M, C), (M, K), (C, K)))
    printed = (M.det(), MC, MK + C.det(), CK, K.det())
    return count(sm.expand(ours - theirs) != 0 for ours, theirs in zip(rho, printed, strict=True))


def hurwitz_determinants() -> float:
    """Eqs. (63), (64): the minors of Hurwitz's matrix."""
    r0, r1, r2, r3, r4 = sm.symbols("rho:5")
    H = sm.Matrix([[r1, r0, 0, 0], [r3, r2, r1, r0], [0, r4, r3, r2], [0, 0, 0, r4]])
    D2, D3, D4 = (H[:k, :k].det() for k in (2, 3, 4))
    printed = (r1 * r2 - r0 * r3, (r1 * r2 - r0 * r3) * r3 - r1**2 * r4, r4 * D3)
    return count(sm.expand(ours - theirs) != 0 for ours, theirs in zip((D2, D3, D4), printed, strict=True))


def numbers_of(case: Any, load: float) -> list[float]:
    """ρ_0 … ρ_4 at a load, from the numerical linearisation."""
    lin = case.at(F=load).linearise()
    M, C, K = lin.M[:2, :2], lin.C[:2, :2], lin.stiffness[:2, :2]
    MC, MK, CK = (np.trace(A) * np.trace(B) - np.trace(A @ B) for A, B in ((M, C), (M, K), (C, K)))
    return [np.linalg.det(M), MC, MK + np.linalg.det(C), CK, np.linalg.det(K)]


def routh_hurwitz() -> float:
    """Eq. (65): D_3 vanishes at the flutter load found from eigenvalues, and ρ_2, ρ_3 are positive; relative."""
    generator, worst = np.random.default_rng(65), 0.0
    for _ in range(8):
        case = pendulum().at(**{name: generator.uniform(0.1, 5) for name in DAMPINGS})
        r0, r1, r2, r3, r4 = numbers_of(case, float(case.flutter()))
        assert r2 > 0, "ρ2 must be positive"
        assert r3 > 0, "ρ3 must be positive"
        worst = max(worst, abs(((r1 * r2 - r0 * r3) * r3 - r1**2 * r4) / (r1**2 * r4)))
    return worst


def divergence_polynomial(r0: Any, r1: Any, r2: Any, r3: Any, r4: Any) -> tuple[Any, Any]:
    """The two terms of Eq. (66)."""
    left = 27 * (r1**2 * r4 + r0 * r3**2) - 9 * r2 * (8 * r0 * r4 + r1 * r3) + 2 * r2**3
    return left**2, 4 * (r2**2 - 3 * r1 * r3 + 12 * r0 * r4) ** 3


def divergence_condition() -> float:
    """Eq. (66) at the divergence loads found from eigenvalues, undamped and for each damping alone; relative."""
    worst = 0.0
    for values in ({}, *({name: 1.5} for name in DAMPINGS)):
        case = pendulum().at(**values)
        left, right = divergence_polynomial(*numbers_of(case, float(case.divergence())))
        worst = max(worst, abs(left / right - 1))
    return worst


def degree_of_66(*dampings: str) -> float:
    """The degree of Eq. (66) in the load: the number as such."""
    rho, _ = coefficients()
    values = {sm.Symbol(n, positive=True): 1 for n in DAMPINGS if n in dampings}
    values |= {sm.Symbol(n, positive=True): 0 for n in DAMPINGS if n not in dampings}
    values |= {sm.Symbol(n, positive=True): v for n, v in XI_HAT.items()}
    left, right = divergence_polynomial(*(each.subs(values) for each in rho))
    return float(sm.Poly(sm.expand(left - right), sm.Symbol("F", positive=True)).degree())


def same_limit() -> float:
    """Sec. 5.2: dampings that vanish beside one that stays leave the load of the one that stays; relative."""
    alone = float(pendulum(c_e=2).flutter())
    beside = float(pendulum(c_e=2, c_i=1e-9, c_t=1e-9, c_r=1e-9).flutter())
    return abs(beside / alone - 1)


def paradox_is_avoidable(xi: dict[str, Any]) -> bool:
    """Sec. 5.2.2: whether some direction of vanishing c_i and c_e, or c_t and c_r, keeps the undamped load."""
    case = column(2).at(**xi)
    return any(case.paradox(among=pair).recoverable for pair in (IE, TR))


def avoidable_as_printed() -> float:
    """It can for ξ̂, and cannot for ξ = [1/10, 1/10, 0, 1]."""
    small = {"d": sm.Rational(1, 10), "M_L": sm.Rational(1, 10), "I_L": 0, "k1": 1}
    return count([not paradox_is_avoidable(XI_HAT), paradox_is_avoidable(small)])


P_OF_XI = (
    r"\begin{aligned}\mathcal P_0,\mathcal D_0&=\frac{2A\mp4\sqrt{\tilde k_1B}}{\tilde d^2+\tilde d+8\tilde I_{r,L}+4\tilde M_L},\qquad "
    r"A=\tilde d^2(\tilde k_1+2)+2\tilde d+8\tilde I_{r,L}(\tilde k_1+1)+2(\tilde k_1+4)\tilde M_L+1,\\ "
    r"B&=\tilde d^4+8\tilde d^2\tilde I_{r,L}+2\tilde M_L(2(\tilde d-1)\tilde d+8\tilde I_{r,L}+1)+8\tilde I_{r,L}\end{aligned}"
)
UNDAMPED_71 = r"\mathcal P_0(\hat{\boldsymbol\xi})=\tfrac{20}{723}\left(3102-\sqrt{120482}\right)\approx76.2073,\quad \mathcal D_0(\hat{\boldsymbol\xi})=\tfrac{20}{723}\left(3102+\sqrt{120482}\right)\approx95.4109"
INTERNAL = r"\mathcal P_d(\tilde c_i,\hat{\boldsymbol\xi})=\tfrac{64}{723}\tilde c_i^2+\tfrac{4410529058}{57927483}"
EXTERNAL = r"\mathcal P_d(\tilde c_e,\hat{\boldsymbol\xi})=\frac{11566752096+25235\,\tilde c_e^2-721\sqrt{245\left(5\tilde c_e^2+1465344\right)\tilde c_e^2+40956144431616}}{169589580}"
LIMIT_79 = r"\lim_{\tilde c_e\to\infty}\mathcal P_d=\tfrac45(\tilde k_1+8)"
EQUATION_80 = r"\mathcal P_d(\tilde c_{t,L})=\begin{cases}\dfrac{2\tilde k_1((\tilde d-1)\tilde d+8\tilde I_{r,L})}{8\tilde I_{r,L}-1}+4&\text{if }(\tilde d-1)\tilde d\tilde k_1+8\tilde I_{r,L}(\tilde k_1+2)<2\\ \dfrac{16\tilde I_{r,L}-2}{(\tilde d-1)\tilde d+8\tilde I_{r,L}}+\tilde k_1&\text{otherwise}\end{cases}"
EQUATION_81 = r"\mathcal P_d(\tilde c_{r,L})=\frac{2\left(\tilde d^2+\tilde d\tilde k_1+\tilde d+2(\tilde k_1+2)\tilde M_L+1\right)}{\tilde d^2+\tilde d+4\tilde M_L+1}"
EQUATION_82 = (
    r"\begin{aligned}\mathcal P_d^*&=\frac45\,\frac{576\,c\,(57927483\,c+10504342)+240974002-3\sqrt2\,(12568\,c+721)\,R}{54519984\,c+2826493},\\ "
    r"R&=\sqrt{34704\,c\,(11283138\,c-711833)+987561353},\qquad c=\cot\phi_3\end{aligned}"
)
EQUATION_84 = (
    r"\begin{aligned}\mathcal P_d^*&=\frac{440805\cos2\phi_1-3(8854828\sin2\phi_1+6098513)+(250\sin\phi_1+241\cos\phi_1)R}{6534\cos2\phi_1-288272\sin2\phi_1-234538},\\ "
    r"R&=\sqrt{632330074-423120376\sin2\phi_1-12220470\cos2\phi_1}\end{aligned}"
)

LOADS = [
    Claim("Eqs. (60)–(62)", "coefficients of the characteristic polynomial by traces and determinants", coefficients_by_traces,
          method="symbolically, with every parameter a symbol",
          formula=r"\rho_0=\det\tilde{\mathbb M},\quad\rho_1=\operatorname{tr}\tilde{\mathbb M}\operatorname{tr}\tilde{\mathbb C}-\operatorname{tr}[\tilde{\mathbb M}\tilde{\mathbb C}],\quad\dots,\quad\rho_4=\det\tilde{\mathbb K}"),
    Claim("Eqs. (63), (64)", "minors of Hurwitz's matrix", hurwitz_determinants, method="symbolically",
          formula=r"D_2=\rho_1\rho_2-\rho_0\rho_3,\quad D_3=(\rho_1\rho_2-\rho_0\rho_3)\rho_3-\rho_1^2\rho_4,\quad D_4=\rho_4D_3"),
    Claim("Eq. (65)", "flutter where D3 vanishes with ρ2 and ρ3 positive", routh_hurwitz, within=1e-9,
          method="at flutter loads found from eigenvalues, eight random sets of dampings",
          formula=r"(\rho_1\rho_2-\rho_0\rho_3)\rho_3-\rho_1^2\rho_4=0,\quad\rho_2>0,\quad\rho_3>0"),
    Claim("Eq. (66)", "divergence where the discriminant of the quartic vanishes", divergence_condition, within=1e-8,
          method="at divergence loads found from eigenvalues, undamped and with each damping alone",
          formula=r"\left[27(\rho_1^2\rho_4+\rho_0\rho_3^2)-9\rho_2(8\rho_0\rho_4+\rho_1\rho_3)+2\rho_2^3\right]^2-4\left(\rho_2^2-3\rho_1\rho_3+12\rho_0\rho_4\right)^3=0"),
    Claim("Eq. (66)", "degree in the load with external damping: a quintic", partial(degree_of_66, "c_e"), "5", method="symbolically"),
    Claim("Eq. (66)", "degree in the load with internal damping alone: a quartic", partial(degree_of_66, "c_i"), "4", method="symbolically"),
    Claim("Eq. (70)", "P_0 and D_0 in ξ (with the lost ∓ 4)", formula_70, method="discriminant in Ω², symbolically", formula=P_OF_XI),
    Claim("Eq. (71)", "P_0 = 20(3102 − √120482)/723", partial(exact_equals, "skate", "flutter", P0), method="closed form, symbolically", formula=UNDAMPED_71),
    Claim("Eq. (71)", "P_0, skate", lambda: float(pendulum().flutter()), "76.2073", method="two frequencies meet", formula=UNDAMPED_71),
    Claim("Eq. (71)", "P_0, bow", lambda: float(pendulum("bow").flutter()), "76.2073", method="two frequencies meet", formula=UNDAMPED_71),
    Claim("Eq. (71)", "D_0 = 20(3102 + √120482)/723", partial(exact_equals, "bow", "divergence", D0), method="closed form, symbolically", formula=UNDAMPED_71),
    Claim("Eq. (71)", "D_0", lambda: float(pendulum().divergence()), "95.4109", method="a complex pair becomes real", formula=UNDAMPED_71),
    Claim("Fig. 8", "P_0 through the elastic device, as K Δ", lambda: 40 * float(pendulum("skate", "spring", K=40).flutter()),
          "76.2073", method="flutter in Δ with K = 40", formula=r"p=K(\Delta-X)"),
    Claim("Sec. 5.2.1", "P_d(c_i) as a formula", partial(one_damping, "c_i", internal_damping), method="Hurwitz determinant, symbolically", formula=INTERNAL),
    Claim("Sec. 5.2.1", "P_d, c_i → 0", partial(vanishing, "c_i"), "76.1388", method="first-order perturbation, no finite ε", formula=r"\lim_{\tilde c_i\to0}\mathcal P_d(\tilde c_i,\hat{\boldsymbol\xi})"),
    Claim("Fig. 9", "P_d, c_i = 1.5", lambda: float(pendulum(**DAMPED).flutter()), "76.338", method="eigenvalues cross the axis", formula=INTERNAL),
    Claim("Fig. 9", "D_d, c_i = 1.5", lambda: float(pendulum(**DAMPED).divergence()), "108.916", method="a complex pair becomes real", formula=r"\mathcal D_d(\tilde c_i=1.5,\hat{\boldsymbol\xi})"),
    Claim("Sec. 5.2.1", "P_d(c_e) as a formula", partial(one_damping, "c_e", external_damping), method="Hurwitz determinant, symbolically", formula=EXTERNAL),
    Claim("Sec. 5.2.1", "P_d, c_e → 0", partial(vanishing, "c_e"), "40.9964", method="first-order perturbation, no finite ε", formula=r"\lim_{\tilde c_e\to0}\mathcal P_d(\tilde c_e,\hat{\boldsymbol\xi})"),
    Claim("Eq. (79)", "P_d, c_e → ∞ is 4(k1 + 8)/5", formula_79, method="limit of the closed form, k1 a symbol", formula=LIMIT_79),
    Claim("Eq. (79)", "P_d, c_e = 10⁶", lambda: float(pendulum(c_e=10**6).flutter()), "46.4", method="eigenvalues cross the axis", formula=LIMIT_79),
    Claim("Eq. (80)", "P_d(c_t) in ξ, first branch", partial(formula_80, "first"), method="Hurwitz determinant, ξ and the damping symbols", formula=EQUATION_80),
    Claim("Eq. (80)", "P_d(c_t) in ξ, second branch", partial(formula_80, "second"), method="Hurwitz determinant, ξ and the damping symbols", formula=EQUATION_80),
    Claim("Eq. (80)", "P_d, c_t → 0", partial(vanishing, "c_t"), "51.9875", method="first-order perturbation, no finite ε", formula=r"\mathcal P_d^*(0,0,0,\hat{\boldsymbol\xi})=\tfrac{24902}{479}"),
    Claim("Eq. (80)", "viscosity-independent paradox: P_d does not depend on the magnitude of c_t", partial(independent_of_viscosity, "c_t"), within=1e-9,
          method="four magnitudes", formula=r"\frac{\partial\mathcal P_d(\tilde c_{t,L})}{\partial\tilde c_{t,L}}=0"),
    Claim("Eq. (81)", "P_d(c_r) in ξ", formula_81, method="Hurwitz determinant, ξ and the damping symbols", formula=EQUATION_81),
    Claim("Eq. (81)", "P_d, c_r → 0", partial(vanishing, "c_r"), "51.3927", method="first-order perturbation, no finite ε", formula=r"\mathcal P_d^*\left(\tfrac\pi2,0,0,\hat{\boldsymbol\xi}\right)=\tfrac{12694}{247}"),
    Claim("Eq. (81)", "viscosity-independent paradox: P_d does not depend on the magnitude of c_r", partial(independent_of_viscosity, "c_r"), within=1e-9,
          method="four magnitudes", formula=r"\frac{\partial\mathcal P_d(\tilde c_{r,L})}{\partial\tilde c_{r,L}}=0"),
    Claim("Eqs. (76), (77)", "Ziegler's paradox: limits lie between the worst single source and P_0", never_above_undamped,
          method=f"{SAMPLES} random ξ and directions", formula=r"\min_k\mathcal P_d^*(\mathbf e_k,\boldsymbol\xi)\le\mathcal P_d^*(\boldsymbol\varphi,\boldsymbol\xi)\le\mathcal P_0(\boldsymbol\xi)"),
    Claim("Sec. 5.2", "no paradox while one damping stays", same_limit, within=1e-7, method="c_e = 2 beside 10⁻⁹ of each other",
          formula=r"\lim_{\tilde c_i,\tilde c_{t,L},\tilde c_{r,L}\to0}\mathcal P_d(\mathbf c)=\mathcal P_d(\tilde c_e)"),
    Claim("Eq. (78)", "no paradox for divergence", divergence_has_no_paradox, within=1e-6, method="damping of 10⁻⁶", formula=r"\lim_{r\to0}\mathcal D_d(r,\boldsymbol\varphi)=\mathcal D_0"),
    Claim("Eq. (82)", "P_d* over φ3", partial(limits_along, IE, formula_82), within=1e-11, method=f"first-order perturbation at {SAMPLES} angles", formula=EQUATION_82),
    Claim("Eq. (83)", "φ3 of the maximum", partial(best_angle, IE), "0.995", method="linear programming on the cone of stable directions",
          formula=r"\max_{\phi_3}\mathcal P_d^*\left(\tfrac\pi2,\tfrac\pi2,\phi_3\right)=\mathcal P_0"),
    Claim("Eq. (84)", "P_d* over φ1", partial(limits_along, TR, formula_84), within=1e-11, method=f"first-order perturbation at {SAMPLES} angles", formula=EQUATION_84),
    Claim("Eq. (85)", "φ1 of the maximum", partial(best_angle, TR), "0.771", method="linear programming on the cone of stable directions",
          formula=r"\max_{\phi_1}\mathcal P_d^*(\phi_1,0,0)=\mathcal P_0"),
    Claim("Sec. 5.2.2", "directions without paradox exist for ξ̂, none for ξ = [1/10, 1/10, 0, 1]", avoidable_as_printed,
          method="both pairs of dampings", formula=r"\max_{\boldsymbol\varphi}\mathcal P_d^*=\mathcal P_0"),
]  # fmt: skip
