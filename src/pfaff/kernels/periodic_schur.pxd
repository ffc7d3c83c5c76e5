cdef Py_ssize_t spectrum_room(Py_ssize_t N, Py_ssize_t n) noexcept nogil
cdef void spectrum(
    double *G, Py_ssize_t N, Py_ssize_t n, double *signs, double *units, double *Q, double decoupled, double *values,
    double *room
) noexcept nogil
cdef double shrink(double *values, Py_ssize_t n) noexcept nogil

cdef struct Tests:
    double far
    double flip
    double torus
    Py_ssize_t unstable

cdef Tests test(double *values, Py_ssize_t n, Py_ssize_t structural, double *room) noexcept nogil

# inside
cdef double _modulus(double *value) noexcept nogil
cdef void _eigenvalues(double *block, Py_ssize_t n, double *values, double *work) noexcept nogil
cdef void _reflect(
    double *at, Py_ssize_t wide, double *room, double *v, double beta, Py_ssize_t low, Py_ssize_t n
) noexcept nogil
cdef void _sweep(double *G, Py_ssize_t N, Py_ssize_t n, double *Q, Py_ssize_t wide, double *R, double *room) noexcept nogil
cdef double _householder(double *w, Py_ssize_t wide, double *v, Py_ssize_t n, Py_ssize_t p) noexcept nogil
cdef void _multiply(
    double *H, double *R, Py_ssize_t N, Py_ssize_t n, Py_ssize_t low, Py_ssize_t high, double *blocks, double *sizes,
    double *room
) noexcept nogil
cdef Py_ssize_t _blocks(
    double *G, Py_ssize_t N, Py_ssize_t n, double *signs, double *Q, double decoupled, double *blocks, double *sizes,
    Py_ssize_t *bounds, double *room
) noexcept nogil
