"""Kernels take stretches of branches and curves: they find what the engine finds step by step."""

from __future__ import annotations

import gc
import pickle
import tracemalloc
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
import sympy as sm

import pfaff
from pfaff.atlas import towed_wheel, ziegler
from pfaff.bifurcation.equilibria.regular import Regular

D, beta = sm.symbols("D beta", real=True)


def reactor(cells):
    """A tube in cells with an exothermic reaction, flow and dispersion."""
    u, v = (sm.symbols(f"{name}1:{cells + 1}", real=True) for name in "uv")

    def carried(w, k):
        mixed = (w[k - 1] - w[k] if k else 0) + (w[k + 1] - w[k] if k < cells - 1 else 0)
        return cells * ((w[k - 1] if k else 0) - w[k]) + 2 * cells**2 * mixed

    reaction = [D * (1 - a) * sm.exp(b) for a, b in zip(u, v, strict=True)]
    rates = {u[k]: carried(u, k) + reaction[k] for k in range(cells)}
    rates |= {v[k]: carried(v, k) + 14 * reaction[k] - beta * v[k] for k in range(cells)}
    return pfaff.ode(rates, {D: 0, beta: 2}, load=D).at()


x, y, z = sm.symbols("x y z", real=True)
LORENZ = {x: 10 * (y - x), y: D * x - y - x * z, z: x * y - sm.Rational(8, 3) * z}
CASES = {
    "one cell": (lambda: (reactor(1), 0.3, None)),
    "three cells": (lambda: (reactor(3), 0.3, None)),
    "fifteen cells": (lambda: (reactor(15), 0.3, None)),
    "two bars": (lambda: (ziegler(2).at(c_i=0.1), 6, None)),
    "three bars": (lambda: (ziegler(3).at(c_i=0.2), 8, None)),
    "a towed wheel": (lambda: (towed_wheel().at(v=0.1), 5, None)),
    "lorenz": (lambda: (pfaff.ode(LORENZ, {D: 2}, load=D).at(), 40, {"x": 1.6, "y": 1.6, "z": 1})),
}


