cdef void sweep(
    int *runs, Py_ssize_t count, int *code, double *w, double *u, double *left, double *right, double *slopes,
    Py_ssize_t k, Py_ssize_t blocks
) noexcept nogil
cdef double horner(double *c, Py_ssize_t at, Py_ssize_t order, double h) noexcept nogil
cdef int *integers(array) except? NULL
cdef double *doubles(array) except? NULL

cdef class Sums:  # the sums of recurrences, with room for coefficients
    cdef readonly Py_ssize_t n
    cdef Py_ssize_t p, order, lefts, rights, sloped, run_count, row_count, prologue_count
    cdef int *rows
    cdef int *prologue
    cdef int *row_runs
    cdef int *prologue_runs
    cdef int *runs
    cdef int *code
    cdef int *left_of
    cdef int *right_of
    cdef int *slope_of
    cdef int *output
    cdef double *w
    cdef double *u
    cdef double *left
    cdef double *right
    cdef double *slopes
    cdef double *x
    cdef double *state
    cdef double *pars
    cdef object kept
    cdef take(self, each, Py_ssize_t order, Py_ssize_t lanes, code, room, state, pars, x)
