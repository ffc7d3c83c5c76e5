from pfaff.kernels.condensation cimport Condensed, Orbit, Rule, Scheme
from pfaff.kernels.metrics cimport Comparison, Metric, Shape
from pfaff.kernels.readers cimport Reader

cdef int SOLVED

cdef struct Solved:  # how Newton's method ends, its steps, the last of them, the residual before it, the determinant
    int how
    Py_ssize_t steps
    double size
    double residual
    double determinant

cdef struct Stride:  # the same of a step along a branch, and what is known of the orbit
    int how
    Py_ssize_t steps
    double size
    double residual
    double determinant
    double margin
    double turn
    double velocity

cdef struct Place:  # where an orbit is found, with its tangent; pairs of numbers in ``multipliers``
    Py_ssize_t N
    double *times
    double *h
    double *weights
    Orbit orbit
    Orbit tangent
    Metric metric
    double *basis
    double *multipliers

cdef class Field:
    cdef readonly object states
    cdef readonly object values
    cdef object _columns
    cdef object _kept
    cdef object _function
    cdef Reader _reader
    cdef double *_x
    cdef double *_parameters
    cdef double *_times
    cdef double *_room
    cdef double *out
    cdef readonly Py_ssize_t points
    cdef Py_ssize_t _place
    cdef double _value
    cdef int evaluate(self, double value) except -1

cdef class Measures:
    cdef Comparison comparison
    cdef readonly double span
    cdef readonly double natural
    cdef readonly double origin
    cdef readonly double decoupled
    cdef readonly double accuracy

cdef class Workspace:
    cdef public double grown
    cdef public Py_ssize_t large
    cdef Py_ssize_t _corrections
    cdef readonly Py_ssize_t N
    cdef readonly bint halved
    cdef readonly Scheme scheme
    cdef readonly object X
    cdef readonly object ends
    cdef readonly object dx
    cdef readonly object dscalars
    cdef readonly object velocities
    cdef object _kept
    cdef Field _equations
    cdef Field _rates
    cdef Rule *rule
    cdef Condensed condensed
    cdef Shape shape
    cdef double *_dx
    cdef double *_dscalars
    cdef double *_dK
    cdef double *G
    cdef double *_states
    cdef double *f
    cdef double *_chain
    cdef double *room  # for meshes
    cdef double *_spectrum
    cdef double *_rows
    cdef double *_by_scalars
    cdef double *_right
    cdef double *_row
    cdef double *_of_scalars
    cdef Solved correct_at(
        self, Orbit *orbit, double *h, double *signs, double *rows, double *by_scalars, double *right, Metric *metric,
        double *G, double enough, Py_ssize_t steps, double last) except *
    cdef double _move(self, Orbit *orbit, double *h, Metric *metric, double *largest) noexcept nogil
    cdef void _conclude(self, Orbit *orbit, double *signs, Orbit *tangent) noexcept nogil
    cdef double _on_chart(self, double value) except *
    cdef Stride step(
        self, Place *place, double *signs, Metric *metric, Orbit *stages, double ds, double enough, Measures measures
    ) except *

cdef void predict(
    double *weights, Metric *metric, Shape *shape, Orbit *stages, double ds, Orbit *to) noexcept nogil

# inside
cdef double *_next(double **free, Py_ssize_t count) noexcept nogil
