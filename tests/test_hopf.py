"""Hopf points and their normal forms, against published numbers, closed forms, other routes and simulated cycles."""

from __future__ import annotations

from functools import cache
from itertools import permutations

import mpmath
import numpy as np
import pytest
import sympy as sm

import pfaff
from conftest import XI_HAT
from pfaff.errors import ConvergenceError, NoBifurcationError, ParameterError
from pfaff.flow.jets import jets_of
from pfaff.statement import TIME, coordinates

x, y, z, s = sm.symbols("x y z s")
mu = sm.Symbol("mu", real=True)


@pytest.fixture(scope="module")
def skate_point(skate):
    return skate.at(**XI_HAT, c_i="3/2").hopf()


@pytest.fixture(scope="module")
def bow_point(bow):
    return bow.at(**XI_HAT, c_i="3/2").hopf()


@cache
def lorenz(**names):
    rho, sigma, b = sm.symbols("rho sigma b")
    equations = {x: sigma * (y - x), y: x * (rho - z) - y, z: x * y - b * z}
    return pfaff.ode(equations, {sigma: 10, b: "8/3", rho: 14}, load=rho, name="Lorenz")


# The double pendulum of Cazzolli et al. (2020), Sec. 6.1, converged values to the digits known.


def test_the_hopf_point_of_the_paper(skate_point):
    assert skate_point.value == pytest.approx(76.3379703896335, rel=1e-13)
    assert skate_point.omega == pytest.approx(1.01922949893, rel=1e-11)
    expected = [1.01922949893j, -1.01922949893j, -0.625886024468 + 0.653007159491j, -0.625886024468 - 0.653007159491j]
    assert skate_point.eigenvalues == pytest.approx(np.array(expected), abs=1e-11)
    assert skate_point.crossing_speed == pytest.approx(0.0744746679653, rel=1e-11)
    assert skate_point.distance == pytest.approx(0.625886024468, rel=1e-11)
    assert skate_point.simple
    assert skate_point.transversal
    assert skate_point.states == ("theta1", "theta2", "theta1_dot", "theta2_dot")


def test_a_hopf_point_at_zero_load():
    """Van der Pol: ẍ + x = (μ − x²)ẋ has cycles of radius 2√μ."""
    (place,) = coordinates("x")
    system = pfaff.System(
        name="van der Pol",
        coordinates=[place],
        kinetic=place.diff(TIME) ** 2 / 2,
        potential=place**2 / 2,
        forces={place: (mu - place**2) * place.diff(TIME)},
        parameters={mu: 0},
        load="mu",
    )
    for value in (0, 1):
        hopf = system.at(mu=value).hopf()
        assert hopf.value == pytest.approx(0.0, abs=1e-12)
        assert hopf.criticality == "supercritical"
        assert hopf.crossing_speed == pytest.approx(0.5, rel=1e-10)
        assert hopf.orbits(to=1e-4)[-1].amplitude["x"] == pytest.approx(2e-2, rel=1e-4)


def test_first_lyapunov_coefficients_of_the_paper(skate_point, bow_point):
    assert skate_point.l1 == pytest.approx(-2.20853769246, rel=1e-11)
    assert bow_point.l1 == pytest.approx(-0.896083718013, rel=1e-11)
    assert (skate_point.criticality, bow_point.criticality) == ("supercritical", "supercritical")
    assert "stable cycles above" in skate_point.status
    assert skate_point.l1_matcont == pytest.approx(skate_point.omega * skate_point.l1, rel=1e-15)


def test_normalisation_of_the_eigenvectors(skate_point):
    h, A = skate_point, skate_point.expansion.A
    assert np.vdot(h.q, h.q) == pytest.approx(1, abs=1e-15)
    assert np.vdot(h.p, h.q) == pytest.approx(1, abs=1e-14)
    assert np.abs(A @ h.q - 1j * h.omega * h.q).max() < 1e-14
    assert np.abs(A.T @ h.p + 1j * h.omega * h.p).max() < 1e-13 * np.abs(h.p).max()


@pytest.mark.parametrize(("constraint", "beta0"), [("skate", 0), ("bow", 0), ("bow", 0.05)])
def test_two_routes_to_one_coefficient(constraint, beta0):
    """V'''(0) = 3π l1; with a misaligned constraint the equilibrium is bent and quadratic terms take part."""
    h = pfaff.atlas.column(2, constraint).at(**XI_HAT, c_i="3/2", beta0=beta0).hopf()
    assert h.V3 / (3 * np.pi) == pytest.approx(h.l1, rel=1e-11)
    assert h.uncertainty < 1e-11 * abs(h.l1)
    assert (np.abs(h.normal_form.h11).max() > 1e-3) == bool(beta0)


def test_thresholds_of_figure_13(skate):
    case = skate.at(**XI_HAT)
    internal = case.at(c_i=10).hopf().vanishing("c_i", between=(10, 40))
    assert internal.case.values["c_i"] == pytest.approx(22.1140411752, rel=1e-11)
    assert internal.generalised
    assert "generalised Hopf" in internal.criticality
    external = case.at(c_e=300).hopf().vanishing("c_e", between=(300, 700))
    assert external.case.values["c_e"] == pytest.approx(479.584601139, rel=1e-11)
    assert np.sign(case.at(c_i=22.2).hopf().l1) == 1 == -np.sign(case.at(c_i=22.0).hopf().l1)
    with pytest.raises(ParameterError, match="predicts no cycle"):
        internal.amplitude(internal.value + 1)