def alike(ours, other):
    assert [each.kind for each in ours.special] == [each.kind for each in other.special]
    assert ours.ended == other.ended
    assert len(ours) == len(other)
    for a, b in zip((*ours, *ours.special), (*other, *other.special), strict=True):
        np.testing.assert_allclose(a.spot.z, b.spot.z, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name", CASES)
def test_a_branch_is_the_same_step_by_step(name, monkeypatch):
    case, to, start = CASES[name]()
    walked = case.branch(to=to, start=start)
    assert walked.special
    assert all(point.problem.kernel for point in walked)
    monkeypatch.setattr(Regular, "kernel", None)
    alike(walked, case.branch(to=to, start=start))


@pytest.mark.parametrize(("kind", "cells"), [("fold", 1), ("fold", 3), ("fold", 9), ("hopf", 1), ("hopf", 3)])
def test_a_curve_is_the_same_step_by_step(kind, cells, monkeypatch):
    special = reactor(cells).branch(to=0.3).of_kind(kind)[0]
    walked = special.curve("beta", to=3, bounds=(1, 3))
    monkeypatch.setattr(Regular, "kernel", None)
    alike(walked, special.curve("beta", to=3, bounds=(1, 3)))


@pytest.mark.parametrize(("bars", "name"), [(2, "c_i"), (3, "c_i")])
def test_a_curve_of_flutter_loads_is_the_same_step_by_step(bars, name, monkeypatch):
    (flutter,) = ziegler(bars).at(c_i=0.1).branch(to=6).of_kind("hopf")
    walked = flutter.curve(name, to=1)
    assert len(walked) > 5
    assert all(point.problem.kernel for point in walked)
    monkeypatch.setattr(Regular, "kernel", None)
    alike(walked, flutter.curve(name, to=1))


@pytest.mark.parametrize("states", [1, 3, 20])
@pytest.mark.parametrize("stiff", [1e2, 1e5, 1e9])
def test_stiff_states_take_no_digits_from_a_curve_of_hopf_points(states, stiff, monkeypatch):
    """Beside a pair of eigenvalues near ±i others near −1e9: those of A² leave eight digits fewer to the pair."""
    others = sm.symbols(f"w1:{states + 1}", real=True)
    rates = {
        x: D * x - (1 + beta) * y - x**3 + others[0] / 10,
        y: (1 + beta) * x + D * y - y**3 + beta * others[-1] / 5,
    }
    for k, each in enumerate(others):
        drive = beta / 3 if k == 0 else -others[k - 1] / 2
        rates[each] = -stiff * (k + 1) * (each - x * y * (k + 1) + drive)
    case = pfaff.ode(rates, {D: -1, beta: 0.2}, load=D).at()
    (hopf,) = case.branch(to=1, start={"x": 0}).of_kind("hopf")
    walked = hopf.curve("beta", to=1.5)
    monkeypatch.setattr(Regular, "kernel", None)
    followed = hopf.curve("beta", to=1.5)
    alike(walked, followed)
    for a, b in zip(walked, followed, strict=True):
        np.testing.assert_allclose(a.spot.z, b.spot.z, rtol=0, atol=1e-12)


def test_steps_do_not_depend_on_who_takes_them(monkeypatch):
    """Ends on a bound, on the other side, and at a number of points."""
    case = reactor(1)
    asked = [{"to": 0.1}, {"to": 0.3, "points": 37}, {"to": 0.3, "step": 0.02}]
    walked = [case.branch(**each) for each in asked]
    assert len(walked[1]) == 37
    monkeypatch.setattr(Regular, "kernel", None)
    for each, branch in zip(asked, walked, strict=True):
        alike(branch, case.branch(**each))


def test_room_of_kernels_stays_in_its_process():
    branch = reactor(1).branch(to=0.1)
    problem = branch[5].problem
    assert "kernel" in vars(problem)
    assert "kernel" not in vars(pickle.loads(pickle.dumps(problem)))
    again = pickle.loads(pickle.dumps(branch))
    np.testing.assert_allclose(again.extend(0.3).values[-1], 0.3)


def test_a_special_point_has_its_normal_form_when_asked_and_elsewhere():
    """ṙ = μ r − 3/4 r³, the amplitude of which is √2 |z|: l1 = −3/2."""
    case = pfaff.ode({x: D * x - y - x**3, y: x + D * y - y**3}, {D: -1}, load=D).at()
    (hopf,) = case.branch(to=1, start={"x": 0}).of_kind("hopf")
    for each in (hopf, pickle.loads(pickle.dumps(hopf))):
        assert each.value == pytest.approx(0, abs=1e-12)
        assert each.omega == pytest.approx(1, rel=1e-12)
        assert each.coefficient == pytest.approx(-1.5, rel=1e-12)
        assert each.hopf.l1 == each.coefficient


def test_what_happens_at_the_first_point_is_found_there(monkeypatch):
    """A fold, a branch point and a Hopf point, each where its branch starts; beside it nothing is."""
    rates = {"fold": {x: D - x**2}, "branch point": {x: D * x - x**3}, "hopf": {x: D * x - y - x**3, y: x + D * y}}
    for kind, each in rates.items():
        system = pfaff.ode(each, {D: 0}, load=D)
        at, beside = (system.at(D=value).branch(to=1, start={"x": float(np.sqrt(value))} if kind == "fold" else None)
                      for value in (0, 0.1))  # fmt: skip
        assert [(special.kind, special.value) for special in at.special] == [(kind, pytest.approx(0, abs=1e-9))]
        assert not beside.special
        with monkeypatch.context() as without:
            without.setattr(Regular, "kernel", None)
            alike(at, system.at().branch(to=1))


@pytest.mark.parametrize("cells", [1, 4])
def test_equations_in_other_units_are_the_same_as_made_anew(cells):
    point = reactor(cells).branch(to=0.1)[-1]
    s, at = point.equations, point.spot.z
    sizes = s.sizes * np.linspace(1, 3, len(at))
    other, anew = s.in_units(sizes), replace(s, sizes=sizes)
    assert other._linearised is s._linearised
    assert s.in_units(s.sizes.copy()) is s
    for one, two in ((other, anew), (other.rebased(9 * at), anew.rebased(9 * at))):
        np.testing.assert_array_equal(one.sizes, two.sizes)
        np.testing.assert_array_equal(one.row_sizes(at), two.row_sizes(at))
        np.testing.assert_array_equal(one.jacobian(at), two.jacobian(at))
    assert (s.sizes != sizes).any()


def test_kernels_leave_nothing_in_memory():
    """Of many states, whose eigenvalues are watched, and of few; on branches and on curves."""
    for cells in (1, 10):
        case = reactor(cells)
        branch = case.branch(to=0.3)
        fold, hopf = branch.of_kind("fold")[0], branch.of_kind("hopf")[0]
        ways = partial(case.branch, to=0.3), partial(fold.curve, "beta", to=1), partial(hopf.curve, "beta", to=4)
        for follow in ways:
            follow()
            tracemalloc.start()
            follow()
            gc.collect()
            before = tracemalloc.get_traced_memory()[0]
            for _ in range(3):
                assert len(follow()) > 5
            gc.collect()
            after = tracemalloc.get_traced_memory()[0]
            tracemalloc.stop()
            assert after - before < 30_000


@pytest.mark.parametrize(("end", "found"), [(1.05, ["zero-hopf"]), (1.0, [])])
def test_l1_that_changes_its_sign_through_infinity_does_not_vanish(end, found):
    """Beside the zero-Hopf point of Langford's system at b = a the Lyapunov coefficient is a pole, whichever end of a
    step is near it."""
    x, y, z, mu, a, b, d = sm.symbols("x y z mu a b d", real=True)
    rates = {x: (z - b) * x - d * y, y: d * x + (z - b) * y, z: mu + a * z - z**3 / 3 - x**2 - y**2}
    case = pfaff.ode(rates, {mu: -1, a: 1, b: 0.7, d: 3.5}, load=mu).at()
    (hopf,) = case.branch(to=2, start={"x": 0, "y": 0, "z": -2}).of_kind("hopf")
    kinds = [special.kind for special in hopf.curve("b", to=end).special]
    assert "generalised hopf" not in kinds
    assert set(found) <= set(kinds)
