"""The studio's parts in a cell of a notebook: sliders, the structure and the live spectrum, by anywidget."""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files
from typing import Any

from pfaff.errors import ParameterError
from pfaff.studio.lines import source_of
from pfaff.studio.session import Lanes, Session
from pfaff.studio.subject import subject_of

PLAYER = ("scene", "camera", "paint", "histories", "player")
PARTS = ("numbers", "card", "plot", "parameters", "small_motions", "structure", "explorer")
IMPORT = re.compile(r'^import (\{.*\}) from "\./(\w+)\.js";$', re.MULTILINE)
EXPORT = re.compile(r"^export (?=(?:class|function|const) (\w+))", re.MULTILINE)
NEEDED = "explore() needs anywidget: pip install 'pfaff[studio]'"


@cache
def module() -> str:
    """All scripts of the cell as one module, each part in a scope of its own."""
    parts = [_scoped("pfaff.draw", name) for name in PLAYER] + [_scoped("pfaff.studio", name) for name in PARTS]
    return "\n".join(["const modules = {};", *parts, "export default { render: modules.explorer.render };"])


def _scoped(room: str, name: str) -> str:
    text = (files(room) / "web" / f"{name}.js").read_text(encoding="utf-8")
    offered = ", ".join(EXPORT.findall(text))
    inside = EXPORT.sub("", IMPORT.sub(r"const \1 = modules.\2;", text))
    return f"modules.{name} = (() => {{\n{inside}\nreturn {{ {offered} }};\n}})();"


@cache
def style() -> str:
    """The page's style, nested so that it affects only the cell."""
    text = (files("pfaff.studio") / "web" / "studio.css").read_text(encoding="utf-8")
    inside = re.sub(r"^(:root|body)(?=[ \[])", "&", text, flags=re.MULTILINE)
    return f".pfaff-explorer {{\n{inside}}}\n"


def explorer(given: Any) -> Any:
    """A widget about a case; its messages are those of the studio's page."""
    try:
        import anywidget
    except ImportError as problem:
        raise ParameterError(NEEDED) from problem
    subject = subject_of(given, source=source_of(given))

    class Explorer(anywidget.AnyWidget):
        """What ``case.explore()`` shows."""

        _esm, _css = module(), style()

        def close(self) -> None:
            session.close()
            lanes.close()
            super().close()

    widget, lanes = Explorer(), Lanes(subject)
    session = Session(subject, lanes, lambda text: widget.send({"text": text}))

    def heard(_: Any, content: Any, buffers: Any) -> None:
        session.hear(content.get("text") if isinstance(content, dict) else None)

    widget.on_msg(heard)
    return widget
