cdef double LARGEST_TURN, TRUSTED, BLURRED, COARSE, VANISHING, OUTGROWN, WITHIN
cdef Py_ssize_t SLOW, ADAPT_EVERY, MOST

cpdef double paced(double length, double turn) noexcept nogil
cpdef bint worn(double error, double residual, double accuracy) noexcept nogil
cpdef Py_ssize_t wanted_intervals(
    Py_ssize_t intervals, double gain, double error, double residual, double accuracy, Py_ssize_t order) noexcept nogil
cpdef Py_ssize_t finer_intervals(Py_ssize_t intervals, double error, double accuracy, Py_ssize_t order) noexcept nogil
cpdef bint strays(double determinant, double change, double ahead, double torus, double torus_ahead) noexcept nogil
cpdef bint lengthens(double period, double shortest, double torus) noexcept nogil
cpdef double apart(
    double period, double amplitude, double value, double home_period, double home_amplitude, double home_value
) noexcept nogil
cdef bint quiet(
    double *first, double *here, double *last, double back, double slope, double next_slope, double rise) noexcept nogil

# inside
cdef double TURN, GROWTH, MERGED, RESERVE, LEAST, KEPT, LEAST_GAIN, LONG, LONGER, NEAR
cdef Py_ssize_t FEWEST
cdef bint _dips(double t0, double f0, double t1, double f1, double t2, double f2) noexcept nogil
