"""Arguments given by users, checked in one place: numbers, counts, names, mappings, arrays, functions, paths.

Arguments that do not fit are refused in one sentence that names the argument, shows what was given and says what to
write. Values of parameters stay exact where they are; everything else is a finite float in its declared range.
"""

from __future__ import annotations

import inspect
import math
import os
import reprlib
import sys
import warnings
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence, Set, Sized
from fractions import Fraction
from numbers import Number
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import sympy as sm

from pfaff.errors import ParameterError, PfaffError, nearest, number_of
from pfaff.statement.called import name_of, renamed
from pfaff.statement.expressions import constant, shortened
from pfaff.statement.told import spelt as spelt
from pfaff.threads import PART

NEAREST_END, FARTHEST_END = 1e-100, 1e100  # sizes of values to which something can be followed
LONGEST = 40  # characters of a value in a message
LONGEST_NAME = 255  # bytes, of a file or folder
SMALLEST = sys.float_info.min  # numbers below it have lost digits, and the inverses of many are not finite
SQUARABLE = 1e150
MOST = 100_000_000  # values in one array
MEMORY = 4e9  # bytes of the numbers in one result
LISTED = 100_000  # things in one list
KINDS = {"b": "truth values", "c": "complex numbers", "M": "dates", "m": "lapses of time", "S": "bytes", "U": "text"}

Kind = TypeVar("Kind")


def checked_value(symbol: sm.Symbol, value: Any) -> Any:
    """The value as it is kept: exact numbers exact, everything else a finite float in its declared range."""
    name, given = symbol.name, value
    if isinstance(value, str):
        value = constant(value, f"{name}={shortened(value)} is not a number such as 1.5, 3/2 or 1e-3")
    if isinstance(value, int | Fraction) and not isinstance(value, bool):
        value = sm.Rational(value)
    if not isinstance(value, sm.Expr) or value.is_Matrix:
        value = _real(value)
        if value is None:
            raise ParameterError(f"{name}={shown(given)} is not a number: write 1.5, Fraction(3, 2) or a SymPy number")
    if isinstance(value, sm.Expr) and value.free_symbols:
        return value
    try:
        number = complex(value)
    except (TypeError, OverflowError):
        raise ParameterError(f"{name}={shown(given)} is not a finite real number: use other units") from None
    if not (math.isfinite(number.real) and number.imag == 0):
        raise ParameterError(f"{name}={shown(given)} is not a finite real number: give one")
    if symbol.is_positive and value > 0 and number.real < SMALLEST:
        raise ParameterError(f"{name}={shown(given)} has no finite inverse in double precision: use other units")
    check_promise(symbol, number.real)
    return value


def check_promise(symbol: sm.Symbol, value: float) -> None:
    """Raise unless a parameter keeps its declared sign."""
    promise = broken_promise(symbol, value)
    if promise:
        raise ParameterError(
            f"{symbol.name}={shown(value)} breaks the declaration that {symbol.name} is {promise}: "
            f"give a {promise} value"
            + (f", or declare it nonnegative=True, if {symbol.name} may vanish" if value == 0 else "")
        )


def broken_promise(symbol: sm.Symbol, value: float) -> str:
    """The declaration of a symbol that this value breaks."""
    if symbol.is_positive and not value > 0:
        return "positive"
    return "nonnegative" if symbol.is_nonnegative and not value >= 0 else ""


def number_from(name: str, value: Any) -> float:
    """A finite number from a number, a fraction or text such as 1/2."""
    number = _real(constant(value, f"{name}={shortened(value)} is not a number") if isinstance(value, str) else value)
    if number is None:
        hint = "; many at once go into ensemble" if isinstance(value, np.ndarray | list | tuple) else ""
        raise ParameterError(f"{name}={shown(value)} is not a number: write 0.1, '1/10' or 'pi/2'{hint}")
    if not math.isfinite(number):
        raise ParameterError(f"{name}={shown(value)} is not finite: give a number")
    return number


def end_from(name: str, value: Any) -> float:
    """A number to which something is followed: zero, or one whose powers neither under- nor overflow."""
    number = number_from(name, value)
    if number and not NEAREST_END <= abs(number) <= FARTHEST_END:
        limit = f"more than {FARTHEST_END:g}" if abs(number) > 1 else f"less than {NEAREST_END:g}"
        remedy = "a nearer end" if abs(number) > 1 else "a farther end"
        raise ParameterError(f"{name}={shown(value)} is {limit} in size: give {remedy}, or use other units")
    return number


