"""Text is read, never executed: hostile texts and names through every door."""

from __future__ import annotations

import builtins
import os
import re
import shutil
import subprocess
import sys
import time
from functools import cache

import numpy as np
import pytest
import sympy as sm
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

import pfaff
from pfaff.archive.stored import alike
from pfaff.cli import app
from pfaff.errors import ParameterError, PfaffError, StatementError
from pfaff.export import TARGETS
from pfaff.stability.exact import numeric_reference
from pfaff.statement import TIME, Drawing, coordinates
from pfaff.statement.expressions import CONSTANTS, FUNCTIONS, constant, parsed
from pfaff.statement.values import number_from

SENTINEL = "executed"
HOSTILE = {
    "a command": f"__import__('os').system('touch {SENTINEL}')",
    "an open file": f"open('{SENTINEL}', 'w')",
    "an attribute": f"(lambda: 0).__globals__['__builtins__']['open']('{SENTINEL}', 'w')",
    "a comprehension": f"[open('{SENTINEL}', 'w') for _ in (1,)][0]",
    "a call of SymPy's": f"sympify(\"open('{SENTINEL}', 'w')\")",
    "an assignment": f"(f := open('{SENTINEL}', 'w'))",
    "a tower of powers": "9**9**9**9",
    "a tower of exponentials": "exp(exp(exp(exp(exp(9)))))",
    "a huge number": "1e9999999999",
    "brackets": "(" * 5000,
    "signs": "-" * 1000 + "1",
    "nothing": "",
}
x, y = coordinates("x y")
m, k = sm.symbols("m k", positive=True)
T = m * (x.diff(TIME) ** 2 + y.diff(TIME) ** 2) / 2


PARTICLE = {"coordinates": [x, y], "kinetic": T, "potential": k * x**2 / 2, "parameters": {m: 1, k: 2}}


def particle(**stated) -> pfaff.System:
    return pfaff.System(**PARTICLE | stated)


PLAIN, COLUMN = particle(), pfaff.atlas.column(2)


def flown(**asked):
    return PLAIN.at().simulate(**{"duration": 0.1, "samples": 3, "x": 0.1} | asked)


def ode(**stated) -> pfaff.Ode:
    return pfaff.ode(**{"equations": {x: y, y: -x}} | stated)


