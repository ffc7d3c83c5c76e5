"""Exports: each language computes what flow computes, and AUTO finds our Hopf point."""

from __future__ import annotations

import ctypes
import re
import shutil
import subprocess
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import sympy as sm

import pfaff
from pfaff.errors import ConvergenceError, ParameterError, RankError, StatementError
from pfaff.export import export
from pfaff.export.latex import formulas
from pfaff.export.reduced_equations import Equations
from pfaff.export.starting_point import start_of
from pfaff.statement import TIME, coordinates

AUTO = Path("/usr/lib/auto-07p/lib")  # Debian's package auto-07p
VALUES = {"d": "1/2", "M_L": 15, "I_L": 15, "k1": 50, "c_i": 1.5, "c_e": 0.3, "c_t": 0.2, "c_r": 0.1, "F": 30}


def functions() -> pfaff.Ode:
    """A plain ODE with every function that can be compiled and exported."""
    x, y, z, a = sm.symbols("x y z a")
    return pfaff.ode(
        {
            x: sm.exp(-x) * sm.tan(y) + sm.sqrt(2 + z) / (3 + x * y) + sm.pi * x - 1e-20 * y,
            y: sm.log(3 + x) + sm.atan(y) + sm.asin(x / 9) * sm.acos(y / 9) + sm.sinh(x) + sm.atan2(x, 2 + y)
            + sm.erf(z),
            z: (2 + x) ** sm.Rational(5, 2) + a**x + (x + 4) ** -3 + sm.asinh(x) + sm.acosh(3 + y) + sm.atanh(z / 9)
            - sm.cosh(y) * sm.tanh(z) + a,
        },
        parameters={a: 2},
        name="all functions",
    )  # fmt: skip


@pytest.fixture(scope="module", params=["skate", "misaligned bow on a spring", "functions", "sleigh"])
def case(request, sleigh):
    if request.param == "functions":
        return functions().at()
    if request.param == "sleigh":
        return sleigh.at()
    if request.param == "skate":
        return pfaff.atlas.column(2).at(**VALUES)
    given = {name: value for name, value in VALUES.items() if name != "F"}
    return pfaff.atlas.column(2, "bow", "spring").at(**given, beta0=0.1, K=40, Delta=0.3, M_X=2)


@pytest.fixture(scope="module")
def states(case):
    return np.random.default_rng(7).uniform(-0.7, 0.7, (len(start_of(case, None).flow.states), 5))


def expected(case, states):
    flow = start_of(case, None).flow  # without the heading of a sleigh
    rows = [flow.rhs(states, case), flow.jacobian(states, case), flow.parameter_jacobian(states, case)]
    return [each.reshape(-1, states.shape[1]) for each in rows]


def agree(ours, theirs):
    for mine, other in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(other, mine, rtol=1e-12, atol=1e-12 * max(1.0, np.abs(mine).max(initial=0.0)))


def test_numpy(case, states):
    module: dict = {}
    exec(case.export("numpy").text, module)
    assert module["STATES"] == list(start_of(case, None).flow.states)
    assert (
        np.abs(module["rhs"](module["START"])).max() < 1e-9 or "no equilibrium was found" in case.export("numpy").text
    )
    found = [module[name](states, case.numbers) for name in ("rhs", "jacobian", "parameter_jacobian")]
    agree(expected(case, states), [each.reshape(-1, states.shape[1]) for each in found])


@pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed")
def test_c(case, states, tmp_path):
    (source,) = case.export("c", tmp_path).written
    library = tmp_path / "equations.so"
    subprocess.run(
        ["gcc", "-std=c99", "-Wall", "-Werror", "-shared", "-fPIC", source, "-o", library, "-lm"], check=True
    )
    loaded = ctypes.CDLL(str(library))
    ours = expected(case, states)
    theirs = [np.zeros_like(each) for each in ours]
    for k in range(states.shape[1]):
        for ending, into in zip(("", "_jacobian", "_parameter_jacobian"), theirs, strict=True):
            x, p, out = np.ascontiguousarray(states[:, k]), case.numbers, np.zeros(len(into))
            getattr(loaded, source.stem + ending)(*(each.ctypes.data_as(ctypes.c_void_p) for each in (x, p, out)))
            into[:, k] = out
    agree(ours, theirs)


