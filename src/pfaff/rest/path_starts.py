"""Where the path of a load begins, and what displacement from there changes a system."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from pfaff.algebra.units import SOFT
from pfaff.errors import ConvergenceError, SingularMassError
from pfaff.rest.balance import Balance
from pfaff.rest.mechanical import check_rest, check_rests, check_unforced, rest_near

if TYPE_CHECKING:
    from pfaff.case import Case

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
    return z, loaded if len(loaded.fixed) < len(first.fixed) else first


def changed_by(matrices: np.ndarray, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """Which matrices of a stack differ from the first, in units of rows and columns: entries relative to neighbouring
    ones."""
    scaled = np.abs(matrices * rows[:, None, None] * columns[:, None])
    high, wide = (scaled[..., 0].max(axis=axis, keepdims=True, initial=0.0) for axis in (1, 0))
    usual = np.maximum(np.sqrt(high * wide), SOFT * scaled[..., 0].max(initial=0.0))[..., None]
    return (np.abs(scaled[..., 1:] - scaled[..., :1]) > NOTABLE * usual).any(axis=(0, 1))
