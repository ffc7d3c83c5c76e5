"""Forced response: explicit time in statements, frequency response with its special points, backbone curves."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import sympy as sm
from matplotlib.backends.backend_agg import FigureCanvasAgg
from scipy.integrate import solve_ivp
from scipy.special import ellipk
from sympy.physics.mechanics import dynamicsymbols

import pfaff
from pfaff.continuation.endings import Reason
from pfaff.errors import ConstraintError, ConvergenceError, ParameterError, StatementError
from pfaff.statement import TIME, coordinates

t = dynamicsymbols._t
x, y, phi = dynamicsymbols("x y phi")
F, Omega, zeta, k3 = sm.symbols("F Omega zeta k3", real=True)


def duffing(**values) -> pfaff.Case:
    system = pfaff.System(
        coordinates=[x],
        kinetic=x.diff(t) ** 2 / 2,
        potential=x**2 / 2 + k3 * x**4 / 4,
        dissipation=zeta * x.diff(t) ** 2,
        forces={x: F * sm.cos(Omega * t)},
        parameters={F: 0.3, Omega: 0.5, zeta: 0.05, k3: 1},
        name="Duffing",
    )
    return system.at(**values)


@pytest.fixture(scope="module")
def hardening() -> pfaff.bifurcation.response.response.Response:
    return duffing().response("Omega", from_=0.5, to=3.0)


def test_a_linear_oscillator_answers_in_closed_form():
    """|h| = F/√((1 − Ω²)² + 4ζ²Ω²), and multipliers e^{(−ζ ± i√(1 − ζ²)) T}."""
    response = duffing(k3=0).response("Omega", from_=0.5, to=2.0)
    W = response.values
    closed = 0.3 / (1 - W**2 + 0.1j * W)
    assert response.amplitude("x") == pytest.approx(np.abs(closed), rel=1e-5)  # between samples of the orbit
    assert response.phase("x") == pytest.approx(np.angle(closed), abs=1e-8)
    assert abs(response[3].harmonic(1)["x"]) == pytest.approx(abs(closed[3]), rel=1e-9)
    T = 2 * np.pi / W[-1]
    expected = np.exp((-0.05 + 1j * np.sqrt(1 - 0.05**2)) * T)
    assert sorted(response[-1].orbit.multipliers, key=lambda m: m.imag) == pytest.approx(
        [expected.conjugate(), expected], rel=1e-8
    )
    assert "stable throughout; reached 2" in response.status
    line = response.plot().axes[0].lines[0].get_ydata()  # drawn, though it has no special points
    assert line.max() == pytest.approx(response.amplitude("x").max(), rel=1e-3)
    for k, words in ((0.5, "no whole number"), (10**12, "known at too few points")):
        with pytest.raises(ParameterError, match=words):
            response[0].harmonic(k)


def test_events_and_measures_of_a_response():
    """Displacement and force are in quadrature where Ω is the natural frequency."""
    events = {"quadrature": "phase_x = -pi/2", "double": "frequency = 2"}
    response = duffing(k3=0).response("Omega", from_=0.5, to=1.5, events=events)
    (quadrature,) = response.of_kind("event: quadrature")
    assert quadrature.value == pytest.approx(1, abs=1e-8)
    assert response.measure("phase_x") == pytest.approx(response.phase("x"), abs=1e-12)
    assert response.measure("amplitude_x * Omega - amplitude_x_dot") == pytest.approx(np.zeros(len(response)), abs=1e-4)
    (double,) = response.extend(2.5, events=events).of_kind("event: double")
    assert double.value == pytest.approx(2, abs=1e-8)
    with pytest.raises(ParameterError, match="unknown phase_y"):
        response.measure("phase_y")


def _monodromy(frequency: float, excitation: float = 0.5, damping: float = 0.1) -> np.ndarray:
    """Of x'' + d x' + (1 + F cos Ωt) x = 0, by another integrator."""

    def rate(s, u):
        return [u[1], -damping * u[1] - (1 + excitation * np.cos(frequency * s)) * u[0]]

    span = (0, 2 * np.pi / frequency)
    return np.column_stack([solve_ivp(rate, span, e, "DOP853", rtol=1e-12, atol=1e-13).y[:, -1] for e in np.eye(2)])


