"""Hostile arguments for every public method: a result or an error of ours, soon and without a warning.

Methods and commands are found by themselves, so that a new one is covered. ``PFAFF_FUZZ=100`` takes every subject through
100 seeds, ``PFAFF_FUZZ=100:200`` through those of another range.
"""

from __future__ import annotations

import inspect
import os
import random
import signal
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pytest
import sympy as sm
from click.testing import CliRunner

import pfaff
from pfaff.cli import app
from pfaff.errors import PfaffError

SOON = 15  # seconds
CALLS = 4  # of every method with every seed


class Unfloatable:
    def __float__(self) -> float:
        raise RuntimeError("no number today")

    __index__ = __int__ = __float__
    __repr__ = __str__ = __float__


def hostile() -> list[Any]:
    """Values that nobody should give, made afresh: iterators are used up."""
    return [
        *(None, True, -1, 0, 1, 2, 10**12, 10**400, -(10**400), 1e-320, 1e-300, 1e308, -1e308),
        *(float("nan"), float("inf"), float("-inf"), 0.5, 1j, complex("nan")),
        *("", "\0", "x", "foo", "1/0", "nan", "9**9**9", "ϑ", "é" * 3000, "\ud800", "__import__('os')", "theta1", "F"),
        *(b"x", b"1", bytearray(b"2"), date(2020, 1, 1), datetime(2020, 1, 1), timedelta(1), np.datetime64("2020-01-01")),
        *(Decimal("nan"), Decimal(1), Fraction(1, 3), np.float64("nan"), np.int8(-1), np.bool_(True), np.float32(0.1)),
        *([], [1], [[1, [2]], 3], [1, 2, 3], (5, 1), (1, 5), ["a"], [None], {}, {"foo": 1}, {1: 2}, {"theta1": None}, {None: None}),
        *({"theta1": 1j}, {"x": Unfloatable()}, {"x": "x"}, {"x": lambda: 1}, {"F": ([1, 2], [3])}, set(), {1}, range(3)),
        *(iter([1, 2]), slice(1), lambda: 0, lambda *a: 0, lambda a, b, c: 0, print, int, object(), Unfloatable(), pfaff),
        *(np.zeros((2, 3)), np.zeros(0), np.array([np.nan, 1]), np.array(1j), np.array(["a"]), np.array([None]), np.ones(7)),
        *(np.array(1.0), np.array([[1.0]]), np.broadcast_to(1.0, (10**6, 10**6)), np.ma.masked, np.array([1j, 2])),
        *(sm.Symbol("zz"), sm.I, sm.oo, sm.nan, sm.Matrix([1, 2]), sm.pi, sm.S.true, sm.Eq(sm.Symbol("x"), 1), sm.Integer(3)),
        *(Path("/nowhere/at/all"), Path("\0"), Path("/"), open, NotImplemented, ...),
    ]


@cache
def subjects() -> dict[str, Any]:
    """What has public methods, one of each kind."""
    x, y, mu = sm.symbols("x y mu", real=True)
    column = pfaff.atlas.column(2)
    case = column.at(k1=50, c_i=1.5, F=10)
    ode = pfaff.ode({x: y, y: mu * y - x - x**2 * y}, {mu: -0.5}, load=mu)
    motion = case.simulate(3, theta1=0.1, samples=40)
    branch = case.at(F=1).branch("F", 90, points=60)
    hopf = case.hopf()
    orbits = hopf.orbits(to=1.05 * hopf.value, points=4)
    disc = pfaff.atlas.rolling_disc().at()
    steady = disc.steady(phi_dot=2)
    chain = pfaff.atlas.column_assembly(3)
    part = chain.parts[0].part
    return {
        "system": column,
        "case": case,
        "ode": ode,
        "case of an ODE": ode.at(),
        "assembly": chain,
        "part": part,
        "copies": chain.parts[0],
        "rest": chain.equilibrium(0.1),
        "sparse linearisation": chain.linearise(0.1),
        "motion": motion,
        "motion of an assembly": chain.simulate(0.1, 0.1, samples=5),
        "trajectory": ode.at(mu=0.5).simulate(30, x=0.1, samples=400),
        "ensemble": case.ensemble(0.2, theta1=[0.1, 0.2], samples=5),
        "locomotion": case.impose(motion),
        "equilibria": case.equilibria(starts=20),
        "equilibrium": case.equilibrium(),
        "state of an ODE": ode.at().equilibrium(),
        "linearisation": case.linearise(),
        "spectrum": case.spectrum(),
        "determinant": case.determinant(),
        "critical loads": case.critical(),
        "flutter": case.flutter(),
        "exact flutter": pfaff.atlas.bottema().at().flutter(exact=True),
        "map": case.flutter_map(c_i=[0.1, 0.2]),
        "paradox": case.paradox(),
        "steady motion": steady,
        "disc": disc,
        "branch": branch,
        "point of a branch": branch[1],
        "special point": branch.special[0],
        "hopf": hopf,
        "hopf of an ODE": ode.at().hopf(to=1),
        "curve": branch.of_kind("hopf")[0].curve("c_i", 1.6, points=3),
        "orbits": orbits,
        "orbit": orbits[1],
        "export": case.export("numpy"),
        "comparison": pfaff.atlas.pendulum().compare(states=2),
        "equations": column.equations(),
        "flow": column.shape,
    }


