"""What SYSTEM on the shell stands for: a name of the atlas, or a name in a Python file of the user's."""

from __future__ import annotations

import inspect
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from pfaff import doors
from pfaff.cli.arguments import brief, pairs
from pfaff.errors import NotMechanicalError, PfaffError, StatementError, nearest

if TYPE_CHECKING:
    from pfaff.case import Bound
    from pfaff.statement.odes import Ode
    from pfaff.statement.system import System

EXAMPLE = "my_sleigh.py:sleigh"
ASSEMBLIES = ("column_assembly", "rod_assembly")  # of the atlas
LONGEST = 500  # characters of what a file of the user's has to say


def system_of(name: str, **which: Any) -> System | Ode:
    """The system that the arguments of a command name; of a case, its system."""
    found = stated(name, **which)
    return getattr(found, "system", found)


def case_of(name: str, values: tuple[str, ...], **which: Any) -> Any:
    """The same with values for its parameters."""
    return stated(name, **which).at(**pairs(values, "--set"))


def mechanical(case: Bound, what: str) -> None:
    """Refuse a plain ODE before an analysis that needs a mechanical system."""
    if isinstance(case.system, doors.odes.Ode):
        raise NotMechanicalError(
            f"{what} needs energies and constraints, and {case.system.name} is a plain ODE: state it as a pfaff.System"
        )


def stated(
    name: str,
    bars: int | None,
    constraint: str | None,
    load: str | None,
    option: tuple[str, ...],
    assemblies: bool = False,
) -> Any:
    """A system, an ODE or a case; where a command takes them, assemblies as well."""
    options: dict[str, Any] = {"bars": bars, "constraint": constraint, "load": load}
    options = {key: value for key, value in options.items() if value is not None}
    for key, value in pairs(option, "--option").items():
        if key in options:
            raise StatementError(f"{key} is given twice, by --{key} and by --option: leave one out")
        options[key] = value
    if ":" in name or name.endswith(".py"):
        return _from_file(name, options, assemblies)
    known = {**doors.atlas.SYSTEMS, **({each: getattr(doors.atlas, each) for each in ASSEMBLIES} if assemblies else {})}
    if name not in known:
        raise StatementError(
            f"no system {brief(name)!r} in the atlas: {nearest(name, known)} (one of your own: {EXAMPLE})"
        )
    return _made(known[name], name, options)


def _from_file(given: str, options: dict[str, Any], assemblies: bool) -> Any:
    """``file.py:name``; without a name, the only system that the file states."""
    text, _, name = given.rpartition(":") if ":" in given else (given, "", "")
    path = doors.values.path_from("the file of SYSTEM", text)
    module = _run(path)
    known = _systems(module)
    if not name:
        if len(known) != 1:
            names = f"it has {', '.join(known)}" if known else "it has none"
            raise StatementError(f"which system of {path}? Write {path}:NAME; {names}")
        (name,) = known
    found = getattr(module, name, None)
    if found is None:
        close = nearest(name, known) if known else "it states no System"
        raise StatementError(f"no {name!r} in {path}: {close}")
    if _is_system(found, assemblies):
        if options:
            raise StatementError(
                f"{name} in {path} is a system, which takes no options ({', '.join(options)}): write a function that "
                "takes them and returns a System"
            )
        return found
    if not callable(found) or isinstance(found, type):
        raise StatementError(
            f"{name} in {path} is of type {type(found).__name__}, not a pfaff.System, a pfaff.ode or a function that "
            "returns one"
        )
    with _blamed(path):
        made = _made(found, name, options)
    if not _is_system(made, assemblies):
        raise StatementError(f"{name}() in {path} returns a {type(made).__name__}, not a pfaff.System or a pfaff.ode")
    return made


