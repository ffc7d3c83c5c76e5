"""Motions with their derivatives by the start, by Taylor's method: the referee of monodromy matrices."""

from __future__ import annotations

import numpy as np

from pfaff.flow.differentiation import jacobian
from pfaff.flow.graph import expression
from pfaff.flow.integrator import Integrator, program
from pfaff.flow.lagrangian import dot


def varied(flow, start, numbers, duration, tolerance):
    """The state at the end, and its derivatives by that at the start."""
    n = len(start)
    X = [[expression(f"derivative {i} {j}") for j in range(n)] for i in range(n)]
    slopes = jacobian(flow.expressions, flow.variables)
    rates = [*zip(flow.variables, flow.expressions, strict=True)]
    rates += [(X[i][j], dot(slopes[i], [row[j] for row in X])) for i in range(n) for j in range(n)]
    integrator = Integrator(program(rates, tolerance))
    integrator.put(0.0, np.concatenate([start, np.eye(n).ravel()]), numbers)
    integrator.advance(duration, 100_000)
    assert integrator.time == duration
    return integrator.state[:n], integrator.state[n:].reshape(n, n)
