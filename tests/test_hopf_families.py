"""Hopf points on families of equilibria: what decides along the family, and the first cycle as a second route."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
import sympy as sm

import pfaff
from conftest import XI_HAT
from pfaff.statement import TIME, coordinates

x, y, s = sm.symbols("x y s")
mu = sm.Symbol("mu", real=True)
R = sm.Rational

# Re α, Re c, b, d and a' of ρ̇ = 2ρ(μ + Re α s + Re c ρ), ṡ = ρ(a'μ + b s + d ρ) with ρ = |z|²
FORMS = {
    "mirror": (0, -1, R(1, 2), 0, 0),
    "node": (R(1, 2), -1, R(-3, 4), R(2, 5), R(1, 3)),
    "focus": (1, -1, R(-1, 2), -2, 0),
    "subcritical": (R(1, 2), 1, -1, R(1, 3), R(1, 4)),
    "saddle": (R(1, 2), -1, R(3, 4), R(2, 5), R(1, 3)),
    "stable where subcritical": (1, -2, 1, -6, 0),
}


def along_a_line(alpha, c, b, d, by_load):
    """The normal form in other coordinates, in which s is curved."""
    S = s + R(3, 10) * x * y + x**2 / 5 + y / 7
    square = x**2 + y**2
    grows, turns = mu + alpha * S + c * square, R(13, 10) + R(2, 5) * square + S / 3
    f, g = grows * x - turns * y, turns * x + grows * y
    moves = square * (by_load * mu + b * S + d * square)
    return pfaff.ode({x: f, y: g, s: moves - sm.diff(S, x) * f - sm.diff(S, y) * g}, {mu: -1}, load=mu).at()


def expected(alpha, c, b, d, by_load):
    """Re c of the cycles' own amplitude, and the rates about them, per ρ."""
    eta = -by_load / 2
    level, own = b + 2 * eta * alpha, c - alpha * eta
    push = d + 2 * eta * c - level * eta
    return own - alpha * push / level, np.linalg.eigvals([[2 * own, 2 * alpha], [push, level]])


@pytest.mark.parametrize("name", FORMS)
def test_rates_along_a_family_are_those_of_the_normal_form_and_of_the_cycles(name):
    h = along_a_line(*FORMS[name]).hopf(to=1)
    own, rates = expected(*map(float, FORMS[name]))
    unit = (2 * abs(h.q[0])) ** 2
    assert h.c1.real == pytest.approx(own * unit, rel=1e-10)
    assert np.sort_complex(h.normal_form.rates) == pytest.approx(np.sort_complex(rates * unit), rel=1e-9)
    assert h.V3 / (3 * np.pi) == pytest.approx(h.l1, rel=1e-9)
    orbit = h.orbits(to=0.05 if own < 0 else -0.05)[0]
    per = orbit.period * -orbit.value / h.c1.real  # T ρ
    found = np.log(orbit.multipliers.astype(complex)) / per
    found = np.delete(found, np.abs(found).argmin())
    assert np.sort_complex(found) == pytest.approx(np.sort_complex(rates * unit), rel=1e-3)
    assert h.stable_cycles is orbit.stable is bool((rates.real < 0).all())
    assert all(check.passed for check in h.checks)
    assert len(h.checks) == 3


def test_a_conserved_level_is_distinguished_from_a_family_that_repels():
    """a' = −2η, b = −2η Re α, d = −2η Re c: s + ηρ is conserved."""
    h = along_a_line(R(1, 2), -1, R(1, 5), R(-2, 5), R(2, 5)).hopf(to=1)
    assert h.criticality == "supercritical"
    assert h.stable_cycles is True
    assert h.normal_form.rates == pytest.approx([2 * h.c1.real])
    assert h.c1.real == pytest.approx(-0.9 * (2 * abs(h.q[0])) ** 2, rel=1e-10)
    assert [check.passed for check in h.checks] == [True] * 4


@pytest.mark.parametrize(
    ("matrix", "rates", "kept"),
    [
        ([[-1, R(1, 2)], [R(-1, 3), -2]], [-2.42264973, -3.57735027], 0),
        ([[1, R(1, 2)], [R(-1, 3), -2]], [1.88675135, -3.88675135], 0),
        ([[0, 0], [0, 0]], [], 2),
        ([[-1, 2], [0, 0]], [-2], 1),
    ],
)
def test_planes_of_equilibria_attract_repel_or_conserve_by_their_own_directions(matrix, rates, kept):
    r = sm.Symbol("r")
    square = x**2 + y**2
    turning = {x: (mu - square) * x - R(13, 10) * y, y: R(13, 10) * x + (mu - square) * y}
    along = {state: square * (a * s + b * r) for state, (a, b) in zip((s, r), matrix, strict=True)}
    h = pfaff.ode(turning | along, {mu: -1}, load=mu).at().hopf(to=1)
    assert np.sort(h.normal_form.rates.real) == pytest.approx(np.sort([-4, *rates]), rel=1e-8)
    assert h.normal_form.kept[0].shape == (2, kept)
    assert h.stable_cycles is (max([-4, *rates]) < 0)
    assert [check.passed for check in h.checks] == [True] * (4 if kept else 3)
    orbit = h.orbits(to=0.1)[3]
    found = np.log(orbit.multipliers.real) / (orbit.period * orbit.value / 2)
    assert np.sort(found) == pytest.approx(np.sort([-4, *rates, *np.zeros(kept + 1)]), rel=1e-2, abs=1e-3)


