"""Names: each is given as text or as a symbol, may be that of an argument, and is known wherever it has a meaning."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import sympy as sm
from sympy.physics.mechanics import dynamicsymbols

import pfaff
from pfaff.errors import ConstraintError, ParameterError, StatementError

t = dynamicsymbols._t
x, y, phi = dynamicsymbols("x y phi")
m, inertia, a = sm.symbols("m I a", positive=True)
SPELT = {  # kinds of names, each as text and as symbols
    "parameter": ["a", a, sm.Symbol("a")],
    "coordinate": ["x", x, sm.Symbol("x")],
    "velocity": ["x_dot", x.diff(t), sm.Symbol("x_dot")],
    "quasi-velocity": ["v", sm.Symbol("v"), dynamicsymbols("v")],
    "reaction": ["p_blade", sm.Symbol("p_blade"), "p"],
    "constraint": ["blade", sm.Symbol("blade")],
    "none": ["nothing", sm.Symbol("nothing"), dynamicsymbols("nothing")],
}


@pytest.fixture(scope="module")
def sleigh() -> pfaff.System:
    centre = sm.Matrix([x + a * sm.cos(phi), y + a * sm.sin(phi)]).diff(t)
    return pfaff.System(
        [x, y, phi],
        m * centre.dot(centre) / 2 + inertia * phi.diff(t) ** 2 / 2,
        parameters={m: 1, inertia: 1, a: 0.1},
        nonholonomic_constraints={"blade": y.diff(t) * sm.cos(phi) - x.diff(t) * sm.sin(phi)},
        quasi_velocities={"v": x.diff(t) * sm.cos(phi) + y.diff(t) * sm.sin(phi)},
        name="sleigh",
    )


@pytest.fixture(scope="module")
def column() -> Any:
    """The column with a skate, whose constraint and speed have names."""
    stated = pfaff.atlas.column(2)
    X = stated.coordinates[2]
    named = replace(
        stated,
        nonholonomic_constraints={"skate": stated.nonholonomic_constraints[0]},
        quasi_velocities={"v": X.diff(t)},
    )
    return named.at({"d": "1/2", "M_L": 15, "I_L": 15, "k1": 50, "c_i": "3/2"})


def outcome(call: Callable[[Any], Any], name: Any) -> Any:
    """A number, or an error without the quotes that text has."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return call(name)
        except pfaff.PfaffError as problem:
            return re.sub("""['"]|_blade|Derivative|, t\\)|\\(t\\)|\\(""", "", f"{problem}").replace("x_dot", "x")


def event(motion: Any) -> Any:
    return motion.events["e"].t.tolist()


