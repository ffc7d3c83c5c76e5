"""Assemblies of repeated parts against dense systems, Beck's column and the errors of bad input."""

import numpy as np
import pytest
import sympy as sm
from scipy.linalg import null_space
from sympy.physics.mechanics import dynamicsymbols

import pfaff
from pfaff.atlas.chain import column_assembly
from pfaff.errors import ConvergenceError, ParameterError, RankError, StatementError
from pfaff.flow.assembly import Assembly
from pfaff.rest import assemblies
from pfaff.stability.critical_load import CriticalLoad
from pfaff.stability.large import flutter_load
from pfaff.stability.large_modes import nearest_roots
from pfaff.statement.parts import Part

t = dynamicsymbols._t
u, w, u_next, w_next = dynamicsymbols("u w u_next w_next")
m, a, b, k, c = sm.symbols("m a b k c", nonnegative=True)
F = sm.Symbol("F", real=True)

HEAVY = {"k1": 50.0, "M_L": 15.0, "I_L": 15.0}
LIGHT = {"k1": 10.0, "M_L": 1.0}


@pytest.mark.parametrize("constraint", ["skate", "bow"])
@pytest.mark.parametrize("bars", [2, 4, 6])
@pytest.mark.parametrize("values", [HEAVY, LIGHT, {**LIGHT, "c_i": 0.2, "c_e": 0.3, "c_t": 0.1, "c_r": 0.05}])
def test_flutter_equals_the_dense_one(bars, constraint, values):
    dense = pfaff.atlas.column(bars, constraint=constraint).at(**values).flutter()
    found = column_assembly(bars, constraint, **values).flutter()
    assert found.value == pytest.approx(dense.value, rel=1e-9)
    assert found.frequency == pytest.approx(dense.frequency, rel=1e-9)
    assert found.confirmed


def test_published_loads():
    """Cazzolli et al. (2020): P0 exact, and P_d at c_i = 1.5."""
    undamped, damped = (column_assembly(2, **HEAVY, c_i=c_i).flutter() for c_i in (0.0, 1.5))
    assert undamped.value == pytest.approx(20 * (3102 - 120482**0.5) / 723, rel=1e-13)
    assert damped.value == pytest.approx(64 * 1.5**2 / 723 + 4410529058 / 57927483, rel=1e-13)
    assert damped.frequency == pytest.approx(1.01922949893, rel=1e-10)


@pytest.mark.parametrize("damping", [{}, {"c_e": 0.5}])
def test_many_bars_converge_at_second_order(damping):
    """Beck's column: 20.0509 EI/L² with ω = 11.0156; external damping shifts it without spoiling the order."""
    sizes = (50, 100, 200)
    found = [column_assembly(n, k=float(n), k1=2.0 * n, **damping).flutter() for n in sizes]
    values = [each.value for each in found]
    order = np.log2((values[1] - values[0]) / (values[2] - values[1]))
    assert order == pytest.approx(2, abs=0.02)
    assert all(each.confirmed for each in found)
    if not damping:
        limit = values[2] + (values[2] - values[1]) / 3
        assert limit == pytest.approx(20.05095, abs=1e-5)
        assert found[2].frequency == pytest.approx(11.0156, abs=3e-4)


@pytest.mark.parametrize("damping", [0.0, 0.5])
def test_units_of_force_do_not_change_the_load_of_very_many_bars(damping):
    """Inertia and load are a billion times smaller than the stiffness of 1500 bars: twelve digits all the same."""
    loads = []
    for unit in (1.0, 3.7):
        column = column_assembly(1500, k=1500 * unit, k1=3000 * unit, M=unit, c_e=damping * unit)
        loads.append(column.flutter(to=100 * unit).value / unit)
    assert loads[0] == pytest.approx(loads[1], rel=1e-12)


def test_the_way_to_a_load_has_a_limit(monkeypatch):
    monkeypatch.setattr("pfaff.rest.protocol.STEPS", 2)
    path = assemblies.AssemblyPath(column_assembly(2, "bow", **HEAVY, beta0=np.pi / 10), None, [0])
    with pytest.raises(ConvergenceError, match="cannot be followed beyond F = .* in 2 steps on its way to 90"):
        path.rest(90.0)


