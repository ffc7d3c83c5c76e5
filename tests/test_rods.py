"""Elastic rods: loads against the characteristic function, mechanics against bars and SymPy, parts composed."""

import re
from functools import partial

import mpmath
import numpy as np
import pytest
import sympy as sm
from scipy.special import ellipj

import pfaff
from pfaff.errors import ParameterError, PfaffError, StatementError
from pfaff.statement import TIME as t
from pfaff.statement import coordinates
from pfaff.statement.rod_basis import legendre_modes

DAMPED = {"M_L": 1, "eta": 0.01}


@pytest.fixture(scope="module")
def skate():
    return pfaff.atlas.rod("skate", modes=12)


@pytest.fixture(scope="module")
def bow():
    return pfaff.atlas.rod("bow", modes=12)


@pytest.fixture(scope="module")
def usual():
    return pfaff.atlas.rod("skate", modes=10)


@pytest.fixture(scope="module")
def small():
    return pfaff.atlas.rod("skate", modes=4)


# Loads


def test_beck_and_pflueger(skate):
    beck = skate.at().flutter()
    assert beck.value == pytest.approx(20.0509536, abs=1e-7)  # Beck (1952), as computed many times since
    assert beck.frequency == pytest.approx(11.0155576, abs=1e-6)
    assert skate.at(M_L=1).flutter().value == pytest.approx(16.2121289, abs=1e-7)


def test_a_heavy_end_mass_leads_to_tan_s_equal_s(skate):
    """Pflüger's column as M_L grows: s² with tan s = s, approached like 1/√M_L."""
    s = float(sm.nsolve(sm.tan(sm.Symbol("s")) - sm.Symbol("s"), 4.5))
    coarse, fine = (float(skate.at(M_L=mass).flutter(exact=True, to=25).value) for mass in (10**4, 10**6))
    assert fine + (fine - coarse) / 9 == pytest.approx(s**2, abs=2e-4)


@pytest.mark.parametrize(
    "values",
    [{}, {"M_L": 1}, DAMPED, {"M_L": 1, "I_L": 0.1, "r": 0.01, "eta": 0.01, "c_e": 0.1, "c_t": 0.2, "c_r": 0.1}],
)
def test_modes_agree_with_the_characteristic_function(skate, bow, values):
    for rod in (skate, bow):
        exact = rod.at(**values).flutter(exact=True)
        assert rod.at(**values).flutter().value == pytest.approx(float(exact.value), rel=1e-11)


def test_the_characteristic_function_gives_any_precision():
    """Few modes find the root, the function sharpens it: the same digits, more of them."""
    load = pfaff.atlas.rod("skate", modes=7).at().flutter(exact=True, to=30)
    assert str(load.digits(40)) == "20.05095361897376122140725834878400086019"


def test_divergence_is_a_double_real_root(skate):
    found = skate.at(M_L=1).divergence(to=60)
    assert skate.at(M_L=1).divergence(exact=True, to=60).value == pytest.approx(found.value, rel=1e-10)


@pytest.mark.parametrize("F", [3.0, 12.0, 25.0])
def test_skate_and_bow_have_the_same_spectrum(skate, bow, F):
    """G of the bow is that of the skate transposed, for any inertia and damping and in any basis."""
    random = np.random.default_rng(int(F))
    values = dict(zip(("M_L", "I_L", "r", "eta", "c_e", "c_t", "c_r", "M_X"), random.uniform(0.01, 1, 8), strict=True))
    values["eta"] *= 0.01
    first, second = (np.sort_complex(rod.at(**values).spectrum(F=F).values) for rod in (skate, bow))
    assert np.abs(first - second).max() < 1e-8 * np.abs(first).max()
    assert np.abs((first - second)[np.abs(first) < 100]).max() < 1e-9


