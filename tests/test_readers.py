"""Readers of tapes: every operation against 50 digits, at one point and in lanes, by one thread and by eight."""

from __future__ import annotations

import math
import pickle
import struct
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import mpmath as mp
import numpy as np
import pytest

import pfaff.kernels
from pfaff.errors import PfaffError
from pfaff.flow.tape import TWO_ARGUMENTS, Op, Tape
from pfaff.kernels.readers import Reader

NONE = np.empty(0)
EXACT = {
    **{Op.ADD: mp.fadd, Op.SUB: mp.fsub, Op.MUL: mp.fmul, Op.DIV: mp.fdiv, Op.NEG: lambda x: -x, Op.SQRT: mp.sqrt},
    **{Op.SQUARE: lambda x: x * x, Op.SIN: mp.sin, Op.COS: mp.cos, Op.TAN: mp.tan, Op.ASIN: mp.asin, Op.ACOS: mp.acos},
    **{Op.ATAN: mp.atan, Op.SINH: mp.sinh, Op.COSH: mp.cosh, Op.TANH: mp.tanh, Op.ASINH: mp.asinh, Op.ACOSH: mp.acosh},
    **{Op.ATANH: mp.atanh, Op.EXP: mp.exp, Op.LOG: mp.log, Op.ERF: mp.erf, Op.ERFC: mp.erfc, Op.POW: mp.power},
    **{Op.ATAN2: mp.atan2},
}  # fmt: skip
ULPS = {  # units in the last place; rounding alone is half of one
    **dict.fromkeys((Op.ADD, Op.SUB, Op.MUL, Op.DIV, Op.NEG, Op.SQUARE, Op.SQRT), 0.5),
    **dict.fromkeys((Op.SIN, Op.COS, Op.SINCOS, Op.EXP, Op.LOG, Op.ATAN), 1.0),
    **dict.fromkeys((Op.TAN, Op.ASIN, Op.ACOS, Op.SINH, Op.COSH, Op.TANH, Op.ASINH, Op.ACOSH, Op.ATANH), 2.2),
    **{Op.ATAN2: 1.5, Op.POW: 1.0, Op.ERF: 1.5, Op.ERFC: 5.0},  # pow, erf and erfc are the system's
}
LIMITED = {
    Op.ASIN: (-1, 1),
    Op.ACOS: (-1, 1),
    Op.ATANH: (-1, 1),
    Op.ACOSH: (1, math.inf),
    Op.LOG: (0, math.inf),
    Op.SQRT: (0, math.inf),
}
SINGULAR = [0.0, -0.0, math.inf, -math.inf, math.nan, 1.0, -1.0, 2.0, -0.5, 5e-324, -5e-324, 1e-310, 1.7e308, -1.7e308]


def tape_of_one(op: Op) -> Tape:
    n = 2 if op in TWO_ARGUMENTS else 1
    row, outputs = (op, 0, n - 1, n + 1), [n + 1]
    if op == Op.SINCOS:
        row, outputs = (op, 0, n + 2, n + 1), [n + 1, n + 2]
    return Tape([row], [(op, 0, 1)], 0, NONE, n, 0, n + 1, n + 1 + len(outputs), outputs)


def arguments(op: Op, seed: int, many: int = 400) -> np.ndarray:
    """Arguments of all magnitudes, ordinary ones, and those where functions are hard: near multiples of π/2 and 1."""
    rng, n = np.random.default_rng(seed), 2 if op in TWO_ARGUMENTS else 1
    sign = rng.choice([-1.0, 1.0], (n, many))
    parts = [
        rng.integers(-(2**63), 2**63, (n, many), dtype=np.int64).view(float),
        rng.uniform(-10, 10, (n, many)),
        sign * 10 ** rng.uniform(-8, 6, (n, many)),
        sign * (1 - 10 ** rng.uniform(-16, 0, (n, many))),
        sign * rng.uniform(0, 750, (n, many)),
    ]
    if op in (Op.SIN, Op.COS, Op.SINCOS, Op.TAN):
        parts += [
            np.array([[float(int(k) * mp.pi / 2) for k in 10 ** rng.uniform(0, 15, many)]]),
            np.array([[6381956970095103.0 * 2.0**797, 1e22, np.nextafter(1e6, 0), 1e6]]),
        ]
    if op == Op.ACOSH:
        parts = [1 + abs(each) for each in parts]
    x = np.concatenate(parts, axis=1)
    low, high = LIMITED.get(op, (-math.inf, math.inf))
    x[0] = np.where((x[0] >= low) & (x[0] <= high), x[0], abs(x[0]) % 1 if high == 1 else abs(x[0]))
    return np.ascontiguousarray(x[:, np.isfinite(x).all(axis=0)])


def read(reader: Reader, x: np.ndarray) -> np.ndarray:
    out = np.empty((len(reader.tape.outputs), x.shape[1]))
    reader.batch(x, np.empty((0, x.shape[1])), np.zeros(x.shape[1]), out)
    return out