@pytest.mark.parametrize("constraint", ["skate", "bow"])
def test_predicted_cycles_are_those_of_a_simulation(constraint):
    """Amplitude and period near the point: the errors are of first and of second order in the distance."""
    case = pfaff.atlas.column(2, constraint).at(**XI_HAT, c_i="3/2")
    h = case.hopf()
    errors = []
    for share in (1e-3, 2.5e-4):
        load = h.value * (1 + share)
        start = dict(zip(h.states, h.amplitude(load)["theta1"] * (h.q / abs(h.q[0])).real, strict=True))
        motion = case.at(F=load).simulate(0.5 / share, samples=150_001, **start)
        theta, t = motion["theta1"][-8000:], motion.t[-8000:]
        up = np.nonzero((theta[:-1] < 0) & (theta[1:] >= 0))[0]
        crossings = t[up] - theta[up] * (t[up + 1] - t[up]) / (theta[up + 1] - theta[up])
        period = (crossings[-1] - crossings[0]) / (len(crossings) - 1)
        errors.append((np.ptp(theta) / 2 / h.amplitude(load)["theta1"] - 1, period / h.period(load) - 1))
        assert abs(errors[-1][0]) < 5 * share
        assert abs(errors[-1][1]) < 10 * share**2
        assert abs(h.period(load) * h.omega / (2 * np.pi) - 1) > 10 * abs(errors[-1][1])
    assert abs(errors[1][0]) < 0.5 * abs(errors[0][0])


def test_units_scale_l1_but_not_its_sign_nor_the_cycles(skate, skate_point):
    """Time in other units: stiffness and load times 9, damping times 3."""
    faster = pfaff.System(
        skate.coordinates,
        skate.kinetic,
        potential=9 * skate.potential,
        dissipation=3 * skate.dissipation,
        nonholonomic_constraints=skate.nonholonomic_constraints,
        parameters=skate.parameters,
        load="F",
    )
    h = faster.at(**XI_HAT, c_i="3/2").hopf()
    assert h.value == pytest.approx(skate_point.value, rel=1e-12)
    assert h.omega == pytest.approx(3 * skate_point.omega, rel=1e-12)
    assert abs(h.l1 / skate_point.l1 - 1) > 0.1
    assert h.amplitude(77)["theta1"] == pytest.approx(skate_point.amplitude(77)["theta1"], rel=1e-10)
    assert 3 * h.period(77) == pytest.approx(skate_point.period(77), rel=1e-12)


def test_more_bars(skate_point):
    h = pfaff.atlas.column(3).at(**XI_HAT, c_i="3/2").hopf()
    assert h.value == pytest.approx(pfaff.atlas.column(3).at(**XI_HAT, c_i="3/2").flutter().value, rel=1e-11)
    assert h.V3 / (3 * np.pi) == pytest.approx(h.l1, rel=1e-9)


# Textbook systems


def test_adaptive_control():
    """MatCont's example: Hopf at α = 1 with first Lyapunov coefficient −0.3."""
    alpha, beta = sm.symbols("alpha beta")
    control = pfaff.ode({x: y, y: z, z: -alpha * z - beta * y - x + x**2}, {alpha: 2, beta: 1}, load=alpha)
    h = control.at().hopf(to=0.5)
    assert h.value == pytest.approx(1, rel=1e-15)
    assert h.l1_matcont == pytest.approx(-0.3, rel=1e-13)
    assert h.V3 / (3 * np.pi) == pytest.approx(h.l1, rel=1e-13)
    assert not h.born_above


def lorenz_l1(rho: mpmath.mpf) -> mpmath.mpf:
    """l1 of Lorenz' equations by the projection formula, in high precision, on its own."""
    sigma, b = mpmath.mpf(10), mpmath.mpf(8) / 3
    r = mpmath.sqrt(b * (rho - 1))
    A = mpmath.matrix([[-sigma, sigma, 0], [1, -1, -r], [r, r, -b]])
    omega = mpmath.sqrt(b * (sigma + rho))

    def null(M):
        values, vectors = mpmath.eig(M)
        return vectors[:, min(range(3), key=lambda k: abs(values[k]))]

    def inner(a, c):
        return sum(mpmath.conj(a[k]) * c[k] for k in range(3))

    def B(u, v):
        return mpmath.matrix([0, -(u[0] * v[2] + u[2] * v[0]), u[0] * v[1] + u[1] * v[0]])

    one = mpmath.eye(3)
    q, p = null(A - 1j * omega * one), null(A.T + 1j * omega * one)
    q = q / mpmath.sqrt(inner(q, q).real)
    p = p / mpmath.conj(inner(p, q))
    h20 = mpmath.lu_solve(2j * omega * one - A, B(q, q))
    h11 = -mpmath.lu_solve(A, B(q, q.conjugate()))
    return mpmath.re(inner(p, B(q.conjugate(), h20) + 2 * B(q, h11))) / (2 * omega)


