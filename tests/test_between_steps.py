"""Nothing is stepped over: what a motion meets between the ends of its steps, and what it verifies of itself."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
import sympy as sm
from scipy.integrate import quad, solve_ivp
from sympy.physics.mechanics import dynamicsymbols

import pfaff
from pfaff.checks.motions import between_steps, constraints_kept, energy_balance
from pfaff.flow.assembly import Assembly
from pfaff.motion.between_steps import Guard, Polynomials, Resolution
from pfaff.motion.dense_output import Steps
from pfaff.motion.measures import Energy, Stored
from pfaff.motion.outcomes import FINISHED
from pfaff.motion.steep_functions import EXPONENTIAL, POWER, SIGMOID, steep_functions
from pfaff.statement.parts import Part

t = dynamicsymbols._t
x, y = dynamicsymbols("x y")
v, w = x.diff(t), y.diff(t)
BUMP = sm.exp(-10 * (x - 5) ** 2)
TURNED = -10.0879596660053  # x(20) from x = 0 with unit speed: SciPy's DOP853 at 1e-13 in steps of 0.02


def particle(potential=sm.S.Zero, force=sm.S.Zero, **more):
    return pfaff.System([x], v**2 / 2, potential, forces={x: force}, **more).at()


@pytest.fixture(scope="module")
def hill():
    return particle(BUMP)


@pytest.fixture(scope="module")
def rubbing():
    return particle(x**2 / 2, -sm.Rational(1, 20) * sm.tanh(100 * v))


def test_steep_friction_is_not_stepped_over(rubbing):
    motion = rubbing.simulate(20, x=1)
    assert motion["x"][-1] == pytest.approx(0.192181415727074, abs=1e-12)
    assert motion.energy.drift < 1e-12
    assert motion.status == "finished"


def test_a_particle_turns_back_before_a_hill_that_is_higher_than_its_energy(hill):
    motion = hill.simulate(20, x=0, x_dot=1)
    assert motion["x"][-1] == pytest.approx(TURNED, abs=1e-11)
    assert hill.simulate(-20, x=0, x_dot=-1)["x"][-1] == pytest.approx(TURNED, abs=1e-11)
    assert hill.simulate(20, x=0, x_dot=1, tolerance=1e-6)["x"][-1] == pytest.approx(TURNED, abs=1e-5)


@pytest.mark.parametrize("method", ["cvode", "radau"])
def test_implicit_methods_see_the_hill_and_the_friction(hill, rubbing, method):
    if method == "cvode":
        pytest.importorskip("sksundae")
    assert hill.simulate(20, x=0, x_dot=1, method=method)["x"][-1] == pytest.approx(TURNED, abs=2e-4)
    assert rubbing.simulate(20, x=1, method=method)["x"][-1] == pytest.approx(0.192181415727074, abs=1e-5)


@pytest.mark.parametrize(("method", "near"), [("cvode", 1e-5), ("radau", 1e-6), ("augmented", 2e-2)])
@pytest.mark.parametrize(("steepness", "place"), [(1000, 5), (200, 4)])
def test_walls_are_no_more_stepped_over_by_implicit_methods(method, near, steepness, place):
    """Nothing of an error function is left a few widths before its wall, and steps grew long there."""
    if method == "cvode":
        pytest.importorskip("sksundae")
    wall = particle(1 + sm.erf(steepness * (x - place)))
    motion = wall.simulate(10, x_dot=1, method=method)
    assert motion["x"][-1] == pytest.approx(wall.simulate(10, x_dot=1)["x"][-1], abs=near * 2)
    assert motion.status == "finished"


def test_steps_that_follow_no_equations_are_found_by_an_integral():
    """A path that does not feel the force at u = 0, though its steps resolve u."""
    steep = steep_functions(particle(1 + sm.erf(10 * x)).system, 1.0)

    def rates(states, times):
        return np.array([states[1], -20 / np.pi**0.5 * np.exp(-((10 * states[0]) ** 2))])

    def look(path):
        resolution = Resolution(steep, lambda s, t: np.array([10 * s[:1], 10 * rates(s, t)[:1]]), 1e-9, rates)
        return resolution, resolution.good(-1.0, 1.0, path, np.full(2, 1e-8))

    resolution, good = look(lambda t: np.array([t, 1.0]))
    assert -0.5 < good < 0
    assert resolution.room < 0.1
    resolution.shortest = 2.0
    assert resolution.good(-1.0, 1.0, lambda t: np.array([t, 1.0]), np.full(2, 1e-8)) == 1.0
    assert resolution.doubtful == -1.0
    finely = {"rtol": 1e-11, "atol": 1e-11, "max_step": 0.01}
    right = solve_ivp(lambda t, s: rates(s, t), (-1, 0), [-1, 2.2], "DOP853", None, True, **finely).sol
    assert resolution.steep.unresolved(*10 * np.array([[[-1], [2.2]], [[0.1], [2.2]]]), np.ones(1), np.ones((1, 1))) > 1
    resolution.shortest = 1e-9
    assert resolution.good(-1.0, -0.2, right, np.full(2, 1e-8)) == -0.2


@pytest.mark.parametrize(
    ("potential", "force", "start", "duration", "end"),
    [
        (sm.exp(-(((x - sm.Rational(37, 10)) * 100) ** 2)), 0, (0, 1), 10, -2.60278153),  # a hundredth wide
        (0, -sm.tanh(1000 * v) / 2, (0, 1), 5, 1.00000164),
        (0, sm.exp(-(((t - 50) * 200) ** 2)), (0, 0), 100, 0.44311346),  # a blow in time
        (sm.exp(-100 * (x - 97) ** 2), 0, (0, 1), 200, -6.02781529),  # after a long flight
        (2 * sm.exp(-1000 * (1 - sm.cos(x))), 0, (1, 2.5), 60, 150.04257985),  # of many bumps, all of them
        (1 / (1 + (100 * x - 500) ** 20), 0, (0, 1), 10, -0.01767019),
        (1 + sm.erf(200 * x - 800), 0, (0, 1), 10, -1.99808019),
        ((x / 2) ** 60, 0, (0, 1), 20, 0.22336554),  # a box
        (
            0,
            -5 * ((x - 1) * (1 + sm.tanh(50 * x - 50)) + (x + 1) * (1 - sm.tanh(50 * x + 50))) / 2,
            (0, 0.3),
            20,
            1.12467078,
        ),  # a dead band
    ],
)
def test_no_narrow_feature_is_missed(potential, force, start, duration, end):
    """The ends are those of SciPy's DOP853 at 1e-12 in steps that are shorter than the features."""
    motion = particle(sm.sympify(potential), sm.sympify(force)).simulate(duration, x=start[0], x_dot=start[1])
    assert motion["x"][-1] == pytest.approx(end, abs=2e-8)
    assert motion.energy.drift < 1e-11
    assert motion.status == "finished"


