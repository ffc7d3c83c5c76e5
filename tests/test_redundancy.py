"""Redundant constraints, contradictory ones, and what kind each constraint is."""

from __future__ import annotations

import json

import numpy as np
import pytest
import sympy as sm
from click.testing import CliRunner
from sympy.physics.mechanics import dynamicsymbols

import pfaff
from pfaff.cli import app
from pfaff.errors import ConstraintError

t = dynamicsymbols._t
x, y, z = dynamicsymbols("x y z")
a = sm.Symbol("a", real=True)
KINETIC = (x.diff(t) ** 2 + y.diff(t) ** 2 + z.diff(t) ** 2) / 2
SKATE = z.diff(t) - y * x.diff(t)


def state(holonomic=(), nonholonomic=(), **more):
    return pfaff.System(
        [x, y, z], KINETIC, holonomic_constraints=holonomic, nonholonomic_constraints=nonholonomic, **more
    )


@pytest.mark.parametrize(
    ("statement", "rows"),
    [
        ({"holonomic": [x, x - 1]}, "1, 2"),
        ({"holonomic": [x, x**2 - 1]}, "1, 2"),
        ({"holonomic": [x, y, x + y - 1]}, "1, 2, 3"),
        ({"holonomic": [x, y, x + y, z - 1, z - 2]}, "4, 5"),
        ({"holonomic": [x - a, x - 1], "parameters": {a: 2}}, "1, 2"),
        ({"holonomic": [x - sm.sin(t), x - sm.sin(t) + sm.cos(t)]}, "1, 2"),
        ({"nonholonomic": [SKATE, 2 * SKATE - 1]}, "1, 2"),
        ({"nonholonomic": [SKATE, x.diff(t) - 1], "holonomic": [x - 2 * t]}, "2, 3"),
    ],
)
def test_contradictory_constraints_are_named(statement, rows):
    """rank A < rank [A | b], or dependent gradients without a common zero: nothing makes these acceptable."""
    with pytest.raises(ConstraintError, match=f"constraints {rows} contradict each other"):
        state(**statement)


@pytest.mark.parametrize(
    ("statement", "rows"),
    [
        ({"holonomic": [x, 3 * x]}, (1,)),
        ({"holonomic": [x, x * y]}, (1,)),  # dependent where both hold, and only there
        ({"holonomic": [x**2 + y**2 + z**2 - 1, z, x**2 + y**2 - 1]}, (2,)),
        ({"holonomic": [x - sm.sin(t), 2 * x - 2 * sm.sin(t)]}, (1,)),
        ({"holonomic": [x, y, x - y, x + y]}, (2, 3)),
        ({"holonomic": [x - a, x - 1], "parameters": {a: 1}}, (1,)),
        ({"nonholonomic": [SKATE, y * SKATE]}, (1,)),
        ({"nonholonomic": [SKATE, SKATE + x.diff(t)], "holonomic": [x]}, (1,)),  # the position stays
    ],
)
def test_redundant_constraints_are_told_and_left_out_of_the_equations(statement, rows):
    system = state(**statement, accept_integrable=True)
    assert system.redundant == rows
    assert system.independent.redundant == ()
    kept = len(system.stated.constraints) - len(rows)
    assert len(system.independent.stated.constraints) == len(system.statement.constraints) == kept


@pytest.mark.parametrize("size", [1e-9, 1e-6, 1, 1e6])
def test_units_do_not_decide_what_is_contradictory(size):
    for statement in (
        {"holonomic": [x - size, x - 2 * size]},
        {"nonholonomic": [x.diff(t) - size, x.diff(t) + size], "accept_integrable": True},
    ):
        with pytest.raises(ConstraintError, match="constraints 1, 2 contradict each other"):
            state(**statement)
    assert state([x - size, 2 * x - 2 * size, y - 1]).redundant == (1,)


@pytest.mark.parametrize("size", [1e-6, 1, 20, 1000])
@pytest.mark.parametrize("as_parameter", [True, False])
def test_a_parallelogram_is_redundant_in_any_units(size, as_parameter):
    """Two cranks of length l and a coupler that is held in both components: one row too many."""
    l = sm.Symbol("l", positive=True)
    q = dynamicsymbols("x0 y0 x1 y1")
    first, second, base = sm.Matrix(q[:2]), sm.Matrix(q[2:]), sm.Matrix([l, 0])
    coupler = second - first - base
    rows = [first.dot(first) - l**2, (second - base).dot(second - base) - l**2, *coupler]
    system = pfaff.System(
        q,
        sum(each.diff(t) ** 2 for each in q) / 2,
        holonomic_constraints=rows if as_parameter else [row.subs(l, size) for row in rows],
        parameters={l: size} if as_parameter else {},
    )
    assert system.redundant == (3,)


def test_of_positions_and_velocities_the_positions_are_kept():
    """ż = y ẋ follows from y = 2, z = 2x + 1, but does not hold z at its place."""
    system = state([y - 2, z - 2 * x - 1], [SKATE], accept_integrable=True)
    assert system.redundant == (0,)
    assert system.independent.holonomic_constraints == system.holonomic_constraints
    assert system.independent.nonholonomic_constraints == ()