DOORS = {
    "kinetic energy": lambda text: particle(kinetic=text),
    "potential": lambda text: particle(potential=text),
    "dissipation": lambda text: particle(dissipation=text),
    "force": lambda text: particle(forces={x: text}),
    "coordinate of a force": lambda text: particle(forces={text: 1}),
    "coordinate": lambda text: pfaff.System(coordinates=[text], kinetic=T),
    "nonholonomic constraint": lambda text: particle(nonholonomic_constraints=[text]),
    "nonholonomic constraints": lambda text: particle(nonholonomic_constraints=text or "?"),
    "holonomic constraint": lambda text: particle(holonomic_constraints=[text]),
    "default of a parameter": lambda text: pfaff.System(coordinates=[x, y], kinetic=T, parameters={m: text}),
    "parameter": lambda text: particle(parameters={text: 1}),
    "load": lambda text: particle(load=text or "?"),
    "mass of a particle": lambda text: particle(kinetic=None, particles=[pfaff.Particle(text, (x, y))]),
    "position of a particle": lambda text: particle(kinetic=None, particles=[pfaff.Particle(m, (x, text))]),
    "force on a particle": lambda text: particle(kinetic=None, particles=[pfaff.Particle(m, (x, y), (text, 0))]),
    "point of a drawing": lambda text: particle(drawing=Drawing(points={"a": (x, text)})),
    "angle in a drawing": lambda text: particle(drawing=Drawing(points={"a": (x, y)}, angles={"a": text})),
    "radius in a drawing": lambda text: particle(drawing=Drawing(points={"a": (x, y)}, circles={"a": text})),
    "quasi-velocity": lambda text: PLAIN.equations("appell", {"u1": text, "u2": y.diff(TIME)}),
    "value": lambda text: PLAIN.at(k=text),
    "name of a value": lambda text: PLAIN.at(**{text: 1}),
    "initial value": lambda text: flown(x=text),
    "duration": lambda text: flown(duration=text),
    "event": lambda text: flown(events={"mine": text}),
    "stop": lambda text: flown(events={"mine": pfaff.Event(text, stop=True)}),
    "drive of a coordinate": lambda text: flown(prescribed={"x": text}),
    "drive of a parameter": lambda text: flown(prescribed={"k": text}),
    "samples of a drive": lambda text: flown(prescribed={"k": ([0, 1], [text, text])}),
    "ensemble": lambda text: PLAIN.at().ensemble(0.1, x=[text]),
    "duration of an ensemble": lambda text: PLAIN.at().ensemble(text, x=[0.1]),
    "tolerance": lambda text: flown(tolerance=text or "?"),
    "instant": lambda text: flown()(text),
    "instants of a film": lambda text: flown().film(times=[text]),
    "configuration to compare at": lambda text: PLAIN.compare(near={"x": text}),
    "sample of a closed form": lambda text: numeric_reference(COLUMN.at(k1=k), {"k": text}, "F"),
    "fixed coordinate": lambda text: PLAIN.at().equilibrium(y=text),
    "spectrum": lambda text: PLAIN.at().spectrum(k=text),
    "search for a critical load": lambda text: COLUMN.at(k1=50).flutter(to=text),
    "near load": lambda text: COLUMN.at(k1=50, c_i=1).hopf(near=text),
    "direction of damping": lambda text: COLUMN.at(k1=50).paradox({"c_i": text}),
    "end of a branch": lambda text: COLUMN.at(k1=50).branch(to=text),
    "export": lambda text: particle(load=k).at().export("auto", until=text),
    "start of an export": lambda text: particle(load=k).at().export("numpy", start={"x": text}),
    "rate of an ODE": lambda text: ode(equations={x: text}),
    "event of an ODE": lambda text: ode().at().simulate(0.1, x=1, events={"mine": text}),
    "initial value of an ODE": lambda text: ode().at().simulate(0.1, x=text),
}
SHELL = {
    "--set": ["spectrum", "column", "--set", "k1={}"],
    "--fix": ["equilibria", "column", "--set", "k1=50", "--fix", "X={}"],
    "--event": ["simulate", "column", "--set", "k1=50", "--set", "F=1", "--duration", "0.1", "--event", "{}"],
    "--stop": ["simulate", "column", "--set", "k1=50", "--set", "F=1", "--duration", "0.1", "--stop", "{}"],
    "--drive": ["simulate", "column", "--set", "k1=50", "--duration", "0.1", "--drive", "F={}"],
    "--start": ["simulate", "column", "--set", "k1=50", "--set", "F=1", "--duration", "0.1", "--start", "X={}"],
    "--duration": ["simulate", "column", "--set", "k1=50", "--set", "F=1", "--duration={}"],
    "--to": ["critical", "column", "--set", "k1=50", "--to={}"],
    "--option": ["show", "column", "--option", "bars={}"],
}


@pytest.fixture(autouse=True)
def nothing_runs(tmp_path, monkeypatch):
    """Whatever is executed leaves a trace, by a file or by a call."""
    monkeypatch.chdir(tmp_path)
    called = []
    monkeypatch.setattr(os, "system", called.append)
    yield
    assert not called
    assert not (tmp_path / SENTINEL).exists()


@pytest.mark.parametrize("door", DOORS.values(), ids=DOORS)
def test_hostile_text_is_refused(door):
    begun = time.process_time()
    for text in HOSTILE.values():
        with pytest.raises(PfaffError):
            door(text)
    assert time.process_time() - begun < 20


@pytest.mark.parametrize("command", SHELL.values(), ids=SHELL)
def test_hostile_text_is_refused_on_the_shell(command):
    for text in HOSTILE.values():
        found = CliRunner().invoke(app, [word.format(text) for word in command])
        assert isinstance(found.exception, PfaffError) or found.exit_code == 2, text


def test_powers_of_parameters_are_not_multiplied_out():
    """SymPy would raise 9 to the power 9 to the power 9 in all digits; as numbers they overflow, which is told."""
    with pytest.warns(UserWarning, match="event 'tower' was looked for in vain"):
        motion = particle().at(k=9).simulate(0.01, samples=3, x=0.1, events={"tower": "x - k**k**k**k"})
    assert len(motion.events["tower"]) == 0


