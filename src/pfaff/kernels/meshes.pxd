from pfaff.kernels.condensation cimport Orbit, Rule, Scheme

cdef Py_ssize_t mesh_room(Rule *rule, Py_ssize_t N) noexcept nogil
cdef void all_slopes(
    Rule *rule, Orbit *of, Orbit *about, double by_period, double *h, Py_ssize_t N, double *slopes
) noexcept nogil
cdef double least_error(
    Rule *rule, double velocity, double accuracy, Orbit *orbit, double *h, Py_ssize_t N, double *scale, double *signs,
    double *room
) noexcept nogil
cdef double spread(
    Rule *rule, Orbit *orbit, double *h, Py_ssize_t N, double *scale, double *signs, double *shares, double *room
) noexcept nogil
cdef void equidistribute(double *shares, double *at, Py_ssize_t N, double *times, Py_ssize_t count) noexcept nogil
cdef void carry_both(
    Rule *rule, Orbit *orbit, Orbit *change, double *at, double *h, Py_ssize_t N, double *signs, double *new_at,
    Py_ssize_t M, Orbit *new_orbit, Orbit *new_change, double *room
) noexcept nogil
cdef double oddness(
    double *rates, double *signs, double *scale, double period, Py_ssize_t n, Py_ssize_t count
) noexcept nogil
cdef double least_among(double *values, Py_ssize_t rows, Py_ssize_t columns) noexcept nogil
cdef double missed_velocity(double *G, double *rates, Py_ssize_t columns, double *scale, Py_ssize_t N, Py_ssize_t n) noexcept nogil
cdef void pin(
    Py_ssize_t N, Py_ssize_t n, Py_ssize_t nb, double *last, double *of_scalars, double *h, double *weights,
    double *scale, double *held, Orbit *orbit, double *signs, Orbit *guess, double *rows, double *by_scalars,
    double *right
) noexcept nogil

# inside
cdef double _error_between(
    Rule *rule, Orbit *orbit, double *h, Py_ssize_t N, double *scale, double *signs, double *room
) noexcept nogil
cdef double _power(double x, Py_ssize_t exponent) noexcept nogil
cdef void _jumps(
    double *slopes, double *h, Py_ssize_t N, Py_ssize_t m, Py_ssize_t n, double *highest, double *scale, double *signs,
    double *derivative, double *room
) noexcept nogil
cdef void _shares(double *derivative, double *h, Py_ssize_t N, double power, double *shares) noexcept nogil
cdef void _carry(
    double *at, Py_ssize_t N, double *x, double *slopes, double *signs, double *inverse, double *c, Py_ssize_t m,
    Py_ssize_t n, int *rows, Py_ssize_t nr, double *new_at, Py_ssize_t M, double *new_x, double *new_K, double *room
) noexcept nogil
