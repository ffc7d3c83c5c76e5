"""What people read: errors of ours instead of Python's, results in one line, and what Ctrl-C leaves."""

from __future__ import annotations

import _thread
import ast
import pkgutil
import signal
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from itertools import count
from pathlib import Path

import numpy as np
import pytest
import sympy as sm
from sympy.physics.mechanics import dynamicsymbols

import pfaff
from conftest import XI_HAT, shell
from pfaff.errors import (
    ConvergenceError,
    NoBifurcationError,
    NoSuchNameError,
    NotMechanicalError,
    ParameterError,
    StatementError,
    nearest,
    number_of,
)
from pfaff.motion import batches
from pfaff.principles.comparison import Comparison, Row
from pfaff.stability.exact import ExactLoad
from pfaff.statement.told import answering

u, v, mu = sm.symbols("u v mu", real=True)


@pytest.fixture(scope="module")
def pendulum() -> pfaff.System:
    return pfaff.atlas.pendulum()


@pytest.fixture(scope="module")
def van_der_pol() -> pfaff.ode:
    return pfaff.ode({u: v, v: mu * (1 - u**2) * v - u}, {mu: 1}, load=mu, name="van der Pol")


def test_text_where_a_number_belongs(skate):
    with pytest.raises(ParameterError, match="^to='x' is not a number: the load is searched"):
        skate.at(**XI_HAT).flutter(to="x")
    with pytest.raises(ParameterError, match="until='x' is not a number"):
        skate.at(**XI_HAT).export("auto", until="x")


def test_files_of_another_kind_and_systems_instead_of_cases(skate, pendulum, tmp_path):
    case = skate.at(**XI_HAT, c_i=1.5)
    branch = case.branch("F", 1.0).save(tmp_path / "branch.nc")
    motion = pendulum.at().simulate(1, Q=0.1, samples=3).save(tmp_path / "motion.nc")
    with pytest.raises(ParameterError, match="no motion: read it with pfaff.load_branch"):
        pfaff.load_motion(branch)
    with pytest.raises(ParameterError, match=r"is no case: give the system with its values, system.at\(…\)"):
        pfaff.load_branch(branch, skate)
    with pytest.raises(ParameterError, match="holds a motion, no branch"):
        pfaff.load_branch(motion, case)
    with pytest.raises(ParameterError, match="no branch of orbits: read it by load_equilibria"):
        pfaff.load_branch(branch, case)


def test_things_that_are_no_motion_and_names_that_are_no_coordinate(pendulum):
    with pytest.raises(ParameterError, match="5 is no motion"):
        pendulum.at().impose(5)
    motion = pendulum.at().simulate(1, Q=0.1, samples=3)
    with pytest.raises(ParameterError, match="no coordinate, velocity, quasi-velocity or reaction 'P': known names: Q"):
        motion.plot("P")


def test_a_plain_ode_has_no_drives(van_der_pol):
    with pytest.raises(NotMechanicalError, match="mechanical systems.*van der Pol is a plain ODE: write the time into"):
        van_der_pol.at().simulate(1, prescribed={"u": "sin(t)"})


def test_time_written_into_an_equation_is_a_drive():
    w = sm.Symbol("w", positive=True)
    forced = pfaff.ode({u: sm.cos(w * sm.Symbol("t"))}, {w: 3}).at().simulate(2)
    assert forced["u"] == pytest.approx(np.sin(3 * forced.t) / 3, abs=1e-12)


def test_events_of_redundant_systems_are_located():
    x, y = pfaff.statement.coordinates("x y")
    twice = pfaff.System(
        coordinates=[x, y],
        kinetic=(x.diff() ** 2 + y.diff() ** 2) / 2,
        potential=x**2 / 2 + 6 * (x - y),
        holonomic_constraints=[x - y, 2 * x - 2 * y],
    )
    found = twice.at().simulate(3, events={"x": "x", "pull": "p1 + 2*p2 + 6 + x/2"}, x=1, project=True)
    assert found.events["x"].t == pytest.approx([np.pi / np.sqrt(2)])
    assert found.p[0] == pytest.approx(2 * found.p[1])


def test_guesses_are_near(skate):
    with pytest.raises(StatementError, match="'noether': known names: appell, dalembert, hamilton, lagrange, newton"):
        skate.equations("noether")
    assert nearest("lagrang", ["lagrange", "appell"]) == "did you mean 'lagrange'?"


