"""Cazzolli, Dal Corso and Bigoni (2020): every number of the paper, and its figures.

Dimensionless throughout: L = M = k = 1. ξ = [d, M_L, I_L, k1]; ξ̂ = [1/2, 15, 15, 50].
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from itertools import product
from typing import Any

import numpy as np
import sympy as sm

from pfaff.atlas import column, reut, ziegler
from pfaff.bifurcation.hopf import Hopf
from pfaff.case import Case
from pfaff.draw.configuration import draw_together
from pfaff.draw.spectrum import draw_spectrum_path
from pfaff.draw.style import BLUE, CYCLE, GREY, VERMILION, figure, label
from pfaff.papers.cazzolli2020_motion import MOTION_FIGURES, MOTION_ITEMS
from pfaff.papers.reproduction import Claim
from pfaff.stability.exact import exact_linearisation
from pfaff.stability.paradox import WeakDamping

XI_HAT = {"d": sm.Rational(1, 2), "M_L": 15, "I_L": 15, "k1": 50}
XI_TILDE = {"d": sm.Rational(1, 2), "M_L": 1, "I_L": 0, "k1": 1}
DAMPINGS = ("c_i", "c_e", "c_t", "c_r")
SAMPLES = 30


@cache
def pendulum(constraint: str = "skate", load: str = "dead", **values: Any) -> Case:
    """The double pendulum with ξ̂ and the given dampings."""
    return column(2, constraint, load).at(**XI_HAT, **values)


def symbols_of_xi() -> dict[str, sm.Symbol]:
    return {name: sm.Symbol(name, positive=True) for name in XI_HAT}


# Sections 2 to 4: equations of motion, equilibria, linearisation


def equations_of_section_2() -> float:
    """Eqs. (2) and (3) of the elastic double pendulum, from the energies."""
    system = column(2, individual=True)
    l, m, k, F, t = sm.symbols("l m k F t")
    one, two, X = system.coordinates
    values = dict.fromkeys(system.parameters, 0) | {
        s: {"l": l, "m": m, "d": l / 2, "k": k}[s.name[0]] for s in system.parameters if s.name[1:] in ("1", "2")
    }
    values[next(s for s in system.parameters if s.name == "F")] = F
    equations = system.equations("lagrange")
    p = equations.multipliers[0]
    a1, a2, aX, v1, v2, vX = (q.diff(t, n) for n in (2, 1) for q in (one, two, X))
    c, s = sm.cos(one - two), sm.sin(one - two)
    printed = [
        k * (2 * one - two)
        + m * l / 4 * (l * (5 * a1 + 2 * a2 * c + 2 * v2**2 * s) - 6 * aX * sm.sin(one))
        - p * l * s,
        k * (two - one) + m * l / 4 * (l * (2 * a1 * c - 2 * v1**2 * s + a2) - 2 * sm.sin(two) * aX),
        2 * m * aX
        - m * l / 2 * (3 * a1 * sm.sin(one) + 3 * v1**2 * sm.cos(one) + a2 * sm.sin(two) + v2**2 * sm.cos(two))
        + p * sm.cos(two)
        - F,
        sm.cos(two) * vX - v1 * l * s,
    ]
    ours = [*equations.motion, *equations.constraints]
    return _count(sm.simplify(e.subs(values) - f) != 0 for e, f in zip(ours, printed, strict=True))


def matrices_of_section_5() -> float:
    """Eqs. (55)–(58), with every parameter a symbol."""
    symbols = {name: sm.Symbol(name, positive=True) for name in (*XI_HAT, *DAMPINGS, "F")}
    d, M_L, I_L, k1, c_i, c_e, c_t, c_r, F = symbols.values()
    off = c_t / 4 + c_e / 16 - c_i
    M = sm.Matrix([[d**2 + 1 + 2 * M_L, d + 2 * M_L], [d + 2 * M_L, 8 * I_L + d**2 + 2 * M_L]]) / 8
    C = sm.Matrix([[2 * c_i + c_t / 4 + c_e / 6, off], [off, c_r + c_i + c_t / 4 + c_e / 24]])
    K = sm.Matrix([[1 + k1, -1], [-1, 1]])
    G = sm.Matrix([[-1, 1], [0, 0]]) / 2
    wrong = 0
    for constraint, geometric in (("skate", G), ("bow", G.T)):
        ours = exact_linearisation(column(2, constraint).at(**symbols))
        pairs = ((ours.M, M), (ours.C, C), (ours.K, K + F * geometric))
        wrong += sum(sm.simplify(mine - theirs) != sm.zeros(2) for mine, theirs in pairs)
    return float(wrong)


def determinants(bars: int, constraint: str) -> float:
    """Eqs. (28), (37) and (111) at random bent equilibria of random columns."""
    generator, worst = np.random.default_rng(bars), 0.0
    system = column(bars, constraint, individual=True)
    for _ in range(SAMPLES // 4):
        stiff, long = generator.uniform(0.5, 3, bars), generator.uniform(0.5, 2, bars)
        case = system.at(
            **{f"k{i + 1}": x for i, x in enumerate(stiff)},
            **{f"{name}{i + 1}": x for name, share in (("l", 1), ("d", 0.5)) for i, x in enumerate(share * long)},
            beta0=generator.uniform(-0.3, 0.3),
            F=generator.uniform(-0.2, 0.2),
        )
        lin = case.linearise()
        bare, loaded = lin.K[:bars, :bars], lin.stiffness[:bars, :bars]
        worst = max(worst, *(abs(np.linalg.det(each) / stiff.prod() - 1) for each in (bare, loaded)))
    return worst


def transposed_geometric_stiffness() -> float:
    """Eq. (48): G of the skate is Gᵀ of the bow for β0 = 0."""
    return max(
        np.abs(column(n, "skate").at(F=1).linearise().G - column(n, "bow").at(F=1).linearise().G.T).max()
        for n in range(1, 7)
    )


def unique_for_aligned() -> float:
    """Appendix B: for β0 = 0 a search from many starts finds the straight column and nothing else."""
    generator, others = np.random.default_rng(0), 0
    for constraint in ("skate", "bow"):
        for bars in (2, 3, 5):
            case = column(bars, constraint).at(F=generator.uniform(1, 30), k1=generator.uniform(1, 10))
            found = case.equilibria(starts=500, X=0)
            others += len(found) - 1 + int(np.abs(found[0].q).max() > 1e-9)
    return float(others)


def no_buckling(load: str) -> float:
    """Sec. 4.1: no buckling of the straight column, with dead load or elastic device."""
    cases = [pendulum(constraint, load, **({"K": 40} if load == "spring" else {})) for constraint in ("skate", "bow")]
    return _count(bool(case.buckling()) for case in cases)


def no_buckling_of_the_misaligned_bow() -> float:
    """Appendix D: the bow under dead load never buckles, β0 ≠ 0 included."""
    return _count(bool(pendulum("bow", beta0=x).buckling(to=200)) for x in (0.01, float(np.pi) / 100, 0.3))


# Section 5: critical loads


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


def _formula_82(phi: float) -> float:
    cot = 1 / np.tan(phi)
    below = 54519984 * cot + 2826493
    root = np.sqrt(34704 * cot * (11283138 * cot - 711833) + 987561353)
    first = (576 * cot * (57927483 * cot + 10504342) + 240974002) / below
    return 0.8 * (first - 3 * np.sqrt(2) * (12568 * cot + 721) * root / below)


def _formula_84(phi: float) -> float:
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
def vanishing_damping(pair: tuple[str, str]) -> WeakDamping:
    return WeakDamping(pendulum(), "F", pair)


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


def twin_spectra() -> float:
    """Skate and Ziegler, bow and Reut: the same spectra for any N, ξ, damping and load, β0 = 0."""
    generator, worst = np.random.default_rng(5), 0.0
    for bars in (1, 2, 3, 4):
        for _ in range(3):
            values = {name: generator.uniform(0.1, 5) for name in ("M_L", "I_L", "k1", *DAMPINGS, "F")}
            spectra = [
                np.sort_complex(make.at(**values).spectrum().values)
                for make in (column(bars, "skate"), ziegler(bars), column(bars, "bow"), reut(bars))
            ]
            worst = max(worst, *(np.abs(each - spectra[0]).max() / np.abs(spectra[0]).max() for each in spectra[1:]))
    return worst


# Section 6: Hopf points


@cache
def hopf(constraint: str = "skate") -> Hopf:
    """The Hopf point of Sec. 6.1, with c_i = 1.5."""
    return pendulum(constraint, **DAMPED).hopf()


def critical_eigenvalue(part: str) -> float:
    upper = hopf().eigenvalues[hopf().eigenvalues.imag > 0]
    return {"omega": upper[0].imag, "decay": upper[1].real, "second": upper[1].imag}[part]


def hopf_conditions() -> float:
    """Conditions (i) and (ii) of Hopf's theorem, for both constraints."""
    return _count(not (each.simple and each.transversal) for each in (hopf("skate"), hopf("bow")))