def test_loads_have_units(skate):
    """F L²/EI and ω √(m L⁴/EI) are all that matters."""
    plain = skate.at(M_L=1, eta=0.01).flutter()
    EI, m, L = 7.0, 0.3, 2.5
    time = np.sqrt(m * L**4 / EI)
    scaled = skate.at(EI=EI, m=m, L=L, M_L=m * L, eta=0.01 * time).flutter()
    assert scaled.value * L**2 / EI == pytest.approx(plain.value, rel=1e-11)
    assert scaled.frequency * time == pytest.approx(plain.frequency, rel=1e-10)


def test_a_spring_loads_as_a_weight_does(skate):
    spring = pfaff.atlas.rod("skate", load="spring", modes=12).at(K=50, **DAMPED).flutter()
    assert 50 * spring.value == pytest.approx(skate.at(**DAMPED).flutter().value, rel=1e-11)


def test_modes_are_added_until_the_load_settles():
    rod = pfaff.atlas.rod("skate")
    exact = float(rod.at(**DAMPED).flutter(exact=True).value)
    found = rod.at(**DAMPED).flutter()
    assert found.modes <= 14
    assert found.change <= 1e-10
    assert found.value == pytest.approx(exact, rel=1e-11)
    assert rod.at(**DAMPED).hopf().modes == found.modes


# Ziegler's paradox


def test_vanishing_internal_damping_halves_becks_load(usual):
    limit = usual.at().paradox({"eta": 1}).limit
    assert limit == pytest.approx(10.9388, abs=5e-5)
    assert limit == pytest.approx(float(usual.at().characteristic(exact=True).limit({"eta": 1}, 20)), rel=1e-9)
    assert usual.at(eta=1e-6).flutter().value == pytest.approx(limit, rel=1e-6)


def test_vanishing_drag_does_not_lower_becks_load(usual):
    assert usual.at().paradox({"c_e": 1}).recovered
    assert not usual.at(M_L=1).paradox({"c_e": 1}).recovered


def test_a_damper_at_the_end_has_a_limit_that_no_end_mass_changes(usual):
    """The limit is the least load without damping over all end masses, which is 16.0525."""
    limits = [usual.at(M_L=mass).paradox({"c_t": 1}).limit for mass in (0.3, 3)]
    assert np.ptp(limits) < 1e-8
    assert limits[0] == pytest.approx(16.0525, abs=5e-5)
    assert usual.at(M_L=np.tan(0.5162)).flutter().value == pytest.approx(limits[0], abs=1e-5)


# One implementation, two tests


def test_bars_by_the_formula_of_rods_are_the_column_stated_in_sympy():
    """The chain of bars with other matrices: accelerations and reactions of both at random states."""
    bars = 3
    values = {"M_L": 0.7, "I_L": 0.2, "M_X": 0.4, "c_t": 0.3, "c_r": 0.1, "beta0": 0.2, "F": 2.0}
    random = np.random.default_rng(7)
    for end in ("skate", "bow"):
        rod = pfaff.atlas.rod(end, bars=bars).at(**values)
        column = pfaff.atlas.column(bars, end).at(k1=2 * bars, k=bars, **values)
        q, v = random.uniform(-0.8, 0.8, (2, bars + 1, 5))
        theirs = column.system.flow.rhs(np.concatenate([q, v]), column)[bars + 1 :]
        moved = [bars, *range(bars)]  # X comes first here
        state = np.concatenate([q[moved], v[moved]])
        assert rod.system.flow.rhs(state, rod)[bars + 1 :] == pytest.approx(theirs[moved], rel=1e-11)
        mine = rod.system.flow.reactions(state, rod)
        assert mine == pytest.approx(column.system.flow.reactions(np.concatenate([q, v]), column), rel=1e-11)


