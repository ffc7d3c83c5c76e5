"""What is stated is judged alike in all units, and in limited time."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import sympy as sm

import pfaff
from pfaff.errors import ConstraintError
from pfaff.flow.symmetries import symmetries
from pfaff.statement import TIME as t
from pfaff.statement import coordinates
from pfaff.statement.characteristic import characteristic
from pfaff.statement.evaluation import evaluated, magnitudes
from pfaff.statement.integrability import integrable_rows, integrable_together
from pfaff.statement.redundancy import dependence

x, y, z, w = coordinates("x y z w")
x_dot, y_dot, z_dot, w_dot = (q.diff(t) for q in (x, y, z, w))
UNITS = [1e-6, 1e-3, 1, 1e2, 1e4]

ATLAS = {
    **pfaff.atlas.SYSTEMS,
    "four bars": lambda: pfaff.atlas.column(4),
    "redundant": lambda: pfaff.atlas.double_four_bar(rigid_coupler=True),
}


def state(q, rolling=(), held=(), **more):
    kinetic = sum(each.diff(t) ** 2 for each in q) / 2
    return pfaff.System(q, kinetic, nonholonomic_constraints=rolling, holonomic_constraints=held, **more)


def restated(statement, scales, rows):
    """Coordinates in units of their own, constraints times factors."""
    old = zip(statement.q, statement.v, map(sm.Float, scales), strict=True)
    words = {each: scale * each for q, v, scale in old for each in (q, v)}
    told = [sm.Float(factor) * c.xreplace(words) for factor, c in zip(rows, statement.constraints, strict=True)]
    held = rows[len(rows) - len(statement.positions) :]
    positions = [sm.Float(factor) * phi.xreplace(words) for factor, phi in zip(held, statement.positions, strict=True)]
    return replace(statement, constraints=tuple(told), positions=tuple(positions))


def verdicts(system, statement):
    found, rolling = dependence(statement, system.parameters), len(system.nonholonomic_constraints)
    return (
        found.redundant,
        found.contradictory,
        integrable_rows(statement, rolling),
        integrable_together(statement, rolling),
    )


@pytest.mark.parametrize("name", ATLAS)
def test_the_atlas_is_judged_alike_in_all_units(name):
    """Redundant, contradictory, integrable: with one coordinate or another in other units, and with all."""
    system, generator = ATLAS[name](), np.random.default_rng(1686)
    s, (m, n) = system.statement, (len(system.statement.constraints), len(system.coordinates))
    expected = verdicts(system, s)
    chosen = zip(generator.permutation(n), (1e-4, 1e4), strict=False)
    single = [(np.where(np.arange(n) == k, unit, 1.0), np.ones(m)) for k, unit in chosen]
    every = (10 ** generator.uniform(-4, 4, n), 10 ** generator.uniform(-4, 4, m))
    for scales, rows in [*single, every]:
        assert verdicts(system, restated(s, scales, rows)) == expected, scales


@pytest.mark.parametrize("unit", [1, 1e2, 700])
def test_fast_growth_does_not_overflow(unit):
    """sinh(700 y) at y of order one is 1e300, and its square no number: warnings are errors here."""
    assert state([x, y, z], [x_dot + z * y_dot], [sm.sinh(unit * y) - sm.sinh(z)]).redundant == ()


@pytest.mark.parametrize("unit", UNITS)
def test_independent_constraints_are_so_in_all_units(unit):
    """Far out, where (y/unit)³ dwarfs all else, they look alike; where the system lives they do not."""
    bent = unit * y + (unit * y) ** 3 / 5
    rows = [bent.diff(t) + x_dot + x * z_dot, bent.diff(t) + 2 * x_dot + x * w_dot]
    assert state([x, y, z, w], rows, [sm.exp(-x) * (bent - sm.sin(z))]).redundant == ()


@pytest.mark.parametrize("unit", UNITS)
def test_redundant_constraints_are_so_in_all_units(unit):
    """Dependent only where all hold, and by a factor that varies."""
    bent = unit * y + (unit * y) ** 3 / 5
    held = [bent - sm.sin(z), (bent - sm.sin(z)) * (2 + sm.sin(x)) + x * (bent - sm.sin(z))]
    assert state([x, y, z, w], [], held).redundant == (1,)


@pytest.mark.parametrize("unit", UNITS)
def test_what_is_not_integrable_is_not_so_in_any_unit(unit):
    """exp(−z²) is zero, and constant, at z of order one if its unit is small."""
    row = x_dot * (1 - sm.exp(-((unit * z) ** 2)) * sm.cos(y) / 2) + y_dot
    system = state([x, y, z], [row])
    assert system.classification.constraints[0].kind == "nonholonomic"


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("factor", [1, 2 + sm.sin(x)])
def test_what_is_integrable_is_so_in_all_units(unit, factor):
    """x sin y + z: differences over a fixed step do not see how fast a sine turns."""
    row = factor * sm.diff(x * sm.sin(unit * y) + z, t)
    with pytest.raises(ConstraintError, match="constraint 1 is integrable"):
        state([x, y, z], [row])


def test_time_has_a_unit_as_well():
    """What ends within a thousandth counts."""
    row = x_dot + sm.exp(-((1000 * t) ** 2)) * z * y_dot
    assert state([x, y, z], [row]).classification.constraints[0].kind == "nonholonomic"


@pytest.mark.parametrize(
    "form",
    [
        sm.diff(x * y * sm.sin(z), t) * (2 + sm.sin(x)) * sm.sqrt(1 + x**4),
        x_dot * sm.sin(x**3 + sm.cos(y)) / sm.sqrt(1 + x**4) + y_dot * sm.exp(x**2) * sm.atan(x * y),
        (x + y) ** 300 * (x_dot + y_dot * sm.sin(x) ** 7),
    ],
)
def test_no_integral_is_looked_for_long(form):
    """The verdict does not wait for SymPy: these took it minutes."""
    with pytest.raises(ConstraintError, match="integrable.*state it as its integrated form"):
        state([x, y, z], [form])


def test_deep_expressions_are_evaluated():
    """Far deeper than Python's recursion goes; what has no value is told."""
    a, b = sm.symbols("a b")
    deep, expected = a, 0.3
    for _ in range(3000):
        deep = sm.Add(sm.Mul(sm.Rational(1, 2), sm.sin(deep, evaluate=False), evaluate=False), a, evaluate=False)
        expected = 0.5 * np.sin(expected) + 0.3
    assert evaluated([deep], {a: 0.3}) == pytest.approx([expected], rel=1e-15)
    assert magnitudes([deep], {a: 0.3}) == pytest.approx([expected], rel=1e-15)
    with pytest.raises(KeyError, match="b has no value"):
        evaluated([a * b], {a: 1.0})


