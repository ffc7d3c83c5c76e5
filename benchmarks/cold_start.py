"""How long the first results take: the process `pfaff critical`, and first branches and motions with empty caches.

Each is a process of its own, from a cold interpreter to the answer, and its time that of the processor. Branches and
motions get empty folders for what numba and heyoka keep, as after `pip install`; branches of cycles are computed once
more with the kernels compiled ahead, as after `make`, which runs `python -m pfaff.compile`, but nothing of the system
itself. The motions are those of atlas systems with five coordinates and more. Every answer is verified: loads against
their closed form, periods against shooting (as benchmarks/orbits.py has it), motions by their energy.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

from verified import processor_of_children, verify

COMMAND = [
    sys.executable, "-m", "pfaff", "critical", "column", "--bars", "2", "--constraint", "skate", "--load", "dead",
    "--set", "d=1/2", "--set", "M_L=15", "--set", "I_L=15", "--set", "k1=50", "--set", "c_i=1.5", "--json",
]  # fmt: skip
RUNS = 7
# An installed package is read from bytecode: who forbids Python to write it measures its compiler.
USUAL = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
CLOSED_FORM = 64 * 1.5**2 / 723 + 4410529058 / 57927483  # of this column with c_i = 1.5
ENDS = {2: (100, 9.694095167314979), 10: (0.3, 58.484687278901134)}  # by bars: loads, and periods by shooting
ORBITS = """
import pfaff
case = pfaff.atlas.column({bars}, "skate", "dead").at(d="1/2", M_L=15, I_L=15, k1=50, c_i="3/2")
print(case.hopf().orbits(to={to})[-1].period)
"""
BRANCH = """
import pfaff
case = pfaff.atlas.column(2, "skate", "dead").at(d="1/2", M_L=15, I_L=15, k1=50, c_i="3/2")
print(next(each.value for each in case.branch("F", to=100).special if each.kind == "hopf"))
"""
MOTION = """
import pfaff
motion = pfaff.atlas.{system}().at().simulate(1, project=True, {start})
print(motion.energy.drift if abs(motion.y[:, -1] - motion.y[:, 0]).max() > 0.1 else "stood still")
"""
MOTIONS = {  # how they start
    "ball_in_cavity": "u=0.5, v_dot=0.3, theta_z_dot=0.2",
    "rolling_disc": "theta=0.2, psi_dot=1, phi_dot=2",
    "rolling_hoop": "theta=0.2, psi_dot=1, phi_dot=2",
    "rattleback": "psi_dot=5, alpha=0.1",
    "snakeboard": "theta_dot=0.3, psi_dot=1, phi_f_dot=0.5",
    "whipple_bicycle": "phi=0.05, s_dot=4",
}


def critical() -> None:
    times, processor = [], []
    for _ in range(RUNS):
        start, before = time.perf_counter(), processor_of_children()
        done = subprocess.run(COMMAND, capture_output=True, text=True, check=True, env=USUAL)
        times.append(time.perf_counter() - start)
        processor.append(processor_of_children() - before)
        found = json.loads(done.stdout)["flutter"]["value"]
        verify("the flutter load on the shell against its closed form", abs(found / CLOSED_FORM - 1), 1e-12)
    spread = f"from {min(times):.2f} to {max(times):.2f} s"
    busy = statistics.median(processor)
    print(f"pfaff critical, whole process: median {statistics.median(times):.2f} s, {spread}; processor {busy:.2f} s")


def first(what: str, script: str, right: float, allowed: float, kernels: str | None = None) -> None:
    """The seconds of a process that prints a number, which must be right; ``kernels`` is a folder that has them."""
    with tempfile.TemporaryDirectory() as folder:
        environment = {**USUAL, "NUMBA_CACHE_DIR": kernels or f"{folder}/numba", "XDG_CACHE_HOME": folder}
        before = processor_of_children()
        done = subprocess.run(
            [sys.executable, "-c", script], stdout=subprocess.PIPE, text=True, check=True, env=environment
        )
        processor = processor_of_children() - before
    verify(f"first {what}", abs(float(done.stdout) - right), allowed)
    situation = "kernels compiled ahead (make)" if kernels else "empty caches (pip install)"
    print(f"first {what}, {situation}: processor {processor:.1f} s", flush=True)


def first_cycles() -> None:
    """Branches with nothing compiled yet, and with the kernels alone."""
    with tempfile.TemporaryDirectory() as kernels, tempfile.TemporaryDirectory() as other:
        ahead = {**USUAL, "NUMBA_CACHE_DIR": kernels, "XDG_CACHE_HOME": other}
        subprocess.run([sys.executable, "-m", "pfaff.compile"], check=True, env=ahead)
        for bars, (to, period) in ENDS.items():
            for compiled in (None, kernels):
                script = ORBITS.format(bars=bars, to=to)
                first(f"branch of cycles of {bars} bars", script, period, 1e-10 * period, compiled)


def main() -> None:
    critical()
    first("branch of equilibria", BRANCH, CLOSED_FORM, 1e-8 * CLOSED_FORM)
    first_cycles()
    for system, start in MOTIONS.items():
        first(f"motion of {system}", MOTION.format(system=system, start=start), 0.0, 1e-12)


if __name__ == "__main__":
    main()
