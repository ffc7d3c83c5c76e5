"""The studio without a browser: views, messages, lanes, lines that run, and who is let in."""

from __future__ import annotations

import base64
import io
import json
import os
import signal
import socket
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import sympy as sm

import pfaff
from conftest import XI_HAT
from pfaff.errors import ParameterError, RankError
from pfaff.studio import open_studio
from pfaff.studio.downloads import written
from pfaff.studio.growing import Diagram
from pfaff.studio.lanes import Live
from pfaff.studio.lines import source_of, text_of
from pfaff.studio.messages import LARGEST, request_from
from pfaff.studio.pulling import pulled
from pfaff.studio.session import Lanes, Session
from pfaff.studio.sights import mode_data, packed, paths_along, straight_paths
from pfaff.studio.subject import Subject, subject_of
from pfaff.studio.tasks import Tasks
from pfaff.studio.view import Plane, Step, View
from pfaff.studio.worker import Order

for needed in ("starlette", "uvicorn", "websockets"):
    pytest.importorskip(needed, reason="the extra studio is not installed")
client = pytest.importorskip("websockets.sync.client")
exceptions = pytest.importorskip("websockets.exceptions")

PATIENCE = 60.0  # seconds, on a machine that does other things, too


@pytest.fixture(scope="module")
def case(skate) -> Any:
    return skate.at(**XI_HAT, c_i=1.5, F=80)


@pytest.fixture(scope="module")
def subject(case) -> Subject:
    return subject_of(case, source=source_of(case))


@pytest.fixture(scope="module")
def lanes(subject) -> Iterator[Lanes]:
    made = Lanes(subject)
    yield made
    made.close()


class Page:
    """What a page would hear."""

    def __init__(self, subject: Subject, lanes: Lanes) -> None:
        self.answers: list[dict[str, Any]] = []
        self.session = Session(subject, lanes, lambda text: self.answers.append(json.loads(text)))
        self.number = 0

    def ask(self, kind: str, **fields: Any) -> int:
        self.number += 1
        self.session.hear(json.dumps({"kind": kind, "id": self.number, **fields}))
        return self.number

    def wait(self, card: str, number: int, more: bool = False) -> dict[str, Any]:
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            for answer in list(self.answers):
                if answer["card"] == card and answer["id"] == number and answer["more"] == more:
                    return answer
            time.sleep(0.005)
        raise AssertionError(f"no answer from {card}: {self.answers[-3:]}")


@pytest.fixture
def page(subject, lanes) -> Iterator[Page]:
    made = Page(subject, lanes)
    yield made
    made.session.close()


# Views


VIEW = View(
    values={"d": "1/2", "k1": "50", "c_i": "sqrt(2) + 1e-3"},
    load="F",
    to="120",
    start={"theta1": "0.1"},
    duration="5",
    selected="point:1.12",
    steps=(Step("branch", "120", "F"), Step("orbits", "90", of=0, special=1), Step("curve", "3*2", "c_i", 1, 0)),
    grown={"d": "1/2", "k1": "50 & more = #?"},
    plane=Plane("c_i", "M_L", ("0", "1/2", "3", "4"), "l1"),
)


def test_a_view_is_an_address_and_a_message():
    assert View.at_address(VIEW.address) == VIEW
    assert View.told(json.loads(json.dumps(VIEW.data))) == VIEW
    assert View.at_address("") == View()


@pytest.mark.parametrize(
    "address",
    [
        "evil=1",
        "grow=rm:1",
        "grow=switch:9",
        "grow=cycles@0.1:9",
        "grow=cycles:1&grow=switch@1.0:3",
        "selected=../x",
        "map=a;b",
    ],
)
def test_an_address_that_leads_nowhere_is_refused(address):
    with pytest.raises(ParameterError):
        View.at_address(address)


# Messages


