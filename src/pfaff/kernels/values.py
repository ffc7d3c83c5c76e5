# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
from __future__ import annotations

import cython

if cython.compiled:
    from cython.cimports.pfaff.kernels.elementary import sine
else:
    from pfaff.kernels.elementary import sine


def test(x: cython.double[::1]):
    i: cython.Py_ssize_t
    with cython.nogil:
        for i in range(x.shape[0]):
            x[i] = sine(x[i])
