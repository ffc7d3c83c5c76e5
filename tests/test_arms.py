"""Arms of two bars that end on a skate: their cycles end where the constraint no longer determines a velocity.

They do so at the same load, with the same special points before it, however far the branch is to go.
"""

from __future__ import annotations

import re

import heyoka as hy
import numpy as np
import pytest
import sympy as sm

import pfaff
from pfaff.statement import TIME, coordinates
from test_orbits import heading_alone, turning_sleigh

RANGES = (0.5, 2.0, 32.0, 1e3)
TILTED = sm.Rational(1, 2)


def arm(third, tilt=0):
    """Two bars on springs and dampers, driven at the first hinge, with a skate at the end, at an angle to its bar.

    The hinge slides freely across the bars, or on a spring, or it is fixed and the skate is on a castor.
    """
    a, b, q = coordinates("theta1 theta2 q")
    drive, castor = sm.Symbol("F", real=True), third == "castor"
    damping, saturation, length = sm.Rational(1, 10), sm.Rational(1, 20), sm.Rational(7, 10)

    def along(angle):
        return sm.Matrix([sm.cos(angle), sm.sin(angle)])

    hinge = sm.Matrix([0, 0 if castor else q])
    elbow = hinge + along(a)
    tip = elbow + length * along(b)
    end = tip + sm.Rational(3, 10) * along(q) if castor else tip
    centres = [(hinge + elbow) / 2, (elbow + tip) / 2, end]
    kinetic = sum(each.diff(TIME).dot(each.diff(TIME)) for each in centres) / 2
    kinetic += (a.diff(TIME) ** 2 + length**2 * b.diff(TIME) ** 2) / 24
    kinetic += q.diff(TIME) ** 2 / (20 if castor else 2)
    stretches = [a, b - a, q - b if castor else q]
    heading = (q if castor else b) + tilt
    return pfaff.System(
        name="arm",
        coordinates=[a, b, q],
        kinetic=sm.simplify(kinetic),
        potential=sum(each**2 for each in (stretches[:2] if third == "slide" else stretches)) / 2,
        dissipation=damping * sum(each.diff(TIME) ** 2 for each in stretches) / 2,
        forces={a: (drive - saturation * a**2) * a.diff(TIME)},
        nonholonomic_constraints=[sm.simplify(end.diff(TIME).dot(sm.Matrix([-sm.sin(heading), sm.cos(heading)])))],
        parameters={drive: 0},
        load="F",
    )


def beyond(branch):
    """The load beyond which there is no orbit, as the branch says."""
    told = re.search(r"no orbit beyond ([-\d.e]+): orbits there reach positions where the constraints", branch.ended)
    return float(told[1])


def determined(branch):
    """The least coefficient of the dependent velocity on each orbit, between mesh points too, of the largest."""
    system, (dependent,) = branch.problem.case.system, branch.problem.flow.dependent
    velocity = system.coordinates[system.coordinate_names.index(dependent.removesuffix("_dot"))].diff(TIME)
    coefficient = sm.lambdify(system.coordinates, system.nonholonomic_constraints[0].diff(velocity), "numpy")
    least = []
    for orbit in branch:
        states = dict(zip(orbit.orbit.states, orbit.orbit.x, strict=True))
        values = coefficient(*(states.get(name, 0.0) for name in system.coordinate_names))
        least.append((values / values[np.abs(values).argmax()]).min())
    return np.array(least)


def missed(orbit):
    """How far the motion from an orbit's first state is from it after a period, by Taylor's method, relative."""
    flow = orbit.problem.flow
    start = orbit.orbit.x[:, 0].copy()
    equations = list(zip(flow.variables, flow.expressions, strict=True))
    integrator = hy.taylor_adaptive(equations, start, pars=orbit.case.numbers, tol=1e-15, compact_mode=True)
    integrator.propagate_until(orbit.period)
    return np.abs((integrator.state - orbit.orbit.x[:, 0]) / np.ptp(orbit.orbit.x, axis=1)).max()


@pytest.mark.parametrize(
    ("third", "tilt"),
    [
        ("slide", TILTED),
        ("castor", 0),
        pytest.param("slide", 0, marks=pytest.mark.slow),
        pytest.param("spring", TILTED, marks=pytest.mark.slow),
    ],
)
def test_cycles_of_an_arm_end_where_the_skate_no_longer_determines_a_velocity(third, tilt):
    """Without a free slide equilibria are a line, but nothing is conserved along it: cycles are alone."""
    hopf = arm(third, tilt).at().hopf()
    branches = [hopf.orbits(to=hopf.value + far) for far in RANGES]
    kinds = [[each.kind for each in branch.special] for branch in branches]
    assert kinds == [kinds[0]] * len(RANGES)
    assert not any(each.note for branch in branches for each in branch.special)
    values = np.array([[each.value for each in branch.special] for branch in branches])
    assert values == pytest.approx(np.tile(values[0], (len(RANGES), 1)), abs=1e-8)
    ends = [beyond(branch) for branch in branches]
    assert ends == pytest.approx([ends[0]] * len(RANGES), abs=3e-8)
    for branch in branches:
        assert branch[-1].value == pytest.approx(ends[0], abs=1e-3)
        assert 1e-4 < determined(branch).min() < 2e-3
    assert missed(branches[0][-1]) < 1e-6


def test_the_end_is_where_the_heading_reaches_a_right_angle():
    """The heading of the sleigh moves by itself: its amplitude is π/2 at that drive, by integration."""
    hopf = turning_sleigh().at().hopf()
    branches = [hopf.orbits(to=to) for to in (0.15, 0.3, 10, 1e4)]
    assert heading_alone(beyond(branches[0]))[1] == pytest.approx(np.pi / 2, abs=3e-7)
    for branch in branches:
        assert beyond(branch) == pytest.approx(beyond(branches[0]), abs=2e-8)
        assert branch[-1].amplitude["theta"] < np.pi / 2
        assert branch.special == ()