@pytest.mark.parametrize("c_i", [0.1, 2.0])
def test_overdamped_modes_do_not_hide_flutter(c_i):
    """With internal damping all high modes crowd one point of the negative axis, far below the flutter frequency."""
    assembly = column_assembly(40, k=40.0, k1=80.0, c_i=c_i)
    found = assembly.flutter()
    below, at, above = (_rightmost(assembly.linearise(share * found.value)) for share in (0.99, 1.0, 1.01))
    assert below.real < -1e-5
    assert above.real > 1e-5
    assert abs(at - 1j * found.frequency) < 1e-7
    assert found.confirmed


def _rightmost(lin):
    """The rightmost oscillating eigenvalue, by dense algebra on the kernel of the constraints."""
    N = null_space(lin.A.toarray())
    M, C, K = (N.T @ matrix.toarray() @ N for matrix in (lin.M, lin.C, lin.stiffness))
    inverse = np.block([[-np.linalg.solve(K, C), -np.linalg.solve(K, M)], [np.eye(len(M)), 0 * M]])
    values = 1 / np.linalg.eigvals(inverse)
    low = values[(np.abs(values) < 100) & (values.imag > 0.1)]
    return low[low.real.argmax()]


def test_mode_satisfies_the_joints():
    bars = 100
    found = column_assembly(bars, k=100.0, k1=200.0).flutter()
    amplitudes = np.array([found.mode[f"q{k}"] for k in range(3 * bars)])
    x, y, theta = amplitudes.reshape(bars, 3).T
    np.testing.assert_allclose(np.diff(y), theta[:-1] / bars, atol=1e-12)
    np.testing.assert_allclose(x, 0, atol=1e-12)
    assert np.abs(amplitudes).max() == pytest.approx(1)


def test_equilibrium_of_the_misaligned_bow():
    """Cazzolli et al. (2020): θ1 = −F tan β0/k1 and θ2 as printed; p = F/cos β0."""
    assembly = column_assembly(2, "bow", **HEAVY, beta0=np.pi / 100)
    rest = assembly.equilibrium(80.0, fixed=[0])
    assert rest.q[[2, 5]] == pytest.approx([-0.0502820256694, 0.701512197653], rel=1e-11)
    assert rest.p[-1] == pytest.approx(80 / np.cos(np.pi / 100), rel=1e-12)
    assert rest.q[0] == pytest.approx(0, abs=1e-15)


def test_flutter_on_an_equilibrium_that_bends_with_the_load():
    values = {**HEAVY, "c_i": 1.5, "beta0": np.pi / 100}
    dense = pfaff.atlas.column(2, "bow").at(**values).flutter(X=0.0)
    found = column_assembly(2, "bow", **values).flutter(to=100.0, fixed=[0])
    assert found.value == pytest.approx(dense.value, rel=1e-9)
    assert found.value == pytest.approx(78.2992872849, rel=1e-10)


def node():
    return Part(
        coordinates=[u, w],
        kinetic=m * (u.diff(t) ** 2 + w.diff(t) ** 2) / 2,
        potential=(a * u**2 + b * w**2) / 2,
        parameters={m: 1, a: None, b: None},
        name="node",
    )


def strut():
    stretch, shear = u_next - u, w_next - w
    return Part(
        coordinates=[u, w, u_next, w_next],
        potential=k * (stretch**2 + shear**2 / 3 + stretch**4) / 2,
        dissipation=c * (stretch.diff(t) ** 2 + shear.diff(t) ** 2) / 2,
        parameters={k: 1, c: 0},
        name="strut",
    )


def follower():
    return Part(coordinates=[u, w], forces={u: -F * w, w: F * u}, parameters={F: 0}, name="follower")


RING = 5
SUPPORT_A, SUPPORT_B = 1.0 + 0.13 * np.arange(RING), 2.0 + 0.29 * np.arange(RING) ** 1.5
STIFFNESS = 0.4 + 0.1 * np.arange(RING)


def ring(damping):
    """Masses on a ring of struts; one of them feels a circulatory force."""
    at = np.arange(2 * RING).reshape(RING, 2)
    parts = [
        node().copies(at, a=SUPPORT_A, b=SUPPORT_B),
        strut().copies(np.hstack([at, np.roll(at, -1, axis=0)]), k=STIFFNESS, c=damping),
        follower().copies(at[0]),
    ]
    return Assembly(parts, size=2 * RING, load="F", name="ring")