def same(a: np.ndarray, b: np.ndarray) -> bool:
    """Whether two arrays have the same bits, or both a NaN."""
    return bool(((a.view(np.int64) == b.view(np.int64)) | (np.isnan(a) & np.isnan(b))).all())


def ulps(value: float, exact: mp.mpf) -> float:
    """The error in units in the last place of the exact value; zero where both overflow."""
    if abs(exact) >= mp.mpf(2) ** 1024 * (1 - mp.mpf(2) ** -54):
        return 0.0 if math.isinf(value) and (value > 0) == (exact > 0) else math.inf
    exponent = max(int(mp.frexp(exact)[1]) - 1, -1022) if exact else -1022
    return float(abs(mp.mpf(value) - exact) / mp.mpf(2) ** (exponent - 52))


@pytest.mark.parametrize("op", [op for op in Op if op != Op.SINCOS], ids=lambda op: op.name)
def test_every_operation_against_many_digits(op):
    x = arguments(op, seed=int(op))
    if op == Op.POW:
        x = np.ascontiguousarray(x[:, (x[0] > 0) & (abs(x[1]) < 1e4)])
    found = read(Reader(tape_of_one(op)), x)[0]
    worst = 0.0
    for k, value in enumerate(found):
        given = [mp.mpf(each) for each in x[:, k]]
        with mp.workprec(2400 if op in (Op.SIN, Op.COS, Op.TAN) else 200):
            if op in (Op.EXP, Op.SINH, Op.COSH, Op.ERFC) and abs(given[0]) > 1e4:
                continue  # nothing but zero and infinity, which numbers this large cannot even be written for
            exact = EXACT[op](*given) if op != Op.DIV or given[1] else None
            if exact is not None:
                worst = max(worst, ulps(float(value), exact))
    assert worst <= ULPS[op] * (1 + 1e-12)


@pytest.mark.parametrize("op", list(Op), ids=lambda op: op.name)
def test_singular_arguments_are_as_ieee_gives_them(op):
    tape = tape_of_one(op)
    x = np.array(SINGULAR)[None, :] if tape.n == 1 else np.array(np.meshgrid(SINGULAR, SINGULAR)).reshape(2, -1)
    x = np.ascontiguousarray(x)
    found, expected = read(Reader(tape), x), tape.value(x)
    assert (np.isnan(found) == np.isnan(expected)).all()
    assert (np.isinf(found) == np.isinf(expected)).all()
    known = ~np.isnan(expected)
    assert (np.signbit(found) == np.signbit(expected))[known].all()
    np.testing.assert_allclose(found[known], expected[known], rtol=1e-15, atol=0)


@pytest.mark.parametrize("op", list(Op), ids=lambda op: op.name)
def test_one_point_and_lanes_have_the_same_digits(op):
    """Also where some lanes are far, singular or left over."""
    reader, x = Reader(tape_of_one(op)), arguments(op, seed=7, many=50)
    x = np.concatenate([x, np.resize(SINGULAR, (x.shape[0], 29))], axis=1)
    x = np.ascontiguousarray(x[:, np.random.default_rng(1).permutation(x.shape[1])])
    assert same(read(reader, x), np.array([reader(np.ascontiguousarray(column), NONE) for column in x.T]).T)


