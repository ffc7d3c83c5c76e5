"""Lagrange's equations: SymPy's matrices against the compiled graph, and against closed forms."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sm
from hypothesis import given
from hypothesis import strategies as st
from sympy.physics.mechanics import dynamicsymbols

import pfaff
from pfaff.principles.typeset import bold, typeset
from pfaff.statement import TIME, coordinates

t = dynamicsymbols._t


def accelerations_from_sympy(case: pfaff.Case, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Solve the full multiplier system of the symbolic matrices numerically: no elimination, no graph."""
    equations = case.system.equations("lagrange")
    known = {s: float(case.values[s.name]) for s in case.system.parameters}
    known |= dict(zip([x.diff(t) for x in case.system.coordinates], v, strict=True))
    known |= dict(zip(case.system.coordinates, q, strict=True))

    def number(matrix):
        return np.array(matrix.subs(known).evalf(20), dtype=float)

    M, A = number(equations.mass_matrix), number(equations.constraint_matrix)
    right = -np.concatenate([number(equations.forcing), number(equations.constraint_forcing)]).ravel()
    solved = np.linalg.solve(np.block([[M, A.T], [A, np.zeros((len(A), len(A)))]]), right)
    return solved[: len(q)], solved[len(q) :]


@pytest.mark.parametrize("constraint", ["skate", "bow"])
@pytest.mark.parametrize("load", ["dead", "spring"])
def test_graph_and_sympy_agree_on_the_column(constraint, load):
    generator = np.random.default_rng(7)
    system = pfaff.atlas.column(3, constraint, load)
    for _ in range(3):
        case = system.at(M_L=1.3, I_L=0.4, k1=3, M_X=0.7, beta0=0.2, c_i=0.1, c_e=0.2, c_t=0.3, c_r=0.4)
        q, v = generator.normal(size=4), generator.normal(size=4)
        expected, reaction = accelerations_from_sympy(case, q, v)
        state = np.concatenate([q, v])
        np.testing.assert_allclose(system.flow.rhs(state, case)[4:], expected, rtol=1e-11, atol=1e-11)
        np.testing.assert_allclose(system.flow.reactions(state, case), reaction, rtol=1e-11, atol=1e-11)


def test_the_skate_turned_by_ninety_degrees_is_an_ordinary_state(skate):
    """cos θ_N = 0: the coefficient of Ẋ in the constraint vanishes, the equations do not mind."""
    case = skate.at(F=3, c_i=0.2)
    q = np.array([0.3, np.pi / 2, 0.1])
    row = np.array([np.sin(q[1] - q[0]) / 2, 0.0, np.cos(q[1])])
    v = np.array([0.4, 1.0, -0.6])
    v -= row * (row @ v) / (row @ row)
    expected, _ = accelerations_from_sympy(case, q, v)
    np.testing.assert_allclose(skate.flow.rhs(np.concatenate([q, v]), case)[3:], expected, rtol=1e-10)


def test_moving_support():
    """Pendulum on a support y = f(t): L θ̈ + (g + f̈) sin θ = 0 (Mazzilli, example 4)."""
    (theta,) = [dynamicsymbols("theta")]
    m, L, g, a, w = sm.symbols("m L g a w", positive=True)
    f = a * sm.sin(w * t)
    r = sm.Matrix([L * sm.sin(theta), f - L * sm.cos(theta)])
    system = pfaff.System(
        [theta], m * r.diff(t).dot(r.diff(t)) / 2, m * g * r[1], parameters={m: 1.3, L: 0.7, g: 9.81, a: 0.2, w: 5}
    )
    for time in (0.0, 0.3, 1.7):
        acceleration = system.flow.rhs([0.4, 1.1], system.at(), time)[1]
        assert acceleration == pytest.approx(-(9.81 - 0.2 * 25 * np.sin(5 * time)) / 0.7 * np.sin(0.4), rel=1e-13)


def test_rheonomic_holonomic_constraint():
    """A bead in a plane on a circle whose radius R(t) is prescribed: r² − R² = 0, differentiated for us."""
    x, y = dynamicsymbols("x y")
    m = sm.Symbol("m", positive=True)
    R = 1 + t / 10
    system = pfaff.System(
        [x, y],
        m * (x.diff(t) ** 2 + y.diff(t) ** 2) / 2,
        holonomic_constraints=[x**2 + y**2 - R**2],
        parameters={m: 2},
    )
    time, spin = 0.5, 0.8
    radius = 1 + time / 10
    state = [radius, 0, 0.1, radius * spin]
    # In polar coordinates: r̈ − r φ̇² = 0 along r since R̈ = 0, and r φ̈ + 2 ṙ φ̇ = 0.
    np.testing.assert_allclose(system.flow.rhs(state, system.at(), time)[2:], [-radius * spin**2, 0.0], atol=1e-13)