def test_errors_of_the_integration_are_no_errors_of_the_statement(monkeypatch):
    def fails(*_):
        raise IndexError("list index out of range")

    monkeypatch.setattr("sympy.integrals.manualintegrate.manualintegrate", fails)
    with pytest.raises(ConstraintError, match="its integrated form"):
        state([x, y, z], [sm.diff(x * y, t)])


@pytest.mark.parametrize(
    "integral",
    [
        x * y * sm.sin(z),
        sm.sqrt(x**2 + y**2) + z,
        x / (y + z**2),
        sm.exp(x * y) + z,
        y * sm.exp(-t) * sm.cos(x),
        sm.sin(y) * sm.exp(-((100 * x) ** 2)),
    ],
)
def test_integrals_that_are_written_down_at_once_are_named(integral):
    """Up to a constant; checked by differentiation."""
    system = state([x, y, z], [integral.diff(t)], accept_integrable=True)
    (found,) = system.classification.constraints
    assert sm.simplify(found.factor * found.integral.diff(t) - integral.diff(t)) == 0


@pytest.mark.parametrize("unit", [1e-9, 1, 1e9])
def test_characteristic_sizes_scale_with_the_units(unit):
    """Those of 1 + (x/l)², of sin(k y), of what matters only in a product, and one where there is none."""
    a, b, c, d = sm.symbols("a b c d", real=True)
    forms = [1 + (unit * a) ** 2, sm.sin(unit * b + 5) / unit, 3 * d, 1 + unit * sm.sin(unit * b) * c]
    sizes = characteristic(forms, [a, b, c, d], {}).usual
    assert np.abs(np.log(sizes * [unit, unit, unit, 1])).max() <= np.log(4)