@pytest.mark.skipif(shutil.which("octave") is None, reason="octave is not installed")
def test_matlab(case, states, tmp_path):
    (source,) = case.export("matcont", tmp_path).written
    columns = "; ".join(" ".join(map(repr, row)) for row in states.tolist())
    script = f"""
h = {source.stem}; x = [{columns}]; p = {{{", ".join(repr(float(v)) for v in case.numbers)}}};
for k = 1:columns(x)
  for i = 2:4
    printf("%.17g ", feval(h{{i}}, 0, x(:, k), p{{:}})'); printf("\\n");
  end
end
"""
    done = subprocess.run(
        ["octave-cli", "--norc", "--eval", script], cwd=tmp_path, capture_output=True, text=True, timeout=60, check=True
    )
    rows = [np.array(line.split(), dtype=float) for line in done.stdout.strip().splitlines()]
    agree(expected(case, states), [np.stack(rows[i::3], axis=1) for i in range(3)])


@pytest.mark.skipif(shutil.which("julia") is None, reason="julia is not installed")
def test_julia(case, states, tmp_path):
    source, _ = case.export("bifurcationkit", tmp_path).written
    name = source.stem
    script = f'include("{source}")\n'
    for x in states.T.tolist():
        at = f"([{', '.join(map(repr, x))}], {name}_parameters)"
        for values in (f"{name}{at}", f"permutedims({name}_jacobian{at})"):
            script += f"foreach(v -> print(v, ' '), {values}); println()\n"
    done = subprocess.run(["julia", "-e", script], capture_output=True, text=True, check=True)
    rows = [np.array(line.split(), dtype=float) for line in done.stdout.strip().splitlines()]
    agree(expected(case, states)[:2], [np.stack(rows[i::2], axis=1) for i in range(2)])


def test_julia_text(case):
    """Without Julia: a named tuple with one field for each parameter, the load varied."""
    exported = case.export("bifurcationkit")
    equations, continuation = exported.files.values()
    fields = re.search(r"_parameters = \((.*)\)", equations).group(1)
    assert fields.count("=") == len(case.system.parameters)
    assert f"{next(iter(exported.files))}" in continuation


def test_latex(case, states):
    """The formulas that are typeset, evaluated one after the other."""
    equations = Equations(case, None, None)
    abbreviations, rates = formulas(equations)
    x = states[:, 0]
    known = {sm.Symbol(n): sm.Float(v, 17) for n, v in zip(equations.parameters, equations.values, strict=True)}
    known |= {sm.Symbol(n): sm.Float(v, 17) for n, v in zip(equations.states, x, strict=True)}
    for k, each in enumerate(abbreviations):
        known[sm.Symbol(f"w{k + 1}")] = each.evalf(17, subs=known)
    found = np.array([float(each.evalf(17, subs=known)) for each in rates])
    agree([start_of(case, None).flow.rhs(x, case)], [found])
    text = case.export("latex").text
    assert text.count("&=") == len(abbreviations) + len(rates)


def auto_rows(exported) -> list[list[str]]:
    """The branch that AUTO computes: point, type and label, then parameter, norm and states, as written in fort.7."""
    source, constants = exported.written
    folder = source.parent
    shutil.copy(constants, folder / "fort.2")
    (folder / "fort.3").touch()
    objects = sorted(map(str, AUTO.glob("*.o")))
    subprocess.run(["gfortran", "-fopenmp", source, *objects, "-o", "a.exe"], cwd=folder, check=True)
    subprocess.run(["./a.exe"], cwd=folder, check=True, capture_output=True, timeout=60)
    return [line.split() for line in (folder / "fort.7").read_text().splitlines() if not line.startswith("   0")]


