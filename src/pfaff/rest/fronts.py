"""Equilibria along forces: with a force s·r, curves of rest pass through equilibria where s vanishes.

From every equilibrium such a curve leads to both sides. Fronts follow many of them at once by arclength, each until s
vanishes again, at the next equilibrium, or until it leaves the bounds. A curve through two equilibria is followed once.

This is an engine beside ``continuation.engine``, with steps, landings and dips of its own, because it is vectorised: a
search follows hundreds of curves, 96 at once in batches of small matrices, and wants neither special points nor
tangents of them. Curves that a user sees are followed by the engine.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from pfaff.algebra.cubics import Cubic
from pfaff.algebra.newtons_method import Stopping, each_solved, newton_columns
from pfaff.rest.balance import Balance

ABREAST = 96  # fronts followed at once
FIRST, LONGEST, SHORTEST = 1e-2, 1.0, 1e-7  # steps, in units in which all forces and levers are alike
CORRECTED = Stopping(6, exact=1e-10, settled=0.0, grows=2.0, first=1.0, astray=1.0)  # else a shorter step is tried
STRAIGHT, BENT = 0.99, 0.92  # cosine of the turn of the tangent, above which steps grow, below which they are repeated
STEPS = 4000  # most steps of a front
WITHIN = np.linspace(0.0, 1.0, 9)[1:-1, None]  # places in a step


@dataclass(frozen=True)
class Reached:
    """The end of a front: an equilibrium, the side (sign of s) it was approached from, or None and why."""

    start: int
    side: int
    z: np.ndarray | None
    why: str = ""


@dataclass
class Fronts:
    """Curves of rest under s·r, in units of rows and columns; only free unknowns change."""

    balance: Balance
    force: np.ndarray
    lower: np.ndarray
    upper: np.ndarray

    def __post_init__(self) -> None:
        self.levers, self.units = units_of(self.balance)
        self.rows, self.free = self.balance.equations, self.balance.free
        scaled = (self.levers * self.force)[self.rows]
        self.scaled = scaled / np.linalg.norm(scaled)

    @property
    def square(self) -> bool:
        """Whether the number of equations equals that of free unknowns."""
        return bool(self.rows.sum() == self.free.sum())

    def follow(self, starts: list[tuple[int, np.ndarray, int]]) -> Iterator[Reached]:
        """Fronts from equilibria (number, state, side), in the order in which they end."""
        waiting = list(starts)
        running: _Running | None = None
        while waiting or running is not None:
            room = ABREAST - (len(running.start) if running is not None else 0)
            batch, waiting = waiting[:room], waiting[room:]
            if batch:
                fresh = self._begun(batch)
                running = fresh if running is None else running.joined(fresh)
            assert running is not None
            ended = self._advance(running)
            yield from (each for _, each in ended)
            running = running.without([k for k, _ in ended])

    # One step of all fronts

    def _whole(self, y: np.ndarray) -> np.ndarray:
        """All unknowns from the scaled free ones, a column for each front."""
        z = np.repeat(self.balance.start()[:, None], y.shape[1], axis=1)
        z[self.free] = self.units[self.free, None] * y[:-1]
        return z

    def _linear(self, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Residuals and Jacobians by y and s, batch first."""
        residual, jacobian, _ = self.balance.evaluate(self._whole(y), self.balance.case.numbers)
        G = (self.levers[:, None] * residual)[self.rows] - self.scaled[:, None] * y[-1]
        J = (jacobian * self.levers[:, None, None] * self.units[None, :, None])[self.rows][:, self.free]
        last = np.broadcast_to(-self.scaled[:, None, None], (len(self.scaled), 1, y.shape[1]))
        return G.T, np.moveaxis(np.concatenate([J, last], axis=1), 2, 0)

    def _tangents(self, J: np.ndarray, towards: np.ndarray) -> np.ndarray:
        """Unit null vectors in the direction of given ones; not finite where there are several."""
        size = J.shape[2]
        bordered = np.concatenate([J, towards.T[:, None, :]], axis=1)
        right = np.zeros((len(J), size, 1))
        right[:, -1] = 1.0
        t = each_solved(bordered, right)[:, :, 0].T
        return t / np.linalg.norm(t, axis=0)

    def _begun(self, batch: list[tuple[int, np.ndarray, int]]) -> _Running:
        y = np.array([np.append(z[self.free] / self.units[self.free], 0.0) for _, z, _ in batch]).T
        _, J = self._linear(y)
        # The direction in which s grows; at a fold, where s is stationary, either one.
        rows = np.linalg.svd(J)[2][:, -1, :].T
        sides = np.array([side for _, _, side in batch], dtype=float)
        signs = np.where(rows[-1] >= 0, 1.0, -1.0) * sides
        count = len(batch)
        return _Running(
            start=np.array([number for number, _, _ in batch]),
            side=sides,
            y=y,
            tangent=rows * signs,
            ds=np.full(count, FIRST),
            steps=np.zeros(count, dtype=int),
        )

    def _advance(self, f: _Running) -> list[tuple[int, Reached]]:
        y, good = self._corrected(f.y + f.ds * f.tangent, f.tangent)
        _, J = self._linear(np.where(good, y, f.y))
        tangent = self._tangents(J, f.tangent)
        cosine = (tangent * f.tangent).sum(axis=0)
        good &= np.isfinite(cosine) & (cosine > BENT)
        good &= ~(self._dips(f, y, tangent) & (f.ds > 10 * SHORTEST))
        f.steps += 1
        crossed = good & (f.side * y[-1] <= 0) & (f.steps > 1)
        early = good & (f.side * y[-1] <= 0) & (f.steps == 1)  # a fold at the start: look more closely
        good &= ~early
        ended = [(int(k), self._landed(f, y, int(k))) for k in np.flatnonzero(crossed)]
        z = self._whole(y)
        out = good & ~crossed & ((z < self.lower[:, None]) | (z > self.upper[:, None])).any(axis=0)
        ended += [(int(k), self._end(f, int(k), "")) for k in np.flatnonzero(out)]
        f.ds = np.where(good, f.ds * np.where(cosine > STRAIGHT, 1.5, 0.8), f.ds / 2)
        f.ds = np.minimum(f.ds, LONGEST)
        lost = ~good & (f.ds < SHORTEST)
        ended += [(int(k), self._end(f, int(k), "no curve beyond")) for k in np.flatnonzero(lost)]
        f.y, f.tangent = np.where(good, y, f.y), np.where(good, tangent, f.tangent)
        done = {k for k, _ in ended}
        long = [k for k in np.flatnonzero(f.steps > STEPS) if k not in done]
        return ended + [(int(k), self._end(f, int(k), "too long")) for k in long]

    def _corrected(self, y: np.ndarray, across: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Newton's method on planes across the tangents."""

        def step(y: np.ndarray, going: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            G, J = self._linear(y)
            matrix = np.concatenate([J, across.T[going][:, None, :]], axis=1)
            right = np.concatenate([-G, np.zeros((len(going), 1))], axis=1)
            change = each_solved(matrix, right[:, :, None])[:, :, 0].T
            return y + change, np.abs(change).max(axis=0) / (1 + np.abs(y).max(axis=0))

        return newton_columns(step, y, CORRECTED)

    def _dips(self, f: _Running, y: np.ndarray, tangent: np.ndarray) -> np.ndarray:
        """Whether, by Hermite's cubic, s vanishes inside a step though it has the same sign at both ends."""
        a, b = f.side * f.y[-1], f.side * y[-1]
        cubic = Cubic(a, f.ds * f.side * f.tangent[-1], b, f.ds * f.side * tangent[-1])
        return (a > 0) & (b > 0) & (cubic.at(WITHIN).min(axis=0) <= 0)

    def _landed(self, f: _Running, y: np.ndarray, k: int) -> Reached:
        """The equilibrium in a step across which s changes its sign."""
        share = f.y[-1, k] / (f.y[-1, k] - y[-1, k])
        z = self._whole(f.y[:, [k]] + share * (y[:, [k]] - f.y[:, [k]]))[:, 0]
        found, residual = self.balance.solve(z, self.balance.case.numbers)
        start, side = int(f.start[k]), int(f.side[k])
        off = np.abs((found - z)[self.free] / self.units[self.free]).max()
        if not (residual < np.inf and off <= 2 * f.ds[k] + 1e-6):
            return Reached(start, side, None, "an equilibrium was not resolved")
        return Reached(start, side, found)

    def _end(self, f: _Running, k: int, why: str) -> Reached:
        return Reached(int(f.start[k]), int(f.side[k]), None, why)


def units_of(balance: Balance) -> tuple[np.ndarray, np.ndarray]:
    """Units of equations and unknowns in which forces and levers are alike, and coordinates usually of order one."""
    _, _, at = balance.evaluate(balance.start(), balance.case.numbers)
    units = at.units
    usual = np.median(units[: balance.statics.n])
    return units * usual, units / usual


@dataclass
class _Running:
    """Fronts under way: the equilibrium each comes from, its side, place, tangent, step, and steps taken."""

    start: np.ndarray
    side: np.ndarray
    y: np.ndarray
    tangent: np.ndarray
    ds: np.ndarray
    steps: np.ndarray

    def joined(self, other: _Running) -> _Running:
        names = self.__dataclass_fields__
        return _Running(*(np.concatenate([getattr(self, n), getattr(other, n)], axis=-1) for n in names))

    def without(self, gone: list[int]) -> _Running | None:
        kept = np.setdiff1d(np.arange(len(self.start)), gone)
        return _Running(*(getattr(self, n)[..., kept] for n in self.__dataclass_fields__)) if len(kept) else None