def mixed_tape(seed: int, n: int = 5, p: int = 3, rows: int = 400) -> Tape:
    """A tape of random operations in random order, whose first rows depend on parameters alone."""
    rng = np.random.default_rng(seed)
    numbers = rng.uniform(-2, 2, 4)
    inputs = n + 1 + p + len(numbers)
    table, size, fixed = [], inputs, 0
    ops = [op for op in Op if op not in (Op.POW, Op.EXP, Op.SINH, Op.COSH, Op.TAN, Op.DIV, Op.SQUARE)]
    for k in range(rows):
        if k == rows // 5:
            fixed = size
        known = np.arange(n + 1, size) if k < rows // 5 else np.arange(size)
        op, a, b = ops[rng.integers(len(ops))], rng.choice(known), rng.choice(known)
        table.append((op, a, (size + 1 if op == Op.SINCOS else b if op in TWO_ARGUMENTS else a), size))
        size += 2 if op == Op.SINCOS else 1
    cuts = [0] + [k for k in range(1, rows) if table[k][0] != table[k - 1][0] or k == rows // 5] + [rows]
    runs = [(table[a][0], a, b) for a, b in pairwise(cuts)]
    first = next(k for k, run in enumerate(runs) if run[1] == rows // 5)
    return Tape(table, runs, first, numbers, n, p, fixed, size, rng.choice(size, 30))


@pytest.fixture(scope="module")
def tapes() -> list[Tape]:
    return [mixed_tape(seed) for seed in range(20)]


def test_mixed_tapes_are_read_as_they_are_specified(tapes):
    """With registers used again, parameters that stay and change, results that are inputs."""
    rng = np.random.default_rng(3)
    for tape in tapes:
        reader = Reader(tape)
        x, parameters, times = rng.uniform(-1, 1, (5, 27)), rng.uniform(-1, 1, (4, 27)), rng.uniform(-1, 1, 27)
        parameters[:, 9:] = parameters[:, 9:10]
        out = np.empty((30, 27))
        reader.batch(x, parameters, times, out)
        columns = [np.ascontiguousarray(each) for each in (x.T, parameters.T)]
        ones = np.array([reader(columns[0][k], columns[1][k], times[k]) for k in range(27)]).T
        assert same(out, ones)
        expected = tape.value(x, parameters, times)
        assert (np.isfinite(out) == np.isfinite(expected)).all()
        np.testing.assert_allclose(out, expected, rtol=1e-9, atol=1e-9)


def test_eight_threads_read_what_one_reads(tapes):
    readers = [Reader(tape) for tape in tapes]
    rng = np.random.default_rng(5)
    x, parameters = rng.uniform(-1, 1, (200, 5)), rng.uniform(-1, 1, (200, 3))

    def values(k: int) -> np.ndarray:
        return np.array([reader(x[k], parameters[k % 7], 0.5) for reader in readers])

    alone = [values(k) for k in range(200)]
    with ThreadPoolExecutor(8) as pool:
        assert all(same(a, b) for a, b in zip(alone, pool.map(values, range(200)), strict=True))


def test_readers_are_pickled_as_their_tapes(tapes):
    reader = pickle.loads(pickle.dumps(Reader(tapes[0])))
    x, parameters = np.linspace(0, 1, 5), np.ones(3)
    assert same(reader(x, parameters), Reader(tapes[0])(x, parameters))


@pytest.mark.parametrize(
    "arrays",
    [
        (np.zeros(4), np.zeros(3)),
        (np.zeros(5), np.zeros(2)),
        (np.zeros(10)[::2], np.zeros(3)),
        (np.zeros(5, dtype=int), np.zeros(3)),
        (np.zeros((5, 1)), np.zeros(3)),
    ],
)
def test_arrays_that_do_not_fit_are_refused(arrays, tapes):
    with pytest.raises((ValueError, BufferError)):
        Reader(tapes[0])(*arrays)


def test_columns_that_do_not_fit_are_refused(tapes):
    reader, good = Reader(tapes[0]), [np.zeros((5, 9)), np.zeros((3, 9)), np.zeros(9), np.zeros((30, 9))]
    reader.batch(*good)
    read_only = np.zeros((30, 9))
    read_only.flags.writeable = False
    for place, bad in [
        (0, np.zeros((5, 8))),
        (0, np.zeros((4, 9))),
        (1, np.zeros((2, 9))),
        (2, np.zeros(8)),
        (3, read_only),
    ]:
        with pytest.raises((ValueError, BufferError)):
            reader.batch(*good[:place], bad, *good[place + 1 :])


def test_damaged_tapes_are_refused_before_they_are_read(tapes):
    """Numbers in a file that are changed at random: a tape is refused, or it is another one that can be read."""
    rng, refused = np.random.default_rng(9), 0
    for trial in range(2000):
        tape = tapes[trial % len(tapes)]
        parts = dict(zip(tape.__dataclass_fields__, tape.__reduce__()[1], strict=True))
        name = rng.choice(["rows", "runs", "outputs", "prologue_runs", "n", "p", "fixed", "size"])
        if isinstance(parts[name], np.ndarray):
            parts[name] = parts[name].copy()
            flat = parts[name].reshape(-1)
            flat[rng.integers(flat.size)] = rng.choice([-1, 0, tape.size, 2**31 - 1, rng.integers(0, 500)])
        else:
            parts[name] = int(rng.choice([-1, 0, parts[name] + 1, parts[name] - 1, 2**31]))
        try:
            damaged = Tape(**parts)
        except PfaffError:
            refused += 1
            continue
        Reader(damaged)(np.zeros(damaged.n), np.zeros(damaged.p))
    assert refused > 1000


def test_registers_without_memory_are_an_error():
    """A tape whose registers for eight columns are more than memory may hold, in a process of its own."""
    script = """
import resource
import numpy as np
from pfaff.flow.tape import Op, Tape
from pfaff.kernels.readers import Reader
many = 300_000
a = np.arange(many)
rows = np.column_stack([np.full(many, Op.NEG), np.maximum(a + 1, 2) * (a > 0), np.maximum(a + 1, 2) * (a > 0), a + 2])
tape = Tape(rows, np.array([[Op.NEG, 0, many]]), 0, np.zeros(0), 1, 0, 2, many + 2, np.arange(2, many + 2))
reader, x, out = Reader(tape), np.ones((1, 2)), np.empty((many, 2))
used = int(open("/proc/self/statm").read().split()[0]) * 4096
resource.setrlimit(resource.RLIMIT_AS, (used + 10_000_000,) * 2)
try:
    reader.batch(x, np.zeros((0, 2)), np.zeros(2), out)
except MemoryError:
    print("refused")
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.stdout.strip() == "refused", done.stderr


def test_kernels_are_compiled():
    """Wide where the processor allows it."""
    from pfaff.kernels import processor, readers

    assert not readers.__file__.endswith(".py")
    assert len(pfaff.kernels.__path__) == 1 + processor.wide()
    assert struct.calcsize("P") == 8
