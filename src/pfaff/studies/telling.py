"""Progress of a run: reported to a function, or by a bar on a terminal."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pfaff.progress import counted
from pfaff.studies.block import Block


@dataclass(frozen=True)
class Running:
    """The argument of a progress function."""

    done: int
    total: int
    rate: float
    left: float

    @property
    def status(self) -> str:
        return f"{self.done} of {self.total} points, {self.rate:.3g} points/s, {_lasting(self.left)} left"


class Telling:
    """Reports progress after every chunk to a function, or by a bar on a terminal."""

    def __init__(self, total: int, progress: Callable[[Running], Any] | None, batched: list[int]) -> None:
        self.total, self.done, self.begun, self._batched = total, 0, time.monotonic(), batched
        self._progress, self._bar = progress, None if progress else counted("points", total)

    def __enter__(self) -> Callable[[int, Block], None]:
        self._show = self._bar.__enter__() if self._bar is not None else None
        return self._tell

    def _tell(self, k: int, block: Block) -> None:
        self.done += len(block.state)
        self._batched.append(block.batched)
        spent = max(time.monotonic() - self.begun, 1e-9)
        rate = self.done / spent
        running = Running(self.done, self.total, rate, (self.total - self.done) / rate)
        if self._progress is not None:
            self._progress(running)
        elif self._show is not None:
            self._show(self.done, running.status)

    def __exit__(self, *problem: Any) -> None:
        if self._bar is not None:
            self._bar.__exit__(*problem)


def _lasting(seconds: float) -> str:
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 6000 else f"{seconds / 3600:.1f} h"