def test_lorenz():
    """Hopf at ρ = σ(σ + b + 3)/(σ − b − 1) = 470/19, subcritical (Marsden and McCracken 1976, Sec. 4B)."""
    h = lorenz().at().hopf(to=30, x=6, y=6, z=13)
    assert h.value == pytest.approx(470 / 19, rel=1e-14)
    assert h.omega**2 == pytest.approx(8 / 3 * (10 + 470 / 19), rel=1e-14)
    with mpmath.workdps(40):
        assert h.l1 == pytest.approx(float(lorenz_l1(mpmath.mpf(470) / 19)), rel=1e-12)
    assert h.criticality == "subcritical"
    assert "unstable cycles below" in h.status


def test_coordinate_order_does_not_matter():
    h = lorenz().at().hopf(to=30, x=6, y=6, z=13)
    equations = dict(zip((x, y, z), lorenz().equations.values(), strict=True))
    for order in permutations((x, y, z)):
        turned = pfaff.ode({v: equations[v] for v in order}, lorenz().parameters, load="rho")
        other = turned.at().hopf(to=30, x=6, y=6, z=13)
        assert (other.value, other.l1, other.V3) == pytest.approx((h.value, h.l1, h.V3), rel=1e-11)


@cache
def plp():
    """AUTO's demo plp: an activator and an inhibitor in one compartment (Doedel, Keller and Kernévez 1991)."""
    substrate, activator = sm.symbols("s a")
    s0, a0, alpha, rho, kappa = sm.symbols("s0 a0 alpha rho kappa")
    rate = rho * substrate * activator / (1 + substrate + kappa * substrate**2)
    return pfaff.ode(
        {substrate: s0 - substrate - rate, activator: alpha * (a0 - activator) - rate},
        {s0: 110, a0: 500, alpha: "1/5", rho: 2.021628, kappa: "1/10"},
        load=rho,
    )


def test_auto_plp():
    start = {"s": 45.55974, "a": 177.7987}
    first = plp().at().hopf(to=6, **start)
    second = plp().at().hopf(to=6, near=5, **start)
    assert first.value == pytest.approx(3.49995, abs=5e-6)
    assert second.value == pytest.approx(4.65046, abs=5e-6)
    # Cycles start backwards at the first and forwards at the second, towards folds at 2.75969 and 5.00784.
    assert (first.criticality, first.born_above) == ("subcritical", False)
    assert (second.criticality, second.born_above) == ("subcritical", True)


def test_auto_pp2():
    """The trace vanishes at u1 = 1/p4 where p1 = p2 u1/((1 − e)/u1 − p3 e), e = exp(−p3 u1)."""
    u1, u2 = sm.symbols("u1 u2")
    p1, p2, p3, p4 = sm.symbols("p1:5")
    predators = pfaff.ode(
        {u1: p2 * u1 * (1 - u1) - u1 * u2 - p1 * (1 - sm.exp(-p3 * u1)), u2: -u2 + p4 * u1 * u2},
        {p1: 0, p2: 3, p3: 5, p4: 3},
        load=p1,
    )
    h = predators.at().hopf(u1=0.3, u2=2)
    e = np.exp(-5 / 3)
    assert h.value == pytest.approx(1 / (3 * (1 - e) - 5 * e), rel=1e-14)
    assert h.state["u1"] == pytest.approx(1 / 3, rel=1e-14)
    assert h.V3 / (3 * np.pi) == pytest.approx(h.l1, rel=1e-12)


# The exact normal form ζ̇ = (μ + iω) ζ + (l + ib) ζ|ζ|² + (m + in) ζ|ζ|⁴, seen through changes of coordinates


def polar(l, b=0.4, m=0.0, n=0.3, omega=1.3):
    r = x**2 + y**2
    growth, turn = mu + l * r + m * r**2, omega + b * r + n * r**2
    return growth * x - turn * y, growth * y + turn * x


def disguised(l, m):
    """The normal form with a third, stable state, after an exactly invertible nonlinear and a linear change."""
    u, v, w = sm.symbols("u v w")
    bend = {x: u, y: v - u**2 / 3 - u**3 / 4, z: w + u * v / 5}
    f, g = polar(l, m=m)
    f, g, k = (e.subs(bend, simultaneous=True) for e in (f, g, -2 * z + x**2))
    bent = sm.Matrix([f, g + (2 * u / 3 + 3 * u**2 / 4) * f, 0])
    bent[2] = k - (f * v + u * bent[1]) / 5
    T = sm.Matrix([[2, 1, 0], [sm.Rational(1, 2), 3, 1], [0, -1, 1]])
    new = sm.Matrix(sm.symbols("X Y Z"))
    old = dict(zip((u, v, w), T.inv() * new, strict=True))
    ode = pfaff.ode(dict(zip(new, T * bent.subs(old, simultaneous=True), strict=True)), {mu: -1}, load=mu)
    return ode, np.array(T.inv().tolist(), dtype=float)