def routes_agree() -> float:
    """V'''(0) = 3π l1: the real centre manifold against the complex projection, for each damping alone."""
    points = [pendulum(each).at(**{name: 2}).hopf() for each in ("skate", "bow") for name in DAMPINGS]
    return max(abs(each.V3 / (3 * np.pi * each.l1) - 1) for each in points)


def threshold(name: str, between: tuple[float, float]) -> float:
    """The damping at which l1 of the skate changes its sign, all others null."""
    return float(pendulum(**{name: between[0]}).hopf().vanishing(name, between).case.values[name])


def lyapunov_over(constraint: str, xi: dict[str, Any], damping: str, magnitudes: np.ndarray) -> np.ndarray:
    """l1 with one damping alone. P_d(c_i) grows like c_i²: the search must go as far."""
    case, growth = column(2, constraint).at(**xi), 5.0 if damping == "c_i" else 0.0
    return np.array([case.at(**{damping: r}).hopf(to=500 + growth * r**2).l1 for r in magnitudes.tolist()])


def bow_stays_supercritical() -> float:
    """Fig. 13: with ξ̂ no damping alone makes l1 of the bow positive."""
    magnitudes = np.geomspace(0.01, 1000, 16)
    return float(sum((lyapunov_over("bow", XI_HAT, name, magnitudes) >= 0).sum() for name in DAMPINGS))