def dense_ring(damping):
    us, ws = dynamicsymbols(f"u1:{RING + 1}"), dynamicsymbols(f"w1:{RING + 1}")
    pairs = [(i, (i + 1) % RING) for i in range(RING)]
    supports = sum(x * q**2 + y * r**2 for x, y, q, r in zip(SUPPORT_A, SUPPORT_B, us, ws, strict=True))
    stretch = [(us[j] - us[i], ws[j] - ws[i]) for i, j in pairs]
    struts = sum(s * (d**2 + e**2 / 3 + d**4) for s, (d, e) in zip(STIFFNESS, stretch, strict=True))
    drag = sum(s * (d.diff(t) ** 2 + e.diff(t) ** 2) for s, (d, e) in zip(damping, stretch, strict=True))
    return pfaff.System(
        coordinates=[*us, *ws],
        kinetic=sum(q.diff(t) ** 2 for q in [*us, *ws]) / 2,
        potential=(supports + struts) / 2,
        dissipation=drag / 2,
        forces={us[0]: -F * ws[0], ws[0]: F * us[0]},
        parameters={F: 0},
        load="F",
    )


@pytest.mark.parametrize("damping", [np.zeros(RING), 0.05 + 0.02 * np.arange(RING)])
def test_a_ring_equals_its_dense_system(damping):
    dense = dense_ring(damping).at().flutter(to=10.0)
    found = ring(damping).flutter(to=10.0)
    assert found.value == pytest.approx(dense.value, rel=1e-9)
    assert found.frequency == pytest.approx(dense.frequency, rel=1e-9)


def grid(side, damping):
    """Masses on a square grid of struts; some of them feel a circulatory force."""
    numbers, count = np.arange(side**2).reshape(side, side), side**2
    at = np.arange(2 * count).reshape(count, 2)
    down, right = (
        np.stack([a.ravel(), b.ravel()]) for a, b in ((numbers[:-1], numbers[1:]), (numbers[:, :-1], numbers[:, 1:]))
    )
    first, second = np.hstack([down, right])
    generator = np.random.default_rng(1)
    parts = [
        node().copies(at, a=1 + generator.random(count), b=1.5 + generator.random(count)),
        strut().copies(np.hstack([at[first], at[second]]), k=1 + generator.random(len(first)), c=damping),
        follower().copies(at[::5]),
    ]
    return Assembly(parts, size=2 * count, load="F", name="grid")


def test_a_damped_grid_flutters_first_where_all_its_eigenvalues_say():
    assembly = grid(8, 0.05)
    found = assembly.flutter(modes=20)
    below, at, above = (_all_eigenvalues(assembly, share * found.value) for share in (0.99, 1.0, 1.01))
    assert below.real.max() < -1e-6
    assert above.real.max() > 1e-6
    assert at.real.max() == pytest.approx(0, abs=1e-10)
    assert np.abs(at - 1j * found.frequency).min() < 1e-10


def _all_eigenvalues(assembly, load):
    lin = assembly.linearise(load)
    M, C, K = (matrix.toarray() for matrix in (lin.M, lin.C, lin.stiffness))
    return np.linalg.eigvals(np.block([[0 * M, np.eye(len(M))], [-np.linalg.solve(M, K), -np.linalg.solve(M, C)]]))


def test_modes_that_the_load_does_not_touch_are_refused():
    with pytest.raises(ParameterError, match="ask for more modes"):
        grid(8, 0.0).flutter(modes=2)


def test_matrices_equal_the_dense_ones():
    system = dense_ring(np.ones(RING))
    lin, dense = ring(1.0).linearise(1.5), system.at(F=1.5).linearise()
    order = np.arange(2 * RING).reshape(2, RING).T.ravel()
    for sparse, full in ((lin.M, dense.M), (lin.C, dense.C), (lin.stiffness, dense.stiffness)):
        np.testing.assert_allclose(sparse.toarray(), full[np.ix_(order, order)], atol=1e-14)


def test_constraint_with_a_velocity_demanded_keeps_its_own_root():
    """A row A q̇ + B q = 0 is not divided by ω: its eigenvalue −rate is kept, as in the dense system."""
    x, y, phi = dynamicsymbols("x y phi")
    rate = sm.Symbol("rate", positive=True)
    stated = {
        "coordinates": [x, y, phi],
        "kinetic": (x.diff(t) ** 2 + y.diff(t) ** 2 + phi.diff(t) ** 2) / 2,
        "potential": (x**2 + 2 * y**2 + 3 * phi**2) / 2 - F * x * y,
        "nonholonomic_constraints": [y.diff(t) * sm.cos(phi) - x.diff(t) * sm.sin(phi) + rate * y],
        "parameters": {rate: 0.7, F: 0},
    }
    assembly = Assembly([Part(**stated).copies([0, 1, 2])], size=3, load="F")
    dense = pfaff.System(**stated).at(F=0.3).spectrum().values
    values, _ = nearest_roots(assembly.linearise(0.3), 6, 0.0)
    np.testing.assert_allclose(*(np.sort_complex(each.round(12)) for each in (values, dense)), atol=1e-10)


