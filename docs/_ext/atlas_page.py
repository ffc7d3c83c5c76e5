"""The page of the atlas, written from the registry before each build: a new system appears on it by itself."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

import pfaff
from pfaff.draw.notebook import formulas, in_markdown

MANY = 24  # parameters that are listed one by one
SIMPLE = 16  # denominators of fractions that one reads at a glance

HEAD = """# Atlas of ready systems

Each is one short function that returns a `pfaff.System`; the pictures and formulas below are made from what it
returns. `pfaff atlas` lists them on the shell, and `pfaff show NAME` says what may be dropped and why.
"""


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("builder-inited", write_atlas)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def write_atlas(app: Sphinx) -> None:
    folder = Path(app.srcdir) / "_generated"
    (folder / "pictures").mkdir(parents=True, exist_ok=True)
    page = folder / "atlas.md"
    text = "\n".join([HEAD, *(part for topic, names in topics().items() for part in chapter(topic, names, folder))])
    if not page.exists() or page.read_text(encoding="utf-8") != text:
        page.write_text(text, encoding="utf-8")


def topics() -> dict[str, list[str]]:
    """Names of systems by topic."""
    return {topic: [make.__name__ for make in systems] for topic, systems in pfaff.atlas.TOPICS.items()}


def chapter(topic: str, names: list[str], folder: Path) -> list[str]:
    return [f"## {topic}\n", *(section(name, folder) for name in names)]


def section(name: str, folder: Path) -> str:
    """Heading, picture, formulas, names, and the function with its docstring."""
    system = getattr(pfaff.atlas, name)()
    parts = [f"### {system.name[0].upper()}{system.name[1:]}\n"]
    if system.drawing is not None:
        picture(system).savefig(folder / "pictures" / f"{name}.png", dpi=130)
        parts.append(f"![{system.name}](pictures/{name}.png)\n")
    parts += [f"$$\n{formula}\n$$\n" for formula in formulas(system)]
    parts.append(names(system))
    parts.append(f"```{{eval-rst}}\n.. autofunction:: pfaff.atlas.{name}\n```\n")
    return "\n".join(parts)


def picture(system: Any) -> Any:
    """With its coordinates and loads; the heading has said its name."""
    fig = system.plot()
    fig.suptitle("")
    return fig


def names(system: Any) -> str:
    """Coordinates, and parameters with their defaults, as a table; of very many, only those that are not zero."""
    values = system.defaults
    shown = values if len(values) <= MANY else {name: value for name, value in values.items() if value != 0}
    shapes = [name for rod in system.rods for name in rod.coordinate_names]
    load = system.load.name if system.load is not None else None
    rows = [(name, "coordinate") for name in system.coordinate_names if name not in shapes]
    rows += [(f"{rod.coordinate_names[0]}` … `{rod.coordinate_names[-1]}", "shape of the rod") for rod in system.rods]
    rows += [(name, "quasi-velocity") for name in system.quasi_velocities]
    rows += [(name, f"{written(value)}{', the load' if name == load else ''}") for name, value in shown.items()]
    table = [f"| `{name}` | {kind} | {in_markdown(system.meanings.get(name, ''))} |" for name, kind in rows]
    more = f"\nAnd {len(values) - len(shown)} more parameters that are 0.\n" if len(shown) < len(values) else ""
    return "\n".join(["| name | default | meaning |", "|---|---|---|", *table, more])


def written(value: Any) -> str:
    """A default: measured ones as decimals, simple fractions as they are."""
    if value is None:
        return "–"
    simple = not getattr(value, "is_Rational", False) or value.q <= SIMPLE
    return f"{value}" if simple else f"{float(value):.10g}"