def bow_at_rest(name: str) -> float:
    return pendulum("bow", c_i=sm.Rational(3, 2), beta0=float(np.pi) / 100).at(F=80).equilibrium()[name]


def _count(failures: Any) -> float:
    return float(sum(bool(each) for each in failures))


def internal_damping(c: sm.Symbol) -> sm.Expr:
    """P_d(c_i) of Sec. 5.2.1."""
    return sm.Rational(64, 723) * c**2 + sm.Rational(4410529058, 57927483)


def external_damping(c: sm.Symbol) -> sm.Expr:
    """P_d(c_e) of Sec. 5.2.1."""
    root = sm.sqrt(245 * (5 * c**2 + 1465344) * c**2 + 40956144431616)
    return (11566752096 + 25235 * c**2 - 721 * root) / 169589580


P0 = sm.Rational(20, 723) * (3102 - sm.sqrt(120482))
D0 = sm.Rational(20, 723) * (3102 + sm.sqrt(120482))
DAMPED = {"c_i": sm.Rational(3, 2)}
IE, TR = ("c_i", "c_e"), ("c_t", "c_r")
BETA = float(np.pi) / 100

ITEMS = [
    Claim("Eqs. (2), (3)", "equations of motion of the elastic double pendulum", equations_of_section_2,
          method="Lagrange's equations from the energies, compared symbolically"),
    Claim("Eqs. (55)–(58)", "mass, damping, elastic and geometric stiffness, N = 2", matrices_of_section_5,
          method="linearisation with every parameter a symbol"),
    *(Claim("Eqs. (28), (37), (111)", f"determinants of stiffness, N = {n}, {c}", partial(determinants, n, c),
            within=1e-9, method="random columns at bent equilibria") for n in (2, 5) for c in ("skate", "bow")),
    Claim("Eq. (48)", "G of the skate is the transpose of G of the bow", transposed_geometric_stiffness, within=1e-15,
          method="N = 1 … 6"),
    Claim("App. B", "the straight column is the only equilibrium for β0 = 0", unique_for_aligned,
          method="Newton from 500 random starts, N = 2, 3, 5"),
    Claim("Sec. 4.1", "no buckling, dead load", lambda: no_buckling("dead")),
    Claim("Sec. 4.1", "no buckling, elastic device", lambda: no_buckling("spring")),
    Claim("App. D, Eq. (116)", "no buckling of the misaligned bow under dead load", no_buckling_of_the_misaligned_bow),
    Claim("Sec. 4.2", "skate, Ziegler, bow and Reut columns have one spectrum", twin_spectra, within=1e-10),
    Claim("Eq. (70)", "P_0 and D_0 in ξ (with the lost ∓ 4)", formula_70, method="discriminant in Ω², symbolically"),
    Claim("Eq. (71)", "P_0 = 20(3102 − √120482)/723", lambda: exact_equals("skate", "flutter", P0)),
    Claim("Eq. (71)", "P_0, skate", lambda: float(pendulum().flutter()), "76.2073"),
    Claim("Eq. (71)", "P_0, bow", lambda: float(pendulum("bow").flutter()), "76.2073"),
    Claim("Eq. (71)", "D_0 = 20(3102 + √120482)/723", lambda: exact_equals("bow", "divergence", D0)),
    Claim("Eq. (71)", "D_0", lambda: float(pendulum().divergence()), "95.4109"),
    Claim("Fig. 8", "P_0 through the elastic device, as K Δ", lambda: 40 * float(pendulum("skate", "spring", K=40).flutter()),
          "76.2073"),
    Claim("Sec. 5.2.1", "P_d(c_i) as a formula", lambda: one_damping("c_i", internal_damping), method="Hurwitz determinant"),
    Claim("Sec. 5.2.1", "P_d, c_i → 0", lambda: vanishing("c_i"), "76.1388", method="first-order perturbation, no finite ε"),
    Claim("Fig. 9", "P_d, c_i = 1.5", lambda: float(pendulum(**DAMPED).flutter()), "76.338"),
    Claim("Fig. 9", "D_d, c_i = 1.5", lambda: float(pendulum(**DAMPED).divergence()), "108.916"),
    Claim("Sec. 5.2.1", "P_d(c_e) as a formula", lambda: one_damping("c_e", external_damping), method="Hurwitz determinant"),
    Claim("Sec. 5.2.1", "P_d, c_e → 0", lambda: vanishing("c_e"), "40.9964"),
    Claim("Eq. (79)", "P_d, c_e → ∞ is 4(k1 + 8)/5", formula_79, method="limit of the closed form, k1 a symbol"),
    Claim("Eq. (79)", "P_d, c_e = 10⁶", lambda: float(pendulum(c_e=10**6).flutter()), "46.4"),
    Claim("Eq. (80)", "P_d(c_t) in ξ, first branch", lambda: formula_80("first")),
    Claim("Eq. (80)", "P_d(c_t) in ξ, second branch", lambda: formula_80("second")),
    Claim("Eq. (80)", "P_d, c_t → 0", lambda: vanishing("c_t"), "51.9875"),
    Claim("Eq. (80)", "P_d does not depend on the magnitude of c_t", lambda: independent_of_viscosity("c_t"), within=1e-9),
    Claim("Eq. (81)", "P_d(c_r) in ξ", formula_81),
    Claim("Eq. (81)", "P_d, c_r → 0", lambda: vanishing("c_r"), "51.3927"),
    Claim("Eq. (81)", "P_d does not depend on the magnitude of c_r", lambda: independent_of_viscosity("c_r"), within=1e-9),
    Claim("Eqs. (76), (77)", "limits lie between the worst single source and P_0", never_above_undamped,
          method=f"{SAMPLES} random ξ and directions"),
    Claim("Eq. (78)", "no paradox for divergence", divergence_has_no_paradox, within=1e-6, method="damping of 10⁻⁶"),
    Claim("Eq. (82)", "P_d* over φ3", lambda: limits_along(IE, _formula_82), within=1e-11, method=f"{SAMPLES} angles"),
    Claim("Eq. (83)", "φ3 of the maximum", lambda: best_angle(IE), "0.995", method="linear programming on the cone of stable directions"),
    Claim("Eq. (84)", "P_d* over φ1", lambda: limits_along(TR, _formula_84), within=1e-11, method=f"{SAMPLES} angles"),
    Claim("Eq. (85)", "φ1 of the maximum", lambda: best_angle(TR), "0.771"),
    Claim("Sec. 6.1", "ω_0 at the flutter load, c_i = 1.5", lambda: critical_eigenvalue("omega"), "1.01923"),
    Claim("Sec. 6.1", "Re λ_3,4", lambda: critical_eigenvalue("decay"), "-0.625886"),
    Claim("Sec. 6.1", "Im λ_3,4", lambda: critical_eigenvalue("second"), "0.653007"),
    Claim("Eq. (88)", "crossing speed", lambda: hopf().crossing_speed, "0.0744935", method="left and right eigenvectors"),
    Claim("Sec. 6", "both conditions of Hopf's theorem hold", hopf_conditions),
    Claim("Eq. (91)", "l1, skate", lambda: hopf("skate").l1, "-2.1838", method="Kuznetsov's projection"),
    Claim("Eq. (91)", "l1, bow", lambda: hopf("bow").l1, "-0.900238", method="Kuznetsov's projection"),
    Claim("Sec. 6.1", "V'''(0) = 3π l1", routes_agree, within=1e-9, method="centre manifold of Marsden and McCracken"),
    Claim("Fig. 13", "c_i at which l1 of the skate changes sign", lambda: threshold("c_i", (10, 40)), "22.07",
          method="l1 = 0 along the Hopf points"),
    Claim("Fig. 13", "c_e at which l1 of the skate changes sign", lambda: threshold("c_e", (300, 700)), "482.14",
          method="l1 = 0 along the Hopf points"),
    Claim("Fig. 13", "no sign change of l1, bow with ξ̂", bow_stays_supercritical,
          method="16 magnitudes of each damping up to 1000"),
    Claim("Sec. 6.2", "θ1 of the misaligned bow, F = 80", lambda: bow_at_rest("theta1"), "-0.050282"),
    Claim("Sec. 6.2", "θ2 of the misaligned bow, F = 80", lambda: bow_at_rest("theta2"), "0.701512"),
    Claim("Sec. 6.2", "flutter load of the misaligned bow", lambda: float(pendulum("bow", **DAMPED, beta0=BETA).flutter(to=200)),
          "78.276", method="along the bent equilibrium path"),
    Claim("Fig. 11", "initial load K Δ of the triple pendulum", lambda: column(3, "skate", "spring").at(
        d=sm.Rational(1, 2), M_L=1, k1=10, K=40, Delta=sm.Rational(1, 5)).equilibrium(X=0)["p"], "8"),
    *MOTION_ITEMS,
]  # fmt: skip


