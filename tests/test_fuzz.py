"""Hostile arguments for every public method and command: a result or an error of ours, soon and without a warning.

Methods, their arguments and commands are found by themselves, so that a new one is covered. ``PFAFF_FUZZ=100`` takes
every subject through 100 seeds, ``PFAFF_FUZZ=100:200`` through those of another range.
"""

from __future__ import annotations

import inspect
import os
import pydoc
import random
import re
import signal
import traceback
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from functools import cache, partial
from pathlib import Path
from typing import Any

import click
import matplotlib.pyplot as plt
import numpy as np
import pytest
import sympy as sm
from click.testing import CliRunner

import pfaff
from conftest import shell
from pfaff.cli import HOMES, app
from pfaff.errors import PfaffError
from pfaff.statement import TIME, coordinates

SOON = 20  # seconds
CALLS = 2  # of every method with every seed


def seeds(*few: int) -> Sequence[int]:
    """A few that are quick, unless the environment asks for a range of them."""
    if "PFAFF_FUZZ" not in os.environ:
        return few
    first, _, last = os.environ["PFAFF_FUZZ"].rpartition(":")
    return range(int(first or 0), int(last))


class Mute:
    """An object that refuses to be a number or a text."""

    def __float__(self) -> float:
        raise RuntimeError("no number today")

    __index__ = __int__ = __repr__ = __str__ = __float__


def hostile() -> list[Any]:
    """Values that nobody should give, made afresh: iterators are used up."""
    return [
        *(None, True, -1, 0, 1, 2, 10**12, 10**400, -(10**400), 1e-320, 1e-300, 1e308, -1e308, 0.5, 1j, complex("nan")),
        *(float("nan"), float("inf"), -float("inf"), Decimal("nan"), Decimal(1), Fraction(1, 3), np.float64("nan")),
        *(np.int8(-1), np.bool_(True), np.float32(0.1), np.timedelta64(1), np.datetime64("2020-01-01"), np.ma.masked),
        *("", "\0", "x", "foo", "1/0", "nan", "9**9**9", "ϑ", "é" * 3000, "\ud800", "__import__('os')", "theta1", "F"),
        *(b"x", b"1", bytearray(b"2"), date(2020, 1, 1), datetime(2020, 1, 1), timedelta(1), "self", "t", "p", "E"),
        *([], [1], [[1, [2]], 3], [1, 2, 3], (5, 1), (1, 5), ["a"], [None], [1j], [True], [date(2020, 1, 1)], ["F"]),
        *({}, {"foo": 1}, {1: 2}, {"theta1": None}, {None: None}, {"theta1": 1j}, {"x": Mute()}, {"x": "x"}),
        *({"x": lambda: 1}, {"F": ([1, 2], [3])}, {"F": b"1"}, {"F": "sin(t)"}, {"F": "foo(t)"}, {"theta1": [[1], 2]}),
        *(set(), {1}, range(3), range(10**9), iter([1, 2]), slice(1), slice("a"), object(), Mute(), pfaff, ...),
        *(lambda: 0, lambda *a: 0, lambda a, b, c: 0, np.zeros((2, 3)), np.zeros(0), np.array([np.nan, 1])),
        *(np.array(1j), np.array(["a"]), np.array([None]), np.ones(7), np.array(1.0), np.array([[1.0]])),
        *(np.broadcast_to(1.0, (10**6, 10**6)), np.array([1j, 2]), np.ma.masked_array([1.0, 2.0], [True, False])),
        *(sm.Symbol("zz"), sm.I, sm.oo, sm.nan, sm.zoo, sm.Matrix([1, 2]), sm.pi, sm.S.true, sm.Integer(3)),
        *(sm.Eq(sm.Symbol("x"), 1), sm.Function("f")(sm.Symbol("t")), Path("/nowhere/at/all"), Path("\0"), Path("/")),
    ]


