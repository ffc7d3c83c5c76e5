"""Five principles of mechanics: the same accelerations and reactions, and what each shows on the way."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache, cached_property

import numpy as np
import pytest
import sympy as sm
from hypothesis import given, settings
from hypothesis import strategies as st

import pfaff
from pfaff.atlas.andrews_squeezer import START
from pfaff.cli import app
from pfaff.errors import ConvergenceError, RankError, SingularMassError, StatementError
from pfaff.flow.initial import Constraints, on_velocities
from pfaff.principles import PRINCIPLES, DAlembertEquations
from pfaff.principles.comparison import residual
from pfaff.principles.random_states import random_states
from pfaff.principles.sizes import sizes
from pfaff.statement import TIME as t
from pfaff.statement import coordinates

AGREEMENT = 1e-12

m, k, c, L, g, a, w, b, f0 = sm.symbols("m k c L g a w b f0", positive=True)
x, y, z, phi, theta, Q = coordinates("x y z phi theta Q")


@cache
def oscillator() -> pfaff.System:
    """Mazzilli, example 1: energies and the particle are both stated."""
    drive = f0 * sm.cos(w * t)
    return pfaff.System(
        [Q],
        kinetic=m * Q.diff(t) ** 2 / 2,
        potential=k * Q**2 / 2,
        dissipation=c * Q.diff(t) ** 2 / 2,
        forces={Q: drive},
        particles=[pfaff.Particle(m, (Q, 0), (drive - k * Q - c * Q.diff(t), 0))],
        parameters={m: 2, k: 3, c: "1/2", f0: 1, w: 4},
        name="oscillator",
    )


@cache
def pendulum(support: sm.Expr = sm.S.Zero) -> pfaff.System:
    """Mazzilli, examples 3 and 4: a pendulum whose support moves by f(t)."""
    bob = sm.Matrix([L * sm.sin(theta), support - L * sm.cos(theta)])
    return pfaff.System(
        [theta],
        potential=m * g * bob[1],
        particles=[pfaff.Particle(m, bob, (0, -m * g))],
        parameters={m: 1.3, L: 0.7, g: 9.81, a: 0.2, w: 5},
        name="pendulum",
    )


@cache
def cartesian_pendulum() -> pfaff.System:
    return pfaff.System(
        [x, y],
        particles=[pfaff.Particle(m, (x, y), (0, -m * g))],
        holonomic_constraints=[x**2 + y**2 - L**2],
        parameters={m: 1.3, L: 0.7, g: 9.81},
        name="pendulum in x and y",
    )


@cache
def sleigh() -> pfaff.System:
    """Chaplygin's sleigh of three particles, pulled by a spring on one of them and driven on a conveyor."""
    along, across = sm.Matrix([sm.cos(phi), sm.sin(phi)]), sm.Matrix([-sm.sin(phi), sm.cos(phi)])
    blade = sm.Matrix([x, y])
    centre, left, right = blade + a * along, blade + b * across, blade - b * across
    drag = [-c * e.diff(t) for e in left]
    return pfaff.System(
        [x, y, phi],
        particles=[pfaff.Particle(m, centre, -k * centre), pfaff.Particle(m, left, drag), pfaff.Particle(m, right)],
        nonholonomic_constraints=[blade.diff(t).dot(across) - w * sm.cos(t) * y],
        parameters={m: 1, a: 0.4, b: 0.3, k: 2, c: 0.1, w: 0.5},
        name="sleigh of particles",
    )


@cache
def rosenberg() -> pfaff.System:
    return pfaff.System(
        [x, y, z],
        particles=[pfaff.Particle(m, (x, y, z), (0, 0, -m * g))],
        nonholonomic_constraints=[z.diff(t) - y * x.diff(t)],
        parameters={m: 1, g: 9.81},
        name="Rosenberg's particle",
    )


STATED = {f"own {make.__name__}": make for make in (oscillator, cartesian_pendulum, sleigh, rosenberg)}
STATED["own moving support"] = lambda: pendulum(a * sm.sin(w * t))


def system_called(name: str) -> pfaff.System:
    if name not in SYSTEMS:
        SYSTEMS[name] = STATED[name]() if name in STATED else getattr(pfaff.atlas, name)()
    return SYSTEMS[name]