def number_within(name: str, value: Any, fits: Callable[[float], bool], remedy: str) -> float:
    """A finite number that fits; the remedy says which ones do, such as "give a positive time"."""
    try:
        number = _real(constant(value, name) if isinstance(value, str) else value)
    except ParameterError:
        raise ParameterError(f"{name}={shown(value)} is not a number: {remedy}") from None
    if number is None or not math.isfinite(number) or not fits(number):
        raise ParameterError(f"{name}={shown(value)}: {remedy}")
    return number


def _real(value: Any) -> float | None:
    """The float of a real number, infinite beyond double precision; None for truth values, dates or bytes."""
    kind, dimensions = getattr(getattr(value, "dtype", None), "kind", "f"), getattr(value, "ndim", 0)
    if isinstance(value, bool) or not hasattr(value, "__float__") or kind not in "iufO" or dimensions:
        return None
    if _masked(value):
        return None
    try:
        return float(value)
    except OverflowError:
        return math.inf
    except Exception:  # the __float__ of a class of the user's may raise anything
        return None


def _masked(value: Any) -> bool:
    """Whether values are masked; numpy.ma is used only where the user has imported it."""
    is_masked = getattr(sys.modules.get("numpy.ma"), "is_masked", None)  # another thread may be entering it just now
    return is_masked is not None and is_masked(value)


def complex_number(name: str, value: Any, symbols: bool = True) -> Any:
    """A real or complex number, or a SymPy expression as it is where symbols may stand for numbers."""
    if symbols and isinstance(value, sm.Expr) and not value.is_Matrix:
        return value
    if not isinstance(value, complex | np.complexfloating):
        value = number_from(name, value)
    if not abs(value) < SQUARABLE:
        raise ParameterError(f"{name}={shown(value)} has no finite square: give a smaller number")
    return value


def check_fitting(name: str, values: Any, refuse: type[PfaffError] = ParameterError) -> None:
    """Refuse more values than fit into an array, before one is made of them."""
    count = values.size if isinstance(values, np.ndarray) else len(values) if isinstance(values, Sized) else 1
    whole_number(name, count, 0, MOST, "give fewer", refuse)


def numbers_from(name: str, values: Any) -> np.ndarray:
    """Numbers in an array of any shape; the caller checks whether they are finite."""
    check_fitting(f"the number of values of {name}", values)
    try:
        array = np.asarray(values)
        kind = KINDS.get(array.dtype.kind, "")
        if not kind and not _masked(values):
            return array.astype(float, copy=False)
    except Exception as problem:  # the __float__ of a class of the user's may raise anything
        kind = " ".join(str(problem).split())[:100]
    raise ParameterError(f"{name} must be numbers, not {kind or 'an array with masked values'}: give {name}=[0.1, 0.2]")


def pair(name: str, values: Any, example: str) -> tuple[float, float]:
    """Two numbers, such as the ends of an interval."""
    if not isinstance(values, tuple | list | np.ndarray) or not getattr(values, "ndim", 1) or len(values) != 2:
        raise ParameterError(f"{name}={shown(values)} is no pair of numbers: write {name}={example}")
    return number_from(name, values[0]), number_from(name, values[1])


def whole_number(
    name: str, value: Any, least: int, most: int, remedy: str, refuse: type[PfaffError] = ParameterError
) -> int:
    """A count within limits: beyond them it would take hours, or more memory than there is."""
    if isinstance(value, float) and value.is_integer():
        raise refuse(f"{name}={shown(value)} is written with a point or a power: write {value:.0f}")
    if not _is_whole(value):
        raise refuse(f"{name}={shown(value)} is no whole number: give one from {least} up")
    if value < least:
        raise refuse(f"{name}={shown(value)}: give a whole number from {least} up")
    if value > most:
        raise refuse(f"{name}={shown(value)} is more than {most}: {remedy}")
    return int(value)


def _is_whole(value: Any) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool | np.timedelta64)


def place(index: Any) -> Any:
    """An index: a whole number or a slice."""
    ends = (index.start, index.stop, index.step) if isinstance(index, slice) else (index,)
    if not all(_is_whole(each) or (each is None and len(ends) > 1) for each in ends):
        raise ParameterError(f"[{shown(index)}] counts nothing: write [0] for the first, [-1] for the last")
    return index


def truth(name: str, value: Any) -> bool:
    """A yes or no."""
    if isinstance(value, int | np.bool_) and value in (0, 1):
        return bool(value)
    raise ParameterError(f"{name}={shown(value)} is neither true nor false: write {name}=True or leave it out")


def one_of(known: Collection[str], value: Any, wrong: str, refuse: type[PfaffError] = ParameterError) -> str:
    """A name among the known ones, given as text or as a symbol; else an error that says what is ``wrong``, as
    "no coordinate {}" or shorter."""
    name = name_of(value)
    if isinstance(name, str) and name in known:
        return name
    before, placed, after = wrong.partition("{}")
    raise refuse(f"{before}{'' if placed else ' '}{shown(value)}{after}: {nearest(name, known)}")


