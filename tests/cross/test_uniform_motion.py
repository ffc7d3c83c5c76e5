"""Uniform motion, however it is stated: eliminated, as a velocity that is given, or as a place that moves."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sm

from cross.mechanics import Change, Mechanics, t, velocity
from cross.natural import rate, symbols


def hoops() -> dict[str, Mechanics]:
    """A bead on a hoop that turns at Ω about its vertical diameter: θ = 0 diverges at √(g/R)."""
    theta, phi = symbols("theta phi")
    R, g, Omega = sm.symbols("R g Omega", positive=True)
    V, values = -g * R * sm.cos(theta), {R: 1, g: sm.Rational(981, 100), Omega: 1}

    def T(turn, more=0):
        return R**2 * (velocity(theta) ** 2 + sm.sin(theta) ** 2 * turn**2) / 2 + more

    hoop = velocity(phi) ** 2 / 2
    both = {"parameters": values, "load": Omega}
    return {
        "eliminated": Mechanics((theta,), T(Omega), V, **both),
        "velocity": Mechanics((theta, phi), T(velocity(phi), hoop), V, rolling=(velocity(phi) - Omega,), **both),
        "place": Mechanics((theta, phi), T(velocity(phi), hoop), V, held=(phi - Omega * t,), **both),
        "place, backwards": Mechanics((phi, theta), T(velocity(phi), hoop), V, held=(3 * (Omega * t - phi),), **both),
        "place, begun elsewhere": Mechanics((theta, phi), T(velocity(phi)), V, held=(phi - Omega * t - 1,), **both),
    }


def wheels() -> dict[str, Mechanics]:
    """A wheel on a caster l behind a king pin that yields sideways, towed at v, damped: shimmy from a speed on."""
    X, q, psi = symbols("X q psi")
    v = sm.Symbol("v", positive=True)
    m, J, l, a, k, c = 1, sm.Rational(1, 2), 1, sm.Rational(1, 2), 1, sm.Rational(1, 10)

    def stated(coordinates, place, speed=None, **more):
        """The king pin at (place, q)."""

        def moving(expression):
            found = rate(expression, coordinates)
            return found if speed is None else found + speed

        centre = [moving(place - a * sm.cos(psi)), rate(q - a * sm.sin(psi), coordinates)]
        contact = [moving(place - l * sm.cos(psi)), rate(q - l * sm.sin(psi), coordinates)]
        rolling = more.pop("rolling", ())
        return Mechanics(
            coordinates,
            m * (centre[0] ** 2 + centre[1] ** 2) / 2 + J * velocity(psi) ** 2 / 2,
            k * q**2 / 2,
            c * velocity(q) ** 2 / 2,
            rolling=(contact[1] * sm.cos(psi) - contact[0] * sm.sin(psi), *rolling),
            parameters={v: 1},
            load=v,
            **more,
        )

    place = stated((X, q, psi), X, held=(X - v * t,))
    c3, s3 = sm.cos(sm.Rational(3, 10)), sm.sin(sm.Rational(3, 10))
    turned = Change(place, (X, q, psi), {X: c3 * X - s3 * q, q: s3 * X + c3 * q, psi: psi})
    mixed = Change(place, (X, q, psi), {X: X + q, q: X - q, psi: psi - X / 5})
    return {
        "eliminated": stated((q, psi), sm.S.Zero, speed=v),
        "velocity": stated((X, q, psi), X, rolling=(velocity(X) - v,)),
        "place": place,
        "place, mixed with others": mixed.mechanics,
        "place, in a turned frame": turned.mechanics,
        "place last": stated((psi, q, X), X, held=(X - v * t,)),
    }


def shimmy() -> float:
    """The lower root of (m (l − a) v + c l²)(c v + k l) = J_W k v, J_W = J + m (l − a)²."""
    return float(min(np.roots([0.05, 0.5 + 0.01 - 0.75, 0.1]).real))


@pytest.mark.parametrize("way", hoops())
def test_a_bead_leaves_the_bottom_of_a_hoop_at_its_speed(way):
    case = hoops()[way].system.at()
    assert case.divergence().value == pytest.approx(np.sqrt(9.81), rel=1e-9)
    assert case.at(Omega=3).spectrum().stable
    assert not case.at(Omega=5).spectrum().stable


@pytest.mark.parametrize("way", hoops())
@pytest.mark.parametrize("Omega", [2.0, 5.0])
def test_the_spectrum_of_a_bead_is_that_of_its_closed_form(way, Omega):
    found = hoops()[way].system.at(Omega=Omega).spectrum().values
    square = Omega**2 - 9.81
    expected = np.array([1, -1]) * np.emath.sqrt(square)
    assert min(abs(found - expected[0])) < 1e-9
    assert min(abs(found - expected[1])) < 1e-9


@pytest.mark.parametrize("way", wheels())
def test_a_towed_wheel_shimmies_from_one_speed_on(way):
    case = wheels()[way].system.at()
    assert case.flutter().value == pytest.approx(shimmy(), rel=1e-9)


@pytest.mark.parametrize("way", [way for way in wheels() if way != "eliminated"])
def test_cycles_of_a_towed_wheel_do_not_depend_on_the_words(way):
    expected, found = (wheels()[each].system.at().hopf() for each in ("eliminated", way))
    assert found.value == pytest.approx(expected.value, rel=1e-9)
    assert found.omega == pytest.approx(expected.omega, rel=1e-9)
    assert (found.criticality, found.stable_cycles) == (expected.criticality, expected.stable_cycles)


def test_places_that_move_are_rheonomic_however_they_are_stated():
    for way in ("velocity", "place"):
        assert not hoops()[way].system.classification.scleronomic, way
