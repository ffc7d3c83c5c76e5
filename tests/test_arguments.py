"""Wrong arguments that were once accepted in silence, or answered by an exception that was not ours."""

from __future__ import annotations

import datetime
import math
import warnings

import numpy as np
import pytest
import sympy as sm

import pfaff
from pfaff.errors import ParameterError, StatementError

column = pfaff.atlas.column
x, y = pfaff.statement.coordinates("x y")
KINETIC = x.diff() ** 2 / 2
T = pfaff.statement.TIME


@pytest.fixture(scope="module")
def case():
    return column(2).at(k1=50, c_i=1.5, F=10)


@pytest.fixture(scope="module")
def motion():
    return pfaff.atlas.pendulum().at().simulate(2, samples=20, Q=0.1)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (True, "theta1=True is not a number"),
        (b"1", "theta1=b'1' is not a number"),
        (1j, "theta1=1j is not a number"),
        (datetime.date(2020, 1, 1), r"theta1=datetime.date\(2020, 1, 1\) is not a number"),
        (np.datetime64("2020-01-01"), "theta1=.* is not a number"),
        (np.array([[1.0]]), r"theta1=<array of shape \(1, 1\)> is not a number.*ensemble"),
        (10**400, r"theta1=10\^400 is not finite"),
    ],
)
def test_what_is_no_number_is_not_taken_for_one(case, wrong, words):
    with pytest.raises(ParameterError, match=words):
        case.simulate(1, theta1=wrong)
    with pytest.raises(ParameterError, match="F="):
        case.at(F=wrong)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda case: case.simulate(1, max_steps=float("nan")), "max_steps=nan is no whole number"),
        (lambda case: case.simulate(1e-300), "duration=1e-300.*use other units"),
        (lambda case: case.simulate(1, tolerance=True), "tolerance=True: give a number from 1e-18 to 1"),
        (lambda case: case.simulate(1, project="no"), "project='no' is neither true nor false"),
        (lambda case: case.simulate(1, progress=lambda: 0), "progress=.* cannot be called with 1 argument"),
        (lambda case: case.simulate(1, prescribed=[1]), r"prescribed=\[1\]: give values by name"),
        (lambda case: case.simulate(1, prescribed={"F": (range(9), [1j] * 9)}), "samples of F.*complex"),
        (lambda case: case.simulate(1, prescribed={"F": np.array(1j)}), "F=.* is not a number"),
        (lambda case: case.simulate(1, prescribed={"X": np.array("a")}), "X=.* is not a number"),
        (lambda case: case.simulate(1, prescribed={"X": np.array(None)}), "X=.* is not a number"),
        (lambda case: case.simulate(1, prescribed={"X": sm.I}), "the function for X is I, which is not real"),
        (lambda case: case.simulate(1, prescribed={"X": "log(t - 1)"}), r"for X is .* at t = 0, not a finite real"),
        (lambda case: case.simulate(1, prescribed={"X": sm.gamma(T)}), r"for X is .* at t = 0, not a finite real"),
        (
            lambda case: case.simulate(1, prescribed={"X": sm.Symbol("zz")}),
            "for X contains zz: it may contain the time",
        ),
        (
            lambda case: case.simulate(1, prescribed={"X": sm.Function("f")(T)}),
            r"for X contains f\(t\): it may contain",
        ),
        (lambda case: case.simulate(1, events={"a": ("x", "1")}), "is of type tuple, not an expression"),
        (lambda case: case.simulate(1, events={1: "theta1"}), "events has 1 for a name"),
        (lambda case: case.ensemble(1, theta1=[1j]), "theta1 must be numbers, not complex"),
        (lambda case: case.ensemble(1, theta1=[True]), "theta1 must be numbers, not truth values"),
        (lambda case: case.ensemble(1, theta1=range(10**9)), "the number of values of theta1=1000000000 is more"),
        (lambda case: case.flutter_map(c_i=["a"]), "c_i must be numbers, not text"),
        (lambda case: case.flutter(to=True), "to=True: the load is searched"),
        (lambda case: case.flutter(near={"k": 1}), "near=.*leave it out, or add exact=True"),
        (lambda case: case.spectrum(about=3), r"about=3: give an equilibrium, about=case.equilibrium\(\)"),
        (lambda case: case.linearise(about=case.equilibrium(), X=0), "about= says where: leave out X"),
        (lambda case: case.paradox(among="c_i"), "among must be a list"),
        (lambda case: case.paradox(direction=[1]), "direction=.*give values by name"),
        (lambda case: case.equilibria(seed=True), "seed=True is no whole number"),
        (lambda case: case.equilibria(X=[0]), r"X=\[0\] is not a number"),
        (lambda case: case.branch("F", 12, points=True), "points=True is no whole number"),
        (lambda case: case.branch("F", 12, progress=5), "progress=5 cannot be called"),
        (lambda case: case.steady(start=[1]), r"start=\[1\]: give values by name"),
        (lambda case: case.export("c", until=3), "until=3 is for a continuation.*leave it out"),
        (lambda case: case.export("latex", load="F"), "load='F' is for a continuation"),
        (lambda case: case.export("numpy", 5), "folder=5 is no path"),
    ],
)
def test_arguments_of_a_case_are_refused_in_words(case, call, words):
    with pytest.raises(ParameterError, match=words):
        call(case)


