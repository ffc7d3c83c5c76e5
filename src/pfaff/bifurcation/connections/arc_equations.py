"""Newton's method for connecting orbits: collocation at Gauss points between projection boundary conditions.

    ẋ = f(x; p),   f(e; p) = 0,   L_s(e, p)(x(0) − e) = 0,   L_u(e, p)(x(T) − e) = 0,   ⟨ẋ_ref, x − x_ref⟩ = 0

where the rows L_s, L_u span the left stable and unstable eigenspaces. Beyn, IMA J. Numer. Anal. 10 (1990); Champneys,
Kuznetsov and Sandstede, Int. J. Bifurcation Chaos 6 (1996). The equations of every interval are condensed to its ends.
How L changes with e and p is left out of the Jacobian: it is multiplied by ends that are small.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from pfaff.algebra.gauss import Gauss
from pfaff.algebra.newtons_method import Outcome, Stopping, newton
from pfaff.algebra.tolerances import CORRECTIONS, SETTLED
from pfaff.bifurcation.connections.arcs import Arc
from pfaff.bifurcation.connections.saddles import Saddle
from pfaff.continuation.endings import Refused
from pfaff.errors import ParameterError
from pfaff.flow.flow import Flow
from pfaff.kernels.meshes import carried_velocity

if TYPE_CHECKING:
    from pfaff.case import Bound

TINY = 1e-300  # size of a row of zeros
# Changes are relative to the size of the orbit; a guess is given up if the first one is too large.
NEAR_A_GUESS = Stopping(CORRECTIONS, exact=1e-12, grows=2.0, floor=SETTLED, first=2.0)
SIDES = ("leaving", "coming")

Row = tuple[np.ndarray, np.ndarray]  # over the states at the mesh points, and over the parameters


class Condensed(NamedTuple):
    """δx_{j+1} = G_j δx_j + P_j δp − r_j, and the change of slopes by those of x_j and p, and alone."""

    G: np.ndarray
    P: np.ndarray
    r: np.ndarray
    by_state: np.ndarray
    by_scalars: np.ndarray
    alone: np.ndarray
    residual: float


@dataclass(frozen=True, eq=False)
class Linearised:
    """All equations about an arc, factorised, in units of the states and parameters."""

    arc: Arc
    condensed: Condensed
    factors: Any
    right: np.ndarray
    rows: dict[str, slice]
    saddles: tuple[Saddle, Saddle]
    units: np.ndarray
    spans: np.ndarray

    def change(self, right: np.ndarray, sources: bool = False) -> Arc:
        """The solution for a right-hand side; with the ``sources`` of collocation that it was condensed from."""
        arc, c = self.arc, self.condensed
        (count, n), k = arc.x.shape, len(arc.rests)
        solved = self.factors.solve(right)
        if not np.isfinite(solved).all():
            raise Refused("the equations of the connecting orbit are singular")
        x = solved[: count * n].reshape(count, n) * self.units
        rests = solved[count * n : (count + k) * n].reshape(k, n) * self.units
        scalars = solved[(count + k) * n :] * self.spans
        K = (c.by_state @ x[:-1, :, None])[..., 0] + c.by_scalars @ scalars + (c.alone if sources else 0.0)
        return Arc(arc.mesh, x, K.reshape(arc.K.shape), rests, scalars, 0.0)

    def unit(self, name: str, values: np.ndarray | float = 1.0) -> np.ndarray:
        """A right-hand side with values in the named rows."""
        right = np.zeros(len(self.right))
        right[self.rows[name]] = values
        return right


@dataclass(frozen=True, eq=False)
class ArcEquations:
    """The equations for a flow and the parameters that vary; the others have the values of a case."""

    case: Bound
    flow: Flow
    parameters: tuple[str, ...]
    gauss: Gauss

    def numbers(self, scalars: np.ndarray) -> np.ndarray:
        numbers, names = self.case.numbers.copy(), self.case.system.parameter_names
        for name, value in zip(self.parameters, scalars, strict=True):
            numbers[names.index(name)] = value
        return numbers

    def stages(self, arc: Arc) -> np.ndarray:
        """States at the Gauss points, indexed [interval, point, state]."""
        inner = np.einsum("il,jln->jin", self.gauss.A, arc.K) * arc.mesh.h[:, None, None]
        return arc.x[:-1, None] + inner

    def rates(self, x: np.ndarray, scalars: np.ndarray) -> np.ndarray:
        """f at states given as rows."""
        return self.flow.rhs(np.ascontiguousarray(x.T), self.numbers(scalars)).T

    def saddles(self, arc: Arc, units: np.ndarray, like: tuple[Saddle, Saddle] | None) -> tuple[Saddle, Saddle]:
        """The saddles at both ends, in units of the states."""
        numbers, found = self.numbers(arc.scalars), []
        for k, rest in enumerate(arc.rests):
            J = self.flow.jacobian(rest, numbers) * units / units[:, None]
            found.append(Saddle.about(J, None if like is None else like[k]))
        return found[0], found[-1]

    def condensed(self, arc: Arc) -> Condensed:
        """The collocation equations of all intervals, each condensed to its ends."""
        (N, m, n), T, g = arc.K.shape, arc.duration, self.gauss
        X, numbers = np.ascontiguousarray(self.stages(arc).reshape(N * m, n).T), self.numbers(arc.scalars)
        f = self.flow.rhs(X, numbers).T.reshape(N, m, n)
        J = np.moveaxis(self.flow.jacobian(X, numbers), 2, 0).reshape(N, m, n, n)
        by = np.moveaxis(self.flow.parameter_jacobian(X, numbers, self.parameters), 2, 0).reshape(N, m, n, -1)
        matrix = np.einsum("j,il,jiab->jialb", -T * arc.mesh.h, g.A, J).reshape(N, m * n, m * n)
        matrix += np.eye(m * n)
        missed = T * f - arc.K
        columns = [T * J, T * by, missed[..., None]]
        solved = np.linalg.solve(matrix, np.concatenate(columns, axis=3).reshape(N, m * n, -1))
        by_state, by_scalars, alone = solved[:, :, :n], solved[:, :, n:-1], solved[:, :, -1]
        ends = np.einsum("j,l,jlac->jac", arc.mesh.h, g.b, solved.reshape(N, m, n, -1))
        over = arc.x[:-1] - arc.x[1:] + np.einsum("j,l,jla->ja", arc.mesh.h, g.b, arc.K)
        residual = float(np.abs(missed / arc.size).max() / max(np.abs(arc.K / arc.size).max(), TINY))
        return Condensed(
            np.eye(n) + ends[:, :, :n], ends[:, :, n:-1], -(over + ends[:, :, -1]),
            by_state, by_scalars, alone, residual,
        )  # fmt: skip

    def linearised(
        self, arc: Arc, reference: Arc, units: np.ndarray, spans: np.ndarray, like: tuple[Saddle, Saddle],
        last: Row | None,
    ) -> Linearised:  # fmt: skip
        """The equations linearised about an arc, in the phase of a reference; a last row fixes the place on a curve."""
        c, saddles = self.condensed(arc), self.saddles(arc, units, like)
        (count, n), k = arc.x.shape, len(arc.rests)
        rows, at_rest, free = _Rows(), count * n, (count + k) * n
        rows.chain(-c.G * units / units[:, None], -c.P * spans / units[:, None], free, -c.r / units)
        self._balance(rows, arc, units, spans, at_rest, free)
        ends = zip((saddles[0].stable, saddles[1].unstable), (0, at_rest - n), (0, k - 1), arc.ends, strict=True)
        for name, (L, node, rest, apart) in zip(SIDES, ends, strict=True):
            rows.add(-L @ (apart / units), (node, L), (at_rest + rest * n, -L), name=name)
        phase = self.phase(reference, units)
        missed = -(phase * (arc.x - reference.x)).sum()
        rows.add(np.array([missed]), (0, (phase * units).reshape(1, -1)))
        if last is not None:  # guesses are on the plane already
            along, across = (last[0] * units).reshape(1, -1), (last[1] * spans)[None]
            rows.add(np.zeros(1), (0, along), (free, across), name="last")
        factors = rows.factorised(free + len(arc.scalars))
        return Linearised(arc, c, factors, np.concatenate(rows.right), rows.named, saddles, units, spans)

    def _balance(self, rows: _Rows, arc: Arc, units: np.ndarray, spans: np.ndarray, at_rest: int, free: int) -> None:
        """Add f = 0 at the equilibria, each row scaled by its size."""
        numbers, n = self.numbers(arc.scalars), len(units)
        for k, rest in enumerate(arc.rests):
            J = self.flow.jacobian(rest, numbers) * units
            by = self.flow.parameter_jacobian(rest, numbers, self.parameters) * spans
            sizes = np.abs(J).max(axis=1, keepdims=True) + TINY
            f = self.flow.rhs(rest, numbers)
            rows.add(-f / sizes[:, 0], (at_rest + k * n, J / sizes), (free, by / sizes))

    def phase(self, reference: Arc, units: np.ndarray) -> np.ndarray:
        """The row ⟨ẋ, ·⟩ over the mesh points, of unit length."""
        rates = self.rates(reference.x, reference.scalars) / units**2 * reference.mesh.weights[:, None]
        return rates / np.linalg.norm(rates * units)

    def corrected(
        self, guess: Arc, reference: Arc, units: np.ndarray, spans: np.ndarray, like: tuple[Saddle, Saddle],
        last: Row | None,
    ) -> Linearised:  # fmt: skip
        """The orbit near a guess, on the plane across a last row through it, with the equations linearised there."""

        def step(arc: Arc) -> tuple[Arc, float]:
            about = self.linearised(arc, reference, units, spans, like, last)
            change = about.change(about.right, sources=True)
            size = max(np.abs(change.x / units).max(), np.abs(change.scalars / spans).max())
            return arc.moved(change, 1.0), float(size)

        found = newton(step, guess, NEAR_A_GUESS)
        if found.outcome is Outcome.ASTRAY:
            raise Refused(f"Newton's method does not converge: its steps grow to {found.change:.1e} of the orbit")
        if not found.ceased:
            raise Refused(f"Newton's method did not converge in {CORRECTIONS} steps")
        return self.linearised(found.at, reference, units, spans, like, last)

    def natural(self, arc: Arc) -> float:
        """The change of the first parameter that changes the rates on an orbit by their own size."""
        X, numbers, units = arc.x.T.copy(), self.numbers(arc.scalars), arc.size[:, None]
        weights = arc.mesh.weights
        rates = ((self.flow.rhs(X, numbers) / units) ** 2 @ weights).sum()
        pushed = ((self.flow.parameter_jacobian(X, numbers, self.parameters[:1])[:, 0] / units) ** 2 @ weights).sum()
        if not pushed:
            raise ParameterError(f"{self.parameters[0]} changes nothing on this orbit: vary another parameter")
        return float(np.sqrt(rates / pushed))

    def error(self, about: Linearised) -> float:
        """How far the velocity, carried over each interval, misses that at its end: of order h^2m, as for cycles."""
        rates = np.ascontiguousarray(self.rates(about.arc.x, about.arc.scalars).T)
        return carried_velocity(np.ascontiguousarray(about.condensed.G), rates, 1 / about.units)


class _Rows:
    """Equations as rows of a sparse matrix, with their right-hand sides."""

    def __init__(self) -> None:
        self.entries: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []
        self.right: list[np.ndarray] = []
        self.named: dict[str, slice] = {}
        self.count = 0

    def add(self, right: np.ndarray, *blocks: tuple[int, np.ndarray], name: str = "") -> None:
        """Add rows with blocks from certain columns on."""
        for column, block in blocks:
            i, j = np.indices(block.shape)
            self.entries.append(((self.count + i).ravel(), (column + j).ravel(), block.ravel()))
        self.right.append(right)
        if name:
            self.named[name] = slice(self.count, self.count + len(right))
        self.count += len(right)

    def chain(self, G: np.ndarray, P: np.ndarray, free: int, right: np.ndarray) -> None:
        """Add the rows of the intervals: G_j at the first of their two nodes, ones at the second, P_j at the
        parameters."""
        N, n, _ = G.shape
        i, j, t = (each.ravel() for each in np.indices(G.shape))
        ones = np.arange(N * n)
        self.entries += [(i * n + j, i * n + t, G.ravel()), (ones, n + ones, np.ones(N * n))]
        self.add(right.ravel(), (free, P.reshape(N * n, -1)))

    def factorised(self, width: int) -> Any:
        from scipy.sparse import csc_matrix
        from scipy.sparse.linalg import splu

        if self.count != width:
            raise Refused(_codimension(1 + self.count - width))
        i, j, values = (np.concatenate(each) for each in zip(*self.entries, strict=True))
        if not np.isfinite(values).all():
            raise Refused("the equations of the connecting orbit are not finite")
        try:
            return splu(csc_matrix((values, (i, j)), shape=(width, width)))
        except RuntimeError as why:
            raise Refused("the equations of the connecting orbit are singular") from why


def _codimension(parameters: int) -> str:
    """Why the numbers of equations and unknowns differ, in words: manifolds too small to meet, or too large not to."""
    if parameters > 1:
        return f"such an orbit is met where {parameters} parameters have certain values, not one"
    return "such orbits are there at all values of the parameters, as manifolds of these dimensions meet"
