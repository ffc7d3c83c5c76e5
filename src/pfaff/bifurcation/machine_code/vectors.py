"""Rows of numbers for several intervals side by side, a vector register for each entry.

numba vectorises long loops only. Here the loop over the entries of a row is written in LLVM's language, and the
intervals are the lanes of its vectors. Rows are given by the addresses of entries; many rows are subtracted from two
others at once, so that these are read and written once, and each of those half as often.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from pfaff.bifurcation.machine_code.kernels import part

LANES = 8  # two vectors of most processors, which process both at once
TILE = 4  # entries of two rows that stay in registers while others are subtracted
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
    """Mark the lanes in which a factor exceeds a limit."""
    limit = _in_all(builder, most)
    above, below = builder.fcmp_ordered("<=", factor, limit), builder.fcmp_ordered(">=", factor, builder.fneg(limit))
    marked = builder.select(builder.and_(above, below), builder.load(grown, align=8), VECTOR([NUMBER(1.0)] * LANES))
    builder.store(marked, grown, align=8)


def _routine(addresses: int, numbers: int, generate: Any, counts: int = 1) -> Any:
    """An intrinsic with this many addresses, other numbers, and counts, such as that of entries; it returns nothing."""
    signature = types.none(*[types.intp] * addresses, *[types.float64] * numbers, *[types.intp] * counts)

    def generated(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        generate(builder, _vectors(builder, values[:addresses]), *values[addresses:])
        return context.get_dummy_value()

    return signature, generated


@intrinsic
def combine(context: Any, row: Any, first: Any, second: Any, by_first: Any, by_second: Any, count: Any) -> Any:
    """A row: the sum of two others, each times a factor common to all lanes."""

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
def scaled(context: Any, out: Any, row: Any, factor: Any, count: Any) -> Any:
    """A row: another one, each lane times its factor."""

    def generate(builder: Any, at: Sequence[Any], count: Any) -> None:
        out, row, factor = at
        by = _entry(builder, factor, 0)
        with cgutils.for_range(builder, count) as loop:
            entry = builder.load(builder.gep(row, [loop.index]), align=8)
            builder.store(builder.fmul(entry, by, flags=FUSED), builder.gep(out, [loop.index]), align=8)

    return _routine(3, 0, generate)


@intrinsic
def invert(context: Any, out: Any, row: Any, count: Any) -> Any:
    """A row of the reciprocals of another one."""

    def generate(builder: Any, at: Sequence[Any], count: Any) -> None:
        with cgutils.for_range(builder, count) as loop:
            out, entry = (builder.gep(each, [loop.index]) for each in at)
            builder.store(builder.fdiv(VECTOR([NUMBER(1.0)] * LANES), builder.load(entry, align=8)), out, align=8)

    return _routine(2, 0, generate)


@intrinsic
def take_off(context: Any, row: Any, other: Any, factor: Any, count: Any) -> Any:
    """Subtract another row, each lane times its factor."""

    def generate(builder: Any, at: Sequence[Any], count: Any) -> None:
        row, other, factor = at
        _take_off(builder, row, [_entry(builder, factor, 0)], [other], count)

    return _routine(3, 0, generate)


@intrinsic
def reduce(context: Any, row: Any, pivot: Any, inverse: Any, grown: Any, most: Any, count: Any) -> Any:
    """Reduce a row by a pivot row, both from there on, with ``count`` entries beyond; the factor is left in the row,
    and ``grown`` marks the lanes in which it exceeds a limit."""

    def generate(builder: Any, at: Sequence[Any], most: Any, count: Any) -> None:
        row, pivot, inverse, grown = at
        factor = builder.fmul(_entry(builder, row, 0), _entry(builder, inverse, 0))
        builder.store(factor, row, align=8)
        _mark(builder, grown, factor, most)
        row, pivot = (builder.gep(each, [PLACE(1)]) for each in (row, pivot))
        _take_off(builder, row, [factor], [pivot], count)

    return _routine(4, 1, generate)


@intrinsic
def take_rows_off(
    context: Any, one: Any, two: Any, others: Any, by_one: Any, by_two: Any, apart: Any, many: Any, count: Any
) -> Any:
    """Subtract many rows, at a distance of ``apart`` entries, from two rows, each lane times its factors, which follow
    one another."""

    def generate(builder: Any, at: Sequence[Any], apart: Any, many: Any, count: Any) -> None:
        one, two, others, *factors = at
        tiles = builder.udiv(count, PLACE(TILE))
        done = builder.mul(tiles, PLACE(TILE))
        for wide, first, steps in ((TILE, PLACE(0), tiles), (1, done, builder.sub(count, done))):
            with cgutils.for_range(builder, steps) as loop:
                low = builder.add(first, builder.mul(loop.index, PLACE(wide)))
                rows = [builder.gep(each, [low]) for each in (one, two)]
                _take_tile_off(builder, rows, builder.gep(others, [low]), factors, (apart, many), wide)

    return _routine(5, 0, generate, 3)


def _take_tile_off(
    builder: Any, rows: Sequence[Any], others: Any, factors: Sequence[Any], size: tuple[Any, Any], wide: int
) -> None:
    """The same for a few entries of both rows, which stay in registers meanwhile."""
    apart, many = size
    sums = [[cgutils.alloca_once_value(builder, _entry(builder, row, k)) for k in range(wide)] for row in rows]
    with cgutils.for_range(builder, many) as loop:
        other = builder.gep(others, [builder.mul(loop.index, apart)])
        entries = [_entry(builder, other, k) for k in range(wide)]
        for each, by in zip(sums, factors, strict=True):
            factor = builder.load(builder.gep(by, [loop.index]), align=8)
            for total, entry in zip(each, entries, strict=True):
                builder.store(_less(builder, builder.load(total), [factor], [entry]), total)
    for row, each in zip(rows, sums, strict=True):
        for k, total in enumerate(each):
            builder.store(builder.load(total), builder.gep(row, [PLACE(k)]), align=8)


@intrinsic
def dot(context: Any, out: Any, one: Any, other: Any, apart: Any, other_apart: Any, count: Any) -> Any:
    """The sum of products of entries at given distances, in every lane."""

    def generate(builder: Any, at: Sequence[Any], apart: Any, other_apart: Any, count: Any) -> None:
        total = cgutils.alloca_once_value(builder, VECTOR([NUMBER(0.0)] * LANES))
        with cgutils.for_range(builder, count) as loop:
            factors = [
                builder.load(builder.gep(each, [builder.mul(loop.index, by)]), align=8)
                for each, by in zip(at[1:], (apart, other_apart), strict=True)
            ]
            product = builder.fmul(*factors, flags=FUSED)
            builder.store(builder.fadd(builder.load(total), product, flags=FUSED), total)
        builder.store(builder.load(total), at[0], align=8)

    return _routine(3, 0, generate, 3)


@part
def aligned(count):
    """Zeros from the beginning of a cache line on: a vector across two lines takes twice as long."""
    room = np.zeros(count + LANES)
    first = -(room.ctypes.data // 8) % LANES
    return room[first : first + count]


@part
def padded(count):
    """The length of rows in which this many neighbouring entries fill whole vectors."""
    return -(-count // LANES) * LANES


@intrinsic
def add_multiple(context: Any, row: Any, other: Any, factor: Any, count: Any) -> Any:
    """Add another row times a factor; both have ``count`` vectors, whose lanes are neighbouring entries here."""

    def generate(builder: Any, at: Sequence[Any], factor: Any, count: Any) -> None:
        row, other = at
        all_by = _in_all(builder, factor)
        with cgutils.for_range(builder, count) as loop:
            to, by = (builder.gep(each, [loop.index]) for each in (row, other))
            product = builder.fmul(all_by, builder.load(by, align=8), flags=FUSED)
            builder.store(builder.fadd(builder.load(to, align=8), product, flags=FUSED), to, align=8)

    return _routine(2, 1, generate)


@intrinsic
def sum_rows(context: Any, out: Any, rows: Any, factors: Any, apart: Any, many: Any, count: Any) -> Any:
    """The sum of many rows, ``apart`` vectors from each other, each times a factor; rows have ``count`` vectors, whose
    lanes are neighbouring entries."""

    def generate(builder: Any, at: Sequence[Any], apart: Any, many: Any, count: Any) -> None:
        out, rows, factors = at
        numbers = builder.bitcast(factors, NUMBER.as_pointer())
        with cgutils.for_range(builder, count) as column:
            total = cgutils.alloca_once_value(builder, VECTOR([NUMBER(0.0)] * LANES))
            with cgutils.for_range(builder, many) as loop:
                place = builder.add(column.index, builder.mul(loop.index, apart))
                entry = builder.load(builder.gep(rows, [place]), align=8)
                factor = _in_all(builder, builder.load(builder.gep(numbers, [loop.index])))
                product = builder.fmul(factor, entry, flags=FUSED)
                builder.store(builder.fadd(builder.load(total), product, flags=FUSED), total)
            builder.store(builder.load(total), builder.gep(out, [column.index]), align=8)

    return _routine(3, 0, generate, 3)


@intrinsic
def exchange(context: Any, row: Any, other: Any, count: Any) -> Any:
    """Exchange two rows of ``count`` vectors."""

    def generate(builder: Any, at: Sequence[Any], count: Any) -> None:
        with cgutils.for_range(builder, count) as loop:
            places = [builder.gep(each, [loop.index]) for each in at]
            for entry, place in zip([builder.load(each, align=8) for each in places], places[::-1], strict=True):
                builder.store(entry, place, align=8)

    return _routine(2, 0, generate)


@intrinsic
def call_for_columns(
    context: Any, address: Any, out: Any, x: Any, numbers: Any, times: Any, points: Any, code: Any
) -> Any:
    """Call the function at an address for neighbouring columns; all arguments but their number are addresses."""

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        byte = ir.IntType(8).as_pointer()
        kind = ir.FunctionType(ir.VoidType(), [byte] * 4 + [PLACE] * 2)
        function = builder.inttoptr(values[0], kind.as_pointer())
        builder.call(function, [*(builder.inttoptr(each, byte) for each in values[1:5]), *values[5:]])
        return context.get_dummy_value()

    return types.none(*[types.intp] * 7), generate
