"""Systems of one degree of freedom: Mazzilli's five examples against closed forms."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sm
from scipy.integrate import solve_ivp
from scipy.optimize import brentq, minimize_scalar
from scipy.special import ellipk, mathieu_a, mathieu_b

import pfaff
from pfaff.statement import TIME as t

ONE = ("oscillator", "two_bar_frame", "pendulum", "moving_support_pendulum", "softening_bar")
SHAKEN = pfaff.atlas.moving_support_pendulum()
BAR = pfaff.atlas.softening_bar()


@pytest.mark.parametrize("name", ONE)
def test_particles_and_energies_state_the_same_system(name):
    """Newton's forces on the particles give the equation of motion that Lagrange's energies give."""
    stated = pfaff.atlas.SYSTEMS[name]()
    (Q,) = stated.coordinates
    motion = sum(
        (each.mass * place.diff(t, 2) - force) * place.diff(Q)
        for each in stated.particles
        for place, force in zip(each.position, each.force, strict=True)
    )
    difference = sm.expand(motion - stated.equations("lagrange").motion[0])
    assert sm.expand(difference.subs(sm.sin(Q) ** 2, 1 - sm.cos(Q) ** 2)) == 0


@pytest.mark.parametrize("name", ONE)
def test_five_principles_give_one_acceleration(name):
    stated = pfaff.atlas.SYSTEMS[name]()
    case, q, v, time = stated.at(), [0.7], [-0.4], 1.3
    expected, _ = stated.equations("lagrange").solve(q, v, case, time)
    for principle in ("appell", "hamilton", "dalembert", "newton"):
        found, _ = stated.equations(principle).solve(q, v, case, time)
        assert found == pytest.approx(expected, rel=1e-13), principle


def equation(name: str) -> sm.Expr:
    return sm.expand(pfaff.atlas.SYSTEMS[name]().equations("lagrange").motion[0])


def symbols(name: str) -> dict[str, sm.Symbol]:
    return {symbol.name: symbol for symbol in pfaff.atlas.SYSTEMS[name]().parameters}


@pytest.mark.parametrize("Omega", [0.4, 1.0, 2.3])
def test_the_driven_oscillator_has_its_receptance(Omega):
    case = pfaff.atlas.oscillator().at(m=2, c=0.3, k=3, p0=0.7, Omega=Omega)
    response = 0.7 / (3 - 2 * Omega**2 + 0.3j * Omega)
    motion = case.simulate(40, Q=response.real, Q_dot=(1j * Omega * response).real)
    np.testing.assert_allclose(motion["Q"], (response * np.exp(1j * Omega * motion.t)).real, atol=1e-12)
    late = case.simulate(400, samples=11)  # the start is forgotten as exp(−ct/2m)
    assert late["Q"][-1] == pytest.approx((response * np.exp(400j * Omega)).real, abs=1e-12)


def test_the_oscillator_decays_at_its_damped_frequency():
    spectrum = pfaff.atlas.oscillator().at(m=2, c=0.3, k=3, p0=0).spectrum()
    np.testing.assert_allclose(np.abs(spectrum.values.imag), np.sqrt(3 / 2 - 0.075**2), rtol=1e-13)
    np.testing.assert_allclose(spectrum.values.real, -0.075, rtol=1e-13)


def test_generalised_quantities_of_the_frame():
    """Example 2: m* Q̈ + c* Q̇ + k* Q = p0* + p*(t)."""
    s = symbols("two_bar_frame")
    motion = equation("two_bar_frame")
    Q = pfaff.atlas.two_bar_frame().coordinates[0]
    assert sm.expand(motion.coeff(Q.diff(t, 2)) - (4 * s["m2"] / 9 + 4 * s["mbar"] * s["a"] / 3)) == 0
    assert sm.expand(motion.coeff(Q.diff(t)) - (s["c1"] / 16 + s["c2"])) == 0
    assert sm.expand(motion.coeff(Q) - (9 * s["k1"] / 16 + s["k2"] / 9)) == 0
    rest = motion.subs({Q: 0}).doit()
    p0 = -(2 * s["mbar"] * s["a"] + 2 * s["m2"] / 3) * s["g"]
    assert sm.expand(rest + p0 + 16 * s["pbar"] * s["a"] * s["zeta"] / 3) == 0


def test_the_frame_follows_a_load_in_time():
    """Under ζ = sin ωt the frame ends up at the amplitude p*/|k* − m*ω² + ic*ω|."""
    case = pfaff.atlas.two_bar_frame().at(g=0)
    motion = case.simulate(200, prescribed={"zeta": sm.sin(t)}, samples=2001)
    stiffness = 9 + 1 - (4 / 3 + 4 / 3) + 0.25j
    expected = (16 / 3 / stiffness * np.exp(1j * motion.t[-200:])).imag
    np.testing.assert_allclose(motion["Q"][-200:], expected, atol=1e-3 * abs(16 / 3 / stiffness))
    assert motion.energy.drift < 1e-12


@pytest.mark.parametrize("amplitude", [0.1, 1.0, 3.0])
def test_the_period_of_the_pendulum(amplitude):
    case = pfaff.atlas.pendulum().at(m=3, L=0.7, g=9.81)
    exact = 4 * np.sqrt(0.7 / 9.81) * ellipk(np.sin(amplitude / 2) ** 2)
    motion = case.simulate(2.2 * exact, Q=amplitude, events={"bottom": pfaff.Event("Q", direction=-1)})
    assert np.diff(motion.events["bottom"].t)[0] == pytest.approx(exact, rel=1e-13)
    assert motion.energy.drift < 1e-13


def monodromy(case: pfaff.Case, about: float = 0.0) -> np.ndarray:
    """Motions so close to a rest in Q that they are its small motions, over one period of the support."""
    period, small = 2 * np.pi / float(case.values["Omega"]), 1e-6
    starts = ({"Q": about + small}, {"Q": about, "Q_dot": small})
    columns = [case.simulate(period, samples=2, **start).y[:, -1] - [about, 0] for start in starts]
    return np.transpose(columns) / small


def mathieu(a: float, q: float) -> np.ndarray:
    """The same from Mathieu's equation in τ over π, with derivatives by τ."""
    ends = [
        solve_ivp(
            lambda tau, y: [y[1], -(a - 2 * q * np.cos(2 * tau)) * y[0]],
            (0, np.pi),
            y,
            "DOP853",
            rtol=1e-12,
            atol=1e-14,
        ).y[:, -1]
        for y in np.eye(2)
    ]
    return np.transpose(ends)