@pytest.mark.parametrize(
    "text",
    [
        "",
        "null",
        "[]",
        "{",
        "[" * 20_000,
        '{"kind": "look"}',
        '{"kind": "__init__", "id": 1}',
        '{"kind": "look", "id": true, "view": {}}',
        '{"kind": "look", "id": 1, "view": {"values": {"F": 3}}}',
        '{"kind": "look", "id": 1, "view": {"values": [1]}}',
        '{"kind": "look", "id": 1, "view": {"nonsense": 1}}',
        '{"kind": "look", "id": 1, "view": {}, "more": 1}',
        '{"kind": "pull", "id": 1, "view": {}, "point": "end", "at": [NaN, 1]}',
        '{"kind": "pull", "id": 1, "view": {}, "point": "end", "at": [1, 2, 3, 4]}',
        json.dumps({"kind": "open", "id": 1, "address": "x" * LARGEST}),
        b"bytes",
    ],
)
def test_malformed_messages_are_refused_in_words(page, text):
    with pytest.raises(ParameterError):
        request_from(text)
    page.session.hear(text)
    assert page.answers[-1]["error"]


def test_nothing_of_the_page_is_evaluated(page):
    number = page.ask("look", view={"values": {"k1": "__import__('os').getpid()"}})
    assert page.wait("spectrum", number)["error"].startswith("k1=\"__import__('os').getpid()\" is not a number")


# The live lane


def test_the_spectrum_of_the_page_is_that_of_the_case(page, case):
    number = page.ask(
        "look", view=VIEW.data | {"values": {"k1": "100/2", "c_i": "3/2", "F": "81.5"}, "selected": "lead"}
    )
    found = page.wait("spectrum", number)
    expected = case.at(c_i=1.5, F=81.5, M_L=case.values["M_L"]).spectrum()
    assert np.array(found["data"]["re"]) + 1j * np.array(found["data"]["im"]) == pytest.approx(
        expected.values, rel=1e-13
    )
    assert found["status"] == expected.status
    assert page.wait("structure", number)["data"]["scene"]["points"]
    assert page.wait("lines", number)["data"]["numbers"]["k1"] == 50