def test_lyapunov_coefficients_survive_changes_of_coordinates():
    """c1 and, where l1 = 0, Re c2 are those of the normal form, up to the length of q: ζ = 2κ z."""
    ode, back = disguised(sm.Rational(-1, 2), 0)
    h = ode.at().hopf(to=1)
    kappa = abs((back @ h.q)[0])
    assert abs(h.value) < 1e-14
    assert h.c1 == pytest.approx((-0.5 + 0.4j) * (2 * kappa) ** 2, rel=1e-12)
    assert h.V3 / (3 * np.pi) == pytest.approx(h.l1, rel=1e-12)
    for m in (0.7, -0.2):
        ode, back = disguised(0, sm.Rational(str(m)))
        h = ode.at().hopf(to=1)
        assert h.generalised
        assert h.l2 * h.omega == pytest.approx(m * (2 * abs((back @ h.q)[0])) ** 4, rel=1e-10)


def test_second_coefficient_is_exact_in_the_normal_form():
    f, g = polar(sm.Rational(-1, 2), m=sm.Rational(3, 2))
    h = pfaff.ode({x: f, y: g}, {mu: -1}, load=mu).at().hopf(to=1)
    assert h.c2 == pytest.approx((1.5 + 0.3j) * (2 * abs(h.q[0])) ** 4, rel=1e-13)
    assert h.amplitude(0.02)["x"] == pytest.approx(np.sqrt(0.04), rel=1e-14)
    assert h.period(0.02) == pytest.approx(2 * np.pi / (1.3 + 0.4 * 0.04), rel=1e-14)
    with pytest.raises(ParameterError, match="they are above 0"):
        h.amplitude(-0.02)


# Families of equilibria


def test_one_hopf_point_on_a_line_of_equilibria():
    """With a conserved quantity, curved here, l1 is that of the level set."""
    conserved = s + sm.Rational(7, 10) * (x**2 + y**2) + x / 5
    f, g = (e.subs(mu, mu + conserved) for e in polar(sm.Rational(-3, 2)))
    along = -(sm.diff(conserved, x) * f + sm.diff(conserved, y) * g)
    line = pfaff.ode({x: f, y: g, s: along}, {mu: -1}, load=mu).at()
    h = line.hopf(to=3, s=0.25)
    assert h.value == pytest.approx(-0.25, rel=1e-14)
    assert h.structural_zeros == 1
    assert h.simple
    assert h.c1 == pytest.approx((-1.5 + 0.4j) * (2 * abs(h.q[0])) ** 2, rel=1e-12)
    assert h.V3 / (3 * np.pi) == pytest.approx(h.l1, rel=1e-12)
    with pytest.raises(NoBifurcationError, match="to 3"):
        line.at(mu=-0.2).hopf(to=3, s=0.25)
    with pytest.raises(ParameterError, match="family"):
        _ = h.l2


@pytest.mark.parametrize(("drift", "kind"), [(1, "hyperbolic"), (-1, "elliptic")])
def test_oscillations_that_move_along_a_line_of_equilibria(drift, kind):
    """Fiedler, Liebscher and Alexander (2000): ṡ = a r², ṙ = s r."""
    f, g = (e.subs(mu, mu + s) for e in polar(-1))
    h = pfaff.ode({x: f, y: g, s: drift * (x**2 + y**2)}, {mu: -1}, load=mu).at().hopf(to=3)
    assert h.drifts
    assert kind in h.criticality
    assert np.isnan(h.l1)
    assert np.isnan(h.V3)
    with pytest.raises(ParameterError, match="no branch of cycles"):
        h.period(1)


def test_the_elastic_device_is_relieved_by_flutter():
    """X moves along a line of equilibria: the motion relieves the load and decays (Cazzolli et al., Fig. 11)."""
    case = pfaff.atlas.column(2, "skate", "spring").at(**XI_HAT, c_i="3/2", K=40)
    h = case.hopf()
    assert 40 * h.value == pytest.approx(76.3379703896335, rel=1e-12)
    assert h.structural_zeros == 1
    assert "elliptic" in h.criticality


def test_a_free_drift_changes_nothing():
    """Two masses and a self-exciting spring between them: the momentum is conserved, the drift a family."""
    F = sm.Symbol("F", real=True)
    first, second, gap = coordinates("first second gap")

    def pull(stretch):
        rate = stretch.diff(TIME)
        return F * rate - rate / 10 - 2 * rate**3 - stretch**2 * rate + stretch * rate / 3 + stretch**2 / 4

    words = {"potential": gap**2 / 2, "forces": {gap: pull(gap)}, "parameters": {F: 0}, "load": F}
    alone = pfaff.System([gap], kinetic=gap.diff(TIME) ** 2 / 3, **words)
    drifting = pfaff.System(
        [first, gap], kinetic=first.diff(TIME) ** 2 / 2 + (first.diff(TIME) + gap.diff(TIME)) ** 2, **words
    )
    one, two = (system.at().hopf(to=1) for system in (alone, drifting))
    assert (one.structural_zeros, two.structural_zeros) == (0, 1)
    assert two.amplitude(0.11)["gap"] == pytest.approx(one.amplitude(0.11)["gap"], rel=1e-12)
    assert two.period(0.11) == pytest.approx(one.period(0.11), rel=1e-12)
    stretch = second - first
    absolute = pfaff.System(
        [first, second],
        kinetic=first.diff(TIME) ** 2 / 2 + second.diff(TIME) ** 2,
        potential=stretch**2 / 2,
        forces={first: -pull(stretch), second: pull(stretch)},
        parameters={F: 0},
        load=F,
    )
    three = absolute.at().hopf(to=1)  # whose symmetry moves both coordinates: the second is seen from the first
    assert (three.structural_zeros, three.states) == (1, ("second", "first_dot", "second_dot"))
    assert three.amplitude(0.11)["second"] == pytest.approx(one.amplitude(0.11)["gap"], rel=1e-12)
    assert three.period(0.11) == pytest.approx(one.period(0.11), rel=1e-12)


