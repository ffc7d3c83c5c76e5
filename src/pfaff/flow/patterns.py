"""Positions of the entries of copied parts in sparse matrices: known beforehand, so that values are scattered at
once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from scipy import sparse

from pfaff.flow.statics import AtRest, Statics, statics_of
from pfaff.statement.parts import Copies, Part
from pfaff.threads import cached_property, once

BLOCKS = ("M", "C", "K", "reactions", "rows", "moving", "rates")
NARROW = {np.dtype(np.longdouble): float, np.dtype(np.clongdouble): complex}  # types in which linear algebra is done
STEP = 1e-5  # step of differences with respect to the load, relative to it
TRIALS = 3  # random states at which entries are examined


class Placed:
    """Copies of one part, with the global indices of their coordinates and reactions."""

    def __init__(self, copies: Copies, first_row: int, load: str) -> None:
        self.copies, self.part = copies, copies.part
        self.statics: Statics = statics_of(_under(copies.part, load))
        self.n, self.m = self.statics.n, self.statics.m
        self.rows = first_row + np.arange(copies.count * self.m).reshape(copies.count, self.m)
        self.places = np.hstack([copies.at, self.rows])
        self.table = copies.table(load)
        names = self.part.parameter_names
        self.load_row = names.index(load) if load in names else None

    @property
    def nonholonomic(self) -> np.ndarray:
        return np.tile(np.arange(self.m) < self.statics.nonholonomic, self.copies.count)

    @property
    def demanding(self) -> np.ndarray:
        """Which constraints demand something at rest: all but A(q) q̇ = 0."""
        return (np.arange(self.m) >= self.statics.nonholonomic) | ~self.part.still

    def evaluate(self, z: np.ndarray, load: float) -> AtRest:
        numbers = self.table.copy()
        if self.load_row is not None:
            numbers[self.load_row] = load
        local = z[self.places.T]
        return self.statics(local[: self.n], local[self.n :], numbers)

    def pushed(self, z: np.ndarray, load: float, value: AtRest) -> np.ndarray:
        """The derivative of each copy's balance and constraint demands with respect to the load; for rods by
        differences."""
        if value.pushed is not None:
            return value.pushed
        h = STEP * (abs(load) or 1.0)
        after, before = (self.evaluate(z, load + side * h) for side in (1, -1))
        return np.concatenate([after.balance - before.balance, after.held - before.held]) / (2 * h)

    def gather(self, name: str, value: AtRest) -> np.ndarray:
        """The entries of one block that are ever nonzero: entry by entry, copies running fastest."""
        return self._source(name, value)[self.entries[name]].ravel()

    def keys(self, name: str, total: int) -> np.ndarray:
        """Column-major places in the global matrix of what ``gather`` returns."""
        i, j = self.entries[name]
        rows, columns = (i, j) if name in "MCK" else (j, self.n + i) if name == "reactions" else (self.n + i, j)
        return (self.places[:, columns].T * total + self.places[:, rows].T).ravel()

    @cached_property
    def entries(self) -> dict[str, tuple[np.ndarray, ...]]:
        """Which entries of each block are ever nonzero: seen at random states, where an identity fails if it can."""
        generator = np.random.default_rng(1949)
        numbers = generator.uniform(0.2, 1.4, (len(self.table), TRIALS))
        state = generator.uniform(0.2, 1.4, (self.n + self.m, TRIALS))
        value = self.statics(state[: self.n], state[self.n :], numbers)
        filled = {name: np.any(self._source(name, value) != 0, axis=-1) for name in BLOCKS}
        still = self.part.still[:, None]
        filled["rows"] &= still
        filled["moving"] &= ~still
        filled["rates"] &= ~still
        return {name: np.nonzero(mask) for name, mask in filled.items()}

    def _source(self, name: str, value: AtRest) -> np.ndarray:
        return {"M": value.M, "C": value.C, "K": value.K, "rates": value.B}.get(name, value.A)


@once(most=32)
def _under(part: Part, load: str) -> Part:
    """The part with the load of its assembly declared, if it contains it: the derivative with respect to it is then
    derived too."""
    declared = part.load.name if part.load is not None else None
    return part if load not in part.parameter_names or declared == load else replace(part, load=load)


class Pattern:
    """Positions of the entries of all copies in the sparse matrix [[K, Aᵀ], [A, 0]], computed once."""

    def __init__(self, size: int, placed: Sequence[Placed]) -> None:
        self.size, self.rows = size, sum(p.rows.size for p in placed)
        self.total = size + self.rows
        keys = {name: np.concatenate([p.keys(name, self.total) for p in placed]) for name in BLOCKS}
        unique, position = np.unique(np.concatenate(list(keys.values())), return_inverse=True)
        self.indices = (unique % self.total).astype(np.int32)
        self.indptr = np.searchsorted(unique, np.arange(self.total + 1) * self.total).astype(np.int32)
        ends = np.cumsum([len(key) for key in keys.values()])
        self.position = dict(zip(keys, np.split(position, ends[:-1]), strict=True))
        self._order = np.argsort(self.position["K"], kind="stable")
        self._stiff, self._first = np.unique(self.position["K"][self._order], return_index=True)

    def scatter(self, name: str, values: list[np.ndarray]) -> np.ndarray:
        """The sum over all copies of one block, as data of the common pattern.

        Elastic stiffness outweighs geometric by the square of the number of parts: theirs is summed with more digits.
        """
        whole = np.concatenate(values)
        if name != "K":
            return np.bincount(self.position[name], whole, minlength=len(self.indices))
        data = np.zeros(len(self.indices), np.longdouble)
        if len(whole):
            data[self._stiff] = np.add.reduceat(whole[self._order].astype(np.longdouble), self._first)
        return data

    def matrix(self, data: np.ndarray) -> sparse.csc_array:
        """The sparse matrix of some data, without the entries that happen to be zero."""
        if data.dtype in NARROW:
            data = data.astype(NARROW[data.dtype])
        return self.wide_matrix(data)

    def wide_matrix(self, data: np.ndarray) -> sparse.csc_array:
        """The sparse matrix with all the digits of the data."""
        full = sparse.csc_array((data, self.indices, self.indptr), shape=(self.total, self.total), copy=True)
        full.eliminate_zeros()
        return full
