"""Deriving the equations of the N-bar column: ``pfaff.System`` against SymPy's LagrangesMethod and KanesMethod.

All three start from ``pfaff.atlas.column(N)`` with skate and dead load: pfaff and LagrangesMethod from the very same
energies and constraint, KanesMethod from particles, frames and loads in the same symbols. There is no damping on
either side: LagrangesMethod takes dissipation only as forces on points and frames, which would burden it with
kinematics that the energies already contain. Accelerations are compared at random admissible states in the same run.

Every measurement is made in a fresh process, after SymPy's cache is cleared:

state
    constructing the System from the energies, with all its validation (degrees, rank, Frobenius' test);
derive
    M, h, A and the elimination of the multiplier, in the expression graph;
function
    making accelerations and multiplier a function, with its first values;
Lagrange, Kane
    constructor, equations, and assembly of the mass matrix and forcing. Their linear systems stay unsolved and
    uncompiled (both are done numerically for the comparison, untimed), which favours SymPy. The energies are taken as
    stated; a user who expands them first halves LagrangesMethod's time at N = 8.

Seconds are the processor's. pfaff's are medians over a few processes; SymPy's are of a single run, with a limit.

Run ``python benchmarks/derive.py``, or with ``--quick`` for N = 2 and 4 only.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median
from typing import Any

import numpy as np
import sympy as sm
import sympy.physics.mechanics as me
from sympy.core.cache import clear_cache

import pfaff
from pfaff.flow.compiled import Compiled
from pfaff.flow.lagrangian import lower
from verified import demand, verify

LIMIT = 240  # seconds for one peer, derivation and numeric evaluation together
RUNS = 3  # processes over which pfaff's times are medians
STATES = 20
AGREEMENT = 1e-9
DERIVATION_TARGET, COMPILED_TARGET = 100, 20  # times faster than LagrangesMethod at N = 8


@dataclass(frozen=True)
class Task:
    """A column, numbers for its parameters by name, and states (q, v) on its constraint."""

    bars: int
    parameters: dict[str, float]
    states: list[list[float]]


@dataclass(frozen=True)
class Measurement:
    """Seconds by stage, and the accelerations at the states of the task."""

    seconds: dict[str, float]
    accelerations: list[list[float]]


# The task


def undamped(bars: int) -> dict[str, Any]:
    """The statement of the column without its dissipation: the arguments of a System."""
    column = pfaff.atlas.column(bars)
    used = column.kinetic + column.potential + sm.Add(*column.nonholonomic_constraints)
    return {
        "coordinates": column.coordinates,
        "kinetic": column.kinetic,
        "potential": column.potential,
        "nonholonomic_constraints": column.nonholonomic_constraints,
        "parameters": {p: value for p, value in column.parameters.items() if p in used.free_symbols},
    }


def random_task(bars: int) -> Task:
    """Random parameters, and random states whose block speed obeys the skate."""
    generator = np.random.default_rng(bars)
    system = pfaff.System(**undamped(bars))
    parameters = {name: generator.uniform(0.5, 1.5) for name in system.parameter_names}
    parameters["beta0"] = 0.1
    s = system.statement
    constraint = sm.lambdify([s.q, s.v, list(system.parameters)], s.constraints[0])
    numbers = list(parameters.values())
    states = []
    for _ in range(STATES):
        q, v = generator.uniform(-0.8, 0.8, (2, bars + 1))
        v[-1] = 0.0
        block = np.eye(bars + 1)[-1]
        v[-1] = -constraint(q, v, numbers) / constraint(q, block, numbers)
        states.append([*q.tolist(), *v.tolist()])
    return Task(bars, parameters, states)


# The three methods


def measure_pfaff(task: Task) -> Measurement:
    """State, derive, make a function."""
    statement = undamped(task.bars)
    clear_cache()
    clock = Clock()
    system = pfaff.System(**statement)
    clock.lap("state")
    graph = lower(system)
    accelerations, multipliers = graph.solve()
    clock.lap("derive")
    outputs, inputs = [*accelerations, *multipliers], [*graph.q, *graph.v]
    numbers = np.array([task.parameters[name] for name in system.parameter_names])
    clock.restart()
    function = Compiled(outputs, inputs)
    function(np.array(task.states[0]), numbers)
    clock.lap("function")
    values = [function(np.array(state), numbers)[: len(accelerations)].tolist() for state in task.states]
    return Measurement(clock.laps, values)


def measure_lagrange(task: Task) -> Measurement:
    """LagrangesMethod on the same energies, with the multiplier among its unknowns."""
    statement = undamped(task.bars)
    q = list(statement["coordinates"])
    clear_cache()
    clock = Clock()
    method = me.LagrangesMethod(
        statement["kinetic"] - statement["potential"],
        q,
        nonhol_coneqs=list(statement["nonholonomic_constraints"]),
    )
    method.form_lagranges_equations()
    matrix, forcing = method.mass_matrix_full, method.forcing_full
    clock.lap("derive")
    n = len(q)
    velocities = [x.diff(me.dynamicsymbols._t) for x in q]
    unknowns = solve_at(task, list(statement["parameters"]), q, velocities, matrix, forcing)
    return Measurement(clock.laps, [x[n : 2 * n] for x in unknowns])


def measure_kane(task: Task) -> Measurement:
    """KanesMethod on the chain of particles; the speed of the block is the dependent one."""
    statement = undamped(task.bars)
    q, parameters = list(statement["coordinates"]), {p.name: p for p in statement["parameters"]}
    clear_cache()
    clock = Clock()
    u = list(me.dynamicsymbols(f"u1:{len(q) + 1}"))
    rates = [x.diff(me.dynamicsymbols._t) for x in q]
    ground, bodies, loads = chain(q, u, parameters)
    constraints = [c.xreplace(dict(zip(rates, u, strict=True))) for c in statement["nonholonomic_constraints"]]
    method = me.KanesMethod(
        ground,
        q_ind=q,
        u_ind=u[:-1],
        u_dependent=u[-1:],
        kd_eqs=[rate - speed for rate, speed in zip(rates, u, strict=True)],
        velocity_constraints=constraints,
    )
    method.kanes_equations(bodies, loads)
    matrix, forcing = method.mass_matrix, method.forcing
    clock.lap("derive")
    return Measurement(clock.laps, solve_at(task, list(parameters.values()), q, u, matrix, forcing))


def chain(
    q: Sequence[sm.Expr], u: Sequence[sm.Expr], p: dict[str, sm.Symbol]
) -> tuple[me.ReferenceFrame, list[Any], list[Any]]:
    """The column as Kane sees it: the inertial frame, its bodies, and the loads on them."""
    *theta, X = q
    bars = len(theta)
    length, mass, centre = p["L"] / bars, p["M"] / bars, p["d"] * p["L"] / bars
    ground, origin, joint = me.ReferenceFrame("ground"), me.Point("origin"), me.Point("block")
    origin.set_vel(ground, 0)
    joint.set_pos(origin, X * ground.x)
    joint.set_vel(ground, u[-1] * ground.x)
    bodies: list[Any] = [me.Particle("block", joint, p["M_X"])]
    loads: list[Any] = [(joint, p["F"] * ground.x)]
    bends = [theta[0], *(b - a for a, b in pairwise(theta))]
    moments = [*(k * bend for k, bend in zip([p["k1"]] + [p["k"]] * (bars - 1), bends, strict=True)), 0]
    for i in range(bars):
        frame = me.ReferenceFrame(f"bar{i}")
        frame.orient_axis(ground, ground.z, theta[i])
        frame.set_ang_vel(ground, u[i] * ground.z)
        particle, end = joint.locatenew(f"centre{i}", centre * frame.x), joint.locatenew(f"end{i}", length * frame.x)
        particle.v2pt_theory(joint, ground, frame)
        end.v2pt_theory(joint, ground, frame)
        bodies.append(me.Particle(f"mass{i}", particle, mass))
        loads.append((frame, (moments[i + 1] - moments[i]) * ground.z))
        joint = end
    inertia = me.inertia(frame, 0, 0, p["I_L"])
    return ground, [*bodies, me.RigidBody("skate", joint, frame, p["M_L"], (inertia, joint))], loads


def solve_at(
    task: Task,
    parameters: list[sm.Symbol],
    q: list[sm.Expr],
    speeds: list[sm.Expr],
    matrix: sm.Matrix,
    forcing: sm.Matrix,
) -> list[list[float]]:
    """The peer's linear system, solved numerically at every state."""
    plain = sm.symbols(f"x1:{2 * len(q) + 1}")
    names = [dict(zip(speeds, plain[len(q) :], strict=True)), dict(zip(q, plain, strict=False))]
    system = [block.xreplace(names[0]).xreplace(names[1]) for block in (matrix, forcing)]
    evaluate = sm.lambdify([plain, parameters], system, cse=True)
    numbers = [task.parameters[p.name] for p in parameters]
    return [np.linalg.solve(*evaluate(state, numbers)).ravel().tolist() for state in task.states]


