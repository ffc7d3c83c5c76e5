cdef extern from "rows.h" nogil:
    void take_rows_off(
        double *one, double *two, const double *others, const double *by_one, const double *by_two, long apart, long many,
        long count
    )
    void take_row_off(double *row, const double *other, const double *factor, long count)
    void reduce_row(double *row, const double *pivot, const double *inverse, double *marks, double most, long count)
    bint marked(const double *marks, long lanes)
    void invert_entry(double *out, const double *entry)
    void scale_row(double *out, const double *row, const double *factor, long count)
    void combine_rows(
        double *out, const double *first, const double *second, double by_first, double by_second, long count
    )
    void sum_products(double *out, const double *one, const double *other, long apart, long other_apart, long count)
    void add_row(double *row, const double *other, double factor, long vectors)
    void exchange_rows(double *row, double *other, long vectors)
    void sum_rows(double *out, const double *rows, const double *factors, long apart, long many, long vectors)

cdef struct Rule:  # collocation at Gauss points, and the states that are solved for
    Py_ssize_t n  # states
    Py_ssize_t m  # Gauss points
    Py_ssize_t nr  # states that have slopes
    Py_ssize_t nf  # states that follow one of them
    Py_ssize_t nb  # scalars
    double *A
    double *A2
    double *b
    double *bA
    double *c
    double *inverse
    double *highest
    double constant
    int *rows
    int *followers
    int *source
    double *D

cdef struct Orbit:  # or a change of it: states at the mesh points, slopes, scalars
    double *x
    double *K
    double *scalars

cdef struct Condensed:  # arrays of ``condense``, for N intervals
    Py_ssize_t N
    double *X
    double *values
    double *Z
    double *ends
    double *lanes
    double *lines
    double *square
    int *pivots
    int *stiff
    double grown
    Py_ssize_t large

cdef class Scheme:
    cdef object _kept
    cdef Rule rule

cdef Py_ssize_t lines_in(Rule *rule) noexcept nogil
cdef double condense(Rule *rule, Orbit *orbit, double *h, Condensed *to, double *G) noexcept nogil
cdef void stage_states(Rule *rule, Orbit *orbit, double *h, Py_ssize_t N, double *X) noexcept nogil
cdef void expand(
    Rule *rule, Condensed *by, double *dx, double *scalars, double residuals, double *dK
) noexcept nogil

# inside
cdef double _assemble(
    Rule *rule, Orbit *orbit, double *h, Condensed *to, Py_ssize_t low, Py_ssize_t count
) noexcept nogil
cdef bint _eliminate(Rule *rule, Condensed *to, double *Z, Py_ssize_t count) noexcept nogil
cdef void _reduce(double *a, Py_ssize_t size, Py_ssize_t width, double *inverses, double most) noexcept nogil
cdef void _substitute(double *a, Py_ssize_t size, Py_ssize_t width, double *inverses, double *Z) noexcept nogil
cdef bint _solve_lane(Rule *rule, Condensed *to, Py_ssize_t lane, double *Z) noexcept nogil
cdef void _reach_ends(Rule *rule, Orbit *orbit, double *h, Condensed *to, double *G) noexcept nogil
