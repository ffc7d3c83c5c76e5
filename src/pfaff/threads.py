"""Safety in threads: what is derived or compiled is made once and never changes, what keeps state has one owner.

Threads may share systems, cases and results. Their compiled functions leave no trace when they are called.
Integrators and arrays that are filled again and again do: every thread has its own, or borrows one.
"""

from __future__ import annotations

import copy
import functools
from collections import OrderedDict
from collections.abc import Callable, Iterator, MutableMapping
from contextlib import contextmanager
from contextvars import ContextVar
from math import inf
from queue import Empty, SimpleQueue
from threading import RLock, local
from typing import Any, Generic, ParamSpec, TypeVar

Key = TypeVar("Key")
Value = TypeVar("Value")
Arguments = ParamSpec("Arguments")

PART: ContextVar[bool] = ContextVar("whether this is part of something larger", default=False)
TURNS: dict[Any, Any] = {}  # locks for what is being made just now
MISSING: Any = object()


class Once(Generic[Key, Value]):
    """Things by key, each made by the first thread that asks for it, while others that want the same one wait.

    Things are made of others, but never in a circle: no two threads can wait for each other. Of more than ``most``, the
    one that was not asked for the longest is forgotten.
    """

    def __init__(self, most: float = inf) -> None:
        self._most = most
        self._made: OrderedDict[Key, Value] = OrderedDict()

    def __reduce__(self) -> tuple[Any, ...]:
        return Once, (self._most,)  # in another process things are made again

    def get(self, key: Key, make: Callable[[], Value]) -> Value:
        try:
            self._made.move_to_end(key)
            return self._made[key]
        except KeyError:
            pass
        value = _filled(self._made, key, (id(self), key), make)
        if len(self._made) > self._most:
            self._made.popitem(last=False)
        return value


def once(most: int) -> Callable[[Callable[Arguments, Value]], Callable[Arguments, Value]]:
    """As ``functools.lru_cache``, for functions that derive or compile: threads that ask together get the same.

    What is made of something that equals nothing but itself, such as a system or a flow, is kept by it and goes with
    it: once it is gone nobody can ask for the same, and compiled code takes megabytes.
    """

    def decorate(make: Callable[Arguments, Value]) -> Callable[Arguments, Value]:
        common: Once[Any, Value] = Once(most)
        name = f"{make.__module__}.{make.__qualname__}"

        @functools.wraps(make)
        def known(*values: Arguments.args, **named: Arguments.kwargs) -> Value:
            given = (*values, *named.values())
            kinds = tuple(map(type, given))  # 1, 1.0 and True are equal, and not the same
            made = common
            if given and kinds[0].__eq__ is object.__eq__ and isinstance(getattr(given[0], "__dict__", None), dict):
                made, given = kept_by(given[0], name, most), given[1:]
            key = (given, tuple(named), kinds)
            try:
                hash(key)
            except (TypeError, ValueError):  # NumPy's lapses of time raise the latter
                return make(*values, **named)
            return made.get(key, lambda: make(*values, **named))

        return known

    return decorate


def kept_by(owner: Any, name: str, most: int) -> Once[Any, Any]:
    """Things of a kind that are made of their owner, for as long as it is there."""
    return owner.__dict__.get(name) or owner.__dict__.setdefault(name, Once(most))


class cached_property(functools.cached_property[Value]):
    """As in ``functools``, but computed by one thread while others that want it of the same object wait.

    The original has one lock for all objects, or none at all, depending on the version of Python.
    """

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        if instance is None:
            return self
        name = self.attrname
        return _filled(instance.__dict__, name, (id(instance), name), lambda: self.func(instance))


class known_property(functools.cached_property[Value]):
    """A cached property without a lock, for microseconds of work: threads that compute it at once share one value."""

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        if instance is None:
            return self
        assert self.attrname is not None
        return instance.__dict__.setdefault(self.attrname, self.func(instance))


class Own(local, Generic[Value]):
    """Something that keeps state between calls: every thread has its ``own``, made when it first needs it."""

    def __init__(self, make: Callable[[], Value]) -> None:  # is called again in every thread
        self._make, self.own = make, make()

    def __reduce__(self) -> tuple[Any, ...]:
        return Own, (self._make,)


class Lent(Generic[Value]):
    """Something that keeps state while it is used: lent to one user at a time, copied when all copies are out."""

    def __init__(self, original: Value) -> None:
        self._original = original
        self._idle: SimpleQueue[Value] = SimpleQueue()

    @contextmanager
    def lend(self) -> Iterator[Value]:
        try:
            value = self._idle.get_nowait()
        except Empty:
            value = copy.deepcopy(self._original)
        try:
            yield value
        finally:
            self._idle.put(value)


def _filled(known: MutableMapping[Any, Value], key: Any, turn: Any, make: Callable[[], Value]) -> Value:
    """The value known by a key, made if it is not; one thread at a time for each turn.

    After an attempt that failed two threads may try again at once: what the first of them makes is taken by both.
    """
    with TURNS.setdefault(turn, RLock()):
        try:
            value = known.get(key, MISSING)
            if value is MISSING:
                value = known.setdefault(key, make())
            return value
        finally:
            TURNS.pop(turn, None)


@contextmanager
def part_of_a_whole() -> Iterator[None]:
    """Within, Ctrl-C ends the whole: no analysis returns what it has so far, so that a partial result is not mistaken
    for a complete one."""
    before = PART.set(True)
    try:
        yield
    finally:
        PART.reset(before)


def hand_on() -> None:
    """Raise the interrupt again that is being answered, where it is not this analysis that was interrupted."""
    if PART.get():
        raise  # what is being handled