def test_results_in_one_line(skate):
    case = skate.at(**XI_HAT)
    exact = pfaff.atlas.bottema().at().flutter(exact=True)
    row = Row("lagrange", 3, 4, 4, 6, 36, 34, 0.1, 1e-7, 0.0, 0.0, 1e-16)
    compared = Comparison("sleigh", (row,), {"newton": "it needs positions"}, 2, 0)
    disc = pfaff.atlas.rolling_disc().at().steady(phi_dot=2)
    for result in (skate.shape, exact, case.flutter(), case.paradox(), disc, compared):
        assert repr(result).startswith(f"<{type(result).__name__}")
        assert "\n" not in repr(result)
        assert len(repr(result)) < 400


def test_exact_loads_tell_their_decimals():
    root = sm.CRootOf(sm.Symbol("x") ** 5 - sm.Symbol("x") - 1, 0)
    load = ExactLoad("flutter", "F", root, None, None, None, (0.0, 9.0), "", None)
    assert float(load) == float(root)
    assert load.status.startswith("flutter at F = CRootOf(")
    assert load.status.endswith("≈ 1.16730397826")  # 1.1673039782614186842560… (OEIS A160155)
    assert "≈" not in replace(load, value=sm.Integer(3)).status


def test_principles_stand_side_by_side():
    row = Row("lagrange", 3, 4, 4, 6, None, 34, 0.1, 1e-7, 0.0, 2e-16, None)
    rows = tuple(replace(row, principle=name) for name in ("lagrange", "appell", "hamilton", "dalembert", "newton"))
    lines = str(Comparison("sleigh", rows, {}, 2, 0)).splitlines()
    assert lines[0].split() == ["lagrange", "appell", "hamilton", "dalembert", "newton"]
    assert lines[1].split() == ["dynamical", *"33333"]
    assert lines[10].split() == ["Δ", "reactions", *["2.0e-16"] * 5]
    assert max(map(len, lines[:11])) < 80


def test_interrupted_searches_keep_what_they_found(skate, monkeypatch):
    from pfaff.rest import many_starts as equilibria

    whole, parts = equilibria._settled, count()

    def settled(*arguments, **options):
        if next(parts) == 2:
            raise KeyboardInterrupt
        return whole(*arguments, **options)

    monkeypatch.setattr(equilibria, "TOGETHER", 5)
    monkeypatch.setattr(equilibria, "_settled", settled)
    found = skate.at(F=3).equilibria(starts=50, X=0)
    assert len(found) >= 1
    assert "interrupted within the first 15 of them" in found.status


def test_parts_of_a_search_find_the_same(skate, monkeypatch):
    from pfaff.rest import many_starts as equilibria

    at_once = skate.at(F=3).equilibria(starts=40, X=0)
    monkeypatch.setattr(equilibria, "TOGETHER", 7)
    in_parts = skate.at(F=3).equilibria(starts=40, X=0)
    assert in_parts.search == at_once.search
    np.testing.assert_allclose([e.q for e in in_parts], [e.q for e in at_once], atol=1e-12)


