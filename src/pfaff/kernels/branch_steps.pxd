from pfaff.kernels.corrector cimport Curve

# inside
cdef double _trial(
    Curve s, Py_ssize_t which, double bound, const double *a, const double *b, double at, bint fresh) noexcept nogil
cdef double _tested(Curve s, Py_ssize_t which, const double *z, double about) noexcept nogil
cdef double _guessed(
    Curve s, Py_ssize_t which, double bound, const double *first, const double *last, double f1, double f2
) noexcept nogil
cdef double _sought(
    Curve s, Py_ssize_t which, double bound, const double *first, const double *last, double one, double other,
    double *found, double place) noexcept nogil
cdef double _advanced(Curve s, const double *here, double h, double *sign, double *about) noexcept nogil
cdef Py_ssize_t _on_branch(
    Curve s, const double *here, const double *end, double h, double before, double after, Py_ssize_t known,
    bint *hides, bint *event, int *changed, bint *alone) noexcept nogil
cdef Py_ssize_t _on_curve(
    Curve s, const double *here, const double *end, double h, double about, Py_ssize_t known, bint *event, int *changed,
    bint *alone) noexcept nogil
cdef int _single(int changed, int passable) noexcept nogil
cdef bint _marked(
    Curve s, int test, const double *here, const double *ahead, const double *bounds, Py_ssize_t sides, double place,
    Py_ssize_t known, double *found, Py_ssize_t row, Py_ssize_t *some) noexcept nogil
cdef bint _landed(
    Curve s, const double *here, double *ahead, double bound, double place, double sign, Py_ssize_t known
) noexcept nogil
cdef void _noted(Curve s, const double *here, double *point) noexcept nogil
cdef void _move_on(Curve s, const double *origins, Py_ssize_t many) noexcept nogil
cdef void _orthonormal(const double *vectors, double *rows, Py_ssize_t many, Py_ssize_t n) noexcept nogil
