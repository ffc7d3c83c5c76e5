# Matrices are given by columns, as LAPACK takes them; pivots count from one.
cdef void multiplied(
    const double *A, bint transposed, const double *B, double *C, Py_ssize_t m, Py_ssize_t k, Py_ssize_t n
) noexcept nogil
cdef double factorised(double *A, Py_ssize_t n, int *pivots) noexcept nogil
cdef void substituted(
    double *A, Py_ssize_t n, int *pivots, double *right, Py_ssize_t columns, bint transposed
) noexcept nogil
cdef void solve_complex(double complex *A, Py_ssize_t n, int *pivots, double complex *right) noexcept nogil
cdef bint factorised_complex(double complex *A, Py_ssize_t n, int *pivots) noexcept nogil
cdef void substituted_complex(
    double complex *A, Py_ssize_t n, int *pivots, double complex *right, Py_ssize_t columns, bint transposed
) noexcept nogil
cdef bint cholesky(double *A, Py_ssize_t n) noexcept nogil
cdef void even_scales(const double *A, Py_ssize_t n, double *scales, double *work) noexcept nogil  # of n² numbers
cdef Py_ssize_t eigen_room(Py_ssize_t n) noexcept nogil
cdef void eigen(
    const double *A, Py_ssize_t n, double complex *values, double complex *left, double complex *right, double *work
) noexcept nogil
cdef double complex quotient(double complex a, double complex b) noexcept nogil
cdef double modulus(double complex z) noexcept nogil
cdef double hypotenuse(double a, double b) noexcept nogil
cdef bint finite(const double *x, Py_ssize_t count) noexcept nogil
cdef double dot(const double *a, const double *b, Py_ssize_t count) noexcept nogil
cpdef ready()

ctypedef void (*Multiply)(
    char *, char *, int *, int *, int *, double *, const double *, int *, const double *, int *, double *, double *,
    int *) noexcept nogil
ctypedef void (*Factorise)(int *, int *, double *, int *, int *, int *) noexcept nogil
ctypedef void (*Substitute)(char *, int *, int *, double *, int *, int *, double *, int *, int *) noexcept nogil
ctypedef void (*FactoriseComplex)(int *, int *, double complex *, int *, int *, int *) noexcept nogil
ctypedef void (*SubstituteComplex)(
    char *, int *, int *, double complex *, int *, int *, double complex *, int *, int *) noexcept nogil
ctypedef void (*Cholesky)(char *, int *, double *, int *, int *) noexcept nogil

# inside
cdef Multiply dgemm
cdef Factorise dgetrf
cdef Substitute dgetrs
cdef FactoriseComplex zgetrf
cdef SubstituteComplex zgetrs
cdef Cholesky dpotrf
cdef void *_routine(object known, str name) except NULL
cdef double _eliminated(double *A, Py_ssize_t n, int *pivots) noexcept nogil
cdef void _exchange(double *x, Py_ssize_t i, Py_ssize_t k) noexcept nogil
cdef void _less(double *y, const double *a, double by, Py_ssize_t count) noexcept nogil
cdef void _less_four(double *y, const double *a, Py_ssize_t n, const double *by, Py_ssize_t count) noexcept nogil
cdef void _replaced(const double *A, Py_ssize_t n, const int *pivots, double *x) noexcept nogil
cdef void _replaced_transposed(const double *A, Py_ssize_t n, const int *pivots, double *x) noexcept nogil
cdef void _solved_complex(double *A, Py_ssize_t n, double *x) noexcept nogil
cdef void _quotient(const double *a, const double *b, double *out) noexcept nogil
cdef double _of_rank(const double *x, Py_ssize_t n, Py_ssize_t rank) noexcept nogil
cdef void _values_of_two(const double *A, double complex *values) noexcept nogil
cdef void _vectors_of_two(const double *A, double complex *values, double complex *p, double complex *q) noexcept nogil