def test_holonomic_constraints_change_nothing():
    """A pendulum driven along its circle, by its angle and by two coordinates on x² + (y − 1)² = 1."""
    F = sm.Symbol("F", real=True)

    def push(sine, speed):
        return sm.Rational(3, 10) + F * speed - 3 * speed**3 - 2 * sine**2 * speed + sine * speed**2 + speed * sine / 2

    (theta,) = coordinates("theta")
    angle = pfaff.System(
        [theta],
        kinetic=theta.diff(TIME) ** 2 / 2,
        potential=-sm.cos(theta),
        forces={theta: push(sm.sin(theta), theta.diff(TIME))},
        parameters={F: 0},
        load=F,
    )
    u, v = coordinates("u v")
    force = push(u, u.diff(TIME) * (1 - v) + v.diff(TIME) * u)
    circle = pfaff.System(
        [u, v],
        kinetic=(u.diff(TIME) ** 2 + v.diff(TIME) ** 2) / 2,
        potential=v,
        forces={u: force * (1 - v), v: force * u},
        holonomic_constraints=[u**2 + (v - 1) ** 2 - 1],
        parameters={F: 0},
        load=F,
    )
    one, two = (system.at().hopf(to=1) for system in (angle, circle))
    assert two.structural_zeros == 0
    assert (two.value, two.omega, two.crossing_speed) == pytest.approx((one.value, one.omega, one.crossing_speed))
    assert two.V3 / (3 * np.pi) == pytest.approx(two.l1, rel=1e-12)
    slope = np.cos(one.state["theta"])
    assert two.amplitude(0.04)["u"] == pytest.approx(slope * one.amplitude(0.04)["theta"], rel=1e-12)
    assert two.period(0.04) == pytest.approx(one.period(0.04), rel=1e-13)


# What is refused, and the derivatives underneath


def test_absences_say_how_far_and_why(skate):
    with pytest.raises(NoBifurcationError, match="add damping"):
        skate.at(**XI_HAT).hopf()
    with pytest.raises(NoBifurcationError, match="to 50: search farther"):
        skate.at(**XI_HAT, c_i=1).hopf(to=50)
    with pytest.raises(NoBifurcationError, match="folds back"):
        pfaff.ode({x: mu - x**2, y: -y}, {mu: 1}, load=mu).at().hopf(to=-1, x=1)
    # A neutral saddle is not a Hopf point: real eigenvalues 1 and −1 add to zero.
    with pytest.raises(NoBifurcationError, match="search farther"):
        pfaff.ode({x: x, y: (mu - 2) * y}, {mu: 0}, load=mu).at().hopf(to=1.9)


@pytest.mark.parametrize(
    ("words", "message"), [({"to": np.inf}, "finite"), ({"near": np.nan}, "finite"), ({"to": 14}, "another end")]
)
def test_searches_that_make_no_sense(words, message):
    with pytest.raises(ParameterError, match=message):
        lorenz().at().hopf(x=6, y=6, z=13, **words)


def test_a_search_may_start_at_its_hopf_point():
    x, y, mu = sm.symbols("x y mu")
    docstring = pfaff.ode({x: y, y: mu * y - x - x**2 * y}, parameters={mu: 0}, load=mu)
    for found in (docstring.at().hopf(), docstring.at().hopf(to=-1), docstring.at().hopf(near=0.1)):
        assert found.value == pytest.approx(0, abs=1e-14)
        assert found.l1 == pytest.approx(-0.25, rel=1e-12)
    # Nothing crosses where a pair only touches the axis, or stays on it.
    for rate in (mu**2, 0 * mu, -(mu**2)):
        with pytest.raises(NoBifurcationError):
            pfaff.ode({x: y, y: rate * y - x - x**2 * y}, parameters={mu: 0}, load=mu).at().hopf()


def test_a_hopf_point_just_before_a_fold():
    """Bazykin's predator and prey: trace 0 at α = 0.8693536, fold at 0.8693178, the search from 0.8697."""
    alpha, delta = sm.symbols("alpha delta")
    shared = x * y / (1 + alpha * x)
    bazykin = pfaff.ode(
        {x: x - shared - x**2 / 100, y: shared - y - delta * y**2}, {alpha: "0.9", delta: "0.0055"}, load=alpha
    )
    case = bazykin.at(alpha="0.8697")
    found = case.hopf(to=0.8693, x=46.3, y=22.2)
    J = bazykin.flow.jacobian(found.x, found.case.at(alpha=found.value))
    assert np.trace(J) == pytest.approx(0, abs=1e-12)
    assert found.value == pytest.approx(0.869353621, abs=1e-9)
    with pytest.raises(NoBifurcationError, match=r"from alpha = 0.8697 to 0.8694"):
        case.hopf(to=0.8694, x=46.3, y=22.2)


