"""Sections 2 to 5: equations of motion, linearisation, equilibria, buckling, the equivalence with follower loads."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import sympy as sm

from pfaff.atlas import column, reut, ziegler
from pfaff.papers.cazzolli2020.cases import DAMPINGS, SAMPLES, XI_HAT, count, pendulum
from pfaff.papers.reproduction import Claim


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
    return count(sm.simplify(e.subs(values) - f) != 0 for e, f in zip(ours, printed, strict=True))


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
        ours = column(2, constraint).at(**symbols).linearise(exact=True)
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
    return count(bool(case.buckling()) for case in cases)


def no_buckling_of_the_misaligned_bow() -> float:
    """Appendix D: the bow under dead load never buckles, β0 ≠ 0 included."""
    return count(bool(pendulum("bow", beta0=x).buckling(to=200)) for x in (0.01, float(np.pi) / 100, 0.3))


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


def small_motions_of_section_2() -> float:
    """Eq. (4): matrices of the elastic double pendulum, every length, mass and stiffness a symbol."""
    system = column(2, individual=True)
    l, m, k, F = sm.symbols("l m k F", positive=True)
    meaning = {"l": l, "m": m, "d": l / 2, "k": k}
    values = {p.name: meaning[p.name[0]] for p in system.parameters if p.name[1:] in ("1", "2")}
    ours = system.at(**values, F=F).linearise(exact=True)
    M = m * l**2 / 4 * sm.Matrix([[5, 2], [2, 1]])
    K = k * sm.Matrix([[2, -1], [-1, 1]]) + F * l * sm.Matrix([[-1, 1], [0, 0]])
    return count(sm.simplify(mine - theirs) != sm.zeros(2) for mine, theirs in ((ours.M, M), (ours.K, K)))


def nonlinear_terms(constraint: str) -> dict[str, Any]:
    """Symbols of Eqs. (52)–(54): states, rates, parameters and the coefficients ã of the constraint."""
    system = column(2, constraint)
    one, two, X = system.coordinates
    t = system.time
    names = {p.name: p for p in system.parameters}
    beta = names["beta0"]
    rows = {
        "skate": (sm.sin(beta - one + two) / 2, sm.sin(beta) / 2, sm.cos(beta + two)),
        "bow": (sm.sin(beta - one) / 2, sm.sin(beta) - sm.sin(beta - one) / 2, sm.cos(beta)),
    }
    rates = {f"{w}{n}": q.diff(t, n) for w, q in (("a", one), ("b", two), ("x", X)) for n in (1, 2)}
    return {**names, **rates, "one": one, "two": two, "a": rows[constraint], "equations": system.equations("lagrange")}


def equations_52(constraint: str, printed_b: bool = False) -> list[sm.Expr]:
    """What is left of Eqs. (52a–d) when ours are subtracted; (52b) with its lost terms, or as printed."""
    n = nonlinear_terms(constraint)
    one, two, d, M_L, I_L = (n[name] for name in ("one", "two", "d", "M_L", "I_L"))
    a1, a2, b1, b2, x1, x2 = (n[name] for name in ("a1", "a2", "b1", "b2", "x1", "x2"))
    c, s, sin1, sin2 = sm.cos(one - two), sm.sin(one - two), sm.sin(one), sm.sin(two)
    equations, (A1, A2, A3) = n["equations"], n["a"]
    p = equations.multipliers[0]
    first = (
        n["c_e"] / 8 * (sm.Rational(4, 3) * a1 + b1 * c / 2 - 3 * sin1 * x1)
        + n["c_i"] * (2 * a1 - b1) + n["c_t"] / 4 * (a1 + b1 * c - 2 * sin1 * x1)
        + ((d**2 + 1) * a2 + d * b2 * c + d * b1**2 * s - 2 * x2 * sin1 * (d + 1)) / 8
        + M_L / 4 * (a2 + b2 * c + b1**2 * s - 2 * sin1 * x2) + p * A1 + (1 + n["k1"]) * one - two
    )  # fmt: skip
    lost = M_L / 4 * (a2 * c - a1**2 * s + b2 - 2 * sin2 * x2) + I_L * b2
    second = (
        n["c_e"] / 8 * (a1 * c / 2 + b1 / 3 - sin2 * x1) + n["c_r"] * b1 + n["c_i"] * (b1 - a1)
        + n["c_t"] / 4 * (a1 * c + b1 - 2 * sin2 * x1)
        + d / 8 * (d * b2 + a2 * c - a1**2 * s - 2 * sin2 * (x1 if printed_b else x2))
        + p * A2 + two - one + (0 if printed_b else lost)
    )  # fmt: skip
    third = (
        n["c_e"] / 8 * (8 * x1 - 3 * a1 * sin1 - b1 * sin2) + n["c_t"] / 2 * (2 * x1 - a1 * sin1 - b1 * sin2)
        + n["M_X"] * x2
        + (4 * x2 - (d + 1) * (a2 * sin1 + a1**2 * sm.cos(one)) - d * (b2 * sin2 + b1**2 * sm.cos(two))) / 4
        + M_L / 2 * (2 * x2 - a2 * sin1 - a1**2 * sm.cos(one) - b2 * sin2 - b1**2 * sm.cos(two)) + p * A3 - n["F"]
    )  # fmt: skip
    fourth = A1 * a1 + A2 * b1 + A3 * x1
    theirs = [first, second, third, fourth]
    ones = {n[name]: 1 for name in ("L", "M", "k")}
    return [
        mine.subs(ones) - other for mine, other in zip([*equations.motion, *equations.constraints], theirs, strict=True)
    ]


def equations_of_section_5(constraint: str) -> float:
    """Eqs. (52)–(54) against Lagrange's equations from the energies, at random states and parameters."""
    return max(largest_at_random(each) for each in equations_52(constraint))


