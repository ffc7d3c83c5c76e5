"""Nonlinear normal modes: families of free vibrations by energy or frequency, and what branches off them."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
import sympy as sm
from scipy.optimize import brentq
from scipy.special import ellipk, mathieu_b
from sympy.physics.mechanics import dynamicsymbols

import pfaff
from pfaff.bifurcation.modes import families
from pfaff.continuation.engine import Engine
from pfaff.errors import ConvergenceError, NoBifurcationError, ParameterError
from test_arms import arm

t = dynamicsymbols._t
x, y = dynamicsymbols("x y")
k = sm.Symbol("k", real=True)
c = sm.Symbol("c", nonnegative=True)

PENDULUM = pfaff.System([x], x.diff(t) ** 2 / 2, -sm.cos(x), c * x.diff(t) ** 2, parameters={c: 0.1}, name="pendulum")
PAIR = pfaff.System(
    [x, y],
    kinetic=(x.diff(t) ** 2 + y.diff(t) ** 2) / 2,
    potential=(x**2 + y**2) / 2 + (x**4 + y**4) / 4 + k * (x - y) ** 2 / 2,
    dissipation=c * (x.diff(t) ** 2 + y.diff(t) ** 2),
    parameters={k: 0.2, c: 0.05},
    name="pair",
)


def test_a_pendulum_by_its_energy():
    """T = 4 K(E/2) with E above that at rest, damped as it may be."""
    mode = PENDULUM.at().normal_mode(energy=1.9)
    assert mode.energies[-1] == pytest.approx(1.9, rel=1e-9)
    assert 2 * np.pi / mode.frequencies == pytest.approx(4 * ellipk(mode.energies / 2), rel=1e-8)
    assert "reached energy 1.9" in mode.status


def test_amplitudes_between_the_points_of_a_mesh():
    """T = 4 K(sin²(A/2))/ω; near A = π a fast pendulum's largest angle is at none of them."""
    g = sm.Symbol("g", positive=True)
    fast = pfaff.System([x], x.diff(t) ** 2 / 2, -g * sm.cos(x), parameters={g: 1e10}).at()
    mode = fast.normal_mode(amplitude=3.14)
    assert mode[-1].period == pytest.approx(4 * ellipk(np.sin(3.14 / 2) ** 2) / 1e5, rel=1e-7)


def test_a_pendulum_has_no_vibration_above_its_separatrix():
    mode = PENDULUM.at().normal_mode(energy=2.5)
    assert mode.energies.max() == pytest.approx(2, abs=1e-9)
    assert mode.ended == "the period grows without bound: towards a heteroclinic cycle"


@pytest.fixture(scope="module")
def out_of_phase():
    return PAIR.at().normal_mode(2, energy=5)


def test_vibrations_of_two_equal_oscillators(out_of_phase):
    """In and out of phase, each mass by itself: Duffing's equation with the frequencies 1 and √(1 + 2k) at rest."""
    inside = PAIR.at().normal_mode(1, frequency=1.5)
    for mode, square in ((inside, 1.0), (out_of_phase, 1.4)):
        A = mode.amplitudes["x"]
        period = 4 * ellipk(A**2 / (2 * square + 2 * A**2)) / np.sqrt(square + A**2)
        assert 2 * np.pi / mode.frequencies == pytest.approx(period, rel=1e-7)
        assert mode.energies == pytest.approx(square * A**2 + A**4 / 2, rel=1e-7)
    assert inside.frequencies[-1] == pytest.approx(1.5)
    assert inside.special == ()


