"""The walker: a regular stretch of a branch, taken in one compiled loop until something happens on it.

It steps as ``continuation.engine`` does, by the same rules. A step that reaches a bound, closes the branch, changes the
sign of a test or cannot be taken is left to the engine, and so is what there is to say about it.
"""

from __future__ import annotations

import numpy as np

from pfaff.bifurcation.equilibria.addresses import called
from pfaff.bifurcation.equilibria.corrector import EQUILIBRIA, FOUND, directed, length, newton
from pfaff.bifurcation.equilibria.special_points import FLAT, SLOPES
from pfaff.bifurcation.equilibria.spectra import CROSSING, HIDING, QUIET, conduct, spectrum
from pfaff.bifurcation.orbits.kernels import compiled
from pfaff.continuation.problem import Pace

PACE = Pace()
FIRST, SMALLEST, GROWTH, EASY, SHARPEST, STRAYED, RESOLVED = (
    PACE.first, PACE.smallest, PACE.growth, PACE.easy, PACE.sharpest, PACE.strayed, PACE.resolved,
)  # fmt: skip


@called
def turned(a, b, units):
    """The angle between two tangents."""
    across = 0.0
    for i in range(len(a)):
        across += a[i] * b[i] / units[i] ** 2
    cosine = across / (length(a, units) * length(b, units))
    return np.arccos(min(max(cosine, -1.0), 1.0)) if cosine == cosine else np.inf


@called
def turns_between(a, b, chord, rounding):
    """Whether the parameter, rising alike at both ends of a step, may fall in between: by Hermite's cubic."""
    least = np.inf
    for k in range(len(SLOPES)):
        least = min(least, np.sign(a) * (SLOPES[k, 0] * chord + SLOPES[k, 1] * a + SLOPES[k, 2] * b))
    return a * b > 0 and least + 1.5 * rounding < FLAT * min(abs(a), abs(b))


@called
def passes(a, b, bounds, home, units):
    """Whether a step reaches a bound, or passes the first point."""
    N = len(a)
    for bound in bounds:
        if (a[N - 1] - bound) * (b[N - 1] - bound) < 0 or b[N - 1] == bound:
            return True
    inner, chord, back = 0.0, 0.0, 0.0
    for i in range(N):
        inner += (home[i] - a[i]) * (b[i] - a[i]) / units[i] ** 2
        chord += ((b[i] - a[i]) / units[i]) ** 2
        back += ((home[i] - a[i]) / units[i]) ** 2
    return 0 < inner <= chord and back <= 4 * chord


@compiled
def walk(
    kind, fn, routines, numbers, places, b, c, units, at, length_, longest, bounds, home, origin, found
):  # fmt: skip
    """Points ahead of one, rows (z, tangent, units, bend) of ``found`` after it, and how many; the length of the step
    that is next. ``home`` are z and units of the first point, ``origin`` the value from which the parameter is measured,
    not a number where its units stay."""
    n, N = b.shape[1], at.shape[1]
    units, numbers = units.copy(), numbers.copy()
    system = (kind, fn, routines, numbers, places, b, c, units)
    z, tangent, guess, row = np.empty(N), np.empty(N), np.empty(N), np.empty(N)
    J, right, left = np.empty((N - 1, N)), np.empty_like(b), np.empty_like(b)
    values, slopes = np.empty((2, n), dtype=np.complex128), np.empty((2, n), dtype=np.complex128)
    before = np.empty(N)
    sign, _ = directed(system, at[0], at[1], tangent, J, right, left)
    spectrum(system, at[0], at[1], J, values[0], slopes[0])
    many, h = 0, length_
    while many < len(found):
        here = at if many == 0 else found[many - 1]
        if h < SMALLEST:
            break
        for i in range(N):
            z[i] = guess[i] = here[0, i] + h * here[1, i] + h**2 / 2 * here[3, i]
            row[i] = here[1, i] / here[2, i] ** 2
        ended, _ = newton(system, z, row, J, right, left)
        strayed = 0.0
        for i in range(N):
            strayed += ((z[i] - guess[i]) / here[2, i]) ** 2
        if ended != FOUND or not np.sqrt(strayed) <= STRAYED * h:
            h /= 2
            continue
        ahead, _ = directed(system, z, here[1], tangent, J, right, left)
        turn = turned(here[1], tangent, here[2])
        if not turn < SHARPEST:
            h /= 2
            continue
        a, e, unit = here[1, N - 1] / here[2, N - 1], tangent[N - 1] / units[N - 1], units[N - 1] * h
        noise = np.spacing(max(abs(here[0, N - 1]), abs(z[N - 1]))) / unit
        spectrum(system, z, tangent, J, values[1], slopes[1])
        how = conduct(values[0], slopes[0], values[1], slopes[1], h)
        if h > RESOLVED and (how == HIDING or turns_between(a, e, (z[N - 1] - here[0, N - 1]) / unit, noise)):
            h /= 2
            continue
        if how != QUIET or not a * e > 0 or not sign * ahead > 0 or passes(here[0], z, bounds, home[0], home[1]):
            break
        for i in range(N):
            before[i] = z[i] - here[0, i]
        apart, size = length(before, units), length(here[1], units)
        for i in range(N):
            found[many, 0, i], found[many, 1, i], found[many, 2, i] = z[i], tangent[i], units[i]
            found[many, 3, i] = (tangent[i] - here[1, i] / size) / apart
        for i in range(n):
            values[0, i], slopes[0, i] = values[1, i], slopes[1, i]
        renew(z, units, n, origin)
        sign, h, many = ahead, min(longest, GROWTH * h if turn < EASY else h), many + 1
    return many, h


@called
def renew(z, units, n, origin):
    """Units of the states grow with them, together; that of the parameter with its distance from an origin."""
    N, grown = len(z), 1.0
    for i in range(n):
        grown = max(grown, abs(z[i]) / units[i])
    for i in range(n):
        units[i] *= grown
    if origin == origin:
        units[N - 1] = max(units[N - 1], abs(z[N - 1] - origin))
