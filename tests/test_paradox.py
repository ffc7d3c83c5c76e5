"""Vanishing damping: limits, their extremes, and the claims of Eqs. (75)–(85)."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sm
from hypothesis import given, settings
from hypothesis import strategies as st

import pfaff
from conftest import XI_HAT
from pfaff.errors import ParameterError
from pfaff.statement import TIME, coordinates

shares = st.lists(st.floats(0, 1), min_size=4, max_size=4).filter(lambda c: sum(c) > 0.1)
DAMPINGS = ("c_i", "c_e", "c_t", "c_r")


@pytest.mark.parametrize(
    ("name", "limit"),
    [("c_i", 76.1388002651522), ("c_e", 40.9964413972182), ("c_t", 51.9874739039666), ("c_r", 51.3927125506073)],
)
def test_single_sources(skate, name, limit):
    """Cazzolli et al. (2020), Sec. 5.2.1, converged digits."""
    found = skate.at(**XI_HAT).paradox({name: 3.7})
    assert found.limit == pytest.approx(limit, rel=1e-12)
    assert found.undamped == pytest.approx(76.2073258262292, rel=1e-13)
    assert not found.recovered
    assert "Ziegler's paradox" in found.status


@pytest.mark.parametrize(
    ("pair", "angle"),
    [
        (("c_t", "c_r"), 0.770566105352351),  # Eq. (85): 0.771
        (("c_i", "c_e"), 0.944919120930374),  # Eq. (83) prints 0.995, where its own formula falls short of P_0
    ],
)
def test_the_undamped_load_is_recovered_along_one_direction(skate, pair, angle):
    found = skate.at(**XI_HAT).paradox(among=pair)
    assert found.recoverable
    assert found.maximum == pytest.approx(found.undamped)
    assert np.arctan2(found.best[pair[1]], found.best[pair[0]]) == pytest.approx(angle, rel=1e-11)
    along = skate.at(**XI_HAT).paradox(found.best, among=pair)
    assert along.limit == pytest.approx(found.undamped, rel=1e-6)
    assert along.recovered


def test_some_columns_never_recover_it(skate):
    """Sec. 5.2.2: ξ = [1/10, 1/10, 0, 1] has no such direction for c_i and c_e."""
    found = skate.at(d="1/10", M_L="1/10", I_L=0, k1=1).paradox(among=["c_i", "c_e"])
    assert not found.recoverable
    angles = np.linspace(0, np.pi / 2, 61)
    scanned = max(found.weak.limit(np.array([np.cos(a), np.sin(a)])) for a in angles)
    assert found.maximum == pytest.approx(scanned, rel=1e-3)
    assert found.maximum >= scanned * (1 - 1e-9)
    assert found.maximum == found.weak.limit(np.array(list(found.best.values())))
    alone = skate.at(d="1/10", M_L="1/10", I_L=0, k1=1).paradox(among=["c_e"])
    assert alone.maximum == alone.minimum


@given(shares, st.floats(0.2, 1), st.floats(0.1, 20), st.floats(0.1, 20), st.floats(0.5, 60))
@settings(max_examples=15)
def test_limits_lie_between_the_worst_source_and_the_undamped_load(direction, d, M_L, I_L, k1):
    """Eqs. (76) and (77)."""
    case = pfaff.atlas.column(2).at(d=d, M_L=M_L, I_L=I_L, k1=k1)
    found = case.paradox(dict(zip(DAMPINGS, direction, strict=True)))
    assert found.minimum * (1 - 1e-9) <= found.limit <= found.undamped * (1 + 1e-12)


def test_the_limit_is_the_limit(skate):
    """Finite damping ε along a direction approaches it: the gap shrinks like ε²."""
    direction = {"c_i": 0.3, "c_e": 0.5, "c_t": 0.2, "c_r": 0.4}
    limit = skate.at(**XI_HAT).paradox(direction).limit
    gaps = [
        abs(skate.at(**XI_HAT, **{n: e * s for n, s in direction.items()}).flutter().value - limit)
        for e in (0.4, 0.2, 0.1)
    ]
    orders = np.log2(np.array(gaps[:-1]) / gaps[1:])
    np.testing.assert_allclose(orders, 2, atol=0.1)


def test_three_bars_too():
    case = pfaff.atlas.column(3).at(M_L=1, k1=10)
    found = case.paradox({"c_i": 1})
    assert found.limit == pytest.approx(case.at(c_i=1e-4).flutter().value, rel=1e-6)


def ziegler_beside_an_oscillator() -> pfaff.Case:
    """Ziegler's textbook pendulum and an oscillator with ω² = 9.3 that nothing damps."""
    base = pfaff.atlas.ziegler(2, individual=True)
    (z,) = coordinates("z")
    values = {"l1": 1, "l2": 1, "d1": 1, "d2": 1, "m1": 2, "m2": 1, "k1": 1, "k2": 1}
    return pfaff.System(
        coordinates=[*base.coordinates, z],
        kinetic=base.kinetic + z.diff(TIME) ** 2 / 2,
        potential=base.potential + sm.Rational(93, 20) * z**2,
        dissipation=base.dissipation,
        forces=base.forces,
        parameters=base.parameters,
        load="F",
    ).at(**values)


