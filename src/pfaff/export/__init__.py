"""Equations for other programs, in their languages: ẋ = f(x; p) on shape space.

Read ``reduced_equations`` (what every language is given, regular at its ``starting_point``), then a language: ``auto``,
``matcont``, ``bifurcationkit``, ``c``, ``python``, ``latex``, each with its ``notation`` and ``reserved`` words.
Whatever a file says is computed before it is spelled.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pfaff import doors
from pfaff.archive.files import write_text
from pfaff.errors import ParameterError
from pfaff.statement.system import System
from pfaff.statement.told import told
from pfaff.statement.values import one_of, path_from, shown

if TYPE_CHECKING:
    from pfaff.case import Bound

TARGETS = {
    "auto": "auto",
    "matcont": "matcont",
    "bifurcationkit": "bifurcationkit",
    "c": "c",
    "numpy": "python",
    "latex": "latex",
}
CONTINUES = ("auto", "bifurcationkit")  # whose files start a continuation


@told
@dataclass(frozen=True)
class Export:
    """Files by name, the equations first."""

    to: str
    files: Mapping[str, str] = field(repr=False)
    written: tuple[Path, ...] = ()
    warnings: tuple[str, ...] = ()  # what the eigenvalues at the start tell of the equations and not of the motion

    @property
    def text(self) -> str:
        """The file with the equations."""
        return next(iter(self.files.values()))

    @property
    def status(self) -> str:
        where = f"written: {', '.join(map(str, self.written))}" if self.written else ", ".join(self.files)
        return "; ".join([f"for {self.to}: {where}", *self.warnings])

    def write(self, folder: str | Path) -> Export:
        """The same, with its files written into a folder."""
        folder = path_from("folder", folder)
        try:
            folder.mkdir(parents=True, exist_ok=True)
            for name, text in self.files.items():
                write_text(folder / name, text)
        except OSError as problem:
            raise ParameterError(f"cannot write into {folder}: {problem}") from problem
        return replace(self, written=tuple(folder / name for name in self.files))


def export(
    case: Bound,
    to: str,
    folder: str | Path | None = None,
    load: str | None = None,
    until: float | None = None,
    start: Mapping[str, Any] | None = None,
) -> Export:
    """Write the equations of a case on shape space for another program.

    They start from the equilibrium of the case, or from the one near ``start``, values of the states by name; with
    speeds among them, from the steady motion.
    """
    one_of(TARGETS, to, "cannot export to")
    if isinstance(case.system, System):
        case.system.check_written_out()
    for name, value in (("load", load), ("until", until)):
        if value is not None and to not in CONTINUES:
            raise ParameterError(
                f"{name}={shown(value)} is for a continuation, which the files for {to} do not start: leave it out, or "
                f"export to {' or '.join(CONTINUES)}"
            )
    language = importlib.import_module(f"pfaff.export.{TARGETS[to]}")
    equations = doors.reduced_equations.Equations(case, load, until, start)
    exported = Export(to, language.files(equations), warnings=equations.at.warnings)
    return exported if folder is None else exported.write(folder)
