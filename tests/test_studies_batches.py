"""Batches: the same numbers as one by one, on systems of every kind, and doubts left to single searches."""

from __future__ import annotations

import os
from functools import cache
from types import SimpleNamespace

import numpy as np
import pytest
import sympy as sm

import pfaff
from conftest import XI_HAT
from pfaff.kernels import many_matrices, many_polynomials
from pfaff.statement import TIME, coordinates
from pfaff.studies import block as block_of_points
from pfaff.studies.along_loads import nodes_of
from pfaff.studies.block import DONE, NONE, Block, Job, measured
from pfaff.studies.many_points import batched
from pfaff.studies.points import points_from
from pfaff.studies.quantities import Asked, measures_from

POINTS = int(os.environ.get("PFAFF_BATCH_POINTS", "3"))  # 200 for the whole check, which takes minutes
HOPF = ["hopf", "omega", "crossing_speed", "l1", "criticality"]


@cache
def lorenz():
    """Lorenz (1963): the symmetric pair of equilibria loses stability at r = s (s + b + 3)/(s − b − 1)."""
    x, y, z = sm.symbols("x y z")
    r, s, b = sm.symbols("r s b", real=True)
    equations = {x: s * (y - x), y: x * (r - z) - y, z: x * y - b * z}
    return pfaff.ode(equations, parameters={r: 10, s: 10, b: "8/3"}, load=r, name="Lorenz")


@cache
def sleigh():
    """A sleigh that is pulled at a speed v by a spring, its blade ahead of the centre: it begins to snake."""
    q, psi = coordinates("q psi")
    t = TIME
    m, I, k, c, a, l = sm.symbols("m I k c a l", positive=True)
    v = sm.Symbol("v", real=True)
    aside, turn = q.diff(t), psi.diff(t)
    centre = (v + a * turn * sm.sin(psi), aside - a * turn * sm.cos(psi))
    return pfaff.System(
        [q, psi],
        m * (centre[0] ** 2 + centre[1] ** 2) / 2 + I * turn**2 / 2,
        k * q**2 / 2,
        c * aside**2 / 2,
        nonholonomic_constraints=[aside * sm.cos(psi) - v * sm.sin(psi) - l * turn],
        parameters={m: 2, I: 1, k: 3, c: "1/5", a: "7/10", l: "6/5", v: 0},
        load=v,
        name="pulled sleigh",
    )


@cache
def euler():
    """Two bars that fall over under a dead weight: buckling, and an exponential that grows from there."""
    a, b = coordinates("a b")
    m, k, c, l = sm.symbols("m k c l", positive=True)
    F = sm.Symbol("F", real=True)
    u, v = a.diff(TIME), b.diff(TIME)
    return pfaff.System(
        [a, b],
        m * l**2 * (2 * u**2 + v**2 + 2 * u * v * sm.cos(a - b)) / 2,
        k * (a**2 + (b - a) ** 2) / 2 + F * l * (sm.cos(a) + sm.cos(b)),
        c * (u**2 + v**2) / 2,
        parameters={m: 1, k: 2, c: "1/10", l: 1, F: 0},
        load=F,
        name="two bars under a weight",
    )


