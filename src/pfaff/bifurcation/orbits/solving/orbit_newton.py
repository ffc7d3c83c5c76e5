"""Newton's method for orbits in one compiled call: the equations are called by their address.

Where they have none, the values of f and its derivatives are given, and a call is one step.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from pfaff.algebra.tolerances import CORRECTIONS
from pfaff.algebra.tolerances import ceased as settled
from pfaff.bifurcation.machine_code.addresses import called
from pfaff.bifurcation.machine_code.kernels import OPTIONS, compiled, part
from pfaff.bifurcation.machine_code.vectors import call_for_columns
from pfaff.bifurcation.orbits.solving.chain import close_chain
from pfaff.bifurcation.orbits.solving.condensation import condense, expand, stage_states
from pfaff.bifurcation.orbits.solving.meshes import least_share

SOLVED, UNDER_WAY, SINGULAR, GROWS, UNFINISHED = range(5)  # how steps of Newton's method end
DROWNED = 1e-7  # changes below this that no longer shrink are rounding, amplified where motions separate
FARTHEST = 0.7  # the first change, relative to the size of the orbit, beyond which a guess is given up
ceased = njit(**OPTIONS, no_cpython_wrapper=True)(settled)


@called
def evaluate(equations, X, value):
    """Fill in the values at all states and a value of the load."""
    address, code, place, columns, values = equations
    size = X.shape[1]
    for k in range(size):
        columns[place, k] = value
    numbers = columns.ctypes.data
    time = numbers  # nothing depends on time
    call_for_columns(address, values.ctypes.data, X.ctypes.data, numbers, time, size, code)


@compiled
def corrected(equations, cycle, pins, scales, rule, room, solver, G, enough, steps, last):
    """Newton steps, in place, after ``steps`` earlier ones with a last change, from the states at the Gauss points in
    ``room``. Returns how they end, their number, the size of the last, the residual before it, and the determinant.

    The change that counts as converged is the error of tangent and multipliers; that of the orbit is its square.
    """
    x, _, scalars, signs, _ = cycle
    borders, by_scalars, right = pins
    X, ends, dx, dc = room[0], room[2], room[3], room[4]
    for step in range(steps + 1, CORRECTIONS + 1):
        if equations[0] != 0:
            evaluate(equations, X, scalars[1])
        residual = condense(equations[4], cycle, rule, room, solver, G)
        if not abs(residual) < np.inf:
            return SINGULAR, step, np.nan, residual, 0.0
        determinant = close_chain(G, ends, borders, by_scalars, right, x, scalars, signs, dx, dc)
        if not abs(determinant) < np.inf:
            return SINGULAR, step, np.nan, residual, 0.0
        size, largest = move(cycle, rule, scales, room)
        residual = residual / largest if largest > 0 else residual
        if not abs(size) < np.inf:
            return SINGULAR, step, size, residual, determinant
        if ceased(size, last, DROWNED, enough):
            return SOLVED, step, size, residual, determinant
        if size > (FARTHEST if step == 1 else last):
            return GROWS, step, size, residual, determinant
        if equations[0] == 0 and step < CORRECTIONS:
            return UNDER_WAY, step, size, residual, determinant
        last = size
    return UNFINISHED, CORRECTIONS, last, residual, determinant


@part
def move(cycle, rule, scales, room):
    """Change an orbit by a Newton step; returns its size, and the largest slope before it.

    ``scales`` of states and of scalars measure the size. X becomes the states at the Gauss points after the step.
    """
    (x, K, scalars, _, _), (X, Z, _, dx, dc, dK, _, _), (of_states, of_scalars) = cycle, room, scales
    expand(Z, dx[0], dc[0], 1.0, dK)
    size = 0.0
    for j in range(x.shape[0]):
        for t in range(x.shape[1]):
            change = abs(dx[0, j, t] * of_states[t])
            size = change if not change <= size else size
            x[j, t] += dx[0, j, t]
    for t in range(len(scalars)):
        change = abs(dc[0, t] * of_scalars[t])
        size = change if not change <= size else size
        scalars[t] += dc[0, t]
    largest = 0.0
    for j in range(K.shape[0]):
        for i in range(K.shape[1]):
            for r in range(K.shape[2]):
                largest = max(largest, abs(K[j, i, r]))
                K[j, i, r] += dK[j, i, r]
    stage_states(cycle, rule, X)
    return size, largest


@compiled
def conclude(Z, dx, dc, K, x, signs, halved, states):
    """The tangent that a Newton step leaves, with its slopes, in the shape of K, and scalars; fills in the states after
    it, a column each, with their mirror images beside them if half a period is known."""
    N, n = x.shape
    tangent, slopes, scalars = dx[1].copy(), np.empty(K.shape), dc[1].copy()
    expand(Z, tangent, scalars, 0.0, slopes)
    for j in range(N):
        for t in range(n):
            if halved:
                states[t, 2 * j], states[t, 2 * j + 1] = x[j, t], signs[t] * x[j, t]
            else:
                states[t, j] = x[j, t]
    return tangent, slopes, scalars


@compiled
def on_chart(equations, states, value, halved):
    """f at states, then at their mirror images if those are beside them; and the least coefficient by which a velocity
    is solved for, relative to the largest."""
    if equations[0] != 0:
        evaluate(equations, states, value)
    values, (n, count) = equations[4], states.shape
    rates = np.empty((n, count))
    for i in range(n):
        for j in range(count):
            rates[i, j] = values[i, (2 * j if 2 * j < count else 2 * j - count + 1) if halved else j]
    return rates, least_share(values, n)
