"""The first crossing of the imaginary axis for many points at once, confirmed as the first, or left to the scalar
search.

Along the load, D_{m−1} of Hurwitz (the product of all sums of two eigenvalues) is a smooth function: a polynomial where
the small motions are linear in the load. It is sampled at Chebyshev nodes until its series is resolved, and marched
along by steps that cannot pass a root (``many_polynomials.first_roots``): where it first vanishes with a pair ±iω,
that is the first Hopf point. Newton's method on Re λ = 0 then gives it to rounding. Doubtful points get no answer.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pfaff.kernels import many_matrices, many_polynomials
from pfaff.studies.along_loads import at_loads, settled
from pfaff.studies.frames import Frame
from pfaff.studies.marching import FOUND, NOWHERE, UNRESOLVED, March, Stretch

POLISH = 7  # Newton steps to a crossing, at most
SHARP = 1e-12  # last step, relative to the load, unless it is rounding
UNMOVED = 1e-14  # step, relative to the load, that does not change the vectors
SURE = 2e-11  # relative change of a load by rounding
CROSSES = 1e-6  # change of growth with the load, relative to the eigenvalue
AWAY = 1e-3  # farthest distance of Newton's method from the root of the series, relative to the stretch


@dataclass
class Crossings:
    """Arrays over points. ``found`` where there is a first crossing, ``absent`` where there is none up to the last
    load."""

    found: np.ndarray
    absent: np.ndarray
    load: np.ndarray
    value: np.ndarray
    speed: np.ndarray
    x: np.ndarray
    q: np.ndarray
    p: np.ndarray
    steady: np.ndarray  # whether no eigenvalue passes zero before
    stable: np.ndarray  # whether all eigenvalues are to the left where the path begins


def first_crossings(frame: Frame, parameters: np.ndarray, before: bool = True) -> Crossings:
    """The first crossing of a pair ±iω, for every column of parameters; and what happens ``before`` it, if asked
    for."""
    march = March(frame, parameters)
    out = _nothing(frame.n, parameters.shape[1])
    if before:
        out.stable = march.begins_stable()
    for stretch in march.stretches():
        _look(march, stretch, out, before)
    out.absent = march.absent
    return out


def _nothing(n: int, N: int) -> Crossings:
    no, numbers = np.zeros(N, dtype=bool), np.full(N, np.nan)
    states, complexes = np.zeros((n, N)), np.zeros((n, N), dtype=complex)
    return Crossings(
        found=no,
        absent=no.copy(),
        load=numbers,
        value=numbers.astype(complex),
        speed=numbers.copy(),
        x=states,
        q=complexes,
        p=complexes.copy(),
        steady=~no,
        stable=no.copy(),
    )


def _look(march: March, stretch: Stretch, out: Crossings, before: bool) -> None:
    """Examine one stretch for all points that still march."""
    which, place = stretch.first(stretch.seen.test)
    at, active = stretch.distances(place), stretch.points
    if before:
        zero = stretch.first(stretch.seen.zero)
        sooner = (zero[0] != NOWHERE) & ~((zero[0] == FOUND) & (zero[1] > place) & (which == FOUND))
        out.steady[active] &= ~(sooner & (which < UNRESOLVED))
    rooted = which == FOUND
    done = np.zeros(len(active), dtype=bool)
    if rooted.any():
        done[rooted] = _polished(march, out, active[rooted], at[rooted], stretch.equilibria(place, rooted))
    passed = rooted & ~done & ~np.isnan(out.speed[active])
    out.speed[active[passed]] = np.nan
    march.go_on(stretch, which == NOWHERE, which == UNRESOLVED, passed, place)


def _polished(march: March, out: Crossings, points: np.ndarray, distances: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Newton's method on Re λ = 0 from the roots of the series; returns for which points it gave the crossing.

    This is not ``newton``: once all loads are sharp, a last step is taken for the vectors alone. Where the vanishing
    sum is that of two real eigenvalues, the speed is left at zero: the search goes on behind it.
    """
    frame = march.frame
    n, N = frame.n, len(points)
    own = march.parameters[:, points]
    loads = march.begins[points] + frame.sign * distances
    root = loads.copy()
    square, ignored = np.empty(N), np.empty(N, dtype=bool)
    moves = frame.pushed(x, at_loads(frame, own, loads))
    good = np.ones(N, dtype=bool)
    if moves:
        x, good = settled(frame, at_loads(frame, own, loads), x, strict=False)
    J, change = frame.both(x, at_loads(frame, own, loads))
    C, _ = frame.polynomials(J)
    many_polynomials.routh(C, frame.unit, square, ignored)
    out.speed[points[~(square > 0)]] = 0.0
    good &= square > 0
    shift = 1j * np.sqrt(np.abs(square))
    value, q, p = np.empty(N, dtype=complex), np.empty((n, N), dtype=complex), np.empty((n, N), dtype=complex)
    error, rate, step = np.empty(N), np.empty(N, dtype=complex), np.full(N, np.inf)
    exact, last = np.zeros(N, dtype=bool), False
    for turn in range(POLISH):
        at = at_loads(frame, own, loads)
        if moves and turn:
            x, settles = settled(frame, at, x, strict=False)
            good &= settles
        if turn:
            J, change = frame.both(x, at)
        many_matrices.eigenpairs(J, n, frame.scale, frame.unit, shift, value, q, p, error)
        many_matrices.products(change, n, p, q, rate)
        if moves:
            rate += _along(frame, x, at, J, q, p)
        with np.errstate(all="ignore"):
            step = np.nan_to_num(value.real / rate.real, nan=np.inf, posinf=np.inf, neginf=np.inf)
        loads = loads - np.where(np.isfinite(step), step, 0.0)
        shift = 1j * value.imag
        exact = np.abs(step) <= SHARP * np.abs(loads) + error / np.abs(rate.real)
        if last or (exact[good].all() and (np.abs(step[good]) <= UNMOVED * np.abs(loads[good])).all()):
            break
        last = bool(exact[good].all())  # once more, for vectors that belong to the last load
    size = np.abs(loads)
    with np.errstate(all="ignore"):
        good &= exact
        good &= error / np.abs(rate.real) <= SURE * size
        good &= np.abs(rate.real) > CROSSES * np.abs(rate)
    good &= np.abs(loads - root) <= AWAY * frame.first
    good &= np.isfinite(value) & (value.imag > 0)
    out.found[points], out.load[points], out.value[points] = good, loads, value
    out.speed[points] = np.where(good, rate.real, np.where(square > 0, np.nan, 0.0))
    out.x[:, points], out.q[:, points], out.p[:, points] = x, q, p
    return good | ~np.isfinite(out.speed[points])


