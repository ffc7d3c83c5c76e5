"""Bottema's systems: the smallest conservative ones that flutter because a constraint is nonholonomic.

Bottema (1949), On the small vibrations of non-holonomic systems, Indag. Math. 11.
"""

from __future__ import annotations

import sympy as sm

from pfaff.errors import StatementError
from pfaff.statement import TIME as t
from pfaff.statement import System, coordinates
from pfaff.statement.values import whole_number

MANY = 20  # coordinates


def bottema() -> System:
    """Three coordinates, V = a x3 + ½ Σ b_ij x_i x_j, and c x1 ẋ2 + a ẋ3 = 0.

    At the origin p⁴ + (b11 + b22) p² + b11 b22 − b12 (b12 − c) = 0: it flutters where
    (b11 − b22)² + 4 b12² < 4 c b12.
    """
    x = coordinates("x1 x2 x3")
    a, c = sm.symbols("a c", real=True)
    b = {(i, j): sm.Symbol(f"b{i + 1}{j + 1}", real=True) for i in range(3) for j in range(i, 3)}
    stiffness = sum(b[i, j] * x[i] * x[j] * (1 if i == j else 2) for i, j in b) / 2
    return System(
        coordinates=x,
        kinetic=sum(xi.diff(t) ** 2 for xi in x) / 2,
        potential=a * x[2] + stiffness,
        nonholonomic_constraints=[c * x[0] * x[1].diff(t) + a * x[2].diff(t)],
        parameters={a: 1, c: 0, **{s: {"b11": 1, "b22": 2, "b12": 1}.get(s.name, 0) for s in b.values()}},
        load=c,
        meanings={
            a: "force along x3, and coefficient of its velocity in the constraint",
            c: "coefficient of x1 times the velocity of x2 in the constraint",
            **{s: f"stiffness between x{i + 1} and x{j + 1}" for (i, j), s in b.items()},
        },
        name="Bottema's example",
    )


def bottema_general(n: int = 4, m: int = 2) -> System:
    """The general case: n coordinates and m relations, linear about the origin.

    V = Σ a_ik x_i + ½ Σ b_ij x_i x_j with relations Σ_i (a_ik + Σ_j c_ijk x_j) ẋ_i = 0.

    Parameters are ``m11…`` (inertia), ``b11…`` (stiffness), ``a11…`` (a_ik) and ``c111…`` (c_ijk). By default
    unit masses and stiffnesses, relation k along x_(n−m+k), and no coupling: set the c_ijk to see the
    determinant become essentially unsymmetric.
    """
    remedy = "its n²m coefficients would be too many to name, ask for fewer"
    for name, value in (("n", n), ("m", m)):
        whole_number(name, value, 1, MANY, remedy, StatementError)
    if m >= n:
        raise StatementError(f"Bottema's general case with n={n}, m={m}: whole numbers with 1 ≤ m < n are needed")
    x = coordinates(" ".join(f"x{i + 1}" for i in range(n)))
    pairs = [(i, j) for i in range(n) for j in range(i, n)]
    label = _label(n)
    mass = {ij: sm.Symbol(f"m{label(*ij)}", real=True) for ij in pairs}
    b = {ij: sm.Symbol(f"b{label(*ij)}", real=True) for ij in pairs}
    a = {(i, k): sm.Symbol(f"a{label(i, k)}", real=True) for i in range(n) for k in range(m)}
    c = {(i, j, k): sm.Symbol(f"c{label(i, j, k)}", real=True) for i in range(n) for j in range(n) for k in range(m)}
    double = {ij: 1 if ij[0] == ij[1] else 2 for ij in pairs}
    relations = [
        sum((a[i, k] + sum(c[i, j, k] * x[j] for j in range(n))) * x[i].diff(t) for i in range(n)) for k in range(m)
    ]
    return System(
        coordinates=x,
        kinetic=sum(mass[ij] * double[ij] * x[ij[0]].diff(t) * x[ij[1]].diff(t) for ij in pairs) / 2,
        potential=sum(a[i, k] * x[i] for i, k in a) + sum(b[ij] * double[ij] * x[ij[0]] * x[ij[1]] for ij in pairs) / 2,
        nonholonomic_constraints=relations,
        parameters={
            **{symbol: int(i == j) for (i, j), symbol in mass.items()},
            **{symbol: int(i == j) for (i, j), symbol in b.items()},
            **{symbol: int(i == n - m + k) for (i, k), symbol in a.items()},
            **dict.fromkeys(c.values(), 0),
        },
        load=c[1, 0, 0],
        accept_integrable=n - m < 2,  # one degree of freedom is always holonomic
        meanings={
            **{s: f"inertia between x{i + 1} and x{j + 1}" for (i, j), s in mass.items()},
            **{s: f"stiffness between x{i + 1} and x{j + 1}" for (i, j), s in b.items()},
            **{s: f"share of x{i + 1} in relation {k + 1}" for (i, k), s in a.items()},
            **{s: f"how it changes with x{j + 1}: of x{i + 1} in relation {k + 1}" for (i, j, k), s in c.items()},
        },
        name=f"Bottema's general case, n = {n}, m = {m}",
    )


def _label(n: int):
    """Indices from one, run together while they have a single digit."""
    return lambda *indices: ("_" if n > 9 else "").join(str(i + 1) for i in indices)