@pytest.mark.parametrize(
    ("stated", "words"),
    [
        ({"coordinates": "x"}, "coordinates must be a list"),
        ({"coordinates": [5]}, "coordinate 5 is not a function of time"),
        ({"coordinates": range(10**9)}, "the length of coordinates=1000000000 is more than"),
        ({"kinetic": object()}, "the kinetic energy is of type object, not an expression"),
        ({"potential": sm.Matrix([1])}, "the potential is .*not a scalar expression"),
        ({"parameters": [1]}, r"parameters=\[1\]: give symbols with values"),
        ({"parameters": "mass"}, "parameters='mass': give symbols with values"),
        ({"drawing": 5}, "drawing=5: give a pfaff.Drawing"),
        ({"load": 5}, "the load 5 is not a parameter"),
        ({"kinetic": (1, "x")}, "the kinetic energy is of type tuple, not an expression"),
        ({"rods": ["a"]}, "rods contains 'a': give pfaff.Rod"),
        ({"rods": np.zeros(2), "quasi_velocities": {"v": x.diff()}}, "rods"),
        ({"drawing": pfaff.Drawing({"a": (x, float("nan"))})}, "the drawing of 'a' contains nan: give finite real"),
        ({"drawing": pfaff.Drawing({"a": (x, sm.zoo)})}, "the drawing of 'a' contains zoo: give finite real"),
    ],
)
def test_statements_are_refused_in_words(stated, words):
    with pytest.raises(StatementError, match=words):
        pfaff.System(**{"coordinates": [x], "kinetic": KINETIC} | stated)


@pytest.mark.parametrize("place", [sm.sqrt(x - 2), sm.log(-1 - x**2), sm.exp(1e4 + x)])
def test_drawings_that_are_nowhere_say_so(place):
    drawing = pfaff.Drawing({"base": (0, 0), "end": (place, 1)}, links=[("base", "end")])
    mass = pfaff.System([x], KINETIC, x**2 / 2, drawing=drawing).at()
    motion = mass.simulate(1, x=1, samples=5)
    for draw in (lambda: motion.animate("a.gif", seconds=0.2), mass.equilibrium().plot):
        with pytest.raises(StatementError, match="nothing to draw: .*end never; check the roots, logarithms and"):
            draw()


def test_drawings_that_are_somewhere_are_drawn(tmp_path):
    """Where a point is nowhere at some instants the others are drawn, without a warning."""
    drawing = pfaff.Drawing(
        {"base": (0, 0), "end": (sm.sqrt(x), 1)}, links=[("base", "end")], arrows={"base": (1 / x, 0)}
    )
    motion = pfaff.System([x], KINETIC, x**2 / 2, drawing=drawing).at().simulate(6, x=-1, samples=50)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        motion.animate(tmp_path / "a.html", seconds=0.2)
        motion.film(4)


def test_drawings_take_none_for_what_they_do_not_have():
    assert pfaff.Drawing({"a": (x, 0)}, marks=None, circles=None).marks == {}


def test_an_array_of_one_number_drives_as_the_number_does(case):
    driven = case.simulate(0.5, prescribed={"F": np.array(20.0)}, theta1=0.1, samples=5)
    np.testing.assert_array_equal(driven.y, case.simulate(0.5, prescribed={"F": 20}, theta1=0.1, samples=5).y)


def test_coordinates_and_constraints_may_contain_error_functions(case):
    """Of the functions that may be stated, NumPy has erf for single numbers only."""
    motion = case.simulate(0.5, prescribed={"theta1": "erf(t)"}, samples=5)
    np.testing.assert_allclose(motion["theta1"], [math.erf(each) for each in motion.t], atol=1e-12)
    z = pfaff.statement.coordinates("z")[0]
    energy = KINETIC + (y.diff() ** 2 + z.diff() ** 2) / 2
    row = z.diff() - sm.erf(y) * x.diff()
    assert not pfaff.System([x, y, z], energy, nonholonomic_constraints=[row]).classification.holonomic


