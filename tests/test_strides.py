"""Steps along branches of orbits in one compiled call, and what they are made of."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
import sympy as sm

import pfaff
from pfaff.bifurcation.orbits.following import Orbits
from pfaff.bifurcation.orbits.orbit_equations import Equations
from pfaff.bifurcation.orbits.parabolas import lowest, near_zero
from pfaff.kernels.metrics import amplitudes
from pfaff.kernels.orbit_steps import Field, predicted
from pfaff.kernels.step_rules import NEAR, quiet_step

x, y, mu = sm.symbols("x y mu", real=True)


def van_der_pol() -> pfaff.Ode:
    return pfaff.ode({x: y, y: mu * (1 - x**2) * y - x + sm.exp(x) / 10}, {mu: 0.5}, load=mu)


@pytest.fixture(scope="module", params=["van der Pol", "column"])
def branch(request):
    if request.param == "column":  # odd: half a period, on a chart, of positions and velocities
        return pfaff.atlas.column(2).at(d="1/2", M_L=15, I_L=15, k1=50, c_i=1.5).hopf().orbits(to=80)
    case = van_der_pol().at()
    return case.orbit(case.simulate(80, x=1.0)).orbits(to=2)


def continued(branch):
    return branch.problem.continuation(1.0, branch[0])


class Untaped:
    """A function that only Python can call, as those of rods."""

    reader = None

    def __init__(self, function):
        self.batch = function.batch


def test_columns_are_evaluated_in_steps_as_by_python(branch):
    """Any number of them, at one value of the load after another, with a tape and without."""
    e, orbit = branch.problem.collocation.equations, branch[-1]
    for size in (1, 3, 8, 9, 15, 16, 31):
        X = np.ascontiguousarray(np.resize(orbit.point.cycle.x, (size, len(e.flow.states))).T)
        for function, outputs in e.in_kernels:
            for each in (function, Untaped(function)):
                field = Field(each, X, e.numbers, e.place, outputs)
                for value in (orbit.value, 1.1 * orbit.value):
                    expected = function(X, e.numbers_at(value))
                    assert field.at(value) == pytest.approx(expected, rel=1e-14, abs=1e-14 * np.abs(expected).max())


@pytest.mark.parametrize("length", [0.02, 0.1])
def test_a_step_in_one_call_is_the_step_call_by_call(branch, length, monkeypatch):
    c, at = continued(branch), branch[len(branch) // 2].point
    at = c.adopted(at)
    one, turn = c.step(at, length)
    monkeypatch.setattr(c, "plain", False)
    other, other_turn = c.step(at, length)
    assert (one.steps, one.unstable) == (other.steps, other.unstable)
    assert turn == pytest.approx(other_turn, abs=1e-7)
    for name in ("x", "K", "scalars"):
        for a, b in ((one.cycle, other.cycle), (one.tangent, other.tangent)):
            a, b = getattr(a, name), getattr(b, name)
            assert np.abs(a - b).max() < 1e-9 * np.abs(b).max()
    for a, b in zip(one.metric, other.metric, strict=True):
        assert a == pytest.approx(b, rel=1e-12)
    assert one.multipliers == pytest.approx(other.multipliers, rel=1e-7, abs=1e-12)
    assert one.tests == pytest.approx(other.tests, rel=1e-6, abs=1e-12)
    assert one.margin == pytest.approx(other.margin, rel=1e-9)


def test_equations_without_a_tape_give_the_same_branch(branch, monkeypatch):
    start = branch[len(branch) // 2]
    to = start.value + 0.1 * (branch[-1].value - start.value)
    by_tape, in_kernels = start.orbits(to=to), Equations.in_kernels.fget
    untaped = property(lambda e: tuple((Untaped(function), outputs) for function, outputs in in_kernels(e)))
    monkeypatch.setattr(Equations, "in_kernels", untaped)
    by_python = replace(start, problem=replace(start.problem)).orbits(to=to)
    assert len(by_python) == len(by_tape)
    assert by_python.values == pytest.approx(by_tape.values, rel=1e-9)
    assert by_python[-1].period == pytest.approx(by_tape[-1].period, rel=1e-9)


def test_what_equations_raise_in_a_step_is_heard(branch, monkeypatch):
    """As Ctrl-C is."""

    class Broken(Untaped):
        def __init__(self, function):
            pass

        def batch(self, *_):
            raise KeyboardInterrupt

    in_kernels, at = Equations.in_kernels.fget, branch[len(branch) // 2].point
    for broken in ((True, False), (False, True)):

        def mixed(e, broken=broken):
            return tuple((Broken(f) if bad else f, many) for (f, many), bad in zip(in_kernels(e), broken, strict=True))

        monkeypatch.setattr(Equations, "in_kernels", property(mixed))
        c = replace(branch.problem).continuation(1.0, branch[0])
        with pytest.raises(KeyboardInterrupt):
            c.step(c.adopted(at), 0.02)


def test_the_prediction_is_exact_along_cubics(branch):
    """Orbits and tangents of a cubic in the share of the tangent: whatever the step."""
    at = continued(branch).adopted(branch[len(branch) // 2].point)
    cycle, tangent, metric, weights = at.cycle, at.tangent, at.metric, at.cycle.mesh.weights
    random = np.random.default_rng(2)
    bends = []
    for power in (2, 3):  # across the tangent, so that the share is that of the tangent alone
        bend = tangent._replace(x=random.normal(size=cycle.x.shape), scalars=random.normal(size=len(cycle.scalars)))
        bends.append((power, bend.moved(tangent, -metric.dot(bend, tangent))))

    def along(s):
        orbit, slope = cycle.moved(tangent, s), tangent
        for power, bend in bends:
            orbit, slope = orbit.moved(bend, s**power), slope.moved(bend, power * s ** (power - 1))
        return orbit, slope

    before, slope = along(-0.3)
    found = predicted(weights, metric, (cycle, tangent, before, slope), 0.4)
    for a, b in zip(found, along(0.4)[0][1:4], strict=True):
        assert a == pytest.approx(b, rel=1e-10, abs=1e-10)


def test_silence_is_where_nothing_is_looked_for():
    """Of functions chosen at random, what is silent is passed over by the search for two points in a step as well."""
    random, silences = np.random.default_rng(5), 0
    for _ in range(3000):
        first, here, last = (tuple(1 + random.normal(size=4) * scale) for scale in random.uniform(0, 1, 3))
        back, slope, following, rise = random.uniform(0.5, 2), *random.normal(1, 0.5, 3)
        if not quiet_step(first, here, last, back, slope, following, rise):
            continue
        silences += 1
        assert all(a * b >= 0 for a, b in zip(here, last, strict=True))
        middle = 1.5 * rise - (slope + following) / 4
        if slope * following > 0:
            assert near_zero([(0.0, slope), (0.5, middle), (1.0, following)]) is None
        for a, b, c in list(zip(first, here, last, strict=True))[1:]:
            if min(a * b, b * c) > 0:
                assert abs(b) >= NEAR * min(abs(a), abs(c))
                assert lowest([(-back, a), (0.0, b), (1.0, c)]) is None
    assert 100 < silences < 2900


def test_a_step_that_a_coarser_mesh_does_not_resolve_is_taken_on_the_finer_one(branch):
    """A mesh of a third of the intervals: the next orbit is on the mesh of the one before."""
    c = continued(branch)
    fine = c.adopted(branch[len(branch) // 2].point)
    coarse = c._on_mesh(fine, c.collocation.adapted(fine.cycle, fine.metric, lambda _: fine.cycle.intervals // 3))
    orbits = Orbits(c, fine, fine)
    worse, _ = orbits.ahead(coarse, 0.05)
    assert worse.cycle.mesh is coarse.cycle.mesh
    assert worse.error > 100 * c.accuracy
    orbits = Orbits(c, fine, fine)
    orbits.finest = fine
    better, _ = orbits.ahead(coarse, 0.05)
    assert better.cycle.mesh is fine.cycle.mesh
    assert better.error < worse.error / 100


def test_a_branch_reports_its_progress_and_has_no_more_points_than_asked_for(branch):
    told = []
    few = branch[0].orbits(to=branch[-1].value, points=7, progress=told.append)
    assert len(few) == 7
    assert [each.value for each in told] == [each.value for each in few][1:]


DIGITS = """
import sys, types
if "plain" in sys.argv:
    sys.modules["pfaff.kernels.processor"] = types.SimpleNamespace(wide=lambda: False)
import pfaff
branch = pfaff.atlas.column(3).at(d="1/2", M_L=15, I_L=15, k1=50, c_i=1.5).hopf().orbits(to=200, points=6)
for orbit in branch:
    print(orbit.value.hex(), orbit.period.hex(), orbit.multipliers.tobytes().hex())
"""


def test_registers_of_any_width_give_the_same_digits():
    told = [
        subprocess.run([sys.executable, "-c", DIGITS, how], capture_output=True, text=True) for how in ("", "plain")
    ]
    assert told[0].stdout.count("\n") == 6, told[0].stderr
    assert told[0].stdout == told[1].stdout


def test_arrays_that_are_not_what_kernels_expect_are_refused():
    x, signs, covered = np.zeros((5, 2)), np.ones(2), np.empty(2)
    assert amplitudes(x, signs, covered) == 0
    for wrong in (x.T.copy().T, x.astype(np.float32), x[::2]):
        with pytest.raises(ValueError, match="contiguous|numbers row by row are expected"):
            amplitudes(wrong, signs, covered)
    with pytest.raises(ValueError, match="2 numbers row by row are expected"):
        amplitudes(x, signs, np.empty(3))
