"""Two records of the flight recorder, compared: what was decided otherwise, and how far numbers are apart."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import Any

import numpy as np

APART = 1e-6  # distance of points, relative to their sizes, beyond which steps had other lengths
ROUNDING = 1e-9  # numbers that stay below this, relative to others of the same orbit, are rounding
NUMBERS = re.compile(r"-?\d+(\.\d+)?(e[-+]?\d+)?")


def compare(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, tuple[str, str]]:
    """For every run, whether it is ``identical``, the ``same`` but for rounding, ``moved`` (the same decisions, at
    other points) or ``differs``; and where or how far."""
    return {
        name: run_compared(before[name], after[name]) if name in before and name in after
        else ("differs", "is only in the record " + ("before" if name in before else "after"))
        for name in dict.fromkeys([*before, *after])
    }  # fmt: skip


def run_compared(a: Mapping[str, Any], b: Mapping[str, Any]) -> tuple[str, str]:
    if "left out" in a or "left out" in b:
        return ("identical" if "left out" in a and "left out" in b else "left out"), "takes too long"
    different = next(differences(a, b), None)
    if different:
        return "differs", different
    if {**a, "seconds": 0} == {**b, "seconds": 0}:
        return "identical", ""
    points, special, (forms, form) = distances(a.get("result"), b.get("result"))
    same = a.get("result") == b.get("result")
    steps = step_distance(a["courses"], b["courses"])
    said = (
        f"points {points:.1e}, special points {special:.1e}, steps of the engine {steps:.1e}, forms {forms:.1e}{form}"
    )
    if same and not steps:
        return "identical", ""
    return "same" if points < APART else "moved", said


def differences(a: Mapping[str, Any], b: Mapping[str, Any]) -> Iterator[str]:
    """What was decided differently."""
    yield from unlike("error", wordless(a.get("error", "none")), wordless(b.get("error", "none")))
    heard = a["courses"] and b["courses"]  # else what the results say is compared, and no more is known
    for k, (ours, theirs) in enumerate(zip_longest(a["courses"], b["courses"]) if heard else ()):
        if not (ours and theirs):
            yield f"course {k} was followed only once: {(ours or theirs)['problem']}"
            return
        for one, other in zip_longest(*decisions(ours, theirs)):
            yield from unlike(f"decision of course {k} ({ours['problem']})", one, other)
    ours, theirs = a.get("result"), b.get("result")
    if ours and theirs:
        yield from unlike("result", ours["what"], theirs["what"])
        yield from unlike("ending", wordless(ours["ended"]), wordless(theirs["ended"]))
        yield from unlike("number of points", len(ours["points"]), len(theirs["points"]))
        kinds = [[f"{each['kind']} after {each['place']}" for each in result["special"]] for result in (ours, theirs)]
        yield from unlike("special points", *kinds)
        for k, (one, other) in enumerate(zip(ours["points"], theirs["points"], strict=False)):
            yield from unlike(
                f"intervals and unstable multipliers at point {k}", one.get("counted"), other.get("counted")
            )


def unlike(what: str, a: Any, b: Any) -> Iterator[str]:
    if a != b:
        yield f"{what}: {a} and {b}"


def wordless(words: str) -> str:
    """Words without numbers, in which rounding shows."""
    return NUMBERS.sub("#", words)


def decisions(a: Mapping[str, Any], b: Mapping[str, Any]) -> tuple[list[Any], list[Any]]:
    """Decisions of both courses without numbers, as far as both of them lead: loops may take more steps than are
    asked for. What is halved where a loop takes a step, in either course, is not known; and words of a refusal may
    depend on who takes the step."""
    last = min(a["points"], b["points"])
    ended = all(any(each[1] == "ends" for each in course["decided"]) for course in (a, b))
    walked = [*a["walked"], *b["walked"]]

    def counts(at: int, what: str) -> bool:
        return (ended or at < last) and not (what == "halves" and any(k <= at <= end for k, end in walked))

    ours, theirs = (
        [
            [at, what, *(wordless(words) for words in more if what != "halves")]
            for at, what, *more in course["decided"] if counts(at, what)
        ]
        for course in (a, b)
    )  # fmt: skip
    return ours, theirs


def read(numbers: Sequence[str]) -> np.ndarray:
    return np.array([float.fromhex(each) for each in numbers])


def relative(a: np.ndarray, b: np.ndarray, sizes: Any) -> float:
    """Largest difference, relative to given sizes; NaN equals itself."""
    if a.shape != b.shape:
        return np.inf
    far = np.where((a == b) | (np.isnan(a) & np.isnan(b)), 0.0, np.abs(a - b))
    with np.errstate(invalid="ignore", divide="ignore"):
        share = np.where(far == 0, 0.0, far / sizes)
    return float(np.nan_to_num(share, nan=np.inf, posinf=np.inf).max(initial=0.0))


def distances(a: Any, b: Any) -> tuple[float, float, tuple[float, str]]:
    """How far points, special points and their normal forms are apart, relative to their sizes on the branch."""
    points, special, forms = 0.0, 0.0, (0.0, "")
    if not (a and b and a["points"]):
        return points, special, forms
    ours, theirs = ([read(each["at"]) for each in result["points"]] for result in (a, b))
    largest = np.abs(ours).max(axis=0) if len({len(each) for each in ours}) == 1 else np.zeros(0)
    floor = read(a["sizes"]) if a["sizes"] else ROUNDING * largest.max(initial=0.0)
    sizes = np.maximum(largest, floor)
    for one, other in zip(ours, theirs, strict=True):
        points = max(points, relative(one, other, sized(one, sizes)))
    for one, other in zip(a["special"], b["special"], strict=True):
        at = read(one["at"])
        special = max(special, relative(at, read(other["at"]), sized(at, sizes)))
        for name in one["form"].keys() | other["form"].keys():
            far = form_distance(one["form"].get(name), other["form"].get(name))
            forms = max(forms, (far, f" ({name} of {one['kind']}: {shown(one, name)} and {shown(other, name)})"))
    return points, special, forms


def sized(point: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    return np.maximum(np.abs(point), sizes) if len(point) == len(sizes) else np.abs(point)


def shown(special: Any, name: str) -> str:
    """Numbers of a normal form as people read them; or why there are none."""
    form = special["form"].get(name)
    return ", ".join(f"{number:.4g}" for number in read(form)) if isinstance(form, list) else str(form)


def form_distance(a: Any, b: Any) -> float:
    """Relative distance of numbers of a normal form; infinite where only one is known."""
    if not (isinstance(a, list) and isinstance(b, list)):
        return 0.0 if isinstance(a, str) and isinstance(b, str) else np.inf
    one, other = read(a), read(b)
    return relative(one, other, np.maximum(np.abs(one), np.abs(other)).max(initial=0.0))


def step_distance(a: Sequence[Any], b: Sequence[Any]) -> float:
    """How far lengths and turns are apart, of the steps that the engine took in both."""
    far = 0.0
    for ours, theirs in zip(a, b, strict=False):
        known = {step[0]: read(step[1:]) for step in theirs["steps"]}
        for at, *step in ours["steps"]:
            if at in known:
                far = max(far, relative(read(step), known[at], np.maximum(np.abs(read(step)), [0.0, 0.1])))
    return far
