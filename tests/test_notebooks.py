"""In a notebook, results show themselves: figures without a magic command, tables, formulas, films."""

from __future__ import annotations

import io
import sys
from types import SimpleNamespace

import numpy as np
import pytest
import sympy as sm

import pfaff
from pfaff.draw.notebook import TABLES
from pfaff.progress import bar

nbclient = pytest.importorskip("nbclient", reason="the extra test is not installed: no nbclient")
nbformat = pytest.importorskip("nbformat")
pytest.importorskip("ipykernel", reason="the extra test is not installed: no ipykernel")

CELLS = [
    "import pfaff\ncase = pfaff.atlas.column(2).at(d='1/2', M_L=15, I_L=15, k1=50, c_i=1.5)\nsystem = case.system",
    "case.spectrum(F=80)",
    "case.spectrum(F=80).plot()",
    "case.critical()",
    "case.at(F=80).simulate(5, theta1_dot=0.1)",
    "system.equations()",
    "system",
    "system.plot()",
    "case.hopf()",
    "case",
    "case.hopf().orbits(to=77)[-1]",
    "case.sweep({'c_i': [1.0, 2.0]}).run()",
]


@pytest.fixture(scope="module")
def outputs() -> dict[str, dict[str, str]]:
    """What each cell shows, by the kind of its data."""
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in CELLS])
    nbclient.NotebookClient(notebook, timeout=120, kernel_name="python3").execute()
    shown = {}
    for cell in notebook.cells:
        results = [each for each in cell.outputs if each.output_type == "execute_result"]
        assert not [each for each in cell.outputs if each.output_type == "error"]
        shown[cell.source] = dict(results[0].data) if results else {}
    return shown


def test_figures_appear_without_a_magic_command(outputs):
    for cell in ("case.spectrum(F=80).plot()", "system.plot()"):
        assert outputs[cell]["image/png"].startswith("iVBORw0KGgo")


def test_results_are_tables(outputs):
    assert "growth rate" in outputs["case.spectrum(F=80)"]["text/html"]
    assert "0.97453663" in outputs["case.spectrum(F=80)"]["text/html"]
    assert "76.33797" in outputs["case.critical()"]["text/html"]
    assert "1.0192295" in outputs["case.hopf()"]["text/html"]


def test_cases_orbits_and_studies_are_tables(outputs):
    assert "mass at the end" in outputs["case"]["text/html"]
    assert "| `M_L` | 0 | mass at the end |" in outputs["system"]["text/markdown"]
    assert "amplitude of θ₁" in outputs["case.hopf().orbits(to=77)[-1]"]["text/html"]
    assert "76.22732" in outputs["case.sweep({'c_i': [1.0, 2.0]}).run()"]["text/html"]


def test_a_motion_plays(outputs):
    shown = outputs["case.at(F=80).simulate(5, theta1_dot=0.1)"]["text/html"]
    assert shown.startswith("<iframe")
    assert "mount(document" in shown
    assert len(shown) < 400_000


def test_equations_are_formulas(outputs):
    assert r"\ddot{\theta}_{1}" in outputs["system.equations()"]["text/markdown"]
    assert "$$" in outputs["system"]["text/markdown"]


def test_what_is_printed_is_short(outputs):
    assert max(len(shown.get("text/plain", "")) for shown in outputs.values()) < 700


def test_the_front_door_is_all_that_completion_shows():
    assert dir(pfaff) == sorted(pfaff.__all__)
    assert all(hasattr(pfaff, name) for name in dir(pfaff))


@pytest.fixture
def kernel(monkeypatch) -> list[str]:
    """What a kernel is told to show, one after the other, while there is no terminal."""
    shown: list[str] = []

    def display(data, **options):
        shown.append(data["text/plain"])
        return SimpleNamespace(update=lambda data, **options: shown.append(data["text/plain"]))

    monkeypatch.setattr(sys, "stderr", io.StringIO())
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: SimpleNamespace(kernel=object())))
    monkeypatch.setitem(sys.modules, "IPython.display", SimpleNamespace(display=display))
    return shown


def test_an_ensemble_tells_how_far_it_is(kernel):
    pfaff.atlas.pendulum().at().ensemble(20, Q=np.linspace(0.1, 1, 200))
    assert kernel[-2].endswith("100 %")
    assert kernel[-1] == ""


def test_what_went_away_leaves_no_empty_box(kernel, monkeypatch):
    """Pages show a text, be it empty, in a box; an empty piece of a page they do not."""
    left: list[dict[str, str]] = []
    handle = SimpleNamespace(update=lambda data, **options: left.append(data))
    monkeypatch.setattr(sys.modules["IPython.display"], "display", lambda data, **options: handle)
    with bar("waiting") as tell:
        tell(0.5)
    assert left[-1] == {"text/html": "", "text/plain": ""}


def test_a_sweep_tells_how_far_it_is(kernel):
    case = pfaff.atlas.towed_wheel().at()
    case.sweep({"c": [0.05, 0.1, 0.15, 0.2]}, "flutter", chunk=1).run()
    assert any("of 4" in text for text in kernel)
    assert kernel[-1] == ""


def test_an_ode_is_its_equations():
    x, y, mu, c_t = sm.symbols("x y1 mu c_t")
    shown = pfaff.ode({x: mu * x - y, y: x - c_t * y}, parameters={mu: 0.5, c_t: None}, load=mu)._repr_markdown_()
    assert r"\dot{y}_{1} = - c_{t} y_{1} + x" in shown
    assert "| `mu` | 0.5 (load) |" in shown
    assert "| `c_t` | – |" in shown


def test_rounding_is_shown_as_the_zero_that_it_stands_for():
    """Beside an angle of pi, 1e-64 is no displacement."""
    found = [SimpleNamespace(coordinates={"x": 1.5e-64, "phi": np.pi}, reaction={"p": -1e-17})]
    found.append(SimpleNamespace(coordinates={"x": 0.0, "phi": -1e-5}, reaction={"p": 2.0}))
    _, rows = TABLES["Equilibria"](found)
    assert [list(row) for row in rows] == [[0, 0.0, np.pi, 0.0], [1, 0.0, -1e-5, 2.0]]


def test_responses_and_trajectories_of_odes_are_shown():
    x, v, a = sm.symbols("x v a")
    t = sm.Symbol("t")
    forced = pfaff.ode({x: v, v: -x - v / 5 + sm.cos(a * t)}, parameters={a: "1/2"}, load=a)
    response = forced.at().response("a", from_=0.5, to=0.6)
    assert "amplitude of x" in response._repr_html_()
    assert "<td" in response._repr_html_()
    van_der_pol = pfaff.ode({x: v, v: a * (1 - x**2) * v - x}, parameters={a: 1})
    assert van_der_pol.at().simulate(1, x=1)._repr_html_().startswith("<img alt")