STUDIES = {
    "weighted bars": lambda: (euler().at(), {"k": (1, 3), "l": (0.5, 2)}, ["buckling", "divergence"], {}),
    "column, parted": lambda: (
        pfaff.atlas.column(2).at(**XI_HAT, c_i=1.5),
        {"c_i": (0.5, 5), "M_L": (5, 30)},
        ["divergence", "flutter"],
        {},
    ),
    "sleigh at rest": lambda: (sleigh().at(v=1), {"I": (1.0, 1.3), "c": (0.1, 0.2)}, ["stable", "growth"], {}),
    "ode at rest": lambda: (lorenz().at(r="9/10"), {"s": (9, 12), "b": (2, 3)}, ["stable", "growth"], {}),
    "bent column at rest": lambda: (
        pfaff.atlas.column(2, "bow").at(**XI_HAT, c_i=1.5, beta0=0.03, F=70),
        {"beta0": (0.01, 0.05), "c_i": (0.5, 5)},
        ["stable", "growth"],
        {},
    ),
    "towed wheel": lambda: (
        pfaff.atlas.towed_wheel().at(),
        {"c": (0.05, 0.15), "J": (0.4, 0.6), "a": (0.4, 0.6)},
        HOPF,
        {},
    ),
    "towed wheel, flutter": lambda: (
        pfaff.atlas.towed_wheel().at(),
        {"c": (0.05, 0.15), "J": (0.4, 0.6)},
        ["flutter", "flutter_frequency"],
        {},
    ),
    "sleigh": lambda: (sleigh().at(), {"I": (1.0, 1.3), "c": (0.1, 0.2)}, HOPF, {}),
    "trailer": lambda: (
        pfaff.atlas.snaking_trailer().at(),
        {"c": (400, 600), "m": (1000, 1400), "a": (0.25, 0.35)},
        HOPF[:3],  # third derivatives take long to compile
        {"to": 60.0},
    ),
    "ode": lambda: (lorenz().at(), {"s": (9, 12), "b": (2, 3)}, HOPF, {"fixed": {"x": 5.0, "y": 5.0, "z": 9.0}}),
    "bicycle": lambda: (
        pfaff.atlas.whipple_bicycle().at(),
        {"w": (1.0, 1.05), "m_B": (80, 90)},
        ["hopf", "omega"],
        {"load": "s_dot", "to": 8.0, "fixed": {"s_dot": 1.0}},
    ),
    "bent column": lambda: (
        pfaff.atlas.column(2, "bow").at(**XI_HAT, c_i=1.5, beta0=0.03),
        {"beta0": (0.01, 0.05), "c_i": (0.5, 5)},
        HOPF,
        {},
    ),
}


def job_of(case, points, names, **asked):
    return Job(case, points, measures_from(names, case), Asked(**asked))


def in_batch(job):
    block = Block.empty(job.names, job.points.size)
    batched(job, np.arange(job.points.size), block)
    return block


SLOW = {"bicycle"}


@pytest.mark.parametrize("name", [pytest.param(n, marks=pytest.mark.slow) if n in SLOW else n for n in STUDIES])
def test_random_points_are_those_of_single_calls(name):
    case, ranges, names, asked = STUDIES[name]()
    job = job_of(case, pfaff.sobol(256, seed=1, **ranges), names, **asked)
    block = in_batch(job)
    answered = np.flatnonzero(block.state == DONE)
    assert len(answered) > 0.8 * job.points.size
    for k in np.random.default_rng(2).choice(
        answered, min(POINTS if name not in SLOW else max(1, POINTS - 2), len(answered)), replace=False
    ):
        expected = measured(job, job.points.point(int(k)))
        assert expected.state == DONE
        assert block.outcome(int(k)).values == pytest.approx(expected.values, rel=1e-10, abs=0)


def test_lorenz_in_closed_form():
    job = job_of(lorenz().at(), pfaff.sobol(512, s=(9, 12), b=(2, 3)), ["hopf"], fixed={"x": 5.0, "y": 5.0, "z": 9.0})
    s, b = (job.points.coordinates[name] for name in ("s", "b"))
    block = in_batch(job)
    assert (block.state == DONE).all()
    np.testing.assert_allclose(block.values["hopf"], s * (s + b + 3) / (s - b - 1), rtol=1e-12)


def test_the_column_against_its_hurwitz_determinant():
    """Two bars: the closed form of flutter_map, another route; the order of points does not matter."""
    case = pfaff.atlas.column(2).at(**XI_HAT, c_i=1.5)
    axes = {"c_i": np.linspace(0.5, 5, 9), "c_e": np.linspace(0, 1, 7)}
    block = in_batch(job_of(case, pfaff.grid(**axes), ["flutter"]))
    expected = case.flutter_map(**axes)
    assert "closed form" in expected.how
    np.testing.assert_allclose(block.values["flutter"], expected.values.ravel(), rtol=1e-12)
    turned = in_batch(job_of(case, pfaff.grid(c_e=axes["c_e"], c_i=axes["c_i"]), ["flutter"]))
    np.testing.assert_allclose(turned.values["flutter"].reshape(7, 9).T, expected.values, rtol=1e-12)