# The grammar

NAMES = {"x": sm.Symbol("x"), "theta1": sm.Symbol("theta1"), "y_dot": sm.Symbol("y_dot"), "lam": sm.Symbol("lam")}
numbers = st.one_of(
    st.integers(0, 99).map(str),
    st.tuples(st.integers(0, 99), st.integers(0, 999)).map(lambda p: f"{p[0]}.{p[1]}"),
    st.tuples(st.integers(1, 99), st.integers(-9, 9)).map(lambda p: f"{p[0]}e{p[1]}"),
    st.integers(0, 9).map(lambda n: f".{n}"),
)
formulas = st.recursive(
    st.one_of(numbers, st.sampled_from([*NAMES, "pi", "E"])),
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from(["+", " - ", "*", " / "]), inner).map("".join),
        st.tuples(inner, st.sampled_from(["**", "^"]), st.sampled_from(["2", "-1", "3", "(1/2)", "x"])).map("".join),
        st.tuples(st.sampled_from("-+"), inner).map("".join),
        inner.map("({})".format),
        st.tuples(st.sampled_from([n for n in FUNCTIONS if n != "atan2"]), inner).map(lambda p: f"{p[0]}({p[1]})"),
        st.tuples(inner, inner).map(lambda p: f"atan2({p[0]}, {p[1]})"),
    ),
    max_leaves=12,
)


@settings(max_examples=300, deadline=None)
@given(formulas)
def test_a_formula_is_what_sympy_reads(text):
    """SymPy's own reader, given the same names, builds the same expression."""
    try:
        found = parsed(text, NAMES, "it")
    except ParameterError as problem:
        refused = str(problem)
    else:
        refused = ""
        assert found == sm.sympify(text, locals=NAMES)
    assert not refused or re.search("finite|zero|double precision|digits|exponent", refused)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1/10", sm.Rational(1, 10)),
        ("0.1", sm.Rational(1, 10)),
        ("1e-3", sm.Rational(1, 1000)),
        ("-3/2", -sm.Rational(3, 2)),
        ("pi/2", sm.pi / 2),
        ("sqrt(2)", sm.sqrt(2)),
        ("2^10", 1024),
        ("2**-2", sm.Rational(1, 4)),
        ("-2**2", -4),
        ("2**3**2", 512),
        ("8/4/2", 1),
        (" 1 + 2 ", 3),
    ],
)
def test_numbers_stay_exact(text, value):
    assert constant(text, "it") == value
    assert particle().at(k=text).values["k"] == value if value > 0 else number_from("it", text) == float(value)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("x + thta1", r"unknown thta1 \(character 5\), did you mean 'theta1'\?"),
        ("sine(x)", r"no function 'sine' \(character 1\), did you mean 'sin'\?"),
        ("2 x", r"unexpected 'x' \(character 3\); write \* between factors"),
        ("x(1 + x)", r"write x\*\(…\) for a product"),
        ("x +", "it ends too early"),
        ("(x", r"expected '\)'"),
        ("x = 1", "left side minus right side"),
        ("sin", r"write sin\(…\)"),
        ("atan2(x)", "has 1 arguments; give 2"),
        ("x/0", "division by zero"),
        ("x*sqrt(-2)", "no finite real number"),
        ("x" * 3000, "3000 characters"),
        ("x ∧ x", r"unexpected '∧' \(character 3\)"),
    ],
)
def test_the_culprit_and_the_remedy_are_named(text, words):
    with pytest.raises(ParameterError, match=words):
        parsed(text, NAMES, "it")