def usual() -> dict[str, Any]:
    """Arguments that make a call quick and proper, by name."""
    case, motion = subjects()["case"], subjects()["motion"]
    return {
        "duration": 0.1, "samples": 5, "to": 12.0, "points": 2, "starts": 20, "states": 2, "motion": motion,
        "parameter": "F", "value": 10.0, "kind": "hopf", "principle": "lagrange", "load": None, "normal": 1.0,
        "limit": 1.0, "name": "theta1", "at": [[0, 1]], "frames": 2, "seconds": 0.1, "fps": 10.0, "omega": 0.5,
        "case": case, "modes": 2,
    }  # fmt: skip


INTERNAL = {  # what analyses call inside their loops, on arrays of their own
    *("path", "unchecked", "numbers_at", "rates", "settle", "selection", "numbers", "moves_like", "motions", "compiled"),
    *("pencil_data", "pencil_of_square", "block", "table", "motions"),
}


def methods(subject: Any) -> list[str]:
    found = inspect.getmembers_static(type(subject), inspect.isfunction)
    return [name for name, _ in found if (not name.startswith("_") or name == "__getitem__") and name not in INTERNAL]


def arguments(call: Callable[..., Any], names: list[str], draw: random.Random) -> tuple[list[Any], dict[str, Any]]:
    """Proper ones but for one or two."""
    known, values = usual(), hostile()
    parameters = list(inspect.signature(call).parameters.values())
    spoiled = draw.sample(range(len(parameters)), min(len(parameters), draw.choice([1, 1, 1, 2]))) if parameters else []
    positional, named = [], {}
    for k, p in enumerate(parameters):
        if p.kind is p.VAR_POSITIONAL:
            positional += [draw.choice(values)] if k in spoiled else []
        elif p.kind is p.VAR_KEYWORD:
            named |= {draw.choice(names): draw.choice(values)} if k in spoiled else {}
        elif k in spoiled or (p.name in known and known[p.name] is not None) or p.default is p.empty:
            value = draw.choice(values) if k in spoiled or p.name not in known else known[p.name]
            if p.kind is p.KEYWORD_ONLY:
                named[p.name] = value
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


def outcome(call: Callable[[], Any], allowed: tuple[type[Exception], ...] = (PfaffError,)) -> str:
    """Empty if it is a result or an error of ours with something to say."""
    try:
        with warnings.catch_warnings(), soon():
            warnings.simplefilter("error")
            call()
    except allowed as problem:
        return "" if str(problem).strip() and len(str(problem)) < 2000 else f"{type(problem).__name__} says {str(problem)[:200]!r}"
    except TooLong:
        return f"took longer than {SOON} s"
    except Exception as problem:
        import traceback
        tb = traceback.extract_tb(problem.__traceback__)
        mine = [t for t in tb if "pfaff/" in t.filename]
        t = mine[-1] if mine else tb[-1]
        return f"{type(problem).__name__}: {str(problem)[:150]} [{t.filename.split('pfaff/')[-1]}:{t.lineno}]"
    return ""


def described(values: Any) -> str:
    try:
        return repr(values)[:200]
    except Exception:
        return "what cannot be shown"
