"""Plain ODEs with hundreds of states: sparse Jacobians, against closed forms, dense matrices and other sizes."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pytest
import sympy as sm
from scipy import sparse

import pfaff
from pfaff.algebra.sparse_borders import Factors, bordered, null_vectors, with_columns, with_rows
from pfaff.bifurcation.equilibria.many_states import sparse_points
from pfaff.bifurcation.equilibria.many_states.sparse_points import SparseRests
from pfaff.continuation.endings import Reason
from pfaff.errors import NoBifurcationError, ParameterError
from pfaff.flow import sparse_jacobian
from pfaff.stability.rightmost import box, rightmost

A, D1, D2 = 2.0, 0.05, 0.4  # of the Brusselator


def beside(w, k, end=0):
    """Differences to both neighbours; beyond the ends, a value that is held."""
    return (w[k - 1] if k else end) - 2 * w[k] + (w[k + 1] if k < len(w) - 1 else end)


def bratu(cells):
    u, lam = sm.symbols(f"u1:{cells + 1}", real=True), sm.Symbol("lam", real=True)
    return pfaff.ode({u[k]: (cells + 1) ** 2 * beside(u, k) + lam * sm.exp(u[k]) for k in range(cells)}, {lam: 2}, lam)


def brusselator(cells, length, clock=1, spread=(D1, D2)):
    """u̇ = A − (B + 1) u + u² v + d₁ u″, v̇ = B u − u² v + d₂ v″ on a line, with u = A, v = B/A at its ends."""
    d1, d2 = spread
    u, v = (sm.symbols(f"{name}1:{cells + 1}", real=True) for name in "uv")
    B, h = sm.Symbol("B", positive=True), length / (cells + 1)
    rates = {u[k]: A - (B + 1) * u[k] + u[k] ** 2 * v[k] + d1 / h**2 * beside(u, k, A) for k in range(cells)}
    rates |= {v[k]: B * u[k] - u[k] ** 2 * v[k] + d2 / h**2 * beside(v, k, B / A) for k in range(cells)}
    return pfaff.ode({x: clock * rate for x, rate in rates.items()}, {B: 1}, B)


def uniform(cells):
    return {f"u{k + 1}": A for k in range(cells)} | {f"v{k + 1}": 1 / A for k in range(cells)}


def modes(cells, length):
    """Of −w″ on the same cells."""
    return (2 * (cells + 1) / length * np.sin(np.arange(1, cells + 1) * np.pi / (2 * (cells + 1)))) ** 2


def closed_forms(cells, length):
    """Values of B at which the trace, and the determinant, of a mode's 2 × 2 matrix vanish."""
    k = modes(cells, length)
    turing = 1 + (A**2 + D1 * k * A**2 + D1 * D2 * k**2) / (D2 * k)
    hopf = 1 + A**2 + (D1 + D2) * k
    return np.sort(hopf[hopf < turing]), np.sort(turing)


def growing(cells, length, B):
    """How many eigenvalues grow."""
    k = modes(cells, length)
    trace, determinant = B - 1 - A**2 - (D1 + D2) * k, A**2 - (B - 1) * D2 * k + D1 * k * A**2 + D1 * D2 * k**2
    roots = [np.roots([1, -t, d]) for t, d in zip(trace, determinant, strict=True)]
    return int((np.concatenate(roots).real > 0).sum())


def reactor(cells):
    """Conversion u and temperature v in each cell, carried along and mixed: no matrix is symmetric."""
    u, v = (sm.symbols(f"{name}1:{cells + 1}", real=True) for name in "uv")
    D, beta = sm.symbols("D beta", real=True)

    def carried(w, k):
        mixed = (w[k - 1] - w[k] if k else 0) + (w[k + 1] - w[k] if k < cells - 1 else 0)
        return cells * ((w[k - 1] if k else 0) - w[k]) + 2 * cells**2 * mixed

    reaction = [D * (1 - a) * sm.exp(b) for a, b in zip(u, v, strict=True)]
    rates = {u[k]: carried(u, k) + reaction[k] for k in range(cells)}
    rates |= {v[k]: carried(v, k) + 14 * reaction[k] - beta * v[k] for k in range(cells)}
    return pfaff.ode(rates, {D: 0, beta: 2}, D)


