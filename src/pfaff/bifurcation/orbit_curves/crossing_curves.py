"""Other curves of special orbits that pass or start at a point of codimension two.

| point | curves that meet there |
|---|---|
| 1:1 resonance | folds, tori |
| 1:2 resonance | period doublings, tori |
| fold-flip, fold-torus, flip-torus | of both kinds |
| generalised period doubling | period doublings, folds of orbits of twice the period |

Kuznetsov, Elements of Applied Bifurcation Theory (3rd ed. 2004), Ch. 9. At the first ones the orbit itself lies on both
curves. Tori start from a resonance on the side where their multipliers are complex.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from pfaff.bifurcation.orbit_curves.cycle_curves import KINDS, curve_of_orbits, followed, second_span, started
from pfaff.bifurcation.orbit_curves.resonance import STRONG, first_cosine
from pfaff.bifurcation.orbit_curves.surface import Place, Surface
from pfaff.bifurcation.orbits.orbits import Special
from pfaff.continuation.course import Course
from pfaff.continuation.endings import Refused
from pfaff.continuation.kinds import Kind
from pfaff.errors import ConvergenceError, NoBifurcationError, ParameterError, PfaffError
from pfaff.statement.values import one_of

if TYPE_CHECKING:
    from pfaff.bifurcation.orbit_curves.cycle_curves import CycleCurve, CycleSpecial

ASIDE = (0.01, 0.03, 0.003, 0.1)  # distances along the curve at which orbits beside the point are examined
FIRST = 1e-3  # the same, at which multipliers tell the side of tori
BEYOND = 4.0  # farthest load at which a fold is looked for, relative to the prediction by the normal form
ORBITS = 80  # most orbits on which it is looked for
FLIP = Kind.PERIOD_DOUBLING
WAYS: dict[str, tuple[str, ...]] = {
    Kind.RESONANCE_1: (Kind.FOLD, Kind.TORUS),
    Kind.RESONANCE_2: (FLIP, Kind.TORUS),
    Kind.FOLD_FLIP: (Kind.FOLD, FLIP),
    Kind.FOLD_TORUS: (Kind.FOLD, Kind.TORUS),
    Kind.FLIP_TORUS: (FLIP, Kind.TORUS),
    Kind.GENERALISED_DOUBLING: (Kind.FOLD,),
    Kind.DEGENERATE_PITCHFORK: (Kind.FOLD,),
}


def switched(special: CycleSpecial, of: str, course: Course, way: int) -> CycleCurve:
    """The curve of another kind that meets the one on which a point lies; there is no other one, if way < 0."""
    orbit, name = special.special, list(special.values)[-1]
    own = Kind.SYMMETRY_BREAKING if orbit.symmetric else FLIP
    ways = [own if each == FLIP else each for each in WAYS.get(special.kind, ())]
    if not ways:
        raise NoBifurcationError(f"no curve of another kind starts at a {special.kind}")
    one_of(ways, of, f"at a {special.kind} point there starts no curve of kind")
    if way < 0:
        raise NoBifurcationError(f"one curve of kind {of} starts at a {special.kind} point: leave out way={way}")
    limits = course.limits(orbit.case.system, name, special.value)
    spans = special.spans | {name: second_span(orbit, name, limits)}
    surface = Surface(of, spans, name, special.values)
    if FLIP not in WAYS[special.kind] and Kind.TORUS not in WAYS[special.kind]:
        return _folds_of_doubled(special, course)
    known = STRONG.get(special.kind, first_cosine(orbit.point.multipliers, 1 + len(orbit.problem.held)))
    first = started(surface, orbit, known, course.to - special.value)
    if of == Kind.TORUS and special.kind in STRONG:
        first = _turning(special, surface, first, course)
    return followed(surface, first, course, limits)


def _turning(special: CycleSpecial, surface: Surface, first: Place, course: Course) -> Place:
    """The start of tori at a resonance, with its tangent towards where their multipliers are complex."""
    for way in (1.0, -1.0):
        there = replace(first, along=way * first.along)
        with suppress(Refused):
            beside = surface.across(there, FIRST * there.along, there.along)[1]
            if abs(beside.critical.cosine) < 1:
                if way < 0 and abs(surface.slopes(first) @ first.along) > FIRST:
                    raise _other_side(special, "tori", course)
                return there
    raise ConvergenceError(f"no tori were found beside the {special.kind}")


def _other_side(special: CycleSpecial, what: str, course: Course) -> ParameterError:
    side, name = "above" if course.to < special.value else "below", list(special.values)[-1]
    where = f"{name} = {special.value:.8g}"
    return ParameterError(f"{what} are {side} {where}, and to={course.to:g} is not: give to {side} it")


def _folds_of_doubled(special: CycleSpecial, course: Course) -> CycleCurve:
    """Where c e < 0, the branch of doubled orbits, ξ² = −c/(2e) at its fold, turns at the load growth·Δ = c²/(4e)."""
    name, elsewhere = list(special.values)[-1], False
    e = special.normal_form.coefficients["e"].real
    for flip in _beside(special):
        with suppress(PfaffError, np.linalg.LinAlgError):
            form = flip.normal_form
            if form.coefficient is None or form.coefficient.real * e > 0:
                continue
            c = form.coefficient.real
            away = c**2 / (4 * e * form.growth)
            branch = flip.switch(to=flip.value + BEYOND * away, points=ORBITS)
            fold = next(iter(branch.of_kind(Kind.FOLD)), None)
            if fold is None:
                continue
            value = float(fold.case.numbers[fold.case.system.parameter_names.index(name)])
            if (value - special.value) * (course.to - special.value) > 0:
                return curve_of_orbits(fold, name, course, fold.natural)
            elsewhere = True
    if elsewhere:
        raise _other_side(special, KINDS[Kind.FOLD], course)
    raise NoBifurcationError(f"no {KINDS['fold']} were met on the orbits beside the {special.kind}")


def _beside(special: CycleSpecial) -> Iterator[Special]:
    """Period doublings, or symmetry breakings, on both sides of a degenerate one."""
    orbit, name = special.special, list(special.values)[-1]
    surface = Surface(orbit.kind, special.spans, name, special.values)
    first = started(surface, orbit, np.nan, 1.0)
    for share in ASIDE:
        for way in (share, -share):
            with suppress(Refused):
                there = surface.across(first, way * first.along, first.along)[1]
                yield Special(there.problem, there.point, orbit.kind)
