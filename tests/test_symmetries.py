"""Symmetries are found from what the equations do, however they are written, and divided out by one reduction."""

from functools import cache

import numpy as np
import pytest
import sympy as sm

import pfaff
from pfaff.flow.freezing import slice_of
from pfaff.flow.symmetries import symmetries
from pfaff.statement import TIME, coordinates

COLUMN = {"d": "1/2", "M_L": 15, "I_L": 15, "k1": 50, "c_i": "3/2"}


def unit(angle):
    return sm.Matrix([sm.cos(angle), sm.sin(angle)])


def across(angle):
    return sm.Matrix([-sm.sin(angle), sm.cos(angle)])


def square(vector):
    return vector.dot(vector)


@cache
def column(statement):
    """The column with its row multiplied, an identity in its energy, or a total time derivative added to it."""
    base = pfaff.atlas.column(2)
    theta, _, X = base.coordinates
    factor = {"row times exp(X)": sm.exp(X)}.get(statement, 1)
    kinetic = {
        "T times cos² + sin²": base.kinetic * (sm.cos(X) ** 2 + sm.sin(X) ** 2),
        "T plus a total derivative": base.kinetic + (X * sm.sin(theta)).diff(TIME),
    }.get(statement, base.kinetic)
    return pfaff.System(
        base.coordinates,
        kinetic,
        base.potential,
        dissipation=base.dissipation,
        parameters=base.parameters,
        load=base.load,
        nonholonomic_constraints=[factor * base.nonholonomic_constraints[0]],
    )


def slider(turn=0.0, mixed=0, unit_of=1):
    """A blade that is elastically held across a direction in which it is free, by coordinates turned, mixed, in other
    units."""
    u, w, theta = coordinates("u w theta")
    F = sm.Symbol("F", nonnegative=True)
    x, y = (u * sm.cos(turn) - w * sm.sin(turn), u * sm.sin(turn) + w * sm.cos(turn)) if turn else (u, w + mixed * u)
    x, y = unit_of * x, unit_of * y
    X, Y, omega = x.diff(TIME), y.diff(TIME), theta.diff(TIME)
    push, torque = F * theta - x**3 / 2, -F * x - theta**3 / 3 + theta**2 / 3
    return pfaff.System(
        [u, w, theta],
        sm.expand((X**2 + Y**2) / 2 + omega**2 / 3 + omega * (Y * sm.cos(theta) - X * sm.sin(theta)) / 2),
        sm.expand(x**2 + 3 * theta**2 / 2 + x * theta / 4),
        dissipation=sm.expand(X**2 / 5 + omega**2 / 6 + Y**2 / 9),
        forces={q: push * sm.diff(x, q) + torque * sm.diff(theta, q) for q in (u, w, theta)},
        nonholonomic_constraints=[Y * sm.cos(theta) - X * sm.sin(theta) + omega / 3],
        parameters={F: 0},
        load=F,
    )


@cache
def robot(absolute):
    """Two bars on a plane, a wheel under the first, drag, and a joint that feeds itself: any place and heading."""
    x, y, a, b = q = coordinates("x y a b")
    mu = sm.Symbol("mu", real=True)
    second = b if absolute else a + b
    joint = second - a
    rate = joint.diff(TIME)
    P = sm.Matrix([x, y])
    Q = P + unit(a) + unit(second) / 2
    torque = mu * rate - rate**3 / 5
    return pfaff.System(
        list(q),
        square(P.diff(TIME)) / 2 + square(Q.diff(TIME)) / 4 + a.diff(TIME) ** 2 / 6 + second.diff(TIME) ** 2 / 10,
        6 * (joint - sm.Rational(1, 5)) ** 2,
        dissipation=square(P.diff(TIME)) / 10 + square(Q.diff(TIME)) / 7,
        forces={b: torque, a: -torque} if absolute else {b: torque},
        nonholonomic_constraints=[P.diff(TIME).dot(across(a))],
        parameters={mu: 0},
        load=mu,
    )