@pytest.mark.parametrize("power", [600, 2000, 10_000])
def test_high_powers_are_looked_at_where_they_are_not_zero(power):
    """Short blows at t = 3 + kπ: between them the power is nothing, and no step has to be short for it."""
    motion = particle(force=50 * sm.cos(t - 3) ** power).simulate(20, x_dot=0.1)
    places = np.arange(401) / 20
    pieces = [
        quad(lambda s: (20 - s) * 50 * np.cos(s - 3) ** power, *ends, epsabs=1e-14)[0] for ends in pairwise(places)
    ]
    end = 2 + sum(pieces)
    assert motion["x"][-1] == pytest.approx(end, abs=1e-10)
    assert motion.status == "finished"


def test_a_function_stays_awake_beside_another_of_the_same_argument():
    """Where x⁶⁰⁰ is nothing x⁶ is something, and exp(1000 x) where tanh(1000 x) is constant."""
    steep = steep_functions(particle(x**600 + x**6 + sm.tanh(1000 * x) + sm.exp(1000 * x)).system, 1e-15)
    at = steep(np.array([[0.2, 0.21], [1.0, 1.0]]), np.ones((2, 2)), np.zeros(0), np.zeros(2))
    looked = steep.unresolved(at[..., :1], at[..., 1:], np.array([0.01]), np.abs(at[0]).max(axis=1, keepdims=True))
    assert dict(zip(zip(steep.kinds, steep.exponents, strict=True), looked[:, 0] > 0, strict=True)) == {
        (POWER, 600): False,
        (POWER, 6): True,
        (SIGMOID, 1): False,
        (EXPONENTIAL, 1): True,
    }


