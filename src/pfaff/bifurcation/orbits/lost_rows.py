"""Constraints whose coefficients all vanish somewhere on an orbit, so that they hold nothing there."""

from __future__ import annotations

import numpy as np

from pfaff.flow.flow import Flow
from pfaff.flow.statics import statics_of
from pfaff.statement.system import System

FADED = 2e-2  # coefficients of a constraint, relative to their largest on the orbit, below which it nearly vanishes


def vanishing_row(flow: Flow, X: np.ndarray, numbers: np.ndarray) -> str:
    """Which constraint nearly vanishes at states of an orbit, a column each, and where, in words; else nothing."""
    system = flow.system
    if not isinstance(system, System) or system.rods or not system.reaction_names:
        return ""
    names, states = system.coordinate_names, list(flow.states)
    q = np.zeros((len(names), X.shape[1]))
    for i, name in enumerate(names):
        if name in states:
            q[i] = X[states.index(name)]
    statics = statics_of(system)
    rows = statics(q, np.zeros((statics.m, X.shape[1])), numbers).A
    sizes = np.abs(rows / np.maximum(np.abs(rows).max(axis=2, keepdims=True), 1e-300)).max(axis=1)
    k, at = np.unravel_index(int(sizes.argmin()), sizes.shape)
    if not sizes[k, at] < FADED * sizes[k].max():
        return ""
    where = ", ".join(f"{name} = {value:.4g}" for name, value in zip(names, q[:, at], strict=True) if name in states)
    return (
        f"all coefficients of constraint {k + 1} of {system.name} vanish on orbits there, near {where}, so that it "
        "holds nothing; divide it by what they have in common"
    )
