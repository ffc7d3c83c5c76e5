cdef enum:
    ADD, SUB, MUL, DIV, NEG, SQUARE, SQRT, SIN, COS, SINCOS, TAN, ASIN, ACOS, ATAN, SINH, COSH, TANH, ASINH, ACOSH, ATANH,
    EXP, LOG, ERF, POW, ATAN2, ERFC

ctypedef double (*Function)(double) noexcept nogil

cdef struct Code:  # what readers need of a tape
    const int *rows
    const int *runs
    const int *outputs
    const double *numbers
    Py_ssize_t prologue
    Py_ssize_t runs_in_all
    Py_ssize_t n
    Py_ssize_t p
    Py_ssize_t known
    Py_ssize_t size
    Py_ssize_t results

cdef Function function_of(int op) noexcept nogil
cdef void run(const int *rows, const int *runs, Py_ssize_t first, Py_ssize_t last, double *w) noexcept nogil
cdef void run_lanes(const int *rows, const int *runs, Py_ssize_t first, Py_ssize_t last, double *w) noexcept nogil
cdef void value(double *out, const double *x, const double *parameters, const double *time, double *room) noexcept nogil
cdef void values(
    double *out, const double *x, const double *parameters, const double *times, Py_ssize_t points, Py_ssize_t address
) noexcept nogil

# inside
cdef inline void _add(double *a, double *b, double *o) noexcept nogil
cdef inline void _subtract(double *a, double *b, double *o) noexcept nogil
cdef inline void _multiply(double *a, double *b, double *o) noexcept nogil
cdef inline void _divide(double *a, double *b, double *o) noexcept nogil
cdef inline void _negate(double *a, double *b, double *o) noexcept nogil
cdef inline void _root(double *a, double *b, double *o) noexcept nogil
cdef inline void _power(double *a, double *b, double *o) noexcept nogil
cdef inline void _angle(double *a, double *b, double *o) noexcept nogil
cdef bint _take(double *w, const double *source, Py_ssize_t rows, Py_ssize_t apart, Py_ssize_t left) noexcept nogil
cdef inline double *_lanes(double *w, Py_ssize_t register) noexcept nogil