def test_localised_vibrations_branch_off_where_lames_equation_says(out_of_phase):
    """ẅ + (1 + 3u²) w = 0 for the sum w beside u cn, a Lamé equation, has its edge of stability at A² = 4k/3."""
    (point,) = out_of_phase.special
    assert point.kind == "branch point"
    assert point.amplitude["x"] ** 2 == pytest.approx(4 * 0.2 / 3, rel=1e-7)
    local = out_of_phase.switch(point, energy=1.0)
    assert local.energies[-1] == pytest.approx(1.0, rel=1e-6)
    assert abs(local.amplitudes["x"][-1] - local.amplitudes["y"][-1]) > 0.3
    stable = out_of_phase.to_xarray()["stable"].values
    assert stable[0]
    assert not stable[-1]
    assert local.stable(local[-1])


def test_special_points_lead_on_by_themselves(out_of_phase):
    """To other vibrations of the same energy, and not along the damping that unfolds them."""
    (point,) = out_of_phase.special
    by_mode, by_point = out_of_phase.switch(point, energy=1.0), point.switch(energy=1.0)
    assert by_point.status == by_mode.status
    assert by_point.energies == pytest.approx(by_mode.energies, rel=1e-12)
    assert point.energy == pytest.approx(1.4 * 0.8 / 3 + (0.8 / 3) ** 2 / 2, rel=1e-7)
    with pytest.raises(ParameterError, match="no argument 'to'"):
        point.switch(to=5.0)
    with pytest.raises(ParameterError, match="how far"):
        point.switch()
    with pytest.raises(NoBifurcationError, match=r"no curve in parameters.*normal_mode"):
        point.curve("k", 1.0)
    for vibration in (point, out_of_phase[0]):
        with pytest.raises(ParameterError, match="no branch in a parameter"):
            vibration.orbits(to=1.0)


def test_a_mode_says_how_it_is_kept(out_of_phase):
    with pytest.raises(AttributeError, match=r"no 'save': write its numbers by mode.to_xarray\(\).to_netcdf"):
        _ = out_of_phase.save


def test_energy_is_conserved_along_every_vibration(out_of_phase):
    local = out_of_phase.switch(out_of_phase.special[0], energy=1.0)
    orbit = local[-1].orbit
    energies = local.vibration.energy(np.ascontiguousarray(orbit.x))
    assert np.ptp(energies) < 1e-7
    motion = PAIR.at(c=0).simulate(orbit.t[-1], **{name: float(orbit[name][0]) for name in orbit.states})
    assert motion["x"][-1] == pytest.approx(orbit["x"][0], abs=1e-6)


def test_the_order_of_coordinates_and_units_do_not_matter(out_of_phase):
    L = 100
    turned = pfaff.System(
        [y, x],
        kinetic=(x.diff(t) ** 2 + y.diff(t) ** 2) / 2,
        potential=(x**2 + y**2) / 2 + (x**4 + y**4) / 4 / L**2 + k * (x - y) ** 2 / 2,
        parameters={k: 0.2},
    )
    (point,) = turned.at().normal_mode(2, energy=5 * L**2).special
    assert point.amplitude["x"] == pytest.approx(L * out_of_phase.special[0].amplitude["x"], rel=1e-7)


def test_what_has_no_normal_mode_is_told_why():
    with pytest.raises(ParameterError, match="how far"):
        PAIR.at().normal_mode(1)
    with pytest.raises(ParameterError, match="number=3"):
        PAIR.at().normal_mode(3, energy=1)
    inverted = pfaff.System([x], x.diff(t) ** 2 / 2, sm.cos(x))
    with pytest.raises(NoBifurcationError, match="does not vibrate"):
        inverted.at().normal_mode(energy=1)
    with pytest.raises(ParameterError, match=r"give one of mode\.special"):
        PENDULUM.at().normal_mode(energy=0.5).switch(None, energy=1)


@pytest.mark.parametrize("limit", [{"energy": 0}, {"energy": -1}, {"amplitude": 0}, {"frequency": 0}])
def test_a_mode_ends_nowhere_below_rest(limit):
    with pytest.raises(ParameterError, match="give a positive number, at which the mode ends"):
        PENDULUM.at().normal_mode(**limit)