MOTIONS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "motion[…]": lambda case, motion, name: motion[name][-1],
    "plot": lambda case, motion, name: motion.plot(name) is not None,
    "period": lambda case, motion, name: motion.period(name),
    "friction": lambda case, motion, name: motion.friction(1.0, reaction=name).largest,
    "events": lambda case, motion, name: event(
        case.simulate(1, v=1, phi_dot=1, events={"e": f"{name} - 0.3" if isinstance(name, str) else name - 0.3})
    ),
    "prescribed": lambda case, motion, name: case.simulate(1, prescribed={name: 0.2 + t**2})["phi"][-1],
    "initial": lambda case, motion, name: case.simulate(1, phi_dot=0.5, initial={name: 1})["x"][-1],
    "ensemble": lambda case, motion, name: case.ensemble(1, phi_dot=0.5, values={name: [1.0, 2.0]})["v"][-1].sum(),
    "steady": lambda case, motion, name: case.steady(fixed={name: 1})["x_dot"],
    "steady start": lambda case, motion, name: case.steady(start={name: 1})["x_dot"],
    "steady[…]": lambda case, motion, name: case.steady(v=1)[name],
    "equilibrium": lambda case, motion, name: case.equilibrium(fixed={name: 0})["x"],
    "equilibrium[…]": lambda case, motion, name: case.equilibrium()[name],
    "spectrum": lambda case, motion, name: case.spectrum(values={name: 0 if "p" in str(name) else 0.5}).stable,
    "export": lambda case, motion, name: case.export("numpy", start={name: 1}).status,
    "at": lambda case, motion, name: case.at({name: 2}).numbers.sum(),
    "load": lambda case, motion, name: case.load_name(name),
    "random states": lambda case, motion, name: case.system.random_states(2, near={name: 1}).q.sum(),
    "impose": lambda case, motion, name: case.impose(motion, name).motion["y"][-1],
    "grid": lambda case, motion, name: pfaff.grid(axes={name: [1, 2]}).size,
    "sobol": lambda case, motion, name: sum(pfaff.sobol(2, ranges={name: (1, 2)}).point(0).values()),
    "meanings": lambda case, motion, name: len(replace(case.system, meanings={name: "a thing"}).meanings),
}  # fmt: skip
WORKS = {  # where each kind has a meaning
    "parameter": {"prescribed", "ensemble", "at", "load", "spectrum", "grid", "sobol", "meanings"},
    "coordinate": {"motion[…]", "plot", "events", "prescribed", "initial", "ensemble", "steady start", "equilibrium",
                   "equilibrium[…]", "spectrum", "export", "random states", "grid", "sobol", "meanings"},
    "velocity": {"motion[…]", "plot", "events", "initial", "ensemble", "steady", "steady start", "steady[…]", "export",
                 "grid", "sobol"},
    "quasi-velocity": {"motion[…]", "plot", "events", "initial", "ensemble", "steady", "steady start", "steady[…]",
                       "export", "grid", "sobol", "meanings"},
    "reaction": {"motion[…]", "plot", "friction", "events", "steady[…]", "equilibrium", "equilibrium[…]", "spectrum",
                 "grid", "sobol"},
    "constraint": {"grid", "sobol"},
    "none": {"grid", "sobol"},
}  # fmt: skip


@pytest.mark.parametrize("verb", MOTIONS)
def test_every_verb_takes_a_name_as_text_and_as_symbol_alike_or_says_where_it_is_used(sleigh, motion, verb):
    case = sleigh.at()
    for kind, spellings in SPELT.items():
        found = [outcome(lambda name: MOTIONS[verb](case, motion, name), name) for name in spellings]
        # Errors of expressions in text say where in the text.
        alike = [type(each) if verb == "events" and isinstance(each, str) else each for each in found]
        assert all(each == alike[0] for each in alike), (verb, kind, found)
        if isinstance(found[0], str) and verb not in ("export", "load"):
            told = found[0]
            assert verb not in WORKS[kind], (verb, kind, told)
            assert {"parameter": "a", "none": "nothing"}.get(kind, SPELT[kind][0][:1]) in told
        else:
            assert verb in WORKS[kind] or verb in ("export", "load", "period", "impose"), (verb, kind, found[0])


@pytest.fixture(scope="module")
def motion(sleigh) -> Any:
    return sleigh.at().simulate(1, v=1, phi_dot=1)


STABILITY: dict[str, Callable[[Any, Any], Any]] = {
    "hopf": lambda case, name: case.hopf(name).value,
    "flutter": lambda case, name: case.flutter(name).value,
    "branch": lambda case, name: case.branch(name, 1.0, points=3)[-1].value,
    "sweep load": lambda case, name: float(case.sweep({"c_i": [1.5]}, "flutter", load=name).run().dataset.flutter[0]),
    "paradox load": lambda case, name: case.paradox(load=name).undamped,
    "export": lambda case, name: case.export("auto", load=name).status,
    "axis": lambda case, name: case.sweep({name: [1.0, 2.0]}, "growth", load="F").run().dataset.growth.values.sum(),
    "flutter map": lambda case, name: case.flutter_map(axes={name: [1.0, 2.0]}).values.sum(),
    "direction": lambda case, name: case.paradox({name: 1}).limit,
    "among": lambda case, name: case.paradox(among=[name]).minimum,
    "crossing by": lambda case, name: case.hopf().crossing_by(name),
    "hopf fixed": lambda case, name: case.hopf(fixed={name: 0.0}).value,
    "flutter fixed": lambda case, name: case.flutter(fixed={name: 0.0}).value,
    "sweep fixed": lambda case, name: float(case.sweep({"F": [1]}, "growth", fixed={name: 0}).run().dataset.growth[0]),
    "start": lambda case, name: case.branch("F", 1.0, points=3, start={name: 0.0})[-1].value,
    "event": lambda case, name: len(case.branch("F", 1.0, points=3, events={"e": name})),
    "equilibria": lambda case, name: len(case.at(F=1).equilibria(5, fixed={name: 0.0})),
    "measured": lambda case, name: case.sweep(
        {"c_i": [1.5]}, {"end": {"duration": 1, "of": name, "theta1_dot": 0.1}}
    ).run().dataset.to_array().values.sum(),
    "measured from": lambda case, name: case.sweep(
        {"c_i": [1.5]}, {"end": {"duration": 1, "of": "theta2", "initial": {name: 0.1}}}
    ).run().dataset.end_theta2.values.sum(),
}  # fmt: skip


