cdef void characteristic(double *A, Py_ssize_t n, double *rows) noexcept nogil

# inside
cdef void _series(
    const double *values, const double *matrix, Py_ssize_t K, Py_ssize_t apart, Py_ssize_t count, double *c
) noexcept nogil
cdef int _first_root(const double *c, double *d, Py_ssize_t K, double tail, double *place) noexcept nogil
cdef double _clenshaw(const double *c, Py_ssize_t size, double s) noexcept nogil
