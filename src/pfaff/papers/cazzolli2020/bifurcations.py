"""Section 6: the Hopf point, its two normal forms, and the misaligned bow."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import sympy as sm

from pfaff.atlas import column
from pfaff.papers.cazzolli2020.cases import BETA, CONSTRAINTS, DAMPED, DAMPINGS, XI_HAT, count, hopf, pendulum
from pfaff.papers.reproduction import Claim


def critical_eigenvalue(part: str) -> float:
    upper = hopf().eigenvalues[hopf().eigenvalues.imag > 0]
    return {"omega": upper[0].imag, "decay": upper[1].real, "second": upper[1].imag}[part]


def hopf_conditions() -> float:
    """Conditions (i) and (ii) of Hopf's theorem, for both constraints."""
    return count(not (each.simple and each.transversal) for each in (hopf("skate"), hopf("bow")))


def routes_agree() -> float:
    """V'''(0) = 3π l1: the real centre manifold against the complex projection, for each damping alone."""
    points = [pendulum(each).at(**{name: 2}).hopf() for each in ("skate", "bow") for name in DAMPINGS]
    return max(abs(each.V3 / (3 * np.pi * each.l1) - 1) for each in points)


def threshold(name: str, between: tuple[float, float]) -> float:
    """The damping at which l1 of the skate changes its sign, all others null."""
    return float(pendulum(**{name: between[0]}).hopf().vanishing(name, between).case.values[name])


def lyapunov_over(constraint: str, xi: dict[str, Any], damping: str, magnitudes: np.ndarray) -> np.ndarray:
    """l1 with one damping alone, at the flutter load."""
    study = column(2, constraint).at(**xi).sweep({damping: magnitudes}, "l1").run()
    return study.dataset["l1"].to_numpy()


def bow_stays_supercritical() -> float:
    """Fig. 13: with ξ̂ no damping alone makes l1 of the bow positive. The number of exceptions."""
    magnitudes = np.geomspace(0.01, 1000, 16)
    return count(not l1 < 0 for name in DAMPINGS for l1 in lyapunov_over("bow", XI_HAT, name, magnitudes))


def bow_at_rest(name: str) -> float:
    return pendulum("bow", c_i=sm.Rational(3, 2), beta0=float(np.pi) / 100).at(F=80).equilibrium()[name]


def jacobian_at_hopf(constraint: str = "skate") -> np.ndarray:
    case = pendulum(constraint, **DAMPED).at(F=hopf(constraint).value)
    return case.system.shape.jacobian(np.zeros(4), case)


def real_jordan_form() -> float:
    """Eqs. (90), (92), (93) with the real and imaginary parts of v3: the largest deviation from the block form."""
    J, found = jacobian_at_hopf(), hopf()
    values, vectors = np.linalg.eig(J)
    v3 = vectors[:, np.argmin(values.real + (values.imag < 0))]
    A = np.stack([found.q.real, found.q.imag, v3.real, v3.imag], axis=1)
    omega, fast = found.omega, values[values.real < -0.1][0]
    block = np.zeros((4, 4))
    block[:2, :2] = [[0, omega], [-omega, 0]]
    block[2:, 2:] = [[fast.real, abs(fast.imag)], [-abs(fast.imag), fast.real]]
    return float(np.abs(np.linalg.solve(A, J @ A) - block).max())


def eigenvectors_of_90() -> float:
    """Eq. (90) with ⟨p, q⟩ = 1: the largest residual, both constraints."""
    worst = 0.0
    for constraint in CONSTRAINTS:
        J, found = jacobian_at_hopf(constraint), hopf(constraint)
        q, p, omega = found.q, found.p, found.omega
        residuals = (J @ q - 1j * omega * q, J.T @ p + 1j * omega * p, np.array([np.vdot(p, q) - 1]))
        worst = max(worst, *(np.abs(each).max() for each in residuals))
    return float(worst)


def negative_means_stable() -> float:
    """Eq. (95): where l1 < 0 the cycles just above the flutter load are stable. The number of exceptions."""
    failures = []
    for constraint in CONSTRAINTS:
        found = hopf(constraint)
        failures += [found.l1 >= 0, found.criticality != "supercritical"]
        failures += [not orbit.stable for orbit in found.orbits(to=found.value + 0.5)]
    return count(failures)


def positive_means_unstable() -> float:
    """Eq. (95): where l1 > 0 (the skate with c_i = 25) they are below it, and unstable. The number of exceptions."""
    found = pendulum(c_i=25).hopf()
    cycles = found.orbits(to=found.value - 0.5, points=6)
    return count([found.l1 <= 0, *(orbit.stable or orbit.value > found.value for orbit in cycles)])


def undamped_has_no_hopf_point() -> float:
    """Sec. 6: below flutter all eigenvalues of the undamped column are imaginary. The largest real part."""
    loads = np.linspace(1, 76, 26)
    return float(max(np.abs(pendulum().spectrum(F=load).values.real).max() for load in loads))


def unstable_pair() -> float:
    """Sec. 6.2: at F = 80 the misaligned bow has just one growing pair. The number of growing eigenvalues."""
    case = pendulum("bow", **DAMPED, beta0=BETA).at(F=80)
    return float((case.spectrum().values.real > 0).sum())


