"""Flows in all velocities, whose constraints attract: regular wherever the constraints are independent.

A shape flow solves the constraints for some velocities, and ends where they do not determine these. Here every velocity
is a state, and nothing is solved for: the multipliers keep c = A q̇ + b, with s φ added for holonomic constraints, at ċ
= −s c (Baumgarte 1972). Motions with c = 0 are those of the system. Every periodic one has it, so that an isolated
orbit stays isolated, and the changes that c allows to first order are carried into each other.
"""

from __future__ import annotations

from dataclasses import replace

from pfaff.flow.accelerations import Accelerations
from pfaff.flow.flow import Flow, lowered_again
from pfaff.flow.forcing import carried
from pfaff.flow.graph import Expression, sqrt, sum_of, variables_in
from pfaff.flow.lagrangian import Graph
from pfaff.statement.system import System
from pfaff.threads import once


@lowered_again
@once(most=16)
def in_all_velocities(flow: Flow, rate: float) -> Flow:
    """The same motions without a chart; constraints attract at a rate, holonomic ones at their own if they have one."""
    assert flow.unsolved is not None
    assert isinstance(flow.system, System)
    stated = flow.unsolved
    settle = flow.settle or rate
    bonds = [
        c if k < stated.nonholonomic else c + settle * stated.positions[k - stated.nonholonomic]
        for k, c in enumerate(stated.constraints)
    ]
    graph = replace(stated, gamma=_attracted(stated, bonds, settle))
    names = flow.system.coordinate_names
    shape = [j for j, name in enumerate(names) if name in flow.states]
    accelerations, reactions = graph.solve()

    wide = replace(
        flow,
        states=(*(names[j] for j in shape), *(f"{name}_dot" for name in names)),
        dependent=(),
        expressions=[*(graph.rates[j] for j in shape), *accelerations],
        velocity_expressions=graph.v,
        reaction_expressions=graph.shared(reactions),
        settle=settle,
        pivots=[sqrt(d) for d in graph.elimination.schur[1] if variables_in([d])],
        accelerations=Accelerations(graph, range(len(names)), {}),
        carried=(),
        unsolved=None,
        bonds=[*bonds, *stated.positions],  # what leaves φ = 0 itself decays as well
    )
    return carried(wide) if flow.carried else wide


def _attracted(graph: Graph, bonds: list[Expression], settle: float) -> list[Expression]:
    """The γ for which A q̈ + γ = 0 makes every bond decay; φ̇ of a holonomic constraint is A q̇ + b."""
    held = graph.nonholonomic
    return [
        sum_of([gamma, settle * bond, *([settle * c] if k >= held else [])])
        for k, (gamma, bond, c) in enumerate(zip(graph.gamma, bonds, graph.constraints, strict=True))
    ]
