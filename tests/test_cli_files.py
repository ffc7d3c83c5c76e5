"""Systems of the user's own on the shell: file.py:name wherever a name of the atlas may stand."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

from conftest import shell
from pfaff.cli.output import print_json
from test_cli import answer

SLEIGH = """
import sympy as sm
import pfaff
from shared_symbols import t, x, y, phi

m, I, a, b, k, kappa = sm.symbols("m I a b k kappa", positive=True)
F, c = sm.Symbol("F", real=True), sm.Symbol("c", nonnegative=True)
centre = sm.Matrix([x + a * sm.cos(phi), y + a * sm.sin(phi)])


def make(arm=0.5, fail=False):
    if fail:
        raise ValueError("asked to fail")
    return pfaff.System(
        coordinates=[x, y, phi],
        kinetic=m * centre.diff(t).dot(centre.diff(t)) / 2 + I * phi.diff(t) ** 2 / 2,
        potential=k * (x + b * sm.sin(phi)) ** 2 / 2 + kappa * phi**2 / 2 - F * y,
        dissipation=c * phi.diff(t) ** 2 / 2,
        nonholonomic_constraints={"blade": y.diff(t) * sm.cos(phi) - x.diff(t) * sm.sin(phi)},
        parameters={m: 1, I: "1/4", a: "1/2", b: arm, k: 1, kappa: "1/2", c: 0, F: 0},
        load=F, name="sleigh",
    )


def square(x):
    return x**2


sleigh = make()
loaded = sleigh.at(F="3/4")
number = 3
u, v, w, alpha, beta = sm.symbols("u v w alpha beta")
control = pfaff.ode({u: v, v: w, w: -alpha * w - beta * v - u + u**2}, parameters={alpha: 2, beta: 1}, load=alpha)
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("own")
    (folder / "my_sleigh.py").write_text(SLEIGH)
    (folder / "shared_symbols.py").write_text(
        "import pfaff.statement as s\nt = s.TIME\nx, y, phi = s.coordinates('x y phi')\n"
    )
    (folder / "n.py").write_text("")
    (folder / "clashing.py").write_text(
        "import pfaff\nimport sympy as sm\nt, s = sm.symbols('t status')\node = pfaff.ode({t: s, s: -t})\n"
    )
    (folder / "alone.py").write_text("from my_sleigh import sleigh\n")
    (folder / "wrong.py").write_text("import pfaff\n\nsystem = pfaff.System(coordinates=[], kinetic=0)\n")
    (folder / "torn.py").write_text("import pfaff\nsystem = pfaff.System(\n")
    return folder


def test_a_system_a_function_and_a_case(folder):
    assert answer("critical", "my_sleigh.py:sleigh", folder=folder)["flutter"]["value"] == pytest.approx(9 / 16)
    longer = answer("critical", "my_sleigh.py:make", "--option", "arm=0.6", folder=folder)
    assert longer["flutter"]["value"] == pytest.approx(0.708)
    damped = answer("spectrum", "my_sleigh.py:loaded", "--set", "c=0.1", folder=folder)
    assert not damped["stable"]
    path = str(folder / "alone.py")
    moved = answer("simulate", path, "--duration", "1", "--start", "phi=0.01", "--samples", "3")
    assert moved["energy_drift"] < 1e-12


def test_an_ode(folder):
    hopf = answer("hopf", "my_sleigh.py:control", "--to", "0.5", folder=folder)
    assert hopf["l1_matcont"] == pytest.approx(-0.3, abs=1e-12)  # MatCont's manual
    assert answer("show", "my_sleigh.py:control", folder=folder)["equations"]["u"] == "v"
    assert r"\dot{w}" in shell("show", "my_sleigh.py:control", "--latex", folder=folder).stdout


