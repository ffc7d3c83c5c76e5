"""The column past flutter, τ = 500 at 1.1 F_cr: us against SciPy's DOP853, at equal measured error.

SciPy's right-hand side comes from the same equations three ways: lambdified with NumPy as SymPy gives them (mass matrix
and forces, solved at each call), the reduced accelerations in closed form lambdified with common subexpressions, and
that compiled by numba. Errors are those of the final state against a run of ours at the finest tolerance, which an
independent run of SciPy's confirms, or the script fails. The time is that of the whole call, after one call that
compiles, in seconds of the processor; reactions and energies of a motion are computed when they are asked for.

An ensemble on all cores is compared with one motion alone by the clock; they must agree too.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial

import numba
import numpy as np
import sympy as sm
from scipy.integrate import solve_ivp

import pfaff
from verified import by_clock, demand, least, verify

DURATION = 500.0
START = {"theta1_dot": 0.01, "theta2_dot": 0.01}
ANGLES = [0, 1, 3, 4]  # places of the angles and their velocities in a motion
ROUNDS = 5
CONFIRMED = 1e-9  # of final states: what DOP853 at its sharpest differs by at most
TOGETHER = 1e-10  # of all states of a member of the ensemble


def reduced_equations(case: pfaff.Case) -> tuple[list[sm.Symbol], sm.Matrix, sm.Matrix]:
    """States θ1, θ2, θ̇1, θ̇2 with Ẋ solved for: mass matrix and forces, in SymPy."""
    s = case.system.statement
    numbers = dict(zip(case.system.parameters, map(sm.Float, case.numbers), strict=True))
    T, V, D = (e.xreplace(numbers) for e in (s.kinetic, s.potential, s.dissipation))
    q, v = s.q, s.v
    M = sm.Matrix(3, 3, lambda i, j: sm.diff(T, v[i], v[j]))

    def rate(e: sm.Expr) -> sm.Expr:
        return sum(sm.diff(e, a) * b for a, b in zip(q, v, strict=True))

    h = sm.Matrix([rate(sm.diff(T, v[i])) - sm.diff(T, q[i]) + sm.diff(V, q[i]) + sm.diff(D, v[i]) for i in range(3)])
    (row,) = (c.xreplace(numbers) for c in s.constraints)
    block = sm.solve(row, v[2])[0]
    B = sm.Matrix([[1, 0], [0, 1], [sm.diff(block, v[0]), sm.diff(block, v[1])]])
    turning = sm.Matrix([0, 0, rate(block)])
    mass = B.T * M * B
    force = B.T * (M * turning + h)
    return [q[0], q[1], v[0], v[1]], mass.subs(v[2], block), force.subs(v[2], block)


def peers(case: pfaff.Case) -> dict[str, Callable[[float, np.ndarray], np.ndarray]]:
    states, mass, force = reduced_equations(case)
    matrices = sm.lambdify([states], [mass, force], "numpy")

    def lambdified(t: float, x: np.ndarray) -> np.ndarray:
        M, f = matrices(x)
        return np.concatenate([x[2:], -np.linalg.solve(M, f)[:, 0]])

    (a, b), (_, d) = mass.tolist()
    f, g = force
    determinant = a * d - b * b
    rates = [states[2], states[3], (b * g - d * f) / determinant, (b * f - a * g) / determinant]
    closed = sm.lambdify([states], rates, "numpy", cse=True)
    scalar = numba.njit(sm.lambdify(states, rates, "math", cse=True))

    @numba.njit
    def compiled(t, x):
        return np.array(scalar(x[0], x[1], x[2], x[3]))

    return {
        "lambdified": lambdified,
        "lambdified, closed form with cse": lambda t, x: closed(x),
        "numba": compiled,
    }


def dop853(rhs: Callable[[float, np.ndarray], np.ndarray]) -> np.ndarray:
    return solve_ivp(rhs, (0, DURATION), [0, 0, 0.01, 0.01], "DOP853", rtol=1e-12, atol=1e-12).y[:, -1]


def final_state(case: pfaff.Case, tolerance: float) -> np.ndarray:
    return case.simulate(DURATION, tolerance=tolerance, **START).y[ANGLES, -1]


def in_turn(runs: dict[str, Callable[[], np.ndarray]], exact: np.ndarray) -> tuple[dict[str, float], dict[str, float]]:
    """Least seconds and errors of runs that alternate, so that a busy moment of the machine strikes all alike."""
    finals = {name: run() for name, run in runs.items()}
    rounds = [{name: least(run)[0] for name, run in runs.items()} for _ in range(ROUNDS)]
    return (
        {name: min(each[name] for each in rounds) for name in runs},
        {name: float(np.abs(final - exact).max()) for name, final in finals.items()},
    )


def main() -> None:
    case = pfaff.atlas.column(2).at(d=1 / 2, M_L=15, I_L=15, k1=50, c_i=1.5)
    case = case.at(F=1.1 * case.flutter().value)
    exact = case.simulate(DURATION, tolerance=1e-18, **START).y[ANGLES, -1]
    sharp = {"rtol": 1e-13, "atol": 1e-16}
    other = solve_ivp(peers(case)["numba"], (0, DURATION), [0, 0, 0.01, 0.01], "DOP853", **sharp).y[:, -1]
    confirmed = np.abs(other - exact).max()
    print(f"reference against an independent run of SciPy's at 1e-13: {confirmed:.1e}")
    verify("the reference against an independent run of SciPy's", confirmed, CONFIRMED)
    began = time.perf_counter()
    case.simulate(DURATION, tolerance=1e-13, **START)
    print(f"first call at a new tolerance, with compilation: {time.perf_counter() - began:.2f} s")

    runs = {f"SciPy DOP853, {name}": partial(dop853, rhs) for name, rhs in peers(case).items()}
    rivals = list(runs)
    for tolerance in (1e-10, 1e-11, 1e-12, 1e-13, 1e-15):
        runs[f"pfaff, tolerance {tolerance:.0e}"] = partial(final_state, case, tolerance)
    seconds, errors = in_turn(runs, exact)
    for name in runs:
        print(f"{name}: {1e3 * seconds[name]:.1f} ms, error {errors[name]:.1e}")
    allowed = min(errors[name] for name in rivals)
    accurate = [name for name in runs if name not in rivals and errors[name] <= allowed]
    demand("a tolerance of ours is as accurate as SciPy's runs", bool(accurate))
    for name in rivals:
        print(f"ratio against {name}, at no more than its error: {seconds[name] / seconds[accurate[0]]:.0f}x")

    single, _ = by_clock(lambda: case.simulate(DURATION, samples=101, **START).y[:, -1], 5)
    pushes = 0.01 * (1 + 0.1 * np.random.default_rng(0).random(200))
    case.ensemble(1.0, theta1_dot=pushes[:8], theta2_dot=0.01)
    many, members = by_clock(lambda: case.ensemble(DURATION, theta1_dot=pushes, theta2_dot=0.01).y, 2)
    alone = case.simulate(DURATION, samples=101, theta1_dot=pushes[7], theta2_dot=0.01).y
    difference = np.abs(members[:, :, 7] - alone).max()
    print(
        f"ensemble of {len(pushes)}: {1e3 * many / len(pushes):.2f} ms a trajectory, {1e3 * single:.1f} ms alone, "
        f"ratio {single * len(pushes) / many:.1f}x, difference {difference:.1e}"
    )
    verify("a member of the ensemble against the motion alone", difference, TOGETHER)


if __name__ == "__main__":
    main()
