"""Meshes of stiff orbits are as fine as the accuracy needs, and no finer."""

import pytest
import sympy as sm

import pfaff

CELLS = 10


def reactor():
    """A tubular reactor in cells, whose velocities are hardly determined by its states (benchmarks/bifurcation.py)."""
    u, v = (sm.symbols(f"{name}1:{CELLS + 1}", real=True) for name in "uv")
    D = sm.Symbol("D", real=True)

    def carried(w, k):
        mixed = (w[k - 1] - w[k] if k else 0) + (w[k + 1] - w[k] if k < CELLS - 1 else 0)
        return CELLS * ((w[k - 1] if k else 0) - w[k]) + 2 * CELLS**2 * mixed

    reaction = [D * (1 - a) * sm.exp(b) for a, b in zip(u, v, strict=True)]
    heat = {v[k]: carried(v, k) + 14 * reaction[k] - 2 * v[k] for k in range(CELLS)}
    return pfaff.ode({u[k]: carried(u, k) + reaction[k] for k in range(CELLS)} | heat, {D: 0}, load=D)


@pytest.mark.slow
def test_estimates_with_a_floor_do_not_drive_the_mesh_of_a_stiff_orbit():
    hopf = reactor().at().branch(to=0.3).of_kind("hopf")[0].hopf
    branch = hopf.orbits(to=0.1118)
    # The velocity that the linear flow carries is off by more than a tenth of the accuracy on any mesh: where this
    # estimate alone was judged, meshes grew to 925 intervals.
    assert max(len(orbit.point.cycle.mesh) for orbit in branch) < 250
    assert branch[-1].mesh_error <= branch[-1].problem.accuracy
    assert branch[-1].period == pytest.approx(hopf.orbits(to=0.1118, accuracy=1e-12)[-1].period, rel=1e-10)
