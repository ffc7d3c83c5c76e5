from pfaff.kernels.corrector cimport Curve

cdef void framed(Curve s, const double *A) noexcept nogil
cdef Py_ssize_t few(
    Curve s, const double *A, const double *change, bint sloped, double complex *values, double complex *slopes,
    double *room) noexcept nogil
cdef bint covers(Curve s, double step) noexcept nogil

# inside
cdef bint _ahead(double complex a, double complex b) noexcept nogil
cdef Py_ssize_t _before_gap(const double complex *values, Py_ssize_t n) noexcept nogil
cdef double _inner(Curve s, Py_ssize_t j, Py_ssize_t k) noexcept nogil
cdef void _part_pair(Curve s, Py_ssize_t k, double complex value, bint watched) noexcept nogil
cdef void _part_real(Curve s, Py_ssize_t k, bint watched) noexcept nogil
cdef bint _inverted(Curve s) noexcept nogil
cdef void _times(const double *A, const double *basis, double *image, Py_ssize_t n) noexcept nogil
cdef void _take_out(Curve s, double *M) noexcept nogil
cdef void _put_back(Curve s, double *M) noexcept nogil
cdef void _of_two(
    double a, double b, double c, double d, double f, double g, double *x, double *y) noexcept nogil
cdef void _block(const double *own, Py_ssize_t k, int turn, double *out) noexcept nogil
cdef void _divide(
    const long long *blocks, const double *own, Py_ssize_t n, Py_ssize_t p, int turn, double *F) noexcept nogil
cdef bint _turned_to(
    const long long *blocks, const double *own, const double *E, Py_ssize_t n, Py_ssize_t p, int turn, double *Z,
    double *image, double *F) noexcept nogil
cdef Py_ssize_t _subspace(
    Curve s, Py_ssize_t p, bint sloped, const double *inner, const double *outer, double *overlap,
    double complex *values, double complex *slopes) noexcept nogil
cdef void _room_left(Curve s, const double *M, double share, double *room) noexcept nogil
cdef bint _definite(
    Curve s, const double *H, const double *change, double length, double doubt, Py_ssize_t rows) noexcept nogil
