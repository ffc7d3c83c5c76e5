"""The lines of Python that reproduce a view: shown beside the page, copied, and run elsewhere."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from inspect import signature
from keyword import iskeyword
from pathlib import Path
from typing import Any

from pfaff import doors
from pfaff.errors import PfaffError
from pfaff.statement.called import words_of
from pfaff.statement.expressions import constant
from pfaff.studio.growing import begun
from pfaff.studio.subject import Assembled, Stated, Subject
from pfaff.studio.tasks import SIZES, STORED, searched
from pfaff.studio.view import Step, View

WIDTH = 100  # of a line
LITERAL = re.compile(r"[+-]?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?", re.ASCII)


@dataclass(frozen=True)
class Part:
    """A few lines, and their purpose."""

    heading: str
    lines: tuple[str, ...]


def text_of(subject: Subject, view: View) -> str:
    """All parts, one below the other."""
    return "\n\n".join("\n".join(part.lines) for part in parts_of(subject, view)) + "\n"


def parts_of(subject: Subject, view: View) -> list[Part]:
    """The parts. Names of a view appear in them only if they are the subject's own."""
    subject.check(view)
    if isinstance(subject, Assembled):
        return list(_of_assembly(subject, view))
    assert isinstance(subject, Stated)
    return list(_of_case(subject, view))


def _of_case(subject: Stated, view: View) -> Iterator[Part]:
    ask: Any = subject.case
    yield Part(
        "The case", ("import pfaff", *_imports(view), "", *_statement(subject), _at("case", "system", view.values))
    )
    if view.shows == "equilibrium":
        near = "" if subject.mechanical else _numbers(view.start, ask.equilibrium)
        found = "case.equilibria()" if subject.mechanical else f"[case.equilibrium({near})]"
        yield Part("Equilibria", (f"equilibria = {found}", f"equilibrium = equilibria[{view.place[0]}]"))
    if view.shows == "steady":
        given = f"steady = case.steady({_numbers(view.start, ask.steady)})"
        yield Part("A steady motion", (given, "spectrum = steady.spectrum()", "print(steady.status)"))
    else:
        about = "about=equilibrium" if view.shows == "equilibrium" else ""
        yield Part("Small motions", (f"spectrum = case.spectrum({about})", "print(spectrum.status)"))
    critical = _critical(subject, view)
    if critical:
        yield Part("Critical loads", critical)
    if view.steps:
        yield Part("Branches", tuple(_diagram(subject, view)))
    if view.shows == "motion" or (any(view.start.values()) and view.shows != "steady"):
        given = ", ".join(part for part in (_number(view.duration), _numbers(view.start, ask.simulate)) if part)
        yield Part("A motion", (f"motion = case.simulate({given})", "print(motion.status)"))
    if view.plane is not None:
        yield Part("A map", tuple(_map(subject, view)))


def _of_assembly(subject: Assembled, view: View) -> Iterator[Part]:
    load = _number(view.values.get(subject.assembly.load, "0"))
    yield Part("The assembly", ("import pfaff", "", *_statement(subject, "assembly")))
    yield Part("At rest", (f"rest = assembly.equilibrium({load})",))
    yield Part("Flutter", (f"flutter = assembly.flutter({_to(view)})", "print(flutter.status)"))
    if view.shows == "motion":
        places = {name: text for name, text in view.start.items() if text.strip()}
        first = {name[1:]: text for name, text in places.items() if not name.endswith("_dot")}
        speeds = {name[1:].removesuffix("_dot"): text for name, text in places.items() if name.endswith("_dot")}
        given = [_number(view.duration), load]
        given += [f"{word}={{{', '.join(f'{k}: {_number(v)}' for k, v in each.items())}}}"
                  for word, each in (("start", first), ("velocities", speeds)) if each]  # fmt: skip
        yield Part("A motion", (f"motion = assembly.simulate({', '.join(given)})", "print(motion.status)"))


def _imports(view: View) -> tuple[str, ...]:
    return ("import numpy as np",) if view.plane is not None and not view.plane.measure.startswith(STORED) else ()


def _statement(subject: Subject, called: str = "system") -> list[str]:
    """The origin of the system: the atlas, a file, or the user's own session."""
    about = subject.source
    if "atlas" in about:
        options = ", ".join(f"{name}={value!r}" for name, value in about["options"].items())
        return [f"{called} = pfaff.atlas.{about['atlas']}({options})"]
    if "file" in about:
        path, name = Path(about["file"]), about["called"]
        call = "()" if about.get("made") else ""
        head = f"sys.path.insert(0, {str(path.parent)!r})  # where {path.name} is"
        return ["import sys", "", head, f"from {path.stem} import {name}", "", f"{called} = {name}{call}"]
    return [f"{called} = …  # {subject.name}, as it was given to the studio"]


def _at(name: str, system: str, values: Mapping[str, str]) -> str:
    given = [f"{key}={_value(text)}" for key, text in values.items()]
    if any(map(iskeyword, values)):
        given = [f"{{{', '.join(f'{key!r}: {_value(text)}' for key, text in values.items())}}}"]
    one = f"{name} = {system}.at({', '.join(given)})"
    if len(one) <= WIDTH:
        return one
    rows: list[str] = []
    row = "   "
    for each in given:
        if len(row) + len(each) + 2 > WIDTH:
            rows, row = [*rows, row], "   "
        row += f" {each},"
    return "\n".join([f"{name} = {system}.at(", *rows, row, ")"])