def test_units_do_not_matter():
    """The sleigh in kilograms, metres and seconds, and in grams, millimetres and hours: the same loads in new units."""
    mass, length, time = 1e3, 1e3, 1 / 3600
    units = {"m": mass, "I": mass * length**2, "k": mass / time**2, "c": mass / time, "a": length, "l": length}
    case, ranges = sleigh().at(), {"I": (1.0, 1.3), "c": (0.1, 0.2)}
    points = pfaff.sobol(64, seed=1, **ranges).coordinates
    scaled = case.at(**{name: unit * float(case.values[name]) for name, unit in units.items()})
    names = ["hopf", "omega", "crossing_speed", "criticality"]
    found = []
    for one, unit, to in ((case, dict.fromkeys(units, 1.0), 3.0), (scaled, units, 3.0 * length / time)):
        listed = [{name: unit[name] * values[k] for name, values in points.items()} for k in range(64)]
        found.append(in_batch(job_of(one, points_from(listed), names, to=to)))
    assert (found[0].state == DONE).mean() > 0.9
    np.testing.assert_array_equal(found[0].state, found[1].state)
    expected = {"hopf": length / time, "omega": 1 / time, "crossing_speed": 1 / length, "criticality": 1}
    for name, unit in expected.items():
        np.testing.assert_allclose(found[1].values[name], unit * found[0].values[name], rtol=1e-11)


def windowed(widths, to=None):
    """ẋ = p(F) x − y …: a window of instability of any width before the one that everybody sees."""
    x, y = sm.symbols("x y")
    F, w = sm.symbols("F w", real=True)
    growth = (F - 1) * (F - 1 - w) * (F - 5) / 100
    system = pfaff.ode({x: growth * x - y - x**3, y: x + growth * y}, parameters={F: 0, w: "1/2"}, load=F)
    return job_of(system.at(), pfaff.grid(w=widths), ["hopf"], to=to)


def test_a_narrow_window_is_not_stepped_over():
    """Instability between F = 1 and 1 + w, then from F = 5: the first is found however narrow it is, or not
    answered."""
    job = windowed(np.array([1e-9, 1e-6, 1e-4, 1e-2, 0.1, 0.5]))
    block = in_batch(job)
    answered = block.state == DONE
    assert answered[3:].all()
    np.testing.assert_allclose(block.values["hopf"][answered], 1.0, rtol=1e-10)


def test_no_crossing_up_to_a_load_is_an_answer():
    job = windowed(np.array([-0.3, 0.1, 0.2]), to=0.9)
    x = job_of(job.case, pfaff.grid(w=np.array([-0.3, 0.1, 0.2])), ["hopf"], to=0.9)
    block = in_batch(x)
    assert block.state[0] == DONE
    assert block.values["hopf"][0] == pytest.approx(0.7, rel=1e-12)
    assert list(block.state[1:]) == [NONE, NONE]
    assert "up to F = 0.9" in block.reasons[1]


def test_where_damping_vanishes_nothing_is_claimed():
    case = pfaff.atlas.column(2).at(**XI_HAT, c_i=1.5)
    block = in_batch(job_of(case, pfaff.grid(c_i=[0.0, 1e-8, 1.5]), ["hopf"]))
    assert list(block.state) == [0, 0, DONE]


def test_four_bars_and_a_study_of_both_kinds(tmp_path):
    case = pfaff.atlas.column(4).at(**XI_HAT, c_i=1.5)
    study = case.sweep({"c_i": [0.0, 1.0, 2.0], "M_L": [10.0, 20.0]}, measure=["hopf", "omega"]).run()
    assert study.counts == {"done": 4, "none": 2}
    assert study.batched == 4
    there = case.at(c_i=2.0, M_L=20.0).hopf()
    assert float(study.dataset["hopf"][2, 1]) == pytest.approx(there.value, rel=1e-10)
    assert float(study.dataset["omega"][2, 1]) == pytest.approx(there.omega, rel=1e-10)


def test_buckling_in_closed_form():
    """The stiffness (2k − Fl, −k; −k, k − Fl) is singular at Fl/k = (3 − √5)/2."""
    points = pfaff.sobol(64, seed=3, k=(1, 3), l=(0.5, 2))
    block = in_batch(job_of(euler().at(), points, ["buckling", "divergence"]))
    assert (block.state == DONE).all()
    expected = points.coordinates["k"] / points.coordinates["l"] * (3 - 5**0.5) / 2
    for name in ("buckling", "divergence"):
        np.testing.assert_allclose(block.values[name], expected, rtol=1e-12)


