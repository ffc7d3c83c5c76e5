from pfaff.kernels.corrector cimport Curve, Rules

cdef int QUIET, HIDING, CROSSING
cdef void spectrum(
    Curve s, const double *z, const double *tangent, double complex *values, double complex *slopes) noexcept nogil
cdef Py_ssize_t watched(Curve s, const double *z, const double *tangent, Py_ssize_t row) noexcept nogil
cdef Py_ssize_t compared(Curve s, const double *first, const double *last, double step) noexcept nogil
cdef Py_ssize_t at_both(Curve s, const double *first, const double *last, double step) noexcept nogil
cdef double floor(Curve s, Py_ssize_t many) noexcept nogil
cdef double rounding(Curve s, const double complex *values, Py_ssize_t n) noexcept nogil
cdef double pairs_sign(const double complex *values, Py_ssize_t n) noexcept nogil
cdef bint on_axis(Curve s, const double complex *values, Py_ssize_t n, double doubt) noexcept nogil
cdef int conduct(Curve s, Py_ssize_t n, double step, double floor, int *crossed) noexcept nogil
cdef double sign_of(double x) noexcept nogil

# inside
cdef int _conduct(
    Rules rules, const double complex *a, const double complex *da, const double complex *b, const double complex *db,
    Py_ssize_t n, double step, double floor, double *cost, long long *room, int *crossed) noexcept nogil
cdef void _linear(Curve s, const double *z, const double *tangent) noexcept nogil
cdef void _match(double *cost, Py_ssize_t n, long long *room) noexcept nogil
cdef Py_ssize_t _partner(const double complex *here, Py_ssize_t n, Py_ssize_t k) noexcept nogil
cdef bint _explained(
    Rules rules, const double complex *a, const double complex *da, const double complex *b, const double complex *db,
    Py_ssize_t n, const long long *columns, Py_ssize_t k, double step, double floor) noexcept nogil
cdef bint _visits_zero(
    Rules rules, double complex a, double complex da, double complex b, double complex db, double step, double noise
) noexcept nogil
cdef bint _doubtful(Rules rules, double first, double rise, double last, double fall, double noise) noexcept nogil
cdef bint _dipping(Rules rules, double first, double rise, double last, double fall, double noise) noexcept nogil
cdef double _dips(double first, double rise, double last, double fall) noexcept nogil