@cache
def snake(absolute):
    """Three bars, wheels under two of them, a torque at the first joint that changes in time."""
    x, y, a, b, c = q = coordinates("x y a b c")
    omega, size = sm.symbols("Omega A", positive=True)
    beta, gamma = (b, c) if absolute else (a + b, a + b + c)
    P = sm.Matrix([x, y])
    centres = [P + unit(a) / 2, P + unit(a) + unit(beta) / 2, P + unit(a) + unit(beta) + unit(gamma) / 2]
    first, second = beta - a, gamma - beta
    torque = size * sm.cos(omega * TIME)
    return pfaff.System(
        list(q),
        sum(square(C.diff(TIME)) / 2 for C in centres) + sum(s.diff(TIME) ** 2 / 24 for s in (a, beta, gamma)),
        (3 * first**2 + 5 * (second - sm.Rational(1, 10)) ** 2) / 2,
        dissipation=(first.diff(TIME) ** 2 + second.diff(TIME) ** 2) / 6 + square(centres[1].diff(TIME)) / 8,
        forces={a: -torque, b: torque} if absolute else {b: torque},
        nonholonomic_constraints=[centres[0].diff(TIME).dot(across(a)), centres[2].diff(TIME).dot(across(gamma))],
        parameters={omega: 2, size: sm.Rational(2, 5)},
    )


def drive():
    """Two driven wheels with their angles on one axle, whose integral θ_R − θ_L is a multiple of the heading."""
    x, y, psi, left, right = q = coordinates("x y psi theta_L theta_R")
    m, J, R, b = sm.symbols("m J R b", positive=True)
    P = sm.Matrix([x, y])
    spin = [sm.Matrix([sm.sin(psi) * w.diff(TIME), -sm.cos(psi) * w.diff(TIME)]) for w in (left, right)]  # unsimplified
    rolls = [
        (P + k * b * across(psi)).diff(TIME).dot(unit(psi)) - R * w.diff(TIME) for k, w in ((1, left), (-1, right))
    ]
    return pfaff.System(
        list(q),
        m * square(P.diff(TIME)) / 2 + J * psi.diff(TIME) ** 2 / 2 + J * (square(spin[0]) + square(spin[1])) / 20,
        nonholonomic_constraints=[*rolls, P.diff(TIME).dot(across(psi))],
        parameters={m: 1, J: 1, R: 0.2, b: 0.3},
    )


@cache
def cart(rolls):
    """A pendulum that feeds itself on a cart that walks; with the angle of a wheel that rolls without slip."""
    X, phi, theta = coordinates("X phi theta")
    R, F = sm.symbols("R F", nonnegative=True)
    walk, swing = X.diff(TIME), theta.diff(TIME)
    spin = phi.diff(TIME) if rolls else walk / R
    return pfaff.System(
        [X, phi, theta] if rolls else [X, theta],
        walk**2 / 2 + spin**2 / 20 + swing**2 / 2 + walk * swing * sm.cos(theta) / 2,
        3 * (1 - sm.cos(theta)),
        dissipation=walk**2 / 10,
        forces={theta: F * swing - swing**3 + sm.sin(theta) ** 2 / 5 + walk * swing, X: sm.sin(theta) ** 2},
        holonomic_constraints=[X - R * phi] if rolls else [],
        parameters={F: 0, R: 0.5},
        load=F,
    )


def found(system):
    """The generators in words, sorted."""
    return sorted(each.described(system.coordinate_names) for each in symmetries(system).generators)


# Finding


@pytest.mark.parametrize(
    "statement", ["as it is", "row times exp(X)", "T times cos² + sin²", "T plus a total derivative"]
)
def test_a_translation_is_found_however_the_column_is_written(statement):
    assert found(column(statement)) == ["translation of X"]


def test_directions_are_found_in_turned_mixed_and_scaled_coordinates():
    for words, direction in (
        ({}, [0, 1]),
        ({"turn": sm.Rational(3, 10)}, [np.tan(0.3), 1]),
        ({"turn": 2.0}, [1, 1 / np.tan(2.0)]),
        ({"mixed": sm.Rational(1, 2)}, [0, 1]),
        ({"turn": sm.Rational(3, 10), "unit_of": 10**6}, [np.tan(0.3), 1]),
        ({"turn": sm.Rational(3, 10), "unit_of": sm.Rational(1, 10**6)}, [np.tan(0.3), 1]),
    ):
        (generator,) = symmetries(slider(**words)).generators
        assert generator.translates
        size = direction[1] / generator.c[1]
        assert size * generator.c == pytest.approx([*direction, 0], rel=1e-12, abs=1e-20)