def test_a_mode_that_nothing_damps_does_not_hide_the_paradox():
    """Ziegler's pendulum beside an oscillator without damping: still 41/28, and the right frequency at flutter."""
    case = ziegler_beside_an_oscillator()
    found = case.paradox({"c_i": 1})
    assert found.limit == pytest.approx(41 / 28, rel=1e-11)
    assert not found.recovered
    assert "over all directions" in found.status
    damped = case.at(c_i=0.1).flutter()
    alone = pfaff.atlas.ziegler(2, individual=True)
    values = {name: case.values[name] for name in alone.parameter_names}
    assert damped.frequency == pytest.approx(alone.at(**values).at(c_i=0.1).flutter().frequency, rel=1e-9)
    assert damped.frequency < 1


def test_damping_that_turns_with_the_rotor():
    """A ball in a rotating bowl, dragged along by c_i and held back by c_e: Ω = ω (1 + c_e/c_i), whatever ω is.

    Its two frequencies are equal, and c_i acts on positions too; the load is in the dissipation and no damping.
    """
    x, y = coordinates("x y")
    k, c_i, c_e, Omega = sm.symbols("k c_i c_e Omega", nonnegative=True)
    u, v = x.diff(TIME), y.diff(TIME)
    bowl = pfaff.System(
        coordinates=[x, y], kinetic=(u**2 + v**2) / 2, potential=k * (x**2 + y**2) / 2,
        dissipation=c_i * ((u + Omega * y) ** 2 + (v - Omega * x) ** 2) / 2 + c_e * (u**2 + v**2) / 2,
        parameters={k: 4, c_i: 0, c_e: 0, Omega: 0}, load=Omega, name="bowl",
    ).at()  # fmt: skip
    for c in (0.2, 1.0, 3.0):
        found = bowl.paradox({"c_i": 1, "c_e": c})
        assert found.limit == pytest.approx(2 * (1 + c), rel=1e-12)
        assert bowl.at(c_i=1e-3, c_e=1e-3 * c).flutter().value == pytest.approx(found.limit, rel=1e-12)
    assert found.singles["c_i"] == pytest.approx(2, rel=1e-12)
    assert found.singles["c_e"] == np.inf
    assert found.status.endswith("from 2 on, and none along some")


def rotor(stiffness: float, *, turning: bool) -> pfaff.Case:
    """The same ball in the bowl, seen from outside or turning with it, where gyroscopic terms appear."""
    x, y = coordinates("x y")
    k, c_i, c_e, Omega = sm.symbols("k c_i c_e Omega", nonnegative=True)
    u, v = x.diff(TIME), y.diff(TIME)
    inertial = (u - Omega * y, v + Omega * x) if turning else (u, v)
    relative = (u, v) if turning else (u + Omega * y, v - Omega * x)
    return pfaff.System(
        coordinates=[x, y], kinetic=sum(w**2 for w in inertial) / 2, potential=k * (x**2 + y**2) / 2,
        dissipation=c_i * sum(w**2 for w in relative) / 2 + c_e * sum(w**2 for w in inertial) / 2,
        parameters={k: stiffness, c_i: 0, c_e: 0, Omega: 0}, load=Omega, name="rotor",
    ).at()  # fmt: skip


@pytest.mark.parametrize("stiffness", [4e-12, 4e12])
def test_limits_are_found_in_any_units(stiffness):
    found = rotor(stiffness, turning=False).paradox({"c_i": 1, "c_e": 1})
    assert found.limit == pytest.approx(2 * np.sqrt(stiffness), rel=1e-12)


def test_gyroscopic_terms_that_grow_with_the_load_are_refused():
    with pytest.raises(ParameterError, match="or gyroscopic terms: .*ask for the flutter of rotor with small damping"):
        rotor(4.0, turning=True).paradox({"c_i": 1, "c_e": 1}, among=["c_i", "c_e"])


def test_bad_directions_are_refused(skate):
    case = skate.at(**XI_HAT)
    with pytest.raises(ParameterError, match="'c_x' is not a damping.*did you mean"):
        case.paradox({"c_x": 1})
    with pytest.raises(ParameterError, match="non-negative"):
        case.paradox({"c_i": -1})
    with pytest.raises(ParameterError, match="not all zero"):
        case.paradox({"c_i": 0})
    with pytest.raises(ParameterError, match="remains"):
        skate.at(**XI_HAT, c_e=1).paradox(among=["c_i"])
    with pytest.raises(ParameterError, match="no damping"):
        pfaff.atlas.bottema().at(c=0).paradox()