def test_the_shaken_pendulum_is_mathieus_equation():
    case = SHAKEN.at(L=0.5, g=2, Omega=3, f0=0.1)
    through = np.diag([1, 2 / 3])  # d/dt = (Ω/2) d/dτ
    a, q = 4 * 2 / (0.5 * 9), 2 * 0.1 / 0.5
    np.testing.assert_allclose(through @ monodromy(case) @ np.linalg.inv(through), mathieu(a, q), atol=1e-9)
    assert np.linalg.det(monodromy(case)) == pytest.approx(1, abs=1e-9)


@pytest.mark.parametrize(("tongue", "trace"), [(1, -2), (2, 2)])
@pytest.mark.parametrize("f0", [0.05, 0.15])
def test_instability_tongues_of_the_shaken_pendulum(tongue, trace, f0):
    """Between Ω where 4g/(LΩ²) = b_n(q) and = a_n(q) the multipliers are real: the pendulum is set swinging."""
    edges = [np.sqrt(4 / characteristic(tongue, 2 * f0)) for characteristic in (mathieu_b, mathieu_a)]

    def excess(Omega: float) -> float:
        return float(np.trace(monodromy(SHAKEN.at(f0=f0, Omega=Omega))) - trace)

    middle = np.mean(edges)
    width = abs(edges[0] - edges[1])
    found = [brentq(excess, edge - width / 3, edge + width / 3, xtol=1e-12) for edge in edges]
    np.testing.assert_allclose(found, edges, atol=1e-7)
    multipliers = np.linalg.eigvals(monodromy(SHAKEN.at(f0=f0, Omega=middle)))
    assert np.abs(multipliers).max() > 1.001
    outside = np.linalg.eigvals(monodromy(SHAKEN.at(f0=f0, Omega=max(edges) + width)))
    np.testing.assert_allclose(np.abs(outside), 1, atol=1e-9)


def test_a_fast_support_holds_the_pendulum_upside_down():
    """Stephenson (1908): at −4g/(LΩ²) = a_0(q); for a small f0/L, f0Ω = √(2gL)."""
    f0 = 0.1
    least = np.sqrt(-4 / mathieu_a(0, 2 * f0))
    assert least == pytest.approx(np.sqrt(2) / f0, rel=0.02)
    for Omega, stands in ((0.99 * least, False), (1.01 * least, True)):
        largest = np.abs(np.linalg.eigvals(monodromy(SHAKEN.at(f0=f0, Omega=Omega), np.pi))).max()
        assert (largest < 1 + 1e-7) == stands


@pytest.mark.parametrize("f0", [0.3, 0.5, 0.6])
def test_the_pendulum_stands_upside_down_between_two_edges(f0):
    """a_0(q) < −4g/(LΩ²) < b_1(q), where b_1 is an edge only if it is negative: from q = 2f0/L = 0.908 on."""
    q = 2 * f0
    low, high = mathieu_a(0, q), mathieu_b(1, q)
    assert (high < 0) == (q > 0.9081)
    probes = [(1.02 * low, False), (0.98 * low, True)]
    probes += [(1.02 * high, True), (0.98 * high, False)] if high < 0 else [(0.001 * low, True)]
    for value, stands in probes:
        case = SHAKEN.at(f0=f0, Omega=np.sqrt(-4 / value))
        assert (np.abs(np.linalg.eigvals(monodromy(case, np.pi))).max() < 1 + 1e-6) == stands


