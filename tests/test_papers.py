"""Reproductions: verdicts that can fail, results that are kept, and the whole of each paper as a page."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from html.parser import HTMLParser

import pytest
from click.testing import CliRunner

from pfaff.cli import app
from pfaff.papers import PAPERS, reproduce_paper
from pfaff.papers.pages import _symbols
from pfaff.papers.reproduction import Claim, Erratum, Item, Paper, Picture, Section, verdict
from pfaff.papers.running import load_paper, reproduce
from pfaff.papers.sources import code_of
from pfaff.report.mathematics import in_words, mathml, symbol

# Converged values of Cazzolli et al. (2020) that its print does not share; everything else must be reproduced.
KNOWN_DIFFERENCES = {
    "φ3 of the maximum": 0.944919120930374,
    "crossing speed": 0.0744746679653,
    "l1, skate": -2.20853769246,
    "l1, bow": -0.896083718013,
    "c_i at which l1 of the skate changes sign": 22.1140411752,
    "c_e at which l1 of the skate changes sign": 479.584601139,
    "flutter load of the misaligned bow": 78.2992872849,
    "without viscosity the velocity increases": None,  # about 1.1, the mean of chaotic motions: far from 5
}
# By paper; operations are those that SymPy counts.
DIFFERENCES = {
    "cazzolli2020": KNOWN_DIFFERENCES,
    "naprstek2018": {
        "Gibbs function as the sum over live degrees of freedom only": 1,
        "incomparably simpler: fewer operations by Appell's in every system": 3,
        "fewer operations by Appell's, ball in a cavity": None,
    },
}
# Results of the paper by number; each must be found among the places that the claims name.
NUMBERED = (
    *(2, 3, 4, 28, 37, 48, *range(52, 59), *range(60, 67), 70, 71, *range(76, 86), 88, *range(90, 97), 111),
    *range(113, 117),
)
CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")


@pytest.fixture(autouse=True)
def _own_store(tmp_path, monkeypatch):
    """Nothing is kept from one test to the next, nor from the user's own runs."""
    monkeypatch.setattr("pfaff.papers.running.kept_in", lambda: tmp_path / "store")


def test_a_number_is_reproduced_if_it_rounds_to_the_printed_one():
    claim = Claim("", "", float, printed="76.338")
    assert verdict(claim, 76.33797) == "reproduced"
    assert verdict(claim, 76.3386) == "differs"
    statement = Claim("", "", float, within=1e-9)
    assert verdict(statement, 1e-10) == "reproduced"
    assert verdict(statement, 1e-8) == "differs"
    seen = Claim("", "", float, beyond=0.1)
    assert verdict(seen, 0.2) == "reproduced"
    assert verdict(seen, 0.05) == "differs"


def test_papers_are_listed():
    listed = CliRunner().invoke(app, ["reproduce", "--json"])
    assert json.loads(listed.stdout) == PAPERS
    assert "cazzolli2020" in CliRunner().invoke(app, ["reproduce"]).stdout


def test_every_numbered_result_has_its_claim():
    found: set[int] = set()
    for claim in load_paper("cazzolli2020").claims:
        for first, last in re.findall(r"\((\d+)[a-d]?\)(?:–\((\d+)\))?", claim.where):
            found.update(range(int(first), int(last or first) + 1))
    assert set(NUMBERED) <= found
    figures = {picture.name for picture in load_paper("cazzolli2020").pictures}
    assert figures >= {f"figure_{k}" for k in (3, 4, *range(7, 15))} | {"film_3", "film_11", "film_12"}


def test_every_claim_says_how_it_was_computed_and_shows_its_code():
    for paper in map(load_paper, PAPERS):
        for claim in (*paper.claims, *paper.evidence):
            assert len(code_of(claim.compute)) > 20
        assert all(claim.method for claim in paper.claims)


def small_paper(value=2.0, fail=False) -> Paper:
    def compute() -> float:
        if fail:
            raise ValueError("asked to fail")
        return value

    def draw():
        from pfaff.draw.style import figure

        fig = figure(1, 1)
        fig.add_subplot().plot([0, 1])
        return fig

    return Paper(
        key="small",
        title="A <small> paper",
        sections=[Section("Numbers", [Claim("Eq. (1)", "two", compute, "2", formula=r"\frac{a}{b} = \dot\theta_1")],
                          [Picture("figure_1", "A line.", draw)])],
        errata=[Erratum("Eq. (2)", "1", "2", "Because.", [Claim("Eq. (2)", "small", lambda: 0.5, within=1.0)])],
    )  # fmt: skip