def test_a_system_in_text_is_the_one_in_sympy():
    written = particle(
        kinetic="m*(x_dot**2 + y_dot^2)/2",
        potential="k*x**2/2",
        dissipation="x_dot**2/10",
        forces={y: "-k*sin(t)"},
        nonholonomic_constraints=["y_dot - x*x_dot - t"],
        accept_integrable=True,
        drawing=Drawing(points={"a": ("x", "y + m")}, circles={"a": "m/10"}),
    )
    v, w = x.diff(TIME), y.diff(TIME)
    built = particle(
        dissipation=v**2 / 10,
        forces={y: -k * sm.sin(TIME)},
        nonholonomic_constraints=[w - x * v - TIME],
        accept_integrable=True,
    )
    for part in ("kinetic", "potential", "dissipation", "forces", "constraints"):
        assert getattr(written.statement, part) == getattr(built.statement, part)
    assert written.drawing.points["a"] == (x, y + m)


def test_particles_odes_and_quasi_velocities_take_text():
    by_text = particle(kinetic=None, potential=0, particles=[pfaff.Particle("m", ("x", "y"), ("-k*x", 0))])
    by_sympy = particle(kinetic=None, potential=0, particles=[pfaff.Particle(m, (x, y), (-k * x, 0))])
    assert by_text.statement.kinetic == by_sympy.statement.kinetic
    assert by_text.statement.forces == by_sympy.statement.forces
    assert (
        ode(equations={x: "y", y: "-sin(x) - y/10"}).right_hand_sides
        == ode(equations={x: y, y: -sm.sin(x) - y / 10}).right_hand_sides
    )
    chosen = particle().equations("appell", {"u1": "x_dot", "u2": "2*y_dot + x*x_dot"})
    assert (
        chosen.basis
        == particle().equations("appell", {"u1": x.diff(TIME), "u2": 2 * y.diff(TIME) + x * x.diff(TIME)}).basis
    )


def test_names_of_a_system_come_before_functions_and_constants():
    E, sin = sm.symbols("E sin")
    stated = particle(potential="E*x**2 + sin*sin(x)", parameters={m: 1, k: 2, E: 3, sin: 4})
    assert stated.potential == E * x**2 + sin * sm.sin(x)
    drawn = particle(drawing=Drawing(points={"a": ("sin(x)*sin", "y")}), parameters={m: 1, k: 2, sin: 4})
    from pfaff.draw.scene import scene_of

    at = scene_of(drawn.at(), np.array([[0.5], [0.0]]), np.zeros(1)).points["a"]
    assert at[0, 0] == pytest.approx(4 * np.sin(0.5))


def test_the_number_e_can_be_evaluated():
    motion = flown(events={"e": "x - E/100"}, x=0.1, duration=2, samples=9)
    assert len(motion.events["e"]) == 1


def test_numbers_on_the_shell_may_be_fractions():
    asked = [
        "simulate",
        "column",
        "--set",
        "k1=50",
        "--set",
        "F=1/3",
        "--duration",
        "1/10",
        "--start",
        "X=pi/2",
        "--json",
    ]
    found = CliRunner().invoke(app, asked)
    assert found.exit_code == 0, found.exception
    assert f'"X": [{np.pi / 2!r}' in found.stdout


def test_stored_values_are_read_as_numbers():
    assert alike("1/3", 1 / 3)
    assert alike("sqrt(2)", 2**0.5)
    assert not any(alike(text, 1.0) for text in HOSTILE.values())


@pytest.mark.parametrize("line", ["raise ValueError('no')", "import nothing_of_this_name", "1/0", "exit(3)", "f ="])
def test_what_fails_in_a_file_of_the_user_is_told_with_its_line(tmp_path, line):
    (tmp_path / "mine.py").write_text(f"import pfaff\n\n{line}\n")
    found = CliRunner().invoke(app, ["show", "mine.py:system"])
    assert isinstance(found.exception, StatementError)
    assert "mine.py, line 3" in str(found.exception)


# Names

BAD_NAMES = [
    "a\nb",
    "a b",
    "a'",
    'a"',
    "a*/",
    "}\\input{a}",
    "<script>",
    "$a$",
    "a/b",
    "../a",
    "\\alpha",
    "1a",
    "",
    "a;b",
    "%a",
    "_",
    "__a",
    "a\u2028b",
    "a" * 200,
]


