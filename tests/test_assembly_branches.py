"""Branches of assemblies against dense systems, closed forms and invariances."""

import inspect

import numpy as np
import pytest
import sympy as sm
from sympy.physics.mechanics import dynamicsymbols

import pfaff
from pfaff.atlas.chain import column_assembly
from pfaff.continuation.course import POINTS, STEP
from pfaff.errors import NoBifurcationError, ParameterError

t = dynamicsymbols._t
theta, theta_next, u, w = dynamicsymbols("theta theta_next u w")
m, l, k, L0 = sm.symbols("m l k L0", positive=True)
c = sm.Symbol("c", nonnegative=True)
P = sm.Symbol("P", real=True)

BAR = pfaff.Part(
    [theta],
    kinetic=m * l**2 * theta.diff(t) ** 2 / 2,
    potential=-P * l * (1 - sm.cos(theta)),
    dissipation=c * theta.diff(t) ** 2 / 2,
    parameters={m: 1, l: None, c: 1, P: 0},
    name="bar",
)
HINGE = pfaff.Part([theta, theta_next], potential=k * (theta_next - theta) ** 2 / 2, parameters={k: None}, name="hinge")
CLAMP = pfaff.Part([theta], potential=k * theta**2 / 2, parameters={k: None}, name="clamp")


def cantilever(bars, order=None, length=1.0, force=1.0, damping=1.0):
    """Bars on a clamped hinge under a dead load at the free end: EI = L = 1 in units of length and force."""
    at = np.arange(bars) if order is None else order
    stiffness = bars * force * length
    return pfaff.Assembly(
        [
            HINGE.copies(np.column_stack([at[:-1], at[1:]]), k=stiffness),
            BAR.copies(at[:, None], l=length / bars, m=1 / bars, c=damping * length**2 / bars),
            CLAMP.copies([[at[0]]], k=stiffness),
        ],
        size=bars,
        load="P",
        name="cantilever",
    )


def buckling(bars, j):
    """4 k/l sin²((2j − 1)π/(4N + 2)) with k = N and l = 1/N: of θ_{i−1} − 2θ_i + θ_{i+1} = −P l/k θ_i."""
    return 4 * bars**2 * np.sin((2 * j - 1) * np.pi / (4 * bars + 2)) ** 2


@pytest.mark.parametrize("damping", [0.0, 1.0])
def test_hundreds_of_bars_buckle_where_the_chain_of_differences_does(damping):
    bars = 200
    branch = cantilever(bars, damping=damping).branch(to=70)
    assert [special.kind for special in branch.special] == ["branch point"] * 3
    loads = [special.value for special in branch.special]
    assert loads == pytest.approx([buckling(bars, j) for j in (1, 2, 3)], rel=1e-11)
    assert [point.unstable for point in (branch[0], branch[-1])] == [0, 3]
    assert isinstance(branch, pfaff.Branch)


@pytest.mark.parametrize("damping", [0.0, 1.0])
@pytest.mark.parametrize("start", [3, 23, 30, 65])
def test_the_first_point_beyond_buckling_knows_what_grows(start, damping):
    """As many modes as there are loads below it at which the chain buckles."""
    branch = cantilever(30, damping=damping).branch(from_=start, to=start + 1)
    below = sum(buckling(30, j) < start for j in range(1, 6))
    assert [point.unstable for point in (branch[0], branch[1])] == [below, below]


def test_a_branch_starts_from_the_rest_of_its_points():
    assembly = cantilever(40)
    bent = assembly.branch(to=4).special[0].switch(to=12)
    for point in bent[1::4]:
        again = assembly.branch(to=12.5, start=point.rest)
        assert again[0].value == point.value
        np.testing.assert_allclose(again[0].rest.q, point.rest.q, atol=1e-9)


def shot(bars, load, tip):
    """θ of all bars from the free end on, by the balance of each hinge, and what is left at the clamp."""
    q = np.empty(bars + 1)
    q[-1], ahead = tip, tip
    for i in range(bars, 0, -1):
        q[i - 1] = 2 * q[i] - ahead - load / bars**2 * np.sin(q[i])
        ahead = q[i]
    return q


def test_the_buckled_cantilever_is_the_one_that_shooting_finds():
    bars = 200
    straight = cantilever(bars).branch(to=5)
    bent = straight.special[0].switch(to=30)
    assert all(point.stable for point in bent)
    point = bent.at(20.0)[0]
    q = shot(bars, 20.0, point.q[-1])
    assert q[0] == pytest.approx(0, abs=1e-9)
    assert point.q == pytest.approx(q[1:], abs=1e-9)