def test_what_is_absent_leaves_what_is_there():
    """Flutter below the last load, divergence beyond it."""
    case = pfaff.atlas.column(2).at(**XI_HAT, c_i=1.5)
    job = job_of(case, pfaff.grid(c_i=[1.0, 2.0]), ["flutter", "divergence", "buckling"], to=90.0)
    block = in_batch(job)
    assert list(block.state) == [NONE, NONE]
    for k in range(2):
        alone = measured(job, job.points.point(k))
        assert alone.state == NONE
        assert block.outcome(k).values == pytest.approx(alone.values, rel=1e-10, nan_ok=True)
    assert "divergence, buckling up to F = 90" in block.reasons[0]


def test_measures_of_both_kinds_at_one_point():
    """A function of the user's is called point by point; what batches know beside it is not computed again."""
    case, calls = pfaff.atlas.column(2).at(**XI_HAT, c_i=1.5), []

    def mine(case):
        calls.append(float(case.values["c_i"]))
        return 2 * float(case.values["c_i"])

    study = case.sweep({"c_i": [1.0, 2.0, 0.0]}, measure={"flutter": None, "mine": mine}).run()
    assert study.batched == 2
    assert calls == [1.0, 2.0, 0.0]
    for c, load, double in zip([1.0, 2.0, 0.0], study.dataset["flutter"], study.dataset["mine"], strict=True):
        assert float(load) == pytest.approx(float(case.at(c_i=c).flutter()), rel=1e-10)
        assert float(double) == 2 * c


def test_many_bars_are_left_to_single_searches():
    """Of eight bars the determinant is beyond what its series resolves: nothing is claimed, nothing fails."""
    case = pfaff.atlas.column(8).at(**XI_HAT, c_i=1.5)
    study = case.sweep({"c_i": [1.0, 2.0]}, "hopf").run()
    assert study.counts == {"done": 2}
    assert float(study.dataset["hopf"][1]) == pytest.approx(case.at(c_i=2.0).hopf().value, rel=1e-12)


def test_loads_of_mechanical_systems_are_not_asked_of_an_ode():
    with pytest.raises(pfaff.PfaffError, match="flutter is of mechanical systems"):
        lorenz().at().sweep({"s": [9.0, 10.0]}, ["flutter"])


def test_coefficients_of_random_matrices():
    """D_{m−1} is the product of sums of eigenvalues (Orlando), the discriminant that of their squared differences, and
    the last coefficient their product."""
    generator = np.random.default_rng(0)
    for n in (2, 3, 4, 5, 8):
        J = generator.normal(size=(n * n, 6))
        C, slack, hopf, meeting = np.empty((n + 1, 6)), np.empty(6), np.empty(6), np.empty(6)
        many_polynomials.characteristics(J, n, 0, np.ones(n), 1.0, C, slack)
        many_polynomials.hurwitz(C, hopf)
        many_polynomials.discriminants(C, meeting)
        for k in range(6):
            values = np.linalg.eigvals(J[:, k].reshape(n, n))
            sums = np.prod([-(values[i] + values[j]) for i in range(n) for j in range(i)])
            assert hopf[k] == pytest.approx(sums.real, rel=1e-9)
            differences = np.prod([(values[i] - values[j]) ** 2 for i in range(n) for j in range(i)])
            assert abs(meeting[k]) == pytest.approx(abs(differences), rel=1e-7)
            assert C[-1, k] == pytest.approx(np.prod(-values).real, rel=1e-10)