@pytest.mark.parametrize("name", BAD_NAMES)
def test_names_that_are_no_identifiers_are_refused(name):
    q, p = sm.Function(name)(TIME), sm.Symbol(name)
    time = sm.Symbol(name)
    ends = [
        lambda: pfaff.System(coordinates=[q], kinetic=q.diff(TIME) ** 2),
        lambda: pfaff.System(coordinates=[x], kinetic=p * x.diff(TIME) ** 2, parameters={p: 1}),
        lambda: pfaff.System(coordinates=[sm.Function("x")(time)], kinetic=1),
        lambda: pfaff.ode({p: -p}),
        lambda: pfaff.ode({x: -p * x}, parameters={p: 1}),
    ]
    for stated in ends:
        with pytest.raises(StatementError, match="has no proper name"):
            stated()


@pytest.mark.parametrize("title", ["a\nb", "a\rb", "a\x00b", "a\u2028b", "\x1b[2J", "", " ", "a" * 200, None, 3])
def test_titles_that_are_not_one_line_are_refused(title):
    for stated in (particle, ode):
        with pytest.raises(StatementError, match="is no title"):
            stated(name=title)
    with pytest.raises(StatementError, match="is no title|for a name"):
        Drawing(points={title: (x, y)})


@pytest.mark.parametrize("title", ["a\nb", "a\rb", "a\x00b", "a\u2028b", "\x1b[2J", "", None, 3])
def test_events_and_assemblies_have_titles_too(title):
    chain = pfaff.atlas.column_assembly(2)
    for stated in (
        lambda: flown(events={title: "x"}),
        lambda: ode().at().simulate(0.1, x=1, events={title: "x"}),
        lambda: pfaff.Assembly(chain.parts, chain.size, chain.load, chain.start, name=title),
    ):
        with pytest.raises((StatementError, ParameterError), match="is no title|for a name"):
            stated()


def test_names_that_mean_two_things_are_refused():
    with pytest.raises(StatementError, match="'x_dot' has the name of a velocity"):
        pfaff.System(coordinates=coordinates("x x_dot"), kinetic=T)
    with pytest.raises(StatementError, match="'t' is the time"):
        particle(parameters={m: 1, k: 2, TIME: 1})


TITLES = [
    'a */ system("touch executed"); /*',
    '""" + open("executed", "w") + """',
    "\\",
    '"',
    "ends in \\",
    "%{",
    "#= a",
    "=#",
    "$(touch executed)",
    "}\\input{executed}\\write18{touch executed}",
    "<script>alert(1)</script>",
    "/* a",
    "*//*/",
    "[/bold] [red]",
    "$a_{$",
    "θ = π",
    "CON",
    "../../a",
    "???/",
    "'",
]


@cache
def exported(title: str, to: str) -> dict[str, str]:
    θ, π = coordinates("θ π")
    λ, lam = sm.symbols("λ lambda", positive=True)
    kinetic = (θ.diff(TIME) ** 2 + π.diff(TIME) ** 2) / 2
    stated = pfaff.System(
        coordinates=[θ, π], kinetic=kinetic, potential=λ * θ**2 + lam * π**2, dissipation=θ.diff(TIME) ** 2,
        parameters={λ: 1, lam: 2}, load=λ, name=title,
    )  # fmt: skip
    return dict(stated.at().export(to).files)


def compiled(command: list[str], files: dict[str, str], folder) -> None:
    if shutil.which(command[0]) is None:
        pytest.skip(f"no {command[0]} here")
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr


def program(text: str, to: str) -> list[str]:
    """A file without the remarks at its head."""
    if to == "c":
        return text.partition("*/\n")[2].splitlines()
    mark = {"auto": ("!", "#"), "matcont": "%", "bifurcationkit": "#", "numpy": ('"""', "#"), "latex": "%"}[to]
    return [line for line in text.splitlines() if not line.startswith(mark)]


@pytest.mark.parametrize("to", TARGETS)
@pytest.mark.parametrize("title", TITLES)
def test_titles_stay_in_comments(title, to):
    """The program is that of a system with a plain title, which has the same name in the file."""
    ours = exported(title, to)
    name = next(iter(ours)).partition(".")[0]
    plain = exported(name, to)
    assert list(ours) == list(plain)
    assert re.fullmatch(r"[A-Za-z]\w*", name, re.ASCII)
    for file in ours:
        assert program(ours[file], to) == program(plain[file], to)