def by_name(name: str, values: Any, example: str, refuse: type[PfaffError] = ParameterError) -> dict[str, Any]:
    """A mapping from names, such as starting values; empty if it is left out."""
    if values is None:
        return {}
    if not isinstance(values, Mapping):
        raise refuse(f"{name}={shown(values)}: give values by name, {name}={example}")
    found = renamed(values, refuse)
    for key in found:
        if not isinstance(key, str):
            raise refuse(f"{name} has {shown(key)} for a name: give values by name, {name}={example}")
    return found


def listed(name: str, values: Any, example: str, refuse: type[PfaffError] = ParameterError) -> tuple[Any, ...]:
    """The elements of a list, in order."""
    if isinstance(values, str | bytes | bytearray) or not isinstance(values, Sequence):
        raise refuse(f"{name} must be a list, {name}={example}, not {shown(values)}")
    whole_number(f"the length of {name}", len(values), 0, LISTED, "state less at once", refuse)
    return tuple(values)


def named(name: str, values: Any, example: str) -> tuple[str, ...]:
    """Several names; none if they are left out."""
    if values is None:
        return ()
    names = tuple(map(name_of, values if isinstance(values, Set) else listed(name, values, example)))
    if not all(isinstance(each, str) for each in names):
        raise ParameterError(f"{name}={shown(values)} is no list of names: write {name}={example}")
    return names


def instance(name: str, value: Any, kind: type[Kind] | tuple[type[Kind], ...], remedy: str) -> Kind:
    """An object of the kind that an earlier analysis returns; the remedy says which."""
    if not isinstance(value, kind):
        raise ParameterError(f"{name}={shown(value)}: {remedy}")
    return value


def told(name: str, function: Any, example: str, *arguments: Any) -> None:
    """Refuse what cannot be called with such arguments, before anything long is computed."""
    if function is None or (callable(function) and _takes(function, arguments)):
        return
    count = number_of(len(arguments), "argument")
    raise ParameterError(f"{name}={shown(function)} cannot be called with {count}: give a function, {name}={example}")


def heard(name: str, function: Any, example: str, *arguments: Any) -> Callable[..., Any] | None:
    """A function that is called while something long is computed, if it can be; an error in it ends that as Ctrl-C
    does, so that what was computed is kept, and is told as a warning. Within a whole it remains an error."""
    told(name, function, example, *arguments)

    def called(*values: Any) -> Any:
        try:
            return function(*values)
        except Exception as error:
            if PART.get():
                raise
            problem = f"{name} raised {type(error).__name__}: {error}"
            warnings.warn(f"{problem}; what was computed until then is kept", stacklevel=2)
            raise KeyboardInterrupt from error

    return None if function is None else called


def _takes(function: Callable[..., Any], arguments: tuple[Any, ...]) -> bool:
    try:
        inspect.signature(function).bind(*arguments)
    except TypeError:
        return False
    except ValueError:  # some built-in functions do not tell what they take
        return True
    return True


def path_from(name: str, value: Any) -> Path:
    """A path, as text or an object of pathlib's."""
    try:
        text = os.fspath(value)
        longest = max(map(len, os.fsencode(text).split(os.sep.encode())))
    except (TypeError, UnicodeError):
        text, longest = "", 0
    if not isinstance(text, str) or not text or "\0" in text or longest > LONGEST_NAME:
        raise ParameterError(f"{name}={shown(value)} is no path: write {name}='folder/file'")
    return Path(text)


def shown(value: Any) -> str:
    """A value for a message: short and on one line, whatever it is; numbers of very many digits by their size."""
    if isinstance(value, int) and value.bit_length() > 64:
        return f"{'-' if value < 0 else ''}10^{int(value.bit_length() * math.log10(2))}"
    if isinstance(value, np.ndarray) and value.ndim:
        return f"<array of shape {value.shape}>"
    plain = isinstance(value, Number | sm.Basic) and not isinstance(value, bool)
    try:
        text = " ".join((str(value) if plain else _brief.repr(value)).split())
        if len(text) > LONGEST and isinstance(value, sm.Expr):
            text = str(sm.N(value, 6))
    except Exception:  # what SymPy made of an object that it does not know
        return f"<{type(value).__name__}>"
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"


_brief = reprlib.Repr()
_brief.maxstring = _brief.maxother = LONGEST + 2


def huge(names: Iterable[str], numbers: Iterable[float]) -> str:
    """Numbers without a finite square, by name; empty if there are none."""
    return ", ".join(f"{name} is {x:g}" for name, x in zip(names, numbers, strict=True) if abs(x) > SQUARABLE)