NEAR = {"andrews_squeezer": START}  # what cannot be assembled near the origin
SMALL = [
    "bottema", "column", "chaplygin_sleigh", "knife_edge", "nonholonomic_particle", "ball_on_turntable", "snakeboard",
    "towed_wheel", "slider_crank", "oscillator", "two_bar_frame", "pendulum", "moving_support_pendulum",
    "softening_bar",
]  # fmt: skip
SYSTEMS: dict[str, pfaff.System] = {}
ROUTES: dict[str, list] = {}


def routes(name: str) -> list:
    """All principles that apply, derived once; those that do not must say what they miss."""
    if name not in ROUTES:
        system = system_called(name)
        needing = [] if system.particles else ["dalembert", "newton"]
        for principle in needing:
            with pytest.raises(StatementError, match=r"give particles=\[Particle\(m, \(x, y\), force\)\]"):
                system.equations(principle)
        ROUTES[name] = [system.equations(principle) for principle in PRINCIPLES if principle not in needing]
    return ROUTES[name]


@pytest.mark.parametrize("name", [*STATED, *(name for name in pfaff.atlas.SYSTEMS if name != "rod")])
@settings(max_examples=8)
@given(seed=st.integers(0, 2**32 - 1))
def test_all_principles_give_the_same_accelerations_and_reactions(name, seed):
    at = random_states(system_called(name), 4, seed, NEAR.get(name))
    lagrange, *others = (each.solve(at.q, at.v, at.numbers, at.time) for each in routes(name))
    assert len(others) >= 2
    for found, route in zip(others, routes(name)[1:], strict=True):
        large = sizes(route, at, lagrange)
        for one, other, size in zip(found, lagrange, (large.accelerations, large.reactions), strict=True):
            assert (np.abs(one - other) <= AGREEMENT * size).all()


@pytest.mark.parametrize("name", [*STATED, *SMALL])
def test_the_symbolic_equations_of_every_principle_vanish_on_the_compiled_motion(name):
    """Unknowns and their rates come from the compiled flow; the SymPy equations know nothing of it."""
    system = system_called(name)
    at = random_states(system, 2, seed=5)
    lagrange = routes(name)[0].solve(at.q, at.v, at.numbers, at.time)
    for each in routes(name):
        assert len(each.equations) == len(each.unknowns)
        assert residual(each, at, sizes(each, at, lagrange)) < AGREEMENT, each.name


def test_a_wrong_symbolic_equation_disagrees(monkeypatch):
    """The compiled equations know nothing of the error; it must show all the same."""
    right = DAlembertEquations.motion.func
    monkeypatch.setattr(DAlembertEquations, "motion", property(lambda self: right(self).applyfunc(lambda e: e + m * y)))
    found = rosenberg().compare(states=2)
    assert found["dalembert"].accelerations < AGREEMENT
    assert found["dalembert"].residual > 1e-3
    assert not found.agree
    assert "DIFFER" in found.status


@cache
def free_knife_edge() -> pfaff.System:
    """Nothing pushes it along its blade: Appell's first equation is m u̇ = 0."""
    return pfaff.System(
        [x, y, phi],
        m * (x.diff(t) ** 2 + y.diff(t) ** 2) / 2 + k * phi.diff(t) ** 2 / 2,
        nonholonomic_constraints=[y.diff(t) * sm.cos(phi) - x.diff(t) * sm.sin(phi)],
        parameters={m: 1, k: 1},
    )


@cache
def free_dumbbell() -> pfaff.System:
    """Nothing accelerates; in sums over the particles, their centripetal accelerations cancel."""
    ends = [pfaff.Particle(m, (x + side * L * sm.cos(phi), y + side * L * sm.sin(phi))) for side in (1, -1)]
    kinetic = m * (x.diff(t) ** 2 + y.diff(t) ** 2) + m * L**2 * phi.diff(t) ** 2
    return pfaff.System([x, y, phi], kinetic, particles=ends, parameters={m: 1, L: 1})


