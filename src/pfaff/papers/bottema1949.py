"""Bottema (1949): the frequency equation of his example, its flutter, and the unsymmetric determinant."""

from __future__ import annotations

from typing import Any

import numpy as np
import sympy as sm

from pfaff.atlas import bottema, bottema_general
from pfaff.papers import PAPERS
from pfaff.papers.reproduction import Claim, Paper, Section

SAMPLES = 50


def frequency_equation() -> float:
    """p⁴ + (b11 + b22) p² + b11 b22 − b12 (b12 − c) = 0, with every parameter a symbol."""
    system = bottema()
    symbols = {s.name: s for s in system.parameters}
    ours = system.at(**symbols).characteristic(exact=True).monic()
    b11, b22, b12, c = (symbols[name] for name in ("b11", "b22", "b12", "c"))
    printed = ours.gen**4 + (b11 + b22) * ours.gen**2 + b11 * b22 - b12 * (b12 - c)
    return float(sm.simplify(ours.as_expr() - printed) != 0)


def flutter_threshold() -> float:
    """Flutter begins where (b11 − b22)² + 4 b12² − 4 c b12 changes sign."""
    worst = 0.0
    for b11, b22, b12 in np.random.default_rng(1949).uniform(0.5, 3, (SAMPLES, 3)):
        b12 *= 0.4 * np.sqrt(b11 * b22) / 3  # a positive definite stiffness: stable without the constraint's part
        expected = ((b11 - b22) ** 2 + 4 * b12**2) / (4 * b12)
        found = bottema().at(b11=b11, b22=b22, b12=b12).flutter(to=2 * expected)
        worst = max(worst, abs(float(found) / expected - 1))
    return worst


def zero_roots() -> float:
    """m structural zero roots, and 2(n − m) others."""
    off = 0
    for n, m in ((3, 1), (4, 1), (4, 2), (5, 3)):
        spectrum = bottema_general(n, m).at(**_random_values(n, m)).spectrum()
        off += abs(spectrum.structural_zeros - m) + abs(len(spectrum.values) - 2 * (n - m))
    return float(off)


def holonomic_symmetric() -> float:
    """Relations with c_ijk = c_jik are integrable and give a determinant that can be made symmetric."""
    values = {name: x for name, x in _random_values(4, 1).items() if not name.startswith("c")}
    generator = np.random.default_rng(3)
    for i in range(1, 5):
        for j in range(i, 5):
            values[f"c{i}{j}1"] = values[f"c{j}{i}1"] = float(generator.normal())
    return bottema_general(4, 1).at(**values).linearise().asymmetry


def nonholonomic_unsymmetric() -> float:
    """Others give one that cannot: the asymmetry stays, whatever is added to rows and columns."""
    return float(bottema_general(4, 1).at(**_random_values(4, 1)).linearise().symmetrisable)


def _random_values(n: int, m: int) -> dict[str, float]:
    """Definite inertia and stiffness, and random relations."""
    generator = np.random.default_rng(n + 10 * m)
    system = bottema_general(n, m)
    values: dict[str, Any] = {}
    for symbol in system.parameters:
        name = symbol.name
        diagonal = name[0] in "mb" and name[1] == name[2]
        values[name] = float(generator.normal() * 0.2 + (2.0 if diagonal else 0.0))
    for i in range(1, n + 1):
        for k in range(1, m + 1):
            values[f"a{i}{k}"] += float(i == n - m + k)
    return values


PAPER = Paper(
    key="bottema1949",
    title=PAPERS["bottema1949"],
    systems=[bottema],
    about="Small vibrations about an equilibrium of a system with relations that are linear in the velocities: the determinant is "
    "essentially unsymmetric, and a conservative system may flutter.",
    sections=[
        Section("The example", [
            Claim("Eq. (8), example", "frequency equation of the example", frequency_equation, method="symbolically",
                  formula=r"p^4+(b_{11}+b_{22})p^2+b_{11}b_{22}-b_{12}(b_{12}-c)=0"),
            Claim("p. 849, discriminant", "flutter where the discriminant is negative", flutter_threshold, within=1e-10,
                  method=f"{SAMPLES} random stiffnesses", formula=r"(b_{11}-b_{22})^2+4b_{12}^2-4c\,b_{12}<0"),
        ]),
        Section("The general case", [
            Claim("general case", "m zero roots and 2(n − m) others", zero_roots, method="four sizes (n, m)"),
            Claim("general case", "holonomic: D can be made symmetric", holonomic_symmetric, within=1e-9, method="random coefficients, c_ijk = c_jik"),
            Claim("general case", "nonholonomic: D is essentially unsymmetric", nonholonomic_unsymmetric, method="random coefficients"),
        ]),
    ],
)  # fmt: skip