def largest_at_random(expression: sm.Expr, samples: int = 3) -> float:
    """The magnitude of an expression in functions of time at random values of whatever it contains."""
    generator = np.random.default_rng(52)
    worst = 0.0
    for _ in range(samples):
        value = expression
        for kind in (sm.Derivative, sm.core.function.AppliedUndef, sm.Symbol):
            atoms = sorted(value.atoms(kind), key=lambda e: (-getattr(e, "derivative_count", 0), str(e)))
            numbers = map(sm.Float, generator.uniform(0.1, 1, len(atoms)))
            value = value.xreplace(dict(zip(atoms, numbers, strict=True)))
        worst = max(worst, abs(float(value)))
    return worst


def bent_columns(constraint: str, load: str, bars: int = 4) -> list[Any]:
    """Linearisations of random misaligned columns about bent equilibria."""
    generator, found = np.random.default_rng(bars), []
    device = {"dead": ("F", {}), "spring": ("Delta", {"K": 3.0})}
    name, fixed = device[load]
    for _ in range(5):
        case = column(bars, constraint, load).at(
            k1=generator.uniform(0.5, 3),
            beta0=generator.uniform(0.1, 0.4),
            **{name: generator.uniform(0.05, 0.2)},
            **fixed,
        )
        rest = case.equilibrium(X=0.0) if load == "spring" else case.equilibrium()
        found.append(case.linearise(rest))
    return found


def buckling_condition(constraint: str, load: str, reaction_in_g: bool = True) -> float:
    """Eqs. (113)–(116): ρ_m of Eq. (44), the determinant (43) at ω = 0, by the formula of Appendix D; relative error."""
    worst = 0.0
    for lin in bent_columns(constraint, load):
        n, p = len(lin.q) - 1, float(lin.p[0])
        total, w = lin.stiffness, lin.w
        bordered = np.block([[total, w[:, None]], [w[None, :], np.zeros((1, 1))]])
        inverse = np.linalg.inv(total[:n, :n])
        g = lin.G[n, :n] * (p if reaction_in_g else 1.0)
        device = total[n, n] * w[:n] @ inverse @ w[:n]
        formula = -np.linalg.det(total[:n, :n]) * (device + w[n] * (w[n] - g @ inverse @ w[:n]))
        worst = max(worst, abs(np.linalg.det(bordered) / formula - 1))
    return float(worst)


