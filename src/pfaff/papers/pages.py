"""A reproduction as a report: what is shown of each item, in which order."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from pfaff.archive.files import write_text
from pfaff.draw.labels import letters
from pfaff.papers.reproduction import DIFFERS, REPRODUCED, Erratum, Item, Paper, Picture, Reproduction
from pfaff.papers.running import sources, writing_into
from pfaff.papers.sources import code_of
from pfaff.report import document as report
from pfaff.report.html import page

PLACE = re.compile(r"\(\d+\w?\)|Fig\. \d+|Sec\. [\d.]+\d")
CLAIMS = 6  # that an erratum points to


def write(result: Reproduction, folder: Path) -> Reproduction:
    """``index.html`` and ``reproduction.json`` beside the pictures."""
    html, facts = folder / "index.html", folder / "reproduction.json"
    text = page(document_of(result, folder))
    result = replace(result, files=(html, facts, *result.files))
    with writing_into(folder):
        write_text(html, text)
        write_text(facts, json.dumps(result.as_dict(), indent=1, ensure_ascii=False) + "\n")
    return result


def document_of(result: Reproduction, folder: Path) -> report.Document:
    paper = result.paper
    counts = {
        "results": len(result.items),
        "reproduced": sum(item.verdict == REPRODUCED for item in result.items),
        "differ": len(result.differing),
        **({"failed": len(result.failed)} if result.failed else {}),
        "figures and films": len(list(_images(result, folder, paper.pictures))),
        **({"errata": len(paper.errata)} if paper.errata else {}),
    }
    by_claim = {id(item.claim): item for item in result.items}
    sections = []
    if result.differing:
        text = "Everything else is reproduced. The errata below give the evidence."
        differing = [_entry(item, errata=_errata_of(item, paper), again=True) for item in result.differing]
        sections.append(report.Section("What differs", differing, text=text))
    for section in paper.sections:
        items = [by_claim[id(claim)] for claim in section.claims if id(claim) in by_claim]
        images = list(_images(result, folder, section.pictures))
        entries = [_entry(item, errata=_errata_of(item, paper)) for item in items]
        sections.append(report.Section(section.title, entries, images))
    if paper.errata:
        text = "What is printed, what should be, and computed evidence for each."
        sections.append(report.Section("Errata", list(_errata(result)), text=text))
    symbols = list(_symbols(paper))
    if symbols:
        text = "What names stand for, with units where they have any."
        sections.append(report.Section("Symbols", symbols, text=text))
    return report.Document(paper.title, f"{paper.about} {_how(result)}", counts, sections, _footer(result))


def _symbols(paper: Paper) -> Iterator[report.Entry]:
    """Parameters and coordinates of each system in words; what an earlier one has explained alike is left out."""
    explained: set[tuple[str, str]] = set()
    for make in paper.systems:
        system = make()
        new = {name: text for name, text in system.meanings.items() if (name, text) not in explained}
        explained |= set(new.items())
        if new:
            symbols = {letters(name): text for name, text in new.items()}
            yield report.Entry(title=system.name, place=report.anchor(f"symbols {system.name}"), symbols=symbols)


def _how(result: Reproduction) -> str:
    every = len(result.items) + len(result.evidence)
    state = "" if result.complete else " The run was interrupted: results are missing."
    if not result.kept:
        return f"All {every} values were computed in this run.{state}"
    return (
        f"Of {every} values, {every - result.kept} were computed in this run and {result.kept} kept from an earlier run of "
        f"exactly the same sources; pfaff reproduce {result.key} --fresh computes everything anew.{state}"
    )


def _footer(result: Reproduction) -> str:
    from pfaff import __version__

    seconds = sum(item.seconds for item in (*result.items, *result.evidence))
    return f"pfaff {__version__}, sources {sources()}; {seconds:.0f} seconds of computing. Values as JSON: reproduction.json."


def _errata_of(item: Item, paper: Paper) -> list[Erratum]:
    """The errata about the place of an item: an equation, a figure or a section that both name."""
    places = set(PLACE.findall(item.where))
    return [erratum for erratum in paper.errata if places & set(PLACE.findall(erratum.where))]


def _entry(item: Item, errata: Sequence[Erratum] = (), again: bool = False) -> report.Entry:
    """With links to the errata; one that is shown again, ahead of its section, links to its place there."""
    facts = {"printed": item.printed_text, "computed": item.computed_text}
    if item.claim.method:
        facts["how"] = item.claim.method
    return report.Entry(
        title=item.what,
        where=item.where,
        formula=item.claim.formula,
        facts=facts,
        verdict=item.verdict,
        good=item.verdict == REPRODUCED,
        code=code_of(item.claim.compute),
        see={f"erratum on {each.where}": _erratum_anchor(each) for each in errata},
        first=not again,
    )


def _errata(result: Reproduction) -> Iterator[report.Entry]:
    by_claim = {id(item.claim): item for item in result.evidence}
    for erratum in result.paper.errata:
        evidence = [by_claim[id(claim)] for claim in erratum.evidence if id(claim) in by_claim]
        about = [item for item in result.items if erratum in _errata_of(item, result.paper)]
        yield _erratum(
            erratum, evidence, {f"{item.where}, {item.what}": _entry(item).anchor for item in about[:CLAIMS]}
        )


def _erratum_anchor(erratum: Erratum) -> str:
    return report.anchor(f"erratum {erratum.where}")


def _erratum(erratum: Erratum, evidence: list[Item], claims: Mapping[str, str]) -> report.Entry:
    shown = len(evidence) == len(erratum.evidence) and all(item.verdict == REPRODUCED for item in evidence)
    return report.Entry(
        title=erratum.where,
        place=_erratum_anchor(erratum),
        see=claims,
        remark=erratum.why,
        formulas={"printed": erratum.printed, "should be": erratum.corrected},
        verdict="shown" if shown else "not shown",
        good=shown,
        parts=[_part(item) for item in evidence],
    )


def _part(item: Item) -> report.Entry:
    words = {REPRODUCED: "holds", DIFFERS: "does not hold"}
    facts = {"computed": item.computed_text, **({"how": item.claim.method} if item.claim.method else {})}
    verdict = words.get(item.verdict, item.verdict)
    good = item.verdict == REPRODUCED
    return report.Entry(title=item.what, facts=facts, verdict=verdict, good=good, code=code_of(item.claim.compute))


def _images(result: Reproduction, folder: Path, pictures: Sequence[Picture]) -> Iterator[report.Image]:
    """Those that were drawn: vector pictures and films into the page, the other formats beside it."""
    there = {path.name for path in map(Path, result.files)}
    for picture in pictures:
        first = f"{picture.name}.html" if picture.moving else f"{picture.name}.svg"
        if first in there:
            others = [folder / f"{picture.name}.{ending}" for ending in ("svg", "pdf", "png")]
            yield report.Image(folder / first, picture.title, picture.caption, [] if picture.moving else others)