@cache
def subjects() -> dict[str, Any]:
    """What has public methods, one of each kind."""
    x, y, z, mu, nu = sm.symbols("x y z mu nu", real=True)
    column = pfaff.atlas.column(2)
    case = column.at(k1=50, c_i=1.5, F=10)
    ode = pfaff.ode({x: y, y: mu * y - x - x**2 * y}, {mu: -0.5}, load=mu)
    motion = case.simulate(3, theta1=0.1, samples=40)
    branch = case.at(F=1).branch("F", 90, points=60)
    hopf = case.hopf()
    orbits = hopf.orbits(to=1.05 * hopf.value, points=4)
    takens = pfaff.ode({x: y, y: mu + nu * x + x**2 - x * y}, {mu: -0.3, nu: -1}, load=mu).at()
    folds = takens.branch(to=1, start={"x": -0.5}).of_kind("fold")[0].curve("nu", to=1)
    loops = folds.special[0].switch("homoclinic", to=-1, points=3)
    disc = pfaff.atlas.rolling_disc().at()
    rolling = disc.steady(phi_dot=6).branch("phi_dot", to=5)
    chain = pfaff.atlas.column_assembly(3)
    leaning = pfaff.atlas.column_assembly(2, k1=50.0, M_L=15.0, I_L=15.0, c_i=1.5).branch(to=90)
    (q,), r2, stiffness, Omega = coordinates("x"), x**2 + y**2, *sm.symbols("k Omega", real=True)
    inertia, spring = q.diff() ** 2 / 2, q**2 / 2 + stiffness * q**4 / 4
    forced = pfaff.System(
        [q], inertia, spring, q.diff() ** 2 / 20, {q: sm.cos(Omega * TIME)}, parameters={stiffness: 1, Omega: 2}
    )
    response = forced.at().response("Omega", to=2.2, points=3)
    mode = pfaff.System([q], inertia, spring, parameters={stiffness: 1}).at().normal_mode(energy=1, points=3)
    r, s = coordinates("r s")
    both = (r.diff() ** 2 + s.diff() ** 2) / 2, (r**2 + s**2 + (r - s) ** 2) / 2 + (r**4 + s**4) / 4
    parting = pfaff.System([r, s], *both).at().normal_mode(2, energy=5)
    bautin = pfaff.ode(
        {x: mu * x - y + nu * x * r2 - x * r2**2, y: x + mu * y + nu * y * r2 - y * r2**2}, {mu: -1, nu: 1}, load=mu
    )
    turning = bautin.at().hopf(to=1).orbits(to=-0.3, points=60).of_kind("fold")[0]
    turnings = turning.curve("nu", to=0.9, points=3, events={"there": "nu = 0.997"})
    doubling = pfaff.ode({x: -y - z, y: x + y / 5, z: sm.Rational(1, 5) + z * (x - mu)}, {mu: 2}, load=mu).at()
    doubled = doubling.orbit(doubling.simulate(200, x=1, y=1, samples=4001)).orbits(to=3)
    study = case.sweep(pfaff.sobol(4, indices=True, c_i=(1, 2), M_L=(10, 15)), "flutter").run()
    rod = pfaff.atlas.rod(modes=6).at(F=1)
    return {
        "forced": forced.at(),
        "response": response,
        "point of a response": response[1],
        "normal mode": mode,
        "free vibration": mode[1],
        "special vibration": parting.special[0],
        "fold of cycles": turning,
        "curve of cycles": turnings,
        "cycle on a curve": turnings[1],
        "special cycle on a curve": turnings.special[0],
        "doubling cycles": doubled,
        "cascade": doubled.cascade(doublings=1),
        "study": study,
        "grid": case.sweep({"c_i": [1, 2], "M_L": [10, 15]}, "flutter").run(),
        "points": study.points,
        "probability": study.probability("flutter", below=70),
        "indices": study.indices("flutter"),
        "rod": rod.system.rods[0],
        "case of a rod": rod,
        "load of a rod": rod.at(eta=0.1).flutter(exact=True),
        "exact load": case.at(k1=50, c_i="3/2").flutter(exact=True),
        "exact linearisation": case.linearise(exact=True),
        "growth": hopf.growth(),
        "point of a curve": folds[1],
        "steady motions": rolling,
        "point of steady motions": rolling[1],
        "system": column,
        "case": case,
        "ode": ode,
        "case of an ODE": ode.at(),
        "assembly": chain,
        "part": chain.parts[0].part,
        "small motions of an assembly": chain.linearise(0.1),
        "motion": motion,
        "motion of an assembly": chain.simulate(0.1, 0.1, samples=5),
        "trajectory": ode.at(mu=0.5).simulate(30, x=0.1, samples=400),
        "ensemble": case.ensemble(0.2, theta1=[0.1, 0.2], samples=5),
        "locomotion": case.impose(motion),
        "branch of an assembly": leaning,
        "point of an assembly": leaning[0],
        "special point of an assembly": leaning.special[0],
        "equilibria": case.equilibria(starts=20),
        "equilibrium": case.equilibrium(),
        "state of an ODE": ode.at().equilibrium(),
        "linearisation": case.linearise(),
        "spectrum": case.spectrum(),
        "determinant": case.determinant(),
        "critical loads": case.critical(),
        "flutter": case.flutter(),
        "map": case.flutter_map(c_i=[0.1, 0.2]),
        "paradox": case.paradox(),
        "steady motion": disc.steady(phi_dot=2),
        "disc": disc,
        "branch": branch,
        "point of a branch": branch[1],
        "special point": branch.special[0],
        "hopf": hopf,
        "hopf of an ODE": ode.at().hopf(to=1),
        "curve": branch.of_kind("hopf")[0].curve("c_i", 1.6, points=3),
        "orbits": orbits,
        "orbit": orbits[1],
        "orbit in time": orbits[1].orbit,
        "point of codimension two": folds.special[0],
        "connecting orbits": loops,
        "connecting orbit": loops[1],
        "export": case.export("numpy"),
        "comparison": pfaff.atlas.pendulum().compare(states=2),
        **{name: column.equations(name) for name in ("lagrange", "appell", "hamilton")},
        **{name: pfaff.atlas.pendulum().equations(name) for name in ("dalembert", "newton")},
        "characteristic function": rod.characteristic(exact=True),
        "flow": column.shape,
    }