@pytest.mark.parametrize("verb", STABILITY)
def test_stability_takes_names_as_text_and_as_symbols_alike(column, verb):
    theta, X = column.system.coordinates[1:3]
    kinds = {
        "load": ["F", sm.Symbol("F"), column.system.load],
        "damping": ["c_i", sm.Symbol("c_i")],
        "coordinate": ["theta2", theta, sm.Symbol("theta2")],
        "ignorable": ["X", X],
        "velocity": ["theta2_dot", theta.diff(t), sm.Symbol("theta2_dot")],
        "quasi-velocity": ["v", sm.Symbol("v")],
        "reaction": ["p_skate", sm.Symbol("p_skate"), "p"],
        "constraint": ["skate", sm.Symbol("skate")],
    }
    for kind, spellings in kinds.items():
        found = [outcome(lambda name: STABILITY[verb](column, name), name) for name in spellings]
        found = [each.replace("_skate", "") if isinstance(each, str) else each for each in found]
        assert all(each == found[0] or (each != each and found[0] != found[0]) for each in found), (verb, kind, found)


CLASHING = [
    *("self", "step", "samples", "method", "duration", "load", "to", "near", "start", "starts", "box", "seed", "t"),
    *("tolerance", "project", "events", "progress", "exact", "about", "lambda", "initial", "fixed"),
]


@pytest.fixture(scope="module")
def clashing() -> pfaff.System:
    """Uncoupled oscillators, whose coordinates and stiffnesses have the names of arguments."""
    time = sm.Symbol("s")
    q = [sm.Function(name)(time) for name in CLASHING]
    k = [sm.Symbol(name) for name in ("values", "axes", "within", "direction", "among", "points")]
    potential = sum(u**2 for u in q) / 2 + sum(each * q[0] ** 2 for each in k)
    damped = sum(u.diff(time) ** 2 for u in q)
    return pfaff.System(q, damped / 2, potential, dissipation=damped / 10, parameters=dict.fromkeys(k, 1), load=k[0])


def test_coordinates_and_parameters_may_have_the_names_of_arguments(clashing):
    case = clashing.at({each.name: 2 for each in clashing.parameters})
    assert set(case.values.values()) == {2}
    assert clashing.at(values=3, axes=4).at(values={"within": 5}).numbers[:3] == pytest.approx([3, 4, 5])
    start = {name: 0.1 * (1 + k) for k, name in enumerate(CLASHING)}
    moved = case.simulate(0.1, initial=start)
    assert [moved[name][0] for name in CLASHING] == pytest.approx(list(start.values()))
    many = case.ensemble(0.1, samples=2, values={**{name: [value] for name, value in start.items()}, "values": [2.0]})
    assert [many[name][-1, 0] for name in CLASHING] == pytest.approx([moved[name][-1] for name in CLASHING])
    assert case.spectrum(values={"about": 0.0, "values": 3}).stable
    for name in CLASHING:
        assert case.equilibrium(fixed={name: 0.0}).fixed == {name: 0.0}
    assert len(case.equilibria(3, fixed={"starts": 0.0, "box": 0.0})) == 1
    assert case.flutter(fixed={"to": 0.0, "load": 0.0}).value is None
    assert len(case.branch("values", 2.5, points=3, fixed={"start": 0.0}))
    assert case.sweep({"axes": [1.0, 2.0]}, "growth", fixed={"load": 0.0}).run().dataset.growth.shape == (2,)
    assert case.steady(start={"step_dot": 0.0}, fixed={"start": 0.0})["start"] == 0