def test_modes_by_structure_obey_lagranges_equations():
    """Three Legendre modes: d/dt ∂T/∂v − ∂T/∂q + ∂V/∂q + ∂D/∂v + Aᵀp = 0 from energies alone, in 40 digits."""
    modes, values = 3, {"M_L": 0.7, "I_L": 0.2, "eta": 0.03, "c_e": 0.4, "r": 0.02, "beta0": 0.1, "F": 2.0}
    rod = pfaff.atlas.rod("skate", modes=modes)
    case, n = rod.at(**values), modes + 1
    x = np.random.default_rng(3).uniform(-0.6, 0.6, 2 * n)
    a, p = rod.flow.rhs(x, case)[n:], rod.flow.reactions(x, case)[0]
    q, v, a = (mpmath.matrix(each.tolist()) for each in (x[:n], x[n:], a))
    with mpmath.workdps(40):
        h = mpmath.mpf("1e-12")
        energies = partial(_energies, legendre_modes(modes), values)

        def slope(k, part, q, v):
            """Of an energy by q (part 0) or v (part 1), component k."""
            step = mpmath.matrix([h if j == k else 0 for j in range(n)])
            ahead, behind = ((q + s * step, v) if part == 0 else (q, v + s * step) for s in (1, -1))
            return [(up - down) / (2 * h) for up, down in zip(energies(*ahead), energies(*behind), strict=True)]

        for k in range(n):
            later, sooner = (slope(k, 1, q + s * h * v, v + s * h * a)[0] for s in (1, -1))
            by_q, by_v = slope(k, 0, q, v), slope(k, 1, q, v)
            left = (later - sooner) / (2 * h) - by_q[0] + by_q[1] + by_v[2] + p * by_v[3]
            assert abs(left) < 1e-11 * (1 + max(map(abs, a)))


def _energies(basis, values, q, v):
    """T, V, D and the skate's velocity, node by node."""
    X, a, b = v[0], list(q)[1:], list(v)[1:]
    mp = mpmath

    def dot(row, column):
        return mp.fsum(mp.mpf(float(c)) * each for c, each in zip(row, column, strict=True))

    theta, rates = ([dot(row, each) for row in basis.angles] for each in (a, b))

    def velocity(row):
        return (
            X - dot(row, [mp.sin(s) * w for s, w in zip(theta, rates, strict=True)]),
            dot(row, [mp.cos(s) * w for s, w in zip(theta, rates, strict=True)]),
        )

    squares = [vx**2 + vy**2 for vx, vy in map(velocity, basis.stations)]
    here, along = basis.at(1.0)
    end, turn, (vx, vy) = dot(here, a), dot(here, b), velocity(along)
    spin = dot(basis.weights, [s + values["r"] * w**2 for s, w in zip(squares, rates, strict=True)])
    T = (spin + values["M_L"] * (vx**2 + vy**2) + values["I_L"] * turn**2) / 2
    V = dot(basis.hinge_weights, [dot(row, a) ** 2 for row in basis.bends]) / 2 - values["F"] * q[0]
    bend = dot(basis.hinge_weights, [dot(row, b) ** 2 for row in basis.bends])
    D = (values["eta"] * bend + values["c_e"] * dot(basis.weights, squares)) / 2
    blade = end + values["beta0"]
    return T, V, D, vx * mp.cos(blade) + vy * mp.sin(blade)


def test_bars_approach_the_rod_at_second_order():
    exact = float(pfaff.atlas.rod(modes=12).at(**DAMPED).flutter(exact=True).value)
    errors = [pfaff.atlas.rod(bars=bars).at(**DAMPED).flutter().value - exact for bars in (8, 16)]
    assert errors[0] / errors[1] == pytest.approx(4, rel=0.05)


def test_derivatives_are_exact(small):
    case = small.at(F=5.0, M_X=0.2, **DAMPED)
    for flow in (small.flow, small.shape):
        x = np.random.default_rng(1).uniform(-0.5, 0.5, len(flow.states))
        h = 1e-5
        steps = h * np.eye(len(x))
        J = (flow.rhs(x[:, None] + steps, case) - flow.rhs(x[:, None] - steps, case)) / (2 * h)
        size = np.abs(J).max()
        assert np.abs(flow.jacobian(x, case) - J).max() < 1e-8 * size
        up, down = case.at(L=1 + h), case.at(L=1 - h)
        by_length = (flow.rhs(x, up) - flow.rhs(x, down)) / (2 * h)
        assert flow.parameter_jacobian(x, case, ["L"])[:, 0] == pytest.approx(by_length, rel=1e-7, abs=1e-7 * size)
        mixed = (flow.jacobian(x, up) - flow.jacobian(x, down)) / (2 * h)
        assert np.abs(flow.jacobian_by("L", x, case) - mixed).max() < 1e-7 * np.abs(mixed).max()


