"""Step rules along branches of orbits, shared by compiled loops and Python."""

from __future__ import annotations

from math import ceil, isnan

from pfaff.bifurcation.machine_code.kernels import compiled

TURN, GROWTH = 0.15, 1.6  # turn of the tangent in a step aimed at, in radians; largest ratio to the step before
LARGEST_TURN = 0.45  # turn beyond which a step is repeated with half its length
SLOW = 5  # Newton steps beyond which a step is repeated with half its length
MERGED = 1e-5  # step within which special points are one
TRUSTED = 1e-3  # distance from 1 of multipliers that are 1 by structure, beyond which none is trusted
ADAPT_EVERY = 4  # steps between new meshes
FEWEST, MOST = 8, 2000  # least and largest number of intervals
RESERVE = 0.01  # error that a new mesh aims at, as a share of the accuracy
KEPT = 3e-3, 0.1  # shares of the accuracy between which a mesh keeps its number of intervals
LEAST_GAIN = 5e-3  # least ratio by which a new mesh is trusted to reduce an error
BLURRED = 3.0  # errors below this, relative to the residual before Newton's last step, may be due to that residual
COARSE = 100.0  # error on a coarser mesh, relative to the accuracy, from which the finer one is taken after all
VANISHING = 1e-3  # amplitude, relative to the largest of a branch, below which it may end in an equilibrium
LONG = 20.0  # period, relative to the shortest, above which it may end in a homoclinic orbit
LONGER = 4.0  # the same where rounding hides the multipliers, as it does beside rest
OUTGROWN = 1e5  # amplitude, relative to that at the start, above which orbits may grow without bound
WITHIN = 4.0  # distance from the start, in steps, by size and period, within which a step may contain it


@compiled
def paced(length, turn):
    """The length of the step after one of this length and turn."""
    return length * min(max(TURN / max(turn, 1e-9), 0.5), GROWTH)


@compiled
def worn(error, residual, accuracy):
    """Whether the error of an orbit comes near the accuracy, due to its mesh and not to the residual of Newton's
    method."""
    return error > max(KEPT[1] * accuracy, BLURRED * residual)


@compiled
def wanted_intervals(intervals, gain, error, residual, accuracy, order):
    """The number of intervals of a new mesh that multiplies the error, of this order in their number, by ``gain``."""
    share = max(gain, LEAST_GAIN) * max(error, 1e-14) / accuracy
    if KEPT[0] < share and not (share > KEPT[1] and worn(error, residual, accuracy)):
        return intervals
    factor = (share / RESERVE) ** (1 / order)
    return min(max(FEWEST, ceil(intervals * min(max(factor, 0.5), 1.5))), MOST)


@compiled
def finer_intervals(intervals, error, accuracy, order):
    """The number of intervals on which an orbit with too large an error is solved again."""
    return ceil(intervals * min(2.0, 1.15 * (error / accuracy) ** (1 / order))) + 1


@compiled
def strays(determinant, change, ahead, torus, torus_ahead):
    """Whether the determinant should have changed sign and did not: a step onto the other of two branches."""
    if isnan(torus) or isnan(torus_ahead):  # near homoclinic orbits rounding hides it as well
        return False
    return determinant * (determinant + change) < 0 and abs(ahead) > abs(determinant) and determinant * ahead > 0


@compiled
def lengthens(period, shortest, torus):
    """Whether a branch may end in a homoclinic orbit, by its period; ``torus`` is NaN where multipliers are hidden."""
    return period > LONG * shortest or (isnan(torus) and period > LONGER * shortest)


@compiled
def apart(facts, home):
    """The least distance of an orbit from another, by period, amplitude and parameter alone."""
    return max(abs(facts[2] - home[2]), abs(facts[0] / home[0] - 1), abs(facts[1] / home[1] - 1))