needs_auto = pytest.mark.skipif(
    shutil.which("gfortran") is None or not AUTO.is_dir(), reason="auto-07p or gfortran not installed"
)


@needs_auto
def test_auto_finds_our_hopf_point(tmp_path):
    """With d'Alembert's reduction the column's Hopf point is an ordinary one for AUTO; JAC = 1 uses our derivatives."""
    case = pfaff.atlas.column(2).at(**VALUES, M_X=1).at(F=0)
    rows = auto_rows(case.export("auto", tmp_path, until=120))
    hopf = [float(row[4]) for row in rows if row[2] == "3"]
    assert hopf == [pytest.approx(case.hopf().value, rel=1e-8)]
    assert float(rows[-1][4]) == pytest.approx(120)


@cache
def cartesian_pendulum(height: float, name: str = "cartesian pendulum") -> pfaff.System:
    """A damped bob at distance 1 from (0, height), pushed aside by F: it hangs at tan θ = F."""
    x, y = coordinates("x y")
    F = sm.Symbol("F", real=True)
    kinetic = (x.diff(TIME) ** 2 + y.diff(TIME) ** 2) / 2
    return pfaff.System(
        coordinates=[x, y],
        kinetic=kinetic,
        potential=y - F * x,
        dissipation=kinetic,
        holonomic_constraints=[x**2 + (y - height) ** 2 - 1],
        parameters={F: 0},
        load=F,
        name=name,
    )


@needs_auto
def test_auto_continues_across_a_holonomic_constraint(tmp_path):
    """Leaving the circle is no zero eigenvalue, so that AUTO follows the equilibrium; it ends at θ = atan 2."""
    rows = auto_rows(cartesian_pendulum(1).at().export("auto", tmp_path, until=2))
    assert float(rows[-1][4]) == pytest.approx(2)
    assert [float(each) for each in rows[-1][6:8]] == pytest.approx([2 / 5**0.5, 1 - 1 / 5**0.5], abs=1e-7)


def module_of(exported) -> dict:
    module: dict = {}
    exec(exported.text, module)
    return module


def test_a_holonomic_constraint_attracts_and_the_file_says_so():
    """The eigenvalues are those of λ² + λ + 1, the damped pendulum's, and the rate at which the circle attracts."""
    exported = cartesian_pendulum(1).at().export("numpy")
    module = module_of(exported)
    values = np.linalg.eigvals(module["jacobian"](module["START"]))
    assert sorted(values, key=lambda x: x.imag) == pytest.approx([-0.5 - 0.75**0.5 * 1j, -1, -0.5 + 0.75**0.5 * 1j])
    assert "1 eigenvalue -1 for leaving them" in exported.status
    assert "1 eigenvalue -1 for leaving them" in exported.text


def test_structural_zeros_are_told():
    """An upright disc at rest may turn and roll at any speed: two zeros; its heading is left out."""
    exported = pfaff.atlas.rolling_disc().at().export("numpy")
    module = module_of(exported)
    J = module["jacobian"](module["START"])
    assert "psi" not in module["STATES"]
    assert len(J) - np.linalg.matrix_rank(J) == 2
    for text in (exported.status, exported.text):
        assert "only the velocity matters: psi" in text
        assert "2 eigenvalues 0 at the start" in text
    rolling = module_of(export(pfaff.atlas.rolling_disc().at(), "numpy", start={"phi_dot": 2.0}))
    assert rolling["START"][rolling["STATES"].index("phi_dot")] == pytest.approx(2)
    theirs = np.linalg.eigvals(rolling["jacobian"](rolling["START"]))
    ours = pfaff.atlas.rolling_disc().at().steady(phi_dot=2).eigenvalues
    assert np.sort(np.abs(theirs))[2:] == pytest.approx(np.sort(np.abs(ours)))