def test_steps_may_be_fractions_and_are_positive(out_of_phase):
    mode = PENDULUM.at().normal_mode(energy=0.1, step="1/10")
    assert mode.energies == pytest.approx(PENDULUM.at().normal_mode(energy=0.1).energies)
    for wrong in ({"step": -1}, {"points": 0}):
        with pytest.raises(ParameterError, match=next(iter(wrong))):
            out_of_phase.switch(out_of_phase.special[0], energy=1, **wrong)


def test_events_and_measures_of_a_mode():
    """A pendulum swings to a right angle with E = 1 and T = 4 K(1/2)."""
    mode = PENDULUM.at().normal_mode(energy=1.5, events={"right angle": "max_x = pi/2", "one": "energy = 1"})
    right, one = (mode.of_kind(f"event: {name}")[0] for name in ("right angle", "one"))
    assert one.period == pytest.approx(4 * ellipk(0.5), rel=1e-8)
    assert right.period == pytest.approx(one.period, rel=1e-6)
    assert one.status.startswith("event: one at frequency 0.8472130848, energy 1")
    assert mode.measure("energy * frequency") == pytest.approx(mode.energies * mode.frequencies, rel=1e-12)
    with pytest.raises(ParameterError, match="give one of mode.special at which others branch off"):
        mode.switch(one, energy=2)


def test_an_interruption_keeps_the_vibrations_so_far():
    def stop(vibration):
        if vibration.energy > 0.1:
            raise KeyboardInterrupt

    mode = PENDULUM.at().normal_mode(energy=1.9, progress=stop)
    assert mode.ended.reason is pfaff.Reason.INTERRUPTED
    assert 0.1 < mode.energies[-1] < 1


@pytest.mark.parametrize(
    ("interrupted", "case"), [("check_conserved", PENDULUM.at), ("Passage", lambda: free_arm("spring"))]
)
def test_an_interruption_leaves_no_half_followed_backbones(interrupted, case, monkeypatch):
    """Modes are parts of a response's picture: one that was cut short, in its chart or as it leaves it, would pass for
    a whole one."""

    def stop(*of):
        raise KeyboardInterrupt

    monkeypatch.setattr(families, interrupted, stop)
    with pytest.raises(KeyboardInterrupt):
        families.backbones(case(), (0.5, 2.0), 3.0)


@cache
def free_arm(third, tilt=0):
    """The arm of other tests without drive and damping: it vibrates about equilibria that nonholonomic constraints put
    into families, unless its hinge slides freely."""
    return replace(arm(third, tilt), forces={}, dissipation=0, parameters={}, load=None).at()


def closes(case, vibration):
    """By how much Taylor's method misses the start after a period, in units of its amplitudes and of what the orbit
    magnifies."""
    orbit = vibration.orbit
    start = {name: float(orbit[name][0]) for name in orbit.states}
    motion = case.simulate(orbit.t[-1], project=True, **start)  # its velocities obey constraints but for rounding
    misses = [
        abs(motion[name][-1] - float(orbit[name][0])) / vibration.amplitude[name]
        for name in case.system.coordinate_names
    ]
    return max(misses) / max(1.0, np.abs(vibration.multipliers).max() ** 2)


