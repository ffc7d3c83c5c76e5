"""How long the whole process `pfaff critical` takes, from a cold interpreter to the answer."""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import time

from verified import processor_of_children, verify

COMMAND = [
    sys.executable, "-m", "pfaff", "critical", "column", "--bars", "2", "--constraint", "skate", "--load", "dead",
    "--set", "d=1/2", "--set", "M_L=15", "--set", "I_L=15", "--set", "k1=50", "--set", "c_i=1.5", "--json",
]  # fmt: skip
RUNS = 7
CLOSED_FORM = 64 * 1.5**2 / 723 + 4410529058 / 57927483  # of this column with c_i = 1.5


def main() -> None:
    times, processor = [], []
    for _ in range(RUNS):
        start, before = time.perf_counter(), processor_of_children()
        done = subprocess.run(COMMAND, capture_output=True, text=True, check=True)
        times.append(time.perf_counter() - start)
        processor.append(processor_of_children() - before)
        found = json.loads(done.stdout)["flutter"]["value"]
        verify("the flutter load on the shell against its closed form", abs(found / CLOSED_FORM - 1), 1e-12)
    spread = f"from {min(times):.2f} to {max(times):.2f} s"
    busy = statistics.median(processor)
    print(f"pfaff critical, whole process: median {statistics.median(times):.2f} s, {spread}; processor {busy:.2f} s")


if __name__ == "__main__":
    main()