@pytest.mark.parametrize("size", [5e-324, 1e-310, 1e-200, 1e200, 1e308])
def test_directions_of_damping_may_have_any_size(case, size):
    usual = case.paradox(direction={"c_i": 1, "c_e": 1})
    assert case.paradox(direction={"c_i": size, "c_e": size}).limit == pytest.approx(usual.limit, rel=1e-12)


def test_methods_that_are_parts_of_others_say_what_they_need():
    """Decorated methods answer wrong arguments like others."""
    z, mu = sm.symbols("z mu", real=True)
    (special,) = pfaff.ode({z: mu * z - z**3}, {mu: -1}, load=mu).at().branch(to=1, start={"z": 0}).special
    with pytest.raises(ParameterError, match=r"switch needs 'to': write switch\(to, …\)"):
        special.switch()
    with pytest.raises(ParameterError, match="curve needs 'name' and 'to'"):
        special.curve()


def test_modes_of_what_is_no_number_are_refused(case):
    lin = case.linearise()
    value = lin.spectrum().values[0]
    np.testing.assert_allclose(lin.mode(sm.sympify(value)), lin.mode(value), atol=1e-9)
    with pytest.raises(ParameterError, match="value=a is not a number"):
        lin.mode(sm.Symbol("a"))
    with pytest.raises(ParameterError, match="the observable .* is no number at the Hopf point: write it in theta1"):
        case.hopf().growth(sm.Tuple(sm.Symbol("a")))


def test_truth_values_are_no_counts_where_equal_counts_were_seen():
    """True equals 1: what was made for one is not given for the other."""
    assert column(1).coordinate_names == ("theta1", "X")
    with pytest.raises(StatementError, match="bars=True is no whole number"):
        column(True)


def test_assemblies_refuse_in_words():
    chain = pfaff.atlas.column_assembly(3)
    for places in (range(10**9), np.broadcast_to(1, (10**6, 10**6))):
        with pytest.raises(StatementError, match="the number of places of part .* is more than 100000000: give fewer"):
            chain.parts[0].part.copies(places)
    with pytest.raises(ParameterError, match="load='x'"):
        chain.equilibrium("x")
    with pytest.raises(ParameterError, match="modes=2.5 is no whole number"):
        chain.flutter(modes=2.5)
    with pytest.raises(ParameterError, match=r"fixed=5: give the indices of coordinates"):
        chain.equilibrium(0.1, fixed=5)
    with pytest.raises(ParameterError, match=r"fixed=.*: give the indices of coordinates"):
        chain.flutter(fixed=np.zeros((2, 2)))
    with pytest.raises(ParameterError, match=r"cannot fix coordinate"):
        chain.flutter(fixed=(1.0, np.zeros((2, 2))))
    with pytest.raises(ParameterError, match="=zz of part .* is no number"):
        chain.parts[0].part.copies([[0, 1]], M_X=sm.Symbol("zz"))
    with pytest.raises(ParameterError, match="start must be numbers, not text"):
        chain.equilibrium(0.1, start=["a"] * chain.size)
    with pytest.raises(ParameterError, match=r"state=3: give a state at rest"):
        chain.linearise(0.1, 3)


def test_an_array_without_dimensions_is_no_pair(motion):
    with pytest.raises(ParameterError, match="span=.* is no pair of numbers"):
        motion.animate("a.gif", span=np.array(1.0))


def test_films_run_forwards_within_the_motion(motion, tmp_path):
    for span in [(1.5, 1), (0, 3), (1, 1), 5, (0, "x")]:
        with pytest.raises(ParameterError, match="span="):
            motion.animate(tmp_path / "motion.gif", span=span, seconds=0.2)
    assert motion.animate(tmp_path / "motion.gif", span=(1, 1.5), seconds=0.2, fps=10).exists()


def test_steady_motions_list_every_name_that_may_be_fixed():
    disc = pfaff.atlas.rolling_disc().at()
    with pytest.raises(ParameterError) as told:
        disc.steady(foo=1)
    for name in ("theta", "theta_dot", "phi_dot", "psi_dot", "x_dot", "y_dot"):
        assert name in str(told.value)
        disc.steady(start={name: 0.1})