def test_headings_turn_what_they_turn():
    heading = "rotation of x, y with a"
    assert found(robot(False)) == [heading, "translation of x", "translation of y"]
    assert found(robot(True)) == ["rotation of x, y with a, b", "translation of x", "translation of y"]
    assert found(snake(True)) == ["rotation of x, y with a, b, c", "translation of x", "translation of y"]


def test_multiples_of_translations_by_integrals_of_the_rows_are_none():
    wheels = ["translation of theta_L", "translation of theta_R", "translation of x", "translation of y"]
    assert found(drive()) == ["rotation of x, y with psi", *wheels]


def test_what_vanishes_on_the_constraints_is_no_symmetry():
    """A copy z = x of a coordinate on a spring, with mass."""
    x, y, z = coordinates("x y z")
    kinetic = (x.diff(TIME) ** 2 + y.diff(TIME) ** 2 + z.diff(TIME) ** 2) / 2
    copied = pfaff.System([x, y, z], kinetic, sm.cos(x), holonomic_constraints=[z - x])
    assert found(copied) == ["translation of y"]


def test_a_redundant_row_and_a_singular_mass_matrix_are_no_obstacle():
    e = coordinates("e0 e1 e2 e3")
    x, y = coordinates("x y")
    E = sm.Matrix([[-e[1], e[0], -e[3], e[2]], [-e[2], e[3], e[0], -e[1]], [-e[3], -e[2], e[1], e[0]]])
    w = 2 * E * sm.Matrix(e).diff(TIME)
    ball = pfaff.System(
        [x, y, *e],
        (x.diff(TIME) ** 2 + y.diff(TIME) ** 2) / 2 + square(w) / 20,
        y,
        holonomic_constraints=[sum(z**2 for z in e) - 1],
        nonholonomic_constraints=[x.diff(TIME) - w[1] / 2, y.diff(TIME) + w[0] / 2],
    )
    kinds = [each.split()[0] for each in found(ball)]
    assert (kinds.count("translation"), kinds.count("rotation")) == (2, 3)  # the ball may be marked differently
    assert slice_of(ball) is None  # none but the evident one: no coordinate turns with the ball


def test_what_only_looks_symmetric_is_not():
    x, y = coordinates("x y")
    k = sm.Symbol("k", nonnegative=True)
    kinetic = (x.diff(TIME) ** 2 + y.diff(TIME) ** 2) / 2
    assert found(pfaff.atlas.towed_wheel()) == []
    assert found(pfaff.System([x, y], kinetic, x**2 + y**2 / 3 + x * y / 5)) == []  # scaled, it moves alike
    soft = symmetries(pfaff.System([x, y], kinetic, sm.cos(y) + sm.Rational(1, 10**9) * x**2 / 2))
    assert len(soft.generators) == 0
    assert soft.doubtful > 0
    assert "not decided" in soft.told(["x", "y"])[-1]
    spring = pfaff.System([x, y], kinetic, sm.cos(y) + k * x**2 / 2, parameters={k: 0})
    assert found(spring) == []
    assert [g.c.tolist() for g in symmetries(spring, (0.0,)).generators] == [[1, 0]]


FAR = {  # terms that break the translation of x where no usual state is: energy, force along x, factor of the inertia
    "a bump": lambda x, y: (sm.exp(-100 * (x - 20) ** 2), 0, 1),
    "a bump of two coordinates": lambda x, y: (sm.exp(-100 * ((x - 20) ** 2 + (y - 30) ** 2)), 0, 1),
    "a ridge aslant": lambda x, y: (sm.exp(-100 * (x - y - 20) ** 2), 0, 1),
    "a product of two": lambda x, y: (1 / sm.cosh(100 * (x - 20)) / sm.cosh(100 * (y - 20)), 0, 1),
    "a wall": lambda x, y: (sm.exp(100 * (x - 20)), 0, 1),
    "a high power": lambda x, y: ((x / 50) ** 40, 0, 1),
    "a pole": lambda x, y: (1 / (x - 1000) ** 2, 0, 1),
    "a narrow resonance": lambda x, y: (1 / (1 + 10**10 * (x - 1000) ** 2), 0, 1),
    "a lattice": lambda x, y: (sm.exp(-1000 * (1 - sm.cos(x - 3))) / 100, 0, 1),
    "a switch": lambda x, y: (0, sm.tanh(500 * (x - 30)) - 1, 1),
    "a belt": lambda x, y: (0, -sm.tanh(1000 * (x.diff(TIME) - sm.sin(x))), 1),
    "a pulse": lambda x, y: (0, x * sm.exp(-100 * (TIME - 20) ** 2), 1),
    "a heavy place": lambda x, y: (0, 0, 1 + sm.exp(-100 * (x - 20) ** 2)),
}