def _critical(subject: Stated, view: View) -> tuple[str, ...]:
    """Lines for critical loads of systems with a load. Plain ODEs have Hopf points only, and where there is none,
    asking for it is an error."""
    try:
        load = subject.load(view)
    except PfaffError:
        return ()
    if not subject.mechanical:
        return ()
    system = subject.case.system
    named = "" if system.load is not None and system.load.name == load else repr(load)
    given = ", ".join(part for part in (named, _to(view)) if part)
    return (f"critical = case.critical({given})", "print(critical.status)")


def _to(view: View) -> str:
    return f"to={_number(view.to)}" if view.to else ""


def _diagram(subject: Stated, view: View) -> Iterator[str]:
    """One object for each step, named after what it is."""
    case, names_of = "case", subject.case.system.parameter_names
    values = {name: text for name, text in view.grown.items() if name in names_of}
    if values != dict(view.values):
        case = "followed"
        yield _at(case, "system", values)
    names: list[str] = []
    for step in view.steps:
        kind = begun(subject, step, view)["kind"]
        same = sum(name.rstrip("0123456789") == kind for name in names)
        names.append(kind + (str(same + 1) if same else ""))
        yield f"{names[-1]} = {_asked(subject, view, step, names, case)}"
        yield f"print({names[-1]}.status)"
    shown, (k, i) = view.shows, view.place
    if shown in ("point", "special") and k < len(names):
        yield f"point = {names[k]}{'.special' if shown == 'special' else ''}[{i}]"
        yield "print(point.status)"


def _asked(subject: Stated, view: View, step: Step, names: list[str], case: str) -> str:
    to = f"to={_number(step.to)}"
    load = repr(step.parameter or subject.load(view)) if step.of is None else ""
    if step.verb == "cycles":
        return f"{case}.hopf({load}).orbits({to})"
    if step.verb == "branch":
        return f"{case}.branch({load}, {to})"
    if step.verb == "response":
        return f"{case}.response({load}, {to}).orbits"
    if step.verb == "steady":
        fixed = {name: text for name, text in view.grown.items() if name in subject.case.system.moving_names}
        ask: Any = subject.case
        return f"{case}.steady({_numbers(fixed, ask.steady)}).branch({load}, {to})"
    assert step.of is not None
    if step.special is None:
        born = view.steps[step.of].parameter or subject.load(view)
        return f"{case}.hopf({born!r}).curve({step.parameter!r}, {to})"
    special = f"{names[step.of]}.special[{step.special}]"
    if step.verb == "curve":
        return f"{special}.curve({step.parameter!r}, {to})"
    return f"{special}.switch({to})" if step.verb == "switch" else f"{special}.hopf.orbits({to})"


def _map(subject: Stated, view: View) -> Iterator[str]:
    plane = view.plane
    assert plane is not None
    if plane.measure.startswith(STORED):
        yield f"study = pfaff.open_sweep({subject.store!r})"
        yield f"measured = study.dataset[{plane.measure.removeprefix(STORED)!r}]"
        return
    ends = [_number(each) for each in plane.ends]
    yield "axes = {"
    for name, (low, high) in ((plane.x, ends[:2]), (plane.y, ends[2:])):
        yield f"    {name!r}: np.linspace({low}, {high}, {SIZES[-1]}),"
    yield "}"
    load = searched(view)
    options = ", ".join(part for part in (f"load={load!r}" if load else "", _to(view)) if part)
    yield f"study = case.sweep(axes, {plane.measure!r}{', ' + options if options else ''}).run()"
    yield "print(study.status)"


def _numbers(values: Mapping[str, str], function: Callable[..., Any]) -> str:
    """Values by name for a function: keywords, or a mapping where these are its arguments or words of Python."""
    given = {name: _number(text) for name, text in values.items() if text.strip()}
    if any(iskeyword(name) or name in signature(function).parameters for name in given):
        return f"{words_of(function)}={{{', '.join(f'{name!r}: {number}' for name, number in given.items())}}}"
    return ", ".join(f"{name}={number}" for name, number in given.items())


def _value(text: str) -> str:
    """A parameter's value: whole numbers as they are, exact ones as text."""
    plain = text.strip()
    return plain if _plain(plain) else repr(plain)


def _number(text: str) -> str:
    """A number in an argument that expects one."""
    plain = text.strip()
    return plain if _plain(plain) else repr(float(constant(plain, plain)))


def _plain(text: str) -> bool:
    """Whether Python reads the very same number; not 010, which it does not read at all."""
    try:
        return LITERAL.fullmatch(text) is not None and float(text) == float(constant(text, text))
    except (ValueError, PfaffError):
        return False


def source_of(given: Any, stated: str | None = None) -> dict[str, Any]:
    """Where the opened object was stated, as far as that is known."""
    system = getattr(given, "system", given)
    if stated is not None and ":" in stated:
        path, _, name = stated.rpartition(":")
        about: dict[str, Any] = {"file": str(Path(path).resolve()), "called": name}
    else:
        about = doors.recipe.origin_of(system, None)
    for module in list(sys.modules.values()):
        file = getattr(module, "__file__", None)
        if "file" in about and file and Path(file).resolve() == Path(about["file"]):
            found = getattr(module, about["called"], None)
            about["made"] = callable(found) and not hasattr(found, "parameters") and not hasattr(found, "parts")
    return about