@cache
def rolling_wheel() -> pfaff.System:
    """An upright wheel rolls about (theta) and turns (phi), both at constant rates."""
    return pfaff.System(
        [x, y, phi, theta],
        m * (x.diff(t) ** 2 + y.diff(t) ** 2) / 2 + k * phi.diff(t) ** 2 / 2 + c * theta.diff(t) ** 2 / 2,
        nonholonomic_constraints=[
            x.diff(t) - L * theta.diff(t) * sm.cos(phi),
            y.diff(t) - L * theta.diff(t) * sm.sin(phi),
        ],
        parameters={m: 1, k: 1, c: "1/2", L: 1},
    )


@cache
def ball_in_a_cylinder(around: bool) -> pfaff.System:
    """Its axis upright; the contact n either by an angle (phi) or by two coordinates and the wall that they are on."""
    turns = coordinates("theta_x theta_y theta_z")
    spin = sm.Matrix(turns).diff(t)
    normal = sm.Matrix([sm.cos(phi), sm.sin(phi), 0]) if around else sm.Matrix([x, y, 0]) / L
    velocity = (L * normal + sm.Matrix([0, 0, z])).diff(t)
    slip = velocity + a * spin.cross(normal)
    return pfaff.System(
        [phi, z, *turns] if around else [x, y, z, *turns],
        m * velocity.dot(velocity) / 2 + k * m * a**2 * spin.dot(spin) / 2,
        potential=m * g * z,
        nonholonomic_constraints=[sm.expand(slip[1] * normal[0] - slip[0] * normal[1]), slip[2]],
        holonomic_constraints=[] if around else [x**2 + y**2 - L**2],
        parameters={m: 1, a: "1/10", k: "2/5", L: 1, g: 1},
        accept_integrable=True,
    )


UNFORCED = {
    "free knife edge": free_knife_edge,
    "free dumbbell": free_dumbbell,
    "rolling wheel": rolling_wheel,
    "ball in a cylinder": lambda: ball_in_a_cylinder(around=True),
    "ball on a wall": lambda: ball_in_a_cylinder(around=False),
}


def in_other_units(system: pfaff.System, seed: int) -> pfaff.System:
    """Every parameter scaled on its own, by up to five powers of ten up or down."""
    decades = np.random.default_rng(seed).uniform(-5, 5, len(system.parameters))
    values = zip(system.parameters.items(), 10.0**decades, strict=True)
    return replace(system, parameters={p: float(value) * scale for (p, value), scale in values})


@pytest.mark.parametrize("make", UNFORCED.values(), ids=UNFORCED)
def test_principles_agree_where_the_terms_of_an_equation_vanish(make):
    """m u̇ = 0 is solved to rounding, and rounding alone would be all of it."""
    found = make().compare(states=8)
    assert found.agree, found.status
    assert found["appell"].residual < 1e-14


@pytest.mark.parametrize("make", [free_knife_edge, free_dumbbell, rolling_wheel, rosenberg])
@pytest.mark.parametrize("seed", range(2))
def test_principles_agree_in_all_units(make, seed):
    found = in_other_units(make(), seed).compare(states=4)
    assert found.agree, found.status


@pytest.mark.parametrize("name", PRINCIPLES)
@pytest.mark.parametrize("seed", range(2))
def test_a_force_wrong_by_a_millionth_differs_in_all_units(name, seed, monkeypatch):
    """In the symbolic equations of one principle only."""
    kind = PRINCIPLES[name]
    right = kind.equations.func if isinstance(kind.equations, cached_property) else kind.equations.fget
    wrong = {g: g * (1 + sm.Rational(1, 10**6))}
    monkeypatch.setattr(kind, "equations", property(lambda self: right(self).xreplace(wrong)))
    found = in_other_units(rosenberg(), seed).compare(states=4)
    assert {row.principle for row in found.rows if row.worst > AGREEMENT} == {name}
    assert "DIFFER" in found.status


def test_massless_coordinates_that_constraints_hold_are_compared():
    held = pfaff.System([x, y], x.diff(t) ** 2 / 2, x**2 + y, holonomic_constraints=[y - 2 * x])
    found = held.compare(states=4)
    assert found.agree, found.status
    assert {row.principle for row in found.rows} == {"lagrange", "appell", "hamilton"}
    with pytest.raises(StatementError, match="singular without its constraints.*no Hamiltonian"):
        _ = held.equations("hamilton").hamiltonian


