"""Derivatives of a flow of any order, applied to vectors, without forming tensors.

The Taylor coefficients of s ↦ f(x + s v) are swept through the tape of f, order by order; mixed derivatives follow from
those along several lines by polarisation.
"""

from __future__ import annotations

from itertools import product
from math import factorial
from typing import Any

import numpy as np

from pfaff import doors
from pfaff.errors import ParameterError, PfaffError
from pfaff.flow.flow import Flow
from pfaff.flow.integrator import aligned
from pfaff.flow.polarisation import Powers, expanded, polarised
from pfaff.flow.recurrences import lowered
from pfaff.flow.tape import tape_of
from pfaff.kernels.taylor_lanes import LaneSweeper
from pfaff.kernels.taylor_steps import Sweeper
from pfaff.threads import Own, once

HIGHEST = 5  # derivatives that a normal form of fifth order needs
FACTORIALS = np.array([factorial(k) for k in range(HIGHEST + 1)], dtype=float)
LINES_FROM = 8  # states beyond which Jacobians of involved flows are taken along lines
TOGETHER = 8  # lines that are differentiated at once, where there are many


class Jets:
    """Derivatives of f(x) along lines, and along several directions at once."""

    def __init__(self, flow: Flow) -> None:
        self.flow, self.states = flow, len(flow.states)
        self._recurrences = lowered(tape_of(flow.expressions, flow.variables))
        self._singles, self._groups = Own(self._single), Own(self._group)

    def _single(self) -> tuple[Sweeper, np.ndarray, np.ndarray]:
        """A sweeper along one line with its state and parameters."""
        x, pars, nothing = np.zeros(self.states), np.zeros(self._recurrences.p), np.zeros(1)
        return Sweeper(self._recurrences, HIGHEST, x, pars, nothing, nothing, aligned), x, pars

    def _group(self) -> tuple[LaneSweeper, np.ndarray, np.ndarray, np.ndarray]:
        """A sweeper for several lines at once, its states and parameters, and where it leaves its coefficients,
        [output, order, line]."""
        x, pars = np.zeros((self.states, TOGETHER)), np.zeros((self._recurrences.p, TOGETHER))
        room = aligned(self.states * (HIGHEST + 1) * TOGETHER)
        sweeper = LaneSweeper(self._recurrences, HIGHEST, x, pars, room, aligned)
        return sweeper, x, pars, room.reshape(self.states, HIGHEST + 1, TOGETHER)

    def __reduce__(self) -> tuple[Any, ...]:
        return jets_of, (self.flow,)

    def line(self, x: np.ndarray, numbers: np.ndarray, direction: np.ndarray, order: int = HIGHEST) -> np.ndarray:
        """dᵏ/dsᵏ f(x + s v) at s = 0, column k, for all orders up to one."""
        (sweeper, state, pars), found = self._singles.own, np.empty((self.states, order + 1))
        state[:], pars[:] = x, numbers[: len(pars)]
        sweeper.along(np.ascontiguousarray(direction, dtype=float), order, found)
        if not np.isfinite(found).all():
            raise _singular()
        return found * FACTORIALS[: order + 1]

    def lines(self, x: np.ndarray, numbers: np.ndarray, directions: np.ndarray, order: int) -> np.ndarray:
        """The derivative of one order at many states, along one direction each, a row for each."""
        (sweeper, state, pars, coefficients), count, found = self._groups.own, len(x), np.empty(x.shape)
        pars[:] = numbers[: len(pars), None]
        sweeper.take_parameters()
        for first in range(0, count, TOGETHER):
            group = np.minimum(np.arange(first, first + TOGETHER), count - 1)  # the last one fills up its group
            state[:] = x[group].T
            sweeper.along(np.array(directions[group].T, dtype=float, order="C"), order)
            found[group] = coefficients[:, order].T
        if not np.isfinite(found).all():
            raise _singular()
        return found * FACTORIALS[order]

    def forms(self, x: np.ndarray, numbers: np.ndarray, *vectors: np.ndarray) -> np.ndarray:
        """The symmetric form of as many derivatives as vectors, at many states, a row each: a few lines serve all of
        it."""
        bases, terms = expanded(vectors)
        lengths = [np.linalg.norm(base, axis=1) for base in bases]
        units = [base / np.where(length, length, 1.0)[:, None] for base, length in zip(bases, lengths, strict=True)]
        known: dict[Powers, np.ndarray] = {}
        total = np.zeros(x.shape, dtype=complex)
        for powers, factor in terms.items():
            scale = factor * np.prod([size**k for size, k in zip(lengths, powers, strict=True)], axis=0)
            for line, weight in polarised(powers).items():
                if line not in known:
                    direction = sum(k * unit for k, unit in zip(line, units, strict=True))
                    known[line] = self.lines(x, numbers, np.asarray(direction), len(vectors))
                total += weight * scale[:, None] * known[line]
        return total if any(np.iscomplexobj(v) for v in vectors) else total.real

    def form(self, x: np.ndarray, numbers: np.ndarray, *vectors: np.ndarray) -> np.ndarray:
        """The symmetric multilinear form ∂ᵏf applied to k directions, real or complex."""
        order = len(vectors)
        if not 1 <= order <= HIGHEST:
            raise ParameterError(f"a derivative of order {order}: ask for 1 to {HIGHEST}")
        lengths = np.array([np.linalg.norm(v) for v in vectors])
        if not lengths.all():
            return np.zeros(self.states)
        parts = [_parts(v / length) for v, length in zip(vectors, lengths, strict=True)]
        factors, chosen = zip(*_products(parts), strict=True)
        values = self._polarised_all(x, numbers, list(chosen))
        total = np.tensordot(np.array(factors), np.array(values), 1) * lengths.prod()
        return total if any(np.iscomplexobj(v) for v in vectors) else total.real

    def _polarised_all(self, x: np.ndarray, numbers: np.ndarray, chosen: list[list[np.ndarray]]) -> list[np.ndarray]:
        """F(v1 … vk) = Σ ± F(v1 ± v2 … ± vk) / (2ᵏ⁻¹ k!) for a symmetric form F, for each choice of vectors."""
        order, found = len(chosen[0]), []
        for vectors in chosen:
            total = np.zeros(self.states)
            for sign, direction in self.lines_of(vectors):
                if direction.any():
                    total += sign * self.line(x, numbers, direction, order)[:, order]
            found.append(total / (2 ** (order - 1) * factorial(order)))
        return found

    @staticmethod
    def lines_of(vectors: list[np.ndarray]) -> list[tuple[float, np.ndarray]]:
        """The lines v1 ± v2 … ± vk, each with the product of its signs."""
        lines = [(1.0, vectors[0])]
        for vector in vectors[1:]:
            lines = [(s * sign, line + s * vector) for sign, line in lines for s in (1.0, -1.0)]
        return lines


def _singular() -> PfaffError:
    return PfaffError("the derivatives of the flow are not finite here: the state is singular")


def _parts(vector: np.ndarray) -> list[tuple[complex, np.ndarray]]:
    """Real and imaginary part with their factors, without those that vanish."""
    return [(unit, part) for unit, part in ((1, vector.real), (1j, vector.imag)) if part.any()]


def _products(parts: list[list[tuple[complex, np.ndarray]]]) -> list[tuple[complex, list[np.ndarray]]]:
    return [
        (complex(np.prod([unit for unit, _ in chosen])), [part for _, part in chosen]) for chosen in product(*parts)
    ]


@once(most=1)
def jets_of(flow: Flow) -> Jets:
    if flow.structured:
        return doors.structured_views.RodJets(flow)  # type: ignore[arg-type]
    return Jets(flow)