def test_a_pair_that_only_touches_the_axis_is_no_hopf_point():
    f, g = polar(-1)
    touching = pfaff.ode({x: f.subs(mu, -((mu - 1) ** 2)), y: g.subs(mu, -((mu - 1) ** 2))}, {mu: 0}, load=mu)
    with pytest.raises(NoBifurcationError, match="search farther"):
        touching.at().hopf(to=2)


@pytest.mark.parametrize("way", [1, -1])
@pytest.mark.parametrize("start", [-1, 0, "3/10"])
def test_pairs_that_cross_together_have_no_lyapunov_coefficient(start, way):
    """Both at μ = 0, the second one way or the other; parted by 1e-5, each is a Hopf point."""
    u, v, d = sm.symbols("u v d", real=True)
    rate = way * (mu - d)
    equations = {x: mu * x - y - x**3, y: x + mu * y, u: rate * u - 2 * v - u**3, v: 2 * u + rate * v}
    system = pfaff.ode(equations, {mu: start, d: 0}, load=mu)
    with pytest.raises(NoBifurcationError, match=r"2 pairs .* together at mu = 0, with the frequencies 1, 2"):
        system.at().hopf(to=-1 if start == "3/10" else 1)
    if start == -1:
        assert system.at(d=1e-5).hopf(to=1).value == pytest.approx(0, abs=1e-12)
        assert system.at(d=1e-5).hopf(near=0.5).value == pytest.approx(1e-5, rel=1e-9)


def test_a_resonance_with_an_undamped_mode_has_no_normal_form():
    u, v = sm.symbols("u v")
    system = pfaff.ode({x: mu * x - y - x * u, y: x + mu * y, u: -2 * v + x**2, v: 2 * u}, {mu: -1}, load=mu)
    with pytest.raises(ConvergenceError, match="twice the critical one"):
        system.at().hopf(to=1)


def test_vanishing_wants_a_change_of_sign(skate_point):
    with pytest.raises(NoBifurcationError, match="same sign"):
        skate_point.vanishing("c_i", between=(1, 2))
    with pytest.raises(ParameterError, match="is the load"):
        skate_point.vanishing("F", between=(1, 2))


def test_forms_are_the_contracted_tensors(skate):
    case = skate.at(**XI_HAT, c_i="3/2", F=70)
    jets, flow = jets_of(skate.shape), skate.shape
    generator = np.random.default_rng(6)
    state = generator.normal(size=4) / 3
    vectors = generator.normal(size=(3, 4)) + 1j * generator.normal(size=(3, 4))
    vectors[1] *= 1e6
    for order in (1, 2, 3):
        tensor = flow.tensor(order, state, case)
        for vector in vectors[:order]:
            tensor = tensor @ vector
        form = jets.form(state, case.numbers, *vectors[:order])
        assert np.abs(form - tensor).max() < 1e-14 * np.abs(tensor).max()
    with pytest.raises(ParameterError, match="order 6"):
        jets.form(state, case.numbers, *[state] * 6)


def test_the_jacobian_changes_with_a_parameter(skate):
    case, state = skate.at(**XI_HAT, c_i="3/2", F=70), np.array([0.1, -0.2, 0.3, 0.4])
    step = 1e-3  # the flow is linear in the load: any step is exact but for rounding
    ahead, behind = (skate.shape.jacobian(state, case.at(F=70 + x)) for x in (step, -step))
    assert skate.shape.jacobian_by("F", state, case) == pytest.approx((ahead - behind) / (2 * step), abs=1e-10)


def test_units_of_states_and_time_of_an_ode_change_nothing():
    """Lorenz' equations with x, y, z and time in units from 10⁻⁹ to 10⁶."""
    h = lorenz().at().hopf(to=30, x=6, y=6, z=13)
    for units, time in (((1e-9, 1e-9, 1e-9), 1e6), ((1e6, 1e-3, 1), 1), ((1, 1e3, 1e-6), 1e-3)):
        old = dict(zip((x, y, z), (sm.Float(unit) * v for unit, v in zip(units, (x, y, z), strict=True)), strict=True))
        equations = {
            v: time * e.subs(old, simultaneous=True) / unit
            for unit, (v, e) in zip(units, lorenz().equations.items(), strict=True)
        }
        scaled = pfaff.ode(equations, lorenz().parameters, load="rho").at()
        start = dict(zip("xyz", np.array([6, 6, 13]) / units, strict=True))
        other = scaled.hopf(to=30, **start)
        assert other.value == pytest.approx(h.value, rel=1e-12)
        assert other.period(24) * time == pytest.approx(h.period(24), rel=1e-11)
        for name, unit in zip("xyz", units, strict=True):
            assert other.amplitude(24)[name] * unit == pytest.approx(h.amplitude(24)[name], rel=1e-9)