def test_a_mode_may_grow_where_two_frequencies_cross():
    """Beside a circulatory pair, ω⁴ − 5ω² + 4 + F² = 0 with P_0 = 3/2, an oscillator of ω² = 3/2 that only a damper
    couples to it: frequencies cross at F² = 5/4. Elsewhere all modes are damped up to F = √2, there the dampings of two
    have a negative determinant; the flutter loads of small damping tend to it."""
    q1, q2, q3 = coordinates("q1 q2 q3")
    F, c, own = sm.symbols("F c own", nonnegative=True)
    u, v, w = (q.diff(TIME) for q in (q1, q2, q3))
    system = pfaff.System(
        [q1, q2, q3], (u**2 + v**2 + w**2) / 2, (q1**2 + 4 * q2**2 + sm.Rational(3, 2) * q3**2) / 2,
        c * ((u - w) ** 2 + v**2 / 2) / 2 + own * (u**2 + v**2 / 2 + w**2) / 2,
        forces={q1: -F * q2, q2: F * q1}, parameters={F: 0, c: 0, own: 0}, load=F,
    )  # fmt: skip
    found = system.at().paradox(direction={"c": 1}, among=["c"])
    assert found.undamped == pytest.approx(3 / 2, rel=1e-9)
    assert found.limit == pytest.approx(np.sqrt(5 / 4), rel=1e-12)
    missed = [found.limit - system.at(c=size).flutter().value for size in (1e-3, 1e-4, 1e-5)]
    assert missed[0] < 1e-3
    assert [missed[0] / missed[1], missed[1] / missed[2]] == pytest.approx([10, 10], rel=1e-2)
    assert system.at().paradox(direction={"own": 1}, among=["own"]).limit == pytest.approx(np.sqrt(2), rel=1e-9)


def circulatory(dissipation, *dampings):
    """A circulatory pair with P_0 = 3/2 beside an oscillator, whose frequency one of the pair crosses at F² = 5/4."""
    q1, q2, q3 = coordinates("q1 q2 q3")
    F = sm.Symbol("F", nonnegative=True)
    rates = [q.diff(TIME) for q in (q1, q2, q3)]
    return pfaff.System(
        [q1, q2, q3], sum(u**2 for u in rates) / 2, (q1**2 + 4 * q2**2 + sm.Rational(3, 2) * q3**2) / 2,
        dissipation(*rates), forces={q1: -F * q2, q2: F * q1}, parameters={F: 0, **dict.fromkeys(dampings, 0)}, load=F,
    ).at()  # fmt: skip


def test_limits_over_all_directions_where_frequencies_cross():
    """The direction that would recover P_0 grows where frequencies cross; one beside it does not, and has a higher
    limit than those compared: what is told is a bound. Dampers that do not join what crosses leave it at that."""
    c, d = sm.symbols("c d", nonnegative=True)
    mixed = circulatory(
        lambda u, v, w: c * ((3 * u - 3 * v + 3 * w) ** 2 + 4 * (u + v + w) ** 2) / 2
        + d * ((3 * u - 2 * v - 3 * w) ** 2 + (2 * u + v - 2 * w) ** 2) / 2, c, d,
    )  # fmt: skip
    found = mixed.paradox()
    assert found.maximum == pytest.approx(np.sqrt(5 / 4), rel=1e-12)
    angles = np.linspace(0, np.pi / 2, 46)
    limits = [mixed.paradox({"c": np.cos(angle), "d": np.sin(angle)}).limit for angle in angles]
    assert max(limits) > 1.49
    assert found.known == (True, False)
    assert "over all directions from 1.11803398875 to at least 1.11803398875" in found.status
    apart = circulatory(lambda u, v, w: c * u**2 / 2 + d * (v**2 + w**2) / 2, c, d).paradox()
    assert apart.weak.crossings == pytest.approx([np.sqrt(5 / 4)])
    assert apart.known == (True, True)
    assert "at least" not in apart.status


def pushed_around(shift):
    """Two equal oscillators under a circulatory force: flutter as soon as there is one."""
    u, w = coordinates("u w")
    F, c, b = sm.symbols("F c b", nonnegative=True)
    ud, wd = u.diff(TIME), w.diff(TIME)
    return pfaff.System(
        [u, w],
        kinetic=(ud**2 + wd**2) / 2,
        potential=(u**2 + w**2) / 2,
        forces={u: -(F + shift) * w, w: (F + shift) * u},
        dissipation=(c * ud**2 + b * wd**2) / 2,
        parameters={F: 0, c: 0, b: 0},
        load=F,
    ).at()


def test_flutter_under_any_load_is_a_limit_of_zero_and_no_flutter_without_load():
    case = pushed_around(0)
    found = case.paradox({"c": 1})
    assert (found.undamped, found.limit, found.minimum, found.maximum) == (0, 0, 0, 0)
    assert found.recovered
    assert "without load" not in found.status
    assert "under any F, however small" in found.status
    assert float(case.at(c=1e-4, b=1e-4).flutter()) == pytest.approx(1e-4, rel=1e-6)  # ω c: it tends to zero
    found.plot()
    with pytest.raises(pfaff.PfaffError, match="flutters without damping and without load"):
        pushed_around(1).paradox({"c": 1})