def test_jets_are_derivatives_along_lines(small):
    from pfaff.flow.jets import jets_of

    case, flow = small.at(F=5.0, **DAMPED), small.shape
    random = np.random.default_rng(5)
    x, u, w = random.uniform(-0.3, 0.3, (3, len(flow.states)))
    jets, h = jets_of(flow), 1e-4
    second = (flow.jacobian(x + h * w, case) - flow.jacobian(x - h * w, case)) @ u / (2 * h)
    assert jets.form(x, case.numbers, u, w) == pytest.approx(second, rel=1e-5, abs=1e-6 * np.abs(second).max())
    third = (jets.form(x + h * w, case.numbers, u, w) - jets.form(x - h * w, case.numbers, u, w)) / (2 * h)
    assert jets.form(x, case.numbers, u, w, w) == pytest.approx(third, rel=1e-5, abs=1e-6 * np.abs(third).max())


# Equilibria, cycles, motions


def test_misaligned_rods_rest_as_elastica(skate, bow):
    """Skate: sin(φ(0)/2) = −k cd(√p, k), k = sin(β₀/2). Bow: p = F/cos β₀ and an initial value problem."""
    beta, p = 0.3, 6.0
    k = np.sin(beta / 2)
    _, cn, dn, _ = ellipj(np.sqrt(p), k**2)
    start = -2 * np.arcsin(k * cn / dn)
    at = skate.at(beta0=beta, F=p * np.cos(start)).equilibrium(X=0)
    assert at.p[0] == pytest.approx(p, rel=1e-11)
    angle, _ = skate.rods[0].basis.at(1.0)
    assert angle @ at.q[1:] == pytest.approx(-start - beta, rel=1e-11)
    assert bow.at(beta0=beta, F=4.0).equilibrium(X=0).p[0] == pytest.approx(4.0 / np.cos(beta), rel=1e-12)


def test_energy_is_balanced(small):
    motion = small.at(F=9.0, M_X=0.3, c_e=0.2, **DAMPED).simulate(1.5, a1=0.2, tolerance=1e-13, samples=31)
    assert motion.finished
    assert motion.energy.drift < 1e-12
    assert np.abs(motion.residual).max() < 1e-14


def test_motions_agree_with_sundials(small):
    case = small.at(F=9.0, **DAMPED)
    first = case.simulate(0.5, a1=0.2, tolerance=1e-12, samples=11)
    second = case.simulate(0.5, a1=0.2, tolerance=1e-10, samples=11, method="cvode")
    assert np.abs(first.y - second.y)[:5].max() < 1e-7


@pytest.mark.parametrize(("constraint", "values"), [("skate", DAMPED), ("skate", {"M_L": 1, "c_e": 1.0, "eta": 1e-4})])
def test_cycles_grow_as_the_normal_form_says(constraint, values):
    """Amplitude of the end's rotation and mean speed, whatever the number of modes, and on computed orbits."""
    hopf = pfaff.atlas.rod(constraint, modes=6).at(**values).hopf()
    growth = hopf.growth()
    other = pfaff.atlas.rod(constraint, modes=8).at(**values).hopf().growth()
    assert growth.slope == pytest.approx(other.slope, rel=3e-3)
    assert growth.speeds["X"] == pytest.approx(other.speeds["X"], rel=1e-4)
    branch = hopf.orbits(to=hopf.value + np.sign(growth.slope) * 1e-3, accuracy=1e-8)
    orbit = branch[-1]
    angle, _ = hopf.case.system.rods[0].basis.at(1.0)
    rotation = np.ptp(angle @ orbit.orbit.x[: len(angle)]) / 2
    assert rotation == pytest.approx(growth.amplitude(orbit.value), rel=5e-3)
    assert orbit.advance["X"] / orbit.period == pytest.approx(growth.speed("X", orbit.value), rel=5e-3)