def test_massless_coordinates_that_nothing_holds_are_named_by_the_comparison():
    massless = pfaff.System([x, y, z], x.diff(t) ** 2 / 2 + z.diff(t) ** 2, holonomic_constraints=[z - 2 * x])
    with pytest.raises(SingularMassError, match="mostly along y"):
        massless.compare(states=1)


def test_states_that_cannot_be_reached_ask_for_a_configuration():
    apart = pfaff.System([x, y], x.diff(t) ** 2 + y.diff(t) ** 2, holonomic_constraints=[x**2 + y**2 - 1, x - 5])
    with pytest.raises(ConvergenceError, match="near="):
        random_states(apart, 1, seed=0)
    with pytest.raises(pfaff.PfaffError, match="did you mean 'beta'"):
        random_states(system_called("andrews_squeezer"), 1, seed=0, near={"bet": 1})


def test_quasi_velocities_that_are_singular_at_a_state_are_refused():
    """u = xẋ says nothing of ẋ at x = 0."""
    free = pfaff.System([x, y], (x.diff(t) ** 2 + y.diff(t) ** 2) / 2)
    equations = free.equations("appell", quasi_velocities={"u": x * x.diff(t), "v": y.diff(t)})
    assert np.isfinite(equations.solve([1, 0], [1, 1], free.at())[0]).all()
    with pytest.raises(RankError, match="quasi-velocities u, v.*choose others"):
        equations.solve([0, 0], [1, 1], free.at())


def test_an_oscillator_by_every_principle():
    """m Q̈ + c Q̇ + k Q = p(t) (Mazzilli, example 1, boxed)."""
    system = oscillator()
    expected = m * Q.diff(t, 2) + c * Q.diff(t) + k * Q - f0 * sm.cos(w * t)
    assert sm.expand(system.equations("lagrange").motion[0] - expected) == 0
    assert sm.expand(system.equations("dalembert").motion[0] - expected) == 0
    assert sm.expand(system.equations("newton").motion[0] + sm.Function("N1_x")(t) - expected) == 0
    assert sm.expand(system.equations("hamilton").euler_lagrange[0] - expected) == 0
    u = sm.Function("u1")(t)
    assert (
        sm.expand(system.equations("appell").motion[0].xreplace({u: Q.diff(t), u.diff(t): Q.diff(t, 2)}) - expected)
        == 0
    )


def test_a_pendulum_on_a_moving_support_by_every_principle():
    """m L² Q̈ + m L (g + f̈) sin Q = 0 (Mazzilli, example 4)."""
    system = pendulum(a * sm.sin(w * t))
    expected = m * L**2 * theta.diff(t, 2) + m * L * (g - a * w**2 * sm.sin(w * t)) * sm.sin(theta)
    assert sm.simplify(system.equations("lagrange").motion[0] - expected) == 0
    assert sm.simplify(system.equations("dalembert").motion[0] - expected) == 0
    assert sm.simplify(system.equations("hamilton").euler_lagrange[0] - expected) == 0
    u = sm.Function("u1")(t)
    appell = system.equations("appell").motion[0].xreplace({u: theta.diff(t), u.diff(t): theta.diff(t, 2)})
    assert sm.simplify(appell - expected) == 0


def test_the_hamiltonian_of_a_pendulum():
    """H = π²/(2 m L²) − m g L cos θ, with q̇ = ∂H/∂π and π̇ = −∂H/∂θ."""
    equations = pendulum().equations("hamilton")
    (pi,) = equations.momenta
    assert sm.simplify(equations.hamiltonian - (pi**2 / (2 * m * L**2) - m * g * L * sm.cos(theta))) == 0
    expected = sm.Matrix([theta.diff(t) - pi / (m * L**2), pi.diff(t) + m * g * L * sm.sin(theta)])
    assert sm.simplify(equations.canonical - expected) == sm.zeros(2, 1)