def test_states_of_an_ode_may_have_the_names_of_arguments():
    duration, samples, mu = sm.symbols("duration samples self")
    case = pfaff.ode({duration: samples, samples: mu * samples - duration}, {"self": -1}, load="self").at()
    assert case.simulate(1, initial={"duration": 2, samples: 1})[duration][0] == 2
    assert case.at(self=1).numbers == [1]
    assert case.equilibrium(start={"duration": 1})[samples] == 0
    assert case.spectrum(values={duration: 1, "self": -2}).stable
    with (
        pytest.warns(UserWarning, match="duration= is an argument"),
        pytest.raises(ParameterError, match=r"'duration' twice.*write initial=\{'duration': …\}"),
    ):
        case.simulate(1, duration=2)


def test_a_keyword_that_is_an_argument_and_a_coordinate_is_taken_for_the_argument_with_a_warning(clashing):
    case = clashing.at()
    with pytest.warns(UserWarning, match=r"samples= is an argument of simulate.*initial=\{'samples': …\}"):
        motion = case.simulate(0.1, samples=7)
    assert len(motion.t) == 7
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(case.simulate(0.1, samples=7, initial={}).t) == 7


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda case: case.simulate(1, x=1, initial={x: 2}), "x is given twice, by itself and within initial"),
        (lambda case: case.simulate(1, initial={"x": 1, x: 2}), "x is given twice, as text and as a symbol"),
        (lambda case: case.simulate(1, initial={x**2: 2}), r"initial has x\(t\)\*\*2 for a name"),
        (lambda case: case.at({a: 1}, a=2), "a is given twice"),
        (lambda case: case.at(3), r"at\(3\): give values by name, at\(m=1\)"),
        (lambda case: case.steady(start={x: 1, "x": 2}), "x is given twice"),
    ],
)
def test_a_name_is_given_once(sleigh, call, message):
    with pytest.raises(ParameterError, match=message):
        call(sleigh.at())


def test_measures_stand_beside_parameters_of_the_same_name(tmp_path):
    u, v = sm.symbols("u v")
    mu, l1, omega, period = sm.symbols("mu l1 omega period")
    grown = mu - l1 * (u**2 + v**2)
    equations = {u: grown * u - omega * v, v: omega * u + grown * v}
    case = pfaff.ode(equations, {mu: 0.5, l1: 1, omega: 2, period: 3}, load=mu).at()
    plain = case.sweep({period: [1.0, 2.0]}, ["hopf", "omega", "l1"], to=-1).run().dataset
    assert plain.omega.values == pytest.approx([2, 2])
    assert plain.l1.values[0] < 0
    store = tmp_path / "map.nc"
    study = case.sweep({"omega": [2.0, 3.0], period: [1.0]}, ["hopf", "omega", "period", "l1"], store, to=-1).run()
    assert study.names == ("hopf", "omega_", "l1", "period_")
    found = study.dataset
    assert found.omega_.values[:, 0] == pytest.approx([2, 3])
    assert found.omega.values == pytest.approx([2, 3])
    assert found.period_.values[:, 0] == pytest.approx([np.pi, 2 * np.pi / 3])
    assert found.l1.values[0] == pytest.approx(plain.l1.values[:1])
    assert study.plot("omega_", at={"period": 1}) is not None
    again = pfaff.open_sweep(store, case)
    assert again.names == study.names
    assert again.run().dataset.omega_.values == pytest.approx(found.omega_.values)


def test_orbits_are_measured_by_their_period_beside_a_parameter_called_so():
    u, v, period = sm.symbols("u v period")
    grown = period - u**2 - v**2
    case = pfaff.ode({u: grown * u - 2 * v, v: 2 * u + grown * v}, {period: -0.1}, load=period).at()
    branch = case.hopf().orbits(to=0.1, events={"grown": "period = 0.05"})
    assert branch.measure("period_") == pytest.approx(np.pi)
    assert branch.measure("period") == pytest.approx(branch.values)
    assert branch.of_kind("event: grown")[0].value == pytest.approx(0.05)


