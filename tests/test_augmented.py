"""The three-field augmented Lagrangian: its order, also through singular configurations, and redundant constraints."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
import sympy as sm
from scipy.integrate import solve_ivp
from sympy.physics.mechanics import dynamicsymbols

import pfaff
from pfaff.atlas.andrews_squeezer import START
from pfaff.motion.three_fields import ThreeFields

t = dynamicsymbols._t
x, y, phi = dynamicsymbols("x y phi")
G = 9.81
UPRIGHT = {"x0": 0, "y0": 1, "x1": 1, "y1": 1, "x2": 2, "y2": 1, "x0_dot": 1}
HALF = np.sqrt(0.5)


def orders(errors):
    return np.log2(np.array(errors[:-1]) / np.array(errors[1:]))


def linkage(end, start=(np.pi / 2, -1.0)):
    """The double four-bar as a pendulum: three rods turn, two translate, J = 3, m g (3/2 + 2) sin θ."""

    def rates(_, s):
        return [s[1], -3.5 / 3 * G * np.cos(s[0])]

    return solve_ivp(rates, [0, end], start, rtol=1e-12, atol=1e-13, method="DOP853").y[:, -1]


def crank(end):
    """The slider-crank in its crank angle: J(θ) from the velocities of pin and slider, x2 = 2 l cos θ."""

    def inertia(angle):
        u = HALF * np.array([-np.sin(angle), np.cos(angle)])
        w = np.array([-2 * HALF * np.sin(angle), 0.0])
        return (2 * u @ u + u @ w + w @ w) / 3

    def rates(_, s):
        slope = (inertia(s[0] + 1e-5) - inertia(s[0] - 1e-5)) / 2e-5
        return [s[1], -(slope * s[1] ** 2 / 2 + G * HALF * np.cos(s[0])) / inertia(s[0])]

    return solve_ivp(rates, [0, end], [np.pi / 4, 4.0], rtol=1e-11, atol=1e-11, method="DOP853").y[:, -1]


@pytest.mark.parametrize(("end", "flats", "rigid"), [(1.0, 1, False), (1.6, 2, False), (1.6, 2, True)])
def test_second_order_through_flat_configurations(end, flats, rigid):
    """Bayo and Avello's linkage, flat at θ = 0, −π, …; with a rigid coupler a crank is redundant besides."""
    case = pfaff.atlas.double_four_bar(rigid).at()
    angle, speed = linkage(end)
    assert int(np.floor(-angle / np.pi)) + 1 == flats
    errors = []
    for h in (0.01, 0.005, 0.0025):
        motion = case.simulate(end, method="augmented", step=h, samples=2, **UPRIGHT)
        assert motion.finished
        expected = [np.cos(angle), np.sin(angle), -speed * np.sin(angle)]
        errors.append(np.abs(motion.y[[0, 1, 6], -1] - expected).max())
    found = orders(errors)
    assert found[1] == pytest.approx(2, abs=0.1)
    assert abs(found[1] - 2) < max(abs(found[0] - 2), 0.05) < 0.4  # it tends to two
    assert errors[-1] < 2e-4


def test_the_energy_of_the_benchmark_is_kept():
    """Ten seconds of problem A02, N = 2: the mechanism turns over and over, flat twice a turn."""
    motion = pfaff.atlas.double_four_bar().at().simulate(10, method="augmented", step=0.01, samples=201, **UPRIGHT)
    flats = np.abs(np.diff(np.sign(motion["y0"]))).sum() / 2
    assert flats >= 9
    assert np.abs(motion.energy.balance).max() < 0.05  # J, of 35.8
    positions, velocities = np.split(np.abs(motion.residual), 2)
    assert positions.max() < 1e-13
    assert velocities.max() < 1e-8  # the rest of a row that is nearly singular at a sample
    parallel = motion["y0"] - motion["y2"], motion["x0"] - motion["x2"] + 2
    assert np.abs(parallel).max() < 1e-9


def test_taylor_stops_where_the_augmented_lagrangian_goes_on():
    stopped = pfaff.atlas.double_four_bar().at().simulate(2, samples=11, **UPRIGHT)
    assert not stopped.finished
    assert "method='augmented' may go through" in stopped.status


