# Matrices are given by rows, complex numbers as two doubles each.
cdef double *numbers(array, Py_ssize_t count) except? NULL
cdef void factors_of(const double *scale, Py_ssize_t n, double unit, double *units) noexcept nogil
cdef double determinant(double *H, Py_ssize_t size) noexcept nogil
cdef void exchange(double *a, double *b, Py_ssize_t count) noexcept nogil

# inside
cdef double triangulated(double *A, Py_ssize_t height, Py_ssize_t width) noexcept nogil
cdef void factored(double *A, Py_ssize_t n, Py_ssize_t *swaps, double small) noexcept nogil
cdef void solved(const double *A, Py_ssize_t n, const Py_ssize_t *swaps, double *b) noexcept nogil
cdef void solved_adjoint(const double *A, Py_ssize_t n, const Py_ssize_t *swaps, double *b) noexcept nogil
cdef double _size(const double *z) noexcept nogil
cdef void _times(double *out, const double *a, const double *b) noexcept nogil
cdef void _less(double *out, const double *a, const double *b) noexcept nogil
cdef void _less_adjoint(double *out, const double *a, const double *b) noexcept nogil
cdef void _over(double *out, const double *a, const double *b) noexcept nogil
cdef void _normed(double *x, Py_ssize_t n) noexcept nogil
cdef void _eigenpair(
    const double *A, Py_ssize_t n, double *shift, double *L, Py_ssize_t *swaps, double *x, double *y, double *value,
    double *error
) noexcept nogil
cdef void _in_states(
    double *x, double *y, Py_ssize_t n, const double *scale, double *q, double *p, Py_ssize_t apart
) noexcept nogil
