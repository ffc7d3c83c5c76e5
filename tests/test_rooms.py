"""The order of the house: which room may import which, inside functions too."""

from __future__ import annotations

import ast
import itertools
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

import pfaff.doors
import pfaff.draw
from pfaff.doors import HOMES
from pfaff.papers import PAPERS

SOURCE = Path(__file__).parent.parent / "src" / "pfaff"
TABLE = tomllib.loads((SOURCE.parent.parent / "docs" / "rooms.toml").read_text())
OPEN = {"cli", "papers", "compile", "system", "__main__", "doors"}  # people's hands, and doors lead into every room
TARGETED = ast.Assign | ast.AnnAssign | ast.AugAssign


OURS = re.compile(r"pfaff(\.\w+)+")


def named_in(node: ast.AST) -> Iterator[str]:
    """Modules of ours that one node imports, opens by a door, or names in a string for ``import_module``."""
    if isinstance(node, ast.ImportFrom):
        assert not node.level, f"a relative import, which hides its room: {ast.unparse(node)}"
        if (node.module or "").split(".")[0] == "pfaff":
            yield from (f"{node.module}.{each.name}" for each in node.names)
    elif isinstance(node, ast.Import):
        yield from (each.name for each in node.names if each.name.split(".")[0] == "pfaff")
    elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "doors":
        yield HOMES[node.attr]
    elif isinstance(node, ast.Constant) and isinstance(node.value, str) and OURS.fullmatch(node.value):
        yield node.value


def imported(tree: ast.AST, inside: bool = False) -> Iterator[tuple[str, bool]]:
    """Modules of ours that are imported, and whether a function does it; not those for type checkers."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
            yield from imported(ast.Module(node.orelse, []), inside)
            continue
        yield from ((name, inside) for name in named_in(node))
        yield from imported(node, inside or isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("from pfaff.motion import drive", [("pfaff.motion.drive", False)]),
        ("def f():\n    import pfaff.motion", [("pfaff.motion", True)]),
        ("async def f():\n    import pfaff.motion", [("pfaff.motion", True)]),
        ("if TYPE_CHECKING:\n    import pfaff.motion\nelse:\n    import pfaff.flow", [("pfaff.flow", False)]),
        ("READERS = {1: ('pfaff.motion.motion_archive', 'load')}", [("pfaff.motion.motion_archive", False)]),
        ("def f():\n    __import__('pfaff.motion')", [("pfaff.motion", True)]),
        ("def f():\n    doors.simulate.simulate()", [("pfaff.motion.simulate", True)]),
        ("doors.simulate", [("pfaff.motion.simulate", False)]),
        ("import pfaffian, os  # see 'pfaff.motion'", []),
    ],
)
def test_imports_are_seen_however_they_are_written(source, found):
    assert list(imported(ast.parse(source))) == found


def test_relative_imports_are_refused():
    with pytest.raises(AssertionError, match="relative"):
        list(imported(ast.parse("from ..motion import drive")))


def modules() -> Iterator[tuple[str, Path]]:
    for path in sorted(SOURCE.rglob("*.py")):
        name = ".".join(path.relative_to(SOURCE).with_suffix("").parts).removesuffix(".__init__")
        if name != "__init__" and name.split(".")[0] not in OPEN:
            yield name, path


@pytest.mark.parametrize(("name", "path"), [pytest.param(*each, id=each[0]) for each in modules()])
def test_a_room_imports_what_it_may(name, path):
    room = name.split(".")[0]
    may = {room, "doors", *TABLE["rooms"][room], *TABLE["doors"].get(name, ())}
    for module, inside in imported(ast.parse(path.read_text(encoding="utf-8"))):
        target = module.split(".")[1] if "." in module else "pfaff"
        assert target in may or (target == "draw" and inside), f"{name} imports {module}"


def test_rooms_stand_in_their_order():
    """Each imports only rooms above it in the table, so that nothing goes in a circle."""
    seen: set[str] = set()
    for room, may in TABLE["rooms"].items():
        assert set(may) <= seen, room
        seen.add(room)
    assert {name.split(".")[0] for name, _ in modules()} == seen


@pytest.mark.parametrize("room", TABLE["floors"])
def test_floors_stand_on_those_below(room):
    """At import time; methods open what comes later."""
    floors = TABLE["floors"][room]
    assert {path.parent.name for path in (SOURCE / room).glob("*/__init__.py")} == set(floors)
    for name, path in modules():
        if name.startswith(f"{room}.") and name.split(".")[1] in floors:
            below = floors[: floors.index(name.split(".")[1]) + 1]
            for module, inside in imported(ast.parse(path.read_text(encoding="utf-8"))):
                if module.startswith(f"pfaff.{room}.") and not inside:
                    assert module.split(".")[2] in below, f"{name} imports {module}"


def test_doors_are_used():
    """No door that nobody opens."""
    for name, rooms in TABLE["doors"].items():
        path = SOURCE.joinpath(*name.split(".")).with_suffix(".py")
        opened = {module.split(".")[1] for module, _ in imported(ast.parse(path.read_text(encoding="utf-8")))}
        assert set(rooms) <= opened, name


LAZY = {  # rooms whose functions import by statements of their own, and why
    "": "the command begins before anything of the package is imported",
    "papers": "a list of papers is there before any of them is opened; their pictures are drawn on demand",
    "atlas": "a system is stated by one file",
    "draw": "films in files need more than those on screens",
    "bifurcation": "numbers of kernels are gathered from the rooms that name them",
}
FEWEST = 20  # statements inside functions that import modules of ours


def lazy(path: Path) -> list[ast.AST]:
    """Statements inside functions that import modules of ours."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    found = {id(node): node for function in functions for node in ast.walk(function) if any(names_ours(node))}
    return list(found.values())


