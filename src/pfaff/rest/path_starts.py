"""Where the path of a load begins, and what displacement from there changes a system."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from pfaff.algebra.units import SOFT
from pfaff.errors import ConvergenceError, SingularMassError
from pfaff.rest.balance import Balance
from pfaff.rest.mechanical import ACCEPTED, check_rest, check_rests, check_unforced, rest_near

if TYPE_CHECKING:
    from pfaff.case import Case

VANISHING = (1e-6, 2e-6)  # loads, relative to that of the case, from which one extrapolates to none
NOTABLE = 0.02  # relative change of a matrix that counts


def beginning(case: Case, load: str, fixed: Mapping[str, float], origin: float) -> tuple[np.ndarray, Balance]:
    """The equilibrium at the origin of a load, and its balance, with the family coordinates fixed along the path.

    They are those of the loaded system if it has fewer than the unloaded one.
    """
    # The load starts from zero even where its symbol is declared positive.
    try:
        first, z = rest_near(case.unchecked(**{load: origin}), fixed)
        check_rest(first, z)
    except (ConvergenceError, SingularMassError) as problem:
        raise type(problem)(f"{problem}; this is at {load} = {origin:g}, where the path of the load begins") from None
    check_unforced(first.case, first, z, load)
    declared = case.system.load is not None and load == case.system.load.name
    if origin or (declared and first.statics.merely_pushed):
        return z, first
    balance = first.of(case.unchecked(**{load: 1.0})).released(fixed)
    check_rests(balance, z, load)
    if balance.like(first, z):
        return z, first
    loaded = balance.pinned(z)
    if len(loaded.fixed) >= len(first.fixed):
        return z, first
    return _tended_to(loaded, z, load, abs(float(case.values[load])) or 1.0), loaded


def _tended_to(loaded: Balance, z: np.ndarray, load: str, unit: float) -> np.ndarray:
    """The member of the unloaded family that equilibria tend to as the load vanishes; this one if none is found."""
    near, far = (loaded.solve(z, loaded.case.numbers_at(load, share * unit)) for share in VANISHING)
    return 2 * near[0] - far[0] if max(near[1], far[1]) < ACCEPTED else z


def changed_by(matrices: np.ndarray, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """Which matrices of a stack differ from the first, in units of rows and columns: entries relative to neighbouring
    ones."""
    scaled = np.abs(matrices * rows[:, None, None] * columns[:, None])
    high, wide = (scaled[..., 0].max(axis=axis, keepdims=True, initial=0.0) for axis in (1, 0))
    usual = np.maximum(np.sqrt(high * wide), SOFT * scaled[..., 0].max(initial=0.0))[..., None]
    return (np.abs(scaled[..., 1:] - scaled[..., :1]) > NOTABLE * usual).any(axis=(0, 1))
