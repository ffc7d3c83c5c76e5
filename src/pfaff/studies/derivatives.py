"""f and its derivatives for many points at once, compiled on demand."""

from __future__ import annotations

from pfaff.flow.compiled import Compiled
from pfaff.flow.differentiation import derivatives, jacobian_entries
from pfaff.flow.flow import Flow
from pfaff.flow.graph import ZERO, Expression, expression, par, subs
from pfaff.threads import cached_property, once


class Functions:
    """f and its derivatives, compiled for many points; a load that is a speed or a coordinate becomes a parameter in
    them. For a heavy flow they are not optimised: that would take longer than most studies."""

    def __init__(self, flow: Flow, load: str) -> None:
        self._flow = flow
        names = flow.system.parameter_names
        stated = load in names
        self._load = par[names.index(load)] if stated else expression(load)
        self._replaced = {} if stated else {self._load: par[len(names)]}

    def _compiled(self, expressions: list[Expression], more: list[Expression] | None = None) -> Compiled:
        named = subs(expressions, self._replaced) if self._replaced else expressions
        return Compiled(named, [*self._flow.variables, *(more or [])])

    @cached_property
    def affine(self) -> bool:
        """Whether f is affine in the load, judged by its expressions."""
        return all(each is ZERO for _, each in derivatives(self._flow.expressions, [self._load], 2))

    @cached_property
    def _entries(self) -> list[Expression]:
        return [each for row in self._flow.derivatives(self._flow.variables) for each in row]

    @cached_property
    def rates(self) -> Compiled:
        return self._compiled(list(self._flow.expressions))

    @cached_property
    def by_load(self) -> Compiled:
        return self._compiled([each for (each,) in self._flow.derivatives([self._load])])

    @cached_property
    def jacobian(self) -> Compiled:
        return self._compiled(self._entries)

    @cached_property
    def both(self) -> Compiled:
        return self._compiled([*self._entries, *jacobian_entries(self._entries, [self._load])])

    @cached_property
    def second(self) -> Compiled:
        return self._along(2)

    @cached_property
    def second_and_third(self) -> Compiled:
        return self._along(2, 3)

    def _along(self, *orders: int) -> Compiled:
        """dᵏ/dsᵏ f(x + s v) at s = 0, for these orders k one after another, as functions of x and v."""
        flow, s = self._flow, expression("along a line")
        directions = [expression(f"direction of {name}") for name in flow.states]
        moved = {x: x + s * v for x, v in zip(flow.variables, directions, strict=True)}
        rates = subs(flow.expressions, moved)
        turned = [each for order in orders for _, each in derivatives(rates, [s], order)]
        return self._compiled(subs(turned, {s: ZERO}), directions)


@once(most=32)
def functions_of(flow: Flow, load: str) -> Functions:
    return Functions(flow, load)
