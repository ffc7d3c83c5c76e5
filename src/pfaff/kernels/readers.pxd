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

cdef class Reader:
    cdef readonly object tape
    cdef object _rows  # of fewer registers
    cdef object _outputs
    cdef Code code
    cdef double *_room  # one that no call uses

cdef void value(double *out, const double *x, const double *parameters, const double *time, double *room) noexcept nogil
cdef void values_in(
    double *room, double *out, const double *x, const double *parameters, const double *times, Py_ssize_t points,
    Code *code
) noexcept nogil

# inside
cdef bint _take(double *w, const double *source, Py_ssize_t rows, Py_ssize_t apart, Py_ssize_t left) noexcept nogil