EQUATIONS = [
    Claim("Eqs. (2), (3)", "equations of motion of the elastic double pendulum", equations_of_section_2,
          method="Lagrange's equations from the energies, compared symbolically",
          formula=r"\begin{aligned} k(2\theta_1-\theta_2)+\tfrac{ml}{4}\left[l\left(5\ddot\theta_1+2\ddot\theta_2\cos(\theta_1-\theta_2)+2\dot\theta_2^2\sin(\theta_1-\theta_2)\right)-6\ddot X\sin\theta_1\right]-p\,l\sin(\theta_1-\theta_2)&=0\\ \cos\theta_2\,\dot X-\dot\theta_1 l\sin(\theta_1-\theta_2)&=0 \end{aligned}"),
    Claim("Eq. (4)", "its small motions: symmetric mass and elastic stiffness, unsymmetric geometric stiffness", small_motions_of_section_2,
          method="linearisation with every parameter a symbol",
          formula=r"\tfrac{ml^2}{4}\begin{bmatrix}5&2\\2&1\end{bmatrix}\ddot{\boldsymbol\theta}+\left\{k\begin{bmatrix}2&-1\\-1&1\end{bmatrix}+Fl\begin{bmatrix}-1&1\\0&0\end{bmatrix}\right\}\boldsymbol\theta=\mathbf 0"),
    *(Claim("Eqs. (52)–(54)", f"dimensionless equations of motion with all dampings, {c} (52b completed)", partial(equations_of_section_5, c),
            within=1e-12, method="Lagrange's equations from the energies, at random states, accelerations and parameters",
            formula=r"\tilde a_1\dot\theta_1+\tilde a_2\dot\theta_2+\tilde a_3\dot\chi=0,\quad " + (
                r"\tilde{\mathbf a}=\left[\tfrac12\sin(\beta_0-\theta_1+\theta_2),\ \tfrac12\sin\beta_0,\ \cos(\beta_0+\theta_2)\right]" if c == "skate"
                else r"\tilde{\mathbf a}=\left[\tfrac12\sin(\beta_0-\theta_1),\ \sin\beta_0-\tfrac12\sin(\beta_0-\theta_1),\ \cos\beta_0\right]"))
      for c in ("skate", "bow")),
    Claim("Eqs. (55)–(58)", "mass, damping, elastic and geometric stiffness, N = 2", matrices_of_section_5,
          method="linearisation with every parameter a symbol",
          formula=r"\tilde{\mathbb M}=\tfrac18\begin{bmatrix}\tilde d^2+1+2\tilde M_L&\tilde d+2\tilde M_L\\ \tilde d+2\tilde M_L&8\tilde I_{r,L}+\tilde d^2+2\tilde M_L\end{bmatrix},\quad \tilde{\mathbb K}=\begin{bmatrix}1+\tilde k_1&-1\\-1&1\end{bmatrix},\quad \tilde{\mathbb G}_S=\tilde{\mathbb G}_V^{\mathsf T}=\tfrac12\begin{bmatrix}-1&1\\0&0\end{bmatrix}"),
    *(Claim("Eqs. (28), (37), (111)", f"determinants of stiffness, N = {n}, {c}", partial(determinants, n, c),
            within=1e-9, method="random columns at bent equilibria",
            formula=r"\det\left(\mathbb K^{(N)}+p\,\mathbb G^{(N)}\right)=\det\mathbb K^{(N)}=\prod_{j=1}^{N}k_j")
      for n in (2, 5) for c in ("skate", "bow")),
    Claim("Eq. (48)", "G of the skate is the transpose of G of the bow", transposed_geometric_stiffness, within=1e-15,
          method="N = 1 … 6", formula=r"\mathbf G_S=\mathbf G_V^{\mathsf T}\quad(\beta_0=0)"),
    Claim("App. B", "the straight column is the only equilibrium for β0 = 0", unique_for_aligned,
          method="Newton from 500 random starts, N = 2, 3, 5", formula=r"\beta_0=0:\quad \theta_1=\dots=\theta_N=0"),
    Claim("Sec. 4.1", "no buckling, dead load", partial(no_buckling, "dead"), method="search of both constraints over the default range of loads",
          formula=r"\det\left(\mathbb K^{(N)}+p\,\mathbb G^{(N)}\right)\neq0"),
    Claim("Sec. 4.1", "no buckling, elastic device", partial(no_buckling, "spring"), method="search of both constraints over the default range of loads",
          formula=r"\det\left(\mathbb K^{(N)}+p\,\mathbb G^{(N)}\right)\neq0"),
    *(Claim(f"App. D, Eq. ({number})", f"the buckling condition, {c}, {load} load", partial(buckling_condition, c, load), within=1e-10,
            method="determinant of Eq. (43) at ω = 0, bent equilibria of random columns, N = 4 (g multiplied by p)", formula=formula)
      for number, c, load, formula in (
          (113, "skate", "spring", r"K\,\mathbf w^{\mathsf T}\left(\mathbb K+p\,\mathbb G\right)^{-1}\mathbf w+w_{N+1}\left(w_{N+1}-p\,\mathbf g\left(\mathbb K+p\,\mathbb G\right)^{-1}\mathbf w\right)=0"),
          (114, "bow", "spring", r"K\,\mathbf w^{\mathsf T}\left(\mathbb K+p\,\mathbb G\right)^{-1}\mathbf w+w_{N+1}^2=0"),
          (115, "skate", "dead", r"w_{N+1}^2-w_{N+1}\,p\,\mathbf g\left(\mathbb K+p\,\mathbb G\right)^{-1}\mathbf w=0"),
          (116, "bow", "dead", r"w_{N+1}^2=\cos^2\beta_0=0"))),
    Claim("App. D, Eq. (116)", "no buckling of the misaligned bow under dead load", no_buckling_of_the_misaligned_bow,
          method="three misalignments, along the bent equilibrium path", formula=r"w_{N+1}=\cos\beta_0\neq0"),
    Claim("Sec. 4.2", "skate, Ziegler, bow and Reut columns have one spectrum", twin_spectra, within=1e-10,
          method="N = 1 … 4, random parameters, dampings and loads",
          formula=r"\det\left[\mathbb M\,\omega^2+\mathbb C\,\omega+\mathbb K+p\,\mathbb G\right]=\det\left[\mathbb M\,\omega^2+\mathbb C\,\omega+\mathbb K+p\,\mathbb G^{\mathsf T}\right]"),
]  # fmt: skip