@pytest.fixture(scope="module", autouse=True)
def many():
    """A hundred states are enough to be large."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sparse_jacobian, "MANY", 100)
        yield


@pytest.fixture(scope="module")
def turing():
    branch = brusselator(90, 3.0).at().branch(to=7, start=uniform(90))
    assert isinstance(branch[0].problem, SparseRests)
    return branch


@pytest.fixture(scope="module")
def both():
    """The reactor's branch by sparse matrices and by dense ones."""
    found = []
    for many in (sparse_jacobian.MANY, 10_000):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(sparse_jacobian, "MANY", many)
            found.append(reactor(51).at().branch(to=0.3))
    assert [isinstance(each[0].problem, SparseRests) for each in found] == [True, False]
    return found


def test_the_fold_of_bratu_converges_with_the_square_of_the_mesh():
    folds = [bratu(cells).at().branch(to=4, bounds=(2, 4)).of_kind("fold") for cells in (100, 201)]
    assert [len(each) for each in folds] == [1, 1]
    coarse, fine = (each[0].value - 3.513830719125161 for each in folds)
    assert coarse / fine == pytest.approx(4, rel=0.01)
    assert (4 * fine - coarse) / 3 == pytest.approx(0, abs=1e-8)


def test_states_that_grow_on_and_on_are_an_ending_of_their_own():
    """After its fold Bratu's parameter vanishes like u exp(−u): numbers end before the branch does."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        branch = bratu(121).at().branch(to=4)
    assert branch.ended.reason is Reason.OUTGROWN
    assert "the states grow on and on, as the parameter tends to " in branch.status
    assert branch[-1].value < 1e-300
    assert branch[-1].x.max() > 700


def test_every_hopf_and_turing_point_of_the_brusselator(turing):
    hopf, zero = closed_forms(90, 3.0)
    assert [point.value for point in turing.of_kind("hopf")] == pytest.approx(hopf[hopf < 7], rel=1e-11)
    assert [point.value for point in turing.of_kind("branch point")] == pytest.approx(zero[zero < 7], rel=1e-11)
    assert turing.counted == "8 × branch point, hopf"
    omega = turing.of_kind("hopf")[0].omega
    k = modes(90, 3.0)[0]
    assert omega**2 == pytest.approx(A**2 + D1 * k * A**2 + D1 * D2 * k**2 - (hopf[0] - 1) * D2 * k, rel=1e-11)


def test_all_eigenvalues_that_grow_are_known(turing):
    assert [point.unstable for point in turing] == [growing(90, 3.0, point.value) for point in turing]
    assert all(point.spot.facts.complete for point in turing)
    assert len(turing[-1].eigenvalues) < 60


@pytest.mark.parametrize(("cells", "length"), [(61, 1.3), (120, 5.0)])
def test_so_they_are_at_other_sizes_with_many_crossings_in_a_step(cells, length):
    branch = brusselator(cells, length).at().branch(to=4.5, start=uniform(cells))
    hopf, zero = closed_forms(cells, length)
    expected = sorted([*((B, "hopf") for B in hopf if B < 4.5), *((B, "branch point") for B in zero if B < 4.5)])
    assert [(point.kind) for point in branch.special] == [kind for _, kind in expected]
    assert [point.value for point in branch.special] == pytest.approx([B for B, _ in expected], rel=1e-10)


def test_many_hopf_points_take_one_spectrum_each(monkeypatch):
    """Both species spread alike, so that every mode has one: B = 1 + A² + 2 d k."""
    asked = []
    monkeypatch.setattr(sparse_points, "rightmost", lambda *of: asked.append(of) or rightmost(*of))
    branch = brusselator(110, 40.0, spread=(0.3, 0.3)).at().branch(to=7.2, start=uniform(110))
    expected = 1 + A**2 + 0.6 * modes(110, 40.0)
    assert branch.counted == "24 × hopf"
    assert [point.value for point in branch.special] == pytest.approx(expected[:24], rel=1e-13)
    assert len(asked) < 1.3 * (len(branch) + len(branch.special))


def test_another_unit_of_time_changes_nothing_but_frequencies(turing):
    quick = brusselator(90, 3.0, clock=1000).at().branch(to=7, start=uniform(90))
    assert [point.value for point in quick.special] == pytest.approx([point.value for point in turing.special], 1e-11)
    first, other = (each.of_kind("hopf")[0].hopf for each in (turing, quick))
    assert other.omega == pytest.approx(1000 * first.omega, rel=1e-10)
    assert other.crossing == pytest.approx(1000 * first.crossing, rel=1e-8)
    assert other.l1 == pytest.approx(first.l1, rel=1e-8)


def test_two_ways_lead_off_a_turing_point(turing):
    point = turing.of_kind("branch point")[0]
    first, second = (point.switch(to=3.2, way=way, points=3) for way in (1, -1))
    k = 1 + np.argmin(np.abs(closed_forms(90, 3.0)[1][0] - _turing_by_mode()))
    shape = np.sin(k * np.pi * np.arange(1, 91) / 91)
    deviations = [each[0].x[:90] - A for each in (first, second)]
    for deviation in deviations:
        assert abs(deviation @ shape) > 0.99 * np.linalg.norm(deviation) * np.linalg.norm(shape)
    assert deviations[0] @ deviations[1] < 0
    assert max(point.residual for point in first) < 1e-12


def _turing_by_mode():
    k = modes(90, 3.0)
    return 1 + (A**2 + D1 * k * A**2 + D1 * D2 * k**2) / (D2 * k)


def test_special_points_are_those_of_dense_matrices(both):
    sparse_, dense = both
    assert [point.kind for point in sparse_.special] == ["fold", "fold", "hopf"] == [p.kind for p in dense.special]
    for a, b in zip(sparse_.special, dense.special, strict=True):
        assert a.value == pytest.approx(b.value, rel=1e-11)
        assert a.coefficient == pytest.approx(b.coefficient, rel=1e-7)
        assert a.x == pytest.approx(b.x, abs=1e-9)
    ours, theirs = (each.special[2].hopf for each in both)
    assert ours.omega == pytest.approx(theirs.omega, rel=1e-10)
    assert ours.crossing == pytest.approx(theirs.crossing, rel=1e-7)
    assert ours.q == pytest.approx(theirs.q, abs=1e-8)
    assert ours.p == pytest.approx(theirs.p, abs=1e-6 * np.abs(theirs.p).max())


def test_curves_are_those_of_dense_matrices(both):
    for place, to in ((0, 2.8), (2, 3.0)):
        ours, theirs = (each.special[place].curve("beta", to=to) for each in both)
        assert ours[-1].values == pytest.approx(theirs[-1].values, rel=1e-10)
        assert ours[-1].omega == pytest.approx(theirs[-1].omega, rel=1e-9)
        assert ours[-1].coefficient == pytest.approx(theirs[-1].coefficient, rel=1e-6)
        assert [point.kind for point in ours.special] == [point.kind for point in theirs.special]
        for a, b in zip(ours.special, theirs.special, strict=True):
            assert a.values == pytest.approx(b.values, rel=1e-8)
            assert [abs(c) for c in a.coefficients.values()] == pytest.approx(
                [abs(c) for c in b.coefficients.values()], rel=1e-5
            )


def test_a_hopf_point_of_a_large_ode_starts_its_curve(both):
    hopf = reactor(51).at().hopf(to=0.3)
    assert hopf.value == pytest.approx(both[0].special[2].value, rel=1e-12)
    curve = hopf.curve("beta", to=2.1)
    assert curve[-1].hopf.omega == pytest.approx(curve[-1].omega, rel=1e-9)
    with pytest.raises(ParameterError, match=r"how far\?.*to="):
        reactor(51).at().hopf()


def test_files_and_other_processes_keep_large_branches(both, tmp_path):
    branch, case = both[0], reactor(51).at()
    again = pfaff.load_equilibria(branch.save(tmp_path / "branch.nc"), case)
    assert [point.value for point in again.special] == pytest.approx([point.value for point in branch.special], 1e-11)
    assert again.extend(to=0.32)[-1].value == 0.32
    curve = branch.special[0].curve("beta", to=2.1)
    assert pfaff.load_curve(curve.save(tmp_path / "curve.nc"), case)[-1].values == curve[-1].values
    assert pickle.loads(pickle.dumps(branch)).status == branch.status


def test_a_rate_that_depends_on_all_states_and_rates_that_depend_on_one_side():
    """Excitable cells in a ring that drifts, with a controller of their mean."""
    n, z, (current, gain) = 60, sm.Symbol("z"), sm.symbols("I g")
    u, w = (sm.symbols(f"{name}1:{n + 1}", real=True) for name in "uw")
    ring = [4 * (u[k - 1] - 2 * u[k] + u[(k + 1) % n]) + u[k - 1] - u[k] for k in range(n)]
    rates = {u[k]: u[k] - u[k] ** 3 / 3 - w[k] + current + ring[k] - gain * z for k in range(n)}
    rates |= {w[k]: 0.3 * (u[k] + 0.7 - 0.8 * w[k]) for k in range(n)} | {z: sum(u) / n - 2 * z}
    branch = pfaff.ode(rates, {current: 0, gain: 0.3}, current).at().branch(to=0.7)
    assert isinstance(branch[0].problem, SparseRests)
    found = [(point.value, point.omega) for point in branch.of_kind("hopf")]
    # About the uniform state every wave e^{ikx} has a matrix of two, but for k = 0, which the controller joins.
    for value, omega in found:
        state = branch.at(value)[0]
        x, m = state["u1"], 1j * omega
        waves = np.exp(2j * np.pi * np.arange(n) / n)
        coupling = 4 * (waves - 2 + 1 / waves) + 1 / waves - 1
        coupling[0] -= 0.3 / (m + 2)
        left = [min(abs((s * m - 1 + x**2 - c) * (s * m + 0.24) + 0.3) for c in coupling) for s in (1, -1)]
        assert min(left) < 1e-9
    assert len(found) == 6


def test_branches_that_pass_each_other_closely_are_not_taken_for_one():
    """Bistable cells, coupled and not quite alike: ten folds, where a step may lead over to the branch beside it."""
    n, m = 100, sm.Symbol("m")
    u = sm.symbols(f"u1:{n + 1}", real=True)
    flow = [(50 * (u[k - 1] - u[k]) if k else 0) + (50 * (u[k + 1] - u[k]) if k < n - 1 else 0) for k in range(n)]
    rates = {u[k]: m * (1 + sm.Rational(k, 10 * n)) + u[k] - u[k] ** 3 + flow[k] for k in range(n)}
    branch = pfaff.ode(rates, {m: -1}, m).at().branch(to=1, start=dict.fromkeys((x.name for x in u), -1.3))
    assert branch.counted == "10 × fold"
    folds = [point.value for point in branch.special]
    assert folds == pytest.approx([-value for value in reversed(folds)], rel=1e-9)  # u, m ↦ −u, −m


def test_conserved_quantities_are_left_to_dense_matrices():
    n, a = 100, sm.Symbol("a", positive=True)
    u = sm.symbols(f"u1:{n + 1}", real=True)
    closed = {x: a * ((u[k - 1] - x if k else 0) + (u[k + 1] - x if k < n - 1 else 0)) for k, x in enumerate(u)}
    branch = pfaff.ode(closed, {a: 1}, a).at().branch(to=2, start=dict.fromkeys((x.name for x in u), 0.5))
    assert not isinstance(branch[0].problem, SparseRests)
    assert branch[-1].x == pytest.approx(np.full(n, 0.5))


def test_what_large_systems_do_not_answer_says_so(turing, monkeypatch):
    with pytest.raises(NoBifurcationError, match="large sparse equations"):
        turing.of_kind("branch point")[0].curve("B", to=8)
    with pytest.raises(ParameterError, match="vary a parameter"):
        brusselator(60, 1.0).at().branch("u1", to=3, start=uniform(60))
    monkeypatch.setattr("pfaff.bifurcation.orbits.orbit_problem.LARGEST", 170)
    with pytest.raises(ParameterError, match=r"180 states.*coarser cells"):
        turing.of_kind("hopf")[0].hopf.orbits(to=7)
    monkeypatch.setattr("pfaff.bifurcation.orbits.orbit_problem.is_sparse", lambda flow: False)
    with pytest.raises(ParameterError, match=r"180 states.*dense"):
        turing.of_kind("hopf")[0].hopf.orbits(to=7)


def test_rests_and_spectra_of_large_odes():
    case = brusselator(60, 3.0).at(B=4)
    rest = case.equilibrium(**uniform(60))
    assert rest.x == pytest.approx(np.repeat([A, 4 / A], 60), rel=1e-10)
    k = modes(60, 3.0)
    roots = [np.roots([1, -(3 - A**2 - (D1 + D2) * s), A**2 - 3 * D2 * s + D1 * s * A**2 + D1 * D2 * s**2]) for s in k]
    expected, found = np.sort_complex(np.concatenate(roots)), np.sort_complex(case.spectrum(rest).values)
    assert np.abs(expected - found).max() < 1e-9 * np.abs(expected).max()


# The algebra


@pytest.mark.parametrize("seed", range(4))
def test_factors_know_the_sign_of_the_determinant_and_solve_with_borders(seed):
    generator = np.random.default_rng(seed)
    matrix = sparse.csc_array(sparse.random_array((60, 60), density=0.08, rng=generator) + sparse.eye_array(60))
    whole = with_rows(with_columns(matrix, generator.normal(size=(60, 1))), generator.normal(size=(1, 61)))
    factors, right = Factors(whole, 1), generator.normal(size=61)
    assert factors.sign == np.linalg.slogdet(whole.toarray())[0]
    assert factors.solve(right) == pytest.approx(np.linalg.solve(whole.toarray(), right), rel=1e-9, abs=1e-11)
    expected = np.linalg.solve(whole.toarray().T, right)
    assert factors.solve(right, transposed=True) == pytest.approx(expected, rel=1e-9, abs=1e-11)


def test_a_singular_matrix_is_regular_with_its_null_vectors_around_it():
    n = 80
    chain = sparse.diags_array([np.ones(n - 1), -2 * np.ones(n), np.ones(n - 1)], offsets=[-1, 0, 1])
    least = 2 * np.cos(np.pi / (n + 1)) - 2
    singular = sparse.csc_array(chain - least * sparse.eye_array(n))
    right, left = null_vectors(singular)
    wave = np.sin(np.pi * np.arange(1, n + 1) / (n + 1)) * np.sqrt(2 / (n + 1))
    assert abs(right @ wave) == pytest.approx(1, abs=1e-12) == abs(left @ wave)
    x = bordered(singular, left[:, None], right[None]).solve(np.append(wave, 0.0))
    assert np.abs(x[:-1]).max() < 1e-9  # the wave itself is what the matrix cannot reach
    assert abs(x[-1]) == pytest.approx(1, abs=1e-12)


def test_a_hundred_eigenvalues_that_grow_are_known_without_all_the_others():
    n = 1200
    chain = sparse.diags_array([np.ones(n - 1), -2 * np.ones(n), np.ones(n - 1)], offsets=[-1, 0, 1])
    waves = np.arange(1, n + 1) * np.pi / (n + 1)
    every = 2 * np.cos(waves) - 2
    found = rightmost(sparse.csc_array(chain - (every[99] + every[100]) / 2 * sparse.eye_array(n)))
    assert found.complete
    assert len(found.values) < 200
    assert (found.values.real > 0).sum() == 100


@pytest.mark.parametrize("seed", range(3))
def test_no_eigenvalue_that_grows_is_left_out(seed):
    generator, n = np.random.default_rng(seed), 300
    chain = sparse.diags_array([np.ones(n - 1), -2 * np.ones(n), np.ones(n - 1)], offsets=[-1, 0, 1])
    turned = sparse.random_array((n, n), density=0.004, rng=generator)
    J = sparse.csc_array(30 * chain + turned - turned.T * 2 + sparse.eye_array(n) * 0.5)
    every, found = np.linalg.eigvals(J.toarray()), rightmost(J)
    real, imaginary = box(J)
    assert found.complete
    assert len(found.values) < n
    assert every.real.max() <= real
    assert np.abs(every.imag).max() <= imaginary
    wanted = every[every.real > 0]
    assert len(wanted) == (found.values.real > 0).sum() > 0
    assert np.abs(wanted[:, None] - found.values[None]).min(axis=1).max() < 1e-9
    W, V = found.left_vectors(J), found.vectors
    assert np.abs(W.T @ J - found.values[:, None] * W.T).max() < 1e-8
    assert np.abs(J @ V - V * found.values).max() < 1e-8
