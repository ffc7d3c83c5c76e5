cdef void balance(double *A, Py_ssize_t n, double *scale) noexcept nogil

# inside
cdef double _length(const double *entries, Py_ssize_t n, Py_ssize_t apart, double largest) noexcept nogil
cdef double _largest(const double *entries, Py_ssize_t n, Py_ssize_t apart) noexcept nogil
