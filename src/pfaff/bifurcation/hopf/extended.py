"""A Hopf point by Newton's method on the extended system f = 0, A q = iω q, and all that is known about it there."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from pfaff.algebra.bordering import Border, balanced, bordering
from pfaff.algebra.newtons_method import Stopping, newton
from pfaff.bifurcation.hopf.crossing import at_crossing, crosses, crossing_of, others
from pfaff.bifurcation.hopf.hopf import Hopf
from pfaff.bifurcation.hopf.normal_form import Cubic, Expansion, cubic
from pfaff.errors import ConvergenceError
from pfaff.rest.field import Field

if TYPE_CHECKING:
    from pfaff.case import Bound

STEPS = 25  # most Newton steps, from crossings known to some digits
BESIDE = Stopping(4, exact=0.0, settled=0.0)  # for an equilibrium at a nearby load
TIE = 1e-6  # relative difference of components that count as equally large: the first decides
SEMISIMPLE = 1e-6  # null vectors nearer to orthogonal than this form a Jordan block


def hopf_of(
    case: Bound,
    around: Field,
    border: Border,
    x: np.ndarray,
    load: float,
    omega: float,
    spectrum: Callable[[np.ndarray, float], np.ndarray],
    origin: float,
    asked: Mapping[str, Any],
) -> Hopf:
    """The Hopf point known to be here, with the frequency ω; ``spectrum`` leaves structural zeros out."""
    A = around.jacobian(x, load)
    q, p = _normalised(A, omega)
    values = at_crossing(spectrum(x, load), omega)
    crossing = crossing_of(around, border, x, load, q, p)
    expansion = _expansion(around, border, x, load, omega, A, q, p, crossing)
    return Hopf(
        case=case.unchecked(**{around.load: load}),
        load=around.load,
        value=load,
        omega=omega,
        states=around.flow.states,
        x=x,
        eigenvalues=values,
        structural_zeros=around.zeros,
        q=q,
        p=p,
        distance=float(np.abs(others(values, omega).real).min(initial=np.inf)),
        crossing=crossing,
        normal_form=cubic_of(expansion, values, around.load, load),
        expansion=expansion,
        origin=origin,
        asked=asked,
        around=around,
    )


def cubic_of(expansion: Expansion, values: np.ndarray, name: str, load: float) -> Cubic:
    try:
        return cubic(expansion)
    except np.linalg.LinAlgError as problem:
        rest, twice = others(values, expansion.omega), 2j * expansion.omega
        resonant = np.abs(rest - twice).min(initial=np.inf) < np.abs(rest).min(initial=np.inf)
        what = "another eigenvalue is twice the critical one (a resonance)" if resonant else "an eigenvalue is zero too"
        raise ConvergenceError(
            f"at the Hopf point at {name} = {load:.10g} {what}, so that there is no normal form of the pair alone: "
            "change another parameter, such as a damping"
        ) from problem


def normal_form_at(around: Field, x: np.ndarray, load: float, omega: float) -> tuple[Expansion, Cubic]:
    """The expansion and the normal form to third order where ±iω are eigenvalues."""
    A = around.jacobian(x, load)
    q, p = _normalised(A, omega)
    border = bordering(A, around.zeros, around.held) if around.zeros else None
    crossing = crossing_of(around, border, x, load, q, p) if border is not None and around.loaded else 0j
    expansion = _expansion(around, border, x, load, omega, A, q, p, crossing)
    return expansion, cubic(expansion)


def _expansion(
    around: Field,
    border: Border | None,
    x: np.ndarray,
    load: float,
    omega: float,
    A: np.ndarray,
    q: np.ndarray,
    p: np.ndarray,
    crossing: complex,
) -> Expansion:
    left, right = _family(A, around)

    def beside(distance: float) -> tuple[complex, np.ndarray]:
        assert border is not None
        return _drift(around, border, x, q, right, load + distance * omega / abs(crossing))

    known = right.shape[1] and crosses(crossing)
    return Expansion(A, partial(around.form, x, load), omega, q, p, left, right, beside if known else None)


def _drift(
    around: Field, border: Border, x: np.ndarray, q: np.ndarray, right: np.ndarray, load: float
) -> tuple[complex, np.ndarray]:
    """The critical eigenvalue and the drift P·B(q, q̄) along a family at a load beside that of a Hopf point."""

    def step(x: np.ndarray) -> tuple[np.ndarray, float]:
        change = border.solve(around.jacobian(x, load), around.rhs(x, load))
        return x - change, float(np.abs(change).max())

    x = newton(step, x, BESIDE).at
    A = around.jacobian(x, load)
    values, vectors = np.linalg.eig(A)
    k = int(np.abs(q.conj() @ vectors).argmax())
    there = vectors[:, k] / np.linalg.norm(vectors[:, k])
    left = bordering(A, around.zeros).left
    left = left @ np.linalg.inv(right.T @ left)
    return complex(values[k]), (left.T @ around.form(x, load, there, there.conj())).real


def hopf_near(
    around: Field, border: Border, x: np.ndarray, load: float, critical: complex
) -> tuple[np.ndarray, float, float]:
    """The Hopf point near an equilibrium with a nearly imaginary pair: its x, load and ω.

    Newton's method on f(x, load) = 0, A q = iω q, ⟨c, q⟩ = 1 for these and q.
    """
    values, vectors = np.linalg.eig(around.jacobian(x, load))
    q = vectors[:, np.abs(values - critical).argmin()]
    q, c, omega, held = q / np.linalg.norm(q), q / np.linalg.norm(q), critical.imag, border.rows @ x
    n, k = len(x), len(border.rows)

    def step(at: tuple[Any, ...]) -> tuple[tuple[Any, ...], float] | None:
        x, load, omega, q, unfolding = at
        residual, jacobian = _extended(around, border, c, held, x, load, omega, q, unfolding)
        change = -_equilibrated(jacobian, residual)
        if not np.isfinite(change).all():
            return None
        x, load, omega = x + change[:n], load + change[n], omega + change[n + 1]
        q = q + change[n + 2 : 2 * n + 2] + 1j * change[2 * n + 2 : 3 * n + 2]
        size = max(abs(change[n + 1]) / abs(omega), np.abs(change[n + 2 : 3 * n + 2]).max())
        return (x, load, omega, q, unfolding + change[3 * n + 2 :]), float(size)

    found = newton(step, (x, load, omega, q, np.zeros(k)), Stopping(STEPS))
    if found.settled:
        x, load, omega, *_ = found.at
        return x, float(load), float(omega)
    raise ConvergenceError(
        f"Newton's method did not settle at the Hopf point near {around.load} = {load:.10g}: the pair may touch the "
        "imaginary axis without crossing it, or meet another"
    )


def _extended(
    around: Field,
    border: Border,
    c: np.ndarray,
    held: np.ndarray,
    x: np.ndarray,
    load: float,
    omega: float,
    q: np.ndarray,
    unfolding: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Residual and Jacobian of the extended system in (x, load, ω, Re q, Im q, unfolding of a family)."""
    n, k = len(x), len(unfolding)
    A, (f_load, A_load) = around.jacobian(x, load), around.by_load(x, load)
    shifted = A - 1j * omega * np.eye(n)
    by_x = np.column_stack([around.form(x, load, e, q) for e in np.eye(n)])
    vector = np.column_stack([by_x, A_load @ q, -1j * q, shifted, 1j * shifted])
    zeros = np.zeros
    rows = [
        np.column_stack([A, f_load, zeros((n, 2 * n + 1)), border.columns]),
        np.column_stack([vector.real, zeros((n, k))]),
        np.column_stack([vector.imag, zeros((n, k))]),
        np.column_stack([zeros((1, n + 2)), c.real[None], c.imag[None], zeros((1, k))]),
        np.column_stack([zeros((1, n + 2)), -c.imag[None], c.real[None], zeros((1, k))]),
        np.column_stack([border.rows, zeros((k, 2 * n + 2 + k))]),
    ]
    scale = np.vdot(c, q) - 1
    residual = [around.rhs(x, load) + border.columns @ unfolding, (shifted @ q).real, (shifted @ q).imag]
    return np.concatenate([*residual, [scale.real, scale.imag], border.rows @ x - held]), np.vstack(rows)


