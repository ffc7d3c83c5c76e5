"""Accelerations and reactions obey all equations of motion, and all constraints that are stated."""

from __future__ import annotations

import numpy as np

from pfaff.checks.check import Check, worst

OBEYED = 1e-8  # what may be left of an equation, relative to its terms: rounding, by whatever way it was solved
REMEDY = "start elsewhere, let masses differ by less, or use other units"


def obeyed_equations(
    M: np.ndarray, h: np.ndarray, A: np.ndarray, gamma: np.ndarray, accelerations: np.ndarray, reactions: np.ndarray
) -> list[Check]:
    """M q̈ + h + Aᵀp = 0 and A q̈ + γ = 0, put into numbers, at states that come first in matrices and last in columns.

    A has a row for every constraint, redundant ones too. Forces are compared in units in which inertias are one, and
    with the largest of their terms: a row of them may be rounding.
    """
    d = _units(M)
    terms = np.abs(_product(np.abs(M), np.abs(accelerations))) + np.abs(h)
    terms = terms + _product(_turned(np.abs(A)), np.abs(reactions))
    left = _product(M, accelerations) + h + _product(_turned(A), reactions)
    claim = "forces, inertia and reactions of all constraints are in balance"
    found = [Check(claim, _relative(np.abs(d * left), (d * terms).max(axis=0, initial=0.0)), OBEYED, REMEDY)]
    if A.shape[1]:
        rates = np.abs(_product(A, accelerations) + gamma)
        pushed = d * (d * terms).max(axis=0, initial=0.0)  # what forces would do that cancel in the accelerations
        sizes = _product(np.abs(A), np.abs(accelerations) + _moved(d, accelerations) + pushed) + np.abs(gamma)
        found.append(Check("accelerations obey all constraints", _relative(rates, sizes), OBEYED, REMEDY))
    return found


def _units(M: np.ndarray) -> np.ndarray:
    inertia = np.abs(np.einsum("sii->is", M))
    largest = inertia.max(axis=0, initial=0.0)
    return 1 / np.sqrt(np.where(inertia > 0, inertia, np.where(largest > 0, largest, 1.0)))


def _moved(d: np.ndarray, accelerations: np.ndarray) -> np.ndarray:
    """What every coordinate would do with the largest of all accelerations, in units of the inertia."""
    return d * (np.abs(accelerations) / d).max(axis=0, initial=0.0)


def _product(matrices: np.ndarray, columns: np.ndarray) -> np.ndarray:
    return np.einsum("sij,js->is", matrices, columns)


def _turned(matrices: np.ndarray) -> np.ndarray:
    return matrices.transpose(0, 2, 1)


def _relative(left: np.ndarray, sizes: np.ndarray) -> float:
    """The worst of what is left, relative to sizes."""
    return worst((left / np.maximum(np.broadcast_to(sizes, left.shape), np.finfo(float).tiny)).ravel())