@pytest.mark.parametrize(("power", "end"), [(4, 1.130255227364), (8, -0.627254828652), (12, -0.640041652123)])
def test_gaps_in_the_series_of_a_symmetric_start_do_not_lengthen_its_step(power, end):
    """From x = 0 the series of x has every fourth (eighth, twelfth) term only: two coefficients are zero by chance."""
    case = particle(x**power / power)
    assert case.simulate(20, x_dot=1)["x"][-1] == pytest.approx(end, abs=1e-10)
    assert case.ensemble(20, x_dot=np.array([1.0, 2.0]))["x"][-1, 0] == pytest.approx(end, abs=1e-10)
    a, b = sm.symbols("a b")
    ode = pfaff.ode({a: b, b: -(a ** (power - 1))}).at()
    assert ode.simulate(20, b=1)["a"][-1] == pytest.approx(end, abs=1e-10)


def test_members_of_an_ensemble_and_plain_odes_turn_back_too(hill):
    speeds = np.array([0.5, 1.0, 1.42])
    ensemble = hill.ensemble(20, x_dot=speeds)
    alone = [hill.simulate(20, x_dot=speed)["x"][-1] for speed in speeds]
    assert ensemble["x"][-1] == pytest.approx(alone, abs=1e-10)
    assert ensemble.status == "3 finished"
    a, b = sm.symbols("a b")
    ode = pfaff.ode({a: b, b: 20 * (a - 5) * sm.exp(-10 * (a - 5) ** 2)}).at()
    assert ode.simulate(20, b=1)["a"][-1] == pytest.approx(TURNED, abs=1e-11)


def test_copies_of_a_part_turn_back_too():
    """Two particles before hills of their own, a tenth and a hundredth wide."""
    F, place, width = sm.symbols("F place width", real=True)
    hill = sm.exp(-(((x - place) / width) ** 2)) - F * x
    part = Part([x], v**2 / 2, hill, parameters={F: 0, place: None, width: None})
    copies = part.copies([[0], [1]], place=[5, 3.7], width=[0.1**0.5, 0.01])
    motion = Assembly([copies], size=2, load="F").simulate(20, 0.0, velocities={0: 1.0, 1: 1.0})
    assert motion.y[:2, -1] == pytest.approx([TURNED, -12.60278153], abs=1e-5)
    assert motion.status == "finished"


def test_events_of_a_rejected_step_never_happened(hill):
    watched = hill.simulate(20, x_dot=1, events={"near": "x - 46/10", "top": "x - 5", "turn": "x_dot", "back": "x + 1"})
    assert [len(watched.events[name]) for name in ("near", "top", "turn", "back")] == [2, 0, 1, 1]
    assert not hill.simulate(20, x_dot=1, events={"top": pfaff.Event("x - 5", stop=True)}).events["top"].t.size
    stopped = hill.simulate(20, x_dot=1, events={"turn": pfaff.Event("x_dot", stop=True)})
    assert stopped["x"][-1] == pytest.approx(4.736723115, abs=1e-8)


def test_blows_that_drive_a_load_or_a_coordinate_are_felt():
    F = sm.Symbol("F")
    blow = "exp(-((t - 50)*20)**2)"
    loaded = particle(x**2 / 2, F, parameters={F: 0}).simulate(100, prescribed={"F": blow})
    assert loaded.y[:, -1] == pytest.approx([-0.02323784, 0.08546446], abs=1e-7)
    pulled = pfaff.System([x, y], (v**2 + w**2) / 2, (x - y) ** 2 / 2).at().simulate(100, prescribed={"y": blow})
    assert pulled.y[:, -1] == pytest.approx([-0.02323784, 0, 0.08546446, 0], abs=1e-7)
    assert pulled.status == "finished"


def test_a_hill_is_met_between_the_knots_of_samples():
    F = sm.Symbol("F")
    case = particle(F * BUMP, parameters={F: 1})
    motion = case.simulate(20, x_dot=1, prescribed={"F": (np.linspace(0, 20, 11), np.ones(11))})
    assert motion["x"][-1] == pytest.approx(TURNED, abs=1e-10)


