"""Where branches begin, in compiled loops: Newton's method of ``algebra.bordering`` where no Jacobian is singular.

Singular values decide whether one is singular; here the inverse does, where it leaves no doubt. In doubtful cases no
answer is given.
"""

from __future__ import annotations

import numpy as np

from pfaff.algebra.bordering import FARTHEST, WIDEST
from pfaff.algebra.tolerances import EXACT, NEWTON_STEPS, RANK, SETTLED
from pfaff.bifurcation.equilibria.walking.even_units import scales
from pfaff.bifurcation.equilibria.walking.loop_system import function_of, rates
from pfaff.bifurcation.machine_code.addresses import factorised, substituted
from pfaff.bifurcation.machine_code.linking import called, loop


@called
def surely_solved(routines, J, right):
    """Units of a matrix that is regular beyond doubt, and the solution, which replaces the right side; no units
    otherwise: |σ_min| ≥ 1/‖M⁻¹‖ and |σ_max| ≤ ‖M‖ in Frobenius' norm."""
    n, none, finite = len(J), np.empty(0), True
    for i in range(n):
        finite = finite and abs(right[i]) < np.inf
        for j in range(n):
            finite = finite and abs(J[i, j]) < np.inf
    if n == 0 or not finite:
        return none
    D = scales(routines, J)
    columns, inverse, pivots = np.empty_like(J), np.zeros((n, n)), np.empty(n, dtype=np.int32)
    size, small, widest = 0.0, 0.0, 0.0
    for i in range(n):
        inverse[i, i], widest = 1.0, max(widest, D[i], 1 / D[i])
        for j in range(n):
            columns[j, i] = J[i, j] * D[j] / D[i]
            size += columns[j, i] ** 2
    if widest > WIDEST or factorised(routines, columns, pivots) == 0.0:
        return none
    substituted(routines, columns, pivots, inverse, n, False)
    for i in range(n):
        right[i] /= D[i]
        for j in range(n):
            small += inverse[i, j] ** 2
    if not np.sqrt(size) * np.sqrt(small) * RANK < 1:
        return none
    substituted(routines, columns, pivots, right, 1, False)
    for i in range(n):
        right[i] *= D[i]
    return D


@loop
def regular_units(routines, J):
    """Units in which a matrix is regular, as ``bordering`` chooses them; none where that is in doubt."""
    return surely_solved(routines, J, np.zeros(len(J)))


@loop
def rested(parts, routines, x, values):
    """Whether Newton's method settles at a regular equilibrium, which replaces x; ``values`` is workspace."""
    function, n = function_of(parts), len(x)
    numbers, places = function.numbers, function.places
    J, step, z, change = np.empty((n, n)), np.empty(n), np.empty(n + len(places)), np.inf
    for i in range(n):
        z[i] = x[i]
    for j in range(len(places)):
        z[n + j] = numbers[places[j]]
    for _ in range(NEWTON_STEPS):
        rates(function, z, values)
        before, change, most = change, 0.0, 0.0
        for i in range(n):
            step[i], most = values[i, 0], max(most, abs(z[i]))
            for j in range(n):
                J[i, j] = values[i, 1 + j]
        if not len(surely_solved(routines, J, step)):
            return False
        for i in range(n):
            change = max(change, abs(step[i]) / (1 + most))
        for i in range(n):
            z[i] -= step[i] * min(1.0, FARTHEST / change if change else 1.0)
        if change <= EXACT or (change < SETTLED and change >= before / 2):
            break
    for i in range(n):
        x[i] = z[i]
    return change < SETTLED