def static_limit(epsilon: float) -> float:
    """The largest (mg + P)L/K on the path (Q − ε)[1 − (Q − ε)²]/sin Q that starts from rest."""
    found = minimize_scalar(
        lambda Q: -(Q - epsilon) * (1 - (Q - epsilon) ** 2) / np.sin(Q),
        bounds=(epsilon, epsilon + 2 * epsilon ** (1 / 3)),
        method="bounded",
        options={"xatol": 1e-10},
    )
    return float(-found.fun)


def sudden_limit(epsilon: float) -> float:
    """The largest load that a bar without weight, released at ε, bears: it just reaches a hilltop of its energy."""
    found = minimize_scalar(
        lambda Q: -((Q - epsilon) ** 2 / 2 - (Q - epsilon) ** 4 / 4) / (np.cos(epsilon) - np.cos(Q)),
        bounds=(1.01 * epsilon, epsilon + 3 * epsilon ** (1 / 3)),
        method="bounded",
        options={"xatol": 1e-10},
    )
    return float(-found.fun)


def test_the_perfect_bar_buckles_at_its_closed_form():
    found = BAR.at(epsilon=0)
    assert found.buckling(exact=True).value == sm.Rational(4, 5)
    branch = found.branch(to=1)
    assert branch.special[0].kind == "branch point"
    assert branch.special[0].value == pytest.approx(0.8, abs=1e-12)
    there, back = (branch.special[0].switch(to=0.5, way=way) for way in (1, -1))
    assert there[-1]["Q"] == pytest.approx(-back[-1]["Q"], rel=1e-10)
    for point in there[1:]:
        assert point.value + 0.2 == pytest.approx(point["Q"] * (1 - point["Q"] ** 2) / np.sin(point["Q"]), abs=1e-10)
        assert not point.stable


@pytest.mark.parametrize("epsilon", [0.1, 0.01, 1e-3])
def test_the_limit_load_of_the_imperfect_bar(epsilon):
    branch = BAR.at(epsilon=epsilon).branch(to=1, points=150)
    fold = branch.special[0]
    assert fold.kind == "fold"
    assert "nothing damps it" in fold.status
    assert fold.value == pytest.approx(static_limit(epsilon) - 0.2, abs=1e-11)
    theta, load = fold["Q"] - epsilon, fold.value + 0.2
    assert abs(fold.coefficient) == pytest.approx(abs(3 * theta - load * np.sin(fold["Q"]) / 2), rel=1e-9)
    assert branch[0].stable


def test_buckling_of_the_imperfect_bar_is_its_limit_load():
    assert BAR.at(epsilon=0.01).buckling().value == pytest.approx(static_limit(0.01) - 0.2, abs=1e-11)


def test_koiters_two_thirds_power():
    """1 − λ = (45/8)^⅓ ε^⅔ to leading order; the next term is of the order ε^(4/3)."""
    folds = {e: BAR.at(epsilon=e).branch(to=1).special[0].value + 0.2 for e in (1e-6, 1e-5, 1e-4)}
    constants = [(1 - load) / e ** (2 / 3) for e, load in folds.items()]
    assert constants[0] == pytest.approx((45 / 8) ** (1 / 3), rel=2e-4)
    errors = np.abs(np.array(constants) / (45 / 8) ** (1 / 3) - 1)
    np.testing.assert_allclose(errors[1:] / errors[:-1], 10 ** (2 / 3), rtol=0.05)


def test_the_limit_loads_meet_in_the_cusp_of_the_perfect_bar():
    """Where Q̈ = (1 − λ/6)Q³ without imperfection, λ = 1: nothing damps the bar."""
    curve = BAR.at(epsilon="1/100").branch(to=1, points=150).special[0].curve("epsilon", to=-0.01)
    (cusp,) = curve.special
    assert cusp.kind == "cusp"
    assert (cusp["P"], cusp["epsilon"]) == pytest.approx((0.8, 0), abs=1e-12)
    assert cusp.coefficients["c"] == pytest.approx(5 / 6, rel=1e-10)
    assert curve[-1]["P"] == pytest.approx(curve[0]["P"], abs=1e-12)


@pytest.mark.parametrize("epsilon", [0.01, 0.1])
def test_a_sudden_load_buckles_the_bar_earlier(epsilon):
    limit = sudden_limit(epsilon)
    assert limit < static_limit(epsilon)
    for share, stands in ((1 - 1e-6, True), (1 + 1e-6, False)):
        case = BAR.at(epsilon=epsilon, g=0, P=share * limit)
        motion = case.simulate(300, Q=epsilon, events={"over": pfaff.Event("Q - 3/2", stop=True)})
        assert (motion.status == "finished") is stands


def test_a_sudden_load_counts_as_a_larger_imperfection():
    """Budiansky and Hutchinson (1964): (1 − λ_D)/(1 − λ_S) → 2^⅓."""
    ratio = (1 - sudden_limit(1e-6)) / (1 - static_limit(1e-6))
    assert ratio == pytest.approx(2 ** (1 / 3), rel=1e-3)