def test_results_are_kept_and_said_to_be(tmp_path):
    first = reproduce(small_paper(), tmp_path, quiet=True, fresh=True, workers=1)
    assert first.kept == 0
    again = reproduce(small_paper(3.0), tmp_path, quiet=True, workers=1)
    assert again.kept == 2
    assert again.items[0].computed == 2.0
    assert "kept from an earlier run" in again.status
    fresh = reproduce(small_paper(3.0), tmp_path, quiet=True, fresh=True, workers=1)
    assert fresh.items[0].verdict == "differs"


@pytest.mark.parametrize(
    "damage",
    [
        lambda text: text.replace("2.0", "7.0"),
        lambda text: text[: len(text) // 2],
        lambda text: "",
        lambda text: "[]",
        lambda text: '{"claims 0": {}}',
        lambda text: "[" * 5000,
    ],
)
def test_what_was_kept_and_damaged_is_computed_anew(tmp_path, damage):
    reproduce(small_paper(), tmp_path, quiet=True, workers=1)
    (kept,) = (tmp_path / "store").glob("*/results.json")
    kept.write_text(damage(kept.read_text()))
    again = reproduce(small_paper(3.0), tmp_path, quiet=True, workers=1)
    assert (again.kept, again.items[0].computed) == (0, 3.0)


def test_pictures_that_were_kept_and_damaged_are_drawn_anew(tmp_path):
    reproduce(small_paper(), tmp_path, quiet=True, workers=1)
    (kept,) = (tmp_path / "store").glob("*/figure_1.svg")
    kept.write_bytes(b"")
    reproduce(small_paper(), tmp_path, quiet=True, workers=1)
    assert (tmp_path / "figure_1.svg").stat().st_size > 1000


def test_other_sources_do_not_use_what_was_kept(tmp_path, monkeypatch):
    reproduce(small_paper(), tmp_path, quiet=True, fresh=True, workers=1)
    monkeypatch.setattr("pfaff.papers.running.sources", lambda: "others")
    assert reproduce(small_paper(3.0), tmp_path, quiet=True, workers=1).items[0].computed == 3.0


def test_what_fails_is_named_and_leaves_the_others(tmp_path):
    from pfaff.papers.pages import write

    result = write(reproduce(small_paper(fail=True), tmp_path, quiet=True, fresh=True, workers=1), tmp_path)
    assert result.items[0].verdict == "failed"
    assert "ValueError: asked to fail" in result.items[0].computed_text
    assert result.evidence[0].verdict == "reproduced"
    assert "1 failed" in result.status
    assert "asked to fail" in (tmp_path / "index.html").read_text(encoding="utf-8")


def test_an_interruption_keeps_what_was_computed(tmp_path):
    def interrupt() -> float:
        raise KeyboardInterrupt

    paper = small_paper()
    claims = [paper.claims[0], Claim("", "never", interrupt), paper.claims[0]]
    paper = Paper("torn", "Torn", [Section("Numbers", claims)])
    result = reproduce(paper, tmp_path, quiet=True, fresh=True, workers=1)
    assert not result.complete
    assert len(result.items) == 1
    assert "interrupted" in result.status


class Page(HTMLParser):
    """What a page refers to, and what it contains."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.sources: list[str] = []
        self.links: list[str] = []
        self.anchors: set[str] = set()
        self.tags: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        self.tags.append(tag)
        self.sources += [given[name] for name in ("src", "srcset", "data") if given.get(name)]
        self.links += [given["href"]] if given.get("href") else []
        self.anchors |= {given["id"]} if given.get("id") else set()


@pytest.mark.slow
@pytest.mark.parametrize("paper", PAPERS)
def test_whole_papers(paper, tmp_path):
    result = reproduce_paper(paper, tmp_path, quiet=True, workers=2 if paper == "bottema1949" else 1)
    assert result.complete
    assert not result.failed
    assert not result.missing
    differing = {item.what: item.computed for item in result.differing}
    expected = DIFFERENCES.get(paper, {})
    assert differing.keys() == expected.keys()
    for what, value in expected.items():
        assert value is None or differing[what] == pytest.approx(value, rel=1e-10)
    assert all(item.verdict == "reproduced" for item in result.evidence)
    written = json.loads((tmp_path / "reproduction.json").read_text(encoding="utf-8"))
    assert written["reproduced"] == len(result.items) - len(expected)
    assert all(path.stat().st_size > 0 for path in result.files)
    check_page(tmp_path, result)


def check_page(folder, result):
    page = Page((folder / "index.html").read_text(encoding="utf-8"))
    assert all(source.startswith("data:") for source in page.sources)
    assert len(page.sources) == sum(not picture.moving for picture in result.paper.pictures)
    assert page.tags.count("iframe") == sum(picture.moving for picture in result.paper.pictures)
    for link in page.links:
        local = link.startswith("data:") or (folder / link).is_file()
        assert link[1:] in page.anchors if link.startswith("#") else local
    formulas = sum(bool(claim.formula) for claim in result.paper.claims) + 2 * len(result.paper.errata)
    assert page.tags.count("math") >= formulas
    if CHROMIUM is None:
        pytest.skip("no chromium to open the page with")
    in_browser(folder, result)


PROBE = """
<script>
addEventListener("load", () => {
  const facts = {
    images: [...document.images].map(i => i.complete && i.naturalWidth > 0),
    sections: [...document.querySelectorAll("section")].map(s => s.querySelector("h2").textContent),
    heights: [...document.querySelectorAll("math")].map(m => m.getBoundingClientRect().height),
    wide: [...document.querySelectorAll("article")].filter(a => a.scrollWidth > a.clientWidth + 1).length,
    fetched: performance.getEntriesByType("resource").map(e => e.name).filter(n => !n.startsWith("data:")),
  };
  document.documentElement.setAttribute("data-facts", JSON.stringify(facts));
});
</script>
"""


def in_browser(folder, result):
    """Every image loads, every formula has a height, nothing is fetched, nothing is wider than the page."""
    probed = folder / "probed.html"
    probed.write_text((folder / "index.html").read_text(encoding="utf-8") + PROBE, encoding="utf-8")
    options = [
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--virtual-time-budget=10000",
        f"--user-data-dir={folder}",
    ]
    done = subprocess.run(
        [CHROMIUM, *options, "--dump-dom", probed.as_uri()], capture_output=True, text=True, timeout=120, check=True
    )
    text = re.search(r'data-facts="([^"]*)"', done.stdout).group(1).replace("&quot;", '"').replace("&amp;", "&")
    facts = json.loads(text)
    assert all(facts["images"])
    assert len(facts["images"]) == sum(not picture.moving for picture in result.paper.pictures)
    assert set(facts["sections"]) >= {section.title for section in result.paper.sections}
    assert min(facts["heights"], default=9) > 8
    assert facts["fetched"] == []
    assert facts["wide"] == 0


def test_a_report_explains_its_symbols():
    """Each once, with units where there are any; the spring's symbols come with the loading that has them."""
    entries = list(_symbols(load_paper("cazzolli2020")))
    facts = [fact for entry in entries for fact in entry.symbols.items()]
    assert ("F", "dead load") in facts
    assert ("θ₁", "rotation of bar 1 [rad]") in facts
    assert len(facts) == len(set(facts))
    assert "K" in entries[1].symbols
    assert all(load_paper(key).systems for key in PAPERS)


def test_verdicts_are_told_as_one_says_them():
    """Accuracies as such, bounds as bounds, exceptions by their number."""

    def told(computed: float, **bounds: float) -> str:
        return Item(Claim("Eq. (1)", "so it is", float, **bounds), computed).computed_text

    assert told(3e-16, within=1e-12) == "holds to 3·10⁻¹⁶"
    assert told(0.71, within=1.0) == "0.71, at most 1"
    assert told(1.48, beyond=1.0) == "1.48, at least 1"
    assert told(0.63, beyond=1.0) == "0.63, less than 1"
    assert told(0.9999886, within=0.99999) == "0.999989, at most 0.99999"
    assert told(1.00012, beyond=1.0) == "1.0001, at least 1"
    assert told(1, within=0.0) == "1 exception"


def test_small_formulas_in_words_and_functions_with_room():
    assert in_words("P_d(c_i), k₁, x1(t)") == (
        "<i>P</i><sub>d</sub>(<i>c</i><sub>i</sub>), <i>k</i><sub>1</sub>, x1(t)"
    )
    assert (symbol("EI"), symbol("cₑ")) == ("<i>EI</i>", "<i>c</i><sub>e</sub>")
    thin = '<mspace width="0.17em"/>'
    assert f"<mi>a</mi>{thin}<mi>sin</mi>{thin}<mi>x</mi>" in mathml(r"a\sin x")
    assert f"<mi>sin</mi>{thin}" not in mathml(r"\sin(x)")
