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
