cdef class Rules:  # numbers that Python's engine has too
    cdef public double settled, exact, quadratic, astray, probe, squared, aside  # of Newton's method and planes
    cdef public int corrections, turns
    cdef public double growing, stiff, wild, unsure, undamped  # of eigenvalues
    cdef public double flat, level, on_bound, steady, near, sharp  # of what happens in a step
    cdef public double smallest, growth, easy, sharpest, strayed, resolved  # of step lengths
    cdef readonly object slopes_within
    cdef const double *slopes
    cdef Py_ssize_t within

cdef class Curve:
    cdef object kept
    cdef readonly Rules rules
    cdef readonly int kind
    cdef Py_ssize_t n, N, rows, known
    cdef double *room
    cdef long long *places
    cdef const double *numbers_before
    cdef const double *b_before
    cdef const double *c_before
    cdef const double *units_before
    cdef double *numbers
    cdef double *b
    cdef double *c
    cdef double *units
    # of the equations and of Newton's method
    cdef double *values
    cdef double *J
    cdef double *right
    cdef double *left
    cdef double *dual
    cdef double *along
    cdef double *factors
    cdef double *sizes
    cdef double *beside
    cdef double *G
    cdef double *step
    cdef double *row
    cdef double *A
    cdef double *squared
    cdef double *whole
    cdef double *unit
    cdef double complex *shifted
    cdef double complex *turned
    cdef int *pivots
    # of eigenvalues
    cdef double *change
    cdef double *cost
    cdef double *work
    cdef double complex *some
    cdef double complex *lefts
    cdef double complex *rights
    cdef long long *matching
    cdef double complex *spectra  # at both ends of a step, then at special points
    cdef double complex *slopes
    cdef double complex *both  # where no others are given
    # of frames
    cdef Py_ssize_t many  # number watched; 0 while there is no frame, below 0: all, for as many steps
    cdef long long *blocks  # per column: 1 or 2 where a block begins, else 0
    cdef double *basis  # columns: real vectors, real and imaginary parts of others
    cdef double *dual_basis
    cdef double *basis_right
    cdef double *basis_left
    cdef double *B
    cdef double *C
    cdef double *product
    cdef double *there
    cdef double *image
    cdef double *own
    cdef double *others  # at both ends of a step, the matrices that bound what is not watched
    cdef double *spare
    cdef double complex *frame_values
    # of steps: rows of unknowns
    cdef double *end  # z and tangent
    cdef double *across
    cdef double *apart
    cdef double *found  # z and tangent
    cdef double *landed  # z and tangent
    cdef double *trial  # z and tangent
    cdef double *chord  # with the row across it
    cdef double *middle  # with the row and the way
    cdef double *sides  # two of z, tangent and units
    cdef double *tests  # at the point before a step, at its ends and in its middle
    cdef double *borders
    cdef void begin(self) noexcept nogil

cdef int EQUILIBRIA, FOLDS, HOPFS, FROM
cdef int FOUND, SINGULAR, UNDEFINED, UNSETTLED

cdef double length(const double *v, const double *units, Py_ssize_t count) noexcept nogil
cdef double product(const double *a, const double *b, Py_ssize_t count) noexcept nogil
cdef void rates(Curve s, const double *z, double *values) noexcept nogil
cdef void restricted(
    const double *A, Py_ssize_t n, const double *V, const double *W, double *dual, double *T) noexcept nogil
cdef double equations(Curve s, const double *z, double *G, bint whole) noexcept nogil
cdef int corrected(Curve s, double *z, const double *row, bint fresh, double *last) noexcept nogil
cdef double directed(
    Curve s, const double *z, const double *towards, double *tangent, double *about) noexcept nogil
cdef bint state_jacobian(Curve s, double *A) noexcept nogil

# inside
cdef void _bent(
    Curve s, const double *z, const double *left, const double *right, double factor, double *gradient
) noexcept nogil
cdef double _bordered(Curve s, double *g) noexcept nogil
cdef double _critical_plane(Curve s, double *trace) noexcept nogil
cdef double _plane_beside(Curve s, double *trace) noexcept nogil
cdef double _largest(const double *A, Py_ssize_t count) noexcept nogil
cdef bint _spanned(double *X, Py_ssize_t n, double *basis) noexcept nogil
cdef double _bordered_by(Curve s, const double *row) noexcept nogil
cdef void _solve(Curve s, double *right) noexcept nogil
cdef bint _all_finite(Curve s, const double *G) noexcept nogil
cdef void _along(Curve s, double sign, const double *towards, double *tangent) noexcept nogil