def test_eigenvectors_and_solutions_of_random_matrices():
    generator = np.random.default_rng(1)
    n, N = 5, 4
    J, scale = generator.normal(size=(n * n, N)), np.array([1.0, 2, 4, 0.5, 1])
    values = [np.linalg.eigvals(J[:, k].reshape(n, n)) for k in range(N)]
    shift = np.array([each[each.imag.argmax()] * (1 + 1e-5) for each in values])
    out = SimpleNamespace(value=np.empty(N, complex), q=np.empty((n, N), complex), p=np.empty((n, N), complex))
    many_matrices.eigenpairs(J, n, scale, 2.0, shift, out.value, out.q, out.p, np.empty(N))
    right, x = generator.normal(size=(n, N)) + 0j, np.empty((n, N), complex)
    many_matrices.solve_many(J, n, scale, 2.0, shift * 2, np.zeros((n, 0)), np.zeros((0, n)), right, x)
    for k in range(N):
        A = J[:, k].reshape(n, n)
        np.testing.assert_allclose(A @ out.q[:, k], out.value[k] * out.q[:, k], atol=1e-12)
        np.testing.assert_allclose(out.p[:, k].conj() @ A, out.value[k] * out.p[:, k].conj(), atol=1e-11)
        assert np.vdot(out.p[:, k], out.q[:, k]) == pytest.approx(1, abs=1e-12)
        np.testing.assert_allclose((A - 2 * shift[k] * np.eye(n)) @ x[:, k], right[:, k], atol=1e-12)


def test_newton_steps_of_random_matrices():
    """With and without borders; a singular matrix gives no good step, and its state stays."""
    generator = np.random.default_rng(2)
    n, N = 4, 5
    J, rates, scale = generator.normal(size=(n * n, N)), generator.normal(size=(n, N)), np.array([1.0, 3, 0.2, 1])
    J[:, 3] = 0
    for b in (0, 1):
        columns, rows = generator.normal(size=(n, b)), generator.normal(size=(b, n))
        x, last, good = np.ones((n, N)), np.full(N, np.inf), np.array([True, True, True, True, False])
        many_matrices.newton_step(J, n, scale, 2.0, columns, rows, rates, np.inf, 1.0, x, last, good)
        assert list(good) == [True, True, True, False, False]
        assert list(x[:, 3]) == [1] * n
        for k in (0, 1, 2, 4):
            whole = np.block([[J[:, k].reshape(n, n), columns], [rows, np.zeros((b, b))]])
            step = np.linalg.solve(whole, np.append(rates[:, k], np.zeros(b)))[:n]
            np.testing.assert_allclose(x[:, k], 1 - step, rtol=1e-11)
            assert last[k] == pytest.approx(np.abs(step / scale).max() / (1 + 1 / scale.min()), rel=1e-11)


def test_arrays_of_other_sizes_are_refused():
    J, out = np.ones((4, 3)), np.empty(3)
    with pytest.raises(ValueError, match="9 numbers row by row are expected"):
        many_polynomials.characteristics(J, 2, 0, np.ones(2), 1.0, np.empty((2, 3)), out)
    with pytest.raises(ValueError, match="3 of 2 eigenvalues"):
        many_polynomials.characteristics(J, 2, 3, np.ones(2), 1.0, np.empty((2, 3)), out)
    with pytest.raises(ValueError, match="contiguous"):
        many_polynomials.hurwitz(np.ones((3, 6))[:, ::2], out)


def test_the_first_of_many_roots():
    nodes, matrix = nodes_of(24)
    functions = {
        -0.5: lambda s: (s + 0.5) * (s - 0.2) * (s - 0.9),
        0.3: lambda s: (s - 0.3) * np.exp(s),
        None: lambda s: 1.0 + s**2 / 2,
    }
    values = np.column_stack([f(nodes) for f in functions.values()])
    kind, place = np.empty(3, dtype=np.int64), np.empty(3)
    many_polynomials.first_roots(values, matrix, 1e-9, kind, place)
    assert list(kind) == [1, 1, 0]
    np.testing.assert_allclose(place[:2], [-0.5, 0.3], atol=1e-9)
    rough = np.abs(nodes)[:, None].copy()
    many_polynomials.first_roots(rough, matrix, 1e-9, kind[:1], place[:1])
    assert kind[0] == 2


def test_every_point_begins_where_its_own_search_does():
    """ẋ = −sin(x − a) rests in many places: which one is reached from x = 1 is each point's own matter."""
    x, y, z, mu, a = sm.symbols("x y z mu a")
    equations = {x: -sm.sin(x - a), y: (mu - 4 - x) * y - z - y**3, z: y + (mu - 4 - x) * z}
    system = pfaff.ode(equations, parameters={mu: -20, a: 1}, load=mu)
    start = {"x": 1, "y": 0, "z": 0}
    values = np.linspace(0, 6, 7)
    for order in (values, np.roll(values, 1)):
        found = system.at().sweep({"a": order}, "hopf", to=20, **start).run().dataset["hopf"].values
        expected = [system.at(a=value).hopf(to=20, **start).value for value in order]
        np.testing.assert_allclose(found, expected, rtol=1e-10)


