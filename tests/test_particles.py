"""Material points as a statement: energies and forces follow from them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import sympy as sm

import pfaff
from pfaff.errors import StatementError
from pfaff.statement import TIME as t
from pfaff.statement import coordinates

(theta,) = coordinates("theta")
m, L, g, c = sm.symbols("m L g c", positive=True)
VALUES = {m: 1.3, L: 0.7, g: 9.81, c: 0.2}
bob = sm.Matrix([L * sm.sin(theta), -L * sm.cos(theta)])
weight = sm.Matrix([0, -m * g])


def test_a_pendulum_of_one_particle_needs_no_energies():
    """θ̈ = −(g/L) sin θ − (c/m) θ̇ for a bob in viscous air."""
    drag = -c * bob.diff(t)
    system = pfaff.System([theta], particles=[pfaff.Particle(m, bob, weight + drag)], parameters=VALUES)
    rates = system.flow.rhs([0.4, 1.1], system.at())
    assert rates[1] == pytest.approx(-9.81 / 0.7 * np.sin(0.4) - 0.2 / 1.3 * 1.1, rel=1e-14)


def test_a_changed_particle_changes_the_energies():
    system = pfaff.System([theta], particles=[pfaff.Particle(m, bob, weight)], parameters=VALUES)
    doubled = replace(system, particles=[pfaff.Particle(2 * m, bob, weight)])
    assert sm.simplify(doubled.statement.kinetic - 2 * system.statement.kinetic) == 0
    assert doubled.flow.rhs([0.4, 0], system.at())[1] == pytest.approx(-9.81 / 1.4 * np.sin(0.4), rel=1e-14)


def test_a_driven_pendulum_of_particles_moves_with_its_drive():
    """The couple that holds the pendulum at θ = t: the reaction of θ − t = 0 balances the weight."""
    system = pfaff.System([theta], particles=[pfaff.Particle(m, bob, weight)], parameters=VALUES)
    motion = system.at().simulate(1, samples=3, prescribed={"theta": t})
    np.testing.assert_allclose(motion.reaction, -1.3 * 9.81 * 0.7 * np.sin(motion.t), atol=1e-10)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: pfaff.Particle(m, (theta,)), ["position", "two or three components"]),
        (lambda: pfaff.Particle(m, theta), ["position", "two or three components"]),
        (lambda: pfaff.Particle(m, (0, theta), (0, 0, 1)), ["2 components", "same frame"]),
        (lambda: pfaff.Particle(-1, (0, theta)), ["mass -1", "not negative"]),
        (lambda: state(pfaff.Particle(m, bob)), ["particles must be a list"]),
        (lambda: state([bob]), ["not a particle"]),
        (lambda: state([pfaff.Particle(m * t, bob)]), ["mass of particle 1", "constant mass"]),
        (lambda: state([pfaff.Particle(m, bob), pfaff.Particle(m, bob.diff(t))]), ["particle 2", "velocities"]),
        (lambda: state([pfaff.Particle(m, bob, (0, sm.Symbol("W")))]), ["force on particle 1", "W", "parameters"]),
        (lambda: state([]), ["no inertia", "particles"]),
    ],
)
def test_bad_particles_name_culprit_and_remedy(make, words):
    with pytest.raises(StatementError) as caught:
        make()
    for word in words:
        assert word in str(caught.value)


def state(particles):
    return pfaff.System([theta], particles=particles, parameters=VALUES)