@pytest.mark.parametrize("term", FAR)
def test_what_is_hidden_from_usual_states_breaks_a_symmetry(term):
    x, y = coordinates("x y")
    energy, force, factor = FAR[term](x, y)
    kinetic = (x.diff(TIME) ** 2 + y.diff(TIME) ** 2) / 2
    assert found(pfaff.System([x, y], factor * kinetic, y**2 / 2 + energy, forces={x: force})) == []


def test_hidden_terms_that_are_alike_keep_a_symmetry():
    """Walls between bodies and about them, each written so that nothing shows what they depend on."""
    x, y, z = coordinates("x y z")
    rates = [q.diff(TIME) for q in (x, y, z)]
    kinetic = sum(v**2 for v in rates) / 2
    apart = sm.expand(100 * (x - y - 20) * (sm.cos(x) ** 2 + sm.sin(x) ** 2))
    pair = pfaff.System([x, y, z], kinetic, sm.exp(-apart) + 1 / (x - y - 50) ** 2 + z**2)
    assert [g.c.tolist() for g in symmetries(pair).generators] == [[1, 1, 0]]
    ring = pfaff.System([x, y, z], kinetic, sm.exp(-30 * (sm.sqrt(x**2 + y**2) - 40) ** 2) + z**2)
    assert found(ring) == ["rotation of x, y"]
    held = pfaff.System(
        [x, y, z], kinetic, y**2 + sm.exp(-50 * (z - sm.sin(x) - 30) ** 2) * z, holonomic_constraints=[z - sm.sin(x)]
    )
    assert found(held) == []


def test_scalings_of_translated_coordinates_are_no_obstacle():
    """T = e^{2x} ẋ²/2 is alike at every x, though its inertia is not."""
    x, y = coordinates("x y")
    system = pfaff.System([x, y], sm.exp(2 * x) * x.diff(TIME) ** 2 / 2 + y.diff(TIME) ** 2 / 2, sm.cos(y))
    assert found(system) == ["translation of x"]


def test_symmetries_may_depend_on_parameters_and_coordinates_through_holonomic_constraints():
    """X − R φ moves both, whatever R; of three coordinates, one of which is a function of another, two are free."""
    (generator,) = symmetries(cart(True)).generators
    assert generator.dependent in ((0,), (1,))
    x, y, z = coordinates("x y z")
    kinetic = sum(q.diff(TIME) ** 2 for q in (x, y, z)) / 2
    bent = pfaff.System([x, y, z], kinetic, z**2, holonomic_constraints=[z - sm.sin(x)])
    assert found(bent) == ["translation of y"]
    twice = pfaff.System([x, y, z], kinetic + z.diff(TIME) * x.diff(TIME), z, holonomic_constraints=[z - x - y])
    assert len(symmetries(twice).generators) == 2


# Use


def test_the_column_has_one_branch_of_cycles_however_it_is_written():
    periods, slopes = [], []
    for statement in ("as it is", "row times exp(X)", "T times cos² + sin²", "T plus a total derivative"):
        hopf = column(statement).at(**COLUMN).hopf()
        assert "supercritical" in hopf.status
        assert hopf.states == ("theta1", "theta2", "theta1_dot", "theta2_dot")
        (orbit,) = hopf.orbits(to=81).at(80)
        periods.append(orbit.period)
        slopes.append(hopf.growth("theta1").slope)
        assert orbit.advance["X"] == pytest.approx(0.0322338190014624, rel=1e-11)
    assert periods == pytest.approx([6.137493164062] * 4, rel=1e-12)
    assert slopes == pytest.approx([slopes[0]] * 4, rel=1e-10)