MAKERS = {
    **{name: getattr(pfaff, name) for name in ("System", "ode", "Particle", "Event", "Drawing", "Part", "Assembly")},
    "coordinates": coordinates,
    **{name: make for name, make in pfaff.atlas.SYSTEMS.items() if inspect.signature(make).parameters},
}
INTERNAL = {  # what analyses call inside their loops, on arrays of their own
    *(
        "path",
        "unchecked",
        "numbers_at",
        "rates",
        "settle",
        "selection",
        "numbers",
        "moves_like",
        "motions",
        "compiled",
        "use_of",
        "named",
        "bond_rows",
    ),
    *("pencil_data", "pencil_of_square", "block", "table", "check_independent", "check_symbols", "check_values"),
    *("start_of", "elsewhere", "unresisted", "derivatives", "diagnose", "beside", "mapped", "root", "place_of", "read"),
    *("Points.at", "RodCharacteristic.determinant", "Assembly.balanced", "Assembly.constrained", "Assembly.rest_at"),
}


@cache
def usual() -> dict[str, Any]:
    """Arguments that make a call quick and proper, by name."""
    x, y = coordinates("x y")
    part = pfaff.Part([x], kinetic=x.diff() ** 2 / 2, parameters={sm.Symbol("F"): None})
    return {
        "duration": 0.1, "samples": 5, "to": 12.0, "points": 2, "starts": 20, "states": 2, "parameter": "F",
        "motion": subjects()["motion"], "value": 10.0, "kind": "hopf", "principle": "lagrange", "normal": 1.0,
        "limit": 1.0, "name": "theta1", "at": [[0, 1]], "frames": 2, "seconds": 0.2, "fps": 10.0, "omega": 0.5,
        "case": subjects()["case"], "modes": 2, "coordinates": [x, y], "kinetic": x.diff() ** 2 / 2 + y.diff() ** 2,
        "equations": {sm.Symbol("x"): sm.Symbol("x")}, "mass": 1, "position": (x, y), "expression": "theta1",
        "points_of_drawing": {"end": (x, y)}, "parts": [part.copies([0])], "size": 1, "load_of_assembly": "F",
        "names": "x y", "bars": 2,
    }  # fmt: skip


OWN = {("Drawing", "points"): "points_of_drawing", ("Assembly", "load"): "load_of_assembly"}  # same word, other meaning


def methods(kind: type) -> list[str]:
    """Those with arguments."""
    found = inspect.getmembers_static(kind, inspect.isfunction)
    public = [name for name, each in found if name == "__getitem__" or not name.startswith("_")]
    ours = [name for name in public if getattr(kind, name).__module__.startswith("pfaff")]
    asked = [name for name in ours if not {name, f"{kind.__name__}.{name}"} & INTERNAL]
    return [name for name in asked if len(inspect.signature(getattr(kind, name)).parameters) > 1]


