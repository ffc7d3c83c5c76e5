"""How long the first results take: each in a process of its own, from a cold interpreter, with nothing kept anywhere.

The times are those of the processor, imports included; those of the imports alone stand beside them. Another process
has heyoka compile the right sides with their Jacobian, or the integrator: that alone is counted for it. Every answer is
verified: loads and Hopf points against their closed form, or the load of many bars with 30 digits, branches against
them, periods against shooting (as benchmarks/orbits.py has it), motions by their energy.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
from importlib.util import find_spec

from verified import processor_of_children, verify

COMMAND = [
    sys.executable, "-m", "pfaff", "critical", "column", "--bars", "2", "--constraint", "skate", "--load", "dead",
    "--set", "d=1/2", "--set", "M_L=15", "--set", "I_L=15", "--set", "k1=50", "--set", "c_i=1.5", "--json",
]  # fmt: skip
RUNS = 5
# An installed package is read from bytecode: who forbids Python to write it measures its compiler.
USUAL = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
CLOSED_FORM = 64 * 1.5**2 / 723 + 4410529058 / 57927483  # of this column with c_i = 1.5
TEN_BARS = 0.4834892821008841  # their load as benchmarks/many_bars.py verifies it
L1 = -2.208537692464119  # as tests/test_hopf.py verifies it
CASE = 'case = pfaff.atlas.column({bars}, "skate", "dead").at(d="1/2", M_L=15, I_L=15, k1=50, c_i="3/2")'
COLUMN = "import pfaff\n" + CASE + "\nsystem = case.system\n"
ATLAS = "import pfaff\nsystem = pfaff.atlas.{name}()\n"
IMPORTS = "import pfaff, sympy, pfaff.stability.critical, pfaff.motion.simulate\nprint(0)"
MOTION = (
    ATLAS
    + """
motion = system.at().simulate(1, project=True, {start})
print(motion.energy.drift if abs(motion.y[:, -1] - motion.y[:, 0]).max() > 0.1 else "stood still")
"""
)
MOTIONS = {  # how they start
    "ball_in_cavity": "u=0.5, v_dot=0.3, theta_z_dot=0.2",
    "rolling_disc": "theta=0.2, psi_dot=1, phi_dot=2",
    "rolling_hoop": "theta=0.2, psi_dot=1, phi_dot=2",
    "rattleback": "psi_dot=5, alpha=0.1",
    "snakeboard": "theta_dot=0.3, psi_dot=1, phi_f_dot=0.5",
    "whipple_bicycle": "phi=0.05, s_dot=4",
}
PERIODS = {2: (100, 9.694095167314979), 10: (0.3, 58.484687278901134)}  # by bars: loads, and periods by shooting
HEYOKA = """
import operator, time
import heyoka as hy
from pfaff.flow.graph import ordered

flow = system.flow
known, jacobian = {{}}, [each for row in flow.derivatives(flow.variables) for each in row]
for e in ordered([*flow.expressions, *jacobian]):
    if e.op in ("add", "sub", "mul", "pow"):
        known[e] = getattr(operator, e.op)(*(known[a] for a in e.args))
    else:
        make = {{"number": hy.expression, "variable": hy.expression, "parameter": lambda k: hy.par[k],
                "time": lambda _: hy.time, "div": operator.truediv, "neg": operator.neg, "square": lambda a: a * a}}
        known[e] = make.get(e.op, getattr(hy, e.op, None))(*([known[a] for a in e.args] or [e.value]))
x = [hy.expression(e.value) for e in flow.variables]
f, J = ([known[e] for e in part] for part in (flow.expressions, jacobian))
hy.llvm_state.set_diskcache_enabled(False)
began = time.process_time()
{compiled}
print(time.process_time() - began)
"""
FUNCTIONS = "hy.cfunc(f, x), hy.cfunc(J, x, opt_level=0)"
INTEGRATOR = "hy.taylor_adaptive(list(zip(x, f)), [0.1] * len(x), compact_mode=True)"


def output(script: str) -> tuple[str, float]:
    """What a fresh process prints, and its seconds of the processor."""
    with tempfile.TemporaryDirectory() as folder:
        environment = {**USUAL, "XDG_CACHE_HOME": folder}
        before = processor_of_children()
        done = subprocess.run(
            [sys.executable, "-c", script], stdout=subprocess.PIPE, text=True, check=True, env=environment
        )
        return done.stdout, processor_of_children() - before


def first(what: str, script: str, right: float, allowed: float, heyoka: str | None = None) -> None:
    """The seconds of a process that prints a number, which must be right; and of another with heyoka."""
    seconds = []
    for _ in range(RUNS):
        printed, processor = output(script)
        verify(f"first {what}", abs(float(printed) - right), allowed)
        seconds.append(processor)
    beside = ""
    if heyoka and find_spec("heyoka"):
        beside = f"; heyoka compiles for {float(output(heyoka)[0]):.2f} s alone"
    print(f"first {what}: {statistics.median(seconds):.2f} s of the processor{beside}", flush=True)


def critical() -> None:
    seconds = []
    for _ in range(RUNS):
        before = processor_of_children()
        done = subprocess.run(COMMAND, capture_output=True, text=True, check=True, env=USUAL)
        seconds.append(processor_of_children() - before)
        found = json.loads(done.stdout)["flutter"]["value"]
        verify("the flutter load on the shell against its closed form", abs(found / CLOSED_FORM - 1), 1e-12)
    print(f"pfaff critical, whole process: {statistics.median(seconds):.2f} s of the processor")


def main() -> None:
    first("import of all that follows, sympy and scipy among it", IMPORTS, 0, 0)
    critical()
    for bars, load in ((2, CLOSED_FORM), (10, TEN_BARS)):
        column = COLUMN.format(bars=bars)
        heyoka = column + HEYOKA.format(compiled=FUNCTIONS)
        first(f"flutter of {bars} bars", column + "print(case.flutter().value)", load, 1e-9 * load, heyoka)
    column = COLUMN.format(bars=2)
    first("Hopf point", column + "print(case.hopf().value)", CLOSED_FORM, 1e-9 * CLOSED_FORM)
    first("normal form", column + "print(case.hopf().l1)", L1, 1e-9)
    for name, start in MOTIONS.items():
        heyoka = ATLAS.format(name=name) + HEYOKA.format(compiled=INTEGRATOR)
        first(f"motion of {name}", MOTION.format(name=name, start=start), 0.0, 1e-12, heyoka)
    for bars, (to, period) in PERIODS.items():
        script = COLUMN.format(bars=bars) + f"print(case.hopf().orbits(to={to})[-1].period)"
        first(f"branch of cycles of {bars} bars", script, period, 1e-10 * period)


if __name__ == "__main__":
    main()
