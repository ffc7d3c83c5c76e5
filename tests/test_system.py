"""The statement of a system: what is kept, what is refused, and what the refusal says."""

from __future__ import annotations

import dataclasses
import pickle
from fractions import Fraction

import numpy as np
import pytest
import sympy as sm
from sympy.physics.mechanics import dynamicsymbols

import pfaff
from pfaff.errors import ConstraintError, ParameterError, SingularMassError, StatementError
from pfaff.statement import coordinates
from pfaff.statement.degrees import lowest_degree, polynomial_degree

t = dynamicsymbols._t
x, y, z = dynamicsymbols("x y z")
m, k = sm.symbols("m k", positive=True)
KINETIC = m * (x.diff(t) ** 2 + y.diff(t) ** 2 + z.diff(t) ** 2) / 2


def state(**changes):
    statement = {"coordinates": [x, y, z], "kinetic": KINETIC, "parameters": {m: 1, k: 2}}
    return pfaff.System(**(statement | changes))


def test_coordinates_are_sympys_dynamicsymbols():
    assert coordinates("x y z") == list(dynamicsymbols("x y z"))


def test_exact_values_stay_exact():
    case = state().at(m="1/3", k=Fraction(2, 7))
    assert case.values["m"] == sm.Rational(1, 3)
    assert case.values["k"] == sm.Rational(2, 7)
    assert case.at(m=0.5).values["k"] == sm.Rational(2, 7)
    assert case.values["m"] == sm.Rational(1, 3)  # at() gives another case and leaves this one alone


def test_a_case_cannot_be_changed():
    case = state().at()
    with pytest.raises(TypeError):
        case.values["m"] = 3
    with pytest.raises(AttributeError):
        case.system = None


@pytest.mark.parametrize(
    ("changes", "error", "words"),
    [
        ({"kinetic": KINETIC + sm.Symbol("q") * x}, StatementError, ["kinetic", "symbol q", "parameters"]),
        ({"kinetic": KINETIC * x.diff(t)}, StatementError, ["not quadratic"]),
        ({"kinetic": sm.sqrt(1 + x.diff(t) ** 2)}, StatementError, ["not quadratic"]),
        ({"kinetic": m * x**2}, StatementError, ["no velocity"]),
        ({"kinetic": KINETIC + dynamicsymbols("w") ** 2}, StatementError, ["w(t)", "coordinates"]),
        ({"potential": k * x.diff(t)}, StatementError, ["potential", "velocities"]),
        ({"coordinates": []}, StatementError, ["at least one coordinate"]),
        ({"coordinates": [x, x]}, StatementError, ["'x'", "twice"]),
        ({"coordinates": [sm.Symbol("x")]}, StatementError, ["not a function of time", "dynamicsymbols"]),
        ({"parameters": {m: 1, 2: 2}}, StatementError, ["parameter 2", "not a SymPy symbol"]),
        ({"parameters": {m: 1, sm.Symbol("x_dot"): 2}}, StatementError, ["x_dot", "rename"]),
        ({"parameters": {m: 1, sm.Symbol("m"): 2}}, StatementError, ["two parameters", "'m'"]),
        ({"forces": {sm.Symbol("w"): 1}}, StatementError, ["no coordinate", "x, y, z"]),
        ({"potential": sm.Symbol("k") * x**2}, StatementError, ["other assumptions"]),
        ({"holonomic_constraints": [m - 1]}, ConstraintError, ["contains no coordinate"]),
        (
            {"holonomic_constraints": [x - y], "parameters": {m: 1, k: 2, sm.Symbol("p"): 1}},
            StatementError,
            ["'p'", "reaction"],
        ),
        ({"load": "F"}, StatementError, ["load F", "not a parameter"]),
        ({"nonholonomic_constraints": [x.diff(t) ** 2]}, ConstraintError, ["constraint 1", "not linear"]),
        ({"nonholonomic_constraints": [x + y]}, ConstraintError, ["no velocity", "holonomic_constraints"]),
        ({"holonomic_constraints": [x.diff(t)]}, ConstraintError, ["velocities", "nonholonomic_constraints"]),
        (
            {"nonholonomic_constraints": {"one": z.diff(t) - y * x.diff(t), "two": y * x.diff(t) - z.diff(t) + 1}},
            ConstraintError,
            ["constraints 'one', 'two' contradict each other", "remove"],
        ),
        (
            {"nonholonomic_constraints": [x * y.diff(t) + y * x.diff(t)]},
            ConstraintError,
            ["integrable", "holonomic_constraints=[x(t)*y(t)]"],
        ),
        ({"nonholonomic_constraints": [x * y.diff(t) - y * x.diff(t)]}, ConstraintError, ["integrable", "x(t)/y(t)"]),
        ({"nonholonomic_constraints": [x.diff(t) - sm.sin(t)]}, ConstraintError, ["integrable", "cos(t)"]),
    ],
)
def test_bad_statements_name_culprit_and_remedy(changes, error, words):
    with pytest.raises(error) as caught:
        state(**changes)
    for word in words:
        assert word in str(caught.value)


