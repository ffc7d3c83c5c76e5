"""Floquet multipliers: their product by Liouville's formula, in pairs where the flow is Hamilton's, and energies that
orbits of a conservative system keep.

Multipliers are computed from transition matrices on what the constraints and the conserved quantities leave; none of
these checks uses such a matrix.
"""

from __future__ import annotations

import numpy as np

from pfaff.checks.check import Check, unmade

AGREES = 1e-4  # difference of logarithms, products of a pair and one, relative to the largest multiplier's logarithm
CONSERVED = 1e-6  # change of the energy on an orbit, relative to its energy above the equilibrium
LEAST = 1e-12  # multipliers below this are known roughly, and their product is not verified
ROUNDING = 1e4 * float(np.finfo(float).eps)  # of energies, relative to their parts
REMEDY = "the multipliers are not to be trusted: ask for more accuracy"
NO_ENERGY = "what is conserved is no energy T₂ − T₀ + V: leave out forces without potential and constraints that move"


VOLUMES = "volumes change as the product of the multipliers says"


def volumes(values: np.ndarray, spread: float) -> Check:
    """Π μ = exp ∫ tr ∂f/∂x dt: ``spread`` is the integral, over motions that obey the constraints."""
    if not (np.abs(values) > LEAST).all():
        return unmade(f"multipliers below {LEAST:g} are known roughly", VOLUMES)[0]
    sizes = np.log(np.abs(values))
    off = abs(float(sizes.sum()) - spread) / max(1.0, float(np.abs(sizes).max(initial=0.0)))
    return Check(VOLUMES, off, AGREES, REMEDY)


def pairs(values: np.ndarray) -> Check:
    """Multipliers of a Hamiltonian flow are μ and 1/μ, so that their set is that of their inverses."""
    left, off = list(values), 0.0
    while left:
        first = left.pop(0)
        if not left:
            return Check("multipliers come in pairs μ, 1/μ", float("inf"), AGREES, REMEDY)
        k = int(np.argmin([abs(first * other - 1) for other in left]))
        off = max(off, float(abs(first * left.pop(k) - 1)))
    return Check("multipliers come in pairs μ, 1/μ", off, AGREES, REMEDY)


def energy(along: np.ndarray, rest: float) -> Check:
    """The energy at the states of an orbit, beside that of the equilibrium."""
    span, size = float(np.ptp(along)), float(np.abs(along - rest).max())
    bound = CONSERVED * size + ROUNDING * max(float(np.abs(along).max()), abs(rest))
    return Check("the energy is conserved along the orbit", span / (size or 1.0), bound / (size or 1.0), NO_ENERGY)
