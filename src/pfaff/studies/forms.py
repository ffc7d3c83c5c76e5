"""The normal form to third order at many Hopf points at once (Kuznetsov 2004, Sec. 5.4), as
``bifurcation.hopf.normal_form``."""

from __future__ import annotations

import numpy as np

from pfaff.kernels import many_matrices
from pfaff.studies.along_loads import at_loads
from pfaff.studies.first_crossings import Crossings, bilinear
from pfaff.studies.frames import Frame

DOUBTFUL = 3e-4  # real parts below this, relative to their terms, have fewer than ten digits


def first_coefficients(frame: Frame, parameters: np.ndarray, at: Crossings) -> tuple[np.ndarray, np.ndarray]:
    """l1 = Re c1/ω of all points, and for which it is not in doubt."""
    own = at_loads(frame, parameters, at.load)
    x, p, omega = at.x, at.p, at.value.imag
    r, i = np.ascontiguousarray(at.q.real), np.ascontiguousarray(at.q.imag)
    second, third = _lines(frame, x, own, r, i)
    bent = _bent(frame, x, own, r, i, second, omega)
    c1 = (p.conj() * (third + bent)).sum(axis=0) / 2
    usual = (np.abs(p) * (np.abs(third) + np.abs(bent))).sum(axis=0) / 2
    sure = np.abs(c1.real) > DOUBTFUL * usual
    return c1.real / omega, sure & np.isfinite(c1)


def _bent(
    frame: Frame,
    x: np.ndarray,
    own: np.ndarray,
    r: np.ndarray,
    i: np.ndarray,
    second: tuple[np.ndarray, np.ndarray, np.ndarray],
    omega: np.ndarray,
) -> np.ndarray:
    """B(q̄, h20) + 2 B(q, h11): zero where B vanishes, as by symmetry about many straight equilibria."""
    rr, ii, ri = second
    if not any(each.any() for each in second):
        return np.zeros_like(rr)
    J = frame.jacobians(x, own)
    h20 = _resolvent(frame, J, 2j * omega, rr - ii + 2j * ri)
    h11 = _resolvent(frame, J, np.zeros_like(omega), rr + ii).real
    a, b = h20.real, h20.imag
    bent = bilinear(frame, x, own, r, a + 2 * h11) + bilinear(frame, x, own, i, b)
    return bent + 1j * (bilinear(frame, x, own, r, b) - bilinear(frame, x, own, i, a - 2 * h11))


def _lines(
    frame: Frame, x: np.ndarray, own: np.ndarray, r: np.ndarray, i: np.ndarray
) -> tuple[tuple[np.ndarray, np.ndarray, np.ndarray], np.ndarray]:
    """B(r, r), B(i, i), B(r, i) and C(q, q, q̄) with q = r + i·i, from derivatives along r, i, r + i and r − i."""
    found = [frame.second_and_third(x, each, own) for each in (r, i, r + i, r - i)]
    (rr, rrr), (ii, iii), (plus, plus3), (minus, minus3) = found
    rii, rri = (plus3 + minus3 - 2 * rrr) / 6, (plus3 - minus3 - 2 * iii) / 6
    return (rr, ii, (plus - minus) / 4), rrr + rii + 1j * (rri + iii)


def _resolvent(frame: Frame, J: np.ndarray, shift: np.ndarray, right: np.ndarray) -> np.ndarray:
    """(shift − A)⁻¹ right."""
    found = np.empty(right.shape, dtype=complex)
    many_matrices.solve_many(
        J,
        frame.n,
        frame.scale,
        frame.unit,
        shift.astype(complex),
        frame.columns,
        frame.rows,
        -right.astype(complex),
        found,
    )
    return found
