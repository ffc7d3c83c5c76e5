# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
# cython: infer_types=True
"""Rules of steps along branches of periodic orbits: their lengths and meshes, and checks that nothing happens in one,
as in most."""

from __future__ import annotations

import cython

if cython.compiled:
    from cython.cimports.libc.math import ceil, fabs, isnan
    from cython.cimports.pfaff.kernels.elementary import exponential, logarithm

TURN, GROWTH = 0.15, 1.6  # turn of the tangent in a step aimed at, in radians; largest ratio to the step before
LARGEST_TURN = 0.45  # turn beyond which a step is repeated with half its length
SLOW = 5  # Newton steps beyond which a step is repeated with half its length
MERGED = 1e-5  # step within which special points are one
TRUSTED = 1e-3  # distance from 1 of multipliers that are 1 by structure, beyond which none is trusted
ADAPT_EVERY = 4  # steps between new meshes
FEWEST, MOST = 8, 2000  # least and largest number of intervals
RESERVE = 0.01  # error that a new mesh aims at, as a share of the accuracy
LEAST, KEPT = 3e-3, 0.1  # shares of the accuracy between which a mesh keeps its number of intervals
LEAST_GAIN = 5e-3  # least ratio by which a new mesh is trusted to reduce an error
BLURRED = 3.0  # errors below this, relative to the residual before Newton's last step, may be due to that residual
COARSE = 100.0  # error on a coarser mesh, relative to the accuracy, from which the finer one is taken after all
VANISHING = 1e-3  # amplitude, relative to the largest of a branch, below which it may end in an equilibrium
LONG = 20.0  # period, relative to the shortest, above which it may end in a homoclinic orbit
LONGER = 4.0  # the same where rounding hides the multipliers, as it does beside rest
OUTGROWN = 1e5  # amplitude, relative to that at the start, above which orbits may grow without bound
WITHIN = 4.0  # distance from the start, in steps, by size and period, within which a step may contain it
NEAR = 0.5  # height of the parabola through three values of a function, relative to them, below which it is examined
globals().update(  # for Python, too
    GROWTH=GROWTH, LARGEST_TURN=LARGEST_TURN, SLOW=SLOW, MERGED=MERGED, TRUSTED=TRUSTED, ADAPT_EVERY=ADAPT_EVERY,
    FEWEST=FEWEST, MOST=MOST, COARSE=COARSE, VANISHING=VANISHING, LONG=LONG, LONGER=LONGER, OUTGROWN=OUTGROWN,
    WITHIN=WITHIN, NEAR=NEAR,
)  # fmt: skip


def paced(length, turn):
    """The length of the step after one of this length and turn."""
    return length * min(max(TURN / max(turn, 1e-9), 0.5), GROWTH)


def worn(error, residual, accuracy):
    """Whether the error of an orbit comes near the accuracy, due to its mesh and not to the residual of Newton's
    method."""
    return error > max(KEPT * accuracy, BLURRED * residual)


def wanted_intervals(intervals, gain, error, residual, accuracy, order):
    """The number of intervals of a new mesh that multiplies the error, of this order in their number, by ``gain``."""
    share = max(gain, LEAST_GAIN) * max(error, 1e-14) / accuracy
    if LEAST < share and not (share > KEPT and worn(error, residual, accuracy)):
        return intervals
    factor = exponential(logarithm(share / RESERVE) / order)
    return min(max(FEWEST, cython.cast(cython.Py_ssize_t, ceil(intervals * min(max(factor, 0.5), 1.5)))), MOST)


def finer_intervals(intervals, error, accuracy, order):
    """The number of intervals on which an orbit with too large an error is solved again."""
    factor = min(2.0, 1.15 * exponential(logarithm(error / accuracy) / order))
    return cython.cast(cython.Py_ssize_t, ceil(intervals * factor)) + 1


def strays(determinant, change, ahead, torus, torus_ahead):
    """Whether the determinant should have changed sign and did not: a step onto the other of two branches."""
    if isnan(torus) or isnan(torus_ahead):  # near homoclinic orbits rounding hides it as well
        return False
    return determinant * (determinant + change) < 0 and fabs(ahead) > fabs(determinant) and determinant * ahead > 0


def lengthens(period, shortest, torus):
    """Whether a branch may end in a homoclinic orbit, by its period; ``torus`` is NaN where multipliers are hidden."""
    return period > LONG * shortest or (isnan(torus) and period > LONGER * shortest)


def apart(period, amplitude, value, home_period, home_amplitude, home_value):
    """The least distance of an orbit from another, by period, amplitude and parameter alone."""
    sizes = max(fabs(period / home_period - 1), fabs(amplitude / home_amplitude - 1))
    return max(fabs(value - home_value), sizes)


def quiet(first, here, last, back, slope, next_slope, rise):
    """Whether four functions, that of folds first, neither change sign in a step nor come near zero in it or in the one
    before, whose length is ``back`` in units of this one; and whether Hermite's cubic of the parameter, with these
    slopes and rise in the step, does not come near level."""
    middle = 1.5 * rise - (slope + next_slope) / 4
    if slope * next_slope > 0 and _dips(0.0, slope, 0.5, middle, 1.0, next_slope):
        return False
    for k in range(4):
        if here[k] * last[k] < 0:
            return False
        if k > 0 and first[k] * here[k] > 0 and here[k] * last[k] > 0:
            if fabs(here[k]) < NEAR * min(fabs(first[k]), fabs(last[k])):
                return False
            if _dips(-back, first[k], 0.0, here[k], 1.0, last[k]):
                return False
    return True


def _dips(t0, f0, t1, f1, t2, f2):
    """Whether the parabola through three values comes near zero, or crosses it, between them."""
    slope, next_slope = (f1 - f0) / (t1 - t0), (f2 - f1) / (t2 - t1)
    bend = (next_slope - slope) / (t2 - t0)
    if not bend * f0 > 0:
        return False
    at = (t0 + t1) / 2 - slope / (2 * bend)
    low = f0 + slope * (at - t0) + bend * (at - t0) * (at - t1)
    return low * f0 < NEAR * fabs(f0) * min(fabs(f1), fabs(f2)) and t0 < at < t2


# For Python


def quiet_step(first, here, last, back, slope, next_slope, rise):
    """``quiet`` of four values each."""
    tests = cython.declare(cython.double[12])
    for k in range(4):
        tests[k], tests[4 + k], tests[8 + k] = first[k], here[k], last[k]
    return quiet(tests, tests + 4, tests + 8, back, slope, next_slope, rise)
