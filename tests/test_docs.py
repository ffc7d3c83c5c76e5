"""The documentation: its notebooks run, its site builds without a warning, and nothing on it needs a network."""

from __future__ import annotations

import importlib
import io
import re
import shlex
from contextlib import redirect_stderr
from pathlib import Path

import pytest

import pfaff
from conftest import shell

DOCS = Path(__file__).parents[1] / "docs"
CELL = re.compile(r"^```\{code-cell\}[^\n]*\n(.*?)^```$", re.MULTILINE | re.DOTALL)
COMMANDS = re.compile(r"^pfaff .*(?:(?<=\\)\n.*)*", re.MULTILINE)
NOTEBOOKS = [page for page in sorted(DOCS.rglob("*.md")) if CELL.search(page.read_text(encoding="utf-8"))]


@pytest.mark.slow
@pytest.mark.parametrize("page", NOTEBOOKS, ids=lambda page: page.stem)
def test_cells_run(page: Path) -> None:
    """All cells in order; those that a page hides assert what its text says."""
    names: dict[str, object] = {}
    for cell in CELL.findall(page.read_text(encoding="utf-8")):
        plain = "\n".join(line for line in cell.splitlines() if not line.startswith((":", "%")))
        exec(compile(plain, str(page), "exec"), names)


def shell_commands() -> list[str]:
    blocks = re.compile(r"^```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)
    pages = [DOCS.parent / "README.md", *sorted(DOCS.rglob("*.md"))]
    shell = "\n".join(block for page in pages for block in blocks.findall(page.read_text(encoding="utf-8")))
    return sorted({command.split("#")[0].replace("\\\n", " ").strip() for command in COMMANDS.findall(shell)})


@pytest.mark.parametrize("command", shell_commands())
def test_commands_exist(command: str) -> None:
    """Asked for help, a command is parsed with all its options before it answers."""
    done = shell(*shlex.split(command)[1:], "--help")
    assert done.returncode == 0, f"{command}: {done.stderr}"
    assert "Usage:" in done.stdout


def test_api_is_complete() -> None:
    """Every public name is on the page of the API, and every name on it exists."""
    text = (DOCS / "api.md").read_text(encoding="utf-8")
    listed = re.findall(r"^\.\. auto(?:class|function|exception):: (pfaff[\w.]*)$", text, re.MULTILINE)
    for path in listed:
        module, name = path.rsplit(".", 1)
        assert hasattr(importlib.import_module(module), name), path
    public = set(pfaff.__all__) - {"__version__", "atlas"}
    assert public <= {path.rsplit(".", 1)[1] for path in listed}


@pytest.mark.parametrize("formula", [r"\foobar x", r"\begin{unknown} a &= b \end{unknown}"])
def test_unknown_latex_is_refused(formula: str, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("sphinx", reason="the extra docs is not installed")
    monkeypatch.syspath_prepend(str(DOCS / "_ext"))
    renderer = importlib.import_module("mathml")
    assert "<mfrac>" in renderer.mathml(r"\frac{a}{b}", display=True)
    with pytest.raises(renderer.UnknownCommandError):
        renderer.mathml(formula, display=True)


def raw_formulas(html: str) -> list[str]:
    """What a reader would see of LaTeX that was not typeset, such as a formula cut by a line that begins with ``+``."""
    text = re.sub(r"<(pre|code|script|style|annotation)\b.*?</\1>", "", html, flags=re.DOTALL)
    return re.findall(r".{0,40}(?:\$|\\[a-z]{2,}).{0,40}", re.sub(r"<[^>]+>", "", text))


@pytest.mark.slow
def test_site_builds(tmp_path: Path) -> None:
    """Without running the notebooks, whose cells run above; ``make docs`` runs them."""
    for package in ("sphinx", "myst_nb", "furo"):
        pytest.importorskip(package, reason="the extra docs is not installed")
    from sphinx.cmd.build import build_main

    options = ["--fail-on-warning", "--quiet", "-D", "nb_execution_mode=off"]
    said = io.StringIO()
    with redirect_stderr(said):  # in this process: films want systems that the cells above have compiled
        assert build_main([*options, str(DOCS), str(tmp_path)]) == 0, said.getvalue()
    pages = {path: path.read_text(encoding="utf-8") for path in tmp_path.rglob("*.html")}
    assert {"index.html", "tutorial.html", "api.html"} <= {path.name for path in pages}
    for path, html in pages.items():
        loaded = re.findall(r"""<(?:script|img|link)[^>]*?(?:src|href)=["'](https?://[^"']*)""", html)
        assert not loaded, (path.name, loaded)
        assert "MathJax" not in html
        assert not raw_formulas(html), (path.name, raw_formulas(html))
    gallery = (tmp_path / "gallery.html").read_text(encoding="utf-8")
    assert gallery.count("mount(document") == gallery.count('id="film-') > 10
    assert "<math" in (tmp_path / "theory" / "linearisation.html").read_text(encoding="utf-8")
