cdef Py_ssize_t schur_room(Py_ssize_t n) noexcept nogil
cdef bint eigenvalues(
    const double *A, Py_ssize_t n, double complex *values, double complex *left, double complex *right, double *room
) noexcept nogil

# inside
cdef void _to_hessenberg(double *H, Py_ssize_t n, double *Z, double *v) noexcept nogil
cdef double _mirror(double *v, Py_ssize_t count, double *along) noexcept nogil
cdef bint _to_blocks(double *H, Py_ssize_t n, double *Z) noexcept nogil
cdef Py_ssize_t _split(double *H, Py_ssize_t n, Py_ssize_t last) noexcept nogil
cdef void _shifts(const double *H, Py_ssize_t n, Py_ssize_t last, int tried, double *both) noexcept nogil
cdef Py_ssize_t _first_column(
    const double *H, Py_ssize_t n, Py_ssize_t first, Py_ssize_t last, const double *both, double *v) noexcept nogil
cdef void _chase(
    double *H, Py_ssize_t n, double *Z, Py_ssize_t first, Py_ssize_t start, Py_ssize_t last, double *v) noexcept nogil
cdef void _triangular(double *H, Py_ssize_t n, double *Z, Py_ssize_t k) noexcept nogil
cdef void _read(const double *H, Py_ssize_t n, double complex *values) noexcept nogil
cdef void _null(const double *H, Py_ssize_t n, Py_ssize_t k, double complex value, bint across, double *y) noexcept nogil
cdef void _upwards(
    const double *H, Py_ssize_t n, Py_ssize_t k, double complex value, double least, double *y) noexcept nogil
cdef void _downwards(
    const double *H, Py_ssize_t n, Py_ssize_t k, double complex value, double least, double *y) noexcept nogil
cdef void _solve_two(
    double a, double b, double c, double d, double complex value, double least, double *y, double *z) noexcept nogil
cdef void _over(double *y, double re, double im, double least) noexcept nogil
cdef void _kept_small(double *y, Py_ssize_t n) noexcept nogil
