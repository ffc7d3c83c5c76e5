"""The first crossing of the imaginary axis for many points at once, confirmed as the first, or left to the scalar
search.

Along the load, D_{m−1} of Hurwitz (the product of all sums of two eigenvalues) is a smooth function: a polynomial
where the
small motions are linear in the load. It is sampled at Chebyshev nodes until its series is resolved, and marched
along by steps
that cannot pass a root (``small_matrices.first_roots``): where it first vanishes with a pair ±iω, that is the first
Hopf point.
Newton's method on Re λ = 0 then gives it to rounding. Whatever is in doubt is not answered.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pfaff.studies import small_matrices
from pfaff.studies.along_loads import Tested, at_loads, nodes_of, probed, settled
from pfaff.studies.frames import RESOLVED, Frame

ROUNDS = 16  # stretches, longer or shorter than the first
SHORTEST = 1 / 64  # of the first stretch
POLISH = 7  # Newton steps to a crossing, at most
EXACT = 1e-12  # the last step, relative to the load, where it is not rounding
SAME = 1e-14  # a step so small, relative to the load, that vectors before and after it are the same
SURE = 2e-11  # what rounding may move a load by, relatively
CROSSES = 1e-6  # growth that the load changes, relative to the eigenvalue it changes
ONE = 1e-8  # of equilibria, the distance below which they are one
AWAY = 1e-3  # of a stretch, how far Newton's method may leave the root of the series
ASIDE = 1e-6  # of the first stretch, where it is seen whether a path begins stable that is singular where it begins
PAST = 1e-4  # of a stretch, how far behind a root that is no Hopf point the search goes on


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
    moves: bool = False


def first_crossings(frame: Frame, parameters: np.ndarray, before: bool = True) -> Crossings:
    """Where a pair ±iω first crosses, for every column of parameters; and what is ``before``, if that is asked."""
    N = parameters.shape[1]
    begins = np.full(N, frame.origin) if frame.origin is not None else parameters[frame.index].copy()
    out = _nothing(frame.n, N)
    start, good = _beginnings(frame, at_loads(frame, parameters, begins))
    low, length = np.zeros(N), np.full(N, frame.first)
    active = np.flatnonzero(good)
    if before:
        _look_at_the_beginning(frame, parameters, begins, start, out)
    for _ in range(ROUNDS):
        if not len(active):
            break
        active = _stretch(frame, parameters, begins, start, out, active, low, length, before)
    return out


def _beginnings(frame: Frame, parameters: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Where the paths begin, and for which points that is where the search for one point would begin."""
    start = np.repeat(frame.x[:, None], parameters.shape[1], axis=1)
    if frame.order or frame.zero_order:  # singular where it begins: nothing to correct
        return start, frame.rests(start, parameters)
    start, good = settled(frame, parameters, start)
    if frame.guess is None:
        return start, good
    own, reached = settled(frame, parameters, np.repeat(frame.guess[:, None], parameters.shape[1], axis=1))
    scale = frame.scale[:, None]
    apart = (np.abs(own - start) / scale).max(axis=0) / (1 + (np.abs(start) / scale).max(axis=0))
    return start, good & reached & (apart <= ONE)


def _nothing(n: int, N: int) -> Crossings:
    no, numbers = np.zeros(N, dtype=bool), np.full(N, np.nan)
    states, complexes = np.zeros((n, N)), np.zeros((n, N), dtype=complex)
    return Crossings(
        no,
        no.copy(),
        numbers,
        numbers.astype(complex),
        numbers.copy(),
        states,
        complexes,
        complexes.copy(),
        ~no,
        no.copy(),
    )


def _look_at_the_beginning(
    frame: Frame, parameters: np.ndarray, begins: np.ndarray, start: np.ndarray, out: Crossings
) -> None:
    loads = begins + frame.sign * (ASIDE if frame.order or frame.zero_order else 0.0) * frame.first
    J = frame.jacobians(start, at_loads(frame, parameters, loads))
    square = np.empty(len(loads))
    small_matrices.routh(J, frame.n, frame.zeros, frame.scale, frame.unit, square, out.stable)


def _stretch(
    frame: Frame,
    parameters: np.ndarray,
    begins: np.ndarray,
    start: np.ndarray,
    out: Crossings,
    active: np.ndarray,
    low: np.ndarray,
    length: np.ndarray,
    before: bool,
) -> np.ndarray:
    """One stretch of all points that are still looked at; those to be looked at again."""
    nodes, matrix = nodes_of(frame.nodes)
    if frame.bounded:
        length[active] = np.minimum(length[active], frame.farthest - low[active])
    distances = low[active] + length[active] * (1 + nodes[:, None]) / 2
    seen = probed(frame, parameters[:, active], distances, begins[active], start[:, active])
    if seen is None:
        return active[:0]
    hopf = _first(seen.hopf, matrix)
    which, place = np.where(seen.followed, hopf[0], 2), hopf[1]
    at = low[active] + length[active] * (1 + place) / 2
    if before:
        zero = _first(seen.zero, matrix)
        sooner = (zero[0] != 0) & ~((zero[0] == 1) & (zero[1] > place) & (which == 1))
        out.steady[active] &= ~(sooner & (which < 2))
    rooted = which == 1
    done = np.zeros(len(active), dtype=bool)
    if rooted.any():
        done[rooted] = _polished(
            frame, parameters, begins, out, active[rooted], at[rooted], _between(seen, nodes, place, rooted)
        )
    passed, empty, short = rooted & ~done & ~np.isnan(out.speed[active]), which == 0, which == 2
    low[active] = np.where(
        passed, at + PAST * length[active], np.where(empty, low[active] + length[active], low[active])
    )
    length[active] *= np.where(empty, 2.0, np.where(short, 0.5, 1.0))
    out.absent[active] = empty & frame.bounded & (low[active] >= frame.farthest * (1 - 1e-12))
    again = passed | (empty & (low[active] < frame.farthest)) | (short & (length[active] >= SHORTEST * frame.first))
    out.speed[active[passed]] = np.nan
    return active[again & ~out.absent[active]]


