"""Deriving Whipple's bicycle: ``pfaff.atlas.whipple_bicycle`` against SymPy's KanesMethod, in one run.

pfaff states energies and five constraints, with all validation (state), derives Lagrange's equations with multipliers
(derive) and makes a function of accelerations and reactions (compile). KanesMethod gets the same bicycle in its
own idiom, after the bicycle among SymPy's own tests: frames, points, bodies and generalised speeds, the rolling of the
rear wheel built into its velocities and the front contact as three velocity constraints, so that no multiplier occurs
(state). Its mass matrix and forcing are assembled (derive) and made a function by ``lambdify`` with common
subexpressions (compile). Nothing is simplified on either side.

Then both are linearised about straight running at 5 m/s: pfaff by ``case.steady``, compilation of the Jacobian
included, the peer by ``to_linearizer``, which takes longer than anybody waits and is stopped after a minute. The peer's
equations are checked before that: the four eigenvalues of both, the peer's by differences of its accelerations
(untimed), must be those of Meijaard et al. (2007).

Every measurement is made in a fresh process; seconds are those of the processor, which other processes do not change.

Run ``python benchmarks/bicycle.py``.
"""

from __future__ import annotations

import json
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import sympy as sm
import sympy.physics.mechanics as me

from pfaff.atlas.whipple_bicycle import TABLE_1
from verified import demand, processor_of_children, verify

PUBLISHED = np.array([-0.3228664290, -0.7753418822 - 4.4648677138j, -0.7753418822 + 4.4648677138j, -14.0783896928])
SPEED = 5.0
LIMIT = 60  # seconds of the processor for one process
STAGES = ("state", "derive", "compile", "linearise")
TARGET = 20  # times faster
AGREEMENT = 1e-9  # of eigenvalues with the published ones


Report = Callable[[str, Any], None]


def measure_pfaff(report: Report) -> None:
    """State, derive and make a function; then linearise."""
    import pfaff
    from pfaff.flow.compiled import Compiled
    from pfaff.flow.lagrangian import lower

    clock = time.process_time()
    system = pfaff.atlas.whipple_bicycle()
    report("state", time.process_time() - clock)
    clock = time.process_time()
    graph = lower(system)
    accelerations, reactions = graph.solve()
    report("derive", time.process_time() - clock)
    clock = time.process_time()
    function = Compiled([*accelerations, *reactions], [*graph.q, *graph.v])
    function(np.zeros(2 * len(graph.q)), system.at().numbers)
    report("compile", time.process_time() - clock)
    clock = time.process_time()
    values = system.at().steady(s_dot=SPEED).eigenvalues
    report("linearise", time.process_time() - clock)
    report("eigenvalues", pairs(values))


def measure_kane(report: Report) -> None:
    """Frames, points, bodies, Kane's equations, a function of them, and the linearised equations."""
    p = {name: sm.Symbol(name) for name in TABLE_1}
    numbers = {p[name]: float(sm.sympify(value)) for name, value in TABLE_1.items()}
    clock = time.process_time()
    statement, bodies, loads, touching = described(p)
    report("state", time.process_time() - clock)
    clock = time.process_time()
    method = me.KanesMethod(**statement)
    method.kanes_equations(bodies, loads)
    matrix, forcing = method.mass_matrix_full, method.forcing_full
    report("derive", time.process_time() - clock)
    q, u = list(method.q), list(method.u)
    clock = time.process_time()
    plain = dict(zip([*q, *u], sm.symbols(f"x1:{len(q) + len(u) + 1}"), strict=True))
    stated = [block.xreplace(plain) for block in (matrix, forcing)]
    sm.lambdify([list(plain.values()), list(p.values())], stated, cse=True)
    report("compile", time.process_time() - clock)
    report("eigenvalues", pairs(kane_eigenvalues(kane_rates(method, matrix, forcing, q, u, touching, numbers))))
    clock = time.process_time()
    rolling = {u[2]: -SPEED / numbers[p["r_R"]], u[5]: -SPEED / numbers[p["r_F"]]}
    at = {**dict.fromkeys([*q, *u], 0.0), **rolling}
    method.to_linearizer().linearize(op_point=[at, numbers], A_and_B=True)
    report("linearise", time.process_time() - clock)


def pairs(values: np.ndarray) -> list[list[float]]:
    return [[value.real, value.imag] for value in values]