@pytest.mark.parametrize("title", TITLES)
def test_c_compiles_whatever_the_title(title, tmp_path):
    files = exported(title, "c")
    compiled(["gcc", "-std=c99", "-Wall", "-Werror", "-fsyntax-only", *files], files, tmp_path)


@pytest.mark.parametrize("title", TITLES)
def test_numpy_computes_whatever_the_title(title):
    (text,) = exported(title, "numpy").values()
    module: dict[str, object] = {}
    builtins.exec(compile(text, "exported", "exec"), module)
    assert str(module["__doc__"]).startswith(f"{title}: reduced equations")
    assert module["STATES"] == ["θ", "π", "θ_dot", "π_dot"]
    np.testing.assert_allclose(module["rhs"]([1.0, 1.0, 0.0, 0.0]), [0, 0, -2, -4])


@pytest.mark.slow
@pytest.mark.parametrize("title", TITLES)
def test_fortran_and_matlab_are_read_whatever_the_title(title, tmp_path):
    fortran = exported(title, "auto")
    compiled(["gfortran", "-std=f2008", "-fsyntax-only", next(iter(fortran))], fortran, tmp_path)
    matlab = exported(title, "matcont")
    name = next(iter(matlab)).removesuffix(".m")
    script = f"handles = {name}; disp(handles{{2}}(0, [1; 1; 0; 0], 1, 2));"
    compiled(["octave-cli", "--norc", "--eval", script], matlab, tmp_path)


def test_names_that_mean_something_elsewhere_are_exported():
    """A coordinate called t beside the time, keywords of Python and Julia, names of functions."""
    q = coordinates("t sin lambda end _q")
    stated = pfaff.System(
        coordinates=q,
        kinetic=sum(each.diff(TIME) ** 2 for each in q),
        potential=sm.cos(q[0]) + q[1] * q[2] + q[3] ** 2 * q[4],
    )
    (text,) = stated.at().export("numpy").files.values()
    module: dict[str, object] = {}
    builtins.exec(compile(text, "exported", "exec"), module)
    state = np.linspace(0.1, 0.5, 10)
    np.testing.assert_allclose(module["rhs"](state), stated.flow.rhs(state, stated.at()))
    for to in ("c", "latex"):
        assert stated.at().export(to).text


def test_greek_names_are_spelled_where_a_language_has_no_greek():
    assert "parnames = {1: 'lambda_1', 2: 'lambda_2'}" in exported("θ", "auto")["c.system"]
    assert r"\ddot{\theta} &=" in exported("θ", "latex")["system.tex"]
    assert exported("θ", "latex")["system.tex"].partition("\n")[2].isascii()


@pytest.mark.parametrize("title", TITLES)
def test_tables_and_pictures_show_a_title_as_it_is(title, tmp_path):
    (tmp_path / "mine.py").write_text(
        "import pfaff\nfrom pfaff.statement import TIME, coordinates\nx, = coordinates('x')\n"
        f"system = pfaff.System(coordinates=[x], kinetic=x.diff(TIME)**2, name={title!r})\n", encoding="utf-8"
    )  # fmt: skip
    found = CliRunner().invoke(app, ["show", "mine.py"], env={"COLUMNS": "200"})
    assert found.exit_code == 0, found.exception
    assert title in found.stdout


def test_dollars_in_a_title_are_no_formula(tmp_path):
    motion = particle(name="$a_{$", drawing=Drawing(points={"$b^$": (x, y)})).at().simulate(0.1, samples=5, x=0.1)
    motion.plot().savefig(tmp_path / "motion.png")
    motion.film(2).savefig(tmp_path / "film.png")


def test_a_report_escapes_what_it_shows():
    from pfaff.report.document import Document, Entry, Section
    from pfaff.report.html import page

    hostile = "<script>alert('\"')</script>"
    entry = Entry(hostile, hostile, "", {hostile: hostile}, hostile, True, hostile, hostile)
    text = page(Document(hostile, hostile, {hostile: 1}, [Section(hostile, [entry], (), hostile)], hostile))
    assert "<script>alert" not in text


# Files

