"""Closed forms: critical loads as algebraic expressions, for exact numbers or symbols as parameters.

About the origin, the characteristic polynomial det Nᵀ(M ω² + C ω + K + Σ p G)N is formed symbolically, N a
basis of the velocities that the constraints allow. Flutter without damping is a root of its discriminant in
ω², with damping a root of the Hurwitz determinant D_{m−1}; Cazzolli et al. (2020), Eqs. (65)–(71).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import sympy as sm

from pfaff import doors
from pfaff.errors import ParameterError, PfaffError
from pfaff.stability.critical_load import CriticalLoad
from pfaff.statement.evaluation import fraction
from pfaff.statement.expressions import converted, expressed
from pfaff.statement.told import answering
from pfaff.statement.values import instance, number_from
from pfaff.threads import once

if TYPE_CHECKING:
    from pfaff.case import Case
    from pfaff.statement.system import System

omega = sm.Symbol("omega")
AGREEMENT = 1e-8  # between a closed form and the numerical search, relative


@dataclass(frozen=True, repr=False)
class ExactLoad(CriticalLoad):
    """A critical load in closed form.

    ``value`` is a SymPy expression; ``condition`` the polynomial in the load of which it is a root, and ``candidates``
    all its closed-form roots. Where parameters are symbols, the root chosen is the one that holds at ``near``, and in a
    neighbourhood of it.
    """

    condition: Any = None
    candidates: tuple[Any, ...] = ()
    near: Mapping[str, float] | None = None

    def _sympy_(self) -> Any:
        return self.value

    @property
    def status(self) -> str:
        if self.value is None:
            return super().status
        where = ", ".join(f"{name} = {value:g}" for name, value in (self.near or {}).items())
        value = converted(self.value)
        decimal = f" ≈ {float(value):.12g}" if value.is_number and not value.is_Integer else ""
        return f"{self.kind} at {self.load} = {value}{decimal}" + (
            f" (the branch that holds near {where})" if where else ""
        )


@answering
@dataclass(frozen=True)
class ExactLinearisation:
    """M, C and K + Σ p G on the velocities that the constraints allow, as SymPy matrices."""

    M: sm.Matrix
    C: sm.Matrix
    K: sm.Matrix

    def polynomial(self, variable: sm.Symbol) -> sm.Poly:
        instance("variable", variable, sm.Symbol, "give a symbol, variable=sympy.Symbol('s')")
        matrix = self.M * variable**2 + self.C * variable + self.K
        return sm.Poly(sm.expand(matrix.det(method="berkowitz")), variable)


def exact_matrices(case: Case) -> tuple[sm.Matrix, sm.Matrix, sm.Matrix, sm.Matrix]:
    """M, C, K + Σ p G and A at the origin, with the values of the case, exact or symbolic, as they are."""
    system = case.system
    values = {symbol: exact_value(case.values[symbol.name], symbol) for symbol in system.parameters}
    p, *derived = _at_origin(system)
    balance, M, C, K, A = (matrix.xreplace(values) for matrix in derived)
    K = K.xreplace(_reactions(system.name, balance, p))
    _check_origin(system, values)
    return M, C, K, A


@once(most=1)
def _at_origin(system: System) -> tuple[sm.Matrix, ...]:
    """The reactions p as symbols, forces h + Aᵀp, M, ∂h/∂v, ∂(h + Aᵀp)/∂q and A, all at the origin."""
    s, equations = system.statement, system.equations("lagrange")
    straight, still = dict.fromkeys(s.q, sm.S.Zero), _resting(system)
    h, A, M = (
        matrix.xreplace(s.to_plain)
        for matrix in (equations.forcing, equations.constraint_matrix, equations.mass_matrix)
    )
    A = A if A.rows else sm.zeros(0, len(s.q))
    p = sm.Matrix(A.rows, 1, sm.symbols(f"reaction1:{A.rows + 1}"))
    balance = h.xreplace(still) + (A.T * p if A.rows else sm.zeros(*h.shape))
    K, C = balance.jacobian(s.q), h.xreplace(straight).jacobian(s.v)
    return p, *(matrix.xreplace(straight).xreplace(still) for matrix in (balance, M, C, K, A))


def _resting(system: System) -> dict[sm.Basic, sm.Expr]:
    """The velocities of what rests, in coordinates that move along with the constraints if these move uniformly."""
    s, w = system.statement, system.uniform_motion
    return dict.fromkeys(s.v, sm.S.Zero) if not w else {**dict(zip(s.v, w, strict=True)), s.time: sm.S.Zero}


def exact_reduction(A: sm.Matrix) -> sm.Matrix:
    """A basis of the velocities that the constraints allow, column by column."""
    kernel = A.nullspace() if A.rows else [sm.eye(A.cols)[:, i] for i in range(A.cols)]
    return sm.Matrix.hstack(*kernel) if kernel else sm.zeros(A.cols, 0)


def exact_linearisation(case: Case) -> ExactLinearisation:
    """The small motions about the origin, on the velocities that the constraints allow."""
    M, C, K, A = exact_matrices(case)
    N = exact_reduction(A)
    return ExactLinearisation(*(_tidy(N.T * matrix * N) for matrix in (M, C, K)))


def characteristic_polynomial(case: Case) -> sm.Poly:
    """ρ_0 … ρ_m of Eq. (44) as a polynomial in ω."""
    return exact_linearisation(case).polynomial(omega)


def exact_load(
    case: Case, load: str, kind: str, near: Mapping[str, float] | None = None, to: float | None = None
) -> ExactLoad:
    """A critical load in closed form, checked against the numerical search."""
    if case.system.rods:
        return doors.rod_characteristic.rod_load(case, load, kind, to)
    F = sm.Symbol(load, real=True)
    exact = exact_linearisation(case.at(**{load: F}))
    reference, sample = numeric_reference(case, near, exclude=load)
    found = getattr(reference.critical(load, to), kind)
    if not found:
        condition = _conditions(exact, kind, F)[0]()
        return ExactLoad(**{**_fields(found), "case": case}, condition=condition, near=sample or None)
    for form in _conditions(exact, kind, F):
        condition = form()
        candidates = closed_roots(condition, F)
        value = matching_root(candidates, float(found), sample)
        if value is not None:
            break
    else:
        raise PfaffError(
            f"the load {float(found):.12g} is a root of a polynomial without a closed form in radicals: "
            "ask for the number, or give numbers for more parameters"
        )
    return ExactLoad(
        **{**_fields(found), "value": value, "case": case},
        condition=condition,
        candidates=tuple(candidates),
        near=sample or None,
    )


def limit_condition(case: Case, load: str, direction: Mapping[str, Any]) -> sm.Poly:
    """The polynomial in the load whose root is the limit of vanishing damping along a direction.

    It is the coefficient of the lowest power of ε in D_{m−1} for damping ε times the direction, whose
    components may be symbols.
    """
    F, epsilon = sm.Symbol(load, real=True), sm.Symbol("epsilon", positive=True)
    along = case.at(
        **{load: F, **{name: epsilon * expressed(share, {}, name, ParameterError) for name, share in direction.items()}}
    )
    condition = sm.Poly(hurwitz_condition(exact_linearisation(along).polynomial(omega)), epsilon)
    lowest_power = condition.monoms()[-1][0]
    return sm.Poly(condition.all_coeffs()[-1 - lowest_power], F)


def hurwitz_condition(polynomial: sm.Poly) -> sm.Expr:
    """D_{m−1}, which vanishes where two roots are opposite (Orlando)."""
    rho = polynomial.all_coeffs()
    m = len(rho) - 1
    H = sm.Matrix(m - 1, m - 1, lambda i, j: rho[2 * i - j + 1] if 0 <= 2 * i - j + 1 <= m else 0)
    return sm.expand(H.det(method="berkowitz"))


def _conditions(exact: ExactLinearisation, kind: str, F: sm.Symbol) -> list[Callable[[], sm.Poly]]:
    """Polynomials in the load that may vanish at a critical load of this kind, the likeliest first."""
    polynomial = exact.polynomial(omega)
    coefficients = polynomial.all_coeffs()

    def static() -> sm.Poly:
        return sm.Poly(coefficients[-1], F)

    def meeting() -> sm.Poly:
        return sm.Poly(sm.discriminant(polynomial), F)

    def meeting_of_squares() -> sm.Poly:
        return sm.Poly(sm.discriminant(sm.Poly(coefficients[::2], sm.Symbol("s"))), F)

    def crossing() -> sm.Poly:
        return sm.Poly(hurwitz_condition(polynomial), F)

    if kind == "buckling":
        return [static]
    if all(c == 0 for c in coefficients[1::2]):  # no damping: only even powers
        return [meeting_of_squares, static]
    return [static, meeting] if kind == "divergence" else [crossing, static, meeting]


def _fields(found: CriticalLoad) -> dict[str, Any]:
    return {name: getattr(found, name) for name in CriticalLoad.__dataclass_fields__}


def closed_roots(condition: sm.Poly, F: sm.Symbol) -> list[sm.Expr]:
    """Roots of the irreducible factors: in radicals up to degree two, as algebraic numbers beyond."""
    found: list[sm.Expr] = []
    for factor, _ in sm.factor_list(condition.as_expr(), F)[1]:
        piece = sm.Poly(factor, F)
        if piece.degree() <= 2:
            found.extend(sm.radsimp(sm.simplify(root)) for root in sm.roots(piece, multiple=True))
        elif not piece.free_symbols_in_domain:
            found.extend(piece.real_roots())
    return found


def matching_root(candidates: list[sm.Expr], wanted: float, sample: Mapping[str, float]) -> sm.Expr | None:
    """The closed form that equals the number found by search, if there is one."""
    for candidate in candidates:
        value = complex(candidate.subs({s: sample[s.name] for s in candidate.free_symbols}).evalf(30))
        if abs(value - wanted) <= AGREEMENT * abs(wanted):
            return candidate
    return None


def numeric_reference(case: Case, near: Mapping[str, float] | None, exclude: str) -> tuple[Case, dict[str, float]]:
    """Numbers for the symbols in a case: those given, else the system's defaults, else one."""
    free = {name: value for name, value in case.values.items() if isinstance(value, sm.Expr) and value.free_symbols}
    free.pop(exclude, None)
    symbols = set().union(*(value.free_symbols for value in free.values())) if free else set()
    defaults = {symbol.name: float(value) for symbol, value in case.system.parameters.items() if value}
    sample = {s.name: number_from(s.name, (near or {}).get(s.name, defaults.get(s.name, 1.0))) for s in symbols}
    numbers = {name: float(value.subs({s: sample[s.name] for s in value.free_symbols})) for name, value in free.items()}
    return case.at(**numbers).unchecked(**{exclude: 0.0}), dict(sorted(sample.items()))


