cdef void sweep(
    int *runs, Py_ssize_t count, int *code, double *w, double *u, double *left, double *right, double *slopes,
    Py_ssize_t k, Py_ssize_t blocks
) noexcept nogil
cdef double horner(double *c, Py_ssize_t at, Py_ssize_t order, double h) noexcept nogil
cdef int *integers(array) except? NULL
cdef double *doubles(array) except? NULL
