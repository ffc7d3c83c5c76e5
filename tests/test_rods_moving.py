"""Rods in motion: derivatives in closed form, cycles that attract and walk, events; what cannot slide or be written."""

import pickle
import warnings

import numpy as np
import pytest
import sympy as sm

import pfaff
from pfaff.bifurcation.orbits.floquet import multipliers
from pfaff.errors import ConvergenceError, ParameterError, RankError, StatementError
from pfaff.flow.placed import NodesAt
from pfaff.flow.rod_mechanics import coefficients, mechanics_of
from pfaff.flow.rod_series import parameter_list
from pfaff.flow.series import Series
from pfaff.rest import protocol
from pfaff.rest.protocol import walk
from pfaff.statement import TIME as t
from pfaff.statement import coordinates


@pytest.fixture(scope="module")
def rod():
    return pfaff.atlas.rod("skate", modes=4)


def _branching():
    """A rod of varying section on a hinge, one on its end at an angle, one at its middle; a skate, a moving guide."""
    X, phi = coordinates("X phi")
    F = sm.Symbol("F")
    first = pfaff.Rod(0.5, mass=lambda s: 1 + s, retardation=0.01, modes=4, base=(X, 0.2, phi), name="u")
    joint, middle = first.end, first.at(0.5)
    second = pfaff.Rod(
        0.6, lambda s: 1 - s, rotary=0.1, drag=F, modes=3, base=(joint.x, joint.y, joint.theta + 0.3), name="w"
    )
    third = pfaff.Rod(0.4, modes=2, base=(middle.x, middle.y, 0), name="z")
    return pfaff.System(
        coordinates=[X, phi],
        rods=[first, second, third],
        kinetic=second.at(0.3).x.diff(t) ** 2,
        potential=phi**2 - F * X + second.end.y**2,
        nonholonomic_constraints=[joint.x.diff(t) * sm.cos(joint.theta) + joint.y.diff(t) * sm.sin(joint.theta)],
        holonomic_constraints=[third.end.x**2 + third.end.y - sm.sin(t)],
        parameters={F: 3},
        load=F,
    )


@pytest.mark.parametrize("several", [False, True], ids=["one case", "a case for each state"])
def test_closed_forms_are_the_derivatives_by_series(rod, several):
    values = {"M_L": 0.7, "I_L": 0.2, "r": 0.02, "eta": 0.03, "c_e": 0.4, "c_t": 0.3, "beta0": 0.2, "L": 1.3, "F": 2.0}
    for system, case in ((rod, rod.at(**values)), ((branching := _branching()), branching.at())):
        m, batch, random = mechanics_of(system), 3, np.random.default_rng(2)
        n, numbers = m.n, case.numbers
        if several:
            numbers = numbers[:, None] * np.array([1.0, 1.1, 1.2])
        levels, p = random.uniform(-0.7, 0.7, (3, n, batch)), random.uniform(-1, 1, (m.m, batch))
        placed = NodesAt(system, numbers).placed(levels[0], 0.3)
        placed.move(levels[1], levels[2])
        left, by = placed.left(p), placed.slopes(p)
        unit = np.eye(3 * n)[:, None, :]
        curves = [Series([x[:, :, None], unit[k * n : (k + 1) * n]], 1) for k, x in enumerate(levels)]
        entries = m.residual(*curves, Series([p[:, :, None]], 1), parameter_list(numbers), 0.3)
        assert pytest.approx(coefficients(entries, 0, batch, 1)[:, :, 0], rel=1e-12, abs=1e-13) == left[: n + m.m]
        slopes = np.moveaxis(coefficients(entries, 1, batch, 3 * n), 1, 0)
        mine = np.block([[by.K, by.C, placed.M], [by.rates_by_q, by.rates_by_v, placed.A]])
        assert np.abs(mine - slopes).max() < 1e-13 * np.abs(slopes).max()
        q, v = (x[:, :, None] for x in levels[:2])
        energies = coefficients(list(m.energies(q, v, parameter_list(numbers), 0.3)), 0, batch, 1)[:, :, 0]
        assert pytest.approx(energies, rel=1e-12) == np.concatenate([placed.energies(), placed.powers(p)[:1]])