# Processes


class Clock:
    """Seconds of the processor between laps: neighbours on the machine count little."""

    def __init__(self) -> None:
        self.laps: dict[str, float] = {}
        self.restart()

    def restart(self) -> None:
        self._start = time.process_time()

    def lap(self, name: str) -> None:
        self.laps[name] = time.process_time() - self._start
        self.restart()


METHODS = {"pfaff": measure_pfaff, "Lagrange": measure_lagrange, "Kane": measure_kane}


def work(method: str) -> None:
    """Inside the fresh process: a task from standard input, its measurement to standard output."""
    measurement = METHODS[method](Task(**json.load(sys.stdin)))
    json.dump(vars(measurement), sys.stdout)


def measure(method: str, task: Task) -> Measurement | None:
    """A measurement in a process of its own, or None when the time limit passes."""
    command = [sys.executable, __file__, "--worker", method]
    try:
        done = subprocess.run(
            command, input=json.dumps(vars(task)), stdout=subprocess.PIPE, text=True, timeout=LIMIT, check=True
        )
    except subprocess.TimeoutExpired:
        return None
    return Measurement(**json.loads(done.stdout))


# The comparison


@dataclass(frozen=True)
class Row:
    """One line of the table: pfaff's medians, the peers, and their largest relative differences from pfaff."""

    bars: int
    ours: dict[str, float]
    peers: dict[str, Measurement | None]
    differences: dict[str, float]

    def ratio(self, peer: str, *stages: str) -> float | None:
        """How many times longer the peer takes than these stages of pfaff."""
        measurement = self.peers[peer]
        return None if measurement is None else measurement.seconds["derive"] / sum(self.ours[s] for s in stages)


