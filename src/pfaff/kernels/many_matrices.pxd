# Matrices are given by rows; complex numbers are two doubles each. Of many, every entry has a row with a column for each.
cdef double triangulated(double *A, Py_ssize_t height, Py_ssize_t width) noexcept nogil
cdef void factored(double *A, Py_ssize_t n, Py_ssize_t *swaps, double small) noexcept nogil
cdef void solved(const double *A, Py_ssize_t n, const Py_ssize_t *swaps, double *b) noexcept nogil
cdef void solved_adjoint(const double *A, Py_ssize_t n, const Py_ssize_t *swaps, double *b) noexcept nogil
cdef void characteristic(double *A, Py_ssize_t n, double *rows) noexcept nogil

# inside
cdef double *_numbers(array, Py_ssize_t count) except? NULL
cdef void _units(const double *scale, Py_ssize_t n, double unit, double *units) noexcept nogil
cdef void _eigenpair(
    const double *A, Py_ssize_t n, double *shift, double *L, Py_ssize_t *swaps, double *x, double *y, double *value,
    double *error
) noexcept nogil
cdef void _in_states(
    double *x, double *y, Py_ssize_t n, const double *scale, double *q, double *p, Py_ssize_t apart
) noexcept nogil
cdef double _size(const double *z) noexcept nogil
cdef void _times(double *out, const double *a, const double *b) noexcept nogil
cdef void _less(double *out, const double *a, const double *b) noexcept nogil
cdef void _less_adjoint(double *out, const double *a, const double *b) noexcept nogil
cdef void _over(double *out, const double *a, const double *b) noexcept nogil
cdef void _normed(double *x, Py_ssize_t n) noexcept nogil
cdef void _exchange(double *a, double *b, Py_ssize_t count) noexcept nogil
cdef double _determinant(double *H, Py_ssize_t size) noexcept nogil
cdef void _series(
    const double *values, const double *matrix, Py_ssize_t K, Py_ssize_t apart, Py_ssize_t count, double *c
) noexcept nogil
cdef int _first_root(const double *c, double *d, Py_ssize_t K, double tail, double *place) noexcept nogil
cdef double _clenshaw(const double *c, Py_ssize_t size, double s) noexcept nogil