def test_a_turned_frame_changes_no_cycle():
    plain = slider().at().hopf(to=10)
    (orbit,) = plain.orbits(to=1.75).at(1.72)
    distance = orbit.advance["w"]
    for words in ({"turn": sm.Rational(3, 10)}, {"turn": 2.0}, {"mixed": sm.Rational(1, 2)}):
        hopf = slider(**words).at().hopf(to=10)
        assert (hopf.value, hopf.omega) == pytest.approx((plain.value, plain.omega), rel=1e-12)
        assert hopf.growth("theta").slope == pytest.approx(plain.growth("theta").slope, rel=1e-10)
        (other,) = hopf.orbits(to=1.75).at(1.72)
        assert other.period == pytest.approx(orbit.period, rel=1e-11)
        assert np.abs(other.multipliers[1]) == pytest.approx(np.abs(orbit.multipliers[1]), rel=1e-9)
        length = np.hypot(other.advance.get("u", 0), other.advance["w"])
        assert length == pytest.approx(abs(distance), rel=1e-10)


def test_a_rolling_wheel_may_be_stated_by_a_holonomic_constraint():
    plain, rolling = (cart(rolls).at().hopf(to=1) for rolls in (False, True))
    assert rolling.value == pytest.approx(plain.value, rel=1e-10)
    assert "supercritical" in rolling.status
    assert "NOT verified" not in rolling.status
    assert rolling.growth("theta").slope == pytest.approx(plain.growth("theta").slope, rel=1e-9)
    first, second = (hopf.orbits(to=0.036, points=40).at(0.035)[0] for hopf in (plain, rolling))
    assert second.period == pytest.approx(first.period, rel=1e-11)
    assert second.advance == pytest.approx({"X": first.advance["X"], "phi": first.advance["X"] / 0.5}, rel=1e-9)
    motion = second.case.simulate(
        30 * second.period, **{n: second.orbit[n][0] for n in ("theta", "X_dot", "theta_dot")}
    )
    assert motion.period() == pytest.approx(first.period, rel=1e-6)


@pytest.fixture(scope="module")
def born():
    """Hopf points and cycles of the robot, by relative and by absolute angles."""
    pairs = []
    for absolute in (False, True):
        hopf = robot(absolute).at().hopf(to=5)
        pairs.append((hopf, hopf.orbits(to=0.2, points=40).at(0.15)[0]))
    return pairs


def test_cycles_are_born_at_rest_whatever_the_heading(born):
    (relative, first), (absolute, second) = born
    assert relative.status.split(" (")[0] == absolute.status.split(" (")[0]
    assert "supercritical" in relative.status
    assert absolute.value == pytest.approx(relative.value, rel=1e-10)
    assert second.period == pytest.approx(first.period, rel=1e-11)
    assert first.stable
    assert second.stable
    growths = [hopf.growth("b") for hopf, _ in born]
    assert growths[1].slope == pytest.approx(growths[0].slope, rel=1e-9)
    assert dict(growths[1].speeds) == pytest.approx(dict(growths[0].speeds), rel=1e-8)


def test_a_turning_orbit_advances_by_its_displacement(born):
    for _, orbit in born:
        start = {name: orbit.orbit[name][0] for name in ("b", *orbit.orbit.velocities)}
        motion = orbit.case.simulate(orbit.period, **start)
        moved = {name: motion[name][-1] - motion[name][0] for name in orbit.advance}
        assert orbit.advance == pytest.approx(moved, rel=1e-9, abs=1e-13)
        travelled = orbit.problem.flow.reconstruct(orbit.orbit.t, orbit.orbit.x, orbit.case)
        assert {name: row[-1] - row[0] for name, row in travelled.items()} == pytest.approx(moved, rel=1e-4, abs=1e-9)


def test_mean_speeds_near_birth_are_displacements(born):
    """The heading turns to and fro while the robot moves: what it sees as its velocity is not where it gets."""
    for hopf, _ in born:
        early = hopf.orbits(to=2 * hopf.value, points=3)[0]
        ratio = {name: early.mean_velocity[name] / early.amplitude["b"] ** 2 for name in ("x", "a")}
        assert ratio == pytest.approx({name: hopf.growth("b").speeds[name] for name in ratio}, rel=1e-3)


