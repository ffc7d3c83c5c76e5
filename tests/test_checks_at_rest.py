"""What equilibria, steady motions, spectra and critical loads verify of themselves; corrupted ones are caught."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import sympy as sm

import pfaff
from pfaff.statement import TIME as t
from pfaff.statement import coordinates

Omega = sm.Symbol("Omega", positive=True)


@pytest.fixture(scope="module")
def hoop() -> pfaff.Case:
    """A bead on a driven hoop, g/R = 9: it leaves the bottom at Ω = 3."""
    theta, phi = coordinates("theta phi")
    kinetic = (theta.diff(t) ** 2 + (1 + sm.sin(theta) ** 2) * phi.diff(t) ** 2) / 2
    system = pfaff.System(
        [theta, phi],
        kinetic,
        -9 * sm.cos(theta),
        holonomic_constraints=[phi - Omega * t],
        parameters={Omega: 5},
        load=Omega,
    )
    return system.at()


def test_sound_results_pass_all_their_checks(hoop):
    column = pfaff.atlas.column(2).at(F=3)
    disc = pfaff.atlas.rolling_disc().at().steady(phi_dot=2, theta=0.3)
    results = [hoop.spectrum(), hoop.equilibrium(), hoop.steady(), hoop.divergence(to=10)]
    results += [column.spectrum(), column.equilibrium(), column.flutter(), column.divergence(), disc]
    for result in results:
        assert result.checks
        assert all(check.passed for check in result.checks), result.status
        assert "NOT verified" not in result.status


def test_a_configuration_off_its_balance_is_caught(hoop):
    found = hoop.equilibrium()
    wrong = replace(found, q=found.q + np.array([1e-4, 0.0]))
    assert [check.passed for check in wrong.checks] == [False, True]
    assert "NOT verified: forces and reactions balance in every equation" in wrong.status


def test_a_balance_without_its_reaction_is_caught():
    """The blade holds the loaded column: without its reaction the whole load is unbalanced."""
    found = pfaff.atlas.column(2).at(F=3).equilibrium()
    assert found.p.any()
    assert "NOT verified" in replace(found, p=0 * found.p).status


def test_an_equilibrium_that_its_constraints_carry_away_is_caught(hoop, monkeypatch):
    """As if the hoop were at rest, which it was taken for: it holds at time zero, and at no other."""
    found = hoop.equilibrium()
    monkeypatch.setattr("pfaff.rest.verified_rests.frame_velocities_at", lambda system, numbers: np.zeros(2))
    wrong = replace(found)
    assert not wrong.checks[1].passed
    assert "the constraints hold, now and later" in wrong.status


def test_a_spectrum_of_a_hoop_at_rest_does_not_pass_for_that_of_one_that_turns(hoop):
    """±3i are the eigenvalues at Ω = 0."""
    right = hoop.spectrum()
    wrong = replace(right, values=np.array([-3j, 3j]), rounding=np.zeros(2))
    assert wrong.stable
    assert "stable; NOT verified: eigenvalues are those of the linearised flow" in wrong.status


def test_one_eigenvalue_in_six_that_is_wrong_by_a_thousandth_is_caught():
    right = pfaff.atlas.column(3).at(F=3).spectrum()
    values = right.values.copy()
    values[1] *= 1.001
    assert all(check.passed for check in right.checks)
    assert not replace(right, values=values).checks[0].passed


def test_a_steady_motion_that_is_none_is_caught(hoop):
    right = hoop.steady()
    aside = replace(right, x=right.x + 1e-3 * np.array([name == "theta" for name in right.flow.states]))
    assert "NOT verified: shape and speeds stay as they are" in aside.status
    disc = pfaff.atlas.rolling_disc().at().steady(phi_dot=2, theta=0.3)
    faster = replace(disc, x=disc.x + 1e-3 * np.array([name == "psi_dot" for name in disc.flow.states]))
    assert "NOT verified: shape and speeds stay as they are" in faster.status


def test_critical_loads_that_are_none_are_caught(hoop):
    flutter = pfaff.atlas.towed_wheel().at().flutter(to=10)
    assert "NOT verified" in replace(flutter, eigenvalue=1.01 * flutter.eigenvalue).status
    divergence = hoop.divergence(to=10)
    assert divergence.value == pytest.approx(3)
    assert "NOT verified" in replace(divergence, about=hoop.linearise(Omega=2.9)).status


def test_steep_friction_is_no_doubt_of_its_spectrum():
    """The eigenvalues are the roots of s² + 100 s + 1."""
    (x,) = pfaff.statement.coordinates("x")
    t = pfaff.statement.TIME
    rubbing = pfaff.System([x], x.diff(t) ** 2 / 2, x**2 / 2, forces={x: -sm.tanh(100 * x.diff(t))})
    assert all(check.passed for check in rubbing.at().spectrum().checks)


def test_a_growing_motion_that_is_left_out_is_told():
    from pfaff.checks.spectra import belonging

    still, units = np.zeros(2), np.ones(2)
    told, kept = belonging(lambda q, v: np.diag([1.0, -400.0]) @ q, still, still, units, np.array([20j, -20j]))
    assert told.passed
    assert not kept.passed


def test_growing_motions_are_matched_one_by_one():
    """Each has a value of its own, also where the nearest one is taken; one too few is none."""
    from pfaff.checks.spectra import _missed

    assert _missed(np.array([1.0, 1.01]), np.array([1.01, 1.02])) == pytest.approx(0.01)
    assert _missed(np.array([1.0, 1.0]), np.array([1.0, 5.0])) == pytest.approx(4)
    assert _missed(np.array([1.0, 1.0]), np.array([1.0])) == np.inf


@pytest.mark.parametrize("start", [{}, {"x_dot": 5}])
def test_a_bicycle_at_rest_or_not_raises_no_false_alarm(start):
    motion = pfaff.atlas.whipple_bicycle().at().simulate(1, **start)
    assert all(check.passed for check in motion.checks)