def test_an_ensemble_interrupted_before_it_runs_has_run_nothing(pendulum, monkeypatch):
    def lanes(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr(batches.taylor, "lanes", lanes)
    found = pendulum.at().ensemble(1, Q=np.linspace(0, 1, 5))
    assert (found.outcomes == batches.NOT_RUN).all()


def test_ctrl_c_stops_the_batches_of_an_ensemble_that_run(pendulum, monkeypatch):
    """Two long batches and one that has not begun: none goes on to its end, which would take minutes."""
    monkeypatch.setattr(batches, "wait", lambda running, **options: _thread.interrupt_main() or ([], running))
    monkeypatch.setattr(batches.os, "cpu_count", lambda: 1)
    lanes = batches.LANES
    found = pendulum.at().ensemble(1e6, Q=np.linspace(0.5, 1, 3 * lanes), max_steps=10**9)
    assert set(found.outcomes) == {batches.INTERRUPTED, batches.NOT_RUN}
    assert set(found.outcomes[:lanes]) == {batches.INTERRUPTED}


def test_names_that_are_elsewhere_lead_there(pendulum, van_der_pol):
    case, motion = pendulum.at(), van_der_pol.at().simulate(1, u=0.1)
    with pytest.raises(NoSuchNameError, match=r"no 'orbits': .*case.hopf\(\).orbits\(to=…\)"):
        case.orbits(to=1)
    with pytest.raises(NoSuchNameError, match=r"Ode has no 'hopf': bind its parameters first, system.at\(\).hopf\(…\)"):
        van_der_pol.hopf()
    with pytest.raises(NoSuchNameError, match="a plain ODE has neither energies nor a drawing"):
        motion.animate("x.html")
    with pytest.raises(ParameterError, match=r"mu is a parameter of van der Pol: .*case.at\(mu=…\)"):
        van_der_pol.at().simulate(1, mu=2)
    with pytest.raises(ParameterError, match=r"u is no parameter of van der Pol but a state: .*simulate\(10, u=…\)"):
        van_der_pol.at(u=2)
    with pytest.raises(ParameterError, match="samples=1000.0 is written with a point or a power: write 1000"):
        van_der_pol.at().simulate(1, samples=1e3)
    with pytest.raises(StatementError, match="rate of each state by the state's name"):
        pfaff.ode([u], {mu: 1})
    with pytest.raises(ParameterError, match="'holonomic_constraints' or 'nonholonomic_constraints'"):
        replace(pendulum, constraints=[])


def test_a_load_that_nothing_depends_on_is_told():
    idle = pfaff.ode({u: v, v: -u - v}, {mu: 1}, load=mu, name="idle")
    with pytest.raises(NoBifurcationError, match="nothing in it depends on mu, check its terms"):
        idle.at().hopf()


def test_a_dissipation_that_is_a_force_is_refused():
    (x,), m = pfaff.statement.coordinates("x"), sm.Symbol("m", positive=True)
    speed = x.diff(pfaff.statement.TIME)

    def stated(dissipation):
        return pfaff.System([x], m * speed**2 / 2, x**2, dissipation=dissipation, parameters={m: 1})

    with pytest.raises(StatementError, match="linear in x_dot, which is a constant force"):
        stated(m * speed)
    with pytest.raises(StatementError, match="dissipation contains no velocity"):
        stated(m * x**2)
    assert stated((speed - 3) ** 2 / 2).at().spectrum().stable  # dragged along by a belt


def test_a_zero_eigenvalue_beside_a_pair_is_no_resonance():
    """An undamped castor at rest: beside the swinging of its pin, nothing turns the wheel back."""
    y, psi = pfaff.statement.coordinates("y psi")
    V, t = sm.Symbol("V", nonnegative=True), pfaff.statement.TIME
    x_c, y_c = V * t - sm.cos(psi) / 4, y - sm.sin(psi) / 4
    castor = pfaff.System(
        coordinates=[y, psi],
        kinetic=(x_c.diff(t) ** 2 + y_c.diff(t) ** 2) / 2 + psi.diff(t) ** 2 / 10,
        potential=y**2 / 2,
        nonholonomic_constraints=[y.diff(t) * sm.cos(psi) - psi.diff(t) / 2 - V * sm.sin(psi)],
        parameters={V: 1}, load=V, name="castor",
    )  # fmt: skip
    with pytest.raises(ConvergenceError, match="at V = 0 an eigenvalue is zero too"):
        castor.at().hopf()


@contextmanager
def interrupting(*arguments, by=signal.SIGINT, **options):
    """Progress that is interrupted when it is told for the third time."""
    told = count(1)

    def progress(*reached):
        if next(told) == 3:
            signal.raise_signal(by)

    yield progress


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["branch", "column", "--set", "c_i=1", "--to", "5"], "equilibria from F = 0"),
        (["simulate", "pendulum", "--duration", "1e5", "--start", "Q=1", "--method", "taylor"], "Q_dot"),
    ],
)
def test_an_interrupted_command_prints_what_it_has(arguments, words, monkeypatch):
    monkeypatch.setattr("pfaff.cli.bifurcation.counting", interrupting)
    monkeypatch.setattr("pfaff.cli.motion.bar", interrupting)
    done = shell(*arguments)
    assert done.returncode == 130
    assert words in done.stdout
    assert "interrupted" in done.stdout


def test_a_command_that_is_told_to_end_prints_what_it_has(monkeypatch):
    """Schedulers end jobs by SIGTERM; 143 is the exit code of what they ended."""
    monkeypatch.setattr("pfaff.cli.bifurcation.counting", partial(interrupting, by=signal.SIGTERM))
    usual = signal.getsignal(signal.SIGTERM)
    done = shell("branch", "column", "--set", "c_i=1", "--to", "5")
    assert done.returncode == 143
    assert "equilibria from F = 0" in done.stdout
    assert "interrupted" in done.stdout
    assert signal.getsignal(signal.SIGTERM) is usual