def test_a_small_system_has_the_same_branches():
    bars = 8
    q = dynamicsymbols(f"a:{bars}")
    system = pfaff.System(
        coordinates=q,
        kinetic=sum(each.diff(t) ** 2 for each in q) / bars**3 / 2,
        potential=bars * sum((x - y) ** 2 for x, y in zip(q, [0, *q], strict=False)) / 2
        - P * sum(1 - sm.cos(each) for each in q) / bars,
        dissipation=sum(each.diff(t) ** 2 for each in q) / bars / 2,
        parameters={P: 0},
    )
    dense, sparse = system.at().branch("P", 30), cantilever(bars).branch(30)
    assert [(s.kind, s.value) for s in sparse.special] == [(s.kind, pytest.approx(s.value)) for s in dense.special]
    there, here = (branch.special[0].switch(to=30).at(20.0)[0] for branch in (dense, sparse))
    expected = np.array([there[name] for name in (f"a{i}" for i in range(bars))])
    assert np.abs(here.q) == pytest.approx(np.abs(expected), abs=1e-9)
    assert np.sort(here.eigenvalues.real) == pytest.approx(np.sort(there.eigenvalues.real), rel=1e-9)


def test_neither_order_nor_units_matter():
    bars, order = 12, np.random.default_rng(7).permutation(12)
    plain, other = cantilever(bars), cantilever(bars, order, length=1e3, force=1e-2)
    first, second = plain.branch(30), other.branch(30e-2)
    assert [s.value for s in second.special] == pytest.approx([1e-2 * s.value for s in first.special], rel=1e-12)
    here, there = first.special[0].switch(to=20)[-1], second.special[0].switch(to=20e-2)[-1]
    assert np.abs(there.q[order]) == pytest.approx(np.abs(here.q), abs=1e-10)


@pytest.mark.parametrize("unit", [1e-3, 1.0, 1e3])
def test_a_shallow_truss_snaps_through_at_its_closed_form(unit):
    """Von Mises: P = 2 k y (L0/ℓ − 1) turns where ℓ³ = L0 a²."""
    strut = pfaff.Part(
        [u, w],
        kinetic=m * (u.diff(t) ** 2 + w.diff(t) ** 2) / 4,
        potential=k * (sm.sqrt((u - sm.Symbol("foot")) ** 2 + w**2) - L0) ** 2 / 2,
        parameters={sm.Symbol("foot"): None, k: 1, L0: None, m: 1},
        name="strut",
    )
    press = pfaff.Part([w], potential=P * w, parameters={P: 0}, name="press")
    rise, foot = 0.1 * unit, np.array([-unit, unit])
    length = np.hypot(unit, rise)
    truss = pfaff.Assembly(
        [strut.copies([[0, 1], [0, 1]], foot=foot, L0=length), press.copies([[1]])], size=2, load="P", start=[0, rise]
    )
    branch = truss.branch(to=2e-3 * unit)
    least = np.cbrt(length * unit**2)
    fold = 2 * np.sqrt(least**2 - unit**2) * (length / least - 1)
    assert [s.kind for s in branch.special] == ["fold", "fold"]
    assert [s.value for s in branch.special] == pytest.approx([fold, -fold], rel=1e-11)
    assert [branch[0].stable, branch.at(0.0)[1].stable, branch[-1].stable] == [True, False, True]


@pytest.mark.parametrize("constraint", ["skate", "bow"])
def test_a_tilted_column_of_constraints_equals_the_one_in_angles(constraint):
    values = {"beta0": 0.2, "k1": 10.0, "M_L": 1.0, "c_i": 0.2, "c_e": 0.3}
    sparse = column_assembly(3, constraint, **values).branch(to=8, fixed=[0])
    dense = pfaff.atlas.column(3, constraint=constraint).at(**values).branch("F", 8)
    assert [s.kind for s in sparse.special] == [s.kind for s in dense.special] == ["hopf"]
    assert sparse.special[0].value == pytest.approx(dense.special[0].value, rel=1e-9)
    assert sparse.special[0].omega == pytest.approx(dense.special[0].omega, rel=1e-9)
    here, there = sparse.at(5.0)[0], dense.at(5.0)[0]
    assert here.q[2::3] == pytest.approx([there[f"theta{i}"] for i in (1, 2, 3)], abs=1e-9)