def test_a_rod_with_drag_walks_on_a_cycle_that_attracts(rod):
    """Supercritical: the motion tends to the orbit of the branch, in amplitude and in mean speed."""
    hopf = rod.at(M_L=1, eta=0.001, c_e=10).hopf()
    assert hopf.l1 < 0
    assert hopf.growth().slope > 0
    orbit = hopf.orbits(to=hopf.value + 1.0)[-1]
    assert orbit.stable
    start = dict(zip(rod.shape.states, 0.9 * orbit.orbit.x[:, 0], strict=True))
    periods = 8
    motion = hopf.case.at(F=orbit.value).simulate(
        periods * orbit.period, tolerance=1e-6, samples=400 * periods + 1, **start
    )
    last = motion.y[:, -401:]
    angle, _ = rod.rods[0].basis.at(1.0)
    rotation, cycle = np.ptp(angle @ last[1:5]) / 2, np.ptp(angle @ orbit.orbit.x[:4]) / 2
    assert rotation == pytest.approx(cycle, rel=2e-3)
    speed = (last[0, -1] - last[0, 0]) / orbit.period
    assert speed == pytest.approx(orbit.advance["X"] / orbit.period, rel=2e-3)
    assert speed > 0.1


def test_events_of_rods_are_located(rod):
    """The end's rotation falls through zero; the sideways velocity of a point stops the motion."""
    case = rod.at(F=5.0, M_L=1, eta=0.01)
    end = rod.rods[0].end
    events = {
        "straight": pfaff.Event("a_theta_end", direction=-1),
        "at rest": pfaff.Event(end.y.diff(t), direction=1, stop=True),
    }
    motion = case.simulate(4, a1=0.1, events=events, tolerance=1e-9)
    assert "at rest" in motion.status
    assert motion.t[-1] == motion.events["at rest"].t[-1]
    angle, along = rod.rods[0].basis.at(1.0)
    falling = motion.events["straight"]
    assert len(falling) == 1
    assert falling.t[0] < motion.t[-1] < 4
    assert abs(angle @ falling.y[1:5, 0]) < 1e-14
    q, v = motion.y[1:5, -1], motion.y[6:, -1]
    basis = rod.rods[0].basis
    assert abs(along @ (np.cos(basis.angles @ q) * (basis.angles @ v))) < 1e-12
    with pytest.warns(UserWarning, match="event 'lost' was looked for in vain"):
        case.simulate(0.1, a1=0.1, events={"lost": "log(-1 - a_theta_end**2)"}, tolerance=1e-6)
    with pytest.raises(ParameterError, match="unknown b_theta_end"):
        case.simulate(1, a1=0.1, events={"?": "b_theta_end"})
    with pytest.raises(ParameterError, match="method for rods"):
        case.simulate(1, a1=0.1, method="cvode", events=events)


def test_a_heavy_end_hides_no_flutter():
    """Candidates of meeting frequencies that rounding has moved past the meeting are looked at."""
    rod = pfaff.atlas.rod("skate", modes=12)
    masses = np.logspace(3, 5, 5)
    loads = [rod.at(M_L=mass).flutter(to=25).value for mass in masses]
    assert np.diff(loads).min() > 0
    assert loads[-1] == pytest.approx(20.1907, abs=0.03)


def test_all_critical_loads_say_how_many_modes_they_took():
    found = pfaff.atlas.rod("skate").at(M_L=1, eta=0.01).critical()
    assert 8 <= found.modes <= 14
    assert found.change <= 1e-10


def test_a_base_that_cannot_slide_is_the_reason():
    rod = pfaff.Rod(modes=3)
    first = pfaff.Rod(modes=2, name="u")
    carried = pfaff.Rod(modes=2, base=(first.end.x, first.end.y, first.end.theta), name="w")
    F = sm.Symbol("F")
    for rods, end in (([rod], rod.end), ([first, carried], carried.end)):
        row = end.x.diff(t) * sm.cos(end.theta) + end.y.diff(t) * sm.sin(end.theta)
        system = pfaff.System(
            coordinates=[], rods=rods, potential=F * end.x, nonholonomic_constraints=[row], parameters={F: 1}, load=F
        )
        with pytest.raises(RankError, match="cannot slide.*stiff spring"):
            system.at().flutter()


