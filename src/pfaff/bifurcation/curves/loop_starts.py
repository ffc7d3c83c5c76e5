"""Homoclinic orbits beside a Bogdanov–Takens point: where the curve of them starts."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from pfaff import doors
from pfaff.bifurcation.curves.beside import ASIDE, beside, equilibrium, other_side, through
from pfaff.bifurcation.curves.curves import CurveSpecial, hopf_of_point
from pfaff.bifurcation.curves.hopfs import Hopfs
from pfaff.bifurcation.curves.singular import Folds
from pfaff.continuation.course import Course
from pfaff.continuation.endings import Refused
from pfaff.errors import ConvergenceError, PfaffError
from pfaff.threads import part_of_a_whole

if TYPE_CHECKING:
    from pfaff.bifurcation.connections.connections import Connection

LOOPS = (*ASIDE, 3e-4, 1e-4)  # shares at which homoclinic orbits are looked for: Hopf points may turn back soon
BEYOND = (
    12.0  # farthest load at which the cycles of a Hopf point are followed, relative to the normal form's prediction
)
FARTHER = 49 / 25  # distance of the first parameter from its fold, of the homoclinic orbit relative to the Hopf point
REACH, SAMPLES = 6.0, 401  # range and samples of the normal form's homoclinic orbit
ACCURACY = 1e-9  # accuracy of homoclinic orbits


def homoclinics(special: CurveSpecial, course: Course) -> Any:
    """The curve of homoclinic orbits, from that of the normal form, u = 6 tanh² ζ − 4, between the saddle and the focus
    beside the point.

    At a value of the second parameter, the first one is 49/25 times as far from its fold as at its Hopf point, to
    leading order, the time is ζ/ε, and the eigenvalues of the saddle are ±2ε (Kuznetsov, Meijer, Al Hdaibat and
    Govaerts, Int. J. Bifurcation Chaos 24 (2014)).
    """
    s, why, elsewhere = special.equations, PfaffError(""), False
    course.limits(s.case.system, s.free[-1], special.value)
    for look, share in [*product((_near_normal_form,), LOOPS), *product((_near_cycles,), ASIDE)]:
        try:
            fold, hopf = _fold_and_hopf(special, share, course)
            if (hopf[-1] - special.value) * (course.to - special.value) < 0:
                elsewhere = True
                continue
            found = look(special, fold, hopf)
        except (PfaffError, np.linalg.LinAlgError) as refused:
            why = refused if isinstance(refused, PfaffError) else why
            continue
        if found.homoclinic:
            return found.curve(
                s.free[-1], course.to, step=course.step, points=course.points, bounds=course.bounds,
                progress=course.progress, events=course.events,
            )  # fmt: skip
    if elsewhere:
        raise other_side(special, "homoclinic orbits", course)
    raise ConvergenceError(
        f"no homoclinic orbit was found near the {special.kind} point: {why}. Follow the cycles of a Hopf point beside "
        "it to their homoclinic()"
    )


def _near_normal_form(special: CurveSpecial, fold: np.ndarray, hopf: np.ndarray) -> Connection:
    s, (z, t, x) = special.equations, _saddle_loop(special, fold, hopf)
    return doors.first_arcs.connection_near(
        s.case_at(z), s.flow, s.free[0], s.free_values(z)[s.free[0]], t, x, ACCURACY
    )


@part_of_a_whole()
def _near_cycles(special: CurveSpecial, fold: np.ndarray, hopf: np.ndarray) -> Connection:
    """Where the normal form is too far off, as where Hopf points turn back beside it: at the end of the cycles."""
    s = special.equations
    start = hopf_of_point(s, hopf, float(np.sqrt(Hopfs.at(s, hopf).square(hopf))))
    side = 1.0 if start.born_above else -1.0
    reach = BEYOND * (FARTHER - 1) * abs(hopf[s.n + s.k] - fold[s.n + s.k])
    return start.orbits(to=start.value + side * reach).homoclinic(ACCURACY)


def _saddle_loop(
    special: CurveSpecial, fold: np.ndarray, hopf: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Unknowns, times and states (a row each) of the homoclinic orbit of the normal form between a fold and a Hopf
    point beside it."""
    s, z0 = special.equations, special.spot.z
    z = fold + FARTHER * (hopf - fold)
    numbers, away = s.numbers(z), np.sqrt(FARTHER) * (hopf - fold)[: s.n]
    saddle, focus = (equilibrium(s, fold[: s.n] - sign * away, numbers) for sign in (1.0, -1.0))
    values = np.linalg.eigvals(s.flow.jacobian(saddle, numbers))
    critical = values[np.argsort(np.abs(values))[:2]].real
    if not critical.min() < 0 < critical.max():
        raise Refused("the equilibrium beside the point is no saddle")
    rate, null = float(np.ptp(critical)) / 4, s.across(z0)
    zeta = np.linspace(-REACH, REACH, SAMPLES)
    u, slope = 6 * np.tanh(zeta) ** 2 - 4, 12 * np.tanh(zeta) / np.cosh(zeta) ** 2
    quarter = (saddle - focus) / 4
    second = null.solve(null.q) * (null.q @ quarter) * rate
    x = (saddle + focus) / 2 + np.outer(u, quarter) + np.outer(slope, second)
    return z, zeta / rate, x


def _fold_and_hopf(special: CurveSpecial, share: float, course: Course) -> tuple[np.ndarray, np.ndarray]:
    """A Hopf point beside a Bogdanov–Takens point, so far along its curve on the side where ω² > 0, and the fold at the
    same value of the parameter that changes most along the folds, which touch that curve."""
    z0 = special.spot.z
    folds, hopfs = (through(special, kind, z0, course)[0] for kind in (Folds, Hopfs))
    along = folds.start(z0, 1.0).tangent
    fixed = len(z0) - 2 + int(np.argmax(np.abs(along / folds.units(z0))[-2:]))
    for way in (1.0, -1.0):
        hopf = beside(hopfs, z0, way, share).z
        if hopfs.square(hopf) > 0:
            guess = z0 + (hopf[fixed] - z0[fixed]) / along[fixed] * along
            guess[fixed] = hopf[fixed]
            return folds.solved(guess, np.eye(len(z0))[fixed]), hopf
    raise Refused("no Hopf points are beside the point")
