cdef Py_ssize_t chain_room(Py_ssize_t N, Py_ssize_t n, Py_ssize_t nb) noexcept nogil
cdef double close_chain(
    Py_ssize_t N, Py_ssize_t n, Py_ssize_t nb, double *G, double *g, double *borders, double *scalar_borders,
    double *right, double *x, double *scalars, double *signs, double *dx, double *dscalars, double *room
) noexcept nogil
cpdef Py_ssize_t padded(Py_ssize_t count) noexcept nogil

# inside
cdef double _eliminate(double *a, Py_ssize_t size, Py_ssize_t width) noexcept nogil
cdef double _triangulate(double *w, Py_ssize_t height, Py_ssize_t wide, Py_ssize_t n) noexcept nogil
cdef void _couple(
    double *w, Py_ssize_t wide, double *G, double *g, double *borders, Py_ssize_t j, Py_ssize_t N, Py_ssize_t n,
    Py_ssize_t nb
) noexcept nogil
cdef void _take(double *product, double *size, double pivot) noexcept nogil
cdef void _put_borders(
    double *w, Py_ssize_t wide, double *borders, double *scalar_borders, double *right, double *x, double *scalars,
    Py_ssize_t N, Py_ssize_t n, Py_ssize_t nb
) noexcept nogil
cdef void _substitute(
    double *kept, double *inverses, double *final, double *signs, double *dx, double *dscalars, Py_ssize_t N,
    Py_ssize_t n, Py_ssize_t nb
) noexcept nogil