def test_absence_of_flutter_is_said():
    found = ring(0.0).flutter(to=0.05)
    assert not found
    assert "no flutter of the 10 lowest modes up to F = 0.05" in found.status
    with pytest.raises(ParameterError, match="no flutter load"):
        float(found)


@pytest.mark.parametrize(
    ("mistake", "error", "message"),
    [
        (lambda: node().copies([[0, 1, 2]], a=1, b=1), StatementError, "2 global indices of u, w"),
        (lambda: node().copies([[0.0, 1.0]], a=1, b=1), StatementError, "not whole numbers"),
        (lambda: node().copies([[0, 1]], a=1, bb=1), ParameterError, "no parameter 'bb'.*did you mean 'b'"),
        (lambda: node().copies([[0, 1]], a=[1, 2], b=1), ParameterError, "a of part 'node'.*array of 1 numbers"),
        (lambda: node().copies([[0, 1]], a=-1, b=1), ParameterError, "nonnegative"),
        (lambda: node().copies([[0, 1]], a=[np.nan], b=1), ParameterError, "a=nan is not a finite"),
        (lambda: Assembly([node().copies([[0, 1]], a=1)], 2, "m"), ParameterError, "'b' of part 'node' has no value"),
        (lambda: Assembly([node().copies([[0, 7]], a=1, b=1)], 2, "m"), StatementError, "w at coordinate 7.*0 to 1"),
        (lambda: Assembly([node().copies([[0, 1]], a=1, b=1)], 3, "m"), StatementError, "coordinate 2.*no part"),
        (lambda: Assembly([node().copies([[0, 1]], a=1, b=1)], 2, "F"), ParameterError, "load 'F' is no parameter"),
        (lambda: Assembly([node().copies([[0, 1]], a=1, b=1)], 2, "a"), ParameterError, "leave it out"),
        (lambda: Assembly([node().copies([[0, 1]], a=1, b=1)], 2.0, "m"), StatementError, "size=2.0"),
        (lambda: Assembly([], 2, "a"), StatementError, "no parts"),
        (lambda: Part(coordinates=[u], potential=sm.sin(t) * u), StatementError, "time explicitly"),
        (lambda: ring(0.0).equilibrium(1.0, fixed=[0]), ParameterError, "family of dimension 0"),
        (lambda: ring(0.0).equilibrium(1.0, fixed=[99]), ParameterError, "cannot fix coordinate 99"),
        (lambda: ring(0.0).equilibrium(1.0, start=[0.0]), ParameterError, "10 finite numbers"),
        (lambda: flutter_load(ring(0.0), modes=1), ParameterError, "2 or more"),
        (lambda: flutter_load(ring(0.0), to=-1.0), ParameterError, "positive finite"),
        (lambda: column_assembly(0), StatementError, "whole number"),
        (lambda: column_assembly(2, "skat"), StatementError, "did you mean 'skate'"),
    ],
)
def test_mistakes_are_named(mistake, error, message):
    with pytest.raises(error, match=message):
        mistake()


def test_an_assembly_that_moves_without_strain_is_refused():
    at = np.arange(2 * RING).reshape(RING, 2)
    free = Assembly([node().copies(at, a=0.0, b=0.0), follower().copies(at[0])], size=2 * RING, load="F")
    with pytest.raises((RankError, ConvergenceError), match="support the assembly"):
        free.flutter()


def test_the_flutter_of_an_assembly_is_a_critical_load_that_can_be_drawn():
    assembly = column_assembly(3, **HEAVY)
    found, rest = assembly.flutter(), assembly.equilibrium(1.0)
    assert isinstance(found, CriticalLoad)
    assert found.rounding < 1e-12 * found.value
    assert found.eigenvalue == pytest.approx(1j * found.frequency, rel=1e-6)
    growth, frequency = found.plot().axes
    assert {line.get_xdata()[0] for line in growth.lines} == {found.value, *(each.load for each in found.checked)}
    assert frequency.get_xlabel() == f"load ${assembly.load}$"
    coordinates, reactions = rest.plot().axes
    np.testing.assert_array_equal(coordinates.lines[-1].get_ydata(), rest.q)
    np.testing.assert_array_equal(reactions.lines[-1].get_ydata(), rest.p)
