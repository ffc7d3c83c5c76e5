# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Readers of tapes: the values of the outputs at one point, or at many in lanes of eight, with the same digits.

``Reader`` is for Python; other kernels call ``value`` and ``values_in``.
"""

from __future__ import annotations

import cython
import numpy as np

if cython.compiled:
    from cython.cimports.cpython.buffer import (
        Py_buffer, PyBUF_C_CONTIGUOUS, PyBUF_FORMAT, PyBUF_WRITABLE, PyBuffer_Release, PyObject_GetBuffer,
    )  # fmt: skip
    from cython.cimports.libc.stdlib import free, malloc
    from cython.cimports.libc.string import memcmp, memcpy
    from cython.cimports.pfaff.kernels.instructions import SINCOS, run, run_lanes

HEAD = cython.declare(cython.Py_ssize_t, 2)  # what a room begins with: the address of the code, and whether it was used


def value(out, x, parameters, time, room):
    """The results at one point. A room begins with the address of the code; what depends on parameters alone is kept
    there, and used again where they are the same."""
    code: cython.pointer[Code] = cython.cast(cython.pointer[Code], cython.cast(cython.p_longlong, room)[0])
    w: cython.p_double = room + HEAD
    i: cython.Py_ssize_t
    p: cython.p_double = w + code.n + 1
    for i in range(code.n):
        w[i] = x[i]
    w[code.n] = time[0]
    if room[1] == 0.0 or memcmp(p, parameters, 8 * code.p):
        room[1] = 1.0
        for i in range(code.p):
            p[i] = parameters[i]
        for i in range(code.known):
            p[code.p + i] = code.numbers[i]
        run(code.rows, code.runs, 0, code.prologue, w)
    run(code.rows, code.runs, code.prologue, code.runs_in_all, w)
    for i in range(code.results):
        out[i] = w[code.outputs[i]]


def _take(w, source, rows, apart, left):
    """Fill registers of eight lanes from neighbouring columns, the last one again where fewer are left; returns whether
    anything is new."""  # fmt: skip
    i: cython.Py_ssize_t
    l: cython.Py_ssize_t
    new: cython.bint = False
    last: cython.Py_ssize_t = min(left, 8) - 1
    if last == 7:
        for i in range(rows):
            if memcmp(w + 8 * i, source + i * apart, 64):
                new = True
                memcpy(w + 8 * i, source + i * apart, 64)
        return new
    for i in range(rows):
        for l in range(8):
            w[8 * i + l] = source[i * apart + min(l, last)]
    return True


def values_in(room, out, x, parameters, times, points, code):
    """The results at many points, the columns of arrays with a column for each, in a room of eight doubles for each
    register, and eight more."""
    w: cython.p_double = cython.cast(cython.p_double, (cython.cast(cython.size_t, room) + 63) // 64 * 64)
    i: cython.Py_ssize_t
    l: cython.Py_ssize_t
    at: cython.Py_ssize_t
    p: cython.p_double = w + 8 * (code.n + 1)
    new: cython.bint
    for i in range(code.known):
        for l in range(8):
            p[8 * (code.p + i) + l] = code.numbers[i]
    for at in range(0, points, 8):
        _take(w, x + at, code.n, points, points - at)
        _take(w + 8 * code.n, times + at, 1, points, points - at)
        new = _take(p, parameters + at, code.p, points, points - at)
        if new or at == 0:
            run_lanes(code.rows, code.runs, 0, code.prologue, w)
        run_lanes(code.rows, code.runs, code.prologue, code.runs_in_all, w)
        if points - at >= 8:
            for i in range(code.results):
                memcpy(out + i * points + at, w + 8 * code.outputs[i], 64)
        else:
            for i in range(code.results):
                for l in range(points - at):
                    out[i * points + at + l] = w[8 * code.outputs[i] + l]


@cython.cclass
class Reader:
    """The values of a tape. Threads may share it: each call has registers of its own."""

    def __init__(self, tape):
        self.tape, self._rows, self._outputs = tape, tape.rows.copy(), tape.outputs.copy()
        code: cython.pointer[Code] = cython.address(self.code)
        code.rows = cython.cast(cython.pointer[cython.const[cython.int]], _address(self._rows))
        code.runs = cython.cast(cython.pointer[cython.const[cython.int]], _address(tape.runs))
        code.outputs = cython.cast(cython.pointer[cython.const[cython.int]], _address(self._outputs))
        code.numbers = cython.cast(cython.pointer[cython.const[cython.double]], _address(tape.numbers))
        code.prologue, code.runs_in_all = tape.prologue_runs, len(tape.runs)
        code.n, code.p, code.known = tape.n, tape.p, len(tape.numbers)
        code.results = len(tape.outputs)
        code.size = _compact(
            cython.cast(cython.p_int, code.rows), len(tape.rows), cython.cast(cython.p_int, code.outputs), code.results,
            tape.prologue_rows, tape.fixed, tape.size)  # fmt: skip
        self._room = cython.NULL

    def __dealloc__(self):
        free(self._room)

    def __reduce__(self):
        return Reader, (self.tape,)

    @property
    def room(self):
        """A new room for ``value``."""
        room = np.zeros(HEAD + self.code.size)
        room[:1].view(np.int64)[0] = cython.cast(cython.size_t, cython.address(self.code))
        return room

    def __call__(self, x, parameters, time: cython.double = 0.0):
        """The results at one point, in a new array."""
        out = np.empty(self.code.results)
        three = cython.declare(Py_buffer[3])
        taken: cython.int = 0
        room: cython.p_double = self._room
        self._room = cython.NULL
        try:
            _take_array(x, cython.address(three[0]), self.code.n, True, False)
            taken = 1
            _take_array(parameters, cython.address(three[1]), self.code.p, False, False)
            taken = 2
            _take_array(out, cython.address(three[2]), self.code.results, True, True)
            taken = 3
            if room == cython.NULL:
                room = cython.cast(cython.p_double, malloc(8 * (HEAD + self.code.size)))
                if room == cython.NULL:
                    raise MemoryError
                cython.cast(cython.p_longlong, room)[0] = cython.cast(cython.longlong, cython.address(self.code))
                room[1] = 0.0
            with cython.nogil:
                value(
                    cython.cast(cython.p_double, three[2].buf), cython.cast(cython.p_double, three[0].buf),
                    cython.cast(cython.p_double, three[1].buf), cython.address(time), room)  # fmt: skip
        finally:
            while taken:
                taken -= 1
                PyBuffer_Release(cython.address(three[taken]))
            if self._room == cython.NULL:
                self._room = room
            else:
                free(room)
        return out

    def batch(self, x, parameters, times, out):
        """Fill in the results at many points, columns with a column of parameters and a time each."""
        four = cython.declare(Py_buffer[4])
        taken: cython.int = 0
        points: cython.Py_ssize_t = len(times)
        room: cython.p_double = cython.cast(cython.p_double, malloc(64 * self.code.size + 64))
        if room == cython.NULL:
            raise MemoryError
        try:
            _take_array(times, cython.address(four[0]), points, True, False)
            taken = 1
            _take_columns(x, cython.address(four[1]), self.code.n, points, True, False)
            taken = 2
            _take_columns(parameters, cython.address(four[2]), self.code.p, points, False, False)
            taken = 3
            _take_columns(out, cython.address(four[3]), self.code.results, points, True, True)
            taken = 4
            with cython.nogil:
                values_in(
                    room, cython.cast(cython.p_double, four[3].buf), cython.cast(cython.p_double, four[1].buf),
                    cython.cast(cython.p_double, four[2].buf), cython.cast(cython.p_double, four[0].buf),
                    points, cython.address(self.code))  # fmt: skip
        finally:
            free(room)
            while taken:
                taken -= 1
                PyBuffer_Release(cython.address(four[taken]))


@cython.cfunc
@cython.exceptval(-1)
def _take_array(
    array: object, view: cython.pointer[Py_buffer], many: cython.Py_ssize_t, exactly: cython.bint, writable: cython.bint
) -> cython.int:
    """Memory of an array of numbers, which must be as many as are expected."""
    PyObject_GetBuffer(array, view, PyBUF_C_CONTIGUOUS | PyBUF_FORMAT | (PyBUF_WRITABLE if writable else 0))
    if view.ndim != 1 or view.format[0] != 100 or view.shape[0] < many or (exactly and view.shape[0] > many):
        PyBuffer_Release(view)
        raise ValueError(f"{many} numbers in one array are expected")
    return 0


@cython.cfunc
@cython.exceptval(-1)
def _take_columns(
    array: object,
    view: cython.pointer[Py_buffer],
    rows: cython.Py_ssize_t,
    columns: cython.Py_ssize_t,
    exactly: cython.bint,
    writable: cython.bint,
) -> cython.int:
    """The same of an array of rows."""  # fmt: skip
    PyObject_GetBuffer(array, view, PyBUF_C_CONTIGUOUS | PyBUF_FORMAT | (PyBUF_WRITABLE if writable else 0))
    if (
        view.ndim != 2 or view.format[0] != 100 or view.shape[0] < rows or (exactly and view.shape[0] > rows)
        or view.shape[1] != columns
    ):  # fmt: skip
        PyBuffer_Release(view)
        raise ValueError(f"{rows} rows of {columns} numbers are expected")
    return 0


@cython.cfunc
def _compact(
    rows: cython.p_int,
    many: cython.Py_ssize_t,
    outputs: cython.p_int,
    results: cython.Py_ssize_t,
    first: cython.Py_ssize_t,
    fixed: cython.int,
    size: cython.int,
) -> cython.int:
    """Use registers again that are not read any more, so that near memory holds all; returns their number."""
    room: cython.p_int = cython.cast(cython.p_int, malloc(12 * size + 12))
    if room == cython.NULL:
        raise MemoryError
    last: cython.p_int = room  # the row that reads a register last
    place: cython.p_int = room + size
    idle: cython.p_int = room + 2 * size
    many_idle: cython.Py_ssize_t = 0
    used: cython.int = fixed
    k: cython.Py_ssize_t
    j: cython.Py_ssize_t
    a: cython.int
    b: cython.int
    for k in range(size):
        last[k], place[k] = -1, k
    for k in range(first, many):
        last[rows[4 * k + 1]] = k
        if rows[4 * k] != SINCOS:
            last[rows[4 * k + 2]] = k
    for k in range(results):
        last[outputs[k]] = many
    for k in range(first, many):
        a = rows[4 * k + 1]
        b = a if rows[4 * k] == SINCOS else rows[4 * k + 2]
        if a >= fixed and last[a] == k:
            idle[many_idle] = place[a]
            many_idle += 1
        if b != a and b >= fixed and last[b] == k:
            idle[many_idle] = place[b]
            many_idle += 1
        rows[4 * k + 1] = place[a]
        if rows[4 * k] != SINCOS:
            rows[4 * k + 2] = place[b]
        for j in range(2 if rows[4 * k] == SINCOS else 3, 4):  # a cosine, and the result
            a = rows[4 * k + j]
            if many_idle:
                many_idle -= 1
                place[a] = idle[many_idle]
            else:
                place[a] = used
                used += 1
            rows[4 * k + j] = place[a]
    for k in range(results):
        outputs[k] = place[outputs[k]]
    free(room)
    return used


@cython.cfunc
def _address(array) -> cython.size_t:
    return array.ctypes.data