@pytest.mark.parametrize("by", [signal.SIGTERM, signal.SIGINT])
@pytest.mark.parametrize(
    "late",
    ["pfaff.motion.result.Motion.energy", "pfaff.motion.simulate.Measured", "pfaff.cli.motion.table_of_interest"],
)
def test_a_signal_after_the_last_step_loses_no_motion(late, by, monkeypatch):
    """While the samples are taken, energies computed, the table printed: all is printed, and the exit code tells."""
    owner, name = late.rsplit(".", 1)
    owner = pkgutil.resolve_name(owner) if owner[-1].islower() else pkgutil.resolve_name(":".join(owner.rsplit(".", 1)))
    usual = getattr(owner, name)
    told = count(1)

    def telling(*arguments, **options):
        if next(told) == 1:
            signal.raise_signal(by)
        return (usual.fget if isinstance(usual, property) else usual)(*arguments, **options)

    monkeypatch.setattr(owner, name, property(telling) if isinstance(usual, property) else telling)
    done = shell("simulate", "pendulum", "--duration", "10", "--start", "Q=1", "--method", "taylor")
    assert done.returncode == (143 if by == signal.SIGTERM else 130)
    assert "Q_dot" in done.stdout
    assert "Taylor" in done.stdout


def test_names_that_results_do_not_have_are_answered_with_the_nearest(skate):
    case = skate.at(**XI_HAT)
    for thing, wrong, right in ((case, "fluter", "flutter"), (case.flutter(), "valeu", "value")):
        with pytest.raises(AttributeError, match=f"did you mean '{right}'"):
            getattr(thing, wrong)
        assert not hasattr(thing, wrong)
        assert hasattr(thing, right)

    @answering
    class Broken:
        @property
        def value(self) -> float:
            return self.missing  # type: ignore[attr-defined]

    with pytest.raises(AttributeError, match="Broken has no 'missing'"):
        Broken().value  # noqa: B018


def test_a_velocity_is_no_load_and_leads_to_steady_motions():
    bicycle = pfaff.atlas.whipple_bicycle().at()
    for analysis in (bicycle.hopf, bicycle.flutter):
        with pytest.raises(ParameterError, match=r"s_dot is a velocity .* case\.steady\(s_dot=…\)\.branch"):
            analysis("s_dot")


def test_one_is_singular_and_all_else_plural():
    assert [number_of(k, "mode") for k in (0, 1, 2)] == ["0 modes", "1 mode", "2 modes"]
    sources = (path.read_text("utf-8") for path in Path(pfaff.__file__).parent.rglob("*.py"))
    nodes = (node for text in sources if "(s)" in text for node in ast.walk(ast.parse(text)))
    assert not [node.value for node in nodes if isinstance(node, ast.Constant) and "(s)" in str(node.value)]


@pytest.mark.parametrize("word", ["to", "near"])
def test_a_declared_sign_holds_for_the_search_of_hopf_points(word):
    with pytest.raises(ParameterError, match=f"{word}=-1: F is declared nonnegative"):
        _declared().hopf(**{word: -1})


def _declared() -> pfaff.Case:
    x, y = dynamicsymbols("x y")
    t, F = dynamicsymbols._t, sm.Symbol("F", nonnegative=True)
    kinetic = (x.diff(t) ** 2 + y.diff(t) ** 2) / 2
    potential = x**2 + y**2 - F * x**2 / 9
    return pfaff.System([x, y], kinetic, potential, parameters={F: 0}, load=F, dissipation=x.diff(t) ** 2).at()


def test_what_is_no_number_drives_nothing():
    with pytest.raises(ParameterError, match="the function for F is nan"):
        _declared().simulate(1, prescribed={"F": float("nan")})


def test_a_start_beyond_all_numbers_names_no_velocities_that_there_are_not():
    case = pfaff.atlas.column(2).at(d="1/2", M_L=15, I_L=15, k1=50, F=1)
    with pytest.raises(pfaff.PfaffError, match="accelerations of .* are not finite at theta1 = 1e.308"):
        case.simulate(1, theta1=1e308)


def test_one_speed_is_not_free_alone_and_text_is_no_speed(skate):
    case = skate.at(**XI_HAT)
    with pytest.raises(ParameterError, match="do not leave X_dot free: fix another speed"):
        case.steady(X_dot=1)
    with pytest.raises(ParameterError, match="X_dot=.abc. is not a number"):
        case.steady(X_dot="abc")


def test_what_never_flutters_has_no_limits_to_tell():
    x, t = dynamicsymbols("x"), dynamicsymbols._t
    F, c = sm.symbols("F c", nonnegative=True)
    pressed = pfaff.System([x], x.diff(t) ** 2 / 2, (1 - F) * x**2, c * x.diff(t) ** 2, parameters={F: 0, c: 0}, load=F)
    assert pressed.at().paradox().status == "no flutter without damping, nor with damping as it vanishes"


def test_starts_that_lead_far_away_are_said_to():
    x = dynamicsymbols("x")
    far = pfaff.System([x], x.diff() ** 2 / 2, (x - 100) ** 2 / 2).at()
    assert "converged; none of them has |q| ≤" in far.equilibria(starts=5, box=1).search
