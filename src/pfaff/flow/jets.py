"""Derivatives of a flow of any order, applied to vectors, without forming tensors.

The Taylor coefficients of s ↦ f(x + s v) come from heyoka's automatic differentiation of x' = v, y' = f(x); mixed
derivatives from those along several lines by polarisation. One compilation serves every order, where the entries of
a fifth-derivative tensor take many times as long to compile.
"""

from __future__ import annotations

import copy
from itertools import product
from math import exp, factorial
from typing import Any

import numpy as np

from pfaff.errors import ParameterError, PfaffError
from pfaff.flow.compiled import taylor_method
from pfaff.flow.expressions import expression, par
from pfaff.flow.flow import Flow
from pfaff.flow.polarisation import Powers, expanded, polarised
from pfaff.threads import Own, cached_property, once

HIGHEST = 5  # derivatives that a normal form of fifth order needs
FACTORIALS = np.array([factorial(k + 1) for k in range(HIGHEST + 3)], dtype=float)
COMPACT_FROM = 8  # states beyond which unrolled code compiles too slowly
TOGETHER = 8  # lines that are differentiated at once, where there are many


class Jets:
    """Derivatives of f(x) along lines, and along several directions at once."""

    def __init__(self, flow: Flow) -> None:
        self.flow, self.states = flow, len(flow.states)
        compiled = self._compiled(())
        self._integrators = Own(lambda: copy.deepcopy(compiled))

    def _compiled(self, shape: tuple[int, ...]) -> Any:
        """x' = v, y' = f(x), for one line or several."""
        flow, known = self.flow, len(self.flow.system.parameters)
        directions = [par[known + j] for j in range(self.states)]
        rates = [expression(f"rate {name}") for name in flow.states]
        equations = [*zip(flow.variables, directions, strict=True), *zip(rates, flow.expressions, strict=True)]
        # heyoka derives its order from the tolerance: ⌈1 − ln(tol)/2⌉, one more than the derivatives of f.
        large = self.states > COMPACT_FROM or flow.heavy
        start = np.zeros((len(equations), *shape))
        # Unoptimised, it compiles in a tenth of the time, and takes twice as long per line.
        return taylor_method(equations, start, tol=exp(-2 * HIGHEST), compact_mode=large, opt_level=0)

    @cached_property
    def _groups(self) -> Own[Any]:
        """Integrators for several lines at once."""
        compiled = self._compiled((TOGETHER,))
        return Own(lambda: copy.deepcopy(compiled))

    def __reduce__(self) -> tuple[Any, ...]:
        return jets_of, (self.flow,)

    def line(self, x: np.ndarray, numbers: np.ndarray, direction: np.ndarray) -> np.ndarray:
        """dᵏ/dsᵏ f(x + s v) at s = 0, column k, for all orders."""
        integrator, n = self._integrators.own, self.states
        integrator.time = 0.0
        state, parameters = integrator.state, integrator.pars
        state[:n], state[n:] = x, 0.0
        parameters[:-n], parameters[-n:] = numbers, direction
        integrator.step(max_delta_t=1.0, write_tc=True)
        coefficients = integrator.tc[n:, 1:]
        if not np.isfinite(coefficients).all():
            raise _singular()
        return coefficients * FACTORIALS[: coefficients.shape[1]]

    def lines(self, x: np.ndarray, numbers: np.ndarray, directions: np.ndarray, order: int) -> np.ndarray:
        """The derivative of one order at many states, along one direction each, a row for each."""
        integrator, n, count = self._groups.own, self.states, len(x)
        state, parameters, found = integrator.state, integrator.pars, np.empty_like(x)
        parameters[:-n] = numbers[:, None]
        for first in range(0, count, TOGETHER):
            group = np.minimum(np.arange(first, first + TOGETHER), count - 1)  # the last one fills up its group
            integrator.set_time(0.0)
            state[:n], state[n:] = x[group].T, 0.0
            parameters[-n:] = directions[group].T
            integrator.step(max_delta_t=[1.0] * TOGETHER, write_tc=True)
            found[group] = integrator.tc[n:, order + 1].T
        if not np.isfinite(found).all():
            raise _singular()
        return found * factorial(order + 1)  # derivatives of y' = f

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
                    total += sign * self.line(x, numbers, direction)[:, order]
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
        from pfaff.flow.structured_views import RodJets

        return RodJets(flow)  # type: ignore[arg-type]
    return Jets(flow)
