"""All equilibria that Newton's method reaches from many starts at once."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from pfaff.algebra.newtons_method import Stopping, newton_columns
from pfaff.algebra.tolerances import RANK, SAME, SETTLED
from pfaff.algebra.units import inertial_units
from pfaff.checks.rests import HELD
from pfaff.rest.balance import Balance
from pfaff.rest.mechanical import ACCEPTED, Equilibria, check_finite, check_steady, equilibrium_in
from pfaff.statement.values import number_within, whole_number
from pfaff.threads import hand_on

if TYPE_CHECKING:
    from pfaff.case import Case

TOGETHER = 4096  # starts taken at once: Ctrl-C keeps what earlier ones have found
STARTS, FAR = 1_000_000, 1e12  # most starts of a search; largest box


def find_equilibria(case: Case, fixed: Mapping[str, float], starts: int, box: float, seed: int) -> Equilibria:
    """Newton's method from the origin and from random starts in a box; family coordinates left free are set to 0."""
    starts, box, seed = checked_search(starts, box, seed)
    balance, family = family_fixed(case, fixed, seed)
    generator = np.random.default_rng(seed)
    n = balance.statics.n
    z = np.repeat(balance.start()[:, None], starts + 1, axis=1)
    angles = balance.free & (np.arange(len(z)) < n)
    z[angles, 1:] = generator.uniform(-box, box, (angles.sum(), starts))
    found: list[np.ndarray] = []
    count, ended = 0, ""
    try:
        for first in range(0, starts + 1, TOGETHER):
            settled = _settled(balance, z[:, first : first + TOGETHER], origin=first == 0)
            count += settled.shape[1]
            inside = np.abs(settled[angles]).max(axis=0, initial=0.0) <= 2 * box
            _keep_new(balance, settled[:, inside], found)
    except KeyboardInterrupt:
        hand_on()
        ended = f"; interrupted within the first {min(first + TOGETHER, starts)} of them"
    found.sort(key=lambda z: np.linalg.norm(z[:n]))
    which = "none of them has" if count and not found else "kept where"
    search = (
        f"Newton from the origin and {starts} random starts (seed {seed}) with |q| ≤ {box:g}, of which "
        f"{count} converged; {which} |q| ≤ {2 * box:g}{ended}"
    )
    if family:
        search += f"; family coordinate {', '.join(family)} set to 0"
    return Equilibria(tuple(equilibrium_in(balance, z) for z in found), search, bool(ended))


def checked_search(starts: Any, box: Any, seed: Any) -> tuple[int, float, int]:
    """How many random starts, in which box, from which seed."""
    whole_number("starts", starts, 1, STARTS, "they would take hours, ask for fewer")
    whole_number("seed", seed, 0, sys.maxsize, "give a smaller one")
    sizes = f"give a positive size of the configurations to start from, below {FAR:g}"
    return starts, number_within("box", box, lambda x: 0 < x < FAR, sizes), seed


def family_fixed(case: Case, fixed: Mapping[str, float], seed: int) -> tuple[Balance, list[str]]:
    """The balance with family coordinates that are left free set to 0, and which ones they are.

    Their number is that at a generic point; the origin decides which ones (as for a single equilibrium).
    """
    balance, generator = Balance(case, fixed), np.random.default_rng(seed)
    check_finite(case, balance, balance.start())
    generic = len(balance.family_coordinates(balance.start(generator.uniform(-1, 1, balance.free.sum()))))
    family = [balance.names[i] for i in balance.family_coordinates(balance.start())[:generic]]
    return Balance(case, {**balance.fixed, **dict.fromkeys(family, 0.0)}), family


def settled_from(balance: Balance, starts: int, box: float, generator: np.random.Generator) -> np.ndarray:
    """Where Newton's method converges from the origin and from random starts in a box, a column each."""
    z = np.repeat(balance.start()[:, None], starts + 1, axis=1)
    angles = balance.free & (np.arange(len(z)) < balance.statics.n)
    z[angles, 1:] = generator.uniform(-box, box, (angles.sum(), starts))
    return _settled(balance, z, origin=True)


def _settled(balance: Balance, z: np.ndarray, origin: bool) -> np.ndarray:
    """Where Newton's method converges from these starts, the first of which may be the origin itself."""
    z = z.copy()
    z[:, origin:] = _with_best_reactions(balance, z[:, origin:])
    z, converged = _newton_batch(balance, z)
    return z[:, converged]


def _keep_new(balance: Balance, candidates: np.ndarray, found: list[np.ndarray]) -> None:
    """Add to ``found`` those candidates that are equilibria and not yet in it."""
    for candidate in candidates.T:
        polished, residual = balance.solve(candidate, balance.case.numbers)
        new = not any(np.abs(polished - other).max() < SAME for other in found)
        if residual < ACCEPTED and new and balance.regular(polished) and _holds(balance, polished):
            check_steady(balance.case, balance, polished)
            found.append(polished)


def _holds(balance: Balance, z: np.ndarray) -> bool:
    """Whether the holonomic constraints hold beside the size of the configuration: where nothing is stiff, the
    residual, relative to what forces move, does not tell."""
    at, n, s = balance.at(z, balance.case.numbers), balance.statics.n, balance.statics.nonholonomic
    units = inertial_units(at.M)
    usual = units * (1 / units.max() + np.abs(z[:n] / units).max())
    return bool((np.abs(at.held[s:]) <= HELD * (np.abs(at.A[s:]) @ usual)).all())


def _newton_batch(balance: Balance, z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Newton's method on all columns at once."""
    free = balance.free

    def step(z: np.ndarray, _: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        residual, jacobian, at = balance.evaluate(z, balance.case.numbers)
        units = at.units
        with np.errstate(over="ignore"):  # columns that overflow take no part
            residual, jacobian = residual * units, jacobian * units[:, None] * units
        sane = np.isfinite(residual).all(axis=0) & np.isfinite(jacobian).all(axis=(0, 1))
        inverse = np.linalg.pinv(np.moveaxis(jacobian[:, free][..., sane], 2, 0), rcond=RANK)
        change = -units[free][:, sane] * np.einsum("kij,jk->ik", inverse, residual[:, sane])
        size = np.full(z.shape[1], np.nan)
        size[sane] = np.abs(change).max(axis=0, initial=0.0) / (1 + np.abs(z[:, sane]).max(axis=0))
        z = z.copy()
        z[np.ix_(free, sane)] += change / np.maximum(1.0, size[sane])
        return z, size

    return newton_columns(step, z, Stopping(exact=SETTLED))


def _with_best_reactions(balance: Balance, z: np.ndarray) -> np.ndarray:
    """The same configurations with the reactions that come nearest to balancing them."""
    n, free = balance.statics.n, balance.free
    z = z.copy()
    bare = np.concatenate([z[:n], np.zeros_like(z[n:])])
    residual, _, at = balance.evaluate(bare, balance.case.numbers)
    inverse = np.linalg.pinv(np.moveaxis(at.A, 2, 0).swapaxes(1, 2))
    best = -np.einsum("kij,jk->ik", inverse, residual[:n])
    z[n:][free[n:]] = best[free[n:]]
    return z
