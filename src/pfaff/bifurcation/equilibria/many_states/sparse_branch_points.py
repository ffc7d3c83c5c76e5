"""Branch points of large sparse flows: where they are, to rounding."""

from __future__ import annotations

import numpy as np

from pfaff.algebra.bordering import at_rest
from pfaff.algebra.newtons_method import Stopping, newton
from pfaff.algebra.sparse_borders import Factors, bordered, null_vectors, with_columns, with_rows
from pfaff.bifurcation.equilibria.many_states.sparse_equations import SparseRestEquations

NEAR = 1e-3  # all steps together of an accepted polish, in units
STEPS = 12  # most Newton steps


def sparse_polished(s: SparseRestEquations, z: np.ndarray) -> tuple[np.ndarray, bool]:
    """f + β b = 0, g = 0, ⟨w, f_λ⟩ = 0 for z and β, by Newton's method (Moore 1980; Govaerts 2000, Sec. 6.6).

    g and w are those of the bordered Jacobian, N v + b g = 0, ⟨c, v⟩ = 1 and Nᵀw + c g = 0, ⟨b, w⟩ = 1, with its null
    vectors b and c. Their derivatives are those of wᵀN along v, and of wᵀ(f_λ − N y) where N y = f_λ up to b. Where β
    does not vanish, two branches come near each other and do not cross: the second result says so.
    """
    n, start = s.n, z
    c, b = null_vectors(s.state_jacobian(z))
    unit = np.append(np.zeros(n), 1.0)

    def step(at: tuple[np.ndarray, float]) -> tuple[tuple[np.ndarray, float], float] | None:
        z, beta = at
        rates, J = s.evaluated(z)
        try:
            around = bordered(J[:, :n], b[:, None], c[None])
            v, w = around.solve(unit), around.solve(unit, transposed=True)
            push = J[:, [n]].toarray()[:, 0]
            y = around.solve(np.append(push, 0.0))[:n]
            rows = np.stack([-s.bent(z, w[:n], np.append(v[:n], 0.0)), s.bent(z, w[:n], np.append(-y, 1.0))])
            whole = with_rows(with_columns(J, b[:, None]), np.hstack([rows * s.sizes[-1], np.zeros((2, 1))]))
            right = np.concatenate([rates + beta * b, np.array([v[n], w[:n] @ push]) * s.sizes[-1]])
            change = Factors(whole, 2).solve(right)
        except np.linalg.LinAlgError:
            return None
        z = z - change[:-1]
        return (z, beta - float(change[-1])), float(np.abs(change[:-1] / s.sizes).max())

    found = newton(step, (z, 0.0), Stopping(STEPS))
    z, beta = found.at
    if not found.settled or np.abs((z - start) / s.sizes).max() > NEAR:
        return start, True
    return z, at_rest(beta * b, s.row_sizes(z))
