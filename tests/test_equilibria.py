"""Equilibria: families, search, uniqueness, and the printed configuration of the misaligned bow."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sm
from sympy.physics.mechanics import dynamicsymbols

import pfaff
from conftest import XI_HAT
from pfaff.errors import ConvergenceError, ParameterError

t = dynamicsymbols._t


@pytest.mark.parametrize("constraint", ["skate", "bow"])
@pytest.mark.parametrize("load", ["dead", "spring"])
def test_the_column_rests_on_a_one_dimensional_family(constraint, load):
    values = {"F": 4} if load == "dead" else {"K": 40, "Delta": 0.1}
    at = pfaff.atlas.column(3, constraint, load).at(**values).equilibrium()
    assert at.family_dimension == 1
    assert at["p"] == pytest.approx(4)
    assert "1-dimensional family, at X = 0" in at.status


def test_a_member_of_the_family_is_chosen_by_name():
    case = pfaff.atlas.column(2, load="spring").at(K=40, Delta=0.1)
    assert case.equilibrium(X=0.05)["p"] == pytest.approx(40 * 0.05)
    assert case.equilibrium(p=1)["X"] == pytest.approx(0.1 - 1 / 40)
    with pytest.raises(ParameterError, match="cannot fix 'Y'.*X"):
        case.equilibrium(Y=0)


def test_misaligned_bow_of_section_6_2(bow):
    """Cazzolli et al. (2020), Sec. 6.2: θ1 = −0.050282, θ2 = 0.701512 at F = 80, β0 = π/100."""
    at = bow.at(**XI_HAT, beta0=float(np.pi / 100), F=80).equilibrium()
    assert at["theta1"] == pytest.approx(-0.0502820256694, rel=1e-11)
    assert at["theta2"] == pytest.approx(0.701512197653, rel=1e-11)
    assert at["p"] == pytest.approx(80 / np.cos(np.pi / 100), rel=1e-14)
    assert at["theta1"] == pytest.approx(-80 * np.tan(np.pi / 100) / 50, rel=1e-14)


@pytest.mark.parametrize("constraint", ["skate", "bow"])
def test_the_straight_column_is_the_only_equilibrium_when_aligned(constraint):
    """Cazzolli et al. (2020), Appendix B."""
    found = pfaff.atlas.column(3, constraint).at(F=11, k1=2).equilibria(starts=600, X=0)
    assert len(found) == 1
    np.testing.assert_allclose(found[0].q, 0, atol=1e-12)


@pytest.mark.parametrize(("load", "beta"), [(0.1, np.pi / 4), (1.5, np.pi / 2)])
def test_figure_7_has_several_equilibria(load, beta):
    case = pfaff.atlas.column(7, "skate", "spring").at(K=1, Delta=load, beta0=float(beta))
    found = case.equilibria(X=0)
    assert len(found) >= 2
    for at in found:
        bend = np.diff(at.q[:7], prepend=0.0)
        torque = bend - np.append(bend[1:], 0.0)  # k = 1 at every hinge
        arms = np.append(np.sin(at.q[6] + beta - at.q[:6]), np.sin(beta)) / 7
        np.testing.assert_allclose(torque + at["p"] * arms, 0, atol=1e-8)  # Eq. (25), first seven rows
        assert -load + at["p"] * np.cos(at.q[6] + beta) == pytest.approx(0, abs=1e-8)  # its last row


def test_the_search_says_how_it_searched_and_repeats():
    case = pfaff.atlas.column(4, "skate", "spring").at(K=1, Delta=1, beta0=1.2)
    first, second = case.equilibria(starts=200), case.equilibria(starts=200)
    assert "200 random starts (seed 0)" in first.search
    assert f"family coordinate {next(iter(first[0].fixed))} set to 0" in first.search
    np.testing.assert_array_equal([a.q for a in first], [b.q for b in second])


def test_pendulum_hangs_and_stands():
    theta = dynamicsymbols("theta")
    m, g = sm.symbols("m g", positive=True)
    system = pfaff.System([theta], m * theta.diff(t) ** 2 / 2, -m * g * sm.cos(theta), parameters={m: 1, g: 1})
    found = system.at().equilibria(starts=50, box=1.6)
    np.testing.assert_allclose(sorted(abs(at.q[0]) for at in found), [0, np.pi, np.pi], atol=1e-12)
    assert found.family_dimension == 0
    assert "isolated" in found[0].status


def test_holonomic_constraint_takes_its_share_of_the_load(mass_on_a_circle):
    """A mass on the circle x² + y² = 1 under gravity rests at the bottom; its reaction carries the weight."""
    found = mass_on_a_circle.at(m=2).equilibria(starts=100)
    heights = sorted(at["y"] for at in found)
    assert heights == pytest.approx([-1, 1])
    for at in found:
        assert 2 * 9.81 + 2 * at["p"] * at["y"] == pytest.approx(0)


def test_a_load_without_equilibrium_is_reported():
    x = dynamicsymbols("x")
    m, F = sm.symbols("m F", real=True)
    system = pfaff.System(
        [x], m * x.diff(t) ** 2 / 2, x**3 / 3 + x - F * x + sm.exp(x), parameters={m: 1, F: 0}, load=F
    )
    with pytest.raises(ConvergenceError, match="no equilibrium"):
        pfaff.System([x], m * x.diff(t) ** 2 / 2, sm.exp(x), parameters={m: 1}).at().equilibrium()
    with pytest.raises(ConvergenceError, match=r"folds|no equilibrium|ends"):
        system.at(F=0.2).equilibrium()


def test_an_excited_system_does_not_rest():
    x = dynamicsymbols("x")
    m, k, a = sm.symbols("m k a", positive=True)
    system = pfaff.System(
        [x], m * x.diff(t) ** 2 / 2, k * x**2 / 2, forces={x: a * sm.sin(t)}, parameters={m: 1, k: 1, a: 1}
    )
    with pytest.raises(ConvergenceError, match="explicitly"):
        system.at().equilibrium()


def test_friction_without_a_limit_at_rest_is_not_left_out():
    """The rate of |q̇| has no value at rest: forces that nobody knows are in no balance."""
    q, w = dynamicsymbols("q w")
    v, u = q.diff(), w.diff()
    case = pfaff.System([q, w], (v**2 + u**2) / 2, q**2 + w**2, v**2 / sm.sqrt(v**2 + u**2), name="rubbing").at()
    with pytest.raises(ConvergenceError, match="the forces of rubbing are not finite"):
        case.equilibrium()


def test_reactions_stiffen_what_seems_free_where_they_are_zero():
    """A bead on the wire y = x²/4, pulled sideways, rests at x = 2F; its path has no fold."""
    x, y = pfaff.statement.coordinates("x y")
    t, F = pfaff.statement.TIME, sm.Symbol("F", real=True)
    kinetic = (x.diff(t) ** 2 + y.diff(t) ** 2) / 2
    wire = pfaff.System([x, y], kinetic, y - F * x, holonomic_constraints=[y - x**2 / 4], parameters={F: 0}, load=F)
    assert wire.at(F=1).equilibrium()["x"] == pytest.approx(2)
    found = wire.at().critical(to=10)
    assert [each.value for each in (found.flutter, found.divergence, found.buckling)] == [None] * 3
