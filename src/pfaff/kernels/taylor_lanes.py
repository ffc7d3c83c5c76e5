# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Taylor's method along eight trajectories at once, each with its own steps; derivatives along eight lines.

The recurrences are those of ``flow.recurrences``; coefficients stand side by side, [place, order, lane]. What one lane
computes does not depend on the others. Sums of eight lanes are in ``lanes.h``.
"""

from __future__ import annotations

import cython

if cython.compiled:
    from cython.cimports.libc.math import fabs, isfinite
    from cython.cimports.pfaff.kernels.coefficients import Sums, doubles, integers
    from cython.cimports.pfaff.kernels.elementary import exponential, logarithm
    from cython.cimports.pfaff.kernels.instructions import run_lanes
    from cython.cimports.pfaff.kernels.taylor_lanes import lane_copy, lane_function, lane_over, lane_sum, lane_times


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def sweep(
    runs: cython.p_int,
    count: cython.Py_ssize_t,
    code: cython.p_int,
    w: cython.p_double,
    u: cython.p_double,
    left: cython.p_double,
    right: cython.p_double,
    slopes: cython.p_double,
    k: cython.Py_ssize_t,
) -> cython.void:
    """Coefficients of order k of all registers, u, from those of order zero, w, and of the orders between."""
    r: cython.Py_ssize_t
    _i: cython.Py_ssize_t
    at: cython.Py_ssize_t
    kind: cython.int
    linear: cython.Py_ssize_t
    plus: cython.Py_ssize_t
    minus: cython.Py_ssize_t
    here: cython.p_int
    sign: cython.double
    for r in range(count):
        kind, linear, plus, minus, at = runs[7 * r], runs[7 * r + 1], runs[7 * r + 2], runs[7 * r + 3], runs[7 * r + 4]
        here = code + at
        if kind >= 3:
            sign = 1.0 if kind == 3 else -1.0
            for _i in range(runs[7 * r + 5]):
                lane_function(
                    u + 8 * here[0],
                    sign,
                    u + 8 * here[1],
                    w + 8 * here[2],
                    slopes + here[3],
                    right + here[4],
                    k - 1,
                    k,
                )
                here += 5
        elif kind == 0 and plus == 1 and linear == 0 and minus == 0:
            for _i in range(runs[7 * r + 5]):
                lane_sum(u + 8 * here[0], here + 2, 0, 1, 0, w, u, left, right, k - 1, cython.NULL, False)
                here += 6
        elif kind == 1 and plus == 1 and linear == 0 and minus == 0:
            for _i in range(runs[7 * r + 5]):
                lane_sum(u + 8 * here[0], here + 2, 0, 1, 0, w, u, left, right, k - 1, w + 8 * here[1], False)
                here += 6
        elif kind == 0 and plus == 2 and linear == 0 and minus == 0:
            for _i in range(runs[7 * r + 5]):
                lane_sum(u + 8 * here[0], here + 2, 0, 2, 0, w, u, left, right, k - 1, cython.NULL, False)
                here += 10
        elif kind == 0 and plus == 0 and minus == 0:
            for _i in range(runs[7 * r + 5]):
                lane_sum(u + 8 * here[0], here + 2, linear, 0, 0, w, u, left, right, k - 1, cython.NULL, False)
                here += 2 + 2 * linear
        elif kind:
            for _i in range(runs[7 * r + 5]):
                lane_sum(
                    u + 8 * here[0], here + 2, linear, plus, minus, w, u, left, right, k - 1, w + 8 * here[1], kind == 2
                )
                here += 2 + 2 * linear + 4 * (plus + minus)
        else:
            for _i in range(runs[7 * r + 5]):
                lane_sum(u + 8 * here[0], here + 2, linear, plus, minus, w, u, left, right, k - 1, cython.NULL, False)
                here += 2 + 2 * linear + 4 * (plus + minus)


@cython.cclass
class LaneSweeper(Sums):
    """Recurrences along eight trajectories, or for outputs along eight lines.

    Along trajectories outputs of the tape are the rates of its variables.
    """

    results: cython.Py_ssize_t

    def __init__(self, recurrences, order: cython.Py_ssize_t, state, pars, x, zeros):
        """``state`` and ``pars`` have a column for each lane; ``x`` is room for the coefficients, [state or output,
        power, lane]; ``zeros(count)`` makes aligned arrays."""
        each = recurrences
        code = each.code.copy()
        code[each.forward] *= 8 * order
        code[each.backward] *= 8 * order
        room = [
            zeros(8 * each.size), zeros(8 * each.size),
            *(zeros(8 * len(factors) * order) for factors in (each.left, each.right, each.slopes)),
        ]  # fmt: skip
        self.take(each, order, 8, code, room, state, pars, x)
        self.results = len(each.outputs)

    def take_parameters(self):
        """Follow the parameters."""
        i: cython.Py_ssize_t
        with cython.nogil:
            for i in range(8 * self.p):
                self.w[8 * (self.n + 1) + i] = self.pars[i]
            run_lanes(self.prologue, self.prologue_runs, 0, self.prologue_count, self.w)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def coefficients(
        self, times: cython.p_double, direction: cython.p_double, highest: cython.Py_ssize_t
    ) -> cython.void:
        """Coefficients of all states along their motion; with a direction those of all outputs along lines."""
        n: cython.Py_ssize_t = self.n
        row: cython.Py_ssize_t = 8 * (self.order + 1)
        wide: cython.Py_ssize_t = 8 * self.order
        k: cython.Py_ssize_t
        i: cython.Py_ssize_t
        l: cython.Py_ssize_t
        at: cython.Py_ssize_t
        moves: cython.bint = direction == cython.NULL
        w: cython.p_double = self.w
        u: cython.p_double = self.u
        x: cython.p_double = self.x
        left: cython.p_double = self.left
        right: cython.p_double = self.right
        slopes: cython.p_double = self.slopes
        for i in range(8 * n):
            w[i] = self.state[i]
        for l in range(8):
            w[8 * n + l] = times[l]
        run_lanes(self.rows, self.row_runs, 0, self.row_count, w)
        for i in range(self.results):
            at = 8 * cython.cast(cython.Py_ssize_t, self.output[i])
            for l in range(8):
                x[i * row + (8 if moves else 0) + l] = w[at + l]
                if moves:
                    x[i * row + l] = self.state[8 * i + l]
        for k in range(1, highest if moves else highest + 1):
            for i in range(n):
                if moves:
                    lane_copy(u + 8 * i, x + i * row + 8 * k)
                elif k == 1:
                    lane_copy(u + 8 * i, direction + 8 * i)
                else:
                    for l in range(8):
                        u[8 * i + l] = 0.0
            for l in range(8):
                u[8 * n + l] = 1.0 if moves and k == 1 else 0.0
            sweep(self.runs, self.run_count, self.code, w, u, left, right, slopes, k)
            for i in range(self.lefts):
                lane_copy(left + i * wide + 8 * (k - 1), u + 8 * self.left_of[i])
            for i in range(self.rights):
                lane_copy(right + i * wide + 8 * (k - 1), u + 8 * self.right_of[i])
            for i in range(self.sloped):
                lane_times(slopes + i * wide + 8 * (k - 1), u + 8 * self.slope_of[i], k)
            for i in range(self.results):
                if moves:
                    lane_over(x + i * row + 8 * (k + 1), u + 8 * self.output[i], k + 1)
                else:
                    lane_copy(x + i * row + 8 * k, u + 8 * self.output[i])

    def along(self, direction, highest: cython.Py_ssize_t):
        """Coefficients of all outputs along lines x + s v, at time zero, up to an order."""
        times = cython.declare(cython.double[8])
        way: cython.p_double = doubles(direction)
        l: cython.Py_ssize_t
        if highest > self.order:
            raise ValueError(f"order {highest}, where there is room for {self.order}")
        for l in range(8):
            times[l] = 0.0
        with cython.nogil:
            self.coefficients(times, way, highest)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def length(self, l: cython.Py_ssize_t) -> cython.double:
        """Length of a step of one lane by the last two coefficients (Jorba & Zou 2005)."""
        p: cython.Py_ssize_t = self.order
        i: cython.Py_ssize_t
        at: cython.Py_ssize_t
        size: cython.double = 1.0
        last: cython.double = 0.0
        before: cython.double = 0.0
        h: cython.double = 1.0 / 0.0
        for i in range(self.n):
            at = 8 * i * (p + 1) + l
            size = max(size, fabs(self.x[at]))
            last = max(last, fabs(self.x[at + 8 * p]))
            before = max(before, fabs(self.x[at + 8 * (p - 1)]))
        if last > 0:
            h = exponential(logarithm(size / last) / p)
        if before > 0:
            h = min(h, exponential(logarithm(size / before) / (p - 1)))
        return h * exponential(-0.7 / (p - 1) - 2.0)

    def advance(
        self,
        clocks,
        counts,
        target: cython.double,
        most: cython.Py_ssize_t,
        limit: cython.double,
        wanted,
        found,
    ) -> cython.bint:
        """At most so many steps of each lane towards a target, sampled on the way, [time, state, lane]; whether all
        have ended.

        ``clocks`` holds for each lane the time and what it is less, the last, the shortest and the longest step,
        ``counts`` the samples, and how it ended: 0 on its way, 1 at the target, 2 at a state that is no number.
        """
        n: cython.Py_ssize_t = self.n
        p: cython.Py_ssize_t = self.order
        _steps: cython.Py_ssize_t
        i: cython.Py_ssize_t
        k: cython.Py_ssize_t
        l: cython.Py_ssize_t
        at: cython.Py_ssize_t
        h: cython.double
        left: cython.double
        s: cython.double
        t: cython.double
        r: cython.double
        last: cython.bint
        finite: cython.bint
        running: cython.bint = True
        times: cython.p_double = doubles(clocks)
        rests: cython.p_double = times + 8
        lengths: cython.p_double = times + 16
        shortest: cython.p_double = times + 24
        longest: cython.p_double = times + 32
        sampled: cython.p_int = integers(counts)
        done: cython.p_int = sampled + 8
        grid: cython.p_double = doubles(wanted)
        samples: cython.p_double = doubles(found)
        state: cython.p_double = self.state
        many: cython.Py_ssize_t = len(wanted)
        with cython.nogil:
            for _steps in range(most):
                running = False
                for l in range(8):
                    running = running or done[l] == 0
                if not running:
                    break
                self.coefficients(times, cython.NULL, p)
                for l in range(8):
                    if done[l] != 0:
                        continue
                    left = (target - times[l]) - rests[l]
                    h = min(min(self.length(l), fabs(left)), limit)
                    h = -h if left < 0 else h
                    last = h == left
                    while sampled[l] < many:
                        k = sampled[l]
                        s = (grid[k] - times[l]) - rests[l]
                        if fabs(s) > fabs(h) and not (last and fabs(grid[k]) <= fabs(target)):
                            break
                        for i in range(n):
                            at = 8 * i * (p + 1) + l
                            samples[8 * (k * n + i) + l] = horner(self.x, at, p, s)
                        sampled[l] += 1
                    finite = isfinite(h)
                    for i in range(n):
                        at = 8 * i * (p + 1) + l
                        state[8 * i + l] = horner(self.x, at, p, h)
                        finite = finite and isfinite(state[8 * i + l])
                    r = h + rests[l]
                    t = times[l] + r
                    rests[l] = r - (t - times[l])
                    times[l] = t
                    if last:
                        times[l], rests[l] = target, 0.0
                    lengths[l] = h
                    shortest[l] = min(shortest[l], fabs(h))
                    longest[l] = max(longest[l], fabs(h))
                    done[l] = 0 if finite and not last else (1 if finite else 2)
            running = False
            for l in range(8):
                running = running or done[l] == 0
        return not running


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def horner(c: cython.p_double, at: cython.Py_ssize_t, p: cython.Py_ssize_t, h: cython.double) -> cython.double:
    k: cython.Py_ssize_t
    f: cython.double = c[at + 8 * p]
    for k in range(p - 1, -1, -1):
        f = f * h + c[at + 8 * k]
    return f