def arguments(call: Callable[..., Any], who: str, names: Sequence[str], draw: random.Random) -> tuple[list, dict]:
    """Proper ones but for one or two."""
    values, parameters = hostile(), list(inspect.signature(call).parameters.values())
    spoiled = set(draw.sample(range(len(parameters)), min(len(parameters), draw.choice([1, 1, 1, 2]))))
    positional, named, several = [], {}, any(p.kind is p.VAR_POSITIONAL for p in parameters)
    for k, p in enumerate(parameters):
        if p.kind is p.VAR_POSITIONAL:
            positional += [draw.choice(values)] if k in spoiled else []
        elif p.kind is p.VAR_KEYWORD:
            named |= {draw.choice(names): draw.choice(values)} if k in spoiled else {}
        else:
            word = OWN.get((who, p.name), p.name)
            if k not in spoiled and word not in usual() and p.default is not p.empty:
                continue
            value = draw.choice(values) if k in spoiled or word not in usual() else usual()[word]
            if p.kind is p.POSITIONAL_ONLY or (several and p.kind is p.POSITIONAL_OR_KEYWORD):
                positional.append(value)
            else:
                named[p.name] = value
    return positional, named


class TooLong(BaseException):
    """Not an Exception, so that nothing on the way takes it for an error of its own."""


@contextmanager
def soon() -> Iterator[None]:
    def interrupt(*_: Any) -> None:
        raise TooLong

    before = signal.signal(signal.SIGALRM, interrupt)
    signal.alarm(SOON)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def complaint(call: Callable[[], Any], allowed: type[Exception] | tuple[type[Exception], ...] = PfaffError) -> str:
    """Nothing to complain about, if it gives a result or an error of ours with something short to say."""
    try:
        with warnings.catch_warnings(), soon():
            warnings.simplefilter("error")
            call()
    except allowed as problem:
        return "" if 0 < len(str(problem)) < 1500 and str(problem).isprintable() else f"says {str(problem)[:200]!r}"
    except TooLong:
        return f"takes longer than {SOON} s"
    except Exception as problem:
        frames = traceback.extract_tb(problem.__traceback__)
        last = [*frames[:1], *(f for f in frames if "pfaff" in f.filename)][-1]
        return f"{type(problem).__name__}: {str(problem)[:200]} ({Path(last.filename).name}, line {last.lineno})"
    finally:
        plt.close("all")
    return ""


def described(values: Any) -> str:
    try:
        return repr(values)[:300]
    except RuntimeError:
        return "(what cannot be shown)"


def complaints(call: Callable[..., Any], who: str, what: str, seed: int, names: Sequence[str] = ("foo",)) -> list[str]:
    found, allowed = [], (PfaffError, IndexError) if what == "__getitem__" else PfaffError  # iteration ends by it
    for k in range(CALLS):
        positional, named = arguments(call, who, names, random.Random(f"{who}.{what} {seed} {k}"))
        why = complaint(partial(call, *positional, **named), allowed)
        found += [f"{who}.{what}(*{described(positional)}, **{described(named)}): {why}"] if why else []
    return found


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def test_every_class_on_the_page_of_the_api_is_attacked():
    page = (Path(__file__).parents[1] / "docs" / "api.md").read_text(encoding="utf-8")
    kinds = {type(subject) for subject in subjects().values()} | {
        each for each in MAKERS.values() if isinstance(each, type)
    }
    attacked = {getattr(kind, method) for kind in kinds for method in methods(kind)}
    for name in re.findall(r"autoclass:: (\S+)", page):
        kind = pydoc.locate(name)
        assert all(getattr(kind, method) in attacked for method in methods(kind)), name


@pytest.mark.parametrize("seed", seeds(0, 1))
def test_methods_refuse_in_words(seed):
    found = []
    for who, subject in subjects().items():
        system = getattr(subject, "system", subject)
        names = ["foo", "theta1", "theta1_dot", "X", "x", *getattr(system, "parameter_names", ())]
        for what in methods(type(subject)):
            found += complaints(getattr(subject, what), who, what, seed, names)
    assert not found, "\n".join(found)


@pytest.mark.parametrize("seed", seeds(0, 1, 2, 3))
def test_statements_refuse_in_words(seed):
    found = [each for name, make in MAKERS.items() for each in complaints(make, name, "()", seed)]
    assert not found, "\n".join(found)


IN_LOOPS = ("flow",)  # whose methods analyses call in their loops: they cost nothing more


