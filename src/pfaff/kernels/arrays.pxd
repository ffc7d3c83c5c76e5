cdef double *numbers(array, Py_ssize_t count) except? NULL
cdef int *places(array, Py_ssize_t count) except? NULL

# inside
cdef void *_memory(array, Py_ssize_t count, char kind, Py_ssize_t size) except? NULL

cdef inline double larger(double a, double b) noexcept nogil:
    """The larger of two numbers; no number if one of them is none."""
    return a if a > b or a != a else b
