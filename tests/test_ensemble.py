"""Ensembles: the same motions as one by one, on all cores."""

from __future__ import annotations

import numpy as np
import pytest

from conftest import XI_HAT
from pfaff.errors import ParameterError
from test_events import bead_on_a_cusp


@pytest.fixture(scope="module")
def fluttering(skate):
    return skate.at(**XI_HAT, c_i=1.5, F=80)


def test_members_are_the_motions_themselves(fluttering):
    pushes, loads = np.linspace(0.05, 0.2, 3), np.array([60.0, 80.0, 84.0, 90.0])
    members = fluttering.ensemble(40, samples=41, theta1=0.1, theta1_dot=pushes[:, None], F=loads[None, :])
    assert members.shape == (3, 4)
    assert members.status == "12 finished"
    for i, j in [(0, 0), (2, 1), (1, 3)]:
        alone = fluttering.at(F=loads[j]).simulate(40, samples=41, theta1=0.1, theta1_dot=pushes[i])
        np.testing.assert_allclose(members.y[:, :, i, j], alone.y, atol=1e-12)
        np.testing.assert_allclose(members.motion(i, j).y, alone.y, atol=1e-12)


def test_dependent_velocities_follow_in_every_member(fluttering):
    """With θ1 ≠ θ2 the block must move from the start: Ẋ cos θ2 = θ̇1 sin(θ1 − θ2)/2, Eq. (53)."""
    angles = np.linspace(-0.5, 0.5, 7)
    members = fluttering.ensemble(1, samples=3, theta1=angles, theta1_dot=0.3, theta2=0.2)
    expected = 0.3 * np.sin(angles - 0.2) / 2 / np.cos(0.2)
    # the least change of kinetic energy moves all velocities that were not given
    residual = members["X_dot"][0] * np.cos(0.2) - expected * np.cos(0.2)
    np.testing.assert_allclose(residual, 0, atol=1e-15)


def test_axes_have_names(fluttering):
    data = fluttering.ensemble(
        2, samples=5, theta1_dot=np.array([[0.1], [0.2]]), F=np.array([[60.0, 70.0, 80.0]])
    ).to_xarray()
    assert data["theta1"].dims == ("t", "initial_theta1_dot", "F")
    assert data.sizes == {"t": 5, "initial_theta1_dot": 2, "F": 3}
    np.testing.assert_array_equal(data["F"], [60, 70, 80])


def test_peaks(fluttering):
    members = fluttering.ensemble(300, samples=3001, theta1_dot=0.01, F=np.array([60.0, 84.0]))
    quiet, loud = members.peak("theta1", since=250)
    assert quiet < 1e-4
    assert loud == pytest.approx(np.abs(members["theta1"][2500:, 1]).max())
    assert loud > 0.3


def test_a_member_that_ends_early_says_so_and_spares_the_others():
    speeds = np.array([0.1, -1.0, 0.2, 0.3, 0.25])
    members = bead_on_a_cusp().at().ensemble(2, samples=21, x=1.0, y=1.0, x_dot=speeds)
    assert [word == "finished" for word in members.outcomes] == [True, False, True, True, True]
    assert np.isfinite(members.y[..., 0]).all()
    assert np.isfinite(members["y"][:5, 1]).all()
    assert np.isnan(members["y"][-1, 1])
    assert np.isfinite(members.peak("y")).all()


def test_ctrl_c_keeps_finished_members(fluttering):
    def impatient(fraction):
        if fraction > 0.3:
            raise KeyboardInterrupt

    members = fluttering.ensemble(50, theta1_dot=np.linspace(0.01, 0.1, 64), progress=impatient)
    finished = members.outcomes == "finished"
    assert 0 < finished.sum() < 64
    assert np.isfinite(members.y[:, :, finished]).all()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"theta1": np.zeros(3), "F": np.ones(4)}, "do not fit together"),
        ({"thta": np.zeros(3)}, "thta"),
        ({"theta1": [0.0, np.nan]}, "finite"),
        ({"theta1": ["a"]}, "numbers"),
        ({"k1": [1.0, -1.0]}, "k1"),
        ({"samples": 10_000_000, "theta1": np.zeros(1000)}, "memory"),
    ],
)
def test_bad_requests(fluttering, arguments, words):
    with pytest.raises(ParameterError, match=words):
        fluttering.ensemble(1, **arguments)


def test_map_is_drawn(fluttering):
    members = fluttering.ensemble(2, samples=5, theta1_dot=np.array([[0.1], [0.2]]), F=np.array([[60.0, 70.0, 80.0]]))
    axes = members.plot("theta2").axes[0]
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("$F$", r"initial $\dot{\theta}_{1}$")


def test_a_member_that_cannot_start_spares_the_others():
    members = bead_on_a_cusp().at().ensemble(0.1, samples=3, x=np.array([1.0, 0.0]), y=np.array([1.0, 0.0]), z_dot=1.0)
    assert members.outcomes[0] == "finished"
    assert members.outcomes[1].startswith("stopped")


def test_projected_members_can_be_run_alone(fluttering):
    members = fluttering.ensemble(1, samples=3, project=True, theta1=np.array([0.1, 0.2]), theta1_dot=0.3, X_dot=1.0)
    np.testing.assert_allclose(members.motion(1).y, members.y[:, :, 1], atol=1e-13)