@pytest.mark.parametrize("unit", UNITS)
def test_quasi_velocities_are_independent_in_all_units(unit):
    """Where a coefficient is not zero but for rounding, and whatever the factors."""
    chosen = {"a": unit**4 * x_dot, "b": y_dot * sm.exp(-((unit * x) ** 2)), "c": z_dot / unit**4}
    assert state([x, y, z]).equations("appell", quasi_velocities=chosen)
    with pytest.raises(pfaff.errors.StatementError, match="a, b, c depend on each other"):
        state([x, y, z]).equations("appell", quasi_velocities={**chosen, "c": z * chosen["a"] + chosen["b"]})


@pytest.mark.parametrize("unit", UNITS)
def test_a_coordinate_that_is_felt_is_not_cyclic_in_any_unit(unit):
    """The inertia of y depends on z within a few units of it only."""
    kinetic = (x_dot**2 + y_dot**2 * (1 + sm.exp(-((unit * z) ** 2))) + unit**2 * z_dot**2) / 2
    (only,) = symmetries(pfaff.System([x, y, z], kinetic, y**2)).generators
    assert only.c[1:] == pytest.approx([0, 0])
    assert not only.B.any()


@pytest.mark.parametrize("unit", UNITS)
def test_a_degenerate_origin_is_left_in_all_units(unit):
    """All coefficients vanish there, and at x of order one a sinh is no number."""
    rows = [sm.sinh(700 * unit * x) * x_dot + x * (y_dot + z * w * z_dot)]
    assert len(state([x, y, z, w], rows).shape.dependent) == 1


@pytest.mark.parametrize("unit", UNITS)
def test_particles_are_compared_with_energies_in_all_units(unit):
    """A potential that forgets what the particle's force does within a few units of the origin is found out."""
    m = pfaff.Particle(mass=1, position=(x, y), force=(-sm.exp(-((unit * x) ** 2)), -2 * y))
    with pytest.raises(pfaff.errors.StatementError, match="force"):
        pfaff.System([x, y], potential=y**2, particles=[m])


BUMP = 1 - sm.exp(-((100 * z) ** 2)) * sm.cos(y) / 2  # which SymPy does not simplify within minutes


def test_degrees_in_the_velocities_are_seen_without_simplification():
    """(u³ + u² v)/(u + v) is quadratic, u³ is not, whatever they are multiplied by."""
    assert pfaff.System(
        [x, y, z], x_dot**2 + y_dot**2 + z_dot**2 + BUMP * (x_dot**3 + x_dot**2 * y_dot) / (x_dot + y_dot)
    )
    with pytest.raises(pfaff.errors.StatementError, match="not quadratic in the velocities"):
        pfaff.System([x, y, z], x_dot**2 + y_dot**2 + z_dot**2 + BUMP * x_dot**3)
    with pytest.raises(ConstraintError, match="not linear in the velocities"):
        state([x, y, z], [BUMP * x_dot * y_dot + z_dot])
    with pytest.raises(ConstraintError, match="not linear in the velocities"):
        state([x, y, z], [sm.sqrt(x_dot**2 + y_dot**2) - z_dot])


def test_what_particles_do_not_do_is_named_without_simplification():
    with pytest.raises(pfaff.errors.StatementError, match="force on y"):
        pfaff.System([x, y, z], potential=BUMP * y**2, particles=[pfaff.Particle(1, (x, y, z), (0, -2 * y, 0))])