@pytest.mark.parametrize("method", ["taylor", "radau", "augmented"])
def test_no_step_is_longer_than_max_step(hill, method):
    motion = hill.simulate(3, x_dot=1, max_step=0.01, method=method)
    assert np.diff(motion.knots).max() <= 0.01 * (1 + 1e-9)
    with pytest.raises(pfaff.PfaffError, match="max_step"):
        hill.simulate(3, max_step=0)
    assert hill.ensemble(3, x_dot=np.ones(2), max_step=0.5)["x"][-1] == pytest.approx(motion["x"][-1], abs=1e-6)


def test_ordinary_motions_are_verified_and_say_so():
    case = pfaff.atlas.column(2).at(d="1/2", M_L=15, I_L=15, k1=50, c_i="3/2", F=84)
    motion = case.simulate(50, theta1_dot=0.01)
    assert [check.claim for check in motion.checks] == [
        "the motion obeys its equations between its steps",
        "the energy balances",
        "the constraints hold",
    ]
    assert all(check.passed for check in motion.checks)
    assert motion.status == "finished"
    assert all(check.passed for check in case.ensemble(5, theta1_dot=np.array([0.01, 0.02])).checks)


def test_energies_that_do_not_balance_are_told(hill):
    motion = hill.simulate(20, x_dot=1)
    energy = motion.energy
    wrong = Energy(
        energy.kinetic,
        energy.potential,
        energy.total * np.linspace(1, 0.95, len(motion.t)),
        0 * energy.total,
        0 * energy.total,
    )
    corrupted = replace(motion, measures=Stored(motion.p, motion.residual, wrong), dense=None)
    assert "NOT verified: the energy balances" in corrupted.status
    assert "max_step" in corrupted.status
    assert corrupted.finished
    assert not motion.checks[1].measured > 1e-10
    assert not energy_balance(np.array([0.0, 0.1]), np.array([1.0]), 0.0, 1e-15).passed


def test_a_path_that_leaves_its_equations_between_its_steps_is_told(hill):
    motion = hill.simulate(20, x_dot=1)
    motion.dense.pieces[0].tcs[0, 1, 2:] += 1e-5
    assert not replace(motion).checks[0].passed
    decaying = pfaff.ode({sm.Symbol("a"): -sm.Symbol("a")}).at().simulate(5, a=1)
    piece = decaying.dense.pieces[0]
    decaying.dense.pieces[0] = Steps.until(piece.bounds[1], piece.times, 1.01 * piece.tcs, len(piece.tcs))
    decaying.dense.pieces[0].tcs[0, 0, 0] = 1.0
    assert "NOT verified: the motion obeys" in replace(decaying).status
    path = np.ones((1, 3))
    assert not between_steps(path, path, path * 1.01, np.ones(3), 1e-15).passed


def test_constraints_that_do_not_hold_are_told():
    case = pfaff.atlas.column(2).at(d="1/2", M_L=15, I_L=15, k1=50, c_i="3/2", F=84)
    motion = case.simulate(20, theta1_dot=0.01)
    y = motion.y.copy()
    y[-1] *= 1 + 1e-4  # a velocity that the skate does not allow
    assert "NOT verified: the constraints hold" in replace(motion, y=y).status
    ensemble = case.ensemble(5, theta1_dot=np.array([0.01, 0.02]))
    ensemble.y[-1, 40:] *= 1 + 1e-4
    assert "NOT verified: the constraints hold" in replace(ensemble).status
    assert not constraints_kept(np.array([[1e-3]]), np.ones((1, 1)), 1e-15).passed


def test_members_whose_energy_changes_are_told(hill):
    ensemble = hill.ensemble(20, x_dot=np.array([0.5, 1.0]))
    ensemble.y[1, 60:] *= 1.1
    assert "NOT verified: the energy balances" in replace(ensemble).status


def test_rounding_does_not_shorten_steps():
    """A right-hand side with noise of any size: steps that no shorter ones better are accepted."""
    noise = np.random.default_rng(0)
    guard = Guard(lambda states, times: states * 0 + 1e-9 * noise.standard_normal(states.shape), 1e-15)
    path = np.zeros((1, 1, 21))
    path[0, 0, 0] = 1.0
    h, judged = 1.0, 0
    while (failure := guard.judge(np.array([0.0, h]), path)) is not None:
        h, judged = guard.room or failure.good, judged + 1
    assert judged < 20


