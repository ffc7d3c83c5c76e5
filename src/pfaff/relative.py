"""The equations of motion without the coordinates of a symmetry: where steady motions are equilibria.

The heading of a wheel stands in its rolling constraints, but nothing that happens depends on it. Such cyclic
coordinates are found by trial at random states, where an identity fails with probability one if it fails at all; they
are then set to zero, and only their velocities remain.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import lru_cache

import heyoka as hy
import numpy as np

from pfaff.compiled import Compiled
from pfaff.errors import ParameterError, nearest
from pfaff.flow import COMPACT_FROM, Flow, reference_matrix, shape_flow
from pfaff.lowering import graph_of
from pfaff.reduction import dependent_velocities, ignorable_coordinates
from pfaff.system import System

TRIALS = 3
SAME = 1e-9  # rates that differ by less, relatively, are the same
SETTLE = 1.0  # the rate at which holonomic constraints attract; it leaves no trace in any result


def relative_flow(system: System, independent: Iterable[str] = ()) -> Flow:
    """The flow in which steady motions rest, with these velocities among its states."""
    return _relative(system, frozenset(independent))


@lru_cache(maxsize=16)
def _relative(system: System, independent: frozenset[str]) -> Flow:
    shape = _chart(system, independent)
    cyclic = cyclic_coordinates(shape)
    if not cyclic:
        return shape
    gone = {hy.expression(name): hy.expression(0.0) for name in cyclic}
    left = [k for k, name in enumerate(shape.states) if name not in cyclic]
    why = dict.fromkeys(cyclic, "dropped: by symmetry only its velocity matters")
    return replace(
        shape,
        states=tuple(shape.states[k] for k in left),
        dropped={**shape.dropped, **why},
        kept={name: reason for name, reason in shape.kept.items() if name not in cyclic},
        expressions=hy.subs([shape.expressions[k] for k in left], gone),
        velocity_expressions=hy.subs(list(shape.velocity_expressions), gone),
        reaction_expressions=hy.subs(list(shape.reaction_expressions), gone) if shape.reaction_expressions else [],
        _compiled={},
        _indices={},
    )


def cyclic_coordinates(flow: Flow) -> tuple[str, ...]:
    """Coordinates of a flow that no rate depends on."""
    names = [name for name in flow.states if name in flow.system.coordinate_names]  # type: ignore[union-attr]
    function = Compiled(flow.expressions, flow.variables, quick=True, compact=len(flow.states) > COMPACT_FROM // 3)
    generator = np.random.default_rng(1897)
    found = set(names)
    for _ in range(TRIALS):
        x, numbers, rates = _trial(function, flow, generator)
        for name in sorted(found):
            turned = x.copy()
            turned[flow.states.index(name)] += generator.uniform(0.3, 0.9)
            change = np.abs(function(turned, numbers) - rates).max()
            if not change <= SAME * (1 + np.abs(rates).max()):
                found.discard(name)
    return tuple(name for name in names if name in found)


def _trial(function: Compiled, flow: Flow, generator: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A random state and parameters near the defaults, where the rates are finite."""
    defaults = np.array([1.0 if value is None else float(value) for value in flow.system.parameters.values()])
    for size in (1.0, 0.3, 0.1, 0.03):
        numbers = defaults * generator.uniform(0.8, 1.2, len(defaults))
        x = generator.uniform(0.2 * size, size, len(flow.states))
        rates = function(x, numbers)
        if np.isfinite(rates).all():
            return x, numbers, rates
    raise ParameterError(f"the rates of {flow.system.name} are not finite at any state tried: check its defaults")


def _chart(system: System, independent: frozenset[str]) -> Flow:
    """The shape flow whose dependent velocities are not among those asked for."""
    names = system.coordinate_names
    wanted = {name.removesuffix("_dot") for name in independent}
    for name in wanted:
        if name not in names:
            raise ParameterError(f"{system.name} has no velocity {name}_dot: {nearest(name, names)}")
    settle = SETTLE if system.holonomic_constraints else 0.0
    graph = graph_of(system)
    A = reference_matrix(graph)
    open_ = [j for j, name in enumerate(names) if name not in wanted]
    if len(A) and np.linalg.matrix_rank(A[:, open_]) < len(A):
        raise ParameterError(
            f"the constraints of {system.name} do not leave {', '.join(sorted(independent))} free together: "
            "fix fewer of them"
        )
    if not len(A):
        return system.shape
    first = [k for k, j in enumerate(open_) if names[j] in ignorable_coordinates(graph)]
    chosen = [names[open_[k]] for k in dependent_velocities(A[:, open_], first)]
    return shape_flow(system, chosen, settle)
