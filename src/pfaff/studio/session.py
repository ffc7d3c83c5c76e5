"""One page and its requests: requests in, answers out, by whatever transport."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from threading import Lock
from typing import Any

import numpy as np

from pfaff.draw.labels import letters
from pfaff.errors import ParameterError, PfaffError
from pfaff.statement.values import one_of
from pfaff.studio import messages as m
from pfaff.studio.growing import Kept
from pfaff.studio.lanes import Lane, Live
from pfaff.studio.lines import text_of
from pfaff.studio.messages import Answer
from pfaff.studio.pulling import pulled
from pfaff.studio.sights import film_data, mode_data, packed, rest_data, roots_data, straight_paths
from pfaff.studio.subject import Roots, Stated, Subject
from pfaff.studio.view import View
from pfaff.studio.worker import Order

LANES = ("critical", "motion", "equilibria", "diagram", "map")
PATIENCE = {"critical": 1.0, "diagram": float("inf")}  # seconds that outdated work may still go on
ASKED: Mapping[type, str] = {m.Grow: "diagram", m.Simulate: "motion", m.Find: "equilibria", m.Chart: "map"}
LONGEST = 500  # characters of a fault
NOT_FINITE = "a result is not a finite number here: nothing is shown of it"
CYCLE = 3.0  # seconds that an orbit is played for


@dataclass
class Held:
    """Results found in the background that may be looked at: points of diagrams, equilibria."""

    points: dict[tuple[int, int], Kept] = field(default_factory=dict)
    equilibria: list[Any] = field(default_factory=list)


class Lanes:
    """The background lanes of a studio, started when first needed and shared by its pages."""

    def __init__(self, subject: Subject) -> None:
        self._subject, self._lock = subject, Lock()
        self._known: dict[str, Lane] = {}

    def __getitem__(self, name: str) -> Lane:
        one_of(LANES, name, "no lane")
        with self._lock:
            if name not in self._known:
                self._known[name] = Lane(name, self._subject)
            return self._known[name]

    def warm(self, name: str) -> None:
        """Start a lane's process in advance."""
        if name not in self._known:
            self[name].ask(None, Order("warm", View()), lambda *words, ms: None)

    def close(self) -> None:
        for lane in self._known.values():
            lane.close()

    def forget(self, client: Any) -> None:
        for lane in self._known.values():
            lane.cancel(client)


def _said(problem: Exception) -> str:
    """The sentence of an error of ours; a fault ends no lane, and is named."""
    return str(problem) if isinstance(problem, PfaffError) else f"{type(problem).__name__}: {problem}"[:LONGEST]


