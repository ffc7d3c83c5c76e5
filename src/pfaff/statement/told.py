"""How a result shows itself: in one line by its status, and in a notebook as a table where it is one."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np

from pfaff.errors import NoSuchNameError

Result = TypeVar("Result", bound=type)
ROUNDING = 1e-12  # beside the largest of its kind: what is smaller is shown as the zero that it stands for


def without_rounding(values: Any) -> np.ndarray:
    """Numbers of one kind for a table that people read."""
    numbers = np.asarray(values, dtype=float)
    return np.where(np.abs(numbers) < ROUNDING * np.abs(numbers).max(initial=0.0), 0.0, numbers)


def told(result: Result) -> Result:
    """A class whose ``repr`` is its status, and whose display in a notebook is made in the room ``draw``."""
    result.__repr__ = _in_words  # type: ignore[assignment]
    return shown_in_notebooks(result)


def shown_in_notebooks(result: Result) -> Result:
    """A class that notebooks show as the room ``draw`` makes it; its ``repr`` stays."""
    result._repr_html_ = _as_html  # type: ignore[attr-defined]
    return answering(result)


def answering(kind: Result) -> Result:
    """A class that answers a name which it does not have with the nearest one; names that it has cost nothing more."""
    if not hasattr(kind, "__getattr__"):
        kind.__getattr__ = no_such_name  # type: ignore[attr-defined]
    return kind


def no_such_name(self: Any, name: str) -> Any:
    """What Python calls where all else has failed."""
    if not name.startswith("_") and hasattr(type(self), name):
        return object.__getattribute__(self, name)  # a property of that name has failed: its own error is told
    raise NoSuchNameError(type(self), name)


def _in_words(self: Any) -> str:
    return f"<{self.status}>"


def _as_html(self: Any) -> str:
    from pfaff.draw.notebook import html_of

    return html_of(self)