def test_newton_gives_the_tension_of_the_thread():
    """N = m (g cos θ + L θ̇²) along the thread, in polar coordinates and in x, y, where N = −Aᵀp."""
    angle, spin = 0.6, 1.7
    tension = 1.3 * (9.81 * np.cos(angle) + 0.7 * spin**2)
    pull = tension * np.array([-np.sin(angle), np.cos(angle)])
    polar = pendulum()
    found = polar.equations("newton").particle_reactions([angle], [spin], polar.at())
    np.testing.assert_allclose(found, pull, rtol=1e-14)
    flat = cartesian_pendulum()
    at = 0.7 * np.array([np.sin(angle), -np.cos(angle)])
    moving = 0.7 * spin * np.array([np.cos(angle), np.sin(angle)])
    newton = flat.equations("newton")
    np.testing.assert_allclose(newton.particle_reactions(at, moving, flat.at()), pull, rtol=1e-13)
    np.testing.assert_allclose(-2 * at * newton.solve(at, moving, flat.at())[1], pull, rtol=1e-13)


def test_chaplygins_sleigh_by_appell(sleigh):
    """m u̇ = m a ω², (I + m a²) ω̇ = −m a u ω (Chaplygin 1911): k = n − l equations, Náprstek and Fischer, Eq. (5)."""
    X, Y, turn = sleigh.coordinates
    mass, inertia, arm = sleigh.parameters
    automatic = sleigh.equations("appell")
    chosen = sleigh.equations(
        "appell", quasi_velocities={"u": X.diff(t) * sm.cos(turn) + Y.diff(t) * sm.sin(turn), "omega": turn.diff(t)}
    )
    for equations in (automatic, chosen):
        u, omega = (sm.Function(name)(t) for name in equations.names)
        expected = [
            mass * (u.diff(t) - arm * omega**2),
            (inertia + mass * arm**2) * omega.diff(t) + mass * arm * u * omega,
        ]
        assert sm.simplify(equations.motion - sm.Matrix(expected)) == sm.zeros(2, 1)
        assert sm.simplify(equations.basis - sm.Matrix([[sm.cos(turn), 0], [sm.sin(turn), 0], [0, 1]])) == sm.zeros(
            3, 2
        )
    at = random_states(sleigh, 8, seed=2)
    for one, other in zip(*(e.solve(at.q, at.v, at.numbers) for e in (automatic, chosen)), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-14)


def test_quasi_velocities_with_a_conveyor_agree_with_the_automatic_ones():
    """u = W q̇ + w with w and b both different from zero, against the multiplier form."""
    system = system_called("own sleigh")
    choice = {"u": x.diff(t) + y * phi.diff(t) + sm.sin(t), "spin": phi.diff(t) - t * x}
    at = random_states(system, 8, seed=3)
    lagrange = system.equations("lagrange").solve(at.q, at.v, at.numbers, at.time)
    found = system.equations("appell", quasi_velocities=choice).solve(at.q, at.v, at.numbers, at.time)
    for one, other in zip(found, lagrange, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-11, atol=1e-12)


def test_appell_has_no_singular_position(skate):
    """The skate across the column: cos θ2 = 0, where Ẋ cannot be solved for."""
    case = skate.at(F=3, c_i=0.2, M_X=1)
    q = np.array([0.3, np.pi / 2, 0.1])
    v = on_velocities(Constraints(case), q, np.array([0.4, 1.0, -0.6]), np.ones(3, dtype=bool))
    found, expected = (skate.equations(name).solve(q, v, case) for name in ("appell", "lagrange"))
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12)


@pytest.mark.parametrize("principle", ["appell", "hamilton"])
def test_flows_in_quasi_velocities_and_momenta_follow_the_same_motion(skate, principle):
    """Integrated by SciPy over a large motion, against Taylor's method in coordinates and velocities."""
    from scipy.integrate import solve_ivp

    case = skate.at(F=30, M_L=1, I_L=1, M_X=1, k1=5, c_i=0.1)
    motion = case.simulate(3, samples=2, theta1=0.3, theta2=-0.9, theta1_dot=2)
    values = motion.to_xarray()
    start = [float(values[name][0]) for name in case.system.flow.states]
    equations = skate.equations(principle)
    state = equations.formulation.state(start[:3], start[3:], case)
    run = solve_ivp(lambda time, x: equations.flow.rhs(x, case), (0, 3), state, method="DOP853", rtol=1e-12, atol=1e-12)
    end = [float(values[name][-1]) for name in skate.coordinate_names]
    assert np.abs(np.array(end) - start[:3]).max() > 0.5
    np.testing.assert_allclose(run.y[:3, -1], end, atol=1e-9)
    np.testing.assert_allclose(equations.flow.velocities(run.y[:, -1], case), [
        float(values[f"{name}_dot"][-1]) for name in skate.coordinate_names], atol=1e-9)  # fmt: skip