def test_finite_elements_converge_at_fourth_order(skate):
    exact = skate.at(**DAMPED).flutter().value
    errors = [pfaff.atlas.rod_assembly(count, **DAMPED).flutter().value - exact for count in (8, 16)]
    assert errors[0] / errors[1] == pytest.approx(16, rel=0.05)
    large = pfaff.atlas.rod_assembly(500, "bow", **DAMPED).flutter()  # two thousand unknowns
    assert large.value == pytest.approx(exact, rel=1e-8)


def test_finite_elements_of_a_tapered_rod_converge_as_fast():
    """The section at the Gauss points of elements, every damper, a misaligned skate."""
    (X,) = coordinates("X")
    section = {"bending": lambda s: (1 - s / 3) ** 3, "mass": lambda s: 1 - s / 3}
    rod = pfaff.Rod(**section, rotary=0.02, retardation=0.01, drag=0.1, modes=11, base=(X, 0, 0))
    end = rod.end
    vx, vy, turn = (each.diff(t) for each in (end.x, end.y, end.theta))
    F, blade = sm.Symbol("F"), end.theta + 0.1
    system = pfaff.System(
        coordinates=[X],
        rods=[rod],
        kinetic=0.6 * (vx**2 + vy**2) / 2 + 0.05 * turn**2 / 2,
        potential=-F * X,
        dissipation=0.2 * (vx**2 + vy**2) / 2 + 0.1 * turn**2 / 2,
        nonholonomic_constraints=[vx * sm.cos(blade) + vy * sm.sin(blade)],
        parameters={F: 0},
        load=F,
    )
    exact = system.at().flutter().value
    values = {"r": 0.02, "eta": 0.01, "c_e": 0.1, "M_L": 0.6, "I_L": 0.05, "c_t": 0.2, "c_r": 0.1, "beta0": 0.1}
    errors = [pfaff.atlas.rod_assembly(count, **section, **values).flutter().value - exact for count in (4, 8)]
    assert abs(errors[1]) < 1e-4
    assert errors[0] / errors[1] == pytest.approx(16, rel=0.2)
    with pytest.raises(PfaffError, match="length='a' is not a number"):
        pfaff.atlas.rod_assembly(4, length="a")


def test_finite_elements_locate_flutter_where_the_adjoint_mode_does_not_turn():
    """A rotational damper alone: the end of the mode or of its adjoint stands still, and skate and bow agree."""
    ends = [pfaff.atlas.rod_assembly(12, end, c_r=0.3, I_L=0.1).flutter() for end in ("skate", "bow")]
    assert ends[0].value == pytest.approx(ends[1].value, rel=1e-12)
    assert all(found.precision < 1e-12 and found.confirmed for found in ends)
    watched = ends[0].checked[1].values  # below the load, with the modes that will grow
    assert np.abs(watched).min() < 2 * ends[0].frequency


# Parts to compose


def _ended(rods, end, X, **more):
    """A skate at the end of a rod behind a block under the load F."""
    F = sm.Symbol("F")
    vx, vy = end.x.diff(t), end.y.diff(t)
    return pfaff.System(
        coordinates=[X],
        rods=rods,
        kinetic=(vx**2 + vy**2) / 2,
        potential=-F * X,
        nonholonomic_constraints=[vx * sm.cos(end.theta) + vy * sm.sin(end.theta)],
        parameters={F: 0},
        load=F,
        **more,
    )