def test_nonholonomic_particle():
    """ż = y ẋ (Rosenberg): the accelerations ẍ = −y ẋ ẏ/(1 + y²), ÿ = 0."""
    x, y, z = dynamicsymbols("x y z")
    m = sm.Symbol("m", positive=True)
    system = pfaff.System(
        [x, y, z],
        m * (x.diff(t) ** 2 + y.diff(t) ** 2 + z.diff(t) ** 2) / 2,
        nonholonomic_constraints=[z.diff(t) - y * x.diff(t)],
        parameters={m: 1},
    )
    y0, u, w = 0.7, 1.2, -0.5
    rates = system.flow.rhs([0, y0, 0, u, w, y0 * u], system.at())
    np.testing.assert_allclose(rates[3:5], [-y0 * u * w / (1 + y0**2), 0.0], atol=1e-14)


def test_velocity_term_in_the_constraint():
    """A conveyor: ẏ cos φ − ẋ sin φ = V on a sleigh moves it sideways at V without force when it does not turn."""
    x, y, phi = dynamicsymbols("x y phi")
    m, V = sm.symbols("m V", positive=True)
    system = pfaff.System(
        [x, y, phi],
        m * (x.diff(t) ** 2 + y.diff(t) ** 2 + phi.diff(t) ** 2) / 2,
        nonholonomic_constraints=[y.diff(t) * sm.cos(phi) - x.diff(t) * sm.sin(phi) - V],
        parameters={m: 1, V: 0.3},
    )
    state = [0, 0, 0.4, -0.3 * np.sin(0.4), 0.3 * np.cos(0.4), 0]
    np.testing.assert_allclose(system.flow.rhs(state, system.at())[3:], 0, atol=1e-15)
    np.testing.assert_allclose(system.flow.reactions(state, system.at()), 0, atol=1e-15)


@given(st.lists(st.floats(-2, 2), min_size=6, max_size=6))
def test_the_constraint_does_no_work_and_power_balances(values):
    """dE/dt = −2 D for the scleronomic column; the reaction never works (Sec. 2 of Cazzolli et al. 2020)."""
    system = pfaff.atlas.column(2, "bow", "dead")
    case = system.at(M_L=2, I_L=0.5, k1=3, M_X=1, beta0=0.3, c_i=0.4, c_e=0.3, c_t=0.2, c_r=0.1, F=2)
    shape = system.shape
    x = np.array(values[:4])
    velocity = shape.velocities(x, case)
    energy = _energy(system, case)
    full = np.concatenate([x[:2], [0.7], velocity])
    rates = system.flow.rhs(full, case)
    h = 1e-6
    power = (energy(full + h * rates)[0] - energy(full - h * rates)[0]) / (2 * h)
    assert power == pytest.approx(-2 * energy(full)[1], rel=1e-5, abs=1e-5)


def _energy(system, case):
    s = system.statement
    known = {symbol: float(case.values[symbol.name]) for symbol in system.parameters}
    expressions = [(s.kinetic + s.potential).subs(known), s.dissipation.subs(known)]
    function = sm.lambdify([(*s.q, *s.v)], expressions, "math")
    return lambda state: function(list(state))


def test_latex_shows_every_equation(skate):
    text = skate.equations("lagrange").latex()
    assert text.count("&= 0") == 4
    assert r"\ddot" in text or r"\frac{d^{2}}" in text


def test_reaction_forces_have_the_stated_sign(skate):
    """M q̈ + h + Aᵀp = 0: the force of the constraint on the system is −Aᵀp."""
    equations = skate.equations("lagrange")
    rest = equations.motion - equations.mass_matrix * equations.accelerations - equations.forcing
    assert sm.simplify(rest + equations.reaction_forces) == sm.zeros(3, 1)
    case = skate.at(F=5)
    assert case.equilibrium()["p"] == pytest.approx(5)  # positive in compression


def test_names_of_several_letters_stand_upright_and_matrices_bold():
    """Italic letters side by side are a product; a matrix M is not a mass M."""
    th, cy, theta1, th_1 = coordinates("th cy theta1 th_1")
    mc, k1, M = sm.symbols("mc k1 M", positive=True)
    assert typeset(mc * th.diff(TIME, 2)) == r"\mathrm{mc} \ddot{\mathrm{th}}"
    assert typeset(th_1.diff(TIME)) == r"\dot{\mathrm{th}}_{1}"
    assert typeset(k1 * M * theta1.diff(TIME)) == r"M k_{1} \dot{\theta}_{1}"
    assert typeset(sm.Matrix([cy])) == r"\left[\begin{matrix}\mathrm{cy}\end{matrix}\right]"
    assert bold(r"A^T \dot{B} u + \dot{\beta} + Q^{*}") == (
        r"\mathbf{A}^T \dot{\mathbf{B}} \mathbf{u} + \dot{\beta} + Q^{*}"
    )
