"""Mistakes that people make, each with what names its culprit, and with its remedy followed: it works."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import sympy as sm
from sympy.physics.mechanics import dynamicsymbols

import pfaff
from conftest import XI_HAT
from pfaff.errors import NoBifurcationError

t = dynamicsymbols._t
x, y, phi = dynamicsymbols("x y phi")
k, c, tau, F = sm.symbols("k c tau F")
plain, positive_time = sm.Symbol("x"), sm.Symbol("t", positive=True)
T = (x.diff(t) ** 2 + y.diff(t) ** 2 + phi.diff(t) ** 2) / 2
ONE = x.diff(t) ** 2 / 2
BLADE = x.diff(t) * sm.sin(phi) - y.diff(t) * sm.cos(phi)


def three(*rows: Any, **more: Any) -> pfaff.System:
    return pfaff.System([x, y, phi], T, nonholonomic_constraints=list(rows), **more)


def one(potential: Any = 0, kinetic: Any = ONE, **more: Any) -> pfaff.System:
    return pfaff.System([x], kinetic, potential, **more)


def pendulum() -> pfaff.System:
    rod = {"rod": x**2 + y**2 - 1}
    return pfaff.System([x, y], (x.diff(t) ** 2 + y.diff(t) ** 2) / 2, 10 * y, holonomic_constraints=rod)


MISTAKES: dict[str, tuple[Any, str, Any]] = {  # a mistake, what is said of it, and the remedy
    "a constraint without .diff(t)": (
        lambda: three(x * sm.sin(phi) - y * sm.cos(phi)),
        r"nonholonomic constraint 1 contains coordinates and no velocity.*\.diff\(t\).*x_dot.*holonomic_constraints",
        lambda: three(BLADE),
    ),
    "a relation between coordinates among the nonholonomic ones": (
        lambda: three(x - y),
        "relation between coordinates belongs in holonomic_constraints",
        lambda: three(holonomic_constraints=[x - y]),
    ),
    "a kinetic energy without .diff(t)": (
        lambda: one(kinetic=x**2 / 2),
        r"no velocity: write it with \.diff\(t\), as x\.diff\(t\), in text x_dot",
        lambda: one(kinetic="x_dot**2/2"),
    ),
    "a plain symbol as coordinate": (
        lambda: pfaff.System([plain], plain**2),
        r"coordinate x is not a function of time: make it with x = dynamicsymbols\('x'\).*expressions are written",
        lambda: one(x**2),
    ),
    "a plain symbol beside its coordinate": (
        lambda: one(plain**2 / 2),
        r"potential contains the plain symbol x, which is not the function of time x\(t\).*x = dynamicsymbols\('x'\)",
        lambda: one(x**2 / 2),
    ),
    "a plain symbol declared as a parameter beside its coordinate": (
        lambda: one(plain**2 / 2, parameters={plain: 1}),
        r"parameter 'x' has the name of a coordinate.*x = dynamicsymbols\('x'\)",
        lambda: one(x**2 / 2),
    ),
    "the derivative of a plain symbol": (
        lambda: one(kinetic=plain.diff(t) ** 2 / 2),
        r"kinetic energy contains no velocity: it is 0.*plain Symbol.*dynamicsymbols\('x'\)",
        lambda: one(),
    ),
    "the derivative by another symbol t": (
        lambda: one(kinetic=x.diff(positive_time) ** 2 / 2),
        r"it is 0.*t another symbol than the time.*dynamicsymbols\._t",
        lambda: one(),
    ),
    "another symbol t in a force": (
        lambda: one(forces={x: sm.cos(positive_time)}),
        r"the symbol t with other assumptions.*dynamicsymbols\._t",
        lambda: one(forces={x: sm.cos(t)}),
    ),
    "another symbol t as a parameter": (
        lambda: one(forces={x: sm.cos(positive_time)}, parameters={positive_time: 1}),
        r"parameter 't' is the time.*dynamicsymbols\._t",
        lambda: one(forces={x: sm.cos(t)}),
    ),
    "a velocity as a plain symbol": (
        lambda: one(kinetic=sm.Symbol("x_dot") ** 2 / 2),
        r"plain symbol x_dot.*its velocity as x\.diff\(t\)",
        lambda: one(kinetic=x.diff(t) ** 2 / 2),
    ),
    "a comparison for an equation": (
        lambda: three(x.diff(t) * sm.sin(phi) == y.diff(t) * sm.cos(phi)),
        r"constraint 1 is False, the outcome of a comparison.*sympy\.Eq\(left, right\).*left - right",
        lambda: three(sm.Eq(x.diff(t) * sm.sin(phi), y.diff(t) * sm.cos(phi))),
    ),
    "a comparison for an energy": (
        lambda: one(x == y),
        "the potential is False, the outcome of a comparison",
        lambda: one(x**2),
    ),
    "an equation for an energy": (
        lambda: one(sm.Eq(sm.Symbol("V"), x**2)),
        "the potential is .*an equation: give its right side alone",
        lambda: one(x**2),
    ),
    "an inequality for a constraint": (
        lambda: pfaff.System([x], ONE, holonomic_constraints=[x >= 0]),
        "inequality, and constraints that hold on one side only are not supported.*event of simulate",
        lambda: one().at().simulate(2, x=1, x_dot=-1, events={"stop": pfaff.Event(x, stop=True)}),
    ),
    "a force by text alone": (
        lambda: one(forces="-k*x", parameters={k: 1}),
        r"forces='-k\*x': give forces by coordinate.*forces=\{'x': '-k\*x'\}",
        lambda: one(forces={"x": "-k*x"}, parameters={k: 1}),
    ),
    "a force on a velocity": (
        lambda: one(forces={x.diff(t): -x}),
        r"forces names the velocity x_dot.*forces=\{'x': …\}",
        lambda: one(forces={"x": -x}),
    ),
    "a force on nothing": (lambda: one(forces={"X": 1}), "forces names 'X'.*'x'", lambda: one(forces={"x": 1})),
    "a delayed coordinate": (
        lambda: one(forces={x: -x.subs(t, t - tau)}, parameters={tau: 0.1}),
        r"contains x\(t - tau\), x at another time: delays are not supported.*x - tau\*x\.diff\(t\)",
        lambda: one(forces={x: -(x - tau * x.diff(t))}, parameters={tau: 0.1}),
    ),
    "a delayed velocity": (
        lambda: one(forces={x: -x.diff(t).subs(t, t - tau)}, parameters={tau: 0.1}),
        "at another time: delays are not supported",
        lambda: one(forces={x: -x.diff(t)}, parameters={tau: 0.1}),
    ),
    "a delayed state of an ODE": (
        lambda: pfaff.ode({x: -x.subs(t, t - 1)}),
        "the equation of x contains x.*at another time: delays are not supported",
        lambda: pfaff.ode({x: -x}),
    ),
    "an acceleration in a force": (
        lambda: one(forces={x: -c * x.diff(t, 2)}, parameters={c: 1}),
        r"the force on x contains .*an acceleration.*m\*x\.diff\(t\)\*\*2/2 in the kinetic energy",
        lambda: one(kinetic=ONE + c * x.diff(t) ** 2 / 2, parameters={c: 1}),
    ),
    "an acceleration in a constraint": (
        lambda: three(x.diff(t, 2) - y.diff(t)),
        "constraint 1 contains .*an acceleration.*stated as its integral",
        lambda: three(x.diff(t) - y, accept_integrable=True),
    ),
    "a function of time that is nothing": (
        lambda: one(forces={x: sm.Function("f")(t)}),
        r"contains f\(t\), which is neither.*make it a parameter, which simulate\(…, prescribed=\{…\}\)",
        lambda: one(forces={x: F}, parameters={F: 0}).at().simulate(1, prescribed={F: sm.sin(t)}),
    ),
    "a velocity in text by a dash": (
        lambda: one(kinetic="x'**2/2"), "velocity is written x_dot", lambda: one(kinetic="x_dot**2")
    ),
    "a velocity in text by diff": (
        lambda: one(kinetic="x.diff(t)**2"), "velocity is written x_dot", lambda: one(kinetic="x_dot**2")
    ),
    "a corner in text": (lambda: one("abs(x)"), "no function 'abs'.*sqrt", lambda: one("sqrt(x**2 + 1e-6)")),
    "an ODE by its derivative": (
        lambda: pfaff.ode({x.diff(t): -x}), r"write \{x: …\} for this rate", lambda: pfaff.ode({x: -x})
    ),
    "an initial state by a list": (
        lambda: one(x**2).at().simulate(1, initial=[1, 0]),
        r"initial=\[1, 0\]: give values by name, initial=\{'x': 1\}",
        lambda: one(x**2).at().simulate(1, initial={"x": 1}),
    ),
    "an initial state without a name": (
        lambda: one(x**2).at().simulate(1, [1, 0]),
        r"values by name, initial=\{'x': …\}",
        lambda: one(x**2).at().simulate(1, initial={"x": 1}),
    ),
    "a tolerance by its name elsewhere": (
        lambda: one(x**2).at().simulate(1, rtol=1e-6),
        "did you mean 'tolerance'",
        lambda: one(x**2).at().simulate(1, tolerance=1e-6),
    ),
    "an event that is an inequality": (
        lambda: one(x**2).at().simulate(1, x=1, events={"e": x < 1}),
        r"event 'e' is .*an inequality: give what vanishes on its boundary, x\(t\) - 1",
        lambda: one(x**2).at().simulate(1, x=1, events={"e": x - 1}),
    ),
    "an event of parameters alone": (
        lambda: one(k * x**2, parameters={k: 1}).at().simulate(1, x=1, events={"e": "k - 1"}),
        "event 'e' is k - 1, the same at all times: name a state",
        lambda: one(k * x**2, parameters={k: 1}).at().simulate(1, x=1, events={"e": "k - x"}),
    ),
    "a prescribed velocity": (
        lambda: one(x**2).at().simulate(1, prescribed={"x_dot": 1}),
        "x_dot is a velocity: prescribe its integral, the coordinate, {'x': 't'}",
        lambda: one(x**2).at().simulate(1, prescribed={"x": "t"}),
    ),
    "a state of a result as an attribute": (
        lambda: one(x**2).at().equilibrium().x, r"in brackets, …\['x'\]", lambda: one(x**2).at().equilibrium()["x"]
    ),
    "equations asked of a case": (
        lambda: one(x**2).at().equations(),
        "ask its system, case.system.equations",
        lambda: one(x**2).at().system.equations(),
    ),
    "a start off the constraint": (
        lambda: pendulum().at().simulate(1, x=1, y=1),
        "row 'rod'.*leave some out so that they can follow, or ask for project=True",
        lambda: (pendulum().at().simulate(1, x=1), pendulum().at().simulate(1, x=1, y=1, project=True)),
    ),
    "an equilibrium that is not near the origin": (
        lambda: pendulum().at().equilibrium(), r"try case\.equilibria\(\)", lambda: pendulum().at().equilibria(20)[0]
    ),
    "a constraint that is integrable": (
        lambda: three(x.diff(t) - y.diff(t)),
        r"holonomic_constraints=\[x\(t\) - y\(t\)\]",
        lambda: three(holonomic_constraints=[x - y]),
    ),
    "a coordinate as load": (
        lambda: one(k * x**2, parameters={k: 1}).at().flutter("x"),
        "has no parameter 'x': it is a coordinate",
        lambda: one(k * x**2, parameters={k: 1}).at().flutter("k"),
    ),
    "an equilibrium at a speed": (
        lambda: one(k * x**2, parameters={k: 1}).at().spectrum(x_dot=1),
        r"x_dot is a velocity.*case\.steady\(x_dot=…\)\.spectrum\(\)",
        lambda: one().at().steady(x_dot=1).spectrum(),
    ),
}  # fmt: skip


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_named_and_its_remedy_works(mistake):
    wrong, said, right = MISTAKES[mistake]
    with pytest.raises(pfaff.PfaffError, match=said):
        wrong()
    assert right() is not None


@pytest.mark.parametrize("name", ["kane", "Kane", "boltzmann-hamel", "maggi", "jourdain"])
def test_principles_in_quasi_velocities_are_those_of_appell(name):
    system = three(BLADE)
    with pytest.raises(pfaff.PfaffError, match=rf"unknown principle '{name}'.*equations\('appell', quasi_velocities="):
        system.equations(name)
    speeds = {"u1": x.diff(t) * sm.cos(phi) + y.diff(t) * sm.sin(phi), "u2": phi.diff(t)}
    assert system.equations("appell", quasi_velocities=speeds) is not None


@pytest.mark.parametrize(
    ("name", "here"),
    [("euler-lagrange", "lagrange"), ("Lagrange", "lagrange"), ("gibbs-appell", "appell"), ("newton-euler", "lagrange"),
     ("Hamiltonian", "hamilton"), ("d'Alembert", "dalembert")],
)  # fmt: skip
def test_principles_by_other_names_are_told_theirs(name, here):
    with pytest.raises(pfaff.PfaffError, match=f"'{here}'"):
        one().equations(name)


@pytest.mark.parametrize("end", [60, -60])
def test_a_search_to_an_end_in_vain_is_not_told_to_give_one(skate, end):
    case = skate.at(**XI_HAT, c_i=1.5)
    with pytest.raises(NoBifurcationError, match=f"search farther than to={end}, as to={2 * end}") as caught:
        case.hopf(to=end)
    assert "with to=…" not in str(caught.value)
    assert case.hopf(to=120).value == pytest.approx(76.3379703896)


def test_no_search_is_sent_where_a_declaration_forbids():
    grown = sm.Symbol("b", nonnegative=True)
    case = pfaff.ode({x: y - x, y: -x - (1 + grown) * y}, {grown: 0}, load=grown).at()
    with pytest.raises(NoBifurcationError, match="search farther than to=2, as to=4$"):
        case.hopf(to=2)
    with pytest.raises(pfaff.PfaffError, match="declared nonnegative"):
        case.hopf(to=-2)


def test_forces_that_are_infinite_at_zero_load_are_told_to_begin_elsewhere():
    case = pfaff.System([x], ONE, x**2 / (2 * F) + x**2, dissipation=x.diff(t) ** 2 / 2, parameters={F: 0}).at()
    with pytest.raises(
        pfaff.PfaffError, match=r"give it another value, case\.at\(…\), at which hopf and branch then begin"
    ) as caught:
        case.hopf(F, to=60)
    assert "hopf(to=…)" not in str(caught.value)
    with pytest.raises(NoBifurcationError, match="no Hopf point of system from F = 1 to 60"):
        case.at({F: 1}).hopf(F, to=60)


def test_a_missing_extra_is_named_with_what_does_without(monkeypatch):
    from pfaff.motion import implicit_methods

    case = one(x**2).at()
    monkeypatch.setattr(implicit_methods, "find_spec", lambda name: None)
    with pytest.raises(pfaff.PfaffError, match=r'method="cvode" needs the extra sundials: pip install') as caught:
        case.simulate(1, method="cvode", x=1)
    assert "backend" not in str(caught.value)
    assert case.simulate(1, method="radau", x=1).finished


def test_dissipation_that_feeds_energy_in_is_told():
    with pytest.warns(
        UserWarning, match=r"the dissipation of system is negative.*feeds energy in.*c\*x\.diff\(t\)\*\*2/2"
    ):
        fed = one(x**2, dissipation=-(x.diff(t) ** 2) / 2)
    assert "fed by the dissipation, which is negative along x_dot" in fed.at().spectrum().status
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        damped = one(x**2, dissipation=c * x.diff(t) ** 2 / 2, parameters={c: 1})
        excited = one(x**2, dissipation=(x**2 - 1) * x.diff(t) ** 2 / 2)  # van der Pol's, which far out is damped
    assert damped.at().spectrum().status == "stable"
    assert "negative along x_dot" in damped.at(c=-1).spectrum().status
    assert "negative along x_dot" in excited.at().spectrum().status
    held = pfaff.System(
        [x, y], (x.diff(t) ** 2 + y.diff(t) ** 2) / 2, -(x**2), (2 * x.diff(t) ** 2 - y.diff(t) ** 2) / 2,
        holonomic_constraints=[x - y],
    )  # fmt: skip
    assert held.at().spectrum().status == "unstable: 1 divergent mode"  # what D feeds in, the constraint does not allow


def test_equations_may_be_written_as_they_are_in_sympy_and_in_text():
    rows = ["x_dot*sin(phi) = y_dot*cos(phi)", "x_dot*sin(phi) == y_dot*cos(phi)", sm.Eq(BLADE, 0), BLADE]
    found = [three(row).nonholonomic_constraints[0] for row in rows]
    assert all(sm.expand(each - BLADE) == 0 for each in found)
    with pytest.raises(pfaff.PfaffError, match="constraint 1 is True, the outcome of a comparison"):
        three(sm.Eq(x.diff(t), x.diff(t)))


def test_a_sweep_of_critical_loads_at_speed_is_sent_to_hopf_points():
    case = replace(one(k * x**2, parameters={k: 1}), load=k).at()
    with pytest.raises(
        pfaff.PfaffError, match="flutter is of equilibria, and x_dot selects a steady motion: measure 'hopf'"
    ):
        case.sweep({"x_dot": np.array([1.0, 2.0])}, "flutter")


@pytest.mark.parametrize(
    ("potential", "message"),
    [
        (lambda x: x**2 / 2 + 1 / sm.S(0), "the potential contains zoo: look for a division by zero"),
        (lambda x: float("nan") * x, "the potential contains nan"),
        (
            lambda x: sm.besselj(0, x),
            r"besselj\(0, x\): the functions that can be followed are sin, .*write it by these",
        ),
        (lambda x: sm.Integral(sm.exp(-(x**2)), (x, 0, x)), r"contains Integral.*call its .doit\(\) first"),
        (lambda x: sm.Max(x, 1), r"Max\(1, x\): smooth functions alone"),
    ],
)
def test_what_no_equations_can_hold_is_named_at_the_statement(potential, message):
    (x,) = pfaff.statement.coordinates("x")
    with pytest.raises(pfaff.PfaffError, match=message):
        pfaff.System([x], x.diff(pfaff.statement.TIME) ** 2 / 2, potential(x))