def test_two_halves_are_one_rod(skate):
    (X,) = coordinates("X")
    first = pfaff.Rod(0.5, retardation=0.01, modes=7, base=(X, 0, 0), name="u")
    second = pfaff.Rod(0.5, retardation=0.01, modes=8, base=(first.end.x, first.end.y, first.end.theta), name="w")
    halves = _ended([first, second], second.end, X)
    assert halves.at().flutter().value == pytest.approx(skate.at(**DAMPED).flutter().value, rel=1e-10)


def test_a_skate_at_mid_span():
    """On one rod at s = L/2, and at the joint of two halves; the shear jumps there, and modes converge slowly."""
    (X,) = coordinates("X")
    rod = pfaff.Rod(modes=24, base=(X, 0, 0))
    first = pfaff.Rod(0.5, modes=9, base=(X, 0, 0), name="u")
    second = pfaff.Rod(0.5, modes=9, base=(first.end.x, first.end.y, first.end.theta), name="w")
    loads = [
        _ended(rods, at, X).at().flutter().value for rods, at in (([rod], rod.at(0.5)), ([first, second], first.end))
    ]
    assert loads[0] == pytest.approx(loads[1], rel=2e-4)


def test_a_hinged_base_with_a_stiff_spring_is_a_clamp(skate):
    X, angle = coordinates("X angle")
    rod = pfaff.Rod(retardation=0.01, modes=10, base=(X, 0, angle))
    F, k = sm.symbols("F k")
    vx, vy = rod.end.x.diff(t), rod.end.y.diff(t)
    system = pfaff.System(
        coordinates=[X, angle],
        rods=[rod],
        kinetic=(vx**2 + vy**2) / 2,
        potential=-F * X + k * angle**2 / 2,
        nonholonomic_constraints=[vx * sm.cos(rod.end.theta) + vy * sm.sin(rod.end.theta)],
        parameters={F: 0, k: 1e6},
        load=F,
    )
    assert system.at().flutter().value == pytest.approx(skate.at(**DAMPED).flutter().value, rel=1e-4)


def test_sections_may_vary():
    """A function of s, in SymPy or in NumPy, and bars: the same load."""
    (X,) = coordinates("X")

    def load(**kind):
        rod = pfaff.Rod(retardation=0.01, base=(X, 0, 0), **kind)
        return _ended([rod], rod.end, X).at().flutter().value

    taper = {"bending": lambda s: (1 - s / 2) ** 3, "mass": lambda s: 1 - s / 2}
    value = load(modes=12, **taper)
    assert load(modes=12, bending=lambda s: float(np.power(1 - s / 2, 3)), mass=taper["mass"]) == pytest.approx(value)
    coarse, fine = (load(bars=bars, **taper) for bars in (8, 16))
    assert fine + (fine - coarse) / 3 == pytest.approx(value, rel=1e-3)


def test_a_holonomic_rod_buckles():
    """Clamped and pinned in line: Euler's load, s² with tan s = s."""
    (X,) = coordinates("X")
    rod = pfaff.Rod(modes=10, base=(X, 0, 0))
    F = sm.Symbol("F")
    system = pfaff.System(
        coordinates=[X],
        rods=[rod],
        potential=-F * X,
        holonomic_constraints=[rod.end.x - 1, rod.end.y],
        parameters={F: 0},
        load=F,
    )
    assert system.at().buckling(to=25).value == pytest.approx(20.1907285564, rel=1e-9)


# What is refused


