"""Rows of numbers for several intervals side by side, a vector of the processor for each entry.

numba makes vectors of long loops only. Here the loop over the entries of a row is written in LLVM's language, and the
intervals are the lanes of its vectors. Rows are given by the addresses of entries; two are taken off another at once,
so that it is read and written half as often.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

LANES = 8  # two vectors of most processors, which work at both at once
NUMBER, PLACE = ir.DoubleType(), ir.IntType(64)
VECTOR = ir.VectorType(NUMBER, LANES)
FUSED = ("contract", "nsz")


def _vectors(builder: Any, addresses: Sequence[Any]) -> list[Any]:
    return [builder.inttoptr(each, VECTOR.as_pointer()) for each in addresses]


def _entry(builder: Any, row: Any, place: int) -> Any:
    return builder.load(builder.gep(row, [PLACE(place)]), align=8)


def _less(builder: Any, value: Any, factors: Sequence[Any], others: Sequence[Any]) -> Any:
    for factor, other in zip(factors, others, strict=True):
        value = builder.fsub(value, builder.fmul(factor, other, flags=FUSED), flags=FUSED)
    return value


def _take_off(builder: Any, row: Any, factors: Sequence[Any], others: Sequence[Any], count: Any) -> None:
    with cgutils.for_range(builder, count) as loop:
        at = builder.gep(row, [loop.index])
        entries = [builder.load(builder.gep(each, [loop.index]), align=8) for each in others]
        builder.store(_less(builder, builder.load(at, align=8), factors, entries), at, align=8)


def _in_all(builder: Any, number: Any) -> Any:
    """A number in all lanes."""
    vector = VECTOR(ir.Undefined)
    for lane in range(LANES):
        vector = builder.insert_element(vector, number, ir.IntType(32)(lane))
    return vector


def _mark(builder: Any, grown: Any, factor: Any, most: Any) -> None:
    """The lanes in which a factor is not within a limit."""
    limit = _in_all(builder, most)
    above, below = builder.fcmp_ordered("<=", factor, limit), builder.fcmp_ordered(">=", factor, builder.fneg(limit))
    marked = builder.select(builder.and_(above, below), builder.load(grown, align=8), VECTOR([NUMBER(1.0)] * LANES))
    builder.store(marked, grown, align=8)


def _routine(addresses: int, numbers: int, generate: Any) -> Any:
    """Of so many addresses, other numbers, and how many entries there are; without a result."""
    signature = types.none(*[types.intp] * addresses, *[types.float64] * numbers, types.intp)

    def generated(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        generate(builder, _vectors(builder, values[:addresses]), *values[addresses:])
        return context.get_dummy_value()

    return signature, generated


@intrinsic
def combine(context: Any, row: Any, first: Any, second: Any, by_first: Any, by_second: Any, count: Any) -> Any:
    """A row of the sum of two others, each by a factor of all lanes."""

    def generate(builder: Any, at: Sequence[Any], one: Any, two: Any, count: Any) -> None:
        factors = [_in_all(builder, each) for each in (one, two)]
        with cgutils.for_range(builder, count) as loop:
            row, first, second = (builder.gep(each, [loop.index]) for each in at)
            terms = [
                builder.fmul(factor, builder.load(each, align=8), flags=FUSED)
                for factor, each in zip(factors, (first, second), strict=True)
            ]
            builder.store(builder.fadd(*terms, flags=FUSED), row, align=8)

    return _routine(3, 2, generate)


@intrinsic
def take_off(context: Any, row: Any, other: Any, factor: Any, count: Any) -> Any:
    """From a row another one, each lane by its factor."""

    def generate(builder: Any, at: Sequence[Any], count: Any) -> None:
        row, other, factor = at
        _take_off(builder, row, [_entry(builder, factor, 0)], [other], count)

    return _routine(3, 0, generate)


@intrinsic
def take_two_off(context: Any, row: Any, first: Any, second: Any, factors: Any, count: Any) -> Any:
    """From a row two others, each lane by its factors, which are one after the other."""

    def generate(builder: Any, at: Sequence[Any], count: Any) -> None:
        row, first, second, factors = at
        _take_off(builder, row, [_entry(builder, factors, place) for place in (0, 1)], [first, second], count)

    return _routine(4, 0, generate)


@intrinsic
def reduce(context: Any, row: Any, pivot: Any, inverse: Any, grown: Any, most: Any, count: Any) -> Any:
    """A row by that of a pivot, both from there on, with so many entries beyond; ``grown`` marks the lanes in which the
    factor is not within a limit."""

    def generate(builder: Any, at: Sequence[Any], most: Any, count: Any) -> None:
        row, pivot, inverse, grown = at
        factor = builder.fmul(_entry(builder, row, 0), _entry(builder, inverse, 0))
        _mark(builder, grown, factor, most)
        row, pivot = (builder.gep(each, [PLACE(1)]) for each in (row, pivot))
        _take_off(builder, row, [factor], [pivot], count)

    return _routine(4, 1, generate)


@intrinsic
def reduce_twice(
    context: Any, row: Any, first: Any, second: Any, inverses: Any, grown: Any, most: Any, count: Any
) -> Any:
    """The same by two pivots, of neighbouring rows, with so many entries beyond both; all rows begin at the first."""

    def generate(builder: Any, at: Sequence[Any], most: Any, count: Any) -> None:
        row, first, second, inverses, grown = at
        one = builder.fmul(_entry(builder, row, 0), _entry(builder, inverses, 0))
        left = _less(builder, _entry(builder, row, 1), [one], [_entry(builder, first, 1)])
        two = builder.fmul(left, _entry(builder, inverses, 1))
        for factor in (one, two):
            _mark(builder, grown, factor, most)
        row, first, second = (builder.gep(each, [PLACE(2)]) for each in (row, first, second))
        _take_off(builder, row, [one, two], [first, second], count)

    return _routine(5, 1, generate)


@intrinsic
def call_in_lanes(context: Any, address: Any, out: Any, x: Any, numbers: Any, time: Any, stride: Any) -> Any:
    """The function at an address of neighbouring columns, all of them addresses, with rows so far apart."""

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        byte = ir.IntType(8).as_pointer()
        kind = ir.FunctionType(ir.VoidType(), [byte] * 4 + [PLACE])
        function = builder.inttoptr(values[0], kind.as_pointer())
        builder.call(function, [*(builder.inttoptr(each, byte) for each in values[1:5]), values[5]])
        return context.get_dummy_value()

    return types.none(*[types.intp] * 6), generate