def _first(values: np.ndarray, matrix: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    kind, place = np.empty(values.shape[1], dtype=np.int64), np.empty(values.shape[1])
    small_matrices.first_roots(np.ascontiguousarray(values), matrix, RESOLVED, kind, place)
    return kind, place


def _between(seen: Tested, nodes: np.ndarray, place: np.ndarray, rooted: np.ndarray) -> np.ndarray:
    """The equilibria at places among nodes, by linear interpolation: Newton's method does the rest."""
    k = np.clip(np.searchsorted(nodes, place[rooted]), 1, len(nodes) - 1)
    share = np.clip((place[rooted] - nodes[k - 1]) / (nodes[k] - nodes[k - 1]), -1.0, 2.0)
    points = np.flatnonzero(rooted)
    return (1 - share) * seen.x[:, k - 1, points] + share * seen.x[:, k, points]


def _polished(
    frame: Frame,
    parameters: np.ndarray,
    begins: np.ndarray,
    out: Crossings,
    points: np.ndarray,
    distances: np.ndarray,
    x: np.ndarray,
) -> np.ndarray:
    """Newton's method on Re λ = 0 from the roots of the series; for which points it gave the crossing.

    Where the sum that vanishes is one of two real eigenvalues, the speed is left as zero: the search goes on behind it.
    """
    n, N = frame.n, len(points)
    own = parameters[:, points]
    loads = begins[points] + frame.sign * distances
    root = loads.copy()
    square, ignored = np.empty(N), np.empty(N, dtype=bool)
    moves = frame.pushed(x, at_loads(frame, own, loads))
    good = np.ones(N, dtype=bool)
    if moves:
        x, good = settled(frame, at_loads(frame, own, loads), x, strict=False)
    J = frame.jacobians(x, at_loads(frame, own, loads))
    small_matrices.routh(J, n, frame.zeros, frame.scale, frame.unit, square, ignored)
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
        J, change = frame.both(x, at)
        small_matrices.eigenpairs(J, n, frame.scale, frame.unit, shift, value, q, p, error)
        small_matrices.products(change, n, p, q, rate)
        if moves:
            rate += _along(frame, x, at, J, q, p)
        with np.errstate(all="ignore"):
            step = np.nan_to_num(value.real / rate.real, nan=np.inf, posinf=np.inf, neginf=np.inf)
        loads = loads - np.where(np.isfinite(step), step, 0.0)
        shift = 1j * value.imag
        exact = np.abs(step) <= EXACT * np.abs(loads) + error / np.abs(rate.real)
        if last or (exact[good].all() and (np.abs(step[good]) <= SAME * np.abs(loads[good])).all()):
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
    out.moves = out.moves or moves
    return good | ~np.isfinite(out.speed[points])


def _along(
    frame: Frame, x: np.ndarray, parameters: np.ndarray, J: np.ndarray, q: np.ndarray, p: np.ndarray
) -> np.ndarray:
    """What the movement of the equilibrium adds to dλ/dload: ⟨p, B(x', q)⟩."""
    tangent = np.empty_like(q)
    none = np.zeros(x.shape[1], dtype=complex)
    right = -frame.by_load(x, parameters)
    small_matrices.solve_many(J, frame.n, frame.scale, frame.unit, none, frame.columns, frame.rows, right, tangent)
    both = bilinear(frame, x, parameters, tangent.real, q.real) + 1j * bilinear(
        frame, x, parameters, tangent.real, q.imag
    )
    return (p.conj() * both).sum(axis=0)


def bilinear(frame: Frame, x: np.ndarray, parameters: np.ndarray, u: np.ndarray, v: np.ndarray) -> np.ndarray:
    """B(u, v) of real directions by polarisation, both made as long as each other first."""
    a, b = np.linalg.norm(u, axis=0), np.linalg.norm(v, axis=0)
    safe_a, safe_b = np.where(a, a, 1.0), np.where(b, b, 1.0)
    plus = frame.line(2, x, u / safe_a + v / safe_b, parameters)
    minus = frame.line(2, x, u / safe_a - v / safe_b, parameters)
    return (plus - minus) / 4 * a * b
