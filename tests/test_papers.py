"""Reproductions: verdicts that can fail, and the whole of each paper."""

from __future__ import annotations

import json

import pytest

from pfaff.papers import PAPERS, reproduce_paper
from pfaff.papers.reproduction import Claim, verdict

# Converged values of Cazzolli et al. (2020) that its print does not share; everything else must be reproduced.
KNOWN_DIFFERENCES = {
    "φ3 of the maximum": 0.944919120930374,
    "crossing speed": 0.0744746679653,
    "l1, skate": -2.20853769246,
    "l1, bow": -0.896083718013,
    "c_i at which l1 of the skate changes sign": 22.1140411752,
    "c_e at which l1 of the skate changes sign": 479.584601139,
    "flutter load of the misaligned bow": 78.2992872849,
}


def test_a_number_is_reproduced_if_it_rounds_to_the_printed_one():
    claim = Claim("", "", float, printed="76.338")
    assert verdict(claim, 76.33797) == "reproduced"
    assert verdict(claim, 76.3386) == "differs"
    statement = Claim("", "", float, within=1e-9)
    assert verdict(statement, 1e-10) == "reproduced"
    assert verdict(statement, 1e-8) == "differs"


@pytest.mark.slow
@pytest.mark.parametrize("paper", PAPERS)
def test_whole_papers(paper, tmp_path):
    result = reproduce_paper(paper, tmp_path, quiet=True)
    assert result.complete
    differing = {item.what: item.computed for item in result.differing}
    expected = KNOWN_DIFFERENCES if paper == "cazzolli2020" else {}
    assert differing.keys() == expected.keys()
    for what, value in expected.items():
        assert differing[what] == pytest.approx(value, rel=1e-10)
    written = json.loads((tmp_path / "reproduction.json").read_text(encoding="utf-8"))
    assert written["reproduced"] == len(result.items) - len(expected)
    assert all(path.stat().st_size > 0 for path in result.files)


def test_an_interruption_keeps_what_was_computed(tmp_path, monkeypatch):
    from pfaff.papers import bottema1949

    def interrupt() -> float:
        raise KeyboardInterrupt

    claims = [bottema1949.ITEMS[0], Claim("", "never", interrupt), bottema1949.ITEMS[1]]
    monkeypatch.setattr(bottema1949, "ITEMS", claims)
    result = reproduce_paper("bottema1949", tmp_path, quiet=True)
    assert not result.complete
    assert len(result.items) == 1
    assert "interrupted" in result.status
    assert json.loads((tmp_path / "reproduction.json").read_text(encoding="utf-8"))["complete"] is False