def test_a_plain_ode_moves_whatever_its_states_are_called(folder):
    """A state called like a fact of the motion has an underscore, as in files; what is no number is null."""
    moved = answer("simulate", "clashing.py", "--duration", "1", "--start", "t=1", "--samples", "3", folder=folder)
    assert moved["t"] == [0, 0.5, 1]
    assert moved["t_"] == pytest.approx([1, math.cos(0.5), math.cos(1)])
    assert moved["status_"] == pytest.approx([0, -math.sin(0.5), -math.sin(1)])
    assert moved["status"] == "finished"


def test_what_is_no_number_is_null_in_json(capsys):
    print_json({"a": np.array([1.0, np.nan]), "b": [math.inf, 1j], "c": {"d": (np.float64("nan"), np.bool_(True))}})
    read = json.loads(capsys.readouterr().out)
    assert read == {"a": [1, None], "b": [None, {"re": 0, "im": 1}], "c": {"d": [None, True]}}


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["my_sleig.py:sleigh"], "no file my_sleig.py: did you mean 'my_sleigh.py'?"),
        (["nope.py:sleigh"], "no file nope.py: write the path of a Python file, such as"),
        (["my_sleigh.py:nope"], "no 'nope' in my_sleigh.py: known names: control, loaded, make, sleigh"),
        (["my_sleigh.py:sleig"], "no 'sleig' in my_sleigh.py: did you mean 'sleigh'?"),
        (["my_sleigh.py"], "Write my_sleigh.py:NAME; it has make, sleigh, loaded, control"),
        (["my_sleigh.py:number"], "of type int"),
        (["my_sleigh.py:control"], "plain ODE"),
        (["my_sleigh.py:sleigh", "--option", "arm=2"], "takes no options (arm)"),
        (["my_sleigh.py:make", "--option", "leg=2"], "no option 'leg'; it takes arm, fail"),
        (["my_sleigh.py:make", "--option", "fail=yes"], "my_sleigh.py, line 13: ValueError: asked to fail"),
        (["wrong.py:system"], "wrong.py, line 3: StatementError: a system needs at least one coordinate"),
        (["torn.py:system"], "torn.py, line 2: SyntaxError"),
        (["shared_symbols.py:t"], "of type Symbol"),
    ],
)
def test_errors_name_the_file_and_the_line(folder, arguments, words):
    done = shell("critical", *arguments, folder=folder)
    assert done.returncode == 2
    message = done.stderr
    assert message.startswith("pfaff: ")
    assert message.count("\n") == 1
    assert words in message


def test_constraints_are_shown_in_the_names_that_one_types(folder):
    """Velocities as x_dot, reactions by the names that were given to their constraints."""
    told = shell("show", "my_sleigh.py:sleigh", folder=folder).stdout
    assert "nonholonomic: -x_dot*sin(phi) + y_dot*cos(phi) = 0" in told
    assert "p_blade (p)" in told
    assert "Derivative" not in told


def test_what_a_file_prints_is_no_part_of_the_answer(folder):
    (folder / "noisy.py").write_text("from my_sleigh import control\nprint('hello')\n")
    done = shell("equilibria", "noisy.py:control", "--json", folder=folder)
    assert json.loads(done.stdout)["state"] == {"u": 0.0, "v": 0.0, "w": 0.0}
    assert "hello" in done.stderr


def test_the_response_of_a_file_of_ones_own(folder):
    """A damped oscillator at its frequency: the amplitude is F/(c ω)."""
    (folder / "forced.py").write_text(
        "import sympy as sm, pfaff\n"
        "x, y, Omega, t = sm.symbols('x y Omega t')\n"
        "forced = pfaff.ode({x: y, y: -x - y/5 + sm.cos(Omega*t)/10}, {Omega: 0.8}, load=Omega)\n"
    )
    found = answer("response", "forced.py:forced", "--in", "Omega", "--to", "1", folder=folder)
    last = found["responses"][-1]
    assert (last["value"], last["amplitude"]["x"]) == (1.0, pytest.approx(0.5, rel=1e-7))
    assert "reached 1" in shell("response", "forced.py:forced", "--in", "Omega", "--to", "1", folder=folder).stdout
