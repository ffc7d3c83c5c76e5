from pfaff.kernels.corrector cimport Curve

cdef int TESTS, WHOLE, PAIRS, EVERY, QUICK
cdef void measured(Curve s, const double *z, double about, int which, double *tests) noexcept nogil
cdef bint by_eigenvalues(int kind, int which) noexcept nogil
cdef bint in_frame(Curve s, Py_ssize_t many, double about, double *tests) noexcept nogil
cdef Py_ssize_t told_by_few(
    Curve s, const double *first, const double *last, double step, Py_ssize_t known, double about) noexcept nogil
cdef double pair_product(
    const double complex *values, Py_ssize_t n, Py_ssize_t first, Py_ssize_t second) noexcept nogil
cdef int happens(
    Curve s, const double *here, const double *z, const double *tangent, Py_ssize_t known, bint *twice) noexcept nogil
cdef double turned(const double *a, const double *b, const double *units, Py_ssize_t count) noexcept nogil
cdef bint turns_between(Curve s, double a, double b, double chord, double rounding) noexcept nogil
cdef Py_ssize_t reached(double a, double b, const double *bounds, Py_ssize_t count) noexcept nogil
cdef bint returns(
    const double *a, const double *b, const double *home, const double *units, Py_ssize_t count) noexcept nogil

# inside
cdef void _told_by(Curve s, const double complex *values, Py_ssize_t n, double about, double *tests) noexcept nogil
cdef Py_ssize_t _nearest(
    const double complex *values, Py_ssize_t n, double complex to, Py_ssize_t without) noexcept nogil
cdef double _bounded(double sign, double log) noexcept nogil
cdef double _whole_product(
    const double complex *values, Py_ssize_t n, Py_ssize_t first, Py_ssize_t second) noexcept nogil
cdef double _re_c1(Curve s, const double *z, double square) noexcept nogil
cdef void _critical_vectors(Curve s, double omega, double complex *q, double complex *p) noexcept nogil
cdef bint _may_dip(Curve s, double earlier, double first, double last) noexcept nogil
cdef bint _dips_at(Curve s, double first, double middle, double last) noexcept nogil
cdef bint _calm_curve(Curve s, const double *first, const double *last) noexcept nogil
cdef bint _calm_branch(
    Curve s, const double *first, const double *last, double before, double after) noexcept nogil
cdef double _neighbour(Curve s, const double *at, double length, double *found) noexcept nogil