def test_buckling_right_behind_a_pair_that_ceases_to_oscillate():
    """Of lightly damped bars the softest pair becomes two decaying exponentials just before one of them grows: what is
    not sought must not hide what is."""
    points = pfaff.grid(k=[1.0, 100.0, 1e4], c=[1e-3, 0.1])
    block = in_batch(job_of(euler().at(), points, ["divergence"], to=1e4))
    expected = np.repeat(points.coordinates["k"], 2) * (3 - 5**0.5) / 2
    assert (block.state != NONE).all()
    assert (block.state == DONE).sum() >= 4
    np.testing.assert_allclose(
        block.values["divergence"][block.state == DONE], expected[block.state == DONE], rtol=1e-10
    )


def test_what_rests_at_one_point_may_move_at_another():
    """ẋ = μ − x carries the Hopf point of (y, z) along, however fast w decays at some point of the study."""
    x, y, z, w, mu, p = sm.symbols("x y z w mu p")
    equations = {x: mu - x, y: (x - 2) * y - z - y**3, z: y + (x - 2) * z, w: -p * w}
    system = pfaff.ode(equations, parameters={mu: 0, p: 1}, load=mu)
    block = in_batch(job_of(system.at(), pfaff.grid(p=[1.0, 2.0, 1e14]), ["hopf"], to=3.0))
    assert list(block.state[:2]) == [DONE, DONE]
    np.testing.assert_allclose(block.values["hopf"][:2], 2.0, rtol=1e-12)
    assert block.state[2] != NONE


def test_flutter_is_not_sought_at_negative_loads():
    """Nor by a batch, whose Hopf points are: the state of a point does not depend on how it was computed."""
    (q,), c, F = coordinates("q"), sm.Symbol("c", positive=True), sm.Symbol("F", real=True)
    damper = pfaff.System(
        [q],
        q.diff(TIME) ** 2 / 2,
        q**2 / 2,
        forces={q: -(c + F + q**2) * q.diff(TIME)},
        parameters={c: 1, F: 0},
        load=F,
    )
    points = pfaff.grid(c=[1.0, 2.0])
    for name, state in (("hopf", DONE), ("flutter", 0)):
        assert list(in_batch(job_of(damper.at(), points, [name], to=-5.0)).state) == [state, state]


def test_a_load_that_changes_inertias():
    """Where the blade is on the sleigh, by two routes: a single search takes the units of inertia along with it."""
    job = job_of(sleigh().at(v=2, m=4), pfaff.grid(c=[0.3, 0.5]), ["hopf"], load="a", to=2.0)
    block = in_batch(job)
    assert list(block.state) == [DONE, DONE]
    for k in range(2):
        alone = measured(job, job.points.point(k))
        assert alone.state == DONE
        assert block.outcome(k).values == pytest.approx(alone.values, rel=1e-10)


def test_every_point_is_searched_from_its_own_value_to_the_end():
    """Where the load is an axis too: from r = 12 it is farther to r = 27 than from 14, and from 28 it is backwards."""
    start = {"x": 6.0, "y": 6.0, "z": 12.0}
    job = job_of(lorenz().at(b=3), pfaff.grid(r=[12.0, 14.0, 28.0], s=[10.0]), ["hopf"], to=27.0, fixed=start)
    block = in_batch(job)
    assert list(block.state[:2]) == [DONE, DONE]
    assert block.values["hopf"][:2] == pytest.approx(10 * 16 / 6, rel=1e-12)
    assert not block.state[2]


