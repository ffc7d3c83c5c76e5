"""Kinds, criticalities and reasons are members of their enumerations wherever an analysis compares them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from pfaff.bifurcation.hopf.criticality import Criticality
from pfaff.continuation.kinds import EVENT, MULTIPLE, Kind

SOURCE = Path(__file__).parent.parent / "src" / "pfaff"
FILES = sorted(path for room in ("continuation", "bifurcation", "motion") for path in (SOURCE / room).rglob("*.py"))
WORDS = {*Kind, *(MULTIPLE + kind for kind in Kind), *Criticality} - {Criticality.NOTHING, Kind.EVENT}
PROSE = {"ended", "status", "criticality", "note"}  # what results say in words, which no program compares


def literals(node: ast.AST) -> set[str]:
    """Texts that a node is, or that stand in it as in a tuple."""
    if isinstance(node, ast.Constant):
        return {node.value} if isinstance(node.value, str) else set()
    if isinstance(node, ast.Tuple | ast.List | ast.Set | ast.IfExp):
        return set().union(*map(literals, ast.iter_child_nodes(node)))
    return set()


def compared(tree: ast.AST) -> Iterator[str]:
    """Texts that decide: compared with something, asked for as a kind, or the kind of an event."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare):
            yield from literals(node.left).union(*map(literals, node.comparators))
        elif isinstance(node, ast.Call):
            name = getattr(node.func, "attr", getattr(node.func, "id", ""))
            if name in ("Event", "of_kind"):
                yield from set().union(*map(literals, node.args[:1]), *(literals(each.value) for each in node.keywords))


def asked_of_prose(tree: ast.AST) -> Iterator[str]:
    """Questions about the words of a result: ``x.ended.startswith("reached")``, ``"hopf" in x.status``."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            of = getattr(node.func.value, "attr", "")
            if node.func.attr in ("startswith", "endswith", "partition", "find", "index") and of in PROSE:
                yield ast.unparse(node)
        if isinstance(node, ast.Compare):
            pairs = zip(node.ops, node.comparators, strict=True)
            contained = [of for op, of in pairs if isinstance(op, ast.In | ast.NotIn)]
            yield from [ast.unparse(node)] if any(getattr(of, "attr", "") in PROSE for of in contained) else []


def test_what_decides_is_seen_however_it_is_written():
    source = (
        'if a.kind in ("fold", "cusp") or "hopf" != b: Event("torus", x, outranks=("branch point",)); of_kind("hopf")'
    )
    assert set(compared(ast.parse(source))) == {"fold", "cusp", "hopf", "torus", "branch point"}
    assert list(asked_of_prose(ast.parse('a.ended.endswith(X) or "hopf" in b.status'))) == [
        "a.ended.endswith(X)",
        "'hopf' in b.status",
    ]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_kinds_are_not_compared_with_bare_strings(path):
    assert not set(compared(ast.parse(path.read_text(encoding="utf-8")))) & WORDS


@pytest.mark.parametrize("path", sorted(SOURCE.rglob("*.py")), ids=lambda path: str(path.relative_to(SOURCE)))
def test_no_program_reads_prose(path):
    assert not list(asked_of_prose(ast.parse(path.read_text(encoding="utf-8"))))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_only_kinds_themselves_take_prefixes_off(path):
    """Whether several happen at one place, or an event of a user's, is asked of ``kind_of`` and ``several``."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    taken = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)]
    named = [ast.unparse(node) for node in taken if node.func.attr in ("startswith", "endswith")]
    assert path.stem in ("kinds", "trail") or not [each for each in named if "MULTIPLE" in each or "EVENT" in each]


def test_criticality_reads_as_its_words():
    assert Criticality.SUPERCRITICAL == "supercritical"
    assert str(Criticality.REPELLED).startswith("supercritical, but ")
    assert [each for each in Criticality if each.l1_tells] == ["supercritical", "subcritical", *map(str, WITH_FAMILY)]
    assert not Criticality.NOTHING
    assert not Criticality.NOTHING.l1_tells
    assert EVENT.startswith(Kind.EVENT)


WITH_FAMILY = [each for each in Criticality if each.family]
