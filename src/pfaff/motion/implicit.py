"""Implicit integration of stiff first-order equations: SciPy's Radau with the analytic Jacobian."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Path:
    """States x, one column for each time t that was reached, and how they were computed."""

    t: np.ndarray
    x: np.ndarray
    status: str
    method: str


def integrate(
    rhs: Callable[[float, np.ndarray], np.ndarray],
    jacobian: Callable[[float, np.ndarray], np.ndarray],
    x0: np.ndarray,
    times: np.ndarray,
    *,
    tolerance: float,
    progress: Callable[[float], None] = lambda fraction: None,
) -> Path:
    """ẋ = rhs(t, x) from x0 at the first of the times."""
    from scipy.integrate import Radau

    solver = Radau(rhs, times[0], x0, times[-1], rtol=max(tolerance, 1e-12), atol=tolerance, jac=jacobian)
    columns, steps, status = [x0], 0, "finished"
    try:
        while solver.status == "running":
            problem = solver.step()
            if solver.status == "failed":
                status = f"stopped: {problem}"
                break
            steps += 1
            dense = solver.dense_output()
            while len(columns) < len(times) and abs(times[len(columns)]) <= abs(solver.t):
                columns.append(dense(times[len(columns)]))
            progress(abs(solver.t / times[-1]))
    except KeyboardInterrupt:
        status = "interrupted"
    return Path(times[: len(columns)], np.array(columns).T, status, f"Radau of SciPy, {steps} steps")
