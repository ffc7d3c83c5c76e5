"""The code behind a claim: the function that computes it, and those of the same paper that it calls."""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Callable
from functools import partial
from types import CodeType
from typing import Any

DEEP = 2  # calls of calls


def code_of(compute: Callable[[], Any]) -> str:
    """Source text, what is called last first."""
    function, call = _unwrapped(compute)
    found: dict[str, str] = {}
    _collect(function, function.__module__.rpartition(".")[0], found, DEEP)
    return "\n\n".join([*reversed(found.values()), *([call] if call else [])])


def _unwrapped(compute: Any) -> tuple[Any, str]:
    """The function itself, and how it is called if that says more."""
    if isinstance(compute, partial):
        words = [repr(each) for each in compute.args if not callable(each)]
        words += [getattr(each, "__name__", repr(each)) for each in compute.args if callable(each)]
        words += [f"{name}={value!r}" for name, value in compute.keywords.items()]
        return compute.func, f"{compute.func.__name__}({', '.join(words)})"
    return compute, ""


def _collect(function: Any, package: str, found: dict[str, str], depth: int) -> None:
    function = inspect.unwrap(function)
    if not inspect.isfunction(function) or function.__qualname__ in found:
        return
    if not function.__module__.startswith(package):
        return
    if function.__name__ != "<lambda>":
        found[function.__qualname__] = textwrap.dedent(inspect.getsource(function)).rstrip()
    else:
        found[f"lambda {id(function)}"] = _lambda(function)
    if depth:
        for name in _names(function.__code__):
            called = function.__globals__.get(name)
            if callable(called):
                _collect(called, package, found, depth - 1)


def _names(code: CodeType) -> list[str]:
    """Global names that a function uses, those inside its comprehensions included."""
    inner = [name for each in code.co_consts if isinstance(each, CodeType) for name in _names(each)]
    return [*code.co_names, *inner]


def _lambda(function: Any) -> str:
    """The expression of a lambda within its line."""
    text = " ".join(inspect.getsource(function).split())
    start = text.find("lambda")
    depth = 0
    for k, sign in enumerate(text[start:], start):
        depth += (sign in "([{") - (sign in ")]}")
        if depth < 0 or (depth == 0 and sign == "," and ":" in text[start:k]):
            return text[start:k].partition(":")[2].strip()
    return text[start:].partition(":")[2].strip()