def test_a_circle_and_a_line_beside_it_have_no_initial_state():
    """Independent rows may still have no common zero; the start names those that are left."""
    case = state([z, x**2 + y**2 - 1, x - 5]).at()
    with pytest.raises(ConstraintError, match="row 2, 3.*no common solution nearby"):
        case.simulate(1)


@pytest.mark.parametrize("holonomic", [[x, y], [x**2 + y**2 - 1, x - z], [x * y - 1, y * z - 1], [x**2 - 1, y]])
def test_independent_constraints_are_left_alone(holonomic):
    assert state(holonomic).redundant == ()


def test_singular_configurations_do_not_count_as_redundancy():
    """Random starts fall into the flat position of these linkages; their rank is that of the others."""
    assert pfaff.atlas.double_four_bar().redundant == ()
    assert pfaff.atlas.slider_crank().redundant == ()
    assert pfaff.atlas.double_four_bar(rigid_coupler=True).redundant == (5,)


def test_every_analysis_takes_redundant_constraints():
    """The same spectrum, flow, shape flow, determinant and motion as without them; all rows share the reactions."""
    twice, once = state([x, 3 * x], potential=6 * x + y**2 + z**2), state([x], potential=6 * x + y**2 + z**2)
    assert twice.at().equilibrium().reaction == pytest.approx({"p1": -3, "p2": -1})
    assert twice.at().spectrum().values == pytest.approx(once.at().spectrum().values)
    assert twice.at().determinant(exact=True).polynomial == once.at().determinant(exact=True).polynomial
    at, states = np.array([0, 0.3, 0.2, 0, 0.1, 0.4]), np.array([0, 0.3, 0.2, 0.1, 0.4])
    assert twice.flow.rhs(at, twice.at()) == pytest.approx(once.flow.rhs(at, once.at()))
    assert twice.shape.rhs(states, twice.at()) == pytest.approx(once.shape.rhs(states, once.at()))
    motion = twice.at().simulate(1, y=1)
    assert motion.method.startswith("Taylor")
    assert motion.method.endswith("; reactions of least norm")
    assert motion["y"][-1] == pytest.approx(np.cos(np.sqrt(2)), abs=1e-14)
    assert motion.p[:, -1] == pytest.approx([-3, -1], rel=1e-14)


def test_the_independent_system_has_the_same_motions():
    """Frequencies √2 of y and z, whichever row is left out."""
    system = state([x, 3 * x], potential=y**2 + z**2)
    values = system.independent.at().spectrum().values
    assert np.sort(values.imag) == pytest.approx(np.array([-1, -1, 1, 1]) * np.sqrt(2), rel=1e-12)


def test_classification_of_each_kind():
    w = dynamicsymbols("w")
    system = pfaff.System(
        [x, y, z, w],
        KINETIC + w.diff(t) ** 2,
        holonomic_constraints=[z - sm.sin(t)],
        nonholonomic_constraints=[w.diff(t) - y * x.diff(t), x * y.diff(t) + y * x.diff(t) - 2],
        accept_integrable=True,
    )
    skate, integrable, moving = system.classification.constraints
    assert (skate.kind, skate.scleronomic, skate.catastatic, skate.integral) == ("nonholonomic", True, True, None)
    assert (integrable.kind, integrable.scleronomic, integrable.catastatic) == ("holonomic", False, False)
    assert sm.simplify(integrable.integral - (x * y - 2 * t)) == 0
    assert integrable.factor == 1
    assert (moving.kind, moving.scleronomic, moving.catastatic) == ("holonomic", False, False)
    table = str(system.classification)
    assert "nonholonomic and rheonomic, virtual and real displacements differ" in table
    assert "x(t)*y(t)" in table
    assert "friction would be a force or a dissipation" in table
    assert (system.classification.freedom, system.classification.dimension) == (1, 2)


def test_an_integrating_factor_is_reported():
    """ω = f dφ, checked by multiplication: y ẋ − x ẏ has the integral x/y."""
    system = state([], [y * x.diff(t) - x * y.diff(t)], accept_integrable=True)
    (found,) = system.classification.constraints
    assert found.holonomic
    assert sm.simplify(found.factor * found.integral.diff(t) - (y * x.diff(t) - x * y.diff(t))) == 0
    assert found.factor != 1


def test_rows_that_are_integrable_only_together():
    system = state([], [z.diff(t) - y * x.diff(t), y.diff(t) - z * x.diff(t)], accept_integrable=True)
    assert system.classification.holonomic
    assert "together" in str(system.classification)