def test_methods_called_in_a_wrong_way_say_how():
    """Without what they need, with too much, and by names that they do not have."""
    found = []
    for who, subject in subjects().items():
        for what in methods(type(subject)) if who not in IN_LOOPS else ():
            if what in ("__getitem__", "studio"):
                continue
            call = getattr(subject, what)
            parameters = inspect.signature(call).parameters.values()
            kinds = {p.kind for p in parameters}
            needed = any(p.default is p.empty and p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD) for p in parameters)
            ways: list[tuple[tuple, dict]] = [((), {})] if needed else []
            ways += [((), {"no_such_name": 1})] if inspect.Parameter.VAR_KEYWORD not in kinds else []
            ways += [(tuple(range(9)), {})] if inspect.Parameter.VAR_POSITIONAL not in kinds else []
            for positional, named in ways:
                why = complaint(partial(call, *positional, **named))
                found += [f"{who}.{what}(*{positional}, **{named}): {why}"] if why else []
    assert not found, "\n".join(found)


CODE = "__import__('pathlib').Path('ran').write_text('ran')"


def texts(name: str) -> list[Any]:
    """Python in every place where a text may stand."""
    return [
        *(CODE, [CODE], (1.0, CODE), {name: CODE}, {CODE: 1}, {name: (CODE, CODE)}, {name: {name: CODE}}, {CODE}),
        *({name: ([0, 1, 2, 3, 4, 5], [CODE] * 6)}, [[CODE]], np.array(CODE), np.array([CODE, CODE], dtype=object)),
        *(sm.Symbol(CODE), {sm.Symbol(name): CODE}),
    ]


QUICK = ("System", "ode", "Particle", "Event", "Drawing", "Part", "Assembly", "rod")


def test_no_text_is_executed_wherever_it_stands(tmp_path):
    """SymPy executes texts within lists, pairs and tables that it converts, even if it is told to be strict."""
    asked: list[tuple[str, Callable[..., Any], str]] = [(name, MAKERS[name], "x") for name in QUICK]
    for who in ("case", "case of an ODE", "case of a rod", "hopf", "branch", "part"):
        subject = subjects()[who]
        names = [*getattr(getattr(subject, "system", None), "parameter_names", ()), "x"]
        asked += [(f"{who}.{what}", getattr(subject, what), names[0]) for what in methods(type(subject))]
    found = []
    for who, call, name in asked:
        parameters = [p for p in inspect.signature(call).parameters.values() if p.kind is not p.VAR_POSITIONAL]
        if who.endswith((".studio", "()")) or any(p.kind is p.POSITIONAL_ONLY for p in parameters):
            continue
        words = {p.name: OWN.get((who, p.name), p.name) for p in parameters if p.default is p.empty}
        proper = {each: usual()[word] for each, word in words.items() if word in usual()}
        for p in parameters:
            for text in texts(name):
                given = {**proper, (name if p.kind is p.VAR_KEYWORD else p.name): text}
                why = complaint(partial(call, **given), (PfaffError, UserWarning))  # of the ending of a file
                why = "it runs the text" if (tmp_path / "ran").exists() else why
                (tmp_path / "ran").unlink(missing_ok=True)
                found += [f"{who}({p.name}={described(text)}): {why}"] if why else []
    for section in inspect.signature(pfaff.Rod).parameters:
        for text in texts("x"):
            why = complaint(partial(_with_rod, {"modes": 2, section: text}))
            found += [f"Rod({section}={described(text)}): {why}"] if why or (tmp_path / "ran").exists() else []
    assert not found, "\n".join(found)


def _with_rod(given: dict[str, Any]) -> pfaff.System:
    return pfaff.System([*coordinates("X Y")], rods=[pfaff.Rod(**given)])


# The shell