class Session:
    """Requests of one page; ``send`` may be called from any thread."""

    def __init__(self, subject: Subject, lanes: Lanes, send: Callable[[str], None]) -> None:
        self.subject, self.lanes, self._send = subject, lanes, send
        self.held = Held()
        self._paths_of: Any = None
        self._live: Live[m.Request] = Live(self._work)

    def hear(self, text: Any) -> None:
        """Take a message of the page; whatever is wrong with it is answered in words."""
        try:
            request = m.request_from(text)
            if isinstance(request, m.Open):
                self._open(request)
            elif isinstance(request, m.Look | m.Pull):
                self._live.ask(request)
            elif isinstance(request, m.Cancel):
                self.lanes[request.lane].cancel(self)
            else:
                self._ask(ASKED[type(request)], request)
        except Exception as problem:
            self.send(Answer("page", error=_said(problem)))

    def send(self, answer: Answer) -> None:
        """Send an answer; one that JSON cannot carry is replaced by a message, since a silent card would wait for
        ever."""
        try:
            text = answer.text
        except ValueError:
            text = replace(answer, data={}, status="", error=NOT_FINITE).text
        self._send(text)

    def close(self) -> None:
        self._live.close()
        self.lanes.forget(self)

    def _open(self, request: m.Open) -> None:
        facts = self.subject.facts()
        problem = ""
        try:
            view = View.at_address(request.address) if request.address else self.subject.opening()
        except PfaffError as why:
            view, problem = self.subject.opening(), f"this address leads nowhere: {why}"
        self._paths_of = None
        self.send(Answer("page", request.id, {"facts": facts, "view": view.data}, error=problem))

    # The live lane

    def _work(self, request: m.Request) -> Iterator[None]:
        if isinstance(request, m.Pull):
            self._answer("structure", request.id, partial(self._pull, request))
            yield
        elif isinstance(request, m.Look):
            yield from self._look(request)

    def _look(self, request: m.Look) -> Iterator[None]:
        view, number = request.view, request.id
        found: list[Roots] = []
        self._answer("spectrum", number, lambda: self._spectrum(view, found))
        yield
        self._answer("structure", number, lambda: self._structure(view, found[0] if found else None))
        yield
        self._answer("lines", number, lambda: self._lines(view))
        yield
        yield from self._along(view, number)

    def _answer(self, card: str, number: int, make: Callable[[], tuple[dict[str, Any], str] | None]) -> None:
        """Answer one card; if it fails, it says so, and the others go on."""
        started = time.perf_counter()
        try:
            made = make()
            if made is None:
                return
            data, status = made
            answer = Answer(card, number, data, status, ms=1e3 * (time.perf_counter() - started))
            self.send(answer)
        except Exception as problem:
            self.send(Answer(card, number, error=_said(problem)))

    def _spectrum(self, view: View, found: list[Roots]) -> tuple[dict[str, Any], str]:
        kept = self._kept(view)
        if kept is not None:
            roots = Roots(kept.roots, kept.growing, 0, kept.status)
            return {**roots_data(roots), "circle": not kept.at_rest}, kept.status
        about = None
        if view.shows == "equilibrium":
            about = self._equilibrium(view)
        roots = self.subject.roots(view, about)
        found.append(roots)
        return {**roots_data(roots), "circle": False}, roots.status

    def _structure(self, view: View, roots: Roots | None) -> tuple[dict[str, Any], str] | None:
        kept, subject = self._kept(view), self.subject
        if subject.why_no_drawing:
            if kept is None or kept.at_rest:
                raise ParameterError(subject.why_no_drawing)
            curves = [{"name": letters(name), "values": packed(row)} for name, row in kept.rows.items()]
            return {"t": packed(kept.t), "curves": curves}, kept.status
        assert isinstance(subject, Stated)
        if kept is not None:
            case: Any = subject.grown(view).unchecked(**kept.values)
            names = case.system.coordinate_names
            q = np.array([kept.rows.get(name, np.zeros(len(kept.t))) for name in names])
            film = (
                rest_data(subject, case, q[:, 0], kept.status)
                if kept.at_rest
                else film_data(case, q, kept.t, kept.status, CYCLE)
            )
            return {"scene": film}, kept.status
        if view.shows == "motion":
            return None  # the film comes from its own lane
        if roots is None:
            case = subject.bound(view)
            return {"scene": rest_data(subject, case, np.zeros(len(case.system.coordinates)), "as stated")}, ""
        scene = mode_data(subject, view, roots)
        return {"scene": scene}, scene["text"].removeprefix(f"{subject.name}: ")

    def _lines(self, view: View) -> tuple[dict[str, Any], str]:
        """The view as Python and as an address, and the numbers that its texts stand for."""
        numbers: dict[str, float] = {}
        if isinstance(self.subject, Stated):
            case = self.subject.bound(view)
            known = {name: case.values[name] for name in view.values}
            numbers = {name: float(value) for name, value in known.items() if value is not None}
        return {"text": text_of(self.subject, view), "address": view.address, "numbers": numbers}, ""

    def _kept(self, view: View) -> Kept | None:
        """The selected point of a diagram; special ones are counted backwards from −1."""
        if view.shows not in ("point", "special"):
            return None
        k, i = view.place
        place = (k, i if view.shows == "point" else -1 - i)
        if place not in self.held.points:
            raise ParameterError("this point of the diagram is not known yet: wait until its branch has grown")
        return self.held.points[place]

    def _equilibrium(self, view: View) -> Any:
        place = view.place[0]
        if place >= len(self.held.equilibria):
            raise ParameterError("this equilibrium is not known yet: look for all of them")
        found = self.held.equilibria[place]
        if isinstance(self.subject, Stated) and not np.array_equal(
            found.case.numbers, self.subject.bound(view).numbers
        ):
            raise ParameterError(
                "this equilibrium belongs to other values of the parameters: look for all of them again"
            )
        return found

    def _along(self, view: View, number: int) -> Iterator[None]:
        """Eigenvalues against the load and critical loads, where values other than the load's have changed."""
        try:
            load = self.subject.load(view)
            key = ({name: text for name, text in view.values.items() if name != load}, load, view.to)
            if key == self._paths_of:
                return
            paths = straight_paths(self.subject, view)
            if paths is not None:
                self.send(Answer("curves", number, paths.data(self.subject, view)))
                yield
            self._paths_of = key
            self._ask("critical", m.Look(number, view), "critical" if paths is not None else "along")
        except Exception as problem:
            self._paths_of = None  # the page has dimmed what it was sent
            for card in ("curves", "critical"):
                self.send(Answer(card, number, error=_said(problem)))

    def _pull(self, request: m.Pull) -> tuple[dict[str, Any], str]:
        if not isinstance(self.subject, Stated) or self.subject.why_no_drawing:
            raise ParameterError(self.subject.why_no_drawing or "nothing to pull")
        case: Any = self.subject.bound(request.view)
        q, status = pulled(case, request.point, np.array(request.at))
        start = dict(zip(case.system.coordinate_names, (f"{each:.6g}" for each in q.tolist()), strict=True))
        return {"scene": rest_data(self.subject, case, q, "as it is held"), "start": start}, status

    # Background lanes

    def _ask(self, name: str, request: Any, task: str = "") -> None:
        if name == "diagram":
            self.held.points = {}
        self.send(Answer(name, request.id, {"begun": True}, more=True))
        order = Order(task or name, request.view)
        self.lanes[name].ask(self, order, partial(self._told, name, request.id), PATIENCE.get(name, 0.0))

    def _told(self, name: str, number: int, word: str, *rest: Any, ms: float = 0.0) -> None:
        """Pass on a message of the process of a lane."""
        if word == "said":
            data, *objects = rest
            for key, found in objects:
                if key == "equilibria":
                    self.held.equilibria = found
                else:
                    self.held.points[key] = found
            if "curves" in data:
                self.send(Answer("curves", number, data["curves"], data["ended"]))
            else:
                self.send(Answer(name, number, data, more=True))
        elif word == "done":
            if name == "critical":
                self.lanes.warm("diagram")
            data = dict(rest[0])
            self.send(Answer(name, number, data, data.pop("status", ""), ms=ms))
        elif word == "ended":
            self.send(Answer(name, number, status="ended before it was done"))
        else:
            self.send(Answer(name, number, error=rest[0]))
