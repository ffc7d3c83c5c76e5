"""A Hopf point of a large sparse flow, to rounding, and its normal form by sparse factors.

f = 0 and g = 0, with g that of the bordered system (A − iω) v + b g = 0, ⟨c, v⟩ = 1: a complex equation for the load
and ω (Govaerts 2000, Sec. 4.3). The equilibrium is regular there, and is eliminated.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from pfaff.algebra.newtons_method import Stopping, newton
from pfaff.algebra.sparse_borders import Factors, bordered, null_vectors, shifted
from pfaff.bifurcation.hopf.crossing import at_crossing, others
from pfaff.bifurcation.hopf.extended import STEPS, cubic_of, phased
from pfaff.bifurcation.hopf.hopf import Hopf
from pfaff.bifurcation.hopf.normal_form import Cubic, Expansion, cubic
from pfaff.errors import ConvergenceError
from pfaff.stability.rightmost import rightmost

if TYPE_CHECKING:
    from pfaff.bifurcation.equilibria.many_states.sparse_equations import SparseRestEquations


class SparseExpansion(Expansion):
    """The expansion with a sparse A, and no family of equilibria."""

    def resolvent(self, harmonic: int, right: np.ndarray) -> np.ndarray:
        matrix = -shifted(self.A, 1j * harmonic * self.omega) if harmonic else -self.A
        if harmonic == 1:
            around = bordered(matrix, self.q[:, None], self.p.conj()[None])
            return around.solve(np.append(right, 0.0))[:-1]
        return Factors(matrix).solve(right)


def sparse_hopf(s: SparseRestEquations, z: np.ndarray, omega: float, origin: float | None = None) -> Hopf:
    """The Hopf point near z, where a pair is nearly ±iω; the load is the first free parameter."""
    z, omega = _settled(s, z, omega)
    n, load = s.n, float(z[s.n])
    J: Any = s.jacobian(z)
    A, push = J[:, :n], J[:, [n]].toarray()[:, 0]
    q, p = sparse_modes(A, omega)
    try:
        moved = -Factors(A).solve(push)
    except np.linalg.LinAlgError as problem:
        raise ConvergenceError(f"an eigenvalue passes zero at the Hopf point at {s.free[0]} = {load:.10g}") from problem
    values = at_crossing(rightmost(A).values, omega)
    expansion = _expansion(s, z, omega, A, q, p)
    crossing = np.vdot(p, expansion.form(moved, q)) + s.bent(z, p.conj(), _along(s, z, np.zeros(n)))[:n] @ q
    return Hopf(
        case=s.case_at(z),
        load=s.free[0],
        value=load,
        omega=omega,
        states=s.flow.states,
        x=s.x(z),
        eigenvalues=values,
        structural_zeros=0,
        q=q,
        p=p,
        distance=float(np.abs(others(values, omega).real).min(initial=np.inf)),
        crossing=complex(crossing),
        normal_form=cubic_of(expansion, values, s.free[0], load),
        expansion=expansion,
        origin=float(s.origins[0] if origin is None else origin),
        asked={"load": s.free[0], "near": load},
        around=s.field(z),
    )


def sparse_modes(A: Any, omega: float) -> tuple[np.ndarray, np.ndarray]:
    """q with A q = iω q, ⟨q, q⟩ = 1, its largest component real and positive, and p with Aᵀp = −iω p, ⟨p, q⟩ = 1."""
    q, p = null_vectors(shifted(A, 1j * omega))
    q = phased(q)
    return q, p / np.conj(np.vdot(p, q))


def sparse_normal_form(s: SparseRestEquations, z: np.ndarray, omega: float) -> tuple[Expansion, Cubic]:
    """The expansion and the normal form to third order where ±iω are eigenvalues."""
    A = s.state_jacobian(z)
    expansion = _expansion(s, z, omega, A, *sparse_modes(A, omega))
    return expansion, cubic(expansion)


def _expansion(
    s: SparseRestEquations, z: np.ndarray, omega: float, A: Any, q: np.ndarray, p: np.ndarray
) -> SparseExpansion:
    form, none = partial(s.field(z).form, s.x(z), float(z[s.n])), np.zeros((s.n, 0))
    return SparseExpansion(A, form, omega, q, p, none, none)


def _along(s: SparseRestEquations, z: np.ndarray, way: np.ndarray) -> np.ndarray:
    """The direction in z in which the first free parameter grows by one and the states move by ``way``."""
    return np.concatenate([way, [1.0], np.zeros(len(z) - s.n - 1)])


def _settled(s: SparseRestEquations, z: np.ndarray, omega: float) -> tuple[np.ndarray, float]:
    """z and ω of the Hopf point, by Newton's method."""
    n = s.n
    c, b = null_vectors(shifted(s.state_jacobian(z), 1j * omega))
    unit = np.append(np.zeros(n), 1.0)

    def step(at: tuple[np.ndarray, float]) -> tuple[tuple[np.ndarray, float], float] | None:
        z, omega = at
        rates, J = s.evaluated(z)
        A, push = J[:, :n], J[:, [n]].toarray()[:, 0]
        try:
            around, factors = bordered(shifted(A, 1j * omega), b[:, None], c.conj()[None]), Factors(A)
            v, w = around.solve(unit), around.solve(unit, transposed=True)[:n]
            left, way = factors.solve(rates), _along(s, z, -factors.solve(push))
        except np.linalg.LinAlgError:
            return None
        g, v = v[n], v[:n]
        parts = (np.append(part, np.zeros(len(z) - n)) for part in (v.real, v.imag))
        real, imaginary = (s.bent(z, w, part) for part in parts)
        gradient = -(real + 1j * imaginary)
        by_load, by_omega, rest = gradient @ way, 1j * (w @ v), g - gradient[:n] @ left
        matrix = np.array([[by_load.real, by_omega.real], [by_load.imag, by_omega.imag]])
        dload, domega = -np.linalg.solve(matrix, [rest.real, rest.imag])
        change = dload * way
        change[:n] -= left
        size = max(abs(domega) / abs(omega), float(np.abs(change / s.sizes).max()))
        return ((z + change, float(omega + domega)), size) if np.isfinite(size) else None

    found = newton(step, (z, omega), Stopping(STEPS))
    if found.settled:
        return found.at
    raise ConvergenceError(
        f"Newton's method did not settle at the Hopf point near {s.free[0]} = {z[n]:.10g}: the pair may touch the "
        "imaginary axis without crossing it, or meet another"
    )