def test_wherever_a_step_meets_the_singular_configuration():
    """On it, just before, just after, in the middle: no offset is unlucky."""
    case = pfaff.atlas.double_four_bar().at()
    h, worst = 0.0025, 0.0
    for offset in (0, 1e-6, 1e-3, 0.3, 0.499, 0.4999, 0.5, 0.50001, 0.501, 0.51, 0.9999):
        angle, speed = linkage((4 + offset) * h, (0.0, 4.0)) * [1, -1]
        end = linkage(9 * h, (angle, speed))
        start = {f"x{i}": i + np.cos(angle) for i in range(3)} | {f"y{i}": np.sin(angle) for i in range(3)}
        start |= {f"x{i}_dot": -speed * np.sin(angle) for i in range(3)}
        start |= {f"y{i}_dot": speed * np.cos(angle) for i in range(3)}
        motion = case.simulate(9 * h, method="augmented", step=h, samples=2, **start)
        rises = motion.y[[7, 9, 11], -1]
        worst = max(worst, np.abs(rises - end[1] * np.cos(end[0])).max())
    assert worst < 1e-4  # speeds of 4; a wrong branch or a lost reaction makes 1e-3 and more


def test_a_fixed_penalty_does_not_converge():
    """A penalty that does not grow as 1/h² loses the order behind the singularity first, then everywhere."""

    def error(end, h, xi):
        case = pfaff.atlas.double_four_bar().at()
        fields = ThreeFields(case.system, case.numbers, alpha=xi * h**2 / 4)
        node, guess = fields.start(np.array([0.0, 1, 1, 1, 2, 1]), np.array([1.0, 0, 1, 0, 1, 0])), None
        for _ in range(round(end / h)):
            node, middle = fields.step(node, h, node.v if guess is None else guess, 3.0)
            guess = 2 * node.v - middle.v
        angle = linkage(end)[0]
        return max(abs(node.q[0] - np.cos(angle)), abs(node.q[5] - np.sin(angle)))

    before, behind = (orders([error(end, h, 1e6) for h in (0.005, 0.0025)])[0] for end in (0.4, 1.0))
    assert before > 1.9
    assert behind < 1.5
    assert orders([error(1.0, h, 1e4) for h in (0.02, 0.01)])[0] < -0.5


@pytest.mark.parametrize(("end", "dead"), [(0.2, 0), (0.4, 1), (1.2, 2)])
def test_the_slider_crank_passes_its_dead_point(end, dead):
    """Where both rods stand upright the slider goes on to the other side, with second order."""
    angle, speed = crank(end)
    assert int(np.floor(angle / np.pi - 0.5)) + 1 == dead
    errors = []
    for h in (0.01, 0.005, 0.0025):
        motion = (
            pfaff.atlas.slider_crank()
            .at()
            .simulate(end, method="augmented", step=h, samples=2, x1=0.5, y1=0.5, x2=1, x2_dot=-4)
        )
        expected = [HALF * np.cos(angle), 2 * HALF * np.cos(angle), -2 * HALF * speed * np.sin(angle)]
        errors.append(np.abs(motion.y[[0, 2, 5], -1] - expected).max())
    assert (orders(errors) > 1.8).all()


ANDREWS = [
    15.81077119629904, -15.75637105984298, 0.04082224013073101, -0.5347301163226948, 0.5244099658805304,
    0.5347301163226948, 1.048080741042263,
]  # fmt: skip


@pytest.mark.slow
def test_andrews_squeezer_has_the_reference_solution():
    """Test set for IVP solvers (Mazzia and Magherini 2008), Andrews' problem: the coordinates at t = 0.03."""
    case = pfaff.atlas.andrews_squeezer().at()
    exact = case.simulate(0.03, samples=2, **START)
    assert exact.y[:7, -1] == pytest.approx(ANDREWS, abs=3e-9)
    assert exact.p[:2, 0] == pytest.approx([98.56687039624109, -6.122688344255663], rel=1e-12)
    errors = []
    for steps in (1000, 2000):
        motion = case.simulate(0.03, samples=2, method="augmented", step=0.03 / steps, **START)
        errors.append(np.abs(motion.y[:7, -1] - ANDREWS).max())
    assert errors[-1] < 5e-5
    assert orders(errors)[0] > 1.9


@cache
def sleigh():
    m, inertia, a, k = sm.symbols("m I a k", positive=True)
    c = sm.Symbol("c", nonnegative=True)
    centre = sm.Matrix([x + a * sm.cos(phi), y + a * sm.sin(phi)])
    return pfaff.System(
        coordinates=[x, y, phi],
        kinetic=m * centre.diff(t).dot(centre.diff(t)) / 2 + inertia * phi.diff(t) ** 2 / 2,
        potential=k * x**2 / 2 + k * phi**2,
        dissipation=c * phi.diff(t) ** 2 / 2,
        nonholonomic_constraints=[y.diff(t) * sm.cos(phi) - x.diff(t) * sm.sin(phi)],
        parameters={m: 1, inertia: "1/4", a: "1/2", k: 1, c: 0.1},
    )


