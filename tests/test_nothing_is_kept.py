"""Nothing is compiled or kept on disk for a system or an analysis: the first result comes as all others do."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

ASKED = ["-m", "pfaff", "simulate", "pendulum", "--duration", "1", "--samples", "3", "--json"]
CYCLES = """
import sys
import pfaff
case = pfaff.atlas.column(2, "skate", "dead").at(d="1/2", M_L=15, I_L=15, k1=50, c_i="3/2")
branch = case.hopf().orbits(to=80)
rests = case.branch(to=80)
case.sweep({"c_i": [1.0, 1.5]}, "l1").run()
print(branch[-1].period, len(rests))
assert not {"numba", "llvmlite", "heyoka"} & set(sys.modules)
"""


@pytest.mark.parametrize("asked", [ASKED, ["-c", CYCLES]], ids=["motion", "cycles"])
def test_nothing_is_kept_on_disk(asked, tmp_path):
    places = {"HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path), "TMPDIR": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, *asked], capture_output=True, text=True, timeout=200, check=False, env=os.environ | places
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout) if asked is ASKED else done.stdout.startswith("6.137493164")
    assert not list(tmp_path.iterdir())
