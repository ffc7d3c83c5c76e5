"""Compiled loops take stretches of branches and curves: they find what the engine finds step by step."""

from __future__ import annotations

import ctypes
import pickle
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
import sympy as sm
from numba.core.runtime import _nrt_python as memory
from numba.core.runtime import rtsys

import pfaff
from pfaff.bifurcation.equilibria.linearised import linearised
from pfaff.bifurcation.equilibria.walking.branch_loops import compile_ahead, ready
from pfaff.bifurcation.equilibria.walking.regular import Regular
from pfaff.bifurcation.machine_code.reference_counts import uncounted
from pfaff.flow.compiled import Compiled
from pfaff.flow.graph import CLOCK, expression
from pfaff.flow.pointers import linked

if not ready():
    compile_ahead()

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
    assert all(point.problem.loops for point in walked)
    monkeypatch.setattr(Regular, "loops", None)
    alike(walked, case.branch(to=to, start=start))


@pytest.mark.parametrize(("kind", "cells"), [("fold", 1), ("fold", 3), ("fold", 9), ("hopf", 1), ("hopf", 3)])
def test_a_curve_is_the_same_step_by_step(kind, cells, monkeypatch):
    special = reactor(cells).branch(to=0.3).of_kind(kind)[0]
    walked = special.curve("beta", to=3, bounds=(1, 3))
    monkeypatch.setattr(Regular, "loops", None)
    alike(walked, special.curve("beta", to=3, bounds=(1, 3)))


def test_steps_do_not_depend_on_who_takes_them(monkeypatch):
    """Ends on a bound, on the other side, and at a number of points."""
    case = reactor(1)
    asked = [{"to": 0.1}, {"to": 0.3, "points": 37}, {"to": 0.3, "step": 0.02}]
    walked = [case.branch(**each) for each in asked]
    assert len(walked[1]) == 37
    monkeypatch.setattr(Regular, "loops", None)
    for each, branch in zip(asked, walked, strict=True):
        alike(branch, case.branch(**each))


@pytest.mark.parametrize("cells", [1, 15])
def test_a_pointer_is_the_function(cells):
    case = reactor(cells)
    function = linearised(case.system.flow, ("D",))._whole
    at = np.linspace(0.1, 0.9, 2 * cells)
    expected = function(at, case.numbers)
    pointer = linked(function)
    out, room = np.zeros_like(expected), pointer.room.copy()
    call = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 5)(pointer.address)
    for k in range(3):  # with what is kept of parameters, and with others
        numbers = case.numbers + (k == 2)
        call(*(each.ctypes.data for each in (out, at, numbers, numbers, room)))
        np.testing.assert_array_equal(out, function(at, numbers))
    assert (out != expected).any()


def test_addresses_stay_in_their_process():
    branch = reactor(1).branch(to=0.1)
    problem = branch[5].problem
    assert "loops" in vars(problem)
    assert "loops" not in vars(pickle.loads(pickle.dumps(problem)))
    again = pickle.loads(pickle.dumps(branch))
    np.testing.assert_allclose(again.extend(0.3).values[-1], 0.3)


def test_what_depends_on_time_has_no_pointer():
    a = expression("a")
    assert linked(Compiled([a * CLOCK], [a])) is None
    assert linked(Compiled([a * a], [a])) is not None


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
            without.setattr(Regular, "loops", None)
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


COUNTED = """
define i32 @lent(ptr %arg.x.0, ptr %arg.y.0, i1 %which) {
entry:
  call void @NRT_incref(ptr %arg.x.0)
  br i1 %which, label %first, label %second
first:
  call void @NRT_incref(ptr %arg.y.0)
  br label %second
second:
  %one = phi ptr [ %arg.x.0, %entry ], [ %arg.y.0, %first ]
  call void @NRT_decref(ptr %one)
  ret i32 0
}

define ptr @handed_back(ptr %arg.x.0) {
entry:
  call void @NRT_incref(ptr %arg.x.0)
  ret ptr %arg.x.0
}

define i32 @returned(ptr %arg.x.0) {
entry:
  call void @NRT_incref(ptr %arg.x.0)
  %same = call ptr @itself(ptr %arg.x.0)
  call void @NRT_decref(ptr %same)
  ret i32 0
}

define i32 @mixed(ptr %arg.x.0, i1 %which) {
entry:
  %new = call ptr @made()
  %one = select i1 %which, ptr %arg.x.0, ptr %new
  call void @NRT_decref(ptr %one)
  ret i32 0
}
"""


def test_what_is_lent_is_not_counted_and_what_is_kept_is():
    lent, handed_back, returned, mixed = uncounted(COUNTED).split("define")[1:]
    assert "NRT" not in lent
    assert handed_back.count("NRT_incref") == 1
    assert returned.count("NRT") == 2
    assert mixed.count("NRT_decref") == 1


def test_loops_leave_nothing_in_memory_and_free_nothing_twice():
    """Of many states, whose eigenvalues are watched, and of few; on branches and on curves."""
    memory.memsys_enable_stats()
    for cells in (1, 10):
        case = reactor(cells)
        branch = case.branch(to=0.3)
        fold, hopf = branch.of_kind("fold")[0], branch.of_kind("hopf")[0]
        ways = partial(case.branch, to=0.3), partial(fold.curve, "beta", to=1), partial(hopf.curve, "beta", to=4)
        for follow in ways:
            follow()
            before = rtsys.get_allocation_stats()
            assert len(follow()) > 5
            after = rtsys.get_allocation_stats()
            assert after.alloc - before.alloc == after.free - before.free > 0
            assert after.mi_alloc - before.mi_alloc == after.mi_free - before.mi_free > 0