def test_truly_nonholonomic_constraints_are_accepted():
    assert state(nonholonomic_constraints=[z.diff(t) - y * x.diff(t)]).reaction_names == ("p",)
    assert state(nonholonomic_constraints=[z.diff(t) - y * x.diff(t) + sm.sin(t) * y]).reaction_names == ("p",)


def test_constraints_that_are_integrable_only_together_are_found():
    """Two relations on three coordinates always are; each of these alone is not."""
    with pytest.raises(ConstraintError, match="integrable together"):
        state(nonholonomic_constraints=[z.diff(t) - y * x.diff(t), y.diff(t) - z * x.diff(t)])


@pytest.mark.parametrize("factor", [1e-12, 1e-6, 1e9])
def test_frobenius_test_does_not_depend_on_units(factor):
    """Neither a factor of the row nor the unit of a coordinate makes ż = y ẋ integrable, or z ẋ + x ż = 0 not."""
    for row in (factor * (z.diff(t) - y * x.diff(t)), z.diff(t) - factor * y * x.diff(t)):
        assert state(nonholonomic_constraints=[row]).classification.constraints[0].kind == "nonholonomic"
    with pytest.raises(ConstraintError, match="integrable"):
        state(nonholonomic_constraints=[factor * (z * x.diff(t) + x * z.diff(t))])


def test_a_square_root_in_a_constraint_is_no_obstacle():
    row = sm.sqrt(1 - 4 * x**2) * y.diff(t) - z * x.diff(t) - z.diff(t)
    assert state(nonholonomic_constraints=[row]).reaction_names == ("p",)


def test_equations_are_taken_for_their_difference():
    assert state(holonomic_constraints=[sm.Eq(x, y)]).holonomic_constraints == (x - y,)


def test_an_integrable_constraint_may_be_accepted_on_request():
    assert state(nonholonomic_constraints=[x * y.diff(t) + y * x.diff(t)], accept_integrable=True)


def test_kinetic_energy_that_only_looks_quartic_is_accepted():
    disguised = m * ((1 + x.diff(t) ** 2) ** 2 - (1 - x.diff(t) ** 2) ** 2) / 8 + m * y.diff(t) ** 2 / 2
    assert pfaff.System([x, y], disguised, parameters={m: 1})


def test_polynomial_degree_is_read_off_the_tree():
    a, b = sm.symbols("a b")
    assert polynomial_degree((a + b) ** 2 * sm.sin(b), [a]) == 2
    assert polynomial_degree(a * b**3, [a, b]) == 4
    assert polynomial_degree(sm.sin(a), [a]) == float("inf")
    assert lowest_degree(a**2 + a * b**3, [a, b]) == 2
    assert lowest_degree(a**2 / sm.sqrt(a**2 + b**2), [a, b]) == 0


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"M": 1}, ["'M'", "did you mean 'm'"]),
        ({"m": -1}, ["m=-1", "positive"]),
        ({"m": float("nan")}, ["m=nan", "finite"]),
        ({"m": "abc"}, ["'abc'", "not a number"]),
        ({"m": True}, ["not a number"]),
        ({"m": [1]}, ["not a number"]),
    ],
)
def test_bad_values_name_the_parameter(values, words):
    with pytest.raises(ParameterError) as caught:
        state().at(**values)
    for word in words:
        assert word in str(caught.value)


def test_a_missing_value_is_asked_for_when_it_is_needed():
    system = state(parameters={m: None, k: 1}, potential=k * (x**2 + y**2 + z**2) / 2)
    with pytest.raises(ParameterError, match="'m'.*at\\(m="):
        system.at().spectrum()
    assert len(system.at(m=2).spectrum().values) == 6


def test_a_singular_mass_matrix_is_located():
    system = pfaff.System([x, y], m * x.diff(t) ** 2 / 2, potential=k * (x**2 + y**2), parameters={m: 1, k: 1})
    with pytest.raises(SingularMassError, match="mostly along y"):
        system.at().spectrum()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"bars": 0}, ["bars=0", "whole number"]),
        ({"bars": 2.5}, ["whole number"]),
        ({"constraint": "skat"}, ["'skat'", "did you mean 'skate'"]),
        ({"load": "live"}, ["unknown load"]),
    ],
)
def test_the_column_refuses_nonsense(arguments, words):
    with pytest.raises(StatementError) as caught:
        pfaff.atlas.column(**arguments)
    for word in words:
        assert word in str(caught.value)


@pytest.mark.parametrize("name", ["M_L", "I_L", "c_i", "c_e", "c_t", "c_r", "M_X", "d"])
def test_negative_inertia_and_damping_are_forbidden(skate, name):
    with pytest.raises(ParameterError, match=f"{name}=-1.*nonnegative"):
        skate.at(**{name: -1})


def test_an_unknown_principle_suggests_the_known_one(skate):
    with pytest.raises(StatementError, match="did you mean 'lagrange'"):
        skate.equations("lagrang")


