from pfaff.kernels.condensation cimport Orbit

cdef struct Metric:  # scales of states and scalars, and the squares of both
    double *states
    double *scalars
    double *squares
    double *scalar_squares

cdef struct Shape:  # of orbits: intervals, states, slopes of an interval, scalars
    Py_ssize_t N
    Py_ssize_t n
    Py_ssize_t slopes
    Py_ssize_t nb

cdef struct Kinds:  # by which states are compared, each absent if NULL
    int *kinds
    int *alike
    double *least

cdef class Comparison:
    cdef object _kept
    cdef Kinds by

cdef double turned(double *x, double *signs, Py_ssize_t N, Py_ssize_t n, Py_ssize_t t) noexcept nogil
cdef bint turns_of(double *x, double *signs, Py_ssize_t N, Py_ssize_t n, double *turns) noexcept nogil
cdef double amplitudes_of(double *x, double *signs, Py_ssize_t N, Py_ssize_t n, double *covered) noexcept nogil
cdef void measure(
    Metric *to, double *x, double *signs, Shape *shape, double period, double parameter, double *scalars, Kinds *by,
    double *room
) noexcept nogil
cdef double product(double *weights, Metric *metric, Shape *shape, Orbit *a, Orbit *b) noexcept nogil
cdef void dual(double *weights, Metric *metric, Shape *shape, Orbit *change, double *row, double *scalars) noexcept nogil
cdef double turn(double *weights, Metric *metric, Shape *shape, Orbit *change, Orbit *towards) noexcept nogil
cdef double angle(
    double *weights, Metric *metric, Shape *shape, Orbit *a, Orbit *b, Orbit *tangent, Orbit *ahead, double *room
) noexcept nogil
cdef void combine(Shape *shape, Py_ssize_t many, double *shares, Orbit *orbits, Orbit *to) noexcept nogil

cdef Orbit orbit_of(cycle, Shape *shape) except *
cdef Metric metric_of(metric, Shape *shape) except *
cdef Shape shape_of(cycle)

# inside
cdef bint _reach(
    double *amplitude, double *own, double period, int *kinds, Py_ssize_t n, double *reach
) noexcept nogil
cdef void _add(Py_ssize_t many, double *shares, Orbit *orbits, Py_ssize_t which, double *to, Py_ssize_t count) noexcept nogil