def figure_7() -> Any:
    """Two of the equilibria of seven bars with a misaligned skate, for each of the two loads."""
    fig = figure(7, 7)
    for axes, load, beta, text in zip(
        fig.subplots(2, 1), (0.1, 1.5), (np.pi / 4, np.pi / 2), ("π/4", "π/2"), strict=True
    ):
        case = column(7, "skate", "spring").at(K=1, Delta=load, beta0=float(beta))
        draw_together(axes, case.equilibria(X=0)[:2])
        axes.set_title(f"KLΔ/k = {load}, β0 = {text}", fontsize="medium")
    return fig


def figure_8() -> Any:
    return draw_spectrum_path(pendulum(), "F", 120, low=60)


def figure_9() -> Any:
    return draw_spectrum_path(pendulum(**DAMPED), "F", 120, low=60)


def figure_10() -> Any:
    """The flutter load over magnitude and direction of two dampings, the limit r → 0 included."""
    fig = figure(11, 5)
    for k, (pair, name, top) in enumerate(((IE, "φ3", 10.0), (TR, "φ1", 10.0))):
        axes = fig.add_subplot(1, 2, k + 1, projection="3d", computed_zorder=False)
        r, phi = np.meshgrid(np.linspace(1e-3, top, 80), np.linspace(0, np.pi / 2, 121), indexing="ij")
        loads = flutter_over(pair, r * np.cos(phi), r * np.sin(phi))
        axes.plot_surface(r, phi, loads, cmap="viridis", rstride=2, cstride=2, linewidth=0.1, edgecolor=GREY, alpha=0.9)
        angles = np.linspace(0, np.pi / 2, 61)
        limits = [vanishing_damping(pair).limit(np.array([np.cos(a), np.sin(a)])) for a in angles]
        axes.plot(np.zeros_like(angles), angles, limits, color=BLUE, lw=2, label="limit r → 0", zorder=10)
        best = best_angle(pair)
        peak = float(pendulum().flutter())
        axes.plot([0], [best], [peak], "o", color="black", zorder=11, label=f"P_0 = {peak:.4f} at {name} = {best:.4f}")
        if pair == TR:
            for edge in (0.0, np.pi / 2):
                line = flutter_over(pair, r[:, 0] * np.cos(edge), r[:, 0] * np.sin(edge))
                axes.plot(r[:, 0], np.full(len(r), edge), line, color=VERMILION, lw=2, zorder=10)
        axes.set_xlabel("r")
        axes.set_ylabel(name)
        axes.set_title(f"flutter load for {pair[0]} = r cos {name}, {pair[1]} = r sin {name}", fontsize="medium")
        axes.legend(frameon=False, fontsize="small")
        axes.view_init(25, -50 if k == 0 else -130)
    return fig


