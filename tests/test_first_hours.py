"""What a new user meets in the first hours: interrupts, slips, and motions that end early."""

from __future__ import annotations

import json
import subprocess
import sys
import warnings

import pytest
import sympy as sm

import pfaff
from conftest import shell
from pfaff.cli import app
from pfaff.cli.output import table
from pfaff.errors import ParameterError, PfaffError, StatementError
from pfaff.statement import coordinates

INTERRUPTED = """
import os, runpy, signal, sys

class Interrupted:
    def find_spec(self, name, *rest):
        if name == "pfaff.cli":
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Interrupted())
runpy.run_module("pfaff", run_name="__main__")
"""


@pytest.fixture(scope="module")
def case():
    return pfaff.atlas.column(2).at(d="1/2", M_L=15, I_L=15, k1=50, c_i=1.5)


def test_an_interrupt_while_importing_is_one_line():
    done = subprocess.run([sys.executable, "-c", INTERRUPTED], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (130, "pfaff: interrupted\n")


def test_a_branch_without_an_end_is_told_what_to_give(case):
    hopf = case.hopf()
    with pytest.raises(ParameterError, match=r"how far.*value of F"):
        hopf.orbits()
    with pytest.raises(ParameterError, match=r"^F: to='far' is not a number"):
        hopf.orbits(to="far")
    with pytest.raises(ParameterError, match=r"^c_i: to=1e\+200"):
        hopf.orbits(to=1e200, load="c_i")
    with pytest.raises(ParameterError, match=r"^F: to='far'"):
        case.branch("F", to="far")


def test_numbers_too_large_to_square_leak_no_warnings(case):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        motion = pfaff.atlas.rolling_disc().at().simulate(1, psi=1e300)
        found = case.at(F=1e308).equilibria(starts=20)
    assert motion.status
    assert found.status


def test_masses_too_large_for_double_precision_are_named():
    heavy = pfaff.atlas.rattleback().at(m=1e308)
    with pytest.raises(PfaffError, match=r"use other units: m is 1e\+308"):
        heavy.spectrum()
    with pytest.raises(PfaffError, match=r"use other units: m is 1e\+308"):
        heavy.simulate(1)


def test_a_search_from_an_equilibrium_of_an_ode_names_it():
    x, y = coordinates("x y")
    mu = sm.Symbol("mu")
    with pytest.raises(PfaffError, match=r"no Hopf point .* on the equilibria from x = 0, y = 0"):
        pfaff.ode({x: mu * x + y**2, y: -y}, {mu: 1}).at().hopf("mu", to=2)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda case: case.simulate(), r"simulate needs 'duration': write simulate\(duration, …\)"),
        (lambda case: case.spectrum(1, 2, 3), "spectrum takes at most 1 value without a name and was given 3"),
        (lambda case: case.simulate(1, duration=2), "simulate is given 'duration' twice"),
        (lambda case: case.sweep(), "sweep needs 'axes'"),
        (lambda case: case.spectrum().plot(1, 2, 3), "plot takes nothing without a name and was given 3"),
        (lambda case: pfaff.System(), "System needs 'coordinates'"),
        (lambda case: pfaff.Particle(), "Particle needs 'mass' and 'position'"),
        (lambda case: pfaff.load(), r"load needs 'path': write load\(path, …\)"),
        (lambda case: pfaff.sobol(1, 2), "sobol takes at most 1 value without a name .*seed=…"),
        (lambda case: pfaff.grid([1, 2]), "grid takes nothing without a name"),
        (lambda case: pfaff.atlas.column(1, "skate", "dead", True), "column takes at most 3 values .*individual=…"),
        (lambda case: pfaff.atlas.column(bar=3), "column has no argument 'bar': did you mean 'bars'"),
    ],
)
def test_missing_and_superfluous_arguments_are_named(case, call, message):
    with pytest.raises(ParameterError, match=message):
        call(case)


def test_a_type_error_inside_a_method_stays_one(case):
    def progress(*about):
        raise TypeError("of the user's")

    with pytest.raises(TypeError, match="of the user's"):
        case.sweep({"c_i": [1.0]}, measure=["flutter"]).run(progress=progress)


def test_a_study_without_an_axis_is_asked_for_one(tmp_path):
    done = shell("sweep", "new", str(tmp_path / "a.nc"), "column")
    assert (done.returncode, done.stdout) == (2, "")
    assert "over which values? Give --axis" in done.stderr


@pytest.mark.parametrize("term", ["I*x", "Abs(x)", "Heaviside(x)", "Max(x, 0)", "Piecewise((x, x > 0), (0, True))"])
def test_what_has_no_derivatives_is_refused_where_it_is_stated(term):
    x = sm.Symbol("x")
    with pytest.raises(StatementError, match=r"the equation of x contains .*: (smooth functions|give real)"):
        pfaff.ode({x: sm.sympify(term, locals={"x": x})})


def test_one_motion_is_an_ensemble_of_one(case):
    assert ", 1 motion:" in repr(case.at(F=1).ensemble(0.01, theta1=0.1))


def test_the_shell_says_how_a_search_and_a_motion_ended(capsys):
    app(["flutter", "column", "--set", "M_L=15,I_L=15,k1=50,c_i=1.5", "--json"], standalone_mode=False)
    assert json.loads(capsys.readouterr().out)["status"].startswith("flutter")
    with pytest.raises(SystemExit) as ended:
        app(["simulate", "chaplygin_sleigh", "--set", "m=1e200", "--duration", "1", "--start", "phi_dot=1"],
            standalone_mode=False)  # fmt: skip
    assert "no longer finite" in capsys.readouterr().out
    assert ended.value.code == 1


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda case: pfaff.System([], quasi_velocity={}), "System has no argument 'quasi_velocity'.*quasi_velocities"),
        (lambda case: pfaff.Drawing(point={}), "Drawing has no argument 'point': did you mean 'points'"),
        (lambda case: case.hopf().orbits(to=80, steps=0.1), "orbits has no argument 'steps': did you mean 'step'"),
        (lambda case: case.plot(theta1=1), "plot has no argument 'theta1': nothing is given to it by name"),
        (lambda case: case.flutter(load=sm.Symbol("c_ii")), "has no parameter 'c_ii': did you mean 'c_i'"),
    ],
)
def test_a_misspelt_keyword_is_answered_with_the_nearest(case, call, message):
    with pytest.raises(pfaff.PfaffError, match=message):
        call(case)


def test_misspelt_words_of_the_package_are_answered(case):
    with pytest.raises(AttributeError, match="did you mean 'System'"):
        _ = pfaff.Systm
    with pytest.raises(AttributeError, match="did you mean 'flutter'"):
        case.system.fluter()


def test_a_table_shows_nothing_empty(capsys):
    table("Special points", ["kind", "F"], [])
    table("Parameters", ["name", "default", "", ""], [["k", "1", "load", ""], ["c", "0", "", ""]])
    first, _, _, head, *_ = capsys.readouterr().out.splitlines()
    assert first == "Special points: none"
    assert head.count("┃") == 4  # three columns