@pytest.mark.parametrize("follow", ["branch", "curve"])
def test_damping_is_followed_down_to_zero_and_no_farther(case, follow):
    """Declared nonnegative, it ends at zero; beyond lie Hopf points of a column that is driven by its damping."""
    found = case.branch("c_i", -1) if follow == "branch" else case.hopf().curve("c_i", -1)
    assert found[-1].values["c_i"] == pytest.approx(0, abs=1e-12)
    assert found.ended == "reached 0: c_i is declared nonnegative"
    assert all(special.values["c_i"] >= -1e-12 for special in found.special)
    with pytest.raises(ParameterError, match="to=-1: c_i is declared nonnegative and starts at 0"):
        case.at(c_i=0).branch("c_i", -1)


def test_what_is_declared_positive_stays_so(case):
    found = case.branch("k1", -1)
    assert found[-1].value == pytest.approx(1e-6 * found[0].value, rel=1e-12)  # whatever the steps
    assert found.ended.endswith("nearly zero: k1 is declared positive")
    assert found.ended.reason is pfaff.Reason.DECLARED
    assert case.branch("k1", 50e-6).ended.reason is pfaff.Reason.REACHED


class Law:
    """A distribution of the user's."""

    def __init__(self, ppf):
        self.ppf = ppf


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (
            lambda case: pfaff.sobol(2**20, indices=True, **{f"c{k}": (1, 2) for k in range(99)}),
            "more memory than there",
        ),
        (lambda case: pfaff.sobol(8, c_i=Law(lambda share: 1 / 0)), "the distribution of c_i fails: division by zero"),
        (lambda case: pfaff.sobol(8, c_i=Law(lambda share: 1.0)), r"an array of shape \(\) for one of \(8,\)"),
        (lambda case: pfaff.sobol(8, c_i=Law(lambda share: 1j * share)), "not complex numbers"),
        (lambda case: pfaff.sobol(8, c_i=(-1e308, 1e308)), "is no range"),
        (lambda case: case.sweep({name: np.arange(1, 10**4) for name in ("c_i", "M_L", "k1")}), "store='map.zarr'"),
        (lambda case: case.sweep({"c_i": [1]}, lambda case: {}), "a measure gives no numbers"),
        (
            lambda case: case.sweep({"c_i": [1]}, lambda case: {1: 2}),
            r"gives \{1: 2\}: return a number, or numbers by",
        ),
        (lambda case: case.sweep({"c_i": [1]}).run().run(workers="x"), "workers='x' is no whole number"),
        (lambda case: case.sweep({"c_i": [1]}).run().run(timeout=0), "timeout=0: give a positive time"),
        (lambda case: case.sweep({"c_i": [1]}).run().run(progress=3), "progress=3 cannot be called"),
        (lambda case: case.sweep({"c_i": [1]}).run().run(part=(1.5, 2)), r"part=\(1.5, 2\): write the i-th of n"),
    ],
)
def test_studies_refuse_in_words(case, call, words):
    with pytest.raises(ParameterError, match=words):
        call(case)


def test_counts_of_numpy_are_counts(case):
    drawn = case.sweep(pfaff.sobol(np.int64(4), seed=np.int64(1), c_i=("1/2", 2)), "flutter").run()
    assert drawn.points.coordinates["c_i"].tolist() == pfaff.sobol(4, seed=1, c_i=(0.5, 2)).coordinates["c_i"].tolist()


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda case: case.hopf().growth().amplitude("x"), "load='x' is not a number"),
        (lambda case: case.hopf().growth().speed("theta1", 80), "no ignorable coordinate 'theta1'"),
        (lambda case: case.linearise(exact=True).polynomial("s"), "variable='s': give a symbol"),
        (lambda case: pfaff.grid(c_i=[1, 2]).point(2), "place=2 is more than 1: there are 2 points"),
        (lambda case: case.system.shape.parameter_jacobian([0] * 4, case, []), r"names=\[\] is empty"),
    ],
)
def test_results_refuse_in_words(case, call, words):
    with pytest.raises(ParameterError, match=words):
        call(case)


@pytest.mark.parametrize("name", ["a\nb", "\0", " "])
def test_measures_have_names_of_one_line(case, name):
    with pytest.raises(StatementError, match="name of a measure .* is no title"):
        case.sweep({"c_i": [1]}, {name: lambda case: 1.0})


@pytest.mark.parametrize("size", [1e-300, 1e300])
def test_loops_of_no_size_are_refused(size):
    t, x, y, mu = np.linspace(0, 2 * np.pi, 50), *sm.symbols("x y mu")
    case = pfaff.ode({x: y, y: mu * y - x - x**2 * y}, {mu: 0.2}, load=mu).at()
    with pytest.raises(ParameterError, match="which has no finite square or inverse: use other units"):
        case.orbit(t=t, x=size * np.cos(t), y=-size * np.sin(t))
