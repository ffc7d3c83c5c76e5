"""The flight recorder: it records alike what runs alike, and sees a rule that changes."""

from __future__ import annotations

import json

import pytest

from flight_recorder import main, recorded
from pfaff.bifurcation.equilibria.regular import Regular
from pfaff.bifurcation.equilibria.special_points import Rests
from pfaff.continuation.problem import Problem
from recorded_runs import SYSTEMS
from records_compared import compare

SYSTEM = "bautin"  # equilibria, Hopf points with a generalised one, cycles with a fold, and the curve of that


@pytest.fixture(scope="module")
def before():
    return recorded(SYSTEM)


def test_runs_are_recorded_alike(before):
    assert len(before) == 4
    assert not any("error" in run for run in before.values())
    assert {verdict for verdict, _ in compare(before, recorded(SYSTEM)).values()} == {"identical"}


@pytest.fixture
def interpreted(monkeypatch):
    monkeypatch.setattr(Regular, "kernel", None)


def test_who_takes_the_steps_is_no_decision(before, interpreted):
    """Equilibria and curves step by step."""
    verdicts = compare(before, recorded(SYSTEM))
    for name in ("equilibria", "curve of hopf 0"):
        assert verdicts[f"{SYSTEM}: {name}"][0] in ("identical", "same")


def test_another_rule_is_seen(interpreted, monkeypatch):
    before = recorded(SYSTEM)
    monkeypatch.setattr(Problem, "paced", lambda problem, length, turn: 1.5 * length)
    assert compare(before, recorded(SYSTEM))[f"{SYSTEM}: curve of hopf 0"][0] in ("moved", "differs")


def test_what_is_not_halved_any_more_is_seen(interpreted, monkeypatch):
    """Two folds close together, which nobody looks for within a step."""
    name = "steep branch: equilibria"
    before = recorded("steep branch")
    assert [what for course in before[name]["courses"] for _, what, *_ in course["decided"]].count("halves") == 2
    monkeypatch.setattr(Rests, "hides", lambda *_: False)
    verdict, why = compare(before, recorded("steep branch"))[name]
    assert verdict == "differs"
    assert "halves" in why


def test_results_are_compared_where_the_engine_is_not_heard(before):
    silent = {name: {**run, "courses": []} for name, run in before.items()}
    assert {verdict for verdict, _ in compare(before, silent).values()} == {"identical"}
    silent[f"{SYSTEM}: cycles"]["result"] = before[f"{SYSTEM}: equilibria"]["result"]
    assert compare(before, silent)[f"{SYSTEM}: cycles"][0] == "differs"


def test_failures_are_recorded_and_compared(before, monkeypatch):
    def fails(run):
        run("equilibria", lambda: 1 / 0)

    monkeypatch.setitem(SYSTEMS, "fails", fails)
    found = recorded("fails")
    assert found["fails: equilibria"]["error"].startswith("ZeroDivisionError")
    assert compare(found, found)["fails: equilibria"] == ("identical", "")
    other = {"fails: equilibria": before[f"{SYSTEM}: equilibria"]}
    assert compare(found, other)["fails: equilibria"][0] == "differs"


def test_a_comparison_on_the_shell_fails_where_decisions_differ(before, tmp_path, capsys):
    changed = json.loads(json.dumps(before))
    changed[f"{SYSTEM}: equilibria"]["result"]["special"].pop()
    files = [tmp_path / "before.json", tmp_path / "after.json"]
    for file, runs in zip(files, (before, changed), strict=True):
        file.write_text(json.dumps(runs))
    assert main(["compare", str(files[0]), str(files[0])]) == 0
    assert main(["compare", *map(str, files)]) == 1
    assert "special points" in capsys.readouterr().out