CLASHING = [
    "t",
    "real",
    "energy_kinetic",
    "residual1",
    "residual_load",
    "outcome",
    "π",
    "é",
    "e\u0301",
    "ϕ",
    "_q",
    "value",
    "p1",
]


def test_motions_keep_coordinates_that_are_called_like_something_else(tmp_path):
    q = [sm.Function(name)(TIME) for name in CLASHING]
    stated = pfaff.System(
        coordinates=q,
        kinetic=sum(each.diff(TIME) ** 2 for each in q) / 2,
        potential=sum((i + 1) * each**2 / 2 for i, each in enumerate(q)),
        holonomic_constraints=[q[0] - 2 * q[1]],
        name="\\ ' \" θ",
    )
    start = {name: 0.1 * (i + 1) for i, name in enumerate(CLASHING)} | {"t": 0.4, "real": 0.2}
    motion = stated.at().simulate(0.5, samples=7, events={"t": "residual1 - 0.35"}, **start)
    back = pfaff.load_motion(motion.save(tmp_path / "motion.nc"), stated.at())
    np.testing.assert_array_equal(back.t, motion.t)
    np.testing.assert_array_equal(back.residual, motion.residual)
    for name in (*motion.states, "p"):
        np.testing.assert_array_equal(back[name], motion[name], err_msg=name)
    assert back.system == motion.system
    np.testing.assert_array_equal(back.events["t"].t, motion.events["t"].t)


def test_trajectories_and_ensembles_keep_a_state_called_t(tmp_path):
    t, s = sm.symbols("t s")
    oscillator = pfaff.ode({t: s, s: -t}).at()
    motion = oscillator.simulate(2, samples=5, t=1, events={"half": "t - 1/2"})
    assert motion.events["half"].t == pytest.approx([np.pi / 3])  # the state is meant, cos t, not the time
    back = pfaff.load_motion(motion.save(tmp_path / "motion.nc"))
    np.testing.assert_array_equal(back["t"], motion["t"])
    np.testing.assert_array_equal(back.t, motion.t)
    a, b = coordinates("t outcome")
    stated = pfaff.System(coordinates=[a, b], kinetic=a.diff(TIME) ** 2 + b.diff(TIME) ** 2, potential=a**2)
    data = stated.at().ensemble(1, samples=3, t=[0.1, 0.2]).to_xarray()
    np.testing.assert_allclose(data["t_"].to_numpy()[0], [0.1, 0.2])
    np.testing.assert_allclose(data["t"], [0, 0.5, 1])


def test_branches_keep_parameters_that_are_called_like_their_facts(tmp_path):
    value, stable = sm.symbols("value stable")
    u = sm.Symbol("unknowns")
    case = pfaff.ode({u: value + stable * u - u**2}, parameters={value: 1, stable: 1}, load=value).at()
    branch = case.branch(to=2, start={"unknowns": 1.6})
    data = branch.to_xarray()
    np.testing.assert_allclose(data["value_"], data["value"])
    np.testing.assert_allclose(data["unknowns_"], data["unknowns"][:, 0])
    assert set(data["stable"].to_numpy()) == {1}
    back = pfaff.load_equilibria(branch.save(tmp_path / "branch.nc"), case)
    assert [point.value for point in back] == pytest.approx([point.value for point in branch])


def test_every_constant_has_its_value():
    assert all(constant(name, "it") == value for name, value in CONSTANTS.items())
    assert sys.float_info.max == float(constant(repr(sys.float_info.max), "it"))


def test_a_unit_after_a_number_is_not_taken_for_a_factor():
    column = pfaff.atlas.column(2)
    with pytest.raises(ParameterError, match="unexpected 'kg' .*; give the number alone, without a unit"):
        column.at(M_L="5kg")
    with pytest.raises(ParameterError, match=r"unexpected 'pi' .*; write \* between factors"):
        column.at(M_L="2pi")


def test_a_load_of_a_system_without_parameters_lists_no_names():
    q = sm.Function("q")(sm.Symbol("t"))
    with pytest.raises(StatementError, match="not a parameter of the system: there are none yet$"):
        pfaff.System(coordinates=[q], kinetic=q.diff() ** 2 / 2, load="F")