FILES = {
    "zeros.py": b"\0\0\0",
    "wide.py": "sleigh = 1".encode("utf-16"),
    "latin.py": "# é\nsleigh = 1".encode("latin-1"),
    "syntax.py": b"sleigh = (",
    "raises.py": b"1 / 0",
    "exits.py": b"import sys; sys.exit(3)",
    "recursive.py": b"def f(): f()\nf()",
    "missing.py": b"import nowhere_at_all",
    "empty.py": b"",
    "wrong.py": b"sleigh = 5\nmake = lambda: 5\nneeds = lambda a: a\nclass Sleigh: ...\n",
    "blame.py": b"import pfaff\nsleigh = pfaff.System([], 1)",
    "folder.py": None,
    "notes.txt": b"hello",
}
TEXTS = [
    *("", " ", "=", "==", "x", "x=", "=1", "foo=1", "self=1", "F=1", "F=nan", "F=1e400", "F=-1", "F=9**9**9", "F=True"),
    *(
        "-1",
        "0",
        "1",
        "1.5",
        "nan",
        "inf",
        "1e400",
        "10" * 200,
        "9" * 30,
        "1j",
        "1/0",
        "\ud800",
        "é" * 3000,
        "ϑ=1",
        "😀",
    ),
    *(
        "theta1=0.1",
        "theta1=",
        "theta1=x",
        "X=0",
        "X=1e308",
        "starts=3",
        "to=3",
        "load=F",
        "F",
        "c_i",
        "k1=0",
        "c_i=-1",
    ),
    *(
        "/nowhere/at/all.png",
        ".",
        "/",
        "a.png",
        "a.nc",
        "a.gif",
        "a",
        "column",
        "no such",
        "__import__('os')",
        "sin(t)",
    ),
    *("theta1=sin(t)", "F=foo(t)", "hopf", "lagrange", "newton", "auto", "numpy", "taylor", "augmented", "true"),
]


@pytest.fixture
def stated_badly(elsewhere) -> list[str]:
    """Files that state no system; names of SYSTEM that lead to them."""
    for name, content in FILES.items():
        Path(name).mkdir() if content is None else Path(name).write_bytes(content)
    return [f"{name}{end}" for name in FILES for end in ("", ":sleigh", ":make", ":needs", ":Sleigh", ":", "::", ":é")]


def command_line(name: str, command: click.Command, draw: random.Random) -> list[str]:
    """A quick command with one or two options of hostile text."""
    words = [name]
    for p in command.params:
        if isinstance(p, click.Argument):
            words.append(draw.choice(["column", "pendulum", "rolling_disc", "oscillator"]))
    quick = {"--duration": "0.1", "--samples": "5", "--starts": "20", "--states": "2", "--points": "2", "--to": "2"}
    options = [p for p in command.params if isinstance(p, click.Option)]
    spoiled = draw.sample(options, min(len(options), draw.choice([1, 1, 2])))
    for option in options:
        flag = option.opts[0]
        if option in spoiled:
            words += [flag] if option.is_flag else [flag, draw.choice(TEXTS)]
        elif flag in quick:
            words += [flag, quick[flag]]
    return words


def shell_complaint(words: list[str]) -> str:
    """Nothing, if a command succeeds or fails in one line of ours."""

    def call() -> None:
        CliRunner().invoke(app, words, standalone_mode=False, catch_exceptions=False)

    why = complaint(call, (PfaffError, click.ClickException, SystemExit))
    return f"pfaff {' '.join(map(repr, words))[:300]}: {why}" if why else ""


COMMANDS = {name: app.get_command(None, name) for name in HOMES if name != "reproduce"}  # which takes minutes


@pytest.mark.parametrize("seed", seeds(0))
def test_commands_refuse_in_words(seed):
    found = []
    for name, command in COMMANDS.items():
        for k in range(CALLS):
            found.append(shell_complaint(command_line(name, command, random.Random(f"{name} {seed} {k}"))))
    assert not any(found), "\n".join(filter(None, found))


@pytest.mark.parametrize("command", COMMANDS)
def test_files_that_state_no_system_are_told(command, stated_badly):
    if not any(isinstance(p, click.Argument) for p in COMMANDS[command].params):
        return
    needed = {"export": ["--to", "c"], "branch": ["--to", "2"], "curve": ["--to", "2", "--in", "F"]}
    needed |= {"orbits": ["--to", "2"], "simulate": ["--duration", "1"]}
    for name in stated_badly if command == "show" else stated_badly[::9]:
        words = [command, name, *needed.get(command, [])]
        with pytest.raises((PfaffError, click.ClickException)) as told:
            CliRunner().invoke(app, words, standalone_mode=False, catch_exceptions=False)
        assert len(str(told.value).splitlines()) == 1, words


@pytest.mark.parametrize(
    "words",
    [
        ["show", "zeros.py"],
        ["critical", "column", "--set", "self=1"],
        ["equilibria", "column", "--fix", "starts=3"],
    ],
)
def test_a_shell_shows_one_line(words, stated_badly):
    """Exit code 1 or 2, one line, no traceback."""
    done = shell(*words)
    assert done.returncode in (1, 2)
    assert done.stderr.startswith("pfaff: ")
    assert len(done.stderr.splitlines()) == 1
