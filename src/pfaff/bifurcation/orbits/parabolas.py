"""Where functions come near zero in a step of a branch of orbits, by parabolas through three of their values."""

from __future__ import annotations

from math import nan

from pfaff.algebra.cubics import vertex
from pfaff.kernels.step_rules import NEAR

APART = 1e-5  # places on the chord of a step that are different


def near_zero(nodes: list[tuple[float, float]], share: float = NEAR) -> float | None:
    """Where between three values the parabola through them is nearest to zero or beyond, if it is a share of those."""
    (t0, f0), (_, f1), (t2, f2) = nodes
    at, low = vertex(nodes) or (nan, nan)
    return at if low * f0 < share * abs(f0) * min(abs(f1), abs(f2)) and t0 < at < t2 else None


def lowest(nodes: list[tuple[float, float]], share: float = NEAR) -> float | None:
    """The same, if it is apart from places that are known."""
    at = near_zero(nodes, share)
    return at if at is not None and all(abs(at - place) > APART for place, _ in nodes) else None


def around(nodes: list[tuple[float, float]], at: float) -> list[tuple[float, float]]:
    """The node at a place and its neighbours; at an end, the last three."""
    ordered = sorted(nodes)
    k = min(max([t for t, _ in ordered].index(at), 1), len(ordered) - 2)
    return ordered[k - 1 : k + 2]