@pytest.mark.parametrize(("third", "number", "amplitude"), [("spring", 1, 2.6), ("spring", 2, 2.0), ("castor", 1, 2.0)])
def test_modes_pass_where_constraints_do_not_determine_a_velocity(third, number, amplitude):
    """Beyond a right angle of the skate, where its chart ends; the free vibrations about neighbouring equilibria, which
    are everywhere, break no symmetry."""
    case = free_arm(third)
    mode = case.normal_mode(number, amplitude=amplitude)
    assert mode.status.endswith(f"reached amplitude {amplitude:g}")
    turns = np.count_nonzero(np.diff(np.sign(np.diff(mode.energies))))
    assert len(mode.of_kind("fold")) == turns
    assert len(mode.special) - turns <= 3
    assert len(mode[-1].orbit.states) == 6  # all velocities
    assert mode.energies[0] < 1e-3 < mode.energies[-1]
    assert mode.frequencies[0] == pytest.approx(mode.vibration.frequencies[number - 1], rel=1e-4)
    for vibration in (mode[len(mode) // 2], mode[-1]):
        assert closes(case, vibration) < 1e-6
        energies = mode.vibration.energy(np.ascontiguousarray(vibration.point.cycle.x.T))
        assert np.ptp(energies) < 1e-7 * vibration.energy


@pytest.mark.slow
def test_modes_about_equilibria_of_a_family_without_symmetry():
    """A tilted skate leaves no mirror image: one vibration about each of the neighbouring equilibria is selected."""
    case = free_arm("spring", sm.Rational(1, 2))
    mode = case.normal_mode(1, amplitude=0.2)
    assert mode.status.endswith("no special points; reached amplitude 0.2")
    assert closes(case, mode[-1]) < 1e-6


def test_modes_that_are_linear_however_large():
    """A knife edge on springs: θ = A cos √3 t turns on the spot and x = A cos t runs straight, both about equilibria of
    a family, and nothing else crosses the unit circle."""
    theta = dynamicsymbols("theta")
    kinetic = (x.diff(t) ** 2 + y.diff(t) ** 2 + theta.diff(t) ** 2) / 2
    potential = (x**2 + 2 * y**2 + 3 * theta**2) / 2
    blade = [x.diff(t) * sm.sin(theta) - y.diff(t) * sm.cos(theta)]
    knife = pfaff.System([x, y, theta], kinetic, potential, nonholonomic_constraints=blade).at()
    for number, square, energy, moves in ((1, 1, 0.5, "x"), (2, 3, 3.0, "theta")):
        mode = knife.normal_mode(number, energy=energy)
        assert mode.status.endswith(f"no special points; reached energy {energy:g}")
        assert mode.frequencies == pytest.approx(np.sqrt(square), rel=1e-9)
        assert mode.amplitudes[moves] == pytest.approx(np.sqrt(2 * mode.energies / square), rel=1e-8)


def two_masses(potential, *, masses=(1, 1), **others):
    kinetic = (masses[0] * x.diff(t) ** 2 + masses[1] * y.diff(t) ** 2) / 2
    return pfaff.System([x, y], kinetic, potential, **others)


def test_the_first_special_point_is_found_however_far_a_mode_goes():
    """x = A cos ωt, y = 0 is exact in V = (ω²x² + y²)/2 + xy²; beside it ÿ + (1 + 2A cos ωt) y = 0 is Mathieu's
    equation, whose first tongue begins where 4/ω² = b₁(4A/ω²)."""
    for detuning in (0.2, 0.05):
        square = 4 + detuning
        case = two_masses((sm.Float(square) * x**2 + y**2) / 2 + x * y**2).at()
        A = brentq(lambda A, square=square: mathieu_b(1, 4 * A / square) - 4 / square, 1e-4, 0.2, xtol=1e-15)
        for energy in (10, 0.1, 0.01):
            mode = case.normal_mode(2, energy=energy)
            (doubling,) = mode.special
            assert doubling.kind == "period doubling"
            assert doubling.energy == pytest.approx(square * A**2 / 2, rel=1e-6)
            assert mode[0].stable
            assert not mode[-1].stable


s = sm.Symbol("s", positive=True)
CUBIC = two_masses(x**2 / 2 + y**2 / 2 + (x - y) ** 2 / 2 + s * x**4 / 8, parameters={s: 1}, name="cubic spring")


@pytest.mark.parametrize(("scale", "step"), [(1, 0.1), (1e-8, 0.1), (1e-4, 0.05), (1, 0.2), (1, 0.3)])
def test_the_energy_folds_wherever_it_turns(scale, step):
    """The system of Kerschen et al. (2009): s scales x only, so that s·E of special points is invariant; a multiplier
    passes 1 where the energy turns, and no other family crosses there."""
    mode = CUBIC.at(s=scale).normal_mode(1, energy=1e4 / scale, points=1000, step=step)
    assert mode.ended.reason is pfaff.Reason.REACHED
    assert [fold.energy * scale for fold in mode.of_kind("fold")] == pytest.approx(
        [4680.54629, 285.158987, 2105.46602, 1786.38508], rel=1e-7
    )
    breaks = [point.energy * scale for point in mode.of_kind("symmetry breaking")]
    assert breaks == pytest.approx([40.974811, 2730.78526, 6684.03401], rel=1e-7)
    assert len(mode.special) == 7
    turns = np.diff(np.sign(np.diff(mode.energies)))
    assert np.count_nonzero(turns) == 4
    with pytest.raises(ParameterError, match="no branch of orbits crosses at a fold"):
        mode.switch(mode.of_kind("fold")[0], energy=1)


@pytest.mark.parametrize("step", [0.02, 0.1, 0.3])
def test_resonance_invents_no_special_points(step):
    """All multipliers of Hénon and Heiles's small vibrations are 1 but for E: what rounding hides is not told."""
    mode = two_masses((x**2 + y**2) / 2 + x**2 * y - y**3 / 3).at().normal_mode(2, energy=0.16, step=step)
    assert [each.kind for each in mode.special] == ["period doubling"] * 2
    assert [each.energy for each in mode.special] == pytest.approx([0.13528592, 0.15253574], rel=1e-7)
    assert not mode[0].resolved
    assert "stability not resolved" in mode[0].status
    assert not mode.to_xarray()["resolved"].values[0]
    assert all(point.stable for point in mode if point.resolved and point.energy < 0.1352)


def test_a_mode_that_resonance_destroys_is_refused():
    """x alone is no mode of Hénon and Heiles's potential, nor y of V = (4x² + y²)/2 + xy²: rounding makes none."""
    for potential in ((x**2 + y**2) / 2 + x**2 * y - y**3 / 3, (4 * x**2 + y**2) / 2 + x * y**2):
        with pytest.raises(ConvergenceError, match="another frequency may be a multiple"):
            two_masses(potential).at().normal_mode(1, energy=0.1)


def changes(mode):
    """Of stability, from vibration to vibration at which it is resolved."""
    return np.count_nonzero(np.diff([int(point.stable) for point in mode if point.resolved]))


def test_stability_changes_at_special_points_only():
    """With ω₂ = 2ω₁ vibrations are unstable from the first, by less than 1e-8; no threshold shows."""
    potential = x**2 / 2 + x**4 / 8 + (y - x) ** 2 / 4
    mode = two_masses(potential, masses=(1, sm.Rational(1, 2))).at().normal_mode(1, amplitude=2)
    (breaking,) = mode.special
    assert breaking.energy == pytest.approx(0.1293229, rel=1e-6)
    assert changes(mode) == 1
    assert all(point.stable == (point.energy > breaking.energy) for point in mode if point.resolved)
    assert len(mode) < 40


def test_a_neutral_direction_is_no_loss_of_stability():
    """Vibrations through a centre of force may be turned: a pair of multipliers is 1 on all of them."""
    mode = two_masses((x**2 + y**2) / 2 + (x**2 + y**2) ** 2 / 4).at().normal_mode(1, energy=1)
    assert mode.special == ()
    assert not any(point.resolved or point.stable for point in mode)


def test_no_parameter_turns_along_a_mode(monkeypatch):
    """That which unfolds it is zero but for rounding, and is not searched for folds."""
    monkeypatch.setattr(Engine, "located", None)
    assert PENDULUM.at().normal_mode(energy=1.9).ended.reason is pfaff.Reason.REACHED


@cache
def bars(count):
    return pfaff.atlas.column(count, load="spring").at(d="1/2", M_L=15, I_L=15, k1=50, K=40)


def test_meshes_resolve_quicker_vibrations():
    """Of two bars one vibrates 17.8 times as fast as the other: its multiplier is e^{2πi ω₂/ω₁} where both are small,
    and far from −1."""
    mode = bars(2).normal_mode(1, energy=0.2)
    first, second = mode.vibration.frequencies
    small = bars(2).normal_mode(1, energy=1e-6, points=2)[0]
    assert np.abs(small.multipliers - np.exp(2j * np.pi * second / first)).min() < 1e-6
    assert mode.special == ()
    assert all(point.stable for point in mode)


def test_vibrations_quicker_than_meshes_resolve_are_told():
    """The third frequency of three bars is 338 times the first."""
    mode = bars(3).normal_mode(1, energy=1e-4)
    assert mode.special == ()
    assert not any(point.resolved for point in mode)


def test_what_meshes_do_not_resolve_crosses_nothing():
    """Beside x alone, ÿ + (Ω² + 2c x²) y = 0 is adiabatic for Ω = 200: its tongues are narrower than e^{-Ω}, whatever
    multipliers on a mesh for x do."""
    mode = two_masses(x**2 / 2 + x**4 / 4 + 20000 * y**2 + 3000 * x**2 * y**2).at().normal_mode(1, energy=10)
    assert mode.special == ()
    assert not mode[0].resolved


@pytest.mark.slow
def test_levels_settle_but_for_rounding():
    """Of seven bars a sweep leaves 1e-11 of a level, and steps are as long as those of few."""
    mode = bars(7).normal_mode(1, energy=1, points=36)
    growth = np.diff(np.log(mode.energies))
    assert growth[2:].min() > 0.15


def test_a_frequency_on_the_other_side_ends_in_words():
    """Duffing's spring hardens: no vibration is slower than the small ones."""
    duffing = pfaff.System([x], x.diff(t) ** 2 / 2, x**2 / 2 + x**4 / 4).at()
    mode = duffing.normal_mode(frequency=0.5)
    assert mode.ended == "the frequency rises from 1 on, away from 0.5: give one above it, energy=… or amplitude=…"
    assert mode.frequencies[-1] < 1.7
    softening = PENDULUM.at().normal_mode(frequency=1.2)
    assert "the frequency falls from 1 on, away from 1.2: give one below it" in softening.status
    assert "reached frequency 0.9" in PENDULUM.at().normal_mode(frequency=0.9).status


def test_modes_about_another_equilibrium():
    """V = −x²/2 + x⁴/4 has its wells at ±1, with ω = √2."""
    wells = pfaff.System([x], x.diff(t) ** 2 / 2, -(x**2) / 2 + x**4 / 4).at()
    with pytest.raises(NoBifurcationError, match=r"start at a stable one: give its coordinates as keywords, x=…"):
        wells.normal_mode(energy=0.1)
    assert wells.normal_mode(energy=0.1, x=1).frequencies[0] == pytest.approx(np.sqrt(2), rel=1e-6)


def test_both_panels_show_special_points_and_a_legend_names_them(out_of_phase):
    left, right = out_of_phase.plot().axes
    (point,) = out_of_phase.special
    places = [np.log10(point.energy), point.frequency], [point.frequency, point.amplitude["x"]]
    for axes, place in zip((left, right), places, strict=True):
        (mark,) = (line for line in axes.lines if line.get_marker() == "X")
        assert np.ravel(mark.get_xydata()) == pytest.approx(place)
        drawn = [line for line in axes.lines if line.get_marker() == "None"]
        assert [line.get_linestyle() for line in drawn] == ["-", "--"]
        assert sum(len(line.get_xydata()) for line in drawn) > 10 * len(out_of_phase)
    assert [text.get_text() for text in right.get_legend().get_texts()] == ["branch point", "stable", "unstable"]