def test_hopf_points_of_a_long_column_are_where_flutter_finds_them():
    column = column_assembly(100, k=100, k1=200, c_e=0.5)
    branch, flutter = column.branch(to=25), column.flutter(to=100)
    (hopf,) = branch.special
    assert hopf.value == pytest.approx(flutter.value, rel=1e-10)
    assert hopf.omega == pytest.approx(flutter.frequency, rel=1e-10)
    assert "modes up to the frequency" in branch.status


def test_steps_and_points_are_the_usual_ones_if_nothing_is_said():
    """Its signature writes them out: assemblies are stated before anything is followed."""
    parameters = inspect.signature(pfaff.Assembly.branch).parameters
    assert (parameters["step"].default, parameters["points"].default) == (STEP, POINTS)


def test_a_branch_is_saved_read_extended_and_drawn(tmp_path):
    column = column_assembly(4, beta0=0.2, k1=10.0, M_L=1.0, c_i=0.2)
    branch = column.branch(to=2)
    again = pfaff.load(branch.save(tmp_path / "branch.nc"), column)
    assert again.status == branch.status
    assert (again.ended.reason, again.ended.bound) == (pfaff.Reason.REACHED, 2.0)
    assert [s.status for s in again.special] == [s.status for s in branch.special]
    assert again.extend(to=2.5)[-1].q == pytest.approx(column.branch(to=2.5)[-1].q, abs=1e-10)
    assert branch.to_xarray()["q"].shape == (len(branch), column.size)
    assert len(branch.plot("q1").axes[0].lines) >= 1
    with pytest.raises(ParameterError, match="holds a branch of column of 4 bars"):
        pfaff.load(tmp_path / "branch.nc", column_assembly(5))
    with pytest.raises(ParameterError, match="does not belong to this case"):
        pfaff.load(tmp_path / "branch.nc", column_assembly(4, beta0=0.1, k1=10.0))


def test_a_point_is_a_state_at_rest_from_which_other_analyses_start():
    column = column_assembly(4, beta0=0.2, k1=10.0, M_L=1.0, c_i=0.2)
    point = column.branch(to=1, fixed=[0])[-1]
    rest = column.equilibrium(1.0, start=point.rest)
    assert rest.q == pytest.approx(point.q, abs=1e-12)
    back = point.branch("F", to=0.5, fixed=[0])
    assert back[-1].q == pytest.approx(column.equilibrium(0.5, fixed=[0]).q, abs=1e-9)
    assert point["p0"] == point.p[0]


def test_events_are_located():
    bent = cantilever(6).branch(to=5).special[0].switch(to=10, events={"half": "q5**2 = 1/4"})
    (event,) = bent.of_kind("event: half")
    assert abs(event.q[5]) == pytest.approx(0.5, abs=1e-10)


@pytest.mark.parametrize(
    ("ask", "error", "message"),
    [
        (lambda x: x.branch(to=0), ParameterError, "to=0 is where it starts"),
        (lambda x: x.branch(to=5, modes=0), ParameterError, "modes"),
        (lambda x: x.branch(to=5, fixed=[0]), ParameterError, "1 coordinates are fixed"),
        (lambda x: x.branch(to=5)[0].branch("k", to=3), ParameterError, "one parameter that varies"),
        (lambda x: x.branch(to=5).special[0].curve("k", to=3), ParameterError, "one parameter that varies"),
        (lambda x: x.branch(to=5, from_="a"), ParameterError, "from_"),
    ],
)
def test_mistakes_are_named(ask, error, message):
    with pytest.raises(error, match=message):
        ask(cantilever(4))


def test_a_fold_has_no_other_branch():
    """A cantilever whose hinges soften folds: nothing crosses there."""
    soft = pfaff.Part([theta], potential=k * (1 - sm.cos(theta)), kinetic=theta.diff(t) ** 2 / 2, parameters={k: 1})
    push = pfaff.Part([theta], potential=-P * theta, parameters={P: 0}, name="push")
    pendulum = pfaff.Assembly([soft.copies([[0]]), push.copies([[0]])], size=1, load="P")
    (fold,) = pendulum.branch(to=2, bounds=(-0.5, 2)).special[:1]
    assert fold.value == pytest.approx(1, abs=1e-12)
    with pytest.raises(NoBifurcationError, match="one branch only passes the fold"):
        fold.switch(to=2)
