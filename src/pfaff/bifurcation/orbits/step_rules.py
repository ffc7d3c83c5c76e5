"""Rules of steps along branches of orbits, the same for compiled loops and for Python."""

from __future__ import annotations

from math import ceil, isnan

from pfaff.bifurcation.orbits.kernels import compiled

TURN, GROWTH = 0.15, 1.6  # of the tangent in a step, aimed at, in radians; by what a step exceeds the one before
LARGEST_TURN = 0.45  # beyond which a step is repeated with half its length
SLOW = 5  # steps of Newton's method, beyond which a step is repeated with half its length
MERGED = 1e-5  # step within which special points are one
TRUSTED = 1e-3  # distance from 1 of multipliers that are 1 by structure, beyond which none is believed
ADAPT_EVERY = 4  # steps between new meshes
FEWEST, MOST = 8, 2000  # intervals
RESERVE = 0.01  # share of the accuracy at which the error of a new mesh aims
KEPT = 3e-3, 0.1  # shares between which a mesh keeps its number of intervals
LEAST_GAIN = 5e-3  # of an error, what is left of it on a new mesh at least, whatever the shares of intervals promise
BLURRED = 3.0  # times the residual before Newton's last step, what that may leave of an estimated error
COARSE = 100.0  # times the accuracy, the error of a step on a coarser mesh, for which the finer one is taken after all
VANISHING = 1e-3  # of the largest amplitude of a branch, from which it may end in an equilibrium
LONG = 20.0  # times the shortest period, from which it may end in a homoclinic orbit
OUTGROWN = 1e5  # times the amplitude at the start, from which it may end where orbits grow without bound
WITHIN = 4.0  # steps, how near the start must be by its size and period to lie in one


@compiled
def paced(length, turn):
    """The length of the step after one of a length and a turn."""
    return length * min(max(TURN / max(turn, 1e-9), 0.5), GROWTH)


@compiled
def worn(error, residual, accuracy):
    """Whether the error of an orbit comes near the accuracy, by its mesh and not by what Newton's method left."""
    return error > max(KEPT[1] * accuracy, BLURRED * residual)


@compiled
def wanted_intervals(intervals, gain, error, residual, accuracy, order):
    """Of a new mesh, that makes so much of the error, which is of an order in their number."""
    share = max(gain, LEAST_GAIN) * max(error, 1e-14) / accuracy
    if KEPT[0] < share and not (share > KEPT[1] and worn(error, residual, accuracy)):
        return intervals
    factor = (share / RESERVE) ** (1 / order)
    return min(max(FEWEST, ceil(intervals * min(max(factor, 0.5), 1.5))), MOST)


@compiled
def finer_intervals(intervals, error, accuracy, order):
    """Of a mesh on which an orbit is solved again whose error is too large."""
    return ceil(intervals * min(2.0, 1.15 * (error / accuracy) ** (1 / order))) + 1


@compiled
def strays(determinant, change, ahead, torus, torus_ahead):
    """Whether the determinant should have changed its sign and did not: a step onto the other of two branches."""
    if isnan(torus) or isnan(torus_ahead):  # near homoclinic orbits rounding hides it as well
        return False
    return determinant * (determinant + change) < 0 and abs(ahead) > abs(determinant) and determinant * ahead > 0


@compiled
def apart(facts, home):
    """How far an orbit is at least from another, by period, amplitude and parameter alone."""
    return max(abs(facts[2] - home[2]), abs(facts[0] / home[0] - 1), abs(facts[1] / home[1] - 1))