LYAPUNOV = (
    r"\begin{aligned}l_1(0)=\frac1{2\omega_0}\operatorname{Re}\big[&\langle\boldsymbol p,\mathbf C(\boldsymbol q,\boldsymbol q,\bar{\boldsymbol q})\rangle-2\langle\boldsymbol p,\mathbf B(\boldsymbol q,\mathbf J^{-1}\mathbf B(\boldsymbol q,\bar{\boldsymbol q}))\rangle\\ "
    r"&+\langle\boldsymbol p,\mathbf B(\bar{\boldsymbol q},(2i\omega_0\mathbf I-\mathbf J)^{-1}\mathbf B(\boldsymbol q,\boldsymbol q))\rangle\big]\end{aligned}"
)
EIGENVALUES = r"\lambda_{1,2}=\pm i\omega_0,\quad\operatorname{Re}\lambda_{3,4}<0"
SIGNS = r"l_1(0)<0:\ \text{supercritical},\qquad l_1(0)>0:\ \text{subcritical}"

HOPF = [
    Claim("Sec. 6.1", "ω_0 at the flutter load, c_i = 1.5", partial(critical_eigenvalue, "omega"), "1.01923", method="eigenvalues of the Jacobian", formula=EIGENVALUES),
    Claim("Sec. 6.1", "Re λ_3,4", partial(critical_eigenvalue, "decay"), "-0.625886", method="eigenvalues of the Jacobian", formula=EIGENVALUES),
    Claim("Sec. 6.1", "Im λ_3,4", partial(critical_eigenvalue, "second"), "0.653007", method="eigenvalues of the Jacobian", formula=EIGENVALUES),
    Claim("Eq. (88)", "crossing speed", lambda: hopf().crossing_speed, "0.0744935", method="left and right eigenvectors",
          formula=r"\frac{\partial\operatorname{Re}\lambda_{1,2}}{\partial\tilde F}(\tilde F_{cr})\neq0"),
    Claim("Sec. 6", "both conditions of Hopf's theorem hold", hopf_conditions, method="both constraints", formula=EIGENVALUES),
    Claim("Sec. 6", "no Hopf point without dissipation: eigenvalues imaginary up to flutter", undamped_has_no_hopf_point, within=1e-9,
          method="spectra at 26 loads", formula=r"\mathbf C=\mathbf 0:\quad\operatorname{Re}\Omega=0\ \text{for}\ \tilde F<\mathcal P_0"),
    Claim("Eq. (90)", "critical eigenvectors with ⟨p, q⟩ = 1", eigenvectors_of_90, within=1e-10, method="residuals, both constraints",
          formula=r"\mathbf J\boldsymbol q=i\omega_0\boldsymbol q,\quad\mathbf J^{\mathsf T}\boldsymbol p=-i\omega_0\boldsymbol p,\quad\langle\boldsymbol p,\boldsymbol q\rangle=1"),
    Claim("Eq. (91)", "l1, skate", lambda: hopf("skate").l1, "-2.1838", method="Kuznetsov's projection", formula=LYAPUNOV),
    Claim("Eq. (91)", "l1, bow", lambda: hopf("bow").l1, "-0.900238", method="Kuznetsov's projection", formula=LYAPUNOV),
    Claim("Eqs. (92), (93)", "real normal form of the Jacobian (with Re v3, Im v3)", real_jordan_form, within=1e-10,
          method="A = [Re q, Im q, Re v3, Im v3]",
          formula=r"\mathbf A^{-1}\mathbf J\mathbf A=\begin{bmatrix}0&\omega_0&0&0\\-\omega_0&0&0&0\\0&0&\operatorname{Re}\lambda_3&\operatorname{Im}\lambda_3\\0&0&-\operatorname{Im}\lambda_3&\operatorname{Re}\lambda_3\end{bmatrix}"),
    Claim("Eq. (94), Sec. 6.1", "V'''(0) = 3π l1", routes_agree, within=1e-9, method="centre manifold of Marsden and McCracken, each damping alone",
          formula=r"V'''(0)=3\pi\,l_1(0)"),
    Claim("Eq. (95)", "negative l1: stable cycles above the flutter load", negative_means_stable, method="Floquet multipliers of the cycles born there", formula=SIGNS),
    Claim("Eq. (95)", "positive l1: unstable cycles below the flutter load", positive_means_unstable, method="the skate with c_i = 25", formula=SIGNS),
    Claim("Fig. 13", "c_i at which l1 of the skate changes sign", partial(threshold, "c_i", (10, 40)), "22.07",
          method="l1 = 0 along the Hopf points", formula=r"l_1(\tilde c_i)=0"),
    Claim("Fig. 13", "c_e at which l1 of the skate changes sign", partial(threshold, "c_e", (300, 700)), "482.14",
          method="l1 = 0 along the Hopf points", formula=r"l_1(\tilde c_e)=0"),
    Claim("Fig. 13", "no sign change of l1, bow with ξ̂", bow_stays_supercritical,
          method="16 magnitudes of each damping up to 1000", formula=r"l_1(0)<0\quad\forall\,r\in(0,1000]"),
    Claim("Sec. 6.2", "θ1 of the misaligned bow, F = 80", partial(bow_at_rest, "theta1"), "-0.050282", method="equilibrium followed from zero load",
          formula=r"\theta_1=-\tilde F\tan\beta_0/\tilde k_1"),
    Claim("Sec. 6.2", "θ2 of the misaligned bow, F = 80", partial(bow_at_rest, "theta2"), "0.701512", method="equilibrium followed from zero load"),
    Claim("Sec. 6.2", "growing eigenvalues of the misaligned bow at F = 80", unstable_pair, "2", method="spectrum about the bent equilibrium"),
    Claim("Sec. 6.2", "flutter load of the misaligned bow", lambda: float(pendulum("bow", **DAMPED, beta0=BETA).flutter(to=200)),
          "78.276", method="along the bent equilibrium path"),
]  # fmt: skip