def exact_value(value: Any, symbol: sm.Symbol) -> sm.Expr:
    """A float stands for the decimal that it prints: 1.5 is 3/2."""
    if value is None:
        raise ParameterError(f"parameter {symbol.name!r} has no value: give it a number or a symbol")
    return fraction(str(value)) if isinstance(value, float) else converted(value)


def _reactions(name: str, balance: sm.Matrix, p: sm.Matrix) -> dict[sm.Symbol, sm.Expr]:
    solutions = sm.solve(list(balance), list(p), dict=True) if p.rows else [{}]
    residual = balance.subs(solutions[0]) if solutions else balance
    if not solutions or any(sm.simplify(e) != 0 for e in residual):
        raise PfaffError(
            f"the origin is no equilibrium of {name} for these values: closed forms are about the origin, "
            "ask for numbers instead"
        )
    return solutions[0]


def _check_origin(system: System, values: Mapping[sm.Symbol, Any]) -> None:
    """Raise unless the origin obeys the constraints, and these are without a term b(q), which would add roots of its
    own."""
    s, resting = system.statement, _resting(system)
    origin = {**dict.fromkeys(s.q, sm.S.Zero), **resting}
    if any(sm.simplify(f.xreplace(origin).xreplace(values)) != 0 for f in s.positions):
        raise PfaffError(f"the origin violates a holonomic constraint of {system.name}: ask for numbers instead")
    still = [c.subs(resting).subs(values) for c in s.constraints[: s.nonholonomic]]
    if any(sm.simplify(b) != 0 for b in still):
        raise PfaffError(
            f"a constraint of {system.name} has a term b(q) beside the velocities: closed forms do not cover it, "
            "ask for numbers instead"
        )


def _tidy(matrix: sm.Matrix) -> sm.Matrix:
    return matrix.applyfunc(sm.simplify)
