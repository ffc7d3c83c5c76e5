"""Rows that follow from others as people write them, and inertia that only the constraints complete."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import sympy as sm
from sympy.physics.mechanics import dynamicsymbols

import pfaff
from pfaff.checks import Check
from pfaff.errors import ConstraintError, RankError, SingularMassError, StatementError
from pfaff.flow.verified_accelerations import stated_balances, verified_accelerations
from pfaff.motion.measures import Stored

t = dynamicsymbols._t
x, y, a, z = dynamicsymbols("x y a z")
m, I, d, k, c = sm.symbols("m I d k c", positive=True)
e = dynamicsymbols("e0:4")
E = sm.Matrix([[-e[1], e[0], -e[3], e[2]], [-e[2], e[3], e[0], -e[1]], [-e[3], -e[2], e[1], e[0]]])
OMEGA = 2 * E * sm.Matrix(e).diff(t)
UNIT = sum(each**2 for each in e) - 1
NORMAL, FORWARD = sm.Matrix([-sm.sin(a), sm.cos(a)]), sm.Matrix([sm.cos(a), sm.sin(a)])
KINETIC = m * (x.diff(t) ** 2 + y.diff(t) ** 2) / 2 + I * a.diff(t) ** 2 / 2 + z.diff(t) ** 2 / 2
TINY = sm.Rational(1, 10**9)


def slips(*along, aside=(1, -1)):
    """Sideways velocities of wheels on an axle, as frames give them: not simplified."""
    places = [sm.Matrix([x, y]) + s * d * NORMAL + o * FORWARD for s, o in zip(aside, along, strict=True)]
    return [place.diff(t).dot(NORMAL) for place in places]


def state(rolling=(), held=(), **more):
    more = {"parameters": {m: 1, I: 1, d: 1}, "accept_integrable": True} | more
    return pfaff.System([x, y, a, z], KINETIC, nonholonomic_constraints=rolling, holonomic_constraints=held, **more)


LEFT, RIGHT = slips(0, 0)


@pytest.mark.parametrize(
    ("rolling", "held", "redundant"),
    [
        ([LEFT, RIGHT], [], (1,)),
        ([LEFT, 1e6 * RIGHT], [], (1,)),
        ([LEFT.subs(x, 1e6 * x).doit(), RIGHT.subs(x, 1e6 * x).doit()], [], (1,)),
        ([LEFT.subs(a, a / 10**6).doit(), RIGHT.subs(a, a / 10**6).doit()], [], (1,)),
        ([LEFT - RIGHT], [], (0,)),
        ([], [sm.sin(x) ** 2 + sm.cos(x) ** 2 - 1, x - y], (0,)),
        (
            [
                x.diff(t) * sm.cos(a) + y.diff(t) * sm.sin(a),
                (1 + sm.cos(2 * a)) * x.diff(t) + sm.sin(2 * a) * y.diff(t),
            ],
            [],
            (1,),
        ),
        (
            [x.diff(t) - y * z.diff(t), y.diff(t) - a * z.diff(t), x.diff(t) + y.diff(t) - (y + a) * z.diff(t)],
            [],
            (2,),
        ),
        ([x * x.diff(t) + y * y.diff(t)], [x**2 + y**2 - 1], (0,)),
        ([], [x**2 + y**2 - 1, (x**2 + y**2 - 1) ** 2], (1,)),
        ([], [x**2 + y**2 - 1, sm.sqrt(x**2 + y**2) - 1], (1,)),
        (slips(0, TINY), [], ()),
        (slips(1, 1 + TINY), [], ()),
        (slips(0, 1e-9), [], ()),
        ([], [y - x, y - (1 + TINY) * x], ()),
    ],
)
def test_rows_are_redundant_if_their_terms_cancel(rolling, held, redundant):
    assert state(rolling, held).redundant == redundant


def test_a_row_without_a_gradient_is_not_redundant_unless_others_imply_it():
    """(x² + y² − 1)² alone holds the circle, singular as it is; beside x² + y² − 1 it says nothing new."""
    square = (x**2 + y**2 - 1) ** 2
    assert state(held=[square]).redundant == ()
    assert state(held=[square, z - a]).redundant == ()
    assert state(held=[x**2 + y**2 - 1, z - a, square]).redundant == (2,)


def test_contradictory_rows_are_named_though_they_are_not_simplified():
    with pytest.raises(ConstraintError, match="constraints 'left', 'right' contradict each other"):
        state({"left": LEFT, "right": RIGHT - 1})
    with pytest.raises(ConstraintError, match="constraint 1 contains no velocity once its terms cancel"):
        state([LEFT - RIGHT + 1])
    with pytest.raises(ConstraintError, match="contradict each other"):
        state([x * x.diff(t) + y * y.diff(t) - 1], [x**2 + y**2 - 1])


def test_two_wheels_on_one_axle_share_the_reaction_and_keep_their_names():
    """A robot that runs in a circle: x = 2 sin(t/2), and the axle needs m v ω = 1/2 in all."""
    axle = pfaff.System(
        [x, y, a],
        KINETIC.subs(z, 0).doit(),
        nonholonomic_constraints={"left": LEFT, "right": RIGHT},
        parameters={m: 1, I: 1, d: 1},
    )
    motion = axle.at().simulate(5, x_dot=1, a_dot=0.5)
    assert motion.finished
    assert motion["x"][-1] == pytest.approx(2 * np.sin(2.5), abs=1e-14)
    assert motion["p_left"] == pytest.approx(np.full(1001, -0.25), rel=1e-13)
    assert motion["p_right"] == pytest.approx(np.full(1001, -0.25), rel=1e-13)
    assert motion.residual.shape == (2, 1001)
    assert axle.independent.reaction_aliases == {"p_left": "p"}


def test_a_motion_with_redundant_rows_verifies_its_first_reactions():
    motion = state([LEFT, RIGHT]).at().simulate(1, x_dot=1, a_dot=0.5)
    claims = [check.claim for check in motion.checks if check.passed]
    assert "forces, inertia and reactions of all constraints are in balance" in claims
    assert motion.status.finished
    wrong = replace(motion, measures=Stored(1.001 * motion.p, motion.residual, motion.energy))
    assert "NOT verified: forces, inertia and reactions" in str(wrong.status)


def cart(every_row):
    """Four wheels with rotation angles on a spring: their sideways rows are two in all, their rolling rows four."""
    turns, r = dynamicsymbols("f1:5"), sm.Rational(1, 5)
    places = [(1, 1), (1, -1), (0, 1), (0, -1)]
    at = [sm.Matrix([x, y]) + s * d * NORMAL + o * c * FORWARD for o, s in places]
    rows = [place.diff(t).dot(NORMAL) for place in at]
    rolling = [place.diff(t).dot(FORWARD) - r * f.diff(t) for place, f in zip(at, turns, strict=True)]
    return pfaff.System(
        [x, y, a, *turns],
        m * (x.diff(t) ** 2 + y.diff(t) ** 2) / 2 + I * a.diff(t) ** 2 / 2 + sum(f.diff(t) ** 2 for f in turns) / 20,
        k * x**2 / 2,
        dissipation=x.diff(t) ** 2 / 20,
        nonholonomic_constraints=[*(rows if every_row else (rows[0], rows[2])), *rolling],
        parameters={m: 1, I: 1, d: 1, c: 1, k: 1},
        accept_integrable=True,
    )


def test_a_cart_with_all_its_rows_moves_and_vibrates_as_with_independent_ones():
    """It can only run straight: m + 4·0.1/r² = 11 on a spring of one, with damping 0.1."""
    every, few = cart(True), cart(False)
    assert every.redundant == (1, 3)
    assert every.classification.freedom == few.classification.freedom == 1
    motions = [each.at().simulate(3, x=1) for each in (every, few)]
    assert motions[0].y == pytest.approx(motions[1].y, abs=1e-13)
    roots = np.roots([11, 0.1, 1])
    for each in (every, few):
        values = each.at().spectrum().values
        assert np.sort_complex(values[np.abs(values) > 1e-6]) == pytest.approx(np.sort_complex(roots), rel=1e-9)
    # of rows a and a that say alike each takes half of the reaction of one
    p, q = motions[0].p[:, 500], motions[1].p[:, 500]
    assert [p[0] + p[1], p[2] + p[3], *p[4:]] == pytest.approx(q, abs=1e-13)


def ball(potential=y, **more):
    return pfaff.System(
        [x, y, *e],
        (x.diff(t) ** 2 + y.diff(t) ** 2) / 2 + OMEGA.dot(OMEGA) / 20,
        potential,
        holonomic_constraints=[UNIT],
        nonholonomic_constraints=[x.diff(t) - OMEGA[1] / 2, y.diff(t) + OMEGA[0] / 2],
        **more,
    )


def test_a_ball_by_quaternions_rolls_down_from_any_attitude():
    """ÿ = −1/(1 + 0.1·4): the mass matrix alone is singular, and one of its pivots vanishes in the second attitude."""
    for start in ({"e0": 0.7, "e1": 0.1, "e2": 0.5, "e3": -0.5}, {"e0": 1}, {"e3": 1}):
        motion = ball().at().simulate(0.5, **start)
        assert motion.finished
        assert motion["y"][-1] == pytest.approx(-0.25 / 0.35 / 8, rel=1e-13)


def test_accelerations_of_quaternions_are_those_of_the_saddle_point_equations():
    system = ball()
    at = system.random_states(200)
    x = np.concatenate([at.q, at.v])
    values = stated_balances(system)(x, np.zeros((0, 200)), at.time).T
    M, h, A, gamma = np.split(values, np.cumsum([36, 6, 18]), axis=1)
    M, A = M.reshape(-1, 6, 6), A.reshape(-1, 3, 6)
    K = np.block([[M, A.transpose(0, 2, 1)], [A, np.zeros((200, 3, 3))]])
    exact = np.linalg.solve(K, -np.concatenate([h, gamma], axis=1)[..., None])[..., 0].T
    flow = system.flow
    found = np.concatenate([flow.rhs(x, np.zeros(0))[6:], flow.reactions(x, np.zeros(0))])
    assert np.abs(found - exact).max() < 1e-13 * np.abs(exact).max()
    assert all(
        check.passed for check in verified_accelerations(system, x, np.zeros((0, 200)), at.time, *np.split(found, [6]))
    )


def test_small_motions_of_a_ball_by_quaternions_are_known():
    rest = ball(k * (x**2 + 2 * y**2) / 2, dissipation=(x.diff(t) ** 2 + y.diff(t) ** 2) / 20, parameters={k: 1})
    values = rest.at().spectrum(e0=1).values
    exact = np.concatenate([np.roots([1.4, 0.1, 1]), np.roots([1.4, 0.1, 2])])
    moving = values[np.abs(values) > 1e-6]
    assert moving[np.argsort(moving.imag)] == pytest.approx(exact[np.argsort(exact.imag)], rel=1e-9)


@pytest.mark.parametrize("unit", [1, 1e6, 1e-6])
def test_massless_coordinates_may_be_held_by_constraints_in_any_units(unit):
    """ẍ + ẋ/10 + x = −2, with the force on a massless coordinate that follows x."""
    tied = pfaff.System(
        [x, z],
        x.diff(t) ** 2 / 2,
        x**2 / 2 + z / unit,
        dissipation=x.diff(t) ** 2 / 20,
        holonomic_constraints=[z / unit - 2 * x],
    )
    assert tied.at().equilibrium()["x"] == pytest.approx(-2, rel=1e-12)
    assert np.sort_complex(tied.at().spectrum().values) == pytest.approx(
        np.sort_complex(np.roots([1, 0.1, 1])), rel=1e-9
    )
    free = pfaff.System([x], x.diff(t) ** 2 / 2, x**2 / 2 + 2 * x, dissipation=x.diff(t) ** 2 / 20)
    motion = tied.at().simulate(2, x=1, z=2 * unit)
    assert motion["x"][-1] == pytest.approx(free.at().simulate(2, x=1)["x"][-1], rel=1e-13)


def test_motions_without_inertia_are_still_refused_by_name():
    loose = pfaff.System([x, y, z], x.diff(t) ** 2 / 2 + z.diff(t) ** 2, x**2 + y**2, holonomic_constraints=[z - 2 * x])
    for ask in (loose.at().equilibrium, loose.at().spectrum, lambda: loose.at().simulate(1, x=1, z=2)):
        with pytest.raises(SingularMassError, match="motions that .* constraints allow, mostly along y"):
            ask()


def test_constraints_that_followed_for_the_default_parameters_only_are_told():
    twice = state(held={"one": x - k, "two": x - 1}, parameters={m: 1, I: 1, k: 1})
    assert twice.redundant == (1,)
    with pytest.raises(ConstraintError, match="'two' of system follows from the others with its default parameters"):
        twice.at(k=2).equilibrium()
    with pytest.raises(ConstraintError, match="no common solution"):
        twice.at(k=2).simulate(1)


@pytest.mark.parametrize(("unit", "which"), [(sm.Integer(10**6), 1), (sm.Float(1e6), 1), (sm.Float(1e-6), 0)])
def test_principles_agree_where_one_coordinate_has_extreme_units(unit, which):
    """Integer multiples of an angle are not expanded, and states are drawn where sines have digits."""
    own = (x, a)[which]
    row = x.diff(t) * sm.cos(a) - (y.diff(t) + a.diff(t)) * sm.sin(a)
    kinetic = (x.diff(t) ** 2 + y.diff(t) ** 2 + a.diff(t) ** 2 + x.diff(t) * a.diff(t) * sm.cos(a)) / 2
    stated = [each.subs(own, unit * own).doit() for each in (kinetic, x**2 + sm.cos(a), row)]
    found = pfaff.System([x, y, a], *stated[:2], nonholonomic_constraints=[stated[2]]).compare(states=4)
    assert found.agree, found.status


def test_quasi_velocities_may_be_a_list_for_appells_equations():
    system = pfaff.System(
        [x, y, a],
        KINETIC.subs(z, 0).doit(),
        nonholonomic_constraints=[LEFT],
        quasi_velocities={"v": x.diff(t) * sm.cos(a) + y.diff(t) * sm.sin(a)},
        parameters={m: 1, I: 1, d: 1},
    )
    equations = system.equations("appell", quasi_velocities=["v", a.diff(t)])
    assert equations.names == ("v", "u2")
    assert all(check.passed for check in equations.checks)
    with pytest.raises(StatementError, match=r"quasi_velocities=5: give values by name, quasi_velocities=\{'u1'"):
        system.equations("appell", quasi_velocities=5)


@pytest.mark.parametrize("principle", ["lagrange", "appell", "hamilton"])
def test_equations_verify_themselves_with_every_row(principle):
    system = cart(True)
    checks = system.equations(principle).checks
    assert len(checks) == 2
    assert all(check.passed for check in checks)


@pytest.mark.parametrize("wrong", ["accelerations", "reactions"])
def test_wrong_accelerations_or_reactions_are_caught(wrong):
    system = state([LEFT, RIGHT])
    at = system.random_states(3)
    found = dict(
        zip(("accelerations", "reactions"), system.equations().solve(at.q, at.v, at.numbers, at.time), strict=True)
    )

    def checks() -> list[Check]:
        states = np.concatenate([at.q, at.v])
        return verified_accelerations(system, states, at.numbers, at.time, found["accelerations"], found["reactions"])

    assert all(check.passed for check in checks())
    found[wrong] = found[wrong].copy()
    found[wrong][0, 1] += 1e-6 * np.abs(found[wrong]).max()
    assert not all(check.passed for check in checks())
    assert "NOT verified" in " ".join(map(str, checks()))


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("apart", ["1e-3", "1e-6", "1e-8", "1e-12", "3e-13", "1e-13", "1e-14", "1e-15"])
def test_rows_that_are_nearly_dependent_are_named_or_right(apart, reverse):
    """x = y, x = (1 + ε) y − ε z: all three move as one."""
    a, b, c, d = dynamicsymbols("a b c d")
    e = sm.Rational(apart)
    q, rows = [a, b, c, d], [a - b, a - (1 + e) * b + e * c]
    if reverse:
        q, rows = q[::-1], rows[::-1]
    potential = (a**2 + 3 * b**2 + 5 * c**2 + d**2) / 2
    case = pfaff.System(q, sum(x.diff(t) ** 2 for x in q) / 2, potential, holonomic_constraints=rows).at()
    if e < sm.Rational(1, 10**9):
        for asked in (case.spectrum, lambda: case.simulate(3, a=1, b=1, c=1)):
            with pytest.raises(RankError, match="rows 1, 2"):
                asked()
    else:
        assert np.sort(case.spectrum().values.imag) == pytest.approx([-(3**0.5), -1, 1, 3**0.5], abs=1e-6)
        try:
            motion = case.simulate(3, a=1, b=1, c=1)
        except RankError:
            assert e < sm.Rational(1, 10**7)
        else:
            assert abs(motion["a"][-1] - np.cos(3 * 3**0.5)) < 1e-7 or "NOT verified" in motion.status


@pytest.mark.parametrize("light", ["1e-20", "1e20"])
def test_rows_that_share_a_coordinate_without_weight_are_independent(light):
    a, b, c = dynamicsymbols("a b c")
    kinetic = (a.diff(t) ** 2 + b.diff(t) ** 2 + sm.Rational(light) * c.diff(t) ** 2) / 2
    system = pfaff.System([a, b, c], kinetic, (a**2 + b**2) / 2, holonomic_constraints=[c - a, c - b])
    omega = (2 / (2 + float(light))) ** 0.5
    assert system.at().spectrum().values.imag.max() == pytest.approx(omega, rel=1e-9)
