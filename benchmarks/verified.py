"""What every benchmark ends with: a claim of speed counts only where the accuracy was verified in the same run."""

from __future__ import annotations

import resource
import time
from collections.abc import Callable
from functools import partial
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


def least(
    call: Callable[[], Result], repeats: int = 1, clock: Callable[[], float] = time.process_time
) -> tuple[float, Result]:
    """The least seconds that a call took, and what it gave: of the processor, so that neighbours count less."""
    seconds = []
    for _ in range(repeats):
        began = clock()
        result = call()
        seconds.append(clock() - began)
    return min(seconds), result


by_clock = partial(least, clock=time.perf_counter)  # for what several threads do together, or another program


def processor_of_children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
