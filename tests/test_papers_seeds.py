"""Reproductions of Mazzilli, of Náprstek and Fischer, and of Natsiavas' group: their claims can fail."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import sympy as sm

import pfaff
from pfaff.papers import mazzilli
from pfaff.papers.mazzilli import examples, resonance_tongues
from pfaff.papers.naprstek2018 import equations_counted, gibbs_function
from pfaff.papers.natsiavas2019 import second_order, singular_configurations
from pfaff.papers.running import load_paper
from pfaff.report.mathematics import mathml

SEEDS = ("mazzilli", "naprstek2018", "natsiavas2019")


@pytest.mark.parametrize("key", SEEDS)
def test_claims_are_named_once_and_typeset(key):
    paper = load_paper(key)
    named = [(claim.where, claim.what) for claim in paper.claims]
    assert len(set(named)) == len(named)
    for claim in paper.claims:
        if claim.formula:
            assert mathml(claim.formula).startswith("<math")


@pytest.mark.parametrize("principle", mazzilli.WAYS)
def test_another_pendulum_is_not_the_printed_one(principle, monkeypatch):
    """A force more on the bob is noticed by every principle."""
    assert examples.equation_of_motion(3, principle) == 0

    def pushed() -> pfaff.System:
        stated = pfaff.atlas.pendulum()
        g = next(symbol for symbol in stated.parameters if symbol.name == "g")
        particles = [replace(each, force=[force + g / 10 for force in each.force]) for each in stated.particles]
        return replace(stated, potential=0, particles=particles)

    monkeypatch.setitem(examples.EXAMPLES, 3, pushed)
    assert examples.equation_of_motion(3, principle) == 1


def test_other_frames_and_springs_are_noticed(monkeypatch):
    stated = pfaff.atlas.two_bar_frame()
    monkeypatch.setattr(examples, "two_bar_frame", lambda: replace(stated, kinetic=2 * stated.kinetic, particles=()))
    assert examples.generalised_quantities() == 1
    assert examples.frame_energies() == 1
    bar = pfaff.atlas.softening_bar()
    monkeypatch.setattr(examples, "softening_bar", lambda: replace(bar, potential=2 * bar.potential, particles=()))
    assert examples.spring_energy() == 1


def test_small_motions_of_the_shaken_pendulum_keep_areas():
    """A monodromy matrix without damping has determinant one; off the tongue's edge its trace is not ±2."""
    case = pfaff.atlas.moving_support_pendulum().at(f0=0.1, Omega=1.7)
    found = resonance_tongues.monodromy(case)
    assert np.linalg.det(found) == pytest.approx(1, abs=1e-9)
    assert abs(abs(np.trace(found)) - 2) > 1e-3


def test_coordinates_and_links_of_the_balls():
    """The ball in a cavity: two coordinates of its centre, three turns, two links; the absorber has one more."""
    assert equations_counted.size(pfaff.atlas.ball_in_cavity()) == (5, 2, 3)
    assert equations_counted.size(pfaff.atlas.ball_absorber()) == (6, 2, 4)


def test_gauss_principle_is_violated_by_other_accelerations(monkeypatch):
    monkeypatch.setattr(gibbs_function, "SYSTEMS", (pfaff.atlas.chaplygin_sleigh,))
    assert gibbs_function.gauss() < 1e-12
    others = [(M, h, A, 1.01 * a + 0.01) for M, h, A, a in gibbs_function._balances(pfaff.atlas.chaplygin_sleigh)]
    monkeypatch.setattr(gibbs_function, "_balances", lambda make: others)
    assert gibbs_function.gauss() > 1e-4


def test_the_gibbs_function_needs_all_accelerations():
    assert gibbs_function.gibbs_of_particles(live_only=False) == 0
    assert gibbs_function.gibbs_of_particles(live_only=True) == 1


def test_equal_expressions_are_told_from_others():
    system = pfaff.atlas.pendulum()
    (Q,) = system.coordinates
    assert equations_counted.same(sm.sin(2 * Q), 2 * sm.sin(Q) * sm.cos(Q), system)
    assert not equations_counted.same(sm.sin(2 * Q), 2 * sm.sin(Q) * sm.cos(Q) + sm.Rational(1, 10**15) * Q, system)


def test_multipliers_of_second_order_do_not_change_accelerations():
    """Eqs. (3)–(6), for other coefficients, λ and λ̇ each time; with another force they do change."""
    system = pfaff.atlas.slider_crank()
    numbers = system.at().numbers
    q, v = np.array([0.5, 0.5, 1.0]), np.array([-2.0, 2.0, -4.0])
    M, h, A, gamma, residual = second_order._matrices(system, q, v, numbers)
    assert np.abs(residual).max() < 1e-15
    found = [second_order._accelerations(M, h, A, gamma, residual, seed) for seed in range(3)]
    np.testing.assert_allclose(found, [system.equations().solve(q, v, system.at())[0]] * 3, rtol=1e-12)
    assert np.abs(second_order._accelerations(M, h + 1, A, gamma, residual, 0) - found[0]).max() > 0.1


def test_references_agree_with_taylors_method_where_nothing_is_singular():
    """The linkage and the slider-crank in one angle, by SciPy, against their constrained equations."""
    linkage = pfaff.atlas.double_four_bar().at().simulate(0.4, samples=2, **singular_configurations.UPRIGHT)
    angle, speed = singular_configurations.pendulum(0.4)
    expected = [np.cos(angle), np.sin(angle), -speed * np.sin(angle)]
    assert linkage.y[[0, 1, 6], -1] == pytest.approx(expected, abs=1e-10)
    turned = pfaff.atlas.slider_crank().at().simulate(0.15, samples=2, **singular_configurations.CRANKED)
    angle, speed = singular_configurations.crank(0.15)
    assert turned["x2"][-1] == pytest.approx(np.sqrt(2) * np.cos(angle), abs=1e-10)
    assert turned["x2_dot"][-1] == pytest.approx(-np.sqrt(2) * speed * np.sin(angle), abs=1e-10)