@pytest.mark.parametrize("options", [{"x_dot": 1.0}, {"prescribed": {"x": sm.sin(2 * t) / 3}}], ids=["free", "driven"])
def test_nonholonomic_and_rheonomic_motions_agree_with_taylors(options):
    """States, reactions, and the energy balance, to second order; forwards and backwards."""
    case = sleigh().at()
    for end in (4, -2):
        exact = case.simulate(end, phi=0.3, samples=5, **options)
        states, reactions, drifts = [], [], []
        for h in (0.02, 0.01):
            motion = case.simulate(end, phi=0.3, samples=5, method="augmented", step=h, **options)
            states.append(np.abs(motion.y - exact.y).max())
            reactions.append(np.abs(motion.p - exact.p).max())
            drifts.append(motion.energy.drift)
            assert np.abs(motion.residual).max() < 1e-13
        assert states[-1] < 2e-3
        for errors in (states, reactions, drifts):
            assert orders(errors)[0] > 1.8


def test_automatic_steps_keep_the_tolerance_in_proportion():
    case = sleigh().at()
    exact = case.simulate(4, phi=0.3, x_dot=1.0, samples=11)
    coarse, fine = (
        case.simulate(4, phi=0.3, x_dot=1.0, samples=11, method="augmented", tolerance=each) for each in (1e-4, 1e-6)
    )
    errors = [np.abs(each.y - exact.y).max() for each in (coarse, fine)]
    assert 30 < errors[0] / errors[1] < 300
    assert len(coarse.knots) < len(fine.knots) / 5
    assert np.abs(fine.residual).max() < 1e-13  # at samples between the steps, too
    assert fine(1.2345) == pytest.approx(case.simulate(1.2345, phi=0.3, x_dot=1.0, samples=2).y[:, -1], abs=1e-4)


def test_redundant_reactions_are_those_of_least_norm():
    """A mass on a plane that is stated twice, once in other units: the rows share its weight."""
    weighed = pfaff.System(
        [x, y],
        x.diff(t) ** 2 + y.diff(t) ** 2,
        potential=6 * y + x**2,
        holonomic_constraints=[y, 10 * y],
    )
    motion = weighed.at().simulate(1, x=1, samples=3, method="augmented")
    assert motion.method.endswith("(as asked); reactions of least norm")
    # p1 + 10 p2 = −6, and both do the same in units of their own rows
    assert motion.p[:, -1] == pytest.approx([-3, -0.3], rel=1e-9)
    assert motion["x"][-1] == pytest.approx(np.cos(1), abs=1e-4)
    assert weighed.at().simulate(1, x=1, samples=3).p[:, -1] == pytest.approx([-3, -0.3], rel=1e-14)
    assert weighed.independent.at().simulate(1, x=1, samples=3).reaction[-1] == pytest.approx(-6, rel=1e-12)


def test_ctrl_c_and_the_limit_of_steps_keep_what_was_computed():
    case = pfaff.atlas.double_four_bar().at()

    def stop(fraction):
        if fraction > 0.3:
            raise KeyboardInterrupt

    motion = case.simulate(5, method="augmented", step=0.01, samples=21, progress=stop, **UPRIGHT)
    assert motion.status == "interrupted"
    assert 1.5 < motion.t[-1] < 2.5
    assert motion.p.shape == (5, 21)
    limited = case.simulate(5, method="augmented", max_steps=30, samples=4, **UPRIGHT)
    assert "max_steps" in limited.status
    assert len(limited.knots) == 31
    assert set(limited.to_xarray().data_vars) >= {"x0", "p5", "energy_total", "residual10"}


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"method": "taylor", "step": 0.1}, ["step=", "method='augmented'"]),
        ({"method": "augmented", "step": 0}, ["step=0", "positive"]),
        ({"method": "augmented", "step": "soon"}, ["step='soon'", "not a number"]),
        ({"method": "augmented", "events": {"flat": "y0"}}, ["events", "method='taylor'"]),
        ({"method": "augmentd"}, ["did you mean 'augmented'"]),
    ],
)
def test_wrong_requests_are_refused(options, words):
    with pytest.raises(pfaff.errors.ParameterError) as caught:
        pfaff.atlas.double_four_bar().at().simulate(1, **options, **UPRIGHT)
    for word in words:
        assert word in str(caught.value)


def test_auto_is_as_before_for_regular_systems():
    assert sleigh().at().simulate(1, phi=0.1, samples=2).method.startswith("Taylor's method")