def described(p: dict[str, sm.Symbol]) -> tuple[dict[str, Any], list[Any], list[Any], sm.Expr]:
    """Yaw, lean, pitch and steer with the wheels' speeds; positions on the ground are ignorable and left out."""
    q = list(me.dynamicsymbols("psi phi chi delta"))
    u = list(me.dynamicsymbols("u_psi u_phi u_chi u_delta u_R u_F"))
    psi, phi, chi, delta = q
    N, A = me.ReferenceFrame("N"), me.ReferenceFrame("A")
    A.orient_axis(N, N.z, psi)
    B = A.orientnew("B", "Axis", (phi, A.x))
    C = B.orientnew("C", "Axis", (chi, B.y))
    E = C.orientnew("E", "Axis", (p["tilt"], C.y))
    F = E.orientnew("F", "Axis", (delta, E.z))
    G = F.orientnew("G", "Axis", (-p["tilt"], F.y))  # the front frame with the axes of the benchmark
    rear, front = me.ReferenceFrame("R"), me.ReferenceFrame("W")
    B.set_ang_vel(N, u[0] * A.z + u[1] * A.x)
    C.set_ang_vel(B, u[2] * B.y)
    F.set_ang_vel(E, u[3] * E.z)
    rear.set_ang_vel(C, u[4] * C.y)
    front.set_ang_vel(G, u[5] * G.y)
    rear_contact, hub = me.Point("rear contact"), me.Point("rear hub")
    hub.set_pos(rear_contact, -p["r_R"] * B.z)
    rolling = (B.ang_vel_in(N) + (u[2] + u[4]) * B.y).cross(-p["r_R"] * B.z)
    hub.set_vel(N, rolling)  # the rear wheel rolls
    frame_centre = hub.locatenew("B", p["x_B"] * C.x + (p["z_B"] + p["r_R"]) * C.z)
    frame_centre.v2pt_theory(hub, N, C)
    foot = hub.locatenew("foot", (p["w"] + p["c"]) * C.x + p["r_R"] * C.z)
    foot.v2pt_theory(hub, N, C)
    fork_centre = foot.locatenew("H", (p["x_H"] - p["w"] - p["c"]) * G.x + p["z_H"] * G.z)
    fork_centre.v2pt_theory(foot, N, G)
    front_hub = foot.locatenew("front hub", -p["c"] * G.x - p["r_F"] * G.z)
    front_hub.v2pt_theory(foot, N, G)
    down = A.z - A.z.dot(G.y) * G.y
    below = p["r_F"] * down / sm.sqrt(down.dot(G.x) ** 2 + down.dot(G.z) ** 2)
    front_contact = front_hub.locatenew("front contact", below)
    slip = front_hub.vel(N) + front.ang_vel_in(N).cross(below)
    touching = front_contact.pos_from(rear_contact).dot(A.z)
    bodies = [
        me.RigidBody("rear wheel", hub, rear, p["m_R"], (me.inertia(C, p["I_Rxx"], p["I_Ryy"], p["I_Rxx"]), hub)),
        rigid("B", frame_centre, C, p),
        rigid("H", fork_centre, G, p),
        me.RigidBody(
            "front wheel", front_hub, front, p["m_F"], (me.inertia(G, p["I_Fxx"], p["I_Fyy"], p["I_Fxx"]), front_hub)
        ),
    ]
    loads = [(body.masscenter, body.mass * p["g"] * A.z) for body in bodies]
    statement = {
        "frame": N,
        "q_ind": [psi, phi, delta],
        "q_dependent": [chi],
        "configuration_constraints": [touching],
        "u_ind": [u[1], u[3], u[4]],
        "u_dependent": [u[0], u[2], u[5]],
        "velocity_constraints": [slip.dot(A.y), slip.dot(A.z), slip.dot(A.x)],  # these pivots do not vanish
        "kd_eqs": [each.diff(me.dynamicsymbols._t) - speed for each, speed in zip(q, u, strict=False)],
    }
    return statement, bodies, loads, touching


def rigid(name: str, centre: Any, frame: Any, p: dict[str, sm.Symbol]) -> Any:
    inertia = me.inertia(
        frame, p[f"I_{name}xx"], p[f"I_{name}yy"], p[f"I_{name}zz"], 0, 0, p[f"I_{name}xz"]
    )  # fmt: skip
    return me.RigidBody(name, centre, frame, p[f"m_{name}"], (inertia, centre))


