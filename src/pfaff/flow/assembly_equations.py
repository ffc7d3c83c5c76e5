"""The equations of motion of an assembly: all copies of a part in one call, the values scattered by sparse maps.

Unknowns are stacked as z = (q, q̇, q̈, p), one column for each instant.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from pfaff.algebra.factors import Places, Solve
from pfaff.flow.part_dynamics import Dynamics, dynamics_of
from pfaff.threads import cached_property

if TYPE_CHECKING:
    from pfaff.flow.assembly import Assembly
    from pfaff.flow.patterns import Placed


class Members:
    """The copies of one part: where their unknowns stand in z and in the equations, and their parameters."""

    def __init__(self, placed: Placed, size: int, load: float) -> None:
        self.part = placed.part
        self.dynamics: Dynamics = dynamics_of(placed.part)
        self.count, self.n, self.m = placed.copies.count, self.dynamics.n, self.dynamics.m
        at, rows = placed.copies.at.T, placed.rows.T  # rows are numbered after the coordinates
        self.places = np.vstack([at, rows])
        self.unknowns = np.vstack([at, at + size, at + 2 * size, rows + 2 * size])
        self.parameters = placed.table.copy()
        if placed.load_row is not None:
            self.parameters[placed.load_row] = load
        self._repeated: dict[int, np.ndarray] = {}

    def table(self, instants: int) -> np.ndarray:
        """The parameters for every copy at every instant, instants running fastest."""
        if instants not in self._repeated:
            self._repeated[instants] = np.ascontiguousarray(np.repeat(self.parameters, instants, axis=1))
        return self._repeated[instants]

    def local(self, z: np.ndarray, rows: int | None = None) -> np.ndarray:
        """The copies' own unknowns, or the first of them, one column for each copy at each instant."""
        own = self.unknowns[:rows]
        return z.take(own, axis=0).reshape(len(own), -1)

    def entries(self, name: str) -> tuple[np.ndarray, np.ndarray]:
        """Global rows and columns of a block's entries: entry by entry, copies running fastest."""
        i, j = self.dynamics.entries[name]
        i = i + self.n if name in "AB" else i
        return self.places[i].ravel(), self.places[j].ravel()