def test_every_step_of_a_derivation_is_shown():
    system = system_called("own sleigh")
    expected = {
        "lagrange": ["Derivatives", "Constraints", "Equations of motion"],
        "appell": ["Velocities that the constraints allow", "Gibbs function", "Generalised forces", "Reactions"],
        "hamilton": ["Hamilton's principle", "Variations", "Integration by parts", "Momenta"],
        "dalembert": ["Positions", "Active forces", "Virtual displacements", "D'Alembert's principle"],
        "newton": ["Newton's second law", "Ideal reactions", "Constraints"],
    }
    for principle, titles in expected.items():
        shown = system.equations(principle).steps()
        for title in titles:
            assert any(each.startswith(title) for each, _ in shown), (principle, title)
        assert all(body.count(r"\left") == body.count(r"\right") for _, body in shown)
        assert r"\begin{align*}" in system.equations(principle).latex()


weightless = pfaff.Particle(m, (L * sm.sin(theta), -L * sm.cos(theta)))


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        (
            {"potential": m * g * L * (2 - sm.cos(theta)) + theta**2},
            ["force on theta", "-2*theta(t)", "force of a particle"],
        ),
        ({"forces": {theta: c}}, ["force on theta", "not accounted for"]),
        ({"dissipation": c * theta.diff(t) ** 2 / 2}, ["force on theta", "virtual work"]),
        (
            {"kinetic": m * L**2 * theta.diff(t) ** 2},
            ["theta_dot**2", "L**2*m/2 is not accounted for", "particle"],
        ),
        ({"kinetic": m * L**2 * theta.diff(t) ** 2 / 2 + sm.cos(theta)}, ["lower degree", "push theta"]),
    ],
)
def test_two_descriptions_that_differ_are_refused(changes, words):
    """Neither is silently preferred: the forces of the particles would be lost."""
    system = pendulum()
    with pytest.raises(StatementError) as caught:
        replace(system, **{"parameters": {**system.parameters, c: 1}, **changes})
    for word in words:
        assert word in str(caught.value)


def test_particles_without_forces_describe_the_inertia_only():
    """Lagrange, Appell and Hamilton have the forces from the potential; Newton and d'Alembert say what is missing."""
    system = replace(pendulum(), kinetic=None, potential=-m * g * L * sm.cos(theta), particles=[weightless])
    for principle in ("lagrange", "appell", "hamilton"):
        accelerations, _ = system.equations(principle).solve([0.5], [0.2], system.at())
        assert accelerations[0] == pytest.approx(-9.81 * np.sin(0.5) / 0.7, rel=1e-13)
    for principle in ("newton", "dalembert"):
        with pytest.raises(StatementError, match=r"virtual work of 0.*force of a particle"):
            system.equations(principle)


def test_descriptions_that_differ_are_named_in_any_units():
    """A particle of 3·10⁻¹³ is not one of 10⁻¹²."""
    with pytest.raises(StatementError, match=r"x_dot\*\*2"):
        pfaff.System([x], 5e-13 * x.diff(t) ** 2, particles=[pfaff.Particle(3e-13, (x, 0))])
    with pytest.raises(StatementError, match="force on x"):
        pfaff.System([x], potential=5e-14 * x**2, particles=[pfaff.Particle(1, (x, 0), (-2e-13 * x, 0))])


def test_a_total_time_derivative_in_the_kinetic_energy_is_no_difference():
    gauge = (sm.sin(theta) * t).diff(t)
    system = replace(pendulum(), kinetic=m * L**2 * theta.diff(t) ** 2 / 2 + gauge)
    assert system.equations("newton")