def _along(
    frame: Frame, x: np.ndarray, parameters: np.ndarray, J: np.ndarray, q: np.ndarray, p: np.ndarray
) -> np.ndarray:
    """The contribution of the moving equilibrium to dλ/dload: ⟨p, B(x', q)⟩."""
    tangent = np.empty_like(q)
    none = np.zeros(x.shape[1], dtype=complex)
    right = -frame.by_load(x, parameters)
    many_matrices.solve_many(J, frame.n, frame.scale, frame.unit, none, frame.columns, frame.rows, right, tangent)
    both = bilinear(frame, x, parameters, tangent.real, q.real) + 1j * bilinear(
        frame, x, parameters, tangent.real, q.imag
    )
    return (p.conj() * both).sum(axis=0)


def bilinear(frame: Frame, x: np.ndarray, parameters: np.ndarray, u: np.ndarray, v: np.ndarray) -> np.ndarray:
    """B(u, v) for real directions by polarisation, after scaling both to equal length."""
    a, b = np.linalg.norm(u, axis=0), np.linalg.norm(v, axis=0)
    safe_a, safe_b = np.where(a, a, 1.0), np.where(b, b, 1.0)
    plus = frame.second(x, u / safe_a + v / safe_b, parameters)
    minus = frame.second(x, u / safe_a - v / safe_b, parameters)
    return (plus - minus) / 4 * a * b