@pytest.mark.parametrize(("begin", "end", "given"), [(1.5, 2.6, {}), (2.6, 1.5, {}), (1.5, 2.6, {"x": 1e-3})])
def test_a_parametric_excitation_loses_its_zero_response_at_the_tongue_of_mathieu(begin, end, given):
    """The multipliers at rest are those of the linear equation, whichever way and from wherever it is followed."""
    potential = (1 + F * sm.cos(Omega * t)) * x**2 / 2 + x**4 / 4
    stated = {"kinetic": x.diff(t) ** 2 / 2, "potential": potential, "dissipation": zeta * x.diff(t) ** 2 / 2}
    excited = pfaff.System([x], **stated, parameters={F: 0.5, Omega: 1.5, zeta: 0.1})
    response = excited.at().response("Omega", from_=begin, to=end, **given)
    edges = [1.7625457, 2.2182416]  # where −1 is an eigenvalue of that monodromy
    for edge in edges:
        assert np.abs(np.linalg.eigvals(_monodromy(edge)) + 1).min() < 1e-6
    assert [each.kind for each in response.special] == ["period doubling"] * 2
    assert sorted(each.value for each in response.special) == pytest.approx(edges, abs=1e-7)
    for point in (response[0], response[len(response) // 2], response[-1]):
        other = np.linalg.eigvals(_monodromy(point.value))
        assert np.sort_complex(point.orbit.multipliers) == pytest.approx(np.sort_complex(other), abs=1e-8)


def test_nothing_happens_where_nothing_is_forced():
    """Multipliers e^{(−ζ ± i√(1 − ζ²)) T} of a linear oscillator under a force of size zero; and through it, either
    way, the response is as large as its force."""
    response = duffing(k3=0, F=0).response("Omega", from_=0.5, to=2.0)
    assert response.special == ()
    assert response.stable.all()
    expected = np.exp((-0.05 + 1j * np.sqrt(1 - 0.05**2)) * 2 * np.pi / 0.5)
    assert np.abs(response[0].orbit.multipliers - expected).min() < 1e-8
    for size in (1.0, 1e-8, 1e8):
        through = duffing(k3=0, Omega=0.7).response("F", from_=size, to=-size)
        assert through.ended == f"reached {-size:.10g}"
        assert len(through) < 120
        closed = np.abs(through.values / (1 - 0.49 + 0.07j))
        assert through.amplitude("x") == pytest.approx(closed, abs=1e-5 * size)


@pytest.mark.parametrize("length", [1e-6, 1e6])
def test_folds_know_their_sides_in_any_unit_of_length(length, hardening):
    response = duffing(F=0.3 * length, k3=1 / length**2).response("Omega", from_=0.5, to=3.0)
    assert [each.status for each in response.special] == [each.status for each in hardening.special]


def _bladed_arm() -> pfaff.System:
    """Three damped bars on springs, the blade at whose tip is set at an angle."""
    angles = dynamicsymbols("a1 a2 a3")
    ends = [sm.Matrix([sum(sm.cos(a) for a in angles[:k]), sum(sm.sin(a) for a in angles[:k])]) for k in (1, 2, 3)]
    speeds = [end.diff(t) for end in ends]
    across = sm.Matrix([-sm.sin(angles[2] + 0.3), sm.cos(angles[2] + 0.3)])
    bends = [angles[0], angles[1] - angles[0], angles[2] - angles[1]]
    return pfaff.System(
        angles,
        kinetic=sum(v.dot(v) for v in speeds) / 2,
        potential=sum(b**2 for b in bends) / 2,
        dissipation=sum(b.diff(t) ** 2 for b in bends) / 20,
        nonholonomic_constraints=[speeds[2].dot(across)],
        forces={angles[0]: sm.cos(Omega * t) / 10},
        parameters={Omega: 1},
    )


def test_a_slow_drift_is_no_conserved_quantity():
    """A multiplier 1 + 2e-6 is that of an orbit by itself, which is unstable from wherever it is followed."""
    case = _bladed_arm().at()
    far = case.response("Omega", from_=0.45, to=0.7)
    for begin in (0.5, 0.6):
        near = case.response("Omega", from_=begin, to=0.7)
        assert far.ended == near.ended == "reached 0.7"
        assert not far.stable.any()
        assert not near.stable.any()
        assert near.special == ()
        assert near[-1].mean["a3"] == pytest.approx(far[-1].mean["a3"], rel=1e-4)
        assert abs(near[0].orbit.multipliers[0]) > 1 + 1e-6
    with pytest.raises(ConvergenceError, match=r"drift too slowly at Omega = 0.05 .* begin where they drift"):
        case.response("Omega", from_=0.05, to=0.2)
    assert case.response("Omega", from_=0.45, to=0.2).ended == "reached 0.2"


@pytest.mark.parametrize("begin", [0.6, 2.0])
def test_without_damping_a_response_grows_without_bound_at_resonance(begin):
    """x'' + x = cos Ωt answers by 1/(1 − Ω²): there is no fold at Ω = 1, and nothing beyond."""
    response = duffing(k3=0, zeta=0, F=1).response("Omega", from_=begin, to=2.6 - begin)
    assert response.special == ()
    assert response.ended.reason is Reason.OUTGROWN
    assert response.ended == "the orbits grow without bound near 1"
    assert response.amplitude("x")[:40] == pytest.approx(np.abs(1 / (1 - response.values[:40] ** 2)), rel=1e-4)
    slightly = duffing(k3=0, zeta=5e-8, F=1).response("Omega", from_=begin, to=2.6 - begin)
    assert "stable throughout; reached" in slightly.status  # past an amplitude of 1e7
    assert slightly.amplitude("x").max() > 1e6


def test_a_towed_wheel_swings_without_bound():
    """A spring that stiffens turns the wheel the faster the farther it swings: after one fold, at finite speed."""
    q, psi = dynamicsymbols("q psi")
    v = sm.Symbol("v", positive=True)
    speed = (v - psi.diff(t) * sm.sin(psi) / 5) ** 2 + (q.diff(t) - psi.diff(t) * sm.cos(psi) / 5) ** 2
    wheel = pfaff.System(
        [q, psi],
        kinetic=speed + psi.diff(t) ** 2 / 2,
        potential=50 * q**2 + 250 * q**4,
        dissipation=3 * psi.diff(t) ** 2 / 4,
        nonholonomic_constraints=[q.diff(t) * sm.cos(psi) - v * sm.sin(psi) - psi.diff(t) / 2],
        parameters={v: 0.5},
        load=v,
    )
    hopf = wheel.at().hopf()
    assert hopf.value == pytest.approx(0.75 / 0.88, rel=1e-10)
    orbits = hopf.orbits(to=2)
    assert [each.kind for each in orbits.special] == ["fold"]
    assert orbits.ended.reason is Reason.OUTGROWN


@pytest.mark.parametrize("to", [0, -1])
def test_a_forcing_that_stands_still_has_no_period(to):
    with pytest.raises(ParameterError, match=rf"to={to}: the forcing of Duffing has no period there.* end before"):
        duffing().response("Omega", from_=1, to=to)
    with pytest.raises(ParameterError, match="no period there"):
        duffing(k3=0).response("Omega", from_=1, to=0.8).extend(to=to)


def test_a_fold_between_multipliers_beyond_all_bounds_is_told():
    """Slow forcing carries a double well along its saddle: where Ω turns, a multiplier 1e25 becomes −1e25."""
    stated = {"kinetic": x.diff(t) ** 2 / 2, "potential": x**4 / 4 - x**2 / 2, "dissipation": zeta * x.diff(t) ** 2 / 2}
    wells = pfaff.System([x], **stated, forces={x: F * sm.cos(Omega * t)}, parameters={F: 0.1, Omega: 1.2, zeta: 0.03})
    response = wells.at().response("Omega", from_=0.8, to=2, x=1)
    least = response.values.min()
    turn = [each for each in response.special if abs(each.value - least) < 1e-4]
    assert {each.kind for each in turn} == {"fold", "period doubling"}
    for each in turn:
        assert each.value == pytest.approx(0.0881838, abs=1e-7)
        assert "not located" in each.note
    assert response.backbones == ()
    words = [text.get_text() for text in response.plot().axes[0].get_legend().get_texts()]
    assert "no backbone: nothing vibrates about the equilibrium" in words
    large = response[int(response.values.argmin()) - 3].orbit
    assert np.log(large.multipliers.real).sum() == pytest.approx(-0.03 * large.period, rel=1e-3)  # by Liouville
    assert len(response.of_kind("fold")) == 2


def test_what_is_interrupted_before_the_first_response_says_so(monkeypatch):
    def pressed(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("pfaff.bifurcation.response.first_responses.settled", pressed)
    with pytest.raises(KeyboardInterrupt, match=r"while the first response was sought, at Omega = 0.5"):
        duffing().response("Omega", to=1, x=0.1)


def test_pictures_of_forced_orbits_show_no_rounding():
    """All have the period of the forcing: special points are placed by what changes, in an axis of plain numbers."""
    branch = duffing(Omega=0.6).response("F", to=3).orbits
    figure = branch.plot()
    FigureCanvasAgg(figure).draw()
    periods, amplitudes = figure.axes
    assert periods.yaxis.get_offset_text().get_text() == ""
    assert periods.get_ylim() == pytest.approx((0.9 * branch[0].period, 1.1 * branch[0].period))
    drawn = np.concatenate([line.get_ydata() for line in amplitudes.lines if len(line.get_ydata()) > 9])
    along = np.array([point.amplitude["x"] for point in branch])
    assert np.abs(np.diff(drawn)).sum() == pytest.approx(np.abs(np.diff(along)).sum(), rel=0.02)  # no detours
    figure = duffing(F=0.3e8, k3=1e-16).response("Omega", from_=0.5, to=0.55)[-1].plot()
    FigureCanvasAgg(figure).draw()
    for axes in figure.axes[:2]:
        power = axes.yaxis.get_offset_text()
        assert power.get_text() == "1e7"
        assert not power.get_window_extent().overlaps(axes.get_legend().get_window_extent())


@pytest.mark.parametrize("to", [0.02, 0.001])
def test_slow_forcings_are_reached(to):
    """The forcing has the period that it is given: that it is long ends nothing. At last x + x³ = F cos Ωt."""
    response = duffing().response("Omega", from_=3, to=to)
    assert response.ended == f"reached {to:g}"
    still = max(root.real for root in np.roots([1, 0, 1, -0.3]) if abs(root.imag) < 1e-12)
    assert response[-1].amplitude["x"] == pytest.approx(still, rel=1e-3)


def test_folds_pass_their_cusp_once_whatever_the_end(hardening):
    """The folds of a hardening oscillator are a wedge, which never closes, and is the same for every end."""
    fold = hardening.of_kind("fold")[0]
    for to in (0, -0.5, -1, -5, -1e3):
        curve = fold.curve("F", to=to, points=60, bounds=(None, 0.6))
        (cusp,) = curve.special
        assert [cusp["Omega"], cusp["F"]] == pytest.approx([1.0901095026, 0.0513635021], abs=1e-9)
        assert curve.ended == "came to 0.6"
        assert curve[-1]["Omega"] == pytest.approx(1.4869042771, abs=1e-9)


def test_without_damping_rounding_makes_no_tori():
    """Multipliers e^{±iT} on the unit circle, of which nothing follows."""
    response = duffing(k3=0, zeta=0).response("Omega", from_=0.6, to=0.9)
    assert response.special == ()
    assert "stable throughout" in response.status
    assert response[-1].harmonic(1)["x"].real == pytest.approx(0.3 / (1 - 0.81), rel=1e-8)
    driven = duffing(k3=0, zeta=0, Omega=0.6).response("zeta", to=-0.1)  # its sign tells, as soon as there is any
    assert not driven.stable[1:].any()


def test_folds_are_those_of_auto(hardening):
    """AUTO-07p, NTST = 60, NCOL = 4, with the oscillator written by hand: 1.77972 and 1.32424, amplitudes 1.72222 and
    0.592796 (at its mesh points)."""
    upper, lower = hardening.of_kind("fold")
    assert upper.value == pytest.approx(1.77972, abs=5e-6)
    assert lower.value == pytest.approx(1.32424, abs=5e-6)
    assert upper.amplitude["x"] == pytest.approx(1.72222, abs=1e-4)
    assert lower.amplitude["x"] == pytest.approx(0.592796, abs=1e-4)
    assert [point.stable for point in hardening.at(1.5)] == [True, False, True]


@pytest.mark.parametrize(("beyond", "large"), [(-2e-3, True), (2e-3, False)])
def test_motions_jump_where_the_fold_is(hardening, beyond, large):
    fold = hardening.of_kind("fold")[0]
    case = duffing(Omega=fold.value + beyond)
    last = hardening.at(fold.value - 2e-3)[0].orbit.orbit
    began = np.interp(fold.period, last.t, last["x"]), np.interp(fold.period, last.t, last["x_dot"])
    motion = case.simulate(250, x=began[0], x_dot=began[1])
    assert (np.abs(motion["x"][-100:]).max() > 1.5) == large


def test_orbits_are_in_the_time_of_their_forcing(hardening):
    """A motion from the state at t = T stays on the orbit, of which the forcing is no part."""
    point = hardening.at(1.5)[0]
    orbit, T = point.orbit.orbit, point.orbit.period
    assert orbit.states == ("x", "x_dot")
    assert set(point.amplitude) == {"x", "x_dot"}
    began = {name: float(np.interp(T, orbit.t, orbit[name])) for name in orbit.states}
    motion = duffing(Omega=1.5).simulate(3 * T, **began)
    there = np.interp(motion.t[300:330] % T + T * (motion.t[300:330] % T < orbit.t[0]), orbit.t, orbit["x"])
    assert motion["x"][300:330] == pytest.approx(there, abs=1e-3)


def test_the_backbone_is_the_free_vibration(hardening):
    (mode,) = hardening.backbones
    A = mode.amplitudes["x"]
    assert 2 * np.pi / mode.frequencies == pytest.approx(
        4 * ellipk(A**2 / (2 + 2 * A**2)) / np.sqrt(1 + A**2), rel=1e-7
    )
    amplitudes = hardening.plot("x").axes[0]
    assert {"fold", "stable", "unstable"} <= {text.get_text() for text in amplitudes.get_legend().get_texts()}
    dashed = next(line for line in amplitudes.lines if line.get_linestyle() == "--")
    ends = sorted(dashed.get_xdata()[[0, -1]])
    assert ends == pytest.approx(sorted(each.value for each in hardening.special), rel=1e-12)  # not a point earlier


def test_other_units_have_the_same_response(hardening):
    """Lengths by 1000 and times by 1/50: stiffness in new units, folds at 50 Ω."""
    length, rate = 1000, 50
    system = pfaff.ode(
        {x: y, y: -2 * zeta * rate * y - rate**2 * (x + x**3 / length**2) + F * length * rate**2 * sm.cos(Omega * t)},
        {F: 0.3, Omega: 0.5 * rate, zeta: 0.05},
    )
    response = system.at().response("Omega", to=3.0 * rate)
    ours = [fold.value / rate for fold in response.of_kind("fold")]
    assert ours == pytest.approx([fold.value for fold in hardening.of_kind("fold")], rel=1e-8)
    assert response.backbones == ()


def sleigh() -> pfaff.System:
    m, I, a, c, c_w, A = sm.symbols("m I a c c_w A", positive=True)
    centre = sm.Matrix([x + a * sm.cos(phi), y + a * sm.sin(phi)])
    velocity = centre.diff(t)
    return pfaff.System(
        coordinates=[x, y, phi],
        kinetic=m * velocity.dot(velocity) / 2 + I * phi.diff(t) ** 2 / 2,
        dissipation=c * (x.diff(t) ** 2 + y.diff(t) ** 2) / 2 + c_w * phi.diff(t) ** 2 / 2,
        forces={phi: A * sm.sin(Omega * t)},
        nonholonomic_constraints=[y.diff(t) * sm.cos(phi) - x.diff(t) * sm.sin(phi)],
        parameters={m: 1, I: 0.25, a: 0.4, c: 0.1, c_w: 0.1, A: 1, Omega: 2},
        name="forced sleigh",
    )


def test_the_speed_of_a_forced_sleigh():
    """m v̇ = m a ω² − c v, (I + m a²) ω̇ = −m a v ω − c_ω ω + A sin Ωt, whatever its heading."""
    response = sleigh().at().response("Omega", to=3)
    assert response.states == ("x_dot", "phi_dot")
    J, T = 0.25 + 0.16, 2 * np.pi / 3

    def rates(time, state):
        v, w, _ = state
        return 0.4 * w**2 - 0.1 * v, (-0.4 * v * w - 0.1 * w + np.sin(3 * time)) / J, v

    run = solve_ivp(rates, (0, 161 * T), [0, 0, 0], "DOP853", rtol=1e-11, atol=1e-11, t_eval=[160 * T, 161 * T])
    assert response.mean("x_dot")[-1] == pytest.approx(np.diff(run.y[2])[0] / T, rel=1e-6)
    assert response[-1].mean["y_dot"] == pytest.approx(0, abs=1e-12)
    assert response.mean("x_dot")[0] > response.mean("x_dot")[-1]
    assert response.backbones == ()


def test_a_forced_column_settles_on_its_response():
    column, P = pfaff.atlas.column(2, "skate", "dead"), sm.Symbol("P", real=True)
    second = column.coordinates[1]
    forced = replace(
        column,
        forces={**column.forces, second: column.forces.get(second, 0) + P * sm.cos(Omega * column.time)},
        parameters={**column.parameters, P: 2, Omega: 1},
    )
    case = forced.at(d="1/2", M_L=15, I_L=15, k1=50, c_i=1.5, F=50)
    response = case.response("Omega", from_=0.5, to=1.5)
    point, T = response.at(1.0)[0], 2 * np.pi
    motion = case.simulate(30 * T, samples=3001)
    assert np.abs(motion["theta1"][-101:]).max() == pytest.approx(point.amplitude["theta1"], rel=1e-3)
    assert point.orbit.stable
    assert point.orbit.symmetric


DOUBLE_WELL = pfaff.ode({x: y, y: -0.15 * y + x - x**3 + F * sm.cos(Omega * t)}, {F: 0.1, Omega: 1.2}, name="well")


def test_period_doubling_in_a_double_well():
    """Beyond it motions repeat themselves every second period of the forcing."""
    response = DOUBLE_WELL.at().response("F", from_=0.15, to=0.25, x=1.2)
    (doubling,) = response.of_kind("period doubling")
    twice = doubling.switch(to=0.25)[0]
    assert twice.turns == 2
    T = 2 * np.pi / 1.2
    for beyond, repeats in ((-2e-3, True), (2e-3, False)):
        case = DOUBLE_WELL.at(F=doubling.value + beyond)
        orbit = response.at(doubling.value - 2e-3)[0].orbit.orbit
        began = {name: float(np.interp(T, orbit.t, orbit[name])) for name in ("x", "y")}
        motion = case.simulate(400 * T, samples=401, **began)
        assert (abs(motion["x"][-1] - motion["x"][-2]) < 1e-3) == repeats
        assert motion["x"][-1] == pytest.approx(motion["x"][-3], abs=1e-3)


def test_a_forced_van_der_pol_oscillator_leaves_entrainment_by_a_torus():
    mu = sm.Symbol("mu", real=True)
    system = pfaff.ode({x: y, y: mu * (1 - x**2) * y - x + F * sm.cos(Omega * t)}, {F: 1.5, Omega: 1, mu: 0.4})
    response = system.at().response("Omega", to=1.6, x=2)
    (torus,) = response.of_kind("torus")
    assert np.abs(torus.multipliers) == pytest.approx([1, 1], abs=1e-8)
    T = 2 * np.pi / (torus.value + 0.05)
    motion = system.at(Omega=torus.value + 0.05).simulate(200 * T, samples=201, x=1)
    assert np.ptp(motion["x"][-50:]) > 0.1
    curve = torus.curve("F", to=1.6)
    assert curve[-1].values["F"] == pytest.approx(1.6)


def test_motions_that_have_settled_lead_to_forced_orbits_and_files(tmp_path):
    case = DOUBLE_WELL.at()
    orbit = case.orbit(case.simulate(300, x=1, samples=6001), load="F")
    assert orbit.turns == 1
    branch = orbit.orbits(to=0.2)
    again = pfaff.load_branch(branch.save(tmp_path / "branch.nc"), case)
    assert again.values == pytest.approx(branch.values)
    assert again[0].multipliers == pytest.approx(branch[0].multipliers, rel=1e-6)


def test_a_response_is_saved_read_and_extended(tmp_path):
    case = DOUBLE_WELL.at()
    response = case.response("F", to=0.05, x=1)
    again = pfaff.load(response.save(tmp_path / "response.nc"), case)
    assert type(again) is type(response)
    assert again.status == response.status
    assert again.to_xarray()["amplitude_x"].values == pytest.approx(response.amplitude("x"), rel=1e-8)
    assert again.extend(to=0.1)[-1].amplitude["x"] == pytest.approx(response.extend(to=0.1)[-1].amplitude["x"])
    with pytest.raises(ParameterError, match=r"holds a response: give its case"):
        pfaff.load(tmp_path / "response.nc")
    with pytest.raises(ParameterError, match="holds a response, no branch of orbits"):
        pfaff.load_branch(tmp_path / "response.nc", case)


def test_multiples_of_a_frequency_and_phases_are_one_forcing():
    """x'' + x'/5 + x = cos(2Ωt + 1) + sin(3Ωt): by superposition, over the shared period of Ω."""
    system = pfaff.ode({x: y, y: -y / 5 - x + sm.cos(2 * Omega * t + 1) + sm.sin(3 * Omega * t)}, {Omega: 0.7})
    point = system.at().response("Omega", to=0.8)[0]
    assert point.frequency == pytest.approx(0.7)
    gain = {k: 1 / (1 - (0.7 * k) ** 2 + 0.2j * 0.7 * k) for k in (2, 3)}
    assert point.harmonic(2)["x"] == pytest.approx(gain[2] * np.exp(1j), rel=1e-8)
    assert point.harmonic(3)["x"] == pytest.approx(-1j * gain[3], rel=1e-8)
    assert abs(point.harmonic(1)["x"]) < 1e-9


def test_base_excitation_in_the_energies_and_a_moving_constraint():
    """A mass on a spring whose foot moves by u cos Ωt, stated in absolute and in relative coordinates, and as a
    holonomic constraint on the foot: the same response."""
    u, z = sm.symbols("u zeta", positive=True)
    foot, s = u * sm.cos(Omega * t), dynamicsymbols("s")
    values = {u: 0.2, Omega: 1.3, z: 0.1}
    relative = pfaff.System(
        [x], kinetic=(x + foot).diff(t) ** 2 / 2, potential=x**2 / 2 + x**4, dissipation=z * x.diff(t) ** 2,
        parameters=values,
    )  # fmt: skip
    held = pfaff.System(
        [x, s], kinetic=x.diff(t) ** 2 / 2 + s.diff(t) ** 2, potential=(x - s) ** 2 / 2 + (x - s) ** 4,
        dissipation=z * (x.diff(t) - s.diff(t)) ** 2, holonomic_constraints=[s - foot], parameters=values,
    )  # fmt: skip
    first = relative.at().response("Omega", to=1.4)[0].harmonic(1)["x"]
    second = held.at().response("Omega", to=1.4)[0].harmonic(1)
    assert second["s"] == pytest.approx(0.2, rel=1e-8)
    assert second["x"] - second["s"] == pytest.approx(first, rel=1e-7)


REFUSED = {
    "nothing forces": (pfaff.ode({x: y, y: -x}, {F: 1}), {"to": 2}, ParameterError, "nothing forces ode"),
    "grows": (pfaff.ode({x: y, y: -x + F * t}, {F: 1}), {"to": 2}, StatementError, "equation of y of ode depends on"),
    "two frequencies": (
        pfaff.ode({x: y, y: -x + sm.cos(F * t) + sm.cos(t)}, {F: 1}), {"to": 2}, ParameterError, "no rational number",
    ),
    "backwards": (pfaff.ode({x: y, y: -x + sm.cos(F * t)}, {F: -1}), {"to": 2}, ParameterError, "frequency F = -1"),
    "no end": (DOUBLE_WELL, {}, ParameterError, "how far"),
    "no state": (DOUBLE_WELL, {"to": 2, "q": 1}, ParameterError, "well has no state 'q'"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_has_no_response_is_told_why(name):
    system, given, error, words = REFUSED[name]
    with pytest.raises(error, match=words):
        system.at().response("F", **given)


def test_what_is_forced_does_not_rest():
    case = DOUBLE_WELL.at()
    for ask in (case.equilibrium, case.spectrum, lambda: case.hopf(load="F"), lambda: case.branch("F", to=1)):
        with pytest.raises(ParameterError, match="depends on time explicitly, so that it does not rest"):
            ask()


def test_everything_by_name(hardening):
    data = hardening.to_xarray()
    assert data["amplitude_x"].dims == ("point",)
    assert list(data["special_kind"].values) == ["fold", "fold"]
    assert data.attrs["status"] == hardening.status
    longer = duffing().response("Omega", from_=0.5, to=0.7).extend(to=0.9)
    assert longer.values[-1] == pytest.approx(0.9)
    assert hardening.peak("x").amplitude["x"] == hardening.amplitude("x").max()


def test_responses_are_followed_on_the_level_of_what_is_conserved():
    """Duffing's oscillator whose stiffness 1 + w − q² is constant though none of its states is: its responses are those
    of one with that stiffness, and no branch points are among them where a multiplier is 1 by structure."""
    q, v, w, stiffness = sm.symbols("q v w stiffness", real=True)
    force = -v / 10 - q**3 + sm.cos(Omega * t) / 3
    with_level = pfaff.ode({q: v, v: force - (1 + w - q**2) * q, w: 2 * q * v}, {Omega: 1}, load=Omega)
    plain = pfaff.ode({q: v, v: force - stiffness * q}, {Omega: 1, stiffness: 1}, load=Omega)
    response = with_level.at().response("Omega", to=2.2, w=0.2)
    levels = [orbit["w"] - orbit["q"] ** 2 for orbit in (point.orbit.orbit for point in response)]
    assert np.concatenate(levels) == pytest.approx(0.2, abs=1e-4)
    other = plain.at(stiffness=1.2).response("Omega", to=2.2)
    assert [each.kind for each in response.special] == ["fold", "fold"]
    assert [each.value for each in response.special] == pytest.approx([each.value for each in other.special], rel=3e-5)


def test_a_load_that_excites_leaves_nothing_at_rest():
    """Frozen at t = 0, x = F would pass for an equilibrium, and μ = F² for a Hopf point."""
    (q,) = coordinates("q")
    F, Omega, mu = sm.symbols("F Omega mu")
    forces = {q: F * sm.cos(Omega * TIME) + (mu - q**2) * q.diff(TIME)}
    given = {F: 0, Omega: "6/5", mu: "1/4"}
    system = pfaff.System(
        [q], kinetic=q.diff(TIME) ** 2 / 2, potential=q**2 / 2, forces=forces, parameters=given, load=F
    )
    case = system.at()
    for ask in (lambda: case.hopf(to=2), lambda: case.branch(to=2), case.flutter, case.critical):
        with pytest.raises(ConvergenceError, match="F excites system by terms that depend on time"):
            ask()
    assert case.hopf("mu", to=1).value == pytest.approx(0, abs=1e-12)
    assert [each.kind for each in case.branch("mu", to=-1).special] == ["hopf"]


def test_what_moves_with_the_load_rests_at_all_times():
    """A force (q − P)³ cos t vanishes at q = P, whatever P is."""
    (q,) = coordinates("q")
    P = sm.Symbol("P", real=True)
    system = pfaff.System(
        [q], kinetic=q.diff(TIME) ** 2 / 2, potential=(q - P) ** 2 / 2, dissipation=q.diff(TIME) ** 2 / 20,
        forces={q: (q - P) ** 3 * sm.cos(TIME)}, parameters={P: 0.1}, load=P,
    )  # fmt: skip
    branch = system.at().branch(to=1)
    assert branch[-1]["q"] == pytest.approx(1, abs=1e-12)


def test_a_state_without_the_frequency_of_the_forcing_has_no_phase():
    """ẍ + ẋ + x = q² driven by q = cos Ωt: even harmonics only."""
    x, u, v, Omega = sm.symbols("x u v Omega", real=True)
    t = sm.Symbol("t")
    case = pfaff.ode({x: u, u: -u - x + v**2, v: -v + sm.cos(Omega * t)}, {Omega: 1}, load=Omega).at()
    response = case.response("Omega", from_=1, to=2)
    assert np.isnan(response.phase("x")).all()
    assert np.isfinite(response.phase("v")).all()
    assert "no part at" in "".join(each.get_text() for each in response.plot("x").axes[1].texts)


def roller_car(offset: float) -> pfaff.System:
    """A car propelled by its steering link: an axle at (x, y), wheels b0 behind a joint that a couple turns."""
    x, y, theta, phi = dynamicsymbols("x y theta phi")
    b0, Omega = sm.Symbol("b0", nonnegative=True), sm.Symbol("Omega", positive=True)
    ahead, across = sm.Matrix([sm.cos(theta), sm.sin(theta)]), sm.Matrix([-sm.sin(theta), sm.cos(theta)])
    turned = theta + phi
    axle = sm.Matrix([x, y])
    wheel = axle + ahead - b0 * sm.Matrix([sm.cos(turned), sm.sin(turned)])
    centre = (axle + ahead / 2).diff(t)
    rates = x.diff(t), y.diff(t), phi.diff(t)
    return pfaff.System(
        [x, y, theta, phi],
        centre.dot(centre) / 2 + 3 * theta.diff(t) ** 2 / 20 + turned.diff(t) ** 2 / 10,
        phi**2,
        dissipation=3 * sum(rate**2 for rate in rates) / 20,
        forces={phi: 3 * sm.cos(Omega * t) / 10},
        nonholonomic_constraints=[
            axle.diff(t).dot(across),
            wheel.diff(t).dot(sm.Matrix([-sm.sin(turned), sm.cos(turned)])),
        ],
        parameters={b0: offset, Omega: 1},
    )


@pytest.mark.parametrize("offset", [0, 1, 3])
def test_a_response_does_not_depend_on_the_default_parameters(offset):
    """With b0 = 3 the constraints determine phi_dot best, with b0 = 0 not at all: the case decides, not the default."""
    response = roller_car(offset).at(b0=0).response("Omega", from_=1, to=1.2)
    expected = roller_car(0).at().response("Omega", to=1.2)
    assert [point.value for point in (response[0], response[-1])] == pytest.approx([1, 1.2])
    for name in ("phi", "phi_dot"):
        ours, theirs = (each.amplitude(name)[[0, -1]] for each in (response, expected))
        assert ours == pytest.approx(theirs, rel=1e-6)


# A pendulum in a plane that turns, by its angle and by places


def turning_pendulum(form):
    a, x, y, z = pfaff.statement.coordinates("a x y z")
    t, w, A = pfaff.statement.TIME, sm.Symbol("w", positive=True), sm.Symbol("A")
    across = sm.Rational(2, 5)
    q, place, rows = {
        "angle": ([a], sm.Matrix([sm.sin(a), 0, -sm.cos(a)]), []),
        "plane": ([x, z], sm.Matrix([x, 0, z]), [x**2 + z**2 - 1]),
        "space": ([x, y, z], sm.Matrix([x, y, z]), [x**2 + y**2 + z**2 - 1, y]),
    }[form]
    speed = place.diff(t)
    carried = speed + across * sm.Matrix([-place[1], place[0], 0])
    return pfaff.System(
        q, carried.dot(carried) / 2, place[2], dissipation=speed.dot(speed) / 20, holonomic_constraints=rows,
        forces={each: A * sm.cos(w * t) * place[0].diff(each) for each in q}, parameters={A: 0.3, w: 0.5},
    ).at()  # fmt: skip


@pytest.mark.parametrize("form", ["plane", "space"])
def test_a_constrained_response_is_that_of_the_angle(form):
    plain = turning_pendulum("angle").response("w", to=1.2)
    other = turning_pendulum(form).response("w", to=1.2, z=-1)
    assert [special.kind for special in other.special] == [special.kind for special in plain.special] == ["fold"] * 2
    assert [each.value for each in other.special] == pytest.approx([each.value for each in plain.special], rel=1e-9)
    for point in list(other)[::6]:
        own = np.sort_complex(point.orbit.multipliers)
        alike = [np.abs(np.sort_complex(each.orbit.multipliers) - own).max() for each in plain.at(point.value)]
        assert min(alike) < 1e-7 * max(1, abs(own).max())


@pytest.mark.parametrize("form", ["plane", "space"])
def test_a_response_starts_where_its_constraints_hold(form):
    """The length of a pendulum is stationary at x = z = 0: it starts at rest where it hangs, and says so."""
    case = turning_pendulum(form)
    hanging, completed = case.response("w", to=0.7, z=-1), case.response("w", to=0.7)
    assert "from z = -1, by its constraints" in completed.status
    assert "by its constraints" not in hanging.status
    assert completed[0].orbit.multipliers == pytest.approx(hanging[0].orbit.multipliers, rel=1e-6, abs=1e-9)
    assert "from z = -0.6, by its constraints" in case.response("w", to=0.7, x=0.8).status
    with pytest.raises(ConstraintError, match="holonomic constraint"):
        case.response("w", to=0.7, x=2)


def test_a_pendulum_on_a_shaken_support_responds_alike_however_the_support_is_stated():
    """At rest beside a coordinate that a constraint moves, it has no amplitude by which to measure its velocity."""
    Y, a = coordinates("Y a")
    A, Om, c = sm.symbols("A Omega c", positive=True)
    height, values = A * sm.cos(Om * TIME), {A: 0.2, Om: 20, c: 0.1}
    across = (sm.cos(a) * a.diff(TIME)) ** 2

    def up(speed):
        return (across + (speed + sm.sin(a) * a.diff(TIME)) ** 2) / 2

    D, V = c * a.diff(TIME) ** 2 / 2, -9.81 * sm.cos(a)
    eliminated = pfaff.System([a], up(height.diff(TIME)), V, D, parameters=values)
    shaken = pfaff.System(
        [Y, a], up(Y.diff(TIME)), V + 9.81 * Y, D, holonomic_constraints=[Y - height], parameters=values
    )
    found = [
        [each.value for each in system.at().response("Omega", from_=12, to=2).special]
        for system in (eliminated, shaken)
    ]
    np.testing.assert_allclose(found[0], [8.21302, 5.33783], rtol=1e-6)
    np.testing.assert_allclose(found[1], found[0], rtol=1e-8)