@pytest.mark.parametrize("to", ["auto", "c", "latex"])
def test_no_formulas_are_exported(rod, to):
    with pytest.raises(StatementError, match="chain of bars"):
        rod.at().export(to)


def test_rods_travel_and_may_lose_their_stiffness(rod):
    """Flows evaluated here and after a journey agree; a search that begins without stiffness meets no bare error."""
    case, flow = rod.at(M_L=1, eta=0.01, F=7.0), rod.shape
    x = np.linspace(0, 0.1, len(flow.states))
    case.flutter()
    assert (pickle.loads(pickle.dumps(flow)).rhs(x, case) == flow.rhs(x, case)).all()
    assert pickle.loads(pickle.dumps(case)).flutter().value == case.flutter().value
    branch = case.hopf().orbits(to=7.85)
    assert pickle.loads(pickle.dumps(branch))[-1].orbits(to=7.8).status == branch[-1].orbits(to=7.8).status
    assert case.hopf("EI", near=0.9).value == pytest.approx(case.at(F=1).flutter().value ** -1 * 7, rel=2e-2)


def test_modes_that_ring_on_are_told(rod):
    """Without retardation nothing damps the fast modes, and steps are as short as they are fast."""
    damped, ringing = (rod.at(F=5.0, M_L=1, eta=eta).simulate(0.1, a1=0.1, samples=3) for eta in (0.01, 0.0))
    assert "ring on" in ringing.method
    assert "retardation" in ringing.method
    assert "ring on" not in damped.method


def test_amplitudes_of_a_rod_are_measured_alike(rod):
    """Those of high modes are small; compared with themselves, rounding would be all that is seen of them."""
    orbit = rod.at(M_L=1, eta=0.01).hopf().orbits(to=7.8)[-1]
    sizes = 1 / orbit.point.metric.states
    assert np.ptp(sizes[:4]) == 0
    assert np.ptp(sizes[4:]) == 0
    assert sizes[0] < sizes[-1]
    assert np.abs(orbit.multipliers - 1).min() < 1e-10


def test_tiny_multipliers_keep_their_sizes():
    """Blocks of e^-60 and e^-80 are told apart as far as rounding lets, and 1/2 and 3 to all digits."""
    random = np.random.default_rng(3)
    sizes = np.exp([np.log(3.0), np.log(0.5), -60.0, -60.5, -80.0, -81.0])
    Q, _ = np.linalg.qr(random.normal(size=(20, 6, 6)))
    around = np.concatenate([Q[1:], Q[:1]])
    G = around @ (np.diag(sizes ** (1 / 20)) + np.triu(random.normal(size=(6, 6)), 1)) @ Q.swapaxes(1, 2)
    values, _ = multipliers(G, np.ones(6))
    assert values[:2] == pytest.approx(sizes[:2], rel=1e-12)
    assert np.log(np.abs(values[2:])) == pytest.approx(np.log(sizes[2:]), rel=1e-7)


def test_roots_are_looked_for_from_more_modes():
    """With strong damping ten modes do not tell the load: 319.98 of eight and 603.7 of twelve belong to no rod."""
    found = pfaff.atlas.rod().at(M_L=1, eta=10).flutter(exact=True)
    assert float(found.value) == pytest.approx(907.4475439067569, rel=1e-12)
    with pytest.raises(ConvergenceError, match="of 8 modes is near no root .* give more of them"):
        pfaff.atlas.rod(modes=8).at(M_L=1, eta=10).flutter(exact=True)