def test_without_an_end_batches_look_no_farther_than_single_searches():
    """Where motions are not linear in a parameter, a search that is told no end has a range; its answer is the same."""
    x, y, z = sm.symbols("x y z")
    mu, a = sm.symbols("mu a", real=True)
    equations = {x: y, y: (mu + mu**2 / 100 - a) * y - x - y**3, z: -(1 + 100 * mu) * z}
    case = pfaff.ode(equations, parameters={mu: 0, a: 5}, load=mu, name="far").at()
    study = case.sweep({"a": [3, 4, 5, 6, 30]}, "hopf").run()
    assert study.batched == 4
    assert study.counts == {"done": 4, "none": 1}
    assert case.at(a=30).hopf(to=30).value == pytest.approx(24.16198487, rel=1e-9)
    assert float(case.sweep({"a": [5, 30]}, "hopf", to=30).run().dataset["hopf"][1]) == pytest.approx(24.16198487)


def test_a_measure_without_a_frame_leaves_the_others_in_batches(monkeypatch):
    """No point has a Hopf point below F = 10: that is asked one by one, stability is not."""
    case, asked = pfaff.atlas.column(2).at(**XI_HAT, c_i=1.5, F=10), []
    one_by_one = block_of_points.measured
    monkeypatch.setattr(block_of_points, "measured", lambda job, at: asked.append(job.names) or one_by_one(job, at))
    study = case.sweep({"c_i": [1.0, 2.0, 3.0]}, ["hopf", "stable"], to=10).run()
    assert asked == [("hopf",)] * 3
    assert study.counts == {"none": 3}
    assert list(study.dataset["stable"]) == [1.0, 1.0, 1.0]


def test_a_column_that_never_buckles_is_asked_for_that_alone(monkeypatch):
    """One search finds all three loads of a point, but batches know two of them."""
    case, asked = pfaff.atlas.column(2).at(**XI_HAT, c_i=1.5), []
    one_by_one = block_of_points.measured
    monkeypatch.setattr(block_of_points, "measured", lambda job, at: asked.append(job.names) or one_by_one(job, at))
    study = case.sweep({"c_i": [1.0, 2.0]}, ["flutter", "buckling", "divergence"]).run()
    assert asked == [("buckling",)] * 2
    alone = case.at(c_i=2.0).critical()
    assert study.counts == {"none": 2}
    assert float(study.dataset["flutter"][1]) == pytest.approx(alone.flutter.value, rel=1e-10)
    assert float(study.dataset["divergence"][1]) == pytest.approx(alone.divergence.value, rel=1e-10)


@pytest.mark.parametrize("name", ["c_i", "I_L", "M_L"])
def test_normal_forms_over_ten_decades(name):
    """Where the real part of the coefficient is small beside its terms, as with little damping, nothing is claimed."""
    case = pfaff.atlas.column(2).at(**XI_HAT, c_i=1.5)
    job = job_of(case, pfaff.grid(**{name: np.logspace(-5, 5, 8) if name != "c_i" else np.logspace(-6, 1, 8)}), HOPF)
    block = in_batch(job)
    answered = np.flatnonzero(block.state == DONE)
    assert len(answered) >= 3
    for k in answered.tolist():
        assert block.outcome(k).values == pytest.approx(measured(job, job.points.point(k)).values, rel=1e-10, abs=0)


def test_a_normal_form_that_does_not_exist_is_no_number_and_says_why():
    """A constraint that turns makes a line of equilibria along which the oscillation moves: nothing is called done."""
    x, y, z = coordinates("x y z")
    u, v, w = (each.diff(TIME) for each in (x, y, z))
    c, F = sm.symbols("c F", real=True)
    system = pfaff.System(
        [x, y, z],
        (u**2 + 2 * v**2 + w**2 + u * v) / 2,
        (3 * x**2 + 2 * y**2 + z**2 + x**4 + y**4) / 2,
        c * (u**2 + v**2 + w**2) / 2,
        forces={x: F * sm.sin(y) - F * z / 3, y: -F * sm.sin(x) + F * z / 2, z: F * x / 3 - F * y / 2},
        nonholonomic_constraints=[u * sm.cos(y) - w * sm.sin(y) - v / 3],
        parameters={c: "1/5", F: 0},
        load=F,
    )
    study = system.at().sweep({"c": [0.2, 0.3]}, ["hopf", "l1"]).run()
    assert np.isnan(study.dataset["l1"]).all()
    assert np.isfinite(study.dataset["hopf"]).all()
    assert study.counts == {"none": 2}
    assert "on a line of equilibria along which" in study.store.reasons()[0]