def _equilibrated(matrix: np.ndarray, right: np.ndarray) -> np.ndarray:
    """The solution with rows, then columns, scaled to unit size: states and loads come in any units."""
    rows = np.abs(matrix).max(axis=1, keepdims=True)
    columns = np.abs(matrix / np.where(rows, rows, 1.0)).max(axis=0)
    rows, columns = np.where(rows, rows, 1.0), np.where(columns, columns, 1.0)
    try:
        return np.linalg.solve(matrix / rows / columns, right / rows[:, 0]) / columns
    except np.linalg.LinAlgError:
        return np.full(len(right), np.nan)


def _normalised(A: np.ndarray, omega: float) -> tuple[np.ndarray, np.ndarray]:
    """q with Aq = iω q, ⟨q, q⟩ = 1, its largest component real and positive, and p with Aᵀp = −iω p, ⟨p, q⟩ = 1."""
    matrix, scale = balanced(A)
    shifted = matrix - 1j * omega * np.eye(len(A))
    left, _, right = np.linalg.svd(shifted)
    rough = right[-1].conj(), left[:, -1]
    q, p = _null(shifted, *rough) * scale, _null(shifted.T.conj(), *rough[::-1]) / scale
    q = phased(q / np.linalg.norm(q))
    return q, p / np.conj(np.vdot(p, q))


def phased(q: np.ndarray) -> np.ndarray:
    """A mode with its largest component real and positive."""
    largest = q[(np.abs(q) > (1 - TIE) * np.abs(q).max()).argmax()]
    return q * (abs(largest) / largest)


def _null(matrix: np.ndarray, right: np.ndarray, left: np.ndarray) -> np.ndarray:
    """The right null vector of a matrix, from rough ones of both sides, whose errors are those of its largest entries.

    In stiff systems these belong to other rows, which do not disturb the solution of equations.
    """
    whole = np.block([[matrix, left[:, None]], [right.conj()[None], np.zeros((1, 1))]])
    found = _equilibrated(whole, np.append(np.zeros(len(matrix)), 1.0))[:-1]
    return found if np.isfinite(found).all() else right


def _family(A: np.ndarray, around: Field) -> tuple[np.ndarray, np.ndarray]:
    """Left and right null vectors with left·right = 1."""
    if not around.zeros:
        return np.zeros((len(A), 0)), np.zeros((len(A), 0))
    border = bordering(A, around.zeros)
    overlap = border.right.T @ border.left
    if np.linalg.svd(overlap)[1].min(initial=1.0) < SEMISIMPLE or border.right.shape[1] < around.zeros:
        raise ConvergenceError(
            "the zero eigenvalues of the family of equilibria form a Jordan block (steady motions along it), so that "
            "there is no normal form: describe the motion along it by an ignorable coordinate, or damp it"
        )
    return border.left @ np.linalg.inv(overlap), border.right