def test_loads_of_few_modes_say_so():
    few, enough = (pfaff.atlas.rod(modes=8).at(M_L=1, eta=eta).flutter() for eta in (10, 1))
    assert "8 modes do not resolve its shape: give more of them" in few.status
    assert "do not resolve" not in enough.status
    more = pfaff.atlas.rod(modes=18).at(eta=10).flutter()  # 1258.7, where a rod has 1741.7
    assert "18 modes do not resolve its shape" in more.status


def test_the_growth_of_cycles_is_that_of_the_rod_with_many_modes():
    """The stiffer the equations, the less digits a left eigenvector by singular values has."""
    ten, more = (pfaff.atlas.rod(modes=n).at(M_L=1, eta=0.01).hopf().growth() for n in (10, 18))
    assert more.slope == pytest.approx(ten.slope, rel=1e-8)


def test_a_load_that_nothing_balances_is_tried_once(monkeypatch):
    """A skate across the load holds it nowhere: the straight path has no beginning."""
    (X,) = coordinates("X")
    F = sm.Symbol("F")
    first = pfaff.Rod(modes=2, base=(X, 0, 0), name="u")
    second = pfaff.Rod(modes=2, base=(first.end.x, first.end.y, first.end.theta + sm.pi / 2), name="w")
    end, walks = second.end, []
    row = end.x.diff(t) * sm.cos(end.theta) + end.y.diff(t) * sm.sin(end.theta)
    system = pfaff.System(
        coordinates=[X], rods=[first, second], potential=-F * X, nonholonomic_constraints=[row], parameters={F: 0},
        load=F,
    )  # fmt: skip
    monkeypatch.setattr(protocol, "walk", lambda *given: walks.append(given) or walk(*given))
    assert "no continuation from F = 0" in system.at().flutter().status
    assert len(walks) < 10


@pytest.mark.parametrize("EI", [1e100, 1e200, 1e-300])
def test_loads_of_rods_in_the_farthest_units(rod, EI):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert rod.at(EI=EI).flutter().value / EI == pytest.approx(rod.at().flutter().value, rel=1e-9)


def test_a_rod_whose_end_hardly_turns_is_followed():
    """Rounding moves its reaction and, beside it, what stands still: π² EI/L² is reached all the same."""
    assert pfaff.atlas.rod(modes=8).at(I_L=1e14).flutter().value == pytest.approx(np.pi**2, rel=1e-6)


def test_masses_too_far_apart_are_told_as_such(rod):
    with pytest.raises(pfaff.errors.SingularMassError, match="singular .*as far as rounding shows.*differ by less"):
        rod.at(M_L=1e20).flutter()
    with pytest.raises(pfaff.errors.SingularMassError, match="a1 of .* times the inertia of .*rounding hides"):
        rod.at(I_L=1e99).flutter()
    assert rod.at(I_L=1e24).flutter().value == pytest.approx(np.pi**2, rel=1e-2)


def test_a_negative_mass_at_the_end_is_told_as_such():
    (X,), M = coordinates("X"), sm.Symbol("M")
    rod = pfaff.Rod(modes=3, base=(X, 0, 0))
    energy = M * rod.end.y.diff(t) ** 2 + X.diff(t) ** 2
    system = pfaff.System(coordinates=[X], rods=[rod], kinetic=energy, parameters={M: -9})
    with pytest.raises(pfaff.errors.SingularMassError, match="not positive definite"):
        system.at().spectrum()


def test_a_path_that_needs_too_many_steps_ends(rod, monkeypatch):
    path = rod.at(beta0=0.01).path("F", {})
    monkeypatch.setattr("pfaff.rest.protocol.STEPS", 3)
    monkeypatch.setattr(path, "_far", lambda z: False)
    monkeypatch.setattr(
        path, "_take", lambda here, ahead: ahead - here < 1e-3 and not path._remember(ahead, path._known[here])
    )
    with pytest.raises(ConvergenceError, match="cannot be followed beyond F = .* in 3 steps"):
        path.solution(5.0)
    with pytest.raises(ConvergenceError, match="too large for double precision"):
        path.solution(np.inf)


def test_overflow_in_a_rod_is_told_and_never_warned_of(rod):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(ConvergenceError, match="not finite"):
            rod.at(L=1e300).equilibrium()