def test_constraints_may_have_names_and_their_reactions_then_too(tmp_path):
    x, y, phi = coordinates("x y phi")
    vx, vy, spin = (q.diff(t) for q in (x, y, phi))
    stated = pfaff.System(
        [x, y, phi],
        kinetic=(vx**2 + vy**2 + spin**2) / 2,
        nonholonomic_constraints={"blade": vy * sm.cos(phi) - vx * sm.sin(phi)},
        meanings={phi: "heading [rad]"},
    )
    motion = stated.at().simulate(1, phi_dot=1, x_dot=1)
    assert motion["p_blade"] is motion["p"] or (motion["p_blade"] == motion["p"]).all()
    assert motion.friction(normal=1, reaction="p_blade").largest == motion.friction(normal=1).largest
    loaded = pfaff.load_motion(motion.save(tmp_path / "motion.nc"))
    np.testing.assert_array_equal(loaded["p_blade"], motion["p"])
    rest = stated.at().equilibrium()
    assert rest["p_blade"] == rest["p"]
    assert dataclasses.replace(stated, name="other").reaction_aliases == {"p_blade": "p"}
    assert pickle.loads(pickle.dumps(stated)).reaction_aliases == {"p_blade": "p"}
    with pytest.raises(StatementError, match="meanings names 'psi'.*'phi'"):
        dataclasses.replace(stated, meanings={"psi": "heading"})


@pytest.mark.parametrize(
    ("nearest", "ask"),
    [
        ("samples", lambda case: case.simulate(100, sampels=10)),
        ("to", lambda case: case.branch("F", too=3)),
        ("starts", lambda case: case.equilibria(start=10)),
        ("exact", lambda case: case.flutter(exakt=True)),
        ("near", lambda case: case.hopf(neer=80)),
        ("max_steps", lambda case: case.ensemble(1, maxsteps=10)),
    ],
)
def test_a_misspelt_keyword_is_answered_with_the_nearest(skate, nearest, ask):
    with pytest.raises(ParameterError, match=f"has no argument .*did you mean '{nearest}'"):
        ask(skate.at())


def test_a_load_that_is_declared_positive_cannot_be_zero(sleigh):
    with pytest.raises(ParameterError, match="declare it nonnegative=True"):
        sleigh.at(m=0)


def test_a_classification_is_told_in_a_line(sleigh):
    assert repr(sleigh.classification) == f"<{sleigh.classification.status}>"
    assert sleigh.classification._repr_html_()


def test_meanings_go_with_what_they_belong_to():
    column = pfaff.atlas.column(2)
    assert column.meanings["F"] == "dead load"
    driven = column.at(k1=50).simulate(1, prescribed={"F": "sin(t)"}, theta1=0.1)
    assert driven.finished


def test_an_analysis_asked_of_a_system_says_to_bind_its_parameters(sleigh):
    with pytest.raises(pfaff.PfaffError, match=r"bind its parameters first, system.at\(.*\).flutter"):
        sleigh.flutter()
    with pytest.raises(pfaff.PfaffError, match="no 'fluter': did you mean 'flutter'"):
        sleigh.fluter()


def test_a_load_that_must_be_positive_and_is_zero_says_how_to_declare_it():
    F = sm.Symbol("F", positive=True)
    (x,) = coordinates("x")
    with pytest.raises(ParameterError, match="nonnegative=True, if F may vanish"):
        pfaff.System([x], kinetic=x.diff(t) ** 2 / 2, potential=-F * x, parameters={F: 0}, load=F)


@pytest.mark.parametrize(
    ("stated", "said"),
    [
        ({"potential": k * sm.Abs(x) ** 3}, "the potential contains Abs"),
        ({"potential": k * sm.Heaviside(x) * x**2}, "the potential contains Heaviside"),
        ({"potential": sm.Piecewise((k * x**2, x > 0), (0, True))}, "the potential contains Piecewise"),
        ({"dissipation": k * sm.Max(x.diff(t), 0) ** 2}, "the dissipation contains Max"),
        ({"forces": {y: -k * sm.sign(y.diff(t))}}, "the force on y contains sign"),
        ({"holonomic_constraints": [sm.Abs(x) - 1]}, "holonomic constraint 1 contains Abs"),
        ({"potential": sm.I * k * x**2}, "the potential contains I: energies, forces and constraints are real"),
    ],
)
def test_what_cannot_be_evaluated_is_refused_where_it_is_stated(stated, said):
    with pytest.raises(StatementError, match=said) as refused:
        state(**stated)
    assert "real" in said or "tanh(x/w) and a corner by sqrt(x**2 + w**2), with a width w" in str(refused.value)


def test_smooth_friction_and_functions_of_parameters_alone_are_taken():
    system = state(forces={y: -k * sm.tanh(50 * y.diff(t))}, potential=sm.Abs(k) * sm.erf(x) ** 2 + sm.sqrt(x**2 + k))
    assert system.at().simulate(0.1, y_dot=1).status.finished
