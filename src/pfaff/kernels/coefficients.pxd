cdef void sweep(
    int *runs, Py_ssize_t count, int *code, double *w, double *u, double *left, double *right, double *slopes,
    Py_ssize_t k, Py_ssize_t blocks
) noexcept nogil