def test_equations_whose_rounding_no_step_obeys_are_followed_and_said_to_be_doubtful():
    """A spring as √(B² + 2Bx + x²) − B: at B = 1e9 seven digits are left, and the motion could not take a step."""
    B = sm.Symbol("B", positive=True)
    spring = particle(force=-(sm.sqrt(B**2 + 2 * B * x + x**2) - B), parameters={B: 1e9})
    motion = spring.simulate(20, x=1)
    assert motion.finished
    assert motion["x"][-1] == pytest.approx(np.cos(20), abs=1e-6)
    assert "NOT verified: the motion obeys its equations" in motion.status


def test_steps_that_are_given_up_on_are_named():
    """Errors far beyond rounding that halving the step does not lessen: accepted in the end, and told since when."""
    generator = np.random.default_rng(0)
    guard = Guard(lambda states, times: states * 0 + generator.choice([-1.0, 1.0], states.shape), 1e-15)
    path = np.zeros((1, 1, 21))
    path[0, 0, 0] = 1.0
    h, judged = 1.0, 0
    while (failure := guard.judge(np.array([3.0, 3.0 + h]), path)) is not None:
        h, judged = guard.room or failure.good - 3.0, judged + 1
    assert judged < 20
    assert guard.doubtful == 3.0
    assert guard.judge(np.array([3.0, 4.0]), path) is None  # steps go on as long as before
    guard.rates = lambda states, times: 0 * states
    assert guard.judge(np.array([3.0, 4.0]), path) is None
    guard.rates = lambda states, times: 0 * states + 1e-6
    assert guard.judge(np.array([3.0, 4.0]), path) is not None  # nothing else is overlooked for that
    assert FINISHED.leaving(guard.doubtful) == "finished; from t = 3 on shorter steps obey the equations no better"
    assert FINISHED.leaving(guard.doubtful).finished
    assert FINISHED.leaving(None) is FINISHED


@pytest.mark.parametrize("length", [0.3, 1e-12, 1e12, 1e60])
def test_polynomials_on_a_grid_are_those_point_by_point(length):
    """Powers of the longest steps are no numbers any more: there they are evaluated as at single points."""
    generator = np.random.default_rng(0)
    with np.errstate(all="ignore"):
        scale = length ** -np.arange(21.0)
    coefficients = generator.standard_normal((3, 2, 21)) * scale
    path = Polynomials(np.array([0.0, 1.0, 2.0]), np.full(3, length), coefficients)
    parts = np.array([0.0, 0.3, 0.9])
    for one, other in zip(path.grid(parts), path(np.repeat(range(3), 3), np.tile(parts, 3)), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12)


def test_steps_in_which_nothing_steep_varies_are_trusted_and_no_others():
    """A slope that lies between the ends of the second of three steps, which do not feel it."""
    steep = steep_functions(particle(1 + sm.tanh(10 * x)).system, 1e-15)

    def rates(states, times):
        return np.array([states[1], -10 / np.cosh(10 * states[0]) ** 2])

    guard = Guard(rates, 1e-15, steep)
    straight = np.zeros((3, 2, 21))
    straight[:, 0, 0], straight[:, 0, 1], straight[:, 1, 0] = [-30.0, -15.0, 15.0], 1.0, 1.0
    times = np.array([-30.0, -15.0, 15.0, 30.0])
    failure = guard.judge(times, straight, every=False)
    assert failure is not None
    assert failure.step == 1
    assert -15 < failure.good < failure.bad < 2
    states = np.array([times, np.ones(4)])
    assert Guard(rates, 1e-15, steep).first_doubt(times, states, lambda k: straight[k]) == 1
    assert Guard(rates, 1e-15, steep).first_doubt(times[:2], states[:, :2], lambda k: straight[k]) is None
    trusted = Guard(lambda s, t: 1 / (s[:1] * 0), 1e-15, steep)
    assert trusted.judge(np.array([0.0, 0.05]), straight[:1], every=False) is None


def test_members_of_a_batch_that_start_badly_are_found():
    """The same judgement as for a motion alone, of all lanes at once."""
    case = particle(x**4 / 4)
    speeds = np.array([1.0, 2.0, 3.0])
    together = case.ensemble(20, x_dot=speeds)["x"][-1]
    assert together == pytest.approx([case.simulate(20, x_dot=speed)["x"][-1] for speed in speeds], abs=1e-10)
