cdef enum:
    ADD, SUB, MUL, DIV, NEG, SQUARE, SQRT, SIN, COS, SINCOS, TAN, ASIN, ACOS, ATAN, SINH, COSH, TANH, ASINH, ACOSH, ATANH,
    EXP, LOG, ERF, POW, ATAN2, ERFC

ctypedef double (*Function)(double) noexcept nogil

cdef Function function_of(int op) noexcept nogil
cdef void run(const int *rows, const int *runs, Py_ssize_t first, Py_ssize_t last, double *w) noexcept nogil
cdef void run_lanes(const int *rows, const int *runs, Py_ssize_t first, Py_ssize_t last, double *w) noexcept nogil

# inside
cdef void _add(double *a, double *b, double *o) noexcept nogil
cdef void _subtract(double *a, double *b, double *o) noexcept nogil
cdef void _multiply(double *a, double *b, double *o) noexcept nogil
cdef void _divide(double *a, double *b, double *o) noexcept nogil
cdef void _negate(double *a, double *b, double *o) noexcept nogil
cdef void _root(double *a, double *b, double *o) noexcept nogil
cdef void _power(double *a, double *b, double *o) noexcept nogil
cdef void _angle(double *a, double *b, double *o) noexcept nogil
cdef double *_lanes(double *w, Py_ssize_t register) noexcept nogil