def test_it_can_be_drawn(skate_point, tmp_path):
    skate_point.plot().savefig(tmp_path / "hopf.png")
    assert (tmp_path / "hopf.png").stat().st_size > 0


@pytest.mark.parametrize("first", [True, False])
@pytest.mark.parametrize("omega", ["17/10", "3/5"])
def test_an_undamped_mode_is_not_taken_for_the_one_that_crosses(omega, first):
    """q̈ + q + q³/2 = (d − 1 − q²)q̇ with l1 = −1/4, and beside it a mode that nothing damps."""
    q, th = coordinates("q theta")
    d, rate = sm.Symbol("d", real=True), q.diff(TIME)
    system = pfaff.System(
        [q, th] if first else [th, q], kinetic=(rate**2 + th.diff(TIME) ** 2) / 2, parameters={d: 0}, load=d,
        potential=q**2 / 2 + q**4 / 8 + sm.Rational(omega) ** 2 * th**2 / 2, forces={q: (d - 1 - q**2) * rate},
    )  # fmt: skip
    for hopf in (system.at().hopf(to=2), system.at().branch(to=2).special[0].hopf):
        assert (hopf.value, hopf.omega) == (pytest.approx(1, rel=1e-10), pytest.approx(1, rel=1e-10))
        assert hopf.l1 == pytest.approx(-0.25)
        assert hopf.stable_cycles is None
        assert "leaves open" in hopf.status


def test_a_neutral_saddle_beside_an_undamped_mode_is_no_hopf_point():
    u, v = sm.symbols("u v")
    square = x**2 + y**2
    growing = {x: mu * x - y - x * square, y: x + mu * y - y * square}
    equations = growing | {z: -z, s: (mu + sm.Rational(3, 2)) * s - s**3, u: 3 * v, v: -3 * u + square * v / 2}
    case = pfaff.ode(equations, {mu: -1}, load=mu).at()  # at μ = −1/2 the eigenvalues of z and s are −1 and 1
    for hopf in (case.hopf(to=1), case.branch(to=1).special[0].hopf):
        assert (hopf.value, hopf.omega) == (pytest.approx(0, abs=1e-12), pytest.approx(1))


def test_a_load_that_cannot_be_zero_is_followed_from_its_own_value():
    """A spring under dead weight, k q = 1 with the damping k − 1 + q²/10: Hopf where k − 1 + 1/(10 k²) = 0; a mass."""
    q = coordinates("q")[0]
    k, m, rate = *sm.symbols("k m", real=True), q.diff(TIME)
    spring = pfaff.System(
        [q], kinetic=rate**2 / 2, potential=k * q**2 / 2 - q, forces={q: -(k - 1 + q**2 / 10) * rate},
        parameters={k: 2}, load=k,
    )  # fmt: skip
    mass = pfaff.System(
        [q], kinetic=m * rate**2 / 2, potential=q**2 / 2, forces={q: (1 - m - q**2) * rate}, parameters={m: 2}, load=m
    )
    expected = float(max(mpmath.polyroots([10, -10, 0, 1], maxsteps=200)))
    for case, rest, value in ((spring.at(), 0.5, expected), (mass.at(), 0, 1)):
        assert case.equilibrium()["q"] == pytest.approx(rest)
        assert case.spectrum().stable
        assert case.hopf(to=0.5).value == pytest.approx(value, rel=1e-9)
        assert case.branch(to=0.5).special[0].value == pytest.approx(value, rel=1e-9)
        with pytest.raises(NoBifurcationError, match=r"from [km] = 2 to 3:"):
            case.hopf(to=3)
        with pytest.raises((ConvergenceError, pfaff.errors.SingularMassError), match=r"at [km] = 0, where the path"):
            case.critical()


@pytest.mark.parametrize("load", [13.0, 15.2, 16.9])
def test_a_rod_loses_its_stability_at_the_length_whose_flutter_load_it_bears(load):
    """Inertias, stiffness and damping all change with the length; the search in the load knows none of that."""
    rod = pfaff.atlas.rod(modes=6).at(M_L=1, eta=0.001, c_e=10, F=load)
    found = rod.hopf("L", to=2)
    assert rod.at(L=found.value).flutter().value == pytest.approx(load, rel=1e-9)
    assert found.value == pytest.approx(rod.hopf("L", to=1.5).value, rel=1e-13)


@pytest.mark.parametrize("unit", [1e-9, 1e9])
def test_a_search_is_as_long_as_the_equations_say(unit):
    """Growth (μ − 1)(3 − μ) with μ in any unit: the first Hopf point is at one unit; with growth −1 there is none."""
    growth, square = (mu / sm.Float(unit) - 1) * (3 - mu / sm.Float(unit)), x**2 + y**2
    case = pfaff.ode({x: growth * x - y - x * square, y: x + growth * y - y * square}, {mu: 0}, load=mu).at()
    assert case.hopf().value == pytest.approx(unit)
    damped = pfaff.ode({x: -x - (1 + mu / sm.Float(unit)) * y, y: x - y}, {mu: 0}, load=mu).at()
    with pytest.raises(NoBifurcationError, match=r"from mu = 0 to .*, nor beyond") as absent:
        damped.hopf()
    searched = float(str(absent.value).split(" to ")[1].split(",")[0])
    assert searched >= max(10, 10 * unit)


