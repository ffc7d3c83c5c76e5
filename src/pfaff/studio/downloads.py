"""Downloads: pictures as results draw themselves, films, data, and the lines as a script or notebook."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from pfaff.errors import ParameterError
from pfaff.studio.lines import parts_of, text_of
from pfaff.studio.subject import Subject, check_case, check_mechanical
from pfaff.studio.tasks import STORED, Tasks
from pfaff.studio.view import View

DPI = 160
PICTURES = ("svg", "png", "pdf")
FORMATS: Mapping[str, tuple[str, ...]] = {
    "structure": PICTURES,
    "spectrum": (*PICTURES, "csv"),
    "curves": PICTURES,
    "motion": (*PICTURES, "html", "gif", "nc", "csv"),
    "equilibria": PICTURES,
    "diagram": (*PICTURES, "nc", "csv"),
    "point": (*PICTURES, "html", "gif"),
    "map": (*PICTURES, "nc", "csv"),
    "lines": ("py", "ipynb"),
}
LANE = {"motion": "motion", "diagram": "diagram", "point": "diagram", "map": "map", "equilibria": "equilibria"}


def lane_of(what: str) -> str:
    """The lane whose process writes a file: the one that holds its content."""
    return LANE.get(what, "critical")


def written(tasks: Tasks, view: View, what: str, kind: str) -> tuple[str, bytes]:
    """A file by its name, as bytes."""
    result = RESULTS[what](tasks, view)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"{_stem(tasks.subject)}_{what}.{kind}"
        if kind in PICTURES:
            _drawn(result, view, what).savefig(path, dpi=DPI)
        elif kind in ("html", "gif"):
            if tasks.subject.why_no_drawing:
                raise ParameterError(tasks.subject.why_no_drawing)
            result.animate(path)
        elif kind == "nc":
            result.save(path)
        else:
            path.write_text(_table(result), encoding="utf-8")
        return path.name, path.read_bytes()


def written_lines(subject: Subject, view: View, kind: str) -> tuple[str, bytes]:
    """The lines as a script or a notebook; nothing is computed for them."""
    text = text_of(subject, view) if kind == "py" else notebook(subject, view)
    return f"{_stem(subject)}.{kind}", text.encode()


def _stem(subject: Subject) -> str:
    return "".join(letter if letter.isascii() and letter.isalnum() else "_" for letter in subject.name.lower()).strip(
        "_"
    )


def notebook(subject: Subject, view: View) -> str:
    """A notebook with one cell for each part."""
    cells: list[dict[str, Any]] = []
    title = [f"# {subject.name}\n", "\n", "What the studio showed, as it is computed."]
    for k, part in enumerate(parts_of(subject, view)):
        head = title if not k else [f"## {part.heading}"]
        cells.append({"cell_type": "markdown", "id": f"heading{k}", "metadata": {}, "source": head})
        source = "\n".join(part.lines)
        cells.append(
            {
                "cell_type": "code",
                "id": f"part{k}",
                "metadata": {},
                "source": source,
                "execution_count": None,
                "outputs": [],
            }
        )
    about = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}
    return json.dumps({"cells": cells, "metadata": about, "nbformat": 4, "nbformat_minor": 5}, indent=1)


def _drawn(result: Any, view: View, what: str) -> Any:
    """The result's own picture; for a study, that of the selected measure."""
    if what == "map" and view.plane is not None:
        return result.plot(view.plane.measure.removeprefix(STORED))
    return result.plot()


def _table(result: Any) -> str:
    """Numbers by name, one row for each point, time or eigenvalue."""
    if hasattr(result, "values") and hasattr(result, "vectors"):  # a spectrum
        rows = [f"{each.real:.17g},{each.imag:.17g}" for each in result.values]
        return "\n".join(["growth_rate,frequency", *rows]) + "\n"
    data = result.dataset if hasattr(result, "dataset") else result.to_xarray()
    along = next((name for name in ("point", "t") if name in data.dims), None)
    if along is not None:
        data = data[[name for name, each in data.data_vars.items() if each.dims == (along,)]]
    return data.to_dataframe().to_csv()


def _spectrum(tasks: Tasks, view: View) -> Any:
    found = tasks.subject.roots(view).spectrum
    if found is None:
        raise ParameterError("eigenvalues of an assembly have no file yet: take its lines")
    return found


def _structure(tasks: Tasks, view: View) -> Any:
    check_mechanical(tasks.subject, "structures are drawn")
    return check_case(tasks.subject, "structures").bound(view)


def _curves(tasks: Tasks, view: View) -> Any:
    return next(iter(tasks.critical_loads(view)[0].values()))


def _equilibria(tasks: Tasks, view: View) -> Any:
    found, _ = tasks.found(view)
    return found[0] if tasks.subject.kind == "ode" else found


def _diagram(tasks: Tasks, view: View) -> Any:
    if not view.steps:
        raise ParameterError("no branch is followed yet: grow one")
    k = view.place[0] if view.shows in ("point", "special") else len(view.steps) - 1
    return tasks.diagram.grown(check_case(tasks.subject, "branches"), view, min(k, len(view.steps) - 1))


def _point(tasks: Tasks, view: View) -> Any:
    if view.shows not in ("point", "special"):
        raise ParameterError("no point of a branch is selected: choose one")
    found, place = _diagram(tasks, view), view.place[1]
    points = found.special if view.shows == "special" else found.points
    if place >= len(points):
        raise ParameterError(f"the branch has {len(points)} points, and not number {place}")
    return points[place]


RESULTS: Mapping[str, Callable[[Any, View], Any]] = {
    "structure": _structure,
    "spectrum": _spectrum,
    "curves": _curves,
    "motion": lambda tasks, view: tasks.moved(view),
    "equilibria": _equilibria,
    "diagram": _diagram,
    "point": _point,
    "map": lambda tasks, view: tasks.charted(view),
}