def test_bad_input():
    with pytest.raises(StatementError, match="rank"):
        pfaff.atlas.rod(load="fixed")
    with pytest.raises(StatementError, match="modes"):
        pfaff.atlas.rod(modes=0)
    with pytest.raises(StatementError, match="unknown constraint"):
        pfaff.atlas.rod("wheel")
    with pytest.raises(StatementError, match=r"bending of rod is 0 at s = 0\.9"):
        pfaff.Rod(bending=lambda s: 0.9 - s)
    with pytest.raises(StatementError, match="mass of rod is 0 at s = 0"):
        pfaff.Rod(mass=lambda s: s)
    with pytest.raises(StatementError, match="finite"):
        pfaff.Rod(bending=lambda s: float("nan"))
    for length in (-1, np.inf, np.nan, 1j):
        with pytest.raises(StatementError, match="positive"):
            pfaff.Rod(length=length)
    with pytest.raises(StatementError, match="fraction of the length"):
        pfaff.Rod().at(2)
    X, Y = coordinates("X Y")
    with pytest.raises(StatementError, match="holonomic constraints"):
        pfaff.System(coordinates=[X, Y], rods=[pfaff.Rod(base=(X * Y, 0, 0))])
    with pytest.raises(StatementError, match="neither a coordinate"):
        pfaff.System(coordinates=[X], rods=[pfaff.Rod(base=(Y, 0, 0))])
    k = sm.Symbol("k")
    with pytest.raises(StatementError, match="add it to parameters"):
        pfaff.System(coordinates=[X], rods=[pfaff.Rod(bending=k, base=(X, 0, 0))])


def test_sections_with_parameters_stay_positive():
    """Values that take a rod its stiffness somewhere are refused, however its formula is written."""
    k, L = sm.symbols("k L")
    (X,) = coordinates("X")
    tapered = pfaff.Rod(L, lambda s: 1 - k * s, modes=2, base=(X, 0, 0))
    system = pfaff.System(coordinates=[X], rods=[tapered], parameters={k: None, L: None})
    assert system.at(k=2, L=0.4).values["k"] == 2
    with pytest.raises(ParameterError, match=r"bending of rod is 0 at s = 0\.5, with k = 2: .* positive all along"):
        system.at(k=2, L=1)
    with pytest.raises(ParameterError, match="length of rod is -1"):
        system.at(k=0, L=-1)


def test_what_needs_formulas_says_so(small):
    with pytest.raises(PfaffError, match="by structure"):
        small.equations()
    with pytest.raises(ParameterError, match="stiff"):
        small.at().simulate(1, method="taylor")
    with pytest.raises(ParameterError, match="straight"):
        small.at(beta0=0.1).flutter(exact=True)


@pytest.mark.slow
def test_hopf_points_of_many_modes_are_followed():
    """Twenty modes, whose fastest are a million times as fast as the critical one."""
    rod = pfaff.atlas.rod("skate", modes=20)
    curve = rod.at(**DAMPED).hopf().curve("eta", to=0.02)
    there = rod.at(M_L=1, eta=0.02).hopf()
    assert curve[-1].values["F"] == pytest.approx(there.value, rel=2e-9)
    assert curve[-1].omega == pytest.approx(there.omega, rel=2e-9)


@pytest.mark.parametrize("modes", [4, 6, 8])
def test_only_digits_that_the_modes_settle_are_printed(modes):
    case = pfaff.atlas.rod(modes=modes).at(M_L=1, eta=0.01)
    found, exact = case.flutter(), 7.90881919891  # with modes until nothing changes
    assert found.digits < 12
    printed = float(re.search(r"= ([\d.]+)", found.status)[1])
    assert abs(printed - exact) <= 10.0 ** (1 - found.digits)  # one unit of the last digit


@pytest.mark.parametrize("modes", [4, 6])
def test_hopf_points_of_rods_print_the_digits_that_the_modes_settle(modes):
    case = pfaff.atlas.rod(modes=modes).at(M_L=1, eta=0.01)
    found, settled = case.hopf(), case.flutter().digits
    assert found.digits == settled
    printed = float(re.search(r"F = ([\d.]+)", found.status)[1])
    assert abs(printed - 7.90881919891) <= 10.0 ** (1 - settled)
    assert f"settled to {settled} digits" in found.status


def test_the_number_of_modes_is_left_to_the_analysis_unless_it_is_given():
    assert pfaff.Rod().refines
    assert pfaff.Rod(modes=10).basis.size == pfaff.Rod().basis.size
    assert not pfaff.Rod(modes=10).refines
