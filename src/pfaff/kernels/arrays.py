# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Where arrays of NumPy begin. Whoever keeps the address keeps the array."""

from __future__ import annotations

import cython

if cython.compiled:
    from cython.cimports.cpython.buffer import (
        Py_buffer, PyBUF_C_CONTIGUOUS, PyBUF_FORMAT, PyBuffer_Release, PyObject_GetBuffer,
    )  # fmt: skip


def numbers(array, count):
    """Where an array of this many doubles begins, row by row."""
    return cython.cast(cython.p_double, _memory(array, count, 100, 8))


def places(array, count):
    """Where an array of this many C integers begins."""
    return cython.cast(cython.p_int, _memory(array, count, 105, 4))


def _memory(array, count, kind, size):
    view = cython.declare(Py_buffer)
    PyObject_GetBuffer(array, cython.address(view), PyBUF_C_CONTIGUOUS | PyBUF_FORMAT)
    expected: cython.bint = view.format[0] == kind and view.itemsize == size and view.len == size * count
    at: cython.p_void = view.buf
    PyBuffer_Release(cython.address(view))
    if not expected:
        raise ValueError(f"{count} numbers row by row are expected, not {array.dtype}{array.shape}")
    return at