@pytest.mark.parametrize("zero", [0, 0.0, sm.S.Zero, sm.Float(0.0), np.float64(0), "0", "0.0", None])
def test_zero_is_an_expression_however_it_is_written(zero):
    stated = pfaff.System([x], x.diff(t) ** 2 / 2, zero, zero, {x: 0 if zero is None else zero})
    assert stated.statement.dissipation == stated.statement.potential == stated.statement.forces[0] == 0
    assert not replace(stated, forces={}).states_forces


def test_parameters_and_forces_are_stated_by_text_as_by_symbols():
    k = sm.Symbol("k", positive=True)
    stated = pfaff.System([x], x.diff(t) ** 2 / 2, k * x**2 / 2, forces={"x": "-c*x_dot"}, parameters={"k": 4, "c": 0})
    assert list(stated.parameters) == [k, sm.Symbol("c")]
    assert stated.at().spectrum().values.imag == pytest.approx([-2, 2])
    with pytest.raises(ParameterError, match="k=-1.* breaks the declaration"):
        stated.at(k=-1)
    with pytest.raises(StatementError, match="parameter k is given twice"):
        pfaff.System([x], x.diff(t) ** 2 / 2, k * x**2 / 2, parameters={"k": 4, k: 3})
    assert pfaff.ode({sm.Symbol("x"): "mu - x"}, {"mu": 2}).at().equilibrium()["x"] == 2


def test_constraints_keep_their_names_in_tables_errors_and_independent_systems(sleigh):
    row = sleigh.nonholonomic_constraints[0]
    twice = replace(sleigh, nonholonomic_constraints={"left": row, "right": 2 * row}, accept_redundant=True)
    assert list(twice.independent.reaction_aliases) == ["p_left"]
    assert "p_left" in str(twice.classification)
    assert [each.name for each in twice.classification.constraints] == ["left", "right"]
    for changes, culprit in (
        ({"nonholonomic_constraints": {"blade": x * y}}, "nonholonomic constraint 'blade' contains coordinates"),
        ({"nonholonomic_constraints": {"blade": x.diff(t) ** 2}}, "nonholonomic constraint 'blade' is not linear"),
        (
            {"nonholonomic_constraints": {"blade": x.diff(t) - y.diff(t)}},
            "nonholonomic constraint 'blade' is integrable",
        ),
        ({"holonomic_constraints": {"rod": x.diff(t)}}, "holonomic constraint 'rod' contains velocities"),
        ({"holonomic_constraints": {"rod": "x +"}}, "holonomic constraint 'rod'.*ends too early"),
    ):
        with pytest.raises(StatementError, match=culprit):
            replace(sleigh, **changes)
    held = replace(sleigh, holonomic_constraints={"rod": x**2 + y**2 - 1})
    with pytest.raises(ConstraintError, match=r"row 'rod'"):
        held.at().simulate(1, x=2, y=0)
    with pytest.raises(ConstraintError, match="violate constraint 'blade'"):
        sleigh.at().simulate(1, x_dot=1, y_dot=1, phi=0, phi_dot=0)


def test_a_prescribed_quasi_velocity_is_told_to_be_a_constraint_which_works(sleigh):
    with pytest.raises(ParameterError, match="'drive': 'v - sin"):
        sleigh.at().simulate(1, prescribed={"v": "sin(t)"})
    driven = replace(
        sleigh, nonholonomic_constraints={"blade": sleigh.nonholonomic_constraints[0], "drive": "v - sin(t)"}
    )
    motion = driven.at().simulate(1)
    assert motion["v"] == pytest.approx(np.sin(motion.t), abs=1e-12)


def test_quasi_velocities_of_ensembles_are_those_of_their_motions(sleigh):
    many = sleigh.at().ensemble(1, samples=3, v=1.0, phi_dot=np.array([0.5, 1.0]), a=np.array([[0.1], [0.4]]))
    assert many["v"].shape == many["x"].shape
    assert many["v"][-1, 1, 0] == pytest.approx(many.motion(1, 0)["v"][-1], rel=1e-12)
    assert many.peak("v").shape == (2, 2)