def test_without_a_load_what_nothing_conserves_is_undecided():
    """The family itself is followed, and crosses: ẏ = ρ(b y + d ρ) without a' leaves no cycles to speak of."""
    for d, decided in ((R(-2, 5), True), (R(1, 5), False)):
        alpha, c, b = R(1, 2), -1, R(1, 5)
        square = x**2 + y**2
        grows = alpha * s + c * square
        system = pfaff.ode({x: grows * x - y, y: x + grows * y, s: square * (b * s + d * square)}, {mu: 0}, load=mu)
        (hopf,) = system.at().branch("s", to=1, start={"s": -0.5}).special
        assert ("undecided" not in hopf.note) is decided


@cache
def wheel():
    """Three bars with a wheel at the tip, under a follower force: mirror-symmetric, with a line of equilibria."""
    a, b, c = q = coordinates("a b c")
    F, d = sm.symbols("F d", nonnegative=True)

    def along(angle):
        return sm.Matrix([sm.cos(angle), sm.sin(angle)])

    joints = [along(a), along(a) + along(b), along(a) + along(b) + along(c)]
    rates = [each.diff(TIME) for each in joints]
    return pfaff.System(
        q,
        kinetic=sum(rate.dot(rate) for rate in rates) / 2,
        potential=(a**2 + (b - a) ** 2 + (c - b) ** 2) / 2,
        dissipation=d * (c.diff(TIME) - b.diff(TIME)) ** 2 / 2,
        forces={each: -F * along(b).dot(joints[1].diff(each)) for each in q},
        nonholonomic_constraints=[rates[2].dot(sm.Matrix([-sm.sin(c), sm.cos(c)]))],
        parameters={F: 0, d: 0.1},
        load=F,
    )


def test_cycles_of_a_mirror_symmetric_structure_are_repelled_along_its_equilibria():
    h = wheel().at().hopf()
    assert h.value == pytest.approx(1.75)
    assert h.l1 < 0
    assert h.stable_cycles is False
    assert "repelled along the family of equilibria" in h.status
    assert "unstable cycles above" in h.status
    assert h.normal_form.rates.real.max() == pytest.approx(0.008936, rel=1e-3)
    for orbit in h.orbits(to=1.76)[:8:3]:
        square = -h.crossing.real * (orbit.value - h.value) / h.c1.real
        assert np.log(np.abs(orbit.multipliers).max()) / (orbit.period * square) == pytest.approx(0.008936, rel=5e-3)
        assert not orbit.stable


def test_sweeps_curves_and_pictures_say_that_cycles_are_repelled():
    case = wheel().at()
    study = case.sweep({"d": [0.05, 0.1]}, measure=["l1", "criticality"]).run()
    assert (np.asarray(study.dataset["l1"]) < 0).all()
    assert np.asarray(study.dataset["criticality"]).tolist() == [1.0, 1.0]
    curve = case.hopf().curve("d", to=0.2)
    assert not any(point.attracts for point in curve)
    assert "repelled" in curve[0].status
    (axes,) = curve.plot().axes
    dashed = [line for line in axes.get_lines() if line.get_label() == "Hopf points"]
    assert dashed
    assert {line.get_linestyle() for line in dashed} == {"--"}
    assert "repelled" in case.branch(to=2).of_kind("hopf")[0].note


# The first cycle as a second route


@pytest.mark.parametrize("name", ["c_i", "c_e"])
def test_a_verdict_is_verified_by_the_first_cycle(skate, name):
    h = skate.at(**XI_HAT, **{name: "3/2"}).hopf()
    assert [check.passed for check in h.checks] == [True] * 3
    assert max(check.measured for check in h.checks) < 1e-2
    assert "verified" not in h.status


def corrupted(h, **changes):
    return replace(h, normal_form=replace(h.normal_form, **changes))


def test_a_corrupted_normal_form_is_caught(skate):
    h = skate.at(**XI_HAT, c_i="3/2").hopf()
    wrong = corrupted(h, c1=-h.c1.conjugate(), rates=-h.normal_form.rates)
    assert wrong.stable_cycles is None
    assert "NOT verified: the first cycle is at the load that l1 says" in wrong.status
    assert "stable" not in wrong.status.split(";")[0]


def test_a_corrupted_rate_along_a_family_is_caught():
    h = wheel().at().hopf()
    wrong = corrupted(h, rates=h.normal_form.rates * [1, -1])
    assert wrong.stable_cycles is None
    assert "NOT verified: the multipliers of the first cycle" in wrong.status


def test_a_level_that_nothing_conserves_is_caught():
    h = wheel().at().hopf()
    wrong = corrupted(h, rates=h.normal_form.rates[:1], kept=(np.eye(1), np.eye(1)))
    assert wrong.stable_cycles is None
    assert "NOT verified: cycles beside the first do not move along the family" in wrong.status


def test_a_corrupted_frequency_is_caught(skate):
    h = skate.at(**XI_HAT, c_i="3/2").hopf()
    assert "NOT verified: ±iω are eigenvalues" in replace(h, omega=1.001 * h.omega).status
    assert "NOT verified: ±iω are eigenvalues" in replace(h, x=h.x + 0.05).status


def test_checks_do_not_depend_on_units():
    """Lorenz's system in units of 1e6, 1e-6 and 1e3."""
    z = sm.Symbol("z")
    a, b, c = units = (10**6, R(1, 10**6), 1000)
    X, Y, Z = (unit * state for unit, state in zip(units, (x, y, z), strict=True))
    equations = {x: 10 * (Y - X) / a, y: (X * (mu - Z) - Y) / b, z: (X * Y - R(8, 3) * Z) / c}
    h = pfaff.ode(equations, {mu: 20}, load=mu).at().hopf(to=30, x=7e-6, y=7e6, z=0.019)
    assert len(h.checks) == 3
    assert max(check.measured for check in h.checks) < 1e-4