@pytest.mark.parametrize("beta0", [0, 0.05], ids=["all at once", "one by one"])
def test_eigenvalues_against_the_load_are_those_of_the_path(case, subject, beta0):
    view = replace(subject.opening(), values={**subject.opening().values, "beta0": str(beta0)}, to="60")
    paths = straight_paths(subject, view)
    assert (paths is None) == bool(beta0)
    paths = paths or next(paths_along(subject, view))
    for k in (0, len(paths.loads) // 3, -1):
        expected = case.at(beta0=beta0).path("F", {}).linearise(float(paths.loads[k])).eigenvalues()
        assert np.sort_complex(paths.values[k]) == pytest.approx(np.sort_complex(expected), rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("name", ["towed_wheel", "snaking_trailer", "rocking_suitcase"])
def test_eigenvalues_against_the_speed_of_what_is_towed(name):
    """At rest the constraint conserves what it does not when it moves: one eigenvalue more, in other directions."""
    towed = subject_of(getattr(pfaff.atlas, name)())
    lanes = Lanes(towed)
    page = Page(towed, lanes)
    number = page.ask("look", view=towed.opening().data)
    curves = page.wait("curves", number)
    assert not curves.get("error")
    paths = next(paths_along(towed, towed.opening()))
    path = towed.bound(towed.opening()).path("v", {})
    counts = [int(np.isfinite(row).sum()) for row in paths.values]
    assert counts == [counts[1] - 1, *[counts[1]] * (len(counts) - 1)]
    for k in (0, 1, len(paths.loads) // 2, -1):
        expected = path.linearise(float(paths.loads[k])).eigenvalues()
        found = paths.values[k][np.isfinite(paths.values[k])]
        assert np.sort_complex(found) == pytest.approx(np.sort_complex(expected), rel=1e-9, abs=1e-9)
    page.session.close()
    moving, resting = (path.linearise(v) for v in (1.0, 0.0))
    with pytest.raises(RankError, match="no common directions"):
        moving.mode(1j, resting)


def test_a_path_that_folds_ends_where_it_does():
    x, mu = sm.symbols("x mu", real=True)
    bent = subject_of(pfaff.ode({x: 1 - mu - (x + 1) ** 2}, parameters={mu: 0}, load=mu))
    view = replace(bent.opening(), to="3")
    assert straight_paths(bent, view) is None
    last = next(paths_along(bent, view))
    assert last.loads[-1] == pytest.approx(1)
    assert "folds back at mu = 1" in last.ended


def test_the_latest_request_wins():
    seen, gate = [], threading.Event()

    def work(item: int) -> Iterator[None]:
        gate.wait(PATIENCE)
        seen.append(item)
        yield
        seen.append(-item)  # outdated before this
        yield

    live = Live(work)
    live.ask(1)
    time.sleep(0.1)
    for item in range(2, 50):
        live.ask(item)
    gate.set()
    deadline = time.monotonic() + PATIENCE
    while -49 not in seen and time.monotonic() < deadline:
        time.sleep(0.01)
    live.close()
    assert seen == [1, 49, -49]


def test_a_card_that_fails_leaves_the_others(sleigh):
    """No drawing, no load: each is said in its own card."""
    own = subject_of(sleigh)
    lanes = Lanes(own)
    page = Page(own, lanes)
    number = page.ask("look", view=own.opening().data)
    assert "has no drawing" in page.wait("structure", number)["error"]
    assert "declares no load" in page.wait("curves", number)["error"]
    assert page.wait("spectrum", number)["status"].startswith("stable")
    page.session.close()


def test_an_equilibrium_is_looked_at_where_it_belongs(page, subject, case):
    view = replace(subject.opening(), selected="equilibrium:0")
    assert "not known yet" in page.wait("spectrum", page.ask("look", view=view.data))["error"]
    page.session.held.equilibria = [case.equilibrium()]
    assert page.wait("spectrum", page.ask("look", view=view.data))["status"] == case.spectrum().status
    other = replace(view, values={**view.values, "F": "70"})
    assert "other values" in page.wait("spectrum", page.ask("look", view=other.data))["error"]


def test_a_fault_ends_no_lane(page, subject, monkeypatch):
    def singular(*_: Any) -> None:
        raise np.linalg.LinAlgError("Singular matrix")

    monkeypatch.setattr("pfaff.studio.session.straight_paths", singular)
    view = replace(subject.opening(), to="33").data
    assert page.wait("curves", page.ask("look", view=view))["error"] == "LinAlgError: Singular matrix"
    monkeypatch.undo()
    assert page.wait("curves", page.ask("look", view=view))["data"]["to"] == 33


def test_modes_of_an_assembly_grow_in_a_picture_if_its_verdict_says_so(monkeypatch):
    """Arnoldi's method leaves squares of frequencies with small imaginary parts, whose roots have real ones."""
    from pfaff.stability import large

    exact = large.lowest_squares
    noisy = lambda *given: (exact(*given)[0] * (1 + 1e-8j), exact(*given)[1])  # noqa: E731
    monkeypatch.setattr(large, "lowest_squares", noisy)
    many = subject_of(pfaff.atlas.column_assembly(6))
    roots = many.roots(many.opening())
    assert roots.values.real.max() > 1e-9 * np.abs(roots.values).max()
    assert roots.status.startswith("stable")
    assert not roots.growing.any()


def test_odes_and_assemblies_are_shown():
    x, y = sm.symbols("x y")
    mu = sm.Symbol("mu", real=True)
    plain = subject_of(pfaff.ode({x: mu * x - y - x**3, y: x + mu * y}, parameters={mu: -0.1}, load=mu))
    assert plain.roots(plain.opening()).values == pytest.approx(plain.case.spectrum().values)
    assert not plain.facts()["drawn"]
    many = subject_of(pfaff.atlas.column_assembly(6))
    flutter = many.assembly.flutter().value
    for share, grows in ((0.99, False), (1.01, True)):
        found = many.roots(replace(many.opening(), values={"F": str(share * flutter)}))
        assert found.growing.any() == grows


# Lines


def run(text: str, **given: Any) -> SimpleNamespace:
    names: dict[str, Any] = dict(given)
    exec(compile(text, "lines", "exec"), names)
    return SimpleNamespace(**names)


def test_the_lines_give_the_same_numbers(subject, page, capsys):
    opening = subject.opening()
    steps = (Step("cycles", "78", "F"),)
    view = replace(
        opening,
        values={**opening.values, "F": "77", "c_i": "3/2", "k1": "25*2"},
        grown=opening.values,
        to="120",
        steps=steps,
        start={"theta1": "1/10"},
        duration="2",
        selected="point:0.5",
    )
    number = page.ask("grow", view=view.data)
    ended = page.wait("diagram", number)
    assert not ended["error"]
    look = page.ask("look", view=view.data)
    shown = page.wait("spectrum", look)
    lines = page.wait("lines", look)["data"]["text"]
    found = run(lines)
    assert found.case.numbers == pytest.approx(subject.bound(view).numbers)
    assert found.cycles.status == ended["status"]
    assert np.array(shown["data"]["re"]) == pytest.approx(found.point.multipliers.real, abs=1e-9)
    assert shown["data"]["circle"]
    told = [each["data"] for each in page.answers if each["card"] == "diagram" and "point" in each["data"]]
    assert sorted(each["place"] for each in told) == list(range(len(found.cycles)))
    for each in told:
        assert found.cycles[each["place"]].value == pytest.approx(each["point"]["values"]["F"], rel=1e-12)
        assert found.cycles[each["place"]].period == pytest.approx(each["point"]["period"], rel=1e-9)
    assert found.critical.flutter.value == pytest.approx(76.33797038963)
    assert found.motion["theta1"][0] == 0.1
    capsys.readouterr()


def test_lines_of_maps_and_of_files(tmp_path, subject):
    view = replace(subject.opening(), plane=Plane("c_i", "M_L", ("1/2", "2", "5", "20"), "growth"))
    text = text_of(subject, view).replace("33)", "2)")
    growth = run(text).study.dataset["growth"]
    assert growth.sel(c_i=0.5, M_L=20) == pytest.approx(subject.case.at(c_i=0.5, M_L=20).spectrum().values.real.max())
    own = tmp_path / "mine.py"
    own.write_text("import pfaff\n\ndef made():\n    return pfaff.atlas.ziegler()\n\nstated = made()\n")
    given = pfaff.atlas.ziegler().at()
    about = subject_of(given, source={"file": str(own), "called": "stated", "made": False})
    assert run(text_of(about, about.opening())).spectrum.values == pytest.approx(given.spectrum().values)


def test_steady_motions_are_looked_at_and_followed(capsys):
    """A disc that rolls upright: the spectrum of the page, and the branch over its spin to φ̇² = g/(3r)."""
    disc = pfaff.atlas.rolling_disc().at()
    about = subject_of(disc, source=source_of(disc))
    start = {"phi_dot": "2"}
    view = View(start=start, selected="steady", steps=(Step("steady", "3/10", "phi_dot"),), grown=start)
    words: list[Any] = []
    ended = Diagram(about).grow(view, lambda *said: words.append(said))
    found = run(text_of(about, view))
    assert about.roots(view).values == pytest.approx(found.spectrum.values)
    assert found.equilibria.status == ended["status"]
    special = next(said[0]["special"] for said in words if "special" in said[0])
    assert special[0]["kind"] == "divergence"
    assert special[0]["values"]["phi_dot"] == pytest.approx(3**-0.5)
    capsys.readouterr()


def test_a_branch_point_is_switched_at_and_a_fold_followed_in_two_parameters(capsys):
    x, mu, nu = sm.symbols("x mu nu", real=True)
    fork = pfaff.ode({x: nu + mu * x - x**3}, parameters={mu: -1, nu: 0}, load=mu, name="fork")
    about = subject_of(fork)
    steps = ("branch:mu:1", "switch@0.0:1")
    view = View(load="mu", steps=tuple(map(Step.parsed, steps)))
    words: list[Any] = []
    Diagram(about).grow(view, lambda *said: words.append(said[0]))
    kinds = [said["begun"]["kind"] for said in words if "begun" in said]
    assert kinds == ["equilibria", "equilibria"]
    ends = [said["point"] for said in words if said.get("step") == 1 and "point" in said]
    assert max(abs(end["high"]["x"]) for end in ends) == pytest.approx(1)  # x² = μ
    found = run(text_of(about, view).replace("system = …", "system = given"), given=fork)
    assert found.equilibria2[-1].state["x"] ** 2 == pytest.approx(1)
    bent = replace(
        view, grown={"nu": "0.1", "mu": "1"}, steps=tuple(map(Step.parsed, ("branch:mu:-1", "curve@0.0:nu:0.3")))
    )
    words.clear()
    Diagram(about).grow(bent, lambda *said: words.append(said[0]))
    folds = [said["point"]["values"] for said in words if said.get("step") == 1 and "point" in said]
    assert len(folds) > 3
    for fold in folds:
        assert 27 * fold["nu"] ** 2 == pytest.approx(4 * fold["mu"] ** 3)
    with pytest.raises(pfaff.PfaffError, match="there are 1 special points, and not number 7"):
        Diagram(about).grow(replace(bent, steps=(bent.steps[0], Step("curve", "1", "nu", 0, 7))), lambda *said: None)
    capsys.readouterr()


def test_the_map_of_a_store_is_shown(tmp_path, case):
    axes = {"c_i": [1.0, 2.0, 3.0], "M_L": [10.0, 20.0]}
    path = tmp_path / "map.nc"
    study = case.sweep(axes, "growth", path).run()
    about = subject_of(case, store=str(path))
    assert about.facts()["stored"] == {"names": ["growth"], "axes": {"c_i": [1.0, 3.0], "M_L": [10.0, 20.0]}}
    view = replace(about.opening(), plane=Plane("c_i", "M_L", ("1", "3", "10", "20"), "store/growth"))
    shown = Tasks(about).map(view, lambda *said: None)
    numbers = np.frombuffer(base64.b64decode(shown["values"]), "<f4").reshape(2, 3)
    assert pytest.approx(study.dataset["growth"].to_numpy(), rel=1e-6) == numbers.T


def test_the_shell_opens_whatever_is_stated(tmp_path, monkeypatch):
    from click.testing import CliRunner

    from pfaff.cli import app

    opened: list[Any] = []
    monkeypatch.setattr("pfaff.studio.open_studio", lambda given, **options: opened.append((given, options)))
    own = tmp_path / "mine.py"
    own.write_text("import pfaff\nmade = pfaff.atlas.ziegler\nmany = pfaff.atlas.column_assembly(4)\n")
    for arguments in (
        ["column", "--bars", "3", "--set", "k1=1/2,F=2"],
        [f"{own}:made", "--set", "F=1"],
        [f"{own}:many"],
    ):
        result = CliRunner().invoke(app, ["studio", *arguments, "--no-browser"], catch_exceptions=False)
        assert result.exit_code == 0, result.output
    (column, options), (ziegler, about), (many, _) = opened
    assert column.values["k1"] == sm.Rational(1, 2)
    assert options["port"] == 0
    assert about["stated"] == f"{own}:made"
    source = source_of(ziegler, about["stated"])
    assert source["made"]
    lines = text_of(subject_of(ziegler, source=source), View(values={"F": "1"}))
    assert run(lines).case.values["F"] == 1
    assert subject_of(many).kind == "assembly"


def test_files_hold_what_is_shown(case):
    about = subject_of(case)
    tasks = Tasks(about)
    name, table = written(tasks, about.opening(), "spectrum", "csv")
    assert name == "column_of_2_bars_with_skate_under_dead_load_spectrum.csv"
    rows = np.loadtxt(io.BytesIO(table), delimiter=",", skiprows=1)
    assert rows[:, 0] + 1j * rows[:, 1] == pytest.approx(case.spectrum().values, rel=1e-15)
    assert written(tasks, about.opening(), "structure", "svg")[1].startswith(b"<?xml")
    with pytest.raises(ParameterError, match="no branch is followed yet"):
        written(tasks, about.opening(), "diagram", "nc")


# Pulling


def test_a_structure_is_pulled_to_the_mouse(case):
    from pfaff.draw.scene import scene_of

    target = np.array([0.8, 0.3])
    q, _ = pulled(case, "joint2", target)
    assert scene_of(case, q[:, None], np.zeros(1)).points["joint2"][0] == pytest.approx(target, abs=0.02)
    assert q[2] == 0  # the block stays where it is
    crank = pfaff.atlas.slider_crank().at()
    points = list(crank.system.drawing.points)
    q, _ = pulled(crank, points[1], np.array([0.1, 0.3]))
    start = dict(zip(crank.system.coordinate_names, q, strict=True))
    assert crank.simulate(0.01, project=True, samples=2, **start).finished


# Background lanes


def test_a_process_that_dies_is_replaced_and_one_that_is_interrupted_keeps_what_it_has(subject, lanes):
    lane = lanes["diagram"]
    words: list[tuple[Any, ...]] = []

    def hear(*message: Any, ms: float = 0.0) -> None:
        words.append(message)

    def until(fits: Any) -> tuple[Any, ...]:
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            for message in words:
                if fits(message):
                    return message
            time.sleep(0.005)
        raise AssertionError(words[-2:])

    far = replace(subject.opening(), grown=subject.opening().values, steps=(Step("cycles", "400", "F"),))
    lane.ask(1, Order("diagram", far), hear)
    until(lambda message: message[0] == "said" and "point" in message[1])
    lane.cancel(1)
    assert "interrupted" in until(lambda message: message[0] == "done")[1]["status"]
    words.clear()
    lane.ask(1, Order("diagram", replace(far, steps=(Step("cycles", "401", "F"),))), hear)
    until(lambda message: message[0] == "said" and "point" in message[1])
    assert lane._process is not None
    os.kill(lane._process.pid, signal.SIGKILL)
    assert until(lambda message: message[0] == "failed")[1].startswith("its process died (exit code -9)")
    words.clear()
    resting = replace(far, steps=(Step("branch", "85", "F"),))
    lane.ask(1, Order("diagram", resting), hear)
    assert "reached 85" in until(lambda message: message[0] == "done")[1]["status"]


# Who is let in


@pytest.fixture(scope="module")
def running(case) -> Iterator[Any]:
    made = open_studio(case, browser=False, wait=False)
    yield made
    made.stop()


def parts(running: Any) -> tuple[str, str]:
    host, _, token = running.address.removeprefix("http://").partition("/#token=")
    return host, token


def dial(running: Any, token: str | None = None, origin: str | None = None, host: str | None = None) -> Any:
    at, known = parts(running)
    name, _, port = at.partition(":")
    return client.connect(
        f"ws://{host or at}/live",
        sock=socket.create_connection((name, int(port))),
        subprotocols=["pfaff", known if token is None else token],  # type: ignore[list-item]
        origin=origin or f"http://{at}",  # type: ignore[arg-type]
        proxy=None,
    )


def test_the_right_page_is_let_in(running):
    with dial(running) as line:
        line.send(json.dumps({"kind": "open", "id": 1, "address": ""}))
        assert json.loads(line.recv(PATIENCE))["data"]["facts"]["kind"] == "system"
        line.send("nonsense")
        assert "JSON" in json.loads(line.recv(PATIENCE))["error"]


def test_a_wrong_token_is_refused(running):
    for token in ("wrong", parts(running)[1][:-1]):
        with dial(running, token) as line, pytest.raises(exceptions.ConnectionClosed) as closed:
            line.recv(PATIENCE)
        assert closed.value.rcvd is not None
        assert closed.value.rcvd.code == 4401


@pytest.mark.parametrize("foreign", [{"origin": "http://evil.example"}, {"origin": "null"}, {"host": "evil.example"}])
def test_other_sites_and_rebound_names_are_refused(running, foreign):
    with pytest.raises(exceptions.InvalidStatus) as refused, dial(running, **foreign):
        pass
    assert refused.value.response.status_code == 403


def test_an_oversized_message_ends_the_connection(running):
    with dial(running) as line:
        line.send("x" * 2**19)
        with pytest.raises(exceptions.ConnectionClosed):
            line.recv(PATIENCE)


def fetch(running: Any, path: str, **options: Any) -> Any:
    host, _ = parts(running)
    asked = urllib.request.Request(f"http://{host}{path}", **options)
    return urllib.request.build_opener(urllib.request.ProxyHandler({})).open(asked, timeout=PATIENCE)


def test_pages_have_a_strict_policy_and_nothing_else_is_served(running):
    answer = fetch(running, "/")
    policy = answer.headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert b"/web/studio.js" in answer.read()
    assert b"class Player" in fetch(running, "/web/player.js").read()
    for path in ("/web/../server.py", "/web/%2e%2e%2fserver.py", "/web/server.py", "/etc/passwd", "/file"):
        with pytest.raises(urllib.error.HTTPError) as refused:
            fetch(running, path)
        assert refused.value.code in (404, 405)
    with pytest.raises(urllib.error.HTTPError) as refused:
        fetch(running, "/", headers={"Host": "evil.example"})
    assert refused.value.code == 403


def test_files_need_the_token(running):
    host, token = parts(running)
    body = json.dumps(
        {"what": "lines", "kind": "ipynb", "view": subject_of(running.studio.subject.case).opening().data}
    )
    head = {"Origin": f"http://{host}"}
    with pytest.raises(urllib.error.HTTPError) as refused:
        fetch(running, "/file", data=body.encode(), headers=head)
    assert refused.value.code == 401
    known = {**head, "Authorization": f"Bearer {token}"}
    made = json.loads(fetch(running, "/file", data=body.encode(), headers=known).read())
    assert "case.spectrum()" in "".join(cell["source"] for cell in made["cells"] if cell["cell_type"] == "code")
    for wrong in (b"{", b"[]", json.dumps({"what": "x", "kind": "y", "view": {}}).encode(), b"x" * 2 * LARGEST):
        with pytest.raises(urllib.error.HTTPError) as refused:
            fetch(running, "/file", data=wrong, headers=known)
        assert refused.value.code in (400, 422)


def test_arrays_are_packed_as_in_films():
    assert packed(np.array([0.0, 1.0])) == "AAAAAAAAgD8="


# Names and texts that a shared address may bring


EVIL = "x=0)\nimport os; os.abort()  #"


@pytest.mark.parametrize(
    "view",
    [
        View(values={EVIL: "1"}),
        View(start={EVIL: "1"}),
        View(start={"samples": "1e12"}),
    ],
)
def test_no_name_of_a_view_becomes_a_line_or_an_argument_unless_it_is_ours(subject, view):
    many = subject_of(pfaff.atlas.column_assembly(3))
    for about in (subject, many):
        with pytest.raises(ParameterError, match="has no|is none of"):
            text_of(about, replace(view, selected="motion"))
        with pytest.raises(ParameterError, match="has no|is none of"):
            Tasks(about).moved(replace(view, duration="0.01"))


def test_a_measure_of_a_store_is_no_code(subject):
    plane = Plane("c_i", "M_L", ("1", "3", "10", "20"), "store/x\nimport os #")
    text = text_of(replace(subject, store="map.nc"), replace(subject.opening(), plane=plane))
    assert not any(line.startswith("import os") for line in text.splitlines())


def test_numbers_that_python_spells_otherwise_still_run(subject):
    for text, value in (("010", 10), ("1.", 1), (".5", 0.5), ("+2", 2), ("007.25", 7.25), ("1E1", 10)):
        view = replace(subject.opening(), values={"F": text}, load="")
        lines = text_of(subject, view).partition("spectrum")[0]
        assert float(run(lines).case.values["F"]) == value


# What may go wrong beneath


def test_whatever_a_page_says_is_answered_and_can_be_sent(page, monkeypatch):
    many = "&".join(f"set.a{k}=1" for k in range(500))
    for message in (
        {"kind": "open", "id": 1, "address": many},
        {"kind": "look", "id": 2, "view": {"selected": "\ud800"}},
    ):
        page.session.hear(json.dumps(message))
        assert page.answers[-1]["error"]
    sent: list[str] = []
    monkeypatch.setattr(page.session, "_send", sent.append)
    page.session.hear('{"kind": "\\ud800", "id": 1}')
    assert sent[-1].encode()
    monkeypatch.setattr("pfaff.studio.session.Lanes.__getitem__", lambda *_: 1 / 0)
    page.session.hear(json.dumps({"kind": "cancel", "id": 3, "lane": "map"}))
    assert "ZeroDivisionError" in sent[-1]


def test_what_is_no_number_is_said_in_words(page):
    page.session._told("diagram", 7, "said", {"step": 0, "place": 0, "point": {"period": float("nan")}})
    assert "not a finite number" in page.answers[-1]["error"]


def test_a_lane_outlives_whoever_listens_and_a_process_that_died_while_idle(subject):
    lane, heard = Lanes(subject)["critical"], []

    def deaf(*words: Any, ms: float = 0.0) -> None:
        raise ValueError(words)

    def done(*words: Any, ms: float = 0.0) -> None:
        heard.append(words)

    warm = Order("warm", View())
    lane.ask(1, warm, deaf)
    lane.ask(2, warm, done)
    deadline = time.monotonic() + PATIENCE
    while not heard and time.monotonic() < deadline:
        time.sleep(0.01)
    assert heard[0][0] == "done"
    assert lane._process is not None
    os.kill(lane._process.pid, signal.SIGKILL)
    lane._process.wait()
    lane.ask(2, warm, done)
    while len(heard) < 2 and time.monotonic() < deadline:
        time.sleep(0.01)
    assert heard[1][0] == "done"
    lane.close()


def test_a_process_that_cannot_be_started_is_said_in_words(subject, monkeypatch):
    lane, heard = Lanes(subject)["critical"], []

    def full(*_: Any, **__: Any) -> None:
        raise OSError("no memory")

    monkeypatch.setattr("pfaff.studio.lanes.subprocess.Popen", full)
    lane.ask(1, Order("warm", View()), lambda *words, ms=0.0: heard.append(words))
    deadline = time.monotonic() + 5
    while not heard and time.monotonic() < deadline:
        time.sleep(0.01)
    assert heard[0][0] == "failed"
    assert "no memory" in heard[0][1]
    lane.close()


def test_a_file_that_takes_too_long_is_given_up(running, monkeypatch):
    host, token = parts(running)
    monkeypatch.setattr("pfaff.studio.server.PATIENCE", 0.05)
    given_up: list[Any] = []
    monkeypatch.setattr("pfaff.studio.lanes.Lane.cancel", lambda lane, client: given_up.append(lane.name))
    body = json.dumps({"what": "curves", "kind": "svg", "view": running.studio.subject.opening().data}).encode()
    head = {"Origin": f"http://{host}", "Authorization": f"Bearer {token}"}
    odd = json.dumps({"what": "\ud800", "kind": "svg", "view": {}}).encode()
    for wrong, code in ((b"[" * 60_000, 400), (odd, 422), (body, 422)):
        with pytest.raises(urllib.error.HTTPError) as refused:
            fetch(running, "/file", data=wrong, headers=head)
        assert refused.value.code == code
    assert "critical" in given_up


def test_pictures_of_odes_are_drawn_or_refused_in_words():
    x, y = sm.symbols("x y")
    mu, nu = sm.symbols("mu nu", real=True)
    plain = {x: mu * x - y - x**3 - x * y**2, y: x + mu * y - y**3 - y * x**2}
    about = subject_of(pfaff.ode(plain, parameters={mu: -0.1, nu: 1}, load=mu, name="normal form"))
    tasks, view = Tasks(about), about.opening()
    assert written(tasks, view, "curves", "svg")[1].startswith(b"<?xml")
    assert written(tasks, view, "equilibria", "svg")[1].startswith(b"<?xml")
    with pytest.raises(ParameterError, match="plain ODE"):
        written(tasks, replace(view, duration="0.1"), "motion", "html")
    plane = Plane("mu", "nu", ("-1", "1", "0", "1"), "growth")
    growth = tasks.charted(replace(view, plane=plane), 3).dataset["growth"]
    assert growth.sel(mu=1, nu=0) == pytest.approx(1)
    found = run(text_of(about, replace(view, plane=plane)).replace("system = …", "system = given").replace("33)", "2)"),
                given=about.case.system)  # fmt: skip
    assert found.study.dataset["growth"].sel(mu=-1, nu=1) == pytest.approx(-1)


def test_rounding_is_not_shown_as_growth():
    """Undamped: the leading mode neither grows nor decays, and its sentence says so."""
    still = subject_of(pfaff.atlas.ziegler())
    view = still.opening()
    assert mode_data(still, view, still.roots(view))["text"].endswith("mode of the eigenvalue ± 1.713 i.")


@pytest.mark.parametrize("host", ["", "0.0.0.0", 5, None])
def test_one_address_is_listened_at_and_not_all_of_them(case, host):
    with pytest.raises(ParameterError, match="host="):
        open_studio(case, host=host, browser=False, wait=False).stop()


def test_what_is_no_system_is_refused():
    with pytest.raises(ParameterError, match="give a system"):
        subject_of("column")


def test_lines_give_names_of_arguments_and_quasi_velocities_in_a_way_that_runs():
    (step,), lam, t = pfaff.statement.coordinates("step"), sm.Symbol("lambda"), sm.Symbol("t")
    system = pfaff.System(
        [step], step.diff(t) ** 2 / 2, lam * step**2, parameters={lam: 1}, quasi_velocities={"v": 2 * step.diff(t)}
    )
    subject = subject_of(system.at())
    assert [each["name"] for each in subject.states()] == ["step", "step_dot", "v"]
    view = View(values={"lambda": "2"}, start={"step": "0.5", "v": "1"}, duration="1")
    text = text_of(subject, view)
    assert "system.at({'lambda': 2})" in text
    assert "case.simulate(1, initial={'step': 0.5, 'v': 1})" in text
    names: dict = {"system": system}
    exec("\n".join(line for line in text.splitlines() if line.startswith(("case", "motion"))), names)
    assert names["motion"]["step"][0] == 0.5