def test_where_an_export_starts():
    """About the origin the circle has no rest: the start is given, or an error names what is missing."""
    case = cartesian_pendulum(0).at()
    with pytest.raises(ConvergenceError, match="no equilibrium to start from .* start="):
        case.export("numpy")
    for y in (-1, 1):
        module = module_of(export(case, "numpy", start={"y": 0.9 * y}))
        assert module["START"].tolist() == pytest.approx([0, y, 0])
        assert np.abs(module["rhs"](module["START"])).max() < 1e-12
    with pytest.raises(RankError, match="rows 1, 2"):  # the slider-crank hangs in its dead point
        export(pfaff.atlas.slider_crank().at(), "numpy", start={"x1": 0.1, "y1": -0.7, "x2": 0.2})
    with pytest.raises(ParameterError, match="no state 'z' to start from"):
        export(case, "numpy", start={"z": 1})
    with pytest.raises(ParameterError, match="by name"):
        export(case, "numpy", start=[0, -1])


@pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed")
@pytest.mark.parametrize("name", ["sin", "int", "gamma", "end", "math"])
def test_names_that_languages_know_and_no_parameters(name, tmp_path):
    (x,) = coordinates("x")
    case = pfaff.System(coordinates=[x], kinetic=x.diff(TIME) ** 2 / 2, potential=1 - sm.cos(x), name=name).at()
    (source,) = case.export("c", tmp_path).written
    assert source.stem != name
    subprocess.run(["gcc", "-std=c99", "-Wall", "-Werror", "-c", source, "-o", tmp_path / "a.o"], check=True)
    module = module_of(case.export("numpy"))
    assert module["rhs"]([0.5, 2.0]) == pytest.approx([2, -np.sin(0.5)])
    assert module["parameter_jacobian"]([0.5, 2.0]).shape == (2, 0)
    for to in ("auto", "bifurcationkit"):
        with pytest.raises(ParameterError, match="no parameter to vary"):
            case.export(to)
    if shutil.which("octave"):
        (source,) = case.export("matcont", tmp_path).written
        script = f"h = {source.stem}; disp(feval(h{{2}}, 0, [0.5; 2])(2)); disp(size(feval(h{{4}}, 0, [0.5; 2])))"
        done = subprocess.run(
            ["octave-cli", "--norc", "--eval", script], cwd=tmp_path, capture_output=True, text=True, check=True
        )
        assert np.array(done.stdout.split(), dtype=float) == pytest.approx([-np.sin(0.5), 2, 0], abs=1e-4)


def test_fields_of_julia_are_no_keywords_and_differ():
    (x,) = coordinates("x")
    parameters = {sm.Symbol(name, real=True): k + 1 for k, name in enumerate(["end", "β", "γ"])}
    case = pfaff.System(
        coordinates=[x], kinetic=x.diff(TIME) ** 2 / 2, potential=sum(parameters) * x**2, parameters=parameters
    ).at()
    text = case.export("bifurcationkit", load="γ", until=9).text
    assert "_parameters = (end_ = 1.0, system_2 = 2.0, system_3 = 3.0,)" in text


def test_what_cannot_be_exported(tmp_path):
    case = pfaff.atlas.column(2).at()
    with pytest.raises(ParameterError, match="did you mean 'matcont'"):
        case.export("matcon")
    with pytest.raises(ParameterError, match="no parameter 'G'"):
        case.export("auto", load="G")
    with pytest.raises(ParameterError, match="give another value"):
        case.export("auto", until=0)
    blocked = tmp_path / "file"
    blocked.touch()
    with pytest.raises(ParameterError, match="cannot write"):
        case.export("c", blocked / "folder")
    (x,) = coordinates("x")
    driven = pfaff.System(coordinates=[x], kinetic=x.diff(TIME) ** 2 / 2, forces={x: sm.sin(TIME)})
    with pytest.raises(StatementError, match="depend on time"):
        driven.at().export("c")
