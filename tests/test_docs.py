"""The documentation: its notebooks run, its site builds without a warning, and nothing on it needs a network."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

import pfaff
import pytest

DOCS = Path(__file__).parents[1] / "docs"
CELL = re.compile(r"^```\{code-cell\}[^\n]*\n(.*?)^```$", re.MULTILINE | re.DOTALL)
NOTEBOOKS = [page for page in sorted(DOCS.rglob("*.md")) if CELL.search(page.read_text(encoding="utf-8"))]


@pytest.mark.slow
@pytest.mark.parametrize("page", NOTEBOOKS, ids=lambda page: page.stem)
def test_cells_run(page: Path) -> None:
    """All cells in order; those that a page hides assert what its text says."""
    names: dict[str, object] = {}
    for cell in CELL.findall(page.read_text(encoding="utf-8")):
        plain = "\n".join(line for line in cell.splitlines() if not line.startswith((":", "%")))
        exec(compile(plain, str(page), "exec"), names)


def test_api_is_complete() -> None:
    """Every public name is on the page of the API, and every name on it exists."""
    text = (DOCS / "api.md").read_text(encoding="utf-8")
    listed = re.findall(r"^\.\. auto(?:class|function|exception):: (pfaff[\w.]*)$", text, re.MULTILINE)
    for path in listed:
        module, name = path.rsplit(".", 1)
        assert hasattr(importlib.import_module(module), name), path
    public = set(pfaff.__all__) - {"__version__", "atlas"}
    assert public <= {path.rsplit(".", 1)[1] for path in listed}


@pytest.mark.slow
def test_site_builds(tmp_path: Path) -> None:
    for package in ("sphinx", "myst_nb", "furo", "latex2mathml"):
        pytest.importorskip(package, reason="the extra docs is not installed")
    from sphinx.cmd.build import main

    assert main(["--fail-on-warning", "--quiet", "-b", "html", str(DOCS), str(tmp_path)]) == 0
    pages = {path: path.read_text(encoding="utf-8") for path in tmp_path.rglob("*.html")}
    assert {"index.html", "tutorial.html", "api.html"} <= {path.name for path in pages}
    for path, html in pages.items():
        loaded = re.findall(r"""<(?:script|img|link)[^>]*?(?:src|href)=["'](https?://[^"']*)""", html)
        assert not loaded, (path.name, loaded)
        assert "MathJax" not in html
    assert "<math" in (tmp_path / "theory" / "linearisation.html").read_text(encoding="utf-8")