def test_a_motion_is_periodic_up_to_its_symmetries(born):
    for _, orbit in born:
        start = {name: orbit.orbit[name][0] for name in ("b", "x_dot", "a_dot", "b_dot")}
        motion = orbit.case.simulate(30 * orbit.period, x=3, **start)
        assert motion.period() == pytest.approx(orbit.period, rel=1e-6)
        assert orbit.case.orbit(motion).period == pytest.approx(orbit.period, rel=1e-10)


def test_loops_are_given_in_any_coordinates(born):
    """By the coordinates on the plane, the heading among them, as they are observed; velocities are theirs."""
    for _, orbit in born:
        start = {name: orbit.orbit[name][0] for name in ("b", "x_dot", "a_dot", "b_dot")}
        motion = orbit.case.simulate(orbit.period, x=3, **start, samples=200)
        loop = orbit.case.orbit(t=motion.t, **{name: motion[name] for name in "xyab"})
        assert loop.period == pytest.approx(orbit.period, rel=1e-10)
        given = ("a", "b", "x_dot", "y_dot", "a_dot", "b_dot")
        again = orbit.case.orbit(t=motion.t, **{name: motion[name] for name in given})
        assert again.period == pytest.approx(orbit.period, rel=1e-10)


def test_connections_follow_the_same_symmetries():
    """A driven pendulum that just turns, on a cart whose place nothing but the statement depends on."""
    X, theta = coordinates("X theta")
    tau = sm.Symbol("tau", positive=True)
    swing, drive = theta.diff(TIME), X.diff(TIME)
    found = []
    for factor in (1, sm.cos(X) ** 2 + sm.sin(X) ** 2):
        case = pfaff.System(
            [X, theta],
            factor * (drive**2 + swing**2) / 2,
            -sm.cos(theta),
            dissipation=swing**2 / 20 + drive**2,
            forces={theta: tau, X: swing**2},
            parameters={tau: 0.1273},
            load=tau,
        ).at()
        upper = -np.pi - np.arcsin(0.1273)
        found.append(case.connection(case.simulate(25, theta=upper + 1e-3, theta_dot=1e-3, samples=2001)))
    assert [each.of for each in found] == ["heteroclinic orbit"] * 2
    assert found[0].flow.states == found[1].flow.states
    assert found[1].value == pytest.approx(found[0].value, rel=1e-9)


def test_the_response_of_a_snake_is_the_same_by_relative_and_by_absolute_angles():
    points = [snake(absolute).at().response("Omega", to=2.02)[0] for absolute in (False, True)]
    one, two = (point.orbit for point in points)
    assert two.multipliers[:3] == pytest.approx(one.multipliers[:3], rel=1e-8)
    assert [two.advance[name] for name in "xya"] == pytest.approx([one.advance[name] for name in "xya"], rel=1e-10)
    motion = snake(True).at().simulate(60 * np.pi)
    turned = motion(60 * np.pi)[2] - motion(59 * np.pi)[2]
    assert two.advance["a"] == pytest.approx(turned, rel=1e-6)


def test_steady_motions_rest_however_a_disc_is_written():
    disc = pfaff.atlas.rolling_disc()
    x, _, _, psi = (disc.coordinates[disc.coordinate_names.index(name)] for name in ("x", "y", "theta", "psi"))
    rows = disc.nonholonomic_constraints
    other = pfaff.System(
        disc.coordinates,
        disc.kinetic * (sm.cos(psi) ** 2 + sm.sin(psi) ** 2) + (x * sm.sin(psi)).diff(TIME),
        disc.potential,
        parameters=disc.parameters,
        nonholonomic_constraints=[sm.exp(x) * rows[0] + rows[1], rows[1] - rows[0] * sm.cos(psi)],
    )
    first, second = (system.at().steady(psi_dot=1, theta=0.3) for system in (disc, other))
    assert second["phi_dot"] == pytest.approx(first["phi_dot"], rel=1e-11)
    assert np.sort_complex(second.eigenvalues) == pytest.approx(np.sort_complex(first.eigenvalues), abs=1e-9)


def test_exports_follow_the_same_symmetries():
    states = []
    for statement in ("as it is", "row times exp(X)"):
        module = {}
        exec(column(statement).at(**COLUMN).export("numpy").text, module)
        states.append(module["STATES"])
    assert states[0] == states[1]
