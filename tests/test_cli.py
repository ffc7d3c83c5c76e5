"""The shell: tables, JSON, and one-line errors with exit code 2."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys

import pytest

from conftest import shell
from pfaff.cli import HOMES, app
from pfaff.cli.wording import on_shell
from pfaff.errors import ParameterError

SPEC = ["--set", "d=1/2", "--set", "M_L=15", "--set", "I_L=15", "--set", "k1=50"]


def process(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "pfaff", *arguments],
        capture_output=True,
        text=True,
        env={**os.environ, "COLUMNS": "120"},
        timeout=300,
        check=False,
    )


def answer(*arguments: str, folder=None):
    done = shell(*arguments, "--json", folder=folder)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize(
    "arguments",
    [("--version",), ("critical", "column", *SPEC, "--json"), ("show", "column"), ("hopf", "column")],
    ids=lambda arguments: arguments[0],
)
def test_a_process_of_its_own_says_the_same(arguments):
    """What the other tests see in this process is what a shell gets, to the byte."""
    there, here = process(*arguments), shell(*arguments)
    assert (there.returncode, there.stdout, there.stderr) == (here.returncode, here.stdout, here.stderr)


def test_critical_as_json():
    found = answer(
        "critical", "column", "--bars", "2", "--constraint", "skate", "--load", "dead", *SPEC, "--set", "c_i=1.5"
    )
    assert found["flutter"]["value"] == pytest.approx(76.3379703896335, rel=1e-12)
    assert found["flutter"]["frequency"] == pytest.approx(1.01922949893, rel=1e-10)
    assert found["divergence"]["value"] == pytest.approx(108.915743348559, rel=1e-12)
    assert found["buckling"] is None


def test_counts_are_whole_numbers_however_they_are_written():
    start = ["simulate", "column", "--duration", "1", "--start", "theta1_dot=0.01"]
    assert len(answer(*start, "--samples", "1.1e1")["t"]) == 11
    for text in ("1.5", "many", "1e-3"):
        done = shell(*start, "--samples", text)
        assert done.returncode == 2
        assert f"--samples {text}" in done.stderr
        assert "is not a whole number such as 1000 or 1e3" in done.stderr


def test_critical_as_a_table():
    done = shell("critical", "column", *SPEC)
    assert "76.2073258262" in done.stdout
    assert "none" in done.stdout


def test_long_tables_show_what_tells_most_and_all_the_rest():
    """Eigenvalues of twelve bars: the least stable first; every one with --all."""
    column = ["spectrum", "column", "--bars", "12", "--set", "F=0,c_i=1"]
    some, every = shell(*column).stdout, shell(*column, "--all").stdout
    rates = [float(line.split("│")[1]) for line in some.splitlines() if line.startswith("│")]
    assert rates == sorted(rates, reverse=True)
    assert len(rates) == 16
    assert "16 of 24 rows; --all shows the rest" in some
    assert sum(line.startswith("│") for line in every.splitlines()) == 24
    assert "--all" not in every


def test_points_of_a_branch_are_listed_on_demand():
    column = ["branch", "column", *SPEC, "--set", "c_i=1.5", "--to", "80"]
    some, every = shell(*column).stdout, shell(*column, "--all").stdout
    assert "Points" not in some
    assert re.search(r"│ 80 +│ no +│", every)


def test_critical_exactly():
    found = answer("critical", "column", *SPEC, "--exact")
    assert "sqrt(120482)" in found["flutter"]["exact"]


def test_other_commands_as_json(tmp_path):
    assert set(answer("atlas")) >= {"column", "ziegler", "reut", "bottema"}
    shown = answer("show", "column", "--load", "spring")
    assert shown["load"] == "Delta"
    assert shown["coordinates"]["X"].startswith("kept")
    spectrum = answer("spectrum", "column", *SPEC, "--set", "F=80")
    assert not spectrum["stable"]
    assert sum(spectrum["zeros"].values()) == 1
    rest = answer("equilibria", "column", "--set", "F=3", "--fix", "X=0", "--starts", "20")
    assert rest["family_dimension"] == 1
    assert rest["equilibria"][0]["reaction"]["p"] == pytest.approx(3)
    paradox = answer("paradox", "column", *SPEC, "--direction", "c_e=2")
    assert paradox["limit"] == pytest.approx(40.9964413972182, rel=1e-12)
    assert paradox["recoverable"] is True


def test_hopf(tmp_path):
    picture = tmp_path / "hopf.png"
    found = answer("hopf", "column", *SPEC, "--set", "c_i=3/2", "--second", "--plot", str(picture))
    assert found["value"] == pytest.approx(76.3379703896335, rel=1e-12)
    assert found["l1"] == pytest.approx(-2.20853769246, rel=1e-11)
    assert found["criticality"] == "supercritical"
    assert found["l2"] < 0
    assert len(found["eigenvalues"]) == len(found["q"]) == 4
    assert picture.stat().st_size > 0
    table = shell("hopf", "column", "--load", "spring", *SPEC, "--set", "K=40", "--set", "c_i=3/2")
    assert "1.90844925974" in table.stdout
    assert "elliptic" in table.stdout


@pytest.mark.parametrize(
    "command",
    [
        "atlas",
        "show",
        "export",
        "equilibria",
        "spectrum",
        "critical",
        "hopf",
        "paradox",
        "steady",
        "simulate",
        "reproduce",
    ],
)
def test_every_command_helps_with_an_example(command):
    done = shell(command, "--help")
    assert done.returncode == 0
    assert re.search("Examples?:", done.stdout)
    assert f"pfaff {command}" in done.stdout
    assert "--json" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["critical", "colum"], "did you mean 'column'"),
        (["critical", "column", "--set", "k2=5"], "no parameter 'k2'"),
        (["critical", "column", "--set", "k1=-5"], "positive"),
        (["critical", "column", "--set", "k1=five"], "not a number"),
        (["critical", "column", "--set", "k1"], "NAME=VALUE"),
        (["critical", "column", "--set", "d=1/0"], "d="),
        (["critical", "column", "--set", "F=1", "--set", "F=2"], "twice"),
        (["show", "column", "--option", "individual=maybe"], "neither true nor false"),
        (["show", "column", "--bars", "2", "--option", "bars=3"], "twice"),
        (["equilibria", "column", "--seed", "-1"], "seed"),
        (["critical", "column", "--bars", "0"], "--bars 0"),
        (["critical", "column", "--constraint", "sledge"], "unknown constraint"),
        (["critical", "column", "--load-parameter", "G"], "no parameter 'G'"),
        (["critical", "ziegler", "--constraint", "bow"], "no option 'constraint'"),
        (["critical", "column", "--to", "-3"], "positive finite"),
        (["critical", "column", "--too", "3"], "--to"),
        (["spectrum", "column", "--fix", "Z=0"], "'Z'"),
        (["paradox", "column", "--direction", "c_q=1"], "not a damping"),
        (["show", "bottema_general", "--option", "n=two"], "whole number"),
        (["hopf", "column"], "add damping"),
        (["hopf", "column", "--set", "c_i=1", "--to", "1"], "search farther"),
        (["simulate", "column"], "--duration"),
        (["simulate", "column", "--duration", "1", "--start", "theta7=1"], "'theta7'"),
        (["simulate", "column", "--duration", "1", "--animate", "x.avi"], ".gif, .html, .mp4"),
        (["simulate", "bottema", "--duration", "1", "--film", "x.png"], "no drawing"),
        (["simulate", "column", "--duration", "1", "--drive", "F=1", "--drive", "F=2"], "--drive gives F twice"),
        (["steady", "rolling_disc", "--in", "phi_dot"], "--in and --to go together"),
        (["steady", "rolling_disc", "--save", "x.nc"], "--in NAME --to VALUE"),
        (["reproduce", "cazzolli202"], "did you mean 'cazzolli202"),
    ],
)
def test_errors_are_one_line_and_exit_code_2(arguments, words):
    done = shell(*arguments)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert done.stderr.startswith("pfaff: ")
    assert words in done.stderr
    assert not done.stdout


def test_simulate(tmp_path):
    start = ["--duration", "20", "--start", "theta1_dot=0.01", "--start", "theta2_dot=1/100", "--samples", "11"]
    stored = tmp_path / "run.nc"
    found = answer("simulate", "column", *SPEC, "--set", "F=80", *start, "--save", str(stored))
    assert found["status"] == "finished"
    assert found["energy_drift"] < 1e-12
    assert len(found["theta1"]) == len(found["t"]) == len(found["p"]) == 11
    assert stored.stat().st_size > 0
    assert "energy balances" in shell("simulate", "column", "--set", "F=1", *start).stdout


def test_simulate_draws(tmp_path):
    start = ["--duration", "2", "--start", "theta1_dot=0.01", "--set", "F=1", "--samples", "5"]
    plot, film, moving = (tmp_path / name for name in ("plot.png", "film.svg", "moving.gif"))
    into = ["--plot", str(plot), "--film", str(film), "--animate", str(moving), "--seconds", "0.2"]
    found = answer("simulate", "column", *start, *into)
    assert found["written"] == [str(plot), str(film), str(moving)]
    assert moving.read_bytes().startswith(b"GIF89a")
    assert film.read_text().startswith("<?xml")


def test_options_of_a_system():
    shown = answer("show", "bottema_general", "--option", "n=3", "--option", "m=1")
    assert list(shown["coordinates"]) == ["x1", "x2", "x3"]


def test_plots_are_written(tmp_path):
    picture = tmp_path / "spectrum.png"
    assert shell("spectrum", "column", *SPEC, "--set", "F=80", "--plot", str(picture)).returncode == 0
    assert picture.read_bytes().startswith(b"\x89PNG")
    refused = shell("spectrum", "column", "--plot", str(tmp_path / "no" / "where.png"))
    assert refused.returncode == 2
    assert "there is no folder" in refused.stderr


def test_latex_on_demand():
    done = shell("show", "column", "--latex")
    assert done.stdout.startswith(r"\begin{align*}")
    assert r"\ddot{\theta}_{1}" in done.stdout


def test_orbits(tmp_path):
    found = answer(
        "orbits", "column", *SPEC, "--set", "c_i=1.5", "--to", "90",
        "--plot", "cycles.png", "--save", "cycles.nc", folder=tmp_path,
    )  # fmt: skip
    assert [each["kind"] for each in found["special"]] == ["fold", "fold"]
    assert found["orbits"][-1]["period"] == pytest.approx(8.1622207239541, abs=1e-11)
    assert (tmp_path / "cycles.png").stat().st_size > 10_000
    assert (tmp_path / "cycles.nc").stat().st_size > 10_000
    done = shell("orbits", "column", *SPEC, "--set", "c_i=1.5", "--to", "78")
    assert "stable" in done.stdout
    assert "reached 78" in done.stdout


COMMANDS = {name: app.get_command(None, name) for name in HOMES}
FILES = ("--plot", "--save", "--film", "--animate")


@pytest.mark.parametrize(
    ("command", "option"), [(c, o) for c in COMMANDS.values() for o in c.params if o.opts[0] in FILES]
)
def test_files_that_cannot_be_written_are_refused_before_anything_is_computed(command, option, tmp_path):
    def refused(path):
        with pytest.raises(ParameterError) as problem:
            command.make_context(command.name, ["column", option.opts[0], str(path)], resilient_parsing=False)
        return str(problem.value)

    good = {"--save": "x.nc", "--animate": "x.gif"}.get(option.opts[0], "x.png")
    assert "no folder" in refused(tmp_path / "nowhere" / good)
    assert "'.xyz' is unknown" in refused(tmp_path / "x.xyz")
    assert "no ending" in refused(tmp_path / "x")
    (tmp_path / good).mkdir()
    assert "name a file" in refused(tmp_path / good)


@pytest.mark.parametrize(
    ("command", "python", "shell"),
    [
        ("critical", "name the parameter that grows, load='mc'", "name the parameter that grows, --load-parameter mc"),
        ("branch", "name the parameter that grows, load='mc'", "name the parameter that grows, --in mc"),
        ("spectrum", "give it with at(k=…)", "give it with --set k=VALUE"),
        ("hopf", "search farther with to=…, or", "search farther with --to VALUE, or"),
        ("simulate", "ask for project=True, or for method='taylor'", "ask for --project, or for --method taylor"),
        ("steady", "or give start={…} nearer to one", "or give --start NAME=VALUE nearer to one"),
        ("critical", "to=-3.0: the load is searched", "--to -3.0: the load is searched"),
        ("critical", "case.at(v=…).steady().branch('v', to=…)", "pfaff steady SYSTEM --set v=VALUE --in v --to VALUE"),
        ("simulate", "--set step=5: unknown", "--set step=5: unknown"),
        ("show", "search farther with to=…", "search farther with to=…"),
        ("branch", "bounds=(5.0, 1.0): write bounds=(0, 10)", "--bounds 5.0 1.0: write --bounds 0 10"),
    ],
)
def test_remedies_are_in_the_words_of_the_shell(command, python, shell):
    assert on_shell(python, COMMANDS[command]) == shell


def test_steady_motions(tmp_path):
    arguments = ["rolling_disc", "--fix", "phi_dot=2", "--in", "phi_dot", "--to", "0.1", "--save", "b.nc"]
    found = answer("steady", *arguments, folder=tmp_path)
    assert found["stable"]
    assert found["velocities"]["x_dot"] == 2
    assert found["eigenvalues"][0]["re"] == pytest.approx(0, abs=1e-12)
    followed = found["branch"]
    # upright rolling is stable above φ̇² = g/(3r) for a thin disc: 1/3 in these units
    assert [each["kind"] for each in followed["special"]] == ["divergence"]
    assert followed["special"][0]["value"] == pytest.approx(3**-0.5, rel=1e-10)
    assert (tmp_path / "b.nc").stat().st_size > 0


def test_flutter_alone_with_several_parameters_in_one_option():
    found = answer("flutter", "column", "--set", "d=1/2,M_L=15,I_L=15,k1=50,c_i=1.5")
    assert found["flutter"]["value"] == pytest.approx(76.3379703896335, rel=1e-12)


def test_the_version_is_told_and_errors_point_to_the_help_of_their_command():
    import pfaff

    assert shell("--version").stdout == f"pfaff {pfaff.__version__}\n"
    done = shell("flutter", "column", "--bogus")
    assert done.returncode == 2
    assert "see" in done.stderr
    assert "flutter --help" in done.stderr


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("pfaff show roll", {"rolling_disc", "rolling_hoop"}),
        ("pfaff flutter column --set k1=50,M_", {"k1=50,M_L=", "k1=50,M_X="}),
        ("pfaff critical column --constraint b", {"bow"}),
        ("pfaff reproduce maz", {"mazzilli"}),
    ],
)
def test_the_shell_completes(typed, offered, monkeypatch, capsys):
    words = typed.split()
    monkeypatch.setenv("COMP_WORDS", typed)
    monkeypatch.setenv("COMP_CWORD", str(len(words) - 1))
    monkeypatch.setenv("_PFAFF_COMPLETE", "bash_complete")
    with pytest.raises(SystemExit):
        app(prog_name="pfaff")
    assert {line.partition(",")[2] for line in capsys.readouterr().out.splitlines()} == offered


def test_help_is_not_cut():
    assert "..." not in shell("--help").stdout.partition("Commands:")[2]


def test_parameters_are_shown_with_their_meanings():
    assert answer("show", "column")["meanings"]["F"] == "dead load"
    assert "wheel base [m]" in shell("show", "whipple_bicycle").stdout