def names_ours(node: ast.AST) -> Iterator[str]:
    return named_in(node) if isinstance(node, ast.Import | ast.ImportFrom) else iter(())


def test_later_rooms_are_opened_by_doors():
    """Few functions import for themselves, and for each kind of these it is said why."""
    found = {}
    for path in sorted(SOURCE.rglob("*.py")):
        name = (
            ".".join(path.relative_to(SOURCE).with_suffix("").parts).removesuffix("__init__").removesuffix("__main__")
        )
        if here := lazy(path):
            found[name] = len(here)
    assert sum(found.values()) <= FEWEST
    kinds = {name: [kind for kind in LAZY if kind and (name == kind or name.startswith(f"{kind}."))] for name in found}
    assert [name for name, known in kinds.items() if name and not known] == []
    assert {kind for known in kinds.values() for kind in known} == LAZY.keys() - {""}, "no kind that is not there"


ON_THE_WAY = {  # rooms that the first flutter load needs
    *("errors", "threads", "travel", "doors", "kernels", "algebra", "statement", "checks", "flow", "continuation"),
    *("rest", "stability", "case", "atlas"),
}


def test_the_first_flutter_opens_only_the_rooms_on_its_way():
    """Importing pfaff opens none, and doors open no more than what is asked for."""
    script = (
        "import sys, pfaff\n"
        "print(sorted(name for name in sys.modules if name.startswith('pfaff.')))\n"
        "pfaff.atlas.column(2).at(k1=50, M_L=15, I_L=15, d=0.5, c_i=1.5).flutter()\n"
        "print(*{name.split('.')[1] for name in sys.modules if name.startswith('pfaff.')})"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    before, after = done.stdout.splitlines()
    assert before == "[]"
    assert set(after.split()) == ON_THE_WAY


@pytest.mark.parametrize("path", [SOURCE / "doors.py", SOURCE / "draw" / "__init__.py"], ids=["doors", "draw"])
def test_doors_lead_where_type_checkers_see_them_lead(path):
    """What is imported for type checkers is what the table opens."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    (checked,) = [node for node in tree.body if isinstance(node, ast.If)]
    seen = {name.rpartition(".")[2]: name for node in checked.body for name in named_in(node)}
    opened = HOMES if path.stem == "doors" else {name: f"{home}.{name}" for name, home in pfaff.draw.HOMES.items()}
    assert seen == opened
    for name in opened:
        assert getattr(pfaff.doors if path.stem == "doors" else pfaff.draw, name) is not None


def test_every_door_is_opened_somewhere():
    text = "".join(path.read_text(encoding="utf-8") for path in SOURCE.rglob("*.py"))
    for name in [f"doors.{name}." for name in HOMES] + [f"doors.draw.{name}" for name in pfaff.draw.HOMES]:
        assert name in text, name


def constants(path: Path) -> set[str]:
    """Names that are assigned at the top level of a module."""
    assigned = [node for node in ast.parse(path.read_text(encoding="utf-8")).body if isinstance(node, TARGETED)]
    targets = itertools.chain(*(getattr(node, "targets", None) or [getattr(node, "target", None)] for node in assigned))
    return {name.id for target in targets for name in ast.walk(target) if isinstance(name, ast.Name)}


def test_each_tolerance_has_one_meaning():
    """No module gives a word of ``algebra.tolerances`` another value: a notion that is another has another name."""
    home = SOURCE / "algebra" / "tolerances.py"
    kept = constants(home)
    assert {"REAL", "NEARLY_REAL", "GROWING", "SETTLED"} <= kept
    again = {path.stem: constants(path) & kept for path in SOURCE.rglob("*.py") if path != home}
    assert not {name: words for name, words in again.items() if words}


def test_no_two_modules_have_one_name():
    """But those that draw, export, verify or offer what another one computes are named like it."""
    like = ("draw", "export", "atlas", "report", "checks")
    names = [path.stem for name, path in modules() if name.split(".")[0] not in like and path.stem != "__init__"]
    assert sorted(names) == sorted(set(names))


PUBLIC = ("pfaff.system", "pfaff.atlas", "pfaff.errors", "pfaff.papers", "pfaff.draw")  # what a reader can write, too
STEPS = {"pfaff.motion.three_fields.ThreeFields"}  # single steps of a scheme, for the claims that are about its penalty


@pytest.mark.parametrize("key", PAPERS)
def test_papers_use_public_words_only(key):
    files = [*(SOURCE / "papers").glob(f"{key}.py"), *(SOURCE / "papers" / key).glob("*.py")]
    assert files
    for path in files:
        for module, _ in imported(ast.parse(path.read_text(encoding="utf-8"))):
            public = module.removeprefix("pfaff.") in pfaff.__all__ or module.startswith(PUBLIC)
            assert public or module in STEPS, f"{path.stem} imports {module}"


def private(name: str) -> bool:
    return (
        name.startswith("_") and not name.startswith("__") and name not in ("_replace", "_asdict", "_fields", "_exit")
    )


def made_in(tree: ast.AST) -> set[str]:
    """Functions, classes, variables and attributes that get their names here."""
    named = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    stored = [node for node in ast.walk(tree) if isinstance(getattr(node, "ctx", None), ast.Store)]
    return (
        named
        | {node.id for node in stored if isinstance(node, ast.Name)}
        | {getattr(node, "attr", "") for node in stored}
    )


def asked_in(tree: ast.AST) -> Iterator[str]:
    """Private names that are asked for, of other objects than ``self`` or of other modules."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and private(node.attr) and ast.unparse(node.value) not in ("self", "cls"):
            yield node.attr
    yield from (name for name in (module.rpartition(".")[2] for module, _ in imported(tree)) if private(name))


@pytest.mark.parametrize("room", sorted({path.relative_to(SOURCE).parts[0] for path in SOURCE.rglob("*.py")}))
def test_what_is_private_stays_in_its_room(room):
    files = [SOURCE / room] if room.endswith(".py") else sorted((SOURCE / room).rglob("*.py"))
    trees = {path: ast.parse(path.read_text(encoding="utf-8")) for path in files}
    made = set().union(*map(made_in, trees.values()))
    for path, tree in trees.items():
        assert set(asked_in(tree)) <= made, path.stem


DOORS = sorted(path.parent for path in SOURCE.rglob("__init__.py") if path.parent != SOURCE)


@pytest.mark.parametrize("room", DOORS, ids=lambda room: room.name)
def test_every_room_says_what_lives_in_it(room):
    """Its door names every module that is there, unless it imports from it, and else only words that it offers."""
    tree = ast.parse((room / "__init__.py").read_text(encoding="utf-8"))
    docstring = ast.get_docstring(tree)
    assert docstring
    named = set(re.findall(r"``([a-z_0-9]+)``", docstring))
    here = {path.stem for path in room.glob("*.py")} | {path.parent.name for path in room.glob("*/__init__.py")}
    opened = {part for module, _ in imported(tree) for part in module.split(".")}
    assert here - {"__init__"} <= named | opened
    offered = {*made_in(tree), *(module.rpartition(".")[2] for module, _ in imported(tree))}
    for name in named - here:
        assert (room / name).is_dir() or name in offered, name


@pytest.mark.parametrize("path", sorted(SOURCE.rglob("*.py")), ids=lambda path: str(path.relative_to(SOURCE)))
def test_docstrings_say_what_they_describe(path):
    """A fragment such as "Of a matrix." leaves that to the name above it."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            assert not (ast.get_docstring(node) or "").startswith("Of "), getattr(node, "name", path.stem)


def test_the_walk_through_the_house_goes_through_rooms_that_are_there():
    walk = (SOURCE.parent.parent / "CONTRIBUTING.md").read_text(encoding="utf-8")
    named = re.findall(rf"`((?:{'|'.join(TABLE['rooms'])})(?:\.[a-z_]+)+)`", walk)
    assert len(named) > 30
    for name in named:
        place = SOURCE.joinpath(*name.split("."))
        assert place.is_dir() or place.with_suffix(".py").exists(), name


def test_the_walk_through_the_house_calls_what_is_there():
    """Every name before a parenthesis in its code is a function or method of ours."""
    page = (SOURCE.parent.parent / "CONTRIBUTING.md").read_text(encoding="utf-8")
    walk = page.partition("<!-- the walk begins -->")[2].partition("<!-- the walk ends -->")[0]
    called = {name for code in re.findall(r"`([^`]+)`", walk) for name in re.findall(r"(\w+)\(", code)}
    assert {"flutter", "orbits", "simulate", "switch", "curve"} <= called
    trees = (ast.parse(path.read_text(encoding="utf-8")) for path in SOURCE.rglob("*.py"))
    made = {node.name for tree in trees for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
    assert called <= made
