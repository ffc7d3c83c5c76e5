"""What every benchmark ends with: a claim of speed counts only where the accuracy was verified in the same run."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

Result = TypeVar("Result")


def verify(what: str, error: float, allowed: float) -> None:
    """End with a sentence and a code other than zero unless the error, which must be a number, is allowed."""
    if not error <= allowed:
        raise SystemExit(f"NOT VERIFIED: {what}: {error:.1e}, where {allowed:.1e} is allowed; its times mean nothing")


def demand(what: str, holds: bool) -> None:
    """The same for a fact without a measure."""
    if not holds:
        raise SystemExit(f"NOT VERIFIED: {what}; the times mean nothing")


def processor(call: Callable[[], Result], repeats: int = 1) -> tuple[float, Result]:
    """The least seconds of the processor that a call took, and what it gave: neighbours on the machine count less."""
    seconds = []
    for _ in range(repeats):
        began = time.process_time()
        result = call()
        seconds.append(time.process_time() - began)
    return min(seconds), result
