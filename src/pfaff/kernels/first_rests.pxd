# inside
cdef bint _surely_solved(
    const double *J, Py_ssize_t n, double *right, double *D, double *work, int *pivots, double widest, double rank
) noexcept nogil
cdef Py_ssize_t _mutual(char *acts, Py_ssize_t n, long long *groups) noexcept nogil
cdef void _even_units(double *matrix, Py_ssize_t n, double *D, double *work, int *pivots) noexcept nogil
