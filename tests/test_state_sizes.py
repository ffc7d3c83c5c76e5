"""Steps of branches are measured by what changes the equations: states that are zero, or rounding, tell no size."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sm

import pfaff
from pfaff.statement import coordinates

x, y, z = sm.symbols("x y z")
mu = sm.Symbol("mu", real=True)
F = sm.Symbol("F", real=True)
t = pfaff.statement.TIME


def along(angle):
    return sm.Matrix([sm.cos(angle), sm.sin(angle)])


def platform(form, width, length):
    """A platform on two parallel pendulums, pushed sideways: it never tilts, and its pendulums lean by atan F."""
    a, b, theta, x, y = coordinates("a b theta x y")
    width, length, far = sm.nsimplify(width), sm.nsimplify(length), sm.Matrix([sm.nsimplify(width), 0])
    left = length * sm.Matrix([sm.sin(a), -sm.cos(a)])
    right = far + length * sm.Matrix([sm.sin(b), -sm.cos(b)])
    if form == "angles":
        q, centre, rows = [a, b, theta], left + width / 2 * along(theta), [*(left + width * along(theta) - right)]
    elif form == "places":
        q, centre = [x, y, theta], sm.Matrix([x, y])
        ends = centre - width / 2 * along(theta), centre + width / 2 * along(theta) - far
        rows = [each.dot(each) - length**2 for each in ends]
    else:
        q, centre = [a, b, x, y, theta], sm.Matrix([x, y])
        rows = [*(centre - width / 2 * along(theta) - left), *(centre + width / 2 * along(theta) - right)]
    kinetic = (centre.diff(t).dot(centre.diff(t)) + theta.diff(t) ** 2 / 12) / 2
    forces = {each: F * centre[0].diff(each) for each in q}
    system = pfaff.System(q, kinetic, centre[1], forces=forces, holonomic_constraints=rows, parameters={F: 0}, load=F)
    return system.at(), {} if form == "angles" else {"x": float(width / 2), "y": -float(length)}


@pytest.mark.parametrize("form", ["angles", "places", "all"])
@pytest.mark.parametrize(("width", "length"), [(1, 1), (2, 1), ("1.3", "0.7"), (1, 10)])
def test_a_tilt_that_is_rounding_sets_no_scale(form, width, length):
    case, start = platform(form, width, length)
    branch = case.branch("F", 2, start=start or None)
    assert branch.ended == "reached 2"
    assert not branch.special
    assert len(branch) < 40
    state = branch[-1].state
    across = np.sin(state["a"]) if "a" in state else (state["x"] - float(sm.nsimplify(width)) / 2) / float(length)
    assert across == pytest.approx(np.sin(np.arctan(2)), rel=1e-9)
    assert abs(state["theta"]) < 1e-12


@pytest.mark.parametrize("height", [x**2 / 4, x**2 / 2 + x**3 / 9, 100 * x**2, 1 - sm.cos(x) / 2])
@pytest.mark.parametrize("damping", [0, 0.1])
def test_a_height_that_follows_by_a_square_shortens_no_steps(height, damping):
    """A bead on a wire, pushed sideways from where the wire is level, rests where its slope is F."""
    a, b = coordinates("a b")
    kinetic, loss = (a.diff(t) ** 2 + b.diff(t) ** 2) / 2, damping * (a.diff(t) ** 2 + b.diff(t) ** 2) / 2
    wire = pfaff.System(
        [a, b], kinetic, b - F * a, dissipation=loss, holonomic_constraints=[b - height.subs(x, a)],
        parameters={F: 0}, load=F,
    )  # fmt: skip
    branch = wire.at().branch("F", 0.45)
    assert len(branch) < 40
    assert float(height.diff(x).subs(x, branch[-1]["a"])) == pytest.approx(0.45, rel=1e-10)


@pytest.mark.parametrize("far", [1e3, 1e8])
@pytest.mark.parametrize("height", [x**2, x**2 + x**3, x**4])
def test_nor_does_what_follows_by_powers_of_it(height, far):
    """Nothing depends on y and z, whose equations are linear in themselves: however far they go, they go at once."""
    rates = {x: mu - x, y: height - y, z: y**2 - z}
    branch = pfaff.ode(rates, {mu: 0}, load=mu).at().branch("mu", far)
    assert len(branch) < 40
    assert branch[-1]["z"] == pytest.approx(float(height.subs(x, far)) ** 2, rel=1e-12)


ZERO = {  # equations, the start, whose zeros may be rounding, the first value of μ, where it branches
    "absent species": ({x: x * (1 - x - y), y: y * (mu - y)}, {"x": 1, "y": 0}, -1, 0),
    "odd modes": ({x: mu - x - x**3, y: (x - sm.S.Half) * y - y**3, z: -z + x * y}, {"y": 0, "z": 0}, -1, 5 / 8),
    "all of them": ({x: mu * x - x * y, y: -y + x**2 + z, z: -z + x * y}, {"x": 0, "y": 0, "z": 0}, -1, 0),
    "food chain": (
        {x: x * (mu - x) - x * y, y: y * (x - sm.S.Half - z), z: z * (y - sm.Rational(1, 4))},
        {"x": 0.25, "y": 0, "z": 0}, 0.25, 0.5,
    ),
}  # fmt: skip


@pytest.mark.parametrize("tiny", [0, 1e-9, 1e-12, 1e-14, 1e-16, -1e-16, 1e-18, 1e-20, 1e-32, 1e-100])
@pytest.mark.parametrize("name", ZERO)
def test_states_that_are_zero_but_for_rounding_end_no_branch(name, tiny):
    rates, start, first, place = ZERO[name]
    start = {state: value or (-tiny if state == "y" else tiny) for state, value in start.items()}
    branch = pfaff.ode(rates, {mu: first}, load=mu).at().branch("mu", 1.5, start=start)
    assert branch.ended == "reached 1.5"
    assert [special.kind for special in branch.special] == ["branch point"]
    assert branch.special[0].value == pytest.approx(place, abs=1e-12)
