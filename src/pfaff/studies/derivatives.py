"""f and its derivatives for many points at once, compiled when they are first asked for."""

from __future__ import annotations

import heyoka as hy
import numpy as np

from pfaff.flow.compiled import Compiled
from pfaff.flow.flow import Flow
from pfaff.flow.graph import Expression
from pfaff.threads import cached_property, once


class Functions:
    """f and its derivatives, compiled for many points; a load that is a speed or a coordinate is made a parameter in
    them."""

    def __init__(self, flow: Flow, load: str) -> None:
        self._flow = flow
        names = flow.system.parameter_names
        self._load = hy.par[names.index(load) if load in names else len(names)]
        self._replaced = {} if load in names else {hy.expression(load): self._load}

    def _compiled(self, expressions: list[Expression], more: list[Expression] | None = None) -> Compiled:
        return Compiled(self._as_parameter(expressions), [*self._flow.variables, *(more or [])])

    def _as_parameter(self, expressions: list[Expression]) -> list[Expression]:
        return list(hy.subs(expressions, self._replaced)) if self._replaced else expressions

    def _by_load(self, expressions: list[Expression]) -> list[Expression]:
        return list(np.ravel(hy.diff_tensors(self._as_parameter(expressions), [self._load], diff_order=1).jacobian))

    @cached_property
    def affine(self) -> bool:
        """Whether f is a straight line in the load, by its expressions."""
        tensors = hy.diff_tensors(self._as_parameter(list(self._flow.expressions)), [self._load], diff_order=2)
        return all(each == hy.expression(0.0) for _, each in tensors.get_derivatives(2))

    @property
    def _entries(self) -> list[Expression]:
        flow = self._flow
        return list(np.ravel(hy.diff_tensors(list(flow.expressions), flow.variables, diff_order=1).jacobian))

    @cached_property
    def rates(self) -> Compiled:
        return self._compiled(list(self._flow.expressions))

    @cached_property
    def by_load(self) -> Compiled:
        return self._compiled(self._by_load(list(self._flow.expressions)))

    @cached_property
    def jacobian(self) -> Compiled:
        return self._compiled(self._entries)

    @cached_property
    def both(self) -> Compiled:
        entries = self._entries
        return self._compiled([*entries, *self._by_load(entries)])

    @cached_property
    def second(self) -> Compiled:
        return self._along(2)

    @cached_property
    def second_and_third(self) -> Compiled:
        return self._along(2, 3)

    def _along(self, *orders: int) -> Compiled:
        """dᵏ/dsᵏ f(x + s v) at s = 0, of these orders k one after another, as functions of x and v."""
        flow, s = self._flow, hy.expression("along a line")
        directions = [hy.expression(f"direction of {name}") for name in flow.states]
        moved = {x: x + s * v for x, v in zip(flow.variables, directions, strict=True)}
        tensors = hy.diff_tensors(list(hy.subs(list(flow.expressions), moved)), [s], diff_order=max(orders))
        derivatives = [each for order in orders for _, each in tensors.get_derivatives(order)]
        return self._compiled(list(hy.subs(derivatives, {s: hy.expression(0.0)})), directions)


@once(most=32)
def functions_of(flow: Flow, load: str) -> Functions:
    return Functions(flow, load)