@pytest.mark.parametrize(
    ("choice", "words"),
    [
        ({"u": x.diff(t)}, ["1 quasi-velocities", "give 2"]),
        ({"u": x.diff(t) ** 2, "v": phi.diff(t)}, ["quasi-velocity u", "not linear"]),
        ({"x": x.diff(t), "v": phi.diff(t)}, ["'x'", "name of its own"]),
        ({"u": sm.Symbol("n") * x.diff(t), "v": phi.diff(t)}, ["quasi-velocity u", "symbol n"]),
        ({"u": phi.diff(t), "v": 2 * phi.diff(t)}, ["u, v", "depend"]),
        ({"u": phi.diff(t), "v": y.diff(t) * sm.cos(phi) - x.diff(t) * sm.sin(phi)}, ["u, v", "constraints"]),
    ],
)
def test_bad_quasi_velocities_name_culprit_and_remedy(choice, words):
    with pytest.raises(StatementError) as caught:
        system_called("own sleigh").equations("appell", quasi_velocities=choice)
    for word in words:
        assert word in str(caught.value)


def test_misplaced_choices_and_unknown_principles_are_refused():
    with pytest.raises(StatementError, match="did you mean 'appell'"):
        pendulum().equations("apell")
    with pytest.raises(StatementError, match="leave them out"):
        pendulum().equations("newton", quasi_velocities={"u": theta.diff(t)})
    renamed = pfaff.System([x, sm.Function("pi_x")(t)], x.diff(t) ** 2 + sm.Function("pi_x")(t).diff(t) ** 2)
    with pytest.raises(StatementError, match="name of a momentum"):
        renamed.equations("hamilton")
    assert renamed.equations("appell").names == ("u1", "u2")


def test_a_system_without_freedom_moves_as_it_must():
    """x = t², y = sin t: no quasi-velocity is left, and Appell's equations are the kinematics alone."""
    system = pfaff.System(
        [x, y],
        particles=[pfaff.Particle(m, (x, y), (0, -m * g))],
        holonomic_constraints=[x - t**2, y - sm.sin(t)],
        parameters={m: 2, g: 9.81},
    )
    for principle in PRINCIPLES:
        accelerations, p = system.equations(principle).solve([0.25, np.sin(0.5)], [1, np.cos(0.5)], system.at(), 0.5)
        np.testing.assert_allclose(accelerations, [2, -np.sin(0.5)], rtol=1e-14)
        np.testing.assert_allclose(p, [-4, 2 * np.sin(0.5) - 2 * 9.81], rtol=1e-14)


def test_comparison_tabulates_sizes_and_agreement():
    """Náprstek and Fischer: n + l equations by Lagrange, k = n − l dynamical ones by Appell."""
    found = system_called("own sleigh").compare(states=6, seed=1)
    assert [row.principle for row in found.rows] == list(PRINCIPLES)
    assert (found["lagrange"].equations, found["appell"].dynamical, found["newton"].unknowns) == (4, 2, 10)
    assert found.agree
    assert 0 < found.worst < AGREEMENT
    assert "5 principles agree" in found.status
    assert found["appell"].states == 5
    assert all(row.evaluation > 0 and row.operations > 0 for row in found.rows)
    table = found.to_xarray()
    assert int(table.steps.sel(principle="hamilton")) == found["hamilton"].steps
    assert "Δ reactions" in str(found)
    assert 0 < max(row.residual for row in found.rows) < AGREEMENT
    assert len(found.plot().axes) == 3
    with pytest.raises(pfaff.PfaffError, match="whole number"):
        system_called("own sleigh").compare(states=0)


def test_principles_on_the_shell():
    from click.testing import CliRunner

    shown = CliRunner().invoke(app, ["show", "bottema", "--principle", "appell"])
    assert "Gibbs function" in shown.output
    assert r"\mathcal{G} &=" in shown.output
    steps = json.loads(CliRunner().invoke(app, ["show", "bottema", "--principle", "hamilton", "--json"]).output)
    assert steps["steps"][1]["title"] == "Hamilton's principle"
    compared = json.loads(CliRunner().invoke(app, ["compare", "bottema", "--states", "4", "--json"]).output)
    assert compared["agree"]
    assert [row["dynamical"] for row in compared["rows"]] == [3, 2, 3]
    assert "needs the positions" in compared["refused"]["newton"]