def compare(bars: int) -> Row:
    """All methods on one task; fails if the accelerations disagree."""
    task = random_task(bars)
    runs = [run for run in (measure("pfaff", task) for _ in range(RUNS)) if run is not None]
    peers = {name: measure(name, task) for name in ("Lagrange", "Kane")}
    differences = {
        name: relative_difference(peer.accelerations, runs[0].accelerations)
        for name, peer in peers.items()
        if peer is not None
    }
    for name, difference in differences.items():
        verify(f"accelerations of {bars} bars, {name} against pfaff", difference, AGREEMENT)
    ours = {stage: median(run.seconds[stage] for run in runs) for stage in runs[0].seconds}
    return Row(bars, ours, peers, differences)


def relative_difference(theirs: list[list[float]], ours: list[list[float]]) -> float:
    """Over all states, the largest difference relative to the largest acceleration of that state."""
    a, b = np.array(theirs), np.array(ours)
    demand(f"{a.shape} accelerations are as many as {b.shape}", a.shape == b.shape)
    return float((np.abs(a - b).max(axis=1) / np.abs(b).max(axis=1)).max())


def print_table(rows: list[Row]) -> None:
    """Seconds, ratios and differences."""
    stages = ("state", "derive", "function")
    print("\nSeconds: pfaff stage by stage, and SymPy's derivation")
    print(f"{'N':>3}" + "".join(f"{name:>12}" for name in (*stages, "Lagrange", "Kane")))
    for row in rows:
        ours = "".join(f"{row.ours[stage]:12.4f}" for stage in stages)
        seconds = ("timed out" if m is None else f"{m.seconds['derive']:.3f}" for m in row.peers.values())
        theirs = "".join(f"{text:>12}" for text in seconds)
        print(f"{row.bars:>3}{ours}{theirs}")
    print("\nTimes longer than pfaff, and the largest relative difference of the accelerations")
    print(f"{'N':>3}  {'peer':10}{'derive':>10}{'+ function':>12}{'+ state':>10}{'difference':>14}")
    for row in rows:
        for peer in row.peers:
            print_ratios(row, peer)


def print_ratios(row: Row, peer: str) -> None:
    """Against one peer at one N: derivation alone, with a function of them, and with stating too."""
    ratios = [
        row.ratio(peer, *stages) for stages in (("derive",), ("derive", "function"), ("derive", "function", "state"))
    ]
    if peer not in row.differences:
        print(f"{row.bars:>3}  {peer:10}timed out after {LIMIT} s: no ratio, no comparison")
        return
    print(f"{row.bars:>3}  {peer:10}" + "".join(f"{r:>10.1f}" for r in ratios) + f"{row.differences[peer]:>14.1e}")


def print_targets(row: Row) -> None:
    """The two targets at N = 8, met or missed."""
    print()
    for label, target, stages in (
        ("derivation", DERIVATION_TARGET, ("derive",)),
        ("derivation + function", COMPILED_TARGET, ("derive", "function")),
    ):
        ratio = row.ratio("Lagrange", *stages)
        verdict = "no ratio" if ratio is None else f"{ratio:.0f}×, {'met' if ratio >= target else 'MISSED'}"
        print(f"N = {row.bars}, {label} at least {target}× faster than LagrangesMethod: {verdict}")


def main() -> None:
    """The table for N = 2, 4, 8, or one measurement when called as a worker."""
    parser = argparse.ArgumentParser(description="Derivation of the N-bar column: pfaff against SymPy.")
    parser.add_argument("--quick", action="store_true", help="N = 2 and 4 only")
    parser.add_argument("--worker", choices=METHODS, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.worker:
        work(arguments.worker)
        return
    print(f"pfaff {pfaff.__version__}, SymPy {sm.__version__}, Python {sys.version.split()[0]}")
    rows = [compare(bars) for bars in ((2, 4) if arguments.quick else (2, 4, 8))]
    print_table(rows)
    if not arguments.quick:
        print_targets(rows[-1])
    print(f"\nAll compared accelerations agree to {AGREEMENT:.0e} at {STATES} random states each.")


if __name__ == "__main__":
    main()