def test_l1_is_of_the_order_of_light_damping_until_rounding_hides_it():
    """l1/c_i has a limit, which is no degenerate point however light the damping is."""
    column = pfaff.atlas.column(2)
    heavier, light, lightest = (column.at(c_i=damping).hopf() for damping in (1e-5, 1e-11, 1e-15))
    assert light.l1 / 1e-11 == pytest.approx(heavier.l1 / 1e-5, rel=1e-3)
    assert (light.criticality, light.generalised) == ("subcritical", False)
    assert (lightest.hidden, lightest.generalised, lightest.centre) == (True, False, False)
    assert "damping is so light that rounding hides the sign of l1" in lightest.status


def test_where_no_hopf_point_is_one_range_is_told():
    """q̈ + q̇/5 + (1 − F/4) q = 0 never flutters: the range that critical() tells, and all beyond it was searched."""
    (q,), (F, rate) = coordinates("q"), sm.symbols("F rate")
    speed = q.diff(TIME)
    case = pfaff.System([q], speed**2 / 2, q**2 / 2 - F * q**2 / 8, speed**2 / 10, load=F, parameters={F: 0}).at()
    with pytest.raises(NoBifurcationError, match=f"to {case.critical().flutter.searched[1]:g}, nor beyond: vary"):
        case.hopf()
    with pytest.raises(NoBifurcationError, match="from F = 0 to 7: search farther"):
        case.hopf(to=7)
    x, y = sm.symbols("x y")
    decaying = pfaff.ode({x: y, y: -x * (rate + 1) - y}, {rate: 0}, load=rate).at()
    with pytest.raises(NoBifurcationError, match="to 10, nor beyond: vary another parameter"):
        decaying.hopf()


def _beam_with_a_mass(load):
    """A translation and a rotation that a circulatory force P couples, with a mass a on a lever b."""
    q, angle = coordinates("q angle")
    m, J, k, kt, c, ct, P, b, a = sm.symbols("m J k kt c ct P b a", positive=True)
    rate, turn = q.diff(TIME), angle.diff(TIME)
    return pfaff.System(
        coordinates=[q, angle],
        kinetic=(m + a) * rate**2 / 2 + (J + a * b**2) * turn**2 / 2 + a * b * rate * turn * sm.cos(angle),
        potential=k * q**2 / 2 + kt * angle**2 / 2,
        dissipation=c * rate**2 / 2 + ct * turn**2 / 2,
        forces={q: P * angle, angle: -3 * P * q / 10},
        parameters={m: 1, J: 2, k: 1, kt: "5/2", c: "1/100", ct: "1/50", P: 1, b: 1, a: "1/10"},
        load={"a": a, "b": b}[load],
    )


@pytest.mark.parametrize(("load", "first"), [("a", 0.259285061724), ("b", 3.46957403314)])
@pytest.mark.parametrize(("length", "mass"), [(1, 1), (1000, 1), (1, 10000), (1e-5, 1e-4)])
def test_units_do_not_hide_a_hopf_point_in_a_mass_or_a_lever(load, first, length, mass):
    """The range in which it is sought is that in which the inertia doubles, in any units; it was 200 of them."""
    torque = mass * length**2
    values = {"m": mass, "J": 2 * torque, "k": mass, "kt": 2.5 * torque, "c": 0.01 * mass, "ct": 0.02 * torque}
    case = _beam_with_a_mass(load).at(**values, P=mass * length, b=length, a=0.1 * mass)
    assert case.hopf().value == pytest.approx(first * {"a": mass, "b": length}[load], rel=1e-11)


@pytest.mark.parametrize("spin", [2, 3, 1.7, "7/3"])
@pytest.mark.parametrize("softer", [1, "1/2"])
def test_frequencies_that_meet_under_gyroscopic_forces_are_no_hopf_point(spin, softer):
    """A mass on an undamped shaft that turns: where s⁴ + (G² − (1 + κ) g) s² + κ g² has a double root, pairs meet.

    ``flutter`` gives the load; in a Jordan block neither pair crosses the imaginary axis.
    """
    u, v = coordinates("u v")
    G, g, t = *sm.symbols("G g", positive=True), TIME
    shaft = pfaff.System(
        [u, v], (u.diff(t) ** 2 + v.diff(t) ** 2) / 2 + G / 2 * (u * v.diff(t) - v * u.diff(t)),
        -g * (u**2 + sm.S(softer) * v**2) / 2 + (u**2 + v**2) ** 2 / 4, parameters={G: spin, g: 0.1}, load=g,
    )  # fmt: skip
    kappa = float(sm.S(softer))
    load = float(sm.S(spin)) ** 2 / (1 + np.sqrt(kappa)) ** 2
    found = shaft.at().flutter(to=10)
    assert found.value == pytest.approx(load, rel=1e-9)
    assert "two frequencies meet" in found.status
    with pytest.raises(
        pfaff.PfaffError, match="without damping eigenvalues meet on the imaginary axis and do not cross"
    ):
        shaft.at().hopf(to=10)
