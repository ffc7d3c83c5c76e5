cdef double *numbers(array, Py_ssize_t count) except? NULL
cdef int *places(array, Py_ssize_t count) except? NULL

# inside
cdef void *_memory(array, Py_ssize_t count, char kind, Py_ssize_t size) except? NULL