def flutter_over(pair: tuple[str, str], first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """The flutter load at scattered values of two dampings, in closed form."""
    from pfaff.stability.maps import AffinePencil

    pencil = AffinePencil(pendulum(), "F", list(pair))
    return pencil.quartic(np.stack([np.ravel(first), np.ravel(second)]), 500.0).reshape(np.shape(first))


def figure_13() -> Any:
    """The sign of l1 over the magnitude of each damping alone: both constraints, ξ̂ and ξ̃."""
    fig = figure(9, 6.5)
    magnitudes = np.geomspace(0.1, 1000, 21)
    for axes, (constraint, (name, xi)) in zip(
        fig.subplots(2, 2).flat, product(("skate", "bow"), {"ξ̂": XI_HAT, "ξ̃": XI_TILDE}.items()), strict=True
    ):
        for damping, colour in zip(DAMPINGS, CYCLE, strict=False):
            l1 = lyapunov_over(constraint, xi, damping, magnitudes)
            axes.semilogx(magnitudes, l1 / np.abs(l1).max(), color=colour, label=damping)
        axes.axhline(0, color=GREY, lw=0.8)
        label(axes, "magnitude r", "l1 / max |l1|", f"{constraint}, {name}")
        axes.legend(frameon=False, fontsize="small")
    return fig


FIGURES = {
    "figure_7": figure_7,
    "figure_8": figure_8,
    "figure_9": figure_9,
    "figure_10": figure_10,
    "figure_13": figure_13,
    **MOTION_FIGURES,
}
FIGURES = dict(sorted(FIGURES.items(), key=lambda named: int(named[0].removeprefix("figure_"))))