class Equations:
    """M q̈ + h + Aᵀp = 0 and A q̇ + b = 0 of a whole assembly under a load, at a cost that grows with its copies."""

    def __init__(self, assembly: Assembly, load: float) -> None:
        self.n = assembly.size
        self.members = [Members(placed, self.n, load) for placed in assembly.placed]
        self.m = sum(member.m * member.count for member in self.members)
        self.holonomic = ~assembly.nonholonomic
        where = np.concatenate([member.places.ravel() for member in self.members])
        ones = np.ones(len(where))
        self._gathered = sparse.csr_array((ones, (where, np.arange(len(where)))), shape=(self.n + self.m, len(where)))

    def stack(self, q: np.ndarray, v: np.ndarray, a: np.ndarray, p: np.ndarray) -> np.ndarray:
        return np.concatenate([q, v, a, p])

    def residual(self, z: np.ndarray) -> np.ndarray:
        """Residual of the equations: forces first, then constraints."""
        instants = z.shape[1]
        values = [member.dynamics.residual(member.local(z), member.table(instants)) for member in self.members]
        return self._gathered @ np.concatenate([value.reshape(-1, instants) for value in values])

    def powers(self, z: np.ndarray) -> np.ndarray:
        """Powers dissipated by all copies together and supplied to them."""
        instants = z.shape[1]
        total = np.zeros((2, instants))
        for member in self.members:
            if member.dynamics.powers is not None:
                value = member.dynamics.powers(member.local(z), member.table(instants))
                total += value.reshape(2, -1, instants).sum(axis=1)
        return total

    def slopes(self, z: np.ndarray) -> Slopes:
        """The derivatives at one instant."""
        values: dict[str, list[np.ndarray]] = {name: [] for name in "MCKAB"}
        for member in self.members:
            value = member.dynamics.slopes(member.local(z), member.table(1))
            start = 0
            for name, where in member.dynamics.entries.items():
                values[name].append(value[start : start + where.shape[1]].ravel())
                start += where.shape[1]
        return Slopes(self, {name: np.concatenate(value) for name, value in values.items()})

    def energies(self, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        """Kinetic, potential and Jacobi's energy, one column for each instant."""
        z, instants = np.concatenate([q, v]), q.shape[1]
        total = np.zeros((3, instants))
        for member in self.members:
            value = member.dynamics.energies(member.local(z, 2 * member.n), member.table(instants))
            total += value.reshape(3, -1, instants).sum(axis=1)
        return total

    def constraints(self, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """φ, zero in the rows of nonholonomic constraints, and A q̇ + b."""
        z, instants = np.concatenate([q, v]), q.shape[1]
        phi, rates = np.zeros((2, self.m, instants))
        for member in self.members:
            if member.dynamics.constraints is not None:
                value = member.dynamics.constraints(member.local(z, 2 * member.n), member.table(instants))
                value, rows = value.reshape(-1, member.count, instants), member.places[member.n :] - self.n
                holonomic = member.dynamics.holonomic
                phi[rows[member.m - holonomic :]], rates[rows] = value[:holonomic], value[holonomic:]
        return phi, rates

    def accelerations(self, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """q̈ and p of one state: the right-hand side of the equations of motion, by one sparse factorisation."""
        z = self.stack(q, v, np.zeros(self.n), np.zeros(self.m))
        h = self.residual(z[:, None])[: self.n, 0]
        slopes = self.slopes(z)
        solution = slopes.inertia()(-np.concatenate([h, slopes.turning(v)]))
        return solution[: self.n], solution[self.n :]

    def owner(self, row: int) -> tuple[str, int]:
        """The name of the part, and the number of its copy, that states a constraint."""
        for member in self.members:
            copies = np.nonzero((member.places[member.n :] == self.n + row).any(axis=0))[0]
            if len(copies):
                return member.part.name, int(copies[0])
        raise IndexError(row)

    @cached_property
    def entries(self) -> dict[str, tuple[np.ndarray, np.ndarray]]:
        """Global rows and columns of the entries that ``Slopes`` holds."""
        found = {name: [member.entries(name) for member in self.members] for name in "MCKAB"}
        return {
            name: (np.concatenate([rows for rows, _ in each]), np.concatenate([columns for _, columns in each]))
            for name, each in found.items()
        }

    @cached_property
    def places(self) -> Places:
        pairs = list(self.entries.values())
        rows, columns = (np.concatenate(each) for each in zip(*pairs, self.entries["A"][::-1], strict=True))
        return Places(self.n + self.m, rows, columns)

    @cached_property
    def position(self) -> dict[str, np.ndarray]:
        return {name: self.places.position(*where) for name, where in self.entries.items()} | {
            "AT": self.places.position(*self.entries["A"][::-1])
        }


class Slopes:
    """The derivatives of the equations at one instant, as data of the common pattern."""

    def __init__(self, equations: Equations, values: dict[str, np.ndarray]) -> None:
        self._equations, self._values = equations, values
        self._data = {name: self._scattered(name, value) for name, value in values.items() if name != "A"}
        self._data["A"] = self._scattered("A", values["A"]) + self._scattered("AT", values["A"])

    def pencil(self, omega: complex) -> Solve:
        """The factors of [[M ω² + C ω + K, Aᵀ], [A + B/ω, 0]]."""
        d = self._data
        return self._saddle(d["M"] * omega**2 + d["C"] * omega + d["K"], d["A"] + d["B"] / omega)

    def inertia(self) -> Solve:
        """The factors of [[M, Aᵀ], [A, 0]]."""
        return self._saddle(self._data["M"], self._data["A"])

    def _saddle(self, forces: np.ndarray, constraints: np.ndarray) -> Solve:
        """Factors of a saddle-point matrix; reactions are measured in the unit of the largest force, else short steps
        drown the constraints."""
        n, unit = self._equations.n, np.abs(forces).max() or 1.0
        solve = self._equations.places.factorised(forces / unit + constraints)

        def scaled(right: np.ndarray) -> np.ndarray:
            right = right.copy()
            right[:n] /= unit
            x = solve(right)
            x[n:] *= unit
            return x

        return scaled

    def turning(self, v: np.ndarray) -> np.ndarray:
        """γ of A q̈ + γ = 0: how the constraints change along a velocity."""
        rows, columns = self._equations.entries["B"]
        return np.bincount(rows - self._equations.n, self._values["B"] * v[columns], minlength=self._equations.m)

    def matrix(self, name: str) -> sparse.csc_array:
        """One of the blocks: M, C and K are square, A and B have a row for each constraint."""
        rows, columns = self._equations.entries[name]
        n, m = self._equations.n, self._equations.m
        rows, shape = (rows - n, (m, n)) if name in "AB" else (rows, (n, n))
        return sparse.csc_array((self._values[name], (rows, columns)), shape=shape)

    def _scattered(self, name: str, values: np.ndarray) -> np.ndarray:
        return np.bincount(self._equations.position[name], values, minlength=self._equations.places.length)
