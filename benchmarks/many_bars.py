"""Motion of columns of many bars: sparse Radau collocation against SciPy's Radau and CVODE, at equal measured error.

The dimensionless column with a skate (L = M = k = k1 = 1, bars of length 1/N and mass 1/N) with internal damping,
somewhat above its flutter load, over τ = 20 from a bent and moving start. One thread for everybody; seconds are the
processor's, the best of three.

pfaff
    ``column_assembly(N, …).simulate(20, F)``: absolute coordinates, a multiplier for every joint. Its time contains
    the samples, the reactions, the energies and the projection on the constraints; the parts are compiled beforehand.
Radau, CVODE
    SciPy's Radau and SUNDIALS' BDF on the same right-hand side, the assembly's own O(N) accelerations, in the fewest
    states there are: N angles, the block's place and N angular velocities, from which this script finds everything
    else in closed form. Both are given the analytic Jacobian, a dense matrix.
reference
    pfaff at the tolerance 1e-11. The peers share none of its integration: the script fails unless one of them comes as
    near to it as is wanted, and pfaff too.

Each of them, pfaff too, runs at sharper and sharper tolerances until its error, the largest in any angle or angular
velocity at any of 201 samples, is at most 1e-8; what counts is the time at 1e-8, between the last two runs.

Run ``python benchmarks/many_bars.py``, or give the numbers of bars.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

from pfaff.atlas.chain import column_assembly
from pfaff.flow.assembly import Assembly
from pfaff.flow.assembly_equations import Equations
from pfaff.flow.compiled import Compiled
from pfaff.flow.differentiation import jacobian_entries
from pfaff.flow.graph import expression, sum_of
from pfaff.flow.lagrangian import dot, graph_of
from pfaff.motion.implicit_methods import integrate
from verified import by_clock, demand, least

DURATION = 20.0
SAMPLES = 201
DAMPING = 0.01
ABOVE = 1.05  # times the flutter load
WANTED = 1e-8
TOLERANCES = {
    "pfaff": (1e-5, 3e-6, 1e-6, 3e-7, 1e-7, 3e-8, 1e-8),
    "scipy": (1e-6, 3e-7, 1e-7, 3e-8, 1e-8, 3e-9, 1e-9),
    "sundials": (1e-8, 3e-9, 1e-9, 3e-10, 1e-10, 3e-11, 1e-11),
}
REPEATS = 3
EVALUATED = (25, 50, 100, 200, 400)


@dataclass(frozen=True)
class Run:
    """Seconds, error and how the run was made."""

    tolerance: float
    seconds: float
    error: float
    method: str


def main(sizes: list[int]) -> None:
    for bars in sizes:
        compare(bars)
    alone(200)
    exponent()


def compare(bars: int) -> None:
    assembly, load, start, speeds = problem(bars)
    reference = moved(assembly, load, start, speeds, 1e-11)
    print(f"\nN = {bars}, F = {load:.6f} ({ABOVE:g} of the flutter load), c_i = {DAMPING:g}, τ = {DURATION:g}")
    runs = {"pfaff": best("pfaff", lambda tol: moved(assembly, load, start, speeds, tol), reference)}
    minimal = Minimal(assembly, load, bars)
    x0 = np.concatenate([start, [0.0], speeds])
    for name in ["scipy"] + ["sundials"] * (find_spec("sksundae") is not None):
        runs[name] = best(name, lambda tol, name=name: solved(minimal, x0, tol, name), reference)
    demand(
        f"one of the peers confirms the reference for {bars} bars", any(runs[name] for name in runs if name != "pfaff")
    )
    for name, run in runs.items():
        if run is None:
            print(f"  {name:9s} no tolerance of {TOLERANCES[name]} reaches an error of {WANTED:g}")
            demand(f"pfaff reaches an error of {WANTED:g} for {bars} bars", name != "pfaff")
            continue
        ours = runs["pfaff"]
        ratio = f"{run.seconds / ours.seconds:6.1f}x" if ours and name != "pfaff" else ""
        how = f"{run.method}, tolerance {run.tolerance:g}"
        print(f"  {name:9s}{run.seconds:9.3f} s  error {run.error:.1e}  {ratio:8s}{how}")


def problem(bars: int) -> tuple[Assembly, float, np.ndarray, np.ndarray]:
    assembly = column_assembly(bars, c_i=DAMPING).compile()
    load = ABOVE * float(assembly.flutter(to=100.0 / bars))
    s = (np.arange(bars) + 0.5) / bars
    return assembly, load, 0.02 * np.sin(1.5 * s), 0.05 * s


def moved(assembly: Assembly, load: float, start: np.ndarray, speeds: np.ndarray, tolerance: float) -> Any:
    angles = range(2, assembly.size, 3)
    motion = assembly.simulate(
        DURATION,
        load,
        samples=SAMPLES,
        tolerance=tolerance,
        start={0: 0.0, **dict(zip(angles, start, strict=True))},
        velocities=dict(zip(angles, speeds, strict=True)),
    )
    return motion.y[2::3], motion.status, motion.method  # the angles, then their velocities


def solved(minimal: Minimal, x0: np.ndarray, tolerance: float, backend: str) -> Any:
    times = np.linspace(0, DURATION, SAMPLES)
    path = integrate(minimal.rhs, minimal.jacobian, x0, times, tolerance=tolerance, backend=backend)
    return np.delete(path.x, minimal.bars, axis=0), path.status, path.method


def best(name: str, call: Callable[[float], Any], reference: Any) -> Run | None:
    """Sharper and sharper tolerances until one is accurate enough; the time at the error wanted."""
    runs: list[Run] = []
    for tolerance in TOLERANCES[name]:
        seconds, (values, status, method) = least(lambda tolerance=tolerance: call(tolerance), REPEATS)
        if status != "finished":
            print(f"  {name:9s} {seconds:.1f} s at {tolerance:g}: {status}")
            continue
        error = float(np.abs(values - reference[0]).max())
        print(f"  {name:9s}{seconds:9.3f} s  error {error:.1e} at tolerance {tolerance:g}", flush=True)
        runs.append(Run(tolerance, seconds, error, method))
        if error <= WANTED:
            return matched(runs[-2:])
    return None


def matched(runs: list[Run]) -> Run:
    """The time at exactly the error wanted: a straight line between two runs, in logarithms."""
    last = runs[-1]
    if len(runs) == 1:
        return last
    errors, seconds = (
        [float(np.log(x)) for x in xs] for xs in zip(*((r.error, r.seconds) for r in runs[::-1]), strict=True)
    )
    return Run(last.tolerance, float(np.exp(np.interp(np.log(WANTED), errors, seconds))), WANTED, last.method)


def alone(bars: int) -> None:
    assembly, load, start, speeds = problem(bars)
    seconds, (_, status, method) = least(lambda: moved(assembly, load, start, speeds, 1e-8), REPEATS)
    print(f"\nN = {bars}, τ = {DURATION:g} at tolerance 1e-8: {seconds:.2f} s, {status}, {method}")
    demand(f"the motion of {bars} bars is finished", status == "finished")


def exponent() -> None:
    """The cost of one right-hand side against N."""
    print(f"\n{'N':>6}{'one evaluation':>18}")
    costs = [evaluation(bars) for bars in EVALUATED]
    for bars, cost in zip(EVALUATED, costs, strict=True):
        print(f"{bars:6d}{1e6 * cost:15.0f} µs")
    slope = np.polyfit(np.log(EVALUATED), np.log(costs), 1)[0]
    last = np.log(costs[-1] / costs[-2]) / np.log(EVALUATED[-1] / EVALUATED[-2])
    print(f"grows like N^{slope:.2f} (between {EVALUATED[-2]} and {EVALUATED[-1]}: N^{last:.2f})")


def evaluation(bars: int) -> float:
    assembly = column_assembly(bars, c_i=DAMPING)
    equations, still = Equations(assembly, 0.1), np.zeros(assembly.size)
    return by_clock(lambda: equations.accelerations(assembly.start, still), 500)[0]


class Minimal:
    """ẋ = f(x) with x = (θ, X, θ̇): the column's places and velocities in closed form, the accelerations from pfaff."""

    def __init__(self, assembly: Assembly, load: float, bars: int) -> None:
        self.equations, self.bars, self.l = Equations(assembly, load), bars, 1 / bars
        self.below = np.tril(np.ones((bars, bars)), -1) / bars
        self.acceleration_rows = [(m, self._rows(m)) for m in self.equations.members if m.m]

    def rhs(self, t: float, x: np.ndarray) -> np.ndarray:
        q, v = self.full(x)
        a, _ = self.equations.accelerations(q, v)
        return np.concatenate([v[2::3], v[:1], a[2::3]])

    def full(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        N, l = self.bars, self.l
        theta, X, rate = x[:N], x[N], x[N + 1 :]
        c, s = np.cos(theta), np.sin(theta)
        q, v = np.empty(3 * N), np.empty(3 * N)
        blade = np.array([c[-1], s[-1]])
        slip = l * np.array([-(s * rate).sum(), (c * rate).sum()]) @ blade
        q[0::3], q[1::3], q[2::3] = X + l * (np.cumsum(c) - c), l * (np.cumsum(s) - s), theta
        turn, lift = s * rate, c * rate
        v[0::3], v[1::3], v[2::3] = -slip / blade[0] - l * (np.cumsum(turn) - turn), l * (np.cumsum(lift) - lift), rate
        return q, v

    def jacobian(self, t: float, x: np.ndarray) -> np.ndarray:
        q, v = self.full(x)
        a, p = self.equations.accelerations(q, v)
        dq, dv = self.derivatives(x)
        z = self.equations.stack(q, v, a, p)
        slopes = self.equations.slopes(z)
        forces = slopes.matrix("K") @ dq + slopes.matrix("C") @ dv
        da = slopes.inertia()(-np.concatenate([forces, self.constraint_slopes(z, dq, dv)]))
        return np.concatenate([dv[2::3], dv[:1], da[2 : 3 * self.bars : 3]])

    def derivatives(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """∂q/∂x and ∂v/∂x."""
        N, l = self.bars, self.l
        theta, rate = x[:N], x[N + 1 :]
        c, s = np.cos(theta), np.sin(theta)
        dq, dv = np.zeros((3 * N, 2 * N + 1)), np.zeros((3 * N, 2 * N + 1))
        angles, speeds = slice(0, N), slice(N + 1, 2 * N + 1)
        dq[0::3, angles], dq[1::3, angles], dq[2::3, angles] = -self.below * s, self.below * c, np.eye(N)
        dq[0::3, N] = 1
        dv[0::3, angles], dv[1::3, angles] = -self.below * c * rate, -self.below * s * rate
        dv[0::3, speeds], dv[1::3, speeds], dv[2::3, speeds] = -self.below * s, self.below * c, np.eye(N)
        # Ẋ = −(u·b)/b_x with the end's velocity u relative to the block: −u_x − u_y tan θ_N.
        tangent, lift = np.tan(theta[-1]), l * (c * rate).sum()
        block = np.zeros(2 * N + 1)
        block[angles] = l * c * rate + l * s * rate * tangent
        block[N - 1] -= lift * (1 + tangent**2)
        block[speeds] = l * s - l * c * tangent
        dv[0::3] += block
        return dq, dv

    def constraint_slopes(self, z: np.ndarray, dq: np.ndarray, dv: np.ndarray) -> np.ndarray:
        """The derivative of A q̈ + γ along the columns of dq and dv, the accelerations held."""
        result = np.zeros((self.equations.m, dq.shape[1]))
        for member, function in self.acceleration_rows:
            values = function(member.local(z), member.table(1)).reshape(member.m, 2 * member.n, -1)
            at, rows = member.places[: member.n], member.places[member.n :] - self.equations.n
            for i in range(member.m):
                for j in range(member.n):
                    result[rows[i]] += values[i, j][:, None] * dq[at[j]] + values[i, member.n + j][:, None] * dv[at[j]]
        return result

    def _rows(self, member: Any) -> Compiled:
        graph = graph_of(member.part)
        a = [expression(f"acceleration of {q}") for q in graph.q]
        rows = [sum_of([dot(row, a), g]) for row, g in zip(graph.A, graph.gamma, strict=True)]
        return Compiled(jacobian_entries(rows, [*graph.q, *graph.v]), [*graph.q, *graph.v, *a, *graph.multipliers])


if __name__ == "__main__":
    main([int(n) for n in sys.argv[1:]] or [50, 100])
