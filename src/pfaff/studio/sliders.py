"""Sliders for parameters: their ranges in round numbers, and values as they may be typed again."""

from __future__ import annotations

import math
from typing import Any

from pfaff.draw.labels import letters, unit_of

FINEST = 1e-3  # smallest value of a parameter declared positive, relative to its range


def slider(symbol: Any, value: Any, meaning: str, load: bool) -> dict[str, Any]:
    """What the page needs to know of a parameter to offer its values."""
    try:
        number = None if value is None else float(value)
    except TypeError:  # a symbol
        number = None
    floor = 0.0 if symbol.is_nonnegative or symbol.is_positive else None
    low, high = span(number or 0.0, floor, load)
    if symbol.is_positive:
        low = max(low, FINEST * high)
    return {
        "name": symbol.name,
        "letters": letters(symbol.name),
        "text": "" if value is None else written(value),
        "number": number,
        "low": low,
        "high": high,
        "floor": floor,
        "load": load,
        **meaning_and_unit(meaning),
    }


def span(value: float, floor: float | None, load: bool) -> tuple[float, float]:
    """A range for a slider: from zero to about twice the value, both signs where the value has the other one."""
    high = handy(2 * abs(value)) if value else 1.0
    both = value < 0 or (value == 0 and floor is None and not load)
    return (-high if both else 0.0), high


def handy(number: float) -> float:
    """The next larger of 1, 2, 5 times a power of ten."""
    power = 10.0 ** math.floor(math.log10(number))
    return float(next(each for each in (power, 2 * power, 5 * power, 10 * power) if each >= number * (1 - 1e-12)))


def meaning_and_unit(meaning: str) -> dict[str, str]:
    """The words of a meaning without the unit in brackets at its end, and the unit."""
    unit = unit_of(meaning)
    return {"meaning": meaning.removesuffix(f"[{unit}]").strip() if unit else meaning, "unit": unit}


def written(value: Any) -> str:
    """A value as it may be typed again: floats to all their digits, exact ones as they are."""
    return (
        f"{value:.17g}"
        if isinstance(value, float) and value != float(f"{value:.15g}")
        else (f"{value:.15g}" if isinstance(value, float) else str(value))
    )