def _run(path: Path) -> ModuleType:
    """The file executed as a module, with its own folder first where it imports from."""
    from importlib.util import module_from_spec, spec_from_file_location

    if path.is_dir() or not path.exists():
        files = [each.stem for each in path.parent.glob("*.py")] if path.parent.is_dir() else []
        near = nearest(path.stem, files)  # without endings, which are all alike
        guess = near.removesuffix("'?") + ".py'?"
        hint = guess if near.startswith("did") else f"write the path of a Python file, such as {EXAMPLE}"
        raise StatementError(f"no file {path}: {hint}")
    spec = spec_from_file_location(f"stated in {path.stem}", path.resolve())
    if spec is None or spec.loader is None:
        raise StatementError(f"{path} is no Python file: its name must end in .py")
    module = module_from_spec(spec)
    sys.modules[spec.name] = module
    sys.path.insert(0, str(path.resolve().parent))
    with _blamed(path), redirect_stdout(sys.stderr):  # what a file prints is no part of the answer
        spec.loader.exec_module(module)
    return module


@contextmanager
def _blamed(path: Path) -> Iterator[None]:
    """An exception inside the user's file becomes one of ours that names the file and its line."""
    try:
        yield
    except (Exception, SystemExit) as problem:
        file = path.resolve()
        lines = [each.lineno for each in traceback.extract_tb(problem.__traceback__) if Path(each.filename) == file]
        if isinstance(problem, SyntaxError) and problem.filename == str(file):
            lines = [problem.lineno]
        if not lines and isinstance(problem, PfaffError):  # what we say of the options
            raise
        where = f"{path}, line {lines[-1]}" if lines else f"{path} cannot be run as Python"
        reason = " ".join(str(problem).split())[:LONGEST]
        raise StatementError(f"{where}: {type(problem).__name__}: {reason}") from problem


def _is_system(found: Any, assemblies: bool = False) -> bool:
    if assemblies and isinstance(found, doors.assembly.Assembly):
        return True
    return isinstance(found, (doors.system.System, doors.odes.Ode, doors.case.Bound))


def _systems(module: ModuleType) -> list[str]:
    """Names in the file that are systems, or functions of its own that need no arguments."""
    named = {name: each for name, each in vars(module).items() if not name.startswith("_")}
    return [name for name, each in named.items() if _is_system(each) or _makes(each, module)]


def _makes(found: Any, module: ModuleType) -> bool:
    """Whether it can be called as it is: what else a file defines are functions that its systems are made with."""
    if not inspect.isfunction(found) or found.__module__ != module.__name__:
        return False
    optional = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    return all(p.default is not p.empty or p.kind in optional for p in inspect.signature(found).parameters.values())


def _made(make: Callable[..., Any], name: str, options: dict[str, Any]) -> Any:
    """What a function returns, given options from the shell."""
    accepted = inspect.signature(make).parameters
    for key in options:
        if key not in accepted:
            known = f"; it takes {', '.join(accepted)}" if accepted else "; it takes none"
            raise StatementError(f"{name} has no option {doors.values.shown(key)}{known}")
    for key, parameter in accepted.items():
        if parameter.default is parameter.empty and key not in options and parameter.kind != parameter.VAR_KEYWORD:
            raise StatementError(f"{name} needs its option {key!r}: --option {key}=VALUE")
    return make(**{key: _plain(key, value, accepted[key].default) for key, value in options.items()})


def _plain(key: str, value: Any, default: Any) -> Any:
    """Text from the shell in the type of the option's default; a number if there is none and it looks like one."""
    if not isinstance(value, str) or isinstance(default, str):
        return value
    if isinstance(default, bool):
        if value.lower() not in ("true", "yes", "1", "false", "no", "0"):
            raise StatementError(f"--option {key}: {brief(value)!r} is neither true nor false")
        return value.lower() in ("true", "yes", "1")
    for kind in (int, float):
        try:
            return kind(value)
        except ValueError:
            if isinstance(default, kind):
                whole = "whole number" if kind is int else "number"
                remedy = f", as its default {default} is: write {default}.0 there for any number" if kind is int else ""
                raise StatementError(f"--option {key}: {brief(value)!r} is not a {whole}{remedy}") from None
    return value