def kane_rates(
    method: Any,
    matrix: sm.Matrix,
    forcing: sm.Matrix,
    q: Any,
    u: Any,
    touching: sm.Expr,
    numbers: dict[sm.Symbol, float],
) -> Any:
    """d/dt of (lean, steer, lean rate, steer rate, wheel speed), dependent coordinates and speeds solved for."""
    plain_q, plain_u = sm.symbols("q1:5"), sm.symbols("w1:7")
    back = dict(zip(u, plain_u, strict=True)), dict(zip(q, plain_q, strict=True))

    def plain(expression: Any) -> Any:
        return expression.xreplace(numbers).xreplace(back[0]).xreplace(back[1])

    full = sm.lambdify([plain_q, plain_u], [plain(matrix), plain(forcing)], cse=True)
    rows = sm.lambdify([plain_q], [plain(method._Ars), plain(touching), plain(touching.diff(q[3]))], cse=True)

    def rates(x: np.ndarray) -> np.ndarray:
        phi, delta, *speeds = x
        chi = 0.0
        for _ in range(8):
            _, height, slope = rows([0.0, phi, delta, chi])
            chi -= height / slope
        Ars = np.array(rows([0.0, phi, delta, chi])[0], dtype=float)
        all_speeds = [*speeds, *(Ars @ speeds)]
        M, f = full([0.0, phi, delta, chi], all_speeds)
        found = np.linalg.solve(np.array(M, dtype=float), np.array(f, dtype=float)).ravel()
        return np.array([speeds[0], speeds[1], *found[4:7]])

    return rates


def kane_eigenvalues(rates: Any) -> np.ndarray:
    """By central differences with one extrapolation; the zero of the family is the smallest of the five."""
    x = np.array([0, 0, 0, 0, -SPEED / 0.3])

    def jacobian(h: float) -> np.ndarray:
        return np.column_stack([(rates(x + h * e) - rates(x - h * e)) / (2 * h) for e in np.eye(5)])

    J = (4 * jacobian(1e-3) - jacobian(2e-3)) / 3
    values = sorted(np.linalg.eigvals(J), key=abs)[1:]
    return np.array(sorted(values, key=lambda value: (-value.real, value.imag)))


def measure(method: str) -> dict[str, Any]:
    """What a process of its own reports, until it ends or the time limit passes; ``spent`` is its processor time."""
    before = processor_of_children()
    done = subprocess.run([sys.executable, __file__, method], stdout=subprocess.PIPE, text=True)
    found = dict(json.loads(line) for line in done.stdout.splitlines())
    demand(f"{method} came as far as its equations", "eigenvalues" in found)
    demand(f"{method} ended, or was stopped", done.returncode in (0, -signal.SIGXCPU))
    return {**found, "spent": processor_of_children() - before}


def worker(method: str) -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (LIMIT, LIMIT + 1))

    def report(stage: str, value: Any) -> None:
        print(json.dumps([stage, value]), flush=True)

    {"pfaff": measure_pfaff, "kane": measure_kane}[method](report)


def sum_of(result: dict[str, Any], stages: int) -> float:
    return sum(result[stage] for stage in STAGES[:stages])


def main() -> None:
    if len(sys.argv) > 1:
        worker(sys.argv[1])
        return
    ours, theirs = measure("pfaff"), measure("kane")
    for name, result in (("pfaff", ours), ("KanesMethod", theirs)):
        difference = np.abs(np.array([complex(*each) for each in result["eigenvalues"]]) - PUBLISHED).max()
        stages = ", ".join(f"{stage} {seconds:.2f} s" for stage, seconds in result.items() if stage in STAGES)
        print(f"{name:12} {stages}; eigenvalues at {SPEED} m/s within {difference:.1e} of the published ones")
        verify(f"{name}'s eigenvalues of the benchmark bicycle", difference, AGREEMENT)
    derivation = theirs["derive"] / ours["derive"]
    verdict = "met" if derivation >= TARGET else "MISSED"
    print(f"derivation, from the statement to the equations: {derivation:.0f} times sooner; target {TARGET}: {verdict}")
    stated, compiled = (sum_of(theirs, n) / sum_of(ours, n) for n in (2, 3))
    print(f"with the statement, which pfaff validates: {stated:.1f} times sooner")
    print(f"from nothing to a compiled function: {compiled:.1f} times sooner")
    whole = sum_of(ours, 4)
    if "linearise" in theirs:
        ratio = (sum_of(theirs, 2) + theirs["linearise"]) / whole
        print(f"from nothing to the linearised equations: {ratio:.1f} times sooner")
    else:
        print(
            f"from nothing to the linearised equations: {theirs['spent'] / whole:.0f} times sooner at least "
            f"(KanesMethod was stopped after {theirs['spent']:.0f} s)"
        )


if __name__ == "__main__":
    main()
