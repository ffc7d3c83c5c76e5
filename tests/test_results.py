"""Every result says what it is in words and draws itself: all classes on the page of the API but the named ones."""

from __future__ import annotations

import pydoc
import re
from dataclasses import fields, is_dataclass
from pathlib import Path
from types import FunctionType

import pytest
import sympy as sm
from matplotlib.figure import Figure

import pfaff

API = (Path(__file__).parents[1] / "docs" / "api.md").read_text(encoding="utf-8")
CLASSES = re.findall(r"autoclass:: (\S+)", API)

# What is stated, and what is computed with; neither is the answer to a question.
STATED = {"System", "Drawing", "Particle", "Ode", "Case", "OdeCase", "Part", "Assembly", "Event", "Rod", "Points"}
EQUATIONS = {"Principle", "Flow", "Linearisation", "ExactLinearisation", "RodCharacteristic", "States"} | {
    f"{name}Equations" for name in ("Lagrange", "Appell", "Hamilton", "DAlembert", "Newton")
}
# Parts of results that are drawn with the whole: rows, cells, arrays along a motion, normal forms, reasons of endings.
PARTS = {
    "Row",
    "Cell",
    "Energy",
    "Crossings",
    "CycleForm",
    "ResonanceForm",
    "Ending",
    "Reason",
    "Kind",
    "Outcome",
    "Criticality",
}
# What several results have in common, symbols of which there is nothing to draw, and what is still being computed.
OTHERS = {"Branch", "Classification", "Criticality", "Running"}

mu, nu = sm.symbols("mu nu", real=True)
x, y = sm.symbols("x y")
LEFT = "decaying or neutral"


def short(name: str) -> str:
    return name.rsplit(".", 1)[-1]


@pytest.mark.parametrize("name", [each for each in CLASSES if short(each) not in STATED | EQUATIONS | PARTS | OTHERS])
def test_results_have_words_and_a_picture(name):
    result = pydoc.locate(name)
    known = {each.name for each in fields(result)} if is_dataclass(result) else set()
    assert hasattr(result, "status") or "status" in known
    assert callable(getattr(result, "plot", None))


@pytest.mark.parametrize(
    "name", [each for each in CLASSES if short(each) not in EQUATIONS | {"Reason", "Points", "Running"}]
)
def test_methods_answer_wrong_arguments_in_words(name):
    """Those that a class has of others too: each is checked as ``rightly_asked`` does."""
    for kind in pydoc.locate(name).__mro__:
        made = {key: each for key, each in vars(kind).items() if isinstance(each, FunctionType)}
        public = {key for key in made if not key.startswith("_")} if kind.__module__.startswith("pfaff") else ()
        assert not [key for key in public if not hasattr(made[key], "__wrapped__")], kind


def test_exceptions_are_on_the_page():
    assert {short(each) for each in CLASSES} >= STATED | EQUATIONS | PARTS | OTHERS


def test_points_of_branches_and_curves_draw_their_eigenvalues():
    case = pfaff.ode({x: mu * x - y - x**3, y: x + nu * y - y**3}, {mu: -1, nu: 0.5}, load=mu).at()
    branch = case.branch(to=1)
    (hopf,) = branch.of_kind("hopf")
    curve = hopf.curve("nu", to=0.7)
    for point in (branch[0], hopf, curve[0], *curve.special):
        picture = point.plot()
        assert isinstance(picture, Figure)
        drawn = [line.get_xydata() for line in picture.axes[0].lines if line.get_label() in ("growing", LEFT)]
        assert sum(map(len, drawn)) == len(point.eigenvalues)
        assert point.status == picture.get_suptitle().replace("\n", " ")