def robot(r=1, b=1):
    """Two wheels on an axle; the constraints of the rolling are nonholonomic, their difference is not."""
    X, Y, theta, f1, f2 = q = dynamicsymbols("X Y theta f1 f2")
    forward = X.diff(t) * sm.cos(theta) + Y.diff(t) * sm.sin(theta)
    rows = [
        Y.diff(t) * sm.cos(theta) - X.diff(t) * sm.sin(theta),
        forward + b * theta.diff(t) - r * f1.diff(t),
        forward - b * theta.diff(t) - r * f2.diff(t),
    ]
    free = {each: 1 for each in (r, b) if isinstance(each, sm.Symbol)}
    kinetic = sum(each.diff(t) ** 2 for each in q) / 2
    return pfaff.System(q, kinetic, nonholonomic_constraints=rows, parameters=free), 2 * b * theta - r * (f1 - f2)


@pytest.mark.parametrize("values", [(1, 1), (1e-6, 1), sm.symbols("r b", positive=True)])
def test_an_integral_of_a_combination_is_found(values):
    """The angle of a two-wheeled robot follows from those of its wheels: 2bθ = r(φ₁ − φ₂) + constant."""
    system, integral = robot(*values)
    found = system.classification
    assert (found.freedom, found.dimension, found.combinations) == (2, 4, 1)
    (stated,) = found.integrals
    assert sm.simplify((stated / integral).diff(t)) == 0
    assert "1 combination of rows is integrable" in found.status
    assert found.to_dict()["integrals"] == [str(stated)]
    assert not found.holonomic


def test_a_row_may_be_integrable_where_the_others_hold():
    """ż = y ẋ is so on y = 2 and on y = 2 + x, but not where another coordinate is bound."""
    w = dynamicsymbols("w")
    for holonomic in ([y - 2], [y - 2 - x]):
        found = state(holonomic, [SKATE]).classification
        assert (found.holonomic, found.freedom, found.dimension) == (True, 1, 1)
    more = pfaff.System(
        [x, y, z, w], KINETIC + w.diff(t) ** 2, nonholonomic_constraints=[SKATE], holonomic_constraints=[w - y]
    ).classification
    assert (more.holonomic, more.freedom, more.dimension) == (False, 2, 3)


def test_brackets_of_brackets_count():
    """A chained form, ż_{k+1} = z_k ẋ: brackets of brackets make all configurations reachable."""
    z1, z2, z3, z4 = dynamicsymbols("z1:5")
    chain = [z2.diff(t) - z1 * x.diff(t), z3.diff(t) - z2 * x.diff(t), z4.diff(t) - z3 * x.diff(t)]
    q = [x, z1, z2, z3, z4]
    system = pfaff.System(q, sum(each.diff(t) ** 2 for each in q), nonholonomic_constraints=chain)
    assert (system.classification.freedom, system.classification.dimension) == (2, 5)


def test_scleronomic_and_catastatic_are_not_the_same():
    """ż = y ẋ + 1 does not contain the time, yet virtual displacements are no real ones."""
    (found,) = state([], [SKATE - 1]).classification.constraints
    assert found.scleronomic
    assert not found.catastatic


def test_redundancy_is_part_of_the_classification():
    system = pfaff.atlas.double_four_bar(rigid_coupler=True)
    assert system.classification.redundant == ("p6",)
    assert (system.classification.freedom, system.classification.dimension) == (1, 1)
    assert str(system.classification).splitlines()[6].split() == [
        "p6", "holonomic", "scleronomic", "virtual", "=", "real", "redundant",
    ]  # fmt: skip


def test_show_tells_the_kind():
    told = CliRunner().invoke(app, ["show", "column", "--json"])
    facts = json.loads(told.output)["classification"]
    assert facts["constraints"][0]["holonomic"] is False
    assert facts["freedom"] == 2
    shown = CliRunner().invoke(app, ["show", "double_four_bar", "--option", "rigid_coupler=true"])
    assert "redundant" in shown.output


BUMP = sm.exp(-100 * (y - 20) ** 2)  # no digits of it are left at usual configurations


def test_rows_that_differ_far_away_are_independent():
    assert state(nonholonomic=[SKATE, SKATE + BUMP * y.diff(t)]).redundant == ()
    assert state(nonholonomic=[SKATE, (1 + BUMP) * SKATE]).redundant == (1,)


def test_a_row_that_turns_only_far_away_is_nonholonomic():
    assert [each.kind for each in state(nonholonomic=[z.diff(t) - BUMP * x.diff(t)]).classification.constraints] == [
        "nonholonomic"
    ]
    with pytest.raises(ConstraintError, match="integrable"):
        state(nonholonomic=[z.diff(t) - BUMP * y.diff(t)])


@pytest.mark.parametrize("factor", [BUMP.subs(y, x), BUMP])
def test_a_factor_of_a_row_does_not_decide_what_is_integrable(factor):
    """Where the factor is below the least number in double precision, too."""
    skate = state(nonholonomic=[(y.diff(t) - z * x.diff(t)) * factor])
    assert [each.kind for each in skate.classification.constraints] == ["nonholonomic"]
    with pytest.raises(ConstraintError, match="integrable"):
        state(nonholonomic=[(y.diff(t) - x.diff(t)) * factor])
