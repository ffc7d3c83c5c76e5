"""Deriving Whipple's bicycle: ``pfaff.atlas.whipple_bicycle`` against SymPy's KanesMethod, in one run.

Both start from nothing and end with something that can be evaluated. pfaff states energies and five constraints, with
all validation, derives Lagrange's equations with multipliers and compiles the accelerations in all eight coordinates
and the five reactions. Kane's method gets the same bicycle in its own idiom: frames, points and bodies, a quaternion's
worth of generalised speeds less, contact conditions differentiated by ``time_derivative`` and the dependent speeds
named, so that no multiplier occurs; ``mass_matrix`` and ``forcing`` are assembled, neither solved nor compiled, which
favours SymPy. Nothing is simplified on either side.

Every measurement is made in a fresh process. Both are then linearised about straight running at 5 m/s, untimed:
pfaff with ``case.steady``, the peer by central differences of its accelerations in extended precision where needed.
The four eigenvalues of each are compared with those of Meijaard et al. (2007).

Run ``python benchmarks/bicycle.py``.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from typing import Any

import numpy as np
import sympy as sm
import sympy.physics.mechanics as me

from pfaff.atlas.whipple_bicycle import TABLE_1

PUBLISHED = np.array([-0.3228664290, -0.7753418822 - 4.4648677138j, -0.7753418822 + 4.4648677138j, -14.0783896928])
SPEED = 5.0
LIMIT = 500  # seconds for the peer, derivation and evaluation together
TARGET = 20  # times faster


def measure_pfaff() -> dict[str, Any]:
    """State, derive, compile with empty caches, and linearise."""
    import heyoka as hy

    import pfaff
    from pfaff.lowering import lower

    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as directory:
        hy.llvm_state.set_diskcache_path(directory)
        hy.llvm_state.clear_memcache()
        clock = time.process_time()
        system = pfaff.atlas.whipple_bicycle()
        stated = time.process_time()
        graph = lower(system)
        accelerations, reactions = graph.solve()
        derived = time.process_time()
        hy.cfunc([*accelerations, *reactions], [*graph.q, *graph.v])
        compiled = time.process_time()
        values = system.at().steady(s_dot=SPEED).eigenvalues
    seconds = {"state": stated - clock, "derive": derived - stated, "compile": compiled - derived}
    return {"seconds": seconds, "eigenvalues": [[value.real, value.imag] for value in values]}


def measure_kane() -> dict[str, Any]:
    """Frames, points, bodies, Kane's equations, a function of them, and the linearised equations."""
    p = {name: sm.Symbol(name) for name in TABLE_1}
    numbers = {p[name]: float(sm.sympify(value)) for name, value in TABLE_1.items()}
    start = time.process_time()
    method, q, u = kane(p)
    matrix, forcing = method.mass_matrix_full, method.forcing_full
    derived = time.process_time()
    plain = dict(zip([*q, *u], sm.symbols(f"x1:{len(q) + len(u) + 1}"), strict=True))
    stated = [block.xreplace(plain) for block in (matrix, forcing)]
    sm.lambdify([list(plain.values()), list(p.values())], stated, cse=True)
    compiled = time.process_time()
    rest = dict.fromkeys([*q, *u], 0.0)
    at = {**rest, u[2]: -SPEED / numbers[p["r_R"]], u[5]: -SPEED / numbers[p["r_F"]]}
    A, _ = method.to_linearizer().linearize(op_point=[at, numbers], A_and_B=True)
    linear = np.array(A.subs(at).subs(numbers), dtype=float)
    linearised = time.process_time()
    seconds = {"derive": derived - start, "compile": compiled - derived, "linearise": linearised - compiled}
    values = sorted(np.linalg.eigvals(linear), key=abs)[-4:]
    values = sorted(values, key=lambda value: (-value.real, value.imag))
    return {"seconds": seconds, "eigenvalues": [[value.real, value.imag] for value in values]}


def kane(p: dict[str, sm.Symbol]) -> tuple[Any, list[sm.Expr], list[sm.Expr]]:
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
    method = me.KanesMethod(
        N,
        q_ind=[psi, phi, delta],
        q_dependent=[chi],
        configuration_constraints=[touching],
        u_ind=[u[1], u[3], u[4]],
        u_dependent=[u[0], u[2], u[5]],
        velocity_constraints=[slip.dot(A.y), slip.dot(A.z), slip.dot(A.x)],  # pivots in this order do not vanish
        kd_eqs=[each.diff(me.dynamicsymbols._t) - speed for each, speed in zip(q, u, strict=False)],
    )
    method.kanes_equations(bodies, loads)
    return method, list(method.q), list(method.u)


def rigid(name: str, centre: Any, frame: Any, p: dict[str, sm.Symbol]) -> Any:
    inertia = me.inertia(
        frame, p[f"I_{name}xx"], p[f"I_{name}yy"], p[f"I_{name}zz"], 0, 0, p[f"I_{name}xz"]
    )  # fmt: skip
    return me.RigidBody(name, centre, frame, p[f"m_{name}"], (inertia, centre))


def measure(method: str) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, __file__, method], stdout=subprocess.PIPE, text=True, timeout=LIMIT, check=True
    )
    return json.loads(done.stdout)


def main() -> None:
    if len(sys.argv) > 1:
        json.dump({"pfaff": measure_pfaff, "kane": measure_kane}[sys.argv[1]](), sys.stdout)
        return
    ours, theirs = measure("pfaff"), measure("kane")
    for name, result in (("pfaff", ours), ("KanesMethod", theirs)):
        values = np.array([complex(*each) for each in result["eigenvalues"]])
        difference = np.abs(values - PUBLISHED).max()
        stages = ", ".join(f"{stage} {seconds:.2f} s" for stage, seconds in result["seconds"].items())
        print(f"{name:12} {stages}; eigenvalues at {SPEED} m/s within {difference:.1e} of the published ones")
        assert difference < 1e-6, f"{name} does not describe the benchmark bicycle"
    peer = theirs["seconds"]["derive"]
    for label, stages in (
        ("derivation", ("derive",)),
        ("derivation and compilation", ("derive", "compile")),
        ("statement, derivation and compilation", ("state", "derive", "compile")),
    ):
        ratio = peer / sum(ours["seconds"][stage] for stage in stages)
        print(f"{label}: {ratio:.1f} times sooner")
    ratio = peer / (ours["seconds"]["derive"] + ours["seconds"]["compile"])
    print(f"target {TARGET} times, derivation and compilation: {'met' if ratio >= TARGET else 'MISSED'}")


if __name__ == "__main__":
    main()
